"""Two fits after steps on batches of their own: the overlaps of their readouts and what they share.

All averages are over the indices z of the target and, given z, over kappa of each fit; what the rows of a neuron in
both layers have in common is one more variable. The overlaps T_12 and Q1_12 are the roots of generated equations, which
are linear for the square loss; for any other Newton's method has the derivative of E g_1 g_2 in the covariance of the
outputs. Two rules have to agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from generated import two_batches as kernel
from generated.runtime.rows_of_pairs import EACH, fill_rows, steps
from generated.runtime.two_batches import moments_at, moments_of_series, wrong_signs
from giantstep.law.directions import mixing
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.matrix import Rows
from giantstep.system.batch_nodes import Rule, parts_of
from giantstep.system.causes import settling_hint
from giantstep.system.moments_of_square import Moments, moments_of_square
from giantstep.system.pair_equations import Sharing, many_of, parameters_of
from giantstep.system.slope_series import noise_of, series_of
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
    found = dict[Sharing, BatchPair]()
    size, square = _sizes(fit)
    left = _Some.of(fit, list(dict.fromkeys(same.values())))
    x, before = np.zeros(left.factor.shape), np.empty((0, 2))
    for rule in _RULES:
        here = _OnRule(fit, rule)
        x = here.solved(left, x)
        told = here.told(left, x)
        if len(before) > 0:
            errors = np.maximum((np.abs(told - before) / size).max(axis=1), abs(here.square - square) / size[0])
            done = errors <= (ROUGH if rule is _RULES[-1] else _SETTLED)
            if done.any():
                settled = left.chosen(done)
                numbers = told[done], here.certificates(settled, x[done]), errors[done]
                found |= zip(settled.every, _told(fit, *numbers), strict=True)
                if done.all():
                    return {sharing: found[one] for sharing, one in same.items()}
                left, x, told = left.chosen(~done), x[~done], told[~done]
        before = told
    raise NotConverged(
        f"what two fits share changes by {errors[~done].max():.1e} (relative) between rules of quadrature",
        "take a smoother link or activation, a larger batch, or another learning rate",
    )


class _Some(NamedTuple):
    """Some pairs: which maps of the rows are theirs [S], the shares of the data, whether the layers begin with the same
    rows, and labels are the same ones [S], and factors of averages in the conjugates [S, n].
    """

    every: Sequence[Sharing]
    maps: Array
    data: Array
    layer: Array
    same: Array
    factor: Array

    @classmethod
    def of(cls, fit: Fit, every: Sequence[Sharing]) -> _Some:
        """Of these pairs of a fit."""
        data, same, layer = np.array(every, float).T.copy()
        factor = data[:, None] * (fit.parameters[0] / fit.parameters[1] / _times(fit.blocks))
        return cls(every, layer.astype(np.int64), data, layer, same, factor)

    def chosen(self, which: Array) -> _Some:
        """Some of them, by a mask."""
        every = [sharing for sharing, one in zip(self.every, which.tolist(), strict=True) if one]
        return _Some(every, *(values[which] for values in self[1:]))


def _told(fit: Fit, told: Array, residuals: Array, errors: Array) -> list[BatchPair]:
    """Pairs with their certificates. Raises NotConverged."""
    if not residuals.max() <= RESIDUAL:
        words = f"the equations of two fits are satisfied to {residuals.max():.1e} only"
        raise NotConverged(words, settling_hint(fit.problem))
    ensembles = told[:, 1].tolist() if fit.margin else [math.nan] * len(told)
    numbers = told[:, 0].tolist(), residuals.tolist(), errors.tolist(), ensembles
    return [BatchPair(*one) for one in zip(*numbers, strict=True)]


def _sizes(fit: Fit) -> tuple[Array, float]:
    """What errors are relative to, of squares and of the error of a mean output, and E f^2, all of one fit."""
    numbers, _ = fit.single.numbers(("mean", *fit.single.slopes))
    square = float(fit.weight @ ((numbers * numbers).reshape(-1, len(fit.weight)).sum(axis=0) + fit.variance))
    weighted = fit.problem.weights is not None
    error = float(fit.system.observables()[0]) if weighted else fit.result.test_error
    return np.array([square if fit.margin else error, error]), square


class _OnRule:
    """Pairs of a fit on one rule."""

    def __init__(self, fit: Fit, rule: Rule) -> None:
        self.fit, self.rule, self.blocks = fit, rule, fit.blocks
        self.parts = parts_of(fit, rule)
        self.square = sum(part.square for part in self.parts)
        self.half = sum(part.half for part in self.parts)
        self.beta = float(fit.parameters[1])

    @cached_property
    def closed(self) -> Moments:
        """Of the square loss, whose averages are known at all overlaps."""
        return moments_of_square(self.blocks, self.parts)

    def solved(self, some: _Some, x: Array) -> Array:
        """The unknowns T_12 and Q1_12 [S, n], from those of another rule or from none."""
        if self.fit.square:
            found: Array = x - self._steps(some, x)
            return found
        x, moving = x.copy(), np.ones(len(x), bool)
        size = float(self.beta * self.fit.single.numbers(("Q2",))[0].sum())
        for _ in range(_STEPS):
            step = self._steps(some.chosen(moving), x[moving])
            x[moving] -= step
            moving[moving] = (np.abs(step).max(axis=1) > _CLOSE * size) & (some.data[moving] > 0.0)
            if not moving.any():
                return x
        raise NotConverged("what the readouts of two fits have in common is not found", settling_hint(self.fit.problem))

    def _steps(self, some: _Some, x: Array) -> Array:
        """Of Newton's method: all is linear but E g_1 g_2."""
        found = np.empty_like(x)
        steps(_maps(self.fit), (some.maps, some.factor), self._moments(some, x), x, self.beta, found)
        return found

    def _moments(self, some: _Some, x: Array) -> tuple[Array, Array]:
        """Of E g_1 g_2 [S, n] and of its slope [S, n, n] at x with what the covariance moves by."""
        first, second = np.zeros(x.shape), np.zeros((*x.shape, x.shape[1]))
        if self.fit.square:
            scales = self.beta, float(self.fit.model.target.noise)
            moments_at(self.closed, (some.layer, some.same), x, scales, first, second)
            return first, second
        for place, sharing in enumerate(some.every):
            if sharing.data > 0.0:
                self._add_sums(sharing, x[place], (first[place], second[place]))
        return first, second

    def _add_sums(self, sharing: Sharing, x: Array, found: tuple[Array, Array]) -> None:
        """The same of any loss, by sums over both kappa."""
        fit, overlaps = self.fit, x.copy()
        overlaps[: self.blocks] /= self.beta
        noise = sharing.noise or fit.deterministic
        for part in self.parts:
            table, series = part.table, series_of(fit, part, noise, self.rule.orders)
            common = table.common if sharing.layer else table.common[:0]
            own = np.empty(found[0].shape), np.empty(found[1].shape)
            features, given = (table.mu1, common), (table.law, table.given)
            moments_of_series(given, features, series, overlaps, noise_of(fit.single) * noise, own)
            for total, one in zip(found, own, strict=True):
                total += one

    def told(self, some: _Some, x: Array) -> Array:
        """E (f_1 - f_2)^2/2, and of a margin loss the error of the mean output, else 0, [S, 2]."""
        overlaps, found = x.copy(), np.zeros((len(x), 2))
        overlaps[:, : self.blocks] *= some.layer[:, None] / self.beta
        found[:, 0] = self.half - overlaps @ sum(part.table.means for part in self.parts)
        if self.fit.margin:
            found[:, 1] = [self._wrong(one) for one in overlaps]
        return found

    def _wrong(self, overlaps: Array) -> float:
        """The probability that clean label and mean output differ in sign."""
        total = 0.0
        for part in self.parts:
            table, outputs = part.table, (part.output, part.variance)
            nodes, features = (table.law, table.given), (table.mu1, table.common)
            total += wrong_signs(nodes, features, outputs, table.clean, overlaps)
        return total

    def certificates(self, some: _Some, x: Array) -> Array:
        """All equations once more, those of the rows from their text, averages by sums over both kappa."""
        single, (first, _) = self.fit.single, self._moments(some, x)
        missed = self._missed(some, x, first) if self.fit.square else 0.0
        own = EACH, self.blocks, 1
        many, common = many_of(kernel.certificate, single, (np.ones((1, 1)), {}), own, _products(self.fit))
        each, overlap = np.empty((len(x), many.size)), some.layer[:, None] * np.array(self.fit.overlap_of_rows)
        fill_rows(x, first * some.factor, overlap, each)
        worst = many.check(self.fit.problem.fraction, parameters_of(single, some.data), common, each)
        found: Array = np.maximum(worst, missed * (some.data > 0.0))
        return found

    def _missed(self, some: _Some, x: Array, found: Array) -> float:
        """What averages in closed form, one for all pairs, miss of sums over both kappa, relative; of the pair that has
        most in common.
        """
        place = int(np.lexsort((some.same, some.data, some.layer))[-1])
        if some.data[place] == 0.0:
            return 0.0
        sums = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
        self._add_sums(some.every[place], x[place], sums)
        return float(np.abs(sums[0] - found[place]).max() / np.abs(sums[0]).max())


@lru_cache(maxsize=64)
def _times(blocks: int) -> Array:
    """How many members of its family every overlap stands for [n]."""
    return np.array([1.0] * blocks + [1.0 + (b != c) for b, c in pairs(blocks)])


def _maps(fit: Fit) -> Array:
    """Of the rows, in layers apart and in those that begin with the same rows; remembered by the fit."""
    if "maps" not in fit.nodes:
        overlaps = np.array([np.zeros(fit.blocks), fit.overlap_of_rows])
        given = fit.single.numbers(kernel.rows.names, _products(fit))
        fit.nodes["maps"] = kernel.rows.maps(fit.problem.fraction, fit.parameters, given, overlaps)
    found: Array = fit.nodes["maps"]
    return found


def _products(fit: Fit) -> dict[str, Array]:
    """Products of the directions of both fits."""
    return _products_of(fit.problem.overlaps)


@lru_cache(maxsize=64)
def _products_of(overlaps: Rows) -> dict[str, Array]:
    gamma = np.array(overlaps)
    products = kernel.directions(gamma=gamma, L_rest=mixing(gamma))
    return dict(zip(("vv", "vo", "oo"), products, strict=True))
