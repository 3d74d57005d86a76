"""Emission of one module per scalar function: its values, and what its conditional coefficients need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy

from codegen.closed import ClosedForm, closed_form
from codegen.hints import Hints, hints
from codegen.manifest import signature, sources_of
from codegen.print.numba_scalar import NumbaPrinter, imported_helpers
from codegen.print.scalar import operations
from codegen.saturation import Limit, limit_of
from codegen.segments import is_piecewise_linear, segment_constants
from codegen.stable import stabilised
from codegen.text import closing, fitted, with_math, wrapped
from derive.coefficients import conditional_coefficients
from derive.language.catalogue import REGISTERED, Entry, lookup
from derive.scalar import ScalarFunction, scalar_function

FOLDER = "functions"
_WORDS = {
    "closed": "closed forms",
    "piecewise": "truncated Gaussian moments",
    "smooth": "the trapezoid rule in g",
    "panels": "adaptive panels in g",
}


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
    pieces = [stabilised(piece) for _, _, piece in scalar.pieces]
    values = scalar.at_breakpoints()
    rule = "piecewise" if linear else "closed" if closed else "smooth" if smooth else "panels"
    identity = closed.identity if closed else "piecewise" if linear else "quadrature"
    limits = _limits(scalar) if smooth else {}
    rests = [limit.rest for limit in limits.values()]
    canonical = [sympy.srepr(scalar.expr), sympy.srepr(sympy.Tuple(*scalar.breakpoints)), scalar.parity]
    signed = signature([scalar.name, expression, *canonical, identity, *sources_of(__name__)])
    counts = operations(pieces), closed.operations if closed else 0
    parts = [
        _header(scalar, expression, signed, rule, imported_helpers([*pieces, *values, *rests]))
        + _constants(scalar, expression, signed, counts),
        _values(scalar, pieces, values),
        *([closed.text] if closed else []),
        *(_rest(name, limit) for name, limit in limits.items()),
        (f"{segment_constants(scalar)}\n\n" if linear else "") + _function(scalar, smooth, linear, closed, limits),
    ]
    text = with_math("\n\n\n".join(part.strip("\n") for part in parts) + "\n")
    return FunctionModule(scalar.name, f"{FOLDER}/{scalar.name}.py", text, signed, rule in ("closed", "piecewise"))


def emit_registered(names: Iterable[str] = tuple(REGISTERED)) -> dict[str, str]:
    """Path below `generated/` -> text, for registered functions (all of them by default)."""
    return {module.path: module.text for module in (emit(REGISTERED[name]) for name in names)}


def hints_of(scalar: ScalarFunction) -> Hints:
    """Hints of all the pieces together."""
    found = [hints(piece, scalar.z) for _, _, piece in scalar.pieces]
    features = sorted({feature for one in found for feature in one.features})
    return Hints(tuple(features), max(one.steepness for one in found), max(one.wave for one in found))


def _header(scalar: ScalarFunction, expression: str, signed: str, rule: str, helpers: str) -> str:
    source = scalar.citation.replace("\\", "/").replace('"', "'")
    title = f"Conditional Gaussian coefficients of f(z) = {expression}  [{source}]."
    cancel = ", by quadrature where these would cancel" * (rule in ("closed", "piecewise"))
    signatures = "CLOSED, VALUES, compiled" if rule == "closed" else "VALUES, compiled"
    return f'''"""{wrapped(title, 3)}

mu0, mu1, mu2 by {_WORDS[rule]}{cancel}.
{closing(signed)}
"""

# fmt: off
from generated.runtime.coefficients import SCRATCH_SHAPE as SCRATCH_SHAPE
from generated.runtime.coefficients import {"Closed, Function" if rule == "closed" else "Function"}
from generated.runtime.compiling import {signatures}
{helpers}'''


def _constants(scalar: ScalarFunction, expression: str, signed: str, counts: tuple[int, int]) -> str:
    breaks = [float(sympy.N(b, 30)) for b in scalar.breakpoints]
    return f"""NAME = {_quoted(scalar.name)}
EXPRESSION = {_quoted(expression)}
SIGNATURE = {_quoted(signed)}
BREAKPOINTS: tuple[float, ...] = {_tuple(breaks)}
PARITY = {_quoted(scalar.parity)}
OPERATIONS = {counts[0]}
CLOSED_FORM_OPERATIONS = {counts[1]}
"""


def _limits(scalar: ScalarFunction) -> dict[str, Limit]:
    """Where a function of one piece saturates, by name; of one with a parity, that for large z says it all."""
    sides = {"above": 1} if scalar.parity != "none" else {"above": 1, "below": -1}
    found = {name: limit_of(scalar.pieces[0][2], scalar.z, side) for name, side in sides.items()}
    return {name: limit for name, limit in found.items() if limit is not None}


def _rest(name: str, limit: Limit) -> str:
    head = ["@compiled(VALUES)", f"def {name}(n, places, out):"]
    head.append(f'    """f - {_number(limit.value)!r}, which vanishes far {name} zero."""')
    return "\n".join([*head, "    for i in range(n):", "        z = places[i]", *_stored(limit.rest, 8)])


def _number(value: Any) -> float:
    return float(sympy.N(value, 30))


def _function(
    scalar: ScalarFunction, smooth: bool, linear: bool, closed: ClosedForm | None, limits: dict[str, Limit]
) -> str:
    seen = hints_of(scalar)
    features = "".join(f"({centre!r}, {width!r}), " for centre, width in seen.features).rstrip()
    lines = [
        "values, parity=PARITY, breaks=BREAKPOINTS,",
        f"features=({features}),  # centres and widths",
        f"steepness={seen.steepness!r}, wave={seen.wave!r}, smooth={smooth},",
    ]
    if linear:
        lines.append("segments=SEGMENTS,")
    if closed is not None:
        lines.append(f"closed=Closed(closed, residual={closed.residual}, frequency={closed.frequency!r}),")
    if limits:
        pairs = "".join(f"({_number(limit.value)!r}, {name}), " for name, limit in limits.items())
        lines.append(f"limits=({pairs.rstrip()}),  # values, and what f has beside them")
    body = "".join(f"    {line}\n" for line in lines)
    return f"FUNCTION = Function(\n{body})\ncoefficients, value = FUNCTION.coefficients, FUNCTION.value\n"


def _values(scalar: ScalarFunction, pieces: list[Any], values: list[Any]) -> str:
    count = "One piece" if len(pieces) == 1 else f"{len(pieces)} pieces"
    lines = ["@compiled(VALUES)", "def values(n, places, out):", f'    """{count} of f, at n places z."""']
    lines.append("    for i in range(n):")
    if scalar.breakpoints or any(piece.has(scalar.z) for piece in pieces):
        lines.append("        z = places[i]")
    for position, breakpoint in enumerate(scalar.breakpoints):
        edge = repr(float(sympy.N(breakpoint, 30)))
        lines.append(f"        {'if' if position == 0 else 'elif'} z < {edge}:")
        lines += _stored(pieces[position], 12)
        if not _same(values[position], scalar.pieces[position + 1][2].subs(scalar.z, breakpoint)):
            lines.append(f"        elif z == {edge}:")
            lines += _stored(values[position], 12)
    if scalar.breakpoints:
        lines.append("        else:")
    lines += _stored(pieces[-1], 12 if scalar.breakpoints else 8)
    return "\n".join(lines)


def _stored(expression: Any, spaces: int) -> list[str]:
    return fitted(NumbaPrinter().assignments([("out[i]", expression)]), spaces * " ")


def _same(left: Any, right: Any) -> bool:
    return bool(abs(sympy.N(left - right, 30)) < 1e-25)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(numbers: list[float]) -> str:
    return "(" + "".join(f"{number!r}, " for number in numbers).rstrip() + ")"
