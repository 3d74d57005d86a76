"""Two fits: numbers that were compared with simulation elsewhere, limits, averages of both outputs by definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

import giantstep as gs
from giantstep.law.labels import label_law
from giantstep.simulate.pairs import SOURCES
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.kernels import pair_kernel
from giantstep.system.pair_equations import Sharing, Solved, shared_by
from giantstep.system.resampled_fit import settled_system
from giantstep.system.sample_weights import ALWAYS, poisson
from giantstep.system.solve import solve_and_keep
from giantstep.system.two_fits import Fit
from giantstep.system.two_outputs import slopes_of

Array = np.ndarray
DATA, ALL, LAYER = Sharing(1.0, False, True), Sharing(1.0, True, True), Sharing(0.0, False, True)
BULK, NOTHING = Sharing(1.0, True, False), Sharing(0.0, False, False)
SQUARE = gs.Model(
    network=gs.Network("tanh", width=0.8, readout=gs.Readout([1.0, -2.0], [0.5, 0.5])),
    step=gs.Step(2.5, 1.5),
    target=gs.Target("tanh", noise=0.1),
    fit=gs.Fit(2.0, 0.05),
)
LOGISTIC = gs.Model(
    network=gs.Network("tanh", width=0.8),
    spike=gs.Spike(1.5, 0.8, 1.2),
    target=gs.Target("sign"),
    fit=gs.Fit(2.0, 0.1, "logistic"),
)


def half(fit: Fit, sharing: Sharing) -> float:
    return fit.pair(sharing).half_mean_square


def test_numbers_of_the_square_loss() -> None:
    """docs/theory.md section 14, four decimals of a theory at d = 500 that agreed with spiked random features."""
    result = gs.solve(SQUARE, dimension=500)
    fit = Fit(result)
    wanted = {LAYER: 0.0752, DATA: 0.0420, BULK: 0.0811, NOTHING: 0.1018}
    for sharing, value in wanted.items():
        assert half(fit, sharing) == pytest.approx(value, abs=1.1e-4), sharing
    drawn = Fit(result, settled_system(result, poisson()))
    assert half(drawn, ALL) == pytest.approx(0.0729, abs=1.1e-4)
    part = Fit(gs.solve(SQUARE.replace({"fit.samples": 1.2}), dimension=500))
    assert half(part, Sharing(0.6, True, True)) == pytest.approx(0.0570, abs=1.1e-4)


def test_outputs_that_vary_little_have_nodes_enough() -> None:
    """The limit of Huber losses, whose covariances are off by their width to first order, and a share of its square."""
    fit = gs.Fit(1.5, 3.0, "absolute")
    model = gs.Model(network=gs.Network("relu", width=0.8), target=gs.Target("z**2"), fit=fit)
    huber = [
        model.replace({"fit.loss": {"name": "huber", "delta": delta}, "fit.ridge": 3.0 * delta})
        for delta in (0.02, 0.04)
    ]
    exact, once, twice = (half(Fit(gs.solve(each)), BULK) for each in (model, *huber))
    assert exact == pytest.approx(2.0 * once - twice, rel=0.02**2 + 1e-5)
    assert abs(once / exact - 1.0) > 1e-2


def test_numbers_of_the_logistic_loss() -> None:
    fit = Fit(gs.solve(LOGISTIC, dimension=800))
    assert half(fit, LAYER) == pytest.approx(0.4747, abs=6e-5)
    assert half(fit, NOTHING) == pytest.approx(0.6706, abs=6e-5)
    found = gs.decompose(LOGISTIC, dimension=800)
    assert found.pairs["initialisation"].ensemble_of_2 == pytest.approx(0.1684, abs=6e-5)
    assert found.bias_squared is None and not found.variance


def test_outputs_narrower_than_the_rounding_of_their_centres_have_averages() -> None:
    """At a large ridge g is constant, so that outputs are proportional to 1/ridge but for terms that it divides."""
    found = []
    for ridge in (1e3, 1e6):
        result = gs.solve(gs.Model.from_toml("examples/tanh_sign.toml", {"fit.loss": "logistic", "fit.ridge": ridge}))
        found.append(ridge**2 * half(Fit(result, settled_system(result, poisson())), ALL))
    assert found[0] == pytest.approx(found[1], rel=2e-3)


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_a_fit_and_itself_have_one_output(loss: str) -> None:
    fit = Fit(gs.solve(SQUARE.replace({"fit.loss": loss})))
    pair = fit.pair(ALL)
    size = float(fit.weight @ fit.known["Delta"])
    assert abs(pair.half_mean_square) < 1e-13 * size and pair.residual < 1e-12


@pytest.mark.parametrize("noise", [True, False])
def test_averages_by_nodes_are_those_of_the_square_loss(noise: bool) -> None:
    """Nodes of the label given t, and of what both outputs share, against the closed form; the rules are exact."""
    result = gs.solve(SQUARE.replace({"target.link": "sign"}))
    fit = Fit(result, Fit(result).system)  # at its nodes
    pair = fit.pair(Sharing(1.0, noise, not noise))  # outputs that are not the same, of which the slope has few digits
    wanted = fit.kernel.of_square_loss(**fit.known, Delta_12=pair.covariance, apart=0.1 * (not noise))
    labels = replace(fit.system.problem.model.target, noise=0.1)
    assert labels.noise == fit.system.noise
    law = label_law(labels, fit.system.problem.overlaps, fit.system.kappa)
    fit.system.at = replace(fit.system.at, laws=fit.system.at.laws.with_chosen(lambda: law))
    found, slope = slopes_of(fit.labels, pair.covariance, noise, 60)
    assert found == pytest.approx(wanted, rel=1e-6)
    assert slope == pytest.approx(fit.known["avg_h"] ** 2, rel=1e-9)


def test_averages_of_two_outputs_are_those_of_their_definition() -> None:
    """g of the logistic loss by its proximal map, labels by their sign, over both outputs and t: plain Gauss rules."""
    fit = Fit(gs.solve(LOGISTIC))
    pair = fit.pair(BULK)
    found, _ = slopes_of(fit.labels, pair.covariance, True, 21)
    system, node = fit.system, 20
    kappa, V = system.kappa[node], system.view("V")[node]
    mean, slope = system.view("mean")[node], system.view("slope")[node]
    common, apart = pair.covariance[node], system.view("Delta")[node] - pair.covariance[node]
    x, w = special.roots_hermitenorm(60)
    w /= w.sum()
    t = np.linspace(-9.0, 9.0, 20001)
    t += 0.5 * (t[1] - t[0])
    density = np.exp(-0.5 * t * t) / np.sqrt(2.0 * np.pi) * (t[1] - t[0])

    def g_of(label: float, omega: np.ndarray) -> np.ndarray:
        out = np.zeros_like(omega)
        for _ in range(60):  # g = y sigmoid(-y (omega + V g)), by Newton's method
            p = special.expit(-label * (omega + V * out))
            out -= (out - label * p) / (1.0 + V * p * (1.0 - p))
        return out

    edge = -0.8 * kappa / 0.6
    total = 0.0
    for label in (1.0, -1.0):
        side = density * ((t > edge) if label > 0.0 else (t <= edge))
        centre = mean + slope * t[side > 0.0][::40]  # every 40th: E[g | centre] is smooth
        grid = np.linspace(centre.min() - 12.0, centre.max() + 12.0, 400)
        inner = np.array([w @ g_of(label, c + np.sqrt(apart) * x) for c in grid])
        whole = mean + slope * t[:, None] + np.sqrt(common) * x
        values = np.interp(whole, grid, inner) ** 2 @ w
        total += float(side @ values)
    assert found[node] == pytest.approx(total, rel=2e-3)  # linear interpolation on 400 points


def test_a_fit_that_is_found_again_has_settled() -> None:
    """As the solve has, to 1e-10 of the test error; nodes of the label that serve others are off by 4e-6 of it."""
    changes = {"target.link": "tanh", "fit.loss": "absolute", "fit.samples": 8.0, "fit.ridge": 1e-3}
    model = LOGISTIC.replace(changes)
    result, kept = solve_and_keep(model, None, 1e-10)
    assert isinstance(kept, CoupledSystem)
    found = settled_system(result)
    for system in (found, settled_system(result, ALWAYS)):
        assert system.answer()[0] == pytest.approx(result.test_error, rel=1e-9)
    assert half(Fit(result, found), NOTHING) == pytest.approx(half(Fit(result, kept), NOTHING), rel=1e-9)


@pytest.mark.parametrize("inputs", [None, {"eigenvalues": [1.5, 0.5], "weights": [0.5, 0.5], "target": [0.6, 0.8]}])
def test_certificates_see_a_change_of_any_number(inputs: dict[str, Any] | None) -> None:
    """Both kinds of certificates; what is wrong of a pair says nothing of another."""
    model = SQUARE if inputs is None else SQUARE.replace({"step": None, "inputs": inputs})
    fit, every = Fit(gs.solve(model)), [DATA, BULK]
    pairs = fit.pairs_of(every).values()
    x, readout, covariance = (np.array([getattr(p, name) for p in pairs]) for name in ("x", "T_12", "covariance"))
    apart = fit.apart(every)
    average, _ = fit.average_of_square(covariance, apart)
    right = Solved(x, readout, np.zeros_like(readout), covariance, average)
    shared = shared_by(every)
    assert fit.equations.certificates(shared, right, apart, True).max() < 1e-12
    for name, column in (("x", -1), ("readout", 0), ("covariance", 3), ("average", 3)):
        wrong = getattr(right, name).copy()
        wrong[0, column] *= 1.01
        residuals = fit.equations.certificates(shared, right._replace(**{name: wrong}), apart, True)
        assert residuals[0] > 1e-5 and residuals[1] < 1e-12, name


def test_an_infinite_ridge_leaves_the_same_output_for_fits_of_one_layer() -> None:
    """The readout is then the sum of features times labels: variances fall off, and outputs of one layer agree."""
    errors = []
    for ridge in (1e2, 1e4):
        result = gs.solve(SQUARE.replace({"fit.ridge": ridge}), dimension=500)
        fit = Fit(result)
        errors.append(half(fit, NOTHING))
    assert errors[1] < 0.1 * errors[0]


def test_equal_eigenvalues_are_no_structure() -> None:
    model = SQUARE.replace({"step": None, "spike": {"strength": 1.0, "alignment": 0.8, "bulk_variance": 1.0}})
    plain = model.replace({"spike": None})
    whole = plain.replace({"inputs": {"eigenvalues": [1.0, 1.0], "weights": [0.4, 0.6], "target": [0.6, 0.8]}})
    # rows of one covariance have norms that vary on the sphere by nothing
    for sharing in (LAYER, DATA, BULK, NOTHING):
        assert half(Fit(gs.solve(whole)), sharing) == pytest.approx(half(Fit(gs.solve(plain)), sharing), rel=1e-9)
    drawn = [gs.decompose(one, bootstrap=True).pairs["data"] for one in (whole, plain)]
    assert drawn[0].half_mean_square == pytest.approx(drawn[1].half_mean_square, rel=1e-9)


HELD = "batch", "initialisation"


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("options", [{}, {"bootstrap": True}, {"subsample": 0.5}])
def test_a_trained_bulk_after_a_small_step_is_isotropic(loss: str, options: dict[str, Any]) -> None:
    """Other equations, of a single fit; the rows differ by the square of the learning rate, 1e-10, and each solution is
    right to 1e-10 of the test error, which is up to ten times what two fits differ by.
    """
    link, noise = ("sign", 0.0) if loss == "logistic" else ("tanh", 0.1)
    model = gs.model(
        "tanh", link=link, noise=noise, step_samples=2.0, learning_rate=1e-5, samples=1.5, ridge=0.1, loss=loss
    )
    plain = gs.decompose(model, given=HELD, **options)
    found = gs.decompose(model.replace({"step.bulk": "trained"}), given=HELD, **options)
    assert found.pairs.keys() == plain.pairs.keys() and len(found.pairs) == 3
    for key, pair in found.pairs.items():
        assert pair.half_mean_square == pytest.approx(plain.pairs[key].half_mean_square, rel=2e-9, abs=1e-13), key
        assert pair.residual < 1e-12


def test_a_trained_fit_and_itself_have_one_output() -> None:
    fit = Fit(gs.solve(SQUARE.replace({"step.bulk": "trained"})))
    before = fit.system.residual(fit.system.x).copy()
    pair = fit.pair(LAYER)
    assert 0.0 < pair.half_mean_square and pair.residual < 1e-12
    same = fit.pair(ALL)
    assert abs(same.half_mean_square) < 1e-13 and same.residual < 1e-12
    assert np.array_equal(fit.system.residual(fit.system.x), before)  # the fit is as it was


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"step.bulk": "trained"}, "first layers of their own .* trained bulk"),
        ({"network.bias": "trained"}, "trained biases"),
    ],
)
def test_what_has_not_been_derived_is_refused(changes: dict[str, object], words: str) -> None:
    model = gs.model("tanh", link="tanh", step_samples=2.0).replace(changes)
    with pytest.raises(gs.BadInput, match=words):
        gs.decompose(model, given=SOURCES[:1])


@pytest.mark.parametrize("overlap", [0.0, 0.6, 1.0])
def test_overlaps_are_those_of_the_closed_form(overlap: float) -> None:
    """Typed from docs/theory.md, section 14: C, Q2_12, Q1_12 with B = (1 + V1_hat T)^-1; to rounding."""
    random = np.random.default_rng(3)
    blocks, beta, d = 3, 0.8, 500.0
    T, zeta, psi, m, q2 = random.uniform(0.3, 1.0, (5, blocks))
    fraction = np.array([0.2, 0.3, 0.5])
    root, other = random.standard_normal((2, blocks, blocks))
    V1, q1 = 0.2 * root @ root.T, 0.1 * other @ other.T
    rho = np.full(blocks, overlap)
    B = np.linalg.inv(np.eye(blocks) + V1 * T)  # P; the published B is its transpose
    M = T[:, None] * B
    A = beta * np.outer(psi, psi) + q1

    def residual(Q2: Array) -> Array:
        C = B @ (A + beta * V1 @ np.diag(rho * Q2) @ V1) @ B.T + beta * np.outer(zeta, zeta)
        return Q2 - T**2 / (beta**2 * fraction) * (rho * np.diag(C) + q2) - m**2 / (beta * fraction * d)

    start = residual(np.zeros(blocks))
    Q2 = -np.linalg.solve(np.array([residual(e) - start for e in np.eye(blocks)]).T, start)
    wanted = np.outer(M @ psi, M @ psi) + B.T @ np.diag(rho * Q2) @ B + M @ q1 @ M / beta
    state = {"T": T, "V1_hat": V1, "P": B, "M": M, "S": B @ V1, "m": m, "psi_hat": psi, "zeta_hat": zeta}
    parameters = np.array([1.0, beta, 0.1, 0.0, 1.0 / d])
    rows = pair_kernel("isotropic").rows
    given = (
        np.concatenate([np.ravel(state[name]) for name in rows.names]),
        tuple(state[name].shape for name in rows.names),
    )
    maps = rows.maps(fraction, parameters, given, rho[None])[0]
    upper = np.triu_indices(blocks)
    missed = maps @ np.concatenate([[1.0], beta * Q2, wanted[upper], q2, q1[upper], np.zeros(blocks)])
    assert np.abs(missed[:blocks]).max() < 1e-13 * np.abs(beta * Q2 * fraction / T**2).max()
    assert np.abs(missed[blocks:]).max() < 1e-13 * np.abs(wanted).max()
