"""How fine the nodes are on which averages of the best estimator are taken."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node, constant_value
from derive.language.links import link_of
from giantstep.spec.link import link_values
from giantstep.spec.model import Target

KAPPA = 12  # the first number of nodes of kappa
_PROBES, _MOSTLY, _APART, _HALVINGS = 400, 0.95, 0.15, (7, 3)  # of the first fineness
_JUMPS = frozenset({"sign", "step"})
_ROUGH = _JUMPS | {"abs", "relu", "max", "min", "clip", "sqrt", "log"}


@lru_cache(maxsize=64)
def is_smooth(target: Target) -> bool:
    """Whether a label has noise, or a channel, and depends on its indices without kinks and jumps."""
    random = target.noise > 0.0 or target.channel is not None
    return random and not _calls(link_of(target.mean_link).node, _ROUGH)


@lru_cache(maxsize=64)
def is_continuous(link: str) -> bool:
    """Whether a link has no sign or step."""
    return not _calls(link_of(link).node, _JUMPS)


def _calls(node: Node, functions: frozenset[str]) -> bool:
    """Whether an expression that is no constant calls one of these functions."""
    if constant_value(node) is not None:
        return False
    return (node.op == "call" and node.value in functions) or any(_calls(each, functions) for each in node.args)


@dataclass(frozen=True)
class Fineness:
    """kappa: nodes of one direction, of one index panels in proportion; labels: halvings of what they are taken at, of
    smooth labels halvings of the square of their step.
    """

    kappa: int = KAPPA
    labels: int = 0

    def more_kappa(self) -> Fineness:
        """With half as many nodes of kappa more."""
        return replace(self, kappa=3 * self.kappa // 2)

    def more_labels(self) -> Fineness:
        """With labels at twice as many places."""
        return replace(self, labels=self.labels + 1)


def label_fineness(target: Target) -> Fineness:
    """Where neighbouring places of a label differ by no more than the noise, mostly."""
    if target.noise == 0.0:
        return Fineness()
    z, step, values = (
        np.random.default_rng(7).standard_normal((target.indices, _PROBES)),
        1e-3,
        link_values(target.link),
    )
    moved = [z + step * np.eye(len(z))[:, i : i + 1] for i in range(len(z))]
    slopes = [np.abs(values(each) - values(z)) / step for each in moved]
    largest = float(np.quantile(np.max(slopes, axis=0), _MOSTLY))
    halvings = math.log2(max(_APART * largest / math.sqrt(target.noise), 1.0))
    return Fineness(labels=min(math.ceil(halvings), _HALVINGS[target.indices > 1]))
