"""Where a function of one variable jumps."""

from __future__ import annotations

import numpy as np

from giantstep.spec.expressions import numpy_function
from giantstep.spec.kernels import function_kernel

_GAPS = np.array([2.0**-20, 2.0**-30])


def jumps(text: str) -> tuple[tuple[float, float, float], ...]:
    """Place, value before and value after of each jump; the places are exact.

    Raises BadInput for what is no function.
    """
    function, found = numpy_function(text), []
    for place in function_kernel(text).BREAKPOINTS:
        gaps = (1.0 + abs(place)) * _GAPS
        before, after = function(place - gaps)[0], function(place + gaps)[0]
        wide, narrow = np.abs(after - before)
        if narrow > 0.5 * wide > 0.0:  # the difference of a continuous function shrinks with the gap
            found.append((float(place), float(before[1]), float(after[1])))
    return tuple(found)
