"""Conditional Gaussian coefficients of f(z) = z  [Hermite polynomial He_1].

mu0, mu1, mu2 by closed forms, by quadrature where these would cancel.
Generated; do not edit. Signature 2c28728bf70cfeb2, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Closed, Function
from generated.runtime.compiling import CLOSED, VALUES, compiled
NAME = "linear"
EXPRESSION = "z"
SIGNATURE = "2c28728bf70cfeb22f002ab776def49992243c06c2df4a20e52324e5e98f7756"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "odd"
OPERATIONS = 0
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = z


@compiled(CLOSED)
def closed(n, shifts, q, sums, sizes):
    """Sums of the coefficients, and of the absolute values of their terms."""
    for i in range(n):
        s = shifts[i]
        t0_0 = s
        t1_0 = q
        sums[i] = t0_0  # mu0 = E f(s + q g)
        sizes[i] = abs(t0_0)
        sums[n + i] = t1_0  # mu1 = E g f(s + q g)
        sizes[n + i] = abs(t1_0)
        sums[2*n + i] = 0.0  # mu2^2
        sizes[2*n + i] = 0.0


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    closed=Closed(closed, residual=True, frequency=0.0),
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
