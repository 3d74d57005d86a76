"""Values of constant expressions: one double-precision operation at a time, refusing what is not finite."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType


class NotFinite(ArithmeticError):
    """An operation on constants whose result is not a finite real number."""


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def hermite(degree: int, x: float) -> float:
    """Probabilists' Hermite polynomial He_k(x), leading coefficient 1, by its three-term recurrence."""
    previous, current = 0.0, 1.0
    for k in range(degree):
        previous, current = current, x * current - k * previous
    return current


_OPERATIONS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "neg": lambda x: -x,
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "pow": math.pow,
        "exp": math.exp,
        "log": math.log,
        "sqrt": math.sqrt,
        "sin": math.sin,
        "cos": math.cos,
        "sinh": math.sinh,
        "cosh": math.cosh,
        "tanh": math.tanh,
        "arctan": math.atan,
        "erf": math.erf,
        "erfc": math.erfc,
        "Phi": lambda x: 0.5 * math.erfc(-x / math.sqrt(2.0)),
        "sign": lambda x: float((x > 0) - (x < 0)),
        "step": lambda x: 0.5 * (1 + (x > 0) - (x < 0)),
        "abs": abs,
        "relu": lambda x: max(x, 0.0),
        "sigmoid": _sigmoid,
        "softplus": lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
        "max": max,
        "min": min,
        "clip": lambda x, low, high: min(max(x, low), high),
        "He": lambda degree, x: hermite(int(degree), x),
    }
)


def fold(op: str, value: object, arguments: Sequence[float]) -> float:
    """Value of one node (``op`` and ``value`` as in ``derive.language.grammar.Node``) given those of its arguments.

    Raises NotFinite where the result is not a finite real number, for example ``log(-1)`` or ``1/0``.
    """
    try:
        if isinstance(value, Fraction):
            result = float(value)
        elif op == "constant":
            result = math.pi if value == "pi" else math.e
        else:
            result = float(_OPERATIONS[str(value) if op == "call" else op](*arguments))
    except (ArithmeticError, ValueError):
        raise NotFinite(op) from None
    if not math.isfinite(result):
        raise NotFinite(op)
    return result
