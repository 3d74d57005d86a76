"""What is derived for a model: coefficients, the gradient step, the equations; as records that print themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from giantstep.errors import BadInput
from giantstep.model import Model

if TYPE_CHECKING:
    from derive.saddle import SaddleSystem
    from derive.trace import Derivation

Format = Literal["text", "latex", "markdown"]
FORMATS: tuple[Format, ...] = ("text", "latex", "markdown")


@dataclass(frozen=True)
class ModelDerivation:
    """The derivations of one model, in the order in which they build on each other; shows itself in a notebook."""

    model: Model
    parts: tuple[Derivation, ...]

    def equations(self) -> ModelDerivation:
        """Definitions and results only, without the steps between."""
        kept = (
            replace(part, steps=tuple(step for step in part.steps if step.kind in ("definition", "result")))
            for part in self.parts
        )
        return replace(self, parts=tuple(part for part in kept if part.steps))

    def render(self, format: Format = "text") -> str:
        """All parts as text, as a LaTeX appendix, or as Markdown. Raises BadInput for another format."""
        if format not in FORMATS:
            raise BadInput(f"format = {format!r} is unknown", f"choose one of {', '.join(FORMATS)}")
        return "\n".join(getattr(part, format)() for part in self.parts)

    def latex(self) -> str:
        """An appendix to paste into a paper."""
        return self.render("latex")

    def _repr_markdown_(self) -> str:
        return self.render("markdown")


def derive(model: Model) -> ModelDerivation:
    """Derive everything that is solved for a model: the coefficients of its activation and link, the map of its
    gradient step, and the saddle-point equations of its loss.

    Raises BadInput for a function that cannot be analysed, or a step that is not defined.
    """
    from derive.coefficients import conditional_coefficients
    from derive.gradient_step import gradient_step_map
    from derive.grammar import ExpressionError
    from derive.scalar import scalar_function

    try:
        activation, link = scalar_function(model.network.activation), scalar_function(model.target.link)
        parts = [conditional_coefficients(activation).derivation]
        if link.name != activation.name:
            parts.append(conditional_coefficients(link).derivation)
        if model.step is not None:
            parts.append(gradient_step_map(activation, link, model.network.bias).derivation)
    except ExpressionError as error:
        raise BadInput(str(error), getattr(error, "hint", "")) from None
    return ModelDerivation(model, (*parts, saddle_system_of(model.fit.loss).derivation))


@lru_cache(maxsize=8)
def saddle_system_of(loss: str) -> SaddleSystem:
    """The derived system of a loss."""
    from derive.loss import SQUARE
    from derive.saddle import saddle_system

    if loss != SQUARE.name:
        raise BadInput(
            f"fit.loss = {loss!r} is not derived in this version", f"use fit.loss = {SQUARE.name!r}"
        )
    return saddle_system(SQUARE)


def render(model: Model, format: str, steps: bool) -> str:
    """The text that ``giantstep derive`` prints: all steps, or just definitions and results."""
    derived = derive(model)
    return (derived if steps else derived.equations()).render(format)  # type: ignore[arg-type]
