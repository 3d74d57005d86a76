"""The bulk in the entropic part: potential, response functions and quadratic form over a spectral law [THEORY 10, 11].

``A = lambda + V2_hat + W V1_hat W^T`` enters by its log-determinant and by projections of its inverse. For a spectral
law both are sums over the points of the spectrum; nothing here knows which law it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, ParallelSum, family, index
from derive.calculus import Calculus, contract
from derive.canonical import canonical, fold
from derive.operations import computed, equal
from derive.replica.readout import norm_families, psi_families, zeta_families
from derive.replica.stand_in import coupling_of, ridge_of
from derive.spectrum import SpectralLaw
from derive.symbols import BETA, CHI, FRACTION, Q1_HAT, RIDGE, SYMMETRIC, V1_HAT, V2_HAT, T
from derive.trace import Recorder

B, C, E = index("b"), index("c"), index("e")


@dataclass(frozen=True)
class Spectral:
    """The bulk: ``inverses``, P = (1 + V1_hat T Sigma)^-1, ``definitions`` of S and M by it, their differentials, and
    the ``stationarity`` (index b) that fixes T; None where T is one of the definitions. ``response``: M at a point.

    ``auxiliary``: further unknowns by their equations, recorded under the labels of their names; inverses among them
    are unknowns too, which derivatives do not go through.
    """

    inverses: tuple[MatrixInverse, ...]
    definitions: tuple[Definition, ...]
    parallel: tuple[ParallelSum, ...]
    stationarity: sp.Expr | None
    response: sp.Expr
    auxiliary: tuple[Definition | MatrixInverse, ...] = ()


def spectral_potential(trace: Recorder, law: SpectralLaw) -> Spectral:
    """P, the definitions of S and M, and the equation of T, from the log-determinant of a spectral law."""
    return _gaussian_rows(trace, law) if law.rows == "gaussian" else _given_rows(trace, law)


def _gaussian_rows(trace: Recorder, law: SpectralLaw) -> Spectral:
    """Rows Gaussian given the law: the potential is extremal in T."""
    names, at = _names(law), law.over
    inverse = _record_potential(trace, law)
    s_definition = Definition(names["S"], (B, C, *at), BlockSum(family(names["P"])[(B, E, *at)] * V1_HAT[E, C], E))
    trace.define(
        "S",
        family(names["S"])[(B, C, *at)],
        s_definition.body,
        "$S=P\\hat{V}^{(1)}$: the inverse of $T\\Sigma$ plus the inverse of $\\hat{V}^{(1)}$ without inverting either",
        "THEORY section 4",
    )
    calculus = Calculus(inverses={names["P"]: inverse})
    stationarity = _stationary_in_t(trace, law, calculus, s_definition)
    response = trace.derive(
        "M",
        family(names["M"])[(B, C, *at)],
        computed(
            "differentiate",
            "the derivative of the log-determinant at a point along $\\hat{V}^{(1)}$: the response "
            "$((T\\Sigma)^{-1}+\\hat{V}^{(1)})^{-1}$",
            "P",
            by=lambda _: calculus.derivative(LogDet(names["P"], *at), V1_HAT[C, B]),
            test=equal(lambda _: sp.Derivative(LogDet(names["P"], *at), V1_HAT[C, B], evaluate=False), inverse),
        ),
        law.source,
    )
    m_definition = Definition(names["M"], (B, C, *at), response)
    diagonal = sp.KroneckerDelta(B, C) * T[B] * _of_block(law, B)
    parallel = (
        ParallelSum(names["S"], B, C, V1_HAT[B, C], diagonal, names["P"], transposed=False, over=at),
        ParallelSum(names["M"], B, C, diagonal, V1_HAT[B, C], names["P"], transposed=True, over=at),
    )
    return Spectral((inverse,), (s_definition, m_definition), parallel, stationarity, family(names["M"])[(B, C, *at)])


def _record_potential(trace: Recorder, law: SpectralLaw) -> MatrixInverse:
    """The potential L, a log-determinant, and the inverse P of the matrix in it."""
    inverse = _inverse(
        trace,
        law,
        sp.KroneckerDelta(B, C) + V1_HAT[B, C] * T[C] * _of_block(law, C),
        "the matrix under the logarithm, row $b$ and column $c$, and its inverse $P$",
    )
    potential = BlockSum(T[B] * (ridge_of(law) + V2_HAT[B]) - BETA * FRACTION[B] * sp.log(T[B]), B)
    potential += _over_points(law, law.trace * LogDet(inverse.name, *law.over))
    trace.assume(
        "spectral potential",
        sp.Symbol("L"),
        potential,
        "the log-determinant of $A=\\lambda+\\hat{V}^{(2)}+W\\hat{V}^{(1)}W^T$, over $d$, to have the deterministic "
        "equivalent $\\mathcal{L}$, extremal in $T$, up to a constant",
        source=law.source,
        assumption=law.assumption,
    )
    return inverse


def _stationary_in_t(trace: Recorder, law: SpectralLaw, calculus: Calculus, s: Definition) -> sp.Expr:
    """dL/dT, with P V1_hat under its name S."""
    trace.derive(
        "slope in T",
        sp.Derivative(sp.Symbol("L"), T[B]),
        computed(
            "differentiate",
            "Jacobi's formula for the log-determinant",
            "spectral potential",
            "P",
            by=lambda body, _: calculus.derivative(body, T[B]),
            test=equal(lambda body, _: sp.Derivative(body, T[B], evaluate=False), *calculus.inverses.values()),
        ),
        law.source,
        shown=False,
    )
    return trace.derive(
        "T",
        sp.S.Zero,
        computed(
            "substitute",
            "stationarity of the potential in $T_b$, the Marchenko-Pastur equation",
            "slope in T",
            "S",
            by=lambda slope, _: canonical(contract(fold(slope, s))),
            test=equal(lambda slope, _: slope, s, *calculus.inverses.values()),
        ),
        law.source,
    )


def _given_rows(trace: Recorder, law: SpectralLaw) -> Spectral:
    """Rows given: the resolvent at a squared singular value, T the trace of it."""
    name = _names(law)["P"]
    inverse = _inverse(
        trace,
        law,
        sp.KroneckerDelta(B, C) * (RIDGE + V2_HAT[B]) + V1_HAT[B, C] * law.covariance,
        "$A$ at a squared singular value $\\rho_x$ of $W$, and its inverse",
    )
    potential = _over_points(law, law.trace * LogDet(name, *law.over))
    trace.define(
        "spectral potential",
        sp.Symbol("L"),
        potential,
        "$\\frac{1}{d}\\log\\det A$ by singular values",
        law.source,
    )
    calculus = Calculus(inverses={name: inverse})
    trace_of = trace.derive(
        "T",
        T[B],
        computed(
            "differentiate",
            "the derivative of the potential along $\\hat{V}^{(2)}$: the trace of the resolvent",
            "spectral potential",
            "P",
            by=lambda body, _: calculus.derivative(body, V2_HAT[B]),
            test=equal(lambda body, _: sp.Derivative(body, V2_HAT[B], evaluate=False), inverse),
        ),
        law.source,
    )
    response = trace.derive(
        "M",
        sp.Symbol("M_x"),
        computed(
            "differentiate",
            "the derivative of the log-determinant at a point along $\\hat{V}^{(1)}$",
            "P",
            by=lambda _: calculus.derivative(LogDet(name, *law.over), V1_HAT[C, B]),
            test=equal(lambda _: sp.Derivative(LogDet(name, *law.over), V1_HAT[C, B], evaluate=False), inverse),
        ),
        law.source,
    )
    return Spectral((inverse,), (Definition("T", (B,), trace_of),), (), None, response)


def _inverse(trace: Recorder, law: SpectralLaw, entry: sp.Expr, rule: str) -> MatrixInverse:
    name = _names(law)["P"]
    trace.define("P", sp.Symbol(f"{name}^-1"), entry, rule, law.source)
    return MatrixInverse(name, B, C, entry, law.over)


def _names(law: SpectralLaw) -> dict[str, str]:
    """P, S and M, with an x where there is one for each point."""
    return {letter: letter + "x" * bool(law.over) for letter in "PSM"}


def _of_block(law: SpectralLaw, block: sp.Symbol) -> sp.Expr:
    return sp.sympify(law.covariance).subs(B, block)


def _over_points(law: SpectralLaw, body: sp.Expr) -> sp.Expr:
    """The sum over the spectrum; one point needs none."""
    for point in law.over:
        body = BlockSum(body, point)
    return body


def quadratic_form(trace: Recorder, law: SpectralLaw, spectral: Spectral, directions: int, spikes: int) -> sp.Expr:
    """R: the sources on the inverse, and the potential along the conjugates that couple replicas.

    Recorded as "entropic part"; the spike is still in the bulk.
    """
    trace.assume(
        "projections of the inverse",
        sp.Symbol("u W_b^T A^-1 W_c u'"),
        _over_points(law, _weight(law) * spectral.response),
        "$u\\cdot W_b^TA^{-1}W_cu'$ between fixed directions $u,u'$ to be the response at every point, with the "
        "weight that the two directions have there: " + _weights_in_words(law),
        source=law.source,
        assumption="the deterministic equivalent holds between fixed directions too"
        if law.rows == "gaussian"
        else "none: the definition of the weights",
    )
    steps = ["entropic part of the readouts", "spectral potential", "M", "projections of the inverse"]
    if law.norms:
        given = law.rows == "given"
        steps.append(norms_given(trace, law.source) if given else norms_assumed(trace, law.source))
    return trace.derive(
        "entropic part",
        sp.Symbol("R"),
        computed(
            "sum over the spectrum",
            "$j\\cdot A^{-1}j/p$ by the projections between the sources $\\hat{\\zeta}$ along the spike "
            "and $\\hat{\\psi}$ along the rest of the target"
            + ", $\\hat{o}$ of the norms"
            * law.norms
            + "; $\\mathrm{Tr}\\,A^{-1}B/p$ as the derivative of the "
            "potential along $\\hat{q}^{(1)}$ and $\\hat{q}^{(2)}$",
            *steps,
            by=lambda _, potential, *__: canonical(
                _sources(law, spectral, directions, spikes) + _noise(law, spectral, potential), SYMMETRIC
            ),
            test=equal(
                lambda _, potential, *__: _sources(law, spectral, directions, spikes) + _along_coupling(law, potential),
                *spectral.definitions,
                *spectral.inverses,
            ),
        ),
        law.source,
    )


def _weight(law: SpectralLaw) -> sp.Expr:
    return family("law")[law.over] if law.over else sp.Symbol("law_uu'")


def _weights_in_words(law: SpectralLaw) -> str:
    if law.aligned:
        return "$\\varrho^{vv}$, $\\varrho^{v\\perp}$ and $\\varrho^{\\perp}$"
    return "1 for the same direction, 0 for orthogonal ones"


def _sources(law: SpectralLaw, spectral: Spectral, directions: int, spikes: int) -> sp.Expr:
    """sum over pairs of directions of their sources on the response, with the weights of the law; norms among them."""
    hats = [hat for _, hat in (*zeta_families(spikes), *psi_families(directions))]
    kernel = sp.Add(
        *(
            law.between(i, j, spikes, directions) * one[B] * other[C]
            for i, one in enumerate(hats)
            for j, other in enumerate(hats)
        )
    )
    found = _over_points(law, BlockSum(BlockSum(kernel * spectral.response, B), C))
    if law.rows == "given":
        return found + _of_given_norms(law, hats, spikes, directions)
    return found + norms_alone(law)


def _of_given_norms(law: SpectralLaw, hats: Sequence[sp.IndexedBase], spikes: int, directions: int) -> sp.Expr:
    """The source of given norms on the inverse, and with those of spike and target, by left singular vectors."""
    (_, norm), at = norm_families(True)[0], law.over

    def along(norms: sp.Symbol, rows: sp.Symbol) -> sp.Expr:
        return norm[norms] * sp.Add(
            *(law.with_norm(i, norms, spikes, directions) * hat[rows] for i, hat in enumerate(hats))
        )

    weight = family("law_nn")[(B, C, *at)] * norm[B] * norm[C] + along(B, C) + along(C, B)
    return _over_points(law, BlockSum(BlockSum(weight * family(_names(law)["P"])[(B, C, *at)], B), C))


def norms_given(trace: Recorder, source: str) -> str:
    """The norms of given rows on the inverse: the definition's label."""
    trace.assume(
        "norms on the inverse",
        sp.Tuple(*sp.symbols("l.A^-1.l l.A^-1.W_cu")),
        sp.Tuple(*sp.symbols("sum_xlaw_nnP_x sum_xlaw_vnP_x")),
        "$\\delta_k=|w_k|^2-1$ on the left singular vectors of $W$, and there with the projections of $Wv$, "
        "$W\\theta_\\perp$: the weights $\\varrho^{nn}$, $\\varrho^{vn}$, $\\varrho^{\\perp n}$",
        source=source,
        assumption="none: the definition of the weights",
    )
    return "norms on the inverse"


def norms_alone(law: SpectralLaw) -> sp.Expr:
    """The source of the norms on the inverse, as if they did not go with the rows."""
    return sp.Add(*(BlockSum(CHI[B] * T[B] * norm[B] ** 2, B) for _, norm in norm_families(law.norms)))


def norms_assumed(trace: Recorder, source: str, linear: bool = False) -> str:
    """The fluctuations of the norms on the inverse, which go with the rows or do not: the assumption's label."""
    alone = "fluctuations $\\delta$ of variance $\\chi_b$ to be independent of the rows: "
    alone += "$\\delta\\cdot A^{-1}\\delta/d$ is $\\chi_b$ times the trace of $A^{-1}$ over block $b$"
    along = "fluctuations $\\delta$ and rows to be Gaussian with the covariance $k_b$: by Stein's lemma $\\delta$ "
    along += "acts as the source $T_bk_b$ on the rows; $P=(1+\\hat{V}^{(1)}T\\Sigma)^{-1}$, $S=P\\hat{V}^{(1)}$"
    trace.assume(
        "norms on the inverse",
        sp.Tuple(*sp.symbols("l.A^-1.l/d l.A^-1.W_cu")),
        sp.Tuple(*sp.symbols("T_bchi_b-T_bk_b.S.k_cT_c T_bk_b.P.u" if linear else "T_bchi_b 0")),
        along if linear else alone,
        source=source,
        assumption="squared norms vary by order $d^{-1/2}$, $c_b(1+\\delta_k/\\sqrt{d})$",
    )
    return "norms on the inverse"


def _noise(law: SpectralLaw, spectral: Spectral, potential: sp.Expr) -> sp.Expr:
    """The derivative of the potential along q1_hat and q2_hat, over beta; at its extremum T does not move."""
    (determinant,) = potential.atoms(LogDet)
    (over_points,) = [term for term in sp.Add.make_args(potential) if term.has(LogDet)]
    along = BlockSum(BlockSum(Q1_HAT[B, C] * spectral.response, B), C)
    calculus = Calculus(inverses={inverse.name: inverse for inverse in spectral.inverses})
    of_norm = T[B] if spectral.stationarity is None else calculus.derivative(potential, V2_HAT[B])
    return (over_points.xreplace({determinant: along}) + BlockSum(coupling_of(law) * of_norm, B)) / BETA


def _along_coupling(law: SpectralLaw, potential: sp.Expr) -> sp.Expr:
    """Tr A^-1 B/p: differences of the potential along the conjugates, at fixed T."""
    matrices = BlockSum(BlockSum(Q1_HAT[B, C] * sp.Derivative(potential, V1_HAT[B, C], evaluate=False), B), C)
    vectors = BlockSum(coupling_of(law) * sp.Derivative(potential, V2_HAT[B], evaluate=False), B)
    return (matrices + vectors) / BETA


def spike_response(trace: Recorder, law: SpectralLaw, spikes: int) -> sp.MatrixExpr | None:
    """The response along the spike once the spike is taken out of the bulk, where matrix algebra closes it; else None.

    ``W P W^T = W W^T - sum_j (W v_j)(W v_j)^T`` changes the response I along the spike into ``(I^-1 - V1_hat)^-1``.
    Source: Sherman and Morrison (1950); [CUI24] eq. (108)-(116).
    """
    size = sp.Symbol("K", integer=True, positive=True)
    own, hat = sp.MatrixSymbol("T", size, size), sp.MatrixSymbol("Vhat_1", size, size)
    before = _matrix_response(law, own, hat, size)
    weights = sp.Matrix(spikes, spikes, lambda i, j: law.between(i, j, spikes, 1))
    name = "Sherman-Morrison" if spikes == 1 else f"Sherman-Morrison-Woodbury, {spikes} directions"
    trace.define(
        f"{name}: response",
        sp.MatrixSymbol("I", size, size),
        before,
        "the response along the spike with the spike in the bulk",
    )
    closes = weights == sp.eye(spikes)  # then no direction is coupled to another one
    after = trace.derive(
        name,
        sp.Symbol("I_perp"),
        computed(
            "take out the spike",
            "the downdate of $WW^T$ by $(Wv_j)(Wv_j)^T$: $I\\to(I^{-1}-\\hat{V}^{(1)})^{-1}$",
            f"{name}: response",
            by=lambda body: downdated(body, hat),
            test=equal(lambda body: sp.Inverse(sp.MatAdd(sp.Inverse(body), sp.MatMul(-1, hat)))),
        ),
        "[CUI24] eq. (108)-(116)",
    )
    return after if closes and not after.has(sp.Inverse) else None


def downdated(response: Any, weight: Any) -> Any:
    """``(I^-1 - X)^-1`` of matrices, the double inverse carried out."""
    return sp.Inverse(sp.MatAdd(sp.Inverse(response), sp.MatMul(-1, weight)).doit()).doit()


def _matrix_response(law: SpectralLaw, own: Any, hat: Any, size: sp.Symbol) -> Any:
    """``((T Sigma)^-1 + V1_hat)^-1`` at one point; a sum over points has no inverse in closed form."""
    if law.over:
        return sp.MatrixSymbol("M", size, size)
    return sp.Inverse(sp.MatAdd(sp.Inverse(sp.MatMul(law.covariance, own).doit()), hat))
