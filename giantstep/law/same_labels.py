"""Two forms of one law of signs: noise inside a link with one jump, and the channel "probit" of a linear link.

sign(z - b + sqrt(v) n) is 1 with the probability Phi((z - b)/sqrt(v)). The label that squared errors are measured
against is another one: the sign for the first form, the mean label for the second.
"""

from __future__ import annotations

import math

import numpy as np

from giantstep.law.labels import levels_of
from giantstep.spec.expressions import is_linear
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel

_ENDS = np.array([[0.0, 1.0]])  # of an index


def by_channel(target: Target) -> Target:
    """The target with the noise inside its link told by a channel, where its link is one sign of one index and nothing
    else is drawn; else as it is.
    """
    if target.probit == 0.0 or target.flips or target.noise or target.channel is not None or target.indices > 1:
        return target
    breaks, levels = levels_of(target.link) or ((), ())
    if levels not in ((-1.0, 1.0), (1.0, -1.0)):
        return target
    slope = levels[1] / math.sqrt(target.probit)
    return Target(f"({slope!r})*(z - ({breaks[0]!r}))", channel=Channel("probit"))


def by_inner_noise(target: Target) -> Target:
    """The target with a probit channel of a linear link told by noise inside a sign; else as it is."""
    if str(target.channel) != "probit" or target.probit or target.indices > 1 or not is_linear(target.link):
        return target
    at_zero, at_one = link_values(target.link)(_ENDS).tolist()
    if at_one == at_zero:
        return target
    slope = at_one - at_zero
    return Target(f"sign(({slope!r})*z + ({at_zero!r}))", probit=1.0 / slope**2)
