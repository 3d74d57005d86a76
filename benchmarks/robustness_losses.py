"""Solve many random models with every registered loss; count what is solved and refused, and look for wrong numbers.

Usage: python benchmarks/robustness_losses.py [--models 2000] [--seeds 0 ...] [--certify 1] [--wide [KIND]]

Models are those of ``robustness.py`` with a loss, its parameters and, for losses of the margin, labels +-1 with flips
and probit noise. Answers get the certificate of a second implementation of every average (``certify``).
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from typing import Any

import numpy as np
from robustness import Outcome, arguments, drawn, random_model, report, with_certificate
from wide_domain import widened

from derive.language.loss_catalogue import REGISTERED
from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

# labels of these may be any number, or +-1; those of counts are nothing that the models here draw
LOSSES = sorted(name for name, entry in REGISTERED.items() if name != "square" and not entry.predicts_mean)
SIGNS = ("sign", "sign", "sign(z-0.4)", "sign(z*z-0.5)", "2*step(z+1)-1")


def random_loss_model(number: int, seed: int = 0) -> tuple[dict[str, Any], int | None]:
    """Model ``number``, as a dictionary, and the dimension to solve it at."""
    data, dimension = random_model(number, seed)
    draw = random.Random(seed * 7_000_003 + number)
    entry = REGISTERED[draw.choice(LOSSES)]
    low_high = {p.name: (max(p.low, 1e-2), min(p.high, 10.0)) for p in entry.parameters}
    chosen = {name: draw.uniform(*ends) for name, ends in low_high.items() if draw.random() < 0.7}
    data["fit"]["loss"] = {"name": entry.name, **chosen} if chosen else entry.name
    target = data["target"]
    if entry.form == "margin":
        target["link"], target["noise"] = draw.choice(SIGNS), 0.0
        target["flips"] = draw.choice((0.0, 0.0, draw.uniform(0.0, 0.5)))
        target["probit"] = draw.choice((0.0, 0.0, draw.uniform(0.0, 2.0)))
    return data, dimension


def suspicions(result: Result) -> tuple[str, ...]:
    """What contradicts the meaning of the numbers, in words; empty for a sound result."""
    q, loss = result.order_parameters, result.training_loss
    wrong = []
    numbers = [result.test_error, result.train_error, result.free_energy, *(x for v in q.values() for x in v.ravel())]
    if not all(math.isfinite(x) for x in numbers):
        wrong.append("not finite")
    if not abs(loss - result.free_energy) <= 1e-7 * abs(loss):
        wrong.append(f"free energy {result.free_energy:.10g} is not the training loss {loss:.10g}")
    if result.model.fit.loss.form == "margin" and not 0.0 <= result.test_error <= 1.0:
        wrong.append(f"a misclassification probability of {result.test_error:.3g}")
    if result.test_error < 0.0 or result.train_error < -1e-12:
        wrong.append(f"negative error: test {result.test_error:.3g}, train {result.train_error:.3g}")
    for name in ("Q1", "V1"):
        lowest = np.linalg.eigvalsh(0.5 * (q[name] + q[name].T)).min()
        if lowest < -1e-7 * np.abs(q[name]).max():
            wrong.append(f"{name} has the eigenvalue {lowest:.3g} beside {np.abs(q[name]).max():.3g}")
    if np.any(q["V2"] * result.model.fit.ridge > np.array(result.vocabulary.network.readout.fractions) * (1 + 1e-9)):
        wrong.append("V2 exceeds fraction/ridge")
    return tuple(wrong)


def attempt(number: int, seed: int, wide: str = "", certify: int = 0) -> Outcome:
    """Draw and solve one model; ``wide``: a kind of the domain's further reaches; certify: every so many answers."""
    data, dimension = random_loss_model(number, seed)
    if wide:
        data = widened(data, number, seed, wide)
    start = time.perf_counter()

    def outcome(status: str, reason: str, residual: float = 0.0, wrong: tuple[str, ...] = ()) -> Outcome:
        return Outcome(number, seed, data, dimension, status, reason, residual, time.perf_counter() - start, wrong)

    try:
        result = solve(Model.from_dict(data), dimension=dimension)
    except GiantstepError as error:
        words = " ".join("#" if any(c.isdigit() for c in word) else word for word in error.message.split())[:70]
        bad = () if error.message and error.hint else ("a refusal without a sentence or a hint",)
        return outcome("refused", f"{type(error).__name__}: {words}", wrong=bad)
    except Exception as error:  # noqa: BLE001 - the benchmark is there to find these
        return outcome("crashed", f"{type(error).__name__}: {error}"[:200], wrong=("crash",))
    found = outcome("solved", "", result.residual, suspicions(result))
    return with_certificate(found, result) if certify and number % certify == 0 else found


def main() -> None:
    """Run from the command line."""
    given = arguments(__doc__ or "", 2000).parse_args()
    outcomes = []
    for number, seed in drawn(given):
        outcome = attempt(number, seed, given.wide, given.certify)
        outcomes.append(outcome)
        if outcome.status != "solved" or outcome.wrong:
            words = "; ".join(outcome.wrong) or outcome.reason
            print(f"model {number} of seed {seed}: {outcome.status}, {words}, {outcome.seconds:.1f} s", end=" ")
            print(outcome.model, flush=True)
    report(outcomes)
    by_loss = Counter((Model.from_dict(o.model).fit.loss.name, o.status) for o in outcomes)
    for (loss, status), count in sorted(by_loss.items()):
        print(f"  {loss:20s} {status:8s} {count}")


if __name__ == "__main__":
    main()
