"""What a report is called."""

from __future__ import annotations

from derive.language.grammar import shorten
from giantstep.spec.model import Model

_LONGEST = 60


def title_of(model: Model) -> str:
    """The network, what is done to it, the target and the loss, in one line."""
    network, target = _short(model.network.activation), _short(model.target.link)
    trained = _steps(len(model.steps)) if model.step else "with a spike" if model.spike else "untrained"
    loss = "" if model.fit.loss.key == "square" else f", {_short(str(model.fit.loss))} loss"
    return f"{network} network {trained}, target {target}{loss}"


def _steps(count: int) -> str:
    return "after one gradient step" if count == 1 else f"after {count} gradient steps"


def _short(text: str) -> str:
    return shorten(text, _LONGEST).strip("'")
