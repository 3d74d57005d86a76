"""The table [spike] of a model: a spiked random-feature model given directly, of one direction or of several.

Sources: [CUI24] Cui et al. 2024, arXiv:2402.04980.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from derive.language.grammar import shorten
from derive.language.links import MAX_INDICES
from giantstep.spec.errors import BadInput
from giantstep.spec.matrix import MAX_RANK, Matrix, NumbersOrMatrix, Rows
from giantstep.spec.readout_density import density_of
from giantstep.spec.readout_table import Readout
from giantstep.spec.tables import Table, plain, shown_plainly
from giantstep.spec.validate import SMALLEST, Number, Numbers

_VARIANCE = Number("the squared norm c of a row without its spike, of readout value 1", positive=True)
_ROUNDING = 1e-12  # what an overlap of unit vectors that was computed may exceed 1 by
_ALIGNMENT = Number("the alignment gamma of spike and target", low=-1.0, high=1.0, rounding=_ROUNDING)


@shown_plainly
@dataclass(frozen=True)
class Spike(Table):
    """A spiked random-feature model given directly; a block of readout value u has strength r u and bulk
    variance 1 + u^2 (c - 1), or its own of a list of bulk variances. The alignment is a number, or a list of
    <v, theta_i> for several indices, of length at most 1. [CUI24, Result 3.1]

    A spike of rank q has ``loadings``, a row of q numbers per block: the strength of block b along v_j is r times its
    entry j, in place of r u. Its alignment is a list of <v_j, theta>, or a list of q rows <v_j, theta_i>.
    """

    path: ClassVar[str] = "spike"
    strength: Annotated[float, Number("the strength r of the spike", low=0.0)]
    alignment: Annotated[
        float | tuple[float, ...] | Rows,
        NumbersOrMatrix(
            Numbers(_ALIGNMENT, MAX_INDICES, alone=True, same=True), Matrix(_ALIGNMENT, MAX_RANK, MAX_INDICES)
        ),
    ]
    bulk_variance: Annotated[
        float | tuple[float, ...],
        Numbers(_VARIANCE, alone=True),
    ]
    loadings: Annotated[Rows | None, Matrix(Number("the loading of a block along a direction of the spike"))] = None

    @property
    def alignments(self) -> tuple[float, ...]:
        """<v, theta_i> of every index, for a spike of one direction."""
        return tuple(entry for entry in self._entries() if isinstance(entry, float))

    @property
    def rank(self) -> int:
        """The number q of directions of the spike."""
        return 1 if self.loadings is None else len(self.loadings[0])

    def overlaps(self) -> Rows:
        """<v_j, theta_i> for every direction j and index i. Raises BadInput where the alignment does not fit."""
        rows = tuple(entry for entry in self._entries() if isinstance(entry, tuple))
        if not rows:
            rows = (self.alignments,) if self.rank == 1 else tuple((gamma,) for gamma in self.alignments)
        if len(rows) != self.rank:
            raise BadInput(
                f"spike.alignment = {plain(self.alignment)} is for {len(rows)} {_directions(len(rows))}, and "
                f"spike.loadings have {self.rank} {_directions(self.rank)}",
                "give <v_j, theta> for every direction, and for z1, z2, ... a list of one row for every direction",
            )
        return rows

    def _entries(self) -> tuple[float | tuple[float, ...], ...]:
        return self.alignment if isinstance(self.alignment, tuple) else (self.alignment,)

    def check(self) -> None:
        """Raises BadInput for a list of alignments longer than 1, and rows of them without loadings."""
        if self.loadings is not None:
            length = float(np.linalg.norm(np.array(self.overlaps()), 2))
            if length > 1.0 + _ROUNDING:
                words = "length" if len(self.overlaps()[0]) == 1 else "the singular value"
                raise BadInput(
                    f"spike.alignment = {plain(self.alignment)} has {words} {length:.6g}",
                    "the overlaps of orthonormal directions with orthonormal directions have singular values of at "
                    "most 1: for one index, a sum of squares of at most 1",
                )
            return
        rows = [entry for entry in self._entries() if isinstance(entry, tuple)]
        if rows:
            alone = f"for one direction write alignment = {plain(rows[0])}; " if len(rows) == 1 else ""
            raise BadInput(
                f"spike.alignment = {plain(self.alignment)} has rows, and spike.loadings are missing",
                f"{alone}rows are for a spike of several directions: give spike.loadings with a row for each block",
            )
        length = math.hypot(*self.alignments)
        if length > 1.0 + _ROUNDING:
            raise BadInput(
                f"{self.path}.alignment = {list(self.alignments)} has length {length:.6g}",
                "the overlaps of a unit vector with orthonormal directions have a sum of squares of at most 1",
            )


def _directions(count: int) -> str:
    return "directions" if count > 1 else "direction"


def check_blocks(spike: Spike, readout: Readout) -> None:
    """Raises BadInput for bulk variances that are not positive, and loadings of another number of blocks."""
    given, values = spike.bulk_variance, readout.values
    if readout.density is not None:
        _check_density(spike, readout.density)
        return
    if isinstance(given, tuple) and len(given) != len(values):
        raise BadInput(
            f"spike.bulk_variance = {shorten(list(given))} has {len(given)} entries, and network.readout.values has "
            f"{len(values)} blocks",
            "give one number for each block, or a single number c for 1 + value^2 (c - 1)",
        )
    if isinstance(given, float):
        _check_variances(given, values)
    if spike.loadings is not None and len(spike.loadings) != len(values):
        raise BadInput(
            f"spike.loadings = {shorten(plain(spike.loadings))} has {len(spike.loadings)} rows, and "
            f"network.readout.values has {len(values)} blocks",
            "give one row for each block; blocks may have the same readout value, as in values = [1.0, 1.0]",
        )


def _check_density(spike: Spike, density: str) -> None:
    """Raises BadInput for what is given block by block, and bulk variances that are not positive at some value."""
    if isinstance(spike.bulk_variance, tuple) or spike.loadings is not None:
        raise BadInput(
            f"network.readout.density = {shorten(density)} has no blocks, and the spike is given for blocks",
            "give one number as spike.bulk_variance, and no spike.loadings",
        )
    u = density_of(density).u
    _check_variances(spike.bulk_variance, (float(u[0]), float(u[-1])))


def _check_variances(given: float, values: tuple[float, ...]) -> None:
    """Raises BadInput where a block gets a bulk variance that is not positive."""
    for value in values:
        # 1 + u^2 (c - 1), written so that u = 1 gives c without rounding.
        variance = (1.0 - value**2) + value**2 * given
        if variance < SMALLEST:
            raise BadInput(
                f"spike.bulk_variance = {given!r} gives the block with readout value "
                f"{value!r} the bulk variance 1 + value^2 (c - 1) = {variance:.6g}",
                f"it must be > 0: give a bulk_variance above {1.0 - 1.0 / value**2:.6g}",
            )


def check_indices(spike: Spike, link: str, wanted: int) -> None:
    """Raises BadInput for alignments with another number of indices than the link has."""
    given = len(spike.overlaps()[0])
    if spike.rank > 1 and given != wanted:
        raise BadInput(
            f"spike.alignment = {plain(spike.alignment)} holds {given} {'numbers' if given > 1 else 'number'} for each "
            f"direction, and target.link = {shorten(link)} has {wanted} {'indices' if wanted > 1 else 'index'}",
            "give a list of numbers for z alone, and for z1, z2, ... a list of rows with one number for each index",
        )
    if given != wanted:
        raise BadInput(
            f"spike.alignment = {plain(spike.alignment)} holds {given} {'numbers' if given > 1 else 'number'}, and "
            f"target.link = {shorten(link)} has {wanted} {'indices' if wanted > 1 else 'index'}",
            "give one number for z alone, and for z1, z2, ... a list with one number for each",
        )


def refuse_loadings(spike: Spike | None, what: str) -> None:
    """Raises BadInput for a spike of several directions, which ``what`` is not made for."""
    if spike is not None and spike.loadings is not None:
        raise BadInput(
            f"spike.loadings = {shorten(plain(spike.loadings))}: {what} is for a spike of one direction",
            "leave spike.loadings out; solve, curve, simulate, derive and verify take them",
        )
