"""Averages over output and label where a channel draws one of many labels: all labels share the law of the output.

Given kappa, output and label have the density sum_s w(s) P(y|s) N(omega; centre(s), own), with z' at places s. The
proximal map is then taken at places of omega once for each label, and not once more for each place of s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.drawn_labels import drawn
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.loss_curve import Curve, curve_of
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import density, panels

Array = np.ndarray
_FEW = 8  # labels, each of which may have the law of the output to itself
_LIGHT = 1e-13  # of an average: labels that add less to it are left out, and places of the target with less of its law
_FURTHER = 1e-3  # of that, for what grows with the label
_REACH, _PANEL, _ORDER = 9.0, 1.5, 12  # of the output in its spreads given s; of panels
_TOGETHER, _MOST = 2_000_000, 400  # numbers that are held together, panels


def are_shared(law: LabelLaw, loss: FitLoss) -> bool:
    """Whether the labels of a channel are many, and the loss is smooth and no parabola."""
    channel = law.channel
    if channel is None or 0 < len(channel.values) <= _FEW:
        return False
    curve = curve_of(loss, 0.0)
    return not curve.kinks and curve.quadratic == (False,)


def averages_over_drawn(law: LabelLaw, loss: FitLoss, kappa: Array, output: Output, width: float) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N] where ``are_shared``.

    Raises NotEvaluable where the output given the target is too narrow, or labels are too many.
    """
    s = law.nodes(kappa[:1], width)[0]
    size = max(1, _TOGETHER // (s.shape[1] * _panels(law, s, output, width) * _ORDER))
    rows = [slice(start, start + size) for start in range(0, len(kappa), size)]
    parts = [_averages(law, loss, kappa[here], output.at(here), width) for here in rows]
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}


def _panels(law: LabelLaw, s: Array, output: Output, width: float) -> int:
    """How many panels the output needs between the means that it has given s, at every kappa."""
    rest = output.slopes.T @ law.rest
    own = output.variance + np.einsum("nm,mn->n", rest, output.slopes)
    reach = np.abs(s @ law.carry.T).max(axis=(0, 1)) @ np.abs(output.slopes)  # [N]
    count = math.ceil(float(np.max((reach / np.sqrt(own) + _REACH) * 2.0 / (_PANEL * width))))
    if count > _MOST:
        raise NotEvaluable(f"an output given the target so narrow that it needs {count} panels")
    return count


def _averages(law: LabelLaw, loss: FitLoss, kappa: Array, output: Output, width: float) -> dict[str, Array]:
    s, weight, clean = law.nodes(kappa, width)
    along = s @ law.carry.T  # E[t | s], [N, J, m]
    rest = output.slopes.T @ law.rest  # [N, m]
    own = output.variance + np.einsum("nm,mn->n", rest, output.slopes)
    root = np.sqrt(own)[:, None]
    centre = output.mean[:, None] + np.einsum("njm,mn->nj", along, output.slopes)
    share = np.linspace(0.0, 1.0, _panels(law, s, output, width) + 1)
    low, high = centre.min(axis=1)[:, None] - _REACH * root, centre.max(axis=1)[:, None] + _REACH * root
    omega, over = panels(low + (high - low) * share, _ORDER)  # [N, X]
    x = (omega[:, None, :] - centre[..., None]) / root[..., None]
    kernel = density(x) * (over / root)[:, None, :]
    kernels = np.concatenate([kernel, x * kernel / root[..., None]], axis=2)  # [N, J, 2 X]
    total: dict[str, Array] = {}
    for label, chance in labels_that_count(law, kappa, clean, weight):
        rows = np.concatenate([chance[:, None], np.moveaxis(chance[..., None] * along, 2, 1)], axis=1)
        found = rows @ kernels  # [N, 1 + m, 2 X]
        p, turned = np.split(found, 2, axis=2)
        tilted = p[:, 1:] + rest[:, :, None] * turned[:, :1]
        offset = label if loss.form == "residual" else 0.0
        for name, value in _of_label(curve_of(loss, label), omega - offset, output.response, p[:, 0], tilted).items():
            total[name] = total.get(name, 0.0) + value
    return total


def _of_label(curve: Curve, u: Array, response: Array, p: Array, tilted: Array) -> dict[str, Array]:
    """What one label adds; p, tilted: weights of u [N, X], and with t [N, m, X]."""
    loss, envelope, g, h = curve.moreau(u, response)
    values = {"avg_l": loss, "avg_M": envelope, "avg_g": g, "avg_gg": g * g, "avg_h": h}
    found = {name: (p * value).sum(axis=1) for name, value in values.items()}
    return {**found, "avg_tg": (tilted * g[:, None]).sum(axis=2).T}


def labels_that_count(law: LabelLaw, kappa: Array, clean: Array, weight: Array) -> Iterator[tuple[float, Array]]:
    """Labels of a channel that add something beside the density of kappa, with their weights at s [N, J]; at least one.

    clean, weight: of the link at s.
    """
    assert law.channel is not None
    here = density(kappa.reshape(len(kappa), -1)).prod(axis=1)[:, None]
    count = 0
    for label, chance in drawn(law.channel, clean, weight * here, _FURTHER * _LIGHT):
        share = weight * chance
        if np.max((share * here).sum(axis=1)) * (1.0 + label) > _LIGHT or not count:
            count += 1
            yield label, share
