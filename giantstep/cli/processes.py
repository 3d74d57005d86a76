"""Processes that share the work of a command, and what is kept of it where it is interrupted."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING

from derive.language.grammar import shorten
from giantstep.cli.options import Parser
from giantstep.cli.pictures import check_plot
from giantstep.cli.stopping import Stopped
from giantstep.spec.errors import BadInput
from giantstep.spec.files import check_writable

if TYPE_CHECKING:
    from concurrent.futures import Executor

_PATIENCE = 10  # seconds, for the answer of a scheduler


def add_workers(parser: Parser) -> None:
    """The options --jobs and --cluster."""
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="number of processes, or auto for all processors (default 1)"
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler that does the work, for example tcp://10.0.0.1:8786"
    )


def _jobs(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(text)


def check_workers(arguments: argparse.Namespace) -> None:
    """Raises BadInput for a number of jobs that is none, and for both."""
    from giantstep.spec.counts import checked_count  # help and bad arguments do without

    checked_count("--jobs", arguments.jobs, 1)
    if arguments.cluster and arguments.jobs != 1:
        raise BadInput("--jobs and --cluster are both given", "the cluster has workers of its own: leave out --jobs")


@contextlib.contextmanager
def workers(arguments: argparse.Namespace) -> Iterator[Executor | None]:
    """The processes of --jobs, or the workers of --cluster; none for one job. Raises BadInput."""
    if not arguments.cluster:
        from giantstep.sweep.workers import processes  # help and bad arguments do without

        with processes(arguments.jobs) as pool:
            yield pool
        return
    try:
        from distributed import Client  # loaded where a cluster is asked for
    except ImportError:
        raise BadInput("--cluster needs Dask", "pip install 'giantstep[cluster]'") from None
    try:
        client = Client(arguments.cluster, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(
            f"no Dask scheduler answers at {shorten(arguments.cluster)}: {error}",
            "start one with 'dask scheduler', and give the address that it prints",
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            print("giantstep: the Dask scheduler has no workers yet; waiting for one", file=sys.stderr)
        try:
            yield client.get_executor()
        except CancelledError:
            raise BadInput(
                f"the Dask scheduler at {shorten(arguments.cluster)} has gone",
                "start it and its workers again: with --output the same command goes on from the finished points",
            ) from None


@contextlib.contextmanager
def resumable(keep: str | None) -> Iterator[Path | None]:
    """The file of finished points beside a file that is to be written, removed at the end."""
    checkpoint = _beside(keep)
    points, beside = _finished(checkpoint) if checkpoint is not None and checkpoint.exists() else (0, "")
    if points:
        told = f"{checkpoint} holds {points} finished points{beside}; those of this sweep are not computed again"
        print(f"giantstep: {told}", file=sys.stderr)
    yield checkpoint
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)


@contextlib.contextmanager
def telling(keep: str | None) -> Iterator[None]:
    """Within: what is kept of the work is said where it is interrupted, before it has begun as well."""
    try:
        yield
    except Stopped as stopped:
        raise Stopped(stopped.code, _saved(_beside(keep))) from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_saved(_beside(keep))) from None


def _beside(keep: str | None) -> Path | None:
    return Path(f"{keep}.partial.jsonl") if keep else None


def check_files(arguments: argparse.Namespace) -> None:
    """Raises BadInput for an --output or a --plot that cannot be written."""
    if arguments.output:
        from giantstep.sweep.dataset import SUFFIXES, require_netcdf  # help and bad arguments do without

        if check_writable(arguments.output, SUFFIXES).suffix.lower() == ".nc":
            require_netcdf()
    check_plot(arguments)


def _saved(checkpoint: Path | None) -> str:
    """What is kept of the work, in words."""
    if checkpoint is None:
        return "nothing was saved; with --output FILE finished points are kept and the same command goes on"
    if not checkpoint.exists():
        return "no point was finished"
    points, beside = _finished(checkpoint)
    if not points:
        return "no point was finished"
    return f"{points} finished points are saved in {checkpoint}{beside}; the same command goes on from there"


def _finished(checkpoint: Path) -> tuple[int, str]:
    """How many points of a sweep a file holds, and what beside them, in words; one without any is removed.

    Baselines, finite sizes and simulated seeds of the same points are no points of the sweep.
    """
    from giantstep.sweep.checkpoint import Checkpoint  # help and bad arguments do without

    with Checkpoint(checkpoint) as store:
        beside = ", ".join(f"{stage}: {count}" for stage, count in store.stages.items() if stage != "theory")
        return store.stages.get("theory", 0), f" (beside them {beside})" * bool(beside)
