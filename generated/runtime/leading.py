"""Where solutions at several places lead at a further one.

Written by hand, in codegen/runtime/leading.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import entry

_SMALL = 1e-9  # of the largest number: one that may be rounding


@entry
def fill_guesses(places, here, numbers, out):
    """out[0]: the polynomials through numbers [P, n] at the places, at a further place; out[1]: those without the first
    of them. Returns the largest difference of both, relative to the size of that number at the places.

    Source: Lagrange's formula.
    """
    count = places.shape[0]
    for first in range(2):
        for i in range(numbers.shape[1]):
            out[first, i] = 0.0
        for p in range(first, count):
            share = 1.0
            for q in range(first, count):
                if q != p:
                    share *= (here - places[q]) / (places[p] - places[q])
            for i in range(numbers.shape[1]):
                out[first, i] += share * numbers[p, i]
    largest = apart = 0.0
    for i in range(numbers.shape[1]):
        for p in range(count):
            largest = max(largest, abs(numbers[p, i]))
    for i in range(numbers.shape[1]):
        size = _SMALL * largest
        for p in range(count):
            size = max(size, abs(numbers[p, i]))
        difference = abs(out[0, i] - out[1, i])
        if not difference <= apart * size:
            apart = difference / size
    return apart

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
