"""Samples of several steps on fewer nodes: their averages are those on all of them, at any response of the rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import giantstep as gs
from giantstep.law import fewer_samples
from giantstep.law.rows_of_blocks import RowsOfBlocks
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.problem import problem_of

Array = np.ndarray
NODES = 28
CASES = {
    "three steps, relu": ("relu", (1.0,), "tanh", 3, 110),
    "noise, no bound": ("gelu", (1.0,), "z + He(2,z)/2", 2, 180),
    "two values": ("tanh", (1.0, -0.5), "sign", 2, 34),
}


def rows(name: str) -> RowsOfBlocks:
    activation, values, link, steps, _ = CASES[name]
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.6, "readout": readout},
        "step": [{"samples": 3.0, "learning_rate": 1.2, "bulk": "trained"}] * steps,
        "target": {"link": link, "noise": 0.1 * ("noise" in name)},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    return rows_of_blocks(problem_of(gs.Model.from_dict(tables)))


def responses(blocks: int) -> list[Array]:
    """Products V1_hat T, weaker and stronger ones than those that functions are drawn at among them."""
    draw = np.random.default_rng(5)
    found = []
    for size in (1e-4, 0.3, 20.0, 1e7):
        root = draw.normal(size=(blocks, blocks))
        found.append(size * (root @ root.T + 0.1 * np.eye(blocks)) * draw.uniform(0.3, 1.0, blocks))
    return found


def averages(arrays: Mapping[str, Array], response: Array) -> tuple[list[Array], list[Array]]:
    """What is averaged of the samples of every step, at X by some sweeps on these nodes; and of absolute values."""
    blocks, own, base = len(response), arrays["own_rows"], arrays["base"]
    steps = [np.flatnonzero(each) for each in arrays["of_step"]]
    inverse = np.zeros_like(base)
    inverse[:blocks, :blocks] = np.linalg.inv(response)
    x = base
    for _ in range(12):
        mean, wanted = np.linalg.inv(x + inverse), base
        at = [rows @ mean @ rows.T for rows in own]
        added = [present(arrays["sample"][..., nodes], here) for nodes, here in zip(steps, at, strict=True)]
        for rows, nodes, each in zip(own, steps, added, strict=True):
            wanted = wanted + rows.T @ (each @ arrays["law_tr"][nodes]) @ rows
        x = 0.5 * (x + wanted)
    found, sizes = [], []
    for nodes, here, each in zip(steps, at, added, strict=True):
        sums = np.concatenate([arrays["along"][..., nodes], arrays["earlier"][..., nodes]])
        seen = sums - np.einsum("pqn,qr,frn->fpn", each, here, sums)
        met = np.einsum("fpn,pq,gqn->fgn", seen, here, sums)
        second = np.einsum("pqn,rsn->pqrsn", each, each)
        for weights, values in (("law_along", each), ("law_tr", second), ("law_t", seen), ("law_own", met)):
            weight = np.atleast_2d(arrays[weights])[:, nodes]
            found.append(values.reshape(-1, len(nodes)) @ weight.T)
            sizes.append((np.abs(values.reshape(-1, len(nodes))) @ np.abs(weight.T)).max())
    return found, sizes


def present(sample: Array, mean: Array) -> Array:
    """k (1 + Res k)^-1 of every sample."""
    k = np.moveaxis(sample, 2, 0)
    return np.moveaxis(k @ np.linalg.inv(np.eye(len(mean)) + mean @ k), 0, 2)


@pytest.mark.parametrize("name", CASES)
def test_averages_are_those_of_all_nodes(name: str) -> None:
    """To 1e-10 of the averages of absolute values, on a part of the nodes."""
    of = rows(name)
    every, few = of.all_samples(NODES), of.samples(NODES)
    assert all(np.count_nonzero(step) % 8 == 0 for step in few["of_step"])  # what is laid out serves other rows
    assert few["sample"].shape[-1] < CASES[name][-1] * len(few["of_step"]) < every["sample"].shape[-1]
    for response in responses(len(of.variances)):
        (wanted, sizes), (found, _) = averages(every, response), averages(few, response)
        worst = [np.abs(a - b).max() / size for a, b, size in zip(found, wanted, sizes, strict=True) if size > 0.0]
        assert max(worst) < 1e-10, (response, worst)


def test_samples_that_are_few_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they cost equations is less than what it takes to have fewer."""
    arrays = rows("two values").all_samples(NODES)
    monkeypatch.setattr(fewer_samples, "_LITTLE", arrays["sample"].size)
    found = fewer_samples.fewer_samples(arrays)
    assert all(found[name] is arrays[name] for name in arrays)


def test_functions_are_drawn_until_they_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few are drawn at first, all of them are independent, and more are needed."""
    arrays = rows("two values").all_samples(NODES)
    wanted = fewer_samples.fewer_samples(arrays)["sample"].shape[-1]
    monkeypatch.setattr(fewer_samples, "_FUNCTIONS", 10)
    assert fewer_samples.fewer_samples(arrays)["sample"].shape[-1] == pytest.approx(wanted, abs=8)


def test_nodes_that_are_taken_a_few_at_a_time_have_the_same_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once need gigabytes of three readout values; sums of products are rounded."""
    arrays = rows("two values").all_samples(NODES)
    steps = [np.flatnonzero(own) for own in arrays["of_step"]]
    step = {name: arrays[name][..., steps[1]] for name in ("sample", "along", "earlier", *fewer_samples._WEIGHTS)}
    found = []
    for many in (5, 10**6):
        monkeypatch.setattr(fewer_samples, "_AT_A_TIME", many)
        draw = np.random.default_rng(0)
        met = fewer_samples._met(arrays, steps, draw)[1]
        found.append(fewer_samples._drawn(step, met, fewer_samples._sizes(step), 40, draw))
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-12 * np.abs(found[1]).max())
