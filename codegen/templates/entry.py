# mypy: ignore-errors
"""Entry points of the function modules.

The emitter copies everything below the marker line; `_prepare` and `_quadrature` become what the function
has.
"""

import math

from numba import njit

from codegen.templates.quadrature import SCRATCH_SHAPE, _f
from codegen.templates.smooth import _prepare, _quadrature

_PARITY = 0

# --- copied into the emitted modules from here ---
@njit(cache=True, error_model="numpy", nogil=True)
def coefficients(s, c, out, scratch):
    """mu0 = E f(s + sqrt(c) g), mu1 = E g f, mu2^2 = E f^2 - mu0^2 - mu1^2 for g ~ N(0, 1)  [CUI24, Result
    3.2].

    s: (n,) shifts; c >= 0: one variance; out: (3, n), filled; scratch: of SCRATCH_SHAPE or with more rows.
    Returns the worst estimated error of mu0, mu1 and mu2, relative to sqrt(E f^2); infinite where an
    expectation
    does not exist or overflows.
    """
    if scratch.shape[0] < SCRATCH_SHAPE[0] or scratch.shape[1] != SCRATCH_SHAPE[1]:
        raise ValueError("scratch has the wrong shape: it needs SCRATCH_SHAPE, or more rows")
    if not c >= 0.0:
        raise ValueError("c is a variance: it must be zero or positive")
    q = math.sqrt(c)
    count = _prepare(q, scratch)
    worst = 0.0
    for i in range(s.shape[0]):
        t = s[i]
        if q == 0.0:
            out[0, i] = _f(t)
            out[1, i] = 0.0
            out[2, i] = 0.0
            continue
        sign = 1.0
        if _PARITY != 0 and t < 0.0:
            t = -t
            sign = -1.0
        mu0, mu1, residual, error = _quadrature(t, q, scratch, count)
        if _PARITY == 1:
            mu0 = mu0 * sign if t != 0.0 else 0.0
        elif _PARITY == 2:
            mu1 = mu1 * sign if t != 0.0 else 0.0
        if not math.isfinite(mu0 + mu1 + residual):
            error = math.inf
        out[0, i] = mu0
        out[1, i] = mu1
        out[2, i] = residual
        worst = max(worst, error)
    return worst


@njit(cache=True, error_model="numpy", nogil=True)
def value(z, out):
    """f itself: out[i] = f(z[i])."""
    for i in range(z.shape[0]):
        out[i] = _f(z[i])
