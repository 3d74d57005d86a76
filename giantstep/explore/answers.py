"""What the page shows of a model: arrays to draw, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from giantstep.explore.sliders import Slider
from giantstep.observe.bounds import bounds
from giantstep.observe.learned import learned
from giantstep.observe.spectrum.spectrum import spectrum
from giantstep.spec.errors import GiantstepError
from giantstep.spec.model import Model
from giantstep.sweep.curve import curve
from giantstep.sweep.grid import Sweep
from giantstep.system.solve import solve

Array = NDArray[np.float64]
_POINTS, _PLACES = 61, 400
_CURVES = MappingProxyType(
    {
        "test error": "test_error",
        "training error": "train_error",
        "random features (no step)": "random_features_test_error",
        "best linear predictor": "best_linear_test_error",
    }
)
_POLYNOMIAL = "best polynomial of the input"

VIEWS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        "learning curve": (tuple(_CURVES), ()),
        "learned function": (("target", "mean output", "mean + spread", "mean - spread"), ()),
        "spectrum": (("bulk",), ()),
        "bounds": (("lower bound", "upper bound"), (_POLYNOMIAL,)),
    }
)
"""The names of the lines and of the points that a view may have."""


@dataclass(frozen=True)
class Answer:
    """Lines and points to draw by name, each x [N] and y [N]; numbers by name; ``refused``: why there are none."""

    lines: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    points: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    refused: str = ""


def answer(view: str, model: Model, along: Slider) -> Answer:
    """One of ``VIEWS`` of a model; along: the x axis of the learning curve."""
    try:
        return {
            "learning curve": lambda: _curve(model, along),
            "learned function": lambda: _learned(model),
            "spectrum": lambda: _spectrum(model),
            "bounds": lambda: _bounds(model),
        }[view]()
    except GiantstepError as error:
        return Answer(refused=str(error))


def _curve(model: Model, along: Slider) -> Answer:
    """Errors along one key, with the baselines, and those of the model itself."""
    low, high, _ = along.ends
    values = np.linspace(low, high, _POINTS)
    x = 10.0**values if along.log else values
    data = curve(model, Sweep(along.key, tuple(x.tolist()), along.log))
    lines = {words: (x, y) for words, name in _CURVES.items() if np.isfinite(y := data.numbers(name)).any()}
    here = solve(model)
    numbers = {"test error": here.test_error, "training error": here.train_error, "residual": here.residual}
    return Answer(lines, numbers={**numbers, "quadrature error": here.quadrature_error})


def _learned(model: Model) -> Answer:
    """Mean output along the target's first index, with a standard deviation to either side, and the target."""
    found = learned(model)
    profile = found.along_target
    lines = {
        "target": profile.target_line(),
        "mean output": (profile.at, profile.mean),
        "mean + spread": (profile.at, profile.mean + profile.spread),
        "mean - spread": (profile.at, profile.mean - profile.spread),
    }
    return Answer(lines, numbers={"test error": found.result.test_error})


def _spectrum(model: Model) -> Answer:
    """The density of the eigenvalues of the features' Gram matrix, per unit of the logarithm."""
    found = spectrum(model)
    pieces = []
    for part in found.bulks:
        x = part.coordinate.x(np.linspace(0.0, np.pi, _PLACES)[1:-1])
        pieces.append(np.array([[*x, np.nan], [*(x * part.density(x)), np.nan]]))  # nan: a gap in the line
    at, density = np.concatenate(pieces, axis=1)[:, :-1] if pieces else np.empty((2, 0))
    outliers = {f"outlier {k + 1}": float(value) for k, value in enumerate(found.outliers)}
    return Answer({"bulk": (at, density)}, numbers={"mass at zero": found.mass_at_zero, **outliers})


def _bounds(model: Model) -> Answer:
    """What no readout of these features goes below, and what the best ridge stays below."""
    found = bounds(model, optimise=False)
    numbers = {"lower bound": found.lower.value, "upper bound": found.upper.value, "best linear": found.best_linear}
    degrees = np.array(sorted(found.polynomial), dtype=np.float64)
    values = np.array([found.polynomial[int(degree)] for degree in degrees])
    level = {name: (degrees, np.full(len(degrees), numbers[name])) for name in ("lower bound", "upper bound")}
    return Answer(level, {_POLYNOMIAL: (degrees, values)}, numbers)
