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
from giantstep.verify.lambdified import Function, LogCosh, Softplus, numpy_of

Array = np.ndarray
Numbers = tuple[tuple[str, float], ...]
_MOST_STEPS, _ROUNDING = 200, 4e-16
_SQUARE_ROOT = 1e-9  # a Newton step this small leaves the square of it, times a curvature


@dataclass(frozen=True)
class Curve:
    """A loss rho(u) between kinks: pieces with two derivatives, kinks with the slopes to their left and right."""

    pieces: tuple[tuple[Function, Function, Function], ...]
    kinks: tuple[float, ...]
    slopes: tuple[tuple[float, float], ...]
    quadratic: tuple[bool, ...]
    least: tuple[float, ...]  # the vertex of a piece that is a parabola, nan for others

    def marks(self, response: Array) -> Array:
        """omega where the proximal map enters and leaves a kink, [N, 2 kinks], for responses [N]."""
        if not self.kinks:
            return np.empty((len(response), 0))
        return np.concatenate(
            [(k + response[:, None] * np.array(pair)[None]) for k, pair in zip(self.kinks, self.slopes, strict=True)],
            axis=1,
        )

    def moreau(self, omega: Array, response: Array) -> tuple[Array, Array, Array, Array]:
        """(loss of the prox, envelope, g, h) at omega [N, U] and V [N]: g = (prox - omega)/V and h = -dg/domega."""
        v = np.broadcast_to(response[:, None], omega.shape)
        loss, g, h = np.empty_like(omega), np.empty_like(omega), np.empty_like(omega)
        edges = [np.full(len(response), -np.inf), *self.marks(response).T, np.full(len(response), np.inf)]
        for number, (value, slope, bend) in enumerate(self.pieces):
            here = (omega > edges[2 * number][:, None]) & (omega <= edges[2 * number + 1][:, None])
            low = self.kinks[number - 1] if number else -np.inf
            high = self.kinks[number] if number < len(self.kinks) else np.inf
            given = omega[here], v[here]
            if self.quadratic[number]:  # in g, which keeps its digits where the prox is next to a vertex
                curvature = bend(given[0])
                g[here] = -slope(given[0]) / (1.0 + given[1] * curvature)
                x = given[0] + given[1] * g[here]
            else:
                x = _proximal(*given, slope, bend, low, high)
                g[here], curvature = -slope(x), bend(x)
            h[here] = curvature / (1.0 + given[1] * curvature)
            least = self.least[number]
            loss[here] = value(x) if np.isnan(least) else least + 0.5 * g[here] ** 2 / curvature
        for number, kink in enumerate(self.kinks):
            here = (omega > edges[2 * number + 1][:, None]) & (omega <= edges[2 * number + 2][:, None])
            g[here] = (kink - omega[here]) / v[here]
            h[here] = 1.0 / v[here]
            loss[here] = self.pieces[number][0](np.full(int(here.sum()), kink))
        return loss, loss + 0.5 * v * g**2, g, h


def _proximal(omega: Array, v: Array, slope: Function, bend: Function, low: float, high: float) -> Array:
    """The zero of (x - omega)/v + slope(x) in a smooth piece, by Newton's method inside a bracket that shrinks."""
    if not len(omega):
        return omega
    x: Array = np.clip(omega, low, high)
    reach = x - v * slope(x)
    left, right = np.minimum(np.minimum(x, reach), omega), np.maximum(np.maximum(x, reach), omega)
    left, right = np.maximum(left, low), np.minimum(right, high)
    active, at, last = np.arange(len(x)), x, np.full(len(x), np.inf)
    for _ in range(_MOST_STEPS):
        value = (at - omega) / v + slope(at)
        below = value <= 0.0
        left, right = np.where(below, at, left), np.where(below, right, at)
        newton = at - value / (1.0 / v + bend(at))
        inside = (newton >= left) & (newton <= right)
        inside &= np.abs(newton - at) <= 0.5 * last  # or it may go to and fro
        following = np.where(inside, newton, 0.5 * (left + right))
        last = np.abs(following - at)
        moving = last > np.where(inside, _SQUARE_ROOT, _ROUNDING) * (np.abs(at) + np.abs(omega))
        x[active] = at = following
        if not moving.all():
            active, at, last, omega, v, left, right = (a[moving] for a in (active, at, last, omega, v, left, right))
        if not len(active):
            break
    return x


def curve_of(loss: FitLoss, label: float) -> Curve:
    """The loss as a function of u: of y f, of f - y, or of f for one label."""
    return curve_of_entry(loss.entry, loss.parameters, label)


@lru_cache(maxsize=512)
def curve_of_entry(entry: LossEntry, parameters: Numbers, label: float) -> Curve:
    """The same of an entry of the catalogue at numbers for its parameters."""
    shared = _of_any_label(entry, parameters)
    if shared is not None:  # what is analysed serves all labels
        piece = tuple(lambda u, of=function: of(u, np.array(label)) for function in shared)
        return Curve((piece,), (), (), (False,), (math.nan,))  # type: ignore[arg-type]
    analysis: LossAnalysis = analyse_loss(loss_of_entry(entry)).at(sp.Rational(label))
    numbers = {**_numbers(entry, parameters), Y: sp.Rational(label)}
    pieces, quadratic, least = [], [], []
    for piece in analysis.pieces:
        fixed = _stable(piece).subs(numbers)
        quadratic.append(sp.diff(fixed, U, 3) == 0)
        bend = sp.diff(fixed, U, 2)
        vertex = quadratic[-1] and bend != 0
        least.append(float(fixed.subs(U, -sp.diff(fixed, U).subs(U, 0) / bend)) if vertex else math.nan)
        pieces.append(tuple(numpy_of(sp.diff(fixed, U, k), (U,)) for k in range(3)))
    kinks = tuple(float(k.subs(numbers)) for k in analysis.breakpoints)
    slopes = []
    for position in range(len(kinks)):
        left, right = (float(sp.sympify(s).subs(numbers)) for s in edge_slopes(analysis, position))
        slopes.append((left, right))
    return Curve(tuple(pieces), kinks, tuple(slopes), tuple(quadratic), tuple(least))  # type: ignore[arg-type]


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
    of = sp.Wild("of")
    found = piece.replace(sp.log(1 + sp.exp(of)), Softplus(of))
    return found.replace(sp.log(sp.cosh(of)), LogCosh(of))
