"""Functions given as SymPy expressions and callables, models by path and by plain keywords."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from scipy import special

import giantstep as gs

X, Z1, Z2, Y, F = sympy.symbols("x z1 z2 y f")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (lambda z: z * sympy.tanh(z), "z*tanh(z)"),
        (X * sympy.tanh(X), "z*tanh(z)"),
        (sympy.tanh, "tanh"),
        (lambda z: sympy.Max(0, z), "relu"),
        (np.tanh, "tanh(z)"),
        (math.erf, "erf(z)"),
        (special.expit, "sigmoid(z)"),
        (lambda z: 0.1 * z**2, "0.1*z**2"),
    ],
)
def test_activations(given: Any, text: str) -> None:
    assert gs.Network(given, 1.0).activation == text
    assert gs.model().replace({"network.activation": given}).network.activation == text


@pytest.mark.parametrize(
    ("given", "text"),
    [(lambda a, b: sympy.sign(a * b), "sign(z1*z2)"), (Z1 + Z2**2, "z1+z2**2"), (sympy.sign(X), "sign")],
)
def test_links(given: Any, text: str) -> None:
    link = gs.Target(given).link
    assert link.replace(" ", "") in (text, "z2**2+z1")
    assert gs.Target(link) == gs.Target(given)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (lambda y, f: (y - f) ** 2 / 2, "square"),
        (sympy.log(1 + sympy.exp(-Y * F)), "logistic"),
        (lambda y, f: sympy.sqrt(1 + (y - f) ** 2) - 1, "sqrt((-f+y)**2+1)-1"),
    ],
)
def test_losses(given: Any, name: str) -> None:
    assert gs.Fit(2.0, 0.1, given).loss.name == name


@pytest.mark.parametrize(
    ("table", "given", "words"),
    [
        ("network.activation", lambda z: np.tanh(z), "build it of SymPy's functions, as lambda z"),
        ("network.activation", lambda z: "z", "gives no SymPy expression"),
        ("network.activation", lambda z: 2, "does not depend on z"),
        ("network.activation", X + Y, "its symbols are z"),
        ("network.activation", gs.Model, "(a type) is not allowed"),
        ("target.link", lambda a, b, c, d, e: a, "at most 4 indices"),
        ("target.link", Z1 * X, "holds the symbol x; its symbols are z1, z2"),
        ("fit.loss", lambda y: y, "lambda y, f"),
        ("fit.loss", X * F, "holds the symbol x"),
    ],
)
def test_what_is_no_function_is_refused(table: str, given: Any, words: str) -> None:
    with pytest.raises(gs.BadInput) as told:
        gs.model().replace({table: given})
    assert words in str(told.value)
    assert table in str(told.value)


def test_text_loads_no_computer_algebra() -> None:
    code = "import giantstep as gs, sys; gs.model('relu', 'sign(z1*z2)', loss='huber'); print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_common_model() -> None:
    plain = gs.model("erf", link="tanh", ridge=0.5, loss="huber", learning_rate=None)
    assert plain == gs.Model(gs.Network("erf", 1.0), gs.Target("tanh"), gs.Fit(2.0, 0.5, gs.FitLoss("huber")))
    stepped = gs.model(readout=[1.0, -1.0], step_samples=3.0, width=0.5, flips=0.1)
    assert stepped.step == gs.Step(3.0, 1.0)
    assert stepped.network.readout == gs.Readout((1.0, -1.0), (0.5, 0.5))
    assert stepped.target.flips == 0.1
    spike = gs.Spike(1.0, 0.5, 1.0)
    assert gs.model(spike=spike).spike == spike and gs.model(spike=spike).step is None
    with pytest.raises(gs.BadInput, match="a spike is given"):
        gs.model(spike=spike, bulk="trained")
    with pytest.raises(gs.BadInput, match=r"network\.readout\.values"):
        gs.model(readout=[])
    for given in (3, "gaussian"):
        with pytest.raises(gs.BadInput, match="a list of values"):
            gs.model(readout=given)  # type: ignore[arg-type]
    with pytest.raises(gs.BadInput, match="from 1e-14 on, below 1"):
        gs.solve(plain, tolerance="x")  # type: ignore[arg-type]


def test_tables_are_changed_by_name() -> None:
    model = gs.model()
    assert model.replace(fit={"ridge": 0.3}) == model.replace({"fit.ridge": 0.3})
    nested = model.replace(network={"readout": {"values": [1.0, 2.0], "fractions": [0.5, 0.5]}, "width": 2.0})
    assert nested.network == gs.Network("tanh", 2.0, gs.Readout((1.0, 2.0), (0.5, 0.5)))
    assert model.replace(fit=gs.Fit(1.0, 1.0)).fit == gs.Fit(1.0, 1.0)
    assert model.replace({"fit.samples": 3.0}, step=None, spike={"strength": 1.0, "alignment": 0.5, "bulk_variance": 1})
    assert model.replace(fit={"loss": {"name": "huber", "delta": 2.0}}).fit.loss.values == (2.0,)
    with pytest.raises(gs.BadInput, match=r"did you mean 'fit\.ridge'"):
        model.replace(fit={"rigde": 0.3})
    with pytest.raises(gs.BadInput, match="did you mean 'fit'"):
        model.replace(fti={"ridge": 0.3})


def test_a_path_stands_for_its_model(tmp_path: Path) -> None:
    model, path = gs.model(ridge=0.5), tmp_path / "model.toml"
    path.write_text(model.to_toml())
    for given in (path, str(path), model.to_dict()):
        assert gs.solve(given).test_error == gs.solve(model).test_error
    assert gs.solve(model=path).model == model  # by its keyword too
    assert gs.solve_many(path, {"fit.ridge": [0.5]}).model == model
    assert [gs.solve_many([path, model])[name][0] for name in ("test_error",)] == [gs.solve(model).test_error]
    assert gs.solve_many(model.to_dict(), {"fit.ridge": [0.5]}).model == model
    assert gs.learnable(path) == gs.learnable(model)
    with pytest.raises(gs.BadInput, match="does not exist"):
        gs.tune("modle.toml")
    with pytest.raises(gs.BadInput, match="the model = 3"):
        gs.bounds(3)  # type: ignore[arg-type]


VERBS = ("solve", "simulate", "bounds", "compare", "gains", "gradient", "learned", "spectrum", "tune", "curve", "map")


@pytest.mark.parametrize("verb", [*VERBS, "verify", "derive"])
def test_every_verb_takes_a_path_and_says_so(verb: str) -> None:
    called = getattr(gs, verb)
    shown = str(inspect.signature(called))
    assert shown.startswith("(model: Model | dict | str | Path") and ": '" not in shown
    needed = {"dimension": 10, "seeds": 2} if verb in ("simulate", "compare") else {}
    more: dict[str, tuple[Any, ...]] = {"curve": ("fit.samples=1,2",), "map": ("fit.samples=1:2:2", "fit.ridge=1:2:2")}
    with pytest.raises(gs.BadInput, match="does not exist"):
        called("nowhere.toml", *more.get(verb, (print,) * (verb == "verify")), **needed)


@pytest.mark.parametrize("record", [gs.Network, gs.Fit, gs.Spike, gs.Inputs, gs.Model])
def test_signatures_of_records_are_plain(record: type) -> None:
    shown = str(inspect.signature(record))
    assert "Annotated" not in shown and "Number(" not in shown
