# mypy: ignore-errors
"""Entry points of the function modules.

The emitter copies everything below the marker line and appends the list of rules.
"""

import math

import numpy as np
from numba import njit

from codegen.templates.quadrature import _ENTRY, _EPS, _f

PARITY = "none"
SCRATCH_SHAPE = (420, 52)
RULES = ()


# --- copied into the emitted modules from here ---
def coefficients(s, c, out, scratch):
    """mu0 = E f(s + sqrt(c) g), mu1 = E g f, mu2^2 = E f^2 - mu0^2 - mu1^2 for g ~ N(0, 1)  [CUI24, Result
    3.2].

    s: (n,) shifts; c >= 0: one variance; out: (3, n), filled; scratch: of SCRATCH_SHAPE or with more rows.
    Returns the worst estimated error of mu0, mu1 and mu2, relative to sqrt(E f^2); infinite where an
    expectation does not exist or overflows. A rule is compiled when the ones before it leave a point to it.
    """
    if scratch.shape[0] < SCRATCH_SHAPE[0] or scratch.shape[1] != SCRATCH_SHAPE[1]:
        raise ValueError("scratch has the wrong shape: it needs SCRATCH_SHAPE, or more rows")
    if not c >= 0.0:
        raise ValueError("c is a variance: it must be zero or positive")
    if c == 0.0:
        value(np.array(s), out[0])
        out[1:] = 0.0
        return 0.0
    q = math.sqrt(c)
    shifts = np.array(s) if PARITY == "none" else np.abs(s)
    raw = np.empty((7, shifts.size))
    with np.errstate(all="ignore"):
        RULES[0](shifts, q, raw, scratch)
        for rule in RULES[1:]:
            marked = np.flatnonzero(np.isnan(raw[2]))
            if marked.size == 0:
                break
            again = np.empty((7, marked.size))
            rule(shifts[marked], q, again, scratch)
            raw[:, marked] = again
        out[:] = raw[:3]
        if PARITY == "odd":
            out[0] *= np.sign(s)
        elif PARITY == "even":
            out[1] *= np.sign(s)
        return float(np.max(_estimates(raw), initial=0.0))


def _estimates(raw):
    """Worst error of mu0, mu1 and mu2 relative to sqrt(E f^2); infinite where a value is not finite."""
    mu0, mu1, residual, error0, error1, error2, noise = raw
    scale = np.sqrt(mu0 * mu0 + mu1 * mu1 + residual)
    # of mu2 itself: d(mu2) = d(mu2^2)/(2 mu2), and never more than sqrt(d(mu2^2))
    error2 = np.sqrt(residual + error2) - np.sqrt(residual) + noise
    # where f lives in the tail of g only, rounding of g^2/2 is magnified by g^2, about -4 log(scale)
    tail = 8.0 * _EPS * np.maximum(0.0, -np.log(scale))
    worst = np.maximum(np.maximum(error0, error1), error2) / scale + tail
    worst[scale == 0.0] = 0.0
    return np.where(np.isfinite(mu0 + mu1 + residual) & (worst >= 0.0), worst, np.inf)


@njit(cache=True, **_ENTRY)
def value(z, out):
    """f itself: out[i] = f(z[i])."""
    for i in range(z.shape[0]):
        out[i] = _f(z[i])
