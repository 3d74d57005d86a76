"""The response M of rows that are not isotropic, at complex ridge: what the spectrum needs of a bulk [THEORY 5, 10].

``M = T Sigma (1 + V1_hat T Sigma)^-1`` is averaged over the trace, and along the spike. Points of a spectrum are summed
over. The spectrum of the trained bulk is known by its resolvent: M is a sum of 1/(1 + nu x) over a few complex nu.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from generated.systems import given_bulk as given_equations
from generated.systems import trained_bulk as trained_equations
from giantstep.law.kind import bulk_kind
from giantstep.law.residual import ResidualLaw, residual_law
from giantstep.law.rows_after_step import initial_output
from giantstep.law.rows_of_blocks import RowsOfBlocks
from giantstep.law.trained_bulk import BulkLaw, Resolvent
from giantstep.observe.spectrum.hats import Hats, gaussian_trace
from giantstep.observe.spectrum.neuron_rows import NeuronRows
from giantstep.observe.spectrum.stretched_rows import StretchedRows
from giantstep.system.bulk_system import bulk_arrays, rows_of_blocks
from giantstep.system.problem import Problem

Array = np.ndarray
_LEVEL = 1  # of refinement of the residual's law
_FAR = 4.0  # times the contour's reach: sums over its nodes are then exact


class Rows(Protocol):
    """The rows of a bulk."""

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """M [K, K] averaged over a weight: of the trace, or law_vv between two directions of the spike."""

    def near(self, hats: Hats, there: Hats) -> Array:
        """M over the trace at a place next to another one, for differences: even orders of errors cancel in them."""

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """T [K] that goes with the response M over the trace; share: neurons of each block per input dimension."""


def rows_of(problem: Problem) -> Rows | None:
    """The rows of a problem's bulk, None where they are isotropic. Raises BadInput, NotConverged."""
    kind = bulk_kind(problem.model)
    if kind == "isotropic":
        return None
    if kind == "stretched":
        return StretchedRows(problem)
    if kind == "trained":
        rows = rows_of_blocks(problem)
        return TrainedRows(rows, rows.law(problem.spike.alignment)[0])
    if kind == "neurons":
        return NeuronRows(problem)
    _, arrays = bulk_arrays(problem)
    return GivenRows(arrays) if kind == "matrix" else PointRows(arrays)


@dataclass(frozen=True)
class PointRows:
    """Gaussian rows with covariances at the points of a spectrum, by the generated equations."""

    arrays: Mapping[str, Array]

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``."""
        return np.asarray(_chain(trained_equations, hats, self.arrays)["Mx"] @ self.arrays[weight])

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``."""
        return self.response(there)

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """See ``Rows``."""
        return gaussian_trace(hats, response, share)


@dataclass(frozen=True)
class GivenRows:
    """Rows of given singular values, one block, by the generated equations."""

    arrays: Mapping[str, Array]

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``."""
        along = self.arrays["law_rows" if weight == "law_tr" else weight]
        return np.asarray(_chain(given_equations, hats, self.arrays)["Px"] @ (along * self.arrays["spectrum"]))

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``."""
        return self.response(there)

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """The resolvent itself: of given rows T is explicit."""
        return np.asarray((_chain(given_equations, hats, self.arrays)["Px"] @ self.arrays["law_rows"]).diagonal())


def _chain(equations: ModuleType, hats: Hats, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """What follows from the conjugates at the points, of a spike without a source."""
    zero = np.zeros(len(hats.t))
    state: dict[str, Any] = {"T": hats.t, "V1_hat": hats.v1, "ridge": hats.shift, "V2_hat": zero}
    state |= {"identity": np.eye(len(zero)), "zeta": zero, "average_zeta_hat": zero, **arrays}
    with np.errstate(all="ignore"):
        equations.chain(state)
    return state


class TrainedRows:
    """Rows of covariance ``Sigma_b = constant_b + slope_b x`` over a spectrum that is known by its resolvent."""

    def __init__(self, rows: RowsOfBlocks, law: BulkLaw) -> None:
        model = rows.model
        self.law, self.of = law, rows.covariance
        self.residual: ResidualLaw = residual_law(model.target, initial_output(model), _LEVEL)
        self.constant, self.slope = 1.0 / rows.variance, rows.share / rows.variance
        self.reach = _FAR * float(np.max(np.abs(law.x)))
        self.resolvents: dict[int, Resolvent] = {}
        self._here: tuple[bytes, Array] | None = None

    def response(self, hats: Hats, weight: str = "law_tr") -> Array:
        """See ``Rows``; the ridge has no part in it, along which the last answer serves again."""
        asked = b"".join((weight.encode(), np.asarray(hats.t).tobytes(), np.asarray(hats.v1).tobytes()))
        if self._here is None or self._here[0] != asked:
            self._here = asked, self._response(hats, weight)
        return self._here[1]

    def _response(self, hats: Hats, weight: str) -> Array:
        """P = (A + x B)^-1 by the eigenvalues nu of B A^-1."""
        identity = np.eye(len(hats.t))
        inverse = np.linalg.inv(identity + hats.v1 * (hats.t * self.constant))
        nu, vectors = np.linalg.eig(hats.v1 * (hats.t * self.slope) @ inverse)
        means = np.array([self._means(complex(each), weight, j) for j, each in enumerate(nu)])
        left, right = inverse @ vectors, np.linalg.inv(vectors)
        plain, along = ((left * column) @ right for column in means.T)
        return np.asarray((hats.t * self.constant)[:, None] * plain + (hats.t * self.slope)[:, None] * along)

    def near(self, hats: Hats, there: Hats) -> Array:
        """See ``Rows``."""
        return self.response(there)

    def trace(self, hats: Hats, response: Array, share: Array) -> Array:
        """See ``Rows``."""
        return gaussian_trace(hats, response, share)

    def _means(self, nu: complex, weight: str, which: int) -> tuple[complex, complex]:
        """Means of 1/(1 + nu x) and x/(1 + nu x); the resolvent is followed from that of the last call."""
        if abs(nu) * self.reach < 1.0:
            terms = self.law.weights[weight] / (1.0 + nu * self.law.x)
            return complex(terms.sum()), complex((terms * self.law.x).sum())
        w = 1.0 / nu
        resolvent = self.resolvents.setdefault(which, Resolvent(self.of, self.residual))
        found = resolvent.between(w, resolvent.spike()[None])
        s = complex(found.pairs[1, 1]) if weight == "law_vv" else found.trace
        return w * s, w * (1.0 - w * s)
