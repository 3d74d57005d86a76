"""Printed formulas: no line is too long, nothing is lost or moved where one is broken, names are symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import sympy as sp

import giantstep as gs
from derive.language.names import latex_name
from derive.latex_words import LINE, width
from derive.line_breaking import lines
from derive.network_step import Sigma, SigmaPrime
from derive.printing import latex_lines, latex_of
from derive.repeated_batch import Level, Slope
from derive.trace import DerivationStep

MODELS = {
    "one index, huber": gs.Model.from_toml("examples/huber_noise.toml"),
    "two indices, margin": gs.Model.from_dict(
        {
            "network": {"activation": "z*tanh(z) + 0.1", "width": 0.5, "bias": 0.2},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "sign(z1*z2)", "flips": 0.1},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
        }
    ),
    "stretched bulk": gs.Model.from_dict(
        {
            "network": {
                "activation": "relu",
                "width": 1.0,
                "initialisation": "gaussian",
                "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
            },
            "step": {"samples": 1.0, "learning_rate": 1.0, "bulk": "trained"},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    ),
}
SIZES = re.compile(r"\\(?:left|right|bigl|bigr|Bigl|Bigr)(?![a-zA-Z])")
LAYOUT = re.compile(r"\\quad(?![a-zA-Z])|\\times(?![a-zA-Z])|[&{}\s]")
REWRITTEN = ("frac", "sqrt", "exp", "^{-1}", "e^")


@pytest.fixture(scope="module", params=MODELS, ids=lambda name: name)
def steps(request: pytest.FixtureRequest) -> list[DerivationStep]:
    return [step for part in gs.derive(MODELS[request.param]).parts for step in part.steps]


def bare(latex: str) -> str:
    """Without what the layout adds: spaces, sizes of brackets, braces."""
    return LAYOUT.sub("", SIZES.sub("", latex))


def test_every_line_fits_and_holds_what_it_should(steps: list[DerivationStep]) -> None:
    broken = 0
    for step in steps:
        found = latex_lines(step.lhs, step.rhs)
        # a column of left sides stands before all lines
        before, aligned, _ = found[0].partition("&=")
        margin = width(before) if aligned else 0.0
        for number, line in enumerate(found):
            text = line if number == 0 else line.removeprefix("&")
            assert width(text.replace("&", "")) + (margin if number else 0.0) <= LINE + 1.5, (step.label, line)
            assert line.count(r"\left") == line.count(r"\right")
        if len(found) > 1:
            broken += 1
            whole = f"{latex_of(step.lhs)}={latex_of(step.rhs)}"
            if not any(mark in whole for mark in REWRITTEN):
                assert bare(" ".join(found)) == bare(whole), step.label
    assert broken > 3


def test_names_of_several_letters_are_symbols(steps: list[DerivationStep]) -> None:
    for name in set(names(steps)):
        shown = latex_name(name) or sp.latex(sp.Symbol(name))
        plain = re.sub(r"\\(?:mathrm|operatorname)\{\w+\}|\\[a-zA-Z]+", " ", shown)
        assert not re.search(r"[a-zA-Z]{3,}", plain), (name, shown)


def names(steps: list[DerivationStep]) -> Iterator[str]:
    for step in steps:
        for side in (step.lhs, step.rhs):
            for node in sp.preorder_traversal(side):
                if isinstance(node, sp.Symbol | sp.MatrixSymbol):
                    yield node.name
                elif isinstance(node, sp.core.function.AppliedUndef):
                    yield node.func.__name__


def test_matrices_keep_their_order() -> None:
    letters = [sp.MatrixSymbol(name, 3, 3) for name in "BAWTKZNXUD" * 6]
    product = sp.MatMul(*letters)
    found = lines("Y", latex_of(product))
    assert len(found) > 1
    assert re.findall("[A-Z]", "".join(found))[1:] == list("BAWTKZNXUD" * 6)
    a, b = sp.MatrixSymbol("A", 3, 3), sp.MatrixSymbol("B", 3, 3)
    assert latex_of(sp.MatAdd(b, sp.MatMul(sp.MatMul(-1, sp.Symbol("x")), a))) == r"- x A + B"


def test_what_is_wider_than_a_line_is_opened() -> None:
    x = sp.symbols("x:30")
    total, other = sp.Add(*x), sp.Add(*(i * j for i, j in zip(x, x[1:], strict=False)))
    for whole, marks in (
        (sp.sqrt(total), (r"\Bigl(", r"\Bigr)^{1/2}")),
        (sp.exp(total), (r"\exp\Bigl(", r"\Bigr)")),
        (total / (2 * sp.Symbol("V")), (r"\frac{1}{2 V} \bigl(", r"\bigr)")),
        (total / other, (r"\bigl(", r"\bigr)^{-1}")),
        (sp.cos(total) ** 2, (r"\cos^{2}\bigl(", r"\bigr)")),
        (total**3 * other, (r"\bigl(", r"\bigr)^{3}")),
    ):
        found = lines("y", latex_of(whole))
        text = " ".join(found)
        assert len(found) > 1
        assert all(mark in text for mark in marks), text
        assert all(width(line.replace("&", "")) <= LINE + 1.5 for line in found)
        assert [text.count(f"x_{{{place}}}") for place in range(30)] == [
            latex_of(whole).count(f"x_{{{place}}}") for place in range(30)
        ]
    left = lines(latex_of(total * sp.Symbol("z")), "1")
    assert left[-1] == r"&\quad = 1"
    assert all(line.startswith("&") for line in left)
    assert lines("y", "1") == ["y &= 1"]


def test_an_operator_stays_with_what_it_reads() -> None:
    index = sp.Symbol("b")
    terms = [
        rf"\sum_{{{index}}} \left(x_{{{n}}} + {n} y^{{{n}}} z_{{{n}}}\right) \partial_{{x}} f_{{{n}}}"
        for n in range(12)
    ]
    for line in lines("y", " ".join(terms)):
        assert not re.search(r"(?:\\sum_\{b\}|\\partial_\{x\})\s*$", line)


@pytest.mark.parametrize(
    ("name", "latex"),
    [("avg_l", r"\ell"), ("avg_M", "M_{V}"), ("avg_F", "F"), ("avg_tgh", "t g h"), ("avg_t_1ggh", "t_{1} g^{2} h")],
)
def test_averages_over_the_output_show_every_factor(name: str, latex: str) -> None:
    assert latex_name(name) == rf"\langle {latex}\rangle_{{\kappa}}"


def test_an_average_of_an_unknown_letter_loses_none() -> None:
    assert latex_name("avg_gw") is None


def test_no_bracket_of_a_derivation_is_empty(steps: list[DerivationStep]) -> None:
    for step in steps:
        assert not re.search(r"langle\s*\\rangle", latex_of(step.lhs) + latex_of(step.rhs)), step.label


def test_powers_of_functions_stand_behind_their_names() -> None:
    """The derivation of two steps on one batch has the square of sigma', and had no LaTeX."""
    x = sp.Symbol("x")
    powers = [latex_of(each(x) ** 2) for each in (Sigma, SigmaPrime, Level, Slope)]
    names = [r"\sigma", r"{\sigma'}", "{S_0}", "{S_0'}"]
    assert powers == [rf"{name}^{{2}}\left(x\right)" for name in names]
