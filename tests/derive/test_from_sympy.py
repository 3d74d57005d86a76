"""SymPy expressions as text of the grammar: the same function, under its registered name where it has one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from derive.from_sympy import text_of
from derive.language.catalogue import REGISTERED
from derive.language.grammar import ExpressionError, parse
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.to_sympy import to_sympy
from giantstep.spec.expressions import numpy_function

Z = sympy.Symbol("z", real=True)
POINTS = np.array([-2.7, -1.0, -0.3, 0.4, 1.5, 3.1])
TEXTS = (
    "erf(z/sqrt(2)) + 0.1*He(2, z)",
    "-z**3/7 + 1.25e-3*abs(z - 0.5) - pi",
    "1/(1 + z**2)**2 - z/(3 + cosh(z))",
    "clip(z, -0.3, 1.7)*sin(2*z)**2",
    "max(z, min(z**2, 1)) - sign(z + 0.2)*step(1 - z)",
    "arctan(3*z)/sqrt(2 + z**2) - erfc(-z)*Phi(z)",
    "2**z - (1 + z**2)**(-1.5)",
    "log(1 + exp(z)) - tanh(z)*e",
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_the_same_function(text: str) -> None:
    """The grammar's own values of the text that comes back, to rounding."""
    back = text_of(to_sympy(parse(text), {"z": Z}), ("z",))
    np.testing.assert_allclose(numpy_function(back)(POINTS)[0], numpy_function(text)(POINTS)[0], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_functions_come_back_by_name(name: str) -> None:
    assert text_of(to_sympy(parse(REGISTERED[name].expression), {"z": Z}), ("z",)) == name


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if not loss.parameters])
def test_registered_losses_come_back_by_name(name: str) -> None:
    symbols = {v: sympy.Symbol(v, real=True) for v in ("y", "f")}
    assert text_of(to_sympy(parse(LOSSES[name].expression, ("y", "f")), symbols), ("y", "f")) == name


def test_pieces_become_steps() -> None:
    pieces = sympy.Piecewise((-1, Z < -1), (Z**2, (Z > 0) & (Z <= 2)), (Z / 2, Z <= 2), (3, True))
    expected = np.select([POINTS < -1, (POINTS > 0) & (POINTS <= 2), POINTS <= 2], [-1, POINTS**2, POINTS / 2], 3)
    np.testing.assert_allclose(numpy_function(text_of(pieces, ("z",)))(POINTS)[0][POINTS != -1], expected[POINTS != -1])
    assert text_of(sympy.Piecewise((0, Z < 0), (Z, True)), ("z",)) == "relu"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (sympy.gamma(Z), "gamma(z)"),
        (Z * sympy.I, "I"),
        (sympy.oo * Z**2, "oo"),
        (sympy.Piecewise((1, sympy.Eq(Z, 1)), (Z, True)), "write inequalities"),
        (sympy.Function("g")(Z), "g(z)"),
    ],
)
def test_what_the_grammar_has_not_is_refused(expression: sympy.Basic, words: str) -> None:
    with pytest.raises(ExpressionError) as told:
        text_of(expression, ("z",))
    assert words in str(told.value)
