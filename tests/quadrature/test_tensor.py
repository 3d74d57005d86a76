"""Rules for kappa in R^q: Gauss-Hermite nodes where little varies, others at every fineness; right to what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantstep.law.terms import label_axes
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.tensor import LabelAxes, Shape, hermite_count, tensor_table
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Target


@pytest.mark.parametrize("width", [1.01, 1.3, 2.0, 5.0, 30.0, 1e3, 1e8])
def test_every_fineness_has_a_rule_of_its_own(width: float) -> None:
    """Otherwise the difference of two says nothing of their error."""
    counts = [hermite_count(width, fineness) for fineness in (0.85, 1.0, 1.105, 1.3, 1.4365, 1.69)]
    assert all(a < b for a, b in zip(counts, counts[1:], strict=False)) and counts[0] >= 2
    assert hermite_count(width, 0.875) < hermite_count(width, 1.0)
    assert all(count % 2 == 0 for count in counts)


@pytest.mark.parametrize("weak", [0.9, 0.4, 0.05, 1e-3])
@pytest.mark.parametrize("function", ["tanh", "relu", "cubic"])
def test_products_of_averages_are_right_to_what_a_coarser_rule_differs_by(function: str, weak: float) -> None:
    """A row times kappa is normal: E mu0^2 is a sum over one variable; also where only the weak axes are coarser."""
    rows, term = ((0.7, weak, 0.5 * weak), (-0.3, 0.2 * weak, weak)), Term(function, 1.0, 0.0, 1.1)
    x = np.linspace(-11.0, 11.0, 4001)
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
    shape = Shape((term, term), rows, None)

    def found(*fineness: float) -> list[float]:
        table = tensor_table(shape, fineness)
        return [float(table[:, 1] @ table[:, 7 + block] ** 2) for block in range(2)]

    fine = found(1.0, 1.0, 1.0)
    for block, row in enumerate(rows):
        exact = float(density @ coefficients(function, math.hypot(*row) * x, 1.1)[0] ** 2)
        assert fine[block] == pytest.approx(exact, rel=2e-11)
        coarse = [abs(found(*each)[block] / exact - 1.0) for each in ((1.0, 0.85, 1.0), (1.0, 1.0, 0.85))]
        assert max(coarse) < 1e-9


def test_weak_axes_have_few_nodes() -> None:
    shape = Shape((Term("tanh", 1.0, 0.0, 1.0),) * 2, ((1.2, 0.1, 0.01), (0.5, -0.1, 0.02)), None)
    table = tensor_table(shape, (1.0, 1.0, 1.0))
    assert len(np.unique(table[:, 5])) <= 10 and len(np.unique(table[:, 6])) <= 8


def test_a_label_varies_along_the_axes_that_it_knows() -> None:
    """tanh: on a scale of one along each index. A jump: on what the directions leave of the index."""
    overlaps = ((0.6, 0.0), (0.0, 0.8), (0.0, 0.0))
    smooth, jumps = (label_axes(Target(link), overlaps).widths for link in ("tanh(z1) + z2", "sign(z1) + z2"))
    assert smooth == pytest.approx([math.hypot(0.8, 1.0) / 0.6, math.hypot(0.6, 1.0) / 0.8, math.inf])
    assert jumps == pytest.approx([0.8 / 0.6, 0.6 / 0.8, math.inf])
    assert label_axes(Target("sign"), ((0.6,), (0.0,))) == LabelAxes()


@pytest.mark.parametrize("function", ["erf", "gelu", "log(1+exp(2*z))-abs(z)", "linear", "sin"])
def test_coefficients_of_many_nodes_are_those_of_few(function: str) -> None:
    """To a few hundred rounding errors of the largest."""
    term, rows = Term(function, 1.0, 0.3, 1.4), ((1.0, 0.4, 0.0), (-0.3, 1.2, 0.5))
    table = tensor_table(Shape((term, term), rows, None), (1.0, 1.0, 1.0))[::997]
    shift = table[:, [0, 5, 6]] @ np.array(rows).T + 0.3
    for place, own in enumerate(shift.T):
        exact = coefficients(function, own, 1.4)
        found = table[:, [7 + place, 9 + place, 11 + place]].T
        assert np.all(np.abs(found - exact) <= 1e-13 * np.abs(exact).max(axis=1, keepdims=True))
