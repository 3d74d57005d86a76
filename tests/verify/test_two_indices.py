"""Averages over labels of two indices: those of one index in other coordinates, and of samples drawn apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import qmc

from giantstep.spec.fit_loss import FitLoss
from giantstep.verify import conditional_law
from giantstep.verify.conditional_law import LabelLaw, link_function, rest_of_target
from giantstep.verify.loss_curve import curve_of
from giantstep.verify.output_averages import loss_averages
from giantstep.verify.output_law import Output
from giantstep.verify.several_indices import averages_of_plane

Array = np.ndarray
KAPPA = np.array([-1.3, 0.2, 2.4])


def output(slopes: Array, variance: float) -> Output:
    """Of three nodes of kappa."""
    size = np.array([1.0, 0.7, 0.3])
    return Output(np.array([-0.4, 0.3, 0.9]), size * slopes[:, None], variance * size, np.array([0.3, 2.0, 0.8]))


OUTPUTS = [(0.2, True), (1e-3, True), (1e-9, True), (1e-3, False)]  # variance, and whether on the whole plane
TURNED = [
    ("huber", "relu(z1 + z2)", "relu(sqrt(2)*z)"),
    ("absolute", "tanh(z1 + z2)", "tanh(sqrt(2)*z)"),
    ("epsilon_insensitive", "sign(z1 + z2) + z1 + z2", "sign(z) + sqrt(2)*z"),
    ("log_cosh", "abs(z1 + z2 - 1)", "abs(sqrt(2)*z - 1)"),
    ("hinge", "sign(z1 + z2)", "sign(z)"),
]


@pytest.mark.parametrize(
    ("overlap", "loss", "of_two", "of_one", "variance", "plane"),
    [
        pytest.param(overlap, *case, *output, marks=[pytest.mark.slow] * ((i + j + k) % 2))
        for i, overlap in enumerate((0.6, 1.0))
        for j, case in enumerate(TURNED)
        for k, output in enumerate(OUTPUTS)
    ],
)
def test_one_index_in_other_coordinates(
    overlap: float, loss: str, of_two: str, of_one: str, variance: float, plane: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The direction of the target turned by an eighth; what the output has along the other one is variance. Averages
    over the whole plane, as if the link knew both indices, and along the direction that it knows.
    """
    if plane:
        monkeypatch.setattr(conditional_law, "known_directions", lambda text: (text, np.eye(1 + ("z2" in text))))
    along = np.array([1.0, 1.0]) / np.sqrt(2.0)
    law = LabelLaw(of_two, overlap * along[None], 0.0, 0.1)
    one = LabelLaw(of_one, np.array([[overlap]]), 0.0, 0.1)
    side = np.array([1.0, -1.0]) / np.sqrt(2.0)
    # t in the coordinates of L, L L^T = 1 - gamma gamma^T
    turned = np.linalg.pinv(law.lower) @ (np.sqrt(1.0 - overlap**2) * np.outer(along, along) + np.outer(side, side))
    slopes = 0.5 * turned @ along if overlap < 1.0 else np.zeros(2)
    alone = output(np.array([0.5 if overlap < 1.0 else 0.0]), variance)
    found = averages_of_plane(law, FitLoss(loss), 0.0, KAPPA, output(slopes, variance), 1.0)
    wanted = loss_averages(one, FitLoss(loss), 0.0, KAPPA, alone, 0.5)
    size = np.sqrt(wanted["avg_gg"])
    for name in ("avg_l", "avg_M", "avg_gg", "avg_h"):
        assert found[name] == pytest.approx(wanted[name], rel=1e-9, abs=1e-12 * wanted[name].max()), name
    assert np.max(np.abs(found["avg_g"] - wanted["avg_g"]) / size) < 1e-9
    if overlap < 1.0:
        assert np.max(np.abs(turned.T @ found["avg_tg"] - np.outer(along, wanted["avg_tg"])) / size) < 1e-9


@pytest.mark.parametrize(
    ("loss", "link"),
    [("huber", "relu(z1)*z2"), ("absolute", "sign(z1*z2) + tanh(z1)"), ("logistic", "sign(z1**2 + z2**2 - 1)")],
)
def test_samples_drawn_apart(loss: str, link: str) -> None:
    """Scrambled Sobol points of indices and output; the error is that of eight scramblings."""
    law, fit, noise = LabelLaw(link, np.array([[0.5, -0.3]]), 0.2, 0.0), FitLoss(loss), 0.0
    law_of = output(np.array([0.4, -0.6]), 0.1)
    found = averages_of_plane(law, fit, noise, KAPPA, law_of, 1.0)
    drawn = [sampled(law, fit, law_of, np.random.default_rng(seed)) for seed in range(8)]
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0, ddof=1) / np.sqrt(8.0)
    have = np.array([*(found[name] for name in ("avg_l", "avg_g", "avg_gg", "avg_h")), *found["avg_tg"]])
    assert np.all(np.abs(have - mean) <= 5.4 * error), (have - mean) / error  # one of 1e4: t with 7 degrees, 18 of them
    assert np.max(error) < 4e-3  # of 2^13 points a scrambling, with jumps of h


def test_a_jump_on_a_circle() -> None:
    """Its chance is known, as labels tell the output nothing: across lines, the panels that it ends on are halved."""
    law, fit = LabelLaw("sign(z1**2 + z2**2 - 1)", np.zeros((1, 2)), 0.0, 0.0), FitLoss("logistic")
    law_of = output(np.zeros(2), 0.5)
    found = averages_of_plane(law, fit, 0.0, KAPPA, law_of, 1.0)
    xi = np.linspace(-10.0, 10.0, 4001)
    weight = np.exp(-0.5 * xi**2) / np.exp(-0.5 * xi**2).sum()
    f, wanted = law_of.mean[:, None] + np.sqrt(law_of.variance)[:, None] * xi, np.zeros((4, 3))
    for y, chance in ((-1.0, 1.0 - np.exp(-0.5)), (1.0, np.exp(-0.5))):
        loss, _, g, h = curve_of(fit, 1.0).moreau(y * f, law_of.response)
        wanted += chance * np.array([each.reshape(f.shape) @ weight for each in (loss, y * g, g * g, h)])
    for name, value in zip(("avg_l", "avg_g", "avg_gg", "avg_h"), wanted, strict=True):
        assert found[name] == pytest.approx(value, abs=1e-10), name  # 5e-12 a panel, tens of which are at a jump


def sampled(law: LabelLaw, loss: FitLoss, law_of: Output, source: np.random.Generator) -> Array:
    """l, g, g^2, h and t g by points of their own, [6, 3]."""
    x = ndtri(qmc.Sobol(5, rng=source).random(2**13)).T
    t, inside, xi = x[:2], x[2:4], x[4]
    rows = []
    for n, kappa in enumerate(KAPPA):
        z = law.overlaps[0][:, None] * kappa + law.lower @ t + np.sqrt(law.probit) * inside
        y = link_function(law.text)(*z)
        f = law_of.mean[n] + law_of.slopes[:, n] @ t + np.sqrt(law_of.variance[n]) * xi
        margin = loss.form == "margin"
        u = y * f if margin else f - y
        at, _, g, h = (a[0] for a in curve_of(loss, float(margin)).moreau(u[None], law_of.response[n : n + 1]))
        g = y * g if margin else g
        rows.append([each.mean() for each in (at, g, g * g, h, t[0] * g, t[1] * g)])
    return np.array(rows).T


def test_nothing_is_left_of_a_target_whose_plane_holds_the_spike() -> None:
    """Beside a spike of length one in it there is one direction; rounding made a second one of length 5e-8."""
    for angle in np.linspace(0.001, np.pi - 0.001, 301):
        lower = rest_of_target(np.array([[np.cos(angle), np.sin(angle)]]))
        assert lower[1, 1] == 0.0
        np.testing.assert_allclose(np.abs(lower[:, 0]), [np.sin(angle), np.abs(np.cos(angle))], rtol=0.0, atol=1e-9)
