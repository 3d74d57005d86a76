"""From a model to its spiked random features: strength r, alignment gamma, bulk variance c of each block."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from generated import step as generated_step
from giantstep.law.alike_blocks import alike_blocks
from giantstep.law.directions import Directions, directions_of_spike, rows_of
from giantstep.law.gradient_step import StepArguments, arguments_of, variance_after_step
from giantstep.law.intermediate_steps import is_intermediate, refused
from giantstep.law.known_indices import KnownIndices, known_indices
from giantstep.law.layer_state import AlikeRows, LayerState
from giantstep.spec.errors import BadInput
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Model, Network, Step, Target
from giantstep.spec.spike_table import Spike


@dataclass(frozen=True)
class SpikeParameters:
    """Strength of a block with readout 1, alignments <v, theta_i> of all indices, squared norm of the bulk rows per
    block.

    directions: of a spike of several, or of blocks that do not move in proportion to their readout values;
    ``alignments`` are then the overlaps of every theta_i with their span, and ``strength`` after several steps the
    largest singular value of the loadings.
    Source: [CUI24] Result 3.1; THEORY section 2.
    """

    strength: float
    alignments: tuple[float, ...]
    bulk_variance: tuple[float, ...]
    directions: Directions | None = None

    @property
    def alignment(self) -> float:
        """<v, theta>; for several indices or directions the largest overlap of unit vectors of the two spans."""
        if self.directions is not None:
            return float(np.linalg.norm(np.array(self.directions.overlaps), 2))
        return self.alignments[0] if len(self.alignments) == 1 else math.hypot(*self.alignments)

    def along_kappa(self, values: Sequence[float]) -> tuple[Rows, Rows]:
        """Loadings [K][q] of blocks with these readout values along the directions that the features know, and the
        overlaps [q][m] of these.
        """
        if self.directions is None:
            return tuple((u * self.strength,) for u in values), (self.alignments,)
        return self.directions.reduced()

    def told(self, known: KnownIndices | None) -> SpikeParameters:
        """With the overlaps of all letters of a link that knows fewer directions."""
        if known is None:
            return self
        if self.directions is None:
            overlaps = known.overlaps(np.array([self.alignments]))
            return replace(self, alignments=_at_most_one(tuple(overlaps[0].tolist())))
        rows = rows_of(known.overlaps(np.array(self.directions.overlaps)))
        within = tuple(math.hypot(*column) for column in zip(*rows, strict=True))
        return replace(self, alignments=within, directions=replace(self.directions, overlaps=rows))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists; the alignment is a number for one index and a list for several.

        Of a spike of several directions: its loadings per block, strength included, and for every direction its
        alignment, a number for one index and a list for several.
        """
        alignments = list(self.alignments)
        if self.directions is not None:
            rows = [list(row) for row in self.directions.overlaps]
            return {
                "strength": self.strength,
                "alignment": rows if len(alignments) > 1 else [row[0] for row in rows],
                "bulk_variance": list(self.bulk_variance),
                "loadings": [list(row) for row in self.directions.loadings],
            }
        return {
            "strength": self.strength,
            "alignment": alignments[0] if len(alignments) == 1 else alignments,
            "bulk_variance": list(self.bulk_variance),
        }


def spike_of(model: Model) -> SpikeParameters:
    """Parameters of the sRF model: of the step, as given, or r = 0, c = 1 for plain random features. Of a density of
    readout values without nodes the bulk variance is that of u = 1.

    Raises BadInput for a step with an activation that jumps.
    """
    if (known := known_indices(model)) is not None:
        return spike_of(known.model).told(known)
    values = model.network.readout.values or (1.0,)
    if model.inputs is not None and model.step is not None and not by_blocks(model):
        from giantstep.law.structured_inputs import spike_of_step  # isotropic inputs start sooner without

        found = spike_of_step(model)
        return _checked(SpikeParameters(found.strength, found.alignments, found.bulk_variance))
    if model.spike is not None:
        variance, given = variance_by_value(model), model.spike.bulk_variance
        bulk = given if isinstance(given, tuple) else tuple(variance(u) for u in values) if variance else ()
        if model.spike.loadings is not None:
            return _of_several(model.spike, bulk)
        return SpikeParameters(model.spike.strength, model.spike.alignments, bulk)
    if model.step is None:
        return SpikeParameters(0.0, (0.0,) * model.target.indices, (1.0,) * len(values))
    if is_intermediate(model):
        raise refused("the strength of the spike")
    if by_blocks(model):
        return _after_steps(model)
    after = _after_step(model.network, model.step, model.target)
    return after if model.step.bulk != "matrix" else _with_given_bulk(model, after)


def states_after_steps(model: Model) -> tuple[LayerState, ...]:
    """The first layer after every step of a model, in whitened inputs; none for a given bulk and small steps."""
    if model.bulk == "matrix" or is_intermediate(model):
        return ()
    if (known := known_indices(model)) is not None:
        return tuple(state.told(known) for state in states_after_steps(known.model))
    if (reason := without_law(model)) is not None:
        raise BadInput(
            f'step.batch = "same": {reason}',
            'simulate it (giantstep simulate --what network, gs.simulate), or take batch = "fresh"'
            + ' or step.bulk = "isotropic"' * (model.bulk == "trained"),
        )
    if model.inputs is not None:
        from giantstep.law.steps_on_inputs import rows_after_steps  # the same

        taken = (model.steps[:number] for number in range(1, len(model.steps) + 1))
        return tuple(rows_after_steps(model.inputs, model.network, steps, model.target).state for steps in taken)
    return _states(model.network, model.steps, model.target)


def without_law(model: Model) -> str | None:
    """Why steps on the batch of the step before have no law in this model; None where they have one, or are not."""
    batches = [step.batch for step in model.steps]
    if "same" not in batches:
        return None
    if model.inputs is not None:
        return "what a sample adds to its own pre-activation is derived for isotropic inputs"
    if model.bulk == "trained":
        return (
            'step.bulk = "trained" is derived for fresh samples; after two steps on one batch the matrices of both are '
            "sums over the same samples, of residuals that know the rows"
        )
    if ("same", "same") in itertools.pairwise(batches):
        return (
            "a batch that is used three times is not solved: at the third step residuals and slopes are functions of "
            "at least five Gaussian numbers, too many to average over"
        )
    return None


@lru_cache(maxsize=64)
def _states(network: Network, steps: tuple[Step, ...], target: Target) -> tuple[LayerState, ...]:
    """The same in isotropic inputs."""
    found: list[LayerState] = []
    values = network.readout.values
    told = bool(steps) and steps[-1].bulk != "trained"  # whose samples are told by blocks
    for number, step in enumerate(steps):
        if number or network.readout.biases is not None:
            from giantstep.law.further_steps import before_steps  # networks are simulated without a compiler
            from giantstep.law.repeated_batch import state_after_steps

            before = before_steps(network, target)
            start = [before if told else replace(before, alike=None), *found]
            found.append(state_after_steps(network, start, steps[: number + 1], target))
            continue
        first = _after_step(network, step, target)
        of = arguments_of(network, step, target)
        noise = generated_step.alignment(of.samples, math.sqrt(of.e2 / of.samples), of.length, of.e2)
        axes = ((*first.alignments, noise),)
        kept = tuple(generated_step.bulk_variance(of.rate, of.samples, u, of.s0, of.e2, of.sigma2, 0.0) for u in values)
        rows = *first.along_kappa(values), first.bulk_variance
        found.append(LayerState(*rows, axes, kept=kept, alike=_alike_after_first(network, first, of) if told else None))
    return tuple(found)


def _alike_after_first(network: Network, first: SpikeParameters, of: StepArguments) -> tuple[AlikeRows, ...]:
    loadings = np.multiply.outer(network.readout.values, [first.strength])
    groups = alike_blocks(network, loadings, np.array(first.bulk_variance))
    if not groups:
        return ()
    from giantstep.law.value_curves import rows_after_first  # loads mpmath, which most models need not

    return tuple(rows_after_first(network, group, first.strength, variance_after_step(of)) for group in groups)


def overlap_of_rows(model: Model) -> tuple[float, ...]:
    """The overlap of the unit bulk rows that other batches make of the same initial ones, block by block.

    Batches leave what all of them make of a row, and add noise of their own. Source: docs/theory.md, section 14.
    """
    last = states_after_steps(model)[-1]
    return tuple(kept / c for kept, c in zip(last.kept, last.bulk_variance, strict=True))


def by_blocks(model: Model) -> bool:
    """Whether steps move blocks each in its own way: several steps, or biases of their own. [THEORY section 12]"""
    return bool(model.earlier_steps) or model.step is not None and model.network.readout.biases is not None


def rank_of(model: Model) -> int:
    """The number of directions that kappa has: those of the spike that the features know."""
    if not by_blocks(model) and (model.spike is None or model.spike.loadings is None):
        return 1
    directions = spike_of(model).directions
    return 1 if directions is None else directions.rank


def variance_by_value(model: Model) -> Callable[[Any], Any] | None:
    """The bulk variance as a function of the readout value, in any arithmetic; None where another law gives it.

    Source: [CUI24] Result 3.1; a spike that is given has ``c_u = 1 + u^2 (c - 1)``.
    """
    if model.step is not None and (model.inputs is not None or model.step.bulk == "matrix" or by_blocks(model)):
        return None
    if model.spike is not None:
        c = model.spike.bulk_variance
        if isinstance(c, tuple):
            return None
        return lambda u: (1 - u * u) + u * u * c
    if model.step is None:
        return lambda u: 1
    return variance_after_step(arguments_of(model.network, model.step, model.target))


def _with_given_bulk(model: Model, found: SpikeParameters) -> SpikeParameters:
    """Bulk variance and alignment of the given matrix, the latter where it comes with directions."""
    from giantstep.law.given_bulk import given_bulk  # models without a file start sooner without

    bulk = given_bulk(model)
    alignments = found.alignments if bulk.alignments is None else _at_most_one(bulk.alignments)
    return replace(found, alignments=alignments, bulk_variance=bulk.variances)


def _of_several(spike: Spike, bulk: tuple[float, ...]) -> SpikeParameters:
    """A spike with loadings."""
    directions = directions_of_spike(spike)
    within = tuple(math.hypot(*column) for column in zip(*directions.overlaps, strict=True))
    return SpikeParameters(spike.strength, within, bulk, directions)


def _after_steps(model: Model) -> SpikeParameters:
    """The spike of several steps: of one readout value by its strength, of several by the loadings of the blocks."""
    last, values = states_after_steps(model)[-1], model.network.readout.values
    loadings, overlaps = np.array(last.loadings), np.array(last.overlaps)
    if len(values) == 1:
        strength = float(loadings[0, 0]) / values[0]
        sign = -1.0 if strength < 0.0 else 1.0  # the direction v absorbs the sign
        alignments = tuple((sign * overlaps[0]).tolist())
        return _checked(SpikeParameters(sign * strength, alignments, last.bulk_variance))
    directions = Directions(last.loadings, last.overlaps, rows_of(np.eye(last.rank)))
    within = tuple(math.hypot(*column) for column in zip(*last.overlaps, strict=True))
    largest = float(np.linalg.norm(loadings, 2))
    return _checked(SpikeParameters(largest, within, last.bulk_variance, directions))


@lru_cache(maxsize=1024)
def _after_step(network: Network, step: Step, target: Target) -> SpikeParameters:
    of = arguments_of(network, step, target)
    strength = generated_step.strength(of.rate, of.samples, of.mu1, of.length, of.e2)
    alignments = tuple(generated_step.alignment(of.samples, s1, of.length, of.e2) for s1 in of.overlaps)
    bulk = tuple(map(variance_after_step(of), network.readout.values or (1.0,)))
    # the direction v absorbs the sign
    sign = -1.0 if strength < 0.0 else 1.0
    found = SpikeParameters(sign * strength, tuple(sign * gamma for gamma in alignments), bulk)
    return _checked(found)


def _checked(found: SpikeParameters) -> SpikeParameters:
    """The parameters without rounding of the alignments. Raises BadInput where they are not finite or positive."""
    bulk = found.bulk_variance
    if not all(math.isfinite(x) for x in (found.strength, *found.alignments, *bulk)) or min(bulk) <= 0.0:
        raise BadInput(
            f"the gradient step gives strength {found.strength:.3g}, bulk variances {bulk}",
            "lower step.learning_rate: the bulk variance has to be positive and finite",
        )
    at_most_one = _at_most_one(found.alignments)
    return found if at_most_one is found.alignments else replace(found, alignments=at_most_one)


def _at_most_one(alignments: tuple[float, ...]) -> tuple[float, ...]:
    """The overlaps of a unit vector, whose rounding must not make it longer."""
    length = math.hypot(*alignments)
    return tuple(gamma / length for gamma in alignments) if length > 1.0 else alignments
