"""The rows of a trained bulk, block by block: what the equations of a bulk are given of them.

Source: THEORY section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np

from giantstep.law.covariance import Covariance
from giantstep.law.gradient_step import step_arguments
from giantstep.law.residual import ResidualLaw
from giantstep.law.residual_nodes import residual_nodes
from giantstep.law.row_norms import RowNorms
from giantstep.law.rows_after_step import (
    covariance_of_rows,
    initial_output,
    norms_of_rows,
    spike_sign,
)
from giantstep.law.stretched_bulk import norms_of_samples, samples_of, selections, spike_and_rest, weights_of
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model, Network, Step, Target

Array = np.ndarray


@dataclass(frozen=True)
class RowsOfBlocks:
    """Rows after the step of a model, whose fit does not count: readout values of every block, several where blocks
    with the same features are one, and bulk variances [K], the means of the eigenvalues.
    """

    model: Model = field(compare=False)
    parts: tuple[Network, Step | None, Target]
    values: tuple[tuple[float, ...], ...]
    variances: tuple[float, ...]

    @cached_property
    def variance(self) -> Array:
        """Bulk variances [K]."""
        return np.array(self.variances)

    @property
    def covariances(self) -> list[Covariance]:
        """The covariance of the rows of every block. Raises BadInput where merged ones differ."""
        found = [{covariance_of_rows(self.model, u) for u in values} for values in self.values]
        if any(len(same) != 1 for same in found):
            raise BadInput(
                'step.bulk = "trained" needs readout values that the features tell apart; of an even activation those '
                "of opposite values may be alike",
                'use step.bulk = "isotropic", or values of one sign',
            )
        return [each for same in found for each in same]

    @property
    def norms(self) -> RowNorms:
        """What the norms of the rows are functions of."""
        return norms_of_rows(self.model, tuple(same[0] for same in self.values))

    def residual(self, count: int) -> ResidualLaw:
        """The law of the residual of a sample of the step, at a few nodes."""
        return residual_nodes(self.model.target, initial_output(self.model), count)

    def samples(self, nodes: int) -> Mapping[str, Array]:
        """What the equations of rows that are stretched by blocks are given, read-only. Raises BadInput."""
        return _samples(self, nodes)


@lru_cache(maxsize=32)
def _samples(rows: RowsOfBlocks, nodes: int) -> Mapping[str, Array]:
    model, blocks, variance = rows.model, len(rows.values), rows.variance
    law, samples, sign = rows.residual(nodes), step_arguments(model).samples, spike_sign(model)
    covariances = rows.covariances
    spread = np.sqrt(np.array([each.spread for each in covariances]) / variance)
    found = {
        **selections(blocks, model.target.indices),
        **samples_of(samples, covariances, variance, law.e),
        **spike_and_rest(samples, law, sign, blocks),
        **weights_of(samples, law, sign),
        **norms_of_samples(rows.norms.of_blocks(law), variance),
        "spread": spread,
    }
    for values in found.values():
        values.flags.writeable = False
    return MappingProxyType(found)
