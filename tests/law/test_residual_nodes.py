"""The law of the step's residual for links of two indices, against the law of the product of two Gaussians."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import k0, k1, ndtr

from giantstep.law import residual_nodes as module
from giantstep.law.residual_given_kappa import residuals_given
from giantstep.law.residual_nodes import residual_nodes
from giantstep.spec.model import Target

SETTLED = 1e-10  # of the averages that decide
AVERAGES = {
    "1": (lambda x: k0(x) / math.pi, 1.0),
    "t1*t2": (lambda x: x * k0(x) / math.pi, -1.0),
    "t1**2": (lambda x: x * k1(x) / math.pi, 1.0),
}  # densities of x = z1*z2 at x > 0 with these averaged in, and the sign of what x < 0 adds to them


@pytest.mark.parametrize("link", ["tanh", "sin"])
@pytest.mark.parametrize("averaged", list(AVERAGES))
def test_law_of_a_function_of_the_product_of_two_indices(link: str, averaged: str) -> None:
    """An average with a pole as near to the axis as any that is taken: z1*z2 has the density K_0(|x|)/pi."""
    law, pole, function = residual_nodes(Target(link=f"{link}(z1*z2)"), 0.0, 60), 0.5, getattr(math, link)
    density, sign = AVERAGES[averaged]
    weight = {"1": law.weight, "t1*t2": law.weight_tt[0, 1], "t1**2": law.weight_tt[0, 0]}[averaged]

    def integrand(x: float) -> float:
        e = function(x)
        even, odd = pole / (e * e + pole**2), e / (e * e + pole**2)
        return 2.0 * density(x) * (even if sign > 0.0 else odd)

    expected = quad(integrand, 0.0, 1.0, epsabs=1e-13)[0] + quad(integrand, 1.0, 40.0, epsabs=1e-13, limit=400)[0]
    found = weight @ ((pole if sign > 0.0 else law.e) / (law.e**2 + pole**2))
    assert found == pytest.approx(expected, abs=10 * SETTLED)


def test_points_are_taken_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many a link asks for, smooth or with kinks: what is held of them stays small."""
    held: list[int] = []
    at_points = module._at_points

    def counted(*given: object) -> object:
        held.append(len(np.asarray(given[-1])))
        return at_points(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_at_points", counted)
    monkeypatch.setattr(module, "_CHUNK", 10_000)
    for link in ("tanh(z1 + z2)", "abs(z1) + z2"):
        held.clear()
        residual_nodes(Target(link=link), 0.125, 20)
        assert sum(held) > 4 * module._CHUNK
        assert max(held) <= module._CHUNK


@pytest.mark.parametrize("flips", [0.0, 0.2])
def test_residuals_of_a_sign_given_kappa_are_two_points(flips: float) -> None:
    """Averages with 1, t and t^2 of both labels, which a normal density between the jumps gives in closed form."""
    alignment, kappa, output = 0.6, np.linspace(-3.0, 3.0, 7), 0.3
    target, shares = Target(link="sign", flips=flips), np.full(7, 1.0 / 7.0)
    which, e, rows = residuals_given(target, ((alignment,),), kappa[:, None], np.full(7, output), shares, 25)
    assert np.bincount(which).tolist() == [2] * 7
    jump = -alignment * kappa / math.sqrt(1.0 - alignment**2)
    above, density = ndtr(-jump), np.exp(-0.5 * jump**2) / math.sqrt(2.0 * math.pi)
    of_one = np.array([above, density, above + jump * density])  # where the sign is one
    of_other = np.array([1.0, 0.0, 1.0])[:, None] - of_one
    for label, mine, other in ((1.0, of_one, of_other), (-1.0, of_other, of_one)):
        here = np.abs(e - (label - output)) < 1e-14
        assert rows[:, here] == pytest.approx((1.0 - flips) * mine + flips * other, abs=1e-13)
