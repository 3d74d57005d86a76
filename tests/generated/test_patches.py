"""Chebyshev patches of coefficients: as right as the rules that they are made of, and functions of the point alone.

Error model, with eps = 2^-52 and scale = sqrt(E f^2): mu0 and mu1 are right to 1e-14 scale (and the estimate that comes
with them); mu2^2 to 1e-12 of itself and what rounding f at 16 eps of scale makes of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from error_estimates import estimates
from interpreted import interpreted, runtime_text

import giantstep as gs
from derive.scalar import scalar_function
from generated.runtime import coefficients as runtime
from generated.runtime.coefficients import Function
from generated.runtime.patches import Place, band_of, between, patch, patch_of, width_of
from giantstep.quadrature import mesh, panels
from giantstep.spec.kernels import function_kernel
from giantstep.system import span, square_loss
from giantstep.verify.reference_function import reference_function

EPS = 2.0**-52
SMOOTH = ("tanh", "erf", "gelu", "silu", "softplus", "tanh(5*z)*z", "tanh(z)+0.1*sin(3*z)")
VARIANCES = (1e-6, 1e-3, 0.04, 0.7, 1.0, 1.9, 6.0, 15.0)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Kernels of expressions go to a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIANTSTEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        for text in SMOOTH:
            function_kernel(text)


@pytest.fixture
def cold() -> Iterator[None]:
    """No patch is there yet."""
    runtime._row.cache_clear()
    yield
    runtime._row.cache_clear()


def function(text: str) -> Function:
    found: Function = function_kernel(text).FUNCTION
    return found


def by_patches(one: Function, shifts: np.ndarray, c: float) -> np.ndarray:
    raw = np.empty((7, shifts.size))
    one.patches(shifts, math.sqrt(c), raw, np.empty(0))
    return raw


def places(one: Function, c: float, count: int, seed: int) -> np.ndarray:
    """Shifts of the patches, and of their edges."""
    q = math.sqrt(c)
    width = width_of(band_of(q), one.steepness, one.wave)
    rng = np.random.default_rng(seed)
    found = np.concatenate([rng.uniform(-32.0, 32.0, count), np.arange(-32.0, 32.0)]) * width
    return np.sort(found if one.parity == "none" else np.abs(found))


@pytest.mark.parametrize("text", SMOOTH)
def test_patches_are_as_right_as_what_they_are_made_of(text: str) -> None:
    one, used = function(text), 0
    for c in VARIANCES:
        shifts = places(one, c, 100, 5)
        raw = by_patches(one, shifts, c)
        has = ~np.isnan(raw[2])
        used += int(has.sum())
        raw, exact = raw[:, has], one.by_trapezoid(shifts, math.sqrt(c))[:, has]
        scale = np.sqrt(exact[0] ** 2 + exact[1] ** 2 + exact[2])
        allowed = 1e-14 * scale + exact[6]
        assert (np.abs(raw[:2] - exact[:2]) <= allowed).all(), (text, c)
        rounding = 32 * EPS * scale
        missed = np.abs(raw[2] - exact[2])
        assert (missed <= 1e-12 * exact[2] + rounding * (2.0 * np.sqrt(exact[2]) + rounding)).all(), (text, c)
        assert (raw[2] >= 0.0).all() and (estimates(raw) <= 1e-12).all()
    assert used > 0.5 * len(VARIANCES) * 164


@pytest.mark.parametrize("text", SMOOTH[:6])
def test_patches_against_the_reference(text: str) -> None:
    one, rng = function(text), np.random.default_rng(len(text))
    for c, far in ((10 ** rng.uniform(-1.0, 1.0), 2.0), (rng.uniform(1.0, 1.4), 6.0)):
        s = float(abs(rng.uniform(-far, far)))
        raw = by_patches(one, np.array([s]), c)[:, 0]
        mu0, mu1, mu2sq, second = reference_function(scalar_function(text)).coefficients(s, c, digits=16)
        scale = float(mpmath.sqrt(second))
        estimate = float(estimates(raw[:, None])[0])
        assert estimate <= 1e-12
        assert abs(raw[0] - mu0) <= min(1e-14, max(estimate, 16 * EPS)) * scale, (text, s, c)
        assert abs(raw[1] - mu1) <= min(1e-14, max(estimate, 16 * EPS)) * scale, (text, s, c)
        assert abs(raw[2] - mu2sq) <= 1e-12 * mu2sq, (text, s, c)


@pytest.mark.parametrize(("text", "c"), [("tanh", 0.3), ("tanh", 1.0), ("tanh", 1.9), ("sigmoid", 2.0)])
def test_what_is_left_beside_a_limit_has_patches_too(text: str, c: float) -> None:
    """It varies by powers of ten within a panel, and keeps its digits relative to its own size."""
    for limit, rest in function(text)._rests:
        shifts = math.copysign(1.0, limit or -1.0) * np.linspace(4.0, 11.0, 200)
        raw, exact = by_patches(rest, shifts, c), rest.by_trapezoid(shifts, math.sqrt(c))
        scale = np.sqrt(exact[0] ** 2 + exact[1] ** 2 + exact[2])
        assert scale[-1] < 1e-2 * scale[0]
        assert (np.abs(raw[:2] - exact[:2]) <= 1e-14 * scale + exact[6]).all(), (text, c)
        rounding = 32 * EPS * scale
        missed = np.abs(raw[2] - exact[2])
        assert (missed <= 1e-12 * exact[2] + rounding * (2.0 * np.sqrt(exact[2]) + rounding)).all(), (text, c)


def coefficients(text: str, shifts: np.ndarray, c: float) -> np.ndarray:
    module = function_kernel(text)
    out = np.empty((3, shifts.size))
    module.coefficients(shifts, c, out, np.empty(module.SCRATCH_SHAPE))
    return out


def test_an_answer_does_not_depend_on_what_was_asked_before(cold: None) -> None:
    """Nor on what is asked beside it, in which order, or by how many threads."""
    rng = np.random.default_rng(2)
    asked = [(np.sort(rng.uniform(-40.0, 40.0, 17)), float(c)) for c in 10 ** rng.uniform(-0.5, 0.5, 4)]
    first = [coefficients("gelu", *one) for one in asked]
    runtime._row.cache_clear()
    for (shifts, c), known in list(zip(asked, first, strict=True))[::-1]:
        width = width_of(band_of(math.sqrt(c)), 1.0, 0.0)
        near = np.abs(shifts) < 7.9 * width
        assert near.any()
        alone = np.concatenate([coefficients("gelu", shifts[[i]], c) for i in np.flatnonzero(near)], axis=1)
        has = ~np.isnan(by_patches(function("gelu"), shifts[near], c)[2])
        assert np.array_equal(alone[:, has], known[:, near][:, has])
    runtime._row.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda one: coefficients("gelu", *one), asked * 2))
    for known, found in zip(first * 2, again, strict=True):
        assert np.array_equal(known, found)


def test_solutions_have_the_same_bits_whatever_was_solved_before(cold: None) -> None:
    model = gs.model("gelu", link="tanh(z)", learning_rate=0.9)
    first = gs.solve(model).to_dict()
    remembered = span._stands_out, span._span_at_infinity, square_loss._rule, square_loss._nodes
    for kept in (runtime._row, mesh.meshes, panels.wide_columns, *remembered):
        kept.cache_clear()
    for rate in (1.4, 0.2):
        gs.solve(model.replace({"step.learning_rate": rate}))
    again = gs.solve(model).to_dict()
    assert {**first, "seconds": 0.0} == {**again, "seconds": 0.0}


def test_a_panel_that_misses_its_rule_is_not_used(cold: None) -> None:
    """A function that is steeper than it says: panels about its steep place are refused, flat ones far out serve."""
    steep = replace(function("tanh"), values=function("tanh(5*z)*z").values, parity="none")
    claims = by_patches(steep, np.linspace(0.0, 1.0, 5), 1e-4)
    assert np.isnan(claims[2]).all()
    s, out = np.linspace(-1.0, 1.0, 9), np.empty((3, 9))
    steep.coefficients(s, 1e-4, out, np.empty(runtime.SCRATCH_SHAPE))
    assert np.allclose(out, coefficients("tanh(5*z)*z", s, 1e-4), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("row", [0, 1])
def test_a_panel_says_what_its_rule_and_it_miss(row: int) -> None:
    """The error of mu0 or mu1: twice what the rule says of itself; of a rule that no polynomial follows, no number."""
    place = Place(0, width_of(0, 1.0, 0.0), 1.0, 2.0**0.25)

    def rule(shifts: np.ndarray, q: float) -> np.ndarray:
        raw = function("tanh").by_trapezoid(shifts, q)
        scale = np.sqrt(raw[0] ** 2 + raw[1] ** 2 + raw[2])
        raw[3 + row] += said * scale
        raw[row] += wave * scale * np.sin(1e5 * shifts)
        return raw

    said, wave = 1e-12, 0.0
    assert patch(rule, place).errors[:, row] == pytest.approx(2.0 * said, rel=0.05)
    said, wave = 0.0, 1e-12
    assert np.isnan(patch(rule, place).errors[:, row]).all()


def test_where_there_are_no_patches(cold: None) -> None:
    """Far out, at variances where the rule takes many nodes, and of functions that are steep or have closed forms."""
    tanh = function("tanh")
    assert np.isnan(by_patches(tanh, np.array([46.0, 1e3, 1e300]), 1.0)[2]).all()
    assert np.isnan(by_patches(tanh, np.zeros(1), 1e6)[2]).all()
    assert np.isnan(by_patches(replace(tanh, steepness=1e3), np.zeros(1), 1.0)[2]).all()
    assert runtime._row(tanh, band_of(1e3)) is None
    for text in ("relu", "sign", "sin", "cubic"):
        assert function(text).patches not in function(text).rules
    out = coefficients("tanh", np.array([-1e3, 1e3]), 1.0)
    assert np.allclose(out[0], [-1.0, 1.0], rtol=4 * EPS, atol=0.0)


def test_patches_are_few_and_small(cold: None) -> None:
    """Rows of at most eight of 62 kB, 64 of them; made are those that are asked for, and what lies between them."""
    one, width = function("tanh"), width_of(0, 1.0, 0.0)
    by_patches(one, width * np.array([8.5]), 1.0)
    row = runtime._row(one, 0)
    assert row is not None and row.known is not None and (row.known.first, len(row.known.sums)) == (8, 8)
    by_patches(one, width * np.array([-9.0, 8.5]), 1.0)
    known = row.known
    assert (known.first, len(known.sums)) == (-16, 32)
    assert known.sums.nbytes + known.growth.nbytes + known.errors.nbytes < 4 * 62_000
    assert not known.sums.flags.writeable
    assert runtime._row.cache_info().maxsize == 64


def test_every_shift_has_its_patch() -> None:
    shifts = np.array([-1e300, -32.01, -32.0, -1e-9, 0.0, 7.99, 8.0, 31.9, 32.0, 1e300])
    assert [patch_of(s, 1.0) for s in shifts.tolist()] == [-4, -4, -4, -1, 0, 0, 1, 3, 3, 3]


def test_a_rule_says_how_many_points_it_marks() -> None:
    """Which is when the next one is asked."""
    shifts = np.linspace(0.0, 30.0, 21)
    for text in ("tanh", "gelu", "cubic", "hard_tanh", "sin"):
        one = function(text)
        for rule in one.rules:
            raw = np.empty((7, shifts.size))
            assert rule(shifts, 1.3, raw, np.empty(runtime.SCRATCH_SHAPE)) == np.isnan(raw[2]).sum(), (text, rule)


def test_a_changed_sum_is_noticed() -> None:
    """Signs and numbers of Clenshaw's recurrences, changed one at a time, in plain Python."""
    one = function("softplus")
    by_patches(one, np.array([-1.0]), 1.0)
    row = runtime._row(one, 0)
    assert row is not None and row.known is not None
    known, place = row.known, row.place
    text = runtime_text("patches")
    start = text.index("def between")
    shifts = place.width * np.array([-2.7, -1.1, -0.8, -0.01])
    given = known.sums, known.growth, known.errors, known.first, place.width, place.inside(1.07), shifts
    right, plain = np.empty((7, 4)), np.empty((7, 4))
    between(*given, right)
    interpreted(text).between(*given, plain)
    assert np.array_equal(plain, right)
    changes = ((" + ", " - "), (" - ", " + "), (" * ", " / "), ("2.0", "3.0"), ("1.0", "1.1"))
    tried = 0
    for old, new in changes:
        at = text.find(old, start)
        while at > 0:
            line = text[text.rfind("\n", 0, at) : text.find("\n", at)]
            if not any(word in line for word in ("raw[3", "raw[4", "raw[5", "raw[6", "min(", "scale")):
                mutant, found = text[:at] + new + text[at + len(old) :], np.empty((7, 4))
                with np.errstate(all="ignore"):
                    try:
                        interpreted(mutant).between(*given, found)
                    except (IndexError, TypeError, ZeroDivisionError):
                        found[:] = np.nan
                assert not np.all(np.abs(found[:3] - right[:3]) < 1e-9), line
                tried += 1
            at = text.find(old, at + 1)
    assert tried > 25
