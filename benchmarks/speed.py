"""How long one point of a learning curve takes: by hand with scipy.integrate.quad, by hand with NumPy, and here.

All rows solve examples/tanh_sign.toml to 1e-10 and must agree on the test error to 1e-9. What carries over to another
machine are the ratios, measured side by side in one run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import textbook
from seconds import readable

from giantstep.quadrature.mesh import ORDERS
from giantstep.quadrature.panels import wide_columns
from giantstep.spec.model import Model
from giantstep.sweep.curve import curve
from giantstep.sweep.many import solve_many
from giantstep.system.kernels import system_kernel
from giantstep.system.solve import problem_of, solve
from giantstep.system.state import run_solver

MODEL = Path(__file__).resolve().parents[1] / "examples" / "tanh_sign.toml"
AGREEMENT = 1e-9
SEVERAL = {"network.readout.values": [-1.5, -0.5, 0.7, 1.3], "network.readout.fractions": [0.25] * 4}
RATES_NOTE = "median of 50 learning rates, on average {} with what is found once for many"
START = np.array([0.5, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True)
class Row:
    """One way to get a point: its seconds a point, and what was measured."""

    name: str
    seconds: float
    note: str = ""


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """Median processor time of a call: others may use the machine too."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def wall_seconds(call: Callable[[], object], repeats: int) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def point_of(model: Model) -> textbook.Point:
    """The numbers of the model that the equations hold."""
    spike = problem_of(model).spike
    return textbook.Point(
        model.fit.samples,
        model.network.width,
        model.fit.ridge,
        spike.strength,
        spike.alignment,
        spike.bulk_variance[0],
    )


def by_hand(model: Model, quick: bool, expected: float) -> list[Row]:
    """The damped iteration: nested quad, quad with remembered coefficients, arrays."""
    point = point_of(model)
    arrays = textbook.Vectorised(point)
    error, count = textbook.solve(point, arrays)
    _agree("NumPy fixed point", error, expected)
    sweeps = f"{count} sweeps"

    nested = textbook.Nested(point, cached=False)
    if quick:
        one = median_seconds(lambda: textbook.step(point, nested, START), 1)
        rows = [Row("quad, nested", count * one, f"{sweeps}; one was timed, not all")]
    else:
        start = time.process_time()
        error, _ = textbook.solve(point, nested)
        rows = [Row("quad, nested", time.process_time() - start, sweeps)]
        _agree("quad, nested", error, expected)

    start = time.process_time()
    error, _ = textbook.solve(point, textbook.Nested(point, cached=True))
    rows.append(Row("quad, coefficients remembered", time.process_time() - start, sweeps))
    _agree("quad, coefficients remembered", error, expected)

    whole = median_seconds(lambda: textbook.solve(point, textbook.Vectorised(point)), 5)
    rows.append(Row("NumPy, new coefficients", whole, sweeps))
    rows.append(Row("NumPy, same coefficients", median_seconds(lambda: textbook.solve(point, arrays), 5), sweeps))
    return rows


def by_engine(model: Model) -> list[Row]:
    """The generated kernel alone, `solve` from Python, a curve, and points with new coefficients."""
    alphas = np.linspace(0.2, 4.0, 200)
    fresh, several = new_coefficients(model), new_coefficients(model.replace(SEVERAL))
    models = [model.replace({"fit.samples": float(alpha)}) for alpha in alphas]
    along = median_seconds(lambda: [solve(one) for one in models], 3) / len(alphas)
    many = {"fit.samples": np.linspace(0.2, 4.0, 100)[:, None], "fit.ridge": np.geomspace(1e-3, 10.0, 200)}
    with ThreadPoolExecutor(1) as one:
        batch = median_seconds(lambda: solve_many(model, many, executor=one), 3) / 20000
    return [
        Row("giantstep.solve_many, on one thread", batch, "20 000 values of fit.samples and fit.ridge"),
        Row("giantstep.solve, new coefficients", *fresh),
        Row("the same with 4 readout values", *several),
        Row("giantstep.solve, a curve", along, "200 values of fit.samples"),
        Row("giantstep.solve, same coefficients", median_seconds(lambda: solve(model), 100)),
        Row("generated kernel alone", kernel_seconds(model), f"{nodes(model)} nodes in kappa"),
    ]


def new_coefficients(model: Model) -> tuple[float, str]:
    """A point of 50 learning rates: the median; and the mean, with what is found once for many of them, as a note."""
    rates = [model.replace({"step.learning_rate": rate}) for rate in np.linspace(0.5, 1.5, 50).tolist()]
    solve(model.replace({"network.activation": "relu"}))  # compiled, without what an activation makes of its own
    times = []
    for one in rates:
        start = time.process_time()
        solve(one)
        times.append(time.process_time() - start)
    return float(np.median(times)), RATES_NOTE.format(readable(float(np.mean(times))))


def nodes(model: Model) -> int:
    """Nodes of the finer of the two tables of a solve."""
    problem = problem_of(model)
    return int(wide_columns(problem.blocks, problem.link, ORDERS[1], 0).shape[1])


def kernel_seconds(model: Model) -> float:
    """One call of the generated solver on a table that is at hand."""
    problem = problem_of(model)
    node = wide_columns(problem.blocks, problem.link, ORDERS[1], 0)
    kernel = system_kernel(model.fit.loss.key)

    def many() -> None:
        for _ in range(200):
            run_solver(kernel, node, problem.fraction, problem.parameters.array())

    many()
    return median_seconds(many, 5) / 200


def maps(model: Model) -> list[Row]:
    """A map of samples and learning rates, in both orders of its axes."""
    axes, rows = ("fit.samples=0.2:4:100", "step.learning_rate=0.5:1.5:100"), []
    for order, others in ((axes, ""), (axes[::-1], "0001")):  # other rates, whose coefficients are not known yet
        sweeps = [axis.replace("0.5:1.5", f"0.5{others}:1.5{others}") for axis in order]
        start = time.process_time()
        curve(model, sweeps)
        rows.append(
            Row(f"giantstep.curve, {order[0].split('=')[0]} first", time.process_time() - start, "100 x 100 points")
        )
    return rows


def cold_start() -> list[Row]:
    """`giantstep solve` as a new process: with nothing compiled, then with numba's cache filled."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def run() -> None:
            command = [sys.executable, "-m", "giantstep", "solve", str(MODEL)]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

        first = wall_seconds(run, 1)
        return [
            Row("giantstep solve, new process, first time", first, "compiles"),
            Row("giantstep solve, new process, later", wall_seconds(run, 3), "imports, mostly"),
        ]


def _agree(name: str, error: float, expected: float) -> None:
    if not abs(error - expected) <= AGREEMENT * expected:
        raise SystemExit(f"{name}: test error {error!r} where {expected!r} was expected")


def show(rows: list[Row], unit: float | None) -> None:
    """A table: seconds, and how many times as long as ``unit`` seconds."""
    for row in rows:
        ratio = f"{row.seconds / unit:>10.3g} x" if unit else " " * 12
        print(f"  {row.name:<42}{readable(row.seconds):>10}{ratio}   {row.note}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="time one sweep of the slowest way, not all of them")
    parser.add_argument("--no-cold", action="store_true", help="leave out the new processes")
    arguments = parser.parse_args()
    model = Model.from_toml(MODEL)
    engine = by_engine(model)
    expected = solve(model).test_error
    unit = next(row.seconds for row in engine if row.name.endswith("same coefficients"))
    print(f"one point, test error {expected:.12g}; ratios to giantstep.solve with the same coefficients")
    show(by_hand(model, arguments.quick, expected) + engine, unit)
    show(maps(model), unit)
    if not arguments.no_cold:
        show(cold_start(), None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
