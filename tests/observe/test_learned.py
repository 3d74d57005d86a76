"""The learned function: identities of its moments, closed forms, simulation, the command."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.conditional_model import conditional
from giantstep.observe.learned import Profile, learned, profiles
from giantstep.observe.output_law import Output, moments_along, spike_lines, target_line
from giantstep.spec.link import link_values
from giantstep.spec.prediction import prediction
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of

TWO = {"values": [1.0, -0.5], "fractions": [0.4, 0.6]}


def model(activation: str = "tanh", link: str = "sign", alignment: Any = 0.8, **changes: Any) -> gs.Model:
    data = {
        "network": {"activation": activation, "width": 1.0},
        "spike": {"strength": 1.5, "alignment": alignment, "bulk_variance": 1.3},
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return gs.Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """A rule for a standard normal that knows of the jump at zero."""
    points, weights = np.polynomial.legendre.leggauss(80)
    s = np.concatenate([4.5 * (points - 1.0), 4.5 * (points + 1.0)])
    return s, 4.5 * np.tile(weights, 2) * np.exp(-0.5 * s * s) / math.sqrt(2.0 * math.pi)


MODELS = {
    "one block": model(),
    "two blocks, negative alignment": model("relu", "tanh", -0.6, network__readout=TWO),
    "biased": model("softplus", "relu", 0.9, network__bias=0.4),
    "aligned": model("tanh", "sign", 1.0),
    "plain": model().replace({"spike": None}),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_test_error_is_put_together_again_along_the_target(name: str) -> None:
    # E (f_* - f)^2 = E_s [(f_*(s) - E[f|s])^2 + Var[f|s]]: all of f that is random given s is orthogonal to f_*
    result = gs.solve(MODELS[name])
    s, weight = _nodes()
    along, spike = profiles(result, s)
    again = float(weight @ ((along.target - along.mean) ** 2 + along.spread**2))
    assert again == pytest.approx(result.test_error, rel=1e-9)
    assert bool(spike) == (name != "plain")


def counts(loss: Any, activation: str = "erf", link: str = "tanh(2*z)", alignment: Any = 0.7) -> gs.Model:
    return model(activation, link, alignment, fit__loss=loss, target__channel=loss)


COUNTS = {
    "poisson": counts("poisson"),
    "poisson, features that grow": counts("poisson", "relu"),
    "binomial": counts({"name": "binomial", "trials": 3}),
    "aligned": counts("poisson", alignment=1.0),
    "plain": counts("poisson").replace({"spike": None}),
}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_of_counts_the_mean_label_is_told_beside_the_target(name: str) -> None:
    """Its averages put the test error together, and agree along target and spike."""
    found = learned(COUNTS[name], at=(s := _nodes()[0]))
    along, weight = found.along_target, _nodes()[1]
    again = float(weight @ ((along.target - along.mean) ** 2 + along.spread**2))
    assert again == pytest.approx(found.result.test_error, rel=1e-9)
    assert found.mean_is == found.to_dict()["mean_is"] == found.result.model.fit.loss.predicts.text  # type: ignore[union-attr]
    for spike in found.along_spikes:
        assert _moments(spike, s, weight) == pytest.approx(_moments(along, s, weight), rel=1e-9)


def test_mean_labels_agree_along_all_directions_of_a_spike_of_two() -> None:
    """Of any solution: the averages do not know what the loss was."""
    result = gs.solve(gs.Model.from_toml("examples/two_spikes.toml"))
    problem = problem_of(result.vocabulary, None, result.bias, intermediate=True)
    output, (s, weight) = Output(problem, order_of(problem, result)), _nodes()
    output.predicts = prediction("exp(f)", ())
    found = []
    for line in (target_line(problem, 1), *spike_lines(problem)):
        mean, spread = moments_along(output, line, s)
        found.append([float(weight @ mean), float(weight @ (mean**2 + spread**2))])
    assert len(found) == 3
    for moments in found[1:]:
        assert moments == pytest.approx(found[0], rel=1e-9)


def test_what_is_nothing_but_rounding_is_zero() -> None:
    """E[z1 z2|z1] = 0, and what an odd network learns of it: sums of terms that cancel."""
    found = learned(model("tanh", "z1*z2", [0.6, 0.5]))
    assert not found.along_target.target.any() and not found.along_target.mean.any()


def test_the_tolerance_is_that_of_the_solution() -> None:
    for verb, given in ((gs.learned, model()), (gs.spectrum, model(network__bias="trained"))):
        with pytest.raises(gs.BadInput, match="tolerance"):
            verb(given, tolerance=2.0)


def _moments(profile: Profile, s: np.ndarray, weight: np.ndarray) -> list[float]:
    return [float(weight @ profile.mean), float(weight @ (profile.mean**2 + profile.spread**2))]


@pytest.mark.parametrize(
    "given",
    [MODELS["two blocks, negative alignment"], model("relu", "z1*z2 + tanh(z1)", [0.6, 0.5], network__readout=TWO)],
    ids=["one index", "two indices"],
)
def test_all_directions_agree_on_the_moments_of_the_output(given: gs.Model) -> None:
    result = gs.solve(given)
    s, weight = _nodes()
    found = []
    for index in range(1, given.target.indices + 1):
        along, (spike,) = profiles(result, s, index)
        found += [_moments(along, s, weight), _moments(spike, s, weight)]
    for moments in found[1:]:
        assert moments == pytest.approx(found[0], rel=1e-9, abs=1e-11)


def test_the_overlap_with_the_target_is_the_one_of_the_order_parameters() -> None:
    # E f f_* by averages over kappa: E[mean nu0 + slope nu1]
    result = gs.solve(MODELS["one block"])
    parts = conditional(problem_of(result.model), 16)
    order = result.order_parameters
    mean = parts.mu0 @ order["m"] + parts.kappa[:, 0] * (parts.mu1 @ order["zeta"])
    overlap = float(parts.weight @ (mean * parts.nu0 + (parts.mu1 @ order["psi"]) * parts.nu1[:, 0]))
    s, weight = _nodes()
    along, _ = profiles(result, s)
    assert float(weight @ (along.mean * along.target)) == pytest.approx(overlap, rel=1e-9)


def test_a_linear_network_learns_lines_and_sign_features_the_blurred_step() -> None:
    at = np.linspace(-2.0, 2.0, 9)
    line = learned(model("linear", "tanh"), at=at)
    assert line.along_spike is not None
    for profile in (line.along_target, line.along_spike):
        slope = profile.mean[-1] / at[-1]
        assert profile.mean == pytest.approx(slope * at, abs=1e-11)
    # m E_u sign(r (gamma s + rho u) + sqrt(c) g) = m erf(r gamma s/sqrt(2 (c + r^2 rho^2))): the ridge leaves m only
    step = learned(model("sign", "tanh", fit__ridge=1e8), at=at)
    r, gamma, c = 1.5, 0.8, 1.3
    blurred = [math.erf(r * gamma * s / math.sqrt(2.0 * (c + r * r * (1.0 - gamma**2)))) for s in at]
    expected = step.result.order_parameters["m"][0] * np.array(blurred)
    assert step.along_target.mean == pytest.approx(expected, abs=1e-6)


def test_the_target_of_several_indices_is_averaged_over_the_others() -> None:
    at = np.linspace(-2.0, 2.0, 5)
    found = learned(model("relu", "z1*z2**2 + sin(z2)", [0.6, 0.5]), at=at, index=1)
    assert found.along_target.target == pytest.approx(at, abs=1e-11)
    second = learned(found.result.model, at=at, index=2)
    assert second.along_target.target == pytest.approx(np.sin(at), abs=1e-11)
    # given kappa, z_i = gamma_i kappa + noise: E z1 z2^2 = g1 g2^2 kappa^3 + kappa (g1 (1 - g2^2) - 2 g1 g2^2)
    g1, g2 = 0.6, 0.5
    assert second.along_spike is not None
    cubic = g1 * g2**2 * at**3 + at * (g1 * (1.0 - g2**2) - 2.0 * g1 * g2**2)
    blurred = np.exp(-(1.0 - g2**2) / 2.0) * np.sin(g2 * at)
    assert second.along_spike.target == pytest.approx(cubic + blurred, abs=1e-10)


@pytest.mark.parametrize(
    ("link", "alignment", "error"),
    [
        ("tanh(3*z1*z2)", [0.3, -0.8], 1e-10),
        ("tanh(z1*z2 + z2)", [0.1, -0.15], 1e-10),
        ("tanh(z1*z2*z3)", [0.3, 0.4, 0.5], 1e-6),
    ],
)
def test_targets_that_are_steep_given_the_spike(link: str, alignment: list[float], error: float) -> None:
    """Fixed Gauss nodes left errors of a few percent. By trapezoids of spacing 1/5 of three directions, 1/20 of two."""
    at, gamma = np.array([-2.0, 0.3, 1.5]), np.array(alignment)
    found = learned(model("tanh", link, alignment), at=at)
    assert found.along_spike is not None
    x = np.linspace(-8.0, 8.0, 321 if len(gamma) == 2 else 81)
    weight = np.exp(-0.5 * x * x)
    weight /= weight.sum()
    lower = np.linalg.cholesky(np.eye(len(gamma)) - np.outer(gamma, gamma))
    t = np.stack(np.meshgrid(*[x] * len(gamma), indexing="ij"))
    value = link_values(link)(
        np.multiply.outer(gamma, at)[(..., *[None] * len(gamma))] + np.einsum("ij,j...->i...", lower, t)[:, None]
    )
    for _ in gamma:
        value = value @ weight
    assert found.along_spike.target == pytest.approx(value, abs=error)


SIMULATED = {
    "one block": (MODELS["one block"], 1, "srf", 200),
    "two blocks, two indices": (model("relu", "z1*z2 + z1", [0.6, 0.5], network__readout=TWO), 2, "srf", 200),
    "the network itself": (
        gs.Model.from_toml("examples/tanh_sign.toml").replace({"step.samples": 8.0, "step.learning_rate": 1.0}),
        1,
        "network",
        200,
    ),
    "logistic": (model("tanh", "sign", fit__loss="logistic"), 1, "srf", 200),
    "poisson": (counts("poisson"), 1, "srf", 100),
}


@pytest.mark.parametrize("name", sorted(SIMULATED))
def test_simulated_outputs_lie_on_the_learned_function(name: str) -> None:
    # the errors of the bins are those the seeds show, bins share their seeds: |z| < 4.5 and a moderate mean square
    given, index, what, dimension = SIMULATED[name]
    found = learned(given, index=index, dimension=dimension, simulate=True, seeds=16, what=what, bins=9, seed=3)  # type: ignore[arg-type]
    assert found.points is not None
    scores = found.points.scores
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() < 4.5 and np.mean(scores**2) < 4.0, np.round(scores, 1)
    # the points can tell the learned function from the target
    from_target = np.interp(found.points.at, found.along_target.at, found.along_target.target)
    assert np.max(np.abs((found.points.mean[0] - from_target) / found.points.standard_error[0])) > 8.0


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(gs.BadInput, match="index"):
        learned(MODELS["one block"], index=2)
    with pytest.raises(gs.BadInput, match="dimension"):
        learned(MODELS["one block"], simulate=True)
    with pytest.raises(gs.BadInput, match="points"):
        learned(MODELS["one block"], at=[math.nan])
    with pytest.raises(gs.BadInput, match="gaussian"):
        learned(MODELS["one block"], simulate=True, dimension=60, what="gaussian")


def test_the_command_prints_and_draws(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, picture = "examples/tanh_sign.toml", tmp_path / "learned.png"
    options = ["--simulate", "--dimension", "60", "--seeds", "3", "--reach", "2", "--points", "9", "--bins", "4"]
    assert main(["learned", path, *options, "--plot", str(picture)]) == 0
    assert "theory in the bin" in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert main(["learned", path, *options, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["along_target"]["mean"]) == 9 and len(data["simulation"]["mean"]["along_spike"]) == 4
    assert data["mean_is"] == "f"
    counted = ["--set", "target.link=tanh(z)", "target.channel=poisson", "fit.loss=poisson"]
    assert main(["learned", path, *counted, "--points", "9", "--plot", str(picture)]) == 0
    assert "learned exp(f)  target" in capsys.readouterr().out
    assert main(["learned", path, "--reach", "-1"]) == 2
    assert main(["learned", path, "--plot", "x.gif"]) == 2


def test_many_places_are_no_reason_to_refuse_a_smooth_link() -> None:
    tables = {
        "network": {"activation": "tanh", "width": 1.0},
        "target": {"link": "tanh(z1) + tanh(z2)", "noise": 0.05},
        "step": {"samples": 4.0, "learning_rate": 1.0},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    few, many = (learned(gs.Model.from_dict(tables), at=np.linspace(-3.0, 3.0, n)) for n in (3, 401))
    assert many.along_target.target[::200] == pytest.approx(few.along_target.target, rel=1e-9)
