"""Directions of a spike have no sign of their own: they get one that no basis, nor linear algebra, decides."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from giantstep.law.directions import directions_of, rows_of

LOADINGS = {
    "one large": np.array([[1.2, -0.3], [0.4, 0.9]]),
    "opposite": np.array([[1.0, -0.7], [-1.0, 0.7], [0.3, 0.1]]),  # whose largest loadings are of both signs
}


@pytest.mark.parametrize("loadings", LOADINGS.values(), ids=LOADINGS)
@pytest.mark.parametrize("overlaps", [[0.6, 0.3], [0.0, 0.0]], ids=["aligned", "beside"])
def test_signs_are_those_of_loadings(loadings: np.ndarray, overlaps: list[float]) -> None:
    """Whatever the signs and the order of the directions that were given."""
    gamma = np.array(overlaps)[:, None]
    wanted, along = directions_of(rows_of(loadings), rows_of(gamma)).reduced()
    if any(overlaps):
        assert along[0][0] > 0.0
    further = np.array(wanted)[:, 1]
    assert further[np.flatnonzero(np.abs(further) >= 0.5 * np.abs(further).max())[0]] > 0.0
    for signs, order in product(product((1.0, -1.0), repeat=2), ([0, 1], [1, 0])):
        turn = np.diag(signs)[order]
        found, _ = directions_of(rows_of(loadings @ turn.T), rows_of(turn @ gamma)).reduced()
        assert np.allclose(found, wanted, rtol=0.0, atol=1e-12)


def test_further_directions_are_principal_axes() -> None:
    """Two blocks that are nearly one load on the last direction by next to nothing, where few nodes are needed."""
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    loadings = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1e-6], [1.0, 2.0 + 1e-6, 0.0]]) @ turn
    found, along = directions_of(rows_of(loadings), rows_of(turn.T[:, :1] * 0.4), 1e-13).reduced()
    sizes = np.linalg.svd(np.array([[2.0, 0.0], [2.0, 1e-6], [2.0 + 1e-6, 0.0]]))[1]
    assert np.linalg.norm(np.array(found), axis=0) == pytest.approx([np.sqrt(3.0), *sizes], rel=1e-8)
    assert np.array(along)[:, 0] == pytest.approx([0.4, 0.0, 0.0], abs=1e-15)
