"""What the readout gains from rows that are stretched by blocks: its sources on their responses [THEORY 5].

The sources lie along the target theta and along epsilon, what the spike has of the batch's noise:
``v = gamma theta + rho epsilon``. A sample has theta.x = t, and epsilon is a sum over samples. So is what the norms of
the rows go with, of coefficients ``along``. Leaving one sample out, or two, makes averages of these. ``spread`` is the
deviation of rows along the spike that comes from unequal norms at initialisation. Every quantity here is one of the
equations, so that derivatives go from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, family, index
from derive.canonical import canonical
from derive.operations import computed
from derive.replica.bulk import Spectral, norms_alone
from derive.spectrum import SpectralLaw, X
from derive.symbols import BETA, NORM_HAT, PSI_HAT, Q1_HAT, Q2_HAT, SYMMETRIC, ZETA_HAT, T
from derive.trace import Claim, Recorder

B, C = index("b"), index("c")
P, Q, R = index("p"), index("q"), index("r")
_SOURCE = "THEORY section 5"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"
_gamma, _rho, _spread, _upper = family("gamma"), family("rho"), family("spread"), family("upper")
_mean, _along = family("Res"), family("Res_theta")  # the resolvent of what samples stand in: its mean, and along theta
_cross, _own = family("X_cross"), family("X_own")
_h_theta, _h_noise, _h_left = family("h_theta"), family("h_noise"), family("h_left")
_back, _back_left = family("put_back"), family("put_left")
_t, _e = family("law_t"), family("law_e")


def stretched_form(trace: Recorder, law: SpectralLaw, spectral: Spectral) -> tuple[Spectral, sp.Expr]:
    """(the bulk with what R is made of, R): the sources on the responses, and the potential along the conjugates that
    couple replicas.
    """
    turned = _turned(trace)
    norms = _norms_assumed(trace)
    found = (*_responses(trace, spectral.response), *_on_samples(trace), *_fields(trace), *_around_spike(trace))
    update = _update(trace)
    form = trace.derive(
        "entropic part",
        sp.Symbol("R"),
        computed(
            "sum over directions",
            "$j\\cdot A^{-1}j/p$ by the fields that the sources along $\\theta$ and $\\epsilon$ make, "
            "$\\hat{\\zeta}$ along the spike and $\\hat{\\psi}$ along the rest of the target; "
            "$\\mathrm{Tr}\\,A^{-1}B/p$ as the derivative of the potential along $\\hat{q}^{(1)}$ and $\\hat{q}^{(2)}$",
            "entropic part of the readouts",
            "spectral potential",
            *(each.name for each in found),
            "response with a spread along the spike",
            norms,
            by=lambda *_: canonical(_sources() + _of_norms() + norms_alone(law) + _noise(), SYMMETRIC),
            test="puts recorded expressions together; nothing is carried out",
        ),
        law.source,
    )
    whole = replace(
        spectral,
        definitions=(*spectral.definitions, *turned),
        inverses=(*spectral.inverses, update),
        auxiliary=(*spectral.auxiliary, *found),
    )
    return whole, form


def _turned(trace: Recorder) -> tuple[Definition, ...]:
    """The sources ``zeta_hat v + psi_hat theta_perp`` along theta and epsilon."""
    bodies = {
        "j_theta": _gamma[B] * ZETA_HAT[B] + _rho[B] * PSI_HAT[B],
        "j_noise": _rho[B] * ZETA_HAT[B] - _gamma[B] * PSI_HAT[B],
    }
    words = "the sources $\\hat{\\zeta}v+\\hat{\\psi}\\theta_\\perp$ along $\\theta$ and $\\epsilon$"
    words += ", $v=\\gamma\\theta+\\varrho\\epsilon$"
    return tuple(_defined(trace, name, (B,), body, words) for name, body in bodies.items())


def _responses(trace: Recorder, response: sp.Expr) -> tuple[Definition, ...]:
    """The response along theta, and the sources in the rows that samples stand in."""
    of_theta = response.xreplace({family("G"): family("G_theta")})
    words = "the sources where samples stand, to the right and to the left"
    return (
        _assumed(trace, "M_theta", (B, C), of_theta, "$\\theta\\cdot W_b^TA^{-1}W_c\\theta$"),
        _defined(trace, "h_theta", (P,), BlockSum(family("H_theta")[C, P] * family("j_theta")[C], C), words),
        _defined(trace, "h_noise", (P,), BlockSum(family("H")[C, P] * family("j_noise")[C], C), words),
        _defined(trace, "h_left", (P,), BlockSum(family("H_left")[B, P] * family("j_noise")[B], B), words),
    )


def _on_samples(trace: Recorder) -> tuple[Definition, ...]:
    """The sources of the norms on a sample, each with its own presence."""
    right = BlockSum(NORM_HAT[B] * family("along")[B, P, X], B)
    left = BlockSum(T[B] * NORM_HAT[B] * family("along")[B, P, X], B)
    mean = BlockSum(_mean[P, Q] * family("norm_right")[Q, X], Q)
    back = family("norm_right")[P, X] - BlockSum(family("F")[P, Q, X] * family("norm_mean")[Q, X], Q)
    back_left = BlockSum(family("norm_left")[P, X] * family("D")[P, Q, X], P)
    words = "a source $\\hat{o}$ of the norms on the sums over samples that these go with"
    present = "its own presence counted"
    return (
        _defined(trace, "norm_right", (P, X), right, words),
        _defined(trace, "norm_left", (P, X), left, words + ", to the left"),
        _defined(trace, "norm_mean", (P, X), mean, "on the mean resolvent"),
        _defined(trace, "put_back", (P, X), back, f"on a sample, {present}"),
        _defined(trace, "put_left", (Q, X), back_left, f"on a sample, {present}, to the left"),
    )


def _fields(trace: Recorder) -> tuple[Definition, ...]:
    """What the sources make of the rows that samples stand in, along theta and along the spike."""
    on_theta = BlockSum(_cross[P, Q] * _h_noise[Q], Q) + BlockSum(_t[X] * _back[P, X], X)
    on_left = BlockSum(_h_left[P] * _cross[P, Q], P) + BlockSum(_t[X] * _back_left[Q, X], X)
    on_noise = BlockSum(_own[P, Q] * _h_noise[Q], Q) + BlockSum(_e[X] * _back[P, X], X)
    field = _h_theta[P] - BlockSum(_along[P, Q] * family("on_theta")[Q], Q)
    beside = _h_noise[P] - BlockSum(_mean[P, Q] * family("on_noise")[Q], Q)
    spike = BlockSum(family("spike_left")[B, P] * family("field_theta")[P] + _rho[B] * _upper[B, P] * beside, P)
    words = "sources on samples, epsilon and norms"
    return (
        _defined(trace, "on_theta", (P,), on_theta, f"{words}, weighed by $t=\\theta\\cdot x$"),
        _defined(trace, "on_left", (Q,), on_left, f"{words}, weighed by $t=\\theta\\cdot x$, to the left"),
        _defined(trace, "on_noise", (P,), on_noise, f"{words}, weighed by those of $\\epsilon$"),
        _assumed(trace, "field_theta", (P,), field, "what all sources make of the rows along $\\theta$"),
        _assumed(trace, "field", (B,), spike, "what all sources make of the rows along the spike"),
    )


def _around_spike(trace: Recorder) -> tuple[Definition, ...]:
    """S T between the spike and itself, S = (1/V1_hat + T Sigma)^-1: the resolvent between theta and epsilon."""
    left, right = family("spike_left"), family("spike_right")
    before = _gamma[B] * _upper[B, P] - _rho[B] * BlockSum(_upper[B, R] * BlockSum(_mean[R, Q] * _cross[Q, P], Q), R)
    after = _gamma[C] * _upper[C, P] - _rho[C] * BlockSum(_cross[P, Q] * BlockSum(_mean[Q, R] * _upper[C, R], R), Q)
    through = BlockSum(left[B, P] * BlockSum(_along[P, Q] * right[C, Q], Q), P)
    plain = BlockSum(_upper[B, P] * BlockSum(_mean[P, Q] * _upper[C, Q], Q), P)
    inner = BlockSum(_own[Q, R] * BlockSum(_mean[R, index("s")] * _upper[C, index("s")], index("s")), R)
    noisy = BlockSum(_upper[B, P] * BlockSum(_mean[P, Q] * inner, Q), P)
    words = "the spike in the rows that samples stand in"
    return (
        _defined(trace, "spike_left", (B, P), before, f"{words}, to the left"),
        _defined(trace, "spike_right", (C, P), after, f"{words}, to the right"),
        _assumed(
            trace,
            "S_spike",
            (B, C),
            through + _rho[B] * _rho[C] * (plain - noisy),
            "$ST$ between the spike and itself, $S=P\\hat{V}^{(1)}$, $P=(1+\\hat{V}^{(1)}T\\Sigma)^{-1}$",
        ),
    )


def _update(trace: Recorder) -> MatrixInverse:
    """What the spread of the rows along the spike makes of a field along it."""
    size = sp.Symbol("K", integer=True, positive=True)
    before, spread, hat = (sp.MatrixSymbol(name, size, size) for name in ("TSigma", "D", "Vhat_1"))
    inverse = sp.Inverse(sp.MatAdd(sp.Identity(size), hat * before))
    trace.define("response along the spike", sp.Symbol("M_v"), before * inverse, "without a spread of rows", _SOURCE)
    trace.derive(
        "response with a spread along the spike",
        sp.Symbol("M_s"),
        computed(
            "update",
            "$\\Sigma_b\\to\\Sigma_b+s_b^2vv^T$, $D=Ts^2$: the response gains $P^TD(1+SD)^{-1}P$",
            "response along the spike",
            by=lambda _: _updated(before, spread, hat, inverse),
            test=Claim(lambda found, _: (_with_spread(before, spread, hat), found)),
        ),
        "Woodbury (1950)",
    )
    entry = sp.KroneckerDelta(B, C) + _spread[B] * family("S_spike")[B, C] * _spread[C]
    trace.define("U", sp.Symbol("U^-1"), entry, "$1+s\\,ST\\,s$ along the spike, and its inverse", _SOURCE)
    return MatrixInverse("U", B, C, entry)


def _updated(before: Any, spread: Any, hat: Any, inverse: Any) -> Any:
    one, through = sp.Identity(before.shape[0]), inverse * hat
    gained = (one - before * through) * spread * sp.Inverse(sp.MatAdd(one, through * spread)) * inverse
    return sp.MatAdd(before * inverse, gained)


def _with_spread(before: Any, spread: Any, hat: Any) -> Any:
    after = sp.MatAdd(before, spread)
    return after * sp.Inverse(sp.MatAdd(sp.Identity(before.shape[0]), hat * after))


def _norms_assumed(trace: Recorder) -> str:
    """The fluctuations of the norms on the inverse: the assumption's label."""
    trace.assume(
        "norms on the inverse",
        sp.Tuple(*sp.symbols("l.A^-1.l/d l.A^-1.W_cu")),
        sp.Tuple(*sp.symbols("T_bchi_b-T_bk_b.S.k_cT_c T_bk_b.P.u")),
        "fluctuations $\\delta$ and rows to be Gaussian with the covariance $k_b$, a sum over samples: by Stein's "
        "lemma $\\delta$ acts as the source $T_bk_b$ on the rows, beside a part independent of these",
        source=_SOURCE,
        assumption="squared norms vary by order $d^{-1/2}$, $c_b(1+\\delta_k/\\sqrt{d})$",
    )
    return "norms on the inverse"


def _sources() -> sp.Expr:
    """All sources on the responses: along theta, along epsilon, and between these by samples."""
    along, noise = family("j_theta"), family("j_noise")
    direct = along[B] * along[C] * family("M_theta")[B, C] + noise[B] * noise[C] * family("M")[B, C]
    found = BlockSum(BlockSum(direct, B), C)
    found += BlockSum(family("on_left")[P] * (_h_theta[P] + family("field_theta")[P]), P)
    return found + BlockSum(_h_left[P] * BlockSum(_own[P, Q] * _h_noise[Q], Q), P)


def _of_norms() -> sp.Expr:
    """What the norms add by single samples, and the spread along the spike."""
    mean, spike = family("norm_mean"), family("field")
    samples = BlockSum(2 * _e[X] * BlockSum(_back_left[P, X] * _h_noise[P], P), X)
    samples -= BlockSum(family("law_own")[X] * BlockSum(_back_left[P, X] * mean[P, X], P), X)
    other = BlockSum(family("U")[B, C] * _spread[C] * spike[C], C)
    return samples + BlockSum(T[B] * _spread[B] * spike[B] * other, B)


def _noise() -> sp.Expr:
    """The derivative of the potential along q1_hat and q2_hat, over beta; at its extremum T, s and X do not move."""
    along = BlockSum(BlockSum(Q1_HAT[B, C] * family("M")[B, C], B), C)
    return (along + BlockSum(Q2_HAT[B] * T[B], B)) / BETA


def _defined(trace: Recorder, name: str, places: Sequence[sp.Symbol], body: sp.Expr, words: str) -> Definition:
    trace.define(name, family(name)[tuple(places)], body, words, _SOURCE)
    return Definition(name, tuple(places), body)


def _assumed(trace: Recorder, name: str, places: Sequence[sp.Symbol], body: sp.Expr, words: str) -> Definition:
    words += ", to be that of matrices of which a sample, or two, are left out"
    trace.assume(name, family(name)[tuple(places)], body, words, source=_SOURCE, assumption=_LIMIT)
    return Definition(name, tuple(places), body)
