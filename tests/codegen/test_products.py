"""Large products and inverses by linear algebra are those of the compiled loops and of einsum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generated.runtime import evaluation, products
from generated.runtime.array_steps import multiplied
from generated.runtime.evaluation import Numbers, Stage
from generated.systems import neurons

ROUNDING = 1e-12  # of sums of 40 terms of size one


@pytest.mark.parametrize("spec", ["ij,jk->ik", "bij,bkj->bik", "aij,jb->iab", "ij,kj->ki", "zij,zjk->kzi", "ijk,kj->i"])
def test_against_einsum(spec: str) -> None:
    draw, lengths = np.random.default_rng(0), dict(zip("ijkabz", range(3, 9), strict=True))
    (first, second), kept = spec.split("->")[0].split(","), spec.split("->")[1]
    one, other = (draw.normal(size=[lengths[a] for a in own]) for own in (first, second))
    found = products.Product(first, second, kept).of(one, other)
    np.testing.assert_allclose(found, np.einsum(spec, one, other), atol=ROUNDING)


def test_what_is_no_product_of_matrices() -> None:
    """A diagonal, an axis of one array alone that is summed, an axis that is left out of both."""
    for first, second, kept in (("ii", "ij", "ij"), ("ijk", "jl", "il"), ("ij", "jk", "ikl")):
        assert not products.Product(first, second, kept).plain
    lengths = dict.fromkeys("ijk", 200)
    assert products.Product("ij", "jk", "ik").large(lengths)
    assert not products.Product("ij", "ij", "ij").large(lengths)
    assert not products.Product("ij", "jk", "ik").large({**lengths, "i": 2})


def test_products_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    arrays = [draw.normal(size=size) for size in ((2, 6, 7), (2, 6), (2, 7, 8))]
    names, lengths = ["zij", "zi", "zjk"], {"z": 2, "i": 6, "j": 7, "k": 8}
    plain = multiplied(names, "zik", lengths)(*arrays)
    monkeypatch.setattr("generated.runtime.array_steps.LARGE", 1)
    monkeypatch.setattr(products, "LARGE", 1)
    np.testing.assert_allclose(multiplied(names, "zik", lengths)(*arrays), plain, atol=ROUNDING)


@pytest.mark.parametrize("kind", [float, complex])
def test_stages_with_large_pieces_and_without(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tangents of the equations of 12 neurons, everything in loops and as much as possible by linear algebra."""

    def tangents(large: int, matrix: int) -> tuple[dict[str, Any], int]:
        monkeypatch.setattr(products, "LARGE", large)
        monkeypatch.setattr(evaluation, "LARGE_MATRIX", matrix)
        of, draw = neurons.tangents.contractions, np.random.default_rng(2)
        matrices = ("gram", "unit_G", *(f"law_{pair}" for pair in ("vv", "vo", "oo", "vn", "on", "nn")))
        shapes = dict.fromkeys(of.families, (5,)) | dict.fromkeys(neurons.UNKNOWNS, (2,))
        shapes |= {"Q1": (2, 2), "V1": (2, 2), "member": (2, 12)} | dict.fromkeys(matrices, (12, 12))
        columns = len(neurons.COLUMNS) + 2 * len(of.features)
        node, parameters = draw.uniform(0.5, 1.0, (columns, 5)), np.array([1.0, 0.8, 0.3, 0.1, 0.02])
        numbers = Numbers(of, node, np.array([0.5, 0.5]), parameters, shapes, 3, kind)
        for name, shape in shapes.items():
            numbers[name] = draw.uniform(0.5, 1.0, shape)
        rows = draw.normal(size=(12, 15)) / 4.0
        numbers.update(gram=rows @ rows.T, unit_G=np.eye(12), member=np.repeat(np.eye(2), 6, axis=1))
        moves = {f"d_{name}": draw.normal(size=(*shapes[name], 3)) for name in neurons.UNKNOWNS}
        names = tuple(f"d_residual_{name}" for name in neurons.UNKNOWNS)
        stage = Stage(of, names)
        numbers.update(moves)
        numbers.layout.pieces.clear()
        numbers.run(stage)
        pieces = numbers.layout.pieces.pop(stage)
        return {name: numbers[name].copy() for name in names}, sum(isinstance(p, evaluation.Large) for p in pieces)

    (plain, none), (found, some) = tangents(10**9, 10**9), tangents(1, 4)
    assert none == 0 and some >= 10
    for name, values in plain.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-11, atol=1e-11 * np.abs(values).max())
