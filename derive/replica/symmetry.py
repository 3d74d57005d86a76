"""The outputs of the replicas at replica symmetry and zero temperature: one mean, one variance, one response.

Source: THEORY section 11, step 1; [CUI24] App. C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from derive.blocks import KAPPA, BlockSum, block_field, family, family_name, rename
from derive.directions import directions_of
from derive.operations import computed
from derive.replica.network import (
    ACROSS,
    CENTRED,
    EQUIVALENCE,
    NOISE,
    TEMPERATURE,
    B,
    C,
    R,
    S,
    numbers,
    outputs_of_replicas,
    put,
)
from derive.symbols import Q1, Q2, V1, V2
from derive.trace import Claim, Recorder

_SYMMETRY = "[CUI24] App. C"


@dataclass(frozen=True)
class ConditionalOutput:
    """Mean, slopes along the rest of the target, variance Delta and response V of the output, functions of kappa."""

    mean: sp.Expr
    slopes: tuple[sp.Expr, ...]
    delta: sp.Expr
    response: sp.Expr


def conditional_output(trace: Recorder, directions: int, spikes: int, norms: bool = False) -> ConditionalOutput:
    """Derive the law of one output given kappa in R^spikes and t in R^directions; norms: whether those of rows vary."""
    with trace.between():
        slopes = outputs_of_replicas(trace, directions, spikes, norms)
        vectors = [*directions_of("zeta", spikes), *directions_of("psi", directions), *(["o"] if norms else [])]
        _record_symmetry(trace, vectors)
    return _symmetric(trace, slopes, numbers(directions))


def _record_symmetry(trace: Recorder, vectors: Sequence[str]) -> None:
    """The replica-symmetric values at zero-temperature scaling: fluctuations between replicas are of order 1/beta_T."""
    delta = sp.KroneckerDelta(R, S) / TEMPERATURE
    words = "all replicas to be alike, with fluctuations $V/\\beta_T$ at the inverse temperature $\\beta_T$"
    trace.assume(
        "replica symmetry",
        sp.Tuple(Q1[B, C, R, S], Q2[B, R, S]),
        sp.Tuple(Q1[B, C] + delta * V1[B, C], Q2[B] + delta * V2[B]),
        words,
        source=_SYMMETRY,
        assumption="replica symmetry, exact for a convex problem; also $m^r=m$ and the same for "
        + ", ".join(f"${sp.latex(sp.Symbol(name))}$" for name in vectors),
    )


def _symmetric(trace: Recorder, slopes: Sequence[sp.Expr], labels: Sequence[str]) -> ConditionalOutput:
    """Mean, slopes, Delta and V: the replica-symmetric values put in."""
    fields = frozenset(str(f.func.__name__) for f in slopes)
    rule = "all replicas alike"
    mean = trace.derive(
        "conditional mean of the output",
        block_field("mean")(KAPPA),
        computed(
            "average",
            f"the centred parts average to zero; {rule}",
            "output given kappa",
            "replica symmetry",
            by=lambda output, _: _alike(_without_noise(output), fields),
            test=Claim(lambda mean, output, _: _same_in_all(mean, output, fields), CENTRED),
        ),
        EQUIVALENCE,
    )
    found = tuple(
        trace.derive(
            f"slope along the rest of the target{number}",
            slope,
            computed(
                "substitute",
                rule,
                f"slope of a replica{number}",
                "replica symmetry",
                by=lambda body, _: _alike(body, fields),
                test=Claim(lambda found, body, _: _same_in_all(found, body, fields)),
            ),
            EQUIVALENCE,
        )
        for slope, number in zip(slopes, labels, strict=True)
    )
    return ConditionalOutput(mean, found, *_record_two_replicas(trace, fields))


def _record_two_replicas(trace: Recorder, fields: frozenset[str]) -> tuple[sp.Expr, sp.Expr]:
    """Delta and V: the covariance of two different replicas, and what one has with itself beyond that."""
    whole = ("covariance given kappa and t", "replica symmetry")
    delta = trace.derive(
        "conditional variance of the output",
        block_field("Delta")(KAPPA),
        computed(
            "substitute",
            "the covariance of two different replicas",
            *whole,
            by=lambda body, alike: _replica_part(_symmetric_covariance(body, alike, fields), 0),
            test=Claim(lambda found, body, alike: _between_two(found, body, alike, fields)),
        ),
        EQUIVALENCE,
    )
    response = trace.derive(
        "conditional response of the output",
        block_field("V")(KAPPA),
        computed(
            "substitute",
            "what a replica with itself has more than that, times $\\beta_T$",
            *whole,
            by=lambda body, alike: _replica_part(_symmetric_covariance(body, alike, fields), 1),
            test=Claim(lambda found, body, alike: _with_itself(found, body, alike, fields)),
        ),
        EQUIVALENCE,
    )
    return delta, response


def _alike(expr: sp.Expr, fields: frozenset[str]) -> sp.Expr:
    """Overlaps with one replica, and functions of kappa, the same for every replica."""
    gone = {name: lambda b, _, name=name: family(name)[b] for name in _one_index(expr)}
    return put(expr, gone).replace(lambda e: family_name(e) in fields, lambda e: e.func(KAPPA))


def _symmetric_covariance(body: sp.Expr, symmetric: sp.Tuple, fields: frozenset[str]) -> sp.Expr:
    of_pairs, of_blocks = symmetric
    places = {
        "Q1": lambda b, c, *_: rename(of_pairs, {B: b, C: c}),
        "Q2": lambda b, *_: rename(of_blocks, {B: b}),
    }
    return _alike(put(body, places), fields)


def _same_in_all(found: sp.Expr, body: sp.Expr, fields: frozenset[str]) -> tuple[sp.Expr, sp.Expr]:
    """An expression of one replica, and the result where overlaps and functions are those of this replica."""
    here = {name: lambda b, name=name: family(name)[b, R] for name in _one_index(body) - {"h_perp", "xi_b"}}
    back = put(found, here).replace(lambda e: family_name(e) in fields, lambda e: e.func(KAPPA, R))
    return body, back


def _between_two(found: sp.Expr, body: sp.Expr, alike: sp.Tuple, fields: frozenset[str]) -> tuple[sp.Expr, sp.Expr]:
    """The covariance of replicas 0 and 1, and the result."""
    return sp.Subs(_symmetric_covariance(body, alike, fields), (R, S), (0, 1)), found


def _with_itself(found: sp.Expr, body: sp.Expr, alike: sp.Tuple, fields: frozenset[str]) -> tuple[sp.Expr, sp.Expr]:
    """beta_T times what the variance of a replica has beyond the covariance of two, and the result."""
    whole = _symmetric_covariance(body, alike, fields)
    return TEMPERATURE * (sp.Subs(whole, (R, S), (0, 0)) - sp.Subs(whole, (R, S), (0, 1))), found


def _without_noise(output: sp.Expr) -> sp.Expr:
    gone = {str(name.label): lambda *_: sp.S.Zero for name in (ACROSS, NOISE)}
    return BlockSum(sp.expand_mul(put(output.body, gone)), output.bound)


def _one_index(expr: sp.Expr) -> set[str]:
    """Names of the families with a block and a replica as indices."""
    return {str(family_name(e)) for e in expr.atoms(sp.Indexed) if len(e.indices) == 2 and R in e.indices}


def _replica_part(covariance: sp.Expr, power: int) -> sp.Expr:
    """The part of a covariance without delta_rs (0), or the coefficient of delta_rs/beta_T (1)."""
    parts = []
    for term in sp.Add.make_args(covariance):
        sums, body = [], term
        while isinstance(body, BlockSum):
            sums.append(body.bound)
            body = body.body
        kept = TEMPERATURE**power * sp.expand(body).coeff(sp.KroneckerDelta(R, S), power)
        for bound in reversed(sums):
            kept = BlockSum(kept, bound)
        parts.append(kept)
    return sp.Add(*parts)
