"""What a solve returns: the errors, the order parameters, and how it is known that they are right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.law.layer_state import LayerState
from giantstep.law.spike import SpikeParameters, states_after_steps
from giantstep.spec.defaults import parameters_at_default
from giantstep.spec.model import Model, Readout
from giantstep.spec.outline import outline
from giantstep.spec.shown import Row, Shown, number

if TYPE_CHECKING:
    from giantstep.system.sign_panels import Signs

ORDER_PARAMETERS = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")
# where the norms of the rows vary; of a penalty the width of its proximal map, variance and mean of its argument
ALL_PARAMETERS = (*ORDER_PARAMETERS, "norm", "prox_width", "prox_variance", "prox_mean")

_PERCENT = 100.0  # a term of finite size is 1 % of what it adds to at so many times the dimension where it is as large
_SETTLED = 1e4  # a dimension: ordinary networks are below
_SOME = 2.0  # percent of the test error
_ORDINARY = 1e3  # a crossover dimension from which on ordinary networks are far from the limit
_ZERO = 1e-20  # what m that vanish leave of their squares


def reported(order: Mapping[str, np.ndarray], spike: SpikeParameters) -> dict[str, np.ndarray]:
    """Order parameters with the axes of a result, after those of solutions: zeta is [K], but [K, q] of a spike with
    loadings, and psi [K], but [K, m] of m > 1 indices. Further axes stay.

    psi is along the unit vector of theta - gamma v; of several indices along the components of t in z = gamma kappa +
    L t, where L is the Cholesky factor of 1 - gamma gamma^T, lower triangular.
    """
    found = {name: order[name] for name in ALL_PARAMETERS if name in order}
    if spike.directions is None:
        found["zeta"] = found["zeta"][:, 0]
    if found["psi"].shape[1] == 1:
        found["psi"] = found["psi"][:, 0]
    return found


@dataclass(frozen=True, repr=False, eq=False)
class Result(Shown):
    """Solution of the saddle-point equations at one point, normalised as in docs/theory.md, sections 1-4 (unit rows).

    order_parameters: m, Q2 and V2 [K], Q1 and V1 [K, K], zeta and psi as ``reported``.

    test_error: E (f_* - f)^2, of margin losses P(f_* f < 0), of a loss whose output stands for a mean label the squared
    error of that; train_error: mean loss on the training set, of the
    square loss without the factor 1/2; free_energy: minimum of the training objective per dimension; residual: worst
    relative residual of all equations, evaluated apart from the solver; quadrature_error: change of the test error
    between orders of quadrature, relative to it (where it is below 1e-5 of E y^2, relative to that), and between
    numbers of nodes of a density of readout values; bias: of every neuron, the trained one where it is trained;
    nodes_of_readout: of a density the values and fractions that the order parameters belong to; penalty: of the readout
    beside the ridge, per dimension; spanned: of a density in the limit, the mean output as a solve starts from it;
    signs: where those of the output were judged, for the same; mean_output_variance: d times the variance of the mean
    output between data sets to first order, None where it is not known, as of the square loss, where it is small, and
    in the limit of a density of readout values;
    mean_output_error: d times what that adds to the test error.
    """

    model: Model
    test_error: float
    train_error: float
    order_parameters: Mapping[str, np.ndarray]
    spike: SpikeParameters
    free_energy: float
    residual: float
    iterations: int
    quadrature_error: float
    seconds: float = field(compare=False)
    dimension: int | None
    nodes: int
    bias: float = 0.0
    nodes_of_readout: Readout | None = None
    penalty: float = 0.0
    spanned: np.ndarray | None = None
    signs: Signs | None = None
    mean_output_variance: float | None = None
    mean_output_error: float | None = None

    @property
    def vocabulary(self) -> Model:
        """The model whose equations were solved: that of a density of readout values at its nodes."""
        if self.nodes_of_readout is None:
            return self.model
        return replace(self.model, network=replace(self.model.network, readout=self.nodes_of_readout))

    @property
    def training_loss(self) -> float:
        """The training objective per dimension from the errors: equals ``free_energy`` at a solution."""
        fit, width = self.model.fit, self.model.network.width
        norm = width * float(self.order_parameters["Q2"].sum())
        return fit.samples * self.train_error / fit.loss.entry.error_scale + 0.5 * fit.ridge * norm + self.penalty

    @property
    def _is_endless(self) -> bool:
        """Whether it is the limit of a density of readout values, whose means are without number and bound."""
        return self.dimension is None and self.nodes_of_readout is not None

    @property
    def crossover_dimension(self) -> float | None:
        """Dimension at which the leading term of finite size equals the free energy.

        To first order the free energy at d is larger by the part this/d: 1 % at a hundred times this. Errors change by
        as much or less (measured in eight models: .1 to .8 % there). They have other terms of 1/d, which are larger for
        some models (4 % at d = 150 with ``abs`` on structured inputs). Large where the spike is weak or readout values
        are close. None in the limit of a step below the giant one, which is reached like a power of the dimension, and
        of a density of readout values, whose m are without bound in the limit. Source: docs/theory.md, section 6.
        """
        if self.dimension is None and self.model.step is not None and self.model.step.exponent < 0.5:
            return None
        if self._is_endless:
            return None
        means = self.order_parameters["m"]
        responses = self.order_parameters["V2"][means != 0.0]
        if not np.all(responses > 0.0):  # a mean that is held, as a kink of the loss does
            return math.inf
        terms = float((means[means != 0.0] ** 2 / responses).sum()) / 2.0
        return terms / self.free_energy if terms > _ZERO * self.free_energy > 0.0 else 0.0

    @property
    def settled_dimension(self) -> float | None:
        """Dimension from which on a mean output that varies between data sets adds less than 1 % to the test error, by
        the first order.

        Large where a loss is linear wherever most outputs are, as next to nothing holds the mean output there, and
        where few labels with much noise do: errors of networks below that dimension are not those told, with a
        dimension or without. ``deviation`` follows it. None in the limit of a density of readout values, whose means
        are without number.
        """
        if self._is_endless:
            return None
        if not self.mean_output_error or not self.test_error > 0.0:
            return 0.0
        return _PERCENT * self.mean_output_error / self.test_error

    @property
    def leaves_out_signs(self) -> bool:
        """Whether labels are signs and the loss does not tell that outputs are judged by theirs: the test error is a
        squared one, and no metric of the model says more.
        """
        model = self.model
        signs = model.target.takes_only_signs and model.target.noise == 0.0
        return model.fit.loss.form == "general" and signs and model.metrics is None

    @property
    def is_unsettled(self) -> bool:
        """Whether the mean output adds 2 % and more to the error of networks of its dimension; where there is none, 1 %
        and more to that of networks of dimension 10,000.
        """
        return (self.settled_dimension or 0.0) > (_SETTLED if self.dimension is None else _SOME * self.dimension)

    @property
    def has_no_correction(self) -> bool:
        """Whether the leading term of finite size vanishes, as m do: others of networks do not."""
        return self.dimension is not None and not (self.crossover_dimension or 0.0) > 0.0

    @property
    def correction(self) -> str:
        """What a dimension has done, in words."""
        if self.has_no_correction:
            return f"the correction at d = {self.dimension} vanishes"
        return f"with the correction at d = {self.dimension}"

    @property
    def heading(self) -> str:
        """What it is a solution of; of one that ordinary networks are far from, where it begins to hold."""
        settled = (self.settled_dimension or 0.0) if self.is_unsettled else 0.0
        if self.dimension is not None:
            told = f"Result; {self.correction}" if self.has_no_correction else f"Result {self.correction}"
            return told + (f"; networks differ below d = {settled:.0e}" if settled else "")
        crossover = self.crossover_dimension or 0.0
        least = max(settled, _PERCENT * crossover if crossover > _ORDINARY else 0.0)
        return "Result" + (f" for d above {least:.0e}" if least else "")

    def summary(self) -> list[Row]:
        """Errors, the spike, the certificates, the model."""
        spike = self.spike
        variances = " ".join(f"{value:.6g}" for value in spike.bulk_variance)
        signs = '; wrong signs: gs.metrics(model, {"wrong": "y*f < 0"})' if self.leaves_out_signs else ""
        return [
            ("test error", f"{number(self.test_error)}  ({self.model.fit.loss.test_error}{signs})"),
            ("train error", f"{number(self.train_error)}  ({self.model.fit.loss.train_error})"),
            ("spike", f"strength {spike.strength:.6g}, alignment {spike.alignment:.6g}, bulk variance {variances}"),
            ("certificates", f"residual {self.residual:.1e}, quadrature {self.quadrature_error:.1e}"),
            ("model", outline(self.model)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``solve --json``, but for its metrics and gains: see ``gs.metrics`` and ``gs.gains``."""
        found = {
            "test_error": self.test_error,
            "train_error": self.train_error,
            "meaning": {"test_error": self.model.fit.loss.test_error, "train_error": self.model.fit.loss.train_error},
            "order_parameters": {
                name: self.order_parameters[name].tolist() for name in ALL_PARAMETERS if name in self.order_parameters
            },
            "spike": self.spike.to_dict(),
            "free_energy": self.free_energy,
            "training_loss": self.training_loss,
            "penalty": self.penalty,
            "residual": self.residual,
            "iterations": self.iterations,
            "quadrature_error": self.quadrature_error,
            "seconds": self.seconds,
            "crossover_dimension": self.crossover_dimension,
            "mean_output_variance": _finite(self.mean_output_variance),
            "settled_dimension": _finite(self.settled_dimension),
            "dimension": self.dimension,
            "bias": self.bias,
            "nodes": self.nodes,
            "model": self.model.to_dict(),
            "defaults": parameters_at_default(self.model),
        }
        if self.nodes_of_readout is not None:
            nodes = self.nodes_of_readout
            found["readout_nodes"] = {"values": list(nodes.values), "fractions": list(nodes.fractions)}
        if self.model.earlier_steps:
            found["steps"] = [state.to_dict() for state in self.steps]
        return found

    @property
    def steps(self) -> tuple[LayerState, ...]:
        """The rows of the first layer after each giant step; empty for a model without one, or with a bulk of its own.

        Source: docs/theory.md, section 12.
        """
        return states_after_steps(self.vocabulary)


def _finite(number: float | None) -> float | None:
    """What JSON has of a number."""
    return number if number is not None and math.isfinite(number) else None
