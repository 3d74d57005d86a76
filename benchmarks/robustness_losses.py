"""Solve many random models with every registered loss; count what is solved and refused, and look for wrong numbers.

Usage: python benchmarks/robustness_losses.py [--models 2000] [--seed 0] [--recheck 50] [--wide]

Models are those of ``robustness.py`` with a loss, its parameters and, for losses of the margin, labels +-1 with flips
and probit noise. A sample of the answers is solved again on a finer quadrature from another start.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from robustness import Outcome, random_model, report
from wide_domain import widened

from derive.language.loss_catalogue import REGISTERED
from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import Level
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.label_refinement import system_at
from giantstep.system.merged_blocks import merged
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.result import Result
from giantstep.system.solve import solve

SIGNS = ("sign", "sign", "sign(z-0.4)", "sign(z*z-0.5)", "2*step(z+1)-1")


def random_loss_model(number: int, seed: int = 0) -> tuple[dict[str, Any], int | None]:
    """Model ``number``, as a dictionary, and the dimension to solve it at."""
    data, dimension = random_model(number, seed)
    draw = random.Random(seed * 7_000_003 + number)
    entry = REGISTERED[draw.choice(sorted(name for name in REGISTERED if name != "square"))]
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
    if np.any(q["V2"] * result.model.fit.ridge > np.array(result.model.network.readout.fractions) * (1 + 1e-9)):
        wrong.append("V2 exceeds fraction/ridge")
    return tuple(wrong)


def attempt(number: int, seed: int, wide: bool = False) -> tuple[Outcome, Result | None]:
    """Draw and solve one model; ``wide``: of the domain's further reaches."""
    data, dimension = random_loss_model(number, seed)
    if wide:
        data = widened(data, number, seed)
    start = time.perf_counter()

    def outcome(status: str, reason: str, residual: float = 0.0, wrong: tuple[str, ...] = ()) -> Outcome:
        return Outcome(number, data, dimension, status, reason, residual, time.perf_counter() - start, wrong)

    try:
        result = solve(Model.from_dict(data), dimension=dimension)
    except GiantstepError as error:
        words = " ".join("#" if any(c.isdigit() for c in word) else word for word in error.message.split())[:70]
        bad = () if error.message and error.hint else ("a refusal without a sentence or a hint",)
        return outcome("refused", f"{type(error).__name__}: {words}", wrong=bad), None
    except Exception as error:  # noqa: BLE001 - the benchmark is there to find these
        return outcome("crashed", f"{type(error).__name__}: {error}"[:200], wrong=("crash",)), None
    return outcome("solved", "", result.residual, suspicions(result)), result


def recheck(result: Result) -> float:
    """Largest relative change of order parameters and test error when solved finer from a start that is off by 1 %."""
    problem, _ = merged(problem_of(result.model, result.dimension))
    if not result.order_parameters["Q2"].any():  # a readout that is zero exactly
        return 0.0
    known = solve_coupled(problem, 1e-10).order_parameters
    level = Level(14, 90, 1, 1)
    x = CoupledSystem(problem, level).unknowns(known)
    system = system_at(problem, replace(level, cuts=cuts_at(problem, x)), x)
    start = x * (1.0 + 0.01 * np.cos(np.arange(len(x))))
    found = newton(system, start, most=60)
    if not found.converged:
        return math.nan
    change = float(np.max(np.abs(found.x - x) / system.scale(x)))
    return max(change, abs(system.test_error(found.x) / result.test_error - 1.0))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recheck", type=int, default=50, help="solve every so many answers again, 0 for none")
    parser.add_argument("--wide", action="store_true", help="take one or two things of every model further")
    given = parser.parse_args()
    outcomes, changes = [], []
    for number in range(given.first, given.first + given.models):
        outcome, result = attempt(number, given.seed, given.wide)
        outcomes.append(outcome)
        if outcome.status != "solved":
            print(outcome.number, outcome.status, outcome.reason, f"{outcome.seconds:.1f} s", outcome.model, flush=True)
        if result is not None and given.recheck and len(outcomes) % given.recheck == 0:
            changes.append(recheck(result))
    report(outcomes)
    by_loss = Counter((Model.from_dict(o.model).fit.loss.name, o.status) for o in outcomes)
    for (loss, status), count in sorted(by_loss.items()):
        print(f"  {loss:20s} {status:8s} {count}")
    if changes:
        lost = int(np.isnan(changes).sum())
        print(
            f"{len(changes)} answers solved again: largest change of an order parameter or the test error "
            f"{np.nanmax(changes):.1e}, {lost} not solved from the perturbed start"
        )


if __name__ == "__main__":
    main()
