"""Calibration of a margin loss: the probability of the label 1 given the score f, of one fit or of the mean of several.

Given kappa the score and the index z' of the label are normal together; both the density of the score and its part with
the label 1 are integrals over kappa of densities of f times probabilities of intervals of z' given f. Where the label
is not constant on intervals, as that of a channel or of several indices, it is taken at nodes of t, at each of which
the score is normal.
Source: docs/theory.md, section 14.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.labels import label_law
from giantstep.law.same_labels import by_inner_noise
from giantstep.quadrature.gauss import normal_between
from giantstep.quadrature.mesh import meshes
from giantstep.quadrature.panels import terms_of
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import special
from giantstep.system.causes import settling_hint
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import Problem
from giantstep.system.two_fits import Fit

Array = np.ndarray
Variance = Callable[[CoupledSystem], Array]
_REACH, _ORDER, _FEWEST = 9.0, 16, 12  # of kappa; of a panel; panels
_PARTS = (1, 2, 4, 8, 16, 32)  # of a panel that resolves the features
_SETTLED = 1e-9  # change of both densities from one number of panels to the next, relative to the largest


@dataclass(frozen=True)
class Calibration:
    """Of the mean output of so many members: at every score the probability of the label 1, with its noise, nan where
    there is no such score, and the density of the score, [S] each.

    error: change of densities between rules of quadrature, relative to the largest.
    """

    members: int
    scores: Array
    probability: Array
    density: Array
    error: float

    def to_dict(self) -> dict[str, Any]:
        """A part of ``decompose --json``."""
        found: dict[str, Any] = {name: getattr(self, name).tolist() for name in ("scores", "probability", "density")}
        found["probability"] = [None if math.isnan(chance) else chance for chance in found["probability"]]
        return {"members": self.members, **found, "error": self.error}


def calibration(fit: Fit, members: int, scores: Array, variance: Variance) -> Calibration:
    """variance: of the mean output given kappa and t, at the nodes of a system. Raises BadInput and NotConverged."""
    before: Array | None = None
    change = np.inf
    for finer, parts in enumerate(_PARTS):
        edges = _edges(fit.system.problem, parts)
        kappa, weight = (part.ravel() for part in normal_between(edges[:-1], edges[1:], _ORDER))
        system, labels = fit.at(kappa), _labels(fit, kappa, finer)
        given = system, variance(system), scores
        densities = _on_intervals(labels, *given) if isinstance(labels, Intervals) else _at_nodes(labels, *given)
        found = np.tensordot(weight, densities, axes=1)
        if before is not None:
            change = float(np.abs(found - before).max() / found[0].max())
            if change <= _SETTLED:
                with np.errstate(divide="ignore", invalid="ignore"):
                    return Calibration(members, scores, found[1] / found[0], found[0], change)
        before = found
    raise NotConverged(
        f"the density of the score changes by {change:.1e} (relative) between rules of quadrature",
        settling_hint(fit.system.problem),
    )


def _edges(problem: Problem, parts: int) -> Array:
    """Ends of panels in kappa: those that the coefficients of the features need, each in so many parts."""
    needed = meshes(terms_of(problem.blocks, problem.link)).edges
    edges = np.union1d(np.linspace(-_REACH, _REACH, _FEWEST + 1), needed[np.abs(needed) < _REACH])
    inside = np.linspace(edges[:-1], edges[1:], parts, endpoint=False)
    return np.append(inside.T.ravel(), edges[-1])


def _labels(fit: Fit, kappa: Array, finer: int) -> Labels:
    """The law of the noisy label at nodes of kappa. Raises BadInput for several directions of these."""
    problem = fit.system.problem
    if problem.rank > 1:
        raise BadInput(
            "calibration has been derived for spikes of one direction, and this one has several",
            "leave the scores out, or take equal readout values, whose neurons have one direction",
        )
    return label_law(by_inner_noise(fit.model.target), problem.overlaps, kappa, finer)


def _at_nodes(labels: Points, system: CoupledSystem, variance: Array, scores: Array) -> Array:
    """Densities given kappa of the score, and of the score with the label 1, [N, 2, S]."""
    output, found = system.output(), np.empty((len(variance), 2, len(scores)))
    square = variance + np.einsum("dn,de,en->n", output.slopes, labels.rest, output.slopes)
    for n, (weight, label) in enumerate(zip(labels.weight, labels.label, strict=True)):
        (felt,) = np.nonzero(weight)
        centre = output.mean[n] + labels.t[n, felt] @ output.slopes[:, n]
        density = np.exp(-0.5 * (scores - centre[:, None]) ** 2 / square[n]) / math.sqrt(2.0 * math.pi * square[n])
        found[n] = np.stack([weight[felt], weight[felt] * (label[felt] > 0.0)]) @ density
    return found


def _on_intervals(labels: Intervals, system: CoupledSystem, variance: Array, scores: Array) -> Array:
    """The same of labels that are constant on intervals of z'."""
    output = system.output()
    mean, slope = output.mean[:, None], output.slopes[0][:, None]
    square = slope**2 + variance[:, None]
    away = scores - mean
    density = np.exp(-0.5 * away**2 / square) / np.sqrt(2.0 * np.pi * square)
    gamma, width, correlation = labels.channel
    # t' given the score is normal
    centre, sigma = correlation * slope * away / square, np.sqrt(1.0 - correlation**2 * slope**2 / square)
    chance = np.zeros_like(density)
    for low, high, weight, y in zip(labels.low, labels.high, labels.weight, labels.label, strict=True):
        if y > 0.0:
            upper, lower = (_below(end - gamma * output.kappa[:, None], width, centre, sigma) for end in (high, low))
            chance += weight * (upper - lower)
    return np.stack([density, density * chance], axis=1)


def _below(end: Array, width: float, centre: Array, sigma: Array) -> Array:
    """P(width t' < end) of t' ~ N(centre, sigma^2)."""
    if width == 0.0:
        return np.where(end > 0.0, 1.0, 0.0) + 0.0 * centre
    return np.asarray(special.ndtr((end / width - centre) / sigma))
