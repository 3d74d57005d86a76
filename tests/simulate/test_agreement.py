"""The three systems against each other, and against random-matrix theory where that is in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from giantstep.simulate.errors import Array
from giantstep.simulate.features import conditional_test_error, training_set
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.layer import Streams
from giantstep.simulate.order import measure_overlaps
from giantstep.simulate.readout import ridge_readouts
from giantstep.simulate.result import SimulationResult
from giantstep.simulate.run import simulate
from giantstep.simulate.system import FiniteSystem, finite_sizes

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def tanh(z: Array) -> tuple[Array, Array]:
    value = np.tanh(z)
    return value, 1.0 - value * value


def linear(z: Array) -> tuple[Array, Array]:
    return z, np.ones_like(z)


def tanh_coefficients(
    strength: float, values: tuple[float, ...], variances: tuple[float, ...]
) -> Callable[[Array], tuple[Array, Array, Array, Array]]:
    """Conditional coefficients of tanh by Gauss-Hermite quadrature: smooth, 60 nodes give 1e-6."""

    def coefficients(kappa: Array) -> tuple[Array, Array, Array, Array]:
        found = np.zeros((4, len(values), kappa.size))
        for block, (value, variance) in enumerate(zip(values, variances, strict=True)):
            sigma = np.tanh(value * strength * kappa[:, None] + math.sqrt(variance) * NODES)
            mu0, mu1 = sigma @ WEIGHTS, sigma @ (WEIGHTS * NODES)
            rest = sigma - mu0[:, None] - mu1[:, None] * NODES
            found[:3, block] = mu0, mu1, np.sqrt((rest * rest) @ WEIGHTS)
        return found[0], found[1], found[2], found[3]

    return coefficients


def scores(first: SimulationResult, second: SimulationResult, name: str) -> Array:
    """Difference of means in standard errors."""
    error = np.hypot(first.standard_error(name), second.standard_error(name))
    return np.asarray((first.mean(name) - second.mean(name)) / error)


# Twelve entries and two names per pair. The equivalences hold up to O(1/d): at d = 250 this bias is below one
# standard error of 20 seeds, so a maximum of 4.5 over 24 dependent scores allows three of chance.
LIMIT = 4.5


def test_conditional_gaussian_map_describes_strong_spikes() -> None:
    """srf against gaussian: vocabulary readout, sign target, strong spike, noise; and order parameters."""
    strength, values, variances = 1.5, (1.0, -0.5), (1.3, 1.1)
    system = FiniteSystem(
        tanh,
        np.sign,
        1.2,
        values,
        (0.6, 0.4),
        0.0,
        0.1,
        (),
        (strength, 0.85, variances),
        tanh_coefficients(strength, values, variances),
    )
    alphas, ridges = [0.6, 1.2, 3.0], [1e-3, 0.1]
    srf = simulate(system, "srf", 250, 20, alphas, ridges, order_parameters=True)
    gaussian = simulate(system, "gaussian", 250, 20, alphas, ridges, seed=1, order_parameters=True)
    for name in ("test_error", "train_error", "Q2", "psi"):
        assert np.max(np.abs(scores(srf, gaussian, name))) < LIMIT
    # the comparison has power: without the spike the errors differ by far more than the limit
    plain = simulate(FiniteSystem(tanh, np.sign, 1.2, values, (0.6, 0.4), 0.0, 0.1), "srf", 250, 20, alphas, ridges)
    assert np.min(np.abs(scores(srf, plain, "test_error"))[1:, 1]) > 3 * LIMIT


def test_trained_network_is_a_spiked_model_at_small_steps() -> None:
    """network against srf, spike from its asymptotic map; many samples in the step: isotropic bulk."""
    values, fractions, alpha0, gain = (1.0, -0.5), (0.5, 0.5), 8.0, 0.8
    teacher = np.tanh(NODES)
    s1, e2 = float(teacher @ (WEIGHTS * NODES)), float((teacher * teacher) @ WEIGHTS) + 0.05
    slope = 1.0 - teacher * teacher
    spread = float((slope * slope) @ WEIGHTS - (slope @ WEIGHTS) ** 2)
    size = math.sqrt(s1 * s1 + e2 / alpha0)
    variances = tuple(1.0 + (gain * u) ** 2 * e2 / alpha0 * spread for u in values)
    system = FiniteSystem(
        tanh,
        np.tanh,
        1.0,
        values,
        fractions,
        0.0,
        0.05,
        ((alpha0, gain),),
        (gain * s1 * size, s1 / size, variances),
    )
    alphas, ridges = [0.5, 1.0, 2.0], [1e-2, 0.3]
    network = simulate(system, "network", 250, 20, alphas, ridges)
    srf = simulate(system, "srf", 250, 20, alphas, ridges, seed=1)
    for name in ("test_error", "train_error"):
        assert np.max(np.abs(scores(network, srf, name))) < LIMIT
    untrained = FiniteSystem(tanh, np.tanh, 1.0, values, fractions, 0.0, 0.05)
    plain = simulate(untrained, "network", 250, 20, alphas, ridges)
    assert np.max(np.abs(scores(network, plain, "test_error"))) > 2 * LIMIT


def test_conditional_test_error_is_that_of_explicit_features() -> None:
    """The exact average over the features' noise against features drawn one by one, four standard errors."""
    values, variances = (1.0, -0.5), (1.3, 1.1)
    system = FiniteSystem(
        tanh,
        np.sign,
        1.2,
        values,
        (0.6, 0.4),
        0.0,
        0.1,
        (),
        (1.5, 0.85, variances),
        tanh_coefficients(1.5, values, variances),
    )
    sizes = finite_sizes(system, 60, [2.0])
    streams = Streams.spawn(np.random.SeedSequence(2))
    layer = draw_layer(system, sizes, "gaussian", streams)
    readouts, _ = ridge_readouts(*training_set(system, sizes, "gaussian", layer, streams), sizes.samples, [0.05, 1.0])
    overlaps = measure_overlaps(system, sizes, layer, readouts)
    exact, error, _ = conditional_test_error(system, layer, overlaps, 20_000, streams)
    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((20_000, 60))
    coefficients = tanh_coefficients(1.5, values, variances)(inputs @ layer.spike)
    block = np.repeat([0, 1], sizes.blocks)
    mu0, mu1, mu2, _ = (array[block].T for array in coefficients)
    features = mu0 + mu1 * (inputs @ layer.rows.T) + mu2 * generator.standard_normal(mu0.shape)
    square = (np.sign(inputs @ layer.theta[0])[:, None] - features @ readouts / math.sqrt(sizes.width_count)) ** 2
    drawn = square.std(axis=0) / math.sqrt(20_000)
    assert np.all(np.abs(square.mean(axis=0) - exact) <= 4.0 * np.hypot(error, drawn))


def linear_model_errors(alpha: float, beta: float, ridge: float, noise: float) -> tuple[float, float]:
    """Test (clean) and train error of ridge regression on linear random features, d -> infinity, beta > 1.

    In x-space the readout is a ridge on the inputs B^1/2 x with B = W^T W/p, a Marchenko-Pastur matrix:
    deterministic equivalent of ridge regression with k (alpha - E[b/(b+k)]) = ridge, bias k^2 E[(b+k)^-2],
    inflated by the degrees of freedom; generalised cross-validation for the train error.
    """
    low, high = (1 - math.sqrt(1 / beta)) ** 2, (1 + math.sqrt(1 / beta)) ** 2

    def mean(function: Callable[[float], float]) -> float:
        def integrand(angle: float) -> float:
            b = 0.5 * (high + low) - 0.5 * (high - low) * math.cos(angle)
            weight = (0.5 * (high - low) * math.sin(angle)) ** 2 * beta / (2 * math.pi * b)
            return weight * function(b)

        return float(quad(integrand, 0.0, math.pi)[0])

    k = brentq(lambda k: k * (alpha - mean(lambda b: b / (b + k))) - ridge, 1e-9, ridge + 10.0 * max(1.0, ridge))
    effective = mean(lambda b: b * b / (b + k) ** 2) / alpha
    test = (k * k * mean(lambda b: (b + k) ** -2) + noise * effective) / (1.0 - effective)
    return test, (ridge / (alpha * k)) ** 2 * (test + noise)


@pytest.mark.parametrize("what", ["srf", "gaussian"])
def test_linear_random_features(what: str) -> None:
    """Plain features, linear activation and target: each system against the closed formula.

    Four standard errors and an O(1/d) correction of relative size 3/d.
    """
    noise, alphas, ridges, dimension = 0.2, [0.5, 1.0, 2.0], [0.05, 0.5], 200

    def plain(kappa: Array) -> tuple[Array, Array, Array, Array]:
        one = np.ones((1, kappa.size))
        return 0.0 * one, one, 0.0 * one, 0.0 * one

    system = FiniteSystem(linear, lambda z: z, 1.6, noise=noise, coefficients=plain)
    result = simulate(system, what, dimension, 60, alphas, ridges)  # type: ignore[arg-type]
    for i, alpha in enumerate(result.sizes.alpha):
        for j, ridge in enumerate(ridges):
            exact = linear_model_errors(alpha, result.sizes.beta, ridge, noise)
            for name, value in zip(("test_error", "train_error"), exact, strict=True):
                error = result.standard_error(name)[i, j]
                assert error < 0.035 * value
                assert abs(result.mean(name)[i, j] - value) <= 4.0 * error + 3.0 / dimension * value
