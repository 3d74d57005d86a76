"""Activation and link as symbols: the same averages, read more easily."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from sympy.core.function import AppliedUndef

import giantstep as gs
from derive.trace import Derivation, DerivationStep
from giantstep.report.function_names import with_functions_named


def model(activation: str, link: str, **network: Any) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, **network},
            "step": {"samples": 2.0, "learning_rate": 1.5},
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.05},
        }
    )


@pytest.mark.parametrize(
    ("activation", "link", "bias"),
    [("tanh", "tanh(2*z)", 0.0), ("z*tanh(z) + exp(-z**2)", "sign(z1*z2)", 0.3), ("tanh", "tanh", 0.0)],
)
def test_written_out_it_is_what_was_derived(activation: str, link: str, bias: float) -> None:
    derived = gs.derive(model(activation, link, bias=bias))
    named = with_functions_named(derived.parts)
    general = dict(zip(("sigma", "sigma_star"), (_given(part).get("f") for part in derived.parts[:2]), strict=True))
    count = 0
    for before, after in zip(derived.parts, named, strict=True):
        known = {name: step for name, step in {**general, **_given(before)}.items() if step is not None}
        for old, new in zip(before.steps, after.steps, strict=True):
            count += (old.lhs, old.rhs) != (new.lhs, new.rhs)
            assert [_written_out(side, known) for side in (new.lhs, new.rhs)] == [
                _written_out(side, known) for side in (old.lhs, old.rhs)
            ]
    assert count > 10


def _given(part: Derivation) -> dict[str, DerivationStep]:
    found = [step for step in part.steps if step.kind == "given" and isinstance(step.lhs, AppliedUndef)]
    return {step.lhs.func.__name__: step for step in found if step.lhs.func.__name__ in ("f", "sigma", "sigma_star")}


def _written_out(side: Any, known: dict[str, DerivationStep]) -> Any:
    for name, step in known.items():
        at, body = step.lhs.args, step.rhs
        side = side.replace(
            sympy.Function(name), lambda *new, at=at, body=body: body.subs(dict(zip(at, new, strict=True)))
        )
    return side


def test_averages_hold_the_symbol_and_the_definition_stands_once() -> None:
    named = with_functions_named(gs.derive(model("tanh", "tanh(2*z)")).parts)
    coefficients, _, step, features, *_ = named
    assert "f(sqrt(c)*g + s)" in str(coefficients.step("mu0 definition").rhs)
    assert str(step.step("moment mu_1").rhs) == "E_{z}[z*sigma(z)]"
    assert "sigma(" in str(features.step("mu1 of a block").rhs)
    written = [s.label for s in coefficients.steps if s.lhs.has(sympy.tanh) or s.rhs.has(sympy.tanh)]
    assert written == ["function", "value"]


def test_a_polynomial_stays_written_out() -> None:
    derived = gs.derive(model("tanh", "He(3, z)"))
    named = with_functions_named(derived.parts)
    assert named[1] == derived.parts[1]
