"""Conditional Gaussian coefficients of a function by the rules that serve it, cheapest first.

Written by hand, in codegen/runtime/coefficients.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.compiling import Compiled, closed_at, entry, making_entry, values_at
from generated.runtime.gaussian import EPS, FARTHEST, REACH
from generated.runtime.panels import panels
from generated.runtime.patches import Row, band_of, width_of
from generated.runtime.piecewise import piecewise
from generated.runtime.trapezoid import trapezoid, trapezoid_nodes

_PAYING = 1600  # nodes of a rule that is quick enough to make patches of
_PARITIES = "none", "odd", "even"
_SATURATED = 1e-6  # E (f - limit)^2 relative to limit^2 from which on digits of it are lost in f
SCRATCH_SHAPE = (420, 52)  # least shape of `scratch`; more rows allow more panels of 52 numbers
Array = np.ndarray
Rule = Callable[[Array, float, Array, Array], int]


@dataclass(frozen=True)
class Closed:
    """Closed forms as sums of terms, and what magnifies the rounding of their arguments."""

    terms: Compiled
    residual: bool  # whether the third sum is mu2^2, not E f^2
    frequency: float  # largest factor by which a wave magnifies the rounding of s


@dataclass(frozen=True, eq=False)
class Function:
    """A scalar function f: its values, and what the rules have to know about it."""

    values: Compiled
    parity: str = "none"
    breaks: tuple[float, ...] = ()
    features: tuple[tuple[float, float], ...] = ()  # (centre, width)
    steepness: float = 0.0  # of its smooth parts
    wave: float = 0.0  # the sum of its frequencies
    smooth: bool = False  # whether the trapezoid serves
    segments: tuple[tuple[float, ...], ...] = ()  # of a piecewise linear function: see `piecewise`
    closed: Closed | None = None
    limits: tuple[tuple[float, Compiled], ...] = ()  # of a saturating function: a constant, and f without it
    rules: tuple[Rule, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Each rule(shifts, q, raw, scratch) fills raw[7, n]: mu0, mu1, mu2^2, their errors and the noise of f.

        Each is for the points that those before it mark by a mu2^2 that is not a number; it returns how many it marks.
        """
        chosen = [self.piecewise] if self.segments else []
        chosen += [self.closed_form] if self.closed is not None else []
        chosen += [self.patches] if self.smooth and not chosen else []
        chosen += [self.near, self.far] if self.smooth else []
        object.__setattr__(self, "rules", (*chosen, self.panels))

    def value(self, z: Array, out: Array) -> None:
        """f itself: out[i] = f(z[i])."""
        evaluate(self.values.address, z, out)

    def piecewise(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Truncated moments."""
        return int(piecewise(self._segments, shifts, q, raw))

    def closed_form(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Closed forms; points where digits that matter cancel are marked."""
        assert self.closed is not None
        form = self.closed.terms.address, self.closed.residual, self.closed.frequency
        return int(closed_form(*form, shifts, q, raw))

    def patches(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Chebyshev sums, made of the trapezoid rules; points without are marked."""
        row = _row(self, band_of(q))
        return _without(raw) if row is None else row.fill(shifts, q, raw)

    def near(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Trapezoid rule as far as the Gaussian weight matters."""
        return self._trapezoid(shifts, q, raw, REACH)

    def far(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Trapezoid rule into the tails, where f is so small around s that they count."""
        return self._trapezoid(shifts, q, raw, FARTHEST)

    def panels(self, shifts: Array, q: float, raw: Array, scratch: Array) -> int:
        """Adaptive panels in g."""
        breaks, centres, widths = self._places
        panels(self.values.address, breaks, centres, widths, shifts, q, raw, scratch)
        return 0

    def coefficients(self, s: Array, c: float, out: Array, scratch: Array) -> float:
        """mu0 = E f(s + sqrt(c) g), mu1 = E g f, mu2^2 = E f^2 - mu0^2 - mu1^2, g ~ N(0, 1)  [CUI24, Result 3.2].

        s: (n,) shifts; c >= 0: one variance; out: (3, n), filled; scratch: of SCRATCH_SHAPE or with more rows.
        Returns the worst estimated error of mu0, mu1 and mu2, relative to sqrt(E f^2); infinite where an
        expectation does not exist or overflows. A rule is compiled when the ones before it leave a point to it.
        """
        if scratch.shape[0] < SCRATCH_SHAPE[0] or scratch.shape[1] != SCRATCH_SHAPE[1]:
            raise ValueError("scratch has the wrong shape: it needs SCRATCH_SHAPE, or more rows")
        if not c >= 0.0:
            raise ValueError("c is a variance: it must be zero or positive")
        if c == 0.0:
            self.value(np.array(s), out[0])
            out[1:] = 0.0
            return 0.0
        with np.errstate(all="ignore"):
            parity, shifts = _PARITIES.index(self.parity), np.empty(s.size)
            half = fold(s, parity, shifts)
            raw = self._by_rules(self.rules, shifts[: s.size - half], math.sqrt(c), scratch)
            for limit, rest in self._rests:
                rest._put_beside(limit, shifts[: s.size - half], math.sqrt(c), raw)
            return float(unfold(raw, s, parity, half, out))

    def _by_rules(self, rules: Sequence[Rule], shifts: Array, q: float, scratch: Array) -> Array:
        raw = np.empty((7, shifts.size))
        marked = rules[0](shifts, q, raw, scratch)
        for rule in rules[1:]:
            if marked == 0:
                break
            here = np.flatnonzero(np.isnan(raw[2]))
            again = np.empty((7, here.size))
            marked = rule(shifts[here], q, again, scratch)
            put(again, 0.0, here, raw)
        return raw

    def _put_beside(self, limit: float, shifts: Array, q: float, raw: Array) -> None:
        """Coefficients of a function where it is next to a limit, by self, which is what it has beside that: of mu1 and
        mu2 rounding of the function itself has few digits there, and none further out.
        """
        here = saturated(raw, limit)
        if here.size > 0:  # panels add nothing to tails
            put(self._by_rules(self.rules[:-1], shifts[here], q, raw), limit, here, raw)

    def _trapezoid(self, shifts: Array, q: float, raw: Array, reach: float) -> int:
        nodes = trapezoid_nodes(q, reach, self.steepness, self.wave)
        return _without(raw) if nodes is None else int(trapezoid(self.values.address, shifts, q, raw, nodes))

    def by_trapezoid(self, shifts: Array, q: float) -> Array:
        """raw[7, n] by the trapezoid rules; not numbers where they give up."""
        return self._by_rules((self.near, self.far), shifts, q, np.empty((0, 0)))

    @cached_property
    def _places(self) -> tuple[Array, Array, Array]:
        centres = np.array([centre for centre, _ in self.features])
        return np.array(self.breaks, dtype=float), centres, np.array([width for _, width in self.features])

    @cached_property
    def _rests(self) -> tuple[tuple[float, "Function"], ...]:
        """What f has beside its limits, as functions."""
        made = (Function(rest, steepness=self.steepness, wave=self.wave, smooth=True) for _, rest in self.limits)
        return tuple((limit, rest) for (limit, _), rest in zip(self.limits, made, strict=True))

    @cached_property
    def _segments(self) -> Array:
        return np.array(self.segments)


@lru_cache(maxsize=64)
def _row(function: Function, band: int) -> Row | None:
    """The patches of a function, up to eight of 62 kB; None where its rules take too many nodes to make them."""
    found = Row(function.by_trapezoid, band, width_of(band, function.steepness, function.wave))
    nodes = trapezoid_nodes(found.place.most, REACH, function.steepness, function.wave)
    return None if nodes is None or nodes.shape[1] > _PAYING else found


def _without(raw: Array) -> int:
    """What a rule says that serves no point."""
    raw[2] = np.nan
    return len(raw[2])


@making_entry
def saturated(raw, limit):
    """The places of raw[7, n] where a function is next to a limit, in order."""
    places, count = np.empty(raw.shape[1], np.int64), 0
    for i in range(raw.shape[1]):
        if (raw[0, i] - limit) ** 2 + raw[1, i] ** 2 + raw[2, i] <= _SATURATED * limit * limit:
            places[count] = i
            count += 1
    return places[:count]


@entry
def put(found, limit, places, raw):
    """Put what was found of a function without its limit into raw[7, n], where it is known."""
    for j in range(places.shape[0]):
        if not math.isnan(found[2, j]):
            for row in range(7):
                raw[row, places[j]] = found[row, j]
            raw[0, places[j]] += limit


@entry
def fold(s, parity, shifts):
    """Shifts that rules are asked for: sizes of s[n] for a function with a parity; returns how many at the start are
    those at the end, turned, and are left out: half of them, or none.
    """
    count = s.shape[0]
    half = count // 2 if parity > 0 else 0
    for i in range(half):
        if s[i] != -s[count - 1 - i]:
            half = 0
            break
    for i in range(half, count):
        shifts[i - half] = abs(s[i]) if parity > 0 else s[i]
    return half


@entry
def unfold(raw, s, parity, half, out):
    """From raw[7, n - half] the coefficients out[3, n] at s[n]; returns the worst error of mu0, mu1 and mu2 relative to
    sqrt(E f^2), infinite where a value is not finite.
    """
    count, worst = s.shape[0], 0.0
    for i in range(half, count):
        mu0, mu1, residual = raw[0, i - half], raw[1, i - half], raw[2, i - half]
        side = 1.0 if s[i] > 0.0 else -1.0 if s[i] < 0.0 else 0.0
        out[0, i] = mu0 * side if parity == 1 else mu0
        out[1, i] = mu1 * side if parity == 2 else mu1
        out[2, i] = residual
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + residual)
        # of mu2 itself: d(mu2) = d(mu2^2)/(2 mu2), and never more than sqrt(d(mu2^2))
        error = math.sqrt(residual + raw[5, i - half]) - math.sqrt(residual) + raw[6, i - half]
        # where f lives in the tail of g only, rounding of g^2/2 is magnified by g^2, about -4 log(scale)
        tail = 8.0 * EPS * max(0.0, -math.log(scale)) if scale > 0.0 else 0.0
        found = max(raw[3, i - half], raw[4, i - half], error) / scale + tail if scale != 0.0 else 0.0
        known = math.isfinite(mu0 + mu1 + residual) and found >= 0.0
        worst = max(worst, found if known else math.inf)
    for i in range(half):
        mirror = count - 1 - i
        out[0, i] = -out[0, mirror] if parity == 1 else out[0, mirror]
        out[1, i] = -out[1, mirror] if parity == 2 else out[1, mirror]
        out[2, i] = out[2, mirror]
    return worst


@entry
def evaluate(address, z, out):
    """out[i] = f(z[i])."""
    values_at(address, z, out)


@making_entry
def closed_form(address, residual, frequency, shifts, q, raw):
    """mu0, mu1 and mu2^2 from their sums, and from the sizes of the terms the errors; cancelled digits are marked, and
    how often is returned.
    """
    marked = 0
    sums, sizes = np.empty((3, shifts.shape[0])), np.empty((3, shifts.shape[0]))
    closed_at(address, shifts, q, sums, sizes)
    for i in range(shifts.shape[0]):
        s = shifts[i]
        mu0, mu1, mu2 = sums[0, i], sums[1, i], sums[2, i]
        size = sizes[2, i]
        rounding = 4.0 * EPS
        if not residual:
            mu2 -= mu0 * mu0 + mu1 * mu1
            size += 2.0 * (abs(mu0) * sizes[0, i] + abs(mu1) * sizes[1, i])
            # exp(-x^2/2) and Phi(-x) magnify the rounding of x = s/q by x^2; far out their terms are nothing
            place = s / q
            rounding = EPS * (4.0 + min(place * place, 300.0))
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2)
        wave = EPS * frequency * abs(s) * scale  # a wave magnifies the rounding of its argument
        error0, error1, error2 = rounding * sizes[0, i], rounding * sizes[1, i], rounding * size
        fine = error0 <= 1e-13 * scale and error1 <= 1e-13 * scale and error2 <= 1e-12 * mu2
        raw[0, i] = mu0
        raw[1, i] = mu1
        raw[2, i] = mu2 if fine else math.nan
        marked += not fine
        raw[3, i] = error0 + wave
        raw[4, i] = error1 + wave
        raw[5, i] = error2
        raw[6, i] = wave
    return marked

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
