"""Special functions of the generated expressions: without overflow, accurate in the tails.

Written by hand, in codegen/runtime/special.py.
Generated; do not edit. Signature 0b91843f3af50534, runtime 644e12765470f79c.
Regenerate with: giantstep generate
"""

# fmt: off

import math

from generated.runtime.compiling import inner, within
from generated.runtime.vector import exp, log1p


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


@inner
def truncated_mean(u):
    """u + phi(u)/Phi(u) without cancellation: Laplace's continued fraction in the lower tail."""
    if u > -4.0:
        return u + 0.7978845608028654 * math.exp(-0.5 * u * u) / math.erfc(-0.7071067811865476 * u)
    fraction = -u
    for k in range(40, 1, -1):
        fraction = -u + k / fraction
    return 1.0 / fraction


@inner
def inverse_mills(u):
    """phi(u)/Phi(u) without underflow."""
    if u > -4.0:
        return 0.7978845608028654 * math.exp(-0.5 * u * u) / math.erfc(-0.7071067811865476 * u)
    fraction = -u
    for k in range(40, 0, -1):
        fraction = -u + k / fraction
    return fraction


@inner
def log_normal_cdf(u):
    """log Phi(u) without underflow."""
    if u > 0.0:
        return math.log1p(-0.5 * math.erfc(0.7071067811865476 * u))
    if u > -4.0:
        return math.log(0.5 * math.erfc(-0.7071067811865476 * u))
    fraction = -u
    for k in range(40, 0, -1):
        fraction = -u + k / fraction
    return -0.5 * u * u - 0.9189385332046727 - math.log(fraction)

SIGNATURE = "0b91843f3af505340fb6463f86bd33434af0fba18d78a797fc48938423d527e4"
