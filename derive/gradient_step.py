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

import mpmath
import sympy

from derive.expectation import Expectation, inverse_stein
from derive.grammar import ExpressionError
from derive.labels import (
    FLIPS,
    MU0,
    NOISE,
    PROBIT,
    UBAR,
    Channel,
    IndexFunction,
    ResidualMoments,
    as_index_function,
    evaluated,
    numbered,
    residual_moments,
    suffixes,
)
from derive.quadrature import QuadratureError
from derive.rules import close
from derive.scalar import ScalarFunction
from derive.trace import Derivation, Recorder

A = sympy.Symbol("A", real=True)
ALPHA0 = sympy.Symbol("alpha_0", positive=True)
U = sympy.Symbol("u", real=True)
MU1 = sympy.Symbol("mu_1", real=True)
S0 = sympy.Symbol("s_0", real=True)
E2 = sympy.Symbol("e_2", positive=True)
SECOND = sympy.Symbol("sigma_2", real=True)
VARIANCE = sympy.Symbol("v_sigma", nonnegative=True)
DIMENSION = sympy.Symbol("d", positive=True)
Z = sympy.Symbol("z", real=True)  # w_k.x: independent of t = Theta.x to leading order in d

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
) -> GradientStepMap:
    """The map of one giant step for this activation (with a fixed bias: sigma(z + bias)) and target link.

    The labels may be flipped and have noise inside the link: pass the symbols FLIPS and PROBIT, or 0 for none.
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
    channel = Channel(len(target.variables), flips, probit)
    overlaps = numbered("s_1", channel.indices)
    strength, alignments, residual = _spike(recorder, channel, overlaps)
    bulk = _bulk(recorder, channel, residual.mean)
    moments = _moments(sigma, residual.of(target), overlaps)
    closed = _recorded(recorder, moments, f"moments of {activation.name} and {link.name}")
    return GradientStepMap(
        strength, alignments, bulk, overlaps, MappingProxyType(moments), closed, recorder.finish()
    )


def _recorded(
    recorder: Recorder, moments: dict[sympy.Symbol, Any], rule: str
) -> MappingProxyType[sympy.Symbol, Any]:
    """Record each moment and its closed form."""
    closed = {}
    for symbol, expression in moments.items():
        recorder.record(f"moment {symbol}", symbol, expression, kind="definition", source=_STEP, rule=rule)
        closed[symbol], rules = _closed(expression)
        if rules:
            recorder.record(
                f"value of {symbol}", expression, closed[symbol], kind="result", source="Gaussian integral",
                rule=", ".join(rules),
            )  # fmt: skip
    return MappingProxyType(closed)


def _closed(expression: Any) -> tuple[Any, dict[str, None]]:
    """The expression with closed expectations, those left by an integral over one of several indices included."""
    rules: dict[str, None] = {}
    while True:
        nodes = sorted(expression.atoms(Expectation), key=sympy.default_sort_key)
        found = {node: close(node) for node in nodes}
        rules |= dict.fromkeys(name for _, names in found.values() for name in names)
        closed = sympy.expand(expression.xreplace({node: result for node, (result, _) in found.items()}))
        if closed == expression or not any(names for _, names in found.values()):
            return closed, rules
        expression = closed


def evaluate(
    step: GradientStepMap,
    learning_rate_over_width: Any,
    samples: Any,
    values: Sequence[Any] = (1,),
    fractions: Sequence[Any] = (1,),
    noise: Any = 0,
    dps: int = 30,
    *,
    flips: Any = 0,
    probit: Any = 0,
) -> dict[str, Any]:
    """Numbers (mpf) to about `dps` digits: A = eta_tilde/beta, alpha0, readout vocabulary and label noise in.

    Returns mu0, mu1, s0, e2, second, variance, strength, and as tuples s1 and alignments (one per index) and
    bulk_variance (one per readout value). Floats are taken at their exact binary value. Raises QuadratureError
    where a moment does not exist.
    """
    mean = sum((_exact(v) * _exact(f) for v, f in zip(values, fractions, strict=True)), sympy.S.Zero)
    known: dict[Any, Any] = {UBAR: mean, NOISE: _exact(noise), A: _exact(learning_rate_over_width)}
    known |= {ALPHA0: _exact(samples), FLIPS: _exact(flips), PROBIT: _exact(probit)}
    for symbol, expression in step.closed.items():
        known[symbol] = sympy.N(expression.subs(known), dps + 10)
    names = {"mu0": MU0, "mu1": MU1, "s0": S0, "e2": E2, "second": SECOND, "variance": VARIANCE}
    with mpmath.workdps(dps + 10):
        result: dict[str, Any] = {name: _number(known[symbol], dps) for name, symbol in names.items()}
        result["s1"] = tuple(_number(known[symbol], dps) for symbol in step.overlaps)
        result["strength"] = _number(step.strength.subs(known), dps)
        result["alignments"] = tuple(_number(each.subs(known), dps) for each in step.alignments)
        result["bulk_variance"] = tuple(
            _number(step.bulk_variance.subs({**known, U: _exact(value)}), dps) for value in values
        )
    return result


def _exact(value: Any) -> Any:
    return sympy.Rational(value) if isinstance(value, float | int) else sympy.sympify(value)


def _number(value: Any, dps: int) -> Any:
    number = sympy.N(value, dps + 10)
    if not number.is_Float and not number.is_Rational:
        raise QuadratureError(f"{value} is not a finite number")
    return mpmath.mpf(number._to_mpmath(mpmath.mp.prec))


def _moments(
    sigma: ScalarFunction, residual: ResidualMoments, overlaps: Sequence[sympy.Symbol]
) -> dict[sympy.Symbol, Any]:
    """Each moment as expectations of the functions at hand, in an order in which they can be evaluated."""
    value, slope = sigma.at(Z), sigma.derivative().subs(sigma.z, Z)
    return {
        MU0: Expectation(value, Z),
        MU1: Expectation(Z * value, Z),
        S0: residual.mean,
        **dict(zip(overlaps, residual.overlaps, strict=True)),
        E2: residual.square,
        SECOND: Expectation((Z**2 - 1) * value, Z),
        VARIANCE: Expectation(slope**2, Z) - MU1**2,
    }


def _spike(
    recorder: Recorder, channel: Channel, overlaps: Sequence[sympy.Symbol]
) -> tuple[Any, tuple[Any, ...], ResidualMoments]:
    sigma = sympy.Function("sigma")(Z)
    recorder.record(
        "network at initialisation", sympy.Symbol("fbar"), UBAR * Expectation(sigma, Z), kind="assumption",
        source=_STEP, rule="the network at initialisation to concentrate on its mean $\\bar u\\,\\mu_0$",
        assumption=_ORDER,
    )  # fmt: skip
    residual = residual_moments(recorder, channel)
    recorder.record(
        "gradient", sympy.Symbol("g_k"), sympy.Symbol("e") * sympy.Derivative(sigma, Z), kind="definition",
        source="[CUI24, eq. (4)], [BA22]",
        rule="the weight of a sample $x$ in the step of row $w_k$, "
        "$w_k\\to w_k+A u_k\\,\\frac{1}{n_0}\\,\\sum_i g_{k,i}x_i$ with $z=w_k\\cdot x$, "
        "$A=\\tilde\\eta/\\beta$",
    )  # fmt: skip
    slope = Expectation(sympy.Derivative(sigma, Z), Z)
    recorder.record(
        "mean of sigma'", slope, inverse_stein(slope, Z), source="Stein's lemma",
        rule="integration by parts: the constant Hermite coefficient of $\\sigma'$ is $\\mu_1$",
    )  # fmt: skip
    for symbol, value, suffix in zip(overlaps, residual.overlaps, suffixes(channel.indices), strict=True):
        recorder.record(
            f"overlap s1{suffix}", value, symbol, kind="definition", source=_STEP, rule="the overlap per sample",
        )  # fmt: skip
    recorder.record(
        "residual e2", residual.square, E2, kind="definition", source=_STEP, rule="the mean square residual"
    )
    norm = _squared_norm(recorder, "spike", overlaps, E2)
    strength = recorder.record(
        "strength", sympy.Symbol("r"), A * MU1 * sympy.sqrt(norm), kind="definition",
        source="[CUI24, eq. (9)]",
        rule="length of the part common to all rows, for $u_k=1$; block b has $u_b r$",
    )  # fmt: skip
    alignments = tuple(
        recorder.record(
            f"alignment{suffix}", gamma, symbol / sympy.sqrt(norm), kind="definition", source="[CUI24, eq. (10)]",
            rule="overlap of its direction v with $\\theta$",
        )
        for gamma, symbol, suffix in zip(
            numbered("gamma", channel.indices), overlaps, suffixes(channel.indices), strict=True
        )
    )  # fmt: skip
    return strength, alignments, residual


def _squared_norm(recorder: Recorder, label: str, means: Sequence[Any], square: Any) -> Any:
    """|(1/n0) sum q_i x_i|^2 -> sum_j mean_j^2 + square/alpha0, mean_j = E[q t_j] along the directions that q
    knows, square = E q^2.

    At finite d: n0 terms i = i', E[q^2 |x|^2], and n0 (n0 - 1) products of independent ones, (E[q x])^2.
    """
    samples = ALPHA0 * DIMENSION
    # E[q^2 t^2], of order one
    along = [sympy.Symbol(each.name, positive=True) for each in numbered("q_4", len(means))]
    equal = sum(along) + (DIMENSION - len(means)) * square
    finite = equal / samples + (1 - 1 / samples) * sum(mean**2 for mean in means)
    limit = sympy.expand(sympy.limit(finite, DIMENSION, sympy.oo))
    recorder.record(
        f"squared norm of the {label}", sympy.Limit(finite, DIMENSION, sympy.oo), limit,
        source=_STEP,
        rule="the law of large numbers for the norm of the average of $n_0=\\alpha_0 d$ vectors $q_ix_i$: "
        "equal and different samples counted apart, $q_4=\\mathbb{E}[q^2t^2]$",
    )  # fmt: skip
    return limit


def _bulk(recorder: Recorder, channel: Channel, mean: Any) -> Any:
    """The squared norm of a bulk row.

    The second Hermite tensor C of the residual also moves row k by A u_k sigma_2 Theta C Theta^T w_k, which is
    of squared norm 1/d: it stretches the bulk along the target's directions and has no part in c.
    """
    sigma = sympy.Function("sigma")(Z)
    slope = sympy.Derivative(sigma, Z)
    along_node = channel.expectation(channel.power(1) * (slope - MU1) * Z, Z)
    along = evaluated(along_node)
    recorder.record(
        "bulk along its row", along_node, along, source=_STEP, assumption=_ORDER,
        rule="independence of $z=w_k\\cdot x$ and $t$: the part of the gradient along $w_k$",
    )  # fmt: skip
    recorder.record("residual s0", mean, S0, kind="definition", source=_STEP, rule="the mean residual")
    linear = Expectation(Z * slope, Z)
    second = recorder.record(
        "linear coefficient of sigma'", linear, inverse_stein(linear, Z), source="Stein's lemma",
        rule="integration by parts: $\\mathbb{E}\\sigma''$ in the sense of distributions",
    )  # fmt: skip
    recorder.record(
        "sigma2", second, SECOND, kind="definition", source="[BA22]", rule="the mean of $\\sigma''$"
    )
    square_node = channel.expectation(channel.power(2) * (slope - MU1) ** 2, Z)
    square = channel.expectation(channel.power(2)) * Expectation((slope - MU1) ** 2, Z)
    recorder.record(
        "bulk weight", square_node, square, source=_STEP, assumption=_ORDER,
        rule="independence of $z$ and the residual",
    )  # fmt: skip
    recorder.record(
        "variance of sigma'", square, E2 * VARIANCE, kind="definition", source=_STEP,
        rule="the mean square residual and $\\mathrm{Var}\\,\\sigma'(z)$",
    )  # fmt: skip
    drift = S0 * SECOND
    if sympy.expand(along - mean * linear) != 0:
        raise AssertionError(f"the drift of a row came out as {along}")
    fluctuation = _squared_norm(recorder, "bulk", (sympy.S.Zero,), E2 * VARIANCE)
    bulk = (1 + A * U * drift) ** 2 + (A * U) ** 2 * fluctuation
    recorder.record(
        "bulk variance", sympy.Symbol("c"), bulk, kind="definition", source="[CUI24, eq. (11)-(12)]",
        rule="the squared norm of $w_k$ moved along itself plus what the step adds across it, "
        "of the part of $\\sigma'$ without its mean",
    )  # fmt: skip
    return bulk
