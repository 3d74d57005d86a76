"""The spectrum of the features' Gram matrix: closed forms, masses, the solver at real ridge."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

import giantstep as gs
from giantstep.observe.spectrum import response, tensor_nodes
from giantstep.quadrature import tensor
from giantstep.quadrature.mesh import Term
from giantstep.quadrature.tensor import Shape


def model(
    activation: str,
    strength: float = 0.0,
    width: float = 1.0,
    samples: float = 2.0,
    values: tuple[float, ...] = (1.0,),
    fractions: tuple[float, ...] = (1.0,),
    bulk_variance: float = 1.0,
) -> gs.Model:
    network = gs.Network(activation, width=width, readout=gs.Readout(values, fractions))
    spike = gs.Spike(strength, 0.5, bulk_variance)
    return gs.Model(network, gs.Target("sign"), gs.Fit(samples, 0.1), spike=spike)


CASES = {
    "tanh": model("tanh", 1.0),
    "tanh few samples": model("tanh", 1.0, samples=0.5),
    "relu at n = p, two blocks": model("relu", 1.0, 2.0, 2.0, (1.0, -1.0), (0.5, 0.5)),
    "sign, strong spike, three blocks": model("sign", 10.0, 1.0, 4.0, (1.0, -1.0, 0.5), (0.5, 0.25, 0.25), 1.5),
    "tanh, strong spike, n = 10 p": model("tanh", 10.0, 1.0, 10.0),
    "gelu, n = p/20": model("gelu", 0.5, 2.0, 0.1),
    "linear, p > d": model("linear", 1.0, 4.0, 2.0),
    "sin, two blocks, n = 3 p": model("sin", 2.0, 1.0, 3.0, (1.0, 0.3), (0.3, 0.7)),
}


@lru_cache(maxsize=16)
def solved(name: str) -> gs.Spectrum:
    return gs.spectrum(CASES[name])


def marchenko_pastur(x: np.ndarray, ratio: float, scale: float) -> np.ndarray:
    """Density of X^T X/p scaled, X n x p with unit variance, n/p = ratio; without the atom at zero."""
    y = x / scale
    low, high = (1.0 - math.sqrt(ratio)) ** 2, (1.0 + math.sqrt(ratio)) ** 2
    return np.sqrt(np.maximum((y - low) * (high - y), 0.0)) / (2.0 * math.pi * y) / scale


@pytest.mark.parametrize("ratio", [0.25, 4.0])
def test_features_without_a_linear_part_are_marchenko_pastur(ratio: float) -> None:
    # z^2 - 1 has mu0 = mu1 = 0 and mu2^2 = 2
    found = gs.spectrum(model("quadratic", samples=ratio))
    low, high = 2.0 * (1.0 - math.sqrt(ratio)) ** 2, 2.0 * (1.0 + math.sqrt(ratio)) ** 2
    (bulk,) = found.bulks
    assert bulk.low.x == pytest.approx(low, rel=1e-12)
    assert bulk.high.x == pytest.approx(high, rel=1e-12)
    x = np.linspace(low, high, 41)[1:-1]
    expected = marchenko_pastur(x, ratio, 2.0)
    np.testing.assert_allclose(found.density(x), expected, atol=1e-10 * expected.max())
    assert found.mass_at_zero == pytest.approx(max(0.0, 1.0 - ratio), abs=1e-14)
    assert bulk.mass == pytest.approx(min(1.0, ratio), abs=1e-9)


def product_of_two(x: float, n: float, p: float) -> float:
    """Density of W X^T X W^T / p, X n x d standard normal, W p x d with unit rows, in units of d: the free product
    of two Marchenko-Pastur laws, by its S-transform. psi(1/z) = -z S(z) - 1 solves a cubic equation.
    """
    z = x * p
    # psi z = (1 + psi)(n + psi)(p + psi)
    polynomial = np.poly1d([1.0, 1.0]) * np.poly1d([1.0, n]) * np.poly1d([1.0, p]) - np.poly1d([z, 0.0])
    psi = max(polynomial.roots, key=lambda root: abs(root.imag))
    return abs(psi.imag) / (math.pi * z)  # of the d x d matrix, in z; d/p of it in x = z/p, times p


@pytest.mark.parametrize(("width", "samples"), [(0.5, 2.0), (4.0, 2.0), (2.0, 0.7)])
def test_linear_features_are_a_product_of_two_wishart_matrices(width: float, samples: float) -> None:
    found = gs.spectrum(model("linear", width=width, samples=samples))
    (bulk,) = found.bulks
    low, high = bulk.coordinate.low, bulk.coordinate.high
    x = low + (high - low) * np.linspace(0.0, 1.0, 23)[1:-1]
    expected = np.array([product_of_two(float(point), samples, width) for point in x])
    np.testing.assert_allclose(found.density(x), expected, atol=1e-10 * expected.max())
    assert found.mass_at_zero == pytest.approx(max(0.0, 1.0 - min(samples, 1.0) / width), abs=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_all_eigenvalues_are_accounted_for(name: str) -> None:
    found = solved(name)
    assert abs(found.total - 1.0) < 1e-6
    assert found.unresolved < 0.1
    ends = [edge.x for bulk in found.bulks for edge in (bulk.low, bulk.high)]
    assert ends == sorted(ends)
    assert found.distribution(2.0 * ends[-1]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_density_is_the_boundary_value_of_the_stieltjes_transform(name: str) -> None:
    # the mean of log(1 + x/ridge) differentiated: (1/p) tr (G + ridge)^-1, from the density alone
    found = solved(name)
    ridge = 0.3
    total = (found.mass_at_zero + found.unresolved) / ridge
    for bulk in found.bulks:
        points, weights = np.polynomial.legendre.leggauss(400)
        theta = 0.5 * math.pi * (points + 1.0)
        x = bulk.coordinate.x(theta)
        total += 0.5 * math.pi * float(weights @ (found.interpolated(x) * bulk.coordinate.slope(theta) / (x + ridge)))
    solver = gs.solve(found.model.replace({"fit.ridge": ridge}), dimension=1000)
    assert total == pytest.approx(float(solver.order_parameters["V2"].sum()), rel=1e-6)
    near = found.stieltjes(complex(-ridge, 1e-9))
    assert near.real == pytest.approx(float(solver.order_parameters["V2"].sum()), rel=1e-9)


def test_equal_blocks_are_one() -> None:
    one = gs.spectrum(model("tanh", 1.0))
    two = gs.spectrum(model("tanh", 1.0, values=(1.0, 1.0), fractions=(0.4, 0.6)))
    x = np.array([0.05, 0.5, 2.0])
    np.testing.assert_allclose(two.density(x), one.density(x), rtol=1e-12)


def test_an_odd_activation_does_not_tell_opposite_blocks_apart() -> None:
    one = gs.spectrum(model("tanh", 1.0))
    two = gs.spectrum(model("tanh", 1.0, values=(1.0, -1.0), fractions=(0.4, 0.6)))
    x = np.array([0.05, 0.5, 2.0])
    np.testing.assert_allclose(two.density(x), one.density(x), rtol=1e-9)


def test_a_second_direction_that_is_hardly_loaded_changes_nothing() -> None:
    # the response is even in the loading of 1e-5, so that what it changes is of order 1e-10
    one = model("sin", 1.0, 1.0, 3.0, (1.0, 0.3), (0.3, 0.7))
    loadings = [[1.0, 0.0], [0.3, 1e-5]]
    two = one.replace({"spike.alignment": [one.spike.alignment, 0.0], "spike.loadings": loadings})
    first, second = gs.spectrum(one, dimension=1000), gs.spectrum(two, dimension=1000)
    assert second.response.problem.rank == 2
    edges = [[edge for part in found.bulks for edge in (part.low.x, part.high.x)] for found in (first, second)]
    assert edges[1] == pytest.approx(edges[0], rel=1e-6)  # the lattice of several directions resolves 1e-7
    assert second.outliers == pytest.approx(first.outliers, rel=1e-6)
    assert second.density(1.0) == pytest.approx(first.density(1.0), rel=1e-6)


def test_the_density_at_zero_is_refused() -> None:
    with pytest.raises(gs.BadInput, match="x <= 0"):
        solved("tanh").density(np.array([0.0]))
    with pytest.raises(gs.BadInput, match="upper half-plane"):
        solved("tanh").stieltjes(-1j)


def test_missing_nodes_of_several_directions_are_told_as_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer samples than neurons: 1/(1 + V(kappa)) is steep on a curve as x falls."""
    monkeypatch.setattr(response, "MOST", 2_000)
    monkeypatch.setattr(tensor_nodes, "MOST", 2_000)
    network = gs.Network("tanh", 1.0, readout=gs.Readout((1.0, 1.0), (0.5, 0.5)))
    spike = gs.Spike(1.5, (0.7, 0.5), 1.2, loadings=((1.0, 0.0), (0.3, 1.0)))
    model = gs.Model(network, gs.Target("tanh"), gs.Fit(0.5, 0.1), spike=spike)
    with pytest.raises(gs.NotConverged, match="averages over the 2 directions of the spike need more than 2,000 nodes"):
        gs.spectrum(model)


def test_lattices_of_any_fineness_have_weights() -> None:
    """Gauss rules of more nodes than numbers can hold the weights of give way to the trapezoid."""
    shape = Shape((Term("tanh", 1.0, 0.0, 1.2), Term("tanh", 1.0, 0.0, 1.2)), ((0.05, 0.0), (0.0, 1.0)), None)
    for fineness in (1.0, 40.0, 200.0):
        for axis in range(2):
            points, weights = tensor._rule(shape, axis, shape.reach(), fineness)
            assert weights.sum() == pytest.approx(1.0, abs=1e-12)
            assert weights @ points**2 == pytest.approx(1.0, abs=1e-11)
