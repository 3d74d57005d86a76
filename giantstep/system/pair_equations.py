"""What the overlaps of two fits solve: generated equations of a pair, or those of a single fit of any first layer.

Both are affine in the overlaps and in averages over the nodes. Fits of one first layer have all their numbers in common
but E g_1 g_2, which takes the place of E g^2 in the equations of Q1 and Q2; their solution is Q1_12 and Q2_12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from generated.runtime.rows_of_pairs import moments, steps
from giantstep.law.kind import BulkKind, bulk_kind
from giantstep.spec.errors import NOT_LOOKED_FOR, BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.single_fit import SingleFit
from giantstep.system.state import pairs

Array = np.ndarray
_LAYERS = {"stretched": "a trained bulk", "matrix": "a given bulk", "neurons": "a given bulk"}


class Sharing(NamedTuple):
    """What two fits have in common. data: the share of the samples of each; noise: whether the labels of these have the
    same noise; layer: whether the first layer is the same, else its bulk is independent and the spike the same.
    """

    data: float
    noise: bool
    layer: bool


class Linearised(NamedTuple):
    """S pairs of one fit, with E g_1 g_2 and its slope in the covariance [S, N] at their unknowns.

    sharing [S]; readouts [S, 4, K]: T_12 and its slope in the unknown of the readouts, and both of the fields of
    stand-ins; overlaps [S, pairs]: Q1_12.
    """

    sharing: Sequence[Sharing]
    value: Array
    slope: Array
    readouts: Array
    overlaps: Array


class Solved(NamedTuple):
    """Solutions for S pairs of one fit: T_12 and random_field_12 [S, K], Q1_12 [S, K, K], and at the nodes [S, N] the
    covariance Delta_12, E g_1 g_2, and the variance of the labels' noise that is not shared.
    """

    sharing: Sequence[Sharing]
    readout: Array
    field: Array
    overlap: Array
    covariance: Array
    average: Array
    apart: Array


class PairEquations(Protocol):
    """Equations for T_12 = beta Q2_12 and Q1_12, where E g_1 g_2 is given at every node of kappa [N].

    products [n, N]: what the covariance of the outputs moves by with the overlaps. Raise NotConverged.
    """

    @property
    def products(self) -> Array:
        """See above."""

    def steps(self, of: Linearised) -> Array:
        """How far the unknowns are from those that solve the linearised equations, [S, n]."""

    def certificates(self, of: Solved, square: bool) -> Array:
        """The worst relative residuals [S] of all equations, evaluated from their text; square: with those of E g_1 g_2
        of the square loss.
        """


class GeneratedPair:
    """The equations of a module of pairs; whatever the layers share."""

    def __init__(self, kernel: ModuleType, single: SingleFit) -> None:
        self.kernel, self.known, self.parameters, self.columns = kernel, single.known, single.parameters, single.columns
        known, parameters = self.known, self.parameters
        self.products, self.times = products_of(kernel, single)
        blocks = len(known["fraction"])
        overlaps = np.array([np.zeros(blocks), np.ones(blocks)])  # of the rows in layers apart, in the same
        self.maps = kernel.rows.maps(known["fraction"], parameters, known, overlaps)

    def steps(self, of: Linearised) -> Array:
        """See ``PairEquations``."""
        count, (n, blocks) = len(of.sharing), (len(self.products), len(self.known["fraction"]))
        beta, layer = float(self.parameters[1]), np.array([sharing.layer for sharing in of.sharing], np.int64)
        factor = np.outer([sharing.data for sharing in of.sharing], self.parameters[0] / beta / self.times)
        factor[:, :blocks] *= layer[:, None]
        first, second, found = np.empty((count, n)), np.empty((count, n, n)), np.empty((count, n))
        moments(self.products, self.known["weight"], of.value, of.slope, first, second)
        second[:, :, :blocks] *= layer[:, None, None]
        steps(self.maps, layer, factor, first, second, of.readouts, of.overlaps, beta, found)
        return found

    def certificates(self, of: Solved, square: bool) -> Array:
        """See ``PairEquations``."""
        known, layer = self.known, np.array([float(sharing.layer) for sharing in of.sharing])
        parameters = np.tile(self.parameters, (len(layer), 1))
        parameters[:, 0] *= [sharing.data for sharing in of.sharing]
        matrix, vector = self._conjugates(of.average, parameters)
        each = {"mu2sq_12": layer[:, None, None] * known["mu2sq"], "T_12": of.readout, "random_field_12": of.field}
        each |= {"Q1_12": of.overlap, "Q2_12": of.readout / self.parameters[1], "Delta_12": of.covariance}
        each |= {"avg_gg_12": of.average, "Q1_hat_12": matrix, "Q2_hat_12": vector * layer[:, None]}
        each |= {"overlap": np.repeat(layer[:, None], len(known["fraction"]), axis=1), "apart": of.apart}
        certificate = self.kernel.certificate_of_square if square else self.kernel.certificate
        found: Array = certificate.check_each(self.columns, known["fraction"], parameters, known, each)
        return found

    def _conjugates(self, average: Array, parameters: Array) -> tuple[Array, Array]:
        """Q1_hat_12 [S, K, K] and Q2_hat_12 [S, K] of one layer by E g_1 g_2: stationarity in the overlaps."""
        factor = parameters[:, 0] / self.parameters[1]
        found = factor[:, None] / self.times * ((average * self.known["weight"]) @ self.products.T)
        blocks = len(self.known["fraction"])
        return symmetric(found[:, blocks:], blocks), found[:, :blocks]


def symmetric(members: Array, blocks: int) -> Array:
    """Matrices [S, K, K] from one of each pair of their members [S, pairs]."""
    first, second = np.array(pairs(blocks)).T
    found: Array = np.empty((len(members), blocks, blocks))
    found[:, first, second] = found[:, second, first] = members
    return found


def products_of(kernel: ModuleType, single: SingleFit) -> tuple[Array, Array]:
    """(what the covariance of the outputs moves by with Q2_12 and one of each pair of Q1_12 where the layers are the
    same [n, N], how many members of Q1_12 that are [n]); remembered for the nodes of the square loss.
    """
    if kernel not in single.remembered:
        single.remembered[kernel] = _products(kernel, single.known)
    found: tuple[Array, Array] = single.remembered[kernel]
    return found


def _products(kernel: ModuleType, known: Mapping[str, Any]) -> tuple[Array, Array]:
    blocks = len(known["fraction"])
    units = [(np.eye(blocks)[b], np.zeros((blocks, blocks))) for b in range(blocks)]
    for b, c in pairs(blocks):
        unit = np.zeros((blocks, blocks))
        unit[b, c] = unit[c, b] = 1.0
        units.append((np.zeros(blocks), unit))
    still = {name: 0.0 for name in known if name.startswith("slope")}  # which the covariance is without, then
    given = {**known, **still, "mu2sq_12": known["mu2sq"]}
    found = [kernel.covariance(**{**given, "Q2_12": vector, "Q1_12": matrix}) for vector, matrix in units]
    return np.array(found), np.array([1.0] * blocks + [1.0 + (b != c) for b, c in pairs(blocks)])


@dataclass(frozen=True)
class PairOfLayer:
    """The equations of a single fit, for pairs that share its first layer."""

    system: BulkSystem
    products: Array  # see ``products_of``

    def steps(self, of: Linearised) -> Array:
        """See ``PairEquations``."""
        each = zip(of.sharing, of.value, of.slope, of.readouts[:, 0], of.overlaps, strict=True)
        return np.array([self._step(*one) for one in each])

    def _step(self, sharing: Sharing, value: Array, slope: Array, readouts: Array, overlaps: Array) -> Array:
        """By unit vectors: the equations are linear."""
        blocks, share = len(readouts), sharing.data
        x = np.concatenate([readouts, overlaps])
        start = self._missed(x, share * value)
        matrix = np.empty((len(x), len(x)))
        for column, product in enumerate(self.products):
            there = x.copy()
            there[column] += 1.0
            moved = product / self.system.parameters[1] if column < blocks else product
            matrix[:, column] = self._missed(there, share * (value + slope * moved)) - start
        found: Array = np.linalg.solve(matrix, start)
        return found

    def _missed(self, x: Array, average: Array) -> Array:
        """What vanishes for T_12 and Q1_12, with E g_1 g_2 times the share of the samples."""
        system, blocks = self.system, self.system.blocks
        self._put(average, symmetric(x[None, blocks:], blocks)[0], x[:blocks] / system.parameters[1])
        off, q1 = system.numbers["residual_adjoint"], system.numbers["residual_Q1"]
        return np.concatenate([off, [q1[b, c] for b, c in pairs(blocks)]])

    def _put(self, average: Array, matrix: Array, vector: Array) -> None:
        numbers = self.system.numbers
        self.system.evaluated = False  # these are no longer those of the fit
        numbers["avg_gg"], numbers["Q1"], numbers["adjoint"] = average, matrix, vector
        if not self.system.follow():
            raise NotConverged("what the samples of the step add to the rows is not found again", NOT_LOOKED_FOR)

    def certificates(self, of: Solved, square: bool) -> Array:
        """See ``PairEquations``; that of E g_1 g_2 of the square loss is not among them."""
        system, found = self.system, []
        for sharing, average, matrix, readout in zip(of.sharing, of.average, of.overlap, of.readout, strict=True):
            self._put(sharing.data * average, matrix, readout / system.parameters[1])
            given = system.node, system.problem.fraction, system.parameters, system.numbers
            found.append(float(system.equations.check(*given)))
        return np.array(found)


def pair_equations(kernel: ModuleType, single: SingleFit) -> PairEquations:
    """The equations of pairs of fits."""
    if bulk_kind(single.problem.model) not in _LAYERS:
        return GeneratedPair(kernel, single)
    assert isinstance(single.system, BulkSystem)
    return PairOfLayer(single.system, products_of(kernel, single)[0])


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
