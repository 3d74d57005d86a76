"""Passes over the nodes of kappa: functions of kappa from the families, averages from the functions.

A function of kappa is a sum over blocks of rows of features, and what is left is done node by node. An average is a
weight at each node, contracted with rows of features. The contractions are calls of the runtime, which run along the
nodes (``codegen/runtime/contractions.py``); only the part between them is written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.lower.loops import Loops
from codegen.lower.stages import Average
from codegen.places import BLOCK_COLUMNS, NODE
from codegen.plan import Node
from codegen.print.numba_loops import LoopPrinter
from derive.blocks import (
    KAPPA,
    BlockSum,
    block_field,
    family_name,
    member_indices,
    names_in,
    protect,
    used_indices,
)
from derive.symbols import SYMMETRIC
from derive.tangent import tangent_name

_SYMMETRIC = SYMMETRIC | {tangent_name(name) for name in SYMMETRIC}


@dataclass(frozen=True)
class Term:
    """``sum over bound of coefficient * product of features``, which is multiplied by ``prefactor`` at each node."""

    bound: tuple[sp.Symbol, ...]
    coefficient: sp.Expr
    features: tuple[sp.Expr, ...]
    prefactor: sp.Expr

    @property
    def symmetric(self) -> bool:
        """Whether exchange of the two indices changes nothing."""
        return (
            len(self.bound) == 2
            and isinstance(self.coefficient, sp.Indexed)
            and family_name(self.coefficient) in _SYMMETRIC
            and {family_name(f) for f in self.features} == {family_name(self.features[0])}
        )


@dataclass
class Passes:
    """Writes passes over the nodes into the text of ``loops``."""

    loops: Loops
    rows: int = 0  # further rows in use

    def write(self, fields: Sequence[Node], averages: Sequence[Average]) -> None:
        """Evaluate functions of kappa in order, then take averages."""
        rests = []
        for item in fields:
            rest, terms = split_sums(item.body)
            rests.append((item.name, rest + self._contract(item.name, terms)))
        split = [_split(average.integrand) for average in averages]
        weights: dict[sp.Expr, str] = {}
        for scalar, _ in split:
            weights.setdefault(scalar, "weight" if scalar == 1 else f"weight_{len(weights) + 1}")
        self.loops.places.reserve([name for name in weights.values() if name != "weight"], None)
        self._pointwise(rests, [(name, scalar) for scalar, name in weights.items() if scalar != 1])
        self._averages(averages, [(weights[scalar], indexed) for scalar, indexed in split])

    # --- functions of kappa ------------------------------------------------------------------------------------------

    def _contract(self, name: str, terms: Sequence[Term]) -> sp.Expr:
        """Write the sums over blocks of a function of kappa; what they leave in rows, as an expression."""
        rows: dict[sp.Expr, str] = {}
        total = sp.S.Zero
        for term in terms:
            if term.prefactor not in rows:
                rows[term.prefactor] = self._row(name if not rows else "")
                total += term.prefactor * block_field(rows[term.prefactor])(KAPPA)
        for row in rows.values():
            self.loops.text.line(f"clear(field, {row})")
        letters = [sp.Symbol(letter, integer=True) for letter in "bc"]
        renamed = [(rows[term.prefactor], _relettered(term, letters)) for term in terms]
        if renamed:
            with self.loops.text.loops(letters[:1]):
                for row, term in renamed:
                    self._add(row, term)
        return total

    def _row(self, name: str) -> str:
        if not name:
            self.rows += 1
            name = f"part_{self.rows}"
        self.loops.places.reserve([name], None)
        return name

    def _add(self, row: str, term: Term) -> None:
        """Add a term to a row, inside the loop over the first index; a symmetric one from one half of the pairs."""
        text, (b, *more) = self.loops.text, term.bound
        if not more:
            text.line(_added(row, self.loops.scalar(term.coefficient), self._feature_rows(term.features)))
            return
        (c,) = more
        if not term.symmetric:
            with text.loops([c]):
                text.line(_added(row, self.loops.scalar(term.coefficient), self._feature_rows(term.features)))
            return
        own = [factor.xreplace({c: b}) for factor in (term.coefficient, *term.features)]
        text.line(_added(row, self.loops.scalar(own[0]), self._feature_rows(own[1:])))
        with text.indent(f"for {c} in range({b}):"):
            coefficient = f"2.0*{self.loops.scalar(term.coefficient)}"
            text.line(_added(row, coefficient, self._feature_rows(term.features)))

    def _feature_rows(self, features: Sequence[sp.Expr]) -> list[str]:
        return [self.loops.places.row(str(family_name(f)), str(member_indices(f)[0])) for f in features]

    # --- node by node ------------------------------------------------------------------------------------------------

    def _pointwise(self, fields: Sequence[tuple[str, sp.Expr]], weights: Sequence[tuple[str, sp.Expr]]) -> None:
        """One loop over the nodes: functions of kappa in order, then weights of averages."""
        places, text = self.loops.places, self.loops.text
        own = [(name, body) for name, body in fields if body != block_field(name)(KAPPA)]
        places.reserve([name for name, _ in fields], None)
        if not own and not weights:
            return
        bodies = [body for _, body in own]
        given = sp.Function("weight", real=True)(KAPPA)
        scalars = [given * scalar for _, scalar in weights]
        written = [name for name, _ in own]
        shared, scalars = _shared(scalars)
        with text.indent(f"for {NODE} in range(N):"):
            local: dict[str, str] = {}
            parts = list(self._read([*bodies, *scalars, *(value for _, value in shared)]))
            for name in sorted(set(parts) - set(written)):
                text.line(f"{name}_n = {places.at_node(name)}")
                local[name] = f"{name}_n"
            for name, body in own:
                start = {**local, name: places.at_node(name)}
                text.line(f"{name}_n = {LoopPrinter(places, start).expression(_at_node(body))}{self.loops.label(name)}")
                text.line(f"{places.at_node(name)} = {name}_n")
                local[name] = f"{name}_n"
            printer = LoopPrinter(places, local)
            for symbol, value in shared:
                text.line(f"{symbol} = {printer.expression(_at_node(value))}")
            for (name, _), scalar in zip(weights, scalars, strict=True):
                text.line(f"{places.at_node(name)} = {printer.expression(_at_node(scalar))}")

    def _read(self, exprs: Sequence[sp.Expr]) -> Iterator[str]:
        """Functions of kappa, kappa itself among them, that expressions read."""
        for expr in exprs:
            yield from (str(node.func.__name__) for node in expr.atoms(AppliedUndef))
            if any(name in self.loops.places.scalars for name in _bare(expr)):
                yield from (name for name in _bare(expr) if name in self.loops.places.scalars)

    # --- averages ----------------------------------------------------------------------------------------------------

    def _averages(self, averages: Sequence[Average], split: Sequence[tuple[str, sp.Expr]]) -> None:
        """The contractions of weights with features, in one nest of loops."""
        text, printer = self.loops.text, LoopPrinter(self.loops.places)
        lines: list[tuple[Average, str, bool]] = []
        for average, (weight, indexed) in zip(averages, split, strict=True):
            array = "node" if weight == "weight" else "field"
            rows = [factor for factor in sp.Mul.make_args(indexed) if factor != 1]
            given = [array, weight, *["node"] * bool(rows), *self._feature_rows(rows)]
            call = f"{_AVERAGES[len(rows)]}({', '.join(given)})"
            factor = "" if average.factor == 1 else f"{printer.expression(average.factor)}*"
            same = len({family_name(row) for row in rows}) == 1
            lines.append((average, factor + call, same))
        for average, call, _ in lines:
            if not average.indices:
                text.line(f"{average.name} = {call}")
        if not any(average.indices for average, _, _ in lines):
            return
        b, c = (sp.Symbol(f"b{i}", integer=True) for i in range(2))
        with text.loops([b]):
            for average, call, _ in lines:
                if len(average.indices) == 1:
                    text.line(f"{self._member(average)} = {call}{self.loops.label(average.name)}")
            for symmetric in (True, False):
                of_pairs = [line for line in lines if len(line[0].indices) == 2 and line[2] is symmetric]
                self._pairs(of_pairs, c, symmetric)

    def _pairs(self, lines: Sequence[tuple[Average, str, bool]], c: sp.Symbol, symmetric: bool) -> None:
        if not lines:
            return
        text = self.loops.text
        with text.indent(f"for {c} in range({'b0 + 1' if symmetric else 'K'}):"):
            for average, call, _ in lines:
                text.line(f"{self._member(average)} = {call}{self.loops.label(average.name)}")
                if symmetric:
                    text.line(f"{self._member(average, turned=True)} = {self._member(average)}")

    def _member(self, average: Average, turned: bool = False) -> str:
        indices = [str(i) for i in average.indices]
        return self.loops.places.member(average.name, indices[::-1] if turned else indices)


_AVERAGES = ("sum_of", "average", "average_of_product")


def _added(row: str, coefficient: str, rows: Sequence[str]) -> str:
    call = ("add", "add_product")[len(rows) - 1]
    return f"{call}(field, {row}, {coefficient}, node, {', '.join(rows)})"


def split_sums(body: sp.Expr) -> tuple[sp.Expr, list[Term]]:
    """A function of kappa as what is done node by node, and the sums over features of the blocks.

    Raises ValueError where a sum is not linear in features of at most two blocks.
    """
    rest, terms = sp.S.Zero, []
    for part in sp.Add.make_args(body):
        if any(_has_features(node) for node in part.atoms(BlockSum)):
            terms += list(_terms(part, ()))
        else:
            rest += part
    return rest, terms


def _terms(expr: sp.Expr, bound: tuple[sp.Symbol, ...]) -> Iterator[Term]:
    """The terms of a product that holds sums over blocks, all of them outside."""
    for part in sp.Add.make_args(sp.expand(expr)):
        factors = list(sp.Mul.make_args(part))
        inner = next((f for f in factors if isinstance(f, BlockSum) and _has_features(f)), None)
        if inner is not None:
            factors.remove(inner)
            inner = protect(inner, used_indices(*factors, *bound))
            yield from _terms(sp.Mul(*factors) * inner.body, (*bound, inner.bound))
            continue
        features = [f for f in factors if _is_feature(f)]
        scalars = [f for f in factors if not _is_feature(f) and _varies(f)]
        others = [f for f in factors if not _is_feature(f) and not _varies(f)]
        if not 1 <= len(features) <= 2 or len(bound) != len(features):
            raise ValueError(f"no sum over features of one or two blocks: {part}")
        features.sort(key=lambda f: bound.index(member_indices(f)[0]))
        yield Term(bound, sp.Mul(*others), tuple(features), sp.Mul(*scalars))


def _relettered(term: Term, letters: Sequence[sp.Symbol]) -> Term:
    new = dict(zip(term.bound, letters, strict=False))
    old = {letter: sp.Symbol(f"{letter}_", integer=True) for letter in letters}
    first = {symbol: old.get(letter, letter) for symbol, letter in new.items()}
    back = {temporary: letter for letter, temporary in old.items()}

    def at(expr: sp.Expr) -> sp.Expr:
        return expr.xreplace(first).xreplace(back)

    return Term(tuple(new.values()), at(term.coefficient), tuple(map(at, term.features)), term.prefactor)


def _is_feature(expr: sp.Expr) -> bool:
    return isinstance(expr, AppliedUndef) and family_name(expr) in BLOCK_COLUMNS


def _has_features(expr: sp.Expr) -> bool:
    return bool(names_in(expr) & set(BLOCK_COLUMNS))


def _varies(expr: sp.Expr) -> bool:
    """Whether an expression depends on kappa."""
    return any(str(s).startswith("kappa") for s in expr.free_symbols)


def _split(integrand: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Factor without and factor with free block indices."""
    factors = sp.Mul.make_args(integrand)
    indexed = [f for f in factors if any(s.is_integer for s in f.free_symbols)]
    return sp.Mul(*(f for f in factors if f not in indexed)), sp.Mul(*indexed)


def _bare(expr: sp.Expr) -> set[str]:
    """Coordinates of kappa that stand outside functions."""
    if isinstance(expr, AppliedUndef):
        return set()
    if isinstance(expr, sp.Symbol):
        return {expr.name}
    return set().union(*(_bare(arg) for arg in expr.args)) if expr.args else set()


def _at_node(expr: sp.Expr) -> sp.Expr:
    """Bare coordinates of kappa as local variables."""
    if isinstance(expr, AppliedUndef):
        return expr
    if isinstance(expr, sp.Symbol):
        return sp.Symbol(f"{expr.name}_n", real=True) if expr.name.startswith("kappa") else expr
    return expr.func(*(_at_node(arg) for arg in expr.args)) if expr.args else expr


def _shared(exprs: Sequence[sp.Expr]) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
    """Common subexpressions first."""
    local = {node: sp.Symbol(f"at_{node.func.__name__}", real=True) for e in exprs for node in e.atoms(AppliedUndef)}
    back = {symbol: node for node, symbol in local.items()}
    names = sp.numbered_symbols("x", real=True)
    shared, reduced = sp.cse([e.xreplace(local) for e in exprs], symbols=names, order="canonical")
    return [(s, v.xreplace(back)) for s, v in shared], [e.xreplace(back) for e in reduced]
