"""Penalties on the readout: a certified point at infinite dimension against one fit of a finite system, side by side.

Usage: python benchmarks/penalties.py [--dimension 400] [--repeats 5]
All times are of the processor. The fit minimises the same objective on features that are drawn, to a certified duality
gap, in the time that includes drawing them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from giantstep.observe.simulate import simulate
from giantstep.spec.model import Model
from giantstep.system.solve import solve

BASE: dict[str, Any] = {
    "network": {"activation": "tanh", "width": 1.0},
    "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.3},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.01},
}
FITS = 4
LASSO = {"name": "elastic_net", "l1": 0.1}
#: Name -> changes of that model.
CASES: dict[str, dict[str, Any]] = {
    "ridge alone": {},
    "lasso": {"fit.penalty": LASSO},
    "box": {"fit.penalty": {"name": "box", "bound": 0.5}},
    "abs(a)**1.5/10": {"fit.penalty": "abs(a)**1.5/10"},
    "lasso, logistic": {"fit.penalty": LASSO, "fit.loss": "logistic"},
    "lasso, two readout values": {
        "fit.penalty": LASSO,
        "network.readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
    },
}


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def of_points(model: Model, repeats: int) -> float:
    """The shortest time of points at samples that are new."""
    new = [model.replace({"fit.samples": model.fit.samples + 0.01 * number}) for number in range(1, repeats + 1)]
    return min(seconds(partial(solve, one)) for one in new)


def of_fits(model: Model, dimension: int) -> tuple[float, float]:
    """The shortest time of a few fits, and the mean of their test errors."""
    times, errors = [], []
    for seed in range(FITS):
        start = time.process_time()
        run = simulate(model, dimension=dimension, seeds=1, seed=seed, what="srf")
        times.append(time.process_time() - start)
        errors.append(float(run.to_dict()["test_error"]["mean"]))
    return min(times), sum(errors) / FITS


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimension", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print(f"{'penalty':28s}{'point':>10s}{'one fit':>12s}{'ratio':>8s}   test error, at d = {given.dimension}")
    for name, changes in CASES.items():
        model = Model.from_dict(BASE).replace(changes)
        error = solve(model, dimension=given.dimension).test_error
        solve(model)
        point, (fit, seen) = of_points(model, given.repeats), of_fits(model, given.dimension)
        shown = f"{point * 1e3:7.2f} ms{fit * 1e3:9.0f} ms{fit / point:8.0f}   {error:.4f}, fits {seen:.4f}"
        print(f"{name:28s}{shown}", flush=True)


if __name__ == "__main__":
    main()
