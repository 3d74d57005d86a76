"""What a source on the test error does to the envelope of a sample, and two of them to the product of two envelopes.

The source moves mean, variance and response of the normal output. Two fits with a source each see the same sample; at
h = 0 both outputs are one. All is told by moments of the slope g and how they move with the mean of the output, in
which curvatures that jump leave no trace. Source: THEORY section 14.
"""

from __future__ import annotations

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.operations import computed
from derive.trace import Claim, Recorder

# what a source does to the law of the output: to its mean, slope (squared), variance and response
MOVED = D_MEAN, D_SQUARE, D_VARIANCE, D_RESPONSE = sp.symbols("mean' slope'^2 Delta' V'", real=True)
G, H, H_X = sp.symbols("g h h_x", real=True)  # minus the slope of the envelope, its curvature, the slope of that
# of an output: E g^k, and its derivatives in the mean of the output
MOMENTS = G1, G1_X, G2, G2_X, G2_XX, G3, G3_X, G4 = sp.symbols("g1 g1_x g2 g2_x g2_xx g3 g3_x g4", real=True)
_FIRST, _SECOND = sp.symbols("h_1 h_2", real=True)
_D = sp.symbols("D_1 D_2")  # derivatives in both outputs
_SOURCE = "THEORY section 14"


def record_moved_envelopes(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """(what a source adds to an envelope, what two sources add to the product of two), on average, by ``MOMENTS``."""
    _record_moved(trace)
    _record_product(trace)
    moved = _by_moments(trace, "envelope moved by a source", "M'")
    return moved, _by_moments(trace, "product moved by two sources", "M_12'")


def _record_moved(trace: Recorder) -> None:
    trace.define(
        "law moved by a source",
        sp.Tuple(*sp.symbols("mean slope^2 Delta V")),
        sp.Tuple(*MOVED),
        "derivatives in $h$ of the law of the output given $\\kappa$ and $t$: of its mean, $\\mathrm{mean}'$ with "
        "$\\mathrm{slope}'t$ in it, of its variance and of the response; the covariance $\\Delta_{12}$ of two outputs "
        "moves by $(h_1+h_2)\\Delta'/2-h_1h_2|\\mathrm{slope}'|^2$",
    )
    trace.derive(
        "envelope moved by a source",
        sp.Symbol("M'"),
        computed(
            "differentiate",
            "the average of the envelope over a normal output: $\\partial_\\Delta=\\partial_\\omega^2/2$, and "
            "$\\partial_VM=-(\\partial_\\omega M)^2/2$",
            "law moved by a source",
            by=lambda law: _told(_of_one(law, 0), (1, 0)),
            test=Claim(_moved_polynomial),
        ),
        _SOURCE,
    )


def _record_product(trace: Recorder) -> None:
    trace.derive(
        "product moved by two sources",
        sp.Derivative(sp.Symbol("M_12"), _FIRST, _SECOND),
        computed(
            "differentiate",
            "the average of both envelopes, each with its source: $\\partial_{\\Delta_{12}}=\\partial_{\\omega_1}"
            "\\partial_{\\omega_2}$ (Price's theorem), at $h=0$, where both outputs are one",
            "law moved by a source",
            by=lambda law: _told(_of_two(law), (1, 1)),
            test=Claim(_product_of_polynomials),
        ),
        _SOURCE,
    )


def _by_moments(trace: Recorder, label: str, name: str) -> sp.Expr:
    return trace.derive(
        f"{label}, by moments",
        sp.Symbol(name),
        computed(
            "average",
            "derivatives of $E[g^k]$ in the mean of the output, by $\\partial_\\omega g=-h$: "
            "$E[gh]=-\\partial E[g^2]/2$, $E[gh_x]-E[h^2]=-\\partial^2E[g^2]/2$, $E[g^2h]=-\\partial E[g^3]/3$; there "
            "are no jumps of h in them",
            label,
            by=_in_moments,
            test=Claim(_moments_of_polynomial),
        ),
        _SOURCE,
    )


def _in_moments(body: sp.Expr) -> sp.Expr:
    """Averages of products of g, h and h_x; what is left of h^2 cancels."""
    found = sp.expand(body.xreplace({H_X: (H**2 - G2_XX / 2) / G}))
    products = ((G**2 * H, -G3_X / 3), (G * H, -G2_X / 2), (G**4, G4), (G**3, G3), (G**2, G2))
    for product, moment in products:
        found = found.subs(product, moment)
    return sp.expand(found.subs({H: -G1_X, G: G1}))


def _moments_of_polynomial(found: sp.Expr, body: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The same where the envelope is a polynomial, without the average over the output."""
    g = -sp.diff(_polynomial(), _OMEGA)
    powers = {G1: (1, 0), G1_X: (1, 1), G2: (2, 0), G2_X: (2, 1), G2_XX: (2, 2), G3: (3, 0), G3_X: (3, 1), G4: (4, 0)}
    return found.xreplace({m: sp.diff(g**k, _OMEGA, j) for m, (k, j) in powers.items()}), _at_polynomial(body)


def _of_one(law: sp.Tuple, place: int) -> sp.Expr:
    """What a source does to one envelope, by derivatives in its output; V' stands with a power of its own symbol."""
    mean, _, variance, response = law
    return mean * _D[place] + variance * _D[place] ** 2 / 2 + response * _RESPONSES[place]


def _of_two(law: sp.Tuple) -> sp.Expr:
    """The same of the product, to first order in each source."""
    _, square, variance, _ = law
    both = _D[0] * _D[1]
    half = variance * both / 2
    return sp.expand((_of_one(law, 0) + half) * (_of_one(law, 1) + half) - square * both)


_RESPONSES = sp.symbols("R_1 R_2")  # the derivative in V of one envelope


def _told(operator: sp.Expr, powers: tuple[int, int]) -> sp.Expr:
    """Derivatives of envelopes in g, h and h_x; powers: how many envelopes there are of each output."""
    polynomial = sp.Poly(sp.expand(operator), *_D, *_RESPONSES)
    total = sp.S.Zero
    for (*orders, first, second), factor in polynomial.terms():
        term = factor
        for order, moved, count in zip(orders, (first, second), powers, strict=True):
            term *= _derivative(order, bool(moved)) if count else 1
        total += term
    return sp.expand(total)


def _derivative(order: int, of_response: bool) -> sp.Expr:
    """The derivative of M, or of its derivative in V, that many times in omega: M' = -g, g' = -h."""
    body = -(G**2) / 2 if of_response else sp.Symbol("M", real=True)
    for _ in range(order):
        body = sum(sp.diff(body, name) * slope for name, slope in _CHAIN.items())
    return sp.expand(body)


_CHAIN = {sp.Symbol("M", real=True): -G, G: -H, H: H_X}
_OMEGA, _X, _ETA = sp.symbols("omega x eta", real=True)
_SIZES = (sp.Rational(1, 3), sp.Rational(-1, 2), sp.Rational(1, 4), sp.Rational(1, 5), sp.Rational(-1, 7))
_SPREAD = sp.Symbol("Delta", positive=True)


def _polynomial() -> sp.Expr:
    return sp.Add(*(a * _OMEGA**k for k, a in enumerate(_SIZES)))


def _at_polynomial(found: sp.Expr) -> sp.Expr:
    """An expression in g, h, h_x where the envelope is a polynomial of the output."""
    slopes = [sp.diff(_polynomial(), _OMEGA, order) for order in (1, 2, 3)]
    return found.xreplace({sp.Symbol("M", real=True): _polynomial(), G: -slopes[0], H: slopes[1], H_X: slopes[2]})


def _with_source(source: sp.Expr) -> sp.Expr:
    """The envelope at the response that a source moves, to first order."""
    return _polynomial() - source * D_RESPONSE * sp.diff(_polynomial(), _OMEGA) ** 2 / 2


def _moved_polynomial(found: sp.Expr, _: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """The same by the average of a polynomial, whose law moves."""
    output = _FIRST * D_MEAN + sp.sqrt(_SPREAD + _FIRST * D_VARIANCE) * _X
    average = _normal(_with_source(_FIRST).xreplace({_OMEGA: output}))
    plain = _at_polynomial(found).xreplace({_OMEGA: sp.sqrt(_SPREAD) * _X})
    return sp.Subs(sp.Derivative(average, _FIRST), _FIRST, 0), Expectation(plain, _X)


def _product_of_polynomials(found: sp.Expr, _: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    """The same by the average of a product: outputs that have as much in common as they have in the two fits."""
    shared = _SPREAD + (_FIRST + _SECOND) * D_VARIANCE / 2 - _FIRST * _SECOND * D_SQUARE
    product = sp.S.One
    # what each output has of its own has the variance h_1 h_2 slope'^2 + (h_1 - h_2) Delta'/2 and the opposite
    for source, sign in ((_FIRST, 1), (_SECOND, -1)):
        own = _FIRST * _SECOND * D_SQUARE + sign * (_FIRST - _SECOND) * D_VARIANCE / 2
        body = _linear(_with_source(source).xreplace({_OMEGA: source * D_MEAN + _OMEGA + _ETA}))
        product *= _linear(_moments(body, _ETA, own))
    average = _linear(_moments(_linear(product), _OMEGA, shared))
    mixed = average.coeff(_FIRST, 1).coeff(_SECOND, 1)
    plain = _at_polynomial(found).xreplace({_OMEGA: sp.sqrt(_SPREAD) * _X})
    return mixed, Expectation(plain, _X)


def _linear(body: sp.Expr) -> sp.Expr:
    """A polynomial to first order in each source."""
    kept = sp.Poly(body, _FIRST, _SECOND).terms()
    return sp.expand(sp.Add(*(c * _FIRST**i * _SECOND**j for (i, j), c in kept if max(i, j) < 2)))


def _normal(body: sp.Expr) -> sp.Expr:
    return _moments(sp.expand(body), _X, sp.S.One)


def _moments(body: sp.Expr, variable: sp.Symbol, variance: sp.Expr) -> sp.Expr:
    """The average of a polynomial over a normal variable of any variance."""
    terms = sp.Poly(body, variable).terms()
    return sp.Add(*(c * variance ** (k // 2) * sp.factorial2(k - 1) for (k,), c in terms if k % 2 == 0))
