"""The energetic part of the free energy: what the loss and the law of label and output contribute.

A loss whose envelope is quadratic in (y - omega) needs the conditional risk only; any other convex loss enters by the
averages of its envelope.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from derive.blocks import KAPPA, BlockSum, Definition, block_field, family, index
from derive.expectation import Expectation
from derive.loss import OMEGA, VARIANCE, F, MoreauEnvelope, Y
from derive.output import average, coordinates_of_kappa, directions_of, output_averages
from derive.symbols import (
    ALPHA,
    DELTA,
    M_,
    MEAN,
    MU0,
    MU1,
    MU2SQ,
    NOISE,
    NU0,
    NU2SQ,
    Q1,
    Q2,
    RISK,
    V1,
    V2,
    V,
)  # fmt: skip
from derive.trace import Derivation, Recorder

B, C = index("b"), index("c")
XI = sp.Symbol("xi", real=True)
REST = sp.Symbol("y_rest", real=True)
_EQUIVALENCE = "[CUI24] Result 3.2, App. C"


@dataclass(frozen=True)
class Energetic:
    """The energetic part of Phi per input dimension.

    ``fields``: functions of kappa in the order they can be evaluated; ``partials``: averages over the output that are
    no explicit expressions, with their derivatives in the fields; ``directions``: of the target beside the spike;
    ``spikes``: directions of the spike itself.
    """

    expression: sp.Expr
    fields: tuple[Definition, ...]
    training_error: sp.Expr
    test_error: sp.Expr
    derivation: Derivation
    directions: int = 1
    partials: Mapping[str, Mapping[str, sp.Expr]] = field(default_factory=dict)
    spikes: int = 1


def quadratic_energy(envelope: MoreauEnvelope, spikes: int = 1) -> Energetic:
    """The energetic part of a loss whose envelope is quadratic in (y - omega).

    Raises ValueError where the envelope does not depend on (y - omega)^2 alone. Source: [CUI24] eq. (86), (91).
    """
    trace = Recorder("Energetic part")
    fields = output_fields(trace, spikes=spikes)
    weight = _quadratic_weight(envelope)
    expression = ALPHA * Expectation(RISK(KAPPA) * weight.subs(VARIANCE, V(KAPPA)), KAPPA)
    trace.record(
        "energetic part", sp.Symbol("Phi_energetic"), expression, kind="definition", source="[CUI24] eq. (86)",
        rule="the envelope is a function of V times $(y-\\omega)^2$; its average over $t$, $\\xi$ and the noise is "
        "the conditional risk")  # fmt: skip
    at_prox = sp.factor(envelope.loss.expr.subs(F, envelope.prox) / (Y - OMEGA) ** 2).subs(VARIANCE, V(KAPPA))
    training = envelope.loss.error_scale * Expectation(RISK(KAPPA) * at_prox, KAPPA)
    errors = _errors(trace, training, fields[-1].body)
    return Energetic(expression, fields, *errors, trace.finish(), spikes=spikes)


def output_energy(directions: int = 1, spikes: int = 1) -> Energetic:
    """The energetic part of any convex loss, by the averages of its envelope. Source: [CUI24] App. C, eq. (86)."""
    averages = output_averages(directions)
    trace = Recorder("Energetic part")
    fields = output_fields(trace, directions, spikes)
    expression = ALPHA * Expectation(average("avg_M"), KAPPA)
    trace.record(
        "energetic part", sp.Symbol("Phi_energetic"), expression, kind="definition", source="[CUI24] eq. (86)",
        rule="the envelope averaged over label and output given $\\kappa$")  # fmt: skip
    trace.extend(averages.derivation)
    training = Expectation(average("avg_M") - V(KAPPA) * average("avg_gg") / 2, KAPPA)
    errors = _errors(trace, training, fields[-1].body)
    return Energetic(expression, fields[:-1], *errors, trace.finish(), directions, averages.partials, spikes)


def output_fields(trace: Recorder, directions: int = 1, spikes: int = 1) -> tuple[Definition, ...]:
    """The conditional law of the output and of the label given kappa in R^spikes, and the conditional risk."""
    t = [sp.Symbol(name, real=True) for name in directions_of("t", directions)]
    slopes = {name: block_field(name)(KAPPA) for name in directions_of("slope", directions)}
    psi = [family(name) for name in directions_of("psi", directions)]
    zeta = [family(name) for name in directions_of("zeta", spikes)]
    along_spike = [
        kappa * MU1(B, KAPPA) * overlap[B] for kappa, overlap in zip(coordinates_of_kappa(spikes), zeta, strict=True)
    ]
    mean = BlockSum(MU0(B, KAPPA) * M_[B] + sp.Add(*along_spike), B)
    along = [BlockSum(MU1(B, KAPPA) * overlap[B], B) for overlap in psi]
    pair = MU1(B, KAPPA) * MU1(C, KAPPA)
    delta = BlockSum(BlockSum(pair * Q1[B, C], B), C) + BlockSum(MU2SQ(B, KAPPA) * Q2[B], B)
    delta -= sp.Add(*(slope**2 for slope in slopes.values()))
    variance = BlockSum(BlockSum(pair * V1[B, C], B), C) + BlockSum(MU2SQ(B, KAPPA) * V2[B], B)
    named = (
        ("conditional mean of the output", MEAN(KAPPA), mean),
        *((f"slope along the rest of the target{_number(i, directions)}", *pair)
          for i, pair in enumerate(zip(slopes.values(), along, strict=True))),
        ("conditional variance of the output", DELTA(KAPPA), delta),
        ("conditional response of the output", V(KAPPA), variance),
    )
    rule = "conditional Gaussian equivalence"
    for name, function, body in named:
        trace.record(name, function, body, rule=rule, source=_EQUIVALENCE, kind="definition")
    risk = _conditional_risk(trace, t, list(slopes.values()))
    return (
        Definition("V", (), variance),
        *(Definition(name, (), body) for name, body in zip(slopes, along, strict=True)),
        Definition("mean", (), mean), Definition("Delta", (), delta), Definition("risk", (), risk),
    )  # fmt: skip


def _number(i: int, count: int) -> str:
    return f", direction {i + 1}" if count > 1 else ""


def _conditional_risk(trace: Recorder, t: list[sp.Symbol], slopes: list[sp.Expr]) -> sp.Expr:
    hermite = [block_field(name)(KAPPA) for name in directions_of("nu1", len(t))]
    label = NU0(KAPPA) + sp.Add(*(nu * x for nu, x in zip(hermite, t, strict=True))) + REST
    trace.record("label", Y, label, kind="definition", source="[CUI24] App. C",
                 rule="Hermite expansion of the label in $t$ given $\\kappa$; the rest is orthogonal to 1 and $t$ and "
                 "has variance $\\nu_{\\star}^2$ plus the noise")  # fmt: skip
    output = MEAN(KAPPA) + sp.Add(*(f * x for f, x in zip(slopes, t, strict=True))) + sp.sqrt(DELTA(KAPPA)) * XI
    trace.record(
        "output", OMEGA, output, kind="definition", source="[CUI24] App. C", rule="the same for the output"
    )
    variances = {**dict.fromkeys(t, sp.S.One), XI: sp.S.One, REST: NU2SQ(KAPPA) + NOISE}
    risk = second_moment(label - output, variances)
    trace.record(
        "conditional risk",
        RISK(KAPPA),
        risk,
        kind="definition",
        source="THEORY section 4",
        rule="$E[(y-\\omega)^2|\\kappa]$: $t$, $\\xi$ and the rest of the label are centred and orthogonal",
    )
    return risk


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


def _errors(trace: Recorder, training: sp.Expr, risk: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Record training and test error as averages over kappa; the latter against the clean target."""
    trace.record("training error", sp.Symbol("train_error"), training, rule="the loss at the prox, averaged",
                 source="[CUI24] eq. (91)", kind="definition")  # fmt: skip
    test = Expectation(risk.subs(NOISE, 0), KAPPA)
    trace.record("test error", sp.Symbol("test_error"), test, source="[CUI24] eq. (24)", kind="definition",
                 rule="the conditional risk averaged, against the clean target")  # fmt: skip
    return training, test
