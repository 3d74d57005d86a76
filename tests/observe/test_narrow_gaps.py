"""Narrow gaps of a spectrum, against the Stieltjes transform by an own continuation in the imaginary part."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import erf

import giantstep as gs

Array = np.ndarray
WIDTH = SAMPLES = 2.0


def _model(rate: float) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": "erf(z/sqrt(2))", "width": WIDTH},
            "target": {"link": "z + He(3,z)/6", "noise": 0.1},
            "fit": {"samples": SAMPLES, "ridge": 0.1},
            "step": {"samples": 4.0, "learning_rate": rate},
        }
    )


def _own_density(spectrum: gs.Spectrum, x: float) -> float:
    """From V2 = T/beta and the two equations of one block at ridge -x - i eps, eps from 10 down to 1e-12."""
    strength, (c,) = spectrum.spike.strength, spectrum.spike.bulk_variance
    points, weights = leggauss(160)
    kappa, g = 9.0 * points, 9.0 * points
    weight = 9.0 * weights * np.exp(-0.5 * kappa**2) / np.sqrt(2.0 * np.pi)
    values = erf((strength * kappa[:, None] + np.sqrt(c) * g) / np.sqrt(2.0))
    mean, slope = values @ weight, values @ (weight * g)
    rest = (values - mean[:, None] - slope[:, None] * g) ** 2 @ weight
    found = np.zeros(2, dtype=complex)
    for eps in (*np.geomspace(10.0, 1e-3, 30), *np.geomspace(1e-3, 1e-12, 30)):
        ridge = -x - 1j * eps
        found = found if found.any() else np.full(2, 1.0 / ridge)

        def residual(v: Array, ridge: complex = ridge) -> Array:
            h = weight / (1.0 + slope**2 * v[1] + rest * v[0])
            h1, h2 = SAMPLES / WIDTH * np.array([h @ slope**2, h @ rest])
            t = WIDTH * v[0]
            return np.array([t * (ridge + h2 + h1 / (1.0 + h1 * t)) - WIDTH, v[1] * (1.0 + h1 * t) - v[0]])

        for _ in range(100):
            here, steps = residual(found), 1e-7 * np.abs(found)
            matrix = np.stack([(residual(found + d * e) - here) / d for d, e in zip(steps, np.eye(2), strict=True)]).T
            move = np.linalg.solve(matrix, here)
            found = found - move
            if np.max(np.abs(move / found)) < 1e-11:
                break
    return float(abs(found[0].imag) / np.pi)


@pytest.mark.parametrize("rate", [0.7, 1.0, 1.2])
def test_a_narrow_gap_is_found(rate: float) -> None:
    """From 5 % wide to 0.2 %: solutions that are followed along the axis go on beyond an edge, and tell a density."""
    spectrum = gs.spectrum(_model(rate))
    low, high = spectrum.bulks
    assert low.high.kind == high.low.kind == "edge"
    width = high.low.x - low.high.x
    assert 0.0 < width < 0.06 * high.low.x
    assert _own_density(spectrum, 0.5 * (low.high.x + high.low.x)) < 1e-6
    for x in (low.high.x - width, high.low.x + width):
        assert spectrum.density(x) == pytest.approx(_own_density(spectrum, x), rel=1e-6)
    assert [part.mass for part in spectrum.bulks] == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize(
    ("model", "intervals"),
    [
        # solutions next to an edge take many steps upwards; own Stieltjes transforms have as many intervals
        (gs.model("sigmoid", "z", width=1.52, samples=5.83, readout=[-1, 3], learning_rate=1.21, step_samples=3.52), 2),
        (gs.model("softplus", width=4.64, samples=0.37, learning_rate=0.958, step_samples=1.31, noise=1.0), 1),
        # a density that falls off slowly towards zero: it ends where it is last seen
        (gs.model("relu", "tanh", width=0.8, samples=0.5, learning_rate=2.0), 1),
    ],
)
def test_all_mass_is_found(model: gs.Model, intervals: int) -> None:
    spectrum = gs.spectrum(model)
    assert len(spectrum.bulks) == intervals
    masses = spectrum.mass_at_zero + spectrum.unresolved + sum(part.mass for part in spectrum.bulks)
    assert masses == pytest.approx(1.0, abs=1e-6)
