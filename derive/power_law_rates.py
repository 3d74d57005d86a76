"""How fast the test error of random features falls with the samples, for power laws of inputs and target.

Eigenvalues j^-a, coefficients j^-s of the target in whitened inputs, a linear activation; n = N samples, p = N^q
neurons, ridge N^(1-l). Dominant balance in the deterministic equivalent: every quantity is a power of N.

Source: THEORY section 10; Defilippis, Loureiro, Misiakiewicz 2024, arXiv:2405.15699, Theorem 4.1, where r is
(2s - 1)/2a.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.operations import computed
from derive.trace import Derivation, Recorder

CAPACITY, SOURCE, WIDTH, RIDGE = sp.symbols("a s q l", positive=True)
RESOLUTION = sp.Symbol("v", nonnegative=True)
_N, _P, _LAMBDA, _NOISE = sp.symbols("n p lambda noise", positive=True)
_NU1, _NU2, _DF1, _DF2, _CHI, _UPSILON, _FAR, _NEAR = sp.symbols(
    "nu_1 nu_2 df_1 df_2 chi Upsilon B_1 B_2", positive=True
)
#: Samples, neurons, ridge and noise; both ridges; sums over modes; and Upsilon.
AT_SIZES = (_N, _P, _LAMBDA, _NOISE, _NU1, _NU2, _DF1, _DF2, _CHI, _FAR, _NEAR, _UPSILON)
_POWER, _ORDER = sp.symbols("c k", nonnegative=True)
_SOURCE = "arXiv:2405.15699"
_UNTESTED = "a leading power of N; it is compared with solved curves"


@dataclass(frozen=True)
class PowerLawRates:
    """Exponents: nu_2 = N^-resolution; bias and variance of the test error fall as N^-bias and N^-variance.

    sizes: the equations of all sizes that they are the balance of.
    """

    resolution: sp.Expr
    bias: sp.Expr
    variance: sp.Expr
    sizes: EquationsOfSizes
    derivation: Derivation


@dataclass(frozen=True)
class EquationsOfSizes:
    """The deterministic equivalent, in the symbols of ``AT_SIZES``: df_1 as samples and as neurons leave it, Upsilon,
    and the bias and the variance of the test error.
    """

    known: sp.Tuple
    upsilon: sp.Expr
    errors: sp.Tuple


@lru_cache(maxsize=1)
def power_law_rates() -> PowerLawRates:
    """Derive the exponents, as functions of a, s, q and l."""
    trace = Recorder("Rates for power laws")
    sizes = _record_setting(trace)
    resolution = _record_resolution(trace)
    bias, variance = _record_errors(trace)
    return PowerLawRates(resolution, bias, variance, sizes, trace.finish())


def _record_setting(trace: Recorder) -> EquationsOfSizes:
    trace.given(
        "sizes",
        sp.Tuple(_N, _P, _LAMBDA / _N),
        sp.Tuple(1, WIDTH, -RIDGE),
        "powers of $N$: samples, neurons, ridge over samples",
    )
    known = trace.assume(
        "effective ridges",
        sp.Tuple(_DF1, _DF1),
        sp.Tuple(_N - _LAMBDA / _NU1, _P - _P * _NU1 / _NU2),
        "the deterministic equivalent, $\\mathrm{df}_1=\\mathrm{Tr}\\,S(S+\\nu_2)^{-1}$, $\\nu_1\\le\\nu_2$",
        source=_SOURCE,
        assumption="linear activation, random features of a fixed spectrum",
    )
    errors = trace.assume(
        "errors",
        sp.Tuple(sp.Symbol("bias"), sp.Symbol("variance")),
        sp.Tuple(_NU2**2 * (_FAR + _CHI * _NEAR) / (1 - _UPSILON), _NOISE * _UPSILON / (1 - _UPSILON)),
        "with $B_1=b(S+\\nu_2)^{-2}b$, $B_2=bS(S+\\nu_2)^{-2}b$ and "
        "$\\chi=\\mathrm{Tr}\\,S(S+\\nu_2)^{-2}/(p-\\mathrm{df}_2)$",
        source=_SOURCE,
        assumption="as above",
    )
    upsilon = trace.assume(
        "variance of the features",
        _UPSILON,
        _P / _N * ((_DF1 / _P) ** 2 + (1 - _DF1 / _P) ** 2 * _DF2 / (_P - _DF2)),
        "$1-\\nu_1/\\nu_2$ is $\\mathrm{df}_1/p$, and $\\mathrm{df}_2=\\mathrm{Tr}\\,S^2(S+\\nu_2)^{-2}$",
        source=_SOURCE,
        assumption="as above",
    )
    return EquationsOfSizes(known, upsilon, errors)


def _record_resolution(trace: Recorder) -> sp.Expr:
    """The exponent of nu_2."""
    trace.define(
        "sum over modes",
        sp.Symbol("sum_j j^-c/(j^-a + nu)^k"),
        _both_sides(_POWER, _ORDER),
        "its power of $1/\\nu$: modes up to $\\nu^{-1/a}$ are known, and count $j^{ak-c}$, or by the first of them; "
        "those beyond count $\\nu^{-k}j^{-c}$",
    )
    return trace.derive(
        "resolution",
        RESOLUTION,
        computed(
            "balance",
            "$\\nu_2=N^{-v}$ is as small as three bounds allow: $\\nu_1\\ge\\lambda/n$, and at most $n$ and $p$ modes "
            "are known",
            "sizes",
            "effective ridges",
            "sum over modes",
            by=lambda sizes, _, modes: _largest_resolution(sizes, modes),
            test=_UNTESTED,
        ),
        _SOURCE,
    )


def _both_sides(power: sp.Expr, order: sp.Expr) -> sp.Expr:
    """Modes that are known, and those beyond."""
    return sp.Max(0, (1 - power + CAPACITY * order) / CAPACITY, order + (1 - power) / CAPACITY)


def _largest_resolution(sizes: sp.Tuple, modes: sp.Expr) -> sp.Expr:
    samples, width, ridge = sizes
    per_mode = _at(modes, CAPACITY, 1)  # known modes are nu^-this
    return sp.Min(-ridge, samples / per_mode, width / per_mode)


def _at(modes: sp.Expr, power: sp.Expr, order: int) -> sp.Expr:
    return sp.simplify(modes.subs({_POWER: power, _ORDER: order}))


def _record_errors(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """Exponents of bias and variance, by that of nu_2."""
    bias = trace.derive(
        "exponent of the bias",
        sp.Symbol("bias exponent"),
        computed(
            "balance",
            "the larger one of both parts, with $1-\\Upsilon$ of order one",
            "errors",
            "sizes",
            "sum over modes",
            by=lambda _, sizes, modes: _of_bias(sizes, modes),
            test=_UNTESTED,
        ),
        _SOURCE,
    )
    variance = trace.derive(
        "exponent of the variance",
        sp.Symbol("variance exponent"),
        computed(
            "balance",
            "the larger one of both parts of $\\Upsilon$",
            "variance of the features",
            "sizes",
            "sum over modes",
            by=lambda _, sizes, modes: _of_variance(sizes, modes),
            test=_UNTESTED,
        ),
        _SOURCE,
    )
    return bias, variance


def _of_bias(sizes: sp.Tuple, modes: sp.Expr) -> sp.Expr:
    _, width, _ = sizes
    far, near = _at(modes, 2 * SOURCE, 2), _at(modes, CAPACITY + 2 * SOURCE, 2)
    chi = RESOLUTION * _at(modes, CAPACITY, 2) - width
    first, second = RESOLUTION * (2 - far), RESOLUTION * (2 - near) - chi
    return sp.Min(first, second)


def _of_variance(sizes: sp.Tuple, modes: sp.Expr) -> sp.Expr:
    samples, width, _ = sizes
    first, second = RESOLUTION * _at(modes, CAPACITY, 1), RESOLUTION * _at(modes, 2 * CAPACITY, 2)
    return samples - width - sp.Max(2 * (first - width), second - width)
