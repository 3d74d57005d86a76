"""The support of the spectrum: a scan of the upper half-plane, and edges as folds of the real solution outside."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from giantstep.observe.spectrum.response import Response, State, follow
from giantstep.quadrature.gauss import legendre
from giantstep.spec.errors import NotConverged

Array = np.ndarray
EdgeKind = Literal["edge", "tail", "zero"]

NEGLIGIBLE = 1e-8  # mass per unit of log x that is none
_SOLID = 1e-6  # mass per unit of log x that is not lost in quadrature
_LOW_ANGLE, _UNSEEN = 1e-3, 1e-7  # mass per unit of log x, smoothed over the angle, that is not looked for
_TRIES, _PATIENCE = 12, 100  # steps of a continuation
AT_ZERO = 1e-10  # relative to the mean eigenvalue: a support that ends below reaches zero as far as numbers tell
_ROUNDED = 1e-11  # relative to the mean eigenvalue: a solution may be lost in rounding below
_LOWEST = 1e-15  # relative to the mean eigenvalue: what lies below, rounding hides in any matrix
_SAME = 1e-6  # relative difference of Stieltjes transforms of one solution
_EXHAUSTED = 1e-9  # mass left between zero and the lowest x of a scan


@dataclass(frozen=True)
class Edge:
    """An end of an interval of the support: a fold where the density vanishes like a root ("edge"), a place beyond
    which the mass is negligible ("tail"), or a density that reaches down to zero ("zero").
    """

    x: float
    kind: EdgeKind


@dataclass(frozen=True)
class Interval:
    """An interval of the support and solutions on it, in order of x."""

    low: Edge
    high: Edge
    states: tuple[State, ...]


@dataclass(frozen=True)
class Scan:
    """Solutions just above the axis, and on it; from large to small x. ``mass_at_zero``: what the rank leaves."""

    above: tuple[State, ...]
    on_axis: tuple[State, ...]


def mass_at_zero(response: Response) -> float:
    """Fraction of eigenvalues that vanish for lack of rank: 1 - rank/p, with rank min(n, p), or min(n, p, d) where the
    features are linear in the input.
    """
    alpha, beta, *_ = response.problem.parameters
    rows, k = response.nodes.table(response.nodes.base), response.blocks
    linear = not rows[:, 5 + 2 * k :].any()
    rank = min(alpha, beta, 1.0) if linear else min(alpha, beta)
    return float(max(0.0, 1.0 - rank / beta))


def scan(response: Response, angle: float) -> Scan:
    """Solutions along a ray, ``angle`` above the axis, from far above the spectrum down to where nothing is left, and
    those below them on the axis. Raises NotConverged.
    """
    scale = max(response.weight, 1e-300)
    ray = cmath.exp(1j * angle)
    state = _start(response, scale, ray)
    nothing = mass_at_zero(response)
    above: list[State] = []
    on_axis: list[State] = []
    count = math.ceil(math.log(abs(state.z) / (_LOWEST * scale)) / angle)
    for x in abs(state.z) * np.exp(-angle * np.arange(1, count)):
        try:
            state = follow(response, state, float(x) * ray)
            found = _below(response, state, on_axis[-1] if on_axis else None)
        except NotConverged:
            if x > _ROUNDED * scale:
                raise
            break  # rounding hides what is left
        above.append(state)
        on_axis.append(found)
        left = abs(state.z * state.stieltjes + nothing)
        if left < _EXHAUSTED and on_axis[-1].density * x < NEGLIGIBLE:
            break
    return Scan(tuple(above), tuple(on_axis))


def _start(response: Response, scale: float, ray: complex) -> State:
    """A solution on a ray above the largest eigenvalues; features that grow fast have a few that are very large."""
    for size in (1e3, 1e5, 1e7, 1e10, 1e14):
        state = _far_state(response, size * scale)
        state = follow(response, state, abs(state.z) * ray)
        if not inside(_below(response, state, None)):
            return state
    raise NotConverged(
        "the largest eigenvalues of the features have no bound that numbers can tell", "lower the spike strength"
    )


def _below(response: Response, state: State, neighbour: State | None) -> State:
    """The solution on the axis below one of the ray; an empty one where next to no mass is near.

    Raises NotConverged.
    """
    x = complex(abs(state.z))
    if neighbour is not None and inside(neighbour):
        with suppress(NotConverged):
            found = follow(response, neighbour, x, most=_TRIES)
            if _is_below(response, found, state):
                return found
    else:
        with suppress(NotConverged):
            state = follow(response, state, x * cmath.exp(1j * _LOW_ANGLE), most=_PATIENCE)
            smooth = (state.z * state.stieltjes + mass_at_zero(response)).imag / math.pi
            if abs(smooth) < _UNSEEN:
                return _empty(state, x)
    try:
        return follow(response, state, x, most=_PATIENCE)
    except NotConverged:
        if neighbour is not None and neighbour.density * neighbour.z.real > _SOLID:
            raise
    return _empty(state, x)


def _is_below(response: Response, found: State, above: State) -> bool:
    """Whether a solution on the axis is the limit of that above it: beyond an edge that was passed along the axis
    others go on.
    """
    try:
        upwards = follow(response, found, above.z, most=_TRIES)
    except NotConverged:
        return False
    return abs(upwards.stieltjes - above.stieltjes) <= _SAME * abs(above.stieltjes)


def with_gaps(response: Response, found: Scan, on_panels: Sequence[Sequence[State]]) -> Scan | None:
    """A scan with solutions on the axis in gaps that it has passed over; None where there are none.

    on_panels: solutions on the panels of every interval, in order of x, of which some may lie in a gap, and others not
    be the limit from above. Raises NotConverged.
    """
    missed: list[State] = []
    for states in on_panels:
        solid = [number for number, state in enumerate(states) if inside(state)]
        for number, state in enumerate(states):
            below = _limit(response, found, state)
            if below is not state or not inside(state) and solid and solid[0] < number < solid[-1]:
                missed.append(below)
    return with_states(found, missed) if missed else None


def limit_below(response: Response, found: Scan, x: float) -> State:
    """The solution on the axis, as the limit from above. Raises NotConverged."""
    return _below(response, _above(response, found, x), None)


def with_states(found: Scan, states: Sequence[State]) -> Scan:
    """A scan with further solutions on the axis."""
    return replace(found, on_axis=tuple(sorted((*found.on_axis, *states), key=lambda state: -state.z.real)))


def _limit(response: Response, found: Scan, state: State) -> State:
    """A solution on the axis, or another that is the limit from above where it is none. Raises NotConverged."""
    above = _above(response, found, state.z.real)
    if _is_below(response, state, above):
        return state
    below = _below(response, above, None)
    same = abs(below.stieltjes - state.stieltjes) <= _SAME * abs(state.stieltjes)  # next to an edge steps are short
    return state if same else below


def _above(response: Response, found: Scan, x: float) -> State:
    """The solution on the ray of a scan above a place on the axis."""
    nearest = min(found.above, key=lambda above: abs(math.log(abs(above.z) / x)))
    return follow(response, nearest, x * nearest.z / abs(nearest.z))


def _empty(state: State, x: complex) -> State:
    return replace(state, z=x, stieltjes=complex(state.stieltjes.real))


def _far_state(response: Response, size: float) -> State:
    for _ in range(12):
        z = 1j * size
        found = response.solve(z, response.far(z))
        if found is not None:
            return found
        size *= 10.0
    raise NotConverged("the response has no solution at large ridge", "change the model")


def inside(state: State) -> bool:
    """Whether a solution on the axis lies in the support."""
    return state.density * state.z.real > NEGLIGIBLE


def intervals(response: Response, found: Scan) -> tuple[Interval, ...]:
    """The intervals of the support between the points of a scan, from small to large x."""
    states = found.on_axis[::-1]
    result = []
    start = 0
    while start < len(states):
        if not inside(states[start]):
            start += 1
            continue
        stop = start
        while stop + 1 < len(states) and inside(states[stop + 1]):
            stop += 1
        below = states[start - 1] if start else None
        over = states[stop + 1] if stop + 1 < len(states) else None
        members = states[start : stop + 1]
        result.append(Interval(_edge(response, members[0], below), _edge(response, members[-1], over), members))
        start = stop + 1
    return tuple(result)


def _edge(response: Response, within: State, outside: State | None) -> Edge:
    """The end of the support between a solution in it and one outside."""
    if outside is None or outside.z.real < within.z.real < AT_ZERO * response.weight:
        return Edge(0.0, "zero")
    limit = outside.z.real
    for _ in range(60):
        within = _nearer(response, within, outside)
        fold = _fold(response, within)
        low, high = sorted((within.z.real, limit))
        if fold is not None and low - 1e-9 * high <= fold <= high * (1.0 + 1e-9):
            return Edge(fold, "edge")
        if within.density * within.z.real < 1e2 * NEGLIGIBLE:
            break
    return Edge(within.z.real, "tail")


def _nearer(response: Response, within: State, outside: State) -> State:
    """Half the logarithm of the way from a solution in the support to its end, as far as it is known."""
    x, limit = within.z.real, outside.z.real
    while abs(limit / x - 1.0) > 1e-13:
        middle = math.sqrt(x * limit)
        try:
            found = follow(response, within, complex(middle))
        except NotConverged:
            limit = middle
            continue
        if inside(found):
            return found
        limit = middle
    return within


def _fold(response: Response, within: State) -> float | None:
    """The fold of the real solutions near a solution in the support, along the direction of its imaginary part.

    Real solutions are followed in their projection on that direction, tau; the edge is where dx/dtau vanishes.
    """
    scale = response.scale(within.unknowns)
    direction = within.unknowns.imag / scale
    length = float(np.linalg.norm(direction))
    if not length > 0.0:
        return None
    direction /= length
    point = (within.unknowns.real.copy(), within.z.real)
    taus, slopes = [0.0], []
    for number in range(40):
        found = _on_line(response, point, direction, scale, within, taus[-1])
        if found is None:
            return None
        point = found[:2]
        slopes.append(found[2])
        if number == 0:
            taus.append(1e-3 * length)
            continue
        difference = slopes[-1] - slopes[-2]
        if difference == 0.0:
            return point[1]
        step = -slopes[-1] * (taus[-1] - taus[-2]) / difference
        # near the fold x is quadratic in tau: the error of x is the square of what is left
        if abs(step * slopes[-1]) < 1e-15 * abs(point[1]):
            return point[1]
        if abs(step) > 10.0 * length:
            return None
        taus.append(taus[-1] + step)
    return None


def _on_line(
    response: Response, start: tuple[Array, float], direction: Array, scale: Array, within: State, tau: float
) -> tuple[Array, float, float] | None:
    """(unknowns, x, dx/dtau) of the real solution whose projection is tau away from that of the state."""
    unknowns, x = start[0].copy(), start[1]
    origin = within.unknowns.real / scale
    n = response.count
    for _ in range(30):
        residual, matrix, slope = response.linearised(complex(x), unknowns.astype(complex), within.panels)
        bordered = np.zeros((n + 1, n + 1))
        bordered[:n, :n] = (matrix * scale / scale[:, None]).real
        bordered[:n, n] = -(slope / scale).real * within.z.real
        bordered[n, :n] = direction
        right = np.zeros((n + 1, 2))
        right[:n, 0] = (residual / scale).real
        right[n, 0] = direction @ (unknowns / scale - origin) - tau
        right[n, 1] = 1.0
        try:
            step = np.linalg.solve(bordered, right)
        except np.linalg.LinAlgError:
            return None
        if not np.all(np.isfinite(step)):
            return None
        unknowns -= step[:n, 0] * scale
        x -= float(step[n, 0]) * within.z.real
        change = float(np.abs(step[:, 0]).max())
        if change > 1e3 or not x > 0.0:
            return None
        if change < 1e-13:
            return unknowns, x, float(step[n, 1]) * within.z.real
    return None


def contour_mass(response: Response, state: State, order: int = 64) -> float:
    """Mass of eigenvalues below a real x > 0, those at zero included, from a half circle around zero.

    ``state``: the solution at x. Raises NotConverged.
    """
    points, weights = legendre(order)
    angles = 0.5 * math.pi * (points + 1.0)
    total = 0.0
    for angle, weight in zip(angles.tolist(), weights.tolist(), strict=True):
        state = follow(response, state, abs(state.z) * cmath.exp(1j * angle))
        total -= weight * (state.stieltjes * state.z).real
    return 0.5 * total
