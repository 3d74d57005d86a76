"""A second lowering, to NumPy arrays instead of loops: the residual check does not share code with the solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp
from sympy.core.function import AppliedUndef

from derive.blocks import BlockSum, family_name, member_indices
from derive.expectation import Expectation

AXIS = "n"  # the axis of the nodes of kappa; block axes carry the names of their indices


@dataclass(frozen=True)
class Array:
    """Text of an array and the names of its axes, in sorted order; ``atom`` needs no brackets."""

    text: str
    axes: tuple[str, ...] = ()
    atom: bool = False

    @property
    def factor(self) -> str:
        return self.text if self.atom else f"({self.text})"


@dataclass
class Vectorised:
    """Lowers index expressions to NumPy text; ``vectors`` are the symbols that stand for functions of kappa."""

    vectors: set[str] = field(default_factory=lambda: {"kappa"})

    def lower(self, expr: sp.Expr) -> Array:
        """NumPy text of an index expression, sums and expectations as contractions."""
        if expr.is_number:
            return Array(repr(float(expr)), atom=expr.is_nonnegative)
        if isinstance(expr, sp.Symbol):
            return _over(expr.name, [AXIS] if expr.name in self.vectors else [])
        if isinstance(expr, sp.Indexed):
            return _over(str(expr.base.label), [str(i) for i in expr.indices if i != 0])
        if isinstance(expr, AppliedUndef):
            return _over(str(family_name(expr)), [AXIS, *(str(i) for i in member_indices(expr) if i != 0)])
        if isinstance(expr, sp.KroneckerDelta):
            return _over("identity", [str(i) for i in expr.args])
        if isinstance(expr, BlockSum):
            return _contract(self._factors(expr.body), {str(expr.bound)})
        if isinstance(expr, Expectation):
            return _contract([Array("weight", (AXIS,), atom=True), *self._factors(expr.integrand)], {AXIS})
        return self._elementwise(expr)

    def _elementwise(self, expr: sp.Expr) -> Array:
        if isinstance(expr, sp.Mul):
            return _contract(self._factors(expr), set())
        if isinstance(expr, sp.Add):
            terms = [self.lower(arg) for arg in expr.args]
            axes = tuple(sorted(set().union(*(term.axes for term in terms))))
            return Array(" + ".join(_broadcast(term, axes) for term in terms), axes)
        if isinstance(expr, sp.Pow):
            base = self.lower(expr.base)
            exponent = int(expr.exp) if expr.exp.is_Integer else float(expr.exp)
            text = (
                f"1.0/{base.factor}"
                if exponent == -1
                else f"{base.factor}**{exponent}"
                if exponent > 0
                else f"{base.factor}**({exponent})"
            )
            return Array(text, base.axes)
        if isinstance(expr, sp.Abs):
            inner = self.lower(expr.args[0])
            return Array(f"abs({inner.text})", inner.axes, atom=True)
        raise ValueError(f"no array form for {expr.func.__name__}: {expr}")

    def _factors(self, expr: sp.Expr) -> list[Array]:
        return [self.lower(arg) for arg in sp.Mul.make_args(expr)]


def _over(name: str, axes: Sequence[str]) -> Array:
    """A named array over axes in the given order, brought to sorted order without repetition."""
    ordered = tuple(sorted(set(axes)))
    if tuple(axes) == ordered:
        return Array(name, ordered, atom=True)
    return Array(f"np.einsum('{''.join(axes)}->{''.join(ordered)}', {name})", ordered, atom=True)


def _contract(factors: list[Array], summed: set[str]) -> Array:
    """Product of arrays, summed over some axes."""
    scalars = [f for f in factors if not f.axes]
    arrays = [f for f in factors if f.axes]
    kept = tuple(sorted(set().union(*(f.axes for f in arrays)) - summed)) if arrays else ()
    if not arrays:
        text = "*".join(f.factor for f in scalars)
        return Array(text, ())
    if not kept and all(f.axes == (AXIS,) for f in arrays) and summed:
        product = "*".join(f.factor for f in arrays[1:]) or "np.ones_like(weight)"
        core = f"np.dot({arrays[0].text}, {product})"
    elif not summed & set().union(*(f.axes for f in arrays)) and all(f.axes == kept for f in arrays):
        core = "*".join(f.factor for f in arrays)
    else:
        subscripts = ",".join("".join(f.axes) for f in arrays)
        core = f"np.einsum('{subscripts}->{''.join(kept)}', {', '.join(f.text for f in arrays)})"
    return Array(
        "*".join([*(f.factor for f in scalars), core]), kept, atom=not scalars and core.startswith("np.")
    )


def _broadcast(term: Array, axes: tuple[str, ...]) -> str:
    """The term with new axes of length one where it lacks some."""
    if term.axes == axes or not term.axes:
        return term.text
    return f"{term.factor}[{', '.join(':' if axis in term.axes else 'None' for axis in axes)}]"
