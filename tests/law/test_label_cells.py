"""Labels that are linear on polygons: their cells, and averages against the same labels on lines.

Lines need panels of the other direction that resolve the spread of the output: halved once or twice.
"""

from __future__ import annotations

import numpy as np
import pytest

from derive.language.links import link_of
from generated.runtime.nodes import Fields, Rule
from giantstep.law.label_cells import are_cells, cells_given_kappa
from giantstep.law.label_lines import lines_given_kappa
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.expressions import jet
from giantstep.spec.model import Fit, Model, Target
from giantstep.system import discretisation
from giantstep.system.kernels import loss_kernel
from giantstep.system.label_kernels import kernel_of
from giantstep.system.solve import solve

OVERLAPS = ((0.3, 0.4),)
KAPPA = np.array([[-1.4], [0.3], [2.1]])
SLOPES = np.array([[0.7, -0.2, 1.1], [-0.4, 0.0, 0.5]])
#: Links and the number of their cells: half planes, strips, quadrants, sectors, a triangle.
LINKS = [
    ("max(z1, z2)", 2),
    ("clip(z1 - z2, -1, 1)", 3),
    ("relu(z1) + relu(z2)", 4),
    ("relu(abs(z1) - abs(z2))", 8),
    ("sign(z1)*z2", 2),
    ("sign(z1*z2)", 4),
    ("relu(z1) + relu(z2) + relu(z1 + z2 - 1)", 7),
]


def averages(link: str, loss: str, delta: float, lines: int | None = None, probit: float = 0.0) -> np.ndarray:
    """The averages of a loss at three nodes of kappa; lines: halvings of the panels of lines, None for cells."""
    target = Target(link, probit=probit)
    law = cells_given_kappa(target, OVERLAPS, KAPPA)
    fit = Fit(samples=1.0, ridge=1.0, loss=loss).loss
    fields = Fields(np.full(3, 0.7), np.array([0.2, -0.5, 1.0]), SLOPES, np.full(3, delta))
    kernel = loss_kernel(fit)
    average, labels = kernel_of(
        kernel, law if lines is None else lines_given_kappa(target, OVERLAPS, KAPPA, lines, False), KAPPA[:, 0]
    )
    out = np.empty((21, 3))
    rule = Rule(gauss_rule(44), 60, np.array(fit.values, dtype=float), 0.1 * delta)
    average(rule, labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    return out


@pytest.mark.parametrize(("link", "count"), LINKS)
def test_cells_have_the_label_inside(link: str, count: int) -> None:
    law, found = cells_given_kappa(Target(link), OVERLAPS, KAPPA), link_of(link)
    assert law.label.shape == (3, count)
    lower = np.linalg.cholesky(np.eye(2) - np.outer(*OVERLAPS * 2))
    places = np.random.default_rng(1).normal(size=(300, 2))
    z = KAPPA[1] * np.array(OVERLAPS[0]) + places @ lower.T
    label = jet(found.node, "z1", dict(zip(found.variables, z.T, strict=True)), 0)[0]
    owners = np.zeros(len(places), dtype=int)
    for j in range(count):
        own = slice(law.first[j], law.first[j + 1])
        inside = (places @ law.normal[own].T < law.distance[1, own]).all(axis=1)
        owners += inside
        assert law.label[1, j] + places[inside] @ law.slope[j] == pytest.approx(label[inside], abs=1e-12)
    assert (owners == 1).all()


@pytest.mark.parametrize("loss", ["huber", "log_cosh"])
@pytest.mark.parametrize(("link", "count"), LINKS)
def test_averages_are_those_of_lines(link: str, count: int, loss: str) -> None:
    cells, lines = averages(link, loss, 0.3, None, 0.2), averages(link, loss, 0.3, 1, 0.2)
    assert np.abs(cells - lines).max() < 1e-10 * np.abs(lines).max()


@pytest.mark.parametrize("link", ["max(z1, z2)", "relu(z1) + relu(z2) + relu(z1 + z2 - 1)"])
def test_a_small_spread_is_resolved_at_corners(link: str) -> None:
    """Beside those with a derivative of a sharp density, which cancel."""
    cells, lines = averages(link, "log_cosh", 1e-4), averages(link, "log_cosh", 1e-4, 2)
    rows = [0, 1, 2, 3, 4, 6, 9, 10, 11, 12, 13, 14, 20]
    assert np.abs(cells - lines)[rows].max() < 1e-10 * np.abs(lines[rows]).max()


def test_slopes_whose_squares_vanish() -> None:
    """Features that saturate leave slopes of 1e-160 and less, and a spread of 1e-8: averages are those of no slope."""
    law = cells_given_kappa(Target("clip(z1 - z2, -1, 1)"), ((0.7, -0.7),), np.array([[-0.9]]))
    kernel, found = loss_kernel(Fit(samples=1.0, ridge=1.0, loss="huber").loss), []
    for slope in (1e-162, 3e-323, 0.0):
        fields = Fields(np.array([1e-15]), np.zeros(1), slope * np.array([[0.8], [-5.6]]), np.array([1e-16]))
        average, labels = kernel_of(kernel, law, np.array([-0.9]))
        out = np.empty((21, 1))
        average(Rule(gauss_rule(44), 44, np.array([0.5]), 0.0), labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
        found.append(out[:, 0])
    rows = [0, 1, 2, 3, 9, 10, 20]  # without derivatives of the density
    assert max(np.abs(other - found[2])[rows].max() for other in found[:2]) < 1e-12


def test_a_rule_that_misses_probability_has_no_averages() -> None:
    """Two nodes on a panel of six spreads do not see a Gaussian."""
    law = cells_given_kappa(Target("max(z1, z2)"), OVERLAPS, KAPPA)
    kernel = loss_kernel(Fit(samples=1.0, ridge=1.0, loss="huber").loss)
    average, labels = kernel_of(kernel, law, KAPPA[:, 0])
    fields, out = Fields(np.full(3, 0.7), np.zeros(3), SLOPES, np.full(3, 0.3)), np.empty((21, 3))
    average(Rule(gauss_rule(2), 60, np.array([0.5]), 0.0), labels, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    assert np.isnan(out).all()


def test_which_labels_are_cells() -> None:
    assert are_cells(Target("max(z1, z2)"), OVERLAPS, "residual")
    assert are_cells(Target("abs(z1) + z2", noise=0.3), OVERLAPS, "residual")
    assert not are_cells(Target("max(z1, z2)"), OVERLAPS, "margin")
    assert not are_cells(Target("sign(z1*z2)", flips=0.1), OVERLAPS, "residual")
    assert not are_cells(Target("relu(z1)*relu(z2)"), OVERLAPS, "residual")
    assert not are_cells(Target("max(z1, z2) + z3"), ((0.3, 0.4, 0.1),), "residual")
    assert not are_cells(Target("relu(z1**2 - z2)"), OVERLAPS, "residual")
    assert not are_cells(Target("max(z1, z2)"), ((0.6, 0.8),), "residual")  # one direction beside kappa
    assert are_cells(Target("max(z1, z2)", probit=0.3), ((0.6, 0.8),), "residual")  # with noise inside, two
    constants = cells_given_kappa(Target("relu(z1) + clip(z2, -1, 1)"), OVERLAPS, KAPPA).constants
    assert constants == [-1.0, 1.0]  # labels of a whole polygon


@pytest.mark.parametrize(("link", "noise"), [("max(z1, z2)", 0.0), ("abs(z1) + z2", 0.2)])
def test_models_by_cells_and_by_lines(link: str, noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 0.5},
            "spike": {"strength": 1.2, "alignment": [0.7, 0.4], "bulk_variance": 1.3},
            "target": {"link": link, "noise": noise},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": "log_cosh"},
        }
    )
    found = solve(model)
    monkeypatch.setattr("giantstep.law.label_cells.are_cells", lambda *_: False)
    discretisation._resolved.cache_clear()
    lines = solve(model)
    discretisation._resolved.cache_clear()
    allowed = 3.0 * max(found.quadrature_error, lines.quadrature_error, 1e-12)
    assert found.test_error == pytest.approx(lines.test_error, rel=allowed)
    assert found.training_loss == pytest.approx(lines.training_loss, rel=allowed)


def test_few_nodes_lead_to_a_solution() -> None:
    """Nodes of a smooth loss that miss probability have no averages: a coarse rule that did had every start fail."""
    model = Model.from_dict(
        {
            "network": {"activation": "tanh", "width": 2.0},
            "target": {"link": "abs(z1) + z2"},
            "fit": {"samples": 3.0, "ridge": 0.1, "loss": "log_cosh"},
            "spike": {"strength": 1.0, "alignment": [0.6, 0.4], "bulk_variance": 1.0},
        }
    )
    assert solve(model).iterations < 20  # two or three Newton steps at each of three resolutions
