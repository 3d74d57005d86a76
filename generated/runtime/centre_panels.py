"""Averages of a loss over the output as polynomials of its centre on panels: what many centres of one spread share.

The Gaussian that is averaged with makes them smooth on the scale of its spread, about the kinks of the loss; elsewhere
they are as smooth as the loss is. Panels grow with the distance from there, and are halved until polynomials serve.

Written by hand, in codegen/runtime/centre_panels.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import Any, NamedTuple

import numpy as np

from generated.runtime.compiling import POWERS, WIDTH, add_polynomials, inner, making_inner
from generated.runtime.contractions import apart, short
from generated.runtime.label_sums import fill_averages, room_for_averages
from generated.runtime.nodes import REACH
from generated.runtime.quadratic import find_knots

#: the averages that stand in the columns of coefficients: first those, so many, that t multiplies
AVERAGES, OF_T = (1, 2, 4, 5, 0, 3, 6, 7, 8, 9), 4
_ANGLES = np.pi * (1.0 - (np.arange(POWERS) + 0.5) / POWERS)
_PLACES = np.cos(_ANGLES)  # of a panel (-1, 1), at which averages are taken
_ORDERS = np.arange(POWERS)
# from averages there to Chebyshev coefficients
_CHEBYSHEV = np.cos(np.outer(_ORDERS, _ANGLES)) * np.where(_ORDERS > 0, 2.0, 1.0)[:, None] / POWERS


def _polynomials():
    """Coefficients [power, polynomial] of Chebyshev polynomials, of the highest power first."""
    found = np.zeros((POWERS, POWERS))
    found[-1, 0] = found[-2, 1] = 1.0
    for k in range(2, POWERS):
        found[:-1, k] = 2.0 * found[1:, k - 1]
        found[:, k] -= found[:, k - 2]
    return found


_IN_POWERS = _polynomials()
_NEAR, _FALL = 0.9, 3.5  # the longest panel near a kink, in spreads; its length times its distance further away
_FARTHER, _STEEPER = 6.0, 6.0  # the distance from which on next to nothing is felt; that product there
_FELT = 12.0  # spreads from a kink, beyond which nothing is left of it: 5e-32
_BEFORE = 12.5  # spreads before one, up to which a panel need not end where it is felt
_AWAY = 0.25  # of a panel of a smooth loss: its length over its distance from zero
_KNOWN, _NOTHING = 1e-13, 1e-28  # last coefficients over an average on its panel; that over the same where it is felt
_ROUNDED = 1e-14  # of what averages are made of
_BEYOND = 2.0 * math.exp(-0.5 * REACH * REACH)  # of the same where it is felt: what sums over nodes leave out
_OF_CURVATURE = False, True, True, True, False, False, True, True, True, False  # columns that do not grow with a label
_FAINT, _KNOWN_FAINT = 1e-7, 1e-9  # below that share of the largest they are known to fewer digits
_MOST = 400  # panels
_ROUNDS = 40  # of halving
_WORTH = 2  # centres for every place on the first panels, from which on panels save time


class CentrePanels(NamedTuple):
    """Panels in order, with coefficients, and room to find them."""

    end: Any  # [n]: the upper ends
    middle: Any
    inverse: Any  # one over half the length
    number: Any  # of the panel in the order of coefficients
    coefficients: Any  # [panel and power, WIDTH]: of powers of the place on a panel (-1, 1), the highest first
    ends: Any  # [n, 2]: of panels in the order of coefficients
    pending: Any  # [2, n, 2]: of those that are looked at, and of the next
    edges: Any  # [n + 1]: of the first
    places: Any  # [n and node]
    order: Any  # of places, which grow
    rows: Any  # averages there
    values: Any  # [node, column]: averages on one panel
    chebyshev: Any  # [power, column]: coefficients of them
    size: Any  # [column]: how large averages are on one panel,
    rounding: Any  # what they are rounded to
    largest: Any  # and how large they are where they are felt


@making_inner
def room_for_panels(law, used):
    """Room for as many panels as there may be; none where they are not used."""
    most = _MOST if used else 0
    places = most * POWERS
    pending, order = np.empty((2, most, 2)), np.arange(places)
    sizes = np.empty((4, most + 1))
    return CentrePanels(
        sizes[0],
        sizes[1],
        sizes[2],
        np.empty(most, np.int64),
        np.empty((places, WIDTH)),
        np.empty((most, 2)),
        pending,
        sizes[3],
        np.empty(places),
        order,
        room_for_averages(law, places),
        np.zeros((POWERS, WIDTH)),
        np.empty((POWERS, WIDTH)),
        np.empty(WIDTH),
        np.empty(WIDTH),
        np.empty(WIDTH),
    )


@inner
def _length(place, knots, count, scale):
    """How long a panel from a place on may be, between knots so many, where averages turn on a scale."""
    away, ahead = math.inf, math.inf
    for i in range(count):
        away = min(away, abs(place - knots[i]))
        if knots[i] > place:
            ahead = min(ahead, knots[i] - place)
    distance = away / scale
    if distance > _FELT and ahead > _BEFORE * scale:
        return min(away, 0.5 * ahead, ahead - _FELT * scale)
    if distance < _FARTHER:
        return scale * min(_NEAR, _FALL / max(distance, _FALL))
    return scale * _STEEPER / distance


@inner
def _first(law, rule, alike, span, knots, edges):
    """Fill edges of the first panels over a span of centres. Returns how many panels; none where they are too many."""
    low, high = span
    count, scale = np.intp(0), alike.spread
    if not law.smooth:
        count = find_knots(law, rule, alike.label, alike.V, knots)
    else:
        scale = max(scale, 1.0 / law.steepness)
    number, place = np.intp(0), low
    edges[0] = low
    while place < high:
        if number == _MOST:
            return np.intp(0)
        length = scale + _AWAY * abs(place) if law.smooth else _length(place, knots.omega, count, scale)
        if not place + length > place:
            return np.intp(0)
        place = min(place + length, high)
        number += 1
        edges[number] = place
    return number


@inner
def _fill_averages(law, rule, alike, ends, count, room, panels):
    """Fill averages at the places of panels. Returns whether there was room for them."""
    for p in range(count):
        low, high = ends[p, 0], ends[p, 1]
        for k in range(POWERS):
            panels.places[POWERS * p + k] = 0.5 * (high + low) + 0.5 * (high - low) * _PLACES[k]
    return fill_averages(law, rule, alike, panels.places, panels.order[: POWERS * count], room, panels.rows)


@inner
def _fill_largest(alike, count, panels):
    """How large averages are where they are felt: at all places, or near a kink whose slope changes by one, if none is
    near. Those that grow with the label: by what the curvature makes of a spread. Returns whether anything is felt.
    """
    largest, spread = panels.largest, alike.spread
    for c in range(len(AVERAGES)):
        largest[c] = 0.0
        for k in range(POWERS * count):
            largest[c] = max(largest[c], abs(panels.rows[AVERAGES[c], k]))
    near = 1.0 / max(alike.V, spread)
    g, felt = largest[0], largest[1] > _NOTHING * near
    h = largest[1] = max(largest[1], near)
    largest[2], largest[3] = max(largest[2], h * g), max(largest[3], h / spread)
    largest[6], largest[7] = max(largest[6], h * g * g), max(largest[7], h * g / spread)
    largest[8] = max(largest[8], h / (spread * spread))
    slope = h * spread
    largest[0], largest[4], largest[5], largest[9] = slope, slope * spread, slope * slope, slope * spread
    return felt


@inner
def _fill_chebyshev(first, panels):
    """Fill Chebyshev coefficients of averages on the panel whose places begin with this one."""
    found, values = panels.chebyshev, panels.values
    for k in range(POWERS):
        for c in range(len(AVERAGES)):
            values[k, c] = panels.rows[AVERAGES[c], first + k]
    for k in range(POWERS):
        for c in range(WIDTH):
            found[k, c] = 0.0
        for j in range(POWERS):
            for c in range(WIDTH):
                found[k, c] += _CHEBYSHEV[k, j] * values[j, c]


@inner
def _fill_sizes(panels):
    """Fill how large averages are on a panel."""
    for c in range(len(AVERAGES)):
        panels.size[c] = 0.0
        for k in range(POWERS):
            panels.size[c] = max(panels.size[c], abs(panels.values[k, c]))


@inner
def _sums_beside_kinks(law):
    """Whether averages are sums over nodes, and end within reach of a kink."""
    return not (law.quadratic or law.smooth)


@inner
def _fill_rounding(law, spread, low, high, panels):
    """Fill what rounding may make of averages on a panel, in units of that: those that are sums of both signs are held
    against what these are made of, if that is more, a place against the length on which all turn: the spread, where
    they are sums over nodes beside kinks.
    """
    size, rounding = panels.size, panels.rounding
    length = min(high - low, spread) if _sums_beside_kinks(law) else high - low
    g, h, off = size[0], size[1], 1.0 + max(abs(low), abs(high)) / length
    for c in range(len(AVERAGES)):
        rounding[c] = 0.0
    rounding[2], rounding[3] = h * g, h / spread
    rounding[6], rounding[7], rounding[8] = h * g * g, h * g / spread, h / (spread * spread)
    for c in range(len(AVERAGES)):
        rounding[c] = off * max(rounding[c], size[c])


@inner
def _serve(law, panels):
    """Whether Chebyshev coefficients fall enough, or an average is next to nothing."""
    found, unseen = panels.chebyshev, _BEYOND if _sums_beside_kinks(law) else 0.0
    for c in range(len(AVERAGES)):
        last, size = max(abs(found[POWERS - 1, c]), abs(found[POWERS - 2, c])), panels.size[c]
        known, share = _KNOWN, size / panels.largest[c]
        if _OF_CURVATURE[c] and share < _FAINT:
            known = _KNOWN_FAINT
        rounded = _ROUNDED * panels.rounding[c] + unseen * panels.largest[c]
        if not (last <= known * size + rounded or share <= _NOTHING):
            return False
    return True


@inner
def _fill_coefficients(first, panels):
    """Fill coefficients of powers, the highest first, from those of Chebyshev polynomials."""
    for k in range(POWERS):
        for c in range(WIDTH):
            panels.coefficients[first + k, c] = 0.0
        for j in range(POWERS - 1 - k, POWERS, 2):
            for c in range(len(AVERAGES)):
                panels.coefficients[first + k, c] += _IN_POWERS[k, j] * panels.chebyshev[j, c]


@making_inner
def _in_order(count, panels):
    """Fill what tells the panel of a place, from their ends."""
    lower = panels.end[:count]  # numbers side by side, whose order other sums look for too: compiled once
    for k in range(count):
        lower[k] = panels.ends[k, 0]
    order = np.argsort(lower)
    for k in range(count):
        low, high = panels.ends[order[k], 0], panels.ends[order[k], 1]
        panels.end[k], panels.middle[k], panels.inverse[k] = high, 0.5 * (high + low), 2.0 / (high - low)
        panels.number[k] = order[k]


@making_inner
def panels_of(law, rule, alike, span, centres, room, panels):
    """Find panels for so many centres over a span. Returns how many: none where they are not worth it, or too many."""
    apart()
    short()
    if centres < _WORTH * POWERS or not span[1] > span[0]:
        return 0
    count, done, most = _first(law, rule, alike, span, room.knots, panels.edges), 0, min(_MOST, centres // POWERS)
    if count == 0 or _WORTH * count > most:
        return 0
    for p in range(count):
        panels.pending[0, p, 0], panels.pending[0, p, 1] = panels.edges[p], panels.edges[p + 1]
    for turn in range(_ROUNDS):
        ends, halves, further = panels.pending[turn % 2], panels.pending[1 - turn % 2], 0
        if not _fill_averages(law, rule, alike, ends, count, room, panels):
            return 0
        if turn == 0 and not _fill_largest(alike, count, panels):
            return 0
        for p in range(count):
            if done + further + 2 > most:
                return 0
            _fill_chebyshev(POWERS * p, panels)
            _fill_sizes(panels)
            _fill_rounding(law, alike.spread, ends[p, 0], ends[p, 1], panels)
            if _serve(law, panels):
                _fill_coefficients(POWERS * done, panels)
                panels.ends[done, 0], panels.ends[done, 1] = ends[p, 0], ends[p, 1]
                done += 1
            else:
                middle = 0.5 * (ends[p, 0] + ends[p, 1])
                halves[further, 0], halves[further, 1] = ends[p, 0], middle
                halves[further + 1, 0], halves[further + 1, 1] = middle, ends[p, 1]
                further += 2
        count = further
        if count == 0:
            _in_order(done, panels)
            return done
    return 0


@inner
def add_centre(panels, count, at, place, part, sums):
    """Add to sums[part, column] the averages about a centre, by the weights in ``part``. Returns the panel it is on,
    which is looked for from `at` on.
    """
    while at < count - 1 and place > panels.end[at]:
        at += 1
    while at > 0 and place <= panels.end[at - 1]:
        at -= 1
    x = (place - panels.middle[at]) * panels.inverse[at]
    add_polynomials(panels.coefficients, POWERS * panels.number[at], x, part, sums)
    return at

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
