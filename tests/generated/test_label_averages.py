"""Averages over output and labels at nodes by definition: sums over t about its means and over the output beside t.

Gauss's rule of 24 nodes in each of three variables leaves 1e-13 of losses that vary as slowly as these.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from generated.losses import log_cosh, logistic, square
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.quadrature.gauss import gauss_rule

Array = np.ndarray
MEAN, SLOPE, DELTA, NOISE = 0.2, np.array([0.3, -0.2]), 0.15, 0.05
WEIGHT, T = np.array([0.3, 0.5, 0.2]), np.array([[0.4, -0.7], [-1.1, 0.2], [0.6, 0.9]])
ROOT = np.array([[0.8, 0.0], [-0.3, 0.5]])
LABELS = {"log_cosh": np.array([0.5, -1.2, 0.1]), "logistic": np.array([1.0, -1.0, 1.0])}
LABELS["square"] = LABELS["log_cosh"]
MODULES = {"log_cosh": log_cosh, "logistic": logistic, "square": square}
NODES, SHARE = (each / scale for each, scale in zip(hermegauss(24), (1.0, math.sqrt(2.0 * math.pi)), strict=True))


def of_loss(name: str, V: float, omega: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    """Envelope, g, h and the loss at the prox, by Newton's method from where it is."""
    prox = omega.copy()
    for _ in range(12):
        if name == "log_cosh":
            loss, slope, curvature = np.log(np.cosh(prox - y)), np.tanh(prox - y), 1.0 / np.cosh(prox - y) ** 2
        elif name == "square":
            loss, slope, curvature = 0.5 * (prox - y) ** 2, prox - y, np.ones_like(prox)
        else:
            loss, chance = np.log1p(np.exp(-y * prox)), 1.0 / (1.0 + np.exp(y * prox))
            slope, curvature = -y * chance, chance * (1.0 - chance)
        prox = prox - (prox + V * slope - omega) / (1.0 + V * curvature)
    return loss + 0.5 * V * slope**2, -slope, curvature / (1.0 + V * curvature), loss


def wanted(name: str, V: float) -> Array:
    """All rows; the derivatives in the centre of the output by its law beside t."""
    a, b, xi = (each.ravel() for each in np.meshgrid(NODES, NODES, NODES, indexing="ij"))
    share = np.einsum("i,j,k->ijk", SHARE, SHARE, SHARE).ravel()
    t = T[:, :, None] + (ROOT @ np.stack([a, b]))[None]
    spread = math.sqrt(DELTA + NOISE)
    omega = MEAN + np.einsum("d,jdn->jn", SLOPE, t) + spread * xi
    envelope, g, h, loss = of_loss(name, V, omega, LABELS[name][:, None])
    first, second = xi / spread, (xi * xi - 1.0) / spread**2
    rows = [envelope, g, h, g * g, g * h, h * first, g * g * h, g * h * first, h * second]
    rows += [t[:, d] * row for row in (g, h, g * h, h * first) for d in range(2)]
    rows += [t[:, d] * t[:, e] * h for d, e in ((0, 0), (0, 1), (1, 1))]
    return np.array([WEIGHT @ (row @ share) for row in (*rows, loss)])


def averages(name: str, V: float, module: ModuleType) -> Array:
    out = np.empty((21, 1))
    labels = LabelNodes(WEIGHT[None], T[None], LABELS[name][None], ROOT @ ROOT.T)
    fields = Fields(np.full(1, V), np.full(1, MEAN), SLOPE[:, None].copy(), np.full(1, DELTA))
    module.points(Rule(gauss_rule(44), 44, np.empty(0), NOISE), labels, fields, np.empty(module.SCRATCH_SHAPE), out)
    return out[:, 0]


@pytest.mark.parametrize(("name", "V"), [("log_cosh", 1.3), ("logistic", 1.3), ("square", 1.3), ("square", 0.4)])
def test_by_definition(name: str, V: float) -> None:
    assert averages(name, V, MODULES[name]) == pytest.approx(wanted(name, V), rel=0.0, abs=1e-12)
