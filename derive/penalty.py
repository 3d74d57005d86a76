"""A separable penalty on the readout: the law of one readout, and what stands for the penalty [THEORY section 15].

Rows that are Gaussian given the law act on a readout a by a curvature k and a random field, of variance chi: it
minimises ``penalty(a) + (ridge + k) a^2/2 - sqrt(chi) z a``, z standard normal, so that it is the proximal map of the
penalty at a Gaussian. Everything else depends on the readouts through their response T and their norm Q2 alone, so
that a ridge ``excess`` and a random field of variance ``random_field``, which give the same T and Q2, stand for the
penalty in all other equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.language.grammar import parse
from derive.language.penalties import PenaltyEntry
from derive.operations import close_all, computed, equal
from derive.output import average, output_averages
from derive.replica.averages import ENVELOPE, G, sample_derivation
from derive.symbols import BETA, DELTA, RIDGE
from derive.symbols import V as FIELD_V
from derive.to_sympy import to_sympy
from derive.trace import Claim, Derivation, Recorder

READOUT, Z = sp.symbols("a z", real=True)
PENALTY = sp.Function("penalty", real=True)(READOUT)
CURVATURE, FORCE = sp.symbols("k chi", positive=True)
WIDTH, VARIANCE = sp.symbols("V Delta", positive=True)
SHARE = sp.Symbol("fraction", positive=True)
RESPONSE, NORM = sp.symbols("T Q2", positive=True)  # beta V2 and Q2 of the block
EXCESS, RANDOM_FIELD = sp.symbols("excess random_field", real=True)
AVERAGES = {name: sp.Symbol(name, real=True) for name in ("avg_M", "avg_h", "avg_gg", "avg_ggh", "avg_ghx", "avg_hxx")}
_MOVING = ("avg_M", "avg_h", "avg_gg")
_FIELDS = {"V": WIDTH, "Delta": VARIANCE}
#: What is a function of V and Delta -> the label of its step.
_BY_WIDTH = {
    "T": "T of the readouts",
    "Q2": "Q2 of the readouts",
    "excess": "stand-in's ridge",
    "random_field": "stand-in's field",
    "energy": "free energy beside that of the stand-in",
}
_SOURCE = "THEORY section 15"


@dataclass(frozen=True)
class PenaltyLaw:
    """What a solver needs of a block, by V, Delta and averages of the proximal map.

    response, norm: T and Q2; excess, random_field: the stand-in; energy: what Phi is beside that of the stand-in;
    slopes: (name of one of these, V or Delta) -> derivative; penalty: its mean over readouts.
    """

    response: sp.Expr
    norm: sp.Expr
    excess: sp.Expr
    random_field: sp.Expr
    slopes: Mapping[tuple[str, str], sp.Expr]
    energy: sp.Expr
    penalty: sp.Expr
    derivation: Derivation


@lru_cache(maxsize=1)
def penalty_law() -> PenaltyLaw:
    """Derive the law of the readouts under a penalty. Source: THEORY section 15, end; averages by ``derive.output``."""
    trace = Recorder("Penalty on the readout", (sample_derivation(), output_averages(1).derivation))
    _record_energy(trace)
    response, norm = _record_response(trace)
    excess, random_field = _record_stand_in(trace)
    energy = trace.derive(
        "free energy beside that of the stand-in",
        sp.Symbol("Phi - Phi_0"),
        computed(
            "subtract",
            "the energy of the readouts of a block without that of the stand-in, which differ in nothing else",
            "energy of a readout",
            "energy of the stand-in",
            "stand-in's ridge",
            "stand-in's field",
            by=lambda own, other, ridge, field: BETA * SHARE * sp.simplify(own - _chosen(other, ridge, field)),
            test=equal(lambda own, other, ridge, field: BETA * SHARE * (own - _chosen(other, ridge, field))),
        ),
        _SOURCE,
    )
    slopes = _record_slopes(trace)
    penalty = trace.derive(
        "mean penalty",
        sp.Symbol("E penalty(a)"),
        computed(
            "average",
            "the penalty at the minimiser, averaged over $z$",
            "loss at the prox",
            by=lambda at_prox: at_prox.subs(
                {ENVELOPE: AVERAGES["avg_M"], G: sp.sqrt(AVERAGES["avg_gg"])}, simultaneous=True
            ),
            test="names the averages, which the kernel of the penalty supplies",
        ),
        _SOURCE,
    )
    return PenaltyLaw(response, norm, excess, random_field, slopes, energy, penalty, trace.finish())


def penalty_given(entry: PenaltyEntry) -> Derivation:
    """What the user chose."""
    trace = Recorder(f"Penalty {entry.expression}")
    symbols = {"a": READOUT} | {p.name: sp.Symbol(p.name, positive=True) for p in entry.parameters}
    body = to_sympy(parse(entry.expression, tuple(symbols)), symbols)
    trace.given("penalty", PENALTY, body, "of every readout, beside the ridge", entry.citation)
    return trace.finish()


def _record_energy(trace: Recorder) -> None:
    """The energy of one readout by the Moreau envelope of the penalty."""
    trace.assume(
        "objective of a readout",
        sp.Symbol("E_a"),
        PENALTY + (RIDGE + CURVATURE) * READOUT**2 / 2 - sp.sqrt(FORCE) * Z * READOUT,
        "the others act on a readout by a curvature $k$ and by a Gaussian field of variance $\\chi$: "
        "$k_b=\\hat{V}^{(2)}_b+S_{bb}$, of $\\hat{q}^{(2)}$, $\\hat{q}^{(1)}$ and the sources the field",
        source=_SOURCE,
        assumption="rows Gaussian given the law; the proximal map has no mean, or nothing feels it",
    )
    trace.define(
        "width of the proximal map", WIDTH, 1 / (RIDGE + CURVATURE), "one over the whole curvature beside the penalty"
    )
    trace.define("variance of its argument", VARIANCE, FORCE / (RIDGE + CURVATURE) ** 2, "$\\omega=V\\sqrt{\\chi}\\,z$")
    trace.derive(
        "proximal problem",
        sp.Symbol("E_a"),
        computed(
            "complete the square",
            "in $V$ and $\\omega=\\sqrt{\\Delta}\\,z$: the exponent of the proximal map of the penalty",
            "objective of a readout",
            "width of the proximal map",
            "variance of its argument",
            by=lambda body, *_: _completed(body),
            test=Claim(lambda found, body, *of: (body - PENALTY, _at(found, of) - PENALTY)),
        ),
        _SOURCE,
    )
    trace.derive(
        "energy of a readout",
        sp.Symbol("e"),
        computed(
            "average",
            "its minimum over $a$ is the Moreau envelope of the penalty without $\\omega^2/(2V)$; average over $z$",
            "proximal problem",
            by=_averaged_energy,
            test=Claim(lambda found, body: (_of_quadratic(found), Expectation(_minimum_of_quadratic(body), Z))),
        ),
        _SOURCE,
    )


def _record_response(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """T and Q2: how the energy changes with the field and with the curvature."""
    found = [
        trace.derive(
            f"{name} of the readouts",
            unknown,
            computed(
                "differentiate",
                f"${sp.latex(sign)}\\,\\pi_b$ times the derivative of the energy in ${sp.latex(moved)}$, {words}",
                "energy of a readout",
                "width of the proximal map",
                "variance of its argument",
                "davg_M/dV",
                "davg_M/dDelta",
                by=lambda energy, width, variance, *slopes, m=moved, s=sign: (
                    s * SHARE * _slope(energy, (width, variance), slopes, m)
                ),
                test=Claim(
                    lambda found, energy, width, variance, *_, m=moved, s=sign: (
                        s * SHARE * sp.Derivative(_at(_of_quadratic(energy), (width, variance)), m),
                        _at(_of_quadratic(found), (width, variance)),
                    )
                ),
            ),
            _SOURCE,
        )
        for name, unknown, sign, moved, words in (
            ("T", RESPONSE, -2 * BETA, FORCE, "the field: the response, summed over the block"),
            ("Q2", NORM, sp.Integer(2), CURVATURE, "the curvature: the mean square of the readouts"),
        )
    ]
    return found[0], found[1]


def _record_stand_in(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    """The ridge and the field that give the same T and Q2, by V, Delta and the averages."""
    trace.define(
        "energy of the stand-in",
        sp.Symbol("e_0"),
        -(VARIANCE / WIDTH**2 + RANDOM_FIELD) / (2 * (EXCESS + 1 / WIDTH)),
        "without a penalty, with a further ridge and a further field",
    )
    own = SHARE * BETA / (EXCESS + 1 / WIDTH)
    trace.define("response of the stand-in", RESPONSE, own, "linear, one over all curvatures")
    trace.define(
        "norm of the stand-in",
        NORM,
        SHARE * (VARIANCE / WIDTH**2 + RANDOM_FIELD) / (EXCESS + 1 / WIDTH) ** 2,
        "the variance of the field times the response squared",
    )
    excess = trace.derive(
        "stand-in's ridge",
        EXCESS,
        computed(
            "solve",
            "the ridge at which the responses agree",
            "response of the stand-in",
            "T of the readouts",
            by=lambda linear, own: _root(linear - own, EXCESS),
            test=Claim(lambda root, linear, own: (linear.xreplace({EXCESS: root}), own)),
        ),
        _SOURCE,
    )
    random_field = trace.derive(
        "stand-in's field",
        RANDOM_FIELD,
        computed(
            "solve",
            "the variance of the field at which the norms agree",
            "norm of the stand-in",
            "Q2 of the readouts",
            "stand-in's ridge",
            by=lambda linear, own, ridge: _root((linear - own).xreplace({EXCESS: ridge}), RANDOM_FIELD),
            test=Claim(
                lambda root, linear, own, ridge: (linear.xreplace({RANDOM_FIELD: root}).xreplace({EXCESS: ridge}), own)
            ),
        ),
        _SOURCE,
    )
    return excess, random_field


def _record_slopes(trace: Recorder) -> Mapping[tuple[str, str], sp.Expr]:
    """How all of these move with V and Delta, for Newton's method."""
    of_averages = [f"d{name}/d{field}" for name in _MOVING for field in _FIELDS]
    found = {}
    for name, label in _BY_WIDTH.items():
        for field, symbol in _FIELDS.items():
            found[name, field] = trace.derive(
                f"d{name}/d{field}",
                sp.Derivative(sp.Symbol(name), symbol),
                computed(
                    "differentiate",
                    "the averages moving with it",
                    label,
                    *of_averages,
                    by=lambda body, *slopes, s=symbol: _with_averages(body, slopes, s),
                    test=Claim(
                        lambda found, body, *_, s=symbol: (
                            sp.Derivative(_of_quadratic(body), s),
                            _of_quadratic(found),
                        )
                    ),
                ),
                _SOURCE,
                shown=False,
            )
    return MappingProxyType(found)


def _with_averages(body: Any, slopes: tuple[Any, ...], moved: sp.Symbol) -> Any:
    """The derivative of a body in V or Delta, with averages by their own derivatives."""
    of = dict(zip([(name, field) for name in _MOVING for field in _FIELDS], slopes, strict=True))
    total = sp.diff(body, moved)
    for name in _MOVING:
        total += sp.diff(body, AVERAGES[name]) * _plain(of[name, str(moved)])
    return sp.factor(total)


def _plain(body: Any) -> Any:
    """Averages and fields of kappa as symbols: a readout has no kappa."""
    return sp.sympify(body).xreplace(
        {average(name): symbol for name, symbol in AVERAGES.items()} | {FIELD_V: WIDTH, DELTA: VARIANCE}
    )


def _completed(body: Any) -> Any:
    """penalty + (a - omega)^2/(2V) - omega^2/(2V) by V and Delta, from an objective in k and chi."""
    smooth = _by_width(body - PENALTY)
    (centre,) = sp.solve(sp.diff(smooth, READOUT), READOUT)
    return PENALTY + (READOUT - centre) ** 2 / (2 * WIDTH) + sp.simplify(smooth.subs(READOUT, centre))


def _by_width(body: Any) -> Any:
    """k and chi by V and Delta."""
    return body.subs({CURVATURE: 1 / WIDTH - RIDGE, FORCE: VARIANCE / WIDTH**2}, simultaneous=True)


def _averaged_energy(body: Any) -> Any:
    """The envelope under its name, and the rest at its average."""
    rest = sp.Add(*(term for term in sp.Add.make_args(body) if not term.has(READOUT)))
    closed, _ = close_all(Expectation(rest, Z))
    return AVERAGES["avg_M"] + closed


def _slope(energy: Any, of: tuple[Any, Any], slopes: tuple[Any, ...], moved: sp.Symbol) -> Any:
    """The derivative of the energy in k or chi, through V and Delta, by those of the averaged envelope."""
    of_envelope = [_plain(slope) for slope in slopes]
    total = sp.S.Zero
    for name, found, envelope in zip((WIDTH, VARIANCE), of, of_envelope, strict=True):
        inner = _by_width(sp.diff(found, moved))
        total += (sp.diff(energy, name) + sp.diff(energy, AVERAGES["avg_M"]) * envelope) * inner
    return sp.factor(sp.simplify(total))


def _root(body: Any, unknown: sp.Symbol) -> Any:
    (root,) = sp.solve(body, unknown)
    return sp.factor(root)


def _chosen(energy: Any, ridge: Any, field: Any) -> Any:
    return energy.xreplace({RANDOM_FIELD: field}).xreplace({EXCESS: ridge})


def _at(body: Any, of: tuple[Any, ...]) -> Any:
    """V and Delta at their definitions by k and chi."""
    return body.subs(dict(zip((WIDTH, VARIANCE), of, strict=True)), simultaneous=True)


# a penalty of which all averages are explicit, to put the steps to the test: c a^2/2
_WEIGHT = sp.Symbol("c", positive=True)


def _of_quadratic(body: Any) -> Any:
    """The averages of an expression at those of a quadratic penalty."""
    gain = _WEIGHT / (1 + _WEIGHT * WIDTH)
    values = {"avg_M": gain * VARIANCE / 2, "avg_h": gain, "avg_gg": gain**2 * VARIANCE}
    values |= {"avg_ggh": gain**3 * VARIANCE, "avg_ghx": -(gain**2), "avg_hxx": sp.S.Zero}
    return body.xreplace({AVERAGES[name]: value for name, value in values.items()})


def _minimum_of_quadratic(body: Any) -> Any:
    """The minimum over a of an objective with a quadratic penalty."""
    whole = body.replace(lambda e: e == PENALTY, lambda _: _WEIGHT * READOUT**2 / 2)
    (place,) = sp.solve(sp.diff(whole, READOUT), READOUT)
    return whole.subs(READOUT, place)
