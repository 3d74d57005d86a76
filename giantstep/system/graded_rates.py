"""How combinations of features that hardly differ move with their blocks, by the expansions of ``graded_features``.

Rates of the features themselves cancel in such a combination as the features do. The coefficients of the expansions are
differentiated instead, and combined in many digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np

from giantstep.law.rates_by_value import ByValue
from giantstep.system.graded_averages import expansion_of, with_numbers
from giantstep.system.graded_blocks import DIGITS, Block, blocks_of
from giantstep.system.graded_elimination import Column, rewritten
from giantstep.system.graded_features import Cluster
from giantstep.system.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class BlockRates:
    """Rates of loadings [K, q], of bulk variances [K] and of the bias of all blocks; by_value: where these are what
    readout values make of them.
    """

    loadings: Array
    variances: Array
    offset: float
    by_value: ByValue | None

    def of(self, number: int, block: Block) -> tuple[Sequence[Any], Any]:
        """(rates of the loadings, rate of the variance) of a block, to as many digits as are known."""
        if self.by_value is None or block.value is None:
            return [mpmath.mpf(x) for x in self.loadings[number].tolist()], mpmath.mpf(self.variances[number].item())
        u, of = mpmath.mpf(block.value), self.by_value
        return [u * of.shift], u * of.linear + u * u * of.square


def combined_rates(problem: Problem, clusters: tuple[Cluster, ...], rates: BlockRates, kappa: Array) -> Array:
    """Rates at kappa [N, q] of the combinations that clusters have, [N, K]; zero for blocks in none."""
    found = np.zeros((len(kappa), len(problem.blocks)))
    with mpmath.workdps(DIGITS):
        blocks = blocks_of(problem.features)
        moved = [replace(cluster, series=_series(cluster, blocks, rates)) for cluster in clusters]
    for cluster in moved:
        found[:, list(cluster.columns)] = cluster.at(kappa)[0]
    return found


def _series(cluster: Cluster, blocks: Sequence[Block], rates: BlockRates) -> tuple[Column, ...]:
    """Coefficients of the rate of every combination of a cluster of mean features."""
    columns = []
    for number, centre in zip(cluster.columns, cluster.centres, strict=True):
        expansion = expansion_of(blocks[number], centre, cluster.order)
        column = expansion.moved(*rates.of(number, blocks[number]), rates.offset)
        known = any(centre.loadings)
        columns.append(
            rewritten(column, cluster.dependent) if known else with_numbers(column, centre, cluster.order + 2)
        )
    found: list[Column] = []
    for i in range(len(columns)):
        total: Column = {}
        for c, column in enumerate(columns):
            for row, coefficient in column.items():
                total[row] = total.get(row, 0) + coefficient * cluster.matrix[c, i]
        found.append(total)
    return tuple(found)
