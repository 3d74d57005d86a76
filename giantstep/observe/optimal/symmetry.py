"""Whether all indices of a target are known alike: by the signed permutations that its labels do not see."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations, product

import numpy as np

from giantstep.observe.optimal.parity import size_of
from giantstep.observe.optimal.two import by_two
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.spec.probes import alike, places

Array = np.ndarray
_SAME = 1e-11  # of links


@lru_cache(maxsize=64)
def is_alike(target: Target) -> bool:
    """Whether an overlap that no signed permutation changes is q times the identity.

    State evolution begins at such an overlap and keeps to them. Of several indices only where what labels tell has few
    nodes up to an overlap of 1.
    """
    m = target.indices
    if m == 1:
        return True
    if not by_two(target) and size_of(target) is None:
        return False
    return len(unchanged(target)) == 1


@lru_cache(maxsize=64)
def unchanged(target: Target) -> Array:
    """A basis [p, m, m] of the symmetric matrices that no signed permutation changes which labels do not see."""
    m, turns = target.indices, list(_unseen(target))
    average = np.mean([np.kron(turn, turn) for turn in turns], axis=0)
    swapped = np.eye(m * m).reshape(m, m, m, m).swapaxes(2, 3).reshape(m * m, m * m)
    sizes, vectors = np.linalg.eigh(0.5 * (np.eye(m * m) + swapped) @ average)
    return np.ascontiguousarray(vectors[:, sizes > 1.0 - _SAME].T.reshape(-1, m, m))


def _unseen(target: Target) -> Iterator[Array]:
    """Signed permutations [m, m] of the indices that leave labels as likely as they were, the identity among them.

    Also where the link changes its sign: labels with noise, or flips, may change theirs with it.
    """
    z, values = places(target.indices), link_values(target.link)
    here = values(z)
    signs = (1.0,) if target.channel is not None else (1.0, -1.0)
    for order in permutations(range(target.indices)):
        for turned in product((1.0, -1.0), repeat=target.indices):
            turn = np.eye(target.indices)[list(order)] * np.array(turned)[:, None]
            there = values(turn @ z)
            if any(alike(here, sign * there, _SAME) for sign in signs):
                yield turn
