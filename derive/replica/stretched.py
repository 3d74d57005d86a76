"""The bulk whose covariances do not commute: rows that the step stretches [THEORY 5].

``Sigma_b = (1 + a2_b B)^2 + a_b C`` of different blocks share no eigenvectors, so that no spectrum stands for them. The
potential is extremal in auxiliary matrices instead: s, the mean resolvent of a matrix that is linear in the samples of
the step (``derive.bulk_covariance``), and X, what the samples add to its inverse. A row of that matrix belongs to a
block, once or twice: ``upper`` and ``lower``; the points x are nodes of the law of a sample's residual.
"""

from __future__ import annotations

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
ROW, COLUMN = index("i"), index("j")  # of the matrix with the response beside it
_SOURCE = "THEORY section 5"
_s, _sample, _base = family("Res"), family("sample"), family("base")
_first, _inside, _last = family("first"), family("inside"), family("last")
_upper, _lower, _fixed, _out = family("upper"), family("lower"), family("fixed"), family("out")
_D, _F = family("D"), family("F")


def stretched_potential(trace: Recorder, law: SpectralLaw) -> Spectral:
    """Equations of T, s and X from the potential, and the response functions."""
    out = _placed(trace)
    whole, presence = _pencil(trace), _presence(trace)
    calculus = Calculus({out.name: out}, {m.name: m for m in (whole, presence)})
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
    held = (whole, presence, out)
    present = Definition("F", (P, Q, X), BlockSum(_sample[P, R, X] * _D[R, Q, X], R))
    trace.define("F", _F[P, Q, X], present.body, "what a sample adds, its own presence counted", _SOURCE)
    stationarity = _stationary(trace, calculus, "T", T[B], held)
    mean = _stationary(trace, calculus, "Res", family("X")[Q, P], held, solved=_s[P, Q])
    added = _stationary(trace, calculus, "X", _s[Q, P], held, solved=family("X")[P, Q], folded=present)
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
    own: tuple[Definition | MatrixInverse, ...] = out, present, whole, presence
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


def _presence(trace: Recorder) -> MatrixInverse:
    entry = family("unit_D")[P, Q] + BlockSum(_s[P, R] * _sample[R, Q, X], R)
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
    folded: Definition | None = None,
) -> sp.Expr:
    """Stationarity of the potential in a member; solved: for one that stands in it with the factor -1."""

    def by(body: sp.Expr) -> sp.Expr:
        slope = calculus.derivative(body, moved)
        slope = slope if solved is None else canonical(contract(slope + solved))
        return slope if folded is None else canonical(fold(slope, folded))

    def before(body: sp.Expr) -> sp.Expr:
        slope = sp.Derivative(body, moved, evaluate=False)
        return slope if solved is None else slope + solved

    definitions = held if folded is None else (*held, folded)
    return trace.derive(
        label,
        sp.S.Zero if solved is None else solved,
        computed(
            "differentiate",
            "stationarity of the potential",
            "spectral potential",
            by=by,
            test=equal(before, *definitions),
        ),
        _SOURCE,
    )


def _sides(trace: Recorder) -> tuple[Definition, ...]:
    """The inverse between the rows of the blocks and those that samples stand in, to the right and to the left."""
    right = BlockSum(_inside[P, ROW] * BlockSum(family("G")[ROW, COLUMN] * _first[C, COLUMN], COLUMN), ROW)
    trace.define("H", family("H")[C, P], right, "from a block to what samples stand in", _SOURCE)
    left = -BlockSum(_last[B, ROW] * BlockSum(family("G")[ROW, COLUMN] * _out[COLUMN, P], COLUMN), ROW)
    trace.define("H_left", family("H_left")[B, P], left, "from what samples stand in to a block, $H^TT$", _SOURCE)
    return Definition("H", (C, P), right), Definition("H_left", (B, P), left)
