"""What a sample adds to two fits whose layers saw batches of their own: outputs, slopes, differences.

All is given the indices z of the target and the components kappa_1, kappa_2 along both spikes.
Source: THEORY section 14.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.blocks import BlockSum, family, index
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.loss.loss import OMEGA, VARIANCE, Y
from derive.operations import computed, equal
from derive.replica.averages import MEAN, SPREAD
from derive.replica.two_kinds import COMMON as SHARED_NORMAL
from derive.replica.two_kinds import OWN, SHARED
from derive.symbols import SYMMETRIC
from derive.trace import Claim, Recorder
from derive.two_readouts import Q1_12, Q2_12, WEIGHT

D, E = index("d"), index("e")
Z, K, L, X = (index(name) for name in "iklu")  # z; kappa given z in each fit; what the rows of a neuron share
ORDER = sp.Symbol("n", integer=True, nonnegative=True)
LAW, GIVEN = family("law_z"), family("given")  # weights of z, and of kappa given z
MU1, REST, GAIN, RESIDUAL = family("mu1"), family("rest"), family("gain"), family("residual")
OUTPUT, SPREAD_OF = family("output"), family("Delta")  # of a fit given z and kappa: mean and variance
COMMON = family("common")  # what the rest of the features of a block has in common in both layers
COVARIANCE, SLOPES = family("Delta_12"), family("avg_gg_12")  # given z and both kappa
_SOURCE = "THEORY section 14"
_SERIES = 3  # degree of the polynomials that the series is tried on
_NORMALS = (SHARED_NORMAL, *OWN)


def over_kappa(body: sp.Expr) -> sp.Expr:
    """The average over kappa_1 and kappa_2 given z."""
    return BlockSum(BlockSum(GIVEN[K] * GIVEN[L] * body, K), L)


def record_covariance(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """What the features have in common, and the covariance of the outputs given z and both kappa."""
    common = trace.define(
        "rest of the features in common",
        COMMON[D, Z, K, L],
        BlockSum(REST[X, D, Z, K] * REST[X, D, Z, L], X),
        "a neuron has in both layers $g_i=\\sqrt\\varrho\\,x+\\sqrt{1-\\varrho}\\,x_i$, and beside mean and linear "
        "part $E[\\sigma|x]$ in common: a sum over nodes of $x$",
        _SOURCE,
    )
    covariance = trace.assume(
        "covariance of two outputs, two batches",
        COVARIANCE[Z, K, L],
        BlockSum(BlockSum(Q1_12[D, E] * MU1[D, Z, K] * MU1[E, Z, L], D), E)
        + BlockSum(COMMON[D, Z, K, L] * Q2_12[D], D),
        "given $z$ and $\\kappa_1,\\kappa_2$, which hold all directions that either fit knows: outputs are "
        "$\\bar{f}+\\text{slope}\\cdot t$ with $t=L^{-1}(z-\\gamma^T\\kappa)$, and a rest of this covariance",
        source=_SOURCE,
        assumption="conditional Gaussian equivalence for both layers together",
    )
    return common, covariance


def record_series(trace: Recorder) -> None:
    """E g_1 g_2 by the covariance of the outputs: Price's theorem, over and over."""
    power = COVARIANCE[Z, K, L] ** ORDER / sp.factorial(ORDER)
    each = sp.Function("G")
    trace.derive(
        "g of two fits, two batches",
        SLOPES[Z, K, L],
        computed(
            "expand",
            "Taylor's series in the covariance: by Price's theorem each derivative of $E[g_1g_2]$ in it is the average "
            "of both next derivatives, and at zero both outputs are independent. $G_n=E\\,\\partial_\\omega^ng$ of one "
            "output given $z$ and $\\kappa$, over labels where these are drawn for each fit anew",
            "slope in the covariance",
            by=lambda _: sp.Sum(power * each(ORDER, Z, K) * each(ORDER, Z, L), (ORDER, 0, sp.oo)),
            test=Claim(lambda _, slope: _of_polynomials(slope)),
        ),
        "Price (1958), IRE Trans. Inf. Theory 4, 69; Mehler (1866)",
    )


def _of_polynomials(slope: Any) -> tuple[Any, Any]:
    """E[g_1 g_2] and its series for a polynomial in the place of g."""
    w = sp.Symbol("w", real=True)
    body = sp.Add(*(sp.Symbol(f"c_{k}", real=True) * w**k for k in range(_SERIES + 1)))
    pair = slope.replace(lambda e: str(getattr(e, "func", "")) == "M_1", lambda e: body.xreplace({w: e.args[0]}))
    alone = MEAN + sp.sqrt(SPREAD) * OWN[0]
    means = [Expectation(sp.diff(body, w, k).xreplace({w: alone}), OWN[0]) for k in range(_SERIES + 1)]
    return pair, sp.Add(*(SHARED**k / sp.factorial(k) * mean**2 for k, mean in enumerate(means)))


def record_gain(trace: Recorder) -> sp.Expr:
    """h of a sample of weight one."""
    places = {WEIGHT: sp.S.One, VARIANCE: family("V")[Z, K]}
    return trace.derive(
        "gain of a sample",
        GAIN[Z, K],
        computed(
            "substitute",
            "every sample has the weight one",
            "h of a weighted sample",
            by=lambda h: h.xreplace(places),
            test=equal(lambda h: sp.Subs(h, tuple(places), tuple(places.values()))),
        ),
        _SOURCE,
        shown=False,
    )


def record_square(trace: Recorder) -> tuple[sp.Expr, ...]:
    """G_0 and G_1 of the square loss; there are no others."""
    found = trace.derive(
        "series of the square loss",
        sp.Tuple(*sp.symbols("G_0 G_1")),
        computed(
            "average",
            "$g=h(y-\\omega)$ at the mean residual, which is $r$, and its slope",
            "envelope of a weighted sample",
            by=lambda _: sp.Tuple(GAIN[Z, K] * RESIDUAL[Z, K], -GAIN[Z, K]),
            test=Claim(_slopes_of_square),
        ),
        _SOURCE,
        shown=False,
    )
    return tuple(found)


def _slopes_of_square(found: sp.Tuple, envelope: sp.Expr) -> tuple[sp.Tuple, sp.Tuple]:
    """From the envelope of a sample of weight one."""
    own, normal = family("V")[Z, K], OWN[0]
    plain = envelope.xreplace({WEIGHT: sp.S.One, VARIANCE: own})
    omega = Y - RESIDUAL[Z, K] + sp.sqrt(SPREAD) * normal
    slopes = [-sp.diff(plain, OMEGA, n).xreplace({OMEGA: omega}) for n in (1, 2)]
    gain = 1 / (1 + own)
    return sp.Tuple(*(Expectation(slope, normal) for slope in slopes)), found.xreplace({GAIN[Z, K]: gain})


def record_half(trace: Recorder) -> sp.Expr:
    """Half of the mean squared difference."""
    difference = (OUTPUT[Z, K] - OUTPUT[Z, L]) ** 2 / 2
    spread = (SPREAD_OF[Z, K] + SPREAD_OF[Z, L]) / 2 - COVARIANCE[Z, K, L]
    given = trace.derive(
        "difference of two outputs, two batches",
        sp.Function("E")((sp.Symbol("f_1") - sp.Symbol("f_2")) ** 2 / 2),
        computed(
            "average",
            "given $z$ and both $\\kappa$: means, variances and the covariance of the outputs",
            "covariance of two outputs, two batches",
            by=lambda _: difference + spread,
            test=Claim(lambda found, _: (Expectation((_outputs()[0] - _outputs()[1]) ** 2 / 2, *_NORMALS), found)),
        ),
        _SOURCE,
        shown=False,
    )
    return trace.derive(
        "half of the mean squared difference, two batches",
        sp.Function("E")((sp.Symbol("f_1") - sp.Symbol("f_2")) ** 2) / 2,
        computed(
            "average",
            "over $z$ and both $\\kappa$",
            "difference of two outputs, two batches",
            by=lambda body: canonical(BlockSum(LAW[Z] * over_kappa(body), Z), SYMMETRIC),
            test=equal(lambda _: BlockSum(LAW[Z] * over_kappa(given), Z)),
        ),
        _SOURCE,
    )


def _outputs() -> tuple[sp.Expr, sp.Expr]:
    """Of the two fits given z and both kappa."""
    shared = COVARIANCE[Z, K, L]

    def one(place: sp.Symbol, own: sp.Symbol) -> sp.Expr:
        return OUTPUT[Z, place] + sp.sqrt(shared) * SHARED_NORMAL + sp.sqrt(SPREAD_OF[Z, place] - shared) * own

    return one(K, OWN[0]), one(L, OWN[1])


def record_mean(trace: Recorder) -> tuple[sp.Expr, ...]:
    """The law of the mean of both outputs given z and both kappa."""
    mean = (OUTPUT[Z, K] + OUTPUT[Z, L]) / 2
    variance = (SPREAD_OF[Z, K] + SPREAD_OF[Z, L] + 2 * COVARIANCE[Z, K, L]) / 4

    def moments(found: sp.Tuple, _: sp.Expr) -> tuple[sp.Tuple, sp.Tuple]:
        whole = sp.Add(*_outputs()) / 2
        return sp.Tuple(Expectation(whole, *_NORMALS), Expectation((whole - mean) ** 2, *_NORMALS)), found

    found = trace.derive(
        "mean of two outputs, two batches",
        sp.Tuple(*sp.symbols("fbar_12 Delta_mean")),
        computed(
            "average",
            "mean and variance of $(f_1+f_2)/2$ given $z$ and both $\\kappa$",
            "covariance of two outputs, two batches",
            by=lambda _: sp.Tuple(mean, variance),
            test=Claim(moments),
        ),
        _SOURCE,
        shown=False,
    )
    return tuple(found)
