"""Conditional Gaussian coefficients of f(z) = sin(z)  [Sitzmann et al. 2020, arXiv:2006.09661].

mu0, mu1, mu2 by closed forms, by quadrature where these would cancel.
Generated; do not edit. Signature e55129c9a0fd8a31, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Closed, Function
from generated.runtime.compiling import CLOSED, VALUES, compiled
NAME = "sin"
EXPRESSION = "sin(z)"
SIGNATURE = "e55129c9a0fd8a3118569f2ea77f1e83d3560ee4e5a4453ed996ceb13d465160"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "odd"
OPERATIONS = 1
CLOSED_FORM_OPERATIONS = 34


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = math.sin(z)


@compiled(CLOSED)
def closed(n, shifts, q, sums, sizes):
    """Sums of the coefficients, and of the absolute values of their terms."""
    for i in range(n):
        s = shifts[i]
        x0 = math.sin(s)
        x1 = q*q
        x2 = math.exp(-0.5*x1)
        x3 = math.cos(s)
        x4 = math.exp(-x1)
        t0_0 = x0*x2
        t1_0 = q*x2*x3
        t2_0 = -x1*x3*x3*x4
        t2_1 = 0.5
        t2_2 = -x0*x0*x4
        t2_3 = -0.5*math.exp(-2.0*x1)*math.cos(2.0*s)
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
