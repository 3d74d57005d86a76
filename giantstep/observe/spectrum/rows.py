"""The response M of rows that are not isotropic, at complex ridge: what the spectrum needs of a bulk [THEORY 5, 10].

``M = T Sigma (1 + V1_hat T Sigma)^-1`` is averaged over the trace, and along the spike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

import numpy as np

from derive.directions import directions_of, weight_name
from generated.runtime.evaluation import Numbers, Stage
from giantstep.law.kind import bulk_kind
from giantstep.observe.spectrum.hats import Hats
from giantstep.observe.spectrum.stretched_rows import StretchedRows
from giantstep.system.bulk_system import bulk_arrays, bulk_equations
from giantstep.system.problem import Parameters, Problem

Array = np.ndarray
_HATS = ("V1_hat", "V2_hat")
_MATRICES = ("Q1", "V1")


class Rows(Protocol):
    """The rows of a bulk."""

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """M [K, K] averaged over a weight: of the trace, or law_vv between two directions of the spike."""

    def near(self, hats: Hats, there: Hats) -> Array:
        """M over the trace at a place next to another one, for differences: even orders of errors cancel in them."""

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """T [K] that goes with the response M over the trace; share: neurons of each block per input dimension."""


def rows_of(problem: Problem) -> Rows | None:
    """The rows of a problem's bulk, None where they are isotropic. Raises BadInput, NotConverged."""
    kind = bulk_kind(problem.model)
    if kind in ("isotropic", "norms"):
        return None
    return StretchedRows(problem) if kind == "stretched" else KnownRows(problem)


@dataclass
class KnownRows:
    """Rows whose covariances, or whose products, are known: by the equations of their bulk, without averages."""

    problem: Problem
    numbers: Numbers = field(init=False)
    stages: dict[str, Stage] = field(init=False)  # by the unknown that they lead to the equation of
    spikes: dict[str, tuple[str, str]] = field(init=False)  # weight -> the overlaps with two directions of the spike
    _here: bytes = b""

    def __post_init__(self) -> None:
        problem, blocks = self.problem, len(self.problem.blocks)
        equations, given = bulk_equations(problem), bulk_arrays(problem, 0)
        of, rank = equations.tangents.contractions, problem.rank
        shapes = {name: (blocks,) * (1 + (name in _MATRICES)) for name in equations.UNKNOWNS}
        shapes |= {name: (1,) for name in of.families if name not in (*shapes, *given)}  # no kappa here
        shapes |= {name: values.shape for name, values in given.items()}
        node = np.zeros((len(equations.COLUMNS) + len(of.features) * blocks, 1))
        parameters = Parameters(0.0, problem.parameters.width, 0.0, 0.0, 0.0).array()
        self.numbers = Numbers(of, node, problem.fraction, parameters, shapes, kind=complex)
        self.numbers.update(given)
        hats = tuple(name for name in of.followed if name.endswith("_hat") or name[:-1].endswith("_hat_"))
        response = Stage(of, ("residual_V1",), given=_HATS)
        names = directions_of("zeta", rank)
        self.stages = {"V1": response} | {
            name: Stage(of, (f"residual_{name}",), after=(response,), given=hats) for name in ("T", *names)
        }
        self.spikes = {
            weight_name(i, j, rank, 1): (names[i], names[j]) for i, j in product(range(rank), repeat=2) if i <= j
        }

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``."""
        self._at(hats)
        if weight in self.spikes:
            return self._along(*self.spikes[weight])
        return np.asarray(-self.problem.parameters.width * self.numbers["residual_V1"])

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``."""
        return self.response(there)

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """See ``Rows``; of given rows T is explicit."""
        self._at(hats)
        found = self._side("T")
        self.numbers["T"] = hats.t
        return found

    def _at(self, hats: Hats) -> None:
        """What follows from the conjugates, where they are not those of the last call."""
        asked = hats.rows.tobytes() + np.asarray(hats.shift).tobytes()
        if asked != self._here:
            self.numbers.update(T=hats.t, V1_hat=hats.v1, V2_hat=hats.shift)
            with np.errstate(all="ignore"):
                self.numbers.run(self.stages["V1"])
            self._here = asked

    def _side(self, name: str) -> Array:
        """What an unknown equals: what its residual leaves of zero."""
        self.numbers[name] = 0.0
        self.numbers.run(self.stages[name])
        return np.asarray(-self.numbers[f"residual_{name}"])

    def _along(self, first: str, second: str) -> Array:
        """An overlap with the spike by its equation, for a source along it in one block after the other."""
        hat, columns = first.replace("zeta", "zeta_hat"), []
        for source in np.eye(len(self.problem.blocks)):
            self.numbers[hat] = source
            columns.append(self._side(second))
        self.numbers[hat] = 0.0
        return np.stack(columns, axis=1)
