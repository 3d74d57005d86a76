"""The common model from plain keyword arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.model import Fit, Inputs, Model, Network, Readout, Spike, Step, Target
from giantstep.spec.target_channel import Channel
from giantstep.spec.validate import wrong


def model(
    activation: str | Callable[..., Any] = "tanh",
    link: str | Callable[..., Any] = "sign",
    *,
    samples: float = 2.0,
    ridge: float = 0.1,
    loss: str | Mapping[str, Any] | FitLoss | Callable[..., Any] = "square",
    width: float = 1.0,
    bias: float | str = 0.0,
    readout: Sequence[float] | Readout = (1.0,),
    learning_rate: float | None = 1.0,
    step_samples: float = 4.0,
    bulk: str = "isotropic",
    noise: float = 0.0,
    flips: float = 0.0,
    channel: str | Mapping[str, Any] | Channel | None = None,
    spike: Spike | None = None,
    inputs: Inputs | None = None,
    penalty: str | Mapping[str, Any] | FitPenalty | Callable[..., Any] | None = None,
) -> Model:
    """A network that takes a giant step, and the fit of its readout, in one line: ``model("relu", ridge=0.5)``.

    activation, link, loss: names, expressions, or SymPy expressions and functions that return one; samples: n/d of the
    fit; ridge: lambda; width: p/d; bias: a number or "trained"; readout: values at initialisation, held by equal
    numbers of neurons; learning_rate: eta/d of the step on step_samples = n0/d, None for no step; bulk: of the step;
    noise: variance of label noise; flips: probability of flipped labels; channel: that draws labels given the link, as
    "logit"; spike: given in place of the step; inputs: their covariance; penalty: on every readout.
    Anything else: Model. Raises BadInput.
    """
    if spike is not None and bulk != "isotropic":
        raise BadInput(f"bulk = {bulk!r} is that of a step, and a spike is given", "leave one of them out")
    stepped = spike is None and learning_rate is not None
    return Model(
        network=Network(activation, width, _readout(readout), bias),  # type: ignore[arg-type]
        target=Target(link, noise, flips, channel=channel),  # type: ignore[arg-type]
        fit=Fit(samples, ridge, loss, penalty),  # type: ignore[arg-type]
        step=Step(step_samples, learning_rate, bulk) if stepped else None,  # type: ignore[arg-type]
        spike=spike,
        inputs=inputs,
    )


def _readout(values: Sequence[float] | Readout) -> Readout:
    if isinstance(values, Readout):
        return values
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        hint = 'a density of values: gs.Readout(density="gaussian")'
        raise wrong("readout", values, "a list of values at initialisation, as [1, -1], or a gs.Readout", hint)
    values = tuple(values)
    return Readout(values, (1.0 / len(values),) * len(values)) if len(values) else Readout(())
