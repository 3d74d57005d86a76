"""The replica-symmetric free energy of the readout, for any number of blocks K (THEORY section 4).

The energetic part averages the Moreau envelope of the loss over the conditional Gaussian output; the entropic part
comes from a spectral potential of the weights whose stationary point gives T, whose derivative gives M, and from one
Sherman-Morrison step that takes the spike out of the quadratic form.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, LogDet, MatrixInverse, ParallelSum, index
from derive.calculus import Calculus
from derive.canonical import canonical, fold
from derive.downdate import record_downdate
from derive.expectation import Expectation
from derive.loss import OMEGA, VARIANCE, MoreauEnvelope, Y
from derive.symbols import (
    ALPHA,
    BETA,
    DELTA,
    FRACTION,
    INVERSE_DIMENSION,
    M_,
    MEAN,
    MU0,
    MU1,
    MU2SQ,
    NOISE,
    NU0,
    NU1,
    NU2SQ,
    PSI,
    PSI_HAT,
    Q1,
    Q1_HAT,
    Q2,
    Q2_HAT,
    RIDGE,
    RISK,
    SLOPE,
    SYMMETRIC,
    V1,
    V1_HAT,
    V2,
    V2_HAT,
    ZETA,
    ZETA_HAT,
    M,
    P,
    S,
    T,
    V,
)  # fmt: skip
from derive.trace import Derivation, Recorder

B, C, E = index("b"), index("c"), index("e")
THETA_PERP = sp.Symbol("t", real=True)
XI = sp.Symbol("xi", real=True)
REST = sp.Symbol("y_rest", real=True)


@dataclass(frozen=True)
class Spectral:
    """The bulk: ``inverse`` P = (1 + V1_hat T)^-1, ``definitions`` of S and M by it, their differentials, and the

    ``stationarity`` (index b) that fixes T.
    """

    inverse: MatrixInverse
    definitions: tuple[Definition, ...]
    parallel: tuple[ParallelSum, ...]
    stationarity: sp.Expr


@dataclass(frozen=True)
class FreeEnergy:
    """Phi per input dimension, with the definitions it is written in.

    ``fields``: functions of kappa in the order they can be evaluated; ``R``: the quadratic form of the entropic part,
    which enters Phi with the factor ``weight_of_R``.
    """

    envelope: MoreauEnvelope
    energetic: sp.Expr
    entropic: sp.Expr
    finite_size: sp.Expr
    R: sp.Expr
    weight_of_R: sp.Expr
    fields: tuple[Definition, ...]
    spectral: Spectral
    training_error: sp.Expr
    test_error: sp.Expr
    derivation: Derivation

    @property
    def expression(self) -> sp.Expr:
        """Phi, the finite-size term included."""
        return self.energetic + self.entropic + self.finite_size


def free_energy(envelope: MoreauEnvelope) -> FreeEnergy:
    """Free energy of a loss whose envelope is quadratic in (y - omega).

    Raises ValueError where the envelope does not depend on (y - omega)^2 alone.
    Source: [CUI24] App. C eq. (60)-(90), in the block form of THEORY section 4.
    """
    trace = Recorder("Replica-symmetric free energy")
    fields = output_fields(trace)
    weight = _quadratic_weight(envelope)
    energetic = ALPHA * Expectation(RISK(KAPPA) * weight.subs(VARIANCE, V(KAPPA)), KAPPA)
    trace.record(
        "energetic part", sp.Symbol("Phi_energetic"), energetic, kind="definition", source="[CUI24] eq. (86)",
        rule="the envelope is a function of V times $(y-\\omega)^2$; its average over $t$, $\\xi$ and the noise is "
        "the conditional risk")  # fmt: skip
    spectral = spectral_potential(trace)
    R = _entropic_quadratic_form(trace)
    pairing = (
        BlockSum(ZETA_HAT[B] * ZETA[B] + PSI_HAT[B] * PSI[B], B)
        + (
            BlockSum(BlockSum(Q1_HAT[B, C] * V1[B, C] - V1_HAT[B, C] * Q1[B, C], B), C)
            + BlockSum(Q2_HAT[B] * V2[B] - V2_HAT[B] * Q2[B], B)
        )
        / 2
    )
    entropic = BETA * (pairing - R / 2)
    finite = BETA * INVERSE_DIMENSION * BlockSum(M_[B] ** 2 / (2 * T[B]), B)
    trace.record("finite size", sp.Symbol("Phi_m"), finite, kind="assumption", source="THEORY section 6",
                 rule="the component of the readout along the constant direction of block $b$ has the response "
                 "$T_b/\\beta$ of that block; its cost is of order 1/d and kept on request",
                 assumption="no other term of order 1/d grows with the overlap m")  # fmt: skip
    trace.record(
        "free energy",
        sp.Symbol("free_energy"),
        energetic + entropic + finite,
        kind="definition",
        source="[CUI24] eq. (86)-(90)",
        rule="energetic part, conjugate pairs, entropic part and the term of finite size",
    )
    return FreeEnergy(
        envelope, energetic, entropic, finite, R, -BETA / 2, fields, spectral,
        *_errors(trace, envelope, fields[-1].body), trace.finish())  # fmt: skip


def output_fields(trace: Recorder) -> tuple[Definition, ...]:
    """The conditional law of the output and of the label given kappa, and the conditional risk."""
    mean = BlockSum(MU0(B, KAPPA) * M_[B] + KAPPA * MU1(B, KAPPA) * ZETA[B], B)
    slope = BlockSum(MU1(B, KAPPA) * PSI[B], B)
    pair = MU1(B, KAPPA) * MU1(C, KAPPA)
    delta = (
        BlockSum(BlockSum(pair * Q1[B, C], B), C) + BlockSum(MU2SQ(B, KAPPA) * Q2[B], B) - SLOPE(KAPPA) ** 2
    )
    variance = BlockSum(BlockSum(pair * V1[B, C], B), C) + BlockSum(MU2SQ(B, KAPPA) * V2[B], B)
    source = "[CUI24] Result 3.2, App. C"
    for name, function, body in (
        ("conditional mean of the output", MEAN, mean),
        ("slope along the rest of the target", SLOPE, slope),
        ("conditional variance of the output", DELTA, delta),
        ("conditional response of the output", V, variance),
    ):
        trace.record(
            name,
            function(KAPPA),
            body,
            rule="conditional Gaussian equivalence",
            source=source,
            kind="definition",
        )
    label = NU0(KAPPA) + NU1(KAPPA) * THETA_PERP + REST
    trace.record("label", Y, label, kind="definition", source="[CUI24] App. C",
                 rule="Hermite expansion of the label in $t$ given $\\kappa$; the rest is orthogonal to 1 and $t$ and "
                 "has variance $\\nu_{\\star}^2$ plus the noise")  # fmt: skip
    output = MEAN(KAPPA) + SLOPE(KAPPA) * THETA_PERP + sp.sqrt(DELTA(KAPPA)) * XI
    trace.record(
        "output", OMEGA, output, kind="definition", source="[CUI24] App. C", rule="the same for the output"
    )
    variances = {THETA_PERP: sp.S.One, XI: sp.S.One, REST: NU2SQ(KAPPA) + NOISE}
    risk = second_moment(label - output, variances)
    trace.record(
        "conditional risk",
        RISK(KAPPA),
        risk,
        kind="definition",
        source="THEORY section 4",
        rule="$E[(y-\\omega)^2|\\kappa]$: $t$, $\\xi$ and the rest of the label are centred and orthogonal",
    )
    return (
        Definition("V", (), variance), Definition("slope", (), slope), Definition("mean", (), mean),
        Definition("Delta", (), delta), Definition("risk", (), risk),
    )  # fmt: skip


def second_moment(linear: sp.Expr, variances: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    """E[L^2] of L linear in orthogonal centred variables of given variances: a sum of squares."""
    polynomial = sp.Poly(linear, *variances)
    if polynomial.total_degree() > 1:
        raise ValueError(f"{linear} is not linear in {', '.join(map(str, variances))}")
    constant = polynomial.coeff_monomial(1)
    return constant**2 + sp.Add(*(v * polynomial.coeff_monomial(s) ** 2 for s, v in variances.items()))


def _quadratic_weight(envelope: MoreauEnvelope) -> sp.Expr:
    weight = sp.factor(envelope.envelope / (Y - OMEGA) ** 2)
    if weight.has(Y) or weight.has(OMEGA):
        raise ValueError(f"the envelope {envelope.envelope} is not a multiple of (y - omega)^2")
    return weight


def spectral_potential(trace: Recorder) -> Spectral:
    """P, the definitions of S and M, and the equation of T, from the potential of an isotropic bulk."""
    inverse = MatrixInverse("P", B, C, sp.KroneckerDelta(B, C) + V1_HAT[B, C] * T[C])
    trace.record(
        "P",
        sp.Symbol("P^-1"),
        inverse.entry,
        kind="definition",
        source="THEORY section 4",
        rule="the matrix under the logarithm, row $b$ and column $c$, and its inverse $P$",
    )
    potential = BlockSum(T[B] * (RIDGE + V2_HAT[B]) - BETA * FRACTION[B] * sp.log(T[B]), B) + LogDet("P")
    trace.record("spectral potential", sp.Symbol("L"), potential, kind="assumption", source="[CUI24] App. D; [LOU24]",
                 rule="the log-determinant of $\\lambda+\\hat{V}^{(2)}+\\hat{V}^{(1)}WW^T$ in the proportional limit, "
                 "extremal in $T$",
                 assumption="isotropic Gaussian bulk rows, all dimensions proportional")  # fmt: skip
    s_definition = Definition("S", (B, C), BlockSum(P[B, E] * V1_HAT[E, C], E))
    trace.record(
        "S",
        S[B, C],
        s_definition.body,
        kind="definition",
        source="THEORY section 4",
        rule="$S=P\\hat{V}^{(1)}$, which is the inverse of $T$ plus the inverse of $\\hat{V}^{(1)}$ without inverting "
        "either",
    )
    calculus = Calculus(inverses={"P": inverse})
    stationarity = fold(calculus.derivative(potential, T[B]), s_definition)
    trace.record(
        "T",
        sp.S.Zero,
        stationarity,
        kind="result",
        source="[CUI24] App. D",
        rule="stationarity of the potential in $T_b$, the Marchenko-Pastur equation",
    )
    m_definition = Definition("M", (B, C), calculus.derivative(potential, V1_HAT[C, B]))
    trace.record(
        "M",
        M[B, C],
        m_definition.body,
        kind="result",
        source="[CUI24] App. D",
        rule="the derivative of the potential along $\\hat{V}^{(1)}$",
    )
    diagonal = sp.KroneckerDelta(B, C) * T[B]
    parallel = (
        ParallelSum("S", B, C, V1_HAT[B, C], diagonal, "P", transposed=False),
        ParallelSum("M", B, C, diagonal, V1_HAT[B, C], "P", transposed=True),
    )
    return Spectral(inverse, (s_definition, m_definition), parallel, stationarity)


def _entropic_quadratic_form(trace: Recorder) -> sp.Expr:
    record_downdate(trace)
    quadratic = (
        BlockSum(T[B] * ZETA_HAT[B] ** 2, B)
        + BlockSum(BlockSum(PSI_HAT[B] * M[B, C] * PSI_HAT[C], B), C)
        + (BlockSum(BlockSum(Q1_HAT[B, C] * M[B, C], B), C) + BlockSum(Q2_HAT[B] * T[B], B)) / BETA
    )
    quadratic = canonical(quadratic, SYMMETRIC)
    trace.record("entropic part", sp.Symbol("R"), quadratic, kind="definition", source="[CUI24] eq. (108)-(116)",
                 rule="the Gaussian integral over the readout: sources $\\hat{\\zeta}$ along the spike, "
                 "$\\hat{\\psi}$ along the rest of the target, and the potential differentiated along "
                 "$\\hat{q}^{(1)}$ and $\\hat{q}^{(2)}$")  # fmt: skip
    return quadratic


def _errors(trace: Recorder, envelope: MoreauEnvelope, risk: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Mean training loss and test error against the clean target, as averages over kappa."""
    at_prox = sp.factor(envelope.loss.expr.subs(sp.Symbol("f", real=True), envelope.prox) / (Y - OMEGA) ** 2)
    training = envelope.loss.error_scale * Expectation(RISK(KAPPA) * at_prox.subs(VARIANCE, V(KAPPA)), KAPPA)
    trace.record(
        "training error",
        sp.Symbol("train_error"),
        training,
        kind="definition",
        source="[CUI24] eq. (91)",
        rule="the loss at the prox, averaged",
    )
    test = Expectation(risk.subs(NOISE, 0), KAPPA)
    trace.record(
        "test error",
        sp.Symbol("test_error"),
        test,
        kind="definition",
        source="[CUI24] eq. (24)",
        rule="the conditional risk averaged, against the clean target",
    )
    return training, test
