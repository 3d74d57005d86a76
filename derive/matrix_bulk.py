"""The free energy with a given bulk W: integrals over its singular values, and no law of its rows.

With W = sum_x sqrt(rho_x) e_x f_x^T the resolvent of ``lambda + V2_hat + V1_hat W W^T`` is a sum over x: ``law_rows``
counts neurons per input dimension (those that W does not reach have rho = 0), ``law_vv``, ``law_vo`` and ``law_oo`` are
products of the projections of spike and target on the f_x. One block: a common spectral form of several does not exist.
"""

from __future__ import annotations

import sympy as sp

from derive.blocks import BlockSum, Definition, LogDet, MatrixInverse, family, index
from derive.calculus import Calculus
from derive.canonical import canonical
from derive.downdate import record_variational_downdate
from derive.energetic import Energetic
from derive.free_energy import FreeEnergy, Spectral, assembled
from derive.symbols import BETA, PSI_HAT, Q1_HAT, Q2_HAT, RIDGE, SYMMETRIC, V1_HAT, V2_HAT, ZETA_HAT, T
from derive.trace import Recorder
from derive.trained_bulk import LAW_VV, PX, spike_outside

B, C, X = index("b"), index("c"), index("x")
SPECTRUM, LAW_ROWS = family("spectrum"), family("law_rows")
GIVEN = ("spectrum", "law_rows", "law_vv", "law_vo", "law_oo")
_SOURCE = "[CUI24] eq. (108)-(116); THEORY section 4"


def matrix_free_energy(energetic: Energetic) -> FreeEnergy:
    """Free energy of an energetic part with a given bulk, of one block. Source: [CUI24] eq. (108)-(116)."""
    if energetic.directions != 1 or energetic.spikes != 1:
        raise ValueError("the spectral form of a given bulk is that of one spike and one index of the target")
    trace = Recorder("Replica-symmetric free energy, given bulk")
    spectral = _potential(trace)
    record_variational_downdate(trace)
    pairing = spike_outside(trace, energetic.directions)
    return assembled(trace, energetic, pairing, spectral, _quadratic_form(trace))


def _potential(trace: Recorder) -> Spectral:
    """The resolvent at a squared singular value, and T = beta V2 by the potential."""
    entry = sp.KroneckerDelta(B, C) * (RIDGE + V2_HAT[B]) + V1_HAT[B, C] * SPECTRUM[X]
    inverse = MatrixInverse("Px", B, C, entry, (X,))
    trace.record("Px", sp.Symbol("Px^-1"), entry, kind="definition", source=_SOURCE,
                 rule="$\\lambda+\\hat{V}^{(2)}+\\hat{V}^{(1)}\\rho$ at a squared singular value $\\rho_x$, and its "
                 "inverse")  # fmt: skip
    potential = BlockSum(LAW_ROWS[X] * LogDet("Px", X), X)
    trace.record("spectral potential", sp.Symbol("L"), potential, kind="definition", source=_SOURCE,
                 rule="$\\frac{1}{d}\\log\\det(\\lambda+\\hat{V}^{(2)}+\\hat{V}^{(1)}WW^T)$ by singular "
                 "values")  # fmt: skip
    calculus = Calculus(inverses={"Px": inverse})
    response = Definition("T", (B,), calculus.derivative(potential, V2_HAT[B]))
    trace.record("T", T[B], response.body, kind="result", source=_SOURCE,
                 rule="the derivative of the potential along $\\hat{V}^{(2)}$: the trace of the resolvent")  # fmt: skip
    along = calculus.derivative(potential, V1_HAT[C, B])
    trace.record("response", sp.Symbol("pbar"), along, kind="result", source=_SOURCE,
                 rule="the derivative of the potential along $\\hat{V}^{(1)}$")  # fmt: skip
    return Spectral(inverse, (response,), (), None)


def _quadratic_form(trace: Recorder) -> sp.Expr:
    vo, oo = family("law_vo"), family("law_oo")
    kernel = LAW_VV[X] * ZETA_HAT[B] * ZETA_HAT[C] + oo[X] * PSI_HAT[B] * PSI_HAT[C]
    kernel += vo[X] * (ZETA_HAT[B] * PSI_HAT[C] + PSI_HAT[B] * ZETA_HAT[C]) + LAW_ROWS[X] * Q1_HAT[B, C] / BETA
    quadratic = BlockSum(BlockSum(BlockSum(SPECTRUM[X] * kernel * PX[B, C, X], B), C), X)
    quadratic = canonical(quadratic + BlockSum(Q2_HAT[B] * T[B], B) / BETA, SYMMETRIC)
    trace.record("entropic part", sp.Symbol("R"), quadratic, kind="definition", source=_SOURCE,
                 rule="the Gaussian integral over the readout: sources $\\hat{\\zeta}$ along the spike and "
                 "$\\hat{\\psi}$ along the rest of the target")  # fmt: skip
    return quadratic
