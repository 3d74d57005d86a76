"""Both laws of the bulk against the simulated network, as z-scores at the simulated dimension."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import ndtri, stdtr

from giantstep.observe.simulate import Simulation, checked_count, simulate
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

LAWS = ("isotropic", "trained")
ERRORS = ("test_error", "train_error")


@dataclass(frozen=True)
class Score:
    """A simulated mean against a prediction: ``z`` in standard errors, ``score`` the normal deviate that is as rare as

    z is in Student's law of the number of seeds.
    """

    predicted: float
    z: float
    score: float


@dataclass(frozen=True)
class Comparison:
    """The simulated network and, by name of the law, the solution at its dimension, or why there is none."""

    simulation: Simulation
    results: Mapping[str, Result]
    refused: Mapping[str, str]
    seconds: float

    @property
    def errors(self) -> tuple[str, ...]:
        """Names of the errors that are compared."""
        return ERRORS

    def score(self, law: str, error: str = "test_error") -> Score:
        """Of a law that was solved. Raises KeyError."""
        simulation, predicted = self.simulation, float(getattr(self.results[law], error))
        spread = float(simulation.standard_error(error).item())
        z = (float(simulation.mean(error).item()) - predicted) / spread
        return Score(predicted, z, normal_score(z, simulation.seeds))

    def to_dict(self) -> dict[str, Any]:
        """The object of ``compare --json``."""
        laws = {
            law: {
                error: {"predicted": found.predicted, "z": found.z, "score": found.score}
                for error in ERRORS
                for found in (self.score(law, error),)
            }
            for law in self.results
        }
        return {
            "simulation": self.simulation.to_dict(), "laws": laws, "refused": dict(self.refused),
            "dimension": self.simulation.dimension, "seeds": self.simulation.seeds, "seconds": self.seconds,
        }  # fmt: skip

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)


def compare(
    model: Model, *, dimension: int, seeds: int, seed: int = 0,
    progress: Callable[[int, int, str], object] | None = None,
) -> Comparison:  # fmt: skip
    """The network after its gradient step, simulated ``seeds`` times, against the theory of both laws of the bulk.

    The theory is solved at the simulated dimension and ratios, with its term of finite size; others of order 1/d are
    not in it. A law that a model does not have is told in ``refused``. Raises BadInput for a model without a step and
    for fewer than two seeds, and NotConverged.
    """
    begun = time.perf_counter()
    if model.step is None:
        raise BadInput(
            "compare needs a gradient step, and the model has none", "give [step], or use simulate and solve"
        )
    checked_count("seeds", seeds, 2)
    simulation = simulate(model, dimension=dimension, seeds=seeds, what="network", seed=seed, progress=progress)
    assert simulation.model.step is not None
    results, refused = {}, {}
    for law in LAWS:
        try:
            step = replace(simulation.model.step, bulk=law, matrix=None)
            results[law] = solve(replace(simulation.model, step=step), dimension=dimension)
        except BadInput as error:
            if law == "isotropic":
                raise
            refused[law] = error.message
        except GiantstepError as error:
            refused[law] = error.message
    return Comparison(simulation, results, refused, time.perf_counter() - begun)


def normal_score(z: float, seeds: int) -> float:
    """The normal deviate with the tail of Student's law of ``seeds - 1`` degrees of freedom at z."""
    tail = float(stdtr(seeds - 1, -abs(z)))
    return math.copysign(-float(ndtri(max(tail, 1e-300))), z)
