"""Special functions of the generated expressions: without overflow, accurate in the tails.

Written by hand, in codegen/runtime/special.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import inner, within
from generated.runtime.gaussian import NORM
from generated.runtime.vector import exp, log, log1p, scaled_tail

_FAR = -20.0  # from where on down powers have 13 digits, and differences no more


@within
def sigmoid(u):
    """1/(1 + exp(-u)) without overflow."""
    e = exp(-abs(u))
    share = 1.0 / (1.0 + e)
    return share if u >= 0.0 else e * share


@within
def softplus(u):
    """log(1 + exp(u)) without overflow."""
    return max(u, 0.0) + log1p(exp(-abs(u)))


@inner
def log_cosh(u):
    """log(cosh(u)) without overflow, accurate near 0."""
    if abs(u) < 1.0:
        h = math.sinh(0.5 * u)
        return math.log1p(2.0 * h * h)
    return abs(u) + math.log1p(math.exp(-2.0 * abs(u))) - 0.6931471805599453


@inner
def sign(u):
    """-1, 0 or 1."""
    return 1.0 if u > 0.0 else (-1.0 if u < 0.0 else 0.0)


@inner
def step(u):
    """0, 1/2 at 0, or 1."""
    return 1.0 if u > 0.0 else (0.0 if u < 0.0 else 0.5)


@within
def truncated_mean(u):
    """u + phi(u)/Phi(u); far below in powers of 1/u, where the two cancel."""
    s = 1.0 / (u * u + 1e-300)
    far = 1.0 - s * (2.0 - s * (10.0 - s * (74.0 - s * (706.0 - s * (8162.0 - s * (110410.0 - s * 1708394.0))))))
    return -u * s * far if u < _FAR else u + inverse_mills(u)


@within
def inverse_mills(u):
    """phi(u)/Phi(u) without underflow."""
    share, weight = scaled_tail(abs(u)), exp(-0.5 * u * u)
    return NORM * weight / (1.0 - share * weight) if u > 0.0 else NORM / share


@within
def log_normal_cdf(u):
    """log Phi(u) without underflow."""
    share = scaled_tail(abs(u))
    return log1p(-share * exp(-0.5 * u * u)) if u > 0.0 else log(share) - 0.5 * u * u

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
