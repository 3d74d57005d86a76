"""The response M of rows that the step stretches, at complex ridge: by the equations of their bulk [THEORY 5].

What the samples of the step add, X, follows from T and V1_hat. It is continued from the nearest answer before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

import numpy as np

from derive.spectrum import is_along_spectrum
from generated.runtime.evaluation import Numbers, Stage
from giantstep.observe.spectrum.hats import Hats, gaussian_trace
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.added_samples import ADDED, AddedSamples, Stages, added_shape
from giantstep.system.bulk_system import bulk_arrays, bulk_equations
from giantstep.system.problem import Parameters, Problem

Array = np.ndarray
_NODES = 96  # of the law of the residual
_KEPT = 16  # answers that the next one may begin at
_NEAR, _FAR, _GROWS = 10.0, 1e4, 1.5  # distances at which a link is looked at; a bounded one grows by less
_DIRECTIONS = 400
_RARE = 1e-8  # share of the samples whose eigenvalues are left out: residuals with Gaussian noise have no bound
_MATRICES = ("Q1", "V1")


@dataclass
class StretchedRows:
    """Rows whose covariances, one for each readout value, share no eigenvectors."""

    problem: Problem
    numbers: Numbers = field(init=False)
    added: AddedSamples = field(init=False)
    trace_of: Stage = field(init=False)  # the response
    answers: list[tuple[Array, Array]] = field(default_factory=list)  # (T and V1_hat, X), the last ones first
    _here: tuple[bytes, Array] | None = None
    _base: tuple[bytes, Array, Array] | None = None  # of ``near``: where, X, inverse of the slope of its equation

    def __post_init__(self) -> None:
        target, blocks = self.problem.model.target, len(self.problem.blocks)
        if self.problem.model.earlier_steps:
            raise BadInput(
                "the spectrum of the trained bulk is known after one step: near the real axis the samples of later "
                "steps need more nodes than are affordable",
                'use step.bulk = "isotropic", or one step',
            )
        if not is_bounded(target):
            raise NotConverged(
                "the spectrum of the trained bulk has no edge: residuals of the step without a bound make a few "
                "eigenvalues of any size",
                'use labels that are bounded, as of the link tanh(2*z) or sign, or step.bulk = "isotropic"',
            )
        equations, given = bulk_equations(self.problem), bulk_arrays(self.problem, _NODES)
        given = _without_tail(given) if target.noise > 0.0 else given
        stages, self.trace_of = stages_of(equations)
        contractions = equations.tangents.contractions
        shapes = {name: (blocks,) * (1 + (name in _MATRICES)) for name in equations.UNKNOWNS}
        shapes |= dict.fromkeys(equations.INNER, added_shape(given))
        shapes |= {name: (1,) for name in contractions.families if name not in (*shapes, *given)}  # no kappa here
        shapes |= {name: values.shape for name, values in given.items()}
        node = np.zeros((len(equations.COLUMNS) + len(contractions.features) * blocks, 1))
        parameters = Parameters(0.0, 1.0, 0.0, 0.0, 0.0).array()
        self.numbers = Numbers(contractions, node, self.problem.fraction, parameters, shapes, kind=complex)
        self.numbers.update(given)
        self.added = AddedSamples(stages, self.numbers)

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``; nan where what the samples add is not found."""
        asked = weight.encode() + hats.rows.tobytes()
        if self._here is None or self._here[0] != asked:
            self._here = asked, self._response(hats, weight)
        return self._here[1]

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``: X by one step with the slope at ``hats``, whose error is one of second order."""
        asked, numbers = hats.rows.tobytes(), self.numbers
        if self._base is None or self._base[0] != asked:
            if not self._added(hats):
                return self._nothing
            self._base = asked, numbers[ADDED].copy(), self.added.slope()
        if there.rows.tobytes() == asked:  # the ridge alone is another
            return self.response(hats)
        _, x, inverse = self._base
        self._go(there, x)
        numbers[ADDED] = x - (inverse @ self.added.missed().ravel()).reshape(x.shape)
        self.added.missed()
        return self._mean

    @property
    def _mean(self) -> Array:
        """The response by the weight of the trace."""
        self.numbers.run(self.trace_of)
        return self.numbers["M"].copy()  # type: ignore[no-any-return]

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """See ``Rows``."""
        return gaussian_trace(hats, response, share)

    def _response(self, hats: Hats, weight: str) -> Array:
        if not self._added(hats):
            return self._nothing
        return self._mean if weight == "law_tr" else self._along_spike()

    def _go(self, hats: Hats, x: Array) -> None:
        """Set what is given, and X."""
        self.numbers.update({"T": hats.t, "V1_hat": hats.v1, ADDED: x})

    @property
    def _nothing(self) -> Array:
        return np.full((len(self.problem.blocks),) * 2, np.nan, dtype=complex)

    def _added(self, hats: Hats) -> bool:
        """X, from that of the nearest answer, or from afar."""
        place = hats.rows
        near = min(self.answers, key=lambda answer: float(np.abs(answer[0] - place).max()), default=None)
        self._go(hats, np.zeros_like(self.numbers[ADDED]) if near is None else near[1])
        with np.errstate(all="ignore"):
            if not self.added.found():
                return False
        self.answers.insert(0, (place, self.numbers[ADDED].copy()))
        del self.answers[_KEPT:]
        return True

    def _along_spike(self) -> Array:
        """zeta by its equation, for a source along the spike in one block after the other."""
        columns = []
        for source in np.eye(len(self.problem.blocks)):
            self.numbers["zeta_hat"] = source
            self.added.follow()
            columns.append(-self.numbers["residual_zeta"])
        return np.stack(columns, axis=1)


@lru_cache(maxsize=16)
def stages_of(equations: ModuleType) -> tuple[Stages, Stage]:
    """(stages to the overlap with the spike where all conjugates are given, that to the response)."""
    followed = equations.tangents.contractions.followed
    hats = tuple(name for name in followed if name.endswith("_hat") or name[:-1].endswith("_hat_"))
    stages = Stages.to(equations, ("residual_zeta",), given=hats)
    after = (stages.resolvent, stages.slope)
    return stages, Stage(equations.tangents.contractions, ("M",), after=after, given=hats)


def _without_tail(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a bulk without residuals that hardly occur: they make next to no eigenvalues, far out."""
    counts = np.abs(arrays["law_tr"]) > _RARE * np.abs(arrays["law_tr"]).sum()
    return {name: values[..., counts] if is_along_spectrum(name) else values for name, values in arrays.items()}


def is_bounded(target: Target) -> bool:
    """Whether labels are bounded but for Gaussian noise: by a channel, or as the link is no larger far out than nearby,
    in random directions.
    """
    if target.channel is not None:
        return bool(target.channel.values)
    draw = np.random.default_rng(0).standard_normal((target.indices, _DIRECTIONS))
    along = draw / np.sqrt((draw**2).sum(axis=0))
    nearby = np.geomspace(0.1 * _NEAR, _NEAR, 20)
    values = link_values(target.link)
    near, far = (
        float(np.max(np.abs(values(np.multiply.outer(along, at).reshape(target.indices, -1)))))
        for at in (nearby, np.array([_FAR]))
    )
    return far <= _GROWS * near
