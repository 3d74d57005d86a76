"""Averages over label and output given kappa at a solution, by a quadrature of their own. Source: THEORY section 4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from scipy.special import ndtr

from derive.language.grammar import parse
from derive.to_sympy import to_sympy
from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.drawn_lines import averages_over_drawn_lines, errors_over_drawn_lines
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.label_averages import averages_over_labels
from giantstep.verify.lambdified import numpy_of
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.output_law import AROUND, Output
from giantstep.verify.plane_labels import is_of_plane, probability_given_output, tells_apart, values_of_plane
from giantstep.verify.quadrature import density, panels
from giantstep.verify.several_indices import averages_of_plane
from giantstep.verify.shared_averages import are_shared, averages_over_drawn

Array = np.ndarray
_MOST_PANELS = 600
_TOGETHER = 40  # nodes of kappa
_REACH = 10.5  # of the output about its mean, in units of its spread
_FAR = 1e300  # standard deviations
_OF_MEANS = 16.0  # the same where its exponential is averaged
_WIDEST = 1.5  # panels of the output, in units of the labels


@dataclass(frozen=True)
class _Group:
    """A label on an interval of z': density(x) and that of E[t; x] at places [N, X] of u = sign f - offset, which are
    x about its mean ``middle`` in units of its spread ``root``, however small that is.
    """

    label: float
    sign: float
    density: Callable[[Array], tuple[Array, Array]]
    middle: Array
    root: Array
    cuts: Array  # of x [N, C], where the density turns


def loss_averages(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float = 1.0
) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N]: over label and output given kappa.

    width: of the panels, in units of the scales of output and label. Raises NotEvaluable for a law or a loss that this
    quadrature does not take.
    """
    if loss.form == "general" and noise:
        raise NotEvaluable("label noise in a loss that is no function of y f or f - y")
    if is_of_plane(law) and loss.key != "square" and tells_apart(law, output):
        labels = _drawn(law, values_of_plane(law))
        plane = [_group_of_plane(law, loss.form, noise, kappa, output, each, width) for each in labels]
        return _summed([_averages_over_group(group, loss, output, width) for group in plane])
    steps, m = law.steps(), law.overlaps.shape[1]
    if steps is None and are_shared(law, loss):
        return averages_over_drawn(law, loss, kappa, output, width)
    if averages_are_drawn(law, loss):
        return averages_over_drawn_lines(law, loss, noise, kappa, output)
    if steps is None and m > 1 and len(law.directions) <= 2:
        return averages_of_plane(law, loss, noise, kappa, output, width)
    if steps is None:
        return averages_over_labels(law, loss, noise, kappa, output, width)
    drawn = [(low, high, each) for low, high, value in steps for each in _drawn(law, (value,))]
    kept = [(low, high, label, chance) for low, high, (label, _, chance) in drawn]
    groups = [_group_of_step(law, loss.form, noise, kappa, output, step) for step in kept]
    return _summed([_averages_over_group(group, loss, output, width) for group in groups])


def averages_are_drawn(law: LabelLaw, loss: FitLoss) -> bool:
    """Whether averages over a label are taken at random places: of three directions or more, but for squares of a
    smooth one.
    """
    return len(law.directions) > 2 and (law.is_drawn or loss.key != "square") and not are_shared(law, loss)


def _drawn(law: LabelLaw, values: tuple[float, ...]) -> list[tuple[float, float, float]]:
    """(label, label without flips or parameter of the channel, probability)."""
    one = np.ones(1)
    drawn = [(value, each) for value in values for each in law.drawn(value * one, one)]
    return [(float(label[0]), value, float(chance[0])) for value, (label, chance) in drawn]


def _summed(parts: list[dict[str, Array]]) -> dict[str, Array]:
    return {name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]}


def _averages_over_group(group: _Group, loss: FitLoss, output: Output, width: float) -> dict[str, Array]:
    curve = curve_of(loss, group.label)
    x, weight = _places(group, curve, output.response, width)
    u = group.middle[:, None] + group.root[:, None] * x
    loss_of_prox, envelope, g, h = curve.moreau(u, output.response)
    p, along = group.density(x)
    p, along = p * weight, along * weight
    return {
        "avg_l": (p * loss_of_prox).sum(axis=1),
        "avg_M": (p * envelope).sum(axis=1),
        "avg_g": group.sign * (p * g).sum(axis=1),
        "avg_gg": (p * g * g).sum(axis=1),
        "avg_h": (p * h).sum(axis=1),
        "avg_tg": group.sign * (along * g).sum(axis=2),
    }


def _places(group: _Group, curve: Curve, response: Array, width: float) -> tuple[Array, Array]:
    """Nodes of x [N, X] with edges at the marks of the curve."""
    step = width * min(1.0, _WIDEST / float(group.root.max()))
    count = int(min(_MOST_PANELS, math.ceil(2.0 * _REACH / step)))
    even = np.broadcast_to(np.linspace(-_REACH, _REACH, count + 1), (len(response), count + 1))
    marks = (curve.turns(response) - group.middle[:, None]) / group.root[:, None]
    marks = np.clip(np.concatenate([marks, group.cuts], axis=1), -_REACH, _REACH)
    return panels(np.sort(np.concatenate([even, marks], axis=1), axis=1), 12)


def _group_of_step(
    law: LabelLaw, form: str, noise: float, kappa: Array, output: Output, step: tuple[float, float, float, float]
) -> _Group:
    """A label on an interval of z': given f the rest is Gaussian, so that its probability is closed."""
    low, high, label, share = step
    sign, offset = (label if form == "margin" else 1.0), (label if form == "residual" else 0.0)
    own = output.variance + (noise if form == "residual" else 0.0)
    slope, w, centre = output.slopes[0], float(law.lower[0, 0]), law.centre(kappa)[:, 0]
    total = own + slope**2
    spread = np.sqrt(w * w * own / total + law.probit)
    middle, root = sign * output.mean - offset, np.sqrt(total)

    def at(x: Array) -> tuple[Array, Array]:
        t = sign * x * (slope / root)[:, None]
        p = share * density(x)
        inside, turned = np.zeros_like(x), np.zeros_like(x)
        for edge, side in ((high, 1.0), (low, -1.0)):
            if math.isinf(edge):
                inside += side * (1.0 if edge > 0 else 0.0)
                continue
            away = edge - centre[:, None] - w * t
            with np.errstate(all="ignore"):
                z = np.where(spread[:, None] > 0.0, away / spread[:, None], np.sign(away) * _FAR)
            inside += side * ndtr(z)
            with np.errstate(all="ignore"):
                bump = np.where(spread[:, None] > 0.0, density(z) / spread[:, None], 0.0)
            turned -= side * bump * (w * own / total)[:, None]
        return p * inside, np.asarray([p * (t * inside + turned)])

    return _Group(
        label if form != "residual" else 0.0,
        sign,
        at,
        middle,
        root,
        sign * _turns_of_step((low, high), w * slope / root, spread, centre),
    )


def _group_of_plane(
    law: LabelLaw,
    form: str,
    noise: float,
    kappa: Array,
    output: Output,
    step: tuple[float, float, float],
    width: float,
) -> _Group:
    """A label between curves of two indices."""
    label, clean, share = step
    sign, offset = (label if form == "margin" else 1.0), (label if form == "residual" else 0.0)
    own = output.variance + (noise if form == "residual" else 0.0)
    root = np.sqrt(own + (output.slopes**2).sum(axis=0))
    given = probability_given_output(law, clean, kappa, output, own, width)
    middle = sign * output.mean - offset

    def at(x: Array) -> tuple[Array, Array]:
        inside, along = given(output.mean[:, None] + sign * root[:, None] * x)
        p = share * density(x)
        return p * inside, p * along

    return _Group(label if form != "residual" else 0.0, sign, at, middle, root, np.empty((len(root), 0)))


def _turns_of_step(edges: tuple[float, float], slopes: Array, spread: Array, centre: Array) -> Array:
    """Where the probability of an interval of the label turns as the output grows, and around, [N, C], in spreads."""
    found = [np.empty((len(slopes), 0))]
    for edge in edges:
        if not math.isinf(edge):
            with np.errstate(all="ignore"):
                place, width = (edge - centre) / slopes, spread / np.abs(slopes)
                turns = place[:, None] + width[:, None] * AROUND
            found.append(np.clip(np.nan_to_num(turns, nan=1e9, posinf=1e9, neginf=-1e9), -1e9, 1e9))
    return np.concatenate(found, axis=1)


# --- errors ---------------------------------------------------------------------------------------------------------


def test_errors(law: LabelLaw, loss: FitLoss, kappa: Array, output: Output, width: float = 0.5) -> Array:
    """Given kappa, of the clean label: P(y f < 0) for losses of the margin, E (y - f)^2 for others, f the mean label
    that the output stands for; [N].
    """
    rows = [slice(start, start + _TOGETHER) for start in range(0, len(kappa), _TOGETHER)]
    return np.concatenate([_test_errors(law, loss, kappa[here], output.at(here), width) for here in rows])


def _test_errors(law: LabelLaw, loss: FitLoss, kappa: Array, output: Output, width: float) -> Array:
    clean = replace(LabelLaw.of(law.clean(loss.form == "margin"), law.overlaps), draw=law.draw)
    if clean.is_drawn and not loss.entry.predicts_mean:
        return errors_over_drawn_lines(clean, loss.form == "margin", kappa, output)
    root = np.sqrt(output.variance)
    more = _turns(output, clean) if len(output.slopes) == 1 else None
    s, weight, label = clean.nodes(kappa, width, more)
    along = s @ clean.carry.T
    rest = np.einsum("mn,mk,kn->n", output.slopes, clean.rest, output.slopes)
    centre = output.mean[:, None] + np.einsum("njm,mn->nj", along, output.slopes)
    if loss.entry.predicts_mean:
        own = np.sqrt(output.variance + rest)
        return np.asarray((weight * _errors_of_mean(loss, label, centre, own, width)).sum(axis=1))
    if loss.form != "margin":
        return np.asarray((weight * (label - centre) ** 2).sum(axis=1) + output.variance + rest)
    spread = np.sqrt(root**2 + rest)[:, None]
    with np.errstate(all="ignore"):
        wrong = np.where(spread > 0.0, ndtr(-label * centre / spread), 0.5 * (1.0 - np.sign(label * centre)))
    return np.asarray((weight * wrong).sum(axis=1))


def _errors_of_mean(loss: FitLoss, label: Array, centre: Array, own: Array, width: float) -> Array:
    """E (label - mean label of f)^2 [N, J] over outputs f of means [N, J] and spreads [N], by panels."""
    names = tuple(name for name, _ in loss.parameters)
    symbols = {name: sp.Symbol(name, real=True) for name in ("f", *names)}
    tree = to_sympy(parse(loss.entry.predicts, tuple(symbols)), symbols)
    mean = numpy_of(tree.subs({symbols[name]: sp.Float(value, 30) for name, value in loss.parameters}), (symbols["f"],))
    count = math.ceil(2.0 * _OF_MEANS / min(width, _WIDEST))
    xi, weight = panels(np.linspace(-_OF_MEANS, _OF_MEANS, count + 1), 12)
    found = np.zeros_like(centre)
    for x, over in zip(xi, weight * density(xi), strict=True):
        found += over * (mean(centre + own[:, None] * x) - label) ** 2
    return found


def _turns(output: Output, law: LabelLaw) -> Array:
    """Where f changes sign as a function of s, [N, C]: the place itself and the width of the change about it."""
    slope = output.slopes[0] * float(law.carry[0, 0])
    with np.errstate(all="ignore"):
        centre = np.where(slope != 0.0, -output.mean / slope, np.inf)
        width = np.where(slope != 0.0, np.sqrt(output.variance) / np.abs(slope), 0.0)
        places = centre[:, None] + width[:, None] * AROUND
    return np.asarray(np.clip(np.nan_to_num(places, nan=1e3, posinf=1e3, neginf=-1e3), -1e3, 1e3))
