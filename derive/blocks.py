"""Index calculus over readout blocks: sums over blocks, families of order parameters, derivatives.

The number of blocks K stays a symbol: an expression such as ``sum_c T_c zeta_hat_c`` is differentiated with
respect to ``zeta_hat_d`` by Kronecker deltas, so one derivation holds for every K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE

from derive.expectation import Expectation

KAPPA = sp.Symbol("kappa", real=True)
INDEX_NAMES = "abcdefghijklopqrsuvwxyz"


def index(name: str) -> sp.Symbol:
    """A block index."""
    return sp.Symbol(name, integer=True)


def family(name: str) -> sp.IndexedBase:
    """A family of scalars labelled by one or two block indices."""
    return sp.IndexedBase(name, real=True)


def block_field(name: str) -> Callable[..., sp.Expr]:
    """A function of kappa, one per block or shared: ``block_field("mu0")(b, KAPPA)``."""
    return sp.Function(name, real=True)  # type: ignore[no-any-return]


class BlockSum(sp.Expr):
    """Sum over one block index, ``BlockSum(body, b)``; the index is bound."""

    is_commutative = True
    precedence = PRECEDENCE["Add"]  # brackets in products and powers, as for a sum

    def __new__(cls, body: sp.Expr, bound: sp.Symbol) -> sp.Expr:
        body = sp.sympify(body)
        if body == 0:
            return sp.S.Zero
        return sp.Expr.__new__(cls, body, bound)

    @property
    def body(self) -> sp.Expr:
        return self.args[0]

    @property
    def bound(self) -> sp.Symbol:
        return self.args[1]

    @property
    def free_symbols(self) -> set[sp.Basic]:
        free: set[sp.Basic] = self.body.free_symbols - {self.bound}
        return free

    @property
    def bound_symbols(self) -> list[sp.Symbol]:
        return [self.bound]

    def _latex(self, printer: sp.printing.printer.Printer) -> str:
        body = printer._print(self.body)
        if self.body.is_Add:
            body = rf"\left({body}\right)"
        return rf"\sum_{{{printer._print(self.bound)}}} {body}"

    def _sympystr(self, printer: sp.printing.printer.Printer) -> str:
        return f"sum_{printer._print(self.bound)}({printer._print(self.body)})"


class LogDet(sp.Expr):
    """``log det`` of the K x K matrix whose inverse is the family ``inverse``; differentiates by Jacobi's formula."""

    is_commutative = True

    def __new__(cls, inverse: str) -> sp.Expr:
        return sp.Expr.__new__(cls, sp.Symbol(inverse))

    @property
    def inverse(self) -> str:
        return str(self.args[0])

    def _latex(self, printer: sp.printing.printer.Printer) -> str:
        return rf"\log\det {printer._print(self.args[0])}^{{-1}}"


@dataclass(frozen=True)
class Definition:
    """``name[indices] = body`` (or ``name(indices, kappa) = body`` for a function of kappa)."""

    name: str
    indices: tuple[sp.Symbol, ...]
    body: sp.Expr

    def at(self, indices: Iterable[sp.Expr]) -> sp.Expr:
        """The body with its formal indices replaced."""
        return rename(self.body, dict(zip(self.indices, indices, strict=True)))


@dataclass(frozen=True)
class MatrixInverse:
    """``name = (entry)^-1`` as a K x K matrix; ``entry`` depends on the indices ``row`` and ``column``."""

    name: str
    row: sp.Symbol
    column: sp.Symbol
    entry: sp.Expr


@dataclass(frozen=True)
class ParallelSum:
    """``name = (A^-1 + B)^-1`` as K x K matrices, without inverting A: ``dX = L dA L^T - X dB X``, ``L = X A^-1``.

    ``a`` and ``b`` are the entries over (row, column); ``ratio`` names the family L, ``transposed`` where it is L^T.
    """

    name: str
    row: sp.Symbol
    column: sp.Symbol
    a: sp.Expr
    b: sp.Expr
    ratio: str
    transposed: bool


def walk(expr: sp.Basic) -> Iterator[sp.Basic]:
    """Every node, bound indices included, parents first."""
    return sp.preorder_traversal(expr)  # type: ignore[no-any-return]


def used_indices(*exprs: sp.Basic) -> set[sp.Symbol]:
    """All integer symbols that occur anywhere, bound or free."""
    return {node for expr in exprs for node in walk(expr) if isinstance(node, sp.Symbol) and node.is_integer}


def fresh_indices(count: int, taken: set[sp.Symbol]) -> tuple[sp.Symbol, ...]:
    """``count`` indices that do not occur in ``taken``."""
    free = (index(letter + tail) for tail in ("", "1", "2", "3") for letter in INDEX_NAMES)
    chosen: list[sp.Symbol] = []
    for candidate in free:
        if candidate not in taken:
            chosen.append(candidate)
        if len(chosen) == count:
            return tuple(chosen)
    raise ValueError("ran out of block indices: the expression nests too many sums")


def rename(expr: sp.Expr, mapping: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Replace free indices without capture by a bound one."""
    mapping = {old: new for old, new in mapping.items() if old != new}
    if not mapping or not expr.args:
        return mapping.get(expr, expr)
    if isinstance(expr, BlockSum):
        inner = {old: new for old, new in mapping.items() if old != expr.bound}
        incoming = set().union(*(new.free_symbols for new in inner.values())) if inner else set()
        bound, body = expr.bound, expr.body
        if bound in incoming:
            (fresh,) = fresh_indices(1, used_indices(body) | incoming | set(inner))
            body, bound = rename(body, {bound: fresh}), fresh
        return BlockSum(rename(body, inner), bound)
    return rebuild(expr, [rename(arg, mapping) for arg in expr.args])


def rebuild(expr: sp.Basic, args: list[sp.Basic]) -> sp.Basic:
    """The same node over new arguments."""
    return expr if all(new is old for new, old in zip(args, expr.args, strict=True)) else expr.func(*args)


def family_name(expr: sp.Basic) -> str | None:
    """Name of the family or function of kappa that ``expr`` is a member of."""
    if isinstance(expr, sp.Indexed):
        return str(expr.base.label)
    if isinstance(expr, AppliedUndef):
        return str(expr.func.__name__)
    return None


def member_indices(expr: sp.Basic) -> tuple[sp.Expr, ...]:
    """Block indices of a family member (kappa left out)."""
    if isinstance(expr, sp.Indexed):
        return tuple(expr.indices)
    return tuple(arg for arg in expr.args if arg != KAPPA)


def names_in(expr: sp.Basic) -> set[str]:
    """Names of all families and functions of kappa in ``expr``."""
    return {name for node in walk(expr) if (name := family_name(node)) is not None}


def substitute(expr: sp.Expr, definitions: Mapping[str, Definition]) -> sp.Expr:
    """Replace members of defined families by their bodies (once, not recursively)."""
    name = family_name(expr)
    if name is not None and name in definitions:
        return definitions[name].at(member_indices(expr))
    if isinstance(expr, sp.Indexed) or not expr.args:
        return expr
    if isinstance(expr, BlockSum):
        # the bodies put in may carry free indices equal to this bound one only through `at`, which renames
        return BlockSum(substitute(expr.body, definitions), expr.bound)
    return rebuild(expr, [substitute(arg, definitions) for arg in expr.args])


def contract(expr: sp.Expr) -> sp.Expr:
    """Carry out sums over Kronecker deltas."""
    if not expr.args or isinstance(expr, (sp.Indexed, sp.KroneckerDelta)):
        return expr
    expr = rebuild(expr, [contract(arg) for arg in expr.args])
    if isinstance(expr, BlockSum) and expr.body.has(sp.KroneckerDelta):
        return sp.Add(
            *(_contract_term(term, expr.bound) for term in sp.Add.make_args(sp.expand_mul(expr.body)))
        )
    return expr


def _contract_term(term: sp.Expr, bound: sp.Symbol) -> sp.Expr:
    for factor in sp.Mul.make_args(term):
        if isinstance(factor, sp.KroneckerDelta) and bound in factor.args:
            (other,) = [arg for arg in factor.args if arg != bound] or [bound]
            rest = sp.Mul(*(f for f in sp.Mul.make_args(term) if f is not factor))
            return contract(rename(rest, {bound: other}))
    if isinstance(term, BlockSum):  # a delta hides one sum further in: exchange the sums
        return (
            BlockSum(_contract_term(term.body, bound), term.bound)
            if term.has(sp.KroneckerDelta)
            else BlockSum(term, bound)
        )
    return BlockSum(term, bound)


@dataclass(frozen=True)
class Calculus:
    """Derivatives through definitions, matrix inverses and declared rules.

    ``definitions`` are differentiated through; ``inverses`` obey ``dP = -P dX P``; ``parallel`` sums their own rule;
    ``rules`` map a name to a function ``(indices, target) -> derivative`` and take precedence.
    """

    definitions: Mapping[str, Definition] = field(default_factory=dict)
    inverses: Mapping[str, MatrixInverse] = field(default_factory=dict)
    parallel: Mapping[str, ParallelSum] = field(default_factory=dict)
    rules: Mapping[str, Callable[[tuple[sp.Expr, ...], sp.Indexed], sp.Expr]] = field(default_factory=dict)
    symmetric: frozenset[str] = frozenset()

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
            return sp.Add(
                *(
                    sp.Mul(self._raw(arg, target), *expr.args[:i], *expr.args[i + 1 :])
                    for i, arg in enumerate(expr.args)
                )
            )
        if isinstance(expr, BlockSum):
            bound, body = expr.bound, expr.body
            if bound in target.free_symbols:
                (fresh,) = fresh_indices(1, used_indices(expr, target))
                body, bound = rename(body, {bound: fresh}), fresh
            return BlockSum(self._raw(body, target), bound)
        if isinstance(expr, Expectation):
            return Expectation(self._raw(expr.integrand, target), *expr.variables)
        if isinstance(expr, LogDet):
            return self._logdet(self.inverses[expr.inverse], target)
        return (
            sp.Add(*(expr.fdiff(i + 1) * self._raw(arg, target) for i, arg in enumerate(expr.args)))
            if not isinstance(expr, sp.Pow)
            else self._power(expr, target)
        )

    def _power(self, expr: sp.Pow, target: sp.Indexed) -> sp.Expr:
        if names_in(expr.exp):
            raise ValueError(f"exponent {expr.exp} depends on order parameters")
        return expr.exp * expr.base ** (expr.exp - 1) * self._raw(expr.base, target)

    def _member(self, expr: sp.Expr, name: str, target: sp.Indexed) -> sp.Expr:
        indices = member_indices(expr)
        if name in self.rules:
            return self.rules[name](indices, target)
        if name == family_name(target):
            return sp.Mul(
                *(sp.KroneckerDelta(i, j) for i, j in zip(indices, member_indices(target), strict=True))
            )
        if name in self.parallel:
            return self._parallel(self.parallel[name], indices, target)
        if name in self.definitions:
            definition = self.definitions[name]
            body = protect(definition.at(indices), used_indices(target))
            return self._raw(body, target)
        if name in self.inverses:
            return self._inverse(self.inverses[name], indices, target)
        return sp.S.Zero

    def _inverse(self, inverse: MatrixInverse, indices: tuple[sp.Expr, ...], target: sp.Indexed) -> sp.Expr:
        first, last = indices
        taken = used_indices(inverse.entry, first, last, target)
        i, j = fresh_indices(2, taken)
        change = self._raw(rename(inverse.entry, {inverse.row: i, inverse.column: j}), target)
        base = family(inverse.name)
        return -BlockSum(BlockSum(base[first, i] * change * base[j, last], i), j)

    def _parallel(self, node: ParallelSum, indices: tuple[sp.Expr, ...], target: sp.Indexed) -> sp.Expr:
        first, last = indices
        i, j = fresh_indices(2, used_indices(node.a, node.b, first, last, target))
        place = {node.row: i, node.column: j}
        change_a, change_b = (self._raw(rename(entry, place), target) for entry in (node.a, node.b))
        ratio, itself = family(node.ratio), family(node.name)
        left, right = (
            (ratio[i, first], ratio[j, last]) if node.transposed else (ratio[first, i], ratio[last, j])
        )
        inner = left * change_a * right - itself[first, i] * change_b * itself[j, last]
        return BlockSum(BlockSum(inner, i), j)

    def _logdet(self, inverse: MatrixInverse, target: sp.Indexed) -> sp.Expr:
        i, j = fresh_indices(2, used_indices(inverse.entry, target))
        change = self._raw(rename(inverse.entry, {inverse.row: i, inverse.column: j}), target)
        return BlockSum(BlockSum(family(inverse.name)[j, i] * change, i), j)


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


def protect(expr: sp.Expr, taken: set[sp.Symbol]) -> sp.Expr:
    """Rename the bound indices of ``expr`` away from ``taken``."""
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    if isinstance(expr, BlockSum) and expr.bound in taken:
        (fresh,) = fresh_indices(1, taken | used_indices(expr))
        return BlockSum(protect(rename(expr.body, {expr.bound: fresh}), taken | {fresh}), fresh)
    return rebuild(expr, [protect(arg, taken) for arg in expr.args])


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
        letters = [index(c + t) for t in ("", "1", "2") for c in INDEX_NAMES]
        target = [letter for letter in letters if letter not in free][depth]
        body = (
            expr.body if expr.bound == target else rename(protect(expr.body, {target}), {expr.bound: target})
        )
        return BlockSum(_name(body, free, depth + 1), target)
    return rebuild(expr, [_name(arg, free, depth) for arg in expr.args])


def _order(expr: sp.Expr, symmetric: frozenset[str]) -> sp.Expr:
    if isinstance(expr, sp.Indexed):
        if family_name(expr) in symmetric:
            return expr.base[tuple(sorted(expr.indices, key=sp.default_sort_key))]
        return expr
    if not expr.args:
        return expr
    return rebuild(expr, [_order(arg, symmetric) for arg in expr.args])
