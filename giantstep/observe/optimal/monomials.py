"""What a label tells of its indices where it is a product of their powers and has no noise: by sums of logarithms.

log|y| is a sum of independent terms, whose densities are smooth: conditional moments are convolutions of them.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from derive.language.grammar import Node, constant_value
from derive.language.links import link_of
from giantstep.observe.optimal.told import Told
from giantstep.spec.model import Target

Array = np.ndarray
_STEP, _LEFT, _RIGHT = 0.05, 40.0, 4.0  # of log|z|: the density falls as |z| on the left
_LIKELY = 1e-14  # of the largest density


def told_by_monomial(target: Target) -> Told | None:
    """What the label tells where nothing is known yet; None for other targets."""
    link = link_of(target.link)
    powers = _powers(link.node)
    random = target.noise > 0.0 or target.probit > 0.0 or target.channel is not None
    if powers is None or random or set(powers) != set(link.variables):
        return None
    return told_by_product(tuple(powers[name] for name in link.variables))


def told_by_product(exponents: tuple[int, ...]) -> Told:
    """What y = prod_i z_i^exponent_i tells of z."""
    odd = [i for i, exponent in enumerate(exponents) if exponent % 2]
    grids = [_density(exponent) for exponent in exponents]
    density = _sum_of(grids, [0] * len(grids))
    likely = density > _LIKELY * density.max()

    def given(orders: list[int]) -> Array:
        """E[prod_i |z_i|^order_i | y] at the labels that count."""
        found: Array = _sum_of(grids, orders)[likely] / density[likely]
        return found

    def orders(*which: int) -> list[int]:
        return [which.count(i) for i in range(len(exponents))]

    count, m = int(likely.sum()), len(exponents)
    mean, square = np.zeros((2, count, m)), np.zeros((2, count, m, m))
    for i in range(m):
        square[:, :, i, i] = given(orders(i, i)) - 1.0
    signs = np.array([1.0, -1.0])
    if len(odd) == 1:
        mean[:, :, odd[0]] = signs[:, None] * given(orders(odd[0]))
    if len(odd) == 2:
        square[:, :, odd[0], odd[1]] = square[:, :, odd[1], odd[0]] = signs[:, None] * given(orders(*odd))
    weight = np.tile(0.5 * density[likely] / density[likely].sum(), 2)
    return Told(weight, mean.reshape(-1, m), square.reshape(-1, m, m))


def _powers(node: Node) -> Counter[str] | None:
    """Exponents of the variables of a product of powers; None for anything else."""
    if node.op == "variable":
        return Counter({str(node.value): 1})
    if constant_value(node) is not None:
        return Counter()
    parts = [_powers(argument) for argument in node.args]
    if node.op == "neg":
        return parts[0]
    if node.op == "mul" and parts[0] is not None and parts[1] is not None:
        return parts[0] + parts[1]
    if node.op == "div" and constant_value(node.args[1]) is not None:
        return parts[0]
    if node.op == "pow" and parts[0] is not None:
        exponent = constant_value(node.args[1])
        if exponent is not None and exponent == int(exponent) > 0:
            return Counter({name: power * int(exponent) for name, power in parts[0].items()})
    return None


def _density(exponent: int) -> tuple[Array, Array]:
    """exponent * log|z| on a grid of the common step, and its density there."""
    u = np.arange(-round(_LEFT * exponent / _STEP), round(_RIGHT * exponent / _STEP) + 1) * _STEP
    x = u / exponent
    return x, 2.0 * np.exp(x - 0.5 * np.exp(2.0 * x)) / math.sqrt(2.0 * math.pi) / exponent


def _sum_of(grids: list[tuple[Array, Array]], orders: list[int]) -> Array:
    """The density of the sum of all terms, each weighted by |z|^order."""
    length = sum(len(x) for x, _ in grids) - len(grids) + 1
    size = 1 << (length - 1).bit_length()
    product = np.ones(size // 2 + 1, complex)
    for (x, density), order in zip(grids, orders, strict=True):
        product *= np.fft.rfft(density * np.exp(order * x) * _STEP, size)
    found: Array = np.fft.irfft(product, size)[:length]
    return found
