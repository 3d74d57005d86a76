"""Compact closed forms: a sum over transcendental factors, each with a factored coefficient."""

from __future__ import annotations

from typing import Any

import sympy

from derive.gaussian.expectation import Expectation
from derive.gaussian.rules.affine import ratio


def tidy(expression: Any) -> Any:
    """The same as a sum of (product of transcendental functions) * (factored algebraic coefficient)."""
    expression = sympy.sympify(expression)
    if not expression.free_symbols:
        return sympy.expand(expression)
    nodes = {node: sympy.Dummy(f"e{i}", real=True) for i, node in enumerate(_nodes(expression))}
    if nodes:  # an expectation that stays is one number: nothing is taken out of it
        return tidy(expression.xreplace(nodes)).xreplace({dummy: node for node, dummy in nodes.items()})
    roots: dict[Any, Any] = {}
    plain = expression.replace(_is_root, lambda e: _as_symbol(e, roots))
    atoms = sorted((a for a in _outermost(plain)), key=sympy.default_sort_key)
    carriers = {a: sympy.Dummy(f"f{i}", real=True) for i, a in enumerate(atoms)}
    back = {d: a for a, d in carriers.items()}
    restore = {d: sympy.sqrt(base) for base, d in roots.items()}
    groups: dict[Any, list[Any]] = {}
    for term in sympy.Add.make_args(sympy.expand(plain.xreplace(carriers), power_base=False)):
        key, coefficient = sympy.S.One, sympy.S.One
        for factor in sympy.Mul.make_args(term):
            if factor.free_symbols & set(back):
                key *= factor.xreplace(back).xreplace(restore)
            else:
                coefficient *= factor
        groups.setdefault(_one_exponential(key), []).append(coefficient)
    total = sympy.S.Zero
    for key in groups:
        coefficient = _factored(sympy.Add(*groups[key]), roots)
        total += coefficient.xreplace(restore) * key
    return total


def _nodes(expression: Any) -> list[Any]:
    return sorted(expression.atoms(Expectation), key=sympy.default_sort_key)


def _one_exponential(product: Any) -> Any:
    """All exponentials of a product as one, the exponent over a common denominator and factored."""
    exponents, rest = [], []
    for factor in sympy.Mul.make_args(product):
        base, times = factor.as_base_exp()
        if isinstance(factor, sympy.exp):
            exponents.append(factor.args[0])
        elif isinstance(base, sympy.exp):
            exponents.append(base.args[0] * times)
        else:
            rest.append(factor)
    if not exponents:
        return product
    return sympy.Mul(*rest, sympy.exp(ratio(sympy.Add(*exponents))))


def _is_root(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.base.is_Add and e.base.free_symbols)


def _as_symbol(power: Any, roots: dict[Any, Any]) -> Any:
    """base^(k/2) as the k-th power of a symbol for sqrt(base)."""
    doubled = 2 * power.exp
    if not doubled.is_Integer or (power.exp.is_Integer and power.exp > 0):
        return power
    if power.base not in roots:
        roots[power.base] = sympy.Dummy(f"r{len(roots)}", positive=True)
    return roots[power.base] ** doubled


def _outermost(expression: Any) -> set[Any]:
    found: set[Any] = set()
    stack = [expression]
    while stack:
        e = stack.pop()
        if e.is_Function:
            found.add(e)
        else:
            stack.extend(e.args)
    return found


def _factored(coefficient: Any, roots: dict[Any, Any]) -> Any:
    """Over a common denominator, even powers of the roots in the numerator carried out, factored."""
    if not coefficient.is_Add:
        return coefficient
    top, bottom = sympy.fraction(sympy.together(coefficient))
    for base, symbol in roots.items():
        polynomial = sympy.Poly(top, symbol) if top.is_polynomial(symbol) else None
        if polynomial is not None and polynomial.degree() >= 2:
            top = sum(c * base ** (k // 2) * symbol ** (k % 2) for (k,), c in polynomial.terms())
    return sympy.factor(sympy.expand(top)) / bottom
