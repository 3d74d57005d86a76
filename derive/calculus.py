"""Derivatives of index expressions: Kronecker deltas, definitions, matrix inverses, parallel sums, log-determinants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import sympy as sp

from derive.blocks import (
    KAPPA,
    BlockSum,
    Definition,
    LogDet,
    MatrixInverse,
    ParallelSum,
    block_field,
    family,
    family_name,
    fresh_indices,
    is_delta,
    member_indices,
    names_in,
    protect,
    rebuild,
    rename,
    used_indices,
    walk,
)
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation


def contract(expr: sp.Expr) -> sp.Expr:
    """Carry out sums over Kronecker deltas and other identities."""
    if not expr.args or isinstance(expr, (sp.Indexed, sp.KroneckerDelta)):
        return expr
    expr = rebuild(expr, [contract(arg) for arg in expr.args])
    if isinstance(expr, BlockSum) and _has_delta(expr.body):
        return sp.Add(*(_contract_term(term, expr.bound) for term in sp.Add.make_args(sp.expand_mul(expr.body))))
    return expr


def _contract_term(term: sp.Expr, bound: sp.Symbol) -> sp.Expr:
    for factor in sp.Mul.make_args(term):
        if is_delta(factor) and bound in (places := _places(factor)):
            (other,) = [place for place in places if place != bound] or [bound]
            rest = sp.Mul(*(f for f in sp.Mul.make_args(term) if f is not factor))
            return contract(rename(rest, {bound: other}))
    if isinstance(term, BlockSum):  # a delta hides one sum further in: exchange the sums
        return BlockSum(_contract_term(term.body, bound), term.bound) if _has_delta(term) else BlockSum(term, bound)
    return BlockSum(term, bound)


def _has_delta(expr: sp.Expr) -> bool:
    return any(map(is_delta, walk(expr)))


def _places(delta: sp.Expr) -> tuple[sp.Expr, ...]:
    """The two indices of an identity."""
    return tuple(delta.indices if isinstance(delta, sp.Indexed) else delta.args)


@dataclass(frozen=True)
class Calculus:
    """Derivatives through definitions, matrix inverses, parallel sums and log-determinants.

    ``definitions`` are differentiated through; ``inverses`` obey ``dP = -P dX P``; ``parallel`` sums their own rule;
    ``partials`` are functions of kappa known by their derivatives in other functions of kappa.
    """

    definitions: Mapping[str, Definition] = field(default_factory=dict)
    inverses: Mapping[str, MatrixInverse] = field(default_factory=dict)
    parallel: Mapping[str, ParallelSum] = field(default_factory=dict)
    symmetric: frozenset[str] = frozenset()
    partials: Mapping[str, Mapping[str, sp.Expr]] = field(default_factory=dict)

    def derivative(self, expr: sp.Expr, target: sp.Indexed) -> sp.Expr:
        """d expr / d target, contracted and in canonical form; ``target`` carries indices free in neither."""
        raw = self._raw(expr, target)
        return canonical(contract(raw), self.symmetric)

    def _raw(self, expr: sp.Expr, target: sp.Indexed) -> sp.Expr:
        name = family_name(expr)
        if name is not None:
            return self._member(expr, name, target)
        if not expr.args or isinstance(expr, sp.KroneckerDelta):
            return sp.S.Zero
        if isinstance(expr, sp.Add):
            return sp.Add(*(self._raw(arg, target) for arg in expr.args))
        if isinstance(expr, sp.Mul):
            slopes = [(i, self._raw(arg, target)) for i, arg in enumerate(expr.args)]
            return sp.Add(*(sp.Mul(slope, *expr.args[:i], *expr.args[i + 1 :]) for i, slope in slopes if slope != 0))
        if isinstance(expr, BlockSum):
            bound, body = expr.bound, expr.body
            if bound in target.free_symbols:
                (fresh,) = fresh_indices(1, used_indices(expr, target))
                body, bound = rename(body, {bound: fresh}), fresh
            return BlockSum(self._raw(body, target), bound)
        if isinstance(expr, Expectation):
            return Expectation(self._raw(expr.integrand, target), *expr.variables)
        if isinstance(expr, LogDet):
            return self._logdet(self.inverses[expr.inverse], expr.over, target)
        return (
            sp.Add(*(expr.fdiff(i + 1) * self._raw(arg, target) for i, arg in enumerate(expr.args)))
            if not isinstance(expr, sp.Pow)
            else self._power(expr, target)
        )

    @cached_property
    def _reach(self) -> Mapping[str, frozenset[str]]:
        """What each name stands for depends on these, directly or through others."""
        found = {name: names_in(inverse.entry) for name, inverse in self.inverses.items()}
        found |= {name: names_in(definition.body) for name, definition in self.definitions.items()}
        found |= {name: set(slopes) for name, slopes in self.partials.items()}
        found |= {name: names_in(node.a) | names_in(node.b) for name, node in self.parallel.items()}
        for through in found:  # as in Warshall's algorithm
            for names in found.values():
                if through in names:
                    names |= found[through]
        return {name: frozenset(names) for name, names in found.items()}

    def _power(self, expr: sp.Pow, target: sp.Indexed) -> sp.Expr:
        if names_in(expr.exp):
            raise ValueError(f"exponent {expr.exp} depends on order parameters")
        return expr.exp * expr.base ** (expr.exp - 1) * self._raw(expr.base, target)

    def _member(self, expr: sp.Expr, name: str, target: sp.Indexed) -> sp.Expr:
        indices = member_indices(expr)
        if name == family_name(target):
            return sp.Mul(*(sp.KroneckerDelta(i, j) for i, j in zip(indices, member_indices(target), strict=True)))
        if family_name(target) not in (None, *self._reach.get(name, ())):
            return sp.S.Zero
        if name in self.parallel:
            return self._parallel(self.parallel[name], indices, target)
        if name in self.partials:
            terms = self.partials[name].items()
            return sp.Add(*(slope * self._raw(block_field(of)(KAPPA), target) for of, slope in terms))
        if name in self.definitions:
            definition = self.definitions[name]
            body = protect(definition.at(indices), used_indices(target))
            return self._raw(body, target)
        if name in self.inverses:
            return self._inverse(self.inverses[name], indices, target)
        return sp.S.Zero

    def _inverse(self, inverse: MatrixInverse, indices: tuple[sp.Expr, ...], target: sp.Indexed) -> sp.Expr:
        first, last, *over = indices
        i, j = fresh_indices(2, used_indices(inverse.entry, *indices, target))
        change = self._raw(inverse.at(i, j, *over), target)
        base = family(inverse.name)
        return -BlockSum(BlockSum(base[(first, i, *over)] * change * base[(j, last, *over)], i), j)

    def _parallel(self, node: ParallelSum, indices: tuple[sp.Expr, ...], target: sp.Indexed) -> sp.Expr:
        first, last, *over = indices
        i, j = fresh_indices(2, used_indices(node.a, node.b, *indices, target))
        place = {node.row: i, node.column: j, **dict(zip(node.over, over, strict=True))}
        change_a, change_b = (self._raw(rename(entry, place), target) for entry in (node.a, node.b))
        ratio, itself = family(node.ratio), family(node.name)
        pairs = ((i, first), (j, last)) if node.transposed else ((first, i), (last, j))
        left, right = (ratio[(*pair, *over)] for pair in pairs)
        inner = left * change_a * right - itself[(first, i, *over)] * change_b * itself[(j, last, *over)]
        return BlockSum(BlockSum(inner, i), j)

    def _logdet(self, inverse: MatrixInverse, over: tuple[sp.Expr, ...], target: sp.Indexed) -> sp.Expr:
        i, j = fresh_indices(2, used_indices(inverse.entry, *over, target))
        change = self._raw(inverse.at(i, j, *over), target)
        return BlockSum(BlockSum(family(inverse.name)[(j, i, *over)] * change, i), j)
