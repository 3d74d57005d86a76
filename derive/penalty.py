"""A separable penalty on the readout: the law of one readout, and what stands for the penalty [THEORY section 16].

Rows that are Gaussian given the law act on a readout a by a curvature k, a random field of variance chi, and by the
field eta that all readouts of a block have in common, of order 1/sqrt(d): it minimises ``penalty(a) + (ridge + k) a^2/2
- (sqrt(chi) z + eta) a``, z standard normal, so that it is the proximal map of the penalty at a Gaussian. Everything
else depends on the readouts through their response T, their norm Q2 and their mean, the overlap m, alone. A ridge
``excess``, a random field of variance ``random_field`` and a common one, ``pull``, which give the same three, stand for
the penalty in all other equations.
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
from derive.symbols import BETA, DELTA, INVERSE_DIMENSION, RIDGE
from derive.symbols import MEAN as FIELD_MEAN
from derive.symbols import V as FIELD_V
from derive.to_sympy import to_sympy
from derive.trace import Claim, Derivation, Recorder

READOUT, Z = sp.symbols("a z", real=True)
PENALTY = sp.Function("penalty", real=True)(READOUT)
CURVATURE, FORCE = sp.symbols("k chi", positive=True)
PUSH, ENERGY = sp.symbols("eta e", real=True)  # the common field, the energy of a readout
WIDTH, VARIANCE = sp.symbols("V Delta", positive=True)
MEAN = sp.Symbol("mean", real=True)  # of the argument of the proximal map
READOUT_MEAN, OVERLAP = sp.symbols("readout m", real=True)
SHARE = sp.Symbol("fraction", positive=True)
RESPONSE, NORM = sp.symbols("T Q2", positive=True)  # beta V2 and Q2 of the block
EXCESS, RANDOM_FIELD, PULL = sp.symbols("excess random_field pull", real=True)
_NAMES = ("avg_M", "avg_g", "avg_h", "avg_gg", "avg_gh", "avg_hx", "avg_ggh", "avg_ghx", "avg_hxx")
AVERAGES = {name: sp.Symbol(name, real=True) for name in _NAMES}
_MOVING = ("avg_M", "avg_g", "avg_h", "avg_gg")
_FIELDS = {"V": WIDTH, "Delta": VARIANCE, "mean": MEAN}
_ARGUMENT = ("width of the proximal map", "variance of its argument", "mean of its argument")
#: What is a function of V, Delta and mean -> the label of its step.
_BY_WIDTH = {
    "T": "T of the readouts",
    "Q2": "Q2 of the readouts",
    "readout": "mean of the readouts",
    "excess": "stand-in's ridge",
    "random_field": "stand-in's field",
    "pull": "stand-in's pull",
    "energy": "free energy beside that of the stand-in",
}
_SOURCE = "THEORY section 16"


@dataclass(frozen=True)
class PenaltyLaw:
    """What a solver needs of a block, by V, Delta, mean and averages of the proximal map.

    response, norm, readout: T, Q2 and the mean readout; overlap: m by that; excess, random_field, pull: the stand-in;
    energy: what Phi is beside that of the stand-in; slopes: (name of one of these, V, Delta or mean) -> derivative;
    penalty: its mean over readouts.
    """

    response: sp.Expr
    norm: sp.Expr
    readout: sp.Expr
    overlap: sp.Expr
    excess: sp.Expr
    random_field: sp.Expr
    pull: sp.Expr
    slopes: Mapping[tuple[str, str], sp.Expr]
    energy: sp.Expr
    penalty: sp.Expr
    derivation: Derivation


@lru_cache(maxsize=1)
def penalty_law() -> PenaltyLaw:
    """Derive the law of the readouts under a penalty. Source: THEORY section 16; averages by ``derive.output``."""
    trace = Recorder("Penalty on the readout", (sample_derivation(), output_averages(1).derivation))
    _record_energy(trace)
    response, norm, readout = _record_response(trace)
    overlap = _record_overlap(trace)
    excess, random_field, pull = _record_stand_in(trace)
    energy = trace.derive(
        "free energy beside that of the stand-in",
        sp.Symbol("Phi - Phi_0"),
        computed(
            "subtract",
            "the part of the readouts of a block without that of the stand-in, which differ in nothing else",
            "readouts in the free energy",
            "stand-in in the free energy",
            "energy of a readout",
            "overlap of the mean",
            "stand-in's ridge",
            "stand-in's field",
            "stand-in's pull",
            by=lambda *steps: sp.simplify(_difference(*steps)),
            test=equal(_difference),
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
    return PenaltyLaw(
        response, norm, readout, overlap, excess, random_field, pull, slopes, energy, penalty, trace.finish()
    )


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
        PENALTY + (RIDGE + CURVATURE) * READOUT**2 / 2 - (sp.sqrt(FORCE) * Z + PUSH) * READOUT,
        "the others act on a readout by a curvature $k$, by a Gaussian field of variance $\\chi$ and by one that all "
        "readouts of the block have in common, $\\eta$: $k_b=\\hat{V}^{(2)}_b+S_{bb}$, of $\\hat{q}^{(2)}$, "
        "$\\hat{q}^{(1)}$ and the sources the field, of the mean features the common one",
        source=_SOURCE,
        assumption="rows Gaussian given the law, and no feature with an even part where readouts have a mean",
    )
    trace.define(
        "width of the proximal map", WIDTH, 1 / (RIDGE + CURVATURE), "one over the whole curvature beside the penalty"
    )
    trace.define(
        "variance of its argument",
        VARIANCE,
        FORCE / (RIDGE + CURVATURE) ** 2,
        "$\\omega=V(\\sqrt{\\chi}\\,z+\\eta)$",
    )
    trace.define("mean of its argument", MEAN, PUSH / (RIDGE + CURVATURE), "of order $1/\\sqrt{d}$ for an even penalty")
    trace.derive(
        "proximal problem",
        sp.Symbol("E_a"),
        computed(
            "complete the square",
            "in $V$ and $\\omega=\\bar{\\omega}+\\sqrt{\\Delta}\\,z$: the exponent of the proximal map of the penalty",
            "objective of a readout",
            *_ARGUMENT,
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


def _record_response(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """T, Q2 and the mean: how the energy changes with the field, the curvature and the common field."""
    found = [
        trace.derive(
            label,
            unknown,
            computed(
                "differentiate",
                f"the derivative of the energy in ${sp.latex(moved)}$, {words}",
                "energy of a readout",
                *_ARGUMENT,
                *(f"davg_M/d{field}" for field in _FIELDS),
                by=lambda energy, *steps, m=moved, f=factor: f * _slope(energy, steps[:3], steps[3:], m),
                test=Claim(
                    lambda found, energy, *steps, m=moved, f=factor: (
                        f * sp.Derivative(_at(_of_quadratic(energy), steps[:3]), m),
                        _at(_of_quadratic(found), steps[:3]),
                    )
                ),
            ),
            _SOURCE,
        )
        for label, unknown, factor, moved, words in (
            ("T of the readouts", RESPONSE, -2 * BETA * SHARE, FORCE, "$-2\\beta\\pi_b$ times it: the response"),
            ("Q2 of the readouts", NORM, 2 * SHARE, CURVATURE, "$2\\pi_b$ times it: the mean square"),
            ("mean of the readouts", READOUT_MEAN, sp.S.NegativeOne, PUSH, "times $-1$"),
        )
    ]
    return found[0], found[1], found[2]


def _record_overlap(trace: Recorder) -> sp.Expr:
    """m, the conjugate of the common field."""
    trace.define(
        "readouts in the free energy",
        sp.Symbol("Phi_b"),
        BETA * SHARE * ENERGY + sp.sqrt(BETA * INVERSE_DIMENSION) * PUSH * OVERLAP,
        "their energy, and $m_b=1_b\\cdot a/\\sqrt{p}$ with the common field; $\\sqrt{p}\\,m\\eta$ over $d$",
    )
    return trace.derive(
        "overlap of the mean",
        OVERLAP,
        computed(
            "extremise",
            "stationarity in the common field, along which the energy falls by the mean readout",
            "readouts in the free energy",
            by=lambda body: _root(sp.diff(body, PUSH) - BETA * SHARE * READOUT_MEAN, OVERLAP),
            test=Claim(lambda root, body: (sp.diff(body, PUSH).xreplace({OVERLAP: root}), BETA * SHARE * READOUT_MEAN)),
        ),
        _SOURCE,
    )


def _record_stand_in(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The ridge and the fields that give the same T, Q2 and m, by V, Delta, mean and the averages."""
    linear, field = 1 / (EXCESS + 1 / WIDTH), VARIANCE / WIDTH**2 + RANDOM_FIELD
    of_overlap = BETA * INVERSE_DIMENSION * OVERLAP**2 / (2 * BETA * SHARE * linear)
    trace.define(
        "stand-in in the free energy",
        sp.Symbol("Phi_b0"),
        -BETA * SHARE * field * linear / 2 + of_overlap + PULL * OVERLAP,
        "without a penalty, with a further ridge and further fields; the term of finite size of $m$",
    )
    trace.define("response of the stand-in", RESPONSE, SHARE * BETA * linear, "linear, one over all curvatures")
    trace.define(
        "norm of the stand-in",
        NORM,
        SHARE * (field * linear**2 + READOUT_MEAN**2),
        "the variance of the field times the response squared, and the mean",
    )
    excess = trace.derive(
        "stand-in's ridge",
        EXCESS,
        computed(
            "solve",
            "the ridge at which the responses agree",
            "response of the stand-in",
            "T of the readouts",
            by=lambda body, own: _root(body - own, EXCESS),
            test=Claim(lambda root, body, own: (body.xreplace({EXCESS: root}), own)),
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
            "mean of the readouts",
            "stand-in's ridge",
            by=lambda body, own, mean, ridge: _root(_chosen(body, ridge, mean) - own, RANDOM_FIELD),
            test=Claim(
                lambda root, body, own, mean, ridge: (_chosen(body.xreplace({RANDOM_FIELD: root}), ridge, mean), own)
            ),
        ),
        _SOURCE,
    )
    pull = trace.derive(
        "stand-in's pull",
        PULL,
        computed(
            "solve",
            "the common field at which the free energies have the same slope in $m$",
            "readouts in the free energy",
            "stand-in in the free energy",
            "overlap of the mean",
            "mean of the readouts",
            "stand-in's ridge",
            by=lambda own, other, overlap, mean, ridge: sp.factor(
                sp.simplify(_chosen(_pull_of(own, other).xreplace({OVERLAP: overlap}), ridge, mean))
            ),
            test=equal(
                lambda own, other, overlap, mean, ridge: _chosen(
                    _pull_of(own, other).xreplace({OVERLAP: overlap}), ridge, mean
                )
            ),
        ),
        _SOURCE,
    )
    return excess, random_field, pull


def _pull_of(own: Any, other: Any) -> Any:
    """Slopes in m, with the common field by the mean of the argument."""
    (root,) = sp.solve(sp.diff(own - other, OVERLAP), PULL)
    return root.xreplace({PUSH: MEAN / WIDTH})


def _difference(own: Any, other: Any, energy: Any, overlap: Any, ridge: Any, field: Any, pull: Any) -> Any:
    """Phi of the readouts less that of the stand-in, at the values of both."""
    body = own.xreplace({ENERGY: energy, PUSH: MEAN / WIDTH}) - other.xreplace({PULL: pull, RANDOM_FIELD: field})
    mean = MEAN + WIDTH * AVERAGES["avg_g"]
    return _chosen(body.xreplace({OVERLAP: overlap}), ridge, mean)


def _record_slopes(trace: Recorder) -> Mapping[tuple[str, str], sp.Expr]:
    """How all of these move with V, Delta and mean, for Newton's method."""
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
    """The derivative of a body in V, Delta or mean, with averages by their own derivatives."""
    of = dict(zip([(name, field) for name in _MOVING for field in _FIELDS], slopes, strict=True))
    total = sp.diff(body, moved)
    for name in _MOVING:
        total += sp.diff(body, AVERAGES[name]) * _plain(of[name, str(moved)])
    return sp.factor(total)


def _plain(body: Any) -> Any:
    """Averages and fields of kappa as symbols: a readout has no kappa."""
    return sp.sympify(body).xreplace(
        {average(name): symbol for name, symbol in AVERAGES.items()}
        | {FIELD_V: WIDTH, DELTA: VARIANCE, FIELD_MEAN: MEAN}
    )


def _completed(body: Any) -> Any:
    """penalty + (a - omega)^2/(2V) - omega^2/(2V) by V, Delta and mean, from an objective in k, chi and eta."""
    smooth = _by_width(body - PENALTY)
    (centre,) = sp.solve(sp.diff(smooth, READOUT), READOUT)
    return PENALTY + (READOUT - centre) ** 2 / (2 * WIDTH) + sp.simplify(smooth.subs(READOUT, centre))


def _by_width(body: Any) -> Any:
    """k, chi and eta by V, Delta and mean."""
    return body.subs({CURVATURE: 1 / WIDTH - RIDGE, FORCE: VARIANCE / WIDTH**2, PUSH: MEAN / WIDTH}, simultaneous=True)


def _averaged_energy(body: Any) -> Any:
    """The envelope under its name, and the rest at its average."""
    rest = sp.Add(*(term for term in sp.Add.make_args(body) if not term.has(READOUT)))
    closed, _ = close_all(Expectation(sp.expand(rest), Z))
    return AVERAGES["avg_M"] + sp.factor(closed)


def _slope(energy: Any, of: tuple[Any, ...], slopes: tuple[Any, ...], moved: sp.Symbol) -> Any:
    """The derivative of the energy in k, chi or eta, through V, Delta and mean, by those of the averaged envelope."""
    of_envelope = [_plain(slope) for slope in slopes]
    total = sp.S.Zero
    for name, found, envelope in zip((WIDTH, VARIANCE, MEAN), of, of_envelope, strict=True):
        inner = _by_width(sp.diff(found, moved))
        total += (sp.diff(energy, name) + sp.diff(energy, AVERAGES["avg_M"]) * envelope) * inner
    return sp.factor(sp.simplify(total))


def _root(body: Any, unknown: sp.Symbol) -> Any:
    (root,) = sp.solve(body, unknown)
    return sp.factor(root)


def _chosen(body: Any, ridge: Any, mean: Any) -> Any:
    """At the stand-in's ridge and the mean readout."""
    return body.xreplace({EXCESS: ridge, READOUT_MEAN: mean})


def _at(body: Any, of: tuple[Any, ...]) -> Any:
    """V, Delta and mean at their definitions by k, chi and eta."""
    return body.subs(dict(zip((WIDTH, VARIANCE, MEAN), of, strict=True)), simultaneous=True)


# a penalty of which all averages are explicit, to put the steps to the test: c a^2/2
_WEIGHT = sp.Symbol("c", positive=True)


def _of_quadratic(body: Any) -> Any:
    """The averages of an expression at those of a quadratic penalty."""
    gain = _WEIGHT / (1 + _WEIGHT * WIDTH)
    square = VARIANCE + MEAN**2
    values = {"avg_M": gain * square / 2, "avg_g": -gain * MEAN, "avg_h": gain, "avg_gg": gain**2 * square}
    values |= {"avg_gh": -(gain**2) * MEAN, "avg_ggh": gain**3 * square, "avg_ghx": -(gain**2)}
    values |= dict.fromkeys(("avg_hx", "avg_hxx"), sp.S.Zero)
    return body.xreplace({AVERAGES[name]: value for name, value in values.items()})


def _minimum_of_quadratic(body: Any) -> Any:
    """The minimum over a of an objective with a quadratic penalty."""
    whole = body.replace(lambda e: e == PENALTY, lambda _: _WEIGHT * READOUT**2 / 2)
    (place,) = sp.solve(sp.diff(whole, READOUT), READOUT)
    return whole.subs(READOUT, place)
