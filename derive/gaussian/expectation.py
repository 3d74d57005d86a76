"""`Expectation`: the unevaluated Gaussian expectation, a SymPy expression.

The variables are independent standard normals and are bound: they are no free symbols, and substitution
neither replaces nor captures them. A substitution whose *pattern* mentions a bound variable (`f(kappa)`
inside `Expectation(f(kappa)*m, kappa)`) does act inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import mpmath
import sympy

from derive.gaussian.numeric import Averaged, mpmath_function, numeric_marks
from derive.gaussian.quadrature import QuadratureError, gaussian_expectation


class Expectation(Averaged):
    """E[integrand] over independent standard normal variables: `Expectation(z**2 * f(z), z)`.

    Variables the integrand does not contain are dropped, so a constant is its own expectation; the others are
    kept in the order of their names. Raises TypeError where a variable is not a symbol.
    """

    is_commutative = True

    def __new__(cls, integrand: Any, *variables: Any) -> Any:
        integrand = sympy.sympify(integrand)
        for variable in variables:
            if not isinstance(variable, sympy.Symbol):
                raise TypeError(f"{variable!r} is not a symbol: an expectation is taken over symbols only")
        present = sorted({v for v in variables if v in integrand.free_symbols}, key=lambda v: (v.name, v.sort_key()))
        if not present:
            return integrand
        return super().__new__(cls, integrand, *present)

    @property
    def integrand(self) -> Any:
        """What the expectation is taken of."""
        return self.args[0]

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The bound standard normal variables."""
        return tuple(self.args[1:])

    @property
    def bound_symbols(self) -> list[sympy.Symbol]:
        return list(self.variables)

    @property
    def free_symbols(self) -> set[Any]:
        return set(self.integrand.free_symbols) - set(self.variables)

    def with_integrand(self, integrand: Any) -> Any:
        """The expectation of something else over the same variables."""
        return Expectation(integrand, *self.variables)

    def renamed(self, names: Mapping[sympy.Symbol, sympy.Symbol]) -> Any:
        """The same expectation with other names for its bound variables."""
        return Expectation(self.integrand.xreplace(dict(names)), *(names.get(v, v) for v in self.variables))

    # --- substitution and differentiation -------------------------------------------------------------------

    def _away_from(self, symbols: set[Any]) -> Any:
        """A copy none of whose bound variables is in `symbols`."""
        clash = [v for v in self.variables if v in symbols]
        if not clash:
            return self
        return self.renamed({v: sympy.Dummy(v.name, **v._assumptions_orig) for v in clash})

    def _eval_subs(self, old: Any, new: Any) -> Any:
        if old in self.variables:
            return self
        body = self._away_from(set(new.free_symbols) - set(old.free_symbols))
        return Expectation(body.integrand._subs(old, new), *body.variables)

    def _xreplace(self, rule: Any) -> tuple[Any, bool]:
        if self in rule:
            return rule[self], True
        inside = {o: n for o, n in rule.items() if o not in self.variables}
        symbols: set[Any] = set()
        for old, new in inside.items():
            if self.integrand.has(old):
                symbols |= set(getattr(new, "free_symbols", set())) - set(getattr(old, "free_symbols", set()))
        body = self._away_from(symbols)
        integrand, changed = body.integrand._xreplace(inside)
        return (Expectation(integrand, *body.variables), True) if changed else (self, False)

    def _eval_derivative(self, symbol: Any) -> Any:
        """Under the integral sign."""
        if symbol in self.variables:
            return sympy.S.Zero
        body = self._away_from(set(getattr(symbol, "free_symbols", set())))
        return body.with_integrand(sympy.diff(body.integrand, symbol))

    def _eval_conjugate(self) -> Any:
        return self if self.is_extended_real else None

    def _eval_is_real(self) -> bool | None:
        return True if self.integrand.is_extended_real else None

    def _eval_is_extended_real(self) -> bool | None:
        return True if self.integrand.is_extended_real else None

    def _eval_is_extended_nonnegative(self) -> bool | None:
        return True if self.integrand.is_extended_nonnegative else None

    # --- linearity
    # -------------------------------------------------------------------------------------------

    def _eval_expand_mul(self, **hints: Any) -> Any:
        """Sums apart, factors free of the variables out, independent factors as a product."""
        return sympy.Add(*(self._split_product(term) for term in sympy.Add.make_args(sympy.expand_mul(self.integrand))))

    def separated(self) -> Any:
        """Independent factors of the integrand as a product of expectations, nothing expanded."""
        return self._split_product(self.integrand)

    def _split_product(self, term: Any) -> Any:
        outside: list[Any] = []
        groups: list[tuple[set[Any], list[Any]]] = []
        for factor in sympy.Mul.make_args(term):
            present = set(self.variables) & factor.free_symbols
            if not present:
                outside.append(factor)
                continue
            joined = (present, [factor])
            for group in [g for g in groups if g[0] & present]:
                groups.remove(group)
                joined = (joined[0] | group[0], group[1] + joined[1])
            groups.append(joined)
        return sympy.Mul(*outside, *(Expectation(sympy.Mul(*fs), *sorted(vs, key=str)) for vs, fs in groups))

    # --- evaluating (closed forms: derive.gaussian.rules.close) -----------------------------------------------------

    def value(self, dps: int = 15, substitutions: Mapping[Any, Any] | None = None) -> Any:
        """The number (mpf) to `dps` digits of E|integrand|, after substituting.

        Raises ValueError where symbols or undefined functions are left, QuadratureError where it does not
        settle.
        """
        node = self.subs(dict(substitutions)) if substitutions else self
        if not isinstance(node, Expectation):
            return _number(node, dps)
        return _integrate(node, dps)

    def _eval_evalf(self, prec: int) -> Any:
        if self.free_symbols or self.integrand.atoms(sympy.core.function.AppliedUndef):
            return None
        dps = max(15, int(prec / 3.33) + 2)
        return sympy.Float._new(_integrate(self, dps)._mpf_, prec)

    # --- printing
    # --------------------------------------------------------------------------------------------

    def _latex(self, printer: Any, exp: Any = None) -> str:
        names = ", ".join(printer._print(v) for v in self.variables)
        body = rf"\mathbb{{E}}_{{{names}}}\left[{printer._print(self.integrand)}\right]"
        return body if exp is None else f"{body}^{{{exp}}}"

    def _sympystr(self, printer: Any) -> str:
        names = ",".join(printer._print(v) for v in self.variables)
        return f"E_{{{names}}}[{printer._print(self.integrand)}]"


def stein(expectation: Any, z: sympy.Symbol) -> Any:
    """Stein's lemma, E[z f(z)] -> E[f'(z)], with f' in the sense of distributions at jumps.

    Raises ValueError where z is no variable of the expectation or no factor of its integrand.
    """
    integrand = _bound(expectation, z)
    powers = integrand.as_powers_dict()
    if not (z in powers and powers[z].is_positive):
        raise ValueError(f"{integrand} has no factor {z}; Stein's lemma needs E[{z} f({z})]")
    return resolve_deltas(expectation.with_integrand(sympy.diff(integrand / z, z)))


def inverse_stein(expectation: Any, z: sympy.Symbol, primitive: Any = None) -> Any:
    """Stein's lemma backwards, E[w(z) F'(z)] -> E[(z w - w') F].

    Without `primitive` the integrand holds an unevaluated `Derivative(F, z)` and w is the rest; with it, the
    integrand is the derivative of `primitive` (checked) and w = 1. Raises ValueError otherwise.
    """
    integrand = _bound(expectation, z)
    if primitive is not None:
        if sympy.simplify(sympy.diff(primitive, z) - integrand) != 0:
            raise ValueError(f"the derivative of {primitive} by {z} is not the integrand {integrand}")
        return expectation.with_integrand(z * primitive)
    for factor in sympy.Mul.make_args(integrand):
        if isinstance(factor, sympy.Derivative) and z in factor.variables:
            order = list(factor.variables)
            order.remove(z)
            lower = sympy.Derivative(factor.expr, *order) if order else factor.expr
            weight = integrand / factor
            return expectation.with_integrand(sympy.expand(z * weight - sympy.diff(weight, z)) * lower)
    raise ValueError(f"no factor Derivative(F, {z}) in {integrand}; pass the primitive F explicitly")


def resolve_deltas(expression: Any) -> Any:
    """Every E[delta^(n)(a z + b) g(z)] carried out, z standard normal; other expectations stay.

    Raises ValueError for the delta function of an argument that is not affine in any bound variable.
    """
    found = [e for e in expression.atoms(Expectation) if e.has(sympy.DiracDelta)]
    return expression.xreplace({e: _without_deltas(e) for e in sorted(found, key=str)}) if found else expression


def _without_deltas(node: Any) -> Any:
    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand(node.integrand)):
        deltas = sorted(term.atoms(sympy.DiracDelta), key=str)
        if not deltas:
            total += node.with_integrand(term)
            continue
        delta = deltas[0]
        z, slope, root = _affine_delta(delta, node.variables)
        order = int(delta.args[1]) if len(delta.args) == 2 else 0
        density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
        # int delta^(n)(a z + b) g phi dz = (-1)^n a^-n |a|^-1 (g phi)^(n) at the root
        smooth = sympy.diff(term / delta * density, z, order) if order else term / delta * density
        reduced = (-1) ** order * (smooth.subs(z, root)) / (slope**order * sympy.Abs(slope))
        rest = Expectation(reduced, *(v for v in node.variables if v != z))
        total += resolve_deltas(rest)
    return total


def _affine_delta(delta: Any, variables: Iterable[sympy.Symbol]) -> tuple[sympy.Symbol, Any, Any]:
    argument = delta.args[0]
    for z in variables:
        slope = sympy.diff(argument, z)
        if slope != 0 and not slope.has(z):
            return z, slope, sympy.solve(argument, z)[0] if argument.has(z) else sympy.S.Zero
    raise ValueError(f"{delta} is not affine in any of the variables; split it at its roots first")


def _bound(expectation: Any, z: sympy.Symbol) -> Any:
    if not isinstance(expectation, Expectation) or z not in expectation.variables:
        raise ValueError(f"{expectation} is not an expectation over {z}")
    return expectation.integrand


def _number(expression: Any, dps: int) -> Any:
    if expression.free_symbols:
        names = ", ".join(sorted(map(str, expression.free_symbols)))
        raise ValueError(f"no value for {names} in {expression}; pass them in `substitutions`")
    return sympy.N(expression, dps)._to_mpmath(int(dps * 3.33) + 8)


@lru_cache(maxsize=1024)
def _integrate(node: Any, dps: int) -> Any:
    """Numerical value of an expectation without free symbols, the first variable outermost."""
    if node.free_symbols:
        _number(node, dps)
    unknown = node.atoms(sympy.core.function.AppliedUndef)
    if unknown:
        raise ValueError(f"{', '.join(sorted(map(str, unknown)))} is not defined; substitute it first")
    if node.has(sympy.DiracDelta):
        return _number(resolve_deltas(node), dps)
    return _level(node.integrand, node.variables, (), dps)(())


@lru_cache(maxsize=512)
def _compiled(integrand: Any, arguments: tuple[sympy.Symbol, ...]) -> Any:
    return mpmath_function(integrand, arguments)


def _level(integrand: Any, variables: tuple[Any, ...], outer: tuple[Any, ...], dps: int) -> Any:
    """Function of the values of `outer`: the expectation over `variables`, one integral inside the other."""
    z, rest = variables[0], variables[1:]
    # the innermost integral has to be more precise than the outer ones that sum it
    if rest:
        inner = _level(integrand, rest, (*outer, z), dps + 3)
    else:
        function = _compiled(integrand, (*outer, z))

    def evaluate(values: tuple[Any, ...]) -> Any:
        def of_z(x: Any) -> Any:
            return inner((*values, x)) if rest else function(*values, x)

        with mpmath.workdps(dps + 20):
            marks = numeric_marks(integrand, z, dict(zip(outer, values, strict=True)), dps)
        total, _ = gaussian_expectation(of_z, dps, marks)
        if not mpmath.isfinite(total):
            raise QuadratureError(f"the expectation of {integrand} is not finite")
        return total

    return evaluate
