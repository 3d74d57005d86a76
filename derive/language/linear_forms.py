"""The linear forms of its indices that a link is a function of, and the link in other variables.

``relu(z1 + z2 + z3)*(z1 - z2)`` knows z1 + z2 + z3 and z1 - z2. The linear part of a sum is one form, whatever it is
added to. Standard library only: solving needs the tree, not the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from derive.language.grammar import Node, constant_value

Form = Mapping[str, float]
_SCALE_FREE = ("sign", "step")


@dataclass(frozen=True)
class _Affine:
    """constant + sum form[name] name."""

    form: Form
    constant: float

    def plus(self, other: _Affine, sign: float = 1.0) -> _Affine:
        """The sum with another one, or the difference."""
        names = dict.fromkeys((*self.form, *other.form))
        form = {name: self.form.get(name, 0.0) + sign * other.form.get(name, 0.0) for name in names}
        return _Affine(form, self.constant + sign * other.constant)

    def times(self, factor: float) -> _Affine:
        """A multiple."""
        return _Affine({name: factor * slope for name, slope in self.form.items()}, factor * self.constant)


def forms_of(node: Node) -> list[Form]:
    """The linear forms of a tree, those inside of functions first."""
    found = sorted(_forms(node, 0), key=lambda each: -each[0])
    return [form for _, form in found]


def is_of_difference(node: Node, first: str, second: str) -> bool:
    """Whether a tree knows two variables by their difference only, as it is written."""
    pairs = [{name: form[name] for name in form if form[name] != 0.0} for form in forms_of(node)]
    return all(form.keys() == {first, second} and form[first] == -form[second] for form in pairs)


def in_forms(node: Node, written: Callable[[Form, float, bool], Node]) -> Node:
    """The tree with ``written(form, constant, free)`` in the place of the affine parts that ``forms_of`` tells; free:
    whether any positive multiple will do, as in a sign.
    """
    part = _affine(node)
    if part is not None:
        return written(part.form, part.constant, False) if any(part.form.values()) else node
    if node.op == "call" and node.value in _SCALE_FREE and (inside := _affine(node.args[0])) is not None:
        return Node("call", (written(inside.form, inside.constant, True),), node.value)
    if node.op not in ("add", "sub"):
        return Node(node.op, tuple(in_forms(argument, written) for argument in node.args), node.value)
    straight, others = _parted(node)
    present = any(straight.form.values()) or straight.constant != 0.0
    total = written(straight.form, straight.constant, False) if present else None
    for term, sign in others:
        turned = in_forms(term, written)
        if total is None:
            total = turned if sign > 0.0 else Node("neg", (turned,))
        else:
            total = Node("add" if sign > 0.0 else "sub", (total, turned))
    assert total is not None  # a sum of straight terms alone is affine
    return total


def _forms(node: Node, depth: int) -> Iterator[tuple[int, Form]]:
    part = _affine(node)
    if part is not None:
        if any(part.form.values()):
            yield depth, part.form
        return
    if node.op in ("add", "sub"):
        straight, others = _parted(node)
        if any(straight.form.values()):
            yield depth, straight.form
        for term, _ in others:
            yield from _forms(term, depth)
        return
    for argument in node.args:
        yield from _forms(argument, depth + (node.op == "call"))


def _parted(node: Node) -> tuple[_Affine, list[tuple[Node, float]]]:
    """The straight part of a sum, and its other terms with their signs."""
    if node.op in ("add", "sub") and _affine(node) is None:
        left, right = _parted(node.args[0]), _parted(node.args[1])
        sign = 1.0 if node.op == "add" else -1.0
        return left[0].plus(right[0], sign), [*left[1], *((term, sign * each) for term, each in right[1])]
    part = _affine(node)
    return (part, []) if part is not None else (_Affine({}, 0.0), [(node, 1.0)])


def _affine(node: Node) -> _Affine | None:
    """A tree as an affine function; None where it is none."""
    constant = constant_value(node)
    if constant is not None:
        return _Affine({}, constant)
    if node.op == "variable":
        return _Affine({str(node.value): 1.0}, 0.0)
    if node.op == "call":
        return None
    parts = [_affine(argument) for argument in node.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if node.op == "neg":
        return known[0].times(-1.0)
    if node.op in ("add", "sub"):
        return known[0].plus(known[1], 1.0 if node.op == "add" else -1.0)
    numbers = [constant_value(argument) for argument in node.args]
    if node.op == "mul" and (numbers[0] is not None or numbers[1] is not None):
        return known[1].times(numbers[0]) if numbers[0] is not None else known[0].times(float(numbers[1] or 0.0))
    if node.op == "div" and numbers[1]:
        return known[0].times(1.0 / numbers[1])
    return known[0] if node.op == "pow" and numbers[1] == 1.0 else None
