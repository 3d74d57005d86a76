"""Labels of which no data set holds one decide on the mean features: found by lowering a noise of the labels."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from loss_cases import model
from scipy.integrate import quad
from scipy.optimize import brentq

from giantstep.spec.errors import NotConverged
from giantstep.system.flat_everywhere import flat_everywhere
from giantstep.system.problem import problem_of
from giantstep.system.rare_labels import decided_by_few, decided_by_rare_labels, seldom_felt
from giantstep.system.solve import solve

ALIGNED = {"network__activation": "linear", "target__link": "linear", "spike__strength": 1.0}


def mean_loss(width: float, alignment: float) -> float:
    """E max(|y - f| - width, 0) of the output alignment*kappa, which the mean feature kappa can be."""
    spread = math.sqrt(1.0 - alignment**2)
    far = width / spread
    density = math.exp(-0.5 * far * far) / math.sqrt(2.0 * math.pi)
    return 2.0 * spread * (density - 0.5 * far * math.erfc(far / math.sqrt(2.0)))


def test_the_mean_features_hold_all_labels_in_the_flat_part() -> None:
    """At f = 0 a share of 4e-8 is outside, at the best output none of 1e60."""
    found = model({"name": "epsilon_insensitive", "epsilon": 5.5}, **ALIGNED, spike__alignment=0.95)
    assert mean_loss(5.5, 0.95) < 1e-60 < 1e-9 < mean_loss(5.5, 0.0)
    said = decided_by_rare_labels(problem_of(found))
    assert isinstance(said, NotConverged) and "at the best output" in said.message
    with pytest.raises(NotConverged, match="nothing but these decides on the mean features"):
        solve(found)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_an_output_that_no_label_leaves_is_known_to_exist(noise: float) -> None:
    """That of the mean feature kappa, or of one that is a constant: nothing has to be solved to tell so."""
    aligned = model(
        {"name": "epsilon_insensitive", "epsilon": 6.5}, **ALIGNED, spike__alignment=0.95, target__noise=noise
    )
    constant = {"network__activation": "relu", "spike__strength": 0.0, "target__link": "relu", "target__noise": noise}
    often = model(
        {"name": "epsilon_insensitive", "epsilon": 2.5}, **ALIGNED, spike__alignment=0.99, target__noise=noise
    )
    assert not seldom_felt(problem_of(often))  # at f = 0
    for found in (aligned, often, model({"name": "epsilon_insensitive", "epsilon": 9.0}, **constant)):
        said = flat_everywhere(problem_of(found))
        assert isinstance(said, NotConverged) and "at the best output" in said.message
        assert flat_everywhere(problem_of(found, 1000)) is None


def test_a_narrow_flat_part_is_looked_at_more_closely() -> None:
    """An output that is the label but for 1e-4 of itself, out to kappa = 10, where 400 places differ by half of it."""
    narrow = {"name": "epsilon_insensitive", "epsilon": 0.1}
    given = {"network__activation": "erf", "target__link": "linear", "spike__strength": 0.02, "fit__ridge": 1e-5}
    assert flat_everywhere(problem_of(model(narrow, **given, spike__alignment=1.0 - 1e-9))) is not None
    assert flat_everywhere(problem_of(model(narrow, **given, spike__alignment=0.9999))) is None


@pytest.mark.parametrize("changes", [{"spike__alignment": 0.2}, {"target__noise": 0.5, "spike__alignment": 0.95}])
def test_labels_that_are_felt_decide(changes: dict[str, float]) -> None:
    found = model({"name": "epsilon_insensitive", "epsilon": 3.0}, **ALIGNED, **changes)
    assert flat_everywhere(problem_of(found)) is None
    assert decided_by_rare_labels(problem_of(found)) is None


def test_a_share_that_no_data_set_holds() -> None:
    """One label of 4e14 is felt at the best output."""
    spread = math.sqrt(1.0 - 0.95**2 + 0.01)
    assert 4e14 < 1.0 / math.erfc(2.6 / spread / math.sqrt(2.0)) < 5e14
    loss = {"name": "epsilon_insensitive", "epsilon": 2.6}
    found = problem_of(model(loss, **ALIGNED, spike__alignment=0.95, target__noise=0.01))
    assert isinstance(decided_by_rare_labels(found), NotConverged)


def test_few_labels_that_are_fitted_are_no_rare_ones() -> None:
    """A tenth of a per cent is felt, and the training error vanishes all the same: the response fits them."""
    found = model({"name": "epsilon_insensitive", "epsilon": 3.0}, **ALIGNED, spike__alignment=0.2)
    result = solve(found)
    assert result.train_error < 1e-18 < mean_loss(3.0, 0.2)
    assert decided_by_few(problem_of(found), result.free_energy) is None


def test_a_dimension_decides() -> None:
    found = model({"name": "epsilon_insensitive", "epsilon": 5.5}, **ALIGNED, spike__alignment=0.95)
    assert decided_by_rare_labels(problem_of(found, 1000)) is None


def test_labels_far_out_are_not_left_out() -> None:
    """A share of 3e-10 is felt, those of many nodes that hold next to nothing each. Without a spike the output is one
    number, at which the mean excess above the flat part is that below it. Nodes of kappa, which is the index here, end
    at nine deviations, and what they miss of the labels that are felt is allowed.
    """
    width, noise = 6.75, 0.69
    changes = {"network__activation": "cubic", "network__bias": 1.6, "spike__strength": 0.0, "spike__alignment": -1.0}
    sizes = {"network__width": 1.4, "fit__samples": 1.4, "fit__ridge": 1e-8}
    loss = {"name": "epsilon_insensitive", "epsilon": width}
    result = solve(model(loss, target__link="gelu", target__noise=noise, **changes, **sizes))

    def gelu(z: float) -> float:
        return 0.5 * z * math.erfc(-z / math.sqrt(2.0))

    def excess(above: float) -> float:
        far = above / math.sqrt(noise)
        density = math.exp(-0.5 * far * far) / math.sqrt(2.0 * math.pi)
        return math.sqrt(noise) * (density - 0.5 * far * math.erfc(far / math.sqrt(2.0)))

    def average(of: Callable[[float], float], reach: int) -> float:
        parts = ((z, z + 1.0) for z in range(-reach, reach))
        weighted = (
            quad(lambda z: of(gelu(z)) * math.exp(-0.5 * z * z), *ends, epsabs=0.0, epsrel=1e-12) for ends in parts
        )
        return math.fsum(value for value, _ in weighted) / math.sqrt(2.0 * math.pi)

    def error(reach: int) -> float:
        def balance(f: float) -> float:
            above, below = (average(lambda y, side=side: excess(width + side * (f - y)), reach) for side in (1, -1))
            return above / below - 1.0

        output = brentq(balance, 1.0, 2.0, xtol=1e-13)
        return average(lambda y: (y - output) ** 2, reach)

    missed = error(12) - error(9)
    assert 0.0 < missed < 1e-9
    assert result.test_error == pytest.approx(error(12), abs=missed)
