"""Random features with any convex loss [GER20] are this engine without a spike: the same equations.

The published system ([GER20] section 3.1, displayed in [LOU24] as Gaussian equivalence), rho = 1, is typed in below
with alpha_G = n/p and gamma_G = d/p. It has one overlap m_s with the teacher and one norm q_s of the features' linear
part, where the engine keeps the direction v of a spike of strength zero apart from the rest of the teacher. The change
of variables, at one block, mu0 = 0, mu1 = kappa_1, mu2 = kappa_star:

    V_s = V1     V_w = V2     q_w = Q2     q_s = Q1 + zeta^2     m_s = gamma zeta + sqrt(1 - gamma^2) psi
    V^_s = beta V1_hat     V^_w = V2_hat     q^_s = beta Q1_hat     q^_w = Q2_hat     n/p = alpha/beta     d/p = 1/beta

and gamma psi = sqrt(1 - gamma^2) zeta at the solution: the readout does not know v. The first layer enters by g_mu, the
Stieltjes transform of the spectrum of F F^T/p (d x d), F = sqrt(d) W^T.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from one_block import at_one_block
from scipy.integrate import quad
from scipy.special import erf, ndtr

from derive.blocks import KAPPA, block_field, family_name
from derive.gaussian.expectation import Expectation
from derive.saddle import SaddleSystem, coupled_system
from derive.symbols import ALPHA, BETA, INVERSE_DIMENSION, RIDGE
from giantstep.spec.model import Model
from giantstep.system.result import Result
from giantstep.system.solve import solve

Array = np.ndarray
NAMES = (
    "T",
    "zeta",
    "psi",
    "Q1",
    "Q2",
    "V1",
    "V2",
    "zeta_hat",
    "psi_hat",
    "Q1_hat",
    "Q2_hat",
    "V1_hat",
    "V2_hat",
    "adjoint",
    "m",
)
S = {name: sp.Symbol(f"{name}_1", positive=True) for name in NAMES}
KAPPA_1, STAR_SQ = sp.symbols("kappa_1 kappa_star_sq", positive=True)
GAMMA = sp.Symbol("gamma")
ACROSS = sp.sqrt(1 - GAMMA**2)
# averages over everything: E h, E g^2, E kappa g, E t g, and D = E_xi int dy dZ/domega_0 g
H, GG, KG, TG, D = sp.symbols("H GG KG TG D")


@lru_cache(maxsize=1)
def system() -> SaddleSystem:
    return coupled_system(1)


def engine(name: str) -> sp.Expr:
    """The right side (or the zero) of a derived equation at one block without a spike: constant coefficients."""
    return _plain(at_one_block(system().equation(name).body)).subs(INVERSE_DIMENSION, 0)


def _plain(expr: sp.Expr) -> sp.Expr:
    fields = {d.name: at_one_block(d.body) for d in system().fields}
    inverse = 1 / (1 + S["V1_hat"] * S["T"])
    known: dict[str, sp.Expr] = {**S, "P": inverse, "S": inverse * S["V1_hat"], "M": inverse * S["T"]}
    known |= {"fraction": sp.S.One, "mu0": sp.S.Zero, "mu1": KAPPA_1, "mu2sq": STAR_SQ}

    def walk(node: Any) -> Any:
        name = family_name(node)
        if name in fields:
            return walk(fields[name])
        if name is not None:
            return known.get(name, node)
        if isinstance(node, Expectation):
            return _average(walk(node.integrand))
        return node.func(*map(walk, node.args)) if node.args else node

    return walk(expr)


def _average(integrand: sp.Expr) -> sp.Expr:
    """An average over kappa, constants outside."""
    h, gg, g, tg = (block_field(f"avg_{name}")(KAPPA) for name in ("h", "gg", "g", "tg"))
    found = sp.expand(integrand).subs(KAPPA * g, KG).subs({h: H, gg: GG, tg: TG})
    assert not found.has(KAPPA), found
    return found


# --- theirs ------------------------------------------------------------------------------------------------------
N_P, D_P, Z, STIELTJES, SLOPE = sp.symbols("alpha_G gamma_G z g g_prime", positive=True)
MS, QS, QW, VS, VW, MS_HAT, QS_HAT, QW_HAT, VS_HAT, VW_HAT = sp.symbols(
    "m_s q_s q_w V_s V_w m_s_hat q_s_hat q_w_hat V_s_hat V_w_hat", positive=True
)


def published() -> dict[sp.Symbol, sp.Expr]:
    """Right sides of [GER20] section 3.1; 1 - d_omega eta = V h and eta - omega = V g, z = (lambda + V^_w)/V^_s."""
    level, g, slope = RIDGE + VW_HAT, STIELTJES, SLOPE
    source = MS_HAT**2 + QS_HAT
    return {
        VS_HAT: N_P * KAPPA_1**2 / D_P * H,
        QS_HAT: N_P * KAPPA_1**2 / D_P * GG,
        MS_HAT: N_P * KAPPA_1 / D_P * D,
        VW_HAT: N_P * STAR_SQ * H,
        QW_HAT: N_P * STAR_SQ * GG,
        VS: (1 - Z * g) / VS_HAT,
        MS: MS_HAT / VS_HAT * (1 - Z * g),
        VW: D_P / level * (1 / D_P - 1 + Z * g),
        QS: source / VS_HAT**2 * (1 - 2 * Z * g + Z**2 * slope) - QW_HAT / (level * VS_HAT) * (-Z * g + Z**2 * slope),
        QW: D_P * QW_HAT / level**2 * (1 / D_P - 1 + Z**2 * slope)
        - D_P * source / (level * VS_HAT) * (-Z * g + Z**2 * slope),
    }


def marchenko_pastur() -> sp.Expr:
    """g_mu(-z) of F F^T/p for independent entries of variance one: the positive root."""
    b = 1 - D_P + Z
    return (-b + sp.sqrt(b**2 + 4 * D_P * Z)) / (2 * D_P * Z)


#: The change of variables, and lambda in terms of T, which the engine's equation for T gives.
LEVEL = BETA / S["T"] - S["V1_hat"] / (1 + S["V1_hat"] * S["T"])  # lambda + V2_hat
CHANGE: dict[sp.Symbol, sp.Expr] = {
    VS: S["V1"],
    VW: S["V2"],
    QW: S["Q2"],
    QS: S["Q1"] + S["zeta"] ** 2,
    MS: GAMMA * S["zeta"] + ACROSS * S["psi"],
    VS_HAT: BETA * S["V1_hat"],
    VW_HAT: S["V2_hat"],
    QS_HAT: BETA * S["Q1_hat"],
    QW_HAT: S["Q2_hat"],
    MS_HAT: ALPHA * KAPPA_1 * D,
    N_P: ALPHA / BETA,
    D_P: 1 / BETA,
}


def zero(expr: sp.Expr) -> bool:
    return sp.simplify(expr) == 0


@pytest.mark.parametrize(
    ("theirs", "ours"), [(VS_HAT, "V1_hat"), (VW_HAT, "V2_hat"), (QS_HAT, "Q1_hat"), (QW_HAT, "Q2_hat")]
)
def test_conjugates(theirs: sp.Symbol, ours: str) -> None:
    scale = CHANGE[theirs] / S[ours]
    assert zero(scale * engine(ours) - published()[theirs].subs(CHANGE, simultaneous=True))


def test_output_and_target_are_the_same_pair_of_normals() -> None:
    """Var omega = kappa_1^2 q_s + kappa_star^2 q_w = Q and Cov(omega, z) = kappa_1 m_s = M, z the teacher's index."""
    fields = {d.name: _plain(at_one_block(d.body)) for d in system().fields}
    slope, delta = fields["slope"], fields["Delta"]
    along = fields["mean"] / KAPPA  # omega = along kappa + slope t + sqrt(Delta) xi, z = gamma kappa + across t
    assert zero(along**2 + slope**2 + delta - (KAPPA_1**2 * CHANGE[QS] + STAR_SQ * CHANGE[QW]))
    assert zero(GAMMA * along + ACROSS * slope - KAPPA_1 * CHANGE[MS])


def test_the_overlaps_are_one_overlap_with_the_teacher() -> None:
    """Stein's lemma for (kappa, z, omega) and (t, z, omega): E kappa g = gamma D - kappa_1 zeta H, E t g likewise.

    Then (zeta, psi) = M alpha kappa_1 D/beta (gamma, sqrt(1 - gamma^2)), of length m_s.
    """
    stein = {KG: GAMMA * D - KAPPA_1 * S["zeta"] * H, TG: ACROSS * D - KAPPA_1 * S["psi"] * H}
    hats = {S[name]: engine(name).subs(stein) for name in ("zeta_hat", "psi_hat")}
    response = {S["V1_hat"]: engine("V1_hat")}
    (zeta,) = sp.solve(S["zeta"] - engine("zeta").subs(hats), S["zeta"])
    (psi,) = sp.solve((S["psi"] - engine("psi").subs(hats)).subs(response), S["psi"])
    zeta = zeta.subs(response)
    assert zero(ACROSS * zeta - GAMMA * psi)
    m_s = GAMMA * zeta + ACROSS * psi
    assert zero(m_s - (S["T"] / (1 + S["V1_hat"] * S["T"])).subs(response) * ALPHA * KAPPA_1 * D / BETA)


def _of_t(expr: sp.Expr) -> sp.Expr:
    """An expression in g_mu(-z) and its derivative, with z and g_mu in terms of T, V1_hat and beta.

    1 - z g = V1_hat T/(1 + V1_hat T); the slope by differentiating the quadratic equation of g.
    """
    z = LEVEL / (BETA * S["V1_hat"])
    g = (1 - S["V1_hat"] * S["T"] / (1 + S["V1_hat"] * S["T"])) / z
    quadratic = D_P * Z * STIELTJES**2 + (1 - D_P + Z) * STIELTJES - 1
    by_z = -sp.diff(quadratic, Z) / sp.diff(quadratic, STIELTJES)
    found = expr.subs(SLOPE, -by_z)  # g'(-z) is the derivative in the argument -z
    return found.subs({STIELTJES: g, Z: z, D_P: 1 / BETA, RIDGE: LEVEL - S["V2_hat"]})


def test_the_engine_s_spectral_equation_is_marchenko_pastur() -> None:
    """T fixes lambda as above; 1/(z (1 + V1_hat T)) is then the positive root of the quadratic of g_mu."""
    assert zero(engine("T").subs(RIDGE, LEVEL - S["V2_hat"]) - S["T"])
    assert zero(_of_t(D_P * Z * STIELTJES**2 + (1 - D_P + Z) * STIELTJES - 1))
    explicit = marchenko_pastur()
    numbers = {BETA: sp.Rational(13, 10), S["T"]: sp.Rational(3, 7), S["V1_hat"]: sp.Rational(5, 3), S["V2_hat"]: 0}
    z = (LEVEL / (BETA * S["V1_hat"])).subs(numbers)
    assert zero(explicit.subs({Z: z, D_P: 1 / BETA}).subs(numbers) - _of_t(STIELTJES).subs(numbers))
    slope = -sp.diff(explicit, Z).subs({Z: z, D_P: 1 / BETA}).subs(numbers)
    assert zero(slope - _of_t(SLOPE).subs(numbers))
    # and it is the Stieltjes transform of the law itself
    density = _spectrum(1.3)
    at = float(z)
    assert float(explicit.subs({Z: z, D_P: 1 / BETA}).subs(numbers)) == pytest.approx(density(lambda x: 1 / (x + at)))
    assert float(slope) == pytest.approx(density(lambda x: 1 / (x + at) ** 2))


def _spectrum(beta: float) -> Any:
    """Averages over the Marchenko-Pastur law of F F^T/p, d x d."""
    ratio = 1.0 / beta
    low, high = (1.0 - math.sqrt(ratio)) ** 2, (1.0 + math.sqrt(ratio)) ** 2
    mass = max(0.0, 1.0 - beta)  # of zero eigenvalues where d > p

    def of(function: Any) -> float:
        def inside(angle: float) -> float:
            x = 0.5 * (high + low) - 0.5 * (high - low) * math.cos(angle)
            return (0.5 * (high - low) * math.sin(angle)) ** 2 / (2 * math.pi * ratio * x) * float(function(x))

        return float(quad(inside, 0.0, math.pi, epsabs=1e-13, epsrel=1e-13)[0]) + mass * float(function(0.0))

    return of


@pytest.mark.parametrize("theirs", [VS, VW, QS, QW])
def test_responses_and_norms(theirs: sp.Symbol) -> None:
    """With the overlaps of the previous test, and T through its own equation: the implicit derivative of the engine."""
    (adjoint,) = sp.solve(engine("adjoint"), S["adjoint"])
    ours = {VS: engine("V1"), VW: engine("V2"), QW: engine("Q2"), QS: engine("Q1") + S["zeta"] ** 2}[theirs]
    m = S["T"] / (1 + S["V1_hat"] * S["T"])
    strength = ALPHA * KAPPA_1 * D / BETA  # of the overlap: zeta = gamma M strength, psi = sqrt(1 - gamma^2) M strength
    solution = {
        S["zeta"]: GAMMA * m * strength,
        S["psi"]: ACROSS * m * strength,
        S["zeta_hat"]: GAMMA * m * strength / S["T"],
        S["psi_hat"]: ACROSS * strength,
    }
    right = _of_t(published()[theirs].subs({k: v for k, v in CHANGE.items() if k not in (D_P,)}, simultaneous=True))
    assert zero((ours.subs(S["adjoint"], adjoint) - right).subs(solution))


# --- a solution of the engine solves theirs ------------------------------------------------------------------------


def model(loss: str, alignment: float, **changes: Any) -> Model:
    data: dict[str, Any] = {
        "network": {"activation": "erf", "width": 1.4},
        "target": {"link": "sign"},
        "spike": {"strength": 0.0, "alignment": alignment, "bulk_variance": 1.0},
        "fit": {"samples": 2.1, "ridge": 0.05, "loss": loss},
    }
    return Model.from_dict(data).replace(changes)


def normal_average(function: Any) -> float:
    """E over a standard normal, by the trapezoid: all that is averaged here is smooth."""
    x = np.arange(-12.0, 12.0, 0.02)
    return float(0.02 * np.exp(-0.5 * x * x) @ function(x) / math.sqrt(2.0 * math.pi))


def logistic_prox(omega: Array, y: float, v: float) -> Array:
    """eta(y, omega): bisection of eta - omega = v y/(1 + exp(y eta))."""
    low, high = omega - v, omega + v
    for _ in range(200):
        middle = 0.5 * (low + high)
        above = middle - omega > v * y * 0.5 * (1.0 - np.tanh(0.5 * y * middle))
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 0.5 * (low + high)


def averages(result: Result, q: float, m: float, v: float) -> dict[sp.Symbol, float]:
    """H, GG and D in their form: over xi, with Z(y, omega_0) the law of the label, omega_0 = M xi/sqrt Q."""
    rest = 1.0 - m * m / q
    root = math.sqrt(rest)
    if result.model.fit.loss.key == "square":  # eta = (omega + V y)/(1 + V); Z has the moments of y
        noise = result.model.target.noise

        def second(xi: Array) -> Array:
            # E (y - omega_1)^2 for y = z + noise
            return (m / math.sqrt(q) * xi - math.sqrt(q) * xi) ** 2 + rest + noise

        return {H: 1 / (1 + v), GG: normal_average(second) / (1 + v) ** 2, D: 1 / (1 + v)}
    found = dict.fromkeys((H, GG, D), 0.0)
    for y in (1.0, -1.0):

        def parts(xi: Array, y: float = y) -> tuple[Array, Array, Array, Array]:
            omega, centre = math.sqrt(q) * xi, m / math.sqrt(q) * xi
            eta = logistic_prox(omega, y, v)
            bend = 0.25 / np.cosh(0.5 * eta) ** 2
            z, slope = ndtr(y * centre / root), y * np.exp(-0.5 * (centre / root) ** 2) / math.sqrt(2 * math.pi) / root
            return z, slope, (eta - omega) / v, bend / (1 + v * bend)

        found[H] += normal_average(lambda x: parts(x)[0] * parts(x)[3])  # noqa: B023
        found[GG] += normal_average(lambda x: parts(x)[0] * parts(x)[2] ** 2)  # noqa: B023
        found[D] += normal_average(lambda x: parts(x)[1] * parts(x)[2])  # noqa: B023
    return found


def coefficients() -> tuple[float, float]:
    """kappa_1 = E z sigma and kappa_star^2 = E sigma^2 - kappa_1^2 of erf."""
    first = normal_average(lambda z: z * erf(z))
    return first, normal_average(lambda z: erf(z) ** 2) - first**2


@pytest.mark.parametrize(
    ("loss", "alignment", "changes"),
    [
        ("logistic", 0.6, {}),
        ("logistic", 1.0, {"network.width": 0.4, "fit.ridge": 0.3}),
        ("square", -0.3, {"target.link": "linear", "target.noise": 0.3}),
        ("square", 0.0, {"target.link": "linear", "network.width": 3.0, "fit.ridge": 1e-3}),
    ],
)
def test_a_solution_solves_the_published_system(loss: str, alignment: float, changes: Mapping[str, Any]) -> None:
    """To 1e-9: 1e-10 of the solver, rounding of the quadratic's root. The solver leaves out a last step of a tenth of
    its tolerance, relative to the unknowns.
    """
    result = solve(model(loss, alignment, **changes))
    fit, beta = result.model.fit, result.model.network.width
    order = {name: float(result.order_parameters[name].ravel()[0]) for name in ("zeta", "psi", "Q1", "Q2", "V1", "V2")}
    first, star = coefficients()
    found = {
        VS: order["V1"],
        VW: order["V2"],
        QW: order["Q2"],
        QS: order["Q1"] + order["zeta"] ** 2,
        MS: alignment * order["zeta"] + math.sqrt(1 - alignment**2) * order["psi"],
    }
    assert alignment * order["psi"] == pytest.approx(math.sqrt(1 - alignment**2) * order["zeta"], abs=1e-11)
    q, m = first**2 * found[QS] + star * found[QW], first * found[MS]
    v = first**2 * found[VS] + star * found[VW]
    given = {KAPPA_1: first, STAR_SQ: star, N_P: fit.samples / beta, D_P: 1 / beta, RIDGE: fit.ridge}
    equations = published()
    given |= averages(result, q, m, v)
    hats = {name: float(equations[name].subs(given)) for name in (VS_HAT, VW_HAT, QS_HAT, QW_HAT, MS_HAT)}
    z = (fit.ridge + hats[VW_HAT]) / hats[VS_HAT]
    transform = marchenko_pastur().subs(D_P, 1 / beta)
    given |= hats | {Z: z, STIELTJES: float(transform.subs(Z, z)), SLOPE: float(-sp.diff(transform, Z).subs(Z, z))}
    for name, value in found.items():
        assert float(equations[name].subs(given)) == pytest.approx(value, rel=1e-9), name
    wrong = math.acos(m / math.sqrt(q)) / math.pi  # their generalisation errors
    assert result.test_error == pytest.approx(wrong if loss == "logistic" else 1 + q - 2 * m, rel=1e-9)
