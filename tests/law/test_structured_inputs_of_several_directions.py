"""Structured inputs, targets of several indices and spikes of several directions: the same model in other coordinates,
isotropic inputs, limits and simulation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.spectrum.simulated import simulated_eigenvalues
from giantstep.verify.structured_inputs import input_checks

ERRORS = ("test_error", "train_error", "free_energy")
STEP = {"samples": 2.0, "learning_rate": 1.0}
LINK = "tanh(2*z1) + tanh(z1*z2)"
SPIKE = {"strength": 1.5, "alignment": [0.6, 0.3], "bulk_variance": 1.2}
RANK_2: dict[str, Any] = {
    "strength": 1.2,
    "loadings": [[1.0, 0.3], [-0.2, 0.8]],
    "alignment": [0.6, 0.5],
    "bulk_variance": 1.3,
}
OF_TWO: dict[str, Any] = {**RANK_2, "alignment": [[0.6, 0.1], [0.2, 0.5]]}
ALIKE = {"readout": {"values": [1.0, 1.0], "fractions": [0.4, 0.6]}}
POWER = {"capacity": 0.45, "modes": 60, "source": 0.8}
LUMPS: dict[str, Any] = {"eigenvalues": [2.0, 0.2], "weights": [0.3, 0.7]}
CROSSED: dict[str, Any] = {**LUMPS, "target": [[1.0, 0.5], [0.5, -1.0]]}
EQUAL: dict[str, Any] = {"eigenvalues": [0.7, 0.7, 0.7], "target": [[1.0, 2.0, 0.5], [2.0, -1.0, 0.0]]}
START: dict[str, dict[str, Any]] = {"plain": {}, "step": {"step": STEP}, "spike": {"spike": SPIKE}}


def model(link: str = "tanh(2*z1) + z1*z2", **tables: Any) -> gs.Model:
    network = {"activation": "tanh", "width": 0.8} | tables.pop("network", {})
    target, fit = {"link": link, "noise": 0.1}, {"samples": 1.7, "ridge": 0.1} | tables.pop("fit", {})
    return gs.Model.from_dict({"network": network, "target": target, "fit": fit} | tables)


def assert_alike(one: gs.Model, other: gs.Model, tolerance: float = 1e-10) -> None:
    found, wanted = gs.solve(one), gs.solve(other)
    for error in ERRORS:
        assert getattr(found, error) == pytest.approx(getattr(wanted, error), rel=tolerance), error


@pytest.mark.parametrize("target", [EQUAL["target"], [1.0, 2.0, 0.5], None], ids=["rows", "one list", "any place"])
@pytest.mark.parametrize("start", START)
def test_equal_eigenvalues_are_isotropic_inputs(start: str, target: Any) -> None:
    more = START[start]
    assert_alike(model(inputs={**EQUAL, "target": target}, **more), model(**more))


def test_equal_eigenvalues_with_a_spike_of_two_directions() -> None:
    given = {"network": ALIKE, "spike": RANK_2}
    assert_alike(model("tanh(2*z)", inputs={**EQUAL, "target": [1.0, 2.0, 0.5]}, **given), model("tanh(2*z)", **given))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "more"),
    [
        ("tanh(z1) + z2 + z1*z3", {"step": STEP}),
        (LINK, {"network": ALIKE, "spike": OF_TWO}),
    ],
    ids=["three indices", "two of both"],
)
def test_equal_eigenvalues_with_more_directions(link: str, more: dict[str, Any]) -> None:
    rows = [*EQUAL["target"], [0.5, 1.0, -5.0]][: 3 if "z3" in link else 2]
    assert_alike(model(link, inputs={**EQUAL, "target": rows}, **more), model(link, **more))


@pytest.mark.parametrize("start", ["plain", "step"])
def test_rotated_directions_with_the_link_rotated_back(start: str) -> None:
    rows, (c, s) = np.array(CROSSED["target"]), (math.cos(0.4), math.sin(0.4))
    rotated = np.array([[c, -s], [s, c]]) @ rows
    z1, z2 = f"({c!r}*z1 + {s!r}*z2)", f"({c!r}*z2 - {s!r}*z1)"
    turned = model(f"tanh(2*{z1}) + {z1}*{z2}", inputs={**LUMPS, "target": rotated.tolist()}, **START[start])
    assert_alike(turned, model(inputs=CROSSED, **START[start]))


@pytest.mark.parametrize("start", ["plain", "step"])
def test_one_index_in_the_plane_of_two(start: str) -> None:
    """A link of (z1 + z2)/sqrt(2) has one index, along the sum of the two directions."""
    rows = np.array(CROSSED["target"])
    one = model("tanh(2*z)", inputs={**LUMPS, "target": rows.sum(axis=0).tolist()}, **START[start])
    assert_alike(model("tanh(sqrt(2)*(z1 + z2))", inputs=CROSSED, **START[start]), one)


def test_one_list_is_orthogonal_within_the_eigenspaces() -> None:
    apart = {
        "eigenvalues": [2.0, 2.0, 0.2, 0.2],
        "weights": [0.15, 0.15, 0.35, 0.35],
        "target": [[1.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.5]],
    }
    for more in (START["plain"], START["step"]):
        assert_alike(model(inputs={**LUMPS, "target": [1.0, 0.5]}, **more), model(inputs=apart, **more))
    crossed = gs.solve(model(inputs=CROSSED, step=STEP)).test_error
    assert abs(crossed - gs.solve(model(inputs=apart, step=STEP)).test_error) > 1e-3


def test_loadings_of_one_direction_are_a_spike_of_it() -> None:
    """Loadings in proportion: one direction, with the overlap of the combination."""
    loadings = np.array([[1.0, 0.5], [-0.4, -0.2]])
    overlaps, length = np.array([0.6, 0.3]), math.hypot(1.0, 0.5)
    network = {"readout": {"values": [1.0, -0.4], "fractions": [0.4, 0.6]}}
    spike = {"strength": 1.2, "bulk_variance": 1.0}
    several = {**spike, "loadings": loadings.tolist(), "alignment": overlaps.tolist()}
    single = {**spike, "strength": 1.2 * length, "alignment": float(loadings[0] @ overlaps / length)}
    inputs = {**LUMPS, "target": [1.0, 0.5]}
    one = model("tanh(2*z)", network=network, inputs=inputs, spike=single)
    assert_alike(model("tanh(2*z)", network=network, inputs=inputs, spike=several), one)


def test_a_spike_in_the_plane_of_the_target() -> None:
    """Beside it one direction of the target is left: another one, of which no label depends, does not matter."""
    exact = gs.solve(model(inputs=CROSSED, spike={**SPIKE, "alignment": [0.6, 0.8]})).test_error
    gaps = []
    for angle in (1e-1, 1e-2, 1e-6):  # even in the angle with the plane
        alignment = [0.6 * math.cos(angle), 0.8 * math.cos(angle)]
        gaps.append(abs(gs.solve(model(inputs=CROSSED, spike={**SPIKE, "alignment": alignment})).test_error - exact))
    assert gaps[0] > 1e-4 * exact and gaps[1] < 0.02 * gaps[0] and gaps[2] < 1e-9 * exact


@pytest.mark.parametrize("start", ["plain", "step"])
def test_a_direction_that_no_input_shows_is_noise(start: str) -> None:
    """Of an eigenvalue of 1e-8, held by one dimension in a million; features know of it to that order."""
    inputs: dict[str, Any] = {"eigenvalues": [1e-8, 1.0, 2.0], "weights": [1e-6, 0.5, 0.499999]}
    several = {**inputs, "target": [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]}
    found = gs.solve(model("tanh(z1) + tanh(2*z2)", inputs=several, **START[start]))
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    variance = float(weights @ np.tanh(points) ** 2 / weights.sum())
    one = model("tanh(2*z)", inputs={**inputs, "target": [0.0, 1.0, 1.0]}, **START[start])
    wanted = gs.solve(one.replace({"target.noise": 0.1 + variance}))
    assert found.test_error == pytest.approx(wanted.test_error + variance, rel=1e-7)
    assert found.train_error == pytest.approx(wanted.train_error, rel=1e-7)


LAWS: dict[str, dict[str, Any]] = {
    "step": {"inputs": CROSSED, "step": STEP},
    "step, spread alike": {"inputs": POWER, "step": STEP},
    "no step": {"inputs": CROSSED},
    "spike": {"inputs": CROSSED, "spike": SPIKE},
    "two directions": {"inputs": CROSSED, "spike": OF_TWO, "network": ALIKE},
    "large batch": {"inputs": EQUAL, "step": {**STEP, "samples": 1e10}},  # the spike is nearly the first direction
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_against_explicit_vectors(name: str) -> None:
    found = list(input_checks(model(**LAWS[name])))
    assert len(found) == 3 and [check for check in found if not check.ok] == []


SIMULATED: dict[str, tuple[str, dict[str, Any], str]] = {
    "network": (LINK, {"inputs": POWER}, "network"),
    "network after a step": (LINK, {"inputs": CROSSED, "step": STEP}, "network"),
    "network after a step, power laws": (LINK, {"inputs": POWER, "step": STEP}, "network"),
    "features of a step": (LINK, {"inputs": CROSSED, "step": STEP}, "srf"),
    "two directions": ("tanh(2*z)", {"inputs": POWER, "spike": RANK_2, "network": ALIKE}, "srf"),
    "two directions, Gaussian": ("tanh(2*z)", {"inputs": POWER, "spike": RANK_2, "network": ALIKE}, "gaussian"),
    "two of both": (LINK, {"inputs": CROSSED, "spike": OF_TWO, "network": ALIKE}, "srf"),
    "huber": (LINK, {"inputs": CROSSED, "step": STEP, "fit": {"loss": "huber"}}, "srf"),
    "three indices": ("tanh(2*z1) + z2 + tanh(z1*z3)", {"inputs": POWER, "step": STEP}, "srf"),
}


def scores(name: str, dimension: int, seeds: int) -> list[float]:
    """Standard scores of both simulated errors."""
    link, tables, what = SIMULATED[name]
    found = gs.simulate(model(link, **tables), dimension=dimension, seeds=seeds, what=what)  # type: ignore[arg-type]
    theory = gs.solve(found.model, dimension=dimension)
    return [(found.mean(e) - getattr(theory, e)).item() / found.standard_error(e).item() for e in ERRORS[:2]]


def test_against_simulation() -> None:
    found = scores("network after a step", 120, 12)
    assert max(map(abs, found)) < 4.5, found


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_against_simulation_at_two_dimensions(name: str) -> None:
    for dimension, seeds in ((240, 40), (480, 20)):
        found = scores(name, dimension, seeds)
        assert max(map(abs, found)) < 4.0, (dimension, found)


@pytest.mark.slow
def test_outliers_of_two_directions_are_those_of_the_simulation() -> None:
    """Those of isotropic inputs are others: the largest by ten standard errors."""
    given = model("tanh", inputs=POWER, network={**ALIKE, "activation": "erf"}, spike=RANK_2)
    theory, simulated = gs.spectrum(given, dimension=600), simulated_eigenvalues(given, dimension=600, seeds=8)
    mean, error = simulated.largest(3)
    assert len(theory.outliers) == 2 and mean[2] < theory.outliers[1]
    assert np.all(np.abs(mean[:2] - theory.outliers) < 4.0 * error[:2])
    assert simulated.distance(theory) < 0.015
    plain = gs.spectrum(given.replace({"inputs": None}), dimension=600)
    assert simulated.distance(plain) > 2.0 * simulated.distance(theory)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({**LUMPS, "target": [[1.0, 0.5], [0.5, 1.0]]}, "overlap 0.8"),
        ({**LUMPS, "target": [[1.0, 0.5], [0.0, 0.0]]}, r"target\[1\] is zero"),
        ({**LUMPS, "target": [[1.0, 0.5, 0.0], [0.5, -1.0, 0.0]]}, r"target\[0\] has 3 entries"),
        ({**LUMPS, "target": [[1.0, 0.5], [0.5]]}, "length"),
        ({**EQUAL, "target": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "3 rows, and target.link has 2"),
    ],
)
def test_what_is_refused(inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        model(inputs=inputs)


def test_model_files() -> None:
    given = model(inputs=CROSSED, step=STEP)
    assert gs.Model.from_dict(given.to_dict()) == given
    swept = gs.curve(given, {"step.learning_rate": [0.5, 1.0]}).numbers("test_error")
    assert swept[1] == pytest.approx(gs.solve(given).test_error, rel=1e-9)
