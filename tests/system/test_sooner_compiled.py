"""What numba compiles sooner is what it compiles otherwise, and numba is left as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext

import numba
import numpy as np
import pytest
from numba.core import event, ir, postproc, ssa
from numba.core.base import BaseContext
from numba.core.codegen import CPUCodeLibrary
from numba.core.types import BaseFunction

from giantstep.system.sooner_compiled import compiled_sooner

Array = np.ndarray
METHODS = (
    (BaseFunction, "get_call_type"),
    (postproc.PostProcessor, "run"),
    (ir.Inst, "_rec_list_vars"),
    (BaseContext, "get_abi_sizeof"),
    (CPUCodeLibrary, "_optimize_functions"),
    (ssa, "_logger"),
    (event, "start_event"),
    (event, "end_event"),
)
#: numba's own, read before the fixture of all tests takes others.
USUAL = [(owner, name, getattr(owner, name)) for owner, name in METHODS]


@pytest.fixture(autouse=True)
def as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """numba as it is."""
    for owner, name, method in USUAL:
        monkeypatch.setattr(owner, name, method)


def mixed(table: Array, n: int) -> tuple[float, float]:
    """Loops, branches, a tuple, and an array that ends with the function."""
    kept, best = np.empty(n), -1.0
    for i in range(n):
        row = (table[i, 0], table[i, 1])
        kept[i] = row[0] * row[1] if row[0] > 0.5 else np.exp(row[1])
        best = max(best, kept[i])
    return best, kept.sum()


def sums(n: int) -> Iterator[int]:
    """What a generator holds while it waits."""
    total = 0
    for i in range(n):
        total += i
        yield total


def llvm_of_mixed() -> str:
    """What numba tells LLVM, without the numbers by which it counts what it compiles, and places in memory."""
    found = numba.njit(mixed)
    found(np.array([[0.7, 2.0], [0.2, -1.0], [0.9, 0.1]]), 3)
    (text,) = found.inspect_llvm().values()
    return re.sub(r"B\d+v\d+|mixed\d+|\[\d+ x i8\]|at 0x[0-9a-f]+", "", text)


def test_what_llvm_is_told_is_the_same_and_lifetimes_are_found_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts, counts = [], []
    find, asked = postproc.analysis.compute_live_map, []
    monkeypatch.setattr(postproc.analysis, "compute_live_map", lambda *given: asked.append(1) or find(*given))
    for context in (nullcontext(), compiled_sooner()):
        asked.clear()
        with context:
            texts.append(llvm_of_mixed())
        counts.append(len(asked))
    assert len(texts[0]) > 5_000 and texts[0] == texts[1]
    assert counts[1] < counts[0] / 4


def test_generators_keep_what_they_need() -> None:
    with compiled_sooner():
        assert list(numba.njit(sums)(4)) == [0, 1, 3, 6]


def test_numba_is_left_as_it_was() -> None:
    with compiled_sooner():
        assert all(getattr(owner, name) is not method for owner, name, method in USUAL)
    assert all(getattr(owner, name) is method for owner, name, method in USUAL)
