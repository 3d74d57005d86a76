"""Which keys ``gradient`` takes, what it says of the others, and its command."""

from __future__ import annotations

import json
from typing import Any

import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.gradient.parameter_directions import _KEYS, keys_for, left_out

STEPPED = gs.Model.from_dict(
    {
        "network": {"activation": "relu", "width": 0.8, "readout": {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}},
        "step": {"samples": 2.0, "learning_rate": 1.3},
        "target": {"link": "tanh", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(gs.BadInput, match="no derivative"):
        gradient(STEPPED, "target.noise")
    with pytest.raises(gs.BadInput, match="did you mean 'fit.ridge'") as caught:
        gradient(STEPPED, "fit.ridgee")
    assert "spike." not in caught.value.hint  # the model has none
    with pytest.raises(gs.BadInput, match="spike"):
        gradient(STEPPED, "spike.strength")
    with pytest.raises(gs.BadInput, match="no key"):
        gradient(STEPPED, [])
    apart = STEPPED.replace({"step.learning_rate": 0.0})
    with pytest.raises(gs.BadInput, match="same features"):
        gradient(apart, "step.learning_rate")
    assert set(gradient(apart, "fit.ridge").test_error) == {"fit.ridge"}


def test_a_key_without_a_derivative_is_answered_with_its_reason() -> None:
    given = STEPPED.replace({"fit.loss": "quantile"})
    for key in ("step.samples", "target.noise", "fit.loss.tau"):
        with pytest.raises(gs.BadInput, match=f"no derivative in {key}: {left_out(given)[key]}") as caught:
            gradient(given, key)
        assert "did you mean" not in caught.value.hint
    with pytest.raises(gs.BadInput, match=r"the model has no \[inputs\]"):
        gradient(STEPPED, "inputs.capacity")


def test_keys_are_a_list_or_text_with_commas() -> None:
    for keys in ("fit.ridge, fit.samples", ["fit.ridge", "fit.samples"], ["fit.ridge,fit.samples", "fit.ridge"]):
        assert tuple(gradient(STEPPED, keys).test_error) == ("fit.ridge", "fit.samples")
    with pytest.raises(gs.BadInput, match="no derivative in 'fit.sample'"):
        gradient(STEPPED, "fit.ridge,fit.sample")


def test_every_key_is_named_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", "--help"]) == 0
    for words in (capsys.readouterr().out, gradient.__doc__ or ""):
        assert all(key in words for key in _KEYS)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fit.loss": "huber"},
        {"fit.penalty": "box"},
        {"fit.penalty": {"name": "elastic_net", "l1": 0.0}},
        {"network.bias": 0.3},
    ],
)
def test_every_number_has_a_derivative_or_a_reason(changes: dict[str, Any]) -> None:
    model = STEPPED.replace(changes)
    numbers = {f"{table}.{key}" for table, keys in model.to_dict().items() for key in keys if _is_float(keys[key])}
    for noun, given in (("loss", model.fit.loss), ("penalty", model.fit.penalty)):
        numbers |= {f"fit.{noun}.{name}" for name, _ in (() if given is None else given.parameters)}
    missing = left_out(model)
    assert not set(missing) & set(keys_for(model)) and set(missing) | set(keys_for(model)) == numbers


def _is_float(value: object) -> bool:
    return isinstance(value, float)


def test_the_command_prints_derivatives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", "examples/tanh_sign.toml"]) == 0
    out = capsys.readouterr().out
    assert "step.learning_rate" in out and "no derivatives are made in" in out and "step.samples: the alignment" in out
    assert main(["gradient", "examples/tanh_sign.toml", "--keys", "fit.ridge", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data["gradient"]["test_error"]) == {"fit.ridge"}
    assert {"step.samples", "target.noise"} < set(data["left_out"])
    assert main(["gradient", "examples/tanh_sign.toml", "--keys", "fit.rigde"]) == 2
