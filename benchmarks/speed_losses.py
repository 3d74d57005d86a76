"""Logistic loss, one block, to 1e-10: this engine, nested quad with brentq, and vectorised NumPy in one run; curves of
it, and a point of other losses, of the trained bulk and of targets of two indices. All times are of the processor.

Usage: python benchmarks/speed_losses.py [--repeats 20]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from textbook_logistic import Nested, Setting, iterate, vectorised

from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model
from giantstep.sweep.curve import curve
from giantstep.system.solve import solve

MODEL = {
    "network": {"activation": "tanh", "width": 0.5},
    "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.3},
    "target": {"link": "sign"},
    "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
}
OVERLAPS = {"spike": {"strength": 1.2, "alignment": [0.7, 0.4], "bulk_variance": 1.3}}
TRAINED: dict[str, Any] = {"spike": None, "step": {"samples": 16.0, "learning_rate": 1.0, "bulk": "trained"}}
#: Name -> changes of that model; each is solved at samples that are new.
OTHERS: dict[str, dict[str, Any]] = {
    "hinge": {"fit.loss": "hinge"},
    "absolute, noise": {"fit.loss": "absolute", "target": {"link": "tanh", "noise": 0.1}},
    "trained bulk, square": {**TRAINED, "fit.loss": "square"},
    "trained bulk, gelu on tanh": {
        **TRAINED,
        "fit.loss": "square",
        "network.activation": "gelu",
        "target": {"link": "tanh"},
    },
    "two indices, logistic on a parity": {**OVERLAPS, "target": {"link": "sign(z1*z2)"}},
    "two indices, logistic, with flips": {**OVERLAPS, "target": {"link": "sign(z1*z2)", "flips": 0.1}},
    "two indices, logistic on a difference": {**OVERLAPS, "target": {"link": "sign(abs(z1) - abs(z2))"}},
    "two indices, log_cosh on a kink": {**OVERLAPS, "fit.loss": "log_cosh", "target": {"link": "abs(z1) + z2"}},
    "two indices, log_cosh, smooth": {**OVERLAPS, "fit.loss": "log_cosh", "target": {"link": "z1*z2 + z2"}},
}
CURVES = ("fit.samples=0.5:4:100", "fit.ridge=1e-3:10:100:log")
FEW = 5  # points of each of them
QUAD_AVERAGES = 8  # in one iteration: g, h and g^2 with two weights each, t g, m


def best(function: Callable[[], object], repeats: int) -> float:
    """Shortest time of several calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def _next(models: Iterator[Model]) -> object:
    return solve(next(models))


def others() -> None:
    """Print the time of a point of the other models, the shortest of a few."""
    for name, changes in OTHERS.items():
        model = Model.from_dict({key: value for key, value in MODEL.items() if changes.get(key, value) is not None})
        model = model.replace({key: value for key, value in changes.items() if value is not None})
        solve(model)
        new = iter([model.replace({"fit.samples": 2.0 + 0.01 * number}) for number in range(1, FEW + 1)])
        print(f"{name:35s} {best(partial(_next, new), FEW) * 1e3:10.2f} ms", flush=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    model = Model.from_dict(MODEL)
    result = solve(model)
    ours = best(lambda: solve(model), given.repeats)
    spike = model.spike
    assert spike is not None and isinstance(spike.bulk_variance, float)
    variance = spike.bulk_variance

    def of_kappa(kappa: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mu0, mu1, mu2 = coefficients("tanh", spike.strength * kappa, variance)
        return mu0, mu1, mu2

    setting = Setting(model.fit.samples, model.network.width, model.fit.ridge, float(spike.alignments[0]), of_kappa)
    start = time.process_time()
    state, steps = iterate(vectorised(setting), setting)
    numpy_time = time.process_time() - start
    known = {n: float(result.order_parameters[n].ravel()[0]) for n in ("m", "psi", "Q1", "V1")}
    differences = {n: abs(state[n] / value - 1.0) for n, value in known.items()}
    nested = Nested(setting)
    start = time.process_time()
    nested.average(state, lambda _, mu1, __: mu1 * mu1, "h")
    quad_time = (time.process_time() - start) * QUAD_AVERAGES * steps
    print(f"this engine, certified solve        {ours * 1e3:10.2f} ms")
    print(
        f"NumPy, Gauss-Hermite, Newton prox   {numpy_time * 1e3:10.0f} ms  {steps} sweeps, "
        f"{numpy_time / ours:.0f} times"
    )
    print(
        f"scipy quad and brentq               {quad_time:10.0f} s   from one of {QUAD_AVERAGES} averages of "
        f"{steps} sweeps, {quad_time / ours:.0f} times"
    )
    print("relative difference of NumPy's order parameters:", {n: f"{d:.0e}" for n, d in differences.items()})
    for sweep in CURVES:
        time_of_all = best(partial(curve, model, sweep, baselines=False), 3)
        print(f"{'curve, ' + sweep:35s} {time_of_all * 1e3:10.0f} ms")
    others()


if __name__ == "__main__":
    main()
