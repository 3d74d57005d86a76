"""Normal form of index expressions: constants outside, bound indices named by depth, symmetric indices ordered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import sympy as sp
from sympy.core.function import AppliedUndef

from derive.blocks import (
    INDEX_NAMES,
    BlockSum,
    Definition,
    family,
    family_name,
    index,
    member_indices,
    protect,
    rebuild,
    rename,
)
from derive.gaussian.expectation import Expectation

_LETTERS = tuple(index(letter + tail) for tail in ("", "1", "2") for letter in INDEX_NAMES)


def canonical(expr: sp.Expr, symmetric: frozenset[str] = frozenset()) -> sp.Expr:
    """Pull constants out of sums and expectations, name bound indices by depth, order symmetric indices."""
    previous = None
    while previous != expr:
        previous = expr
        expr = _pull(expr)
        expr = _order(_name(expr, expr.free_symbols, 0), symmetric)
    return expr


def _pull(expr: sp.Expr) -> sp.Expr:
    if not expr.args or isinstance(expr, (sp.Indexed, AppliedUndef)):
        return expr
    expr = rebuild(expr, [_pull(arg) for arg in expr.args])
    if isinstance(expr, BlockSum):
        return _pull_terms(expr.body, {expr.bound}, lambda body: BlockSum(body, expr.bound))
    if isinstance(expr, Expectation):
        return _pull_terms(
            expr.integrand, set(expr.variables), lambda body: Expectation(body, *expr.variables), split=False
        )
    return expr


def _pull_terms(
    body: sp.Expr, bound: set[sp.Symbol], wrap: Callable[[sp.Expr], sp.Expr], split: bool = True
) -> sp.Expr:
    if split:
        body = sp.expand_mul(body)
    else:
        body = _tidy_integrand(body)
    terms = sp.Add.make_args(body) if split else (body,)
    total: list[sp.Expr] = []
    for term in terms:
        inside: list[sp.Expr] = []
        outside: list[sp.Expr] = []
        for factor in sp.Mul.make_args(term):
            (inside if factor.free_symbols & bound else outside).append(factor)
        total.append(sp.Mul(*outside) * wrap(sp.Mul(*inside)))
    return sp.Add(*total)


def _tidy_integrand(body: sp.Expr) -> sp.Expr:
    """The shorter of the expanded and the factored integrand, with common factors outside brackets."""
    if not body.has(sp.Add):
        return body
    expanded = sp.factor_terms(sp.expand(body))
    kept = sp.factor_terms(body)
    return min((expanded, kept), key=lambda e: (e.count_ops(), sp.default_sort_key(e)))


def _name(expr: sp.Expr, free: set[sp.Basic], depth: int) -> sp.Expr:
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    if isinstance(expr, BlockSum):
        target = [letter for letter in _LETTERS if letter not in free][depth]
        body = expr.body if expr.bound == target else rename(protect(expr.body, {target}), {expr.bound: target})
        return BlockSum(_name(body, free, depth + 1), target)
    return rebuild(expr, [_name(arg, free, depth) for arg in expr.args])


def _order(expr: sp.Expr, symmetric: frozenset[str]) -> sp.Expr:
    if isinstance(expr, sp.Indexed):
        if family_name(expr) in symmetric:
            first, second, *over = expr.indices
            return expr.base[(*sorted((first, second), key=sp.default_sort_key), *over)]
        return expr
    if not expr.args:
        return expr
    return rebuild(expr, [_order(arg, symmetric) for arg in expr.args])


def fold(expr: sp.Expr, pattern: Definition) -> sp.Expr:
    """Write ``pattern`` back: every ``sum_e X[b, e] Y[e, c]`` or ``X[b] Y[b, c]`` that is its body becomes its name.

    The body has to be a product of family members, under at most one sum.
    """
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    expr = rebuild(expr, [fold(arg, pattern) for arg in expr.args])
    factors = sp.Mul.make_args(expr.body if isinstance(expr, BlockSum) else expr)
    body = pattern.body.body if isinstance(pattern.body, BlockSum) else pattern.body
    if isinstance(expr, BlockSum) != isinstance(pattern.body, BlockSum) or len(factors) < 2:
        return expr
    for match in _matches(list(sp.Mul.make_args(body)), factors):
        binding, used = match
        rest = sp.Mul(*(f for i, f in enumerate(factors) if i not in used))
        indices = tuple(binding[i] for i in pattern.indices)
        if isinstance(expr, BlockSum) and (
            binding[pattern.body.bound] != expr.bound or expr.bound in rest.free_symbols | set(indices)
        ):
            continue
        return fold(rest * family(pattern.name)[indices], pattern)
    return expr


def _matches(
    wanted: list[sp.Indexed], factors: tuple[sp.Expr, ...]
) -> Iterator[tuple[dict[sp.Symbol, sp.Expr], set[int]]]:
    """All ways to find the wanted members among the factors, with the indices they bind."""
    for places in permutations(range(len(factors)), len(wanted)):
        binding: dict[sp.Symbol, sp.Expr] = {}
        for want, place in zip(wanted, places, strict=True):
            have = factors[place]
            if family_name(have) != family_name(want):
                break
            pairs = list(zip(member_indices(want), member_indices(have), strict=True))
            if any(binding.setdefault(formal, actual) != actual for formal, actual in pairs):
                break
        else:
            yield binding, set(places)
