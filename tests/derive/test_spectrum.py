"""One functional for every spectral law: against explicit matrices, the isotropic limit, a gradient by differences.

A law is given by the points of its spectrum; a matrix of which the points are the singular values is exact at any size.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import sympy as sp
from index_sums import number

from derive.blocks import family_name, member_indices
from derive.directions import directions_of, norm_weight_names, weight_name
from derive.energetic import output_energy
from derive.free_energy import FreeEnergy, free_energy
from derive.gradient_step import U, gradient_step_map
from derive.network_step import J, Sigma, SigmaPrime, record_row_after_step
from derive.saddle import coupled_system, pairs
from derive.scalar import scalar_function
from derive.spectrum import (
    GIVEN,
    INPUTS,
    ISOTROPIC,
    LAWS,
    plain_law,
    weight_names,
)
from derive.structured_inputs import INDEX, OVERLAP, B, X, structured_inputs
from derive.trace import Recorder

EXACT = 1e-11  # double precision on resolvents of condition below 1e3
OVER_POINTS = ("law_", "spectrum")


def sizes(blocks: int, points: int):  # type: ignore[no-untyped-def]
    """The range of a sum: an index that a weight of the law carries runs over points, any other one over blocks."""

    def size(bound: sp.Symbol, body: sp.Expr) -> int:
        names = {str(family_name(n)) for n in body.atoms(sp.Indexed) if bound in member_indices(n)[-1:]}
        return points if any(name.startswith(OVER_POINTS) for name in names) else blocks

    return size


@lru_cache(maxsize=8)
def energy(law: str, directions: int, spikes: int) -> FreeEnergy:
    return free_energy(output_energy(directions, spikes, LAWS[law].norms), LAWS[law])


@pytest.mark.parametrize(("spikes", "directions"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_quadratic_form_of_a_given_matrix(spikes: int, directions: int) -> None:
    """R = [Tr A^-1 B + j A^-1 j]/p with the matrices themselves, p = 9 neurons in d = 6."""
    draw, p, d = np.random.default_rng(7), 9, 6
    w = draw.normal(size=(p, d)) / np.sqrt(d)
    basis = np.linalg.qr(draw.normal(size=(d, d)))[0].T[: spikes + directions]
    ridge, v1, v2, q1, q2 = 0.3, 0.8, 0.4, 0.6, 0.9
    hats, norms, of_norms = draw.normal(size=spikes + directions), draw.normal(size=p), 0.7
    whole = (ridge + v2) * np.eye(p) + v1 * w @ w.T
    source = w @ basis.T @ hats + of_norms * norms
    trace = np.trace(np.linalg.solve(whole, q2 * np.eye(p) + q1 * w @ w.T))
    wanted = source @ np.linalg.solve(whole, source) + trace / p
    left, singular, right = np.linalg.svd(w)
    points = np.concatenate([singular**2, np.zeros(p - d)])
    along = np.concatenate([right @ basis.T, np.zeros((p - d, len(basis)))])
    arrays = {
        "beta": p / d,
        "spectrum": points,
        "law_rows": np.full(p, 1 / d),
        "T": [0.0],
        "Q1_hat": [[q1]],
        "Q2_hat": [q2],
        "Px": np.reshape(1 / (ridge + v2 + v1 * points), (1, 1, p)),
    }
    for i in range(len(basis)):
        for j in range(i, len(basis)):
            arrays[weight_name(i, j, spikes, directions)] = along[:, i] * along[:, j]
    beside = left.T @ norms
    arrays |= {"norm_hat": [of_norms], "law_nn": np.reshape(beside**2, (1, 1, p))}
    roots = np.sqrt(points)[:, None] * along
    for i, name in enumerate(norm_weight_names(directions, spikes)):
        arrays[name] = (beside * roots[:, i])[None]
    names = (*directions_of("zeta_hat", spikes), *directions_of("psi_hat", directions))
    arrays |= {name: [hat] for name, hat in zip(names, hats, strict=True)}
    found = energy("matrix", directions, spikes)
    (t,) = found.spectral.definitions
    arrays["T"] = [number(t.body, arrays, sizes(1, p), {t.indices[0]: 0})]
    assert abs(arrays["T"][0] - np.trace(np.linalg.inv(whole)) / d) < EXACT
    assert abs(number(found.R, arrays, sizes(1, p)) - wanted) < EXACT * abs(wanted)


def test_gaussian_rows_of_a_wide_network() -> None:
    """The potential of rows of covariance Sigma: T and the trace of the response against one large matrix."""
    draw, d, p, ridge, v1, v2 = np.random.default_rng(8), 1600, 1200, 0.4, 0.9, 0.3
    points, weights = np.array([0.4, 1.6]), np.array([0.5, 0.5])
    covariance = np.repeat(points, d // 2)
    w = draw.normal(size=(p, d)) * np.sqrt(covariance / d)
    inverse = np.linalg.inv((ridge + v2) * np.eye(p) + v1 * w @ w.T)
    found = energy("inputs", 1, 1)
    arrays = {
        "beta": p / d,
        "ridge": ridge,
        "V2_hat": [v2],
        "V1_hat": [[v1]],
        "fraction": [1.0],
        "law_tr": weights,
        "Sigma": points[None, :],
    }
    low, high = 0.0, p / d / ridge
    assert found.spectral.stationarity is not None
    for _ in range(200):  # the stationarity condition grows with T
        middle = (low + high) / 2
        response = 1 / (1 + v1 * middle * points)
        at = {**arrays, "T": [middle], "Px": response[None, None], "Sx": v1 * response[None, None]}
        b = next(iter(found.spectral.stationarity.free_symbols & set(found.spectral.definitions[0].indices)))
        slope = number(found.spectral.stationarity, at, sizes(1, 2), {b: 0})
        low, high = (low, middle) if slope > 0 else (middle, high)
    # fluctuations of a trace of a resolvent over d: a few times 1/d
    assert abs(low - np.trace(inverse) / d) < 10 / d
    assert abs(weights @ (low * points / (1 + v1 * low * points)) - np.trace(w.T @ inverse @ w) / d) < 10 / d


@pytest.mark.parametrize(("spikes", "directions"), [(1, 1), (2, 2)])
def test_one_point_is_the_isotropic_law(spikes: int, directions: int) -> None:
    """Two blocks, Sigma = 1 at one point: with zeta_hat extremised over, R and the pairs are the isotropic ones."""
    draw = np.random.default_rng(9)
    t, half = np.array([0.7, 1.3]), draw.normal(size=(2, 2))
    v1 = half @ half.T + 0.2 * np.eye(2)
    m = np.linalg.inv(np.diag(1 / t) + v1)
    q1 = np.array([[0.9, 0.2], [0.2, 0.5]])
    arrays = {
        "beta": 0.8,
        "T": t,
        "V1_hat": v1,
        "V2_hat": [0.2, 0.6],
        "Q1_hat": q1,
        "Q2_hat": [0.3, 0.8],
        "M": m,
        "Mx": m[:, :, None],
        "Sx": np.linalg.inv(np.diag(t) + np.linalg.inv(v1))[:, :, None],
        "Sigma": np.ones((2, 1)),
        "Q1": draw.normal(size=(2, 2)),
        "Q2": [1.0, 2.0],
        "V1": draw.normal(size=(2, 2)),
        "V2": [0.5, 0.4],
        "chi": [0.6, 1.4],
        "norm": draw.normal(size=2),
        "norm_hat": draw.normal(size=2),
    }
    count = spikes + directions
    for i in range(count):
        for j in range(i, count):
            arrays[weight_name(i, j, spikes, directions)] = np.array([float(i == j)])
    arrays["law_tr"] = np.ones(1)
    overlaps = {
        name: draw.normal(size=2) for name in (*directions_of("zeta", spikes), *directions_of("psi", directions))
    }
    arrays |= overlaps
    arrays |= {name: draw.normal(size=2) for name in directions_of("psi_hat", directions)}
    values = []
    for name, response in ((plain_law(INPUTS).name, np.diag(t)), ("inputs", m)):
        # the stationary source: zeta = (response along the spike) zeta_hat
        sources = {f"zeta_hat{end}": np.linalg.solve(response, overlaps[f"zeta{end}"]) for end in _ends(spikes)}
        values.append(number(energy(name, directions, spikes).entropic, {**arrays, **sources}, sizes(2, 1)))
    assert abs(values[0] - values[1]) < EXACT * 100 * abs(values[0])


def _ends(spikes: int) -> tuple[str, ...]:
    return tuple(name.removeprefix("zeta") for name in directions_of("zeta", spikes))


def test_the_spike_is_taken_out_where_algebra_closes() -> None:
    """Only the law of one point has a closed response after the downdate; no law is asked for its name."""
    closed = {law: any("taken out" in s.label for s in energy(law, 1, 1).derivation.steps) for law in LAWS}
    assert closed == {law: not LAWS[law].over for law in LAWS}
    for spikes in (1, 2):
        steps = {s.label: s for s in energy("isotropic", 1, spikes).derivation.steps}
        label = "Sherman-Morrison" if spikes == 1 else "Sherman-Morrison-Woodbury, 2 directions"
        assert str(steps[label].rhs) == "T"


def test_weights_of_a_law() -> None:
    assert weight_names(ISOTROPIC) == ()
    assert weight_names(GIVEN) == ("law_rows", "law_vv", "law_vo", "law_oo")
    assert weight_names(INPUTS, 1, 2) == (
        "law_tr",
        "law_vv_1_1",
        "law_vv_1_2",
        "law_vv_2_2",
        "law_vo_1_1",
        "law_vo_2_1",
        "law_oo",
    )


@pytest.mark.parametrize("law", ["inputs", "matrix", "neurons"])
def test_every_law_for_any_directions(law: str) -> None:
    """Every unknown of a spike of rank 2 and a target of two indices has its equation, for every law."""
    system = coupled_system(2, 2, law)  # type: ignore[arg-type]
    unknowns = {equation.unknown for equation in system.equations}
    assert {fixes for _, fixes in pairs(2, 2)} <= unknowns | {"Q2"}
    assert system.law.name == law and system.law.title in system.derivation.title


def test_gradient_of_the_network_by_differences() -> None:
    """The derived gradient of the loss of the step against central differences of the loss of a small network."""
    trace = Recorder("step")
    record_row_after_step(trace)
    steps = trace.finish()
    draw, neurons, samples, d, h = np.random.default_rng(10), 4, 5, 3, 1e-6
    w, x, y = draw.normal(size=(neurons, d)), draw.normal(size=(samples, d)), draw.normal(size=samples)
    a = draw.normal(size=neurons)

    def output(rows: np.ndarray) -> np.ndarray:
        return np.tanh(x @ rows.T) @ a / np.sqrt(neurons)

    def loss(rows: np.ndarray) -> float:
        return float(((y - output(rows)) ** 2).sum() / (2 * samples))

    functions = {Sigma: np.tanh, SigmaPrime: lambda z: 1 / np.cosh(z) ** 2}
    pre = x @ w.T
    arrays = {"w": w, "x": x, "y": y, "a": a, "h": pre.T, "e": y - output(w), "n_0": samples, "p": neurons}
    gradient = steps.step("gradient of the loss").rhs
    row = next(s for s in gradient.free_symbols if s.name == "l")
    for k in range(neurons):
        for j in range(d):
            moved = np.zeros((neurons, d))
            moved[k, j] = h
            wanted = (loss(w + moved) - loss(w - moved)) / (2 * h)
            found = number(gradient, arrays, lambda *_: samples, {row: k, J: j}, functions)
            assert abs(found - wanted) < 1e-8


def test_structured_inputs() -> None:
    """Length and alignments of explicit vectors; at one eigenvalue the step of isotropic inputs; printed formulas."""
    law = structured_inputs()
    draw = np.random.default_rng(11)
    x = draw.uniform(0.2, 2.0, size=5)
    x, trace = x / x.mean(), np.full(5, 0.2)
    rows = np.linalg.qr(draw.normal(size=(5, 2)))[0].T  # of two indices
    target, s1 = rows[:, None] * rows[None], np.array([0.6, -0.4])
    arrays = {
        "A": 0.7,
        "alpha_0": 1.4,
        "s_1": s1,
        "s_0": 0.3,
        "e_2": 0.9,
        "sigma_2": 0.25,
        "v_sigma": 0.12,
        "mu_1": 0.8,
        "eigenvalue": x,
        "law_tr": trace,
        "law_theta": target,
        "u": [1.5],
    }

    def at(expr: sp.Expr, where: dict[sp.Symbol, int] | None = None, **more: object) -> float:
        known = {**arrays, **more}

        def size(bound: sp.Symbol, body: sp.Expr) -> int:
            spectral = {n for n in body.atoms(sp.Indexed) if bound in n.indices[-1:] and n.base != OVERLAP}
            return len(known["eigenvalue"]) if spectral else len(known["s_1"])

        return number(expr, known, size, {B: 0, **(where or {})})

    squared = (s1 @ rows) ** 2 @ x**2 + 0.9 / 1.4 * trace @ x**2
    assert abs(at(law.squared_length) - squared) < EXACT
    gamma = [at(law.alignment, {INDEX: i}, N=np.sqrt(squared)) for i in range(2)]
    assert np.abs(gamma - rows @ (x * (s1 @ rows)) / np.sqrt(squared)).max() < EXACT
    wanted = (x * (1 + 0.7 * 1.5 * 0.3 * 0.25 * x) ** 2 + (0.7 * 1.5) ** 2 * 0.9 / 1.4 * 0.12 * x**2).mean()
    assert abs(at(law.bulk_variance) - wanted) < EXACT
    step = gradient_step_map(scalar_function("relu"), scalar_function("tanh"))
    one = {"eigenvalue": [1.0], "law_tr": [1.0], "law_theta": [[[1.0]]], "s_1": [0.6]}
    values = {
        symbol: {**arrays, "s_1": 0.6}[str(symbol)]
        for symbol in step.strength.free_symbols | step.bulk_variance.free_symbols - {U}
    }
    length = np.sqrt(at(law.squared_length, **one))
    assert abs(at(law.strength, N=length) - float(step.strength.subs(values))) < EXACT
    assert abs(at(law.bulk_variance, **one) - float(step.bulk_variance.subs({**values, U: 1.5}))) < EXACT
    assert number(law.plain, arrays, lambda *_: 5, {X: 2}) == pytest.approx(x[2], rel=1e-15)
