"""A model as the kernels see it, and a solution before it is certified."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from giantstep.law.intermediate_steps import at_strength, is_intermediate, polynomials_of, refused
from giantstep.law.kind import is_closed, norms_vary
from giantstep.law.known_indices import KnownIndices, known_indices
from giantstep.law.spike import SpikeParameters, spike_of
from giantstep.law.terms import block_terms, link_term
from giantstep.quadrature.mesh import Term
from giantstep.spec.counts import checked_dimension
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Fit, Inputs, Model, Network, Spike, Step, Target
from giantstep.system.sample_weights import Weights


class Parameters(NamedTuple):
    """The numbers of the equations, alpha and beta first; all of them arrays [P] for many points."""

    samples: Any
    width: Any
    ridge: Any
    noise: Any
    inverse_dimension: Any

    def array(self) -> np.ndarray:
        """As generated functions take them: [5], of many points [P, 5]."""
        return np.array(self, dtype=float, order="F").T


@dataclass(frozen=True, eq=False)
class Features:
    """What the features and the label of a problem are functions of: all but the numbers of the equations.

    model: one with these, whatever its samples and ridge. link: the clean one as a function of kappa, None for several
    indices. overlaps [q][m]: of the directions of kappa with those of the target; loadings [K][q]: of the blocks where
    q > 1, whose terms have scale 1 then. known: of a link of fewer directions than letters, how it is told in these;
    all else is in the directions that it knows. What follows from them is remembered by the object (``problem_of``).
    """

    model: Model
    spike: SpikeParameters
    blocks: tuple[Term, ...]
    link: Term | None
    fraction: np.ndarray
    overlaps: Rows
    loadings: Rows | None = None
    known: KnownIndices | None = None

    @cached_property
    def closed(self) -> bool:
        """Whether averages over label and output are explicit where the readout has no penalty."""
        return is_closed(self.model)

    @cached_property
    def norms_vary(self) -> bool:
        """Whether the norms of the rows vary from neuron to neuron, and the readout may align with them."""
        return norms_vary(self.model)

    @property
    def are_constant(self) -> bool:
        """Whether no mean feature moves with kappa: all are multiples of one function."""
        rows = self.loadings or [(term.scale,) for term in self.blocks]
        return not any(map(any, rows)) and all(term.polynomial is None for term in self.blocks)

    @cached_property
    def mirrored(self) -> tuple[Term, ...]:
        """The mean label at -kappa, for panels of kappa: functions of a closed span turn as it does, those of a density
        of readout values.
        """
        of_density = self.model.network.readout.resolution is not None
        if self.link is None or not of_density or self.link.parity != "none":
            return ()
        return (replace(self.link, scale=-self.link.scale),)

    def shift(self, block: int, kappa: np.ndarray) -> np.ndarray:
        """The mean pre-activation of a block at points [N] of kappa, [N, q] for several directions."""
        term = self.blocks[block]
        along = kappa if self.loadings is None else kappa @ np.array(self.loadings[block])
        shift: np.ndarray = term.scale * along + term.offset
        return shift


class Problem(NamedTuple):
    """A model as the equations have it: features, and numbers.

    blur: what is added to V and to Delta at every kappa, of problems that lead to one without. floor: what they are
    raised to, as a share of their means and of the terms that they are differences of, which rounding leaves of them.
    weights: of the samples, where they are random.
    """

    model: Model
    features: Features
    parameters: Parameters
    blur: tuple[float, float] = (0.0, 0.0)
    floor: float = 1e-14
    weights: Weights | None = None

    @property
    def spike(self) -> SpikeParameters:
        """The parameters of the spike."""
        return self.features.spike

    @property
    def told_spike(self) -> SpikeParameters:
        """The same in the letters that the link was given in."""
        return self.spike.told(self.features.known)

    @property
    def blocks(self) -> tuple[Term, ...]:
        """The term of each block."""
        return self.features.blocks

    @property
    def link(self) -> Term | None:
        """That of the clean label."""
        return self.features.link

    @property
    def fraction(self) -> np.ndarray:
        """The share [K] of the neurons that a block has."""
        return self.features.fraction

    @property
    def mirrored(self) -> tuple[Term, ...]:
        """See ``Features``."""
        return self.features.mirrored

    @property
    def overlaps(self) -> Rows:
        """Of the directions of kappa with those of the target, [q][m]."""
        return self.features.overlaps

    @property
    def loadings(self) -> Rows | None:
        """Of the blocks along several directions, [K][q]."""
        return self.features.loadings

    @property
    def closed(self) -> bool:
        """Whether averages over label and output are explicit, and the readout a linear function of its field."""
        return self.features.closed and self.model.fit.penalty is None

    @property
    def rank(self) -> int:
        """The number q of directions that kappa has."""
        return len(self.overlaps)

    def shifts(self, kappa: np.ndarray) -> list[np.ndarray]:
        """The mean pre-activations of all blocks at points of kappa."""
        return [self.shift(b, kappa) for b in range(len(self.blocks))]

    def shift(self, block: int, kappa: np.ndarray) -> np.ndarray:
        """The mean pre-activation of a block at points [N] of kappa, [N, q] for several directions."""
        return self.features.shift(block, kappa)

    @property
    def bias(self) -> float:
        """The bias that all neurons have in common."""
        biases = self.model.network.readout.biases
        return self.blocks[0].offset if biases is None else self.model.network.initial_bias

    def with_bias(self, bias: float) -> Problem:
        """The same problem with another bias of every neuron."""
        return self.with_features(blocks=tuple(replace(term, offset=bias) for term in self.blocks))

    def with_features(self, **changed: Any) -> Problem:
        """The same problem with other features."""
        return self._replace(features=replace(self.features, **changed))

    def with_parameters(self, **changed: float) -> Problem:
        """The same problem with other parameters."""
        return self._replace(parameters=self.parameters._replace(**changed))

    def outward(self, order: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Order parameters along the directions of the spike, and in the letters of the link, as they were given."""
        directions, known = self.spike.directions, self.features.known
        if directions is not None:
            order = directions.outward(order)
        if known is None:
            return order
        rest = known.told_rest(np.array(self.overlaps if directions is None else directions.overlaps))
        return {**order, "psi": np.moveaxis(np.tensordot(order["psi"], rest, (1, 0)), -1, 1)}

    def inward(self, order: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray] | None:
        """The reverse; None for order parameters of another number of blocks, directions or indices."""
        directions, known = self.spike.directions, self.features.known
        if known is not None:
            rest = known.told_rest(np.array(self.overlaps if directions is None else directions.overlaps))
            if order["psi"].shape[1] != rest.shape[1]:
                return None
            order = {**order, "psi": order["psi"] @ rest.T}
        return order if directions is None else directions.inward(order)

    def spread(self) -> float:
        """The largest standard deviation of a pre-activation about the bias."""
        rows = self.loadings or tuple((term.scale,) for term in self.blocks)
        return max(math.hypot(math.sqrt(b.variance), *row) for b, row in zip(self.blocks, rows, strict=True))

    @property
    def norms_vary(self) -> bool:
        """See ``Features``."""
        return self.features.norms_vary


class Solution(NamedTuple):
    """What a solver found, with its residual and the change of the test error under refinement; others_error: that of
    training error and free energy; share_beyond: of labels beyond the nodes, in what the equations average.

    order_parameters: m, norm, Q2 and V2 [K], zeta [K, q], psi [K, m], Q1 and V1 [K, K]; signal: E y^2; penalty: of
    [fit], per dimension; found: what it was found on; signs: where those of the output were judged. Of many points
    [P] of one problem, which differ in its parameters, all numbers are arrays with a last axis [P].
    """

    test_error: Any
    train_error: Any
    free_energy: Any
    order_parameters: Mapping[str, np.ndarray]
    residual: Any
    iterations: Any
    quadrature_error: Any
    nodes: int
    signal: Any
    penalty: Any = 0.0
    found: Any = None
    signs: Any = None
    others_error: Any = 0.0
    share_beyond: Any = 0.0


def _written(path: str) -> int:
    from giantstep.law.given_file import changed  # models without a file start sooner without

    return changed(path)


def problem_of(
    model: Model, dimension: int | None = None, bias: float | None = None, intermediate: bool = False
) -> Problem:
    """The terms and parameters of a model, with its initial bias or the given one.

    intermediate: whether a step below the giant one may have its limit, in which powers of kappa are features; at a
    dimension it has a strength of its own. Raises BadInput where the step is not defined.
    """
    dimension = checked_dimension(dimension)
    if (known := known_indices(model)) is not None:
        found = problem_of(known.model, dimension, bias, intermediate)
        return found._replace(features=_told(found.features, known))
    if is_intermediate(model) and dimension is None:
        if not intermediate:
            raise refused("this")
        return _of_powers(model, bias)
    if is_intermediate(model):
        model = at_strength(model, int(dimension or 0))
    network, fit, step = model.network, model.fit, model.step
    offset = network.initial_bias if bias is None else bias
    written = None if step is None or step.matrix is None else _written(step.matrix)
    features = _features(network, model.target, fit.loss, model.steps, model.spike, model.inputs, offset, written)
    inverse = 0.0 if dimension is None else 1.0 / dimension
    return Problem(model, features, Parameters(fit.samples, network.width, fit.ridge, model.target.noise, inverse))


@lru_cache(maxsize=256)
def _features(
    network: Network,
    target: Target,
    loss: FitLoss,
    steps: tuple[Step, ...],
    spike: Spike | None,
    inputs: Inputs | None,
    bias: float,
    written: int | None,
) -> Features:
    """The features of a model of these tables; written: when the file of a given bulk was, which tells its versions
    apart.
    """
    last = steps[-1] if steps else None
    model = Model(network, target, _fit_of(loss), last, spike, inputs, steps[:-1])
    found = spike_of(model)
    loadings, overlaps = found.along_kappa(network.readout.values)
    blocks = block_terms(network.activation, network.readout.offsets(bias), loadings, found.bulk_variance)
    several, fractions = loadings if len(overlaps) > 1 else None, np.array(network.readout.fractions)
    return Features(model, found, blocks, link_term(target, overlaps), fractions, overlaps, several)


@lru_cache(maxsize=64)
def _told(features: Features, known: KnownIndices) -> Features:
    """The features with the letters that they are told in."""
    return replace(features, known=known)


@lru_cache(maxsize=64)
def _fit_of(loss: FitLoss) -> Fit:
    """A fit with a loss, whatever the samples and the ridge."""
    return Fit(1.0, 1.0, loss)


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
    shares = np.full(count, 1.0 / count)
    return giant._replace(model=model).with_features(model=model, spike=spike, blocks=blocks, fraction=shares)
