"""The Moreau envelope of a loss quadratic in the output: prox, g = (prox - w)/V and h = -dg/dw in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.loss.loss import OMEGA, REGISTERED_LOSSES, VARIANCE, F, Loss, Y
from derive.operations import COMPOSED, computed, differentiate, put_in, solve_for
from derive.trace import Derivation, Operation, Recorder

SQUARE = REGISTERED_LOSSES["square"]


@dataclass(frozen=True)
class MoreauEnvelope:
    """Closed forms in (y, omega, V) of the proximal map of a loss.

    envelope: ``min_x (x - omega)^2/(2V) + loss(y, x)``; g = -d envelope/d omega; h = -dg/d omega.
    """

    loss: Loss
    prox: sp.Expr
    envelope: sp.Expr
    g: sp.Expr
    h: sp.Expr
    derivation: Derivation


def moreau_envelope(loss: Loss) -> MoreauEnvelope:
    """Moreau envelope of a loss quadratic in f.

    Raises ValueError where the stationarity condition has no unique closed root. Source: [GER20] App. B.
    """
    trace = Recorder(f"Moreau envelope of the {loss.name} loss")
    source = "[CUI24] App. C"
    trace.given("loss", sp.Function("ell")(Y, F), loss.expr, "the loss of label and output", loss.citation)
    objective = trace.derive(
        "proximal objective",
        sp.Function("phi")(F),
        computed(
            "add",
            "the loss plus the squared distance to $\\omega$ over $2V$",
            "loss",
            by=lambda body: (F - OMEGA) ** 2 / (2 * VARIANCE) + body,
            test=COMPOSED,
        ),
        shown=False,
    )
    stationarity = sp.diff(objective, F)
    roots = sp.solve(stationarity, F)
    if len(roots) != 1 or not sp.ask(sp.Q.positive(sp.diff(stationarity, F)), sp.Q.positive(VARIANCE)):
        raise ValueError(f"the loss {loss.expr} has no prox in closed form: {len(roots)} stationary points in f")
    name = sp.Function("prox")(OMEGA)
    trace.derive(
        "slope of the objective",
        None,
        differentiate("proximal objective", F, rule="differentiation in $f$"),
        shown=False,
    )
    prox = trace.derive(
        "prox", name, solve_for("slope of the objective", F, "stationarity of the proximal objective"), source
    )
    envelope = trace.derive(
        "envelope",
        sp.Function("M_V")(Y, OMEGA),
        computed(
            "substitute",
            "the objective at its minimiser",
            "proximal objective",
            "prox",
            by=lambda body, root: sp.factor(body.subs(F, root)),
            test=put_in(lambda root: {F: root}),
        ),
        source,
    )
    g = trace.derive("g", sp.Symbol("g"), _factored_slope("envelope"), source)
    if sp.simplify(g - (prox - OMEGA) / VARIANCE) != 0:
        raise ValueError(f"the prox of {loss.expr} violates g = -dM/domega")
    h = trace.derive("h", sp.Symbol("h"), _factored_slope("g"), source)
    return MoreauEnvelope(loss, prox, envelope, g, h, trace.finish())


def _factored_slope(of: str) -> Operation:
    return computed(
        "differentiate",
        "minus the slope in $\\omega$",
        of,
        by=lambda body: sp.factor(-sp.diff(body, OMEGA)),
        before=lambda body: -sp.Derivative(body, OMEGA),
    )
