"""States of the first layer that two ways give: what of them can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from giantstep.law.layer_state import LayerState

Array = np.ndarray
ROUNDING = 1e-10  # of states that two ways give: the tolerance of their quadrature is 1e-11


def readout(*values: float) -> dict[str, Any]:
    """Values of equal fractions, as [network] has them."""
    return {"readout": {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}}


def invariants(state: LayerState) -> tuple[Array, Array, Array]:
    """What does not depend on the choice of orthonormal directions."""
    loadings, overlaps = np.array(state.loadings), np.array(state.overlaps)
    return loadings @ loadings.T, loadings @ overlaps, np.array(state.bulk_variance)


def same(found: LayerState, wanted: LayerState, tolerance: float = ROUNDING) -> None:
    """Assert that two states are those of the same rows."""
    for one, other in zip(invariants(found), invariants(wanted), strict=True):
        assert one == pytest.approx(other, rel=tolerance, abs=tolerance * float(np.abs(other).max()))
