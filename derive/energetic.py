"""The energetic part of the free energy: what the loss and the law of label and output contribute.

A loss whose envelope is quadratic in (y - omega) needs the conditional risk only; any other convex loss enters by the
averages of its envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from derive.blocks import KAPPA, Definition, block_field, index
from derive.directions import directions_of
from derive.gaussian.expectation import Expectation
from derive.loss.loss import OMEGA, VARIANCE, F, Y
from derive.loss.quadratic import MoreauEnvelope
from derive.operations import computed, equal
from derive.output import average, output_averages
from derive.replica.averages import XI, sample_derivation
from derive.replica.symmetry import conditional_output
from derive.symbols import ALPHA, CLEAN_RISK, DELTA, LABEL_NU0, LABEL_NU2SQ, MEAN, NOISE, NU0, NU2SQ, RISK, V
from derive.trace import Derivation, Operation, Recorder

B, C = index("b"), index("c")
REST = sp.Symbol("y_rest", real=True)


@dataclass(frozen=True)
class Energetic:
    """The energetic part of Phi per input dimension.

    ``fields``: functions of kappa in the order they can be evaluated; ``partials``: averages over the output that are
    no explicit expressions, with their derivatives in the fields; ``directions``: of the target beside the spike;
    ``spikes``: directions of the spike itself; ``drawn``: whether the label has moments of its own.
    """

    expression: sp.Expr
    fields: tuple[Definition, ...]
    training_error: sp.Expr
    test_error: sp.Expr
    derivation: Derivation
    directions: int = 1
    partials: Mapping[str, Mapping[str, sp.Expr]] = field(default_factory=dict)
    spikes: int = 1
    drawn: bool = False


def quadratic_energy(envelope: MoreauEnvelope, directions: int = 1, spikes: int = 1, drawn: bool = False) -> Energetic:
    """The energetic part of a loss whose envelope is quadratic in (y - omega).

    drawn: labels are drawn given the target, by flips, noise inside the link or a channel.
    Raises ValueError where the envelope does not depend on (y - omega)^2 alone. Source: [CUI24] eq. (86), (91).
    """
    trace = Recorder("Energetic part", (envelope.derivation,))
    fields = output_fields(trace, directions, spikes, drawn=drawn)
    with trace.between():
        trace.extend(sample_derivation())
    expression = trace.derive(
        "energetic part",
        sp.Symbol("Phi_energetic"),
        computed(
            "average",
            "the envelope is a function of $V$ times $(y-\\omega)^2$; its average over $t$, $\\xi$ and the noise is "
            "the conditional risk",
            "conditional risk",
            "envelope",
            by=lambda _, found: ALPHA * Expectation(RISK(KAPPA) * _quadratic_weight(found), KAPPA),
            test=equal(lambda _, found: ALPHA * Expectation(_at_risk(found), KAPPA)),
        ),
        "[CUI24] eq. (86)",
    )
    training = computed(
        "average",
        "the loss at the prox",
        "conditional risk",
        "loss",
        "prox",
        by=lambda _, loss, prox: envelope.loss.error_scale * Expectation(RISK(KAPPA) * _at_prox(loss, prox), KAPPA),
        test=equal(
            lambda _, loss, prox: envelope.loss.error_scale * Expectation(_at_risk(loss.xreplace({F: prox})), KAPPA)
        ),
    )
    told, judged = ("training error", sp.Symbol("train_error")), "conditional risk" + " of the clean label" * drawn
    errors = _errors(trace, told, training, judged)
    return Energetic(expression, fields, *errors, trace.finish(), directions, spikes=spikes, drawn=drawn)


def output_energy(directions: int = 1, spikes: int = 1, norms: bool = False) -> Energetic:
    """The energetic part of any convex loss, by the averages of its envelope. Source: [CUI24] App. C, eq. (86).

    norms: whether the norms of the rows vary from neuron to neuron.
    """
    averages = output_averages(directions)
    trace = Recorder("Energetic part")
    fields = output_fields(trace, directions, spikes, norms)
    with trace.between():
        trace.extend(sample_derivation())
    expression = trace.derive(
        "energetic part",
        sp.Symbol("Phi_energetic"),
        computed(
            "average",
            "the envelope averaged over label and output given $\\kappa$, for each sample",
            "energetic part of a sample",
            by=lambda _: ALPHA * Expectation(average("avg_M"), KAPPA),
            test="the average of a sample named, which the code of the loss computes",
        ),
        "[CUI24] eq. (86)",
    )
    trace.extend(averages.derivation)
    training = computed(
        "average",
        "the loss at the prox, averaged over label and output given $\\kappa$",
        "loss at the prox",
        by=lambda _: Expectation(average("avg_l"), KAPPA),
        test="the average of a sample named, which the code of the loss computes",
    )
    told = "training loss", sp.Symbol("train_loss")
    errors = _errors(trace, told, training, "conditional risk")
    return Energetic(expression, fields[:-1], *errors, trace.finish(), directions, averages.partials, spikes)


def output_fields(
    trace: Recorder, directions: int = 1, spikes: int = 1, norms: bool = False, drawn: bool = False
) -> tuple[Definition, ...]:
    """The conditional law of the output and of the label given kappa in R^spikes, and the conditional risk.

    drawn: that of the label beside that of the clean one.
    """
    names = directions_of("slope", directions)
    output = conditional_output(trace, directions, spikes, norms)
    risks = [Definition("risk", (), _conditional_risk(trace, names, _DRAWN if drawn else _PLAIN))]
    risks += [Definition("clean_risk", (), _conditional_risk(trace, names, _CLEAN))] * drawn
    return (
        Definition("V", (), output.response),
        *(Definition(name, (), body) for name, body in zip(names, output.slopes, strict=True)),
        Definition("mean", (), output.mean),
        Definition("Delta", (), output.delta),
        *risks,
    )


@dataclass(frozen=True)
class _Label:
    """A label given kappa by its Hermite coefficients; noise: of its own, beside its rest."""

    words: str
    mean: Callable[..., sp.Expr]
    linear: str
    rest: Callable[..., sp.Expr]
    noise: sp.Expr
    risk: Callable[..., sp.Expr]
    variance: str


_PLAIN = _Label("", NU0, "nu1", NU2SQ, NOISE, RISK, "$\\nu_{\\star}^2$ plus the noise")
_DRAWN = _Label("", LABEL_NU0, "label_nu1", LABEL_NU2SQ, NOISE, RISK, "$(\\nu_{\\star}^{y})^2$ plus the noise")
_CLEAN = _Label(" of the clean label", NU0, "nu1", NU2SQ, sp.S.Zero, CLEAN_RISK, "$\\nu_{\\star}^2$")


def _conditional_risk(trace: Recorder, names: Sequence[str], of: _Label) -> sp.Expr:
    """E[(y - omega)^2 | kappa] from the Hermite expansion of label and output in t; names: of the slopes."""
    slopes, t = (
        [block_field(name)(KAPPA) for name in names],
        [sp.Symbol(name, real=True) for name in directions_of("t", len(names))],
    )
    hermite = [block_field(name)(KAPPA) for name in directions_of(of.linear, len(t))]
    label = of.mean(KAPPA) + sp.Add(*(nu * x for nu, x in zip(hermite, t, strict=True))) + REST
    trace.define(
        f"label{of.words and ', clean'}",
        sp.Function("y_clean", real=True)(KAPPA) if of.words else Y,
        label,
        f"Hermite expansion{of.words or ' of the label'} in $t$ given $\\kappa$; the rest is orthogonal to 1 and "
        f"$t$ and has variance {of.variance}",
        "[CUI24] App. C",
    )
    output = MEAN(KAPPA) + sp.Add(*(f * x for f, x in zip(slopes, t, strict=True))) + sp.sqrt(DELTA(KAPPA)) * XI
    if not of.words:
        trace.define("output", OMEGA, output, "the Gaussian output by its mean, slope and variance", "[CUI24] App. C")
    rest = of.rest(KAPPA) + of.noise
    variances = {**dict.fromkeys(t, sp.S.One), XI: sp.S.One, REST: rest}
    return trace.derive(
        f"conditional risk{of.words}",
        of.risk(KAPPA),
        computed(
            "average",
            "$E[(y-\\omega)^2|\\kappa]$: $t$, $\\xi$ and the rest of the label are centred and orthogonal",
            f"label{of.words and ', clean'}",
            "output",
            by=lambda y, omega: second_moment(y - omega, variances),
            test=equal(lambda y, omega: _gaussian_average((y - omega) ** 2, t, rest)),
        ),
        "THEORY section 4",
    )


def _gaussian_average(body: sp.Expr, t: list[sp.Symbol], variance: sp.Expr) -> sp.Expr:
    """Over t, xi and a normal rest of the label with its variance."""
    return Expectation(body.xreplace({REST: sp.sqrt(variance) * REST}), *t, XI, REST)


def second_moment(linear: sp.Expr, variances: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    """E[L^2] of L linear in orthogonal centred variables of given variances: a sum of squares."""
    polynomial = sp.Poly(linear, *variances)
    if polynomial.total_degree() > 1:
        raise ValueError(f"{linear} is not linear in {', '.join(map(str, variances))}")
    constant = polynomial.coeff_monomial(1)
    return constant**2 + sp.Add(*(v * polynomial.coeff_monomial(s) ** 2 for s, v in variances.items()))


def _quadratic_weight(envelope: sp.Expr) -> sp.Expr:
    """What multiplies (y - omega)^2 in an envelope, at the response of the output."""
    weight = sp.factor(envelope / (Y - OMEGA) ** 2)
    if weight.has(Y) or weight.has(OMEGA):
        raise ValueError(f"the envelope {envelope} is not a multiple of (y - omega)^2")
    return weight.subs(VARIANCE, V(KAPPA))


def _at_risk(quadratic: sp.Expr) -> sp.Expr:
    """A multiple of (y - omega)^2 where that is the conditional risk."""
    return quadratic.xreplace({Y: sp.sqrt(RISK(KAPPA)), OMEGA: sp.S.Zero, VARIANCE: V(KAPPA)})


def _at_prox(loss: sp.Expr, prox: sp.Expr) -> sp.Expr:
    return sp.factor(loss.subs(F, prox) / (Y - OMEGA) ** 2).subs(VARIANCE, V(KAPPA))


def _errors(trace: Recorder, told: tuple[str, sp.Symbol], training: Operation, judged: str) -> tuple[sp.Expr, sp.Expr]:
    """Derive training and test error as averages over kappa; the latter against the clean target.

    told: what the average of training is called. judged: the step that has the test error's conditional risk, but for
    the noise.
    """
    found = trace.derive(*told, training, "[CUI24] eq. (91)")
    test = trace.derive(
        "test error",
        sp.Symbol("test_error"),
        computed(
            "average",
            "the conditional risk, against the clean target",
            judged,
            by=lambda risk: Expectation(risk.subs(NOISE, 0), KAPPA),
            test=equal(lambda risk: sp.Subs(Expectation(risk, KAPPA), NOISE, 0)),
        ),
        "[CUI24] eq. (24)",
    )
    return found, test
