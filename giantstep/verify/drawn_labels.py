"""Labels that a channel draws, by definition: every label with its probability given the value s of the link."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import sympy as sp
from scipy import stats
from scipy.special import expit

from derive.language.channels import parse_probability
from derive.to_sympy import to_sympy
from giantstep.spec.target_channel import Channel
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.lambdified import numpy_of

Array = np.ndarray
_MOST = 3000  # labels of a channel of counts
_LIGHT = 1e-19  # weight of a place that does not count
_SPREADS, _BESIDE = 12.0, 30  # how far out counts are summed


def drawn(channel: Channel, s: Array, weight: Array, light: float = _LIGHT) -> Iterator[tuple[float, Array]]:
    """Every label with its probability at s. Raises NotEvaluable for counts that are too large.

    weight: of the places s; counts that are likely only where it is ``light`` are left out.
    """
    if channel.name == "poisson":
        rate = np.exp(s)
        most = float(np.max(rate, where=weight > light, initial=0.0))
        count = most + _SPREADS * most**0.5 + _BESIDE
        if count > _MOST:
            raise NotEvaluable(f"labels up to {count:.3g} of a Poisson law")
        yield from ((float(y), stats.poisson.pmf(y, rate)) for y in range(int(count)))
    elif channel.name == "binomial":
        yield from ((y, stats.binom.pmf(y, channel.trials, expit(s))) for y in channel.values)
    else:
        entry = channel.entry
        tree = parse_probability(channel.probability if entry is None else entry.probability)
        symbols = {name: sp.Symbol(name, real=True) for name in ("y", "s")}
        function = numpy_of(to_sympy(tree, symbols), (symbols["y"], symbols["s"]))
        yield from ((y, function(np.full_like(s, y), s)) for y in channel.values)


def sampled(channel: Channel, s: Array, source: np.random.Generator) -> Array:
    """A label [n] for every s [n]."""
    if channel.name == "poisson":
        return np.asarray(source.poisson(np.exp(s)), dtype=float)
    uniform, below, found = source.uniform(size=len(s)), np.zeros(len(s)), np.zeros(len(s))
    for label, probability in drawn(channel, s, np.ones(len(s))):
        found[below <= uniform] = label
        below += probability
    return found
