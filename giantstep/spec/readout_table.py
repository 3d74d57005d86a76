"""The table [network] readout: the readout at initialisation, a vocabulary or a density.

Source: [CUI24] Cui et al. 2024, arXiv:2402.04980, App. D; THEORY section 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.readout_density import DensityKind, density_of
from giantstep.spec.tables import NO_KEY, Table, shown_plainly
from giantstep.spec.validate import Number, Numbers, Optional


@shown_plainly
@dataclass(frozen=True)
class Readout(Table):
    """Readout at initialisation, a0_k = u_k/sqrt(p): values u_b, each of a fraction pi_b of the neurons, or a density.

    biases: fixed ones of the blocks, beside that of the network; blocks may then have the same value.
    density: of the values, "gaussian", "uniform" (of unit variance), or an expression in u, which is normalised; mean
    and variance are as they are. At infinite dimension the readout uses all that mean features of any value add up to,
    and the limit is approached slowly: a dimension gives what a network of that size does.
    Fractions that are left out are equal; they must sum to 1 to 1e-9, and are then made to do so. [CUI24, App. D]
    """

    path: ClassVar[str] = "network.readout"
    example: ClassVar[str] = "readout = { values = [1.0, -1.0] }"
    values: Annotated[tuple[float, ...], Numbers(Number("the readout value of a block"))] = (1.0,)
    fractions: Annotated[
        tuple[float, ...], Numbers(Number("the fraction of neurons in a block", high=1.0, positive=True))
    ] = (1.0,)
    density: Annotated[str | None, DensityKind()] = None
    biases: Annotated[tuple[float, ...] | None, Optional(Numbers(Number("the fixed bias of a block")))] = None
    #: Of a density at nodes: what a mean feature has to have beside the others to count. None: it has no nodes yet.
    resolution: float | None = field(default=None, metadata=NO_KEY)

    @property
    def continuous(self) -> bool:
        """Whether values are drawn from a density, which has no nodes yet."""
        return self.density is not None and self.resolution is None

    @property
    def mean(self) -> float:
        """ubar, the mean of the values; of a density its own, whatever the nodes."""
        if self.density is not None:
            return density_of(self.density).moment(1)
        return sum(u * f for u, f in zip(self.values, self.fractions, strict=True))

    def offsets(self, bias: float) -> tuple[float, ...]:
        """The bias of each block, where the network has the given one."""
        return tuple(bias + own for own in self.biases or (0.0,) * len(self.values))

    def at_nodes(self, values: tuple[float, ...], fractions: tuple[float, ...], resolution: float) -> Readout:
        """A density as a vocabulary: nodes and weights of a rule for it."""
        return replace(self, values=values, fractions=fractions, resolution=resolution)

    def check(self) -> None:
        """Raises BadInput for lists of different lengths, fractions not summing to 1, values all zero, and values
        beside a density.
        """
        if self.continuous:
            if self.values != (1.0,) or self.fractions != (1.0,) or self.biases is not None:
                raise BadInput(
                    f"{self.path} has values, fractions or biases, and density = {shorten(self.density)}",
                    "give a density, or values with their fractions and biases",
                )
            object.__setattr__(self, "values", ())  # they are the nodes of a rule, where one is chosen
            object.__setattr__(self, "fractions", ())
            return
        if self.fractions == (1.0,) and self.values:  # left out
            object.__setattr__(self, "fractions", (1.0 / len(self.values),) * len(self.values))
        if len(self.values) != len(self.fractions):
            raise BadInput(
                f"{self.path}: values has {len(self.values)} entries and fractions has {len(self.fractions)}",
                "give one fraction for each value, as in values = [1.0, -1.0], fractions = [0.5, 0.5], or leave "
                "fractions out, which makes them equal",
            )
        if self.biases is not None and len(self.biases) != len(self.values):
            raise BadInput(
                f"{self.path}: values has {len(self.values)} entries and biases has {len(self.biases)}",
                "give one bias for each block, as in values = [1.0, 1.0], fractions = [0.5, 0.5], biases = [0.0, 0.4]",
            )
        if not any(self.values):
            raise BadInput(f"{self.path}.values = {shorten(list(self.values))} are all zero", "one must not be zero")
        total = math.fsum(self.fractions)
        if abs(total - 1.0) > 1e-9:
            raise BadInput(
                f"{self.path}.fractions = {shorten(list(self.fractions))} sum to {total:.12g}",
                "they must sum to 1",
            )
        object.__setattr__(self, "fractions", _summing_to_one(self.fractions))

    def to_dict(self) -> dict[str, Any]:
        """The keys of a model file: of a density no nodes."""
        found = super().to_dict()
        return found if self.density is None else {"density": self.density}


def _summing_to_one(fractions: tuple[float, ...]) -> tuple[float, ...]:
    """The fractions, the rounding error of their sum put on the largest: ``math.fsum`` is exactly 1."""
    if math.fsum(fractions) == 1.0:
        return fractions
    scaled = [value / math.fsum(fractions) for value in fractions]
    largest = max(range(len(scaled)), key=scaled.__getitem__)
    scaled[largest] += math.fsum((1.0, *(-value for value in scaled)))
    return tuple(scaled)
