"""Places on a line where the centre of the output passes a kink of the loss, found between the points of a grid."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.quadrature.crossings import Search, crossings_of

SEARCH, WIDTH = Search(97, (-4.0, 0.0, 4.0)), 1e-8


def places(lowest: float, steep: float = 1.0) -> np.ndarray:
    """Those of u = steep (t - 1.03)^2 + lowest, of both signs, on two lines."""

    def distances(t: np.ndarray, line: np.ndarray) -> np.ndarray:
        return (steep * (t - 1.03) ** 2 + lowest)[None] * np.where(line == 0, 1.0, -1.0)[:, None]

    return crossings_of(distances, np.full(2, WIDTH), SEARCH)


@pytest.mark.parametrize("depth", [1e-3, 1e-5, 4e-7])
def test_two_crossings_between_two_points_of_the_grid_are_both_found(depth: float) -> None:
    """Averages of a loss with kinks, over labels that turn back just behind the output, were off by 1e-3 for want of
    one of them.
    """
    for found in places(-depth):
        root = np.sqrt(depth)
        away = 4.0 * WIDTH / (2.0 * root)  # spreads to either side, in t
        for place in (1.03 - root, 1.03 + root):
            for edge in (place - away, place, place + away):
                assert np.nanmin(np.abs(found - edge)) < 0.1 * away


def test_a_label_that_turns_back_before_the_output_has_edges_where_it_is_nearest() -> None:
    for found in places(0.5 * WIDTH):
        assert np.nanmin(np.abs(found - 1.03)) < 0.1 * np.sqrt(WIDTH)
    assert np.isnan(places(50.0 * WIDTH)).all()  # too far away to be felt
