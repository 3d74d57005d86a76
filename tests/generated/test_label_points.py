"""Averages over a label at many nodes: polynomials of the output's centre against one evaluation for each node.

Polynomials are off by 1e-13 of an average where it is largest on their panel. A place of rounding is beside the spread,
on which averages turn; sums of both signs are held against the average of absolute values.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numba
import numpy as np
import pytest
from loss_cases import GENERAL, MARGIN, RESIDUAL, loss_table, model

from generated.runtime.centre_panels import panels_of, room_for_panels
from generated.runtime.label_points import LabelNodes
from generated.runtime.label_sums import Room
from generated.runtime.nodes import Fields, Rule
from generated.runtime.prox import Law
from generated.runtime.quadratic import room_for_knots
from generated.runtime.quadratic_rows import Alike
from giantstep.quadrature.gauss import gauss_rule
from giantstep.system.kernels import loss_kernel

STEPS = 256  # of the output: at 128 its own error with the probit loss and a wide spread is 3e-13
CLOSE, ROUNDED = 2e-13, 1e-15
#: V, mean, slopes, Delta: a moderate output; one that varies little; one that spreads far under a weak proximal map;
#: one that varies next to nothing.
FIELDS = (
    (1.3, 0.2, (0.7, -0.4), 0.5),
    (20.0, -1.0, (0.3, 0.1), 0.02),
    (0.05, 0.5, (1.5, 2.0), 30.0),
    (1e-4, 0.2, (0.7, -0.4), 1e-8),
)


def law(name: str, directions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights [J], labels [J] and t [J, D], with labels far out that few others are close to."""
    draw = np.random.default_rng(5)
    t = draw.normal(size=(3000, directions)) * np.where(np.arange(3000) % 100 == 0, 4.0, 1.0)[:, None]
    smooth = np.tanh(t[:, 0]) + 0.5 * t[:, -1] ** 2
    return draw.random(3000), np.where(smooth > 0.4, 1.0, -1.0) if name in MARGIN else smooth, t


def loss_of(name: str) -> Any:
    target = {"target__link": "tanh"} if name in RESIDUAL else {}
    return model(loss_table(name), **target).fit.loss


def averages(
    name: str,
    weight: np.ndarray,
    label: np.ndarray,
    t: np.ndarray,
    fields: tuple,
    rest: np.ndarray | None = None,
    alike: bool = True,
) -> np.ndarray:
    """The averages of the kernel for laws [N, J] at the same fields; alike: so that all share what is theirs."""
    found = loss_of(name)
    kernel, (v, mean, slope, variance), (count, _, directions) = loss_kernel(found), fields, t.shape
    out = np.empty((10 + 4 * directions + directions * (directions + 1) // 2, count))
    labels = LabelNodes(weight, t, label, np.zeros((directions, directions)) if rest is None else rest)
    slopes = np.repeat(np.array(slope[:directions])[:, None], count, axis=1)
    response = np.where(np.arange(count) % 2 == 0, v, v if alike else np.nextafter(v, np.inf))
    output = Fields(response, np.full(count, mean), slopes, np.full(count, variance))
    rule = Rule(gauss_rule(STEPS), STEPS, np.array(found.values, dtype=float), 0.0)
    kernel.points(rule, labels, output, np.empty(kernel.SCRATCH_SHAPE), out)
    return out


@pytest.mark.parametrize(
    ("name", "directions", "fields"),
    [
        pytest.param(name, directions, fields, marks=[pytest.mark.slow] * ((i + directions + k) % 2))
        for i, name in enumerate([*RESIDUAL, *MARGIN, *GENERAL])
        for directions in (1, 2)
        for k, fields in enumerate(FIELDS)
    ],
)
def test_many_together_are_the_sum_over_labels(name: str, directions: int, fields: tuple) -> None:
    weight, label, t = law(name, directions)
    together = averages(name, weight[None], label[None], t[None], fields)[:, 0]
    lines = averages(name, *(part.reshape(60, 50, *part.shape[1:]) for part in (weight, label, t)), fields)
    single = averages(name, weight[:, None], label[:, None], t[:, None], fields, alike=False)
    size, spread = np.abs(single).sum(axis=1), np.sqrt(fields[-1])
    size[5] += size[2] / spread  # what is left of x h where the rest cancels
    size[7] += size[4] / spread
    size[8] += size[2] / spread**2
    size[9 + 3 * directions : 9 + 4 * directions] += size[9 + directions : 9 + 2 * directions] / spread
    center = fields[1] + t @ fields[2][:directions] - (label if name in RESIDUAL else 0.0)
    loss = loss_kernel(loss_of(name))
    turning = max(spread, 1.0 / loss.STEEPNESS) if loss.SMOOTH else spread
    allowed = (CLOSE + ROUNDED * np.abs(center).max() / turning) * size
    for found in (together, lines.sum(axis=1)):
        assert np.all(np.abs(found - single.sum(axis=1)) <= allowed), (found, allowed)


@pytest.mark.parametrize("name", ["huber", "absolute", "epsilon_insensitive"])
def test_labels_far_out_beside_those_at_a_kink(name: str) -> None:
    """Their panels begin where a place near a kink would be rounded away. The weights of both make averages that are
    felt near kinks, and those that grow, sums of all.
    """
    weight, near, t = law(name, 1)
    far = np.random.default_rng(6).choice([-1.0, 1.0], 3000) * np.geomspace(1.0, 1e30, 3000)
    label, weight = np.concatenate([near, far]), np.concatenate([weight, 1.0 / np.abs(far)])
    t, fields = np.concatenate([t, t]), FIELDS[0]
    together = averages(name, weight[None], label[None], t[None], fields)[:, 0]
    single = averages(name, weight[:, None], label[:, None], t[:, None], fields, alike=False)
    felt = [0, 1, 2, 3, 14]
    assert np.all(np.abs(together - single.sum(axis=1))[felt] <= CLOSE * np.abs(single).sum(axis=1)[felt])


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("name", ["logistic", "hinge", "log_cosh", "huber"])
def test_what_the_label_does_not_tell_of_t(name: str, directions: int) -> None:
    """A covariance of t about its mean, in closed form, against nodes of t with that mean and covariance."""
    # without gaps, as in the program: for arrays with gaps the kernel would be compiled once more
    mean = np.ascontiguousarray(np.array([[0.4, -0.7], [-1.1, 0.2]])[:, :directions])
    label, weight = np.array([1.0, -1.0]), np.array([0.3, 0.7])
    root = np.array([[0.8, 0.0], [-0.3, 0.5]])[:directions, :directions]
    x, w = np.polynomial.hermite_e.hermegauss(60)
    grid = np.stack(np.meshgrid(*[x] * directions, indexing="ij"), axis=-1).reshape(-1, directions)
    share = np.prod(np.stack(np.meshgrid(*[w / w.sum()] * directions, indexing="ij"), axis=-1), axis=-1).ravel()
    t = (mean[:, None] + grid @ root.T).reshape(-1, directions)
    law = np.outer(weight, share).reshape(1, -1), np.repeat(label, len(grid))[None], t[None]
    spelled = averages(name, *law, FIELDS[0])
    found = averages(name, weight[None], label[None], mean[None], FIELDS[0], root @ root.T)
    assert found == pytest.approx(spelled, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize(
    ("name", "spread"),
    [*product(("logistic", "log_cosh", "hinge", "huber"), (1e-10, 1e-13)), ("hinge", 1e-20), ("huber", 1e-20)],
)
def test_an_output_that_varies_by_much_less_than_its_centre(name: str, spread: float) -> None:
    """The averages are those at the centre, and as little does it respond beside a large ridge: g is minus the slope.

    Labels at one place: their number does not matter.
    """
    label, fields = 1.0 if name in MARGIN else 0.4, (1.3 * spread, 0.7, (0.0,), spread**2)
    found = averages(name, np.full((1, 100), 0.01), np.full((1, 100), label), np.zeros((1, 100, 1)), fields)[:, 0]
    g = {"hinge": 1.0, "huber": -0.3, "log_cosh": -np.tanh(0.3), "logistic": 1.0 / (1.0 + np.exp(0.7))}[name]
    assert found[1] == pytest.approx(g, rel=1e-12 + 2.0 * spread)
    assert found[3] == pytest.approx(g * g, rel=1e-12 + 4.0 * spread)


@numba.njit
def found_panels(law: Law, rule: Rule, spread: float, scratch: np.ndarray) -> int:
    """How many panels tell the averages about 20,000 centres in (-1, 1) of an output with that spread."""
    room = Room(scratch, np.empty((3, scratch.shape[1])), np.empty(10), scratch, room_for_knots(law), np.empty(3))
    alike = Alike(1.0, spread, spread * spread)
    return int(panels_of(law, rule, alike, (-1.0, 1.0), 20000, room, room_for_panels(law, True)))


@pytest.mark.slow  # compiles for itself
@pytest.mark.parametrize("name", ["epsilon_insensitive", "abs(y - f) + (y - f)**4/20"])
def test_panels_serve_outputs_of_next_to_no_spread(name: str) -> None:
    """Places are rounded beside the spread: halving panels until that is seen no more finds none."""
    loss = model(name, target__link="tanh").fit.loss
    kernel, rule = loss_kernel(loss), Rule(gauss_rule(STEPS), STEPS, np.array(loss.values, dtype=float), 0.0)
    for spread in (1e-2, 1e-5, 1e-8):
        assert 0 < found_panels(kernel.LOSS.law, rule, spread, np.empty(kernel.SCRATCH_SHAPE)) < 400
