"""How much the squared norms of the rows vary after a gradient step, and how that goes with the rows themselves.

With z = w.x/sqrt(c) given the coordinates of x along the spike, sigma' is a constant, a multiple of z, and a rest rho.
A step makes a bulk row w of squared norm c to ``M w + eta``, ``M = 1 + (1/n) sum_i b_i x_i x_i^T`` and
``eta = (1/n) sum_i r_i(z_i) x_i``, b_i the second part of A u e sigma' over sqrt(c), r_i = A u e_i rho. The squared
norm is a function of w given the batch. Hermite polynomials of different orders in w are uncorrelated, which makes the
variance a sum of parts: what norms had before, linear, quadratic, sample by sample, and pairs of samples. The first
step has c = 1, b = a_2 e, and the same rho for all samples. Source: THEORY section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.bulk_covariance import OVERLAP
from derive.gaussian.expectation import Expectation
from derive.operations import COMPOSED, computed
from derive.sample_averages import ALPHA0
from derive.trace import Claim, Derivation, Recorder

REST, Z = sp.symbols("rho z", real=True)
PLACES = ((1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0))  # E[rho^i z^j] that are not zero
MOMENTS = {place: sp.Function(f"r_{place[0]}{place[1]}", real=True)(OVERLAP) for place in PLACES}
ADDED = sp.Function("b", real=True)(OVERLAP)  # of a sample, to the matrix that rows are multiplied by
MEAN, GROWTH = sp.symbols("b_1 h_1", real=True)  # E b; what squared norms change by with those before
BEFORE = sp.Symbol("c", positive=True)  # squared norm of a row
OF_CROSS, OF_SQUARE, FIRST, SECOND = (  # functions of the residual e of a sample
    sp.Function(name, real=True)(OVERLAP) for name in ("p_1", "p_2", "psi_1", "psi_2")
)
_SOURCE, _LARGE = "THEORY section 5", "d, n0 large at fixed ratio, to leading order in 1/d"
_SOME_REST = (Z**2 - 1) + (Z**3 - 3 * Z) / 3  # a rest without parts along 1 and z, that averages are tested with
Word = tuple[sp.Expr, ...]  # a product of matrices (1/n0) sum_i f_i x_i x_i^T, by their functions f of a sample


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
        "sample on the row",
        sp.Symbol("x.Mw"),
        sp.sqrt(BEFORE) * Z * (1 + MEAN + ADDED / ALPHA0),
        "$x_i\\cdot Mw$ of the stretched row: what $M-1$ adds along $w\\cdot x_i=\\sqrt{c}z_i$ is its trace without "
        "the sample and the sample itself; the rest of it is independent of $z_i$",
        source=_SOURCE,
        assumption=_LARGE,
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
            test=Claim(lambda found, *_: (_averaged(_per_sample_named() * hermite(order)), _of_some_rest(found))),
        ),
        _SOURCE,
    )


def hermite(order: int) -> Any:
    """He_k(z), k up to 2."""
    return (sp.S.One, Z, Z**2 - 1)[order]


def over_z(expression: Any) -> Any:
    """The average over z of a polynomial in rho and z, by the moments r_ij; rho has no part along 1 and z.

    Raises KeyError for a moment without a name.
    """
    known = {**MOMENTS, (1, 0): sp.S.Zero, (1, 1): sp.S.Zero}
    return sp.expand(sp.Add(*(factor * known[place] for place, factor in sp.Poly(expression, REST, Z).terms())))


def _averaged(expression: Any) -> Any:
    """The average over z of a polynomial in rho and z, for some rest."""
    return Expectation(expression.subs(REST, _SOME_REST), Z)


def _of_some_rest(found: Any) -> Any:
    """A result with the moments r_ij of that rest."""
    return found.xreplace({symbol: _averaged(REST**i * Z**j) for (i, j), symbol in MOMENTS.items()})


def mean(function: Any) -> Any:
    """Over the samples of the step."""
    return Expectation(function, OVERLAP)


# --- traces of products of sample matrices --------------------------------------------------------------------------


def trace_of(word: Word) -> Any:
    """(1/d) tr of a product of matrices (1/n0) sum_i f_i x_i x_i^T: the sum over partitions without crossings.

    Source: free cumulants of a compound Poisson law, E[f_1...f_k]/alpha0^(k-1).
    """
    return sp.Add(*(sp.Mul(*(_cumulant([word[i] for i in block]) for block in each)) for each in _parts(len(word))))


def _cumulant(functions: Sequence[sp.Expr]) -> Any:
    return mean(sp.Mul(*functions)) / ALPHA0 ** (len(functions) - 1)


def _parts(size: int, first: int = 0) -> Iterator[list[tuple[int, ...]]]:
    """Partitions of ``size`` places in a row, from ``first`` on, without crossings."""
    if size == 0:
        yield []
        return
    for block in _blocks_with(size):
        yield from _between([*block, size], first, [tuple(first + i for i in block)])


def _blocks_with(size: int) -> Iterator[tuple[int, ...]]:
    """Sets of places below ``size`` that hold the first one."""
    for chosen in range(2 ** (size - 1)):
        yield (0, *(i for i in range(1, size) if chosen >> (i - 1) & 1))


def _between(ends: Sequence[int], first: int, found: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Partitions of what lies between neighbours of a block, one gap after the other."""
    if len(ends) == 1:
        yield found
        return
    for inside in _parts(ends[1] - ends[0] - 1, first + ends[0] + 1):
        yield from _between(ends[1:], first, [*found, *inside])


def _quadratic_form() -> list[tuple[Any, Word]]:
    """H - 1 of the quadratic part w.Hw, as a sum of products of sample matrices."""
    return [(sp.Integer(2), (ADDED,)), (sp.S.One, (ADDED, ADDED)), (sp.S.One, (SECOND / (2 * BEFORE),))]


# --- the variance ---------------------------------------------------------------------------------------------------


def _growth(trace: Recorder) -> Any:
    """h_1: the trace of H."""
    form = sp.Add(*(factor * trace_of(word) for factor, word in _quadratic_form()))
    trace.assume(
        "growth of the squared norm",
        GROWTH,
        1 + form,
        "$\\mathrm{tr}H/d$ of $w\\cdot Hw$, $H=M^2+\\frac{1}{2cn_0}\\sum_i\\psi_2x_ix_i^T$: what an excess of the "
        "squared norm before becomes, $H$ being independent of $w$",
        source=_SOURCE,
        assumption=_LARGE,
    )
    return 1 + form


def _variance(trace: Recorder) -> Any:
    """chi, part by part."""
    noise, added = mean(MOMENTS[2, 0]), mean(ADDED**2)
    _assume_variance(
        trace,
        "quadratic",
        BEFORE**2 * _of_quadratic_form(),
        "$2c^2\\mathrm{tr}H^2/d$ of $w\\cdot Hw$ without the part along $|w|^2$, the square of its trace",
    )
    _beyond(trace)
    _assume_variance(
        trace,
        "pairs",
        2 * (noise / ALPHA0) ** 2 + 4 * BEFORE * noise * added / ALPHA0**2,
        "pairs of samples to count where both have noise, $\\rho_i\\rho_jx_i\\cdot x_j$, and where the noise of one "
        "meets what the other adds to $Mw$ across $x_i$",
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


def _assume_variance(trace: Recorder, name: str, body: Any, words: str) -> None:
    """A part of d times the variance, as it is for large systems."""
    symbol = sp.Symbol(f"chi_{name}")
    trace.assume(f"variance, {name}", symbol, body, words, source=_SOURCE, assumption=_LARGE)


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
                    _averaged(psi**2) - sp.Add(*(_averaged(psi * h) ** 2 / size for h, size in low)),
                    _of_some_rest(found.xreplace({FIRST: first, SECOND: second})),
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


def _of_quadratic_form() -> Any:
    form = _quadratic_form()
    square = sp.Add(*(a * b * trace_of(left + right) for a, left in form for b, right in form))
    trace = sp.Add(*(a * trace_of(word) for a, word in form))
    return 2 * (square - trace**2)


# --- covariance with the row ----------------------------------------------------------------------------------------


def _with_noise(trace: Recorder) -> Any:
    """tau: of all parts but the linear one with the noise of the row, at one norm before."""
    own = 2 * (1 + MEAN) * ADDED / ALPHA0 + ADDED**2 / ALPHA0**2
    trace.assume(
        "quadratic part on a sample",
        sp.Symbol("x.Hx"),
        BEFORE * own + SECOND / (2 * ALPHA0),
        "$c\\,x_i\\cdot Hx_i/d$ without its trace to be what the sample itself adds to $H$",
        source=_SOURCE,
        assumption=_LARGE,
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
                    _covariance(_averaged, second, on_sample).xreplace({SECOND: second}),
                    _of_some_rest(found.xreplace({SECOND: second})),
                )
            ),
        ),
        _SOURCE,
    )


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
            test=Claim(lambda found, _: (_slope_in_squared_norm(), _of_some_rest(found))),
        ),
        _SOURCE,
    )


def _slope_in_squared_norm() -> Any:
    """d/dc E rho(sqrt(c) z) at c = 1, for some rest."""
    square = sp.Symbol("c", positive=True)
    mean_slope = Expectation(_SOME_REST.subs(Z, sp.sqrt(square) * Z), Z)
    return sp.Subs(sp.Derivative(mean_slope, square), square, 1)
