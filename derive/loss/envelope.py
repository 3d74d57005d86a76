"""The Moreau envelope of any convex function along its proximal map, by implicit differentiation.

With l = prox(w) the stationarity ``w = l + V rho'(l)`` gives w explicitly in l, so that every derivative at fixed V
or at fixed w follows from derivatives in l, without solving for l.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.loss.loss import VARIANCE
from derive.operations import computed, differentiate, solve_for, substitute
from derive.trace import Derivation, Operation, Recorder

L = sp.Symbol("l", real=True)
OMEGA_U = sp.Symbol("omega_u", real=True)
_RHO = sp.Function("rho")
_SOURCE = "[CUI24] App. C; Bauschke & Combettes 2011, Prop. 12.29"


@dataclass(frozen=True)
class AlongProx:
    """Expressions in l = prox and V: omega, the envelope M_V, g = -dM/domega, h = -dg/domega, and derivatives.

    ``h_omega`` is dh/domega; ``envelope_V``, ``g_V`` and ``h_V`` are derivatives in V at fixed omega.
    """

    omega: sp.Expr
    envelope: sp.Expr
    g: sp.Expr
    h: sp.Expr
    h_omega: sp.Expr
    envelope_V: sp.Expr
    g_V: sp.Expr
    h_V: sp.Expr

    def of(self, rho: sp.Expr, u: sp.Symbol) -> AlongProx:
        """The same for a smooth function rho of u."""

        def put(expression: sp.Expr) -> sp.Expr:
            return expression.replace(_RHO, lambda x: rho.subs(u, x)).doit()

        return AlongProx(*(put(getattr(self, name)) for name in self.__dataclass_fields__))


@lru_cache(maxsize=1)
def along_prox() -> tuple[AlongProx, Derivation]:
    """Derive g, h and their derivatives for an unknown rho. Raises ValueError where an identity fails."""
    trace = Recorder("Moreau envelope along the proximal map")
    objective = trace.define(
        "objective",
        sp.Function("phi")(L),
        (L - OMEGA_U) ** 2 / (2 * VARIANCE) + _RHO(L),
        "what the proximal map minimises, for a loss $\\rho(u)$",
        _SOURCE,
    )
    slope = trace.derive("slope", None, differentiate("objective", L, rule="differentiation in $l$"), shown=False)
    omega = trace.derive("omega", OMEGA_U, solve_for("slope", OMEGA_U, "stationarity at the prox $l$"), _SOURCE)
    envelope = trace.derive(
        "envelope",
        sp.Symbol("M_V"),
        substitute("objective", {OMEGA_U: "omega"}, "the objective at its minimiser"),
        _SOURCE,
    )
    g = trace.derive("g", sp.Symbol("g"), _through("envelope", -1, "$g=-\\partial_\\omega M_V$"), _SOURCE)
    h = trace.derive("h", sp.Symbol("h"), _through("g", -1, "$h=-\\partial_\\omega g$"), _SOURCE)
    h_omega = trace.derive("slope of h", sp.Symbol("h_omega"), _through("h", 1, "$\\partial_\\omega h$"), _SOURCE)
    in_v = [trace.derive(f"{name} in V", None, _in_variance(name), _SOURCE) for name in ("envelope", "g", "h")]
    for found, printed in zip(in_v, (-(g**2) / 2, -g * h, g * h_omega - h**2), strict=True):
        if sp.simplify(found - printed) != 0:
            raise ValueError(f"the envelope of {objective} moves with V by {found}, not by {printed}: {slope}")
    return AlongProx(omega, sp.factor(envelope), g, h, h_omega, *in_v), trace.finish()


def _through(of: str, sign: int, words: str) -> Operation:
    """The derivative in omega of something given along the prox l, which omega fixes."""

    def before(body: sp.Expr, omega: sp.Expr) -> sp.Expr:
        return sign * sp.Derivative(body, L, evaluate=False) / sp.Derivative(omega, L, evaluate=False)

    return computed(
        "differentiate",
        f"{words}, the chain rule through $l$",
        of,
        "omega",
        before=before,
        by=lambda body, omega: sp.factor(sp.simplify(before(body, omega).doit())),
    )


def _in_variance(of: str) -> Operation:
    """The derivative in V at fixed omega: l moves such that omega does not."""

    def before(body: sp.Expr, omega: sp.Expr) -> sp.Expr:
        of_body, of_omega = (sp.Derivative(e, VARIANCE, evaluate=False) for e in (body, omega))
        through = sp.Derivative(body, L, evaluate=False) / sp.Derivative(omega, L, evaluate=False)
        return of_body - through * of_omega

    return computed(
        "differentiate",
        "$\\partial_V$ at fixed $\\omega_u$, the chain rule through $l$",
        of,
        "omega",
        before=before,
        by=lambda body, omega: sp.factor(sp.simplify(before(body, omega).doit())),
    )
