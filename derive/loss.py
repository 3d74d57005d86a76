"""Losses and their Moreau envelopes: prox, g = (prox - w)/V and h = -dg/dw, derived from one expression."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.trace import Derivation, Recorder

Y = sp.Symbol("y", real=True)
F = sp.Symbol("f", real=True)
OMEGA = sp.Symbol("omega", real=True)
VARIANCE = sp.Symbol("V", positive=True)


@dataclass(frozen=True)
class Loss:
    """A convex loss of label y and output f; ``error_scale`` turns its mean into the reported training error."""

    name: str
    expr: sp.Expr
    error_scale: int
    citation: str


SQUARE = Loss("square", (Y - F) ** 2 / 2, 2, "[CUI24] eq. (3)")


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
    objective = (F - OMEGA) ** 2 / (2 * VARIANCE) + loss.expr
    stationarity = sp.diff(objective, F)
    roots = sp.solve(stationarity, F)
    if len(roots) != 1 or not sp.ask(sp.Q.positive(sp.diff(stationarity, F)), sp.Q.positive(VARIANCE)):
        raise ValueError(
            f"the loss {loss.expr} has no prox in closed form: {len(roots)} stationary points in f"
        )
    name = sp.Function("prox")(OMEGA)
    prox = trace.record(
        "prox",
        name,
        sp.factor(roots[0]),
        rule="stationarity of the proximal objective",
        source=source,
        kind="definition",
    )
    envelope = sp.factor(objective.subs(F, prox))
    trace.record(
        "envelope",
        sp.Function("M_V")(Y, OMEGA),
        envelope,
        rule="the objective at its minimiser",
        source=source,
        kind="definition",
    )
    g = sp.factor((prox - OMEGA) / VARIANCE)
    if sp.simplify(g + sp.diff(envelope, OMEGA)) != 0:
        raise ValueError(f"the prox of {loss.expr} violates g = -dM/domega")
    trace.record(
        "g",
        sp.Symbol("g"),
        g,
        rule="minus the slope of the envelope in $\\omega$",
        source=source,
        kind="definition",
    )
    h = sp.factor(-sp.diff(g, OMEGA))
    trace.record(
        "h", sp.Symbol("h"), h, rule="minus the slope of $g$ in $\\omega$", source=source, kind="definition"
    )
    return MoreauEnvelope(loss, prox, envelope, g, h, trace.finish())
