"""A saddle-point system at any precision in mpmath, by interpretation of the plan of its solver.

Neither the emitted text nor the symbolic Jacobians are used: residuals are evaluated node by node of the expression
tree, nonlinear blocks by Newton with a numerical Jacobian from a given start, linear ones from their affine residual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
from evaluate import Evaluator, Place, State

from codegen.places import PARAMETERS, block_columns, scalar_columns
from codegen.plan import Block, Node, Plan, residual
from derive.saddle import SaddleSystem

OBSERVABLES = ("test_error", "train_error", "free_energy")
_GUARD = 15
_MOST_STEPS = 40


class NotSolved(ArithmeticError):
    """A block of the system that the reference could not solve from the start it was given."""


@dataclass(frozen=True)
class ReferenceSolution:
    """All unknowns as {indices: mpf}, the observables, and the state they were evaluated in."""

    families: Mapping[str, Mapping[Place, Any]]
    observables: Mapping[str, Any]
    state: State

    def array(self, name: str) -> Any:
        """Members of a family as (nested) lists of floats."""
        members = self.families[name]
        blocks = self.state.blocks
        if len(next(iter(members))) == 1:
            return [float(members[(b,)]) for b in range(blocks)]
        return [[float(members[b, c]) for c in range(blocks)] for b in range(blocks)]


def state_of(
    rows: Sequence[Sequence[Any]],
    fraction: Sequence[Any],
    parameters: Sequence[Any],
    plan: Plan | SaddleSystem,
) -> State:
    """The state of a table [N][... + 3K] (columns as in the kernels), with the matrix inverses of the system.

    Floats are taken at their exact binary value.
    """
    system = plan.system if isinstance(plan, Plan) else plan
    blocks = len(fraction)
    columns = list(zip(*([mpmath.mpf(x) for x in row] for row in rows), strict=True))
    scalars = scalar_columns(system.directions, system.spikes, system.drawn)
    named: dict[tuple[str, Place], Sequence[Any]] = {
        (name, ()): columns[position] for position, name in enumerate(scalars)
    }
    for position, name in enumerate(block_columns(system.law.norms)):
        for b in range(blocks):
            named[name, (b,)] = columns[len(scalars) + position * blocks + b]
    symbols = {name: mpmath.mpf(x) for name, x in zip(PARAMETERS, parameters, strict=True)}
    return State(
        blocks,
        symbols,
        {"fraction": {(b,): mpmath.mpf(x) for b, x in enumerate(fraction)}},
        columns[0],
        columns[1],
        named,
        {definition.name: definition for definition in system.fields},
        {inverse.name: inverse for inverse in system.inverses},
    )


def solve_reference(
    plan: Plan, state: State, start: Mapping[str, Mapping[Place, Any]], digits: int = 30
) -> ReferenceSolution:
    """Solve the system along the plan to about ``digits`` digits.

    start: members of the torn families of the nonlinear blocks, for example a double-precision solution.
    Raises NotSolved where Newton does not settle or a linear block is singular.
    """
    with mpmath.workdps(digits + _GUARD):
        for number, block in enumerate(plan.blocks, start=1):
            state = solve_block(state, block, start, digits, number)
        evaluator = Evaluator(state)
        observed = {name: evaluator.value(getattr(plan.system, name)) for name in OBSERVABLES}
    return ReferenceSolution(state.families, observed, state)


def solve_block(
    state: State, block: Block, start: Mapping[str, Mapping[Place, Any]], digits: int = 30, number: int = 0
) -> State:
    """The state with the unknowns of one block, at the current working precision. Raises NotSolved."""
    if block.kind == "nonlinear":
        state = _put(state, block, _newton(state, block, _flat(state, block, start), digits, number))
    elif block.kind == "linear":
        state = _put(state, block, _affine(state, block, _zero(state, block), number))
    return _chain(state, block.chain)


def equation_residuals(system: SaddleSystem, state: State) -> dict[str, Any]:
    """Largest absolute residual of every equation of the system in a state that holds all unknowns."""
    evaluator = Evaluator(state)
    found = {}
    for equation in system.equations:
        node = Node(equation.unknown, "family", equation.indices, equation.body, equation.kind == "implicit")
        members = evaluator.family(residual(node), equation.indices).values()
        found[equation.unknown] = max(abs(x) for x in members)
    return found


def _chain(state: State, chain: Sequence[Node]) -> State:
    for node in chain:
        if node.kind == "field":
            continue  # evaluated where it is met
        evaluator = Evaluator(state)
        if node.kind == "inverse":
            members = evaluator.matrix(state.inverses[node.name])
        else:
            members = evaluator.family(node.body, node.indices)
        state = state.with_families({node.name: members})
    return state


def _residual(state: State, block: Block, point: Sequence[Any]) -> list[Any]:
    there = _chain(_put(state, block, point), block.chain)
    evaluator = Evaluator(there)
    return [x for node in block.torn for x in evaluator.family(residual(node), node.indices).values()]


def _put(state: State, block: Block, point: Sequence[Any]) -> State:
    values = iter(point)
    return state.with_families(
        {node.name: {place: next(values) for place in state.places(len(node.indices))} for node in block.torn}
    )


def _flat(state: State, block: Block, start: Mapping[str, Mapping[Place, Any]]) -> list[Any]:
    return [mpmath.mpf(start[node.name][place]) for node in block.torn for place in state.places(len(node.indices))]


def _zero(state: State, block: Block) -> list[Any]:
    return [mpmath.mpf(0) for node in block.torn for _ in state.places(len(node.indices))]


def _newton(state: State, block: Block, first: list[Any], digits: int, number: int) -> list[Any]:
    """Newton with a numerical Jacobian, which is kept while the steps shrink fast."""
    point, previous, matrix = first, mpmath.inf, None
    for _ in range(_MOST_STEPS):
        here = _residual(state, block, point)
        if matrix is None:
            matrix = _numerical_jacobian(state, block, point, here, digits)
        change = _linear_solve(matrix, here, number)
        point = [x - dx for x, dx in zip(point, change, strict=True)]
        size = max(abs(dx) for dx in change) / max(abs(x) for x in point)
        if size <= mpmath.mpf(10) ** -digits:
            return point
        if size > mpmath.mpf("1e-4") * previous or size > mpmath.mpf("1e-6"):
            matrix = None
        previous = size
    raise NotSolved(f"Newton did not settle in block {number} ({', '.join(block.names)}) from the given start")


def _numerical_jacobian(state: State, block: Block, point: list[Any], here: list[Any], digits: int) -> Any:
    """Forward differences; a step of half the digits leaves the derivative right to as many."""
    size = len(point)
    small = mpmath.mpf(10) ** -((digits + _GUARD) // 2)
    floor = small * max(abs(x) for x in point)
    matrix = mpmath.matrix(size, size)
    for j in range(size):
        step = small * (abs(point[j]) + floor)
        there = _residual(state, block, [*point[:j], point[j] + step, *point[j + 1 :]])
        for i in range(size):
            matrix[i, j] = (there[i] - here[i]) / step
    return matrix


def _affine(state: State, block: Block, zero: list[Any], number: int) -> list[Any]:
    """The zero of an affine residual, from its values at the origin and at the unit vectors."""
    size = len(zero)
    origin = _residual(state, block, zero)
    matrix = mpmath.matrix(size, size)
    for j in range(size):
        there = _residual(state, block, [*zero[:j], mpmath.mpf(1), *zero[j + 1 :]])
        for i in range(size):
            matrix[i, j] = there[i] - origin[i]
    return [-x for x in _linear_solve(matrix, origin, number)]


def _linear_solve(matrix: Any, right: Sequence[Any], number: int) -> list[Any]:
    """matrix^-1 right, rows scaled to their largest entry."""
    size = len(right)
    scaled, vector = matrix.copy(), mpmath.matrix(list(right))
    for i in range(size):
        largest = max(abs(matrix[i, j]) for j in range(size)) or mpmath.mpf(1)
        vector[i] /= largest
        for j in range(size):
            scaled[i, j] /= largest
    try:
        return list(mpmath.lu_solve(scaled, vector))
    except ZeroDivisionError:
        raise NotSolved(f"block {number} is singular; give an inverse_dimension > 0") from None
