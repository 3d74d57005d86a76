"""Defects planted into what the solver uses, and which parts of the certificate find them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from giantstep.quadrature.remembered import Remembered
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve
from giantstep.verify.certificate import EQUATIONS, ERRORS, LAYER, Certificate, certificate

Patch = pytest.MonkeyPatch

PAGE = Path(__file__).resolve().parents[2] / "docs" / "site" / "accuracy.md"
MODEL = Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 1.0},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 1.5, "ridge": 0.1},
    }
)
REMEMBERS = type(lru_cache(len)), Remembered
KERNELS = ("giantstep.quadrature", "giantstep.system", "giantstep.law")  # what they remember may be planted
UNCHANGED = ("giantstep.law.derivation", "giantstep.system.kernels")  # but what is derived and compiled is not


def nothing(patch: Patch) -> None:
    """The solver stays as it is."""


@dataclass(frozen=True)
class Defect:
    """What is planted into a model, and which parts of the certificate have to find it; ``taken_for``: changes of the
    model that the solver solves in its place.
    """

    words: str
    plant: Callable[[Patch], None]
    found: str
    changes: dict[str, Any] = field(default_factory=dict)
    taken_for: dict[str, Any] = field(default_factory=dict)


@contextmanager
def forgetting() -> Iterator[None]:
    """The solver forgets what it remembers, before and after."""
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(KERNELS) and name not in UNCHANGED:
            for value in vars(module).values():
                if isinstance(value, REMEMBERS) and value.__module__ not in UNCHANGED:
                    value.cache_clear()


def found_by(certified: Certificate) -> str:
    """The parts of the certificate that do not hold."""
    parts = {
        "rows": certified.layer > LAYER,
        "errors": max(certified.errors.values()) > ERRORS,
        "equations": certified.worst_equation[1] > EQUATIONS,
    }
    assert not certified.unsettled
    return ", ".join(name for name, differs in parts.items() if differs)


def solved(defect: Defect, planted: bool = False) -> Result:
    model = MODEL.replace(defect.changes)
    result = solve(model.replace(defect.taken_for) if planted else model)
    return replace(result, model=model)


def assert_found(defect: Defect, patch: Patch) -> None:
    """The planted defect is found in the parts that are said, and nothing in the right answer.

    ``solve`` raises where its own evidence does not accept a solution.
    """
    with forgetting():
        with patch.context() as planted:
            defect.plant(planted)
            wrong = solved(defect, planted=True)
        certified = certificate(wrong)  # which knows nothing of what the solver remembers
    assert not certified.holds and found_by(certified) == defect.found, certified
    assert_sound(MODEL.replace(defect.changes))


@lru_cache(maxsize=64)
def assert_sound(model: Model) -> None:
    """Nothing is found in the right answer; once for all defects of a model."""
    certified = certificate(solve(model))
    assert certified.holds and found_by(certified) == "", certified


def assert_listed(defects: tuple[Defect, ...]) -> None:
    """The page has the rows of these defects, in this order."""
    rows = [f"| {defect.words} | {defect.found} |" for defect in defects]
    assert "\n".join(rows) in PAGE.read_text()
