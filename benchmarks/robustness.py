"""Solve many random models of the whole domain; count what is solved and what is refused, and look for wrong numbers.

Usage: python benchmarks/robustness.py [--models 10000] [--first 0] [--seeds 0 ...] [--workers 1] [--certify 1]
    [--wide [KIND]]

So many models are drawn from each seed, and counted together.
Every answer has to pass conditions that do not come from the solver (``suspicions``), and the certificate of a second
implementation of every average (``certify``); a refusal has to be a sentence.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from certify import DIFFERS, Certified, certificates_report, certified
from wide_domain import ANY, CHANGES, WIDE, widened

from derive.language.catalogue import REGISTERED
from giantstep.law.moments import link_moments
from giantstep.spec.errors import GiantstepError
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import link_values
from giantstep.spec.model import Model, Target
from giantstep.system.result import Result
from giantstep.system.solve import solve

JUMPING = ("sign", "step")


@dataclass(frozen=True)
class Outcome:
    """One model of a seed: "solved", "refused" (with the kind of refusal) or "crashed"; what looks wrong about it.

    certificate: of an answer, where one was asked for.
    """

    number: int
    seed: int
    model: dict[str, Any]
    dimension: int | None
    status: str
    reason: str
    residual: float
    seconds: float
    wrong: tuple[str, ...]
    certificate: Certified | None = None


def random_model(number: int, seed: int = 0) -> tuple[dict[str, Any], int | None]:
    """Model ``number`` of the domain, as a dictionary, and the dimension to solve it at (None: the limit)."""
    draw = random.Random(seed * 1_000_003 + number)
    width, ridge = _log_uniform(draw, 0.1, 10.0), _log_uniform(draw, 1e-8, 10.0)
    alpha = _log_uniform(draw, 0.05, 10.0)
    if draw.random() < 0.1:  # the interpolation peak
        alpha, ridge = width, draw.choice((1e-8, 1e-6, 1e-3))
    names = sorted(REGISTERED)
    flavour = draw.choice(("step", "step", "spike", "spike", "plain"))
    activation = draw.choice([n for n in names if flavour != "step" or n not in JUMPING])
    data: dict[str, Any] = {
        "network": {
            "activation": activation,
            "width": width,
            "readout": _readout(draw),
            "bias": draw.choice((0.0, 0.0, 0.0, draw.uniform(-2.0, 2.0))),
        },
        "target": {
            "link": draw.choice(names),
            "noise": draw.choice((0.0, 0.0, _log_uniform(draw, 1e-4, 1.0))),
        },
        "fit": {"samples": alpha, "ridge": ridge},
    }
    if flavour == "step":
        rate = draw.choice((0.0, draw.uniform(0.0, 10.0), draw.uniform(0.0, 3.0), _log_uniform(draw, 1e-6, 1.0)))
        data["step"] = {"samples": _log_uniform(draw, 0.1, 100.0), "learning_rate": rate}
    elif flavour == "spike":
        data["spike"] = {
            "strength": draw.choice((0.0, draw.uniform(0.0, 5.0), _log_uniform(draw, 1e-6, 100.0))),
            "alignment": draw.choice((draw.uniform(-1.0, 1.0), draw.uniform(0.0, 1.0), 1.0, -1.0, 0.0, 1.0 - 1e-9)),
            "bulk_variance": draw.choice((1.0, draw.uniform(1.0, 3.0))),
        }
    return data, draw.choice((None, None, 1000, 100))


def _readout(draw: random.Random) -> dict[str, list[float]]:
    blocks = draw.choice((1, 1, 2, 2, 3, 4))
    kind = draw.choice(("spread", "near", "opposite", "equal"))
    if blocks == 1:
        return {"values": [draw.choice((1.0, 1.0, -1.0, draw.uniform(0.1, 2.0)))], "fractions": [1.0]}
    first = draw.uniform(0.2, 1.5)
    values = [first]
    for position in range(1, blocks):
        choices = {
            "spread": draw.uniform(-2.0, 2.0),
            "near": first + _log_uniform(draw, 1e-9, 1e-2),
            "opposite": first * (-1.0) ** position,
            "equal": first,
        }
        values.append(choices[kind])
    parts = [draw.uniform(0.1, 1.0) for _ in values]
    return {"values": values, "fractions": [p / math.fsum(parts) for p in parts]}


def _log_uniform(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def suspicions(result: Result) -> tuple[str, ...]:
    """What contradicts the meaning of the numbers, in words; empty for a sound result.

    Allowed is rounding: 1e-7 of the numbers compared (equations hold to 1e-10 of their terms, which may cancel to
    1e-3 of them), and 1e-14 of the loss of the zero readout where nearly everything is learned.
    """
    q, fit = result.order_parameters, result.model.fit
    labels, blur = label_square(result.model.target)
    rounding = 1e-14 * fit.samples * labels
    wrong = []
    numbers = [
        result.test_error,
        result.train_error,
        result.free_energy,
        *(x for v in q.values() for x in v.ravel()),
    ]
    if not all(math.isfinite(x) for x in numbers):
        wrong.append("not finite")
    loss = result.training_loss
    if not abs(loss - result.free_energy) <= 1e-7 * abs(loss) + rounding:
        wrong.append(f"free energy {result.free_energy:.10g} is not the training loss {loss:.10g}")
    if result.free_energy > 0.5 * fit.samples * labels * (1.0 + blur):
        wrong.append(f"the objective {result.free_energy:.6g} is above that of the zero readout")
    if result.test_error < 0.0 or result.train_error < 0.0:
        wrong.append(f"negative error: test {result.test_error:.3g}, train {result.train_error:.3g}")
    for name in ("Q1", "V1"):
        if not np.allclose(q[name], q[name].T, rtol=1e-7, atol=1e-7 * np.abs(q[name]).max()):
            wrong.append(f"{name} is not symmetric")
        lowest = np.linalg.eigvalsh(0.5 * (q[name] + q[name].T)).min()
        if lowest < -1e-7 * np.abs(q[name]).max():
            wrong.append(f"{name} has the eigenvalue {lowest:.3g} beside {np.abs(q[name]).max():.3g}")
    # Cauchy-Schwarz: psi_b is the overlap of a unit vector with a vector of squared norm Q1_bb
    excess = (q["psi"].reshape(len(q["Q1"]), -1) ** 2).sum(axis=1) - np.diag(q["Q1"])
    if excess.max() > 1e-7 * max(np.abs(q["Q1"]).max(), 1e-300):
        wrong.append(f"psi^2 exceeds Q1 by {excess.max():.3g}")
    if np.any(q["V2"] * fit.ridge > np.array(result.vocabulary.network.readout.fractions) * (1 + 1e-9)):
        wrong.append("V2 exceeds fraction/ridge")
    norm = float(q["Q2"].sum()) * result.model.network.width
    if fit.ridge * norm > 2.0 * result.free_energy * (1.0 + 1e-7) + rounding:
        wrong.append("the ridge term exceeds the training objective")
    return tuple(wrong)


def label_square(target: Target) -> tuple[float, float]:
    """E y^2 with all noise, and its relative error: of several indices or with noise inside the link by sampling."""
    if target.indices == 1 and target.probit == 0.0:
        moments = link_moments(target.link, function_kernel(target.link).BREAKPOINTS)
        return moments.square + target.noise, 1e-9
    z = np.random.default_rng(0).standard_normal((target.indices, 200_000)) * math.sqrt(1.0 + target.probit)
    squares = link_values(target.link)(z) ** 2
    return float(squares.mean()) + target.noise, 8.0 * float(squares.std() / squares.mean()) / math.sqrt(squares.size)


def attempt(number: int, seed: int = 0, wide: str = "", certify: int = 0) -> Outcome:
    """Draw and solve one model; ``wide``: a kind of the domain's further reaches; certify: every so many answers."""
    data, dimension = random_model(number, seed)
    if wide:
        data = widened(data, number, seed, wide)
    start = time.perf_counter()

    def outcome(status: str, reason: str, residual: float = 0.0, wrong: tuple[str, ...] = ()) -> Outcome:
        return Outcome(number, seed, data, dimension, status, reason, residual, time.perf_counter() - start, wrong)

    try:
        result = solve(Model.from_dict(data), dimension=dimension)
    except GiantstepError as error:
        bad = () if error.message and error.hint else ("a refusal without a sentence or a hint",)
        return outcome("refused", f"{type(error).__name__}: {_kind(error.message)}", wrong=bad)
    except Exception as error:  # noqa: BLE001 - the benchmark is there to find these
        return outcome("crashed", f"{type(error).__name__}: {error}"[:200], wrong=("crash",))
    found = outcome("solved", "", result.residual, suspicions(result))
    return with_certificate(found, result) if certify and number % certify == 0 else found


def with_certificate(outcome: Outcome, result: Result) -> Outcome:
    """The outcome with the certificate of its result; a difference looks wrong."""
    found = certified(result)
    wrong = (f"the second implementation differs: {found.reason}",) if found.status == DIFFERS else ()
    return replace(outcome, certificate=found, wrong=outcome.wrong + wrong)


def _kind(message: str) -> str:
    """A message without its numbers."""
    return " ".join("#" if any(c.isdigit() for c in word) else word for word in message.split())[:90]


def attempts(draws: list[tuple[int, int]], workers: int, wide: str, certify: int) -> Iterator[Outcome]:
    """Outcomes of models (number, seed), in order."""
    if workers == 1:
        yield from (attempt(number, seed, wide, certify) for number, seed in draws)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(attempt, *zip(*draws, strict=True), repeat(wide), repeat(certify), chunksize=20)


def arguments(description: str, models: int) -> argparse.ArgumentParser:
    """What both random suites are told: how many models of which seeds, and what is done with each."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=models, help="drawn from each seed")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="one or several, in one count")
    parser.add_argument("--certify", type=int, default=1, help="certify every so many models, 0 for none")
    parser.add_argument("--wide", nargs="?", const=ANY, default="", choices=(ANY, *CHANGES), help=WIDE)
    return parser


def drawn(options: argparse.Namespace) -> list[tuple[int, int]]:
    """The models that are asked for: (number, seed)."""
    return [(options.first + k, seed) for seed in options.seeds for k in range(options.models)]


def main() -> None:
    """Run from the command line."""
    parser = arguments(__doc__ or "", 10_000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    outcomes = []
    for outcome in attempts(drawn(options), options.workers, options.wide, options.certify):
        outcomes.append(outcome)
        if outcome.wrong or options.wide and outcome.status != "solved":
            print(f"model {outcome.number} of seed {outcome.seed}, dimension {outcome.dimension}:", end=" ")
            print("; ".join(outcome.wrong), flush=True)
            print(f"  {outcome.reason} {outcome.model}", flush=True)
    report(outcomes)


def report(outcomes: list[Outcome]) -> None:
    """Counts by outcome and reason, worst residual, times; then of the certificates."""
    solved = [o for o in outcomes if o.status == "solved"]
    print(f"{len(outcomes)} models: {len(solved)} solved, {sum(bool(o.wrong) for o in outcomes)} suspicious")
    for reason, count in Counter(f"{o.status}: {o.reason}" for o in outcomes if o.status != "solved").most_common():
        print(f"{count:7d}  {reason}")
    if solved:
        times = sorted(o.seconds for o in solved)
        print(
            f"worst residual {max(o.residual for o in solved):.1e}; median {times[len(times) // 2] * 1e3:.2f} ms, "
            f"slowest {times[-1]:.2f} s"
        )
    certificates_report([o.certificate for o in solved if o.certificate is not None])


if __name__ == "__main__":
    main()
