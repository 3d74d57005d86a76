"""Panels in kappa: where they are halved, where they end, and that both spacings resolve what is asked of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial.legendre import legfit

from giantstep.quadrature.gauss import legendre, legendre_coefficients
from giantstep.quadrature.mesh import NARROW, ORDERS, WIDE, Mesh, Spacing, Term, initial_mesh, meshes, nodes
from giantstep.quadrature.panels import table

TERMS = (Term("tanh", 1.7, 0.2, 1.1), Term("sign", 0.95, 0.0, 0.0975), Term("relu", -0.8, -0.3, 1.4))
NARROW_FEATURE = Term("exp(-1e6*(z-exp(-z))**2)", 1.0, 0.0, 0.0)


@pytest.mark.parametrize("spacing", [NARROW, WIDE])
@pytest.mark.parametrize("term", TERMS)
def test_coefficients_between_the_nodes(term: Term, spacing: Spacing) -> None:
    """The polynomials through the nodes of the first order of a mesh are right between them, beside the weight."""
    mesh, order = meshes((term,), spacing), spacing.orders[0]
    kappa, values = mesh.columns((term,), order)[0].reshape(-1, order), mesh.columns((term,), order)[2:]
    middle = 0.5 * (mesh.edges[1:] + mesh.edges[:-1])[:, None] + 0.21 * np.diff(mesh.edges)[:, None]
    exact = term.coefficients(middle.ravel())
    for number in range(3):
        fitted = np.array(
            [
                np.polynomial.legendre.legval(0.42, legfit(legendre(order)[0], panel, order - 1))
                for panel in values[number].reshape(kappa.shape)
            ]
        )
        error = np.abs(fitted - exact[number]) * np.exp(-0.25 * middle[:, 0] ** 2)
        assert error.max() <= 30.0 * spacing.resolved * np.abs(exact[number]).max()


@pytest.mark.parametrize("order", ORDERS)
def test_both_spacings_integrate_alike(order: int) -> None:
    """Second moments, by rules that share no node: right to about 1e-14 with 16 nodes a panel and 1e-12 with 12."""
    found = []
    for spacing in (NARROW, WIDE):
        rows = table(TERMS[::2], TERMS[1], order, spacing=spacing)
        found.append((rows[:, 1, None] * rows[:, 2:] ** 2).sum(axis=0))
    np.testing.assert_allclose(found[0], found[1], rtol=2e-14 if order == 16 else 2e-12, atol=0.0)
    assert len(meshes(TERMS, WIDE).edges) < 0.7 * len(meshes(TERMS, NARROW).edges)


def test_a_panel_is_halved_where_its_last_coefficients_are_large() -> None:
    """The survey against NumPy, on values that only some panels resolve."""
    edges = np.array([-6.0, -2.0, 0.0, 1.0, 3.0, 7.0])
    mesh = made(edges, lambda kappa: np.stack([np.tanh(3.0 * kappa), np.exp(-np.abs(kappa)), kappa**2]))
    kappa, _, *values = mesh.columns(TERMS[:1], ORDERS[0])
    weight, last = np.exp(-0.5 * kappa**2), legendre_coefficients(ORDERS[0])[-2:]
    nearest = np.array([2.0, 0.0, 0.0, 1.0, 3.0])
    bad = np.zeros(5, bool)
    scale = [float(np.sqrt((weight * x * x).max())) for x in values]
    for x, size in zip(values, scale, strict=True):
        tail = np.abs(x.reshape(5, -1) @ last.T).max(axis=1) * np.exp(-0.25 * nearest**2)
        bad |= tail > WIDE.resolved * size
    assert bad.any() and not bad.all()
    assert np.array_equal(mesh.seen[0], bad)


def test_what_grows_is_followed_farther() -> None:
    reaches = [meshes((Term(name, 1.0, 0.0, 1.0),), WIDE).edges[-1] for name in ("tanh", "exp(2*z)", "exp(3*z)")]
    assert reaches[0] == WIDE.reach < reaches[1] < reaches[2]
    mesh = made(np.array([-5.0, 5.0]), lambda kappa: np.stack([kappa, 0.0 * kappa, 0.0 * kappa]))
    inside = mesh.columns(TERMS[:1], ORDERS[0])[0]
    square = inside[np.abs(inside) <= 3.0] ** 2
    assert mesh.seen[1] == pytest.approx(25.0 / square.max(), abs=0.0)


def test_the_mirror_image_of_a_symmetric_problem_is_itself() -> None:
    for terms in (TERMS[:2], (Term("tanh", 1.7, 0.0, 1.1), TERMS[1])):
        mesh = meshes(terms, WIDE)
        assert mesh.symmetric == (terms[0].offset == 0.0)
        assert np.array_equal(initial_mesh(terms, 11.0), -initial_mesh(terms, 11.0)[::-1]) == mesh.symmetric


def made(edges: np.ndarray, values: object) -> Mesh:
    """A mesh of one term with given coefficients."""
    kappa = np.sort(np.concatenate([nodes(edges, order)[0].reshape(len(edges) - 1, -1) for order in ORDERS], axis=1))
    at = values(kappa.ravel()).reshape(3, *kappa.shape)  # type: ignore[operator]
    ends = values(edges[[0, -1]])  # type: ignore[operator]
    return Mesh(TERMS[:1], WIDE, edges, np.concatenate([kappa[None], 0.0 * kappa[None], at]), ends)


def test_a_narrow_feature_is_not_stepped_over() -> None:
    """A function of kappa alone, of height 1 and width 1e-3, between the nodes of panels that do not know of it: its
    square integrates to the weight there times sqrt(pi/2) widths, with a next term of 1e-6.
    """
    place, rows = 0.5671432904097838, table((Term("tanh", 0.5, 0.0, 1.0),), NARROW_FEATURE, ORDERS[1])
    found = rows[:, 1] @ rows[:, 2] ** 2
    assert found == pytest.approx(0.5 * np.exp(-0.5 * place**2) / (1e3 * (1.0 + place)), rel=3e-6)
