"""The table of verbs and models: every cell answers and is held against another way to it, or says why it is void."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from every_model import NAMES, every_model

import giantstep as gs
from giantstep.observe.learned import Profile, profiles

Array = np.ndarray


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, gs.Model]:
    return every_model(str(_given_bulk(tmp_path_factory.mktemp("bulk") / "bulk.npz")))


def _given_bulk(path: Path, dimension: int = 60) -> Path:
    """A bulk on the unit sphere, with its directions."""
    rows = np.random.default_rng(0).standard_normal((round(0.8 * dimension), dimension))
    v, theta = np.eye(dimension)[0], 0.8 * np.eye(dimension)[0] + 0.6 * np.eye(dimension)[1]
    np.savez(path, bulk=rows / np.linalg.norm(rows, axis=1)[:, None], spike=v, target=theta)
    return path


def _margin(model: gs.Model) -> bool:
    return model.fit.loss.form == "margin"


@pytest.mark.parametrize("name", NAMES)
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


@pytest.mark.parametrize("name", NAMES)
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
    assert len(spikes) == (0 if name == "random features" else 1 if model.spike is None else model.spike.rank)
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
