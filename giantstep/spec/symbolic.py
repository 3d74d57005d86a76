"""Functions given as SymPy expressions or as callables, in place of text: what they are as text of the grammar.

SymPy is loaded only where such a function is given.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from derive.language.grammar import FUNCTIONS, ExpressionError, shorten
from derive.language.links import VARIABLES as INDICES
from giantstep.spec.errors import BadInput

_EXAMPLE = "build it of SymPy's functions, as lambda {names}: {body}"
_BODIES = {("z",): "z*sympy.tanh(z)", ("y", "f"): "sympy.log(sympy.cosh(y - f))"}
#: Functions of NumPy, SciPy and math whose names differ from those of the grammar.
_SAME = {"absolute": "abs", "fabs": "abs", "expit": "sigmoid", "ndtr": "Phi", "atan": "arctan"}


def as_text(key: str, value: object, variables: tuple[str, ...]) -> object:
    """The text of a SymPy expression or of a callable; anything else as it is. Raises BadInput.

    variables: ("z",), ("y", "f"), or () for a link, whose variables are z, or z1, z2, ... for several indices.
    """
    known = _known_function(value)
    if known:
        return known
    symbolic = _is_symbolic(value)
    if not symbolic and not (callable(value) and _is_function(value)):
        return value
    from derive.from_sympy import text_of  # loads SymPy

    try:
        names = variables or _indices(value, symbolic)
        expression = _with_names(value, names) if symbolic else _called(value, names)  # type: ignore[arg-type]
        return text_of(expression, names)
    except ExpressionError as error:
        raise BadInput(f"{key}: {error.message}", error.hint) from None


def _known_function(value: object) -> str:
    """The name in the grammar of a function of NumPy, SciPy or math, or an empty text."""
    if not isinstance(value, np.ufunc) and getattr(value, "__module__", None) != "math":
        return ""
    name = str(getattr(value, "__name__", ""))
    name = _SAME.get(name, name)
    return f"{name}(z)" if FUNCTIONS.get(name) == 1 else ""


def _is_symbolic(value: object) -> bool:
    sympy = sys.modules.get("sympy")  # without it there is no such object
    return sympy is not None and isinstance(value, sympy.Basic)


def _is_function(value: object) -> bool:
    """Whether it is called with symbols: no class but SymPy's own functions."""
    sympy = sys.modules.get("sympy")
    return not isinstance(value, type) or sympy is not None and isinstance(value, sympy.FunctionClass)


def _indices(value: Any, symbolic: bool) -> tuple[str, ...]:
    """The variables of a link: z, or z1 to zk."""
    if not symbolic:
        count = _arguments(value)
        if count > len(INDICES):
            raise ExpressionError(
                f"{shorten(value)} takes {count} arguments", f"there are at most {len(INDICES)} indices"
            )
        return ("z",) if count == 1 else INDICES[:count]
    return INDICES if any(re.fullmatch(r"z\d", symbol.name) for symbol in value.free_symbols) else ("z",)


def _arguments(value: Callable[..., object]) -> int:
    """How many arguments a function needs; one where it does not say."""
    if isinstance(value, type):
        return 1
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return max(1, sum(p.kind in positional and p.default is p.empty for p in parameters))


def _with_names(expression: Any, names: tuple[str, ...]) -> Any:
    """An expression whose symbols have these names; a single one of any name is z."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: str(symbol.name))
    if names == ("z",) and len(symbols) == 1:
        return expression.xreplace({symbols[0]: type(symbols[0])("z")})
    foreign = [symbol.name for symbol in symbols if symbol.name not in names]
    if foreign:
        raise ExpressionError(
            f"the expression {shorten(str(expression))} holds the symbol {foreign[0]}",
            f"its symbols are {'z, or z1, z2, ... of several indices' if 'z' in names else ', '.join(names)}",
        )
    return expression


def _called(function: Callable[..., object], names: tuple[str, ...]) -> Any:
    """What a function returns for real symbols of these names."""
    import sympy

    hint = _EXAMPLE.format(names=", ".join(names), body=_BODIES.get(names, "sympy.sign(z1*z2)"))
    try:
        found = function(*(sympy.Symbol(name, real=True) for name in names))
        return sympy.sympify(found, strict=True)
    except (TypeError, ValueError, AttributeError, ArithmeticError, sympy.SympifyError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ExpressionError(f"{shorten(function)} gives no SymPy expression: {reason}", hint) from None
