"""Special functions the closed forms need: Phi, log Phi and its slopes, Owen's T; and Hermite polynomials."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from derive.gaussian.numeric import inverse_mills_ratio, log_normal_cdf, normal_cdf, owen_t, truncated_mean


class NormalCdf(sympy.Function):
    """Phi(x) = erfc(-x/sqrt 2)/2.

    Kept apart from erf and erfc, because SymPy rewrites erfc(-x) as 2 - erfc(x), which cancels in the lower
    tail.
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Any) -> Any:
        if x.is_zero:
            return sympy.S.Half
        return {sympy.oo: sympy.S.One, -sympy.oo: sympy.S.Zero}.get(x)

    def fdiff(self, argindex: int = 1) -> Any:
        return sympy.exp(-(self.args[0] ** 2) / 2) / sympy.sqrt(2 * sympy.pi)

    def _eval_is_extended_real(self) -> bool | None:
        return True if self.args[0].is_extended_real else None

    def _eval_is_extended_positive(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(normal_cdf, self.args, prec)

    def _eval_rewrite_as_erf(self, x: Any, **_: Any) -> Any:
        return (1 + sympy.erf(x / sympy.sqrt(2))) / 2

    def _latex(self, printer: Any, exp: Any = None) -> str:
        return in_latex(r"\Phi", self.args, printer, exp)


class LogNormalCdf(sympy.Function):
    """log Phi(x). Kept whole, because Phi(x) underflows for x < -38."""

    nargs = 1

    @classmethod
    def eval(cls, x: Any) -> Any:
        return -sympy.log(2) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> Any:
        return InverseMillsRatio(self.args[0])

    def _eval_is_extended_real(self) -> bool | None:
        return True if self.args[0].is_extended_real else None

    def _eval_is_extended_negative(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_is_finite(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(log_normal_cdf, self.args, prec)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        return in_latex(r"\log\Phi", self.args, printer, exp)


class InverseMillsRatio(sympy.Function):
    """phi(x)/Phi(x), the slope of log Phi: about -x in the lower tail, where both underflow."""

    nargs = 1

    @classmethod
    def eval(cls, x: Any) -> Any:
        return sympy.sqrt(2 / sympy.pi) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> Any:
        return -self * TruncatedMean(self.args[0])

    def _eval_is_extended_real(self) -> bool | None:
        return True if self.args[0].is_extended_real else None

    def _eval_is_extended_positive(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_is_finite(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(inverse_mills_ratio, self.args, prec)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        return _powered(_mills_latex(printer._print(self.args[0])), exp)


class TruncatedMean(sympy.Function):
    """x + phi(x)/Phi(x) = E[X | X > 0] > 0, X ~ N(x, 1): about -1/x in the lower tail [Sampford 1953].

    Its product with the inverse Mills ratio is the curvature of -log Phi: positive, and without cancellation.
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Any) -> Any:
        return sympy.sqrt(2 / sympy.pi) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> Any:
        return 1 - InverseMillsRatio(self.args[0]) * self

    def _eval_is_extended_real(self) -> bool | None:
        return True if self.args[0].is_extended_real else None

    def _eval_is_extended_positive(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_is_finite(self) -> bool | None:
        return True if self.args[0].is_real else None

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(truncated_mean, self.args, prec)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        x = printer._print(self.args[0])
        return _powered(rf"\left({x} + {_mills_latex(x)}\right)", exp, bracketed=True)


class OwenT(sympy.Function):
    """T(h, a) = (1/2 pi) int_0^a exp(-h^2 (1 + x^2)/2)/(1 + x^2) dx [Owen, AMS 27, 1075 (1956)]."""

    nargs = 2

    @classmethod
    def eval(cls, h: Any, a: Any) -> Any:
        if a.is_zero:
            return sympy.S.Zero
        if h.is_zero:
            return sympy.atan(a) / (2 * sympy.pi)
        if a.could_extract_minus_sign():
            return -cls(h, -a)
        if h.could_extract_minus_sign():
            return cls(-h, a)
        return None

    def fdiff(self, argindex: int = 1) -> Any:
        h, a = self.args
        if argindex == 1:
            return -sympy.exp(-(h**2) / 2) * sympy.erf(a * h / sympy.sqrt(2)) / (2 * sympy.sqrt(2 * sympy.pi))
        return sympy.exp(-(h**2) * (1 + a**2) / 2) / (2 * sympy.pi * (1 + a**2))

    def _eval_is_extended_real(self) -> bool | None:
        return True if all(a.is_extended_real for a in self.args) else None

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(owen_t, self.args, prec)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        return in_latex(r"\operatorname{T}", self.args, printer, exp)


def hermite_polynomial(degree: int, argument: Any) -> Any:
    """He_k (leading coefficient 1, orthogonal for the standard normal), written out."""
    previous, current = sympy.S.Zero, sympy.S.One
    x = sympy.Dummy("x")
    for k in range(degree):
        previous, current = current, sympy.expand(x * current - k * previous)
    return current.subs(x, argument)


def _evaluated(function: Any, arguments: Any, prec: int) -> Any:
    """SymPy float of an mpmath function, or None while an argument is no number."""
    if not all(argument.is_number for argument in arguments):
        return None
    with mpmath.workprec(prec + 15):
        return sympy.Float._new(function(*(a._to_mpmath(prec + 15) for a in arguments))._mpf_, prec)


def in_latex(name: str, arguments: Any, printer: Any, exp: Any) -> str:
    """A function in LaTeX; SymPy hands the exponent of a power of it over, which stands behind the name."""
    inside = ", ".join(printer._print(argument) for argument in arguments)
    power = "" if exp is None else f"^{{{exp}}}"
    return rf"{name}{power}\left({inside}\right)"


def _mills_latex(x: str) -> str:
    return rf"\frac{{\varphi\left({x}\right)}}{{\Phi\left({x}\right)}}"


def _powered(text: str, exp: Any, bracketed: bool = False) -> str:
    if exp is None:
        return text
    return f"{text}^{{{exp}}}" if bracketed else rf"\left({text}\right)^{{{exp}}}"
