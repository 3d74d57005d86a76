"""What is derived for a model, as records that print themselves: coefficients, step, equations. Loads SymPy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

import sympy as sp

from derive.best_estimator import best_estimator
from derive.bulk_covariance import bulk_covariance
from derive.channel import ChannelLaw, channel_law, derive_moments, given_law
from derive.coefficients import conditional_coefficients
from derive.continuous_readout import continuous_readout
from derive.draws import draws
from derive.features import Origin, bias_condition, features_given_kappa
from derive.further_step import further_step
from derive.gradient_step import GradientStepMap, gradient_step_map
from derive.label_errors import error_of_mean, misclassification, training_error
from derive.label_law import averages_over_output, label_given_kappa, target_given_kappa
from derive.labels import FLIPS, PROBIT, IndexFunction, index_function
from derive.language.catalogue import lookup
from derive.language.grammar import ExpressionError, parse
from derive.language.links import link_of
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.loss.loss import loss_of_entry
from derive.loss.prox import moreau
from derive.loss.quadratic import SQUARE
from derive.penalised_pair import pair_law
from derive.penalty import penalty_given, penalty_law
from derive.polynomial_spikes import polynomial_spikes
from derive.power_law_rates import power_law_rates
from derive.printing import latex_of
from derive.repeated_batch import repeated_batch
from derive.replica.two_kinds import two_kinds_derivation
from derive.row_norms import row_norms
from derive.saddle import BulkLaw, SaddleSystem, coupled_system, saddle_system
from derive.scalar import scalar_function
from derive.steps_on_inputs import step_on_inputs
from derive.structured_inputs import structured_inputs
from derive.to_sympy import to_sympy
from derive.trace import Derivation, DerivationStep
from derive.two_batches import two_batches
from derive.two_readouts import pair_system
from giantstep.law.kind import bulk_kind, is_closed
from giantstep.law.spike import by_blocks, rank_of
from giantstep.spec.errors import BadInput
from giantstep.spec.given import takes_model
from giantstep.spec.kernels import emitted_loss, function_kernel
from giantstep.spec.model import Model, Target
from giantstep.spec.outline import outline
from giantstep.spec.shown import text_table
from giantstep.spec.target_channel import Channel

Format = Literal["text", "latex", "markdown"]
FORMATS: tuple[Format, ...] = ("text", "latex", "markdown")
Of = Literal["solve", "decompose", "optimal", "rates"]
VERBS: tuple[Of, ...] = ("solve", "decompose", "optimal", "rates")
# derivatives of averages that Newton's method needs and the equations do not
_SECOND = re.compile(r"davg_(?!M/)")
_USER = re.compile(r"user_[0-9a-f]{16}")
_SHIFTED = re.compile(r"(?<=[0-9a-z])_shifted\b")


@dataclass(frozen=True, repr=False)
class ModelDerivation:
    """The derivations of one model, in the order in which they build on each other; shows itself in a notebook."""

    model: Model
    parts: tuple[Derivation, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied with all claims written down: what would write them belongs to this process."""
        parts = (replace(part, steps=tuple(map(_with_claim, part.steps))) for part in self.parts)
        return type(self), (self.model, tuple(parts))

    def __repr__(self) -> str:
        steps = sum(len(part.steps) for part in self.parts)
        rows = [
            ("derived", f"{steps} equations in {len(self.parts)} parts"),
            ("titles", "; ".join(part.title for part in self.parts)),
            ("shown by", "print(derivation.render('text')), .latex(), and by itself in a notebook"),
            ("model", outline(self.model)),
        ]
        return text_table("ModelDerivation", rows)

    def to_dict(self) -> dict[str, Any]:
        """Titles with their equations: label, LaTeX of both sides, the rule in words, source."""
        parts = [{"title": part.title, "steps": [_plain(step) for step in part.steps]} for part in self.parts]
        return {"model": self.model.to_dict(), "parts": parts}

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def equations(self) -> ModelDerivation:
        """Definitions and results only, without the steps between and what only the solver needs."""
        kept = (replace(part, steps=tuple(filter(_is_equation, part.steps))) for part in self.parts)
        return replace(self, parts=tuple(part for part in kept if part.steps))

    def render(self, format: Format = "text") -> str:
        """All parts as text, as a LaTeX appendix, or as Markdown. Raises BadInput for another format."""
        if format not in FORMATS:
            raise BadInput(f"format = {format!r} is unknown", f"choose one of {', '.join(FORMATS)}")
        return "\n".join(getattr(part, format)() for part in self.parts)

    def latex(self) -> str:
        """An appendix to paste into a paper."""
        return self.render("latex")

    def _repr_markdown_(self) -> str:
        return self.render("markdown")


def _plain(step: DerivationStep) -> dict[str, str]:
    equation = f"{latex_of(step.lhs)} = {latex_of(step.rhs)}"
    return {"label": step.label, "kind": step.kind, "latex": equation, "rule": step.sentence(), "source": step.source}


def _with_claim(step: DerivationStep) -> DerivationStep:
    return replace(step, claimed=None if step.sides is None else partial(tuple, step.sides))


def _is_equation(step: DerivationStep) -> bool:
    return step.shown and step.kind != "assumption" and not _SECOND.match(step.label)


@takes_model
def derive(model: Model, *, of: Of = "solve") -> ModelDerivation:
    """Derive everything that is solved for a model: the coefficients of its activation and link, the map of its
    gradient step, the law of label and output, the proximal map of its loss, the saddle-point equations, and the
    condition of a trained bias.

    of: the verb whose equations are wanted; "decompose" has those of two fits, "optimal" of the best estimator,
    "rates" the exponents for power laws.
    Raises BadInput for a function or a loss that cannot be analysed, or a step that is not defined.
    """
    if of not in VERBS:
        raise BadInput(f"of = {of!r} is unknown", f"choose one of {', '.join(VERBS)}")
    _check_budget(model)
    parts = {"solve": _parts, "decompose": _parts_of_two, "optimal": _parts_of_best, "rates": _parts_of_rates}[of]
    try:
        return ModelDerivation(model, tuple(_titled(model, part) for part in parts(model)))
    except ExpressionError as error:
        raise BadInput(error.message, error.hint) from None


def _check_budget(model: Model) -> None:
    """Raise BadInput where a function or the loss is too hard: what follows has no budget of its own."""
    for name in (model.network.activation, *[model.target.mean_link] * (model.target.indices == 1)):
        function_kernel(name)
    if model.fit.loss.key not in LOSSES:
        emitted_loss(model.fit.loss.expression)


def _titled(model: Model, part: Derivation) -> Derivation:
    """With symbols in title and words, where they have the name of a user's kernel."""
    title = _symbols(model, part.title)
    return replace(part, title=title, steps=tuple(_worded(model, step) for step in part.steps))


def _worded(model: Model, step: DerivationStep) -> DerivationStep:
    """The words of a step with symbols, and without a bias of zero."""
    words = _SHIFTED.sub(" with its bias" if model.network.initial_bias else "", step.rule)
    return replace(step, rule=_symbols(model, words))


def _symbols(model: Model, words: str) -> str:
    """Words with symbols in place of the names of a user's kernels."""
    symbols = {
        link_of(model.target.mean_link).name: r"$\sigma_\star$",
        lookup(model.network.activation).name: r"$\sigma$",
        model.fit.loss.key: r"$\ell$",
    }
    return _USER.sub(lambda found: symbols[found[0]], words)


def _parts(model: Model) -> Iterator[Derivation]:
    activation, link = scalar_function(model.network.activation), index_function(model.target.mean_link)
    of_activation, of_link = conditional_coefficients(activation), None
    yield of_activation.derivation
    if model.target.indices == 1:
        of_link = conditional_coefficients(scalar_function(model.target.mean_link))
        if link.name != activation.name:
            yield of_link.derivation
    if model.target.channel is not None:
        yield derive_moments(channel_of(model.target.channel))
    if model.step is not None:
        if not by_blocks(model) or model.network.readout.biases is None:
            yield step_map_of(model).derivation
        if by_blocks(model):
            yield further_step().derivation
        if any(step.batch == "same" for step in model.steps):
            yield repeated_batch().derivation
        if model.step.exponent < 0.5:
            network = model.network
            yield polynomial_spikes(activation, 3, None if network.trains_bias else network.initial_bias).derivation
    if model.bulk == "trained":
        yield bulk_covariance().derivation
        yield row_norms().derivation
    if model.bulk == "inputs":
        yield structured_inputs().derivation
        if by_blocks(model):
            yield step_on_inputs().derivation
    title, spikes = f"Features of {activation.name} given $\\kappa$", rank_of(model)
    yield features_given_kappa(of_activation, title, _origin(model), spikes)
    yield target_given_kappa(link, of_link, spikes)
    yield from _equations(model)
    if model.network.readout.density is not None:
        steps = system_of(model).derivation
        yield continuous_readout(steps.step("free energy").rhs, steps.step("T").rhs)


def _parts_of_two(model: Model) -> Iterator[Derivation]:
    try:
        system = pair_system(model.target.indices, rank_of(model), bulk_kind(model))
    except ValueError:
        assert model.step is not None  # without one all rows are Gaussian
        raise BadInput(
            f'two fits with step.bulk = "{model.step.bulk}" have no equations of their own: what they share is found '
            "from those of a single fit",
            'derive these without "decompose"; or use step.bulk = "isotropic"',
        ) from None
    yield two_kinds_derivation()
    yield system.derivation
    if model.fit.penalty is not None:
        yield pair_law().derivation
    if bulk_kind(model) == "isotropic":
        yield two_batches().derivation
        yield draws().derivation


def _parts_of_best(_: Model) -> Iterator[Derivation]:
    yield best_estimator().derivation


def _parts_of_rates(_: Model) -> Iterator[Derivation]:
    yield power_law_rates().derivation


def _origin(model: Model) -> Origin:
    return "spike" if model.spike is not None else "step" if model.step is not None else "plain"


def _equations(model: Model) -> Iterator[Derivation]:
    """The loss, the averages that it enters by, the system, and what is read off it."""
    target, loss = model.target, model.fit.loss
    link, channel = index_function(target.link), None if target.channel is None else channel_of(target.channel)
    drawn = {"flips": target.flips > 0.0, "probit": target.probit > 0.0}
    if is_closed(model):
        if target.drawn:
            yield label_given_kappa(link, **drawn, channel=channel)
        yield system_of(model).derivation
        return
    yield moreau(loss_of_entry(loss.entry)).derivation
    yield averages_over_output(link, loss.form, **drawn, noise=target.noise > 0.0, channel=channel)
    system = system_of(model)
    # the label is that of the channel, and its risk under a square is no part of the equations
    judged = _test_error(model)
    dropped = {"label", "conditional risk"} | ({"test error"} if judged else set())
    yield replace(system.derivation, steps=tuple(s for s in system.derivation.steps if s.label not in dropped))
    if (penalty := model.fit.penalty) is not None:
        yield penalty_given(penalty.entry)
        yield penalty_law().derivation
    yield training_error(loss.entry.error_scale)
    if judged:
        yield judged
    if model.network.trains_bias:
        yield bias_condition(system)[1]


def _test_error(model: Model) -> Derivation | None:
    """That of a loss whose output is not judged by its squared error."""
    loss, indices = model.fit.loss, model.target.indices
    if loss.form == "margin":
        return misclassification(indices)[1]
    if loss.predicts is None:
        return None
    names = tuple(name for name, _ in loss.parameters)
    symbols = {name: sp.Symbol(name, positive=True) for name in names} | {"f": sp.Symbol("f", real=True)}
    predicted = to_sympy(parse(loss.entry.predicts, ("f", *names)), symbols)
    return error_of_mean(predicted, symbols["f"], indices)[1]


def step_map_of(model: Model) -> GradientStepMap:
    """The derived map of a model's gradient step, with the noise that its labels have.

    Raises ExpressionError for an activation that jumps.
    """
    target = model.target
    return gradient_step_map(
        scalar_function(model.network.activation),
        index_function(target.mean_link),
        model.network.initial_bias,
        flips=FLIPS if target.flips else 0,
        probit=PROBIT if target.probit else 0,
        drawn=_variance_of(target),
    )


def channel_of(channel: Channel) -> ChannelLaw:
    """The law of the label of a channel, for the derivation."""
    entry = channel.entry
    if entry is None:
        return given_law(channel.labels, channel.probability)
    return channel_law(entry, channel.trials)


def _variance_of(target: Target) -> IndexFunction | None:
    """The variance of a label that a channel draws, as a function of the indices."""
    if target.channel is None:
        return None
    mean, text = index_function(target.mean_link), target.second_link
    second = index_function(text).at(*mean.variables) if isinstance(text, str) else sp.nsimplify(text)
    variance = second if target.channel.counts else second - mean.expr**2
    return IndexFunction(f"variance of {target.channel}", variance, mean.variables)


def system_of(model: Model) -> SaddleSystem:
    """The derived system that a model is solved by: that of the square loss, or the one of any convex loss."""
    numbers = model.target.indices, rank_of(model)
    if is_closed(model):
        return _square_system(*numbers, model.target.drawn)
    return coupled_system_of(*numbers, bulk_kind(model))


@lru_cache(maxsize=4)
def _square_system(directions: int, spikes: int, drawn: bool) -> SaddleSystem:
    return saddle_system(SQUARE, directions, spikes, drawn)


@lru_cache(maxsize=4)
def coupled_system_of(directions: int, spikes: int, bulk: BulkLaw) -> SaddleSystem:
    """The derived system of any convex loss, remembered."""
    return coupled_system(directions, spikes, bulk)


def render(model: Model, format: Format, steps: bool, of: Of = "solve") -> str:
    """The text that ``giantstep derive`` prints: all steps, or just definitions and results."""
    derived = derive(model, of=of)
    return (derived if steps else derived.equations()).render(format)
