"""Two giant steps on one batch: against the definition, exact linear networks, limits, symmetries, simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from layer_states import ROUNDING, invariants, readout, same

import giantstep as gs
from derive.check import check_derivation
from derive.repeated_batch import repeated_batch
from giantstep.law.spike import states_after_steps
from giantstep.verify.first_layer import first_layer
from giantstep.verify.further_steps import further_step_checks

Array = np.ndarray


def model(activation: str = "tanh", link: str = "sign", batches: str = "same", **tables: Any) -> gs.Model:
    """batches: of the steps after the first one."""
    network = {"activation": activation, "width": 0.8, **tables.pop("network", {})}
    target = {"link": link, **tables.pop("target", {})}
    step = {"samples": 2.0, "learning_rate": 1.2, **tables.pop("step", {})}
    steps = [{**step, "batch": batch} for batch in ("fresh", *batches.split())]
    fit = {"samples": 2.0, "ridge": 0.05}
    return gs.Model.from_dict({"network": network, "target": target, "fit": fit, "step": steps, **tables})


def test_recorded_steps_hold_at_random_points() -> None:
    checks = check_derivation(repeated_batch().derivation)
    assert sum(check.error is not None for check in checks) >= 5
    for check in checks:
        assert check.error is None or check.error < 1e-15, check


@pytest.mark.parametrize(("values", "noise"), [((1.0,), 0.3), ((1.0, -0.5), 0.0)])
def test_a_linear_network_by_moments_of_the_sample_covariance(values: tuple[float, ...], noise: float) -> None:
    """w_2 = w_0 + u (A + A' - A A' E u^2 S) X^T y/n with S = X^T X/n, whose spectral moments are those of Marchenko and
    Pastur: no conditioning on samples, no Stein's lemma.
    """
    given = model("2*z", "z", network=readout(*values), target={"noise": noise}).replace({"step.2.learning_rate": 0.7})
    (products, along, variance), rho = invariants(states_after_steps(given)[-1]), 0.5
    rate, again = (2.0 * eta / 0.8 for eta in (1.2, 0.7))  # sigma' = 2, once here
    one, two = rate + again, 2.0 * rate * again * float(np.mean(np.square(values)))  # and once in the output
    moments = (1.0, 1.0 + rho, 1.0 + 3.0 * rho + rho**2, 1.0 + 6.0 * rho + 6.0 * rho**2 + rho**3)

    def square(order: int) -> float:
        """Of (one - two S) with S^order between."""
        first, second, third = moments[order - 1 : order + 2]
        return one**2 * first - 2.0 * one * two * second + two**2 * third

    u = np.array(values)
    assert variance == pytest.approx(1.0, rel=ROUNDING)
    assert along[:, 0] == pytest.approx(u * (one - two * moments[1]), rel=ROUNDING)
    assert products == pytest.approx(np.outer(u, u) * (square(2) + noise * rho * square(1)), rel=ROUNDING)


def by_definition(given: gs.Model, nodes: int) -> tuple[Array, Array, Array]:
    """By one trapezoidal rule in t, epsilon, g and xi, along orthonormal directions of what the first step has added:
    these meet a sample by the others and by itself. For tanh, without output at first.
    """
    x = np.linspace(-6.4, 6.4, nodes)
    w = np.exp(-0.5 * x**2) / np.exp(-0.5 * x**2).sum()
    first, second = given.steps
    u, share = np.array(given.network.readout.values), np.array(given.network.readout.fractions)
    rate, again, alpha = first.learning_rate / 0.8 * u, second.learning_rate / 0.8 * u, first.samples

    def slope(z: Array) -> Array:
        return np.asarray(1.0 / np.cosh(z) ** 2)

    def over(f: Array) -> Array:
        """The average [K] over t and epsilon."""
        return np.asarray(np.einsum("bte,t,e->b", f, w, w))

    def rows(f: Array) -> Array:
        """The average [K] over all four."""
        return np.asarray(np.einsum("btegx,t,e,g,x->b", f, w, w, w, w))

    e = np.sin(2.0 * x)
    d0, e2 = float(w @ slope(x)), float(w @ e**2)
    own = slope(x) - d0  # the first weight of a sample in a row is e (d0 + own)
    p, q = rate * d0 * float(w @ (e * x)), rate * d0 * math.sqrt(e2 / alpha)
    s, f2 = rate * math.sqrt(e2 * float(w @ own**2) / alpha), e2 * float(w @ own**2)
    h = (p[:, None] * x)[:, :, None, None, None] + (q[:, None] * x)[:, None, :, None, None]
    h = h + x[:, None] + (s[:, None] * x)[:, None, None, None, :]
    h = h + (rate[:, None, None] / alpha * np.multiply.outer(e, slope(x)))[:, :, None, :, None]
    e1 = e[:, None] - np.einsum("b,btegx,g,x->te", share * u, np.tanh(h), w, w)
    slopes = slope(h)
    shared = e1 * np.einsum("btegx,g,x->bte", slopes, w, w)
    rest = e1[..., None, None] * slopes - shared[..., None, None]

    along, by_itself = p + again * over(shared * x[:, None]), over(shared * e[:, None])
    beside = q + again * (over(shared * x) + by_itself / math.sqrt(alpha * e2))
    left = again[:, None, None] * (shared - np.multiply.outer(by_itself / e2, e)[:, :, None])
    noise = np.einsum("bte,cte,t,e->bc", left, left, w, w) / alpha
    memory = rows(rest * (e[:, None, None, None] * own[:, None]))
    across = s + again * (rows(rest * x) + memory / math.sqrt(alpha * f2))
    variance = (1.0 + again * rows(rest * x[:, None])) ** 2 + across**2
    variance = variance + again**2 * (rows(rest**2) - memory**2 / f2) / alpha
    return np.outer(along, along) + np.outer(beside, beside) + noise, along[:, None], variance


@pytest.mark.parametrize("values", [(1.0,), (1.0, -0.5)])
def test_both_steps_by_definition(values: tuple[float, ...]) -> None:
    """A rule of 37 nodes in each variable; its error is estimated by that of 33."""
    given = model("tanh", "sin(2*z)", network=readout(*values), step={"learning_rate": 0.6})
    wanted, rough = (by_definition(given, nodes) for nodes in (37, 33))
    for found, exact, coarse in zip(invariants(states_after_steps(given)[-1]), wanted, rough, strict=True):
        allowed = float(np.abs(exact - coarse).max()) + 1e-8  # what lies beyond 6.4 deviations
        assert allowed < 1e-5
        assert found == pytest.approx(exact, rel=0.0, abs=allowed)


def test_a_large_batch_is_a_fresh_one() -> None:
    """The difference falls as one over the number of samples."""
    apart = []
    for samples in (20.0, 80.0):
        given = model(step={"samples": samples, "learning_rate": 0.5})
        pair = (given, given.replace({"step.2.batch": "fresh"}))
        (*_, again), (*_, fresh) = map(states_after_steps, pair)
        apart.append([float(np.abs(a - b).max()) for a, b in zip(invariants(again), invariants(fresh), strict=True)])
    near, far = np.array(apart[1]), np.array(apart[0])
    assert np.all(far < 0.1) and np.all(near < 0.3 * far)


@pytest.mark.parametrize("number", [1, 2])
def test_a_step_of_rate_zero_changes_nothing(number: int) -> None:
    given = model("relu", network=readout(1.0, 0.4)).replace({f"step.{number}.learning_rate": 0.0})
    one = given.replace({"step": [{"samples": 2.0, "learning_rate": 1.2}]})
    same(states_after_steps(given)[-1], states_after_steps(one)[-1])


def test_blocks_that_are_one_up_to_a_sign() -> None:
    """Equal readout values, and opposite ones with an odd activation, move as one."""
    found = [states_after_steps(model(network=readout(*v)))[-1] for v in ((1.0,), (1.0, 1.0), (1.0, -1.0))]
    single, equal, opposite = (np.array(state.loadings) for state in found)
    assert equal.shape == opposite.shape == (2, 1) and equal[0, 0] == equal[1, 0]
    assert equal[0, 0] == pytest.approx(single[0, 0], rel=ROUNDING)
    assert opposite[0, 0] == pytest.approx(-opposite[1, 0], rel=ROUNDING)


@pytest.mark.usefixtures("in_letters")
def test_equal_values_have_one_row() -> None:
    """Rounding told them apart, and the model was refused: "make loadings equal that are nearly so"."""
    given = {"network": {**readout(1.0, 1.0), "bias": 0.8}}
    (state,) = states_after_steps(model("relu(z)**2", "sign(z**2-1)", **given))[-1:]
    assert state.loadings[0] == state.loadings[1] and state.bulk_variance[0] == state.bulk_variance[1]


def test_a_link_of_one_direction_in_the_plane_of_two_indices() -> None:
    one, two = (model(link=link) for link in ("tanh(2*z)", "tanh(1.2*z1 + 1.6*z2)"))
    (products, along, variance), (exact, target, bulk) = (invariants(states_after_steps(m)[-1]) for m in (two, one))
    assert products == pytest.approx(exact, rel=1e-9)
    assert along == pytest.approx(target * np.array([0.6, 0.8]), rel=1e-9)
    assert variance == pytest.approx(bulk, rel=1e-9)


def test_a_batch_that_is_seen_twice_shows_what_fresh_ones_hide() -> None:
    """He_3 has information exponent 3: no step on fresh samples finds its direction, whatever their number; of seen
    samples the label enters nonlinearly.
    """
    given = model(link="He(3,z)", step={"learning_rate": 0.5})
    (*_, again), (*_, fresh) = map(states_after_steps, (given, given.replace({"step.2.batch": "fresh"})))
    assert abs(fresh.overlaps[0][0]) < 1e-10
    assert abs(again.overlaps[0][0]) > 0.05


def test_verify_has_finer_nodes_and_the_rows_of_the_law() -> None:
    given = model(network=readout(1.0, -1.0))
    (check,) = further_step_checks(given)
    assert "after step 2" in check.name and check.measured <= check.allowed
    rows, last = first_layer(given, 0.0, None).rows, states_after_steps(given)[-1]
    assert np.abs(rows.loadings) == pytest.approx(np.abs(last.loadings), rel=ROUNDING)
    assert rows.variances == pytest.approx(last.bulk_variance, rel=ROUNDING)


def test_derivation_and_json() -> None:
    given = model()
    assert any("same batch" in part.title for part in gs.derive(given).parts)
    result = gs.solve(given)
    assert len(result.to_dict()["steps"]) == 2 and result.quadrature_error < 1e-8


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"step.2.bulk": "trained"}, "derived for fresh samples"),
        ({"inputs": {"eigenvalues": [2.0, 0.5]}}, "isotropic inputs"),
        ({"step": [{"samples": 2.0, "learning_rate": 1.2, "batch": b} for b in ("fresh", "same", "same")]}, "three"),
        (
            {
                "step": [{"samples": 2.0, "learning_rate": 1.2, "batch": b} for b in ("fresh", "fresh", "same")],
                "network.readout": {"values": [1.0, -0.4], "fractions": [0.5, 0.5]},
            },
            "different directions",
        ),
    ],
)
def test_what_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(gs.BadInput, match=words) as refused:
        gs.solve(model("relu").replace(changes))
    assert "simulate" in refused.value.hint


@pytest.mark.parametrize(
    ("activation", "link", "values", "target", "batches", "dimension", "seeds"),
    [
        ("tanh", "tanh(2*z)", (1.0, -0.4), {}, "same", 300, 8),
        pytest.param("relu", "tanh(2*z)", (1.0, -0.5), {"noise": 0.3}, "same", 1000, 12, marks=pytest.mark.slow),
        pytest.param("relu", "z1+z1*z2", (1.0, -0.5), {}, "same", 1000, 12, marks=pytest.mark.slow),
        pytest.param(
            "tanh", "sign", (1.0, 0.4), {"flips": 0.1, "probit": 0.2}, "same", 1000, 12, marks=pytest.mark.slow
        ),
        pytest.param("tanh", "tanh(2*z)", (1.0,), {}, "fresh same", 1000, 12, marks=pytest.mark.slow),
        pytest.param("gelu", "tanh(2*z)", (1.0, -0.5), {}, "same fresh", 1000, 12, marks=pytest.mark.slow),
    ],
)
def test_rows_of_simulated_networks(
    activation: str,
    link: str,
    values: tuple[float, ...],
    target: dict[str, float],
    batches: str,
    dimension: int,
    seeds: int,
) -> None:
    """Products of the means, overlaps, variances after every step: four standard errors and 10/d, relative."""
    given = model(activation, link, batches, network=readout(*values), target=target, step={"learning_rate": 1.0})
    simulated = gs.simulate(given, dimension=dimension, seeds=seeds, what="network")
    states = states_after_steps(simulated.model)
    for state, measured in zip(states, simulated.steps, strict=True):
        pairs = zip(invariants(state), (measured.products, measured.overlaps, measured.variances), strict=True)
        for wanted, found in pairs:
            error = found.std(axis=0, ddof=1) / math.sqrt(seeds)
            assert np.all(np.abs(found.mean(axis=0) - wanted) < 4.0 * error + 10.0 / dimension * np.abs(wanted).max())
