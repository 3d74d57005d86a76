"""The text of a module of a system around its functions: what it holds, what it was made from."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from functools import lru_cache

import sympy as sp

from codegen.lower.text import WIDTH, words, wrapped
from codegen.manifest import runtime_sources, signature, sources_of
from derive.saddle import SaddleSystem

FOLDER = "systems"
_USED = (
    "array_certificate.py",
    "array_steps.py",
    "certificate.py",
    "compiling.py",
    "conjugate_residuals.py",
    "contractions.py",
    "tangents.py",
    "unknowns.py",
)  # of the runtime, by systems


def of_spike(spikes: int) -> str:
    """What the title of a module says of the rank of the spike."""
    return f"spike of rank {spikes}, " if spikes > 1 else ""


def module_text(system: SaddleSystem, title: str, order: Sequence[str], body: str, emitter: str) -> str:
    """Text of a module; order: of computation, in lines of words; emitter: name of the module that wrote the body."""
    canonical = [sp.srepr(equation.body) for equation in system.equations]
    canonical += [sp.srepr(definition.body) for definition in system.fields]
    signed = signature([title, *canonical, *sources_of(emitter)])
    numpy = "import numpy as np\n\n" if "np" in words(body.splitlines()) else ""
    head = f'''{opening(f"Saddle-point equations {title}")}
[CUI24, Result 3.3, App. C; THEORY section 4].

Order of computation, found from the derived system:
{chr(10).join(_prose(line) for line in order)}
A comment behind a line names the step of the derivation that fixes the unknown (d/dX: stationarity of the free energy
in X). Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
{numpy}{runtime_imports(body)}

LOSS = "{system.name}"
SIGNATURE = "{signed}"
'''
    return "\n".join(wrapped([*head.splitlines(), "", "", *body.splitlines()])) + "\n"


def opening(title: str) -> str:
    """The title that a module begins with, on as many lines as it takes."""
    return "\n".join(textwrap.wrap(f'"""{title}', WIDTH))


def runtime_imports(body: str) -> str:
    """The imports of what a body uses of the runtime."""
    used, lines = words(body.splitlines()) - _public(body), []
    for file, text in runtime_sources().items():
        names = ", ".join(sorted(used & _public(text), key=lambda name: (not name.isupper(), name)))
        line = f"from generated.runtime.{file.removesuffix('.py')} import "
        if file in _USED and names:
            lines.append(line + (names if len(line + names) <= WIDTH else f"({names})"))
    return "\n".join(lines)


@lru_cache(maxsize=128)
def _public(text: str) -> frozenset[str]:
    """Names that a module defines."""
    nodes = ast.parse(text).body
    defined = [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return frozenset(
        {*defined, *(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))}
    )


def _prose(line: str) -> str:
    """A line of words, on as many lines as it takes."""
    return "\n".join(textwrap.wrap(line, WIDTH, initial_indent="    ", subsequent_indent="       "))
