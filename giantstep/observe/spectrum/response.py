"""The response functions of the square loss at complex ridge -z: the resolvent of the features' Gram matrix at z.

All is written for G = Phi^T Phi / p, p x p, with rows phi(x_i) of Phi: its Stieltjes transform (1/p) tr (G - z)^-1 is
the sum of V2_b at ridge -z. Source: [CUI24] App. F; THEORY section 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np

from giantstep.observe.spectrum.nodes import Nodes, Panel
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import generated_module
from giantstep.system.problem import Problem
from giantstep.system.span import Span, span_of

Array = np.ndarray

_SETTLED = 1e-14
_STALLED = 1e-6  # near a hard edge rounding leaves no more
_MOST = 14
_UPPER = 1e-9  # rounding of imaginary parts that have to be positive, relative


@dataclass(frozen=True)
class State:
    """The unknowns at one z: ``unknowns`` (T, then V1 row by row), their derivative in z, the panels they were found
    on, and the Stieltjes transform.
    """

    z: complex
    unknowns: Array
    slope: Array
    panels: tuple[Panel, ...]
    stieltjes: complex

    @property
    def density(self) -> float:
        """Density of eigenvalues at a real z."""
        return max(0.0, self.stieltjes.imag / math.pi)

    def towards(self, z: complex) -> Array:
        """Unknowns expected at another z, to first order."""
        return self.unknowns + self.slope * (z - self.z)


@dataclass
class Response:
    """Solves the response of the features of a problem at complex z, from nearby solutions."""

    problem: Problem
    nodes: Nodes = field(init=False)
    kernel: ModuleType = field(init=False)
    span: Span | None = field(init=False)

    def __post_init__(self) -> None:
        self.kernel = generated_module("generated.solvers.response")
        self.nodes = Nodes(self.problem.blocks)
        limit = replace(self.problem, target=None, parameters=np.array([*self.problem.parameters[:4], 0.0]))
        self.span = span_of(limit)
        self.blocks = len(self.problem.blocks)
        self.count = self.blocks + self.blocks**2

    @property
    def weight(self) -> float:
        """Mean eigenvalue of G apart from the outliers, over the fraction one: sets the scale of the spectrum."""
        rows = self.nodes.table(self.nodes.base)
        k = self.blocks
        squares = rows[:, 5 + k : 5 + 2 * k] ** 2 + rows[:, 5 + 2 * k :]
        alpha, beta = self.problem.parameters[:2]
        return float(alpha / beta * (rows[:, 1] @ squares) @ self.problem.fraction)

    def far(self, z: complex) -> Array:
        """The unknowns to leading order at large |z|."""
        beta = self.problem.parameters[1]
        t = -beta * self.problem.fraction / z
        return np.concatenate([t, np.diag(t / beta).ravel()]).astype(complex)

    def solve(self, z: complex, guess: Array) -> State | None:
        """The physical solution near a guess, or None where Newton's method finds none."""
        panels = self.nodes.refined(self.nodes.base, lambda rows: self._one_over(rows, z, guess))
        for _ in range(12):
            found = None if panels is None else self._newton(z, guess, panels)
            if panels is None or found is None:
                return None
            unknowns = found[0]
            if z.imag == 0.0 and _sign(unknowns[: self.blocks]) < 0.0:  # of two conjugate solutions that above
                unknowns = unknowns.conj()
                found = self._newton(z, unknowns, panels)
                if found is None:
                    return None
                unknowns = found[0]
            finer = self.nodes.refined(panels, lambda rows, u=unknowns: self._one_over(rows, z, u))  # type: ignore[misc]
            if finer == panels:
                return self._state(z, *found, panels)
            panels, guess = finer, unknowns
        return None

    def _state(self, z: complex, unknowns: Array, slope: Array, work: Array, panels: tuple[Panel, ...]) -> State | None:
        size = np.abs(unknowns[: self.blocks])
        if np.any(unknowns[: self.blocks].imag < -_UPPER * size):
            return None
        start, shape = self.kernel.layout(self.blocks, 1)["V2"]
        return State(z, unknowns, slope, panels, complex(work[start : start + math.prod(shape)].sum()))

    def _newton(self, z: complex, guess: Array, panels: tuple[Panel, ...]) -> tuple[Array, Array, Array] | None:
        """(unknowns, d unknowns/dz, workspace) or None."""
        rows, n = self.nodes.table(panels), self.count
        work = self._workspace(len(rows), z, guess)
        matrix, slope = np.empty((n, n), complex), np.empty(n, complex)
        unknowns, previous = work[6 : 6 + n], math.inf
        for _ in range(_MOST):
            self.kernel.newton(rows, self.problem.fraction, work, matrix, slope)
            scale = self.scale(unknowns)
            right = np.stack([work[6 + n : 6 + 2 * n], slope], axis=1) / scale[:, None]
            try:
                step = np.linalg.solve(matrix * scale / scale[:, None], right)
            except np.linalg.LinAlgError:
                return None
            change = float(np.abs(step[:, 0]).max())
            if not change < 1e3:
                return None
            unknowns -= step[:, 0] * scale
            if change < _SETTLED or (change < _STALLED and change > 0.3 * previous):
                self.kernel.residual(rows, self.problem.fraction, work)
                return unknowns.copy(), step[:, 1] * scale, work
            previous = change
        return None

    def linearised(self, z: complex, unknowns: Array, panels: tuple[Panel, ...]) -> tuple[Array, Array, Array]:
        """(residual, its Jacobian, its derivative in the ridge -z) anywhere."""
        rows, n = self.nodes.table(panels), self.count
        work = self._workspace(len(rows), z, unknowns)
        matrix, slope = np.empty((n, n), complex), np.empty(n, complex)
        self.kernel.newton(rows, self.problem.fraction, work, matrix, slope)
        return work[6 + n : 6 + 2 * n].copy(), matrix, slope

    def scale(self, unknowns: Array) -> Array:
        """Sizes that the unknowns are measured by: of V1_bc the root of V1_bb V1_cc."""
        k = self.blocks
        t = np.abs(unknowns[:k])
        diagonal = np.sqrt(np.abs(unknowns[k:].reshape(k, k).diagonal()))
        scale = np.concatenate([t, np.outer(diagonal, diagonal).ravel()])
        return np.where(scale > 0.0, scale, 1.0)

    def _workspace(self, count: int, z: complex, unknowns: Array) -> Array:
        work = np.zeros(self.kernel.workspace_size(self.blocks, count), complex)
        work[:5] = self.problem.parameters
        work[2], work[5] = -z, 1.0
        work[6 : 6 + self.count] = unknowns
        return work

    def _one_over(self, rows: Array, z: complex, unknowns: Array) -> Array:
        """1/(1 + V(kappa)) times the squares of the coefficients, at the nodes of a table."""
        work = self._workspace(len(rows), z, unknowns)
        self.kernel.residual(rows, self.problem.fraction, work)
        start, _ = self.kernel.layout(self.blocks, len(rows))["V"]
        with np.errstate(all="ignore"):
            found = 1.0 / (1.0 + work[start : start + len(rows)])
        return np.where(np.isfinite(found), found, 1e300)

    def overlap_matrix(self, state: State, inverse_dimension: float = 0.0, span: Span | None = None) -> Array:
        """Matrix [2K, 2K] of the linear equations of (m, zeta) at a solution, free of the target.

        span: m stands for coordinates of its functions; rows and columns from its rank on to K are zero.
        """
        rows, n = self.nodes.table(state.panels), 2 * self.blocks
        if span is not None:
            rows = span.columns(rows)
        work = self._workspace(len(rows), state.z, state.unknowns)
        work[4] = inverse_dimension
        matrix = np.empty((n, n), complex)
        self.kernel.overlap_matrix(rows, self.problem.fraction, work, matrix)
        return matrix


def _sign(values: Array) -> float:
    """Of the imaginary parts, zero where they are rounding."""
    imaginary = values.imag / np.abs(values)
    return float(imaginary[np.argmax(np.abs(imaginary))]) if np.abs(imaginary).max() > _UPPER else 0.0


def follow(response: Response, state: State, z: complex, tolerance: float = 0.2, most: int = 400) -> State:
    """The solution at z by continuation from a state, steps halved until each is predicted to ``tolerance``.

    Steps are equal in log z. Raises NotConverged.
    """
    targets = [z]
    for _ in range(most):
        target = targets[-1]
        found = _step(response, state, target, tolerance)
        if found is not None:
            state = found
            targets.pop()
            if not targets:
                return state
            continue
        targets.append(between(state.z, target))
        if abs(targets[-1] - state.z) < 1e-15 * abs(state.z):
            break
    raise NotConverged(
        f"the spectrum cannot be followed to x = {z.real:.6g}", "change the model slightly, or report this"
    )


def between(first: complex, second: complex) -> complex:
    """The geometric mean of two points of the upper half-plane; on the real axis where both are."""
    ratio = second / first
    if ratio.imag == 0.0 and ratio.real > 0.0:
        return first * math.sqrt(ratio.real)
    middle: complex = first * np.exp(0.5 * np.log(ratio))
    return middle


def _step(response: Response, state: State, z: complex, tolerance: float) -> State | None:
    guess = state.towards(z)
    k = response.blocks
    scale = response.scale(state.unknowns)
    if np.abs((guess - state.unknowns) / scale)[:k].max() > 1.0:
        return None
    found = response.solve(z, guess)
    if found is None:
        return None
    missed = np.abs((found.unknowns - guess) / response.scale(found.unknowns)).max()
    return found if missed < tolerance else None
