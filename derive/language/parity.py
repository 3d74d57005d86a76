"""Whether an expression is even or odd under a change of the sign of all its variables, or of one.

The expression is written as a sum of products of atoms: variables, constants, and functions of such sums, which are
taken up to a sign where the function is odd or even. Kinks are written with ``abs``, jumps with ``sign``, sigmoids with
``tanh`` and ``erf``, so that ``relu(z) - relu(-z)`` is ``z`` and ``2*step(z) - 1`` is ``sign(z)``. The same is done
with variables of the other sign, and both sums are compared.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from derive.language.grammar import Node

Monomial: TypeAlias = tuple[tuple[int, int], ...]  # (atom, power), by atom
Sum: TypeAlias = tuple[tuple[Monomial, Fraction], ...]  # by monomial; empty: zero

_ODD = frozenset({"sign", "tanh", "arctan", "erf", "sin", "sinh", "inverse", "sum"})
_EVEN = frozenset({"abs", "cos", "cosh", "softplus"})  # softplus(x) - x/2
_MOST = 400  # products of terms that are written out: longer sums stay a factor
_NONE: Sum = ()
_HALF = Fraction(1, 2)


@lru_cache(maxsize=256)
def parity(node: Node, variable: str | None = None) -> int | None:
    """1 of an even expression, -1 of an odd one (away from its jumps), None where its sums do not show either; in one
    variable, or in all together.
    """
    forms = _Forms(variable)
    given, mirrored = forms.of(node, 1), forms.of(node, -1)
    return 1 if given == mirrored else -1 if given == _scaled(mirrored, -1) else None


class _Forms:
    """Sums of expressions over common atoms, which are numbered as they are met; turned: the one variable whose sign
    changes, None for all.
    """

    def __init__(self, turned: str | None = None) -> None:
        self.turned = turned
        self.atoms: dict[tuple[object, ...], int] = {}

    def of(self, node: Node, sign: int) -> Sum:
        """The sum of an expression at variables of a sign."""
        if node.op == "number":
            return _number(node.value)
        if node.op == "variable":
            return _scaled(self._atom("variable", node.value), sign if self.turned in (None, node.value) else 1)
        if node.op == "constant":
            return self._atom("constant", node.value)
        parts = [self.of(argument, sign) for argument in node.args]
        if node.op == "call":
            return self._call(str(node.value), parts)
        if node.op == "neg":
            return _scaled(parts[0], -1)
        left, right = parts
        if node.op in ("add", "sub"):
            return _added(left, _scaled(right, 1 if node.op == "add" else -1))
        if node.op == "pow":
            return self._power(left, right)
        return self._product(left, right if node.op == "mul" else self.function("inverse", right))

    def _atom(self, *key: object) -> Sum:
        return ((((self.atoms.setdefault(key, len(self.atoms)), 1),), Fraction(1)),)

    def function(self, name: str, x: Sum) -> Sum:
        """A function of a sum; of an odd or an even one the sum's first term is made positive."""
        if name == "inverse" and len(x) == 1:
            (monomial, factor), *_ = x
            return ((tuple((atom, -power) for atom, power in monomial), 1 / factor),) if factor else _NONE
        negative = bool(x) and x[0][1] < 0 and name in _ODD | _EVEN
        found = self._atom(name, _scaled(x, -1) if negative else x)
        return _scaled(found, -1) if negative and name in _ODD else found

    def _call(self, name: str, x: list[Sum]) -> Sum:
        if name == "He":
            return self._hermite(int(_as_number(x[0]) or 0), x[1])
        if name in _WRITTEN:
            return _WRITTEN[name](self, *x)
        return self.function(name, x[0])

    def _product(self, left: Sum, right: Sum) -> Sum:
        if len(left) * len(right) > _MOST:
            left, right = (x if len(x) == 1 else self.function("sum", x) for x in (left, right))
        found: dict[Monomial, Fraction] = {}
        for first, a in left:
            for second, b in right:
                both = _times(first, second)
                found[both] = found.get(both, Fraction(0)) + a * b
        return _ordered(found)

    def _power(self, base: Sum, exponent: Sum) -> Sum:
        power = _as_number(exponent)
        if power is None or power.denominator != 1:
            return self._atom("power", base, exponent)
        found, factor = _number(1), base if power >= 0 else self.function("inverse", base)
        for _ in range(abs(int(power))):
            found = self._product(found, factor)
        return found

    def _hermite(self, degree: int, x: Sum) -> Sum:
        before, found = _NONE, _number(1)
        for k in range(degree):
            before, found = found, _added(self._product(x, found), _scaled(before, -k))
        return found

    def apart(self, x: Sum, y: Sum) -> Sum:
        """abs(x - y)."""
        return self.function("abs", _added(x, _scaled(y, -1)))

    def half(self, first: Sum, name: str, x: Sum) -> Sum:
        """(first + name(x))/2."""
        return _scaled(_added(first, self.function(name, x)), _HALF)

    def half_of_root(self, x: Sum) -> Sum:
        """x/sqrt(2)."""
        return self._product(x, self.function("inverse", self._atom("sqrt", _number(2))))


# functions by others whose parity is known
_WRITTEN: Mapping[str, Callable[..., Sum]] = MappingProxyType(
    {
        "relu": lambda forms, x: forms.half(x, "abs", x),
        "max": lambda forms, x, y: _scaled(_added(_added(x, y), forms.apart(x, y)), _HALF),
        "min": lambda forms, x, y: _scaled(_added(_added(x, y), _scaled(forms.apart(x, y), -1)), _HALF),
        "clip": lambda forms, x, low, high: _scaled(
            _added(_added(low, high), _added(forms.apart(x, low), _scaled(forms.apart(x, high), -1))), _HALF
        ),
        "step": lambda forms, x: forms.half(_number(1), "sign", x),
        "sigmoid": lambda forms, x: forms.half(_number(1), "tanh", _scaled(x, _HALF)),
        "Phi": lambda forms, x: forms.half(_number(1), "erf", forms.half_of_root(x)),
        "erfc": lambda forms, x: _added(_number(1), _scaled(forms.function("erf", x), -1)),
        "softplus": lambda forms, x: _added(_scaled(x, _HALF), forms.function("softplus", x)),
        "exp": lambda forms, x: _added(forms.function("cosh", x), forms.function("sinh", x)),
    }
)


def _number(value: object) -> Sum:
    number = Fraction(str(value))
    return (((), number),) if number else _NONE


def _as_number(x: Sum) -> Fraction | None:
    if not x:
        return Fraction(0)
    return x[0][1] if len(x) == 1 and not x[0][0] else None


def _scaled(x: Sum, factor: int | Fraction) -> Sum:
    return tuple((monomial, factor * number) for monomial, number in x) if factor else _NONE


def _added(x: Sum, y: Sum) -> Sum:
    found = dict(x)
    for monomial, number in y:
        found[monomial] = found.get(monomial, Fraction(0)) + number
    return _ordered(found)


def _times(x: Monomial, y: Monomial) -> Monomial:
    powers = dict(x)
    for atom, power in y:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def _ordered(terms: dict[Monomial, Fraction]) -> Sum:
    return tuple(sorted((monomial, number) for monomial, number in terms.items() if number))
