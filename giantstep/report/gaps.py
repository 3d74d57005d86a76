"""What a learning curve may hide between its points: a peak where samples and neurons are as many, a steep part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset, shown
from giantstep.sweep.grid import Grid
from giantstep.system.solve import solve

_FEW = 6  # points of a curve that is to be seen as a line
_STEEP = 0.5  # share of what the test error varies by, between two neighbours
_VARIES, _HIDDEN = 0.1, 1.1  # relative: that it varies at all; that an error between neighbours is above both
_SHOWN = 3
_OTHER = {"fit.samples": "network.width", "network.width": "fit.samples"}


def gaps(dataset: Dataset) -> list[str]:
    """Lines on curves whose points are too far apart for what lies between them; none where nothing was found.

    A point is solved where a curve of the square loss passes as many samples as neurons between two of its points.
    """
    found = list(_found(dataset)) if isinstance(dataset.grid, Grid) and dataset.grid.x.numeric else []
    more = [f"... and {len(found) - _SHOWN} more curves"] if len(found) > _SHOWN else []
    return [*found[:_SHOWN], *more]


def _found(dataset: Dataset) -> Iterator[str]:
    assert isinstance(dataset.grid, Grid)
    key, x = dataset.grid.x.key, np.array(dataset.grid.x.values, dtype=float)
    order = np.argsort(x)
    for others, rows in dataset.grid.curves():
        error = dataset.numbers("test_error")[rows]
        if len(x) < _FEW or not np.isfinite(error).all():
            continue
        where = "".join(f"{name} = {shown(value)}: " for name, value in others)
        model = dataset.model.replace({**dict(others), key: x[0]})
        line = _peak(dataset, model, x[order], error[order]) or _steep(key, x[order], error[order])
        if line:
            yield f"{where}{line}"


def _peak(dataset: Dataset, model: Model, x: np.ndarray, error: np.ndarray) -> str:
    """The test error where samples and neurons are as many, if it is above those of both points beside it."""
    key = dataset.grid.keys[0]
    if key not in _OTHER or model.fit.loss.name != "square":
        return ""
    equal = float(model.number_at(_OTHER[key]))
    above = int(np.searchsorted(x, equal))
    if not 0 < above < len(x) or np.isclose(x[above - 1 : above + 1], equal, rtol=1e-6).any():
        return ""
    try:
        accuracy = {name: dataset.options[name] for name in ("dimension", "tolerance")}
        peak = solve(model.replace({key: equal}), **accuracy).test_error
    except (BadInput, NotConverged):
        return ""
    if peak < _HIDDEN * max(error[above - 1], error[above]):
        return ""
    return (
        f"at {key} = {equal:.6g}, between two points, there are as many samples as neurons: the test error has a peak "
        f"there, {peak:.6g}, and is {error[above - 1]:.6g} and {error[above]:.6g} at the points; add some"
    )


def _steep(key: str, x: np.ndarray, error: np.ndarray) -> str:
    """The neighbours between which the test error changes by most of what it varies by."""
    steps, whole = np.abs(np.diff(error)), float(np.ptp(error))
    place = int(np.argmax(steps))
    if whole < _VARIES * error.max() or steps[place] < _STEEP * whole:
        return ""
    return (
        f"the test error changes from {error[place]:.6g} to {error[place + 1]:.6g} between {key} = {x[place]:.6g} and "
        f"{x[place + 1]:.6g}, {steps[place] / whole:.0%} of what it varies by: add points there"
    )
