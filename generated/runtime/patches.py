"""Coefficients of a smooth function between Chebyshev points of (s, q), q = sqrt(c), on patches made when asked for.

mu0, mu1 and mu2^2 are as smooth in s and q as f is, blurred by q. What a patch holds, and whether a point has one, is
decided by the function and the point alone: an answer does not depend on what was asked before or beside it.

Written by hand, in codegen/runtime/patches.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from generated.runtime.compiling import making_entry
from generated.runtime.gaussian import EPS

_SHIFTS, _WIDTHS = 20, 16  # Chebyshev points of a panel in s, and of a patch in q
_PANELS = 8  # of a patch in s
_PER_OCTAVE = 4  # patches in q
_FARTHEST = 4  # patches on each side of s = 0; beyond, most functions are what they are at infinity
_REACH = 1.0 * _FARTHEST * _PANELS
_GENTLE = 0.5  # steepness below which panels grow no wider
_CHECKS = 13, 3  # points in s and q, between the others, where a panel must agree with the rule that it is made of
_END = 1.0 - 1e-9  # of a panel: what lies beyond, or as far before its beginning, is another one's
_CERTIFIED = 1e-14  # of sqrt(E f^2): the error of a panel that is used
_OF_ITSELF = 1e-13  # the error of mu2^2 that a panel may have beside what rounding of f makes of it
_ROUNDING = 16.0 * EPS

Array = np.ndarray
Rule = Callable[[Array, float], Array]


@dataclass(frozen=True)
class Place:
    """Where a patch lies: the panels of a width in s from ``number`` patches on, and q from ``least`` to ``most``."""

    number: int
    width: float
    least: float
    most: float

    @property
    def first(self) -> int:
        """The number of the first panel."""
        return _PANELS * self.number

    @property
    def panels(self) -> Array:
        """Where the panels begin [PANELS]."""
        return self.width * (self.first + np.arange(_PANELS))

    def inside(self, q: float) -> float:
        """q on a scale from -1 to 1."""
        return (2.0 * q - self.least - self.most) / (self.most - self.least)


@dataclass(frozen=True, eq=False)
class Patch:
    """Chebyshev coefficients [PANELS, WIDTHS, 3, SHIFTS] of mu0, mu1 and mu2^2, in units of an exponential of s and q.

    growth [PANELS, 2]: what the logarithm of the unit gains from the middle of a panel to its end in s and in q: in the
    tails of f coefficients vary by powers of ten within a panel. errors [PANELS, 3]: of mu0 and of mu1 relative to
    sqrt(E f^2), and of mu2^2 to itself; not numbers where a panel misses the rule that it is made of, and must not be
    used.
    """

    first: int
    sums: Array
    growth: Array
    errors: Array

    def beside(self, other: "Patch") -> "Patch":
        """This and what begins where it ends, as one."""
        pairs = (self.sums, other.sums), (self.growth, other.growth), (self.errors, other.errors)
        return Patch(self.first, *(_read_only(np.concatenate(pair)) for pair in pairs))


class Row:
    """All patches of a band of q, each made where a point of it is first asked for.

    What is there is replaced by more, and never changed: threads need not wait.
    """

    def __init__(self, rule: Rule, band: int, width: float) -> None:
        ends = (2.0 ** (step / _PER_OCTAVE) for step in (band, band + 1))
        self.rule, self.place = rule, Place(0, width, *ends)
        self.known: Patch | None = None

    def fill(self, shifts: Array, q: float, raw: Array) -> int:
        """Fill raw[7, n] at shifts; how many points have no patch, and are marked."""
        x = self.place.inside(q)
        known = self.known or self._with(float(shifts[0]))
        while True:
            found = between(known.sums, known.growth, known.errors, known.first, self.place.width, x, shifts, raw)
            if found >= 0:
                return int(found)
            known = self._with(float(shifts[~found]))

    def _with(self, shift: float) -> Patch:
        """What is known with the patch of a shift, and all between."""
        number, known = patch_of(shift, self.place.width), self.known
        if known is None:
            known = self._made(number)
        while number * _PANELS < known.first:
            known = self._made(known.first // _PANELS - 1).beside(known)
        while number * _PANELS >= known.first + len(known.sums):
            known = known.beside(self._made((known.first + len(known.sums)) // _PANELS))
        self.known = known
        return known

    def _made(self, number: int) -> Patch:
        return patch(self.rule, replace(self.place, number=number))


def band_of(q: float) -> int:
    """The number of the patches, in q, that it belongs to."""
    return math.floor(_PER_OCTAVE * math.log2(q))


def width_of(band: int, steepness: float, wave: float) -> float:
    """Width of the panels in s: what f blurred by q varies on."""
    blurred = math.hypot(2.0 ** (band / _PER_OCTAVE), 1.0 / max(steepness, _GENTLE))
    return blurred / (1.0 + 0.5 * wave * blurred)


def patch_of(shift: float, width: float) -> int:
    """The number of the patch, in s, that a shift belongs to, or of the outermost on its side."""
    return math.floor(max(min(shift / (_PANELS * width), _FARTHEST - 1.0), -_FARTHEST))


def patch(rule: Rule, place: Place) -> Patch:
    """The patch of a place. rule(shifts, q): raw[7, n] of the adaptive rules, not numbers where they give up."""
    along, across = np.cos(_angles(_SHIFTS)), np.cos(_angles(_WIDTHS))
    shifts = (place.panels[:, None] + 0.5 * place.width * (along + 1.0)).ravel()
    widths = 0.5 * (place.most + place.least) + 0.5 * (place.most - place.least) * across
    raw = np.stack([rule(shifts, float(q))[:3].reshape(3, _PANELS, _SHIFTS) for q in widths])
    growth = _growth(raw)
    unit = np.exp(growth[:, 0, None] * along + (growth[:, 1, None] * across).T[:, :, None])
    raw /= np.stack([unit, unit, unit**2], axis=1)
    halfway = np.einsum("kj,qapj->qapk", _to_chebyshev(_SHIFTS), raw)
    sums = _read_only(np.ascontiguousarray(np.einsum("mq,qapk->pmak", _to_chebyshev(_WIDTHS), halfway)))
    return Patch(place.first, sums, growth, _missed(rule, place, (sums, growth)))


def _growth(raw: Array) -> Array:
    """Half of what log sqrt(E f^2) gains from one end of a panel to the other, in s and in q; raw [WIDTHS, 3, PANELS,
    SHIFTS] at Chebyshev points, which begin at the upper ends.
    """
    with np.errstate(all="ignore"):
        size = 0.5 * np.log(raw[:, 0] ** 2 + raw[:, 1] ** 2 + raw[:, 2])
        in_shift, in_width = size[_WIDTHS // 2], size[:, :, _SHIFTS // 2]
        gained = np.stack([in_shift[:, 0] - in_shift[:, -1], in_width[0] - in_width[-1]], axis=1)
    return _read_only(np.where(np.isfinite(gained), 0.5 * gained, 0.0))


def _missed(rule: Rule, place: Place, made: tuple[Array, Array]) -> Array:
    """The errors of a patch by its differences from the rule at other points, the ends of the panels among them."""
    count, rows = _CHECKS
    shifts = (place.panels[:, None] + place.width * np.linspace(1.0 - _END, _END, count)).ravel()
    worst = _read_only(np.zeros((_PANELS, 3)))
    for q in np.linspace(place.least, place.most, rows).tolist():
        exact, raw = rule(shifts, q), np.empty((7, shifts.size))
        between(*made, worst, place.first, place.width, place.inside(q), shifts, raw)
        with np.errstate(all="ignore"):
            scale = np.sqrt(exact[0] ** 2 + exact[1] ** 2 + exact[2])
            missed = np.abs(raw[:3] - exact[:3])
            error = (missed[:2] + exact[3:5]) / scale
            rounding = _ROUNDING * scale
            rest = missed[2] - rounding * (2.0 * np.sqrt(exact[2]) + rounding)  # what rounding of f does not explain
            of_itself = (np.maximum(rest, 0.0) + exact[5]) / np.maximum(exact[2], rounding**2)
            bad = ~((missed[:2] / scale).max(axis=0) <= _CERTIFIED) | ~(rest <= _OF_ITSELF * exact[2])
        here = np.where(bad, np.nan, np.stack([*error, of_itself])).reshape(3, _PANELS, count)
        worst = _read_only(np.maximum(worst, 2.0 * here.max(axis=2).T))
    return worst


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _angles(count: int) -> Array:
    return math.pi * (np.arange(count) + 0.5) / count


def _to_chebyshev(count: int) -> Array:
    """The matrix [count, count] from values at the points to coefficients."""
    turns = np.outer(np.arange(count), 2 * np.arange(count) + 1) % (4 * count)  # whole numbers: exact
    found = np.cos(math.pi * turns / (2 * count)) * (2.0 / count)
    found[0] *= 0.5
    return found


@making_entry
def between(sums, growth, errors, first, width, x, shifts, raw):
    """mu0, mu1, mu2^2 and their errors at shifts, x the place of q; what no panel serves is marked, and counted.

    raw[7, n] as all rules fill it: the last row, the rounding of f, is what a panel was allowed for it. first: the
    number of the first panel. Returns ~i, below zero, where the panel of the shift i may be made and has not been.
    """
    panels, rows, count = sums.shape[0], sums.shape[1], sums.shape[3]
    along = np.empty((3, count))  # sums over q at this x, of one panel
    last, of_q, marked = -1, 0.0, 0
    for i in range(shifts.shape[0]):
        place = shifts[i] / width
        if not abs(place) < _REACH:
            raw[2, i] = math.nan
            marked += 1
            continue
        floor = math.floor(place)
        panel = int(floor) - first
        if not 0 <= panel < panels:
            return ~i
        if panel != last:
            last = panel
            older, old = 1.0, x
            for a in range(3):
                for k in range(count):
                    along[a, k] = sums[panel, 0, a, k]  # a slice would take numba seconds to compile
            for m in range(1, rows):
                for a in range(3):
                    for k in range(count):
                        along[a, k] += old * sums[panel, m, a, k]
                older, old = old, 2.0 * x * old - older
            of_q = growth[panel, 1] * x
        y = 2.0 * (place - floor) - 1.0
        mu0, mu1, mu2 = along[0, count - 1], along[1, count - 1], along[2, count - 1]
        after0 = after1 = after2 = 0.0
        for k in range(count - 2, 0, -1):
            after0, mu0 = mu0, along[0, k] + 2.0 * y * mu0 - after0
            after1, mu1 = mu1, along[1, k] + 2.0 * y * mu1 - after1
            after2, mu2 = mu2, along[2, k] + 2.0 * y * mu2 - after2
        unit = math.exp(growth[panel, 0] * y + of_q)
        mu0 = unit * (along[0, 0] + y * mu0 - after0)
        mu1 = unit * (along[1, 0] + y * mu1 - after1)
        mu2 = unit * unit * max(along[2, 0] + y * mu2 - after2, 0.0)
        scale = math.sqrt(mu0 * mu0 + mu1 * mu1 + mu2)
        raw[0, i] = mu0
        raw[1, i] = mu1
        fine = errors[panel, 0] >= 0.0
        raw[2, i] = mu2 if fine else math.nan
        marked += not fine
        raw[3, i] = errors[panel, 0] * scale
        raw[4, i] = errors[panel, 1] * scale
        raw[5, i] = errors[panel, 2] * mu2
        raw[6, i] = 4.0 * EPS * scale
    return marked

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
