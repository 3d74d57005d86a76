"""Moments of the slope of a loss at an output, and how they move with the centre of the output.

Written by hand, in codegen/runtime/slope_moments.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import making_entry
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import OMEGA, WEIGHT, G, Output, fill_nodes, span_of
from generated.runtime.prox import NOWHERE
from generated.runtime.vector import exp

# of g: itself and its slope in the centre; of g^2 two slopes, of g^3 one, g^4; each by its power and how often
_POWERS = (1, 1, 2, 2, 2, 3, 3, 4)
_SLOPES = (0, 1, 0, 1, 2, 0, 1, 0)


@making_entry
def slope_moments(law, rule, label, outputs, scratch, out):
    """out[m] = E g, its derivative in the centre, E g^2, two derivatives, E g^3, one, E g^4 of output m.

    Of a loss of the residual, omega is counted from the label; of the margin, the sign of a label is all that counts.
    """
    for m in range(out.shape[0]):
        sign = -1.0 if law.margin and label[m] < 0.0 else 1.0
        y = 1.0 if law.margin or law.residual else label[m]
        center = sign * outputs.center[m] - (label[m] if law.residual else 0.0)
        spread = outputs.spread[m]
        span = span_of(Output(center, spread, outputs.V[m]))
        nodes = fill_nodes(law, rule, y, span, NOWHERE, scratch)
        center -= span.low
        for k in range(out.shape[1]):
            out[m, k] = 0.0 if nodes > 0 else math.nan
        for i in range(nodes):
            x = (scratch[OMEGA, i] - center) / spread
            weight = NORM / spread * scratch[WEIGHT, i] * exp(-0.5 * x * x)
            for k in range(out.shape[1]):
                term = weight
                for _ in range(_POWERS[k]):
                    term *= scratch[G, i]
                if _SLOPES[k] == 1:
                    term *= x / spread
                elif _SLOPES[k] == 2:
                    term *= (x * x - 1.0) / (spread * spread)
                out[m, k] += term
        for k in range(out.shape[1]):
            if (_POWERS[k] + _SLOPES[k]) % 2 == 1:
                out[m, k] *= sign

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
