"""Two fits after steps on batches of their own: the overlaps of their readouts and what they share.

All averages are over the indices z of the target and, given z, over kappa of each fit; what the rows of a neuron in
both layers have in common is one more variable. The overlaps T_12 and Q1_12 are the roots of generated equations, which
are linear for the square loss; for any other Newton's method has the derivative of E g_1 g_2 in the covariance of the
outputs. Two rules have to agree.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from derive.directions import directions_of
from generated import two_batches as kernel
from giantstep.law.directions import mixing
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.expressions import special
from giantstep.system.batch_nodes import Part, Rows, Rule, parts_of
from giantstep.system.pair_equations import Sharing
from giantstep.system.slope_series import slopes_in_common
from giantstep.system.state import pairs
from giantstep.system.two_fits import RESIDUAL, ROUGH, Fit

Array = np.ndarray
_RULES = (
    Rule(0, True, 10, 16, 12),
    Rule(0, False, 14, 22, 20),
    Rule(1, True, 18, 32, 32),
    Rule(1, False, 26, 48, 48),
    Rule(2, True, 36, 80, 96),
    Rule(2, False, 48, 128, 192),
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
    require_derived(fit)
    before: Array | None = None
    error, found = math.inf, np.zeros(2)
    size, square = _sizes(fit)
    x: Array | None = None
    for rule in _RULES:
        search = _Search(fit, sharing, rule)
        x = search.run(x)
        found = search.told(x)
        if before is not None:
            error = float(max(np.abs(found - before).max(), abs(search.mean_square() - square)) / size)
            if error <= _SETTLED:
                break
        before = found
    if not error <= ROUGH:
        raise NotConverged(
            f"what two fits share changes by {error:.1e} (relative) between rules of quadrature",
            "take a smoother link or activation, a larger batch, or another learning rate",
        )
    assert x is not None
    residual = search.certificate(x)
    if not residual <= RESIDUAL:
        raise NotConverged(f"the equations of two fits are satisfied to {residual:.1e} only", NOT_LOOKED_FOR)
    half, ensemble = found.tolist()
    return BatchPair(half, residual, error, ensemble if fit.margin else math.nan)


def _sizes(fit: Fit) -> tuple[float, float]:
    """What errors are relative to, and E f^2, both of one fit."""
    system = fit.system
    square = float(fit.weight @ (system.view("mean") ** 2 + (system.slopes**2).sum(axis=0) + fit.known["Delta"]))
    return (square if fit.margin else float(system.observables()[0])), square


class _Search:
    """Newton's method for one pair on one rule."""

    def __init__(self, fit: Fit, sharing: Sharing, rule: Rule) -> None:
        self.fit, self.sharing, self.rule = fit, sharing, rule
        self.blocks = fit.system.blocks
        self.places = pairs(self.blocks)
        if (rule, sharing.layer) not in fit.nodes:  # neither data nor noise move them
            rows = Rows(fit, sharing.layer, rule.rows)
            fit.nodes[rule, sharing.layer] = rows.overlap, parts_of(fit, rule, rows)
        overlap, self.parts = fit.nodes[rule, sharing.layer]
        self.known = {**fit.known, **_directions(fit)}
        self.known["alpha"] = fit.known["alpha"] * sharing.data
        self.known["overlap"] = overlap

    def run(self, start: Array | None) -> Array:
        """The unknowns T_12 [K] and Q1_12, from those of another rule or from none."""
        count = self.blocks + len(self.places)
        x: Array = np.zeros(count) if start is None else start
        size = float(self.known["beta"] * self.fit.system.view("Q2").sum())
        for _ in range(_STEPS):
            step = self._step(x)
            x = x - step
            if np.abs(step).max() <= _CLOSE * size or self.fit.square or self.sharing.data == 0.0:
                return x
        raise NotConverged("what the readouts of two fits have in common is not found", NOT_LOOKED_FOR)

    def _step(self, x: Array) -> Array:
        """Of Newton's method: all is linear but E g_1 g_2."""
        units = np.eye(len(x))
        hats, moves = self._hats(x, units)
        start = self._residual(x, hats)
        matrix = [self._residual(x + unit, hats + move) - start for unit, move in zip(units, moves, strict=True)]
        found: Array = np.linalg.solve(np.array(matrix).T, start)
        return found

    def _hats(self, x: Array, along: Array) -> tuple[Array, Array]:
        """The conjugates at x, and their derivatives along directions."""
        count = self.blocks**2 + self.blocks
        total, moves = np.zeros(count), np.zeros((len(along), count))
        if self.sharing.data == 0.0:
            return total, moves
        for part in self.parts:
            value, slope = self._common(part, x)
            total += self._conjugates(part, value)
            for number, unit in enumerate(along):
                moves[number] += self._conjugates(part, slope * self._covariance(part, unit))
        return total, moves

    def _common(self, part: Part, x: Array) -> tuple[Array, Array]:
        noise = self.sharing.noise or self.fit.model.target.deterministic
        return slopes_in_common(self.fit, part, self._covariance(part, x), noise, self.rule.orders)

    def _conjugates(self, part: Part, average: Array) -> Array:
        numbers = {**self.known, **part.numbers}
        return np.concatenate([each.ravel() for each in kernel.conjugates(**{**numbers, "avg_gg_12": average})])

    def _covariance(self, part: Part, x: Array) -> Array:
        return np.asarray(kernel.covariance(**{**part.numbers, **self._overlaps(x)}))

    def _residual(self, x: Array, hats: Array) -> Array:
        own = self._overlaps(x)
        off, q1 = kernel.overlaps(**{**self.known, **own, **self._named(hats)})
        return np.concatenate([off, [own["Q1_12"][b, c] - 0.5 * (q1[b, c] + q1[c, b]) for b, c in self.places]])

    def _named(self, hats: Array) -> dict[str, Array]:
        matrix, vector = np.split(hats, [self.blocks**2])
        return {"Q1_hat_12": matrix.reshape(self.blocks, -1), "Q2_hat_12": vector}

    def _overlaps(self, x: Array) -> dict[str, Array]:
        matrix = np.empty((self.blocks, self.blocks))
        for (b, c), value in zip(self.places, x[self.blocks :], strict=True):
            matrix[b, c] = matrix[c, b] = value
        return {"T_12": x[: self.blocks], "Q1_12": matrix, "Q2_12": x[: self.blocks] / self.fit.known["beta"]}

    def told(self, x: Array) -> Array:
        """E (f_1 - f_2)^2/2, and of a margin loss the error of the mean output, else 0."""
        half = ensemble = 0.0
        for part in self.parts:
            numbers = {**part.numbers, "Delta_12": self._covariance(part, x)}
            half += float(kernel.half_mean_square(**numbers))
            ensemble += _wrong(part, *kernel.mean_of_both(**numbers)) if self.fit.margin else 0.0
        return np.array([half, ensemble])

    def mean_square(self) -> float:
        """E f^2 of one fit."""
        return float(sum(part.mean_square for part in self.parts))

    def certificate(self, x: Array) -> float:
        """All equations once more, from their text; of the samples part by part."""
        parameters, fraction = self.fit.system.parameters.copy(), self.known["fraction"]
        parameters[0] = self.known["alpha"]
        nothing = np.zeros((0, 1))
        hats, worst = np.zeros(self.blocks**2 + self.blocks), 0.0
        for part in self.parts if self.sharing.data > 0.0 else ():
            value, _ = self._common(part, x)
            mine = self._conjugates(part, value)
            state: dict[str, Any] = {**part.numbers, **self._named(mine), "avg_gg_12": value}
            worst = max(worst, float(kernel.check_samples(nothing, fraction, parameters, state)))
            hats += mine
        state = {**self.known, **self._overlaps(x), **self._named(hats)}
        return max(worst, float(kernel.check_rows(nothing, fraction, parameters, state)))


def _directions(fit: Fit) -> dict[str, Array]:
    """Products of the directions of both fits, and the sources of one along them."""
    gamma, known = np.array(fit.system.problem.overlaps), fit.known
    products = kernel.directions(gamma=gamma, L_rest=mixing(gamma))
    sources = {
        name: np.stack([known[each] for each in directions_of(name, count)], axis=1)
        for name, count in zip(("zeta_hat", "psi_hat"), gamma.shape, strict=True)
    }
    return {**dict(zip(("vv", "vo", "oo"), products, strict=True)), **sources}


def _wrong(part: Part, mean: Array, variance: Array) -> float:
    """The probability that clean label and mean output differ in sign."""
    law, given = part.numbers["law_z"], part.numbers["given"]
    sign = np.sign(part.clean)[:, None, None]
    wrong = special.ndtr(-sign * mean / np.sqrt(np.maximum(variance, 1e-300)))
    return float(law @ (wrong @ given) @ given)
