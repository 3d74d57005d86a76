"""What is known of mean outputs from a system: averages of products of mean functions, and how far they are carried.

Written by hand, in codegen/runtime/mean_outputs.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import entry, making_entry
from generated.runtime.unknowns import invert


@entry
def fill_products(functions, weight, slope, curvature, out):
    """out[0, a, b]: the sum by weight [N] of functions[a] functions[b]; out[1], out[2]: with slope, curvature [N] as
    factors.

    functions [K, N], out [3, K, K].
    """
    for a in range(functions.shape[0]):
        for b in range(a + 1):
            total = of_slope = of_curvature = 0.0
            for n in range(functions.shape[1]):
                product = functions[a, n] * functions[b, n] * weight[n]
                total += product
                of_slope += product * slope[n]
                of_curvature += product * curvature[n]
            out[0, a, b] = out[0, b, a] = total
            out[1, a, b] = out[1, b, a] = of_slope
            out[2, a, b] = out[2, b, a] = of_curvature


@entry
def bend_beside_slope(functions, weight, laws, averages):
    """How much the slope of a loss changes by outputs of their size, at most, over that slope; infinite where no
    function [K, N] is there to do it.

    laws: mean and variance of the output, averages: of g^2 and h, [N] each.
    """
    square = slope = curvature = 0.0
    vanish = True
    for n in range(weight.shape[0]):
        square += weight[n] * (laws[0][n] * laws[0][n] + laws[1][n])
        slope += weight[n] * averages[0][n]
    for a in range(functions.shape[0]):
        size = felt = 0.0
        for n in range(weight.shape[0]):
            part = weight[n] * functions[a, n] * functions[a, n]
            vanish = vanish and functions[a, n] == 0.0
            size += part
            felt += part * max(averages[1][n], 0.0)
        if size > 0.0:
            curvature = max(curvature, felt / size)
    if vanish:
        return np.inf
    change = curvature * math.sqrt(square)
    return 0.0 if change == 0.0 else change / math.sqrt(slope)


@making_entry
def carried(products, slope, curvature):
    """The sum of products [k, k] times the covariance [k, k] of what a slope moves whose covariance and curvature these
    are; infinite where nothing holds that.
    """
    k, total = curvature.shape[0], 0.0
    inverse, moved = np.empty((1, k, k)), np.empty((k, k))
    for a in range(k):
        for b in range(k):
            inverse[0, a, b] = curvature[a, b]  # numba compiles checks of whole arrays for seconds
            moved[a, b] = 0.0
    invert(inverse, 0, np.int64(k))
    for a in range(k):
        for b in range(k):
            for c in range(k):
                moved[a, b] += inverse[0, a, c] * slope[c, b]
    for a in range(k):
        for b in range(k):
            for c in range(k):
                total += products[a, b] * moved[a, c] * inverse[0, b, c]
    return total if abs(total) < np.inf else np.inf


@entry
def linear_in_outputs(weight, labels, laws, out):
    """out: averages of the square of an output, of its product with the mean label, and of the response V.

    labels [1 + D, N]: mean label and slopes in t, weight [N]; laws: mean of the output [N], its slopes [D, N], its
    variance beside and V [N].
    """
    mean, slopes, variance, response = laws
    out[0] = out[1] = out[2] = 0.0
    for n in range(weight.shape[0]):
        square, product = mean[n] * mean[n] + variance[n], labels[0, n] * mean[n]
        for d in range(slopes.shape[0]):
            square += slopes[d, n] * slopes[d, n]
            product += labels[1 + d, n] * slopes[d, n]
        out[0] += weight[n] * square
        out[1] += weight[n] * product
        out[2] += weight[n] * response[n]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
