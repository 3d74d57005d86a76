"""The function that the network has learned, along a direction of the target and along the spike.

Given kappa = v.x and the rest t of the target's directions the output is Gaussian with mean
    sum_b [m_b mu0_b(kappa) + zeta_b kappa mu1_b(kappa)] + sum_d t_d sum_b psi_bd mu1_b(kappa)
and variance Delta(kappa). An index z_i = gamma_i kappa + L_i.t of the target that is held at s leaves
    kappa = gamma_i s + rho u,   E[t | kappa, s] = L_i (s - gamma_i u/rho),   rho^2 = 1 - gamma_i^2,   u ~ N(0, 1),
    Cov[t | kappa, s] = 1 - L_i L_i^T/rho^2,
over which the output is averaged.  [CUI24] Figures 1 and 3, Result 3.2.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from giantstep.law.directions import mixing
from giantstep.observe.learned_points import LearnedPoints, simulated_points
from giantstep.quadrature.panels import Term, initial_mesh, nodes
from giantstep.simulate.system import Rung
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.kernels import coefficients
from giantstep.spec.link import link_values
from giantstep.spec.model import Model, Target
from giantstep.spec.spike_table import refuse_loadings
from giantstep.system.problem import Problem, problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
_ORDER = 16  # nodes a panel of u
_WORST = 1e-7  # of the average over u, relative to the largest output
_OTHERS = 40  # nodes of each of the other indices of a target of two; fewer of three and four


@dataclass(frozen=True)
class Profile:
    """A function along a direction: at[N], mean[N] = E[f | .], spread[N] = sqrt Var[f | .], target[N] = E[f_* | .]."""

    at: Array
    mean: Array
    spread: Array
    target: Array

    def to_dict(self) -> dict[str, Any]:
        """Plain lists."""
        return {name: getattr(self, name).tolist() for name in ("at", "mean", "spread", "target")}


@dataclass(frozen=True)
class Learned:
    """What was learned: profiles along theta_index and along the spike v (None without one), and simulated points.

    result: the solution they are of; index counts from 1.
    """

    result: Result
    index: int
    along_target: Profile
    along_spike: Profile | None
    points: LearnedPoints | None

    def to_dict(self) -> dict[str, Any]:
        """The object of ``learned --json``."""
        return {
            "index": self.index,
            "along_target": self.along_target.to_dict(),
            "along_spike": None if self.along_spike is None else self.along_spike.to_dict(),
            "simulation": None if self.points is None else self.points.to_dict(),
            "test_error": self.result.test_error,
            "dimension": self.result.dimension,
            "model": self.result.model.to_dict(),
        }

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)


def learned(
    model: Model, *, at: Sequence[float] | Array | None = None, index: int = 1, dimension: int | None = None,
    simulate: bool = False, seeds: int = 10, what: Rung = "srf", seed: int = 0, bins: int = 15,
) -> Learned:  # fmt: skip
    """E[f | theta_index.x = s] and E[f | v.x = s] at the points ``at`` (default: 121 between -3 and 3).

    ``dimension``: with the correction of that size; ``simulate``: also the finite system of that dimension, its output
    averaged over ``bins`` bins between the ends. Raises BadInput for an index the target has not, and what ``solve``
    and ``simulate`` raise. Source: [CUI24] Figures 1 and 3.
    """
    refuse_loadings(model.spike, "the learned function")
    places = np.linspace(-3.0, 3.0, 121) if at is None else np.array(at, dtype=float).reshape(-1)
    if not places.size or not np.all(np.isfinite(places)):
        raise BadInput("the points at which the function is asked for are none, or not finite", "give some numbers")
    if isinstance(index, bool) or not isinstance(index, int) or not 1 <= index <= model.target.indices:
        raise BadInput(
            f"index = {index!r} is not an index of target.link = {model.target.link!r}",
            f"give a whole number from 1 to {model.target.indices}",
        )
    if model.spike is not None and model.spike.loadings is not None:
        raise BadInput(
            "the function along a spike of several directions is not available", "give spike.strength alone"
        )
    if simulate and dimension is None:
        raise BadInput("the simulation needs a dimension", "give dimension, e.g. 500")
    given = model
    if simulate:
        from giantstep.observe.simulate import at_dimension

        assert dimension is not None
        given = at_dimension(model, dimension)
    result = solve(given, dimension=dimension)
    points = None
    if simulate:
        assert dimension is not None
        edges = np.linspace(float(places.min()), float(places.max()), bins + 1)
        points = simulated_points(result, index, edges, dimension, seeds, what, seed, _means)
    return Learned(result, index, *profiles(result, places, index), points)


def profiles(result: Result, at: Array, index: int = 1) -> tuple[Profile, Profile | None]:
    """The profiles of a solution along theta_index and along the spike, None where there is no spike."""
    problem = problem_of(result.model, result.dimension, result.bias)
    output = Output(problem, result)
    mean, spread = _along_target(output, at, index)
    target = Profile(at, mean, spread, _target(result.model.target, at, index))
    return target, _along_spike(output, at) if result.spike.strength > 0.0 else None


def _means(result: Result, at: Array, index: int) -> tuple[Array, Array | None]:
    along, spike = profiles(result, at, index)
    return along.mean, None if spike is None else spike.mean


class Output:
    """The law of the output given kappa and t, from a solution."""

    def __init__(self, problem: Problem, result: Result) -> None:
        order = result.order_parameters
        self.problem, self.blocks = problem, problem.blocks
        self.m, self.zeta, self.q1, self.q2 = order["m"], order["zeta"], order["Q1"], order["Q2"]
        self.psi = order["psi"].reshape(len(self.m), -1)

    def of(self, kappa: Array) -> tuple[Array, Array, Array]:
        """mean[N] at t = 0, slope[N, D] in t, variance[N] of what is left."""
        mu = {term: coefficients(term.function, term.scale * kappa + term.offset, term.variance)
              for term in dict.fromkeys(self.blocks)}  # fmt: skip
        mu0, mu1, mu2sq = np.stack([mu[term] for term in self.blocks], axis=-1)
        mean = mu0 @ self.m + kappa * (mu1 @ self.zeta)
        slope = mu1 @ self.psi
        variance = np.einsum("nb,bc,nc->n", mu1, self.q1 - self.psi @ self.psi.T, mu1) + mu2sq @ self.q2
        return mean, slope, np.maximum(variance, 0.0)


def _along_spike(output: Output, at: Array) -> Profile:
    mean, slope, variance = output.of(at)
    return Profile(at, mean, np.sqrt((slope**2).sum(axis=1) + variance), _target_along_spike(output.problem, at))


def _target_along_spike(problem: Problem, at: Array) -> Array:
    """E[f_* | kappa]: the link averaged over what the spike does not fix of its indices."""
    if problem.target is not None:
        term = problem.target
        return np.asarray(coefficients(term.function, term.scale * at, term.variance)[0])
    target, alignments = problem.model.target, problem.spike.alignments
    return _averaged(target, np.array(alignments), mixing(alignments), at)


def _target(target: Target, at: Array, index: int) -> Array:
    """E[f_* | z_index], the other indices averaged over."""
    if target.indices == 1:
        return link_values(target.link)(at[None])
    along = np.eye(target.indices)[index - 1]
    others = np.delete(np.eye(target.indices), index - 1, axis=1)
    return _averaged(target, along, others, at)


def _averaged(target: Target, along: Array, across: Array, at: Array) -> Array:
    """E over n ~ N(0, 1) of the link at along * s + across n, for every s; the links of several indices are smooth."""
    from scipy.special import roots_hermitenorm

    directions = across.shape[1]
    x, weight = roots_hermitenorm(_OTHERS if directions == 1 else 32 if directions == 2 else 24 - 4 * (directions - 3))
    grid = np.array(list(product(x, repeat=directions))).T
    weights = np.prod(np.array(list(product(weight / weight.sum(), repeat=directions))), axis=1)
    values = link_values(target.link)
    shift = across @ grid
    return np.array([weights @ values(along[:, None] * s + shift) for s in at])


def _along_target(output: Output, at: Array, index: int) -> tuple[Array, Array]:
    """E[f | z_index = s] and the root of the variance, on two sets of panels that have to agree."""
    coarse, fine = (_averages(output, at, index, halvings) for halvings in (0, 1))
    size = max(float(np.abs(fine[0]).max()), 1e-300)
    if not np.max(np.abs(fine[0] - coarse[0])) <= _WORST * size:
        raise NotConverged(
            "the average of the output along the target does not settle",
            "the features vary too sharply along the spike: lower its strength",
        )
    mean, square = fine
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _averages(output: Output, at: Array, index: int, halvings: int) -> tuple[Array, Array]:
    """E[f | s] and E[f^2 | s]."""
    alignments = output.problem.spike.alignments
    gamma, row = alignments[index - 1], mixing(alignments)[index - 1]
    rho = np.sqrt(max(0.0, (1.0 - gamma) * (1.0 + gamma)))
    if rho < 1e-12:
        mean, slope, variance = output.of(gamma * at)
        return mean, mean**2 + (slope**2).sum(axis=1) + variance
    u, weight, first = _nodes_of_rest(output, gamma * at, rho, halvings)
    s = np.repeat(at, np.diff(first))
    mean, slope, variance = output.of(gamma * s + rho * u)
    mean = mean + (s - gamma * u / rho) * (slope @ row)
    left = (slope**2).sum(axis=1) - (slope @ row) ** 2 / rho**2
    square = mean**2 + np.maximum(left, 0.0) + variance
    return np.add.reduceat(weight * mean, first[:-1]), np.add.reduceat(weight * square, first[:-1])


def _nodes_of_rest(output: Output, shift: Array, rho: float, halvings: int) -> tuple[Array, Array, Array]:
    """Nodes and weights of u for every shift of kappa, one after the other, and where each begins."""
    places, weights, first = [], [], [0]
    for centre in shift:
        terms = [
            Term(term.function, term.scale * rho, term.offset + term.scale * float(centre), term.variance)
            for term in output.blocks
        ]
        edges = initial_mesh(terms)
        for _ in range(halvings):
            edges = np.sort(np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])]))
        u, weight = nodes(edges, _ORDER)
        places.append(u)
        weights.append(weight)
        first.append(first[-1] + len(u))
    return np.concatenate(places), np.concatenate(weights), np.array(first)
