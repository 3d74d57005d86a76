"""The slope of a loss at an output, by Hermite polynomials: all that two outputs of any covariance have in common.

Written by hand, in codegen/runtime/slope_series.py.
Generated; do not edit. Signature e4d67ffd3430bdb9, runtime a5e30e34dcbc7d77.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import making_entry, sum_of_products
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import OMEGA, WEIGHT, G, Output, fill_nodes, span_of
from generated.runtime.prox import NOWHERE
from generated.runtime.vector import exp


@making_entry
def slope_series(law, rule, label, outputs, scratch, out):
    """out[m, n] = E[g(omega) He_n(x)]/sqrt(n!) for omega = center + spread x of variable m, x standard normal.

    Of a loss of the residual, omega is counted from the label; of the margin, the sign of a label is all that counts.
    """
    orders, x = out.shape[1], np.empty(scratch.shape[1])
    weighted = np.empty((2, scratch.shape[1]))  # two polynomials, times the density and the weights of the nodes
    for m in range(out.shape[0]):
        sign = -1.0 if law.margin and label[m] < 0.0 else 1.0
        y = 1.0 if law.margin or law.residual else label[m]
        center = sign * outputs.center[m] - (label[m] if law.residual else 0.0)
        spread = outputs.spread[m]
        span = span_of(Output(center, spread, outputs.V[m]))
        nodes = fill_nodes(law, rule, y, span, NOWHERE, scratch)
        center -= span.low
        for i in range(nodes):
            x[i] = (scratch[OMEGA, i] - center) / spread
            weighted[0, i] = NORM / spread * scratch[WEIGHT, i] * exp(-0.5 * x[i] * x[i])
            weighted[1, i] = 0.0
        for n in range(orders):
            here, other = n % 2, 1 - n % 2
            out[m, n] = sum_of_products(weighted, here, scratch, G, 0, nodes) if nodes > 0 else math.nan
            if sign < 0.0 and other:
                out[m, n] = -out[m, n]
            up, down = 1.0 / math.sqrt(n + 1.0), math.sqrt(n / (n + 1.0))
            for i in range(nodes):
                weighted[other, i] = up * x[i] * weighted[here, i] - down * weighted[other, i]

SIGNATURE = "e4d67ffd3430bdb9e8430499d54d32da06ac6f56082a4ebcddec6fabc35121d4"
