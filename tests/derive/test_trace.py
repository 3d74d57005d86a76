"""The trace: its three printings, and every recorded step as a number on both sides."""

import dataclasses

import pytest
import sympy

from derive.catalogue import REGISTERED
from derive.check import check_derivation, check_step
from derive.coefficients import conditional_coefficients
from derive.expectation import Expectation
from derive.scalar import scalar_function
from derive.trace import Derivation, DerivationStep, Recorder

Z, S = sympy.symbols("z s", real=True)


def example() -> Derivation:
    recorder = Recorder("A title with 100% & more_")
    right = recorder.record(
        "square",
        Expectation((Z + S) ** 2, Z),
        S**2 + 1,
        rule="the moment $\\mathbb{E}z^2=1$",
        source="[CUI24, App. B]",
    )
    assert right == S**2 + 1
    long = sympy.Add(*(sympy.Symbol(f"coefficient_{k}") * sympy.sin(k * S) for k in range(12)))
    recorder.record("long sum", S, long, rule="nothing_in particular", source="none", kind="definition")
    return recorder.finish()


def test_latex_is_one_numbered_equation_a_step_with_escaped_words() -> None:
    text = example().latex()
    assert text.count(r"\begin{align}") == text.count(r"\end{align}") == text.count(r"\label{eq:") == 2
    assert r"100\% \& more\_" in text and r"nothing\_in" in text
    assert "$\\mathbb{E}z^2=1$ [CUI24, App. B]" in text
    for block in text.split(r"\begin{align}")[1:]:
        body = block.split(r"\end{align}")[0]
        lines = body.strip().split("\\\\\n")
        assert all("&" in line for line in lines)
        assert all(r"\notag" in line for line in lines[:-1]) and r"\notag" not in lines[-1]
    assert text.count(r"\notag") >= 2
    assert text.count("{") == text.count("}")


def test_markdown_and_text() -> None:
    markdown = example().markdown()
    assert markdown.count("$$") == 4 and markdown.startswith("### ")
    plain = example().text()
    assert "$" not in plain and "\\" not in plain and "E_{z}[(s + z)**2]" in plain
    assert example()._repr_markdown_() == markdown
    assert example()._repr_latex_().startswith("$")


def test_printing_is_deterministic() -> None:
    texts = {conditional_coefficients(scalar_function("gelu")).derivation.latex() for _ in range(2)}
    assert len(texts) == 1


def test_misuse_is_refused() -> None:
    recorder = Recorder("t")
    recorder.record("a", S, S, rule="r", source="s")
    with pytest.raises(ValueError, match="already"):
        recorder.record("a", S, S, rule="r", source="s")
    with pytest.raises(ValueError, match="allowed"):
        DerivationStep("a", S, S, "r", "s", kind="guess")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="there are: square"):
        example().step("cube")


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_steps_of_the_coefficients_hold_to_fifty_digits(name: str) -> None:
    derivation = conditional_coefficients(scalar_function(name)).derivation
    checks = check_derivation(derivation, dps=50)
    assert checks
    for check in checks:
        assert check.error is not None and check.error < 1e-49, check.label


def test_a_wrong_step_is_caught() -> None:
    """The check itself can fail: a coefficient changed by 1e-40 shows."""
    derivation = conditional_coefficients(scalar_function("relu")).derivation
    step = derivation.step("mu1")
    assert check_step(step).error < 1e-49
    wrong = dataclasses.replace(step, rhs=step.rhs * (1 + sympy.Rational(1, 10**40)))
    assert check_step(wrong).error > 1e-42
