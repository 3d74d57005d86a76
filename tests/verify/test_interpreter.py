"""The reference interpreter against matrices written out, in long doubles and in mpmath's numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import mpmath
import numpy as np
import pytest
import sympy as sp

from derive.blocks import KAPPA, BlockSum, LogDet, MatrixInverse, block_field, family, index
from derive.gaussian.expectation import Expectation
from derive.saddle import Equation
from giantstep.verify.equations import residuals
from giantstep.verify.interpreter import Interpreter, NotEvaluable, Point

B, C, X = index("b"), index("c"), index("x")
T, V, P, LAW = family("T"), family("V"), family("P"), family("law")
F = block_field("f")
INVERSE = MatrixInverse("P", B, C, sp.KroneckerDelta(B, C) + V[B, C] * T[C] * LAW[X], (X,))


def exact(values: Any) -> np.ndarray:
    return np.vectorize(mpmath.mpf, otypes=[object])(values)


@pytest.mark.parametrize("kind", [np.asarray, exact])
def test_expressions(kind: Any) -> None:
    source = np.random.default_rng(1)
    t, v, law = source.uniform(1, 2, 3), source.uniform(0, 1, (3, 3)), source.uniform(0, 1, 5)
    v = v + v.T
    f, kappa, weight = source.normal(size=(3, 7)), source.normal(size=7), source.uniform(size=7)
    point = Point(
        3,
        {"r": kind(0.3)},
        {"T": kind(t), "V": kind(v), "law": kind(law)},
        {"f": kind(f), "kappa": kind(kappa)},
        kind(weight),
        {},
        {"P": INVERSE},
    )
    entries = np.eye(3) + v * t * law[:, None, None]
    inverses = np.linalg.inv(entries)
    cases = [
        (BlockSum(T[B] * V[B, B], B), t @ np.diag(v)),
        (BlockSum(BlockSum(V[B, C] * T[B], B) * T[C], C), t @ v @ t),
        (Expectation(F(sp.Integer(0) + B, KAPPA) * KAPPA**2, KAPPA), None),
        (BlockSum(LAW[X] * LogDet("P", X), X), law @ np.linalg.slogdet(entries)[1]),
        (BlockSum(BlockSum(P[B, B, X], B) * LAW[X] ** 2, X), law**2 @ np.trace(inverses, axis1=1, axis2=2)),
        (BlockSum(sp.Integer(2), B), 6.0),
        (sp.sqrt(2) * sp.Symbol("r") + sp.pi, np.sqrt(2) * 0.3 + np.pi),
    ]
    interpreter = Interpreter(point)
    for expression, wanted in cases:
        if wanted is None:
            found = np.asarray(interpreter.value(expression, ("b",)), dtype=float)
            assert np.allclose(found, f @ (weight * kappa**2), rtol=1e-13)
        else:
            assert float(interpreter.value(expression)) == pytest.approx(wanted, rel=1e-13)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NotEvaluable, match="no value for alpha"):
        Interpreter(Point(2)).value(sp.Symbol("alpha"))
    with pytest.raises(NotEvaluable, match="depends on b"):
        Interpreter(Point(2, families={"T": np.ones(2)})).value(T[B])


def test_squares_of_the_slope_that_rounding_makes_negative_count_as_none() -> None:
    """Averages by polynomials of the output's centre, where nothing is felt: the residual was nan."""
    slope, square = np.array([1e-9, -2e-9]), np.array([1.0, -1e-30])
    point = Point(1, {"rest": 0.0}, {"m": np.ones(1)}, {"avg_g": slope, "avg_gg": square}, np.array([0.5, 0.5]), {}, {})
    balance = Expectation(sp.Function("avg_g")(KAPPA), KAPPA) + sp.Symbol("rest")
    system = SimpleNamespace(equations=(Equation("d/dm", "m", (B,), balance, "implicit"),))
    assert residuals(cast(Any, system), point)["m"] == pytest.approx(1e-6, rel=1e-5)
