"""The averages over the output of every registered loss against two that share nothing with the emitted text.

The mpmath reference has its own proximal map and its own quadrature in omega, for the five averages of the equations.
The oracle (losses typed in by hand, the prox by bisection, t integrated outside on panels that end where the label
jumps) has all fourteen, those of the Jacobian included, and holds for laws of the label as steep as one likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import loss_oracle
import mpmath
import numpy as np
import pytest
from long_runs import every
from loss_cases import GENERAL, MARGIN, PARAMETERS, RESIDUAL, Array, channel_of, loss_table, model
from reference_output import Fields as OutputFields
from reference_output import LossCurve, node_averages
from scipy.special import expit

from derive.loss.loss import analyse_loss, loss_of
from generated.runtime.label_intervals import LabelIntervals
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Output, Rule
from generated.runtime.prox import NOWHERE
from giantstep.law.kinds_of_labels import Intervals
from giantstep.law.labels import label_law
from giantstep.quadrature.gauss import gauss_rule
from giantstep.spec.model import Model
from giantstep.system.kernels import loss_kernel
from giantstep.system.resolution import FINE, refined

#: Of the averages of the absolute values, at the resolution after one refinement.
CLOSE = 1e-9
#: Of the largest value within reach: the Gaussian weight that the rules leave out, and rounding of the oracle.
FLOOR = 1e-13
STEPS = refined(FINE[1], 1).output
NAMES = (*MARGIN, *RESIDUAL, *GENERAL)
ALIGNMENTS = (0.0, 0.6, -0.95, 0.9999, 1.0, -1.0)
PROBIT = (0.0, 1e-4, 0.3)


@dataclass(frozen=True)
class Case:
    """A loss with its labels, one kappa, and the fields there."""

    model: Model
    kappa: float
    V: float
    mean: float
    slope: float
    Delta: float

    @property
    def kernel(self) -> ModuleType:
        return loss_kernel(self.model.fit.loss)

    @property
    def gamma(self) -> float:
        (gamma,) = self.model.spike.alignments
        return float(gamma)

    @property
    def noise(self) -> float:
        return float(self.model.target.noise) if self.kernel.FORM == "residual" else 0.0


def averages(case: Case, steps: int = STEPS) -> Array:
    """The fourteen averages of the kernel, through the law of labels that the solver takes."""
    kernel, kappa = case.kernel, np.array([case.kappa])
    law = label_law(case.model.target, (case.gamma,), kappa)
    out, scratch = np.empty((15, 1)), np.empty(kernel.SCRATCH_SHAPE)
    fields = Fields(np.array([case.V]), np.array([case.mean]), np.array([[case.slope]]), np.array([case.Delta]))
    rule = Rule(gauss_rule(steps), steps, np.array(case.model.fit.loss.values), case.noise)
    if isinstance(law, Intervals):
        labels = LabelIntervals(kappa, law.low, law.high, law.weight, law.label, law.channel)
        kernel.intervals(rule, labels, fields, scratch, out)
    else:
        kernel.points(rule, LabelNodes(law.weight, law.t, law.label, law.rest), fields, scratch, out)
    return out[:, 0]


def by_definition(case: Case, pieces: loss_oracle.Loss | None = None) -> tuple[Array, Array]:
    """The averages of the oracle for a label that is constant on intervals, and what their errors are relative to."""
    target, variance = case.model.target, case.Delta + case.noise
    law = label_law(target, (case.gamma,), np.array([case.kappa]))
    assert isinstance(law, Intervals)
    name, numbers = case.model.fit.loss.key, dict(case.model.fit.loss.parameters)
    found, size = np.zeros(15), np.zeros(15)
    finest = min(1.0, math.sqrt(variance) / max(abs(case.slope), 1e-9))
    for low, high, weight, label in zip(law.low, law.high, law.weight, law.label, strict=True):
        places = loss_oracle.interval_law(low, high, case.gamma, case.kappa, target.probit, finest)
        if places:
            nodes = [(weight * w, t, label) for w, t in places]
            loss = pieces or loss_oracle.loss(name, loss_oracle.FLOAT, label, **numbers)
            parts = loss_oracle.averages(loss, loss_oracle.FLOAT, nodes, case.V, case.mean, case.slope, variance)
            value, absolute, largest = (np.array(part) for part in parts)
            found, size = found + value, size + absolute + FLOOR / CLOSE * largest
    return found, size


def error(case: Case, steps: int = STEPS, pieces: loss_oracle.Loss | None = None) -> float:
    exact, size = by_definition(case, pieces)
    return float(np.max(np.abs(averages(case, steps) - exact) / np.maximum(size, 1e-290)))


def random_case(name: str, number: int) -> Case:
    """Fields over the domain of the solver, the labels in turn over alignments and noise of all kinds."""
    index = NAMES.index(name)
    rng = np.random.default_rng([2024, index, number])
    changes: dict[str, Any] = {
        "spike__alignment": ALIGNMENTS[(index + number) % 6],
        "target__probit": PROBIT[(index // 2 + number) % 3],
        "target__link": "sign(z-0.4)",
        "target__flips": (0.0, 0.1)[number % 2],
    }
    if name in RESIDUAL:
        changes["target__noise"] = (0.0, 0.3)[index % 2]
    if name in GENERAL:
        changes |= {"target__link": "1+sign(z-0.4)", "target__flips": 0.0}
    most = 1.0 if name in ("exponential", "poisson") else 3.0
    return Case(
        model(loss_table(name), **changes),
        rng.normal(),
        10.0 ** rng.uniform(-3.0, most),
        2.0 * rng.normal(),
        rng.normal() * 10.0 ** rng.uniform(-1.0, 0.3),
        10.0 ** rng.uniform(-1.5, 1.5),
    )


@pytest.mark.parametrize("name", NAMES)
def test_all_averages_by_definition(name: str) -> None:
    assert max(error(random_case(name, number)) for number in range(3)) < CLOSE


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_averages_by_definition_at_many_places(name: str) -> None:
    assert max(error(random_case(name, number)) for number in range(3, 66)) < CLOSE


def in_turns() -> list[Any]:
    """Every loss with one of two cases, with the other in the long run."""
    pairs = [(name, number) for k, name in enumerate(NAMES) for number in ((1, 2), (2, 1))[k % 2]]
    return every(2, pairs)


@pytest.mark.parametrize(("name", "number"), in_turns())
def test_averages_of_the_equations_are_those_of_the_reference(name: str, number: int) -> None:
    """Blurred or constant labels, for which the panels of the reference need not know where the label jumps."""
    case = random_case(name, number)
    changes = {"target.probit": 0.3, "spike.alignment": (0.7, -0.4)[number % 2]}
    if name in RESIDUAL and number == 2:
        changes |= {"target.link": "tanh"}
    case = replace(case, model=case.model.replace(changes), Delta=max(case.Delta, 0.2))
    numbers = dict(case.model.fit.loss.parameters)
    with mpmath.workdps(20):
        curve = LossCurve(analyse_loss(loss_of(name)), numbers)
        fields = OutputFields(*(mpmath.mpf(x) for x in (case.V, case.mean)), (mpmath.mpf(case.slope),), case.Delta)
        exact = node_averages(curve, channel_of(case.model, (case.gamma,)), mpmath.mpf(case.kappa), fields)
    found = dict(zip(("M", "g", "h", "gg", "tg", "l"), averages(case)[[0, 1, 2, 3, 9, 14]], strict=True))
    for key, value in found.items():
        wanted = float(exact[f"avg_{key}"])
        size = float(exact["avg_gg"]) ** 0.5 if key in ("g", "tg") else wanted
        assert abs(value - wanted) <= CLOSE * size, (key, case)


@pytest.mark.parametrize("ends", [(0.4,), (-0.9, 0.4), (1.9, 2.4), (-2.4, -1.9)])
def test_labels_at_nodes_are_labels_on_intervals(ends: tuple[float, ...]) -> None:
    """A margin loss on the intervals of a sign, and on nodes of t that end there; some end on both sides, off zero."""
    link = "*".join(["-1", *(f"sign(z-({end}))" for end in ends)])
    case = Case(model("logistic", target__link=link), 0.3, 3.0, 0.2, 0.7, 0.5)
    cuts = (np.array(ends) - case.gamma * case.kappa) / math.sqrt(1.0 - case.gamma**2)
    x, w = np.polynomial.legendre.leggauss(60)
    low, high = np.array([-9.0, *cuts])[:, None], np.array([*cuts, 9.0])[:, None]
    t, weight = (0.5 * (low + high) + 0.5 * (high - low) * x).ravel(), (0.5 * (high - low) * w).ravel()
    weight *= np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    label = -np.prod(np.sign(t[:, None] - cuts), axis=1)
    out, scratch = np.empty((15, 1)), np.empty(case.kernel.SCRATCH_SHAPE)
    fields = Fields(np.array([case.V]), np.array([case.mean]), np.array([[case.slope]]), np.array([case.Delta]))
    labels = LabelNodes(weight[None], t[None, :, None], label[None], np.zeros((1, 1)))
    case.kernel.points(Rule(gauss_rule(STEPS), STEPS, np.empty(0), 0.0), labels, fields, scratch, out)
    assert np.allclose(out[:, 0], averages(case), rtol=1e-11, atol=1e-13)


# --- what varies fast --------------------------------------------------------------------------------------------
#: (loss, V, Delta, mean, slope, kappa, changes): a label that turns from -1 to 1 on a twentieth of the spread, under a
#: proximal map that stretches; once wrong by up to 1e-3, some at every resolution.
STEEP: tuple[tuple[str, float, float, float, float, float, dict[str, float]], ...] = (
    ("log_cosh", 2.5, 0.00339, 1.02, 3.16, 0.28, {"spike__alignment": 0.0, "target__probit": 0.01}),
    ("logistic", 24.5, 0.265, 0.89, 3.75, -1.76, {"spike__alignment": 0.0, "target__probit": 0.01}),
    ("probit", 76.7, 0.00952, 5.46, 1.08, -1.88, {"spike__alignment": 0.0, "target__probit": 1e-4}),
    ("log_cosh", 34.1, 0.0582, -1.01, 3.68, 0.32, {"spike__alignment": 0.0, "target__probit": 1e-4}),
    ("log_cosh", 1.12, 0.00294, 1.66, -0.743, 0.64, {"spike__alignment": 0.5, "target__probit": 1e-4}),
    ("square", 30.0, 0.004, 0.3, 2.0, 0.5, {"spike__alignment": 0.5, "target__probit": 0.0}),
    ("huber", 30.0, 0.004, 0.3, 2.0, 0.5, {"spike__alignment": 0.5, "target__probit": 0.0}),
    ("hinge", 3.0, 0.004, 0.3, 2.0, 0.5, {"spike__alignment": 0.9, "target__probit": 1e-4}),
)


@pytest.mark.parametrize("steep", STEEP)
def test_steep_laws_of_the_label(steep: Any) -> None:
    name, v, delta, mean, slope, kappa, changes = steep
    case = Case(model(name, target__link="sign(z-0.4)", **changes), kappa, v, mean, slope, delta)
    assert error(case, FINE[1].output) < CLOSE


def _normal(mean: float, points: int = 200_001) -> tuple[Array, Array]:
    """Places and weights of a trapezoid for N(mean, 1), far finer than anything here."""
    omega = np.linspace(mean - 9.0, mean + 9.0, points)
    weight = np.exp(-0.5 * (omega - mean) ** 2) * (omega[1] - omega[0]) / math.sqrt(2.0 * math.pi)
    return omega, weight


def _softplus(x: Array) -> Array:
    return np.logaddexp(0.0, x)


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


#: A curvature that rises from 0 to 1 on a fiftieth, in the middle of a panel; one with a spike of 50 in it.
ROUGH: dict[str, loss_oracle.Piece] = {
    "softplus(50*(1-y*f))**2/5000": (
        lambda u: _softplus(50 * (1 - u)) ** 2 / 5000,
        lambda u: -_softplus(50 * (1 - u)) * _sigmoid(50 * (1 - u)) / 50,
        lambda u: (
            _sigmoid(50 * (1 - u)) ** 2 + _softplus(50 * (1 - u)) * _sigmoid(50 * (1 - u)) * _sigmoid(50 * (u - 1))
        ),
    ),
    "(y-f)**2/2+log(cosh(50*(y-f-0.1)))/50": (
        lambda u: u**2 / 2 + (_softplus(100 * (u + 0.1)) - math.log(2.0)) / 50 - (u + 0.1),
        lambda u: u + np.tanh(50 * (u + 0.1)),
        lambda u: 1 + 200 * _sigmoid(100 * (u + 0.1)) * _sigmoid(-100 * (u + 0.1)),
    ),
}


@pytest.mark.parametrize("text", ROUGH)
def test_losses_that_vary_fast(text: str) -> None:
    """One normal output, label 1 (margin) or 0; against a trapezoid of 2e5 steps, which has settled to 1e-11."""
    kernel, piece = loss_kernel(model(text).fit.loss), ROUGH[text]
    scratch = np.empty(kernel.SCRATCH_SHAPE)
    for v, mean in ((0.01, 0.0), (0.01, 1.0), (1.0, 1.0), (10.0, 0.0), (10.0, 3.0)):
        rule = Rule(gauss_rule(FINE[1].output), FINE[1].output, np.empty(0), 0.0)
        count = kernel.nodes(rule, 1.0, Output(mean, 1.0, v), NOWHERE, scratch)
        omega, weight = _normal(mean)
        u = loss_oracle.prox(piece, v, omega, -math.inf, math.inf)
        g = -piece[1](u)
        h = piece[2](u) / (1.0 + v * piece[2](u))
        of_envelope = weight @ (piece[0](u) + 0.5 * v * g**2)
        exact = (weight @ h, weight @ g**2, weight @ (h * g**2), of_envelope, weight @ piece[0](u))
        p, found_g, found_h, envelope, loss = scratch[1:6, :count]
        found = (p @ found_h, p @ found_g**2, p @ (found_h * found_g**2), p @ envelope, p @ loss)
        assert found == pytest.approx(exact, rel=CLOSE), (v, mean)


@pytest.mark.parametrize(("V", "Delta", "mean"), [(20.0, 10.0, 0.0), (50.0, 10.0, -20.0), (50.0, 100.0, 10.0)])
def test_curvature_that_peaks_off_the_middle(V: float, Delta: float, mean: float) -> None:
    """A smooth loss of the general form, whose largest curvature is searched for at run time."""
    case = Case(model("softplus(f)-y*f+y", spike__alignment=0.5), 0.3, V, mean, 0.5, Delta)
    y = 1.0  # u = f, and the label shifts the slope
    omega, weight = _normal(0.0)
    omega, scratch = mean + math.sqrt(Delta) * omega, np.empty(case.kernel.SCRATCH_SHAPE)
    rule = Rule(gauss_rule(STEPS), STEPS, np.empty(0), 0.0)
    count = case.kernel.nodes(rule, y, Output(mean, math.sqrt(Delta), V), NOWHERE, scratch)
    piece = (lambda u: _softplus(u) - y * u, lambda u: _sigmoid(u) - y, lambda u: _sigmoid(u) * _sigmoid(-u))
    u = loss_oracle.prox(piece, V, omega, -math.inf, math.inf)
    h = piece[2](u) / (1.0 + V * piece[2](u))
    p, found_g, found_h = scratch[1:4, :count]
    assert (p @ found_h, p @ found_g**2) == pytest.approx((weight @ h, weight @ piece[1](u) ** 2), rel=CLOSE)


@pytest.mark.parametrize("name", ["logistic", "log_cosh", "probit"])
def test_outputs_that_vary_widely_take_more_steps(name: str) -> None:
    """The first resolution, of which V and the spread of outputs at small ridges decide how close poles are felt."""
    fields = ((13.1, 2.3, 2.26, 33.0), (7.3, 2.2, 1.47, 12.8), (4.2, 0.5, 0.99, 5.0), (0.8, -2.0, 0.5, 60.0))
    cases = [Case(model(name, target__link="sign", spike__alignment=0.8), 0.4, *each) for each in fields]
    assert max(error(case, FINE[0].output) for case in cases) < CLOSE


def test_losses_have_their_parameters() -> None:
    """The cases above run over every registered loss, with parameters off their defaults."""
    from derive.language.loss_catalogue import REGISTERED

    assert set(NAMES) == set(REGISTERED)
    assert {name for name, entry in REGISTERED.items() if entry.parameters} == set(PARAMETERS)


@pytest.mark.parametrize("steep", [70, 1000])
def test_steep_exponentials_do_not_overflow(steep: int) -> None:
    """A hinge smoothed on a short scale: exp(steep u) is no number where outputs are, and its ratios are."""
    loss = loss_kernel(model(f"log(1+exp({steep}*(1-y*f)))/{steep}").fit.loss)
    for u in (-30.0, -2.0, 0.9, 1.0, 1.02, 3.0, 30.0):
        past, before = expit(steep * (1.0 - u)), expit(steep * (u - 1.0))
        value, slope, curvature = loss.piece(0, u, 1.0, np.empty(0))
        assert value == pytest.approx(np.logaddexp(0.0, steep * (1.0 - u)) / steep, rel=1e-13, abs=1e-300)
        assert slope == pytest.approx(-past, rel=1e-12, abs=1e-300)  # of an exponent of 1e3, rounded
        assert curvature == pytest.approx(steep * past * before, rel=1e-12, abs=1e-300)
