"""Closed forms of the coefficients as numba text, with the sizes of their terms: points where terms cancel are
left to quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from codegen.printers import Unprintable, numba_assignments, operations
from codegen.stable import stabilised
from derive.scalar import ScalarFunction

_MOST_TERMS = 80  # longer sums cost more than quadrature and compile slowly


@dataclass(frozen=True)
class ClosedForm:
    """numba text of `closed`, the text its signature depends on, and the number of operations."""

    text: str
    identity: str
    operations: int


def closed_form(scalar: ScalarFunction, coefficients: Any) -> ClosedForm | None:
    """The closed form of `derive.coefficients` where all of it is elementary; None where quadrature has to
    serve.
    """
    s, q = sympy.Symbol("s", real=True), sympy.Symbol("q", positive=True)
    # of smooth functions, what is linear in z leaves mu2^2 when it is multiplied out; of others nothing does
    multiplied = not scalar.breakpoints
    chosen = (coefficients.mu0, coefficients.mu1, coefficients.mu2sq if multiplied else coefficients.second)
    sums = [_terms(e.subs({coefficients.s: s, coefficients.c: q**2}, simultaneous=True)) for e in chosen]
    if sum(len(terms) for terms in sums) > _MOST_TERMS or any(
        e.free_symbols - {s, q} for t in sums for e in t
    ):
        return None
    try:
        text = _text(sums, multiplied, _frequency(sums, s))
    except Unprintable:
        return None
    everything = [term for terms in sums for term in terms]
    return ClosedForm(text, sympy.srepr(sympy.Tuple(*chosen)), operations(everything))


def _terms(expression: Any) -> tuple[Any, ...]:
    """The expression as a sum of products, so that the size of what is added is known."""
    opened = stabilised(sympy.expand_mul(sympy.expand_mul(expression)))
    return tuple(sympy.Add(*[opened]).as_ordered_terms()) if opened != 0 else ()


def _frequency(sums: Sequence[Sequence[Any]], s: Any) -> float:
    """Largest factor by which a wave magnifies the rounding of s."""
    waves = {wave for terms in sums for term in terms for wave in term.atoms(sympy.sin, sympy.cos)}
    slopes = [
        abs(float(sympy.N(sympy.diff(wave.args[0], s)))) for wave in waves if wave.args[0].is_polynomial(s)
    ]
    return max(slopes, default=0.0)


def _text(sums: Sequence[Sequence[Any]], multiplied: bool, frequency: float) -> str:
    targets = [(f"t{k}_{i}", term) for k, terms in enumerate(sums) for i, term in enumerate(terms)]
    lines = numba_assignments(targets) if targets else []
    labels = ("mu0 = E f(s + q g)", "mu1 = E g f(s + q g)", "mu2^2" if multiplied else "E f(s + q g)^2")
    for k, (terms, label) in enumerate(zip(sums, labels, strict=True)):
        names = [f"t{k}_{i}" for i in range(len(terms))]
        lines.append(f"mu{k} = {' + '.join(names) or '0.0'}  # {label}")
        lines.append(f"size{k} = {' + '.join(f'abs({n})' for n in names) or '0.0'}")
    if not multiplied:
        lines.append("mu2 -= mu0 * mu0 + mu1 * mu1")
        lines.append("size2 += 2.0 * (abs(mu0) * size0 + abs(mu1) * size1)")
    # exp(-x^2/2) and Phi(-x) magnify the rounding of x = s/q by x^2; far out their terms are nothing
    rounding = "4.0 * _EPS" if multiplied else "_EPS * (4.0 + min((s / q) ** 2, 300.0))"
    # a wave magnifies the rounding of its argument
    wave = f"_EPS * {frequency!r} * abs(s) * scale" if frequency else "0.0"
    body = "\n".join(f"        {line}" for line in lines)
    return f'''@njit(cache=True, **_ENTRY)
def closed(shifts, q, raw, scratch):
    """Closed forms, and from the sizes of their terms the errors; points where digits that matter cancel are
    marked.
    """
    for i in range(shifts.shape[0]):
        s = shifts[i]
{body}
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2)
        rounding = {rounding}
        error0 = rounding * size0
        error1 = rounding * size1
        error2 = rounding * size2
        wave = {wave}
        bound = 1e-13 * scale
        fine = error0 <= bound and error1 <= bound and error2 <= 1e-12 * mu2
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = mu2 if fine else math.nan
        raw[3, i] = error0 + wave
        raw[4, i] = error1 + wave
        raw[5, i] = error2
        raw[6, i] = wave
'''
