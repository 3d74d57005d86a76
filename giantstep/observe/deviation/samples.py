"""What the samples add to the variance of the test error: moments of the slope of the loss at labels and outputs."""

from __future__ import annotations

import numpy as np

from generated.draws import sample
from generated.runtime.nodes import Output
from giantstep.law.kinds_of_labels import Points
from giantstep.law.labels import drawn, nodes_of_link, with_noise
from giantstep.law.same_labels import by_channel
from giantstep.observe.deviation.source import Moved
from giantstep.spec.errors import BadInput
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
_MOMENTS = 8  # of the slope, see ``slope_moments``


def of_samples(system: CoupledSystem, moved: Moved) -> float:
    """alpha times what one sample adds: the mean of the product, less the square of the mean."""
    labels, rates = _labels(system), moved.rates
    weight = labels.weight * system.table[:, 1, None]
    along = rates["d_mean"][:, None] + np.einsum("dn,njd->nj", moved.slopes, labels.t)
    square = (moved.slopes**2).sum(axis=0)
    given = (along, *(each[:, None] for each in (square, rates["d_Delta"], rates["d_V"])))
    first, product = sample(*given, *_moments(system, labels))
    return float(system.parameters[0] * ((weight * product).sum() - (weight * first).sum() ** 2))


def _labels(system: CoupledSystem) -> Points:
    """All labels at nodes of t, with what flips, a channel and noise make of them where no variance tells it."""
    problem, level = system.problem, system.level
    target = by_channel(problem.model.target)
    kappa = system.points() if problem.rank > 1 else system.kappa
    found = nodes_of_link(target, problem.overlaps, kappa, level.labels, level.rough)
    if np.any(found.rest):
        raise BadInput(
            "the deviation between draws of labels with noise inside the link has not been derived",
            "set target.probit to 0, or give it to a link that is one sign of one index, without flips",
        )
    found = drawn(found, target, level.labels, level.rough)
    if target.noise > 0.0 and system.noise == 0.0:
        noisy = with_noise(found, target.noise, level.labels, level.rough)
        assert isinstance(noisy, Points)
        return noisy
    return found


def _moments(system: CoupledSystem, labels: Points) -> Array:
    """Averages of powers of the slope over the output at every node of the label, and derivatives: [8, N, J]."""
    shape = labels.weight.shape
    centre = system.view("mean")[:, None] + np.einsum("dn,njd->nj", np.array(system.slopes), labels.t)
    spread, response = (
        np.broadcast_to(each[:, None], shape).ravel()
        for each in (np.sqrt(system.view("Delta") + system.noise), system.view("V"))
    )
    kept = np.flatnonzero(labels.weight.ravel())
    out, found = np.empty((len(kept), _MOMENTS)), np.zeros((shape[0] * shape[1], _MOMENTS))
    outputs = Output(centre.ravel()[kept], spread[kept], response[kept])
    system.loss.LOSS.slope_moments(system.rule, labels.label.ravel()[kept], outputs, system.scratch, out)
    found[kept] = out
    return found.T.reshape(_MOMENTS, *shape)
