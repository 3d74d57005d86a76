"""How the mean output of a fit varies between data sets, which the limit leaves out: to first order in 1/d.

No ridge holds the mean weights m at infinite dimension, only the labels do: the objective has the slope sum_i mu0 g in
them, which varies between data sets with the covariance n E[mu0 mu0' g^2], and the curvature n E[mu0 mu0' h]. Where a
loss is linear wherever outputs are, that is next to nothing, and m of a finite network are far from those of the limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from generated.runtime.mean_outputs import carried, fill_products
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
_NOTHING = 1e-26  # of the largest E mu0^2: a function that vanishes


class Means(NamedTuple):
    """Of the mean functions that count, by their ``places`` [k] among the blocks: E mu0 mu0' [k, k]; per dimension, the
    covariance of the objective's slope in m between data sets, and its curvature.
    """

    places: Array
    products: Array
    slope: Array
    curvature: Array


def means_of(system: CoupledSystem) -> Means:
    """Those of a system with its solution in the workspace."""
    system.evaluate(system.x)
    samples, width, _, _, inverse_dimension = system.parameters.tolist()
    blocks = system.blocks
    mu0, weight = system.at.columns.node[-3 * blocks :][:blocks], system.node[1]
    sums = np.empty((3, blocks, blocks))
    fill_products(mu0, weight, system.view("avg_gg"), system.view("avg_h"), sums)
    sums[1:] *= samples
    held = width * inverse_dimension / system.view("T")  # by the ridge, at a finite dimension
    sizes = sums[0].diagonal().tolist()
    least = _NOTHING * max(sizes)
    places = np.array([place for place, size in enumerate(sizes) if size > least], int)
    if len(places) < blocks:
        sums, held = np.ascontiguousarray(sums[:, places[:, None], places]), np.resize(held, blocks)[places]
    products, slope, curvature = sums
    curvature.ravel()[:: len(places) + 1] += held
    return Means(places, products, slope, curvature)


def variance_of_mean(system: CoupledSystem) -> float:
    """d times the variance of the mean output given kappa, averaged over kappa; infinite where nothing holds it."""
    found = means_of(system)
    return max(0.0, float(carried(found.products, found.slope, found.curvature)))
