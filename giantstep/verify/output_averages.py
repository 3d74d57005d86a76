"""Averages over label and output given kappa at a solution, by a quadrature of their own. Source: THEORY section 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.quadrature import density, panels

Array = np.ndarray
_MOST_PANELS = 600
_MOST_CURVES = 8
_LIGHT = 1e-15  # weight of a node of the label below which it is left out
_CHUNK = 192  # places of the output that look for their neighbours among the labels together
_AROUND = np.array([-9.0, -3.0, -1.0, 0.0, 1.0, 3.0, 9.0])  # in widths of a turn


@dataclass(frozen=True)
class Output:
    """omega = mean + slopes.t + sqrt(variance) xi given kappa, and its response V: arrays over the nodes."""

    mean: Array
    slopes: Array  # [m, N]
    variance: Array
    response: Array


@dataclass(frozen=True)
class _Group:
    """Labels that share a curve: density(u) of u = sign f - offset, and of E[t; u], at places [N, U]."""

    label: float
    sign: float
    density: Callable[[Array], tuple[Array, Array]]
    low: Array
    high: Array
    scale: Array
    cuts: Array  # [N, C], where the density turns


def loss_averages(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float = 1.0
) -> dict[str, Array]:
    """avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N]: over label and output given kappa.

    width: of the panels, in units of the scales of output and label. Raises NotEvaluable for a law or a loss that this
    quadrature does not take.
    """
    count, m = len(kappa), len(output.slopes)
    total = {name: np.zeros(count) for name in ("avg_M", "avg_g", "avg_gg", "avg_h")}
    total["avg_tg"] = np.zeros((m, count))
    for group in _groups(law, loss, noise, kappa, output, width):
        curve = curve_of(loss, group.label)
        u, weight = _places(group, curve, output.response, width)
        envelope, g, h = curve.moreau(u, output.response)
        p, along = group.density(u)
        p, along = p * weight, along * weight
        total["avg_M"] += (p * envelope).sum(axis=1)
        total["avg_g"] += group.sign * (p * g).sum(axis=1)
        total["avg_gg"] += (p * g * g).sum(axis=1)
        total["avg_h"] += (p * h).sum(axis=1)
        total["avg_tg"] += group.sign * (along * g).sum(axis=2)
    return total


def _places(group: _Group, curve: Curve, response: Array, width: float) -> tuple[Array, Array]:
    """Nodes of u [N, U] between low and high, with edges at the marks of the curve."""
    step = width * np.minimum(group.scale, 1.5)
    count = int(min(_MOST_PANELS, math.ceil(float(np.max((group.high - group.low) / step)))))
    even = group.low[:, None] + (group.high - group.low)[:, None] * np.linspace(0.0, 1.0, count + 1)
    marks = np.concatenate([curve.marks(response), group.cuts], axis=1)
    marks = np.clip(marks, group.low[:, None], group.high[:, None])
    return panels(np.sort(np.concatenate([even, marks], axis=1), axis=1), 12)


def _groups(law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float) -> list[_Group]:
    steps, form = law.steps(), loss.form
    if form == "general" and noise:
        raise NotEvaluable("label noise in a loss that is no function of y f or f - y")
    if steps is not None:
        kept = [(low, high, value, 1.0 - law.flips) for low, high, value in steps]
        if law.flips:
            kept += [(low, high, -value, law.flips) for low, high, value in steps]
        return [_group_of_step(law, form, noise, kappa, output, step) for step in kept]
    return _groups_of_nodes(law, form, noise, kappa, output, width)


def _group_of_step(
    law: LabelLaw, form: str, noise: float, kappa: Array, output: Output, step: tuple[float, float, float, float]
) -> _Group:
    """A label on an interval of z': given f the rest is Gaussian, so that its probability is closed."""
    from scipy.special import ndtr

    low, high, label, share = step
    sign, offset = (label if form == "margin" else 1.0), (label if form == "residual" else 0.0)
    own = output.variance + (noise if form == "residual" else 0.0)
    slope, w, centre = output.slopes[0], float(law.lower[0, 0]), law.centre(kappa)[:, 0]
    total = own + slope**2
    spread = np.sqrt(w * w * own / total + law.probit)
    middle, root = sign * output.mean - offset, np.sqrt(total)

    def at(u: Array) -> tuple[Array, Array]:
        f = sign * (u - middle[:, None])  # about its mean
        t = f * (slope / total)[:, None]
        p = share * density(f / root[:, None]) / root[:, None]
        inside, turned = np.zeros_like(u), np.zeros_like(u)
        for edge, side in ((high, 1.0), (low, -1.0)):
            if math.isinf(edge):
                inside += side * (1.0 if edge > 0 else 0.0)
                continue
            away = edge - centre[:, None] - w * t
            with np.errstate(all="ignore"):
                z = np.where(spread[:, None] > 0.0, away / spread[:, None], np.sign(away) * np.inf)
            inside += side * ndtr(z)
            with np.errstate(all="ignore"):
                bump = np.where(spread[:, None] > 0.0, density(z) / spread[:, None], 0.0)
            turned -= side * bump * (w * own / total)[:, None]
        return p * inside, np.asarray([p * (t * inside + turned)])

    return _Group(
        label if form != "residual" else 0.0,
        sign,
        at,
        middle - 9.0 * root,
        middle + 9.0 * root,
        root,
        _turns_of_step((low, high), w * slope / total, spread, centre, sign, middle),
    )


def _turns_of_step(
    edges: tuple[float, float], tilt: Array, spread: Array, centre: Array, sign: float, middle: Array
) -> Array:
    """Where the probability of an interval of the label turns as a function of u, and around, [N, C]."""
    found = [np.empty((len(tilt), 0))]
    for edge in edges:
        if not math.isinf(edge):
            with np.errstate(all="ignore"):
                place, width = (edge - centre) / tilt, spread / np.abs(tilt)
                turns = middle[:, None] + sign * (place[:, None] + width[:, None] * _AROUND)
            found.append(np.clip(np.nan_to_num(turns, nan=1e9, posinf=1e9, neginf=-1e9), -1e9, 1e9))
    return np.concatenate(found, axis=1)


def _groups_of_nodes(
    law: LabelLaw, form: str, noise: float, kappa: Array, output: Output, width: float
) -> list[_Group]:
    s, weight, label = law.nodes(kappa, width)
    if law.flips:
        s, weight = (
            np.concatenate([s, s], axis=1),
            np.concatenate([(1.0 - law.flips) * weight, law.flips * weight], axis=1),
        )
        label = np.concatenate([label, -label], axis=1)
    along = s @ law.carry.T  # E[t | s], [N, J, m]
    rest = output.slopes.T @ law.rest  # [N, m]
    own = output.variance + (noise if form == "residual" else 0.0) + np.einsum("nm,mn->n", rest, output.slopes)
    centre = output.mean[:, None] + np.einsum("njm,mn->nj", along, output.slopes)
    if form == "residual":
        return [_group_of_centres(0.0, 1.0, centre - label, weight, along, rest, own)]
    values = np.unique(label)
    if len(values) > _MOST_CURVES:
        raise NotEvaluable("a loss that has another curve for each of many labels")
    groups = []
    for value in values:
        sign = float(value) if form == "margin" else 1.0
        share = np.where(label == value, weight, 0.0)
        label_of_curve = float(value)
        groups.append(_group_of_centres(label_of_curve, sign, sign * centre, share, along, rest, own))
    return groups


def _group_of_centres(
    label: float, sign: float, centre: Array, weight: Array, along: Array, rest: Array, own: Array
) -> _Group:
    """A sum of Gaussians of one variance."""
    root = np.sqrt(own)
    shown = weight > _LIGHT
    low = np.where(shown, centre, np.inf).min(axis=1) - 9.0 * root
    high = np.where(shown, centre, -np.inf).max(axis=1) + 9.0 * root
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 1.0)
    tables = []
    for n in range(len(root)):
        order = np.argsort(centre[n][shown[n]], kind="stable")
        tables.append([values[n][shown[n]][order] for values in (centre, weight, along)])

    def at(u: Array) -> tuple[Array, Array]:
        p, t = np.empty_like(u), np.empty((along.shape[2], *u.shape))
        for n, (places, weights, means) in enumerate(tables):
            for start in range(0, u.shape[1], _CHUNK):
                here = u[n, start : start + _CHUNK]
                first, last = np.searchsorted(places, [here[0] - 9.0 * root[n], here[-1] + 9.0 * root[n]])
                off = (here[:, None] - places[first:last]) / root[n]
                terms = weights[first:last] * density(off) / root[n]
                p[n, start : start + _CHUNK] = terms.sum(axis=1)
                moved = (terms * off).sum(axis=1) / root[n]
                t[:, n, start : start + _CHUNK] = (terms @ means[first:last]).T + sign * np.outer(rest[n], moved)
        return p, t

    return _Group(label, sign, at, low, high, root, np.empty((len(root), 0)))


# --- errors ---------------------------------------------------------------------------------------------------------


def test_errors(law: LabelLaw, form: str, kappa: Array, output: Output, width: float = 0.5) -> Array:
    """Given kappa, of the clean label: P(y f < 0) for losses of the margin, E (y - f)^2 for others; [N]."""
    from scipy.special import ndtr

    clean = LabelLaw(law.text, law.overlaps, 0.0, 0.0)
    root = np.sqrt(output.variance)
    more = _turns(output, clean) if len(output.slopes) == 1 else None
    s, weight, label = clean.nodes(kappa, width, more)
    along = s @ clean.carry.T
    rest = np.einsum("mn,mk,kn->n", output.slopes, clean.rest, output.slopes)
    centre = output.mean[:, None] + np.einsum("njm,mn->nj", along, output.slopes)
    if form != "margin":
        return np.asarray((weight * (label - centre) ** 2).sum(axis=1) + output.variance + rest)
    spread = np.sqrt(root**2 + rest)[:, None]
    with np.errstate(all="ignore"):
        wrong = np.where(spread > 0.0, ndtr(-label * centre / spread), 0.5 * (1.0 - np.sign(label * centre)))
    return np.asarray((weight * wrong).sum(axis=1))


def _turns(output: Output, law: LabelLaw) -> Array:
    """Where f changes sign as a function of s, [N, C]: the place itself and the width of the change about it."""
    slope = output.slopes[0] * float(law.carry[0, 0])
    with np.errstate(all="ignore"):
        centre = np.where(slope != 0.0, -output.mean / slope, np.inf)
        width = np.where(slope != 0.0, np.sqrt(output.variance) / np.abs(slope), 0.0)
        places = centre[:, None] + width[:, None] * _AROUND
    return np.asarray(np.clip(np.nan_to_num(places, nan=1e3, posinf=1e3, neginf=-1e3), -1e3, 1e3))
