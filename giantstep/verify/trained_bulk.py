"""A trained bulk: its law against the spectrum of one sampled batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from derive.directions import directions_of
from giantstep.law.covariance import Covariance
from giantstep.law.gradient_step import step_arguments
from giantstep.law.residual import ResidualLaw
from giantstep.law.rows_after_step import initial_output, spike_sign
from giantstep.spec.link import link_values
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.problem import Problem
from giantstep.system.stretched_system import StretchedSystem
from giantstep.verify.check import Check

Array = np.ndarray
_DIMENSION, _MOST = 500, 4000  # d, and the largest number of samples
_LARGEST = 1200  # matrix of all blocks


@dataclass(frozen=True)
class _Batch:
    """Inputs [n0, d] of one step with their residuals [n0], and the spike [d]; the first axes are the target's."""

    x: Array
    e: Array
    v: Array

    def mean(self, of_residual: Array) -> Array:
        """``(1/n0) sum_i f_i x_i x_i^T``."""
        return np.asarray((self.x.T * of_residual) @ self.x / len(self.e))

    def covariance(self, of: Covariance) -> Array:
        """The covariance of rows."""
        stretched = np.eye(len(self.v)) + of.stretch * self.mean(self.e)
        rows = stretched @ stretched + of.noise * self.mean(self.e**2)
        return np.asarray(rows + of.spread * np.outer(self.v, self.v))

    def target(self, indices: int) -> Array:
        """The target beside the spike: orthonormal directions u_j [m, d], theta_i = gamma_i v + sum_(j<=i) L_ij u_j."""
        theta = np.eye(len(self.v))[:indices]
        across, lower = np.linalg.qr((theta - np.outer(self.v[:indices], self.v)).T)
        return np.asarray((across * np.sign(lower.diagonal())).T)

    def norms(self, problem: Problem) -> tuple[Array, Array]:
        """d times the variances [K] of the squared norms of the rows, and their covariances [K, d] with the rows."""
        one, t = np.full(len(self.e), 1.0 / len(self.e)), self.x[:, : problem.model.target.indices].T
        both = np.einsum("in,jn->ijn", t, t)
        rows = rows_of_blocks(problem)
        chi, coefficients = rows.norms.of_blocks(ResidualLaw(self.e, one, one * t, one * both))
        stretch, b = [each.stretch for each in rows.covariances], self.mean(self.e)
        upper, lower = (coefficients[:, i] @ self.x / len(self.e) for i in range(2))
        return chi, upper - np.array(stretch)[:, None] * (lower @ b)


def _batch(problem: Problem, d: int) -> _Batch:
    model, source = problem.model, np.random.default_rng(5)
    target, count = model.target, max(1, round(step_arguments(model).samples * d))
    x = source.normal(size=(count, d))
    noise = source.normal(size=(count, target.indices))
    inner = x[:, : target.indices] + math.sqrt(target.probit) * noise
    flip = np.where(source.uniform(size=count) < target.flips, -1.0, 1.0)
    label = flip * link_values(target.link)(inner.T) + math.sqrt(target.noise) * source.normal(size=count)
    residual = label - initial_output(model)
    v = spike_sign(model) * (x.T @ residual)
    return _Batch(x, residual, v / np.linalg.norm(v))


def stretched_checks(system: StretchedSystem) -> Iterator[Check]:
    """What the readout knows of rows that are stretched by blocks, at its solution: the law, and rows of one batch."""
    problem, state = system.problem, system.numbers
    blocks, samples = len(problem.blocks), step_arguments(problem.model).samples
    d = max(50, min(_DIMENSION, int(_MOST / max(samples, 1.0)), _LARGEST // blocks))
    order, trace = _on_batch(problem, state, d)
    names = _overlaps(problem)
    size = max(np.abs(state[name]).max() for name in names)
    rows = rows_of_blocks(problem)
    chi = rows.norms.of_blocks(rows.residual(system.level.output))[0] / rows.variance**2
    sizes = {**dict.fromkeys(names, size), "norm": size * max(1.0, math.sqrt(chi.max()))}
    for name, found in order.items():
        worst = float(np.max(np.abs(found - state[name])) / sizes[name])
        yield Check(f"{name} of the bulk against one batch, d = {d}", worst, 6.0 / math.sqrt(d))
    worst = float(np.max(np.abs(trace - state["M"])) / np.abs(state["M"]).max())
    yield Check(f"response of the bulk against one batch, d = {d}: trace", worst, 20.0 / d)


def _on_batch(problem: Problem, state: Mapping[str, Array], d: int) -> tuple[dict[str, Array], Array]:
    """(zeta, psi and norm [K], mean response [K, K]) of the rows after a step on one batch, sources given.

    With ``P = (1 + V1_hat T Sigma)^-1`` and ``S = P V1_hat`` the sources j make ``T Sigma P j`` of the rows, and those
    of the norms act as ``T o_hat k`` on them, k the covariance of norm and row.
    """
    given, batch, blocks = rows_of_blocks(problem), _batch(problem, d), len(problem.blocks)
    variances = given.variance
    (chi, k), t = batch.norms(problem), state["T"]
    rows = np.zeros((blocks, d, blocks, d))
    for b, of in enumerate(given.covariances):
        rows[b, :, b] = t[b] / variances[b] * batch.covariance(of)
    large, hat = rows.reshape(blocks * d, blocks * d), np.kron(state["V1_hat"], np.eye(d))
    inverse = np.linalg.inv(np.eye(blocks * d) + hat @ large)
    names = _overlaps(problem)
    along = dict(zip(names, [batch.v, *batch.target(problem.model.target.indices)], strict=True))
    hats = [name.replace("zeta", "zeta_hat").replace("psi", "psi_hat") for name in names]
    parts = [np.outer(state[hat], along[name]).ravel() for hat, name in zip(hats, names, strict=True)]
    source = np.sum(parts, axis=0)
    k = k / variances[:, None] ** 1.5
    norms = ((t * state["norm_hat"])[:, None] * k).ravel()
    found = (large @ inverse @ source + inverse.T @ norms).reshape(blocks, d)
    field = (inverse @ (source - hat @ norms)).reshape(blocks, d)
    of_norms = t * (np.einsum("bi,bi->b", k, field) + chi / variances**2 * state["norm_hat"])
    trace = np.einsum("bici->bc", (large @ inverse).reshape(blocks, d, blocks, d)) / d
    return {**{name: found @ along[name] for name in names}, "norm": of_norms}, trace


def _overlaps(problem: Problem) -> tuple[str, ...]:
    """Names of the overlaps along the spike, and along the target beside it."""
    return ("zeta", *directions_of("psi", problem.model.target.indices))
