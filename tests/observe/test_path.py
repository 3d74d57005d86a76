"""Several indices that are not alike: fixed points by other sums, the rule for alike ones, message passing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from told_by_sums import told_by_sums

import giantstep as gs
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.path import Path, path_of
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.segment import Segment
from giantstep.observe.optimal.shapes import shapes_of
from giantstep.observe.optimal.symmetry import unchanged
from giantstep.observe.optimal.told import told
from giantstep.observe.optimal.two import told_of_one_axis
from giantstep.spec.model import Target


def model(link: str, samples: float, **target: float) -> gs.Model:
    fit, network = {"samples": samples, "ridge": 0.1}, {"activation": "tanh", "width": 1.0}
    return gs.Model.from_dict({"network": network, "target": {"link": link, **target}, "fit": fit})


@pytest.mark.parametrize(
    ("link", "count"), [("z1*z2", 1), ("z1 + z2**2", 2), ("z1 + z2", 2), ("tanh(z1) + z2", 3), ("z1 + z2*z3", 2)]
)
def test_shapes_that_symmetries_leave(link: str, count: int) -> None:
    """z1 z2 may swap its indices or change a sign; z2 of z1 + z2^2 its own; z2 and z3 of z1 + z2 z3 are alike."""
    target = Target(link, noise=0.1)
    m, basis = target.indices, unchanged(target)
    assert len(basis) == count
    np.testing.assert_allclose(basis, basis.swapaxes(1, 2), atol=1e-12)
    shapes = shapes_of(target, np.eye(m))
    assert len(shapes.basis) == count - 1
    np.testing.assert_allclose(np.einsum("paa->p", shapes.basis), 0.0, atol=1e-12)
    one = shapes_of(target, np.eye(m)[:1])
    assert len(one.basis) == 0 and np.array_equal(one.overlap(0.3, np.zeros(0)), 0.3 * np.diag(np.eye(m)[0]))


def test_state_evolution_stays_there() -> None:
    """One step from the overlap that was found, by sums of another hand that are cut off at 5.5 deviations."""
    link, noise, samples = "z1 + z1*z2/2", 1.0, 2.5
    found = gs.optimal(model(link, samples, noise=noise))
    assert found.overlap is not None and found.transitions == ()
    q = np.diag(found.overlap)
    np.testing.assert_allclose(found.overlap, np.diag(q), atol=1e-12)
    told = samples * np.diag(told_by_sums(link, noise, found.overlap, (25, 41))) / (1.0 - q)
    np.testing.assert_allclose(told / (1.0 + told), q, rtol=0, atol=5e-5)


def test_alike_indices_on_a_path_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Q = q 1 on both: samples, overlaps, and free entropies between them."""
    sought = Sought(Target("z1*z2", noise=1.0))
    alike = path_of(sought)
    monkeypatch.setattr("giantstep.observe.optimal.path.is_alike", lambda target: False)
    path_of.cache_clear()
    several = path_of(sought)
    path_of.cache_clear()
    assert isinstance(several.pieces[0], Segment) and not isinstance(alike.pieces[0], Segment)
    for q in (0.05, 0.3, 0.7):
        assert several.samples(q) == pytest.approx(alike.samples(q), rel=3e-4)
        np.testing.assert_allclose(several.overlap(q), q * np.eye(2), rtol=0, atol=1e-12)
    gains: list[tuple[float, float]] = [path.entropy_gain(0.05, 0.7) for path in (several, alike)]
    np.testing.assert_allclose(*gains, rtol=1e-3)


def test_what_labels_tell_of_the_square_of_another_index() -> None:
    """Against the grid of both indices, right to what it changes on finer nodes; noise inside the link as well."""
    axis, known = np.array([0.0, 1.0]), np.diag([0.3, 0.0])
    for target in (Target("z1 + z2**2/2", noise=0.5), Target("z1 + z2**2/2", noise=0.5, probit=0.2)):
        mean, square = told_of_one_axis(target, known, axis, Fineness(kappa=18, labels=2))
        by_grid = [told(target, known, nodes) for nodes in (Fineness(18, 1), Fineness(27, 2))]
        rough, fine = (float(each.weight @ each.square[:, 1, 1] ** 2) for each in by_grid)
        assert mean == pytest.approx(0.0, abs=1e-12) and abs(fine - rough) < 1e-6
        assert square == pytest.approx(fine, abs=3.0 * abs(fine - rough) + 1e-6)


def parts(path: Path) -> list[float]:
    return [t.samples for t in path.thresholds]


@pytest.mark.slow
def test_indices_that_are_found_one_after_the_other() -> None:
    """z2 is found from .621716 samples on, given z1; the overlap by iteration, as it was before: right to 2e-4."""
    sought = Sought(Target("z1+z2**2", noise=0.1))
    path = path_of(sought)
    assert parts(path) == [0.0, pytest.approx(0.621716, abs=5e-6)]
    found = gs.optimal(model("z1+z2**2", 1.5, noise=0.1))
    assert found.overlap is not None
    np.testing.assert_allclose(found.overlap, np.diag([0.603096, 0.575089]), rtol=0, atol=2e-4)
    before = gs.optimal(model("z1+z2**2", 0.5, noise=0.1)).overlap
    assert before is not None and abs(before[1, 1]) < 1e-12 and before[0, 0] > 0.2


@pytest.mark.slow
def test_thresholds_do_not_depend_on_the_axes() -> None:
    """The first direction lies along no axis, or along one: nodes of two rules of 5e-6 each."""
    a, b = "sqrt(2)*(z1 + z2)", "sqrt(2)*(z1 - z2)"
    links = "tanh(2*z1) + tanh(2*z2)", f"tanh({a}) + tanh({b})"
    oblique, along = (parts(path_of(Sought(Target(link, noise=1.0)))) for link in links)
    assert len(along) == 2 and along[1] > 1.0
    assert oblique == pytest.approx(along, rel=1e-5)


@pytest.mark.slow
def test_message_passing_reaches_it() -> None:
    """Overlap and error of four runs; their distance from the limit shrinks as 1/d."""
    found = gs.optimal(model("z1 + z1*z2", 2.5, noise=1.0), dimension=1000, seeds=4)
    runs, error, overlap = found.simulated, found.test_error, found.mean_overlap
    assert runs is not None and error is not None and overlap is not None
    for measured, limit in ((runs.overlap, overlap), (runs.test_error, error)):
        assert abs(np.mean(measured) - limit) < 4.0 * np.std(measured, ddof=1) / math.sqrt(4.0) + 3.0 / 1000
