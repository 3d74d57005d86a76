"""giantstep: derive, solve and check the theory of feature learning after one giant gradient step."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from giantstep.draw.plot import plot
    from giantstep.explore.serve import explore
    from giantstep.law.derivation import derive
    from giantstep.observe.bounds import Bounds, bounds
    from giantstep.observe.compare import Comparison, compare
    from giantstep.observe.decompose import Decomposition, decompose
    from giantstep.observe.deviation.deviation import Deviation, deviation
    from giantstep.observe.gains import Gains, gains
    from giantstep.observe.gradient.gradient import Gradient, gradient
    from giantstep.observe.learnable.learnable import Learnability, learnable
    from giantstep.observe.learned import Learned, learned
    from giantstep.observe.metrics import Measured, metrics
    from giantstep.observe.optimal.optimal import Optimal, optimal
    from giantstep.observe.rates import Rates, rates
    from giantstep.observe.simulate import simulate
    from giantstep.observe.spectrum.spectrum import Spectrum, spectrum
    from giantstep.observe.steps import Steps, StepsPoint, steps
    from giantstep.observe.tune import Tuned, tune
    from giantstep.report.report import report
    from giantstep.spec.common_model import model
    from giantstep.spec.errors import BadInput, GiantstepError, NotConverged
    from giantstep.spec.fit_loss import FitLoss
    from giantstep.spec.fit_penalty import FitPenalty
    from giantstep.spec.generate import generate
    from giantstep.spec.model import Fit, Inputs, Model, Network, Readout, Spike, Step, Target
    from giantstep.spec.schema import activations, losses, penalties, schema
    from giantstep.spec.user_cache import clear_cache
    from giantstep.sweep.curve import curve
    from giantstep.sweep.dataset import Dataset
    from giantstep.sweep.decompositions import Decompositions, decompose_along
    from giantstep.sweep.many import solve_many
    from giantstep.sweep.map import Map
    from giantstep.sweep.map import map as map
    from giantstep.sweep.stored import solve_into
    from giantstep.system.result import Result
    from giantstep.system.solve import solve
    from giantstep.system.warm_up import warm_up
    from giantstep.verify.run import verify

# name -> module; loaded at first use, so that solving imports neither SymPy nor matplotlib
_HOME = {
    "BadInput": "spec.errors",
    "GiantstepError": "spec.errors",
    "NotConverged": "spec.errors",
    "Fit": "spec.model",
    "Inputs": "spec.model",
    "Model": "spec.model",
    "Network": "spec.model",
    "Readout": "spec.model",
    "Spike": "spec.model",
    "Step": "spec.model",
    "Target": "spec.model",
    "FitLoss": "spec.fit_loss",
    "FitPenalty": "spec.fit_penalty",
    "model": "spec.common_model",
    "generate": "spec.generate",
    "activations": "spec.schema",
    "losses": "spec.schema",
    "penalties": "spec.schema",
    "schema": "spec.schema",
    "clear_cache": "spec.user_cache",
    "warm_up": "system.warm_up",
    "derive": "law.derivation",
    "Result": "system.result",
    "solve": "system.solve",
    "simulate": "observe.simulate",
    "Bounds": "observe.bounds",
    "bounds": "observe.bounds",
    "Comparison": "observe.compare",
    "compare": "observe.compare",
    "Decomposition": "observe.decompose",
    "decompose": "observe.decompose",
    "Deviation": "observe.deviation.deviation",
    "deviation": "observe.deviation.deviation",
    "Gains": "observe.gains",
    "gains": "observe.gains",
    "Gradient": "observe.gradient.gradient",
    "gradient": "observe.gradient.gradient",
    "Learnability": "observe.learnable.learnable",
    "learnable": "observe.learnable.learnable",
    "Learned": "observe.learned",
    "learned": "observe.learned",
    "Measured": "observe.metrics",
    "metrics": "observe.metrics",
    "Optimal": "observe.optimal.optimal",
    "optimal": "observe.optimal.optimal",
    "Rates": "observe.rates",
    "rates": "observe.rates",
    "Spectrum": "observe.spectrum.spectrum",
    "spectrum": "observe.spectrum.spectrum",
    "Steps": "observe.steps",
    "StepsPoint": "observe.steps",
    "steps": "observe.steps",
    "Tuned": "observe.tune",
    "tune": "observe.tune",
    "Dataset": "sweep.dataset",
    "curve": "sweep.curve",
    "Decompositions": "sweep.decompositions",
    "decompose_along": "sweep.decompositions",
    "solve_into": "sweep.stored",
    "solve_many": "sweep.many",
    "explore": "explore.serve",
    "Map": "sweep.map",
    "map": "sweep.map",
    "verify": "verify.run",
    "plot": "draw.plot",
    "report": "report.report",
}

# written out, so that type checkers export them; without ``map``, which `from giantstep import *` would put in the
# place of Python's own
__all__ = [
    "BadInput",
    "Bounds",
    "Comparison",
    "Dataset",
    "Decomposition",
    "Decompositions",
    "Deviation",
    "Fit",
    "FitLoss",
    "FitPenalty",
    "Gains",
    "GiantstepError",
    "Gradient",
    "Inputs",
    "Learnability",
    "Learned",
    "Map",
    "Measured",
    "Model",
    "Network",
    "NotConverged",
    "Optimal",
    "Rates",
    "Readout",
    "Result",
    "Spectrum",
    "Spike",
    "Step",
    "Steps",
    "StepsPoint",
    "Target",
    "Tuned",
    "__version__",
    "activations",
    "bounds",
    "clear_cache",
    "compare",
    "curve",
    "decompose",
    "decompose_along",
    "derive",
    "deviation",
    "explore",
    "gains",
    "generate",
    "gradient",
    "learnable",
    "learned",
    "losses",
    "penalties",
    "metrics",
    "model",
    "optimal",
    "plot",
    "rates",
    "report",
    "schema",
    "simulate",
    "solve",
    "solve_into",
    "solve_many",
    "spectrum",
    "steps",
    "tune",
    "verify",
    "warm_up",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'giantstep' has no attribute {name!r}")
    value = getattr(import_module(f"giantstep.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])


class _FrontDoor(ModuleType):
    """Keeps `giantstep.simulate` the verb: loading the package of the same name does not hide it.

    Copied by name, as modules are: functions that use it go to other processes (cloudpickle, joblib, dask).
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
