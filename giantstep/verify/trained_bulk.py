"""A trained bulk: its law against the spectrum of one sampled batch."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from giantstep.law.trained_bulk import BulkLaw, law_of_vectors
from giantstep.spec.link import link_values
from giantstep.system.bulk_system import bulk_of, covariance_of, initial_output, spike_sign
from giantstep.system.problem import Problem
from giantstep.verify.check import Check

_DIMENSION, _MOST = 500, 4000  # d, and the largest number of samples
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
    model, of = problem.model, covariance_of(problem)
    assert model.step is not None
    target, source = model.target, np.random.default_rng(5)
    d = max(50, min(_DIMENSION, int(_MOST / max(model.step.samples, 1.0))))
    count = max(1, round(model.step.samples * d))
    x = source.normal(size=(count, d))
    inner = x[:, 0] + math.sqrt(target.probit) * source.normal(size=count)
    flip = np.where(source.uniform(size=count) < target.flips, -1.0, 1.0)
    label = flip * link_values(target.link)(inner[None]) + math.sqrt(target.noise) * source.normal(size=count)
    residual = label - initial_output(model)
    stretched = np.eye(d) + of.stretch * (x.T * residual) @ x / count
    values, vectors = np.linalg.eigh(stretched @ stretched + of.noise * (x.T * residual**2) @ x / count)
    v = spike_sign(model) * (x.T @ residual)
    return law_of_vectors(values - 1.0, vectors.T @ (v / np.linalg.norm(v)), vectors[0]), d
