"""Solutions at the nodes of a density carried to other nodes, and what further nodes would change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.law.readout_law import at_nodes
from giantstep.system.continuous_readout import further_change
from giantstep.system.moved_nodes import at_other_nodes, between, carried


def model(loss: str, activation: str, density: str = "gaussian") -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "bias": 0.1, "readout": {"density": density}},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


def test_functions_of_the_readout_value_are_carried() -> None:
    """Polynomials in v of every degree that five nodes determine, beside the fractions; what a block has with itself
    stays on the diagonal.
    """
    before, after = np.array([-2.0, -0.9, 0.1, 1.1, 1.9]), np.array([-1.7, -0.9, 0.4, 1.6])
    fraction, others = np.array([0.05, 0.25, 0.4, 0.25, 0.05]), np.array([0.1, 0.3, 0.4, 0.2])

    def order(v: np.ndarray, share: np.ndarray) -> dict[str, np.ndarray]:
        shape, pairs = 1.0 + v - 0.5 * v**3 + 0.2 * v**4, np.outer(v**2, v**2) + np.outer(v, v)
        alone = {name: (2.0 + v**k) * share for k, name in enumerate(("m", "Q2", "V2"))}
        both = {name: pairs * np.outer(share, share) + np.diag(alone[of]) for name, of in (("Q1", "Q2"), ("V1", "V2"))}
        overlaps = {name: np.stack([shape, v], axis=-1) * share[:, None] for name in ("zeta", "psi")}
        return {**alone, **both, **overlaps}

    found, wanted = carried(order(before, fraction), between(before, after), fraction, others), order(after, others)
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-14)
    beyond = between(before, np.array([-5.0, 7.0]))
    assert beyond == pytest.approx(np.eye(5)[[0, 4]])


@pytest.mark.parametrize(("loss", "activation"), [("logistic", "tanh"), ("huber", "erf")])
def test_a_solve_begins_near_its_solution(loss: str, activation: str) -> None:
    """Twelve nodes carried to sixteen save Newton steps, and change no digit: both end within 1e-7 of the solution by
    a step whose square is left.
    """
    coarse, fine = (at_nodes(model(loss, activation), rung) for rung in (0, 1))
    start = at_other_nodes(gs.solve(coarse, dimension=1000), fine)
    near, far = gs.solve(fine, dimension=1000, start=start), gs.solve(fine, dimension=1000)
    assert near.iterations < far.iterations
    assert near.test_error == pytest.approx(far.test_error, rel=1e-12)


def test_nodes_that_are_the_same_change_nothing() -> None:
    vocabulary = at_nodes(model("logistic", "tanh"), 0)
    found = gs.solve(vocabulary, dimension=1000)
    moved = at_other_nodes(found, vocabulary)
    assert moved is not None
    for name, value in moved.order_parameters.items():
        assert value == pytest.approx(found.order_parameters[name], rel=1e-13, abs=1e-16)


def test_solutions_of_other_readouts_are_not_carried() -> None:
    vocabulary, other = at_nodes(model("square", "tanh"), 0), at_nodes(model("square", "tanh", "uniform"), 0)
    found = gs.solve(vocabulary)
    assert at_other_nodes(found, other) is None
    values = replace(vocabulary.network, readout=gs.Readout((1.0, -1.0), (0.5, 0.5)))
    assert at_other_nodes(gs.solve(replace(vocabulary, network=values)), vocabulary) is None


def test_further_changes_are_the_rest_of_a_geometric_series() -> None:
    """1e-3, 2e-4, 4e-5, ... sum to 1e-3/4 after the first; without a second change, or where they do not shrink, what
    is left is taken for as much as the last; and a change that is small by chance for a tenth. Of three changes the
    slower step counts.
    """
    assert further_change([1e-3, 2e-4]) == pytest.approx(2e-4 / 4)
    assert further_change([2e-4]) == 2e-4
    assert further_change([2e-4, 1.9e-4]) == 1.9e-4
    assert further_change([1e-3, 1e-9]) == pytest.approx(1e-9 / 9)
    assert further_change([1e-3, 2e-4, 2e-6]) == pytest.approx(2e-6 / 4)
    assert further_change([1.0, 3e-4, 9e-4, 9e-5]) == 9e-5
    assert further_change([0.0, 0.0]) == 0.0


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_error_that_is_told_is_none_too_small(activation: str) -> None:
    """Against many more nodes, at tolerances that stop at different numbers of them."""
    given = model("square", activation)
    exact = gs.solve(at_nodes(given, 5)).test_error
    for tolerance in (1e-5, 1e-7, 1e-9):
        found = gs.solve(given, tolerance=tolerance)
        assert abs(found.test_error - exact) <= found.quadrature_error * exact <= tolerance * exact
