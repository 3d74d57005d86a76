"""Links compared with themselves in other indices: what begins far out is seen."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.observe.optimal.few_values import gap
from giantstep.observe.optimal.one import _is_even
from giantstep.observe.optimal.thresholds import is_mirrored
from giantstep.spec.link import link_values
from giantstep.spec.probes import alike, is_multiple, places
from giantstep.system.vanishing_means import _turns_around


@pytest.mark.parametrize("far", ["max(z1-6,0)", "step(z1-7)", "1e-3*step(z2-5)"])
def test_a_part_that_begins_far_out_breaks_a_symmetry(far: str) -> None:
    """At places as likely as those of samples alone the link is what it is without."""
    assert _turns_around("z1*z2", 2, (0, 1)) and not _turns_around(f"z1*z2+{far}", 2, (0, 1))
    axis = (1.0, 0.0) if "z1" in far else (0.0, 1.0)
    assert is_mirrored("z1**2+z2**2", axis) and not is_mirrored(f"z1**2+z2**2+{far}", axis)
    near = slice(None, places(2).shape[1] // 2)
    likely = places(2)[:, near]
    assert np.array_equal(link_values(f"z1*z2+{far}")(likely), link_values("z1*z2")(likely))


def test_one_index() -> None:
    assert _is_even("z**2", False) and _is_even("z**3", True)
    assert not _is_even("z**2+max(z-7,0)", False) and not _is_even("z**3+step(z-7)", True)
    assert gap("sign(z1*z2)") == pytest.approx(2.0) and gap("sign(z1*z2)+0.5*step(z1-6)") == pytest.approx(0.5)


def test_values_that_grow_are_compared_by_their_own_sizes() -> None:
    large = np.exp(np.abs(places(2)[0]))
    moved = large.copy()
    moved[0] += 1e-6
    assert alike(large, large, 1e-12) and not alike(large, moved, 1e-12)


def test_places_where_both_overflow_say_nothing() -> None:
    """A kink exp(z1^3) - 2 does not move with z2: infinite less infinite counted as a move."""
    z, other = places(2)
    with np.errstate(over="ignore"):
        grown = np.exp(z**3) - 2.0
    assert not np.isfinite(grown).all()
    assert alike(grown, grown, 1e-13) and not alike(grown, np.where(np.isfinite(grown), grown, 0.0), 1e-13)
    assert is_multiple(grown, 3.0 * grown, 1e-13) and not is_multiple(grown, grown + other, 1e-13)
