"""What coefficients at the nodes of panels in kappa say of the panels: are they narrow enough, and go far enough.

Written by hand, in codegen/runtime/survey.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import making_entry


@making_entry
def survey(edges, rows, ends, place, last, resolved, floor, bad):
    """Mark the panels whose Legendre tail is above a tolerance, relative to the scale of each coefficient.

    edges[P + 1]; rows[2 + 3T, P, n]: kappa, weight, and mu0, mu1, mu2^2 of T terms; ends[3T, 2]: these at both ends;
    place[m]: which of the n nodes are those of the order m; last[2, m]: from values there to the last coefficients;
    floor: a coefficient this much smaller than the function need not be resolved relative to itself. Fills bad[P].
    Returns the largest square of a term at an end, relative to that at a node with abs(kappa) <= 3.
    """
    panels, terms = rows.shape[1], (rows.shape[0] - 2) // 3
    bad[:] = False
    scale = np.empty(3)
    peak, far = 1e-300, 0.0
    for t in range(terms):
        scale[:] = 0.0
        for p in range(panels):
            for m in place:
                kappa, first = rows[0, p, m], 2 + 3 * t
                mu0, mu1, mu2 = rows[first, p, m], rows[first + 1, p, m], rows[first + 2, p, m]
                if abs(kappa) <= 3.0:
                    peak = max(peak, mu0 * mu0 + mu1 * mu1 + mu2)
                weight = math.exp(-0.25 * kappa * kappa)
                scale[0] = max(scale[0], weight * abs(mu0))
                scale[1] = max(scale[1], weight * abs(mu1))
                scale[2] = max(scale[2], weight * abs(mu2))
        for side in range(2):
            mu0, mu1, mu2 = ends[3 * t, side], ends[3 * t + 1, side], ends[3 * t + 2, side]
            square = mu0 * mu0 + mu1 * mu1 + mu2
            far = max(far, square if square >= 0.0 else math.inf)
        size = math.sqrt(scale[0] ** 2 + scale[1] ** 2 + scale[2])
        scale[0] = max(scale[0], floor * size, 1e-290)
        scale[1] = max(scale[1], floor * size, 1e-290)
        scale[2] = max(scale[2], floor * size * size, 1e-290)
        for p in range(panels):
            nearest = 0.0
            if edges[p] * edges[p + 1] > 0.0:
                nearest = min(abs(edges[p]), abs(edges[p + 1]))
            damping = math.exp(-0.25 * nearest * nearest)
            for a in range(3):
                for k in range(last.shape[0]):
                    tail = 0.0
                    for m in range(place.shape[0]):
                        tail += last[k, m] * rows[2 + 3 * t + a, p, place[m]]
                    if not abs(tail) * damping <= resolved * scale[a] and edges[p + 1] - edges[p] > 1e-13:
                        bad[p] = True
    return far / peak

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
