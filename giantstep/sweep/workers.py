"""Who does the work of a sweep: an executor that is given, processes or threads by their number, or nobody else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.model import Model
from giantstep.system.first_compilation import compile_first

_STARTING = threading.Lock()  # the name __main__ is one for all threads
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def executor_of(given: Executor | int | None, *, threads: bool = False) -> Iterator[Executor | None]:
    """The executor of a verb: as given, or so many processes of its own; with ``threads``, threads of this one.

    None for one: the work is done here. Raises BadInput for what is neither.
    """
    if given is None or isinstance(given, Executor) or _is_executor(given):
        yield None if given is None else given  # type: ignore[misc]
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise BadInput(
            f"executor = {shorten(given)} is no executor",
            "give a number of processes, as 2, or an executor, as concurrent.futures.ProcessPoolExecutor(2)",
        )
    if threads and given > 1:
        from concurrent.futures import ThreadPoolExecutor  # one does without

        with ThreadPoolExecutor(given) as pool:
            yield pool
        return
    with processes(given) as found:
        yield found


def _is_executor(given: object) -> bool:
    """What has the methods of one, as those of joblib and Dask."""
    return not isinstance(given, int) and callable(getattr(given, "submit", None))


@contextmanager
def processes(count: int) -> Iterator[Executor | None]:
    """A pool of processes that share the processors; none for one.

    Raises BadInput where one of them ends by itself.
    """
    if count == 1:
        yield None
        return
    # one process does without
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = _Context()
    with _few_threads(count):
        pool = ProcessPoolExecutor(count, context, begin_worker)
        try:
            yield pool
            pool.shutdown()
        except BaseException as error:
            # a worker that is stopped breaks its pool, whose thread would print a traceback of its own
            threading.excepthook = _say_nothing
            for child in context.started:
                child.terminate()
            pool.shutdown(cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise BadInput(
                    "a process ended unexpectedly, most likely for lack of memory",
                    "use fewer processes (--jobs, executor) or a smaller dimension; with a file of finished points "
                    "the same command goes on from them",
                ) from None
            raise
        finally:
            threading.excepthook = threading.__excepthook__


def compile_once(model: Model, executor: Executor | None) -> None:
    """Compile what a model needs before processes of this machine begin, which would each do it for themselves."""
    from concurrent.futures import ProcessPoolExecutor  # one process does without

    if isinstance(executor, ProcessPoolExecutor):
        with suppress(GiantstepError):  # of a model that has no solution: its points say so
            compile_first(model)


class _Process(SpawnProcess):
    """A process that does not run the user's script again: what it is sent is of this package alone."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 (the name is that of multiprocessing)
        with _STARTING, _without_interrupts():
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                sys.modules["__main__"] = main


class _Context(SpawnContext):
    """Starts such processes, and knows them."""

    def __init__(self) -> None:
        self.started: list[_Process] = []

    def Process(self, *arguments: Any, **options: Any) -> _Process:  # type: ignore[override]  # noqa: N802
        """A new process."""
        self.started.append(_Process(*arguments, **options))
        return self.started[-1]


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Within: new processes wait with Ctrl-C until they know that it is not for them (``begin_worker``)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _few_threads(count: int) -> Iterator[None]:
    """Within: new processes share the processors among their threads; they read it when they load numpy."""
    before = {name: os.environ.get(name) for name in _THREADS}
    for name in _THREADS:
        os.environ.setdefault(name, str(max(1, (os.cpu_count() or 1) // count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)


def begin_worker() -> None:
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
