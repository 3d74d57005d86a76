"""The standard deviation of the test error between draws of what is random in a fit.

At large d the test error of one fit is normal about its limit with the variance C/d. C is found from one solution: the
test error is put as a source into the objective, and what that does to the overlaps of the fit gives the covariance of
the free energies of two fits with different sources. Source: docs/theory.md, section 14.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from giantstep.law.intermediate_steps import is_intermediate
from giantstep.law.kind import bulk_kind
from giantstep.observe.deviation.batch import of_batch
from giantstep.observe.deviation.mean_output import over_tilts
from giantstep.observe.deviation.readouts import Readouts
from giantstep.observe.deviation.samples import of_samples
from giantstep.observe.deviation.source import moved_by_source
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown, number
from giantstep.system.causes import settling_hint
from giantstep.system.coupled_system import Array, CoupledSystem
from giantstep.system.derivative_levels import for_derivatives
from giantstep.system.exact_output import is_exact, nothing_left
from giantstep.system.problem import Problem
from giantstep.system.reduced_order import order_of
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.system.solved_again import solved_again
from giantstep.system.two_fits import merged_problem

_RESIDUAL = 1e-7  # of the linear equations of the source
_SETTLED, _WORST = 1e-6, 1e-3  # change between two resolutions that is worked for, and that is allowed
_FELT = 0.1  # of a variance to first order, what is beyond it that counts


@dataclass(frozen=True, repr=False, eq=False)
class Deviation(Shown):
    """How much the test error of one fit varies between draws.

    variance: d times that of the test error, by source: "batch" of the step, "data" with the noise of the labels (given
    the first layer), "initialisation" (of the mean over data); standard_deviation: of the test error at the dimension
    of the result, None without one; test_error: its older name. not_derived: sources that are left out, and why.
    residual: worst relative one of the linear equations; error: relative change of the variance between two
    resolutions. mean, beyond: where the mean output varies much at that dimension, the mean test error of fits and what
    its variance has beyond first order, less where the error bends down.
    """

    result: Result
    variance: Mapping[str, float]
    not_derived: Mapping[str, str]
    residual: float
    error: float
    mean: float | None = None
    beyond: float = 0.0

    @property
    def standard_deviation(self) -> float | None:
        """That of the test error, at the dimension of the result."""
        dimension = self.result.dimension
        return None if dimension is None else math.sqrt(max(0.0, sum(self.variance.values()) / dimension + self.beyond))

    @property
    def test_error(self) -> float | None:
        """The older name of ``standard_deviation``; it is not the test error itself."""
        return self.standard_deviation

    def summary(self) -> list[Row]:
        """The test error with its deviation, the variances by source, the model."""
        told = (
            ""
            if self.standard_deviation is None
            else f" +- {self.standard_deviation:.3g} at d = {self.result.dimension}"
        )
        if self.mean is not None:
            told = f"; of fits at d = {self.result.dimension} {self.mean:.6g} +- {self.standard_deviation:.3g}"
        parts = ", ".join(f"{name} {value:.4g}" for name, value in self.variance.items())
        return [
            ("test error", number(self.result.test_error) + told),
            ("d times the variance", parts),
            ("left out", ", ".join(self.not_derived) or "nothing"),
            ("model", outline(self.result.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object under ``deviation`` of ``decompose --json``."""
        return {
            "standard_deviation": self.standard_deviation,
            "test_error": self.standard_deviation,  # its older name
            "dimension": self.result.dimension,
            "times_dimension": dict(self.variance),
            "not_derived": dict(self.not_derived),
            "residual": self.residual,
            "quadrature_error": self.error,
            "mean_test_error": self.mean,
        }


@takes_model
def deviation(model: Model, *, dimension: int | None = None, tolerance: float = 1e-10) -> Deviation:
    """How much the test error of one fit varies between draws of data, first layer and batch of the step.

    Raises BadInput for what has not been derived, NotConverged where it is not found to its accuracy.
    Source: docs/theory.md, section 14.
    """
    require_deviation(model)
    result = solve(model, dimension=dimension, tolerance=tolerance)
    if is_exact(result):
        raise nothing_left("to vary")
    return deviation_of(result)


def has_deviation(model: Model) -> bool:
    """Whether the deviation between draws has been derived for a model."""
    try:
        require_deviation(model)
    except BadInput:
        return False
    return True


def require_deviation(model: Model) -> None:
    """Raise BadInput for models whose fits have not been derived to vary."""
    kind = bulk_kind(model)
    words = {
        "penalised": "a penalty beside the ridge",
        "norms": "rows that are Gaussian at initialisation",
        "stretched": f'step.bulk = "{model.bulk}"',
        "matrix": "a given bulk",
        "neurons": "a given bulk",
        "inputs": "structured inputs",
    }
    reason = words.get(kind)
    if model.network.trains_bias:
        reason = "a trained bias"
    elif model.network.readout.continuous:
        reason = "a density of readout values"
    elif model.step is not None and is_intermediate(model):
        reason = "a step below the giant one"
    if reason is not None:
        raise BadInput(
            f"the deviation between draws has not been derived for {reason}",
            "use isotropic inputs and bulk, readout values, a bias that is a number, and no penalty",
        )


def deviation_of(result: Result) -> Deviation:
    """The same of a solution."""
    require_deviation(result.model)
    problem, members = merged_problem(result)
    order = members.gathered(order_of(problem, result))
    system, parts, residual, error = _settled(problem, order)
    if not residual <= _RESIDUAL:
        raise NotConverged(
            f"the linear equations of the deviation are solved to {residual:.1e} only", settling_hint(problem)
        )
    variance = sum(parts.values())
    if not (error <= _WORST and variance >= 0.0):  # zero where no draw moves the test error
        raise NotConverged(
            f"the variance between draws changes by {error:.1e} (relative) between orders of quadrature",
            settling_hint(problem),
        )
    told = _with_batch(result, parts)
    beyond = _beyond_first_order(result, sum(told[0].values()), system)
    return Deviation(result, *told, residual, error, *beyond)


def _settled(problem: Problem, order: Mapping[str, Array]) -> tuple[CoupledSystem, dict[str, float], float, float]:
    """(system, variances by source, residual, change from the resolution before) at the first resolution that agrees
    with the one before it.
    """
    found: tuple[CoupledSystem, dict[str, float], float, float] | None = None
    for resolution in for_derivatives(problem, order):
        system = solved_again(problem, order, *resolution)
        if system is None and found is not None and found[3] <= _WORST:
            break
        if system is None:
            raise NotConverged("the solution is not found again at the resolution of its draws", settling_hint(problem))
        moved = moved_by_source(system)
        rest = Readouts(system, moved)
        layer = rest.of_one_layer()
        parts = {"data": of_samples(system, moved) + rest.of_one_fit() - layer, "initialisation": layer}
        last, before = sum(parts.values()), math.inf if found is None else sum(found[1].values())
        found = system, parts, moved.residual, abs(last - before) / max(abs(last), 1e-300)
        if found[3] <= max(_SETTLED, moved.rounding):
            break
    assert found is not None
    return found


def _beyond_first_order(result: Result, variance: float, system: CoupledSystem) -> tuple[float | None, float]:
    """Mean of the test error, and its variance beyond first order, where a mean output that varies counts at the
    dimension of the result; variance: to first order; system: with the solution. Raises NotConverged.
    """
    dimension, of_mean, settled = result.dimension, result.mean_output_error, result.settled_dimension
    if dimension is None or of_mean is None or settled is None:
        return None, 0.0
    if settled <= dimension and 2.0 * (of_mean / dimension) ** 2 <= _FELT * variance / dimension:
        return None, 0.0
    found = over_tilts(system, dimension)
    if found is None:
        raise NotConverged(
            f"the mean output varies so much between fits at d = {dimension} that no solution is found there",
            f"give a larger dimension: it settles at {settled:.1g}",
        )
    return found


def _with_batch(result: Result, parts: Mapping[str, float]) -> tuple[dict[str, float], dict[str, str]]:
    """(variances with that of the batch of a step, why it is not among them)."""
    if result.model.step is None:
        return dict(parts), {}
    try:
        return {"batch": of_batch(result), **parts}, {}
    except BadInput as error:
        return dict(parts), {"batch": error.message}
