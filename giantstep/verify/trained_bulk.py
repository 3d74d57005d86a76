"""A trained bulk: its law against rows that one sampled batch leaves, or one for each of several steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from derive.directions import directions_of
from generated import row_norms
from giantstep.law.rest_of_target import rest_of_target
from giantstep.law.spike import states_after_steps
from giantstep.law.step_samples import POWERS, averages_at
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.shift_derivatives import rest_averages
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.problem import Problem
from giantstep.system.stretched_system import StretchedSystem
from giantstep.verify.check import Check
from giantstep.verify.drawn_labels import sampled

Array = np.ndarray
_DIMENSION, _MOST = 500, 4000  # d, and the largest number of samples
_LARGEST = 1200  # matrix of all blocks


@dataclass(frozen=True)
class SampledRows:
    """Rows of one sampled batch for every step: covariances [K, d, d] by blocks, directions of the spike [q, d] and of
    the target beside it [m, d]; d times the variances [K] of their squared norms, and their covariances [K, d] with the
    rows.
    """

    covariances: Array
    spike: Array
    rest: Array
    chi: Array
    norms: Array


@dataclass(frozen=True)
class Batch:
    """Inputs [n0, d] of one step with their residuals [n0]; the first axes are the target's."""

    x: Array
    e: Array

    def mean(self, of_residual: Array) -> Array:
        """``(1/n0) sum_i f_i x_i x_i^T``."""
        return np.asarray((self.x.T * of_residual) @ self.x / len(self.e))


def sampled_inputs(target: Target, count: int, d: int, source: np.random.Generator) -> tuple[Array, Array]:
    """Inputs [count, d] and their labels."""
    x = source.normal(size=(count, d))
    noise = source.normal(size=(count, target.indices))
    inner = x[:, : target.indices] + math.sqrt(target.probit) * noise
    value = link_values(target.link)(inner.T)
    if target.channel is not None:
        return x, sampled(target.channel, value, source)
    flip = np.where(source.uniform(size=count) < target.flips, -1.0, 1.0)
    return x, flip * value + math.sqrt(target.noise) * source.normal(size=count)


def stretched_checks(system: StretchedSystem) -> Iterator[Check]:
    """What the readout knows of rows that are stretched by blocks, at its solution: the law, and rows of one batch."""
    problem, state = system.problem, system.numbers
    blocks, steps = len(problem.blocks), problem.model.steps
    most = max(step.samples for step in steps)
    d = max(50, min(_DIMENSION, int(_MOST / max(most, 1.0)), _LARGEST // blocks))
    rows = rows_of_batches(problem, d)
    order, trace = _on_rows(problem, state, rows)
    names = _overlaps(problem)
    size = max(np.abs(state[name]).max() for name in names)
    sizes = {**dict.fromkeys(names, size), "norm": size * max(1.0, math.sqrt(state["chi"].max()))}
    one = "one batch" if len(steps) == 1 else "one batch each"
    for name, found in order.items():
        worst = float(np.max(np.abs(found - state[name])) / sizes[name])
        yield Check(f"{name} of the bulk against {one}, d = {d}", worst, 6.0 / math.sqrt(d))
    worst = float(np.max(np.abs(trace - state["M"])) / np.abs(state["M"]).max())
    # variances of rows fluctuate as the batches do, and those of a later step with those before
    allowed = 20.0 / d if len(steps) == 1 else 6.0 / math.sqrt(d)
    yield Check(f"response of the bulk against {one}, d = {d}: trace", worst, allowed)


def _on_rows(problem: Problem, state: Mapping[str, Array], given: SampledRows) -> tuple[dict[str, Array], Array]:
    """(zeta, psi and norm [K], mean response [K, K]) of sampled rows, sources given.

    With ``P = (1 + V1_hat T Sigma)^-1`` and ``S = P V1_hat`` the sources j make ``T Sigma P j`` of the rows, and those
    of the norms act as ``T o_hat k`` on them, k the covariance of norm and row.
    """
    variances, t, (blocks, d) = rows_of_blocks(problem).variance, state["T"], given.norms.shape
    rows = np.zeros((blocks, d, blocks, d))
    for b, covariance in enumerate(given.covariances):
        rows[b, :, b] = t[b] / variances[b] * covariance
    large, hat = rows.reshape(blocks * d, blocks * d), np.kron(state["V1_hat"], np.eye(d))
    inverse = np.linalg.inv(np.eye(blocks * d) + hat @ large)
    names = _overlaps(problem)
    along = dict(zip(names, [*given.spike, *given.rest], strict=True))
    hats = [name.replace("zeta", "zeta_hat").replace("psi", "psi_hat") for name in names]
    parts = [np.outer(state[hat], along[name]).ravel() for hat, name in zip(hats, names, strict=True)]
    source = np.sum(parts, axis=0)
    k = given.norms / variances[:, None] ** 1.5
    norms = ((t * state["norm_hat"])[:, None] * k).ravel()
    found = (large @ inverse @ source + inverse.T @ norms).reshape(blocks, d)
    field = (inverse @ (source - hat @ norms)).reshape(blocks, d)
    of_norms = t * (np.einsum("bi,bi->b", k, field) + given.chi / variances**2 * state["norm_hat"])
    trace = np.einsum("bici->bc", (large @ inverse).reshape(blocks, d, blocks, d)) / d
    return {**{name: found @ along[name] for name in names}, "norm": of_norms}, trace


def _overlaps(problem: Problem) -> tuple[str, ...]:
    """Names of the overlaps along the spike, and along the target beside it."""
    return (*directions_of("zeta", problem.rank), *directions_of("psi", problem.model.target.indices))


def rows_of_batches(problem: Problem, d: int) -> SampledRows:
    """Those of steps that have a batch of their own each."""
    model, states, source = problem.model, states_after_steps(problem.model), np.random.default_rng(5)
    network, target, rows = model.network, model.target, rows_of_blocks(problem)
    values, shares = np.array(network.readout.values), np.array(network.readout.fractions)
    means, variances = np.zeros((len(values), d)), (1.0,) * len(values)
    bulks = [_BulkRows(np.eye(d), np.zeros(d), 2.0 * network.radial)] * len(values)
    for step, after in zip(model.steps, states, strict=True):
        x, label = sampled_inputs(target, max(1, round(step.samples * d)), d, source)
        shifts = means @ x.T + network.initial_bias
        output, slope, curvature, rest = averages_at(network, variances, shifts)
        batch = Batch(x, label - (values * shares) @ output)
        for b, size in enumerate(step.learning_rate / network.width * values):
            term = Term(network.activation, 1.0, network.initial_bias, variances[b])
            moments = rest_averages(term, shifts[b], POWERS)
            noise = np.array([(size * batch.e) ** i * each for (i, _), each in zip(POWERS, moments, strict=True)])
            added = size * batch.e * curvature[b], (size * batch.e) ** 2 * rest[b] / step.samples, noise
            bulks[b] = bulks[b].after(batch, step.samples, variances[b], added)
            means[b] += size * (batch.e * slope[b]) @ x / len(x)
        variances = after.bulk_variance
    left, _, right = np.linalg.svd(np.linalg.pinv(np.array(states[-1].loadings)) @ means, full_matrices=False)
    spike, first = rows.sign * left @ right, [bulks[same[0]] for same in rows.members]
    covariances, norms = np.array([each.covariance for each in first]), np.array([each.norm for each in first])
    chi = np.array([each.chi for each in first])
    return SampledRows(covariances, spike, rest_of_target(spike, target.indices), chi, norms)


@dataclass(frozen=True)
class _BulkRows:
    """Bulk rows of a block: covariance [d, d], d times that of squared norm and row [d], d times the variance of the
    squared norm.
    """

    covariance: Array
    norm: Array
    chi: float

    def after(self, batch: Batch, samples: float, c: float, added: tuple[Array, Array, Array]) -> _BulkRows:
        """After a step on a batch; c: mean squared norm before; added: b, noise and its moments of every sample."""
        b, noise, moments = added
        weight = np.full(len(b), 1.0 / len(b))
        growth, rest, linear, tau, change = row_norms.norms(samples, c, weight, b, moments)
        source, tau, further = ((weight * each) @ batch.x for each in (linear / math.sqrt(c), tau, change / c))
        stretched = np.eye(len(source)) + batch.mean(b)
        moved = growth * self.norm + self.covariance @ source  # d times the covariance of row before, norm after
        with_norm = growth * self.chi + self.norm @ source
        chi = rest + growth * with_norm + moved @ source
        gained = np.outer(stretched @ self.norm, further)  # rows of larger norm move further
        covariance = stretched @ self.covariance @ stretched + batch.mean(noise) + gained + gained.T
        covariance += self.chi * np.outer(further, further)
        return _BulkRows(covariance, stretched @ moved + tau + with_norm * further, float(chi))
