"""Averages over output and label of one index or two: along lines of their plane, and across these by panels that are
halved until they agree.
"""

from __future__ import annotations

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw, link_function
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.kinks import basis_of, cuts_across, kinks_of
from giantstep.verify.label_lines import REACH, Averaged, Lines, along, averaged, parts_of
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import END, density, legendre, to_ends

Array = np.ndarray
_LEAST = 7.2  # of s however far out kappa is: the Gaussian weight beyond is 6e-13
_WIDE, _ORDER = 2.0, 14  # panels across
_TOLERANCE, _FURTHER = 5e-12, 1e-4  # of an integral, for a panel across; the least density of kappa that relaxes it
_HARDLY = 1e-6
_CLOSEST = 1e-12  # panels that are not halved
_MOST, _HALVINGS = 1000, 45  # panels across for a node of kappa, halvings


def averages_of_plane(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output, width: float
) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N]. Raises NotEvaluable for many curves, or where panels do
    not settle.
    """
    own = spread_given_label(law, output) + (noise if loss.form == "residual" else 0.0)
    kinks = kinks_of(law.link)
    turn, flat = basis_of(kinks, law.root)
    distance = np.linalg.norm(kappa.reshape(len(kappa), -1), axis=1)
    reach = np.sqrt(np.maximum(REACH**2 - distance**2, _LEAST**2))
    slopes = output.slopes.T @ law.carry @ turn
    lines = Lines(link_function(law.link), kinks, law.centre(kappa), law.root @ turn, output.mean, slopes, reach, width)
    tolerance = _TOLERANCE / np.maximum(np.exp(-0.5 * distance**2), _FURTHER)
    parts = [averaged(lines, part, np.sqrt(own), output.response) for part in parts_of(law, loss)]
    return in_words(law, output, turn, [(each, _averages(each, tolerance, output.response, flat)) for each in parts])


def spread_given_label(law: LabelLaw, output: Output) -> Array:
    """The variance of the output given kappa and the label's indices, [N]."""
    return np.asarray(output.variance + np.einsum("mn,mk,kn->n", output.slopes, law.rest, output.slopes))


def in_words(law: LabelLaw, output: Output, turn: Array, parts: list[tuple[Averaged, Array]]) -> dict[str, Array]:
    """Averages by name from those of parts, [F, N] each; turn: orthonormal directions of s."""
    total: dict[str, Array] = {}
    beside = output.slopes.T @ law.rest  # [N, m]
    for of, found in parts:
        sign = of.part.sign
        bend = sign * law.carry @ turn @ found[4:] - beside.T * found[3]
        values = found[0], found[0] + 0.5 * output.response * found[2], sign * found[1], found[2], found[3], bend
        for name, value in zip(("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h", "avg_tg"), values, strict=True):
            total[name] = total.get(name, 0.0) + value
    return total


def _averages(found: Averaged, tolerance: Array, response: Array, flat: bool) -> Array:
    """Loss, g, g^2, h and g s, [4 + r, N]. Raises NotEvaluable."""
    lines = found.lines
    rows, across = len(lines.reach), lines.columns.shape[1] - 1
    if flat:
        return along(found, np.arange(rows), np.zeros((rows, across)), np.ones(rows))
    row, low, high = _first_panels(lines)
    whole, _ = _across(found, row, low, high)
    size = _sizes(_summed(np.abs(whole), row, rows), response)
    total, held = np.zeros_like(size), 0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        both, left, right = np.tile(row, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
        halves, beyond = _across(found, both, left, right)
        missed = np.abs(halves[:, : len(row)] + halves[:, len(row) :] - whole)
        missed += beyond[:, : len(row)] + beyond[:, len(row) :]
        done = np.all(missed <= (tolerance * size)[:, row], axis=0) | (high - low <= _CLOSEST)
        kept = np.tile(done, 2)
        total += _summed(halves[:, kept], both[kept], rows)
        row, low, high, whole = both[~kept], left[~kept], right[~kept], halves[:, ~kept]
        held += len(row)
        if not len(row):
            return total
        if held > _MOST * (20 + rows):
            break
    raise NotEvaluable("averages over a label of two indices do not settle")


def _summed(values: Array, row: Array, rows: int) -> Array:
    return np.array([np.bincount(row, each, rows) for each in values])


def _sizes(found: Array, response: Array) -> Array:
    """What integrals are held against: slopes may cancel; what is next to nothing beside other nodes of kappa, or
    beside the largest curvature, does not count.
    """
    found[[1, 4, 5]] = np.sqrt(found[2])
    found = np.maximum(found, _HARDLY * found.max(axis=1, keepdims=True))
    found[3] = np.maximum(found[3], _HARDLY**2 / response)
    return np.asarray(np.maximum(found, 1e-300))


def _first_panels(lines: Lines) -> tuple[Array, Array, Array]:
    """(row, low, high) of panels across the lines, which end where kinks along them change their order."""
    even = np.linspace(-REACH, REACH, round(2.0 * REACH / _WIDE) + 1)
    edges = np.broadcast_to(even, (len(lines.reach), len(even)))
    if lines.kinks is not None:
        edges = np.concatenate([edges, cuts_across(lines.kinks, lines.centre, lines.columns, REACH)], axis=1)
    edges = np.sort(np.clip(edges, -lines.reach[:, None], lines.reach[:, None]), axis=1)
    row, at = np.nonzero(np.diff(edges, axis=1) > 0.0)
    return row, edges[row, at], edges[row, at + 1]


def _across(found: Averaged, row: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """[6, I] of panels across the lines, and what these miss of what is at their ends."""
    x, weight = legendre(_ORDER)
    to, share = to_ends(_ORDER)
    half, middle = 0.5 * (high - low)[:, None], 0.5 * (high + low)[:, None]
    v = middle + half * np.concatenate([x, [-END, END]])
    each = along(found, np.repeat(row, v.shape[1]), v.reshape(-1, 1), density(v).ravel())
    each = each.reshape(-1, *v.shape)
    nodes, ends = each[..., :_ORDER], each[..., _ORDER:]
    return (nodes * half * weight).sum(axis=2), 2.0 * share * half[:, 0] * np.abs(ends - nodes @ to.T).sum(axis=2)
