"""Blocks with biases of their own: against equations typed here, the map of one bias, and simulated networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

import giantstep as gs
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.verify.run import exact_checks

Array = np.ndarray


def model(activation: str = "relu", biases: tuple[float, ...] | None = (-0.5, 0.3, 1.0), **tables: Any) -> gs.Model:
    """Three blocks, two of the same value, on a target that is neither odd nor even."""
    readout = gs.Readout((1.0, -0.5, 1.0), (0.25, 0.25, 0.5), biases=biases)
    return gs.Model(
        network=gs.Network(activation, 1.0, readout, tables.pop("bias", 0.0)),
        target=gs.Target("tanh(2*z)+z**2/3"),
        fit=gs.Fit(2.0, 0.1),
        **(tables or {"step": gs.Step(4.0, 1.0)}),
    )


def hermite(count: int) -> tuple[Array, Array]:
    x, weight = roots_hermitenorm(count)
    return x, weight / weight.sum()


class Typed:
    """The square loss of THEORY section 4, d -> infinity; pre-activations L_b kappa + bias_b + sqrt(c_b) g."""

    def __init__(self, blocks: list[tuple[float, float, float]], fractions: Array, gamma: float, link: Any) -> None:
        """blocks: (loading, bias, variance)."""
        self.alpha, self.beta, self.ridge, self.fractions = 2.0, 1.0, 0.1, fractions
        (kappa, self.weight), (g, of_g) = hermite(70), hermite(120)
        self.kappa = kappa
        mu = []
        for loading, bias, variance in blocks:
            values = np.tanh(loading * kappa[:, None] + bias + np.sqrt(variance) * g)
            mu0, mu1 = values @ of_g, values * g @ of_g
            mu.append((mu0, mu1, values**2 @ of_g - mu0**2 - mu1**2))
        self.mu0, self.mu1, self.mu2 = (np.array(part) for part in zip(*mu, strict=True))
        y = link(gamma * kappa[:, None] + np.sqrt(1.0 - gamma**2) * g)
        self.nu0, self.nu1, self.square = y @ of_g, y * g @ of_g, y**2 @ of_g

    def spectral(self, ridges: Array, v1: Array, v2: Array) -> tuple[Array, Array]:
        """T and M of these conjugates."""
        t = self.beta * self.fractions / ridges
        for _ in range(2000):
            before, inner = t, np.linalg.inv(np.eye(len(t)) + v1 * t) @ v1
            t = 0.5 * t + 0.5 * self.beta * self.fractions / (ridges + v2 + np.diag(inner))
            if np.abs(t - before).max() < 1e-15:
                break
        return t, np.linalg.inv(np.eye(len(t)) + t[:, None] * v1) @ np.diag(t)

    def average(self, function: Array) -> Array:
        return function @ self.weight

    def hats(self, h: Array) -> tuple[Array, Array]:
        first = np.einsum("bn,cn,n->bc", self.mu1, self.mu1, h * self.weight)
        return self.alpha / self.beta * first, self.alpha / self.beta * self.average(self.mu2 * h)

    def errors(self) -> tuple[float, float]:
        """Test and training error."""
        ridges, v = np.full(len(self.fractions), self.ridge), np.ones_like(self.kappa)
        for _ in range(300):
            v1, v2 = self.hats(1.0 / (1.0 + v))
            t, m = self.spectral(ridges, v1, v2)
            v = 0.3 * v + 0.7 * (np.einsum("bn,bc,cn->n", self.mu1, m, self.mu1) + t @ self.mu2) / self.beta
        h, share = 1.0 / (1.0 + v), self.alpha / self.beta
        seen = np.concatenate([self.mu0, self.kappa * self.mu1])
        matrix = share * np.einsum("in,jn,n->ij", seen, seen, h * self.weight)
        matrix += np.diag(np.concatenate([np.zeros(len(t)), 1.0 / t]))
        solved = np.linalg.solve(matrix, share * self.average(seen * self.nu0 * h))
        mean, zeta_hat = solved @ seen, solved[len(t) :] / t
        psi_hat = share * self.average(self.mu1 * self.nu1 * h)
        psi = m @ psi_hat

        def potential(q: tuple[Array, Array]) -> Callable[[Array, Array], float]:
            def value(ridges: Array, v1: Array) -> float:
                t, m = self.spectral(ridges, v1, v2)
                quadratic = zeta_hat**2 @ t + psi_hat @ m @ psi_hat
                return float(quadratic + (np.sum(q[0] * m) + q[1] @ t) / self.beta)

            return value

        left = self.square - self.nu0**2 - self.nu1**2
        risk = (self.nu0 - mean) ** 2 + (self.nu1 - psi @ self.mu1) ** 2 + left
        delta = np.zeros_like(self.kappa)
        for _ in range(40):
            value, unit, none = potential(self.hats((risk + delta) * h**2)), np.eye(len(t)), np.zeros_like(v1)
            q2 = -np.array([self._slope(value, (ridges, v1), (each, none)) for each in unit])
            pairs = [[0.5 * (np.outer(a, b) + np.outer(b, a)) for b in unit] for a in unit]
            q1 = -np.array([[self._slope(value, (ridges, v1), (0.0 * ridges, way)) for way in row] for row in pairs])
            new = np.einsum("bn,bc,cn->n", self.mu1, q1 - np.outer(psi, psi), self.mu1) + q2 @ self.mu2
            if np.abs(new - delta).max() < 1e-9:
                break
            delta = new
        return float(self.average(risk + delta)), float(self.average((risk + delta) * h**2))

    @staticmethod
    def _slope(function: Callable[..., float], at: tuple[Array, Array], way: tuple[Array, Array]) -> float:
        ahead, behind = (function(*(x + e * w for x, w in zip(at, way, strict=True))) for e in (1e-4, -1e-4))
        return (ahead - behind) / 2e-4


def test_the_equations_typed() -> None:
    """Two blocks of one value and two biases around a given spike. Differences in the typed equations: 1e-7."""
    readout = gs.Readout((1.0, 1.0), (0.4, 0.6), biases=(-0.3, 0.8))
    given = gs.Model(
        network=gs.Network("tanh", 1.0, readout),
        spike=gs.Spike(0.9, 0.8, 1.2),
        target=gs.Target("tanh(2*z)+z**2/3"),
        fit=gs.Fit(2.0, 0.1),
    )
    typed = Typed(
        [(0.9, -0.3, 1.2), (0.9, 0.8, 1.2)], np.array([0.4, 0.6]), 0.8, lambda z: np.tanh(2.0 * z) + z**2 / 3.0
    )
    found = gs.solve(given)
    assert (found.test_error, found.train_error) == pytest.approx(typed.errors(), rel=1e-6)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_equal_biases_are_that_of_the_network(activation: str) -> None:
    """The step by blocks is the map of one bias; a bias of the network is added."""
    wanted = gs.solve(model(activation, None, bias=0.3), dimension=1000)
    for biases, bias in (((0.3,) * 3, 0.0), ((0.1,) * 3, 0.2)):
        found = gs.solve(model(activation, biases, bias=bias), dimension=1000)
        assert found.test_error == pytest.approx(wanted.test_error, rel=1e-9)
        assert found.spike.bulk_variance == pytest.approx(wanted.spike.bulk_variance, rel=1e-9)
        assert found.spike.alignment == pytest.approx(wanted.spike.alignment, rel=1e-9)


@pytest.mark.parametrize("what", ["network", "srf", "gaussian"])
def test_simulated_networks(what: str) -> None:
    """d = 400: within four standard errors of the theory of that dimension."""
    _agrees(what, 400, 8)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["network", "srf", "gaussian"])
def test_simulated_networks_at_large_dimension(what: str) -> None:
    """The same at d = 1000."""
    _agrees(what, 1000, 16)


def _agrees(what: str, dimension: int, seeds: int) -> None:
    run = gs.simulate(model(), dimension=dimension, seeds=seeds, what=what, seed=2)
    theory = gs.solve(run.model, dimension=dimension)
    for name in ("test_error", "train_error"):
        score = (run.mean(name) - getattr(theory, name)) / run.standard_error(name)
        assert abs(score.item()) < 4.0


@pytest.mark.slow
def test_checks_hold() -> None:
    assert all(check.outcome != "FAILED" for check in exact_checks(model("tanh")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"network.bias": "trained"}, "one bias for all neurons"),
        ({"step.bulk": "trained"}, "known for neurons of one bias"),
        ({"step.exponent": 0.3}, "below 1/2"),
        ({"network.readout.biases": [0.1]}, "one bias for each block"),
    ],
)
def test_what_biases_do_not_go_with(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        model("tanh").replace(change)


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("gap", [2.0**-24, 2.0**-34, 2.0**-40])
def test_blocks_that_rounding_of_their_loadings_tells_apart_are_refused(steps: int, gap: float) -> None:
    """Loadings after steps of blocks with biases are known to 1e-11: what is left of a difference of 1e-10 is rounding,
    and a direction of it was dropped (1.5854 was told, where gaps of 1e-6 and more have 1.59986).
    """
    step = {"samples": 2.0, "learning_rate": 0.7}
    given = {
        "network": {"activation": "hard_tanh", "width": 0.8, "readout": {"values": [1.0, 1.0], "biases": [0.25, 0.3]}},
        "step": [step] * steps,
        "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    model = gs.Model.from_dict(given).replace({"network.readout.biases": [0.25, 0.25 + gap]})
    with pytest.raises(NotConverged, match="differ by little more than rounding"):
        gs.solve(model)


def test_three_blocks_are_told_apart_as_far_as_their_loadings_are_known() -> None:
    """One combination is the square of what they differ by. The number is from another solver in 60 digits."""
    given = {
        "network": {"activation": "relu", "width": 0.8, "readout": {"values": [1.0] * 3, "biases": [0.25, 0.3, 0.2]}},
        "step": {"samples": 2.0, "learning_rate": 0.7},
        "target": {"link": "z+He(2,z)/2+He(3,z)/5+1"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    model = gs.Model.from_dict(given)
    near = model.replace({"network.readout.biases": [0.25, 0.26, 0.24]})
    assert gs.solve(near).test_error == pytest.approx(1.0876058375188, rel=1e-11, abs=0.0)
    with pytest.raises(NotConverged, match="differ by little more than rounding"):
        gs.solve(model.replace({"network.readout.biases": [0.25, 0.25001, 0.24999]}))
