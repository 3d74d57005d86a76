"""Averages over output and label where the label varies with the target: over z' first, then over what f adds.

Given kappa and s (z' about its mean, standardised) the output is Gaussian: omega = centre(s) + sqrt(own) xi. Both
variables keep the unit scale, however small the spread of the output is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw, link_function
from giantstep.verify.crossings import crossings
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.output_law import AROUND, Output
from giantstep.verify.quadrature import density, hermite, panels
from giantstep.verify.shared_averages import labels_that_count

Array = np.ndarray
_MOST_CURVES = 8
_MOST_NODES = 50_000  # of one label
_TOGETHER = 100_000  # nodes of (s, xi) that are held together
_REACH, _PANEL, _ORDER = 10.5, 1.5, 12  # of xi
_OF_A_SQUARE = 2  # Gauss nodes of xi: exact for its averages, of degree two
_SCAN, _BESIDE = np.linspace(-9.5, 9.5, 801), 10  # of s, where outputs are looked at for kinks; steps that a panel has


@dataclass(frozen=True)
class _Outputs:
    """omega of a loss of one curve: sign (centre(s) + sqrt(own) xi), over nodes [N, J] of s with weights.

    along [N, J, m] is E[t | s]; rest [N, m] the covariance of t and omega given s.
    """

    sign: float
    centre: Array
    weight: Array
    along: Array
    rest: Array
    own: Array


def averages_over_labels(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float
) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N]. Raises NotEvaluable for many curves."""
    nodes = len(law.nodes(kappa[:1], width)[0][0])
    if nodes > _MOST_NODES and loss.key != "square":
        raise NotEvaluable(f"{nodes} nodes of a label of several indices for a loss that is not the square")
    size = max(1, int(_TOGETHER / (nodes * 2.0 * _REACH / (_PANEL * width) * _ORDER)))
    rows = [slice(start, start + size) for start in range(0, len(kappa), size)]
    parts = [_averages(law, loss, noise, kappa[here], output.at(here), width) for here in rows]
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}


def _averages(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float
) -> dict[str, Array]:
    rest = output.slopes.T @ law.rest  # [N, m]
    own = output.variance + np.einsum("nm,mn->n", rest, output.slopes)
    own = own + noise if loss.form == "residual" else own
    turns = _turns(law, loss, kappa, output, own) if len(output.slopes) == 1 else None
    s, weights, clean = law.nodes(kappa, width, turns)
    along = s @ law.carry.T  # E[t | s], [N, J, m]
    centre = output.mean[:, None] + np.einsum("njm,mn->nj", along, output.slopes)
    parts = []
    for label, weight in _labels(law, kappa, clean, np.ascontiguousarray(weights)):
        if loss.form == "residual":
            outputs = _Outputs(1.0, centre - label, weight, along, rest, own)
            parts.append(_averages_of_curve(outputs, curve_of(loss, 0.0), output.response, width))
            continue
        values = np.unique(label)
        if len(values) > _MOST_CURVES:
            raise NotEvaluable("a loss that has another curve for each of many labels")
        for value in map(float, values):
            sign, share = (value if loss.form == "margin" else 1.0), np.where(label == value, weight, 0.0)
            outputs = _Outputs(sign, sign * centre, share, along, rest, own)
            parts.append(_averages_of_curve(outputs, curve_of(loss, value), output.response, width))
    return {name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]}


def _labels(law: LabelLaw, kappa: Array, clean: Array, weight: Array) -> Iterator[tuple[Array, Array]]:
    """Labels [N, J] with their weights: of a channel, which may draw hundreds, those that count."""
    if law.channel is None:
        yield from law.drawn(clean, weight)
        return
    for label, share in labels_that_count(law, kappa, clean, weight):
        yield np.full_like(clean, label), share


def _averages_of_curve(outputs: _Outputs, curve: Curve, response: Array, width: float) -> dict[str, Array]:
    count, root = len(outputs.centre), np.sqrt(outputs.own)[:, None]
    xi, over = _nodes(outputs, curve, response, root, width)
    omega = outputs.centre[..., None] + root[..., None] * xi
    loss, envelope, g, h = (a.reshape(omega.shape) for a in curve.moreau(omega.reshape(count, -1), response))
    over = over * outputs.weight[..., None]
    slope = (over * g).sum(axis=2)  # [N, J]
    bend = (over * g * xi).sum(axis=(1, 2)) / root[:, 0]
    along = np.einsum("nj,njm->mn", slope, outputs.along) * outputs.sign + outputs.rest.T * bend
    return {
        "avg_l": (over * loss).sum(axis=(1, 2)),
        "avg_M": (over * envelope).sum(axis=(1, 2)),
        "avg_g": outputs.sign * slope.sum(axis=1),
        "avg_gg": (over * g * g).sum(axis=(1, 2)),
        "avg_h": (over * h).sum(axis=(1, 2)),
        "avg_tg": along,
    }


def _nodes(outputs: _Outputs, curve: Curve, response: Array, root: Array, width: float) -> tuple[Array, Array]:
    """xi and weights, [N, J, X], on panels between the kinks of the curve; a few Gauss nodes [X] for a square."""
    if curve.quadratic == (True,):
        return hermite(_OF_A_SQUARE)
    even = np.linspace(-_REACH, _REACH, int(np.ceil(2.0 * _REACH / (_PANEL * width))) + 1)
    marks = (curve.turns(response)[:, None, :] - outputs.centre[..., None]) / root[..., None]
    everywhere = np.broadcast_to(even, (*outputs.centre.shape, len(even)))
    edges = np.concatenate([everywhere, np.clip(marks, -_REACH, _REACH)], axis=2)
    xi, over = panels(np.sort(edges, axis=2), _ORDER)
    return xi, over * density(xi)


def _turns(law: LabelLaw, loss: FitLoss, kappa: Array, output: Output, own: Array) -> Array | None:
    """Where a narrow output passes a kink of the proximal map as s grows, and about it, [N, C]; one index."""
    if loss.form != "residual" or not curve_of(loss, 0.0).kinks:
        return None
    marks, spread = curve_of(loss, 0.0).marks(output.response), np.sqrt(own)
    levels = (marks[:, :, None] + spread[:, None, None] * AROUND).reshape(len(kappa), -1)
    found = [_crossings(law, kappa, output, flip, levels) for flip in ((1.0, -1.0) if law.flips else (1.0,))]
    rows, places, rises = (np.concatenate(parts) for parts in zip(*found, strict=True))
    narrow = spread[rows] < rises
    return _padded(rows[narrow], places[narrow], len(kappa))


def _crossings(law: LabelLaw, kappa: Array, output: Output, flip: float, levels: Array) -> tuple[Array, Array, Array]:
    """(rows, places of s) where the mean of f - y passes levels [N, L], and what it changes by beside them."""
    link, centre, root = link_function(law.link), law.centre(kappa)[:, 0], float(law.root[0, 0])
    slope = output.slopes[0] * float(law.carry[0, 0])

    def at(row: Array, s: Array) -> Array:
        return np.asarray(output.mean[row] + slope[row] * s - flip * link(centre[row] + root * s))

    line = np.broadcast_to(_SCAN, (len(kappa), len(_SCAN)))
    values = at(np.arange(len(kappa))[:, None], line)
    rows, places = crossings(values, at, line, levels)
    here = np.clip(np.searchsorted(_SCAN, places), _BESIDE, len(_SCAN) - 1 - _BESIDE)
    sides = (np.abs(values[rows, here + side] - values[rows, here]) for side in (-_BESIDE, _BESIDE))
    return rows, places, np.maximum(*sides)


def _padded(rows: Array, places: Array, count: int) -> Array:
    """The places of each row, [count, C], inf behind the last."""
    order = np.argsort(rows, kind="stable")
    rows, places = rows[order], places[order]
    numbers = np.bincount(rows, minlength=count)
    found = np.full((count, int(numbers.max(initial=0))), np.inf)
    found[rows, np.arange(len(rows)) - (np.cumsum(numbers) - numbers)[rows]] = places
    return found
