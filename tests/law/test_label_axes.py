"""Labels of two indices that jump or bend where kappa, of spikes of two directions, decides them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import giantstep as gs
from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_axes import axes_of_kinks
from giantstep.law.labels import label_law
from giantstep.law.terms import link_term
from giantstep.quadrature.tensor import coordinates
from giantstep.spec.model import Target
from giantstep.system.discretisation import resolved
from giantstep.system.level import Level
from giantstep.system.problem import problem_of

BOTH, ONE, BESIDE = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]], [[0.8, 0.6], [-0.6, 0.8]]
MODEL = gs.Model.from_dict(
    {
        "network": {
            "activation": "tanh(z)+z**2/5",
            "width": 1.2,
            "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
        },
        "spike": {"strength": 1.0, "alignment": BOTH, "bulk_variance": 1.2, "loadings": [[1.0, 0.2], [-0.5, 0.8]]},
        "target": {"link": "sign(z1*z2)"},
        "fit": {"samples": 2.0, "ridge": 0.1},
    }
)


@pytest.mark.parametrize("alignment", [BOTH, BESIDE])
@pytest.mark.parametrize(
    ("link", "square", "mean"),
    [("relu(z1)*z2", 0.5, 0.0), ("max(z1,z2)", 1.0, 1.0 / math.sqrt(math.pi)), ("sign(z1)+sign(z2)", 2.0, 0.0)],
)
def test_moments_of_the_label_on_the_nodes_of_kappa(
    link: str, square: float, mean: float, alignment: list[list[float]]
) -> None:
    """A trapezoid that crosses a kink is right to a few digits only."""
    table = resolved(problem_of(MODEL.replace({"target.link": link, "spike.alignment": alignment})), Level(8, 44)).table
    weight, label = table[:, 1], table[:, 2]
    assert weight @ label**2 == pytest.approx(square, rel=1e-12)
    assert weight @ label == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("alignment", "right"), [(BOTH, 1.401054553), (ONE, 1.469297383), ([[1.0, 0.0], [0.0, 0.5]], 1.4523666)]
)
def test_errors_of_another_solver(alignment: list[list[float]], right: float) -> None:
    """Found by product panels cut at the jumps, in a program that shares nothing with this one."""
    found = gs.solve(MODEL.replace({"spike.alignment": alignment}))
    assert found.test_error == pytest.approx(right, rel=1e-8)


def test_a_kink_between_the_indices_is_that_of_a_turned_link() -> None:
    """max(z1, z2) has its kink across a diagonal of the indices, and along an axis of their sum and difference."""
    half = math.sqrt(0.5)
    turned = (np.array(BESIDE) @ np.array([[half, half], [half, -half]])).tolist()
    changes = (("max(z1,z2)", BESIDE), ("(z1+abs(z2))/sqrt(2)", turned))
    one, other = (gs.solve(MODEL.replace({"target.link": link, "spike.alignment": a})) for link, a in changes)
    assert one.test_error == pytest.approx(other.test_error, rel=1e-9)


def test_axes_lie_across_the_sharpest_kinks() -> None:
    """z2 is all but known by kappa along (0.6, 0.8), z1 less."""
    sharp = np.array([0.6, 0.8])
    overlaps = np.column_stack([0.3 * np.array([0.8, -0.6]), 0.9999 * sharp])
    found = axes_of_kinks(Target("sign(z1) + relu(z2 - 1)"), tuple(map(tuple, overlaps.tolist())))
    assert found.turn is not None and np.abs(np.array(found.turn[0])) == pytest.approx(sharp)
    ((term,), none) = found.kinks
    assert none == ()
    assert abs(term.offset / term.scale) == pytest.approx(1.0 / 0.9999)
    assert term.variance == pytest.approx(1.0 - 0.9999**2)


@pytest.mark.parametrize("link", ["relu(z1*z2-0.3)", "sign(z1-z2)+sign(z1)"])
def test_other_kinks_are_refused(link: str) -> None:
    with pytest.raises(gs.NotConverged, match="along curves of kappa, or along lines that cross at an angle"):
        gs.solve(MODEL.replace({"target.link": link}))


def test_noise_inside_the_link_leaves_the_clean_label_its_jumps() -> None:
    """Nodes were chosen for the noisy label, which is smooth, and test errors, of the clean one, never settled."""
    problem = problem_of(MODEL.replace({"target.probit": 0.3}))
    table = resolved(problem, Level(8, 44)).table
    kappa = np.abs(coordinates(table, 2, 2))
    size = table[:, 1] @ (kappa.prod(axis=1) * np.abs(table[:, 2]))
    assert size == pytest.approx(2.0 / math.pi, rel=1e-12)  # E |z1 z2|


def test_a_refusal_names_what_helps() -> None:
    """Noise inside the link was named, and does not help."""
    bent = MODEL.replace({"target.link": "sign(z1*z2-0.3)", "target.probit": 0.3})
    with pytest.raises(gs.NotConverged, match="along curves of kappa") as caught:
        gs.solve(bent)
    assert "columns are shorter than 0.999" in caught.value.hint and "probit" not in caught.value.hint
    shorter = bent.replace({"spike.alignment": [[0.95, 0.0], [0.0, 0.95]]})
    assert gs.solve(shorter, tolerance=1e-3).quadrature_error <= 1e-3


def test_a_loose_tolerance_leaves_the_error_told_above_what_is_missed() -> None:
    """A bent jump within a sixteenth of kappa: wider steps were off by three times what two of them differed by."""
    alignment = [[0.998, 0.0], [0.0, 0.998]]
    found = gs.solve(MODEL.replace({"spike.alignment": alignment, "target.link": "sign(z1*z2-0.3)"}), tolerance=1e-3)
    assert abs(found.test_error / 1.243325931 - 1.0) <= found.quadrature_error + 1e-9  # digits of the other solver


def test_a_kink_across_a_diagonal_of_nodes_is_seen_to_be_missed() -> None:
    """Nodes that are moved alike along both axes lie about it as before: two rules agreed to 1e-12, 1e-2 off."""
    from giantstep.verify.quadrature import grid_nodes

    found = grid_nodes(lambda kappa: np.abs(kappa[:, 0] - kappa[:, 1])[None], 2, 0.5)
    off = abs(float(found.values[0] @ found.weight) * math.sqrt(math.pi) / 2.0 - 1.0)
    assert 1e-3 < off < 10.0 * found.error


ONE_DIRECTION = MODEL.replace(
    {"spike": {"strength": 1.0, "alignment": [1.0, 0.0], "bulk_variance": 1.2}, "target.probit": 0.1}
)


@pytest.mark.parametrize(
    ("model", "right"),
    [
        (ONE_DIRECTION, 1.455821415),
        (ONE_DIRECTION.replace({"fit.loss": "hinge"}), 0.46446056813),
        (MODEL.replace({"target.link": "max(z1,z2)", "spike.alignment": BESIDE, "target.probit": 0.1}), 0.452285021),
    ],
)
def test_noise_inside_the_link_does_not_blur_the_clean_label(model: gs.Model, right: float) -> None:
    """Errors of it jump in kappa: nodes for the noisy label were off by three times what is told. By another solver."""
    for tolerance in (1e-2, 1e-10):
        found = gs.solve(model, tolerance=tolerance)
        assert abs(found.test_error / right - 1.0) <= found.quadrature_error + 1e-9  # digits of the other solver


def test_a_label_that_three_directions_decide_to_rounding_has_panels_that_end_there() -> None:
    """Their lengths leave 1e-15 of an index: panels got as small as that, a thousand nodes on an axis."""
    alignment = ((1.0, 1e-9, 0.0), (-1e-9, 1.0, 0.0), (0.0, 0.0, 1.0))
    found = axes_of_kinks(Target("sign(z1*z2*z3)"), alignment)
    assert [term.variance for terms in found.kinks for term in terms] == [0.0, 0.0, 0.0]


def test_one_index_that_several_directions_decide_to_rounding_has_panels_that_end_there() -> None:
    """As those of lengths 0.6 and 0.8, once they are turned: the first of three axes had 1,120 nodes."""
    overlaps = ((1.0 - 1e-16,), (0.0,))
    given = link_term(Target("sign"), overlaps)
    assert given is not None and given.variance == 0.0


def test_labels_that_kappa_tells_but_for_noise_are_one_node_for_each_value() -> None:
    """They were 1,383, at each of 30,000 nodes of kappa."""
    kappa = np.random.default_rng(0).standard_normal((7, 2))
    found = label_law(Target("sign(z1*z2)", probit=0.1), ((1.0, 0.0), (0.0, 1.0)), kappa, finer=1)
    assert isinstance(found, Points) and found.label.tolist() == [[-1.0, 1.0]] * 7
    first, second = ndtr(kappa / math.sqrt(0.1)).T
    alike = first * second + (1.0 - first) * (1.0 - second)
    assert found.weight == pytest.approx(np.column_stack([1.0 - alike, alike]), abs=1e-12)
    assert np.all(found.t == 0.0)
