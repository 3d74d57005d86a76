"""The table of a model at nodes of kappa with the laws of its labels there, and what systems read of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from giantstep.law.label_cells import LabelLaw
from giantstep.law.moments_given_kappa import LabelMoments
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.remembered import bytes_of
from giantstep.quadrature.shift_derivatives import norm_functions
from giantstep.quadrature.tensor import coordinates
from giantstep.system.problem import Problem
from giantstep.system.span import Span

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Columns:
    """A table with the functions of a span in the place of the mean features, and what systems read of it: as
    ``node`` [columns, N], kappa [N] along the alignment, and sizes [K^2 + K, N] of what variances are sums with. The
    nodes of the square loss are remembered, by the share of the mean label that flips leave.
    """

    table: Array
    node: Array
    kappa: Array
    sizes: Array
    of_square: dict[float, Array] = field(default_factory=dict, compare=False, repr=False)
    squares: dict[int, float] = field(default_factory=dict, compare=False, repr=False)

    def square_of_label(self, indices: int) -> float:
        """E y^2 of the clean label of so many indices; remembered."""
        if indices not in self.squares:
            nu, rest = self.table[:, 2 : 3 + indices], self.table[:, 3 + indices]
            self.squares[indices] = float(self.table[:, 1] @ ((nu**2).sum(axis=1) + rest))
        return self.squares[indices]


@dataclass(frozen=True, eq=False)
class Resolved:
    """The table [N, 5 + ... + 3K], read-only; the law of the label as the loss takes it, and of the clean label, which
    are made when they are first asked for: where nodes are chosen at a solution, nobody asks.

    kept: whether these are places that other problems with the same features ask for as well.
    chosen: nodes of the label were chosen where a solution is.
    """

    table: Array
    make_labels: Callable[[], LabelLaw]
    make_clean: Callable[[], LabelLaw] | None = None  # None: labels are clean
    kept: bool = False
    chosen: bool = False
    known: dict[tuple[Term, ...], Array] = field(default_factory=dict, compare=False, repr=False)
    columns: dict[Span | None, Columns] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, table: Array, labels: LabelLaw, clean: LabelLaw, kept: bool = False) -> Resolved:
        """With laws that are known."""
        return cls(table, lambda: labels, lambda: clean, kept)

    @cached_property
    def labels(self) -> LabelLaw:
        """The law as the loss takes it. Raises NotConverged where there are too many nodes."""
        return self.make_labels()

    @cached_property
    def clean(self) -> LabelLaw:
        """The law of the clean label. Raises NotConverged where there are too many nodes."""
        return self.labels if self.make_clean is None else self.make_clean()

    def with_chosen(self, labels: Callable[[], LabelLaw], moments: LabelMoments | None = None) -> Resolved:
        """With nodes of the label that are chosen at a solution, and the moments of a clean one of several
        indices that they tell.
        """
        chosen = replace(self, make_labels=labels, make_clean=lambda: self.clean, kept=False, chosen=True)
        if moments is None:
            return chosen
        return replace(chosen, table=with_target(self.table, moments, moments.linear.shape[1]), columns={})

    @property
    def bytes(self) -> int:
        """Of the table and the laws that have been made."""
        made = {id(law): law for name in ("labels", "clean") if (law := vars(self).get(name)) is not None}
        return bytes_of(self, *made.values())

    def on(self, span: Span | None, blocks: int) -> Columns:
        """The table in the coordinates of a span of K blocks; remembered."""
        if span not in self.columns:
            table = self.table if span is None else span.columns(self.table)
            sizes = sizes_of_terms(table[:, -2 * blocks : -blocks], table[:, -blocks:])
            node, kappa = np.array(table.T, order="C"), np.ascontiguousarray(table[:, 0])
            self.columns[span] = Columns(table, node, kappa, sizes)
        return self.columns[span]

    def norm_functions(self, problem: Problem) -> Array:
        """What mean features change by with the norm of a row, at the nodes [K, N]; remembered."""
        blocks = problem.blocks
        if blocks not in self.known:
            indices, rank = problem.model.target.indices, problem.rank
            kappa = self.table[:, 0] if rank == 1 else coordinates(self.table, indices, rank)
            self.known[blocks] = norm_functions(blocks, problem.shifts(kappa))
        return self.known[blocks]


def with_target(table: Array, clean: LabelMoments, indices: int = 1) -> Array:
    """A table with the Hermite coefficients in t of a label in the place of those of one of so many indices."""
    columns = [table[:, :2], clean.mean, clean.linear, clean.rest, table[:, 4 + indices :]]
    return np.ascontiguousarray(np.column_stack(columns))


def sizes_of_terms(mu1: Array, mu2sq: Array) -> Array:
    """|mu1 mu1'| and mu2^2 of blocks [N, K], as rows [K^2 + K, N]."""
    pairs = np.abs(mu1)[:, :, None] * np.abs(mu1)[:, None, :]
    return np.ascontiguousarray(np.concatenate([pairs.reshape(len(mu1), -1), mu2sq], axis=1).T)
