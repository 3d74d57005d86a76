"""The replica-symmetric free energy of the readout, for any number of blocks K (THEORY section 4).

The energetic part averages the Moreau envelope of the loss over the conditional Gaussian output; the entropic part
comes from a spectral potential of the weights whose stationary point gives T, whose derivative gives M, and from one
Sherman-Morrison step that takes the spike out of the quadratic form.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, ParallelSum, family, index
from derive.calculus import Calculus
from derive.canonical import canonical, fold
from derive.downdate import record_downdate
from derive.energetic import Energetic
from derive.output import directions_of
from derive.symbols import (
    BETA,
    FRACTION,
    INVERSE_DIMENSION,
    M_,
    Q1,
    Q1_HAT,
    Q2,
    Q2_HAT,
    RIDGE,
    SYMMETRIC,
    V1,
    V1_HAT,
    V2,
    V2_HAT,
    M,
    P,
    S,
    T,
)  # fmt: skip
from derive.trace import Derivation, Recorder

B, C, E = index("b"), index("c"), index("e")


@dataclass(frozen=True)
class Spectral:
    """The bulk: ``inverse`` P = (1 + V1_hat T)^-1, ``definitions`` of S and M by it, their differentials, and the

    ``stationarity`` (index b) that fixes T; None where T is one of the definitions.
    """

    inverse: MatrixInverse
    definitions: tuple[Definition, ...]
    parallel: tuple[ParallelSum, ...]
    stationarity: sp.Expr | None


@dataclass(frozen=True)
class FreeEnergy:
    """Phi per input dimension; the quadratic form R of the entropic part enters it with the factor ``weight_of_R``."""

    energetic: Energetic
    entropic: sp.Expr
    finite_size: sp.Expr
    R: sp.Expr
    weight_of_R: sp.Expr
    spectral: Spectral
    derivation: Derivation

    @property
    def expression(self) -> sp.Expr:
        """Phi, the finite-size term included."""
        return self.energetic.expression + self.entropic + self.finite_size


def free_energy(energetic: Energetic) -> FreeEnergy:
    """Free energy of an energetic part: with the entropic part and the term of finite size.

    Source: [CUI24] App. C eq. (60)-(90), in the block form of THEORY section 4.
    """
    trace = Recorder("Replica-symmetric free energy")
    spectral = spectral_potential(trace)
    R = _entropic_quadratic_form(trace, energetic.directions, energetic.spikes)
    return assembled(trace, energetic, conjugate_pairs(energetic.directions, energetic.spikes), spectral, R)


def conjugate_pairs(directions: int, spikes: int = 1) -> sp.Expr:
    """Order parameters times their conjugates, as they enter Phi/beta."""
    overlaps = (*zeta_families(spikes), *psi_families(directions))
    return (
        BlockSum(sp.Add(*(hat[B] * overlap[B] for overlap, hat in overlaps)), B)
        + (
            BlockSum(BlockSum(Q1_HAT[B, C] * V1[B, C] - V1_HAT[B, C] * Q1[B, C], B), C)
            + BlockSum(Q2_HAT[B] * V2[B] - V2_HAT[B] * Q2[B], B)
        )
        / 2
    )


def assembled(
    trace: Recorder, energetic: Energetic, pairing: sp.Expr, spectral: Spectral, R: sp.Expr
) -> FreeEnergy:
    """Energetic part, conjugate pairs, entropic part R and the term of finite size in one functional."""
    entropic = BETA * (pairing - R / 2)
    finite = BETA * INVERSE_DIMENSION * BlockSum(M_[B] ** 2 / (2 * T[B]), B)
    trace.record("finite size", sp.Symbol("Phi_m"), finite, kind="assumption", source="THEORY section 6",
                 rule="the component of the readout along the constant direction of block $b$ has the response "
                 "$T_b/\\beta$ of that block; its cost is of order 1/d and kept on request",
                 assumption="no other term of order 1/d grows with the overlap m")  # fmt: skip
    trace.record(
        "free energy",
        sp.Symbol("free_energy"),
        energetic.expression + entropic + finite,
        kind="definition",
        source="[CUI24] eq. (86)-(90)",
        rule="energetic part, conjugate pairs, entropic part and the term of finite size",
    )
    return FreeEnergy(energetic, entropic, finite, R, -BETA / 2, spectral, trace.finish())


def psi_families(directions: int) -> tuple[tuple[sp.IndexedBase, sp.IndexedBase], ...]:
    """(psi, psi_hat) for each direction of the target beside the spike."""
    return _families("psi", directions)


def zeta_families(spikes: int) -> tuple[tuple[sp.IndexedBase, sp.IndexedBase], ...]:
    """(zeta, zeta_hat) for each direction of the spike."""
    return _families("zeta", spikes)


def _families(name: str, count: int) -> tuple[tuple[sp.IndexedBase, sp.IndexedBase], ...]:
    names = zip(directions_of(name, count), directions_of(f"{name}_hat", count), strict=True)
    return tuple((family(overlap), family(hat)) for overlap, hat in names)


def spectral_potential(trace: Recorder) -> Spectral:
    """P, the definitions of S and M, and the equation of T, from the potential of an isotropic bulk."""
    inverse = MatrixInverse("P", B, C, sp.KroneckerDelta(B, C) + V1_HAT[B, C] * T[C])
    trace.record(
        "P",
        sp.Symbol("P^-1"),
        inverse.entry,
        kind="definition",
        source="THEORY section 4",
        rule="the matrix under the logarithm, row $b$ and column $c$, and its inverse $P$",
    )
    potential = BlockSum(T[B] * (RIDGE + V2_HAT[B]) - BETA * FRACTION[B] * sp.log(T[B]), B) + LogDet("P")
    trace.record("spectral potential", sp.Symbol("L"), potential, kind="assumption", source="[CUI24] App. D; [LOU24]",
                 rule="the log-determinant of $\\lambda+\\hat{V}^{(2)}+\\hat{V}^{(1)}WW^T$ in the proportional limit, "
                 "extremal in $T$",
                 assumption="isotropic Gaussian bulk rows, all dimensions proportional")  # fmt: skip
    s_definition = Definition("S", (B, C), BlockSum(P[B, E] * V1_HAT[E, C], E))
    trace.record(
        "S",
        S[B, C],
        s_definition.body,
        kind="definition",
        source="THEORY section 4",
        rule="$S=P\\hat{V}^{(1)}$, which is the inverse of $T$ plus the inverse of $\\hat{V}^{(1)}$ without inverting "
        "either",
    )
    calculus = Calculus(inverses={"P": inverse})
    stationarity = fold(calculus.derivative(potential, T[B]), s_definition)
    trace.record(
        "T",
        sp.S.Zero,
        stationarity,
        kind="result",
        source="[CUI24] App. D",
        rule="stationarity of the potential in $T_b$, the Marchenko-Pastur equation",
    )
    m_definition = Definition("M", (B, C), calculus.derivative(potential, V1_HAT[C, B]))
    trace.record(
        "M",
        M[B, C],
        m_definition.body,
        kind="result",
        source="[CUI24] App. D",
        rule="the derivative of the potential along $\\hat{V}^{(1)}$",
    )
    diagonal = sp.KroneckerDelta(B, C) * T[B]
    parallel = (
        ParallelSum("S", B, C, V1_HAT[B, C], diagonal, "P", transposed=False),
        ParallelSum("M", B, C, diagonal, V1_HAT[B, C], "P", transposed=True),
    )
    return Spectral(inverse, (s_definition, m_definition), parallel, stationarity)


def _entropic_quadratic_form(trace: Recorder, directions: int, spikes: int) -> sp.Expr:
    record_downdate(trace, spikes)
    along = [BlockSum(T[B] * hat[B] ** 2, B) for _, hat in zeta_families(spikes)]
    rest = [BlockSum(BlockSum(hat[B] * M[B, C] * hat[C], B), C) for _, hat in psi_families(directions)]
    quadratic = (
        sp.Add(*along, *rest)
        + (BlockSum(BlockSum(Q1_HAT[B, C] * M[B, C], B), C) + BlockSum(Q2_HAT[B] * T[B], B)) / BETA
    )
    quadratic = canonical(quadratic, SYMMETRIC)
    trace.record("entropic part", sp.Symbol("R"), quadratic, kind="definition", source="[CUI24] eq. (108)-(116)",
                 rule=f"the Gaussian integral over the readout: sources $\\hat{{\\zeta}}$ along {_spike(spikes)}, "
                 "$\\hat{\\psi}$ along the rest of the target, and the potential differentiated along "
                 "$\\hat{q}^{(1)}$ and $\\hat{q}^{(2)}$")  # fmt: skip
    return quadratic


def _spike(spikes: int) -> str:
    return "the spike" if spikes == 1 else f"the {spikes} directions of the spike"
