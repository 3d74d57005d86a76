"""The expectation node, Stein's lemma, numerical values, and every closed form against mpmath's own quadrature."""

from functools import cache

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.coefficients import conditional_coefficients
from derive.gaussian.expectation import Expectation, inverse_stein, resolve_deltas, stein
from derive.gaussian.numeric import mpmath_function, owen_t
from derive.gaussian.quadrature import QuadratureError
from derive.gaussian.rules import close
from derive.gaussian.special import NormalCdf, OwenT
from derive.language.catalogue import REGISTERED
from derive.operations import close_all
from derive.scalar import ScalarFunction, scalar_function

Z, T, S = sympy.symbols("z t s", real=True)
C = sympy.Symbol("c", positive=True)
F = sympy.Function("f")
X = sympy.IndexedBase("x")
I = sympy.Symbol("i", integer=True)  # noqa: E741


def exactly(value) -> sympy.Float:
    """An mpf as a SymPy number with all its digits."""
    return sympy.Float(value, 45)


WITHOUT_CLOSED_FORM = {"tanh", "silu", "softplus"}


def test_variables_are_bound() -> None:
    node = Expectation(S * F(Z) + X[I], Z)
    assert Z not in node.free_symbols
    assert {S, X[I]} <= node.free_symbols
    assert Expectation(S, Z) == S
    assert Expectation(Z * S, Z, T).variables == (Z,)
    with pytest.raises(TypeError, match="not a symbol"):
        Expectation(Z, Z**2)


@pytest.mark.parametrize("replace", [lambda e: e.subs(S, Z), lambda e: e.xreplace({S: Z})])
def test_substitution_does_not_capture(replace) -> None:
    result = replace(Expectation(sympy.tanh(S + Z), Z))
    assert Z in result.free_symbols
    assert result.subs(Z, 1).value(20) == Expectation(sympy.tanh(1 + Z), Z).value(20)


def test_bound_variable_is_not_substituted_but_patterns_with_it_are() -> None:
    node = Expectation(F(Z) * S, Z)
    assert node.subs(Z, 3) == node
    assert node.xreplace({Z: sympy.S(3)}) == node
    assert node.subs(F(Z), Z**2) == Expectation(S * Z**2, Z)


def test_derivatives_go_under_the_integral() -> None:
    node = Expectation(F(Z) * X[I] * S**2, Z)
    assert node.diff(S) == Expectation(2 * F(Z) * X[I] * S, Z)
    assert node.diff(X[I]) == Expectation(F(Z) * S**2, Z)
    assert node.diff(Z) == 0
    assert Expectation(sympy.tanh(S * Z), Z).diff(S, 2) == Expectation(sympy.diff(sympy.tanh(S * Z), S, 2), Z)


def test_expand_is_linear_and_factorises_over_independent_variables() -> None:
    node = Expectation((S + F(Z)) * F(T), Z, T)
    assert sympy.expand(node) == S * Expectation(F(T), T) + Expectation(F(Z), Z) * Expectation(F(T), T)


def test_stein_in_both_directions() -> None:
    assert stein(Expectation(Z * F(Z), Z), Z) == Expectation(F(Z).diff(Z), Z)
    assert stein(Expectation(Z * sympy.sign(Z - S), Z), Z) == sympy.sqrt(2) * sympy.exp(-(S**2) / 2) / sympy.sqrt(
        sympy.pi
    )
    twice = inverse_stein(inverse_stein(Expectation(F(Z).diff(Z, 2), Z), Z), Z)
    assert twice == Expectation((Z**2 - 1) * F(Z), Z)
    assert inverse_stein(Expectation(Z**2, Z), Z, Z**3 / 3) == Expectation(Z**4 / 3, Z)
    with pytest.raises(ValueError, match="no factor"):
        stein(Expectation(F(Z), Z), Z)
    with pytest.raises(ValueError, match="is not the integrand"):
        inverse_stein(Expectation(Z**2, Z), Z, Z**3)


def test_stein_keeps_the_smooth_part_beside_a_jump() -> None:
    node = Expectation(Z * sympy.sign(Z - 1) * sympy.tanh(Z), Z)
    assert abs(sympy.N(stein(node, Z), 35) - exactly(node.value(30))) < 1e-29


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_delta_functions_and_their_derivatives(order: int) -> None:
    """E[delta^(n)(a z - b)] against the n-th derivative by b of phi(b/a)/|a|, up to the sign of the chain rule."""
    b = sympy.Symbol("b", real=True)
    slope = -2
    density = sympy.exp(-((b / slope) ** 2) / 2) / sympy.sqrt(2 * sympy.pi) / 2
    found = resolve_deltas(Expectation(sympy.DiracDelta(slope * Z - b, order), Z))
    assert sympy.simplify(found - (-1) ** order * density.diff(b, order)) == 0


def test_values_to_fifty_digits() -> None:
    with mpmath.workdps(60):
        tolerance = mpmath.mpf(10) ** -50
        assert abs(Expectation(sympy.sign(Z + S), Z).value(50, {S: 1}) - mpmath.erf(1 / mpmath.sqrt(2))) < tolerance
        assert abs(Expectation(sympy.exp(5 * Z), Z).value(50) / mpmath.exp(mpmath.mpf("12.5")) - 1) < tolerance
        nested = Expectation(Z**2 * Expectation(sympy.cos(Z + T), T), Z)
        assert abs(nested.value(20)) < mpmath.mpf(10) ** -19  # E z^2 cos z = (1 - 1) exp(-1/2)
    assert abs(Expectation(sympy.sign(Z), Z).evalf(30)) < 1e-30


def test_steep_and_far_functions() -> None:
    """A step resolved only at 1e-8, and a function that vanishes where the Gaussian weight is."""
    steep = exactly(Expectation(Z * sympy.tanh(S + Z * 10**8), Z).value(30, {S: 1}))
    # the width 1e-8 of the step enters squared
    assert 1e-18 < abs(steep - sympy.sqrt(2 / sympy.pi).evalf(40)) < 1e-15
    far = Expectation(sympy.Max(0, Z - 40), Z).value(30)
    with mpmath.workdps(200):
        exact = mpmath.npdf(40) - 40 * mpmath.erfc(40 / mpmath.sqrt(2)) / 2
        assert abs(far / exact - 1) < mpmath.mpf(10) ** -28


def test_what_cannot_be_evaluated_says_so() -> None:
    with pytest.raises(ValueError, match="no value for s"):
        Expectation(sympy.tanh(Z + S), Z).value(15)
    with pytest.raises(ValueError, match="not defined"):
        Expectation(F(Z), Z).value(15)
    with pytest.raises(QuadratureError):
        Expectation(sympy.exp(Z**2), Z).value(15)


def test_printing() -> None:
    assert sympy.latex(Expectation(F(Z), Z)) == r"\mathbb{E}_{z}\left[f{\left(z \right)}\right]"
    assert sympy.latex(Expectation(Z * T, Z, T) ** 2).startswith(r"\mathbb{E}_{t, z}\left[")
    assert str(Expectation(Z**3, Z)) == "E_{z}[z**3]"


# --- closed forms -------------------------------------------------------------------------------------------


def reference(f: ScalarFunction, s: str, c: str):
    """E f, E[g f] and sqrt(E f^2) of f(s + sqrt(c) g) by mpmath's Gauss-Legendre rule on unit pieces."""
    with mpmath.workdps(40):
        shift, root = mpmath.mpf(s), mpmath.sqrt(mpmath.mpf(c))
        function = sympy.lambdify(
            f.z,
            f.expr,
            modules=[
                {"NormalCdf": mpmath.ncdf, "Heaviside": lambda x, _: (mpmath.sign(x) + 1) / 2},
                "mpmath",
            ],
        )
        cuts = [(mpmath.mpf(sympy.N(b, 45)) - shift) / root for b in f.breakpoints]
        edges = sorted({mpmath.mpf(k) for k in range(-14, 15)} | {k for k in cuts if abs(k) < 14})

        @cache
        def at(g):
            value = function(shift + root * g)
            weighted = value * mpmath.npdf(g)
            return weighted, weighted * value

        def integral(integrand):
            return mpmath.quad(integrand, edges, maxdegree=6, method="gauss-legendre")

        mu0, mu1 = integral(lambda g: at(g)[0]), integral(lambda g: g * at(g)[0])
        return mu0, mu1, mpmath.sqrt(integral(lambda g: at(g)[1]))


POINTS = [
    ("0.37", "0.81"),
    ("-2.9", "1.7"),
    ("-6", "1.3"),
    ("12", "0.001"),
    ("0.5", "40"),
    ("-1.00001", "1e-10"),
]


CLOSED = sorted(set(REGISTERED) - WITHOUT_CLOSED_FORM)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_against_quadrature(name: str, every: bool) -> None:
    """Error model: 28 digits of sqrt(E f^2); the reference is good to 33 of it, the closed form has 80 digits."""
    f = scalar_function(name)
    found = conditional_coefficients(f)
    assert found.closed
    source = POINTS if name not in ("sin", "cos") else POINTS[:4]
    for s, c in source if every else source[CLOSED.index(name) % 2 :: 2]:
        with mpmath.workdps(80):
            closed = [mpmath_function(e, (found.s, found.c)) for e in (found.mu0, found.mu1, found.mu2sq)]
            exact = [function(mpmath.mpf(s), mpmath.mpf(c)) for function in closed]
        mu0, mu1, size = reference(f, s, c)
        with mpmath.workdps(40):
            # beyond 14 standard deviations (1e-43) the reference sees nothing
            tolerance = mpmath.mpf(10) ** -28 * size + mpmath.mpf(10) ** -42
            assert abs(mpmath.mpf(exact[0]) - mu0) < tolerance
            assert abs(mpmath.mpf(exact[1]) - mu1) < tolerance
            assert abs(mpmath.mpf(exact[2]) - (size**2 - mu0**2 - mu1**2)) < tolerance * (size + tolerance)


@pytest.mark.parametrize("name", ["relu", "step"])
def test_one_sided_functions_keep_their_tail(name: str) -> None:
    """Far below the threshold nothing cancels at double precision: mu0 against E f, which is of order exp(-800)."""
    found = conditional_coefficients(scalar_function(name))
    assert found.second.subs({found.s: -40, found.c: 1}).evalf(15) > 0
    node = Expectation(scalar_function(name).at(Z), Z).integrand.subs(Z, Z - 38)
    number = Expectation(node, Z).value(20)
    at_double = sympy.lambdify((found.s, found.c), found.mu0, [{"NormalCdf": mpmath.ncdf}, "mpmath"])(-38, 1)
    # s Phi + sqrt(c) phi cancels s^2/c times, nothing else does
    assert abs(at_double / number - 1) < 38**2 * 64 * 2.0**-52


def test_second_moments_follow_by_squaring() -> None:
    for name in ("relu", "erf", "gelu", "hard_tanh"):
        f = scalar_function(name)
        found = conditional_coefficients(f)
        point = {found.s: sympy.Rational(3, 7), found.c: sympy.Rational(5, 4)}
        numeric = Expectation(f.at(found.s + sympy.sqrt(found.c) * Z) ** 2, Z).value(30, point)
        assert abs(sympy.N(found.second.subs(point), 35) - exactly(numeric)) < 1e-28


@pytest.mark.parametrize("name", sorted(WITHOUT_CLOSED_FORM))
def test_no_rule_means_the_node_stays(name: str) -> None:
    f = scalar_function(name)
    node = Expectation(f.at(S + Z), Z)
    assert close(node) == (node, ())
    assert node.doit() == node


def test_textbook_shapes() -> None:
    sign, erf = (conditional_coefficients(scalar_function(n)) for n in ("sign", "erf"))
    s, c = sign.s, sign.c
    assert sign.mu0 == sympy.erf(sympy.sqrt(2) * s / (2 * sympy.sqrt(c)))
    assert sympy.simplify(sign.mu1 - sympy.sqrt(2 / sympy.pi) * sympy.exp(-(s**2) / (2 * c))) == 0
    assert erf.mu0 == sympy.erf(s / sympy.sqrt(1 + 2 * c))
    relu = conditional_coefficients(scalar_function("relu"))
    assert relu.mu1 == sympy.sqrt(c) * NormalCdf(s / sympy.sqrt(c))


EXTRA = [
    "relu(z)**2",
    "abs(abs(z)-1)",
    "sign(z)*z**3",
    "relu(z)+min(0,exp(z)-1)",
    "exp(-z**2)*z",
    "z*sin(z)*exp(z/2)",
    "sin(z)**2",
    "Phi(2*z-1)",
    "z**2*erf(z/3)",
    "step(z)*step(1-z)",
    "cosh(z)",
    "2**z",
    "sign(z**3-2*z)",
    "Phi(z)*Phi(-z)",
    "erf(z)*exp(z)",
    "clip(z**2,1,4)",
    "erfc(z)",
    "He(7,z)",
]


@pytest.mark.parametrize("text", EXTRA)
def test_the_rules_are_general(text: str) -> None:
    f = scalar_function(text)
    for weight in (sympy.S.One, Z):
        node = Expectation(weight * f.at(S + sympy.sqrt(C) * Z), Z)
        closed, names = close(node)
        assert names and not closed.has(Expectation)
        point = {S: sympy.Rational(-13, 10), C: sympy.Rational(7, 10)}
        number = exactly(node.value(30, point))
        assert abs(sympy.N(closed.subs(point), 35) - number) < 1e-27 * (1 + abs(number))


@given(st.integers(-30, 30), st.integers(1, 40), st.integers(0, 6))
@settings(max_examples=6, deadline=None, derandomize=True)
def test_truncated_moments_obey_their_recursion(s: int, c: int, k: int) -> None:
    """E[w^(k+1) sgn(w)] = s E[w^k sgn w] + c E[(w^k sgn w)'], exactly."""
    w = sympy.Rational(s, 7) + sympy.sqrt(sympy.Rational(c, 5)) * Z
    low, high = (close(Expectation(w**j * sympy.sign(w), Z))[0] for j in (k, k + 1))
    slope = stein(Expectation(Z * w**k * sympy.sign(w), Z), Z)
    right = sympy.Rational(s, 7) * low + sympy.sqrt(sympy.Rational(c, 5)) * close_all(slope)[0]
    assert abs(sympy.N(high - right, 30, maxn=300)) < 1e-25


def test_owen_t() -> None:
    h, a = sympy.symbols("h a", real=True)
    assert OwenT(0, a) == sympy.atan(a) / (2 * sympy.pi)
    assert OwenT(-h, -a) == -OwenT(h, a)
    for i, j in ((0.3, 0.7), (2.5, 0.4), (0.2, 3.0), (9.0, 1.5), (-1.0, -20.0)):
        edges = [j * k / 16 for k in range(17)]
        scaled = mpmath.quad(lambda x, i=i: mpmath.exp(-((i * x) ** 2) / 2) / (1 + x * x), edges)
        direct = mpmath.exp(-(mpmath.mpf(i) ** 2) / 2) * scaled / (2 * mpmath.pi)
        assert abs(owen_t(i, j) - direct) < 1e-14 * abs(direct)
        for symbol in (h, a):
            step = mpmath.mpf(10) ** -12
            with mpmath.workdps(50):
                shifted = [owen_t(i + k * step * (symbol is h), j + k * step * (symbol is a)) for k in (1, -1)]
                slope = (shifted[0] - shifted[1]) / (2 * step)
                exact = sympy.N(OwenT(h, a).diff(symbol).subs({h: sympy.Rational(i), a: sympy.Rational(j)}), 40)
                assert abs(exactly(slope) - exact) < 1e-20


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_paper_normalisation_is_the_same_number(name: str) -> None:
    found = conditional_coefficients(scalar_function(name))
    point = {found.s: sympy.Rational(2, 7), found.c: sympy.Rational(5, 3)}
    ours, paper = (sympy.N(expression.subs(point), 25) for expression in (found.mu1, found.mu1_paper))
    assert abs(ours - paper * sympy.sqrt(sympy.Rational(5, 3))) < 1e-20
