"""Two fits after steps on batches of their own: the overlaps of their readouts and what they share.

All averages are over the indices z of the target and, given z, over kappa of each fit; what the rows of a neuron in
both layers have in common is one more variable. The overlaps T_12 and Q1_12 are the roots of generated equations, which
are linear for the square loss; for any other Newton's method has the derivative of E g_1 g_2 in the covariance of the
outputs. Two rules have to agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from derive.directions import directions_of
from generated import two_batches as kernel
from generated.runtime.rows_of_pairs import steps
from generated.runtime.two_batches import moments_of_series
from giantstep.law.directions import mixing
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.expressions import special
from giantstep.spec.matrix import Rows
from giantstep.system.batch_nodes import Part, Rule, parts_of
from giantstep.system.moments_of_square import Moments, moments_of_square
from giantstep.system.pair_equations import Sharing, symmetric
from giantstep.system.slope_series import noise_of, series_of, terms
from giantstep.system.state import pairs
from giantstep.system.two_fits import RESIDUAL, ROUGH, Fit

Array = np.ndarray
_RULES = (  # two that follow each other differ in everything
    Rule(0, True, 6, 20, 12),
    Rule(0, False, 10, 25, 16),
    Rule(1, True, 18, 40, 32),
    Rule(1, False, 26, 50, 48),
    Rule(2, True, 36, 80, 96),
    Rule(2, False, 48, 100, 192),
)
_SETTLED = 1e-6  # change of what two fits share between two rules, relative to the error, that is worked for
_STEPS, _CLOSE = 12, 1e-9  # of Newton's method; its last step, relative to the norm of the readout


class BatchPair(NamedTuple):
    """E (f_1 - f_2)^2/2, with the certificates of a ``Pair``; of a margin loss the error of the mean output too."""

    half_mean_square: float
    residual: float
    error: float
    ensemble_of_2: float = math.nan


def require_derived(fit: Fit) -> None:
    """Raise BadInput for models of which two batches have not been derived."""
    model = fit.model
    reasons = {
        "structured inputs": model.inputs is not None,
        "penalties on the readout": model.fit.penalty is not None,
        "rows that are Gaussian at initialisation": model.network.initialisation == "gaussian",
        "noise inside the link": model.target.probit > 0.0,
    }
    for words, holds in reasons.items():
        if holds:
            raise BadInput(
                f"fits with batches of their own have not been derived for {words}",
                'hold the batch: given=("batch",), or --given batch',
            )


def batch_pair(fit: Fit, sharing: Sharing) -> BatchPair:
    """Two fits whose batches are independent; sharing: the rest. Raises BadInput and NotConverged."""
    return batch_pairs(fit, [sharing])[sharing]


def batch_pairs(fit: Fit, every: Sequence[Sharing]) -> dict[Sharing, BatchPair]:
    """The same of many pairs of one fit."""
    require_derived(fit)
    same = {sharing: fit.distinct(sharing) for sharing in every}
    left = list(dict.fromkeys(same.values()))
    unknowns: dict[Sharing, Array] = {}
    before: dict[Sharing, Array] = {}
    error: dict[Sharing, float] = {}
    found: dict[Sharing, BatchPair] = {}
    size, square = _sizes(fit)
    for rule in _RULES:
        here = _OnRule(fit, rule)
        unknowns = here.solved(left, unknowns)
        told = {sharing: here.told(sharing, unknowns[sharing]) for sharing in left}
        apart = abs(here.square - square)
        error = {s: max(float(np.abs(told[s] - before[s]).max()), apart) / size for s in left if s in before}
        settled = [s for s in left if error.get(s, math.inf) <= _SETTLED or (rule is _RULES[-1] and error[s] <= ROUGH)]
        for sharing, residual in zip(settled, here.certificates(settled, unknowns), strict=True):
            if not residual <= RESIDUAL:
                words = f"the equations of two fits are satisfied to {residual:.1e} only"
                raise NotConverged(words, NOT_LOOKED_FOR)
            half, ensemble = told[sharing].tolist()
            found[sharing] = BatchPair(half, residual, error[sharing], ensemble if fit.margin else math.nan)
        left, before = [sharing for sharing in left if sharing not in found], told
        if not left:
            return {sharing: found[one] for sharing, one in same.items()}
    raise NotConverged(
        f"what two fits share changes by {max(error[sharing] for sharing in left):.1e} (relative) between rules of "
        "quadrature",
        "take a smoother link or activation, a larger batch, or another learning rate",
    )


def _sizes(fit: Fit) -> tuple[float, float]:
    """What errors are relative to, and E f^2, both of one fit."""
    known = fit.known
    slopes = [known[name] for name in directions_of("slope", fit.model.target.indices)]
    variance = known["mean"] ** 2 + known["Delta"]
    square = float(fit.weight @ sum((slope**2 for slope in slopes), variance))
    weighted = fit.problem.weights is not None
    error = float(fit.system.observables()[0]) if weighted else fit.result.test_error
    return (square if fit.margin else error), square


class _OnRule:
    """Pairs of a fit on one rule."""

    def __init__(self, fit: Fit, rule: Rule) -> None:
        self.fit, self.rule, self.blocks = fit, rule, fit.blocks
        self.parts = parts_of(fit, rule)
        self.square = sum(part.square for part in self.parts)
        self.half = sum(part.half for part in self.parts)
        self.means = sum(part.table.means for part in self.parts)
        self.places = pairs(self.blocks)
        self.times = np.array([1.0] * self.blocks + [1.0 + (b != c) for b, c in self.places])
        self.closed: Moments | None = None

    def solved(self, every: Sequence[Sharing], start: Mapping[Sharing, Array]) -> dict[Sharing, Array]:
        """The unknowns T_12 and Q1_12, from those of another rule or from none."""
        x = np.zeros((len(every), self.blocks + len(self.places)))
        for place, sharing in enumerate(every):
            if sharing in start:
                x[place] = start[sharing]
        size = float(self.fit.known["beta"] * self.fit.known["Q2"].sum())
        left = list(range(len(every)))
        for _ in range(_STEPS):
            step = self._step([every[place] for place in left], x[left])
            x[left] -= step
            if self.fit.square:
                return dict(zip(every, x, strict=True))
            far = np.abs(step).max(axis=1) > _CLOSE * size
            left = [place for place, moves in zip(left, far, strict=True) if moves and every[place].data > 0.0]
            if not left:
                return dict(zip(every, x, strict=True))
        raise NotConverged("what the readouts of two fits have in common is not found", NOT_LOOKED_FOR)

    def _step(self, every: Sequence[Sharing], x: Array) -> Array:
        """Of Newton's method: all is linear but E g_1 g_2."""
        single, K = self.fit.single, self.blocks
        beta = float(single.parameters[1])
        layer = np.array([sharing.layer for sharing in every], np.int64)
        factor = np.outer([sharing.data for sharing in every], single.parameters[0] / beta / self.times)
        first, second = self._moments(every, x)
        readouts, found = np.zeros((len(every), 4, K)), np.empty_like(x)
        readouts[:, 0], readouts[:, 1] = x[:, :K], 1.0
        steps(_maps(self.fit), layer, factor, first, second, readouts, x[:, K:].copy(), beta, found)
        return found

    def _moments(self, every: Sequence[Sharing], x: Array) -> tuple[Array, Array]:
        """Of E g_1 g_2 [S, n] and of its slope [S, n, n] at x with what the covariance moves by."""
        if self.fit.square:
            return self._of_square(every, x)
        first, second = np.zeros_like(x), np.zeros((*x.shape, x.shape[1]))
        for place, sharing in enumerate(every):
            if sharing.data > 0.0:
                first[place], second[place] = self._by_sums(sharing, x[place])
        return first, second

    def _of_square(self, every: Sequence[Sharing], x: Array) -> tuple[Array, Array]:
        """Both are known at all x."""
        if self.closed is None:
            self.closed = moments_of_square(self.fit, self.parts)
        mean, drawn, noise, slope = self.closed
        shared = np.array([sharing.noise for sharing in every])
        known = np.ones(x.shape)
        known[:, : self.blocks] = np.array([sharing.layer for sharing in every])[:, None]
        first = mean + np.outer(shared, drawn + self.fit.model.target.noise * noise)
        second = known[:, :, None] * slope * known[:, None, :]
        return known * first + (second @ self._overlaps(x)[:, :, None])[:, :, 0], second

    def _by_sums(self, sharing: Sharing, x: Array) -> tuple[Array, Array]:
        """Of any loss, by sums over both kappa."""
        first, second = np.zeros(len(x)), np.zeros((len(x), len(x)))
        for part in self.parts:
            own = self._by_series(part, sharing, x)
            first += own[0]
            second += own[1]
        return first, second

    def _overlaps(self, x: Array) -> Array:
        """Q2_12, then Q1_12."""
        found = x.copy()
        found[..., : self.blocks] /= self.fit.known["beta"]
        return found

    def _by_series(self, part: Part, sharing: Sharing, x: Array) -> tuple[Array, Array]:
        """The same by sums over both kappa."""
        fit, table = self.fit, part.table
        noise = sharing.noise or fit.model.target.deterministic
        series, chance = series_of(fit, part, noise, self.rule.orders)
        own = noise_of(fit.single)
        spread = np.sqrt(part.variance + own)
        common = table.common if sharing.layer else table.common[:0]
        first, second = np.empty(len(x)), np.empty((len(x), len(x)))
        count = series.shape[1] if fit.square else terms(part, series, 1.0)
        moments_of_series(
            (table.law, table.given), (table.mu1, common), series[:, :count], chance, spread, self._overlaps(x),
            own * noise, first, second,
        )  # fmt: skip
        return first, second

    def told(self, sharing: Sharing, x: Array) -> Array:
        """E (f_1 - f_2)^2/2, and of a margin loss the error of the mean output, else 0."""
        overlaps = self._overlaps(x)
        if not sharing.layer:
            overlaps[: self.blocks] = 0.0
        ensemble = 0.0
        if self.fit.margin:
            ensemble = sum(_wrong(part, *kernel.mean_of_both(**self._outputs(part, overlaps))) for part in self.parts)
        return np.array([self.half - self.means @ overlaps, ensemble])

    def _outputs(self, part: Part, overlaps: Array) -> dict[str, Array]:
        """The law of both outputs, as generated functions take it."""
        table, matrix = part.table, symmetric(overlaps[None, self.blocks :], self.blocks)[0]
        given = {"Q1_12": matrix, "Q2_12": overlaps[: self.blocks], "common": table.common, "mu1": table.mu1}
        return {"output": part.output, "Delta": part.variance, "Delta_12": kernel.covariance(**given)}

    def certificates(self, every: Sequence[Sharing], found: Mapping[Sharing, Array]) -> list[float]:
        """All equations once more, those of the rows from their text, averages by sums over both kappa."""
        if not every:
            return []
        single, K = self.fit.single, self.blocks
        x = np.array([found[sharing] for sharing in every])
        layer = np.array([float(sharing.layer) for sharing in every])
        parameters = np.tile(single.parameters, (len(every), 1))
        parameters[:, 0] *= [sharing.data for sharing in every]
        hats, _ = self._moments(every, x)
        missed = self._missed(every, x, hats) if self.fit.square else 0.0
        hats *= parameters[:, :1] / parameters[:, 1:2] / self.times
        each = {"T_12": x[:, :K], "Q1_12": symmetric(x[:, K:], K), "Q2_hat_12": hats[:, :K]}
        each |= {"Q1_hat_12": symmetric(hats[:, K:], K), "overlap": np.outer(layer, self.fit.overlap_of_rows)}
        known = {**single.known, **_directions(self.fit)}
        worst = kernel.certificate.check_each(np.ones((1, 1)), self.fit.problem.fraction, parameters, known, each)
        residuals: list[float] = np.maximum(worst, missed * (parameters[:, 0] > 0.0)).tolist()
        return residuals

    def _missed(self, every: Sequence[Sharing], x: Array, found: Array) -> float:
        """What averages in closed form, one for all pairs, miss of sums over both kappa, relative; of the pair that has
        most in common.
        """
        place = max(
            range(len(every)), key=lambda number: (every[number].layer, every[number].data, every[number].noise)
        )
        if every[place].data == 0.0:
            return 0.0
        sums, _ = self._by_sums(every[place], x[place])
        return float(np.abs(sums - found[place]).max() / np.abs(sums).max())


def _maps(fit: Fit) -> Array:
    """Of the rows, in layers apart and in those that begin with the same rows; remembered by the fit."""
    if "maps" not in fit.nodes:
        overlaps = np.array([np.zeros(fit.blocks), fit.overlap_of_rows])
        known = {**fit.known, **_directions(fit)}
        fit.nodes["maps"] = kernel.rows.maps(fit.problem.fraction, fit.parameters, known, overlaps)
    found: Array = fit.nodes["maps"]
    return found


def _directions(fit: Fit) -> dict[str, Array]:
    """Products of the directions of both fits, and the sources of one along them."""
    gamma, known = np.array(fit.problem.overlaps), fit.known
    sources = {
        name: np.stack([known[each] for each in directions_of(name, count)], axis=1)
        for name, count in zip(("zeta_hat", "psi_hat"), gamma.shape, strict=True)
    }
    return {**_products(fit.problem.overlaps), **sources}


@lru_cache(maxsize=64)
def _products(overlaps: Rows) -> dict[str, Array]:
    gamma = np.array(overlaps)
    products = kernel.directions(gamma=gamma, L_rest=mixing(gamma))
    return dict(zip(("vv", "vo", "oo"), products, strict=True))


def _wrong(part: Part, mean: Array, variance: Array) -> float:
    """The probability that clean label and mean output differ in sign."""
    law, given = part.table.law, part.table.given
    sign = np.sign(part.table.clean)[:, None, None]
    wrong = special.ndtr(-sign * mean / np.sqrt(np.maximum(variance, 1e-300)))
    return float(law @ (wrong @ given) @ given)
