"""A loss: its proximal map by definition, its kernel at given labels, and the law of the label."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from derive.directions import directions_of
from derive.gaussian.numeric import mpmath_function
from derive.language.loss_catalogue import REGISTERED
from derive.loss.loss import F, LossAnalysis, Y, analyse_loss, loss_of_entry
from derive.loss.prox import prox_value
from derive.loss.prox_value import MoreauValues, moreau_values
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.law.label_cells import Cells
from giantstep.law.label_lines import Lines, lines_given_kappa
from giantstep.law.moments_given_kappa import moments_given_kappa
from giantstep.law.multi_index_labels import has_kinks
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.model import Model
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.label_kernels import kernel_of
from giantstep.verify.check import Check
from giantstep.verify.conditional_law import LabelLaw
from giantstep.verify.interpreter import NotEvaluable
from giantstep.verify.loss_curve import curve_of
from giantstep.verify.output_averages import loss_averages
from giantstep.verify.output_law import Output
from giantstep.verify.quadrature import density, panels

Array = np.ndarray
_DIGITS = 50
_STEP = mpmath.mpf("1e-15")  # of central differences, whose error is its square
_POINTS = 6
_REACH, _PANEL, _ORDER = 10.5, 1.0, 14  # standard deviations of the output, and of a panel
_AVERAGES = 1e-9
_NAMES = ("avg_l", "avg_M", "avg_g", "avg_gg", "avg_h")  # averages of the equations and errors
_HALVINGS = 6  # of the panels of lines, at most
_WIDTHS = (0.5, 0.25)  # of panels: the second is compared, the first says how far it has settled
_VANISHES = 1e-6  # of the largest average


@dataclass(frozen=True)
class _Label:
    """A label with its probability, at a place t."""

    weight: float
    t: tuple[float, ...]
    label: float


def loss_checks(model: Model) -> Iterator[Check]:
    """Minimum, slopes and curvature of the envelope at random places, to 50 digits."""
    loss = model.fit.loss
    analysis, numbers = analyse_loss(loss_of_entry(loss.entry)), dict(loss.parameters)
    source = random.Random(7)
    minimum = slopes = curve = 0.0
    for _ in range(_POINTS):
        y = mpmath.mpf(source.choice((-1, 1)) if loss.form == "margin" else source.randint(-2000, 2000) / 999)
        omega, v = mpmath.mpf(source.randint(-3000, 3000)) / 997, mpmath.mpf(source.randint(50, 4000)) / 991
        with mpmath.workdps(_DIGITS + 15):
            minimum = max(minimum, _not_least(analysis, numbers, y, omega, v))
            slopes = max(slopes, _slopes(analysis, numbers, y, omega, v))
        curve = max(curve, _curve_differs(loss, analysis, numbers, y, (omega, v)))
    yield Check(f"proximal map of {_short(loss)}: the least value of its objective", minimum, 10.0 ** (5 - _DIGITS))
    # differences of step 1e-15: its square times a ratio of derivatives
    yield Check(f"envelope of {_short(loss)}: slopes and curvature by differences", slopes, 1e-25)
    yield Check(f"envelope of {_short(loss)}: two evaluators", curve, 1e-12)


def _short(loss: FitLoss) -> str:
    return loss.name if loss.name in REGISTERED else "the loss"


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


def _curve_differs(loss: FitLoss, analysis: LossAnalysis, numbers: Mapping[str, float], y: Any, at: Any) -> float:
    """The curve in double precision, which the averages of the reference use, against the evaluator by bisection."""
    omega, v = at
    sign, offset = _orientation(loss.form, float(y))
    place = np.array([[sign * float(omega) - offset]])
    _, (envelope,), (g,), (h,) = curve_of(loss, _label_of_curve(loss, float(y))).moreau(place, np.array([float(v)]))
    with mpmath.workdps(25):
        wanted = moreau_values(analysis, y, omega, v, numbers, 24)
        pairs = ((envelope[0], wanted.envelope), (sign * g[0], wanted.g), (h[0], wanted.h))
        return max(float(abs(a - b) / max(1, abs(b))) for a, b in pairs)


def _label_of_curve(loss: FitLoss, y: float) -> float:
    """The label that a curve is asked for: it depends on it where the loss is no function of one variable."""
    return {"margin": 1.0, "residual": 0.0}.get(loss.form, y)


def _orientation(form: str, y: float) -> tuple[float, float]:
    """s and o in u = s f - o."""
    return (y if form == "margin" else 1.0), (y if form == "residual" else 0.0)


def kernel_check(system: CoupledSystem, nodes: Sequence[int]) -> Check:
    """All averages of the loss kernel, those of the Jacobian included, at a few labels, against quadrature."""
    loss = system.problem.model.fit.loss
    law = _few_labels(loss.form, system.indices)
    worst = 0.0
    for i in nodes:
        found = _of_kernel(system, law, i)
        wanted, sizes = _by_quadrature(system, law, i)
        sizes = np.maximum(sizes, _VANISHES * sizes.max())  # what only tails make has no digits
        worst = max(worst, float(np.max(np.abs(found - wanted) / sizes)))
    return Check(f"loss kernel at given labels: {len(system.kernel.AVERAGES)} averages", worst, 1e-9)


def _few_labels(form: str, indices: int) -> list[_Label]:
    labels = (1.0, -1.0, 1.0) if form == "margin" else (0.8, -1.3, 0.1)
    return [
        _Label(w, tuple(0.7 * (k + 1) - 0.9 * d for d in range(indices)), y)
        for k, (w, y) in enumerate(zip((0.5, 0.3, 0.2), labels, strict=True))
    ]


def _of_kernel(system: CoupledSystem, law: Sequence[_Label], i: int) -> Array:
    weight, label = (np.array([[getattr(node, name) for node in law]]) for name in ("weight", "label"))
    V, mean, Delta = (system.view(name)[i : i + 1].copy() for name in ("V", "mean", "Delta"))
    t, rest = np.array([[node.t for node in law]]), np.zeros((system.indices, system.indices))
    out = np.empty((len(system.averages), 1))
    steps = max(96, system.level.output)  # resolved beyond doubt: what is compared is the kernel's text
    rule = Rule(gauss_rule(steps), steps, system.constants, system.noise)
    fields = Fields(V, mean, system.slopes[:, i : i + 1].copy(), Delta)
    system.loss.points(rule, LabelNodes(weight, t, label, rest), fields, system.scratch, out)
    return np.asarray(out[:, 0])


def _by_quadrature(system: CoupledSystem, law: Sequence[_Label], i: int) -> tuple[Array, Array]:
    """Averages by name over xi for labels and t given, and those of the absolute values."""
    loss, names = system.problem.model.fit.loss, system.kernel.AVERAGES
    response = system.view("V")[i : i + 1]
    variance = float(system.view("Delta")[i]) + system.noise
    spread = np.sqrt(variance)
    totals, sizes = np.zeros(len(names)), np.zeros(len(names))
    for node in law:
        sign, offset = _orientation(loss.form, node.label)
        middle = sign * (float(system.view("mean")[i]) + system.slopes[:, i] @ np.array(node.t)) - offset
        curve = curve_of(loss, _label_of_curve(loss, node.label))
        width = min(_PANEL * spread, 1.0)
        even = np.linspace(-_REACH, _REACH, int(np.ceil(2.0 * _REACH * spread / width)) + 1)
        marks = np.clip((curve.turns(response)[0] - middle) / spread, -_REACH, _REACH)
        z, w = panels(np.sort(np.concatenate([even, marks])), _ORDER)
        of_prox, envelope, g, h = (found[0] for found in curve.moreau((middle + spread * z)[None], response))
        letters = {
            "l": of_prox,
            "M": envelope,
            "g": sign * g,
            "h": h,
            "x": sign * z / spread,
            "xx": (z * z - 1.0) / variance,
        }
        weight = node.weight * w * density(z)
        for k, name in enumerate(names):
            term = weight * _monomial(name, letters, node.t)
            totals[k] += term.sum()
            sizes[k] += np.abs(term).sum()
    return totals, sizes


def _monomial(name: str, letters: Mapping[str, Array], t: Sequence[float]) -> Array:
    """The value of `avg_t_1ghx`: the product of its letters."""
    rest, value = name.removeprefix("avg_"), np.ones(len(letters["g"]))
    while rest:
        if rest.startswith("t"):
            number = rest[2] if rest.startswith("t_") else "1"
            value = value * t[int(number) - 1]
            rest = rest.removeprefix(f"t_{number}" if rest.startswith("t_") else "t")
            continue
        letter = "xx" if rest.startswith("xx") else rest[0]
        value = value * letters[letter]
        rest = rest.removeprefix(letter)
    return value


def _along(system: CoupledSystem) -> list[str]:
    """The averages of the equations along the directions of the target."""
    return [f"avg_{t}g" for t in directions_of("t", system.indices)]


def averages_check(system: CoupledSystem, nodes: Sequence[int]) -> Check:
    """The averages of the equations, with the law of the label, against those of the definition at a few kappa."""
    model, names = system.problem.model, _NAMES
    target = model.target
    law = LabelLaw.of(target, np.array(system.problem.overlaps))
    label, here = "averages over the output against quadrature", list(nodes)
    kappa = system.points()[here]
    fields = (system.view(name)[here] for name in ("mean", "Delta", "V"))
    mean, delta, response = fields
    output = Output(mean, system.slopes[:, here], delta, response)
    try:
        found = [loss_averages(law, model.fit.loss, model.target.noise, kappa, output, width) for width in _WIDTHS]
    except NotEvaluable as missing:
        return Check(label, math.nan, _AVERAGES, f"not taken: {missing}")
    rows = dict(zip(system.kernel.AVERAGES, system.averages, strict=True))
    along = _along(system)
    largest = max(float(np.max(np.abs(rows[name]))) for name in (*names, *along))
    worst = unsettled = 0.0
    for name in (*names, *along):
        coarse, exact = ([*f["avg_tg"]][along.index(name)] if name in along else f[name] for f in found)
        # one that vanishes by symmetry, as the mean slope of plain random features, is rounding beside the others
        floor = max(1e-3 * float(np.max(np.abs(rows[name]))), _VANISHES * largest)
        if name.endswith("g") and name != "avg_gg":  # odd in the slope: the root of that of its square bounds it
            floor = np.maximum(floor, 1e-3 * np.sqrt(np.abs(rows["avg_gg"][here])))
        size = np.maximum(np.abs(exact), floor)
        worst = max(worst, float(np.max(np.abs(rows[name][here] - exact) / size)))
        unsettled = max(unsettled, float(np.max(np.abs(coarse - exact) / size)))
    reason = f"the second quadrature has settled to {unsettled:.0e} only" if unsettled > 0.1 * _AVERAGES else ""
    return Check(label, worst, _AVERAGES, reason if worst > _AVERAGES else "")


def lines_check(system: CoupledSystem, nodes: Sequence[int]) -> Check | None:
    """Averages over labels on polygons at a few kappa, against those over the lines that the polygons are cut into."""
    law, here = system.labels, list(nodes)
    if not isinstance(law, Cells):
        return None
    rows = [system.kernel.AVERAGES.index(name) for name in (*_NAMES, *_along(system))]
    largest = np.abs(system.averages[rows]).max(axis=1, keepdims=True)
    size = np.maximum(largest, _VANISHES * largest.max())  # one that vanishes by symmetry is rounding beside the others
    worst, unsettled, wanted = math.inf, math.inf, np.full_like(size, np.inf)
    for halvings in range(_HALVINGS):
        lines = lines_given_kappa(law.target, law.overlaps, law.kappa[here], halvings, False)
        before, wanted = wanted, _averages_over(system, here, lines)[rows]
        worst, unsettled = (
            float(np.max(np.abs(other - wanted) / size)) for other in (system.averages[rows][:, here], before)
        )
        if unsettled <= 0.1 * _AVERAGES:
            break
    reason = f"the averages over lines have settled to {unsettled:.0e} only" if unsettled > 0.1 * _AVERAGES else ""
    return Check("averages over polygons against lines", worst, _AVERAGES, reason if worst > _AVERAGES else "")


def _averages_over(system: CoupledSystem, nodes: list[int], law: Lines) -> Array:
    """The averages of the equations at a few nodes of the last fields, with another law of the label there."""
    V, mean, Delta = (np.ascontiguousarray(system.view(name)[nodes]) for name in ("V", "mean", "Delta"))
    fields = Fields(V, mean, np.ascontiguousarray(system.slopes[:, nodes]), Delta)
    kernel, labels = kernel_of(system.loss, law, system.kappa[nodes])
    found = np.zeros((len(system.averages), len(nodes)))
    kernel(system.rule, labels, fields, system.scratch, found)
    return found


def label_check(system: CoupledSystem, nodes: Sequence[int]) -> Check | None:
    """Moments of labels of several indices with kinks, whose averages have no second quadrature, on other panels."""
    law, target = system.labels.points, system.problem.model.target
    if law is None or not has_kinks(target.link):
        return None
    gamma = np.array(system.problem.overlaps)
    places = np.array([system.place(i) for i in nodes]).reshape(len(nodes), -1)
    exact = moments_given_kappa(target.link, gamma, places, target.probit, 0, False, adaptive=True)
    kept, worst = 1.0 - 2.0 * target.flips, 0.0
    noise = target.noise if system.loss.FORM != "residual" else 0.0  # otherwise part of the output
    for k, i in enumerate(nodes):
        weight, y = law.weight[i], law.label[i]
        found = np.array([weight.sum(), weight @ y, weight @ y**2, *(weight * y) @ law.t[i]])
        wanted = np.array([1.0, kept * exact.mean[k], exact.square[k] + noise, *(kept * exact.linear[k])])
        worst = max(worst, float(np.max(np.abs(found - wanted)) / max(1.0, float(np.max(np.abs(wanted))))))
    return Check("law of the label: moments against other panels", worst, 1e-8)
