"""What the readout gains from rows that are stretched by blocks: its sources on their responses [THEORY 5].

The sources lie along the directions theta_d of the target and along epsilon, what the spike has of the batch's noise:
``v = sum_d gamma_d theta_d + rho epsilon``. A sample has theta_d.x = t_d, and epsilon is a sum over samples. So is what
the norms of the rows go with, of coefficients ``along``. Leaving one sample out, or two, makes averages of these.
``place`` says where the rows of X stand in those of a direction d, which are taken together; ``place_left`` and
``place_right`` are those of the two directions of a pair e. ``spread`` is the deviation of rows along the spike that
comes from unequal norms at initialisation. Every quantity here is one of the equations, so that derivatives go from
one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from derive.blocks import BlockSum, Definition, MatrixInverse, family, index
from derive.canonical import canonical
from derive.directions import directions_of
from derive.operations import computed
from derive.replica.bulk import Spectral, norms_alone, norms_assumed
from derive.spectrum import SpectralLaw, X
from derive.symbols import BETA, NORM_HAT, Q1_HAT, Q2_HAT, SYMMETRIC, ZETA_HAT, T
from derive.trace import Claim, Recorder

B, C = index("b"), index("c")
P, Q, R, S = index("p"), index("q"), index("r"), index("s")
D, E = index("d"), index("e")  # of the target's directions; of pairs of them
ROW, COLUMN, L = index("i"), index("j"), index("l")  # rows of X for every direction
_SOURCE = "THEORY section 5"
_LIMIT = "x of a left-out sample is independent of the resolvent; d, n0 large at fixed ratio"
_gamma, _rho, _spread, _upper = family("gamma"), family("rho"), family("spread"), family("upper")
_place, _mean, _F = family("place"), family("Res"), family("F")
_cross, _own = family("X_cross"), family("X_own")
_h_noise, _h_left = family("h_noise"), family("h_left")
_back, _back_left = family("put_back"), family("put_left")
_t, _e = family("law_t"), family("law_e")
_mean_theta, _along = family("mean_theta"), family("along_theta")


def stretched_form(trace: Recorder, law: SpectralLaw, spectral: Spectral, directions: int) -> tuple[Spectral, sp.Expr]:
    """(the bulk with what R is made of, R): the sources on the responses, and the potential along the conjugates that
    couple replicas.
    """
    turned = _turned(trace, directions)
    norms = norms_assumed(trace, law.source, linear=True)
    found = (*_weighed(trace), *_along_theta(trace), *_responses(trace), *_on_samples(trace))
    inverses = (_inverse_along(trace), _update(trace))
    found += (*_fields(trace), *_around_spike(trace))
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
        inverses=(*spectral.inverses, *inverses),
        auxiliary=(*spectral.auxiliary, *turned, *found, *inverses),
    )
    return whole, form


def _turned(trace: Recorder, directions: int) -> tuple[Definition, ...]:
    """The sources ``zeta_hat v + sum_j psi_hat_j u_j`` along theta_d and epsilon; u_j: target beside the spike."""
    theta, noise = _gamma[D] * ZETA_HAT[B], _rho[B] * ZETA_HAT[B]
    names = (directions_of(name, directions) for name in ("psi_hat", "mix", "across"))
    for hat, mix, across in zip(*names, strict=True):
        theta += family(mix)[D] * family(hat)[B]
        noise += family(across)[B] * family(hat)[B]
    words = "the sources $\\hat{\\zeta}v+\\hat{\\psi}\\theta_\\perp$ along $\\theta$ and $\\epsilon$"
    words += ", $v=\\gamma\\theta+\\varrho\\epsilon$"
    return _defined(trace, "j_theta", (B, D), theta, words), _defined(trace, "j_noise", (B,), noise, words)


def _weighed(trace: Recorder) -> tuple[Definition, ...]:
    """What samples add, weighed by what they have along theta and epsilon."""
    cross = BlockSum(family("law_te")[D, X] * _F[P, Q, X], X)
    own = BlockSum(family("law_ee")[X] * _F[P, Q, X], X)
    along = BlockSum(family("law_along")[E, X] * _F[P, Q, X], X)
    words = "what samples add, weighed by their parts along"
    return (
        _defined(trace, "X_cross", (D, P, Q), cross, f"{words} $\\epsilon$ and $\\theta$"),
        _defined(trace, "X_own", (P, Q), own, f"{words} $\\epsilon$"),
        _defined(trace, "X_along", (E, P, Q), along, "what samples add, weighed by $tt^T-1$, for each pair of indices"),
    )


def _along_theta(trace: Recorder) -> tuple[Definition, ...]:
    """The mean resolvent, and what samples add beyond their mean, in the rows of all directions of the target."""
    mean = BlockSum(
        BlockSum(_place[D, P, ROW] * BlockSum(_mean[P, Q] * _place[D, Q, COLUMN], Q), P),
        D,
    )
    right = BlockSum(family("X_along")[E, P, Q] * family("place_right")[E, Q, COLUMN], Q)
    added = BlockSum(BlockSum(family("place_left")[E, P, ROW] * right, P), E)
    words = "for all directions of the target"
    return (
        _defined(trace, "mean_theta", (ROW, COLUMN), mean, f"the mean resolvent, {words}"),
        _defined(trace, "along_theta", (ROW, COLUMN), added, f"what samples add, {words}"),
    )


def _inverse_along(trace: Recorder) -> MatrixInverse:
    entry = family("unit_theta")[ROW, COLUMN] + BlockSum(_mean_theta[ROW, L] * _along[L, COLUMN], L)
    trace.define("Z", sp.Symbol("Z^-1"), entry, "what samples along $\\theta$ make of a field there", _SOURCE)
    return MatrixInverse("Z", ROW, COLUMN, entry, identity="unit_theta")


def _of_direction(row: sp.Expr) -> sp.Expr:
    """A row p of a direction d, in the rows i of all."""
    return BlockSum(BlockSum(_place[D, P, ROW] * row, P), D)


def _responses(trace: Recorder) -> tuple[Definition, ...]:
    """The sources in the rows that samples stand in."""
    of_theta, noise = family("j_theta"), family("j_noise")
    h_theta = _of_direction(BlockSum(family("H")[C, P] * of_theta[C, D], C))
    l_theta = _of_direction(BlockSum(family("H_left")[B, P] * of_theta[B, D], B))
    words = "the sources where samples stand, to the right and to the left"
    return (
        _defined(trace, "h_theta", (ROW,), h_theta, words),
        _defined(trace, "l_theta", (ROW,), l_theta, words),
        _defined(trace, "h_noise", (P,), BlockSum(family("H")[C, P] * noise[C], C), words),
        _defined(trace, "h_left", (P,), BlockSum(family("H_left")[B, P] * noise[B], B), words),
    )


def _on_samples(trace: Recorder) -> tuple[Definition, ...]:
    """The sources of the norms on a sample, each with its own presence."""
    right = BlockSum(NORM_HAT[B] * family("along")[B, P, X], B)
    left = BlockSum(T[B] * NORM_HAT[B] * family("along")[B, P, X], B)
    mean = BlockSum(_mean[P, Q] * family("norm_right")[Q, X], Q)
    back = family("norm_right")[P, X] - BlockSum(_F[P, Q, X] * family("norm_mean")[Q, X], Q)
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
    right = BlockSum(_cross[D, P, Q] * _h_noise[Q], Q) + BlockSum(_t[D, X] * _back[P, X], X)
    left = BlockSum(_h_left[Q] * _cross[D, Q, P], Q) + BlockSum(_t[D, X] * _back_left[P, X], X)
    on_noise = BlockSum(_own[P, Q] * _h_noise[Q], Q) + BlockSum(_e[X] * _back[P, X], X)
    other, inverse = family("on_samples"), family("Z")
    field = BlockSum(
        inverse[ROW, COLUMN] * (family("h_theta")[COLUMN] - BlockSum(_mean_theta[COLUMN, L] * other[L], L)), COLUMN
    )
    on_theta = BlockSum(_along[ROW, COLUMN] * family("field_theta")[COLUMN], COLUMN) + other[ROW]
    beside = _h_noise[P] - BlockSum(_mean[P, Q] * family("on_noise")[Q], Q)
    spike = BlockSum(family("spike_left")[B, ROW] * family("field_theta")[ROW], ROW)
    spike += _rho[B] * BlockSum(_upper[B, P] * beside, P)
    words = "sources on samples, epsilon and norms"
    return (
        _defined(trace, "on_samples", (ROW,), _of_direction(right), f"{words}, weighed by $t=\\theta\\cdot x$"),
        _defined(trace, "on_left", (ROW,), _of_direction(left), f"{words}, weighed by $t$, to the left"),
        _defined(trace, "on_noise", (P,), on_noise, f"{words}, weighed by those of $\\epsilon$"),
        _assumed(trace, "field_theta", (ROW,), field, "what all sources make of the rows along $\\theta$"),
        _defined(trace, "on_theta", (ROW,), on_theta, "what samples then have along $\\theta$"),
        _assumed(trace, "field", (B,), spike, "what all sources make of the rows along the spike"),
    )


def _around_spike(trace: Recorder) -> tuple[Definition, ...]:
    """S T between the spike and itself, S = (1/V1_hat + T Sigma)^-1: the resolvent between theta and epsilon."""
    left, right = family("spike_left"), family("spike_right")
    before = BlockSum(_upper[B, R] * BlockSum(_mean[R, Q] * _cross[D, Q, P], Q), R)
    after = BlockSum(_cross[D, P, Q] * BlockSum(_mean[Q, R] * _upper[C, R], R), Q)
    seen = BlockSum(_mean_theta[COLUMN, L] * right[C, L], L)
    through = BlockSum(left[B, ROW] * BlockSum(family("Z")[ROW, COLUMN] * seen, COLUMN), ROW)
    plain = BlockSum(_upper[B, P] * BlockSum(_mean[P, Q] * _upper[C, Q], Q), P)
    inner = BlockSum(_own[Q, R] * BlockSum(_mean[R, S] * _upper[C, S], S), R)
    noisy = BlockSum(_upper[B, P] * BlockSum(_mean[P, Q] * inner, Q), P)
    words = "the spike in the rows that samples stand in"
    return (
        _defined(
            trace,
            "spike_left",
            (B, ROW),
            _of_direction(_gamma[D] * _upper[B, P]) - _of_direction(_rho[B] * before),
            f"{words}, to the left",
        ),
        _defined(
            trace,
            "spike_right",
            (C, ROW),
            _of_direction(_gamma[D] * _upper[C, P]) - _of_direction(_rho[C] * after),
            f"{words}, to the right",
        ),
        _assumed(
            trace,
            "S_spike",
            (B, C),
            through + _rho[B] * _rho[C] * plain - _rho[B] * _rho[C] * noisy,
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


def _sources() -> sp.Expr:
    """All sources on the responses: directly, along theta by samples, and along epsilon by them."""
    of_theta, noise, response = family("j_theta"), family("j_noise"), family("M")
    direct = BlockSum(BlockSum(BlockSum(of_theta[B, D] * response[B, C] * of_theta[C, D], D), B), C)
    direct += BlockSum(BlockSum(noise[B] * noise[C] * response[B, C], B), C)
    by_samples = BlockSum(family("l_theta")[ROW] * family("on_theta")[ROW], ROW)
    by_samples += BlockSum(family("on_left")[ROW] * family("field_theta")[ROW], ROW)
    return direct + by_samples + BlockSum(_h_left[P] * BlockSum(_own[P, Q] * _h_noise[Q], Q), P)


def _of_norms() -> sp.Expr:
    """What the norms add by single samples and in the lower rows, and the spread along the spike."""
    mean, spike = family("norm_mean"), family("field")
    samples = BlockSum(2 * _e[X] * BlockSum(_back_left[P, X] * _h_noise[P], P), X)
    samples -= BlockSum(family("law_own")[X] * BlockSum(_back_left[P, X] * mean[P, X], P), X)
    samples -= _in_lower_rows()
    other = BlockSum(family("U")[B, C] * _spread[C] * spike[C], C)
    return samples + BlockSum(T[B] * _spread[B] * spike[B] * other, B)


def _in_lower_rows() -> sp.Expr:
    """The squared length of a sum over samples there: eliminating these rows, -1 without samples, leaves it over."""
    right, left = family("norm_right"), family("norm_left")
    there = BlockSum(family("lower")[ROW, P], ROW)
    same = BlockSum(family("law_own")[X] * BlockSum(there * left[P, X] * right[P, X], P), X)
    ends = (BlockSum(_t[D, X] * each[P, X], X) for each in (left, right))
    return same + BlockSum(BlockSum(there * sp.Mul(*ends), P), D)


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
