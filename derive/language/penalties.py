"""Registered penalties on the readout, one entry each: a convex expression in a readout a and its own parameters.

A penalty is a loss of the residual f - y at the label 0: its pieces, proximal map and averages are those of that loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from derive.language.catalogue import latex
from derive.language.constants import NotFinite
from derive.language.grammar import (
    CONSTANTS,
    ExpressionError,
    Node,
    canonical,
    did_you_mean,
    parse,
    shorten,
)
from derive.language.loss_catalogue import LossEntry, ParameterEntry, value_at
from derive.language.loss_catalogue import lookup as lookup_loss
from derive.language.substitution import substituted

VARIABLES = ("a",)


@dataclass(frozen=True)
class PenaltyEntry:
    """A penalty: ``name`` (safe as a file name), ``expression`` in a and the parameters, source and LaTeX.

    loss: the loss of f - y that it is at the label 0; even: whether it is the same for a and -a.
    """

    name: str
    expression: str
    citation: str
    latex: str
    parameters: tuple[ParameterEntry, ...]
    loss: LossEntry
    even: bool


_L1 = ParameterEntry("l1", 0.1, 0.0, math.inf, reaches_low=True)
_BOUND = ParameterEntry("bound", 1.0, 0.0, math.inf)
#: Slope beyond a bound: an exact penalty, whose minimiser is that of the bound, where no force on a readout reaches it.
_STEEPNESS = ParameterEntry("steepness", 1e6, 0.0, math.inf)


def is_bound(parameter: ParameterEntry, value: float) -> bool:
    """Whether a parameter at a value is the slope beyond a bound that no force on a readout reaches."""
    return parameter is _STEEPNESS and value >= _STEEPNESS.default


def _entry(name: str, expression: str, citation: str, parameters: tuple[ParameterEntry, ...]) -> PenaltyEntry:
    names = tuple(parameter.name for parameter in parameters)
    node = parse(expression, VARIABLES + names)
    loss = LossEntry(f"penalty_{name}", _of_residual(node), "residual", citation, latex(node), parameters)
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return PenaltyEntry(name, expression, citation, latex(node), parameters, loss, _is_even(node, defaults))


def _of_residual(node: Node) -> str:
    """The text of a penalty with f - y in the place of a."""
    residual = Node("sub", (Node("variable", value="f"), Node("variable", value="y")))
    return canonical(substituted(node, {"a": residual}))


# readouts of generic position: a penalty that is the same at a and -a there is even. What a convex one adds beyond a
# threshold on one side is seen far out
_PLACES = (0.217, 0.643, 1.1873, 2.7183, 5.4321, 17.93, 97.31, 1213.7, 22039.0)
_ROUNDING = 1e-9


def _is_even(node: Node, parameters: Mapping[str, float] = MappingProxyType({})) -> bool:
    pairs = []
    for a in _PLACES:
        with suppress(NotFinite):
            pairs.append([value_at(node, {**parameters, "a": sign * a}) for sign in (1.0, -1.0)])
    if not pairs:
        raise ExpressionError("the penalty is not finite for ordinary readouts", "a penalty is finite for every a")
    return all(abs(right - left) <= _ROUNDING * (1.0 + abs(right)) for right, left in pairs)


REGISTERED: Mapping[str, PenaltyEntry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            _entry("elastic_net", "l1*abs(a)", "Tibshirani 1996; Zou & Hastie 2005, JRSS B 67, 301", (_L1,)),
            _entry("non_negative", "steepness*max(0,-a)", "Lawson & Hanson 1974, ch. 23", (_STEEPNESS,)),
            _entry(
                "box",
                "steepness*max(0,abs(a)-bound)",
                "Stark & Parker 1995, Comput. Stat. 10, 129",
                (_BOUND, _STEEPNESS),
            ),
        )
    }
)
_ALIASES: Mapping[str, str] = MappingProxyType({"l1": "elastic_net", "lasso": "elastic_net"})
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("elasticnet", "absolute"), "elastic_net"),
        **dict.fromkeys(("nonnegative", "positive", "nnls"), "non_negative"),
        **dict.fromkeys(("linf", "bounded", "clip"), "box"),
    }
)


@lru_cache(maxsize=256)
def lookup(text: str) -> PenaltyEntry:
    """The entry of a registered name or of an expression in a.

    Raises ExpressionError for a name that is not registered, a text that does not parse, and an expression without a.
    """
    name = text.strip() if isinstance(text, str) else ""
    name = _ALIASES.get(name, name)
    if name in REGISTERED:
        return REGISTERED[name]
    if name.isascii() and name.isidentifier() and name not in VARIABLES + CONSTANTS:
        nearest = _OTHER_NAMES.get(name.lower(), "")
        meant = f"did you mean '{nearest}'? " if nearest else did_you_mean(name, tuple(REGISTERED))
        raise ExpressionError(
            f"{shorten(name)} is not a registered penalty",
            f"{meant}registered are {', '.join(REGISTERED)}; "
            'or write a convex expression in a, for example "0.1*abs(a)"; a ridge is fit.ridge',
        )
    node = parse(text, VARIABLES)
    try:
        loss = lookup_loss(_of_residual(node))
    except ExpressionError:
        raise ExpressionError(
            f"the penalty {shorten(canonical(node))} does not depend on the readout a",
            'give a convex expression in a, for example "0.1*abs(a)"',
        ) from None
    expression = canonical(node)
    entry = PenaltyEntry(loss.name, expression, "expression given by the user", latex(node), (), loss, _is_even(node))
    return replace(entry, name=f"user_{loss.name.removeprefix('user_')}")
