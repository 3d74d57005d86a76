"""The map of the gradient step against the step itself at finite size: one and two indices, label noise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from derive.gradient_step import gradient_step_map
from derive.labels import FLIPS, PROBIT, index_function
from derive.scalar import scalar_function
from derive.step_numbers import StepInputs, evaluate

DIMENSION, WIDTH, SAMPLES, RATE = 1000, 500, 1500, 1.3
VALUES = np.array([1.0, -0.5])
SEEDS = 12

ACTIVATIONS: dict[str, tuple[Callable, Callable]] = {
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2),
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
}


@dataclass(frozen=True)
class Case:
    """A network and a target: the link as text for the theory and in numpy, of t [indices, samples]."""

    activation: str
    text: str
    link: Callable
    indices: int = 1
    noise: float = 0.0
    flips: float = 0.0
    probit: float = 0.0


CASES = {
    "tanh": Case("tanh", "relu", lambda t: np.maximum(t[0], 0), noise=0.1),
    "relu": Case("relu", "relu", lambda t: np.maximum(t[0], 0), noise=0.1),
    "flips and probit": Case("relu", "sign", lambda t: np.sign(t[0]), flips=0.2, probit=0.5),
    "two indices": Case("tanh", "relu(z1)*z2+z1", lambda t: np.maximum(t[0], 0) * t[1] + t[0], 2, noise=0.1),
    "two indices, flips and probit": Case(
        "relu", "sign(z1+z2-0.3)", lambda t: np.sign(t[0] + t[1] - 0.3), 2, flips=0.15, probit=0.4
    ),
    # s0 sigma'' is not zero and the second Hermite tensor of the target is large: it has no part in c
    "two indices, second Hermite tensor": Case("relu", "z1*z2+z1/2+0.5", lambda t: t[0] * t[1] + t[0] / 2 + 0.5, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_against_the_finite_size_step(name: str) -> None:
    """Strength, alignments and bulk norms measured on the gradient of a network of d = 1000 inputs.

    Error model: 4 standard errors of the mean over the seeds, plus 2/d for the finite-size terms (overlaps of rows
    with each other and with the target), 4/d where a row moves along the target's directions as well. Var sigma'
    alone moves the bulk norm by 5 %, ten times that; the flips move the alignment by 20 %.
    """
    case = CASES[name]
    step = gradient_step_map(scalar_function(case.activation), index_function(case.text), flips=FLIPS, probit=PROBIT)
    inputs = StepInputs(RATE, SAMPLES / DIMENSION, VALUES.tolist(), (0.5, 0.5), case.noise, case.flips, case.probit)
    found = evaluate(step, inputs, 12)
    wanted = np.array([float(x) for x in (found["strength"], *found["alignments"], *found["bulk_variance"])])
    measured = np.array([_finite_size(case, seed) for seed in range(SEEDS)])
    error = measured.std(axis=0, ddof=1) / np.sqrt(SEEDS)
    finite = (4 if "Hermite" in name else 2) / DIMENSION * np.maximum(np.abs(wanted), 0.1)
    assert np.all(np.abs(measured.mean(axis=0) - wanted) < 4 * error + finite)


def _finite_size(case: Case, seed: int) -> tuple[float, ...]:
    """(r, gamma_i, c_1, c_2) of one gradient step, the spike as the part of the step common to all rows."""
    sigma, slope = ACTIVATIONS[case.activation]
    random = np.random.default_rng(seed)
    theta = np.linalg.qr(random.standard_normal((DIMENSION, case.indices)))[0]
    rows = random.standard_normal((WIDTH, DIMENSION))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    u = np.repeat(VALUES, WIDTH // 2)
    x = random.standard_normal((SAMPLES, DIMENSION))
    seen = (x @ theta).T
    seen = seen + np.sqrt(case.probit) * random.standard_normal(seen.shape)
    y = case.link(seen) * np.where(random.random(SAMPLES) < case.flips, -1.0, 1.0)
    y = y + np.sqrt(case.noise) * random.standard_normal(SAMPLES)
    z = x @ rows.T
    residual = y - sigma(z) @ u / WIDTH
    moved = RATE * u[:, None] * ((residual[:, None] * slope(z)).T @ x / SAMPLES)
    common = moved.T @ u / (u @ u)
    square = np.sum((rows + moved - np.outer(u, common)) ** 2, axis=1)
    length = np.linalg.norm(common)
    half = WIDTH // 2
    return length, *(common @ theta / length), square[:half].mean(), square[half:].mean()
