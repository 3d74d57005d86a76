"""Deriving a module of an expression: within a budget, and without a trace in the process that asks."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec import emission, kernels
from giantstep.spec.emission import GIBIBYTES, SECONDS, Refused, emitted
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel
from giantstep.spec.workshop import executed

pytestmark = pytest.mark.usefixtures("processes_of_their_own")

HARD = "tanh(exp(exp(exp(z))))"  # SymPy's numbers fill the memory


def test_too_much_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIBIBYTES, "1")
    with pytest.raises(
        BadInput, match=rf"the function '.*' is too hard to derive: it takes more than 1 GiB.*{GIBIBYTES}"
    ):
        function_kernel(HARD)


def test_a_derivation_to_be_printed_has_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIBIBYTES, "1")
    with pytest.raises(BadInput, match="too hard to derive"):
        gs.derive(gs.model(HARD, "sign"))
    monkeypatch.setenv(SECONDS, "0.01")
    with pytest.raises(BadInput, match=r"the loss .* takes more than 0.01 s"):
        gs.derive(gs.model("tanh", "tanh", loss="(y-f)**4"))


def test_too_much_time_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECONDS, "0.01")
    with pytest.raises(BadInput, match=rf"the loss .* takes more than 0.01 s of processor time.*{SECONDS}"):
        emitted("loss", "(y-f)**4")


@pytest.mark.parametrize("given", ["-1", "0", "many", "nan", "inf"])
def test_a_budget_is_a_positive_number(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(SECONDS, given)
    with pytest.raises(BadInput, match="must be a positive number"):
        emitted("function", "z")


def test_what_is_no_function_or_loss_is_refused_with_the_reason() -> None:
    with pytest.raises(Refused, match="no finite real value"):
        emitted("function", "log(z)")
    with pytest.raises(Refused, match="convex"):
        emitted("loss", "-(y-f)**2")


def test_the_text_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    from codegen.functions import emit

    assert emitted("function", "tanh(z)-z/3") == emit("tanh(z)-z/3").text


@pytest.fixture
def workshop() -> Iterator[emission._Workshop]:
    """The other process of this one, to begin with none."""
    found = emission._workshop(os.getpid())
    found.close()
    yield found
    found.close()


def test_a_failure_inside_is_no_refusal(workshop: emission._Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="the derivation of 'z' failed"):
        emitted("function", "z")


def test_the_other_process_starts_again_where_it_has_left(
    workshop: emission._Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For lack of work, or killed as it waits; what it was doing goes with it where nobody waits any more."""
    first = emitted("function", "z")
    for ending in (signal.SIGKILL, None):
        process = workshop._process
        assert process is not None and process.stdin is not None
        os.kill(process.pid, ending) if ending else process.stdin.close()
        process.wait()
        assert emitted("function", "z") == first and workshop._process is not process

    def interrupted(process: object, request: str) -> str:
        raise KeyboardInterrupt

    last = workshop._process
    monkeypatch.setattr(emission, "_exchanged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        emitted("function", "z")
    assert last is not None and last.returncode == -signal.SIGKILL and workshop._process is None


def test_time_that_the_processor_spends_elsewhere_is_not_counted(
    workshop: emission._Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process stands still for longer than its budget, as beside others that need the processor."""
    emitted("function", "z")
    monkeypatch.setenv(SECONDS, "0.9")
    process = workshop._process
    assert process is not None
    os.killpg(process.pid, signal.SIGSTOP)
    later = threading.Timer(1.0, os.killpg, (process.pid, signal.SIGCONT))
    later.start()
    assert emitted("function", "tanh(z)-z/3")
    later.join()


def test_the_wait_ends_all_the_same(workshop: emission._Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted("function", "z")
    process = workshop._process
    assert process is not None
    os.killpg(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(emission, "_START", 0.1)
    monkeypatch.setenv(SECONDS, "0.02")
    with pytest.raises(BadInput, match=r"the function 'tanh\(z\)-z/3' .* no end after 0.2 s"):
        emitted("function", "tanh(z)-z/3")
    assert process.wait() == -signal.SIGKILL


def test_machine_code_is_that_of_this_process_and_goes_with_its_module() -> None:
    """Bits of both; after the module nothing is left of it."""
    listed = set(sys.modules)  # of systems that other tests have loaded
    places, (here, there) = np.linspace(-3.0, 3.0, 101), np.empty((2, 101))
    text = emitted("function", "z**3-z/7")
    alone = executed("_giantstep_alone", text, "<alone>")
    alone.value(places, here)
    kernels._function_kernel.cache_clear()
    module = function_kernel("z**3-z/7")
    module.value(places, there)
    np.testing.assert_array_equal(here, there)
    watched = weakref.ref(module.values.loaded), weakref.ref(module)
    del module
    kernels._function_kernel.cache_clear()
    gc.collect()
    assert [what() for what in watched] == [None, None]
    assert not any("_giantstep" in name for name in set(sys.modules) - listed)
