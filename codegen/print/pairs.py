"""NumPy text of index expressions on pairs of values and magnitudes (``codegen/runtime/certificate.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from derive.blocks import BlockSum, family_name, member_indices
from derive.gaussian.expectation import Expectation

PAIR, NODES = "A", "n"  # axes of an array: pair first, then block indices and nodes by the alphabet
_PLAIN = {"fraction", "weight", "identity"}  # never negative: no pair


@dataclass(frozen=True)
class Array:
    """Text of an array and the names of its axes in order; ``atom`` needs no brackets."""

    text: str
    axes: tuple[str, ...] = ()
    atom: bool = True

    @property
    def factor(self) -> str:
        return self.text if self.atom else f"({self.text})"

    def over(self, axes: Sequence[str]) -> str:
        """The text as a factor, with new axes of length one where it lacks some of ``axes``."""
        if self.axes == tuple(axes) or not self.axes:
            return self.factor
        return f"{self.factor}[{', '.join(':' if axis in self.axes else 'None' for axis in axes)}]"


_MINUS = Array("SIGN", (PAIR,))


class Pairs:
    """Lowers index expressions: sums over blocks and averages are contractions of two arrays at a time.

    ``lines`` assign the functions of kappa that several expressions share.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.shared: dict[str, str] = {}

    def lower(self, expr: sp.Expr) -> Array:
        """NumPy text of an index expression."""
        if expr.is_number:
            size = Array(repr(float(abs(expr))))
            return size if expr.is_nonnegative else _MINUS if expr == -1 else product([_MINUS, size])
        if isinstance(expr, sp.Symbol):
            pair = (PAIR, NODES) if expr.name.startswith("kappa") else ()
            return Array(expr.name, pair)
        if isinstance(expr, sp.Indexed):
            return _named(str(expr.base.label), [str(i) for i in expr.indices])
        if isinstance(expr, AppliedUndef):
            return _named(str(family_name(expr)), [*(str(i) for i in member_indices(expr)), NODES])
        if isinstance(expr, sp.KroneckerDelta):
            return _named("identity", [str(i) for i in expr.args])
        if isinstance(expr, BlockSum):
            return contraction(self._factors(expr.body), str(expr.bound))
        if isinstance(expr, Expectation):
            factors = self._factors(expr.integrand)
            scalars = [f for f in factors if set(f.axes) <= {PAIR, NODES}]
            rest = [f for f in factors if f not in scalars]
            return contraction([self._share(product([Array("weight", (NODES,)), *scalars])), *rest], NODES)
        if isinstance(expr, sp.Mul):
            return product(self._factors(expr))
        if isinstance(expr, sp.Add):
            return self._sum(expr)
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
            return self._power(self.lower(expr.base), int(expr.exp))
        raise ValueError(f"no array form for {expr.func.__name__}: {expr}")

    def taken(self) -> list[str]:
        """The lines since the last call."""
        lines, self.lines = self.lines, []
        return lines

    def _factors(self, expr: sp.Expr) -> list[Array]:
        return [self.lower(arg) for arg in sp.Mul.make_args(expr)]

    def _sum(self, expr: sp.Add) -> Array:
        terms = [self.lower(arg) for arg in sorted(expr.args, key=sp.Expr.could_extract_minus_sign)]
        axes = _joint(terms)
        return Array(" + ".join(term.over(axes) if term.axes != axes else term.text for term in terms), axes, False)

    def _power(self, base: Array, power: int) -> Array:
        if power < 0 and PAIR in base.axes:
            base, power = self._share(Array(f"over({base.text})", base.axes)), -power
        if power < 0:
            return Array(f"1.0/{base.factor}" + (f"**{-power}" if power < -1 else ""), base.axes, False)
        return base if power == 1 else Array(f"{base.factor}**{power}", base.axes, False)

    def _share(self, array: Array) -> Array:
        """A function of kappa under a name of its own."""
        if array.axes != (PAIR, NODES):
            return array
        if array.text not in self.shared:
            self.shared[array.text] = f"x{len(self.shared)}"
            self.lines.append(f"{self.shared[array.text]} = {array.text}")
        return Array(self.shared[array.text], array.axes)


def _named(name: str, axes: Sequence[str]) -> Array:
    """A named array over indices in the given order, brought to the order of the axes."""
    first = [] if name in _PLAIN else [PAIR]
    ordered = tuple(sorted({*first, *axes}))
    given = [*first, *axes]
    if tuple(given) == ordered:
        return Array(name, ordered)
    if len(set(given)) == len(given):
        return Array(f"{name}.transpose({', '.join(str(given.index(axis)) for axis in ordered)})", ordered)
    return Array(f"np.einsum('{''.join(given)}->{''.join(ordered)}', {name})", ordered)


def _joint(arrays: Sequence[Array]) -> tuple[str, ...]:
    return tuple(sorted(set().union(*(array.axes for array in arrays))))


def product(factors: Sequence[Array]) -> Array:
    """Elementwise product; numbers come first, so that they are multiplied once."""
    axes = _joint(factors)
    ordered = sorted(factors, key=lambda factor: (len(factor.axes), factor.axes))
    if len(ordered) == 1:
        return ordered[0]
    below = [f for f in ordered if not f.axes and f.text.startswith("1.0/")]
    numbers = "*".join(factor.factor for factor in ordered if not factor.axes and factor not in below)
    arrays = "*".join(factor.over(axes) for factor in ordered if factor.axes)
    divided = "".join(f.text.removeprefix("1.0") for f in below)
    if not numbers:
        return Array(f"{arrays or '1.0'}{divided}", axes, False)
    return Array(f"{numbers}{divided}" + (f"*{arrays}" if arrays else ""), axes, False)


def contraction(factors: Sequence[Array], summed: str) -> Array:
    """Product of arrays summed over an axis: what does not hold it stays outside, the rest is at most two arrays."""
    outside = [f for f in factors if summed not in f.axes]
    inside = [f for f in factors if summed in f.axes]
    while len(inside) > 2:
        inside = _one_less(inside)
    kept = tuple(axis for axis in _joint(inside) if axis != summed)
    subscripts = ",".join("".join(f.axes) for f in inside)
    total = Array(f"np.einsum('{subscripts}->{''.join(kept)}', {', '.join(f.text for f in inside)})", kept)
    return product([*outside, total])


def _one_less(factors: Sequence[Array]) -> list[Array]:
    """Two factors as one: the narrowest whose axes another one has, else the first two."""
    left = sorted(factors, key=lambda factor: len(factor.axes))
    for place, factor in enumerate(left):
        others = [other for other in left[place + 1 :] if set(factor.axes) <= set(other.axes)]
        if others:
            return [product([factor, other]) if other is others[0] else other for other in left if other is not factor]
    return [product(left[:2]), *left[2:]]
