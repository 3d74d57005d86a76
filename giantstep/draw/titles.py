"""What a picture says of its model: a title without what is swept, and symbols and words of keys for the axes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from giantstep.draw.formulas import activation_words, decimal, link_words, loss_words, on_lines, plain
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Model, Network
from giantstep.spec.parametrised import in_words
from giantstep.spec.step_table import Step, numbered_step, unnumbered

_Shown = float | str | tuple[float, ...] | Rows | None

#: Symbol, or none, and words of each key, for axes and labels.
SYMBOLS: Mapping[str, tuple[str, str]] = {
    "network.width": (r"\beta", r"width $p/d$"),
    "network.bias": (r"b", "bias of the neurons"),
    "network.activation": (r"\sigma", "activation"),
    "network.readout.values": (r"u", "readout at initialisation"),
    "network.readout.fractions": (r"\pi", "fractions of neurons"),
    "step.samples": (r"\alpha_0", r"samples of the gradient step $n_0/d$"),
    "step.learning_rate": (r"\tilde\eta", r"learning rate $\eta/d$"),
    "spike.strength": (r"r", "strength of the spike"),
    "spike.alignment": (r"\gamma", "alignment of spike and target"),
    "spike.loadings": (r"\ell", "loadings of the blocks"),
    "spike.bulk_variance": (r"c", "variance of the bulk rows"),
    "target.link": (r"\sigma_\star", "target"),
    "target.noise": (r"\sigma_\varepsilon^2", "variance of the label noise"),
    "target.flips": (r"p_{\mathrm{flip}}", "probability of a flipped label"),
    "target.probit": (r"\tau^2", "variance of the noise inside the link"),
    "fit.samples": (r"\alpha", r"samples of the fit $n/d$"),
    "fit.ridge": (r"\lambda", "ridge"),
    "fit.loss": ("", "loss"),
    "fit.penalty": ("", "penalty"),
    "target.channel": ("", "channel"),
    "network.initialisation": ("", "initialisation"),
    "network.readout.density": ("", "density of the readout at initialisation"),
    "network.readout.biases": (r"b", "biases of the blocks"),
    "step.bulk": ("", "bulk"),
    "step.batch": ("", "batch"),
    "step.exponent": (r"e", "exponent of the learning rate"),
    "inputs.capacity": (r"a", r"exponent of eigenvalues $j^{-a}$"),
    "inputs.source": (r"s", r"exponent of the target $j^{-s}$"),
    "inputs.modes": ("", "number of eigenvalues"),
}
_OWNERS = {"fit.loss": "loss", "fit.penalty": "penalty", "target.channel": "channel"}  # of numbers that they name


def known_as(key: str) -> tuple[str, str]:
    """Symbol, or none, and words of a key."""
    owner, _, name = key.rpartition(".")
    if owner in _OWNERS:
        symbol = name.replace("_", r"\_")
        return rf"\mathrm{{{symbol}}}", f"parameter of the {_OWNERS[owner]}"
    number = numbered_step(key)
    if number is not None:
        symbol, words = SYMBOLS.get(unnumbered(key), ("", key))
        return symbol, f"{words}, step {number}"
    return SYMBOLS.get(key, ("", key))


def described(model: Model, swept: Collection[str]) -> str:
    """The model in one or two lines, without what is swept."""
    hidden = {unnumbered(key) for key in swept}
    parts = [*_functions(model, hidden), *_rows(model, hidden), *_inputs(model, hidden)]
    numbers: dict[str, _Shown] = {
        "network.width": model.network.width,
        "network.bias": model.network.bias or None,
        "step.samples": _of_steps([step.samples for step in model.steps]),
        "step.learning_rate": _of_steps([step.learning_rate for step in model.steps]),
        "step.exponent": model.step.exponent if model.step and model.step.exponent != Step.exponent else None,
        "spike.strength": model.spike.strength if model.spike else None,
        "spike.alignment": model.spike.alignment if model.spike else None,
        "spike.loadings": model.spike.loadings if model.spike else None,
        "spike.bulk_variance": model.spike.bulk_variance if model.spike else None,
        "fit.samples": model.fit.samples,
        "fit.ridge": model.fit.ridge,
        "target.noise": model.target.noise or None,
        "target.flips": model.target.flips or None,
        "target.probit": model.target.probit or None,
    }
    for key, value in numbers.items():
        if value is not None and key not in hidden:
            parts.append(rf"${SYMBOLS[key][0]} = {_value(value)}$")
    return on_lines([*parts, *_readout(model, hidden)])


def _functions(model: Model, hidden: Collection[str]) -> Iterator[str]:
    """The functions of the model; what is swept of their parameters is left out."""
    if "network.activation" not in hidden:
        yield activation_words(model.network.activation)
    if "target.link" not in hidden:
        yield link_words(model.target.link)
    channel, penalty = model.target.channel, model.fit.penalty
    if channel is not None and "target.channel" not in hidden:
        yield f"channel {channel.name if channel.name and 'target.channel.trials' in hidden else channel}"
    if model.fit.loss.key != "square" and "fit.loss" not in hidden:
        yield _loss(model.fit.loss, hidden)
    if penalty is not None and "fit.penalty" not in hidden:
        left = tuple(pair for pair in penalty.parameters if f"fit.penalty.{pair[0]}" not in hidden)
        yield f"penalty {plain(in_words(penalty.name, left))}"


def _rows(model: Model, hidden: Collection[str]) -> Iterator[str]:
    """Where rows of the first layer are others than the usual ones."""
    if model.network.initialisation != Network.initialisation and "network.initialisation" not in hidden:
        yield f"{model.network.initialisation.capitalize()} initialisation"
    if len(model.steps) > 1 and "step" not in hidden:
        yield f"{len(model.steps)} steps"
    if model.step is not None and model.step.bulk != Step.bulk and "step.bulk" not in hidden:
        yield "given bulk" if model.step.bulk == "matrix" else f"{model.step.bulk} bulk"
    if any(step.batch != Step.batch for step in model.steps) and "step.batch" not in hidden:
        yield "the same batch"


def _inputs(model: Model, hidden: Collection[str]) -> Iterator[str]:
    """The law of structured inputs in short."""
    inputs = model.inputs
    if inputs is None:
        return
    if inputs.capacity is None:
        yield "structured inputs"
        return
    for key, words in (("capacity", "eigenvalues"), ("source", "target")):
        exponent = getattr(inputs, key)
        if exponent is not None and f"inputs.{key}" not in hidden:
            yield rf"{words} $j^{{-{exponent:.4g}}}$"
    if "inputs.modes" not in hidden:
        yield f"{inputs.modes} modes"


def _readout(model: Model, hidden: Collection[str]) -> Iterator[str]:
    """The readout at initialisation, where it is not the usual one."""
    readout = model.network.readout
    if readout.density is not None:
        if "network.readout.density" not in hidden:
            yield rf"$u$ {readout.density}"
    elif readout.values != (1.0,) and "network.readout.values" not in hidden:
        yield rf"$u \in \{{{', '.join(decimal(value, 4) for value in readout.values)}\}}$"


def _loss(loss: FitLoss, hidden: Collection[str]) -> str:
    """A loss without those of its numbers that are swept."""
    left = tuple(pair for pair in loss.parameters if f"fit.loss.{pair[0]}" not in hidden)
    return loss_words(loss) if left == loss.parameters else plain(in_words(loss.name, left))


def _of_steps(values: list[float]) -> float | tuple[float, ...] | None:
    """A number of all steps, or one for each; None without a step."""
    if not values:
        return None
    return values[0] if len(set(values)) == 1 else tuple(values)


def _value(value: float | str | tuple[float, ...] | Rows) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    return rf"\mathrm{{{value}}}" if isinstance(value, str) else decimal(value, 4)
