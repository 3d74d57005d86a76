"""Defects planted into the laws of labels in pieces, of counts and of two indices: the certificate finds each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from planted_defects import Defect, Patch, assert_found, assert_listed, nothing

from giantstep.law import channel
from giantstep.system import at_level

Array = np.ndarray


def labels(**changes: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """Other arrays of the law of a label in pieces, as the kernel of the loss takes them."""

    def plant(patch: Patch) -> None:
        right = at_level.kernel_of

        def wrong(*given: Any) -> Any:
            kernel, law = right(*given)
            return kernel, law._replace(**{name: change(getattr(law, name)) for name, change in changes.items()})

        patch.setattr(at_level, "kernel_of", wrong)

    return plant


def counts(patch: Patch) -> None:
    """Labels of a channel of counts are too large by 1e-6."""
    right = channel._poisson

    def wrong(s: Array, count: int) -> tuple[Array, Array]:
        found, weights = right(s, count)
        return found * (1.0 + 1e-6), weights

    patch.setattr(channel, "_poisson", wrong)


TWO = {"spike.alignment": [0.6, 0.4], "target.link": "abs(z1) + z2", "fit.loss": "log_cosh"}
SIGNS = {**TWO, "target.link": "sign(z1*z2)", "fit.loss": "logistic", "network.activation": "gelu"}
DEFECTS = (
    Defect(
        "a line of kinks of two indices is rounded off",
        nothing,
        "errors, equations",
        TWO,
        {"target.link": "sqrt(z1**2 + 0.01) + z2"},
    ),
    Defect(
        "a kink of two indices far out is missed",
        nothing,
        "errors, equations",
        {**TWO, "target.link": "abs(z1) + z2 + relu(z2 - 4)/10"},
        {"target.link": "abs(z1) + z2"},
    ),
    Defect(
        "a moment with the second of two indices has the wrong sign",
        nothing,
        "errors, equations",
        TWO,
        {"target.link": "abs(z1) - z2"},
    ),
    Defect(
        "a far corner of a quadrant of two indices has the label of another",
        nothing,
        "errors, equations",
        SIGNS,
        {"target.link": "sign(z1*z2) + 2*step(z1 - 3)*step(-z2 - 3)"},
    ),
    Defect(
        "a kink of the loss is off by 1e-6, of two indices",
        nothing,
        "errors, equations",
        {**SIGNS, "fit.loss": {"name": "smoothed_hinge", "delta": 0.5}},
        {"fit.loss": {"name": "smoothed_hinge", "delta": 0.5 + 1e-6}},
    ),
    Defect(
        "noise inside the link is off by 1e-5, of two indices",
        nothing,
        "errors, equations",
        {**SIGNS, "target.probit": 0.3},
        {"target.probit": 0.3 + 1e-5},
    ),
    Defect(
        "labels that are counts are too large by 1e-6",
        counts,
        "errors, equations",
        {"target.link": "z/2", "target.channel": "poisson", "fit.loss": "log_cosh"},
    ),
    Defect(
        "the slope of a straight label is off by 1e-6",
        labels(slope=lambda slope: slope * (1.0 + 1e-6)),
        "errors, equations",
        {"target.link": "relu", "fit.loss": "huber"},
    ),
    Defect(
        "an end of a straight piece is off by 1e-6, of two indices",
        labels(high=lambda high: high + 1e-6),
        "errors, equations",
        {**TWO, "target.link": "relu(z1)*relu(z2)", "fit.loss": "huber"},
    ),
    Defect(
        "edges of the polygons of a label are off by 1e-6",
        labels(edges=lambda edges: edges._replace(distance=edges.distance + 1e-6)),
        "errors, equations",
        {**TWO, "target.link": "max(z1, z2)", "fit.loss": "huber"},
    ),
    Defect(
        "a crossing of two kinks is missed",
        nothing,
        "errors, equations",
        {**TWO, "target.link": "max(z1, z2) + relu(z1 + z2 - 4)/10", "fit.loss": "huber"},
        {"target.link": "max(z1, z2)"},
    ),
)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.words)
def test_the_certificate_finds_it(defect: Defect, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_found(defect, monkeypatch)


def test_the_page_lists_them() -> None:
    assert_listed(DEFECTS)
