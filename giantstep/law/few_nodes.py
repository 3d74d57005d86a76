"""Many laws of residuals, each brought to a few nodes: those of a Gauss rule, by the method of Lanczos."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantstep.law.channel import labels_given
from giantstep.spec.model import Target

Array = np.ndarray
_EXHAUSTED = 1e-13  # of the largest residual: there are no more points that count
_CHUNK = 100_000  # points of all laws at a time


@dataclass(frozen=True)
class Laws:
    """Points e [P, N] of P laws of residuals, and weights [P, R, N] of averages with 1, t and t t^T, R = 1 + m + m^2.

    Points that a law does not have weigh nothing.
    """

    e: Array
    rows: Array

    @property
    def weight(self) -> Array:
        """Of averages of functions of e: [P, N]."""
        return np.asarray(self.rows[:, 0])

    def __getitem__(self, chosen: Array | slice) -> Laws:
        """Some of the laws."""
        return Laws(self.e[chosen], self.rows[chosen])

    def only(self, kept: Array) -> Laws:
        """What is kept [P, N] of them."""
        some = kept.any(axis=0)
        return Laws(self.e[:, some], self.rows[:, :, some] * kept[:, None, some])

    def by_value(self) -> Laws:
        """The same at the values that e takes, every law at all of them: few, where it varies by jumps only."""
        values = np.unique(self.e)
        rows = [(self.rows * (self.e == value)[:, None]).sum(axis=2) for value in values]
        return Laws(np.broadcast_to(values, (len(self.e), len(values))), np.stack(rows, axis=2))

    def drawn(self, target: Target) -> Laws:
        """The same of labels that a channel draws given e, or whose sign may be flipped."""
        if target.channel is not None:
            label, share = labels_given(target.channel, self.e)
            rows = self.rows[:, :, None] * np.moveaxis(share, 0, 1)[:, None]
            return Laws(np.moveaxis(label, 0, 1).reshape(len(self.e), -1), rows.reshape(*rows.shape[:2], -1))
        if target.flips == 0.0:
            return self
        rows = np.concatenate([(1.0 - target.flips) * self.rows, target.flips * self.rows], axis=2)
        return Laws(np.concatenate([self.e, -self.e], axis=1), rows)

    def plus(self, points: Array, probability: Array) -> Laws:
        """The same of e with what is independent and takes values [C] with probabilities [C]."""
        e = (self.e[:, :, None] + points).reshape(len(self.e), -1)
        return Laws(e, (self.rows[..., None] * probability).reshape(*self.rows.shape[:2], -1))


def on_few_nodes(laws: Laws, count: int, about: tuple[float, float]) -> Laws:
    """The laws at ``count`` nodes, fewer where one has fewer points; about: what e is measured from, and its unit.

    The nodes are those of the Gauss rule of ``E 1 + t^2`` in asinh(e), and the weights interpolate: in that variable
    averages of what is analytic about the axis converge for laws of long tails too.
    """
    many = max(1, _CHUNK // laws.e.shape[1])
    parts = [_on_few(laws[start : start + many], count, about) for start in range(0, len(laws.e), many)]
    return Laws(np.concatenate([part.e for part in parts]), np.concatenate([part.rows for part in parts]))


def _on_few(laws: Laws, count: int, about: tuple[float, float]) -> Laws:
    (laws_count, rows, _), (center, unit) = laws.rows.shape, about
    m = math.isqrt(rows - 1)
    squares = [1 + m + i * (m + 1) for i in range(m)]
    measure = np.abs(laws.weight) + np.abs(laws.rows[:, squares]).sum(axis=1)
    root = np.sqrt(measure)
    basis, jacobi, sizes = _lanczos(np.arcsinh((laws.e - center) / unit), root, count)
    e, found = np.full((laws_count, count), center), np.zeros((laws_count, rows, count))
    over = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0)
    projected = (laws.rows * over[:, None]) @ basis.swapaxes(1, 2)
    for size in np.unique(sizes).tolist():
        of = np.flatnonzero(sizes == size)
        nodes, vectors = np.linalg.eigh(jacobi[of, :size, :size])
        length = np.sqrt(measure[of].sum(axis=1))
        e[of, :size] = center + unit * np.sinh(nodes)
        found[of, :, :size] = length[:, None, None] * vectors[:, :1] * (projected[of, :, :size] @ vectors)
    return Laws(e, found)


def _lanczos(points: Array, start: Array, count: int) -> tuple[Array, Array, Array]:
    """Of every law orthonormal vectors [P, count, N] of polynomials of its points times ``start``, Jacobi matrices
    [P, count, count], and how many there are [P]; zero beyond.
    """
    basis = np.zeros((len(points), count, points.shape[1]))
    jacobi, sizes = np.zeros((len(points), count, count)), np.ones(len(points), dtype=int)
    size = np.linalg.norm(start, axis=1, keepdims=True)
    basis[:, 0] = start / np.where(size > 0.0, size, 1.0)  # of a law without weight nothing is left
    least = _EXHAUSTED * np.abs(np.where(start > 0.0, points, 0.0)).max(axis=1)
    for k in range(count):
        row = points * basis[:, k]
        jacobi[:, k, k] = np.einsum("pn,pn->p", row, basis[:, k])
        if k + 1 == count:
            break
        known = basis[:, : k + 1]
        for _ in range(2):
            row -= ((known @ row[:, :, None]).swapaxes(1, 2) @ known)[:, 0]
        length = np.sqrt(np.einsum("pn,pn->p", row, row))
        more = (length > least) & (sizes == k + 1)
        if not more.any():
            break
        sizes += more
        jacobi[:, k, k + 1] = jacobi[:, k + 1, k] = np.where(more, length, 0.0)
        np.divide(row, length[:, None], out=basis[:, k + 1], where=more[:, None])
    return basis, jacobi, sizes
