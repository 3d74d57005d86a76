"""Functions of label and output, with the places where they have kinks and jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.grammar import Node
from derive.language.linear_forms import is_of_difference
from derive.language.links import variables_of
from derive.language.metrics import parse_metric
from derive.language.substitution import substituted
from giantstep.quadrature.kinks import bracketed_zeros, degree, kinks, kinks_of_roots
from giantstep.spec.metrics import function_of

Array = np.ndarray
Function = Callable[[Array, Array], Array]
_LARGEST = 32.0  # label or output at which a kink is looked for


@dataclass(frozen=True)
class Metric:
    """A function of arrays y and f that broadcast.

    kinks: functions whose zeros in f are its kinks and jumps, and their degrees as polynomials in f, None for others;
    places: of y, at which it has some whatever f is; turns_in_label: whether there are such, also further out;
    of_residual, of_output: whether it knows y - f only, or f only; of_lines: whether it is straight in f between them;
    of_cells: in y too, and each kink in y alone or in f alone; rooted: whether some are roots.
    """

    values: Function
    kinks: tuple[tuple[Function, int | None], ...]
    places: tuple[float, ...]
    turns_in_label: bool
    of_residual: bool
    of_output: bool
    of_lines: bool
    of_cells: bool
    rooted: bool


@lru_cache(maxsize=256)
def metric_of(text: str, turned: bool = False) -> Metric:
    """The function of a metric's text; turned: with f in the place of y, and y in that of f. Raises ExpressionError."""
    node = parse_metric(text)
    if turned:
        node = substituted(node, {"y": Node("variable", value="f"), "f": Node("variable", value="y")})
    roots = list(kinks_of_roots(node))
    turns = list(dict.fromkeys([*kinks(node), *roots]))
    found = [(function_of(kink), degree(kink, "f")) for kink in turns]
    places = [place for function, power in found if power == 0 for place in _zeros(function)]
    of_output = "y" not in variables_of(node)
    of_lines = degree(node, "f", pieces=True) in (0, 1)
    apart = all(len(variables_of(kink)) == 1 for kink in turns)
    of_cells = of_lines and apart and degree(node, "y", pieces=True) in (0, 1)
    passed = tuple(pair for pair in found if pair[1] != 0)
    of_residual = is_of_difference(node, "y", "f")
    of_label = tuple(places), len(passed) < len(found)
    return Metric(function_of(node), passed, *of_label, of_residual, of_output, of_lines, of_cells, bool(roots))


def _zeros(function: Function) -> list[float]:
    """Zeros of a function of y alone."""
    zeros = bracketed_zeros(lambda y: np.atleast_2d(function(y, np.zeros_like(y))), (-_LARGEST, _LARGEST))
    return [round(float(zero), 15) for zero in zeros[np.isfinite(zeros)]]
