"""The first compilation of a model's kernels, shared with a second process: numba compiles one function at a time.

``python -m giantstep.system.first_compilation`` reads a model as JSON and compiles kernels into numba's cache on disk,
where the process that solves it finds them when it comes to them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from inspect import signature
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numba import typeof

from generated.runtime.certificate import evaluate
from giantstep.spec.emission import environment
from giantstep.spec.kernels import function_kernel, solver_kernel
from giantstep.spec.model import Model
from giantstep.system.state import run_solver

#: What a user at a terminal reads while nothing else happens.
ANNOUNCEMENT = "compiling the equations of this kind of model: some seconds, once per installation"


@contextmanager
def warming(model: Model) -> Iterator[None]:
    """While a model is solved for the first time ever, a second process compiles with this one.

    A process that fails is no error: what it does not compile is compiled here, when it is called.
    """
    (blocks, rank), loss = _sizes(model), model.fit.loss
    trained = model.bulk != "isotropic"
    coupled = loss.key != "square" or model.network.trains_bias or trained
    cold = next(_once_cold(blocks, coupled, model.target.indices, rank))
    if cold and sys.stderr.isatty():
        print(ANNOUNCEMENT, file=sys.stderr, flush=True)
    child = _child(model) if cold and (os.cpu_count() or 1) > 1 and sys.executable else None
    try:
        if child is not None:
            compile_solver(blocks, rank)
            assert child.stdout is not None
            child.stdout.readline()  # the functions are ready, or the child has ended
        yield
    finally:
        if child is not None:
            child.kill()
            with child:  # close its output and wait
                pass


def _sizes(model: Model) -> tuple[int, int]:
    """(number of distinct blocks, number of directions of kappa)."""
    from giantstep.quadrature.panels import Term
    from giantstep.system.merged_blocks import merged, mirror_signs

    network = model.network
    if model.spike is None or model.spike.loadings is None:
        opposite = not network.trains_bias and mirror_signs(Term(network.activation, 1.0, network.initial_bias, 1.0))
        return len({abs(u) if opposite else u for u in network.readout.values}), 1
    from giantstep.system.problem import problem_of

    problem, _ = merged(problem_of(model), opposite=not network.trains_bias)
    return len(problem.blocks), problem.rank


@lru_cache(maxsize=256)
def _once_cold(blocks: int, coupled: bool, indices: int, rank: int) -> Iterator[bool]:
    """Whether the kernels are cold, once; after that what the first solve did not compile is not tried again."""
    return chain([_cold(blocks, coupled, indices, rank)], repeat(False))


def _cold(blocks: int, coupled: bool, indices: int, rank: int = 1) -> bool:
    """Whether numba keeps a cache for a model's solver and has nothing in it."""
    kernels = [solver_kernel("square", rank).solve]
    if coupled:
        from giantstep.system.loss_kernels import coupled_kernel

        kernels.append(coupled_kernel(indices, rank).jacobian)
    return any(is_cold(kernel) for kernel in kernels)


def is_cold(kernel: Any) -> bool:
    """Whether numba keeps a cache on disk for a function and has nothing in it."""
    folder, code = kernel.stats.cache_path, kernel.py_func.__code__
    if folder is None:
        return False
    return not any(Path(folder).glob(f"{Path(code.co_filename).stem}.{code.co_name}-*.nbi"))


def compile_solver(blocks: int, rank: int = 1) -> None:
    """Call the solver of the square loss once, on next to nothing."""
    run_solver(solver_kernel("square", rank), *_arguments(blocks, rank))


def _arguments(blocks: int, rank: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(node, fraction, parameters) of the types of every problem."""
    parameters = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    return np.ones((4 + rank + 3 * blocks, 1)), np.full(blocks, 1.0 / blocks), parameters


def compile_beside(model: Model) -> None:
    """Compile what another process, which begins with the solver, comes to last; write a line after the functions."""
    blocks, rank = _sizes(model)
    solver = solver_kernel("square", rank).PIECES
    for kernel in solver[len(solver) // 2 :]:
        _compile_piece(kernel, blocks)
    names = (model.network.activation, *[model.target.link] * (model.target.indices == 1))
    for name in dict.fromkeys(names):
        module = function_kernel(name)
        module.FUNCTION.rules[0](np.zeros(1), 1.0, np.empty((7, 1)), np.empty(module.SCRATCH_SHAPE))
    _compile(evaluate, (np.zeros((1, 1), np.uint64), np.ones(1), np.ones(1)))
    print(flush=True)
    for kernel, given in reversed(_coupled(model)):
        _compile(kernel, given)


def _compile_piece(kernel: Any, blocks: int) -> None:
    node, vector, _ = _arguments(blocks)
    known = {
        "node": node,
        "fraction": vector,
        "numbers": (1.0,) * 6,
        "vector": node,
        "matrix": np.ones((1, blocks, blocks)),
        "field": node,
        "out": vector,
        "system": node,
        "smallest": 0.0,
        "family": np.zeros(1, np.int64),
    }
    _compile(kernel, [known.get(name, 0) for name in signature(kernel.py_func).parameters])  # else a whole number


def _coupled(model: Model) -> Sequence[tuple[Any, Sequence[object]]]:
    """Kernels of a model that the solver of the square loss does not solve, and their arguments, in order of use."""
    from giantstep.system.merged_blocks import merged
    from giantstep.system.problem import problem_of

    problem, _ = merged(problem_of(model), opposite=not model.network.trains_bias)
    if problem.direct and not model.network.trains_bias:
        return []
    from giantstep.system.coupled_solver import COARSE
    from giantstep.system.coupled_system import CoupledSystem

    return CoupledSystem(problem, COARSE).calls()


def _compile(kernel: Any, arguments: Sequence[object]) -> None:
    if isinstance(kernel, partial):
        kernel, arguments = kernel.func, (*kernel.args, *arguments)
    kernel.compile(tuple(map(typeof, arguments)))


def _child(model: Model) -> subprocess.Popen[str] | None:
    command = [sys.executable, "-m", "giantstep.system.first_compilation"]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            text=True,
        )
        assert child.stdin is not None
        with child.stdin as stream:
            json.dump(model.to_dict(), stream)
    except OSError:
        return None
    return child


if __name__ == "__main__":
    compile_beside(Model.from_dict(json.load(sys.stdin)))
