"""The JSON schema of a model file, and the lists of registered functions."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from model_cases import PLAIN, SPIKE, STEP

import giantstep as gs
from derive.language.catalogue import lookup
from giantstep.spec.model import allowed_keys, value_keys
from giantstep.spec.schema import meaning_of

SCHEMA = gs.schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_valid(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    CHECK.validate(tomllib.loads(path.read_text(encoding="utf-8")))
    CHECK.validate(gs.Model.from_toml(path).to_dict())


@pytest.mark.parametrize("data", [PLAIN, SPIKE, STEP])
def test_what_is_no_model_is_not_valid(data: dict[str, Any]) -> None:
    CHECK.validate(data)
    for table, key, value in (
        ("fit", "ridge", 0.0),
        ("fit", "ridge", "0.1"),
        ("fit", "rigde", 0.1),
        ("network", "initialisation", "cube"),
        ("network", "bias", "fixed"),
        ("target", "flips", 0.6),
        ("network", "readout", {"values": [], "fractions": []}),
        ("fit", "loss", {"delta": 1.0}),
    ):
        with pytest.raises(jsonschema.ValidationError):
            CHECK.validate({**data, table: {**data[table], key: value}})
    with pytest.raises(jsonschema.ValidationError):
        CHECK.validate({name: table for name, table in data.items() if name != "fit"})


def test_every_key_is_in_the_schema_and_has_words() -> None:
    for key in allowed_keys():
        found = SCHEMA
        for name in key.split("."):
            inside = [found, *found.get("anyOf", [])]  # a loss is text or a table
            found = next(part["properties"][name] for part in inside if "properties" in part)
    assert all(meaning_of(key) for key in value_keys())
    assert meaning_of("fit.ridge") == "the strength lambda of the ridge penalty"
    assert meaning_of("network.readout.values") == "the readout value of a block"
    assert meaning_of("fit.loss.delta") == "the parameter delta of the loss"


def test_every_listed_function_can_be_given_by_its_name_and_its_expression() -> None:
    for name, expression in gs.activations().items():
        assert gs.Target(name).link == name
        assert gs.Target(expression)
    for name, expression in gs.losses().items():
        assert gs.FitLoss(name).expression == expression


def test_the_cache_is_cleared_but_for_what_is_not_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIANTSTEP_CACHE", str(tmp_path))
    kept, made = tmp_path / "notes.txt", tmp_path / "0123456789abcdef" / "__pycache__" / "user_1.nbc"
    foreign = tmp_path / "results" / "curve.json"
    for path in (kept, made, foreign):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "0123456789abcdee").symlink_to(foreign.parent)
    assert gs.clear_cache() == 1
    assert not made.parent.parent.exists() and kept.exists() and foreign.exists()
    monkeypatch.setenv("GIANTSTEP_CACHE", str(tmp_path / "none"))
    assert gs.clear_cache() == 0


def test_warming_up_needs_a_model_that_is_one() -> None:
    assert gs.warm_up(gs.model()) is None
    with pytest.raises(gs.BadInput, match="does not exist"):
        gs.warm_up("nowhere.toml")


def test_a_name_alone_is_an_activation() -> None:
    assert gs.activations()["sigmoid"] == "sigmoid(z)"
    assert lookup("sigmoid").expression == "sigmoid(z)" and gs.model("arctan").network.activation == "arctan"
    with pytest.raises(gs.BadInput, match="grows too fast"):
        gs.model("exp(z**2)")
    with pytest.raises(gs.BadInput, match="not a finite real number at z = 2.5"):
        gs.model("1/(z - 2.5)")
    with pytest.raises(gs.BadInput, match="write the value of delta"):
        gs.model(loss="sqrt(1 + ((y - f)/delta)**2)")
