"""Changes in the equations of every kind of generated system are noticed, and in those of their sensitivities.

Two blocks that differ, so that an index counts. The system is solved on a few nodes by compiled code. The
certificate evaluates the equations from their text, apart from that: rounding leaves 1e-12 of the terms, a change of
either at least 1e-9. Tangents are compared with differences of the residuals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rank_cases import model as model_of_rank_2

from generated.runtime.equation_text import lines_of
from generated.runtime.tangents import TangentEquations
from generated.runtime.unknowns import RESIDUAL
from giantstep.spec.model import Model
from giantstep.system import first_solution
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.state import slices_by_name
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
ROUGH = Level(2, 44)
STEP = 1e-5  # of the unknowns, relative
OBSERVABLES = ("d_test_error", "d_train_error", "d_free_energy")
FOUND = 1e-9  # what a change leaves of an equation; a solution leaves 1e-12
CHANGES = (
    (r" - ", " + "),
    (r" \+ ", " - "),
    (r"= -", "= "),
    (r"(?<!of_step\[s, a\])\*\*2", "**3"),  # that is 0 or 1
    (r"(?<!\*\*)\b2\b", "3"),
    (r"\b2\.0\b", "3.0"),
    (r"0\.5", "0.4"),
    (r"\balpha ?\* ?", ""),
    (r"/ ?beta", ""),
    (r"\bmu1\[", "mu2sq["),
    (r"\bV1_hat\b", "Q1_hat"),
    (r"\blaw_vo\b", "law_oo"),
    (r"\bpsi\b", "zeta"),
    (r"'(\w)(\w),", r"'\2\1,"),
    (r"\b(P|Px|matrix_Px?)\[(\w), (\w)", r"\1[\3, \2"),  # the others are symmetric
)
#: What averages over the output are taken at: the certificate is given these, and the sensitivities know how they move.
FIELDS = r"(V|mean|Delta) "


def two_blocks(link: str = "tanh(z-0.3)", **changes: Any) -> Model:
    tables = {
        "network": {
            "activation": "tanh",
            "bias": 0.3,
            "width": 1.1,
            "readout": {"values": [1.0, -0.6], "fractions": [0.4, 0.6]},
            "initialisation": "gaussian",
        },
        "step": {"samples": 2.0, "learning_rate": 1.2, "bulk": "trained"},
        "target": {"link": link, "noise": 0.2},
        "fit": {"samples": 1.7, "ridge": 0.2, "loss": "log_cosh"},
    }
    return Model.from_dict(tables).replace({key.replace("__", "."): value for key, value in changes.items()})


def of_inputs() -> Model:
    tables = two_blocks(step__bulk="isotropic").to_dict()
    return Model.from_dict({**tables, "inputs": {"capacity": 0.4, "modes": 9, "source": 0.5}})


def of_given_rows(folder: Path, values: int = 2) -> Model:
    draw, d, p = np.random.default_rng(3), 20, 24
    rows = draw.normal(size=(p, d)) * np.sqrt(np.linspace(0.3, 1.7, d) / d)
    spike, target = draw.normal(size=(2, d)) + np.linspace(1.5, 0.0, d)
    unit = {"spike": spike / np.linalg.norm(spike), "target": target / np.linalg.norm(target)}
    np.savez(folder / "bulk.npz", bulk=rows, **unit)
    readout = {"values": [1.0, -0.6][:values], "fractions": [0.5] * values if values > 1 else [1.0]}
    tables = two_blocks().to_dict()
    tables["network"] |= {"width": p / d, "readout": readout}
    tables["step"] |= {"bulk": "matrix", "matrix": str(folder / "bulk.npz")}
    return Model.from_dict(tables)


KINDS: dict[str, Callable[[Path], Model]] = {
    "isotropic_rank_2": lambda _: model_of_rank_2(fit__loss="log_cosh", network__bias=0.3),
    "isotropic_indices_2": lambda _: two_blocks(
        "tanh(z1) + z2/2", step__bulk="isotropic", network__initialisation="sphere"
    ),
    "penalised": lambda _: two_blocks(
        step__bulk="isotropic", network__initialisation="sphere", fit__penalty={"name": "elastic_net", "l1": 0.1}
    ),
    "norms_indices_2": lambda _: two_blocks("tanh(z1) + z2/2", step__bulk="isotropic"),
    "inputs": lambda _: of_inputs(),
    "matrix": partial(of_given_rows, values=1),
    "neurons": of_given_rows,
    "stretched": lambda _: two_blocks("tanh(z-0.3) + He(2,z)/2", network__activation="gelu"),
}


@lru_cache(maxsize=1)
def solved(kind: str, folder: Path) -> tuple[CoupledSystem, Array]:
    """A system of a kind, at its solution on a few nodes."""
    problem = problem_of(KINDS[kind](folder), 200)
    system = coupled_at(problem, ROUGH)
    for start in first_solution.starts(problem, system, None):
        outcome = newton(system, start)
        if outcome.converged:
            break
    outcome = newton(system, outcome.x)  # once more, to rounding
    assert outcome.converged and system.certificate(outcome.x) < 1e-11
    assert system.equations.__name__ == f"generated.systems.{kind}"
    return system, outcome.x


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


def mutants(lines: list[str], which: re.Pattern[str], most: int, blocks: int = 2) -> Iterator[tuple[str, list[str]]]:
    """At most ``most`` changes, spread evenly over all there are; in the right side of a line."""
    found = []
    for i, line in enumerate(lines):
        if which.match(line):
            start = line.index("= ")
            for old, new in CHANGES if blocks > 1 else CHANGES[:-2]:
                changed, count = re.subn(old, new, line[start:], count=1)
                if count and changed != line[start:]:
                    found.append((i, line[:start] + changed))
    assert found
    for i, changed in [found[k * len(found) // most] for k in range(most)] if len(found) > most else found:
        place = next(k for k, (old, new) in enumerate(zip(lines[i], f"{changed} ", strict=False)) if old != new)
        said = f"{lines[i].strip()[:40]} ... {lines[i][place - 20 : place + 20]} -> {changed[place - 20 : place + 20]}"
        yield said, [*lines[:i], changed, *lines[i + 1 :]]


def joined(text: str) -> list[str]:
    """The equations, each on a line."""
    return [" ".join(sides) for sides in lines_of(text)]


@pytest.mark.parametrize("most", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_certificate_refuses_the_solution(kind: str, most: int, folder: Path) -> None:
    system, x = solved(kind, folder)
    system.residual(x)
    of, known = system.equations.CERTIFICATE, system.known()
    given, left = (system.node, system.problem.fraction, system.parameters, known), []
    for change, mutant in mutants(joined(of.equations), re.compile(rf"(?!{FIELDS}).*= "), most, system.blocks):
        with np.errstate(all="ignore"):
            try:
                worst = type(of)("\n".join(mutant), of.columns, of.odd, of.features).check(*given)
            except (ValueError, KeyError, IndexError):  # axes that do not fit
                continue
        left += [] if worst > FOUND else [change]
    assert left == []


def moved(system: Any, x: Array, direction: Array, step: float, sigma: Array | None) -> Array:
    """Residuals and observables along a direction; the covariances of the rows grow with it, where there are some."""
    if sigma is not None:
        system.numbers["Sigma"] = sigma * (1.0 + step)
    return np.concatenate([system.residual(x + step * direction), system.observables()])


def tangents(system: CoupledSystem, known: dict[str, Any], direction: Array) -> Array:
    """How these move, by the tangents of the equations."""
    names = [f"d_residual_{name}" for name in system.kernel.UNKNOWNS]
    places = slices_by_name(system.kernel, system.blocks)
    moves = system.moves(direction)
    moves |= {"d_Sigma": known["Sigma"]} if "Sigma" in known else {}
    found = system.tangents(known).along(moves, (*names, *OBSERVABLES))
    numbers = np.zeros(len(system.work))
    for name in names:
        numbers[places[name.removeprefix("d_")][0]] = np.ravel(found[name])
    observables = np.array([float(found[name]) for name in OBSERVABLES])
    observables[2] += system.energy_rate(direction)
    return np.append(numbers[system.members[RESIDUAL]], observables)


@pytest.mark.parametrize("most", [3, pytest.param(15, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_changed_sensitivities_are_no_derivatives(
    kind: str, most: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against central differences: 1e-8 of the largest is left of them, and of a changed term a hundred times that."""
    system, x = solved(kind, folder)
    direction = system.scale(x) * np.random.default_rng(0).uniform(0.5, 1.0, len(x))
    sigma = system.known().get("Sigma")
    ends = [moved(system, x, direction, step, sigma) for step in (STEP, -STEP, 0.0)]
    exact = (ends[0] - ends[1]) / (2.0 * STEP)
    known, module = system.known(), system.equations
    right = tangents(system, known, direction)
    assert np.abs(right - exact).max() < 1e-8 * np.abs(exact).max()
    text, left = module.tangents.text, []
    for part, which in (("equations", FIELDS), ("rules", ""), ("observables", "")):
        for change, mutant in mutants(joined(getattr(text, part)), re.compile(rf"{which}.*= "), most, system.blocks):
            changed = replace(text, **{part: "\n".join(mutant)})
            monkeypatch.setattr(module, "tangents", TangentEquations(changed, module.COLUMNS, module.tangents.features))
            try:
                found = tangents(system, known, direction)
            except (ValueError, KeyError, IndexError):  # axes that do not fit
                found = np.array(np.inf)
            monkeypatch.undo()
            left += [] if np.abs(found - exact).max() > 1e-6 * np.abs(exact).max() else [change]
    assert left == []
