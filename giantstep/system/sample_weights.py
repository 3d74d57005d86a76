"""Samples with random weights, as those that are drawn with replacement have.

A sample of weight w has the loss w l, and ``min_x (x - omega)^2/(2V) + w l`` is w times the envelope of l at the
response w V. All averages over label and output are then those of the loss itself at other responses, times a power of
the weight: one for each factor g or h, and one for the envelope and the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, factorial
from typing import Any, NamedTuple, cast

import numpy as np

Average = tuple[Callable[..., object], Sequence[object]]
_TAIL = 1e-13  # of the probability of weights that are left out


class Weights(NamedTuple):
    """Weights of a sample and their probabilities."""

    values: tuple[float, ...]
    chances: tuple[float, ...]


ALWAYS = Weights((1.0,), (1.0,))


def poisson() -> Weights:
    """How often a sample is drawn in n draws with replacement from n, for large n."""
    chances = [exp(-1.0)]
    while 1.0 - sum(chances) > _TAIL:
        chances.append(exp(-1.0) / factorial(len(chances)))
    return Weights(tuple(map(float, range(len(chances)))), tuple(chances))


def weighted(average: Average, names: Sequence[str], weights: Weights) -> Average:
    """The averages, by names, of samples with weights, from the kernel of those without and its arguments."""
    kernel, given = average
    rule, labels, fields, scratch, out = cast("tuple[Any, ...]", given)
    powers = np.array([_power(name) for name in names])
    pairs = [(weight, chance) for weight, chance in zip(*weights, strict=True) if weight > 0.0]

    def of_all() -> None:
        total = np.zeros_like(out)
        for weight, chance in pairs:
            kernel(rule, labels, fields._replace(V=weight * fields.V), scratch, out)
            total += (chance * weight**powers)[:, None] * out
        out[...] = total

    return of_all, ()


def _power(name: str) -> int:
    """Of the weight in an average: of M and l one, of a monomial one for each factor g and h."""
    monomial = name.removeprefix("avg_")
    return 1 if monomial in ("M", "l") else monomial.count("g") + monomial.count("h")
