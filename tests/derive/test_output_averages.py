"""Derived derivatives of the averages over the output against differences of the averages themselves.

The averages are sums by definition over a made-up law of label and t (losses typed in by hand, the prox by bisection):
the derivation must hold for any law. Differences of order 4 with steps of 2e-3 leave 1e-11 times a fifth derivative,
and rounding 1e-13 of the averages' size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import loss_oracle
import numpy as np
import pytest
import sympy as sp

from derive.blocks import KAPPA
from derive.check import check_derivation
from derive.output import ENVELOPE, X2, G, H, OutputAverages, X, average, output_averages
from derive.symbols import DELTA, V

Array = np.ndarray
STENCIL = ((-2, 1.0 / 12.0), (-1, -2.0 / 3.0), (1, 2.0 / 3.0), (2, -1.0 / 12.0))
STEP = 2e-3
CLOSE = 1e-8


@dataclass(frozen=True)
class Law:
    """The fields at one kappa, and weights, t [J, D] and labels of a discrete law."""

    V: float
    mean: float
    slope: tuple[float, ...]
    Delta: float
    weight: Array
    t: Array
    label: Array

    def moved(self, field: str, by: float) -> Law:
        """The law with one of the derived fields changed."""
        if not field.startswith("slope"):
            return replace(self, **{field: getattr(self, field) + by})
        place = int(field.removeprefix("slope").removeprefix("_") or 1) - 1
        return replace(self, slope=tuple(s + by * (i == place) for i, s in enumerate(self.slope)))


def law(directions: int, form: str, seed: int = 5) -> Law:
    rng = np.random.default_rng(seed)
    count = 6
    labels = rng.choice([-1.0, 1.0], count) if form == "margin" else rng.normal(size=count)
    weight = rng.uniform(0.5, 1.0, count)
    slope = tuple(rng.normal(size=directions) * 0.6)
    return Law(0.8, 0.3, slope, 0.7, weight / weight.sum(), rng.normal(size=(count, directions)), labels)


def averages(given: Law, derived: OutputAverages, loss: loss_oracle.Loss) -> dict[str, float]:
    """The derived monomials averaged over that law, by name."""
    letters = [sp.Symbol(n, real=True) for n in (["t"] if derived.directions == 1 else ["t_1", "t_2"])]
    symbols = (ENVELOPE, G, H, X, X2, *letters)
    at = {V(KAPPA): given.V}
    functions = {name: sp.lambdify(symbols, monomial.subs(at)) for name, monomial in derived.monomials.items()}
    found = dict.fromkeys(functions, 0.0)
    root = math.sqrt(given.Delta)
    for weight, t, y in zip(given.weight, given.t, given.label, strict=True):
        sign = y if loss.form == "margin" else 1.0
        centre = sign * (given.mean + float(np.dot(given.slope, t))) - (y if loss.form == "residual" else 0.0)
        # one grid for all steps of a difference: it may not move with the field
        c = loss_oracle.curve(loss, loss_oracle.FLOAT, given.V, centre - 12 * root, centre + 12 * root, 0.5 * root)
        off = sign * (c.omega - centre)
        p = weight * c.weight * np.exp(-(off**2) / (2 * given.Delta)) / math.sqrt(2 * math.pi * given.Delta)
        x = off / given.Delta
        arguments = (c.envelope, sign * c.g, c.h, x, x * x - 1.0 / given.Delta, *t)
        for name, function in functions.items():
            found[name] += float(p @ (function(*arguments) + 0.0 * p))
    return found


def value(expression: sp.Expr, known: Mapping[str, float], at: Mapping[sp.Expr, float]) -> float:
    return float(expression.subs({average(name): v for name, v in known.items()}).subs(at))


@pytest.mark.parametrize(
    ("name", "directions"),
    [
        ("logistic", 1),
        ("huber", 2),
        ("smoothed_hinge", 2),
        ("log_cosh", 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("logistic", 2), ("huber", 1), ("smoothed_hinge", 1), ("log_cosh", 2))
        ),
    ],
)
def test_derivatives_of_the_averages(name: str, directions: int) -> None:
    derived, loss = output_averages(directions), loss_oracle.loss(name, loss_oracle.FLOAT)
    here = law(directions, loss.form)
    known, at = averages(here, derived, loss), {DELTA(KAPPA): here.Delta, V(KAPPA): here.V}
    fields = next(iter(derived.partials.values()))
    for field in fields:
        parts = [(weight, averages(here.moved(field, k * STEP), derived, loss)) for k, weight in STENCIL]
        for wanted, partial in derived.partials.items():
            slope = sum(weight * found[wanted] for weight, found in parts) / STEP
            assert abs(slope - value(partial[field], known, at)) < CLOSE, (wanted, field)


@pytest.mark.parametrize("directions", [1, 2, 3])
def test_what_is_derived(directions: int) -> None:
    derived = output_averages(directions)
    along = [f"t_{i + 1}" for i in range(directions)] if directions > 1 else ["t"]
    assert set(derived.partials) == {"avg_l", "avg_M", "avg_g", "avg_gg", "avg_h", *(f"avg_{t}g" for t in along)}
    fields = {"V", "mean", "Delta", *(t.replace("t", "slope") for t in along)}
    assert all(set(partial) == fields for partial in derived.partials.values())
    # no derivative needs an average that is not there, nor a derivative of h, which a kinked loss does not have
    named = {average(name) for name in derived.monomials}
    for partial in derived.partials.values():
        for expression in partial.values():
            assert {f for f in expression.atoms(sp.Function) if f not in (DELTA(KAPPA), V(KAPPA))} <= named
    checks = check_derivation(derived.derivation)
    assert checks and all(check.error is None or check.error < 1e-45 for check in checks)


def test_the_identities_of_the_envelope() -> None:
    """dM/dV = -g^2/2, dM/domega = -g and the heat equation, as they come out."""
    partials = output_averages(1).partials
    assert partials["avg_M"]["V"] == -average("avg_gg") / 2
    assert partials["avg_M"]["mean"] == -average("avg_g")
    # the loss of the prox: l = M - V g^2/2, with g and h in the place of dM/dV and dg/domega
    g_gg, gh_ggh = (average("avg_g"), average("avg_gg")), (average("avg_gh"), average("avg_ggh"))
    for field, first, second in zip(("mean", "V"), g_gg, gh_ggh, strict=True):
        assert sp.expand(partials["avg_l"][field] + first - V(KAPPA) * second) == 0
    assert partials["avg_M"]["Delta"] == average("avg_h") / 2
    assert partials["avg_M"]["slope"] == -average("avg_tg")
    assert partials["avg_g"]["mean"] == -average("avg_h")
