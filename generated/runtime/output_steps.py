"""Steps of the trapezoid over l = prox(omega) of a smooth loss: even ones, or such that grow away from its knee.

Written by hand, in codegen/runtime/output_steps.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math
from typing import NamedTuple

from generated.runtime.compiling import inner
from generated.runtime.prox import bend
from generated.runtime.vector import exp

REACH = 9.0  # standard deviations of the output that count: the weight beyond is 1e-18
_LENGTH = 27.0  # of l, in units of the loss: the fewest steps of the trapezoid serve up to here
_NEAREST, _FARTHEST, _FARTHER = 0.25, 3.0, 2.0  # distances from poles of the slope, in units of the loss
_SHARP = 0.5  # of the steps per spread of omega, for each width on which the law of the label varies
_MANY, _WORTH = 1.25, 0.9  # times the fewest steps, from which on others are looked for; share of them that is worth it
_CLOSER = 0.85  # than even ones, steps that are as long as they may be nearly everywhere
_NARROWEST, _BESIDE = 1.5, 2.0  # width of a knee whose curvature falls like exp(-|l|), and the square of where it does


class Steps(NamedTuple):
    """How many there are, as a number, and where they are short: places are knee + width sinh(s), at even steps of s.
    Width 0: all are alike.
    """

    count: float
    knee: float
    width: float


EVEN = Steps(0.0, 0.0, 0.0)


@inner
def _strip(V, spread, fewest):
    """The width of the strip beside the line on which a step is judged, over that where poles of the slope are alone.

    A slope is that of a logarithm at a zero, with poles i pi off the line, in units of the loss. At a distance y below
    one omega = l + V rho'(l) is i (pi - y + V/y), and a Gaussian of it so large that a step h leaves an error of
    exp(-2 pi (pi - y)/h + (pi - y + V/y)^2/(2 spread^2)): the best y counts.
    """
    allowed, width, y = 2.0 * math.pi * math.pi * fewest / _LENGTH, 0.0, _NEAREST
    while y < _FARTHEST:
        left = math.pi - y
        omega = (left + V / y) / spread
        width = max(width, left / math.pi / (1.0 + 0.5 * omega * omega / allowed))
        y *= _FARTHER
    return width


@inner
def _asinh(x):
    """The inverse of sinh."""
    return math.copysign(math.log(abs(x) + math.sqrt(x * x + 1.0)), x)


@inner
def _even(law, piece, ends, fewest, span, longest, most):
    """Steps that are alike; longest: of omega."""
    first, last = ends
    unit, steps = law.steepness, fewest
    if unit * (last - first) > _LENGTH:
        served = _LENGTH * _strip(unit * unit * span.V, unit * span.spread, fewest)
        steps = int(min(1e6, unit * (last - first) * fewest / served))
    largest = law.curvature  # steps of omega are longer than those of l
    if largest == math.inf:
        largest = bend(piece, first, last, min(steps, most) // 2)
    return max(steps, int(min(1e6, (last - first) * (1.0 + span.V * largest) / longest)))


@inner
def _growing(law, ends, fewest, span, longest):
    """Steps that are short beside the knee, where omega moves by 1 + V rho'' with l, and grow away from it.

    longest: of omega. Poles of the slope are beside the knee, where steps of s leave as much of an error as even ones
    do; the width is where steps at the knee and at the farther end are as long as they may be.
    """
    first, last = ends[0] - law.knee, ends[1] - law.knee
    unit, far, fast = law.steepness, max(abs(first), abs(last)), 1.0 + span.V * law.curvature
    pole = math.pi * _strip(unit * unit * span.V, unit * span.spread, fewest) / unit
    angle = min(0.5 * math.pi, math.pi * fewest * longest / (_LENGTH * far))
    width = max(_NARROWEST, min(far / math.sqrt(fast * fast - 1.0), pole / math.sin(angle)))
    fastest = max(fast * math.sqrt(width * width + _BESIDE), math.sqrt(width * width + far * far))
    step = _CLOSER * min(longest / fastest, _LENGTH / (math.pi * fewest) * math.asin(min(1.0, pole / width)))
    return Steps((_asinh(last / width) - _asinh(first / width)) / step, law.knee, width)


@inner
def steps_between(law, piece, ends, fewest, span, width, most):
    """The steps between the ends of l; width: on which the law of the label turns; most: beyond which panels serve."""
    longest = 2.0 * REACH * span.spread / (fewest * max(1.0, _SHARP * span.spread / width))
    even = _even(law, piece, ends, fewest, span, longest, most)
    if law.knee == law.knee and even > _MANY * fewest:
        growing = _growing(law, ends, fewest, span, longest)
        if growing.count < _WORTH * even:
            return growing
    return Steps(float(even), 0.0, 0.0)


@inner
def fill_growing(steps, ends, places, weights):
    """Places between the ends, and what l moves by with a step there."""
    first, last = _asinh((ends[0] - steps.knee) / steps.width), _asinh((ends[1] - steps.knee) / steps.width)
    step, half = (last - first) / (places.shape[0] - 1), 0.5 * steps.width
    for i in range(places.shape[0]):
        up = exp(first + step * i)
        down = 1.0 / up
        places[i] = steps.knee + half * (up - down)
        weights[i] = step * half * (up + down)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
