"""The spectrum of the features' Gram matrix: density, edges, mass at zero, outliers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from giantstep.law.intermediate_steps import is_intermediate
from giantstep.law.spike import SpikeParameters
from giantstep.observe.baselines import random_features
from giantstep.observe.finite_system import checked_simulation
from giantstep.observe.spectrum.measure import Bulk, Lost, at, bulk
from giantstep.observe.spectrum.outliers import growing, next_to_edge, outliers
from giantstep.observe.spectrum.response import Response, State, follow
from giantstep.observe.spectrum.simulated import Eigenvalues, simulated_eigenvalues
from giantstep.observe.spectrum.support import (
    AT_ZERO,
    Edge,
    Scan,
    contour_mass,
    inside,
    intervals,
    limit_below,
    mass_at_zero,
    scan,
    with_gaps,
    with_states,
)
from giantstep.simulate.system import SystemKind
from giantstep.spec.bars import GivenMessages, messages_of
from giantstep.spec.counts import checked_dimension
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem, problem_of
from giantstep.system.solve import solve, vocabulary_of

Array = np.ndarray

MASS = 1e-6  # a spectrum whose masses do not add up to one to this is not reported
_OF_NOISE = 1e-4  # the same of one that fades out: what lies far out in the tail is not resolved
_ANGLES = (0.1, 0.04, 0.015)
_FLOOR = 1e-14  # relative to the mean eigenvalue
_TOLERANCE = 1e-9
_SAMPLED = 240
_GAPS = 8  # rounds in which some are found


@dataclass(frozen=True, repr=False, eq=False)
class Spectrum(Pictured):
    """Eigenvalues of G = Phi^T Phi / p, p x p, where the rows of Phi are the features of the n samples of the readout.

    (The matrix of the readout's objective; Phi^T Phi / n has its eigenvalues times p/n, Phi Phi^T / p the same but for
    those at zero.) bulks: intervals of the support, from small to large; mass_at_zero: 1 - rank/p; unresolved: mass of
    eigenvalues above zero but below ``floor``; total: sum of all masses, each found apart from the others;
    outliers: at ``dimension``, or those that stay finite as it grows; growing: outliers over d as d grows; simulated:
    eigenvalues of finite systems of that dimension, or None.
    """

    model: Model
    spike: SpikeParameters
    bulks: tuple[Bulk, ...]
    mass_at_zero: float
    unresolved: float
    floor: float
    total: float
    outliers: Array
    growing: Array
    dimension: int | None
    seconds: float = field(compare=False)
    response: Response
    simulated: Eigenvalues | None = None

    def density(self, x: float | Array) -> Array:
        """Density at x > 0, solved for at every x; the atom at zero is left out. Raises BadInput for x <= 0."""
        points = np.atleast_1d(np.asarray(x, dtype=float))
        if not np.all(points > 0.0):
            raise BadInput("the density is asked for at x <= 0", "its mass at zero is mass_at_zero")
        found = np.zeros(points.shape)
        for part in self.bulks:
            for index in np.ndindex(points.shape):
                if part.coordinate.low < points[index] < part.coordinate.high:
                    found[index] = at(self.response, part.states, float(points[index])).density
        return found.reshape(np.shape(x))

    def interpolated(self, x: float | Array) -> Array:
        """Density at any x from the stored panels, to about 1e-8 of its largest values; fast."""
        points = np.asarray(x, dtype=float)
        return np.asarray(sum((part.density(points) for part in self.bulks), np.zeros(points.shape)))

    def distribution(self, x: float | Array) -> Array:
        """Fraction of eigenvalues up to x, outliers left out (their fraction vanishes)."""
        points = np.asarray(x, dtype=float)
        base = np.where(points >= 0.0, self.mass_at_zero, 0.0) + np.where(points >= self.floor, self.unresolved, 0.0)
        return np.asarray(sum((part.below(points) for part in self.bulks), base))

    def stieltjes(self, z: complex) -> complex:
        """(1/p) tr (G - z)^-1 in the upper half-plane, or at a real z > 0 from above. Raises BadInput, NotConverged."""
        if not (z.imag > 0.0 or (z.imag == 0.0 and z.real > 0.0)):
            raise BadInput(f"z = {z} is not in the upper half-plane", "give Im z > 0")
        first = self.bulks[-1].states[-1]
        start = follow(self.response, first, complex(first.z.real, first.z.real))
        return follow(self.response, start, complex(z)).stieltjes

    def summary(self) -> list[Row]:
        """Support, mass at zero, outliers, the model."""
        support = ", ".join(f"{part.low.x:.6g} to {part.high.x:.6g}" for part in self.bulks)
        outside = " ".join(f"{x:.6g}" for x in self.outliers) or "none"
        where = "that stay finite as d grows" if self.dimension is None else f"at d = {self.dimension}"
        return [
            ("support", support),
            ("mass at zero", number(self.mass_at_zero)),
            ("outliers", f"{outside} ({where})"),
            ("outliers over d", " ".join(f"{x:.6g}" for x in self.growing) or "none"),
            ("model", outline(self.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``spectrum --json``: intervals with sampled density, masses, outliers."""
        return {
            "matrix": "Phi^T Phi / p",
            "intervals": [_sampled(part) for part in self.bulks],
            "mass_at_zero": self.mass_at_zero,
            "unresolved_mass": self.unresolved,
            "floor": self.floor,
            "total_mass": self.total,
            "outliers": self.outliers.tolist(),
            "growing_outliers": self.growing.tolist(),
            "dimension": self.dimension,
            "spike": self.spike.to_dict(),
            "seconds": self.seconds,
            "model": self.model.to_dict(),
        }


def _sampled(part: Bulk) -> dict[str, Any]:
    theta = (np.arange(_SAMPLED) + 0.5) * np.pi / _SAMPLED
    x = part.coordinate.x(theta)
    ends = [{"x": edge.x, "kind": edge.kind} for edge in (part.low, part.high)]
    return {"low": ends[0], "high": ends[1], "mass": part.mass, "x": x.tolist(), "density": part.density(x).tolist()}


@takes_model
def spectrum(
    model: Model,
    *,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    simulate: bool = False,
    seeds: int = 5,
    what: SystemKind | None = None,
    seed: int = 0,
    progress: GivenMessages = None,
) -> Spectrum:
    """The spectrum of the features' Gram matrix Phi^T Phi / p of a model, with its outliers at a dimension.

    It depends on neither target nor ridge, but through the spike and a trained bias. In the limit of a step below the
    giant one the bulk is that of random features; the sizes of its outliers depend on the dimension. ``tolerance``: of
    the solution that gives a trained bias, as of ``solve``. ``simulate``: also
    eigenvalues of ``seeds`` finite systems of that dimension, the other options as in ``simulate``; the model is then
    that of the ratios of whole numbers. Raises BadInput, or NotConverged where the masses of intervals, of zero and of
    what lies below all numbers do not add up to one. Source: [CUI24] App. F; docs/theory.md, section 7.
    """
    simulate, dimension = checked_simulation(simulate, dimension, (seeds, what, seed)), checked_dimension(dimension)
    with messages_of(progress) as told:
        if not simulate or dimension is None:
            return _spectrum(model, dimension, tolerance)
        simulated = simulated_eigenvalues(model, dimension=dimension, seeds=seeds, what=what, seed=seed, progress=told)
    return replace(_spectrum(simulated.model, dimension, tolerance), simulated=simulated)


def _spectrum(model: Model, dimension: int | None, tolerance: float) -> Spectrum:
    begun, given, model = time.perf_counter(), model, vocabulary_of(without_penalty(model), dimension)
    limit = is_intermediate(model) and dimension is None
    bias = solve(model, dimension=dimension, tolerance=tolerance).bias if model.network.trains_bias else None
    whole = problem_of(random_features(model) if limit else model, dimension, bias)
    problem, _ = merged(whole)
    response = Response(problem)
    fades = model.bulk == "trained" and model.target.noise > 0.0
    found, bulks, unresolved, total = _resolved(response, fades)
    floor = _floor(response, found)
    return Spectrum(
        given,
        whole.spike,
        _without_end(bulks) if fades else bulks,
        mass_at_zero(response),
        unresolved,
        floor,
        total,
        _outliers(response, found, bulks, problem),
        growing(response, found.on_axis[0]),
        dimension,
        time.perf_counter() - begun,
        response,
    )


def without_penalty(model: Model) -> Model:
    """The model with the same features, whose readout has no penalty."""
    return replace(model, fit=replace(model.fit, penalty=None))


def _resolved(response: Response, fades: bool) -> tuple[Scan, tuple[Bulk, ...], float, float]:
    """(scan, bulks, mass between zero and the floor, total mass) at the first resolution at which all mass is found.

    fades: whether residuals of the step have Gaussian noise, which has no bound, so that the spectrum has none.
    """
    total, allowed = 0.0, _OF_NOISE if fades else MASS
    for angle in _ANGLES:
        found, bulks = _without_gaps(response, scan(response, angle))
        below = contour_mass(response, _lowest(response, found, bulks)) - mass_at_zero(response)
        total = mass_at_zero(response) + below + sum(part.mass for part in bulks)
        if abs(total - 1.0) < allowed and below > -MASS:
            return found, bulks, below if below > MASS else 0.0, total
    missed = f"the masses found of the spectrum add up to {total:.9g}, not to one"
    if fades:
        raise NotConverged(
            f"{missed}: noisy residuals of the step have no bound, and make eigenvalues of any size",
            'lower target.noise or step.learning_rate, or use step.bulk = "isotropic"',
        )
    raise NotConverged(missed, "lower the spike strength, or move away from fit.samples = network.width")


def _without_gaps(response: Response, found: Scan) -> tuple[Scan, tuple[Bulk, ...]]:
    """Intervals of the support whose densities are limits from above the axis, with a scan that sees the gaps between
    them.
    """
    for _ in range(_GAPS):
        try:
            bulks = tuple(
                bulk(response, part, _floor(response, found), _TOLERANCE) for part in intervals(response, found)
            )
            more = with_gaps(response, found, [part.middles for part in bulks])
        except Lost as lost:
            more = with_states(found, [limit_below(response, found, lost.x)])
        if more is None:
            return found, bulks
        found = more
    raise NotConverged(
        "the support of the spectrum has more gaps than are looked for, or is not found", "change the model slightly"
    )


def _without_end(bulks: tuple[Bulk, ...]) -> tuple[Bulk, ...]:
    """The intervals where the last one has no edge: with noisy residuals next to nothing is left above it."""
    return *bulks[:-1], replace(bulks[-1], high=Edge(bulks[-1].high.x, "tail"))


def _floor(response: Response, found: Scan) -> float:
    """The lowest x of a density that reaches down to zero: where the scan has seen some last, or where it ended."""
    lowest = next((state.z.real for state in found.on_axis[::-1] if inside(state)), math.inf)
    end = lowest if lowest < AT_ZERO * response.weight else found.on_axis[-1].z.real
    return max(_FLOOR * response.weight, end)


def _lowest(response: Response, found: Scan, bulks: tuple[Bulk, ...]) -> State:
    """A solution at a modulus below which no interval has mass."""
    if bulks and bulks[0].low.kind == "zero":
        return at(response, bulks[0].states, bulks[0].coordinate.low)
    return found.above[-1]


def _outliers(response: Response, found: Scan, bulks: tuple[Bulk, ...], problem: Problem) -> Array:
    """Outliers above the lowest interval."""
    states: list[State] = []
    for state in found.on_axis:
        if state.z.real < bulks[0].coordinate.low:
            break
        if states and inside(state) != inside(states[-1]):
            states += _near_edges(response, bulks, states[-1], state)
        states.append(state)
    return outliers(response, states, problem.parameters.inverse_dimension)


def _near_edges(response: Response, bulks: tuple[Bulk, ...], upper: State, lower: State) -> list[State]:
    """Solutions outside the support between two states, of which one is inside, from large to small x."""
    edges = [edge.x for part in bulks for edge in (part.low, part.high) if edge.kind == "edge"]
    between = [x for x in edges if lower.z.real < x < upper.z.real]
    if not between:
        return []
    outside = lower if inside(upper) else upper
    states = list(next_to_edge(response, between[0], outside))
    return states if outside is upper else states[::-1]
