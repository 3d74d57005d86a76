"""Where the solver of any loss starts: order parameters without data, and of square losses that are like it.

The square loss ``c (f - a y)^2/2`` has the solution of ``(f - y)^2/2`` at the ridge ``ridge/c``, with labels ``a y``.
Which c and a are like a loss follows from its averages over all outputs together, taken as one Gaussian: the slope of
its envelope is there ``c/(1 + V c) (omega - a y)`` on the average (statistical linearisation). A loss whose output is
on another scale than the label, as counts and the logarithm of their mean are, is like one with labels ``a (y + b)``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generated.runtime.label_intervals import LabelIntervals
from generated.runtime.label_lines import LabelLines
from generated.runtime.label_points import LabelNodes
from generated.runtime.mean_outputs import linear_in_outputs
from generated.runtime.nodes import Fields
from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.label_cells import Cells
from giantstep.law.label_lines import Lines
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.label_kernels import one_cell
from giantstep.system.problem import Problem
from giantstep.system.span import span_of
from giantstep.system.square_loss import kernel_of_clean_labels, square_solution
from giantstep.system.square_tables import solver_nodes
from giantstep.system.state import pairs, start_of

Array = np.ndarray
_ROUNDS, _NEAR, _FAR = 3, 0.1, 2.3  # how often, and changes of log(c): one that is nothing, one that is not trusted
_SAME = 1e-12  # of the logarithms: the same loss but for rounding
_MORE_ROUNDS = 8  # from outputs that hardly vary
_MOST_SHIFTS, _LONGEST_SHIFT = 30, 2.0  # of the mean of these
_LONGEST = 2.0  # of a step that is carried on, in its own length


class Likeness(NamedTuple):
    """The square loss c (f - a (y + b))^2/2; b: of a loss of label and output only."""

    c: float
    a: float
    b: float = 0.0


PLAIN = Likeness(1.0, 1.0)


def unknowns_without_data(problem: Problem, system: CoupledSystem) -> Array:
    """The unknowns at alpha = 0, with outputs of a small variance."""
    beta, ridge, blocks = problem.parameters.width, problem.parameters.ridge, system.blocks
    response, small = problem.fraction / ridge, np.full(system.blocks, 1e-3) * min(1.0, 1.0 / ridge)
    order = {
        "m": np.zeros(blocks),
        "zeta": np.zeros((blocks, problem.rank)),
        "psi": np.zeros((blocks, system.indices)),
        "Q1": np.diag(small),
        "Q2": small,
        "V1": np.diag(response) * min(1.0, beta),
        "V2": response,
    }
    return system.unknowns(order)


def unknowns_of_square_loss(problem: Problem, system: CoupledSystem) -> Array:
    """The unknowns of the square loss. Raises NotConverged."""
    return _unknowns(problem, system, _nodes(problem, system), PLAIN)


def unknowns_of_like_square_loss(problem: Problem, system: CoupledSystem) -> Array | None:
    """Those of a square loss that is like the loss of a problem; None where none is found. Raises NotConverged."""
    node = _nodes(problem, system)
    like, x, found, before = PLAIN, _unknowns(problem, system, node, PLAIN), None, None
    for _ in range(_ROUNDS):
        closer = _likeness(system, x)
        if closer is None or abs(math.log(closer.c / like.c)) > _FAR:
            break
        change, last = abs(math.log(closer.c / like.c)), (like, closer)
        if max(change, abs(math.log(closer.a / like.a))) < _SAME:
            found = x
            break
        like, before = _onward(before, last), last
        x = found = _unknowns(problem, system, node, like)
        if change < _NEAR:
            break
    return None if found is None else system.of_rows(found, like.c)


def unknowns_of_shifted_labels(problem: Problem, system: CoupledSystem) -> Array | None:
    """Those of a square loss that is like one of label and output, from outputs that hardly vary; None where none is
    found. Raises NotConverged.
    """
    x = _unknowns(problem, system, _nodes(problem, system), PLAIN)
    if not _best_constant(system, unknowns_without_data(problem, system), x):
        return None
    like, found = _likeness_by_labels(system), None
    for _ in range(_MORE_ROUNDS):
        if like is None:
            break
        found, before = _unknowns(problem, system, _nodes(problem, system, like.b), like), like
        like = _likeness_by_labels(system) if np.all(np.isfinite(system.residual(found))) else None
        if like is not None and abs(math.log(like.c / before.c)) < _NEAR:
            break
    return None if found is None else system.of_rows(found, before.c)


def _onward(before: tuple[Likeness, Likeness] | None, last: tuple[Likeness, Likeness]) -> Likeness:
    """Where a sequence of losses leads: its last step carried on as the last two shrink, in logarithms (Anderson's
    method of depth one); each is a loss, and the one that is like it at its solution.
    """
    closer = last[1]
    if before is None:
        return closer
    of_c, of_a = (_step(last, part) for part in (0, 1))
    bent_c, bent_a = of_c - _step(before, 0), of_a - _step(before, 1)
    size = bent_c * bent_c + bent_a * bent_a
    share = min(max(0.0, -(of_c * bent_c + of_a * bent_a) / size), _LONGEST) if size > 0.0 else 0.0
    return Likeness(*(new * (new / old) ** share for old, new in zip(before[1][:2], closer[:2], strict=True)))


def _step(pair: tuple[Likeness, Likeness], part: int) -> float:
    given, told = pair
    return math.log(told[part] / given[part])


def order_of_square_loss(system: CoupledSystem) -> dict[str, Array]:
    """Order parameters of the square loss, with the coordinates of m in the span."""
    system.fields(unknowns_of_square_loss(system.problem, system))
    return {**system.order_parameters(), "coordinates": system.view("m").copy()}


def _nodes(problem: Problem, system: CoupledSystem, shift: float = 0.0) -> Array:
    """The nodes of the square loss, what flips take of the label as noise; remembered where labels are not shifted."""
    share = _kept(problem)
    if shift:
        shifted = system.feature_table.copy()
        shifted[:, 2] += shift
        return _nodes_of(share, problem, shifted)
    if share not in system.at.columns.of_square:
        system.at.columns.of_square[share] = _nodes_of(share, problem, system.feature_table)
    return system.at.columns.of_square[share]


def _nodes_of(share: float, problem: Problem, rows: Array) -> Array:
    moments = slice(2, 3 + problem.model.target.indices)
    found, rest = rows.copy(), moments.stop
    found[:, moments] *= share
    found[:, rest] += (rows[:, moments] ** 2 - found[:, moments] ** 2).sum(axis=1)
    return solver_nodes(found, span_of(problem))


def _kept(problem: Problem) -> float:
    """The share of the mean label that flips leave."""
    return 1.0 - 2.0 * problem.model.target.flips


def _unknowns(problem: Problem, system: CoupledSystem, node: Array, like: Likeness) -> Array:
    """The unknowns of a square loss."""
    square = problem.with_parameters(ridge=(problem.parameters.ridge + system.like_ridge) / like.c)
    kernel = kernel_of_clean_labels(problem)
    families = square_solution(kernel, square, node)
    functions = system.blocks if system.span is None else system.span.rank
    source = _source(system.kernel, kernel, system.blocks, functions)
    powers = np.array([1.0, like.a, like.a * like.a, 1.0 / like.c, problem.parameters.width / like.c, 0.0])
    return system.of_linear_readouts(np.asarray(families[source.place] * powers[source.power]))


class _Source(NamedTuple):
    """Where the unknowns [n] of a system lie among the numbers of the solver of the square loss, and which power they
    go with.
    """

    place: NDArray[np.intp]
    power: NDArray[np.intp]


@lru_cache(maxsize=64)
def _source(kernel: ModuleType, square: ModuleType, blocks: int, functions: int) -> _Source:
    names = {"adjoint": ("Q2", 2), "Q1": ("Q1", 2), "V1": ("V1", 3), "T": ("V2", 4), "norm": ("Q2", 5)}
    places: list[int] = []
    powers: list[int] = []
    for name in kernel.UNKNOWNS:
        known, power = names.get(name, (name, 1))
        if name in kernel.MATRICES:
            inside = [b * blocks + c for b, c in pairs(blocks)]
        else:
            inside = list(range(functions if name == "m" else blocks))
        first = start_of(square, known, blocks)
        places += [first + place for place in inside]
        powers += [power] * len(inside)
    return _Source(np.array(places), np.array(powers))


def _likeness(system: CoupledSystem, x: Array) -> Likeness | None:
    """The square loss that is like the loss of a system about the outputs at x; None where none is told.

    A loss of label and output that is neither of the residual nor of the margin has no averages without its labels.
    """
    form = system.loss.FORM
    if form not in ("margin", "residual") or not system.fields(x):
        return None
    sums, labels = np.empty(3), system.at.columns.node[2 : 3 + system.indices]
    laws = system.view("mean"), system.slopes, system.view("Delta"), system.view("V")
    linear_in_outputs(system.node[1], labels, laws, sums)
    square, product, response = sums.tolist()
    with_label = _kept(system.problem) * product
    centre, variance, label = 0.0, square - with_label**2, 1.0
    if form == "residual":
        variance, label = square - 2.0 * with_label + system.signal(), 0.0
    else:
        centre = with_label
    if not variance > 0.0:
        return None
    g, h = _averages(system, label, centre, variance, response)
    if not 0.0 < response * h < 1.0:
        return None
    like = Likeness(h / (1.0 - response * h), 1.0 if form == "residual" else centre + g / h)
    return like if 0.0 < like.c < math.inf and 0.0 < like.a < math.inf else None


def _best_constant(system: CoupledSystem, still: Array, x: Array) -> bool:
    """Whether outputs that have the same mean everywhere, the best one, are found; averages are then those of them.
    They vary as at ``still`` and respond as at x.
    """
    if not system.fields(x):
        return False
    response = system.view("V").copy()
    if not system.fields(still):
        return False
    weight, mean = system.node[1], system.view("mean")
    system.view("V")[:] = response
    average, given = system.averaging
    mean[:] = 0.0
    for _ in range(_MOST_SHIFTS):
        average(*given)
        slope, curvature = (float(weight @ system.view(name)) for name in ("avg_g", "avg_h"))
        if not curvature > 0.0:  # a flat part, which any output in it is best for
            return False
        if abs(slope) <= _NEAR * curvature:
            return True
        mean += min(max(slope / curvature, -_LONGEST_SHIFT), _LONGEST_SHIFT)
    return False


def _likeness_by_labels(system: CoupledSystem) -> Likeness | None:
    """The square loss that is like one of label and output at the last averages, whose label multiplies the output as
    in a likelihood: its slope has the same mean and goes with -y as that does; None where none is told.
    """
    weight, curvature = system.node[1], system.view("avg_h")
    felt = weight * curvature
    total, free = float(felt.sum()), float(weight @ (1.0 - system.view("V") * curvature))
    if not (0.0 < total < math.inf and free > 0.0):
        return None
    c = total / free
    output = float(felt @ system.view("mean") + weight @ system.view("avg_g")) / total  # where the slope is zero
    return Likeness(c, 1.0 / c, c * output - float(felt @ system.at.columns.node[2]) / total)


def _averages(
    system: CoupledSystem, label: float, centre: float, variance: float, response: float
) -> tuple[float, float]:
    """E g and E h of a loss at one label, over a Gaussian output."""
    one, many = np.ones(1), system.indices
    fields = Fields(np.array([response]), np.array([centre]), np.zeros((many, 1)), np.array([variance]))
    rule, out = system.rule._replace(noise=0.0), np.empty((len(system.averages), 1))
    if isinstance(system.labels, Intervals):
        channel = np.array([0.0, 1.0, 1.0])
        everywhere = LabelIntervals(np.zeros(1), -np.inf * one, np.inf * one, one, label * one, channel)
        system.loss.intervals(rule, everywhere, fields, system.scratch, out)
    else:
        weight, t, y, rest = np.ones((1, 1)), np.zeros((1, 1, many)), np.full((1, 1), label), np.zeros((many, many))
        if isinstance(system.labels, Cells):
            system.loss.cells(rule, one_cell(label, many), fields, system.scratch, out)
        elif isinstance(system.labels, Lines):
            ends = np.full((1, 1), np.inf)
            lines = LabelLines(weight, t, y, np.zeros((1, 1)), -ends, ends, np.zeros(many), rest)
            system.loss.lines(rule, lines, fields, system.scratch, out)
        else:
            system.loss.points(rule, LabelNodes(weight, t, y, rest), fields, system.scratch, out)
    names = system.kernel.AVERAGES
    return float(out[names.index("avg_g"), 0]), float(out[names.index("avg_h"), 0])
