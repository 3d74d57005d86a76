"""The norms of the rows after gradient steps: how much they vary, and the sums over samples that they go with.

The generated equations are of one step. What its row had before enters by its squared norm, and by products with what
samples know: those of its covariance, and of the covariance of norm and row. These are averages over the samples of
every step. Source: THEORY sections 5 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from generated import row_norms
from giantstep.law.residual import ResidualLaw
from giantstep.law.step_samples import POWERS, StepSamples, first_rest

Array = np.ndarray


@dataclass(frozen=True)
class RowNorms:
    """What norms of rows are functions of after one step: rate and samples, readout values of the blocks, E sigma'' and
    Var sigma' of the activation, moments E[rho^i z^j] of the rest of sigma'; radial: 1 for Gaussian initial rows, 0 for
    rows on the sphere.
    """

    rate: float
    samples: float
    values: tuple[float, ...]
    linear: float
    variance: float
    moments: tuple[float, ...]
    radial: float

    def of_blocks(self, law: ResidualLaw) -> tuple[Array, Array]:
        """(chi [K], coefficients [K, 2, N] of the directions k_b), for squared norms of mean c_b.

        chi: d times the variance of the squared norms; k_b: d times their covariance with the rows, a sum over samples
        ``(1/n0) sum_i (f_1 - a_2 B f_2)(e_i) x_i`` of which these are f_1 and f_2 at the nodes of the residual.
        """
        found = []
        for u in self.values:
            growth, chi, linear, tau, change = row_norms.norms(*self._step(law, u), self._rest(law, u))
            chi += _square(law.weight_t, linear) + float(law.weight @ linear**2) / self.samples
            found.append((chi, linear, tau + 2.0 * self.radial * growth * change))
        return _collected(found)

    def rates(self, law: ResidualLaw) -> tuple[Array, Array]:
        """The same along the rate of the step."""
        found = []
        for u in self.values:
            stretch, _ = row_norms.covariance_rates(self.rate, self.samples, u, self.linear, self.variance)
            rest = self._rest(law, u)
            growth, _, linear, _, change = row_norms.norms(*self._step(law, u), rest)
            both = np.concatenate([rest, self._rest_rates(law, u)])
            d_growth, d_chi, d_linear, d_tau, d_change = row_norms.norms_rates(
                *self._step(law, u), stretch * law.e, both
            )
            d_chi += 2.0 * float((law.weight_t @ linear) @ (law.weight_t @ d_linear))
            d_chi += 2.0 * float(law.weight @ (linear * d_linear)) / self.samples
            noise = d_tau + 2.0 * self.radial * (d_growth * change + growth * d_change)
            found.append((d_chi, d_linear, noise))
        return _collected(found)

    def _step(self, law: ResidualLaw, u: float) -> tuple[float, float, float, Array, Array]:
        stretch, _ = row_norms.covariance(self.rate, self.samples, u, self.linear, self.variance)
        return self.samples, 1.0, 2.0 * self.radial, law.weight, stretch * law.e

    def _rest(self, law: ResidualLaw, u: float) -> Array:
        return first_rest(self.rate * u * law.e, self.moments)

    def _rest_rates(self, law: ResidualLaw, u: float) -> Array:
        powers = zip(POWERS, self.moments, strict=True)
        return np.array([i * self.rate ** (i - 1) * (u * law.e) ** i * moment for (i, _), moment in powers])


def _collected(found: list[tuple[float, Array, Array]]) -> tuple[Array, Array]:
    return np.array([chi for chi, _, _ in found]), np.array([[first + noise, -first] for _, first, noise in found])


def _square(weight: Array, values: Array) -> float:
    return float(((weight @ values) ** 2).sum())


class Norms(NamedTuple):
    """Of the rows of a block: d times the variance of their squared norms, without that of what is linear in rows;
    coefficients [2, N] of the samples of each step, those that a source has in their rows u_s and q_s.
    """

    rest: float
    coefficients: list[Array]


def norms_after(steps: Sequence[StepSamples], block: int, radial: float) -> Norms:
    """Those of a block after all steps; radial: 1 for Gaussian initial rows, 0 for rows on the sphere."""
    directions = len(steps[0].along)
    rows = _Rows(1.0, 0.0, np.eye(directions), np.zeros(directions))
    rest, found = 2.0 * radial, list[Array]()
    for of in steps:
        part = of.weight, of.stretch[block], of.rest[:, block]
        growth, after, linear, tau, change = row_norms.norms(of.samples, rows.squared, rest, *part)
        source = linear / math.sqrt(rows.squared)
        excess = growth * (rest + rows.linear) + rows.norm @ (of.along @ source)
        direct = tau + excess / rows.squared * change
        found = [growth * each for each in found] + [np.array([source + direct, source])]
        rows, rest = rows.after(of, block, growth, (source, direct)), after
    return Norms(float(rest), found)


@dataclass(frozen=True)
class _Rows:
    """Rows of a block: squared norm c, d times the variance of what is linear in rows of it, and products with the
    directions [D] that samples of the next step know: of the covariance of rows [D, D], and of d times the covariance
    of squared norm and row [D].
    """

    squared: float
    linear: float
    row: Array
    norm: Array

    def after(self, of: StepSamples, block: int, growth: float, sources: tuple[Array, Array]) -> _Rows:
        """The same after a step. sources [N]: of the squared norm on rows before, and on the rows after it."""
        (source, direct), c = sources, self.squared
        weight, b, noise = of.weight, of.stretch[block], of.noise[block]
        mean, known = float(weight @ b), of.along @ source
        seen = np.concatenate([of.along, weight * of.own])
        pairs = of.between + np.multiply.outer(np.eye(len(seen)), weight)
        along = (pairs @ b)[:, : len(known)]  # M u by what samples know; across it rows before have no direction
        along[: len(known)] += np.eye(len(known))
        new = np.arange(len(seen)) >= len(known)  # the noise of the batch
        itself, beside = (1.0 + mean) * new, np.diag(new.astype(float))
        across = np.add.outer(itself, itself) * (pairs @ b - mean * beside) + np.outer(itself, itself) * beside
        row = along @ self.row @ along.T + c * (across + pairs @ b**2 / of.samples) + pairs @ noise
        norm = along @ (self.row @ known + growth * self.norm) + seen @ direct
        norm += c * (itself * (seen @ source) + seen @ (b * source) / of.samples)
        size = known @ self.row @ known + c * float(weight @ source**2) / of.samples
        linear = growth**2 * self.linear + 2.0 * growth * float(self.norm @ known) + float(size)
        squared = c * ((1.0 + mean) ** 2 + float(weight @ b**2) / of.samples) + float(weight @ noise)
        return _Rows(squared, linear, row, norm)
