"""A loss: its proximal map by definition, its kernel at given labels, and the law of the label."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np

from derive.gaussian.numeric import mpmath_function
from derive.loss.loss import F, LossAnalysis, Y, analyse_loss, loss_of_entry
from derive.loss.prox import prox_value
from derive.loss.prox_value import MoreauValues, moreau_values
from giantstep.law.labels import Points
from giantstep.law.multi_index_labels import has_kinks, moments_given_kappa
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.link import link_values
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem, gauss_rule
from giantstep.verify.check import Check
from giantstep.verify.reference_labels import REACH, Channel, LabelNode, legendre
from giantstep.verify.reference_output import Fields, LossCurve

_DIGITS = 50
_STEP = mpmath.mpf("1e-15")  # of central differences, whose error is its square
_POINTS = 6
_AVERAGED = 20  # digits of the averages over the output
_PANEL = 1  # standard deviations of the output; 12 nodes leave 1e-20
_GRID = 0.5  # of t where there are many directions, shifted by half of it against the kernels' own
_MOST_AXES = 4


def loss_checks(model: Model) -> Iterator[Check]:
    """Minimum, slopes and curvature of the envelope at random places, to 50 digits."""
    loss = model.fit.loss
    analysis, numbers = analyse_loss(loss_of_entry(loss.entry)), dict(loss.parameters)
    source = random.Random(7)
    minimum = slopes = curve = 0.0
    for number in range(_POINTS):
        y = mpmath.mpf(source.choice((-1, 1)) if loss.form == "margin" else source.randint(-2000, 2000) / 999)
        omega, v = mpmath.mpf(source.randint(-3000, 3000)) / 997, mpmath.mpf(source.randint(50, 4000)) / 991
        with mpmath.workdps(_DIGITS + 15):
            minimum = max(minimum, _not_least(analysis, numbers, y, omega, v))
            slopes = max(slopes, _slopes(analysis, numbers, y, omega, v))
        curve = max(curve, _curve_differs(analysis, numbers, y, omega, v)) if number < 3 else curve
    yield Check(f"proximal map of {_short(loss)}: the least value of its objective", minimum, 10.0 ** (5 - _DIGITS))
    # differences of step 1e-15: its square times a ratio of derivatives
    yield Check(f"envelope of {_short(loss)}: slopes and curvature by differences", slopes, 1e-25)
    yield Check(f"envelope of {_short(loss)}: two evaluators", curve, 1e-18)


def _short(loss: FitLoss) -> str:
    return loss.name if len(loss.name) <= 14 else loss.name[:11] + "..."


def _at(analysis: LossAnalysis, numbers: Mapping[str, float], y: Any, omega: Any, v: Any) -> MoreauValues:
    return moreau_values(analysis, y, omega, v, numbers, _DIGITS + 12)


def _not_least(analysis: LossAnalysis, numbers: Mapping[str, float], y: Any, omega: Any, v: Any) -> float:
    """How far the envelope is from the objective at the map; infinite where the objective is less elsewhere."""
    loss = analysis.loss
    expression = mpmath_function(loss.expr, (Y, F, *(p.symbol for p in loss.parameters)))
    values = [mpmath.mpf(numbers[p.name]) for p in loss.parameters]

    def objective(x: Any) -> Any:
        return (x - omega) ** 2 / (2 * v) + expression(y, x, *values)

    place = prox_value(analysis, y, omega, v, numbers, _DIGITS + 12)
    least = objective(place)
    around = [place + side * mpmath.mpf(10) ** -k for k in range(0, 20, 3) for side in (-1, 1)]
    if min(map(objective, around)) < least:
        return float("inf")
    return float(abs(_at(analysis, numbers, y, omega, v).envelope - least) / max(1, abs(least)))


def _slopes(analysis: LossAnalysis, numbers: Mapping[str, float], y: Any, omega: Any, v: Any) -> float:
    """g = -dM/domega, h = -dg/domega, dM/dV = -g^2/2 and g = (prox - omega)/V."""
    here = _at(analysis, numbers, y, omega, v)
    left, right = (_at(analysis, numbers, y, omega + side * _STEP, v) for side in (-1, 1))
    less, more = (_at(analysis, numbers, y, omega, v + side * _STEP) for side in (-1, 1))
    pairs = (
        (here.g, (left.envelope - right.envelope) / (2 * _STEP)),
        (here.h, (left.g - right.g) / (2 * _STEP)),
        (-(here.g**2) / 2, (more.envelope - less.envelope) / (2 * _STEP)),
        (here.g, (here.prox - omega) / v),
    )
    return max(float(abs(a - b) / max(1, abs(a))) for a, b in pairs)


def _curve_differs(analysis: LossAnalysis, numbers: Mapping[str, float], y: Any, omega: Any, v: Any) -> float:
    """The evaluator along a grid, which the averages use, against the one by bisection."""
    with mpmath.workdps(25):
        sign, offset = _orientation(analysis.loss.form, y)
        ((envelope, g, h),) = LossCurve(analysis, numbers).along([sign * omega - offset], v, y)
        wanted = moreau_values(analysis, y, omega, v, numbers, 24)
        pairs = ((envelope, wanted.envelope), (sign * g, wanted.g), (h, wanted.h))
        return max(float(abs(a - b) / max(1, abs(b))) for a, b in pairs)


def _orientation(form: str, y: Any) -> tuple[Any, Any]:
    """s and o in u = s f - o."""
    return (y if form == "margin" else mpmath.mpf(1)), (y if form == "residual" else mpmath.mpf(0))


def kernel_check(system: CoupledSystem, nodes: Sequence[int]) -> Check:
    """All averages of the loss kernel, those of the Jacobian included, at a few labels, against quadrature."""
    loss = system.problem.model.fit.loss
    curve = LossCurve(analyse_loss(loss_of_entry(loss.entry)), dict(loss.parameters))
    law = _few_labels(loss.form, system.directions)
    worst = 0.0
    for i in nodes:
        fields = fields_at(system, i)
        found = _of_kernel(system, law, i)
        with mpmath.workdps(_AVERAGED + 10):
            wanted, sizes = _by_quadrature(curve, law, fields, system.noise, system.kernel.AVERAGES)
        worst = max(worst, *(float(abs(a - b) / s) for a, b, s in zip(found, wanted, sizes, strict=True)))
    return Check(f"loss kernel at given labels: {len(system.kernel.AVERAGES)} averages", worst, 1e-9)


def _few_labels(form: str, directions: int) -> list[LabelNode]:
    labels = (1.0, -1.0, 1.0) if form == "margin" else (0.8, -1.3, 0.1)
    return [
        LabelNode(w, tuple(0.7 * (k + 1) - 0.9 * d for d in range(directions)), y)
        for k, (w, y) in enumerate(zip((0.5, 0.3, 0.2), labels, strict=True))
    ]


def fields_at(system: CoupledSystem, i: int) -> Fields:
    """The law of the output at one node, exactly as the kernel has it."""
    v, mean, delta = (mpmath.mpf(float(system.view(name)[i])) for name in ("V", "mean", "Delta"))
    return Fields(v, mean, tuple(mpmath.mpf(float(x)) for x in system.slopes[:, i]), delta)


def _of_kernel(system: CoupledSystem, law: Sequence[LabelNode], i: int) -> list[float]:
    weight, label = (np.array([[getattr(node, name) for node in law]]) for name in ("weight", "label"))
    fields = [system.view(name)[i : i + 1].copy() for name in ("V", "mean", "Delta")]
    slope, out = system.slopes[:, i : i + 1].copy(), np.empty((len(system.averages), 1))
    rule = max(96, system.level.output)  # resolved beyond doubt: what is compared is the kernel's text
    system.loss.points(
        gauss_rule(rule),
        rule,
        weight,
        np.array([[node.t for node in law]]),
        label,
        np.zeros((system.directions, system.directions)),
        system.noise,
        system.constants,
        fields[0],
        fields[1],
        slope,
        fields[2],
        system.scratch,
        out,
    )
    return [float(x) for x in out[:, 0]]


def _by_quadrature(
    curve: LossCurve, law: Sequence[LabelNode], fields: Fields, noise: float, names: Sequence[str]
) -> tuple[list[Any], list[Any]]:
    """Averages by name over xi for labels and t given, and those of the absolute values."""
    variance = fields.delta + noise
    totals, sizes = [mpmath.mpf(0)] * len(names), [mpmath.mpf(0)] * len(names)
    for node in law:
        y = mpmath.mpf(node.label)
        sign, offset = _orientation(curve.form, y)
        centre = fields.mean + mpmath.fsum(s * t for s, t in zip(fields.slopes, node.t, strict=True))
        middle, spread = sign * centre - offset, mpmath.sqrt(variance)
        grid = _panels(middle, spread, curve.marks(fields.response, y))
        along = curve.along([u for u, _ in grid], fields.response, y)
        for (u, w), (envelope, g, h) in zip(grid, along, strict=True):
            z = (u - middle) / spread
            p = node.weight * w * mpmath.npdf(z) / spread
            letters = {
                "M": envelope,
                "g": sign * g,
                "h": h,
                "x": sign * z / spread,
                "xx": (z * z - 1) / variance,
            }
            for k, name in enumerate(names):
                term = p * _monomial(name, letters, node.t)
                totals[k] += term
                sizes[k] += abs(term)
    return totals, sizes


def _monomial(name: str, letters: Mapping[str, Any], t: Sequence[float]) -> Any:
    """The value of `avg_t_1ghx`: the product of its letters."""
    rest, value = name.removeprefix("avg_"), mpmath.mpf(1)
    while rest:
        if rest.startswith("t"):
            number = rest[2] if rest.startswith("t_") else "1"
            value *= t[int(number) - 1]
            rest = rest.removeprefix(f"t_{number}" if rest.startswith("t_") else "t")
            continue
        letter = "xx" if rest.startswith("xx") else rest[0]
        value *= letters[letter]
        rest = rest.removeprefix(letter)
    return value


def _panels(middle: Any, spread: Any, marks: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Increasing places and weights of Gauss-Legendre panels that end at the marks."""
    low, high = middle - (REACH + 2) * spread, middle + (REACH + 2) * spread
    grid = []
    for left, right in pairwise([low, *sorted(m for m in marks if low < m < high), high]):
        count = max(1, int(mpmath.ceil((right - left) / min(_PANEL * spread, mpmath.mpf(1)))))
        half = (right - left) / (2 * count)
        grid += [(left + (2 * k + 1 + x) * half, half * w) for k in range(count) for x, w in sorted(legendre())]
    return grid


def label_check(system: CoupledSystem, channel: Channel, nodes: Sequence[int]) -> Check | None:
    """Moments of labels given at nodes of t, against other nodes; None where there are too many directions."""
    law, model = system.labels, system.problem.model
    axes = model.target.indices * (2 if model.target.probit else 1)
    if not isinstance(law, Points) or axes > _MOST_AXES:
        return None
    noise = model.target.noise if system.loss.FORM != "residual" else 0.0  # otherwise part of the output
    if has_kinks(model.target.link):
        return Check("law of the label: moments against other panels", _by_panels(system, law, nodes), 1e-8)
    few = system.loss.NAME == "square" and model.target.indices > 1  # whose law has the first two moments only
    # one node serves a direction that the label does not know, where kappa has several
    known = [d for d in range(law.directions) if system.problem.rank == 1 or channel.mixing()[d, d] > 0.0]
    worst = 0.0
    for i in nodes:
        found = _moments(law.weight[i], law.t[i][:, known], law.label[i], 0.0, few)
        if not few:
            found[-len(known) :] += (law.weight[i] @ law.label[i]) * np.diag(law.rest)[known]  # of t about its mean
        weight, t, label = _other_nodes(model, channel, system.place(i), axes)
        wanted = _moments(weight, t[:, known], label, noise, few)
        worst = max(worst, float(np.max(np.abs(found - wanted)) / max(1.0, float(np.max(np.abs(wanted))))))
    return Check("law of the label: moments against other nodes", worst, 1e-9)


def _by_panels(system: CoupledSystem, law: Points, nodes: Sequence[int]) -> float:
    """Difference of the first moments, relative to the largest, to adaptive averages between the kinks."""
    target, gamma = system.problem.model.target, np.array(system.problem.overlaps)
    places = np.array([system.place(i) for i in nodes]).reshape(len(nodes), -1)
    exact = moments_given_kappa(target.link, gamma, places, target.probit, 0, False, adaptive=True)
    kept, worst = 1.0 - 2.0 * target.flips, 0.0
    for k, i in enumerate(nodes):
        found = _moments(law.weight[i], law.t[i], law.label[i], 0.0, True)
        noise = target.noise if system.loss.FORM != "residual" else 0.0
        wanted = np.array([1.0, kept * exact.mean[k], exact.square[k] + noise, *(kept * exact.linear[k])])
        worst = max(worst, float(np.max(np.abs(found - wanted)) / max(1.0, float(np.max(np.abs(wanted))))))
    return worst


def _moments(weight: np.ndarray, t: np.ndarray, y: np.ndarray, noise: float, few: bool) -> np.ndarray:
    """E 1, E y, E y^2, E y t and, unless few, E cos y and E y t^2 along each direction, after adding noise to y."""
    values = [np.ones_like(y), y, y * y + noise, *(y[:, None] * t).T]
    if not few:
        values += [np.exp(-0.5 * noise) * np.cos(y), *(y[:, None] * t**2).T]
    return np.array([float(weight @ value) for value in values])


def _other_nodes(
    model: Model, channel: Channel, kappa: float | tuple[float, ...], axes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, t and labels: by the definition of the channel, or on a shifted grid where it has many directions."""
    if axes <= 2:
        found = channel.nodes(kappa)
        columns = ([n.weight for n in found], [n.t for n in found], [float(n.label) for n in found])
        return tuple(np.array(column) for column in columns)  # type: ignore[return-value]
    line = (np.arange(-17, 17) + 0.5) * _GRID
    grid = np.array(list(product(line, repeat=axes)))
    weight = np.exp(-0.5 * (grid**2).sum(axis=1)) * (_GRID / np.sqrt(2.0 * np.pi)) ** axes
    centres = np.array([float(z) for z in channel.centres(kappa)])
    lower, count = np.array(channel.mixing().tolist(), dtype=float), len(centres)
    t = grid[:, :count]
    inner = np.sqrt(model.target.probit) * grid[:, count:] if axes > count else 0.0
    y = link_values(model.target.link)((centres + t @ lower.T + inner).T)
    flips = model.target.flips
    if not flips:
        return weight, t, y
    return np.concatenate([(1 - flips) * weight, flips * weight]), np.tile(t, (2, 1)), np.concatenate([y, -y])
