"""What the overlaps of two fits solve: generated equations of a pair, or those of a single fit of any first layer.

Both are affine in the overlaps and in averages over the nodes. Fits of one first layer have all their numbers in common
but E g_1 g_2, which takes the place of E g^2 in the equations of Q1 and Q2; their solution is Q1_12 and Q2_12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from generated.runtime.rows_of_pairs import EACH_AT_NODES, fill_pairs, follow, newton_steps
from giantstep.law.kind import BulkKind, bulk_kind
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.bulk_system import BulkSystem
from giantstep.system.causes import settling_hint
from giantstep.system.single_fit import NOTHING, SingleFit
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
    """S pairs of one fit at unknowns x [S, n]: E g_1 g_2, its slope and the covariance of the outputs [S, N] there.

    readouts [S, 4, K]: T_12 and its slope in the unknown of the readouts, and both of the fields of stand-ins; limits
    [2, K]: the lowest and the highest of these unknowns.
    """

    x: Array
    value: Array
    slope: Array
    covariance: Array
    readouts: Array
    limits: Array


class Solved(NamedTuple):
    """S pairs of one fit: unknowns x [S, n], of which the last are Q1_12, T_12 and random_field_12 [S, K], and at the
    nodes [S, N] the covariance Delta_12 and E g_1 g_2.
    """

    x: Array
    readout: Array
    field: Array
    covariance: Array
    average: Array


class Shared(NamedTuple):
    """What S pairs share, as compiled functions read it: the layer, and how much of the data."""

    layer: Array
    data: Array


def shared_by(every: Sequence[Sharing]) -> Shared:
    """See ``Shared``."""
    return Shared(np.array([one.layer for one in every], np.int64), np.array([one.data for one in every], float))


class PairEquations(Protocol):
    """Equations for T_12 = beta Q2_12 and Q1_12, where E g_1 g_2 is given at every node of kappa [N].

    nodes: what the covariance of the outputs moves by with the overlaps [n, N], how many members of Q1_12 each stands
    for [n], the weights [N], and squares of the slopes of the mean output [N].
    """

    nodes: tuple[Array, Array, Array, Array]

    def steps(self, shared: Shared, at: Linearised) -> Array:
        """How far the unknowns are from those that solve the linearised equations, [S, n]. Raise NotConverged."""

    def certificates(self, shared: Shared, of: Solved, apart: Array, square: bool) -> Array:
        """The worst relative residuals [S] of all equations, evaluated from their text; apart [S, N]: noise of the
        labels that is not shared; square: with those of E g_1 g_2 of the square loss.
        """


def advanced(equations: PairEquations, parameters: Array, shared: Shared, at: Linearised) -> Solved:
    """The next unknowns by Newton's method, and what is linear in them there."""
    step, (count, nodes), K = equations.steps(shared, at), at.value.shape, at.readouts.shape[2]
    found = Solved(*(np.empty((count, size)) for size in (at.x.shape[1], K, K, nodes, nodes)))
    follow(equations.nodes, shared, at, step, parameters, found)
    return found


class GeneratedPair:
    """The equations of a module of pairs; whatever the layers share."""

    def __init__(self, kernel: ModuleType, single: SingleFit) -> None:
        self.kernel, self.single, self.fraction = kernel, single, single.problem.fraction
        self.nodes, blocks = nodes_of(kernel, single), len(single.problem.fraction)
        overlaps = np.array([np.zeros(blocks), np.ones(blocks)])  # of the rows in layers apart, in the same
        given = single.numbers(kernel.rows.names)
        self.maps = kernel.rows.maps(self.fraction, single.parameters, given, overlaps)

    def steps(self, shared: Shared, at: Linearised) -> Array:
        """See ``PairEquations``."""
        found = np.empty_like(at.x)
        newton_steps(self.maps, self.nodes, shared, at, self.single.parameters, found)
        return found

    def certificates(self, shared: Shared, of: Solved, apart: Array, square: bool) -> Array:
        """See ``PairEquations``."""
        single, certificate = self.single, self.kernel.certificate_of_square if square else self.kernel.certificate
        table, sizes = (single.columns, single.features), (len(self.fraction), len(single.weight))
        many, common = many_of(certificate, single, table, (EACH_AT_NODES, *sizes))
        each, parameters = np.empty((len(of.x), many.size)), parameters_of(single, shared.data)
        fill_pairs(self.nodes, shared, (single.features["mu2sq"], apart), single.parameters, of, each)
        found: Array = many.check(self.fraction, parameters, common, each)
        return found


def parameters_of(single: SingleFit, data: Array) -> Array:
    """Of every pair [S, 5]: the samples are those that it shares."""
    found = np.empty((len(data), len(single.parameters)))
    found[:] = single.parameters
    found[:, 0] *= data
    return found


def many_of(
    certificate: Any,
    single: SingleFit,
    table: tuple[Array, Mapping[str, Array]],
    own: tuple[Mapping[str, str], int, int],
    beside: Mapping[str, Array] = NOTHING,
) -> tuple[Any, Array]:
    """(certificate of many pairs on a table, numbers that they have in common); own: letters of the axes of what each
    has, numbers of blocks and of nodes. Remembered for the nodes.
    """
    if certificate not in single.remembered:
        letters, blocks, nodes = own
        lengths = {"b": blocks, "c": blocks, "n": nodes}
        each = {name: tuple(lengths[letter] for letter in of) for name, of in letters.items()}
        names = certificate.in_common(each)
        single.remembered[certificate] = names, certificate.many(table, each, single.numbers(names, beside)[1])
    names, many = single.remembered[certificate]
    return many, single.numbers(names, beside)[0]


def symmetric(members: Array, blocks: int) -> Array:
    """Matrices [S, K, K] from one of each pair of their members [S, pairs]."""
    first, second = np.array(pairs(blocks)).T
    found: Array = np.empty((len(members), blocks, blocks))
    found[:, first, second] = found[:, second, first] = members
    return found


def nodes_of(kernel: ModuleType, single: SingleFit) -> tuple[Array, Array, Array, Array]:
    """See ``PairEquations``; what does not depend on the solution is remembered for the nodes."""
    if kernel not in single.remembered:
        single.remembered[kernel] = _products(kernel, single.known)
    products, times = single.remembered[kernel]
    slopes, _ = single.numbers(single.slopes)
    squares = slopes * slopes
    return products, times, single.weight, squares.reshape(-1, products.shape[1]).sum(axis=0)


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


class PairOfLayer:
    """The equations of a single fit, for pairs that share its first layer."""

    def __init__(self, kernel: ModuleType, single: SingleFit) -> None:
        assert isinstance(single.system, BulkSystem)
        self.system, self.nodes = single.system, nodes_of(kernel, single)

    def steps(self, shared: Shared, at: Linearised) -> Array:
        """See ``PairEquations``."""
        each = zip(shared.data, at.value, at.slope, at.x, strict=True)
        return np.array([self._step(*one) for one in each])

    def _step(self, share: float, value: Array, slope: Array, x: Array) -> Array:
        """By unit vectors: the equations are linear."""
        start = self._missed(x, share * value)
        matrix = np.empty((len(x), len(x)))
        for column, product in enumerate(self.nodes[0]):
            there = x.copy()
            there[column] += 1.0
            moved = product / self.system.parameters[1] if column < self.system.blocks else product
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
            raise NotConverged(
                "what the samples of the step add to the rows is not found again", settling_hint(self.system.problem)
            )

    def certificates(self, shared: Shared, of: Solved, apart: Array, square: bool) -> Array:
        """See ``PairEquations``; that of E g_1 g_2 of the square loss is not among them."""
        system, found = self.system, []
        matrices = symmetric(of.x[:, system.blocks :], system.blocks)
        for data, average, matrix, readout in zip(shared.data, of.average, matrices, of.readout, strict=True):
            self._put(data * average, matrix, readout / system.parameters[1])
            given = system.node, system.problem.fraction, system.parameters, system.numbers
            found.append(float(system.equations.check(*given)))
        return np.array(found)


def pair_equations(kernel: ModuleType, single: SingleFit) -> PairEquations:
    """The equations of pairs of fits."""
    if bulk_kind(single.problem.model) not in _LAYERS:
        return GeneratedPair(kernel, single)
    return PairOfLayer(kernel, single)


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
