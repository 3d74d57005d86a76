"""The two directions of t beside a value of kappa, on lines along which labels of two indices are followed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from derive.language.links import link_of
from giantstep.law.directions import noisy_indices
from giantstep.law.kink_roots import Kinks, moves
from giantstep.law.multi_index_labels import Axes, axes_of
from giantstep.quadrature.kinks import kinks
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray


@dataclass(frozen=True)
class LabelPlane:
    """Indices are ``fixed + lower t``, where ``fixed`` is their mean given kappa; E[t|z] is ``carried t``, and ``rest``
    the covariance of what is left. Lines are along the second direction.
    """

    axes: Axes
    kinked: Kinks
    gamma: Array  # [q, 2], indices in the order of the axes
    carried: Array
    rest: Array

    @classmethod
    def of(cls, target: Target, overlaps: Rows) -> LabelPlane:
        """That of a target."""
        gamma, found = np.array(overlaps), link_of(target.link)
        noisy = noisy_indices(gamma, target.probit)
        axes = axes_of(found, noisy.lower)
        kinked = Kinks(axes.names, tuple(dict.fromkeys(kinks(found.node))), axes.lower)
        back = np.eye(2) if axes.back is None else axes.back.T
        plane = cls(axes, kinked, gamma[:, axes.places], np.ascontiguousarray(noisy.carry @ back), noisy.rest)
        if plane.moved:
            return plane
        return replace(plane, rest=plane.rest + np.outer(plane.carried[:, 0], plane.carried[:, 0]))

    @property
    def moved(self) -> bool:
        """Whether the first direction moves the label; where it does not, one line has all of it, as a part of what is
        left of t.
        """
        return moves(self.axes.lower, 0)
