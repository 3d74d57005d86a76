"""The table of verbs and models: every cell answers and is held against another way to it, or says why it is void."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_model import NAMES, every_model

import giantstep as gs
from giantstep.observe.learned import Profile, profiles
from giantstep.observe.spectrum.simulated import simulated_eigenvalues
from giantstep.spec.errors import BadInput

Array = np.ndarray
TRAINED_LONG = ("trained bulk, logistic", "trained bulk, trained bias", "trained bulk, two indices")
LONG = (
    "rank 3",
    "rank 3, two indices",
    "two steps, two blocks",
    "rank 2, trained bias",
    "rank 2, two indices",
    "structured inputs, rank 2",
    *TRAINED_LONG,
)
ALSO_LONG = {
    "solve": ("trained bias",),
    "curve": ("trained bias", "rank 2, logistic"),
    "decompose": ("trained bias", "two indices", "rank 2, logistic"),
    "compare": ("trained bias",),
    "gradient": ("trained bias", "rank 2", "rank 2, logistic", "trained bulk"),
    "tune": ("trained bias", "rank 2", "trained bulk"),
    "spectrum": (
        "trained bias",
        "trained bulk",
        "trained bulk, stretched blocks",
        "trained bulk, two indices",
        "given bulk, two values",
        "structured inputs, step",
        "structured inputs, two steps",
        "structured inputs, two indices",
    ),
}
NOT_LONG = {"compare": ("rank 2, two indices",)}


def cells(verb: str, names: Sequence[str] = NAMES) -> list[Any]:
    """The models of a column; those that take long are long tests."""
    long = {*LONG, *ALSO_LONG.get(verb, ())} - {*NOT_LONG.get(verb, ())}
    return [pytest.param(name, marks=pytest.mark.slow) if name in long else name for name in names]


BOUNDED = {
    "trained bulk, stretched blocks": "tanh(2*z) + tanh(z)**2/2",
    "trained bulk, trained bias": "tanh(2*z) + tanh(z)**2/2",
    "trained bulk, two indices": "tanh(z1) + tanh(z1*z2)",
}
STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))  # of a first derivative


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, gs.Model]:
    folder = tmp_path_factory.mktemp("bulk")
    one, *_ = axes = np.eye(60)[:3]
    across = np.array([[0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]) @ axes
    return every_model(*(str(_given_bulk(folder / f"{t.ndim}.npz", one, t)) for t in (across[0], across)))


def _given_bulk(path: Path, spike: Array, target: Array) -> Path:
    """A bulk on the unit sphere, with its directions."""
    rows = np.random.default_rng(0).standard_normal((round(0.8 * len(spike)), len(spike)))
    np.savez(path, bulk=rows / np.linalg.norm(rows, axis=1)[:, None], spike=spike, target=target)
    return path


def _margin(model: gs.Model) -> bool:
    return model.fit.loss.form == "margin"


@pytest.mark.parametrize("name", cells("solve"))
def test_solve(name: str, models: dict[str, gs.Model]) -> None:
    # the free energy is the least value of the training objective over d: its slope in the ridge is |a|^2/2d, by
    # differences at relative steps h = 1e-2 of the fourth order, and 1e-10 of the free energy over h
    model, h = models[name], 1e-2
    ridge, result = model.fit.ridge, gs.solve(model)
    around = [c * gs.solve(model.replace({"fit.ridge": ridge * (1.0 + n * h)})).free_energy / h for n, c in STENCIL]
    norm = result.order_parameters["Q2"].sum()
    assert 0.5 * model.network.width * norm * ridge == pytest.approx(sum(around), abs=2e-8 * result.free_energy)


@pytest.mark.parametrize("name", cells("curve"))
def test_curve(name: str, models: dict[str, gs.Model]) -> None:
    # each point starts from the one before it; a point by itself starts from nothing
    model = models[name]
    ridges = [0.05, 0.1, 0.4]
    found = gs.curve(model, {"fit.ridge": ridges})
    for error in ("test_error", "train_error"):
        alone = getattr(gs.solve(model.replace({"fit.ridge": ridges[-1]})), error)
        assert found.numbers(error)[-1] == pytest.approx(alone, rel=1e-8), error


@pytest.mark.parametrize("name", cells("simulate"))
def test_simulate(name: str, models: dict[str, gs.Model]) -> None:
    # theory and simulated system at the same dimension and ratios, as standard scores
    dimension = 60 if name.startswith("given bulk") else 120
    found = gs.simulate(models[name], dimension=dimension, seeds=16)
    theory = gs.solve(found.model, dimension=dimension, tolerance=1e-8)
    for error in ("test_error", "train_error"):
        score = (found.mean(error).item() - getattr(theory, error)) / found.standard_error(error).item()
        assert abs(score) < 4.5, (error, score)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verify(name: str, models: dict[str, gs.Model]) -> None:
    # every check of the model's own checks, with a short simulation
    lines: list[str] = []
    assert gs.verify(models[name], lambda line: lines.append(str(line)), dimension=100, seeds=24), "\n".join(lines)


@pytest.mark.parametrize("name", cells("bounds"))
def test_bounds(name: str, models: dict[str, gs.Model]) -> None:
    model = models[name]
    if _margin(model):
        with pytest.raises(gs.BadInput, match="misclassification"):
            gs.bounds(model)
        return
    found = gs.bounds(model, optimise=False)
    # the readout of the infinite ridge is the upper bound's; the solver knows of it as of any other ridge
    flat = gs.solve(model.replace({"fit.ridge": 1e7, "fit.loss": "square"}), tolerance=1e-8).test_error
    assert flat == pytest.approx(found.upper.value, rel=1e-5)
    assert found.lower.value < gs.solve(model, tolerance=1e-8).test_error
    assert max(found.lower.error, found.upper.error) < 1e-9


@pytest.mark.parametrize("name", cells("decompose"))
def test_decompose(name: str, models: dict[str, gs.Model]) -> None:
    model = models[name]
    if model.bulk in ("trained", "matrix") or model.network.trains_bias or "exponent" in name:
        with pytest.raises(gs.BadInput):
            gs.decompose(model, given="batch")
        return
    found = gs.decompose(model, given="batch")
    # every pair satisfies its equations, evaluated from their text, and more that is shared is more in common
    assert max(pair.residual for pair in found.pairs.values()) < 1e-10
    most, *_ = sorted(found.pairs, key=len, reverse=True)
    least = min(found.pairs, key=len)
    halves = {key: pair.half_mean_square for key, pair in found.pairs.items()}
    assert halves[most] < 1e-7 * halves[least] and max(halves.values()) == halves[least] > 0.0
    if not _margin(model):
        assert found.bias_squared is not None
        assert found.bias_squared + sum(found.variance.values()) == pytest.approx(found.test_error, rel=1e-9)


@pytest.mark.parametrize("name", cells("learned"))
def test_learned(name: str, models: dict[str, gs.Model]) -> None:
    # the output has one mean and one mean square, whichever direction they are put together along
    model = models[name]
    result = gs.solve(model, tolerance=1e-8)
    s, weight = _nodes(9.0)
    found = [profiles(result, s, index) for index in range(1, model.target.indices + 1)]
    moments = [_moments(profile, weight) for along, spikes in found for profile in (along, *spikes)]
    for each in moments[1:]:
        assert each == pytest.approx(moments[0], rel=1e-8, abs=1e-9)
    along, spikes = found[0]
    known = {"two steps, two blocks": 2}  # directions: blocks of other readout values part in the second step
    assert len(spikes) == known.get(
        name, 1 if model.step is not None else 0 if model.spike is None else model.spike.rank
    )
    if model.target.indices == 1 and not _margin(model):
        again = float(weight @ ((along.target - along.mean) ** 2 + along.spread**2))
        assert again == pytest.approx(result.test_error, rel=1e-7)


def _nodes(reach: float) -> tuple[Array, Array]:
    """A rule for a standard normal that knows of a jump at zero."""
    points, weights = np.polynomial.legendre.leggauss(40)
    s = np.concatenate([0.5 * reach * (points - 1.0), 0.5 * reach * (points + 1.0)])
    return s, 0.5 * reach * np.tile(weights, 2) * np.exp(-0.5 * s * s) / math.sqrt(2.0 * math.pi)


def _moments(profile: Profile, weight: Array) -> list[float]:
    return [float(weight @ profile.mean), float(weight @ (profile.mean**2 + profile.spread**2))]


@pytest.mark.parametrize("name", cells("compare"))
def test_compare(name: str, models: dict[str, gs.Model]) -> None:
    # a spiked model and the plain one have the law that is solved: the score is that of chance
    model = models[name]
    if model.bulk == "matrix":  # void: the rows are given, and compare is of the laws that a step leaves
        with pytest.raises(BadInput, match="gives the bulk itself"):
            gs.compare(model, dimension=150, seeds=12)
        return
    found = gs.compare(model, dimension=150, seeds=12)
    void = model.step is None or model.inputs is not None  # what a step leaves of these is a spiked model only
    assert ("trained" in found.refused) == void and "isotropic" in found.results
    if model.step is None:
        assert all(abs(found.score("isotropic", error).score) < 4.5 for error in found.errors)


def _value(model: gs.Model, key: str) -> float:
    table, _, name = key.partition(".")
    return float(getattr(getattr(model, table), name))


@pytest.mark.parametrize("name", cells("gradient"))
def test_gradient(name: str, models: dict[str, gs.Model]) -> None:
    # four solutions at relative steps h = 1e-3: h^4 of the fifth derivative, and 1e-10 of the error over h
    model, h = models[name], 1e-3
    feature = "step.learning_rate" if model.step is not None else "spike.strength" if model.spike else "network.width"
    if len(model.steps) > 1:  # which move the alignments as well
        with pytest.raises(gs.BadInput, match="step.learning_rate has no derivative"):
            gs.gradient(model, (feature,))
        feature = "fit.samples"
    dimension = 500 if name.startswith("exponent") else None
    found = gs.gradient(model, ("fit.ridge", feature), dimension=dimension)
    for key, slope in found.test_error.items():
        value = _value(model, key)
        around = [
            weight * gs.solve(model.replace({key: value * (1.0 + n * h)}), dimension=dimension).test_error / h
            for n, weight in STENCIL
        ]
        assert slope * value == pytest.approx(sum(around), abs=2e-7 * found.result.test_error), key


def test_the_limit_of_a_small_step_knows_no_learning_rate(models: dict[str, gs.Model]) -> None:
    found = gs.gradient(models["exponent"])
    assert found.test_error["step.learning_rate"] == 0.0 and found.test_error["fit.samples"] < 0.0
    wider = gs.solve(models["exponent"].replace({"network.width": 0.8 * 1.001})).test_error
    narrower = gs.solve(models["exponent"].replace({"network.width": 0.8 * 0.999})).test_error
    slope = (wider - narrower) / (2e-3 * 0.8)  # the third derivative leaves a relative 1e-6
    assert found.test_error["network.width"] == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("name", cells("tune", ["trained bias", "rank 2", "trained bulk", "given bulk"]))
def test_tune(name: str, models: dict[str, gs.Model]) -> None:
    model = models[name]
    found = gs.tune(model, "fit.ridge", ranges={"fit.ridge": (1e-2, 1.0)})
    least = min(gs.solve(model.replace({"fit.ridge": ridge})).test_error for ridge in np.geomspace(1e-2, 1.0, 9))
    assert found.test_error <= least and (found.at_edge or found.gradient_norm < 1e-6)


def test_the_width_of_a_given_bulk_has_no_derivative(models: dict[str, gs.Model]) -> None:
    with pytest.raises(gs.BadInput, match="rows of step.matrix"):
        gs.gradient(models["given bulk"], "network.width")
    assert "network.width" not in gs.gradient(models["given bulk"]).test_error


@pytest.mark.parametrize("name", cells("spectrum"))
def test_spectrum(name: str, models: dict[str, gs.Model]) -> None:
    # at a negative number the Stieltjes transform is the response of the square loss, which another solver finds
    model = models[name]
    if name in BOUNDED:  # residuals without a bound: the spectrum has no edge
        model = model.replace({"target.link": BOUNDED[name]})
    found = gs.spectrum(model)
    response = gs.solve(model.replace({"fit.loss": "square"})).order_parameters["V2"].sum()
    assert found.total == pytest.approx(1.0, abs=1e-6)
    assert found.stieltjes(complex(-model.fit.ridge, 1e-12)).real == pytest.approx(response, rel=1e-6)


def test_outliers_of_two_directions_are_those_of_the_simulation(models: dict[str, gs.Model]) -> None:
    theory = gs.spectrum(models["rank 2"], dimension=300)
    simulated = simulated_eigenvalues(models["rank 2"], dimension=300, seeds=8)
    mean, error = simulated.largest(3)
    assert len(theory.outliers) == 2 and mean[2] < theory.outliers[1]
    assert np.all(np.abs(mean[:2] - theory.outliers) < 4.5 * error[:2])
    assert simulated.distance(theory) < 0.02  # of the order of 2/p, p = 240, and the outliers' share


def test_overlaps_with_two_directions_by_their_definition(models: dict[str, gs.Model]) -> None:
    # d(zeta_i - T zeta_hat_i)/d zeta_j = delta_ij + (alpha/beta) T_b E[kappa_i kappa_j mu1_b mu1_c/(1 + V)]
    response = gs.spectrum(models["rank 2"]).response
    alpha, beta, *_ = response.problem.parameters
    z = complex(10.0 * response.weight)
    state = response.solve(z, response.far(z))
    assert state is not None
    rows, kappa = response.nodes.table(state.panels), response.nodes.coordinates(state.panels)
    (t, v1), k = np.split(state.unknowns, [2]), 2
    v1 = v1.reshape(k, k) if v1.size == k * k else np.array([[v1[0], v1[1]], [v1[1], v1[2]]])
    mu1, mu2sq = rows[:, 5 + k : 5 + 2 * k], rows[:, 5 + 2 * k :]
    v = np.einsum("nb,bc,nc->n", mu1, v1, mu1) + mu2sq @ t / beta
    expected = np.einsum("n,ni,nj,nb,nc->ibjc", rows[:, 1] / (1.0 + v), kappa, kappa, mu1, mu1)
    expected = np.eye(4) + alpha / beta * (t[:, None, None] * expected).reshape(4, 4)
    np.testing.assert_allclose(response.overlap_matrix(state)[k:, k:], expected, atol=1e-10)
