"""Defects planted into what the solver uses: its own evidence accepts each, the certificate finds it.

The documentation has the table of them; a test holds it against this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from planted_defects import Defect, Patch, assert_found, assert_listed, nothing

from giantstep.law import readout_law
from giantstep.quadrature import interpolation, mesh, panels, trapezoid
from giantstep.spec.model import Model
from giantstep.system import judged_signs, misclassification, problem
from giantstep.system.sign_panels import Output

Array = np.ndarray


def averages(change: Callable[[str, Array, float, Array], Array]) -> Callable[[Patch], None]:
    """Other averages of functions over their bulk than those of the kernels."""

    def plant(patch: Patch) -> None:
        for module in (mesh, interpolation):
            right = module.coefficients

            def wrong(text: str, s: Array, c: float, *middle: float, right: Any = right) -> Array:
                found: Array = right(text, s, c, *middle)
                return change(text, s, c, found)

            patch.setattr(module, "coefficients", wrong)

    return plant


def instead(text: str, other: str) -> Callable[[Patch], None]:
    """Averages of another function."""
    right = mesh.coefficients
    return averages(lambda name, s, c, found: right(other, s, c) if name == text else found)


def factor(row: int, by: float) -> Callable[[Patch], None]:
    """One of mu0, mu1 and mu2^2 of the activation, times a factor."""
    rows = np.where(np.arange(3) == row, by, 1.0)[:, None]
    return averages(lambda name, s, c, found: rows * found if name == "tanh" else found)


def lost_mass(patch: Patch) -> None:
    """Nodes that end at four standard deviations of kappa."""
    for module, name in ((panels, "WIDE"), (trapezoid, "NARROW")):
        patch.setattr(module, name, replace(getattr(module, name), reach=4.0))
    patch.setattr(mesh, "NEGLIGIBLE", 1.0)


def blind_strip(patch: Patch) -> None:
    """Where the sign of the output is not sure, it is that of its mean."""
    right = judged_signs.wrong_sign

    def wrong(output: Output) -> Array:
        return right(replace(output, variance=1e-12 * output.variance))

    for module in (judged_signs, misclassification):
        patch.setattr(module, "wrong_sign", wrong)


def spike(**factors: float) -> Callable[[Patch], None]:
    """Numbers of the first layer times a factor."""

    def plant(patch: Patch) -> None:
        right = problem.spike_of

        def wrong(model: Model) -> Any:
            found = right(model)
            changes = {name: tuple(by * x for x in getattr(found, name)) for name, by in factors.items()}
            return replace(found, **changes)

        patch.setattr(problem, "spike_of", wrong)

    return plant


def link_along(by: float) -> Callable[[Patch], None]:
    """The label another function of kappa than the overlap says."""

    def plant(patch: Patch) -> None:
        right = problem.link_term

        def wrong(*given: Any) -> Any:
            found = right(*given)
            return replace(found, scale=by * found.scale)

        patch.setattr(problem, "link_term", wrong)

    return plant


def rule(patch: Patch) -> None:
    """The weights of a density of readout values off by a part that leaves their sum."""
    right = readout_law.density_rule

    def wrong(*given: Any) -> tuple[Array, Array]:
        u, weights = right(*given)
        weights = weights * (1.0 + 1e-7 * u**2)
        return u, weights / weights.sum()

    patch.setattr(readout_law, "density_rule", wrong)


def saturated(name: str, s: Array, c: float, found: Array) -> Array:
    """mu1 off by 1e-4 where the activation hardly changes."""
    return found * np.where((np.abs(s) > 3.0) & (np.arange(3)[:, None] == 1) & (name == "tanh"), 1.0 + 1e-4, 1.0)


BLOCKS = {"values": [1.0, -2.0], "fractions": [0.4, 0.6]}
OTHER_BLOCKS = {"values": [1.0, -2.0], "fractions": [0.4 + 1e-7, 0.6 - 1e-7]}
SPECTRUM = {"eigenvalues": [3.0, 1.0, 0.2], "weights": [0.2, 0.3, 0.5], "target": [1.0, 0.5, 2.0]}
STEP = {"samples": 2.0, "learning_rate": 1.0}
STEPS = {"spike": None, "network.readout": BLOCKS, "step": [STEP, STEP]}
STEPPED = {"target.link": "sign(z) + step(z - 2.5)/5"}
KINKED = {"target.link": "tanh(z) + abs(z - 2)/5"}
NARROW = {"network.activation": "tanh(z) + exp(-1e6*(z - exp(-z))**2)"}
DEFECTS = (
    Defect(
        "a step of the link far out is missed", instead(STEPPED["target.link"], "sign"), "errors, equations", STEPPED
    ),
    Defect(
        "a kink of the link is rounded off",
        instead(KINKED["target.link"], "tanh(z) + sqrt((z - 2)**2 + 0.0001)/5"),
        "errors, equations",
        KINKED,
    ),
    Defect(
        "the activation is another one beyond four standard deviations",
        instead("tanh", "tanh(z) + max(0, z - 4)/10"),
        "errors, equations",
    ),
    Defect(
        "a narrow feature of the activation is stepped over",
        instead(NARROW["network.activation"], "tanh"),
        "errors, equations",
        NARROW,
    ),
    Defect("the mass of kappa beyond four standard deviations is lost", lost_mass, "errors, equations"),
    Defect(
        "the misclassification is wrong in a narrow strip, where the output changes sign",
        blind_strip,
        "errors",
        {"fit.loss": "logistic", "fit.ridge": 100.0},
    ),
    Defect("mu0 is off by 1e-7", factor(0, 1.0 + 1e-7), "equations"),
    Defect("mu1 is off by 1e-7", factor(1, 1.0 + 1e-7), "errors"),
    Defect("mu_star is off by 1e-7", factor(2, 1.0 + 2e-7), "errors"),
    Defect("mu1 is off by 1e-4 where the activation saturates", averages(saturated), "errors, equations"),
    Defect(
        "the label is taken along the spike with an overlap off by 1e-7", link_along(1.0 + 1e-7), "errors, equations"
    ),
    Defect("the overlap is off by 1e-7, everywhere", spike(alignments=1.0 + 1e-7), "rows, errors, equations"),
    Defect("the bulk variance is off by 1e-7, everywhere", spike(bulk_variance=1.0 + 1e-7), "rows, errors, equations"),
    Defect(
        "the bulk variance after a step is off by 1e-7, everywhere, for the hinge loss",
        spike(bulk_variance=1.0 + 1e-7),
        "rows, errors, equations",
        {"spike": None, "step": STEP, "fit.loss": "hinge"},
    ),
    Defect(
        "the fractions of two readout values are off by 1e-7, for the logistic loss",
        nothing,
        "equations",
        {"network.readout": BLOCKS, "fit.loss": "logistic"},
        {"network.readout": OTHER_BLOCKS},
    ),
    Defect(
        "a kink of the loss is off by 1e-7",
        nothing,
        "errors, equations",
        {"fit.loss": {"name": "smoothed_hinge", "delta": 0.5}},
        {"fit.loss": {"name": "smoothed_hinge", "delta": 0.5 + 1e-7}},
    ),
    Defect(
        "the slope of a loss beside its kink is off by 1e-7",
        nothing,
        "errors",
        {"fit.loss": {"name": "quantile", "tau": 0.3}},
        {"fit.loss": {"name": "quantile", "tau": 0.3 + 1e-7}},
    ),
    Defect(
        "labels are flipped too often by 1e-7",
        nothing,
        "errors, equations",
        {"target.flips": 0.1, "fit.loss": "hinge"},
        {"target.flips": 0.1 + 1e-7},
    ),
    Defect(
        "noise inside the link is off by 1e-7",
        nothing,
        "errors, equations",
        {"target.probit": 0.5, "fit.loss": "probit"},
        {"target.probit": 0.5 + 1e-7},
    ),
    Defect(
        "a share of the inputs' spectrum is off by 1e-7",
        nothing,
        "rows, errors, equations",
        {"spike": None, "step": STEP, "inputs": SPECTRUM},
        {"inputs.weights": [0.2 + 1e-7, 0.3, 0.5 - 1e-7]},
    ),
    Defect(
        "the target lies along the inputs' spectrum off by 1e-7",
        nothing,
        "errors, equations",
        {"spike": None, "inputs": SPECTRUM, "fit.loss": "logistic"},
        {"inputs.target": [1.0, 0.5, 2.0 + 1e-6]},
    ),
    Defect("the second step is missing", nothing, "rows, errors, equations", STEPS, {"step": STEP}),
    Defect(
        "the rate of the second step is off by 1e-7",
        nothing,
        "rows, equations",
        STEPS,
        {"step.2.learning_rate": 1.0 + 1e-7},
    ),
    Defect(
        "the bias of a readout value is off by 1e-7",
        nothing,
        "equations",
        {"network.readout": {**BLOCKS, "biases": [0.0, 0.5]}},
        {"network.readout": {**BLOCKS, "biases": [0.0, 0.5 + 1e-7]}},
    ),
    Defect(
        "rows have the norms of another initialisation",
        nothing,
        "errors, equations",
        {"spike": None, "step": {**STEP, "bulk": "trained"}, "network.readout": BLOCKS, "network.activation": "relu"},
        {"network.initialisation": "gaussian"},
    ),
    Defect(
        "moments of a density of readout values are off by 1e-7",
        rule,
        "rows",
        {"network.readout": {"density": "uniform"}},
    ),
)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.words)
def test_the_certificate_finds_it(defect: Defect, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_found(defect, monkeypatch)


def test_the_page_lists_them() -> None:
    assert_listed(DEFECTS)
