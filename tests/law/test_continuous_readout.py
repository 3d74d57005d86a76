"""Readouts with a density: the rule in u, the limit of its vocabularies, and simulated networks."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import roots_hermitenorm

import giantstep as gs
from derive.check import check_derivation
from giantstep.law.readout_law import at_nodes
from giantstep.quadrature.density_rule import Along, along_features, density_rule
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.readout_density import density_of
from giantstep.system import continuous_readout


def model(density: str, activation: str = "tanh") -> gs.Model:
    """The setting of the numbers of docs/theory.md, section 13."""
    return _model(gs.Readout(density=density), activation)


def _model(readout: gs.Readout, activation: str = "tanh") -> gs.Model:
    return gs.Model(
        network=gs.Network(activation, 1.0, readout),
        step=gs.Step(4.0, 1.0),
        target=gs.Target("sign"),
        fit=gs.Fit(2.0, 0.1),
    )


@pytest.mark.parametrize(
    ("text", "exact", "low", "high"),
    [
        ("gaussian", lambda u: mpmath.npdf(u), -mpmath.inf, mpmath.inf),
        ("uniform", lambda u: 1 / (2 * mpmath.sqrt(3)), -mpmath.sqrt(3), mpmath.sqrt(3)),
        ("exp(-abs(u))", lambda u: mpmath.exp(-abs(u)) / 2, -mpmath.inf, mpmath.inf),
        ("step(u)*exp(-u)", lambda u: mpmath.exp(-u), 0, mpmath.inf),
    ],
)
def test_rules_of_a_density_integrate_features(text: str, exact: object, low: object, high: object) -> None:
    """E u, E u^2 and E tanh(u)^2/(1 + u^2/2), with singularities at u = +-1.4 i, by the density's own points and by a
    rule of 40 nodes. A Gauss rule in arsinh(u) converges like exp(-2 n/reach): to 1e-8 here; the points are exact.
    """

    def function(u: object) -> object:
        return mpmath.tanh(u) ** 2 / (1 + u * u / 2)  # type: ignore[operator]

    ends = sorted({low, mpmath.mpf(0), high})  # type: ignore[type-var]
    with mpmath.workdps(25):
        wanted = mpmath.quad(lambda u: exact(u) * function(u), ends)  # type: ignore[operator]
        mean, square = (mpmath.quad(lambda u, k=k: exact(u) * u**k, ends) for k in (1, 2))  # type: ignore[operator]
    density = density_of(text)
    assert density.moment(1) == pytest.approx(float(mean), abs=1e-13)
    assert density.moment(2) == pytest.approx(float(square), rel=1e-12)
    assert density.weight @ (np.tanh(density.u) ** 2 / (1 + density.u**2 / 2)) == pytest.approx(
        float(wanted), rel=1e-12
    )
    u, weights = density_rule(text, 40, Along(0.0, 1.0))
    assert weights @ (np.tanh(u) ** 2 / (1 + u * u / 2)) == pytest.approx(float(wanted), rel=1e-8)
    assert np.all(weights > 0.0)
    if density.symmetric:
        assert np.array_equal(u, -u[::-1])


@pytest.mark.parametrize("end", [-1.0, 0.25, 0.5, 1.0, 1.0 + 1e-7, 1.1, 1.25, 2.0])
@pytest.mark.parametrize("rate", [1.0, 3.0])
def test_a_jump_next_to_the_end_of_a_panel_is_seen(end: float, rate: float) -> None:
    """An exponential law from some place on. Nearer to an end than any point of both halves it changed neither: the
    mean was up to 5e-3 off.
    """
    density = density_of(f"exp(-{rate:g}*u)*step(u-({end!r}))")
    assert density.u.min() > end
    for power, moment in ((1, end + 1.0 / rate), (2, end**2 + 2.0 * end / rate + 2.0 / rate**2)):
        assert density.moment(power) == pytest.approx(moment, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("place", [0.25, 0.5, 1.0, 1.3])
def test_a_kink_next_to_the_end_of_a_panel_is_seen(place: float) -> None:
    density = density_of(f"exp(-abs(u-{place!r}))")
    assert density.moment(1) == pytest.approx(place, abs=1e-13)
    assert density.moment(2) == pytest.approx(place**2 + 2.0, rel=1e-12)


def test_rules_resolve_features_that_turn_close_to_zero() -> None:
    """1/(1 + 17^2 u^2) under a density that vanishes there: panels that resolve this alone left 2e-7."""
    rate, edges = 17.0, [0.0, 0.01, 0.1, 1.0, 8.0]
    feature, whole = (mpmath.quad(f, edges) for f in (lambda u: _of_squares(u) / (1 + (rate * u) ** 2), _of_squares))
    u, weights = density_rule("u**2*exp(-u**2)", 46, Along(0.0, 0.5 / rate))
    assert weights @ (1.0 / (1.0 + (rate * u) ** 2)) == pytest.approx(float(feature / whole), rel=1e-10)


def _of_squares(u: mpmath.mpf) -> mpmath.mpf:
    return u**2 * mpmath.exp(-(u**2))


@pytest.mark.parametrize("scale", [0.25, 1.0])
def test_rules_of_many_nodes_keep_their_weights(scale: float) -> None:
    """Sums of weights and moments of an exponential density with 48 nodes, whose last weights are 1e-24: polynomials of
    high degree fall before they grow at nodes of the bulk, and lost these by up to a third.
    """
    u, weights = density_rule("step(u)*exp(-u)", 48, Along(0.0, scale))
    assert [weights @ u**k for k in (1, 2, 3)] == pytest.approx([1.0, 2.0, 6.0], rel=1e-11)


@pytest.mark.parametrize(("drift", "spread", "strength"), [(-97.0, 593.0, 19.0), (4.0, 0.0, 0.5), (8.0, 1.0, 90.0)])
def test_rules_are_centred_where_neurons_have_the_least_variance(drift: float, spread: float, strength: float) -> None:
    """1/(0.01 + c(u)^2) under a normal density: 106 nodes about zero left 1e-2 of the first. The spike of the last
    turns features next to zero, and the rule stays there.
    """
    along = along_features(density_of("gaussian"), strength, drift, spread)
    assert (along.centre == 0.0) == (strength > abs(drift))
    u, weights = density_rule("gaussian", 140, along)
    assert weights @ u == pytest.approx(0.0, abs=1e-11) and weights @ u**2 == pytest.approx(1.0, rel=1e-11)

    def peak(u: Any) -> Any:
        return 1 / (mpmath.mpf("0.01") + ((1 + drift * u) ** 2 + spread * u * u) ** 2)

    place = -drift / (drift * drift + spread)
    edges = sorted({-9.0, 9.0, place, *(place + side * 3.0**k / 1000 for side in (-1, 1) for k in range(8))})
    wanted = mpmath.quad(lambda u: mpmath.npdf(u) * peak(u), edges)
    if along.centre:
        assert weights @ np.array([float(peak(x)) for x in u]) == pytest.approx(float(wanted), rel=1e-10)


@pytest.mark.parametrize("turns", [60.0, 100.0])
def test_rules_of_many_nodes_know_the_density_between_its_panels(turns: float) -> None:
    """cos(k u) under a uniform density: points that resolved this alone left 2e-8 of the second."""
    u, weights = density_rule("uniform", 186, Along(0.0, 0.25))
    end = turns * math.sqrt(3.0)
    assert weights @ np.cos(turns * u) == pytest.approx(math.sin(end) / end, abs=1e-11)


def test_small_weights_leave_their_squares_to_others() -> None:
    """Fractions are 2e-12 at least; E u^2, which a tail of 1e-12 has 1e-10 of, stays."""
    given = model("exp(-abs(u))")
    for rung in (2, 5):
        readout = at_nodes(given, rung).network.readout
        u, fractions = np.array(readout.values), np.array(readout.fractions)
        assert fractions.min() >= 2e-12
        assert fractions @ u**2 == pytest.approx(2.0, rel=1e-13)
        assert np.array_equal(u, -u[::-1])


def test_the_limit_of_vocabularies() -> None:
    """Gauss vocabularies K = 2, 4, 6, 8 converge geometrically, in the learned function and in the test error: rms of
    E[f|kappa] - E[y|kappa] and errors as computed apart, to their last digit. In the limit both vanish, and so does
    zeta: what is left of the function at the last nodes is the root of what they leave of the error.
    """
    kappa, weight = roots_hermitenorm(60)
    weight = weight / weight.sum()
    rms, errors = [], []
    for count in (2, 4, 6, 8):
        u, fractions = roots_hermitenorm(count)
        found = gs.learned(_model(gs.Readout(tuple(u), tuple(fractions / fractions.sum()))), at=kappa)
        spike = found.along_spikes[0]
        rms.append(math.sqrt(weight @ (spike.mean - spike.target) ** 2))
        errors.append(found.result.test_error)
    assert rms == pytest.approx([0.188, 0.0436, 0.00506, 0.00038], rel=0.02)
    assert errors[-1] == pytest.approx(0.4920636, abs=5e-8)
    limit = gs.learned(model("gaussian"), at=kappa)
    assert limit.result.test_error == pytest.approx(0.4920739, abs=5e-8)
    left = limit.along_spikes[0].mean - limit.along_spikes[0].target
    error = limit.result.quadrature_error * limit.result.test_error
    assert error < 1e-10
    assert math.sqrt(weight @ left**2) < math.sqrt(error)
    assert np.abs(limit.result.order_parameters["zeta"]).max() < math.sqrt(error)


@pytest.mark.parametrize(
    ("density", "activation", "error"),
    [("uniform", "tanh", 0.4912202), ("gaussian", "relu", 0.639243), ("uniform", "relu", 0.640417)],
)
def test_other_limits(density: str, activation: str, error: float) -> None:
    """Computed apart, to their last digit; E[f|kappa] of relu has kappa as its only odd function."""
    assert gs.solve(model(density, activation), tolerance=1e-8).test_error == pytest.approx(error, abs=6e-7)


@pytest.mark.parametrize(
    ("density", "excess"), [("gaussian", (0.0128, 0.0032, 0.00079)), ("uniform", (0.0254, 0.0098, 0.0056))]
)
def test_the_limit_is_approached_slowly(density: str, excess: tuple[float, ...]) -> None:
    limit = gs.solve(model(density)).test_error
    found = [gs.solve(model(density), dimension=d).test_error - limit for d in (10**3, 10**4, 10**5)]
    assert found == pytest.approx(excess, rel=0.02)


@pytest.mark.parametrize("dimension", [None, 1000])
def test_more_nodes_give_the_same(dimension: int | None) -> None:
    """The stated error is an upper bound of what many nodes change; of a weak spike and of a strong one."""
    for rate in (0.1, 3.0):
        given = model("gaussian").replace({"step.learning_rate": rate})
        found = gs.solve(given, dimension=dimension, tolerance=1e-7)
        many = gs.solve(at_nodes(given, 5), dimension=dimension).test_error
        assert abs(found.test_error - many) <= (found.quadrature_error + 1e-12) * many <= 1e-7 * many  # 1e-12: rounding


def test_a_density_concentrated_at_one_value_is_that_value() -> None:
    """Of width 1e-3 around u = 1: the change is of the order of its variance."""
    found = gs.solve(model("exp(-((u-1)/0.001)**2/2)", "tanh"), dimension=1000)
    one = gs.solve(_model(gs.Readout()), dimension=1000)
    assert found.test_error == pytest.approx(one.test_error, abs=1e-5)


def test_result_names_its_nodes() -> None:
    found = gs.solve(model("uniform"), dimension=400).to_dict()
    nodes = found["readout_nodes"]
    assert len(nodes["values"]) == len(nodes["fractions"]) == len(found["order_parameters"]["m"])
    assert math.fsum(nodes["fractions"]) == pytest.approx(1.0, abs=1e-15)
    assert found["model"]["network"]["readout"] == {"density": "uniform"}
    assert gs.Model.from_dict(found["model"]) == model("uniform")
    assert 'density = "uniform"' in model("uniform").to_toml()


def test_the_functional_is_derived_with_averages_over_u() -> None:
    """A part of its own; both of its steps are compared with those of blocks at random points."""
    part = gs.derive(model("gaussian")).parts[-1]
    text = str(part.step("functional of a density").rhs)
    assert "Integral" in text and "sum_" not in text
    errors = [float(step.error) for step in check_derivation(part) if step.outcome == "compared"]
    assert len(errors) == 2 and max(errors) < 1e-45


@pytest.mark.parametrize(
    ("readout", "words"),
    [
        ({"density": "normal"}, "no known density"),
        ({"density": "u"}, "negative at u"),
        ({"density": "1/(1+u**2)"}, "falls off too slowly"),
        ({"density": "exp(u)"}, "falls off too slowly"),
        ({"density": "0*u"}, "vanishes"),
        ({"density": "exp(-z)"}, "unknown name"),
        ({"density": 1.0}, "not allowed"),
        ({"density": "gaussian", "values": [1.0, 2.0], "fractions": [0.5, 0.5]}, "give a density, or values"),
    ],
)
def test_what_is_no_density_is_refused(readout: dict[str, object], words: str) -> None:
    data = model("gaussian").to_dict()
    data["network"]["readout"] = readout
    with pytest.raises(BadInput, match=words):
        gs.Model.from_dict(data)


def test_what_a_density_does_not_go_with() -> None:
    two = model("gaussian").replace({"step": [{"samples": 4.0, "learning_rate": 1.0}] * 2})
    with pytest.raises(BadInput, match="each value moves in a direction of its own"):
        gs.solve(two)
    with pytest.raises(BadInput, match="has no blocks"):
        gs.model(readout=gs.Readout(density="gaussian"), spike=gs.Spike(1.0, 0.5, (1.0, 1.2)))
    with pytest.raises(BadInput, match="bulk variance"):
        gs.model(readout=gs.Readout(density="gaussian"), spike=gs.Spike(1.0, 0.5, 0.9))


def test_what_does_not_settle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuous_readout, "RUNGS", continuous_readout.RUNGS[:2])
    with pytest.raises(NotConverged, match="from 10 to 14 readout values of the density"):
        gs.solve(model("gaussian"))


def _score(density: str, activation: str, what: str, dimension: int, seeds: int) -> list[float]:
    run = gs.simulate(model(density, activation), dimension=dimension, seeds=seeds, what=what, seed=1)
    theory = gs.solve(run.model, dimension=dimension, tolerance=1e-6)
    return [
        float((run.mean(name) - getattr(theory, name)).item() / run.standard_error(name).item())
        for name in ("test_error", "train_error")
    ]


@pytest.mark.parametrize("density", ["gaussian", "uniform"])
@pytest.mark.parametrize("what", ["network", "srf"])
def test_simulated_networks(density: str, what: str) -> None:
    """Values drawn for every neuron, d = 400: within four standard errors of the theory of that dimension."""
    assert np.abs(_score(density, "tanh", what, 400, 8)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "activation"),
    [("gaussian", "tanh"), ("uniform", "tanh"), ("gaussian", "relu"), ("step(u)*exp(-u)", "relu"), ("uniform", "gelu")],
)
@pytest.mark.parametrize("what", ["network", "srf"])
def test_simulated_networks_at_large_dimension(density: str, activation: str, what: str) -> None:
    """The same at d = 1000."""
    assert np.abs(_score(density, activation, what, 1000, 16)).max() < 4.0


def test_gains_of_a_density_in_the_limit() -> None:
    """[MON23]: powers of kappa become features one after the other; the limit does not ask for the law of u."""
    for exponent, order in ((0.2, 1), (0.3, 2)):
        changes = {"step.exponent": exponent, "target.link": "z + He(2,z)/sqrt(2)"}
        of_density = gs.gains(model("gaussian", "relu").replace(changes))
        of_values = gs.gains(_model(gs.Readout([-1.0, 0.5, 1.5], [0.5, 0.25, 0.25]), "relu").replace(changes))
        assert of_density.powers == of_values.powers == tuple(range(order + 1))
        for one, other in ((of_density.train, of_values.train), (of_density.test, of_values.test)):
            assert one == pytest.approx(other, rel=1e-9)


def test_what_does_not_settle_names_the_tolerance_that_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors that change by 3e-8 of themselves from rule to rule."""
    counts: list[int] = []

    def solved(vocabulary: gs.Model, start: object) -> SimpleNamespace:
        counts.append(len(vocabulary.network.readout.values))
        error = 0.5 * (1.0 + 3e-8 * len(counts))
        told = {"test_error": error, "train_error": 1.0, "order_parameters": {"Q2": np.ones(1)}}
        return SimpleNamespace(**told, dimension=None, nodes=100)

    monkeypatch.setattr(continuous_readout, "at_other_nodes", lambda before, vocabulary: before)
    with pytest.raises(NotConverged) as refused:
        continuous_readout.solve_continuous(model("exp(-abs(u))", "gelu"), 1e-10, solved, None)
    assert "tolerance = 1e-7" in refused.value.hint and "a dimension, which may" in refused.value.hint
    assert len(counts) > 2


def test_many_values_settle_features_that_oscillate() -> None:
    """152 and more nodes, where 60 leave 3e-4; against the trapezoid rule in u, which knows nothing of arsinh."""
    given: dict[str, Any] = {
        "network": {"activation": "sin", "width": 0.55, "readout": {"density": "u**2*exp(-u**2)"}},
        "target": {"link": "gelu"},
        "fit": {"samples": 0.05, "ridge": 4e-6},
        "spike": {"strength": 3.9, "alignment": 0.27, "bulk_variance": 1.0},
    }
    found = gs.solve(gs.Model.from_dict(given), dimension=1000)
    u = np.array([side * step * 0.08 for side in (-1, 1) for step in range(1, 66)])
    weight = u**2 * np.exp(-(u**2))
    given["network"]["readout"] = {"values": u.tolist(), "fractions": (weight / weight.sum()).tolist()}
    assert found.test_error == pytest.approx(gs.solve(gs.Model.from_dict(given), dimension=1000).test_error, rel=1e-8)


def test_features_that_turn_beside_zero_settle() -> None:
    """Rows that the step shrinks to c = 0.07 at u = 0.011; against Gauss panels about there. Rules about zero did not
    settle to 1e-3 of the norm of the readout with 186 nodes.
    """
    given: dict[str, Any] = {
        "network": {"activation": "cubic", "width": 0.9, "bias": -1.7, "readout": {"density": "gaussian"}},
        "target": {"link": "abs"},
        "fit": {"samples": 2.6, "ridge": 0.011},
        "step": {"samples": 29.0, "learning_rate": 9.4},
    }
    found = gs.solve(gs.Model.from_dict(given), tolerance=1e-6)
    place = 0.0108 + np.array([side * 0.004 * 2.0**k for side in (-1, 1) for k in range(10)])
    edges = np.sort([-6.0, 0.0108, 6.0, *place])
    x, w = np.polynomial.legendre.leggauss(6)
    u = (0.5 * (edges[1:] + edges[:-1])[:, None] + 0.5 * np.diff(edges)[:, None] * x).ravel()
    weight = (np.diff(edges)[:, None] * w).ravel() * np.exp(-0.5 * u * u)
    readout = found.model.network.readout.at_nodes(tuple(u), tuple(weight / weight.sum()), 1e-13)
    wanted = gs.solve(found.model.replace({"network.readout": readout}))
    assert found.test_error == pytest.approx(wanted.test_error, rel=1e-6)
    norms = [float(one.order_parameters["Q2"].sum()) for one in (found, wanted)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-5)
