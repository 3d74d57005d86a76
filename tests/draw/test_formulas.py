"""Expressions in titles are mathematics that Matplotlib can draw; jumps of a target are vertical lines."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

import giantstep as gs
from derive.language.catalogue import latex
from derive.language.grammar import FUNCTIONS, parse
from giantstep.draw.curves import described
from giantstep.draw.formulas import mathtext


@pytest.mark.parametrize("name", FUNCTIONS)
def test_matplotlib_reads_every_function_of_the_grammar(name: str) -> None:
    arguments = {"He": "2, z", "clip": "-z, -1, 1"}.get(name, ", ".join(["-z", "z"][: FUNCTIONS[name]]))
    formula = latex(parse(f"({name}({arguments}) + 1/3)**1.5/{name}({arguments})"))
    MathTextParser("agg").parse(f"${mathtext(formula)}$")


def test_titles() -> None:
    model = gs.model("z*tanh(z)", link="abs(z)", loss="(y - f)**2 + abs(y - f)")
    title = described(model.replace(network={"activation": "tanh"}), set())
    assert r"$\sigma =$ tanh" in title and r"$\sigma_\star =$ abs" in title and r"$\ell = " in title
    assert r"$\sigma = z\,\tanh\left(z\right)$" in described(model, set())
    assert r"$\sigma_\star = z_{1} + z_{2}$" in described(gs.model(link="z1 + z2"), set())
    assert "huber(delta=1)" in described(gs.model(loss="huber"), set())
    long = "tanh(z) + 0.123456789*z**3*exp(-z**2/2) + erf(z)"
    assert "..." in described(gs.model(long), set())  # too wide for a title


def test_a_jump_is_vertical_at_its_place() -> None:
    found = gs.learned(gs.model(link="sign(z - 0.3) + 0.1*z"), at=np.linspace(-1.0, 1.0, 21))
    x, y = found.along_target.target_line()
    place = int(np.flatnonzero(x == 0.3)[0])
    assert x[place + 1] == 0.3 and y[place : place + 2] == pytest.approx([-0.97, 1.03], abs=1e-8)
    assert np.count_nonzero(np.diff(x) == 0.0) == 1 and np.all(np.diff(x) >= 0.0)
    line = next(line for line in gs.plot(found).axes[0].lines if line.get_label() == "target")
    assert np.array_equal(line.get_xdata(), x) and np.array_equal(line.get_ydata(), y)


def test_no_jump_is_drawn_where_there_is_none() -> None:
    assert gs.learned(gs.model(link="abs")).along_target.jumps == ()
    sign = gs.learned(gs.model(link="sign", samples=1.0))
    assert sign.along_target.jumps[0][0] == 0.0
    assert all(profile.jumps == () for profile in sign.along_spikes)  # at an angle to theta
