"""A trained bulk: its law against the spectrum of one sampled batch."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from giantstep.law.gradient_step import step_arguments
from giantstep.law.trained_bulk import BulkLaw, law_of_vectors
from giantstep.spec.link import link_values
from giantstep.system.bulk_system import (
    bulk_of,
    covariance_of,
    covariances_of,
    initial_output,
    spike_sign,
    variances_of,
)
from giantstep.system.problem import Problem
from giantstep.system.stretched_system import StretchedSystem
from giantstep.verify.check import Check

Array = np.ndarray
_DIMENSION, _MOST = 500, 4000  # d, and the largest number of samples
_LARGEST = 1200  # matrix of all blocks
_SHIFTS = (1.5, 6.0)  # of the resolvent


def bulk_checks(problem: Problem) -> Iterator[Check]:
    """Means of w/(x + w) over the trace, the spike and the target: the law, and the covariance of one batch.

    The trace fluctuates by 1/d, single directions by 1/sqrt(d).
    """
    law, sigma = bulk_of(problem)
    sampled, d = _sampled(problem)
    for name, label, allowed in (
        ("law_tr", "trace", 20.0 / d),
        ("law_vv", "spike", 6.0 / math.sqrt(d)),
        ("law_vo", "spike and target", 6.0 / math.sqrt(d)),
        ("law_oo", "target beside the spike", 6.0 / math.sqrt(d)),
    ):
        worst = max(abs(_mean(law, name, w) - _mean(sampled, name, w)) for w in _SHIFTS)
        yield Check(f"law of the bulk against one batch, d = {d}: {label}", worst, allowed)
    mean = np.real((sigma * law.weights["law_tr"]).sum(axis=1))
    yield Check("mean of the bulk's covariance", float(np.max(np.abs(mean - 1.0))), 1e-8)


def _mean(law: BulkLaw, name: str, w: float) -> float:
    return float(np.real((law.weights[name] * w / (law.x + w)).sum()))


def _sampled(problem: Problem) -> tuple[BulkLaw, int]:
    """The law of the covariance of rows after a step on one batch, and its dimension."""
    of = covariance_of(problem)
    d = max(50, min(_DIMENSION, int(_MOST / max(of.samples, 1.0))))
    matrix, squares, v = _of_batch(problem, d)
    stretched = np.eye(d) + of.stretch * matrix
    values, vectors = np.linalg.eigh(stretched @ stretched + of.noise * squares)
    return law_of_vectors(values - 1.0, vectors.T @ v, vectors[0]), d


def _of_batch(problem: Problem, d: int) -> tuple[Array, Array, Array]:
    """B, C and the direction of the spike, of one batch of inputs of a dimension; the target's is the first axis."""
    model, source = problem.model, np.random.default_rng(5)
    target, count = model.target, max(1, round(step_arguments(model).samples * d))
    x = source.normal(size=(count, d))
    inner = x[:, 0] + math.sqrt(target.probit) * source.normal(size=count)
    flip = np.where(source.uniform(size=count) < target.flips, -1.0, 1.0)
    label = flip * link_values(target.link)(inner[None]) + math.sqrt(target.noise) * source.normal(size=count)
    residual = label - initial_output(model)
    v = spike_sign(model) * (x.T @ residual)
    return (x.T * residual) @ x / count, (x.T * residual**2) @ x / count, v / np.linalg.norm(v)


def stretched_checks(system: StretchedSystem) -> Iterator[Check]:
    """The responses M of rows that are stretched by blocks, at the solution: the law, and rows of one batch."""
    problem, state = system.problem, system.state
    blocks, samples = len(problem.blocks), step_arguments(problem.model).samples
    d = max(50, min(_DIMENSION, int(_MOST / max(samples, 1.0)), _LARGEST // blocks))
    found, v = _response_to_batch(system, d)
    gamma, rho = state["gamma"][0], state["rho"][0]
    crossed = gamma * state["M_theta"] + rho * state["M_cross"]
    spike = gamma * (crossed + rho * state["M_cross"].T) + rho**2 * state["M_noise"]
    theta = np.eye(d)[0]
    size = np.abs(state["M_theta"]).max()
    for label, one, other, law, allowed in (
        ("spike", v, v, spike, 6.0 / math.sqrt(d)),
        ("spike and target", v, theta, crossed, 6.0 / math.sqrt(d)),
        ("target", theta, theta, state["M_theta"], 6.0 / math.sqrt(d)),
    ):
        sampled = np.einsum("i,bicj,j->bc", one, found, other)
        worst = float(np.max(np.abs(sampled - law)) / size)
        yield Check(f"response of the bulk against one batch, d = {d}: {label}", worst, allowed)
    worst = float(np.max(np.abs(np.einsum("bici->bc", found) / d - state["M"])) / size)
    yield Check(f"response of the bulk against one batch, d = {d}: trace", worst, 20.0 / d)


def _response_to_batch(system: StretchedSystem, d: int) -> tuple[Array, Array]:
    """``T Sigma (1 + V1_hat T Sigma)^-1`` [K, d, K, d] of the rows after a step on one batch, and the spike."""
    problem, state = system.problem, system.state
    matrix, squares, v = _of_batch(problem, d)
    one, blocks = np.eye(d), len(problem.blocks)
    rows = np.zeros((blocks, d, blocks, d))
    for b, ((stretch, noise), variance) in enumerate(zip(covariances_of(problem), variances_of(problem), strict=True)):
        stretched = one + stretch * matrix
        rows[b, :, b] = state["T"][b] / variance * (stretched @ stretched + noise * squares)
    large = rows.reshape(blocks * d, blocks * d)
    response = large @ np.linalg.inv(np.eye(blocks * d) + np.kron(state["V1_hat"], one) @ large)
    return response.reshape(rows.shape), v
