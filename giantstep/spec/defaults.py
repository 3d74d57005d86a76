"""What a model takes without being told: parameters that have their default, and formulas behind names."""

from __future__ import annotations

from derive.language.catalogue import NAMED, REGISTERED
from derive.language.grammar import canonical, parse
from giantstep.spec.model import Model
from giantstep.spec.target_channel import Channel


def parameters_at_default(model: Model) -> dict[str, float]:
    """Dotted key -> value of each parameter of the loss, the penalty and the channel that has its default."""
    found: dict[str, float] = {}
    for noun, given in (("loss", model.fit.loss), ("penalty", model.fit.penalty)):
        if given is not None:
            defaults = {item.name: item.default for item in given.entry.parameters}
            found |= {f"fit.{noun}.{key}": value for key, value in given.parameters if value == defaults[key]}
    channel = model.target.channel
    if channel is not None and channel.entry is not None and channel.entry.trials and channel.trials == Channel.trials:
        found["target.channel.trials"] = channel.trials
    return found


def formulas(model: Model) -> dict[str, str]:
    """Key -> formula of an activation and a link given by name, where it is more than z or a function of that name."""
    found = {}
    for key, name in (("network.activation", model.network.activation), ("target.link", model.target.link)):
        formula = _formula(name)
        if formula not in ("", "z", f"{name}(z)"):
            found[key] = formula
    return found


def _formula(name: str) -> str:
    if name in REGISTERED:
        return REGISTERED[name].expression
    return canonical(parse(f"{name}(z)")) if name in NAMED else ""
