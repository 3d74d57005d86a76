"""Functions that use the package, and what its verbs return, go to other processes and come back."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import pytest

import giantstep as gs

ROOT = Path(gs.__file__).parents[1]
MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 0.8},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 1.5, "ridge": 0.1},
    }
)
LOADED = "import pickle, sys; print(repr(pickle.load(open(sys.argv[1], 'rb'))(0.3)))"
RESULTS: dict[str, Callable[[], Any]] = {
    "solve": lambda: gs.solve(MODEL),
    "gains": lambda: gs.gains(MODEL),
    "curve": lambda: gs.curve(MODEL, "fit.samples=1:2:2"),
    "solve_many": lambda: gs.solve_many(MODEL, {"fit.samples": [1.0, 2.0]}),
    "simulate": lambda: gs.simulate(MODEL, dimension=30, seeds=2),
    "compare": lambda: gs.compare(MODEL, dimension=30, seeds=2),
    "learnable": lambda: gs.learnable("sign(z1*z2)"),
}


def at_ridge(ridge: float) -> float:
    """A function of a notebook: it uses the package as a global name."""
    return gs.solve(MODEL.replace({"fit.ridge": ridge})).test_error


def test_the_package_is_copied_by_name() -> None:
    assert pickle.loads(cloudpickle.dumps(gs)) is gs
    assert pickle.loads(pickle.dumps(gs)) is gs


def test_a_function_that_uses_the_package_runs_elsewhere(tmp_path: Path) -> None:
    """By value, as cloudpickle sends what a notebook defines."""
    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    try:
        (tmp_path / "f.pkl").write_bytes(cloudpickle.dumps(lambda ridge: at_ridge(ridge)))
    finally:
        cloudpickle.unregister_pickle_by_value(here)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "f.pkl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == at_ridge(0.3)


def test_processes_of_joblib_give_the_same_bits() -> None:
    """Joblib's default, loky: processes of their own, functions sent by cloudpickle."""
    ridges = [0.1, 1.0]
    found = joblib.Parallel(n_jobs=2)(
        joblib.delayed(lambda ridge: gs.solve(MODEL.replace({"fit.ridge": ridge})).test_error)(ridge)
        for ridge in ridges
    )
    assert found == [at_ridge(ridge) for ridge in ridges]


@pytest.mark.parametrize("verb", RESULTS)
def test_results_are_copied(verb: str) -> None:
    found = RESULTS[verb]()
    copied = pickle.loads(pickle.dumps(found))
    assert type(copied) is type(found)
    assert copied.to_dict() == found.to_dict()


def test_a_derivation_is_copied_with_its_claims() -> None:
    found = gs.derive(MODEL)
    copied = pickle.loads(pickle.dumps(found))
    assert copied.latex() == found.latex()
    pairs = zip(copied.parts, found.parts, strict=True)
    assert [s.sides for one, _ in pairs for s in one.steps] == [s.sides for part in found.parts for s in part.steps]


def test_bad_input_is_a_value_error_and_an_unknown_column_a_key_error() -> None:
    with pytest.raises(ValueError, match=r"fit\.ridge"):
        MODEL.replace({"fit.ridge": -1.0})
    data = gs.solve_many(MODEL, {"fit.samples": [1.0]})
    with pytest.raises(KeyError) as told:
        data["tset_error"]
    assert str(told.value).startswith("there is no column 'tset_error'; did you mean 'test_error'?")
    assert isinstance(told.value, gs.BadInput)
