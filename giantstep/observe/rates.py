"""How fast the test error falls with the samples where inputs and target follow power laws.

The exponents are derived in ``derive.power_law_rates``; solved models of growing size are put beside them.
Source: THEORY section 10; Defilippis, Loureiro, Misiakiewicz 2024, arXiv:2405.15699.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any

import sympy

from derive.power_law_rates import CAPACITY, RESOLUTION, RIDGE, SOURCE, WIDTH, power_law_rates
from giantstep.observe.power_law_errors import PowerLaw, power
from giantstep.spec.errors import BadInput, GiantstepError
from giantstep.spec.expressions import is_linear
from giantstep.spec.given import takes_model
from giantstep.spec.inputs_table import MAX_MODES, Inputs
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row
from giantstep.system.solve import solve

_NUMBERS = (20, 40, 80, 160, 320)  # samples of the solved models, of MAX_MODES modes each
_LIMITS = ("ridge", "samples", "width")  # what the resolution is limited by
_SAME = 1e-12
_CLOSE = (0.05, 0.01)  # parts of a rate that exponents are off by
_LARGE = 1e3  # an exponent that stands for no limit


@dataclass(frozen=True)
class Exponents:
    """Of N: bias and variance of the test error fall as N^-bias and N^-variance; modes that are known grow as
    N^modes, which ``limit`` limits: ridge, samples or width."""

    bias: float
    variance: float
    modes: float
    limit: str

    def error(self, noisy: bool) -> float:
        """Of the test error, with label noise or without."""
        return min(self.bias, self.variance) if noisy else self.bias


@dataclass(frozen=True, repr=False, eq=False)
class Rates(Pictured):
    """Exponents of the test error in the number N of samples, for N^width neurons and the ridge N^(1 - ridge).

    best: the exponents at best_ridge, where the rate is largest; enough_width: the least width with which that rate is
    reached. They are those of the leading terms, for N without bound. holds_from: from which N on the exponent of the
    test error is right to a part of it, by the equations of all sizes; None where not up to 1e12, or where it is zero.
    solved: pairs of N and the test error of the solved model. At the first of them it has the ridge of the model and
    its neurons for a sample. measured: the exponent between the last two; expected: the same by the equations without
    a last mode, which differs from the rate by terms that fall faster. At the interpolation peak, as many neurons as
    samples and a ridge of an exponent above the capacity, the exponents do not hold.
    Source: THEORY section 10; arXiv:2405.15699, Theorem 4.1.
    """

    model: Model
    width: float
    ridge: float
    exponents: Exponents
    best_ridge: float
    best: Exponents
    enough_width: float
    solved: tuple[tuple[int, float], ...]
    holds_from: tuple[tuple[float, float | None], ...]
    expected: float

    @property
    def rate(self) -> float:
        """The test error falls as N^-rate."""
        return self.exponents.error(self.noisy)

    @property
    def noisy(self) -> bool:
        """Whether labels have noise."""
        return self.model.target.noise > 0.0

    @property
    def measured(self) -> float | None:
        """The exponent between the last two solved models; None where fewer are solved."""
        if len(self.solved) < 2:
            return None
        (few, before), (many, after) = self.solved[-2:]
        return math.log(before / after) / math.log(many / few)

    def summary(self) -> list[Row]:
        """Rate, its parts, the best ridge, what was solved, model."""
        of = self.exponents
        variance = f", variance N^-{of.variance:.6g}" if self.noisy else ", no label noise"
        best = self.best.error(self.noisy)
        neurons = f"with it and N^{self.enough_width:.6g} neurons or more"
        return [
            ("test error", f"falls as N^-{self.rate:.6g}: bias N^-{of.bias:.6g}{variance}"),
            ("this rate is", self._holds()),
            ("modes known", f"grow as N^{of.modes:.6g}, limited by {_WORDS[of.limit]}"),
            ("best ridge", f"{_power(1.0 - self.best_ridge)}; {neurons} the error falls as N^-{best:.6g}"),
            ("solved", self._fall()),
            ("model", outline(self.model)),
        ]

    def _fall(self) -> str:
        if self.measured is None:
            return "not at sizes that are tried: the ridge or the width leaves what is solved"
        last, first = self.solved[-1][0], self.solved[-2][0]
        fall = f"N^-{self.measured:.4g} from N = {first} to {last}, {MAX_MODES} modes"
        far = abs(self.measured - self.rate) > _CLOSE[0] * self.rate
        return f"{fall}; other terms count as well at such N" if far else fall

    def _holds(self) -> str:
        """From where on the error falls with the exponent, and how closely."""
        if self.rate == 0.0:
            return "a rate of zero is not compared"
        found = [(part, size) for part, size in self.holds_from if size is not None]
        if not found:
            return f"still more than {_CLOSE[0]:.0%} off at N = 1e12: it is that of larger N"
        return "right " + ", ".join(f"to {part:.0%} from N = {size:.2g} on" for part, size in found)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "width": self.width,
            "ridge": self.ridge,
            "rate": self.rate,
            "bias": self.exponents.bias,
            "variance": self.exponents.variance if self.noisy else None,
            "modes": self.exponents.modes,
            "limit": self.exponents.limit,
            "best_ridge": self.best_ridge,
            "best_rate": self.best.error(self.noisy),
            "enough_width": self.enough_width,
            "measured": self.measured,
            "solved": [list(pair) for pair in self.solved],
            "expected": self.expected,
            "holds_from": {f"{part:g}": size for part, size in self.holds_from},
        }


def _power(exponent: float) -> str:
    """How a number changes as N to an exponent."""
    if abs(exponent) < _SAME:
        return "constant"
    return f"{'grows' if exponent > 0.0 else 'falls'} as N^{exponent:.6g}"


_WORDS = {"ridge": "the ridge", "samples": "the samples", "width": "the width"}


@takes_model
def rates(model: Model, *, width: float = 1.0, ridge: float = 1.0) -> Rates:
    """Exponents of the test error in the number N of samples, for N^width neurons and a ridge that grows as
    N^(1 - ridge): 1 for a constant one, 0 for one that grows as the samples.

    Raises BadInput where the model has no power laws, an activation or a link that is not linear, or a step.
    """
    _check_exponent("width", width, positive=True)
    _check_exponent("ridge", ridge, positive=False)
    inputs = _checked(model)
    laws, noisy = (float(inputs.capacity or 0.0), float(inputs.source or 0.0)), model.target.noise > 0.0
    best_ridge = _best_ridge(laws, width, noisy)
    errors = {count: _solved(model, count, width, ridge) for count in _NUMBERS}
    solved = tuple((count, error) for count, error in errors.items() if error is not None)
    exponents, law = exponents_at(laws, width, ridge), _law_of(model, width, ridge)
    rate = exponents.error(noisy)
    reached = law.reached(rate, _CLOSE) if rate > 0.0 else (None,) * len(_CLOSE)
    return Rates(
        model,
        width,
        ridge,
        exponents,
        best_ridge,
        exponents_at(laws, width, best_ridge),
        _enough_width(laws, width, best_ridge, noisy),
        solved,
        tuple(zip(_CLOSE, reached, strict=True)),
        law.exponent(*map(float, _NUMBERS[-2:])),
    )


def _law_of(model: Model, width: float, ridge: float, last: float = math.inf) -> PowerLaw:
    """The equations of all sizes, with the ridge of the model and its neurons for a sample at the first one solved."""
    inputs = _checked(model)
    neurons = model.network.width / model.fit.samples * power(_NUMBERS[0], 1.0 - width)
    penalty = model.fit.ridge * power(_NUMBERS[0], ridge - 1.0)
    laws = float(inputs.capacity or 0.0), float(inputs.source or 0.0)
    return PowerLaw(*laws, model.target.noise, (width, ridge), (neurons, penalty), last)


def _check_exponent(name: str, value: float, *, positive: bool) -> None:
    number = _number(value)
    if not (0.0 < number if positive else 0.0 <= number) or not number <= _LARGE:
        start = "above" if positive else "from"
        raise BadInput(f"{name} = {value!r} is no exponent", f"give a number {start} 0 to {_LARGE:g}")


def _number(value: object) -> float:
    """A number as a float, nan for what is none."""
    return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def _checked(model: Model) -> Inputs:
    """The inputs, where a rate is known."""
    inputs = model.inputs
    if inputs is None or inputs.capacity is None or inputs.source is None:
        raise BadInput(
            "rates need power laws: inputs.capacity for the eigenvalues, inputs.source for the target",
            " and ".join(["give [inputs] with capacity = 1.5, source = 1.1", *_to_be_linear(model)]),
        )
    if inputs.capacity <= 1.0 or inputs.source <= 0.5:
        raise BadInput(
            f"inputs.capacity = {inputs.capacity!r} and inputs.source = {inputs.source!r} have no limit of many modes",
            "give a capacity above 1 and a source above 0.5, so that inputs and target have a finite variance",
        )
    if model.steps or model.spike is not None:
        raise BadInput("rates are known for random features", "leave [step] and [spike] out")
    if changes := _to_be_linear(model):
        raise BadInput("rates are known for a linear activation and a linear link", f"give {' and '.join(changes)}")
    if model.fit.loss.name != "square":
        raise BadInput(
            f"rates are known for the square loss, not for {model.fit.loss.name!r}", 'give fit.loss = "square"'
        )
    return inputs


def _to_be_linear(model: Model) -> list[str]:
    """What to give for an activation and a link that are not linear."""
    linear = {
        "network.activation": is_linear(model.network.activation),
        "target.link": model.target.indices == 1 and is_linear(model.target.link),
    }
    return [f'{key} = "linear"' for key, already in linear.items() if not already]


@lru_cache(maxsize=1)
def _formulas() -> tuple[Callable[..., float], ...]:
    """Resolution, bias and variance as functions of a, s, q and l, of the last two with the resolution behind them."""
    law, arguments = power_law_rates(), (CAPACITY, SOURCE, WIDTH, RIDGE)
    behind = (*arguments, RESOLUTION)
    pairs = ((arguments, law.resolution), (behind, law.bias), (behind, law.variance))
    return tuple(sympy.lambdify(given, formula, "math") for given, formula in pairs)


@lru_cache(maxsize=4096)
def exponents_at(laws: tuple[float, float], width: float, ridge: float) -> Exponents:
    """The derived exponents for a capacity and a source."""
    resolution_at, bias_at, variance_at = _formulas()
    resolution = resolution_at(*laws, width, ridge)
    bounds = (ridge, laws[0], laws[0] * width)
    limit = next(name for name, bound in zip(_LIMITS, bounds, strict=True) if bound <= resolution + _SAME)
    bias, variance = (float(at(*laws, width, ridge, resolution)) for at in (bias_at, variance_at))
    return Exponents(bias, variance, resolution / laws[0], limit)


def _best_ridge(laws: tuple[float, float], width: float, noisy: bool) -> float:
    """The smallest exponent of the ridge with the largest rate: at an end, or where two parts of it cross."""
    most = laws[0] * min(1.0, width)
    parts = _lines(laws, width, noisy)
    places = {0.0, most}
    for number, (one, at) in enumerate(parts):
        for other, beside in parts[:number]:
            if one != other and 0.0 < (place := (beside - at) / (one - other)) < most:
                places.add(place)
    rate = {place: exponents_at(laws, width, place).error(noisy) for place in places}
    return min(place for place in places if rate[place] >= max(rate.values()) - _SAME)


def _lines(laws: tuple[float, float], width: float, noisy: bool) -> list[tuple[float, float]]:
    """The lines (slope, value at zero) in the resolution of which the derived exponents are made."""
    law, found = power_law_rates(), list[tuple[float, float]]()
    values = dict(zip((CAPACITY, SOURCE, WIDTH), (*laws, width), strict=True))
    for exponent in (law.bias, law.variance)[: 1 + noisy]:
        body = exponent.subs(values)
        bends = body.atoms(sympy.Min, sympy.Max)
        lines = [body.xreplace({bend: line}) for bend in bends for line in bend.args] or [body]
        found += [(float(line.diff(RESOLUTION)), float(line.subs(RESOLUTION, 0.0))) for line in lines]
    return found


def _enough_width(laws: tuple[float, float], width: float, ridge: float, noisy: bool) -> float:
    """The least width with which a rate is reached: it grows with the width."""
    wanted = exponents_at(laws, width, ridge).error(noisy)
    low, high = 0.0, width
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        enough = exponents_at(laws, middle, ridge).error(noisy) >= wanted - 1e-9
        low, high = (low, middle) if enough else (middle, high)
    return round(high, 8)


def _solved(model: Model, count: float, width: float, ridge: float) -> float | None:
    """The test error of the model of a size, None where it is refused; at the first size it has the model's ridge and
    neurons for a sample.
    """
    grown = count / _NUMBERS[0]
    changes = {
        "inputs.modes": MAX_MODES,
        "fit.samples": count / MAX_MODES,
        "network.width": model.network.width / model.fit.samples * _NUMBERS[0] * grown**width / MAX_MODES,
        "fit.ridge": model.fit.ridge * grown ** (1.0 - ridge),
    }
    try:
        return float(solve(model.replace(changes)).test_error)
    except GiantstepError:  # a ridge or a width out of range, or digits that are lost at the peak
        return None
