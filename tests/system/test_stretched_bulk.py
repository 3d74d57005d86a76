"""The trained bulk: rows that the step multiplies by a matrix, one for each readout value, and adds noise to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from generated.runtime.unknowns import FAMILY
from giantstep.law.residual import residual_law
from giantstep.law.residual_nodes import residual_nodes
from giantstep.quadrature.gauss import normal_nodes
from giantstep.spec.errors import NotConverged
from giantstep.spec.link import link_values
from giantstep.spec.model import Target
from giantstep.system.added_samples import ADDED, ADJOINT
from giantstep.system.bulk_system import rows_of_blocks
from giantstep.system.first_solution import PATH
from giantstep.system.newton import IN_TURN, continued, newton
from giantstep.system.problem import problem_of
from giantstep.system.reduced_order import order_of
from giantstep.system.resolution import FINE
from giantstep.system.square_start import unknowns_of_square_loss
from giantstep.system.stretched_system import StretchedSystem
from giantstep.system.system_of_problem import coupled_at
from giantstep.verify.trained_bulk import stretched_checks

Array = np.ndarray
ONE = ("relu", (1.0,), "relu")
TWO = ("relu", (1.0, -0.5), "relu")
SECOND = ("gelu", (1.0, 0.3), "tanh(2*z)+He(2,z)/2")
# norms that go with the rows, and rows that Gaussian initial norms spread along the spike
CHANGES = {"network.bias": -0.7, "network.initialisation": "gaussian", "step.learning_rate": 3.0}
BIASED = ("relu", (1.0, 0.4), "tanh(2*z)+He(2,z)/2", CHANGES)
INDICES = ("relu", (1.0, 0.4), "tanh(z1) + z1*z2", CHANGES)


def model(activation: str, values: tuple[float, ...], link: str, **changes: Any) -> gs.Model:
    readout = {"values": list(values), "fractions": [1.0 / len(values)] * len(values)}
    tables = {
        "network": {"activation": activation, "width": 0.8, "readout": readout},
        "step": {"samples": 3.0, "learning_rate": 1.5, "bulk": "trained"},
        "target": {"link": link},
        "fit": {"samples": 2.0, "ridge": 0.05},
    }
    return gs.Model.from_dict(tables).replace(changes)


def stretched(problem_model: gs.Model) -> tuple[StretchedSystem, dict[str, float]]:
    """The system of trained rows at its solution."""
    system = StretchedSystem(problem_of(problem_model), FINE[-1])
    start = gs.solve(problem_model.replace({"step.bulk": "isotropic"}))
    outcome = newton(system, system.unknowns(order_of(system.problem, start)))
    assert outcome.converged and system.certificate(outcome.x) < 1e-13
    test, train, energy = system.answer()
    return system, {"test_error": test, "train_error": train, "free_energy": energy}


# values, then test error, training error and free energy by the spectrum of one covariance on a contour around it:
# another form of the same law, whose equations are no longer here
BIASED_GAUSSIAN = {"network.bias": -0.7, "network.initialisation": "gaussian"}
BY_SPECTRUM: list[tuple[tuple[Any, ...], dict[str, Any], tuple[float, ...]]] = [
    (("tanh", (1.0, -0.6), "tanh(3*z)"), {}, (0.2637126123482, 0.1077074081183, 0.1230833320133)),
    (
        ("tanh", (1.0, -0.6), "tanh(3*z)"),
        {"network.initialisation": "gaussian"},
        (0.2637120028501, 0.107706997011, 0.1230829877585),
    ),
    (("gelu", (1.0,), "z + He(2,z)/2"), {}, (0.8978902083983, 0.3686369705396, 0.4171558072317)),
    (("gelu", (1.0,), "z + He(2,z)/2"), BIASED_GAUSSIAN, (1.055133253408, 0.4109088572584, 0.4663681052056)),
    (("relu", (1.0,), "relu"), {}, (0.1543441936578, 0.05478712191766, 0.06191609271778)),
    (("relu", (1.0,), "relu"), BIASED_GAUSSIAN, (0.2354820772532, 0.08994740289754, 0.1017185575468)),
]


@pytest.mark.parametrize("case", [TWO, SECOND])
def test_responses_begin_where_those_of_the_square_loss_are(case: tuple[Any, ...]) -> None:
    """T and V1 of trained rows, found without the rest: those of the solution; those of isotropic rows are not."""
    system, _ = stretched(model(*case))
    order = system.order_parameters()
    solution = order["V2"], order["V1"]
    x = unknowns_of_square_loss(system.problem, system)
    for start, near in ((x, False), (system.of_rows(x, 1.0), True)):
        system.fields(start)
        found = system.order_parameters()
        for name, of in zip(("V2", "V1"), solution, strict=True):
            assert (np.max(np.abs(found[name] - of)) < 1e-6 * np.max(of)) == near  # the square of the last step


@pytest.mark.parametrize(("case", "changes", "by_spectrum"), BY_SPECTRUM)
def test_rows_of_one_spectrum(case: tuple[Any, ...], changes: dict[str, Any], by_spectrum: tuple[float, ...]) -> None:
    """An odd activation, or one readout value; norms that go with the rows among them: to a tenth of the tolerance, as
    a shorter step of Newton's method is not made.
    """
    system, found = stretched(model(*case, **changes))
    assert system.numbers["of_block"].any() == bool(changes)  # initial norms that vary
    assert tuple(found.values()) == pytest.approx(by_spectrum, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("values", [(1.0, 1.0), (0.7, 0.7, 0.7)])
def test_equal_readout_values_are_one(values: tuple[float, ...]) -> None:
    """Without merging them: V1_hat is singular, and nothing needs its inverse."""
    _, found = stretched(model("relu", values, "tanh(2*z) + He(2,z)/4"))
    one = gs.solve(model("relu", values[:1], "tanh(2*z) + He(2,z)/4"))
    for name, value in found.items():
        assert value == pytest.approx(getattr(one, name), rel=1e-10), name


def test_numbers_of_another_way_to_the_same_law() -> None:
    """Damped iteration of the equations in another form, complex steps for the derivatives: to the digits printed."""
    found = gs.solve(model(*SECOND))
    assert (found.test_error, found.train_error) == pytest.approx((0.65428, 0.28978), abs=5e-6)
    found = gs.solve(model(*TWO))
    assert (found.test_error, found.train_error) == pytest.approx((0.1800, 0.0723), abs=1e-4)


@pytest.mark.parametrize("case", [TWO, SECOND, ("silu", (1.0, -1.0, 0.4), "sign"), BIASED, INDICES])
def test_responses_to_one_batch(case: tuple[Any, ...]) -> None:
    """Overlaps and trace: large matrices of one sampled batch; with twice the stretch it is another law."""
    system, _ = stretched(model(*case[:3], **dict(*case[3:])))
    assert all(check.ok for check in stretched_checks(system)), [check.line() for check in stretched_checks(system)]
    places, blocks = system.numbers, len(case[1])
    for b in range(blocks):
        places["sample"][b, blocks + b] *= 2.0
        places["sample"][blocks + b, b] *= 2.0
    assert system.follow()
    assert not all(check.ok for check in stretched_checks(system))


def test_parts_by_linear_algebra_are_those_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """X, its adjoint and what follows, where one of the stages has a part that is left to linear algebra."""
    system, _ = stretched(model(*SECOND))
    added, x = system.added, system.x
    names = ADDED, ADJOINT, f"residual_{ADJOINT}", "residual_zeta"
    assert added.small
    for start in (0.0, system.numbers[ADDED].copy()):
        told = []
        for small in (True, False):
            monkeypatch.setattr(added, "small", small)
            added.forgets()
            system.numbers[ADDED] = start
            system.residual(x)
            told.append({name: system.numbers[name].copy() for name in names})
        for name in names:
            np.testing.assert_allclose(told[0][name], told[1][name], rtol=0.0, atol=1e-13, err_msg=name)


def relative(found: Array, wanted: Array) -> float:
    return float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted)))


@pytest.mark.parametrize("case", [TWO, INDICES])
def test_the_jacobian_and_the_adjoint_of_x(case: tuple[Any, ...]) -> None:
    """Along every unknown, X and its adjoint following, beside the solution: fourth-order differences of the residual.

    Most of it follows from other parts by symmetry.
    """
    system, _ = stretched(model(*case[:3], **{"target.noise": 0.1}))
    x = system.work[system.first].copy()
    x *= 1.0 + 0.05 * np.random.default_rng(0).standard_normal(len(x))
    system.residual(x)
    matrix, scale, step = system.jacobian().copy(), system.scale(x), 1e-3
    for j in range(len(x)):
        ends = [system.residual(x + k * step * scale * (np.arange(len(x)) == j)).copy() for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step * scale[j])
        assert relative(slope, matrix[:, j]) < 1e-7, j


def test_the_matrix_of_a_step_leaves_out_what_no_step_feels() -> None:
    """Where T and V1 are solved for and follow from nothing else: what others do along them, and Q1 and Q2 along
    others, which two steps find; nothing elsewhere.
    """
    system, _ = stretched(model(*TWO))
    x, names = system.work[system.first].copy(), system.equations.UNKNOWNS
    family = [names[number] for number in system.members[FAMILY]]
    responses = np.isin(family, ("T", "V1"))
    turn = np.where(responses, 0, 1) + np.isin(family, ("adjoint", "Q1"))
    without = np.greater.outer(turn, turn)
    far = np.where(responses, 1.0, 1.05) * x
    left = system.residual(far).copy()
    whole, found = system.jacobian(), system.matrix_of_step()
    assert np.max(np.abs(whole - found)[without]) > 1e-3
    assert relative(found[~without], whole[~without]) < 1e-12
    near = far - np.linalg.solve(found, left)
    assert relative(near, x) > 1e-3
    assert relative(near - np.linalg.solve(found, system.residual(near)), x) < 1e-10
    assert system.again == IN_TURN
    system.residual(np.where(responses, 1.0 + 1e-5, 1.0) * x)
    assert np.array_equal(system.matrix_of_step(), system.jacobian())
    assert system.again < IN_TURN
    hard = coupled_at(problem_of(model("tanh", TWO[1], "sign", **{"fit.loss": "logistic"})), FINE[0])
    hard.residual(x)  # h follows from the outputs
    assert np.array_equal(hard.matrix_of_step(), hard.jacobian())


def test_x_is_found_from_anywhere() -> None:
    """From the solution of another model, and from what is no solution at all: the same X."""
    system, _ = stretched(model(*SECOND))
    x, wanted = system.work[system.first].copy(), system.numbers[ADDED].copy()
    for start in (-3.0 * wanted, wanted + 0.3, 0.0 * wanted, 10.0 * wanted):
        system.numbers[ADDED] = start
        assert np.all(np.isfinite(system.residual(x)))
        assert relative(system.numbers[ADDED], wanted) < 1e-12


def test_what_neighbours_share() -> None:
    """X, where there are as many blocks; arrays that do not know the fit, which nobody writes to."""
    system, _ = stretched(model(*SECOND))
    near, other = (coupled_at(problem_of(model(*case, **{"fit.samples": 2.01})), FINE[0]) for case in (SECOND, ONE))
    for neighbour in (near, other):
        neighbour.takes(system)
        assert isinstance(neighbour, StretchedSystem)
    assert np.array_equal(near.numbers[ADDED], system.numbers[ADDED])
    assert not other.numbers[ADDED].any()
    arrays, same = (rows_of_blocks(each.problem).samples(44) for each in (system, near))
    assert same is arrays and not any(values.flags.writeable for values in arrays.values())
    moved = rows_of_blocks(problem_of(model(*SECOND, **{"step.learning_rate": 1.51}))).samples(44)
    assert not np.array_equal(moved["sample"], arrays["sample"])


def function(e: Array) -> Array:
    """With poles near the axis."""
    return np.asarray(e**2 / (1.0 + 0.3 * e + 0.2 * e**2))


@pytest.mark.parametrize("link, count", [("relu", 44), ("sign", 44), ("exp(z)", 70), ("He(2,z) + z", 90)])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_few_nodes_of_the_residual(link: str, count: int, noise: float) -> None:
    """Averages of a function with poles near the axis: many nodes, and the few that the equations are given."""
    clean, few = residual_law(Target(link), 0.2, 2), residual_nodes(Target(link, noise=noise), 0.2, count)
    assert len(few.e) <= count
    points, weights = np.polynomial.hermite_e.hermegauss(80 if noise > 0.0 else 1)
    e = np.add.outer(clean.e, math.sqrt(noise) * points)

    for one, many in zip(few.rows, clean.rows, strict=True):
        exact = many @ function(e) @ weights / weights.sum()
        assert one @ function(few.e) == pytest.approx(exact, rel=1e-9)
    if link == "sign" and noise == 0.0:
        assert len(few.e) == 2


@pytest.mark.parametrize("link", ["sign(z1)+z2", "z1+abs(z2)"])
def test_kinks_beside_an_index_without(link: str) -> None:
    """The law settles, and its averages are those of panels in both indices that end at the kink: to 1e-9."""
    few = residual_nodes(Target(link), 0.2, 90)
    t, weight = normal_nodes(np.linspace(-9.0, 9.0, 61), 12)
    z = np.meshgrid(t, t, indexing="ij")
    values = np.outer(weight, weight) * function(link_values(link)(np.stack(z)) - 0.2)
    exact = [values.sum()] + [(values * one).sum() for one in (*z, *(one * two for one in z for two in z))]
    assert few.rows @ function(few.e) == pytest.approx(np.array(exact), abs=1e-9)


@pytest.mark.usefixtures("in_letters")
@pytest.mark.parametrize(
    ("case", "changes"),
    [
        (("relu", (1.0, 0.4), "tanh(2*{z}) + {z}**2/2"), {**CHANGES, "target.noise": 0.2}),
        (("tanh", (1.0, -0.6), "tanh(3*{z})"), {"network.initialisation": "gaussian"}),
        (("relu", (1.0,), "sign({z})"), {"fit.loss": "logistic", "target.flips": 0.1}),
    ],
)
def test_two_indices_that_count_as_one(case: tuple[str, tuple[float, ...], str], changes: dict[str, Any]) -> None:
    """A link of one direction in the plane of two: the target of one index, whose law is found by another rule."""
    activation, values, link = case
    one, two = (gs.solve(model(activation, values, link.format(z=z), **changes)) for z in ("z", "(0.6*z1+0.8*z2)"))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-9), name


@pytest.mark.usefixtures("in_letters")
def test_two_indices_in_another_basis() -> None:
    """The target is the same function of the same plane; noise inside the link is the same in each basis too."""
    changes = {"target.probit": 0.2, "network.bias": 0.3}
    found = []
    for a, b in (("z1", "z2"), ("(0.6*z1+0.8*z2)", "(0.8*z1-0.6*z2)")):
        found.append(gs.solve(model("gelu", (1.0, -0.5), f"tanh({a}) + {a}*{b}/2", **changes)))
    for name in ("test_error", "train_error", "free_energy"):
        assert getattr(found[0], name) == pytest.approx(getattr(found[1], name), rel=1e-8), name


TWO_INDICES = {"target.link": "z1 + z1*z2"}
GRADIENTS = [
    *((key, {}) for key in ("step.learning_rate", "network.width", "fit.samples")),
    *((key, {**CHANGES, "fit.ridge": 0.2}) for key in ("step.learning_rate", "network.width")),
    ("step.learning_rate", TWO_INDICES),
    pytest.param("network.width", TWO_INDICES, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("key", "changes"), GRADIENTS)
def test_gradient_by_differences(key: str, changes: dict[str, Any]) -> None:
    at = model(*SECOND, **changes)
    table, name = key.split(".")
    value, found = getattr(getattr(at, table), name), gs.gradient(at, key)
    ends = [gs.solve(at.replace({key: value * (1.0 + k * 1e-3)})).test_error for k in (-2, -1, 1, 2)]
    slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * 1e-3 * value)
    assert found.test_error[key] == pytest.approx(slope, rel=1e-7)


def test_matrices_that_are_singular_are_no_solution() -> None:
    """Next to no noise of the rows, and far more samples than neurons: an answer or a refusal, no other error."""
    changes = {"step.learning_rate": 150.0, "network.width": 100.0, "fit.samples": 1e7, "fit.ridge": 1e-3}
    try:
        assert gs.solve(model("z + z**2/4", (1.0,), "z + He(2,z)/2", **changes)).residual < 1e-10
    except gs.NotConverged as error:
        assert "ridge" in error.hint


def test_small_steps_leave_isotropic_rows() -> None:
    small = {"step.learning_rate": 1e-6}
    trained = gs.solve(model(*TWO, **small))
    isotropic = gs.solve(model(*TWO, **small, **{"step.bulk": "isotropic"}))
    assert trained.test_error == pytest.approx(isotropic.test_error, rel=1e-7)
    still = model(*TWO, **{"step.learning_rate": 0.0})
    assert gs.solve(still).test_error == pytest.approx(
        gs.solve(still.replace({"step.bulk": "isotropic"})).test_error, rel=1e-11
    )


def test_a_handful_of_samples() -> None:
    """Where Newton's method does not come from isotropic rows: a share of the samples grows, or they get fewer."""

    def isotropic(given: gs.Model) -> Mapping[str, Array]:
        return order_of(problem_of(given), gs.solve(given.replace({"step.bulk": "isotropic"})))

    few = model("gelu", (1.0,), "z + He(2,z)/2", **{"step.samples": 0.011})
    system = coupled_at(problem_of(few), PATH)
    easier, start = system.easier(), system.unknowns(isotropic(few)).copy()
    assert easier is not None and not newton(system, start, most=25).converged
    assert continued(easier, start, 1e-3, 1.0).converged
    order = isotropic(few.replace({"step.samples": 0.05}))
    for samples in (0.05, 0.03, 0.02, 0.015, 0.011):
        near = coupled_at(problem_of(few.replace({"step.samples": samples})), PATH)
        assert newton(near, near.unknowns(order)).converged
        order = near.order_parameters()
    assert system.answer() == pytest.approx(near.answer(), rel=1e-10)


def test_sharp_links_tend_to_the_step() -> None:
    """What is left is of the order of the width, on either side of it; 3 % are its next order."""
    step, once, twice = (gs.solve(model("gelu", (1.0,), link)) for link in ("sign", "tanh(1000*z)", "tanh(500*z)"))
    ratio = (twice.test_error - step.test_error) / (once.test_error - step.test_error)
    assert ratio == pytest.approx(2.0, rel=0.03)
    assert gs.solve(model("gelu", (1.0,), "tanh(50*z - 20)")).quadrature_error < 1e-10


def test_the_system_of_a_model() -> None:
    assert isinstance(coupled_at(problem_of(model(*TWO)), PATH), StretchedSystem)
    assert isinstance(coupled_at(problem_of(model("tanh", (1.0, -0.6), "tanh")), PATH), StretchedSystem)
    assert isinstance(coupled_at(problem_of(model("tanh", (1.0, -0.6), "sign(z1*z2)")), PATH), StretchedSystem)
    with pytest.raises(NotConverged, match="no edge"):
        gs.spectrum(model("relu", (1.0,), "z1*z2 + z1"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        TWO,
        SECOND,
        BIASED,
        ("relu", (1.0, -0.5, 0.3), "relu"),
        ("softplus", (1.0, -0.8), "tanh(2*z) + He(2,z)/2"),
        ("elu", (1.0, -0.6), "tanh(2*z)+tanh(z)**2"),
        ("gelu", (1.0,), "z1*z2 + z1"),
        ("gelu", (1.0,), "z1 + abs(z2)"),
        ("relu", (1.0, -0.5), "tanh(2*z1)+He(2,z2)/2", {"network.bias": 0.4, "network.initialisation": "gaussian"}),
    ],
)
def test_simulated_networks(case: tuple[Any, ...]) -> None:
    """Errors of networks at d = 1000 within three standard errors; of the first three those of isotropic rows are
    not.
    """
    found = gs.simulate(model(*case[:3], **dict(*case[3:])), what="network", dimension=1000, seeds=24)
    for bulk, far in (("trained", False), ("isotropic", True)):
        theory = gs.solve(found.model.replace({"step.bulk": bulk}), dimension=1000)
        scores = [
            abs(found.mean(error).item() - getattr(theory, error)) / found.standard_error(error).item()
            for error in ("test_error", "train_error")
        ]
        if not far or case in (TWO, SECOND, BIASED):
            assert (max(scores) > 3.0) == far, (bulk, scores)
