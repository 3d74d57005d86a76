"""The average of weighted samples, (1/n0) sum_i q_i x_i: its squared length, and its product with another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from derive.labels import numbered
from derive.network_step import DIMENSION, SAMPLES
from derive.operations import computed, limit, put_in
from derive.trace import Recorder

ALPHA0 = sympy.Symbol("alpha_0", positive=True)
_EQUAL, _DIFFERENT = sympy.symbols("q_equal q_different", positive=True)
_STEP = "[CUI24, Result 3.1 and App. A]"


def squared_norm(recorder: Recorder, label: str, means: Sequence[Any], square: Any) -> str:
    """The label of |(1/n0) sum q_i x_i|^2 -> sum_j mean_j^2 + square/alpha0, mean_j = E[q t_j] along the directions
    that q knows, square = E q^2.
    """
    _record_pairs_of_samples(recorder, label, means, square)
    finite, found = f"squared norm of the {label} at finite d", f"squared norm of the {label}"
    parts = (f"{part}, {label}" for part in ("pairs of samples", "equal samples", "different samples"))
    recorder.derive(
        finite,
        sympy.Symbol("N"),
        computed(
            "substitute",
            "$n_0=\\alpha_0d$",
            *parts,
            by=lambda pairs, same, other: pairs.subs({_EQUAL: same, _DIFFERENT: other}).subs(
                SAMPLES, ALPHA0 * DIMENSION
            ),
            test=put_in(lambda same, other: {_EQUAL: same, _DIFFERENT: other, SAMPLES: ALPHA0 * DIMENSION}),
        ),
        shown=False,
    )
    recorder.derive(found, None, limit(finite, DIMENSION, sympy.oo, "the limit $d\\to\\infty$"), _STEP)
    return found


def _record_pairs_of_samples(recorder: Recorder, label: str, means: Sequence[Any], square: Any) -> None:
    """At finite d: n0 terms i = i', E[q^2 |x|^2], and n0 (n0 - 1) products of independent ones, (E[q x])^2."""
    # E[q^2 t^2], of order one
    along = [sympy.Symbol(each.name, positive=True) for each in numbered("q_4", len(means))]
    recorder.define(
        f"equal samples, {label}",
        _EQUAL,
        sum(along) + (DIMENSION - len(means)) * square,
        "$\\mathbb{E}[q^2|x|^2]$, with $q_4=\\mathbb{E}[q^2t^2]$ along the directions that $q$ knows",
        _STEP,
    )
    recorder.define(
        f"different samples, {label}",
        _DIFFERENT,
        sum(mean**2 for mean in means),
        "$|\\mathbb{E}[q\\,x]|^2$ of two independent samples",
        _STEP,
    )
    recorder.assume(
        f"pairs of samples, {label}",
        sympy.Symbol("N"),
        (SAMPLES * _EQUAL + SAMPLES * (SAMPLES - 1) * _DIFFERENT) / SAMPLES**2,
        "the squared norm of $\\frac{1}{n_0}\\sum_iq_ix_i$ to concentrate on its mean: $n_0$ equal and "
        "$n_0(n_0-1)$ different pairs",
        source=_STEP,
        assumption="law of large numbers",
    )
