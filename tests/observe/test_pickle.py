"""What a solution tells can be sent to another process and be copied, and is the same as its copy."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs

MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "tanh", "width": 0.8},
        "spike": {"strength": 1.5, "alignment": 0.8, "bulk_variance": 1.2},
        "target": {"link": "sign"},
        "fit": {"samples": 1.5, "ridge": 0.1},
    }
)
VERBS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "solve": (lambda: gs.solve(MODEL), lambda found: found.test_error),
    "gradient": (lambda: gs.gradient(MODEL), lambda found: dict(found.test_error)),
    "bounds": (lambda: gs.bounds(MODEL), lambda found: found.to_dict()),
    "tune": (lambda: gs.tune(MODEL, ["fit.ridge"]), lambda found: dict(found.values)),
    "learned": (lambda: gs.learned(MODEL), lambda found: found.to_dict()),
    "spectrum": (lambda: gs.spectrum(MODEL), lambda found: float(found.density(1.0))),
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_copy_tells_the_same(verb: str) -> None:
    make, told = VERBS[verb]
    found = make()
    for another in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_equal(told(another), told(found))
        assert another == found


@pytest.mark.parametrize("verb", ["solve", "learned", "spectrum"])
def test_results_of_other_models_are_others(verb: str) -> None:
    found = getattr(gs, verb)(MODEL)
    assert found == getattr(gs, verb)(MODEL)  # however long it took
    assert found != getattr(gs, verb)(MODEL.replace({"fit.samples": 1.6})) and found != verb


def test_an_array_of_another_shape_is_another_and_nan_is_nan() -> None:
    profile = gs.learned(MODEL).along_target
    unknown = replace(profile, mean=profile.mean * math.nan)
    assert unknown == replace(unknown) and unknown != profile
    assert replace(profile, mean=profile.mean[:1]) != profile
