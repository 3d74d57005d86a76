"""How many nodes the averages of a loss need where kappa has several directions and the label several indices."""

from __future__ import annotations

import numpy as np

from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.label_cells import Cells, straight_law
from giantstep.law.labels import label_law
from giantstep.quadrature.tensor import tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.kernels import bend_of, loss_kernel
from giantstep.system.problem import Problem

_MOST = 12_000_000  # nodes of label and kappa together: some five seconds for each evaluation of the equations
_OF_A_LINE = 3  # nodes that take as long as one where the label is linear beside it
_SAMPLE = 5  # points of kappa at which nodes of the label are counted


def require_affordable(problem: Problem) -> None:
    """Raise NotConverged where a loss needs the label at so many nodes that solving would take many minutes.

    The square loss needs its moments only.
    """
    target, loss = problem.model.target, problem.model.fit.loss
    if problem.rank == 1 or target.indices == 1 or loss.key == "square":
        return
    nodes = len(tensor_table(AveragedTerms.of(problem).shape, (1.0,) * problem.rank))
    sample = np.random.default_rng(0).standard_normal((_SAMPLE, problem.rank))
    straight = straight_law(target, problem.overlaps, (loss.form, bend_of(loss_kernel(loss))), sample)
    law = label_law(target, problem.overlaps, sample) if straight is None else straight
    assert not isinstance(law, Intervals)
    labels = law.label.shape[1] if isinstance(law, Cells) else int(np.count_nonzero(law.weight, axis=1).max())
    if nodes * labels * (1 if straight is None else _OF_A_LINE) > _MOST:
        raise NotConverged(
            f"averages of the loss {loss} need {nodes} nodes of the spike's {problem.rank} directions, and at each of "
            f"them {labels} of the label {target.link!r}: more than {_MOST:.0e} in all",
            "use the square loss, which needs moments of the label only, or a spike or a link of fewer directions",
        )
