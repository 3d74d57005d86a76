"""The law of the trained bulk: weights over the spectrum of the matrix C that its covariance depends on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generated import bulk_resolvent
from giantstep.law.residual import ResidualLaw, residual_law
from giantstep.quadrature.contour import contour
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
_SETTLED = 1e-12
_LEVELS = 7
_CHECKED = (
    0.01,
    0.1,
    1.0,
)  # of the largest covariance factor, where sums over the nodes meet the resolvent itself


@dataclass(frozen=True)
class BulkLaw:
    """Points x [J] of the spectrum, eigenvalues or the nodes of a contour, and weights [J] by name.

    ``law_tr``: of the trace; ``law_vv``, ``law_vo``, ``law_oo``: between the spike v and the rest theta_perp of the
    target. Sums of functions analytic off ``(-oo, -1/factor]`` over the points are what they are over the spectrum.
    """

    x: Array
    weights: Mapping[str, Array]


def law_of_vectors(x: Array, v: Array, theta: Array) -> BulkLaw:
    """The law of a given matrix: its eigenvalues [d], and unit vectors v and theta in its eigenbasis."""
    gamma = float(v @ theta)
    across = theta - gamma * v
    length = float(np.linalg.norm(across))
    across = across / length if length > 1e-7 else np.zeros_like(v)
    oo = across**2 if length > 1e-7 else np.full(len(x), 1.0 / len(x))
    weights = {"law_tr": np.full(len(x), 1.0 / len(x)), "law_vv": v * v, "law_vo": v * across, "law_oo": oo}
    return BulkLaw(x, weights)


@lru_cache(maxsize=64)
def trained_law(target: Target, mean: float, samples: float, factor: float, gamma: float, sign: float) -> BulkLaw:
    """The law of ``C = (1/n0) sum e^2 x x^T`` for a target of one index.

    mean: the network's output at initialisation; samples: n0/d; factor: the largest a of the covariances 1 + a C;
    gamma: alignment of spike and target; sign: of the spike along (1/n0) sum e x. Raises NotConverged.
    Source: THEORY section 5.
    """
    if factor <= 0.0:
        point = np.zeros(1)
        return BulkLaw(point, {"law_tr": point + 1.0, "law_vv": point + 1.0, "law_vo": point, "law_oo": point + 1.0})
    previous: BulkLaw | None = None
    top = 0.0
    for level in range(_LEVELS):
        law = residual_law(target, mean, level)
        top = top or 1.0001 * float(np.max(law.e**2)) * (1.0 + 1.0 / math.sqrt(samples)) ** 2
        found = _on_contour(law, samples, 1.0 / factor, top, gamma, sign)
        if previous is not None and _distance(found, previous) <= _SETTLED:
            _certify(found, law, samples, factor)
            return found
        previous = found
    raise NotConverged(
        f"the law of the trained bulk does not settle for the link {target.link!r}",
        'soften the link, or use step.bulk = "isotropic"',
    )


def _on_contour(law: ResidualLaw, samples: float, gap: float, top: float, gamma: float, sign: float) -> BulkLaw:
    nodes = (law.e, law.weight, law.weight_t, law.weight_tt)
    length = math.sqrt(law.overlap**2 + law.square / samples)
    z, change = contour(min(gap, top), top)  # closer than need be where both are far apart, which costs nothing
    rows, s = [], None
    for point in z:
        s = resolvent_trace(law, samples, -complex(point), s)
        along, cross, own = bulk_resolvent.projections(-complex(point), s, length, samples, *nodes)
        rows.append((s, own, sign * cross, along))
    trace, vv, vt, tt = np.array(rows).T * change
    rest = 1.0 - gamma * gamma
    if rest > 1e-12:
        vo = (vt - gamma * vv) / math.sqrt(rest)
        oo = (tt - 2.0 * gamma * vt + gamma * gamma * vv) / rest
    else:
        vo, oo = np.zeros_like(trace), trace
    weights = {"law_tr": trace, "law_vv": vv, "law_vo": vo, "law_oo": oo}
    both = {name: np.concatenate([w, w.conj()]) for name, w in weights.items()}
    return BulkLaw(np.concatenate([z, z.conj()]), both)


def resolvent_trace(law: ResidualLaw, samples: float, w: complex, near: complex | None = None) -> complex:
    """S = (1/d) tr (C + w)^-1 in the limit, off the spectrum of -C. Raises NotConverged.

    The fixed-point iteration maps a half plane into itself and converges to the only solution there; Newton's method,
    from its iterates or from a solution ``near``, is faster, and has found it where it ends in that half plane.
    """
    nodes = (samples, law.e, law.weight, law.weight_t, law.weight_tt)
    s = 1.0 / w
    if near is not None:
        found = _newton(nodes, w, near)
        if found is not None:
            return found
    for _ in range(300):
        for _ in range(6):
            value, _ = bulk_resolvent.equation(w, s, *nodes)
            s = s / (1.0 + value)
        found = _newton(nodes, w, s)
        if found is not None:
            return found
    raise NotConverged(f"the resolvent of the trained bulk was not found at w = {w}")


def _newton(nodes: tuple[float, Array, Array, Array, Array], w: complex, s: complex) -> complex | None:
    """The solution in the right half plane, or None."""
    before = math.inf
    for _ in range(15):
        value, slope = bulk_resolvent.equation(w, s, *nodes)
        step = abs(value / slope)
        if not step < max(0.5 * before, 1e-14 * abs(s)):
            break
        s, before = s - value / slope, step
        if step < 1e-13 * abs(s):  # the next one would be its square
            break
    right = np.imag(s) * np.imag(w) < 0.0 if np.imag(w) else np.real(s) > 0.0
    return complex(s) if right and before <= 1e-12 * abs(s) else None


def _distance(one: BulkLaw, other: BulkLaw) -> float:
    """Largest difference of the weights of two rules on the same contour; the sum of weights is one."""
    return max(float(np.max(np.abs(w - other.weights[name]))) for name, w in one.weights.items())


def _certify(found: BulkLaw, law: ResidualLaw, samples: float, factor: float) -> None:
    """Raise NotConverged unless the rule gives total weights 1 and the resolvent at positive shifts."""
    sums = {name: complex(w.sum()) for name, w in found.weights.items()}
    errors = [
        abs(sums["law_tr"] - 1.0),
        abs(sums["law_vv"] - 1.0),
        abs(sums["law_oo"] - 1.0),
        abs(sums["law_vo"]),
    ]
    for part in _CHECKED:
        w = 1.0 / (part * factor)
        exact = resolvent_trace(law, samples, w) * w
        errors.append(abs((found.weights["law_tr"] / (1.0 + found.x / w)).sum() - exact))
    if not max(errors) < 1e-11:
        raise NotConverged(f"the quadrature over the spectrum of the trained bulk has an error of {max(errors):.1e}")
