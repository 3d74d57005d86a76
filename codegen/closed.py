"""Closed forms of the coefficients as numba text, with the sizes of their terms: where terms cancel,
quadrature serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from codegen.printers import Unprintable, numba_assignments, operations
from codegen.stable import stabilised
from derive.scalar import ScalarFunction

_JIT = '@njit(error_model="numpy", nogil=True)\n'
_MOST_TERMS = 80  # longer sums cost more than quadrature and compile slowly


@dataclass(frozen=True)
class ClosedForm:
    """numba text of `_closed` and `_one`, the text its signature depends on, and the number of operations."""

    text: str
    identity: str
    operations: int


def closed_form(scalar: ScalarFunction, coefficients: Any, quadrature: str) -> ClosedForm | None:
    """The closed form of `derive.coefficients` where all of it is elementary; None where quadrature has to
    serve.

    `quadrature` is the text of the call that serves where terms cancel.
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
        text = _text(sums, multiplied, _frequency(sums, s), quadrature)
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


def _text(sums: Sequence[Sequence[Any]], multiplied: bool, frequency: float, quadrature: str) -> str:
    targets = [(f"t{k}_{i}", term) for k, terms in enumerate(sums) for i, term in enumerate(terms)]
    lines = numba_assignments(targets) if targets else []
    labels = ("mu0 = E f(s + q g)", "mu1 = E g f(s + q g)", "mu2^2" if multiplied else "E f(s + q g)^2")
    for k, (terms, label) in enumerate(zip(sums, labels, strict=True)):
        names = [f"t{k}_{i}" for i in range(len(terms))]
        lines.append(f"sum{k} = {' + '.join(names) or '0.0'}  # {label}")
        lines.append(f"size{k} = {' + '.join(f'abs({n})' for n in names) or '0.0'}")
    if multiplied:
        lines.append("return sum0, sum1, sum2, size0, size1, size2")
    else:
        lines.append("size2 += 2.0 * (abs(sum0) * size0 + abs(sum1) * size1)")
        lines.append("return sum0, sum1, sum2 - sum0 * sum0 - sum1 * sum1, size0, size1, size2")
    magnified = f"_EPS * {frequency!r} * abs(s) * scale" if frequency else "0.0"
    # exp(-x^2/2) and Phi(-x) magnify the rounding of x = s/q by x^2; far out their terms are nothing
    rounding = "4.0 * _EPS" if multiplied else "_EPS * (4.0 + min((s / q) ** 2, 300.0))"
    body = "\n".join(f"    {line}" for line in lines)
    return f'''{_JIT}def _closed(s, q):
    """mu0, mu1, mu2^2 and the sums of the sizes of their terms."""
{body}


{_JIT}def _one(s, q, scratch, count):
    """Closed form where no digits that matter cancel, quadrature otherwise."""
    mu0, mu1, mu2sq, size0, size1, size2 = _closed(s, q)
    scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2sq)
    rounding = {rounding}
    error0 = rounding * size0
    error1 = rounding * size1
    error2 = rounding * size2
    if error0 <= 1e-13 * scale and error1 <= 1e-13 * scale and error2 <= 1e-12 * mu2sq:
        wave = {magnified}  # a wave magnifies the rounding of its argument
        return mu0, mu1, mu2sq, _relative(error0 + wave, error1 + wave, error2, wave, mu2sq, scale)
    return {quadrature}
'''
