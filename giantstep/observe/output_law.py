"""The law of the output along a direction of input space, from a solution.

Given kappa in R^q and the rest t of the target's directions the output is Gaussian with mean
    sum_b [m_b mu0_b(kappa) + zeta_b.kappa mu1_b(kappa) + o_b mu_c,b(kappa)] + sum_d t_d sum_b psi_bd mu1_b(kappa)
and variance Delta(kappa). A unit vector n of input space that has the components a along kappa and b along t, held at
n.x = s, leaves with rho^2 = 1 - |a|^2 and e = a/|a|
    kappa = a s + rho u e + w,   E[t | kappa, s] = b (s - a.kappa)/rho^2,   Cov[t | kappa, s] = 1 - b b^T/rho^2,
u ~ N(0, 1) and w standard normal orthogonal to e, over which the output is averaged.  [CUI24] Result 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from giantstep.law.directions import mixing
from giantstep.quadrature.interpolation import interpolated
from giantstep.quadrature.mesh import reach_of
from giantstep.quadrature.shift_derivatives import norm_functions
from giantstep.quadrature.trapezoid import trapezoid_step
from giantstep.spec.errors import NotConverged
from giantstep.system.mean_predicted import average_of_normal
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE, refined
from giantstep.system.solved_again import solved_again
from giantstep.system.span import span_of

Array = np.ndarray
_SAME = 1e-6  # of rho, whose square is what counts: the direction is one of kappa
_WORST = 1e-7  # of the averages, relative to the largest root of E f^2
_EPS = 2.2e-16
_AGREES, _REFINED = 1e-12, 5  # of the variances, relative; levels at which the solution is found again, at most
_COARSER = 0.8  # nodes that they are compared on
_NODES = 200_000  # of kappa at a time
_GROWS = 1.5  # how much further nodes reach for the mean label, an exponential of the output


@dataclass(frozen=True)
class Line:
    """A unit vector of input space: components along kappa [q] and t [D], overlaps with the indices of the problem."""

    along: Array
    across: Array
    overlaps: Array


def target_line(problem: Problem, index: int) -> Line:
    """The direction theta_index of the link as it was given, counted from 1."""
    gamma, known = np.array(problem.overlaps), problem.features.known
    lower = mixing(gamma)
    if known is None:
        return Line(gamma[:, index - 1], lower[index - 1], np.eye(len(lower))[index - 1])
    directions, seen = problem.spike.directions, np.array(known.rows)[:, index - 1]
    whole = known.overlaps(gamma if directions is None else np.array(directions.overlaps))[:, index - 1]
    along = whole if directions is None else np.array(directions.kept).T @ whole
    # of theta_index the indices u hold seen, of which gamma^T kappa is a part; the rest is along L t
    across = seen @ lower - np.linalg.pinv(lower, rcond=1e-9) @ ((along - gamma @ seen) @ gamma)
    return Line(along, across, seen)


def spike_lines(problem: Problem) -> tuple[Line, ...]:
    """The directions of the spike as they were given, v of a single one; none where no block knows kappa."""
    directions, reduced = problem.spike.directions, np.array(problem.overlaps)
    if not np.any(_loadings(problem)) and all(term.polynomial is None for term in problem.blocks):
        return ()
    if directions is None:
        return (Line(np.ones(1), np.zeros(reduced.shape[1]), reduced[0]),)
    gamma, kept = np.array(directions.overlaps), np.array(directions.kept)
    # <v_j, theta> = kept_j gamma' + L b: a direction that no block loads is seen through the target only
    inner = np.linalg.pinv(mixing(reduced), rcond=1e-9)
    return tuple(
        Line(row, inner @ (overlap - row @ reduced), overlap) for row, overlap in zip(kept, gamma, strict=True)
    )


class Output:
    """The law of the output given kappa and t; told: order parameters along the directions that kappa has.

    predicts: the mean label that it stands for, of losses that have one.
    unlike: what a solution that was found again for the mean differs by from the one told, relative to its variances.
    """

    def __init__(self, problem: Problem, told: Mapping[str, Array]) -> None:
        problem, members = merged(problem, opposite=not problem.model.network.trains_bias)
        order = members.gathered(told)
        self.problem, self.blocks = problem, problem.blocks
        self.m, self.q1, self.q2 = order["m"], order["Q1"], order["Q2"]
        self.norm = order.get("norm", np.zeros(len(self.m)))
        self.zeta, self.psi = order["zeta"], order["psi"]
        self.predicts = problem.model.fit.loss.predicts
        self.span = span_of(problem)
        if self.span is not None and self.span.cancels:  # m cancel: what they are together is solved for again
            self.m, self.unlike = _coordinates(problem, order)
        else:
            self.span, self.unlike = None, 0.0

    def of(self, kappa: Array) -> tuple[Array, Array, Array]:
        """mean[N] at t = 0, slope[N, D] in t, variance[N] of what is left; kappa [N, q]."""
        mu0, mu1, mu2sq = self._coefficients(kappa)
        if self.span is not None:
            mu0 = self.span.functions(mu0, kappa)
        mean = mu0 @ self.m + (kappa * (mu1 @ self.zeta)).sum(axis=1)
        if self.problem.norms_vary:
            mean = mean + self.norm @ norm_functions(self.blocks, self._shifts(kappa))
        slope = mu1 @ self.psi
        variance = np.einsum("nb,bc,nc->n", mu1, self.q1 - self.psi @ self.psi.T, mu1) + mu2sq @ self.q2
        rounding = _EPS * np.abs(mu0) @ np.abs(self.m)
        if rounding.max() > _WORST * np.sqrt(mean**2 + np.maximum(variance, 0.0)).max():
            raise NotConverged(
                "the mean features of the blocks differ by next to nothing, and rounding hides what the readout makes "
                "of their difference",
                "give a dimension, a stronger spike or a larger learning rate",
            )
        return mean, slope, np.maximum(variance, 0.0)

    def _shifts(self, kappa: Array) -> list[Array]:
        """Mean pre-activations at points of kappa [N, q]."""
        return self.problem.shifts(kappa[:, 0] if self.problem.rank == 1 else kappa)

    def _coefficients(self, kappa: Array) -> Array:
        """mu0, mu1, mu2sq [3, N, K]."""
        if self.problem.rank == 1:
            found = {term: term.coefficients(kappa[:, 0]) for term in dict.fromkeys(self.blocks)}
            return np.stack([found[term] for term in self.blocks], axis=-1)
        pairs = zip(self.blocks, self._shifts(kappa), strict=True)
        return np.stack([interpolated(term.function, term.variance, shift) for term, shift in pairs], axis=-1)


def _coordinates(problem: Problem, order: Mapping[str, Array]) -> tuple[Array, float]:
    """What m are in orthonormal functions of the mean features, and the relative difference of variances: those of the
    solution found again, at the first level where it is the one told, or where a better level brings it no closer.
    """
    found: tuple[Array, float] | None = None
    for times in range(_REFINED):
        system = solved_again(problem, order, refined(FINE[-1], times))
        if system is None:
            continue
        unlike = float(np.abs(system.view("Q2") - order["Q2"]).max() / max(np.abs(order["Q2"]).max(), 1e-300))
        closer = found is None or unlike < 0.5 * found[1]
        if closer:
            found = system.view("m").copy(), unlike
        if unlike <= _AGREES or not closer:
            break
    if found is None:
        raise NotConverged(
            "the mean features of the blocks differ by next to nothing, and what the readout makes of their difference "
            "is not found again",
            "give a dimension, a stronger spike or a larger learning rate",
        )
    return found


def moments_along(output: Output, line: Line, at: Array) -> tuple[Array, Array]:
    """E[p | n.x = s] and the root of Var[p | n.x = s] at points s [N], on two sets of nodes that have to agree; p: the
    output, or the mean label where the loss has it stand for one.
    """
    averages = _averages if output.predicts is None else _averages_of_label
    coarse, fine = (averages(output, line, at, fineness) for fineness in (_COARSER, 1.0))
    size = max(float(np.sqrt(fine[1].max())), 1e-300)
    if not np.max(np.abs(fine[0] - coarse[0])) <= _WORST * size:
        raise NotConverged(
            "the average of the output along a direction does not settle",
            "the features vary too sharply along the spike: lower its strength",
        )
    mean, square = fine
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _averages(output: Output, line: Line, at: Array, fineness: float) -> tuple[Array, Array]:
    """E[f | s] and E[f^2 | s].

    The nodes of u are those of one lattice in x = e.kappa, so that what is averaged over w is shared by all s.
    """
    length = float(np.linalg.norm(line.along))
    e = line.along / length if length > 0.0 else np.eye(len(line.along))[0]
    rho = math.sqrt(max(0.0, (1.0 - length) * (1.0 + length)))
    reach = _reach(output.problem)
    if rho < _SAME:
        found = _across(output, line, e, at, reach, fineness)
        return found[0], found[2]
    step = rho * trapezoid_step(_width(output.problem, e) / rho) / fineness
    count = math.ceil(reach * rho / step)
    first = np.round(length * at / step).astype(int)[:, None] + np.arange(-count, count + 1)
    lattice, places = np.unique(first, return_inverse=True)
    mean, along, square, product, slope = (
        row[places.reshape(first.shape)] for row in _across(output, line, e, lattice * step, reach, fineness)
    )
    u = (first * step - length * at[:, None]) / rho
    weight = step / rho * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    # E[t|kappa, s] = b (s - length x)/rho^2: given x and s a number times b
    told = (at[:, None] - length * first * step) / rho**2
    squares = square + 2.0 * told * product + (told**2 - 1.0 / rho**2) * slope
    return (weight * (mean + told * along)).sum(axis=1), (weight * squares).sum(axis=1)


def _averages_of_label(output: Output, line: Line, at: Array, fineness: float) -> tuple[Array, Array]:
    """E[p | s] and E[p^2 | s] of the mean label p(f): given kappa and s the output is Gaussian."""
    predicts, length = output.predicts, float(np.linalg.norm(line.along))
    assert predicts is not None
    e = line.along / length if length > 0.0 else np.eye(len(line.along))[0]
    rho = math.sqrt(max(0.0, (1.0 - length) * (1.0 + length)))
    u: Array = np.zeros(1)
    told, reach = 0.0, _GROWS * _reach(output.problem)
    if rho >= _SAME:
        step, told = trapezoid_step(_width(output.problem, e) / rho) / fineness, 1.0 / rho**2
        u = step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)
    w, of_w = _orthogonal_nodes(output.problem, e, reach, fineness)
    of_u = np.exp(-0.5 * u * u)
    weight, found = np.outer(of_u / of_u.sum(), of_w).ravel(), np.empty((2, len(at)))
    for place, s in enumerate(at):
        x = length * s + rho * u
        mean, slope, variance = output.of((x[:, None, None] * e + w).reshape(-1, len(e)))
        known = slope @ line.across
        mean = mean + known * np.repeat(told * (s - length * x), len(w))
        root = np.sqrt(np.maximum(variance + (slope**2).sum(axis=1) - told * known**2, 0.0))

        def powers(g: float, mean: Array = mean, root: Array = root) -> Array:
            label = predicts.mean(mean + root * g)
            return np.stack([label, label**2])

        found[:, place] = average_of_normal(powers, weight) @ weight
    return found[0], found[1]


def _across(output: Output, line: Line, e: Array, x: Array, reach: float, fineness: float) -> Array:
    """Averages over w at e.kappa = x [N] of mean, b.slope, mean^2 + |slope|^2 + variance, mean b.slope, (b.slope)^2."""
    w, weight = _orthogonal_nodes(output.problem, e, reach, fineness)
    found, height = np.empty((5, len(x))), max(1, _NODES // len(w))
    for start in range(0, len(x), height):
        part = slice(start, start + height)
        kappa = (x[part, None, None] * e + w).reshape(-1, len(e))
        mean, slope, variance = output.of(kappa)
        told = slope @ line.across
        square = mean**2 + (slope**2).sum(axis=1) + variance
        rows = np.stack([mean, told, square, mean * told, told**2])
        found[:, part] = rows.reshape(5, -1, len(w)) @ weight
    return found


def _orthogonal_nodes(problem: Problem, e: Array, reach: float, fineness: float) -> tuple[Array, Array]:
    """Nodes w [M, q] orthogonal to e and their weights [M]: a product of trapezoids, cut to a ball."""
    basis = np.linalg.svd(e[None])[2][1:]
    if not len(basis):
        return np.zeros((1, 1)), np.ones(1)
    steps = [trapezoid_step(_width(problem, axis)) / fineness for axis in basis]
    grids = np.meshgrid(*(step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1) for step in steps))
    places = np.stack([grid.ravel() for grid in grids], axis=1)
    places = places[(places**2).sum(axis=1) <= reach**2]
    weight = math.prod(steps) * np.exp(-0.5 * (places**2).sum(axis=1)) / math.sqrt(2.0 * math.pi) ** len(steps)
    return places @ basis, weight


def _width(problem: Problem, axis: Array) -> float:
    """The smallest scale on which the blocks vary along a unit vector of kappa."""
    widths = (
        math.sqrt(term.variance) / abs(float(row @ axis))
        for term, row in zip(problem.blocks, _loadings(problem), strict=True)
        if abs(float(row @ axis)) > 0.0
    )
    return min(widths, default=math.inf)


def _reach(problem: Problem) -> float:
    """Distance in kappa beyond which the Gaussian weight makes everything negligible."""
    sizes = [float(np.linalg.norm(row)) for row in _loadings(problem)]
    terms = (replace(term, scale=size) for term, size in zip(problem.blocks, sizes, strict=True))
    return reach_of(tuple(dict.fromkeys(terms)))


def _loadings(problem: Problem) -> Array:
    """What multiplies kappa in every block, [K, q]."""
    if problem.loadings is not None:
        return np.array(problem.loadings)
    return np.array([[term.scale] for term in problem.blocks])
