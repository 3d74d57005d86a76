"""Several indices that are known alike: which they are, other rules for what labels tell, and points as they were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf
from scipy.stats import norm
from told_by_sums import told_by_sums

import giantstep as gs
from giantstep.observe.optimal.error import least_error
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.parity import size_of, told_by_parity
from giantstep.observe.optimal.symmetry import is_alike
from giantstep.observe.optimal.told import told
from giantstep.observe.optimal.two import told_by_pairs
from giantstep.spec.model import Target


@pytest.mark.parametrize("link", ["z", "z1*z2", "z1**2 + z2**2", "z1**2 - z2**2", "tanh(z1)*tanh(z2)"])
def test_links_that_treat_indices_alike(link: str) -> None:
    assert is_alike(Target(link, noise=0.1))


@pytest.mark.parametrize("link", ["z1 + z2**2", "z1**3*z2", "z1 + z2", "z1*z2 + z1", "z1 + 2*z2"])
def test_links_that_do_not(link: str) -> None:
    """z1 + z2 may swap its indices, which an overlap of one with the other survives."""
    assert not is_alike(Target(link, noise=0.1))


@pytest.mark.parametrize("link", ["sign(z1*z2)", "-2*sign(z1)*sign(z2)", "sign(z1*z2*z3)"])
def test_products_of_signs(link: str) -> None:
    size = size_of(Target(link))
    assert size == (2.0 if "2*sign" in link else 1.0) and is_alike(Target(link))
    assert size_of(Target("sign(z1+z2)")) is None and size_of(Target(link, noise=0.1)) is None


@pytest.mark.parametrize("more", [{}, {"flips": 0.1}, {"probit": 0.3}])
@pytest.mark.parametrize("q", [0.3, 0.7])
def test_what_products_of_signs_tell(more: dict[str, Any], q: float) -> None:
    """Against nodes of t between jumps, right to what they change on finer ones."""
    target, known = Target("sign(z1*z2)", **more), q * np.eye(2)
    rough, fine = (told(target, known, Fineness(kappa)).information for kappa in (18, 27))
    close = 3.0 * float(np.max(np.abs(fine - rough))) + 1e-9
    assert close < 1e-5
    np.testing.assert_allclose(told_by_parity(target, q, Fineness()) * np.eye(2), fine, rtol=0, atol=close)


@pytest.mark.parametrize("q", [0.2, 0.6])
def test_errors_of_products_of_signs(q: float) -> None:
    """1 - (E s^2)^2 times the size squared, and (1 - (E |s|)^2)/2, s the mean of a sign given kappa."""
    target = Target("-2*sign(z1*z2)", probit=0.2)
    slope = math.sqrt(q / (1.0 - q) / 2.0)
    square = 2.0 * quad(lambda k: norm.pdf(k) * erf(slope * k) ** 2, 0.0, 12.0, epsabs=1e-13)[0]
    size = 2.0 * quad(lambda k: norm.pdf(k) * erf(slope * k), 0.0, 12.0, epsabs=1e-13)[0]
    for by_sign, error in ((False, 4.0 * (1.0 - square**2)), (True, 0.5 * (1.0 - size**2))):
        assert least_error(target, q * np.eye(2), Fineness(), by_sign) == pytest.approx(error, abs=1e-11)


def test_three_signs_that_are_nearly_known() -> None:
    """Of each sign the other two are known: (1 - q)^(1/2) times what one sign tells there."""
    few = 1e-8
    ratio = told_by_parity(Target("sign(z1*z2*z3)"), 1.0 - few, Fineness()) / math.sqrt(few)
    other = told(Target("sign"), np.array([[1.0 - few]]), Fineness()).information[0, 0] / math.sqrt(few)
    assert ratio == pytest.approx(other, rel=2e-3)


@pytest.mark.parametrize(
    ("link", "known"),
    [
        ("z1*z2", np.diag([0.4, 0.4])),
        ("z1 + z1*z2/2", np.diag([0.5, 0.2])),
        ("tanh(z1) + z2", np.diag([0.1, 0.6])),
    ],
)
def test_what_noisy_labels_of_two_indices_tell(link: str, known: np.ndarray) -> None:
    """Both are cut off at 5.5 deviations or beyond, whose squares weigh 1e-5."""
    found = told_by_pairs(Target(link, noise=0.5), known, Fineness(kappa=18))
    np.testing.assert_allclose(found, told_by_sums(link, 0.5, known, (27, 45)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("q", [0.3, 0.99, 1.0 - 1e-6])
def test_a_linear_label_of_two_indices(q: float) -> None:
    """z1 + z2 tells (1 - q)/(2 (1 - q) + noise) of each index and of both together."""
    found = told_by_pairs(Target("z1 + z2", noise=0.2), q * np.eye(2), Fineness())
    exact = (1.0 - q) / (2.0 * (1.0 - q) + 0.2)
    np.testing.assert_allclose(found, exact * np.ones((2, 2)), rtol=1e-5)


def plain(link: str, samples: float, **target: Any) -> gs.Model:
    fit, network = {"samples": samples, "ridge": 0.1}, {"activation": "tanh", "width": 1.0}
    return gs.Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit})


def test_signs_of_two_indices() -> None:
    """The overlap by the iteration of both indices, as it was: .2905946 at 3.1 samples; errors in closed form."""
    found = gs.optimal(plain("sign(z1*z2)", 3.1))
    assert found.mean_overlap == pytest.approx(0.2905946, abs=1e-5) and found.error < 1e-6
    assert found.mean_overlap is not None
    assert found.test_error == pytest.approx(1.0 - (2.0 / math.pi * math.asin(found.mean_overlap)) ** 2, abs=1e-8)
    assert gs.optimal(plain("sign(z1*z2)", 2.46)).mean_overlap == 0.0


@pytest.mark.slow
def test_a_noisy_product_at_other_samples() -> None:
    """The overlap by the iteration of both indices, as it was before, to its error of 2e-5; errors are 1 - q^2."""
    for samples, overlap in ((2.0, 0.64112), (1.3, 0.29835), (3.1, 0.87054)):
        found = gs.optimal(plain("z1*z2", samples, noise=0.1))
        assert found.mean_overlap is not None and found.mean_overlap == pytest.approx(overlap, abs=3e-5)
        assert found.transitions == ()
        assert found.test_error == pytest.approx(1.0 - found.mean_overlap**2, abs=2e-5)
