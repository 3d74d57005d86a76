"""The training error that a derivation prints is the one that is told."""

from __future__ import annotations

import pytest
import sympy

import giantstep as gs
from derive.loss.loss import F, Y, loss_of_entry


@pytest.mark.parametrize(("loss", "bias"), [("square", "trained"), ("huber", 0.0), ("log_cosh", 0.0)])
def test_it_is_the_printed_multiple_of_the_mean_loss(loss: str, bias: float | str) -> None:
    """A large ridge holds the readout at zero, and the labels are +-1."""
    network = gs.Network("tanh", width=1.0, bias=bias)
    model = gs.Model(network=network, target=gs.Target("sign"), fit=gs.Fit(samples=1.0, ridge=1e6, loss=loss))
    steps = {step.label: step for part in gs.derive(model).parts for step in part.steps}
    entry = loss_of_entry(model.fit.loss.entry)
    defaults = {parameter.symbol: parameter.default for parameter in entry.parameters}
    at_zero = entry.expr.subs({**defaults, Y: 1, F: 0})
    printed = steps["training error"].rhs.subs({sympy.Symbol("train_loss"): at_zero})
    assert gs.solve(model).train_error == pytest.approx(float(printed), rel=1e-5)
