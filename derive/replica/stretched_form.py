"""What the readout gains from rows that are stretched by blocks: its sources on their responses [THEORY 5, 12].

The sources lie along orthonormal directions d: those of the target, and what the means of the rows have of the noise of
each batch. A sample knows those of the target and the noise of batches before its own; that of its own batch is a sum
over samples, itself among them. So samples see the noise of a batch in two ways, those of the batch and those of later
ones. ``place`` says where the rows of X stand in those of every view v, and ``seen`` in those of the views of d;
``mean_left`` and ``mean_right`` are the pairs of views that the mean resolvent stands between, ``place_left`` and
``place_right`` the pairs e that a sample adds to.

Norms of rows go with sums over samples: ``along`` are the coefficients of those that a row has after the last step,
``earlier`` of those of the norms before each step, and of what a row gains with its norm. These norms f, and what makes
them follow from those before, are eliminated: ``tie``, ``tie_last``. Every quantity here is one of the equations, so
that derivatives go from one to the next.
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
F, G = index("f"), index("g")  # norms before steps, and what ties them
_SOURCE = "THEORY section 5"
_LIMIT = "x of a left-out sample is independent of the resolvent; all dimensions large at fixed ratios"
_seen, _place, _earlier = family("seen"), family("place"), family("earlier")
_tie, _swap = family("tie"), family("swap")
_mean, _mean_at, _F, _t = family("Res"), family("Res_at"), family("F"), family("law_t")
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
    inverses = (_inverse_of_views(trace), _ties(trace))
    found += (*_fields(trace), *_norms_before(trace))
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
            "norms before the steps, eliminated",
            norms,
            by=lambda *_: canonical(_sources() + _of_norms() + norms_alone(law) + _noise(), SYMMETRIC),
            test="earlier results put together",
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
    mean = BlockSum(_mean_at[P, Q, X] * family("norm_right")[Q, X], Q)
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


def _norms_before(trace: Recorder) -> tuple[Definition, ...]:
    """The norms before steps, each as a source by itself, and where they meet each other and all other sources."""
    mean = BlockSum(_mean_at[P, Q, X] * _earlier[F, Q, X], Q)
    back = _earlier[F, P, X] - BlockSum(_F[P, Q, X] * family("earlier_mean")[F, Q, X], Q)
    left = BlockSum(_earlier[F, P, X] * family("D")[P, Q, X], P)
    seen, seen_left = (
        BlockSum(BlockSum(_place[V, P, ROW] * BlockSum(_t[V, X] * family(name)[F, P, X], X), P), V)
        for name in ("earlier_back", "earlier_left")
    )
    other = BlockSum(_mean_all[COLUMN, L] * family("earlier_seen")[F, L], L)
    field = -BlockSum(family("Z")[ROW, COLUMN] * other, COLUMN)
    words = "a norm before a step as a source"
    return (
        _defined(trace, "earlier_mean", (F, P, X), mean, f"{words}, on the mean resolvent"),
        _defined(trace, "earlier_back", (F, P, X), back, f"{words}, its own presence counted"),
        _defined(trace, "earlier_left", (F, Q, X), left, f"{words}, its own presence counted, to the left"),
        _defined(trace, "earlier_seen", (F, ROW), seen, f"{words}, weighed by what samples see"),
        _defined(trace, "earlier_left_seen", (F, ROW), seen_left, f"{words}, weighed by what samples see, to the left"),
        _assumed(trace, "earlier_field", (F, ROW), field, f"{words}: what it makes of the rows as samples see them"),
        _defined(trace, "met_all", (F,), _met_all(), "where it meets all sources, and is tied to the last norms"),
    )


def _met(fields: sp.Expr, mean: sp.Expr) -> sp.Expr:
    """A norm before a step, to the left, with other sources: by what samples see, and by single samples."""
    by_samples = BlockSum(family("earlier_left_seen")[F, ROW] * fields, ROW)
    return by_samples - BlockSum(family("law_own")[X] * BlockSum(family("earlier_left")[F, P, X] * mean, P), X)


def _met_all() -> sp.Expr:
    last = BlockSum(family("tie_last")[F, B] * NORM_HAT[B], B)
    return _met(family("field_views")[ROW], family("norm_mean")[P, X]) + last


def _ties(trace: Recorder) -> MatrixInverse:
    """The norms before the steps, at the extremum of a quadratic form of them.

    Each stands with what holds it: ``swap`` exchanges the two, which leaves ones on the diagonal.
    """
    size = sp.Symbol("K", integer=True, positive=True)
    trace.assume(
        "rows and norms, step by step",
        sp.Tuple(*sp.symbols("w_s delta_s")),
        sp.Tuple(*sp.symbols("M_w+eta+g_delta h_delta+y_w+nu")),
        "the row $w$ and the excess $\\delta$ of its squared norm after a step to be linear in those before, with "
        "noise that is Gaussian: a row of larger norm moves further by $g$; $y$ and $g$ are sums over the samples of "
        "the step (*norms of the rows*)",
        source="THEORY section 12",
        assumption="squared norms vary by order $d^{-1/2}$",
    )
    ties, swap, met = (
        sp.MatrixSymbol("U", size, size),
        sp.MatrixSymbol("P_u", size, size),
        sp.MatrixSymbol("n", size, 1),
    )
    trace.define(
        "norms before the steps",
        sp.Symbol("N"),
        -1 * sp.Inverse(swap) * ties,
        "the quadratic form of the sources on norms before steps; the multiplier that holds $\\delta_s$ to what it "
        "follows from is such a source too, on $g$",
        _SOURCE,
    )
    trace.derive(
        "norms before the steps, eliminated",
        sp.Symbol("R_n"),
        computed(
            "take the extremum",
            "of $\\xi\\cdot N\\xi+2\\xi\\cdot n$ over these sources $\\xi$",
            "norms before the steps",
            by=lambda _: met.T * sp.Inverse(ties) * swap * met,
            test=Claim(lambda found, form: (_at_extremum(form, met), found)),
        ),
        _SOURCE,
    )
    between = _met(family("earlier_field")[G, ROW], family("earlier_mean")[G, P, X])
    exchanged = BlockSum(_swap[F, E] * between.xreplace({F: E}), E)
    words = "where norms before steps and what holds them meet, exchanged, and what ties them; and its inverse"
    trace.define("U", sp.Symbol("U"), _tie[F, G] - exchanged, words, _SOURCE)
    return MatrixInverse("U", F, G, _tie[F, G] - exchanged, identity="unit_U")


def _at_extremum(form: Any, met: Any) -> Any:
    """The form at the place where its derivative vanishes."""
    place = -1 * sp.Inverse(form) * met
    return sp.MatAdd(place.T * form * place, 2 * place.T * met)


def _sources() -> sp.Expr:
    """All sources on the responses: directly, and by samples."""
    along, response = family("j_along"), family("M")
    direct = BlockSum(BlockSum(BlockSum(along[B, D] * response[B, C] * along[C, D], D), B), C)
    by_samples = BlockSum(family("h_left")[ROW] * family("on_views")[ROW], ROW)
    return direct + by_samples + BlockSum(family("on_left")[ROW] * family("field_views")[ROW], ROW)


def _of_norms() -> sp.Expr:
    """What the norms add by single samples, and those before the steps."""
    samples = -BlockSum(family("law_own")[X] * BlockSum(_back_left[P, X] * family("norm_mean")[P, X], P), X)
    held = BlockSum(_swap[G, E] * family("met_all")[E], E)
    other = BlockSum(family("U")[F, G] * held, G)
    weight = BlockSum(family("of_block")[F, B] * T[B], B)
    return samples + BlockSum(weight * family("met_all")[F] * other, F)


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
