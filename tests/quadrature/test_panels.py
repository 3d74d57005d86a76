"""Panels of kappa: half of the nodes where label and features are odd or even together."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.quadrature.mesh import WIDE, Term
from giantstep.quadrature.panels import edges_of, table, wide_columns
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.span import span_of
from giantstep.system.square_loss import solve_direct, solver_nodes, square_kernel, square_solution
from giantstep.system.state import slices_by_name

HALVED = [("tanh", "sign"), ("erf", "z**3/5+z"), ("abs", "quadratic"), ("cos", "abs")]
WHOLE = [("relu", "sign"), ("tanh", "quadratic"), ("abs", "sign"), ("tanh", "sign(z-0.1)"), ("cos", "tanh")]


def rows_of(activation: str, link: str, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a table, and those that the square loss needs."""
    terms = (Term(activation, 1.2, offset, 1.1), Term(activation, -0.7, offset, 1.3))
    target = Term(link, 0.8, 0.0, 0.36)
    return table(terms, target, 16, spacing=WIDE), wide_columns(terms, target, 16, 0).T


@pytest.mark.parametrize(("activation", "link"), HALVED)
def test_half_of_the_nodes_is_enough(activation: str, link: str) -> None:
    rows, half = rows_of(activation, link)
    assert 2 * len(half) == len(rows) and (half[:, 0] > 0.0).all()
    model = Model.from_dict(
        {
            "network": {"activation": activation, "width": 0.8},
            "spike": {"strength": 1.2, "alignment": 0.8, "bulk_variance": 1.1},
            "target": {"link": link, "noise": 0.1},
            "fit": {"samples": 1.5, "ridge": 0.05},
        }
    )
    problem = problem_of(model)
    assert problem.link is not None
    found, whole = solve_direct(problem, 1e-10), table(problem.blocks, problem.link, 16)
    assert found.nodes < len(whole) // 3  # of other panels, which are narrower
    families = square_solution(square_kernel(problem), problem, solver_nodes(whole, span_of(problem)))
    for name in ("zeta", "psi", "Q1", "Q2", "V1", "V2"):
        place, _ = slices_by_name(square_kernel(problem), 1)[name]
        values = families[place].reshape(found.order_parameters[name].shape)
        scale = 1e-13 * np.abs(values).max() + 1e-14
        np.testing.assert_allclose(found.order_parameters[name], values, rtol=0.0, atol=scale, err_msg=name)


@pytest.mark.parametrize(("activation", "link"), WHOLE)
def test_all_nodes_where_averages_vanish_by_symmetry_or_not_at_all(activation: str, link: str) -> None:
    for rows, found in (rows_of(activation, link), rows_of("tanh", "sign", offset=0.1)):
        assert np.array_equal(found, rows)


def test_panels_are_halved_and_resolve_terms_without_a_column() -> None:
    terms = (Term("tanh", 1.2, 0.0, 1.1),)
    edges = edges_of(terms, None)
    assert edges_of(terms, None, halvings=1)[1::2] == pytest.approx(0.5 * (edges[:-1] + edges[1:]), abs=1e-15)
    once, twice = (wide_columns(terms, None, 16, halvings) for halvings in (0, 1))
    assert twice.shape[1] == 2 * once.shape[1]
    steep = Term("sign", 1.0, -0.3, 1e-8)
    assert np.diff(edges_of(terms, None, further=(steep,))).min() < 2e-4 < np.diff(edges).min()
