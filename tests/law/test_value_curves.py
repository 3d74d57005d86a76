"""Rows of readout values that hardly differ, after several steps: against the steps themselves in 50 digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from layer_states import readout
from numpy.polynomial.hermite_e import hermegauss

import giantstep as gs
from giantstep.law import alike_blocks
from giantstep.law.layer_state import LayerState
from giantstep.law.spike import _states, states_after_steps
from giantstep.law.value_curves import divided_differences

DIGITS, NODES = 50, 48
STEPS = [(3.0, 0.9), (2.0, 0.8), (4.0, 0.7)]
WIDTH, NOISE = 0.8, 0.2


def model(values: list[float], steps: int, activation: str = "erf", **tables: Any) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": WIDTH, **readout(*values)},
            "target": {"link": "sin", "noise": NOISE},
            "fit": {"samples": 2.0, "ridge": 0.05},
            "step": [{"samples": samples, "learning_rate": rate} for samples, rate in STEPS[:steps]],
            **tables,
        }
    )


@dataclass
class Rows:
    """Loadings [K][q], overlaps [q] of the target, and bulk variances [K], in many digits."""

    loadings: Any
    overlaps: list[Any]
    variances: list[Any]

    def numbers(self) -> tuple[list[list[Any]], list[Any]]:
        """Products of the rows with each other, along the target, and variances."""
        products = self.loadings * self.loadings.T
        along = self.loadings * mpmath.matrix(self.overlaps)
        blocks = range(len(self.variances))
        return [[products[b, c] for c in blocks] + [along[b]] for b in blocks], self.variances


def rule(rank: int) -> list[tuple[tuple[Any, ...], Any]]:
    x, w = hermegauss(NODES)
    points = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(x.tolist(), (w / w.sum()).tolist(), strict=True)]
    found: list[tuple[tuple[Any, ...], Any]] = [((), mpmath.mpf(1))]
    for _ in range(rank):
        found = [((*place, a), weight * b) for place, weight in found for a, b in points]
    return [(place, weight) for place, weight in found if weight > 1e-25]


def steps_in_many_digits(values: list[float], shares: list[float], steps: int) -> Rows:
    """By explicit averages of erf and sin. A rule of kappa has the error of other weights, the same for all values."""
    blocks, exp, sqrt = range(len(values)), mpmath.exp, mpmath.sqrt
    rows = Rows(mpmath.zeros(len(values), 1), [mpmath.mpf(0)], [mpmath.mpf(1) for _ in values])
    for samples, learning_rate in STEPS[:steps]:
        rate, rank = mpmath.mpf(learning_rate) / WIDTH, len(rows.overlaps)
        rest = 1 - mpmath.fsum(g * g for g in rows.overlaps)
        across, noise = [mpmath.mpf(0)] * len(values), mpmath.zeros(len(values))
        pull, drift, spread = mpmath.zeros(len(values), rank), list(across), list(across)
        for kappa, weight in rule(rank):
            at = mpmath.fdot(rows.overlaps, kappa)
            mean = exp(-rest / 2) * mpmath.sin(at)
            tilt = sqrt(rest) * exp(-rest / 2) * mpmath.cos(at)
            square = (1 - exp(-2 * rest) * mpmath.cos(2 * at)) / 2 + NOISE
            shift = [mpmath.fdot(rows.loadings[b, :], kappa) for b in blocks]
            scale = [1 + 2 * c for c in rows.variances]
            output = mpmath.fsum(
                share * u * mpmath.erf(s / sqrt(k)) for share, u, s, k in zip(shares, values, shift, scale, strict=True)
            )
            slope = [2 / sqrt(mpmath.pi * k) * exp(-s * s / k) for s, k in zip(shift, scale, strict=True)]
            e, e2 = mean - output, square - 2 * mean * output + output**2
            for b in blocks:
                s, k, wide = shift[b], scale[b], 1 + 4 * rows.variances[b]
                for j in range(rank):
                    pull[b, j] += weight * e * slope[b] * kappa[j]
                across[b] += weight * tilt * slope[b]
                drift[b] += weight * e * slope[b] * (-2 * s / k)
                spread[b] += weight * e2 * (4 / mpmath.pi / sqrt(wide) * exp(-2 * s * s / wide) - slope[b] ** 2)
                for c in blocks:
                    noise[b, c] += weight * e2 * slope[b] * slope[c]
        size = [rate * u for u in values]
        known = mpmath.matrix(len(values), rank + 1)
        for b in blocks:
            for j in range(rank):
                known[b, j] = rows.loadings[b, j] + size[b] * pull[b, j]
            known[b, rank] = size[b] * across[b]
        common = mpmath.matrix([[size[b] * size[c] * noise[b, c] / samples for c in blocks] for b in blocks])
        along = known * mpmath.matrix([*rows.overlaps, sqrt(rest)])
        if steps and rank == 1 and all(x == 0 for x in rows.loadings):  # all move along one direction
            total = sqrt((known * known.T + common)[0, 0]) / values[0]
            loadings = mpmath.matrix([[u * total] for u in values])
        else:
            loadings = mpmath.cholesky(known * known.T + common)
        overlaps = list(mpmath.lu_solve(loadings, along)) if loadings.cols > 1 else [along[0] / loadings[0, 0]]
        variances = [
            c * (1 + n * d) ** 2 + n**2 * more / samples
            for c, n, d, more in zip(rows.variances, size, drift, spread, strict=True)
        ]
        rows = Rows(loadings, overlaps, variances)
    return rows


def told(state: LayerState) -> Rows:
    assert state.alike is not None
    (alike,) = state.alike
    loadings = mpmath.matrix([row[:-1] for row in alike.rows])
    return Rows(loadings, [mpmath.mpf(row[0]) for row in state.overlaps], [row[-1] for row in alike.rows])


@pytest.mark.parametrize("apart", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("steps", "count"), [(2, 2), (2, 3), (3, 2)])
def test_differences_have_all_digits(apart: float, steps: int, count: int) -> None:
    """Divided differences of products of rows, relative to the largest of each order. The rule of kappa is another one,
    to 1e-12; the scale of the values is one.
    """
    values = [0.9, 0.9 + apart, 0.9 - 2.0 * apart][:count]
    given = model(values, steps)
    state = states_after_steps(given)[-1]
    assert state.rank == count
    with mpmath.workdps(DIGITS):
        wanted = steps_in_many_digits(values, list(given.network.readout.fractions), steps).numbers()
        found = told(state).numbers()
        for known, exact in zip(found, wanted, strict=True):
            tables = [differences(values, each) for each in (known, exact)]
            for one, other in zip(*tables, strict=True):
                largest = max(map(abs, other))
                assert max(abs(x - y) for x, y in zip(one, other, strict=True)) < 1e-10 * largest


def differences(values: list[float], table: list[Any]) -> list[list[Any]]:
    """Of products in both readout values, in one where there is only one."""
    rows = [row if isinstance(row, list) else [row] for row in table]
    found = divided_differences(values, rows)
    if len(rows[0]) == 1:
        return found
    products = [row[:-1] for row in found]
    turned = divided_differences(values, [list(column) for column in zip(*products, strict=True)])
    return [*turned, [row[-1] for row in found]]


@pytest.mark.parametrize(("activation", "steps"), [("tanh", 2), ("relu", 2), ("gelu", 3)])
def test_rows_are_those_that_double_precision_tells_apart(
    activation: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values 0.02 apart, as alike and as blocks of their own: differences have 13 digits of the rows."""
    given = model([0.9, 0.92], steps, activation)
    (alone,) = states_after_steps(given)[-1:]
    assert not alone.alike
    monkeypatch.setattr(alike_blocks, "NEAR", 0.5)
    renamed = model([0.9, 0.92], steps, activation, fit={"samples": 2.5, "ridge": 0.05})
    _states.cache_clear()
    (together,) = states_after_steps(renamed)[-1:]
    _states.cache_clear()
    assert together.alike
    for one, other in zip(numbers_of(alone), numbers_of(together), strict=True):
        assert other == pytest.approx(one, rel=1e-11, abs=1e-12 * float(np.abs(one).max()))


def numbers_of(state: LayerState) -> tuple[np.ndarray, ...]:
    loadings, overlaps = np.array(state.loadings), np.array(state.overlaps)
    return loadings @ loadings.T, loadings @ overlaps, np.array(state.bulk_variance)


@pytest.mark.parametrize(
    ("activation", "steps", "link"),
    [("tanh", 2, "sin"), ("relu", 2, "sin"), ("hard_tanh", 3, "sin"), ("cubic", 2, "abs")],
)
def test_errors_are_smooth_in_the_distance_of_values(activation: str, steps: int, link: str) -> None:
    """From values that double precision tells apart to those that it does not: what distances that double leave of a
    line is more than smaller ones do. The second step of cubic on an even label has a drift that is nothing but
    rounding.
    """
    target = {"link": link, "noise": NOISE}

    def error(apart: float) -> float:
        return gs.solve(model([0.9, 0.9 + apart], steps, activation, target=target)).test_error

    far, near, nearer = error(0.04), error(0.02), error(0.01)
    limit, bend = error(1e-9), abs(far - 3.0 * near + 2.0 * nearer)
    rounding = 4e-10 * limit  # of four errors, each solved to 1e-10
    assert limit == pytest.approx(2.0 * nearer - near, abs=bend + rounding)
    for apart in (1e-6, 1e-12):
        line = limit + apart * (nearer - limit) / 0.01
        assert error(apart) == pytest.approx(line, abs=apart / 0.01 * bend + rounding)


def test_opposite_values_that_no_step_moves() -> None:
    """Rows are alike after steps at no rate: values have their middle at zero, and features are those of one step."""
    given = model([0.75, -0.75], 2, "leaky_relu", step=[{"samples": 2.0, "learning_rate": 0.0}] * 2)
    one = given.replace({"step": [{"samples": 2.0, "learning_rate": 0.0}]})
    errors = [gs.solve(each, dimension=100).test_error for each in (given, one)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-10)
