"""Values and biases whose features differ by less than double precision tells, though not by nothing: they span what
those of values further apart do.
"""

from __future__ import annotations

from typing import Any

import mpmath
import pytest

from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.graded_blocks import Block, may_hide_directions
from giantstep.system.solve import solve

STEPS = [{"samples": 3.0, "learning_rate": 1.2}] * 2


def error(activation: str, link: str, values: list[float], biases: list[float] | None = None) -> float:
    readout: dict[str, Any] = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    if biases is not None:
        readout["biases"] = biases
    tables = {
        "network": {"activation": activation, "width": 0.8, "readout": readout},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return solve(Model.from_dict(tables)).test_error


@pytest.mark.parametrize(
    ("activation", "link", "right"),
    [
        ("tanh", "He(3,z)", 5.064858773804),
        ("cos", "cos(z)", 0.147359146965),
        ("abs", "He(2,z)", 1.2705290858),
    ],
)
@pytest.mark.parametrize("apart", [1e-4, 1e-7, 1e-9])
def test_values_that_are_nearly_opposite(activation: str, link: str, right: float, apart: float) -> None:
    """Of (1, 1 + e, -1 + e) one combination is e^2: it was taken for rounding, and errors were up to 40 % off. Right is
    what Gram-Schmidt with 150 digits tells at e = 1e-7; further values differ by some e of themselves.
    """
    found = error(activation, link, [1.0, 1.0 + apart, -1.0 + apart])
    assert found == pytest.approx(right, rel=1e-10 + 0.2 * abs(apart - 1e-7))


@pytest.mark.parametrize("apart", [1e-5, 1e-7, 1e-9])
def test_biases_that_are_nearly_equal(apart: float) -> None:
    found = error("relu", "z+He(2,z)/2+1", [1.0] * 3, [0.3, 0.3 + apart, 0.3 + 2.0 * apart])
    assert found == pytest.approx(0.508493600403, rel=1e-10 + 5.0 * abs(apart - 1e-7))


@pytest.mark.parametrize(
    ("activation", "right"), [("tanh", 6.051941297753111), ("relu", 7.392734254)], ids=["tanh", "relu"]
)
def test_many_biases_that_are_nearly_equal(activation: str, right: float) -> None:
    """Of five that are 1e-8 apart one combination is 1e-34 of the features: 48 digits lose it. Right is what
    Gram-Schmidt with 250 digits tells.
    """
    biases = [0.3 + 1e-8 * x for x in (0.0, 1.0, -1.0, 2.0, 3.5)]
    assert error(activation, "z+He(2,z)/2+He(3,z)+1", [1.0] * 5, biases) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("apart", [1e-10, 1e-11, 1e-13])
def test_four_values_span_what_their_mirror_images_do(apart: float) -> None:
    """Of an odd activation; the latter have expansions in what they differ by."""
    opposite = [1.0, 1.0 + apart, -1.0 + apart, -1.0 - 2.0 * apart]
    found, image = (error("tanh", "He(3,z)", values) for values in (opposite, [abs(u) for u in opposite]))
    assert found == pytest.approx(image, rel=1e-11)


def test_a_value_of_zero_beside_nearly_equal_ones_is_not_in_their_way() -> None:
    """It has no mean, and one direction less is left; the others have their expansions."""
    far, near = (error("tanh", "tanh(z)", [1.0, 1.0 + apart, 0.0]) for apart in (1e-8, 1e-12))
    assert near == pytest.approx(far, rel=1e-7)


@pytest.mark.parametrize("apart", [1e-15, 1e-12, 1e-9])
def test_nearly_equal_biases_of_curved_kinks_span_what_those_further_apart_do(apart: float) -> None:
    """One direction was dropped below 1e-13: 11.75 for 10.08."""
    far = error("elu", "z**3", [0.3, 0.3], [0.4, 0.4 + 1e-4])  # double precision tells these apart
    assert error("elu", "z**3", [0.3, 0.3], [0.4, 0.4 + apart]) == pytest.approx(far, rel=1e-6)


@pytest.mark.parametrize("apart", [1e-15, 1e-14, 1e-12])
def test_rounded_kinks_are_refused_where_a_direction_is_hidden(apart: float) -> None:
    """There are no means of many digits."""
    with pytest.raises(NotConverged, match="little more than rounding|changes by"):
        error("relu(z-1/3)**2", "z**3", [0.3, 0.3], [0.4, 0.4 + apart])


def test_a_block_beside_a_cluster_is_not_taken_for_one_of_it() -> None:
    """Two values have expansions, a third of another bias has none: a direction was dropped, 1.1908 for 1.1688."""
    e = 2.0**-45
    values, biases = [0.75, 0.75 + e, 0.75 - 2.0 * e, 0.0, e], [0.0, 0.0, e, 0.125, 0.125]
    with pytest.raises(NotConverged, match="little more than rounding"):
        error("abs(sin(z))", "z+He(2,z)/2+He(3,z)/5+1", values, biases)


@pytest.mark.parametrize("apart", [1e-5, 1e-7])
def test_values_after_two_steps_are_told_apart_however_close(apart: float) -> None:
    """Rounded loadings of values 1e-5 apart had one direction less: test error 0.652 for 0.6746."""
    values = [1.0, 1.0 + apart, 1.0 - 2.0 * apart]
    tables = {
        "network": {"activation": "relu", "width": 0.8, "readout": {"values": values, "fractions": [1.0 / 3.0] * 3}},
        "target": {"link": "tanh(2*z)+He(3,z)/3"},
        "fit": {"samples": 2.0, "ridge": 0.1},
        "step": STEPS,
    }
    assert solve(Model.from_dict(tables)).test_error == pytest.approx(0.674566797, abs=2e-8 + 0.1 * apart)


@pytest.mark.parametrize(("activation", "hidden"), [("tanh", True), ("cos", True), ("relu", False)])
def test_opposite_blocks_are_alike_where_the_activation_has_a_parity(activation: str, hidden: bool) -> None:
    term = Term(activation, 1.0, 0.0, 1.0)
    blocks = [Block(term, (mpmath.mpf(u),), mpmath.mpf(1), exact=False) for u in (1.0, -1.0 + 1e-6, 1.0 + 3e-6)]
    assert may_hide_directions(blocks) is hidden
    assert not may_hide_directions(blocks[:2])  # of two blocks all is told that is larger than rounding
