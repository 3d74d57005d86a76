"""The fits that attain the bounds of ``bounds``: least squares of mean features given kappa.

Where rounding hides a combination of these that may matter, no bound is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from giantstep.law.unequal_norms import norms_differ
from giantstep.observe.conditional_model import Conditional
from giantstep.quadrature.shift_derivatives import norm_functions, norm_rest
from giantstep.spec.errors import NotConverged
from giantstep.system.graded_features import Kind
from giantstep.system.problem import Problem
from giantstep.system.span import span_of_columns

Array = np.ndarray
_EPS = 2.2e-16  # of the features: an error of _EPS/least in a bound whose mean features differ by ``least``
_LEAST = 1e-11
_COARSER = (2e3, 50.0)  # errors of mu_c, by differences and by averages, beside those of other columns, by rounding
_DEPENDENT = 1e-14  # what dependent features differ by, at most: more than that may be more than rounding
_DETERMINED, _MATTERS, _MIRRORED = 1e-8, 1e-10, 1e-11  # features kept, relative change of a bound, of parity


class Attained(NamedTuple):
    """A bound, the coefficients that attain it along the directions of kappa, and its relative rounding."""

    value: float
    m: Array
    zeta: Array
    psi: Array
    norm: Array
    rounding: float


def lower_of(parts: Conditional) -> Attained:
    """Best in the span of all mu0_b, kappa_j mu1_b and t_d mu1_b.

    Where the norms of the rows vary, with what mu_c,b have beyond these as well.
    """
    blocks, rank = parts.mu0.shape[1], parts.kappa.shape[1]
    seen = _seen(parts)
    across = [_best(parts, "slope", column) for column in parts.nu1.T]
    psi = np.stack([fit.weights for fit in across], axis=-1)
    total = seen.left + sum(fit.left for fit in across) + float(parts.weight @ parts.nu2sq)
    m, zeta, norm = np.split(seen.weights, (blocks, blocks * (1 + rank)))
    norm = norm if norm.size else np.zeros(blocks)
    return Attained(total, m, zeta.reshape(blocks, rank), psi, norm, seen.rounding)


def _seen(parts: Conditional) -> LeastSquares:
    """The best combination of what knows kappa; mu_c by averages, which take longer, where differences hide it."""
    if not _norm_rest(parts.problem):
        return _best(parts, "seen", parts.nu0)
    try:
        return _projected(parts, "seen and norms", parts.nu0)
    except NotConverged:
        return _best(parts, "seen and norms", parts.nu0)


def _best(parts: Conditional, kind: Kind, goal: Array) -> LeastSquares:
    """``_projected``, with accurate averages; where rounding hides features, without these if they cannot matter.

    Fewer features leave more of the goal, and what has another parity than all of them is left in any case: where
    these are the same beside what no readout sees, what is hidden does not matter.
    """
    try:
        return _projected(parts, kind, goal, accurate=True)
    except NotConverged:
        fewer = "seen" if kind == "seen and norms" else kind
        columns = _columns(parts, fewer)[0]
        root, size = np.sqrt(parts.weight), np.sqrt(parts.weight @ columns**2)
        scaled = root[:, None] * columns / np.where(size > 0.0, size, 1.0)
        weights = np.linalg.lstsq(scaled, root * goal, rcond=_DETERMINED)[0] / np.where(size > 0.0, size, 1.0)
        values = columns @ weights
        left = float(parts.weight @ (goal - values) ** 2)
        least = _out_of_reach(parts, _columns(parts, kind)[0], goal)
        if left - least > _MATTERS * (least + float(parts.weight @ parts.nu2sq)):
            raise
        return LeastSquares(weights, values, left, _MATTERS)


def _out_of_reach(parts: Conditional, columns: Array, goal: Array) -> float:
    """What no combination of columns reaches: all that is even if these are odd, and odd if they are even."""
    if not np.array_equal(parts.kappa[::-1], -parts.kappa):
        return 0.0
    size = np.abs(columns).max()
    for sign in (1.0, -1.0):
        if np.all(np.abs(columns + sign * columns[::-1]) <= _MIRRORED * size):
            return float(parts.weight @ (0.5 * (goal + sign * goal[::-1])) ** 2)
    return 0.0


def _norm_rest(problem: Problem) -> float:
    """What mu_c have beside other features, relative to these; zero where norms do not vary."""
    if not norms_differ(problem.model):
        return 0.0
    narrowest = min(problem.blocks, key=lambda term: term.variance)
    return norm_rest(narrowest.function, narrowest.variance, narrowest.offset)


def upper_of(parts: Conditional) -> Attained:
    """m fits the noisy labels, judged by the clean ones; zeta and psi are zero."""
    fit = fitted(parts)
    blocks, directions = parts.mu0.shape[1], parts.nu1.shape[1]
    unseen = (parts.nu0 - fit.values) ** 2 + (parts.nu1**2).sum(axis=1) + parts.nu2sq
    zeta, psi = np.zeros((blocks, parts.kappa.shape[1])), np.zeros((blocks, directions))
    return Attained(float(parts.weight @ unseen), fit.weights, zeta, psi, np.zeros(blocks), fit.rounding)


def _hidden(size: float) -> NotConverged:
    return NotConverged(
        f"a combination of the features is {size:.1e} of their size, which rounding hides, and the best readout of "
        "them may use it",
        "solve the model: many samples and a small ridge come near the lower bound, a large ridge near the upper one",
    )


@dataclass(frozen=True)
class LeastSquares:
    """Weighted least squares: coefficients of the columns, values [N], what is left, its relative error by rounding."""

    weights: Array
    values: Array
    left: float
    rounding: float


def fitted(parts: Conditional) -> LeastSquares:
    """What m makes of the noisy labels alone."""
    return _projected(parts, "mean", parts.noisy)


def _projected(parts: Conditional, kind: Kind, goal: Array, accurate: bool = False) -> LeastSquares:
    """The best combination of columns; of coefficients that are not determined those of least norm.

    Raises NotConverged where columns are so nearly collinear that rounding decides.
    """
    columns, sizes = _columns(parts, kind, accurate)
    span = span_of_columns(parts.problem, kind, parts.kappa, parts.weight, columns, sizes)
    dependent = 0.0 if kind == "seen and norms" and not accurate else _DEPENDENT
    least = span.least
    if kind == "seen and norms" and span.clusters:  # their expansions know mu_c by averages
        least = min(least, _norm_rest(parts.problem) / _COARSER[True])
    dense = parts.problem.model.network.readout.resolution is not None  # more nodes show what is left out
    if not dense and (least < _LEAST or span.dropped > dependent):
        raise _hidden(span.dropped if span.dropped > dependent else least)
    functions = span.functions(columns, parts.kappa)
    along = np.einsum("n,ni->i", parts.weight * goal, functions)
    values = functions @ along
    weights = span.outward(along, 1.0 / np.where(sizes > 0.0, sizes, 1.0) ** 2)
    return LeastSquares(weights, values, float(parts.weight @ (goal - values) ** 2), _EPS / max(least, _EPS))


def _columns(parts: Conditional, kind: Kind, accurate: bool = False) -> tuple[Array, Array]:
    """(columns [N, C], norms [C] of the features beside which they have rounding errors)."""
    sizes = np.sqrt(np.einsum("n,nb->b", parts.weight, parts.mu0**2 + parts.mu1**2 + parts.mu2sq))
    if kind in ("mean", "slope"):
        return (parts.mu0 if kind == "mean" else parts.mu1), sizes
    along = parts.mu1[:, :, None] * parts.kappa[:, None, :]
    seen = np.column_stack([parts.mu0, along.reshape(len(along), -1)])
    sizes = np.concatenate([sizes, np.repeat(sizes, parts.kappa.shape[1])])
    if kind == "seen":
        return seen, sizes
    problem, kappa = parts.problem, parts.kappa if parts.problem.rank > 1 else parts.kappa[:, 0]
    norms = norm_functions(problem.blocks, problem.shifts(kappa), accurate).T
    return np.column_stack([seen, norms]), np.concatenate([sizes, _COARSER[accurate] * sizes[: norms.shape[1]]])
