"""Conditional Gaussian coefficients of f(z) = cos(z)  [Rahimi & Recht 2007, NIPS 20 (random Fourier features)].

mu0, mu1, mu2 by closed forms, by quadrature where these would cancel.
Generated; do not edit. Signature d29d93ffdf43ad89, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Closed, Function
from generated.runtime.compiling import CLOSED, VALUES, compiled
NAME = "cos"
EXPRESSION = "cos(z)"
SIGNATURE = "d29d93ffdf43ad89c79be3fcbfbf99e0c31bfbf25e7acdc420644fc0be934c01"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "even"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 34


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = math.cos(z)


@compiled(CLOSED)
def closed(n, shifts, q, sums, sizes):
    """Sums of the coefficients, and of the absolute values of their terms."""
    for i in range(n):
        s = shifts[i]
        x0 = math.cos(s)
        x1 = q*q
        x2 = math.exp(-0.5*x1)
        x3 = math.sin(s)
        x4 = math.exp(-x1)
        t0_0 = x0*x2
        t1_0 = -q*x2*x3
        t2_0 = -x1*x3*x3*x4
        t2_1 = 0.5
        t2_2 = -x0*x0*x4
        t2_3 = 0.5*math.exp(-2.0*x1)*math.cos(2.0*s)
        sums[i] = t0_0  # mu0 = E f(s + q g)
        sizes[i] = abs(t0_0)
        sums[n + i] = t1_0  # mu1 = E g f(s + q g)
        sizes[n + i] = abs(t1_0)
        sums[2*n + i] = t2_0 + t2_1 + t2_2 + t2_3  # mu2^2
        sizes[2*n + i] = abs(t2_0) + abs(t2_1) + abs(t2_2) + abs(t2_3)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=1.0, smooth=True,
    closed=Closed(closed, residual=True, frequency=2.0),
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
