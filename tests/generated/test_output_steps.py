"""Steps of the trapezoid over l that grow away from the knee of a loss: averages are those of far more steps."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest
from scipy.special import ndtr

from codegen.losses import emit_loss
from generated.losses import log_cosh, logistic
from generated.runtime.nodes import OMEGA, WEIGHT, G, H, Output, Rule
from generated.runtime.prox import NOWHERE, Turns
from giantstep.quadrature.gauss import gauss_rule

FEWEST, MANY = 44, 200
ROUNDED = 1e-13  # of the averages of absolute values, of some hundred nodes
LABELS = 1e-10  # the same where a label turns, which fewest steps resolve so far


def nodes(loss: ModuleType, output: Output, fewest: int, width: float = math.inf) -> np.ndarray:
    """Rows of scratch at the nodes of an output; width: on which a label turns in its centre."""
    scratch = np.empty(loss.SCRATCH_SHAPE)
    rest = (math.inf,) * 5
    turns = NOWHERE if width == math.inf else Turns((output.center, *rest), (width, *rest), width)
    rule = Rule(gauss_rule(fewest), fewest, np.empty(0), 0.0)
    count = loss.nodes(rule, 1.0, output, turns, scratch)
    return np.asarray(scratch[:, :count])


def averages(rows: np.ndarray, output: Output, width: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
    """Of powers of the output, the slope, the curvature and products, where a label turns; of their absolute values."""
    z, g, h = (rows[OMEGA] - output.center) / output.spread, rows[G], rows[H]
    weight = rows[WEIGHT] * (ndtr(z * output.spread / width) if width < math.inf else 1.0)
    terms = weight * np.array([np.ones_like(z), z * z, g, h, g * g, g * h, z * h])
    return terms.sum(axis=1), np.abs(terms).sum(axis=1)


def evenly(loss: ModuleType, output: Output, rows: np.ndarray) -> float:
    """How many even steps of l there are, of which the longest of omega are as many as the fewest on its span."""
    ends = rows[OMEGA] + output.V * rows[G]
    return float(FEWEST * (ends.max() - ends.min()) * (1.0 + output.V * loss.LOSS.curvature) / (18.0 * output.spread))


@pytest.mark.parametrize(
    ("loss", "V", "spread", "center"),
    [(logistic, 30.0, 4.5, -4.0), (logistic, 90.0, 6.4, 3.0), (log_cosh, 12.0, 10.0, 3.0), (log_cosh, 30.0, 9.0, -4.0)],
)
def test_growing_steps_serve_with_fewer_nodes(loss: ModuleType, V: float, spread: float, center: float) -> None:
    """Outputs that vary widely, and a response V that is large."""
    output = Output(center, spread, V)
    rows = nodes(loss, output, FEWEST)
    (found, size), (known, _) = (averages(each, output) for each in (rows, nodes(loss, output, MANY)))
    assert np.all(np.abs(found - known) < ROUNDED * size)
    assert rows.shape[1] < 0.8 * evenly(loss, output, rows)


def test_steps_are_short_where_labels_turn() -> None:
    """A label that turns on a quarter of a spread has more of them."""
    output, width = Output(1.0, 6.0, 40.0), 1.5
    rows = nodes(logistic, output, FEWEST, width)
    (found, size), (known, _) = (averages(each, output, width) for each in (rows, nodes(logistic, output, MANY, width)))
    assert np.all(np.abs(found - known) < LABELS * size)
    assert rows.shape[1] > 1.5 * nodes(logistic, output, FEWEST).shape[1]


@pytest.mark.parametrize(
    ("expression", "knee"),
    [
        ("log(1+exp(3-y*f))", "3.0"),
        ("log(1+exp(-y*f)) + log(1+exp(9-y*f))", "math.nan"),  # of two knees
        ("exp(-y*f)", "math.nan"),
        ("(y-f)**2/2", "math.nan"),
        ("log(1+exp(-y*f/4))", "math.nan"),  # falls more slowly
    ],
)
def test_a_knee_is_where_the_curvature_falls_on_both_sides(expression: str, knee: str) -> None:
    """Everywhere else steps stay even."""
    assert f"    knee={knee}," in emit_loss(expression).text
