"""Giant steps on inputs of a given covariance, one after the other: means and bulk of the rows over its eigenvalues.

Source: THEORY sections 10 and 12. Derived in derive.steps_on_inputs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from generated import structured_inputs as derived
from giantstep.law.directions import directions_of, rows_of
from giantstep.law.layer_state import LayerState
from giantstep.law.mirror_images import images_of
from giantstep.law.structured_inputs import InputLaw, after_step, rest_of_target, weights_of
from giantstep.spec.inputs_table import Inputs
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Network, Step, Target

Array = np.ndarray


class RowsOnInputs(NamedTuple):
    """The rows after a step, in whitened inputs, and where they lie over the eigenvalues."""

    state: LayerState
    law: InputLaw


@lru_cache(maxsize=256)
def rows_after_steps(inputs: Inputs, network: Network, steps: tuple[Step, ...], target: Target) -> RowsOnInputs:
    """The rows after all of some steps. Raises NotConverged, and BadInput where they are not finite."""
    *earlier, last = steps
    if earlier:
        return _after(inputs, network, rows_after_steps(inputs, network, tuple(earlier), target), last, target)
    if network.readout.biases is not None:
        return _after(inputs, network, _before_steps(inputs, network, target), last, target)
    first = after_step(inputs, network, last, target)
    loadings = tuple((value * first.strength,) for value in network.readout.values)
    return RowsOnInputs(LayerState(loadings, (first.alignments,), first.bulk_variance), first.law)


def _before_steps(inputs: Inputs, network: Network, target: Target) -> RowsOnInputs:
    """Rows without a mean, in any direction that the target has no part along."""
    from giantstep.law.further_steps import before_steps  # networks are simulated without a compiler

    (x, _, _), state = inputs.spectrum(target.indices), before_steps(network, target)
    parts = np.zeros((1, target.indices, len(x))), np.ones((1, 1, len(x)))
    covariance = np.tile(x, (len(state.bulk_variance), 1))
    return RowsOnInputs(state, _law(inputs, network, covariance, parts, np.array(state.overlaps)))


def _after(inputs: Inputs, network: Network, before: RowsOnInputs, step: Step, target: Target) -> RowsOnInputs:
    from giantstep.law.further_steps import (  # networks are simulated without a compiler
        check_rank,
        gain_of_step,
    )

    (state, law), (x, trace, theta) = before, inputs.spectrum(target.indices)
    gain = gain_of_step(network, state, step, target)
    covariance = law.covariance * np.array(state.bulk_variance)[:, None]
    moved, variances = derived.rows_after_gradient(x, trace, covariance, gain.drift, gain.spread)
    spike = law.along, law.random
    along, random, fresh = derived.means_after_gradient(
        x,
        np.array(state.loadings),
        gain.pull,
        gain.across,
        gain.common,
        *spike,
        *rest_of_target(spike, law.overlaps),
    )
    images = images_of(network)
    means = images.rows(along), images.rows(np.concatenate([random, fresh], axis=1))
    moved, variances = images.numbers(moved), images.numbers(variances)
    loadings, overlaps = _along_directions(means, trace, theta)
    check_rank(network, len(overlaps))
    if len(loadings) == 1 and loadings[0][0] * network.readout.values[0] < 0.0:  # one direction absorbs the sign
        loadings, overlaps = rows_of(-np.array(loadings)), rows_of(-np.array(overlaps))
    if any(map(any, loadings)):
        back = np.linalg.pinv(np.array(loadings))
        spike = np.einsum("qb,bix->qix", back, means[0]), _as_few(np.einsum("qb,bkx->qkx", back, means[1]))
    else:  # any direction stands for none
        spike, overlaps = (spike[0][:1], _as_few(spike[1][:1])), rows_of(law.overlaps[:1])
    loadings = rows_of(images.rows(np.array(loadings)))  # sums of products are rounded row by row
    after = LayerState(loadings, overlaps, tuple(variances.tolist()))
    return RowsOnInputs(after, _law(inputs, network, moved / variances[:, None], spike, np.array(overlaps)))


def _law(inputs: Inputs, network: Network, covariance: Array, spike: tuple[Array, Array], overlaps: Array) -> InputLaw:
    _, trace, theta = inputs.spectrum(overlaps.shape[1])
    chi = derived.norms(covariance, trace, network.radial)
    return InputLaw(covariance, chi, weights_of(trace, theta, spike, overlaps), *spike, overlaps)


def _along_directions(means: tuple[Array, Array], trace: Array, theta: Array) -> tuple[Rows, Rows]:
    """Loadings [K][q] of the blocks along as few directions as there need be, and overlaps [q][m] of these.

    By coordinates along axes in every eigenspace, so that no products are taken.
    """
    from giantstep.law.further_steps import ROUNDING  # networks are simulated without a compiler

    along, random = means
    sizes, basis = np.linalg.eigh(np.moveaxis(theta, -1, 0))
    root = np.moveaxis(basis * np.sqrt(np.maximum(sizes, 0.0))[:, None], 0, -1)
    vectors = np.concatenate([np.einsum("bix,iax->bax", along, root), random * np.sqrt(trace)], axis=1)
    target = np.concatenate([root, np.zeros((len(root), *random.shape[1:]))], axis=1)
    axes, coordinates = np.linalg.qr(vectors.reshape(len(vectors), -1).T)
    overlaps = axes.T @ target.reshape(len(target), -1).T
    return directions_of(rows_of(coordinates.T), rows_of(overlaps), ROUNDING).reduced()


def _as_few(random: Array) -> Array:
    """Parts [q, R, J] without direction along q axes [q, q, J]: only their products in an eigenspace matter."""
    lower = np.asarray(np.linalg.qr(random.transpose(2, 1, 0), mode="r")).transpose(2, 1, 0)
    found = np.zeros((len(random), len(random), random.shape[-1]))
    found[:, : lower.shape[1]] = lower
    return found
