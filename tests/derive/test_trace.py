"""The trace: its three verbs and printings, and every recorded step as a number on both sides."""

import dataclasses
import re

import pytest
import sympy

from derive.check import check_derivation, check_step
from derive.coefficients import conditional_coefficients
from derive.gaussian.expectation import Expectation
from derive.gaussian.rules import close
from derive.language.catalogue import REGISTERED
from derive.operations import computed
from derive.scalar import scalar_function
from derive.trace import Derivation, DerivationStep, Recorder

Z, S = sympy.symbols("z s", real=True)


def example() -> Derivation:
    recorder = Recorder("A title with 100% & more_")
    recorder.given("integrand", sympy.Symbol("q"), (Z + S) ** 2, "nothing_in particular")
    average = computed(
        "average",
        "the moment $\\mathbb{E}z^2=1$",
        "integrand",
        by=lambda q: close(Expectation(q, Z))[0],
        before=lambda q: Expectation(q, Z),
    )
    assert recorder.derive("square", None, average, "[CUI24, App. B]") == S**2 + 1
    long = sympy.Add(*(sympy.Symbol(f"coefficient_{k}") * sympy.sin(k * S) for k in range(12)))
    recorder.define("long sum", S, long, rule="nothing_in particular", source="none")
    return recorder.finish()


def test_latex_is_one_numbered_equation_a_step_with_escaped_words() -> None:
    text = example().latex()
    assert text.count(r"\begin{align}") == text.count(r"\end{align}") == text.count(r"\label{eq:") == 3
    assert r"100\% \& more\_" in text and r"nothing\_in" in text
    assert "$\\mathbb{E}z^2=1$, from \\emph{integrand} [CUI24, App. B]" in text
    for block in text.split(r"\begin{align}")[1:]:
        body = block.split(r"\end{align}")[0]
        lines = body.strip().split("\\\\\n")
        assert all("&" in line for line in lines)
        assert all(r"\notag" in line for line in lines[:-1]) and r"\notag" not in lines[-1]
    assert text.count(r"\notag") >= 2
    assert text.count("{") == text.count("}")


def test_labels_of_names_that_differ_in_capitals_only() -> None:
    recorder = Recorder("A Title")
    for name in ("H_left", "h_left"):
        recorder.given(name, sympy.Symbol(name), Z, "a name")
    labels = re.findall(r"\\label\{([^}]*)\}", recorder.finish().latex())
    assert labels == ["eq:a-title:H-left", "eq:a-title:h-left"]


def test_markdown_and_text() -> None:
    markdown = example().markdown()
    assert markdown.count("$$") == 6 and markdown.startswith("### ")
    plain = example().text()
    assert "$" not in plain and "\\" not in plain and "E_{z}[(s + z)**2]" in plain
    assert example()._repr_markdown_() == markdown
    assert example()._repr_latex_().startswith("$")


def test_printing_is_deterministic() -> None:
    texts = {conditional_coefficients(scalar_function("gelu")).derivation.latex() for _ in range(2)}
    assert len(texts) == 1


def test_misuse_is_refused() -> None:
    recorder = Recorder("t")
    recorder.given("a", S, S, "r")
    with pytest.raises(ValueError, match="already"):
        recorder.given("a", S, S, "r")
    with pytest.raises(ValueError, match="reads no recorded step"):
        recorder.derive("b", S, computed("type", "r", by=lambda: S))
    with pytest.raises(KeyError, match="no step 'c'"):
        recorder.derive("b", S, computed("copy", "r", "c", by=lambda c: c))
    with pytest.raises(ValueError, match="no left side"):
        recorder.derive("b", None, computed("copy", "r", "a", by=lambda a: a))
    with pytest.raises(ValueError, match="allowed"):
        DerivationStep("a", S, S, "r", "s", kind="guess")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="there are: integrand, square"):
        example().step("cube")


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_steps_of_the_coefficients_hold(name: str) -> None:
    """Closed forms by quadrature to 60 digits; of differences of an average 25 are left."""
    derivation = conditional_coefficients(scalar_function(name)).derivation
    found = {check.label: check for check in check_derivation(derivation)}
    closed = [step for step in derivation.steps if step.source.startswith(("Gaussian", "Hermite", "Stein"))]
    for step in closed:  # of low polynomials Parseval's sum is the difference itself
        assert found[step.label].outcome == "compared" or step.sides[0] == step.sides[1]
    for label, check in found.items():
        assert check.error is None or check.error < (1e-25 if label == "mu1 by Stein" else 1e-49), label


def test_a_wrong_step_is_caught() -> None:
    """The check itself can fail: a coefficient changed by 1e-40 shows."""
    derivation = conditional_coefficients(scalar_function("relu")).derivation
    step = derivation.step("mu1")
    assert check_step(step).error < 1e-49
    left, right = step.sides
    wrong = dataclasses.replace(step, claimed=lambda: (left, right * (1 + sympy.Rational(1, 10**40))))
    assert check_step(wrong).error > 1e-42
