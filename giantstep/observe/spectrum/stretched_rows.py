"""The response M of rows that the step stretches, at complex ridge: by the equations of their bulk [THEORY 5].

What the samples of the step add, X, follows from T and V1_hat. It is continued from the nearest answer before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from giantstep.observe.spectrum.hats import Hats, gaussian_trace
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.added_samples import found_from_afar, found_near, missed, slope
from giantstep.system.bulk_system import stretched_arrays
from giantstep.system.loss_kernels import stretched_kernel
from giantstep.system.problem import Problem

Array = np.ndarray
_NODES = 96  # of the law of the residual
_KEPT = 16  # answers that the next one may begin at
_NEAR, _FAR, _GROWS = 10.0, 1e4, 1.5  # distances at which a link is looked at; a bounded one grows by less
_DIRECTIONS = 400
_RARE = 1e-8  # share of the samples whose eigenvalues are left out: residuals with Gaussian noise have no bound
_AT_NODES = ("sample", "along", "law_tr", "law_along", "law_te", "law_ee", "law_t", "law_e", "law_own")
_MATRICES = ("Q1", "V1", "Q1_hat")


@dataclass
class StretchedRows:
    """Rows whose covariances, one for each readout value, share no eigenvectors."""

    problem: Problem
    given: dict[str, Any] = field(init=False)
    answers: list[tuple[Array, Array]] = field(default_factory=list)  # (T and V1_hat, X), the last ones first
    _here: tuple[bytes, Array] | None = None
    _base: tuple[bytes, Array, Array] | None = None  # of ``near``: where, X, inverse of the slope of its equation

    def __post_init__(self) -> None:
        target, blocks = self.problem.model.target, len(self.problem.blocks)
        if not is_bounded(target):
            raise NotConverged(
                "the spectrum of the trained bulk has no edge: residuals of the step without a bound make a few "
                "eigenvalues of any size",
                'use a bounded link such as tanh(2*z) or sign, or step.bulk = "isotropic"',
            )
        silent = {*self.equations.UNKNOWNS, *self.equations.INPUTS} - {"T", "V1_hat", "average_zeta_hat"}
        self.given = {name: np.zeros((blocks,) * (1 + (name in _MATRICES))) for name in silent}
        arrays = stretched_arrays(self.problem, _NODES)
        self.given |= _without_tail(arrays) if target.noise > 0.0 else arrays
        numbers = {"beta": 1.0, "ridge": 0.0, "inverse_dimension": 0.0, "m": np.zeros(blocks)}
        self.given |= {"identity": np.eye(blocks), "fraction": self.problem.fraction, **numbers}

    @property
    def equations(self) -> ModuleType:
        """The generated equations of the bulk."""
        return stretched_kernel(self.problem.model.target.indices)

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``; nan where what the samples add is not found."""
        asked = weight.encode() + hats.rows.tobytes()
        if self._here is None or self._here[0] != asked:
            self._here = asked, self._response(hats, weight)
        return self._here[1]

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``: X by one step with the slope at ``hats``, whose error is one of second order."""
        asked = hats.rows.tobytes()
        if self._base is None or self._base[0] != asked:
            state = self._state(hats)
            if not self._added(hats.rows, state):
                return self._nothing
            self._base = asked, state["X"], np.linalg.inv(slope(self.equations, state))
        if there.rows.tobytes() == asked:  # the ridge alone is another
            return self.response(hats)
        _, x, inverse = self._base
        state = self._state(there) | {"X": x}
        state["X"] = x - (inverse @ missed(self.equations, state).ravel()).reshape(x.shape)
        self.equations.response(state)
        return np.asarray(state["M"])

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """See ``Rows``."""
        return gaussian_trace(hats, response, share)

    def _response(self, hats: Hats, weight: str) -> Array:
        state = self._state(hats)
        if not self._added(hats.rows, state):
            return self._nothing
        return np.asarray(state["M"] if weight == "law_tr" else self._along_spike(state))

    def _state(self, hats: Hats) -> dict[str, Any]:
        return {**self.given, "T": np.asarray(hats.t, complex), "V1_hat": np.asarray(hats.v1, complex)}

    @property
    def _nothing(self) -> Array:
        return np.full_like(self.given["identity"], np.nan, dtype=complex)

    def _added(self, place: Array, state: dict[str, Any]) -> bool:
        """X, from that of the nearest answer, or from afar."""
        near = min(self.answers, key=lambda answer: float(np.abs(answer[0] - place).max()), default=None)
        state["X"] = self.given["base"].astype(complex) if near is None else near[1]
        with np.errstate(all="ignore"):
            try:
                found = found_near(self.equations, state) or found_from_afar(self.equations, state)
            except np.linalg.LinAlgError:
                return False
        if not found:
            return False
        self.answers.insert(0, (place, state["X"]))
        del self.answers[_KEPT:]
        return True

    def _along_spike(self, state: dict[str, Any]) -> Array:
        """zeta by its equation, for a source along the spike in one block after the other."""
        state["adjoint_X"] = np.zeros_like(state["X"])
        columns = []
        for source in np.eye(len(self.given["identity"])):
            state["average_zeta_hat"] = source
            for evaluate in (self.equations.chain, self.equations.adjoint, self.equations.residual):
                evaluate(state)
            columns.append(-state["residual_zeta"])
        return np.stack(columns, axis=1)


def _without_tail(arrays: dict[str, Array]) -> dict[str, Array]:
    """The arrays of a bulk without residuals that hardly occur: they make next to no eigenvalues, far out."""
    counts = np.abs(arrays["law_tr"]) > _RARE * np.abs(arrays["law_tr"]).sum()
    return {name: values[..., counts] if name in _AT_NODES else values for name, values in arrays.items()}


def is_bounded(target: Target) -> bool:
    """Whether the link is no larger far out than nearby, in random directions."""
    draw = np.random.default_rng(0).standard_normal((target.indices, _DIRECTIONS))
    along = draw / np.sqrt((draw**2).sum(axis=0))
    nearby = np.geomspace(0.1 * _NEAR, _NEAR, 20)
    values = link_values(target.link)
    near, far = (
        float(np.max(np.abs(values(np.multiply.outer(along, at).reshape(target.indices, -1)))))
        for at in (nearby, np.array([_FAR]))
    )
    return far <= _GROWS * near
