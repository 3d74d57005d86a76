"""The checks of a model: they hold for sound models, print a table, and fail where a number is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import pytest

import giantstep
from derive.scalar import scalar_function
from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system.kernels import system_kernel
from giantstep.system.solve import problem_of, solve
from giantstep.system.state import slices_by_name
from giantstep.verify.certificate import certificate_checks
from giantstep.verify.coupled_system import kernel_checks, solved_again
from giantstep.verify.run import Check, checks, function_checks, solver_checks, step_check, verify

SPIKED = Model.from_dict(
    {
        "network": {"activation": "erf", "width": 1.0},
        "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.1},
        "target": {"link": "sign", "noise": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)
STEPPED = Model.from_dict(
    {
        "network": {
            "activation": "relu",
            "width": 0.8,
            "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
        },
        "step": {"samples": 2.0, "learning_rate": 1.0},
        "target": {"link": "sin"},
        "fit": {"samples": 1.5, "ridge": 0.1},
    }
)


def test_the_verb_is_the_function() -> None:
    assert getattr(giantstep, "verify") is verify  # noqa: B009


@pytest.mark.parametrize("model", [SPIKED, STEPPED], ids=["spike", "step"])
def test_sound_models_pass(model: Model) -> None:
    lines: list[str] = []
    assert verify(model, lines.append), "\n".join(lines)
    header, *rows, legend, verdict = lines
    assert header.split() == ["check", "measured", "allowed"]
    empty = [row for row in rows if "nothing to check" in row]
    assert all((": 0 of " in row) == (row in empty) for row in rows)
    assert all("worst difference of two sides" in row for row in rows if " 1.0e+00 " in row)
    undecided = [row for row in rows if "  ok" not in row and row not in empty]
    assert len(rows) >= 15 and all("simulation" in row and "undecided: needs about" in row for row in undecided)
    assert "all checks hold" in verdict and "relative to the size" in legend
    assert ("after the step" in "\n".join(lines)) == (model.step is not None)


def test_every_check_is_there() -> None:
    before = mpmath.mp.dps
    found = list(checks(SPIKED, dimension=60, seeds=4))
    assert all(check.ok for check in found if "simulation" not in check.name)
    assert mpmath.mp.dps == before  # its precision is left alone
    names = "\n".join(check.name for check in found)
    for words in (
        "Conditional Gaussian equivalence of erf",
        "closed forms of erf",
        "kernel of sign",
        "of the solver by the interpreter",
        "gradient of the free energy",
        "residual",
        "training loss",
        "orders of quadrature",
        "finer quadrature",
        "second quadrature",
        "by the interpreter",
        "simulation",
    ):
        assert words in names


def test_what_vanishes_by_symmetry_is_measured_by_the_readout() -> None:
    """Opposite neurons of a kinked activation: zeta and its conjugate are zero but for rounding."""
    model = SPIKED.replace(
        {
            "network.activation": "relu",
            "network.readout": {"values": [1.0, -1.0], "fractions": [0.5, 0.5]},
            "target.noise": 0.0,
            "target.flips": 0.05,
            "fit.loss": "logistic",
        }
    )
    result = solve(model)
    assert np.max(np.abs(result.order_parameters["zeta"])) < 1e-12
    rows = list(kernel_checks(model, solved_again(model, result)))
    assert all(row.ok for row in rows), [row.line() for row in rows]


def test_a_failed_check_is_printed_and_decides() -> None:
    assert not Check("x", math.nan, 1.0).ok
    assert not Check("x", 2.0, 1.0).ok and Check("x", 2.0, 1.0).line().endswith("FAILED")
    assert Check("x", 1.0, 1.0).ok
    unclear = Check("x", 2.0, 1.0, "needs about 90 seeds")
    assert not unclear.ok and unclear.line().endswith("undecided: needs about 90 seeds")


def test_undecided_is_shown_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    module, lines = import_module("giantstep.verify.run"), []
    for last, passed, words in (("", False, "1 of 2 checks FAILED"), ("why", True, "all checks hold; 1 undecided")):
        rows = [Check("a", 0.0, 1.0), Check("b", 2.0, 1.0, last)]
        monkeypatch.setattr(module, "checks", lambda *_, found=rows: iter(found))
        assert verify(SPIKED, lines.append) is passed
        assert lines[-1].startswith(words)


def test_checks_before_a_solution_that_is_not_found_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*_: object) -> Iterator[Check]:
        yield Check("a", 0.0, 1.0)
        raise NotConverged("no solution", "more samples")

    lines: list[str] = []
    monkeypatch.setattr(import_module("giantstep.verify.run"), "checks", found)
    with pytest.raises(NotConverged):
        verify(SPIKED, lines.append)
    assert lines[-1] == "1 checks were made: all checks hold. The others need a solution:"


def test_a_wrong_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's answer changed by 1e-9 after the fact."""
    kernel = system_kernel("square")

    class Wrong:
        def __getattr__(self, name: str) -> Any:
            return getattr(kernel, name)

        def solve(self, *given: Any) -> None:
            kernel.solve(*given)
            work, fraction = given[6], given[2]
            work[:, slices_by_name(kernel, len(fraction))["Q2"][0]] *= 1.0 + 1e-9

    monkeypatch.setattr(import_module("giantstep.verify.solver_equations"), "square_kernel", lambda _: Wrong())
    result = solve(SPIKED)
    failed = {check.name for check in solver_checks(SPIKED, result) if not check.ok}
    assert any("equations of the solver by the interpreter" in name for name in failed)


def test_a_wrong_coefficient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("giantstep.verify.functions")
    right = module.coefficients
    monkeypatch.setattr(module, "coefficients", lambda text, s, c: right(text, s, c) * (1.0 + 1e-9))
    term = Term("erf", 1.0, 0.2, 1.1)
    failed = [check.name for check in function_checks(scalar_function("erf"), [term], "it") if not check.ok]
    assert failed == ["kernel of erf against quadrature"]


def test_a_wrong_step_is_noticed() -> None:
    problem = problem_of(STEPPED)
    assert step_check(STEPPED, problem).ok
    wrong = problem.with_features(spike=replace(problem.spike, strength=problem.spike.strength * (1.0 + 1e-9)))
    assert not step_check(STEPPED, wrong).ok


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "gelu", "abs", "sin", "quadratic"])
@pytest.mark.parametrize("values", [[1.0], [1.0, -1.0], [1.0, 0.3, -0.7]])
def test_more_models_pass(activation: str, values: list[float]) -> None:
    """Equations and gradient only: simulation is in the models above."""
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    model = SPIKED.replace({"network.activation": activation, "network.readout": readout})
    result = solve(model, dimension=300)
    rows = [*solver_checks(model, result), *certificate_checks(result)]
    assert [row.line() for row in rows if not row.ok] == []
    assert result.residual < 1e-10


@pytest.mark.parametrize("simulated", [False, True])
def test_a_simulation_may_fail_for_its_size(simulated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Check("x", 2.0, 1.0, simulated=simulated)
    monkeypatch.setattr(import_module("giantstep.verify.run"), "checks", lambda *_: [one])
    lines: list[str] = []
    assert not verify(SPIKED, lines.append)
    assert lines[-1].endswith("or d is too small for the limit") == simulated
