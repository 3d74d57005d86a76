"""The bulk whose covariances do not commute: rows that the step stretches [THEORY 5].

``Sigma_b = (1 + a2_b B)^2 + a_b C`` of different blocks share no eigenvectors, so that no spectrum stands for them. The
potential is extremal in auxiliary matrices instead: s, the mean resolvent of a matrix that is linear in the samples of
the steps (``derive.bulk_covariance``), and X, what the samples add to its inverse. A row of that matrix belongs to a
block, once or twice: ``upper`` and ``lower``; the points x are nodes of the law of a sample's residual. A sample stands
in few rows, those of its step, which are combinations of these: ``own_rows``.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, family, index
from derive.calculus import Calculus, contract
from derive.canonical import canonical, fold
from derive.operations import computed, equal
from derive.replica.bulk import Spectral
from derive.spectrum import SpectralLaw, X
from derive.symbols import BETA, FRACTION, RIDGE, V1_HAT, V2_HAT, T
from derive.trace import Recorder

B, C = index("b"), index("c")
P, Q, R = index("p"), index("q"), index("r")
S, K, L = index("s"), index("k"), index("l")  # steps; rows of X, where p and q are those of the samples of a step
ROW, COLUMN = index("i"), index("j")  # of the matrix with the response beside it
_SOURCE = "THEORY section 5"
_s, _sample, _base = family("Res"), family("sample"), family("base")
_first, _inside, _last = family("first"), family("inside"), family("last")
_upper, _lower, _fixed, _out = family("upper"), family("lower"), family("fixed"), family("out")
_D, _F = family("D"), family("F")
_own, _at, _of_step = family("own_rows"), family("Res_at"), family("of_step")


def stretched_potential(trace: Recorder, law: SpectralLaw) -> Spectral:
    """Equations of T, s and X from the potential, and the response functions."""
    out = _placed(trace)
    whole, stands = _pencil(trace), _stands(trace)
    presence = _presence(trace)
    given = (out, *stands)
    calculus = Calculus({d.name: d for d in given}, {m.name: m for m in (whole, presence)})
    potential = BlockSum(T[B] * (RIDGE + V2_HAT[B]) - BETA * FRACTION[B] * sp.log(T[B]), B) + LogDet("G")
    potential -= BlockSum(BlockSum((family("X")[P, Q] - _base[P, Q]) * _s[Q, P], P), Q)
    potential += BlockSum(family("law_tr")[X] * LogDet("D", X), X)
    trace.assume(
        "spectral potential",
        sp.Symbol("L"),
        potential,
        "the log-determinant of $A=\\lambda+\\hat{V}^{(2)}+W\\hat{V}^{(1)}W^T$, over $d$, to have the deterministic "
        "equivalent $\\mathcal{L}$, extremal in $T$, $s$ and $X$, up to a constant",
        source=law.source,
        assumption=law.assumption,
    )
    held = (whole, presence, *given)
    present = Definition("F", (P, Q, X), BlockSum(_sample[P, R, X] * _D[R, Q, X], R))
    trace.define("F", _F[P, Q, X], present.body, "what a sample adds, its own presence counted", _SOURCE)
    stationarity = _stationary(trace, calculus, "T", T[B], held)
    mean = _stationary(trace, calculus, "Res", family("X")[Q, P], held, solved=_s[P, Q])
    of_step = _added_by_step(trace, calculus, held, present)
    added = _added(trace, calculus, (*held, present), of_step)
    response = trace.derive(
        "M",
        family("M")[B, C],
        computed(
            "differentiate",
            "the derivative of the log-determinant along $\\hat{V}^{(1)}$: the mean response",
            "spectral potential",
            by=lambda body: calculus.derivative(body, V1_HAT[C, B]),
            test=equal(lambda body: sp.Derivative(body, V1_HAT[C, B], evaluate=False), *held),
        ),
        law.source,
    )
    solved = Definition("Res", (P, Q), mean), Definition("X", (P, Q), added), Definition("M", (B, C), response)
    own: tuple[Definition | MatrixInverse, ...] = *given, present, of_step, whole, presence
    return Spectral((presence, whole), (), (), stationarity, response, (*own, *_sides(trace), *solved))


def _placed(trace: Recorder) -> Definition:
    """Where what the samples add stands in the matrix: with -T in the rows beside, with 1 in the lower ones."""
    body = _lower[ROW, P] - BlockSum(T[B] * _last[B, ROW] * _upper[B, P], B)
    trace.define("out", _out[ROW, P], body, "rows of the matrix that $X$ stands in", _SOURCE)
    return Definition("out", (ROW, P), body)


def _pencil(trace: Recorder) -> MatrixInverse:
    """The matrix with V1_hat and X apart, so that no inverse of V1_hat is needed; M is one of its blocks inverted."""
    one = BlockSum(_first[B, ROW] * BlockSum(V1_HAT[B, C] * _last[C, COLUMN], C), B)
    other = BlockSum(_first[C, ROW] * BlockSum(V1_HAT[B, C] * _last[B, COLUMN], B), C)
    entry = _fixed[ROW, COLUMN] + (one + other) / 2  # V1_hat is symmetric, and varied as such
    entry += BlockSum(_out[ROW, P] * BlockSum(family("X")[P, Q] * _inside[Q, COLUMN], Q), P)
    trace.define(
        "G",
        sp.Symbol("G^-1"),
        entry,
        "$\\begin{pmatrix}1&0&\\hat{V}^{(1)}\\\\X_{21}&X_{22}&0\\\\-TX_{11}&-TX_{12}&1\\end{pmatrix}$, and its inverse",
        _SOURCE,
    )
    return MatrixInverse("G", ROW, COLUMN, entry, identity="unit_G")


def _stands(trace: Recorder) -> tuple[Definition, Definition]:
    """The mean resolvent in the rows that samples of a step stand in, and at every sample."""
    own = BlockSum(_own[S, P, K] * BlockSum(_s[K, L] * _own[S, Q, L], L), K)
    at = BlockSum(_of_step[S, X] * family("Res_own")[S, P, Q], S)
    words = "the mean resolvent in the rows that samples of a step stand in"
    trace.define("Res_own", family("Res_own")[S, P, Q], own, words, _SOURCE)
    trace.define("Res_at", _at[P, Q, X], at, f"{words}: of that of the sample", _SOURCE)
    return Definition("Res_own", (S, P, Q), own), Definition("Res_at", (P, Q, X), at)


def _presence(trace: Recorder) -> MatrixInverse:
    entry = family("unit_D")[P, Q] + BlockSum(_at[P, R, X] * _sample[R, Q, X], R)
    trace.define(
        "D",
        sp.Symbol("D^-1"),
        entry,
        "$1+sk$ of a sample, $k$ over the number of samples, and its inverse: its own presence, by Woodbury's identity",
        "Woodbury (1950)",
    )
    return MatrixInverse("D", P, Q, entry, (X,), identity="unit_D")


def _stationary(
    trace: Recorder,
    calculus: Calculus,
    label: str,
    moved: sp.Indexed,
    held: tuple[Definition | MatrixInverse, ...],
    *,
    solved: sp.Indexed | None = None,
) -> sp.Expr:
    """Stationarity of the potential in a member; solved: for one that stands in it with the factor -1."""

    def by(body: sp.Expr) -> sp.Expr:
        slope = calculus.derivative(body, moved)
        return slope if solved is None else canonical(contract(slope + solved))

    def before(body: sp.Expr) -> sp.Expr:
        slope = sp.Derivative(body, moved, evaluate=False)
        return slope if solved is None else slope + solved

    return trace.derive(
        label,
        sp.S.Zero if solved is None else solved,
        computed(
            "differentiate", "stationarity of the potential", "spectral potential", by=by, test=equal(before, *held)
        ),
        _SOURCE,
    )


def _added_by_step(
    trace: Recorder, calculus: Calculus, held: tuple[Definition | MatrixInverse, ...], present: Definition
) -> Definition:
    """What the samples of a step add, in the rows that they stand in: the slope of the potential in the mean resolvent
    there.
    """
    moved = family("Res_own")[S, Q, P]
    at, apart = _without(calculus, "Res_own"), tuple(one for one in held if one.name != "Res_own")
    body = trace.derive(
        "X_own",
        family("X_own")[S, P, Q],
        computed(
            "differentiate",
            "the derivative of the potential in the mean resolvent as samples of a step know it",
            "spectral potential",
            by=lambda body: canonical(fold(at.derivative(body, moved), present)),
            test=equal(lambda body: sp.Derivative(body, moved, evaluate=False), *apart, present),
        ),
        _SOURCE,
    )
    return Definition("X_own", (S, P, Q), body)


def _added(
    trace: Recorder, calculus: Calculus, held: tuple[Definition | MatrixInverse, ...], of_step: Definition
) -> sp.Expr:
    """X, by stationarity in the mean resolvent, which samples know in their rows."""
    moved, solved = _s[Q, P], family("X")[P, Q]
    apart, there = _without(calculus, "Res_own"), family("Res_own")[S, K, L]

    def by(body: sp.Expr) -> sp.Expr:
        through = family("X_own")[S, L, K] * calculus.derivative(there, moved)
        through = BlockSum(BlockSum(BlockSum(through, K), L), S)
        return canonical(contract(apart.derivative(body, moved) + through + solved))

    return trace.derive(
        "X",
        solved,
        computed(
            "differentiate",
            "stationarity of the potential, by the chain rule",
            "spectral potential",
            by=by,
            test=equal(lambda body: sp.Derivative(body, moved, evaluate=False) + solved, *held, of_step),
        ),
        _SOURCE,
    )


def _without(calculus: Calculus, name: str) -> Calculus:
    """Derivatives where a definition is held."""
    return replace(calculus, definitions={key: d for key, d in calculus.definitions.items() if key != name})


def _sides(trace: Recorder) -> tuple[Definition, ...]:
    """The inverse between the rows of the blocks and those that samples stand in, to the right and to the left."""
    right = BlockSum(_inside[P, ROW] * BlockSum(family("G")[ROW, COLUMN] * _first[C, COLUMN], COLUMN), ROW)
    trace.define("H", family("H")[C, P], right, "from a block to what samples stand in", _SOURCE)
    left = -BlockSum(_last[B, ROW] * BlockSum(family("G")[ROW, COLUMN] * _out[COLUMN, P], COLUMN), ROW)
    trace.define("H_left", family("H_left")[B, P], left, "from what samples stand in to a block, $H^TT$", _SOURCE)
    return Definition("H", (C, P), right), Definition("H_left", (B, P), left)
