"""The laws of the bulk against the simulated model, as z-scores at the simulated dimension."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from giantstep.observe.few_seeds import normal_score
from giantstep.observe.simulate import Simulation, simulate
from giantstep.simulate.system import SystemKind
from giantstep.spec.bars import GivenMessages
from giantstep.spec.counts import checked_seeds
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.given import hands_over
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row
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


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Pictured):
    """The simulated network and, by name of the law, the solution at its dimension, or why there is none."""

    simulation: Simulation
    results: Mapping[str, Result]
    refused: Mapping[str, str]
    seconds: float = field(compare=False)

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

    def summary(self) -> list[Row]:
        """The simulated test error, and each law's, with its distance in standard errors."""
        simulation = self.simulation
        mean, error = simulation.mean().item(), simulation.standard_error().item()
        rows = [("simulated", f"{mean:.6g} +- {error:.2g}, d = {simulation.dimension}, {simulation.seeds} seeds")]
        for law in self.results:
            found = self.score(law)
            rows.append((f"{law} law", f"{found.predicted:.6g}, z = {found.z:+.2f}"))
        rows += [(f"{law} law", f"refused: {reason}") for law, reason in self.refused.items()]
        return [*rows, ("model", outline(simulation.model))]

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
            "simulation": self.simulation.to_dict(),
            "laws": laws,
            "refused": dict(self.refused),
            "dimension": self.simulation.dimension,
            "seeds": self.simulation.seeds,
            "seconds": self.seconds,
        }


@hands_over
def compare(
    model: Model,
    *,
    dimension: int,
    seeds: int,
    seed: int = 0,
    progress: GivenMessages = None,
) -> Comparison:
    """The network, simulated ``seeds`` times, against the theory of both laws of the bulk; of [spike] the spiked model.

    The theory is solved at the simulated dimension and ratios, with its term of finite size; others of order 1/d are
    not in it. A law that a model does not have is told in ``refused``: without a step, the trained one. Raises BadInput
    for fewer than two seeds and for a given bulk, and NotConverged. progress: as of ``simulate``.
    """
    if model.bulk == "matrix":
        raise BadInput(
            "compare is of the laws that a step leaves its bulk with, and step.bulk = 'matrix' gives the bulk itself",
            "solve and simulate take the given bulk; compare takes the same step with step.bulk = trained",
        )
    begun = time.perf_counter()
    checked_seeds(seeds, 2)
    what: SystemKind = "network" if model.spike is None else "srf"
    simulation = simulate(model, dimension=dimension, seeds=seeds, what=what, seed=seed, progress=progress)
    results, refused = {}, {}
    for law in LAWS:
        try:
            results[law] = solve(_with_bulk(simulation.model, law), dimension=dimension)
        except BadInput as error:
            if law == "isotropic":
                raise
            refused[law] = error.message
        except GiantstepError as error:
            refused[law] = error.message
    return Comparison(simulation, results, refused, time.perf_counter() - begun)


def _with_bulk(model: Model, law: str) -> Model:
    """The model with a law of the bulk. Raises BadInput where it has no such law."""
    if model.step is not None:
        return replace(model, step=replace(model.step, bulk=law, matrix=None))
    if law == "trained":
        raise BadInput("the trained bulk is what a gradient step leaves, and the model takes none")
    return model
