"""What the second quadrature is made of, against closed forms: moments, special functions, maps of losses."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp
from certified_models import SPIKED
from scipy.special import ndtr

from derive.gaussian.special import InverseMillsRatio, LogNormalCdf, NormalCdf, TruncatedMean
from derive.language.loss_catalogue import REGISTERED
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Model
from giantstep.system.solve import solve
from giantstep.verify.certificate import certificate
from giantstep.verify.conditional_law import LabelLaw, feature_moments
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.lambdified import numpy_of
from giantstep.verify.loss_curve import curve_of


def test_moments_by_definition() -> None:
    """relu and the label sign by their closed forms. Source: THEORY section 3."""
    s, c = np.array([-3.0, 0.4, 6.0]), 1.7
    z = s / np.sqrt(c)
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    mu0, mu1, mu2sq = feature_moments("relu", s, c)
    assert np.allclose(mu0, s * ndtr(z) + np.sqrt(c) * density, rtol=1e-13)
    assert np.allclose(mu1, np.sqrt(c) * ndtr(z), rtol=1e-13)
    square = (s * s + c) * ndtr(z) + s * np.sqrt(c) * density
    assert np.allclose(mu2sq, square - mu0**2 - mu1**2, atol=1e-12)
    law = LabelLaw("sign", np.array([[0.8]]), 0.3, 0.0)
    kappa = np.array([-1.0, 0.2])
    _, weight, label = law.nodes(kappa, 0.5)
    assert np.allclose((weight * label).sum(axis=1), 2.0 * ndtr(0.8 * kappa / np.sqrt(0.36 + 0.3)) - 1.0, rtol=1e-12)


def test_special_functions_are_those_of_the_derivation() -> None:
    """What gelu and the probit loss are made of, far out as well."""
    z = sp.Symbol("z", real=True)
    places = np.array([-900.0, -61.0, -59.0, -20.0, -1.5, 0.3, 4.0, 40.0])
    for special in (NormalCdf, LogNormalCdf, InverseMillsRatio, TruncatedMean):
        wanted = [float(sp.N(special(sp.Rational(x)), 30)) for x in places]
        assert np.allclose(numpy_of(special(z), (z,))(places), wanted, rtol=2e-12, atol=1e-300), special


@pytest.mark.parametrize("name", REGISTERED)
def test_every_registered_loss_has_an_envelope_in_doubles(name: str) -> None:
    loss = FitLoss(name)
    curve = curve_of(loss, {"margin": 1.0, "residual": 0.0}.get(loss.form, 0.7))
    omega = np.linspace(-4.0, 4.0, 81)[None]
    _, envelope, g, _ = (found[0] for found in curve.moreau(omega, np.array([0.7])))
    slopes = np.gradient(envelope, omega[0], edge_order=2)
    assert np.max(np.abs(slopes + g)) < 0.05 * np.max(np.abs(g))


def test_the_map_beside_an_infinite_curvature() -> None:
    """|u|^1.5: x + 1.5 V sqrt(x) = omega is a quadratic equation in sqrt(x)."""
    curve = curve_of(SPIKED.replace({"fit.loss": "abs(y-f)**1.5"}).fit.loss, 0.0)
    omega, response = 10.0 ** np.arange(-12.0, 3.0), np.array([3e-6, 0.2, 8.0])
    v = response[:, None]
    root = 2.0 * omega / (1.5 * v + np.sqrt(2.25 * v**2 + 4.0 * omega))
    for side in (-1.0, 1.0):
        loss, _, g, h = curve.moreau(side * np.broadcast_to(omega, (3, len(omega))), response)
        assert loss == pytest.approx(root**3, rel=1e-12)
        assert g == pytest.approx(-side * 1.5 * root, rel=1e-12)
        assert h == pytest.approx(1.0 / (v + root / 0.75), rel=1e-12)


def test_the_map_of_an_exponential_far_out() -> None:
    """x + W(V exp(-x)) of Lambert; a bracket that begins at V exp(300) was not halved to its end."""
    omega, v = np.array([[-300.0, -90.0, -20.0, -1.0, 3.0]]), 1e5
    loss, _, g, _ = curve_of(FitLoss("exponential"), 1.0).moreau(omega, np.array([v]))
    wanted = omega + [float(mpmath.lambertw(v * mpmath.exp(-x))) for x in omega[0]]
    assert loss == pytest.approx(np.exp(-wanted), rel=1e-10)
    assert g == pytest.approx(np.exp(-wanted), rel=1e-10)


def test_means_that_are_rounding_of_their_features_are_not_judged() -> None:
    """Features of `sin` beside a bulk variance of 149 have means of 1e-33, which the quadrature takes for zero."""
    model = Model.from_dict(
        {
            "network": {"activation": "sin", "width": 0.3, "readout": {"values": [1.2, -0.1], "fractions": [0.5, 0.5]}},
            "spike": {"strength": 1.7, "alignment": 0.2, "bulk_variance": [149.0, 1.5]},
            "target": {"link": "step"},
            "fit": {"samples": 0.6, "ridge": 1e-3},
        }
    )
    with pytest.raises(NotEvaluable, match="rounding makes"):
        certificate(solve(model))
