"""Orthonormal coordinates of the mean features: what they are, and that answers are limits of those at a dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from undetermined_cases import cases, gaussian_values, model, readout

from giantstep.observe.gradient.gradient import gradient
from giantstep.observe.learned import learned
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.model import Model
from giantstep.system.problem import problem_of
from giantstep.system.solve import solve
from giantstep.system.span import orthonormal, span_of

CASES = cases()
ALONE = np.zeros((50, 1))  # kappa, which only clusters of features ask for
EPS = float(np.finfo(float).eps)


def features(seed: int, close: float) -> np.ndarray:
    """Four columns: two free ones, their sum to rounding, and one that is the first up to ``close``."""
    a, b, c = np.random.default_rng(seed).standard_normal((3, 50)) / np.sqrt(50.0)
    return np.stack([a, b, a + b, a + close * c], axis=1)


@pytest.mark.parametrize("close", [0.3, 1e-3, 1e-6])
def test_functions_are_orthonormal_and_span_the_features(close: float) -> None:
    """Rounding of the features, a few EPS, is divided by the smallest of what they have beside each other."""
    columns = features(1, close)
    span = orthonormal(columns, np.linalg.norm(columns, axis=0))
    e = span.functions(columns, ALONE)
    assert span.rank == 3
    assert not e[:, 3].any()
    np.testing.assert_allclose(e[:, :3].T @ e[:, :3], np.eye(3), rtol=0.0, atol=30.0 * EPS / close)
    np.testing.assert_allclose(e @ span.coordinates, columns, rtol=0.0, atol=30.0 * EPS / close)
    np.testing.assert_allclose(columns @ span.null, 0.0, rtol=0.0, atol=30.0 * EPS)


def test_of_all_coefficients_the_least_are_reported() -> None:
    """Against the pseudo-inverse of the features times the root of the weights."""
    columns, response = features(2, 0.3), np.array([0.5, 2.0, 1.0, 0.1])
    span = orthonormal(columns, np.linalg.norm(columns, axis=0))
    c = np.array([0.7, -1.2, 0.4, 0.0])
    goal = span.functions(columns, ALONE) @ c
    expected = np.sqrt(response) * (np.linalg.pinv(columns * np.sqrt(response), rcond=1e-10) @ goal)
    found = span.outward(c, response)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(span.inward(found), c, rtol=0.0, atol=1e-13)


def test_a_feature_that_is_rounding_has_no_coordinate() -> None:
    """Rounding is relative to the features it is an average of, not to itself."""
    columns = features(3, 0.3)[:, :2] * [1.0, 1e-16]
    span = orthonormal(columns, np.ones(2))
    assert span.rank == 1
    assert abs(span.outward(np.array([2.0, 0.0]), np.ones(2))[1]) < EPS


def test_where_m_is_determined_nothing_is_changed() -> None:
    assert span_of(problem_of(CASES["close"], 1000)) is None
    assert span_of(problem_of(model("tanh", (1.0,)))) is None
    assert span_of(problem_of(CASES["vanishing"])) is not None


@pytest.mark.parametrize("name", ["dependent", "linear", "cubic", "logistic, dependent", "huber, linear"])
def test_answers_are_limits_of_those_at_a_dimension(name: str) -> None:
    """There m is determined, and no coordinates are used; what the dimension changes is of order 1/d."""
    limit = solve(CASES[name])
    near, far = (solve(CASES[name], dimension=dimension) for dimension in (10**4, 10**5))
    for family in ("m", "zeta", "Q2"):
        values = [result.order_parameters[family] for result in (limit, near, far)]
        size = np.abs(values[0]).max() + np.sqrt(limit.order_parameters["Q2"].max())
        # extrapolated in 1/d: what is left is of order 1/d^2, with room for its coefficient
        np.testing.assert_allclose((10.0 * values[2] - values[1]) / 9.0, values[0], rtol=0.0, atol=1e-5 * size)
    assert (10.0 * far.test_error - near.test_error) / 9.0 == pytest.approx(limit.test_error, rel=1e-5)


def test_a_continuum_of_readout_values() -> None:
    """Gauss nodes of a Gaussian density: geometric convergence to .4920739  [THEORY section 13]."""
    found = [solve(gaussian_values(count)).test_error for count in (10, 13, 16)]
    gaps = np.abs(np.array(found) - 0.4920739)
    assert gaps[0] < 5e-6
    assert gaps[1] < 1e-6
    assert gaps[2] < 3e-7


def test_where_dependent_features_come_apart_there_is_no_derivative() -> None:
    """A spike of no strength: mu0 vanishes there and, for any other strength, is a direction more."""
    still = model("tanh", (1.0,), spike__strength=0.0)
    with pytest.raises(BadInput, match="jump"):
        gradient(still, "spike.strength")
    assert np.isfinite(gradient(still, "fit.ridge").test_error["fit.ridge"])


def test_equal_features_are_told_apart_by_next_to_nothing() -> None:
    """At infinite dimension values 1 and 1 + 1e-6 give the mean a second direction, the derivative in the strength."""
    close: Model = CASES["close"]
    wider = close.replace({"network.readout.values": [1.0, 1.001]})
    single = close.replace({"network.readout.values": [1.0, 1.0]})
    found, other, one = (solve(case).test_error for case in (close, wider, single))
    assert found == pytest.approx(other, rel=1e-3)
    assert abs(found - one) > 3.0 * abs(found - other)


@pytest.mark.parametrize("values", [(1.0, -0.5), (1.0, -0.5, 0.7), (1.0, -0.5, 0.7, 0.3)])
def test_weak_spikes_have_a_limit(values: tuple[float, ...]) -> None:
    """Features are polynomials in the strength r: the test error is smooth in r^2."""
    weak = Model.from_dict(
        {
            "network": {
                "activation": "tanh",
                "width": 20.0,
                "readout": {"values": list(values), "fractions": [1.0 / len(values)] * len(values)},
            },
            "spike": {"strength": 1e-7, "alignment": 1.0, "bulk_variance": 1.0},
            "target": {"link": "sign"},
            "fit": {"samples": 50.0, "ridge": 0.01},
        }
    )
    limit, first, second, third = (
        solve(weak.replace({"spike.strength": r})).test_error for r in (1e-7, 0.04, 0.02, 0.01)
    )
    once = [(4.0 * second - first) / 3.0, (4.0 * third - second) / 3.0]  # extrapolated: 0.04^4 and 0.02^4 are left
    assert abs(once[1] - limit) < 0.02**4
    assert abs((16.0 * once[1] - once[0]) / 15.0 - limit) < 1e-9
    dependent = weak.replace({"network.activation": "quadratic"})
    assert solve(dependent).test_error > 0.0  # one function of kappa whatever the strength


def test_a_weak_spike_by_an_independent_calculation() -> None:
    """Without the cubes of the values, which rounding hides, the error would be .501874526."""
    weak = Model.from_dict(
        {
            "network": {
                "activation": "tanh",
                "width": 20.0,
                "readout": {"values": [1.0, -0.5], "fractions": [0.5, 0.5]},
            },
            "spike": {"strength": 1e-4, "alignment": 1.0, "bulk_variance": 1.0},
            "target": {"link": "sign"},
            "fit": {"samples": 50.0, "ridge": 0.01},
        }
    )
    assert solve(weak).test_error == pytest.approx(0.3553323, abs=1e-7)
    logistic = weak.replace({"fit.loss": "logistic", "spike.alignment": 0.8})
    assert solve(logistic).test_error == pytest.approx(
        solve(logistic.replace({"spike.strength": 0.02})).test_error, rel=1e-3
    )


def test_a_single_feature_below_rounding() -> None:
    """He3 sees a weak spike of strength r by r^3 He3(kappa), which is 4e-16 of the features here."""
    weak = model("cubic", (1.0,), spike__strength=7e-6, spike__bulk_variance=1.0)
    found, stronger = solve(weak).test_error, solve(weak.replace({"spike.strength": 1e-3})).test_error
    none = solve(weak.replace({"spike.strength": 0.0})).test_error
    assert found == pytest.approx(stronger, rel=1e-5)
    assert abs(none - found) > 1e3 * abs(stronger - found)


def test_a_dimension_whose_term_is_below_rounding_is_refused() -> None:
    """Beyond 1e13 the m of nearly equal features were those of rounding: .0904181 at 1e15 for .0854663."""
    close = readout([1.0, 1.0001, 1.0002])
    near, far, limit = (solve(close, dimension=d).test_error for d in (10**9, 10**12, None))
    assert near > far > limit
    with pytest.raises(NotConverged, match="term of finite size"):
        solve(close, dimension=10**15)
    assert solve(readout([1.0, 0.3]), dimension=10**15).test_error > 0.0


def slope(key: str, *readings: Any, **changes: Any) -> tuple[float, float]:
    """The derivative of the test error in a key, and by differences at relative steps of .05 and .025, extrapolated."""
    given = readout(*readings, **changes)
    table, _, name = key.partition(".")
    value = getattr(getattr(given, table), name)

    def difference(step: float) -> float:
        ends = [solve(given.replace({key: value * (1.0 + k)})).test_error for k in (step, -step)]
        return (ends[0] - ends[1]) / (2.0 * step * value)

    return gradient(given, key).test_error[key], (4.0 * difference(0.025) - difference(0.05)) / 3.0


@pytest.mark.parametrize("values, least", [([1.0, -0.5], 0.02), ([1.0, -0.5, 0.7], 0.1), ([1.0, 1.1, 1.2], 0.1)])
def test_rates_that_cancel_are_right_or_refused(values: list[float], least: float) -> None:
    """The span moves by next to nothing where each mu0 moves by its own size: its rates are those of the expansions.

    The derivative is proportional to a small strength: differences have 1e-10 of the error over the square of it.
    """
    for strength in (least, least / 10.0, least / 30.0):
        found, by_differences = slope("spike.strength", values, spike__strength=strength)
        assert found == pytest.approx(by_differences, rel=1e-6)
    with pytest.raises(NotConverged, match="how the mean features move"):
        gradient(readout(values, spike__strength=least / 1000.0), "spike.strength")


@pytest.mark.parametrize("key", ["spike.strength", "spike.bulk_variance"])
@pytest.mark.parametrize(
    ("activation", "values"),
    [("tanh", [1.0, 1.0 + 1e-12]), ("sin", [1.0, 1.0 + 1e-8]), ("relu", [1.0, -0.6, 1.0 + 1e-9])],
)
def test_derivatives_of_nearly_equal_values(activation: str, values: list[float], key: str) -> None:
    """Of a sine averages depend on each other: D_2 = -D_0."""
    found, by_differences = slope(key, values, network__activation=activation)
    # what differences leave: step^4/30 of the fifth derivative in the logarithm, some of the error .5
    assert found == pytest.approx(by_differences, rel=2e-5, abs=2e-8)


@pytest.mark.parametrize(("values", "strength"), [([1.0, -0.5, 0.7], 1e-4), ([1.0, 1.0 + 1e-12], 1.5)])
def test_an_output_whose_m_cancel_is_that_of_the_span(values: list[float], strength: float) -> None:
    """With m of 1e21 and 1e12: the error put together along the target's direction is the test error."""
    s = np.linspace(-9.0, 9.0, 181)
    found = learned(readout(values, spike__strength=strength, target__link="tanh"), at=s)
    along, weight = found.along_target, 0.1 * np.exp(-0.5 * s * s) / np.sqrt(2.0 * np.pi)
    error = weight @ ((along.target - along.mean) ** 2 + along.spread**2)
    assert np.abs(found.result.order_parameters["m"]).max() > 1e11
    assert error == pytest.approx(found.result.test_error, rel=1e-8)


def test_loadings_that_are_rounded_themselves_are_refused() -> None:
    """Of values the difference is known to all digits, of loadings in several directions it is that of rounding."""
    spike = {"strength": 1.5, "alignment": [0.6, 0.3], "bulk_variance": 1.2}
    near = readout([1.0, 1.0], spike={**spike, "loadings": [[1.0, 0.5], [1.0, 0.5 + 1e-9]]})
    with pytest.raises(NotConverged, match="of two blocks differ by little"):
        solve(near)
    assert solve(near, dimension=1000).test_error > 0.0


@pytest.mark.parametrize(
    ("frequency", "step", "error"),
    [
        (4.0, (4.0, 1.0), 0.35371554),
        (4.3, (4.0, 1.0), 0.353718002),
        (5.0, (4.0, 1.0), 0.353718308),
        (3.0, (4.0, 3.0), 0.345418722),
        (2.0, (0.5, 2.0), 0.8435852872),
    ],
)
def test_mean_features_that_cancel(frequency: float, step: tuple[float, float], error: float) -> None:
    """exp(-k^2 c/2) sin(k r kappa) is 1e-9 to 1e-30 of sin(k z): the fixed point typed by hand with this mu0."""
    given = Model.from_dict(
        {
            "network": {"activation": f"sin({frequency}*z)", "width": 1.0},
            "target": {"link": "tanh(2*z)"},
            "step": {"samples": step[0], "learning_rate": step[1]},
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    assert solve(given).test_error == pytest.approx(error, abs=6e-9 if frequency == 4.0 else 6e-10)


def test_a_mean_feature_that_rounding_of_the_features_would_hide() -> None:
    """e^-18 sin(6 kappa) of sin(6 z), whose rest is noise: the mean is regressed on, and what it leaves of the label is
    noise that the features fit by the law of Marchenko and Pastur. mu1 is 1e-7, and counts by its square.
    """
    samples, ridge, gamma = 2.0, 0.1, 0.8
    given = Model.from_dict(
        {
            "network": {"activation": "sin(6*z)", "width": 1.0},
            "target": {"link": "tanh(2*z)"},
            "spike": {"strength": 1.0, "alignment": gamma, "bulk_variance": 1.0},
            "fit": {"samples": samples, "ridge": ridge},
        }
    )
    z = np.linspace(-9.0, 9.0, 901)
    weight = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    label = np.tanh(2.0 * (gamma * z[:, None] + np.sqrt(1.0 - gamma**2) * z))
    feature = np.sin(6.0 * z) * np.sqrt(2.0)
    left = weight @ label**2 @ weight - (weight * feature @ label @ weight) ** 2
    one = optimize.brentq(lambda g: g * (ridge + samples * 0.5 / (1.0 + 0.5 * g)) - 1.0, 0.0, 1.0 / ridge)
    trace = 1.0 / (1.0 / one**2 - samples * 0.25 / (1.0 + 0.5 * one) ** 2)  # of (A + ridge)^-2; one: of the inverse
    assert solve(given).test_error == pytest.approx(left * (1.0 + 0.5 * (one - ridge * trace)), rel=1e-9)


def test_mean_features_that_are_nothing_but_rounding_span_what_they_do() -> None:
    """e^-97 sin(9 kappa), and what a value 5e-7 beside adds, kappa cos(9 kappa): of a label that knows nothing of kappa
    they learn nothing, so that the limit is that of features without means, as at any dimension.
    """
    spike = {"strength": 9.0, "alignment": 0.0, "bulk_variance": 194.0}
    given = readout([1.0, 1.0 + 5e-7], spike=spike, network__activation="sin", target__link="softplus")
    span = span_of(problem_of(given))
    assert span is not None and span.rank == 2
    assert solve(given).test_error == pytest.approx(solve(given, dimension=1000).test_error, rel=1e-12)


@pytest.mark.parametrize(("strength", "variance"), [(0.6, 1.6), (2e-5, 20.0)])
def test_a_single_mean_feature_has_its_shape_however_small_it_is(strength: float, variance: float) -> None:
    """e^-20 and e^-250 of sin(5 s kappa); rounding of the features would be 1e-7, or all, of it."""
    spike = {"strength": strength, "alignment": 0.8, "bulk_variance": variance}
    span = span_of(problem_of(model("sin(5*z)", (1.0,), spike=spike)))
    assert span is not None and span.rank == 1
    kappa = np.linspace(-4.0, 4.0, 9)
    found = span.functions(np.full((9, 1), np.nan), kappa[:, None])[:, 0]
    shape = np.sin(5.0 * strength * kappa) / np.sqrt(-0.5 * np.expm1(-50.0 * strength**2))
    np.testing.assert_allclose(found * np.sign(found[-1] * shape[-1]), shape, rtol=1e-12, atol=1e-15)


def test_mean_features_of_many_sizes_span_their_shapes() -> None:
    """Of sin(z + 1.4) beside bulk variances of 1.5, 149 and 167 these are sin(s kappa + 1.4), from e^-1 to e^-83."""
    shifts, variances = np.array([2.2, -0.08, -2.2]), (149.0, 1.5, 167.0)
    spike = {"strength": 1.0, "alignment": 0.5, "bulk_variance": list(variances)}
    span = span_of(problem_of(model("sin", tuple(shifts), spike=spike, network__bias=1.4)))
    assert span is not None and span.rank == 3
    kappa, weight = np.polynomial.hermite_e.hermegauss(80)
    root = np.sqrt(weight / weight.sum())[:, None]
    found = root * span.functions(np.full((80, 3), np.nan), kappa[:, None])
    shapes = root * np.sin(kappa[:, None] * shifts + 1.4)
    np.testing.assert_allclose(found @ (found.T @ shapes), shapes, rtol=0.0, atol=1e-13)


def test_mean_features_that_no_number_of_digits_tells_from_zero_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of e^-250 after one doubling of the bits."""
    monkeypatch.setattr("giantstep.system.exact_means._DOUBLINGS", 2)
    spike = {"strength": 1e-5, "alignment": 0.8, "bulk_variance": 20.0}
    with pytest.raises(NotConverged, match="less than 1e-80, as its activation oscillates"):
        span_of(problem_of(model("sin(5*z)", (1.0,), spike=spike)))


def test_a_mean_feature_whose_shape_is_rounding_is_refused() -> None:
    """Of several directions there are no means of many digits."""
    given = Model.from_dict(
        {
            "network": {
                "activation": "sin(6*z)",
                "width": 1.0,
                "readout": {"values": [1.0, 1.0], "fractions": [0.5, 0.5]},
            },
            "target": {"link": "tanh(2*z)"},
            "spike": {
                "strength": 1.0,
                "alignment": [0.8, 0.0],
                "bulk_variance": 1.0,
                "loadings": [[1.0, 0.0], [0.0, 1.0]],
            },
            "fit": {"samples": 2.0, "ridge": 0.1},
        }
    )
    with pytest.raises(NotConverged, match="oscillate"):
        solve(given)
    constant = given.replace({"spike": None, "network.bias": 0.3})
    assert solve(constant).residual < 1e-10


def test_constant_means_are_one_function() -> None:
    """An even activation has no spike after a step: means of blocks of any variance are multiples of one. Many digits,
    which averages of this one are not known to at the variance 158, were to tell these apart.
    """
    given = Model.from_dict(
        {
            "network": {
                "activation": "tanh(3*z)*z",
                "width": 0.12,
                "readout": {"values": [0.554, 0.555], "fractions": [0.4, 0.6]},
            },
            "step": {"samples": 0.15, "learning_rate": 1.6},
            "target": {"link": "leaky_relu", "noise": 0.05},
            "fit": {"samples": 1.9, "ridge": 1e-4},
        }
    )
    limit, near = solve(given), solve(given, dimension=10**9)
    assert (limit.test_error, limit.train_error) == pytest.approx((near.test_error, near.train_error), rel=1e-7)
