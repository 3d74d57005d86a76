"""The first layer after several giant steps, each on fresh samples: means and bulk of the rows, step by step.

Source: THEORY section 12. Derived in derive.further_step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from generated import further_step as derived
from giantstep.law.directions import directions_of, mixing, rows_of
from giantstep.law.label_moments import label_moments, moments_at_nodes
from giantstep.law.layer_state import LayerState
from giantstep.law.multi_index_labels import LabelMoments
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.panels import table
from giantstep.quadrature.shift_derivatives import norm_functions, slope_squares
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.matrix import MAX_RANK
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray
_TOLERANCE = 1e-11  # of loadings and variances, between two resolutions
_ROUNDING = 1e-11  # of the largest loading: what blocks that move alike have beside one direction
_LEVELS = 4
_ORDER = 12  # of the panels of one direction


@dataclass(frozen=True)
class _Moved:
    """Of every block the loadings along the v_j and the theta_perp_i [K, q + m], the common noise as vectors [K, K],
    and the bulk variance [K].
    """

    known: Array
    common: Array
    variance: Array

    def numbers(self) -> Array:
        """What two resolutions have to agree in."""
        return np.concatenate([part.ravel() for part in (self.known, self.common @ self.common.T, self.variance)])


@lru_cache(maxsize=256)
def state_after(network: Network, before: LayerState, step: Step, target: Target, finer: int = 0) -> LayerState:
    """The rows after one more step, at the resolution where they settle; ``finer``: the first one that is tried.

    Raises NotConverged, and BadInput where the step leaves no finite rows.
    """
    layer = _Layer(network, before, target)
    previous: Array | None = None
    for level in range(finer, finer + _LEVELS):
        moved = layer.moved(step, level)
        found = moved.numbers()
        if previous is not None and np.all(np.abs(found - previous) <= _TOLERANCE * np.abs(found).max()):
            return layer.state(moved)
        if not np.isfinite(found).all():
            raise BadInput(
                "a gradient step gives rows that are not finite", "lower step.learning_rate of the steps before"
            )
        previous = found
    raise NotConverged(
        "the averages of a later gradient step do not settle",
        "an activation or link varies too sharply; soften it, or lower the learning rate of the steps before",
    )


@dataclass(frozen=True)
class _Layer:
    """A network before a step."""

    network: Network
    before: LayerState
    target: Target

    @property
    def terms(self) -> tuple[Term, ...]:
        """Blocks as functions of kappa; with several directions their loadings stand apart."""
        single = self.before.rank == 1
        return tuple(
            Term(self.network.activation, row[0] if single else 1.0, self.network.initial_bias, c)
            for row, c in zip(self.before.loadings, self.before.bulk_variance, strict=True)
        )

    def nodes(self, level: int) -> Array:
        """A table of kappa at a resolution."""
        link = self._link()
        if self.before.rank == 1:
            return table(self.terms, link, _ORDER + 2 * level, level // 2, (), self._noisy(link))
        fineness = (1.0 + 0.25 * level,) * self.before.rank
        return tensor_table(Shape(self.terms, self.before.loadings, link), fineness)

    def _link(self) -> Term | None:
        if self.target.indices > 1:
            return None
        gamma = math.hypot(*(row[0] for row in self.before.overlaps))
        return Term(self.target.link, gamma, 0.0, max(0.0, (1.0 - gamma) * (1.0 + gamma)))

    def _noisy(self, link: Term | None) -> tuple[Term, ...]:
        if link is None or self.target.probit == 0.0:
            return ()
        return (replace(link, variance=link.variance + self.target.probit),)

    def label(self, rows: Array, level: int) -> LabelMoments:
        """Moments of the label at the nodes, without flips and its own noise."""
        overlaps, target = self.before.overlaps, self.target
        if target.indices == 1:
            return moments_at_nodes(rows, target, overlaps, level, False)
        kappa = coordinates(rows, 1, self.before.rank)
        return label_moments(target, overlaps, kappa, target.probit, level, False)

    def moved(self, step: Step, level: int) -> _Moved:
        """The rows after the step, by averages at a resolution."""
        rows, network, readout = self.nodes(level), self.network, self.network.readout
        blocks, rank = len(readout.values), self.before.rank
        label = self.label(rows, level)
        kappa = coordinates(rows, 1, rank)
        loadings = np.array(self.before.loadings)
        shifts = list(loadings @ kappa.T + network.initial_bias)
        mu0, mu1 = rows[:, 4 + rank :].T.reshape(3, blocks, -1)[:2]
        terms = [replace(term, scale=1.0) for term in self.terms]
        along, across, noise, variance = derived.after_step(
            rows[:, 1],
            kappa.T,
            label.mean,
            label.linear.T,
            label.square,
            mu0,
            mu1,
            2.0 * norm_functions(terms, shifts),
            np.array([slope_squares(term, shift) for term, shift in zip(terms, shifts, strict=True)]),
            loadings,
            np.array(self.before.bulk_variance),
            np.array(readout.values),
            np.array(readout.fractions),
            step.learning_rate / network.width,
            step.samples,
            self.target.noise,
            self.target.flips,
        )
        triangle = np.asarray(np.linalg.qr((np.sqrt(rows[:, 1]) * noise).T, mode="r"))  # no squares: digits are kept
        return _Moved(np.column_stack([along, across]), triangle.T, variance)

    def state(self, moved: _Moved) -> LayerState:
        """The rows after the step along as few orthonormal directions as there need be."""
        gamma, vectors = np.array(self.before.overlaps), np.column_stack([moved.known, moved.common])
        unknown = np.zeros((moved.common.shape[1], gamma.shape[1]))
        overlaps, blocks = np.concatenate([gamma, mixing(gamma).T, unknown]), len(vectors)
        left, sizes, right = np.linalg.svd(vectors, full_matrices=False)
        kept = sizes > _ROUNDING * sizes[0]
        kept[0] = True  # rows without a mean have a direction of loading zero
        loadings, reduced = directions_of(
            rows_of(left[:, kept] * sizes[kept]), rows_of(right[kept] @ overlaps)
        ).reduced()
        if len(reduced) > MAX_RANK:
            raise BadInput(
                f"the readout has {blocks} values, and the rows after this step have {len(reduced)} directions",
                f"at most {MAX_RANK} are solved for: take fewer readout values, or one step",
            )
        return LayerState(loadings, reduced, tuple(moved.variance.tolist()))
