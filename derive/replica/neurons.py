"""A given bulk of several blocks: its equations neuron by neuron [THEORY 10].

The blocks of a matrix W have no singular vectors in common, so that no spectrum stands for them. The potential is the
log-determinant of the p x p matrix A itself, exact, and its derivatives are traces and projections of its inverse G.
``member`` says which block a row belongs to, ``gram`` holds the products ``w_i.w_j`` of rows, and ``law_vv[i, j] =
(w_i.v) (w_j.v)``, ``law_vo``, ``law_oo`` those of their projections, ``law_vn[i, j] = (w_i.v) (|w_j|^2 - 1)``,
``law_on`` and ``law_nn`` those with the norms of the rows. A is one of the equations, so that derivatives
along it, the products of two inverses, are taken once.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, family, family_name, index
from derive.calculus import Calculus
from derive.canonical import canonical
from derive.constraints import definitions_in
from derive.directions import norm_weight_names, weight_name
from derive.operations import computed, equal
from derive.replica.bulk import Spectral
from derive.replica.readout import norm_families, psi_families, zeta_families
from derive.spectrum import SpectralLaw
from derive.symbols import BETA, Q1_HAT, Q2_HAT, RIDGE, V1_HAT, V2_HAT, T
from derive.trace import Recorder

B, C = index("b"), index("c")
ROW, COLUMN = index("i"), index("j")  # of A
UNIT = "unit_G"
_G, _A, _unit, _member, _gram = (family(name) for name in ("G", "A", UNIT, "member", "gram"))
_coupling, _own = family("Coupling"), family("own")


def neuron_potential(trace: Recorder, law: SpectralLaw) -> Spectral:
    """A and its inverse, T and the response from the potential."""
    entry = _unit[ROW, COLUMN] * BlockSum(_member[B, ROW] * (RIDGE + V2_HAT[B]), B)
    entry += _gram[ROW, COLUMN] * BlockSum(_member[B, ROW] * BlockSum(_member[C, COLUMN] * V1_HAT[B, C], C), B)
    entry = trace.define(
        "A",
        _A[ROW, COLUMN],
        canonical(entry),
        "the precision of the readouts between rows $i$ and $j$; $e_{bi}$ is one where row $i$ is of block $b$",
        law.source,
    )
    precision = Definition("A", (ROW, COLUMN), entry)
    trace.define("G", sp.Symbol("G^-1"), _A[ROW, COLUMN], "the inverse of $A$", law.source)
    inverse = MatrixInverse("G", ROW, COLUMN, _A[ROW, COLUMN], identity=UNIT)
    trace.define(
        "spectral potential",
        sp.Symbol("L"),
        per_dimension() * LogDet("G"),
        "$\\frac{1}{d}\\log\\det A$, $d=p/\\beta$ by the trace of the identity of $p$ rows",
        law.source,
    )
    calculus = Calculus({"A": precision}, {"G": inverse})
    trace.define("own", _own[ROW], _G[ROW, ROW], "the resolvent of a neuron", law.source)
    own = Definition("own", (ROW,), _G[ROW, ROW])
    trace_of = trace.derive(
        "T",
        T[B],
        computed(
            "differentiate",
            "the derivative of the potential along $\\hat{V}^{(2)}$: the trace of the resolvent",
            "spectral potential",
            "own",
            by=lambda body, _: _by_neuron(calculus.derivative(body, V2_HAT[B])),
            test=equal(lambda body, _: sp.Derivative(body, V2_HAT[B], evaluate=False), precision, inverse, own),
        ),
        law.source,
    )
    response = trace.derive(
        "M",
        family("M")[B, C],
        computed(
            "differentiate",
            "the derivative of the potential along $\\hat{V}^{(1)}$: the mean response",
            "spectral potential",
            by=lambda body: calculus.derivative(body, V1_HAT[C, B]),
            test=equal(lambda body: sp.Derivative(body, V1_HAT[C, B], evaluate=False), precision, inverse),
        ),
        law.source,
    )
    return Spectral((inverse,), (), (), None, response, (precision, own, Definition("T", (B,), trace_of)))


def _by_neuron(expr: sp.Expr) -> sp.Expr:
    """With the diagonal of the resolvent by its name."""
    return expr.replace(lambda e: family_name(e) == "G" and len({*e.indices}) == 1, lambda e: _own[e.indices[0]])


def per_dimension() -> sp.Expr:
    """1/d."""
    return BETA / BlockSum(_unit[ROW, ROW], ROW)


def neuron_form(
    trace: Recorder, law: SpectralLaw, spectral: Spectral, directions: int, spikes: int
) -> tuple[Spectral, sp.Expr]:
    """(the bulk with what R is made of, R): all that stands between rows, on the inverse."""
    trace.assume(
        "projections of the inverse",
        sp.Symbol("u W_b^T A^-1 W_c u'"),
        BlockSum(
            BlockSum(family("law")[ROW, COLUMN] * _member[B, ROW] * _member[C, COLUMN] * _G[ROW, COLUMN], ROW), COLUMN
        ),
        "$u\\cdot W_b^TA^{-1}W_cu'$ between fixed directions $u,u'$, by the projections $(w_i\\cdot u)(w_j\\cdot u')$",
        source=law.source,
        assumption="none: the definition of the weights",
    )
    (precision, *_), (inverse,) = definitions_in(spectral.auxiliary), spectral.inverses
    calculus = Calculus({"A": precision})
    body = trace.derive(
        "Coupling",
        _coupling[ROW, COLUMN],
        computed(
            "sum over directions",
            "what couples replicas between rows $i$ and $j$, $A$ along $\\hat{q}^{(1)}$, and the products of the "
            "sources $\\hat{\\zeta}$ along the spike and $\\hat{\\psi}$ along the rest of the target",
            "entropic part of the readouts",
            "A",
            "projections of the inverse",
            by=lambda _, entry, __: canonical(
                _sources(directions, spikes) + _along(Q1_HAT, lambda hat: calculus.derivative(entry, hat))
            ),
            test=equal(
                lambda _, entry, __: (
                    _sources(directions, spikes) + _along(Q1_HAT, lambda hat: sp.Derivative(entry, hat, evaluate=False))
                )
            ),
        ),
        law.source,
    )
    coupling = Definition("Coupling", (ROW, COLUMN), body)
    form = trace.derive(
        "entropic part",
        sp.Symbol("R"),
        computed(
            "sum over rows",
            "$j\\cdot A^{-1}j/p$ and $\\mathrm{Tr}\\,A^{-1}B/p$ by the rows; the part of $\\hat{q}^{(2)}$ "
            "by the trace $T$",
            "entropic part of the readouts",
            "spectral potential",
            "Coupling",
            "T",
            by=lambda *_: _between_rows(_coupling[ROW, COLUMN]) + BlockSum(Q2_HAT[B] * T[B], B) / BETA,
            test=equal(
                lambda _, potential, *__: _between_rows(_sources(directions, spikes)) + _along_coupling(potential),
                coupling,
                *spectral.auxiliary,
                inverse,
            ),
        ),
        law.source,
    )
    return Spectral((inverse,), (coupling,), (), None, spectral.response, spectral.auxiliary), form


def _between_rows(weight: sp.Expr) -> sp.Expr:
    """The sum over pairs of rows on the inverse."""
    return BlockSum(BlockSum(weight * _G[COLUMN, ROW], ROW), COLUMN)


def _sources(directions: int, spikes: int) -> sp.Expr:
    """sum over pairs of directions, and of the norms of the rows as one more, of their sources between two rows."""
    hats = [hat for _, hat in (*zeta_families(spikes), *psi_families(directions), *norm_families(True))]
    of_norms = (*norm_weight_names(directions, spikes), "law_nn")

    def of_row(hat: sp.IndexedBase, row: sp.Symbol) -> sp.Expr:
        return BlockSum(_member[B, row] * hat[B], B)

    def weight(first: int, second: int) -> sp.Expr:
        rows = (ROW, COLUMN) if first <= second else (COLUMN, ROW)
        last = max(first, second) == spikes + directions
        name = of_norms[min(first, second)] if last else weight_name(first, second, spikes, directions)
        return family(name)[rows]

    return sp.Add(
        *(
            weight(i, j) * of_row(one, ROW) * of_row(other, COLUMN)
            for i, one in enumerate(hats)
            for j, other in enumerate(hats)
        )
    )


def _along(change: sp.IndexedBase, slope: Callable[[sp.Indexed], sp.Expr]) -> sp.Expr:
    """A derivative along a change of V1_hat, over p."""
    return per_dimension() * BlockSum(BlockSum(change[B, C] * slope(V1_HAT[B, C]), B), C) / BETA


def _along_coupling(potential: sp.Expr) -> sp.Expr:
    """Tr A^-1 B/p: the derivative of the potential along the conjugates that couple replicas."""
    matrices = BlockSum(BlockSum(Q1_HAT[B, C] * sp.Derivative(potential, V1_HAT[B, C], evaluate=False), B), C)
    vectors = BlockSum(Q2_HAT[B] * sp.Derivative(potential, V2_HAT[B], evaluate=False), B)
    return (matrices + vectors) / BETA
