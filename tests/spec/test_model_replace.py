"""Models with values changed by key, as ``--set`` and sweeps do it."""

from dataclasses import replace
from typing import Any

import pytest
from model_cases import PLAIN, SPIKE, STEP

from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Fit, Model, Readout, Spike, Step


def test_replace() -> None:
    model = Model.from_dict(STEP)
    assert model.replace({}) == model
    assert model.replace({"fit.samples": 1.5}).fit.samples == 1.5
    assert model.replace({"fit.samples": "1.5", "fit.ridge": "1e-3"}).fit == Fit(1.5, 1e-3)
    assert model.replace({"network.activation": "erf(z/2)"}).network.activation == "erf(z/2)"
    assert model.replace({"network.activation": '"relu"'}).network.activation == "relu"
    lists = {"network.readout.values": "[1, 2, 3]", "network.readout.fractions": "[0.5, 0.25, 0.25]"}
    assert model.replace(lists).network.readout == Readout((1, 2, 3), (0.5, 0.25, 0.25))
    table = {"network.readout": "{ values = [2], fractions = [1] }"}
    assert model.replace(table).network.readout == Readout((2.0,), (1.0,))
    assert model.replace({"network.readout": Readout((3.0,), (1.0,))}).network.readout.values == (3.0,)
    assert model.fit.samples == 2.0


def test_replace_makes_and_removes_tables() -> None:
    plain = Model.from_dict(PLAIN)
    assert plain.replace({"step.samples": "1", "step.learning_rate": "2"}).step == Step(1.0, 2.0)
    spiked = Model.from_dict(STEP).replace({"step": None, "spike": SPIKE["spike"], "spike.strength": "3"})
    assert spiked.step is None and spiked.spike == Spike(3.0, 0.8, 1.2)
    assert SPIKE["spike"]["strength"] == 1.5
    assert spiked.replace({"spike": None}).spike is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fit.sampels": 1}, "did you mean 'fit.samples'"),
        ({"samples": 1}, "unknown key"),
        ({"fit.samples.x": 1}, "unknown key"),
        ({"": 1}, "unknown key"),
        ({"fit..samples": 1}, "unknown key"),
        ({"__class__": 1}, "unknown key"),
        ({3: 1}, "unknown key 3"),
        ({"fit.samples": "abc"}, "fit.samples = 'abc'"),
        ({"fit.samples": "true"}, "fit.samples = True"),
        ({"fit.samples": "nan"}, "fit.samples = nan"),
        ({"fit.samples": "-inf"}, "fit.samples = -inf"),
        ({"fit.samples": "1\nridge = 3"}, "fit.samples = "),
        ({"fit.samples": "[1"}, "fit.samples = "),
        ({"fit.samples": ""}, "fit.samples = ''"),
        ({"fit.samples": "[" * 5000}, "fit.samples = "),
        ({"fit.samples": "9" * 5000}, "fit.samples = "),
        ({"fit": 3, "fit.samples": 1}, "fit = 3"),
        ({"fit": None}, "[fit] is missing"),
        ({"spike.strength": 1}, "both [step] and [spike]"),
        ({"spike": SPIKE["spike"]}, "both [step] and [spike]"),
        ({"fit.loss": "hinge"}, "target.noise = 0.1"),
        ({"fit.loss": "hubr"}, "did you mean 'huber'"),
        ({"fit.loss.delta": 1}, "fit.loss.delta = 1 is not a parameter of the loss 'square'"),
        ({"fit.loss.name": "huber"}, "unknown key 'fit.loss.name'"),
        ({"network.bias": "train"}, "did you mean 'trained'"),
        ({"target.flips": "0.6"}, "target.flips = 0.6"),
        ({"network.readout.values": "[1]"}, "one fraction for each value"),
    ],
)
def test_replace_refuses(changes: dict[Any, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(STEP).replace(changes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("nothing", "a model has the tables [network], [target], [fit], [step], [spike], [inputs], [metrics]"),
        ("no.thing", "a model has the tables [network], [target], [fit], [step], [spike], [inputs], [metrics]"),
        ("fit.nothing", "[fit] has the keys samples, ridge, loss, penalty"),
        ("fit.sampels", "did you mean 'fit.samples'?"),
        ("step.2.sampels", "did you mean 'step.2.samples'?"),
        ("fti.loss.delta", "did you mean 'fit.loss.delta'?"),
        ("fit.loss.dleta", "did you mean 'fit.loss.delta', 'fit.loss.tau' or 'fit.loss.trials'?"),
        ("fit.link", "did you mean 'target.link'?"),
    ],
)
def test_unknown_keys_of_replace_name_the_nearest_or_those_of_the_table(key: str, hint: str) -> None:
    with pytest.raises(BadInput, match="unknown key") as caught:
        Model.from_dict(STEP).replace({key: 1})
    assert caught.value.hint == hint


def test_replace_sets_losses_and_their_parameters() -> None:
    model = Model.from_dict(STEP)
    huber = model.replace({"fit.loss": "huber"})
    assert huber.fit.loss == FitLoss("huber", {"delta": 1.0})
    assert huber.replace({"fit.loss.delta": "0.5"}).fit.loss == FitLoss("huber", {"delta": 0.5})
    assert huber.replace({"fit.loss.delta": 0.5}).fit.loss.values == (0.5,)
    assert huber.replace({"fit.loss": "quantile"}).fit.loss == FitLoss("quantile", {"tau": 0.5})
    assert model.replace({"fit.loss": "log(cosh(f - y))"}).fit.loss.name == "log_cosh"
    table = {"name": "quantile", "tau": 0.3}
    for given in ('{ name = "quantile", tau = 0.3 }', table, FitLoss("quantile", {"tau": 0.3})):
        assert model.replace({"fit.loss": given}).fit.loss == FitLoss("quantile", (("tau", 0.3),))


def test_replace_sets_a_table_before_what_is_in_it() -> None:
    changes = {"fit.loss.delta": "0.5", "fit.loss": "huber"}
    for order in (changes, dict(reversed(changes.items()))):
        assert Model.from_dict(STEP).replace(order).fit.loss == FitLoss("huber", {"delta": 0.5})


def test_replace_sets_label_noise_bias_and_alignments() -> None:
    model = Model.from_dict(SPIKE)
    noisy = model.replace({"target.flips": "0.2", "target.probit": "0.3", "network.bias": "trained"})
    assert (noisy.target.flips, noisy.target.probit, noisy.network.bias) == (0.2, 0.3, "trained")
    assert noisy.replace({"network.bias": 0.25}).network.bias == 0.25
    two = model.replace({"target.link": "sign(z1*z2)", "spike.alignment": "[0.6, -0.3]"})
    assert two.spike is not None and two.spike.alignment == (0.6, -0.3)


def test_nodes_of_a_density_stay() -> None:
    """Values that stand for a density were lost where no number changed: a path of easier losses ended in a crash."""
    density = Readout(density="exp(-u)*step(u)").at_nodes((0.5, 1.5), (0.5, 0.5), 1.0)
    given = Model.from_dict(STEP)
    nodes = replace(given, network=replace(given.network, readout=density))
    assert nodes.replace({"fit.loss": {"name": "huber", "delta": 1.0}}).network == nodes.network
    assert nodes.replace({"network.activation": "relu"}).network.readout.values == ()
