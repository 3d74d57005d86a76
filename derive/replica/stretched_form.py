"""What the readout gains from rows that are stretched by blocks: its sources on their responses [THEORY 5, 11].

The sources lie along orthonormal directions d: those of the target, and what the means of the rows have of the noise of
each batch. A sample knows those of the target and the noise of batches before its own; that of its own batch is a sum
over samples, itself among them. So samples see the noise of a batch in two ways, those of the batch and those of later
ones. ``place`` says where the rows of X stand in those of every view v, and ``seen`` in those of the views of d;
``mean_left`` and ``mean_right`` are the pairs of views that the mean resolvent stands between, ``place_left`` and
``place_right`` the pairs e that a sample adds to. ``along`` are the coefficients of the sums over samples that norms
of rows go with, ``spread`` is the deviation of rows along the first spike that comes from unequal norms at
initialisation. Every quantity here is one of the equations, so that derivatives go from one to the next.
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
from derive.replica.readout import psi_families, zeta_families
from derive.spectrum import SpectralLaw, X
from derive.symbols import BETA, NORM_HAT, Q1_HAT, Q2_HAT, SYMMETRIC, T
from derive.trace import Claim, Recorder

B, C = index("b"), index("c")
P, Q = index("p"), index("q")
D, V, E, A = (
    index("d"),
    index("v"),
    index("e"),
    index("a"),
)  # directions, views, pairs of views that have an addition, a mean
ROW, COLUMN, L = index("i"), index("j"), index("l")  # rows of X for every view
_SOURCE = "THEORY section 5"
_LIMIT = "x of a left-out sample is independent of the resolvent; all dimensions large at fixed ratios"
_spread, _upper, _seen, _place = family("spread"), family("upper"), family("seen"), family("place")
_mean, _F, _t = family("Res"), family("F"), family("law_t")
_mean_all, _added = family("mean_views"), family("added_views")
_back, _back_left = family("put_back"), family("put_left")


def stretched_form(
    trace: Recorder, law: SpectralLaw, spectral: Spectral, directions: int, spikes: int
) -> tuple[Spectral, sp.Expr]:
    """(the bulk with what R is made of, R): the sources on the responses, and the potential along the conjugates that
    couple replicas.
    """
    turned = _turned(trace, directions, spikes)
    norms = norms_assumed(trace, law.source, linear=True)
    found = (*_views(trace), *_responses(trace), *_on_samples(trace))
    inverses = (_inverse_of_views(trace), _update(trace))
    first = family(directions_of("gamma", spikes)[0])
    found += (*_fields(trace), *_around_spike(trace, first))
    form = trace.derive(
        "entropic part",
        sp.Symbol("R"),
        computed(
            "sum over directions",
            "$j\\cdot A^{-1}j/p$ by the fields that the sources along all directions make, "
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


def _turned(trace: Recorder, directions: int, spikes: int) -> tuple[Definition, ...]:
    """The sources ``sum_j zeta_hat_j v_j + sum_j psi_hat_j u_j`` along d; u_j: of the target beside the spike."""
    names = (*directions_of("gamma", spikes), *directions_of("mix", directions))
    hats = [hat for _, hat in (*zeta_families(spikes), *psi_families(directions))]
    sources = sp.Add(*(family(name)[D] * hat[B] for name, hat in zip(names, hats, strict=True)))
    words = "the sources $\\hat{\\zeta}v+\\hat{\\psi}\\theta_\\perp$ along orthonormal directions"
    return (_defined(trace, "j_along", (B, D), sources, words),)


def _views(trace: Recorder) -> tuple[Definition, ...]:
    """The mean resolvent, and what samples add beyond their mean, in the rows of all views."""
    of_pair = BlockSum(family("law_along")[E, X] * _F[P, Q, X], X)
    mean, added = (
        _between(left, of_views, right, which)
        for left, of_views, right, which in (
            (family("mean_left"), _mean[P, Q], family("mean_right"), A),
            (family("place_left"), family("X_along")[E, P, Q], family("place_right"), E),
        )
    )
    words = "for all that samples see"
    return (
        _defined(
            trace,
            "X_along",
            (E, P, Q),
            of_pair,
            "what samples add, weighed by $tt^T-1$, for pairs of what they see: $t=u\\cdot x$ of a direction $u$ that "
            "they know; of the noise of their own batch $t$ is what they have added to it, and the weight $tt^T$",
        ),
        _defined(trace, "mean_views", (ROW, COLUMN), mean, f"the mean resolvent, {words}"),
        _defined(trace, "added_views", (ROW, COLUMN), added, f"what samples add, {words}"),
    )


def _between(left: sp.IndexedBase, of_rows: sp.Expr, right: sp.IndexedBase, which: sp.Symbol) -> sp.Expr:
    """A matrix of the rows of X, placed between those of pairs of views."""
    inner = BlockSum(of_rows * right[which, Q, COLUMN], Q)
    return BlockSum(BlockSum(left[which, P, ROW] * inner, P), which)


def _inverse_of_views(trace: Recorder) -> MatrixInverse:
    entry = family("unit_Z")[ROW, COLUMN] + BlockSum(_mean_all[ROW, L] * _added[L, COLUMN], L)
    trace.define("Z", sp.Symbol("Z^-1"), entry, "what samples make of a field that they see", _SOURCE)
    return MatrixInverse("Z", ROW, COLUMN, entry, identity="unit_Z")


def _placed(row: sp.Expr, place: sp.IndexedBase, which: sp.Symbol) -> sp.Expr:
    """A row p of a direction or a view, in the rows i of all views."""
    return BlockSum(BlockSum(place[which, P, ROW] * row, P), which)


def _responses(trace: Recorder) -> tuple[Definition, ...]:
    """The sources in the rows that samples stand in."""
    right, left = family("H_j"), family("j_H")
    words = "the sources where samples stand"
    return (
        _defined(trace, "H_j", (D, P), BlockSum(family("H")[C, P] * family("j_along")[C, D], C), words),
        _defined(
            trace, "j_H", (D, P), BlockSum(family("H_left")[B, P] * family("j_along")[B, D], B), f"{words}, to the left"
        ),
        _defined(trace, "h_right", (ROW,), _placed(right[D, P], _seen, D), f"{words}, as these see them"),
        _defined(trace, "h_left", (ROW,), _placed(left[D, P], _seen, D), f"{words}, as these see them, to the left"),
    )


def _on_samples(trace: Recorder) -> tuple[Definition, ...]:
    """The sources of the norms on a sample, each with its own presence, and in the rows of all views."""
    right = BlockSum(NORM_HAT[B] * family("along")[B, P, X], B)
    left = BlockSum(T[B] * NORM_HAT[B] * family("along")[B, P, X], B)
    mean = BlockSum(_mean[P, Q] * family("norm_right")[Q, X], Q)
    back = family("norm_right")[P, X] - BlockSum(_F[P, Q, X] * family("norm_mean")[Q, X], Q)
    back_left = BlockSum(family("norm_left")[P, X] * family("D")[P, Q, X], P)
    words = "a source $\\hat{o}$ of the norms on the sums over samples that these go with"
    present = "its own presence counted"
    seen = "on samples, weighed by what they see"
    return (
        _defined(trace, "norm_right", (P, X), right, words),
        _defined(trace, "norm_left", (P, X), left, words + ", to the left"),
        _defined(trace, "norm_mean", (P, X), mean, "on the mean resolvent"),
        _defined(trace, "put_back", (P, X), back, f"on a sample, {present}"),
        _defined(trace, "put_left", (Q, X), back_left, f"on a sample, {present}, to the left"),
        _defined(
            trace, "on_samples", (ROW,), _placed(BlockSum(_t[V, X] * _back[P, X], X), _place, V), f"sources {seen}"
        ),
        _defined(
            trace,
            "on_left",
            (ROW,),
            _placed(BlockSum(_t[V, X] * _back_left[P, X], X), _place, V),
            f"sources {seen}, to the left",
        ),
    )


def _fields(trace: Recorder) -> tuple[Definition, ...]:
    """What the sources make of the rows that samples stand in, and what samples then have."""
    other = family("on_samples")
    source = family("h_right")[COLUMN] - BlockSum(_mean_all[COLUMN, L] * other[L], L)
    field = BlockSum(family("Z")[ROW, COLUMN] * source, COLUMN)
    on_views = BlockSum(_added[ROW, COLUMN] * family("field_views")[COLUMN], COLUMN) + other[ROW]
    return (
        _assumed(trace, "field_views", (ROW,), field, "what all sources make of the rows as samples see them"),
        _defined(trace, "on_views", (ROW,), on_views, "what samples then have along what they see"),
    )


def _around_spike(trace: Recorder, gamma: sp.IndexedBase) -> tuple[Definition, ...]:
    """Along the first spike: the field of all sources, and S T between it and itself, S = (1/V1_hat + T Sigma)^-1."""
    upper_mean = BlockSum(_upper[B, Q] * _mean[Q, P], Q)
    mean_upper = BlockSum(_mean[P, Q] * _upper[C, Q], Q)
    left, right = family("spike_left"), family("spike_right")
    source = BlockSum(gamma[D] * BlockSum(_upper[B, P] * family("H_j")[D, P], P), D)
    field = source - BlockSum(left[B, ROW] * family("on_views")[ROW], ROW)
    plain = BlockSum(gamma[D] * gamma[D], D) * BlockSum(_upper[B, P] * BlockSum(_mean[P, Q] * _upper[C, Q], Q), P)
    through = BlockSum(family("Z")[COLUMN, L] * right[C, L], L)
    seen = BlockSum(left[B, ROW] * BlockSum(_added[ROW, COLUMN] * through, COLUMN), ROW)
    words = "the spike in the rows that samples stand in"
    return (
        _defined(
            trace,
            "spike_left",
            (B, ROW),
            BlockSum(gamma[D] * BlockSum(_seen[D, P, ROW] * upper_mean, P), D),
            f"{words}, to the left",
        ),
        _defined(
            trace,
            "spike_right",
            (C, ROW),
            BlockSum(gamma[D] * BlockSum(_seen[D, P, ROW] * mean_upper, P), D),
            f"{words}, to the right",
        ),
        _assumed(trace, "field", (B,), field, "what all sources make of the rows along the spike"),
        _assumed(
            trace,
            "S_spike",
            (B, C),
            plain - seen,
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
    """All sources on the responses: directly, and by samples."""
    along, response = family("j_along"), family("M")
    direct = BlockSum(BlockSum(BlockSum(along[B, D] * response[B, C] * along[C, D], D), B), C)
    by_samples = BlockSum(family("h_left")[ROW] * family("on_views")[ROW], ROW)
    return direct + by_samples + BlockSum(family("on_left")[ROW] * family("field_views")[ROW], ROW)


def _of_norms() -> sp.Expr:
    """What the norms add by single samples and in the lower rows, and the spread along the spike."""
    mean, spike = family("norm_mean"), family("field")
    samples = -BlockSum(family("law_own")[X] * BlockSum(_back_left[P, X] * mean[P, X], P), X) - _in_lower_rows()
    other = BlockSum(family("U")[B, C] * _spread[C] * spike[C], C)
    return samples + BlockSum(T[B] * _spread[B] * spike[B] * other, B)


def _in_lower_rows() -> sp.Expr:
    """The squared length of a sum over samples there: eliminating these rows, -1 without samples, leaves it over."""
    right, left = family("norm_right"), family("norm_left")
    there = BlockSum(family("lower")[ROW, P], ROW)
    same = BlockSum(family("law_own")[X] * BlockSum(there * left[P, X] * right[P, X], P), X)
    ends = (BlockSum(family("law_known")[V, X] * each[P, X], X) for each in (left, right))
    return same + BlockSum(BlockSum(there * sp.Mul(*ends), P), V)


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
