"""Equations from their text: values and tangents by one compiled loop, the certificate by its own, formulas by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generated.runtime import array_steps, contraction_layout, evaluation
from generated.runtime.array_certificate import ArrayCertificate
from generated.runtime.array_steps import LARGE, PRODUCT, SUM, Plan, Step
from generated.runtime.equation_text import Contractions
from generated.runtime.evaluation import Numbers, Stage
from generated.runtime.tangents import TangentEquations, Text

EQUATIONS = """
matrix_G[e, j, x] := delta[e, j] + sum(A[e, r]*sample[r, j, x], r)/2 - B[e, j]/3
0 = sum(matrix_G[e, j, x]*G[i, e, x], e) - delta[i, j]
F[i, x] = sum(G[i, j, x]*v[j], j)/beta**2 - v[i]*sum(w[x]*E(kappa*mu1[i]), x)
u[i] = sum(w[x]*F[i, x], x)
v[i] = u[i]/sum(A[i, j]*u[j]**2, j)
"""
RULES = """
d_G[i, j, x] := (-sum(sum(sum(d_A[a, r]*sample[r, b, x], r)/2*G[i, a, x], a)*G[b, j, x], b)
    + sum(sum(d_B[a, b]/3*G[i, a, x], a)*G[b, j, x], b))
"""
COLUMNS, FEATURES = ("kappa", "weight"), ("mu1",)
EQUATION_TEXT = Text(EQUATIONS, ("v",), ("A", "B"), RULES, "")
TANGENTS = TangentEquations(EQUATION_TEXT, COLUMNS, FEATURES)
EVERYTHING = Stage(TANGENTS.contractions, ("residual_v", "G", "F", "u"))
BLOCKS, SAMPLES, NODES = 3, 11, 5
PARAMETERS = np.array([0.4, 1.7, 0.1, 0.0, 0.0])


def given(kind: type) -> tuple[np.ndarray, dict[str, Any]]:
    draw = np.random.default_rng(2)

    def numbers(*shape: int) -> np.ndarray:
        found = draw.uniform(0.1, 0.5, shape).astype(kind)
        return found + 0.2j * draw.uniform(size=shape) if kind is complex else found

    k, n = BLOCKS, SAMPLES
    state = {"A": numbers(k, k), "B": numbers(k, k), "sample": numbers(k, k, n), "v": numbers(k), "w": numbers(n)}
    return draw.uniform(0.1, 1.0, (2 + k, NODES)), state


def by_hand(node: np.ndarray, s: dict[str, Any]) -> dict[str, np.ndarray]:
    matrix = np.eye(BLOCKS)[..., None] + np.einsum("er,rjx->ejx", s["A"], s["sample"]) / 2 - s["B"][..., None] / 3
    inverse = np.moveaxis(np.linalg.inv(np.moveaxis(matrix, -1, 0)), 0, -1)
    mean = node[2:] @ (node[0] * node[1])
    f = np.einsum("ijx,j->ix", inverse, s["v"]) / 1.7**2 - (s["v"] * mean * s["w"].sum())[:, None]
    u = f @ s["w"]
    return {"G": inverse, "F": f, "u": u, "residual_v": s["v"] - u / (s["A"] @ u**2)}


def evaluated(kind: type, node: np.ndarray, state: dict[str, Any], ways: int | None = None) -> Numbers:
    shapes = {name: values.shape for name, values in state.items()}
    found = Numbers(TANGENTS.contractions, node, np.ones(BLOCKS), PARAMETERS, shapes, ways, kind)
    found.update(state)
    found.run(EVERYTHING)
    return found


@pytest.mark.parametrize("kind", [float, complex])
def test_values_by_hand(kind: type) -> None:
    node, state = given(kind)
    found, wanted = evaluated(kind, node, state), by_hand(node, state)
    for name, values in wanted.items():
        assert np.allclose(found[name], values, rtol=1e-12, atol=1e-13), name
    again = found["residual_v"].copy()
    found.run(Stage(TANGENTS.contractions, ("residual_v",)))  # what is added to is cleared before
    assert np.array_equal(found["residual_v"], again)


@pytest.mark.parametrize("ways", [1, 4, 7])
def test_tangents_along_several_directions_by_differences(ways: int) -> None:
    node, state = given(float)
    known = {**state, **{name: evaluated(float, node, state)[name] for name in ("G", "F", "u")}}
    draw, step = np.random.default_rng(4), 1e-3
    moves = {f"d_{name}": draw.normal(size=(*state[name].shape, ways)) for name in ("A", "B", "v")}
    at = TANGENTS.at(node, np.ones(BLOCKS), PARAMETERS, known, ways)
    found = at.along(moves, ("d_residual_v",))["d_residual_v"]
    for way in range(ways):

        def moved(length: float, way: int = way) -> np.ndarray:
            there = {name: state[name] + length * moves[f"d_{name}"][..., way] for name in ("A", "B", "v")}
            return by_hand(node, {**state, **there})["residual_v"]

        ends = [moved(k * step) for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step)
        assert np.allclose(found[:, way], slope, rtol=1e-6, atol=1e-7 * np.abs(slope).max())


def test_tangents_short_of_what_is_given() -> None:
    """Along u as if it did not follow from v: what else v moves is left out."""
    node, state = given(float)
    numbers = evaluated(float, node, state, 1)
    of = TANGENTS.contractions
    numbers.run(Stage(of, ("d_residual_v",), after=(EVERYTHING,), without=of.moving))
    d_u = np.array([0.3, -0.2, 0.5])
    numbers["d_v"], numbers["d_u"] = np.ones((BLOCKS, 1)), d_u[:, None]
    moved = ("d_v", "d_u")
    numbers.run(Stage(of, ("d_residual_v",), of=moved, moved=moved, stops=("d_u",)))
    u = numbers["u"]
    below = state["A"] @ u**2
    wanted = 1.0 + u / below**2 * (state["A"] @ (2 * u * d_u)) - d_u / below
    assert numbers["d_residual_v"][:, 0] == pytest.approx(wanted)


def test_memory_serves_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numbers that nobody reads any more; a view of them keeps it, and what is not given is zero again."""
    monkeypatch.setattr(contraction_layout, "_SMALLEST", 0)
    node, state = given(float)
    numbers = evaluated(float, node, state)
    kept, place = numbers["u"], numbers.value.ctypes.data
    wanted = kept.copy()
    del numbers
    other = evaluated(float, node, {**state, "v": 2.0 * state["v"]})
    assert other.value.ctypes.data != place and np.array_equal(kept, wanted)
    place = other.value.ctypes.data
    del other
    shapes = {name: values.shape for name, values in state.items()}
    again = Numbers(TANGENTS.contractions, node, np.ones(BLOCKS), PARAMETERS, shapes)
    assert again.value.ctypes.data == place and not again["v"].any() and not again["d_v"].any()
    again.update(state)
    again.run(EVERYTHING)
    assert again["u"] == pytest.approx(wanted, rel=1e-15)


def test_numbers_outlive_their_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the interpreter the names of modules are None before the last numbers go."""
    found = evaluated(float, *given(float))
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "getrefcount", None)
        patch.setattr(evaluation, "give_back", None)
        found.__del__()
    assert not vars(found)


@pytest.mark.parametrize(("name", "shape"), [("w", (SAMPLES - 1,)), ("sample", (BLOCKS, BLOCKS + 1, SAMPLES))])
def test_arrays_that_share_an_axis_have_one_length_along_it(name: str, shape: tuple[int, ...]) -> None:
    """Loops would read beyond the end of the other."""
    node, state = given(float)
    shapes = {**{name: values.shape for name, values in state.items()}, name: shape}
    with pytest.raises(ValueError, match=rf"share an axis .*{name} \({shape[-1] if name == 'w' else shape[1]}\)"):
        Numbers(TANGENTS.contractions, node, np.ones(BLOCKS), PARAMETERS, shapes)


def test_numbers_begin_with_those_of_others() -> None:
    """What is given, at other parameters; what has been evaluated or moved since is not among it."""
    node, state = given(float)
    shapes = {name: values.shape for name, values in state.items()}
    first = Numbers(TANGENTS.contractions, node, np.ones(BLOCKS), PARAMETERS, shapes, 2)
    first.update({**state, "beside": np.arange(3.0)})
    start, other = first.start(), PARAMETERS * np.array([1.0, 1.3, 1.0, 1.0, 1.0])
    first.update({"A": 2.0 * state["A"], "d_v": np.ones((BLOCKS, 2))})
    del first  # whose memory may serve again
    found = Numbers.begun(start, other)
    assert all(np.array_equal(found[name], values) for name, values in state.items()) and not found["d_v"].any()
    assert np.array_equal(found["beside"], np.arange(3.0))
    wanted = Numbers(TANGENTS.contractions, node, np.ones(BLOCKS), other, shapes, 2)
    wanted.update(state)
    for numbers in (found, wanted):
        numbers.run(EVERYTHING)
    assert np.array_equal(found["residual_v"], wanted["residual_v"]) and found["residual_v"].any()


def test_the_certificate_sees_every_family() -> None:
    """The same text once more: no residual but that of v, which is no solution here; more where a family is changed."""
    node, state = given(float)
    known = {**state, **{name: evaluated(float, node, state)[name].copy() for name in ("G", "F", "u")}}
    check = ArrayCertificate(EQUATIONS, COLUMNS, features=FEATURES).check
    known["v"] = known["v"].copy()
    left, bound = by_hand(node, state)["residual_v"], np.abs(state["v"]).max()
    found = check(node, np.ones(BLOCKS), PARAMETERS, known)
    assert 0.0 < found <= np.abs(left).max() / min(bound, 1e-3)
    assert check(node, np.ones(BLOCKS), PARAMETERS, evaluated(float, node, state)) == pytest.approx(found, rel=1e-12)
    solved = ArrayCertificate(EQUATIONS[: EQUATIONS.rindex("v[i] =")], COLUMNS, features=FEATURES).check
    assert solved(node, np.ones(BLOCKS), PARAMETERS, known) < 1e-14
    for name in ("G", "F", "u"):
        wrong = {**known, name: known[name] * (1.0 + 1e-6)}
        assert solved(node, np.ones(BLOCKS), PARAMETERS, wrong) > 1e-9, name


ALIKE = """
u[i] = v[i]*sum(A[i, j]*v[j], j)
w[p] = 2*v[p]*sum(A[p, q]*v[q], q) - sum(A[q, p]*v[q], q)
x[a] = -2*sum(v[b], b) + 1 + 3/beta
"""


def test_indices_may_have_any_names() -> None:
    """What is the same but for these is evaluated once, by both loops; a right side may lack an axis."""
    draw, k = np.random.default_rng(5), BLOCKS
    other = ALIKE.replace("A[p, q]", "A[q, p]")
    assert len(Contractions(ALIKE, COLUMNS, FEATURES).rows) == len(Contractions(other, COLUMNS, FEATURES).rows) - 1
    certificate = ArrayCertificate(ALIKE, COLUMNS, features=FEATURES)  # A v, v (A v), A^T v, the sum of v, one
    assert sum(getattr(step, "kind", None) == PRODUCT for step in certificate.steps.steps) == 5
    v, matrix, node = draw.normal(size=k), draw.normal(size=(k, k)), draw.normal(size=(2 + k, NODES))
    known = {"A": matrix, "v": v, "u": v * (matrix @ v), "w": 2 * v * (matrix @ v) - matrix.T @ v}
    known["x"] = np.full(k, 1.0 + 3.0 / PARAMETERS[1] - 2.0 * v.sum())
    assert certificate.check(node, np.ones(k), PARAMETERS, known) < 1e-14
    for name in ("u", "w", "x"):
        wrong = {**known, name: known[name] + 1e-6}
        assert certificate.check(node, np.ones(k), PARAMETERS, wrong) > 1e-8, name


PAIRS = ["ab,ab->", "ab,b->a", "ab,b->ab", "a,ab->ab", "ab,ab->ab", "ab,ba->ab", "ab,cb->ac", "ab,ac->bc", "ab,c->bac"]


@pytest.mark.parametrize("text", PAIRS)
@pytest.mark.parametrize("length", [1, 7, 40])
def test_products_of_two_arrays(text: str, length: int) -> None:
    """Values, and bounds: the same of absolute values; wherever the last loop goes along memory or stands still, and
    whatever is zero. A second step reads the result as it lies.
    """
    draw, sizes = np.random.default_rng(7), {"a": 3, "b": length, "c": 4}
    names, kept = text.split("->")[0].split(","), text.split("->")[1]
    arrays = [draw.normal(size=[sizes[axis] for axis in own]) for own in names]
    arrays[0] *= draw.integers(0, 2, arrays[0].shape)
    axes = tuple(tuple(map("abc".index, own)) for own in names)
    step = Step(PRODUCT, "found", ("left", "right"), axes, tuple(map("abc".index, kept)), ())
    order = tuple(range(len(kept)))
    again = Step(SUM, "result", ("found",), (order[::-1],), order, (1.0,))  # turned
    plan = Plan([step, again], dict(zip(("left", "right"), (each.shape for each in arrays), strict=True)))
    both = plan.numbers([each.ravel() for each in arrays])
    assert plan.worst(both) == 0.0
    for found, given in zip(both, (arrays, [np.abs(each) for each in arrays]), strict=True):
        turned = np.einsum(text, *given).T
        lies = turned.transpose(plan.orders["result"]).ravel()
        assert np.allclose(found[plan.places["result"]], lies, rtol=1e-13)


def test_what_no_step_reads_any_more_leaves_its_place() -> None:
    """Not before: the first product is read by the last step, the others by the next one only."""
    draw, size = np.random.default_rng(8), 5
    matrices = {name: draw.normal(size=(size, size)) for name in ("left", "right")}

    def product(name: str, *operands: str) -> Step:
        return Step(PRODUCT, name, operands, ((0, 1), (1, 2)), (0, 2), ())

    steps = [product("1", "left", "right"), product("2", "1", "right"), product("3", "2", "right")]
    steps += [product("4", "3", "1"), product("5", "4", "1")]
    plan = Plan(steps, dict.fromkeys(matrices, (size, size)))
    both = plan.numbers([each.ravel() for each in matrices.values()])
    assert plan.worst(both) == 0.0 and plan.places["4"] == plan.places["2"] and plan.count == 5 * size**2
    left, right = matrices.values()
    one = left @ right
    lies = (one @ right @ right @ one @ one).transpose(plan.orders["5"]).ravel()
    assert both[0, plan.places["5"]] == pytest.approx(lies, rel=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_equations_of_what_is_no_number_do_not_hold(value: float) -> None:
    certificate = ArrayCertificate("u[i] = v[i]\n0 = sum(v[i], i)/1e9", COLUMNS, features=FEATURES)
    node, v = np.ones((2 + BLOCKS, NODES)), np.zeros(BLOCKS)
    assert certificate.check(node, np.ones(BLOCKS), PARAMETERS, {"u": v, "v": v}) == 0.0
    assert certificate.check(node, np.ones(BLOCKS), PARAMETERS, {"u": v + value, "v": v}) == np.inf


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("text", ["im,mj->ij", "im,jm->ij", "mi,mj->ij", "mi,jm->ij", "aim,mj->aij", "aim,amj->ija"])
def test_products_of_matrices(text: str, kind: type) -> None:
    """Sums four at a time and the rest, whichever axis goes along memory; added and subtracted, and too short for it.
    Not the numbers of an array beside: what lies behind a row is another's.
    """
    factors, result = text.split("->")[0].split(","), text.split("->")[1]
    own, other, kept = (", ".join(axes) for axes in (*factors, result))
    equation = f"v[{kept}] = sum(L[{own}]*R[{other}], m) - sum(R[{other}]*S[{own}], m)"
    equations = TangentEquations(Text(equation, ("v",), ("L", "R", "S"), "", ""), COLUMNS, FEATURES)
    for lengths in (
        {"a": 3, "i": 9, "m": 7, "j": 10},
        {"a": 5, "i": 4, "m": 12, "j": 5},
        {"a": 2, "i": 3, "m": 3, "j": 3},
    ):
        draw = np.random.default_rng(4)
        state = {
            name: draw.normal(size=[lengths[axis] for axis in axes]).astype(kind)
            * (1.0 if kind is float else 1.0 + 0.5j)
            for name, axes in zip("LRSv", (*factors, factors[0], result), strict=True)
        }
        shapes = {name: values.shape for name, values in state.items()}
        found = Numbers(equations.contractions, np.ones((3, 1)), np.ones(1), PARAMETERS, shapes, None, kind)
        found.update(state)
        found.run(Stage(equations.contractions, ("residual_v",)))
        expected = state["v"] - np.einsum(text, state["L"], state["R"]) + np.einsum(text, state["S"], state["R"])
        assert np.allclose(found["residual_v"], expected, rtol=0.0, atol=1e-13)
        for name, values in state.items():
            assert np.array_equal(found[name], values), name


def test_bounds_of_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the loop and by linear algebra: the residual relative to the terms in absolute value, that of the diagonal and
    of an axis of length one among them.
    """
    text = "u[i] = A[i, i]*v[i]/w[i]\nx[i] = sum(A[i, j]*u[j], j) - 3*u[i] + alpha\n0 = sum(v[i], i) - 2*E(kappa)"
    draw, k = np.random.default_rng(6), BLOCKS
    node, known = draw.normal(size=(2 + k, NODES)), {name: draw.normal(size=k) for name in "uvwx"}
    known["A"] = draw.normal(size=(k, k))
    a, u, v, w, x = (known[name] for name in "Auvwx")
    of_u = np.diag(a) * v / w
    bound = np.abs(of_u)  # u is known to the bound of its equation
    terms = np.abs(a) @ bound + 3.0 * bound + abs(PARAMETERS[0])
    average = 2.0 * node[0] @ node[1], 2.0 * np.abs(node[0]) @ np.abs(node[1])
    expected = max(
        np.abs(u - of_u).max() / bound.max(),
        np.abs(x - a @ u + 3.0 * u - PARAMETERS[0]).max() / terms.max(),
        abs(v.sum() - average[0]) / (np.abs(v).sum() + average[1]),
    )
    for large in (LARGE, 1):
        monkeypatch.setattr(array_steps, "LARGE", large)
        certificate = ArrayCertificate(text, ("kappa", "weight"), features=("mu0",))
        assert certificate.check(node, np.ones(k), PARAMETERS, known) == pytest.approx(expected, rel=1e-12)
