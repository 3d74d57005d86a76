"""The command curve: learning curves, into a file, a picture, or a table on the terminal."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import giantstep as gs
from giantstep.cli.options import (
    Subparsers,
    add_model,
    add_simulation,
    add_tolerance,
    command,
    model_of,
    set_keys,
)
from giantstep.cli.progress import Bars
from giantstep.cli.stopping import Stopped
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.files import PICTURES, check_writable

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from giantstep.sweep.grid import Grid

DEFAULT_SEEDS = 10


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    curve = command(
        subparsers,
        "curve",
        "learning curves: theory, baselines, and simulation on top",
        "giantstep curve model.toml --sweep fit.samples=0.2:3:30 --output curve.json --plot curve.pdf\n"
        "  giantstep curve model.toml --sweep fit.ridge=1e-3:10:20:log network.width=1,2 --simulate --dimension 500",
        _curve,
    )
    add_model(curve)
    curve.add_argument(
        "--sweep",
        action="append",
        required=True,
        metavar="KEY=RANGE",
        help="start:stop:count, start:stop:count:log or v1,v2,v3; the first is the x axis, a second makes a family",
    )
    curve.add_argument("--simulate", action="store_true", help="simulate some of the points (needs --dimension)")
    curve.add_argument(
        "--dimension",
        type=int,
        metavar="D",
        help="input dimension d of the simulation; adds the theory at that finite size",
    )
    add_simulation(curve, DEFAULT_SEEDS)
    curve.add_argument(
        "--simulate-points",
        type=int,
        default=12,
        metavar="N",
        help="simulate at most N points of each curve, spread over it (default 12)",
    )
    curve.add_argument("--output", metavar="FILE", help="write the points: .json, .csv or .nc")
    curve.add_argument("--plot", metavar="FILE", help="draw the curves: .png, .svg or .pdf")
    curve.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes (default 1)")
    curve.add_argument(
        "--no-baselines", action="store_true", help="leave out random features and the best linear predictor"
    )
    add_tolerance(curve)


def _curve(arguments: argparse.Namespace) -> int:
    model = model_of(arguments)
    from giantstep.sweep.grid import grid_of  # help and bad arguments do without

    grid = grid_of(arguments.sweep)
    _check(arguments, grid)
    keep = arguments.output or arguments.plot
    checkpoint = Path(f"{keep}.partial.jsonl") if keep else None
    if checkpoint is not None and checkpoint.exists():
        print(f"giantstep: going on from the finished points in {checkpoint}", file=sys.stderr)
    try:
        with Bars() as bars, _executor(arguments.jobs) as executor:
            dataset = gs.curve(
                model,
                grid.sweeps,
                simulate=arguments.simulate,
                dimension=arguments.dimension,
                seeds=arguments.seeds,
                what=arguments.what,
                seed=arguments.seed,
                simulate_points=arguments.simulate_points,
                executor=executor,
                progress=bars,
                checkpoint=checkpoint,
                baselines=not arguments.no_baselines,
                tolerance=arguments.tolerance,
            )
    except Stopped as stopped:
        raise Stopped(stopped.code, _saved(checkpoint)) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_saved(checkpoint)) from None
    _write(arguments, dataset)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return _report(arguments, dataset)


def _check(arguments: argparse.Namespace, grid: Grid) -> None:
    """Everything that can be refused before the work starts."""
    swept = {sweep.key for sweep in grid.sweeps}
    for key in sorted(set_keys(arguments) & swept):
        raise BadInput(f"{key} is both set and swept", f"leave out --set {key}=...")
    if arguments.simulate and arguments.dimension is None:
        raise BadInput("--simulate needs a dimension", "give for example --dimension 1000")
    from giantstep.observe.simulate import checked_count  # help and bad arguments do without

    checked_count("--jobs", arguments.jobs, 1)
    if arguments.output:
        from giantstep.sweep.dataset import SUFFIXES, require_netcdf  # help and bad arguments do without

        if check_writable(arguments.output, SUFFIXES).suffix.lower() == ".nc":
            require_netcdf()
    if arguments.plot:
        check_writable(arguments.plot, PICTURES)


@contextlib.contextmanager
def _executor(jobs: int) -> Iterator[Executor | None]:
    """A pool of processes that share the processors; none for one job."""
    if jobs == 1:
        yield None
        return
    # one job does without
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, threads)  # read by the new processes when they load numpy
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_worker)
    try:
        yield pool
        pool.shutdown()
    except BaseException as error:
        # a worker that is stopped breaks its pool, whose thread would print a traceback of its own
        threading.excepthook = _say_nothing
        for child in multiprocessing.active_children():
            child.terminate()
        pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise BadInput(
                "a process ended unexpectedly, most likely for lack of memory",
                "use fewer --jobs or a smaller dimension; the same command goes on from finished points",
            ) from None
        raise
    finally:
        threading.excepthook = threading.__excepthook__


def _begin_worker() -> None:
    """Signals of a terminal are for the first process, which stops the others; where it vanishes, they leave too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _say_nothing(_: threading.ExceptHookArgs) -> None:
    pass


def _saved(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "nothing was saved; with --output FILE finished points are kept and the same command goes on"
    if not checkpoint.exists():
        return "no point was finished"
    from giantstep.sweep.checkpoint import Checkpoint  # help and bad arguments do without

    with Checkpoint(checkpoint) as store:
        count = len(store)
    return f"{count} finished points are saved in {checkpoint}; the same command goes on from there"


def _write(arguments: argparse.Namespace, dataset: gs.Dataset) -> None:
    if arguments.output:
        dataset.write(arguments.output)
    if arguments.plot:
        gs.plot(dataset, arguments.plot)


def _report(arguments: argparse.Namespace, dataset: gs.Dataset) -> int:
    """Print what was done and how it is known to be right; exit code 3 where a point has no number."""
    from giantstep.report.dataset import report, table  # help and bad arguments do without

    if not arguments.output:
        print(table(dataset))
        print()
    print(report(dataset))
    files: list[Any] = [name for name in (arguments.output, arguments.plot) if name]
    if files:
        print(f"written: {', '.join(files)}")
    return 0 if all(status == "ok" for status in dataset["status"]) else NotConverged.exit_code
