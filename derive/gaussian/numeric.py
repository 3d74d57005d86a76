"""SymPy expressions as mpmath functions, nested expectations included, and where they have kinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import sympy

_KINKED = (sympy.Abs, sympy.sign, sympy.Heaviside, sympy.Max, sympy.Min, sympy.Piecewise)
_STEEP = 3  # slope from which a function of an affine argument gets marks of its own


class Averaged(sympy.Expr):
    """An expression that is an average over variables of its own, and knows its number."""

    def value(self, dps: int = 15, substitutions: Mapping[Any, Any] | None = None) -> Any:
        """The number (mpf) to `dps` digits, after substituting."""
        raise NotImplementedError


def mpmath_function(expression: Any, arguments: Sequence[sympy.Symbol]) -> Callable[..., Any]:
    """The expression as a function of mpf arguments at mpmath's current precision."""
    names: dict[str, Any] = {
        "Heaviside": _heaviside,
        "NormalCdf": normal_cdf,
        "OwenT": owen_t,
        "LogNormalCdf": log_normal_cdf,
        "InverseMillsRatio": inverse_mills_ratio,
        "TruncatedMean": truncated_mean,
    }
    nodes = sorted((e for e in expression.atoms(Averaged)), key=str)
    outermost = [e for e in nodes if not any(e is not o and o.has(e) for o in nodes)]
    replaced = {}
    for position, node in enumerate(outermost):
        free = tuple(a for a in arguments if a in node.free_symbols)
        name = f"nested_{position}"
        names[name] = _nested(node, free)
        replaced[node] = sympy.Function(name)(*free)
    function: Callable[..., Any] = sympy.lambdify(
        list(arguments), expression.xreplace(replaced), modules=[names, "mpmath"]
    )
    return function


def _nested(node: Any, free: tuple[Any, ...]) -> Callable[..., Any]:
    def evaluate(*values: Any) -> Any:
        bound = {s: sympy.Float._new(mpmath.mpf(v)._mpf_, mpmath.mp.prec) for s, v in zip(free, values, strict=True)}
        return node.value(mpmath.mp.dps, bound)

    return evaluate


def _heaviside(x: Any, _: Any = None) -> Any:
    return mpmath.mpf("0.5") if x == 0 else mpmath.mpf(1 if x > 0 else 0)


def normal_cdf(x: Any) -> Any:
    """Phi(x) without cancellation in the lower tail, at mpmath's current precision."""
    return mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2


def log_normal_cdf(x: Any) -> Any:
    """log Phi(x) to full relative accuracy in both tails, at mpmath's current precision."""
    x = mpmath.mpf(x)
    return mpmath.log(normal_cdf(x)) if x < 0 else mpmath.log1p(-normal_cdf(-x))


def inverse_mills_ratio(x: Any) -> Any:
    """phi(x)/Phi(x) at mpmath's current precision."""
    x = mpmath.mpf(x)
    with mpmath.extraprec(_lost(x)):
        value = mpmath.npdf(x) / normal_cdf(x)
    return +value


def truncated_mean(x: Any) -> Any:
    """x + phi(x)/Phi(x), about -1/x where the two terms cancel, at mpmath's current precision."""
    x = mpmath.mpf(x)
    with mpmath.extraprec(_lost(x)):
        value = x + inverse_mills_ratio(x)
    return +value


def _lost(x: Any) -> int:
    """Bits that rounding x/sqrt(2) or cancellation costs in the lower tail."""
    return 0 if x > 0 else 2 * max(0, mpmath.mag(x)) + 10


def owen_t(h: Any, a: Any) -> Any:
    """Owen's T function (1/2 pi) int_0^a exp(-h^2 (1+x^2)/2)/(1+x^2) dx at mpmath's current precision."""
    h, a = mpmath.mpf(h), mpmath.mpf(a)
    if abs(a) > 1:
        # T(h, a) + T(a h, 1/a) by tail probabilities, so that nothing cancels far out
        tail, other = normal_cdf(-abs(h)), normal_cdf(-abs(a * h))
        value = (tail + other) / 2 - tail * other - owen_t(abs(a * h), 1 / abs(a))
        return mpmath.sign(a) * value
    scale = mpmath.exp(-h * h / 2) / (2 * mpmath.pi)
    reach = 1 if h == 0 else min(mpmath.mpf(1), mpmath.sqrt(2 * mpmath.mp.dps * mpmath.log(10)) / abs(a * h or 1))
    edges = [a * reach * k / 4 for k in range(5)]
    return scale * mpmath.quad(lambda x: mpmath.exp(-((h * x) ** 2) / 2) / (1 + x * x), edges, method="gauss-legendre")


def kinked_arguments(expression: Any, z: sympy.Symbol) -> list[Any]:
    """Arguments whose zeros are kinks or jumps of the expression in z, sorted, innermost not sorted out."""
    found: set[Any] = set()
    for atom in expression.atoms(*_KINKED):
        if isinstance(atom, sympy.Max | sympy.Min):
            pairs = [(a, b) for i, a in enumerate(atom.args) for b in atom.args[i + 1 :]]
            found |= {a - b for a, b in pairs}
        elif isinstance(atom, sympy.Piecewise):
            relations = [r for _, condition in atom.args for r in condition.atoms(sympy.core.relational.Relational)]
            found |= {r.lhs - r.rhs for r in relations}
        else:
            found.add(atom.args[0])
    return sorted((a for a in found if a.has(z)), key=sympy.default_sort_key)


def _branches(argument: Any, z: sympy.Symbol) -> list[Any]:
    """The argument with the kinked functions inside replaced by each of their smooth branches."""
    inner = [a for a in argument.atoms(*_KINKED) if a.has(z)]
    if not inner:
        return [argument]
    atom = min(inner, key=sympy.default_sort_key)
    if isinstance(atom, sympy.Max | sympy.Min):
        choices = list(atom.args)
    elif isinstance(atom, sympy.Piecewise):
        choices = [e for e, _ in atom.args]
    elif isinstance(atom, sympy.Abs):
        choices = [atom.args[0], -atom.args[0]]
    else:
        choices = [sympy.S.NegativeOne, sympy.S.Zero, sympy.S.One]
    return [b for c in choices for b in _branches(argument.xreplace({atom: c}), z)]


def numeric_marks(expression: Any, z: sympy.Symbol, values: Mapping[Any, Any], dps: int) -> list[Any]:
    """Where a quadrature in z should be cut, as mpf: the kinks whose arguments are polynomial in z, and the
    places

    where a function of a steep affine argument changes. Other kinks are left to the quadrature to find.
    """
    marks: list[Any] = []
    numbers = {s: sympy.Float._new(mpmath.mpf(v)._mpf_, mpmath.mp.prec + 40) for s, v in values.items()}
    for argument in (b for a in kinked_arguments(expression, z) for b in _branches(a, z)):
        coefficients = _coefficients(argument.subs(numbers), z, dps)
        if len(coefficients) == 2:
            marks.append(-coefficients[1] / coefficients[0])
        elif len(coefficients) > 2:
            with mpmath.workdps(2 * dps + 20):
                roots = mpmath.polyroots(coefficients, maxsteps=500, extraprec=20 * dps)
            marks.extend(mpmath.re(r) for r in roots if abs(mpmath.im(r)) < mpmath.mpf(10) ** (-dps // 2))
    for function in sorted(expression.atoms(sympy.Function), key=sympy.default_sort_key):
        if isinstance(function, _KINKED) or not function.args[0].has(z):
            continue
        coefficients = _coefficients(function.args[0].subs(numbers), z, dps)
        if len(coefficients) == 2 and abs(coefficients[0]) > _STEEP:
            centre, width = -coefficients[1] / coefficients[0], 1 / abs(coefficients[0])
            marks.extend(centre + k * width for k in (-32, -8, -2, 0, 2, 8, 32))
    return marks


def _coefficients(argument: Any, z: sympy.Symbol, dps: int) -> list[Any]:
    """Of a polynomial in z with numerical coefficients, highest power first; empty for anything else."""
    if not argument.has(z) or argument.free_symbols - {z} or not argument.is_polynomial(z):
        return []
    return [mpmath.mpmathify(c.evalf(dps + 20)) for c in sympy.Poly(argument, z).all_coeffs()]
