"""Whether m is zero by symmetry."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations, product

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.spec.link import link_values
from giantstep.spec.probes import alike, places
from giantstep.system.kernels import loss_kernel
from giantstep.system.problem import Features, Problem

_SAME = 1e-11  # of labels and those turned around


def means_vanish(problem: Problem | Features) -> bool:
    """Whether the negative output is as good for other samples, which are as likely, so that m is zero: those with
    indices exchanged or of the other sign, of which the features know nothing, or of mirrored inputs.
    """
    target = problem.model.target
    if problem.model.network.trains_bias:
        return False
    unknown = tuple(i for i, column in enumerate(zip(*problem.overlaps, strict=True)) if not any(column))
    return is_symmetric(problem) and _turns_around(target.link, target.indices, unknown) or is_mirrored(problem)


def is_symmetric(problem: Problem | Features) -> bool:
    """Whether the loss of the negative output and label is the same, and negative indices have negative labels where
    the link is odd.
    """
    channel = problem.model.target.channel
    return bool(loss_kernel(problem.model.fit.loss).SYMMETRIC) and (channel is None or channel.odd)


@lru_cache(maxsize=64)
def _turns_around(link: str, indices: int, free: tuple[int, ...]) -> bool:
    """Whether some exchange of these indices, with signs, turns every label around."""
    z, values = places(indices), link_values(link)
    here = values(z)
    for order, signs in product(permutations(free), product((1.0, -1.0), repeat=len(free))):
        moved = z.copy()
        moved[list(free)] = np.array(signs)[:, None] * z[list(order)]
        if alike(here, -values(moved), _SAME):
            return True
    return False


def is_mirrored(problem: Problem | Features) -> bool:
    """Whether inputs of the other sign have opposite features and the same labels, or the reverse.

    The mirrored samples are then as likely, their readout is the negative one, and m, zeta and psi vanish.
    """
    target, features = problem.model.target, {term.parity for term in problem.blocks}
    of_link = parity(link_of(target.link).node)
    if problem.model.network.trains_bias:
        return False
    if features == {"odd"}:
        return of_link == 1
    return features == {"even"} and of_link == -1 and is_symmetric(problem)
