"""The proximal map of the simulator and the numpy functions of losses, against their definitions."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from erm_cases import LOSSES, Array, loss_of
from scipy.optimize import minimize_scalar

from derive.language.loss_catalogue import REGISTERED
from giantstep.simulate.convex import Labelled
from giantstep.spec.loss_functions import convex_loss

Scalar = Callable[[mpmath.mpf, mpmath.mpf], mpmath.mpf]

REFERENCE: dict[str, Scalar] = {
    "square": lambda y, f: (y - f) ** 2 / 2,
    "logistic": lambda y, f: mpmath.log1p(mpmath.exp(-y * f)),
    "hinge": lambda y, f: max(mpmath.mpf(0), 1 - y * f),
    "squared_hinge": lambda y, f: max(mpmath.mpf(0), 1 - y * f) ** 2 / 2,
    "smoothed_hinge": lambda y, f: _smoothed(1 - y * f),
    "exponential": lambda y, f: mpmath.exp(-y * f),
    "probit": lambda y, f: -mpmath.log(mpmath.ncdf(y * f)),
    "absolute": lambda y, f: abs(y - f),
    "quantile": lambda y, f: max((y - f) / 2, (f - y) / 2),
    "huber": lambda y, f: (y - f) ** 2 / 2 if abs(y - f) <= 1 else abs(y - f) - mpmath.mpf(1) / 2,
    "log_cosh": lambda y, f: mpmath.log(mpmath.cosh(y - f)),
    "epsilon_insensitive": lambda y, f: max(mpmath.mpf(0), abs(y - f) - mpmath.mpf(0.1)),
    "poisson": lambda y, f: mpmath.exp(f) - y * f,
    "binomial": lambda y, f: mpmath.log1p(mpmath.exp(f)) - y * f,
}


def _smoothed(s: mpmath.mpf) -> mpmath.mpf:
    return mpmath.mpf(0) if s < 0 else s * s / 2 if s < 1 else s - mpmath.mpf(1) / 2


@pytest.mark.parametrize("name", REGISTERED)
def test_value_and_derivatives_of_registered_losses(name: str) -> None:
    """Against mpmath at 40 digits, at points up to 30 from any kink and none within 0.01 of one.

    A few roundings of numbers of the size of the value, for losses of the residual of 1 at least: 100 eps. mpmath
    itself differentiates to 1e-30 or so. Two lose
    digits to a difference: the curvature of probit in x + phi/Phi, of relative size 1/x^2 (1e-3 at x = -30), and the
    value of log cosh in |x| - log 2 + ...
    """
    loss, margin = loss_of(name), REGISTERED[name].form == "margin"
    f = np.array([-30.0, -4.2, -1.3, -0.43, 0.02, 0.61, 1.7, 3.3, 28.0])
    for label in (1.0, -1.0) if margin else (0.25, -2.4):
        y = np.full(f.size, label)
        found = (loss.value(y, f), *loss.derivatives(y, f))
        with mpmath.workdps(40):
            for order, values in enumerate(found):
                for point, value in zip(f, values, strict=True):
                    exact = mpmath.diff(
                        lambda x, label=label: REFERENCE[name](mpmath.mpf(label), x),
                        mpmath.mpf(point),
                        order,
                        h=1e-15,
                    )
                    scale = abs(exact) * (1e3 if (name, order) == ("probit", 2) else 1.0)
                    assert abs(exact - value) <= 100 * np.finfo(float).eps * max(scale, 1e-30 if margin else 1.0)


@pytest.mark.parametrize("name", ["logistic", "log_cosh", "probit"])
def test_far_out_there_is_no_overflow(name: str) -> None:
    f = np.array([-1e4, -800.0, 800.0, 1e4])
    loss = loss_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope, curvature = loss.derivatives(np.ones(4), f)
        value = loss.value(np.ones(4), f)
    assert np.all(np.isfinite([value, slope, curvature])) and np.all(curvature >= 0.0)
    # the slope of logistic tends to -1 and 0, of log cosh to +-1, of probit to f and 0
    far = {"logistic": [-1.0, 0.0], "log_cosh": [-1.0, 1.0], "probit": [-1e4, 0.0]}[name]
    np.testing.assert_allclose(slope[[0, 3]], far, rtol=1e-7)


@pytest.mark.parametrize(
    ("text", "kinks"),
    [
        ("hinge", (1.0,)),
        ("absolute", (0.0,)),
        ("quantile", (0.0,)),
        ("epsilon_insensitive", (-0.1, 0.1)),
        ("huber", ()),
        ("smoothed_hinge", ()),
        ("abs(y-f)**1.5", ()),
        ("max(0,1-y*f)**1.5", ()),
        ("max(abs(y-f)-0.001,0)", (-0.001, 0.001)),
        ("abs(y-f)+0.001*relu(y-f-2)", (-2.0, 0.0)),
        ("max(max(0,1-y*f),3-5*y*f)", (0.5, 1.0)),
        ("f**2/2-y*f+relu(f-0.5)", (0.5,)),
        ("sqrt((y-f)**2)", (0.0,)),
    ],
)
def test_kinks_are_found(text: str, kinks: tuple[float, ...]) -> None:
    found = loss_of(text).kinks
    assert len(found) == len(kinks) and np.allclose(found, kinks, rtol=1e-14, atol=1e-15)


def test_parameters_move_the_kinks() -> None:
    assert loss_of("epsilon_insensitive", epsilon=0.37).kinks == pytest.approx((-0.37, 0.37), rel=1e-15)
    slopes = loss_of("quantile", tau=0.9).derivatives(np.zeros(2), np.array([-1.0, 1.0]))[0]
    np.testing.assert_allclose(slopes, [-0.9, 0.1], rtol=1e-14)
    assert loss_of("huber", delta=0.5).value(np.zeros(1), np.array([2.0]))[0] == 0.5 * (2.0 - 0.25)


def test_kinks_that_move_with_the_label() -> None:
    labels = np.array([0.5, -2.0, 0.0])
    np.testing.assert_allclose(convex_loss("relu(f-y)+abs(f)").kinks_at(labels), [[0, -2, 0], [0.5, 0, np.inf]])


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("variance", [1e-3, 0.4, 30.0])
def test_proximal_map_minimises(name: str, variance: float) -> None:
    """Against a bounded scalar minimisation, which finds minima to the square root of rounding: 1e-6 in x.

    slope = (w - x)/V to rounding; the curvature is the derivative of the slope away from the ends of the pieces.
    """
    loss, generator = loss_of(name), np.random.default_rng(5)
    w = np.concatenate([generator.uniform(-4.0, 4.0, 30), [0.0, 1.0, -1.0]])
    y = np.sign(generator.standard_normal(33)) if loss.form == "margin" else generator.standard_normal(33)
    labelled = Labelled(loss, y)
    x, slope, curvature = labelled.proximal(w, variance)
    assert np.all(
        np.abs((w - x) / variance - slope) <= 1e-13 * (1.0 + np.abs(slope) + (np.abs(w) + np.abs(x)) / variance)
    )
    for i in range(w.size):
        at = np.full(1, y[i])

        def energy(point: float, i: int = i, at: Array = at) -> float:
            return float((point - w[i]) ** 2 / (2 * variance) + loss.value(at, np.full(1, point))[0])

        reach = 2.0 * abs(slope[i]) * variance + 1.0
        best = minimize_scalar(energy, bounds=(x[i] - reach, x[i] + reach), method="bounded", options={"xatol": 1e-10})
        assert energy(x[i]) <= best.fun + 1e-13 * (1.0 + abs(best.fun))
        assert abs(best.x - x[i]) <= 1e-5 * (1.0 + np.sqrt(variance))
    step = 1e-6
    up, down = (labelled.proximal(w + k * step, variance)[1:] for k in (1.0, -1.0))
    inside = np.abs(up[1] - down[1]) <= 1e-3 * (1.0 + curvature)
    assert np.sum(inside) > 25
    change = (up[0] - down[0]) / (2 * step)
    assert np.all(np.abs(change - curvature)[inside] <= 1e-4 * (1.0 + curvature[inside]))
