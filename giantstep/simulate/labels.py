"""Labels of a batch: the link of the target with the noise inside it, a channel, flips and additive noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.system import FiniteSystem, Link


@dataclass(frozen=True)
class LabelStreams:
    """Random streams of the labels of one batch; each gives one draw per sample (probit: per index of it)."""

    noise: np.random.Generator
    probit: np.random.Generator
    flips: np.random.Generator


def clean_labels(system: FiniteSystem, points: Array) -> Array:
    """What errors are measured against at points z[indices, n], shape (n,)."""
    return _at(system, system.link if system.clean is None else system.clean, points)


def _at(system: FiniteSystem, link: Link, points: Array) -> Array:
    return np.asarray(link(points[0] if system.indices == 1 else points), dtype=np.float64)


def noisy_labels(system: FiniteSystem, points: Array, streams: LabelStreams) -> Array:
    """Labels y = flip sigma_star(z + sqrt(probit) n) + sqrt(noise) n' at z[indices, n], or drawn by the channel given
    s = sigma_star(z + sqrt(probit) n), shape (n,).

    Raises SimulationError for labels that are not finite, and for others than +-1 with flips or a loss of the margin.
    """
    count = points.shape[1]
    if system.probit > 0.0:
        points = points + math.sqrt(system.probit) * streams.probit.standard_normal((count, system.indices)).T
    found = _at(system, system.link, points)
    if system.channel is not None:
        found = np.asarray(system.channel(found, np.asarray(streams.flips.random(count))), dtype=np.float64)
    if not np.all(np.isfinite(found)):
        raise SimulationError("the link returned a value that is not finite; it must be finite on all of R")
    if (system.flips > 0.0 or system.classifies) and not np.all(np.abs(found) == 1.0):
        needed = "flips" if system.flips > 0.0 else "a loss of the margin"
        raise SimulationError(f"{needed} needs labels +-1, and the link gave {found[np.abs(found) != 1.0][0]:.6g}")
    if system.flips > 0.0:
        found = np.where(streams.flips.random(count) < system.flips, -found, found)
    return np.asarray(found + math.sqrt(system.noise) * streams.noise.standard_normal(count))
