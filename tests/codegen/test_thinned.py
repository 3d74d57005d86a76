"""Contractions with factors that are mostly zero: the same numbers as with all zeros, by fewer products."""

from __future__ import annotations

import numpy as np
import pytest

from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.tangents import TangentEquations, Text
from generated.runtime.thinned import GATHER

Array = np.ndarray
# what is selected, placed, and belongs to a part of the samples; from both sides, added and subtracted
EQUATIONS = """
rows[p, q] = sum(sum(whole[k, l]*select[q, l], l)*select[p, k], k)
placed[i, j] = sum(sum(sum(place[e, p, i]*rows[p, q], p)*place[e, q, j], q), e)
mean[e, x] = (sum(sum(sum(placed[i, j]*place[e, q, j], q), j), i)*part[e, x]
    - sum(sum(select[e, l]*vary[l, x], l), x))
of[e, l] = sum(select[e, k]*whole[k, l], k)/3 - sum(part[e, x]*vary[l, x], x)
back[l, x] = sum(part[e, x]*of[e, l], e)
wide[a, e, b, c] = sum(select[e, k]*cube[a, k, c, b], k)
each[e, l, x] = part[e, x]*vary[l, x]
v[i] = v[i]*sum(sum(mean[e, x]*part[e, x], x)*rows[e, i], e) + sum(sum(select[i, l]*back[l, x], l), x)
    + sum(sum(sum(wide[a, i, b, c], a), b), c) + sum(sum(each[i, l, x], l), x)
"""
SIZES = {"select": (9, 12), "place": (9, 9, 40), "part": (9, 70), "whole": (12, 12), "vary": (12, 70), "v": (9,)}
SIZES["cube"] = 3, 12, 5, 4  # several indices that the factor does not have
STILL = ("select", "place", "part")
TANGENTS = TangentEquations(Text(EQUATIONS, ("v",), ("vary", "whole", "cube"), "", ""), ("kappa", "weight"), ())
STAGE = Stage(TANGENTS.contractions, ("rows", "placed", "mean", "of", "back", "wide", "each", "residual_v"))


def given(kind: type) -> dict[str, Array]:
    """Runs in the middle, at the ends and of single numbers."""
    draw = np.random.default_rng(3)
    found = {name: draw.normal(size=shape).astype(kind) for name, shape in SIZES.items()}
    found["select"] *= draw.uniform(size=SIZES["select"]) < 0.15
    found["place"] *= np.arange(40) == (5 * np.arange(9)[:, None] + np.arange(9))[..., None] % 40
    found["part"] *= (np.arange(70) // 20) == (np.arange(9) % 4)[:, None]
    if kind is complex:
        found["vary"] += 0.5j * draw.normal(size=SIZES["vary"])
    return found


def evaluated(arrays: dict[str, Array], kind: type, ways: int | None, names: tuple[str, ...]) -> Numbers:
    shapes = {name: values.shape for name, values in arrays.items()}
    still = {name: arrays[name] for name in names}
    node, parameters = np.ones((2, 1)), np.zeros(5)
    found = Numbers(TANGENTS.contractions, node, np.ones(9), parameters, shapes, ways, kind, still)
    found.update(arrays)
    return found


@pytest.mark.parametrize("kind", [float, complex])
def test_zeros_that_are_left_out_change_nothing(kind: type) -> None:
    arrays = given(kind)
    dense, thin = (evaluated(arrays, kind, None, names) for names in ((), STILL))
    for numbers in (dense, thin, thin):  # twice: what is added to is cleared before
        numbers.run(STAGE)
    for name in STAGE.results:
        assert np.abs(thin[name] - dense[name]).max() < 1e-13 * np.abs(dense[name]).max(), name
    gathered = [int((numbers.layout.part(STAGE)[:, 0] == GATHER).sum()) for numbers in (dense, thin)]
    assert gathered[0] == 0 < 4 <= gathered[1]


@pytest.mark.parametrize("ways", [1, 5])
def test_tangents_of_several_directions(ways: int) -> None:
    arrays, moved = given(float), ("d_vary", "d_whole", "d_cube", "d_v")
    stage = Stage(TANGENTS.contractions, ("d_residual_v",))
    found = []
    for names in ((), STILL):
        numbers = evaluated(arrays, float, ways, names)
        draw = np.random.default_rng(8)
        for name in moved:
            numbers[name] = draw.normal(size=numbers[name].shape)
        numbers.run(stage)
        found.append(numbers["d_residual_v"].copy())
    assert np.abs(found[1] - found[0]).max() < 1e-12 * np.abs(found[0]).max()


def test_the_zeros_are_those_of_the_arrays() -> None:
    """The same shapes with other zeros are another layout; a factor that vanishes has no runs, its result is zero."""
    arrays = given(float)
    others = [{"part": np.roll(arrays["part"], 10, axis=1)}, *({name: np.zeros(SIZES[name])} for name in STILL)]
    for other in ({}, *others):
        dense, thin = (evaluated({**arrays, **other}, float, None, names) for names in ((), STILL))
        for numbers in (dense, thin):
            numbers.run(STAGE)
        for name in STAGE.results:
            assert np.abs(thin[name] - dense[name]).max() <= 1e-13 * np.abs(dense[name]).max(), name


@pytest.mark.parametrize("kind", [float, complex])
def test_inverses_of_pairs(kind: type) -> None:
    """Many at a time, with a small first pivot among them."""
    text = "matrix_G[e, j, x] := a[e, j, x] - b[e, j]\n0 = sum(matrix_G[e, j, x]*G[i, e, x], e) - delta[i, j]\n"
    of = TangentEquations(Text(text + "v[i] = v[i]*sum(G[i, i, x], x)\n", ("v",), (), "", ""), ("kappa", "weight"), ())
    draw = np.random.default_rng(1)
    arrays = {"a": draw.normal(size=(2, 2, 30)).astype(kind), "b": np.zeros((2, 2), kind), "v": np.zeros(2, kind)}
    arrays["a"][0, 0, :3] = 0.0, 1e-9, -1e-15
    shapes = {name: values.shape for name, values in arrays.items()}
    numbers = Numbers(of.contractions, np.ones((2, 1)), np.ones(2), np.zeros(5), shapes, None, kind)
    numbers.update(arrays)
    numbers.run(Stage(of.contractions, ("G",)))
    wanted = np.moveaxis(np.linalg.inv(np.moveaxis(arrays["a"], 2, 0)), 0, 2)
    assert np.abs(numbers["G"] - wanted)[:, :, 3:].max() < 1e-12 * np.abs(wanted[:, :, 3:]).max()
    assert np.abs(numbers["G"] - wanted).max() < 1e-12 * np.abs(wanted).max()
