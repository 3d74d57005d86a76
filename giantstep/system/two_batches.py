"""Two fits after steps on batches of their own, square loss: the overlaps of their readouts and what they share.

All averages are over z = theta.x and, given z, over kappa of each fit; what the rows of a neuron in both layers have in
common is a third variable. Two rules have to agree on the shared error.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import roots_hermitenorm

from generated import step as generated_step
from generated import two_batches as kernel
from giantstep.law.gradient_step import step_arguments
from giantstep.quadrature.gauss import evenly_cut, normal_nodes
from giantstep.quadrature.interpolation import interpolated_mean
from giantstep.quadrature.mesh import Term, meshes
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import numpy_function
from giantstep.spec.link import link_values
from giantstep.system.pair_equations import Sharing
from giantstep.system.state import pairs
from giantstep.system.two_fits import RESIDUAL, ROUGH, Fit, merged_problem

Array = np.ndarray
_REACH, _PANEL = 9.0, 1.5  # of z; the longest panel
# nodes of a panel of z, of kappa given z, of what rows share
_RULES = ((8, 6, 20), (9, 10, 36), (10, 14, 64), (11, 20, 120), (12, 30, 180))  # z is met first: 5e-9 with eight
_SETTLED = 1e-6  # change of the shared error between two rules, relative to the test error, that is worked for


class BatchPair(NamedTuple):
    """E (f_1 - f_2)^2/2, with the certificates of a ``Pair``."""

    half_mean_square: float
    residual: float
    error: float


def require_derived(fit: Fit) -> None:
    """Raise BadInput for models of which two batches have not been derived."""
    model = fit.model
    reasons = {
        "losses other than the square": model.fit.loss.key != "square",
        "several giant steps": bool(model.earlier_steps),
        "targets of several indices": model.target.indices > 1,
        "structured inputs": model.inputs is not None,
        "penalties on the readout": model.fit.penalty is not None,
        "rows that are Gaussian at initialisation": model.network.initialisation == "gaussian",
        "samples drawn with replacement": fit.system.problem.weights is not None,
        "readouts with a density": fit.result.nodes_of_readout is not None,
        "noise inside the link, or flips": model.target.probit > 0.0 or model.target.flips > 0.0,
        "labels that a channel draws": model.target.channel is not None,
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
    before: float | None = None
    error, found, whole = math.inf, 0.0, float(fit.system.observables()[0])
    for rule in _RULES:
        search = _Search(fit, sharing, rule)
        overlaps, found = search.run()
        if before is not None:
            error = max(abs(found - before), abs(search.single() - whole)) / whole
            if error <= _SETTLED:
                break
        before = found
    if not error <= ROUGH:
        raise NotConverged(
            f"what two fits share changes by {error:.1e} (relative) between rules of quadrature",
            "take a smoother link or activation, a larger batch, or another learning rate",
        )
    residual = search.certificate(overlaps)
    if not residual <= RESIDUAL:
        raise NotConverged(f"the equations of two fits are satisfied to {residual:.1e} only", "raise fit.ridge")
    return BatchPair(whole - found, residual, error)


class _Search:
    """The linear equations of one pair on one rule."""

    def __init__(self, fit: Fit, sharing: Sharing, rule: tuple[int, int, int]) -> None:
        self.fit, self.sharing = fit, sharing
        self.blocks = fit.system.blocks
        self.places = pairs(self.blocks)
        if (rule, sharing.layer) not in fit.nodes:  # neither data nor noise move them
            nodes = self._nodes(*rule)
            fit.nodes[rule, sharing.layer] = {**nodes, "hats": self._hats({**fit.known, **nodes})}
        self.known = {**fit.known, **fit.nodes[rule, sharing.layer]}
        self.known["alpha"] = fit.known["alpha"] * sharing.data
        self.known["noise_12"] = fit.model.target.noise * sharing.noise
        self.known |= dict(zip(("vv", "vo", "oo"), kernel.directions(gamma=self._gamma), strict=True))

    @property
    def _gamma(self) -> float:
        return float(self.fit.system.problem.spike.alignment)

    def run(self) -> tuple[dict[str, Array], float]:
        """The overlaps, and the shared error."""
        count = self.blocks + len(self.places)
        start = self._residual(np.zeros(count))
        matrix = np.stack([self._residual(unit) - start for unit in np.eye(count)], axis=1)
        own = self._overlaps(-np.linalg.solve(matrix, start))
        return own, float(kernel.shared_error(**{**self.known, **own}))

    def _residual(self, x: Array) -> Array:
        own = self._overlaps(x)
        hats = self.sharing.data * np.tensordot([1.0, self.known["noise_12"], *x], self.known["hats"], axes=1)
        of_pairs, of_blocks = hats[: self.blocks**2].reshape(self.blocks, -1), hats[self.blocks**2 :]
        off, q1 = kernel.overlaps(**{**self.known, **own, "Q1_hat_12": of_pairs, "Q2_hat_12": of_blocks})
        return np.concatenate([off, [own["Q1_12"][b, c] - 0.5 * (q1[b, c] + q1[c, b]) for b, c in self.places]])

    def _hats(self, known: dict[str, Any]) -> Array:
        """Conjugates for shared data: at zero, and their rates in the noise and in each unknown (they are affine)."""
        count = self.blocks + len(self.places)
        found = []
        for noise, x in [(0.0, np.zeros(count)), (1.0, np.zeros(count)), *((0.0, unit) for unit in np.eye(count))]:
            parts = kernel.conjugates(**{**known, **self._overlaps(x), "noise_12": noise})
            found.append(np.concatenate([part.ravel() for part in parts]))
        return np.array([found[0], *(each - found[0] for each in found[1:])])

    def _overlaps(self, x: Array) -> dict[str, Array]:
        matrix = np.empty((self.blocks, self.blocks))
        for (b, c), value in zip(self.places, x[self.blocks :], strict=True):
            matrix[b, c] = matrix[c, b] = value
        return {"T_12": x[: self.blocks], "Q1_12": matrix, "Q2_12": x[: self.blocks] / self.fit.known["beta"]}

    def certificate(self, own: dict[str, Array]) -> float:
        """All equations once more, from their text, where numbers are functions at one node."""
        state: dict[str, Any] = {**self.known, **own}
        matrix, vector = kernel.conjugates(**state)
        state |= {"Q1_hat_12": matrix, "Q2_hat_12": vector}
        state |= {name: np.full(1, state[name]) for name in ("noise_12", "vv", "vo", "oo")}
        parameters = self.fit.system.parameters.copy()
        parameters[0] = self.known["alpha"]
        return float(kernel.check(np.zeros((0, 1)), self.known["fraction"], parameters, state))

    def single(self) -> float:
        """E (y - f)^2 of one fit."""
        known = self.known
        own = known["residual"] ** 2 + known["variance"]
        return float(known["law_z"] @ own @ known["given"])

    def _nodes(self, order: int, count: int, along: int) -> dict[str, Array]:
        """z, kappa given z, and what the rows share, with all functions there."""
        model, gamma = self.fit.model, self._gamma
        width = math.sqrt(max(0.0, (1.0 - gamma) * (1.0 + gamma)))
        turns = meshes((Term(model.target.link, 1.0, 0.0, 0.0),)).edges  # resolve the link
        z, law_z = normal_nodes(evenly_cut(_REACH, _PANEL, turns.tolist()), order)
        x, given = _normal(count)
        kappa = gamma * z[:, None] + width * x
        there = self.fit.at(kappa.ravel())
        first = there.node.shape[0] - 3 * self.blocks
        mu1 = there.node[first + self.blocks :][: self.blocks].reshape(-1, *kappa.shape)
        mean, slope, V, variance = (there.view(name).reshape(kappa.shape) for name in ("mean", "slope", "V", "Delta"))
        t = (z[:, None] - gamma * kappa) / width if width > 0.0 else 0.0 * kappa
        label = link_values(model.target.link)(z[None])
        overlap = self._overlap_of_rows()
        rest = self._rest(kappa, mu1, overlap, _normal(along if overlap.any() else 1))
        return {
            "law_z": law_z,
            "given": given,
            "mu1": mu1,
            "gain": kernel.gain_of_square_loss(V=V),
            "residual": label[:, None] - mean - slope * t,
            "variance": variance,
            "overlap": overlap,
            "rest": rest,
            "common": kernel.rest_in_common(rest=rest),
        }

    def _overlap_of_rows(self) -> Array:
        """Of a neuron's rows in both layers: a batch leaves what all of them make, and adds noise of its own."""
        if not self.sharing.layer:
            return np.zeros(self.blocks)
        of, (problem, members) = step_arguments(self.fit.model), merged_problem(self.fit.result)
        values = self.fit.result.vocabulary.network.readout.values
        found = []
        for block, term in enumerate(problem.blocks):
            u = values[int(np.flatnonzero(members.block == block)[0])]
            common = generated_step.bulk_variance(of.rate, of.samples, u, of.s0, of.e2, of.sigma2, 0.0)
            found.append(common / term.variance)
        return np.array(found)

    def _rest(self, kappa: Array, mu1: Array, overlap: Array, rule: tuple[Array, Array]) -> Array:
        """E[sigma | x] beside mean and linear part, times the root of the weight of x, [X, K, Z, k]."""
        x, weight = rule
        found = np.zeros((len(x), self.blocks, *kappa.shape))
        for b, term in enumerate(self.fit.system.problem.blocks):
            if overlap[b] == 0.0:
                continue
            root, shift = math.sqrt(overlap[b] * term.variance), term.scale * kappa + term.offset
            apart = term.variance * max(1.0 - overlap[b], 0.0)
            places = shift[None] + root * x[:, None, None]
            whole = _means(term.function, places.ravel(), apart).reshape(places.shape)
            mean = np.tensordot(weight, whole, axes=1)
            linear = math.sqrt(overlap[b]) * mu1[b]
            found[:, b] = np.sqrt(weight)[:, None, None] * (whole - mean - linear * x[:, None, None])
        return found


def _means(function: str, shifts: Array, variance: float) -> Array:
    """E f(s + sqrt(c) g) at many shifts [N]."""
    if variance == 0.0:
        return numpy_function(function)(shifts)[0]
    return interpolated_mean(function, variance, shifts)


def _normal(count: int) -> tuple[Array, Array]:
    """Nodes and weights for a standard normal."""
    x, weight = roots_hermitenorm(count)
    return x, weight / weight.sum()
