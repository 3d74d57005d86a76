"""Averages over output and label of three indices or more, on lines whose places across are drawn.

Across the lines places are those of a cubic grid with a shift and a rotation of its own at every node of kappa: the
rule is without bias, exact but for exponentially little where averages are smooth across, and what it leaves where
kinks of a link meet is known from two draws. Its statistical error is part of what is told.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify.conditional_law import LabelLaw, link_function
from giantstep.verify.kinks import Kinks, kinks_of
from giantstep.verify.label_lines import Averaged, Lines, along, averaged, errors_over, parts_of
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import density
from giantstep.verify.several_indices import in_words, spread_given_label

Array = np.ndarray
_REACH, _ACROSS = 7.5, 6.8  # of s along and across lines: the Gaussian weight beyond is 1e-10
_LINES = 1400  # for a node of kappa in the middle
_FEWER, _LEAST = 0.35, 0.02  # power of the density of kappa that the number of lines falls with, and its least share
_DIRECTIONS = 300


def averages_over_drawn_lines(
    law: LabelLaw, loss: FitLoss, noise: float, kappa: Array, output: Output
) -> dict[str, Array]:
    """avg_l, avg_M, avg_g, avg_gg, avg_h [N] and avg_tg [m, N]. Raises NotEvaluable for many curves."""
    own = spread_given_label(law, output) + (noise if loss.form == "residual" else 0.0)
    lines, turn = _lines(law, kappa, output)
    places = _places(law, kappa)
    parts = [averaged(lines, part, np.sqrt(own), output.response) for part in parts_of(law, loss)]
    return in_words(law, output, turn, [(part, _summed(part, places)) for part in parts])


def errors_over_drawn_lines(law: LabelLaw, margin: bool, kappa: Array, output: Output) -> Array:
    """Test errors given kappa [N], of a clean label."""
    lines, _ = _lines(law, kappa, output)
    spread, places = np.sqrt(spread_given_label(law, output)), _places(law, kappa)
    return np.asarray(sum(_summed(part, places)[0] for part in errors_over(law, lines, margin, spread)))


def _summed(part: Averaged, places: tuple[Array, Array, Array]) -> Array:
    row, found = places[0], along(part, *places)
    return np.array([np.bincount(row, each, len(part.lines.reach)) for each in found])


def _lines(law: LabelLaw, kappa: Array, output: Output) -> tuple[Lines, Array]:
    kinks, r = kinks_of(law.link), len(law.directions)
    turn = _basis(kinks, law.root, law.carry.T @ output.slopes.sum(axis=1))
    reach, slopes = np.full(len(kappa), _REACH), output.slopes.T @ law.carry @ turn
    link, columns = link_function(law.link), law.root @ turn
    assert turn.shape == (r, r)
    return Lines(link, kinks, law.centre(kappa), columns, output.mean, slopes, reach, 1.0), turn


def _basis(kinks: Kinks | None, root: Array, output: Array) -> Array:
    """Orthonormal directions of s: lines along the first cross the kinks as steeply as can be; without kinks the
    output moves along it.
    """
    source, r = np.random.default_rng(1), len(root)
    choices = source.standard_normal((_DIRECTIONS, r))
    choices /= np.linalg.norm(choices, axis=1, keepdims=True)
    size = float(np.linalg.norm(output))
    first = output / size if size > 0.0 else choices[0]
    if kinks is not None:
        s = 2.0 * source.standard_normal((20 * _DIRECTIONS, r))
        first = choices[int(np.argmax(_steepness(kinks, root, s, choices)))]
    turn, _ = np.linalg.qr(np.column_stack([first, np.eye(r)[:, np.argsort(np.abs(first))[: r - 1]]]))
    return np.asarray(turn)


def _steepness(kinks: Kinks, root: Array, s: Array, choices: Array) -> Array:
    """How steeply lines along each of the choices cross the kinks, of those crossed the least steeply."""
    worst, step = np.ones(len(choices)), 1e-5
    for function in kinks.functions:
        value = function(*(root @ s.T))
        moved = np.array([function(*(root @ (s + step * side).T)) for side in np.eye(len(root))])
        gradient = (moved - value).T / step
        length = np.linalg.norm(gradient, axis=1)
        near = (np.abs(value) < 0.2 * length) & np.isfinite(length)
        if near.any():
            steep = np.abs(gradient[near] / length[near, None] @ choices.T)
            worst = np.minimum(worst, np.quantile(steep, 0.05, axis=0))
    return worst


def _places(law: LabelLaw, kappa: Array) -> tuple[Array, Array, Array]:
    """Rows [I], places across [I, r - 1] and weights [I] of lines at every node of kappa."""
    across = len(law.directions) - 1
    found = [_grid(across, _count(k), law.draw, k) for k in kappa.reshape(len(kappa), -1)]
    row = np.repeat(np.arange(len(kappa)), [len(weight) for _, weight in found])
    return row, np.concatenate([v for v, _ in found]), np.concatenate([weight for _, weight in found])


def _count(kappa: Array) -> float:
    return _LINES * max(math.exp(-0.5 * _FEWER * float(kappa @ kappa)), _LEAST)


def _grid(across: int, count: float, draw: int, kappa: Array) -> tuple[Array, Array]:
    """About so many places [I, across] with weights; random numbers belong to a place of kappa and a draw."""
    source = np.random.default_rng([draw, *np.frombuffer(np.ascontiguousarray(kappa).tobytes(), np.uint32)])
    volume = math.pi ** (0.5 * across) / math.gamma(0.5 * across + 1.0) * _ACROSS**across
    step = (volume / count) ** (1.0 / across)
    line = np.arange(-math.ceil(_ACROSS / step) - 1, math.ceil(_ACROSS / step) + 2)
    shifts = source.random(across)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*(line + shift for shift in shifts))], axis=1) * step
    grid = grid[np.linalg.norm(grid, axis=1) <= _ACROSS]
    turn, _ = np.linalg.qr(source.standard_normal((across, across)))
    return grid @ turn.T, np.prod(step * density(grid), axis=1)
