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
from derive.quadrature import QuadratureError
from derive.rules import close
from derive.scalar import ScalarFunction
from derive.trace import Derivation, Recorder

A = sympy.Symbol("A", real=True)
ALPHA0 = sympy.Symbol("alpha_0", positive=True)
U = sympy.Symbol("u", real=True)
UBAR = sympy.Symbol("ubar", real=True)
NOISE = sympy.Symbol("noise", nonnegative=True)
MU0, MU1 = sympy.symbols("mu_0 mu_1", real=True)
S0, S1 = sympy.symbols("s_0 s_1", real=True)
E2 = sympy.Symbol("e_2", positive=True)
SECOND = sympy.Symbol("sigma_2", real=True)
VARIANCE = sympy.Symbol("v_sigma", nonnegative=True)
DIMENSION = sympy.Symbol("d", positive=True)

# z = w_k.x, t = theta.x and the label noise: independent standard normals to leading order in d
Z, T, NOISE_VARIABLE = (sympy.Symbol(name, real=True) for name in ("z", "t", "epsilon"))

_STEP = "[CUI24, Result 3.1 and App. A]"
_ORDER = "to leading order in d, n0/d and p/d fixed"


_NAMES = (
    ("mu0", MU0),
    ("mu1", MU1),
    ("s0", S0),
    ("s1", S1),
    ("e2", E2),
    ("second", SECOND),
    ("variance", VARIANCE),
)


@dataclass(frozen=True)
class GradientStepMap:
    """(A, alpha0, u, moments) -> sRF parameters, SymPy expressions in the module's symbols. [CUI24, eq.
    (9)-(12)]

    `strength` (A, alpha0, mu1, s1, e2; block b: times u_b), `alignment` (alpha0, s1, e2), `bulk_variance` (A,
    u, s0, alpha0, e2, E sigma'', Var sigma'). `moments` gives each moment symbol as an expression with
    `Expectation` nodes of the given activation and link (mu0 and the others may refer to mu0, ubar and
    noise); `closed` the same in closed form where there is one.
    """

    strength: Any
    alignment: Any
    bulk_variance: Any
    moments: MappingProxyType[sympy.Symbol, Any]
    closed: MappingProxyType[sympy.Symbol, Any]
    derivation: Derivation


def gradient_step_map(activation: ScalarFunction, link: ScalarFunction, bias: Any = 0) -> GradientStepMap:
    """The map of one giant step for this activation (with a fixed bias: sigma(z + bias)) and target link.

    Raises ExpressionError for an activation with a jump, whose Var sigma' is infinite.
    """
    sigma = activation.shifted(bias)
    if sigma.jumps():
        places = ", ".join(str(place) for place, _ in sigma.jumps())
        raise ExpressionError(
            f"the activation {activation.name} jumps at {places}, so that sigma' is not square integrable "
            "and one gradient step of the network is not defined",
            "use a continuous activation, or give the spike directly in [spike] instead of [step]",
        )
    recorder = Recorder(f"One giant gradient step of {activation.name} on {link.name}")
    moments = _moments(sigma, link)
    strength, alignment = _spike(recorder)
    bulk = _bulk(recorder)
    closed = {}
    for symbol, expression in moments.items():
        recorder.record(
            f"moment {symbol}", symbol, expression, kind="definition", source=_STEP,
            rule=f"moments of {activation.name} and {link.name}",
        )  # fmt: skip
        nodes = sorted(expression.atoms(Expectation), key=sympy.default_sort_key)
        found = {node: close(node) for node in nodes}
        closed[symbol] = sympy.expand(
            expression.xreplace({node: result for node, (result, _) in found.items()})
        )
        rules = dict.fromkeys(name for _, names in found.values() for name in names)
        if rules:
            recorder.record(
                f"value of {symbol}", expression, closed[symbol], kind="result", source="Gaussian integral",
                rule=", ".join(rules),
            )  # fmt: skip
    return GradientStepMap(
        strength, alignment, bulk, MappingProxyType(moments), MappingProxyType(closed), recorder.finish()
    )


def evaluate(
    step: GradientStepMap,
    learning_rate_over_width: Any,
    samples: Any,
    values: Sequence[Any] = (1,),
    fractions: Sequence[Any] = (1,),
    noise: Any = 0,
    dps: int = 30,
) -> dict[str, Any]:
    """Numbers (mpf) to about `dps` digits: A = eta_tilde/beta, alpha0, readout vocabulary and noise variance
    in.

    Returns mu0, mu1, s0, s1, e2, second, variance, strength, alignment and bulk_variance (a tuple, one per
    readout value). Floats are taken at their exact binary value. Raises QuadratureError where a moment does
    not exist.
    """
    mean = sum((_exact(v) * _exact(f) for v, f in zip(values, fractions, strict=True)), sympy.S.Zero)
    known: dict[Any, Any] = {UBAR: mean, NOISE: _exact(noise), A: _exact(learning_rate_over_width)}
    known[ALPHA0] = _exact(samples)
    for symbol, expression in step.closed.items():
        known[symbol] = sympy.N(expression.subs(known), dps + 10)
    numbers = {name: known[symbol] for name, symbol in _NAMES}
    numbers["strength"] = step.strength.subs(known)
    numbers["alignment"] = step.alignment.subs(known)
    with mpmath.workdps(dps + 10):
        result: dict[str, Any] = {name: _number(value, dps) for name, value in numbers.items()}
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


def _moments(sigma: ScalarFunction, link: ScalarFunction) -> dict[sympy.Symbol, Any]:
    """Each moment as expectations of the functions at hand, in an order in which they can be evaluated."""
    value, target = sigma.at(Z), link.at(T)
    slope = sigma.derivative().subs(sigma.z, Z)
    return {
        MU0: Expectation(value, Z),
        MU1: Expectation(Z * value, Z),
        S0: Expectation(target, T) - UBAR * MU0,
        S1: Expectation(T * target, T),
        E2: Expectation(target**2, T) + NOISE - 2 * UBAR * MU0 * Expectation(target, T) + UBAR**2 * MU0**2,
        SECOND: Expectation((Z**2 - 1) * value, Z),
        VARIANCE: Expectation(slope**2, Z) - MU1**2,
    }


def _residual() -> Any:
    """e = sigma_star(t) + sqrt(noise) epsilon - ubar mu0."""
    return sympy.Function("sigma_star")(T) + sympy.sqrt(NOISE) * NOISE_VARIABLE - UBAR * MU0


def _spike(recorder: Recorder) -> tuple[Any, Any]:
    sigma = sympy.Function("sigma")(Z)
    gradient, residual = sympy.Symbol("g_k"), sympy.Symbol("e")
    network = sympy.Symbol("fbar")
    recorder.record(
        "network at initialisation", network, UBAR * Expectation(sigma, Z), kind="assumption", source=_STEP,
        rule="the network at initialisation to concentrate on its mean $\\bar u\\,\\mu_0$", assumption=_ORDER,
    )  # fmt: skip
    recorder.record(
        "residual", residual, _residual(), kind="definition", source=_STEP,
        rule="the residual of a sample with $t=\\theta\\cdot x$",
    )  # fmt: skip
    recorder.record(
        "gradient", gradient, residual * sympy.Derivative(sigma, Z), kind="definition",
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
    overlap_node = Expectation(_residual() * T, T, NOISE_VARIABLE)
    overlap = _evaluated(overlap_node)
    recorder.record(
        "overlap with the target", overlap_node, overlap, source=_STEP,
        rule="linearity: noise and constants have no overlap with $\\theta$",
    )  # fmt: skip
    recorder.record("overlap s1", overlap, S1, kind="definition", source=_STEP, rule="the overlap per sample")
    square_node = Expectation(_residual() ** 2, T, NOISE_VARIABLE)
    square = _evaluated(square_node)
    recorder.record(
        "residual variance", square_node, square, source=_STEP, rule="independence of the label noise"
    )
    recorder.record(
        "residual e2", square, E2, kind="definition", source=_STEP, rule="the mean square residual"
    )
    norm = _squared_norm(recorder, "spike", S1, E2)
    strength = recorder.record(
        "strength", sympy.Symbol("r"), A * MU1 * sympy.sqrt(norm), kind="definition",
        source="[CUI24, eq. (9)]",
        rule="length of the part common to all rows, for $u_k=1$; block b has $u_b r$",
    )  # fmt: skip
    alignment = recorder.record(
        "alignment", sympy.Symbol("gamma"), S1 / sympy.sqrt(norm), kind="definition",
        source="[CUI24, eq. (10)]",
        rule="overlap of its direction v with $\\theta$",
    )  # fmt: skip
    return strength, alignment


def _squared_norm(recorder: Recorder, label: str, mean: Any, square: Any) -> Any:
    """|(1/n0) sum q_i x_i|^2 -> mean^2 + square/alpha0, mean = E[q t] along the one direction q knows, square
    = E q^2.

    At finite d: n0 terms i = i', E[q^2 |x|^2], and n0 (n0 - 1) products of independent ones, (E[q x])^2.
    """
    samples = ALPHA0 * DIMENSION
    along = sympy.Symbol("q_4", positive=True)  # E[q^2 t^2], of order one
    finite = (along + (DIMENSION - 1) * square) / samples + (1 - 1 / samples) * mean**2
    limit = sympy.expand(sympy.limit(finite, DIMENSION, sympy.oo))
    recorder.record(
        f"squared norm of the {label}", sympy.Limit(finite, DIMENSION, sympy.oo), limit,
        source=_STEP,
        rule="the law of large numbers for the norm of the average of $n_0=\\alpha_0 d$ vectors $q_ix_i$: "
        "equal and different samples counted apart, $q_4=\\mathbb{E}[q^2t^2]$",
    )  # fmt: skip
    return limit


def _bulk(recorder: Recorder) -> Any:
    sigma = sympy.Function("sigma")(Z)
    slope = sympy.Derivative(sigma, Z)
    weight = _residual() * (slope - MU1)
    along_node = Expectation(weight * Z, Z, T, NOISE_VARIABLE)
    along = _evaluated(along_node)
    recorder.record(
        "bulk along its row", along_node, along, source=_STEP, assumption=_ORDER,
        rule="independence of $z=w_k\\cdot x$ and $t$: the part of the gradient along $w_k$",
    )  # fmt: skip
    target_mean = _evaluated(Expectation(_residual(), T, NOISE_VARIABLE))
    recorder.record("residual s0", target_mean, S0, kind="definition", source=_STEP, rule="the mean residual")
    linear = Expectation(Z * slope, Z)
    recorder.record(
        "linear coefficient of sigma'", linear, inverse_stein(linear, Z), source="Stein's lemma",
        rule="integration by parts: $\\mathbb{E}\\sigma''$ in the sense of distributions",
    )  # fmt: skip
    recorder.record(
        "sigma2",
        inverse_stein(linear, Z),
        SECOND,
        kind="definition",
        source="[BA22]",
        rule="the mean of $\\sigma''$",
    )
    square_node = Expectation(weight**2, Z, T, NOISE_VARIABLE)
    square = _product_of_squares()
    recorder.record(
        "bulk weight", square_node, square, source=_STEP, assumption=_ORDER,
        rule="independence of $z$ and the residual",
    )  # fmt: skip
    recorder.record(
        "variance of sigma'", square, E2 * VARIANCE, kind="definition", source=_STEP,
        rule="the mean square residual and $\\mathrm{Var}\\,\\sigma'(z)$",
    )  # fmt: skip
    coefficients = {Expectation(slope * Z, Z): SECOND, target_mean: S0}
    drift = sympy.factor(along).subs(coefficients)
    if drift != S0 * SECOND:
        raise AssertionError(f"the drift of a row came out as {drift}")
    fluctuation = _squared_norm(recorder, "bulk", sympy.S.Zero, E2 * VARIANCE)
    bulk = (1 + A * U * drift) ** 2 + (A * U) ** 2 * fluctuation
    recorder.record(
        "bulk variance", sympy.Symbol("c"), bulk, kind="definition", source="[CUI24, eq. (11)-(12)]",
        rule="the squared norm of $w_k$ moved along itself plus what the step adds across it, "
        "of the part of $\\sigma'$ without its mean",
    )  # fmt: skip
    return bulk


def _product_of_squares() -> Any:
    """E[e^2] E[(sigma' - mu1)^2] as the factors of the independent variables."""
    slope = sympy.Derivative(sympy.Function("sigma")(Z), Z)
    return Expectation(_residual() ** 2, T, NOISE_VARIABLE) * Expectation((slope - MU1) ** 2, Z)


def _evaluated(node: Any) -> Any:
    """Linear parts apart, and the moments of the variables themselves carried out."""
    expanded = sympy.expand(node)
    nodes = sorted(expanded.atoms(Expectation), key=sympy.default_sort_key)
    return sympy.expand(expanded.xreplace({e: close(e)[0] for e in nodes}))
