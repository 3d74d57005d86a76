"""The first compilation of a model's kernels, shared with a second process: numba compiles one function at a time.

The work is a list of tasks. Both processes go through it and claim one after the other; machine code goes into numba's
cache on disk, where the process that solves finds what the other has compiled.

``python -m giantstep.system.first_compilation`` reads a model and the folder of the claims as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache, partial
from inspect import signature
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numba import typeof

from generated.runtime.certificate import evaluate
from giantstep.law.kind import ONE_COVARIANCE, bulk_kind, is_closed, kind_of_averages, square_name
from giantstep.law.known_indices import in_known
from giantstep.law.spike import rank_of
from giantstep.spec.emission import environment
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Model
from giantstep.system.kernels import loss_kernel, system_kernel
from giantstep.system.sooner_compiled import collected_rarely, compiled_sooner
from giantstep.system.state import State, run_solver, variance_rows

#: What a user at a terminal or in a notebook reads while nothing else happens.
ANNOUNCEMENT = "compiling the equations of this kind of model: about {} s, once per installation"
# seconds of a processor that takes _YARDSTICK for the loop; of several indices; more of a loss, for its start
_WORK, _OF_SEVERAL, _START = 13.0, 19.0, 5.0
_YARDSTICK = 0.014
_LOOP = 200_000

Task = Callable[[], object]
Array = np.ndarray


def compile_first(model: Model) -> None:
    """Compile the kernels of a model that is solved for the first time ever, together with a second process.

    A process that fails is no error: what it does not compile is compiled when it is called.
    """
    model = in_known(model)
    if not next(_once_cold(*_last_kernels(model))):
        return
    if sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        print(ANNOUNCEMENT.format(_seconds(model)), file=sys.stderr, flush=True)
    with collected_rarely(), ExitStack() as stack, suppress(OSError):
        folder = Path(stack.enter_context(TemporaryDirectory()))
        child = _child(model, folder) if (os.cpu_count() or 1) > 1 and sys.executable else None
        if child is not None:
            stack.enter_context(child)  # waits for it, after what comes next
            stack.callback(child.kill)
        share(tasks_of(model), folder)
        if child is not None:
            child.wait()
    with collected_rarely(), compiled_sooner():
        run_solver(_square(model), *_numbers(model))


def _seconds(model: Model) -> int:
    """How long it takes about, by the speed of this machine at this moment, on up to two processors."""
    start, total = time.perf_counter(), 0
    for number in range(_LOOP):
        total += number * number % 7
    speed = (time.perf_counter() - start) / _YARDSTICK
    work = (_OF_SEVERAL if model.target.indices > 1 else _WORK) + (0.0 if is_closed(model) else _START)
    return max(1, round(speed * work / min(2, os.cpu_count() or 1)))


@lru_cache(maxsize=256)
def _once_cold(*kernels: Any) -> Iterator[bool]:
    """Whether some kernel is cold, once; after that what the first solve did not compile is not tried again."""
    return chain([any(map(is_cold, kernels))], repeat(False))


def is_cold(kernel: Any) -> bool:
    """Whether numba keeps a cache on disk for a function and has nothing in it. Raises BadInput where numba is told not
    to compile.
    """
    if not hasattr(kernel, "stats"):
        raise BadInput("numba is told not to compile (NUMBA_DISABLE_JIT)", "unset NUMBA_DISABLE_JIT: kernels need it")
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__
    kept = f"{Path(code.co_filename).stem}.{code.co_name}-*.nbi"
    return folder is not None and not any(Path(folder).glob(kept))


def _last_kernels(model: Model) -> tuple[Any, ...]:
    """Kernels of a model that are there when all are that its kind has in common with others."""
    if is_closed(model):
        return (_square(model).solve,)
    return getattr(_coupled(model), _called(model)[0]), _averages(model)[0]


def _square(model: Model) -> Any:
    """The solver of the square loss for a model; other losses start from clean labels."""
    name = square_name(model.target) if is_closed(model) else "square"
    return system_kernel(name, model.target.indices, rank_of(model))


def _coupled(model: Model) -> Any:
    """The coupled system of a model."""
    return system_kernel(kind_of_averages(model), model.target.indices, rank_of(model))


def _called(model: Model) -> tuple[str, ...]:
    """What a solve calls of the coupled system, the longest first: equations of another bulk have their own text."""
    if bulk_kind(model) in ONE_COVARIANCE:
        return "jacobian", "residual", "observables", "fields"
    return "observables", "fields"


def _averages(model: Model) -> tuple[Any, tuple[Array, ...]]:
    """The averages over the output for the kind of law that the label has, and a law of the types of that."""
    # the square loss starts sooner without
    from generated.runtime.label_cells import cells
    from generated.runtime.label_intervals import LabelIntervals, intervals
    from generated.runtime.label_lines import LabelLines, lines
    from generated.runtime.label_points import LabelNodes, points
    from giantstep.law.label_cells import are_cells
    from giantstep.law.label_lines import are_lines
    from giantstep.law.labels import is_constant
    from giantstep.system.kernels import bend_of, loss_kernel
    from giantstep.system.label_kernels import one_cell

    target = model.target
    noisy = model.fit.loss.form != "residual" and target.noise > 0.0
    if target.indices == 1 and is_constant(target.link) and not noisy:
        return intervals, LabelIntervals(*(np.ones(1),) * 6)
    table, uncoupled = np.ones((1, 1)), ((0.0,) * target.indices,)
    if are_cells(target, uncoupled, model.fit.loss.form):
        return cells, one_cell(1.0, target.indices)
    if are_lines(target, uncoupled, model.fit.loss.form, bend_of(loss_kernel(model.fit.loss))):
        return lines, LabelLines(table, np.ones((1, 1, 1)), *[table] * 4, np.ones(1), table)
    return points, LabelNodes(table, np.ones((1, 1, 1)), table, table)


# --- tasks -----------------------------------------------------------------------------------------------------------


def tasks_of(model: Model) -> list[Task]:
    """What has to be compiled for a model, the longest first."""
    functions = partial(_functions, model)  # of one task: they share rules
    kernels = _of_solver(model)
    if not is_closed(model):  # those of a loss start from the square loss
        kernels = [*_of_coupled(model), *kernels]
    return [*kernels[:1], functions, *kernels[1:], *_of_text(model)]


def share(tasks: Sequence[Task], folder: Path) -> None:
    """Do the tasks that no other process does, each claimed by a file in a folder."""
    for number, task in enumerate(tasks):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        with compiled_sooner():
            task()


def _of_text(model: Model) -> list[Task]:
    """What evaluates equations from their text: those of another bulk, or the certificate of isotropic rows."""
    rows, numbers = np.zeros((1, 1), np.uint64), np.ones(1)
    if bulk_kind(model) in ONE_COVARIANCE:
        return [partial(_compile, evaluate, (rows, numbers, np.ones(1)))]
    from generated.runtime.evaluation import run  # isotropic rows start sooner without

    return [partial(_compile, run, (rows, numbers))]


def _functions(model: Model) -> None:
    """The first rule of the activation, and of a link."""
    for name in (model.network.activation, *[model.target.mean_link] * (model.target.indices == 1)):
        module = function_kernel(name)
        module.FUNCTION.rules[0](np.zeros(1), 1.0, np.empty((7, 1)), np.empty(module.SCRATCH_SHAPE))


def _of_solver(model: Model) -> list[Task]:
    """The parts of the solver of the square loss."""
    kernel = _square(model)
    node, fraction, _ = _numbers(model)
    state = State(kernel, 1, 1)
    known = {
        "node": node,
        "fraction": fraction,
        "numbers": (1.0,) * 6,
        "vector": state.vector,
        "matrix": state.matrix,
        "field": state.field,
        "out": fraction,
        "system": node,
        "smallest": 0.0,
        **dict.fromkeys(("family", "row", "column"), np.zeros(1, np.int64)),
    }

    def task(kernel: Any) -> Task:
        names = signature(kernel.py_func).parameters  # what is not known is a whole number
        return lambda: _compile(kernel, [known.get(name, 0) for name in names])

    return [task(kernel) for kernel in kernel.PIECES]


def _of_coupled(model: Model) -> list[Task]:
    """The coupled system and the averages over the output."""
    # the square loss starts sooner without
    from generated.runtime.between_nodes import crosses, fill_turns, is_sharp
    from generated.runtime.conjugate_residuals import descend
    from generated.runtime.newton import advance, sizes
    from generated.runtime.rectangles import wrong_signs_between
    from generated.runtime.signs import wrong_signs
    from generated.runtime.steps import raise_variances

    kernel = _coupled(model)
    node, fraction, parameters = _numbers(model)
    state, places = State(kernel, 1, 1), np.zeros((1, 1), np.int64)
    given = (node, fraction, parameters, state.vector, state.matrix, state.field)
    arguments = {"jacobian": (*given, state.work, places, node, node), "observables": (*given, fraction)}
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (getattr(kernel, name), arguments.get(name, given)) for name in _called(model)
    ]
    room, line = (state.vector, state.matrix, state.field), node[0]
    margin, several = model.fit.loss.form == "margin", model.target.indices > 1
    calls += [
        (raise_variances, (room, variance_rows(kernel), node, line, (0.0, 0.0), 0.0, line, node)),
        (advance, (node, line)),
        (descend, (node, 0, 0)),
        (sizes, (line, line, places[0], line)),
        *([(crosses, (line, line, line))] if rank_of(model) == 1 else []),
        *([(is_sharp, (line, node, node))] if rank_of(model) == 1 and margin else []),
        *([(fill_turns, (line, node, line, line, node, node))] if rank_of(model) == 1 and margin else []),
        *([(wrong_signs_between, ((line,) * 4, line, node, node, node, line))] if margin and not several else []),
        *(
            [(wrong_signs, ((node, node, np.ones((1, 1, 1))), line, node, line, line, line))]
            if margin and several
            else []
        ),
    ]
    return [partial(_average, model), *(partial(_compile, function, arguments) for function, arguments in calls)]


def _average(model: Model) -> None:
    """Of all losses, but for the pieces of this one."""
    from generated.runtime.nodes import Fields, Rule

    loss, (average, law) = loss_kernel(model.fit.loss), _averages(model)
    line, table = np.ones(1), np.ones((1, 1))
    rule, fields = Rule(table, 1, line, 0.0), Fields(line, line, table, line)
    _compile(average, (loss.LOSS.law, rule, law, fields, np.empty(loss.SCRATCH_SHAPE), table))


def _numbers(model: Model) -> tuple[Array, Array, Array]:
    """(node, fraction, parameters) of the types of every problem, for one block at one node."""
    indices = model.target.indices
    columns = 6 + indices + rank_of(model) + (2 + indices) * model.target.drawn
    return np.ones((columns, 1)), np.ones(1), np.array([1.0, 1.0, 1.0, 0.0, 0.0])


def _compile(kernel: Any, arguments: Sequence[object]) -> None:
    kernel.compile(tuple(map(typeof, arguments)))


# --- the second process ----------------------------------------------------------------------------------------------


def _child(model: Model, folder: Path) -> subprocess.Popen[str] | None:
    command = [sys.executable, "-P", "-m", "giantstep.system.first_compilation"]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
            text=True,
        )
        assert child.stdin is not None
        with child.stdin as stream:
            json.dump({"model": model.to_dict(), "folder": str(folder)}, stream)
    except OSError:
        return None
    return child


def _main() -> None:
    request = json.load(sys.stdin)
    with collected_rarely():
        share(tasks_of(Model.from_dict(request["model"])), Path(request["folder"]))


if __name__ == "__main__":
    _main()
