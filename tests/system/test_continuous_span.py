"""The closed span of the mean features of a density: what it holds, and that nothing cancels in its functions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.polynomial import polyval

import giantstep as gs
from giantstep.law.readout_law import at_nodes
from giantstep.system import span
from giantstep.system.continuous_span import Spanning, degrees, spanning_functions
from giantstep.system.moved_nodes import at_other_nodes
from giantstep.system.problem import problem_of

ALL = 99


def model(activation: str, density: str = "gaussian", loss: str = "square", bias: float = 0.0) -> gs.Model:
    return gs.Model.from_dict(
        {
            "network": {"activation": activation, "width": 1.0, "bias": bias, "readout": {"density": density}},
            "step": {"samples": 2.0, "learning_rate": 1.0},
            "target": {"link": "sign"},
            "fit": {"samples": 2.0, "ridge": 0.1, "loss": loss},
        }
    )


@pytest.mark.parametrize(
    ("activation", "offset", "even", "odd"),
    [
        ("tanh", 0.0, -1, ALL),
        ("tanh", 0.3, ALL, ALL),
        ("tanh(z/100)", 0.0, -1, ALL),
        ("relu", 0.0, ALL, 1),
        ("gelu", 0.0, ALL, 1),
        ("softplus", 0.0, ALL, 1),
        ("cos", 0.0, ALL, -1),
        ("z + z**2/2 - z**5/9", 0.0, 2, 5),
        ("z**3", 1.0, 2, 3),
        ("z**7 + z**2", 0.0, 2, 7),
        ("exp(z)", 0.0, ALL, ALL),
    ],
)
def test_parts_of_an_activation_that_are_polynomials(activation: str, offset: float, even: int, odd: int) -> None:
    assert degrees(activation, offset) == (even, odd)


@pytest.mark.parametrize(
    ("activation", "bias"),
    [
        ("tanh", 0.0),
        ("relu", 0.0),
        ("gelu", 0.0),
        ("tanh", 0.4),
        ("sin(z)+He(2,z)/4", 0.0),  # no constant comes alone
        ("cos(z)+z+He(5,z)/100", 0.0),  # and no cube
    ],
)
@pytest.mark.parametrize("value", [0.3, -1.0, 2.0])
def test_features_of_any_value_are_in_the_span(activation: str, bias: float, value: float) -> None:
    """Of the square of mu0_u a share below 1e-9 is left: as little as the test error would change by it."""
    problem = problem_of(at_nodes(model(activation, bias=bias), 4), None, intermediate=True)
    spanning = spanning_functions(problem.features)
    assert spanning is not None
    kappa = np.linspace(-8.0, 8.0, 801)
    root = np.exp(-0.25 * kappa**2)
    term = problem.blocks[np.argmin(np.abs(np.array(problem.model.network.readout.values) - value))]
    functions, feature = spanning.at(kappa) * root[:, None], term.coefficients(kappa)[0] * root
    norms = np.linalg.norm(functions, axis=0)
    functions = functions[:, norms > 0.0] / norms[norms > 0.0]
    rest = feature - functions @ np.linalg.lstsq(functions, feature, rcond=1e-13)[0]
    assert rest @ rest < 1e-9 * (feature @ feature)


@pytest.mark.parametrize(("activation", "density"), [("gelu", "gaussian"), ("silu", "uniform"), ("relu", "gaussian")])
def test_more_nodes_bring_no_rounding(activation: str, density: str) -> None:
    """From 22 to 46 nodes nothing moves by more than sums of rounding, 1e-11; the features of so many nodes differ by
    1e-13 of themselves, and in functions that are made of them the test error moved by 1e-10 and more.
    """
    found = [gs.solve(at_nodes(model(activation, density), rung)).test_error for rung in (4, 5, 6)]
    assert found == pytest.approx([found[0]] * 3, rel=1e-11)


@pytest.mark.parametrize(
    ("activation", "density", "link", "alignment"),
    [
        ("relu", "step(u)*step(1-u)", "step", -1.0),  # jumps at zero, as the even part of the mean output turns there
        ("silu", "exp(-(u-1)**2)", "sin", 0.95),
        ("sin(z)+z**2/4", "gaussian", "relu", 1.0),  # all odd functions, and even ones that are powers
    ],
)
def test_any_functions_that_approach_the_span_serve(
    activation: str, density: str, link: str, alignment: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one parity alone is free, the mean output turns with the label: against polynomials in abs(kappa)."""
    tables = {
        "network": {"activation": activation, "width": 0.8, "readout": {"density": density}},
        "spike": {"strength": 1.5, "alignment": alignment, "bulk_variance": 1.3},
        "target": {"link": link},
        "fit": {"samples": 0.5, "ridge": 1e-3},
    }
    found = gs.solve(gs.Model.from_dict(tables))

    def at(self: Spanning, kappa: np.ndarray) -> np.ndarray:
        shares = chebvander(2.0 * np.abs(kappa) / np.sqrt(kappa**2 + 9.0) - 1.0, self.columns)
        functions = np.zeros((len(kappa), self.columns))
        for column, (parity, number) in enumerate(self.places):
            part = self.parts[parity]
            free = shares[:, number] * np.sign(kappa) ** parity * (number < 16)
            functions[:, column] = free if part is None else polyval(kappa, part[number])
        return functions

    monkeypatch.setattr(Spanning, "at", at)
    span._span_at_infinity.cache_clear()
    other = gs.solve(at_nodes(gs.Model.from_dict(tables), 5))
    span._span_at_infinity.cache_clear()
    assert found.test_error == pytest.approx(other.test_error, rel=3e-10)


@pytest.mark.parametrize("alignment", [1.0, -1.0])
@pytest.mark.parametrize(("link", "error"), [("sign(z-0.5)", 0.18305798), ("step(z+1)", 0.0314056)])
def test_labels_that_turn_beside_zero(link: str, error: float, alignment: float) -> None:
    """Functions turn where labels do and at the mirror image. Errors of another solver, which has the mean output at
    points of kappa, to its last digit.
    """
    model = gs.Model.from_dict(
        {
            "network": {"activation": "relu", "width": 1.2, "readout": {"density": "gaussian"}},
            "spike": {"strength": 1.5, "alignment": alignment, "bulk_variance": 1.2},
            "target": {"link": link},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    found = gs.solve(model)
    digit = 10.0 ** -(8 if error > 0.1 else 7)
    assert found.test_error == pytest.approx(error, rel=0.0, abs=digit)


def test_the_mean_output_is_carried_to_other_nodes() -> None:
    """Coefficients by parity and number are those of the same function, and a solve from there takes fewer steps."""
    coarse, fine = (at_nodes(model("tanh", loss="logistic"), rung) for rung in (0, 1))
    first = gs.solve(coarse)
    near, far = gs.solve(fine, start=at_other_nodes(first, fine)), gs.solve(fine)
    assert near.iterations < far.iterations
    assert near.test_error == pytest.approx(far.test_error, rel=1e-10)
    few, many = (
        spanning_functions(problem_of(m, None, intermediate=True).features)
        for m in (at_nodes(model("tanh", bias=0.4), 0), at_nodes(model("tanh", bias=0.4), 2))
    )
    assert few is not None and many is not None
    kappa, coefficients = np.linspace(-3.0, 3.0, 7), np.sin(np.arange(few.columns))
    moved = many.at(kappa) @ many.read(few.written(coefficients))
    assert moved == pytest.approx(few.at(kappa) @ coefficients, rel=1e-13)


@pytest.mark.slow
def test_features_that_turn_fast_with_the_value() -> None:
    """A density that is small where kinked features turn takes 246 values: fewer are as good to what they tell."""
    data = {
        "network": {"activation": "hard_tanh", "width": 0.14, "readout": {"density": "u**2*exp(-u**2)"}},
        "target": {"link": "abs"},
        "fit": {"samples": 0.2, "ridge": 1e-5},
        "spike": {"strength": 76.0, "alignment": 1.0, "bulk_variance": 1.0},
    }
    found = gs.solve(gs.Model.from_dict(data), dimension=100)
    assert found.nodes_of_readout is not None
    assert len(found.nodes_of_readout.values) > 186
    fewer = gs.solve(gs.Model.from_dict(data), dimension=100, tolerance=1e-7)
    assert found.test_error == pytest.approx(fewer.test_error, rel=fewer.quadrature_error)
