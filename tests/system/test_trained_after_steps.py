"""The trained bulk after several steps: against one step, against rows of sampled batches, against networks."""

from __future__ import annotations

from typing import Any

import pytest

import giantstep as gs
from giantstep.spec.errors import BadInput
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE
from giantstep.system.stretched_system import StretchedSystem
from giantstep.verify.trained_bulk import stretched_checks

ONE = ("gelu", (1.0,), "z+He(2,z)/2")
TWO = ("relu", (1.0, 0.3), "z+He(2,z)/2")
INDICES = ("relu", (1.0, -0.5), "z1+z1*z2")
THREE = ("relu", (1.0,), "relu")
TAILED = ("tanh", (1.0,), "z+He(3,z)/3")
FOUR = [(4.0, 1.0), (4.0, 1.0)]


def model(case: tuple[str, tuple[float, ...], str], steps: list[tuple[float, float]], **changes: Any) -> gs.Model:
    activation, values, link = case
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.8, "readout": readout},
        "step": [{"samples": samples, "learning_rate": rate, "bulk": "trained"} for samples, rate in steps],
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
    return gs.Model.from_dict(tables).replace(changes)


def solved(given: gs.Model) -> StretchedSystem:
    """The system at its solution."""
    system = StretchedSystem(problem_of(given), FINE[-1])
    start = gs.solve(given.replace({"step.bulk": "isotropic"}))
    outcome = newton(system, system.unknowns(order_of(system.problem, start)))
    assert outcome.converged and system.certificate(outcome.x) < 1e-12
    return system


@pytest.mark.parametrize(
    ("case", "few"),
    [
        (("softplus", (1.0,), "He(2,z)"), (0.099, 2.6)),
        pytest.param(("gelu", (1.0,), "He(3,z)"), (0.088, 0.614), marks=pytest.mark.slow),
    ],
)
def test_few_samples_of_labels_that_grow(case: tuple[str, tuple[float, ...], str], few: tuple[float, float]) -> None:
    """A step before that moves rows by 1e-12 only: what a residual adds has poles next to zero, which nodes of the
    label given kappa missed, the same ones at both resolutions. Each number is solved to 1e-10.
    """
    one, two = (gs.solve(model(case, steps)) for steps in ([few], [(10.0, 1e-12), few]))
    assert two.test_error == pytest.approx(one.test_error, rel=2e-10, abs=0.0)


@pytest.mark.slow
def test_few_samples_of_two_indices_that_are_turned() -> None:
    """z1*z2 is half the difference of the squares of the same indices turned by an eighth."""
    turned = [("relu", (1.0,), link) for link in ("z1*z2", "(z1**2-z2**2)/2")]
    found = [gs.solve(model(case, [(19.4, 0.93), (0.146, 1.8)])) for case in turned]
    assert found[1].test_error == pytest.approx(found[0].test_error, rel=2e-10, abs=0.0)


AFTER, BEFORE = [(3.0, 1.2), (2.0, 0.0)], [(2.0, 0.0), (3.0, 1.2)]


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (ONE, [*BEFORE, (2.0, 0.0)]),
        (TWO, AFTER),
        (TWO, BEFORE),
        pytest.param(INDICES, AFTER, marks=pytest.mark.slow),
        pytest.param(INDICES, BEFORE, marks=pytest.mark.slow),
    ],
)
def test_steps_that_do_not_move_anything(
    case: tuple[str, tuple[float, ...], str], steps: list[tuple[float, float]]
) -> None:
    """Rate zero before or after: one step, its norms included. Another number of rows, views and nodes."""
    wanted = solved(model(case, [(3.0, 1.2)])).answer()
    assert solved(model(case, steps)).answer() == pytest.approx(wanted, rel=1e-8)


def apart(system: StretchedSystem) -> float:
    """The largest relative distance to rows of sampled batches."""
    found = list(stretched_checks(system))
    assert all(check.ok for check in found), [check.line() for check in found]
    return max(check.measured for check in found)


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (ONE, FOUR),
        pytest.param(INDICES, [(4.0, 1.0), (3.0, 2.0)], marks=pytest.mark.slow),
        pytest.param(THREE, [(3.0, 1.0), (2.0, 1.0), (2.0, 1.0)], marks=pytest.mark.slow),
    ],
)
def test_rows_of_sampled_batches(case: tuple[str, tuple[float, ...], str], steps: list[tuple[float, float]]) -> None:
    """Overlaps and responses of rows that one batch for each step leaves, d = 500; the same rows without directions
    that samples know are further away.
    """
    system = solved(model(case, steps))
    distance = apart(system)
    assert distance < 0.1
    system.numbers["law_along"] = 0.0
    outcome = newton(system, system.work[system.first].copy())
    assert outcome.converged
    assert max(check.measured for check in stretched_checks(system)) > 3.0 * distance


def test_gaussian_rows_of_sampled_batches() -> None:
    """Norms that vary from initialisation on, and rows that go further with them, are felt: the errors of the sphere
    are elsewhere.
    """
    given = model(ONE, FOUR, **{"network.initialisation": "gaussian"})
    assert apart(system := solved(given)) < 0.1
    sphere = solved(model(ONE, FOUR))
    assert system.answer()[0] < 0.97 * sphere.answer()[0]


@pytest.mark.parametrize("link", ["max(z1,z2)", "abs(z1)+z2"])
def test_labels_of_two_indices_with_kinks(link: str) -> None:
    """Nodes of kappa far out have no label that counts: averages over what is left of them were no numbers."""
    system = solved(model(("tanh", (1.0,), link), [(2.0, 1.5), (2.0, 1.5)], **{"target.noise": 0.1}))
    assert apart(system) < 0.1


def test_networks_after_two_steps() -> None:
    """At d = 400: the trained law holds, rows without direction are further away than the noise."""
    trained, isotropic = scores(model(TAILED, [(1.0, 1.5), (1.5, 1.5)]), 400, 24)
    assert abs(trained) < 3.0 < 3.5 < abs(isotropic)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1000, 2000])
@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (TAILED, [(1.0, 1.5), (1.5, 1.5)]),
        (INDICES, [(4.0, 1.0), (3.0, 2.0)]),
        (TWO, [(3.0, 0.8), (3.0, 0.8)]),
        (("tanh", (1.0, -2.0), "tanh(2*z)"), [(2.0, 1.0), (2.0, 1.0)]),
        (("relu", (1.0, 0.3, -0.6), "tanh(2*z)+He(2,z)/2"), [(4.0, 0.8), (4.0, 0.8)]),
        (("tanh", (1.0,), "tanh(2*z)"), [(2.0, 1.0)] * 3),
    ],
)
def test_large_networks_after_steps(
    case: tuple[str, tuple[float, ...], str], steps: list[tuple[float, float]], d: int
) -> None:
    """|z| < 4, with the theory's term of finite size."""
    trained, _ = scores(model(case, steps), d, 8)
    assert abs(trained) < 4.0


def scores(given: gs.Model, d: int, seeds: int) -> tuple[float, float]:
    """How far simulated test errors are from those of trained and of isotropic rows, in standard errors."""
    simulated = gs.simulate(given, dimension=d, seeds=seeds, what="network")
    mean, error = simulated.mean().item(), simulated.standard_error().item()
    laws = (given, given.replace({"step.bulk": "isotropic"}))
    trained, isotropic = (mean - gs.solve(law, dimension=d, tolerance=1e-6).test_error for law in laws)
    return trained / error, isotropic / error


def test_what_is_refused() -> None:
    """The finite-rank stretch by its name; a spectrum."""
    with pytest.raises(BadInput, match='"trained" has the stretch'):
        model(ONE, FOUR, **{"step.2.bulk": "stretched"})
    with pytest.raises(BadInput, match="known after one step"):
        gs.spectrum(model(ONE, FOUR))
