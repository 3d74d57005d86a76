"""Information exponent, leap and staircase of targets whose leap is known, and what a rotation leaves as it is."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.gaussian.hermite_table import HermiteTable
from derive.hermite_tensors import hermite_tensors
from derive.language.links import link_of
from giantstep.observe.learnable.conditional_mean import explained
from giantstep.observe.learnable.hermite_cubature import hermite_by_cubature
from giantstep.observe.learnable.leap import staircase
from giantstep.observe.learnable.learnable import learnable

Stages = list[tuple[int, set[str]]]

# link -> (order, directions found) of every stage. [BGJ19]: He_k. [ABB23] section 2: staircases and their leaps.
# [DAN23] sections 1 and 3: z1 + z1 z2, z1 z2 z3, sign links. [LOU24], [LOU25]: the tables of what one step learns.
KNOWN: dict[str, Stages] = {
    "z": [(1, {"z"})],
    "He(2,z)": [(2, {"z"})],
    "He(3,z)": [(3, {"z"})],
    "He(4,z)": [(4, {"z"})],
    "He(7,z)": [(7, {"z"})],
    "z**3": [(1, {"z"})],
    "z**3-3*z": [(3, {"z"})],
    "He(2,z)+He(4,z)": [(2, {"z"})],
    "He(3,z)+0.001*z": [(1, {"z"})],
    "sign": [(1, {"z"})],
    "relu": [(1, {"z"})],
    "abs(z)": [(2, {"z"})],
    "tanh(z)-0.60570550957801*z": [(1, {"z"})],
    # E z^4 = E z^2 = 1/3 under the weight of variance 1/3
    "z**2*exp(-z**2)": [(4, {"z"})],
    "sign(z**2-1)": [(2, {"z"})],
    "sign(z**3-3*z)": [(1, {"z"})],
    "z1+z2": [(1, {"z1 + z2"})],
    "z1*z2": [(2, {"z1", "z2"})],
    "z1+z1*z2": [(1, {"z1"}), (1, {"z2"})],
    "z1+z1*z2+z1*z2*z3": [(1, {"z1"}), (1, {"z2"}), (1, {"z3"})],
    "z1+z1*z2+z1*z2*z3+z1*z2*z3*z4": [(1, {"z1"}), (1, {"z2"}), (1, {"z3"}), (1, {"z4"})],
    "z1*z2*z3": [(3, {"z1", "z2", "z3"})],
    "z1*z2*z3*z4": [(4, {"z1", "z2", "z3", "z4"})],
    "z1+z1*z2*z3": [(1, {"z1"}), (2, {"z2", "z3"})],
    # z2 is the mean of z1 + z2 and of z2 - z1, which is alone with z3 z4 until these are found
    "z1+z2+z2*z3*z4": [(1, {"z1 + z2"}), (2, {"z3", "z4"}), (1, {"z1 - z2"})],
    "z1+z2*z3": [(1, {"z1"}), (2, {"z2", "z3"})],
    "z1*z2+z1*z2*z3": [(2, {"z1", "z2"}), (1, {"z3"})],
    "z1+He(2,z2)": [(1, {"z1"}), (2, {"z2"})],
    "He(2,z1)+He(3,z2)": [(2, {"z1"}), (3, {"z2"})],
    "z1*He(2,z2)": [(3, {"z1", "z2"})],
    "z1+z1*He(3,z2)": [(1, {"z1"}), (3, {"z2"})],
    "(z1+z2)*(z1-z2)": [(2, {"z1", "z2"})],
    "(z1+z2)**2": [(2, {"z1 + z2"})],
    "z1+z2+(z1+z2)*(z1-z2)": [(1, {"z1 + z2"}), (1, {"z1 - z2"})],
    "(z1+z2)*z3": [(2, {"z1 + z2", "z3"})],
    "(z1-2*z2)*(1+z3)": [(1, {"z1 - 2 z2"}), (1, {"z3"})],
    "sign(z1*z2)": [(2, {"z1", "z2"})],
    "sign(z1*z2*z3)": [(3, {"z1", "z2", "z3"})],
    "sign(z1+z2)": [(1, {"z1 + z2"})],
    "sign((z1+z2)*(z1-z2))": [(2, {"z1", "z2"})],
    "sign(z1)+sign(z1*z2*z3)": [(1, {"z1"}), (2, {"z2", "z3"})],
    "relu(z1)*z2": [(1, {"z2"}), (1, {"z1"})],
    "tanh(z1)*tanh(z2)": [(2, {"z1", "z2"})],
    "tanh(z1+z2)*(z1-z2)": [(2, {"z1", "z2"})],
    "max(z1,z2)": [(1, {"z1 + z2"}), (2, {"z1 - z2"})],
    "sqrt(z1**2+z2**2)": [(2, {"z1", "z2"})],
}


@pytest.mark.parametrize("link", KNOWN, ids=str)
def test_targets_of_known_leap(link: str) -> None:
    found = learnable(link)
    assert [(stage.order, set(stage.names)) for stage in found.stages] == KNOWN[link]
    assert found.information_exponent == KNOWN[link][0][0]
    assert found.leap == max(order for order, _ in KNOWN[link])
    assert found.error == pytest.approx(0.0, abs=1e-7 * max(found.variance, 1.0))


@pytest.mark.parametrize(
    ("link", "values"),
    [
        ("He(3,z)", [[6.0]]),
        # an unfolding of C_3 has the rows (0, 1, 1), twice the entry 1 in each
        ("z1*z2*z3", [[2.0**0.5] * 3]),
        ("3*z1+z1*z2", [[3.0], [1.0]]),
        # root mean square over u = z1 of He_2(u)
        ("z1+He(2,z1)*z2", [[1.0], [2.0**0.5]]),
        ("z1+z1*He(2,z2)", [[1.0], [2.0]]),
        ("2*z1*z2+He(2,z3)", [[2.0, 2.0, 2.0]]),
    ],
)
def test_singular_values_of_the_tensors(link: str, values: list[list[float]]) -> None:
    found = learnable(link).stages
    for stage, expected in zip(found, values, strict=True):
        assert stage.strengths == pytest.approx(expected, rel=1e-12)


def test_a_constant_has_no_leap() -> None:
    found = learnable("z - z + 2")
    assert (found.information_exponent, found.leap, found.variance, found.stages) == (None, None, 0.0, ())
    assert "constant" in str(found)


def table_of(text: str, degree: int) -> HermiteTable:
    link = link_of(text)
    tensors = hermite_tensors(link, degree, explained(link, np.eye(link.indices), link.indices))
    assert tensors is not None
    return tensors.table


@pytest.mark.parametrize(
    ("link", "index", "value"),
    [
        ("sign(z1*z2)", (1, 1), 2 / sympy.pi),
        ("sign(z1*z2*z3)", (1, 1, 1), (2 / sympy.pi) ** sympy.Rational(3, 2)),
        ("sign(z1*z2)", (3, 1), -2 / sympy.pi),
        ("abs(z1)*z2**2", (0, 2), 2 * sympy.sqrt(2 / sympy.pi)),
        ("erf(z1)*z2", (1, 1), 2 / sympy.sqrt(3 * sympy.pi)),
        ("exp(z1-z2)", (2, 1), -sympy.E),
        ("step(z1*z2)", (1, 1), 1 / sympy.pi),
        # sign of an orthogonal pair: z1^2 - z2^2 turned by 45 degrees
        ("sign((z1+z2)*(z1-z2))", (2, 0), 2 / sympy.pi),
    ],
)
def test_closed_forms_of_tensor_entries(link: str, index: tuple[int, ...], value: sympy.Expr) -> None:
    found = table_of(link, 4).coefficients[index]
    assert abs(found - sympy.N(value, 60)) < 1e-40


@pytest.mark.parametrize(
    "text", ["sign(z1*z2)", "tanh(z1+z2)*z1", "z1*relu(z1-2*z2)+z2**3", "erf(z1)*z2+z1", "sign(z1+z2-0.3)"]
)
def test_rules_and_cubature_agree(text: str) -> None:
    """Two ways without a common step: one-index averages turned by the tensor law, and panels over all indices."""
    link, table = link_of(text), table_of(text, 6)
    other = hermite_by_cubature(link.node, link.variables, 6, table.norm)
    for m in set(table.coefficients) | set(other.coefficients):
        first, second = (float(t.coefficients.get(m, 0.0)) for t in (table, other))
        assert first == pytest.approx(second, abs=1e-7 * table.norm * float(sympy.factorial(6)) ** 0.5)


def test_the_squares_of_all_coefficients_are_the_norm() -> None:
    """Parseval, exactly, for a polynomial in turned coordinates."""
    table = table_of("(z1+z2)**3*z1-2*z2**2", 8)
    turned = table.rotated([[0.6, 0.8], [-0.8, 0.6]])
    link = link_of("(z1+z2)**3*z1-2*z2**2")
    for one in (table, turned):
        assert float(one.square_of(lambda m: True)) == pytest.approx(explained(link, np.eye(2), 2), rel=1e-12)


TURNS = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)]
EXPONENTS = [
    (1, 0, 0),
    (0, 1, 0),
    (1, 1, 0),
    (0, 1, 1),
    (1, 1, 1),
    (2, 1, 0),
    (0, 0, 3),
    (2, 0, 2),
    (1, 0, 2),
]


@st.composite
def polynomials(draw: st.DrawFn) -> tuple[sympy.Expr, sympy.Matrix]:
    """A polynomial with rational coefficients and a rational rotation of three indices."""
    chosen = draw(st.lists(st.sampled_from(EXPONENTS), min_size=1, max_size=4, unique=True))
    z = sympy.symbols("z1:4")
    total = sympy.Add(
        *(draw(st.sampled_from([-2, -1, 1, 3])) * sympy.Mul(*(x**n for x, n in zip(z, m, strict=True))) for m in chosen)
    )
    matrix = sympy.eye(3)
    for plane in draw(st.lists(st.sampled_from([(0, 1), (1, 2), (0, 2)]), min_size=1, max_size=2, unique=True)):
        a, b, c = draw(st.sampled_from(TURNS))
        turn = sympy.eye(3)
        i, j = plane
        turn[i, i] = turn[j, j] = sympy.Rational(a, c)
        turn[i, j], turn[j, i] = sympy.Rational(-b, c), sympy.Rational(b, c)
        matrix = turn * matrix
    return total, matrix


def stages_of(expression: sympy.Expr) -> list[tuple[int, np.ndarray]]:
    """(order, projector on what was found up to there) of each stage."""
    from derive.hermite_tensors import _of_polynomial

    table = _of_polynomial(sympy.Poly(expression, *sympy.symbols("z1:4")))
    found, rows = [], np.empty((0, 3))
    for stage in staircase(table):
        rows = np.concatenate([rows, stage.directions])
        found.append((stage.order, rows.T @ rows))
    return found


@settings(max_examples=2, deadline=None, derandomize=True)
@given(polynomials())
def test_a_rotation_turns_the_staircase_and_keeps_the_leaps(drawn: tuple[sympy.Expr, sympy.Matrix]) -> None:
    expression, matrix = drawn
    z = sympy.symbols("z1:4")
    turned = expression.subs(dict(zip(z, matrix * sympy.Matrix(z), strict=True)), simultaneous=True)
    turn = np.array(matrix, dtype=float)
    before, after = stages_of(expression), stages_of(sympy.expand(turned))
    assert [order for order, _ in before] == [order for order, _ in after]
    for (_, first), (_, second) in zip(before, after, strict=True):
        # f(R z) depends on R^T U where f depends on U
        np.testing.assert_allclose(turn.T @ first @ turn, second, atol=1e-12)


def test_tiny_components_of_a_polynomial_count() -> None:
    assert learnable("z1*z2*z3+1e-20*z1").information_exponent == 1
    assert learnable("He(3,z)+1e-25*z").leap == 1


@pytest.mark.parametrize(
    ("link", "exponent", "rounded"),
    [
        ("z**3 - 3.00000000000001*z + z**2", 2, 1e-14 / 3.0),
        ("z**3 - 3.00000000000002*z + z**2", 1, 0.0),  # two units of the last digit
        ("z**3 - 2.9999*z + z**2", 1, 0.0),  # few digits are exact
        ("relu(z)**2 - 1.59576912160573*relu(z)", 2, None),
    ],
)
def test_coefficients_that_are_rounding_of_given_digits(link: str, exponent: int, rounded: float | None) -> None:
    """E f^2 of He_3 + He_2 + 1 is 9. The last link has E f z = 0 but for the digits of sqrt(8/pi)."""
    found = learnable(link)
    assert found.information_exponent == exponent
    assert rounded is None or found.rounded == pytest.approx(rounded, rel=1e-3)
    assert ("last digit" in str(found)) == (found.rounded > 0.0)
