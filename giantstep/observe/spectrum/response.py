"""The response functions of the square loss at complex ridge -z: the resolvent of the features' Gram matrix at z.

All is written for G = Phi^T Phi / p, p x p, with rows phi(x_i) of Phi: its Stieltjes transform (1/p) tr (G - z)^-1 is
the sum of V2_b at ridge -z. Source: [CUI24] App. F; THEORY section 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from derive.directions import weight_name
from generated.runtime.unknowns import DIRECTION, RESIDUAL, TURNED, UNKNOWN
from giantstep.observe.spectrum.hats import Hats
from giantstep.observe.spectrum.nodes import Nodes
from giantstep.observe.spectrum.rows import Rows, rows_of
from giantstep.observe.spectrum.tensor_nodes import MOST, TensorNodes
from giantstep.quadrature.tensor import Shape
from giantstep.spec.errors import NotConverged
from giantstep.system.kernels import system_kernel
from giantstep.system.problem import Problem
from giantstep.system.span import Span, span_of
from giantstep.system.state import State as Numbers
from giantstep.system.state import members, pairs

Array = np.ndarray
Panels = Any  # what nodes of kappa are chosen by: panels, or of several directions the fineness of a lattice


class KappaNodes(Protocol):
    """Tables of coefficients that are as fine as a function needs."""

    @property
    def base(self) -> Panels:
        """The coarsest choice."""

    def table(self, panels: Panels) -> Array:
        """Rows (kappa, weight, 0, 0, 0, mu0, mu1, mu2sq per block)."""

    def refined(self, panels: Panels, integrand: Callable[[Array], Array]) -> Panels | None:
        """The choice that resolves a function of the rows, None where there is none."""


_STEP = 1e-5  # of differences along the unknowns, relative to their sizes
_SETTLED = 1e-14
_STALLED = 1e-6  # near a hard edge rounding leaves no more
_MOST = 14
_UPPER = 1e-9  # rounding of imaginary parts that have to be positive, relative


@dataclass(frozen=True)
class State:
    """The unknowns at one z (T, then V1_bc with b <= c), their derivative in z, the panels they were found on, and the
    Stieltjes transform.
    """

    z: complex
    unknowns: Array
    slope: Array
    panels: Panels
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
    nodes: KappaNodes = field(init=False)
    rows: Rows | None = field(init=False)
    span: Span | None = field(init=False)
    unresolved: bool = False  # whether nodes of kappa were lacking where a solution was asked for last

    def __post_init__(self) -> None:
        self.rows = rows_of(self.problem)
        blocks, loadings = self.problem.blocks, self.problem.loadings
        self.nodes = Nodes(blocks) if loadings is None else TensorNodes(Shape(blocks, loadings, None))
        limit = self.problem.with_parameters(inverse_dimension=0.0).with_features(link=None)
        self.span = span_of(limit)
        self.blocks, self.rank = len(blocks), self.problem.rank
        self.members, sizes = members(self.kernel, self.blocks, self.blocks)
        self.count, self.overlaps = (int(size) for size in sizes[:2])
        rows = np.array(pairs(self.blocks))
        self.first, self.second = rows.T  # the two indices of each V1_bc among the unknowns

    @property
    def kernel(self) -> ModuleType:
        """The equations of the square loss."""
        return system_kernel("square")

    @property
    def weight(self) -> float:
        """Mean eigenvalue of G apart from the outliers, over the fraction one: sets the scale of the spectrum."""
        rows = self.nodes.table(self.nodes.base)
        k = self.blocks
        squares = rows[:, 5 + k : 5 + 2 * k] ** 2 + rows[:, 5 + 2 * k :]
        alpha, beta, *_ = self.problem.parameters
        return float(alpha / beta * (rows[:, 1] @ squares) @ self.problem.fraction)

    def far(self, z: complex) -> Array:
        """The unknowns to leading order at large |z|."""
        beta = self.problem.parameters.width
        t = -beta * self.problem.fraction / z
        return np.concatenate([t, np.where(self.first == self.second, t[self.first] / beta, 0.0)]).astype(complex)

    def solve(self, z: complex, guess: Array) -> State | None:
        """The physical solution near a guess, or None where Newton's method finds none."""
        panels = self.nodes.refined(self.nodes.base, lambda rows: self._one_over(rows, z, guess))
        for _ in range(12):
            self.unresolved = panels is None
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

    def _state(self, z: complex, unknowns: Array, slope: Array, numbers: Numbers, panels: Panels) -> State | None:
        size = np.abs(unknowns[: self.blocks])
        if np.any(unknowns[: self.blocks].imag < -_UPPER * size):
            return None
        return State(z, unknowns, slope, panels, complex(numbers["V2"].sum()))

    def _newton(self, z: complex, guess: Array, panels: Panels) -> tuple[Array, Array, Numbers] | None:
        """(unknowns, d unknowns/dz, all numbers) or None."""
        node, unknowns, previous = self._node(self.nodes.table(panels)), guess.astype(complex), math.inf
        for _ in range(_MOST):
            scale = self.scale(unknowns)
            try:  # compiled code raises where it divides a complex number by zero
                numbers, residual, matrix, slope = self._linearised(node, z, unknowns)
                right = np.stack([residual, slope], axis=1) / scale[:, None]
                step = np.linalg.solve(matrix * scale / scale[:, None], right)
            except (np.linalg.LinAlgError, ZeroDivisionError):
                return None
            change = float(np.abs(step[:, 0]).max())
            if not change < 1e3:
                return None
            unknowns -= step[:, 0] * scale
            if change < _SETTLED or (change < _STALLED and change > 0.3 * previous):
                numbers = self._residual(node, z, unknowns)
                return unknowns, step[:, 1] * scale, numbers
            previous = change
        return None

    def linearised(self, z: complex, unknowns: Array, panels: Panels) -> tuple[Array, Array, Array]:
        """(residual, its Jacobian, its derivative in the ridge -z) anywhere."""
        _, *found = self._linearised(self._node(self.nodes.table(panels)), z, unknowns)
        return found[0], found[1], found[2]

    def _linearised(self, node: Array, z: complex, unknowns: Array) -> tuple[Numbers, Array, Array, Array]:
        numbers = self._residual(node, z, unknowns)
        residual = numbers.work[self.members[0, RESIDUAL, : self.count]]
        given = self._given(node, z, numbers)
        self.kernel.ridge_slopes(*given)
        slope, matrix = np.zeros(self.count, complex), np.empty((self.count, self.count), complex)
        if self.rows is not None:
            return numbers, *self._of_rows(self.rows, given, numbers)
        slope[: self.blocks] = numbers["slope_T"]
        self.kernel.jacobian(0, *given, numbers.work, self.members, matrix)
        return numbers, residual, matrix, slope

    def _of_rows(self, rows: Rows, given: tuple[Array, ...], numbers: Numbers) -> tuple[Array, Array, Array]:
        """Residual, its Jacobian and its derivative in the ridge, of rows that are not isotropic.

        ``V1 = M/beta`` and the equation of T hold for every law of the rows; T and M move along the tangents of the
        conjugates that the kernel gives.
        """
        ridge, beta = given[2][2], given[2][1].real
        share, shift = beta * self.problem.fraction, ridge + numbers["V2_hat"]
        at = tuple(x.copy() for x in (numbers["T"], numbers["V1_hat"], shift, numbers["V1"]))
        base = Hats(*at[:3])

        def residual(m: Array, t: Array, hat: Array, shift: Array, own: Array) -> Array:
            hats = Hats(t, hat, shift)
            return np.concatenate([t - rows.trace(hats, m, share), (own - m / beta)[self.first, self.second]])

        def along(direction: tuple[Array, ...]) -> Array:
            ends = [tuple(x + h * d for x, d in zip(at, direction, strict=True)) for h in (_STEP, -_STEP)]
            values = [residual(rows.near(base, Hats(*end[:3])), *end) for end in ends]
            return np.asarray((values[0] - values[1]) / (2.0 * _STEP))

        here = residual(rows.response(base), *at)
        size = max(float(np.abs(shift).min()), 1e-300)
        slope = along((0.0 * at[0], 0.0 * at[1], np.full_like(shift, size), 0.0 * at[3])) / size
        columns = [along(direction) / size for direction, size in self._tangents(given, numbers)]
        return here, np.stack(columns, axis=1), slope

    def _tangents(self, given: tuple[Array, ...], numbers: Numbers) -> Iterator[tuple[tuple[Array, ...], float]]:
        """Directions of (T, V1_hat, shift, V1) along each unknown, with the size of the unknown they are scaled by."""
        sizes = self.scale(numbers.work[self.members[0, UNKNOWN, : self.count]])
        places, one = self.members[0, DIRECTION, : self.count], np.empty((1, 1), complex)
        turned = places + self.members[0, TURNED, : self.count]
        for column, size in enumerate(sizes.tolist()):
            numbers.work[places] = numbers.work[turned] = 0.0
            self.kernel.jacobian(0, *given, numbers.work, self.members[:, :, column : column + 1].copy(), one)
            moved = ("d_T", "d_V1_hat", "d_V2_hat", "d_V1")
            yield tuple(size * numbers[name].copy() for name in moved), size

    def scale(self, unknowns: Array) -> Array:
        """Sizes that the unknowns are measured by: of V1_bc the root of V1_bb V1_cc."""
        k = self.blocks
        t = np.abs(unknowns[:k])
        size = np.sqrt(np.abs(unknowns[k:][self.first == self.second]))
        scale = np.concatenate([t, size[self.first] * size[self.second]])
        return np.where(scale > 0.0, scale, 1.0)

    def _residual(self, node: Array, z: complex, unknowns: Array, inverse_dimension: float = 0.0) -> Numbers:
        """All numbers of the system at given unknowns."""
        numbers = Numbers(self.kernel, self.blocks, node.shape[1], complex)
        places = self.members[0, UNKNOWN, : self.count]
        numbers.work[places] = unknowns
        numbers.work[places + self.members[0, TURNED, : self.count]] = unknowns
        self.kernel.residual(0, *self._given(node, z, numbers, inverse_dimension))
        return numbers

    def _given(self, node: Array, z: complex, numbers: Numbers, inverse_dimension: float = 0.0) -> tuple[Array, ...]:
        """What the kernels take: the ridge is -z."""
        alpha, beta, _, noise, _ = self.problem.parameters
        parameters = np.array([alpha, beta, -z, noise, inverse_dimension, 1.0], complex)
        return node, self.problem.fraction, parameters, numbers.vector, numbers.matrix, numbers.field

    def _node(self, rows: Array) -> Array:
        return np.ascontiguousarray(rows.T)

    def _one_over(self, rows: Array, z: complex, unknowns: Array) -> Array:
        """1/(1 + V(kappa)) times the squares of the coefficients, at the nodes of a table."""
        with np.errstate(all="ignore"):
            found = 1.0 / (1.0 + self._residual(self._node(rows), z, unknowns)["V"])
        return np.where(np.isfinite(found), found, 1e300)

    def overlap_matrix(self, state: State, inverse_dimension: float = 0.0, span: Span | None = None) -> Array:
        """Matrix [(1+q)K, (1+q)K] of the linear equations of (m, zeta_1 .. zeta_q) at a solution, free of the target.

        span: m stands for coordinates of its functions; rows and columns from its rank on to K are zero. The block of
        (zeta_i, zeta_j) is quadratic in kappa: that of one direction along e_i + e_j tells it.
        """
        rows, k = self.nodes.table(state.panels), self.blocks
        if span is not None:
            rows = span.columns(rows)
        if not isinstance(self.nodes, TensorNodes):
            return self._overlaps(rows, state, inverse_dimension)
        kappa = self.nodes.coordinates(state.panels)
        rank = kappa.shape[1]
        found = np.zeros(((1 + rank) * k, (1 + rank) * k), complex)
        one = np.eye(k)
        places = [slice((1 + j) * k, (2 + j) * k) for j in range(rank)]

        def along(direction: Array) -> Array:
            return self._overlaps(np.column_stack([kappa @ direction, rows[:, 1:]]), state, inverse_dimension)

        for j, place in enumerate(places):
            single = along(np.eye(rank)[j])
            found[:k, :k], found[:k, place] = single[:k, :k], single[:k, k:]
            found[place, :k], found[place, place] = single[k:, :k], single[k:, k:]
        for i, j in combinations(range(rank), 2):
            both = along((np.eye(rank)[i] + np.eye(rank)[j]) / math.sqrt(2.0))[k:, k:] - one
            each = 0.5 * (found[places[i], places[i]] + found[places[j], places[j]]) - one
            found[places[i], places[j]] = found[places[j], places[i]] = both - each
        return found

    def sources(self, state: State) -> Array:
        """[qK, qK]: zeta_hat by zeta, the spike taken out of the rows; beta/T_b where these are isotropic."""
        beta, k, rank = self.problem.parameters.width, self.blocks, self.problem.rank
        if self.rows is None:
            return np.diag(np.tile(beta / state.unknowns[:k], rank))
        numbers = self._residual(self._node(self.nodes.table(state.panels)), state.z, state.unknowns)
        hats = Hats(state.unknowns[:k], numbers["V1_hat"], numbers["V2_hat"] - state.z)
        names = [[weight_name(i, j, rank, 1) for j in range(rank)] for i in range(rank)]
        along = np.block([[self.rows.response(hats, name) for name in row] for row in names])
        return np.asarray(beta * (np.linalg.inv(along) - np.kron(np.eye(rank), numbers["V1_hat"])))

    def _overlaps(self, rows: Array, state: State, inverse_dimension: float) -> Array:
        """The matrix [2K, 2K] of one direction, the first column of the rows."""
        node, n = self._node(rows), self.overlaps
        numbers = self._residual(node, state.z, state.unknowns, inverse_dimension)
        matrix = np.empty((n, n), complex)
        given = self._given(node, state.z, numbers, inverse_dimension)
        self.kernel.jacobian(1, *given, numbers.work, self.members, matrix)
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
    missed = f"the spectrum cannot be followed to x = {z.real:.6g}"
    if response.rank > 1 and response.unresolved:
        samples, width, *_ = response.problem.parameters
        more = ", or raise fit.samples above network.width" if samples <= width else ""
        raise NotConverged(
            f"{missed}: averages over the {response.rank} directions of the spike need more than {MOST:,} nodes there",
            f"lower the strength of the spike{more}",
        )
    raise NotConverged(missed, "change the model slightly, or report this")


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
