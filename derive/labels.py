"""Labels of a target as a channel: y = flip sigma_star(t + sqrt(probit) n) + sqrt(noise) epsilon.

t = Theta.x are the overlaps of an input with the target's directions, n one standard normal per index, flip = -1
with probability `flips`, otherwise 1. [GER20] section 2 (probit and label noise); [CUI24] App. C
A label that is drawn given z has the mean sigma_star(z) and a variance about it, all that squares know of its law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy

from derive.gaussian.expectation import Expectation
from derive.gaussian.rules import close
from derive.language.links import link_of
from derive.operations import computed, equal
from derive.scalar import ScalarFunction
from derive.to_sympy import to_sympy
from derive.trace import Operation, Recorder

UBAR = sympy.Symbol("ubar", real=True)
MU0 = sympy.Symbol("mu_0", real=True)
NOISE, FLIPS, PROBIT = sympy.symbols("noise flips probit", nonnegative=True)
FLIP = sympy.Symbol("varphi", real=True)
NOISE_VARIABLE = sympy.Symbol("epsilon", real=True)
STAR, DRAWN = sympy.Function("sigma_star"), sympy.Function("v_star", nonnegative=True)
DRAWN_VARIABLE = sympy.Symbol("eta", real=True)

_SOURCE = "[CUI24, Result 3.1 and App. A]"


@dataclass(frozen=True)
class IndexFunction:
    """A link of one or several variables, a SymPy expression."""

    name: str
    expr: Any
    variables: tuple[sympy.Symbol, ...]

    def at(self, *arguments: Any) -> Any:
        """The expression at other arguments, one per variable."""
        return self.expr.subs(dict(zip(self.variables, arguments, strict=True)), simultaneous=True)


def index_function(text: str) -> IndexFunction:
    """The link of a registered name or an expression in z, or in z1, z2, ... Raises ExpressionError.

    Signs and absolute values of polynomials of several indices are taken apart, for each factor has its own jump.
    """
    link = link_of(text)
    symbols = {name: sympy.Symbol(name, real=True) for name in link.variables}
    expression, variables = to_sympy(link.node, symbols), tuple(symbols.values())
    if len(variables) > 1:
        for function in (sympy.sign, sympy.Abs):
            expression = expression.replace(function, partial(_of_factors, function, variables))
    return IndexFunction(link.name, expression, variables)


def _of_factors(function: Any, variables: tuple[sympy.Symbol, ...], argument: Any) -> Any:
    """A multiplicative function of a polynomial, as the product over its factors."""
    if not argument.is_polynomial(*variables) or argument.has(sympy.Float):
        return function(argument)
    constant, factors = sympy.factor_list(argument, *variables)
    return function(constant) * sympy.Mul(*(function(factor) ** power for factor, power in factors))


def as_index_function(link: ScalarFunction | IndexFunction) -> IndexFunction:
    """A scalar function as a link of one variable."""
    return link if isinstance(link, IndexFunction) else IndexFunction(link.name, link.expr, (link.z,))


def numbered(name: str, count: int) -> tuple[sympy.Symbol, ...]:
    """Real symbols: the name itself where there is one, name_1, name_2, ... for several."""
    names = (name,) if count == 1 else tuple(f"{name}_{i + 1}" for i in range(count))
    return tuple(sympy.Symbol(each, real=True) for each in names)


@dataclass(frozen=True)
class Channel:
    """The label noise of a target with some indices; `flips` and `probit` are numbers or symbols, 0 for none.

    drawn: whether the label is drawn with a variance v_star about its mean sigma_star.
    """

    indices: int = 1
    flips: Any = 0
    probit: Any = 0
    drawn: bool = False

    @property
    def scale(self) -> Any:
        """s with t + sqrt(probit) n = s g, g standard normal."""
        return sympy.sqrt(1 + self.probit)

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """g of every index: t itself without probit noise."""
        return numbered("g" if self.probit != 0 else "t", self.indices)

    @property
    def others(self) -> tuple[sympy.Symbol, ...]:
        """h, the part of (t, n) that the label does not know."""
        return numbered("h", self.indices) if self.probit != 0 else ()

    @property
    def overlaps(self) -> tuple[Any, ...]:
        """t of every index in terms of g and h."""
        if self.probit == 0:
            return self.variables
        pairs = zip(self.variables, self.others, strict=True)
        return tuple((g + sympy.sqrt(self.probit) * h) / self.scale for g, h in pairs)

    def residual(self, flip: Any = 1) -> Any:
        """e = y - ubar mu0 for a given flip."""
        label = self.label(flip, *(self.scale * g for g in self.variables))
        return label - UBAR * MU0

    def label(self, flip: Any, *z: Any) -> Any:
        """y for a given flip at indices z."""
        rest = sympy.sqrt(DRAWN(*z)) * DRAWN_VARIABLE if self.drawn else 0
        return flip * STAR(*z) + rest + sympy.sqrt(NOISE) * NOISE_VARIABLE

    def power(self, exponent: int) -> Any:
        """e to a power, averaged over the flip."""
        kept, turned = (self.residual(flip) ** exponent for flip in (1, -1))
        return (1 - self.flips) * kept + self.flips * turned

    def expectation(self, integrand: Any, *more: sympy.Symbol) -> Any:
        """Over g, h, the label noise, what is drawn and the variables given."""
        drawn = (DRAWN_VARIABLE,) if self.drawn else ()
        return Expectation(integrand, *self.variables, *self.others, NOISE_VARIABLE, *drawn, *more)

    def link_nodes(self, link: IndexFunction) -> tuple[Any, tuple[Any, ...], Any]:
        """E f, E g_i f for every index, E f^2 of f = sigma_star(s g): all that the labels' moments need."""
        value = link.at(*(self.scale * g for g in self.variables))
        linear = tuple(Expectation(g * value, *self.variables) for g in self.variables)
        return Expectation(value, *self.variables), linear, Expectation(value**2, *self.variables)


def record_residual_moments(recorder: Recorder, channel: Channel) -> None:
    """Derive E e t_i for every index, E e^2 and E e of the residual e, in terms of expectations of sigma_star."""
    _record_residual(recorder, channel)
    for t, suffix in zip(channel.overlaps, suffixes(channel.indices), strict=True):
        linear = _average(channel, 1, t, "linearity: noise and constants have no overlap with $\\theta$")
        recorder.derive(f"overlap with the target{suffix}", None, linear, _SOURCE)
    square = _average(channel, 2, 1, "independence of the label noise")
    recorder.derive("residual variance", None, square, _SOURCE)
    recorder.derive("mean residual", None, _average(channel, 1, 1, "linearity"), _SOURCE)


def _average(channel: Channel, power: int, weight: Any, rule: str) -> Operation:
    """E[e^power weight] over label and noise, in moments of sigma_star."""

    def node(residual: Any) -> Any:
        kept, turned = (_rotated(channel, residual).subs(FLIP, sign) ** power for sign in (1, -1))
        return channel.expectation(((1 - channel.flips) * kept + channel.flips * turned) * weight)

    return computed("average", rule, "residual", by=lambda residual: evaluated(node(residual)), before=node)


def _rotated(channel: Channel, residual: Any) -> Any:
    """The residual in the variables g of the channel: t + sqrt(probit) n = scale g."""
    places = zip(numbered("t", channel.indices), channel.variables, strict=True)
    others = numbered("n", channel.indices) if channel.probit != 0 else ()
    gone = dict.fromkeys(others, sympy.S.Zero)
    return residual.subs(gone).subs({t: channel.scale * g for t, g in places}, simultaneous=True)


def _record_residual(recorder: Recorder, channel: Channel) -> None:
    t = numbered("t", channel.indices)
    n = numbered("n", channel.indices) if channel.probit != 0 else (0,) * channel.indices
    root = sympy.sqrt(channel.probit)
    flip = FLIP if channel.flips != 0 else 1
    rule = " with $t=\\theta\\cdot x$"
    if channel.flips != 0:
        rule += ", where $\\varphi=-1$ with the probability of a flip and $\\varphi=1$ otherwise"
    if channel.drawn:
        rule += "; given it the label has the mean $\\sigma_\\star$ and the variance $v_\\star$"
    label = channel.label(flip, *(one + root * other for one, other in zip(t, n, strict=True)))
    recorder.given("label", sympy.Symbol("y"), label, "the label of a sample" + rule, "[GER20]")
    recorder.derive(
        "residual",
        sympy.Symbol("e"),
        computed(
            "subtract",
            "the label minus the output at initialisation",
            "label",
            "network at initialisation",
            by=lambda y, _: y - UBAR * MU0,
            test=equal(lambda y, output: y - output),
        ),
        _SOURCE,
    )
    if channel.probit == 0:
        return
    g, h = channel.variables[0], channel.others[0]
    inside = t[0] + root * n[0]
    recorder.define("overlap inside the link", sympy.Symbol("h_0"), inside, "the argument of the link, with its noise")
    recorder.derive(
        "rotation of the noise inside the link",
        None,
        computed(
            "rotate",
            "the rotation $t=(g+\\tau h)/\\sqrt{1+\\tau^2}$, $n=(\\tau g-h)/\\sqrt{1+\\tau^2}$ of independent "
            "standard normals ($\\tau^2$ the variance of this noise), the same for every index",
            "overlap inside the link",
            before=lambda body: _turned(channel, body, t[0], n[0], g, h),
            by=lambda body: sympy.radsimp(sympy.simplify(_turned(channel, body, t[0], n[0], g, h))),
        ),
        "[GER20]",
    )


def _turned(channel: Channel, body: Any, t: Any, n: Any, g: Any, h: Any) -> Any:
    root = sympy.sqrt(channel.probit)
    return body.subs({t: channel.overlaps[0], n: (root * g - h) / channel.scale}, simultaneous=True)


def suffixes(count: int) -> Sequence[str]:
    """What tells the steps of several indices apart."""
    return ("",) if count == 1 else tuple(f" {i + 1}" for i in range(count))


def evaluated(node: Any) -> Any:
    """Linear parts apart, and the moments of the variables themselves carried out."""
    expanded = sympy.expand(node)
    nodes = sorted(expanded.atoms(Expectation), key=sympy.default_sort_key)
    return sympy.expand(expanded.xreplace({e: close(e)[0] for e in nodes}))
