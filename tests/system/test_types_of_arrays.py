"""A kernel is compiled for the types of its arrays: each has one, however arrays lie in memory of those who call it."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import typeof

from giantstep.law.labels import label_law
from giantstep.observe.optimal import one, smooth
from giantstep.observe.optimal.fineness import Fineness
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Target
from giantstep.system.kernels import loss_kernel
from giantstep.system.label_kernels import kernel_of
from giantstep.system.two_outputs import ALWAYS, Averages, Output


def read_only(values: np.ndarray) -> np.ndarray:
    found = values.view()
    found.flags.writeable = False
    return found


def test_nodes_of_kappa_may_be_read_only() -> None:
    kappa, loss = np.linspace(-1.0, 1.0, 5), loss_kernel(FitLoss("logistic"))
    law = label_law(Target("sign"), (0.5,), kappa)
    assert typeof(kernel_of(loss, law, read_only(kappa))[1]) == typeof(kernel_of(loss, law, kappa)[1])


def test_a_label_may_stand_for_many() -> None:
    types = set()

    def series(rule: Any, label: np.ndarray, *_: Any) -> None:
        types.add(typeof(label))

    averages: Any = object.__new__(Averages)
    loss = SimpleNamespace(LOSS=SimpleNamespace(slope_series=series))
    averages.system, averages.weights = SimpleNamespace(loss=loss, rule=None, scratch=None), ALWAYS
    for label in (np.ones(3), np.broadcast_to(1.0, 3), np.ones((3, 2))[:, 0]):
        averages.series(Output(np.zeros(3), np.ones(3), np.ones(3)), label, 2)
    assert len(types) == 1


def types_of_calls(room: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """Filled with the types of the arguments of a function of a module as it is called."""
    types, real = set(), getattr(room, name)

    def noted(*arguments: Any) -> Any:
        types.add(tuple(map(typeof, arguments)))
        return real(*arguments)

    monkeypatch.setattr(room, name, noted)
    return types


def test_noisy_labels_of_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    types = types_of_calls(one, "told_by_one", monkeypatch)
    for link in ("tanh", "relu"):
        one.told_by_nodes(Target(link, noise=0.2), 0.5, Fineness())
    assert len(types) == 1


def test_noisy_labels_that_are_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    types = types_of_calls(smooth, "gather", monkeypatch)
    for link, known in itertools.product(("tanh", "tanh(z1) + z2"), (0.5, 0.0)):
        target = Target(link, noise=0.2)
        smooth.densities(target, known * np.eye(target.indices), Fineness(), moments=True)
    assert len(types) == 1
