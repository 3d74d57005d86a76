"""What a report is called."""

from __future__ import annotations

from derive.language.catalogue import lookup
from derive.language.links import link_of
from derive.language.penalties import REGISTERED
from giantstep.draw.formulas import OWN, activation_words, link_words, loss_words
from giantstep.spec.model import Model
from giantstep.spec.step_table import Step

_BULKS = {"trained": "trained", "matrix": "given"}


def title_of(model: Model, formulas: bool = True) -> str:
    """The network, what is done to it, the target and the loss, in one line.

    formulas: expressions of the user as mathematics between dollar signs, else as words.
    """
    activation, link, loss = lookup(model.network.activation), link_of(model.target.link), model.fit.loss
    network, target, fitted = f"{activation.name} network", f"target {link.name}", f", {loss} loss"
    if activation.name.startswith(OWN):
        network = f"network with {activation_words(activation.expression) if formulas else 'its own activation'}"
    if link.name.startswith(OWN):
        target = f"target {link_words(link.text)}" if formulas else "its own target"
    if loss.key.startswith(OWN):
        fitted = f", loss {loss_words(loss)}" if formulas else ", its own loss"
    trained = _steps(len(model.steps)) if model.step else "with a spike" if model.spike else "untrained"
    penalty, bulk = model.fit.penalty, model.step.bulk if model.step else Step.bulk
    found = f"{network} {trained}" + ("" if bulk == Step.bulk else f" ({_BULKS[bulk]} bulk)")
    found += f", {target}" + ("" if loss.key == "square" else fitted)
    if penalty is not None:
        found += f", {penalty} penalty" if penalty.name in REGISTERED else ", its own penalty"
    return found[0].upper() + found[1:] if activation.name.startswith(OWN) else found


def _steps(count: int) -> str:
    return "after one gradient step" if count == 1 else f"after {count} gradient steps"
