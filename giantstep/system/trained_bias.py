"""A bias trained with the readout: the stationary point of the free energy in it, dPhi/dbias = 0."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.law.intermediate_steps import frees_at_zero, is_intermediate
from giantstep.quadrature.shift_derivatives import norm_slopes
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import Found, coupled_solution, solution_of
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.merged_blocks import merged
from giantstep.system.problem import Problem, Solution, problem_of
from giantstep.system.result import Result
from giantstep.system.vanishing_means import is_symmetric

Array = np.ndarray
_STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative
_STEP = 2e-3
_FIRST = 0.25  # of the search for a change of sign
_GROWTH, _FASTER = 1.5, 4.0  # of its steps, and of those shorter than the first
_SHORTER = 0.4  # a step that has passed a minimum
_SIDE = 0.01  # where both sides of zero are looked at
BESIDE = 1e-6  # next to a bias that has other features than those near it
_FARTHEST = 20.0
_SETTLED = 1e-12
_FLAT = 1e-11  # a slope or change this small, relative to the free energy, is zero
_LEVEL = 1e-9  # a fall all the way that slopes of rounding add up to


@dataclass(frozen=True)
class _Point:
    """A bias, the slope of the free energy there, and the solution."""

    bias: float
    slope: float
    solution: Found


@dataclass(frozen=True)
class _Start:
    """A point from which the free energy falls in a direction; or, where it ``ends`` the search, one next to zero."""

    point: _Point
    direction: float
    ends: bool = False


def solve_with_bias(
    model: Model, dimension: int | None, tolerance: float, start: Result | None
) -> tuple[float, Solution]:
    """(bias, solution) at the minimum of the free energy that is reached downhill from the initial bias, zero.

    Where zero is stationary, both sides are looked at, and one where they are mirror images. Raises NotConverged.
    Source: [CUI24] App. C.8.
    """
    search = _Search(model, dimension, tolerance, start)
    middle = search.at(0.0)
    best: _Point | None = None
    for near in search.downhill(middle):
        found = search.limit(near.point, 0.0) if near.ends else search.minimum(near)
        if best is None or _energy(found) < _energy(best) - _flat(best):  # of equals the positive bias
            best = found
    chosen = best or middle
    solution = solution_of(chosen.solution)
    return chosen.bias, solution._replace(iterations=search.evaluations)


class _Search:
    """Solutions along the bias, each started from the last."""

    def __init__(self, model: Model, dimension: int | None, tolerance: float, start: Result | None) -> None:
        self.model, self.dimension, self.tolerance, self.start = model, dimension, tolerance, start
        self.last: tuple[CoupledSystem, Array] | None = None
        self.evaluations = 0
        self.problem = problem_of(model, dimension, 0.0, intermediate=True)

    def at(self, bias: float) -> _Point:
        """The solution at a bias and the slope of the free energy."""
        problem, _ = merged(problem_of(self.model, self.dimension, bias, intermediate=True), opposite=False)
        near = self.last  # of as many features
        if near is not None and near[0].blocks != len(problem.blocks):
            near = None
        solution = coupled_solution(problem, self.tolerance, self.start, near)
        self.last = (solution.system, solution.x)
        self.evaluations += solution.evaluations
        return _Point(bias, slope_in_bias(problem, solution.system), solution)

    def downhill(self, middle: _Point) -> tuple[_Start, ...]:
        """Where to go from zero: downhill; where the slope vanishes, to the sides where the free energy falls there, of
        mirror images to the positive one.

        Nowhere from a zero that has features of its own which lower the free energy.
        """
        if self.dimension is None and is_intermediate(self.model) and frees_at_zero(self.model):
            beside = [_Start(self.at(d * BESIDE), d) for d in (1.0, -1.0)]
            lower = [start for start in beside if _energy(start.point) < _energy(middle)]
            return tuple(start for start in lower if start.point.slope * start.direction < 0.0)
        flat, even = _flat(middle), _is_even(self.problem)
        if abs(middle.slope) > flat and not even:
            return (_Start(middle, -float(np.sign(middle.slope))),)
        sides = [_Start(self._beside(middle, d), d) for d in ((1.0,) if even else (1.0, -1.0))]
        falls = [start for start in sides if start.point.slope * start.direction < -flat]
        lower = [start for start in sides if _energy(start.point) < _energy(middle) - flat]
        return tuple(falls or (replace(start, ends=True) for start in lower))

    def _beside(self, middle: _Point, direction: float) -> _Point:
        """A point to one side of zero; where the free energy is lower there and rises from it, one closer to zero.

        With any bias features may have a mean that they have none of at zero, as those of an odd activation have. The
        least free energy then is at a bias that vanishes as d grows, as the fourth root of 1/d.
        """
        found = self.at(_SIDE * direction)
        while found.slope * direction > 0.0 and abs(found.bias) > BESIDE:
            if _energy(found) >= _energy(middle) - _flat(middle):
                break
            found = self.at(max(abs(found.bias) / _FASTER, BESIDE) * direction)
        return found

    def limit(self, near: _Point, last: float) -> _Point:
        """A point next to the last bias, for the limit of biases that tend to it, with what it is off by."""
        further = self.at(last + 2.0 * (near.bias - last))
        (test, _, _), (other, _, _) = (point.solution.observables for point in (near, further))
        error = max(near.solution.error, abs(float(other / test) - 1.0))
        return replace(near, solution=replace(near.solution, error=error))

    def minimum(self, start: _Start) -> _Point:
        """The minimum downhill from a start; next to it, where features have no mean there as they have beside it."""
        left, right = self.bracket(start)
        found = self.root(left, right)
        if _energy(found) <= min(_energy(left), _energy(right)) + _flat(found):
            return found
        beside = min((self.at(found.bias + side) for side in (BESIDE, -BESIDE)), key=_energy)
        return self.limit(beside, found.bias) if _energy(beside) < _energy(found) - _flat(found) else found

    def bracket(self, start: _Start) -> tuple[_Point, _Point]:
        """Two points downhill from the start between which the slope changes its sign.

        Where the free energy has risen although it falls again, a minimum was passed: the step is shortened. Where it
        is flat, rounding has a sign, and what it rises to is looked for beyond. The start twice, where any bias is as
        good.
        """
        near, direction, step = start.point, start.direction, self.first()
        last = near  # that falls
        while abs(near.bias) < _FARTHEST:
            far = self.at(near.bias + direction * step)
            rise = _rise(far, direction)
            if rise > 0.0:
                return last, far
            if _energy(far) - _energy(near) > _flat(near):
                step *= _SHORTER
                continue
            near, last = far, far if rise < 0.0 else last
            step *= _FASTER if step < _FIRST else _GROWTH
        if _energy(start.point) - _energy(near) <= _LEVEL * max(1.0, abs(_energy(near))):
            return start.point, start.point
        end = f"it falls up to {last.bias:.3g}, and is flat from there on" if last is not near else "it still falls"
        raise NotConverged(
            f"the training objective has no minimum in the bias: {end} at {near.bias:.3g}",
            "set network.bias to a number",
        )

    def first(self) -> float:
        """The first step: no longer than the spike is strong, on which scale a bias counts beside it."""
        scales = [abs(term.scale) for term in self.problem.blocks if term.scale]
        return min([_FIRST, *(0.25 * scale for scale in scales)])

    def root(self, left: _Point, right: _Point) -> _Point:
        """The bias between the two where the slope vanishes: regula falsi with the Illinois modification."""
        low, high, weight_low, weight_high = left, right, left.slope, right.slope
        middle, settled = right, _SETTLED * self.first() / _FIRST
        for _ in range(60):
            if weight_low == weight_high:
                return middle
            bias = (low.bias * weight_high - high.bias * weight_low) / (weight_high - weight_low)
            middle = self.at(bias)
            if abs(high.bias - low.bias) < settled or abs(middle.slope) <= 1e-14 * max(1.0, abs(_energy(middle))):
                return middle
            if middle.slope * weight_high < 0.0:
                low, weight_low = high, weight_high
            else:
                weight_low *= 0.5
            moved = abs(middle.bias - high.bias)
            high, weight_high = middle, middle.slope
            if moved < settled:
                return middle
        return middle


def _is_even(problem: Problem) -> bool:
    """Whether a bias and its negative are as good, as mirrored inputs tell: features are odd or even without a bias,
    and so are the labels.
    """
    of_link = parity(link_of(problem.model.target.link).node)
    known = {term.parity for term in problem.blocks} in ({"odd"}, {"even"})
    return known and (of_link == 1 or of_link == -1 and is_symmetric(problem))


def _flat(point: _Point) -> float:
    """A slope or change of the free energy that is none."""
    return _FLAT * max(1.0, abs(_energy(point)))


def _rise(point: _Point, direction: float) -> float:
    """The slope in a direction, zero for one that is rounding of the free energy."""
    slope = point.slope * direction
    return slope if abs(slope) > _FLAT * abs(_energy(point)) else 0.0


def _energy(point: _Point) -> float:
    return float(point.solution.system.observables()[2])


def slope_in_bias(problem: Problem, system: CoupledSystem) -> float:
    """dPhi/dbias at a solution: the order parameters are stationary, so only the coefficients vary."""
    points = system.points()
    d0, d1, d2 = _slopes_of_coefficients(problem, points)
    blocks = system.blocks
    mu1 = system.table[:, -2 * blocks : -blocks]
    order = system.order_parameters()
    mean = d0 @ order["m"] + (points.reshape(len(d1), -1) * (d1 @ order["zeta"])).sum(axis=1)
    if problem.norms_vary:
        pairs = zip(problem.blocks, problem.shifts(points), strict=True)
        slopes = np.array([norm_slopes(term, shifts)[0] for term, shifts in pairs])
        mean = mean + order["norm"] @ slopes
    along = (d1 @ order["psi"]).T
    delta = _quadratic(mu1, d1, order["Q1"]) + d2 @ order["Q2"] - 2.0 * (system.slopes * along).sum(axis=0)
    response = _quadratic(mu1, d1, order["V1"]) + d2 @ order["V2"]
    averages = dict(zip(system.kernel.AVERAGES, system.averages, strict=True))
    tg = [row for name, row in averages.items() if name.startswith("avg_t") and name.endswith("g")][: len(along)]
    change = (
        -averages["avg_g"] * mean
        - 0.5 * averages["avg_gg"] * response
        + 0.5 * averages["avg_h"] * delta
        - (np.array(tg) * along).sum(axis=0)
    )
    return float(problem.parameters.samples * (system.table[:, 1] @ change))


def _quadratic(mu1: Array, d1: Array, matrix: Array) -> Array:
    return np.asarray(2.0 * np.einsum("nb,bc,nc->n", d1, matrix, mu1))


def _slopes_of_coefficients(problem: Problem, kappa: Array) -> tuple[Array, Array, Array]:
    """d(mu0, mu1, mu2^2)/dbias, each [N, K]: the coefficients are smooth in the shift, by the Gaussian average."""
    columns = []
    for b, term in enumerate(problem.blocks):
        shift = problem.shift(b, kappa)
        h = _STEP * max(1.0, term.variance**0.5)
        parts = [weight * coefficients(term.function, shift + k * h, term.variance) for k, weight in _STENCIL]
        slopes = np.sum(parts, axis=0) / h
        if term.polynomial is not None:  # in the limit of a small step: of no bias
            slopes[0] = 0.0
        columns.append(slopes)
    d0, d1, d2 = np.stack(columns, axis=-1)
    return d0, d1, d2
