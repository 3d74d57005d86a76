"""The model: every field with every kind of wrong value, records, tables and the round trips."""

import copy
import math
import pickle
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import (
    CHOICES,
    EXPRESSIONS,
    FILES,
    INPUTS,
    LISTS,
    LOSSES,
    MATRICES,
    MAY_BE_LEFT_OUT,
    NUMBERS,
    PLAIN,
    REQUIRED,
    SPIKE,
    STEP,
    TABLES,
    attribute,
    put,
    refused,
)

from giantstep.spec.errors import BadInput
from giantstep.spec.model import Fit, Model, Network, Readout, Spike, Step, Target, allowed_keys, value_keys
from giantstep.spec.schema import meaning_of


def test_every_key_of_the_file_is_tested_here() -> None:
    kinds = (NUMBERS, EXPRESSIONS, CHOICES, LOSSES, LISTS, MATRICES, FILES, MAY_BE_LEFT_OUT, TABLES)
    assert {key for kind in kinds for key in kind} == set(allowed_keys())
    assert set(value_keys()) == set(allowed_keys()) - {*TABLES}


@pytest.mark.parametrize("data", [STEP, SPIKE, INPUTS, PLAIN])
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
    assert full["network"]["bias"] == 0.0 and full["target"]["noise"] == 0.0 and full["fit"]["loss"] == "square"
    assert "step" not in full and "spike" not in full


def test_python_and_file_make_the_same_model() -> None:
    model = Model(
        network=Network("tanh", 1, Readout((1, -1), (0.25, 0.75)), bias=0.5, initialisation="gaussian"),
        target=Target("sign", 0.1, 0.1, 0.5),
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
    for value in (value for value in inside if low <= value <= high):
        model = Model.from_dict(put(key, value))
        assert attribute(model, key) == float(value) and type(attribute(model, key)) is float


@pytest.mark.parametrize("key", NUMBERS)
def test_numbers_out_of_bounds_are_refused(key: str) -> None:
    low, high = NUMBERS[key]
    rounding = 1.0001e-12 if key == "spike.alignment" else 0.0  # an overlap that was computed may be 1 + 2e-16
    ends = math.nextafter(low - rounding, -math.inf), math.nextafter(high + rounding, math.inf)
    outside = [*ends, -2e12, 2e12, 1e300, 10**400]
    outside += [math.nan, math.inf, -math.inf, np.float64("nan")]
    if low > 0:
        outside += [0, 0.0, -0.0, -1, 5e-324]
    if low == 0:
        outside += [-1, -5e-324]
    for value in outside:
        text = refused(put(key, value))
        meaning = meaning_of(key).removesuffix(', or "trained"')
        assert text.startswith(f"{key} = ") and f" is not allowed as {meaning}: give a " in text and "(a " not in text
        assert ("nan" in text) == (value != value) and f"{low:g}" in text.replace(">= 0", "0.0 ")


@pytest.mark.parametrize("key", NUMBERS)
def test_what_is_not_a_number_is_refused(key: str) -> None:
    wrong: list[object] = [True, False, np.bool_(True), None, "x", "1.0", b"1", [1.0], (1.0,), {"a": 1}, 1j]
    wrong += [date(2024, 2, 7), object(), np.array([1.0, 2.0]), lambda: 1.0]
    if key in ("spike.alignment", "spike.bulk_variance"):  # a list of several is for indices or blocks, of one a number
        wrong = [value for value in wrong if not isinstance(value, list | tuple | np.ndarray)]
    for value in wrong:
        assert f"{key} = " in refused(put(key, value))
    assert "without quotes" in refused(put(key, "1.0"))


@pytest.mark.parametrize("key", EXPRESSIONS)
def test_functions(key: str) -> None:
    for text in ("erf", " relu ", "erf(z/sqrt(2))", "z*Phi(z)", "exp(z/2)", "He(3,z)", "1/(1+exp(-z**3))"):
        assert attribute(Model.from_dict(put(key, text)), key) == text.strip()
    wrong = [None, 1, 1.0, True, ["tanh"], {"name": "tanh"}, np.hypot, ""]
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


def test_the_bulk_may_be_trained() -> None:
    model = Model.from_dict(put("step.bulk", " trained "))
    assert model.step is not None and model.step.bulk == "trained"
    assert '"isotropic" or "trained" or "matrix"' in refused(put("step.bulk", "other"))


def test_the_bias_may_be_trained() -> None:
    model = Model.from_dict(put("network.bias", " trained "))
    assert model.network.bias == "trained" and model.network.trains_bias
    assert model.network.initial_bias == 0.0
    assert Model.from_dict(STEP).network.initial_bias == 0.5 and not Model.from_dict(STEP).network.trains_bias
    assert "did you mean 'trained'" in refused(put("network.bias", "train"))
    assert "without quotes" in refused(put("network.bias", "0.5"))
    assert '"trained"' in refused(put("network.bias", "x"))


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
    wrong += [[math.nan, 1.0], [math.inf, 1.0], [1e13, 1.0], {1.0, 2.0}, [1.0] * 257, np.eye(2)]
    for value in wrong:
        assert key in refused(put(key, value))
    assert f"{key}[1]" in refused(put(key, [0.5, "x"]))


def test_readout_conditions() -> None:
    def readout(values: object, fractions: object) -> dict[str, Any]:
        return put("network.readout", {"values": values, "fractions": fractions})

    assert "one fraction for each value" in refused(readout([1.0], [0.5, 0.5]))
    three = Model.from_dict(put("network.readout", {"values": [1.0, 2.0, 3.0]}))
    assert three.network.readout.fractions == (1.0 / 3.0,) * 3
    assert len(three.replace({"network.readout.values": [1.0, 2.0]}).network.readout.fractions) == 2
    uneven = three.replace({"network.readout": {"values": [1.0, 2.0], "fractions": [0.3, 0.7]}})
    with pytest.raises(BadInput, match="values has 3 entries and fractions has 2"):
        uneven.replace({"network.readout.values": [1.0, 2.0, 3.0]})
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
            assert f"did you mean '{key}'" in text and f"[{table}]" in text and text.count("'") <= 2 * 4
    text = refused(put(f"{table}.unrelated", 1.0))
    assert "'unrelated'" in text and text.endswith(f"has the keys {', '.join(key for key in keys if '.' not in key)}")
    data = put(table, {3: 1.0})
    assert "unknown key 3" in refused(data)


@pytest.mark.parametrize(
    ("given", "meant"), [("fit.lambda", "ridge"), ("fit.alpha", "samples"), ("step.eta", "learning_rate")]
)
def test_keys_are_known_by_their_symbols(given: str, meant: str) -> None:
    assert f"did you mean '{meant}'" in refused(put(given, 1.0))


@pytest.mark.parametrize("given", ["network.depth", "network.layers", "fit.epochs"])
def test_what_no_model_has_is_told(given: str) -> None:
    """As the nearest key to "depth" by its letters is the width."""
    words = "each table [[step]] is one giant step" if given == "fit.epochs" else "a network has two layers"
    assert words in refused(put(given, 3)) and "did you mean" not in refused(put(given, 3))
    with pytest.raises(BadInput) as caught:
        Model.from_dict(STEP).replace({given: 3})
    assert words in str(caught.value.hint)


def test_a_list_of_readout_values_is_answered_by_a_table_of_them() -> None:
    assert refused(put("network.readout", [1, -1])).endswith("for example readout = { values = [1.0, -1.0] }")


def test_the_name_of_a_loss_is_set_as_the_loss() -> None:
    with pytest.raises(BadInput) as caught:
        Model.from_dict(STEP).replace({"fit.loss.name": "huber"})
    assert caught.value.hint == "the name is that of fit.loss itself: set fit.loss"


def test_unknown_tables_are_refused() -> None:
    assert "did you mean 'network'" in refused({**STEP, "netwrok": {}})
    assert "did you mean 'spike'" in refused({**STEP, "spikes": {}})


@pytest.mark.parametrize("key", REQUIRED)
def test_missing_keys_are_named(key: str) -> None:
    data = put(key, None)
    table, name = key.split(".")
    del data[table][name]
    assert refused(data) == f"{key} is missing: {meaning_of(key)}; add it to [{table}]"


def test_missing_tables_are_named() -> None:
    for table, words in (("network", "two-layer network"), ("target", "labels y ="), ("fit", "fit of the readout")):
        text = refused({name: value for name, value in STEP.items() if name != table})
        assert f"the table [{table}] is missing: {words}" in text
    assert "[network] is missing" in refused({})
    for data in (None, 3, "x", [1]):
        assert "give a table" in refused(data)


def test_step_and_spike_exclude_each_other() -> None:
    for spike in (SPIKE["spike"], {}, {"strength": 1.0}):  # before what one of them may lack
        for step in (STEP["step"], [STEP["step"]], {}):
            assert "both [step] and [spike]" in refused({**STEP, "step": step, "spike": spike})


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


def test_a_key_of_an_absent_table_says_so() -> None:
    with pytest.raises(
        BadInput, match=r"the model has no \[step\]; with the given keys as .*: step.samples is missing"
    ):
        Model.from_dict(PLAIN).replace({"step.learning_rate": 1.0})
    with pytest.raises(BadInput, match=r"no \[step\]; .* both \[step\] and \[spike\]") as refusal:
        Model.from_dict(SPIKE).replace({"step.learning_rate": 1.0})
    assert refusal.value.hint == "keep one of them, or neither"
    both = Model.from_dict(PLAIN).replace({"step.learning_rate": 1.0, "step.samples": 2.0})
    assert both.step == Step(samples=2.0, learning_rate=1.0)


@pytest.mark.parametrize(
    ("text", "value"), [(".499", 0.499), ("5.", 5.0), ("1e3", 1000.0), ("+2", 2.0), ("01.5", 1.5), ("+.25e1", 2.5)]
)
def test_numbers_are_set_as_python_writes_them(text: str, value: float) -> None:
    model = Model.from_dict(PLAIN)
    assert model.replace({"fit.samples": text}).fit.samples == value
    readout = f"{{values = [-{text.lstrip('+')}, {text}], fractions = [.5, 5e-1]}}"
    assert model.replace({"network.readout": readout}).network.readout.values == (-value, value)


def test_texts_are_not_read_as_numbers() -> None:
    for text in ("1.2.3", "2 .5", "'.5'"):
        with pytest.raises(BadInput, match=r"fit\.samples"):
            Model.from_dict(PLAIN).replace({"fit.samples": text})
    for link in ("'.5 * tanh(z)'", ".5 * tanh(z)"):
        assert Model.from_dict(PLAIN).replace({"target.link": link}).target.link == ".5 * tanh(z)"
