"""Bounds of a function on many intervals at once, by interval arithmetic: what no sampling tells.

In doubles, to rounding. The derivation has bounds to 50 digits of its own, which prove zeros one interval at a time;
the second implementation shares nothing with it.

Source: Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, 5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import erf, erfc, ndtr

from derive.gaussian.special import NormalCdf
from giantstep.verify.interpreter import NotEvaluable

Array = np.ndarray
Box = tuple[Array, Array]  # least and largest values [N]


def enclosure(expression: Any, z: sp.Symbol, low: Array, high: Array) -> Box:
    """Bounds [N] of an expression in z on intervals [low, high]. Raises NotEvaluable for what has none here."""
    with np.errstate(all="ignore"):
        return _safe(_bounds(expression, z, (low, high)))


def _bounds(e: Any, z: sp.Symbol, box: Box) -> Box:
    if e == z:
        return box
    if not e.has(z):
        value = np.full_like(box[0], float(sp.N(e, 17)))
        return value, value
    if isinstance(e, sp.Pow):
        return _power(e, z, box)
    inside = [_safe(_bounds(part, z, box)) for part in e.args]
    if e.is_Add or e.is_Mul:
        return reduce(_sum if e.is_Add else _product, inside)
    known = _KNOWN.get(e.func)
    if known is None:
        raise NotEvaluable(f"no bounds of {e.func.__name__} are known")
    return known(*inside)


def _safe(box: Box) -> Box:
    """What is no number may be anything."""
    return np.where(np.isnan(box[0]), -np.inf, box[0]), np.where(np.isnan(box[1]), np.inf, box[1])


def _sum(a: Box, b: Box) -> Box:
    return _safe((a[0] + b[0], a[1] + b[1]))


def _product(a: Box, b: Box) -> Box:
    ends = np.stack([x * y for x in a for y in b])
    ends[np.isnan(ends)] = 0.0  # zero times what grows without bound
    return ends.min(axis=0), ends.max(axis=0)


def _power(e: Any, z: sp.Symbol, box: Box) -> Box:
    if e.exp.has(z):
        return _bounds(sp.exp(e.exp * sp.log(e.base)), z, box)
    low, high = _safe(_bounds(e.base, z, box))
    power = float(e.exp)
    if e.exp.is_Integer:
        ends = low**power, high**power
        spans = (low < 0.0) & (high > 0.0)
        least, most = np.minimum(*ends), np.maximum(*ends)
        if power < 0.0:
            return np.where(spans, -np.inf if power % 2 else 0.0, least), np.where(spans, np.inf, most)
        return (np.where(spans & (power % 2 == 0), 0.0, least), most)
    ends = np.maximum(low, 0.0) ** power, np.maximum(high, 0.0) ** power
    return np.minimum(*ends), np.maximum(*ends)


def _rising(function: Callable[[Array], Array], x: Box) -> Box:
    return function(x[0]), function(x[1])


def _falling(function: Callable[[Array], Array], x: Box) -> Box:
    return function(x[1]), function(x[0])


def _even(function: Callable[[Array], Array], x: Box) -> Box:
    """Of one that rises with |x|."""
    near = np.where((x[0] < 0.0) & (x[1] > 0.0), 0.0, np.minimum(np.abs(x[0]), np.abs(x[1])))
    return function(near), function(np.maximum(np.abs(x[0]), np.abs(x[1])))


def _wave(phase: float, x: Box) -> Box:
    """cos(x - phase)."""
    low, high = x[0] - phase, x[1] - phase
    ends = np.cos(low), np.cos(high)

    def passes(place: float) -> Array:
        return np.asarray(~(np.floor((high - place) / (2.0 * np.pi)) == np.floor((low - place) / (2.0 * np.pi))))

    return np.where(passes(np.pi), -1.0, np.minimum(*ends)), np.where(passes(0.0), 1.0, np.maximum(*ends))


def _extreme(choose: Callable[[Array, Array], Array], *inside: Box) -> Box:
    return reduce(choose, [low for low, _ in inside]), reduce(choose, [high for _, high in inside])


def _log(x: Array) -> Array:
    return np.asarray(np.log(np.maximum(x, 0.0)))


_KNOWN: dict[Any, Callable[..., Box]] = {
    sp.exp: partial(_rising, np.exp),
    sp.log: partial(_rising, _log),
    sp.tanh: partial(_rising, np.tanh),
    sp.sinh: partial(_rising, np.sinh),
    sp.asinh: partial(_rising, np.arcsinh),
    sp.atan: partial(_rising, np.arctan),
    sp.erf: partial(_rising, erf),
    sp.erfc: partial(_falling, erfc),
    NormalCdf: partial(_rising, ndtr),
    sp.cosh: partial(_even, np.cosh),
    sp.Abs: partial(_even, np.abs),
    sp.sign: partial(_rising, np.sign),
    sp.cos: partial(_wave, 0.0),
    sp.sin: partial(_wave, 0.5 * np.pi),
    sp.Max: partial(_extreme, np.maximum),
    sp.Min: partial(_extreme, np.minimum),
    sp.Heaviside: lambda x, _=None: _rising(lambda y: np.heaviside(y, 0.5), x),
}
