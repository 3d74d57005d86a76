"""The equations of two fits: every recorded step, and the published form of their solution as an oracle."""

from __future__ import annotations

import numpy as np
import pytest

from derive.check import check_derivation
from derive.replica.two_kinds import two_kinds_derivation
from derive.two_readouts import pair_system
from giantstep.system.kernels import pair_kernel

Array = np.ndarray
COMPOSED = {"weights of two kinds", "conjugate pairs of two fits", "functional of two fits"}


@pytest.mark.parametrize(
    "law",
    [
        "isotropic",
        pytest.param("penalised", marks=pytest.mark.slow),
        pytest.param("norms", marks=pytest.mark.slow),
        pytest.param("inputs", marks=pytest.mark.slow),
    ],
)
def test_every_step_holds_at_a_random_point(law: str) -> None:
    system = pair_system(1, 1, law)  # type: ignore[arg-type]
    for part in (system.derivation, two_kinds_derivation()):
        for step in check_derivation(part):
            if step.outcome == "compared":
                assert float(step.error) < 1e-45, step.label
            else:
                assert step.outcome in ("given", "assumed") or step.label in COMPOSED, step.label


@pytest.mark.parametrize("overlap", [0.0, 0.6, 1.0])
def test_overlaps_are_those_of_the_closed_form(overlap: float) -> None:
    """Typed from docs/theory.md, section 14: C, Q2_12, Q1_12 with B = (1 + V1_hat T)^-1; to rounding."""
    random = np.random.default_rng(3)
    blocks, beta, d = 3, 0.8, 500.0
    T, zeta, psi, m, q2 = random.uniform(0.3, 1.0, (5, blocks))
    fraction = np.array([0.2, 0.3, 0.5])
    root, other = random.standard_normal((2, blocks, blocks))
    V1, q1 = 0.2 * root @ root.T, 0.1 * other @ other.T
    rho = np.full(blocks, overlap)
    B = np.linalg.inv(np.eye(blocks) + V1 * T)  # P; the published B is its transpose
    M = T[:, None] * B
    A = beta * np.outer(psi, psi) + q1

    def residual(Q2: Array) -> Array:
        C = B @ (A + beta * V1 @ np.diag(rho * Q2) @ V1) @ B.T + beta * np.outer(zeta, zeta)
        return Q2 - T**2 / (beta**2 * fraction) * (rho * np.diag(C) + q2) - m**2 / (beta * fraction * d)

    start = residual(np.zeros(blocks))
    Q2 = -np.linalg.solve(np.array([residual(e) - start for e in np.eye(blocks)]).T, start)
    wanted = np.outer(M @ psi, M @ psi) + B.T @ np.diag(rho * Q2) @ B + M @ q1 @ M / beta
    state = {"T": T, "V1_hat": V1, "P": B, "M": M, "S": B @ V1, "m": m, "psi_hat": psi, "zeta_hat": zeta}
    parameters = np.array([1.0, beta, 0.1, 0.0, 1.0 / d])
    rows = pair_kernel("isotropic").rows
    given = (
        np.concatenate([np.ravel(state[name]) for name in rows.names]),
        tuple(state[name].shape for name in rows.names),
    )
    maps = rows.maps(fraction, parameters, given, rho[None])[0]
    upper = np.triu_indices(blocks)
    missed = maps @ np.concatenate([[1.0], beta * Q2, wanted[upper], q2, q1[upper], np.zeros(blocks)])
    assert np.abs(missed[:blocks]).max() < 1e-13 * np.abs(beta * Q2 * fraction / T**2).max()
    assert np.abs(missed[blocks:]).max() < 1e-13 * np.abs(wanted).max()
