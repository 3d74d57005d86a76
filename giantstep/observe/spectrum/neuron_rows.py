"""The response M of given rows of several blocks, at complex ridge: neuron by neuron [THEORY 10]."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from generated.runtime.evaluation import Numbers, Stage
from giantstep.observe.spectrum.hats import Hats
from giantstep.system.bulk_system import bulk_arrays
from giantstep.system.problem import Parameters, Problem

Array = np.ndarray
_HATS = ("V1_hat", "V2_hat")
_MATRICES = ("Q1", "V1")


@dataclass
class NeuronRows:
    """Given rows of several blocks, which share no singular vectors."""

    problem: Problem
    numbers: Numbers = field(init=False)
    stages: dict[str, Stage] = field(init=False)
    _here: bytes = b""

    def __post_init__(self) -> None:
        equations, given = bulk_arrays(self.problem)
        of, blocks = equations.tangents.contractions, len(self.problem.blocks)
        shapes = {name: (blocks,) * (1 + (name in _MATRICES)) for name in equations.UNKNOWNS}
        shapes |= {name: (1,) for name in of.families if name not in (*shapes, *given)}  # no kappa here
        shapes |= {name: values.shape for name, values in given.items()}
        node = np.zeros((len(equations.COLUMNS) + len(of.features) * blocks, 1))
        parameters = Parameters(0.0, self.problem.parameters.width, 0.0, 0.0, 0.0).array()
        self.numbers = Numbers(of, node, self.problem.fraction, parameters, shapes, kind=complex)
        self.numbers.update(given)
        resolvent = Stage(of, ("G",), given=_HATS)
        hats = tuple(name for name in of.followed if name.endswith("_hat") or name[:-1].endswith("_hat_"))
        results = {"resolvent": (), "trace": ("residual_T",), "mean": ("residual_V1",), "spike": ("residual_zeta",)}
        self.stages = {
            name: Stage(of, found, after=(resolvent,), given=hats) if found else resolvent
            for name, found in results.items()
        }

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``."""
        self._at(hats)
        return self._along_spike() if weight == "law_vv" else self.problem.parameters.width * self._side("V1", "mean")

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``."""
        return self.response(there)

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """The resolvent itself: of given rows T is explicit."""
        self._at(hats)
        return self._side("T", "trace")

    def _at(self, hats: Hats) -> None:
        """The resolvent, where it is not that of the last call."""
        asked = hats.rows.tobytes() + np.asarray(hats.shift).tobytes()
        if asked != self._here:
            self.numbers.update(V1_hat=hats.v1, V2_hat=hats.shift)
            self.numbers.run(self.stages["resolvent"])
            self._here = asked

    def _side(self, name: str, stage: str) -> Array:
        """What an unknown equals: what its residual leaves of zero."""
        self.numbers[name] = 0.0
        self.numbers.run(self.stages[stage])
        return np.asarray(-self.numbers[f"residual_{name}"])

    def _along_spike(self) -> Array:
        """zeta by its equation, for a source along the spike in one block after the other."""
        columns = []
        for source in np.eye(len(self.problem.blocks)):
            self.numbers["zeta_hat"] = source
            columns.append(self._side("zeta", "spike"))
        return np.stack(columns, axis=1)
