"""A further giant gradient step on inputs of a given covariance: the law of the rows over its eigenvalues.

The gradient is that of isotropic inputs in whitened coordinates (``derive.further_step``). Both sides of the first
layer have a factor ``Sigma_in^(1/2)``, so that what it adds to the rows is multiplied by ``Sigma_in``: by x at the
eigenvalue x.
Source: THEORY sections 10 and 12.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, Definition, family, index, rename
from derive.canonical import canonical
from derive.further_step import AXIS, DRIFT, LOADING, PULL, SPREAD, B, E
from derive.operations import computed, equal
from derive.structured_inputs import (
    EIGENVALUE,
    INDEPENDENT,
    RANDOM,
    SIGMA,
    THETA,
    Moved,
    Parts,
    X,
    members,
    named,
    part,
    record_moved,
)
from derive.trace import Derivation, Recorder

ACROSS, NOISE = family("across"), family("noise")
PERP, SPIKE, FRESH, MEAN = family("theta_perp"), family("v"), family("xi"), family("mean")
OWN, PART, NEXT = index("n"), index("k"), index("j")
_SOURCE = "THEORY sections 10 and 12"


@dataclass(frozen=True)
class StepOnInputs:
    """Expressions at the eigenvalue x: the covariance of the bulk of block b after the step, and its mean; the parts of
    the mean of the block along theta_j, along the directions epsilon_k of batches before, and along those of this one.
    """

    moved: sp.Expr
    bulk_variance: sp.Expr
    known: Parts
    fresh: sp.Expr
    derivation: Derivation


def step_on_inputs() -> StepOnInputs:
    """Derive the map of a step from means and covariances of the rows to those after it."""
    trace = Recorder("A further giant step on structured inputs")
    moved, mean = _record_bulk(trace)
    known, fresh = _record_means(trace)
    return StepOnInputs(moved, mean, known, fresh, trace.finish())


def _record_bulk(trace: Recorder) -> tuple[sp.Expr, sp.Expr]:
    trace.assume(
        "moved row",
        sp.Symbol("w_x'"),
        sp.Tuple(sp.sqrt(SIGMA[B, X]) * (1 + DRIFT[B] * EIGENVALUE[X]), sp.sqrt(SPREAD[B]) * EIGENVALUE[X]),
        "the gradient to move the bulk of a row along itself, by $\\delta_b\\Sigma_{in}$, and across it by an average "
        "of samples with independent weights, times $\\Sigma_{in}$",
        source=_SOURCE,
        assumption=INDEPENDENT,
    )
    names = Moved("covariance after the step", family("Sigma'")[B, X], family("c'")[B])
    return record_moved(trace, names, "", _SOURCE)


def _record_means(trace: Recorder) -> tuple[Parts, sp.Expr]:
    trace.define("spike by its parts", SPIKE[E, X], named("", E), "in an eigenspace")
    trace.define("rest by its parts", PERP[AXIS, X], named("rest_", AXIS), "in an eigenspace")
    gained = (
        BlockSum(PULL[B, E] * SPIKE[E, X], E)
        + BlockSum(ACROSS[B, AXIS] * PERP[AXIS, X], AXIS)
        + BlockSum(NOISE[B, OWN] * FRESH[OWN], OWN)
    )
    trace.define(
        "mean of a block",
        MEAN[B, X],
        BlockSum(LOADING[B, E] * SPIKE[E, X], E) + EIGENVALUE[X] * gained,
        "the mean before the step, and $\\Sigma_{in}$ times what the gradient adds along the spike, along the rest of "
        "the target and along the noise $\\xi$ that the batch gives to all rows, which has no direction",
        _SOURCE,
    )
    whole = trace.derive(
        "mean by its parts",
        MEAN[B, X],
        computed(
            "substitute",
            "spike and rest of the target by their parts",
            "mean of a block",
            "spike by its parts",
            "rest by its parts",
            by=lambda mean, v, rest: canonical(_with(_with(mean, SPIKE, v, E), PERP, rest, AXIS)),
            test=equal(
                lambda mean, *_: mean,
                Definition("v", (E, X), named("", E)),
                Definition("theta_perp", (AXIS, X), named("rest_", AXIS)),
            ),
        ),
        _SOURCE,
    )
    units = (THETA, RANDOM, FRESH)
    return (part(whole, THETA, NEXT, units), part(whole, RANDOM, PART, units)), part(whole, FRESH, OWN, units)


def _with(expr: sp.Expr, base: sp.IndexedBase, value: sp.Expr, which: sp.Symbol) -> sp.Expr:
    return expr.xreplace({e: rename(value, {which: e.indices[0]}) for e in members(expr, base)})
