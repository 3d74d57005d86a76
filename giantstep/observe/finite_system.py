"""From a model to the finite-size system that is simulated: functions, ratios of whole numbers, spike."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from derive.language.catalogue import lookup
from derive.language.grammar import ExpressionError, parse
from giantstep.law.channel import drawn_label
from giantstep.law.directions import Directions, rows_of
from giantstep.law.given_bulk import given_rows
from giantstep.law.input_law import input_law
from giantstep.law.intermediate_steps import at_strength, is_intermediate, refused
from giantstep.law.kind import norms_vary
from giantstep.law.spike import spike_of, variance_by_value, without_law
from giantstep.simulate.convex import ConvexLoss
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.surroundings import GivenRows, InputSpectrum
from giantstep.simulate.system import SYSTEM_KINDS, Coefficients, FiniteSystem, Link, SystemKind, finite_sizes
from giantstep.spec.arguments import checked_flag
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import numpy_function, numpy_values
from giantstep.spec.kernels import coefficients
from giantstep.spec.link import link_values, may_jump
from giantstep.spec.loss_functions import convex_loss, convex_loss_of
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Fit, Model, Readout, Target
from giantstep.spec.one_at_a_time import TURN
from giantstep.spec.readout_density import density_of

Array = NDArray[np.float64]

#: What is simulated where nothing else is asked for: the model that [step] bulk = "isotropic" describes.
DEFAULT_KIND: SystemKind = "srf"


def default_kind(model: Model) -> SystemKind:
    """What the theory of a model describes: spiked random features, also around given rows, or the network with its
    trained bulk; the network too where there is no theory: a batch that is taken three times, a density after several
    steps.
    """
    again = without_law(model) is not None
    return "network" if model.bulk == "trained" or again or _has_no_law(model) else DEFAULT_KIND


def _has_no_law(model: Model) -> bool:
    """Whether every neuron has moved along a direction of its own."""
    return model.network.readout.continuous and bool(model.earlier_steps)


def checked_simulation(
    simulate: object, dimension: int | None, drawn: tuple[object, object, object], least: int = 1
) -> bool:
    """Whether there is to be a simulation; drawn: its numbers of seeds, kind and first seed. Raises BadInput."""
    seeds, what, seed = drawn
    wanted = checked_flag("simulate", simulate)
    checked_seeds(seeds, least)
    checked_count("seed", seed, 0)
    if what is not None:
        checked_kind(what)
    if wanted and dimension is None:
        raise BadInput("the simulation needs a dimension", "give dimension, e.g. 500")
    return wanted


def checked_kind(what: object) -> None:
    """Raise BadInput for what is no kind of system."""
    if what not in SYSTEM_KINDS:
        raise BadInput(f"what = {what!r} cannot be simulated", f"it must be one of {', '.join(SYSTEM_KINDS)}")


def at_dimension(model: Model, dimension: int) -> Model:
    """The model with the ratios of whole numbers nearest to it at dimension d. Raises BadInput."""
    checked_count("dimension", dimension, 2)
    model = at_strength(model, dimension)
    try:
        sizes = finite_sizes(_bare_system(model), dimension, (model.fit.samples,))
    except SimulationError as error:
        raise cannot_run(error) from None
    changes: dict[str, Any] = {
        "network.width": sizes.beta,
        "fit.samples": sizes.alpha[0],
    }
    if not model.network.readout.continuous:
        changes["network.readout.fractions"] = list(sizes.fractions)
    changes |= {f"step.{number}.samples": alpha0 for number, alpha0 in enumerate(sizes.alpha0, start=1)}
    return model.replace(changes)


def finite_system(model: Model, what: SystemKind) -> FiniteSystem:
    """The functions, ratios and spike of a model, for one kind of system. Raises BadInput where it does not fit."""
    checked_kind(what)
    with TURN:
        return _of_kind(model, what)


def _of_kind(model: Model, what: SystemKind) -> FiniteSystem:
    system = _bare_system(model)
    if what == "network":
        if model.spike is not None:
            raise BadInput(
                "a model with [spike] has no gradient step, so there is no trained network to simulate",
                "simulate srf or gaussian, or give [step] in place of [spike]",
            )
        if model.step is not None and system.jumps:
            _spike(model)  # refuses an activation whose gradient would be a delta function
        return system
    if _has_no_law(model):
        raise BadInput(
            f"what = {what!r}: after several steps the rows of a readout with a density have no common directions",
            'simulate what = "network", or take readout values',
        )
    spike, given = _spike(model), _directions(model)
    spiked: dict[str, Any] = {"spike": spike, "steps": (), "same_batch": ()}
    if model.network.readout.continuous:
        spiked["by_value"] = _by_value(model)
    if model.bulk == "matrix":
        spiked["given"] = GivenRows(*given_rows(model))
    if given is not None:
        nothing = 0.0 if model.target.indices == 1 else (0.0,) * model.target.indices
        spiked["spike"] = (spike[0], nothing, spike[2])  # loadings and overlaps take the place of the first two
        spiked |= {"loadings": given.loadings, "overlaps": given.overlaps}
    if what == "gaussian":
        _require_values(model)
        loadings = None if given is None else given.loadings
        spiked["coefficients"] = _coefficients(model, spike[0], spike[2], loadings)
    return FiniteSystem(**{**_fields(system), **spiked})


def _require_values(model: Model) -> None:
    """Raise BadInput for a density of readout values where coefficients stand in a table for each value."""
    if model.network.readout.continuous:
        raise BadInput(
            "what = 'gaussian' has the coefficients of each readout value, and network.readout.density gives every "
            "neuron one of its own",
            'simulate what = "srf" or "network", or give values and fractions',
        )


def _fields(system: FiniteSystem) -> dict[str, Any]:
    return {name: getattr(system, name) for name in system.__dataclass_fields__}


def _bare_system(model: Model) -> FiniteSystem:
    if is_intermediate(model):
        raise refused("a finite system")
    network, target = model.network, model.target
    return FiniteSystem(
        activation=numpy_function(network.activation),
        features=numpy_values(network.activation),
        link=_link(target),
        channel=None if target.channel is None else partial(drawn_label, target.channel),
        clean=None if target.channel is None else _link(target.clean(model.fit.loss.form == "margin")),
        predicts=None if (predicts := model.fit.loss.predicts) is None else predicts.mean,
        width=network.width,
        **_readout(network.readout),
        bias=network.initial_bias,
        noise=target.noise,
        steps=tuple((step.samples, step.learning_rate) for step in model.steps),
        same_batch=tuple(step.batch == "same" for step in model.steps),
        flips=target.flips,
        probit=target.probit,
        indices=target.indices,
        loss=_loss(model.fit),
        penalty=_penalty(model.fit),
        trained_bias=network.trains_bias,
        jumps=may_jump(parse(lookup(network.activation).expression)),
        inputs=_inputs(model),
        gaussian_rows=network.initialisation == "gaussian",
        metrics=() if model.metrics is None else model.metrics.functions(),
    )


def _readout(readout: Readout) -> dict[str, Any]:
    """Values and fractions; of a density one block of unit value, and how the values are drawn."""
    if readout.density is None:
        return {"values": readout.values, "fractions": readout.fractions, "biases": readout.biases}
    return {"drawn": density_of(readout.density).samples}


def _by_value(model: Model) -> tuple[float, float, float]:
    """Coefficients of the bulk variance in the readout value. Raises BadInput where there are none."""
    variance = variance_by_value(model)
    if variance is None:
        raise BadInput(
            "network.readout.density: the rows around the spike have no law by the readout value to be drawn from here",
            "simulate the network (--what network), or give values and fractions",
        )
    none, one, other = float(variance(0.0)), float(variance(1.0)), float(variance(-1.0))
    return none, 0.5 * (one - other), 0.5 * (one + other) - none


def _inputs(model: Model) -> InputSpectrum | None:
    """The covariance of the inputs, and what the spiked features have around their spike."""
    if model.inputs is None:
        return None
    law, (x, shares) = input_law(model), model.inputs.eigenvalues_and_weights()
    along, random = (tuple(map(rows_of, parts)) for parts in (law.along, law.random))
    target = rows_of(model.inputs.coefficients())
    spike = (None, ()) if model.step is None else (along, random)
    return InputSpectrum(tuple(shares.tolist()), tuple(x.tolist()), target, rows_of(law.covariance), *spike)


def _link(target: Target) -> Link:
    values = link_values(target.link)
    return (lambda s: values(s[None])) if target.indices == 1 else values


def _loss(fit: Fit) -> ConvexLoss | None:
    """The loss of the simulator; None is the square loss, which is fitted directly."""
    if fit.loss.key == "square":
        return None
    try:
        return convex_loss(fit.loss.name, fit.loss.parameters)
    except ExpressionError as error:
        raise BadInput(f"fit.loss: {error.message}", error.hint) from None


def _penalty(fit: Fit) -> ConvexLoss | None:
    """The penalty of the simulator, as a loss of a readout."""
    return None if fit.penalty is None else convex_loss_of(fit.penalty.entry.loss, fit.penalty.parameters)


def _spike(model: Model) -> tuple[float, float | tuple[float, ...], tuple[float, ...]]:
    spike = spike_of(model)
    alignments = tuple(float(gamma) for gamma in spike.alignments)
    alignment = alignments[0] if len(alignments) == 1 else alignments
    return float(spike.strength), alignment, tuple(float(c) for c in spike.bulk_variance)


def _directions(model: Model) -> Directions | None:
    """The directions of a spike of rank q."""
    return spike_of(model).directions


def _coefficients(model: Model, strength: float, variances: tuple[float, ...], loadings: Rows | None) -> Coefficients:
    """kappa [n], or [q, n] -> mu0, mu1, mu2, mu_c, each [K, n]: [CUI24] Result 3.2 with rows of unit norm."""
    from giantstep.quadrature.mesh import Term  # networks are simulated without a compiler
    from giantstep.quadrature.shift_derivatives import norm_functions

    network = model.network
    rows = loadings or tuple((value * strength,) for value in network.readout.values)
    offsets = network.readout.offsets(network.initial_bias)
    terms = [Term(network.activation, 1.0, b, variance) for b, variance in zip(offsets, variances, strict=True)]

    def tables(kappa: Array) -> tuple[Array, Array, Array, Array]:
        shifts = [np.array(row) @ np.atleast_2d(kappa) + b for row, b in zip(rows, offsets, strict=True)]
        pairs = zip(terms, shifts, strict=True)
        mu0, mu1, square = np.stack([coefficients(t.function, s, t.variance) for t, s in pairs], axis=1)
        return mu0, mu1, np.sqrt(square), norm_functions(terms, shifts) if norms_vary(model) else 0.0 * mu0

    return cast(Coefficients, tables)


def cannot_run(error: SimulationError) -> BadInput:
    """What a user is told of a simulation that cannot be run."""
    return BadInput(f"the simulation cannot be run: {error}", error.hint)
