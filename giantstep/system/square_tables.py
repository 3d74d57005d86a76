"""Tables that the square loss is solved on: the rows of kappa with the moments of the label, at two resolutions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import wide_columns
from giantstep.quadrature.tensor import coordinates, rows_along, tensor_table
from giantstep.spec.model import Target
from giantstep.system.level import PANELS, Level
from giantstep.system.problem import Features
from giantstep.system.span import Span

if TYPE_CHECKING:
    from giantstep.law.moments_given_kappa import LabelMoments

Array = np.ndarray
_COARSER, FINER = 0.85, 1.3  # of an axis: what its error is estimated from, and what it is refined by


@dataclass(frozen=True)
class Fineness:
    """How often what a table consists of is refined: the axes of kappa [q], and the nodes of the label.

    coarse: the same [q + 1], where it is a little coarser, for an estimate of the error.
    """

    axes: tuple[int, ...]
    labels: int = 0
    coarse: tuple[bool, ...] = ()

    @classmethod
    @lru_cache(maxsize=8)
    def first(cls, rank: int) -> Fineness:
        """What a solution begins with."""
        return cls((0,) * rank, 0, (False,) * (rank + 1))

    @property
    def level(self) -> tuple[int, bool]:
        """Halvings of the nodes of the label, and whether there are fewer of them."""
        return self.labels, self.coarse[-1]


def rows_of(features: Features, fineness: Fineness) -> Array:
    """Rows [N, columns] of a problem, with the moments of its label."""
    single, target = features.loadings is None, features.model.target
    if single and features.link is not None and not target.drawn:
        order, halvings = ORDERS[not fineness.coarse[0]], fineness.axes[0]
        found = wide_columns(features.blocks, features.link, order, halvings, features.mirrored).T
        return _at_few_places(found, features) if _are_linear(found, len(features.blocks)) else found
    from giantstep.system.discretisation import with_moments  # clean labels of one index start sooner without

    bare = (_on_panels if single else _on_axes)(features, fineness)
    rows, label = with_moments(bare, target, features.overlaps, *fineness.level)
    if target.drawn:
        return _with_label(rows, label, target)
    return _at_few_places(rows, features) if _are_linear(rows, len(features.blocks)) else rows


def _are_linear(rows: Array, blocks: int) -> bool:
    """Whether features are linear: mu1 is the same everywhere and mu2 vanishes, to the last digit."""
    mu1, mu2sq = rows[:, -2 * blocks : -blocks], rows[:, -blocks:]
    return bool(np.all(mu1 == mu1[0]) and not mu2sq.any())


def _at_few_places(rows: Array, features: Features) -> Array:
    """The table of linear features at the 2^q places +-1 of kappa, where a label has its linear part alone.

    All that is averaged has the degree two at most. What a label has beside is a variance that no feature knows. Beside
    a small ridge the responses of several blocks cancel, and few places cost little in many digits.
    """
    loadings = features.loadings or tuple((term.scale,) for term in features.blocks)
    indices, rank = features.model.target.indices, len(features.overlaps)
    weight, nu, rest = rows[:, 1], rows[:, 2 : 3 + indices], rows[:, 3 + indices]
    kappa, places = coordinates(rows, indices, rank), np.array(list(product((-1.0, 1.0), repeat=rank)))
    mean, slope = weight @ nu, (weight * nu[:, 0]) @ kappa
    if (kappa[:, 0] > 0.0).all():  # half of the nodes, which stand for a label and features that are odd together
        mean[0] = 0.0
    beside = nu - mean
    beside[:, 0] -= kappa @ slope
    label = np.tile([*mean, weight @ ((beside**2).sum(axis=1) + rest)], (len(places), 1))
    label[:, 0] += places @ slope
    bare = rows_along(features.blocks, loadings, places, np.full(len(places), 1.0 / len(places)))
    return np.ascontiguousarray(np.column_stack([bare[:, :2], label, bare[:, 5:]]))


def _on_panels(features: Features, fineness: Fineness) -> Array:
    from giantstep.system.averaged_terms import AveragedTerms

    level = Level(PANELS[not fineness.coarse[0]], 0, fineness.axes[0])
    return AveragedTerms.of(features).rows(level)


def _on_axes(features: Features, fineness: Fineness) -> Array:
    from giantstep.system.averaged_terms import AveragedTerms, rows_that_count

    steps = zip(fineness.axes, fineness.coarse[:-1], strict=True)
    axes = tuple(FINER**times * (_COARSER if coarser else 1.0) for times, coarser in steps)
    shape = AveragedTerms.of(features).shape
    return rows_that_count(tensor_table(shape, axes), shape.far)


def _with_label(rows: Array, label: LabelMoments, target: Target) -> Array:
    """The rows with the moments of a label that is drawn, behind those of the clean one."""
    kept, place = 1.0 - 2.0 * target.flips, 4 + target.indices
    of_label = replace(label, mean=kept * label.mean, linear=kept * label.linear)
    columns = [rows[:, :place], of_label.mean, of_label.linear, of_label.rest, rows[:, place:]]
    return np.ascontiguousarray(np.column_stack(columns))


def solver_nodes(rows: Array, span: Span | None) -> Array:
    """A table as the solver reads it, [columns, N], with functions of the span in the place of mean features."""
    return np.array((rows if span is None else span.columns(rows)).T, order="C")
