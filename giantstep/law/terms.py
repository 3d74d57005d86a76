"""The functions of kappa that a first layer with a spike makes of activation and link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from giantstep.quadrature.mesh import Term
from giantstep.quadrature.tensor import LabelAxes
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

_ROUNDED = 4e-15  # of a variance, where the length of several overlaps is one but for rounding


def block_terms(
    activation: str, biases: Sequence[float], loadings: Rows, variances: Sequence[float]
) -> tuple[Term, ...]:
    """The features of the blocks by their biases [K], loadings [K][q] and bulk variances [K].

    A single direction stands in their scales; of several the scale is 1, and the loadings are given beside them.
    """
    single = len(loadings[0]) == 1
    blocks = zip(biases, loadings, variances, strict=True)
    return tuple(Term(activation, row[0] if single else 1.0, bias, c) for bias, row, c in blocks)


def link_term(target: Target, overlaps: Rows) -> Term | None:
    """The clean link along the first direction of kappa, which carries the alignment; None for several indices.

    overlaps [q][m]: of the directions with those of the target. A single direction may point against the target.
    """
    if target.indices > 1:
        return None
    gamma = overlaps[0][0] if len(overlaps) == 1 else math.hypot(*(row[0] for row in overlaps))
    variance = (1.0 - gamma) * (1.0 + gamma)
    if variance < (0.0 if len(overlaps) == 1 else _ROUNDED):  # panels need not get small about a jump
        variance = 0.0
    return Term(target.mean_link, gamma, 0.0, variance)


def label_axes(target: Target, overlaps: Rows) -> LabelAxes:
    """How the mean label of several indices varies in kappa; nothing of one index, whose label is a term."""
    if target.indices == 1:
        return LabelAxes()
    from giantstep.law.label_axes import axes_of_kinks  # labels of one index start sooner without

    return axes_of_kinks(target, overlaps)


def noisy_terms(link: Term | None, target: Target) -> tuple[Term, ...]:
    """The mean label with noise inside the link, and the second moment of one that a channel draws, as functions of
    kappa: they turn where the clean label may jump.
    """
    if link is None:
        return ()
    noisy, second = replace(link, variance=link.variance + target.probit), target.second_link
    means = (noisy,) if target.probit > 0.0 else ()
    return (*means, replace(noisy, function=second)) if isinstance(second, str) else means
