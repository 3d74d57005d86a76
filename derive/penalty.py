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

from derive.language.grammar import parse
from derive.language.penalties import PenaltyEntry
from derive.operations import computed, equal
from derive.output import output_averages
from derive.penalised_readout import (
    AVERAGES,
    ENERGY,
    EXCESS,
    FIELDS,
    MEAN,
    NORM,
    OVERLAP,
    PENALTY,
    PULL,
    PUSH,
    RANDOM_FIELD,
    READOUT,
    READOUT_MEAN,
    RESPONSE,
    SHARE,
    SOURCE,
    VARIANCE,
    WIDTH,
    of_quadratic,
    plain,
    record_energy,
    record_response,
)
from derive.replica.averages import ENVELOPE, G, sample_derivation
from derive.symbols import BETA, INVERSE_DIMENSION
from derive.to_sympy import to_sympy
from derive.trace import Claim, Derivation, Recorder

_MOVING = ("avg_M", "avg_g", "avg_h", "avg_gg")
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
    record_energy(trace)
    response, norm, readout = record_response(trace)
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
        SOURCE,
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
            test="averages named, which the code of the penalty computes",
        ),
        SOURCE,
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
        SOURCE,
    )


def _record_stand_in(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The ridge and the fields that give the same T, Q2 and m, by V, Delta, mean and the averages."""
    _define_stand_in(trace)
    return _record_ridge(trace), _record_random_field(trace), _record_pull(trace)


def _define_stand_in(trace: Recorder) -> None:
    """Its part in the free energy, its response and its norm."""
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


def _record_ridge(trace: Recorder) -> sp.Expr:
    """By the response."""
    return trace.derive(
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
        SOURCE,
    )


def _record_random_field(trace: Recorder) -> sp.Expr:
    """By the norm."""
    return trace.derive(
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
        SOURCE,
    )


def _record_pull(trace: Recorder) -> sp.Expr:
    """By the slope in m."""

    def at(own: Any, other: Any, overlap: Any, mean: Any, ridge: Any) -> Any:
        return _chosen(_pull_of(own, other).xreplace({OVERLAP: overlap}), ridge, mean)

    return trace.derive(
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
            by=lambda *steps: sp.factor(sp.simplify(at(*steps))),
            test=equal(at),
        ),
        SOURCE,
    )


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
    of_averages = [f"d{name}/d{field}" for name in _MOVING for field in FIELDS]
    found = {}
    for name, label in _BY_WIDTH.items():
        for field, symbol in FIELDS.items():
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
                            sp.Derivative(of_quadratic(body), s),
                            of_quadratic(found),
                        )
                    ),
                ),
                SOURCE,
                shown=False,
            )
    return MappingProxyType(found)


def _with_averages(body: Any, slopes: tuple[Any, ...], moved: sp.Symbol) -> Any:
    """The derivative of a body in V, Delta or mean, with averages by their own derivatives."""
    of = dict(zip([(name, field) for name in _MOVING for field in FIELDS], slopes, strict=True))
    total = sp.diff(body, moved)
    for name in _MOVING:
        total += sp.diff(body, AVERAGES[name]) * plain(of[name, str(moved)])
    return sp.factor(total)


def _root(body: Any, unknown: sp.Symbol) -> Any:
    (root,) = sp.solve(body, unknown)
    return sp.factor(root)


def _chosen(body: Any, ridge: Any, mean: Any) -> Any:
    """At the stand-in's ridge and the mean readout."""
    return body.xreplace({EXCESS: ridge, READOUT_MEAN: mean})
