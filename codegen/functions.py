"""Emission of one self-contained numba module per scalar function: its values and its conditional
coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import sympy

from codegen.closed import closed_form
from codegen.hints import Hints, hints
from codegen.manifest import signature, source_parts
from codegen.printers import HELPERS, helpers_used, numba_assignments, operations
from codegen.segments import is_piecewise_linear, segment_constants
from codegen.stable import stabilised
from derive.coefficients import conditional_coefficients
from derive.language.catalogue import REGISTERED, Entry, lookup
from derive.scalar import ScalarFunction, scalar_function

#: Files of this package that decide the text.
SOURCES = (
    "closed.py",
    "functions.py",
    "hints.py",
    "printers.py",
    "segments.py",
    "stable.py",
    "templates/entry.py",
    "templates/piecewise.py",
    "templates/quadrature.py",
    "templates/smooth.py",
)
FOLDER = "functions"
_EXACT = ("closed", "piecewise")
_WORDS = {
    "closed": "closed forms",
    "piecewise": "truncated Gaussian moments",
    "near": "the trapezoid rule in g",
    "panels": "adaptive panels in g",
}
_MARKER = "# --- copied into the emitted modules from here ---\n"


@dataclass(frozen=True)
class FunctionModule:
    """An emitted module: `path` below `generated/`, `text`, and what its header says."""

    name: str
    path: str
    text: str
    signature: str
    closed: bool


def emit(function: str | Entry) -> FunctionModule:
    """The module of a registered name, an expression in z or a catalogue entry.

    Raises ExpressionError for a text that is no function, Unprintable for one that has no numba text.
    """
    entry = lookup(function) if isinstance(function, str) else function
    return emit_scalar(scalar_function(entry), entry.expression)


def emit_scalar(scalar: ScalarFunction, expression: str) -> FunctionModule:
    """As `emit`, from the analysed function and the text of its expression."""
    linear = is_piecewise_linear(scalar)
    closed = None if linear else closed_form(scalar, conditional_coefficients(scalar))
    # the closed form of a polynomial hardly ever cancels: panels are enough behind it
    smooth = not scalar.breakpoints and not scalar.is_polynomial
    seen = hints_of(scalar)
    pieces = [stabilised(piece) for _, _, piece in scalar.pieces]
    values = [scalar.at(b) for b in scalar.breakpoints]
    signed = signature(
        [
            scalar.name,
            expression,
            sympy.srepr(scalar.expr),
            sympy.srepr(sympy.Tuple(*scalar.breakpoints)),
            scalar.parity,
            closed.identity if closed else "piecewise" if linear else "quadrature",
            *source_parts(SOURCES),
        ]
    )
    counts = operations(pieces), closed.operations if closed else 0
    rules = [
        *(["piecewise"] if linear else []),
        *(["closed"] if closed else []),
        *(["near", "far"] if smooth else []),
        "panels",
    ]
    parts = [
        _header(scalar, expression, signed, rules),
        _constants(scalar, expression, signed, counts, seen),
        *([segment_constants(scalar)] if linear else []),
        *(HELPERS[name] for name in helpers_used([*pieces, *values])),
        _function_text(scalar, pieces, values),
        *([_template("piecewise")] if linear else []),
        *([closed.text] if closed else []),
        _template("quadrature"),
        *([_template("smooth")] if smooth else []),
        _template("entry"),
        _rules_text(rules),
    ]
    text = "\n\n".join(part.strip("\n") + "\n" for part in parts)
    return FunctionModule(scalar.name, f"{FOLDER}/{scalar.name}.py", text, signed, rules[0] in _EXACT)


def emit_registered(names: Iterable[str] = tuple(REGISTERED)) -> dict[str, str]:
    """Path below `generated/` -> text, for registered functions (all of them by default)."""
    return {module.path: module.text for module in (emit(REGISTERED[name]) for name in names)}


def hints_of(scalar: ScalarFunction) -> Hints:
    """Hints of all the pieces together."""
    found = [hints(piece, scalar.z) for _, _, piece in scalar.pieces]
    features = sorted({feature for one in found for feature in one.features})
    return Hints(tuple(features), max(one.steepness for one in found), max(one.wave for one in found))


def _header(scalar: ScalarFunction, expression: str, signed: str, rules: Sequence[str]) -> str:
    source = scalar.citation.replace("\\", "/").replace('"', "'")
    return f'''"""Conditional Gaussian coefficients of f(z) = {expression}  [{source}].

mu0, mu1, mu2 by {_WORDS[rules[0]]}{", by quadrature where these would cancel" * (rules[0] in _EXACT)}.
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit
'''


def _constants(
    scalar: ScalarFunction, expression: str, signed: str, counts: tuple[int, int], seen: Hints
) -> str:
    breaks = [float(sympy.N(b, 30)) for b in scalar.breakpoints]
    return f"""NAME = {_quoted(scalar.name)}
EXPRESSION = {_quoted(expression)}
SIGNATURE = {_quoted(signed)}
BREAKPOINTS: tuple[float, ...] = {_tuple(breaks)}
PARITY = {_quoted(scalar.parity)}
OPERATIONS = {counts[0]}
CLOSED_FORM_OPERATIONS = {counts[1]}
SCRATCH_SHAPE = (420, 52)  # least shape of `scratch`; more rows allow more panels of 52 numbers

# no wrappers that nobody calls: they take a tenth of the time to compile
_ENTRY = {{"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}}
_INNER = {{**_ENTRY, "no_cpython_wrapper": True}}
_EPS = 2.0**-52
_NORM = 0.3989422804014327  # 1/sqrt(2 pi)
_BREAKS = {_array(breaks)}
_CENTRES = {_array([centre for centre, _ in seen.features])}  # of the features of f, and their widths
_WIDTHS = {_array([width for _, width in seen.features])}
_STEEPNESS = {seen.steepness!r}  # of its smooth parts, and the sum of its frequencies
_WAVE = {seen.wave!r}
"""


def _rules_text(rules: Sequence[str]) -> str:
    """Rule(shifts, q, raw, scratch) fills raw: (7, n) of mu0, mu1, mu2^2, their errors and the noise of f."""
    compiled = "trapezoid" if rules[0] == "near" else rules[0]
    return f"""# each for the points that those before it mark by a mu2^2 that is not a number
RULES = ({", ".join(rules)}{"," * (len(rules) == 1)})
ENTRY = "{compiled}"  # what the first one compiles
"""


def _function_text(scalar: ScalarFunction, pieces: list[Any], values: list[Any]) -> str:
    lines = [
        "@njit(**_INNER)",
        "def _f(z):",
        f'    """{"One piece" if len(pieces) == 1 else f"{len(pieces)} pieces"} of f."""',
    ]
    for position, breakpoint in enumerate(scalar.breakpoints):
        edge = repr(float(sympy.N(breakpoint, 30)))
        lines.append(f"    {'if' if position == 0 else 'elif'} z < {edge}:")
        lines += [f"        {line}" for line in _returned(pieces[position])]
        if not _same(values[position], scalar.pieces[position + 1][2].subs(scalar.z, breakpoint)):
            lines.append(f"    elif z == {edge}:")
            lines += [f"        {line}" for line in _returned(values[position])]
    indent = "    "
    if scalar.breakpoints:
        lines.append("    else:")
        indent = "        "
    lines += [f"{indent}{line}" for line in _returned(pieces[-1])]
    return "\n".join(lines)


def _returned(expression: Any) -> list[str]:
    *shared, last = numba_assignments([("result", expression)])
    return [*shared, "return " + last.removeprefix("result = ")]


def _same(left: Any, right: Any) -> bool:
    return bool(abs(sympy.N(left - right, 30)) < 1e-25)


def _template(name: str) -> str:
    text = resources.files("codegen.templates").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return text.split(_MARKER, 1)[1].replace("  # fmt: skip", "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(numbers: list[float]) -> str:
    return "(" + "".join(f"{number!r}, " for number in numbers).rstrip() + ")"


def _array(numbers: list[float]) -> str:
    return f"np.array({numbers!r})" if numbers else "np.zeros(0)"
