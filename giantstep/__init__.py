"""giantstep: derive, solve and check the theory of feature learning after one giant gradient step."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from giantstep.bounds import Bounds, bounds
    from giantstep.compare import Comparison, compare
    from giantstep.curve import curve
    from giantstep.dataset import Dataset
    from giantstep.derivation import derive
    from giantstep.errors import BadInput, GiantstepError, NotConverged
    from giantstep.fit_loss import FitLoss
    from giantstep.gains import Gains, gains
    from giantstep.generation import generate
    from giantstep.learnability.learnable import Learnability, learnable
    from giantstep.learned import Learned, learned
    from giantstep.model import Fit, Model, Network, Readout, Spike, Step, Target
    from giantstep.plot import plot
    from giantstep.result import Result
    from giantstep.simulation import simulate
    from giantstep.solve import solve
    from giantstep.spectrum import Spectrum, spectrum
    from giantstep.tuning.gradient import Gradient, gradient
    from giantstep.tuning.tune import Tuned, tune
    from giantstep.verify import verify

# name -> module; loaded at first use, so that solving imports neither SymPy nor matplotlib
_HOME = {
    "BadInput": "errors", "Dataset": "dataset", "Fit": "model", "FitLoss": "fit_loss", "GiantstepError": "errors",
    "Model": "model", "Network": "model", "NotConverged": "errors", "Readout": "model", "Result": "result",
    "Spike": "model", "Step": "model", "Target": "model", "curve": "curve", "derive": "derivation",
    "generate": "generation", "plot": "plot", "simulate": "simulation", "solve": "solve", "verify": "verify",
    "Learnability": "learnability.learnable", "learnable": "learnability.learnable",
    "Bounds": "bounds", "bounds": "bounds", "Learned": "learned", "learned": "learned",
    "Comparison": "compare", "compare": "compare",
    "Spectrum": "spectrum", "spectrum": "spectrum",
    "Gradient": "tuning.gradient", "gradient": "tuning.gradient", "Tuned": "tuning.tune", "tune": "tuning.tune",
    "Gains": "gains", "gains": "gains",
}  # fmt: skip

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'giantstep' has no attribute {name!r}")
    value = getattr(import_module(f"giantstep.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _FrontDoor(ModuleType):
    """Keeps `giantstep.solve` the verb: loading the submodule of the same name does not hide it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
