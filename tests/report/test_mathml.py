"""LaTeX of derivations as MathML: structure, brackets, names; what is not known is refused."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
import sympy
from sympy.printing.latex import greek_letters_set, tex_greek_dictionary

import giantstep as gs
from derive.printing import latex_lines
from giantstep.report.html_words import equation, formula, sentence, words
from giantstep.report.mathml import NotMathematics, display, inline
from giantstep.report.notation import SYMBOLS

CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "mover": 2, "munder": 2, "msubsup": 3, "munderover": 3}
MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "relu", "width": 1.0, "bias": "trained"},
        "step": {"samples": 2.0, "learning_rate": 1.5},
        "target": {"link": "sign", "flips": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.05, "loss": "logistic"},
    }
)


def parsed(mathml: str) -> ET.Element:
    """The tree, in which every element has as many children as MathML wants."""
    tree = ET.fromstring(mathml)
    for element in tree.iter():
        assert len(element) == CHILDREN.get(element.tag, len(element)), mathml
    return tree


def text_of(latex: str) -> str:
    return "".join(parsed(inline(latex)).itertext())


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"\hat{\zeta}_{b}", "ζ^b"),
        (r"\sigma_{\star}(t)", "σ⋆(t)"),
        (r"\mathbb{E}_{g}\left[g f^{2}\right]", "𝔼g[gf2]"),
        (r"\tfrac{1}{d}\operatorname{tr} C", "1dtrC"),
        (r"\left\{a \right.", "{a"),
        (r"|w|^{2}<1", "|w|2<1"),
        (r"\mathcal{L}_{0}", "ℒ0"),
        ("-1.25", "−1.25"),
        (r"L L^{\top} \sim \iint \varpi", "LL⊤∼∬ϖ"),
        (r"\sum_{\substack{0 \leq b \leq B\\0 \leq c \leq C}} x", "∑0≤b≤B0≤c≤Cx"),
        (r"P(y \mid s) = \binom{T}{y}", "P(y∣s)=(Ty)"),
    ],
)
def test_what_is_shown(latex: str, shown: str) -> None:
    assert text_of(latex) == shown


def test_scripts_stand_where_they_belong() -> None:
    assert [e.tag for e in parsed(inline(r"\sum_{b} x")).iter()][1:3] == ["mrow", "munder"]
    assert parsed(inline(r"x_{b}^{2}")).find(".//msubsup") is not None
    assert parsed(inline(r"\int\limits_{0}^{1} x")).find(".//munderover") is not None
    assert parsed(inline(r"f''")).find(".//msup") is not None


def test_brackets_stretch_about_fractions_only() -> None:
    def stretch(latex: str) -> set[str | None]:
        return {mo.get("stretchy") for mo in parsed(inline(latex)).iter("mo") if mo.text in ("(", ")")}

    assert stretch(r"\left(z \right)") == {"false"}
    assert stretch(r"\left(\frac{1}{z} \right)") == {"true"}


def test_cases_and_lines_are_tables() -> None:
    cases = parsed(inline(r"\begin{cases} 0 & \text{for}\: z < 0 \\1 & \text{otherwise} \end{cases}"))
    assert [len(row) for row in cases.iter("mtr")] == [2, 2]
    lines = parsed(display([r"a &= b", r"&\quad + c"]))
    assert [len(row) for row in lines.iter("mtr")] == [2, 2]


@pytest.mark.parametrize(
    "latex", [r"\unknown{x}", r"\left(x", "{x", "x}", r"\sqrt[3]{x}", r"\begin{array}x\end{array}"]
)
def test_what_is_not_known_is_refused_and_shown_as_it_is(latex: str) -> None:
    with pytest.raises(NotMathematics):
        inline(latex)
    assert formula(latex).startswith('<code class="latex">')
    assert equation([latex]).startswith('<code class="latex">')


def test_every_greek_letter_is_known() -> None:
    # a symbol with such a name is printed as the letter
    for letter in {*tex_greek_dictionary, *greek_letters_set}:
        assert "<code" not in formula(sympy.latex(sympy.Symbol(letter))), letter


STEP = {"samples": 3.0, "learning_rate": 1.0}
#: Changes of the model, and the number of its parts.
KINDS = {
    "trained": ({"step.bulk": "trained"}, 12),
    "two steps": ({"step": [STEP, STEP]}, 12),
    "density": ({"network.readout": {"density": "gaussian"}}, 12),
    "inputs": ({"inputs": {"capacity": 0.4, "source": 0.3, "modes": 50}}, 12),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_a_derivation_is_mathematics(kind: str) -> None:
    # trained bias, flips, a loss of the margin: every kind of step
    changes, count = KINDS[kind]
    derived = gs.derive(MODEL.replace(changes))
    assert len(derived.parts) == count
    for part in derived.parts:
        assert "<code" not in words(part.title)
        for step in part.steps:
            parsed(display(latex_lines(step.lhs, step.rhs)))
            assert "<code" not in sentence(step.sentence(), str)


def test_the_notation_is_mathematics() -> None:
    for symbol in SYMBOLS:
        assert "<code" not in formula(symbol.latex) + words(symbol.meaning)


def test_words_of_users_are_no_markup() -> None:
    assert words("a < b & $c<d$") == "a &lt; b &amp; <math><mrow><mi>c</mi><mo>&lt;</mo><mi>d</mi></mrow></math>"
