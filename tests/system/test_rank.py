"""Spikes of several directions, solved: against the printed equations, rank one inside rank two, rotations."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from rank_cases import model, residuals, rotation, staircase, tables, three, turned

from giantstep.law.directions import Directions, rows_of
from giantstep.law.kinds_of_labels import Points
from giantstep.law.spike import spike_of
from giantstep.quadrature import tensor
from giantstep.quadrature.tensor import Shape, coordinates, tensor_table
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system import square_loss
from giantstep.system.coupled_solver import solve_coupled
from giantstep.system.discretisation import resolved
from giantstep.system.level import Level
from giantstep.system.problem import problem_of
from giantstep.system.result import ORDER_PARAMETERS, Result
from giantstep.system.solve import solve
from giantstep.system.square_loss import solve_direct


@lru_cache(maxsize=8)
def solved(given: Model) -> Result:
    return solve(given)


def differences(found: Result, wanted: Result) -> dict[str, float]:
    """Of errors and order parameters, relative to their sizes."""
    size = float(np.sqrt(np.abs(wanted.order_parameters["Q1"]).max()))
    gaps = {
        name: float(np.abs(found.order_parameters[name] - wanted.order_parameters[name]).max()) / size
        for name in ORDER_PARAMETERS
    }
    return gaps | {
        name: abs(getattr(found, name) / getattr(wanted, name) - 1.0) for name in ("test_error", "train_error")
    }


def test_the_printed_equations_hold() -> None:
    """Gauss-Hermite rules along the directions given, elementary averages, T by its own Newton: 1e-9."""
    given = model()
    found = residuals(given, solved(given), tables(given))
    assert max(found.values()) < 1e-9, found
    assert solved(given).residual < 1e-12 and solved(given).quadrature_error < 1e-10


def test_the_oracle_sees_a_wrong_overlap() -> None:
    given = model()
    result = solved(given)
    order = dict(result.order_parameters)
    order["zeta"] = order["zeta"] + 1e-6 * np.array([[0.0, 1.0], [0.0, 0.0]])
    assert max(residuals(given, replace(result, order_parameters=order), tables(given)).values()) > 1e-7


def test_unloaded_direction_is_rank_one() -> None:
    """Where no block knows the second direction the errors are those of one, and overlaps go over continuously."""
    plain = model().to_dict()
    plain["spike"] |= {"alignment": 0.6}
    del plain["spike"]["loadings"]
    one = solve(Model.from_dict(plain))
    flat = solve(model(spike__loadings=[[1.0, 0.0], [0.7, 0.0]]))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(flat, name) == pytest.approx(getattr(one, name), rel=1e-12)
    assert np.allclose(flat.order_parameters["zeta"][:, 0], one.order_parameters["zeta"], rtol=1e-10)
    small = solve(model(spike__loadings=[[1.0, 1e-7], [0.7, -1e-7]]))
    assert len(flat.order_parameters["zeta"][0]) == 2 and small.nodes > flat.nodes
    gaps = differences(small, flat)
    assert gaps.pop("m") < 1e-4  # blocks that are nearly collinear determine the difference of their m badly
    assert max(gaps.values()) < 1e-6
    # the second direction shares what the target has beside the first in the ratio of its overlaps
    assert np.abs(flat.order_parameters["zeta"][:, 1]).min() > 0.01
    ratio = flat.order_parameters["zeta"][:, 1] / flat.order_parameters["psi"]
    assert np.allclose(ratio, -0.5 / np.sqrt(1.0 - 0.6**2 - 0.5**2), rtol=1e-10)


@pytest.mark.parametrize("given", [model(), three()], ids=["two", "three"])
def test_directions_may_be_rotated(given: Model) -> None:
    there = rotation(given.spike.rank if given.spike else 1)
    found, back = solve(turned(given, there)), solved(given)
    order = {**found.order_parameters, "zeta": found.order_parameters["zeta"] @ there.T}
    assert max(differences(replace(found, order_parameters=order), back).values()) < 1e-10
    assert found.residual < 1e-12


def test_the_quadrature_does_not_know_the_axes() -> None:
    """With axes that are not those of the alignment, where the label allows it, nothing but rounding changes."""
    given = staircase(fit__samples=2.0, spike__alignment=[[1.0, 0.0], [0.0, 1.0]])
    problem = problem_of(given)
    directions = problem.spike.directions
    assert directions is not None
    other = Directions(directions.loadings, directions.overlaps, rows_of(np.array(directions.kept) @ rotation(2)))
    loadings, overlaps = other.reduced()
    moved = problem.with_features(loadings=loadings, overlaps=overlaps)
    found, wanted = solve_coupled(moved, 1e-10), solve_coupled(problem, 1e-10)
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-10)
    for name, value in directions.outward(wanted.order_parameters).items():
        assert np.allclose(other.outward(found.order_parameters)[name], value, rtol=1e-8, atol=1e-9), name


def test_both_routes_agree_on_the_square_loss() -> None:
    problem = problem_of(model(target__link="sign", target__noise=0.0))
    direct, coupled = solve_direct(problem, 1e-10), solve_coupled(problem, 1e-10)
    assert coupled.test_error == pytest.approx(direct.test_error, rel=2e-10)
    assert coupled.train_error == pytest.approx(direct.train_error, rel=2e-10)
    for name in ORDER_PARAMETERS:
        assert np.allclose(coupled.order_parameters[name], direct.order_parameters[name], rtol=1e-7, atol=1e-9), name


@pytest.mark.parametrize("alignment", [[0.8, 0.6], [0.8, 0.599], [0.0, 0.0]])
def test_the_label_may_jump_and_follow_from_kappa(alignment: list[float]) -> None:
    result = solve(model(target__link="sign", target__noise=0.0, spike__alignment=alignment))
    assert result.residual < 1e-12 and result.quadrature_error < 1e-10


def test_one_block_knows_one_direction() -> None:
    """K = 1 with two directions is a spike along its loadings."""
    data = model(target__link="tanh").to_dict()
    data["network"]["readout"] = {"values": [1.0], "fractions": [1.0]}
    data["spike"] |= {"loadings": [[0.6, 0.8]], "alignment": [0.5, 0.3]}
    two = solve(Model.from_dict(data))
    data["spike"] = {"strength": 1.3, "alignment": 0.6 * 0.5 + 0.8 * 0.3, "bulk_variance": 1.2}
    one = solve(Model.from_dict(data))
    assert two.test_error == pytest.approx(one.test_error, rel=1e-12) and two.order_parameters["zeta"].shape == (1, 2)
    along = two.order_parameters["zeta"] @ [0.6, 0.8]
    assert along == pytest.approx(one.order_parameters["zeta"], rel=1e-12)


def test_directions_that_are_kept_and_dropped() -> None:
    found = spike_of(three(spike__loadings=[[1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])).directions
    assert found is not None and found.rank == 2
    kept = np.array(found.kept)
    assert np.allclose(kept.T @ kept, np.eye(2), atol=1e-14)
    loadings, overlaps = found.reduced()
    assert np.allclose(np.array(loadings) @ kept.T, np.array(found.loadings), atol=1e-14)
    assert overlaps[0][0] > 0.0 and abs(overlaps[1][0]) < 1e-15
    assert spike_of(three(spike__strength=0.0)).directions.rank == 1  # type: ignore[union-attr]


def test_a_readout_that_stays_zero_has_no_overlaps() -> None:
    given = model(target__link="sin", target__noise=0.0, fit__loss={"name": "epsilon_insensitive", "epsilon": 3.0})
    zeta = solve(given).order_parameters["zeta"]
    assert zeta.shape == (2, 2) and not zeta.any()


def test_equal_blocks_are_one_block() -> None:
    two = model(network__readout={"values": [1.0, 1.0], "fractions": [0.4, 0.6]})
    split = {"values": [1.0, 1.0, 1.0], "fractions": [0.4, 0.25, 0.35]}
    rows = [[1.0, 0.2], [-0.4, 0.9], [-0.4, 0.9]]
    data = two.to_dict()
    data["network"]["readout"], data["spike"]["loadings"] = split, rows
    found, wanted = solve(Model.from_dict(data)), solve(two)
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-12)
    zeta = found.order_parameters["zeta"]
    assert np.allclose(zeta[1] + zeta[2], wanted.order_parameters["zeta"][1]) and np.allclose(
        zeta[1] / zeta[2], 0.25 / 0.35
    )


def test_too_steep_for_the_axes_is_an_error() -> None:
    with pytest.raises(NotConverged, match="nodes") as caught:
        solve(model(spike__strength=3e4))
    assert "spike.strength" in str(caught.value) and caught.value.exit_code == 3


def test_too_many_nodes_name_the_tolerance_that_fewer_are_good_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the square loss has then; the first table, of even nodes, leaves 5e-5 of the test error."""
    monkeypatch.setattr(tensor, "_MOST", 20_000)
    monkeypatch.setattr(Shape, "turns_at_zero", lambda *_: False)
    given = Model.from_dict(
        {
            "network": {
                "activation": "quadratic",
                "width": 0.18,
                "readout": {"values": [1.1, -1.1], "fractions": [0.6, 0.4], "biases": [0.5, 1.1]},
            },
            "target": {"link": "softplus"},
            "fit": {"samples": 0.05, "ridge": 1.6e-6},
            "spike": {
                "strength": 2.4,
                "alignment": [0.6, 0.7],
                "bulk_variance": 1.0,
                "loadings": [[1.0, 0.2], [0.8, -2.0]],
            },
        }
    )
    with pytest.raises(NotConverged, match=r"R\^2 needs .* nodes") as caught:
        solve(given)
    assert "tolerance = 1e-4" in caught.value.hint and "step.learning_rate" in caught.value.hint
    assert solve(given, tolerance=1e-4).test_error == pytest.approx(1.33954176, rel=1e-4)


def test_the_label_of_the_square_loss_knows_every_direction() -> None:
    """Noise inside a link of two indices: E y^2 and E y kappa_j by Gauss-Hermite rules and Stein's lemma."""
    given = staircase(target__link="tanh(z1)*z2 + z1", target__probit=0.3, fit__loss="square")
    problem = problem_of(given)
    found = resolved(problem, Level(8, 44))
    assert isinstance(found.clean, Points)
    weight, kappa = found.table[:, 1], coordinates(found.table, 2, 2)
    x, w = hermegauss(200)
    w, z = w / w.sum(), np.sqrt(1.3) * x
    link = np.tanh(z)[:, None] * z + z[:, None]
    slopes = np.array([(1.0 / np.cosh(z) ** 2 @ w) * (z @ w) + 1.0, np.tanh(z) @ w])
    mean = (found.clean.weight * found.clean.label).sum(axis=1)
    square = (found.clean.weight * found.clean.label**2).sum(axis=1)
    assert weight @ square == pytest.approx(w @ link**2 @ w, rel=1e-10, abs=0.0)
    assert (weight * mean) @ kappa == pytest.approx(np.array(problem.overlaps) @ slopes, rel=1e-10, abs=1e-13)


def test_a_coarse_solution_that_leads_nowhere() -> None:
    """On few nodes of the plane three mean features look as if they were alike: refused from what these told.

    The losses are the square one, with another ridge, and one that is the square of what residuals there are to 1e-4.
    """
    given = {
        "network": {
            "activation": "hard_tanh",
            "width": 0.54,
            "readout": {"values": [1.4, 1.4, 1.4], "fractions": [0.15, 0.45, 0.4]},
        },
        "target": {"link": "step"},
        "fit": {"samples": 0.07, "ridge": 9e-5},
        "spike": {
            "strength": 0.38,
            "bulk_variance": 1.9,
            "alignment": [0.37, -0.65],
            "loadings": [[-0.78, -0.87], [0.44, 0.0], [1.0, 1.0]],
        },
    }
    square = solve(Model.from_dict(given))
    thrice = solve(Model.from_dict({**given, "fit": {"samples": 0.07, "ridge": 2.7e-4, "loss": "3*((y-f)**2/2)"}}))
    assert thrice.test_error == pytest.approx(square.test_error, rel=1e-10)
    nearly = solve(Model.from_dict({**given, "fit": {**given["fit"], "loss": "100**2*log(cosh((y-f)/100))"}}))
    assert nearly.test_error == pytest.approx(square.test_error, rel=1e-4)


def polynomial(rank: int, ridge: float) -> Model:
    """Neurons that grow with several directions, beside a small ridge."""
    data = {
        "network": {"activation": "quadratic", "width": 0.113, "readout": {"values": [0.29, 1.25, 0.22, -0.14]}},
        "target": {"link": "relu"},
        "fit": {"samples": 0.113, "ridge": ridge},
    }
    rows = [[1.0, 1.0, 0.0], [-0.95, -0.83, 0.0], [1.0, 1.0, 1.0], [-1.99, 1.0, 0.0]]
    spike = {"strength": 2.45, "bulk_variance": 1.0, "alignment": [0.025, 0.035, 0.006][:rank]}
    return Model.from_dict({**data, "spike": {**spike, "loadings": [row[:rank] for row in rows]}})


def test_polynomials_turn_next_to_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes close together there, and even nodes, agree to the errors that are told; there are fewer of them."""
    given = polynomial(2, 1e-6).replace({"network.bias": 0.4})
    found = solve(given, dimension=1000)
    monkeypatch.setattr(Shape, "turns_at_zero", lambda *_: False)
    for remembered in (tensor_table, square_loss._nodes, square_loss._rule):
        remembered.cache_clear()
    even = solve(given, dimension=1000)
    assert 2 * found.nodes < even.nodes
    error = found.quadrature_error + even.quadrature_error + 1e-12
    assert found.test_error == pytest.approx(even.test_error, rel=2.0 * error)


@pytest.mark.slow
def test_polynomials_of_three_directions() -> None:
    """Beside an error of the test that is 26000, at the peak: even nodes took ten millions."""
    found = solve(polynomial(3, 1e-8), dimension=1000)
    assert found.quadrature_error < 1e-10 and found.nodes < 300_000
