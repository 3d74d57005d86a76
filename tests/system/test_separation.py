"""Labels that the mean features separate: no finite solution at infinite dimension, and the refusal says so."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm

import giantstep as gs
from giantstep.spec.errors import NotConverged
from giantstep.system.problem import problem_of
from giantstep.system.separation import left_over, separable, separated
from giantstep.verify.run import solution_checks


def model(loss: str, activation: str = "tanh", values: tuple[float, ...] = (1.0,)) -> gs.Model:
    """The sign of the direction of the spike."""
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "readout": readout},
            "spike": {"strength": 1.5, "alignment": 1.0, "bulk_variance": 1.2},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
def test_the_cause_is_named(loss: str, values: tuple[float, ...]) -> None:
    with pytest.raises(NotConverged, match="separate the labels") as caught:
        gs.solve(model(loss, values=values))
    assert "dimension" in caught.value.hint
    assert 0.0 < gs.solve(model(loss, values=values), dimension=1000).test_error < 0.05


def test_features_of_one_sign_separate_nothing() -> None:
    assert 0.0 < gs.solve(model("logistic", "relu")).test_error < 0.5
    assert 0.0 < gs.solve(model("logistic").replace({"target.flips": 0.1})).test_error < 0.5


FEW = model("hinge", "erf", (0.5, 1.6)).replace({"spike.alignment": 1.0 - 1e-9, "fit.ridge": 0.006})


def test_a_few_labels_are_counted() -> None:
    """gamma = 1 - 1e-9: atan(sqrt(2e-9))/pi of the labels, 1.4e-5, are not what kappa says."""
    problem = problem_of(FEW)
    assert left_over(problem) == pytest.approx(math.atan(math.sqrt(2e-9)) / math.pi, rel=1e-6)
    assert separable(problem) and not separable(problem, few=1e-5)
    assert "all but a share 1e-05 of the labels" in str(separated(problem))


def test_all_but_a_few_labels_are_named_too() -> None:
    with pytest.raises(NotConverged, match="all but a share 1e-05 of the labels"):
        gs.solve(FEW)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_combination_that_rounding_hides_is_refused(loss: str) -> None:
    """Two odd features are powers of kappa where the loss feels the output, within sqrt(2e-7): the equations of m hold
    to 1e-10 far from the best combination, whose test error differs in the sixth digit.
    """
    found = model(loss, "erf", (1.0, -0.6)).replace({"spike.alignment": 1.0 - 1e-7})
    with pytest.raises(NotConverged, match=r"the others but for \de-07 of itself: which combination"):
        gs.solve(found)
    assert gs.solve(found.replace({"spike.alignment": 1.0 - 1e-5})).test_error > 0.0
    assert gs.solve(found.replace({"network.readout": {"values": [1.0], "fractions": [1.0]}})).test_error > 0.0


def sticking(loss: str | dict[str, object], activation: str, strength: float) -> gs.Model:
    """Labels of which most ask for an output of one."""
    changes = {"target.link": "sign(z+1)", "target.flips": 0.29, "fit.samples": 8.6, "fit.ridge": 0.0017}
    spike = {"spike.strength": strength, "spike.bulk_variance": 1.0, "network.width": 0.31}
    return model("hinge", activation).replace({**changes, **spike, "fit.loss": loss})


def test_a_constant_that_a_kink_holds() -> None:
    """The output is one: wrong where z < -1, with a loss of two for every label that is negative."""
    result = gs.solve(sticking("hinge", "relu", 0.0))
    below = float(norm.cdf(-1.0))
    assert result.test_error == pytest.approx(below, rel=1e-10)
    assert result.train_error == pytest.approx(2.0 * (0.71 * below + 0.29 * (1.0 - below)), rel=1e-10)
    assert result.order_parameters["m"] == pytest.approx([math.sqrt(2.0 * math.pi)], rel=1e-12)  # E relu = 1/sqrt(2 pi)
    assert not any(result.order_parameters[name].any() for name in ("zeta", "psi", "Q1", "Q2", "V1", "V2"))
    *_, last = solution_checks(result.model)
    assert last.outcome == "undecided" and "holds the output" in last.undecided


def test_saturated_outputs_that_a_kink_holds() -> None:
    """The limit of smoothed hinges, whose errors are off by their width to first order, and a tenth of its square."""
    held, near, far = (
        gs.solve(sticking(loss, "hard_tanh", 40.0).replace({"fit.samples": 4.0}))
        for loss in ("hinge", *({"name": "smoothed_hinge", "delta": delta} for delta in (0.01, 0.02)))
    )
    for name in ("test_error", "train_error"):
        exact, once, twice = (getattr(result, name) for result in (held, near, far))
        assert exact == pytest.approx(2.0 * once - twice, abs=0.1 * 0.02**2)
        assert name == "test_error" or abs(exact - once) > 1e-3


def test_features_that_are_all_but_the_same_separate_too() -> None:
    readout = {"network.readout.values": [0.9, 0.90000001], "network.bias": 1.4, "spike.strength": 1e-5}
    found = model("squared_hinge", "step", (1.0, 1.0)).replace(readout)
    with pytest.raises(NotConverged, match="separate the labels"):
        gs.solve(found)


def test_labels_found_separated_by_a_finer_quadrature() -> None:
    """Few nodes have a solution beside the labels that they miss, which more nodes have not."""
    readout = {"network.readout.values": [0.86, 1.12], "spike.strength": 0.1, "network.width": 0.2}
    found = model("hinge", "relu", (1.0, 1.0)).replace({**readout, "target.link": "2*step(z+1)-1", "fit.ridge": 1.0})
    with pytest.raises(NotConverged, match="separate the labels"):
        gs.solve(found.replace({"fit.samples": 0.8, "spike.bulk_variance": 1.7}))


def test_a_rare_class_that_no_kappa_tells_is_no_separation() -> None:
    """One label is likelier at every kappa, the other one has a probability of 2e-4: the readout stays finite."""
    data = {
        "network": {"activation": "relu", "width": 1.9, "readout": {"values": [1.27, 1.65], "fractions": [0.73, 0.27]}},
        "step": {"samples": 1.36, "learning_rate": 3.77},
        "target": {"link": "sign(z-3.5)"},
        "fit": {"samples": 1.65, "ridge": 0.117, "loss": "hinge"},
    }
    never, seldom = (gs.solve(gs.Model.from_dict(data).replace({"target.flips": flips})) for flips in (0.0, 1e-13))
    assert never.test_error == pytest.approx(seldom.test_error, rel=1e-8)
    assert never.free_energy == pytest.approx(seldom.free_energy, rel=1e-8)


def test_digits_lost_at_the_interpolation_peak() -> None:
    peak = model("absolute", "leaky_relu", (1.0, -1.0)).replace({"target.link": "erf(z)", "spike.alignment": 0.8})
    at = {"network.width": 0.1, "fit.samples": 0.1, "fit.ridge": 1e-12, "target.noise": 0.01, "spike.strength": 5.0}
    with pytest.raises(NotConverged) as caught:
        gs.solve(peak.replace(at))
    assert "fit.samples = network.width" in caught.value.hint


@pytest.mark.parametrize("ridge", [1e-8, 1e-10])
def test_a_training_error_that_vanishes_is_no_rounding(ridge: float) -> None:
    """At a small ridge no example is within the margin; the envelope is far larger than the loss of its prox."""
    changes = {"spike.strength": 0.7, "spike.alignment": 0.8, "fit.samples": 0.3, "fit.ridge": ridge}
    assert gs.solve(model("hinge").replace(changes)).train_error == 0.0


def test_features_that_underflow_far_out_separate_as_the_others_do() -> None:
    """relu far below its kink is next to nothing: there no sign is told, which the linear programme may not ask for."""
    model = gs.Model.from_dict(
        {
            "network": {
                "activation": "relu",
                "width": 3.0,
                "bias": 1.7,
                "readout": {"values": [1.4248965, 1.4248989, 1.4249736], "fractions": [0.2, 0.4, 0.4]},
            },
            "target": {"link": "sign(z*z-0.5)"},
            "fit": {"samples": 0.18, "ridge": 4e-5, "loss": "exponential"},
            "spike": {"strength": 3.56, "alignment": -1.0, "bulk_variance": 1.0},
        }
    )
    with pytest.raises(NotConverged, match="the mean features separate the labels"):
        gs.solve(model)
