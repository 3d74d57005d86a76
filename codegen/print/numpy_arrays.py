"""Text of index expressions on NumPy arrays: one axis for each index, sums as contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp
from sympy.core.function import AppliedUndef

from codegen.print.printer import Unprintable
from derive.blocks import BlockSum, family_name, member_indices
from derive.gaussian.expectation import Expectation

AXIS = "n"  # the axis of the nodes of kappa; block axes carry the names of their indices


@dataclass(frozen=True)
class Array:
    """Text of an array and the names of its axes, in sorted order; ``atom`` needs no brackets, ``under`` is 1/text.

    stored: (text, axes) of the array as it is stored, whose axes may be in another order.
    """

    text: str
    axes: tuple[str, ...] = ()
    atom: bool = False
    under: str = ""
    stored: tuple[str, str] | None = None

    @property
    def operand(self) -> tuple[str, str]:
        """Text and axes for a contraction, which takes them in any order."""
        return self.stored or (self.text, "".join(self.axes))

    @property
    def factor(self) -> str:
        return self.text if self.atom else f"({self.text})"


@dataclass
class ArrayPrinter:
    """NumPy text of index expressions; ``vectors`` are the symbols that stand for functions of kappa.

    shared: whether contractions become variables of their own, once for all assignments.
    """

    vectors: frozenset[str] = frozenset({"kappa"})
    shared: bool = False
    known: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    def expression(self, expr: sp.Expr) -> str:
        """See ``Printer``."""
        return self.lower(expr).text

    def member(self, name: str, indices: Sequence[sp.Expr]) -> str:
        """See ``Printer``."""
        return _over(name, [str(i) for i in indices if i != 0]).text

    def block_sum(self, node: BlockSum) -> str:
        """See ``Printer``."""
        return self.lower(node).text

    def average(self, node: Expectation) -> str:
        """See ``Printer``: over the nodes of kappa."""
        return self.lower(node).text

    def assignments(self, targets: Sequence[tuple[str, sp.Expr]]) -> list[str]:
        """See ``Printer``: what several share stands before the first of them."""
        return [line for target, expr in targets for line in self._assignment(target, expr)]

    def _assignment(self, target: str, expr: sp.Expr) -> list[str]:
        value = self.expression(expr)
        before, self.waiting = self.waiting, []
        return [*before, f"{target} = {value}"]

    def lower(self, expr: sp.Expr) -> Array:
        """NumPy text of an index expression and its axes."""
        found = self._lowered(expr)
        if not self.shared or not isinstance(expr, BlockSum | Expectation) or "(" not in found.text:
            return found
        if found.text not in self.known:
            self.known[found.text] = f"x{len(self.known)}"
            self.waiting.append(f"{self.known[found.text]} = {found.text}")
        return Array(self.known[found.text], found.axes, atom=True)

    def _lowered(self, expr: sp.Expr) -> Array:
        """Sums and expectations as contractions."""
        if expr.is_number:
            return Array(repr(float(expr)), atom=expr.is_nonnegative)
        if isinstance(expr, sp.Symbol):
            return _over(expr.name, [AXIS] if expr.name in self.vectors else [])
        if isinstance(expr, sp.Indexed):
            return _over(str(expr.base.label), [str(i) for i in expr.indices if i != 0])
        if isinstance(expr, AppliedUndef):
            return _over(str(family_name(expr)), [*(str(i) for i in member_indices(expr) if i != 0), AXIS])
        if isinstance(expr, sp.KroneckerDelta):
            return _over("identity", [str(i) for i in expr.args])
        if isinstance(expr, BlockSum):
            return contracted(self._factors(expr.body), {str(expr.bound)})
        if isinstance(expr, Expectation):
            return self._average(expr)
        return self._elementwise(expr)

    def _average(self, node: Expectation) -> Array:
        return self.over_nodes("weight", node.integrand)

    def over_nodes(self, weight: str, integrand: sp.Expr) -> Array:
        """The sum over nodes with weights."""
        return contracted([Array(weight, (AXIS,), atom=True), *self._factors(integrand)], {AXIS})

    def _elementwise(self, expr: sp.Expr) -> Array:
        if isinstance(expr, sp.Mul):
            return contracted(self._factors(expr), set())
        if isinstance(expr, sp.Add):
            return self._sum(expr)
        if isinstance(expr, sp.Pow):
            base, power = self.lower(expr.base), expr.exp
            if not power.is_Integer:
                return Array(f"{base.factor}**{float(power)}", base.axes)
            raised = base.factor if abs(power) == 1 else f"{base.factor}**{abs(power)}"
            if power > 0:
                return Array(raised, base.axes)
            return Array(f"1.0/{raised}", base.axes, under=raised)  # negative powers of arrays are slow
        if isinstance(expr, sp.Abs):
            inner = self.lower(expr.args[0])
            return Array(f"abs({inner.text})", inner.axes, atom=True)
        raise Unprintable(f"no array form for {expr.func.__name__}: {expr}")

    def _sum(self, expr: sp.Add) -> Array:
        """Terms with a minus last, so that none is multiplied by it."""
        added = [self.lower(arg) for arg in expr.args if not _minus(arg)]
        taken = [self.lower(-arg) for arg in expr.args if _minus(arg)]
        axes = tuple(sorted(set().union(*(term.axes for term in added + taken))))
        text = " + ".join(_broadcast(term, axes) for term in added)
        for term in taken:
            text += f"{' - ' if text else '-'}{_broadcast(term, axes)}"
        return Array(text, axes)

    def _factors(self, expr: sp.Expr) -> list[Array]:
        return [self.lower(arg) for arg in sp.Mul.make_args(expr)]


def _minus(expr: sp.Expr) -> bool:
    """Whether an expression is a product with a minus that can be left off without adding brackets."""
    return bool(expr.is_Mul and expr.args[0].is_negative and not (-expr).is_Add)


def _over(name: str, axes: Sequence[str]) -> Array:
    """A named array over axes in the given order, brought to sorted order without repetition."""
    ordered = tuple(sorted(set(axes)))
    if tuple(axes) == ordered:
        return Array(name, ordered, atom=True)
    text = f"np.einsum('{''.join(axes)}->{''.join(ordered)}', {name})"
    return Array(text, ordered, atom=True, stored=(name, "".join(axes)))


def contracted(factors: list[Array], summed: set[str]) -> Array:
    """Product of arrays, summed over some axes."""
    scalars = [f for f in factors if not f.axes]
    arrays = [f for f in factors if f.axes]
    kept = tuple(sorted(set().union(*(f.axes for f in arrays)) - summed)) if arrays else ()
    if not arrays:
        return Array(_times(scalars), ())
    call = True
    if not kept and all(f.axes == (AXIS,) for f in arrays) and summed:
        core = f"np.dot({arrays[0].text}, {_times(arrays[1:]) if arrays[1:] else 'np.ones_like(weight)'})"
    elif not summed & set().union(*(f.axes for f in arrays)) and all(f.axes == kept for f in arrays):
        core, call = _times(arrays), False
    else:
        texts, axes = zip(*(f.operand for f in arrays), strict=True)
        core = f"np.einsum('{','.join(axes)}->{''.join(kept)}', {', '.join(texts)})"
    text = f"{_times(scalars)}*{core}" if scalars else core
    return Array(text, kept, atom=call and not scalars)


def _times(factors: Sequence[Array]) -> str:
    """Product of arrays of one shape, or of numbers, with its reciprocals as divisions."""
    text = "*".join(f.factor for f in factors if not f.under) or "1.0"
    return text + "".join(f"/{f.under}" for f in factors if f.under)


def _broadcast(term: Array, axes: tuple[str, ...]) -> str:
    """The term with new axes of length one where it lacks some."""
    if term.axes == axes or not term.axes:
        return term.text
    return f"{term.factor}[{', '.join(':' if axis in term.axes else 'None' for axis in axes)}]"
