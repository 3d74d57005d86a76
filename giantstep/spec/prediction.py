"""What an output f stands for: the label itself, its sign, or the mean label as a function of f. Knows no SymPy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from derive.language.catalogue import latex
from derive.language.grammar import canonical, parse
from derive.language.substitution import number, substituted
from giantstep.spec.expressions import Array, Prepared, jet, prepare

_VARIABLE = "f"


class Prediction:
    """The mean label that an output stands for, an expression in f and parameters at numbers."""

    def __init__(self, expression: str, parameters: Mapping[str, float]) -> None:
        numbers = {name: number(value) for name, value in parameters.items()}
        self._node = substituted(parse(expression, (_VARIABLE, *numbers)), numbers)
        self._tree: Prepared = prepare(self._node)

    @property
    def text(self) -> str:
        """The expression in f."""
        return canonical(self._node)

    @property
    def latex(self) -> str:
        """The same in LaTeX."""
        return latex(self._node)

    def mean(self, f: Array) -> Array:
        """The mean label at outputs of any shape."""
        return jet(self._tree, _VARIABLE, {_VARIABLE: f}, 0)[0]

    def mean_and_slope(self, f: Array) -> tuple[Array, Array]:
        """The mean label and its derivative in f."""
        value, slope = jet(self._tree, _VARIABLE, {_VARIABLE: f}, 1)
        return value, slope


@lru_cache(maxsize=64)
def prediction(expression: str, parameters: tuple[tuple[str, float], ...]) -> Prediction:
    """The prediction of a loss with these parameters, remembered."""
    return Prediction(expression, dict(parameters))
