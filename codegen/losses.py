"""Emission of one self-contained numba module per loss: its averages over the conditional output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from itertools import accumulate
from typing import Any

import mpmath
import sympy as sp

from codegen.hints import hints
from codegen.manifest import signature, source_parts
from codegen.printers import HELPERS, helpers_used, numba_assignments, operations
from codegen.stable import stabilised
from derive.gaussian.numeric import mpmath_function
from derive.gaussian.special import LogNormalCdf
from derive.language.loss_catalogue import REGISTERED
from derive.loss.loss import F, LossAnalysis, U, Y, analyse_loss, loss_of
from derive.output import output_averages

_TEMPLATES = ("templates/averages.py", "templates/label_points.py", "templates/label_intervals.py")
SOURCES = ("hints.py", "losses.py", "printers.py", "stable.py", *_TEMPLATES)
FOLDER = "losses"
_MARKER = "# --- copied into the emitted modules from here ---\n"
_STEEPEST = 100.0  # curvature is searched for its maximum on this scale at most
_JIT = '@njit(cache=True, error_model="numpy", nogil=True)\n'
#: The averages in the order in which the template accumulates them, for one direction beside the spike.
_ORDER = (
    "avg_M", "avg_g", "avg_h", "avg_gg", "avg_gh", "avg_hx", "avg_ggh", "avg_ghx", "avg_hxx", "avg_tg", "avg_th",
    "avg_tgh", "avg_thx", "avg_tth",
)  # fmt: skip


@dataclass(frozen=True)
class LossModule:
    """An emitted module: `path` below `generated/`, `text`, and its signature."""

    name: str
    path: str
    text: str
    signature: str


def emit_loss(text: str) -> LossModule:
    """The module of a registered loss or an expression in y and f.

    Raises ExpressionError for a text that is no loss, Unprintable for one that has no numba text.
    """
    return emit_analysed(analyse_loss(loss_of(text)))


def emit_analysed(analysis: LossAnalysis) -> LossModule:
    """The module of a loss cut into its smooth pieces."""
    if tuple(output_averages(1).monomials) != _ORDER:
        raise ValueError("the derived averages are not those of the template: change the template with the derivation")
    loss = analysis.loss
    pieces = [_derivatives(piece) for part in analysis.parts() for piece in part.pieces]
    everything = [e for piece in pieces for e in piece] + [b for part in analysis.parts() for b in part.breakpoints]
    everything += [label for label, _ in _label_cuts(analysis)]
    names = [parameter.name for parameter in loss.parameters]
    signed = signature([loss.name, loss.form, sp.srepr(sp.Tuple(*everything)), *names, *source_parts(SOURCES)])
    parts = [
        _header(analysis, signed),
        *(HELPERS[name] for name in helpers_used(everything)),
        _cells(analysis),
        _edges(analysis, names),
        _pieces(pieces, names),
        *map(_template, _TEMPLATES),
    ]
    body = "\n\n".join(part.strip("\n") + "\n" for part in parts)
    return LossModule(loss.name, f"{FOLDER}/{loss.name}.py", body, signed)


def emit_registered_losses(names: Iterable[str] = tuple(REGISTERED)) -> dict[str, str]:
    """Path below `generated/` -> text, for registered losses."""
    return {module.path: module.text for module in map(emit_loss, names)}


def _derivatives(piece: Any) -> tuple[Any, Any, Any]:
    slope = sp.diff(piece, U)
    return stabilised(piece), stabilised(slope), stabilised(_shortest(sp.diff(slope, U)))


def _shortest(curvature: Any) -> Any:
    """The curvature in its shortest form, which cancels least; SymPy may hang on exponentials of polynomials."""
    if any(sp.degree(node.exp, U) > 1 for node in curvature.atoms(sp.exp) if node.exp.is_polynomial(U)):
        return curvature
    return min((curvature, sp.simplify(curvature), sp.factor(curvature)), key=lambda e: (sp.count_ops(e), str(e)))


def _header(analysis: LossAnalysis, signed: str) -> str:
    loss = analysis.loss
    smooth = [piece for part in analysis.parts() for piece in part.pieces]
    count, kinked = operations(smooth), len(smooth) > 1
    ranges = f" on {len(analysis.cells)} ranges of labels" if analysis.cells else ""
    return f'''"""Averages over the output for the loss {loss.expression}  [{loss.citation}; THEORY section 4].

{len(smooth)} smooth piece(s){ranges}, {count} operations, in u = {_u_of(loss.form)}.
Generated; do not edit. Signature {signed[:16]}.
Regenerate with: giantstep generate
"""

# fmt: off
import math

import numpy as np
from numba import njit

NAME = "{loss.name}"
EXPRESSION = "{loss.expression}"
SIGNATURE = "{signed}"
FORM = "{loss.form}"
PARAMETERS: tuple[str, ...] = {tuple(p.name for p in loss.parameters)!r}
SMOOTH = {not kinked}
SYMMETRIC = {_symmetric(analysis)}  # loss(-y, -f) = loss(y, f)

_PIECES = {len(smooth)}
_SMOOTH = {not kinked}
_RESIDUAL = {loss.form == "residual"}
_MARGIN = {loss.form == "margin"}
_STEEPNESS = {_steepness(analysis)!r}  # of the pieces beside the logistic loss, at the default parameters
_RATE = {_rate(analysis)!r}  # of its exponential growth, which polynomials have not
_CURVATURE = {_curvature(analysis)}  # the largest of a smooth loss
'''


def _steepness(analysis: LossAnalysis) -> float:
    """How much faster than the logistic loss a piece varies at most; never less than 1."""
    numbers = {parameter.symbol: parameter.default for parameter in analysis.loss.parameters}
    pieces = [
        piece.subs(numbers | {Y: (part.loss.labels or (1,))[0]}) for part in analysis.parts() for piece in part.pieces
    ]
    return max(1.0, *(round(_singular(piece) * float(hints(piece, U).steepness), 6) for piece in pieces))


def _rate(analysis: LossAnalysis) -> float:
    """How fast a loss may grow or its derivatives decay: the steepness, 0 where all pieces are polynomials."""
    pieces = [piece for part in analysis.parts() for piece in part.pieces]
    return 0.0 if all(piece.is_polynomial(U) for piece in pieces) else _steepness(analysis)


def _singular(piece: Any) -> float:
    """Distance of the logistic loss's singularities, i pi, over that of the functions in a piece at the same hint."""
    functions = [f for f in piece.atoms(sp.Function, sp.Pow) if f.has(U) and not f.is_polynomial(U)]
    of_exponentials = [f for f in functions if isinstance(f, sp.log | sp.Pow) and not f.args[0].is_polynomial(U)]
    others = [f for f in functions if f not in of_exponentials]
    if not all(isinstance(f, sp.exp | LogNormalCdf) and sp.diff(f.args[0], U, 2) == 0 for f in others):
        return 2.0  # tanh, i pi/2
    return 1.0 / 0.7 if piece.has(sp.exp) else 1.15


def _curvature(analysis: LossAnalysis) -> str:
    """The largest curvature of a loss of one piece without parameters; infinite where it grows or is not known."""
    loss = analysis.loss
    if len(analysis.pieces) != 1 or loss.parameters or loss.form == "general":
        return "math.inf"
    curvature = mpmath_function(sp.diff(analysis.pieces[0], U, 2), (U,))
    per_unit = 4 * math.ceil(min(_steepness(analysis), _STEEPEST))
    with mpmath.workdps(20):
        values = [float(curvature(mpmath.mpf(k) / per_unit)) for k in range(-40 * per_unit, 40 * per_unit + 1)]
    inside = max(values[20 * per_unit : -20 * per_unit])
    return repr(1.01 * inside) if inside >= max(values) else "math.inf"


def _symmetric(analysis: LossAnalysis) -> bool:
    """Whether the loss stays the same when label and output change their signs."""
    if analysis.loss.form == "margin":
        return True
    if analysis.cells:
        expression = analysis.loss.expr
        return bool(sp.simplify(expression - expression.subs({F: -F, Y: -Y}, simultaneous=True)) == 0)
    edges, pieces = analysis.breakpoints, analysis.pieces
    mirrored = [piece.subs({U: -U, Y: -Y}, simultaneous=True) for piece in reversed(pieces)]
    pairs = [*zip(pieces, mirrored, strict=True), *zip(edges, (-edge for edge in reversed(edges)), strict=True)]
    return all(sp.simplify(left - right) == 0 for left, right in pairs)


def _u_of(form: str) -> str:
    return {"margin": "y f", "residual": "f - y", "general": "f"}[form]


def _numbered(analysis: LossAnalysis) -> list[tuple[int, int]]:
    """(first piece, number of pieces) on each range of labels."""
    counts = [len(part.pieces) for part in analysis.parts()]
    return list(zip(accumulate(counts, initial=0), counts, strict=False))


def _label_cuts(analysis: LossAnalysis) -> list[tuple[Any, bool]]:
    """Upper ends of the ranges of labels but the last, and whether they are part of their range."""
    ranges = [cell.labels for cell in analysis.cells if cell.labels is not None]
    return [(one.high, one.single) for one in ranges[:-1]]


def _cells(analysis: LossAnalysis) -> str:
    lines = [_JIT + "def _cell(y):", '    """The first piece that holds at the label y, and how many do."""']
    *before, last = _numbered(analysis)
    for (start, count), (label, closed) in zip(before, _label_cuts(analysis), strict=True):
        lines.append(f"    if y {'<=' if closed else '<'} {float(label)!r}:")
        lines.append(f"        return {start}, {count}")
    return "\n".join([*lines, f"    return {last[0]}, {last[1]}"])


def _edges(analysis: LossAnalysis, names: list[str]) -> str:
    """Numbered as the pieces that end there."""
    first = [k for k, _ in _numbered(analysis)]
    places = [
        (start + k, place)
        for start, part in zip(first, analysis.parts(), strict=True)
        for k, place in enumerate(part.breakpoints)
    ]
    lines = [_JIT + "def _edge(k, y, q):", '    """Breakpoint at the end of piece k of rho, in u."""']
    lines += _unpacked(names, [place for _, place in places])
    for k, place in places:
        lines.append(f"    if k == {k}:")
        lines += [f"        {line}" for line in _returned([place])]
    lines.append("    return math.nan")
    return "\n".join(lines)


def _pieces(pieces: list[tuple[Any, Any, Any]], names: list[str]) -> str:
    lines = [_JIT + "def _rho(k, u, y, q):", '    """Value, slope and curvature of rho on piece k."""']
    lines += _unpacked(names, [e for piece in pieces for e in piece])
    for k, piece in enumerate(pieces):
        last = k == len(pieces) - 1
        if not last:
            lines.append(f"    if k == {k}:")
        indent = "    " if last else "        "
        lines += [f"{indent}{line}" for line in _returned(list(piece))]
    return "\n".join(lines)


def _unpacked(names: list[str], expressions: list[Any]) -> list[str]:
    used = {str(s) for e in expressions for s in e.free_symbols} - {str(U), str(Y)}
    return [f"    {name} = q[{i}]" for i, name in enumerate(names) if name in used]


def _returned(values: list[Any]) -> list[str]:
    lines = numba_assignments([(f"result{i}", value) for i, value in enumerate(values)])
    tail = ", ".join(line.split(" = ", 1)[1] for line in lines[-len(values) :])
    return [*lines[: -len(values)], f"return {tail}"]


def _template(path: str) -> str:
    text = resources.files("codegen").joinpath(path).read_text(encoding="utf-8")
    return text.split(_MARKER, 1)[1]
