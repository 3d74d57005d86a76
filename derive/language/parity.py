"""Whether an expression is even or odd under a change of the sign of all its variables, read from its tree."""

from math import prod

from derive.language.grammar import Node, constant_value

_ODD = frozenset({"sign", "tanh", "arctan", "erf", "sin", "sinh"})
_EVEN = frozenset({"abs", "cos", "cosh"})


def parity(node: Node) -> int | None:
    """1 of an even expression, -1 of an odd one (away from its jumps), None where the tree does not show either."""
    if node.op == "variable":
        return -1
    if constant_value(node) is not None:
        return 1
    known = [parity(argument) for argument in node.args]
    parts = [part for part in known if part is not None]
    if len(parts) == len(known) and all(part == 1 for part in parts):
        return 1
    if node.op == "call" and node.value == "He":
        return parts[-1] ** int(constant_value(node.args[0]) or 0) if len(parts) == 2 else None
    if len(parts) < len(known):
        return None
    if node.op == "call" and node.value == "clip":
        low, high = (constant_value(end) for end in node.args[1:])
        return parts[0] if low is not None and high is not None and low == -high else None
    if node.op in ("add", "sub"):
        return parts[0] if parts[0] == parts[1] else None
    if node.op in ("mul", "div", "neg"):
        return prod(parts)
    if node.op == "pow":
        power = constant_value(node.args[1])
        return (-1) ** int(power) if power is not None and power == int(power) else None
    return -1 if node.value in _ODD else 1 if node.value in _EVEN else None
