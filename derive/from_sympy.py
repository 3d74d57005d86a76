"""From SymPy to a tree of the grammar, node by node: what is no function of the grammar is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy

from derive.gaussian.special import NormalCdf
from derive.language.catalogue import REGISTERED
from derive.language.grammar import FUNCTIONS, ExpressionError, Node, canonical, parse, shorten
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.to_sympy import to_sympy

_NAMES: Mapping[Any, str] = {
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.sinh: "sinh",
    sympy.cosh: "cosh",
    sympy.tanh: "tanh",
    sympy.atan: "arctan",
    sympy.erf: "erf",
    sympy.erfc: "erfc",
    sympy.sign: "sign",
    sympy.Abs: "abs",
    sympy.Heaviside: "step",
    NormalCdf: "Phi",
}
_ONE = Node("number", value=Fraction(1))


def text_of(expression: Any, variables: tuple[str, ...]) -> str:
    """The text of a SymPy expression in these variables: a registered name where it equals one, else in the grammar.

    Symbols are known by their names. Raises ExpressionError for what the grammar does not have.
    """
    real = {name: sympy.Symbol(name, real=True) for name in variables}
    expression = expression.xreplace({s: real[s.name] for s in expression.free_symbols if s.name in real})
    expression = expression.replace(lambda part: isinstance(part, sympy.Piecewise), _by_steps)
    return _registered(expression, real) or canonical(from_sympy(expression))


def from_sympy(expression: Any) -> Node:
    """The tree of a SymPy expression. Raises ExpressionError for a function or a number that the grammar has not."""
    if expression.is_Symbol:
        return Node("variable", value=expression.name)
    if expression in (sympy.pi, sympy.E):
        return Node("constant", value="pi" if expression == sympy.pi else "e")
    if isinstance(expression, sympy.Number | sympy.NumberSymbol):
        return _number(expression)
    for kind, convert in _CONVERTED.items():
        if isinstance(expression, kind):
            return convert(expression)
    name = _NAMES.get(expression.func)
    if name is None or expression.func is sympy.log and len(expression.args) > 1:
        raise ExpressionError(
            f"the expression holds {shorten(str(expression))}, which the grammar of model files has not",
            f"known are + - * / **, {' '.join(sorted(FUNCTIONS))}, and SymPy's Abs, Heaviside, Max, Min, Piecewise",
        )
    return Node("call", (from_sympy(expression.args[0]),), name)


def _registered(expression: Any, symbols: Mapping[str, Any]) -> str:
    """The registered name of an expression, or an empty text."""
    if set(symbols) == {"y", "f"}:
        texts = {name: loss.expression for name, loss in LOSSES.items() if not loss.parameters}
    elif set(symbols) == {"z"}:
        texts = {name: entry.expression for name, entry in REGISTERED.items()}
    else:
        return ""
    for name, text in texts.items():
        known = to_sympy(parse(text, tuple(symbols)), symbols)
        if expression in (known, known.rewrite(sympy.Heaviside)):
            return name
    return ""


def _number(value: Any) -> Node:
    if not value.is_finite or not value.is_real:
        raise ExpressionError(f"the expression holds {value}, which is not a finite real number", "change it")
    if value < 0:
        return Node("neg", (_number(-value),))
    if isinstance(value, sympy.Rational):
        top, bottom = (Node("number", value=Fraction(int(part))) for part in (value.p, value.q))
        return top if value.q == 1 else Node("div", (top, bottom))
    double = isinstance(value, sympy.Float) and value._prec <= 53
    return Node("number", value=Fraction(repr(float(value)) if double else str(value.evalf(40))))


def _sum(expression: Any) -> Node:
    first, *others = expression.as_ordered_terms()
    found = from_sympy(first)
    for term in others:
        if term.could_extract_minus_sign():
            found = Node("sub", (found, from_sympy(-term)))
        else:
            found = Node("add", (found, from_sympy(term)))
    return found


def _product(expression: Any) -> Node:
    """Numerator over denominator, the sign in front."""
    if expression.could_extract_minus_sign():
        return Node("neg", (from_sympy(-expression),))
    above, below = [], []
    for factor in expression.as_ordered_factors():
        if isinstance(factor, sympy.Rational):
            above += [from_sympy(sympy.Integer(factor.p))] if factor.p != 1 else []
            below += [from_sympy(sympy.Integer(factor.q))] if factor.q != 1 else []
        elif _divides(factor):
            below.append(from_sympy(1 / factor))
        else:
            above.append(from_sympy(factor))
    top = _joined("mul", above) if above else _ONE
    return Node("div", (top, _joined("mul", below))) if below else top


def _power(expression: Any) -> Node:
    if _divides(expression):
        return Node("div", (_ONE, from_sympy(1 / expression)))
    base, exponent = expression.args
    if exponent == sympy.S.Half:
        return Node("call", (from_sympy(base),), "sqrt")
    return Node("pow", (from_sympy(base), from_sympy(exponent)))


def _divides(expression: Any) -> bool:
    return isinstance(expression, sympy.Pow) and bool(expression.exp.is_number and expression.exp.is_negative)


def _largest(name: str) -> Callable[[Any], Node]:
    def convert(expression: Any) -> Node:
        parts = sorted(expression.args, key=sympy.default_sort_key)
        return reduce(lambda one, other: Node("call", (one, other), name), map(from_sympy, parts))

    return convert


def _by_steps(expression: Any) -> Any:
    """Pieces by steps: each counts where its condition holds and none before it does."""
    left, found = sympy.S.One, sympy.S.Zero
    for value, condition in expression.args:
        here = _indicator(condition)
        found, left = found + left * here * value, left * (1 - here)
    return found


def _indicator(condition: Any) -> Any:
    if condition == sympy.true:
        return sympy.S.One
    if isinstance(condition, sympy.StrictGreaterThan | sympy.GreaterThan):
        return sympy.Heaviside(condition.lhs - condition.rhs)
    if isinstance(condition, sympy.StrictLessThan | sympy.LessThan):
        return 1 - sympy.Heaviside(condition.lhs - condition.rhs)
    if isinstance(condition, sympy.And):
        return sympy.Mul(*map(_indicator, condition.args))
    raise ExpressionError(
        f"the condition {shorten(str(condition))} of a piece is not understood", "write inequalities, as z > 0"
    )


def _joined(op: str, nodes: Iterable[Node]) -> Node:
    return reduce(lambda one, other: Node(op, (one, other)), nodes)


_CONVERTED: Mapping[Any, Callable[[Any], Node]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.Max: _largest("max"),
    sympy.Min: _largest("min"),
}
