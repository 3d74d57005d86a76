"""Which numbers of a model a slider moves, and between which ends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from giantstep.observe.tune import RANGES
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.model import Model

_STEPS = 200
_AWAY = 0.01  # of an interval, from ends that a parameter does not have
_FACTOR = 100.0  # of a parameter without an upper end, both ways
_LOGARITHMIC = {**RANGES, "fit.ridge": (1e-5, 1e3), "step.samples": (0.1, 100.0)}
_LINEAR: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "network.bias": (-3.0, 3.0),
        "step.exponent": (0.02, 0.5),
        "spike.alignment": (-1.0, 1.0),
        "inputs.capacity": (0.0, 3.0),
        "inputs.source": (0.0, 3.0),
        "target.noise": (0.0, 2.0),
        "target.flips": (0.0, 0.49),
        "target.probit": (0.0, 2.0),
    }
)
_ORDER = (
    *("fit.samples", "fit.ridge", "network.width", "network.bias", "step.samples", "step.learning_rate"),
    *("step.exponent", "spike.strength", "spike.alignment", "spike.bulk_variance"),
    *("inputs.capacity", "inputs.source"),
    *("target.noise", "target.flips", "target.probit"),
)


@dataclass(frozen=True)
class Slider:
    """A number of a model between two ends; log: both are positive, and it moves by factors."""

    key: str
    low: float
    high: float
    value: float
    log: bool

    @property
    def position(self) -> float:
        """Where the slider stands: the value, or its decimal logarithm."""
        return math.log10(self.value) if self.log else self.value

    @property
    def ends(self) -> tuple[float, float, float]:
        """First and last position, and the step between two positions."""
        low, high = (math.log10(end) if self.log else end for end in (self.low, self.high))
        return low, high, (high - low) / _STEPS

    def at(self, position: float) -> float:
        """The value at a position, to the digits that a slider has."""
        value = 10.0**position if self.log else position
        return float(f"{min(max(value, self.low), self.high):.4g}")


def sliders_of(model: Model) -> tuple[Slider, ...]:
    """The sliders of a model, the ends moved apart where its own value lies beyond them."""
    found = []
    for key in _ORDER:
        table, _, field = key.partition(".")
        value = getattr(getattr(model, table), field, None)
        if isinstance(value, bool) or not isinstance(value, int | float) or not _counts(model, key):
            continue
        log = key in _LOGARITHMIC and value > 0.0
        low, high = _LOGARITHMIC.get(key) or _LINEAR[key]
        found.append(
            Slider(key, min(low, value) if log or key in _LINEAR else 0.0, max(high, value), float(value), log)
        )
    return (*found, *_of_parameters("fit.loss", model.fit.loss), *_of_parameters("fit.penalty", model.fit.penalty))


def _of_parameters(table: str, given: FitLoss | FitPenalty | None) -> Iterator[Slider]:
    """Those of the parameters of a loss or a penalty: over the middle of a bounded interval, or by factors."""
    for item, (name, value) in zip(given.entry.parameters, given.parameters, strict=True) if given is not None else ():
        key, log = f"{table}.{name}", math.isinf(item.high) and value > 0.0
        margin = _AWAY * (item.high - item.low)
        low, high = item.low + margin, item.high - margin
        if log:
            low, high = _LOGARITHMIC.get(key, (value / _FACTOR, value * _FACTOR))
        if math.isfinite(high):  # otherwise zero is given, and there is no scale
            yield Slider(key, min(low, value), max(high, value), value, log)


def _counts(model: Model, key: str) -> bool:
    """Whether a number has a meaning for a model: labels of a margin flip, those of a residual have noise."""
    margin = model.fit.loss.form == "margin"
    if key == "step.exponent":
        return model.step is not None and model.step.exponent < 0.5
    return not (key == "target.noise" and margin or key in ("target.flips", "target.probit") and not margin)
