"""Piecewise polynomials (times exponentials) of one affine argument: truncated Gaussian moments by recursion.

With w = a + b g ~ N(m, v) and a cut at beta, Stein's lemma gives for F = 1, sign(w - beta), theta(w - beta)
the recursion  E[w^k F] = m E[w^(k-1) F] + v (k-1) E[w^(k-2) F] + v beta^(k-1) (jump of F) p(beta),  p the
density of w.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy

from derive.gaussian.breakpoints import split
from derive.gaussian.numeric import kinked_arguments
from derive.gaussian.rules.affine import affine, quadratic, ratio, root
from derive.gaussian.special import NormalCdf
from derive.language.grammar import ExpressionError

NAME = "truncated Gaussian moments by recursion"

_MOST_CANDIDATES = 12
_Groups = dict[tuple[Any, Any], dict[int, Any]]


def close(integrand: Any, g: sympy.Symbol) -> tuple[Any, tuple[str, ...]] | None:
    """E of a piecewise polynomial in g whose cuts are numbers in some affine argument w = a + b g."""
    if not kinked_arguments(integrand, g):
        return None
    for w, (a, b), in_w in _in_one_argument(integrand, g):
        try:
            pieces = split(in_w, w)
        except ExpressionError:
            continue
        groups = [_groups(expression, w) for expression in pieces.expressions]
        if any(group is None for group in groups):
            return None
        total = _expectation(pieces.breakpoints, groups, a, sympy.expand(b**2))
        return None if total is None else (total, (NAME,))
    return None


def _in_one_argument(integrand: Any, g: sympy.Symbol) -> Iterator[tuple[sympy.Symbol, tuple[Any, Any], Any]]:
    """Ways to write the integrand in w = a + b g such that its cuts do not depend on other symbols."""
    candidates = []
    for argument in kinked_arguments(integrand, g):
        for part in sympy.preorder_traversal(argument):
            if part.has(g) and part not in candidates:
                candidates.append(part)
    for candidate in candidates[:_MOST_CANDIDATES]:
        found = affine(candidate, g)
        if found is None:
            continue
        w = sympy.Dummy("w", real=True)
        in_w = integrand.xreplace({candidate: w}).subs(g, (w - found[0]) / found[1])
        cuts = kinked_arguments(in_w, w)
        if all(not (sympy.expand(cut).free_symbols - {w}) for cut in cuts):
            expanded = {cut: sympy.expand(cut) for cut in cuts}
            yield w, found, in_w.xreplace(expanded)


def _groups(expression: Any, w: sympy.Symbol) -> _Groups | None:
    """{(tau, rho): {k: coefficient}} for a sum of w^k exp(tau w + rho w^2); None for anything else."""
    groups: _Groups = {}
    expanded = sympy.expand(expression, power_base=False, power_exp=False, log=False)
    for term in sympy.Add.make_args(expanded):
        coefficient, power, tau, rho = sympy.S.One, 0, sympy.S.Zero, sympy.S.Zero
        for factor in sympy.Mul.make_args(term):
            if not factor.has(w):
                coefficient *= factor
            elif isinstance(factor, sympy.exp):
                found = quadratic(factor.args[0], w)
                if found is None:
                    return None
                coefficient, tau, rho = coefficient * sympy.exp(found[0]), tau + found[1], rho + found[2]
            else:
                base, times = factor.as_base_exp()
                if base != w or not (times.is_Integer and times > 0):
                    return None
                power += int(times)
        group = groups.setdefault((tau, rho), {})
        group[power] = group.get(power, sympy.S.Zero) + coefficient
    return groups


def _expectation(breakpoints: tuple[Any, ...], pieces: list[Any], mean: Any, variance: Any) -> Any:
    keys = sorted({key for piece in pieces for key in piece}, key=sympy.default_sort_key)
    total = sympy.S.Zero
    for tau, rho in keys:
        factor, m, v = _completed_square(mean, variance, tau, rho)
        if factor is None:
            return None
        total += factor * _sum_over_cuts(breakpoints, [piece.get((tau, rho), {}) for piece in pieces], m, v)
    return total


def _completed_square(mean: Any, variance: Any, tau: Any, rho: Any) -> tuple[Any, Any, Any]:
    """exp(tau w + rho w^2) joined to the density N(mean, variance): factor, new mean, new variance."""
    if tau == 0 and rho == 0:
        return sympy.S.One, mean, variance
    precision = ratio(1 - 2 * rho * variance)
    if not precision.is_positive:
        return None, mean, variance
    shifted = ratio((mean + tau * variance) / precision)
    exponent = ratio((tau * mean + rho * mean**2 + tau**2 * variance / 2) / precision)
    return sympy.exp(exponent) / root(precision), shifted, ratio(variance / precision)


def _sum_over_cuts(breakpoints: tuple[Any, ...], pieces: list[dict[int, Any]], m: Any, v: Any) -> Any:
    """E of the function as a smooth part plus a jump at every cut, the form chosen so that a vanishing side
    stays
    exactly zero far out: theta from the left or right, sign where neither side vanishes."""
    first, last = pieces[0], pieces[-1]
    left_zero, right_zero = not any(first.values()), not any(last.values())
    smooth: dict[int, Any]
    if left_zero and breakpoints:
        smooth, kind = {}, "above"
    elif right_zero and breakpoints:
        smooth, kind = {}, "below"
    else:
        smooth = {k: (first.get(k, 0) + last.get(k, 0)) / sympy.S(2) for k in {*first, *last}}
        kind = "sign"
    total = _weighted(smooth, _moments(max(smooth, default=0), m, v, None, "all"))
    for cut, left, right in zip(breakpoints, pieces, pieces[1:], strict=False):
        jump = {k: right.get(k, sympy.S.Zero) - left.get(k, sympy.S.Zero) for k in {*left, *right}}
        weight = {"above": sympy.S.One, "below": sympy.S.NegativeOne, "sign": sympy.S.Half}[kind]
        total += weight * _weighted(jump, _moments(max(jump, default=0), m, v, cut, kind))
    return total


def _weighted(coefficients: dict[int, Any], moments: list[Any]) -> Any:
    return sympy.Add(*(coefficients[k] * moments[k] for k in sorted(coefficients)))


def _moments(order: int, m: Any, v: Any, cut: Any, kind: str) -> list[Any]:
    """E[w^k F], k = 0..order, F = 1 (all), theta(w - cut) (above), theta(cut - w) (below), sign(w - cut)."""
    if kind == "all":
        start, density, jump = sympy.S.One, sympy.S.Zero, 0
    else:
        density = sympy.exp(-((m - cut) ** 2) / (2 * v)) / (sympy.sqrt(2 * sympy.pi) * root(v))
        start, jump = {
            "above": (NormalCdf((m - cut) / root(v)), 1),
            "below": (NormalCdf((cut - m) / root(v)), -1),
            "sign": (sympy.erf((m - cut) / (sympy.sqrt(2) * root(v))), 2),
        }[kind]
    moments = [start]
    for k in range(1, order + 1):
        value = m * moments[k - 1] + (v * (k - 1) * moments[k - 2] if k > 1 else 0)
        if jump:
            value += jump * v * (cut ** (k - 1) if k > 1 else 1) * density
        moments.append(value)
    return moments
