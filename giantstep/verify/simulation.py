"""Theory against simulation of the finite system: they agree, they do not, or the simulation is too short to tell.

Both are taken at the same dimension d. What is compared is the relative difference of mean and theory, with Student's
law for its error. A difference that the error does not cover may be a term of order 1/d that the theory leaves out:
it is then extrapolated to infinite d from a second dimension, errors propagated. Agreement is only said where an error
of 2 % would have been seen.

Where features have tails so heavy that no network of this size is near the limit, a difference tells nothing about the
equations: Gaussian features of the same law are simulated beside it, which have no such tails.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import stdtrit

from giantstep.law.given_bulk import given_bulk
from giantstep.observe.finite_system import default_kind
from giantstep.observe.metrics import metrics_of
from giantstep.observe.simulate import Simulation, simulate
from giantstep.simulate.system import SystemKind
from giantstep.spec.errors import GiantstepError
from giantstep.spec.metrics import Metrics
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.verify.check import Check
from giantstep.verify.heavy_tails import heavy_tails

DIMENSION, SEEDS = 200, 64
_LARGEST = 3000  # whole numbers n, p of the simulation
_RESOLVED = 0.02  # relative error that must have been seen where agreement is said
_ONE_MATRIX = "a given bulk has one dimension: terms of order 1/d cannot be taken out"
_RARE = 0.01  # of the objective of a sample
_LEVEL = 1e-3  # probability that a sound theory is called wrong, per error
_Pair: TypeAlias = tuple[Simulation, Result]


@dataclass(frozen=True)
class Difference:
    """Relative difference of a simulated mean and the theory, its standard error and the degrees of freedom of that."""

    value: float
    error: float
    freedom: float

    @property
    def reach(self) -> float:
        """The difference that chance exceeds with probability 1/1000."""
        return float(stdtrit(self.freedom, 1.0 - 0.5 * _LEVEL)) * self.error

    @property
    def covered(self) -> bool:
        """Whether chance explains the difference."""
        return abs(self.value) <= self.reach


def simulation_checks(model: Model, dimension: int = DIMENSION, seeds: int = SEEDS) -> Iterator[Check]:
    """Test and training error and metrics of the simulated system against the theory at the same dimension.

    The system is what the model's bulk stands for: spiked random features, or the network after its step.
    """
    largest = max(model.network.width, model.fit.samples, 1.0)
    dimension = max(60, min(dimension, int(_LARGEST / largest)))
    given = model.bulk == "matrix"
    dimension = given_bulk(model).rows.shape[1] if given else dimension
    far = _at(model, dimension, seeds)
    if isinstance(far, Check):
        yield far
        return
    near: _Pair | Check | None = None
    for name in ("test_error", "train_error", *far[0].metrics):
        try:
            here = difference(*far, name)
        except GiantstepError as error:  # a metric that does not settle
            yield Check(f"{_label(name)}, d = {dimension}", math.nan, 0.0, str(error))
            continue
        if given and not here.covered and abs(here.value) < _RESOLVED:
            yield Check(f"{_label(name)}, d = {dimension}", abs(here.value), here.reach, _ONE_MATRIX)
            continue
        if not here.covered and (tails := heavy_tails(far[0].model, dimension)):
            yield Check(f"{_label(name)}, d = {dimension}", abs(here.value), here.reach, tails)
            yield from _of_gaussians(model, dimension, seeds, name)
            continue
        if not here.covered and near is None and not given:
            near = _at(model, dimension // 2, seeds)
        if not here.covered and isinstance(near, Check):
            why = f"terms of order 1/d cannot be taken out: {near.name}: {near.undecided}"
            yield Check(f"{_label(name)}, d = {dimension}", abs(here.value), here.reach, why)
            continue
        yield compared(name, dimension, seeds, here, difference(*near, name) if isinstance(near, tuple) else None)


def _at(model: Model, dimension: int, seeds: int, what: SystemKind | None = None) -> _Pair | Check:
    """Simulation and theory at one dimension, or a row on the one that there is not."""
    try:
        simulated = simulate(model, dimension=dimension, seeds=seeds, what=what or default_kind(model))
    except GiantstepError as error:
        return Check(f"simulation at dimension {dimension}", math.nan, 0.0, str(error))
    try:
        return simulated, solve(simulated.model, dimension=dimension)
    except GiantstepError as error:
        return Check(f"theory at the simulated dimension {dimension}", math.nan, 0.0, f"no solution there: {error}")


def _of_gaussians(model: Model, dimension: int, seeds: int, name: str) -> Iterator[Check]:
    """The same with Gaussian features, of models that have them."""
    found = _at(model, dimension, seeds, "gaussian") if default_kind(model) == "srf" else None
    if isinstance(found, tuple):
        with suppress(GiantstepError):  # a metric that does not settle
            yield compared(f"{name} of Gaussian features", dimension, seeds, difference(*found, name), None)


def difference(simulated: Simulation, theory: Result, name: str) -> Difference:
    """Of one error, in units of the theory; a training error that rare samples make, of their share of the objective:
    finite systems have others of them.
    """
    value = float(getattr(theory, name)) if name not in simulated.metrics else _metric(theory, name)
    mean, error = float(simulated.mean(name).item()), float(simulated.standard_error(name).item())
    rare = _RARE * abs(theory.free_energy) / theory.model.fit.samples if name == "train_error" else 0.0
    size = abs(value) + rare or 1.0
    return Difference((mean - value) / size, error / size, simulated.seeds - 1)


def _metric(theory: Result, name: str) -> float:
    """One of the model's metrics. Raises NotConverged."""
    assert theory.model.metrics is not None
    (entry,) = (entry for entry in theory.model.metrics.entries if entry[0] == name)
    return metrics_of(theory, Metrics((entry,))).values[name]


def extrapolated(far: Difference, near: Difference) -> Difference:
    """To infinite dimension from d and d/2, where terms of order 1/d are left; freedom by Welch and Satterthwaite."""
    parts = np.array([2.0 * far.error, near.error])
    variance = float((parts**2).sum())
    freedom = variance**2 / float((parts**4 / np.array([far.freedom, near.freedom])).sum()) if variance else 1.0
    return Difference(2.0 * far.value - near.value, math.sqrt(variance), freedom)


def _label(name: str) -> str:
    return f"{name.replace('_', ' ')}: simulation"


def compared(name: str, dimension: int, seeds: int, far: Difference, near: Difference | None) -> Check:
    """The outcome for one error; ``near``: at half the dimension, where the difference at d is not chance."""
    found, how = far, f"d = {dimension}"
    if not far.covered and near is not None:
        found, how = extrapolated(far, near), f"d = {dimension // 2}, {dimension}, 1/d taken out"
    label = f"{_label(name)}, {how}"
    undecided = ""
    if found.covered and found.reach > _RESOLVED:
        needed = math.ceil(seeds * (found.reach / _RESOLVED) ** 2)
        undecided = f"needs about {needed} seeds to see an error of {100 * _RESOLVED:g} %"
    return Check(label, abs(found.value), found.reach, undecided, simulated=True)
