"""Moments of links of several indices: closed forms, structure, and what does not settle."""

import math

import pytest
from scipy import special

from derive.language.grammar import canonical, parse
from derive.language.links import VARIABLES
from giantstep.law.moments import link_moments
from giantstep.law.multi_index_moments import index_moments
from giantstep.quadrature import cubature
from giantstep.quadrature.cubature import gaussian_moments
from giantstep.quadrature.kinks import degree, kinks
from giantstep.spec.errors import BadInput

PHI0 = 1.0 / math.sqrt(2.0 * math.pi)
RADIUS = math.sqrt(math.pi / 2.0)
OVER = math.sqrt(0.5 * math.pi * math.e) * math.erfc(math.sqrt(0.5))  # E 1/(1 + z^2); that of its square is 1/2


def above(threshold: float, variance: float) -> tuple[float, float]:
    """E sign(x - threshold) and E[z sign(x - threshold)] for x of that variance with covariance 1 with z."""
    ratio = threshold / math.sqrt(variance)
    return -math.erf(ratio / math.sqrt(2.0)), 2.0 * PHI0 * math.exp(-(ratio**2) / 2.0) / math.sqrt(variance)


# text -> E f, E z_i f, E f^2
CLOSED: dict[str, tuple[float, tuple[float, ...], float]] = {
    "z1*z2": (0.0, (0.0, 0.0), 1.0),
    "sign(z1*z2)": (0.0, (0.0, 0.0), 1.0),
    "sign(z1*z2*z3*z4)": (0.0, (0.0, 0.0, 0.0, 0.0), 1.0),
    "sign(z1-0.3)*sign(z2)": (0.0, (0.0, 2.0 * PHI0 * above(0.3, 1.0)[0]), 1.0),
    "relu(z1)*z2": (0.0, (0.0, PHI0), 0.5),
    "relu(z1)-2*relu(z2)": (-PHI0, (0.5, -1.0), 2.5 - 4.0 * PHI0**2),
    "-abs(z1*z2)/2": (-2.0 * PHI0**2, (0.0, 0.0), 0.25),
    "sign(z1+z2-0.3)": (above(0.3, 2.0)[0], (above(0.3, 2.0)[1],) * 2, 1.0),
    "sign(tanh(z1+z2)-0.5)": (above(math.atanh(0.5), 2.0)[0], (above(math.atanh(0.5), 2.0)[1],) * 2, 1.0),
    "max(z1,z2)": (1.0 / math.sqrt(math.pi), (0.5, 0.5), 1.0),
    "sign(z1**2+z2**2-1)": (2.0 * math.exp(-0.5) - 1.0, (0.0, 0.0), 1.0),
    "sqrt(z1**2+z2**2)": (RADIUS, (0.0, 0.0), 2.0),
    # E clip(x, -1, 1)^2 for a variance of 2, by parts
    "clip(z1+z2,-1,1)": (
        0.0,
        (math.erf(0.5),) * 2,
        1.0 + math.erf(0.5) - 2.0 * math.exp(-0.25) / math.sqrt(math.pi),
    ),
    "exp(0.43*z1*z2)": (1.0 / math.sqrt(1.0 - 0.43**2), (0.0, 0.0), 1.0 / math.sqrt(1.0 - 0.86**2)),
    "exp(0.3*z1)*z2**2": (math.exp(0.045), (0.3 * math.exp(0.045), 0.0), 3.0 * math.exp(0.18)),
    "z1/(1+z2**2)": (0.0, (OVER, 0.0), 0.5),
    "-2/((1+z1**2)*(1+z2**2))": (-2.0 * OVER**2, (0.0, 0.0), 1.0),
    "z1+z1*z2+z1*z2*z3+z1*z2*z3*z4": (0.0, (1.0, 0.0, 0.0, 0.0), 4.0),
    "He(3,z1)*He(2,z2)+z2": (0.0, (0.0, 1.0), 13.0),
    # E[2 phi(z1 z2)] = sqrt(2/pi) E (1 + z^2)^(-1/2)
    "sign(z3+z1*z2)": (0.0, (0.0, 0.0, math.exp(0.25) * special.k0(0.25) / math.pi), 1.0),
}


@pytest.mark.parametrize("text", CLOSED)
def test_closed_forms(text: str) -> None:
    mean, linear, square = CLOSED[text]
    found = index_moments(text)
    assert found.mean == pytest.approx(mean, rel=1e-11, abs=1e-12)
    assert found.linear == pytest.approx(linear, rel=1e-11, abs=1e-12)
    assert found.square == pytest.approx(square, rel=1e-11)


def test_noise_inside_the_link_scales_its_argument() -> None:
    """f(s g) = s^2 relu(g1) g2."""
    found = index_moments("relu(z1)*z2", 0.44)
    assert found.linear == pytest.approx((0.0, 1.44 * PHI0), rel=1e-12)
    assert found.square == pytest.approx(1.44**2 / 2.0, rel=1e-12)
    mean, linear = above(0.3 / 1.2, 2.0)
    shifted = index_moments("sign(z1+z2-0.3)", 0.44)
    assert (shifted.mean, *shifted.linear) == pytest.approx((mean, linear, linear), rel=1e-11)


@pytest.mark.parametrize(("text", "breakpoints"), [("tanh(z-0.3)", ()), ("sign(z-0.3)", (0.3,)), ("abs(z)*z", (0.0,))])
def test_one_index_and_a_second_that_adds_nothing(text: str, breakpoints: tuple[float, ...]) -> None:
    one, two = link_moments(text, breakpoints, 0.5), index_moments(text.replace("z", "z1") + "+0*z2", 0.5)
    assert (two.mean, two.square) == pytest.approx((one.mean, one.square), rel=1e-11)
    assert two.linear == pytest.approx((*one.linear, 0.0), rel=1e-11)


def test_a_growing_link_is_followed_as_far_as_it_counts() -> None:
    """E exp(0.4 z^2) = 1/sqrt(0.2): the weighted square has fallen to 1e-9 only at |z| = 14."""
    assert link_moments("exp(0.2*z**2)", ()).square == pytest.approx(1.0 / math.sqrt(0.2), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("z1**2*z2+z1", (2, 1)),
        ("He(3,z1)*z2/2", (3, 1)),
        ("-(z1-z2)**3", (3, 3)),
        ("tanh(z1)*z2", (None, 1)),
        ("z1/z2", (1, None)),
        ("z1**0.5+z2**(-1)", (None, None)),
        ("2**z1", (None, 0)),
    ],
)
def test_degrees(text: str, degrees: tuple[int | None, ...]) -> None:
    assert tuple(degree(parse(text, VARIABLES), name) for name in ("z1", "z2")) == degrees


def test_kinks_are_taken_apart() -> None:
    tree = parse("sign(-z1*z2**2) + max(z1,z2) + clip(z3,1,2) + tanh(z1)", VARIABLES)
    assert {canonical(kink) for kink in kinks(tree)} == {"z1", "z2", "z1-z2", "z3-1", "z3-2"}


def test_what_does_not_settle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubature, "_MOST", 200_000)
    for text in ("sign(sin(300*z1*z2))", "tanh(z1+z2+z3+z4)"):
        with pytest.raises(BadInput, match="do not settle: more than"):
            index_moments(text)


def test_two_sets_of_panels_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def moments(node: object, names: tuple[str, ...], scale: float, panels: int) -> list[float]:
        return [1e-9 * panels, 1.0, 0.0, 0.0]

    monkeypatch.setattr("giantstep.law.multi_index_moments.gaussian_moments", moments)
    with pytest.raises(BadInput, match="two sets of panels differ by 1e-09"):
        index_moments("tanh(z1*z2+0.125)")


def test_both_sets_of_panels_reach_the_same() -> None:
    node = parse("sigmoid(5*z1)*sign(z2-abs(z1))", VARIABLES)
    first, second = (gaussian_moments(node, ("z1", "z2"), 1.0, panels) for panels in (0, 1))
    assert first == pytest.approx(second, abs=1e-12) and first != second
