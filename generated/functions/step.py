"""Conditional Gaussian coefficients of f(z) = step(z)  [McCulloch & Pitts 1943; Rosenblatt 1958].

mu0, mu1, mu2 by truncated Gaussian moments, by quadrature where these would cancel.
Generated; do not edit. Signature efbef9ce6ce4b436, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import Function
from generated.runtime.compiling import VALUES, compiled
NAME = "step"
EXPRESSION = "step(z)"
SIGNATURE = "efbef9ce6ce4b436cbc34b704930530df47cba4a70070a2431bd39f38ef4cb8d"
BREAKPOINTS: tuple[float, ...] = (0.0,)
PARITY = "none"
OPERATIONS = 0
CLOSED_FORM_OPERATIONS = 0


@compiled(VALUES)
def values(n, places, out):
    """2 pieces of f, at n places z."""
    for i in range(n):
        z = places[i]
        if z < 0.0:
            out[i] = 0.0
        elif z == 0.0:
            out[i] = 0.5
        else:
            out[i] = 1.0


SEGMENTS = (
    (0.0, 0.0),  # ends of the pieces
    (0.0, 0.0),  # what rounding did to them
    (1.0, 0.0),  # jumps of f there
    (0.0, 0.0),  # of its slope
    (0.0, 0.0),  # slopes of the pieces
    (0.0, 0.0),  # where they are zero
    (0.0, 0.0),  # what rounding did to that
    (0.0, 1.0),  # levels of those that are constant
)

FUNCTION = Function(
    values, parity=PARITY, breaks=BREAKPOINTS,
    features=(),  # centres and widths
    steepness=0.0, wave=0.0, smooth=False,
    segments=SEGMENTS,
)
coefficients, value = FUNCTION.coefficients, FUNCTION.value
