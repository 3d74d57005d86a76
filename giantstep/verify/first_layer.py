"""The first layer of a model by definition: what the features and the label are functions of.

Rows, overlaps and variances are taken from the model alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from giantstep.law.intermediate_steps import at_strength, is_intermediate
from giantstep.law.spike import states_after_steps
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.verify.conditional_law import LabelLaw, feature_moments, norm_feature, turns_of
from giantstep.verify.giant_step import Rows, along_the_target, given_spike, rows_after
from giantstep.verify.input_spectrum import InputSpectrum, input_spectrum

Array = np.ndarray


@dataclass(frozen=True)
class FirstLayer:
    """Rows with a mean along at least one direction, in features of an activation, with a bias for each block.

    polynomials: of kappa, in the place of mean features, where the limit of a small step has them. share [K]: of the
    neurons. spectrum: of structured inputs.
    """

    activation: str
    biases: tuple[float, ...]
    rows: Rows
    share: Array
    polynomials: tuple[tuple[float, ...], ...] | None = None
    spectrum: InputSpectrum | None = None

    def shift(self, block: int, kappa: Array) -> Array:
        """The mean pre-activation of a block, [N]."""
        return np.asarray(kappa.reshape(len(kappa), -1) @ self.rows.loadings[block] + self.biases[block])

    def features(self, kappa: Array) -> Array:
        """mu0, mu1, mu2^2 of every block, [3, K, N]."""
        found = [
            feature_moments(self.activation, self.shift(b, kappa), float(c)) for b, c in enumerate(self.rows.variances)
        ]
        if self.polynomials is not None:
            for block, polynomial in zip(found, self.polynomials, strict=True):
                block[0] = sum(c * kappa**k for k, c in enumerate(polynomial))
        return np.stack(found, axis=1)

    def of_norms(self, kappa: Array) -> Array:
        """mu_c of every block, [K, N]: what their means change by with the norms of the rows."""
        variances = enumerate(self.rows.variances)
        return np.array([norm_feature(self.activation, self.shift(b, kappa), float(c)) for b, c in variances])

    def turns(self) -> list[tuple[float, float]]:
        """(place, length) on kappa of one direction where features of a block turn on what its activation turns on."""
        found = []
        for loading, bias, c in zip(self.rows.loadings[:, 0], self.biases, self.rows.variances, strict=True):
            for centre in turns_of(self.activation) if abs(loading) > 0.0 else ():
                found.append((float((centre - bias) / loading), float(np.sqrt(c) / abs(loading))))
        return found

    def label(self, model: Model) -> LabelLaw:
        """The law of the label given kappa."""
        return LabelLaw.of(model.target, self.rows.overlaps)


def first_layer(model: Model, bias: float, dimension: int | None) -> FirstLayer:
    """The layer that a readout is fitted on; ``bias``: of the network. Raises NotEvaluable."""
    network, share = model.network, np.array(model.network.readout.fractions)
    if is_intermediate(model) and dimension is None:  # the polynomials are those of the theory
        blocks = problem_of(model, None, bias, intermediate=True).blocks
        polynomials = tuple(block.polynomial for block in blocks if block.polynomial is not None)
        giant = _with_a_direction(rows_after(network, at_strength(model, 1).steps, model.target))
        side = np.sign(np.array(network.readout.values) @ giant.loadings[:, :1])  # -kappa has other odd polynomials
        rows = Rows(np.zeros((len(blocks), 1)), side * giant.overlaps[:1], np.ones(len(blocks)))
        biases = (bias,) * len(blocks)
        return FirstLayer(
            network.activation, biases, rows, np.full(len(blocks), 1.0 / len(blocks)), polynomials or None
        )
    model = at_strength(model, int(dimension or 0))
    spectrum = None
    if model.inputs is not None:
        spectrum = input_spectrum(model)
        rows = spectrum.rows
    else:
        rows = _with_a_direction(_rows_of(model))
    return FirstLayer(network.activation, network.readout.offsets(bias), rows, share, None, spectrum)


def _rows_of(model: Model) -> Rows:
    spike = model.spike
    if model.bulk == "matrix":  # a file's own variances and alignments
        problem = problem_of(model)
        loadings = np.array([[block.scale] for block in problem.blocks])
        return Rows(loadings, np.array(problem.overlaps), np.array([block.variance for block in problem.blocks]))
    if any(step.batch == "same" for step in model.steps):  # the law's own, which finer nodes are compared with
        last = states_after_steps(model)[-1]
        return along_the_target(np.array(last.loadings), np.array(last.overlaps), np.array(last.bulk_variance))
    if spike is None:
        return rows_after(model.network, model.steps, model.target)
    return along_the_target(*given_spike(model))


def _with_a_direction(rows: Rows) -> Rows:
    """With one direction that means nothing where there is none: the equations have one."""
    if rows.rank:
        return rows
    blocks, m = len(rows.loadings), rows.overlaps.shape[1]
    return Rows(np.zeros((blocks, 1)), np.zeros((1, m)), rows.variances)
