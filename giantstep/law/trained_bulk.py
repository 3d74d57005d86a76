"""The law of the trained bulk: weights over the spectrum of the covariance of its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from generated import bulk_resolvent
from giantstep.law.covariance import Covariance
from giantstep.law.residual import ResidualLaw, residual_law
from giantstep.law.row_norms import RowNorms
from giantstep.quadrature.contour import contour
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
_SETTLED = 1e-12
_LEVELS = 7
_CHECKED = (0.01, 0.1, 1.0)  # of the contour's distance, where sums over the nodes meet the resolvent itself
_FAR = 30.0  # times the largest eigenvalue: a shift at which the resolvent is next to that of no sample
_STEPS, _SHORTEST, _MOST = 15, 1e-9, 20_000  # of Newton's method; least part of a path, and how many parts
_SINGULAR = 1e-5  # least bound of Sigma that contours get past: 0 without noise of the rows
_REAL, _BESIDE = 1e-12, 1e-5  # of an imaginary part that is none; of one beside the axis, relative
_CLOSER, _NEAR = 0.2, 0.1  # what is left of the way from afar after each part, and where the last part begins
_TURN = 0.3  # relative change of the resolvent in a part of a path


@dataclass(frozen=True)
class BulkLaw:
    """Points x [J] of the spectrum of Sigma - 1, eigenvalues or the nodes of a contour, and weights [J] by name.

    ``law_tr``: of the trace; ``law_vv``, ``law_vo``, ``law_oo``: between the spike v and the rest theta_perp of the
    target. Sums of functions analytic off ``(-oo, -1]`` over the points are what they are over the spectrum.
    norms: of the squared norms of the rows of K blocks, ``chi`` [K], d times their variances, and weights of d times
    their covariances k_b with the rows, ``law_vn`` and ``law_on`` [K, J] with v and theta_perp, ``law_nn`` [K, K, J].
    """

    x: Array
    weights: Mapping[str, Array]
    norms: Mapping[str, Array] = field(default_factory=dict)


def law_of_vectors(x: Array, v: Array, theta: Array) -> BulkLaw:
    """The law of a given matrix: its eigenvalues [d], and unit vectors v and theta in its eigenbasis."""
    gamma = float(v @ theta)
    across = theta - gamma * v
    length = float(np.linalg.norm(across))
    across = across / length if length > 1e-7 else np.zeros_like(v)
    oo = across**2 if length > 1e-7 else np.full(len(x), 1.0 / len(x))
    weights = {"law_tr": np.full(len(x), 1.0 / len(x)), "law_vv": v * v, "law_vo": v * across, "law_oo": oo}
    return BulkLaw(x, weights)


@dataclass(frozen=True)
class _Between:
    """At one shift: the trace, and between pairs of theta and M vectors, of which the spike is the first."""

    trace: complex
    pairs: Array


def _each_pair(vectors: Array, trace: complex, of: Callable[[Array, Array], tuple[complex, ...]]) -> _Between:
    count = len(vectors)
    pairs = np.zeros((count + 1, count + 1), complex)
    for i in range(count):
        for j in range(i + 1):
            if i == j == 0 or vectors[i].any():
                pairs[0, 0], pairs[0, i + 1], pairs[i + 1, j + 1] = of(vectors[i], vectors[j])
                pairs[i + 1, 0], pairs[j + 1, i + 1] = pairs[0, i + 1], pairs[i + 1, j + 1]
    return _Between(trace, pairs)


def _spread_out(pairs: Array, spread: float) -> Array:
    """The same of the covariance with ``spread v v^T`` beside it. Source: Sherman and Morrison (1950)."""
    v = pairs[:, 1]
    return np.asarray(pairs - np.outer(v, v) * (spread / (1.0 + spread * v[1])))


def _rate_spread_out(pairs: Array, rates: Array, spread: float, rate: float) -> Array:
    """Its rate, by those of the pairs and of the spread."""
    v, moved = pairs[:, 1], rates[:, 1]
    part = 1.0 / (1.0 + spread * v[1])
    across = np.outer(v, moved)
    change = (rate - spread**2 * moved[1]) * part**2
    return np.asarray(rates - spread * part * (across + across.T) - change * np.outer(v, v))


@dataclass
class Resolvent:
    """(S, S_12, S_22) of a covariance at shifts w, S the mean of 1/(x + w).

    Found from the solution of a coarser one, on fewer nodes of the residual's law, or by continuation from the last w.
    """

    of: Covariance
    residual: ResidualLaw
    coarser: Resolvent | None = None
    known: dict[complex, Array] = field(default_factory=dict)
    place: complex | None = None
    last: Array = field(default_factory=lambda: np.zeros(3, complex))

    def at(self, w: complex) -> Array:
        """The three entries [3], off the spectrum of 1 - Sigma. Raises NotConverged."""
        if w in self.known:
            return self.known[w]
        if self.coarser is not None and (found := self._newton(w, self.coarser.at(w))) is not None:
            self.last = found
        elif self.place is None or not self._follow(self.place, w):
            self._from_afar(w)
        self.place, self.known[w] = w, self.last
        return self.last

    def outside(self, w: float) -> Array:
        """The same on the negative axis, where it is outside the spectrum of 1 - Sigma."""
        s = np.real(self.at(complex(w, _BESIDE * abs(w)))).astype(complex)
        for _ in range(_STEPS):
            value, slopes = bulk_resolvent.equations(w, *s, *self._parts(), *self._nodes())
            step = np.linalg.solve(slopes, value)
            s = s - step
            if _relative(step, s) < 1e-14:
                return np.asarray(s)
        raise NotConverged(
            f"the spectrum of the trained bulk has no edge below {1.0 - w:.6g}: residuals of the step without a bound "
            "make a few eigenvalues of any size",
            'use a bounded link such as tanh(2*z) or sign, or step.bulk = "isotropic"',
        )

    def between(self, w: complex, vectors: Array) -> _Between:
        """The resolvent at w between vectors [M, 2, N], sums over samples by their coefficients, and theta."""
        s = self.outside(w.real) if w.real < 0.0 and abs(w.imag) <= _REAL * abs(w) else self.at(w)
        found = self._between(w, s, vectors)
        return replace(found, pairs=_spread_out(found.pairs, self.of.spread))

    def _between(self, w: complex, s: Array, vectors: Array) -> _Between:
        """The same without the spread."""
        return _each_pair(
            vectors,
            complex(s[0]),
            lambda f, g: bulk_resolvent.projections(w, *s, *self._parts(), *f, *g, *self._nodes()),
        )

    def spike(self) -> Array:
        """The coefficients [2, N] of v along the batch's mean of e x."""
        length = math.hypot(*self.residual.overlaps, math.sqrt(self.residual.square / self.of.samples))
        return np.array([self.residual.e / length, np.zeros_like(self.residual.e)])

    def rates(self, w: complex, vectors: Array, moving: Covariance) -> _Between:
        """Rates of ``between`` of vectors that stay, where the parts of the covariance move at given rates."""
        s, along = self.at(w), np.array([moving.stretch, moving.noise])
        _, slopes = bulk_resolvent.equations(w, *s, *self._parts(), *self._nodes())
        moved = bulk_resolvent.rates(w, *s, *self._parts(), *self._nodes()) @ along
        d_s = -np.linalg.solve(slopes, moved)
        rates = (*self._parts(), *d_s, *along)
        found = _each_pair(
            vectors,
            complex(d_s[0]),
            lambda f, g: bulk_resolvent.projection_rates(w, *s, *rates, *f, *g, *self._nodes()),
        )
        still = self._between(w, s, vectors).pairs
        return replace(found, pairs=_rate_spread_out(still, found.pairs, self.of.spread, moving.spread))

    def _from_afar(self, w: complex) -> None:
        """Start where the samples hardly count, in the half plane of w, and follow the resolvent to w."""
        least, top = self.of.bounds(float(np.max(np.abs(self.residual.e))))
        side = 1j * math.copysign(1.0, w.imag) if w.imag else 1.0
        away = _FAR * (top - least + abs(w))
        here = w + side * away
        found = self._newton(here, np.array([1.0 / here, 0.0, -1.0], complex))
        if found is None:
            raise self._lost(w)
        self.last = found
        while away > _NEAR * abs(w):
            away *= _CLOSER
            there = w + side * away
            if not self._follow(here, there):
                raise self._lost(w)
            here = there
        if not self._follow(here, w):
            raise self._lost(w)

    def _follow(self, start: complex, end: complex) -> bool:
        """Newton's method along a straight path, in parts that change the resolvent by little."""
        here, part, moved = 0.0, 1.0, self.last
        for _ in range(_MOST):
            if here >= 1.0:
                self.last = moved
                return True
            there = min(1.0, here + part)
            w, before = (end if there == 1.0 else start + there * (end - start)), start + here * (end - start)
            found = self._newton(w, self._predicted(moved, before, w))
            if found is None or _relative(found - moved, moved) > _TURN and part > _SHORTEST:
                part *= 0.5
                if part < _SHORTEST:
                    return False
                continue
            here, part, moved = there, 2.0 * part, found
        return False

    def _predicted(self, s: Array, before: complex, w: complex) -> Array:
        _, slopes = bulk_resolvent.equations(before, *s, *self._parts(), *self._nodes())
        return np.asarray(s - np.linalg.solve(slopes, np.array([w - before, 0.0, 0.0])))

    def _newton(self, w: complex, s: Array) -> Array | None:
        """The solution near s; None where there is none, or its first entry is no resolvent of a spectrum."""
        before = math.inf
        for _ in range(_STEPS):
            value, slopes = bulk_resolvent.equations(w, *s, *self._parts(), *self._nodes())
            if not np.all(np.isfinite(slopes)):
                return None
            step = np.linalg.solve(slopes, value)
            size = _relative(step, s)
            if not size < max(0.5 * before, 1e-14):
                break
            s, before = s - step, size
            if size < 1e-8:  # the next one would be its square
                break
        right = np.imag(s[0]) * np.imag(w) < 0.0 if np.imag(w) else np.real(s[0]) > 0.0
        return s if right and before <= 1e-7 else None

    def _lost(self, w: complex) -> NotConverged:
        return NotConverged(f"the resolvent of the trained bulk was not found at w = {w:.6g}")

    def _parts(self) -> tuple[float, float]:
        return self.of.stretch, self.of.noise

    def _nodes(self) -> tuple[float, Array, Array, Array, Array]:
        law = self.residual
        return self.of.samples, law.e, law.weight, law.weight_t[0], law.weight_tt[0, 0]


def _relative(change: Array, s: Array) -> float:
    """The largest change of an entry; S_22 is one without samples and may pass zero, S_12 is in between."""
    last = max(1.0, abs(s[2]))
    size = np.array([abs(s[0]), math.sqrt(abs(s[0]) * last), last])
    return float(np.max(np.abs(change) / size))


@lru_cache(maxsize=64)
def trained_law(
    target: Target, mean: float, of: Covariance, gamma: float, sign: float, norms: RowNorms | None = None
) -> BulkLaw:
    """The law of the covariance of trained rows, and of their norms where these are given, for a target of one index.

    mean: the network's output at initialisation; gamma: alignment of spike and target; sign: of the spike along
    (1/n0) sum e x. Raises NotConverged. Source: THEORY section 5.
    """

    def make(resolvent: Resolvent, bounds: tuple[float, float]) -> BulkLaw:
        spike = resolvent.spike()[None]
        if norms is None:
            return _on_contour(bounds, gamma, sign, lambda w: resolvent.between(w, spike))
        chi, along = norms.of_blocks(resolvent.residual)
        vectors = np.concatenate([spike, along])
        law = _on_contour(bounds, gamma, sign, lambda w: resolvent.between(w, vectors))
        return replace(law, norms={"chi": chi, **law.norms})

    found, resolvent = _settled(target, mean, of, make)
    _certify(found, resolvent)
    return found


@lru_cache(maxsize=64)
def law_rates(
    target: Target,
    mean: float,
    of: Covariance,
    gamma: float,
    sign: float,
    rates: Covariance,
    norms: RowNorms | None = None,
) -> BulkLaw:
    """Rates of the weights of ``trained_law`` at its points where the parts of the covariance move at given rates.

    Those of the norms are along the rate of the step, by one.
    """

    def make(resolvent: Resolvent, bounds: tuple[float, float]) -> BulkLaw:
        spike = resolvent.spike()[None]
        if norms is None:
            return _on_contour(bounds, gamma, sign, lambda w: resolvent.rates(w, spike, rates))
        (_, along), (chi, moving) = norms.of_blocks(resolvent.residual), norms.rates(resolvent.residual)
        still, moved = np.concatenate([spike, along]), np.concatenate([0.0 * spike, moving])
        law = _on_contour(bounds, gamma, sign, lambda w: _moved(resolvent, w, still, moved, rates))
        return replace(law, norms={"chi": chi, **law.norms})

    return _settled(target, mean, of, make)[0]


def _moved(resolvent: Resolvent, w: complex, still: Array, moving: Array, covariance: Covariance) -> _Between:
    """The rate of the resolvent between vectors of which some move."""
    found, count = resolvent.rates(w, still, covariance), len(still) + 1
    if not moving.any():
        return found
    across = np.zeros_like(found.pairs)
    across[:, 1:] = resolvent.between(w, np.concatenate([still, moving])).pairs[:count, count:]
    return replace(found, pairs=found.pairs + across + across.T)


def _settled(
    target: Target, mean: float, of: Covariance, make: Callable[[Resolvent, tuple[float, float]], BulkLaw]
) -> tuple[BulkLaw, Resolvent]:
    """What is made of the resolvent on nodes of the residual's law, refined until it settles; on one contour."""
    previous: BulkLaw | None = None
    bounds: tuple[float, float] | None = None
    resolvent: Resolvent | None = None
    for level in range(_LEVELS):
        law = residual_law(target, mean, level)
        bounds = bounds or of.bounds(float(np.max(np.abs(law.e))))
        if bounds[0] + 1.0 < _SINGULAR:
            raise NotConverged(
                "the step adds next to no noise to the rows, as with an activation of degree two, and stretches them "
                "so much that their covariance may be singular",
                'use step.bulk = "isotropic", a smaller learning rate or another activation',
            )
        resolvent = Resolvent(of, law, resolvent)
        found = make(resolvent, bounds)
        if previous is not None and _distance(found, previous) <= _SETTLED:
            return found, resolvent
        previous = found
    raise NotConverged(
        f"the law of the trained bulk does not settle for the link {target.link!r}",
        'soften the link, or use step.bulk = "isotropic"',
    )


def _on_contour(
    bounds: tuple[float, float], gamma: float, sign: float, between: Callable[[complex], _Between]
) -> BulkLaw:
    """Weights on a contour around what lies between bounds, above -1, of the resolvent between spike and others."""
    least, top = bounds
    z, change = contour(min(1.0 + least, top - least), top - least)  # closer than need be where both are far apart
    rows = [between(-complex(point)) for point in z + least]
    trace = np.array([row.trace for row in rows]) * change
    every = np.moveaxis(np.array([row.pairs for row in rows]), 0, -1) * change
    tt, cross, pairs = every[0, 0], every[0, 1:], every[1:, 1:]
    cross[0], pairs[0, 1:], pairs[1:, 0] = sign * cross[0], sign * pairs[0, 1:], sign * pairs[1:, 0]
    across, rest = cross - gamma * pairs[0], 1.0 - gamma * gamma
    if rest > 1e-12:
        across = across / math.sqrt(rest)
        oo = (tt - 2.0 * gamma * cross[0] + gamma * gamma * pairs[0, 0]) / rest
    else:
        across, oo = 0.0 * across, trace
    weights = {"law_tr": trace, "law_vv": pairs[0, 0], "law_vo": across[0], "law_oo": oo}
    norms = {"law_vn": pairs[0, 1:], "law_on": across[1:], "law_nn": pairs[1:, 1:]} if len(pairs) > 1 else {}
    return BulkLaw(np.concatenate([z + least, (z + least).conj()]), _whole(weights), _whole(norms))


def _whole(upper: Mapping[str, Array]) -> dict[str, Array]:
    """Weights on the whole contour from those on its upper half."""
    return {name: np.concatenate([w, w.conj()], axis=-1) for name, w in upper.items()}


def _distance(one: BulkLaw, other: BulkLaw) -> float:
    """Largest difference of the weights of two rules on the same contour; the sum of weights is one."""
    of_law = max(float(np.max(np.abs(w - other.weights[name]))) for name, w in one.weights.items())
    size = max(1.0, float(np.max(np.abs(one.norms["chi"])))) if one.norms else 1.0
    norms = (np.abs(value - other.norms[name]) for name, value in one.norms.items())
    return max([of_law, *(float(np.max(each)) / size for each in norms)])


def _certify(found: BulkLaw, resolvent: Resolvent) -> None:
    """Raise NotConverged unless the rule gives total weights 1 and the resolvent at positive shifts."""
    sums = {name: complex(w.sum()) for name, w in found.weights.items()}
    errors = [
        abs(sums["law_tr"] - 1.0),
        abs(sums["law_vv"] - 1.0),
        abs(sums["law_oo"] - 1.0),
        abs(sums["law_vo"]),
    ]
    least, top = resolvent.of.bounds(float(np.max(np.abs(resolvent.residual.e))))
    for part in _CHECKED:
        w = -least + min(1.0 + least, top - least) / part
        exact = complex(resolvent.at(complex(w))[0]) * w
        errors.append(abs((found.weights["law_tr"] / (1.0 + found.x / w)).sum() - exact))
    if not max(errors) < 1e-11:
        raise NotConverged(f"the quadrature over the spectrum of the trained bulk has an error of {max(errors):.1e}")
