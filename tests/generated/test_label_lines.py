"""Averages over labels that are linear in one normal variable, against the same labels at nodes of that variable.

The output's spread smooths what a node of it sees: 30 panels of 16 nodes leave 1e-13, both rules over the output 1e-12.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from loss_cases import RESIDUAL, loss_table, model
from scipy.special import ndtr

from generated.runtime.label_lines import LabelLines
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.quadrature.gauss import gauss_rule, normal_nodes
from giantstep.system.kernels import loss_kernel

STEPS = 256  # of the output
CLOSE = 1e-11
LINES = 40
SLOPE = (0.7, -0.4)  # of the output in t
AXIS, REST = np.array([0.6, -0.3]), np.array([[0.8, 0.1], [0.1, 0.5]])


def averages(name: str, labels: LabelLines | LabelNodes, directions: int) -> np.ndarray:
    """The averages of the kernel at one node of kappa, for an output of mean 0.2 and variance 0.5 beside t."""
    found = model(loss_table(name), target__link="tanh").fit.loss
    kernel = loss_kernel(found)
    out = np.empty((10 + 4 * directions + directions * (directions + 1) // 2, 1))
    fields = Fields(np.full(1, 1.3), np.full(1, 0.2), np.array(SLOPE[:directions])[:, None], np.full(1, 0.5))
    rule = Rule(gauss_rule(STEPS), STEPS, np.array(found.values, dtype=float), 0.1)
    (kernel.lines if isinstance(labels, LabelLines) else kernel.points)(
        rule, labels, fields, np.empty(kernel.SCRATCH_SHAPE), out
    )
    return out[:, 0]


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("name", RESIDUAL)
def test_lines_are_the_sum_over_their_points(name: str, directions: int) -> None:
    draw = np.random.default_rng(3)
    weight, label, t = draw.random((1, LINES)), draw.normal(size=(1, LINES)), draw.normal(size=(1, LINES, directions))
    slope = draw.normal(size=(1, LINES)) * np.where(np.arange(LINES) % 3 == 0, 4.0, 0.3)
    slope[0, :4] = AXIS[:directions] @ SLOPE[:directions]  # residuals that do not know x
    axis, rest = AXIS[:directions].copy(), REST[:directions, :directions].copy()
    weight[0, 7] = 0.0
    ends = np.full((1, LINES), np.inf)
    lines = averages(name, LabelLines(weight, t, label, slope, -ends, ends, axis, rest), directions)
    x, share = normal_nodes(np.linspace(-9.0, 9.0, 31), 16)
    places = np.ascontiguousarray(t[0, :, None] + x[:, None] * axis).reshape(1, -1, directions)
    spelled = LabelNodes(np.outer(weight, share).reshape(1, -1), places, (label.T + slope.T * x).reshape(1, -1), rest)
    points = averages(name, spelled, directions)
    assert np.max(np.abs(lines - points)) <= CLOSE * np.max(np.abs(points)), (lines, points)


@pytest.mark.parametrize("name", ["huber", "absolute", "quantile", "epsilon_insensitive"])
def test_labels_together_are_lines_of_no_slope(name: str) -> None:
    """Outputs of a loss of quadratic pieces are averaged together at nodes of the label, one by one on lines: each
    label alone to its last digits but four, which differences of tails lose at fifteen deviations, and all of them.
    """
    label, t = np.linspace(-12.0, 12.0, 21)[None], np.linspace(-1.0, 1.0, 42).reshape(1, 21, 2)
    weight, flat, ends = np.linspace(0.5, 1.5, 21)[None], np.zeros((1, 21)), np.full((1, 21), np.inf)
    for part in (*(slice(k, k + 1) for k in range(21)), slice(0, 21)):
        of = [np.ascontiguousarray(each[:, part]) for each in (weight, t, label, flat, -ends, ends)]
        lines = averages(name, LabelLines(*of, np.zeros(2), REST), 2)
        points = averages(name, LabelNodes(*of[:3], REST), 2)
        for row in (0, 2, 3, -1):  # of one sign
            assert points[row] == pytest.approx(lines[row], rel=1e-11, abs=0.0)
        assert np.max(np.abs(lines - points)) <= 1e-13 * np.max(np.abs(points))


@pytest.mark.parametrize(("delta", "low"), [(1e-5, -0.3), (1e-4, -0.25), (3e-4, -0.22), (1e-9, -0.2), (1e-18, 0.1)])
def test_a_line_is_averaged_to_its_sharp_end(delta: float, low: float) -> None:
    """Of a Huber loss the mean curvature is the probability of its middle, over the line in panels of a spread."""
    tilt, centre, response = -2.3, -0.82, 1.3
    found = model(loss_table("huber"), target__link="tanh").fit.loss
    kernel, one, end = loss_kernel(found), np.ones((1, 1)), np.full((1, 1), np.inf)
    labels = LabelLines(
        one, np.zeros((1, 1, 1)), -centre * one, -tilt * one, low * one, end, np.ones(1), np.zeros((1, 1))
    )
    fields = Fields(np.full(1, response), np.zeros(1), np.zeros((1, 1)), np.full(1, delta))
    out, values = np.empty((15, 1)), np.array(found.values, dtype=float)
    kernel.lines(Rule(gauss_rule(44), 44, values, 0.0), labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    spread, edge = math.sqrt(delta), float(values[0]) * (1.0 + response)
    turns = [(side * edge - centre) / tilt + spread / abs(tilt) * k for side in (-1, 1) for k in range(-9, 10)]
    x, share = normal_nodes(np.unique(np.clip([*np.linspace(low, 9.0, 20), *turns], low, 9.0)), 20)
    ends = [(side * edge - centre - tilt * x) / spread for side in (-1, 1)]
    assert out[2, 0] == pytest.approx(share @ (ndtr(ends[1]) - ndtr(ends[0])) / (1.0 + response), abs=1e-13)


@pytest.mark.parametrize(
    ("loss", "response", "row"), [({"name": "epsilon_insensitive", "epsilon": 5.0}, 1.3, 2), ("absolute", 5.0, -1)]
)
def test_labels_that_are_seldom_felt_keep_their_digits(loss: object, response: float, row: int) -> None:
    """The end of the line leaves a share of 2e-10 beyond the flat part, and beyond what the prox takes: differences of
    numbers of order one leave 1e-6 of it, nodes within nine deviations 1e-8.
    """
    tilt, centre, delta = -1.08, 1.77, 1e-2
    found = model(loss, target__link="tanh").fit.loss
    kernel, one, end = loss_kernel(found), np.ones((1, 1)), np.full((1, 1), np.inf)
    labels = LabelLines(one, np.zeros((1, 1, 1)), -centre * one, -tilt * one, 0.0 * one, end, np.ones(1), 0.0 * one)
    fields = Fields(np.full(1, response), np.zeros(1), np.zeros((1, 1)), np.full(1, delta))
    out, values = np.empty((15, 1)), np.array(found.values, dtype=float)
    kernel.lines(Rule(gauss_rule(44), 44, values, 0.0), labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    x, share = normal_nodes(np.linspace(4.0, 12.0, 161), 20)
    away = (-5.0 - centre - tilt * x) / math.sqrt(delta)  # how far beyond the residual is, in its spreads
    if row == 2:
        exact = share @ (ndtr(away) - ndtr(away - response / math.sqrt(delta))) / response
    else:
        exact = math.sqrt(delta) * share @ (away * ndtr(away) + np.exp(-0.5 * away**2) / math.sqrt(2.0 * math.pi))
    assert exact < 1e-9
    assert out[row, 0] == pytest.approx(exact, rel=3e-8, abs=0.0)


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("name", RESIDUAL)
def test_lines_that_end_are_the_sum_over_their_points(name: str, directions: int) -> None:
    draw = np.random.default_rng(4)
    low = np.array([[-np.inf, -0.4, 0.9, -np.inf, 2.0, -1e-3]])
    high = np.array([[-0.4, 0.9, np.inf, -2.5, 2.1, 1e-3]])
    slope = np.array([[0.0, 1.5, -0.6, AXIS[:directions] @ SLOPE[:directions], 3.0, 0.2]])
    weight, label, t = draw.random((1, 6)), draw.normal(size=(1, 6)), draw.normal(size=(1, 6, directions))
    axis, rest = AXIS[:directions].copy(), REST[:directions, :directions].copy()
    lines = averages(name, LabelLines(weight, t, label, slope, low, high, axis, rest), directions)
    pieces = [
        normal_nodes(np.linspace(max(a, -9.0), min(b, 9.0), 31), 16) for a, b in zip(low[0], high[0], strict=True)
    ]
    x, share = (np.array([piece[k] for piece in pieces]) for k in (0, 1))
    places = np.ascontiguousarray(t[0, :, None] + x[..., None] * axis).reshape(1, -1, directions)
    spelled = (weight.T * share).reshape(1, -1), places, (label.T + slope.T * x).reshape(1, -1), rest
    points = averages(name, LabelNodes(*spelled), directions)
    assert np.max(np.abs(lines - points)) <= CLOSE * np.max(np.abs(points)), (lines, points)
