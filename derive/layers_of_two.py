"""The integral over the readouts of two fits, by potential and sources of their sums and differences [THEORY 14, 11].

``derive.replica.two_kinds`` leaves a determinant and a quadratic form of the bulk with a coupling in it. Sums and
differences of the two readouts see bulks of one readout with conjugates, and a response T, of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, family, index
from derive.calculus import Calculus, contract
from derive.canonical import canonical, fold
from derive.free_energy import M_HAT
from derive.operations import computed
from derive.replica.network import put
from derive.replica.two_kinds import KIND
from derive.saddle import Equation, SaddleSystem
from derive.symbols import BETA, RANDOM_FIELD_12, SYMMETRIC
from derive.tangent import Tangent, tangent_name
from derive.trace import Claim, Recorder

B, C = index("b"), index("c")
Q1_HAT_12, Q2_HAT_12, T_12 = family("Q1_hat_12"), family("Q2_hat_12"), family("T_12")
OVERLAP = family("overlap")  # of the rows of a block in the two first layers, of unit norm
_ROWS_T, _STEADY = family("T_rows"), family("T_held")  # what rows give to the bulk; what m_hat is held at
_SOURCE = "THEORY section 14"


def is_known(trace: Recorder, label: str) -> bool:
    """Whether a step is recorded or known."""
    try:
        trace.right_side(label)
    except KeyError:
        return False
    return True


def entropic_part_of_two(trace: Recorder, single: SaddleSystem) -> None:
    """The integral over the readouts by potential and sources of sums and differences of the kinds."""
    t = family("T")[B]
    places = sp.Tuple(
        t + KIND * T_12[B],
        t + KIND * OVERLAP[B] * T_12[B],
        family("V1_hat")[B, C] - KIND * Q1_HAT_12[B, C],
        family("V2_hat")[B] - KIND * _coupling_of_two(trace, single),
    )
    trace.assume(
        "layers of two fits",
        sp.Tuple(*map(sp.Symbol, ("T", "T of the rows", "V1_hat", "V2_hat"))),
        places,
        "both readouts of a pair together to have the deterministic equivalent of a single one: in sums and "
        "differences, $s=\\pm1$, $T$ of a neuron becomes $T+sT_{12}$, what its rows give to the bulk "
        "$T+s\\varrho T_{12}$ with the overlap $\\varrho$ of its rows in the two layers, and conjugates lose "
        "$s\\hat{q}_{12}$; the potential is extremal in $T_{12}$ too",
        source=_SOURCE,
        assumption="rows of a neuron in the two layers Gaussian together, independent of all others'; their norms "
        "vary together as far as the rows overlap",
    )
    sources = "entropic part, spike taken out" if is_known(trace, "entropic part, spike taken out") else "entropic part"
    trace.derive(
        "entropic part of two fits",
        sp.Symbol("R_12"),
        computed(
            "differentiate",
            "by *readouts of two kinds*: minus half of the second derivative of the potential in $s$, and the first "
            "one of the sources on the inverse, that of $m$ among them",
            "spectral potential",
            sources,
            "response of the constant direction",
            "pair of m",
            "layers of two fits",
            by=lambda *of: _carried_out(single, *of),
            test=Claim(lambda found, *of: _as_derivatives(found, *of), (*_moved(single, places), _steady())),
        ),
        _SOURCE,
    )


def _coupling_of_two(trace: Recorder, single: SaddleSystem) -> sp.Expr:
    """The field that replicas of both kinds share at a readout, by its covariance."""
    if not single.law.stand_in:
        return Q2_HAT_12[B]
    return trace.assume(
        "stand-in for the penalty of two fits",
        sp.Symbol("qhat^(2)_12,b"),
        Q2_HAT_12[B] + RANDOM_FIELD_12[B],
        "the random fields that stand for the penalty in two fits to have a covariance in block $b$: the one with "
        "which the product of a neuron's readouts in both is that of the penalty",
        source="THEORY section 16",
        assumption="rows Gaussian given the law: a readout feels the others by a curvature and a Gaussian field",
    )


def _steady() -> Definition:
    return Definition("T_held", (B,), family("T")[B])


def _moved(single: SaddleSystem, places: sp.Tuple) -> tuple[MatrixInverse | Definition, ...]:
    """P, M and S for sums and differences of the kinds."""
    found: list[MatrixInverse | Definition] = []
    for inverse in single.inverses:
        entry = _rows(inverse.entry, places)
        found.append(MatrixInverse(inverse.name, inverse.row, inverse.column, entry, inverse.over))
    for equation in _responses(single):
        found.append(Definition(equation.unknown, equation.indices, _rows(equation.body, places)))
    return tuple(found)


def _rows(body: sp.Expr, places: sp.Tuple) -> sp.Expr:
    """What the rows give to the bulk, with the kinds in it."""
    return _put_in(body, places[1], places)


def _traces(body: sp.Expr, places: sp.Tuple) -> sp.Expr:
    """Sums over neurons, with the kinds in them."""
    return _put_in(body, places[0], places)


def _put_in(body: sp.Expr, of_t: sp.Expr, places: sp.Tuple) -> sp.Expr:
    matrix, vector = places[-2:]
    return put(
        body,
        {
            "T": lambda b: of_t.xreplace({B: b}),
            "V1_hat": lambda b, c: matrix.xreplace({B: b, C: c}),
            "V2_hat": lambda b: vector.xreplace({B: b}),
        },
    )


def _parts(
    potential: sp.Expr, form: sp.Expr, response: sp.Expr, pair: sp.Expr, places: sp.Tuple
) -> tuple[sp.Expr, sp.Expr]:
    """(potential, sources on the inverse) as functions of s."""
    sources, constant = _sources(form, response, pair)
    return _traces(potential, places), _rows(sources, places) + _traces(constant, places)


def _carried_out(single: SaddleSystem, *of: sp.Expr) -> sp.Expr:
    """R_12 with the rules for sums of inverses, T of the rows apart from that of the traces."""
    apart = {"T": lambda b: _ROWS_T[b]}
    definitions = [Definition(e.unknown, e.indices, put(e.body, apart)) for e in _responses(single)]
    calculus = Tangent(
        inverses={i.name: replace(i, entry=put(i.entry, apart)) for i in single.inverses},
        parallel={p.name: replace(p, a=put(p.a, apart), b=put(p.b, apart)) for p in single.parallel},
        symmetric=SYMMETRIC,
        unknowns=frozenset(("T", str(_ROWS_T.label), "V1_hat", "V2_hat")),
    )
    potential, form, response, pair, places = of
    sources, constant = _sources(put(form, apart), response, pair)
    slope = _slope_of_potential(calculus, potential, definitions)
    found = calculus.of(sources + constant) - calculus.of(slope) / (2 * BETA)
    there = put(put(found, _tangents(places)), {"T_held": lambda b: family("T")[b]})
    return canonical(contract(sp.expand_mul(there)), SYMMETRIC)


def _slope_of_potential(calculus: Tangent, potential: sp.Expr, definitions: list[Definition]) -> sp.Expr:
    """Along all tangents; S and M have their names there, so that their own rules apply to the next derivative."""
    total, plain = sp.S.Zero, Calculus(inverses=calculus.inverses)
    for name in sorted(calculus.unknowns):
        indices = (C, B) if name == "V1_hat" else (B,)
        slope = plain.derivative(potential, family(name)[indices])
        for definition in definitions:
            slope = contract(fold(slope, definition))
        along = slope * family(tangent_name(name))[indices]
        for place in indices:
            along = BlockSum(along, place)
        total += along
    return total


def _responses(single: SaddleSystem) -> list[Equation]:
    """Of S and M, by P."""
    return [equation for equation in single.equations if equation.unknown in ("S", "M", "Sx", "Mx")]


def _tangents(places: sp.Tuple) -> dict[str, Callable[..., sp.Expr]]:
    """What moves with s, by the names of tangents, and T of the rows where s is zero."""
    matrix, vector = (sp.diff(body, KIND) for body in places[-2:])
    found: dict[str, Callable[..., sp.Expr]] = {
        "d_V1_hat": lambda b, c: matrix.xreplace({B: b, C: c}),
        "d_V2_hat": lambda b: vector.xreplace({B: b}),
        str(_ROWS_T.label): lambda b: family("T")[b],
    }
    for name, body in zip(("d_T", f"d_{_ROWS_T.label}"), places[:2], strict=True):
        found[name] = partial(_member, sp.diff(body, KIND))
    return found


def _member(body: sp.Expr, block: sp.Symbol) -> sp.Expr:
    return body.xreplace({B: block})


def _sources(form: sp.Expr, response: sp.Expr, pair: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The sources on the inverse: along directions and norms, along the constant direction with its m_hat held."""
    (held,) = sp.solve(sp.diff(pair, M_HAT), M_HAT)
    steady = held.xreplace({family("T")[B]: _STEADY[B]})
    sources = put(form, dict.fromkeys(("Q1_hat", "Q2_hat", "random_field"), lambda *_: sp.S.Zero))
    return sources, BlockSum(response * steady**2, B)


def _as_derivatives(found: sp.Expr, *of: Any) -> tuple[sp.Expr, sp.Expr]:
    potential, sources = _parts(*of)
    slope = sp.Derivative(sources, KIND, evaluate=False)
    curvature = sp.Derivative(potential, KIND, KIND, evaluate=False)
    return sp.Subs(slope - curvature / (2 * BETA), KIND, 0), sp.Subs(found, KIND, 0)
