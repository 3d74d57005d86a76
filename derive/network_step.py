"""The gradient of the network's loss in one row of the first layer, by differentiation, and the row after the step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from derive.blocks import BlockSum, Definition, family, index, rename
from derive.calculus import Calculus
from derive.gaussian.special import in_latex
from derive.operations import computed
from derive.symbols import BETA
from derive.trace import Claim, Recorder

SAMPLE, J, K, ROW = index("i"), index("j"), index("k"), index("l")
A = sp.Symbol("A", real=True)
RADIAL = sp.Symbol("radial", nonnegative=True)  # 1 for Gaussian rows at initialisation, 0 for rows on the unit sphere
SAMPLES, NEURONS, RATE = sp.symbols("n_0 p eta", positive=True)
DIMENSION, GIANT = sp.Symbol("d", positive=True), sp.Symbol("eta_tilde", real=True)
W, X, Y = family("w"), family("x"), family("y")
READOUT, VALUE = family("a"), family("u")
PRE, OUTPUT, RESIDUAL = family("h"), family("f"), family("e")


class SigmaPrime(sp.Function):
    """The derivative of the activation."""

    nargs = 1

    def _sympystr(self, printer: Any) -> str:
        return f"sigma'({printer._print(self.args[0])})"

    def _latex(self, printer: Any, exp: Any = None) -> str:
        name = r"\sigma'" if exp is None else r"{\sigma'}"
        return in_latex(name, self.args, printer, exp)


class Sigma(sp.Function):
    """The activation."""

    nargs = 1

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        return SigmaPrime(self.args[0])

    def _sympystr(self, printer: Any) -> str:
        return f"sigma({printer._print(self.args[0])})"

    def _latex(self, printer: Any, exp: Any = None) -> str:
        return in_latex(r"\sigma", self.args, printer, exp)


def record_row_after_step(trace: Recorder) -> sp.Expr:
    """Component j of row l after the step: w_lj + A u_l (1/n0) sum_i e_i sigma'(w_l.x_i) x_ij, A = eta_tilde/beta.

    Source: [CUI24] eq. (4); [BA22].
    """
    source = "[CUI24, eq. (4)], [BA22]"
    trace.define("pre-activation", PRE[K, SAMPLE], BlockSum(W[K, J] * X[SAMPLE, J], J), "of neuron $k$ on sample $i$")
    output = BlockSum(READOUT[K] * Sigma(PRE[K, SAMPLE]), K) / sp.sqrt(NEURONS)
    trace.given("network", OUTPUT[SAMPLE], output, "the network, its readout $a$ at initialisation", source)
    trace.define("residual of a sample", RESIDUAL[SAMPLE], Y[SAMPLE] - OUTPUT[SAMPLE], "label minus output")
    trace.given(
        "loss of the step",
        sp.Symbol("L_0"),
        BlockSum(RESIDUAL[SAMPLE] ** 2, SAMPLE) / (2 * SAMPLES),
        "the loss of the gradient step",
        source,
    )
    labels = ("pre-activation", "network", "residual of a sample")
    hidden = [_defined(name, trace.right_side(label)) for name, label in zip("hfe", labels, strict=True)]
    trace.derive(
        "gradient of the loss",
        sp.Derivative(sp.Symbol("L_0"), W[ROW, J]),
        computed(
            "differentiate",
            "differentiation in component $j$ of row $l$",
            "loss of the step",
            *labels,
            by=_gradient,
            test=Claim(_differences_of_loss, tuple(replace(d, body=_activation(d.body)) for d in hidden)),
        ),
        source,
    )
    trace.given("readout at initialisation", READOUT[ROW], VALUE[ROW] / sp.sqrt(NEURONS), "values $u$ of order one")
    trace.given("giant step", RATE, GIANT * DIMENSION, "a learning rate that grows with $d$", source)
    trace.define("width", NEURONS, BETA * DIMENSION, "neurons per input dimension")
    trace.define("rate", A, GIANT / BETA, "the size of the step, in which it enters everything")
    return trace.derive(
        "row after the step",
        sp.Symbol("w_after"),
        computed(
            "substitute",
            "one step against the gradient, $w_l-\\eta\\,\\partial_{w_l}L_0$",
            "gradient of the loss",
            "readout at initialisation",
            "giant step",
            "width",
            "rate",
            by=_moved,
            test=Claim(_one_step),
        ),
        source,
    )


def _gradient(loss: sp.Expr, pre: sp.Expr, output: sp.Expr, residual: sp.Expr) -> sp.Expr:
    calculus = Calculus({name: _defined(name, body) for name, body in zip("hfe", (pre, output, residual), strict=True)})
    found = calculus.derivative(loss, W[ROW, J])
    (over_samples,) = found.atoms(BlockSum)
    return found.xreplace({over_samples: BlockSum(rename(over_samples.body, {over_samples.bound: SAMPLE}), SAMPLE)})


def _defined(name: str, body: sp.Expr) -> Definition:
    """Pre-activation h of a neuron on a sample, output f and residual e of a sample."""
    return Definition(name, (K, SAMPLE) if name == "h" else (SAMPLE,), body)


def _moved(gradient: sp.Expr, readout: sp.Expr, rate: sp.Expr, neurons: sp.Expr, size: sp.Expr) -> sp.Expr:
    step = (RATE * gradient).subs(READOUT[ROW], readout).subs(RATE, rate).subs(NEURONS, neurons)
    (giant,) = sp.solve(sp.Eq(A, size), GIANT)
    return W[ROW, J] - step.subs(GIANT, giant)


def _activation(body: sp.Expr) -> sp.Expr:
    """The activation as an undefined function of its argument, and its slope as the derivative of that."""
    place, function = sp.Symbol("z_sigma", real=True), sp.Function("sigma", real=True)
    slope = sp.Derivative(function(place), place)
    return body.replace(SigmaPrime, lambda x: sp.Subs(slope, place, x)).replace(Sigma, function)


def _differences_of_loss(result: sp.Expr, loss: sp.Expr, *_: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Differences of the loss as a function of the weights, and the gradient found."""
    return sp.Derivative(loss, W[ROW, J], evaluate=False), _activation(result)


def _one_step(
    result: sp.Expr, gradient: sp.Expr, readout: sp.Expr, rate: sp.Expr, neurons: sp.Expr, size: sp.Expr
) -> tuple[sp.Expr, sp.Expr]:
    """w - eta grad with everything written in eta_tilde, beta and d."""
    before = W[ROW, J] - RATE * gradient.xreplace({READOUT[ROW]: readout})
    left = sp.Subs(before, (RATE, NEURONS), (rate, neurons))
    return _activation(left), _activation(sp.Subs(result, A, size))
