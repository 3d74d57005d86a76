"""Averages of any function of label and output at a solution: the metrics of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from giantstep.law.label_growth import label_reach
from giantstep.law.terms import noisy_terms
from giantstep.observe.metric_average import Given, Resolution
from giantstep.observe.metric_function import Function, Metric
from giantstep.observe.output_law import Output
from giantstep.quadrature.mesh import initial_mesh, reach_of
from giantstep.quadrature.panels import terms_of
from giantstep.quadrature.settled import DoesNotSettle, Index, Panels, Rule
from giantstep.quadrature.tensor import coordinates, tensor_table
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.metrics import Metrics, MetricsKind
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import LINES, Row, Shown, cut, number
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.mean_predicted import share_at_ends
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
_WIDEST, _NARROWER = 6.0, 8  # panels of the output; how often they are halved
_TIMES = 4  # how often the nodes of the label are halved, or ends go further
_PLACES = np.array([-3.1, -1.7, -0.6, 0.2, 0.9, 1.8, 2.9])  # of kappa, at which one is chosen
_GROWS = 1.05  # the factor from which on a size is said to grow
# of the size of what is averaged: what is nothing; rounding given kappa, and of the average over it
_VANISHES, _ROUNDING, _OF_ALL = 1e-13, 1e-13, 1e-12
_TOLERANCE = 1e-10  # of an average, relative to that of its size
_ORDER = 24  # of a panel of kappa
_FINENESS = (1.0, 1.4, 2.0, 2.8, 4.0)  # of the rules of several directions, of which two that follow agree
_AT_ENDS = 1e-13  # of the size of an average, that may come from next to the ends of kappa
_ACROSS = np.linspace(-1.0, 1.0, 13)  # places between these ends, at which more is looked for further out otherwise
_LONGER, _PARTS = 1.5, 8  # how far beyond them it is looked for, and panels there


@dataclass(frozen=True, repr=False, eq=False)
class Measured(Shown):
    """Averages over fresh samples: values by name, and by how much they change under refinement.

    result: the solution that they are of; left_out: by name, why others of the expressions have no value.
    """

    values: Mapping[str, float]
    errors: Mapping[str, float]
    expressions: Metrics
    result: Result
    left_out: Mapping[str, NotConverged] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The model."""
        return cut(f"Measured at {outline(self.result.model)}")

    def summary(self) -> list[Row]:
        """The values; of more than five the first four, and the names of the others."""
        rows = [(name, f"{number(value)}, to {self.errors[name]:.1e}") for name, value in self.values.items()]
        rows += [(name, error.message) for name, error in self.left_out.items()]
        if len(rows) <= LINES - 1:
            return rows
        shown = rows[: LINES - 2]
        return [*shown, (f"{len(rows) - len(shown)} more", ", ".join(name for name, _ in rows[len(shown) :]))]

    def to_dict(self) -> dict[str, Any]:
        """The part ``metrics`` of ``solve --json``: null for what has no value."""
        return {name: self.values.get(name) for name, _ in self.expressions.entries}


class _Unsettled(NotConverged):
    """An average that does not settle, with what was found to be the cause."""


@takes_model
def metrics(
    model: Model,
    expressions: Mapping[str, str] | None = None,
    *,
    dimension: int | None = None,
    tolerance: float = 1e-10,
) -> Measured:
    """Solve a model, and average expressions in y and f over fresh samples at its solution.

    Returns the averages (``values`` by name) and the solution (``result``). The model stays as it is: one that has
    metrics, as sweeps take it, is ``model.replace(metrics={"zero_one": "y*f < 0"})``.
    expressions: by name, those of [metrics] where left out; y is a label with its noise, f the output. A comparison is
    1 where it holds, and 0 where not. dimension, tolerance: of the solution. Raises BadInput where there is no metric,
    NotConverged where an average does not settle. Source: [CUI24] Result 3.2.
    """
    wanted = model.metrics if expressions is None else MetricsKind().check("metrics", expressions)
    if wanted is None:
        raise BadInput(
            "the model has no [metrics]", 'add some, as zero_one = "y*f < 0", or give {"zero_one": "y*f < 0"}'
        )
    return metrics_of(solve(model, dimension=dimension, tolerance=tolerance), wanted)


def metrics_of(result: Result, wanted: Metrics) -> Measured:
    """The averages at a solution. Raises NotConverged where one does not settle."""
    found = measured_at(result, wanted)
    for error in found.left_out.values():
        raise error
    return found


def measured_at(result: Result, wanted: Metrics) -> Measured:
    """The same, with what does not settle left out."""
    problem = problem_of(result.vocabulary, result.dimension, result.bias, intermediate=True)
    try:
        output = Output(problem, order_of(problem, result))
    except NotConverged as error:
        return Measured({}, {}, wanted, result, {name: error for name, _ in wanted.entries})
    found: dict[str, tuple[float, float]] = {}
    left_out: dict[str, NotConverged] = {}
    for name, text in wanted.entries:
        try:
            found[name] = _average(name, Given.of(output, text))
        except NotConverged as error:
            left_out[name] = error
    values, errors = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
    return Measured(values, errors, wanted, result, left_out)


def _average(name: str, given: Given) -> tuple[float, float]:
    """(average, error) of one metric over kappa; the error also of a mean output that was solved for again."""
    try:
        value, error = _by_kappa(name, given)
    except _Unsettled:
        raise
    except (NotConverged, DoesNotSettle):  # also of labels that are cut where the metric has a kink, too often
        raise _unsettled(name, given) from None
    if not math.isfinite(value):
        raise NotConverged(
            f"the average of metrics.{name} does not exist, or is too large for a number",
            "use a function that grows more slowly with the output",
        )
    return value, error + given.output.unlike * abs(value)


def _by_kappa(name: str, given: Given) -> tuple[float, float]:
    """(average, error) from those given kappa, none of which has digits where all of them vanish but for rounding."""
    kappa = _kappa(given)
    sizes = _sizes(given, kappa, Resolution(_WIDEST, 0))
    size = float(sizes.max()) if np.isfinite(sizes).all() else 0.0
    resolution, changed = _settled(name, given, _ROUNDING * size)
    if np.all(np.abs(given.at(kappa, resolution)) < _VANISHES * sizes):
        return 0.0, _VANISHES * size
    average, left = _adaptive if given.output.problem.rank == 1 else _on_grid, _OF_ALL * size
    value, error = average(name, given, resolution, left)
    # what is averaged may cancel: rounding is more than what is asked of the rest
    return value, error + changed * abs(value) + left * (left > _TOLERANCE * abs(value))


def _kappa(given: Given) -> Array:
    """A few places, at which a resolution is chosen."""
    return np.asarray(_PLACES[:, None] * np.linspace(1.0, -0.6, given.output.problem.rank))


def _sizes(given: Given, kappa: Array, resolution: Resolution) -> Array:
    """The averages of what a metric is without its sign."""
    metric, turned = (replace(each, values=_size_of(each)) for each in (given.metric, given.turned))
    with np.errstate(over="ignore", invalid="ignore"):
        return replace(given, metric=metric, turned=turned).at(kappa, resolution)


def _size_of(metric: Metric) -> Function:
    return lambda y, f: np.abs(metric.values(y, f))


def _settled(name: str, given: Given, rounding: float) -> tuple[Resolution, float]:
    """The widest panels, the fewest nodes of the label and the nearest ends at which averages given a few kappa have
    settled, and what the next ones change, relative to the largest average.
    """
    kappa, found, changed = _kappa(given), Resolution(_WIDEST, 0, rounding=rounding), 0.0
    for finer in (Resolution.narrower, Resolution.denser, Resolution.further):
        # lines beside each of many points of several directions would take hours
        lines = finer is Resolution.denser and given.output.problem.rank == 1
        ways = [found, found.on_lines()] if lines else [found]
        stays = (_where_it_stays(given, kappa, way, finer) for way in ways)
        settled = next((at for at in stays if at is not None and _reaches(given, kappa, at[0])), None)
        if settled is None:
            raise _unsettled(name, given, of_label=finer is Resolution.denser)
        found, changed = settled[0], changed + settled[1]
    return found, changed


def _reaches(given: Given, kappa: Array, found: Resolution) -> bool:
    """Whether nodes of the label that no resolution takes further hold all that counts given a few kappa."""
    size = np.abs(given.at(kappa, found)).max()
    return bool(np.all(given.outermost(kappa, found) <= max(0.1 * _TOLERANCE * size, found.rounding)))


def _where_it_stays(
    given: Given, kappa: Array, found: Resolution, finer: Callable[[Resolution], Resolution]
) -> tuple[Resolution, float] | None:
    """The first of finer and finer resolutions at which averages stay what they are, and what the next one changes,
    relative to the largest; None where they do not stay.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of what grows too fast, which does not settle
        before = given.at(kappa, found)
        for _ in range(_NARROWER if finer is Resolution.narrower else _TIMES):
            after = given.at(kappa, finer(found))
            size, change = np.abs(after).max(), np.abs(after - before).max()
            if np.isfinite(size) and change <= max(0.1 * _TOLERANCE * size, found.rounding):
                return found, float(change / max(size, 1e-300))
            found, before = finer(found), after
    return None


def _unsettled(name: str, given: Given, of_label: bool = False, further: bool = False) -> NotConverged:
    target = given.output.problem.model.target
    others = ["take a target of one index"] if target.indices > 1 else []
    others += ["give the label noise"] if target.noise == 0.0 else []
    if of_label and given.metric.kinks:
        cause = "it has kinks or jumps, and the label passes them faster than its nodes can follow: "
    elif further or _grows(given):
        cause = "it may have no mean, as 1/f or exp(f**2); else "
    else:
        cause = "label and output vary too widely for what it varies on: "
    return _Unsettled(
        f"the average of metrics.{name} over label and output does not settle to {_TOLERANCE:g}",
        f"{cause}soften it, as sign(y*f) to tanh(9*y*f)" + "".join(f", or {other}" for other in others),
    )


def _grows(given: Given) -> bool:
    """Whether the size of a metric grows further out or, which takes longer, with narrower panels: it may have no
    mean.
    """
    kappa, wide = _kappa(given), Resolution(_WIDEST, 0, rounding=math.inf)
    narrow = replace(wide, width=_WIDEST / 2**_NARROWER)
    for first, second in ((wide, wide.further().further()), (narrow, narrow.narrower().narrower())):
        try:
            size, other = (_sizes(given, kappa, at) for at in (first, second))
        except DoesNotSettle:  # it is too large for a number
            return True
        if not np.all(other <= _GROWS * size):
            return True
    return False


def _adaptive(name: str, given: Given, resolution: Resolution, left: float) -> tuple[float, float]:
    """Panels of kappa, halved until both halves give what the whole does, but for what may be ``left``."""
    problem = given.output.problem
    further = noisy_terms(problem.link, problem.model.target)
    terms = terms_of(problem.blocks, problem.link, *further)
    reach = max(reach_of(terms), label_reach(problem.model.target, problem.overlaps))
    mesh = initial_mesh(terms, reach)
    edges = np.append(mesh[:-1:2], mesh[-1])  # enough for a panel of this order

    def values(_: Index, kappa: Array) -> Array:  # at the last resolution
        with np.errstate(over="ignore", invalid="ignore"):
            averages = given.at(kappa.reshape(-1, 1), resolution).reshape(kappa.shape)
            found = np.asarray(averages * _normal(kappa))
        if not np.isfinite(found).all():
            raise _unsettled(name, given, further=True)
        return found

    largest = left / _OF_ALL
    for _ in range(_TIMES):
        ends = reach * float(np.max(np.abs(values(np.zeros(1, dtype=int), np.array([[-reach, reach]])))))
        if ends <= _AT_ENDS * largest:
            break
        # it grows nearly as fast as the weight of kappa falls: so may outputs, and what they make of a metric
        outer, resolution = np.linspace(reach, _LONGER * reach, _PARTS + 1)[1:], resolution.further()
        edges, reach, largest = np.concatenate([-outer[::-1], edges, outer]), _LONGER * reach, max(largest, ends)
    else:
        raise _unsettled(name, given, further=True)
    rule = Rule(_ORDER, 0.1 * _TOLERANCE / (len(edges) - 1), left / (len(edges) - 1))
    across = reach * _ACROSS
    for _ in range(_TIMES):
        (total,), (error,) = rule.integrals(values, Panels.between(edges[None]), 1)
        missed = (across[1] - across[0]) * _normal(across) @ given.missed(across[:, None], resolution)
        if missed <= max(0.1 * _TOLERANCE * abs(total), left):
            return float(total), float(error + missed)
        resolution = resolution.further()
    raise _unsettled(name, given, further=True)


def _normal(kappa: Array) -> Array:
    """The density of kappa."""
    return np.asarray(np.exp(-0.5 * kappa * kappa) / math.sqrt(2.0 * math.pi))


def _on_grid(name: str, given: Given, resolution: Resolution, left: float) -> tuple[float, float]:
    """Several directions of kappa: the rule of their features, at finer and finer nodes: an output may turn faster."""
    problem, before = given.output.problem, math.nan
    for fineness in _FINENESS:
        rows = tensor_table(AveragedTerms.of(problem).shape, (fineness,) * problem.rank)
        kappa = coordinates(rows, 1, problem.rank)
        terms = rows[:, 1] * given.at(kappa, resolution)
        value = float(terms.sum())
        if not share_at_ends(kappa, terms) <= max(_AT_ENDS, left / max(abs(value), 1e-300)):
            raise _unsettled(name, given, further=True)
        allowed, change = max(1e3 * _TOLERANCE * abs(value), left), abs(value - before)
        if change <= allowed:
            sizes = np.abs(terms)
            most = np.argsort(sizes)[-len(_ACROSS) :]
            missed = float(rows[most, 1] @ given.missed(kappa[most], resolution))
            error = change + missed * float(sizes.sum() / sizes[most].sum())
            if error <= allowed:
                return value, error
            break
        before = value
    raise _unsettled(name, given)
