"""Constants of the rule for piecewise linear functions: jumps, kinks, slopes and zeros of the pieces."""

from __future__ import annotations

from typing import Any

import sympy

from derive.scalar import ScalarFunction


def is_piecewise_linear(scalar: ScalarFunction) -> bool:
    """Whether f has breakpoints and every piece is linear."""
    pieces = [piece for _, _, piece in scalar.pieces]
    return bool(scalar.breakpoints) and all(
        piece.is_polynomial(scalar.z) and sympy.degree(piece, scalar.z) <= 1 for piece in pieces
    )


def segment_constants(scalar: ScalarFunction) -> str:
    """numba text of the arrays that `templates/piecewise.py` reads."""
    lines = [sympy.Poly(piece, scalar.z) for _, _, piece in scalar.pieces]
    slopes = [line.coeff_monomial(scalar.z) for line in lines]
    starts = [line.coeff_monomial(1) for line in lines]
    roots = [
        -start / slope if slope != 0 else sympy.S.Zero for start, slope in zip(starts, slopes, strict=True)
    ]
    levels = [start if slope == 0 else sympy.S.Zero for start, slope in zip(starts, slopes, strict=True)]
    steps = list(zip(lines, lines[1:], scalar.breakpoints, strict=False))
    arrays = (
        ("_BLUR", [_blur(b) for b in scalar.breakpoints], "what rounding did to the breakpoints"),
        ("_JUMPS", [right.eval(b) - left.eval(b) for left, right, b in steps], "of f at its breakpoints"),
        ("_KINKS", [right - left for left, right in zip(slopes, slopes[1:], strict=False)], "of its slope"),
        ("_SLOPES", slopes, "of the pieces, where they are zero, what rounding did to that"),
        ("_ROOTS", roots, ""),
        ("_ROOT_BLUR", [_blur(root) for root in roots], ""),
        ("_LEVELS", levels, "of the pieces that are constant"),
    )
    return "\n".join(
        f"{name} = np.array({[_number(v) for v in values]!r})" + (f"  # {words}" if words else "")
        for name, values, words in arrays
    )


def _number(value: Any) -> float:
    found = float(sympy.N(value, 30))
    return 0.0 if abs(found) < 1e-25 else found


def _blur(value: Any) -> float:
    """Distance of the nearest double."""
    return float(abs(sympy.N(value - sympy.Rational(_number(value)), 30, chop=True)))
