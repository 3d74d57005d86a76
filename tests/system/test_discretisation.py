"""The table in kappa and the laws of the labels at one resolution, against integrals over kappa and t."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from loss_cases import FINE, loss_table, model
from scipy.integrate import quad
from scipy.special import erf

import giantstep as gs
from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.quadrature.panels import table
from giantstep.system import discretisation
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import resolved, resolved_on
from giantstep.system.level import Level
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.resolved import Resolved

LEVEL = Level(8, 44)


def of(loss: Any = "logistic", blocks: int = 1, level: Level = LEVEL, **changes: Any) -> Resolved:
    return resolved(problem_of(model(loss, blocks, **changes)), level)


def normal(x: float) -> float:
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def test_columns_are_the_coefficients() -> None:
    """Averages over kappa of squares of mu0, mu1, mu2 of sigma = erf and of the sign's nu0, which are even."""
    rows = of().table
    kappa, weight, nu0, nu1, nu2sq, mu0, mu1, mu2sq = rows.T
    s, c, gamma = 1.4, 1.2, 0.7
    shift = math.sqrt(1.0 + 2.0 * c)
    assert mu0 == pytest.approx(erf(s * kappa / shift), abs=1e-14)
    assert mu1 == pytest.approx(
        math.sqrt(c) * 2 / math.sqrt(math.pi) / shift * np.exp(-((s * kappa / shift) ** 2)), abs=1e-14
    )
    assert nu0 == pytest.approx(erf(gamma * kappa / math.sqrt(2.0 * (1.0 - gamma**2))), abs=1e-14)
    for column, exact in (
        (mu0**2, lambda k: erf(s * k / shift) ** 2),
        (nu0**2, lambda k: erf(gamma * k / math.sqrt(2.0 * (1.0 - gamma**2))) ** 2),
        (kappa**2 + 0.0 * mu0, lambda k: k * k),
    ):
        wanted, _ = quad(lambda k: normal(k) * exact(k), -10.0, 10.0, epsabs=1e-14, limit=200)  # noqa: B023
        assert weight @ column == pytest.approx(wanted, abs=1e-12)
    assert weight @ (nu0**2 + nu1**2 + nu2sq) == pytest.approx(1.0, abs=1e-13)  # E y^2
    second, _ = quad(lambda z: erf(math.sqrt(s * s + c) * z) ** 2 * normal(z), -10.0, 10.0, epsabs=1e-14)
    assert weight @ (mu0**2 + mu1**2 + mu2sq) == pytest.approx(second, abs=1e-12)


def test_a_symmetric_problem_is_folded() -> None:
    """Half of the nodes with twice the weight, where kappa, labels and outputs may change their signs together."""
    rows = of().table
    assert np.all(rows[:, 0] > 0.0) and rows[:, 1].sum() == pytest.approx(1.0, abs=1e-13)
    for changes in ({"target__link": "sign(z-0.4)"}, {"network__bias": 0.2}, {"network__activation": "relu"}):
        whole = of(**changes).table
        assert np.any(whole[:, 0] < 0.0) and whole[:, 1].sum() == pytest.approx(1.0, abs=1e-13)
    assert np.any(of(loss_table("quantile"), target__link="tanh").table[:, 0] < 0.0)  # the loss is not symmetric


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_folding_changes_nothing(loss: str) -> None:
    found = model(loss, 2, target__link="sign", target__flips=0.1)
    problem = problem_of(found)
    assert problem.link is not None
    rows = np.array(table(problem.blocks, problem.link, LEVEL.order))
    given = (rows, found.target, problem.spike.alignments)
    whole = resolved_on(*given, symmetric=False, form=found.fit.loss.form, level=LEVEL)
    systems = [CoupledSystem(problem, LEVEL), CoupledSystem(problem, LEVEL, whole)]
    assert 2 * len(systems[0].table) <= len(systems[1].table)
    start = systems[0].unknowns(
        {
            "m": np.zeros(2),
            "zeta": np.full((2, 1), 0.1),
            "psi": np.full((2, 1), 0.1),
            "Q1": 0.2 * np.eye(2) + 0.05,
            "Q2": np.full(2, 0.4),
            "V1": 0.5 * np.eye(2),
            "V2": np.full(2, 0.7),
        }
    )
    outcomes = [newton(system, start.copy()) for system in systems]
    assert all(outcome.converged for outcome in outcomes)
    assert outcomes[0].x == pytest.approx(outcomes[1].x, rel=1e-11, abs=1e-12)
    assert systems[0].observables() == pytest.approx(systems[1].observables(), rel=1e-11)


def test_coefficients_of_two_indices() -> None:
    """y = tanh(z1) + z2/2: nu0 and nu1 given kappa, by integrals over the index that each part knows."""
    gamma = np.array([0.5, 0.3])
    rows = of("huber", target__link="tanh(z1)+z2/2", spike__alignment=gamma.tolist()).table
    kappa, weight, nu0, nu11, nu12, rest = rows[:, :6].T
    lower = np.linalg.cholesky(np.eye(2) - np.outer(gamma, gamma))
    for row in (0, len(rows) // 2):
        k, width = kappa[row], lower[0, 0]
        mean, first = (
            quad(lambda t: normal(t) * t**n * math.tanh(gamma[0] * k + width * t), -9, 9, epsabs=1e-13)[0]  # noqa: B023
            for n in (0, 1)
        )
        assert nu0[row] == pytest.approx(mean + 0.5 * gamma[1] * k, abs=1e-10)
        assert nu11[row] == pytest.approx(first + 0.5 * lower[1, 0], abs=1e-10)
        assert nu12[row] == pytest.approx(0.5 * lower[1, 1], abs=1e-10)
    square = quad(lambda z: normal(z) * math.tanh(z) ** 2, -9, 9)[0] + 0.25  # the indices are independent
    assert weight @ (nu0**2 + nu11**2 + nu12**2 + rest) == pytest.approx(square, abs=1e-10)


def test_labels_as_the_loss_takes_them() -> None:
    """Noise of the labels at nodes for a loss that is no function of the residual; the clean law beside it."""
    general = of("f**2/2-y*f+abs(f)", target__link="tanh", target__noise=0.3)
    residual = of("huber", target__link="tanh", target__noise=0.3)
    assert isinstance(general.labels, Points) and isinstance(residual.labels, Points)
    assert isinstance(general.clean, Points)
    assert general.labels.label.shape[1] > residual.labels.label.shape[1] == general.clean.label.shape[1]
    noisy = of(target__flips=0.1, target__probit=0.2)
    assert isinstance(noisy.labels, Intervals) and isinstance(noisy.clean, Intervals)
    assert noisy.labels.weight.tolist() == [0.9, 0.9, 0.1, 0.1] and noisy.clean.weight.tolist() == [1.0, 1.0]


def test_what_is_remembered_cannot_be_written() -> None:
    assert of() is of() and of(fit__samples=0.3, fit__ridge=2.0, network__width=3.0) is of()
    assert of(level=FINE) is not of() or FINE == LEVEL
    with pytest.raises(ValueError, match="read-only"):
        of().table[0, 0] = 1.0


@pytest.mark.parametrize("link", ["tanh(2*z)", "tanh(z) + tanh(z)**2", "relu", "sign"])
def test_the_square_loss_knows_two_moments_of_the_label(link: str) -> None:
    """The coupled system on a few nodes of the label against the solver of the square loss, which has none."""
    channel = {"noise": 0.2, "probit": 0.3} | ({"flips": 0.1} if link == "sign" else {})
    given = {
        "network": {"activation": "relu", "width": 0.8, "readout": {"values": [1.0, -0.5], "fractions": [0.3, 0.7]}},
        "spike": {"strength": 1.2, "alignment": 0.7, "bulk_variance": 1.1},
        "target": {"link": link} | channel,
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
    model = gs.Model.from_dict(given)
    direct = gs.solve(model, dimension=1000)
    problem = problem_of(model, 1000)
    law = resolved(problem, Level(7, 38)).labels
    assert isinstance(law, Points) and law.label.shape[1] == 4
    found = solve_coupled(problem, 1e-10)
    assert found.test_error == pytest.approx(direct.test_error, rel=1e-10)
    assert found.train_error == pytest.approx(direct.train_error, rel=1e-10)


@pytest.mark.parametrize("activation", ["exp(z)/2", "z**3/3", "exp(z/2) - 1"])
def test_features_that_grow(activation: str) -> None:
    """They are largest where kappa has no weight; the rounding that V is raised to is not that of those places."""
    given = {
        "network": {"activation": activation, "width": 0.7},
        "spike": {"strength": 1.2, "alignment": 0.78, "bulk_variance": 1.0},
        "target": {"link": "sign"},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
    direct = gs.solve(gs.Model.from_dict(given))
    found = solve_coupled(problem_of(direct.model), 1e-10)
    assert found.test_error == pytest.approx(direct.test_error, rel=1e-10)
    assert found.train_error == pytest.approx(direct.train_error, rel=1e-10)


def test_tables_are_remembered_as_long_as_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of two indices may have millions of nodes: a number of tables says nothing of their memory."""
    few = Level(4, 6, rough=True)

    def found() -> Resolved:
        return of("huber", level=few, target__link="tanh(z1*z2)", spike__alignment=[0.6, 0.5])

    law, other = found().labels, of(level=few).bytes
    assert isinstance(law, Points)
    size = found().table.nbytes + sum(part.nbytes for part in (law.weight, law.label, law.t, law.rest))
    assert found().bytes == size
    for most, kept in ((size + other, True), (size + other - 1, False)):
        monkeypatch.setattr(discretisation._resolved, "most", most)
        discretisation._resolved.cache_clear()
        first = found()
        assert first.bytes == first.table.nbytes and first.labels is first.clean  # which is made here, not before
        assert of(level=few).bytes == other
        assert (found() is first) == kept


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_what_norms_add_is_not_folded(loss: str) -> None:
    """Even features without a mean, whose norms have one, learn nothing of odd labels, whatever the inputs: folded as
    if it were odd, that of the norms told 1.41 for 1.96.
    """
    given = {
        "network": {"activation": "quadratic", "width": 2.0},
        "target": {"link": "sign"},
        "spike": {"strength": 0.0, "alignment": 1.0, "bulk_variance": 1.0},
        "fit": {"samples": 1.0, "ridge": 0.01, "loss": loss},
    }
    inputs = {"eigenvalues": [0.5, 1.5], "weights": [0.5, 0.5]}
    plain, structured = (
        gs.solve(gs.Model.from_dict({**given, **more}), dimension=1000) for more in ({}, {"inputs": inputs})
    )
    assert structured.order_parameters["norm"] == pytest.approx(0.0, abs=1e-12)
    assert structured.test_error == pytest.approx(plain.test_error, rel=1e-9)
