"""What a language says for each thing that equations are made of, and functions written in any of them.

Who assembles a module names functions and their equations; how these read is the printer's business alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sympy as sp

from codegen.text import fitted
from derive.blocks import BlockSum
from derive.gaussian.expectation import Expectation


class Unprintable(ValueError):
    """An expression holds something that has no text in the target language."""


class Printer(Protocol):
    """One language. Whatever it has no text for raises Unprintable."""

    def expression(self, expr: Any) -> str:
        """Text of an expression."""

    def member(self, name: str, indices: Sequence[sp.Expr]) -> str:
        """Text of a member of an indexed family, as T[b]."""

    def block_sum(self, node: BlockSum) -> str:
        """Text of a sum over an index."""

    def average(self, node: Expectation) -> str:
        """Text of a Gaussian average."""

    def assignments(self, targets: Sequence[tuple[str, Any]]) -> list[str]:
        """Statements after which each target has the value of its expression; what they share comes first."""


@dataclass(frozen=True)
class Function:
    """A function of a module: its name, what it says of itself, arguments, and results by name in order."""

    name: str
    doc: str
    arguments: str
    results: Sequence[tuple[str, Any]]
    returned: str = ""  # all results where it is left out
    unpacked: str = ""  # names of the entries of the last argument

    def text(self, printer: Printer) -> str:
        """The function in a language."""
        returned = self.returned or ", ".join(name for name, _ in self.results)
        before = [f"{self.unpacked} = {self.arguments.split(', ')[-1]}"] if self.unpacked else []
        lines = [*before, *printer.assignments(self.results), f"return {returned}"]
        head = [f"def {self.name}({self.arguments}):", f'    """{self.doc}"""']
        return "\n".join([*head, *fitted(lines, "    ")])


def texts(functions: Iterable[Function], printer: Printer) -> str:
    """Functions as they follow each other in a module."""
    return "\n\n\n".join(function.text(printer) for function in functions)
