"""How a solution moves with the parameters of the model: tangents of the equations along parameters and coefficients.

At a solution F(x; theta) = 0, so that dx/dtheta = -(dF/dx)^-1 dF/dtheta, and an observable moves by its own dependence
on theta and by that on x. Both come from one set of tangents: of all equations along changes of the unknowns, of the
parameters and of the coefficients mu0, mu1, mu2sq of the features as functions of kappa.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.operations import by_parts, computed
from derive.symbols import ALPHA, BETA, RIDGE
from derive.tangent import Tangent, tangent_name
from derive.trace import Claim, Derivation, Recorder

COEFFICIENTS = ("mu0", "mu1", "mu2sq")
RATES: Mapping[sp.Symbol, sp.Symbol] = {
    symbol: sp.Symbol(tangent_name(symbol.name), real=True) for symbol in (ALPHA, BETA, RIDGE)
}
S, C, G = sp.Symbol("s", real=True), sp.Symbol("c", positive=True), sp.Symbol("g", real=True)
PHI, REST = sp.Function("phi", real=True), sp.Function("rest", real=True)
MU0, MU1 = sp.Symbol("mu_0", real=True), sp.Symbol("mu_1", real=True)
NEURON = sp.Function("sigma", real=True)(S + sp.sqrt(C) * G)
_SOURCE = "Stein's lemma"


@dataclass(frozen=True)
class ParameterTangent(Tangent):
    """Tangents along parameters as well: ``rates`` maps the symbol of a parameter to that of its rate."""

    rates: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)

    def _raw(self, expr: sp.Expr, target: sp.Indexed) -> sp.Expr:
        if isinstance(expr, sp.Symbol):
            return self.rates.get(expr, sp.S.Zero)
        return super()._raw(expr, target)


@dataclass(frozen=True)
class CoefficientSlopes:
    """d mu/ds and d mu/dc of mu0, mu1 and mu2sq, in averages over g of polynomials times phi or rest.

    phi(g) = sigma(s + sqrt(c) g), rest(g) = (phi - mu0 - mu1 g)^2; ``slopes``: name such as "mu0_s" -> expression.
    """

    slopes: Mapping[str, sp.Expr]
    derivation: Derivation


def coefficient_slopes() -> CoefficientSlopes:
    """Derivatives of the conditional coefficients in the shift and in the variance, without any derivative of sigma."""
    trace = Recorder("Slopes of the conditional coefficients")
    trace.define(
        "phi",
        PHI(G),
        NEURON,
        "a neuron given $\\kappa$",
        "[CUI24] Result 3.2",
    )
    phi, rest = PHI(G), REST(G)
    trace.define(
        "rest",
        rest,
        (phi - MU0 - MU1 * G) ** 2,
        "what is left of it without its mean and linear part",
        "[CUI24] Result 3.2",
    )
    # sigma' at s + sqrt(c) g is d phi/dg over sqrt(c): the shift moves phi by that, the variance by g/(2 sqrt c) of it
    speed = {"s": 1 / sp.sqrt(C), "c": G / (2 * C)}
    slopes: dict[str, sp.Expr] = {}
    for variable, rate in speed.items():
        for name, weight in (("mu0", sp.S.One), ("mu1", G)):
            slopes[f"{name}_{variable}"] = _moved(trace, f"{name} in {variable}", weight, rate, phi)
        # mu2sq is the least of E (phi - a - b g)^2 over a and b, so that mu0 and mu1 are held; phi' is that of
        # phi - mu0 - mu1 g plus mu1, and the latter is orthogonal to what is left, times g as well
        slopes[f"mu2sq_{variable}"] = _moved(trace, f"mu2sq in {variable}", sp.S.One, rate, rest)
    return CoefficientSlopes(slopes, trace.finish())


def _moved(trace: Recorder, label: str, weight: sp.Expr, rate: sp.Expr, function: sp.Expr) -> sp.Expr:
    """E[weight rate d function/dg], free of derivatives; what depends on g alone stays inside."""
    constant, inside = (weight * rate).as_independent(G)
    name = "phi" if function == PHI(G) else "rest"
    moved = f"{label}, moving the argument"
    trace.derive(
        moved,
        sp.Derivative(sp.Symbol(label.split()[0]), sp.Symbol(label.split()[-1])),
        computed(
            "differentiate",
            "the chain rule: $\\sigma'$ is the derivative in $g$ over $\\sqrt{c}$",
            name,
            by=lambda _: constant * Expectation(inside * sp.Derivative(function, G), G),
            test=Claim(lambda result, _: (_slope(label, weight, name), _of_neuron(result))),
        ),
        shown=False,
    )
    return trace.derive(
        label,
        None,
        by_parts(moved, G, "integration by parts in $g$: no derivative of $\\sigma$ is left"),
        _SOURCE,
    )


def _slope(label: str, weight: sp.Expr, name: str) -> sp.Expr:
    """The derivative in shift or variance as it is defined, of an average of a neuron whose activation is unknown."""
    variable = {"s": S, "c": C}[label.split()[-1]]
    if name == "phi":
        return sp.Derivative(Expectation(weight * NEURON, G), variable)
    mean, linear = (Expectation(each * NEURON, G) for each in (sp.S.One, G))
    return sp.Derivative(Expectation(NEURON**2, G) - mean**2 - linear**2, variable)


def _of_neuron(body: sp.Expr) -> sp.Expr:
    """phi, rest, mu0 and mu1 by their definitions."""
    mean, linear = (Expectation(each * NEURON, G) for each in (sp.S.One, G))
    rest = (NEURON - MU0 - MU1 * G) ** 2
    return body.xreplace({REST(G): rest}).xreplace({PHI(G): NEURON, MU0: mean, MU1: linear})


def step_slopes(strength: sp.Expr, bulk_variance: sp.Expr, rate: sp.Symbol) -> Sequence[tuple[str, sp.Expr]]:
    """Derivatives of the spike's strength and of the bulk variance in A = learning rate over width."""
    return (
        ("strength_slope", sp.simplify(sp.diff(strength, rate))),
        ("bulk_variance_slope", sp.diff(bulk_variance, rate)),
    )
