"""What the best estimator knows of the coefficients of the directions before it has samples: how large they are.

In structured inputs they are normal with a variance that depends on the eigenvalue of the inputs. A point of the
spectrum is isotropic inputs with as many times more samples (``derive.posterior.structured``).
Source: THEORY section 15.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from generated import best_estimator as kernel
from giantstep.observe.optimal.axes import lower_of
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model, Target

Array = np.ndarray
_STEPS, _CLOSE = 200, 1e-14  # of Newton's method for a conjugate


@dataclass(frozen=True)
class Prior:
    """Variances of the coefficients over the spectrum, d times, with the part of the target that is there (sum one)."""

    variances: tuple[float, ...] = (1.0,)
    weights: tuple[float, ...] = (1.0,)

    @property
    def normal(self) -> bool:
        """Whether all coefficients have one variance."""
        return len(self.variances) == 1

    @property
    def growth(self) -> float:
        """What a small overlap grows by in a step, over isotropic inputs."""
        return float(np.dot(self.weights, self.variances))

    def spread(self, dimension: int) -> Array:
        """Deviations [d] of the coefficients at a dimension, of mean square one."""
        s, weight = np.array(self.variances), np.array(self.weights)
        ends = np.concatenate([np.cumsum(weight / s), [1.0]])  # of the trace: the last part has no coefficients
        place = np.searchsorted(ends[:-1] * (1.0 - 1e-12), (np.arange(dimension) + 0.5) / dimension)
        found = np.concatenate([s, [0.0]])[np.minimum(place, len(s))]
        root: Array = np.sqrt(found * dimension / found.sum())
        return root

    def overlap(self, lower: Array, information: Array, samples: float) -> Array:
        """Q [m, m] after one step of state evolution."""
        parts = [w * kernel.overlap(lower, information, s * samples) for s, w in self._points()]
        found: Array = np.sum(parts, axis=0)
        return found

    def surplus(self, known: float, information: float, samples: float) -> float:
        """What vanishes at the overlap of one index."""
        return float(kernel.surplus(self.conjugate(known), information, samples))

    def entropy_slope(self, known: Array, information: Array, samples: float) -> Array:
        """The free entropy grows by the trace of this times dQ."""
        there = known
        if not self.normal:  # the overlap of isotropic inputs that has the same conjugate
            values, vectors = np.linalg.eigh(known)
            left = np.array([self.conjugate(float(q)) for q in values])
            there = (vectors * (left / (1.0 - values + left))) @ vectors.T
        found: Array = kernel.entropy_slope(lower_of(known), there, information, samples)
        return found

    def conjugate(self, q: float) -> float:
        """1 - q times the conjugate of an overlap q, of isotropic inputs q itself: the root r of the sum over points of
        weight (q - s r)/(1 - q + s r), by Newton's method from below.
        """
        if self.normal:
            return q
        s, weight = np.array(self.variances), np.array(self.weights)
        if q == 1.0:
            return float(weight @ (1.0 / s))
        r = q / self.growth
        for _ in range(_STEPS):
            below = 1.0 - q + s * r
            step = float(weight @ ((q - s * r) / below)) / float(weight @ (s / below**2))
            r += step
            if abs(step) <= _CLOSE * r:
                break
        return r

    def _points(self) -> list[tuple[float, float]]:
        return list(zip(self.variances, self.weights, strict=True))


@dataclass(frozen=True)
class Sought:
    """What is estimated: the directions of a target, of which a prior is known."""

    target: Target
    prior: Prior = Prior()

    @classmethod
    def of(cls, model: Model) -> Sought:
        """That of a model. Raises BadInput where the prior is not known."""
        return cls(model.target, prior_of(model))


def prior_of(model: Model) -> Prior:
    """That of the inputs of a model. Raises BadInput where the indices differ in it."""
    if model.inputs is None:
        return Prior()
    if len(model.inputs.coefficients()) > 1:
        raise BadInput(
            "the best estimator is known where all indices have their coefficients at the same eigenvalues",
            "give inputs.target as one list, or inputs.source",
        )
    _, trace, theta = model.inputs.spectrum(1)
    here = theta[0, 0] > 0.0
    ratio = theta[0, 0][here] / trace[here]
    variances, place = np.unique(ratio, return_inverse=True)
    weights = np.bincount(place, theta[0, 0][here])
    return Prior(tuple(variances.tolist()), tuple(weights.tolist()))
