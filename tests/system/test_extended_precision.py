"""Small ridges: double precision loses as many digits as the ridge is small, or twice as many."""

from __future__ import annotations

import math

import mpmath
import pytest

from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Model
from giantstep.system import square_loss
from giantstep.system.evidence import conditions
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.square_loss import direct_points

PEAK = {
    "network": {
        "activation": "abs",
        "width": 2.951769269995056,
        "readout": {"values": [1.2975021205143944, -1.2045228817614788], "fractions": [0.82688569, 0.17311431]},
    },
    "spike": {"strength": 5.036014442837234, "alignment": -1.0, "bulk_variance": 1.0},
    "target": {"link": "step"},
    "fit": {"samples": 2.951769269995056, "ridge": 1e-6},
}


def test_peak_is_solved_though_double_precision_does_not_settle() -> None:
    model = Model.from_dict(PEAK)
    problem = problem_of(model, None, intermediate=True)
    assert direct_points(problem, problem.parameters, 1e-10).at(0).quadrature_error > 1e-9
    assert solve(model).quadrature_error < 1e-10


@pytest.mark.parametrize(("values", "asked"), [(2, True), (10, False)])
def test_many_digits_are_asked_for_where_they_take_seconds(
    values: int, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain Python goes over all pairs of blocks at each node: of ten it took minutes, without a word."""
    readout = {"values": [1.0 + 0.1 * k for k in range(values)], "fractions": [1.0 / values] * values}
    problem = problem_of(Model.from_dict({**PEAK, "network": {**PEAK["network"], "readout": readout}}), None)
    taken = []

    def refused(problem: object, tolerance: float, digits: bool = False) -> None:
        taken.append(digits)
        raise NotConverged("does not settle", "")

    monkeypatch.setattr(square_loss, "_settled", refused)
    with pytest.raises(NotConverged, match="does not settle"):
        square_loss.solve_direct(problem, 1e-10)
    assert taken == [False, True] if asked else taken == [False]


def test_an_energy_that_rounding_took_is_found_in_many_digits() -> None:
    """Linear features of values 5e-9 apart: equations hold to 1e-11, and the training loss is off by 7e-7."""
    readout = {"values": [1.3335252826632857, 1.3335252882216573], "fractions": [0.17, 0.83]}
    given = {
        "network": {"activation": "linear", "width": 6.3, "readout": readout},
        "spike": {"strength": 0.0, "alignment": 0.0, "bulk_variance": 2.0},
        "target": {"link": "silu", "noise": 0.004},
        "fit": {"samples": 6.4, "ridge": 1e-5},
    }
    problem = problem_of(Model.from_dict(given), None, intermediate=True)
    found = direct_points(problem, problem.parameters, 1e-10).at(0)
    assert [name for name, holds in conditions(problem, found, problem.parameters, 1e-10).items() if not holds]
    result = solve(Model.from_dict(given))
    assert math.isclose(result.free_energy, result.training_loss, rel_tol=1e-14)


def _noise_at_peak(ridge: float, width: float) -> float:
    """Test error of a network of even features without a spike, on labels that it cannot know, at samples = width.

    abs(z) has mu1 = 0: V = mu2^2 V2 with ridge V2 = 1/(1 + V), Delta = mu2^2 Q2 (THEORY section 4), at 40 digits.
    """
    with mpmath.workdps(40):
        mu2, ridge = 1 - 2 / mpmath.pi, mpmath.mpf(ridge)
        alpha = mpmath.mpf(width)
        v = mpmath.findroot(lambda v: ridge * v * (1 + v) - alpha * mu2 / alpha, mpmath.sqrt(mu2 / ridge))
        # Q2 = (Q2_hat/beta) T^2/beta with T = beta v/mu2, Q2_hat = mu2 (1 + Delta)/(1 + v)^2
        gain = v**2 / (1 + v) ** 2
        return float(1 / (1 - gain))


def test_peak_of_pure_noise_is_the_closed_form() -> None:
    model = Model.from_dict(
        {
            "network": {"activation": "abs", "width": 1.7},
            "target": {"link": "linear"},
            "fit": {"samples": 1.7, "ridge": 1e-8},
        }
    )
    assert math.isclose(solve(model).test_error, _noise_at_peak(1e-8, 1.7), rel_tol=1e-10)


def _linear_regression(fit: dict[str, float], width: float, rows: list[float], fractions: list[float]) -> list[float]:
    """[test, training] error of linear features without a spike on z^3/3 with noise 1/10, to 60 digits.

    All features have one slope but for the norms of rows, and THEORY section 4 is one of scalars in
    tau = sum_b rows_b T_b and u = v/(1 + v tau), T_b (ridge + rows_b u) = width fraction_b: the response is
    m = tau/(1 + v tau), Q = -dR/dv of R = (p^2 + q/width) m, p and q the conjugates of psi and V.
    """
    with mpmath.workdps(60):
        samples, ridge, beta = mpmath.mpf(fit["samples"]), mpmath.mpf(fit["ridge"]), mpmath.mpf(width)
        blocks = [(mpmath.mpf(row), mpmath.mpf(part)) for row, part in zip(rows, fractions, strict=True)]

        def tau(u: mpmath.mpf, order: int = 1) -> mpmath.mpf:
            return beta * sum(part * (row / (ridge + row * u)) ** order for row, part in blocks)

        def excess(log: mpmath.mpf) -> mpmath.mpf:  # of v (1 + V) over samples/width; it rises with u
            u = mpmath.exp(log)
            free = 1 - u * tau(u)
            return u / free + (u * tau(u) - samples) / beta if free > 0 else mpmath.inf

        low, high = mpmath.mpf(-80), mpmath.mpf(80)
        for _ in range(260):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) < 0 else (low, middle)
        u = mpmath.exp(low)
        total, slope = tau(u), -tau(u, 2)
        free = 1 - u * total
        response = total * free
        falls = -(slope - total**2 - 2 * u * total * slope) * free**2 / (1 + u**2 * slope)
        gain = 1 / (1 + response / beta)
        of_label = samples / beta * gain
        learned = response * of_label
        rest, noise = mpmath.mpf(2) / 3, mpmath.mpf(0.1)
        fixed = rest + noise + (1 - learned) ** 2 - learned**2
        back = falls * samples / beta**2 * gain**2
        overlap = (of_label**2 * falls + back * fixed) / (1 - back)
        return [float(overlap + fixed - noise), float((overlap + fixed) * gain**2)]


@pytest.mark.parametrize(
    ("values", "width", "samples", "ridge"),
    [
        ([1.0, 0.3], 2.0, 4.0, 1e-6),
        ([1.0, -0.5, 0.2], 2.0, 1.5, 1e-8),
        ([1.4259332, 1.4259333, 1.4259334], 8.28, 8.28, 1e-8),
        ([1.0, 0.9], 0.5, 1.0, 1e-8),
        # here double precision settles, and shows what it lost in the free energy alone
        ([1.3335252826632857, 1.3335252882216573], 6.297, 6.422, 1e-5),
    ],
)
def test_linear_features_of_several_values_at_a_small_ridge(
    values: list[float], width: float, samples: float, ridge: float
) -> None:
    """Responses of the blocks are as large as the ridge is small, and cancel."""
    fractions = [1.0 / len(values)] * len(values)
    found = {
        "network": {"activation": "linear", "width": width, "readout": {"values": values, "fractions": fractions}},
        "spike": {"strength": 0.0, "alignment": 0.0, "bulk_variance": 1.5},
        "target": {"link": "z**3/3", "noise": 0.1},
        "fit": {"samples": samples, "ridge": ridge},
    }
    result = solve(Model.from_dict(found))
    rows = [1.0 + 0.5 * value**2 for value in values]
    expected = _linear_regression(found["fit"], width, rows, fractions)
    assert [result.test_error, result.train_error] == pytest.approx(expected, rel=1e-9)
    assert result.residual < 1e-14
