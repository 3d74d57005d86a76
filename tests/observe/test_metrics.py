"""Metrics: what they must be by other ways, sampled from their law, and in simulated networks."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import erf, hyp1f1, ndtr
from scipy.special import gamma as gamma_function

import giantstep as gs
from giantstep.cli.main import main
from giantstep.observe.metric_average import Given, Resolution, _Pair
from giantstep.observe.output_law import Output
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of

PLAIN = gs.model("tanh", link="sign", learning_rate=1.0, step_samples=4.0, samples=2.0, ridge=0.1)
TWO = gs.model("relu", link="z1 + z1*z2", readout=[1.0, -0.5], step_samples=3.0, learning_rate=1.0, samples=2.0)
SPIKE = {"strength": 1.0, "bulk_variance": 1.2, "alignment": [0.6, 0.3], "loadings": [[1.0, 0.0], [0.4, 1.0]]}
LONG = ("several steps", "unequal norms")
LOGISTIC = PLAIN.replace({"fit.loss": "logistic", "target.flips": 0.1, "target.probit": 0.3})
SQUARES = {
    "labels on intervals": PLAIN,
    "labels at nodes": PLAIN.replace({"target.link": "tanh(2*z)"}),
    "noise": PLAIN.replace({"target.noise": 0.3}),
    "noise at nodes": PLAIN.replace({"target.link": "relu", "target.noise": 0.3}),
    "two indices": TWO,
    "several steps": TWO.replace({"step": [{"samples": 3.0, "learning_rate": 1.0}] * 2}),
    "two directions": TWO.replace({"step": None, "spike": SPIKE, "target.link": "sign"}),
    "a density": PLAIN.replace({"network.readout": {"density": "gaussian"}}),
    "unequal norms": PLAIN.replace({"network.activation": "gelu", "step.bulk": "trained", "target.link": "tanh(2*z)"}),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in SQUARES])
def test_the_square_is_the_test_error_and_the_noise(name: str) -> None:
    """Both as a function of the residual, whose noise is part of its spread, and as three terms, which know y alone."""
    model = SQUARES[name]
    found = gs.metrics(model, {"square": "(y - f)**2", "terms": "y**2 - 2*y*f + f**2"})
    for value in found.values.values():
        # two quadratures of 1e-10 each
        assert value == pytest.approx(found.result.test_error + model.target.noise, rel=2e-10, abs=0.0)


@pytest.mark.parametrize("name", ["labels on intervals", "labels at nodes", "two indices"])
def test_what_knows_the_output_alone_needs_no_label(name: str) -> None:
    """The output is averaged at once; with a label in the text, given the label first."""
    found = gs.metrics(SQUARES[name], {"alone": "abs(f)**3", "given_the_label": "abs(f)**3 + 0*y"})
    assert found.values["alone"] == pytest.approx(found.values["given_the_label"], rel=2e-10, abs=0.0)


def test_the_zero_one_loss_is_the_test_error_of_a_loss_of_the_margin() -> None:
    clean = PLAIN.replace({"fit.loss": "logistic"})
    found = gs.metrics(clean, {"wrong": "y*f < 0", "right": "y*f > 0", "by_sign": "(1 - sign(y*f))/2"})
    assert found.values["wrong"] == pytest.approx(found.result.test_error, rel=2e-10, abs=0.0)
    assert found.values["by_sign"] == pytest.approx(found.values["wrong"], rel=2e-10, abs=0.0)
    assert found.values["right"] == pytest.approx(1.0 - found.values["wrong"], rel=2e-10, abs=0.0)


METRICS = {
    "wrong": "y*f < 0",
    "coverage": "abs(y - f) < 0.8",
    "logistic": "log(1 + exp(-y*f))",
    "own": "abs(y)*max(f, 0.2)",
}


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(PLAIN.replace({"target.noise": 0.2}), id="noise on a sign"),
        pytest.param(LOGISTIC, id="flips and probit"),
        pytest.param(PLAIN.replace({"target.link": "tanh(2*z)"}), id="a link that passes zero"),
        pytest.param(
            TWO.replace({"target.link": "sign(z1*z2 + z1)"}), id="two indices with a jump", marks=pytest.mark.slow
        ),
        pytest.param(TWO, id="two indices", marks=pytest.mark.slow),
    ],
)
def test_they_are_the_means_of_a_sample(model: gs.Model) -> None:
    """kappa, t, label noise and output drawn by definition: normal scores below four."""
    found = gs.metrics(model, METRICS)
    problem = problem_of(model)
    law = Output(problem, order_of(problem, found.result))
    rng, count = np.random.default_rng(11), 400_000
    gamma = np.array(problem.overlaps)
    kappa, t = rng.standard_normal((count, gamma.shape[0])), rng.standard_normal((count, gamma.shape[1]))
    z = kappa @ gamma + t @ np.linalg.cholesky(np.eye(gamma.shape[1]) - gamma.T @ gamma).T
    z = z + np.sqrt(model.target.probit) * rng.standard_normal(z.shape)
    link = {"sign": lambda z: np.sign(z[:, 0]), "tanh(2*z)": lambda z: np.tanh(2.0 * z[:, 0])}
    labels = link.get(model.target.link, lambda z: z[:, 0] * z[:, 1] + z[:, 0])(z)
    labels = np.sign(labels) if "sign" in model.target.link else labels
    labels = np.where(rng.random(count) < model.target.flips, -labels, labels)
    y = labels + np.sqrt(model.target.noise) * rng.standard_normal(count)
    mean, slope, variance = law.of(kappa)
    f = mean + (slope * t).sum(axis=1) + np.sqrt(variance) * rng.standard_normal(count)
    drawn = {
        "wrong": y * f < 0.0,
        "coverage": np.abs(y - f) < 0.8,
        "logistic": np.log1p(np.exp(-y * f)),
        "own": np.abs(y) * np.maximum(f, 0.2),
    }
    for name, values in drawn.items():
        score = (values.mean() - found.values[name]) / (values.std() / np.sqrt(count))
        assert abs(score) < 4.0, name


def test_simulated_networks_measure_the_same() -> None:
    model = LOGISTIC.replace({"metrics": METRICS})
    runs = gs.simulate(model, dimension=200, seeds=12)
    theory = gs.metrics(runs.model, dimension=200)
    for name, value in theory.values.items():
        score = (runs.mean(name).item() - value) / runs.standard_error(name).item()
        assert abs(score) < 4.0, name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y = f", "no comparison"),
        ("1 - (0 < y < f)", "no comparison"),
        ("abs(y < f)", "parentheses of abs"),
        ("0 < y < f", "no comparison"),
        ("z + f", "unknown name"),
        ("log(f)", "not finite"),
        ("", "empty"),
    ],
)
def test_what_is_no_metric_is_refused(text: str, words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        gs.metrics(PLAIN, {"mine": text})


def test_functions_that_grow_are_averaged_further_out() -> None:
    """exp(a f) in closed form given kappa; of exp(9 f^2), which has no mean, no number."""
    found = gs.metrics(PLAIN, {"three": "exp(3*f)", "twelve": "exp(12*f)"})
    problem = problem_of(PLAIN)
    law = Output(problem, order_of(problem, found.result))
    kappa, weight = np.polynomial.legendre.leggauss(400)
    kappa = 12.0 * kappa
    mean, slope, variance = law.of(kappa[:, None])
    for name, a in (("three", 3.0), ("twelve", 12.0)):
        given = np.exp(a * mean + 0.5 * a * a * ((slope**2).sum(axis=1) + variance) - 0.5 * kappa**2)
        assert found.values[name] == pytest.approx(12.0 * weight @ given / np.sqrt(2.0 * np.pi), rel=1e-9), name
    with pytest.raises(gs.NotConverged, match="no mean"):
        gs.metrics(PLAIN, {"none": "exp(9*f**2)"})


def test_names_and_a_model_without_metrics() -> None:
    with pytest.raises(gs.BadInput, match="no name"):
        gs.metrics(PLAIN, {"1": "f"})
    with pytest.raises(gs.BadInput, match="name of a number that results have already"):
        PLAIN.replace({"metrics.test_error": "f**2"})
    with pytest.raises(gs.BadInput, match=r"no \[metrics\]"):
        gs.metrics(PLAIN)


def test_a_model_file_has_them_and_solve_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = PLAIN.replace(metrics={"wrong": "y*f < 0"})
    file = tmp_path / "model.toml"
    file.write_text(model.to_toml())
    assert gs.Model.from_toml(file) == model
    assert main(["solve", str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"]["wrong"] == gs.metrics(model).values["wrong"]
    for command in (["solve"], ["simulate", "--dimension", "40", "--seeds", "2"]):
        assert main([command[0], str(file), *command[1:]]) == 0
        assert "y*f < 0" in capsys.readouterr().out


def test_a_metric_without_a_mean_leaves_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A solution does not fail by it: it is null, with the reason beside it."""
    model = PLAIN.replace(metrics={"none": "exp(9*f**2)", "wrong": "y*f < 0"})
    file = tmp_path / "model.toml"
    file.write_text(model.to_toml())
    assert main(["solve", str(file), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"]["none"] is None and list(printed["metrics_left_out"]) == ["none"]
    assert "no mean" in printed["metrics_left_out"]["none"]
    assert printed["metrics"]["wrong"] == gs.metrics(PLAIN, {"wrong": "y*f < 0"}).values["wrong"]
    assert main(["solve", str(file)]) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if each.startswith("none"))
    assert "not known" in line and "no mean" in line


def test_one_is_set_by_its_name() -> None:
    model = PLAIN.replace({"metrics.square": "f**2"})
    assert model == PLAIN.replace(metrics={"square": "f**2"})
    assert (
        model.replace({"metrics.wrong": "y*f < 0"}).metrics
        == model.replace(metrics={"square": "f**2", "wrong": "y*f < 0"}).metrics
    )
    with pytest.raises(gs.BadInput, match="no name"):
        PLAIN.replace({"metrics.a b": "f"})


def test_what_vanishes_by_symmetry_is_zero() -> None:
    """Labels and features without a preferred sign: no average of an odd function of the output has a digit."""
    found = gs.metrics(PLAIN.replace({"step": None}), {"cube": "f**3", "size": "f**2"})
    assert found.values["cube"] == 0.0 < found.errors["cube"] < 1e-12 < found.values["size"]


def test_comparisons_stand_in_parentheses_within_an_expression() -> None:
    texts = ("y*f < 0", "(y*f<0)", "1-(y*f>0)", "1 - (y*f>0)*1", "((y < 0)) + (f < 0) - 2*(y < 0)*(f < 0)")
    found = list(gs.metrics(PLAIN, {f"m{place}": text for place, text in enumerate(texts)}).values.values())
    assert found == pytest.approx([found[0]] * len(texts), rel=2e-10, abs=0.0)


def test_roots_where_the_output_is_the_label_are_averaged() -> None:
    """Of |y - f|^p by the moments of f, which is normal given kappa, t and with them the label."""
    texts = {
        "half": "sqrt(abs(y-f))",
        "by_power": "abs(y-f)**0.5",
        "of_square": "sqrt((y-f)**2)",
        "more": "abs(y-f)**1.5",
    }
    found = gs.metrics(PLAIN, {**texts, "one": "abs(y-f)"})
    assert found.values["half"] == pytest.approx(found.values["by_power"], rel=1e-12, abs=0.0)
    assert found.values["of_square"] == pytest.approx(found.values["one"], rel=2e-10, abs=0.0)
    problem = problem_of(PLAIN)
    law, (gamma,) = Output(problem, order_of(problem, found.result)), problem.overlaps[0]
    nodes, weights = np.polynomial.legendre.leggauss(160)
    kappa = 8.5 * nodes[:, None]
    edge = np.clip(-gamma * kappa / math.sqrt(1.0 - gamma**2), -8.5, 8.5)  # of t, where the label turns
    mean, slope, variance = (each.reshape(160, 1) for each in law.of(kappa))
    # |x|^p of a normal x with mean a and variance v, by Kummer's function
    for name, power in (("half", 0.5), ("more", 1.5)):
        size, total = (2.0 * variance) ** (power / 2) * gamma_function((power + 1) / 2) / math.sqrt(math.pi), 0.0
        for label in (-1.0, 1.0):
            end = 8.5 * label
            half, t = 0.5 * np.abs(end - edge), 0.5 * (end + edge) + 0.5 * (end - edge) * nodes
            given = size * hyp1f1(-power / 2, 0.5, -((label - mean - slope * t) ** 2) / (2.0 * variance))
            density = np.exp(-0.5 * (kappa**2 + t**2)) / (2.0 * math.pi)
            total += 8.5 * weights @ (half * density * given) @ weights
        assert found.values[name] == pytest.approx(total, rel=1e-9, abs=0.0), name


def test_mean_features_that_cancel_leave_the_square_the_test_error() -> None:
    """m of 1e7, of a solution that needs more than the first level: what they are together is found there too."""
    readout = {"values": [1.0, 0.2, -0.7], "weights": [89.0, 84.0, 25.0]}
    fractions = [float(each) / 198.0 for each in readout.pop("weights")]
    model = gs.Model.from_dict(
        {
            "network": {"activation": "erf", "width": 2.079, "readout": {**readout, "fractions": fractions}},
            "target": {"link": "step(z-0.3)"},
            "step": {"samples": 16.599, "learning_rate": 0.471},
            "fit": {"samples": 0.867, "ridge": 0.0161, "loss": {"name": "huber", "delta": 0.1}},
        }
    )
    found = gs.metrics(model, {"square": "(y - f)**2"})
    assert np.abs(found.result.order_parameters["m"]).max() > 1e6
    assert found.values["square"] == pytest.approx(found.result.test_error, rel=2e-10, abs=0.0)
    assert found.errors["square"] < 1e-10


def test_what_does_not_settle_advises_what_the_model_has_not() -> None:
    with pytest.raises(gs.NotConverged) as refused:
        gs.metrics(PLAIN, {"mine": "1/f"})
    assert "one index" not in refused.value.hint and "noise" in refused.value.hint


def test_what_has_no_mean_says_so() -> None:
    with pytest.raises(gs.NotConverged) as refused:
        gs.metrics(PLAIN, {"mine": "1/f"})
    assert "no mean" in refused.value.hint


FEW_VARY = {
    "saturated": PLAIN.replace({"target.link": "tanh(2*z)", "step.learning_rate": 3.0}),
    "a steep link": gs.model("erf(z/2)", link="erf(3*z)", width=0.556, learning_rate=1.3085, step_samples=0.594),
    "noise": PLAIN.replace({"target.link": "tanh(2*z)", "target.noise": 0.2}),
}


@pytest.mark.parametrize("name", FEW_VARY)
def test_kinks_that_the_output_passes_next_to_at_once_are_found(name: str) -> None:
    """The output in closed form, then kappa, t and noise on a grid, whose error is what half of it differs by."""
    model = FEW_VARY[name]
    wanted = {"distance": "abs(y - f)", "coverage": "abs(y - f) < 0.5", "wrong": "y*f < 0", "margin": "y*f < 0.3"}
    found = gs.metrics(model, wanted)
    problem = problem_of(model)
    law = Output(problem, order_of(problem, found.result))
    gamma, noise = problem.overlaps[0][0], np.sqrt(model.target.noise)
    link = {"tanh(2*z)": lambda z: np.tanh(2.0 * z)}.get(model.target.link, lambda z: erf(3.0 * z))
    normals = np.linspace(-6.5, 6.5, 1301 if noise == 0.0 else 197)  # beyond are 8e-11
    mean, slope, variance = law.of(normals[:, None])
    of_noise = normals if noise > 0.0 else np.zeros(1)

    def averages(every: int) -> np.ndarray:
        kappa, t, n = normals[::every, None, None], normals[None, ::every, None], of_noise[None, None, ::every]
        y = link(gamma * kappa + np.sqrt(1.0 - gamma**2) * t) + noise * n
        centre, spread = mean[::every, None, None] + slope[::every, :, None] * t, np.sqrt(variance)[::every, None, None]
        apart, own = (y - centre) / spread, centre / spread
        within = ndtr(apart + 0.5 / spread) - ndtr(apart - 0.5 / spread)
        distance = spread * (np.sqrt(2.0 / np.pi) * np.exp(-0.5 * apart**2) + apart * (2.0 * ndtr(apart) - 1.0))
        wrong = np.where(y == 0.0, 0.5, ndtr(-np.sign(y) * own))
        side = np.where(y < 0.0, -1.0, 1.0)  # at y = 0 the product is below
        margin = ndtr(side * (0.3 / (y + (y == 0.0) * 1e-300) - centre) / spread)
        weight = np.exp(-0.5 * (kappa**2 + t**2 + n**2))
        return np.array([(weight * each).sum() for each in (distance, within, wrong, margin)]) / weight.sum()

    fine, coarse = averages(1), averages(2)
    for value, own, other in zip(found.values.values(), fine, coarse, strict=True):
        assert abs(value - own) <= abs(own - other) + 1e-9
        assert abs(own - other) < 1e-3  # it says something


@pytest.mark.parametrize("bound", [-0.3, 0.01, 0.001])
def test_margins_of_noisy_signs(bound: float) -> None:
    """The noise in closed form at values of kappa and the output, as the engine does it the other way round."""
    model = PLAIN.replace({"target.noise": 0.2})
    found = gs.metrics(model, {"below": f"y*f < {bound}", "hinge": f"max({bound} - y*f, 0)"})
    problem = problem_of(model)
    law = Output(problem, order_of(problem, found.result))
    gamma, noise = problem.overlaps[0][0], np.sqrt(0.2)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    kappa = np.concatenate([-7.0 + 2.0 * k + nodes for k in range(8)])[:, None]
    mean, slope, variance = law.of(kappa)
    mean, slope, spread = mean[:, None], slope, np.sqrt(slope**2 + variance[:, None])
    ends = 10.0 ** np.arange(-7.0, 1.01, 0.25)  # of outputs of either sign, as the closed form turns about 0
    half = np.concatenate([0.5 * (b + a) + 0.5 * (b - a) * nodes for a, b in itertools.pairwise([0.0, *ends])])
    each = np.concatenate([0.5 * (b - a) * weights for a, b in itertools.pairwise([0.0, *ends])])
    f, weight = np.concatenate([-half, half])[None], np.concatenate([each, each])[None]
    density = np.exp(-0.5 * ((f - mean) / spread) ** 2 - 0.5 * kappa**2) / spread / (2.0 * np.pi)
    density = density * weight * np.tile(weights, 8)[:, None]
    shift, root = slope * (f - mean) / spread**2, np.sqrt(1.0 - slope**2 / spread**2)  # of t given the output
    above = ndtr((gamma * kappa / np.sqrt(1.0 - gamma**2) + shift) / root)
    below, hinge = 0.0, 0.0
    for label, share in ((1.0, above), (-1.0, 1.0 - above)):
        centre, width = (bound - label * f) / np.abs(f) / noise, np.abs(f) * noise
        below += (density * share * ndtr(centre)).sum()
        hinge += (
            density * share * width * (centre * ndtr(centre) + np.exp(-0.5 * centre**2) / 2.5066282746310002)
        ).sum()
    # 40 nodes of a panel of kappa, and panels of the output by a factor of 1.8: rounding is left, and what is beyond 8
    assert found.values["below"] == pytest.approx(below, rel=1e-10, abs=0.0)
    assert found.values["hinge"] == pytest.approx(hinge, rel=1e-10, abs=0.0)


def test_what_is_straight_in_cells_of_label_and_output_is_a_sum_over_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two indices and noise: normal probabilities and means, in closed form at a grid of t; no integral over both."""
    monkeypatch.setattr(
        _Pair, "averaged", lambda *_: pytest.fail("label and output were averaged one inside the other")
    )
    model = TWO.replace({"target.noise": 0.1})
    problem = problem_of(model)
    law, kappa = Output(problem, order_of(problem, gs.solve(model))), np.array([[-1.1], [0.4]])
    (mean,), (slope,), (variance,) = (each[1:] for each in law.of(kappa))
    gamma = problem.overlaps[0]
    lower = np.linalg.cholesky(np.eye(2) - np.outer(gamma, gamma))
    normals = np.linspace(-8.0, 8.0, 801)
    t = np.stack(np.meshgrid(normals, normals, indexing="ij"))
    z1, z2 = np.multiply(gamma, kappa[1])[:, None, None] + np.tensordot(lower, t, 1)
    y, centre = (z1 + z1 * z2) / np.sqrt(0.1), (mean + np.tensordot(slope, t, 1)) / np.sqrt(variance)
    share = np.exp(-0.5 * (t**2).sum(axis=0))
    above, rest = (
        x * ndtr(x) + np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi) for x in (y, centre - 1.0 / np.sqrt(variance))
    )
    wanted = {
        "y*f < 0": ndtr(y) * ndtr(-centre) + ndtr(-y) * ndtr(centre),
        "max(y, 0)*max(f - 1, 0)": np.sqrt(0.1 * variance) * above * rest,
    }
    for text, values in wanted.items():
        found = Given.of(law, text).at(kappa, Resolution(6.0, 3))[1]
        assert found == pytest.approx((share * values).sum() / share.sum(), rel=1e-8, abs=0.0), text
