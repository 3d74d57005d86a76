"""What pairs of fits need of a single one, by name: of a system with its solution, or of points of a square loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from giantstep.law.kinds_of_labels import Points as LabelNodes
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import Problem
from giantstep.system.square_loss import Points
from giantstep.system.state import slices_by_name
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_FEATURES = ("mu0", "mu1", "mu2sq")


@dataclass(frozen=True, eq=False)
class SingleFit:
    """known: families, functions of kappa at the nodes, features there, numbers, by name; columns [C, N]: what is given
    at the nodes before the features; parameters [5]; system: None of points; remembered: what follows from the nodes.
    """

    problem: Problem
    known: dict[str, Any]
    columns: Array
    parameters: Array
    square: Callable[[], Array] = field(repr=False)  # E y^2 of a label that is drawn given kappa
    system: CoupledSystem | None = None
    remembered: dict[Any, Any] = field(default_factory=dict, repr=False)  # of its nodes

    @cached_property
    def apart(self) -> Array:
        """The variance [N] of a label given the inputs, its noise and what is drawn."""
        target = self.problem.model.target
        nu = self.columns[2 : 4 + target.indices]  # mean, linear part and rest of the clean label
        clean = (nu[:-1] ** 2).sum(axis=0) + nu[-1]
        if target.channel is not None:
            return np.asarray(np.maximum(0.0, self.square() - clean))
        return np.asarray(target.noise + 4.0 * target.flips * (1.0 - target.flips) * clean)


def of_points(points: Points) -> SingleFit:
    """Of the square loss, at the one point that it was solved at."""
    problem, rule = points.problem, points.rule
    indices, node = problem.model.target.indices, rule.node
    if not rule.of_pairs:
        rule.of_pairs.update(_of_rule(rule, problem))
    places, columns, features = (rule.of_pairs[name] for name in ("places", "columns", "features"))
    work, parameters = points.solved.work[0], problem.parameters.array()
    known: dict[str, Any] = {name: work[place].reshape(shape) for name, place, shape in places}
    known |= zip(rule.kernel.FIELDS, points.solved.field, strict=True)
    alpha, beta, _, _, inverse_dimension = parameters.tolist()
    known |= {"alpha": alpha, "beta": beta, "inverse_dimension": inverse_dimension}
    known |= {"fraction": problem.fraction, "weight": node[1], **features}
    gain = known["avg_h"] = 1.0 / (1.0 + known["V"])
    known["avg_gg"] = gain * gain * known["risk"]

    def square() -> Array:
        label = node[4 + indices : 6 + 2 * indices]
        return np.asarray((label[:-1] ** 2).sum(axis=0) + label[-1])

    return SingleFit(problem, known, columns, parameters, square, remembered=rule.of_pairs)


def _of_rule(rule: Any, problem: Problem) -> dict[str, Any]:
    """Places of the families, columns and features of a rule of the square loss."""
    node, blocks, indices = rule.node, len(problem.fraction), problem.model.target.indices
    before = len(node) - 3 * blocks
    others = before - problem.rank + 1  # coordinates of kappa after the first; what is left out is of a label drawn
    features = {name: node[before + i * blocks :][:blocks] for i, name in enumerate(_FEATURES)}
    places = [
        (name, *place)
        for name, place in slices_by_name(rule.kernel, blocks).items()
        if not name.startswith(("d_", "residual_", "weight_", "average_", "product_"))
    ]
    columns = np.concatenate([node[: 4 + indices], node[others:before]])
    return {"places": places, "columns": columns, "features": features}


def of_system(system: CoupledSystem) -> SingleFit:
    """Of a system with its solution in the workspace."""
    problem = system.problem
    alpha, beta, _, _, inverse_dimension = system.parameters
    found = {**system.known(), **features_of(system)}
    found |= {"alpha": alpha, "beta": beta, "inverse_dimension": inverse_dimension}
    found |= {"fraction": problem.fraction, "weight": system.table[:, 1]}
    plain = found
    if problem.weights is not None:  # the risk of a label does not know the weights
        without = coupled_at(problem._replace(weights=None), system.level)
        without.takes(system)
        without.residual(system.x)
        plain = without.known()
    if problem.model.fit.loss.key == "square":
        found["risk"] = plain["avg_gg"] / plain["avg_h"] ** 2
    columns = system.node[: system.node.shape[0] - (4 if problem.norms_vary else 3) * system.blocks]

    def square() -> Array:
        law = system.labels
        assert isinstance(law, LabelNodes)  # of the square loss: nodes with the moments of the label
        return np.asarray((law.weight * law.label**2).sum(axis=1))

    return SingleFit(problem, found, columns, system.parameters, square, system)


def features_of(system: CoupledSystem) -> dict[str, Array]:
    """mu0, mu1, mu2sq [K, N] at the nodes of a system."""
    blocks = system.blocks
    first = system.node.shape[0] - (4 if system.problem.norms_vary else 3) * blocks
    return {name: system.node[first + i * blocks :][:blocks] for i, name in enumerate(_FEATURES)}
