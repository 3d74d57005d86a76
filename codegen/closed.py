"""Closed forms of the coefficients as numba text, with the sizes of their terms: points where terms cancel are
left to quadrature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Unprintable
from codegen.print.scalar import operations
from codegen.stable import stabilised
from codegen.text import fitted
from derive.scalar import ScalarFunction

_WIDTHS = (0, *(sympy.Rational(2) ** k for k in range(-8, 9)))  # q at which a slope that depends on it is looked at
_MOST_TERMS = 80  # longer sums cost more than quadrature and compile slowly


@dataclass(frozen=True)
class ClosedForm:
    """numba text of `closed`, the text its signature depends on, the number of operations, and what its errors need."""

    text: str
    identity: str
    operations: int
    residual: bool
    frequency: float


def closed_form(scalar: ScalarFunction, coefficients: Any) -> ClosedForm | None:
    """The closed form of `derive.coefficients` where all of it is elementary; None where quadrature has to
    serve.
    """
    s, q = sympy.Symbol("s", real=True), sympy.Symbol("q", positive=True)
    # of smooth functions, what is linear in z leaves mu2^2 when it is multiplied out; of others nothing does
    multiplied = not scalar.breakpoints
    chosen = (coefficients.mu0, coefficients.mu1, coefficients.mu2sq if multiplied else coefficients.second)
    sums = [_terms(e.subs({coefficients.s: s, coefficients.c: q**2}, simultaneous=True)) for e in chosen]
    if sum(len(terms) for terms in sums) > _MOST_TERMS or any(e.free_symbols - {s, q} for t in sums for e in t):
        return None
    try:
        text = _text(sums, multiplied)
    except Unprintable:
        return None
    everything = [term for terms in sums for term in terms]
    return ClosedForm(
        text,
        sympy.srepr(sympy.Tuple(*chosen)),
        operations(everything),
        multiplied,
        _frequency(sums, s, q),
    )


def _terms(expression: Any) -> tuple[Any, ...]:
    """The expression as a sum of products, so that the size of what is added is known."""
    opened = stabilised(sympy.expand_mul(sympy.expand_mul(expression)))
    return tuple(sympy.Add(*[opened]).as_ordered_terms()) if opened != 0 else ()


def _frequency(sums: Sequence[Sequence[Any]], s: Any, q: Any) -> float:
    """Largest factor by which a wave magnifies the rounding of s, at any q."""
    waves = {wave for terms in sums for term in terms for wave in term.atoms(sympy.sin, sympy.cos)}
    slopes = [sympy.diff(wave.args[0], s) for wave in waves if wave.args[0].is_polynomial(s)]
    known = [slope for slope in slopes if not slope.has(s)]
    return max((abs(float(slope.subs(q, width))) for slope in known for width in _WIDTHS), default=0.0)


def _text(sums: Sequence[Sequence[Any]], multiplied: bool) -> str:
    lines = []
    targets = [(f"t{k}_{i}", term) for k, terms in enumerate(sums) for i, term in enumerate(terms)]
    lines += NumbaPrinter().assignments(targets) if targets else []
    labels = ("mu0 = E f(s + q g)", "mu1 = E g f(s + q g)", "mu2^2" if multiplied else "E f(s + q g)^2")
    for k, (terms, label) in enumerate(zip(sums, labels, strict=True)):
        names = [f"t{k}_{i}" for i in range(len(terms))]
        place = ("i", "n + i", "2*n + i")[k]
        lines.append(f"sums[{place}] = {' + '.join(names) or '0.0'}  # {label}")
        lines.append(f"sizes[{place}] = {' + '.join(f'abs({name})' for name in names) or '0.0'}")
    head = ["for i in range(n):", *(["    s = shifts[i]"] if any(re.search(r"\bs\b", line) for line in lines) else [])]
    return "\n".join(
        [
            "@compiled(CLOSED)",
            "def closed(n, shifts, q, sums, sizes):",
            '    """Sums of the coefficients, and of the absolute values of their terms."""',
            *(f"    {line}" for line in head),
            *fitted(lines, 8 * " "),
        ]
    )
