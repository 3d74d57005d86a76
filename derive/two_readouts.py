"""Two fits that have something in common: the covariance of their outputs, for any spectral law of the bulk.

What two fits share of the data, of the noise of the labels and of the first layer enters the term n_1 n_2 of the
replicated partition function (``derive.replica.two_kinds``). It is a functional of the overlaps between the two
readouts and of their conjugates, extremal in both; all that is known of a single fit is held.

Source: THEORY section 14, here for any law whose rows are Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, MatrixInverse, block_field, family, family_name, index
from derive.calculus import Calculus
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.layers_of_two import Q1_HAT_12, Q2_HAT_12, entropic_part_of_two, is_known
from derive.loss.loss import OMEGA, VARIANCE, F, Y
from derive.loss.quadratic import SQUARE, moreau_envelope
from derive.operations import COMPOSED, computed, equal
from derive.replica.network import R, S, put
from derive.replica.two_kinds import two_kinds_derivation
from derive.saddle import SaddleSystem, coupled_system
from derive.spectrum import LawName
from derive.symbols import ALPHA, BETA, DELTA, NOISE, RISK, SYMMETRIC, V
from derive.trace import Claim, Derivation, Recorder

B, C = index("b"), index("c")
Q1_12, Q2_12 = family("Q1_12"), family("Q2_12")
MU2SQ_12 = block_field("mu2sq_12")
AVERAGE, SLOPES, COVARIANCE = (block_field(name)(KAPPA) for name in ("avg_MM", "avg_gg_12", "Delta_12"))
GAIN = block_field("avg_h")(KAPPA)
WEIGHT = sp.Symbol("w", positive=True)  # of a sample in one fit
APART = block_field("apart")(KAPPA)  # variance of the labels' noise that is not shared
_SOURCE = "THEORY section 14"


@dataclass(frozen=True)
class PairEquation:
    """``left = body`` for a member of a family, or ``0 = body`` for what fixes T_12."""

    label: str
    unknown: str
    left: sp.Expr
    body: sp.Expr


@dataclass(frozen=True)
class PairSystem:
    """What fixes the overlaps of two fits, the solution of a single one being known.

    covariance: Delta_12 by the overlaps; square: E[g_1 g_2] of the square loss by it; half: of the mean squared
    difference of the outputs; equations: of the conjugates, of T_12 (none for given rows) and of the overlaps.
    """

    single: SaddleSystem
    covariance: sp.Expr
    square: sp.Expr
    half: sp.Expr
    equations: tuple[PairEquation, ...]
    derivation: Derivation

    def equation(self, unknown: str) -> PairEquation:
        """The equation of a family. Raises KeyError."""
        return {equation.unknown: equation for equation in self.equations}[unknown]

    @property
    def inverse(self) -> MatrixInverse:
        """P, the only matrix that is inverted."""
        (inverse,) = self.single.inverses
        return inverse


@lru_cache(maxsize=16)
def pair_system(directions: int = 1, spikes: int = 1, bulk: LawName = "isotropic") -> PairSystem:
    """Derive the equations of two fits. Raises ValueError for a law whose rows are not Gaussian.

    directions: of the target beside the spike; spikes: of the spike; bulk: the name of a spectral law.
    """
    single = coupled_system(directions, spikes, bulk)
    if single.law.rows != "gaussian":
        raise ValueError(f"two fits with the bulk {bulk!r} have not been derived")
    envelope = moreau_envelope(SQUARE).derivation
    trace = Recorder("Two readouts", (single.derivation, two_kinds_derivation(), envelope))
    covariance = _record_outputs(trace)
    square, half = _record_square(trace), _record_difference(trace)
    _record_kinds(trace, single)
    equations = _record_equations(trace, covariance)
    return PairSystem(single, covariance, square, half, equations, trace.finish())


# --- outputs ---------------------------------------------------------------------------------------------------------


def _record_outputs(trace: Recorder) -> sp.Expr:
    """Delta_12."""
    trace.assume(
        "overlaps of two fits",
        sp.Tuple(family("Q1")[B, C, R, S], family("Q2")[B, R, S]),
        sp.Tuple(Q1_12[B, C], Q2_12[B]),
        "replicas of different kinds to be alike: $Q^{(1)}_{12}=a^1W^1PW^2a^2/p$ and $Q^{(2)}_{12}=a^1\\cdot a^2/p$ "
        "between the readouts of two fits",
        source=_SOURCE,
        assumption="replica symmetry, exact for a convex problem",
    )
    trace.assume(
        "rest of the features of two fits",
        block_field("mu2sq")(B, KAPPA),
        MU2SQ_12(B, KAPPA),
        "what is left of the features beside mean and linear part to have the covariance $\\mu_{2,12}^2$ between the "
        "two first layers: that of one feature where they are the same, none where they are independent",
        source=_SOURCE,
        assumption="conditional Gaussian equivalence, given $\\kappa$, for both layers together",
    )
    return trace.derive(
        "covariance of two outputs",
        COVARIANCE,
        computed(
            "substitute",
            "the covariance of two replicas of different kinds",
            "covariance given kappa and t",
            "overlaps of two fits",
            "rest of the features of two fits",
            "conditional variance of the output",
            by=lambda body, of_pairs, rest, _: _of_two(body, of_pairs, rest),
            test=Claim(lambda found, *of: (_of_one_fit(found), of[3])),
        ),
        _SOURCE,
    )


def _of_two(body: sp.Expr, of_pairs: sp.Tuple, rest: sp.Expr) -> sp.Expr:
    """Overlaps and rest of two fits in the place of those of two replicas; slopes the same for all."""
    matrix, vector = of_pairs
    places = {
        "Q1": lambda b, c, *_: matrix.xreplace({B: b, C: c}),
        "Q2": lambda b, *_: vector.xreplace({B: b}),
    }
    found = put(body, places).replace(lambda e: family_name(e) == "mu2sq", lambda e: rest.xreplace({B: e.args[0]}))
    return found.replace(lambda e: str(family_name(e)).startswith("slope"), lambda e: e.func(KAPPA))


def _of_one_fit(body: sp.Expr) -> sp.Expr:
    """What Delta_12 is where both fits are one."""
    same = {"Q1_12": "Q1", "Q2_12": "Q2"}
    found = put(body, {old: lambda *i, new=new: family(new)[i] for old, new in same.items()})
    return found.replace(lambda e: family_name(e) == "mu2sq_12", lambda e: block_field("mu2sq")(*e.args))


def _record_square(trace: Recorder) -> sp.Expr:
    """E[g_1 g_2 | kappa] of the square loss, each sample with a weight of its own in each fit."""
    trace.define(
        "noise apart",
        sp.Symbol("noise - noise_12"),
        APART,
        "the variance of the labels' noise that two fits do not share, zero where both see the same labels",
    )
    trace.derive(
        "envelope of a weighted sample",
        sp.Function("M_V")(Y, OMEGA),
        computed(
            "substitute",
            "a sample of weight $w$ has the loss $w\\ell$: $\\min_x(x-\\omega)^2/2V+w\\ell$ is $w$ times the "
            "envelope at the response $wV$",
            "envelope",
            by=lambda envelope: WEIGHT * envelope.xreplace({VARIANCE: WEIGHT * VARIANCE}),
            test=Claim(_of_weighted_loss),
        ),
        _SOURCE,
    )
    trace.derive(
        "h of a weighted sample",
        sp.Symbol("h"),
        computed(
            "differentiate",
            "$h=\\partial_\\omega^2M_V$; the slope is $g=h\\,(y-\\omega)$",
            "envelope of a weighted sample",
            by=lambda envelope: sp.factor(sp.diff(envelope, OMEGA, 2)),
            test=equal(lambda envelope: sp.Derivative(envelope, OMEGA, OMEGA)),
        ),
        _SOURCE,
    )
    return trace.derive(
        "g of two fits, square loss",
        SLOPES,
        computed(
            "average",
            "the weights of both fits are independent: the mean $\\bar h=E_wh$ of each, times the residuals without "
            "what outputs and labels do not share",
            "h of a weighted sample",
            "noise apart",
            "conditional risk",
            by=lambda _, apart, __: GAIN**2 * (RISK(KAPPA) - DELTA(KAPPA) + COVARIANCE - apart),
            test=Claim(_by_residuals),
        ),
        _SOURCE,
    )


def _of_weighted_loss(found: sp.Expr, envelope: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The minimum at any of the outputs that it may be at, for the square loss."""
    x = (OMEGA + WEIGHT * VARIANCE * Y) / (1 + WEIGHT * VARIANCE)
    objective = (x - OMEGA) ** 2 / (2 * VARIANCE) + WEIGHT * SQUARE.expr.xreplace({F: x})
    return objective, found


def _by_residuals(found: sp.Expr, h: sp.Expr, apart: sp.Expr, risk: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The average of residuals that share one normal and differ by another, in units of the same weight."""
    shared, own, other = sp.symbols("r_12 r_1 r_2", real=True)
    common = sp.sqrt(risk.xreplace({DELTA(KAPPA): COVARIANCE, NOISE: NOISE - apart}))
    rest = sp.sqrt(DELTA(KAPPA) - COVARIANCE + apart)
    gain = h.xreplace({WEIGHT: sp.S.One, VARIANCE: V(KAPPA)})
    pair = (common * shared + rest * own) * (common * shared + rest * other) * gain**2
    return Expectation(pair, shared, own, other), found.xreplace({GAIN: gain, RISK(KAPPA): risk})


def _record_difference(trace: Recorder) -> sp.Expr:
    """Half of the mean squared difference of the outputs."""
    return trace.derive(
        "half of the mean squared difference",
        sp.Function("E")((sp.Symbol("f_1") - sp.Symbol("f_2")) ** 2) / 2,
        computed(
            "average",
            "outputs of two fits have the same mean given $\\kappa$ and $t$",
            "outputs of two kinds",
            by=lambda _: Expectation(DELTA(KAPPA) - COVARIANCE, KAPPA),
            test=Claim(_difference),
        ),
        _SOURCE,
    )


def _difference(found: sp.Expr, outputs: sp.Tuple) -> tuple[sp.Expr, sp.Expr]:
    first, second = outputs
    variables = sorted(first.free_symbols | second.free_symbols, key=str)
    normal = [v for v in variables if v.name in ("z", "x_1", "x_2")]
    names = {DELTA(KAPPA): sp.Symbol("Delta", positive=True), COVARIANCE: sp.Symbol("Delta_12", positive=True)}
    return Expectation((first - second) ** 2 / 2, *normal), found.integrand.xreplace(names)


# --- the functional --------------------------------------------------------------------------------------------------


def _record_kinds(trace: Recorder, single: SaddleSystem) -> None:
    """The functional of two fits: envelopes, conjugate pairs, entropic part."""
    trace.define(
        "envelopes of two fits",
        sp.Symbol("Phi_12"),
        ALPHA * Expectation(AVERAGE, KAPPA),
        "the average $E[M_1M_2|\\kappa]$ over label and outputs, for each sample that both fits see; its derivative in "
        "$\\Delta_{12}$ is $E[g_1g_2|\\kappa]$ by *slope in the covariance*",
    )
    _record_pairs(trace)
    entropic_part_of_two(trace, single)
    trace.derive(
        "functional of two fits",
        sp.Symbol("F_12"),
        computed(
            "add",
            "the term of $n_1n_2$ over $\\beta\\beta_T^2$: envelopes, conjugate pairs, entropic part",
            "envelopes of two fits",
            "conjugate pairs of two fits",
            "entropic part of two fits",
            by=lambda energy, pairs, form: energy / BETA - pairs + form,
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _record_pairs(trace: Recorder) -> None:
    """Overlaps times their conjugates; the part along a spike that stands in the bulk is known."""
    inside = [] if is_known(trace, "entropic part, spike taken out") else ["overlap of the whole bulk"]
    trace.derive(
        "conjugate pairs of two fits",
        sp.Symbol("pairs_12"),
        computed(
            "sum",
            "overlaps of two kinds of replicas times their conjugates, $-\\beta_T^2\\hat{q}_{12}$",
            "overlaps of two fits",
            *inside,
            by=_pairs_of_two,
            test=COMPOSED,
        ),
        _SOURCE,
    )


def _pairs_of_two(of_pairs: sp.Tuple, *whole: sp.Expr) -> sp.Expr:
    matrix, vector = of_pairs
    for body in whole:  # Q1 and what lies along the spike
        matrix = body.xreplace({family("Q1")[B, C]: matrix})
    return BlockSum(BlockSum(Q1_HAT_12[B, C] * matrix, B), C) + BlockSum(Q2_HAT_12[B] * vector, B)


# --- its equations ---------------------------------------------------------------------------------------------------


def _record_equations(trace: Recorder, covariance: sp.Expr) -> tuple[PairEquation, ...]:
    """Stationarity in the overlaps, in their conjugates and in T_12."""
    calculus = Calculus(
        definitions={"Delta_12": Definition("Delta_12", (), covariance)},
        symmetric=SYMMETRIC,
        partials={"avg_MM": {"Delta_12": SLOPES}},
    )
    wanted = (
        ("Q1_12", Q1_HAT_12[B, C]),
        ("Q2_12", Q2_HAT_12[B]),
        ("T_12", None),
        ("Q1_hat_12", Q1_12[B, C]),
        ("Q2_hat_12", Q2_12[B]),
    )
    return tuple(_stationary(trace, calculus, name, left) for name, left in wanted)


def _stationary(trace: Recorder, calculus: Calculus, name: str, left: sp.Expr | None) -> PairEquation:
    """The equation that stationarity in a family gives, solved for another one where that stands alone in it."""
    indices = (B, C) if name.startswith("Q1") else (B,)
    member = family(name)[indices]
    label = f"d/d{name}"
    average = Definition("avg_MM", (), SLOPES * COVARIANCE)

    def by(body: sp.Expr) -> sp.Expr:
        slope = calculus.derivative(body, member)
        if left is None:
            return slope
        if slope.coeff(left) != -1:
            raise ValueError(f"{left} does not stand alone in {slope}")
        return canonical(sp.expand(slope + left), SYMMETRIC)

    def before(found: sp.Expr, body: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        # E[g_1 g_2] held at its value: the average is then linear in the covariance
        slope = sp.Derivative(body, member, evaluate=False)
        return slope, found if left is None else found - left

    covariance = calculus.definitions["Delta_12"]
    step = computed(
        "differentiate",
        f"stationarity in ${sp.latex(member)}$",
        "functional of two fits",
        by=by,
        test=Claim(before, (average, covariance)),
    )
    body = trace.derive(label, sp.S.Zero if left is None else left, step, _SOURCE)
    return PairEquation(label, "T_12" if left is None else str(family_name(left)), left or sp.S.Zero, body)
