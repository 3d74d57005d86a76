"""What a noisy label of two indices tells of t, by sums on even grids that are cut off at 5.5 deviations."""

from __future__ import annotations

import math

import numpy as np

from giantstep.spec.link import link_values


def told_by_sums(link: str, noise: float, known: np.ndarray, counts: tuple[int, int]) -> np.ndarray:
    """E[E[t|y] E[t|y]^T] for a diagonal overlap, on even grids of so many kappa and t, and of y."""
    (k, share), (u, weight) = (_grid(5.5, count) for count in counts)
    kappa, t = (np.stack(np.meshgrid(x, x, indexing="ij")).reshape(2, -1) for x in (k, u))
    shares, weights = np.multiply.outer(share, share).ravel(), np.multiply.outer(weight, weight).ravel()
    q, spread, total = np.diag(known)[:, None], math.sqrt(noise), np.zeros((2, 2))
    for place, s in zip(kappa.T, shares, strict=True):
        label = link_values(link)(np.sqrt(q) * place[:, None] + np.sqrt(1.0 - q) * t)
        y = np.arange(label.min() - 6.0 * spread, label.max() + 6.0 * spread, 0.5 * spread)
        bell = np.exp(-((y[:, None] - label) ** 2) / (2.0 * noise)) * weights
        chance, first = bell.sum(axis=1), bell @ t.T
        total += s * 0.5 / math.sqrt(2.0 * math.pi) * (first.T / np.maximum(chance, 1e-300)) @ first
    return total


def _grid(reach: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(-reach, reach, count)
    return x, np.exp(-0.5 * x * x) * (x[1] - x[0]) / math.sqrt(2.0 * math.pi)
