"""The certificate: it agrees with sound solutions, finds wrong ones, and says what it cannot decide."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from certified_models import SPIKED, STEPPED, failed
from scipy.special import ndtr

from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.verify.certificate import (
    EQUATIONS,
    ERRORS,
    _rounding_of_squares,
    _undecided,
    certificate,
    certificate_checks,
)
from giantstep.verify.check import Check
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.quadrature import settled_nodes
from giantstep.verify.reference import Reference, reference
from giantstep.verify.solver_equations import solver_checks

VOCABULARY = {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}
BIASED = {"values": [1.0, 1.0], "fractions": [0.4, 0.6], "biases": [0.0, 0.7]}


@pytest.mark.parametrize(
    "model",
    [
        SPIKED,
        SPIKED.replace({"fit.loss": "square", "network.readout": VOCABULARY, "target.probit": 0.3}),
        SPIKED.replace({"target.link": "tanh", "target.noise": 0.2, "fit.loss": "absolute", "network.bias": 0.3}),
        SPIKED.replace({"network.activation": "gelu", "fit.loss": "square"}),
        SPIKED.replace({"fit.loss": "probit"}),
        SPIKED.replace({"fit.loss": "abs(y-f)**1.5"}),
        SPIKED.replace({"fit.loss": "max(0,1-y*f)**1.5"}),
        STEPPED,
        STEPPED.replace({"network.readout": VOCABULARY, "fit.loss": "square"}),
        STEPPED.replace({"step.bulk": "isotropic", "network.readout": BIASED}),
        STEPPED.replace({"step.learning_rate": 0.0, "network.initialisation": "gaussian", "fit.loss": "square"}),
        STEPPED.replace({"network.activation": "abs(z)", "network.bias": -0.4, "fit.loss": "logistic"}),
    ],
    ids=[
        "logistic",
        "vocabulary",
        "absolute",
        "gelu",
        "probit",
        "infinite curvature, residual",
        "infinite curvature, margin",
        "trained bulk",
        "trained vocabulary",
        "biases",
        "no step",
        "turned spike",
    ],
)
def test_sound_solutions_hold(model: Model) -> None:
    found = list(certificate_checks(solve(model)))
    assert len(found) == 7 and all(check.ok for check in found), [check.line() for check in found]


@pytest.mark.parametrize(
    "changes",
    [
        {"network.activation": "step", "spike.strength": 3.0, "spike.alignment": 0.0, "target.link": "step"},
        {"fit.loss": "logistic", "fit.ridge": 1e-6, "fit.samples": 0.12},
        {"fit.loss": "probit", "fit.ridge": 1e-6, "spike.alignment": -1.0, "target.link": "sign(z-0.4)"},
        {"fit.loss": "squared_hinge", "fit.ridge": 1e-8, "fit.samples": 0.2},
        {"spike.loadings": [[1.0, 1.0]], "spike.alignment": [-0.6, 0.8], "target.link": "relu"},
        {"fit.loss": "absolute", "fit.ridge": 4e5, "target.link": "cubic", "spike.alignment": 0.0},
    ],
    ids=["no variance left", "large response", "kinks at nodes", "next to a kink", "kink in the span", "narrow output"],
)
def test_extreme_solutions_hold(changes: dict[str, object]) -> None:
    found = certificate(solve(SPIKED.replace({"fit.loss": "square", **changes})))
    assert found.holds and not found.unsettled, found


def test_mean_output_of_a_density_that_m_at_its_nodes_do_not_carry() -> None:
    step = {"step.bulk": "isotropic", "step.learning_rate": 5e-4, "target.flips": 0.0, "target.link": "softplus"}
    readout = {"network.readout": {"density": "gaussian"}, "network.activation": "relu"}
    found = certificate(solve(STEPPED.replace({**step, **readout, "fit.loss": "square", "fit.ridge": 1e-6})))
    assert found.holds and not found.unsettled, found


@pytest.mark.parametrize("bias", [-1.0, 1.0])
def test_mean_output_of_a_density_whose_spike_is_stated_against_the_target(bias: float) -> None:
    """E z sigma(z) has the sign of the bias: the alignment is told with it, and the mean output is one of kappa so."""
    step = {"step.bulk": "isotropic", "step.learning_rate": 5e-4, "target.flips": 0.0}
    network = {"network.readout": {"density": "gaussian"}, "network.activation": "quadratic", "network.bias": bias}
    result = solve(STEPPED.replace({**step, **network, "fit.loss": "square", "fit.samples": 0.07}))
    assert np.sign(result.spike.alignment) == np.sign(bias)
    found = certificate(result)
    assert found.holds and not found.unsettled, found


SOFTPLUS = {"network.activation": "softplus", "network.width": 0.2, "target.link": "linear", "fit.ridge": 0.016}


SILU = {"network.activation": "silu", "network.width": 1.9, "target.link": "tanh(3*z)*z", "fit.samples": 0.2}


@pytest.mark.parametrize(
    ("changes", "steps", "values", "dimension"),
    [
        (SOFTPLUS, 2, [0.8566, 0.8566 + 1e-9], 1000),
        (SILU, 3, [1.0, -1.1], 1000),
        ({"network.activation": "hard_tanh", "network.bias": 0.5, "target.link": "silu"}, 3, [1.0, -1.0], None),
    ],
    ids=["a direction that rounding knows", "no overlap by symmetry", "a residual that vanishes"],
)
def test_several_steps_hold(changes: dict[str, object], steps: int, values: list[float], dimension: int | None) -> None:
    readout = {"values": values, "fractions": [0.4, 0.6]}
    step = [{"samples": 6.0, "learning_rate": 1.0}] * steps
    model = STEPPED.replace({"step": step, "target.flips": 0.0, "fit.loss": "square", "network.readout": readout})
    found = certificate(solve(model.replace(changes), dimension=dimension))
    assert found.holds and not found.unsettled, found


@pytest.mark.parametrize("rate", [0.0, 1.0])
@pytest.mark.parametrize("link", ["z1 + z1*z2", "-z2 + z1*z2"])
def test_polynomials_of_two_indices_hold(link: str, rate: float) -> None:
    # the mean of the label is the output: what both leave of each other is rounding; kappa has the target's side
    step = {"samples": 2.0, "learning_rate": rate, "exponent": 0.2}
    model = STEPPED.replace({"step": step, "target": {"link": link}, "fit.loss": "square"})
    found = certificate(result := solve(model))
    assert found.holds and not found.unsettled, found
    assert all(check.ok for check in solver_checks(model, result))


def test_a_readout_of_zero_says_so() -> None:
    """Labels of tanh within a flat part of the loss that is wider."""
    result = solve(SPIKED.replace({"target.link": "tanh", "fit.loss": "square"}))
    order = {name: values if name[0] == "V" else 0.0 * values for name, values in result.order_parameters.items()}
    flat = result.model.replace({"fit.loss": {"name": "epsilon_insensitive", "epsilon": 9.0}})
    zero = replace(result, model=flat, order_parameters=order, train_error=0.0, free_energy=0.0)
    assert "too rare" in certificate(zero).unsettled


def test_labels_that_seldom_feel_the_loss_say_so() -> None:
    """The ends of the second quadrature leave out 4e-7 of what feels the loss, and its squares, not the solver's."""
    network = {"activation": "sin", "width": 2.77, "bias": -1.17}
    fit = {"samples": 2.3, "ridge": 1.64e-6, "loss": {"name": "epsilon_insensitive", "epsilon": 7.17}}
    spike = {"strength": 1e-6, "alignment": 0.987, "bulk_variance": 1.0}
    found = certificate(
        solve(Model.from_dict({"network": network, "spike": spike, "target": {"link": "z"}, "fit": fit}))
    )
    assert "a share of 7e-13" in found.unsettled and found.worst_equation[1] > EQUATIONS


def test_rows_that_a_small_step_hardly_moves_hold() -> None:
    """Next to nothing of the readout follows from what samples of the step do to them: its adjoint is rounding."""
    network = {"activation": "cubic", "width": 1.4, "initialisation": "gaussian"}
    model = STEPPED.replace({"network": network, "step.learning_rate": 1e-3, "fit.loss": "square", "fit.ridge": 1e-4})
    found = certificate(solve(model))
    assert found.holds and not found.unsettled, found


def test_an_output_that_a_kink_holds_says_so() -> None:
    result = solve(SPIKED)
    held = {**result.order_parameters, "V2": np.zeros(1)}
    with pytest.raises(NotEvaluable, match="a kink of the loss or of the penalty holds the output"):
        certificate(replace(result, order_parameters=held))


def test_finite_dimension_and_given_bulk(tmp_path: object) -> None:
    path = f"{tmp_path}/bulk.npy"
    np.save(path, np.random.default_rng(3).standard_normal((60, 60)) / np.sqrt(60.0))
    model = STEPPED.replace({"step.bulk": "matrix", "step.matrix": path, "target.flips": 0.0, "fit.loss": "square"})
    assert not failed(solve(model, dimension=60))


def test_a_misclassification_that_misses_a_narrow_step() -> None:
    """At a large ridge the output hardly varies, and its sign is a step at the zero of its mean.

    .204832764699 is arccos(gamma)/pi, which quadrature that does not see the step reports.
    """
    result = solve(SPIKED.replace({"fit.ridge": 100.0}))
    assert reference(result).observables()["test_error"] == pytest.approx(0.204698034223, abs=2e-12)
    found = failed(replace(result, test_error=0.204832764699))
    assert [check.name for check in found] == ["test error by a second quadrature"]
    assert found[0].measured == pytest.approx(6.6e-4, rel=0.01)


def test_a_missed_kink() -> None:
    """The solution of a link whose kink is rounded, given out for that of the kink."""
    kinked = SPIKED.replace({"target.link": "abs(z)", "fit.loss": "square"})
    rounded = solve(kinked.replace({"target.link": "sqrt(z**2 + 0.0001)"}))
    assert not failed(solve(kinked))
    assert failed(replace(rounded, model=kinked))


def test_a_wrong_tail() -> None:
    """An activation that differs beyond four standard deviations only."""
    whole = SPIKED.replace({"spike.strength": 0.5, "target.link": "tanh", "fit.loss": "square"})
    cut = solve(whole.replace({"network.activation": "tanh(z) + 0.1*max(0, z - 4)"}))
    assert not failed(cut)
    assert failed(replace(cut, model=whole))


def test_a_mean_feature_that_is_rounding_at_the_interpolation_peak() -> None:
    """mu0 of He_2 without a spike vanishes, and the terms of the free energy cancel to a thousandth."""
    plain = {"network": {"activation": "quadratic", "width": 5.4}, "target": {"link": "silu"}}
    result = solve(Model.from_dict({**plain, "fit": {"samples": 5.4, "ridge": 1e-6}}))
    assert result.order_parameters["m"].item() == 0.0
    assert not failed(result)
    order = result.order_parameters
    assert failed(replace(result, order_parameters={**order, "Q2": order["Q2"] * (1.0 + 1e-5)}))


@pytest.mark.parametrize("name", ["m", "zeta", "psi", "Q1", "Q2", "V1", "V2"])
def test_a_wrong_order_parameter(name: str) -> None:
    result = solve(SPIKED)
    changed = {**result.order_parameters, name: result.order_parameters[name] * (1.0 + 1e-5)}
    assert any("equations" in check.name for check in failed(replace(result, order_parameters=changed)))


def test_a_step_on_three_indices_with_kinks_is_out_of_reach() -> None:
    law = LabelLaw("abs(z1) + z2*z3", np.array([[0.7, 0.3, 0.2]]), 0.0, 0.0)
    with pytest.raises(NotEvaluable, match="more than two indices with kinks"):
        law.moments(np.zeros(1), 1.0)


def test_a_turn_beside_the_end_of_a_panel() -> None:
    """Halved panels end at 3.5625, and none of their nodes is where the function is still zero."""
    place, width = 3.5629, 5e-5
    found = settled_nodes(lambda kappa: ndtr((kappa - place) / width)[None], (), 1e-9, lambda size: 0.0 * size + 0.02)
    assert found.values[0] @ found.weight == pytest.approx(ndtr(-place / np.hypot(1.0, width)), abs=2e-11)


def test_slopes_that_cancel_tell_nothing_of_what_follows_from_them() -> None:
    """A ridge of 1e-7 and a linear activation, at a dimension: zeta is 1e7 times an average that cancels to 1e-7 of its
    terms. A readout that is a thousandth off is told all the same.
    """
    values = {"values": [1.4568, 0.7775], "fractions": [0.2066, 0.7934]}
    model = STEPPED.replace({"network.activation": "linear", "network.readout": values, "network.width": 5.86})
    model = model.replace({"target.link": "sin", "target.flips": 0.0, "target.noise": 0.014, "fit.loss": "square"})
    model = model.replace({"step.bulk": "isotropic", "step.samples": 3.847, "step.learning_rate": 0.5793})
    result = solve(model.replace({"fit.samples": 2.66, "fit.ridge": 1.7e-7}), dimension=1000)
    found = certificate(result)
    assert found.equations["zeta"] > 1e-7 and max(found.errors.values()) < 1e-8
    assert "slopes of the loss or mean features cancel: averages good to 1e-09 leave the equation of" in found.unsettled
    wrong = certificate(
        replace(result, order_parameters={**result.order_parameters, "psi": 1.001 * result.order_parameters["psi"]})
    )
    assert not wrong.holds and not wrong.unsettled


def test_a_missed_step_of_the_misclassification_under_a_hard_loss() -> None:
    """The same as for the logistic loss above, where the loss has kinks and the ridge is moderate."""
    result = solve(SPIKED.replace({"fit.loss": "hinge", "fit.ridge": 10.0, "fit.samples": 0.05}))
    assert not failed(result)
    blind = float(np.arccos(0.8) / np.pi)
    assert [check.name for check in failed(replace(result, test_error=blind))] == ["test error by a second quadrature"]


def close(difference: float) -> Result:
    """Two readout values that hardly differ, with m of the inverse of what they differ by."""
    readout = {"values": [1.0, 1.0 + difference], "fractions": [0.5, 0.5]}
    square = {"fit.loss": "square", "target.link": "tanh", "network.readout": readout}
    return solve(SPIKED.replace(square))


def test_panels_are_halved_no_further_than_rounding_tells() -> None:
    result = close(1e-8)
    assert len(reference(result).nodes.kappa) < 2000  # 98 000 where rounding was halved
    rows = list(certificate_checks(result))
    assert len(rows) > 4 and all(row.outcome != "FAILED" for row in rows), [row.line() for row in rows]


def test_m_that_cancel_altogether_say_so() -> None:
    (row,) = certificate_checks(close(1e-12))
    assert row.outcome == "undecided" and "cancel" in row.line()


def test_a_clean_label_that_turns_more_sharply_than_the_drawn_one() -> None:
    """Next to an alignment of one it is a step of width 1e-4, which noise inside the link hides from the fit."""
    sharp = {"spike.alignment": 1.0 - 1e-8, "target.link": "sign(z-0.4)", "target.probit": 0.2478}
    further = {"network.width": 0.4, "fit.samples": 3.3, "fit.ridge": 0.9, "spike.strength": 0.0077}
    weak = {"network.activation": "erf", "spike.bulk_variance": 1.0}
    assert certificate(solve(SPIKED.replace({**sharp, **further, **weak}))).holds


def test_overlaps_that_are_rounding_of_zero_decide_no_sign() -> None:
    """An odd activation and an even target, whose output has no variance where the features saturate."""
    odd = {"network.activation": "hard_tanh", "spike.strength": 24.0, "target.link": "sign(z*z-0.5)"}
    found = solve(SPIKED.replace({**odd, "fit.loss": "smoothed_hinge", "target.flips": 0.43}), dimension=100)
    order = found.order_parameters
    assert certificate(found).holds
    assert certificate(replace(found, order_parameters={**order, "m": np.full_like(order["m"], 1e-17)})).holds


def test_rounding_of_responses_that_cancel_is_no_difference() -> None:
    """Linear features: responses of blocks are as large as the ridge is small, their sum is not; where they do not
    cancel a wrong one is found.
    """
    network = {"activation": "linear", "width": 2.0, "readout": {"values": [1.0, 0.9], "fractions": [0.5, 0.5]}}
    spike = {"strength": 0.0, "alignment": 0.0, "bulk_variance": 1.5}
    target, fit = {"link": "z**3/3", "noise": 0.1}, {"samples": 2.0, "ridge": 1e-8}
    model = Model.from_dict({"network": network, "spike": spike, "target": target, "fit": fit})
    found = certificate(solve(model))
    assert "overlaps of blocks cancel" in found.unsettled and not found.holds
    result = solve(model.replace({"fit.ridge": 0.1}))
    assert certificate(result).holds
    order = {**result.order_parameters, "V1": result.order_parameters["V1"] * 1.001}
    wrong = certificate(replace(result, order_parameters=order))
    assert not wrong.holds and not wrong.unsettled


#: The features span the target all but for the ridge: errors are 3e-13 of E y^2.
SPANNED = Model.from_dict(
    {
        "network": {"activation": "linear", "width": 2.0},
        "spike": {"strength": 0.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "z"},
        "fit": {"samples": 4.0, "ridge": 1e-6},
    }
)


def test_rounding_of_squares_is_less_than_a_hundredth_of_errors_next_to_nothing() -> None:
    found = reference(solve(SPANNED))
    rounding, by_averages = _rounding_of_squares(found), found.observables()
    for name in ("test_error", "train_error"):
        reported = getattr(found.result, name)
        assert abs(by_averages[name] - reported) <= rounding[name] < 0.01 * reported


def test_rounding_of_squares_is_no_difference_of_errors_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of E y^2 rounding takes eps; a difference of a hundredth is no rounding."""

    def on_its_nodes(other: Result) -> Reference:
        found = reference(other)
        vars(found).update(nodes=sound.nodes, width=sound.width)  # averages do not know what errors are stated
        return found

    result = solve(SPANNED)
    sound = reference(result)
    monkeypatch.setattr(import_module("giantstep.verify.certificate"), "reference", on_its_nodes)
    assert result.test_error < 1e-12 and all(off <= ERRORS for off in certificate(result).errors.values())
    for name in ("test_error", "train_error"):
        wrong = certificate(replace(result, **{name: getattr(result, name) * 1.02}))
        assert wrong.errors[name] > ERRORS and not wrong.holds and not wrong.unsettled


def test_a_gradient_whose_averages_have_not_settled_has_no_number() -> None:
    """It was told as 1.0 of 1e-9 allowed, and undecided."""
    off, sound = Check("gradient", 1.0, 1e-9), Check("gradient", 1e-12, 1e-9)
    told = _undecided(off, "has settled to 1e-05 only")
    assert told.outcome == "undecided" and np.isnan(told.measured)
    assert _undecided(off, "") == off and _undecided(sound, "has settled to 1e-05 only") == sound


def test_signs_that_rounding_hides_are_undecided() -> None:
    """Beyond kappa = 3 features are 1 to all digits, and the sign of an output is that of what they lack."""
    changes = {"spike.strength": 6.25, "spike.alignment": 0.0, "spike.bulk_variance": 3.0, "fit.loss": "squared_hinge"}
    sizes = {"network.activation": "tanh", "network.width": 0.13, "fit.samples": 0.17, "fit.ridge": 0.012}
    result = solve(SPIKED.replace({**changes, **sizes, "target.link": "sign"}))
    found = certificate(result)
    assert "signs of features that saturate" in found.unsettled and found.errors["test_error"] > ERRORS
    wrong = certificate(replace(result, test_error=result.test_error * (1.0 + 1e-4)))
    assert not wrong.holds and not wrong.unsettled


def test_m_of_an_output_on_a_kink_is_undecided() -> None:
    """Outputs of features that saturate are m, which a slope of the loss holds within 1e-8 of its kink: the share of
    kappa where they vary by more decides.
    """
    changes = {"spike.strength": 8.8, "spike.alignment": 1.0, "spike.bulk_variance": 1.0, "fit.loss": "hinge"}
    labels = {"network.activation": "sign", "target.link": "sign", "target.probit": 1.2, "network.bias": 1.96}
    sizes = {"network.width": 0.94, "fit.samples": 1.365, "fit.ridge": 3.4}
    result = solve(SPIKED.replace({**changes, **labels, **sizes}))
    found = certificate(result)
    assert "a kink of the loss holds outputs: m good to 1e-08" in found.unsettled and found.worst_equation[0] == "m"
    assert max(found.errors.values()) < ERRORS
    order = {**result.order_parameters, "m": result.order_parameters["m"] * (1.0 + 1e-4)}
    wrong = certificate(replace(result, order_parameters=order))
    assert not wrong.holds and not wrong.unsettled
