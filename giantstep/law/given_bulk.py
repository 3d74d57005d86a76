"""A bulk given as a file: its rows and directions, and what the equations know of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np

from derive.directions import norm_weight_names, weight_name
from giantstep.law.given_file import arrays_of, blocks_of, changed, directions_in, rows_of
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import is_linear
from giantstep.spec.model import Model, Readout

Array = np.ndarray
_ROUNDING = 1e-6
_ALIKE = 20.0  # times 1/d: the relative variance of squared norms of rows that share one mean
_NOTHING = 1e-7  # of a unit vector: what is left of it beside others is rounding


@dataclass(frozen=True, eq=False)
class GivenBulk:
    """The rows [p, d] of a given first layer, over the root of their variance: a mean square norm of one.

    block [p]: the number of the readout value of every row; variances [K]: mean square norms as given, of all rows of
    the same value where these are alike. spike [d], target [m, d]: the directions, None where none are given.
    indices: m.
    """

    rows: Array
    block: Array
    variances: tuple[float, ...]
    indices: int
    spike: Array | None
    target: Array | None

    @property
    def alignments(self) -> tuple[float, ...] | None:
        """Of the spike with the direction of every index."""
        return None if self.target is None else tuple((self.target @ self.spike).tolist())

    @cached_property
    def norms(self) -> Array:
        """What the squared norms of the rows [p] are beyond one, their mean for each readout value."""
        return np.asarray(np.einsum("ij,ij->i", self.rows, self.rows) - 1.0)

    @cached_property
    def spectral(self) -> Mapping[str, Array]:
        """The law [J] of one block over its singular values, by name. Source: [CUI24] eq. (108)-(116).

        ``spectrum``: their squares; ``law_rows``: neurons per input dimension; ``law_vv``, ``law_vo``, ``law_oo``:
        products of the projections of the spike and of the rest of the target on the right singular vectors, numbered
        where the target has several indices; ``law_nn`` [1, 1, J], ``law_vn``, ``law_on`` [1, J]: of the norms on the
        left ones, and of these with W v and W theta_perp.
        """
        rows, d = self.rows.shape
        squares, vectors = _singular(self.rows)
        law_rows = np.zeros(d)
        law_rows[: min(rows, d)] = 1.0 / d
        weights = self._weights(lambda one, other: (vectors.T @ one) * (vectors.T @ other), np.full(d, 1.0 / d))
        norms = vectors.T @ (self.rows.T @ self.norms)  # times the singular values
        along = self._weights_of_norms(lambda one: (vectors.T @ one) * norms)
        square = np.divide(norms**2, squares, out=np.zeros(d), where=squares > _NOTHING**2 * squares[0])
        found = {"spectrum": squares, "law_rows": law_rows, **weights, **along, "law_nn": square}
        beyond = max(0.0, float(self.norms @ self.norms) - float(square.sum()))
        if rows > d:  # neurons that no singular vector reaches
            more = {"law_rows": (rows - d) / d, "law_nn": beyond}
            found = {name: np.append(values, more.get(name, 0.0)) for name, values in found.items()}
        else:
            found["law_nn"][rows - 1] += beyond
        blocks = {"law_nn": (1, 1, -1), **dict.fromkeys(along, (1, -1))}
        return MappingProxyType({name: values.reshape(blocks.get(name, -1)) for name, values in found.items()})

    @cached_property
    def neurons(self) -> Mapping[str, Array]:
        """The law of several blocks over pairs of rows [p, p], by name.

        ``gram``: products of rows; ``member`` [K, p]: which block a row is of; ``law_vv``, ``law_vo``, ``law_oo``:
        products of the projections of spike and target on the rows, means over directions where these are generic;
        ``law_vn``, ``law_on``, ``law_nn``: of these with the norms, and of the norms.
        """
        p, d = self.rows.shape
        gram = self.rows @ self.rows.T
        member = (self.block == np.arange(len(self.variances))[:, None]).astype(float)
        weights = self._weights(lambda one, other: np.outer(self.rows @ one, self.rows @ other), gram / d)
        weights |= self._weights_of_norms(lambda one: np.outer(self.rows @ one, self.norms))
        weights["law_nn"] = np.outer(self.norms, self.norms)
        return MappingProxyType({"member": member, "unit_G": np.eye(p), "gram": gram, **weights})

    def _weights(self, product: Callable[[Array, Array], Array], generic: Array) -> dict[str, Array]:
        """What the equations know of the spike v and of u_j, the target beside it, by name.

        product: of two directions; generic: its mean over directions, for those that are not given.
        """
        m, known = self.indices, self._directions

        def between(first: int, second: int) -> Array:
            one, other = known[first], known[second]
            if one is None or other is None:
                return generic if first == second else np.zeros_like(generic)
            return product(one, other)

        pairs = ((i, j) for i in range(1 + m) for j in range(i, 1 + m))
        return {weight_name(i, j, 1, m): between(i, j) for i, j in pairs}

    def _weights_of_norms(self, product: Callable[[Array], Array]) -> dict[str, Array]:
        """The same of a direction with the norms, whose mean over directions is zero."""
        nothing = np.zeros_like(product(np.zeros(self.rows.shape[1])))
        names = norm_weight_names(self.indices)
        return {
            name: nothing if one is None else product(one) for name, one in zip(names, self._directions, strict=True)
        }

    @property
    def _directions(self) -> list[Array | None]:
        """The spike and what it leaves of the target, None where they are generic."""
        if self.spike is None or self.target is None:
            return [None] * (1 + self.indices)
        return [self.spike, *_beside(self.spike, self.target)]


def given_bulk(model: Model) -> GivenBulk:
    """The bulk of a model with step.bulk = "matrix". Raises BadInput where the file is none, or is of another model."""
    step, network = model.step, model.network
    assert step is not None and step.matrix is not None
    found = _read(step.matrix, changed(step.matrix), model.target.indices, network.readout)
    rows, dimension = found.rows.shape
    if abs(rows / dimension - network.width) > _ROUNDING * network.width:
        raise BadInput(
            f"step.matrix has {rows} rows of length {dimension}, and network.width = {network.width:g}",
            f"set network.width = {rows / dimension!r}, the number of neurons over the input dimension",
        )
    return found


def given_law(model: Model) -> Mapping[str, Array]:
    """What the equations of its rows are given, by name. Raises BadInput, also for rows of very unequal norms."""
    bulk = with_law(model)
    return bulk.neurons if len(bulk.variances) > 1 else bulk.spectral


def with_law(model: Model) -> GivenBulk:
    """The bulk of such a model. Raises BadInput, also where its rows have norms that the law of features leaves out."""
    bulk = given_bulk(model)
    _check_norms(model, bulk)
    return bulk


def given_rows(model: Model) -> tuple[Array, Array | None, Array | None]:
    """(rows [p, d] block by block, spike [d], target [m, d]) for a simulation. Raises BadInput."""
    bulk = given_bulk(model)
    return bulk.rows[np.argsort(bulk.block, kind="stable")], bulk.spike, bulk.target


@lru_cache(maxsize=8)
def _read(path: str, written: int, indices: int, readout: Readout) -> GivenBulk:
    """``written``: when the file was, which tells its versions apart."""
    arrays = arrays_of(path)
    w = rows_of(path, arrays)
    block = blocks_of(path, arrays, len(w), readout.fractions)
    squares = np.einsum("ij,ij->i", w, w)
    variances = _variances(squares, block, np.array(readout.values), w.shape[1])
    for variance in variances:
        if not 1e-12 < variance < 1e12:
            raise BadInput(
                f"the rows of step.matrix have a mean square norm of {variance:.3g}", "it must be of order one"
            )
    spike, target = directions_in(path, arrays, w.shape[1], indices)
    rows = w / np.sqrt(variances[block])[:, None]
    return GivenBulk(rows, block, tuple(variances.tolist()), indices, spike, target)


def _variances(squares: Array, block: Array, values: Array, dimension: int) -> Array:
    """Mean square norms [K]: of all rows of the same value, where these are alike, else block by block.

    squares [p]: squared norms of the rows; block [p]: the numbers of their blocks; values [K].
    """
    own = block == np.arange(len(values))[:, None]
    found = (own @ squares) / own.sum(axis=1)
    for value in np.unique(values):
        same = values[block] == value
        if squares[same].var() <= _ALIKE / dimension * squares[same].mean() ** 2:
            found[values == value] = squares[same].mean()
    return np.asarray(found)


def _check_norms(model: Model, bulk: GivenBulk) -> None:
    """Raises BadInput where norms vary by order one within the blocks of a value: the law is of first order in them.

    What it leaves out is of the order of their variance, which is 2/d for Gaussian rows.
    """
    if is_linear(model.network.activation):
        return
    values, mean = np.array(model.network.readout.values), np.array(bulk.variances)[bulk.block]
    beyond, allowed = bulk.norms * mean, _ALIKE / bulk.rows.shape[1]
    for value in np.unique(values):
        same = values[bulk.block] == value
        found = float(np.mean(beyond[same] ** 2) / np.mean((beyond + mean)[same]) ** 2)
        if found > allowed:
            raise BadInput(
                f"the squared norms of the rows of step.matrix vary too much within readout value {value:g}: their "
                f"variance over their squared mean is {found:.3g}, and the equations leave out terms of that size",
                f"it must be at most {_ALIKE:g}/d = {allowed:.3g}: sort the rows into classes of similar norm by the "
                "array 'block', and give the value once for each class, network.readout.values = [1.0, 1.0, 1.0] "
                "with the shares of the classes as network.readout.fractions",
            )


def _singular(w: Array) -> tuple[Array, Array]:
    """Squared singular values [d], largest first, and right singular vectors [d, d] as columns."""
    values, vectors = np.linalg.eigh(w.T @ w)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _beside(v: Array, theta: Array) -> list[Array | None]:
    """Orthonormal u_j beside v with ``theta_i = gamma_i v + sum_j L_ij u_j``, L of `law.directions.mixing`.

    None, any direction, where a theta lies in the span of v and those before.
    """
    known, found = v[None], []
    for direction in theta:
        rest = direction
        for _ in range(2):  # the first projection leaves rounding of the size of the whole
            rest = rest - known.T @ (known @ rest)
        norm = float(np.linalg.norm(rest))
        unit = rest / norm if norm > _NOTHING else None
        found.append(unit)
        known = known if unit is None else np.vstack([known, unit])
    return found
