"""The gradient step: against finite differences, and its spike against the asymptotic map."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from giantstep.simulate import gradient_steps
from giantstep.simulate.errors import Array
from giantstep.simulate.first_layer import draw_layer, sphere_rows
from giantstep.simulate.layer import Streams, neuron_values
from giantstep.simulate.run import simulate
from giantstep.simulate.system import Activation, FiniteSystem, finite_sizes


def tanh(z: Array) -> tuple[Array, Array]:
    value = np.tanh(z)
    return value, 1.0 - value * value


def relu(z: Array) -> tuple[Array, Array]:
    return np.maximum(z, 0.0), np.where(z > 0.0, 1.0, 0.0)


def mixed_link(z: Array) -> Array:
    return np.asarray(z + 0.5 * (z * z - 1.0) + 0.3)


def streams(seed: int) -> Streams:
    return Streams.spawn(np.random.SeedSequence(seed))


@pytest.mark.parametrize("rows_per_chunk", [7, 1000])
def test_step_is_the_gradient_of_the_loss(rows_per_chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """W1 - W0 along random directions against central differences of (1/2 n0) sum (y - f)^2.

    Truncation h^2 |third derivative| ~ 1e-8 and rounding eps/h ~ 1e-11, relative to gradients of order 1e-1:
    1e-6.
    """
    monkeypatch.setattr(gradient_steps, "chunk_rows", lambda width: rows_per_chunk)
    system = FiniteSystem(tanh, mixed_link, 1.3, (1.0, -0.5), (0.6, 0.4), 0.4, 0.2, ((2.0, 0.7),))
    sizes = finite_sizes(system, 20, [1.0])
    after = draw_layer(system, sizes, "network", streams(3))
    draws = streams(3)
    before = sphere_rows(draws.layer, sizes.width_count, 20)
    count = sizes.step_samples[0]
    assert count == 40
    batch, noise = draws.batch()
    inputs = batch.standard_normal((count, 20))
    target = mixed_link(inputs @ after.theta[0]) + math.sqrt(0.2) * noise.noise.standard_normal(count)
    readout = neuron_values(system, sizes, draws.layer) / math.sqrt(sizes.width_count)

    def loss(rows: Array) -> float:
        output = np.tanh(inputs @ rows.T + 0.4) @ readout / math.sqrt(sizes.width_count)
        return float(np.sum((target - output) ** 2)) / (2 * count)

    rate = 0.7 * 20
    generator = np.random.default_rng(0)
    for _ in range(5):
        way = generator.standard_normal(before.shape)
        slope = (loss(before + 1e-5 * way) - loss(before - 1e-5 * way)) / 2e-5
        assert np.sum((after.rows - before) * way) == pytest.approx(-rate * slope, rel=1e-6, abs=1e-7)


def asymptotic_spike(
    activation: Activation,
    link: Callable[[Array], Array],
    system: FiniteSystem,
    beta: float,
    alpha0: float,
    fractions: tuple[float, ...],
) -> tuple[float, float, Array]:
    """Strength, alignment and bulk variances of the asymptotic map ([CUI24] Result 3.1), by quadrature."""

    def expectation(function: Callable[[Array], Array]) -> float:
        points = (0.0, -system.bias)
        density = lambda z: float(function(np.array(z))) * norm.pdf(z)  # noqa: E731
        return float(quad(density, -9.0, 9.0, points=points, limit=200)[0])

    gain, values = system.steps[0][1] / beta, np.array(system.values)
    mean = float(values @ np.array(fractions))
    mu0 = expectation(lambda z: activation(z + system.bias)[0])
    mu1 = expectation(lambda z: z * activation(z + system.bias)[0])
    curvature = expectation(lambda z: (z * z - 1.0) * activation(z + system.bias)[0])
    variance = expectation(lambda z: activation(z + system.bias)[1] ** 2) - mu1 * mu1
    s0, s1 = expectation(link) - mean * mu0, expectation(lambda z: z * link(z))
    e2 = expectation(lambda z: (link(z) - mean * mu0) ** 2) + system.noise
    norm_v = math.sqrt(s1 * s1 + e2 / alpha0)
    bulk = (1.0 + gain * values * s0 * curvature) ** 2 + (gain * values) ** 2 * e2 / alpha0 * variance
    return gain * mu1 * norm_v, s1 / norm_v, bulk


@pytest.mark.parametrize("activation", [tanh, relu])
@pytest.mark.parametrize("link", [np.tanh, mixed_link])
@pytest.mark.parametrize(("values", "fractions", "bias"), [((1.0,), (1.0,), 0.0), ((1.0, -0.5), (0.6, 0.4), 0.4)])
def test_spike_of_the_trained_layer(
    activation: Activation,
    link: Callable[[Array], Array],
    values: tuple[float, ...],
    fractions: tuple[float, ...],
    bias: float,
) -> None:
    """Within four standard errors and a finite-size correction of 4/d, relative (measured: up to 2/d)."""
    system = FiniteSystem(activation, link, 1.0, values, fractions, bias, 0.1, ((2.0, 1.0),))
    result = simulate(system, "network", 300, 16, [0.1], [1.0], test_samples=2)
    expected = asymptotic_spike(
        activation, link, system, result.sizes.beta, result.sizes.alpha0[0], result.sizes.fractions
    )
    spike = result.spike
    pairs = (
        (spike.strength, expected[0]),
        (spike.alignment, expected[1]),
        (spike.variances, expected[2]),
    )
    for measured, value in pairs:
        error = measured.std(axis=0, ddof=1) / math.sqrt(result.seeds)
        assert np.all(np.abs(measured.mean(axis=0) - value) <= 4.0 * error + 4.0 / 300 * np.abs(value))
        assert np.all(error <= 0.05 * np.abs(value))


def test_spiked_rows_are_as_asked() -> None:
    system = FiniteSystem(tanh, np.tanh, 1.5, (1.0, -0.5), (0.5, 0.5), spike=(1.3, -0.6, (1.2, 0.9)))
    sizes = finite_sizes(system, 50, [1.0])
    found = draw_layer(system, sizes, "srf", streams(1))
    assert found.spike @ found.theta[0] == pytest.approx(-0.6, abs=1e-14)
    assert found.spike @ found.spike == pytest.approx(1.0, abs=1e-14)
    assert found.perpendicular()[0][0] @ found.spike == pytest.approx(0.0, abs=1e-14)
    parts = zip(sizes.block_slices(), system.values, (1.2, 0.9), strict=True)
    for part, value, variance in parts:
        bulk = found.rows[part] - value * 1.3 * found.spike
        np.testing.assert_allclose(np.sum(bulk * bulk, axis=1), variance, rtol=1e-12)


@pytest.mark.parametrize("alignment", [1.0, -1.0])
def test_aligned_spike_has_no_perpendicular_direction(alignment: float) -> None:
    system = FiniteSystem(tanh, np.tanh, 1.0, spike=(1.0, alignment, (1.0,)))
    result = simulate(system, "srf", 30, 2, [1.0], [0.1], order_parameters=True)
    assert result.overlaps is not None
    assert np.all(result.overlaps.psi == 0.0) and np.all(np.isfinite(result.overlaps.zeta))


def test_a_batch_taken_again() -> None:
    """The second step on the same samples is the gradient there at the rows after the first."""
    plain = FiniteSystem(tanh, mixed_link, 1.0, steps=((1.5, 0.6),), noise=0.1)
    again = dataclasses.replace(plain, steps=((1.5, 0.6), (1.5, 0.4)), same_batch=(False, True))
    fresh = dataclasses.replace(again, same_batch=())
    sizes = finite_sizes(again, 24, [1.0])
    first = draw_layer(plain, finite_sizes(plain, 24, [1.0]), "network", Streams.spawn(np.random.SeedSequence(5)))
    second, other = (
        draw_layer(system, sizes, "network", Streams.spawn(np.random.SeedSequence(5), 2)) for system in (again, fresh)
    )
    draws = Streams.spawn(np.random.SeedSequence(5), 2)
    batch, noise = draws.batch()
    inputs = batch.standard_normal((36, 24))
    target = mixed_link(inputs @ first.theta[0]) + math.sqrt(0.1) * noise.noise.standard_normal(36)
    h = inputs @ first.rows.T
    residual = target - np.tanh(h).mean(axis=1)
    change = 0.4 / 36 * ((1.0 - np.tanh(h) ** 2) * residual[:, None]).T @ inputs
    assert second.rows - first.rows == pytest.approx(change, rel=1e-9, abs=1e-12)
    assert np.abs(other.rows - second.rows).max() > 0.01
