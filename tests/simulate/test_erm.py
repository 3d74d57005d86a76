"""Empirical risk minimisation: certificates, optimality conditions, warm starts, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from erm_cases import LOSSES, Array, fit, loss_of, training_set

from giantstep.simulate import erm
from giantstep.simulate.convex import ConvexLoss, Labelled
from giantstep.simulate.erm import convex_readouts, designs, minimise
from giantstep.simulate.errors import SimulationError

# below, between and above the sizes at which the kernel and X^T D X change places (n = p, n = 1.5 p)
SHAPES = ((40, 90), (90, 80), (100, 60), (200, 40))


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        pytest.param(shape, name, marks=[pytest.mark.slow] * ((i + j) % 2))
        for i, shape in enumerate(SHAPES)
        for j, name in enumerate(LOSSES)
    ],
)
def test_gap_is_certified(shape: tuple[int, int], name: str) -> None:
    """The duality gap from scratch: any slopes g in the subdifferential at points x bound the minimum from below.

    By Fenchel's inequality min P >= sum_i [l_i(x_i) - g_i x_i] - |X^T g|^2/(2 ridge). Outputs and slopes are of order 1
    and outputs are known to about 20 eps (sums of p terms): n times that, and eps of the terms themselves.
    """
    loss = loss_of(name)
    features, labels = training_set(loss, *shape)
    matrix = features / np.sqrt(shape[1])
    for ridge in (1.0, 1e-2, 1e-5):
        _, found = fit(loss, features, labels, ridge)
        readout, x, g = found.state.readout, found.local.point, found.local.slope
        objective = np.sum(loss.value(labels, matrix @ readout)) + ridge / 2 * readout @ readout
        pulled = matrix.T @ g
        bound = np.sum(loss.value(labels, x) - g * x) - pulled @ pulled / (2 * ridge)
        rounding = 5e-15 * len(labels) + 1e-14 * (found.size + np.sum(np.abs(g * x)))
        assert abs(found.objective - objective) <= rounding
        assert objective - bound <= found.gap + rounding
        assert found.relative_gap <= 1e-11 and found.gap <= 1e-11 * (found.size + rounding)
        assert _in_subdifferential(loss, labels, x, g)


def _in_subdifferential(loss: ConvexLoss, labels: Array, x: Array, g: Array) -> bool:
    """Supporting line at x, tested at points near and far: l(y, x + e) >= l(y, x) + g e to rounding."""
    value = loss.value(labels, x)
    moves = [sign * size for sign in (-1.0, 1.0) for size in (1e-3, 0.1, 1.0, 3.0)]
    rises = np.array([loss.value(labels, x + e) - value - g * e for e in moves])
    return bool(np.all(rises >= -1e-13 * (1.0 + np.abs(value) + 3.0 * np.abs(g))))


@pytest.mark.parametrize("name", ["logistic", "huber", "squared_hinge", "probit", "exponential", "log_cosh"])
def test_gradient_vanishes_for_smooth_losses(name: str) -> None:
    """By central differences of the objective along random directions; truncation h^2 and rounding eps/h: 1e-6."""
    loss = loss_of(name)
    features, labels = training_set(loss, 90, 70)
    matrix, ridge, generator = features / np.sqrt(70), 0.1, np.random.default_rng(1)
    _, found = fit(loss, features, labels, ridge)

    def objective(a: Array) -> float:
        return float(np.sum(loss.value(labels, matrix @ a)) + ridge / 2 * a @ a)

    best = objective(found.state.readout)
    for _ in range(10):
        way = generator.standard_normal(70) / np.sqrt(70)
        up, down = (objective(found.state.readout + k * 1e-4 * way) for k in (1, -1))
        assert abs(up - down) / 2e-4 <= 1e-6 * best
        assert up > best and down > best


@pytest.mark.parametrize("name", ["logistic", "hinge", "absolute", "max(0,1-y*f)+0.1*(1-y*f)**2"])
def test_certificate_holds_for_a_rough_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit stopped early, against the fit run to the end: objective, readout and outputs are within the bounds."""
    loss = loss_of(name)
    features, labels = training_set(loss, 120, 50)
    fresh, _ = training_set(loss, 50, 50, seed=7)
    ((_, design),) = designs(features, (120,))
    for ridge in (1e-3, 0.1):
        exact = minimise(design, Labelled(loss, labels), ridge)
        for target in (1e-2, 1e-4):
            with monkeypatch.context() as patch:
                patch.setattr(erm, "TARGET", target)
                patch.setattr(erm, "REQUIRED", target)
                rough = minimise(design, Labelled(loss, labels), ridge)
            # of a use: rough, and the bound within two orders of what it bounds
            assert 0.0 < rough.objective - exact.objective + exact.gap
            assert rough.objective - exact.objective <= rough.gap <= target * rough.size
            away = rough.state.readout - exact.state.readout
            assert np.linalg.norm(away) <= rough.readout_error + exact.readout_error
            summary = rough.summary(design, Labelled(loss, labels), 0.0)
            longest = np.max(np.linalg.norm(features, axis=1))
            lengths = np.linalg.norm(fresh, axis=1)
            moved = np.abs(fresh @ away)[lengths <= longest] / np.sqrt(50)
            assert len(moved) and np.max(moved) <= summary.output_error + longest / np.sqrt(50) * exact.readout_error


def test_sizes_and_ridges_are_fitted_as_alone() -> None:
    """One call for nested samples and all ridges, in any order, gives what separate calls give."""
    loss = loss_of("hinge")
    features, labels = training_set(loss, 150, 60)
    sizes, ridges = (150, 30, 80, 30), (0.01, 1.0, 0.1)
    found = convex_readouts(features, labels, sizes, ridges, loss)
    for i, size in enumerate(sizes):
        for j, ridge in enumerate(ridges):
            _, alone = fit(loss, features[:size], labels[:size], ridge)
            readout = found.readouts[:, i * len(ridges) + j]
            bound = found.output_error[i, j] / np.sqrt(np.max(np.sum(features[:size] ** 2, axis=1)) / 60)
            assert np.linalg.norm(readout - alone.state.readout) <= bound + alone.readout_error
            output = features[:size] @ readout / np.sqrt(60)
            assert found.train[i, j] == pytest.approx(np.mean(loss.value(labels[:size], output)), rel=1e-12)
            assert found.gap[i, j] <= 1e-11


def test_huber_and_square_meet() -> None:
    """Huber's loss beyond all residuals is the square loss: the two solvers share nothing but the data."""
    from giantstep.simulate.readout import ridge_readouts

    loss = loss_of("huber", delta=50.0)
    features, labels = training_set(loss, 100, 60)
    for ridge in (1e-3, 1.0):
        direct = ridge_readouts(features, labels, (100,), (ridge,))[0][:, 0]
        _, found = fit(loss, features, labels, ridge)
        assert np.linalg.norm(found.state.readout - direct) <= found.readout_error + 1e-9 * np.linalg.norm(direct)


def test_separable_data_with_a_small_ridge() -> None:
    """The margin of a logistic readout grows like log(1/ridge) where the data are separable; still certified."""
    loss = loss_of("logistic")
    features, _ = training_set(loss, 60, 120)
    labels = np.sign(features @ np.random.default_rng(2).standard_normal(120))
    _, found = fit(loss, features, labels, 1e-10)
    assert found.relative_gap <= 1e-11 and np.min(labels * found.state.output) > 5.0


def _loss(value: Callable[[Array], Array], slope: Callable[[Array], Array], kinks: tuple[float, ...]) -> ConvexLoss:
    return ConvexLoss(
        lambda y, f: value(f - y), lambda y, f: (slope(f - y), np.zeros_like(f - y)), "residual", kinks, "own"
    )


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (_loss(lambda u: -np.abs(u), lambda u: -np.sign(u), (0.0,)), "not convex: its slope falls at a kink"),
        (
            ConvexLoss(lambda y, f: -((f - y) ** 2), lambda y, f: (2 * (y - f), 0 * f - 2.0)),
            "not convex: its slope falls with the output",
        ),
    ],
)
def test_losses_that_are_not_convex_are_refused(loss: ConvexLoss, words: str) -> None:
    features, labels = training_set(loss, 20, 10)
    with pytest.raises(SimulationError, match=words):
        fit(loss, features, labels, 0.1)


@pytest.mark.parametrize("changes", [{"form": "other"}, {"kinks": (1.0, 0.0)}, {"kinks": (np.inf,)}])
def test_impossible_losses_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SimulationError):
        ConvexLoss(lambda y, f: f, lambda y, f: (f, f), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["logistic", "hinge"])
def test_an_answer_that_is_not_certified_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erm, "NEWTON_STEPS", 2)
    monkeypatch.setattr(erm, "DIRECT_STEPS", 2)
    loss = loss_of(name)
    features, labels = training_set(loss, 60, 60)
    with pytest.raises(SimulationError, match="relative duality gap of .* above 1e-08; raise the ridge"):
        fit(loss, features, labels, 1e-4)
