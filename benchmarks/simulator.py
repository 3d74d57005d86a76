"""Ratio of simulate() to the BLAS, LAPACK and random-number calls that it cannot do without.

Run: python benchmarks/simulator.py [--dimension 2000] [--repeats 3] [--limit 1.3] [--clock cpu]
Prints one table per case and exits 1 where a ratio is above --limit. Both sides are timed in turn and the
best of the repeats is taken, so that other work on the machine disturbs both alike.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from giantstep.simulate.run import simulate
from giantstep.simulate.system import FiniteSizes, FiniteSystem, finite_sizes

Array = NDArray[np.float64]
Calls = Iterator[tuple[str, Callable[[], object]]]


@dataclass(frozen=True)
class Case:
    """One call of simulate()."""

    what: Literal["network", "srf", "gaussian"]
    samples: tuple[float, ...]
    ridges: tuple[float, ...]


CASES = (
    Case("srf", (2.0,), (0.01,)),
    Case("srf", (0.5, 1.0, 2.0), (1e-4, 1e-2, 1.0)),
    Case("network", (0.5, 1.0, 2.0), (0.01,)),
    Case("network", (0.5, 1.0, 2.0), (1e-4, 1e-2, 1.0)),
    Case("gaussian", (0.5, 1.0, 2.0), (0.01,)),
)


def tanh(points: Array) -> tuple[Array, Array]:
    """tanh and its derivative."""
    value = np.tanh(points)
    return value, 1.0 - value * value


def flat_coefficients(kappa: Array) -> tuple[Array, Array, Array, Array]:
    """Some coefficients: what they are does not matter for the time."""
    one = np.ones((1, kappa.size))
    return 0.2 * kappa[None, :], 0.6 * one, 0.2 * one, 0.0 * one


def make_system() -> FiniteSystem:
    """The system that is timed."""
    return FiniteSystem(
        tanh,
        np.tanh,
        1.0,
        noise=0.01,
        steps=((1.0, 0.5),),
        spike=(0.4, 0.7, (1.05,)),
        coefficients=flat_coefficients,
    )


def bare_calls(case: Case, sizes: FiniteSizes, tests: int) -> Calls:
    """Name and thunk of each call that a simulation of one seed rests on, on arrays already in memory."""
    d, p, generator = sizes.dimension, sizes.width_count, np.random.default_rng(0)
    n, n0 = max(sizes.samples), max(sizes.step_samples, default=0)
    rows, features = generator.standard_normal((p, d)), generator.standard_normal((n, p))
    counted = [n, n0 if case.what == "network" else 0, tests if case.what != "gaussian" else 0]
    inputs, out = generator.standard_normal((max(counted), d)), np.zeros((max(counted), p))
    yield (
        "random numbers",
        partial(draw, p * d + sum(counted) * d + (n * p if case.what == "gaussian" else 0)),
    )
    names = ("gemm, training features", "gemm, step", "gemm, test features")
    for name, count in zip(names, counted, strict=True):
        if count:
            yield (
                name,
                partial(blas.dgemm, 1.0, rows.T, inputs[:count].T, trans_a=1, c=out[:count].T, overwrite_c=1),
            )
    if case.what == "network":
        update = np.zeros((p, d))
        yield (
            "gemm, gradient",
            partial(blas.dgemm, 1.0, inputs[:n0].T, out[:n0].T, trans_b=1, c=update.T, overwrite_c=1),
        )
    yield from linear_algebra(len(case.ridges) == 1, sizes, features)


def linear_algebra(single: bool, sizes: FiniteSizes, features: Array) -> Calls:
    """Gram matrices of nested sample sizes and their factorisations, for a single ridge or several."""
    p = sizes.width_count
    dual, primal = [n for n in sizes.samples if n <= p], [n for n in sizes.samples if n > p]
    if dual:
        yield (
            f"syrk, {dual[-1]} x {dual[-1]}",
            partial(blas.dsyrk, 1.0, features[: dual[-1]].T, trans=1, lower=1),
        )
    done, gram = 0, np.zeros((p, p), order="F")
    for n in primal:
        yield (
            f"syrk, {p} x {p}, {n - done} rows",
            partial(blas.dsyrk, 1.0, features[done:n].T, c=gram, beta=1.0, lower=1, overwrite_c=1),
        )
        done = n
    # nested sizes share one Cholesky factor, not one tridiagonal form
    for size in (dual[-1:] if single else dual) + [p] * len(primal):
        matrix = np.asfortranarray(np.eye(size) + 1e-3)
        if single:
            yield f"cholesky, {size}", partial(lapack.dpotrf, matrix, lower=1, clean=0, overwrite_a=1)
        else:
            work = int(lapack.dsytrd_lwork(size, lower=1)[0])
            yield (
                f"tridiagonal reduction, {size}",
                partial(lapack.dsytrd, matrix, lower=1, lwork=work, overwrite_a=1),
            )


def draw(count: int) -> None:
    """Draw standard normal numbers into a buffer used again and again."""
    generator, buffer = np.random.default_rng(0), np.empty(1 << 20)
    for start in range(0, count, buffer.size):
        generator.standard_normal(out=buffer[: min(buffer.size, count - start)])


def seconds(call: Callable[[], object], clock: Callable[[], float]) -> float:
    """Time of one call."""
    start = clock()
    call()
    return clock() - start


def measure(case: Case, dimension: int, repeats: int, clock: Callable[[], float]) -> float:
    """Time one case, print its table, return the ratio."""
    system = make_system()
    sizes = finite_sizes(system, dimension, case.samples)
    whole, bare, tests = np.inf, dict[tuple[int, str], float](), 0
    for _ in range(repeats):
        start = clock()
        result = simulate(system, case.what, dimension, 1, case.samples, case.ridges)
        whole, tests = min(whole, clock() - start), result.test_samples
        for index, (name, call) in enumerate(bare_calls(case, sizes, tests)):
            bare[index, name] = min(bare.get((index, name), np.inf), seconds(call, clock))
    total = sum(bare.values())
    print(f"\n{case.what}: d = p = {dimension}, samples {case.samples}, ridges {case.ridges}, {tests} tests")
    for (_, name), value in bare.items():
        print(f"  {name:<32}{value:9.3f} s")
    print(f"  {'all of these':<32}{total:9.3f} s")
    print(f"  {'simulate()':<32}{whole:9.3f} s   ratio {whole / total:.2f}")
    return whole / total


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimension", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=1.3)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a busy machine")
    arguments = parser.parse_args()
    clock = time.perf_counter if arguments.clock == "wall" else time.process_time
    worst = max(measure(case, arguments.dimension, arguments.repeats, clock) for case in CASES)
    print(f"\nlargest ratio {worst:.2f}, allowed {arguments.limit:.2f}")
    return 0 if worst <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
