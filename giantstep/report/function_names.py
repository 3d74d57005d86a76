r"""Activation and link as symbols: averages of $\sigma(\cdot)$ in place of the whole expression, which is given once.

A derivation puts the user's function into every average. On paper it is read more easily as $\sigma$, or as $f$ in the
sections on one function, and written out where it is given and where an average has been carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from derive.gaussian.expectation import Expectation
from derive.trace import Derivation, DerivationStep

_NAMES = ("f", "sigma", "sigma_star")  # in the order in which they are tried


@dataclass(frozen=True)
class NamedFunction:
    """`head(*arguments) = body`, as it is given."""

    head: Any
    arguments: tuple[sympy.Symbol, ...]
    body: Any

    def written_out(self, expression: Any) -> Any:
        """The expression with the body in place of the name."""
        return expression.replace(self.head, lambda *at: self.body.subs(dict(zip(self.arguments, at, strict=True))))

    def named(self, average: Expectation) -> Expectation:
        """The average with the name in place of the body; as it was where that would not be the same."""
        found = average
        for at in self._places(average):
            body = self.body.subs(dict(zip(self.arguments, at, strict=True)))
            found = found.subs(body, self.head(*at))
        return found if self.written_out(found) == average else average

    def _places(self, average: Expectation) -> list[tuple[Any, ...]]:
        """What the function may be taken at: sums and symbols with a variable of the average, the longest first."""
        variables = set(average.variables)
        if len(self.arguments) > 1:
            return [tuple(average.variables)] if len(variables) == len(self.arguments) else []
        parts = {e for e in sympy.preorder_traversal(average.integrand) if e.is_Add or e.is_Symbol}
        parts |= {e.primitive()[1] for e in parts if e.is_Add}  # 2*(a + b) is kept as 2*a + 2*b
        of_variables = [e for e in parts if e.free_symbols & variables]
        return [(e,) for e in sorted(of_variables, key=lambda e: (-sympy.count_ops(e), str(e)))]


def with_functions_named(parts: Sequence[Derivation]) -> tuple[Derivation, ...]:
    """The same derivations; polynomials stay written out, as powers of a variable may be theirs or not."""
    general = {str(function.head): function for function in functions_of(parts)}
    found = []
    for part in parts:
        known = _given(part) or general
        named = [known[name] for name in _NAMES if name in known]
        found.append(replace(part, steps=tuple(_renamed(step, named) for step in part.steps)))
    return tuple(found)


def functions_of(parts: Sequence[Derivation]) -> tuple[NamedFunction, ...]:
    """Activation and link as the derivations give them; a link of several indices, where a step takes its averages."""
    found: dict[str, NamedFunction] = {}
    for number, part in enumerate(parts):
        given = _given(part)
        if "f" in given:  # of the activation first, then of the link
            name = "sigma" if number == 0 else "sigma_star"
            found[name] = replace(given["f"], head=sympy.Function(name))
        elif "sigma_star" in given:
            found.setdefault("sigma_star", given["sigma_star"])
    return tuple(found.values())


def _given(part: Derivation) -> dict[str, NamedFunction]:
    found = {}
    for step in part.steps:
        name = step.lhs.func.__name__ if isinstance(step.lhs, AppliedUndef) else ""
        if step.kind == "given" and name in _NAMES and all(each.is_Symbol for each in step.lhs.args):
            found[name] = NamedFunction(step.lhs.func, tuple(step.lhs.args), step.rhs)
    return found


def _renamed(step: DerivationStep, known: Iterable[NamedFunction]) -> DerivationStep:
    for function in known:
        if function.body.is_polynomial(*function.arguments):
            continue
        lhs, rhs = (_in_averages(side, function) for side in (step.lhs, step.rhs))
        step = step if (lhs, rhs) == (step.lhs, step.rhs) else replace(step, lhs=lhs, rhs=rhs)
    return step


def _in_averages(expression: Any, function: NamedFunction) -> Any:
    """Named inside every average of an expression."""
    averages = {e for e in sympy.preorder_traversal(expression) if isinstance(e, Expectation)}
    return expression.xreplace({average: function.named(average) for average in averages})
