"""A model as the kernels see it, and a solution before it is certified."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from giantstep.law.intermediate_steps import at_strength, is_intermediate, polynomials_of, refused
from giantstep.law.kind import norms_vary
from giantstep.law.spike import SpikeParameters, spike_of
from giantstep.quadrature.mesh import Term
from giantstep.spec.errors import BadInput
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Model


class Parameters(NamedTuple):
    """The numbers of the equations, alpha and beta first; all of them arrays [P] for many points."""

    samples: Any
    width: Any
    ridge: Any
    noise: Any
    inverse_dimension: Any

    def array(self) -> np.ndarray:
        """As generated functions take them: [5], of many points [P, 5]."""
        return np.ascontiguousarray(np.array(self, dtype=float).T)


@dataclass(frozen=True)
class Problem:
    """Terms of the table and the numbers of the equations.

    link: the clean one as a function of kappa, None for several indices. overlaps [q][m]: of the directions of kappa
    with those of the target; loadings [K][q]: of the blocks where q > 1, whose terms have scale 1 then.
    """

    model: Model
    spike: SpikeParameters
    blocks: tuple[Term, ...]
    link: Term | None
    fraction: np.ndarray
    parameters: Parameters
    overlaps: Rows
    loadings: Rows | None = None

    @property
    def rank(self) -> int:
        """The number q of directions that kappa has."""
        return len(self.overlaps)

    def shifts(self, kappa: np.ndarray) -> list[np.ndarray]:
        """The mean pre-activations of all blocks at points of kappa."""
        return [self.shift(b, kappa) for b in range(len(self.blocks))]

    def shift(self, block: int, kappa: np.ndarray) -> np.ndarray:
        """The mean pre-activation of a block at points [N] of kappa, [N, q] for several directions."""
        term = self.blocks[block]
        along = kappa if self.loadings is None else kappa @ np.array(self.loadings[block])
        shift: np.ndarray = term.scale * along + term.offset
        return shift

    @property
    def bias(self) -> float:
        """The bias of every neuron."""
        return self.blocks[0].offset

    def with_bias(self, bias: float) -> Problem:
        """The same problem with another bias of every neuron."""
        return replace(self, blocks=tuple(replace(term, offset=bias) for term in self.blocks))

    def with_parameters(self, **changed: float) -> Problem:
        """The same problem with other parameters."""
        return replace(self, parameters=self.parameters._replace(**changed))

    def spread(self) -> float:
        """The largest standard deviation of a pre-activation about the bias."""
        rows = self.loadings or tuple((term.scale,) for term in self.blocks)
        return max(math.hypot(math.sqrt(b.variance), *row) for b, row in zip(self.blocks, rows, strict=True))

    @property
    def norms_vary(self) -> bool:
        """Whether the norms of the rows vary from neuron to neuron, and the readout may align with them."""
        return norms_vary(self.model)


@dataclass(frozen=True)
class Solution:
    """What a solver found, with its residual and the change of the test error under refinement.

    order_parameters: m, norm, Q2 and V2 [K], zeta [K, q], psi [K, m], Q1 and V1 [K, K].
    """

    test_error: float
    train_error: float
    free_energy: float
    order_parameters: Mapping[str, np.ndarray]
    residual: float
    iterations: int
    quadrature_error: float
    nodes: int
    signal: float


@dataclass(frozen=True)
class Points:
    """Solutions at many points [P] of one problem, which differ in its parameters: a last axis [P] of all numbers.

    status: the number of iterations, not positive where there is no solution.
    """

    test_error: np.ndarray
    train_error: np.ndarray
    free_energy: np.ndarray
    order_parameters: Mapping[str, np.ndarray]
    residual: np.ndarray
    status: np.ndarray
    quadrature_error: np.ndarray
    nodes: int
    signal: np.ndarray

    def at(self, p: int) -> Solution:
        """One of them."""
        return Solution(
            float(self.test_error[p]),
            float(self.train_error[p]),
            float(self.free_energy[p]),
            {name: values[..., p] for name, values in self.order_parameters.items()},
            float(self.residual[p]),
            int(self.status[p]),
            float(self.quadrature_error[p]),
            self.nodes,
            float(self.signal[p]),
        )


def checked_dimension(dimension: Any) -> None:
    """Raise BadInput for what is no input dimension; None is the limit of large dimension."""
    if dimension is not None and not (isinstance(dimension, int | float | np.number) and dimension >= 1):
        raise BadInput(f"dimension = {dimension!r} is not a positive integer", "give the input dimension d, e.g. 1000")


def problem_of(
    model: Model, dimension: int | None = None, bias: float | None = None, intermediate: bool = False
) -> Problem:
    """The terms and parameters of a model, with its initial bias or the given one.

    intermediate: whether a step below the giant one may have its limit, in which powers of kappa are features; at a
    dimension it has a strength of its own. Raises BadInput where the step is not defined.
    """
    checked_dimension(dimension)
    if is_intermediate(model) and dimension is None:
        if not intermediate:
            raise refused("this")
        return _of_powers(model, bias)
    if is_intermediate(model):
        model = at_strength(model, int(dimension or 0))
    spike, network, fit = spike_of(model), model.network, model.fit
    offset = network.initial_bias if bias is None else bias
    scales, overlaps, loadings = _scales(spike, network.readout.values)
    blocks = tuple(
        Term(network.activation, scale, offset, c) for scale, c in zip(scales, spike.bulk_variance, strict=True)
    )
    gamma = (
        math.hypot(*(gamma for row in overlaps for gamma in row))
        if len(overlaps) > 1
        else (overlaps[0][0] if len(overlaps[0]) == 1 else math.hypot(*overlaps[0]))
    )
    link = Term(model.target.link, gamma, 0.0, max(0.0, (1.0 - gamma) * (1.0 + gamma)))
    inverse = 0.0 if dimension is None else 1.0 / dimension
    parameters = Parameters(fit.samples, network.width, fit.ridge, model.target.noise, inverse)
    fractions = np.array(network.readout.fractions)
    single = link if model.target.indices == 1 else None
    return Problem(model, spike, blocks, single, fractions, parameters, overlaps, loadings)


def _of_powers(model: Model, bias: float | None) -> Problem:
    """The limit of a step below the giant one: the bulk of the untrained features, and polynomials of kappa in the
    place of their means. Blocks are these here, equal shares of the bulk; each has an overlap of its own. [MON23]
    """
    giant, network = problem_of(at_strength(model, 1), None), model.network
    offset = network.initial_bias if bias is None else bias
    features = polynomials_of(model, offset)
    count = max(1, len(features))
    chosen: list[tuple[float, ...] | None] = [*features.values()] if features else [None]
    blocks = tuple(Term(network.activation, 0.0, offset, 1.0, feature) for feature in chosen)
    spike = replace(giant.spike, strength=0.0, bulk_variance=(1.0,) * count)
    return replace(giant, model=model, spike=spike, blocks=blocks, fraction=np.full(count, 1.0 / count))


def _scales(spike: SpikeParameters, values: tuple[float, ...]) -> tuple[tuple[float, ...], Rows, Rows | None]:
    """What multiplies kappa in every block, the overlaps of kappa's directions, loadings where there are several."""
    if spike.directions is None:
        return tuple(u * spike.strength for u in values), (spike.alignments,), None
    loadings, overlaps = spike.directions.reduced()
    if len(overlaps) == 1:
        return tuple(loading for (loading,) in loadings), overlaps, None
    return (1.0,) * len(loadings), overlaps, loadings
