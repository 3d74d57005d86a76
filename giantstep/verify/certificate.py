"""The reported solution against averages, equations and errors taken again by a second implementation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from derive.directions import directions_of
from giantstep.system.result import Result
from giantstep.verify.answer import LABEL_IS_OUTPUT
from giantstep.verify.chance import chance_of
from giantstep.verify.check import Check
from giantstep.verify.density_nodes import density_differs
from giantstep.verify.equations import residuals
from giantstep.verify.first_layer import FirstLayer
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.output_averages import test_errors
from giantstep.verify.reference import AVERAGES, Reference, reference
from giantstep.verify.stationarity import gradient_checks

ERRORS = 1e-8  # relative; both quadratures promise 1e-10, errors move with the solution
EQUATIONS = 1e-7  # a solution is found to the square root of what the errors are good for
_SETTLED = 1e-9  # of the averages themselves; where they have not settled the certificate says so
_EPS = 2.2e-16
_CANCELS = 5 * _EPS  # of E y^2, which E (y - f)^2 is a difference of: what a result promises of errors that are less
_EXPLAINED = 0.3  # of a residual, by averages that are so much off: the directions tried are not the worst
_ROUNDING = 1e-10  # of the output: with more a difference of features that hardly differ tells nothing
_CHANCE = 1e-3  # six standard errors of an error by averages at random places that tell something
_SELDOM = 1e-10  # a share of labels that feel the loss: beside it the Gaussian weight beyond all nodes makes 3e-8
_HELD = 1e-3  # a share of kappa at which outputs hardly vary, from which on it decides
_RARE = 0.01  # of the objective of a sample: what a training error that is less is held against, made by rare samples
LAYER = 1e-9  # of strengths, alignments and variances

_WORDS = {"test_error": "test error", "train_error": "training error", "free_energy": "free energy"}


@dataclass(frozen=True)
class Certificate:
    """By how much a result and the reference differ, relative: errors and equations by name.

    Errors that are next to nothing are held against what rounding of E y^2 leaves of them. layer: strengths, alignments
    and bulk variances, averages over a density of readout values. unsettled: why a difference tells nothing, empty
    where it does. by_chance: what averages at random places leave open, six standard errors by the same names.
    """

    errors: Mapping[str, float]
    equations: Mapping[str, float]
    layer: float
    unsettled: str = ""
    by_chance: Mapping[str, float] = field(default_factory=dict)

    @property
    def worst_equation(self) -> tuple[str, float]:
        """Its name and its residual, the one that what is allowed leaves the least of."""
        worst = max(self.equations, key=lambda name: _beyond(self.equations[name], self.allowed(name)))
        return worst, self.equations[worst]

    def allowed(self, name: str) -> float:
        """What an error or an equation may be off by."""
        return max(ERRORS if name in self.errors else EQUATIONS, self.by_chance.get(name, 0.0))

    @property
    def holds(self) -> bool:
        """Whether everything agrees to what is allowed; what is no number does not."""
        off = {**self.errors, **self.equations}
        return all(value <= self.allowed(name) for name, value in off.items()) and self.layer <= LAYER


def _beyond(value: float, allowed: float) -> float:
    return math.inf if math.isnan(value) else value / allowed


def certificate(result: Result) -> Certificate:
    """The certificate of a result. Raises NotEvaluable where the reference does not take its model."""
    return _certificate(reference(result))


def _certificate(found: Reference) -> Certificate:
    nodes, model = found.nodes, found.result.vocabulary
    equations, observables = found.residuals(), found.observables()
    squares = _rounding_of_squares(found)
    enough = max(_SETTLED, squares.get("test_error", 0.0) / max(observables["test_error"], 1e-300))
    unsettled = "" if nodes.error <= enough else f"the second quadrature has settled to {nodes.error:.0e} only"
    if found.rounding > _ROUNDING:
        unsettled = f"m of features that hardly differ cancel: rounding makes {found.rounding:.0e}"
    if found.cancelled > ERRORS:
        unsettled = f"responses or overlaps of blocks cancel: rounding makes {found.cancelled:.0e}"
    if (felt := _felt(found)) < _SELDOM:
        unsettled = f"labels that feel the loss are too rare to average: a share of {felt:.0e}"
    reported = {name: float(getattr(found.result, name)) for name in observables}
    if squares and max(observables["test_error"], reported["test_error"]) <= squares["test_error"]:
        unsettled = LABEL_IS_OUTPUT
    sizes = {name: abs(value) for name, value in reported.items()}
    sizes["train_error"] += _RARE * reported["free_energy"] / model.fit.samples
    for name, value in squares.items():
        sizes[name] = max(sizes[name], value / ERRORS)
    errors = {name: abs(value - reported[name]) / max(sizes[name], 1e-300) for name, value in observables.items()}
    open_by = chance_of(found)
    chance = {name: value / max(sizes[name], 1e-300) for name, value in open_by.observables.items()}
    chance |= open_by.residuals
    if (known := max(chance[name] for name in errors)) > _CHANCE:
        unsettled = f"errors by averages at random places are good to {known:.0e} only"
    certain = found.nodes.drawn is None
    if certain and not unsettled and max(equations.values()) > EQUATIONS and max(errors.values()) <= ERRORS:
        unsettled = _left_open(found, equations, max(_SETTLED, nodes.error))
    if certain and not unsettled and errors["test_error"] > ERRORS:
        unsettled = _signs_hidden(found, errors["test_error"])
    layer = max(_layer_differs(found.result, found.layer), density_differs(model, found.layer.rows))
    return Certificate(errors, equations, layer, unsettled, {} if certain else chance)


def _felt(found: Reference) -> float:
    """The share of labels that feel the loss: the mean of V h, 0 where it is flat, 1 where a kink holds outputs."""
    nodes, bend = found.nodes, found.nodes.values[1 + AVERAGES.index("avg_h")]
    return float(nodes.weight @ (found.output(nodes.kappa, found.features(nodes.kappa)).response * bend))


def _rounding_of_squares(found: Reference) -> dict[str, float]:
    """What rounding makes of errors of the residual, as differences of E y^2 and E f^2; the objective is that of all
    samples. Others are sums of what does not cancel.
    """
    model = found.result.vocabulary
    if model.fit.loss.form != "residual":
        return {}
    of_one = _CANCELS * found.signal
    return {"test_error": of_one, "train_error": of_one, "free_energy": of_one * model.fit.samples}


def _left_open(found: Reference, equations: Mapping[str, float], settled: float) -> str:
    """Which equation is not told from one that holds by averages that have settled so far, in words; empty where those
    that do not hold are told.

    Where the ridge is next to nothing a readout follows from slopes of the loss that all but cancel.
    """
    causes = [
        (_moved(found, settled), "slopes of the loss or mean features cancel", f"averages good to {settled:.0e} leave")
    ]
    if _still(found) > _HELD:
        known = f"m good to {ERRORS:.0e} of itself leaves"
        causes.append((_with_other_means(found), "a kink of the loss holds outputs", known))
    for others, cause, known in causes:
        by = {name: max(abs(other[name] - measured) for other in others) for name, measured in equations.items()}
        missed = [name for name, measured in equations.items() if not measured <= EQUATIONS]
        if all(by[name] >= max(EQUATIONS, _EXPLAINED * equations[name]) for name in missed):
            name = max(missed, key=lambda one: equations[one])
            return f"{cause}: {known} the equation of {name} open by {by[name]:.0e}"
    return ""


def _still(found: Reference) -> float:
    """The share of kappa at which outputs vary by less than what m may be off by makes of them."""
    kappa = found.nodes.kappa
    output = found.output(kappa, found.features(kappa))
    spread = np.sqrt(output.variance + (output.slopes**2).sum(axis=0))
    return float(found.nodes.weight @ (spread <= ERRORS * np.abs(output.mean)))


def _with_other_means(found: Reference) -> list[dict[str, float]]:
    """The residuals where m is off by as much as errors may be: where features saturate, outputs on a kink of the loss
    vary by less than that.
    """
    families = found.point.families
    points = [
        replace(found.point, families={**families, "m": families["m"] * (1.0 + side * ERRORS)}) for side in (-1, 1)
    ]
    return [residuals(found.system, found.at_order(point)) for point in points]


def _signs_hidden(found: Reference, measured: float) -> str:
    """That rounding of the features explains what a test error is off by, in words; empty where it does not: where
    features saturate, a sign depends on the ratio of two that are less than that.
    """
    model, kappa = found.result.vocabulary, found.nodes.kappa
    if model.fit.loss.form != "margin":
        return ""
    features = found.features(kappa)
    rounding = _EPS * np.sqrt(features[0] ** 2 + features[1] ** 2 + np.abs(features[2]))
    told = found.nodes.values[0]
    moved = [np.array([features[0], features[1] + side * rounding, features[2]]) for side in (-1.0, 1.0)]
    tests = [test_errors(found.law, model.fit.loss, kappa, found.output(kappa, each), found.width) for each in moved]
    by = max(float(found.nodes.weight @ np.abs(test - told)) for test in tests) / max(
        float(found.nodes.weight @ told), 1e-300
    )
    return "" if by < _EXPLAINED * measured else f"signs of features that saturate: rounding makes {by:.0e} of them"


def _moved(found: Reference, settled: float) -> list[dict[str, float]]:
    """The residuals where slopes of the loss are by as much off as averages may be, their squares by as much as has
    settled, mean features by the rounding of what they are averages of, and responses and overlaps, whose entries may
    cancel, by that of these.
    """
    columns = found.point.columns
    slope, square = columns["avg_g"], columns["avg_gg"]
    off, others = _SETTLED * np.sqrt(np.maximum(square, 0.0)), []
    rounding = _EPS * np.sqrt(columns["mu0"] ** 2 + columns["mu1"] ** 2 + np.abs(columns["mu2sq"]))
    for side in (-1.0, 1.0):
        others += [{"mu0": columns["mu0"] + side * rounding}]
        others += [{"avg_gg": square * (1.0 + side * settled)}, {"avg_g": slope + side * off}]
        others += [{"avg_g": slope + side * off * np.sign(columns[k])} for k in directions_of("kappa", found.rank)]
    points = [replace(found.point, columns={**columns, **other}) for other in others]
    for name in ("V1", "Q1"):
        families = dict(found.point.families)
        families[name] = families[name] + _EPS * np.abs(families[name])
        points += [found.at_order(replace(found.point, families=families))]
    return [residuals(found.system, point) for point in points]


def _layer_differs(result: Result, layer: FirstLayer) -> float:
    """What the rows that the result states differ by from those of the definition, relative, in what no choice of
    directions enters.
    """
    spike, rows = result.spike, layer.rows
    if layer.polynomials is not None or result.vocabulary.bulk == "matrix":
        return 0.0
    if spike.directions is None:
        values = np.array(result.vocabulary.network.readout.values)
        loadings, overlaps = spike.strength * values[:, None], np.array(spike.alignments)[None]
    else:
        loadings, overlaps = np.array(spike.directions.loadings), np.array(spike.directions.overlaps)
    variances = np.array(spike.bulk_variance)
    scale = np.sqrt((loadings**2).sum(axis=1) + variances)
    pairs = (
        ((loadings @ loadings.T, rows.loadings @ rows.loadings.T), np.outer(scale, scale)),
        ((loadings @ overlaps, rows.loadings @ rows.overlaps), scale[:, None]),
        ((variances, rows.variances), scale**2),
    )
    return max(float(np.max(np.abs(one - other) / size)) for (one, other), size in pairs)


def certificate_checks(result: Result) -> Iterator[Check]:
    """Every equation at the reported solution, the reported errors, and the gradient of the free energy there.

    Features, labels and outputs are averaged by definition on nodes chosen from the solution; the derived equations
    are evaluated by the interpreter. Nothing of the solver's tables, nodes or kernels is used.
    """
    try:
        found = reference(result)
        certified = _certificate(found)
    except NotEvaluable as missing:
        yield Check("errors and equations by a second quadrature", math.nan, EQUATIONS, f"not taken: {missing}")
        return
    unsettled = certified.unsettled
    yield Check("strengths, alignments, bulk variances and readout values by definition", certified.layer, LAYER)
    rule = "averages at random places" if certified.by_chance else "a second quadrature"
    for name, measured in certified.errors.items():
        allowed = certified.allowed(name)
        yield Check(f"{_WORDS[name]} by {rule}", measured, allowed, unsettled if measured > allowed else "")
    name, worst = certified.worst_equation
    label = f"{len(certified.equations)} equations by the interpreter, worst {name}"
    allowed = certified.allowed(name)
    yield Check(label, worst, allowed, unsettled if worst > allowed else "")
    if not certified.by_chance:  # differences of these would be those of chance
        yield from (_undecided(check, unsettled) for check in gradient_checks(found))


def _undecided(check: Check, unsettled: str) -> Check:
    """A check of averages that have not settled tells nothing where it fails, not even by how much."""
    if check.outcome != "FAILED" or not unsettled:
        return check
    return replace(check, measured=math.nan, undecided=unsettled)
