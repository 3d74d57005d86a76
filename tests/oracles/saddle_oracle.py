"""The equations of THEORY section 4 as printed, in mpmath: what the derived system has to reproduce.

Typed in by hand, with matrices and loops instead of index expressions; used by tests only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mpmath
from evaluate import Place, State
from mpmath import mpf

from derive.saddle import SaddleSystem

HATS = ("zeta_hat", "psi_hat", "Q1_hat", "Q2_hat", "V1_hat", "V2_hat")
ORDER = ("m", "zeta", "psi", "Q1", "Q2", "V1", "V2")
PAIRS = ("Q1", "V1", "Q1_hat", "V1_hat")


@dataclass(frozen=True)
class Point:
    """Numbers for everything: parameters, node tables [N] and [N][K], vectors [K] and symmetric matrices."""

    blocks: int
    alpha: Any
    beta: Any
    ridge: Any
    noise: Any
    inverse_dimension: Any
    fraction: list[Any]
    kappa: list[Any]
    weight: list[Any]
    nu: dict[str, list[Any]]
    mu: dict[str, list[list[Any]]]
    values: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def average(self, function: Callable[[int], Any]) -> Any:
        return mpmath.fsum(w * function(i) for i, w in enumerate(self.weight))

    def with_values(self, **values: Any) -> Point:
        return replace(self, values={**self.values, **values})


def random_point(blocks: int, seed: int, nodes: int = 6) -> Point:
    """A point without any structure: positive definite responses, arbitrary overlaps, arbitrary tables."""
    draw = random.Random(seed)

    def number() -> Any:
        return mpf(draw.randint(-1000, 1000)) / 700

    def positive() -> Any:
        return mpf(draw.randint(200, 1500)) / 1000

    def vector() -> list[Any]:
        return [number() for _ in range(blocks)]

    def definite() -> Any:
        root = mpmath.matrix(blocks, blocks)
        for i in range(blocks):
            for j in range(blocks):
                root[i, j] = number()
        return root * root.T + mpmath.eye(blocks) / 5

    parts = [positive() for _ in range(blocks)]
    weights = [positive() for _ in range(nodes)]
    values: dict[str, Any] = {name: vector() for name in ("m", "zeta", "psi", "zeta_hat", "psi_hat")}
    values |= {name: [positive() for _ in range(blocks)] for name in ("Q2", "V2", "Q2_hat", "V2_hat")}
    values |= {name: definite() for name in PAIRS}
    point = Point(
        blocks,
        positive(),
        positive(),
        positive(),
        positive(),
        positive() / 10,
        [x / mpmath.fsum(parts) for x in parts],
        [number() for _ in range(nodes)],
        [w / mpmath.fsum(weights) for w in weights],
        {
            "nu0": [number() for _ in range(nodes)],
            "nu1": [number() for _ in range(nodes)],
            "nu2sq": [positive() for _ in range(nodes)],
        },
        {
            "mu0": [vector() for _ in range(nodes)],
            "mu1": [vector() for _ in range(nodes)],
            "mu2sq": [[positive() for _ in range(blocks)] for _ in range(nodes)],
        },
        values,
    )
    return point.with_values(T=solve_t(point))


def state_of_point(point: Point, system: SaddleSystem, **families: Any) -> State:
    """The point as the interpreter sees it; ``families`` adds vectors by name."""
    k = point.blocks
    columns: dict[tuple[str, Place], Sequence[Any]] = {(name, ()): values for name, values in point.nu.items()}
    for name, rows in point.mu.items():
        columns |= {(name, (b,)): [row[b] for row in rows] for b in range(k)}
    numbers: dict[str, Mapping[Place, Any]] = {}
    for name, value in {**point.values, "fraction": point.fraction, **families}.items():
        numbers[name] = (
            {(b, c): value[b, c] for b in range(k) for c in range(k)}
            if isinstance(value, mpmath.matrix)
            else {(b,): value[b] for b in range(k)}
        )
    symbols = {name: getattr(point, name) for name in ("alpha", "beta", "ridge", "noise", "inverse_dimension")}
    definitions = {d.name: d for d in system.fields}
    definitions |= {name: _definition(system, name) for name in ("S", "M")}
    return State(
        k,
        symbols,
        numbers,
        point.kappa,
        point.weight,
        columns,
        definitions,
        {inverse.name: inverse for inverse in system.inverses},
    )


def _definition(system: SaddleSystem, name: str) -> Any:
    from derive.blocks import Definition

    equation = system.equation(name)
    return Definition(name, equation.indices, equation.body)


# --- THEORY section 4, line by line ---------------------------------------------------------------------------


def diagonal(vector: Sequence[Any]) -> Any:
    return mpmath.diag(list(vector))


def matrix_m(point: Point) -> Any:
    """M = (T^-1 + V1_hat)^-1."""
    return (diagonal([1 / t for t in point["T"]]) + point["V1_hat"]) ** -1


def t_equation(point: Point) -> list[Any]:
    """T_b [ lambda + V2_hat_b + ((V1_hat^-1 + T)^-1)_bb ] - beta pi_b."""
    t = point["T"]
    parallel = (point["V1_hat"] ** -1 + diagonal(t)) ** -1
    return [
        t[b] * (point.ridge + point["V2_hat"][b] + parallel[b, b]) - point.beta * point.fraction[b]
        for b in range(point.blocks)
    ]


def solve_t(point: Point, start: Sequence[Any] | None = None) -> list[Any]:
    """T by Newton from above (the start lies above the solution, where the map is concave)."""
    k = point.blocks
    t = list(start or [point.beta * point.fraction[b] / point.ridge for b in range(k)])
    for _ in range(200):
        here = t_equation(point.with_values(T=t))
        step = mpf(10) ** (-mpmath.mp.dps // 2)
        jacobian = mpmath.matrix(k, k)
        for j in range(k):
            moved = [x + (step if i == j else 0) for i, x in enumerate(t)]
            there = t_equation(point.with_values(T=moved))
            for i in range(k):
                jacobian[i, j] = (there[i] - here[i]) / step
        change = mpmath.lu_solve(jacobian, mpmath.matrix(here))
        t = [x - dx for x, dx in zip(t, change, strict=True)]
        if max(abs(x) for x in change) < mpf(10) ** (5 - mpmath.mp.dps):
            return t
    raise AssertionError("the equation of T was not solved")


def quadratic_form(point: Point) -> Any:
    """R = zeta_hat^T T zeta_hat + psi_hat^T M psi_hat + (q1_hat:M + q2_hat.T)/beta, section 6 included.

    The component of a_b along 1_b has the response V2_b = T_b/beta: its cost m_b^2/(2 d V2_b) is -beta/2 times
    -m_b^2/(d T_b).
    """
    k, m = range(point.blocks), matrix_m(point)
    t, zeta_hat, psi_hat = point["T"], point["zeta_hat"], point["psi_hat"]
    spike = mpmath.fsum(zeta_hat[b] ** 2 * t[b] for b in k)
    rest = mpmath.fsum(psi_hat[b] * m[b, c] * psi_hat[c] for b in k for c in k)
    noise = mpmath.fsum(point["Q1_hat"][b, c] * m[b, c] for b in k for c in k)
    finite = -point.inverse_dimension * mpmath.fsum(point["m"][b] ** 2 / t[b] for b in k)
    return spike + rest + (noise + mpmath.fsum(point["Q2_hat"][b] * t[b] for b in k)) / point.beta + finite


def output(point: Point, i: int) -> tuple[Any, Any, Any, Any]:
    """(mean, slope, Delta, V) of the output at node i."""
    k = range(point.blocks)
    mu0, mu1, mu2sq = (point.mu[name][i] for name in ("mu0", "mu1", "mu2sq"))
    mean = mpmath.fsum(mu0[b] * point["m"][b] + mu1[b] * point.kappa[i] * point["zeta"][b] for b in k)
    slope = mpmath.fsum(mu1[b] * point["psi"][b] for b in k)
    delta = mpmath.fsum(
        mu1[b] * mu1[c] * (point["Q1"][b, c] - point["psi"][b] * point["psi"][c]) for b in k for c in k
    ) + mpmath.fsum(mu2sq[b] * point["Q2"][b] for b in k)
    response = mpmath.fsum(mu1[b] * mu1[c] * point["V1"][b, c] for b in k for c in k)
    return mean, slope, delta, response + mpmath.fsum(mu2sq[b] * point["V2"][b] for b in k)


def squared_residual(point: Point, i: int, noise: Any = None) -> Any:
    """E[(y - omega)^2 | kappa] by Gauss-Hermite over t, xi and the rest of the label: exact for a square."""
    mean, slope, delta, _ = output(point, i)
    rest = mpmath.sqrt(point.nu["nu2sq"][i] + (point.noise if noise is None else noise))
    rule = [(-mpmath.sqrt(3), mpf(1) / 6), (mpf(0), mpf(2) / 3), (mpmath.sqrt(3), mpf(1) / 6)]
    total = mpf(0)
    for t, wt in rule:
        for xi, wx in rule:
            for e, we in rule:
                y = point.nu["nu0"][i] + point.nu["nu1"][i] * t + rest * e
                omega = mean + slope * t + mpmath.sqrt(mpmath.mpc(delta)) * xi
                total += wt * wx * we * mpmath.re((y - omega) ** 2)
    return total


def free_energy(point: Point) -> Any:
    """Phi with the envelope M_V = (y - omega)^2/(2 (1 + V)) of the square loss."""
    k = range(point.blocks)
    energetic = point.alpha * point.average(lambda i: squared_residual(point, i) / (2 * (1 + output(point, i)[3])))
    pairs = mpmath.fsum(
        point["zeta_hat"][b] * point["zeta"][b]
        + point["psi_hat"][b] * point["psi"][b]
        + (point["Q2_hat"][b] * point["V2"][b] - point["V2_hat"][b] * point["Q2"][b]) / 2
        for b in k
    )
    squares = mpmath.fsum(
        point["Q1_hat"][b, c] * point["V1"][b, c] - point["V1_hat"][b, c] * point["Q1"][b, c] for b in k for c in k
    )
    return energetic + point.beta * (pairs + squares / 2 - quadratic_form(point) / 2)


def hats(point: Point) -> dict[str, Any]:
    """Right sides of the equations of all conjugates, from g and h of the square loss."""
    k, factor = range(point.blocks), point.alpha / point.beta
    out = [output(point, i) for i in range(len(point.kappa))]
    h = [1 / (1 + v) for *_, v in out]
    g = [(point.nu["nu0"][i] - out[i][0]) * h[i] for i in range(len(h))]  # E[g | kappa]
    tg = [(point.nu["nu1"][i] - out[i][1]) * h[i] for i in range(len(h))]  # E[t g | kappa]
    gg = [squared_residual(point, i) * h[i] ** 2 for i in range(len(h))]
    mu1, mu2sq = point.mu["mu1"], point.mu["mu2sq"]

    def pair(values: Sequence[Any]) -> Any:
        result = mpmath.matrix(point.blocks, point.blocks)
        for b in k:
            for c in k:
                result[b, c] = factor * point.average(
                    lambda i, b=b, c=c: mu1[i][b] * mu1[i][c] * values[i]  # type: ignore[misc]
                )
        return result

    def each(function: Callable[[int, int], Any]) -> list[Any]:
        return [factor * point.average(lambda i, b=b: function(i, b)) for b in k]  # type: ignore[misc]

    return {
        "V1_hat": pair(h),
        "Q1_hat": pair(gg),
        "V2_hat": each(lambda i, b: mu2sq[i][b] * h[i]),
        "Q2_hat": each(lambda i, b: mu2sq[i][b] * gg[i]),
        "zeta_hat": each(lambda i, b: mu1[i][b] * point.kappa[i] * g[i]),
        "psi_hat": each(lambda i, b: mu1[i][b] * (tg[i] + h[i] * out[i][1])),
    }


def m_condition(point: Point) -> list[Any]:
    """E[mu0_b g] - m_b/(n V2_b), n = alpha d, V2_b = T_b/beta, times -alpha: zero at the solution (section 6)."""

    def g(i: int) -> Any:
        mean, _, _, response = output(point, i)
        return (point.nu["nu0"][i] - mean) / (1 + response)

    return [
        -point.alpha * point.average(lambda i, b=b: point.mu["mu0"][i][b] * g(i))  # type: ignore[misc]
        + point.inverse_dimension * point["m"][b] * point.beta / point["T"][b]
        for b in range(point.blocks)
    ]


def responses(point: Point) -> dict[str, Any]:
    """V1, V2, zeta, psi from the conjugates; Q1, Q2 by differentiating R with T solved again."""
    k, m, t = range(point.blocks), matrix_m(point), point["T"]
    return {
        "V2": [t[b] / point.beta for b in k],
        "V1": m / point.beta,
        "zeta": [t[b] * point["zeta_hat"][b] for b in k],
        "psi": [mpmath.fsum(m[b, c] * point["psi_hat"][c] for c in k) for b in k],
    }


def differentiated(point: Point, move: Callable[[Point, Any], Point], step: Any) -> Any:
    """d R by a central difference of R with T solved again at both ends."""
    ends = []
    for sign in (1, -1):
        moved = move(point, sign * step)
        ends.append(quadratic_form(moved.with_values(T=solve_t(moved, point["T"]))))
    return (ends[0] - ends[1]) / (2 * step)


def q1_by_differences(point: Point, b: int, c: int, step: Any) -> Any:
    """-dR/dV1_hat_bc: V1_hat moves symmetrically, so an off-diagonal member gets half of it."""

    def move(p: Point, by: Any) -> Point:
        moved = p["V1_hat"].copy()
        moved[b, c] += by
        if b != c:
            moved[c, b] += by
        return p.with_values(V1_hat=moved)

    return -differentiated(point, move, step) / (1 if b == c else 2)


def q2_by_differences(point: Point, b: int, step: Any) -> Any:
    """-dR/dlambda_b: lambda_b enters with V2_hat_b only, through T."""

    def move(p: Point, by: Any) -> Point:
        return p.with_values(V2_hat=[x + (by if i == b else 0) for i, x in enumerate(p["V2_hat"])])

    return -differentiated(point, move, step)
