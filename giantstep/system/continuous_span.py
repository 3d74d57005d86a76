"""The span of the mean features of a density of readout values, at infinite dimension.

mu0_u(kappa) is analytic in u: a function that is orthogonal to it for all u of an interval is so for every u. The
closed span therefore does not depend on the density, and its functions are those of any values of u. Values that lie
apart, far beyond those of a narrow density, give functions that double precision tells apart; those at the nodes of a
narrow density differ by powers of its width. Source: THEORY section 13.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from giantstep.law.moments import hermite_moments
from giantstep.law.readout_law import scale_of_features
from giantstep.law.spike import variance_by_value
from giantstep.quadrature.mesh import Term
from giantstep.spec.kernels import function_kernel
from giantstep.system.merged_blocks import mirror_signs
from giantstep.system.problem import Features, Problem

_FARTHEST = 3.2  # of arsinh(u/scale): sinh of it is 12
_ORDERS, _VANISHES = 12, 1e-12


@lru_cache(maxsize=64)
def spanning_terms(features: Features) -> tuple[Term, ...]:
    """As many features as there are nodes, of values that lie apart; none where the law of the rows is not by value.

    Opposite values, which have features up to a sign where blocks are merged, are left out there.
    """
    count, first = len(features.blocks), features.blocks[0]
    strength, variance = features.spike.strength, variance_by_value(features.model)
    if variance is None or features.loadings is not None or strength == 0.0 or first.polynomial is not None:
        return ()
    one_sided = mirror_signs(first) is not None
    places = np.arange(1, count + 1) / count if one_sided else np.linspace(-1.0, 1.0, count)
    values = scale_of_features(features.model) * np.sinh(_FARTHEST * places)
    terms = [Term(first.function, float(u) * strength, first.offset, float(variance(float(u)))) for u in values]
    return tuple(terms) if all(term.variance > 0.0 for term in terms) else ()


def moving_order(problem: Problem) -> int | None:
    """The first vanishing moment h_k = E He_k(z) sigma(z) with h_(k+2) that does not: kappa^(k+2) comes with kappa^k
    then, in a ratio that moves with the spike. Where there is none the closed span is that of the first powers of each
    parity, or of all of them.
    """
    term = problem.blocks[0]
    moments = hermite_moments(term.function, function_kernel(term.function).BREAKPOINTS, _ORDERS, term.offset)
    here = np.abs(moments) > _VANISHES * np.abs(moments).max()
    return next((k for k in range(_ORDERS - 1) if here[k + 2] and not here[k]), None)
