"""Index calculus over blocks: values are preserved, no index is captured, derivatives agree with differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import sympy as sp
from evaluate import Evaluator, Place, State
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.blocks import (
    KAPPA,
    BlockSum,
    Definition,
    LogDet,
    MatrixInverse,
    ParallelSum,
    block_field,
    family,
    fresh_indices,
    index,
    protect,
    rename,
    used_indices,
)
from derive.calculus import Calculus, contract
from derive.canonical import canonical, fold
from derive.gaussian.expectation import Expectation
from giantstep.verify.interpreter import NotEvaluable

A, B, C, D, E = (index(letter) for letter in "abcde")
X, Y, W, U = family("x"), family("y"), family("W"), family("U")
MU = block_field("mu")
FREE = (B, C)
# entries that depend on the vector x and on the matrix W, with the bound letters used elsewhere
INVERSE = MatrixInverse("P", B, C, sp.KroneckerDelta(B, C) + W[B, C] * X[C] ** 2)
DEFINITION = Definition("D", (B,), BlockSum(W[B, A] * X[A], A) + X[B] ** 2)
CALCULUS = Calculus(definitions={"D": DEFINITION}, inverses={"P": INVERSE})
TOLERANCE = mpmath.mpf("1e-20")  # central differences at 50 digits with h = 1e-14: h^2 f'''/6, f''' up to 1e6


def state(blocks: int, seed: int) -> State:
    draw = random.Random(seed)

    def number() -> Any:
        return mpmath.mpf(draw.randint(-900, 900)) / 1000

    places1: list[Place] = [(b,) for b in range(blocks)]
    places2: list[Place] = [(b, c) for b in range(blocks) for c in range(blocks)]
    families = {name: {p: number() for p in places1} for name in ("x", "y")}
    families |= {name: {p: number() for p in places2} for name in ("W", "U")}
    # diagonally dominant, so that the inverse is tame
    for b in range(blocks):
        families["W"][b, b] = 2 + families["W"][b, b]
    columns: dict[tuple[str, Place], list[Any]] = {("mu", (b,)): [number() for _ in range(3)] for b in range(blocks)}
    weight = [mpmath.mpf(k) / 6 for k in (1, 2, 3)]
    return State(
        blocks,
        {"lam": mpmath.mpf(3) / 7},
        families,
        [number() for _ in range(3)],
        weight,
        columns,
        {"D": DEFINITION},
        {"P": INVERSE},
    )


def random_expression(draw: random.Random, depth: int, free: tuple[sp.Symbol, ...]) -> sp.Expr:
    """A random expression in the given free indices; bound letters come from the same small pool."""
    leaves, nodes = ("member", "number"), ("add", "mul", "mul", "sum", "sum", "mean", "power", "member")
    kind = draw.choice(leaves if depth == 0 else nodes)
    if kind == "number":
        return sp.Rational(draw.randint(1, 5), draw.randint(1, 5)) * draw.choice((1, sp.Symbol("lam", positive=True)))
    if kind == "member":
        return random_member(draw, free)
    if kind in ("add", "mul"):
        parts = [random_expression(draw, depth - 1, free) for _ in range(2)]
        return sp.Add(*parts) if kind == "add" else sp.Mul(*parts)
    if kind == "sum":
        bound = draw.choice((A, B, C, D))
        inner = tuple(dict.fromkeys((*free, bound)))
        return BlockSum(random_expression(draw, depth - 1, inner) * random_member(draw, (bound,)), bound)
    if kind == "mean":
        return Expectation(random_expression(draw, depth - 1, free) * MU(draw.choice(free), KAPPA) * KAPPA, KAPPA)
    return (2 + random_expression(draw, depth - 1, free) ** 2) ** draw.choice((2, -1))


def random_member(draw: random.Random, free: tuple[sp.Symbol, ...]) -> sp.Expr:
    def pick() -> sp.Symbol:
        return draw.choice(free)

    choices: tuple[Callable[[], sp.Expr], ...] = (
        lambda: X[pick()],
        lambda: Y[pick()],
        lambda: W[pick(), pick()],
        lambda: family("P")[pick(), pick()],
        lambda: family("D")[pick()],
        lambda: sp.KroneckerDelta(pick(), pick()),
        lambda: LogDet("P"),
    )
    return draw.choice(choices)()


def values(expr: sp.Expr, numbers: State, free: tuple[sp.Symbol, ...] = FREE) -> list[Any]:
    evaluator = Evaluator(numbers)
    return [evaluator.value(expr, dict(zip(free, p, strict=True))) for p in numbers.places(len(free))]


def assert_equal(left: list[Any], right: list[Any], tolerance: Any = TOLERANCE) -> None:
    scale = max([1, *(abs(x) for x in left)])
    assert max(abs(x - y) for x, y in zip(left, right, strict=True)) <= tolerance * scale


def moved(numbers: State, name: str, place: tuple[int, ...], by: Any) -> State:
    members = dict(numbers.families[name])
    members[place] += by
    return numbers.with_families({name: members})


SEEDS = st.integers(0, 10**6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from((1, 2, 3)), st.sampled_from(("x", "W")))
def test_derivatives_agree_with_differences(seed: int, blocks: int, name: str) -> None:
    """Through sums, averages, a definition, a matrix inverse and its log det; target letters also occur bound."""
    draw = random.Random(seed)
    expr = random_expression(draw, 3, FREE)
    rank = 1 if name == "x" else 2
    target = (A, D)[:rank] if draw.random() < 0.5 else (D, A)[:rank]
    derivative = CALCULUS.derivative(expr, family(name)[target])
    with mpmath.workdps(50):
        numbers, step = state(blocks, seed), mpmath.mpf("1e-14")
        for place in numbers.places(rank):
            where = dict(zip(target, place, strict=True))
            evaluator = Evaluator(numbers)
            symbolic = [
                evaluator.value(derivative, {**where, **dict(zip(FREE, p, strict=True))}) for p in numbers.places(2)
            ]
            above, below = (values(expr, moved(numbers, name, place, sign * step)) for sign in (1, -1))
            assert_equal(symbolic, [(x - y) / (2 * step) for x, y in zip(above, below, strict=True)])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from((1, 2, 3)))
def test_rewriting_preserves_values(seed: int, blocks: int) -> None:
    expr = random_expression(random.Random(seed), 4, FREE)
    with mpmath.workdps(40):
        numbers = state(blocks, seed)
        before = values(expr, numbers)
        for rewritten in (
            contract(expr),
            canonical(expr),
            protect(expr, {A, B, C, D}),
            canonical(contract(expr)),
        ):
            assert_equal(before, values(rewritten, numbers), mpmath.mpf("1e-32"))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(((B, A), (B, C), (B, D), (C, B))))
def test_renaming_captures_nothing(seed: int, names: tuple[sp.Symbol, sp.Symbol]) -> None:
    old, new = names
    expr = random_expression(random.Random(seed), 4, FREE)
    renamed = rename(expr, {old: new})
    with mpmath.workdps(30):
        numbers = state(3, seed)
        evaluator = Evaluator(numbers)
        for i in range(3):
            for j in range(3):
                where = {B: j, C: j, A: j, D: j, new: i}
                assert_equal(
                    [evaluator.value(expr, {**where, old: i})],
                    [evaluator.value(renamed, where)],
                    mpmath.mpf("1e-24"),
                )


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_parallel_sum_differentiates_without_inverting(blocks: int) -> None:
    """X = (A^-1 + B)^-1 by its rule against differences, A and B depending on x and W; both layouts of the ratio."""
    a = W[B, C] + W[C, B] + sp.KroneckerDelta(B, C) * X[B]
    b = sp.KroneckerDelta(B, C) * (2 + X[B] ** 2)

    def entries(numbers: State) -> tuple[Any, Any]:
        evaluator = Evaluator(numbers)
        matrices = []
        for entry in (a, b):
            matrix = mpmath.matrix(blocks, blocks)
            for place, number in evaluator.family(entry, (B, C)).items():
                matrix[place] = number
            matrices.append(matrix)
        return matrices[0], matrices[1]

    def parallel(numbers: State) -> Any:
        first, second = entries(numbers)
        return (first**-1 + second) ** -1

    def members(matrix: Any) -> dict[tuple[int, ...], Any]:
        return {(i, j): matrix[i, j] for i in range(blocks) for j in range(blocks)}

    with mpmath.workdps(50):
        numbers, step = state(blocks, 3), mpmath.mpf("1e-14")
        first, _ = entries(numbers)
        ratio = parallel(numbers) * first**-1
        for transposed in (False, True):
            node = ParallelSum("N", B, C, a, b, "L", transposed)
            calculus = Calculus(parallel={"N": node})
            filled = numbers.with_families(
                {"N": members(parallel(numbers)), "L": members(ratio.T if transposed else ratio)}
            )
            for target in (X[D], W[D, E]):
                derivative = calculus.derivative(family("N")[B, C], target)
                name, indices = str(target.base.label), tuple(target.indices)
                for place in numbers.places(len(indices)):
                    evaluator = Evaluator(filled)
                    where = dict(zip(indices, place, strict=True))
                    symbolic = [evaluator.value(derivative, {**where, B: i, C: j}) for i, j in numbers.places(2)]
                    ends = [parallel(moved(numbers, name, place, sign * step)) for sign in (1, -1)]
                    change = (ends[0] - ends[1]) / (2 * step)
                    assert_equal(symbolic, [change[p] for p in numbers.places(2)])


def test_second_derivatives_commute() -> None:
    expr = LogDet("P") * BlockSum(X[B] * family("P")[B, C] * Y[C], B)
    first = CALCULUS.derivative(CALCULUS.derivative(expr, X[D]), X[E])
    second = CALCULUS.derivative(CALCULUS.derivative(expr, X[E]), X[D])
    with mpmath.workdps(40):
        numbers = state(3, 5)
        assert_equal(values(first, numbers, (C, D, E)), values(second, numbers, (C, D, E)), mpmath.mpf("1e-32"))


def test_canonical_form_does_not_depend_on_names_of_indices() -> None:
    one = BlockSum(BlockSum(W[A, D] * X[A] * Y[D], A), D)
    two = BlockSum(BlockSum(W[C, B] * X[C] * Y[B], B), C)
    assert canonical(one) != 0
    three = BlockSum(BlockSum(W[E, A] * X[E] * Y[A], E), A)
    assert canonical(one, frozenset({"W"})) == canonical(three, frozenset({"W"}))
    with mpmath.workdps(30):
        assert_equal(values(one, state(3, 1), ()), values(two, state(3, 1), ()), mpmath.mpf("1e-24"))


def test_fold_recognises_a_matrix_product() -> None:
    pattern = Definition("S", (B, C), BlockSum(W[B, E] * U[E, C], E))
    expr = BlockSum(X[A] * W[A, D] * U[D, B], D)
    assert fold(expr, pattern) == X[A] * family("S")[A, B]
    # the bound index occurs a third time: not the product
    other = BlockSum(X[D] * W[A, D] * U[D, B], D)
    assert fold(other, pattern) == other


def test_symmetric_members_are_ordered() -> None:
    assert canonical(W[C, B] - W[B, C], frozenset({"W"})) == 0
    assert canonical(W[C, B] - W[B, C]) != 0


def test_fresh_indices_avoid_what_is_taken() -> None:
    expr = BlockSum(W[A, B] * X[C], A)
    assert used_indices(expr) == {A, B, C}
    assert not set(fresh_indices(5, used_indices(expr))) & {A, B, C}
    with pytest.raises(ValueError, match="ran out of block indices"):
        fresh_indices(1000, set())


def test_exponents_are_numbers() -> None:
    with pytest.raises(ValueError, match="depends on order parameters"):
        CALCULUS.derivative(Y[B] ** X[B], X[D])


def test_missing_numbers_are_named() -> None:
    numbers = State(2, {"z": 2}, {"y": {(0,): 1.0, (1,): 2.0}})
    with pytest.raises(NotEvaluable, match="no value for x"):
        Evaluator(numbers).value(X[B], {B: 0})
    with pytest.raises(NotEvaluable, match="depends on b"):
        Evaluator(numbers).value(Y[B])
    with pytest.raises(NotEvaluable, match="lam"):
        Evaluator(numbers).value(sp.Symbol("lam"))
    with pytest.raises(NotEvaluable, match="depends on kappa"):
        Evaluator(State(1, kappa=(1, 2))).value(KAPPA)
    with pytest.raises(NotEvaluable, match="no numerical meaning"):
        Evaluator(numbers).value(sp.gamma(sp.Symbol("z")))
