"""Where a function has narrow features and how steep it is: hints for the first panels, read off its
expression.

A hint too many costs time. One that is missing may cost accuracy: the emitted quadrature refines until its own error
estimate is met, and that estimate knows nothing of a feature between all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import sympy

from codegen.turns import Feature, Kind, turns

_MOST = 16  # features kept
_EXACT = 2  # degree of polynomials whose roots are told by formulas; of others they may be multiple but for rounding
_IMAGINARY = 1e-9  # a root with less is real


@dataclass(frozen=True)
class Hints:
    """`features`: (centre, width) in z, sorted; `steepness`: inverse distance of the nearest singularity in
    the complex
    plane, in units of tanh's, 0 for polynomials; `wave`: sum of the frequencies of sines and cosines."""

    features: tuple[Feature, ...]
    steepness: float
    wave: float


def hints(expression: Any, z: sympy.Symbol) -> Hints:
    """Features of an expression in z: zeros of the arguments of its functions, places where they turn, zeros of what it
    divides by.
    """
    found: set[Feature] = set()
    steepness = wave = 0.0
    for node in sorted(expression.atoms(sympy.Function, sympy.Pow), key=_from_inside):
        argument = _argument(node, z)
        if argument is None:
            found |= _singular(node, z, tuple(sorted(found)))
            continue
        slope = _slope(argument, z)
        if isinstance(node, sympy.sin | sympy.cos) and argument.is_polynomial(z) and sympy.degree(argument, z) == 1:
            wave += slope
            continue
        steepness = max(steepness, slope * _factor(node))
        found |= _features(node, argument, z, tuple(sorted(found)))
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


def _features(node: Any, argument: Any, z: sympy.Symbol, inner: tuple[Feature, ...]) -> set[Feature]:
    """Those of a function of an argument; inner: of functions within."""
    division, found = isinstance(node, sympy.Pow), set[Feature]()
    if not argument.is_polynomial(z) or sympy.degree(argument, z) > _EXACT:
        kind: Kind = "division" if division else "maximum" if isinstance(node, sympy.exp) else "zero"
        found = _shortened(turns(argument, z, kind, inner))
    if not argument.is_polynomial(z) or found and not division:
        return found
    width, roots = 1.0 / max(_slope(argument, z), 1e-3), _roots(sympy.Poly(argument, z))
    if division:
        return found | {(_short(root.real), _short(max(abs(root.imag), 1e-6))) for root in roots}
    real = [root.real for root in roots if abs(root.imag) < _IMAGINARY or len(roots) == 2]
    return {(_short(place), _short(width)) for place in real}


def _singular(node: Any, z: sympy.Symbol, inner: tuple[Feature, ...]) -> set[Feature]:
    """Those of a power or a logarithm of what is no polynomial, where that is zero or nearly."""
    whole = isinstance(node, sympy.Pow) and node.exp.is_Integer and node.exp > 0
    if whole or not isinstance(node, sympy.Pow | sympy.log) or not node.args[0].has(z):
        return set()
    return _shortened(turns(node.args[0], z, "division", inner))


def _shortened(found: list[Feature]) -> set[Feature]:
    return {(_short(centre), float(f"{width:.2g}")) for centre, width in found}


def _from_inside(node: Any) -> tuple[int, Any]:
    return sympy.count_ops(node), sympy.default_sort_key(node)


def _roots(polynomial: Any) -> list[complex]:
    """The places of the roots, each once: search fails at multiple ones; none where it fails."""
    try:
        return [complex(root) for root in polynomial.sqf_part().nroots(n=20, maxsteps=500)]
    except mpmath.libmp.NoConvergence:
        return []


def _short(number: float) -> float:
    rounded = float(f"{number:.10g}")
    return 0.0 if abs(rounded) < _IMAGINARY else rounded
