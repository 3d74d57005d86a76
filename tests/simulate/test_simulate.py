"""What simulate() promises: shapes, reproducibility, rounding, memory, messages."""

from __future__ import annotations

import dataclasses
import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from erm_cases import loss_of

from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.run import simulate
from giantstep.simulate.system import SYSTEM_KINDS, FiniteSystem, SystemKind, finite_sizes


def tanh(z: Array) -> tuple[Array, Array]:
    value = np.tanh(z)
    return value, 1.0 - value * value


def coefficients(kappa: Array) -> tuple[Array, Array, Array, Array]:
    one = np.ones((2, kappa.size))
    return np.array([[0.5], [0.2]]) * np.tanh(kappa), 0.6 * one, 0.2 * one, 0.0 * one


SYSTEM = FiniteSystem(
    tanh, np.sign, 1.1, (1.0, -0.5), (0.5, 0.5), 0.1, 0.05, ((1.5, 0.4),), (0.3, 0.7, (1.1, 1.0)), coefficients
)


@pytest.mark.parametrize("what", SYSTEM_KINDS)
def test_shapes_and_reproducibility(what: SystemKind) -> None:
    samples, ridges = [2.0, 0.5, 1.1], [1e-2, 1.0]
    options: dict[str, Any] = {"seed": 5, "test_samples": 300, "order_parameters": True}
    first = simulate(SYSTEM, what, 40, 3, samples, ridges, **options)
    again = simulate(SYSTEM, what, 40, 3, samples, ridges, **options)
    fewer = simulate(SYSTEM, what, 40, 2, samples, ridges, **options)
    other = simulate(SYSTEM, what, 40, 2, samples, ridges, **{**options, "seed": 6})
    for name in ("test_error", "train_error", "sampling_error"):
        assert getattr(first, name).shape == (3, 3, 2)
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        np.testing.assert_array_equal(getattr(first, name)[:2], getattr(fewer, name))
        assert not np.any(getattr(other, name) == getattr(fewer, name))
    assert len(np.unique(first.test_error)) == first.test_error.size
    assert first.overlaps is not None and fewer.overlaps is not None
    for field in dataclasses.fields(first.overlaps):
        tail = (2, 2) if field.name == "Q1" else (2,)
        assert getattr(first.overlaps, field.name).shape == (3, 3, 2, *tail)
        np.testing.assert_array_equal(getattr(first.overlaps, field.name)[:2], getattr(fewer.overlaps, field.name))
    assert first.mean("Q1").shape == (3, 2, 2, 2) and first.standard_error("m").shape == (3, 2, 2)
    assert first.dimension == 40 and first.sizes.samples == (80, 20, 44) and first.sizes.alpha0 == (1.5,)
    np.testing.assert_allclose(first.mean(), first.test_error.mean(axis=0))
    spread = np.sqrt(np.sum((first.train_error - first.train_error.mean(axis=0)) ** 2, axis=0) / 2 / 3)
    np.testing.assert_allclose(first.standard_error("train_error"), spread)


@pytest.mark.parametrize("what", SYSTEM_KINDS)
def test_a_sample_size_does_not_depend_on_its_company(what: SystemKind) -> None:
    """Nested training sets: alone or beside larger ones, up to the rounding of another factorisation."""
    many = simulate(SYSTEM, what, 40, 2, [0.5, 1.0, 3.0], [0.1, 1.0], test_samples=200)
    for index, alpha in enumerate((0.5, 1.0)):
        alone = simulate(SYSTEM, what, 40, 2, [alpha], [1.0], test_samples=200)
        np.testing.assert_allclose(alone.test_error[:, 0, 0], many.test_error[:, index, 1], rtol=1e-8)
        np.testing.assert_allclose(alone.train_error[:, 0, 0], many.train_error[:, index, 1], rtol=1e-8)


def test_an_output_of_zero_is_wrong_by_half() -> None:
    """Relus that are never active: without them P(y f < 0) would be zero."""
    silent = FiniteSystem(lambda z: (np.maximum(z, 0.0), 1.0 * (z > 0.0)), np.sign, 1.0, bias=-20.0)
    silent = dataclasses.replace(silent, loss=loss_of("logistic"))
    assert simulate(silent, "network", 30, 1, [2.0], [0.1], test_samples=100).test_error.item() == 0.5


def test_one_seed_has_no_standard_error() -> None:
    result = simulate(SYSTEM, "srf", 20, 1, [1.0], [0.1])
    assert np.all(np.isnan(result.standard_error())) and np.all(np.isfinite(result.mean()))
    with pytest.raises(ValueError, match="order_parameters=True"):
        result.mean("zeta")
    with pytest.raises(ValueError, match="allowed"):
        result.mean("loss")


def test_progress_reaches_its_total() -> None:
    told: list[tuple[int, int, str]] = []
    simulate(SYSTEM, "srf", 20, 2, [1.0], [0.1], progress=lambda *args: told.append(args))
    assert [done for done, _, _ in told] == list(range(9)) and {total for _, total, _ in told} == {8}
    assert "seed 2 of 2" in told[5][2]


def test_overlaps_are_those_of_the_readout() -> None:
    """Explicit sums over neurons for a spiked layer, rebuilt from the same streams."""
    from giantstep.simulate.features import training_set
    from giantstep.simulate.first_layer import draw_layer
    from giantstep.simulate.layer import Streams
    from giantstep.simulate.readout import ridge_readouts

    result = simulate(SYSTEM, "srf", 30, 1, [1.0], [0.1], order_parameters=True)
    sizes = finite_sizes(SYSTEM, 30, [1.0])
    streams = Streams.spawn(np.random.SeedSequence(0).spawn(1)[0])
    layer = draw_layer(SYSTEM, sizes, "srf", streams)
    features, target = training_set(SYSTEM, sizes, "srf", layer, streams)
    readout = ridge_readouts(features, target, sizes.samples, [0.1])[0][:, 0]
    p, assert_close = sizes.width_count, np.testing.assert_allclose
    perpendicular = layer.theta[0] - 0.7 * layer.spike
    perpendicular /= np.linalg.norm(perpendicular)
    projector = np.eye(30) - np.outer(layer.spike, layer.spike)
    found, maps = result.overlaps, []
    assert found is not None
    for b, part in enumerate(sizes.block_slices()):
        units = (layer.rows[part] - SYSTEM.values[b] * 0.3 * layer.spike) / np.sqrt((1.1, 1.0)[b])
        assert_close(np.linalg.norm(units, axis=1), 1.0)
        maps.append(units.T @ readout[part])
        assert_close(found.m[0, 0, 0, b], np.sum(readout[part]) / np.sqrt(p))
        assert_close(found.zeta[0, 0, 0, b], layer.spike @ maps[b] / np.sqrt(p))
        assert_close(found.psi[0, 0, 0, b], perpendicular @ maps[b] / np.sqrt(p))
        assert_close(found.Q2[0, 0, 0, b], readout[part] @ readout[part] / p)
    assert_close(found.Q1[0, 0, 0], [[x @ projector @ y / p for y in maps] for x in maps])


def test_blocks_are_rounded_by_largest_remainder() -> None:
    system = dataclasses.replace(SYSTEM, values=(1.0, 2.0, 3.0), fractions=(0.15, 0.15, 0.7), width=1.0, spike=None)
    sizes = finite_sizes(system, 11, [0.5])
    assert sizes.blocks == (2, 1, 8) and sum(sizes.blocks) == sizes.width_count == 11
    assert sizes.samples == (6,) and sizes.alpha == (6 / 11,) and sizes.fractions == (2 / 11, 1 / 11, 8 / 11)


def test_blocks_without_a_neuron_say_which_dimension_has_one() -> None:
    system = dataclasses.replace(SYSTEM, fractions=(0.999, 0.001), width=1.2, spike=None)
    with pytest.raises(SimulationError, match="gets no neuron") as refused:
        finite_sizes(system, 100, [0.5])
    assert "dimension 834 or more" in refused.value.hint and "seeds" not in refused.value.hint
    assert 0 not in finite_sizes(system, 834, [0.5]).blocks


@pytest.mark.parametrize("what", SYSTEM_KINDS)
@pytest.mark.parametrize("ridge", [0.1, 0.0])
def test_memory_is_stated(what: SystemKind, ridge: float) -> None:
    """The stated peak bounds the measured one and is at most twice that, three times where an SVD is
    reserved.

    The reserve is used only where the Gram matrix is singular to rounding; LAPACK's work space is not traced.
    """
    tracemalloc.start()
    try:
        result = simulate(SYSTEM, what, 400, 1, [0.5, 1.0, 3.0], [ridge, 1.0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= result.bytes_needed <= (2 if ridge > 0 else 3) * peak


def test_memory_refusal_names_what_fits() -> None:
    limit = 200_000_000
    with pytest.raises(SimulationError) as caught:
        simulate(SYSTEM, "srf", 20_000, 2, [2.0], [0.1], memory_limit_bytes=limit)
    message = str(caught.value)
    assert str(limit) in message and "dimension 20000 needs" in message
    largest = int(re.findall(r"about (\d+)", message)[0])
    with pytest.raises(SimulationError):
        simulate(SYSTEM, "srf", largest + 1, 1, [2.0], [0.1], memory_limit_bytes=limit)
    finite_sizes(SYSTEM, largest, [2.0])
    assert 500 < largest < 20_000
    with pytest.raises(SimulationError, match="no dimension fits"):
        simulate(SYSTEM, "srf", 100, 1, [2.0], [0.1], memory_limit_bytes=1000)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 0.0}, "width must be above 0"),
        ({"width": "1"}, "width must be a number"),
        ({"noise": -0.1}, "noise must be at least 0"),
        ({"bias": float("nan")}, "bias must be finite"),
        ({"values": (1.0,)}, "equally long"),
        ({"values": (), "fractions": ()}, "at least one readout block"),
        ({"fractions": (0.5, 0.6)}, "sum to 1"),
        ({"fractions": (1.0, 0.0)}, "above 0"),
        ({"steps": ((0.0, 1.0),)}, "alpha0 must be above 0"),
        ({"steps": ((1.0,),)}, r"\(samples alpha0, learning_rate\)"),
        ({"spike": (1.0, 1.2, (1.0, 1.0))}, "alignment must be at least -1 and at most 1"),
        ({"spike": (1.0, 0.2, (1.0,))}, "one bulk variance per block"),
        ({"spike": (1.0, 0.2, (1.0, 0.0))}, "bulk variance of spike must be above 0"),
        ({"activation": "tanh"}, "activation must be a function"),
        ({"coefficients": 3}, "coefficients must be a function"),
    ],
)
def test_impossible_systems_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        dataclasses.replace(SYSTEM, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"what": "theory"}, "what must be one of network, srf, gaussian"),
        ({"dimension": 1}, "dimension must be a whole number of at least 2"),
        ({"dimension": 10.0}, "dimension must be a whole number"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"samples": []}, "at least one alpha"),
        ({"samples": [0.001]}, "less than half a unit"),
        ({"samples": [-1.0]}, "samples"),
        ({"ridges": []}, "at least one lambda"),
        ({"ridges": [-1.0]}, "ridges must be at least 0"),
        ({"test_samples": 1}, "test_samples"),
        ({"memory_limit_bytes": 0}, "memory_limit_bytes"),
    ],
)
def test_impossible_runs_are_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "what": "srf",
        "dimension": 20,
        "seeds": 2,
        "samples": [1.0],
        "ridges": [0.1],
    }
    with pytest.raises(SimulationError, match=words):
        simulate(SYSTEM, **{**arguments, **changes})


def test_each_system_names_what_it_lacks() -> None:
    bare = dataclasses.replace(SYSTEM, steps=(), spike=None, coefficients=None)
    lacking: list[tuple[SystemKind, dict[str, Any], str]] = [
        ("gaussian", {}, "needs coefficients"),
        ("srf", {"steps": ((1.0, 1.0),)}, "needs spike"),
        ("network", {"spike": (1.0, 0.5, (1.0, 1.0))}, "needs step"),
        ("gaussian", {"coefficients": lambda kappa: (kappa, kappa, kappa)}, r"four arrays of shape"),
        ("gaussian", {"coefficients": lambda kappa: (np.full((2, kappa.size), np.nan),) * 4}, "not finite"),
        ("srf", {"activation": lambda z: (z / 0.0, z)}, "activation returned a value that is not finite"),
        ("srf", {"link": lambda z: z * np.inf}, "link returned a value that is not finite"),
    ]
    for what, changes, words in lacking:
        with np.errstate(all="ignore"), pytest.raises(SimulationError, match=words):
            simulate(dataclasses.replace(bare, **changes), what, 20, 1, [1.0], [0.1])
