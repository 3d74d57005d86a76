"""The proximal map and the Moreau envelope of a convex loss: closed where its pieces are quadratic, else implicit.

All in u = s f - o and omega_u = s omega - o: the map in f is ``s (prox_u + o)``, g in f is ``s g_u``; envelope and h
are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp

from derive.loss.convexity import Convexity, check_convex
from derive.loss.curvature_scan import function_of
from derive.loss.envelope import OMEGA_U, AlongProx, L, along_prox
from derive.loss.loss import OMEGA, VARIANCE, F, Loss, LossAnalysis, U, Y, analyse_loss, edge_slopes
from derive.loss.pieces import limit_at
from derive.loss.prox_value import prox_value
from derive.minimum import Minimiser
from derive.operations import computed, equal, substitute
from derive.trace import Claim, Derivation, Recorder

__all__ = ["MoreauRecord", "ProxRegion", "moreau", "prox_value"]

_SOURCE = "[GER20]; [CUI24] App. C"
_DIGITS = 30
_VARIANCE_TRIED = sp.Rational(7, 5)


@dataclass(frozen=True)
class ProxRegion:
    """Where the proximal map stays in one smooth piece of rho (``piece``) or sticks to one kink (piece None).

    lower, upper: in omega_u, functions of V and the parameters (and y in the general form). along: in l = prox and V
    (None at a kink). prox, envelope, g, h: in omega_u and V; None in a smooth piece that is not quadratic.
    """

    lower: sp.Expr
    upper: sp.Expr
    piece: int | None
    along: AlongProx | None
    prox: sp.Expr | None
    envelope: sp.Expr | None
    g: sp.Expr | None
    h: sp.Expr | None


@dataclass(frozen=True)
class MoreauRecord:
    """Proximal map, envelope M_V, g = -dM/domega_u and h = -dg/domega_u of a loss, by increasing regions of omega_u.

    prox, envelope, g, h: SymPy Piecewise in omega_u and V where the loss is ``closed``, else None; then the ``along``
    of the regions describes them. h jumps where regions meet; the map and g are continuous.
    """

    analysis: LossAnalysis
    convexity: Convexity
    regions: tuple[ProxRegion, ...]
    prox: sp.Expr | None
    envelope: sp.Expr | None
    g: sp.Expr | None
    h: sp.Expr | None
    derivation: Derivation

    @property
    def closed(self) -> bool:
        """Whether every piece is quadratic or linear, so that the map is piecewise linear in omega_u."""
        return self.prox is not None


@lru_cache(maxsize=64)
def moreau(loss: Loss) -> MoreauRecord:
    """Derive proximal map, envelope, g and h of a loss, every identity checked.

    Raises ExpressionError (NotConvex) as ``analyse_loss`` and ``check_convex`` do, ValueError where an identity
    fails. Source: [GER20]; Bauschke & Combettes 2011, section 12.4.
    """
    analysis = analyse_loss(loss)
    convexity = check_convex(loss)
    if analysis.cells:
        return _by_label(analysis, convexity)
    trace = Recorder(f"Moreau envelope of the {loss.name} loss")
    _record_loss(trace, analysis)
    trace.extend(along_prox()[1])
    regions = _regions(analysis, convexity)
    closed = all(region.prox is not None for region in regions)
    prox, envelope, g, h = (_joined(regions, name) if closed else None for name in ("prox", "envelope", "g", "h"))
    if closed:
        _record_closed(trace, prox, envelope, g, h)
    else:
        _record_along(trace, analysis, regions)
    _record_map(trace, loss)
    return MoreauRecord(analysis, convexity, regions, prox, envelope, g, h, trace.finish())


def _by_label(analysis: LossAnalysis, convexity: Convexity) -> MoreauRecord:
    """The records of all ranges of labels in one derivation."""
    trace = Recorder(f"Moreau envelope of the {analysis.loss.name} loss")
    regions: list[ProxRegion] = []
    for number, cell in enumerate(analysis.cells, start=1):
        found = moreau(cell.loss)
        regions += found.regions
        trace.extend(found.derivation, f"range {number} of the labels: ")
    return MoreauRecord(analysis, convexity, tuple(regions), None, None, None, None, trace.finish())


def _regions(analysis: LossAnalysis, convexity: Convexity) -> tuple[ProxRegion, ...]:
    regions: list[ProxRegion] = []
    lower: sp.Expr = -sp.oo
    for k, piece in enumerate(analysis.pieces):
        last = k == len(analysis.breakpoints)
        place = None if last else analysis.breakpoints[k]
        left, right = (None, None) if last else edge_slopes(analysis, k)
        upper = sp.oo if last else place + VARIANCE * left
        regions.append(_smooth(piece, k, lower, upper))
        if last:
            break
        lower = place + VARIANCE * right
        if convexity.jumps[k] != 0:
            regions.append(_kink(piece, place, upper, lower))
    return tuple(regions)


def _kink(piece: sp.Expr, place: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> ProxRegion:
    g = (place - OMEGA_U) / VARIANCE
    envelope = (place - OMEGA_U) ** 2 / (2 * VARIANCE) + limit_at(piece, U, place, "-")
    return ProxRegion(lower, upper, None, None, place, envelope, g, 1 / VARIANCE)


def _smooth(piece: sp.Expr, k: int, lower: sp.Expr, upper: sp.Expr) -> ProxRegion:
    along = along_prox()[0].of(piece, U)
    if not piece.is_polynomial(U) or sp.degree(piece, U) > 2:
        return ProxRegion(lower, upper, k, along, None, None, None, None)
    curvature, slope = (sp.Poly(sp.diff(piece, U), U).coeff_monomial(m) for m in (U, 1))
    prox = sp.factor((OMEGA_U - VARIANCE * slope) / (1 + VARIANCE * curvature))
    if sp.simplify(along.omega.subs(L, prox) - OMEGA_U) != 0:
        raise ValueError(f"{prox} is not the proximal map of {piece}")
    found = [sp.factor(e.subs(L, prox)) for e in (along.envelope, along.g, along.h)]
    for label, left, right in (
        ("g = -dM/domega", -sp.diff(found[0], OMEGA_U), found[1]),
        ("h = -dg/domega", -sp.diff(found[1], OMEGA_U), found[2]),
        ("dM/dV = -g^2/2", sp.diff(found[0], VARIANCE), -(found[1] ** 2) / 2),
    ):
        if sp.simplify(left - right) != 0:
            raise ValueError(f"the envelope of {piece} violates {label}")
    return ProxRegion(lower, upper, k, along, prox, *found)


def _joined(regions: tuple[ProxRegion, ...], name: str) -> sp.Expr:
    cases = [(getattr(region, name), OMEGA_U < region.upper) for region in regions[:-1]]
    return sp.Piecewise(*cases, (getattr(regions[-1], name), True))


def _record_loss(trace: Recorder, analysis: LossAnalysis) -> None:
    loss = analysis.loss
    trace.given("loss of label and output", sp.Function("ell")(Y, F), loss.expr, "the loss", loss.citation)
    trace.define(
        "variable of the loss",
        U,
        loss.sign * F - loss.offset,
        f"the loss $\\ell(y,f)$, {loss.form} form, is a function $\\rho$ of one variable",
    )
    trace.derive(
        "variable of the output",
        OMEGA_U,
        substitute("variable of the loss", {F: OMEGA}, "the same for the centre of the envelope"),
    )
    trace.derive(
        "loss",
        sp.Function("rho")(U),
        computed(
            "cut at the kinks",
            "breakpoints and smooth pieces",
            "loss of label and output",
            "variable of the loss",
            by=lambda *_: _piecewise(analyse_loss(loss)),
            before=_in_u(loss),
        ),
        loss.citation,
    )


def _piecewise(analysis: LossAnalysis) -> sp.Expr:
    cases = [(piece, U < upper) for _, upper, piece in analysis.intervals()[:-1]]
    return sp.Piecewise(*cases, (analysis.pieces[-1], True))


def _in_u(loss: Loss) -> Callable[..., sp.Expr]:
    """The loss at f = s (u + o); a margin loss for the label 1, since s y = 1 for both labels."""
    label = {Y: sp.S.One} if loss.form == "margin" else {}
    return lambda body, _: body.subs(F, loss.sign * (U + loss.offset)).subs(label)


def _record_closed(trace: Recorder, prox: sp.Expr, envelope: sp.Expr, g: sp.Expr, h: sp.Expr) -> None:
    def minus_slope(body: sp.Expr, *_: sp.Expr) -> sp.Expr:
        return sp.S.NegativeOne * sp.Derivative(body, OMEGA_U)

    trace.derive(
        "closed prox",
        sp.Symbol("prox"),
        computed(
            "solve",
            "stationarity in each piece; at a kink the map stays at it",
            "loss",
            "omega",
            by=lambda *_: prox,
            test=Claim(lambda found, loss, _: _everywhere(Minimiser(_objective(loss), U), found)),
        ),
        _SOURCE,
    )
    trace.derive(
        "closed envelope",
        sp.Symbol("M_V"),
        computed(
            "substitute",
            "the envelope at that map",
            "loss",
            "envelope",
            "closed prox",
            by=lambda *_: envelope,
            test=Claim(lambda found, loss, _, place: _everywhere(sp.Subs(_objective(loss), U, place), found)),
        ),
        _SOURCE,
    )
    for label, of, found, rule in (
        ("closed g", "closed envelope", g, "$g=-\\partial_\\omega M_V$ in each region"),
        ("closed h", "closed g", h, "$h=-\\partial_\\omega g$ in each region"),
    ):
        differences = Claim(lambda result, body: _everywhere(minus_slope(body), result))
        slope = computed(
            "differentiate", rule, of, by=lambda _, value=found: value, before=minus_slope, test=differences
        )
        trace.derive(label, None, slope, _SOURCE)


def _objective(loss: sp.Expr) -> sp.Expr:
    return (U - OMEGA_U) ** 2 / (2 * VARIANCE) + loss


def _everywhere(left: sp.Expr, right: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Both sides at centres in all regions."""
    centres = [sp.Rational(k, 16) for k in (-80, -33, -15, -3, 2, 9, 21, 43, 90)]
    left, right = (sp.Tuple(*(sp.Subs(side, OMEGA_U, x) for x in centres)) for side in (left, right))
    return left, right


def _with_piece(body: sp.Expr, piece: sp.Expr) -> sp.Expr:
    """An expression of an unknown loss rho with a piece of one in its place; derivatives are left as they are."""
    return body.replace(sp.Function("rho"), lambda x: piece.subs(U, x))


def _for_both_labels(body: sp.Expr, loss: Loss) -> sp.Expr:
    return sp.Tuple(*(sp.Subs(body, Y, label) for label in (1, -1))) if loss.form == "margin" else body


def _chain_rule(found: sp.Expr, body: sp.Expr, g: sp.Symbol) -> tuple[sp.Expr, sp.Expr]:
    """-dM/domega of a function of omega_u, and the result with g its slope there."""
    envelope = sp.Function("M", real=True)
    slope = sp.Subs(-sp.Derivative(envelope(OMEGA_U), OMEGA_U), OMEGA_U, body)
    return -sp.Derivative(envelope(body), OMEGA), found.xreplace({g: slope})


def _record_along(trace: Recorder, analysis: LossAnalysis, regions: tuple[ProxRegion, ...]) -> None:
    for number, region in enumerate(regions, start=1):
        suffix = f" in region {number}" if len(regions) > 1 else ""
        if region.along is None:
            at_kink = computed(
                "substitute",
                "the prox stays at the kink",
                "objective",
                by=lambda _, r=region: r.g,
                test=equal(lambda phi, r=region: -sp.Subs(sp.Derivative(phi, OMEGA_U), L, r.prox)),
            )
            trace.derive(f"g{suffix}", sp.Symbol("g"), at_kink, _SOURCE)
            continue
        along, centre = region.along, f"omega{suffix or ' of the loss'}"
        trace.derive(
            centre,
            OMEGA_U,
            computed(
                "substitute",
                "stationarity with this piece of $\\rho$",
                "omega",
                "loss",
                by=lambda *_, a=along: a.omega,
                test=equal(lambda omega, _, r=region: _with_piece(omega, analysis.pieces[r.piece or 0])),
            ),
            _SOURCE,
        )
        slope = sp.Derivative(along.omega, L, evaluate=False)
        for label, of, found, rule in (
            ("g", along.envelope, along.g, "$g=-\\partial_\\omega M_V$, the chain rule through $l$"),
            ("h", along.g, along.h, "$h=-\\partial_\\omega g$, the chain rule through $l$"),
        ):
            left = -sp.Derivative(of, L, evaluate=False) / slope
            _check(analysis, region, label, left.doit(), found)
            trace.derive(
                f"{label}{suffix or ' of the loss'}",
                None,
                computed(
                    "differentiate",
                    rule,
                    label,
                    centre,
                    by=lambda *_, value=found: value,
                    before=lambda *_, value=left: value,
                ),
                _SOURCE,
            )


def _check(analysis: LossAnalysis, region: ProxRegion, label: str, left: sp.Expr, right: sp.Expr) -> None:
    """Compare both sides inside the region to 30 digits, at sampled parameters and labels."""
    lower, upper, _ = analysis.intervals()[region.piece or 0]
    compared = 0
    for sample in analysis.loss.samples():
        with mpmath.workdps(_DIGITS + 10):
            sides = [function_of(side.subs(VARIANCE, _VARIANCE_TRIED), L, sample) for side in (left, right)]
            for place in _places(lower.subs(dict(sample)), upper.subs(dict(sample))):
                values = [side(place) for side in sides]
                if None in values:
                    continue
                compared += 1
                if abs(values[0] - values[1]) > mpmath.mpf(10) ** -_DIGITS * (1 + abs(values[1])):
                    raise ValueError(f"{label} of the loss {analysis.loss.expression} fails at l = {place}")
    if not compared:
        raise ValueError(f"{label} of the loss {analysis.loss.expression} could not be evaluated")


def _places(lower: sp.Expr, upper: sp.Expr) -> list[Any]:
    near = [mpmath.mpf(x) for x in ("0.3137", "1.0731", "2.4142")]
    low, high = (end.evalf(_DIGITS + 10)._to_mpmath(mpmath.mp.prec) for end in (lower, upper))
    if mpmath.isinf(low):
        return [(0 if mpmath.isinf(high) else high) - x for x in near]
    return [low + x if mpmath.isinf(high) else low + (high - low) * x / 3 for x in near]


def _record_map(trace: Recorder, loss: Loss) -> None:
    sign = loss.sign
    prox, g = sp.Symbol("prox_u", real=True), sp.Symbol("g_u", real=True)
    trace.derive(
        "prox in f",
        sp.Function("prox")(OMEGA),
        computed(
            "solve",
            "$u=sf-o$ solved for $f$, with $s^2=1$",
            "variable of the loss",
            by=lambda body: sp.solve(body - prox, F)[0].subs(1 / Y, Y) if sign == Y else sp.solve(body - prox, F)[0],
            test=Claim(
                lambda found, body: (_for_both_labels(body.xreplace({F: found}), loss), _for_both_labels(prox, loss))
            ),
        ),
        _SOURCE,
    )
    if loss.form == "margin":
        trace.derive(
            "g in f",
            sp.Symbol("g"),
            computed(
                "differentiate",
                "$g=-\\partial_\\omega M_V$, the chain rule through $\\omega_u$",
                "variable of the output",
                by=lambda body: sp.diff(body, OMEGA) * g,
                test=Claim(lambda found, body: _chain_rule(found, body, g)),
            ),
            _SOURCE,
        )
