"""What the overlaps of two fits solve: generated equations of a pair, or those of a single fit of any first layer.

Fits of one first layer have all their numbers in common but E g_1 g_2, which takes the place of E g^2 in the equations
of Q1 and Q2. These are linear in both; their solution is Q1_12 and Q2_12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from giantstep.law.kind import BulkKind, bulk_kind
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
_LAYERS = {"stretched": "a trained bulk", "matrix": "a given bulk", "neurons": "a given bulk"}


class Sharing(NamedTuple):
    """What two fits have in common. data: the share of the samples of each; noise: whether the labels of these have the
    same noise; layer: whether the first layer is the same, else its bulk is independent and the spike the same.
    """

    data: float
    noise: bool
    layer: bool


class PairEquations(Protocol):
    """Equations for T_12 = beta Q2_12 and Q1_12, where E g_1 g_2 is given at every node of kappa [N].

    Raise NotConverged.
    """

    def missed(self, known: Mapping[str, Any], own: Mapping[str, Array], average: Array) -> tuple[Array, Array]:
        """What vanishes for T_12 [K] and for Q1_12 [K, K], by what is known of a single fit."""

    def certificate(self, state: Mapping[str, Any], parameters: Array, square: bool) -> float:
        """The worst relative residual of all equations, evaluated from their text; square: with those of E g_1 g_2."""


@dataclass(frozen=True)
class GeneratedPair:
    """The equations of a module of pairs; whatever the layers share."""

    kernel: ModuleType
    system: CoupledSystem

    def missed(self, known: Mapping[str, Any], own: Mapping[str, Array], average: Array) -> tuple[Array, Array]:
        """See ``PairEquations``."""
        matrix, vector = self.kernel.conjugates(**known, avg_gg_12=average)
        off, q1, _ = self.kernel.overlaps(**known, **own, Q1_hat_12=matrix, Q2_hat_12=vector)
        return off, own["Q1_12"] - 0.5 * (q1 + q1.T)

    def certificate(self, state: Mapping[str, Any], parameters: Array, square: bool) -> float:
        """See ``PairEquations``."""
        system, check = self.system, self.kernel.check_square if square else self.kernel.check
        columns = system.node[: system.node.shape[0] - (4 if system.problem.norms_vary else 3) * system.blocks]
        node = np.concatenate([columns, *(state[name] for name in ("mu0", "mu1", "mu2sq", "mu2sq_12"))])
        matrix, vector = self.kernel.conjugates(**state)
        whole = {**state, "Q1_hat_12": matrix, "Q2_hat_12": vector}
        return float(check(node, system.problem.fraction, parameters, whole))


@dataclass(frozen=True)
class PairOfLayer:
    """The equations of a single fit, for pairs that share its first layer."""

    system: BulkSystem

    def missed(self, known: Mapping[str, Any], own: Mapping[str, Array], average: Array) -> tuple[Array, Array]:
        """See ``PairEquations``."""
        system, share = self.system, known["alpha"] / self.system.parameters[0]
        numbers = system.numbers
        system.evaluated = False  # these are no longer those of the fit
        numbers["avg_gg"], numbers["Q1"], numbers["adjoint"] = share * average, own["Q1_12"], own["Q2_12"]
        if not system.follow():
            raise NotConverged("what the samples of the step add to the rows is not found again", NOT_LOOKED_FOR)
        return numbers["residual_adjoint"].copy(), numbers["residual_Q1"].copy()

    def certificate(self, state: Mapping[str, Any], parameters: Array, square: bool) -> float:
        """See ``PairEquations``; that of E g_1 g_2 of the square loss is not among them."""
        self.missed(state, state, state["avg_gg_12"])
        system = self.system
        return float(system.equations.check(system.node, system.problem.fraction, system.parameters, system.numbers))


def pair_equations(kernel: ModuleType, system: CoupledSystem) -> PairEquations:
    """The equations of pairs of fits of a system."""
    if bulk_kind(system.problem.model) not in _LAYERS:
        return GeneratedPair(kernel, system)
    assert isinstance(system, BulkSystem)
    return PairOfLayer(system)


def kind_of_pairs(model: Model) -> BulkKind:
    """The law of rows whose generated module has the averages over two outputs."""
    kind = bulk_kind(model)
    return "norms" if kind in _LAYERS else kind


def require_held(model: Model, held: tuple[str, ...]) -> None:
    """Raise BadInput where fits draw a first layer of their own and this has not been derived."""
    words = _LAYERS.get(bulk_kind(model))
    needed = tuple(name for name in ("batch", "initialisation") if name == "initialisation" or model.step is not None)
    if words is not None and not {*needed} <= {*held}:
        raise BadInput(
            f"fits with first layers of their own have not been derived for {words}",
            f"hold the first layer: given={needed}, or --given {','.join(needed)}"
            + ('; or use step.bulk = "isotropic"' if model.bulk == "trained" else ""),
        )
