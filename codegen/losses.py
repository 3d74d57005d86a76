"""Emission of one module per loss: its pieces and where they end, for the averages over the conditional output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import mpmath
import sympy as sp

from codegen.hints import hints
from codegen.manifest import signature, sources_of
from codegen.origins import Counted, counted, joined
from codegen.print.numba_scalar import NumbaPrinter, imported_helpers
from codegen.print.scalar import operations
from codegen.stable import stabilised
from codegen.text import closing, fitted, with_math, wrapped
from derive.gaussian.numeric import mpmath_function
from derive.gaussian.special import LogNormalCdf
from derive.language.loss_catalogue import REGISTERED
from derive.language.penalties import REGISTERED as PENALTIES
from derive.loss.loss import F, LossAnalysis, U, Y, analyse_loss, loss_of, loss_of_entry
from derive.output import output_averages

FOLDER = "losses"
_MARGIN = 1.01  # of a largest curvature: what a search or the way to a limit may leave
_FALLS = 5.0  # times exp(-|u|), that a curvature falls below; that of the logistic loss is 4 times that at most
_INSIDE = 20  # |u|, and as much again, where curvature is searched for its maximum
_STEEP = 8.0  # slope of an exponent from which on exponentials overflow where outputs may be
_STEEPEST = 100.0  # curvature is searched for its maximum on this scale at most
#: The averages in the order in which `runtime.label_points` accumulates them, for one direction beside the spike.
_ORDER = (
    "avg_M",
    "avg_g",
    "avg_h",
    "avg_gg",
    "avg_gh",
    "avg_hx",
    "avg_ggh",
    "avg_ghx",
    "avg_hxx",
    "avg_tg",
    "avg_th",
    "avg_tgh",
    "avg_thx",
    "avg_tth",
    "avg_l",
)


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
        raise ValueError("the derived averages are not those of the runtime: change it with the derivation")
    loss = analysis.loss
    cut = counted(analysis)
    analysis, pieces = cut.analysis, [_derivatives(piece) for piece in cut.pieces]
    everything = [e for piece in pieces for e in piece] + [b for part in analysis.parts() for b in part.breakpoints]
    everything += [label for label, _ in _label_cuts(analysis)]
    names = [parameter.name for parameter in loss.parameters]
    signed = signature([loss.name, loss.form, sp.srepr(sp.Tuple(*everything)), *names, *sources_of(__name__)])
    parts = [
        _header(analysis, signed, imported_helpers(everything)),
        _pieces(pieces, names, cut.origins),
        *([_edges(analysis, names)] if len(pieces) > 1 else []),
        _law(analysis, cut),
    ]
    body = with_math("\n\n\n".join(part.strip("\n") for part in parts) + "\n")
    return LossModule(loss.name, f"{FOLDER}/{loss.name}.py", body, signed)


def emit_registered_losses(names: Iterable[str] = tuple(REGISTERED)) -> dict[str, str]:
    """Path below `generated/` -> text, for registered losses and penalties."""
    entries = [REGISTERED[name] for name in names] + [penalty.loss for penalty in PENALTIES.values()]
    modules = (emit_analysed(analyse_loss(loss_of_entry(entry))) for entry in entries)
    return {module.path: module.text for module in modules}


def _derivatives(piece: Any) -> tuple[Any, Any, Any]:
    slope = joined(sp.diff(piece, U))
    curvature = joined(sp.diff(slope, U))
    return stabilised(_factored(piece)), stabilised(_factored(slope)), stabilised(_shortest(curvature))


def _factored(value: Any) -> Any:
    """A polynomial as a product, which does not cancel near its roots: the loss of a fit that is almost perfect."""
    return sp.factor(value) if value.is_polynomial(U) else value


def _shortest(curvature: Any) -> Any:
    """The curvature in its shortest form, which cancels least; SymPy may hang on exponentials of polynomials."""
    if any(sp.degree(node.exp, U) > 1 for node in curvature.atoms(sp.exp) if node.exp.is_polynomial(U)):
        return curvature
    if (found := _in_one_exponential(curvature)) is not None:
        return found
    return min((curvature, sp.simplify(curvature), sp.factor(curvature)), key=lambda e: (sp.count_ops(e), str(e)))


def _in_one_exponential(curvature: Any) -> Any:
    """A steep curvature that is rational in one exponential, as a product in that: SymPy takes exp(100 u) for a power
    of exp(u), and what it makes of these overflows; None of others.
    """
    exponents = {sp.expand(node.exp) for node in curvature.atoms(sp.exp)}
    steep = [sp.diff(each, U) for each in exponents]
    if not steep or not all(each.is_Number and abs(each) > _STEEP for each in steep):
        return None
    least = min(exponents, key=lambda each: (abs(sp.diff(each, U)), str(each)))
    powers = {each: sp.simplify(each / least) for each in exponents}
    if not all(power.is_Integer for power in powers.values()):
        return None
    one = sp.Dummy("one", positive=True)
    rational = curvature.replace(sp.exp, lambda exponent: one ** powers[sp.expand(exponent)])
    return sp.factor(rational).subs(one, sp.exp(least)) if rational.is_rational_function(one) else None


def _header(analysis: LossAnalysis, signed: str, helpers: str) -> str:
    loss = analysis.loss
    smooth = [piece for part in analysis.parts() for piece in part.pieces]
    signatures = "PIECES, compiled" if len(smooth) == 1 else "EDGE, PIECES, compiled"
    ranges = f" on {len(analysis.cells)} ranges of labels" if analysis.cells else ""
    return f'''"""The loss {wrapped(f"{loss.expression}  [{loss.citation}; THEORY section 4].", 12)}

{len(smooth)} smooth piece(s){ranges}, {operations(smooth)} operations, in u = {_u_of(loss.form)}.
{closing(signed)}
"""

# fmt: off
import numpy as np

from generated.runtime.compiling import {signatures}
from generated.runtime.loss import Loss
from generated.runtime.nodes import SCRATCH_SHAPE as SCRATCH_SHAPE
{helpers}
NAME = "{loss.name}"
EXPRESSION = "{loss.expression}"
SIGNATURE = "{signed}"
FORM = "{loss.form}"
PARAMETERS: tuple[str, ...] = {tuple(p.name for p in loss.parameters)!r}
SMOOTH = {len(smooth) == 1}
SYMMETRIC = {_symmetric(analysis)}  # loss(-y, -f) = loss(y, f)
COUNT = {len(smooth)}  # of the pieces
STEEPNESS = {_steepness(analysis)!r}  # of the pieces beside the logistic loss, at the default parameters'''


def _law(analysis: LossAnalysis, cut: Counted) -> str:
    ends = "ends" if len(cut.origins) > 1 else "None"
    form, (curvature, knee) = analysis.loss.form, _bend(analysis)
    return f"""LOSS = Loss(
    rho, {ends}, origins=np.array({[*map(list, zip(cut.origins, map(int, cut.sharp), strict=True))]}),
    ranges=np.array({_ranges(analysis)}),  # upper end, whether it is part of it, first piece, pieces
    residual={form == "residual"}, margin={form == "margin"}, smooth=SMOOTH, steepness=STEEPNESS,
    rate={_rate(analysis)!r},  # of its exponential growth, which polynomials have not
    curvature={curvature},  # the largest of a smooth loss
    knee={knee},  # where it is, if it falls like exp(-abs(u)) on both sides
    quadratic={_quadratic(analysis)},  # all pieces are, at most
)
points, lines, cells, intervals, nodes = LOSS.points, LOSS.lines, LOSS.cells, LOSS.intervals, LOSS.nodes
piece, edge, cell = LOSS.piece, LOSS.edge, LOSS.cell
"""


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


def _quadratic(analysis: LossAnalysis) -> bool:
    pieces = [piece for part in analysis.parts() for piece in part.pieces]
    return all(piece.is_polynomial(U) and sp.degree(piece, U) <= 2 for piece in pieces)


def _singular(piece: Any) -> float:
    """Distance of the logistic loss's singularities, i pi, over that of the functions in a piece at the same hint."""
    functions = [f for f in piece.atoms(sp.Function, sp.Pow) if f.has(U) and not f.is_polynomial(U)]
    of_exponentials = [f for f in functions if isinstance(f, sp.log | sp.Pow) and not f.args[0].is_polynomial(U)]
    others = [f for f in functions if f not in of_exponentials]
    if not all(isinstance(f, sp.exp | LogNormalCdf) and sp.diff(f.args[0], U, 2) == 0 for f in others):
        return 2.0  # tanh, i pi/2
    return 1.0 / 0.7 if piece.has(sp.exp) else 1.15


def _bend(analysis: LossAnalysis) -> tuple[str, str]:
    """The largest curvature of a loss of one piece without parameters, infinite where it grows or is not known; and the
    knee, where it is, if it falls on both sides as that of the logistic loss does, else nan.
    """
    found = _curvatures(analysis)
    knee, largest = max(found, key=lambda one: one[1], default=(0.0, math.inf))
    inside = max((value for u, value in found if abs(u) <= _INSIDE), default=0.0)
    if not (math.isfinite(largest) and largest <= _MARGIN * inside):
        return "math.inf", "math.nan"
    falls = all(value <= _FALLS * largest * math.exp(-abs(u - knee)) for u, value in found)
    return repr(_MARGIN * largest), repr(knee) if falls and largest > 0.0 else "math.nan"


def _curvatures(analysis: LossAnalysis) -> list[tuple[float, float]]:
    """(u, curvature) at even steps of a loss of one piece without parameters; none of others."""
    loss = analysis.loss
    if len(analysis.pieces) != 1 or loss.parameters or loss.form == "general":
        return []
    curvature = mpmath_function(sp.diff(analysis.pieces[0], U, 2), (U,))
    per_unit = 4 * math.ceil(min(_steepness(analysis), _STEEPEST))
    last = 2 * _INSIDE * per_unit
    places = [mpmath.mpf(k) / per_unit for k in range(-last, last + 1)]
    with mpmath.workdps(20):
        return [(float(u), float(curvature(u))) for u in places]


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


def _ranges(analysis: LossAnalysis) -> str:
    cuts = [(repr(float(label)), closed) for label, closed in _label_cuts(analysis)] + [("math.inf", False)]
    rows = [
        f"[{label}, {float(closed)!r}, {float(start)!r}, {float(count)!r}]"
        for (label, closed), (start, count) in zip(cuts, _numbered(analysis), strict=True)
    ]
    return f"[{', '.join(rows)}]"


def _edges(analysis: LossAnalysis, names: list[str]) -> str:
    """Numbered as the pieces that end there."""
    first = [k for k, _ in _numbered(analysis)]
    places = [
        (start + k, place)
        for start, part in zip(first, analysis.parts(), strict=True)
        for k, place in enumerate(part.breakpoints)
    ]
    lines = ["@compiled(EDGE)", "def ends(k, y, q):", '    """Breakpoint at the end of piece k of rho, in u."""']
    lines += _unpacked(names, [place for _, place in places])
    for k, place in places:
        *shared, value = NumbaPrinter().assignments([("place", place)])
        returned = "return " + value.removeprefix("place = ")
        lines += [f"    if k == {k}:", *fitted([*shared, returned], 8 * " ")]
    lines.append("    return math.nan")
    return "\n".join(lines)


def _pieces(pieces: list[tuple[Any, Any, Any]], names: list[str], origins: tuple[int, ...]) -> str:
    counted_from = "u" if max(origins) < 0 else "u beyond the origin of the piece"
    lines = ["@compiled(PIECES)", "def rho(k, y, q, n, places, value, slope, curvature):"]
    lines += [f'    """Value, slope and curvature of rho on piece k, at n places {counted_from}."""']
    lines += _unpacked(names, [e for piece in pieces for e in piece])
    lines += ["    for i in range(n):"]
    if any(e.has(U) for piece in pieces for e in piece):
        lines += ["        u = places[i]"]
    for k, piece in enumerate(pieces):
        if len(pieces) > 1:
            lines.append(f"        {'if' if k == 0 else 'elif'} k == {k}:" if k < len(pieces) - 1 else "        else:")
        indent = "            " if len(pieces) > 1 else "        "
        targets = list(zip(("value[i]", "slope[i]", "curvature[i]"), piece, strict=True))
        lines += fitted(NumbaPrinter().assignments(targets), indent)
    return "\n".join(lines)


def _unpacked(names: list[str], expressions: list[Any]) -> list[str]:
    used = {str(s) for e in expressions for s in e.free_symbols} - {str(U), str(Y)}
    return [f"    {name} = q[{i}]" for i, name in enumerate(names) if name in used]
