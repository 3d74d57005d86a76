"""What pairs of fits need of a single one, by name: of a system with its solution, or of points of a square loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from derive.directions import directions_of
from giantstep.law.kinds_of_labels import Points as LabelNodes
from giantstep.law.same_labels import by_channel
from giantstep.law.terms import link_term
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.problem import Problem
from giantstep.system.square_loss import Points
from giantstep.system.state import slices_by_name
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
_FEATURES = ("mu0", "mu1", "mu2sq")
NOTHING: Mapping[str, Array] = MappingProxyType({})
Gathered = tuple[Array, tuple[tuple[int, ...], ...]]


class SingleFit(ABC):
    """remembered: what follows from the nodes; columns [C, N]: what is given at these before the features; parameters
    [5]; system: None of points.
    """

    problem: Problem
    parameters: Array
    columns: Array
    features: dict[str, Array]
    weight: Array
    remembered: dict[Any, Any]
    system: CoupledSystem | None = None

    @property
    @abstractmethod
    def known(self) -> dict[str, Any]:
        """Families, functions of kappa at the nodes, features there, numbers, by name."""

    @abstractmethod
    def numbers(self, names: tuple[str, ...], beside: Mapping[str, Array] = NOTHING) -> Gathered:
        """(the numbers of families and functions one behind the other, their shapes); beside: further ones; zeta_hat
        and psi_hat are those along all directions [K, q].
        """

    @abstractmethod
    def label_square(self) -> Array:
        """E y^2 of a label that is drawn given kappa."""

    @cached_property
    def apart(self) -> Array:
        """The variance [N] of a label given the inputs, its noise and what is drawn. Noise inside the link is that of a
        sign of one index.
        """
        target = self.problem.model.target
        if target.probit > 0.0:
            mean = link_term(by_channel(target), self.problem.overlaps)
            assert mean is not None
            nu0, nu1, rest = mean.coefficients(self.columns[0])  # of the mean label; the square of a sign is one
            return np.asarray(np.maximum(0.0, 1.0 - nu0**2 - nu1**2 - rest))
        nu = self.columns[2 : 4 + target.indices]  # mean, linear part and rest of the clean label
        clean = (nu[:-1] ** 2).sum(axis=0) + nu[-1]
        if target.channel is not None:
            return np.asarray(np.maximum(0.0, self.label_square() - clean))
        return np.asarray(target.noise + 4.0 * target.flips * (1.0 - target.flips) * clean)

    @property
    def average(self) -> Array:
        """E g^2 [N]."""
        return np.asarray(self.known["avg_gg"])

    @property
    def slopes(self) -> tuple[str, ...]:
        """Names of the slopes of the mean output along the indices."""
        return directions_of("slope", self.problem.model.target.indices)

    def along_directions(self) -> dict[str, tuple[str, ...]]:
        """Names of the conjugates along every direction."""
        counts = self.problem.rank, self.problem.model.target.indices
        return {n: directions_of(n, count) for n, count in zip(("zeta_hat", "psi_hat"), counts, strict=True)}


class FitAtPoint(SingleFit):
    """Of the square loss, at the one point that it was solved at."""

    def __init__(self, points: Points) -> None:
        self.problem, rule = points.problem, points.rule
        self.parameters, self.node = self.problem.parameters.array(), rule.node
        self.kernel, self.work, self.field = rule.kernel, points.solved.work[0], points.solved.field
        if not rule.of_pairs:
            rule.of_pairs.update(_of_rule(rule, self.problem))
        self.remembered = rule.of_pairs
        self.columns, self.features, self.weight = (rule.of_pairs[name] for name in ("columns", "features", "weight"))
        self.rows = rule.of_pairs["rows"]
        self.gain = 1.0 / (1.0 + self.function("V"))

    @cached_property
    def every(self) -> Array:
        """The numbers of the families, of functions of kappa, and the gain, one behind the other."""
        return np.concatenate([self.work, self.field.ravel(), self.gain])

    @property
    def average(self) -> Array:
        """See ``SingleFit``."""
        found: Array = self.gain**2 * self.function("risk")
        return found

    def function(self, name: str) -> Array:
        """A function of kappa."""
        found: Array = self.field[self.rows[name]]
        return found

    @cached_property
    def known(self) -> dict[str, Any]:
        """See ``SingleFit``."""
        work, families = self.work, slices_by_name(self.kernel, len(self.problem.fraction))
        found: dict[str, Any] = {name: work[place].reshape(shape) for name, (place, shape) in families.items()}
        found |= zip(self.kernel.FIELDS, self.field, strict=True)
        alpha, beta, _, _, inverse_dimension = self.parameters.tolist()
        found |= {"alpha": alpha, "beta": beta, "inverse_dimension": inverse_dimension}
        found |= {"fraction": self.problem.fraction, "weight": self.weight, **self.features}
        return {**found, "avg_h": self.gain, "avg_gg": self.average}

    def numbers(self, names: tuple[str, ...], beside: Mapping[str, Array] = NOTHING) -> Gathered:
        """See ``SingleFit``."""
        every = self.every
        if beside:
            every = np.concatenate([every, *(values.ravel() for values in beside.values())])
        if names not in self.remembered:
            shapes = {name: values.shape for name, values in beside.items()}
            self.remembered[names] = self._places(names, shapes)
        place, found = self.remembered[names]
        return every[place], found

    def _places(self, names: tuple[str, ...], beside: dict[str, tuple[int, ...]]) -> Gathered:
        """Where these numbers lie among those of the families, functions, the gain and what is beside."""
        families, along = slices_by_name(self.kernel, len(self.problem.fraction)), self.along_directions()
        places = {n: np.arange(at.start, at.stop).reshape(shape) for n, (at, shape) in families.items()}
        end, nodes = len(self.work), self.field.shape[1]
        for name, shape in {**dict.fromkeys((*self.kernel.FIELDS, "avg_h"), (nodes,)), **beside}.items():
            places[name] = end + np.arange(int(np.prod(shape))).reshape(shape)
            end += places[name].size
        if beside:  # of layers apart, whose directions are told one by one
            places |= {name: np.stack([places[part] for part in parts], axis=1) for name, parts in along.items()}
        found = [places[name] for name in names]
        return np.concatenate([each.ravel() for each in found]), tuple(each.shape for each in found)

    def label_square(self) -> Array:
        """See ``SingleFit``."""
        indices = self.problem.model.target.indices
        label = self.node[4 + indices : 6 + 2 * indices]
        return np.asarray((label[:-1] ** 2).sum(axis=0) + label[-1])


def _of_rule(rule: Any, problem: Problem) -> dict[str, Any]:
    """Columns, features and weights at the nodes of a rule of the square loss, and where functions of kappa are."""
    node, blocks, indices = rule.node, len(problem.fraction), problem.model.target.indices
    before = len(node) - 3 * blocks
    others = before - problem.rank + 1  # coordinates of kappa after the first; what is left out is of a label drawn
    features = {name: node[before + i * blocks :][:blocks] for i, name in enumerate(_FEATURES)}
    columns = np.concatenate([node[: 4 + indices], node[others:before]])
    rows = {name: row for row, name in enumerate(rule.kernel.FIELDS)}
    return {"columns": columns, "features": features, "weight": node[1], "rows": rows}


class FitOfSystem(SingleFit):
    """Of a system with its solution in the workspace."""

    def __init__(self, system: CoupledSystem) -> None:
        self.problem, self.parameters, self.system = system.problem, system.parameters, system
        self.features, self.weight, self.remembered = features_of(system), system.table[:, 1].copy(), {}
        self.columns = system.node[: system.node.shape[0] - (4 if self.problem.norms_vary else 3) * system.blocks]
        self.copied = self._known(system)

    @property
    def known(self) -> dict[str, Any]:
        """See ``SingleFit``."""
        return self.copied

    def _known(self, system: CoupledSystem) -> dict[str, Any]:
        alpha, beta, _, _, inverse_dimension = system.parameters
        found = {**system.known(), **self.features}
        found |= {"alpha": alpha, "beta": beta, "inverse_dimension": inverse_dimension}
        found |= {"fraction": self.problem.fraction, "weight": self.weight}
        plain = found
        if self.problem.weights is not None:  # the risk of a label does not know the weights
            without = coupled_at(self.problem._replace(weights=None), system.level)
            without.takes(system)
            without.residual(system.x)
            plain = without.known()
        if self.problem.model.fit.loss.key == "square":
            found["risk"] = plain["avg_gg"] / plain["avg_h"] ** 2
        return found

    def numbers(self, names: tuple[str, ...], beside: Mapping[str, Array] = NOTHING) -> Gathered:
        """See ``SingleFit``."""
        known = {**self.known, **beside}
        if beside:
            along = self.along_directions().items()
            known |= {name: np.stack([known[part] for part in parts], axis=1) for name, parts in along}
        found = [np.asarray(known[name]) for name in names]
        return np.concatenate([each.ravel() for each in found]), tuple(each.shape for each in found)

    def label_square(self) -> Array:
        """See ``SingleFit``."""
        assert self.system is not None
        law = self.system.labels
        assert isinstance(law, LabelNodes)  # of the square loss: nodes with the moments of the label
        return np.asarray((law.weight * law.label**2).sum(axis=1))


def features_of(system: CoupledSystem) -> dict[str, Array]:
    """mu0, mu1, mu2sq [K, N] at the nodes of a system."""
    blocks = system.blocks
    first = system.node.shape[0] - (4 if system.problem.norms_vary else 3) * blocks
    return {name: system.node[first + i * blocks :][:blocks] for i, name in enumerate(_FEATURES)}
