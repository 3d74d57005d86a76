"""Targets of several indices that jump or have kinks: closed forms, rotated targets of one index, simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from loss_cases import model
from scipy.stats import norm

from derive.labels import index_function
from derive.language.links import link_of
from giantstep.law.directions import mixing
from giantstep.law.moments_given_kappa import moments_given_kappa, square_nodes
from giantstep.law.multi_index_labels import has_kinks, meetings_along, nodes_given_kappa
from giantstep.observe.simulate import simulate
from giantstep.quadrature.kinks import kinks
from giantstep.spec.errors import NotConverged
from giantstep.spec.expressions import jet
from giantstep.spec.model import Model
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.causes import settling_hint
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.discretisation import _resolved, resolved
from giantstep.system.misclassification import bivariate_normal, wrong_sign
from giantstep.system.newton import newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE
from giantstep.system.solve import solve
from giantstep.system.square_start import unknowns_of_square_loss
from giantstep.system.system_of_problem import coupled_at
from giantstep.verify.coupled_system import kernel_checks, solved_again

Array = np.ndarray
GAMMA = np.array([[0.6, 0.5]])
KAPPA = np.linspace(-2.0, 2.0, 5)[:, None]
MEANS = (KAPPA @ GAMMA).T
COVARIANCE = np.eye(2) - GAMMA.T @ GAMMA
DEVIATIONS = np.sqrt(np.diag(COVARIANCE))


def orthants() -> tuple[Array, Array]:
    """(E y, E y^2) of sign(z1 z2) given kappa, by the probability that both are negative."""
    correlation = COVARIANCE[0, 1] / DEVIATIONS.prod()
    h, k = -MEANS / DEVIATIONS[:, None]
    both = bivariate_normal(h, k, np.full_like(h, correlation), np.full_like(h, math.sqrt(1.0 - correlation**2)))
    return 1.0 - 2.0 * norm.cdf(h) - 2.0 * norm.cdf(k) + 4.0 * both, np.ones_like(h)


def greatest() -> tuple[Array, Array]:
    """(E y, E y^2) of max(z1, z2). Source: Clark 1961, Oper. Res. 9, 145."""
    spread = math.sqrt(COVARIANCE[0, 0] + COVARIANCE[1, 1] - 2.0 * COVARIANCE[0, 1])
    a = (MEANS[0] - MEANS[1]) / spread
    first, second = norm.cdf(a), norm.cdf(-a)
    mean = MEANS[0] * first + MEANS[1] * second + spread * norm.pdf(a)
    squares = MEANS**2 + DEVIATIONS[:, None] ** 2
    return mean, squares[0] * first + squares[1] * second + MEANS.sum(axis=0) * spread * norm.pdf(a)


def folded() -> tuple[Array, Array]:
    """(E y, E y^2) of abs(z1) + z2: E |z1| z2 by the regression of z2 on z1."""
    m, s = MEANS[0], DEVIATIONS[0]
    size = s * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * (m / s) ** 2) + m * (1.0 - 2.0 * norm.cdf(-m / s))
    slope = COVARIANCE[0, 1]  # d E|z1|/dm = E sign z1, by Stein
    mixed = MEANS[1] * size + slope * (1.0 - 2.0 * norm.cdf(-m / s))
    return size + MEANS[1], m**2 + s**2 + MEANS[1] ** 2 + COVARIANCE[1, 1] + 2.0 * mixed


@pytest.mark.parametrize(
    ("link", "exact"), [("sign(z1*z2)", orthants), ("max(z1, z2)", greatest), ("abs(z1) + z2", folded)]
)
def test_moments_are_the_closed_forms(link: str, exact: Any) -> None:
    assert has_kinks(link) and not has_kinks("tanh(z1)*z2")
    found = moments_given_kappa(link, GAMMA, KAPPA, 0.0, 0, False)
    mean, square = exact()
    assert found.mean == pytest.approx(mean, abs=1e-10)
    assert found.square == pytest.approx(square, abs=1e-10)


@pytest.mark.parametrize("rough", [False, True])
def test_labels_that_grow_are_known_far_out(rough: bool) -> None:
    """E (|z1| - |z2|)^2 = 2 - 4/pi: where t ended at 7.5, both sets of nodes missed 8e-12 of it."""
    found = moments_given_kappa("abs(z1) - abs(z2)", np.zeros((1, 2)), np.zeros((1, 1)), 0.0, 0, rough)
    assert found.square[0] == pytest.approx(2.0 - 4.0 / math.pi, rel=3e-12)


def test_kinks_that_begin_and_cross() -> None:
    """Outside a circle, where roots end; between two lines, which cross."""
    none = np.zeros((1, 2))
    outside = moments_given_kappa("step(z1**2+z2**2-1)", none, np.zeros((1, 1)), 0.0, 1, False)
    assert outside.mean[0] == pytest.approx(math.exp(-0.5), abs=1e-10)
    crossed = moments_given_kappa("sign(z1+z2)*sign(z1-z2)", none, np.zeros((1, 1)), 0.0, 1, False)
    assert crossed.mean[0] == pytest.approx(0.0, abs=1e-10)
    product = moments_given_kappa("sign(z1*z2-0.3*z2+z1-0.3)", none, np.zeros((1, 1)), 0.0, 1, False)
    first = 2.0 * norm.pdf(0.3) * (norm.cdf(1.0) - norm.cdf(-1.0))  # of (z1 - 0.3)(z2 + 1), which is not told
    assert product.linear[0, 0] == pytest.approx(first, abs=1e-10)
    wedge = moments_given_kappa("step(z1)*step(z1-z2)", none, np.zeros((1, 1)), 0.0, 1, False)
    assert wedge.mean[0] == pytest.approx(3.0 / 8.0, abs=1e-10)  # an angle of 135 degrees


def test_kinks_of_what_is_flat_near_zero() -> None:
    """tanh(9 (z1 - 4)) is -1 to the last digit at nearly all likely places: it was taken for a constant."""
    gamma, kappa, place = np.array([[0.7, 0.4]]), np.array([[0.5], [2.0]]), 4.0 - math.atanh(0.5) / 9.0
    links = "sign(tanh(9*(z1-4)) + 0.5)*z2", f"sign(z1 - {place!r})*z2"
    flat, plain = (moments_given_kappa(link, gamma, kappa, 0.0, 1, False) for link in links)
    assert flat.mean == pytest.approx(plain.mean, abs=1e-12)


def test_three_indices() -> None:
    """E[sign(z1 z2) z3 t] with nothing known of them: all vanish but the square."""
    found = moments_given_kappa("sign(z1*z2)*z3", np.zeros((1, 3)), np.zeros((1, 1)), 0.0, 0, False)
    assert found.square[0] == pytest.approx(1.0, abs=1e-10)
    assert np.max(np.abs(found.linear)) < 1e-10


def test_three_indices_that_jump() -> None:
    """E[sign(z1 z2 z3) kappa^3] = 6 gamma_1 gamma_2 gamma_3 E|z|^3, and more moments of what is known given kappa."""
    gamma, (kappa, weight) = np.array([[0.4, -0.3, 0.2]]), np.polynomial.hermite_e.hermegauss(20)
    found = moments_given_kappa("sign(z1*z2*z3)", gamma, kappa[:10, None], 0.0, 0, False)
    weight = 2.0 * weight[:10] / weight.sum()  # of an odd label
    assert weight @ found.square == pytest.approx(1.0, abs=1e-12)
    size = math.sqrt(2.0 / math.pi)  # E |z|
    assert (weight * kappa[:10] ** 3) @ found.mean == pytest.approx(6.0 * gamma.prod() * size**3, rel=1e-9)
    along = mixing(gamma) @ ((weight * kappa[:10] ** 2) @ found.linear)  # E[y kappa^2 L t], by z = gamma kappa + L t
    expected = 2.0 * gamma.prod() / gamma[0] * size**3 - 6.0 * gamma.prod() * size**3 * gamma[0]
    assert along == pytest.approx(expected, rel=1e-9)


def test_odd_labels_of_several_indices_are_known_on_half_of_the_nodes() -> None:
    """Where outputs are odd too, as those of tanh and not those of relu."""
    changes = {"spike__alignment": [0.6, 0.5], "target__link": "sign(z1)*abs(z2)"}
    odd, all_nodes = (
        resolved(problem_of(model("absolute", network__activation=name, **changes)), FINE[0]).table[:, :2].T
        for name in ("tanh", "relu")
    )
    assert odd[0].min() > 0.0 > all_nodes[0].min()
    assert odd[1].sum() == pytest.approx(1.0, abs=1e-11)


def test_signs_are_judged_at_as_many_kappa_at_a_time_as_nodes_of_the_label_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Panels about the turns of an output have hundreds of nodes of kappa, and each of them many of the label."""
    problem = problem_of(model("logistic", target__link="sign(z1*z2)", spike__alignment=[0.5, 0.4]))
    system = coupled_at(problem, FINE[0])
    assert system.fields(unknowns_of_square_loss(problem, system))
    kappa, weight = np.linspace(-2.0, 2.0, 20), np.full(20, 0.05)
    (whole,) = system._in_parts(kappa, weight)
    monkeypatch.setattr("giantstep.system.judged_signs._LABELS", 3 * system.clean_nodes.weight.shape[1])
    parts = list(system._in_parts(kappa, weight))
    assert [len(part.kappa) for part in parts] == [3] * 6 + [2]
    wrong = np.concatenate([wrong_sign(part.output()) for part in parts])
    assert wrong == pytest.approx(wrong_sign(whole.output()), rel=1e-14)


def test_nodes_of_the_square_loss_have_the_moments() -> None:
    moments = moments_given_kappa("max(z1, z2)", GAMMA, KAPPA, 0.3, 0, False)
    weight, label, t = square_nodes(moments, 0.2)
    assert (weight * label).sum(axis=1) == pytest.approx(0.6 * moments.mean)
    assert np.einsum("nj,nj,njd->nd", weight, label, t) == pytest.approx(0.6 * moments.linear)
    assert (weight * label**2).sum(axis=1) == pytest.approx(moments.square)
    second = np.einsum("nj,njd,nje->nde", weight, t, t)
    assert second == pytest.approx(np.broadcast_to(np.eye(2), second.shape), abs=1e-14)


ROTATED = [
    ("logistic", "sign(z1 + z2)", "sign(z)", {}),
    pytest.param("hinge", "sign(z1 + z2)", "sign(z)", {"target__flips": 0.1}, marks=pytest.mark.slow),
    pytest.param(
        "hinge",
        "sign(z1 + z2)",
        "sign(z)",
        {"fit__ridge": 300.0, "network__activation": "gelu"},
        marks=pytest.mark.slow,
    ),
    ("square", "sign(z1 + z2)", "sign(z)", {"target__flips": 0.1, "target__probit": 0.4}),
    ("square", "abs(z1 + z2)", "abs(sqrt(2)*z)", {"target__noise": 0.1}),
    ("square", "tanh(z1 + z2)", "tanh(sqrt(2)*z)", {"target__probit": 0.3}),
    ("absolute", "relu(z1 + z2)", "relu(sqrt(2)*z)", {"target__noise": 0.2}),
    ("logistic", "sign(z1 + z2)", "sign(z)", {"target__probit": 0.4, "target__flips": 0.1}),
    ("huber", "relu(z1 + z2)", "relu(sqrt(2)*z)", {"target__probit": 0.3, "target__noise": 0.2}),
    ("log_cosh", "tanh(z1 + z2)", "tanh(sqrt(2)*z)", {"target__probit": 0.3, "target__noise": 0.1}),
]


@pytest.mark.usefixtures("in_letters")
@pytest.mark.parametrize(("loss", "link", "single", "changes"), ROTATED)
def test_one_index_in_other_coordinates(loss: str, link: str, single: str, changes: dict[str, Any]) -> None:
    """z1 + z2 is sqrt(2) times one index: the other way goes by intervals, or by the nodes of one index."""
    several = solve(model(loss, target__link=link, spike__alignment=[0.6, 0.5], **changes))
    one = solve(model(loss, target__link=single, spike__alignment=1.1 / math.sqrt(2.0), **changes))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(several, name) == pytest.approx(getattr(one, name), rel=2e-10)
    assert several.order_parameters["Q1"] == pytest.approx(one.order_parameters["Q1"], rel=1e-8)


@pytest.mark.parametrize("link", ["tanh(z1) + z1*z2", "abs(z1) + z2"])
def test_square_loss_on_all_nodes(link: str) -> None:
    """The nodes that only have the moments give the solution of the whole law."""
    found = model("square", target__link=link, target__noise=0.1, spike__alignment=[0.6, 0.5])
    result, problem = solve(found), problem_of(found)
    laws = _resolved(AveragedTerms.of(problem), False, "residual", False, FINE[1])
    system = CoupledSystem(problem, FINE[1], laws)
    outcome = newton(system, system.unknowns(order_of(system.problem, result)))
    assert outcome.converged
    assert system.test_error(outcome.x) == pytest.approx(result.test_error, rel=1e-9)


def test_refusals_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    unsettled = problem_of(model("absolute", target__link="abs(z1) + z2", spike__alignment=[0.6, 0.5]))
    assert "target.noise, which blurs the kinks that the label has" in settling_hint(unsettled)
    for noise in (0.0, 0.1):
        steep = model("huber", target__link="tanh(3*z1)*z2", target__noise=noise, spike__alignment=[0.6, 0.5])
        assert "or take a link that varies less, which need fewer nodes" in settling_hint(problem_of(steep))
    peaked = model("huber", target__link="z1*z2", spike__alignment=[0.6, 0.5], fit__ridge=1e-9, fit__samples=1.2)
    assert "move away from fit.samples" in settling_hint(problem_of(peaked))
    assert "target.noise" not in settling_hint(problem_of(model("logistic", target__link="sign")))
    noisy = problem_of(model("abs(y-2*f)", target__link="tanh", target__noise=0.1))
    assert "set target.noise to 0" in settling_hint(noisy) and "ridge" not in settling_hint(noisy)
    monkeypatch.setattr("giantstep.system.solve.compile_first", lambda _: None)  # refused before a kernel is called
    monkeypatch.setattr("giantstep.quadrature.cubature._MOST", 100_000)
    with pytest.raises(NotConverged, match="evaluations"):
        solve(model("logistic", target__link="sign(z1*z2*z3 + z1**2)", spike__alignment=[0.5, 0.3, 0.2]))


@pytest.mark.parametrize("link", ["sign(z1*z2) + z1", "tanh(z1)*z2"])
def test_verify_looks_at_the_law(link: str) -> None:
    found = model("huber", target__link=link, target__noise=0.1, target__probit=0.1, spike__alignment=[0.6, 0.5])
    result = solve(found)
    rows = list(kernel_checks(found, solved_again(found, result)))
    words = "law of the label" if "sign" in link else "averages over the output"
    assert any(words in row.name for row in rows) and all(row.ok for row in rows), [row.line() for row in rows]


def gaps(found: Model, dimension: int, seeds: int, what: str = "srf") -> tuple[Array, Array]:
    """Test and training errors of a simulation less those of the theory, and the standard errors."""
    simulated = simulate(found, dimension=dimension, seeds=seeds, what=what)
    theory = solve(simulated.model, dimension=dimension)
    names = ("test_error", "train_error")
    gap = [float(simulated.mean(name).item()) - getattr(theory, name) for name in names]
    return np.array(gap), np.array([float(simulated.standard_error(name).item()) for name in names])


def worst(gap: Array, error: Array) -> float:
    """The largest difference in standard errors."""
    return float(np.max(np.abs(gap / error)))


LEARNT = {"network__activation": "relu", "spike__alignment": [0.6, 0.5]}


def test_simulation() -> None:
    found = model("square", target__link="sign(z1*z2) + z1", target__noise=0.1, **LEARNT)
    assert worst(*gaps(found, 300, 12)) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "link", "changes"),
    [
        ("square", "sign(z1*z2)", {"target__flips": 0.1, "target__probit": 0.3}),
        ("square", "max(z1, z2)", {}),
        ("logistic", "sign(z1*z2 + z1)", {}),
        ("hinge", "sign(z1 + relu(z2))", {"target__flips": 0.05}),
        ("huber", "abs(z1) + z2", {"target__noise": 0.1}),
    ],
)
def test_simulation_at_400(loss: str, link: str, changes: dict[str, Any]) -> None:
    assert worst(*gaps(model(loss, target__link=link, **LEARNT, **changes), 400, 16)) < 4.0


@pytest.mark.usefixtures("in_letters")
@pytest.mark.parametrize("overlaps", [(0.6, 0.8), (0.6 * 0.9999, 0.8 * 0.9999), (0.6, 0.79), (0.7, 0.7)])
def test_labels_that_kappa_nearly_tells(overlaps: tuple[float, float]) -> None:
    """Given kappa next to nothing of theta is left but along one direction: the mean label turns fast. Both promise
    1e-10.
    """
    given = model("square", target__link="sign(z1 + z2 - 0.5)", spike__alignment=list(overlaps))
    alignment = sum(overlaps) / math.sqrt(2.0)
    single = given.replace({"target.link": "sign(sqrt(2)*z - 0.5)", "spike.alignment": alignment})
    assert solve(given).test_error == pytest.approx(solve(single).test_error, rel=2e-10)


def test_labels_whose_jumps_meet_as_kappa_passes() -> None:
    """kappa = .6 z1 + .8 z2 and the label sign(z1) sign(z2 + 1), whose two jumps meet at kappa = -.8: E[y kappa^2]
    is .96 E|z1| E[z2 sign(z2 + 1)].
    """
    given = model("square", target__link="sign(z1*z2 + z1)", spike__alignment=[0.6, 0.8])
    ((place, width),) = meetings_along("sign(z1*z2 + z1)", np.array([0.6, 0.8]), 0.0)
    assert (place, width) == pytest.approx((-0.8, 0.0))
    rows = resolved(problem_of(given), FINE[1]).table
    kappa, weight, mean = rows[:, 0], rows[:, 1], rows[:, 2]
    exact = 0.96 * math.sqrt(2.0 / math.pi) * 2.0 * norm.pdf(1.0)
    assert weight @ (mean * kappa**2) == pytest.approx(exact, rel=1e-9)
    assert solve(given).quadrature_error < 1e-10


def test_kinks_of_differences_of_kinks() -> None:
    """|z1| - |z2| vanishes on two lines; both, and those of the absolute values themselves, are told."""
    lines = list(kinks(link_of("relu(abs(z1) - abs(z2))").node))
    places = {"z1": np.array([0.7, 0.7, 0.0, 0.7]), "z2": np.array([0.7, -0.7, 0.3, 0.0])}
    zeros = np.array([np.abs(jet(line, "z1", places, 0)[0]) < 1e-15 for line in lines])
    assert zeros.sum(axis=0).tolist() == [1, 1, 1, 1] and len(lines) == 4
    given = model("square", target__link="relu(abs(z1) - abs(z2))", spike__alignment=[0.3, 0.5])
    assert solve(given).quadrature_error < 1e-10


def test_outputs_of_zero_are_wrong_by_half() -> None:
    """Of 60 relus with a strong spike none is active on some inputs: counted as right, their signs would lower the
    test error by .02, which is 20 standard errors.
    """
    found = model("logistic", target__link="sign(z1*z2)", **LEARNT)
    assert worst(*gaps(found, 50, 150)) < 4.0


def test_signs_of_products_are_taken_apart() -> None:
    """So that quadrature of the derivation meets the jump of each factor."""
    z1, z2 = index_function("z1 + z2").variables
    assert index_function("sign(z1*z2 + z1)").expr == sympy.sign(z1) * sympy.sign(z2 + 1)
    assert index_function("abs(2*z1 - 2*z1*z2)").expr == 2 * sympy.Abs(z1) * sympy.Abs(z2 - 1)


@pytest.mark.parametrize("link", ["sign(z1*z2)", "sign(abs(z1) - abs(z2))", "max(z1, z2)"])
def test_what_leads_to_a_solution_takes_few_nodes(link: str) -> None:
    given = link, GAMMA, mixing(GAMMA), KAPPA
    (few, places), (all_of_them, _) = (nodes_given_kappa(*given, finer, False) for finer in (-1, 0))
    assert few.shape[1] < 0.4 * all_of_them.shape[1]
    moments = few.sum(axis=1), np.einsum("nj,njd,nje->nde", few, places, places)
    assert moments[0] == pytest.approx(1.0, abs=1e-5) and np.abs(moments[1] - np.eye(2)).max() < 1e-4


def _chance_on_a_curve(kappa: float) -> float:
    """The probability of z1 + z2^2 > 1/2, along z2."""
    z2, weight = _even_nodes(-10.0, 10.0)
    apart, mean = z2 - GAMMA[0, 1] * kappa, GAMMA[0, 0] * kappa
    mean = mean + COVARIANCE[0, 1] / COVARIANCE[1, 1] * apart
    spread = math.sqrt(COVARIANCE[0, 0] - COVARIANCE[0, 1] ** 2 / COVARIANCE[1, 1])
    return float(weight * norm.pdf(apart, 0.0, DEVIATIONS[1]) @ norm.sf((0.5 - z2**2 - mean) / spread))


def _chance_in_a_sector(kappa: float) -> float:
    """The probability of 0 < |z2| < 2 z1, along z1."""
    z1, weight = _even_nodes(0.0, 10.0)
    apart = z1 - GAMMA[0, 0] * kappa
    mean = GAMMA[0, 1] * kappa + COVARIANCE[0, 1] / COVARIANCE[0, 0] * apart
    spread = math.sqrt(COVARIANCE[1, 1] - COVARIANCE[0, 1] ** 2 / COVARIANCE[0, 0])
    inside = norm.cdf((2.0 * z1 - mean) / spread) - norm.cdf((-2.0 * z1 - mean) / spread)
    return float(weight * norm.pdf(apart, 0.0, DEVIATIONS[0]) @ inside)


def _even_nodes(low: float, high: float) -> tuple[Array, Array]:
    """Nodes and weights of Gauss rules on short panels."""
    points, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(low, high, 81)
    half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * points).ravel(), (half * weights).ravel()


@pytest.mark.parametrize(
    ("link", "chance", "most"),
    [
        ("sign(z1 + z2**2 - 0.5)", _chance_on_a_curve, 10_000),  # was known to 4e-5 from twice the nodes
        ("sign(abs(z1) - abs(z2) + z1)", _chance_in_a_sector, 25_000),  # -z1 - z2 + z1 and z2 vanish together
    ],
)
def test_jumps_on_a_curve_and_jumps_that_coincide(link: str, chance: Callable[[float], float], most: int) -> None:
    lower = np.linalg.cholesky(COVARIANCE)
    weight, t = nodes_given_kappa(link, GAMMA, lower, KAPPA, 2, False)
    z = (KAPPA @ GAMMA)[:, None] + t @ lower.T
    y = jet(link_of(link).node, "z1", {"z1": z[..., 0], "z2": z[..., 1]}, 0)[0]
    exact = [2.0 * chance(float(kappa)) - 1.0 for kappa in KAPPA[:, 0]]
    np.testing.assert_allclose((weight * y).sum(axis=1), exact, rtol=0.0, atol=1e-10)
    assert np.count_nonzero(weight, axis=1).max() < most


@pytest.mark.parametrize("link", ["sign(sin(2*z1) + z2)", "sign(z1 + z2**2 - 1)"])
def test_fewer_nodes_tell_the_error_of_jumps_on_a_curve(link: str) -> None:
    """Both had as many across the curve: losses of the margin were off by 1e-4, with errors of 1e-12 beside them."""
    lower = np.linalg.cholesky(COVARIANCE)

    def means(finer: int, rough: bool) -> Array:
        weight, t = nodes_given_kappa(link, GAMMA, lower, KAPPA, finer, rough)
        z = (KAPPA @ GAMMA)[:, None] + t @ lower.T
        y = jet(link_of(link).node, "z1", {"z1": z[..., 0], "z2": z[..., 1]}, 0)[0]
        return np.asarray((weight * y).sum(axis=1))

    exact = means(3, False)
    for finer in (0, 1):
        fine, rough = means(finer, False), means(finer, True)
        error = np.max(np.abs(fine - exact))
        assert 1e-10 < error < np.max(np.abs(fine - rough))
