"""What a network sees of a target: a gradient step multiplies the target's component of degree k by E[sigma^(k)], so a
degree at which the activation has no Hermite coefficient is lost on it. [DAN23], [BGJ19]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from derive.gaussian.hermite_table import HermiteTable, factorials
from derive.language.links import Link, link_of
from derive.language.substitution import linear_form, substituted
from giantstep.law.multi_index_moments import moments_of
from giantstep.observe.learnable.given_digits import without_rounding
from giantstep.observe.learnable.hermite_cubature import hermite_by_cubature
from giantstep.spec.model import Network

# standard deviation of a pre-activation after the first step: any value that no activation singles out
_LATER = 1.5


@dataclass(frozen=True)
class Sight:
    """Coefficients E[sigma(z + bias) He_k(z)]/sqrt(k!) for k = 0, 1, ...; the degrees that the first step sees, and
    those that a later one sees, whose pre-activations have another variance.
    """

    coefficients: tuple[float, ...]
    first: frozenset[int]
    later: frozenset[int]


def sight(network: Network, degree: int) -> Sight:
    """The degrees up to ``degree`` of a target that a network sees. Raises Unsettled."""
    start, after = (_table(network, degree, deviation) for deviation in (1.0, _LATER))
    values = [float(start.coefficients.get((k,), 0.0)) / factorials((k,)) ** 0.5 for k in range(degree + 1)]
    first = frozenset(m[0] for m in start.coefficients)
    return Sight(tuple(values), first, first | frozenset(m[0] for m in after.coefficients))


def _table(network: Network, degree: int, deviation: float) -> HermiteTable:
    from derive.hermite_tensors import Tensors, hermite_tensors  # loads SymPy

    def shifted(link: Link) -> Link:
        place = linear_form((deviation,), ("z",), network.initial_bias)
        return replace(link, node=substituted(link.node, {"z": place}))

    def by_rules(link: Link) -> Tensors | None:
        return hermite_tensors(shifted(link), degree, square)

    link = link_of(network.activation)
    node = shifted(link).node
    square = moments_of(node, 1.0, 0).square
    if (found := by_rules(link)) is None:
        return hermite_by_cubature(node, ("z",), degree, square**0.5)
    return without_rounding(link, found.table, by_rules)[0]
