"""Deriving a module of an expression: within a budget, and without a trace in the process that asks."""

from __future__ import annotations

import sys

import pytest

from giantstep.spec.emission import GIBIBYTES, SECONDS, Refused, emitted
from giantstep.spec.errors import BadInput
from giantstep.spec.kernels import function_kernel

pytestmark = pytest.mark.usefixtures("processes_of_their_own")

HARD = "tanh(exp(exp(exp(z))))"  # SymPy's numbers fill the memory


def test_too_much_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIBIBYTES, "1")
    with pytest.raises(
        BadInput, match=rf"the function '.*' is too hard to derive: it takes more than 1 GiB.*{GIBIBYTES}"
    ):
        function_kernel(HARD)


def test_too_much_time_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECONDS, "0.01")
    with pytest.raises(BadInput, match=rf"the loss .* takes more than 0.01 s.*{SECONDS}"):
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


def test_a_failure_inside_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="the derivation of 'z' failed"):
        emitted("function", "z")
