"""The rows of a trained bulk, block by block: what the equations of a bulk are given of them.

Source: THEORY sections 5 and 12.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np

from giantstep.law.covariance import Covariance
from giantstep.law.fewer_samples import fewer_samples
from giantstep.law.gradient_step import step_arguments
from giantstep.law.layer_state import LayerState
from giantstep.law.residual import ResidualLaw
from giantstep.law.residual_nodes import residual_nodes
from giantstep.law.row_norms import NormsOfStep, norms_of_step, rates_of_first_step
from giantstep.law.rows_after_step import (
    covariance_of_rows,
    covariance_rates,
    initial_output,
    moments_of_rest,
    spike_sign,
)
from giantstep.law.spike import states_after_steps
from giantstep.law.step_samples import POWERS, StepSamples, first_rest, first_samples, later_samples
from giantstep.law.stretched_bulk import norms_of_samples, samples_of, selections, spike_and_rest, weights_of
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model, Network, Step, Target

Array = np.ndarray
_ALIKE = 1e-9  # of what samples add to blocks that are merged, relative


@dataclass(frozen=True)
class RowsOfBlocks:
    """Rows after the steps of a model, whose fit does not count: numbers of the readout values of every block, several
    where blocks with the same features are one; bulk variances [K], the means of the eigenvalues; sign: that of the
    spike of one direction along the one that the steps give.
    """

    model: Model = field(compare=False)
    parts: tuple[Network, tuple[Step, ...], Target]
    members: tuple[tuple[int, ...], ...]
    variances: tuple[float, ...]
    sign: float = 1.0

    @cached_property
    def variance(self) -> Array:
        """Bulk variances [K]."""
        return np.array(self.variances)

    @property
    def values(self) -> tuple[float, ...]:
        """Readout values of the blocks, one of each."""
        return tuple(self.model.network.readout.values[same[0]] for same in self.members)

    @property
    def covariances(self) -> list[Covariance]:
        """The covariance of the rows of every block after one step."""
        return [covariance_of_rows(self.model, u) for u in self.values]

    def norms(self, steps: Sequence[StepSamples]) -> list[list[NormsOfStep]]:
        """What the norms follow from, by steps and blocks."""
        before = [(1.0,) * len(self.members), *(self._variances(each) for each in states_after_steps(self.model)[:-1])]
        return [
            [norms_of_step(of, block, c) for block, c in enumerate(variances)]
            for of, variances in zip(steps, before, strict=True)
        ]

    def rates_of_norms(self, nodes: int) -> list[NormsOfStep]:
        """Rates of the same, along the rate of the only step."""
        (of,), rate = self.steps(nodes), step_arguments(self.model).rate
        e, slopes = self.residual(nodes).e, np.array([i * rate ** (i - 1) for i, _ in POWERS])
        stretch = np.multiply.outer([covariance_rates(self.model, u).stretch for u in self.values], e)
        rest = first_rest(np.multiply.outer(self.values, e), moments_of_rest(self.model))
        moving = replace(of, stretch=stretch, rest=slopes[:, None, None] * rest)
        return [rates_of_first_step(of, moving, block) for block in range(len(self.members))]

    def _variances(self, state: LayerState) -> tuple[float, ...]:
        return tuple(state.bulk_variance[same[0]] for same in self.members)

    def residual(self, count: int) -> ResidualLaw:
        """The law of the residual of a sample of the first step, at a few nodes."""
        return residual_nodes(self.model.target, initial_output(self.model), count)

    def samples(self, nodes: int) -> Mapping[str, Array]:
        """What the equations of rows that are stretched by blocks are given, read-only. Raises BadInput."""
        return _samples(self, nodes)

    def all_samples(self, nodes: int) -> dict[str, Array]:
        """The same on all nodes of the laws of samples."""
        model, variance, steps = self.model, self.variance, self.steps(nodes)
        axes = self.sign * states_after_steps(model)[-1].places
        samples = samples_of(steps, variance)
        return {
            **selections(len(self.members), len(steps)),
            **samples,
            **spike_and_rest(axes, model.target.indices),
            **weights_of(steps, model.target.indices, samples["own_rows"]),
            **norms_of_samples(self.norms(steps), model.network.radial, variance),
        }

    def steps(self, nodes: int) -> list[StepSamples]:
        """The samples of every step, by blocks. Raises BadInput where those of merged blocks differ."""
        model, states = self.model, states_after_steps(self.model)
        one = replace(model, step=model.steps[0], earlier_steps=())
        values = np.array(model.network.readout.values)
        rows = [covariance_of_rows(one, u) for u in values]
        stretch, noise = (np.array([getattr(each, name) for each in rows]) for name in ("stretch", "noise"))
        law, of, sign = residual_nodes(model.target, initial_output(one), nodes), step_arguments(one), spike_sign(one)
        found = [first_samples(of.samples, law, sign, (stretch, noise, of.rate * values), moments_of_rest(one))]
        for pair, step in zip(itertools.pairwise(states), model.steps[1:], strict=True):
            found.append(later_samples(model.network, pair, step, model.target, nodes))
        return [self._by_block(of) for of in found]

    def _by_block(self, of: StepSamples) -> StepSamples:
        parts = {}
        for name in ("stretch", "noise"):
            values = getattr(of, name)
            for same in self.members:
                apart = np.abs(values[list(same)] - values[same[0]]).max()
                if apart > _ALIKE * np.abs(values).max():
                    raise BadInput(
                        'step.bulk = "trained" needs readout values that the features tell apart; of an even '
                        "activation those of opposite values may be alike",
                        'use step.bulk = "isotropic", or values of one sign',
                    )
            parts[name] = values[[same[0] for same in self.members]]
        return replace(of, **parts, rest=of.rest[:, [same[0] for same in self.members]])


@lru_cache(maxsize=32)
def _samples(rows: RowsOfBlocks, nodes: int) -> Mapping[str, Array]:
    found = rows.all_samples(nodes)
    if rows.model.earlier_steps:  # nodes of one step are those of a Gauss rule
        found = fewer_samples(found)
    for values in found.values():
        values.flags.writeable = False
    return MappingProxyType(found)
