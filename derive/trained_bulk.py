"""The free energy with the bulk that the gradient step leaves: rows of covariance Sigma_b, not isotropic ones.

The covariances share the eigenvectors of one matrix C (derive.bulk_resolvent), so that everything the readout needs is
a sum over the spectrum of C: with the weight ``law_tr`` of the trace, and with those of C between the spike v and the
rest theta_perp of the target (``law_vv``, ``law_vo``, ``law_oo``). The index x runs over the spectrum; nothing else
tells a node of a quadrature from an eigenvalue of a given matrix.
"""

from __future__ import annotations

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, ParallelSum, family, index
from derive.calculus import Calculus, contract
from derive.canonical import canonical, fold
from derive.downdate import record_variational_downdate
from derive.energetic import Energetic
from derive.free_energy import FreeEnergy, Spectral, assembled, conjugate_pairs, psi_families
from derive.output import directions_of
from derive.symbols import (
    BETA,
    FRACTION,
    Q1_HAT,
    Q2_HAT,
    RIDGE,
    SYMMETRIC,
    V1_HAT,
    V2_HAT,
    ZETA,
    ZETA_HAT,
    T,
)  # fmt: skip
from derive.trace import Recorder

B, C, E, X = index("b"), index("c"), index("e"), index("x")
SIGMA = family("Sigma")  # Sigma[b, x]: eigenvalue of the covariance of block b, in units of the mean one
LAW_TR, LAW_VV = family("law_tr"), family("law_vv")
PX, SX, MX = family("Px"), family("Sx"), family("Mx")
_SOURCE = "THEORY section 5"


def law_families(directions: int) -> tuple[str, ...]:
    """Names of the weights over the spectrum: of the trace, and between the spike and all directions beside it."""
    beside = range(directions)
    pairs = tuple(_between(i, j, directions) for i in beside for j in beside if i <= j)
    return ("law_tr", "law_vv", *directions_of("law_vo", directions), *pairs)


def _between(i: int, j: int, directions: int) -> str:
    return "law_oo" if directions == 1 else f"law_oo_{min(i, j) + 1}_{max(i, j) + 1}"


def trained_free_energy(energetic: Energetic) -> FreeEnergy:
    """Free energy of an energetic part with rows of covariance Sigma_b. Source: [CUI24] App. C; THEORY section 5."""
    trace = Recorder("Replica-symmetric free energy, trained bulk")
    spectral = _potential(trace)
    record_variational_downdate(trace)
    pairing = spike_outside(trace, energetic.directions)
    return assembled(trace, energetic, pairing, spectral, _quadratic_form(trace, energetic.directions))


def spike_outside(trace: Recorder, directions: int) -> sp.Expr:
    """Order parameters times their conjugates where the source along the spike is that of the whole bulk."""
    pairing = conjugate_pairs(directions) - BlockSum(BlockSum(V1_HAT[B, C] * ZETA[B] * ZETA[C], B), C) / 2
    trace.record("spike outside", sp.Symbol("pairs"), pairing, kind="definition", source=_SOURCE,
                 rule="$\\hat{\\zeta}$ is the source along $Wv$ of the whole bulk: $Q^{(1)}+\\zeta\\zeta^T$ is the "
                 "overlap before the downdate of $WW^T$ by $(Wv)(Wv)^T$")  # fmt: skip
    return pairing


def _potential(trace: Recorder) -> Spectral:
    """P_x, the definitions of S_x and M_x, and the equation of T, from the potential of rows of covariance Sigma."""
    weighted = T[C] * SIGMA[C, X]
    inverse = MatrixInverse("Px", B, C, sp.KroneckerDelta(B, C) + V1_HAT[B, C] * weighted, (X,))
    trace.record("Px", sp.Symbol("Px^-1"), inverse.entry, kind="definition", source=_SOURCE,
                 rule="the matrix under the logarithm at a point $x$ of the spectrum, and its inverse")  # fmt: skip
    potential = BlockSum(T[B] * (RIDGE + V2_HAT[B]) - BETA * FRACTION[B] * sp.log(T[B]), B)
    potential += BlockSum(LAW_TR[X] * LogDet("Px", X), X)
    trace.record("spectral potential", sp.Symbol("L"), potential, kind="assumption", source=_SOURCE,
                 rule="the log-determinant of $\\lambda+\\hat{V}^{(2)}+\\hat{V}^{(1)}WW^T$ in the proportional limit, "
                 "extremal in $T$, for rows of covariance $\\Sigma_b$",
                 assumption="Gaussian bulk rows whose covariances share eigenvectors, all dimensions "
                 "proportional")  # fmt: skip
    s_definition = Definition("Sx", (B, C, X), BlockSum(PX[B, E, X] * V1_HAT[E, C], E))
    trace.record("Sx", SX[B, C, X], s_definition.body, kind="definition", source=_SOURCE,
                 rule="$S_x=P_x\\hat{V}^{(1)}$")  # fmt: skip
    m_definition = Definition("Mx", (B, C, X), T[B] * SIGMA[B, X] * PX[B, C, X])
    trace.record("Mx", MX[B, C, X], m_definition.body, kind="definition", source=_SOURCE,
                 rule="the response at a point $x$ of the spectrum, "
                 "$M_x=((T\\Sigma_x)^{-1}+\\hat{V}^{(1)})^{-1}$")  # fmt: skip
    calculus = Calculus(inverses={"Px": inverse})
    stationarity = canonical(contract(fold(calculus.derivative(potential, T[B]), s_definition)))
    trace.record("T", sp.S.Zero, stationarity, kind="result", source=_SOURCE,
                 rule="stationarity of the potential in $T_b$")  # fmt: skip
    response = fold(calculus.derivative(potential, V1_HAT[C, B]), m_definition)
    trace.record("response", sp.Symbol("pbar"), response, kind="result", source=_SOURCE,
                 rule="the derivative of the potential along $\\hat{V}^{(1)}_{bc}$")  # fmt: skip
    diagonal = sp.KroneckerDelta(B, C) * T[B] * SIGMA[B, X]
    parallel = (
        ParallelSum("Sx", B, C, V1_HAT[B, C], diagonal, "Px", transposed=False, over=(X,)),
        ParallelSum("Mx", B, C, diagonal, V1_HAT[B, C], "Px", transposed=True, over=(X,)),
    )
    return Spectral(inverse, (s_definition, m_definition), parallel, stationarity)


def _quadratic_form(trace: Recorder, directions: int) -> sp.Expr:
    """R before the downdate: the sources between each other, the potential along the other conjugates."""
    hats = [hat for _, hat in psi_families(directions)]
    along = zip(directions_of("law_vo", directions), hats, strict=True)
    kernel = LAW_VV[X] * ZETA_HAT[B] * ZETA_HAT[C] + LAW_TR[X] * Q1_HAT[B, C] / BETA
    # symmetric in (b, c), as the derivative along the symmetric V1_hat has to be
    kernel += sp.Add(
        *(family(name)[X] * (ZETA_HAT[B] * hat[C] + hat[B] * ZETA_HAT[C]) for name, hat in along)
    )
    for i, one in enumerate(hats):
        for j, other in enumerate(hats):
            kernel += family(_between(i, j, directions))[X] * one[B] * other[C]
    quadratic = (
        BlockSum(BlockSum(BlockSum(kernel * MX[B, C, X], B), C), X) + BlockSum(Q2_HAT[B] * T[B], B) / BETA
    )
    quadratic = canonical(quadratic, SYMMETRIC)
    trace.record("entropic part", sp.Symbol("R"), quadratic, kind="definition", source=_SOURCE,
                 rule="the Gaussian integral over the readout: sources $\\hat{\\zeta}$ along the spike and "
                 "$\\hat{\\psi}$ along the rest of the target, which the covariance of the rows couples")  # fmt: skip
    return quadratic
