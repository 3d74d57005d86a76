"""Nodes of the label between the places where a function of it has kinks or jumps, whatever the output is."""

from __future__ import annotations

import numpy as np

from giantstep.law.directions import noisy_indices
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.labels import drawn, label_law
from giantstep.law.multi_index_labels import nodes_given_kappa
from giantstep.quadrature.gauss import normal_between
from giantstep.quadrature.kinks import bracketed_zeros
from giantstep.spec.kernels import function_kernel
from giantstep.spec.link import link_values
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target

Array = np.ndarray
_REACH, _ORDER, _PANELS = 9.0, 12, 3  # of t; nodes of a panel; panels between two cuts
_BEYOND = 14.0  # where places of the link are looked for


def labels_cut_at(target: Target, overlaps: Rows, kappa: Array, places: tuple[float, ...], finer: int) -> Labels:
    """The law of the noisy label at kappa [N, q], with nodes on either side of the given labels.

    Labels that are constant on intervals have nothing to cut. Raises NotConverged where there are too many nodes.
    """
    plain = label_law(target, overlaps, kappa, finer=finer)
    if isinstance(plain, Intervals) or not places:
        return plain
    gamma = np.atleast_2d(np.array(overlaps))
    noisy = noisy_indices(gamma, target.probit)
    if target.indices == 1:
        if not noisy.lower[0, 0] > 0.0:
            return plain
        weight, t = _of_one(target.link, gamma[0, 0] * kappa[:, 0], float(noisy.lower[0, 0]), places, finer)
    else:
        cut = "+".join(f"abs({target.link}-({place!r}))" for place in places)
        weight, t = nodes_given_kappa(f"{target.link}+{cut}", gamma, noisy.lower, kappa, finer, False)
    z = (kappa @ gamma).T[:, :, None] + np.einsum("ij,nkj->ink", noisy.lower, t)
    found = Points(weight, link_values(target.link)(z), np.einsum("ij,nkj->nki", noisy.carry, t), noisy.rest)
    return drawn(found, target, finer)


def _of_one(link: str, centre: Array, width: float, places: tuple[float, ...], finer: int) -> tuple[Array, Array]:
    """Weights [N, J] and nodes t [N, J, 1] of ``z = centre + width t``."""
    values = link_values(link)
    wanted = np.array(places)[:, None]
    zeros = bracketed_zeros(lambda z: values(np.atleast_2d(z)[None, 0]) - wanted, (-_BEYOND, _BEYOND))
    cuts = np.unique([*function_kernel(link).BREAKPOINTS, *zeros[np.isfinite(zeros)].tolist()])
    inner = np.clip((cuts[None, :] - centre[:, None]) / width, -_REACH, _REACH)
    ends = np.full((len(centre), 1), _REACH)
    edges = np.concatenate([-ends, inner, ends], axis=1)
    parts = np.arange(_PANELS * 2**finer + 1) / (_PANELS * 2**finer)
    panels = edges[:, :-1, None] + np.diff(edges, axis=1)[:, :, None] * parts
    t, weight = normal_between(panels[:, :, :-1], panels[:, :, 1:], _ORDER)
    return weight.reshape(len(centre), -1), t.reshape(len(centre), -1, 1)
