"""Labels that mean features give: what dimensions that grow tend to, and what the errors are at infinite dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantstep.observe.decompose import decompose
from giantstep.observe.gradient.gradient import gradient
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.many import solve_many
from giantstep.system.solve import solve
from giantstep.verify.run import solution_checks

#: Activation, link and readout values: one mean feature, and two of which the label is a sum.
GIVEN = {
    "linear": ("identity", "linear", (1.0,)),
    "cosine": ("cos", "cos(z)", (1.0,)),
    "difference": ("z+He(2,z)/2", "linear", (1.0, -1.5)),
}
FEW = {"fit.samples": 0.2, "network.width": 0.8}


def model(given: str, loss: str, changes: dict[str, Any] | None = None) -> Model:
    activation, link, values = GIVEN[given]
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.5, "readout": readout},
        "spike": {"strength": 1.0, "alignment": 1.0, "bulk_variance": 1.0},
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
    }
    return Model.from_dict(tables).replace(changes or {})


@pytest.mark.parametrize("changes", [{}, FEW], ids=["many", "few"])
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("loss", ["huber", "cosh(2*(y-f))", "absolute", "(y-f)**2/2+abs(y-f)"])
def test_growing_dimensions_tend_to_it(loss: str, given: str, changes: dict[str, Any]) -> None:
    """As 1/d; responses beside a kink as its root, where labels are more than features."""
    given_model = model(given, loss, changes)
    limit = solve(given_model)
    near, nearer = (solve(given_model, dimension=dimension) for dimension in (10**6, 10**8))
    assert limit.test_error == 0.0
    assert nearer.test_error == pytest.approx(near.test_error / 100.0, rel=1e-3)
    assert nearer.free_energy - limit.free_energy < 0.2 * (near.free_energy - limit.free_energy)
    for name in ("m", "V1", "V2"):
        told, at_d, closer = (result.order_parameters[name] for result in (limit, near, nearer))
        left, less = np.abs(at_d - told).max(), np.abs(closer - told).max()
        assert less <= 0.11 * left + 1e-9 * np.abs(told).max(), name
        assert less <= 1e-6 * np.abs(told).max() or not told.any() and less < 1e-3, name


def test_a_loss_without_curvature_leaves_readouts_without_data() -> None:
    """V = fraction/ridge, which dimensions tend to as a root of 1/d."""
    limit = solve(model("linear", "(y-f)**4"))
    assert limit.order_parameters["V2"] == pytest.approx([10.0], rel=1e-14)
    off = [10.0 - solve(model("linear", "(y-f)**4"), dimension=d).order_parameters["V2"][0] for d in (10**6, 10**8)]
    assert 0.0 < off[1] < 0.1 * off[0]


def test_errors_are_the_least_value_of_the_loss() -> None:
    limit = solve(model("linear", "cosh(y-f)"))
    assert (limit.test_error, limit.train_error, limit.free_energy) == (0.0, 1.0, 2.0)
    assert solve(model("linear", "huber", {"network.bias": "trained"})).test_error == 0.0
    constant = {"target.link": "0*z", "spike.alignment": 0.5}
    assert solve(model("linear", "huber", constant)).test_error == 0.0


@pytest.mark.parametrize("changes", [{"target.noise": 1e-4}, {"spike.alignment": 0.99}, {"target.link": "tanh(z)"}])
def test_labels_that_are_more_are_left_to_the_equations(changes: dict[str, Any]) -> None:
    assert solve(model("linear", "huber", changes)).test_error > 1e-5


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "max(abs(y-f)-1/2,0)**2"])
def test_a_flat_part_tells_no_output_from_the_label(loss: str) -> None:
    with pytest.raises(NotConverged, match=r"within the flat part of the loss .* at infinite dimension") as refused:
        solve(model("cosine", loss))
    assert "--dimension" in str(refused.value)
    assert solve(model("cosine", loss), dimension=1000).test_error > 0.0


def test_what_says_that_nothing_is_left() -> None:
    for observable in (gradient, decompose):
        with pytest.raises(NotConverged, match="the mean features give the label"):
            observable(model("linear", "huber"))


@pytest.mark.parametrize(("given", "loss"), [("linear", "square"), ("difference", "square"), ("linear", "huber")])
def test_verify_calls_none_wrong(given: str, loss: str) -> None:
    """It divided by a test error of zero, and took what rounding leaves of two sides for a difference."""
    found = list(solution_checks(model(given, loss)))
    assert not [check.line() for check in found if check.outcome == "FAILED"]
    assert any("the output is the target but for rounding" in check.undecided for check in found)


def test_an_output_that_a_kink_holds_is_not_the_label() -> None:
    """It neither varies, as one that is the label; it has an error, which ``gradient`` is not to call nothing."""
    held = model("cosine", "absolute", {"spike.strength": 0.0, "spike.alignment": 0.5, "target.link": "sign(z-1)"})
    assert solve(held).test_error > 0.5
    with pytest.raises(NotConverged, match="the readout vanishes"):
        gradient(held)


CONSTANT: dict[str, Any] = {
    "network": {"activation": "relu", "width": 0.386, "bias": 0.5},
    "target": {"link": "0.3+0*z"},
    "fit": {"samples": 0.545, "ridge": 100.0},
}


@pytest.mark.parametrize("activation", ["relu", "gelu", "sigmoid"])
@pytest.mark.parametrize("width", [0.29, 0.386, 0.426, 1.169, 2.673])
def test_overlaps_of_the_square_loss_are_no_rounding(activation: str, width: float) -> None:
    """Of a constant label Q was -4e-53 or so by chance, and the model refused as not feasible."""
    given = Model.from_dict(CONSTANT).replace({"network.activation": activation, "network.width": width})
    found = solve(given)
    assert (found.test_error, found.train_error, found.free_energy) == (0.0, 0.0, 0.0)
    assert not any(found.order_parameters[name].any() for name in ("zeta", "psi", "Q1", "Q2"))
    curve = solve_many(given, {"fit.ridge": np.array([0.001, 1.0, 100.0, 1000.0])})
    assert curve["test_error"].tolist() == [0.0] * 4


def test_a_label_that_is_given_with_any_law_of_the_inputs() -> None:
    """Noise leaves m and the responses; they are those that dimensions tend to."""
    given = Model.from_dict(CONSTANT).replace({"inputs.capacity": 0.4, "inputs.source": 0.3, "fit.ridge": 1.0})
    limit, near = solve(given), solve(given, dimension=10**8)
    assert limit.test_error == 0.0 < near.test_error < 1e-6
    for name in ("m", "V1", "V2"):
        assert limit.order_parameters[name] == pytest.approx(near.order_parameters[name], rel=1e-6)


def test_features_that_cancel_in_the_output_round() -> None:
    """A weak spike has m = 4e4, which leaves 1e-19 of the label to rounding. Responses are those of a stronger one."""
    readout = {"values": [1.2, -1.2], "fractions": [0.7, 0.3]}
    given = Model.from_dict(
        {
            "network": {"activation": "max(z,0)**2-z/2", "width": 0.34, "readout": readout},
            "spike": {"strength": 2e-5, "alignment": 1.0, "bulk_variance": 1.25},
            "target": {"link": "linear"},
            "fit": {"samples": 0.8, "ridge": 6e-5},
            "inputs": {"eigenvalues": [1.0], "weights": [1.0], "target": [1.0]},
        }
    )
    weak, strong = solve(given), solve(given.replace({"spike.strength": 1e-3}))
    assert (weak.test_error, weak.train_error, weak.free_energy) == (0.0, 0.0, 0.0)
    for name in ("V1", "V2"):
        assert weak.order_parameters[name] == pytest.approx(strong.order_parameters[name], abs=1e-6)  # strength^2


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_no_force_moves_readouts_that_a_penalty_holds(loss: str) -> None:
    given = Model.from_dict(CONSTANT).replace({"fit.penalty": "0.1*abs(a)", "fit.loss": loss})
    with pytest.raises(NotConverged, match="the mean features give the label: at infinite dimension no force is left"):
        solve(given)


def test_a_bias_beyond_which_labels_are_given_has_no_overflow() -> None:
    step = {"step.samples": 4.0, "step.learning_rate": 1.0}
    changes = {"network.width": 1.0, "network.bias": "trained", "fit.samples": 2.0, "fit.ridge": 1.0, **step}
    with pytest.raises(NotConverged, match="no minimum in the bias"):
        solve(Model.from_dict(CONSTANT).replace({**changes, "target.link": "2+0*z", "fit.loss": "absolute"}))
