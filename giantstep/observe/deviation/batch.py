"""What the batch of a step adds to the variance of the test error, by the spike and the rows that it leaves.

The gradient is along (1/n0) sum_i e_i x_i. Given the residuals, its part along the target is (1/n0) sum_i e_i t_i and
the rest is normal with (1/n0) sum_i e_i^2 for its variance: sums over the batch, and a squared length that fluctuates
by sqrt(2/d). Strength, alignment and bulk variance are functions of these. Source: docs/theory.md, section 14.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generated import step as generated_step
from giantstep.law.gradient_step import StepArguments, step_arguments
from giantstep.law.known_indices import in_known
from giantstep.law.moments import activation_moments
from giantstep.law.residual_nodes import residual_nodes
from giantstep.law.spike import by_blocks
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model
from giantstep.spec.spike_table import Spike
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
_STEP, _TOLERANCE = 1e-4, 1e-12  # of central differences in what fluctuates; of the solutions
_NODES, _EVEN = 24, 1e-12  # of the law of the residual; of E sigma'' in units of E[z sigma]


def of_batch(result: Result) -> float:
    """d times the variance that the batch of the only step adds, at the dimension of a result. Raises BadInput where it
    is not derived.
    """
    model = in_known(result.model)
    if by_blocks(model):
        raise BadInput("the batches of several steps have not been derived", "take a single [step]")
    of = step_arguments(model)
    if abs(of.sigma2) > _EVEN * abs(of.mu1):
        raise BadInput(
            "the batch of an activation with E sigma'' other than zero has not been derived: it stretches the rows "
            "beyond the spike",
            "use an odd activation such as tanh or erf",
        )
    slopes, covariance = _slopes(result, of), _covariance(model, of)
    return float(slopes @ covariance @ slopes)


def _covariance(model: Model, of: StepArguments) -> Array:
    """d times the covariance of E[e t] (of every index), E e^2 and the relative squared length of the rest."""
    mean = model.network.readout.mean * _output_at_start(model)
    law = residual_nodes(model.target, mean, _NODES)
    e, count = law.e, len(of.overlaps)
    found = np.zeros((count + 2, count + 2))
    found[:count, :count] = law.weight_tt @ e**2 - np.outer(law.overlaps, law.overlaps)
    found[:count, count] = found[count, :count] = law.weight_t @ e**3 - law.overlaps * law.square
    found[count, count] = law.weight @ e**4 - law.square**2
    found /= of.samples
    found[-1, -1] = 2.0
    return found


def _output_at_start(model: Model) -> float:
    """E sigma at initialisation."""
    text = model.network.activation
    return activation_moments(text, function_kernel(text).BREAKPOINTS, model.network.initial_bias).mean


def _slopes(result: Result, of: StepArguments) -> Array:
    """Derivatives of the test error in what fluctuates, by central differences of solutions."""
    ways = np.eye(len(of.overlaps) + 2)
    errors = [[_error(result, of, side * _STEP * way) for side in (1.0, -1.0)] for way in ways]
    return np.array([(up - down) / (2.0 * _STEP) for up, down in errors])


def _error(result: Result, of: StepArguments, change: Array) -> float:
    """The test error where the batch has other averages."""
    model = in_known(result.model)
    *along, square, length = change.tolist()
    overlaps = tuple(s1 + more for s1, more in zip(of.overlaps, along, strict=True))
    there = replace(of, overlaps=overlaps, e2=of.e2 + square)
    rest = there.e2 * (1.0 + length)
    strength = generated_step.strength(of.rate, of.samples, of.mu1, there.length, rest)
    sign = -1.0 if strength < 0.0 else 1.0
    alignments = [sign * generated_step.alignment(of.samples, s1, there.length, rest) for s1 in overlaps]
    values = model.network.readout.values
    bulk = [
        generated_step.bulk_variance(of.rate, of.samples, u, of.s0, there.e2, of.sigma2, of.variance) for u in values
    ]
    spike = Spike(sign * strength, tuple(alignments) if len(alignments) > 1 else alignments[0], tuple(bulk))
    given = replace(model, step=None, spike=spike)
    return float(solve(given, dimension=result.dimension, tolerance=_TOLERANCE).test_error)
