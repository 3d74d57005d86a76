"""The function that the network has learned, along a direction of the target and along those of the spike.

Source: [CUI24] Figures 1 and 3, Result 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from derive.language.grammar import shorten
from giantstep.law.directions import mixing, rows_of
from giantstep.law.label_moments import label_moments
from giantstep.law.moments_given_kappa import moments_given_kappa
from giantstep.law.multi_index_labels import has_kinks
from giantstep.observe.finite_system import at_dimension, checked_simulation
from giantstep.observe.learned_points import LearnedPoints, simulated_points
from giantstep.observe.output_law import Output, moments_along, spike_lines, target_line
from giantstep.simulate.system import SystemKind
from giantstep.spec.counts import checked_count
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.jumps import Jump, jumps, jumps_between
from giantstep.spec.kernels import coefficients
from giantstep.spec.link import link_values
from giantstep.spec.model import Model, Target
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, Shown, number
from giantstep.spec.validate import wrong
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
# change of a target of more than two indices, beside its size, on nodes that are twice as dense, which leaves about the
# square of that; how often
_SETTLED, _MOST_HALVINGS = 1e-4, 2
_ROUNDING = 1e-14  # beside the size of output and target


@dataclass(frozen=True, repr=False, eq=False)
class Profile(Shown):
    """A function along a direction: at[N], mean[N] = E[f | .], spread[N] = sqrt Var[f | .], target[N] = E[f_* | .].

    For losses such as those of counts f is in both the mean label that the output stands for, as exp(f). jumps: place,
    value before and value after of each jump of the target.
    """

    at: Array
    mean: Array
    spread: Array
    target: Array
    jumps: tuple[Jump, ...] = ()

    def target_line(self) -> tuple[Array, Array]:
        """The target as a line, x [M] and y [M], vertical where it jumps."""
        order = np.argsort(self.at, kind="stable")
        x, y = self.at[order], self.target[order]
        for place, before, after in self.jumps:
            if x[0] < place < x[-1]:
                left, right = np.searchsorted(x, [place]), np.searchsorted(x, [place], side="right")
                x = np.concatenate([x[: left[0]], [place, place], x[right[0] :]])
                y = np.concatenate([y[: left[0]], [before, after], y[right[0] :]])
        return x, y

    def summary(self) -> list[Row]:
        """The ranges of points and values."""
        parts = {"at": self.at, "mean": self.mean, "spread": self.spread, "target": self.target}
        return [(name, f"{len(x)} values, {x.min():.6g} to {x.max():.6g}") for name, x in parts.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists."""
        return {name: getattr(self, name).tolist() for name in ("at", "mean", "spread", "target")}


@dataclass(frozen=True, repr=False, eq=False)
class Learned(Pictured):
    """What was learned: profiles along theta_index and along the directions v_j of the spike, and simulated points.

    result: the solution they are of; index counts from 1; along_spikes: none without a spike.
    """

    result: Result
    index: int
    along_target: Profile
    along_spikes: tuple[Profile, ...]
    points: LearnedPoints | None

    @property
    def mean_is(self) -> str:
        """What mean and spread are of: the output f, or the mean label that it stands for, as exp(f)."""
        predicts = self.result.model.fit.loss.predicts
        return "f" if predicts is None else predicts.text

    @property
    def along_spike(self) -> Profile | None:
        """The profile along v, or along v_1 of several directions; None without a spike."""
        return self.along_spikes[0] if self.along_spikes else None

    def summary(self) -> list[Row]:
        """Along what, where, how well the target is met there, the model."""
        rows = []
        for name, profile in (("theta", self.along_target), ("v", self.along_spike)):
            if profile is not None:
                off = float(np.abs(profile.mean - profile.target).max())
                reach = f"{profile.at.min():.3g} to {profile.at.max():.3g}"
                rows.append((f"along {name}", f"{len(profile.at)} points, {reach}; at most {off:.3g} off the target"))
        points = self.points
        if points is not None:
            rows.append(("simulated", f"d = {points.dimension}"))
        return [*rows, ("test error", number(self.result.test_error)), ("model", outline(self.result.model))]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``learned --json``."""
        return {
            "index": self.index,
            "mean_is": self.mean_is,
            "along_target": self.along_target.to_dict(),
            "along_spike": None if self.along_spike is None else self.along_spike.to_dict(),
            "along_spikes": [profile.to_dict() for profile in self.along_spikes],
            "simulation": None if self.points is None else self.points.to_dict(),
            "test_error": self.result.test_error,
            "dimension": self.result.dimension,
            "model": self.result.model.to_dict(),
        }


@takes_model
def learned(
    model: Model,
    *,
    at: Sequence[float] | Array | None = None,
    index: int = 1,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    simulate: bool = False,
    seeds: int = 10,
    what: SystemKind = "srf",
    seed: int = 0,
    bins: int = 15,
) -> Learned:
    """E[f | theta_index.x = s] and E[f | v_j.x = s] at the points ``at`` (default: 121 between -3 and 3).

    Of a loss whose output stands for a mean label, as that of counts, f is this label, exp(f) of ``poisson``.
    ``dimension``: with the correction of that size; ``tolerance``: of the solution, as of ``solve``; ``simulate``: also
    the finite system of that dimension, its output averaged over ``bins`` bins between the ends. Raises BadInput for an
    index the target has not, and what ``solve`` and ``simulate`` raise. Source: [CUI24] Figures 1 and 3.
    """
    places = checked_places(at)
    if isinstance(index, bool) or not isinstance(index, int) or not 1 <= index <= model.target.indices:
        raise BadInput(
            f"index = {index!r} is not an index of target.link = {model.target.link!r}",
            f"give a whole number from 1 to {model.target.indices}"
            if model.target.indices > 1
            else "leave it out, or give 1",
        )
    simulate = checked_simulation(simulate, dimension, (seeds, what, seed))
    checked_count("bins", bins, 1)
    given = model
    if simulate:
        assert dimension is not None
        given = at_dimension(model, dimension)
    result = solve(given, dimension=dimension, tolerance=tolerance)
    points = None
    if simulate:
        assert dimension is not None
        edges = np.linspace(float(places.min()), float(places.max()), bins + 1)
        points = simulated_points(result, index, edges, dimension, seeds, what, seed, _means)
    return Learned(result, index, *profiles(result, places, index), points)


def checked_places(at: Sequence[float] | Array | None) -> Array:
    """Points of a profile, by default 121 between -3 and 3. Raises BadInput."""
    try:
        places = np.linspace(-3.0, 3.0, 121) if at is None else np.array(at, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise wrong("at", at, "a list of numbers, as [-1.0, 0.0, 1.0]") from None
    if not places.size or not np.all(np.isfinite(places)):
        raise BadInput("the points at which the function is asked for are none, or not finite", "give some numbers")
    return places


def profiles(result: Result, at: Array, index: int = 1) -> tuple[Profile, tuple[Profile, ...]]:
    """The profiles of a solution along theta_index, and along each direction of the spike where there is one."""
    problem = problem_of(result.vocabulary, result.dimension, result.bias, intermediate=True)
    output, target = Output(problem, order_of(problem, result)), problem.model.target
    lines = (target_line(problem, index), *spike_lines(problem))
    told = [(*moments_along(output, line, at), *target_and_jumps(target, line.overlaps, at)) for line in lines]
    sizes = [float(np.abs(values).max()) for mean, _, means, _ in told for values in (mean, means)]
    size = max(math.sqrt(result.test_error), *sizes)
    found = [Profile(at, _known(mean, size), spread, _known(means, size), jumps) for mean, spread, means, jumps in told]
    return found[0], tuple(found[1:])


def _known(values: Array, size: float) -> Array:
    """Zero in the place of what is rounding beside the size of output, target and error."""
    return np.where(np.abs(values) > _ROUNDING * size, values, 0.0)


def _means(result: Result, at: Array, index: int) -> Array:
    along, spike = profiles(result, at, index)
    return np.stack([along.mean, *(profile.mean for profile in spike)])


def target_and_jumps(target: Target, overlaps: Array, at: Array) -> tuple[Array, tuple[Jump, ...]]:
    """The target along a line, and where it jumps."""
    values = _target(target, overlaps, at)
    if target.indices > 1 and has_kinks(target.mean_link):
        corners = np.array(list(product((-0.9, 1.1), repeat=target.indices))).T
        scale = float(np.abs(link_values(target.mean_link)(corners)).max())
        return values, jumps_between(lambda x: _target(target, overlaps, x), at, values, scale)
    return values, _jumps(target, overlaps)


def _target(target: Target, overlaps: Array, at: Array) -> Array:
    """E[f_* | n.x] for a unit vector n with the overlaps <n, theta_i>."""
    rest = mixing(overlaps)
    rest = rest[:, rest.any(axis=0)]
    if not rest.size:
        return np.asarray(link_values(target.mean_link)(overlaps[:, None] * at))
    if target.indices == 1:
        return np.asarray(coefficients(target.mean_link, overlaps[0] * at, float(rest[0, 0]) ** 2)[0])
    if target.indices == 2:
        moments = moments_given_kappa(target.mean_link, overlaps[None], at[:, None], 0.0, 1, False, adaptive=True)
        return np.asarray(moments.mean)
    if has_kinks(target.mean_link):
        return np.asarray(moments_given_kappa(target.mean_link, overlaps[None], at[:, None], 0.0, 1, False).mean)
    return _settled(target.mean_link, overlaps, at)


def _settled(link: str, overlaps: Array, at: Array) -> Array:
    """The average of a smooth link of more than two indices, on more nodes until they agree. Raises NotConverged."""
    before = np.full(len(at), np.nan)
    for finer in range(_MOST_HALVINGS + 1):
        found = label_moments(Target(link), rows_of(overlaps[None]), at[:, None], 0.0, finer, False).mean
        if np.max(np.abs(found - before)) <= _SETTLED * np.max(np.abs(found)):
            return np.asarray(found)
        before = found
    raise NotConverged(
        f"the average of the target {shorten(link)} along a direction does not settle",
        "use a smoother link, or one of fewer indices",
    )


def _jumps(target: Target, overlaps: Array) -> tuple[Jump, ...]:
    """Those of a link of one index along +-theta; along any other direction the average over the rest is continuous."""
    if target.indices > 1 or mixing(overlaps).any():
        return ()
    if overlaps[0] > 0.0:
        return jumps(target.mean_link)
    return tuple((-place, after, before) for place, before, after in reversed(jumps(target.mean_link)))
