"""Losses: the catalogue, forms, breakpoints and pieces, the special functions of the probit loss, convexity."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import sympy as sp
from hash_seeds import printed_under_any_seed
from hypothesis import given, settings
from hypothesis import strategies as st
from long_runs import every

from derive.gaussian.numeric import mpmath_function
from derive.gaussian.special import InverseMillsRatio, LogNormalCdf, TruncatedMean
from derive.language.grammar import ExpressionError, canonical, parse
from derive.language.loss_catalogue import REGISTERED, form_of, lookup
from derive.loss import convexity
from derive.loss.convexity import NotConvex, check_convex
from derive.loss.loss import REGISTERED_LOSSES, F, Loss, U, Y, analyse_loss, loss_of

DELTA, TAU, EPSILON, TRIALS = sp.symbols("delta tau epsilon trials", positive=True)
HALF = sp.Rational(1, 2)

#: name -> (form, breakpoints in u, slopes of the pieces), worked out by hand.
EXPECTED: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "square": ("residual", (), (U,)),
    "logistic": ("margin", (), (-1 / (1 + sp.exp(U)),)),
    "hinge": ("margin", (1,), (-1, 0)),
    "squared_hinge": ("margin", (1,), (U - 1, 0)),
    "smoothed_hinge": ("margin", (1 - DELTA, 1), (-1, (U - 1) / DELTA, 0)),
    "exponential": ("margin", (), (-sp.exp(-U),)),
    "probit": ("margin", (), (-InverseMillsRatio(U),)),
    "absolute": ("residual", (0,), (-1, 1)),
    "quantile": ("residual", (0,), (-TAU, 1 - TAU)),
    "huber": ("residual", (-DELTA, DELTA), (-DELTA, U, DELTA)),
    "log_cosh": ("residual", (), (sp.tanh(U),)),
    "epsilon_insensitive": ("residual", (-EPSILON, EPSILON), (-1, 0, 1)),
    "poisson": ("general", (), (sp.exp(U) - Y,)),
    "binomial": ("general", (), (TRIALS / (1 + sp.exp(-U)) - Y,)),
}

#: Convex losses that nobody registered: text -> (form, number of breakpoints).
CONVEX = {
    "sqrt(1+(y-f)**2)": ("residual", 0),
    "log(cosh(2*y-2*f))/3": ("residual", 0),
    "y**2-2*y*f+f**2": ("residual", 0),
    "abs(y-f)**1.5": ("residual", 1),
    "abs(f-y)+(y-f)**4": ("residual", 1),
    "max(abs(y-f)-1,max(0,2*abs(y-f)-4))": ("residual", 4),
    "max((y-f)**2,(y-f)**4)": ("residual", 2),
    "sign(y-f)*(y-f)": ("residual", 1),
    "max(abs(y-f),2*(f-y)-1)": ("residual", 2),
    "max(abs(y-f),2*(y-f)-1)": ("residual", 2),
    "softplus(y-f)+softplus(f-y)": ("residual", 0),
    "(y-f)*Phi(y-f)+exp(-(y-f)**2/2)/sqrt(2*pi)": ("residual", 0),
    "max(0,1-y*f)**3": ("margin", 1),
    "log(1+exp(-2*y*f))/2+0.01*(y*f)**2": ("margin", 0),
    "relu(y*f-1)+relu(-1-y*f)": ("margin", 2),
    "max(max(0,1-y*f),(1-y*f)**2)": ("margin", 2),
    "-log(erfc(-y*f/sqrt(2))/2)": ("margin", 0),
    "-log(1-sigmoid(-3*y*f))": ("margin", 0),
    "-log(1-Phi(-y*f))": ("margin", 0),
    "-log(1+erf(y*f))": ("margin", 0),
    "exp(-y*f)+max(0,1-y*f)": ("margin", 1),
    "exp(2*f)-y*f": ("general", 0),
    "softplus(f)-y*f+f**2/8": ("general", 0),
    "f**2/2-y*f+abs(f)": ("general", 1),
    "(1+y**2)*f**2-y*f": ("general", 0),
}
ALL = (*REGISTERED, *CONVEX)


def original(loss: Loss, parameters: dict[str, float]) -> Callable[[Any, Any], Any]:
    """The loss as it was written, a function of y and f; no pieces, no change of variable."""
    numbers = {p.symbol: sp.Rational(parameters.get(p.name, p.default)) for p in loss.parameters}
    function: Callable[[Any, Any], Any] = mpmath_function(loss.expr.subs(numbers), (Y, F))
    return function


def test_registered_losses_are_those_of_the_table() -> None:
    assert list(REGISTERED) == list(EXPECTED) == list(REGISTERED_LOSSES)
    for name, (form, breakpoints, slopes) in EXPECTED.items():
        loss, entry = REGISTERED_LOSSES[name], REGISTERED[name]
        analysis = analyse_loss(loss)
        assert (loss.form, analysis.breakpoints) == (form, tuple(map(sp.sympify, breakpoints))), name
        for piece, slope in zip(analysis.pieces, slopes, strict=True):
            assert sp.simplify((sp.diff(piece, U) - slope).rewrite(sp.exp)) == 0, name
        assert loss.error_scale == (2 if name == "square" else 1)
        assert entry.citation and entry.latex and loss.expression == entry.expression
        assert entry.predicts == {"margin": "sign(f)", "residual": "f"}.get(form, entry.predicts)
        assert all(p.low < p.default < p.high for p in loss.parameters)


@pytest.mark.parametrize("name", REGISTERED)
def test_the_form_in_the_catalogue_is_that_of_the_expression(name: str) -> None:
    entry = REGISTERED[name]
    node = parse(entry.expression, entry.variables)
    assert canonical(node) == entry.expression
    for share in (1.0, 0.37, 0.83):
        assert form_of(node, {p.name: share * p.default for p in entry.parameters}) == entry.form


@pytest.mark.parametrize("text", ["(y-f)**2/2+max(abs(f)-20,0)**2", "abs(y-f)+max(f-900,0)", "(y-f)**2+max(-f-40,0)"])
def test_terms_that_begin_far_out_are_seen(text: str) -> None:
    """By their values next to zero they were taken for functions of y - f, and refused as no such function."""
    assert lookup(text).form == "general"


@pytest.mark.parametrize(
    ("text", "convex"),
    [
        ("log(1+exp(-y*f))*(1+0.5*y)", True),
        ("max(0,1-y*f)*(1+0.5*y)", True),
        ("max(0,1-y*f)*(1-2*y)", False),
        ("y*(y-f)**2", False),
    ],
)
def test_the_hint_for_weights_of_classes_holds_where_these_are_positive(text: str, convex: bool) -> None:
    with pytest.raises(NotConvex) as caught:
        check_convex(loss_of(text))
    assert ("step(y)" in caught.value.hint) == convex
    for written in ("log(1+exp(-y*f))*(0.5+step(y))", "max(0,1-y*f)*(0.5+step(y))"):  # as the hint says
        check_convex(loss_of(written))


@pytest.mark.parametrize("name", [name for name, entry in REGISTERED.items() if entry.aliases])
def test_aliases_are_the_same_loss(name: str) -> None:
    entry = REGISTERED[name]
    value = original(REGISTERED_LOSSES[name], {})
    for alias in entry.aliases:
        assert lookup(f" ({alias}) ") is entry
        other = mpmath_function(_expression(alias), (Y, F))
        for y, f in ((0.7, 0.3), (-1.2, 2.1), (1.0, -0.4), (-1.0, 0.9)):
            assert abs(value(mpmath.mpf(y), mpmath.mpf(f)) - other(mpmath.mpf(y), mpmath.mpf(f))) < 1e-13


def _expression(text: str) -> Any:
    from derive.to_sympy import to_sympy

    return to_sympy(parse(text, ("y", "f")), {"y": Y, "f": F})


@pytest.mark.parametrize("text", ALL)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(y=st.floats(-6, 6), f=st.floats(-6, 6), share=st.floats(0.03, 0.97))
def test_pieces_are_the_loss(text: str, y: float, f: float, share: float) -> None:
    """To 25 digits of 30; the pieces in u = s f - o, chosen by the breakpoints."""
    loss = loss_of(text)
    if loss.form == "margin":
        y = 1.0 if y > 0 else -1.0
    parameters = {p.name: share for p in loss.parameters}
    with mpmath.workdps(60):  # erfc cancels as it is written
        expected = original(loss, parameters)(mpmath.mpf(y), mpmath.mpf(f))
    with mpmath.workdps(30):
        analysis = analyse_loss(loss)
        numbers = {p.symbol: sp.Rational(share) for p in loss.parameters} | {Y: sp.Rational(y)}
        u = (loss.sign * sp.Rational(f) - loss.offset).subs(numbers)
        passed = sum(1 for b in analysis.breakpoints if u > b.subs(numbers))
        found = mpmath_function(analysis.pieces[passed].subs(numbers), (U,))(mpmath.mpmathify(u.evalf(30)))
        assert abs(found - expected) < mpmath.mpf(10) ** -25 * (1 + abs(expected))


@pytest.mark.parametrize("text", CONVEX)
def test_user_losses(text: str) -> None:
    loss = loss_of(text)
    form, breakpoints = CONVEX[text]
    analysis = analyse_loss(loss)
    assert (loss.form, len(analysis.breakpoints)) == (form, breakpoints)
    assert len(analysis.pieces) == breakpoints + 1
    assert all(low < high for low, high in zip(analysis.breakpoints, analysis.breakpoints[1:], strict=False))
    assert loss.name.startswith("user_") and len(loss.name) == 21
    assert loss_of(loss.expression) == loss
    assert not any(piece.has(Y) for piece in analysis.pieces) or form == "general"


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from([n for n in REGISTERED if REGISTERED[n].parameters]), st.floats(1e-6, 1 - 1e-6))
def test_breakpoints_increase_for_all_parameters(name: str, share: float) -> None:
    analysis = analyse_loss(REGISTERED_LOSSES[name])
    (parameter,) = analysis.loss.parameters
    for value in (share, 1 / share) if parameter.high > 1 else (share,):
        places = [b.subs(parameter.symbol, value) for b in analysis.breakpoints]
        assert all(low < high for low, high in zip(places, places[1:], strict=False))


def test_names() -> None:
    # sha256("sqrt(1+(y-f)**2)"), fixed so that generated files keep their names
    assert lookup(" sqrt( 1 + (y - f)**2 )").name == "user_0a0a5126fd776e65"
    assert lookup("log(cosh(y - f))") is REGISTERED["log_cosh"]
    assert lookup("softplus(-y*f)") is REGISTERED["logistic"]
    assert lookup("0.5*(y-f)**2") is REGISTERED["square"]
    assert lookup("log(cosh(y-f))").latex and lookup("exp(2*f)-y*f").latex == r"\exp\left(2 \cdot f\right) - y \cdot f"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("logistc", "did you mean 'logistic'"),
        ("Hinge", "did you mean 'hinge'"),
        ("hinge_squared", "did you mean 'squared_hinge'"),
        ("pinball", "did you mean 'quantile'"),
        ("mse", "did you mean 'square'"),
        ("tanh", "not a registered loss"),
        ("huber(2)", 'write loss = { name = "huber", delta = 1.0 }'),
        ("square(y-f)", 'write loss = { name = "square" }'),
        ("f**2", "does not depend on y"),
        ("y**2", "does not depend on f"),
        ("1", "does not depend on y and f"),
        ("(y-z)**2", "variables are y f"),
        ("min(abs(y-f),delta)", "unknown name 'delta'"),
        ("(y-f)^2", "write powers with"),
        ("(y-f", "not a complete expression"),
        ("", "empty"),
    ],
)
def test_texts_that_are_no_loss(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        loss_of(text)
    assert words in str(caught.value)


REFUSED = {
    "step(-y*f)": "jumps at y*f = 0",
    "sign(y-f)": "jumps at f - y = 0",
    "log(abs(y-f))": "not finite at f - y = 0",
    "1/abs(y-f)": "not finite at f - y = 0",
    "max(abs(y-f),f**2)": "could not be found exactly",
    "abs(f-sin(y))+abs(f)": "could not be found exactly",
    "(y-f)**2/2+1e-12*f**2": "looks like a function of y - f alone",
    "abs(sin(y-f))": "could not be found exactly",
}


@pytest.mark.parametrize(("text", "words"), REFUSED.items())
def test_losses_that_are_not_analysed(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        analyse_loss(loss_of(text))
    assert words in caught.value.message and caught.value.hint


@pytest.mark.parametrize("text", ALL)
def test_convex_losses_pass(text: str) -> None:
    certificate = check_convex(loss_of(text))
    assert len(certificate.methods) == len(certificate.analysis.pieces)
    assert certificate.symbolic
    assert len(certificate.jumps) == len(certificate.analysis.breakpoints)


def test_slope_jumps() -> None:
    assert check_convex(loss_of("quantile")).jumps == (1,)
    assert check_convex(loss_of("huber")).jumps == (0, 0)
    assert check_convex(loss_of("hinge")).jumps == (1,)
    assert check_convex(loss_of("max(abs(y-f)-1,max(0,2*abs(y-f)-4))")).jumps == (1, 1, 1, 1)


def test_what_sympy_cannot_tell_is_scanned() -> None:
    assert check_convex(loss_of("(y-f)**2/2+0.99*cos(y-f)")).methods == ("numeric",)
    with pytest.raises(NotConvex) as caught:
        check_convex(loss_of("(y-f)**2/2+1.01*cos(y-f)"))
    # 1 - 1.01 cos(u) < 0 for |u| < arccos(1/1.01) = 0.1408, and near the other maxima of the cosine
    low, high = caught.value.region
    assert -0.1409 < low < -0.12 and 0.12 < high < 0.1409


@pytest.mark.parametrize("text", every(3, ALL))
def test_the_scan_agrees_with_the_symbols(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = check_convex(loss_of(text))
    monkeypatch.setattr(convexity, "_nonnegative", lambda *_: False)
    scanned = check_convex.__wrapped__(loss_of(text))
    assert set(scanned.methods) == {"numeric"} and scanned.jumps == proved.jumps


#: text -> an interval of u in which the loss is truly not convex and which holds the reported region.
NOT_CONVEX = {
    "(y-f)**4-(y-f)**2": (-0.4083, 0.4083),
    "log(1+(y-f)**2)": (-1e5, -1.0),
    "1-tanh(y*f)": (-1e5, 0.0),
    "min((y-f)**2,1)": (-1.0, -1.0),
    "abs(y-f)-0.5*max(abs(y-f),1)": (-1.0, -1.0),
    "sqrt(abs(y-f))": (-1e5, 0.0),
    "-abs(y-f)": (0.0, 0.0),
    "-log(1+exp(-y*f))": (-1e5, 1e5),
    "1/(y-f-0.3217)**2": (-0.33, -0.32),
    "(y-f)**2-0.1*exp(-(100*(y-f-3))**2)": (-3.1, -2.9),
    "y*f**2-f": (-1e5, 1e5),
}


@pytest.mark.parametrize(("text", "inside"), NOT_CONVEX.items())
def test_losses_that_are_not_convex(text: str, inside: tuple[float, float]) -> None:
    with pytest.raises(NotConvex) as caught:
        check_convex(loss_of(text))
    error = caught.value
    assert inside[0] <= error.region[0] <= error.region[1] <= inside[1]
    assert text.replace(" ", "") in error.message and "not convex" in error.message and error.hint
    assert (error.label is None) == (loss_of(text).form != "general")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-y*f", "linear in f"),
        ("2*(y-f)", "linear in f"),
        ("-log(1-(y-f))", "not a finite real number at f - y = -"),
        ("y-sqrt(f)", "not a finite real number at f = -"),
        ("-log(exp(f-y)-2)", "not a finite real number at f - y = -"),
        ("1/(y-f)**2", "not a finite real number at f - y = 0"),
    ],
)
def test_losses_without_a_finite_minimum(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        check_convex(loss_of(text))
    assert words in caught.value.message and not isinstance(caught.value, NotConvex)


@pytest.mark.parametrize("place", ["-1000000", "-300", "-38.5", "-2.25", "0", "0.75", "9", "40"])
def test_special_functions_of_the_probit_loss(place: str) -> None:
    """Values against mpmath's own normal law at high precision; slopes against numerical derivatives."""
    x = mpmath.mpf(place)
    with mpmath.workdps(60):
        # the values lie as close to 1 as exp(-x^2/2): precision enough to see them
        with mpmath.extradps(int(x * x / 4) + 20 if abs(x) < 100 else 40):
            cdf, density = mpmath.erfc(-x / mpmath.sqrt(2)) / 2, mpmath.npdf(x)
            expected = (mpmath.log(cdf), density / cdf, x + density / cdf)
        for function, value in zip((LogNormalCdf, InverseMillsRatio, TruncatedMean), expected, strict=True):
            found = mpmath_function(function(U), (U,))
            assert abs(found(x) - value) < mpmath.mpf(10) ** -50 * abs(value)
            assert abs(function(sp.Rational(place)).evalf(40) - sp.Float(value, 40)) < 1e-38 * abs(value)
            if abs(x) < 100:
                slope = mpmath_function(sp.diff(function(U), U), (U,))
                numeric = mpmath.diff(found, x, h=mpmath.mpf(10) ** -20)
                assert abs(slope(x) - numeric) < mpmath.mpf(10) ** -30
    assert TruncatedMean(U).is_positive and InverseMillsRatio(U).is_positive and LogNormalCdf(U).is_negative


def test_special_functions_in_latex() -> None:
    ratio = r"\frac{\varphi\left(u\right)}{\Phi\left(u\right)}"
    assert sp.latex(-LogNormalCdf(U)) == r"- \log\Phi\left(u\right)"
    assert sp.latex(InverseMillsRatio(U) ** 2) == rf"\left({ratio}\right)^{{2}}"
    assert sp.latex(TruncatedMean(U) ** 2) == rf"\left(u + {ratio}\right)^{{2}}"
    assert sp.latex(InverseMillsRatio(U) * TruncatedMean(U)) == rf"{ratio} \left(u + {ratio}\right)"


_PRINTED = """
from derive.loss.loss import analyse_loss, loss_of
from derive.loss.prox import moreau
for text in ("huber", "epsilon_insensitive", "logistic", "max(abs(y-f)-1,max(0,2*abs(y-f)-4))"):
    analysis = analyse_loss(loss_of(text))
    print(analysis, moreau(analysis.loss).derivation.latex())
"""


def test_the_same_text_under_every_hash_seed() -> None:
    assert printed_under_any_seed(_PRINTED).count(r"\begin{align}") > 20


def test_the_catalogue_knows_no_sympy() -> None:
    program = "import sys, derive.language.loss_catalogue; "
    program += "print([m for m in ('sympy', 'mpmath', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
