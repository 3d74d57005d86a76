"""Linear features of several readout values beside a small ridge: responses of blocks cancel, and outputs are told."""

from __future__ import annotations

import numpy as np
import pytest
from loss_cases import model

from giantstep.spec.model import Model
from giantstep.system.linear_features import LinearFeatures
from giantstep.system.result import Result
from giantstep.system.solve import solve, solve_and_keep

SIZES = {"network__width": 3.2, "fit__samples": 3.7, "fit__ridge": 1e-8}
LABELS = {
    "logistic": {"target__link": "sign(z-0.4)", "target__probit": 0.5},
    "hinge": {"target__link": "sign", "target__flips": 0.1},
    "huber": {"target__link": "sin", "target__noise": 0.1},
}
TWO = {"network__readout__values": [1.5, -1.0], "network__readout__fractions": [0.5, 0.5]}
THREE = {"network__readout__values": [0.5, 1.5, -1.0], "network__readout__fractions": [0.3, 0.4, 0.3]}


def linear(loss: str, variance: float = 1.0, **changes: object) -> Model:
    spike = {"spike__strength": 1.0, "spike__alignment": 0.6, "spike__bulk_variance": variance}
    return model(loss, network__activation="linear", **LABELS[loss], **spike, **{**SIZES, **changes})


def told(result: Result) -> tuple[float, float]:
    return result.test_error, result.train_error


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_rows_of_one_norm_are_one_block(loss: str) -> None:
    """Neurons differ by their means alone then, which all are multiples of kappa: the limit knows one."""
    assert told(solve(linear(loss, **THREE))) == pytest.approx(told(solve(linear(loss))), rel=1e-9)


@pytest.mark.parametrize(("loss", "ridge"), [("logistic", 1e-8), ("huber", 1e-8), ("hinge", 1e-5)])
def test_rows_of_unequal_norms_are_one_block_of_another_width(loss: str, ridge: float) -> None:
    """Outputs feel the sum of squared slopes times T, and how it follows their response: both are those of one block
    of another width, beside another ridge.
    """
    variance, width = 2.9, SIZES["network__width"]
    result = solve(linear(loss, variance, fit__ridge=ridge, **THREE))
    values, fractions = (np.array(THREE[f"network__readout__{name}"]) for name in ("values", "fractions"))
    squares, response = 1.0 + values**2 * (variance - 1.0), result.order_parameters["V2"]
    felt = (width * fractions / response - ridge * width) / squares
    assert np.ptp(felt) < 1e-9 * felt[0]
    total = squares @ response
    other = total**2 / (squares**2 @ (response**2 / fractions)) * width
    like = linear(loss, network__width=other, fit__ridge=1.0 / total - felt[0] / other)
    assert told(result) == pytest.approx(told(solve(like)), rel=1e-8)


def test_a_dimension_holds_each_mean() -> None:
    """Errors tend to those without a ridge as this vanishes, like the ridge."""
    found = [
        told(solve(linear("logistic", 2.9, **{**TWO, "fit__ridge": ridge}), dimension=100))
        for ridge in (1e-6, 1e-7, 1e-8)
    ]
    for first, second, third in zip(*found, strict=True):
        assert abs(third - second) < 0.11 * abs(second - first) + 1e-13


def test_unknowns_are_those_of_the_order_parameters() -> None:
    """The response of outputs is one of them, which those of blocks tell to 1e-8."""
    _, system = solve_and_keep(linear("logistic", 2.9, **THREE), None, 1e-10)
    assert isinstance(system, LinearFeatures)
    x, response = system.x.copy(), system.x[system.responses]
    assert system.unknowns(system.order_parameters()) == pytest.approx(x, rel=1e-6)
    assert 0.1 < response[0] < 10.0 and response.max() > 1e6


def test_derivatives_are_those_of_the_residuals() -> None:
    _, system = solve_and_keep(linear("logistic", 2.9, **THREE), None, 1e-10)
    assert isinstance(system, LinearFeatures)
    x, size = system.x.copy(), system.scale(system.x)
    matrix = system.jacobian() * size
    for column, step in enumerate(1e-5 * np.diag(size)):
        slope = (system.residual(x + step) - system.residual(x - step)) / 2e-5
        missed = np.abs(slope - matrix[:, column]) / np.abs(matrix).max(axis=1)
        assert missed[system.blocks :].max() < 1e-3, column  # the first are quadratic in what T multiplies


@pytest.mark.parametrize("ridge", [1e-8, 1e-6])
@pytest.mark.parametrize("dimension", [None, 1000])
def test_square_loss_along_several_directions(ridge: float, dimension: int | None) -> None:
    """Errors are those of the one direction that the label is along: rows of one norm are one block. Rounding of the
    averages at 7071 places of kappa left no equation of responses solved.
    """
    of_both = {"spike.alignment": [0.36, 0.48], "spike.loadings": [[0.0, 1.0], [0.0, 0.0], [1.0, 0.06]]}
    labels = {"fit.loss": "square", "target.link": "softplus", "target.noise": 0.0, "network.bias": 0.4}
    one = linear("huber", **{**THREE, "fit__samples": 3.2, "fit__ridge": ridge}).replace(labels)
    found = solve(one.replace(of_both), dimension=dimension)
    assert told(found) == pytest.approx(told(solve(one)), rel=1e-9)
    assert found.nodes == 4


@pytest.mark.parametrize("link", ["erf", "tanh(3*z)", "softplus"])
def test_odd_labels_along_several_directions(link: str) -> None:
    """Their tables hold half of the nodes, on which an odd label has no mean: it was taken for one, and test errors
    were up to four times too large.
    """
    of_both = {"spike.alignment": [0.36, 0.48], "spike.loadings": [[0.0, 1.0], [0.0, 0.0], [1.0, 0.06]]}
    one = linear("huber", **{**THREE, "fit__samples": 2.0, "fit__ridge": 0.1})
    one = one.replace({"fit.loss": "square", "target.link": link})
    assert told(solve(one.replace(of_both))) == pytest.approx(told(solve(one)), rel=1e-9)


def test_a_density_beside_a_small_ridge() -> None:
    """The equations of linear features, one unknown each, in 50 digits with 24 and 40 Gauss points of the density: in
    double precision responses of values cancel, and the errors were lost from the seventh digit on.
    """
    data = {
        "network": {"activation": "linear", "width": 1.09, "readout": {"density": "step(u)*step(1-u)"}, "bias": -0.94},
        "target": {"link": "silu"},
        "fit": {"samples": 3.25, "ridge": 1.8e-06},
        "spike": {"strength": 30.0, "alignment": -0.86, "bulk_variance": 1.2},
    }
    found = solve(Model.from_dict(data), dimension=1000)
    assert told(found) == pytest.approx((0.0911195803421086, 0.0436730518309644), rel=1e-9)
    assert found.nodes == 2
