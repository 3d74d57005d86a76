"""The replica-symmetric free energy of the readout: one functional of a spectral law, for any number of blocks.

Its energetic part averages the Moreau envelope of the loss over the conditional Gaussian output; its entropic part is
what the integral over the readouts leaves. Derived from the replicated partition function in ``derive.replica``.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, index
from derive.canonical import canonical
from derive.energetic import Energetic
from derive.operations import COMPOSED, computed, equal
from derive.replica.bulk import Spectral, quadratic_form, spectral_potential, spike_response
from derive.replica.neurons import neuron_form, neuron_potential
from derive.replica.readout import conjugate_pairs, gaussian_integral, zeta_families
from derive.replica.stand_in import pull_of, record_stand_in
from derive.replica.stretched import stretched_potential
from derive.replica.stretched_form import stretched_form
from derive.spectrum import ISOTROPIC, SpectralLaw
from derive.symbols import BETA, INVERSE_DIMENSION, M_, SYMMETRIC, V1_HAT, T
from derive.trace import Claim, Derivation, Recorder

B, C = index("b"), index("c")
M_HAT = sp.Symbol("m_hat", real=True)


@dataclass(frozen=True)
class FreeEnergy:
    """Phi per input dimension; the quadratic form R of the entropic part enters it with the factor ``weight_of_R``."""

    law: SpectralLaw
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


def free_energy(energetic: Energetic, law: SpectralLaw = ISOTROPIC) -> FreeEnergy:
    """Free energy of an energetic part with the bulk of a spectral law: entropic part and term of finite size added.

    Source: [CUI24] App. C eq. (60)-(90), (108)-(116); THEORY sections 4, 10 and 11.
    """
    trace = Recorder("Replica-symmetric free energy" + f", {law.title}" * bool(law.title), (energetic.derivation,))
    with trace.between():
        pairing = conjugate_pairs(trace, energetic.directions, energetic.spikes, law.norms)
        gaussian_integral(trace, law.norms)
        record_stand_in(trace, law)
    if law.rows == "stretched":
        spectral = stretched_potential(trace, law)
        spectral, R = stretched_form(trace, law, spectral, energetic.directions, energetic.spikes)
    elif law.rows == "neurons":
        spectral = neuron_potential(trace, law)
        spectral, R = neuron_form(trace, law, spectral, energetic.directions, energetic.spikes)
    else:
        spectral = spectral_potential(trace, law)
        R = quadratic_form(trace, law, spectral, energetic.directions, energetic.spikes)
    pairing, R = _without_spike(trace, law, energetic, pairing, R)
    finite = _finite_size(trace, law)
    trace.derive(
        "free energy",
        sp.Symbol("free_energy"),
        computed(
            "add",
            "energetic part, conjugate pairs, entropic part and the term of finite size",
            "energetic part",
            _last(trace, "conjugate pairs"),
            _last(trace, "entropic part"),
            "finite size",
            by=lambda energy, pairs, form, size: energy + BETA * (pairs - form / 2) + size,
            test=COMPOSED,
        ),
        "[CUI24] eq. (86)-(90)",
    )
    entropic = BETA * (pairing - R / 2)
    return FreeEnergy(law, energetic, entropic, finite, R, -BETA / 2, spectral, trace.finish())


def _last(trace: Recorder, label: str) -> str:
    """The step after the spike was taken out, where it was."""
    reduced = f"{label}, spike taken out"
    return reduced if trace.has(reduced) else label


def _without_spike(
    trace: Recorder, law: SpectralLaw, energetic: Energetic, pairing: sp.Expr, R: sp.Expr
) -> tuple[sp.Expr, sp.Expr]:
    """Pairs and R with zeta_hat the source across the spike, where the response along it closes; else unchanged.

    ``extr over zeta_hat of {zeta_hat zeta - zeta_hat I zeta_hat/2} - zeta V1_hat zeta/2`` is the same function of zeta
    as ``extr over zeta_hat of {zeta_hat zeta - zeta_hat I_perp zeta_hat/2}``.
    """
    with trace.between():
        after = spike_response(trace, law, energetic.spikes)
    if after is None:
        return pairing, R
    name = next(step.label for step in trace.finish().steps if step.lhs == sp.Symbol("I_perp"))
    pairs = trace.derive(
        "conjugate pairs, spike taken out",
        sp.Symbol("pairs"),
        computed(
            "extremise",
            "$\\hat{\\zeta}$ and the term of $\\hat{V}^{(1)}\\zeta\\zeta^T$ make one quadratic form of $\\zeta$, "
            "written with the source across the spike, which keeps the name $\\hat{\\zeta}$",
            "conjugate pairs",
            name,
            by=lambda body, _: body + _along_spike(energetic.spikes) / 2,
            test=Claim(lambda pairs, *_: (_curvature(pairs, 0, energetic.spikes), _zeros(energetic.spikes))),
        ),
        "[CUI24] eq. (108)-(116)",
    )
    reduced = trace.derive(
        "entropic part, spike taken out",
        sp.Symbol("R"),
        computed(
            "substitute",
            "the response along the spike after the downdate",
            "entropic part",
            name,
            by=lambda body, response: _with_response(body, response, energetic.spikes),
            test=Claim(
                lambda found, body, _: (
                    sp.Tuple(_without_sources(body, energetic.spikes), *_curvature(found, 1, energetic.spikes)),
                    sp.Tuple(_without_sources(found, energetic.spikes), *_diagonal(energetic.spikes)),
                )
            ),
        ),
        "[CUI24] eq. (108)-(116)",
    )
    return pairs, reduced


def _along_spike(spikes: int) -> sp.Expr:
    """sum_bc V1_hat_bc zeta_b zeta_c, over the directions of the spike."""
    squares = sp.Add(*(zeta[B] * zeta[C] for zeta, _ in zeta_families(spikes)))
    return BlockSum(BlockSum(V1_HAT[B, C] * squares, B), C)


def _curvature(body: sp.Expr, which: int, spikes: int) -> sp.Tuple:
    """Second derivatives in zeta (0) or in zeta_hat (1) between blocks, for every direction of the spike."""
    families = [pair[which] for pair in zeta_families(spikes)]
    return sp.Tuple(*(sp.Derivative(body, each[B], each[C], evaluate=False) for each in families))


def _zeros(spikes: int) -> sp.Tuple:
    return sp.Tuple(*([sp.S.Zero] * spikes))


def _diagonal(spikes: int) -> sp.Tuple:
    """Twice the response T of a block with itself, and none between blocks."""
    return sp.Tuple(*([2 * T[B] * sp.KroneckerDelta(B, C)] * spikes))


def _without_sources(body: sp.Expr, spikes: int) -> sp.Expr:
    hats = [hat for _, hat in zeta_families(spikes)]
    return body.replace(lambda e: isinstance(e, sp.Indexed) and e.base in hats, lambda _: sp.S.Zero)


def _with_response(R: sp.Expr, response: sp.MatrixExpr, spikes: int) -> sp.Expr:
    """R with the sources along the spike on another, diagonal response."""
    factor, (matrix,) = response.as_coeff_matrices() if isinstance(response, sp.MatMul) else (sp.S.One, [response])
    if str(matrix) != "T":
        raise ValueError(f"the response along the spike, {response}, is not a multiple of T")
    along = sp.Add(*(BlockSum(factor * T[B] * hat[B] ** 2, B) for _, hat in zeta_families(spikes)))
    return canonical(_without_sources(R, spikes) + along, SYMMETRIC)


def _finite_size(trace: Recorder, law: SpectralLaw) -> sp.Expr:
    """The overlap m along the constant direction of every block: its own conjugate, of order 1/d in Phi."""
    trace.assume(
        "response of the constant direction",
        sp.Symbol("1_b A^-1 1_b"),
        T[B] / INVERSE_DIMENSION,
        "$1_b\\cdot A^{-1}1_b$ to be the trace of $A^{-1}$ over block $b$, $d\\,T_b$",
        source="THEORY section 6",
        assumption="the constant direction is like any other, and no other term of order 1/d grows with $m$",
    )
    trace.derive(
        "pair of m",
        sp.Symbol("Phi_m") / BETA,
        computed(
            "add",
            "the overlap $m_b=1_b\\cdot a_b/\\sqrt{p}$ with its conjugate, and the source "
            "$\\sqrt{p}\\,\\hat{m}\\,1_b$ on the inverse",
            "response of the constant direction",
            by=lambda response: M_HAT * M_[B] - response * M_HAT**2 / 2,
            test=COMPOSED,
        ),
        "THEORY section 6",
        shown=False,
    )
    return trace.derive(
        "finite size",
        sp.Symbol("Phi_m"),
        computed(
            "extremise",
            "stationarity in $\\hat{m}$, summed over blocks; kept on request",
            "pair of m",
            by=lambda pair: _extremal(pair) + pull_of(law),
            test=equal(lambda pair: _parabola(pair) + pull_of(law)),
        ),
        "THEORY section 6",
    )


def _parabola(pair: sp.Expr) -> sp.Expr:
    """-p'^2/(2 p'') of a quadratic function of m_hat without constant, its slopes at zero; summed over blocks."""
    slope, curvature = (sp.Subs(sp.Derivative(pair, (M_HAT, k)), M_HAT, 0) for k in (1, 2))
    return -BETA * BlockSum(slope**2 / (2 * curvature), B)


def _extremal(pair: sp.Expr) -> sp.Expr:
    (root,) = sp.solve(sp.diff(pair, M_HAT), M_HAT)
    of_block = sp.simplify(pair.subs(M_HAT, root)) / INVERSE_DIMENSION
    return BETA * INVERSE_DIMENSION * BlockSum(of_block, B)
