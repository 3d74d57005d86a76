"""The further reaches of the domain, for ``robustness.py`` and ``robustness_losses.py`` with ``--wide``.

One or two things of a random model are taken further: unregistered expressions, extreme numbers, blocks that depend on
each other, several indices, spikes of several directions, the trained bulk, structured inputs, several steps, readouts
with a density or with biases. ``--wide KIND`` (a key of CHANGES) takes this one further in every model.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

Data = dict[str, Any]
ANY = "any"  # kind of change
WIDE = "take one or two things of every model further, this kind of thing where one is named"

EXPRESSIONS = ("gelu(z)+0.1*z", "tanh(3*z)*z", "sin(5*z)", "max(z,0)**2-z/2", "log(1+exp(2*z))-abs(z)")
SHARP = (
    "tanh(30*z)",
    "sin(9*z)",
    "sign(sin(2*z))",
    "exp(-z**2)*sin(3*z)",
    "abs(abs(z)-1)",
    "erf(100*(z-1))",
    "cos(7*z)*z",
)
SHARP_SIGNS = ("sign(sin(2*z))", "sign(sin(5*z)+1/4)", "sign(abs(abs(z)-1)-1/2)", "1-2*step(z-2.5)")
OF_TWO = ("z1+z1*z2", "tanh(z1)*z2", "abs(z1)+z2")
SIGNS_OF_TWO = ("sign(z1*z2)", "sign(z1+z2/2)", "sign(z1+z2**2-1)", "sign(sin(2*z1)+z2)", "sign(abs(z1)-abs(z2))")
DENSITIES = ("gaussian", "uniform", "exp(-abs(u))", "exp(-(u-1)**2)", "step(u)*step(1-u)", "u**2*exp(-u**2)")
LOGARITHMS = ("z/2", "tanh(2*z)", "softplus(z)", "abs(z)/2", "1+sin(z)")  # of the mean of counts
LOG_ODDS = ("z", "2*z-1", "z**2-1", "3*sign(z)", "abs(z)")
MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "logistic", "exponential", "probit")


def widened(data: Data, number: int, seed: int, kind: str = ANY) -> Data:
    """The model with one or two changes, the last one of a kind where one is named."""
    draw = random.Random(seed * 9_000_011 + number)
    changes, weights = zip(*CHANGES.values(), strict=True)
    chosen = draw.choices(changes, weights, k=draw.choice((1, 1, 2)))
    if kind != ANY:
        chosen[-1] = CHANGES[kind][0]
    for change in chosen:
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


def _sharp(data: Data, draw: random.Random) -> None:
    """Links that turn sharply or often."""
    if not _has_rows(data):
        data["target"]["link"] = draw.choice(SHARP_SIGNS if _of_margin(data) else SHARP)


def _ridge(data: Data, draw: random.Random) -> None:
    data["fit"]["ridge"] = _log_uniform(draw, 10.0, 1e6)


def _samples(data: Data, draw: random.Random) -> None:
    data["fit"]["samples"] = _log_uniform(draw, 0.01, 0.05)


def _fractions(data: Data, draw: random.Random) -> None:
    """One block as rare as a millionth."""
    readout = data["network"]["readout"]
    rare, others = _log_uniform(draw, 1e-6, 1e-2), readout.get("fractions", [])[1:]
    if others:
        readout["fractions"] = [rare, *(f * (1.0 - rare) / math.fsum(others) for f in others)]


def _values(data: Data, draw: random.Random) -> None:
    """Up to six values that are equal, opposite, zero, or a millionth apart."""
    if "loadings" in data.get("spike", {}) or isinstance(data.get("step"), list):
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
    if data["target"]["link"] in (*OF_TWO, *SIGNS_OF_TWO) or "values" not in data["network"]["readout"]:
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
    if "step" not in data or "inputs" in data or "biases" in data["network"]["readout"]:
        return
    if isinstance(data["step"], list):
        data["step"][-1]["bulk"] = "trained"
        return
    data["step"]["bulk"] = "trained"
    if "density" not in data["network"]["readout"]:
        data["network"]["initialisation"] = draw.choice(("sphere", "gaussian"))


def _inputs(data: Data, draw: random.Random) -> None:
    """Eigenvalues that are given, some held by rare directions, or a power law; a target that lies along some."""
    if isinstance(data.get("step"), list) or "biases" in data["network"]["readout"]:
        return
    if "step" in data:
        data["step"].pop("bulk", None)
    if draw.random() < 0.4:
        found: Data = {"capacity": draw.uniform(0.0, 0.45), "modes": draw.choice((30, 200))}
        if draw.random() < 0.6:
            found["source"] = draw.uniform(0.0, 1.5)
    else:
        modes = draw.choice((1, 2, 3, 5))
        parts = [_log_uniform(draw, 0.05, 1.0) for _ in range(modes)]
        found = {
            "eigenvalues": [_log_uniform(draw, 1e-2, 10.0) for _ in range(modes)],
            "weights": [p / math.fsum(parts) for p in parts],
        }
        if draw.random() < 0.6:
            found["target"] = [draw.choice((0.0, draw.gauss(0.0, 1.0))) for _ in range(modes - 1)] + [
                draw.gauss(0.0, 1.0)
            ]
    data["inputs"] = found


def _steps(data: Data, draw: random.Random) -> None:
    """Two or three steps, of up to three readout values."""
    if data["network"]["activation"] in ("sign", "step"):
        data["network"]["activation"] = "tanh"
    for table in ("spike", "inputs"):
        data.pop(table, None)
    readout = data["network"]["readout"]
    if "values" not in readout or len(readout["values"]) > 3:
        data["network"]["readout"] = {"values": [1.0, draw.uniform(-2.0, 2.0)], "fractions": [0.5, 0.5]}
    data["network"].pop("initialisation", None)
    data["step"] = [
        {"samples": _log_uniform(draw, 0.3, 30.0), "learning_rate": draw.choice((draw.uniform(0.0, 2.0), 0.0, 1.0))}
        for _ in range(draw.choice((2, 2, 3)))
    ]


def _density(data: Data, draw: random.Random) -> None:
    """A density of readout values."""
    if "loadings" not in data.get("spike", {}) and not isinstance(data.get("step"), list):
        data["network"]["readout"] = {"density": draw.choice(DENSITIES)}
        data["network"].pop("initialisation", None)


def _biases(data: Data, draw: random.Random) -> None:
    """A bias for every readout value."""
    readout = data["network"]["readout"]
    if "values" in readout and "inputs" not in data and "bulk" not in data.get("step", {}):
        readout["biases"] = [draw.choice((0.0, 0.5, draw.uniform(-1.5, 1.5))) for _ in readout["values"]]


def _counts(data: Data, draw: random.Random) -> None:
    """Labels that are counts, and the loss of their likelihood."""
    trials = draw.choice((1, 3, 10))
    name, link = draw.choice((("poisson", draw.choice(LOGARITHMS)), ("binomial", draw.choice(LOG_ODDS))))
    loss: Data = {"name": name} if name == "poisson" else {"name": name, "trials": trials}
    data["target"] = {"link": link, "channel": loss}
    data["fit"]["loss"] = dict(loss)


def _has_rows(data: Data) -> bool:
    return isinstance(data.get("spike", {}).get("alignment"), list)


def _log_uniform(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


# what takes long, and what touches few of the models, seldom and often
CHANGES: dict[str, tuple[Callable[[Data, random.Random], None], int]] = {
    "activation": (_activation, 10),
    "link": (_link, 6),
    "sharp": (_sharp, 6),
    "ridge": (_ridge, 10),
    "samples": (_samples, 8),
    "fractions": (_fractions, 10),
    "values": (_values, 14),
    "aligned": (_aligned, 8),
    "flips": (_flips, 8),
    "probit": (_probit, 10),
    "two_indices": (_two_indices, 6),
    "directions": (_several_directions, 5),
    "trained": (_trained, 5),
    "inputs": (_inputs, 8),
    "steps": (_steps, 6),
    "density": (_density, 5),
    "biases": (_biases, 5),
    "counts": (_counts, 0),  # where it is named: their averages take seconds
}
