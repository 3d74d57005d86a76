"""Expressions in titles are mathematics that Matplotlib can draw; jumps of a target are vertical lines."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

import giantstep as gs
from derive.language.catalogue import latex
from derive.language.grammar import FUNCTIONS, parse
from giantstep.draw.formulas import mathtext
from giantstep.draw.look import PLAIN, Picture
from giantstep.draw.titles import described
from giantstep.observe.learned import target_and_jumps


@pytest.mark.parametrize("name", FUNCTIONS)
def test_matplotlib_reads_every_function_of_the_grammar(name: str) -> None:
    arguments = {"He": "2, z", "clip": "-z, -1, 1"}.get(name, ", ".join(["-z", "z"][: FUNCTIONS[name]]))
    formula = latex(parse(f"({name}({arguments}) + 1/3)**1.5/{name}({arguments})"))
    MathTextParser("agg").parse(f"${mathtext(formula)}$")


def test_titles() -> None:
    model = gs.model("z*tanh(z)", link="abs(z)", loss="(y - f)**2 + abs(y - f)")
    title = described(model.replace(network={"activation": "tanh"}), set())
    assert r"$\sigma = \mathrm{tanh}$" in title and r"$\sigma_\star = \mathrm{abs}$" in title and r"$\ell = " in title
    assert r"$\sigma = z\,\tanh\left(z\right)$" in described(model, set())
    assert r"$\sigma_\star = z_{1} + z_{2}$" in described(gs.model(link="z1 + z2"), set())
    assert "huber(delta=1)" in described(gs.model(loss="huber"), set())
    halves = described(gs.model("z/3 + 0.3*z", loss="sqrt(1 + ((y - f)/0.5)**2)"), set())
    assert r"\frac{z}{3} + 0.3\,z" in halves and r"\frac{y - f}{0.5}" in halves
    wide = "tanh(z) + 0.123456789*z**3*exp(-z**2/2) + erf(z)"
    title = described(gs.model(wide + f" + z*({wide})"), set())
    assert "own activation" in title and "0.123" not in title


@pytest.mark.parametrize(("ridge", "text"), [(1e-10, "10^{-10}"), (2.5e-7, r"2.5\times 10^{-7}"), (0.05, "0.05")])
def test_powers_of_ten_in_titles_are_such(ridge: float, text: str) -> None:
    title = described(gs.model(ridge=ridge), set())
    assert rf"$\lambda = {text}$" in title
    MathTextParser("agg").parse(title.replace("\n", " "))


def test_a_title_is_no_wider_than_its_axes_and_signs_have_no_brackets() -> None:
    title = described(gs.model("z/(1 + exp(-1.5*z)) + 0.1*sin(2*z)", link="sign", loss="sqrt(1+(y-f)**2) - 1"), set())
    assert r"\exp\left(-1.5\,z\right)" in title
    with PLAIN.context():
        drawn = Picture(5.4, 4.0)
        axes = drawn.add_subplot()
        words = axes.set_title(title, fontsize=8.5, loc="left")
        drawn.draw_without_rendering()
    assert words.get_window_extent().x1 <= axes.get_window_extent().x1
    assert r"\left(-2 \cdot z\right)" in latex(parse("z - (-2)*z")) and latex(parse("-2*z")) == r"-2 \cdot z"


def test_a_jump_is_vertical_at_its_place() -> None:
    at = np.array([1.0, -1.0, 0.0, 0.5])
    profile = gs.learned(gs.model(link="sign")).along_target
    assert profile.jumps == ((0.0, -1.0, 1.0),)
    x, y = dataclasses.replace(profile, at=at, target=np.sign(at)).target_line()
    assert x.tolist() == [-1.0, 0.0, 0.0, 0.5, 1.0] and y.tolist() == [-1.0, -1.0, 1.0, 1.0, 1.0]
    beyond = dataclasses.replace(profile, at=at, target=np.sign(at), jumps=((2.0, 0.0, 1.0),))
    assert beyond.target_line()[0].tolist() == sorted(at)


def test_a_jump_is_drawn_along_a_spike_that_points_to_or_from_the_target() -> None:
    spike = gs.Spike(strength=1.0, alignment=-1.0, bulk_variance=1.0)
    found = gs.learned(gs.model(link="step", spike=spike, learning_rate=None))
    assert found.along_target.jumps == ((0.0, 0.0, 1.0),)
    assert found.along_spikes[0].jumps == ((0.0, 1.0, 0.0),)
    for axes, profile in zip(gs.plot(found).axes, (found.along_target, *found.along_spikes), strict=True):
        line = next(line for line in axes.lines if line.get_label() == "target")
        assert np.array_equal(np.asarray(line.get_xydata()).T, profile.target_line())
        assert np.count_nonzero(np.diff(profile.target_line()[0]) == 0.0) == 1


def test_no_jump_is_drawn_where_there_is_none() -> None:
    assert gs.learned(gs.model(link="abs")).along_target.jumps == ()
    sign = gs.learned(gs.model(link="sign"))
    assert all(profile.jumps == () for profile in sign.along_spikes)  # at an angle to theta


def test_a_jump_of_several_indices_is_vertical_at_its_place() -> None:
    """``sign(z1 z2) z2``: sign(z1) E|z2| along z1, zero along z2; a jump between two points; steep is no jump."""
    at = np.linspace(-3.0, 3.0, 121)

    def jumps(link: str, *overlaps: float) -> tuple[tuple[float, float, float], ...]:
        return target_and_jumps(gs.Target(link), np.array(overlaps), at)[1]

    height = math.sqrt(2.0 / math.pi)
    assert jumps("sign(z1*z2)*z2", 1.0, 0.0) == (pytest.approx((0.0, -height, height), rel=1e-9, abs=1e-12),)
    assert jumps("sign(z1*z2)*z2", 0.0, 1.0) == jumps("sign(z1*z2)*z2", 0.6, 0.8) == ()
    found = jumps("step(z1 - 0.51)*(1 + z2**2)", 1.0, 0.0)
    assert found == (pytest.approx((0.51, 0.0, 2.0), rel=1e-9, abs=1e-9),)
    assert jumps("tanh(1000*z1) + abs(z2)", 1.0, 0.0) == ()
