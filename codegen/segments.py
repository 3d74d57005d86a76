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
    """numba text of the rows that `runtime.piecewise` reads."""
    lines = [sympy.Poly(piece, scalar.z) for _, _, piece in scalar.pieces]
    slopes = [line.coeff_monomial(scalar.z) for line in lines]
    starts = [line.coeff_monomial(1) for line in lines]
    roots = [-start / slope if slope != 0 else sympy.S.Zero for start, slope in zip(starts, slopes, strict=True)]
    levels = [start if slope == 0 else sympy.S.Zero for start, slope in zip(starts, slopes, strict=True)]
    steps = list(zip(lines, lines[1:], scalar.breakpoints, strict=False))
    unread = sympy.S.Zero  # the last piece has no end
    rows = (
        ([*scalar.breakpoints, unread], "ends of the pieces"),
        ([*map(_blur, scalar.breakpoints), unread], "what rounding did to them"),
        ([*(right.eval(b) - left.eval(b) for left, right, b in steps), unread], "jumps of f there"),
        ([*(right - left for left, right in zip(slopes, slopes[1:], strict=False)), unread], "of its slope"),
        (slopes, "slopes of the pieces"),
        (roots, "where they are zero"),
        ([*map(_blur, roots)], "what rounding did to that"),
        (levels, "levels of those that are constant"),
    )
    text = "".join(f"    {tuple(map(_number, values))!r},  # {words}\n" for values, words in rows)
    return f"SEGMENTS = (\n{text})"


def _number(value: Any) -> float:
    found = float(sympy.N(value, 30))
    return 0.0 if abs(found) < 1e-25 else found


def _blur(value: Any) -> float:
    """Distance of the nearest double."""
    return float(abs(sympy.N(value - sympy.Rational(_number(value)), 30, chop=True)))
