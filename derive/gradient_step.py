"""One giant gradient step: from the gradient to the spike, its alignment and the norm of the bulk rows.

With `e = y - ubar mu0` the residual at initialisation, row k moves by A u_k G_k, A = eta_tilde/beta,
    G_k = (1/n0) sum_i e_i sigma'(w_k.x_i) x_i.
sigma' is split into its mean (gives the same direction for every row: the spike) and the rest (different for
every row: the bulk). Everything below follows from two lemmas on the empirical average of q_i x_i and from
Stein's lemma. [CUI24, Result 3.1, App. A; BA22]; for sigma that is not odd and readouts that are not uniform
this goes beyond them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sympy

from derive.blocks import BlockSum
from derive.gaussian.expectation import Expectation
from derive.labels import (
    DRAWN,
    MU0,
    STAR,
    UBAR,
    Channel,
    IndexFunction,
    as_index_function,
    evaluated,
    numbered,
    record_residual_moments,
    suffixes,
)
from derive.language.grammar import ExpressionError
from derive.network_step import RESIDUAL as RESIDUALS
from derive.network_step import ROW, SAMPLE, SAMPLES, VALUE, A, J, SigmaPrime, W, X, record_row_after_step
from derive.operations import AVERAGE_WRITTEN, COMPOSED, by_parts, close_all, closed_form, computed
from derive.sample_averages import squared_norm
from derive.scalar import ScalarFunction
from derive.trace import Claim, Derivation, Recorder

U = sympy.Symbol("u", real=True)
MU1 = sympy.Symbol("mu_1", real=True)
S0 = sympy.Symbol("s_0", real=True)
E2 = sympy.Symbol("e_2", positive=True)
SECOND = sympy.Symbol("sigma_2", real=True)
VARIANCE = sympy.Symbol("v_sigma", nonnegative=True)
Z = sympy.Symbol("z", real=True)  # w_k.x: independent of t = Theta.x to leading order in d
SIGMA = sympy.Function("sigma")(Z)

_STEP = "[CUI24, Result 3.1 and App. A]"
_ORDER = "to leading order in d, n0/d and p/d fixed"


@dataclass(frozen=True)
class GradientStepMap:
    """(A, alpha0, u, moments) -> sRF parameters, SymPy expressions in the module's symbols. [CUI24, eq.
    (9)-(12)]

    `strength` (A, alpha0, mu1, s1, e2; block b: times u_b), `alignments` (alpha0, s1, e2; one per index of the
    link), `bulk_variance` (A, u, s0, alpha0, e2, E sigma'', Var sigma'). `overlaps`: the symbols s1, one per index.
    `moments` gives each moment symbol as an expression with `Expectation` nodes of the given activation and link
    (mu0 and the others may refer to mu0, ubar, noise, flips and probit); `closed` the same in closed form where
    there is one.
    """

    strength: Any
    alignments: tuple[Any, ...]
    bulk_variance: Any
    overlaps: tuple[sympy.Symbol, ...]
    moments: MappingProxyType[sympy.Symbol, Any]
    closed: MappingProxyType[sympy.Symbol, Any]
    derivation: Derivation


def gradient_step_map(
    activation: ScalarFunction,
    link: ScalarFunction | IndexFunction,
    bias: Any = 0,
    *,
    flips: Any = 0,
    probit: Any = 0,
    drawn: IndexFunction | None = None,
) -> GradientStepMap:
    """The map of one giant step for this activation (with a fixed bias: sigma(z + bias)) and target link.

    The labels may be flipped and have noise inside the link: pass the symbols FLIPS and PROBIT, or 0 for none. drawn:
    the variance of a label that is drawn about its mean, the link.
    Raises ExpressionError for an activation with a jump, whose Var sigma' is infinite.
    """
    sigma, target = activation.shifted(bias), as_index_function(link)
    if sigma.jumps():
        places = ", ".join(str(place) for place, _ in sigma.jumps())
        raise ExpressionError(
            f"the activation {activation.name} jumps at {places}, so that sigma' is not square integrable "
            "and one gradient step of the network is not defined",
            "use a continuous activation, or give the spike directly in [spike] instead of [step]",
        )
    recorder = Recorder(f"One giant gradient step of {activation.name} on {link.name}")
    channel = Channel(len(target.variables), flips, probit, drawn is not None)
    overlaps = numbered("s_1", channel.indices)
    with recorder.between():
        record_row_after_step(recorder)
    _record_residual_moments(recorder, channel)
    _record_mean_of_slope(recorder)
    strength, alignments = _spike(recorder, overlaps)
    _record_drift(recorder, channel)
    bulk = _bulk(recorder)
    moments, closed = _recorded(recorder, sigma, (target, drawn or target), overlaps)
    return GradientStepMap(
        strength,
        alignments,
        bulk,
        overlaps,
        MappingProxyType(moments),
        MappingProxyType(closed),
        recorder.finish(),
    )


def _recorded(
    recorder: Recorder,
    sigma: ScalarFunction,
    label: tuple[IndexFunction, IndexFunction],
    overlaps: Sequence[sympy.Symbol],
) -> tuple[dict[sympy.Symbol, Any], dict[sympy.Symbol, Any]]:
    """Each moment for the functions at hand, in an order in which they can be evaluated, and its closed form.

    label: its mean given the indices, and its variance where it is drawn.
    """
    target, drawn = label
    recorder.given("activation", SIGMA, sigma.at(Z), f"the activation {sigma.name}")
    recorder.given("link", STAR(*target.variables), target.expr, f"the link {target.name}")
    slope = sigma.derivative().subs(sigma.z, Z)

    def put(general: Any, value: Any, _: Any) -> Any:
        of_activation = general.xreplace({sympy.Derivative(SIGMA, Z): slope}).xreplace({SIGMA: value})
        return of_activation.replace(STAR, target.at).replace(DRAWN, drawn.at)

    def functions_put_in(found: Any, general: Any, value: Any, _: Any) -> tuple[Any, Any]:
        return general.replace(STAR, target.at).replace(DRAWN, drawn.at).subs(SIGMA, value).doit(), found

    moments, closed = {}, {}
    for symbol, general in _general_steps(overlaps).items():
        rule = f"moments of {sigma.name} and {target.name}"
        moments[symbol] = recorder.derive(
            f"moment {symbol}",
            symbol,
            computed("substitute", rule, general, "activation", "link", by=put, test=Claim(functions_put_in)),
            _STEP,
        )
        closed[symbol], rules = close_all(moments[symbol])
        if rules:
            recorder.derive(f"value of {symbol}", None, closed_form(f"moment {symbol}"), "Gaussian integral")
    return moments, closed


def _general_steps(overlaps: Sequence[sympy.Symbol]) -> dict[sympy.Symbol, str]:
    """For every moment the step that gives it for any activation and link."""
    along = (f"overlap with the target{suffix}" for suffix in suffixes(len(overlaps)))
    return {
        MU0: "mean of the features",
        MU1: "mean of sigma'",
        S0: "mean residual",
        **dict(zip(overlaps, along, strict=True)),
        E2: "residual variance",
        SECOND: "linear coefficient of sigma'",
        VARIANCE: "variance of sigma'",
    }


def _record_residual_moments(recorder: Recorder, channel: Channel) -> None:
    """The residual of the network at initialisation."""
    recorder.define("mean of the features", MU0, Expectation(SIGMA, Z), "the mean of a neuron at initialisation")
    recorder.assume(
        "network at initialisation",
        sympy.Symbol("fbar"),
        UBAR * MU0,
        "the network at initialisation to concentrate on its mean $\\bar u\\,\\mu_0$",
        source=_STEP,
        assumption=_ORDER,
    )
    record_residual_moments(recorder, channel)


def _record_mean_of_slope(recorder: Recorder) -> None:
    """The mean of sigma', by which all rows move in the same direction."""
    recorder.assume(
        "gradient",
        sympy.Symbol("g_k"),
        sympy.Symbol("e") * sympy.Derivative(SIGMA, Z),
        "$z=w_k\\cdot x$ to be independent of the residual $e$ in the weight of a sample, $e\\,\\sigma'(z)$",
        source=_STEP,
        assumption=_ORDER,
    )
    recorder.derive(
        "mean weight",
        None,
        computed(
            "average",
            "the mean over $z$ of the weight per residual",
            "gradient",
            by=lambda weight: Expectation(weight / sympy.Symbol("e"), Z),
            test=AVERAGE_WRITTEN,
            before=lambda weight: Expectation(weight / sympy.Symbol("e"), Z),
        ),
        shown=False,
    )
    recorder.derive(
        "mean of sigma'",
        None,
        by_parts(
            "mean weight",
            Z,
            "integration by parts: the constant Hermite coefficient of $\\sigma'$ is $\\mu_1$",
        ),
        "Stein's lemma",
    )


def _spike(recorder: Recorder, overlaps: Sequence[sympy.Symbol]) -> tuple[Any, tuple[Any, ...]]:
    """The part of the gradient that all rows have in common: its length and its overlaps with the target."""
    norm = squared_norm(recorder, "spike", overlaps, E2)
    strength = recorder.derive(
        "strength",
        sympy.Symbol("r"),
        computed(
            "take the length",
            "length of the part common to all rows, $A\\mu_1$ times that of $v$, for $u_k=1$; block b has $u_b r$",
            "row after the step",
            "mean of sigma'",
            norm,
            by=lambda *found: A * MU1 * sympy.sqrt(found[-1]),
            test=Claim(_length_of_common_part),
        ),
        "[CUI24, eq. (9)]",
    )
    indexed = zip(numbered("gamma", len(overlaps)), overlaps, suffixes(len(overlaps)), strict=True)
    alignments = tuple(
        recorder.derive(
            f"alignment{suffix}",
            gamma,
            computed(
                "divide",
                "overlap of its direction v with $\\theta$",
                f"overlap with the target{suffix}",
                norm,
                by=lambda _, length, s1=symbol: s1 / sympy.sqrt(length),
                test=COMPOSED,
            ),
            "[CUI24, eq. (10)]",
        )
        for gamma, symbol, suffix in indexed
    )
    return strength, alignments


def _length_of_common_part(strength: Any, row: Any, _: Any, norm: Any) -> tuple[Any, Any]:
    """The length of the row's change with sigma' at its mean and u = 1, and A mu1 times that of the average of e x."""
    change = (row - W[ROW, J]).replace(SigmaPrime, lambda _: MU1).xreplace({VALUE[ROW]: sympy.S.One})
    average = BlockSum(RESIDUALS[SAMPLE] * X[SAMPLE, J], SAMPLE) / SAMPLES
    squared = BlockSum(average**2, J)
    return BlockSum(change**2, J), sympy.expand(strength**2 / norm) * squared


def _record_drift(recorder: Recorder, channel: Channel) -> None:
    """What is left of sigma' without its mean, along a row and in its variance.

    The second Hermite tensor C of the residual also moves row k by A u_k sigma_2 Theta C Theta^T w_k, which is
    of squared norm 1/d: it stretches the bulk along the target's directions and has no part in c.
    """
    slope = sympy.Derivative(SIGMA, Z)
    recorder.define(
        "rest of sigma'",
        sympy.Symbol("s"),
        slope - MU1,
        "$\\sigma'(z)$ without its mean, which is the spike's",
    )
    along_node = channel.expectation(channel.power(1) * (slope - MU1) * Z, Z)
    recorder.derive(
        "bulk along its row",
        None,
        computed(
            "average",
            "independence of $z=w_k\\cdot x$ and $t$: the part of the gradient along $w_k$",
            "residual",
            "rest of sigma'",
            by=lambda *_: evaluated(along_node),
            before=lambda *_: along_node,
        ),
        _STEP,
    )
    recorder.define(
        "slope along the row",
        sympy.Symbol("sigma_linear"),
        Expectation(Z * slope, Z),
        "the linear Hermite coefficient of $\\sigma'$",
    )
    recorder.derive(
        "linear coefficient of sigma'",
        None,
        by_parts(
            "slope along the row",
            Z,
            "integration by parts: $\\mathbb{E}\\sigma''$ in the sense of distributions",
        ),
        "Stein's lemma",
    )
    recorder.define("variance of sigma'", VARIANCE, Expectation(slope**2, Z) - MU1**2, "the variance of $\\sigma'(z)$")


def _bulk(recorder: Recorder) -> Any:
    """The squared norm of a bulk row."""
    drift = recorder.derive(
        "drift of a row",
        sympy.Symbol("delta_w"),
        computed(
            "substitute",
            "$s_0$ the mean residual, $\\mathbb{E}\\sigma''$ the linear coefficient of $\\sigma'$",
            "bulk along its row",
            "mean residual",
            "slope along the row",
            by=lambda along, s0, linear: sympy.cancel(sympy.expand(along) / sympy.expand(s0 * linear)) * S0 * SECOND,
            test=Claim(lambda drift, along, s0, linear: (along, sympy.Subs(drift, (S0, SECOND), (s0, linear)))),
        ),
        _STEP,
    )
    if drift != S0 * SECOND:
        raise AssertionError(f"the drift of a row came out as {drift}")
    recorder.assume(
        "bulk weight",
        sympy.Symbol("q_bulk"),
        E2 * VARIANCE,
        "the mean square of $e\\,(\\sigma'(z)-\\mu_1)$ to be that of its factors",
        source=_STEP,
        assumption="$z$ and the residual are independent to leading order in d",
    )
    norm = squared_norm(recorder, "bulk", (sympy.S.Zero,), E2 * VARIANCE)
    return recorder.derive(
        "bulk variance",
        sympy.Symbol("c"),
        computed(
            "add",
            "the squared norm of $w_k$ moved along itself plus what the step adds across it, of the part of "
            "$\\sigma'$ without its mean",
            "row after the step",
            "drift of a row",
            norm,
            by=lambda _, along, across: (1 + A * U * along) ** 2 + (A * U) ** 2 * across,
            test="the squares of two orthogonal parts of a row added",
        ),
        "[CUI24, eq. (11)-(12)]",
    )
