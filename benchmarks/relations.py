"""Solve random models and others that have to agree with them: the same network in turned letters, another form of the
same loss, a value in two halves, other units.

Usage: python benchmarks/relations.py [--models 500] [--seeds 0 ...] [--wide [KIND]] [--square] [--only NAME ...]

Two resolutions that share a fault agree; two forms of one model seldom share it. Models are those of
``robustness_losses.py``, with ``--square`` of ``robustness.py``. Errors and the free energy may differ by what both
tell of their errors.
"""

from __future__ import annotations

import copy
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robustness import arguments, drawn, random_model
from robustness_losses import random_loss_model
from wide_domain import widened

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.language.parity import parity
from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

Data = dict[str, Any]
TOLD = 10.0  # times the told errors of both
EQUATIONS = 3e-9  # equations hold to 1e-10 of their terms, which may cancel
SMALL = 1e-5  # of the labels: what is told is relative to that, of errors below it
SCALES = {"test": 1.0, "train": 1.0, "free": 1.0}


@dataclass(frozen=True)
class Other:
    """A model that is related to a given one: numbers of it are ``scale`` times those of the given one; numbers that
    are not named differ.
    """

    data: Data
    scale: dict[str, float]


def turned(data: Data, draw: random.Random) -> Other | None:
    """The letters of the target in turned axes; a target of one index as one of two."""
    spike, link = data.get("spike", {}), _written(data["target"]["link"])
    if "inputs" in data or "loadings" in spike:
        return None
    c, s = draw.choice(((0.6, 0.8), (5.0 / 13.0, 12.0 / 13.0), (0.0, 1.0), (-0.8, 0.6)))
    if re.search(r"\bz[12]\b", link):
        new = {"z1": f"({c!r}*z1-({s!r})*z2)", "z2": f"({s!r}*z1+({c!r})*z2)"}
        along = spike.get("alignment", [0.0, 0.0])
        along = [c * along[0] + s * along[1], c * along[1] - s * along[0]]
    else:
        new = {"z": f"({c!r}*z1+({s!r})*z2)"}
        along = [c * spike.get("alignment", 0.0), s * spike.get("alignment", 0.0)]
    found = _with(data, "target", "link", re.sub(r"\bz[12]?\b", lambda m: new[m.group()], link))
    if spike:
        found["spike"]["alignment"] = along
    return Other(found, SCALES)


def mirrored(data: Data, _draw: random.Random) -> Other | None:
    """Labels and readouts of the other sign."""
    name, entry = _loss(data)
    if "inputs" in data or isinstance(data.get("step"), list) or not _has_values(data) or entry.form == "general":
        return None
    found = _with(data, "target", "link", f"-({_written(data['target']['link'])})")
    if name == "quantile":
        found["fit"]["loss"] = {"name": name, "tau": 1.0 - _parameters(data).get("tau", 0.5)}
    if "step" in data:
        found["network"]["readout"]["values"] = [-v for v in data["network"]["readout"]["values"]]
    return Other(found, SCALES)


def halved(data: Data, draw: random.Random) -> Other | None:
    """A readout value in two parts."""
    readout = data["network"]["readout"]
    if "values" not in readout or len(readout["values"]) > 4:
        return None
    at, part = draw.randrange(len(readout["values"])), draw.uniform(0.1, 0.9)
    found = copy.deepcopy(data)
    tables = [(found["network"]["readout"], ("values", "biases")), (found.get("spike", {}), ("loadings",))]
    for table, names in tables:
        for name in names:
            if name in table:
                table[name].insert(at, table[name][at])
    fractions = found["network"]["readout"].setdefault("fractions", [1.0] if len(readout["values"]) == 1 else None)
    if fractions is None:
        return None
    fractions[at : at + 1] = [part * fractions[at], (1.0 - part) * fractions[at]]
    return Other(found, SCALES)


def imaged(data: Data, draw: random.Random) -> Other | None:
    """Some neurons as their mirror images: of an odd activation those of (-u, -b), of an even one those of (u, -b), or
    of (-u, -b) around a spike that is given.
    """
    readout, bias, spike = data["network"]["readout"], data["network"].get("bias", 0.0), data.get("spike", {})
    of_activation = parity(parse(lookup(data["network"]["activation"]).expression))
    half = halved(data, draw)
    if half is None or of_activation is None or "penalty" in data["fit"] or not isinstance(bias, float):
        return None
    if bias and any("bulk" in step for step in _steps(data)):
        return None
    found, old = half.data, readout["values"]
    new = found["network"]["readout"]["values"]
    at = next(k for k in range(len(new)) if new[:k] + new[k + 1 :] == old)
    sign = 1.0 if of_activation == 1 and not spike else -1.0
    new[at] *= sign
    if bias or "biases" in readout:
        biases = [bias + own for own in found["network"]["readout"].get("biases", [0.0] * len(new))]
        biases[at] *= -1.0
        found["network"]["readout"]["biases"] = biases
        found["network"]["bias"] = 0.0
    if "loadings" in spike:
        found["spike"]["loadings"][at] = [-x for x in found["spike"]["loadings"][at]]
    return Other(found, SCALES)


def exchanged(data: Data, _draw: random.Random) -> Other | None:
    """Readout values in the other order."""
    readout = data["network"]["readout"]
    if len(readout.get("values", [])) < 2 or "fractions" not in readout:
        return None
    found = copy.deepcopy(data)
    for name in ("values", "fractions", "biases"):
        if name in readout:
            found["network"]["readout"][name].reverse()
    if "loadings" in found.get("spike", {}):
        found["spike"]["loadings"].reverse()
    return Other(found, SCALES)


def louder(data: Data, draw: random.Random) -> Other | None:
    """The activation times a number, readout values over it, and the ridge that allows that."""
    if not _has_values(data) or "penalty" in data["fit"]:
        return None
    factor = draw.choice((0.3, 3.0, -2.0))
    found = _with(data, "network", "activation", f"{factor!r}*({_written(data['network']['activation'])})")
    if "step" in data:  # of a spike that is given they are its loadings
        found["network"]["readout"]["values"] = [v / factor for v in data["network"]["readout"]["values"]]
    found["fit"]["ridge"] = data["fit"]["ridge"] * factor**2
    return Other(found, SCALES)


def other_units(data: Data, draw: random.Random) -> Other | None:
    """Labels and readouts in other units, for losses that scale with them."""
    name, _entry = _loss(data)
    degree = {"square": 2, "absolute": 1, "quantile": 1}.get(name)
    if degree is None or not _has_values(data):
        return None
    unit = draw.choice((0.2, 7.0))
    found = _with(data, "target", "link", f"{unit!r}*({_written(data['target']['link'])})")
    found["target"]["noise"] = data["target"].get("noise", 0.0) * unit**2
    found["fit"]["ridge"] = data["fit"]["ridge"] * unit ** (degree - 2)
    if "step" in data:
        found["network"]["readout"]["values"] = [unit * v for v in data["network"]["readout"]["values"]]
    for step in _steps(found):
        step["learning_rate"] /= unit**2
    return Other(found, {"test": unit**2, "train": unit**degree, "free": unit**degree})


def weighted(data: Data, draw: random.Random) -> Other | None:
    """A number times the loss, as an expression; the ridge follows."""
    name, entry = _loss(data)
    if entry.form == "general" or "penalty" in data["fit"]:
        return None
    weight = draw.choice((0.25, 3.0))
    found = _with(data, "fit", "loss", f"{weight!r}*({_expression(data)})")
    found["fit"]["ridge"] = data["fit"]["ridge"] * weight
    return Other(found, {"test": 1.0, "train": weight / entry.error_scale, "free": weight})


def other_form(data: Data, _draw: random.Random) -> Other | None:
    """The same loss by another of its forms, on the labels of the model."""
    name, given = _loss(data)[0], _parameters(data)
    labels_are_signs = "sign" in str(data["target"]["link"]) and not data["target"].get("noise", 0.0)
    both, training = SCALES, {"train": 1.0, "free": 1.0}
    if name == "square" and data["target"]["link"] == "sign" and labels_are_signs:
        return Other(_with(data, "fit", "loss", "(1-y*f)**2/2"), {"train": 0.5, "free": 1.0})
    if name == "square":
        return Other(
            _with(data, "fit", "loss", {"name": "huber", "delta": 1e7}), {"test": 1.0, "train": 0.5, "free": 1.0}
        )
    if name == "logistic":
        return Other(_with(data, "fit", "loss", "log(2*cosh(f/2))-y*f/2"), training)
    if name == "quantile" and given.get("tau", 0.5) == 0.5:
        found = _with(data, "fit", "loss", "absolute")
        found["fit"]["ridge"] = 2.0 * data["fit"]["ridge"]
        return Other(found, {"test": 1.0, "train": 2.0, "free": 2.0})
    if name == "absolute":
        return Other(_with(data, "fit", "loss", "max(y-f,f-y)"), both)
    if name == "hinge":
        return Other(_with(data, "fit", "loss", "(1-y*f+abs(1-y*f))/2"), both)
    return None


def idle_step(data: Data, draw: random.Random) -> Other | None:
    """One more step, of rate zero, on a batch of its own; a spike of no strength."""
    if "inputs" in data or "spike" in data or "biases" in data["network"]["readout"] or not _has_values(data):
        return None
    found = copy.deepcopy(data)
    if "step" not in data:
        found["spike"] = {"strength": 0.0, "alignment": draw.uniform(-1.0, 1.0), "bulk_variance": 1.0}
        if re.search(r"\bz[12]\b", str(data["target"]["link"])):
            return None
        return Other(found, SCALES)
    first = data["step"]
    if isinstance(first, list) or "bulk" in first or len(data["network"]["readout"]["values"]) > 3:
        return None
    found["step"] = [first, {"samples": draw.uniform(1.0, 9.0), "learning_rate": 0.0}]
    return Other(found, SCALES)


def equal_inputs(data: Data, draw: random.Random) -> Other | None:
    """Inputs whose eigenvalues are equal, in several classes of directions."""
    spike = data.get("spike", {})
    if "inputs" in data or isinstance(data.get("step"), list) or "biases" in data["network"]["readout"]:
        return None
    if spike or "bulk" in data.get("step", {}) or re.search(r"\bz[12]\b", str(data["target"]["link"])):
        return None
    part = draw.uniform(0.2, 0.8)
    found = copy.deepcopy(data)
    found["inputs"] = {"eigenvalues": [1.0, 1.0], "weights": [part, 1.0 - part]}
    return Other(found, SCALES)


RELATIONS: dict[str, Callable[[Data, random.Random], Other | None]] = {
    function.__name__: function
    for function in (
        turned,
        mirrored,
        halved,
        imaged,
        exchanged,
        louder,
        other_units,
        weighted,
        other_form,
        idle_step,
        equal_inputs,
    )
}


def _written(function: str) -> str:
    """A link or activation as an expression."""
    return function if re.search(r"\bz[12]?\b", function) else f"{function}(z)"


def _with(data: Data, table: str, key: str, value: object) -> Data:
    found = copy.deepcopy(data)
    found[table][key] = value
    return found


def _has_values(data: Data) -> bool:
    return "values" in data["network"]["readout"]


def _steps(data: Data) -> list[Data]:
    found = data.get("step", [])
    return found if isinstance(found, list) else [found]


def _loss(data: Data) -> tuple[str, Any]:
    loss = data["fit"].get("loss", "square")
    name = loss if isinstance(loss, str) else loss["name"]
    return name, LOSSES[name]


def _parameters(data: Data) -> dict[str, float]:
    loss = data["fit"].get("loss", "square")
    return {} if isinstance(loss, str) else {k: v for k, v in loss.items() if k != "name"}


def _expression(data: Data) -> str:
    """The loss as an expression with numbers for its parameters."""
    _name, entry = _loss(data)
    given = {p.name: p.default for p in entry.parameters} | _parameters(data)
    found: str = entry.expression
    for parameter, value in given.items():
        found = re.sub(rf"\b{parameter}\b", f"({value!r})", found)
    return found


def difference(result: Result, other: Result, scale: dict[str, float]) -> tuple[float, str]:
    """The largest difference of two results in units of what is allowed, and which number it is of."""
    told = TOLD * (result.quadrature_error + other.quadrature_error) + EQUATIONS
    numbers = {"test": "test_error", "train": "train_error", "free": "free_energy"}
    floor = max(SMALL * abs(result.free_energy) / result.model.fit.samples, 1e-300)
    found = {}
    for key, factor in scale.items():
        mine, its = (getattr(r, numbers[key]) for r in (result, other))
        found[key] = abs(its / factor - mine) / (told * max(abs(mine), floor))
    worst = max(found, key=lambda key: found[key])
    return found[worst], worst


def compare(data: Data, dimension: int | None, relation: str, draw: random.Random) -> tuple[str, str]:
    """What became of a pair, in a word, and what there is to say."""
    other = RELATIONS[relation](data, draw)
    if other is None:
        return "does not apply", ""
    answers: list[Result | None] = []
    reasons = []
    for model in (data, other.data):
        try:
            answers.append(solve(Model.from_dict(model), dimension=dimension))
        except GiantstepError as error:
            answers.append(None)
            reasons.append(error.message)
    first, second = answers
    if first is None or second is None:
        status = "both refused" if first is second else "one refused"
        return status, f"{'given' if first is None else 'other'}: {reasons[0]}"
    off, name = difference(first, second, other.scale)
    if off <= 1.0:
        return "agrees", ""
    numbers = [(r.test_error, r.train_error, r.free_energy, r.quadrature_error) for r in (first, second)]
    return "DIFFERS", f"{name} by {off:.1e} of what is allowed: {numbers[0]}, {numbers[1]}"


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__ or "", 500)
    parser.add_argument("--square", action="store_true", help="models with the square loss")
    parser.add_argument("--only", nargs="+", default=sorted(RELATIONS), choices=sorted(RELATIONS))
    given = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for number, seed in drawn(given):
        draw = random.Random(seed * 5_000_011 + number)
        data, dimension = (random_model if given.square else random_loss_model)(number, seed)
        if given.wide:
            data = widened(data, number, seed, given.wide)
        relation, start = draw.choice(given.only), time.perf_counter()
        status, words = compare(data, dimension, relation, draw)
        counts[relation, status] += 1
        if status in ("DIFFERS", "one refused"):
            took = time.perf_counter() - start
            print(
                f"{number} of seed {seed}, {relation}: {status}, {words}, {took:.1f} s, d = {dimension}",
                data,
                flush=True,
            )
    for (relation, status), count in sorted(counts.items()):
        print(f"  {relation:14s} {status:15s} {count}")


if __name__ == "__main__":
    main()
