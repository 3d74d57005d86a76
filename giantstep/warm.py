"""The first compilation of kernels, in two processes: numba itself compiles one function at a time.

``python -m giantstep.warm NAME ...`` compiles the kernels of functions into numba's cache on disk, where the parent
finds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from giantstep.kernels import function_kernel, solver_kernel


@dataclass(frozen=True)
class Kernel:
    """A kernel by kind ("function" or "solver") and name: an expression, or a loss and a number of blocks."""

    kind: str
    name: str

    @property
    def module(self) -> ModuleType:
        if self.kind == "function":
            return function_kernel(self.name)
        loss, blocks = self.name.split()
        return solver_kernel(loss, int(blocks))

    @property
    def entry(self) -> str:
        """What is compiled at the first call."""
        return str(self.module.ENTRY) if self.kind == "function" else "solve"

    def cold(self) -> bool:
        """Whether numba keeps a cache for this kernel and has nothing in it."""
        folder = getattr(self.module, self.entry).stats.cache_path
        if folder is None:
            return False
        stem = Path(str(self.module.__file__)).stem
        return not any(Path(folder).glob(f"{stem}.{self.entry}-*.nbi"))

    def compile(self) -> None:
        """Call the kernel once, on next to nothing."""
        module = self.module
        if self.kind == "function":
            module.RULES[0](np.zeros(1), 1.0, np.empty((7, 1)), np.empty(module.SCRATCH_SHAPE))
            return
        blocks = int(self.name.split()[1])
        table = np.ones((1, 5 + 3 * blocks))
        table.flags.writeable = False  # as the tables of a mesh: numba compiles for just that type
        work = np.empty(module.workspace_size(blocks, 1))
        module.solve(
            table, np.full(blocks, 1.0 / blocks), np.array([1.0, 1.0, 1.0, 0.0, 0.0]), work, np.empty(3)
        )


@lru_cache(maxsize=256)
def warm(activation: str, link: str, loss: str, blocks: int) -> None:
    """Compile what a model needs and has no cache yet: the solver here, meanwhile the functions in a process of
    their own, which by itself takes about as long to start as a function to compile.

    A process that fails is no error: a kernel is then compiled when it is called.
    """
    solver = Kernel("solver", f"{loss} {blocks}")
    names = [name for name in dict.fromkeys((activation, link)) if Kernel("function", name).cold()]
    if not names or not solver.cold() or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    child = _child(names)
    try:
        solver.compile()
    finally:
        if child is not None:
            child.wait()


def _child(names: Sequence[str]) -> subprocess.Popen[bytes] | None:
    silent = subprocess.DEVNULL
    command = [sys.executable, "-m", "giantstep.warm", *names]
    try:
        return subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, env=_environment())
    except OSError:
        return None


def _environment() -> dict[str, str]:
    """This process's environment, with its own search path: the child imports the same packages."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def main(names: Sequence[str]) -> int:
    """Compile the kernels of the functions named on the command line."""
    for name in names:
        Kernel("function", name).compile()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
