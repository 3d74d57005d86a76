"""Where a function has narrow features and how steep it is: hints for the first panels, read off its
expression.

A wrong hint costs time, never accuracy: the emitted quadrature refines until its own error estimate is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import sympy

_MOST = 8  # features kept
_IMAGINARY = 1e-9  # a root with less is real


@dataclass(frozen=True)
class Hints:
    """`features`: (centre, width) in z, sorted; `steepness`: inverse distance of the nearest singularity in
    the complex
    plane, in units of tanh's, 0 for polynomials; `wave`: sum of the frequencies of sines and cosines."""

    features: tuple[tuple[float, float], ...]
    steepness: float
    wave: float


def hints(expression: Any, z: sympy.Symbol) -> Hints:
    """Features of an expression in z: zeros of the arguments of its functions, zeros of what it divides by."""
    found: set[tuple[float, float]] = set()
    steepness = wave = 0.0
    for node in sorted(expression.atoms(sympy.Function, sympy.Pow), key=sympy.default_sort_key):
        argument = _argument(node, z)
        if argument is None:
            continue
        slope = _slope(argument, z)
        if isinstance(node, sympy.sin | sympy.cos) and argument.is_polynomial(z) and sympy.degree(argument, z) == 1:
            wave += slope
            continue
        steepness = max(steepness, slope * _factor(node))
        found |= _features(argument, z, slope, division=isinstance(node, sympy.Pow))
    kept = sorted(sorted(found, key=lambda feature: (feature[1], abs(feature[0]), feature[0]))[:_MOST])
    return Hints(tuple(kept), float(f"{steepness:.6g}"), float(f"{wave:.6g}"))


def _argument(node: Any, z: sympy.Symbol) -> Any:
    if isinstance(node, sympy.Pow):
        if node.exp.has(z):
            return node.exp * sympy.log(node.base) if not node.base.has(z) else None
        whole = node.exp.is_Integer and node.exp > 0
        return None if whole or not node.base.has(z) or not node.base.is_polynomial(z) else node.base
    if isinstance(node, sympy.log) and not node.args[0].is_polynomial(z):
        return None  # log(1 + exp(z)): its features are those of exp
    return node.args[0] if len(node.args) == 1 and node.args[0].has(z) else None


def _factor(node: Any) -> float:
    # nearest singularity, in units of tanh's pole at pi/2; logistic functions have theirs twice as far
    if isinstance(node, sympy.exp | sympy.sin | sympy.cos):
        return 0.7
    if isinstance(node, sympy.atan | sympy.Pow | sympy.log):
        return 1.5
    return 1.0


def _slope(argument: Any, z: sympy.Symbol) -> float:
    if argument.is_polynomial(z):
        coefficients = sympy.Poly(argument, z).all_coeffs()[::-1]
        return float(max((abs(float(a)) ** (1.0 / k) for k, a in enumerate(coefficients) if k > 0), default=0.0))
    if isinstance(argument, sympy.Add):
        return sum(_slope(a, z) for a in argument.args)
    if isinstance(argument, sympy.Mul):
        size = abs(float(sympy.Mul(*[a for a in argument.args if not a.has(z)])))
        return max(size, 1e-3) * max((_slope(a, z) for a in argument.args if a.has(z)), default=0.0)
    return max((_slope(a, z) for a in argument.args if a.has(z)), default=0.0)


def _features(argument: Any, z: sympy.Symbol, slope: float, division: bool) -> set[tuple[float, float]]:
    width = 1.0 / max(slope, 1e-3)
    if not argument.is_polynomial(z):
        return set() if argument.has(sympy.exp) else {(0.0, _short(width))}
    roots = _roots(sympy.Poly(argument, z))
    if division:
        return {(_short(root.real), _short(max(abs(root.imag), 1e-6))) for root in roots}
    return {(_short(root.real), _short(width)) for root in roots if abs(root.imag) < _IMAGINARY or len(roots) == 2}


def _roots(polynomial: Any) -> list[complex]:
    """The places of the roots, each once: search fails at multiple ones; none where it fails."""
    try:
        return [complex(root) for root in polynomial.sqf_part().nroots(n=20, maxsteps=500)]
    except mpmath.libmp.NoConvergence:
        return []


def _short(number: float) -> float:
    rounded = float(f"{number:.10g}")
    return 0.0 if abs(rounded) < _IMAGINARY else rounded
