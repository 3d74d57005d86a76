"""Sweeps under observation: what is solved, alone or together with other points, and points made to fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.system.points import Certified, solve_points
from giantstep.system.solve import solve

_TASKS = import_module("giantstep.sweep.tasks")


def before_each_point(monkeypatch: pytest.MonkeyPatch, call: Callable[[Model], object]) -> None:
    """Call a function with the model of every point that a sweep solves; an error of it is that of the point."""

    def alone(model: Model, **options: Any) -> Any:
        call(model)
        return solve(model, **options)

    def together(model: Model, values: Mapping[str, np.ndarray], *options: Any) -> Certified:
        found = solve_points(model, values, *options)
        ok = found.ok.copy()
        for place in range(len(ok)):
            try:
                call(model.replace({key: float(column[place]) for key, column in values.items()}))
            except GiantstepError:  # found again, and named, where the point is solved alone
                ok[place] = False
        return replace(found, ok=ok)

    monkeypatch.setattr(_TASKS, "solve", alone)
    monkeypatch.setattr(_TASKS, "solve_points", together)


def solved_points(monkeypatch: pytest.MonkeyPatch, stop_at: int | None = None) -> list[Model]:
    """The models that sweeps solve from now on, as they are noted; interrupted at one of them."""
    found: list[Model] = []

    def note(model: Model) -> None:
        found.append(model)
        if stop_at is not None and len(found) == stop_at:
            raise KeyboardInterrupt

    before_each_point(monkeypatch, note)
    return found
