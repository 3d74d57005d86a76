"""Model files and keys of a network that takes several steps."""

from __future__ import annotations

import pytest

import giantstep as gs

STEPS = (gs.Step(2.0, 1.0), gs.Step(3.0, 2.0))
MODEL = gs.Model(gs.Network("tanh", 1.0), gs.Target("sign"), gs.Fit(2.0, 0.1), STEPS[1], earlier_steps=STEPS[:1])


def test_a_list_of_steps() -> None:
    given = gs.Model(gs.Network("tanh", 1.0), gs.Target("sign"), gs.Fit(2.0, 0.1), step=list(STEPS))  # type: ignore[arg-type]
    assert given == MODEL and given.steps == STEPS


def test_there_and_back() -> None:
    assert gs.Model.from_dict(MODEL.to_dict()) == MODEL
    assert MODEL.to_toml().count("[[step]]") == 2 and MODEL.to_dict()["step"][0]["samples"] == 2.0


def test_read_from_a_file(tmp_path: object) -> None:
    path = tmp_path / "model.toml"  # type: ignore[operator]
    path.write_text(MODEL.to_toml())
    assert gs.Model.from_toml(path) == MODEL


def test_keys_of_one_step_and_of_all() -> None:
    assert MODEL.replace({"step.2.learning_rate": 5.0}).steps == (STEPS[0], gs.Step(3.0, 5.0))
    assert MODEL.replace({"step.samples": "7"}).steps == (gs.Step(7.0, 1.0), gs.Step(7.0, 2.0))
    assert MODEL.replace(step={"samples": 9.0}).steps == (gs.Step(9.0, 1.0), gs.Step(9.0, 2.0))
    assert MODEL.replace(step=None).steps == ()
    assert MODEL.replace({"step": [{"samples": 1.0, "learning_rate": 1.0}]}).steps == (gs.Step(1.0, 1.0),)
    single = MODEL.replace({"step": [{"samples": 1.0, "learning_rate": 1.0}]})
    assert single.replace({"step.1.samples": 4.0}).step == gs.Step(4.0, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"step.3.samples": 1.0}, "of step 3, and the model has 2"),
        ({"step.0.samples": 1.0}, "of step 0"),
        ({"step.2.depth": 1.0}, "unknown key 'step.2.depth'"),
        ({"step.2.samples": -1.0}, "step 2 of 2: step.samples = -1.0"),
        ({"step.1.bulk": "trained"}, "it is that of the last step"),
        ({"step.1.exponent": 0.3}, "each has to be a giant one"),
    ],
)
def test_what_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words):
        MODEL.replace(change)


def test_sweeps_of_one_step() -> None:
    found = gs.curve(MODEL, {"step.2.learning_rate": [1.0, 2.0]})
    assert found.numbers("test_error")[1] == gs.solve(MODEL).test_error
    assert "of step 2" in found.to_xarray()["step.2.learning_rate"].attrs["long_name"]


def test_bulk_variances_of_a_given_spike() -> None:
    """One for each block, or the one number c that gives block b 1 + u^2 (c - 1)."""
    readout = {"values": [1.0, 2.0], "fractions": [0.5, 0.5]}
    spike = {"strength": 1.0, "alignment": 0.6, "bulk_variance": 1.1}
    single = gs.Model.from_dict(
        {"network": {"activation": "relu", "width": 1.0, "readout": readout}, "target": {"link": "tanh"}}
        | {"fit": {"samples": 2.0, "ridge": 0.1}, "spike": spike}
    )
    several = single.replace({"spike.bulk_variance": [1.1, 1.0 + 4.0 * 0.1]})
    assert gs.solve(several).test_error == pytest.approx(gs.solve(single).test_error, rel=1e-12, abs=0.0)
    with pytest.raises(gs.BadInput, match="has 3 entries, and network.readout.values has 2"):
        single.replace({"spike.bulk_variance": [1.1, 1.2, 1.3]})
    with pytest.raises(gs.BadInput, match="one number for each block"):
        gs.gradient(several, ["spike.bulk_variance"])


def test_the_same_batch_again() -> None:
    """It has a law, but for a trained bulk; the network is simulated where there is none."""
    again = MODEL.replace({"step.samples": 2.0}).replace({"step.2.batch": "same"})
    assert gs.solve(again).steps != gs.solve(again.replace({"step.2.batch": "fresh"})).steps
    trained = again.replace({"step.2.bulk": "trained"})
    for verb in (gs.solve, gs.bounds, gs.spectrum):
        with pytest.raises(gs.BadInput, match="after two steps on one batch"):
            verb(trained)
    run = gs.simulate(trained, dimension=60, seeds=2)
    assert run.what == "network" and len(run.steps) == 2
    assert gs.simulate(again, dimension=60, seeds=2).what == "srf"
    with pytest.raises(gs.BadInput, match="first step has no batch before it"):
        MODEL.replace({"step.1.batch": "same"})
    with pytest.raises(gs.BadInput, match="give the same number of samples"):
        MODEL.replace({"step.2.batch": "same"})
