"""The trained bulk: its law, its equations against the finite-size resolvent, and the isotropic limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp
from one_block import at_one_block

from derive.bulk_resolvent import bulk_resolvent
from derive.check import check_step
from derive.saddle import SaddleSystem, coupled_system
from generated.systems import trained_bulk as equations
from giantstep.law.covariance import Covariance
from giantstep.law.residual import residual_law
from giantstep.law.trained_bulk import BulkLaw, law_of_vectors, trained_law
from giantstep.quadrature.contour import contour
from giantstep.spec.model import Target

Array = np.ndarray
BETA, RIDGE, SAMPLES, FACTOR = 0.8, 0.3, 0.5, 2.0
ONE = (np.array([1.0]), np.array([1.0]))
TWO = (np.array([1.0, -0.6]), np.array([0.6, 0.4]))


def hats(blocks: int) -> dict[str, Array]:
    """Conjugates of a readout that knows something: positive matrices, sources of both kinds."""
    source = np.random.default_rng(4)
    root = source.normal(size=(blocks, blocks)) + 1.5 * np.eye(blocks)
    return {
        "V1_hat": root @ root.T,
        "V2_hat": source.uniform(0.2, 0.8, blocks),
        "Q1_hat": 0.4 * root @ root.T,
        "Q2_hat": source.uniform(0.1, 0.4, blocks),
        "average_zeta_hat": source.normal(size=blocks),
        "psi_hat": source.normal(size=blocks),
        "norm_hat": source.normal(size=blocks),
    }


def state(law: BulkLaw, factors: Array, mean: float, fraction: Array) -> dict[str, Any]:
    blocks = len(factors)
    sigma = (1.0 + np.multiply.outer(factors, law.x)) / (1.0 + factors * mean)[:, None]
    size = {"Q1": 2, "V1": 2}
    unknowns = {n: np.zeros((blocks,) * size.get(n, 1)) for n in equations.UNKNOWNS}
    unknowns |= {"T": BETA * fraction / RIDGE / 3.0}
    return {
        **hats(blocks),
        **unknowns,
        **law.weights,
        **norms(law, sigma),
        "Sigma": sigma,
        "fraction": fraction,
        "identity": np.eye(blocks),
        "beta": BETA,
        "ridge": RIDGE,
        "inverse_dimension": 0.0,
        "m": np.zeros(blocks),
    }


def solved(s: dict[str, Any]) -> dict[str, Any]:
    """The unknowns at fixed conjugates, by Newton's method with differences."""
    places = [(name, index) for name in equations.UNKNOWNS for index in np.ndindex(s[name].shape)]

    def residual() -> Array:
        equations.chain(s)
        equations.residual(s)
        return np.array([s[f"residual_{name}"][index] for name, index in places])

    for _ in range(40):
        here = residual()
        if np.max(np.abs(here)) < 1e-13:
            return s
        columns = []
        for name, index in places:
            value, step = s[name][index], 1e-7 * max(1.0, abs(s[name][index]))
            s[name][index] = value + step
            columns.append((residual() - here) / step)
            s[name][index] = value
        steps = np.linalg.solve(np.array(columns).T, here)
        falls = [steps[k] / s["T"][index] for k, (name, index) in enumerate(places) if name == "T"]
        shrink = min(1.0, 0.5 / max(*falls, 0.1))  # T stays positive
        for k, (name, index) in enumerate(places):
            s[name][index] -= shrink * steps[k]
    raise AssertionError("the equations at fixed conjugates were not solved")


LENGTHS, OWN = np.array([0.9, -0.5]), np.array([0.7, 1.3])  # of y_b along theta; variance of the norms beside that


def norms(law: BulkLaw, sigma: Array) -> dict[str, Array]:
    """Norms of which a part, y_b.w, goes with the rows' components along theta, an alignment gamma with v.

    Their covariance with the rows is ``k_b = Sigma_b y_b``; sigma: Sigma at the points [K, n].
    """
    blocks, gamma, rest = len(sigma), ALIGNMENT, math.sqrt(1.0 - ALIGNMENT**2)
    vv, vo, oo = (law.weights[f"law_{name}"] for name in ("vv", "vo", "oo"))
    with_v, with_rest = gamma * vv + rest * vo, gamma * vo + rest * oo
    both, k = gamma * with_v + rest * with_rest, LENGTHS[:blocks, None] * sigma
    return {
        "chi": OWN[:blocks] + (LENGTHS[:blocks] * (k @ both)).real,
        "law_vn": k * with_v,
        "law_on": k * with_rest,
        "law_nn": k[:, None] * k * both,
    }


def batch(d: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """(eigenvalues of C, eigenvectors, v, theta) of one batch of the sign link."""
    source = np.random.default_rng(seed)
    count = round(SAMPLES * d)
    x = source.normal(size=(count, d))
    theta = np.zeros(d)
    theta[0] = 1.0
    y = np.tanh(2.0 * x[:, 0])
    v = x.T @ y
    values, vectors = np.linalg.eigh((x.T * y**2) @ x / count)
    return values, vectors, v / np.linalg.norm(v), theta


def direct(d: int, seed: int, factors: Array, mean: float, fraction: Array) -> dict[str, Array]:
    """The order parameters of a finite system, from its p x p resolvent."""
    values, vectors, v, theta = batch(d, seed)
    source = np.random.default_rng(seed + 1000)
    across = theta - (v @ theta) * v
    across /= np.linalg.norm(across)
    h, blocks = hats(len(factors)), len(factors)
    sizes = np.round(BETA * d * fraction).astype(int)
    p, label = sizes.sum(), np.repeat(np.arange(blocks), sizes)
    spread = np.sqrt((1.0 + np.multiply.outer(factors, np.maximum(values, 0.0))) / (1.0 + factors * mean)[:, None] / d)
    rows = (source.normal(size=(p, d)) * spread[label]) @ vectors.T
    wv, wo = rows @ v, rows @ across
    gram = rows @ rows.T - np.outer(wv, wv)
    pair = np.ix_(label, label)
    inverse = np.linalg.inv(np.diag(RIDGE + h["V2_hat"][label]) + h["V1_hat"][pair] * gram)
    own = np.sqrt(OWN[label] / d) * source.normal(size=p)
    wn = LENGTHS[label] * (rows @ (ALIGNMENT * v + math.sqrt(1.0 - ALIGNMENT**2) * across)) + own
    a = inverse @ (wv * h["average_zeta_hat"][label] + wo * h["psi_hat"][label] + wn * h["norm_hat"][label])
    field = inverse @ (h["Q1_hat"][pair] * gram + np.diag(h["Q2_hat"][label])) @ inverse / p
    block = np.eye(blocks)[label]
    return {
        "zeta": block.T @ (wv * a),
        "psi": block.T @ (wo * a),
        "norm": block.T @ (wn * a),
        "V1": block.T @ (inverse * gram) @ block / p,
        "T": BETA * block.T @ np.diag(inverse) / p,
        "adjoint": block.T @ (a**2 + np.diag(field)),
        "Q1": (block.T * a) @ gram @ (block.T * a).T + block.T @ (field * gram) @ block,
    }


def alignment() -> float:
    law = residual_law(Target("tanh(2*z)"), 0.0, 2)
    (overlap,) = law.overlaps
    return float(overlap / math.sqrt(overlap**2 + law.square / SAMPLES))


ALIGNMENT = alignment()


def trained(factors: Array) -> tuple[BulkLaw, float]:
    target = Target("tanh(2*z)")
    law = residual_law(target, 0.0, 2)
    found = trained_law(target, 0.0, Covariance(SAMPLES, 0.0, float(factors.max())), ALIGNMENT, 1.0)
    return BulkLaw(found.x / factors.max(), found.weights), law.square


@pytest.mark.parametrize(("values", "fraction"), [ONE, TWO], ids=["one block", "two blocks"])
def test_against_the_resolvent_of_finite_systems(values: Array, fraction: Array) -> None:
    """Within 4 standard errors of 10 systems at d = 300, where corrections of 6/d are allowed for."""
    d, factors = 300, FACTOR * values**2
    law, mean = trained(factors)
    theory = solved(state(law, factors, mean, fraction))
    found = [direct(d, seed, factors, mean, fraction) for seed in range(10)]
    isotropic = solved(state(BulkLaw(np.zeros(1), ISOTROPIC), factors * 0.0, mean, fraction))
    rejected = 0.0
    for name in equations.UNKNOWNS:
        sample = np.array([one[name] for one in found])
        size = np.max(np.abs(theory[name]))
        error = np.sqrt(sample.var(axis=0, ddof=1) / len(sample) + (6.0 / d * size / 3.0) ** 2)
        z = np.abs(sample.mean(axis=0) - theory[name]) / error
        rejected = max(rejected, float(np.max(np.abs(sample.mean(axis=0) - isotropic[name]) / error)))
        assert np.max(z) < 4.0, (name, z)
    assert rejected > 6.0  # the isotropic bulk of the same norm is another one


ISOTROPIC = {"law_tr": np.ones(1), "law_vv": np.ones(1), "law_vo": np.zeros(1), "law_oo": np.ones(1)}


@pytest.mark.parametrize("fraction", [ONE[1], TWO[1]], ids=["one block", "two blocks"])
def test_isotropic_limit(fraction: Array) -> None:
    """Where all covariances are one: the closed forms of THEORY section 4, zeta = T zeta_hat and psi = M psi_hat."""
    blocks = len(fraction)
    s = state(BulkLaw(np.zeros(1), ISOTROPIC), np.zeros(blocks), 1.0, fraction)
    s = solved({**s, "norm_hat": np.zeros(blocks)})
    t, v = s["T"], s["V1_hat"]
    inner = np.linalg.inv(np.linalg.inv(v) + np.diag(t))
    assert t * (RIDGE + s["V2_hat"] + np.diag(inner)) == pytest.approx(BETA * fraction, rel=1e-11)
    m = np.linalg.inv(np.diag(1.0 / t) + v)
    assert s["zeta"] == pytest.approx(t * s["average_zeta_hat"], rel=1e-11)
    assert s["psi"] == pytest.approx(m @ s["psi_hat"], rel=1e-11)
    assert s["V1"] == pytest.approx(m / BETA, rel=1e-11)


def test_isotropic_limit_in_symbols() -> None:
    """One block: without covariance, the sources of the whole bulk give the equations of the isotropic one."""
    plain, general = coupled_system(bulk="norms"), coupled_system(bulk="trained")
    one = {name: _at_one(general, name) for name in ("Px", "Sx", "Mx", "T", "zeta_hat", "zeta", "psi", "V1", "Q1")}
    zeta, source, m = sp.Symbol("zeta"), sp.Symbol("zeta_hat"), sp.Symbol("Mx")
    v, t, drive = sp.symbols("V1_hat T drive")
    average = _at_one(plain, "zeta_hat")
    solution = sp.solve([zeta - one["zeta"], source - (drive + one["zeta_hat"] - average)], [zeta, source], dict=True)[
        0
    ]
    response = t / (1 + v * t)
    assert sp.simplify(solution[zeta].subs(m, response) - t * drive) == 0
    assert sp.simplify(one["V1"].subs(m, response) - _at_one(plain, "V1").subs(sp.Symbol("M"), response)) == 0
    here = (
        one["Q1"]
        .subs({zeta: solution[zeta], source: solution[source]})
        .subs({m: response, sp.Symbol("Px"): response / t})
    )
    there = _at_one(plain, "Q1").subs({sp.Symbol("M"): response, sp.Symbol("P"): response / t})
    assert sp.simplify(here - there) == 0


def _at_one(system: SaddleSystem, name: str) -> Any:
    """The body of an equation for one block and one point of the spectrum, Sigma = 1, where weights between different
    directions vanish.
    """
    expr = at_one_block(system.equation(name).body) if name != "Px" else sp.S.Zero
    known = {"Sigma": 1, "law_tr": 1, "law_vv": 1, "law_vo": 0, "law_oo": 1, "law_vn": 0, "law_on": 0, "law_nn": 0}
    symbols = {x: known.get(str(x.base), sp.Symbol(str(x.base))) for x in expr.atoms(sp.Indexed)}
    return expr.xreplace(symbols).subs({x: sp.Symbol(x.name) for x in expr.free_symbols if isinstance(x, sp.Symbol)})


def published(s: dict[str, Any], law: BulkLaw, factor: float, mean: float) -> tuple[float, ...]:
    """(what vanishes at T, zeta, psi, V1) of THEORY section 5 for one block, by resolvents at w = (1 + G)/(G a).

    The rows there have covariance 1 + a C, here that over its mean: V1_hat and the sources are rescaled by it.
    """
    c = 1.0 + factor * mean
    t, v, root = float(s["T"][0]), float(s["V1_hat"][0, 0]) / c, math.sqrt(c)
    g = v * t
    w, k = (1.0 + g) / (g * factor), 1.0 / (g * factor)
    trace, vv, vo, oo = (float(np.real((x / (law.x + w)).sum())) for x in law.weights.values())
    p_vv, p_oo, q, bar = (t / g * (one - k * res) for one, res in ((1.0, vv), (1.0, oo), (0.0, vo), (1.0, trace)))
    den = 1.0 - v * p_vv
    zeta_hat, psi_hat = float(s["average_zeta_hat"][0]) / root, float(s["psi_hat"][0]) / root
    zeta = zeta_hat * p_vv / den + psi_hat * q / den
    psi = zeta_hat * q / den + psi_hat * (p_oo + v * q * q / den)
    condition = t * (RIDGE + float(s["V2_hat"][0]) + v * (1.0 - k * trace) / g) - BETA
    return condition, zeta / root, psi / root, bar / BETA / c


def test_published_form_of_one_block() -> None:
    factors = np.array([FACTOR])
    law, mean = trained(factors)
    s = solved({**state(law, factors, mean, ONE[1]), "norm_hat": np.zeros(1)})  # which it does not have
    condition, *order = published(s, law, FACTOR, mean)
    assert abs(condition) < 1e-11
    assert order == pytest.approx([s["zeta"][0], s["psi"][0], s["V1"][0, 0]], rel=1e-10)


def test_recorded_steps() -> None:
    """Those of the isotropic bulk apart."""
    for derivation in (bulk_resolvent().derivation, coupled_system(bulk="trained").derivation):
        own = [step for step in derivation.steps if step not in coupled_system().derivation.steps]
        found = [step for step in map(check_step, own) if step.error is not None]
        assert found and all(step.error < 1e-40 for step in found)
        assert r"\Sigma" in derivation.latex()
    labels = {step.label for step in coupled_system(bulk="trained").derivation.steps}
    assert {"overlap of the whole bulk", "Sherman-Morrison"} <= labels


@pytest.mark.parametrize(("gap", "top"), [(0.01, 30.0), (1.0, 4.0), (50.0, 3.0)])
def test_contour_on_known_spectra(gap: float, top: float) -> None:
    """Functions with a pole at -gap, averaged over given eigenvalues."""
    x = np.linspace(0.0, top, 7) ** 2 / top
    z, change = contour(gap, top)
    resolvent = np.mean(1.0 / (x[:, None] - z), axis=0)
    for f in (
        np.ones_like,
        lambda y: gap / (y + gap),
        lambda y: y / (y + gap),
        lambda y: (gap / (y + 1.5 * gap)) ** 2,
    ):
        exact = float(np.mean(f(x)))
        assert 2.0 * np.real(np.sum(change * f(z) * resolvent)) == pytest.approx(exact, rel=1e-12, abs=1e-13)


CASES = [
    Target("sign"),
    Target("tanh", 0.0),
    Target("sign", flips=0.1, probit=0.3),
    Target("linear"),
    Target("relu", 0.3),
]


@pytest.mark.parametrize("target", CASES, ids=lambda t: f"{t.link} {t.noise} {t.flips}")
def test_law_of_the_batch(target: Target) -> None:
    """Traces of C up to the second: exact moments of a weighted Wishart matrix, and between v and theta."""
    samples = 0.7
    law = residual_law(target, 0.0, 2)
    square, fourth = law.square, float(law.weight @ law.e**4)
    gamma = law.overlaps[0] / math.sqrt(law.overlaps[0] ** 2 + square / samples)
    bulk = trained_law(target, 0.0, Covariance(samples, 0.0, 1.0), gamma, 1.0)
    moments = [np.real((bulk.weights["law_tr"] * bulk.x**k).sum()) for k in range(3)]
    # the weights are exact to 1e-12 or so and multiplied by powers of the nodes
    exact, far = (1.0, square, square**2 + fourth / samples), float(np.max(np.abs(bulk.x)))
    assert all(
        abs(one - other) < 1e-11 * max(1.0, far) ** k for k, (one, other) in enumerate(zip(moments, exact, strict=True))
    )
    # theta.C theta = E e^2 t^2
    along = (1.0 - gamma**2) * bulk.weights["law_oo"] + 2.0 * gamma * math.sqrt(1.0 - gamma**2) * bulk.weights["law_vo"]
    along = along + gamma**2 * bulk.weights["law_vv"]
    assert np.real((along * bulk.x).sum()) == pytest.approx(float(law.weight_tt[0, 0] @ law.e**2), abs=1e-11 * far)


def test_law_of_given_vectors() -> None:
    """The spectral form of one matrix is that matrix: weights between v and theta of functions of C."""
    values, vectors, v, theta = batch(60, 3)
    law = law_of_vectors(values, vectors.T @ v, vectors.T @ theta)
    function = (vectors / (1.0 + values)) @ vectors.T
    across = theta - (v @ theta) * v
    across /= np.linalg.norm(across)
    exact = (np.trace(function) / 60, v @ function @ v, v @ function @ across, across @ function @ across)
    assert [float((w / (1.0 + law.x)).sum()) for w in law.weights.values()] == pytest.approx(exact, rel=1e-10)
