"""The coupled system of any convex loss in mpmath: averages by quadrature over the output, then the equations.

Nothing of the emitted text is used: the proximal map is bracketed and solved at every node of omega, the law of the
label is integrated by its definition, and the equations are evaluated node by node of the expression tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
from evaluate import Evaluator, Place, State
from reference_labels import Channel
from reference_output import Fields, LossCurve, misclassification, node_averages

from codegen.places import PARAMETERS, block_columns, scalar_columns
from derive.blocks import KAPPA, Definition, block_field
from derive.directions import directions_of
from derive.loss.loss import LossAnalysis
from derive.saddle import RANK, SaddleSystem, member

OBSERVABLES = ("test_error", "train_error", "free_energy")
Families = Mapping[str, Mapping[Place, Any]]


@dataclass(frozen=True)
class CoupledReference:
    """A coupled system on a table [N][4 + D + 3K] (columns as in the kernels), floats at their exact binary value.

    ``unknowns``: the families that the residuals are functions of, all others follow from them; ``loss`` with the
    numbers of its parameters by name; ``channel``: the law of the label.
    """

    system: SaddleSystem
    rows: Sequence[Sequence[Any]]
    fraction: Sequence[Any]
    parameters: Sequence[Any]
    unknowns: tuple[str, ...]
    loss: LossAnalysis
    numbers: Mapping[str, Any]
    channel: Channel

    def state(self, unknowns: Families) -> State:
        """All numbers at given unknowns, the averages over the output included."""
        bare, curve = self._bare(unknowns), LossCurve(self.loss, self.numbers)
        found = [node_averages(curve, self.channel, kappa, fields) for kappa, fields in self._fields(bare)]
        columns: dict[tuple[str, Place], Sequence[Any]] = {
            (name, ()): [values[name] for values in found] for name in found[0]
        }
        return replace(bare, columns={**bare.columns, **columns})

    def residual(self, state: State) -> Families:
        """``unknown - body`` of every explicit equation of an unknown, the body of an implicit one."""
        evaluator, found = Evaluator(state), {}
        for name in self.unknowns:
            equation = self.system.equation(name)
            zero = equation.body
            if equation.kind == "explicit":
                zero = member(name, equation.indices) - zero
            found[name] = evaluator.family(zero, equation.indices)
        return found

    def observables(self, state: State) -> Mapping[str, Any]:
        """Test error (of a residual loss), training error and free energy."""
        evaluator = Evaluator(state)
        return {name: evaluator.value(getattr(self.system, name)) for name in OBSERVABLES}

    def misclassified(self, state: State) -> Any:
        """P(y f < 0) of the clean label."""
        found = [misclassification(self.channel, kappa, fields) for kappa, fields in self._fields(state)]
        return mpmath.fsum(w * x for w, x in zip(state.weight, found, strict=True))

    def _fields(self, state: State) -> list[tuple[Any, Fields]]:
        """kappa and the law of the output at every node."""
        evaluator = Evaluator(state)
        names = ("V", "mean", "Delta", *directions_of("slope", self.system.directions))
        columns = (evaluator.nodes(block_field(name)(KAPPA)) for name in names)
        return [
            (kappa, Fields(v, mean, tuple(slopes), delta))
            for kappa, v, mean, delta, *slopes in zip(state.kappa, *columns, strict=True)
        ]

    def _bare(self, unknowns: Families) -> State:
        system, blocks = self.system, len(self.fraction)
        columns = list(zip(*([mpmath.mpf(x) for x in row] for row in self.rows), strict=True))
        scalars = scalar_columns(system.directions, system.spikes, system.drawn)
        named: dict[tuple[str, Place], Sequence[Any]] = {(name, ()): columns[i] for i, name in enumerate(scalars)}
        for i, name in enumerate(block_columns(system.law.norms)):
            named |= {(name, (b,)): columns[len(scalars) + i * blocks + b] for b in range(blocks)}
        follow = [e for e in system.equations if e.unknown not in self.unknowns]
        definitions = {d.name: d for d in system.fields}
        definitions |= {e.unknown: Definition(e.unknown, e.indices, e.body) for e in follow}
        return State(
            blocks,
            {name: mpmath.mpf(x) for name, x in zip(PARAMETERS, self.parameters, strict=True)},
            {"fraction": {(b,): mpmath.mpf(x) for b, x in enumerate(self.fraction)}, **unknowns},
            columns[0],
            columns[1],
            named,
            definitions,
            {inverse.name: inverse for inverse in system.inverses},
        )


def places(name: str, blocks: int) -> list[Place]:
    """Index tuples of a family, one of each symmetric pair."""
    if RANK.get(name, 1) == 1:
        return [(b,) for b in range(blocks)]
    return [(b, c) for b in range(blocks) for c in range(b, blocks)]
