"""Index calculus over readout blocks: sums over blocks, families of order parameters, derivatives.

The number of blocks K stays a symbol: an expression such as ``sum_c T_c zeta_hat_c`` is differentiated with
respect to ``zeta_hat_d`` by Kronecker deltas, so one derivation holds for every K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE

from derive.directions import directions_of

KAPPA = sp.Symbol("kappa", real=True)
UNIT = "unit_"  # what the names of identities of another size than that of the blocks begin with
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


def coordinates_of_kappa(spikes: int) -> tuple[sp.Expr, ...]:
    """Projections on the ``spikes`` directions of the spike: kappa itself, or functions kappa_j of the point kappa."""
    names = directions_of("kappa", spikes)
    return (KAPPA,) if spikes == 1 else tuple(block_field(name)(KAPPA) for name in names)


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
    """``log det`` of the K x K matrix whose inverse is the family ``inverse``; differentiates by Jacobi's formula.

    ``over``: further indices of the family, where there is a matrix for each of their values.
    """

    is_commutative = True

    def __new__(cls, inverse: str | sp.Symbol, *over: sp.Symbol) -> sp.Expr:
        return sp.Expr.__new__(cls, sp.Symbol(str(inverse)), *over)

    @property
    def inverse(self) -> str:
        return str(self.args[0])

    @property
    def over(self) -> tuple[sp.Expr, ...]:
        return tuple(self.args[1:])

    def _latex(self, printer: sp.printing.printer.Printer) -> str:
        where = "".join(printer._print(i) for i in self.over)
        return rf"\log\det {printer._print(self.args[0])}" + (f"_{{{where}}}" if where else "") + "^{-1}"


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
    """``name = (entry)^-1`` as a K x K matrix; ``entry`` depends on the indices ``row`` and ``column``.

    ``over``: further indices, one matrix for each of their values. ``identity``: the family that is the identity, of a
    matrix of another size; its name begins with ``UNIT``.
    """

    name: str
    row: sp.Symbol
    column: sp.Symbol
    entry: sp.Expr
    over: tuple[sp.Symbol, ...] = ()
    identity: str = ""

    @property
    def one(self) -> sp.Expr:
        """The entry of the identity matrix."""
        if self.identity:
            return family(self.identity)[self.row, self.column]
        return sp.KroneckerDelta(self.row, self.column)

    def at(self, row: sp.Expr, column: sp.Expr, *over: sp.Expr) -> sp.Expr:
        """The entry at other indices."""
        places = dict(zip(self.over, over, strict=True))
        return rename(self.entry, {self.row: row, self.column: column, **places})


@dataclass(frozen=True)
class ParallelSum:
    """``name = (A^-1 + B)^-1`` as K x K matrices, without inverting A: ``dX = L dA L^T - X dB X``, ``L = X A^-1``.

    ``a`` and ``b`` are the entries over (row, column); ``ratio`` names the family L, ``transposed`` where it is L^T.
    ``over``: further indices, one matrix for each of their values.
    """

    name: str
    row: sp.Symbol
    column: sp.Symbol
    a: sp.Expr
    b: sp.Expr
    ratio: str
    transposed: bool
    over: tuple[sp.Symbol, ...] = ()


def is_delta(expr: sp.Basic) -> bool:
    """Whether an expression is the entry of an identity between two indices, over blocks or of another size."""
    if isinstance(expr, sp.KroneckerDelta):
        return True
    return isinstance(expr, sp.Indexed) and str(family_name(expr)).startswith(UNIT) and len({*expr.indices}) == 2


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
        return str(expr.base.label.name)  # not its text: SymPy prints it anew at each call
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


def protect(expr: sp.Expr, taken: set[sp.Symbol]) -> sp.Expr:
    """Rename the bound indices of ``expr`` away from ``taken``."""
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    if isinstance(expr, BlockSum) and expr.bound in taken:
        (fresh,) = fresh_indices(1, taken | used_indices(expr))
        return BlockSum(protect(rename(expr.body, {expr.bound: fresh}), taken | {fresh}), fresh)
    return rebuild(expr, [protect(arg, taken) for arg in expr.args])
