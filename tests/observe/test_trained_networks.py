"""The trained law against simulated networks of any activation, in settings drawn before any theory is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.spec.model import Model

ERRORS = ("test_error", "train_error")
ODD, OTHER = ("tanh", "erf"), ("relu", "gelu", "silu", "softplus")
LINKS = ("tanh(2*z)", "z + He(2,z)/2", "relu", "sign", "tanh(z) + tanh(z)**2", "z")
RELU = Model.from_dict(
    {
        "network": {"activation": "relu", "width": 0.42},
        "step": {"learning_rate": 1.97, "samples": 2.63},
        "target": {"link": "relu"},
        "fit": {"samples": 1.6, "ridge": 0.286},
    }
)


def drawn(seed: int) -> Model:
    """A model: any activation with one readout value, odd ones with up to three; three losses; batches of .5 to 8."""
    source = np.random.default_rng(seed)
    network: dict[str, Any] = {"width": float(source.uniform(0.4, 1.2))}
    network["activation"] = str(source.choice((*ODD, *OTHER)))
    values = [[1.0], [1.0, -0.5], [1.0, 0.4, -0.7]][int(source.integers(3)) if network["activation"] in ODD else 0]
    network["readout"] = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    loss = str(source.choice(["square", "huber", "logistic"]))
    step = {
        "learning_rate": float(source.uniform(0.5, 2.0)),
        "samples": float(np.exp(source.uniform(np.log(0.5), np.log(8.0)))),
    }
    link = str(source.choice(["sign", "sign(z + 0.3)"] if loss == "logistic" else LINKS))
    fit = {"samples": float(source.uniform(1.0, 3.0)), "ridge": float(10.0 ** source.uniform(-1.5, 0.0)), "loss": loss}
    return Model.from_dict({"network": network, "step": step, "target": {"link": link}, "fit": fit})


def of_any_kind(seed: int) -> Model:
    """A model with one to three readout values whatever its activation, and either law of the initial rows."""
    source, model = np.random.default_rng(1000 + seed), drawn(seed)
    values = [[1.0], [1.0, -0.5], [1.0, 0.4, -0.7]][int(source.integers(3))]
    readout = {"values": values, "fractions": [1.0 / len(values)] * len(values)}
    rows = str(source.choice(["sphere", "gaussian"]))
    return model.replace({"network.readout": readout, "network.initialisation": rows})


def test_a_network_of_relu() -> None:
    """The trained law holds, and the isotropic one is rejected, at d = 300."""
    found = gs.compare(RELU, dimension=300, seeds=40)
    assert all(abs(found.score("trained", error).score) < 4.0 for error in ERRORS)
    assert max(abs(found.score("isotropic", error).score) for error in ERRORS) > 4.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_drawn_networks_at_large_dimension(seed: int) -> None:
    """At d = 1500, 8 networks each."""
    found = gs.compare(drawn(seed), dimension=1500, seeds=8)
    print(seed, found)
    assert all(abs(found.score("trained", error).score) < 4.0 for error in ERRORS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_networks_of_any_kind(seed: int) -> None:
    """At d = 1000, 8 networks each."""
    found = gs.compare(of_any_kind(seed), dimension=1000, seeds=8)
    assert all(abs(found.score("trained", error).score) < 4.0 for error in ERRORS)


def test_gaussian_rows_are_other_networks() -> None:
    """gelu on a second harmonic at d = 300: each law holds for its own rows, and the other one is rejected."""
    given = Model.from_dict(
        {
            "network": {"activation": "gelu", "width": 0.7},
            "step": {"learning_rate": 1.0, "samples": 4.0, "bulk": "trained"},
            "target": {"link": "z + He(2,z)/2"},
            "fit": {"samples": 2.0, "ridge": 0.05},
        }
    )
    seeds, dimension = 60, 300
    rows = {name: given.replace({"network.initialisation": name}) for name in ("sphere", "gaussian")}
    simulated = {name: gs.simulate(one, dimension=dimension, seeds=seeds) for name, one in rows.items()}
    solved = {name: gs.solve(one, dimension=dimension) for name, one in rows.items()}
    for error in ERRORS:
        runs = {name: np.ravel(getattr(found, error)) for name, found in simulated.items()}
        for name, values in runs.items():
            z = (values.mean() - getattr(solved[name], error)) / (values.std(ddof=1) / np.sqrt(seeds))
            assert abs(z) < 4.0, (name, error, z)
        # networks of one seed share their batch and data, so that differences have less noise
        difference = runs["sphere"] - runs["gaussian"]
        assert difference.mean() > 6.0 * difference.std(ddof=1) / np.sqrt(seeds)
        predicted = getattr(solved["sphere"], error) - getattr(solved["gaussian"], error)
        z = (difference.mean() - predicted) / (difference.std(ddof=1) / np.sqrt(seeds))
        assert abs(z) < 4.0, (error, z)


@pytest.mark.slow
def test_the_gap_shrinks_with_the_dimension() -> None:
    """relu on relu: the gap at d = 2000 is below half of that at d = 250, or within the error bars."""
    small, large = (gs.compare(RELU, dimension=d, seeds=n) for d, n in ((250, 200), (2000, 8)))
    for error in ERRORS:
        gaps = [
            each.simulation.mean(error).item() - each.results["trained"].to_dict()[error] for each in (small, large)
        ]
        spread = large.simulation.standard_error(error).item()
        assert abs(gaps[1]) < 0.5 * abs(gaps[0]) + 4.0 * spread
