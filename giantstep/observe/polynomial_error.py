"""The error of the best polynomial of a degree: what kernels reach with n = Theta(d^k) samples.

Source: [MMM22]; [CUI24] section 4.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermevander

from derive.language.links import Link, link_of
from giantstep.law.multi_index_moments import index_moments
from giantstep.quadrature.gauss import evenly_cut, normal_nodes
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import function_kernel

Array = np.ndarray
MAX_DEGREE = 12
_ORDER, _REACH = 24, 14.0  # nodes a panel; the weight is 1e-43 at the reach, where polynomials have grown to 1e14
_AGREE = 1e-12  # of two sets of panels, relative to E f^2
_NOTHING = 1e-28  # relative to E f^2: the square of what rounding leaves of a polynomial
_CANCELS = 1e-13  # relative to E f^2: what rounding leaves of a difference of squares


def polynomial_errors(text: str, degree: int) -> dict[int, float]:
    """Degree -> ||P_{>k} f_*||^2 for k = 0 to ``degree``: the test error of the best polynomial, clean target.

    Raises BadInput for an impossible degree and where averages over several indices do not settle, NotConverged where
    those over one do not.
    """
    if isinstance(degree, bool) or not isinstance(degree, int) or not 0 <= degree <= MAX_DEGREE:
        raise BadInput(f"degree = {degree!r} is not allowed", f"give a whole number from 0 to {MAX_DEGREE}")
    link = link_of(text)
    found = _of_one(text, degree) if link.indices == 1 else _of_several(link, degree)
    return dict(enumerate(found))


@lru_cache(maxsize=64)
def _of_one(text: str, degree: int) -> tuple[float, ...]:
    """Integrals of (f - P_{<=k} f)^2 between the breakpoints, on panels halved until they agree."""
    function, breaks = numpy_values(text), tuple(function_kernel(text).BREAKPOINTS)
    previous: Array | None = None
    for halvings in range(8):
        z, weight = normal_nodes(evenly_cut(_REACH, 1.0 / 2**halvings, breaks), _ORDER)
        values = np.broadcast_to(function(z), z.shape)
        basis = hermevander(z, degree) / np.sqrt([float(math.factorial(k)) for k in range(degree + 1)])
        left, current = values.copy(), np.empty(degree + 1)
        for k in range(degree + 1):
            left -= (weight @ (values * basis[:, k])) * basis[:, k]
            current[k] = weight @ left**2
        if previous is not None and np.max(np.abs(current - previous)) <= _AGREE * (weight @ values**2):
            return _beyond_rounding(current, _NOTHING * float(weight @ values**2))
        previous = current
    raise NotConverged(f"the Hermite coefficients of {text!r} do not settle", "use a smoother link or a lower degree")


def _of_several(link: Link, degree: int) -> tuple[float, ...]:
    """E f^2 less the squares of the Hermite coefficients of all orders up to each degree."""
    square = index_moments(link.text).square
    left = np.full(degree + 1, square)
    for orders in product(range(degree + 1), repeat=link.indices):
        if sum(orders) <= degree:
            left[sum(orders) :] -= _coefficient(link, orders) ** 2 / math.prod(map(math.factorial, orders))
    return _beyond_rounding(left, _CANCELS * square)


def _beyond_rounding(errors: Array, rounding: float) -> tuple[float, ...]:
    """The errors, zero where rounding is all that is left."""
    return tuple(float(value) if value > rounding else 0.0 for value in errors)


def _coefficient(link: Link, orders: tuple[int, ...]) -> float:
    """E f He_n1(z1) He_n2(z2) ..."""
    factors = [f"He({n}, {name})" for n, name in zip(orders, link.variables, strict=True) if n]
    return index_moments("*".join([f"({link.text})", *factors])).mean
