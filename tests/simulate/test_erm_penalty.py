"""Fits with a penalty by the simulator: against scikit-learn, and by the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import pytest
from erm_cases import loss_of, training_set
from scipy.optimize import nnls
from sklearn.linear_model import ElasticNet

from giantstep.simulate.convex import SQUARE
from giantstep.simulate.erm import convex_readouts
from giantstep.spec.fit_penalty import FitPenalty
from giantstep.spec.loss_functions import convex_loss_of

SHAPES = ((60, 80), (150, 50))


def penalty_of(name: str, **parameters: float):  # type: ignore[no-untyped-def]
    given = FitPenalty(name, tuple(parameters.items()))
    return convex_loss_of(given.entry.loss, given.parameters)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("l1", [0.02, 0.3])
def test_elastic_net_of_scikit_learn(shape: tuple[int, int], l1: float) -> None:
    """Theirs: |y - f|^2/(2 n) + alpha r |a|_1 + alpha (1 - r)/2 |a|^2. Both minima are found to 1e-7."""
    features, labels = training_set(SQUARE, *shape)
    ridge, n = 0.1, shape[0]
    found = convex_readouts(features, labels, (n,), (ridge,), SQUARE, 0.0, penalty_of("elastic_net", l1=l1))
    theirs = ElasticNet(
        alpha=(l1 + ridge) / n, l1_ratio=l1 / (l1 + ridge), fit_intercept=False, tol=1e-13, max_iter=10**6
    )
    theirs.fit(features / np.sqrt(shape[1]), labels)
    readout = found.readouts[:, 0]
    assert np.linalg.norm(readout - theirs.coef_) <= 1e-5 * np.linalg.norm(theirs.coef_)
    assert 0 < np.sum(np.abs(readout) < 1e-8) < shape[1]
    outputs = features @ readout / np.sqrt(shape[1])
    assert found.train[0, 0] == pytest.approx(np.mean((labels - outputs) ** 2) / 2, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_hold(shape: tuple[int, int]) -> None:
    """Least squares without negative readouts, by an active set, with the ridge as rows of its own."""
    features, labels = training_set(SQUARE, *shape)
    found = convex_readouts(features, labels, (shape[0],), (0.1,), SQUARE, 0.0, penalty_of("non_negative"))
    rows = np.concatenate([features / np.sqrt(shape[1]), np.sqrt(0.1) * np.eye(shape[1])])
    exact, _ = nnls(rows, np.concatenate([labels, np.zeros(shape[1])]))
    assert np.linalg.norm(found.readouts[:, 0] - exact) <= 1e-5 * np.linalg.norm(exact)


@pytest.mark.parametrize("name", ["logistic", "absolute"])
def test_no_readout_is_better_beside(name: str) -> None:
    """The subgradient of the whole objective holds zero: of readouts that are not zero it vanishes."""
    loss = loss_of(name)
    features, labels = training_set(loss, 90, 60)
    found = convex_readouts(features, labels, (90,), (0.2,), loss, 0.0, penalty_of("elastic_net", l1=0.2))
    readout, matrix = found.readouts[:, 0], features / np.sqrt(60)

    def objective(a: np.ndarray) -> float:
        return float(loss.value(labels, matrix @ a).sum() + 0.1 * a @ a + 0.2 * np.abs(a).sum())

    least, draw = objective(readout), np.random.default_rng(0)
    for size in (1e-1, 1e-3, 1e-5):
        for _ in range(40):
            assert objective(readout + size * draw.normal(size=60)) > least * (1 - 1e-11)
    assert found.gap[0, 0] <= 1e-10
