"""How the equations of stretched rows move with what they are given: second derivatives of a potential.

Of V1_hat, T and the sources zeta_hat, psi_hat, norm_hat, the rows have the potential ``S = R + sum_b Q2_b y_b``, where
``T = beta pi/(lambda + V2_hat - y)``: it is quadratic in the sources, and linear in Q2 and Q1_hat. Its derivatives are
what the equations say of V1 (in Q1_hat, over beta), Q1 (in V1_hat, with the other sign) and zeta, psi, norm (in their
sources, halved). So what moves along V1_hat and T tells all that moves along Q2 and Q1_hat, and along the sources but
for the derivatives in two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Layout, Numbers, Stage, places_in
from giantstep.system.added_samples import ADJOINT, AddedSamples, Stages
from giantstep.system.exchange import Exchange

Array = np.ndarray
_OTHERS = ("adjoint", "m", "Q1", "T", "V1")  # unknowns that have no source


@dataclass(frozen=True)
class HessianStages:
    """Stages of tangents. Along unknowns: conjugates and the equations of m by ``hats``, and what follows from no rows
    by ``plain``. Along V1_hat and T: the residual of X, what does not follow from the adjoint of X, its residual, what
    follows. Along sources: the equations of what these go with.
    """

    still: Stage
    hats: Stage
    plain: Stage
    resolvent: Stage
    chain: Stage
    adjoint: Stage
    last: Stage
    sources: Stage


@lru_cache(maxsize=16)
def sources_of(equations: ModuleType) -> dict[str, str]:
    """Names of sources by those of the unknowns that they go with."""
    parts = {name: name.partition("_") for name in equations.UNKNOWNS if name not in _OTHERS}
    return {name: f"{base}_hat{bar}{index}" for name, (base, bar, index) in parts.items()}


def hessian_stages(equations: ModuleType, stages: Stages) -> HessianStages:
    """The stages of a module's equations."""
    of, sources = equations.tangents.contractions, sources_of(equations)
    hats = tuple(f"d_{name}_hat" for name in ("V1", "Q1", "Q2", "V2")) + tuple(f"d_{hat}" for hat in sources.values())
    stops = (*hats, *(name for name in of.functions if name.startswith("d_") and name in of.named))
    unknowns = tuple(f"d_{name}" for name in equations.UNKNOWNS)
    rows = tuple(f"d_residual_{name}" for name in equations.UNKNOWNS if name != "m")
    left = f"d_residual_{ADJOINT}"
    still = Stage(of, (*rows, "d_residual_m", "d_residual_X", left), after=stages.all, without=of.moving)
    averages = Stage(of, (*hats, "d_residual_m"), of=unknowns, moved=unknowns)
    direct = tuple(name for name in unknowns if name not in ("d_T", "d_adjoint")) + ("d_Q2_hat", "d_V2_hat")
    plain = Stage(of, rows, of=direct, moved=direct, stops=stops)
    moved = ("d_V1_hat", "d_T", "d_X", f"d_{ADJOINT}")

    def along(results: Sequence[str], **more: Sequence[object]) -> Stage:
        return Stage(of, results, **{"of": moved, **more}, moved=moved, stops=stops)

    before = along(("d_residual_X",), without=("d_X",))
    chain = along((*rows, left), without=(f"d_{ADJOINT}",), after=(before,))
    adjoint, last = along((left,), of=(f"d_{ADJOINT}",)), along(rows, of=(f"d_{ADJOINT}",))
    given = tuple(f"d_{hat}" for hat in sources.values())
    answers = tuple(f"d_residual_{name}" for name in sources)
    linear = Stage(of, answers, of=given, moved=given, stops=stops)
    return HessianStages(still, averages, plain, along(("d_residual_X",)), chain, adjoint, last, linear)


@dataclass(frozen=True)
class RowsHessian:
    """The Jacobian of a system of stretched rows, where it has been evaluated; fraction [K]: of the blocks."""

    fraction: Array
    equations: ModuleType
    stages: HessianStages
    added: AddedSamples

    @property
    def numbers(self) -> Numbers:
        return self.added.numbers

    def jacobian(self, exchange: Exchange) -> Array:
        """The derivative of the residuals in the unknowns [n, n]."""
        value, places = self.numbers.value, _places(self.equations, self.numbers.layout, exchange)
        count = sum(len(columns) for columns, _ in exchange.passes)
        matrix, moves = np.empty((count, count)), np.empty((len(places.moves), count))
        self.numbers.run(self.stages.still)
        for columns, unit in exchange.passes:
            value[exchange.moved] = unit
            self.numbers.run(self.stages.hats)
            self.numbers.run(self.stages.plain)
            matrix[:, columns] = value[exchange.image[:, : len(columns)]]
            moves[:, columns] = value[places.moves[:, : len(columns)]]
        matrix[places.equations] += self._of_rows()[places.rows] @ moves
        return matrix

    def _of_rows(self) -> Array:
        """The derivative of all equations but that of m, family by family, in V1_hat, T, Q2, Q1_hat and the sources."""
        numbers, sources = self.numbers, [*sources_of(self.equations)]
        blocks = len(numbers["T"])
        pairs = np.triu_indices(blocks)
        along, of_sources = self._along_rows(pairs), self._along_sources(sources)
        one, many = np.eye(blocks), len(pairs[0])
        share = np.where(pairs[0] == pairs[1], 1.0, 0.5)  # an entry of V1_hat moves with the one beside the diagonal
        weight, t = numbers.parameters[1] * self.fraction, numbers["T"]
        of_y = weight / (t - numbers["residual_T"]) ** 2  # the derivative in y is that in T, times this
        y = of_y[:, None] * (along["T"] - np.concatenate([np.zeros((blocks, many)), one], axis=1))
        mean = along["V1"].reshape(blocks**2, -1)
        # second derivatives in (V1_hat, T) and (Q2, Q1_hat, sources)
        mixed = np.concatenate([y, mean, *(2.0 * along[name] for name in sources)])
        symmetric = np.empty((blocks, blocks, len(mixed)))
        symmetric[pairs] = symmetric[pairs[::-1]] = -share[:, None] * mixed[:, :many].T
        of_t = mixed[:, many:].T.copy()
        of_t[:, :blocks] += np.diag(weight / t**2)
        found = {"adjoint": of_t, "Q1": symmetric.reshape(blocks**2, -1)}
        ends = np.zeros((blocks * len(sources), blocks + blocks**2))
        found |= dict(zip(sources, np.split(np.concatenate([ends, of_sources], axis=1), len(sources)), strict=True))
        rows = []
        for name in _families(self.equations):
            left = along[name].reshape(-1, many + blocks)
            rows.append(np.concatenate([left, found.get(name, np.zeros((len(left), len(mixed))))], axis=1))
        return np.concatenate(rows)

    def _along_rows(self, pairs: tuple[Array, Array]) -> dict[str, Array]:
        """What the equations do along V1_hat, symmetric, and T, by name; directions are the last axis."""
        blocks, many = len(self.numbers["T"]), len(pairs[0])
        of_v, of_t = np.zeros((blocks, blocks, many + blocks)), np.zeros((blocks, many + blocks))
        of_v[(*pairs, np.arange(many))] = of_v[(*pairs[::-1], np.arange(many))] = 1.0
        of_t[:, many:] = np.eye(blocks)
        return self._in_turn({"V1_hat": of_v, "T": of_t}, _families(self.equations), self._follow)

    def _along_sources(self, sources: Sequence[str]) -> Array:
        """What the equations of zeta, psi and norm do along their sources."""
        hats, blocks = sources_of(self.equations), len(self.numbers["T"])
        unit = np.eye(blocks * len(sources)).reshape(len(sources), blocks, -1)
        moves = {hats[name]: each for name, each in zip(sources, unit, strict=True)}
        found = self._in_turn(moves, sources, lambda: self.numbers.run(self.stages.sources))
        return np.concatenate([found[name] for name in sources])

    def _in_turn(
        self, moves: Mapping[str, Array], names: Sequence[str], evaluate: Callable[[], None]
    ) -> dict[str, Array]:
        """What the equations of names do along many directions, as many at a time as there is room for."""
        numbers, ways = self.numbers, self.numbers[f"d_residual_{names[0]}"].shape[-1]
        count = next(iter(moves.values())).shape[-1]
        parts = []
        for first in range(0, count, ways):
            some = slice(first, min(first + ways, count))
            for name, values in moves.items():
                numbers[f"d_{name}"] = 0.0
                numbers[f"d_{name}"][..., : some.stop - first] = values[..., some]
            evaluate()
            parts.append([numbers[f"d_residual_{name}"][..., : some.stop - first].copy() for name in names])
        joined = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
        return dict(zip(names, joined, strict=True))

    def _follow(self) -> None:
        """Along V1_hat and T: X and its adjoint follow."""
        numbers, stages, inverse = self.numbers, self.stages, self.added.inverse_here()
        numbers["d_X"] = numbers[f"d_{ADJOINT}"] = 0.0
        numbers.run(stages.resolvent)
        numbers["d_X"] = -_applied(inverse, numbers["d_residual_X"])
        numbers.run(stages.chain)
        numbers.run(stages.adjoint)
        numbers[f"d_{ADJOINT}"] = -_applied(inverse.T, numbers[f"d_residual_{ADJOINT}"])
        numbers.run(stages.last)


def _applied(matrix: Array, values: Array) -> Array:
    """A matrix times values, for each of the directions on their last axis."""
    return np.asarray((matrix @ values.reshape(len(matrix), -1)).reshape(values.shape))


@lru_cache(maxsize=16)
def _families(equations: ModuleType) -> tuple[str, ...]:
    """Unknowns whose equations rows are in."""
    return tuple(name for name in equations.UNKNOWNS if name != "m")


@dataclass(frozen=True)
class _Places:
    """Among the numbers: of the moves [S, ways] of V1_hat, T, Q2, Q1_hat and sources; which equations of the unknowns
    rows are in, and their places among all members of all families.
    """

    moves: Array
    equations: Array
    rows: Array


@lru_cache(maxsize=64)
def _places(equations: ModuleType, layout: Layout, exchange: Exchange) -> _Places:
    ways = exchange.image.shape[1]
    first = places_in(layout, "d_V1_hat")
    pairs = np.triu_indices(len(first))
    rest = ("T", "adjoint", "Q1_hat", *sources_of(equations).values())
    moves = [first[pairs], *(places_in(layout, f"d_{name}").reshape(-1, ways) for name in rest)]
    members = np.concatenate(
        [places_in(layout, f"d_residual_{name}").reshape(-1, ways)[:, 0] for name in _families(equations)]
    )
    number = {place: number for number, place in enumerate(members.tolist())}
    asked = [number.get(place, -1) for place in exchange.image[:, 0].tolist()]
    found = np.array(asked)
    return _Places(np.concatenate(moves), np.flatnonzero(found >= 0), found[found >= 0])
