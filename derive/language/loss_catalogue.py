"""Registered losses, one entry each: an expression in the label y, the output f and the loss's own parameters.

Adding one is adding one entry: breakpoints, convexity, proximal map and kernels are derived from its expression.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from derive.language.catalogue import latex
from derive.language.constants import NotFinite, fold
from derive.language.grammar import (
    CONSTANTS,
    ExpressionError,
    Node,
    canonical,
    did_you_mean,
    parse,
    shorten,
)

Form = Literal["residual", "margin", "general"]

VARIABLES = ("y", "f")
_OUTPUT, _SIGN = "f", "sign(f)"  # what outputs of regression and of margins predict


@dataclass(frozen=True)
class ParameterEntry:
    """A parameter of a loss: its name in the expression, its default and the open interval it lies in.

    reaches_low: whether the lower end belongs to it; at_low: what to take in place of that end where it does not.
    """

    name: str
    default: float
    low: float
    high: float
    reaches_low: bool = False
    at_low: str = ""


@dataclass(frozen=True)
class LossEntry:
    """A loss: ``name`` (safe as a file name), ``expression`` in y, f and the parameters, source and LaTeX.

    form: "residual" for a function of f - y, "margin" for a function of y f (labels +-1), "general" otherwise.
    error_scale turns the mean loss into the reported training error. ``aliases``: other texts for
    the same loss, with parameters at their defaults.
    predicts: the mean label that an output stands for, in f and the parameters; f itself, or of a margin sign(f), where
    left out. The test error judges it. least, most: the range of the labels that it is a likelihood of, numbers or the
    name of a parameter.
    """

    name: str
    expression: str
    form: Form
    citation: str
    latex: str
    parameters: tuple[ParameterEntry, ...] = ()
    error_scale: int = 1
    aliases: tuple[str, ...] = ()
    predicts: str = ""
    least: float = -math.inf
    most: float | str = math.inf

    def __post_init__(self) -> None:
        if not self.predicts:
            object.__setattr__(self, "predicts", _SIGN if self.form == "margin" else _OUTPUT)

    @property
    def predicts_mean(self) -> bool:
        """Whether the output is on another scale than the label, whose mean is a function of it."""
        return self.predicts not in (_OUTPUT, _SIGN)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names that may stand in the expression."""
        return VARIABLES + tuple(parameter.name for parameter in self.parameters)


_DELTA = ParameterEntry("delta", 1.0, 0.0, math.inf)
_TAU = ParameterEntry("tau", 0.5, 0.0, 1.0)
_EPSILON = ParameterEntry("epsilon", 0.1, 0.0, math.inf, at_low='with epsilon = 0 it is loss = "absolute": take that')
_TRIALS = ParameterEntry("trials", 1.0, 0.0, math.inf)

_ENTRIES = (
    LossEntry(
        "square",
        "(y-f)**2/2",
        "residual",
        "[CUI24] eq. (3); Legendre 1805; Gauss 1809",
        r"\tfrac12 (y - f)^2",
        error_scale=2,
        aliases=("(f-y)**2/2", "0.5*(y-f)**2", "0.5*(f-y)**2", "(1/2)*(y-f)**2"),
    ),
    LossEntry(
        "logistic",
        "log(1+exp(-y*f))",
        "margin",
        "[GER20]; Cox 1958, J. R. Stat. Soc. B 20, 215",
        r"\log(1 + e^{-y f})",
        aliases=("softplus(-y*f)", "log(1+exp(-f*y))", "log(exp(-y*f)+1)", "-log(sigmoid(y*f))"),
    ),
    LossEntry(
        "hinge",
        "max(0,1-y*f)",
        "margin",
        "[GER20]; Cortes & Vapnik 1995, Mach. Learn. 20, 273",
        r"\max(0, 1 - y f)",
        aliases=("max(0,1-f*y)", "max(1-y*f,0)", "relu(1-y*f)"),
    ),
    LossEntry(
        "squared_hinge",
        "max(0,1-y*f)**2/2",
        "margin",
        "Cortes & Vapnik 1995, Mach. Learn. 20, 273",
        r"\tfrac12 \max(0, 1 - y f)^2",
        aliases=("max(1-y*f,0)**2/2", "relu(1-y*f)**2/2", "0.5*max(0,1-y*f)**2"),
    ),
    LossEntry(
        "smoothed_hinge",
        "min(max(0,1-y*f),delta)*(max(0,1-y*f)-min(max(0,1-y*f),delta)/2)/delta",
        "margin",
        "Rennie & Srebro 2005, IJCAI workshop, delta = 1; Shalev-Shwartz & Zhang 2013, JMLR 14, 567",
        r"\min(s, \delta)\,\bigl(s - \tfrac12 \min(s, \delta)\bigr)/\delta,\ s = \max(0, 1 - y f)",
        parameters=(_DELTA,),
    ),
    LossEntry(
        "exponential",
        "exp(-y*f)",
        "margin",
        "Freund & Schapire 1997, J. Comput. Syst. Sci. 55, 119",
        r"e^{-y f}",
        aliases=("exp(-f*y)",),
    ),
    LossEntry(
        "probit",
        "-log(Phi(y*f))",
        "margin",
        "Bliss 1934, Science 79, 38",
        r"-\log \Phi(y f)",
        aliases=("-log(Phi(f*y))",),
    ),
    LossEntry(
        "absolute",
        "abs(y-f)",
        "residual",
        "Boscovich 1757; Laplace 1793; Bloomfield & Steiger 1983",
        r"\lvert y - f \rvert",
        aliases=("abs(f-y)",),
    ),
    LossEntry(
        "quantile",
        "max(tau*(y-f),(tau-1)*(y-f))",
        "residual",
        "Koenker & Bassett 1978, Econometrica 46, 33",
        r"\max\bigl(\tau (y - f), (\tau - 1)(y - f)\bigr)",
        parameters=(_TAU,),
    ),
    LossEntry(
        "huber",
        "min(abs(y-f),delta)*(abs(y-f)-min(abs(y-f),delta)/2)",
        "residual",
        "Huber 1964, Ann. Math. Stat. 35, 73",
        r"\min(s, \delta)\,\bigl(s - \tfrac12 \min(s, \delta)\bigr),\ s = \lvert y - f \rvert",
        parameters=(_DELTA,),
    ),
    LossEntry(
        "log_cosh",
        "log(cosh(y-f))",
        "residual",
        "Green 1990, IEEE Trans. Med. Imaging 9, 84",
        r"\log \cosh(y - f)",
        aliases=("log(cosh(f-y))",),
    ),
    LossEntry(
        "epsilon_insensitive",
        "max(0,abs(y-f)-epsilon)",
        "residual",
        "Vapnik 1995, The Nature of Statistical Learning Theory",
        r"\max(0, \lvert y - f \rvert - \epsilon)",
        parameters=(_EPSILON,),
    ),
    LossEntry(
        "poisson",
        "exp(f)-y*f",
        "general",
        "Nelder & Wedderburn 1972, J. R. Stat. Soc. A 135, 370; McCullagh & Nelder 1989, section 6.2",
        r"e^{f} - y f",
        aliases=("exp(f)-f*y",),
        predicts="exp(f)",
        least=0.0,
    ),
    LossEntry(
        "binomial",
        "trials*softplus(f)-y*f",
        "general",
        "Nelder & Wedderburn 1972, J. R. Stat. Soc. A 135, 370; McCullagh & Nelder 1989, section 4.3",
        r"N \log(1 + e^{f}) - y f",
        parameters=(_TRIALS,),
        aliases=("softplus(f)-y*f", "softplus(f)-f*y", "log(1+exp(f))-y*f", "log(1+exp(f))-f*y", "log(exp(f)+1)-y*f"),
        predicts="trials*sigmoid(f)",
        least=0.0,
        most="trials",
    ),
)

#: Losses that are not registered and that an expression gives, in small letters and without underscores.
_EXPRESSIONS: Mapping[str, str] = MappingProxyType(
    {
        "pseudohuber": "sqrt(1 + (y - f)**2) - 1",
        "charbonnier": "sqrt(1 + (y - f)**2)",
        "quartic": "(y - f)**4",
    }
)

#: Registered name -> entry.
REGISTERED: Mapping[str, LossEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})


@lru_cache(maxsize=1)
def _by_text() -> Mapping[str, LossEntry]:
    """Registered losses by their expressions, which take longer to read than a loss that is given by its name."""
    known = {}
    for entry in _ENTRIES:
        for text in entry.aliases if entry.parameters else (entry.expression, *entry.aliases):
            known[canonical(parse(text, VARIABLES))] = entry
    return MappingProxyType(known)


_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("l2", "mse", "least_squares", "ridge", "squared", "quadratic"), "square"),
        **dict.fromkeys(("l1", "mae", "lad", "laplace"), "absolute"),
        **dict.fromkeys(("pinball", "check"), "quantile"),
        **dict.fromkeys(("cross_entropy", "bce", "log_loss", "deviance", "sigmoid"), "logistic"),
        **dict.fromkeys(("svm", "svc", "perceptron"), "hinge"),
        **dict.fromkeys(("svr",), "epsilon_insensitive"),
        **dict.fromkeys(("adaboost", "exp"), "exponential"),
    }
)


def lookup(text: str) -> LossEntry:
    """The entry of a registered name or of an expression in y and f.

    An expression equal to a registered one (or to one of its aliases), spaces and parentheses aside, gives the
    registered entry; any other is named ``user_`` and 16 hexadecimal digits of the sha256 of its canonical text.
    Raises ExpressionError for a name that is not registered, a text that does not parse, and an expression
    without y or without f.
    """
    name = text.strip() if isinstance(text, str) else ""
    if name in REGISTERED:
        return REGISTERED[name]
    if name.isascii() and name.isidentifier() and name not in VARIABLES + CONSTANTS:
        nearest = _OTHER_NAMES.get(name.lower(), "")
        meant = f"did you mean '{nearest}'? " if nearest else did_you_mean(name, tuple(REGISTERED))
        expression = _EXPRESSIONS.get(name.lower().replace("_", ""))
        if expression is not None:
            meant = f'write "{expression}"; '
        raise ExpressionError(
            f"{shorten(name)} is not a registered loss",
            f"{meant}registered are {', '.join(REGISTERED)}; "
            'or write an expression in y and f, for example "log(cosh(y - f))"',
        )
    called = REGISTERED.get(name.partition("(")[0].strip())
    if called:
        values = "".join(f", {parameter.name} = {parameter.default}" for parameter in called.parameters)
        raise ExpressionError(
            f"the loss {shorten(name)} calls a registered loss like a function",
            f'write loss = {{ name = "{called.name}"{values} }}',
        )
    node = parse(text, VARIABLES)
    written = canonical(node)
    if (known := _by_text().get(written)) is not None:
        return known
    missing = [variable for variable in VARIABLES if variable not in _names(node)]
    if missing:
        raise ExpressionError(
            f"the loss {shorten(written)} does not depend on {' and '.join(missing)}",
            "a loss compares the label y with the output f, for example (y - f)**2/2 or log(1 + exp(-y*f))",
        )
    digest = hashlib.sha256(written.encode("ascii")).hexdigest()[:16]
    return LossEntry(f"user_{digest}", written, form_of(node), "expression given by the user", latex(node))


def _names(node: Node) -> frozenset[str]:
    own = {str(node.value)} if node.op == "variable" else set()
    return frozenset(own.union(*(_names(argument) for argument in node.args)))


# Points (y, f) and moves of generic position: an expression that is unchanged there is unchanged everywhere, but for
# terms below rounding; derive.loss.loss confirms the form symbolically. Those far out see what convex terms add beyond
# a threshold.
_POINTS = (
    (0.731, 0.217),
    (-1.187, 0.643),
    (1.9127, -0.5573),
    (-0.3319, -1.4142),
    (0.1571, 2.7183),
    (2.331, 1.117),
    (0.7132, 63.31),
    (-0.4177, -71.79),
    (61.97, 0.3149),
    (-57.13, -0.9371),
    (0.5537, 1213.7),
    (0.5537, -1213.7),
)
_MOVES = (0.6931, -1.2021, 2.6457, -0.0771)
_ROUNDING = 1e-9


def form_of(node: Node, parameters: Mapping[str, float] = MappingProxyType({})) -> Form:
    """Whether a tree in y and f depends on f - y alone, on y f alone, or neither; judged by its values.

    Parameters need numbers. An expression that cannot be evaluated is "general".
    """
    if _unchanged(node, parameters, lambda y, f, move: (y + move, f + move)):
        return "residual"
    if _unchanged(node, parameters, lambda y, f, move: (y * move, f / move)):
        return "margin"
    return "general"


def _unchanged(
    node: Node,
    parameters: Mapping[str, float],
    moved: Callable[[float, float, float], tuple[float, float]],
) -> bool:
    compared = 0
    for y, f in _POINTS:
        for move in _MOVES:
            other = moved(y, f, move)
            try:
                values = [value_at(node, {**parameters, "y": a, "f": b}) for a, b in ((y, f), other)]
            except NotFinite:
                continue
            if abs(values[0] - values[1]) > _ROUNDING * (1.0 + abs(values[0])):
                return False
            compared += 1
    return compared > len(_POINTS)


def value_at(node: Node, numbers: Mapping[str, float]) -> float:
    """The value of a tree at numbers for its variables. Raises NotFinite."""
    if node.op == "variable":
        return numbers[str(node.value)]
    if node.op == "number" and isinstance(node.value, Fraction):
        return float(node.value)
    return fold(node.op, node.value, [value_at(argument, numbers) for argument in node.args])
