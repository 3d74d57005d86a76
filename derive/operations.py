"""Operations of a derivation: each takes labels of recorded steps and computes what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from derive.gaussian.expectation import Expectation, inverse_stein
from derive.gaussian.rules import close
from derive.trace import Claim, Operation


def differentiate(of: str, *by: Any, rule: str, sign: int = 1) -> Operation:
    """The derivative of a step in symbols, times a sign; left of the equation it stands as it is written down."""
    return Operation(
        "differentiate",
        rule,
        (of,),
        lambda e: sign * sympy.diff(e, *by),
        lambda e: sign * sympy.Derivative(e, *by, evaluate=False),
    )


def substitute(of: str, places: Mapping[Any, Any], rule: str, reads: tuple[str, ...] = ()) -> Operation:
    """A step with expressions put in for symbols; the value of a place may be the label of a step.

    reads: steps from which the other values were taken.
    """
    labels = tuple(value for value in places.values() if isinstance(value, str))

    def run(body: Any, *rest: Any) -> Any:
        found = iter(rest)
        return body.subs({old: next(found) if isinstance(new, str) else new for old, new in places.items()})

    def sides(result: Any, body: Any, *rest: Any) -> tuple[Any, Any]:
        found = iter(rest)
        values = [next(found) if isinstance(new, str) else new for new in places.values()]
        return sympy.Subs(body, tuple(places), tuple(values)), result

    return Operation("substitute", rule, (of, *labels, *reads), run, claim=Claim(sides))


def solve_for(of: str, unknown: Any, rule: str) -> Operation:
    """The only root of ``step = 0`` in an unknown. Raises ValueError where there is not exactly one."""

    def run(body: Any) -> Any:
        roots = sympy.solve(body, unknown)
        if len(roots) != 1:
            raise ValueError(f"{body} has {len(roots)} roots in {unknown}")
        return sympy.factor(roots[0])

    return Operation("solve", rule, (of,), run, claim=root_of(unknown))


def limit(of: str, variable: Any, to: Any, rule: str) -> Operation:
    """The limit of a step in a symbol."""
    return Operation(
        "limit",
        rule,
        (of,),
        lambda e: sympy.expand(sympy.limit(e, variable, to)),
        lambda e: sympy.Limit(e, variable, to),
    )


def closed_form(of: str, words: str = "") -> Operation:
    """The expectations of a step by the rules for Gaussian integrals; the rule names what was used."""

    def run(body: Any) -> Any:
        found, names = close_all(body)
        return found, ", ".join(names)

    return Operation("integrate", words, (of,), run, lambda e: e)


def close_all(expression: Any) -> tuple[Any, dict[str, None]]:
    """The expression with closed expectations, those left by an integral over one of several variables included."""
    rules: dict[str, None] = {}
    while True:
        nodes = sorted(expression.atoms(Expectation), key=sympy.default_sort_key)
        found = {node: close(node) for node in nodes}
        rules |= dict.fromkeys(name for _, names in found.values() for name in names)
        after = sympy.expand(expression.xreplace({node: result for node, (result, _) in found.items()}))
        if after == expression or not any(names for _, names in found.values()):
            return after, rules
        expression = after


def by_parts(of: str, variable: Any, rule: str) -> Operation:
    """Stein's lemma backwards on one expectation: E[w F'] = E[(z w - w') F]."""

    def run(body: Any) -> Any:
        constant, node = body.as_independent(Expectation)
        return constant * inverse_stein(node, variable)

    return Operation("integrate by parts", rule, (of,), run, lambda e: e)


AVERAGE_WRITTEN = "an average written down, which is computed later"
COMPOSED = "earlier results put together"


def computed(
    name: str,
    rule: str,
    *of: str,
    by: Callable[..., Any],
    before: Callable[..., Any] | None = None,
    test: Claim | str | None = None,
) -> Operation:
    """Any other computation on recorded steps, under the name of what it does.

    test: what can be tested about the result, or in words why there is nothing.
    """
    claim, untested = (None, test) if isinstance(test, str) else (test, "")
    return Operation(name, rule, of, by, before, claim, untested)


def equal(left: Callable[..., Any], *definitions: Any) -> Claim:
    """The claim that the result is equal to an expression in the right sides read."""
    return Claim(lambda result, *inputs: (left(*inputs), result), definitions)


def put_in(places: Callable[..., Mapping[Any, Any]]) -> Claim:
    """The claim that the result is the first right side at other values of some symbols."""

    def sides(result: Any, body: Any, *rest: Any) -> tuple[Any, Any]:
        found = places(*rest)
        return sympy.Subs(body, tuple(found), tuple(found.values())), result

    return Claim(sides)


def root_of(unknown: Any) -> Claim:
    """The claim that the first right side vanishes where an unknown that stands in it has the value found."""
    return Claim(lambda result, body, *_: (body.xreplace({unknown: result}), sympy.S.Zero))
