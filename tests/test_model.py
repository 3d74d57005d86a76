"""The model: every field with every kind of wrong value, files that are not models, and the round trips."""

import copy
import math
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giantstep.errors import BadInput, GiantstepError, NotConverged
from giantstep.model import Fit, Model, Network, Readout, Spike, Step, Target, allowed_keys

STEP: dict[str, Any] = {
    "network": {
        "activation": "tanh",
        "width": 1.0,
        "readout": {"values": [1.0, -1.0], "fractions": [0.25, 0.75]},
        "bias": 0.5,
    },
    "step": {"samples": 0.5, "learning_rate": 1.0, "bulk": "isotropic"},
    "target": {"link": "sign", "noise": 0.1},
    "fit": {"samples": 2.0, "ridge": 0.05, "loss": "square"},
}
SPIKE: dict[str, Any] = {
    **{name: STEP[name] for name in ("network", "target", "fit")},
    "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
}
PLAIN: dict[str, Any] = {
    "network": {"activation": "relu", "width": 2.0},
    "target": {"link": "z**2"},
    "fit": {"samples": 1.0, "ridge": 0.1},
}

# What each number may be: (smallest, largest), as the specification has it.
POSITIVE, NOT_NEGATIVE, ANY = (1e-12, 1e12), (0.0, 1e12), (-1e12, 1e12)
NUMBERS: dict[str, tuple[float, float]] = {
    "network.width": POSITIVE,
    "network.bias": ANY,
    "step.samples": POSITIVE,
    "step.learning_rate": NOT_NEGATIVE,
    "spike.strength": NOT_NEGATIVE,
    "spike.alignment": (-1.0, 1.0),
    "spike.bulk_variance": POSITIVE,
    "target.noise": NOT_NEGATIVE,
    "fit.samples": POSITIVE,
    "fit.ridge": POSITIVE,
}
EXPRESSIONS = ("network.activation", "target.link")
CHOICES = {"step.bulk": "isotropic", "fit.loss": "square"}
LISTS = ("network.readout.values", "network.readout.fractions")
TABLES = ("network", "network.readout", "step", "spike", "target", "fit")
REQUIRED = (
    *("network.activation", "network.width", "step.samples", "step.learning_rate", "spike.strength"),
    *("spike.alignment", "spike.bulk_variance", "target.link", "fit.samples", "fit.ridge"),
)


def put(key: str, value: object) -> dict[str, Any]:
    """The dictionary of a full model with one value changed."""
    data = copy.deepcopy(SPIKE if key.startswith("spike") else STEP)
    *tables, last = key.split(".")
    inner = data
    for table in tables:
        inner = inner[table]
    inner[last] = value
    return data


def refused(data: object) -> str:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(data)  # type: ignore[arg-type]
    text = str(caught.value)
    assert text.isascii() and text.isprintable() and len(text) < 700
    assert caught.value.exit_code == 2
    return text


def attribute(model: Model, key: str) -> Any:
    value: Any = model
    for name in key.split("."):
        value = getattr(value, name)
    return value


def test_every_key_of_the_file_is_tested_here() -> None:
    assert {*NUMBERS, *EXPRESSIONS, *CHOICES, *LISTS, *TABLES} == set(allowed_keys())


@pytest.mark.parametrize("data", [STEP, SPIKE, PLAIN])
def test_round_trips(data: dict[str, Any], tmp_path: Path) -> None:
    model = Model.from_dict(data)
    assert Model.from_dict(model.to_dict()) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert len({model, Model.from_dict(copy.deepcopy(data))}) == 1
    path = tmp_path / "model.toml"
    path.write_text(model.to_toml(), encoding="utf-8")
    assert Model.from_toml(path) == Model.from_toml(str(path)) == model


def test_to_dict_holds_what_was_given() -> None:
    assert Model.from_dict(STEP).to_dict() == STEP
    assert Model.from_dict(SPIKE).to_dict() == SPIKE
    full = Model.from_dict(PLAIN).to_dict()
    assert full["network"]["readout"] == {"values": [1.0], "fractions": [1.0]}
    assert (
        full["network"]["bias"] == 0.0 and full["target"]["noise"] == 0.0 and full["fit"]["loss"] == "square"
    )
    assert "step" not in full and "spike" not in full


def test_python_and_file_make_the_same_model() -> None:
    model = Model(
        network=Network("tanh", 1, Readout((1, -1), (0.25, 0.75)), bias=0.5),
        target=Target("sign", 0.1),
        fit=Fit(2, 0.05),
        step=Step(0.5, 1),
    )
    assert model == Model.from_dict(STEP)
    assert isinstance(model.network.width, float) and isinstance(model.network.readout.values[0], float)


def test_records_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Model.from_dict(STEP).fit.ridge = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_are_taken_up_to_their_bounds(key: str) -> None:
    low, high = NUMBERS[key]
    inside: list[Any] = [low, high, 1, 1.0, np.float64(0.5), np.float32(0.5), np.int64(1), Fraction(1, 2)]
    for value in inside:
        model = Model.from_dict(put(key, value))
        assert attribute(model, key) == float(value) and type(attribute(model, key)) is float


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_out_of_bounds_are_refused(key: str) -> None:
    low, high = NUMBERS[key]
    outside = [math.nextafter(low, -math.inf), math.nextafter(high, math.inf), -2e12, 2e12, 1e300, 10**400]
    outside += [math.nan, math.inf, -math.inf, np.float64("nan")]
    if low > 0:
        outside += [0, 0.0, -0.0, -1, 5e-324]
    if low == 0:
        outside += [-1, -5e-324]
    for value in outside:
        text = refused(put(key, value))
        assert key in text and "must be a number" in text


@pytest.mark.parametrize("key", NUMBERS)
def test_what_is_not_a_number_is_refused(key: str) -> None:
    wrong: list[object] = [True, False, np.bool_(True), None, "x", "1.0", b"1", [1.0], (1.0,), {"a": 1}, 1j]
    wrong += [date(2024, 2, 7), object(), np.array([1.0, 2.0]), lambda: 1.0]
    for value in wrong:
        assert f"{key} = " in refused(put(key, value))
    assert "without quotes" in refused(put(key, "1.0"))


@pytest.mark.parametrize("key", EXPRESSIONS)
def test_functions(key: str) -> None:
    for text in ("erf", " relu ", "erf(z/sqrt(2))", "z*Phi(z)", "exp(z/2)", "He(3,z)", "1/(1+exp(-z**3))"):
        assert attribute(Model.from_dict(put(key, text)), key) == text.strip()
    wrong = [None, 1, 1.0, True, ["tanh"], {"name": "tanh"}, np.tanh, ""]
    wrong += [
        "tahn",
        "z.real",
        "__import__('os')",
        "lambda z: z",
        "2z",
        "z^2",
        "log(-1)",
        "\u03c3(z)",
        "z" * 501,
    ]
    wrong += ["log(z)", "sqrt(z)", "1/z", "z**0.5", "exp(z**2)", "exp(z**2/4)", "exp(exp(z))"]
    for value in wrong:
        assert key in refused(put(key, value))


def test_messages_for_functions_say_what_is_wrong() -> None:
    assert "did you mean 'tanh'" in refused(put("network.activation", "tahn"))
    assert "at z = 0" in refused(put("network.activation", "1/z"))
    assert "Gaussian moments" in refused(put("network.activation", "exp(z**2/4)"))
    assert "does not depend on z" in refused(put("network.activation", "z-z"))
    assert attribute(Model.from_dict(put("target.link", "1")), "target.link") == "1"


@pytest.mark.parametrize("key", CHOICES)
def test_choices(key: str) -> None:
    assert attribute(Model.from_dict(put(key, f" {CHOICES[key]} ")), key) == CHOICES[key]
    for value in (None, 1, True, ["square"], "", "something", "Square", "z.real", b"square"):
        text = refused(put(key, value))
        assert key in text and f'"{CHOICES[key]}"' in text
    assert f"did you mean '{CHOICES[key]}'" in refused(put(key, CHOICES[key][:-1]))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("network.bias", "trained", "fixed bias"),
        ("step.bulk", "trained", "isotropic bulk"),
        ("fit.loss", "logistic", "square loss"),
        ("fit.loss", "hinge", "square loss"),
        ("fit.loss", "huber", "square loss"),
        ("fit.loss", "absolute", "square loss"),
        ("fit.loss", "log(1+exp(-y*f))", "square loss"),
    ],
)
def test_what_a_later_version_solves_is_recognised_and_refused(key: str, value: str, words: str) -> None:
    text = refused(put(key, value))
    assert key in text and value in text and "this version solves" in text and words in text


@pytest.mark.parametrize("key", LISTS)
def test_lists(key: str) -> None:
    wrong: list[object] = [
        None,
        1.0,
        True,
        "1",
        "[1]",
        {},
        [],
        (),
        [[1.0]],
        [None, 1.0],
        ["1", 1.0],
        [True, 1.0],
    ]
    wrong += [[math.nan, 1.0], [math.inf, 1.0], [1e13, 1.0], {1.0, 2.0}, [1.0] * 65, np.eye(2)]
    for value in wrong:
        assert key in refused(put(key, value))
    assert f"{key}[1]" in refused(put(key, [0.5, "x"]))


def test_readout_conditions() -> None:
    def readout(values: object, fractions: object) -> dict[str, Any]:
        return put("network.readout", {"values": values, "fractions": fractions})

    assert "one fraction for each value" in refused(readout([1.0], [0.5, 0.5]))
    assert "all zero" in refused(readout([0.0, -0.0], [0.5, 0.5]))
    for fractions in ([0.5, 0.4], [0.5, 0.5 + 2e-9], [1.0, 1.0]):
        assert "sum to 1" in refused(readout([1.0, 2.0], fractions))
    for fractions in ([0.0, 1.0], [-0.5, 1.5], [1e-13, 1.0]):
        assert "network.readout.fractions[0]" in refused(readout([1.0, 2.0], fractions))
    model = Model.from_dict(readout(np.array([1.0, 0.0]), np.array([0.5, 0.5])))
    assert model.network.readout == Readout((1.0, 0.0), (0.5, 0.5))
    assert len(Readout((1.0,) * 64, (1 / 64,) * 64).values) == 64


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=64), st.floats(-9e-10, 9e-10))
def test_fractions_sum_to_one_exactly_and_stay_put(weights: list[float], excess: float) -> None:
    total = math.fsum(weights)
    given_fractions = [weight / total * (1.0 + excess) for weight in weights]
    if max(given_fractions) > 1.0 or min(given_fractions) < 1e-12:
        return
    fractions = Readout(tuple(weights), tuple(given_fractions)).fractions
    assert math.fsum(fractions) == 1.0
    assert np.allclose(fractions, given_fractions, rtol=2e-9, atol=1e-15)
    assert Readout(tuple(weights), fractions).fractions == fractions


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_a_wrong_type_are_refused(table: str) -> None:
    for value in (3, "x", [1], None, True):
        assert table in refused(put(table, value))


@pytest.mark.parametrize("table", TABLES)
def test_unknown_keys_are_refused_with_the_nearest_one(table: str) -> None:
    keys = [key.removeprefix(f"{table}.") for key in allowed_keys() if key.startswith(f"{table}.")]
    for key in keys:
        if "." not in key:
            text = refused(put(f"{table}.{key}x", 1.0))
            assert f"did you mean '{key}'" in text and f"[{table}]" in text and "allowed keys are" in text
    data = put(f"{table}.unrelated", 1.0)
    assert "'unrelated'" in refused(data)
    data = put(table, {3: 1.0})
    assert "unknown key 3" in refused(data)


def test_unknown_tables_are_refused() -> None:
    assert "did you mean 'network'" in refused({**STEP, "netwrok": {}})
    assert "did you mean 'spike'" in refused({**STEP, "spikes": {}})


@pytest.mark.parametrize("key", REQUIRED)
def test_missing_keys_are_named(key: str) -> None:
    data = put(key, None)
    table, name = key.split(".")
    del data[table][name]
    assert f"{key} is missing" in refused(data)


def test_missing_tables_are_named() -> None:
    for table in ("network", "target", "fit"):
        assert f"[{table}] is missing" in refused(
            {name: value for name, value in STEP.items() if name != table}
        )
    assert "[network] is missing" in refused({})
    for data in (None, 3, "x", [1]):
        assert "must be a table" in refused(data)


def test_step_and_spike_exclude_each_other() -> None:
    assert "both [step] and [spike]" in refused({**STEP, "spike": SPIKE["spike"]})


def test_every_block_needs_a_positive_bulk_variance() -> None:
    # c_b = 1 + u^2 (c - 1) > 0 is c > 1 - 1/u^2 = 0.75 for u = 2.
    data = put("spike.bulk_variance", 0.75)
    data["network"] = {**data["network"], "readout": {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}}
    text = refused(data)
    assert "spike.bulk_variance = 0.75" in text and "above 0.75" in text
    data["spike"]["bulk_variance"] = 0.76
    assert Model.from_dict(data).spike == Spike(1.5, 0.8, 0.76)


def test_records_are_checked_when_made_in_python() -> None:
    makers: list[Callable[[], object]] = [
        lambda: Step(samples=True, learning_rate=1.0),
        lambda: Fit(samples=1.0, ridge=math.nan),
        lambda: Network("tanh", 1.0, readout=(1.0,)),  # type: ignore[arg-type]
        lambda: Model(Network("tanh", 1.0), Target("sign"), {"samples": 1.0}),  # type: ignore[arg-type]
        lambda: Model(Network("tanh", 1.0), Target("sign"), Fit(1.0, 1.0), step=Spike(1.0, 0.5, 1.0)),  # type: ignore[arg-type]
    ]
    for make in makers:
        with pytest.raises(BadInput):
            make()


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
        ({"spike.strength": 1}, "spike.alignment is missing"),
        ({"spike": SPIKE["spike"]}, "both [step] and [spike]"),
        ({"fit.loss": "hinge"}, "square loss"),
        ({"network.readout.values": "[1]"}, "one fraction for each value"),
    ],
)
def test_replace_refuses(changes: dict[Any, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(STEP).replace(changes)
    assert words in str(caught.value)


def test_unknown_keys_of_replace_list_the_allowed_ones() -> None:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(STEP).replace({"nothing": 1})
    assert all(key in caught.value.hint for key in allowed_keys())


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "[network] is missing"),
    "no table": (b"width = 1", "unknown key 'width'"),
    "not toml": (b"[network]\nactivation = tanh\n", "line 2"),
    "duplicate": (b"[fit]\n[fit]\n", "not valid TOML"),
    "latin": (b"[network]\n# \xe9\n", "not UTF-8"),
    "null": (b"\x00", "not valid TOML"),
    "deep": (b"a = " + b"[" * 20000, "not valid TOML"),
    "digits": (b"a = " + b"9" * 20000, "not valid TOML"),
    "huge": (b"#" * 1_000_001, "larger than"),
    "date": (
        b"[fit]\nsamples = 2024-02-07\nridge=1\n[network]\nactivation='tanh'\nwidth=1\n",
        "[target] is missing",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_are_not_models(name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    path = tmp_path / "model.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        Model.from_toml(path)
    assert words in str(caught.value) and "model.toml" in str(caught.value)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        (tmp_path / "absent.toml", "does not exist"),
        (tmp_path, "is a folder"),
        ("", "does not exist"),
        ("a\x00b", "cannot be read"),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (0, "text or a Path"),
        (None, "text or a Path"),
    ]
    for path, words in cases:
        with pytest.raises(BadInput) as caught:
            Model.from_toml(path)
        assert words in str(caught.value)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.touch(mode=0)
    with pytest.raises(BadInput, match="cannot be read"):
        Model.from_toml(path)


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(Model.from_dict(STEP).to_toml(), encoding="utf-8-sig")
    assert Model.from_toml(path) == Model.from_dict(STEP)


def test_reading_a_model_needs_no_computer_algebra() -> None:
    code = "import sys, giantstep.model; sys.exit('sympy' in sys.modules or 'mpmath' in sys.modules)"
    root = Path(__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def junk(source: random.Random, depth: int = 0) -> object:
    leaves: list[object] = [
        None,
        True,
        0,
        -1,
        1.5,
        math.nan,
        math.inf,
        1e200,
        "",
        "tanh",
        "x",
        b"",
        (),
        {},
        [],
        1j,
    ]
    if depth > 2 or source.random() < 0.6:
        return source.choice(leaves)
    if source.random() < 0.5:
        return [junk(source, depth + 1) for _ in range(source.randint(0, 3))]
    words = ["values", "fractions", "samples", "ridge", "width", "x", "", 3]
    return {source.choice(words): junk(source, depth + 1) for _ in range(source.randint(0, 3))}


def test_any_junk_gives_a_model_or_bad_input() -> None:
    source = random.Random(11)
    outcomes = {True: 0, False: 0}
    for _ in range(4000):
        data = put(source.choice(list(allowed_keys())), junk(source))
        try:
            model = Model.from_dict(data)
        except BadInput as error:
            assert error.message
            outcomes[False] += 1
        else:
            assert Model.from_dict(model.to_dict()) == model
            outcomes[True] += 1
    assert min(outcomes.values()) > 100


def test_errors() -> None:
    assert (BadInput.exit_code, NotConverged.exit_code) == (2, 3)
    for kind in (GiantstepError, BadInput, NotConverged):
        error = pickle.loads(pickle.dumps(kind("what", "how")))
        assert type(error) is kind and (error.message, error.hint) == ("what", "how")
        assert str(error) == "what; how" and str(kind("what")) == "what"
