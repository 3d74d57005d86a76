"""Emission of one self-contained numba module per scalar function: its values and its conditional
coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import sympy

from codegen.closed import closed_form
from codegen.hints import Hints, hints
from codegen.manifest import signature, source_parts
from codegen.printers import HELPERS, helpers_used, numba_assignments, operations
from codegen.stable import stabilised
from derive.catalogue import REGISTERED, Entry, lookup
from derive.coefficients import conditional_coefficients
from derive.scalar import ScalarFunction, scalar_function

#: Files of this package that decide the text.
SOURCES = (
    "closed.py",
    "functions.py",
    "hints.py",
    "printers.py",
    "stable.py",
    "templates/entry.py",
    "templates/quadrature.py",
    "templates/smooth.py",
)
FOLDER = "functions"
_MARKER = "# --- copied into the emitted modules from here ---\n"
_PANELS = "_adaptive(s, q, scratch[_RESERVED:])"
_JIT = '@njit(error_model="numpy", nogil=True)\n'


@dataclass(frozen=True)
class FunctionModule:
    """An emitted module: `path` below `generated/`, `text`, and what its header says."""

    name: str
    path: str
    text: str
    signature: str
    closed: bool


def emit(function: str | Entry, coefficients: Any = None) -> FunctionModule:
    """The module of a registered name, an expression in z or a catalogue entry.

    `coefficients` are those of `derive.coefficients` where they are at hand already; they are derived
    otherwise.
    Raises ExpressionError for a text that is no function, Unprintable for one that has no numba text.
    """
    entry = lookup(function) if isinstance(function, str) else function
    scalar = scalar_function(entry)
    return emit_scalar(scalar, entry.expression, coefficients or conditional_coefficients(scalar))


def emit_scalar(scalar: ScalarFunction, expression: str, coefficients: Any) -> FunctionModule:
    """As `emit`, from the analysed function, the text of its expression and its coefficients."""
    # the closed form of a polynomial hardly ever cancels: panels are enough behind it
    smooth = not scalar.breakpoints and not scalar.is_polynomial
    closed = closed_form(scalar, coefficients, "_quadrature(s, q, scratch, count)" if smooth else _PANELS)
    seen = hints_of(scalar)
    pieces = [stabilised(piece) for _, _, piece in scalar.pieces]
    values = [scalar.at(b) for b in scalar.breakpoints]
    body = _function_text(scalar, pieces, values)
    signed = signature(
        [
            scalar.name,
            expression,
            sympy.srepr(scalar.expr),
            sympy.srepr(sympy.Tuple(*scalar.breakpoints)),
            scalar.parity,
            closed.identity if closed else "quadrature",
            *source_parts(SOURCES),
        ]
    )
    count = operations(pieces)
    parts = [
        _header(scalar, expression, signed, count, closed.operations if closed else 0),
        _constants(scalar, expression, signed, count, closed.operations if closed else 0, seen),
        *(HELPERS[name] for name in helpers_used([*pieces, *values])),
        body,
        _template("quadrature"),
        *([_template("smooth")] if smooth else []),
        *([closed.text] if closed else []),
        _entry_text(smooth, closed is not None),
    ]
    text = "\n\n".join(part.strip("\n") + "\n" for part in parts)
    return FunctionModule(scalar.name, f"{FOLDER}/{scalar.name}.py", text, signed, closed is not None)


def emit_registered(names: Iterable[str] = tuple(REGISTERED)) -> dict[str, str]:
    """Path below `generated/` -> text, for registered functions (all of them by default)."""
    return {module.path: module.text for module in (emit(REGISTERED[name]) for name in names)}


def hints_of(scalar: ScalarFunction) -> Hints:
    """Hints of all the pieces together."""
    found = [hints(piece, scalar.z) for _, _, piece in scalar.pieces]
    features = sorted({feature for one in found for feature in one.features})
    return Hints(tuple(features), max(one.steepness for one in found), max(one.wave for one in found))


def _header(scalar: ScalarFunction, expression: str, signed: str, count: int, closed: int) -> str:
    source = scalar.citation.replace("\\", "/").replace('"', "'")
    how = (
        f"mu0, mu1, mu2: closed forms ({closed} operations), by quadrature where these would cancel."
        if closed
        else "mu0, mu1, mu2: adaptive quadrature in g."
    )
    return f'''"""Conditional Gaussian coefficients of f(z) = {expression}  [{source}].

f: {count} operations. {how}
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit
'''


def _constants(
    scalar: ScalarFunction, expression: str, signed: str, count: int, closed: int, seen: Hints
) -> str:
    breaks = [float(sympy.N(b, 30)) for b in scalar.breakpoints]
    return f"""NAME = {_quoted(scalar.name)}
EXPRESSION = {_quoted(expression)}
SIGNATURE = {_quoted(signed)}
BREAKPOINTS: tuple[float, ...] = {_tuple(breaks)}
PARITY = {_quoted(scalar.parity)}
OPERATIONS = {count}
CLOSED_FORM_OPERATIONS = {closed}

_PARITY = {{"none": 0, "odd": 1, "even": 2}}[PARITY]
_BREAKS = {_array(breaks)}
_CENTRES = {_array([centre for centre, _ in seen.features])}  # of the features of f, and their widths
_WIDTHS = {_array([width for _, width in seen.features])}
_STEEPNESS = {seen.steepness!r}  # of its smooth parts, and the sum of its frequencies
_WAVE = {seen.wave!r}
"""


def _function_text(scalar: ScalarFunction, pieces: list[Any], values: list[Any]) -> str:
    lines = [
        _JIT + "def _f(z):",
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


def _entry_text(smooth: bool, closed: bool) -> str:
    text = _template("entry")
    if closed:
        text = text.replace("_quadrature(t, ", "_one(t, ")
    elif not smooth:
        text = text.replace("_quadrature(t, q, scratch, count)", _PANELS.replace("(s, ", "(t, "))
    return text if smooth else text.replace("_prepare(q, scratch)", "0")


def _template(name: str) -> str:
    text = resources.files("codegen.templates").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return text.split(_MARKER, 1)[1].replace("  # fmt: skip", "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(numbers: list[float]) -> str:
    return "(" + "".join(f"{number!r}, " for number in numbers).rstrip() + ")"


def _array(numbers: list[float]) -> str:
    return f"np.array({numbers!r})" if numbers else "np.zeros(0)"
