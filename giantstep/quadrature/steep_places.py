"""Where a function of one variable turns sharply, and whether its slope may be infinite."""

from __future__ import annotations

from functools import lru_cache

from derive.language.catalogue import lookup
from derive.language.grammar import Node, constant_value, parse
from giantstep.spec.kernels import function_kernel

_WITHIN = 0.25  # of a deviation, where panels of two of them need not be halved


def has_root(node: Node) -> bool:
    """Whether a tree holds a root, a logarithm or a power that is no whole number, of what varies."""
    if constant_value(node) is not None:  # sqrt(2)
        return False
    exponent = constant_value(node.args[1]) if node.op == "pow" else None
    broken = exponent is not None and exponent != int(exponent)
    return broken or (node.op == "call" and node.value in ("sqrt", "log")) or any(map(has_root, node.args))


@lru_cache(maxsize=64)
def may_be_infinite(function: str) -> bool:
    """Whether slopes of a function may be infinite, at a breakpoint beside a root: nodes are gathered there."""
    return bool(len(function_kernel(function).BREAKPOINTS)) and has_root(parse(lookup(function).expression))


@lru_cache(maxsize=256)
def turns(function: str, deviation: float) -> tuple[float, ...]:
    """Places about where a function turns within a small part of a deviation, ever further apart."""
    found: list[float] = []
    for centre, width in function_kernel(function).FUNCTION.features:
        away = width
        while 0.0 < away < _WITHIN * deviation:
            found += [centre - away, centre + away]
            away *= 2.0
    return tuple(found)
