"""Labels of several indices that grow are followed to where they end, in kappa and in what kappa leaves open.

E exp(2 a z1 z2) = 1/sqrt(1 - 4 a^2), E exp(2 abs(z)) = 2 e^2 Phi(2).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from giantstep.law.kinds_of_labels import Points
from giantstep.law.label_growth import label_reach
from giantstep.law.labels import label_law
from giantstep.quadrature.mesh import NARROW
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model, Target
from giantstep.system.discretisation import resolved
from giantstep.system.level import Level
from giantstep.system.problem import problem_of

ONE = {"alignment": [0.7, 0.7]}
TWO = {"alignment": [[0.8, 0.1], [-0.1, 0.8]], "loadings": [[1.0, 0.3], [-0.4, 1.0]]}
LINK, SQUARE = "exp(z1*z2/2.5)", 1.0 / (1.0 - 4.0 / 2.5**2) ** 0.5
KINKED = {
    f"sign(z1)*{LINK}": SQUARE,
    "exp(abs(z1) + abs(z2))": (2.0 * math.exp(2.0) * float(ndtr(2.0))) ** 2,
    "relu(z1)*exp(z2**2/6)": 0.5 * 3.0**0.5,
}


@pytest.mark.parametrize(("loss", "spike"), [("square", ONE), ("huber", ONE), ("square", TWO)])
def test_nodes_of_kappa_hold_the_whole_square_of_the_label(loss: str, spike: dict[str, object]) -> None:
    assert _square_at_nodes(LINK, loss, spike) == pytest.approx(SQUARE, rel=1e-12)


@pytest.mark.parametrize("link", KINKED)
def test_nodes_between_kinks_do_too(link: str) -> None:
    assert _square_at_nodes(link, "square", ONE) == pytest.approx(KINKED[link], rel=1e-12)


def test_panels_of_one_index_end_where_the_label_does() -> None:
    law = label_law(Target("exp(2*abs(z))"), (0.0,), np.zeros(1))
    assert isinstance(law, Points)
    square = 2.0 * math.exp(8.0) * float(ndtr(4.0))
    assert float((law.weight * law.label**2).sum()) == pytest.approx(square, rel=1e-11)


def _square_at_nodes(link: str, loss: str, spike: dict[str, object]) -> float:
    data = {
        "network": {"activation": "tanh", "width": 1.0, "readout": {"values": [1.0, -2.0], "fractions": [0.5, 0.5]}},
        "target": {"link": link},
        "spike": {"strength": 1.0, "bulk_variance": 1.2, **spike},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
    }
    found = resolved(problem_of(Model.from_dict(data)), Level(8, 24, labels=1)).on(None, 2)
    return found.square_of_label(2)


def test_labels_that_do_not_grow_end_where_features_do() -> None:
    for link in ("tanh(z1*z2)", "sign(z1*z2)", "z1*z2", "relu(z1) + z2", "z1/(1 + exp(9*z1*z2))"):
        assert label_reach(Target(link), ((0.7, 0.7),)) == NARROW.reach


def test_a_square_that_does_not_exist_is_told() -> None:
    with pytest.raises(NotConverged, match="second moment"):
        label_reach(Target(LINK, probit=0.5), ((0.7, 0.7),))
