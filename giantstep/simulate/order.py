"""Overlaps of a finished readout: the measured order parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.layer import FirstLayer
from giantstep.simulate.system import FiniteSizes, FiniteSystem


@dataclass(frozen=True)
class Overlaps:
    """Measured order parameters; leading axes are whatever the readouts were indexed by, then blocks.

    m = 1.a_b/sqrt p, zeta = v.W_b^T a_b/sqrt p (one more axis for a spike of rank q), psi = e.W_b^T a_b/sqrt p with
    e = theta_perp (0 where v = +-theta; with several indices one more axis, e_1, e_2, ... of
    FirstLayer.perpendicular), Q1 = a_b^T W_b P W_b'^T a_b'/p (one more
    axis), Q2 = |a_b|^2/p, norm = sum_k a_k (|w_k|^2 - 1)/sqrt p; W the bulk's rows w_k divided by sqrt(c_b).
    """

    m: Array
    zeta: Array
    psi: Array
    Q1: Array
    Q2: Array
    norm: Array


def measure_overlaps(system: FiniteSystem, sizes: FiniteSizes, layer: FirstLayer, readouts: Array) -> Overlaps:
    """Order parameters of readouts[p, R] (Fortran order); arrays of shape (R, K), Q1 of shape (R, K, K)."""
    width, count, blocks = sizes.width_count, readouts.shape[1], len(system.values)
    m, squared, norm = (np.empty((count, blocks)) for _ in range(3))
    maps = np.empty((count, blocks, sizes.dimension))
    for index, part in enumerate(sizes.block_slices()):
        block = np.asfortranarray(readouts[part])
        total = block.sum(axis=0)
        m[:, index] = total / math.sqrt(width)
        squared[:, index] = np.einsum("kr,kr->r", block, block) / width
        image = blas.dgemm(1.0 / math.sqrt(width), layer.rows[part].T, block).T
        # rows are u_b r v + sqrt(c_b) w: keep the part of w
        common = layer.mean_row(index, system.values[index])
        image = image - np.outer(m[:, index], common)
        own = layer.rows[part]
        square = np.einsum("kd,kd->k", own, own) - 2.0 * own @ common + common @ common
        norm[:, index] = (square / layer.variances[index] - 1.0) @ block / math.sqrt(width)
        maps[:, index] = image / math.sqrt(layer.variances[index])
    zeta, psi = maps @ layer.spike.T, maps @ layer.perpendicular()[0].T
    if system.indices == 1:
        psi = psi[..., 0]
    maps -= zeta.reshape(count, blocks, -1) @ np.atleast_2d(layer.spike)
    return Overlaps(m, zeta, psi, np.einsum("rbd,rcd->rbc", maps, maps), squared, norm)
