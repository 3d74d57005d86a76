"""Kept machine code serves a process that compiles nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CALL = "import numpy as np; from generated.losses import {0}; print({0}.piece(0, 0.3, 1.0, np.zeros(0))[1])"


def test_code_that_may_raise_is_loaded_before_anything_is_compiled() -> None:
    """It names functions of numba's runtime; without their addresses none of its calls had one, and it crashed."""
    for _ in range(2):  # the first process may find nothing kept
        done = subprocess.run([sys.executable, "-c", CALL.format("probit")], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        density, share = np.exp(-0.045) / np.sqrt(2.0 * np.pi), 0.6179114221889526
        assert float(done.stdout) == pytest.approx(-density / share, rel=1e-14)


LINKED = """
import sys
import numpy as np
from generated.runtime.compiling import entry, inner, kept
from generated.runtime.contractions import INNER

@inner
def root(x):
    return np.sqrt(x)

@kept(**INNER)
def shifted(numbers, place):
    return root(numbers[place]) + 1.0

@entry
def total(numbers):
    result = 0.0
    for place in range(numbers.shape[0]):
        result += shifted(numbers, place)
    return result

@entry
def product(numbers):
    result = 1.0
    for place in range(numbers.shape[0]):
        result *= shifted(numbers, place)
    return result

for name in sys.argv[1:]:
    print(globals()[name](np.array([4.0, 9.0, 16.0])), len(shifted.overloads))
print(sum(shifted.stats.cache_hits.values()), sum(shifted.stats.cache_misses.values()))
made = [code.library.get_pointer_to_function(code.fndesc.llvm_func_name) for code in shifted.overloads.values()]
print(*made)
"""


def test_what_is_only_linked_is_compiled_once_and_kept_for_other_callers(tmp_path: Path) -> None:
    """A process with a caller; another where that needs it no more and one more caller finds it."""
    script = tmp_path / "linked.py"
    script.write_text(LINKED)

    def called(*names: str) -> list[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        command = [sys.executable, str(script), *names]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert called("total") == ["12.0", "1", "0", "1", "0"]  # no machine code that nobody runs
    assert called("total", "product") == ["12.0", "0", "60.0", "1", "1", "0", "0"]


MAKING = """
import sys
import numpy as np
from generated.runtime.compiling import making_entry

@making_entry
def halves(numbers):
    found = np.empty(numbers.shape[0])
    for place in range(numbers.shape[0]):
        if numbers[place] < 0.0:
            raise ValueError("negative")
        found[place] = 0.5 * numbers[place]
    return found

@making_entry
def total(numbers):
    return halves(numbers)[0] + halves(numbers)[1]

given = np.array([4.0, 9.0])
for name in sys.argv[1:]:
    print(np.sum(globals()[name](given)), "numba.np.arrayobj" in sys.modules)
try:
    halves(-given)
except ValueError as error:
    print(error)
"""


def test_kept_code_is_read_as_far_as_it_is_needed(tmp_path: Path) -> None:
    """A process that compiles; another that loads what it made, without numba's own modules on arrays; a third with a
    further caller, which links what the second left unread.
    """
    script = tmp_path / "making.py"
    script.write_text(MAKING)

    def called(*names: str) -> list[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        command = [sys.executable, str(script), *names]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert called("halves") == ["6.5", "True", "negative"]
    assert called("halves") == ["6.5", "False", "negative"]
    assert called("halves", "total") == ["6.5", "False", "6.5", "True", "negative"]
