"""The rules of a function module: which of them serves a point, and that they agree where several could.

Error model of a rule, with scale = sqrt(E f^2): mu0, mu1 and mu2 are right to its estimate (or 16 eps) times scale.
About the piece that s lies in, the mu2^2 of a piecewise linear function is right to 1e-12 of itself.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from error_estimates import estimates
from interpreted import interpreted, runtime_text

from codegen.functions import emit
from derive.coefficients import conditional_coefficients
from derive.gaussian.numeric import mpmath_function
from derive.language.catalogue import REGISTERED
from derive.scalar import scalar_function
from generated.runtime.gaussian import REACH
from giantstep.spec.kernels import function_kernel
from giantstep.verify.reference_function import reference_function

EPS = 2.0**-52
LINEAR = ("sign", "step", "relu", "leaky_relu", "abs", "hard_tanh")
USER = ("max(0,min(1,z-0.3))", "abs(z-1)-abs(z+2)+sign(z)", "max(z,2-z)")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Kernels of expressions go to a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIANTSTEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        for text in USER:
            function_kernel(text)


def coefficients(module: ModuleType, s: np.ndarray, c: float) -> tuple[np.ndarray, float]:
    out = np.full((3, s.size), np.nan)
    return out, module.coefficients(s, c, out, np.empty(module.SCRATCH_SHAPE))


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_typical_points_need_no_panels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the slowest part to compile; a solve that starts cold has no time for them."""
    module = function_kernel(name)

    def refuse(*given: object) -> None:
        raise AssertionError(f"panels for {name} at the shifts {given[4]} and the width {given[5]}")

    assert module.FUNCTION.rules[-1] == module.FUNCTION.panels
    monkeypatch.setattr("generated.runtime.coefficients.panels", refuse)
    for c in (0.3, 1.0, 5.0):
        _, error = coefficients(module, np.linspace(-30.0, 30.0, 241), c)
        assert error <= 1e-11


@pytest.mark.parametrize("text", [*LINEAR, *USER])
def test_piecewise_linear_functions_keep_their_digits_in_the_tails(text: str) -> None:
    """From s on a breakpoint to 20 standard deviations away from all of them, where mu2^2 is 1e-90 of E f^2."""
    module, function = function_kernel(text), scalar_function(text)
    assert module.FUNCTION.rules[0] == module.FUNCTION.piecewise
    derived = conditional_coefficients(function)
    parts = (derived.mu0, derived.mu1, derived.mu2sq, derived.second)
    exact = [mpmath_function(part, (derived.s, derived.c)) for part in parts]
    # 2 and 3: where the moments change from differences to continued fractions
    distances = np.array([0.0, 2.001, -2.001, 3.001, -3.001, *np.random.default_rng(11).uniform(-20, 20, 4)])
    for c in (1e-4, 0.3, 7.0):
        near = [float(b) + x for b in function.breakpoints for x in distances * math.sqrt(c)]
        for s in map(float, near):
            out, estimate = coefficients(module, np.array([s]), c)
            with mpmath.workdps(400):
                mu0, mu1, mu2sq, second = (e(mpmath.mpf(s), mpmath.mpf(c)) for e in exact)
                scale = mpmath.sqrt(second)
            where = f"{text} at s = {s!r}, c = {c!r}: {out.ravel()}, estimate {estimate}"
            allowed = max(estimate, 16 * EPS) * scale
            assert 0.0 <= estimate <= 1e-12, where
            assert abs(out[0, 0] - mu0) <= allowed, where
            assert abs(out[1, 0] - mu1) <= allowed, where
            assert abs(out[2, 0] - mu2sq) <= 1e-12 * mu2sq, where


@pytest.mark.parametrize("name", ["cubic", "gelu", "hard_tanh", "sin"])
def test_rules_agree(name: str) -> None:
    """Each rule by itself: what two of them certify differs by no more than both estimates."""
    module = function_kernel(name)
    shifts, c = np.linspace(0.0, 4.0, 9), 1.3
    found = []
    for rule in module.FUNCTION.rules:
        raw = np.empty((7, shifts.size))
        rule(shifts, math.sqrt(c), raw, np.empty(module.SCRATCH_SHAPE))
        found.append((raw, estimates(raw)))
    scale = np.sqrt(found[-1][0][0] ** 2 + found[-1][0][1] ** 2 + found[-1][0][2])
    for raw, estimate in found[:-1]:
        allowed = scale * np.maximum(estimate + found[-1][1], 32 * EPS)
        difference = np.abs(np.sqrt(np.abs(raw[2])) - np.sqrt(found[-1][0][2]))
        assert not np.isnan(raw).any()
        assert np.all(np.abs(raw[:2] - found[-1][0][:2]) <= allowed)
        assert np.all(difference <= allowed)


def test_the_tail_of_a_smooth_function_is_integrated_where_it_is() -> None:
    """E f^2 of gelu at s = -20 comes from g = 13: beyond where the weight alone would end."""
    module = function_kernel("gelu")
    shifts = np.array([-20.0])
    raw = np.empty((7, 1))
    module.FUNCTION.near(shifts, 1.0, raw, None)
    assert np.isnan(raw[2, 0])
    out, estimate = coefficients(module, shifts, 1.0)
    mu0, mu1, mu2sq, second = reference_function(scalar_function("gelu")).coefficients(-20.0, 1.0, digits=16)
    scale = mpmath.sqrt(second)
    assert scale < 1e-20
    assert abs(out[0, 0] - mu0) <= estimate * scale
    assert abs(out[1, 0] - mu1) <= estimate * scale
    assert abs(out[2, 0] - mu2sq) <= 1e-12 * mu2sq
    assert estimate < 1e-12


def test_piecewise_linear_functions_are_emitted_without_integrals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is derived for them that would take time."""

    def refuse(function: object) -> None:
        raise AssertionError("derived")

    monkeypatch.setattr("codegen.functions.conditional_coefficients", refuse)
    assert emit("max(z,2-z)").closed
    with pytest.raises(AssertionError, match="derived"):
        emit("max(z,z**2)")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("tanh", lambda z: -2 / (1 + mpmath.exp(2 * z))),
        ("erf", lambda z: -mpmath.erfc(z)),
        ("1/(1+exp(2-z))", lambda z: -1 / (1 + mpmath.exp(z - 2))),
    ],
)
def test_saturating_functions_keep_their_digits(text: str, rest: Callable[[Any], Any]) -> None:
    """mu1 and mu2 to 1e-12 of the root of E (f - 1)^2, by a trapezoid of f - 1 at 40 digits, to where that is 1e-60;
    by rounding of the argument, which far out the slope of the logarithm magnifies, 1e-12 too.
    """
    with mpmath.workdps(40):
        step = mpmath.mpf(1) / 20
        g = [step * k for k in range(-500, 501)]
        weight = [step * mpmath.npdf(x) for x in g]
        for s, c in ((6.0, 0.3), (11.0, 1.7), (25.0, 9.0), (40.0, 2.0)):
            if text == "erf" and s * s > 80.0 * (1.0 + 2.0 * c):
                continue
            values = [rest(mpmath.mpf(s) + mpmath.sqrt(mpmath.mpf(c)) * x) for x in g]
            mu0 = mpmath.fdot(weight, values)
            mu1 = mpmath.fsum(w * x * v for w, x, v in zip(weight, g, values, strict=True))
            mu2 = mpmath.sqrt(
                mpmath.fsum(w * (v - mu0 - mu1 * x) ** 2 for w, x, v in zip(weight, g, values, strict=True))
            )
            size = mpmath.sqrt(mu0**2 + mu1**2 + mu2**2)
            out, _ = coefficients(function_kernel(text), np.array([s]), c)
            assert abs(out[1, 0] - mu1) <= 1e-12 * size
            assert abs(mpmath.sqrt(out[2, 0]) - mu2) <= 1e-12 * size
            assert abs(out[0, 0] - 1 - mu0) <= 4 * EPS


@pytest.mark.parametrize("size", [1.0, 1e-8])
@pytest.mark.parametrize(
    ("shape", "steepness", "wave"),
    [(lambda z: np.tanh(5.0 * z) * z, 5.0, 0.0), (lambda z: np.sin(8.0 * z) + 1.0, 1.0, 8.0)],
)
def test_a_step_that_does_not_resolve_a_function_is_marked(
    shape: Callable[[np.ndarray], np.ndarray], steepness: float, wave: float, size: float
) -> None:
    """In plain Python, from steps that resolve it to steps that do not: what is not marked is right to ten roundings.

    With tanh the coefficients miss first, with the sine their squares, which have twice its frequency.
    """
    plain, g, shifts = interpreted(runtime_text("trapezoid")), np.linspace(-12.0, 12.0, 4801), np.array([-0.3, 0.1])

    def values(_: int, places: np.ndarray, out: np.ndarray) -> None:
        out[:] = size * shape(places)

    weight, f = 0.005 * np.exp(-0.5 * g**2) / math.sqrt(2.0 * math.pi), size * shape(shifts[:, None] + g)
    mu0, mu1 = f @ weight, f @ (weight * g)
    exact = np.array([mu0, mu1, (f - mu0[:, None] - mu1[:, None] * g) ** 2 @ weight])
    scale, served, raw = np.sqrt(f**2 @ weight), [], np.empty((7, 2))

    def serves(steepness: float, wave: float) -> bool:
        nodes = plain.trapezoid_nodes(1.0, REACH, steepness, wave)
        return bool(plain.trapezoid(values, shifts, 1.0, raw, nodes) == 0)

    for other in np.geomspace(0.5, 8.0, 40):
        served.append(serves(other, 0.0))
        missed = np.abs(raw[:3] - exact) / np.array([scale, scale, exact[2]])
        assert not served[-1] or missed.max() < 2e-14
    assert served[-1] and not served[0] and serves(steepness, wave)
