"""The further reaches of the domain, for ``robustness.py`` and ``robustness_losses.py`` with ``--wide``.

One or two things of a random model are taken further: unregistered expressions, extreme numbers, blocks that depend on
each other, several indices, spikes of several directions, the trained bulk.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

Data = dict[str, Any]

EXPRESSIONS = ("gelu(z)+0.1*z", "tanh(3*z)*z", "sin(5*z)", "max(z,0)**2-z/2", "log(1+exp(2*z))-abs(z)")
OF_TWO = ("z1+z1*z2", "tanh(z1)*z2", "abs(z1)+z2")
SIGNS_OF_TWO = ("sign(z1*z2)", "sign(z1+z2/2)")
MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "logistic", "exponential", "probit")


def widened(data: Data, number: int, seed: int) -> Data:
    """The model with one or two changes."""
    draw = random.Random(seed * 9_000_011 + number)
    changes, weights = zip(*CHANGES, strict=True)
    for change in draw.choices(changes, weights, k=draw.choice((1, 1, 2))):
        change(data, draw)
    return data


def _of_margin(data: Data) -> bool:
    loss = data["fit"].get("loss", "square")
    return (loss if isinstance(loss, str) else loss["name"]) in MARGIN


def _activation(data: Data, draw: random.Random) -> None:
    data["network"]["activation"] = draw.choice(EXPRESSIONS)


def _link(data: Data, draw: random.Random) -> None:
    if not _of_margin(data) and not _has_rows(data):
        data["target"]["link"] = draw.choice(EXPRESSIONS)


def _ridge(data: Data, draw: random.Random) -> None:
    data["fit"]["ridge"] = _log_uniform(draw, 10.0, 1e6)


def _samples(data: Data, draw: random.Random) -> None:
    data["fit"]["samples"] = _log_uniform(draw, 0.01, 0.05)


def _fractions(data: Data, draw: random.Random) -> None:
    """One block as rare as a millionth."""
    readout = data["network"]["readout"]
    rare, others = _log_uniform(draw, 1e-6, 1e-2), readout["fractions"][1:]
    if others:
        readout["fractions"] = [rare, *(f * (1.0 - rare) / math.fsum(others) for f in others)]


def _values(data: Data, draw: random.Random) -> None:
    """Up to six values that are equal, opposite, zero, or a millionth apart."""
    if "loadings" in data.get("spike", {}):
        return
    first, blocks = draw.uniform(0.3, 1.5), draw.randint(2, 6)
    others = [draw.choice((first, -first, 0.0, first + 1e-6, draw.uniform(-2.0, 2.0))) for _ in range(blocks - 1)]
    parts = [draw.uniform(0.1, 1.0) for _ in range(blocks)]
    data["network"]["readout"] = {"values": [first, *others], "fractions": [p / math.fsum(parts) for p in parts]}


def _aligned(data: Data, draw: random.Random) -> None:
    if "spike" in data and not _has_rows(data):
        data["spike"]["alignment"] = draw.choice((1.0, -1.0))


def _flips(data: Data, draw: random.Random) -> None:
    if _of_margin(data):
        data["target"]["flips"] = draw.uniform(0.45, 0.499)


def _probit(data: Data, draw: random.Random) -> None:
    data["target"]["probit"] = _log_uniform(draw, 1e-6, 100.0)


def _two_indices(data: Data, draw: random.Random) -> None:
    data["target"]["link"] = draw.choice(SIGNS_OF_TWO if _of_margin(data) else OF_TWO)
    if "spike" in data:
        angle, length = draw.uniform(0.0, 6.28), draw.choice((1.0, draw.random()))
        data["spike"].pop("loadings", None)
        data["spike"]["alignment"] = [length * math.cos(angle), length * math.sin(angle)]


def _several_directions(data: Data, draw: random.Random) -> None:
    if data["target"]["link"] in (*OF_TWO, *SIGNS_OF_TWO):
        return
    rank, blocks = draw.choice((2, 2, 3)), len(data["network"]["readout"]["values"])
    along = [draw.gauss(0.0, 1.0) for _ in range(rank)]
    length = math.hypot(*along) / draw.choice((1.0, draw.random()))
    data.pop("step", None)
    data["spike"] = {
        "strength": draw.uniform(0.1, 3.0),
        "bulk_variance": draw.choice((1.0, draw.uniform(1.0, 3.0))),
        "alignment": [a / length for a in along],
        "loadings": [[draw.choice((0.0, 1.0, draw.gauss(0.0, 1.0))) for _ in along] for _ in range(blocks)],
    }


def _trained(data: Data, draw: random.Random) -> None:
    if "step" in data:
        data["step"]["bulk"] = "trained"
        data["network"]["initialisation"] = draw.choice(("sphere", "gaussian"))


def _has_rows(data: Data) -> bool:
    return isinstance(data.get("spike", {}).get("alignment"), list)


def _log_uniform(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


# what takes long, and what touches few of the models, seldom and often
CHANGES: tuple[tuple[Callable[[Data, random.Random], None], int], ...] = (
    (_activation, 10),
    (_link, 6),
    (_ridge, 10),
    (_samples, 8),
    (_fractions, 10),
    (_values, 14),
    (_aligned, 8),
    (_flips, 8),
    (_probit, 10),
    (_two_indices, 6),
    (_several_directions, 5),
    (_trained, 5),
)
