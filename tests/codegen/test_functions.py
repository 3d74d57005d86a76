"""Emitted function modules against their mpmath references; printers, manifest and determinism of the text.

Error model of a kernel, with eps = 2^-52 and scale = sqrt(E f^2): mu0, mu1 and mu2 are right to the error it
returns (or 16 eps) times scale; mu2^2 to 1e-12 of itself and what rounding f at 40 eps of scale makes of it.
The error returned is at most 1e-12, and 8 eps |s| times the steepness of f where its argument is rounded.
"""

import importlib
import importlib.util
import json
import math
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hash_seeds import printed_under_any_seed

from codegen.functions import emit, emit_registered, hints_of
from codegen.manifest import (
    check,
    manifest_text,
    signature,
    text_digest,
    with_manifest,
    write_all,
    write_atomic,
)
from codegen.print.mpmath_scalar import MpmathPrinter
from codegen.print.numba_scalar import NumbaPrinter
from codegen.print.printer import Unprintable
from codegen.stable import stabilised
from derive.coefficients import conditional_coefficients
from derive.gaussian.numeric import mpmath_function
from derive.language.catalogue import REGISTERED, lookup
from derive.scalar import scalar_function
from giantstep.verify.reference_function import reference_function

ROOT = Path(__file__).resolve().parents[2]
EPS = 2.0**-52
USER = ("tanh(30*(z-1))", "z+0.001*sin(50*z)", "z+0.00000001*tanh(z)", "max(z,z**3)*tanh(z)")
EDGES = ((0.0, 1.0), (1.3, 1e-6), (1e5, 1e6), (-6.5, 1.0))


def load(text: str, name: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    """Modules made so far, by function; a new one is emitted and must compile without a warning."""
    folder = tmp_path_factory.mktemp("emitted")

    class Kernels(dict):  # type: ignore[type-arg]
        def __missing__(self, text: str) -> ModuleType:
            if text in REGISTERED:
                self[text] = importlib.import_module(f"generated.functions.{text}")
            else:
                made = emit(text)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    self[text] = load(made.text, f"emitted_{made.name}", folder)
                    evaluate(self[text], [0.3, -40.0], 2.0)
            made_now: ModuleType = self[text]
            return made_now

    return Kernels()


def evaluate(module: ModuleType, s: object, c: float) -> tuple[np.ndarray, float]:
    shifts = np.atleast_1d(np.asarray(s, dtype=float))
    out = np.full((3, shifts.size), np.nan)
    return out, module.coefficients(shifts, c, out, np.empty(module.SCRATCH_SHAPE))


def oracle(text: str, s: float, c: float) -> tuple[Any, ...]:
    """The reference; where f has too many waves for it, the closed form at 60 digits."""
    function = scalar_function(text)
    try:
        return reference_function(function).coefficients(s, c, digits=16)
    except ValueError:
        found = conditional_coefficients(function)
        with mpmath.workdps(60):
            parts = (found.mu0, found.mu1, found.mu2sq, found.second)
            return tuple(mpmath_function(e, (found.s, found.c))(mpmath.mpf(s), mpmath.mpf(c)) for e in parts)


def assert_accurate(module: ModuleType, text: str, s: float, c: float) -> None:
    out, estimate = evaluate(module, s, c)
    mu0, mu1, mu2sq, second = oracle(text, s, c)
    scale = mpmath.sqrt(second)
    where = f"{text} at s = {s!r}, c = {c!r}: {out.ravel()}, estimate {estimate}"
    assert out[2, 0] >= 0.0, where
    if scale < 1e-140:  # its square underflows
        assert np.all(np.abs(out) < 1e-130), where
        return
    allowed = max(estimate, 16 * EPS) * scale
    assert abs(out[0, 0] - mu0) <= allowed, where
    assert abs(out[1, 0] - mu1) <= allowed, where
    assert abs(mpmath.sqrt(out[2, 0]) - mpmath.sqrt(mu2sq)) <= allowed, where
    rounding = 40 * EPS * (1 + abs(s) * steepness(text) / float(scale) * (c < 1e-3)) * scale
    assert abs(out[2, 0] - mu2sq) <= 1e-12 * mu2sq + 2 * rounding * mpmath.sqrt(mu2sq) + rounding**2, where
    assert 0.0 <= estimate <= 1e-12 + 8 * EPS * abs(s) * steepness(text) / min(1.0, float(scale)), where


def steepness(text: str) -> float:
    seen = hints_of(scalar_function(text))
    return seen.steepness + seen.wave


def test_multiple_roots_are_features_once() -> None:
    """A search for all of them at a time does not end."""
    assert hints_of(scalar_function("tanh((z+1)**30)")).features == ((-1.0, pytest.approx(1.0 / 30.0)),)


@pytest.mark.parametrize(
    ("text", "centre", "width"),
    [
        ("exp(-1e6*(z-exp(-z))**2)+z", 0.5671432904, 1e-3 / (1.0 + 0.5671432904)),
        ("exp(-1e10*(z**3-z-1)**2)", 1.3247179572, 1e-5 / (3.0 * 1.3247179572**2 - 1.0)),
        ("1/(1+1e8*(cos(z)-0.2)**2)", math.acos(0.2), 1e-4 / math.sin(math.acos(0.2))),
        ("tanh(1e5*(z*tanh(z)-0.7))", -0.9476111238, 8.6e-6),
        ("log(1e-8+(tanh(z)-0.4)**2)", math.atanh(0.4), 1e-4 / (1.0 - 0.4**2)),
        ("exp(-1e8*(tanh(1e4*(z-1))-0.5)**2)", 1.0 + 1e-4 * math.atanh(0.5), 1e-8 / 0.75),
    ],
)
def test_features_of_arguments_that_are_no_polynomials(text: str, centre: float, width: float) -> None:
    """Each of a width that its argument is linear on, to two digits."""
    features = dict(hints_of(scalar_function(text)).features)
    assert features[float(f"{centre:.10g}")] == pytest.approx(width, rel=0.03)


def test_a_narrow_feature_far_from_where_panels_begin(tmp_path: Path) -> None:
    """Of height 1 and width 1e-3, at the zero of an exponential. Laplace's method: weight times root of pi, over the
    slope; the next term is 1e-6 of it.
    """
    text, place = "exp(-1e6*(z-exp(-z))**2)", 0.5671432904097838
    found, _ = evaluate(load(emit(text).text, "narrow_feature", tmp_path), 0.0, 1.0)
    leading = math.exp(-0.5 * place**2) / math.sqrt(2.0) / (1e3 * (1.0 + place))
    assert found[0, 0] == pytest.approx(leading, rel=3e-6)


def points(seed: int, number: int) -> list[tuple[float, float]]:
    """Shifts of either sign up to 1e5 and variances from 1e-6 to 1e6, log-uniform; half of them of order
    one.
    """
    rng = np.random.default_rng(seed)
    wide = [(10 ** rng.uniform(-3, 5) * rng.choice([-1, 1]), 10 ** rng.uniform(-6, 6)) for _ in range(number)]
    near = [(rng.normal() * 3, 10 ** rng.uniform(-1, 1)) for _ in range(number)]
    return [*wide, *near]


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_registered_function_against_the_reference(name: str, kernels: dict[str, ModuleType]) -> None:
    """At the centre, at one of the edges of the domain, and anywhere."""
    number = sorted(REGISTERED).index(name)
    for s, c in (EDGES[0], EDGES[1 + number % 3], points(len(name), 1)[number % 2]):
        assert_accurate(kernels[name], name, s, c)


@pytest.mark.parametrize("text", USER)
def test_user_expression_against_the_reference(text: str, kernels: dict[str, ModuleType]) -> None:
    # where f oscillates the reference is slow at large variance
    for s, c in [(0.0, 0.2), (1.1, 1e-2), *([] if "sin" in text else [(0.9, 4.0), (-3.0, 0.3), (7.0, 1e4)])]:
        assert_accurate(kernels[text], text, s, c)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [*sorted(REGISTERED), "tanh(30*(z-1))", "exp(-z**2)", "log(cosh(z))", "relu(z)*tanh(z)"]
)
def test_many_points_against_the_reference(text: str, kernels: dict[str, ModuleType]) -> None:
    for s, c in [*EDGES, *points(7, 40)]:
        assert_accurate(kernels[text], text, s, c)


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_parity_zero_variance_and_values(name: str, kernels: dict[str, ModuleType]) -> None:
    module = kernels[name]
    s = np.array([-70.0, -2.0, -0.4, 0.0, 0.4, 2.0, 70.0])
    out, _ = evaluate(module, s, 0.7)
    sign = {"odd": -1.0, "even": 1.0}.get(module.PARITY)
    if sign is not None:
        assert np.array_equal(out[0], sign * out[0, ::-1])
        assert np.array_equal(out[1], -sign * out[1, ::-1])
        assert np.array_equal(out[2], out[2, ::-1])
    assert np.all(out[2] >= 0.0)
    out, error = evaluate(module, s, 0.0)
    values = np.empty_like(s)
    module.value(s, values)
    assert error == 0.0 and np.array_equal(out, [values, 0 * s, 0 * s])
    exact, _ = reference_function(scalar_function(name)).function()
    for z, value in zip(s, values, strict=True):
        with mpmath.workdps(80):
            assert abs(value - exact(mpmath.mpf(z))) <= 4 * EPS * max(abs(value), 1e-290)


@pytest.mark.parametrize("name", ["sign", "step", "relu", "hard_tanh"])
def test_values_on_breakpoints(name: str, kernels: dict[str, ModuleType]) -> None:
    module = kernels[name]
    exact, breakpoints = reference_function(scalar_function(name)).function()
    assert module.BREAKPOINTS == tuple(float(b) for b in breakpoints) != ()
    values = np.empty(len(breakpoints))
    module.value(np.array(module.BREAKPOINTS), values)
    assert list(values) == [float(exact(b)) for b in breakpoints]


def test_linear_function_has_no_residual(kernels: dict[str, ModuleType]) -> None:
    out, _ = evaluate(kernels["linear"], [-3.0, 0.0, 1e5], 4.0)
    assert np.array_equal(out, [[-3.0, 0.0, 1e5], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]])


def test_nearly_linear_function_keeps_the_digits_of_its_residual(kernels: dict[str, ModuleType]) -> None:
    """mu2^2 is 1e-17 of E f^2 here: the difference of the moments would be nothing but rounding."""
    text = "z+0.00000001*tanh(z)"
    out, _ = evaluate(kernels[text], 0.5, 1.0)
    _, _, mu2sq, second = oracle(text, 0.5, 1.0)
    assert mu2sq < 1e-16 * second
    assert abs(out[2, 0] - mu2sq) <= 1e-5 * mu2sq


def test_error_is_honest_where_quadrature_gives_up(kernels: dict[str, ModuleType]) -> None:
    text = "tanh(z)*sin(20*z)"
    for s, c in [(0.3, 2e2), (-40.0, 2e2), (3.0, 40.0)]:
        out, estimate = evaluate(kernels[text], s, c)
        found = reference_by_sampling(text, s, c)
        assert abs(out[0, 0] - found) <= max(estimate, 1e-9)
    _, estimate = evaluate(kernels[text], 0.3, 1e6)
    assert estimate > 1e-3


def reference_by_sampling(text: str, s: float, c: float) -> float:
    """E f by a trapezoid rule far finer than its waves."""
    g = np.linspace(-10, 10, 2_000_001)
    z = s + math.sqrt(c) * g
    return float(np.sum(np.tanh(z) * np.sin(20 * z) * np.exp(-g * g / 2)) * (g[1] - g[0]) / math.sqrt(2 * math.pi))


def test_overflow_is_an_infinite_error_and_bad_arguments_are_refused(kernels: dict[str, ModuleType]) -> None:
    module = kernels["cubic"]
    _, error = evaluate(module, 1e200, 1.0)
    assert error == math.inf
    with pytest.raises(ValueError, match="variance"):
        evaluate(module, 0.0, -1.0)
    with pytest.raises(ValueError, match="SCRATCH_SHAPE"):
        module.coefficients(np.zeros(1), 1.0, np.zeros((3, 1)), np.zeros((4, 4)))


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_header_and_constants(name: str, kernels: dict[str, ModuleType]) -> None:
    module = kernels[name]
    made = emit(name)
    assert (module.NAME, module.EXPRESSION) == (name, REGISTERED[name].expression)
    assert module.SIGNATURE == made.signature and len(made.signature) == 64
    assert module.__doc__ is not None and "giantstep generate" in module.__doc__
    assert module.PARITY == scalar_function(name).parity


def test_generated_folder_is_what_the_sources_give() -> None:
    for name, text in emit_registered().items():
        assert (ROOT / "generated" / name).read_text(encoding="utf-8") == text, f"{name}: run giantstep generate"


def test_text_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from codegen.functions import emit; from codegen.manifest import text_digest\n"
        "for text in ('hard_tanh', 'silu', 'z+0.001*sin(50*z)', 'max(z,z**3)*exp(-z)/(1+exp(-z))**2'):\n"
        "    print(text_digest(emit(text).text))"
    )
    assert len(printed_under_any_seed(code).split()) == 4


def test_numba_text_is_stable_far_out() -> None:
    """What is printed neither overflows nor cancels where the expression itself would."""
    z = sympy.Symbol("z", real=True)
    cases = {
        1 / (1 + sympy.exp(-z)): "sigmoid(z)",
        sympy.exp(z) / (1 + sympy.exp(z)): "sigmoid(z)",
        sympy.exp(-z) / (1 + sympy.exp(-z)) ** 2: "sigmoid(-z)*sigmoid(z)",
        sympy.log(1 + sympy.exp(z)): "softplus(z)",
        sympy.log(sympy.cosh(z)): "log_cosh(z)",
        sympy.sinh(z) / sympy.cosh(z): "math.tanh(z)",
        1 - sympy.erf(z): "math.erfc(z)",
        1 + sympy.erf(z): "math.erfc(-z)",
        sympy.exp(3 - 3 * z) / (1 + sympy.exp(3 - 3 * z)): "sigmoid(3.0 - 3.0*z)",
        sympy.exp(z) - 1: "math.expm1(z)",
        sympy.log(1 + z**2): "math.log1p(z*z)",
    }
    for expression, text in cases.items():
        assert NumbaPrinter().expression(stabilised(expression)) == text


def test_printers_agree_with_sympy() -> None:
    """Signs, quotients and nested powers survive the printing: numbers at random points, by both printers."""
    x, y = sympy.symbols("x y", positive=True)
    expressions = [
        x - (y - x * y) / (x + y) ** 2,
        -((x - y) ** 3) / (2 * x * y),
        sympy.exp(-(x**2) / (2 * y)) / sympy.sqrt(2 * sympy.pi * y),
        (-x) ** 2 / 3 - 1 / (x**2 * y) - sympy.Rational(2, 7) * sympy.sqrt(x) ** 3,
        sympy.Piecewise((x, x < y), (y**2, sympy.And(x > 2 * y, y > 1)), (x - y, True)),
        sympy.Max(x, y, 1) * sympy.Min(x, -y),
        sympy.Mul(-1, sympy.Mul(2, x + y, evaluate=False), evaluate=False) ** 2,
        sympy.E ** (x / 2) * sympy.atan(-x * y) + sympy.pi,
        x ** sympy.Rational(5, 3) - (x / y) ** y,
    ]
    names = {"math": math, "mpmath": mpmath, "abs": abs, "max": max, "min": min}
    rng = np.random.default_rng(3)
    for expression in expressions:
        for _ in range(5):
            values = {x: float(rng.uniform(0.1, 3)), y: float(rng.uniform(0.1, 3))}
            exact = float(expression.subs(values).evalf(30))
            local = {**names, "x": values[x], "y": values[y]}
            assert eval(NumbaPrinter().expression(expression), local) == pytest.approx(exact, rel=1e-13, abs=1e-13)
            assert float(eval(MpmathPrinter().expression(expression), local)) == pytest.approx(
                exact, rel=1e-13, abs=1e-13
            )
            # noqa: S102 - printed text
            exec("\n".join(NumbaPrinter().assignments([("value", expression), ("twice", 2 * expression)])), local)
            assert local["value"] == pytest.approx(exact, rel=1e-13, abs=1e-13)
            assert local["twice"] == pytest.approx(2 * exact, rel=1e-13, abs=1e-13)


def test_mpmath_text_keeps_rationals_exact() -> None:
    assert MpmathPrinter().expression(sympy.Rational(1, 3)) == "(mpmath.mpf(1)/3)"
    assert NumbaPrinter().expression(sympy.Rational(1, 3)) == "0.3333333333333333"


@pytest.mark.parametrize(
    "expression", [sympy.gamma(sympy.Symbol("x")), sympy.I, sympy.oo, sympy.Integral(1, sympy.Symbol("x"))]
)
def test_what_has_no_text_is_refused(expression: sympy.Expr) -> None:
    for printer in (NumbaPrinter().expression, MpmathPrinter().expression):
        with pytest.raises(Unprintable):
            printer(expression)


def test_expression_text_cannot_leave_its_string() -> None:
    """The name and the text in a module are those of the catalogue: quotes and line ends never reach the
    file raw.
    """
    made = emit(lookup("tanh( 2*z )"))
    tree = compile(made.text, made.path, "exec", flags=0x400)  # parsed only
    assert tree is not None and 'EXPRESSION = "' in made.text


def test_manifest_and_check(tmp_path: Path) -> None:
    texts = {"functions/a.py": f'SIGNATURE = "{"0" * 64}"\n', "b.py": "x = 1\n"}
    assert write_all(texts, tmp_path) == ["MANIFEST.json", "b.py", "functions/a.py"]
    assert write_all(texts, tmp_path) == []
    manifest = json.loads((tmp_path / "MANIFEST.json").read_text())["files"]
    assert manifest["functions/a.py"] == {
        "signature": "0" * 64,
        "sha256": text_digest(texts["functions/a.py"]),
    }
    assert check(with_manifest(texts), tmp_path) == []
    (tmp_path / "b.py").write_text("x = 2\n")
    (tmp_path / "stale.py").write_text("y = 1\n")
    (tmp_path / "functions" / "a.py").unlink()
    changed, missing, stale = check(with_manifest(texts), tmp_path)
    assert "-x = 2" in changed and "+x = 1" in changed
    assert "/dev/null" in missing and "+SIGNATURE" in missing
    assert "-y = 1" in stale
    write_all(texts, tmp_path)
    assert check(with_manifest(texts), tmp_path) == []
    assert manifest_text(dict(reversed(texts.items()))) == manifest_text(texts)


def test_signature_separates_its_parts() -> None:
    assert signature(["ab", "c"]) != signature(["a", "bc"])
    assert signature(["ab", "c"]) == signature(iter(["ab", "c"]))


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.py"
    assert write_atomic(path, "old\n") and not write_atomic(path, "old\n")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(path, "\ud800")
    assert path.read_text() == "old\n" and list(tmp_path.iterdir()) == [path]
