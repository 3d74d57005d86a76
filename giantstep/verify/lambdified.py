"""SymPy expressions as NumPy functions of their own, with the special functions of the derivation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import erfcx, expit, log_ndtr, ndtr

Array = np.ndarray
Function = Callable[..., Array]


class Softplus(sp.Function):  # type: ignore[misc]
    """log(1 + exp(x)), which does not overflow."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return Logistic(self.args[0])


class Logistic(sp.Function):  # type: ignore[misc]
    """1/(1 + exp(-x))."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return Logistic(self.args[0]) * Logistic(-self.args[0])


class LogCosh(sp.Function):  # type: ignore[misc]
    """log(cosh(x)), which does not overflow."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return sp.tanh(self.args[0])


def without_overflow(expression: sp.Expr) -> sp.Expr:
    """The same with logarithms and inverses of sums of exponentials by name: these overflow where it does not."""
    of = sp.Wild("of")
    found = expression.replace(sp.log(1 + sp.exp(of)), Softplus(of)).replace(sp.log(sp.cosh(of)), LogCosh(of))
    return found.replace(1 / (1 + sp.exp(of)), Logistic(-of))


def numpy_of(expression: Any, arguments: Sequence[sp.Symbol]) -> Function:
    """A SymPy expression as a NumPy function that keeps the shape of its first argument."""
    own = {
        "Heaviside": _step,
        "NormalCdf": _normal_cdf,
        "LogNormalCdf": _log_normal_cdf,
        "InverseMillsRatio": _inverse_mills_ratio,
        "TruncatedMean": _truncated_mean,
        "Softplus": lambda x: np.logaddexp(0.0, x),
        "Logistic": expit,
        "LogCosh": _log_cosh,
    }
    function = sp.lambdify(list(arguments), expression, modules=[own, "scipy", "numpy"])

    def evaluate(*values: Array) -> Array:
        with np.errstate(all="ignore"):
            found: Array = np.array(np.broadcast_to(function(*values), np.shape(values[0])), dtype=float)
            return found

    return evaluate


def _step(x: Array, at_zero: float = 0.5) -> Array:
    return np.asarray(np.heaviside(x, at_zero))


def _normal_cdf(x: Array) -> Array:
    return np.asarray(ndtr(x))


def _log_normal_cdf(x: Array) -> Array:
    return np.asarray(log_ndtr(x))


def _inverse_mills_ratio(x: Array) -> Array:
    return np.asarray(np.sqrt(2.0 / np.pi) / erfcx(-np.asarray(x) / np.sqrt(2.0)))


def _truncated_mean(x: Array) -> Array:
    """x + phi/Phi, by its asymptotic series where the two cancel."""
    far = np.minimum(x, -60.0) ** -2.0
    series = -(1.0 - far * (2.0 - far * (10.0 - far * (74.0 - 706.0 * far)))) / np.minimum(x, -60.0)
    return np.asarray(np.where(np.asarray(x) < -60.0, series, x + _inverse_mills_ratio(x)))


def _log_cosh(x: Array) -> Array:
    size = np.abs(x)
    near = np.log1p(2.0 * np.sinh(0.5 * np.minimum(size, 1.0)) ** 2)
    return np.asarray(np.where(size < 1.0, near, size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0)))
