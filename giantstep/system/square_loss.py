"""The square loss: the generated solver at several orders of quadrature, block by block, without iteration guards."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from derive.directions import directions_of
from giantstep.law.kind import square_name
from giantstep.quadrature.remembered import Remembered
from giantstep.spec.errors import NotConverged
from giantstep.spec.one_at_a_time import TURN
from giantstep.system.evidence import RESIDUAL, ROUNDING, energies_agree
from giantstep.system.kernels import system_kernel
from giantstep.system.many_digits import certified, many, solver
from giantstep.system.problem import Features, Parameters, Problem, Solution
from giantstep.system.result import ORDER_PARAMETERS
from giantstep.system.slight_response import peak_hint, slight_hint
from giantstep.system.span import Span, span_of
from giantstep.system.square_tables import FINER, Fineness, rows_of, solver_nodes
from giantstep.system.state import SolvedPoints, run_points, slices_by_name
from giantstep.system.tolerated import tolerated

# the hint where no cause was found
UNEXPLAINED = "raise fit.ridge, which most often helps (no cause was found)"
_COLLINEAR = 1e-4  # what a mean feature has beside the others, of which rounding takes 1e-16
_REFINED, _AT_ONCE, _ROUNDED = 8, 3, 1e-9  # how often at most, and an axis at once; of a whole number, rounding
_HELD = 0.7  # of an error, what refining leaves where rounding holds it up
_MEMORY = 1 << 27  # bytes of tables that are remembered
_MOST = 12_000  # nodes times pairs of blocks that are gone over without a compiler


class Points(NamedTuple):
    """Solutions at many points of one problem, which differ in its parameters: on a rule, with residuals [P]."""

    problem: Problem
    rule: _Rule
    solved: SolvedPoints
    residual: np.ndarray

    def at(self, p: int) -> Solution:
        """One of them."""
        status, out, work, _ = self.solved
        found = self if len(out) == 1 else None
        return self._solution(out[p].tolist(), work[p], float(self.residual[p]), int(status[p]), found)

    def all(self) -> Solution:
        """All of them together."""
        status, out, work, _ = self.solved
        return self._solution(out.T, work.T, self.residual, status)

    def _solution(
        self, numbers: Any, families: np.ndarray, residual: Any, iterations: Any, found: Points | None = None
    ) -> Solution:
        test_error, train_error, free_energy, change, signal = numbers
        order = self.rule.order_parameters(families)
        nodes = self.rule.node.shape[1]
        certificates = residual, iterations, change, nodes, signal
        return Solution(test_error, train_error, free_energy, order, *certificates, found=found)


def solve_direct(problem: Problem, tolerance: float) -> Solution:
    """Solve at increasing resolution until the test error has settled, in many digits where double precision does not
    settle it or leaves another free energy than the training loss. Raises NotConverged.
    """
    try:
        found = _settled(problem, tolerance)
    except NotConverged:
        if not _takes_many_digits(problem, Fineness.first(problem.rank)):
            raise
        return _settled(problem, tolerance, digits=True)
    settled = found.quadrature_error <= tolerance and found.residual <= RESIDUAL
    sound = settled and energies_agree(problem, found, problem.parameters)
    if sound or not _takes_many_digits(problem, Fineness.first(problem.rank)):
        return found
    return _settled(problem, tolerance, digits=True)


def _takes_many_digits(problem: Problem, fineness: Fineness) -> bool:
    """Whether plain Python goes over the nodes of a table, and over all pairs of blocks at each, within seconds."""
    nodes: int = _rule(problem.features, fineness, span_of(problem)).node.shape[1]
    return nodes * len(problem.fraction) ** 2 <= _MOST


def _settled(problem: Problem, tolerance: float, digits: bool = False) -> Solution:
    """The solution at the resolution where it has settled, or is held up by rounding. Raises NotConverged, where that
    takes too many nodes with the tolerance that fewer are good for.
    """
    last, held, fineness = math.inf, 0, Fineness.first(problem.rank)
    for _ in range(_REFINED):
        try:
            found = direct_points(problem, problem.parameters, tolerance, fineness, digits).at(0)
        except NotConverged as many_nodes:
            raise NotConverged(many_nodes.message, tolerated(last, many_nodes.hint)) from None
        if found.iterations <= 0:
            raise NotConverged(_stalled(problem, -found.iterations), rounding_hint(problem))
        error = found.quadrature_error
        held = held + 1 if error > _HELD * last else 0
        if error <= tolerance or held > 1:  # the first panels may be too wide for one halving to tell
            break
        last, fineness = error, _finer(problem, fineness, found, tolerance)
        if digits and not _takes_many_digits(problem, fineness):
            break
    return found


def _finer(problem: Problem, fineness: Fineness, found: Solution, tolerance: float) -> Fineness:
    """What to refine: what the test error changes with by more than its share of the tolerance."""
    axes = np.eye(problem.rank + 1, dtype=bool)[: problem.rank + (problem.link is None)].tolist()
    if len(axes) == 1:
        return replace(fineness, axes=(fineness.axes[0] + 1,))
    size = max(abs(found.test_error), ROUNDING / tolerance * found.signal)
    errors = [abs(found.test_error - _at(problem, replace(fineness, coarse=tuple(axis)))) / size for axis in axes]
    wanted = min(0.5 * tolerance / len(axes), max(errors))
    more = [refinements(error, wanted) for error in errors] + [0]  # of labels that have no nodes
    refined = tuple(times + each for times, each in zip(fineness.axes, more, strict=False))
    return replace(fineness, axes=refined, labels=fineness.labels + min(1, more[problem.rank]))


def refinements(error: float, wanted: float) -> int:
    """How often to refine an axis whose error falls exponentially with its nodes, to an error below the one wanted."""
    if error < wanted:
        return 0
    if not 0.0 < wanted < error:  # errors that tell nothing
        return 1
    longer = math.log(wanted) / math.log(error) if error < 1.0 else math.inf
    return max(1, math.floor(math.log(min(longer, FINER**_AT_ONCE)) / math.log(FINER) + _ROUNDED))


def _at(problem: Problem, fineness: Fineness) -> float:
    """The test error on one table. Raises NotConverged."""
    node = _nodes(problem.features, fineness, span_of(problem))
    return float(_run_on(square_kernel(problem), problem, node).out[0, 0])


def direct_points(
    problem: Problem,
    parameters: Parameters,
    tolerance: float,
    fineness: Fineness | None = None,
    digits: bool = False,
) -> Points:
    """Solve at the parameters of one point or of many at both orders of quadrature, whose difference is the error.

    A point is solved as if it were alone. digits: in numbers of many digits, without a compiler.
    """
    with TURN:
        rule = _rule(problem.features, fineness or Fineness.first(problem.rank), span_of(problem))
    fraction, numbers = problem.fraction, parameters.array().reshape(-1, len(parameters))
    square = rule.square, ROUNDING / tolerance
    if digits:
        return _to_many_digits(problem, rule, numbers, square)
    found = run_points(rule.kernel, (rule.rough, rule.node), fraction, numbers, square, functions=rule.functions)
    return Points(problem, rule, found, rule.certificate.check(fraction, numbers, found.work))


def points_of(problem: Problem, tolerance: float = 1e-10) -> Points:
    """What ``solve_direct`` finds, with the rule that it is found on."""
    found = solve_direct(problem, tolerance).found
    assert isinstance(found, Points)
    return found


def _to_many_digits(problem: Problem, rule: _Rule, numbers: np.ndarray, square: tuple[float, float]) -> Points:
    fraction = problem.fraction
    given = (many(rule.rough), many(rule.node)), many(fraction), many(numbers), square
    found = run_points(rule.kernel, *given, solve=solver(rule.kernel.solve), functions=rule.functions)
    residual = certified(rule.certificate, fraction, numbers, found.work)
    told = found._replace(**{name: getattr(found, name).astype(float) for name in ("out", "work", "field")})
    return Points(problem, rule, told, residual)


def square_kernel(problem: Problem | Features) -> ModuleType:
    """The generated solver of the square loss for the labels of a problem."""
    target = problem.model.target
    return system_kernel(square_name(target), target.indices, len(problem.overlaps))


def kernel_of_clean_labels(problem: Problem) -> ModuleType:
    """The same for labels that are clean but for noise."""
    return system_kernel("square", problem.model.target.indices, problem.rank)


def square_solution(kernel: ModuleType, problem: Problem, node: np.ndarray) -> np.ndarray:
    """All families of the square loss on ``solver_nodes`` of a kernel. Raises NotConverged."""
    families: np.ndarray = _run_on(kernel, problem, node).work[0]
    return families


def _run_on(kernel: ModuleType, problem: Problem, node: np.ndarray) -> SolvedPoints:
    """One call of a generated solver. Raises NotConverged."""
    nodes, parameters = (node[:, :0], node), problem.parameters.array()[None]
    functions = _functions(span_of(problem), len(problem.blocks))
    found = run_points(kernel, nodes, problem.fraction, parameters, functions=functions)
    if (status := int(found.status[0])) < 0:
        raise NotConverged(_stalled(problem, -status), rounding_hint(problem))
    return found


@dataclass(frozen=True, eq=False)
class _Rule:
    """What all points on one table have in common: its nodes as the solver reads them at both orders, the certificate
    at the second, E y^2 of the clean label, where the order parameters lie, and what pairs of fits remember.
    """

    kernel: ModuleType
    rough: np.ndarray
    node: np.ndarray
    span: Span | None
    certificate: Any
    square: float
    places: tuple[tuple[str, Any], ...]
    functions: int
    of_pairs: dict[Any, Any] = field(default_factory=dict, repr=False)

    def order_parameters(self, families: np.ndarray) -> dict[str, np.ndarray]:
        """Those of a point, or of many, whose families are the rows."""
        order = {name: families[place] for name, place in self.places}
        blocks, further = len(order["m"]), families.shape[1:]
        for name in ("Q1", "V1"):
            order[name] = order[name].reshape(blocks, blocks, *further)
        if self.span is not None:
            order |= {} if further else self.span.spanned(order["m"])
            order["m"] = self.span.outward(order["m"], order["V2"])
        return order


def _functions(span: Span | None, blocks: int) -> int:
    return blocks if span is None else span.rank


def _nodes_of(features: Features, fineness: Fineness, span: Span | None) -> np.ndarray:
    """A table as the solver reads it."""
    return solver_nodes(rows_of(features, fineness), span)


def _rule_of(features: Features, fineness: Fineness, span: Span | None) -> _Rule:
    """The rule of a table."""
    indices, blocks, rank = features.model.target.indices, len(features.blocks), len(features.overlaps)
    kernel = square_kernel(features)
    tables = replace(fineness, coarse=(True,) * (rank + 1)), fineness
    rough, node = (_nodes(features, each, span) for each in tables)
    certificate = kernel.CERTIFICATE.on(node, slices_by_name(kernel, blocks))
    places, functions = _places(kernel, blocks, indices, rank), _functions(span, blocks)
    return _Rule(kernel, rough, node, span, certificate, signal_of(node, indices), places, functions)


_nodes = Remembered(_nodes_of, lambda node: node.nbytes, _MEMORY)
_rule = Remembered(_rule_of, lambda rule: rule.certificate.start.nbytes, _MEMORY)  # beside its nodes


@lru_cache(maxsize=64)
def _places(kernel: ModuleType, blocks: int, indices: int, rank: int) -> tuple[tuple[str, Any], ...]:
    """Where the order parameters lie among the numbers of a point."""
    places = slices_by_name(kernel, blocks)
    order: dict[str, Any] = {name: places[name][0] for name in ORDER_PARAMETERS if name not in ("zeta", "psi")}
    for name, count in (("zeta", rank), ("psi", indices)):
        starts = np.array([places[part][0].start for part in directions_of(name, count)])
        order[name] = starts + np.arange(blocks)[:, None]
    return tuple(order.items())


def signal_of(node: np.ndarray, indices: int) -> float:
    """E y^2 of the clean label."""
    weight, nu, rest = node[1], node[2 : 3 + indices], node[3 + indices]
    return float(weight @ ((nu * nu).sum(axis=0) + rest))


def _stalled(problem: Problem, block: int) -> str:
    fit, width = problem.model.fit, problem.model.network.width
    return (
        f"block {block} of the equations was not solved at fit.samples = {fit.samples:g}, fit.ridge = {fit.ridge:g}, "
        f"network.width = {width:g}"
    )


def rounding_hint(problem: Problem) -> str:
    """What to try where the solution is lost in rounding: the cause that was measured, or that there is none."""
    if found := slight_hint(problem) or peak_hint(problem):
        return found
    span = span_of(problem)
    if span is not None and span.least < _COLLINEAR:
        if problem.model.network.readout.density is not None:
            return (
                "give a dimension: at infinite dimension the readout uses all functions that mean features of a "
                "density approach, of which those that are needed are nearly dependent"
            )
        return (
            "give a dimension, or merge close readout values: the mean feature of one block has a share "
            f"{span.least:.0e} beside those of the others"
        )
    return UNEXPLAINED
