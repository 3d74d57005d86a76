"""The best estimator of labels of two indices that take few values: flips, noise and neither, at all overlaps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import giantstep as gs
from giantstep.observe.optimal.few_values import gap
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import is_mirrored, threshold_of_rest
from giantstep.observe.optimal.told import fine, fine_along, first_of, information
from giantstep.spec.model import Target
from tests.observe.test_optimal import model

CIRCLE = "sign(z1**2 + z2**2 - 1)"


def of_circle(q: float, noise: float, flips: float) -> float:
    """E[E[t|y]^2] of an index: by the radius of kappa, and that of z with Bessel's functions."""
    known, rest = math.sqrt(q), math.sqrt(1.0 - q)
    x, weight = np.polynomial.legendre.leggauss(12)
    ends = np.unique(np.clip([*np.linspace(0, 9, 31), *(1.0 + rest * np.linspace(-9, 9, 41)) / known], 0.0, 9.0))
    half, middle = 0.5 * np.diff(ends)[:, None], 0.5 * (ends[1:] + ends[:-1])[:, None]
    radius, share = (middle + half * x).ravel(), (half * weight).ravel()
    place = known * radius
    low, high = np.clip(place - 9.0 * rest, 0.0, 1.0), np.clip(place + 9.0 * rest, 0.0, 1.0)
    x, weight = np.polynomial.legendre.leggauss(120)
    s = 0.5 * (high + low)[:, None] + 0.5 * (high - low)[:, None] * x
    density = 0.5 * (high - low)[:, None] * weight * s / rest**2
    density *= np.exp(-0.5 * ((s - place[:, None]) / rest) ** 2)
    even, odd = (bessel(s * place[:, None] / rest**2) for bessel in (special.i0e, special.i1e))
    inside, first = (density * even).sum(axis=1), (density * (s * odd - place[:, None] * even)).sum(axis=1) / rest
    chance = flips + (1.0 - 2.0 * flips) * np.clip([inside, 1.0 - inside], 0.0, 1.0)
    if noise:
        spread = math.sqrt(noise)
        y = np.arange(-1.0 - 9.0 * spread, 1.0 + 9.0 * spread, 0.1 * spread)
        bells = np.exp(-0.5 * ((y - np.array([[-1.0], [1.0]])) / spread) ** 2) * (0.1 / math.sqrt(2.0 * math.pi))
        slope = ((bells[1] - bells[0]) ** 2 / (chance.T @ bells)).sum(axis=1)
    else:
        slope = (1.0 / np.maximum(chance, 1e-200)).sum(axis=0)
    told = (1.0 - 2.0 * flips) ** 2 * first**2 * slope * (chance.min(axis=0) > 1e-13)
    return 0.5 * float(share * radius * np.exp(-0.5 * radius**2) @ told)


@pytest.mark.parametrize("q", [0.3, 0.97, 0.9999])
@pytest.mark.parametrize(("noise", "flips"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1), (0.1, 0.1)])
def test_a_jump_on_a_circle(q: float, noise: float, flips: float) -> None:
    """Finer nodes have what tails cut off would leave: 1e-5 where they were cut at five widths."""
    target = Target(CIRCLE, noise=noise, flips=flips)
    told = information(target, q * np.eye(2), first_of(target).more_labels().more_kappa().more_kappa())
    assert told == pytest.approx(of_circle(q, noise, flips) * np.eye(2), rel=3e-6, abs=1e-9)


@pytest.mark.parametrize(
    "given",
    [{"flips": 0.1}, {"noise": 0.05, "flips": 0.1}, {"probit": 0.3, "flips": 0.2}],
    ids=["flips", "noise", "probit"],
)
@pytest.mark.parametrize("link", ["sign(z1 + 2*z2 - 0.5)", "sign(z1 + 2*z2)*sign(z1*z1 + 1)"])
def test_a_line_is_a_sign_of_one_index(link: str, given: dict[str, float]) -> None:
    """Along the normal as a label of that index, beside it nothing."""
    normal, q = np.array([1.0, 2.0]) / math.sqrt(5.0), 0.9
    target = Target(link, **given)  # type: ignore[arg-type]
    one = Target(link[: link.index(")") + 1].replace("z1 + 2*z2", "2.23606797749979*z"), **given)  # type: ignore[arg-type]
    told = information(target, q * np.eye(2), first_of(target).more_labels().more_kappa().more_kappa())
    wanted = information(one, np.array([[q]]), first_of(one).more_kappa())[0, 0] * np.outer(normal, normal)
    assert told == pytest.approx(wanted, abs=2e-6 * wanted.max())


def test_few_values_without_noise_are_those_with_little() -> None:
    assert gap("sign(z1) + sign(z1 + z2)") == pytest.approx(2.0)
    assert gap("z1*z2") == 0.0
    exact, noisy = (gs.optimal(model("sign(z1) + sign(z2)", 20.0, noise=noise)) for noise in (0.0, 1e-3))
    assert exact.mean_overlap is not None and exact.mean_overlap > 0.96
    assert exact.mean_overlap == pytest.approx(noisy.mean_overlap, abs=1e-6)
    assert exact.test_error == pytest.approx(noisy.test_error, abs=1e-6)


def test_a_mirror_image_tells_that_nothing_is_seen() -> None:
    half = math.sqrt(0.5)
    assert is_mirrored("max(z1, z2)**2", (half, -half)) and not is_mirrored("max(z1, z2)**2", (half, half))
    target = Target("relu(z1)*relu(z2)", noise=0.1)
    known, axis = 0.5 * np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([[half, -half]])
    few, many = (threshold_of_rest(Sought(target), known, axis, of(target)).samples for of in (fine_along, fine))
    assert few == pytest.approx(many, rel=1e-5) and few > 0.0


def test_labels_that_rarely_vary_are_not_followed() -> None:
    """Eight of a hundred places show that the label varies: it was taken for one of few values, and never settled."""
    with pytest.raises(gs.NotConverged, match="varies and has no noise"):
        gs.optimal(model("sign(z1) + max(0, z1 + z2 - 2)", 4.0))


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_labels_that_vary_with_three_indices_are_refused_at_once(noise: float) -> None:
    """No noise helps there: the hint to give some led to another refusal, and that to one for memory."""
    try:
        hint = gs.optimal(model("z1/2 + z2*z3", 4.0, noise=noise)).hint
    except gs.NotConverged as error:
        hint = error.hint
    assert "one index or two" in hint and "noise" not in hint
    assert gs.optimal(model("sign(z1*z2*z3)", 4.0)).test_error is not None
