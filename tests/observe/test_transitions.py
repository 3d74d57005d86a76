"""Where the best estimator's overlap jumps: known values, free entropies by their definition, and single points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import erf, ndtr, xlogy

import giantstep as gs
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.told import fine
from giantstep.observe.optimal.transitions import Transition
from giantstep.quadrature.gauss import normal_nodes
from giantstep.spec.model import Model, Target

THREE = "sign(z)*sign(z**2-2)"  # +1 between -sqrt(2) and 0, and beyond sqrt(2)


def model(link: str, samples: float, **target: float) -> Model:
    network, fit = {"activation": "tanh", "width": 1.0}, {"samples": samples, "ridge": 0.1}
    return Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit})


def jump_of(link: str, **target: float) -> Transition:
    found = gs.optimal(model(link, 2.0, **target)).transitions
    assert found is not None and len(found) == 1
    return found[0]


def test_phase_retrieval() -> None:
    """Barbier et al. 2019: all is possible from n = d on, message passing finds it from 1.128 d on."""
    for link in ("z**2", "abs(z)"):
        jump = jump_of(link)
        assert jump.information == pytest.approx(1.0, abs=1e-12) and jump.after == 1.0
        assert jump.algorithmic == pytest.approx(1.128, abs=1e-3)


def free_entropy(q: float, samples: float) -> float:
    """Of the signs of THREE: samples E sum_y Z log Z + (q + log(1 - q))/2, Z = P(y | kappa)."""
    ends, root, width = (-math.sqrt(2.0), 0.0, math.sqrt(2.0)), math.sqrt(q), math.sqrt(1.0 - q)

    def density(kappa: float) -> float:
        first, middle, last = (float(ndtr((end - root * kappa) / width)) for end in ends)
        plus = middle - first + 1.0 - last
        return (
            math.exp(-0.5 * kappa**2) / math.sqrt(2.0 * math.pi) * float(xlogy(plus, plus) + xlogy(1 - plus, 1 - plus))
        )

    points = [end / root for end in ends]
    told, _ = integrate.quad(density, -10.0, 10.0, points=points, epsabs=1e-12, epsrel=1e-12, limit=400)
    return samples * float(told) + 0.5 * (q + math.log1p(-q))


def test_free_entropies_are_equal_where_it_jumps() -> None:
    """Their difference grows with the samples by what labels tell more: samples right to 1e-8 make it as small."""
    jump = jump_of(THREE)
    gain = free_entropy(jump.after, jump.information) - free_entropy(jump.before, jump.information)
    assert gain == pytest.approx(0.0, abs=1e-8)
    for q in (jump.before, jump.after):  # maxima
        assert all(free_entropy(q + d, jump.information) < free_entropy(q, jump.information) for d in (-1e-3, 1e-3))


def test_points_on_both_sides_agree() -> None:
    jump = jump_of(THREE)
    below, above = (gs.optimal(model(THREE, jump.information * (1.0 + part))) for part in (-1e-4, 1e-4))
    assert not below.hard and below.mean_overlap == pytest.approx(jump.before, abs=1e-3)
    assert above.hard and above.mean_overlap == pytest.approx(jump.after, abs=1e-3)
    before, after = (gs.optimal(model(THREE, jump.algorithmic * (1.0 + part))) for part in (-2e-2, 2e-2))
    assert before.hard and not after.hard


def test_labels_of_which_a_part_is_constant() -> None:
    """min(z^2, 4) is 4 beyond |z| = 2: only the other inputs are equations for the direction."""
    jump = jump_of("clip(z**2,0,4)")
    assert jump.information == pytest.approx(1.0 / (1.0 - 2.0 * float(ndtr(-2.0))), rel=1e-9)
    assert jump.after == 1.0 and jump.algorithmic > jump.information


def test_overlaps_that_do_not_jump() -> None:
    for link, target in (("sign", {}), ("tanh", {"noise": 0.1}), ("z**2", {"noise": 0.1}), ("sign(z**2-1)", {})):
        assert gs.optimal(model(link, 2.0, **target)).transitions == ()  # type: ignore[arg-type]
    several = gs.optimal(model("z1*z2", 1.0))
    assert several.transitions is None and several.to_dict()["transitions"] is None
    assert gs.optimal(model("sign(z1*z2)", 1.0)).transitions == ()
    assert "fast algorithms at 1.128471" in repr(gs.optimal(model("z**2", 1.05)))


def parity_entropy(q: float, samples: float) -> float:
    """Of the signs of z1 z2 z3, each index known to q: samples E sum_y p log p + 3 (q + log(1 - q))/2.

    On panels of kappa that end at 0 and at widths of t.
    """
    scale = math.sqrt((1.0 - q) / q)
    edges = np.unique(np.concatenate([np.arange(0.0, 9.0, 1.0), scale * np.array([1.0, 2.5, 5.0])]))
    kappa, weight = normal_nodes(edges, 12)
    mean = erf(kappa / scale / math.sqrt(2.0))
    product = np.multiply.outer(np.multiply.outer(mean, mean), mean)
    chance = 0.5 * (1.0 + product), 0.5 * (1.0 - product)
    entropy = sum(np.where(p > 0.0, p * np.log(np.maximum(p, 1e-300)), 0.0) for p in chance)
    told = 8.0 * float(np.einsum("ijk,i,j,k->", entropy, weight, weight, weight))
    return samples * told + 1.5 * (q + math.log1p(-q))


def test_three_indices_that_are_known_alike() -> None:
    """Free entropies by their definition are equal where the overlap jumps; message passing finds nothing."""
    found = gs.optimal(model("sign(z1*z2*z3)", 2.0))
    assert found.transitions is not None and len(found.transitions) == 1
    jump = found.transitions[0]
    assert math.isinf(jump.algorithmic) and jump.before == 0.0
    gain = parity_entropy(jump.after, jump.information) - parity_entropy(1e-9, jump.information)
    assert gain == pytest.approx(0.0, abs=1e-7)
    for q in (jump.after - 1e-3, jump.after + 1e-3):  # a maximum
        assert parity_entropy(q, jump.information) < parity_entropy(jump.after, jump.information)
    shown = found.to_dict()["transitions"]
    assert shown[0]["algorithmic"] is None and "no fast algorithm does" in repr(found)
    after = gs.optimal(model("sign(z1*z2*z3)", jump.information * 1.001))
    assert after.hard and after.overlap is not None and after.mean_overlap is not None
    np.testing.assert_allclose(after.overlap, after.mean_overlap * np.eye(3), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("link", "noise", "samples"),
    [("cosh(z)", 0.1, 0.540583), ("He(4,z)/24", 0.1, 2.58451), ("He(4,z)", 1.0, 0.733604), ("z**4", 1.0, 0.535969)],
)
def test_thresholds_of_even_links_that_grow_steeply(link: str, noise: float, samples: float) -> None:
    """By a quadrature of 12,000 nodes in z and in y; none is below 1/E(z^2 - 1)^2 = 1/2."""
    target = Target(link=link, noise=noise)
    assert first_threshold(Sought(target), fine(target)).samples == pytest.approx(samples, rel=3e-6)
