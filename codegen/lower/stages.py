"""Which node loop each average is taken in: as few passes over the nodes of kappa as the dependencies allow.

Every ``Expectation`` becomes one stored array; those that need only what is already known share a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import sympy as sp

from codegen.lower.nests import Assignment
from codegen.plan import Node
from derive.blocks import family_name, names_in, rename, walk
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.symbols import SYMMETRIC


@dataclass(frozen=True)
class Average:
    """A Gaussian average that is stored: ``name[indices] = factor E_kappa[integrand]``."""

    name: str
    indices: tuple[sp.Symbol, ...]
    integrand: sp.Expr
    factor: sp.Expr = sp.S.One


@dataclass
class Averages:
    """Replaces expectations by members of stored arrays; equal ones, up to names of indices, share one array."""

    stored: list[Average] = field(default_factory=list)

    def extract(self, expr: sp.Expr, reader: str) -> sp.Expr:
        """The expression with every expectation over kappa replaced by ``name[free indices]``; ``reader``: its name."""
        if isinstance(expr, Expectation):
            return self._store(expr.integrand, reader)
        if not expr.args or isinstance(expr, sp.Indexed):
            return expr
        return expr.func(*(self.extract(arg, reader) for arg in expr.args))

    def _store(self, integrand: sp.Expr, reader: str) -> sp.Expr:
        free = sorted((s for s in integrand.free_symbols if s.is_integer), key=sp.default_sort_key)
        formal = tuple(sp.Symbol(f"b{i}", integer=True) for i in range(len(free)))
        known = {(average.indices, average.integrand): average.name for average in self.stored}
        for order in permutations(free):
            general = canonical(rename(integrand, dict(zip(order, formal, strict=True))), SYMMETRIC)
            if (formal, general) in known:
                return _element(known[formal, general], order)
        base = f"average_{reader.removeprefix('residual_')}"
        number = 1 + sum(average.name.split("__")[0] == base for average in self.stored)
        name = base if number == 1 else f"{base}__{number}"
        general = canonical(rename(integrand, dict(zip(free, formal, strict=True))), SYMMETRIC)
        self.stored.append(Average(name, formal, general))
        return _element(name, free)


def _element(name: str, indices: Sequence[sp.Expr]) -> sp.Expr:
    """A member of a family; one without indices is stored as an array of length one."""
    return sp.IndexedBase(name, real=True)[tuple(indices) or (sp.S.Zero,)]


@dataclass
class Stage:
    """What runs in node loop number ``level`` and the algebra after it."""

    fields: list[Node] = field(default_factory=list)
    averages: list[Average] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)


def schedule(nodes: Iterable[Node]) -> tuple[list[Stage], list[Average]]:
    """Distribute nodes (in evaluation order) over as few node loops as their dependencies allow.

    Stage 0 holds only algebra that precedes the first loop.
    """
    averages = Averages()
    after: dict[str, int] = {}
    within: dict[str, int] = {}
    stages: dict[int, Stage] = {0: Stage()}

    def loop_level(expr: sp.Expr) -> int:
        names = names_in(expr)
        return max([1, *(after[n] + 1 for n in names if n in after), *(within[n] for n in names if n in within)])

    for node in nodes:
        if node.kind == "field":
            within[node.name] = loop_level(node.body)
            stages.setdefault(within[node.name], Stage()).fields.append(node)
            continue
        known = len(averages.stored)
        body = averages.extract(node.body, node.name)
        for average in averages.stored[known:]:
            after[average.name] = loop_level(average.integrand)
            stages.setdefault(after[average.name], Stage()).averages.append(average)
        after[node.name] = max([0, *(after[n] for n in names_in(body) if n in after)])
        stage = stages.setdefault(after[node.name], Stage())
        stage.assignments.append(Assignment(node.name, node.indices, body, inverse=node.kind == "inverse"))
    ordered = [stages[level] for level in sorted(stages)]
    direct = _direct(ordered)
    for stage in ordered:
        stage.averages = [direct.get(average.name, average) for average in stage.averages]
        written = {average.name for average in stage.averages}
        stage.assignments = [a for a in stage.assignments if a.target not in written]
    return ordered, [average for average in averages.stored if average.name not in direct]


def _direct(stages: Sequence[Stage]) -> dict[str, Average]:
    """Averages that a family is a multiple of, and nothing else reads: the family takes their place."""
    stored = {average.name: average for stage in stages for average in stage.averages}
    assignments = [assignment for stage in stages for assignment in stage.assignments]
    reads = Counter(family_name(node) for a in assignments for node in walk(a.body) if isinstance(node, sp.Indexed))
    found = {}
    for assignment in assignments:
        members = [f for f in sp.Mul.make_args(assignment.body) if family_name(f) in stored]
        if len(members) != 1 or not assignment.indices or assignment.inverse:
            continue
        factor, average = assignment.body / members[0], stored[str(family_name(members[0]))]
        if reads[average.name] == 1 and not names_in(factor) and members[0].indices == assignment.indices:
            found[average.name] = replace(average, name=assignment.target, factor=factor)
    return found
