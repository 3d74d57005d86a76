"""Probability of the label given the score: averages known apart, and simulated fits and means of fits."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson, trapezoid
from scipy.optimize import minimize

import giantstep as gs
from giantstep.cli.main import main

MODEL = gs.Model(
    network=gs.Network("tanh", width=0.8),
    spike=gs.Spike(0.8, 0.8, 1.2),
    target=gs.Target("sign", flips=0.1),
    fit=gs.Fit(2.0, 0.1, "logistic"),
)
SCORES = np.linspace(-8.0, 8.0, 1601)


def curves(model: gs.Model, members: int, dimension: int | None = None) -> gs.Decomposition:
    return gs.decompose(model, members=members, given="data,noise", dimension=dimension, scores=SCORES)


def test_the_wrong_sign_is_the_test_error_of_clean_labels() -> None:
    found = curves(MODEL.replace({"target.flips": 0.0}), 3)
    assert set(found.calibration) == {1, 3}
    for members, told in found.calibration.items():
        chance = np.nan_to_num(told.probability)
        wrong = told.density * np.where(SCORES > 0.0, 1.0 - chance, chance)  # with a kink at zero
        assert trapezoid(wrong, SCORES) == pytest.approx(found.ensemble[members], rel=2e-5), members


LOGIT = {"target": gs.Target("2*z", channel="logit")}
TWO = {"target": gs.Target("sign(z1*z2)", flips=0.1), "spike": gs.Spike(0.8, (0.6, 0.5), 1.2)}


@pytest.mark.parametrize(
    "tables", [{}, LOGIT, pytest.param(TWO, marks=pytest.mark.slow)], ids=["sign", "logit", "two indices"]
)
def test_tails_are_averages_over_label_and_output(tables: dict[str, Any]) -> None:
    """Labels of a channel and of two indices are taken at nodes."""
    model = replace(MODEL, **tables)
    told = curves(model, 1).calibration[1]
    known = gs.metrics(model, {"both": "(1 + sign(y))*(1 + sign(f - 0.5))/4", "above": "f > 0.5"}).values
    above = SCORES >= 0.5
    for name, values in (("both", told.density * np.nan_to_num(told.probability)), ("above", told.density)):
        assert simpson(values[above], x=SCORES[above]) == pytest.approx(known[name], rel=1e-6), name


def test_the_command_draws_more_scores_than_it_tells(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The density of features that saturate has a narrow peak, which few scores would draw as a triangle."""
    path = tmp_path / "m.toml"
    path.write_text(MODEL.to_toml())
    asked = ["decompose", str(path), "--given", "data,noise", "--scores=-6:6"]
    assert main([*asked, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["calibration"][0]["scores"]) == 241
    assert main(asked) == 0
    rows = capsys.readouterr().out.split("output of the mean of 1 ")[1].split("\n\n")[0].splitlines()[1:]
    assert [float(row.split()[0]) for row in rows] == pytest.approx(np.linspace(-6.0, 6.0, 25))


def test_scores_of_features_that_turn_fast() -> None:
    """Within a thirtieth of kappa; scores between two that are passed there, and those of them with the label 1."""
    model, scores = MODEL.replace({"spike.strength": 30.0}), np.linspace(-0.3, 0.3, 601)
    told = gs.decompose(model, given="data,noise", scores=scores).calibration[1]
    between = "(sign(f + 0.3) - sign(f - 0.3))/2"
    known = gs.metrics(model, {"every": between, "positive": f"{between}*(1 + sign(y))/2"}).values
    for name, density in (("every", told.density), ("positive", told.density * told.probability)):
        assert trapezoid(density, scores) == pytest.approx(known[name], rel=1e-6), name


def outputs(dimension: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy labels [N] of fresh inputs and scores [2, N] of two fits of the same data with rows of their own."""
    random, width, model = np.random.default_rng(seed), round(0.8 * dimension), MODEL
    v = np.zeros(dimension)
    v[:2] = 0.8, 0.6
    x, new = (random.standard_normal((count * dimension, dimension)) for count in (2, 20))
    y, label = (np.sign(inputs[:, 0]) * np.where(random.random(len(inputs)) < 0.1, -1.0, 1.0) for inputs in (x, new))
    found = []
    for _ in range(2):
        rows = random.standard_normal((width, dimension))
        rows = math.sqrt(1.2) * rows / np.linalg.norm(rows, axis=1)[:, None] + 0.8 * v
        features = np.tanh(x @ rows.T) / math.sqrt(width) * y[:, None]

        def loss(a: np.ndarray, features: np.ndarray = features) -> tuple[float, np.ndarray]:
            margin = features @ a
            slope = -1.0 / (1.0 + np.exp(margin))
            return np.logaddexp(0.0, -margin).sum() + 0.5 * model.fit.ridge * a @ a, features.T @ slope + 0.1 * a

        a = minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
        found.append(np.tanh(new @ rows.T) @ a / math.sqrt(width))
    return label, np.array(found)


@pytest.mark.parametrize(("dimension", "seeds"), [(100, 16), pytest.param(400, 40, marks=pytest.mark.slow)])
def test_simulated_scores_of_a_fit_and_of_the_mean_of_two(dimension: int, seeds: int) -> None:
    theory = curves(MODEL, 2, dimension).calibration
    edges = np.array([-np.inf, -1.2, -0.4, 0.4, 1.2, np.inf])
    away: dict[int, list[list[float]]] = {1: [], 2: []}
    for seed in range(seeds):
        label, each = outputs(dimension, seed)
        for members, score in ((1, each[0]), (2, each.mean(axis=0))):
            chance = np.interp(score, SCORES, np.nan_to_num(theory[members].probability))
            place = np.digitize(score, edges) - 1
            away[members].append([np.mean(((label > 0.0) - chance)[place == b]) for b in range(len(edges) - 1)])
    for members, rows in away.items():
        values = np.array(rows)
        scores = values.mean(axis=0) / (values.std(axis=0, ddof=1) / math.sqrt(seeds))
        assert np.abs(scores).max() < 4.0, (members, scores)
