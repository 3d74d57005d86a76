"""Blocks whose neurons are the same in law, or mirror images: of an odd activation those of (u, b) and (-u, -b), of an
even one those of (u, b) and (u, -b), where w is as likely as -w.

Steps move images alike, to opposite sides. Rounding would tell them apart, and at infinite dimension the readout reads
any difference.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from derive.language.parity import parity
from giantstep.spec.model import Network

Array = np.ndarray


class Images(NamedTuple):
    """For each block [K] the first one whose image it is, and the sign of its rows beside those: zero of rows that are
    their own mirror image, which have no mean.
    """

    first: Array
    sign: Array

    def rows(self, given: Array) -> Array:
        """Means of rows [K, ...] that are images to the last bit."""
        return np.asarray(given[self.first] * self.sign.reshape(-1, *[1] * (given.ndim - 1)))

    def numbers(self, given: Array) -> Array:
        """Numbers [K, ...] that images have in common."""
        return np.asarray(given[self.first])


class Side(NamedTuple):
    """A block as the image, on one side for all, that it is or is the mirror image of (sign -1)."""

    value: float
    offset: float
    sign: int


@lru_cache(maxsize=256)
def sides_of(network: Network) -> tuple[Side, ...]:
    """The blocks of a network on one side: values of an odd activation, biases of an even one are not negative."""
    of_values = parity(parse(lookup(network.activation).expression))
    found = []
    for value, bias in _blocks(network):
        leading = {None: 1.0, -1: value or bias, 1: bias}[of_values]
        sign = -1 if leading < 0.0 else 1
        found.append(Side(value * (sign if of_values == -1 else 1), bias * sign, sign))
    return tuple(found)


def _blocks(network: Network) -> list[tuple[float, float]]:
    return list(zip(network.readout.values, network.readout.offsets(network.initial_bias), strict=True))


@lru_cache(maxsize=256)
def images_of(network: Network) -> Images:
    """The images among the blocks of a network."""
    blocks = _blocks(network)
    of_values = parity(parse(lookup(network.activation).expression))
    known: dict[tuple[float, float], tuple[int, float]] = {}
    for number, (value, bias) in enumerate(blocks):
        if (value, bias) in known:
            continue
        known[value, bias] = number, 1.0
        if of_values is not None:
            image = value * of_values, -bias
            known[image] = number, 0.0 if image == (value, bias) else -1.0
    first, sign = zip(*(known[block] for block in blocks), strict=True)
    return Images(np.array(first), np.array(sign))
