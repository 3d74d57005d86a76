"""How much the squared norms of the rows vary after a gradient step, and how that goes with the rows themselves.

With z = w.x/sqrt(c) given the coordinates of x along the spike, sigma' is a constant, a multiple of z, and a rest rho.
A step makes a bulk row w of squared norm c to ``M w + eta``, ``M = 1 + (1/n) sum_i b_i x_i x_i^T`` and
``eta = (1/n) sum_i r_i(z_i) x_i``, b_i the second part of A u e sigma' over sqrt(c), r_i = A u e_i rho. The squared
norm is a function of w given the batch. Hermite polynomials of different orders in w are uncorrelated, which makes the
variance a sum of parts: linear, quadratic, sample by sample, and pairs of samples. The first step has c = 1,
b = a_2 e, and the same rho for all samples. Source: THEORY section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.bulk_covariance import OVERLAP
from derive.gaussian.expectation import Expectation
from derive.network_step import DIMENSION
from derive.operations import COMPOSED, computed
from derive.rest_of_slope import REST, SOME_REST, Z, averaged, hermite, of_some_rest, over_z
from derive.sample_averages import ALPHA0
from derive.sample_traces import Form, mean, of_form, of_square, trace_by_all_partitions
from derive.trace import Claim, Derivation, Recorder

BETWEEN = sp.Symbol("g", real=True)  # of the product of different samples
REST_2, Z_2, OVERLAP_2 = sp.symbols("rho_2 z_2 theta_2", real=True)  # of another sample
# of a sample, to the matrix that rows are multiplied by; of another one
ADDED, ADDED_2 = (sp.Function("b", real=True)(of) for of in (OVERLAP, OVERLAP_2))
MEAN, GROWTH = sp.symbols("b_1 h_1", real=True)  # E b; what squared norms change by with those before
BEFORE = sp.Symbol("c", positive=True)  # squared norm of a row
OF_CROSS, OF_SQUARE, FIRST, SECOND = (  # functions of the residual e of a sample
    sp.Function(name, real=True)(OVERLAP) for name in ("p_1", "p_2", "psi_1", "psi_2")
)
_SOURCE, _LARGE = "THEORY section 5", "d, n0 large at fixed ratio, to leading order in 1/d"


@dataclass(frozen=True)
class RowNorms:
    """``of_sample``: p_1, p_2, psi_1, psi_2, functions of a sample in order; by these ``growth`` h_1: what squared
    norms change by with those before; ``chi``: d times their variance without the linear part, that of
    ``w.y + h_1 (the same before)``, ``y = (1/n) sum_i psi_1 x_i/sqrt(c)``; ``noise``: tau of
    ``(1/n) sum_i tau_i x_i``, d times the covariance of norm and noise of a row at one norm before; ``change`` of
    ``(1/n) sum_i change_i x_i``, what the row gains with a relative excess of its squared norm.
    """

    of_sample: tuple[tuple[Any, Any], ...]
    growth: Any
    chi: Any
    noise: Any
    change: Any
    derivation: Derivation


def row_norms() -> RowNorms:
    """Derive the fluctuations of the squared norms of the rows."""
    trace = Recorder("Norms of the rows")
    cross, square = _per_sample(trace)
    first, second = (_hermite(trace, order) for order in (1, 2))
    of_sample = ((OF_CROSS, cross), (OF_SQUARE, square), (FIRST, first), (SECOND, second))
    growth, chi, noise = _growth(trace), _variance(trace), _with_noise(trace)
    change = _change(trace)
    return RowNorms(of_sample, growth, chi, noise, change, trace.finish())


def _per_sample(trace: Recorder) -> tuple[Any, Any]:
    """(p_1, p_2) of psi = p_1(e) rho z + p_2(e) rho^2: what one sample adds to the squared norm, beside w.M^2 w."""
    trace.assume(
        "different samples",
        sp.Symbol("x.x'"),
        sp.sqrt(DIMENSION) * BETWEEN,
        "products of different samples to be $\\sqrt{d}$ times independent standard normal numbers $g$, those of "
        "samples with a row $\\sqrt{c}z$, and $|x|^2=d$; matrices of the samples to be free of one another, and of the "
        "row, which is Gaussian given its norm",
        source=_SOURCE,
        assumption=_LARGE,
    )
    trace.derive(
        "sample on the row",
        sp.Symbol("x.Mw"),
        computed(
            "average",
            "$x_i\\cdot Mw$ of the stretched row along $w\\cdot x_i=\\sqrt{c}z_i$: itself, the sample's own part, and "
            "the mean over another one, $w\\cdot x_j=\\sqrt{c}(g_{ij}z_i/\\sqrt{d}+q)$",
            "different samples",
            by=lambda between: _on_row(_over_normal(_of_another(between), BETWEEN)),
            test=Claim(lambda found, between: (_on_row(Expectation(_of_another(between), BETWEEN)), found)),
        ),
        _SOURCE,
    )
    trace.derive(
        "squared norm, per sample",
        sp.Symbol("psi"),
        computed(
            "expand the square",
            "$|Mw+\\eta|^2=w\\cdot M^2w+\\frac{1}{n_0}\\sum_i\\psi_i(z_i)+(\\text{pairs})$, "
            "$\\eta=\\frac{1}{n_0}\\sum_i\\rho_i(z_i)x_i$, $\\rho_i$ with its factor $Aue_i$: the cross term with the "
            "sample's own part of $Mw$, and the diagonal of the square, $|x_i|^2=d$",
            "sample on the row",
            by=lambda along: 2 * REST * along + REST**2 / ALPHA0,
            test=COMPOSED,
        ),
        _SOURCE,
    )
    cross, square = (
        trace.derive(
            f"squared norm, per sample, coefficient of {words}",
            name,
            computed(
                "read off",
                "a function of the sample",
                "squared norm, per sample",
                by=lambda psi, power=power: sp.factor(sp.Poly(psi, REST, Z).coeff_monomial(power)),
                test=Claim(lambda found, psi, power=power: (_coefficient(psi, power), found)),
            ),
            _SOURCE,
        )
        for words, name, power in (("rho z", OF_CROSS, REST * Z), ("rho^2", OF_SQUARE, REST**2))
    )
    return cross, square


def _of_another(between: Any) -> Any:
    """What another sample with b = 1 adds to x.Mw along z; its part q, independent of g, averages to nothing."""
    return between * sp.sqrt(BEFORE) * BETWEEN * Z / sp.sqrt(DIMENSION)


def _on_row(another: Any) -> Any:
    return sp.factor(sp.sqrt(BEFORE) * Z * (1 + ADDED / ALPHA0) + MEAN * another)


def _over_normal(polynomial: Any, variable: Any) -> Any:
    """The average of a polynomial over a standard normal variable."""
    terms = sp.Poly(sp.expand(polynomial), variable).terms()
    return sp.Add(*(factor * sp.factorial2(k - 1) for (k,), factor in terms if k % 2 == 0))


def _coefficient(psi: Any, power: Any) -> Any:
    """Of rho z or rho^2 in a quadratic form of both, by derivatives."""
    if power == REST**2:
        return sp.Derivative(psi, (REST, 2)) / 2
    return sp.Derivative(psi, REST, Z)


def _per_sample_named() -> Any:
    return OF_CROSS * REST * Z + OF_SQUARE * REST**2


def _hermite(trace: Recorder, order: int) -> Any:
    """E[psi He_k]: a function of the sample."""
    words, name = {1: ("linear", FIRST), 2: ("quadratic", SECOND)}[order]
    return trace.derive(
        f"squared norm, per sample, {words} part",
        name,
        computed(
            "average",
            f"the Hermite coefficient of order {order} in $z$ of $\\psi=p_1\\rho z+p_2\\rho^2$; "
            "$r_{ij}=E[\\rho^iz^j]$",
            "squared norm, per sample, coefficient of rho z",
            "squared norm, per sample, coefficient of rho^2",
            by=lambda *_: over_z(_per_sample_named() * hermite(order)),
            test=Claim(lambda found, *_: (averaged(_per_sample_named() * hermite(order)), of_some_rest(found))),
        ),
        _SOURCE,
    )


def _quadratic_form() -> Form:
    """H - 1 of the quadratic part w.Hw, as a sum of products of sample matrices."""
    return [(sp.Integer(2), (ADDED,)), (sp.S.One, (ADDED, ADDED)), (sp.S.One, (SECOND / (2 * BEFORE),))]


# --- the variance ---------------------------------------------------------------------------------------------------


def _growth(trace: Recorder) -> Any:
    """h_1: the trace of H."""
    form = _quadratic_form()
    return trace.derive(
        "growth of the squared norm",
        GROWTH,
        computed(
            "take the trace",
            "$\\mathrm{tr}H/d$ of $w\\cdot Hw$, $H=M^2+\\frac{1}{2cn_0}\\sum_i\\psi_2x_ix_i^T$: what an excess of the "
            "squared norm before becomes, $H$ being independent of $w$; by partitions without crossings",
            "different samples",
            by=lambda _: 1 + of_form(form),
            test="two partitions at most, which do not cross",
        ),
        "free cumulants of a compound Poisson law",
    )


def _variance(trace: Recorder) -> Any:
    """chi, part by part."""
    form, spread = _quadratic_form(), (BETWEEN**2 - 1) ** 2
    trace.derive(
        "variance, quadratic",
        sp.Symbol("chi_quadratic"),
        computed(
            "average",
            "$\\frac{c}{d}\\sum_k(\\lambda_k-\\mathrm{tr}H/d)(g_k^2-1)$ over the eigenvectors of $H$: $w\\cdot Hw$ "
            "without the part along $|w|^2$",
            "different samples",
            by=lambda _: BEFORE**2 * _over_normal(spread, BETWEEN) * (of_square(form) - of_form(form) ** 2),
            test=Claim(lambda found, _: (BEFORE**2 * Expectation(spread, BETWEEN) * _varied(form), found)),
        ),
        _SOURCE,
    )
    _beyond(trace)
    trace.derive(
        "variance, pairs",
        sp.Symbol("chi_pairs"),
        computed(
            "average",
            "of $n_0^2/2$ pairs, $2(\\rho\\rho'+\\sqrt{c}(\\rho b'z'+\\rho'bz))\\,x\\cdot x'/n_0^2$: both have noise, "
            "or the noise of one meets what the other adds to $Mw$",
            "different samples",
            by=lambda between: _over_pairs(_of_pair(between)) / 2,
            test=Claim(lambda found, between: (_averaged_over_pairs(_of_pair(between)) / 2, of_some_rest(found))),
        ),
        _SOURCE,
    )
    return trace.derive(
        "variance of the squared norm, without the linear part",
        sp.Symbol("chi"),
        computed(
            "add",
            "the parts are uncorrelated",
            *(f"variance, {part}" for part in ("quadratic", "sample by sample", "pairs")),
            by=lambda *parts: sp.Add(*parts),
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _varied(form: Form) -> Any:
    """(tr H^2 - (tr H)^2/d)/d, by all partitions."""
    return of_square(form, trace_by_all_partitions) - of_form(form, trace_by_all_partitions) ** 2


def _of_pair(between: Any) -> Any:
    """n0^2 d times the square of what a pair of samples adds to the squared norm."""
    noise = REST * REST_2 + sp.sqrt(BEFORE) * (REST * ADDED_2 * Z_2 + REST_2 * ADDED * Z)
    return sp.expand((2 * noise * between / ALPHA0) ** 2 / DIMENSION)


def _over_pairs(square: Any) -> Any:
    """The average over two samples and their product."""
    total = sp.S.Zero
    for (i, j, k, m, _), factor in sp.Poly(_by_normal(square), REST, Z, REST_2, Z_2, BETWEEN).terms():
        for term in sp.Add.make_args(sp.expand(factor)):
            outside, second = term.as_independent(ADDED_2, as_Add=False)
            outside, first = outside.as_independent(ADDED, as_Add=False)
            one, other = over_z(REST**i * Z**j), over_z(REST**k * Z**m)
            total += outside * mean(first * one) * mean(second.xreplace({ADDED_2: ADDED}) * other)
    return total


def _by_normal(square: Any) -> Any:
    return _over_normal(square, BETWEEN)


def _averaged_over_pairs(square: Any) -> Any:
    """The same for some rest."""
    some = square.xreplace({REST: SOME_REST, REST_2: SOME_REST.xreplace({Z: Z_2})})
    return Expectation(Expectation(some, Z, Z_2, BETWEEN), OVERLAP, OVERLAP_2)


def _beyond(trace: Recorder) -> None:
    """The variance of psi over z without its parts of order up to two, and its mean over the samples."""
    psi = _per_sample_named()
    low = [(hermite(k), sp.factorial(k)) for k in range(3)]
    linear, quadratic = (f"squared norm, per sample, {word} part" for word in ("linear", "quadratic"))
    trace.derive(
        "squared norm, per sample, the rest",
        sp.Symbol("psi_rest"),
        computed(
            "average",
            "the variance of $\\psi$ over $z$ without its parts of order up to two",
            linear,
            quadratic,
            by=lambda *_: over_z(psi**2) - over_z(psi) ** 2 - FIRST**2 - SECOND**2 / 2,
            test=Claim(
                lambda found, first, second: (
                    averaged(psi**2) - sp.Add(*(averaged(psi * h) ** 2 / size for h, size in low)),
                    of_some_rest(found.xreplace({FIRST: first, SECOND: second})),
                )
            ),
        ),
        _SOURCE,
    )
    trace.derive(
        "variance, sample by sample",
        sp.Symbol("chi_rest"),
        computed(
            "average",
            "over the samples, of which these parts are independent",
            "squared norm, per sample, the rest",
            by=lambda rest: mean(rest) / ALPHA0,
            test=COMPOSED,
        ),
        _SOURCE,
    )


# --- covariance with the row ----------------------------------------------------------------------------------------


def _with_noise(trace: Recorder) -> Any:
    """tau: of all parts but the linear one with the noise of the row, at one norm before."""
    trace.derive(
        "quadratic part on a sample",
        sp.Symbol("x.Hx"),
        computed(
            "expand",
            "$c\\,x_i\\cdot Hx_i/d$ without its trace: on $x_i$ the matrix $B=M-1$ is $b_i/\\alpha_0$ and one of the "
            "other samples, whose mean is $\\mathbb{E}b$",
            "different samples",
            by=lambda _: _on_sample(lambda form, own: sp.expand(form(MEAN + own) - form(MEAN))),
            test=Claim(lambda found, _: (_on_sample(_by_derivatives), found)),
        ),
        _SOURCE,
    )
    return trace.derive(
        "norm and noise of a row",
        sp.Symbol("tau"),
        computed(
            "average",
            "the covariance with $\\eta$, sample by sample: orders above two of $\\psi$ with those of $\\rho$, and "
            "the quadratic part with the second",
            "quadratic part on a sample",
            "squared norm, per sample, quadratic part",
            by=lambda on_sample, _: _covariance(over_z, SECOND, on_sample),
            test=Claim(
                lambda found, on_sample, second: (
                    _covariance(averaged, second, on_sample).xreplace({SECOND: second}),
                    of_some_rest(found.xreplace({SECOND: second})),
                )
            ),
        ),
        _SOURCE,
    )


def _on_sample(change: Callable[[Callable[[Any], Any], Any], Any]) -> Any:
    """By the change of M^2 - 1 as a function of B by what a sample adds to it."""
    return BEFORE * change(lambda b: 2 * b + b**2, ADDED / ALPHA0) + SECOND / (2 * ALPHA0)


def _by_derivatives(form: Callable[[Any], Any], own: Any) -> Any:
    return own * sp.Derivative(form(MEAN), MEAN) + own**2 / 2 * sp.Derivative(form(MEAN), (MEAN, 2))


def _covariance(average: Callable[[Any], Any], second: Any, on_sample: Any) -> Any:
    """By an average over z; second: that of psi He_2."""
    two = average(REST * hermite(2))
    beyond = (average(_per_sample_named() * REST) - second * two / 2) / ALPHA0
    return beyond + two * on_sample


def _change(trace: Recorder) -> Any:
    """What the mean of sigma' changes by with the squared norm of the row."""
    return trace.derive(
        "mean slope and squared norm",
        sp.Symbol("c*dD/dc"),
        computed(
            "differentiate",
            "the mean of $Aue\\,\\sigma'(\\lambda z)$ in $\\lambda^2$ at one; a row of another norm goes further by it",
            "squared norm, per sample",
            by=lambda _: over_z(REST * hermite(2)) / 2,
            test=Claim(lambda found, _: (_slope_in_squared_norm(), of_some_rest(found))),
        ),
        _SOURCE,
    )


def _slope_in_squared_norm() -> Any:
    """d/dc E rho(sqrt(c) z) at c = 1, for some rest."""
    square = sp.Symbol("c", positive=True)
    mean_slope = Expectation(SOME_REST.subs(Z, sp.sqrt(square) * Z), Z)
    return sp.Subs(sp.Derivative(mean_slope, square), square, 1)
