"""How long many points take: `solve_many` from one point to a million, beside `solve` one by one.

All points are of examples/tanh_sign.toml with other samples and ridges, drawn at random: certified by the residual of
all equations and by two orders of quadrature. What carries over to another machine are the ratios.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from giantstep.spec.model import Model
from giantstep.sweep.many import solve_many
from giantstep.system.solve import solve

MODEL = Path(__file__).resolve().parents[1] / "examples" / "tanh_sign.toml"
_ALONE = 300  # points that are solved one by one


@dataclass(frozen=True)
class Timing:
    """Seconds of a number of points, on one thread and on all."""

    points: int
    single: float
    threads: float


def values_of(count: int) -> dict[str, np.ndarray]:
    """Random samples and ridges."""
    draw = np.random.default_rng(0)
    return {"fit.samples": draw.uniform(0.1, 5.0, count), "fit.ridge": 10.0 ** draw.uniform(-3.0, 1.0, count)}


def timing(model: Model, count: int) -> Timing:
    """Wall time of a number of points; the fewer the points, the more often they are solved."""
    repeats = max(1, min(100, 1000 // count))
    values = values_of(count)
    with ThreadPoolExecutor(1) as one:
        found = [_seconds(lambda: solve_many(model, values, executor=one), repeats)]
    found.append(_seconds(lambda: solve_many(model, values), repeats))
    return Timing(count, *found)


def _seconds(call: object, repeats: int) -> float:
    assert callable(call)
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def alone(model: Model) -> float:
    """Seconds of a point that is solved by itself; its numbers are those of the batch."""
    values = values_of(_ALONE)
    models = [model.replace({key: float(column[row]) for key, column in values.items()}) for row in range(_ALONE)]
    start = time.perf_counter()
    errors = [solve(one).test_error for one in models]
    seconds = (time.perf_counter() - start) / _ALONE
    if solve_many(model, values)["test_error"].tolist() != errors:
        raise SystemExit("solve and solve_many give different numbers")
    return seconds


def draw(timings: list[Timing], one: float, path: str) -> None:
    """Seconds against the number of points."""
    import matplotlib.pyplot as plt  # for pictures only

    counts = np.array([timing.points for timing in timings])
    figure, axes = plt.subplots(figsize=(5.4, 4.0), layout="constrained")
    axes.loglog(counts, [timing.threads for timing in timings], "o-", label="solve_many, all processors")
    axes.loglog(counts, [timing.single for timing in timings], "s-", label="solve_many, one thread")
    axes.loglog(counts, one * counts, ":", color="gray", label="solve, one by one")
    axes.set(xlabel="points", ylabel="seconds")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=1e6, help="the largest number of points")
    parser.add_argument("--plot", metavar="FILE", help="draw seconds against points")
    arguments = parser.parse_args()
    model = Model.from_toml(MODEL)
    solve(model)
    one = alone(model)
    print(f"solve, one point: {one * 1e6:.0f} us")
    print(f"{'points':>9}{'one thread':>13}{'all':>11}{'a point':>12}{'ratio to solve':>16}")
    timings = []
    count = 1
    while count <= arguments.most:
        found = timing(model, count)
        timings.append(found)
        each = found.threads / count
        print(
            f"{count:>9}{found.single:>11.4g} s{found.threads:>9.4g} s{each * 1e6:>9.1f} us{each / one:>16.3g}",
            flush=True,
        )
        count *= 10
    if arguments.plot:
        draw(timings, one, arguments.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
