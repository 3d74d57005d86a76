"""Hermite coefficients of any scalar function, by projection and by distributional derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import sympy

from derive.gaussian.expectation import Expectation
from derive.gaussian.rules import close
from derive.gaussian.special import hermite_polynomial
from derive.scalar import ScalarFunction

__all__ = ["HermiteExpansion", "coefficient", "coefficient_by_derivatives", "expand", "hermite_polynomial"]


@dataclass(frozen=True)
class HermiteExpansion:
    """f = sum_k c_k He_k: exact `coefficients`, their numbers, and what the sum up to here leaves.

    `values`, `partial_sums` (of k! c_k^2, increasing) and `norm` = E f^2 are mpf; `remainder` = norm - last
    partial sum is the squared L2 distance of the truncated series from f.
    """

    coefficients: tuple[Any, ...]
    values: tuple[Any, ...]
    partial_sums: tuple[Any, ...]
    norm: Any
    remainder: Any

    @property
    def information_exponent(self) -> int | None:
        """Smallest k >= 1 with c_k != 0 [BGJ19]; None where no coefficient so far is."""
        exact = (k for k, c in enumerate(self.coefficients) if k and not _is_zero(c, self.values[k], self.norm))
        return next(exact, None)


def coefficient(f: ScalarFunction, k: int) -> Any:
    """c_k = E[f(z) He_k(z)]/k!, closed where a rule applies, otherwise holding an `Expectation`."""
    if (f.parity == "odd" and k % 2 == 0) or (f.parity == "even" and k % 2 == 1):
        return sympy.S.Zero
    return close(Expectation(f.expr * hermite_polynomial(k, f.z), f.z))[0] / sympy.factorial(k)


def coefficient_by_derivatives(f: ScalarFunction, k: int) -> Any:
    """c_k = E[f^(k)]/k! with f^(k) in the sense of distributions.

    The jump of f^(i) at b contributes E delta^(k-1-i)(z - b) = He_{k-1-i}(b) phi(b) times its size.
    """
    total = close(Expectation(f.derivative(k) if k else f.expr, f.z))[0]
    for i in range(k):
        for place, size in f.jumps(i):
            density = sympy.exp(-(place**2) / 2) / sympy.sqrt(2 * sympy.pi)
            total += size * hermite_polynomial(k - 1 - i, place) * density
    return total / sympy.factorial(k)


def expand(f: ScalarFunction, order: int, dps: int = 20) -> HermiteExpansion:
    """Coefficients up to `order` with their Parseval sums, numbers to `dps` digits of sqrt(E f^2).

    Raises ArithmeticError where Bessel's inequality fails, which only an integration error can cause.
    """
    coefficients = tuple(coefficient(f, k) for k in range(order + 1))
    with mpmath.workdps(dps + 10):
        values = tuple(_value(c, dps) for c in coefficients)
        norm = _value(close(Expectation(f.expr**2, f.z))[0], dps)
        sums, total = [], mpmath.mpf(0)
        for k, value in enumerate(values):
            total += mpmath.factorial(k) * value**2
            sums.append(total)
        remainder = norm - total
        if remainder < -norm * mpmath.mpf(10) ** (4 - dps):
            raise ArithmeticError(
                f"the Hermite coefficients of {f.name} exceed its norm by {mpmath.nstr(-remainder, 3)}"
            )
    return HermiteExpansion(coefficients, values, tuple(sums), norm, max(remainder, mpmath.mpf(0)))


def _value(expression: Any, dps: int) -> Any:
    expression = sympy.sympify(expression)
    return sympy.N(expression, dps + 10)._to_mpmath(mpmath.mp.prec)


def _is_zero(coefficient: Any, value: Any, norm: Any) -> bool:
    return bool(coefficient == 0 or abs(value) < mpmath.sqrt(norm) * mpmath.mpf(10) ** -12)
