"""What labels tell of one index as a curve in the overlap: sums of another hand, what it promises, and no more work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.optimal.alike import told_alike
from giantstep.observe.optimal.curve import Curve
from giantstep.observe.optimal.errors import errors_along
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.one import error_by_nodes, told_by_nodes
from giantstep.observe.optimal.path import path_of
from giantstep.observe.optimal.prior import Sought
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.target_channel import Channel


def bells(reach: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-reach, reach, count)
    return x, np.exp(-0.5 * x * x) * (x[1] - x[0]) / math.sqrt(2.0 * math.pi)


def by_sums(link: str, noise: float, q: float) -> float:
    """E[E[t|y]^2] on even grids of kappa, t and y; halves of their steps change it by less than 1e-8."""
    (kappa, share), (t, weight) = bells(8.0, 201), bells(8.0, 801)
    values, total, spread = link_values(link), 0.0, math.sqrt(noise)
    for k, s in zip(kappa, share, strict=True):
        label = values((math.sqrt(q) * k + math.sqrt(1.0 - q) * t)[None])
        y = np.arange(label.min() - 8.0 * spread, label.max() + 8.0 * spread, 0.2 * spread)
        bell = np.exp(-((y[:, None] - label) ** 2) / (2.0 * noise))
        chance, first = bell @ weight, bell @ (weight * t)
        total += s * 0.2 / math.sqrt(2.0 * math.pi) * float(np.sum(first**2 / np.maximum(chance, 1e-300)))
    return total


@pytest.mark.parametrize(("link", "noise"), [("z**2", 0.3), ("sin(2*z)", 0.5), ("tanh(2*z)", 0.2)])
def test_what_noisy_labels_tell(link: str, noise: float) -> None:
    for q in (0.3, 0.9):
        assert told_by_nodes(Target(link, noise=noise), q, Fineness()) == pytest.approx(
            by_sums(link, noise, q), abs=1e-8
        )


@pytest.mark.parametrize("link", ["relu(z)", "abs(z) + z/3"])
def test_what_labels_with_kinks_tell(link: str) -> None:
    """Even grids are right to the square of their step there, 1e-2, in units of the noise."""
    assert told_by_nodes(Target(link, noise=0.3), 0.6, Fineness()) == pytest.approx(by_sums(link, 0.3, 0.6), abs=2e-6)


@pytest.mark.parametrize("noise", [1.0, 0.01])
@pytest.mark.parametrize("q", [0.0, 0.5, 0.999, 1.0 - 1e-8])
def test_linear_labels(noise: float, q: float) -> None:
    """E[t|y]^2 has the mean (1 - q)/(1 - q + noise), the error is 1 - q; steps of 1.2 deviations leave 1e-9 of it."""
    told, error = (f(Target("z", noise=noise), q, Fineness()) for f in (told_by_nodes, error_by_nodes))
    assert told == pytest.approx((1.0 - q) / (1.0 - q + noise), rel=2e-9)
    assert error == pytest.approx(1.0 - q, rel=1e-10, abs=1e-15)


TARGETS = [
    Target("z**2", noise=0.1),
    Target("relu", noise=0.1),
    Target("sign"),
    Target("sign", noise=0.1),
    Target("2*z", channel=Channel("logit")),
    Target("abs(z)"),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.link}-{target.channel or target.noise}")
def test_curves_are_as_close_as_they_say(target: Target) -> None:
    """At overlaps that are no nodes; what they tell over 1 - q grows with q."""
    from giantstep.observe.optimal.told import information

    told, least = told_alike(target), 0.0
    fine = Fineness(kappa=27, labels=4)
    for q in (1e-4, 0.02, 0.37, 0.71, 0.93, 0.9917, 0.99993):
        found = told.information(q)
        assert abs(found - information(target, np.array([[q]]), fine)[0, 0]) <= 2.0 * told.error(q)
        assert told.error(q) <= (1e-6 if q > 0.996 else 3e-8) * found  # in the last panel rounding counts at its end
        assert found / (1.0 - q) > least
        least = found / (1.0 - q)


@pytest.mark.parametrize("link", ["z**2", "relu(z)"])
def test_errors_as_a_curve(link: str) -> None:
    """1 - q^2 times two for z^2; of relu by nodes that are much finer."""
    errors, fine = errors_along(path_of(Sought(Target(link, noise=0.1))), False), Fineness(kappa=27, labels=4)
    for q in (0.02, 0.37, 0.93, 0.9917):
        exact = 2.0 * (1.0 - q * q) if link == "z**2" else error_by_nodes(Target(link), q, fine)
        assert abs(errors.at(q) - exact) <= 2.0 * errors.off(q) <= 1e-8


def plain(link: str, samples: float, **target: Any) -> gs.Model:
    fit, network = {"samples": samples, "ridge": 0.1}, {"activation": "tanh", "width": 1.0}
    return gs.Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit})


def test_other_samples_are_averaged_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [gs.optimal(plain("sin(2*z)", samples, noise=0.3)).test_error for samples in (2.0, 0.5)]

    def never(*_: Any) -> None:
        raise AssertionError("averaged again")

    for name in ("alike.information", "errors.least_error"):
        monkeypatch.setattr(f"giantstep.observe.optimal.{name}", never)
    assert [gs.optimal(plain("sin(2*z)", samples, noise=0.3)).test_error for samples in (2.0, 0.5)] == first
    errors = [gs.optimal(plain("sin(2*z)", samples, noise=0.3)).test_error for samples in (0.6, 1.1, 1.9)]
    assert all(a is not None and b is not None and a >= b for a, b in zip(errors, errors[1:], strict=False))


def test_panels_follow_what_a_function_does() -> None:
    """A kink is cut out down to a thousandth, and what is refused in one place does not keep others from an answer."""

    def kink(q: float, fineness: Fineness) -> float:
        if q > 0.9999:
            raise NotConverged("too near", "go away")
        return abs(q - 0.5)

    curve = Curve(kink, Fineness(), lambda x: 1e-8, absolute=True)
    for q in (0.1, 0.49, 0.51, 0.99):
        assert curve.at(q) == pytest.approx(abs(q - 0.5), abs=1e-7)
    assert abs(curve.at(0.5) - 0.0) <= curve.error(0.5) <= 1e-3
    with pytest.raises(NotConverged, match="too near"):
        curve.at(0.99999)


def test_where_steep_labels_jump() -> None:
    """Where free entropies are equal by even grids of kappa, t and y, of which halves change 1e-8."""
    found = gs.optimal(plain("sin(2*z)", 2.0, noise=0.1)).transitions
    assert found is not None and len(found) == 1 and found[0].information == pytest.approx(1.86187106, abs=2e-8)


@pytest.mark.parametrize(("samples", "overlap"), [(0.03, 0.012276297011), (0.3, 0.116365440003)])
def test_nodes_settle_where_little_is_known_too(samples: float, overlap: float) -> None:
    """Overlaps by even grids, the same to 12 digits on grids twice as fine; nodes that settle at q = .6 missed 1e-6."""
    found = gs.optimal(plain("tanh(3*z) - z", samples, noise=0.02))
    assert float(found.overlap[0, 0]) == pytest.approx(overlap, abs=2.0 * found.error + 1e-12)
    assert found.error < 1e-8


def test_next_to_no_samples_tell_in_proportion() -> None:
    """sign: E[E[t|y]^2] = 2/pi where nothing is known; z with noise: 1/(1 + noise)."""
    for link, noise, slope in (("sign", 0.0, 2.0 / math.pi), ("z", 0.5, 1.0 / 1.5)):
        found = gs.optimal(plain(link, 1e-8, noise=noise))
        assert float(found.overlap[0, 0]) == pytest.approx(1e-8 * slope, rel=1e-7)


def test_what_rounding_hides_is_not_zero() -> None:
    """1 - q of a sign falls as 1/samples^2 and is below 1e-9; where labels tell all, there is nothing left."""
    with pytest.raises(NotConverged, match="above 1 - 1e-9"):
        gs.optimal(plain("sign", 1e6))
    assert gs.optimal(plain("z", 2.0)).test_error == 0.0
