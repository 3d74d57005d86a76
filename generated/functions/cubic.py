"""Conditional Gaussian coefficients of f(z) = He(3,z)  [Ben Arous, Gheissari & Jagannath 2021, JMLR 22(106):
information exponent 3, He_3].

mu0, mu1, mu2 by closed forms, by quadrature where these would cancel.
Generated; do not edit. Signature b55821d4e76a89c6, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Closed, Function
from generated.runtime.compiling import CLOSED, VALUES, compiled
NAME = "cubic"
EXPRESSION = "He(3,z)"
SIGNATURE = "b55821d4e76a89c69f6d4fdaea9881d778d9f603a6eee7f0001e29da439e5a8b"
BREAKPOINTS: tuple[float, ...] = ()
PARITY = "odd"
OPERATIONS = 3
CLOSED_FORM_OPERATIONS = 19


@compiled(VALUES)
def values(n, places, out):
    """One piece of f, at n places z."""
    for i in range(n):
        z = places[i]
        out[i] = z**3 - 3.0*z


@compiled(CLOSED)
def closed(n, shifts, q, sums, sizes):
    """Sums of the coefficients, and of the absolute values of their terms."""
    for i in range(n):
        s = shifts[i]
        x0 = 3.0*s
        x1 = s*s
        x2 = 3.0*q
        t0_0 = q*q*x0
        t0_1 = s**3
        t0_2 = -x0
        t1_0 = 3.0*q**3
        t1_1 = x1*x2
        t1_2 = -x2
        t2_0 = 6.0*q**6
        t2_1 = 18.0*q**4*x1
        sums[i] = t0_0 + t0_1 + t0_2  # mu0 = E f(s + q g)
        sizes[i] = abs(t0_0) + abs(t0_1) + abs(t0_2)
        sums[n + i] = t1_0 + t1_1 + t1_2  # mu1 = E g f(s + q g)
        sizes[n + i] = abs(t1_0) + abs(t1_1) + abs(t1_2)
        sums[2*n + i] = t2_0 + t2_1  # mu2^2
        sizes[2*n + i] = abs(t2_0) + abs(t2_1)


FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    closed=Closed(closed, residual=True, frequency=0.0),
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
