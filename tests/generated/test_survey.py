"""What coefficients at nodes say of panels in kappa: against the same in NumPy, at random tables."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
from interpreted import interpreted, runtime_text
from mutants import survivors

Array = np.ndarray
RNG = np.random.default_rng(8)
PANELS, NODES, TERMS = 4, 5, 2
PLACE = np.array([0, 2, 3])
RESOLVED, FLOOR = 1e-3, 1e-2


def table(number: int) -> tuple[Array, ...]:
    """edges [P + 1], rows [2 + 3T, P, n], ends [3T, 2] and last [2, m] of panels on either side of zero."""
    edges = np.sort(RNG.uniform(-6.0, 6.0, PANELS + 1))
    if number % 5 == 0:
        edges[3] = edges[2] + 1e-14  # a panel that is not halved
    share = np.sort(RNG.uniform(size=(PANELS, NODES)))
    kappa = edges[:-1, None] + share * np.diff(edges)[:, None]
    size = 10.0 ** RNG.uniform(-2.0, 2.0, (3 * TERMS, 1, 1))
    values = size * RNG.normal(size=(3 * TERMS, PANELS, NODES))
    values[2::3] = np.abs(values[2::3])
    if number % 3 == 0:  # those of one sign
        values = -np.abs(values) * np.where(np.arange(3 * TERMS) % 3 == 2, -1.0, 1.0)[:, None, None]
    if number % 11 == 0:  # rounding of nothing
        values[2::3] = -values[2::3]
    rows = np.concatenate([kappa[None], RNG.uniform(size=(1, PANELS, NODES)), values])
    ends = size[..., 0] * RNG.normal(size=(3 * TERMS, 2))
    ends[2::3] = np.abs(ends[2::3]) if number % 7 else np.nan
    return edges, rows, ends, RNG.normal(size=(2, len(PLACE))) * 10.0 ** RNG.uniform(-6.0, 0.0)


def wanted(edges: Array, rows: Array, ends: Array, last: Array) -> tuple[Array, float]:
    kappa, values = rows[0][:, PLACE], rows[2:].reshape(TERMS, 3, PANELS, NODES)[..., PLACE]
    scale = (np.abs(values) * np.exp(-0.25 * kappa**2)).max(axis=(2, 3))
    size = np.sqrt(scale[:, 0] ** 2 + scale[:, 1] ** 2 + scale[:, 2])[:, None]
    scale = np.maximum(scale, FLOOR * size ** np.array([1, 1, 2]))
    nearest = np.where(edges[:-1] * edges[1:] > 0.0, np.minimum(np.abs(edges[:-1]), np.abs(edges[1:])), 0.0)
    tail = np.abs(np.einsum("km,tapm->ktap", last, values)) * np.exp(-0.25 * nearest**2)
    bad = (tail > RESOLVED * scale[:, :, None]).any(axis=(0, 1, 2)) & (np.diff(edges) > 1e-13)
    square = values[:, 0] ** 2 + values[:, 1] ** 2 + values[:, 2]
    peak = square.max(axis=0)[np.abs(kappa) <= 3.0].max(initial=1e-300)
    outer = ends.reshape(TERMS, 3, 2)
    far = (outer[:, 0] ** 2 + outer[:, 1] ** 2 + outer[:, 2]).max()
    return bad, (math.inf if math.isnan(far) else far) / peak


TABLES = [table(number) for number in range(150)]
WANTED = [wanted(*each) for each in TABLES]


def is_right(module: ModuleType) -> bool:
    for (edges, rows, ends, last), (bad, far) in zip(TABLES, WANTED, strict=True):
        found = np.ones(PANELS, dtype=bool)
        told = module.survey(edges, rows, ends, PLACE, last, RESOLVED, FLOOR, found)
        if not (np.array_equal(found, bad) and (told == far or math.isclose(told, far, rel_tol=1e-12))):
            return False
    return True


def test_against_whole_arrays() -> None:
    assert is_right(interpreted(runtime_text("survey")))
    share = np.mean([bad for bad, _ in WANTED])
    assert 0.2 < share < 0.8


def test_changes_are_noticed() -> None:
    tried, survived = survivors("survey", lambda text: is_right(interpreted(text)))
    assert tried > 40
    assert not [words for words in survived if "edges[p] * edges[p + 1] > 0.0" not in words]  # a quotient has its sign
