"""Links of fewer directions than letters: the same model in one index less, or in the letters themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.law import known_indices as law
from giantstep.verify.certificate import certificate

ALONG = np.array([0.6, 0.8])  # of the direction that the links know
GIVEN = [0.5, 0.3]  # overlaps with the letters, beside the span
SPIKE = {"strength": 1.5, "bulk_variance": 1.2}
STEP = {"samples": 2.0, "learning_rate": 1.0}
OF_TWO = {**SPIKE, "loadings": [[1.0, 0.4], [0.3, -0.8]]}
POWER = {"capacity": 0.3, "source": 0.4, "modes": 20}
ERRORS = ("test_error", "train_error", "free_energy")


def model(link: str, **tables: Any) -> gs.Model:
    network = {"activation": "tanh", "width": 1.2, "readout": {"values": [1.0, -0.6], "fractions": [0.5, 0.5]}}
    data = {"network": network, "target": {"link": link}, "fit": {"samples": 2.0, "ridge": 0.05}, **tables}
    return gs.Model.from_dict({**data, "target": {"link": link, **tables.get("target", {})}})


def pair(letters: str, single: str, **tables: Any) -> tuple[gs.Model, gs.Model]:
    """A link of two letters, and that of their direction; a spike is given along both."""
    spike = tables.pop("spike", None)
    if spike is None:
        return model(letters, **tables), model(single, **tables)
    rows = np.array([GIVEN, [0.2, -0.4]][: len(spike.get("loadings", [[1]])[0])])
    both, one = (rows.tolist(), (rows @ ALONG).tolist()) if len(rows) > 1 else (GIVEN, float(rows[0] @ ALONG))
    return (
        model(letters, spike={**spike, "alignment": both}, **tables),
        model(single, spike={**spike, "alignment": one}, **tables),
    )


RELU, SIGN = ("relu(0.6*z1 + 0.8*z2)", "relu"), ("sign(3*z1 + 4*z2)", "sign")
LOGISTIC = {"samples": 2.0, "ridge": 0.05, "loss": "logistic"}
CASES: dict[str, tuple[tuple[str, str], dict[str, Any]]] = {
    "spike": (RELU, {"spike": SPIKE, "target": {"noise": 0.1}}),
    "signs, noise inside and flips": (SIGN, {"spike": SPIKE, "target": {"flips": 0.1, "probit": 0.3}}),
    "logistic": (SIGN, {"spike": SPIKE, "fit": LOGISTIC}),
    "logistic after a step": (SIGN, {"step": STEP, "fit": LOGISTIC}),
    "step": (RELU, {"step": STEP}),
    "small step": (RELU, {"step": {**STEP, "exponent": 0.3}}),
    "two steps": (SIGN, {"step": [STEP, STEP]}),
    "two directions of the spike": (SIGN, {"spike": OF_TWO}),
    "step on inputs": (RELU, {"step": STEP, "inputs": POWER}),
}


@pytest.mark.parametrize("case", CASES)
def test_letters_are_one_index_with_a_turned_spike(case: str) -> None:
    links, tables = CASES[case]
    letters, single = map(gs.solve, pair(*links, **tables))
    for name in ERRORS:
        assert getattr(letters, name) == pytest.approx(getattr(single, name), rel=1e-10), name
    told, one = (np.atleast_2d(found.spike.to_dict()["alignment"]) for found in (letters, single))
    if letters.model.spike is not None:
        told, one = np.array(letters.model.spike.overlaps()), np.array(single.model.spike.overlaps())
    assert told @ ALONG == pytest.approx(one.ravel(), abs=1e-12)
    psi = np.linalg.norm(letters.order_parameters["psi"], axis=1)
    assert psi == pytest.approx(np.abs(single.order_parameters["psi"]), abs=1e-10)


def test_three_letters_in_two_directions() -> None:
    spike = {**SPIKE, "alignment": [0.5, 0.3, -0.2]}
    letters = gs.solve(model("relu(0.6*z1 + 0.8*z2)*z3", spike=spike))
    turned = gs.solve(model("relu(z1)*z2", spike={**SPIKE, "alignment": [0.54, -0.2]}))
    for name in ERRORS:
        assert getattr(letters, name) == pytest.approx(getattr(turned, name), rel=1e-10), name


@pytest.mark.parametrize("spike", [{**SPIKE, "alignment": GIVEN}, {**OF_TWO, "alignment": [GIVEN, [0.2, -0.4]]}])
def test_what_is_told_in_letters_is_what_they_give_themselves(
    spike: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    # the system of two indices knows nothing of the direction; smooth labels are averaged to 1e-13
    given = model("tanh(0.6*z1 + 0.8*z2)", spike=spike)
    places = np.linspace(-2.0, 2.0, 5)
    found = gs.learned(given, index=2, at=places)
    bound = gs.bounds(given).lower
    request.getfixturevalue("in_letters")
    again = gs.learned(given, index=2, at=places)
    for name in ("m", "zeta", "psi", "Q1", "V1"):
        there = again.result.order_parameters[name]
        assert found.result.order_parameters[name] == pytest.approx(there, rel=1e-9, abs=1e-9), name
    for one, other in zip(
        (found.along_target, *found.along_spikes), (again.along_target, *again.along_spikes), strict=True
    ):
        for name in ("mean", "spread", "target"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-8), name
    assert bound.psi == pytest.approx(gs.bounds(given).lower.psi, abs=1e-7)


def test_a_second_implementation_finds_the_same() -> None:
    given = model("tanh(0.6*z1 + 0.8*z2)", spike={**SPIKE, "alignment": GIVEN}, target={"noise": 0.1})
    found = certificate(gs.solve(given))
    assert not found.unsettled and max(found.errors.values()) < 1e-8 and found.worst_equation[1] < 1e-7


def test_inputs_that_tell_directions_apart_keep_the_letters() -> None:
    rows = {"eigenvalues": [2.0, 0.5], "target": [[1.0, 0.5], [0.5, -1.0]]}
    letters = RELU[0]
    assert law.known_indices(model(letters, step=STEP, inputs=rows)) is None
    assert law.known_indices(model(letters, spike={**SPIKE, "alignment": GIVEN}, inputs=POWER)) is None
    assert law.known_indices(model(letters, spike={**SPIKE, "alignment": [0.3, 0.4]}, inputs=POWER)) is not None


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("sign(z1 + z2 + z3)", "sign(z)"),
        ("sign(0.6*z1 - 0.8*z2 - 0.5)", "sign(-0.5+z)"),
        ("(z1 - z2)/2 + abs(z2 - z1)", None),
        ("step(z1 - z1 + z2)*z2", "step(z)*z"),
        ("relu(0.6*z1 + 0.8*z2)*z3 + z3", "z2+relu(z1)*z2"),
        ("sign(tanh(0.6*z1 + 0.8*z2) - 0.5)", "sign(-0.5+tanh(z))"),
        ("z1*z2 + z1 + z2", None),
        ("max(z1, z2)", None),
    ],
)
def test_directions_that_a_link_knows(text: str, link: str | None) -> None:
    found = law.known_indices(model(text))
    if link is None and text[0] != "(":
        assert found is None
        return
    assert found is not None
    rows = np.array(found.rows)
    assert rows @ rows.T == pytest.approx(np.eye(len(rows)), abs=1e-15)
    if link is not None:
        assert found.model.target.link == link
