"""What a report is made of: every part is found, or refused with the reason that the model gives."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeVar

import numpy as np

from giantstep import __version__
from giantstep.law.derivation import ModelDerivation, derive
from giantstep.observe.learned import Learned, profiles
from giantstep.observe.spectrum.spectrum import Spectrum, spectrum
from giantstep.report.bibliography import keys_in
from giantstep.report.function_names import NamedFunction, functions_of, with_functions_named
from giantstep.spec.bars import Progress
from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.sweep.curve import curve
from giantstep.sweep.dataset import Dataset
from giantstep.sweep.grid import Sweep
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.verify.check import Check
from giantstep.verify.run import exact_checks
from giantstep.verify.simulation import DIMENSION, SEEDS, simulation_checks

Found = TypeVar("Found")

POINTS = 41
_DOWN, _UP = 20.0, 5.0  # the curve goes from samples/20 to 5 samples
_REACH, _PLACES = 3.0, 121


@dataclass(frozen=True)
class Refused:
    """A part that the model does not have: why, in words, and the exit code of the error that said so."""

    reason: str
    exit_code: int


@dataclass(frozen=True)
class Settings:
    """dimension: of the finite-size theory, None for the limit; seeds: of the simulation, 0 for none; points: of the
    learning curve.
    """

    dimension: int | None = None
    seeds: int = 0
    points: int = POINTS

    @property
    def simulated_dimension(self) -> int:
        """The dimension that is simulated."""
        return DIMENSION if self.dimension is None else self.dimension


@dataclass(frozen=True)
class Contents:
    """Everything that a document shows of a model, whatever its format.

    functions: activation and link, where the derivation has them; learned: one for each index of the target; checks:
    those that were taken; unchecked: why there are no more, empty where all were.
    """

    model: Model
    settings: Settings
    functions: tuple[NamedFunction, ...]
    derivation: ModelDerivation | Refused
    result: Result | Refused
    curve: Dataset | Refused
    spectrum: Spectrum | Refused
    learned: tuple[Learned, ...] | Refused
    checks: tuple[Check, ...]
    unchecked: str
    versions: Mapping[str, str]

    @property
    def refused(self) -> dict[str, str]:
        """Part -> reason, of the parts that are not there."""
        named = {
            "derivation": self.derivation,
            "solution": self.result,
            "learning curve": self.curve,
            "spectrum": self.spectrum,
            "learned function": self.learned,
        }
        found = {name: part.reason for name, part in named.items() if isinstance(part, Refused)}
        return found | ({"evidence": self.unchecked} if self.unchecked else {})

    @property
    def works(self) -> tuple[str, ...]:
        """Keys of the works that the derivation cites, with the package and its paper."""
        parts = () if isinstance(self.derivation, Refused) else self.derivation.parts
        return keys_in(step.source for part in parts for step in part.steps)

    @property
    def exit_code(self) -> int:
        """0; 1 where a check does not hold; that of the error where there is no solution."""
        return self.result.exit_code if isinstance(self.result, Refused) else int(bool(self.failed))

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that do not hold."""
        return tuple(check.name for check in self.checks if check.outcome == "FAILED")


def contents(model: Model, settings: Settings, progress: Progress) -> Contents:
    """Derive, solve, sweep and check a model; ``progress`` is told what is being done."""
    size = settings.dimension
    progress("derivation", 0, 1)
    derivation = _tried(lambda: derive(model))
    functions: tuple[NamedFunction, ...] = ()
    if isinstance(derivation, ModelDerivation):
        functions = functions_of(derivation.parts)
        derivation = ModelDerivation(model, with_functions_named(derivation.parts))
    progress("solution", 0, 1)
    result = _tried(lambda: solve(model, dimension=size))
    swept = _tried(lambda: _curve(model, settings, progress))
    progress("spectrum", 0, 1)
    eigenvalues = _tried(lambda: spectrum(model, dimension=size))
    progress("learned function", 0, 1)
    along = result if isinstance(result, Refused) else _tried(lambda: _learned(result))
    checks, unchecked = _checked(model, settings, progress)
    return Contents(
        model, settings, functions, derivation, result, swept, eigenvalues, along, checks, unchecked, _versions()
    )


def _tried(find: Callable[[], Found]) -> Found | Refused:
    try:
        return find()
    except GiantstepError as error:
        return Refused(_sentence(error), error.exit_code)


def _sentence(error: GiantstepError) -> str:
    return error.message + (f" ({error.hint})" if error.hint else "")


def _curve(model: Model, settings: Settings, progress: Progress) -> Dataset:
    here = model.fit.samples
    values = np.append(here * np.geomspace(1.0 / _DOWN, _UP, settings.points), here)
    sweep = Sweep("fit.samples", tuple(np.unique(values).tolist()), log=True)
    simulate = settings.seeds > 0
    return curve(
        model,
        sweep,
        simulate=simulate,
        dimension=settings.simulated_dimension if simulate else settings.dimension,
        seeds=max(settings.seeds, 1),
        progress=progress,
    )


def _learned(result: Result) -> tuple[Learned, ...]:
    at = np.linspace(-_REACH, _REACH, _PLACES)
    indices = range(1, result.model.target.indices + 1)
    return tuple(Learned(result, index, *profiles(result, at, index), None) for index in indices)


def _checked(model: Model, settings: Settings, progress: Progress) -> tuple[tuple[Check, ...], str]:
    """The checks up to the first one that cannot be taken, and why it cannot."""
    found: list[Check] = []
    try:
        for check in _checks(model, settings):
            found.append(check)
            progress("checks", len(found), 0)
    except GiantstepError as error:
        return tuple(found), _sentence(error)
    return tuple(found), ""


def _checks(model: Model, settings: Settings) -> Iterable[Check]:
    yield from exact_checks(model)
    if settings.seeds > 0:
        yield from simulation_checks(model, settings.simulated_dimension, settings.seeds)


def _versions() -> dict[str, str]:
    return {
        "giantstep": __version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "sympy", "numba", "matplotlib")},
    }


__all__ = ["DIMENSION", "POINTS", "SEEDS", "Contents", "Refused", "Settings", "contents"]
