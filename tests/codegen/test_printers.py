"""Every printer against every other: the same equation in each language has the same value."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from codegen.lower.loops import Loops
from codegen.lower.text import Text, wrapped
from codegen.places import Places
from codegen.print.equations import EquationPrinter
from codegen.print.mpmath_scalar import MpmathPrinter
from codegen.print.numba_loops import LoopPrinter
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function, Printer, Unprintable
from derive.blocks import KAPPA, BlockSum, block_field, family, index
from derive.gaussian.expectation import Expectation
from generated.runtime.certificate import evaluate, filled
from generated.runtime.equation_text import Contractions

B, C, E = index("b"), index("c"), index("e")
BETA = sp.Symbol("beta", positive=True)
BODY = (
    BlockSum(family("V1")[B, E] * family("T")[E] ** 2, E) / BETA
    - sp.Rational(3, 2) * family("T")[B]
    + family("V1")[B, B]
)
AVERAGE = Expectation(block_field("V")(KAPPA) * BlockSum(block_field("mu1")(C, KAPPA) * family("T")[C], C), KAPPA)
COLUMNS = ("kappa", "weight")
PRINTERS: dict[str, Printer] = {
    "numba": NumbaPrinter(),
    "mpmath": MpmathPrinter(),
    "loops": LoopPrinter(Places()),
    "arrays": ArrayPrinter(),
    "equations": EquationPrinter(),
}


def numbers() -> dict[str, Any]:
    draw = np.random.default_rng(3)
    return {
        "T": draw.uniform(0.5, 2.0, 2),
        "V1": draw.uniform(0.5, 2.0, (2, 2)),
        "V": draw.uniform(0.5, 2.0, 4),
        "mu1": draw.uniform(-1.0, 1.0, (2, 4)),
        "weight": draw.uniform(0.1, 0.4, 4),
        "beta": 0.7,
    }


def expected(known: dict[str, Any]) -> np.ndarray:
    v, t = known["V1"], known["T"]
    return np.array([sum(v[b, e] * t[e] ** 2 for e in range(2)) / 0.7 - 1.5 * t[b] + v[b, b] for b in range(2)])


def by_text(known: dict[str, Any], name: str, text: str) -> np.ndarray:
    """What the runtime makes of ``name[b] := ...`` or ``name := ...``."""
    node = np.zeros((2 + 3 * 2, 4))
    node[1], node[4:6] = known["weight"], known["mu1"]
    parameters = np.array([0.0, known["beta"], 0.0, 0.0, 0.0])
    layout, value = filled(Contractions(text, COLUMNS), node, np.ones(2), parameters, known)
    evaluate(layout.rows, value, np.abs(value))
    place, shape, _ = layout.defined[name]
    return value[place].reshape(shape)


def test_a_family_in_loops_on_arrays_and_as_text() -> None:
    known, text = numbers(), Text()
    places = Places(vectors=["T", "found"], matrices=["V1"])
    with text.loops([B]):
        scalar = Loops(text, places).scalar(BODY)
        text.line(LoopPrinter(places).member("found", [B]) + f" = {scalar}")
    room = {"vector": np.array([known["T"], [0.0, 0.0]]), "matrix": known["V1"][None], "K": 2, "beta": known["beta"]}
    exec("\n".join(text.lines), room | {"T": 0, "found": 1, "V1": 0}, room)
    arrays = eval(ArrayPrinter().expression(BODY), {"np": np}, known)
    (line,) = EquationPrinter().assignments([("found[b]", BODY)])
    for found in (room["vector"][1], arrays, by_text(known, "found", line)):
        assert found == pytest.approx(expected(known), rel=1e-14)


def test_an_average_on_arrays_and_as_text() -> None:
    known = numbers()
    exact = sum(known["weight"] * known["V"] * (known["T"] @ known["mu1"]))
    (line,) = EquationPrinter().assignments([("found", AVERAGE)])
    assert eval(ArrayPrinter().average(AVERAGE), {"np": np}, known) == pytest.approx(exact, rel=1e-14)
    assert by_text(known, "found", line) == pytest.approx(exact, rel=1e-14)


def test_a_function_of_numbers_in_all_languages() -> None:
    x = sp.Symbol("beta", positive=True)
    function = Function("f", "A function.", "beta", (("value", x**2 / 3 - 1 / (x + 2)),))
    for name in ("numba", "mpmath", "arrays", "loops"):
        room: dict[str, Any] = {"math": math, "mpmath": mpmath, "np": np}
        exec(function.text(PRINTERS[name]), room)
        assert float(room["f"](0.7)) == pytest.approx(0.49 / 3 - 1 / 2.7, rel=1e-14), name


@pytest.mark.parametrize("name", ["numba", "mpmath", "loops"])
def test_what_a_language_has_no_text_for_is_refused(name: str) -> None:
    for expr in (AVERAGE, BlockSum(family("T")[C], C)):
        with pytest.raises(Unprintable):
            PRINTERS[name].expression(expr)


def test_a_long_docstring_is_broken_between_words() -> None:
    named = ", ".join(f"psi_hat_{k}" for k in range(1, 13))
    lines = wrapped([f'    """Block 3, explicit: {named}."""'], 80)
    assert max(map(len, lines)) <= 80
    assert lines[-1] == '    """'
    assert " ".join(line.strip() for line in lines[:-1]) == f'"""Block 3, explicit: {named}.'


@pytest.mark.parametrize("count", [5, 20, 30, 80])
def test_many_names_are_broken_where_they_leave_no_room(count: int) -> None:
    names = [f"label_{k}" for k in range(count)]
    lines = wrapped([f"{', '.join(names)} = range({count})"], 80)
    room: dict[str, Any] = {}
    exec("\n".join(lines), room)
    assert max(map(len, lines)) <= 80 and [room[name] for name in names] == list(range(count))
