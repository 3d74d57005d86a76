"""A spike of rank q in the derivation: one more overlap and one more moment per direction, and nothing else."""

from __future__ import annotations

from functools import lru_cache

import pytest
import sympy as sp

from codegen.plan import analyse
from derive.blocks import KAPPA, block_field, coordinates_of_kappa, family
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.saddle import SaddleSystem, coupled_system, member, saddle_system
from derive.symbols import ALPHA, BETA, MEAN, MU1, NU0, SYMMETRIC, T, V

KINDS = {"square": saddle_system, "coupled": coupled_system}


@lru_cache(maxsize=8)
def system_of(kind: str, spikes: int) -> SaddleSystem:
    return KINDS[kind](spikes=spikes)


def renamed(expr: sp.Expr, names: dict[str, str]) -> sp.Expr:
    """Families and functions of kappa by other names."""
    for old, new in names.items():
        expr = expr.replace(family(old), family(new))
        expr = expr.replace(sp.Function(old, real=True), sp.Function(new, real=True))
    return expr


def without(expr: sp.Expr, name: str) -> sp.Expr:
    """The expression where a family of overlaps vanishes."""
    b = sp.Wild("b")
    return canonical(sp.sympify(expr.replace(family(name)[b], sp.S.Zero)), SYMMETRIC)


def bodies(system: SaddleSystem) -> dict[str, sp.Expr]:
    equations = {equation.unknown: equation.body for equation in system.equations}
    fields = {definition.name: definition.body for definition in system.fields}
    return {**equations, **fields, "free energy": system.free_energy, "test error": system.test_error}


@pytest.mark.parametrize("kind", KINDS)
def test_rank_one_inside_rank_two(kind: str) -> None:
    """Without an overlap along the second direction, every equation is that of one direction."""
    one, two = bodies(system_of(kind, 1)), bodies(system_of(kind, 2))
    assert set(two) - set(one) == {f"{name}_{i}" for name in ("zeta", "zeta_hat") for i in (1, 2)}
    names = {"zeta": "zeta_1", "zeta_hat": "zeta_hat_1"}
    for name, body in one.items():
        first = two[names.get(name, name)]
        reduced = without(without(first, "zeta_2"), "zeta_hat_2")
        back = renamed(reduced, {new: old for old, new in names.items()}).subs(block_field("kappa_1")(KAPPA), KAPPA)
        assert canonical(back - body, SYMMETRIC).expand() == 0, name


@pytest.mark.parametrize("kind", KINDS)
def test_directions_are_interchangeable(kind: str) -> None:
    found = bodies(system_of(kind, 2))
    swap = [(f"{name}_1", f"{name}_2") for name in ("zeta", "zeta_hat", "kappa")]
    there = {**{a: f"{a}x" for a, _ in swap}, **{b: a for a, b in swap}, **{f"{a}x": b for a, b in swap}}
    for name, body in found.items():
        other = found[dict([*swap, *((b, a) for a, b in swap)]).get(name, name)]
        assert canonical(renamed(body, there) - other, SYMMETRIC).expand() == 0, name


@pytest.mark.parametrize("spikes", [1, 2, 3])
def test_each_direction_has_the_printed_equations(spikes: int) -> None:
    """THEORY section 4 with kappa in R^q: zeta_hat_j = (alpha/beta) E[mu1 kappa_j g] and zeta_j = T zeta_hat_j."""
    system, (b,) = system_of("square", spikes), member("m").indices
    residual = (NU0(KAPPA) - MEAN(KAPPA)) / (1 + V(KAPPA))
    for j, kappa in enumerate(coordinates_of_kappa(spikes)):
        end = f"_{j + 1}" if spikes > 1 else ""
        printed = ALPHA / BETA * Expectation(MU1(b, KAPPA) * kappa * residual, KAPPA)
        assert canonical(system.equation(f"zeta_hat{end}").body - printed, SYMMETRIC).expand() == 0
        assert system.equation(f"zeta{end}").body == T[b] * family(f"zeta_hat{end}")[b]


@pytest.mark.parametrize("spikes", [2, 3])
def test_overlaps_stay_one_linear_block(spikes: int) -> None:
    plan = analyse(system_of("square", spikes))
    blocks = {frozenset(node.name for node in block.torn): block.kind for block in plan.blocks if block.torn}
    assert blocks[frozenset({"m", *(f"zeta_{j + 1}" for j in range(spikes))})] == "linear"


def test_the_trace_says_how_several_directions_are_taken_out() -> None:
    derivation = system_of("square", 2).derivation
    assert any("Woodbury" in step.label for step in derivation.steps)
    assert not any("Woodbury" in step.label for step in system_of("square", 1).derivation.steps)
    shown = derivation.latex()
    assert r"\hat{\zeta}_{2,b}" in shown.replace(" ", "") or r"\hat{\zeta}_{2" in shown
    assert r"\kappa_{2}" in shown and r"\kappa_{2}(\kappa)" not in shown
