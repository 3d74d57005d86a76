"""Averages over the output and a label at nodes of a loss that is one quadratic: its envelope is one too, g is linear
in the output, and h constant.

Written by hand, in codegen/runtime/one_quadratic.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import inner, making_inner
from generated.runtime.prox import at, find_cell, piece_of


@inner
def one_piece(law, rule, y):
    """Value, slope and curvature at zero."""
    return at(piece_of(law, find_cell(law, y)[0], y, rule.parameters, 1.0), 0.0)


@inner
def _factors(V, curvature):
    """What makes slopes those at the prox; h; and where V is large one over the curvature, else zero."""
    over = 1.0 / (1.0 + V * curvature)
    return over, curvature * over, 1.0 / curvature if V * curvature > 1.0 else 0.0


@making_inner
def points_of_one(law, rule, labels, fields, out):
    """See ``points`` of label_points; of what moves with the law of the output only g is felt.

    One loop: arguments of a function that is called at every label take longer than all that is done there.
    """
    directions, rows = labels.t.shape[2], out.shape[0]
    carried, sums = np.empty(directions), np.empty(rows)
    known, value, first, curvature = math.nan, 0.0, 0.0, 0.0
    for node in range(fields.V.shape[0]):
        V, variance = fields.V[node], fields.Delta[node] + rule.noise
        for d in range(directions):
            carried[d] = 0.0
            for e in range(directions):
                carried[d] += labels.rest[d, e] * fields.slope[e, node]
            variance += fields.slope[d, node] * carried[d]
        for a in range(rows):
            sums[a] = 0.0
        over, h, inverse = _factors(V, curvature)
        for j in range(labels.weight.shape[1]):
            w, y = labels.weight[node, j], labels.label[node, j]
            if w == 0.0:
                continue
            omega = fields.mean[node]
            for d in range(directions):
                omega += fields.slope[d, node] * labels.t[node, j, d]
            sign = -1.0 if law.margin and not y > 0.0 else 1.0
            omega = sign * omega - (y if law.residual else 0.0)
            of = sign if law.residual or law.margin else y
            if of != known:
                (value, first, curvature), known = one_piece(law, rule, of), of
                over, h, inverse = _factors(V, curvature)
            slope = first + curvature * omega
            if inverse > 0.0:  # the prox is close to the root of the slope: a step from omega would cancel
                prox = omega - slope * inverse + slope * inverse * over
            else:
                prox = omega - V * slope * over
            loss = value + prox * (first + 0.5 * curvature * prox)
            slope *= over
            g, rise = -sign * slope, 0.5 * h * variance
            square = slope * slope + h * h * variance
            sums[0] += w * (loss + 0.5 * V * slope * slope + rise)
            sums[1] += w * g
            sums[2] += w * h
            sums[3] += w * square
            sums[4] += w * h * g
            sums[6] += w * h * square
            sums[7] -= w * h * h
            pair = 9 + 4 * directions
            for d in range(directions):
                t, moved = w * labels.t[node, j, d], w * carried[d]
                sums[9 + d] += t * g - moved * h
                sums[9 + directions + d] += t * h
                sums[9 + 2 * directions + d] += h * (t * g - moved * h)
                for e in range(d, directions):
                    sums[pair] += (t * labels.t[node, j, e] + w * labels.rest[d, e]) * h
                    pair += 1
            sums[pair] += w * (loss + rise * over)
        for a in range(rows):
            out[a, node] = sums[a]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
