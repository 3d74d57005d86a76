"""Conditional Gaussian coefficients of f(z) = He(2,z)  [Ben Arous, Gheissari & Jagannath 2021, JMLR 22(106):
information exponent 2, He_2].

mu0, mu1, mu2 by closed forms, by quadrature where these would cancel.
Generated; do not edit. Signature 84a910746518cf14, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Closed, Function
from generated.runtime.compiling import CLOSED, VALUES, compiled
NAME = "quadratic"
EXPRESSION = "He(2,z)"
SIGNATURE = "84a910746518cf1486a396126a8dc2686ab9a353fc3995a83a15c6904a80a90d"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "even"
OPERATIONS = 2
CLOSED_FORM_OPERATIONS = 7


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = z*z - 1.0


@compiled(CLOSED)
def closed(n, shifts, q, sums, sizes):
    """Sums of the coefficients, and of the absolute values of their terms."""
    for i in range(n):
        s = shifts[i]
        t0_0 = q*q
        t0_1 = s*s
        t0_2 = -1.0
        t1_0 = 2.0*q*s
        t2_0 = 2.0*q**4
        sums[i] = t0_0 + t0_1 + t0_2  # mu0 = E f(s + q g)
        sizes[i] = abs(t0_0) + abs(t0_1) + abs(t0_2)
        sums[n + i] = t1_0  # mu1 = E g f(s + q g)
        sizes[n + i] = abs(t1_0)
        sums[2*n + i] = t2_0  # mu2^2
        sizes[2*n + i] = abs(t2_0)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    closed=Closed(closed, residual=True, frequency=0.0),
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
