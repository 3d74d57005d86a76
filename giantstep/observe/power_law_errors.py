"""The test error of random features at any size, for power laws: the equations whose balance are the exponents.

They are the deterministic equivalent of ``derive.power_law_rates``, for power laws without a last mode.
Source: THEORY section 10; Defilippis, Loureiro, Misiakiewicz 2024, arXiv:2405.15699.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy

from derive.power_law_rates import AT_SIZES, power_law_rates

Array = np.ndarray
_SINGLE, _LUMPS = 2000, 6000  # modes that are single ones, and those beyond, many in one
_LAST = 1e14  # the largest mode
_MOST = 600.0  # logarithm of a number that stands for no limit
_SIZES = 10.0 ** np.arange(1.0, 12.01, 1.0 / 6.0)  # of samples, at which exponents are compared


@dataclass(frozen=True)
class PowerLaw:
    """Eigenvalues j^-capacity and coefficients j^-source of the target, as in a model, up to a last one. For N samples
    there are N^width neurons and the ridge is N^(1 - ridge), for exponents (width, ridge), times those at one sample.
    """

    capacity: float
    source: float
    noise: float
    exponents: tuple[float, float]
    at_one: tuple[float, float]
    last: float = math.inf

    def error(self, samples: float) -> float:
        """The test error on clean labels."""
        from scipy.optimize import brentq  # not needed to solve

        modes, held = _modes(min(self.last, _LAST))
        eigenvalue, target = modes**-self.capacity, held * modes ** (-2.0 * self.source)
        neurons = self.at_one[0] * power(samples, self.exponents[0])
        penalty = self.at_one[1] * power(samples, 1.0 - self.exponents[1]) * float(np.sum(held * eigenvalue))
        known_of, errors_of = _equations()

        def known(nu2: float, order: int) -> float:
            return float(np.sum(held * (eigenvalue / (eigenvalue + nu2)) ** order))

        def first(nu2: float) -> float:
            return max(nu2 * (1.0 - known(nu2, 1) / neurons), 1e-300)

        def surplus(logarithm: float) -> float:
            nu2 = math.exp(logarithm)
            return known_of(samples, penalty, first(nu2)) - known(nu2, 1)

        nu2 = math.exp(brentq(surplus, -80.0, 40.0, xtol=1e-12))
        sums = [float(np.sum(part / (eigenvalue + nu2) ** 2)) for part in (target, target * eigenvalue)]
        chi = float(np.sum(held * eigenvalue / (eigenvalue + nu2) ** 2)) / (neurons - known(nu2, 2))
        sizes = (samples, neurons, penalty, self.noise, first(nu2), nu2, known(nu2, 1), known(nu2, 2))
        bias, variance = errors_of(*sizes, chi, *(each / float(np.sum(target)) for each in sums))
        return bias + variance

    def exponent(self, few: float, many: float) -> float:
        """How fast it falls from one number of samples to another."""
        return math.log(self.error(few) / self.error(many)) / math.log(many / few)

    def reached(self, rate: float, parts: tuple[float, ...]) -> tuple[float | None, ...]:
        """From how many samples on the exponent stays within these parts of a rate; None where not up to 1e12."""
        errors = np.log([self.error(float(size)) for size in _SIZES])
        off = np.abs(-np.diff(errors) / np.diff(np.log(_SIZES)) - rate)
        return tuple(_from(off > part * rate) for part in parts)


def _from(off: Array) -> float | None:
    last = int(np.flatnonzero(off)[-1]) if off.any() else -1
    return None if last == len(off) - 1 else float(_SIZES[last + 1])


def power(base: float, exponent: float) -> float:
    """base^exponent, or what stands for no limit."""
    return math.exp(max(min(exponent * math.log(base), _MOST), -_MOST))


@lru_cache(maxsize=8)
def _modes(last: float) -> tuple[Array, Array]:
    """Modes, and how many each stands for."""
    single = min(float(_SINGLE), last)
    ends = np.arange(0.5, single + 1.0)
    if last > _SINGLE:
        ends = np.concatenate([ends[:-1], np.geomspace(ends[-1], last + 0.5, _LUMPS)])
    modes, held = np.sqrt(ends[1:] * ends[:-1]), np.diff(ends)
    modes[: int(single)] = np.arange(1.0, int(single) + 1.0)
    return modes, held


@lru_cache(maxsize=1)
def _equations() -> tuple[Callable[..., float], Callable[..., tuple[float, float]]]:
    """df_1 that samples leave, of samples, ridge and nu_1; bias and variance, of all of ``AT_SIZES`` but Upsilon."""
    found = power_law_rates().sizes
    samples, _, penalty, _, nu1 = AT_SIZES[:5]
    errors = found.errors.xreplace({AT_SIZES[-1]: found.upsilon})
    return sympy.lambdify((samples, penalty, nu1), found.known[0], "math"), sympy.lambdify(
        AT_SIZES[:-1], tuple(errors), "math"
    )
