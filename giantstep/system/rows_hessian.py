"""How the equations of stretched rows move with what they are given: second derivatives of a potential.

Of V1_hat, T and the sources zeta_hat, psi_hat, norm_hat, the rows have the potential ``S = R + sum_b Q2_b y_b``, where
``T = beta pi/(lambda + V2_hat - y)``: it is quadratic in the sources, and linear in Q2 and Q1_hat. Its derivatives are
what the equations say of V1 (in Q1_hat, over beta), Q1 (in V1_hat, with the other sign) and zeta, psi, norm (in their
sources, halved). So what moves along V1_hat and T tells all that moves along Q2 and Q1_hat, and along the sources but
for the derivatives in two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import numpy as np

from generated.runtime.evaluation import Layout, Numbers, Stage, places_in
from giantstep.system.added_samples import ADDED, ADJOINT, AddedSamples, Stages
from giantstep.system.exchange import Exchange

Array = np.ndarray
_OTHERS = ("adjoint", "m", "Q1", "T", "V1")  # unknowns that have no source


@dataclass(frozen=True, eq=False)
class Turn:
    """Unknowns whose equations are told along each other. Stages along these: conjugates and the equations of m by
    ``hats``, what follows from no rows by ``plain``; moves: what rows are told along then.
    """

    unknowns: tuple[str, ...]
    moves: tuple[str, ...]
    hats: Stage
    plain: Stage


@dataclass(frozen=True)
class HessianStages:
    """Stages of tangents. Along unknowns: all at once, or those of each turn alone. Along V1_hat and T: the mean
    resolvent that X follows from, what does not follow from the adjoint of X, its residual, what follows; of these
    alone the equations of T and V1. Along sources: the equations of what these go with.
    """

    still: Stage
    at_once: tuple[Turn, ...]
    in_turn: tuple[Turn, ...]
    resolvent: Stage
    chain: Stage
    adjoint: Stage
    last: Stage
    responses: Stage
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
    rows = tuple(f"d_residual_{name}" for name in equations.UNKNOWNS if name != "m")
    left = f"d_residual_{ADJOINT}"
    still = Stage(of, (*rows, "d_residual_m", left), after=stages.all, without=of.moving)

    def turn(unknowns: Sequence[str], moves: Sequence[str], beside: Sequence[str]) -> Turn:
        """beside: conjugates that rows are not told along."""
        along = tuple(f"d_{name}" for name in unknowns)
        results = [f"d_{name}" for name in (*moves, *beside) if name.find("_hat") > 0]
        averages = Stage(of, results + ["d_residual_m"] * ("m" in unknowns), of=along, moved=along)
        direct = tuple(name for name in along if name not in ("d_T", "d_adjoint")) + tuple(f"d_{n}" for n in beside)
        own = tuple(f"d_residual_{name}" for name in unknowns if name != "m")
        return Turn(tuple(unknowns), tuple(moves), averages, Stage(of, own, of=direct, moved=direct, stops=stops))

    turns = (
        turn(("T", "V1"), ("V1_hat", "T"), ("V2_hat",)),
        turn(("m", *sources), tuple(sources.values()), ()),
        turn(("adjoint", "Q1"), ("adjoint", "Q1_hat"), ("Q2_hat",)),
    )
    whole = turn(equations.UNKNOWNS, [name for one in turns for name in one.moves], ("V2_hat", "Q2_hat"))
    moved, given_x = ("d_V1_hat", "d_T", f"d_{ADDED}", f"d_{ADJOINT}"), "d_Res_own"

    def along(results: Sequence[str], **more: Sequence[object]) -> Stage:
        return Stage(of, results, **{"of": moved, **more}, moved=moved, stops=stops)

    before = along((given_x,), without=(f"d_{ADDED}",))
    chain = along((*rows, left), without=(f"d_{ADJOINT}",), after=(before,))
    adjoint, last = along((left,), of=(f"d_{ADJOINT}",)), along(rows, of=(f"d_{ADJOINT}",))
    given = tuple(f"d_{hat}" for hat in sources.values())
    answers = tuple(f"d_residual_{name}" for name in sources)
    linear = Stage(of, answers, of=given, moved=given, stops=stops)
    few = along(("d_residual_T", "d_residual_V1"))
    return HessianStages(still, (whole,), turns, along((given_x,)), chain, adjoint, last, few, linear)


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

    def jacobian(self, exchange: Exchange, responses_stand: bool = False) -> Array:
        """The derivative of the residuals in the unknowns [n, n]; responses_stand: without what m and overlaps do along
        T and V1, nor Q1 and Q2 along m and other overlaps, which costs most.
        """
        value, places = self.numbers.value, _places(self.equations, self.numbers.layout, exchange)
        count = len(exchange.image)
        matrix, moves = np.zeros((count, count)), np.zeros((len(places.moves), count))
        self.numbers.run(self.stages.still)
        for turn in self.stages.in_turn if responses_stand else self.stages.at_once:
            found = _passes(self.equations, self.numbers.layout, exchange, turn)
            for columns, unit in found.passes:
                value[exchange.moved] = unit
                self.numbers.run(turn.hats)
                self.numbers.run(turn.plain)
                matrix[found.equations[:, None], columns] = value[found.image[:, : len(columns)]]
                moves[found.moves[:, None], columns] = value[found.told[:, : len(columns)]]
        matrix[places.equations] += self._of_rows(places, responses_stand)[places.rows] @ moves
        return matrix

    def _of_rows(self, places: _Places, responses_stand: bool) -> Array:
        """The derivative of all equations but that of m, family by family, in V1_hat, T, Q2, Q1_hat and the sources."""
        numbers, blocks = self.numbers, len(self.fraction)
        frame, family = _frame(blocks), places.families
        many, (own, other) = len(frame.share), frame.pairs
        follow = self._follow_responses if responses_stand else self._follow
        along = self._in_turn((places.hats, frame.hats), places.answers, follow)
        if responses_stand:
            of_responses = along[family["T"]].copy(), along[family["V1"]].copy()
            along[...] = 0.0
            along[family["T"]], along[family["V1"]] = of_responses
        weight, t = numbers.parameters[1] * self.fraction, numbers["T"]
        of_y = weight / (t - numbers["residual_T"]) ** 2  # the derivative in y is that in T, times this
        # second derivatives in (V1_hat, T) and (Q2, Q1_hat, sources)
        parts = [along[family["T"]] - frame.unit_of_t, along[family["V1"]]]
        parts[0] *= of_y[:, None]
        sources = [*sources_of(self.equations)]
        mixed = np.concatenate(parts + [2.0 * along[family[name]] for name in sources])
        found = np.zeros((len(along), many + blocks + len(mixed)))
        found[:, : many + blocks] = along
        rest = found[:, many + blocks :]
        symmetric = rest[family["Q1"]].reshape(blocks, blocks, -1)
        symmetric[own, other] = symmetric[other, own] = -frame.share[:, None] * mixed[:, :many].T
        rest[family["adjoint"]] = mixed[:, many:].T
        rest[family["adjoint"], :blocks] += np.diag(weight / t**2)
        unit = np.eye(blocks * len(sources))
        of_sources = self._in_turn((places.sources, unit), places.along_sources, self._along_sources)
        for number, name in enumerate(sources):
            rest[family[name], blocks + blocks**2 :] = of_sources[number * blocks : (number + 1) * blocks]
        return found

    def _in_turn(self, moves: tuple[Array, Array], answers: Array, evaluate: Callable[[], None]) -> Array:
        """What lies in the places ``answers`` [n, ways] along directions, as many at a time as there is room for.

        moves: places [m, ways], and the directions [m, k] that are put there.
        """
        value, (places, directions) = self.numbers.value, moves
        ways, parts = places.shape[1], []
        for first in range(0, directions.shape[1], ways):
            some = directions[:, first : first + ways]
            value[places] = 0.0
            value[places[:, : some.shape[1]]] = some
            evaluate()
            parts.append(value[answers[:, : some.shape[1]]])
        return np.concatenate(parts, axis=1)

    def _along_sources(self) -> None:
        """The equations of zeta, psi and norm along their sources."""
        self.numbers.run(self.stages.sources)

    def _follow_responses(self) -> None:
        """Along V1_hat and T: X follows, and T and V1."""
        self._follow_x()
        self.numbers.run(self.stages.responses)

    def _follow_x(self) -> None:
        numbers = self.numbers
        numbers[f"d_{ADDED}"] = numbers[f"d_{ADJOINT}"] = 0.0
        numbers.run(self.stages.resolvent)
        numbers[f"d_{ADDED}"] = self.added.moved(numbers["d_Res_own"])

    def _follow(self) -> None:
        """Along V1_hat and T: X and its adjoint follow."""
        numbers, stages, inverse = self.numbers, self.stages, self.added.inverse_here()
        self._follow_x()
        numbers.run(stages.chain)
        numbers.run(stages.adjoint)
        numbers[f"d_{ADJOINT}"] = -_applied(inverse.T, numbers[f"d_residual_{ADJOINT}"])
        numbers.run(stages.last)


def _applied(matrix: Array, values: Array) -> Array:
    """A matrix times values, for each of the directions on their last axis."""
    return np.asarray((matrix @ values.reshape(len(matrix), -1)).reshape(values.shape))


@dataclass(frozen=True)
class _Frame:
    """Of so many blocks: the pairs of them that are told apart, the share of each of an entry of V1_hat, which moves
    with the one beside the diagonal; the directions [K^2 + K, n] of V1_hat, symmetric, and T, and what T is along them.
    """

    pairs: tuple[Array, Array]
    share: Array
    hats: Array
    unit_of_t: Array


@lru_cache(maxsize=16)
def _frame(blocks: int) -> _Frame:
    own, other = np.triu_indices(blocks)
    many = len(own)
    hats = np.zeros((blocks**2 + blocks, many + blocks))
    hats[own * blocks + other, np.arange(many)] = hats[other * blocks + own, np.arange(many)] = 1.0
    hats[blocks**2 :, many:] = np.eye(blocks)
    return _Frame((own, other), np.where(own == other, 1.0, 0.5), hats, hats[blocks**2 :])


@dataclass(frozen=True)
class _Places:
    """Among the numbers: of the moves [S, ways] of V1_hat, T, Q2, Q1_hat and sources, of those of V1_hat and T, and of
    those of the sources; of what equations do, of all families in turn, and of those of the sources. Which equations of
    the unknowns rows are in, and their places among all members of all families, those of each family by its name.
    """

    moves: Array
    hats: Array
    sources: Array
    answers: Array
    along_sources: Array
    equations: Array
    rows: Array
    families: dict[str, slice]


@lru_cache(maxsize=64)
def _places(equations: ModuleType, layout: Layout, exchange: Exchange) -> _Places:
    ways, sources = exchange.image.shape[1], sources_of(equations)

    def lie(names: Iterable[str]) -> list[Array]:
        return [places_in(layout, f"d_{name}").reshape(-1, ways) for name in names]

    moves = np.concatenate([*_moves(equations, layout, ways).values()])
    hats, of_sources = np.concatenate(lie(("V1_hat", "T"))), np.concatenate(lie(sources.values()))
    names = [name for name in equations.UNKNOWNS if name != "m"]  # those whose equations rows are in
    of_families = lie(f"residual_{name}" for name in names)
    ends = np.cumsum([len(each) for each in of_families]).tolist()
    families = {name: slice(end - len(each), end) for name, each, end in zip(names, of_families, ends, strict=True)}
    answers, along_sources = np.concatenate(of_families), np.concatenate(lie(f"residual_{name}" for name in sources))
    number = {place: number for number, place in enumerate(answers[:, 0].tolist())}
    found = np.array([number.get(place, -1) for place in exchange.image[:, 0].tolist()])
    asked = np.flatnonzero(found >= 0)
    return _Places(moves, hats, of_sources, answers, along_sources, asked, found[asked], families)


@dataclass(frozen=True)
class _Passes:
    """Of a turn: directions of unknowns, some at a time; its equations, and where these are found; which of the moves
    are told, and where.
    """

    passes: tuple[tuple[Array, Array], ...]
    equations: Array
    image: Array
    moves: Array
    told: Array


@lru_cache(maxsize=64)
def _passes(equations: ModuleType, layout: Layout, exchange: Exchange, turn: Turn) -> _Passes:
    ways = exchange.image.shape[1]
    moves = _moves(equations, layout, ways)
    units = np.concatenate([unit.reshape(-1, ways)[:, : len(columns)] for columns, unit in exchange.passes], axis=1)
    counts = [places_in(layout, f"d_{name}").size // ways for name in equations.UNKNOWNS]
    family = np.repeat(equations.UNKNOWNS, counts)[np.argmax(units != 0.0, axis=0)]
    own = np.flatnonzero(np.isin(family, turn.unknowns))
    passes = []
    for first in range(0, len(own), ways):
        some, unit = own[first : first + ways], np.zeros((len(units), ways))
        unit[:, : len(some)] = units[:, some]
        passes.append((some, unit.ravel()))
    of_moves = np.repeat([*moves], [len(places) for places in moves.values()])
    told = np.flatnonzero(np.isin(of_moves, turn.moves))
    return _Passes(tuple(passes), own, exchange.image[own], told, np.concatenate([*moves.values()])[told])


def _moves(equations: ModuleType, layout: Layout, ways: int) -> dict[str, Array]:
    """Places [S, ways] of the moves of V1_hat, T, Q2, Q1_hat and sources, by name."""
    first = places_in(layout, "d_V1_hat")
    rest = ("T", "adjoint", "Q1_hat", *sources_of(equations).values())
    of_rest = {name: places_in(layout, f"d_{name}").reshape(-1, ways) for name in rest}
    return {"V1_hat": first[np.triu_indices(len(first))], **of_rest}
