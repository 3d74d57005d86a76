"""The Moreau envelope of any convex function along its proximal map, by implicit differentiation.

With l = prox(w) the stationarity ``w = l + V rho'(l)`` gives w explicitly in l, so that every derivative at fixed V
or at fixed w follows from derivatives in l, without solving for l.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from derive.losses import VARIANCE
from derive.trace import Derivation, Recorder

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
    rho = _RHO(L)
    omega = L + VARIANCE * sp.diff(rho, L)
    envelope = (L - omega) ** 2 / (2 * VARIANCE) + rho

    def in_omega(e: sp.Expr, carried_out: bool = True) -> sp.Expr:
        return sp.Derivative(e, L, evaluate=carried_out) / sp.Derivative(omega, L, evaluate=carried_out)

    def in_variance(e: sp.Expr, carried_out: bool = True) -> sp.Expr:
        slopes = [sp.Derivative(x, VARIANCE, evaluate=carried_out) for x in (e, omega)]
        return slopes[0] - in_omega(e, carried_out) * slopes[1]

    def define(label: str, name: str, body: sp.Expr, rule: str) -> sp.Expr:
        found = sp.factor(sp.simplify(body))
        trace.record(label, sp.Symbol(name), found, rule=rule, source=_SOURCE, kind="definition")
        return found

    trace.record("omega", OMEGA_U, omega, rule="stationarity of $(l-\\omega_u)^2/(2V)+\\rho(l)$ at the prox $l$",
                 source=_SOURCE, kind="definition")  # fmt: skip
    define("envelope", "M_V", envelope, "the objective at its minimiser")
    g = define("g", "g", -in_omega(envelope), "$g=-\\partial_\\omega M_V$, the chain rule through $l$")
    h = define("h", "h", -in_omega(g), "$h=-\\partial_\\omega g$, the chain rule through $l$")
    h_omega = define(
        "slope of h", "h_omega", in_omega(h), "$\\partial_\\omega h$, the chain rule through $l$"
    )
    in_v = [sp.factor(sp.simplify(in_variance(e))) for e in (envelope, g, h)]
    for label, left, right, rule in (
        ("displacement", -in_omega(envelope, False), (L - omega) / VARIANCE, "$g=(l-\\omega_u)/V$"),
        ("envelope in V", in_variance(envelope, False), -(g**2) / 2, "$\\partial_V M_V=-g^2/2$ (Hamilton-Jacobi)"),
        ("g in V", in_variance(g, False), -g * h, "$\\partial_V g=-gh$, the slope of it in $\\omega_u$"),
        ("h in V", in_variance(h, False), g * h_omega - h**2,
         "$\\partial_V h=g\\,\\partial_\\omega h-h^2$, the second slope of it"),
    ):  # fmt: skip
        if sp.simplify(left.doit() - right) != 0:
            raise ValueError(f"{label}: {left} is not {right}")
        trace.record(label, left, right, rule=rule, source=_SOURCE)
    return AlongProx(omega, sp.factor(envelope), g, h, h_omega, *in_v), trace.finish()
