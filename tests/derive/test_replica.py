"""From the partition function on: replica matrices, the Gaussian integral, Laplace's method, outputs of replicas.

Each step against numbers that do not know of it: explicit matrices over replicas, quadrature, linear algebra.
"""

from __future__ import annotations

from functools import lru_cache

import mpmath
import numpy as np
import pytest
import sympy as sp
from index_sums import number

from derive.blocks import KAPPA
from derive.operations import computed
from derive.replica.averages import CENTRE, LABEL, LOSS, OUTPUT, RESPONSE, Minimum, sample_derivation
from derive.replica.matrices import REPLICAS, LogDeterminant, OnInverse, ReplicaMatrix, per_replica
from derive.replica.network import TEMPERATURE, B, C, R, S
from derive.replica.readout import conjugate_pairs, gaussian_integral
from derive.replica.symmetry import conditional_output
from derive.trace import Derivation, Recorder

A_, B_, C_, D_ = (sp.Rational(x) for x in ("1.7", "0.43", "2.1", "-0.26"))
EXACT = 1e-12  # double precision on matrices of condition below 100


def explicit(own: float, shared: float, n: int) -> np.ndarray:
    return own * np.eye(n) + shared * np.ones((n, n))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_replica_matrices_of_numbers(n: int) -> None:
    one, two = ReplicaMatrix(A_, B_), ReplicaMatrix(C_, D_)
    x, y = explicit(float(A_), float(B_), n), explicit(float(C_), float(D_), n)
    at = {REPLICAS: n}
    assert abs(one.log_determinant().subs(at) - np.linalg.slogdet(x)[1]) < EXACT
    assert abs(one.on_inverse(sp.Integer(3)).subs(at) - 9 * np.linalg.inv(x).sum()) < EXACT
    assert abs(one.contracted(two).subs(at) - (x * y).sum()) < EXACT
    inverse = one.of(lambda value: 1 / value)
    found = explicit(float(inverse.own), float(inverse.shared.subs(at)), n)
    assert np.abs(found - np.linalg.inv(x)).max() < EXACT


@lru_cache(maxsize=1)
def readouts() -> Derivation:
    trace = Recorder("readouts")
    conjugate_pairs(trace, 1, 1)
    gaussian_integral(trace)
    return trace.finish()


def of_matrices(
    expr: sp.Expr, own: np.ndarray, shared: np.ndarray, source: np.ndarray, temperature: float, n: float
) -> float:
    """A result of the Gaussian integral with numbers for the matrices A, B and the vector j."""
    names = {"A": own, "B": shared, "j": source[:, None]}

    def matrix(node: sp.MatrixExpr) -> np.ndarray:
        if isinstance(node, sp.MatrixSymbol):
            return names[node.name]
        if isinstance(node, sp.Inverse):
            return np.linalg.inv(matrix(node.args[0]))
        if isinstance(node, sp.MatAdd):
            return sum(matrix(arg) for arg in node.args)
        factor, rest = node.as_coeff_matrices()
        result = matrix(rest[0])
        for other in rest[1:]:
            result = result @ matrix(other)
        return float(factor.subs({TEMPERATURE: temperature, REPLICAS: n})) * result

    def value(node: sp.Expr) -> sp.Expr:
        if isinstance(node, LogDeterminant):
            return sp.Float(np.linalg.slogdet(matrix(node.args[0]))[1])
        if isinstance(node, OnInverse):
            return sp.Float(source @ np.linalg.solve(matrix(node.args[0]), source))
        return sp.Float(np.trace(matrix(node.args[0])))

    nodes = {node: value(node) for node in expr.atoms(LogDeterminant, OnInverse, sp.Trace)}
    size = next(s for s in expr.free_symbols if s.name == "p")
    return float(expr.xreplace(nodes).subs({TEMPERATURE: temperature, REPLICAS: n, size: len(source)}))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_gaussian_integral_at_integer_numbers_of_replicas(n: int) -> None:
    """log of int prod da exp(-a X a/2 + j a) without (2 pi)^(np/2), X explicit over replicas and neurons."""
    draw, b = np.random.default_rng(3), 1.3
    own = np.eye(3) + 0.2 * (lambda m: m @ m.T)(draw.normal(size=(3, 3)))
    coupling = 0.05 * (lambda m: m @ m.T)(draw.normal(size=(3, 3)))
    source = draw.normal(size=3)
    whole = np.kron(np.eye(n), b * own) - np.kron(np.ones((n, n)), b**2 * coupling)
    stacked = np.tile(b * source, n)
    wanted = (stacked @ np.linalg.solve(whole, stacked) - np.linalg.slogdet(whole)[1]) / 2
    found = of_matrices(readouts().step("Gaussian integral").rhs, own, coupling, source, b, n)
    assert abs(found - wanted) < EXACT * abs(wanted)


def test_gaussian_integral_by_quadrature() -> None:
    """Two replicas of one readout weight: the integral itself."""
    own, coupling, source, b = 1.1, 0.2, 0.7, 0.9
    nodes, weights = np.polynomial.legendre.leggauss(150)
    x, y = np.meshgrid(12.0 * nodes, 12.0 * nodes)
    exponent = b * own * (x * x + y * y) - b**2 * coupling * (x + y) ** 2
    values = np.exp(-exponent / 2.0 + b * source * (x + y))
    wanted = np.log(144.0 * (weights @ values @ weights)) - np.log(2.0 * np.pi)
    arrays = (np.array([[own]]), np.array([[coupling]]), np.array([source]))
    found = of_matrices(readouts().step("Gaussian integral").rhs, *arrays, b, 2)
    assert abs(found - wanted) < 1e-10  # Gauss-Legendre of degree above 100 on an entire function


def test_no_replicas_and_zero_temperature() -> None:
    """n -> 0 is the slope of the same formula in n; then 2/(p beta_T) of it, less log beta_T/beta_T, when cold."""
    draw = np.random.default_rng(4)
    own = np.eye(4) + 0.3 * (lambda m: m @ m.T)(draw.normal(size=(4, 4)))
    coupling = 0.1 * (lambda m: m @ m.T)(draw.normal(size=(4, 4)))
    source, b, h = draw.normal(size=4), 1.7, 1e-4
    steps = readouts()
    integral, slope = steps.step("Gaussian integral").rhs, steps.step("Gaussian integral at n = 0").rhs
    ends = [of_matrices(integral, own, coupling, source, b, x) for x in (h, -h)]
    assert abs((ends[0] - ends[1]) / (2 * h) - of_matrices(slope, own, coupling, source, b, 0)) < 1e-6  # h^2, times 100
    cold = of_matrices(steps.step("entropic part of the readouts").rhs, own, coupling, source, 1, 0)
    inverse = np.linalg.inv(own)
    assert abs(cold - (np.trace(inverse @ coupling) + source @ inverse @ source) / 4) < EXACT
    for large in (1e4, 1e6):
        # what is left is (p log beta_T + log det A)/(p beta_T)
        rest = (np.log(large) + np.linalg.slogdet(own)[1] / 4) / large
        warm = 2 / (4 * large) * of_matrices(slope, own, coupling, source, large, 0)
        assert abs(warm - cold + rest) < EXACT


def test_pairs_of_conjugates() -> None:
    total = readouts().step("overlap times conjugate").rhs
    names = {str(s): s for s in total.free_symbols}
    values = {"V": 0.7, "Q": 1.9, "Vhat": 0.4, "qhat": 1.1, "beta_T": 3.0}
    x = explicit(values["V"] / 3, values["Q"], 4)
    hat = explicit(3 * values["Vhat"], -9 * values["qhat"], 4)
    at = {names[k]: v for k, v in {**values, "n": 4}.items()}
    assert abs(total.subs(at) - (x * hat).sum()) < 1e-10
    assert str(readouts().step("overlap times conjugate at n = 0").rhs) == "-Q*Vhat + V*qhat"


# --- one sample ----------------------------------------------------------------------------------------------------


def logistic(y: float, w: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(1 + mpmath.exp(-y * w))


def minimum(objective: Minimum, y: float, omega: float, response: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """(minimiser, minimum) of what the derived envelope minimises, by bisection of its slope."""
    function, variable = objective.args
    smooth = function.replace(LOSS, lambda label, w: sp.log(1 + sp.exp(-label * w)))
    at = smooth.subs({LABEL: y, CENTRE: omega, RESPONSE: response})
    place = mpmath.findroot(sp.lambdify(variable, sp.diff(at, variable), "mpmath"), omega)
    return place, sp.lambdify(variable, at, "mpmath")(place)


@pytest.mark.parametrize(("y", "omega", "response"), [(1.0, -0.8, 2.3), (-1.0, 0.3, 0.6)])
def test_laplace_s_method(y: float, omega: float, response: float) -> None:
    """beta_T (-log I/beta_T - M) -> log(1 + V loss'')/2, the next order of Laplace's method, with errors 1/beta_T."""
    steps = sample_derivation()
    weight, envelope = steps.step("weight of a replica").rhs, steps.step("Moreau envelope").rhs
    with mpmath.workdps(25):
        place, least = minimum(envelope, y, omega, response)
        curvature = mpmath.exp(-y * place) / (1 + mpmath.exp(-y * place)) ** 2
        gaps = []
        for b in (200, 800):
            integrand = weight.function.replace(LOSS, lambda label, w: sp.log(1 + sp.exp(-label * w)))
            at = integrand.subs({LABEL: y, CENTRE: omega, RESPONSE: response, TEMPERATURE: b})
            f = sp.lambdify(OUTPUT, at, "mpmath")
            width = mpmath.sqrt(response / b)
            total = mpmath.quad(f, [place + k * width for k in range(-14, 15, 2)])
            gaps.append(-mpmath.log(total) - b * least - mpmath.log(1 + response * curvature) / 2)
        assert abs(gaps[0]) < 1 / mpmath.mpf(200) * 5
        assert abs(gaps[1] / gaps[0] - mpmath.mpf(1) / 4) < 0.02  # the next order is c/beta_T, then c'/beta_T^2


def test_slopes_of_the_envelope() -> None:
    """dM/dV = -g^2/2 with g = -dM/domega, by differences of the minimum."""
    envelope = sample_derivation().step("Moreau envelope").rhs
    slope = sample_derivation().step("envelope in V").rhs
    (g,) = slope.free_symbols
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-10")
        of = {
            key: [minimum(envelope, 1.0, 0.4 + s * h * (key == "w"), 1.2 + s * h * (key == "V"))[1] for s in (1, -1)]
            for key in ("w", "V")
        }
        along = {key: (ends[0] - ends[1]) / (2 * h) for key, ends in of.items()}
        assert abs(slope.subs(g, -along["w"]) - along["V"]) < 1e-12


def test_limit_of_no_replicas_is_the_logarithm() -> None:
    """(E I^n - 1)/n -> E log I for a weight I(xi) with known moments: I = exp(xi)."""
    steps = sample_derivation()
    logarithm = steps.step("number of replicas to zero").rhs
    xi = logarithm.variables[0]
    body = logarithm.integrand.replace(lambda e: e.func.__name__ == "I", lambda e: sp.exp(sp.sin(xi)))
    n = mpmath.mpf("1e-6")
    density = mpmath.npdf
    moment = mpmath.quad(lambda x: density(x) * mpmath.exp(n * mpmath.sin(x + 0.3)), [-9, -3, 0, 3, 9])
    wanted = mpmath.quad(lambda x: density(x) * sp.lambdify(xi, body, "mpmath")(x + 0.3), [-9, -3, 0, 3, 9])
    assert abs((moment - 1) / n - wanted) < 1e-6  # n E[log^2]/2


# --- the outputs of the replicas -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("spikes", "directions"), [(1, 1), (2, 2)])
def test_covariance_of_the_outputs_by_linear_algebra(spikes: int, directions: int) -> None:
    """Two readouts on a network of two blocks in d = 7: the law of (f^1, f^2) given v.x and theta_perp.x."""
    draw, d, widths = np.random.default_rng(5), 7, (3, 4)
    trace = Recorder("outputs")
    conditional_output(trace, directions, spikes)
    p = sum(widths)
    basis = np.linalg.qr(draw.normal(size=(d, d)))[0].T
    v, o = basis[:spikes], basis[spikes : spikes + directions]
    rows = [draw.normal(size=(width, d)) for width in widths]
    readout = [draw.normal(size=(width, 2)) for width in widths]
    mu1, mu2 = draw.normal(size=2), np.abs(draw.normal(size=2))
    # f = sum_b [mu1 a_b.W_b x + sqrt(mu2) a_b.xi_b]/sqrt p
    linear = sum(mu1[b] * readout[b].T @ rows[b] for b in range(2)) / np.sqrt(p)
    left = linear @ (np.eye(d) - v.T @ v - o.T @ o)
    wanted = left @ left.T + sum(mu2[b] * readout[b].T @ readout[b] for b in range(2)) / p
    across = np.eye(d) - v.T @ v
    projected = [readout[b].T @ rows[b] / np.sqrt(p) for b in range(2)]
    q1 = np.array([[projected[b] @ across @ projected[c].T for c in range(2)] for b in range(2)])
    q2 = np.array([readout[b].T @ readout[b] / p for b in range(2)])
    psi = np.array([[o @ projected[b].T for b in range(2)]])[0]  # [b, direction, replica]
    steps = trace.finish()
    covariance = steps.step("covariance given kappa and t").rhs
    names = ("slope",) if directions == 1 else tuple(f"slope_{i + 1}" for i in range(directions))
    slopes = {name: sum(mu1[b] * psi[b, i] for b in range(2)) for i, name in enumerate(names)}
    arrays = {"mu1": mu1, "mu2sq": mu2, "Q1": q1, "Q2": q2, **slopes}
    for r in range(2):
        for s in range(2):
            found = number(covariance, arrays, lambda *_: 2, {R: r, S: s})
            assert abs(found - wanted[r, s]) < EXACT * 100
    slope = steps.step("slope of a replica" if directions == 1 else "slope of a replica, direction 2").rhs
    name = "psi" if directions == 1 else "psi_2"
    found = number(slope, {"mu1": mu1, name: psi[:, -1]}, lambda *_: 2, {R: 1})
    assert abs(found - (o[-1] @ linear[1])) < EXACT * 10


def test_replica_symmetric_law() -> None:
    """Delta is the covariance of two replicas, V/beta_T what a replica has more: put together they give it back."""
    trace = Recorder("outputs")
    law = conditional_output(trace, 1, 1)
    symmetric = trace.right_side("replica symmetry")
    arrays = {
        "mu1": [0.3, -1.1],
        "mu2sq": [0.7, 0.2],
        "slope": 0.45,
        "Q1": [[1.2, 0.1], [0.1, 0.8]],
        "Q2": [0.5, 1.5],
        "V1": [[0.6, 0.2], [0.2, 0.9]],
        "V2": [0.4, 0.3],
        "beta_T": 2.5,
    }
    for same in (0, 1):
        where = {R: 0, S: same}
        q1 = [[number(symmetric[0], arrays, lambda *_: 2, {**where, B: b, C: c}) for c in range(2)] for b in range(2)]
        q2 = [number(symmetric[1], arrays, lambda *_: 2, {**where, B: b}) for b in range(2)]
        whole = (
            sum(arrays["mu1"][b] * arrays["mu1"][c] * q1[b][c] for b in range(2) for c in range(2))
            + sum(arrays["mu2sq"][b] * q2[b] for b in range(2))
            - arrays["slope"] ** 2
        )
        delta, response = (number(e, arrays, lambda *_: 2) for e in (law.delta, law.response))
        assert abs(delta + (same == 0) * response / 2.5 - whole) < EXACT


def test_a_wrong_exponent_is_refused() -> None:
    trace = Recorder("weights")
    body = sp.Integral(sp.exp(-(TEMPERATURE**2) * LOSS(LABEL, OUTPUT)), (OUTPUT, -sp.oo, sp.oo))
    trace.define("weight", sp.Symbol("I"), body, "an exponent of the wrong order")
    from derive.replica.averages import laplace

    with pytest.raises(ValueError, match="not proportional"):
        trace.derive("limit", sp.Symbol("M"), computed("limit", "zero temperature", "weight", by=laplace))
    assert KAPPA.is_real and per_replica(REPLICAS * A_) == A_
