"""The loss of a model: names, expressions, parameters with their ranges, and the labels that a loss can take."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from model_cases import SIGNS, STEP, put, refused

from derive.language.grammar import parse
from derive.language.loss_catalogue import REGISTERED
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import jet
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Fit, Model

REGRESSION = tuple(name for name, entry in REGISTERED.items() if entry.form == "residual")
MARGIN = tuple(name for name, entry in REGISTERED.items() if entry.form == "margin")
PARAMETERS = [(name, item) for name, entry in REGISTERED.items() for item in entry.parameters]


def test_the_catalogue_has_losses_of_both_forms() -> None:
    assert {"square", "huber", "absolute", "quantile"} <= {*REGRESSION}
    assert {"logistic", "hinge", "exponential"} <= {*MARGIN}


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_losses_round_trip(name: str) -> None:
    counts = REGISTERED[name].form == "general"
    model = Model.from_dict(put("fit.loss", name, {**SIGNS, "target": {"link": "step"}} if counts else SIGNS))
    loss = model.fit.loss
    assert (loss.name, loss.key, loss.form) == (name, name, REGISTERED[name].form)
    assert loss.parameters == tuple((item.name, item.default) for item in REGISTERED[name].parameters)
    plain = model.to_dict()["fit"]["loss"]
    assert plain == ({"name": name, **dict(loss.parameters)} if loss.parameters else name)
    assert Model.from_dict(model.to_dict()) == pickle.loads(pickle.dumps(model)) == model
    assert hash(Model.from_dict(model.to_dict())) == hash(model)


def test_a_loss_in_a_file(tmp_path: Any) -> None:
    path = tmp_path / "model.toml"
    model = Model.from_dict(put("fit.loss", {"name": "huber", "delta": 0.25}))
    assert 'loss = { name = "huber", delta = 0.25 }' in model.to_toml()
    path.write_text(model.to_toml(), encoding="utf-8")
    assert Model.from_toml(path) == model and Model.from_toml(path).fit.loss.values == (0.25,)


def test_losses_as_text_tables_and_records_are_the_same() -> None:
    given: list[Any] = [
        "huber",
        " huber ",
        {"name": "huber"},
        {"name": "huber", "delta": 1},
        FitLoss("huber"),
    ]
    given += [FitLoss("huber", {"delta": np.float64(1.0)}), FitLoss("huber", (("delta", 1.0),))]
    assert {Fit(1.0, 1.0, loss) for loss in given} == {Fit(1.0, 1.0, FitLoss("huber", (("delta", 1.0),)))}


def test_expressions_equal_to_a_registered_loss_take_its_name() -> None:
    for text in ("(y-f)**2/2", "( y - f )**2 / 2", "log(1+exp(-y*f))"):
        assert FitLoss(text).name in ("square", "logistic")
    own = FitLoss(" log(cosh(2*(y - f))) ")
    assert own.name == "log(cosh(2*(y - f)))" and own.expression == "log(cosh(2*(y-f)))"
    assert own.key.startswith("user_") and own.key == FitLoss("log(cosh(2*(y-f)))").key
    assert (own.form, own.parameters, own.to_dict()) == ("residual", (), own.name)
    assert FitLoss("exp(2*f)-y*f").form == "general"


@pytest.mark.parametrize(("name", "item"), PARAMETERS)
def test_parameters_are_taken_inside_their_interval(name: str, item: Any) -> None:
    low, high = max(item.low, -1e12), min(item.high, 1e12)
    for value in (low + 1e-9, 0.5 * (low + min(high, 1.0)), min(high - 1e-9, 1e11)):
        assert FitLoss(name, {item.name: value}).values == (value,)
    for value in (low, high, low - 1.0, high + 1.0, math.nan, math.inf, None, True, "0.5", [0.5]):
        with pytest.raises(BadInput) as caught:
            FitLoss(name, {item.name: value})
        assert f"fit.loss.{item.name} = " in str(caught.value) and "both excluded" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Square", "did you mean 'square'"),
        ("l1", "did you mean 'absolute'"),
        ("", "fit.loss"),
        ("y.real", "fit.loss"),
        ("(y-g)**2", "'g'"),
        ("y**2", "does not depend on f"),
        ("f**2", "does not depend on y"),
        (None, "fit.loss = None"),
        (1, "fit.loss = 1 (a number)"),
        (["square"], "(a list)"),
        ({}, "fit.loss.name is missing"),
        ({"delta": 1.0}, "fit.loss.name is missing"),
        ({"name": 3}, "fit.loss = 3"),
        ({"name": "huber", "dleta": 1.0}, "did you mean 'delta'? it has the parameters delta"),
        ({"name": "square", "delta": 1.0}, "fit.loss.delta = 1.0 is not a parameter of the loss 'square'"),
        ({"name": "log(cosh(2*y-2*f))", "delta": 1.0}, "it has no parameters"),
        ({"name": "huber", 3: 1.0}, "fit.loss.3"),
        (
            {"name": "huber", "delta": 0.0},
            "= 0.0 is not allowed as the parameter delta of the loss: give a number between 0 and 1e+12, both excluded",
        ),
    ],
)
def test_what_is_no_loss_is_refused(given: Any, words: str) -> None:
    assert words in refused(put("fit.loss", given))


@pytest.mark.parametrize("name", MARGIN)
def test_losses_of_the_margin_need_signs(name: str) -> None:
    for link in ("sign", "sign(z-0.3)", "2*step(z)-1", "-sign(z**2-1)", "sign(z)*sign(z-1)"):
        assert Model.from_dict({**SIGNS, "target": {"link": link}, "fit": {**SIGNS["fit"], "loss": name}})
    for link in ("tanh", "step", "tanh(1e6*z)", "sign(relu(z))", "2*sign(z)", "clip(1e9*z,-1,1)", "0"):
        text = refused({**SIGNS, "target": {"link": link}, "fit": {**SIGNS["fit"], "loss": name}})
        assert f"fit.loss = '{name}' needs labels +-1" in text and repr(link) in text
    noisy = refused({**SIGNS, "target": {"link": "sign", "noise": 0.1}, "fit": {**SIGNS["fit"], "loss": name}})
    assert "target.noise = 0.1" in noisy and "target.flips" in noisy and "target.probit" in noisy
    flipped = {"link": "sign", "flips": 0.1, "probit": 0.2}
    assert Model.from_dict({**SIGNS, "target": flipped, "fit": {**SIGNS["fit"], "loss": name}}).target.flips == 0.1


@pytest.mark.parametrize("name", REGRESSION)
def test_losses_of_the_residual_take_any_labels(name: str) -> None:
    for target in (
        {"link": "tanh", "noise": 0.1},
        {"link": "sign", "noise": 0.1, "flips": 0.2},
        {"link": "z1*z2"},
    ):
        assert Model.from_dict({**SIGNS, "target": target, "fit": {**SIGNS["fit"], "loss": name}}).fit.loss.name == name


def test_the_loss_is_shown_with_its_parameters() -> None:
    assert str(FitLoss("square")) == "square" and str(FitLoss("huber", {"delta": 0.5})) == "huber(delta=0.5)"
    assert Model.from_dict(STEP).fit.loss == FitLoss("square")


def test_losses_of_counts_stand_for_a_mean_label() -> None:
    """The slope in f is the mean label less the label, and the clean one is what errors are measured against."""
    f = np.linspace(-3.0, 3.0, 13)
    for loss in (FitLoss("poisson"), FitLoss("binomial", {"trials": 4.0})):
        assert loss.predicts is not None
        mean, slope = loss.predicts.mean_and_slope(f)
        _, tangent, bend = jet(parse(loss.expression, loss.entry.variables), "f", numbers(loss, f), 2)
        np.testing.assert_allclose(mean, tangent, rtol=1e-14)
        np.testing.assert_allclose(slope, bend, rtol=1e-14)
        assert np.array_equal(loss.predicts.mean(f), mean)
    assert FitLoss("exp(f) - y*f").name == "poisson"
    assert FitLoss("binomial", {"trials": 4.0}).test_error == "E (f_* - 4*sigmoid(f))^2"
    assert FitLoss("square").predicts is FitLoss("logistic").predicts is FitLoss("exp(2*f)-y*f").predicts is None


def numbers(loss: FitLoss, f: np.ndarray) -> dict[str, Any]:
    return {"y": np.zeros_like(f), "f": f, **dict(loss.parameters)}


def test_a_tube_of_no_width_is_the_absolute_loss() -> None:
    with pytest.raises(BadInput, match="epsilon = 0") as refusal:
        FitLoss("epsilon_insensitive", {"epsilon": 0})
    assert 'loss = "absolute"' in refusal.value.hint
    with pytest.raises(BadInput) as refusal:
        FitLoss("epsilon_insensitive", {"epsilon": -1.0})
    assert not refusal.value.hint
