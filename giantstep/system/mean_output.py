"""How the mean output of a fit varies between data sets, which the limit leaves out: to first order in 1/d.

No ridge holds the mean weights m at infinite dimension, only the labels do: the objective has the slope sum_i mu0 g in
them, which varies between data sets with the covariance n E[mu0 mu0' g^2], and the curvature n E[mu0 mu0' h]. Where a
loss is linear wherever outputs are, that is next to nothing, and m of a finite network are far from those of the limit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from generated.runtime.mean_outputs import carried, fill_products
from generated.runtime.unknowns import FAMILY
from giantstep.spec.errors import NotConverged
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.sign_panels import Signs

Array = np.ndarray
_NOTHING = 1e-26  # of the largest E mu0^2: a function that vanishes
_MOVE = 0.1  # of the output, by which second differences of a test error move it
_ROUNDED = 1e-12  # of a test error: differences that are rounding


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


def variance_of_mean(found: Means) -> float:
    """d times the variance of the mean output given kappa, averaged over kappa; infinite where nothing holds it."""
    return max(0.0, float(carried(found.products, found.slope, found.curvature)))


def added_error(system: CoupledSystem, found: Means, error: float, signs: Signs | None) -> float:
    """d times what a mean output that varies adds to the test error ``error``, to first order: its variance to squares;
    to the probability of a wrong sign, or the squared error of what outputs stand for, half the second derivative by m
    times the covariance of these.
    """
    variance = variance_of_mean(found)
    of_squares = system.loss.FORM != "margin" and system.predicts is None
    if of_squares or not 0.0 < variance < math.inf:
        return variance
    size = math.sqrt(system.table[:, 1] @ (system.view("mean") ** 2 + system.view("Delta")))
    x, evaluated = system.x.copy(), system.evaluated
    places, scale, added = places_of_means(system, found), system.moves_means_by()[found.places], 0.0
    for move in np.linalg.solve(found.curvature, root_of_slope(found)).T:
        moved = float(move @ found.products @ move)
        if not moved > 0.0:  # by rounding it may be less
            continue
        step = np.zeros_like(x)
        step[places] = _MOVE * size / math.sqrt(moved) * move / scale
        bend = sum(_error_at(system, x + side * step, signs) for side in (1.0, -1.0)) - 2.0 * error
        if abs(bend) > _ROUNDED * error:
            added += 0.5 * bend * moved / (_MOVE * size) ** 2
    system.fields(x)
    system.evaluated = evaluated  # averages are still those at x
    return max(0.0, added)


def _error_at(system: CoupledSystem, x: Array, signs: Signs | None) -> float:
    """The test error at x; infinite where the mean label that an output stands for has no mean square."""
    try:
        return system.test_error(x, signs)
    except NotConverged:
        return math.inf


def root_of_slope(found: Means) -> Array:
    """A root [k, k] of the covariance of the objective's slope: independent tilts of standard deviation one."""
    values, vectors = np.linalg.eigh(found.slope)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def places_of_means(system: CoupledSystem, found: Means) -> Array:
    """Where m of the functions that count stand among the unknowns."""
    family = np.array(system.members[FAMILY])
    every = np.flatnonzero(family == system.kernel.UNKNOWNS.index("m"))
    return every[found.places] if len(every) == system.blocks else every
