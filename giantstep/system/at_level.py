"""What a coupled system has of its features at one level of quadrature, whatever the numbers of its equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from generated.runtime.nodes import Rule
from generated.runtime.unknowns import TURNED, UNKNOWN
from giantstep.law.kind import BulkKind, kind_of_averages, norms_vary
from giantstep.quadrature.gauss import gauss_rule
from giantstep.quadrature.remembered import Remembered, bytes_of
from giantstep.system.discretisation import resolved
from giantstep.system.kernels import loss_kernel, system_kernel
from giantstep.system.label_kernels import kernel_of
from giantstep.system.level import Level
from giantstep.system.problem import Problem
from giantstep.system.resolved import Columns, Resolved
from giantstep.system.span import Span, span_of
from giantstep.system.state import members_and_norms, places_in_numbers, variance_rows

Array = np.ndarray
_MEMORY = 1 << 30  # bytes of levels that are remembered


@dataclass(frozen=True, eq=False)
class AtLevel:
    """laws: tables and laws of labels; span: of mean features at infinite dimension, whose functions are in columns;
    node [columns, N]: what kernels read there; members [9, n]: places of the unknowns, of which the ``first`` and
    ``second`` are those of symmetric matrices; diagonal [n]: of the norms that they are compared with; rows: of the
    kinds of systems what they have of their rows.
    """

    laws: Resolved
    span: Span | None
    columns: Columns
    node: Array
    kernel: ModuleType
    loss: ModuleType
    rule: Rule
    blocks: int
    members: Array
    diagonal: Array
    rows: dict[type, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def labels(self) -> tuple[Callable[..., object], Any]:
        """What averages over the output, with the law that it takes."""
        return kernel_of(self.loss, self.laws.labels, self.columns.kappa)

    @cached_property
    def certificate(self) -> Any:
        """The certificate on the nodes, for the numbers of a state."""
        return self.kernel.CERTIFICATE.on(self.node, places_in_numbers(self.kernel, self.blocks, self.node.shape[1]))

    @property
    def bytes(self) -> int:
        """Of what has been made."""
        certificate = self.certificate.start.nbytes if "certificate" in vars(self) else 0
        return bytes_of(self, self.columns) + self.laws.bytes + certificate

    @cached_property
    def first(self) -> Array:
        return np.array(self.members[UNKNOWN])

    @cached_property
    def second(self) -> Array:
        return np.asarray(self.first + self.members[TURNED])

    @cached_property
    def variance_rows(self) -> tuple[int, ...]:
        """See ``raise_variances``."""
        return variance_rows(self.kernel)


@dataclass(frozen=True)
class AskedFor:
    """What this depends on: the features, which are one object, the law of the rows, whether m is regularised."""

    features: int
    level: Level
    kind: BulkKind
    finite: bool
    problem: Problem = field(compare=False, repr=False)


def asked_for(problem: Problem, level: Level) -> AskedFor:
    """The key of what is remembered for a problem at a level: its own features are kept with it."""
    finite = problem.parameters.inverse_dimension > 0.0
    return AskedFor(id(problem.features), level, kind_of_averages(problem.model), finite, problem)


def at_level(problem: Problem, level: Level, laws: Resolved | None = None) -> AtLevel:
    """What a system of a problem has at a level, remembered but where the laws are others."""
    asked = asked_for(problem, level)
    if laws is None:
        return _remembered(asked)
    return _on_kept(asked, laws) if laws.kept else _made(asked, laws)


@lru_cache(maxsize=32)
def _on_kept(asked: AskedFor, laws: Resolved) -> AtLevel:
    return _made(asked, laws)


def _made(asked: AskedFor, laws: Resolved) -> AtLevel:
    problem, model, blocks = asked.problem, asked.problem.model, len(asked.problem.fraction)
    span, loss = span_of(problem), loss_kernel(model.fit.loss)
    columns = laws.on(span, blocks)
    kernel = system_kernel(asked.kind, model.target.indices, problem.rank)
    node = columns.node
    if norms_vary(model):
        node = np.concatenate([node, laws.norm_functions(problem)])
    if len(node) < kernel.ROWS + 3 * blocks:  # the kernels do not look
        raise ValueError(f"a table of {len(node)} columns is too narrow for {kernel.__name__}")
    constants, noise = np.array(model.fit.loss.values, dtype=float), model.target.noise
    rule = Rule(
        gauss_rule(asked.level.output), asked.level.output, constants, noise if loss.FORM == "residual" else 0.0
    )
    places = members_and_norms(kernel, blocks, blocks if span is None else span.rank)
    return AtLevel(laws, span, columns, node, kernel, loss, rule, blocks, *places)


_remembered = Remembered(
    lambda asked: _made(asked, resolved(asked.problem, asked.level)),
    lambda found: found.bytes,
    _MEMORY,
)
