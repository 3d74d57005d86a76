"""Models with spikes of several directions, and the equations of THEORY section 4 for them, typed in by hand.

The oracle works in the directions that the model gives, with an activation and a link whose averages are elementary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import erf

from giantstep.spec.model import Model
from giantstep.system.result import Result

Array = np.ndarray


def model(**changes: Any) -> Model:
    """Two blocks with different directions; ``changes`` as dotted keys with __ for the dot."""
    data = {
        "network": {"activation": "erf", "width": 1.2, "readout": {"values": [1.0, 0.7], "fractions": [0.4, 0.6]}},
        "spike": {
            "strength": 1.3,
            "alignment": [0.6, -0.5],
            "bulk_variance": 1.2,
            "loadings": [[1.0, 0.2], [-0.4, 0.9]],
        },
        "target": {"link": "sin", "noise": 0.05},
        "fit": {"samples": 1.7, "ridge": 0.05},
    }
    return Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def three(**changes: Any) -> Model:
    """Three blocks along three directions."""
    readout = {"values": [1.0, 1.0, 1.0], "fractions": [0.3, 0.3, 0.4]}
    data = model().to_dict()
    data["network"]["readout"] = readout
    data["spike"] |= {"loadings": [[0.7, 0.0, 0.1], [0.2, 0.8, 0.0], [0.1, -0.4, 0.6]], "alignment": [0.5, 0.3, 0.4]}
    return Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def staircase(**changes: Any) -> Model:
    """A target of two indices whose second direction is reached through the first."""
    data = model().to_dict()
    data["spike"]["alignment"] = [[0.8, 0.1], [0.2, 0.7]]
    data["target"] = {"link": "z1 + z1*z2", "noise": 0.0}
    return Model.from_dict(data).replace({key.replace("__", "."): value for key, value in changes.items()})


def turned(given: Model, rotation: Array) -> Model:
    """The same model with its directions rotated, V -> V R."""
    assert given.spike is not None and given.spike.loadings is not None
    loadings = np.array(given.spike.loadings) @ rotation
    alignment = rotation.T @ np.array(given.spike.overlaps())
    several = given.target.indices > 1
    changes = {
        "spike.loadings": loadings.tolist(),
        "spike.alignment": (alignment if several else alignment[:, 0]).tolist(),
    }
    return given.replace(changes)


@dataclass(frozen=True)
class Tables:
    """kappa [N, q], weights, E[y|kappa], E[t y|kappa], E[y^2|kappa], coefficients [K, N]."""

    kappa: Array
    weight: Array
    first: Array
    along: Array
    square: Array
    mu0: Array
    mu1: Array
    mu2sq: Array


def tables(given: Model, count: int = 70) -> Tables:
    """For erf and sin, on the product of Gauss-Hermite rules along the directions given."""
    spike = given.spike
    assert spike is not None and spike.loadings is not None
    loadings, gamma = spike.strength * np.array(spike.loadings), np.array(spike.overlaps())[:, 0]
    x, w = hermegauss(count)
    w = w / w.sum()
    kappa = np.stack(np.meshgrid(*[x] * len(gamma), indexing="ij"), axis=-1).reshape(-1, len(gamma))
    weight = np.prod(np.stack(np.meshgrid(*[w] * len(gamma), indexing="ij"), axis=-1).reshape(-1, len(gamma)), axis=1)
    kappa, weight = kappa[weight > 1e-22], weight[weight > 1e-22]
    rest = 1.0 - gamma @ gamma
    z = kappa @ gamma
    first, along = np.sin(z) * np.exp(-rest / 2), np.sqrt(rest) * np.cos(z) * np.exp(-rest / 2)
    square = 0.5 - 0.5 * np.cos(2 * z) * np.exp(-2 * rest)
    columns = [
        _erf(kappa @ row, 1.0 + u * u * (spike.bulk_variance - 1.0))
        for row, u in zip(loadings, given.network.readout.values, strict=True)
    ]
    mu0, mu1, mu2sq = np.stack(columns, axis=1)
    return Tables(kappa, weight, first, along, square, mu0, mu1, mu2sq)


def _erf(s: Array, c: float) -> Array:
    wide = 1.0 + 2.0 * c
    mu0 = erf(s / np.sqrt(wide))
    mu1 = 2.0 * np.sqrt(c / (np.pi * wide)) * np.exp(-s * s / wide)
    g = np.arange(-160, 161) * 0.05
    second = erf(s[:, None] + np.sqrt(c) * g) ** 2 @ np.exp(-g * g / 2) * 0.05 / np.sqrt(2 * np.pi)
    return np.stack([mu0, mu1, second - mu0**2 - mu1**2])


def residuals(given: Model, result: Result, on: Tables) -> Mapping[str, float]:
    """How far the order parameters of a result are from the equations of THEORY section 4, relative to their size."""
    fit, beta = given.fit, given.network.width
    fraction = np.array(given.network.readout.fractions)
    o = result.order_parameters
    mean = o["m"] @ on.mu0 + (on.kappa.T * (o["zeta"].T @ on.mu1)).sum(axis=0)
    slope = o["psi"] @ on.mu1
    delta = np.einsum("bn,bc,cn->n", on.mu1, o["Q1"], on.mu1) + o["Q2"] @ on.mu2sq - slope**2
    response = np.einsum("bn,bc,cn->n", on.mu1, o["V1"], on.mu1) + o["V2"] @ on.mu2sq
    h = 1.0 / (1.0 + response)
    g = (on.first - mean) * h
    gg = (
        on.square
        - on.first**2
        - on.along**2
        + given.target.noise
        + (on.first - mean) ** 2
        + (on.along - slope) ** 2
        + delta
    ) * h**2
    alpha_beta, w = fit.samples / beta, on.weight
    pairs = np.einsum("bn,cn->bcn", on.mu1, on.mu1)
    hats = {
        "V1": alpha_beta * pairs @ (w * h),
        "V2": alpha_beta * on.mu2sq @ (w * h),
        "q1": alpha_beta * pairs @ (w * gg),
        "q2": alpha_beta * on.mu2sq @ (w * gg),
        "zeta": alpha_beta * (on.mu1 * (w * g)) @ on.kappa,
        "psi": alpha_beta * on.mu1 @ (w * h * (on.along - slope) + w * h * slope),
    }
    t = _marchenko_pastur(beta, fraction, fit.ridge + hats["V2"], hats["V1"])
    m = np.linalg.inv(np.diag(1.0 / t) + hats["V1"])
    q2, q1 = _derivatives(beta, fraction, fit.ridge, hats)
    wanted = {
        "zeta": t[:, None] * hats["zeta"],
        "psi": m @ hats["psi"],
        "V2": t / beta,
        "V1": m / beta,
        "Q2": q2,
        "Q1": q1,
    }
    scale = np.sqrt(np.abs(o["Q1"]).max())
    found = {
        name: float(np.abs(o[name] - value).max() / max(np.abs(value).max(), scale if name in ("zeta", "psi") else 0.0))
        for name, value in wanted.items()
    }
    found["m"] = float(np.abs(on.mu0 @ (w * g)).max() / (np.abs(on.mu0) @ (w * np.abs(on.first))).max())
    test = w @ ((on.first - mean) ** 2 + (on.along - slope) ** 2 + on.square - on.first**2 - on.along**2 + delta)
    found["test error"] = abs(float(test) / result.test_error - 1.0)
    found["train error"] = abs(float(w @ gg) / result.train_error - 1.0)
    return found


def _marchenko_pastur(beta: float, fraction: Array, diagonal: Array, v1: Array) -> Array:
    """T by Newton; complex arguments give complex derivatives."""
    t = (beta * fraction / diagonal).astype(np.result_type(diagonal, v1))
    for _ in range(200):
        s = np.linalg.inv(np.eye(len(t)) + v1 * t[None, :]) @ v1
        t = 0.5 * t + 0.5 * beta * fraction / (diagonal + np.diag(s))
    for _ in range(20):
        inverse = np.linalg.inv(np.eye(len(t)) + v1 * t[None, :])
        s = inverse @ v1
        residual = t * (diagonal + np.diag(s)) - beta * fraction
        # dS/dT_e = -S_be S_ec
        slope = np.diag(diagonal + np.diag(s)) - t[:, None] * s * s.T
        t = t - np.linalg.solve(slope, residual)
    return np.asarray(t)


def _derivatives(beta: float, fraction: Array, ridge: float, hats: Mapping[str, Array]) -> tuple[Array, Array]:
    """-dR/dlambda_b and -dR/dV1_hat_bc by a complex step, with T at its equation."""

    def r(shift: Array, v1: Array) -> Any:
        t = _marchenko_pastur(beta, fraction, ridge + shift + hats["V2"], v1)
        m = np.linalg.inv(np.eye(len(t)) + t[:, None] * v1) * t[None, :]
        return (
            (t[:, None] * hats["zeta"] ** 2).sum()
            + hats["psi"] @ m @ hats["psi"]
            + ((hats["q1"] * m).sum() + hats["q2"] @ t) / beta
        )

    blocks, step = len(fraction), 1e-30
    q2, q1 = np.empty(blocks), np.empty((blocks, blocks))
    for b in range(blocks):
        shift = np.zeros(blocks, dtype=complex)
        shift[b] = 1j * step
        q2[b] = -r(shift, hats["V1"]).imag / step
        for c in range(blocks):
            v1 = hats["V1"].astype(complex)
            v1[b, c] += 0.5j * step
            v1[c, b] += 0.5j * step
            q1[b, c] = -r(np.zeros(blocks), v1).imag / step
    return q2, q1


@lru_cache(maxsize=8)
def rotation(rank: int) -> Array:
    """A rotation that mixes all directions."""
    found = np.linalg.qr(np.random.default_rng(5).standard_normal((rank, rank)))[0]
    return np.asarray(found)
