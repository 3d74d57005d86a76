"""Threads of one process: SymPy and mpmath hold how many digits they compute with for all of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath.ctx_mp_python import PythonMPContext

import giantstep as gs
from giantstep.spec.model import Model
from giantstep.spec.one_at_a_time import TURN


def model(activation: str, link: str, values: list[float], loss: Any = "square", **step: float) -> Model:
    """A network after one step, at infinite dimension."""
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    return Model.from_dict(
        {
            "network": {"activation": activation, "width": 0.5, "readout": readout},
            "step": {"samples": 4.0, "learning_rate": 1.0, **step},
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


NEAR = model("tanh", "sign", [1.0, 1.0000001])
POLYNOMIAL = model("He(2,z)+z", "z**3-z", [1.0, 2.0, 3.0])


@contextmanager
def digits_watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of threads that set the digits of mpmath, as SymPy does too, while others might compute."""
    without_turn: list[str] = []
    with monkeypatch.context() as patched:
        for name in ("prec", "dps"):
            known = vars(PythonMPContext)[name]

            def put(context: Any, digits: int, known: Any = known) -> None:
                if context is mpmath.mp and not TURN._is_owned():  # type: ignore[attr-defined]
                    without_turn.append(threading.current_thread().name)
                known.fset(context, digits)

            patched.setattr(PythonMPContext, name, property(known.fget, put))
        yield without_turn


@pytest.mark.parametrize("base", [NEAR, POLYNOMIAL], ids=["near", "polynomial"])
def test_threads_take_turns_where_digits_are_set(base: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = np.linspace(0.9, 1.1, 4) + 1e-4
    with digits_watched(monkeypatch) as without_turn, ThreadPoolExecutor(2) as pool:
        found = gs.solve_many(base, {"step.learning_rate": rates}, executor=pool)
        gs.curve(base, "step.learning_rate=0.91:1.11:4", executor=pool)
        with_turn = mpmath.mp.prec
    assert not without_turn and with_turn == 53
    assert not any(found["reason"])


def test_new_functions_are_derived_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [f"log(cosh({scale}*(y-f)))" for scale in (0.731, 0.732)]
    links = [f"tanh({scale}*z)+erf(z/3)" for scale in (1.731, 1.732)]
    models = [model(f"z+sin({k + 2}*z)/7", links[k], [1.0], losses[k]) for k in range(2)]
    with digits_watched(monkeypatch) as without_turn, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(gs.solve, models))
        list(pool.map(lambda one: gs.simulate(one, dimension=30, seeds=2), models))
    assert not without_turn
    assert all(result.residual < 1e-9 for result in results)
