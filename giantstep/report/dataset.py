"""A dataset in words: how many points, how accurate, which ones failed, how far from simulation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantstep.observe.few_seeds import normal_scores
from giantstep.observe.simulate import SYSTEM_NAMES
from giantstep.sweep.dataset import Dataset, shown
from giantstep.sweep.kinds import KINDS

SHOWN_FAILURES = 20
_FAR = 3.0  # normal score, root mean square

_Z_SCORE = "simulation_test_error_z_score"

_THEORY = (("test_error", "test error"), ("train_error", "train error"))
_BESIDE = (
    ("random_features_test_error", "no step"),
    ("optimal_test_error", "possible"),
    ("simulation_test_error", "simulated"),
    ("simulation_test_error_standard_error", "std. error"),
    (_Z_SCORE, "normal score"),
)


def report(dataset: Dataset) -> str:
    """Several lines: points and certificates, failures with their reasons, agreement with the simulation."""
    lines = [_summary(dataset)]
    failed = list(dataset.failures())
    if failed:
        lines.append(f"{len(failed)} points have no number:")
        lines += [f"  {dataset.point(row)}: {reason}" for row, reason in failed[:SHOWN_FAILURES]]
        if len(failed) > SHOWN_FAILURES:
            lines.append(f"  ... and {len(failed) - SHOWN_FAILURES} more, in the column reason of --output")
    aside = [
        (row, str(reason))
        for row, (status, reason) in enumerate(zip(dataset["status"], dataset["reason"], strict=True))
        if status == "ok" and reason
    ]
    if aside:
        lines.append(f"{len(aside)} points lack something beside the theory:")
        lines += [f"  {dataset.point(row)}: {reason}" for row, reason in aside[:SHOWN_FAILURES]]
    if ignored := (dataset.options.get("optimal") or {}).get("ignores"):
        lines.append(f"possible, from samples alone: not counted is {ignored}")
    if dataset.options.get("simulation"):
        lines += _simulation(dataset)
    return "\n".join(lines)


def table(dataset: Dataset) -> str:
    """The points in columns, for a terminal."""
    metrics = () if dataset.model.metrics is None else dataset.model.metrics.to_dict()
    size = f"at d = {dataset.options.get('dimension')}"
    theory = (*_THEORY, *((name, name) for name in metrics))
    titles = (*(column for one in theory for column in (one, (f"finite_size_{one[0]}", size))), *_BESIDE)
    present = [(name, title) for name, title in titles if np.isfinite(dataset.numbers(name)).any()]
    kinds = {name: f"{name.removesuffix('_is').replace('_', ' ')} is" for name in KINDS if _varied(dataset, name)}
    header = [*dataset.grid.keys, *(title for _, title in present), *kinds.values()]
    columns = [_scores(dataset, name) if name == _Z_SCORE else dataset.numbers(name) for name, _ in present]
    rows = [
        [
            *(shown(value) for _, value in dataset.grid.changes(row)),
            *(f"{column[row]:.6g}" if math.isfinite(column[row]) else "-" for column in columns),
            *(str(dataset[name][row]) for name in kinds),
        ]
        for row in range(len(dataset))
    ]
    widths = [max(map(len, entries)) for entries in zip(header, *rows, strict=True)]
    return "\n".join(
        "  ".join(f"{entry:>{width}}" for entry, width in zip(entries, widths, strict=True))
        for entries in (header, *rows)
    )


def _varied(dataset: Dataset, name: str) -> bool:
    """Whether a column of words says different things."""
    return name in dataset and len(set(dataset[name])) > 1


def _summary(dataset: Dataset) -> str:
    solved = sum(status == "ok" for status in dataset["status"])
    text = f"{solved} of {len(dataset)} points solved over {dataset.grid}"
    if solved:
        residual = np.nanmax(dataset.numbers("residual"))
        quadrature = np.nanmax(dataset.numbers("quadrature_error"))
        text += f"; worst residual {residual:.1e}, worst quadrature error {quadrature:.1e}"
    return text


def _simulation(dataset: Dataset) -> list[str]:
    ran = dataset.options["simulation"]
    points = int(np.isfinite(dataset.numbers("simulation_test_error")).sum())
    seeds = f"{ran['seeds']} seed{'s' if ran['seeds'] > 1 else ''}"
    lines = [
        f"simulated: {ran['what']}, {SYSTEM_NAMES[ran['what']]}, d = {dataset.options['dimension']}, {seeds}, "
        f"{points} points"
    ]
    for name in ("test_error", "train_error"):
        scores = _finite(_scores(dataset, f"simulation_{name}_z_score"))
        if scores.size:
            lines.append(
                f"  {name.replace('_', ' ')}: normal scores of the difference from the theory at that size: "
                f"largest {scores[np.argmax(np.abs(scores))]:+.1f}, "
                f"root mean square {math.sqrt(float(np.mean(scores**2))):.2f}"
            )
    if ran["seeds"] > 1:
        lines.append(
            f"  normal score: as rare under a normal law as the difference in standard errors is under Student's law "
            f"of {seeds}; points of one curve share their networks and are correlated"
        )
    if ran["what"] == "network" and _isotropic(dataset) and _far(dataset):
        lines.append(
            '  the lines are of an isotropic bulk, and this is the network: step.bulk = "trained" describes it '
            "(--set step.bulk=trained)"
        )
    if ran["seeds"] < 2:
        lines.append("  one seed gives no standard error")
    return lines


def _isotropic(dataset: Dataset) -> bool:
    step = dataset.model.step
    if step is None or dataset.model.earlier_steps:
        return False
    return step.bulk == "isotropic" and step.exponent == 0.5


def _far(dataset: Dataset) -> bool:
    """Whether the test errors are off by more than chance."""
    scores = _finite(_scores(dataset, _Z_SCORE))
    return bool(scores.size and np.sqrt(np.mean(scores**2)) > _FAR)


def _scores(dataset: Dataset, name: str) -> NDArray[np.float64]:
    """A column of differences in standard errors as normal scores."""
    ran = dataset.options.get("simulation") or {}
    return normal_scores(dataset.numbers(name), ran.get("seeds", 1))


def _finite(column: NDArray[np.float64]) -> NDArray[np.float64]:
    return column[np.isfinite(column)]
