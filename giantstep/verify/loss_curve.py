"""The Moreau envelope of a loss in double precision, by Newton's method in a bracket on every smooth piece."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from derive.language.loss_catalogue import LossEntry
from derive.loss.loss import LossAnalysis, U, Y, analyse_loss, edge_slopes, loss_of_entry
from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.lambdified import Function, numpy_of, without_overflow

Array = np.ndarray
Numbers = tuple[tuple[str, float], ...]
_MOST_STEPS, _ROUNDING = 200, 4e-16
_EVERY = 8  # one of so many places next to each other is solved for first
_LEAST = -300.0  # log of the distance that counts as none: the square of it is a number
_GROWING = np.concatenate([[0.0], 4.0 ** np.arange(0, 14)])
_SQUARE_ROOT = 1e-9  # a Newton step this small leaves the square of it, times a curvature


@dataclass(frozen=True)
class Curve:
    """A loss rho(u) between kinks: pieces with two derivatives, kinks with the slopes to their left and right.

    Places on a piece are counted from its origin: the end where its curvature is infinite, as that of |u|^1.5 at 0,
    beside which the proximal map is the square of a distance, or a higher power.
    """

    pieces: tuple[tuple[Function, Function, Function], ...]
    kinks: tuple[float, ...]
    slopes: tuple[tuple[float, float], ...]
    quadratic: tuple[bool, ...]
    least: tuple[float, ...]  # the vertex of a piece that is a parabola, nan for others
    origins: tuple[float | None, ...]  # None of a piece whose curvature is finite

    def marks(self, response: Array) -> Array:
        """omega where the proximal map enters and leaves a kink, [N, 2 kinks], for responses [N]."""
        if not self.kinks:
            return np.empty((len(response), 0))
        return np.concatenate(
            [(k + response[:, None] * np.array(pair)[None]) for k, pair in zip(self.kinks, self.slopes, strict=True)],
            axis=1,
        )

    def turns(self, response: Array) -> Array:
        """The same, and places at growing distances from where a map leaves an origin, [N, C]."""
        found = [self.marks(response)]
        for number, origin in enumerate(self.origins):
            if origin is not None:
                kink = self.kinks.index(origin)
                side, edge = (1.0, 1) if kink < number else (-1.0, 0)
                slope, start = self.pieces[number][1], self.slopes[kink][edge]
                away = np.ones_like(response)
                for _ in range(_MOST_STEPS):  # to where half of the distance is that of the map
                    away = np.clip(response * np.abs(slope(side * away) - start), math.exp(_LEAST), 1e300)
                found.append(origin + (response * start + side * 2.0 * away)[:, None] + side * away[:, None] * _GROWING)
        return np.concatenate(found, axis=1)

    def moreau(self, omega: Array, response: Array) -> tuple[Array, Array, Array, Array]:
        """(loss of the prox, envelope, g, h) at omega [N, U] and V [N]: g = (prox - omega)/V and h = -dg/domega."""
        v = np.broadcast_to(response[:, None], omega.shape)
        loss, g, h = np.empty_like(omega), np.empty_like(omega), np.empty_like(omega)
        edges = [np.full(len(response), -np.inf), *self.marks(response).T, np.full(len(response), np.inf)]
        for number, (value, slope, bend) in enumerate(self.pieces):
            here = (omega > edges[2 * number][:, None]) & (omega <= edges[2 * number + 1][:, None])
            origin = self.origins[number] or 0.0
            low = self.kinks[number - 1] - origin if number else -np.inf
            high = self.kinks[number] - origin if number < len(self.kinks) else np.inf
            given = omega[here] - origin, v[here]
            if self.quadratic[number]:  # in g, which keeps its digits where the prox is next to a vertex
                curvature = bend(given[0])
                g[here] = -slope(given[0]) / (1.0 + given[1] * curvature)
                x = given[0] + given[1] * g[here]
            else:
                near = self.origins[number] is not None
                ends = (low, high)
                x = _from_its_origin(*given, slope, bend, ends) if near else _proximal(*given, slope, bend, *ends)
                g[here], curvature = -slope(x), bend(x)
                if near:  # where the map hardly leaves its origin its own digits are fewer than those of the distance
                    g[here] = np.where(np.abs(x) < 0.5 * np.abs(given[0]), (x - given[0]) / given[1], g[here])
            with np.errstate(divide="ignore", over="ignore"):
                h[here] = 1.0 / (given[1] + 1.0 / curvature)
            least = self.least[number]
            loss[here] = value(x) if np.isnan(least) else least + 0.5 * g[here] ** 2 / curvature
        for number, kink in enumerate(self.kinks):
            here = (omega > edges[2 * number + 1][:, None]) & (omega <= edges[2 * number + 2][:, None])
            g[here] = (kink - omega[here]) / v[here]
            h[here] = 1.0 / v[here]
            loss[here] = self.pieces[number][0](np.full(int(here.sum()), kink - (self.origins[number] or 0.0)))
        return loss, loss + 0.5 * v * g**2, g, h


def _proximal(omega: Array, v: Array, slope: Function, bend: Function, low: float, high: float) -> Array:
    """The zero of (x - omega)/v + slope(x) in a smooth piece. It grows with omega: of every few places it is found
    first, and of one between two of these with the same v it is looked for between theirs.
    """
    found = np.empty_like(omega)
    found[::_EVERY] = _alone(omega[::_EVERY], v[::_EVERY], slope, bend, low, high)
    rest = np.flatnonzero(np.arange(len(omega)) % _EVERY)
    before, after = rest - rest % _EVERY, np.minimum(rest - rest % _EVERY + _EVERY, len(omega) - 1)
    between = (v[before] == v[rest]) & (v[rest] == v[after]) & (after % _EVERY == 0)
    between &= (omega[before] <= omega[rest]) & (omega[rest] <= omega[after])
    alone, rest, before, after = rest[~between], rest[between], before[between], after[between]
    found[alone] = _alone(omega[alone], v[alone], slope, bend, low, high)
    left, right = found[before], found[after]
    with np.errstate(all="ignore"):
        width = omega[after] - omega[before]
        t = (omega[rest] - omega[before]) / width
        rises = [width / (1.0 + v[rest] * bend(x)) for x in (left, right)]
        x = (1.0 - t) ** 2 * (1.0 + 2.0 * t) * left + t**2 * (3.0 - 2.0 * t) * right
        x += t * (1.0 - t) * ((1.0 - t) * rises[0] - t * rises[1])
    x = np.where((x >= left) & (x <= right), x, 0.5 * (left + right))
    room = _ROUNDING * (np.abs(x) + np.abs(omega[rest]))
    ends = np.maximum(left - room, low), np.minimum(right + room, high)
    found[rest] = _newton(omega[rest], v[rest], slope, bend, x, ends, slope(x))
    return found


def _alone(omega: Array, v: Array, slope: Function, bend: Function, low: float, high: float) -> Array:
    """The same without any that is known."""
    x: Array = np.clip(omega, low, high)
    rise = slope(x)
    left, right = _around(omega, v, slope, x, rise)
    return _newton(omega, v, slope, bend, x, (np.maximum(left, low), np.minimum(right, high)), rise)


def _newton(
    omega: Array, v: Array, slope: Function, bend: Function, x: Array, ends: tuple[Array, Array], rise: Array
) -> Array:
    """The same from x, whose slope is ``rise``, by Newton's method inside a bracket that shrinks."""
    left, right = ends
    active, at, last = np.arange(len(x)), x, np.full(len(x), np.inf)
    for _ in range(_MOST_STEPS):
        if not len(active):
            break
        with np.errstate(over="ignore", invalid="ignore"):  # beyond all numbers there is a side, and no step
            value = (at - omega) / v + rise
            newton = at - value / (1.0 / v + bend(at))
        below = value <= 0.0
        left, right = np.where(below, at, left), np.where(below, right, at)
        inside = (newton >= left) & (newton <= right)
        inside &= np.abs(newton - at) <= 0.5 * last  # or it may go to and fro
        following = np.where(inside, newton, 0.5 * (left + right))
        last = np.abs(following - at)
        rounding = _ROUNDING * (np.abs(at) + np.abs(omega))
        moving = last > np.where(inside, _SQUARE_ROOT * np.abs(at), 0.0) + rounding
        x[active] = at = following
        if not moving.all():
            active, at, last, omega, v, left, right = (a[moving] for a in (active, at, last, omega, v, left, right))
        rise = slope(at)
    return x


def _around(omega: Array, v: Array, slope: Function, x: Array, rise: Array) -> tuple[Array, Array]:
    """A bracket [left, right] of the zero: from x on in the direction of the slope, which is ``rise`` there, as far as
    steps that double go where that of an exponential would be out of sight.
    """
    with np.errstate(over="ignore"):
        whole = omega - v * rise - x
    towards, most = np.sign(whole), np.abs(whole)
    step = np.minimum(1.0, most)
    far = np.flatnonzero(step < most)
    for _ in range(_MOST_STEPS):
        if not len(far):
            break
        at = x[far] + towards[far] * step[far]
        with np.errstate(over="ignore"):
            short = far[towards[far] * (at - omega[far] + v[far] * slope(at)) < 0.0]
        step[short] = np.minimum(2.0 * step[short], most[short])
        far = short[step[short] < most[short]]
    end = x + towards * step
    return np.minimum(x, end), np.maximum(x, end)


def _from_its_origin(omega: Array, v: Array, slope: Function, bend: Function, ends: tuple[float, float]) -> Array:
    """The same on a piece whose curvature is infinite at x = 0, by Newton's method in log |x|: the slope is there a
    power of x, of any exponent between zero and one, and what is solved a convex function of the logarithm.
    """
    side = 1.0 if ends[0] == 0.0 else -1.0
    q = at = np.log(np.maximum(np.abs(omega), math.exp(_LEAST)))
    active = np.arange(len(q))
    for _ in range(_MOST_STEPS):
        x = side * np.exp(at)
        step = side * (x - omega + v * slope(x)) / (np.abs(x) * (1.0 + v * bend(x)))
        q[active] = at = np.clip(at - step, _LEAST, -_LEAST)
        moving = (at > _LEAST) & (np.abs(step) > _SQUARE_ROOT)
        active, at, omega, v = (a[moving] for a in (active, at, omega, v))
        if not len(active):
            break
    return np.asarray(side * np.exp(q))


def curve_of(loss: FitLoss, label: float) -> Curve:
    """The loss as a function of u: of y f, of f - y, or of f for one label."""
    return curve_of_entry(loss.entry, loss.parameters, label)


@lru_cache(maxsize=512)
def curve_of_entry(entry: LossEntry, parameters: Numbers, label: float) -> Curve:
    """The same of an entry of the catalogue at numbers for its parameters."""
    shared = _of_any_label(entry, parameters)
    if shared is not None:  # what is analysed serves all labels
        piece = tuple(lambda u, of=function: of(u, np.array(label)) for function in shared)
        return Curve((piece,), (), (), (False,), (math.nan,), (None,))  # type: ignore[arg-type]
    analysis: LossAnalysis = analyse_loss(loss_of_entry(entry)).at(sp.Rational(label))
    numbers = {**_numbers(entry, parameters), Y: sp.Rational(label)}
    ends = [k.subs(numbers) for k in analysis.breakpoints]
    pieces, quadratic, least, origins = [], [], [], []
    for number, piece in enumerate(analysis.pieces):
        fixed = _stable(piece).subs(numbers)
        origin = _of_infinite_curvature(fixed, ends[max(number - 1, 0) : number + 1])
        origins.append(None if origin is None else float(origin))
        fixed = fixed if origin is None else _from(fixed, origin)
        quadratic.append(sp.diff(fixed, U, 3) == 0)
        bend = sp.diff(fixed, U, 2)
        vertex = quadratic[-1] and bend != 0
        least.append(float(fixed.subs(U, -sp.diff(fixed, U).subs(U, 0) / bend)) if vertex else math.nan)
        pieces.append(tuple(numpy_of(sp.diff(fixed, U, k), (U,)) for k in range(3)))
    kinks = tuple(map(float, ends))
    slopes = []
    for position in range(len(kinks)):
        left, right = (float(sp.sympify(s).subs(numbers)) for s in edge_slopes(analysis, position))
        slopes.append((left, right))
    found = tuple(pieces), kinks, tuple(slopes), tuple(quadratic), tuple(least), tuple(origins)
    return Curve(*found)  # type: ignore[arg-type]


def _of_infinite_curvature(piece: sp.Expr, ends: list[sp.Expr]) -> sp.Expr | None:
    """The end of a piece where its curvature is infinite; None where there is none."""
    return next((end for end in ends if sp.diff(_from(piece, end), U, 2).subs(U, 0).has(sp.zoo, sp.oo, sp.nan)), None)


def _from(piece: sp.Expr, origin: sp.Expr) -> sp.Expr:
    """A piece as a function of the distance from an origin, whose place cancels as written."""
    return piece.subs(U, origin + U)


@lru_cache(maxsize=16)
def _of_any_label(entry: LossEntry, parameters: Numbers) -> tuple[Function, ...] | None:
    """A loss with two derivatives as functions of u and the label; None of one with kinks, or a parabola."""
    analysis = analyse_loss(loss_of_entry(entry))
    if analysis.cells or analysis.breakpoints:
        return None
    piece = _stable(analysis.pieces[0]).subs(_numbers(entry, parameters))
    if sp.diff(piece, U, 3) == 0:
        return None
    return tuple(numpy_of(sp.diff(piece, U, k), (U, Y)) for k in range(3))


def _numbers(entry: LossEntry, parameters: Numbers) -> dict[sp.Symbol, sp.Float]:
    return {p.symbol: sp.Float(dict(parameters)[p.name], 30) for p in loss_of_entry(entry).parameters}


def _stable(piece: sp.Expr) -> sp.Expr:
    """A piece without terms that cancel or overflow: polynomials in factors, logarithms of exponentials by name."""
    if piece.is_polynomial(U):
        return sp.factor(piece)
    return without_overflow(piece)
