"""Losses as functions of one variable u: symbols, registered losses, breakpoints and smooth pieces.

With the sign s (s = y for a margin loss, 1 otherwise) and the offset o (o = y for a residual loss, 0 otherwise) every
loss is a function rho of u = s f - o: of the margin y f, of the residual f - y, or of f itself with y as a parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Any

import sympy as sp

from derive.language.grammar import ExpressionError, parse
from derive.language.loss_catalogue import REGISTERED, Form, LossEntry, lookup
from derive.loss.label_cells import LabelCell, LabelRange, label_cells
from derive.loss.logarithms import tame_logarithms
from derive.loss.pieces import MovingKinks, Sample, limit_at, split_by_sign
from derive.to_sympy import to_sympy

U = sp.Symbol("u", real=True)
Y = sp.Symbol("y", real=True)
F = sp.Symbol("f", real=True)
OMEGA = sp.Symbol("omega", real=True)
VARIANCE = sp.Symbol("V", positive=True)

#: Labels at which a loss that is neither of f - y nor of y f is judged.
SAMPLED_LABELS = (1, -1, 0, sp.Rational(1, 3), sp.Rational(-13, 5), 7)
_DIGITS = 40


@dataclass(frozen=True)
class LossParameter:
    """A parameter of a loss: its default and the open interval (low, high) it lies in."""

    name: str
    default: float
    low: float
    high: float

    @property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol: positive where low >= 0, real otherwise."""
        return sp.Symbol(self.name, positive=True) if self.low >= 0.0 else sp.Symbol(self.name, real=True)

    def samples(self) -> tuple[sp.Rational, ...]:
        """The default and values near either end of the interval, where identities are confirmed."""
        low = self.low if math.isfinite(self.low) else -40.0
        high = self.high if math.isfinite(self.high) else low + 40.0
        inner = (low + (high - low) * k / 50 for k in (1, 17, 48))
        return tuple(sp.Rational(str(value)) for value in (self.default, *inner))


@dataclass(frozen=True)
class Loss:
    """A loss of label y and output f: ``expr`` in y, f and the parameters' symbols, ``expression`` as text.

    form: "residual", "margin" or "general" as in ``derive.language.loss_catalogue.LossEntry``; error_scale turns the
    mean loss into the reported training error. labels: where the loss is judged if only a range of labels is meant.
    """

    name: str
    expr: sp.Expr
    parameters: tuple[LossParameter, ...]
    form: Form
    error_scale: int
    citation: str
    expression: str
    labels: tuple[sp.Expr, ...] = ()

    @property
    def sign(self) -> sp.Expr:
        """s in u = s f - o."""
        return Y if self.form == "margin" else sp.S.One

    @property
    def offset(self) -> sp.Expr:
        """o in u = s f - o."""
        return Y if self.form == "residual" else sp.S.Zero

    def samples(self) -> tuple[Sample, ...]:
        """Numbers for the parameters, and for y in the general form, at which order and signs are confirmed."""
        axes = [[(p.symbol, value) for value in p.samples()] for p in self.parameters]
        if self.form == "general":
            axes.append([(Y, sp.sympify(label)) for label in self.labels or SAMPLED_LABELS])
        return tuple(MappingProxyType(dict(point)) for point in product(*axes))


@dataclass(frozen=True)
class LossAnalysis:
    """A loss cut at increasing ``breakpoints`` in u (functions of the parameters) into smooth ``pieces`` rho(u).

    Pieces hold u, the parameters and, in the general form only, y. There is one piece more than breakpoints.
    Where the kinks move with the label, ``cells`` divide the labels into ranges on each of which breakpoints and
    pieces are the same functions of y and u; those of the whole loss are then empty.
    """

    loss: Loss
    breakpoints: tuple[sp.Expr, ...]
    pieces: tuple[sp.Expr, ...]
    cells: tuple[LossAnalysis, ...] = ()
    labels: LabelRange | None = None

    def at(self, label: Any) -> LossAnalysis:
        """The breakpoints and pieces that hold at a label (a real number)."""
        for cell in self.cells:
            if cell.labels is not None and cell.labels.holds(label):
                return cell
        return self

    def parts(self) -> tuple[LossAnalysis, ...]:
        """The cells, or the analysis itself where it holds for all labels."""
        return self.cells or (self,)

    def intervals(self) -> tuple[tuple[sp.Expr, sp.Expr, sp.Expr], ...]:
        """(lower, upper, rho) from left to right; the outer ends are infinite."""
        edges = (-sp.oo, *self.breakpoints, sp.oo)
        return tuple(zip(edges, edges[1:], self.pieces, strict=False))


def loss_of(text: str) -> Loss:
    """The loss of a registered name or an expression in y and f. Raises ExpressionError as loss_catalogue.lookup."""
    return loss_of_entry(lookup(text))


@lru_cache(maxsize=256)
def loss_of_entry(entry: LossEntry) -> Loss:
    """The loss of a catalogue entry."""
    parameters = tuple(LossParameter(p.name, p.default, p.low, p.high) for p in entry.parameters)
    symbols = {"y": Y, "f": F, **{p.name: p.symbol for p in parameters}}
    expr = to_sympy(parse(entry.expression, entry.variables), symbols)
    return Loss(entry.name, expr, parameters, entry.form, entry.error_scale, entry.citation, entry.expression)


REGISTERED_LOSSES: Mapping[str, Loss] = MappingProxyType(
    {name: loss_of_entry(entry) for name, entry in REGISTERED.items()}
)


@lru_cache(maxsize=256)
def analyse_loss(loss: Loss) -> LossAnalysis:
    """Breakpoints and smooth pieces of a loss as a function of u.

    Raises ExpressionError where the loss does not have its form exactly, is not continuous, is not finite at a
    kink, or has kinks whose places are not found.
    """
    rho, fixed = _in_u(loss), frozenset(p.symbol for p in loss.parameters) | ({Y} if loss.labels else set())
    try:
        breakpoints, pieces = split_by_sign(rho, U, fixed, loss.samples())
    except MovingKinks:
        if loss.form != "general" or loss.parameters or loss.labels:
            raise
        return LossAnalysis(loss, (), (), tuple(_analysed_cell(loss, cell) for cell in label_cells(rho, U, Y)))
    analysis = LossAnalysis(loss, breakpoints, tuple(_tidy(piece) for piece in pieces))
    for position, place in enumerate(analysis.breakpoints):
        _check_continuous(analysis, position, place)
    return analysis


def _analysed_cell(loss: Loss, cell: LabelCell) -> LossAnalysis:
    """A loss on a range of labels, as a loss of its own that is judged there."""
    there = replace(loss, expr=cell.expression.subs(U, F), labels=cell.labels.inside())
    return replace(analyse_loss(there), labels=cell.labels)


def edge_slopes(analysis: LossAnalysis, position: int) -> tuple[sp.Expr, sp.Expr]:
    """Slopes of rho to the left and to the right of a breakpoint."""
    pieces = analysis.pieces[position : position + 2]
    place = analysis.breakpoints[position]
    left, right = (limit_at(sp.diff(e, U), U, place, side) for e, side in zip(pieces, "-+", strict=True))
    return simplest(left), simplest(right)


def simplest(value: sp.Expr) -> sp.Expr:
    """An expression in the parameters, simplified; a number that is zero to 40 digits is 0."""
    if value.free_symbols:
        return sp.simplify(value)
    return sp.S.Zero if value.is_finite and abs(value.evalf(_DIGITS)) < sp.Float(10) ** -_DIGITS else value


def _in_u(loss: Loss) -> sp.Expr:
    if loss.form == "general":
        return loss.expr.subs(F, U)
    rho = loss.expr.subs(F, U + Y if loss.form == "residual" else U / Y)
    for tidied in (lambda e: e, sp.expand, sp.simplify):
        candidate = tidied(rho)
        if not candidate.has(Y):
            return candidate
    variable = "y - f" if loss.form == "residual" else "y*f"
    raise ExpressionError(
        f"the loss {loss.expression} looks like a function of {variable} alone, but could not be written as one",
        f"write it in terms of {variable}, without terms that are below rounding",
    )


def _tidy(piece: sp.Expr) -> sp.Expr:
    """Polynomials expanded; logarithms in forms that neither cancel nor underflow."""
    return sp.expand(piece) if piece.is_polynomial(U) else tame_logarithms(piece)


def _check_continuous(analysis: LossAnalysis, position: int, place: sp.Expr) -> None:
    sides = [
        limit_at(analysis.pieces[position], U, place, "-"),
        limit_at(analysis.pieces[position + 1], U, place, "+"),
    ]
    loss = analysis.loss
    for side in sides:
        if side.has(sp.oo, sp.zoo, sp.nan, sp.S.NegativeInfinity):
            raise ExpressionError(
                f"the loss {loss.expression} is not finite at {described(loss)} = {place}",
                "a loss must be finite for every real output f",
            )
    if any(_differ(sides, sample) for sample in loss.samples()):
        raise ExpressionError(
            f"the loss {loss.expression} jumps at {described(loss)} = {place}",
            "a convex loss is continuous; use a continuous bound of it, as the hinge max(0, 1-y*f) is of step(-y*f)",
        )


def _differ(sides: list[Any], sample: Sample) -> bool:
    left, right = (side.subs(sample).evalf(_DIGITS) for side in sides)
    return bool(abs(left - right) > sp.Float(10) ** (-_DIGITS // 2) * (1 + abs(left)))


def described(loss: Loss) -> str:
    """What u is, in the words of the user."""
    return {"residual": "f - y", "margin": "y*f", "general": "f"}[loss.form]
