"""Errors that are told of any loss: of signs, of the mean label that an output stands for, and of the training set."""

from __future__ import annotations

import sympy as sp

from derive.blocks import KAPPA
from derive.gaussian.expectation import Expectation
from derive.label_law import OUTPUT, centre_of_output, clean_label
from derive.labels import numbered
from derive.operations import AVERAGE_WRITTEN, computed
from derive.replica.averages import XI
from derive.symbols import DELTA
from derive.trace import Claim, Derivation, Recorder

_CHANNEL = "[CUI24] App. C"
_MEAN = "McCullagh & Nelder 1989, section 2.2"


def misclassification(count: int) -> tuple[sp.Expr, Derivation]:
    """P(y f < 0) of clean labels +-1 of a target of ``count`` indices: the test error of a loss of the margin.

    Source: [CUI24] App. C; THEORY section 1.
    """
    trace = Recorder("Test error")
    output = centre_of_output(count) + sp.sqrt(DELTA(KAPPA)) * XI
    trace.define("output given kappa and t", OUTPUT, output, "Gaussian, of variance $\\Delta$", _CHANNEL)
    error = trace.derive(
        "test error",
        sp.Symbol("test_error"),
        computed(
            "integrate",
            "$P(yf<0)$ for the clean label $y=\\pm1$: the Gaussian tail beyond the zero of the output, "
            "averaged over $\\kappa$ and $t$",
            "output given kappa and t",
            by=lambda omega: Expectation(_tail(clean_label(count), omega), KAPPA, *numbered("t", count)),
            test=Claim(lambda _, omega: _density_of_tail(omega)),
        ),
        _CHANNEL,
    )
    return error, trace.finish()


def error_of_mean(predicted: sp.Expr, output: sp.Symbol, count: int) -> tuple[sp.Expr, Derivation]:
    """E (f_* - m(f))^2 of a target of ``count`` indices, for a loss whose output f stands for the mean label m(f).

    predicted: m in the symbol ``output`` and parameters. Source: McCullagh & Nelder 1989, section 2.2.
    """
    trace = Recorder("Test error")
    given = centre_of_output(count) + sp.sqrt(DELTA(KAPPA)) * XI
    trace.define("output given kappa and t", OUTPUT, given, "Gaussian, of variance $\\Delta$", _CHANNEL)
    trace.define(
        "mean label predicted",
        sp.Symbol("y_predicted", real=True),
        predicted.subs(output, OUTPUT),
        source=_MEAN,
        rule="the mean label that an output stands for: the loss is the logarithm of its law, but for a constant",
    )
    error = trace.derive(
        "test error",
        sp.Symbol("test_error"),
        computed(
            "average",
            "the mean label predicted against the clean one, averaged over $\\kappa$, $t$ and the noise of the output",
            "output given kappa and t",
            "mean label predicted",
            by=lambda omega, mean: Expectation(
                (clean_label(count) - mean.subs(OUTPUT, omega)) ** 2, KAPPA, *numbered("t", count), XI
            ),
            test=AVERAGE_WRITTEN,
        ),
        _MEAN,
    )
    return error, trace.finish()


def training_error(scale: int) -> Derivation:
    """The error that is told of the training set, by its mean loss. scale: that of the error, two for the square loss,
    which is half of the squared error.
    """
    trace = Recorder("Training error")
    rule = "the mean loss" if scale == 1 else "the mean squared error: the loss has a factor $1/2$"
    trace.define("training error", sp.Symbol("train_error"), scale * sp.Symbol("train_loss"), rule)
    return trace.finish()


def _density_of_tail(output: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Minus the slope of P(omega < 0) in the mean, and the Gaussian density of the output at zero."""
    spread = output.coeff(XI)
    centre = output.subs(XI, 0)
    place = sp.Symbol("place", real=True)
    found = _tail(sp.S.One, place + spread * XI)
    density = sp.exp(-(centre**2) / (2 * spread**2)) / sp.sqrt(2 * sp.pi * spread**2)
    return -sp.Subs(sp.Derivative(found, place), place, centre), density


def _tail(label: sp.Expr, output: sp.Expr) -> sp.Expr:
    """P(y omega < 0) of an output linear in one standard normal and a label +-1."""
    spread = output.coeff(XI)
    place = sp.Dummy("place", real=True)
    above = sp.integrate(sp.exp(-(XI**2) / 2) / sp.sqrt(2 * sp.pi), (XI, place, sp.oo))
    edge = label * output.subs(XI, 0) / spread  # -y xi has the law of xi
    return sp.simplify(above.rewrite(sp.erfc)).subs(place, edge)
