"""The orders P_k(kappa) of the mean features in the strength of a small step, at a fixed and at a trained bias.

At a bias b the mean features are ``sum_k w^k P_k(kappa; b)``, the leading coefficient of P_k a multiple of
``h_k(b) = E He_k(g) sigma(g + b)``. Wherever no h_k vanishes, P_0, ..., P_L span the polynomials of degree L, whatever
b. A bias near zero, where some of the h_k may vanish, is a parameter of its own: b = w^tau beta makes of an order that
vanishes with n derivatives one of the exponent k + n tau. Where this meets the exponent of another order that the
readout cannot tell apart from the rest, both are features, mixed by beta: one more than the readout has values.
Source: [MON23]; THEORY section 7; docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import herme2poly

from generated.step import ORDERS, cost_exponent, mean_features
from giantstep.law.gradient_step import scale_of_step
from giantstep.law.moments import hermite_moments
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Network, Step, Target

Polynomial = tuple[float, ...]

_VANISHES = 1e-12  # of a moment or a coefficient beside the largest: rounding
_BIASES = (0.37, -1.29)  # any two at which no moment vanishes that does not vanish everywhere
_CLOSE = 1e-6  # of an exponent, on both sides of where two meet


def told_apart(network: Network, orders: Iterable[int]) -> list[int]:
    """The orders, the first ones before others, whose powers of the readout's values are linearly independent."""
    values = np.array(sorted(set(network.readout.values)))
    values = values / np.abs(values).max()
    chosen: list[int] = []
    for k in orders:
        directions = np.stack([values**power for power in (*chosen, k)])
        if np.linalg.matrix_rank(directions, tol=1e-9) > len(chosen):
            chosen.append(k)
    return chosen


@lru_cache(maxsize=64)
def orders_of(network: Network, step: Step, target: Target) -> tuple[Polynomial, ...]:
    """The orders of the mean features at the initial bias, with largest coefficient one; zeros where one vanishes."""
    return _orders(network, step, target, 0)


def free_polynomials(network: Network, step: Step, target: Target, highest: int, bias: float) -> dict[int, Polynomial]:
    """The polynomials up to an order that are features where the bias is trained and has a value.

    All of the degrees that the readout tells apart; at a bias of zero, where some orders may vanish, one more.
    """
    rho, _, _ = scale_of_step(network, step, target)
    present = [k for k in range(highest + 1) if k == 0 or rho > 0.0 and _varies(network.activation, k)]
    if bias == 0.0 and (found := _at_zero(network, step, present)):
        vanishing = _vanishing(network.activation)
        return {k: _orders(network, step, target, vanishing[k])[k] for k in found}
    chosen = told_apart(network, present)
    return {k: tuple(float(c) for c in herme2poly([0.0] * k + [1.0])) for k in chosen}


def _at_zero(network: Network, step: Step, present: list[int]) -> list[int]:
    """Orders that a bias near zero mixes with those that the readout tells apart, at the smallest bias that does."""
    vanishing = _vanishing(network.activation)
    known = [k for k in present if k in vanishing]

    def chosen(tau: float) -> list[int]:
        exponents = {k: k + vanishing[k] * tau for k in known}
        free = [k for k in known if cost_exponent(exponents[k], step.exponent) < 0.0]
        return told_apart(network, sorted(free, key=lambda k: exponents[k]))

    meeting = {
        (j - i) / (vanishing[i] - vanishing[j]) for i in known for j in known if i < j and vanishing[i] > vanishing[j]
    }
    for tau in sorted(meeting, reverse=True):
        larger, smaller = chosen(tau - _CLOSE), chosen(tau + _CLOSE)
        if set(smaller) - set(larger):
            return sorted({*larger, *smaller})
    return []


def _varies(activation: str, k: int) -> bool:
    """Whether h_k vanishes at some biases only: the k-th derivative of the activation is not zero."""
    return any(abs(_moments(activation, bias)[k]) > 0.0 for bias in _BIASES)


@lru_cache(maxsize=64)
def _vanishing(activation: str) -> Mapping[int, int]:
    """How many derivatives of h_k in the bias vanish with it at zero, for each k: dh_k/db = h_(k+1)."""
    moments = _moments(activation, 0.0)
    found = {}
    for k in range(ORDERS + 1):
        later = [n for n, moment in enumerate(moments[k:]) if moment]
        if later:
            found[k] = later[0]
    return found


@lru_cache(maxsize=256)
def _moments(activation: str, bias: float) -> Polynomial:
    """h_n(bias) for n = 0 ... 2 ORDERS, zero where it is rounding."""
    found = hermite_moments(activation, function_kernel(activation).BREAKPOINTS, 2 * ORDERS, bias)
    # He_n has the norm sqrt(n!)
    sizes = np.sqrt(np.cumprod([1.0, *range(1, 2 * ORDERS + 1)]))
    largest = max(abs(h) / size for h, size in zip(found, sizes, strict=True))
    return tuple(h if abs(h) > _VANISHES * largest * s else 0.0 for h, s in zip(found, sizes, strict=True))


def _orders(network: Network, step: Step, target: Target, derivatives: int) -> tuple[Polynomial, ...]:
    """The orders, or their derivatives in the bias, at the initial bias."""
    kernel, last = function_kernel(network.activation), 2 * ORDERS + derivatives
    moments = hermite_moments(network.activation, kernel.BREAKPOINTS, last, network.initial_bias)[derivatives:]
    rho, drift, spread = scale_of_step(network, step, target)
    found = mean_features(rho, drift, spread, moments)
    largest = max(map(abs, moments))
    size = max(abs(rho), abs(drift), spread**0.5)
    scaled = []
    for k, polynomial in enumerate(found):
        top = max(map(abs, polynomial))
        vanishes = top <= _VANISHES * largest * size**k
        # what cancels to rounding beside the largest coefficient vanishes
        scaled.append(tuple(0.0 if vanishes or abs(c) < _VANISHES * top else c / top for c in polynomial))
    return tuple(scaled)
