"""Structural analysis: the order found, what is linear, the Jacobians, and that it depends on nothing else."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache
from typing import Any

import mpmath
import pytest
import sympy as sp
from evaluate import Evaluator, State
from hash_seeds import printed_under_any_seed
from one_block import at_one_block
from reference_system import state_of

from codegen.lower.chains import in_pairs, products_of
from codegen.lower.nests import Assignment
from codegen.plan import Block, Plan, analyse, dependencies, nodes_of, residual
from derive.blocks import KAPPA, BlockSum, family, family_name, index, names_in, rename
from derive.loss.quadratic import SQUARE
from derive.saddle import Equation, SaddleSystem, member, saddle_system
from derive.symbols import SYMMETRIC

REPORT = """\
1. nonlinear in T, V1; then V2, V, V1_hat, V2_hat, P, M, S
2. linear in m, zeta; then mean, zeta_hat
3. explicit; then psi_hat
4. explicit; then psi
5. explicit; then slope
6. linear in adjoint, Q1; then Q2, Delta, risk, Q1_hat, Q2_hat"""


@lru_cache(maxsize=1)
def plan() -> Plan:
    return analyse(saddle_system(SQUARE))


def solved_at(blocks: int, block: Block) -> State:
    """A random state that holds everything the earlier blocks compute, and the torn unknowns of this one."""
    draw = random.Random(blocks)

    def number() -> Any:
        return mpmath.mpf(draw.randint(100, 900)) / 1000

    rows = [[number() for _ in range(5 + 3 * blocks)] for _ in range(4)]
    state = state_of(rows, [mpmath.mpf(1) / blocks] * blocks, [number() for _ in range(5)], plan())
    families: dict[str, Any] = {}
    for done in plan().blocks:
        for node in (*done.torn, *done.chain):
            if node.kind == "family" and (done is not block or node in block.torn):
                members = {place: number() for place in state.places(node.rank)}
                if node.name in SYMMETRIC:
                    members = {place: members[min(place), max(place)] for place in members}
                families[node.name] = members
        if done is block:
            break
    return state.with_families(families)


def chained(state: State, block: Block) -> State:
    for node in block.chain:
        evaluator = Evaluator(state)
        if node.kind == "inverse":
            state = state.with_families({node.name: evaluator.matrix(state.inverses[node.name])})
        elif node.kind == "family":
            state = state.with_families({node.name: evaluator.family(node.body, node.indices)})
    return state


def test_block_triangular_order() -> None:
    assert plan().report() == REPORT


def test_every_unknown_is_computed_once_and_in_time() -> None:
    nodes = nodes_of(plan().system)
    needs, done = dependencies(nodes), set[str]()
    for block in plan().blocks:
        available = done | {node.name for node in block.torn}
        for node in block.chain:
            assert needs[node.name] <= available
            available.add(node.name)
        assert not done & set(block.names)
        done |= set(block.names)
        for node in block.torn:
            assert needs[node.name] <= done
    assert done == set(nodes)


@pytest.mark.parametrize("number", [2, 6])
def test_linear_blocks_are_affine(number: int) -> None:
    """Second differences of the residual vanish exactly along random directions; the nonlinear block's do not."""
    for block in (plan().blocks[number - 1], plan().blocks[0]):
        with mpmath.workdps(40):
            origin = solved_at(2, block)
            shift = origin.families
            values = []
            for multiple in (0, 1, 2):
                moved = {
                    n.name: {p: x * (1 + mpmath.mpf(multiple) / (3 + sum(p))) for p, x in shift[n.name].items()}
                    for n in block.torn
                }
                evaluator = Evaluator(chained(origin.with_families(moved), block))
                values.append([x for n in block.torn for x in evaluator.family(residual(n), n.indices).values()])
            bend = max(abs(a - 2 * b + c) for a, b, c in zip(*values, strict=True))
        assert (bend < mpmath.mpf("1e-35")) == (block.kind == "linear")
        assert block.kind == ("linear" if block is not plan().blocks[0] else "nonlinear")


@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("number", [1, 2, 6])
def test_jacobians_agree_with_differences(number: int, blocks: int) -> None:
    """Every entry, through the chain and the matrix inverse, along symmetric directions for symmetric families.

    Central differences with h = 1e-12 at 40 digits: h^2 f''' and 1e-40/h; values are of order one, f''' below 1e4.
    """
    block = plan().blocks[number - 1]
    with mpmath.workdps(40):
        state, step = solved_at(blocks, block), mpmath.mpf("1e-12")
        full = chained(state, block)
        evaluator = Evaluator(full)
        for column in block.torn:
            for place in state.places(column.rank):
                # a symmetric family moves symmetrically: both members at once
                both = {place, tuple(reversed(place))} if column.name in SYMMETRIC else {place}
                ends = []
                for sign in (1, -1):
                    members = dict(state.families[column.name])
                    for p in both:
                        members[p] += sign * step
                    there = Evaluator(chained(state.with_families({column.name: members}), block))
                    ends.append({n.name: there.family(residual(n), n.indices) for n in block.torn})
                for row in block.torn:
                    (entry,) = [e for e in block.jacobian if (e.row, e.column) == (row.name, column.name)]
                    for at in state.places(row.rank):
                        symbolic = mpmath.fsum(
                            evaluator.value(
                                entry.body,
                                dict(zip((*entry.row_indices, *entry.column_indices), (*at, *p), strict=True)),
                            )
                            for p in both
                        )
                        measured = (ends[0][row.name][at] - ends[1][row.name][at]) / (2 * step)
                        assert abs(symbolic - measured) <= mpmath.mpf("1e-19") * max(1, abs(measured))


def test_order_of_equations_does_not_matter() -> None:
    system = plan().system
    draw = random.Random(4)
    for _ in range(3):
        equations, fields = list(system.equations), list(system.fields)
        draw.shuffle(equations)
        draw.shuffle(fields)
        shuffled = analyse(replace(system, equations=tuple(equations), fields=tuple(fields)))
        assert shuffled.report() == REPORT
        assert shuffled.blocks == plan().blocks


def test_names_of_indices_do_not_matter() -> None:
    """Formal indices of every equation renamed: the same order, and the same numbers in every Jacobian."""
    other = analyse(renamed(plan().system))
    assert other.report() == REPORT
    assert other.blocks != plan().blocks
    with mpmath.workdps(30):
        for ours, theirs in zip(plan().blocks, other.blocks, strict=True):
            if not ours.torn:
                continue
            evaluator = Evaluator(chained(solved_at(2, ours), ours))
            for a, b in zip(ours.jacobian, theirs.jacobian, strict=True):
                left = evaluator.family(a.body, (*a.row_indices, *a.column_indices))
                right = evaluator.family(b.body, (*b.row_indices, *b.column_indices))
                assert all(abs(left[p] - right[p]) <= mpmath.mpf("1e-25") * max(1, abs(left[p])) for p in left)


def renamed(system: SaddleSystem) -> SaddleSystem:
    names = {index("b"): index("u"), index("c"): index("v")}

    def one(equation: Equation) -> Equation:
        indices = tuple(names[i] for i in equation.indices)
        return replace(equation, indices=indices, body=rename(equation.body, names))

    return replace(system, equations=tuple(map(one, system.equations)))


def test_plan_does_not_depend_on_hash_seeds() -> None:
    code = (
        "import sympy; from codegen.plan import analyse; from derive.saddle import saddle_system\n"
        "plan = analyse(saddle_system())\n"
        "print(plan.report(), *(sympy.srepr(e.body) for b in plan.blocks for e in b.jacobian))"
    )
    assert "Function(" in printed_under_any_seed(code)


def test_one_block_of_a_delta_is_one() -> None:
    b, c = index("b"), index("c")
    assert at_one_block(sp.KroneckerDelta(b, c)) == 1
    assert at_one_block(member("Q1")) == member("Q1", (sp.S.Zero, sp.S.Zero))


def test_a_cycle_of_functions_is_refused() -> None:
    """Functions of kappa cannot be torn: two that need each other leave no explicit order."""
    system = plan().system
    other = {"V": sp.Function("risk", real=True)(KAPPA), "risk": sp.Function("V", real=True)(KAPPA)}
    fields = tuple(replace(d, body=d.body + other.get(d.name, 0)) for d in system.fields)
    with pytest.raises(ValueError, match="explicit"):
        analyse(replace(system, fields=fields))


def test_names_are_families_or_functions() -> None:
    body = plan().system.equation("zeta_hat").body
    assert names_in(body) == {"mu1", "mean", "nu0", "V"}
    assert family_name(member("T")) == "T" and family_name(sp.Symbol("x")) is None


def test_products_of_three_matrices_are_taken_in_two_steps() -> None:
    """X Y Z and (X Y) v: the first has K^3 operations for one family more, the second needs none."""
    a, b, c, d = (index(letter) for letter in "abcd")
    x, y, z, v = (family(name) for name in ("X", "Y", "Z", "v"))
    inner = BlockSum(x[c, d] * y[d, a], d)
    three = Assignment("A", (b, c), BlockSum(inner * z[a, b], a))
    two = Assignment("B", (b,), BlockSum(inner.xreplace({c: b}) * v[a], a))
    product, first, second = in_pairs([three, two])
    assert product == Assignment("product_1", (b, c), BlockSum(x[b, d] * y[d, c], d))
    assert first.body == BlockSum(family("product_1")[c, a] * z[a, b], a)
    assert second == two and list(products_of([product, first, second])) == ["product_1"]
