"""A loss that stands for any convex loss where expressions are put to the test: every average of it is explicit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.blocks import KAPPA, Definition, block_field
from derive.directions import directions_of

_KINDS = 3


@dataclass(frozen=True)
class RandomLoss:
    """averages: avg_M, avg_g, ... as functions of V, mean, slopes and Delta; names: functions of kappa to be drawn."""

    averages: tuple[Definition, ...]
    names: tuple[str, ...]


def random_loss(directions: int) -> RandomLoss:
    """Losses a (y - f)^2/2 with weights a and labels of several kinds, functions of kappa."""

    def field(name: str) -> Any:
        return block_field(name)(KAPPA)

    names: list[str] = []
    totals = dict.fromkeys(("M", "g", "gg", "h", "l"), sp.S.Zero)
    along = dict.fromkeys(directions_of("t", directions), sp.S.Zero)
    for j in range(_KINDS):
        own = [f"{word}{j}" for word in ("share", "weight", "label", "rest")]
        slopes = directions_of(f"slope_of_label{j}", directions)
        names += [*own, *slopes]
        p, a, y, rest = (field(name) for name in own)
        gain = a / (1 + a * field("V"))
        off = [field(t) - field(s) for t, s in zip(slopes, directions_of("slope", directions), strict=True)]
        risk = (y - field("mean")) ** 2 + sp.Add(*(x**2 for x in off)) + field("Delta") + rest
        totals["M"] += p * gain * risk / 2
        totals["g"] += p * gain * (y - field("mean"))
        totals["gg"] += p * gain**2 * risk
        totals["h"] += p * gain
        totals["l"] += p * gain * risk / (1 + a * field("V")) / 2
        for name, x in zip(along, off, strict=True):
            along[name] += p * gain * x
    found = {f"avg_{name}": body for name, body in totals.items()} | {f"avg_{t}g": body for t, body in along.items()}
    return RandomLoss(tuple(Definition(name, (), body) for name, body in found.items()), tuple(names))
