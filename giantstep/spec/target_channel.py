"""The entry ``target.channel`` of a model: the law P(y | s) of the label given the value s = link(z)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from derive.language.channels import (
    CHANNELS,
    LABEL,
    PARAMETER,
    TRIALS,
    ChannelEntry,
    channel_entry,
    moment,
    parse_moment,
    parse_probability,
)
from derive.language.grammar import ExpressionError, Node, canonical, constant_value, shorten
from derive.language.links import link_of
from derive.language.substitution import number, substituted
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import Array, jet, prepare, special
from giantstep.spec.link import link_values, probes, problem_of
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import REACH, TOO_LARGE, Count, Kind, Number, Numbers, wrong

MOST_LABELS, MOST_TRIALS = 64, 64
_KEY = "target.channel"
_ALLOWED = f"the name of a channel ({', '.join(CHANNELS)}), or a table"
_EXAMPLE = (
    'for example "logit", { name = "binomial", trials = 5 } or { labels = [-1, 1], probability = "sigmoid(y*s)" }'
)
TRIALS_OF_LABEL = Count("the number of trials of a label (1 where left out)", 1, MOST_TRIALS)
_FAR = REACH - 1e-6  # where growth is judged
_ONE = 1e-9  # what probabilities may sum to beside 1


@dataclass(frozen=True)
class Channel:
    """The law of the label y given s = link(z): a registered name, or labels and their probability in y and s.

    name: empty where labels and their probability are given. trials: of the channel "binomial", at most 64. Raises
    BadInput for a name that is not registered, for other trials, and for what is no probability at every s.
    """

    name: str = ""
    trials: int = 1
    labels: tuple[float, ...] = ()
    probability: str = ""

    def __post_init__(self) -> None:
        if self.name:
            _entry(self.name)
            TRIALS_OF_LABEL.check(f"{_KEY}.trials", self.trials)
        else:
            _check_labels(self)

    @property
    def entry(self) -> ChannelEntry | None:
        """The entry of the catalogue; None where labels are given."""
        return _entry(self.name) if self.name else None

    @property
    def values(self) -> tuple[float, ...]:
        """The labels; none where any count is one."""
        entry = self.entry
        if entry is None:
            return self.labels
        return tuple(float(y) for y in range(self.trials + 1)) if entry.trials else entry.labels

    @property
    def signs(self) -> bool:
        """Whether the labels are -1 and 1."""
        return sorted(self.values) == [-1.0, 1.0]

    @property
    def odd(self) -> bool:
        """Whether the opposite label is as likely given the opposite s: of the registered laws of signs."""
        return self.entry is not None and self.signs

    @property
    def likelier(self) -> Node:
        """A tree in s that has the sign of the likelier of two labels +-1."""
        return self.mean if self.entry is None else Node("variable", value=PARAMETER)

    @property
    def mean(self) -> Node:
        """E[y|s], a tree in s."""
        return _moments(self)[0]

    @property
    def second(self) -> Node:
        """Var[y|s] of counts, of other labels E[y^2|s]; a tree in s."""
        return _moments(self)[1]

    @property
    def counts(self) -> bool:
        """Whether labels are counts."""
        return self.entry is not None and self.entry.counts

    def probability_of(self, y: Array, s: Array) -> Array:
        """P(y | s) of labels and parameters, arrays that broadcast."""
        entry = self.entry
        if entry is not None and not entry.labels:
            return _of_counts(np.asarray(y, dtype=float), s, self.trials if entry.trials else None)
        y, s = np.broadcast_arrays(np.asarray(y, dtype=float), s)
        tree = prepare(parse_probability(self.probability if entry is None else entry.probability))
        return np.array(np.broadcast_to(jet(tree, PARAMETER, {LABEL: y, PARAMETER: s}, 0)[0], s.shape))

    def slope_of(self, y: Array, s: Array) -> Array:
        """The derivative of P(y | s) in s."""
        entry = self.entry
        if entry is not None and not entry.labels:
            return np.asarray(
                self.probability_of(y, s) * (y - jet(prepare(self.mean), PARAMETER, {PARAMETER: s}, 0)[0])
            )
        y, s = np.broadcast_arrays(np.asarray(y, dtype=float), s)
        tree = prepare(parse_probability(self.probability if entry is None else entry.probability))
        return np.array(np.broadcast_to(jet(tree, PARAMETER, {LABEL: y, PARAMETER: s}, 1)[1], s.shape))

    def weights(self, s: Array) -> Array:
        """The probability of every label at s [...], [labels, ...]; of a channel of few labels."""
        return np.stack([self.probability_of(np.array(y), s) for y in self.values])

    def to_dict(self) -> str | dict[str, Any]:
        """What a model file holds: the name, or a table."""
        if not self.name:
            return {"labels": list(self.labels), "probability": self.probability}
        return {"name": self.name, "trials": self.trials} if _entry(self.name).trials else self.name

    def __str__(self) -> str:
        if not self.name:
            return f"P(y|s) = {self.probability}"
        return f"{self.name}({self.trials})" if _entry(self.name).trials else self.name


class ChannelKind(Kind):
    """The kind of the field ``target.channel``: nothing, text, a table, or a Channel."""

    text = True
    inner = ("trials",)

    def purpose(self) -> str:
        """What the law is, and how it is given."""
        return (
            "the law of the label given s = link(z): a name, or a table of it with trials, or of labels and probability"
        )

    def check(self, key: str, value: object) -> Channel | None:
        """The channel, None for none. Raises BadInput naming the key, the value and what is allowed."""
        if value is None or isinstance(value, Channel):
            return value
        if isinstance(value, str):
            name = value.strip()
            if not name.isidentifier():
                raise wrong(key, value, _ALLOWED, _EXAMPLE)
            return Channel(name)
        if not isinstance(value, Mapping):
            raise wrong(key, value, _ALLOWED, _EXAMPLE)
        return _of_table(key, dict(value))


def _of_counts(y: Array, s: Array, trials: int | None) -> Array:
    """The probability of counts, binomial or Poisson."""
    with np.errstate(over="ignore"):
        if trials is None:
            return np.exp(y * s - np.exp(s) - special.gammaln(y + 1.0))
        ways = special.binom(trials, y)
        return np.asarray(ways * special.expit(s) ** y * special.expit(-s) ** (trials - y))


def mean_link(link: str, channel: Channel | None) -> str:
    """The mean label as a link, E[y | z]: the link itself without a channel."""
    return link if channel is None else _composed(link, canonical(channel.mean))


def second_link(link: str, channel: Channel) -> str | float:
    """Var[y | z] of counts, of other labels E[y^2 | z], as a link, or a number where it is one."""
    constant = constant_value(channel.second)
    return constant if constant is not None else _composed(link, canonical(channel.second))


def sign_link(link: str, channel: Channel) -> str:
    """The likelier of two labels +-1 as a link."""
    return _composed(link, canonical(Node("call", (channel.likelier,), "sign")))


@lru_cache(maxsize=256)
def _composed(link: str, function: str) -> str:
    """A function of s at s = link(z), as text. Raises BadInput where it is too long."""
    try:
        return link_of(canonical(substituted(parse_moment(function), {PARAMETER: link_of(link).node}))).text
    except ExpressionError as error:
        raise BadInput(
            f"{_KEY} with target.link = {shorten(link)}: of the moments of the label, sums over all labels, "
            f"{error.message}",
            f"{error.hint}: give fewer labels, or a shorter probability",
        ) from None


@lru_cache(maxsize=64)
def _moments(channel: Channel) -> tuple[Node, Node]:
    entry = channel.entry
    if entry is None:
        tree = parse_probability(channel.probability)
        mean, square = (moment(channel.labels, tree, power) for power in (1, 2))
        same = {label * label for label in channel.labels}
        return mean, number(same.pop()) if len(same) == 1 else square
    trials = {TRIALS: number(float(channel.trials))}
    return substituted(parse_moment(entry.mean), trials), substituted(parse_moment(entry.second), trials)


def _entry(name: str) -> ChannelEntry:
    try:
        return channel_entry(name)
    except ExpressionError as error:
        raise BadInput(f"{_KEY}: {error.message}", error.hint) from None


def _of_table(key: str, given: dict[str, object]) -> Channel:
    allowed = ("name", "trials") if "name" in given else ("labels", "probability")
    for name in given:
        if name not in allowed:
            raise BadInput(f"unknown key {shorten(name)} in {key}", f"it has {' and '.join(allowed)}; {_EXAMPLE}")
    if "name" in given:
        return _registered(key, given)
    missing = [name for name in allowed if name not in given]
    if missing:
        meaning = {"labels": "the values that a label can take", "probability": "that of a label y given s = link(z)"}
        raise BadInput(f"{key}.{missing[0]} is missing: {meaning[missing[0]]}", _EXAMPLE)
    labels = cast(tuple[float, ...], Numbers(Number("a label"), MOST_LABELS).check(f"{key}.labels", given["labels"]))
    probability = as_text(f"{key}.probability", given["probability"], (LABEL, PARAMETER))
    if not isinstance(probability, str):
        raise wrong(f"{key}.probability", probability, "an expression in y and s", _EXAMPLE)
    return Channel(labels=labels, probability=probability.strip())


def _registered(key: str, given: dict[str, object]) -> Channel:
    name = given["name"]
    if not isinstance(name, str):
        raise wrong(f"{key}.name", name, f"one of {', '.join(CHANNELS)}", _EXAMPLE)
    if "trials" not in given:
        return Channel(name.strip())
    if not _entry(name.strip()).trials:
        raise BadInput(f"{key}.trials is given, and the channel {name.strip()} has no trials", 'use name = "binomial"')
    trials = TRIALS_OF_LABEL.check(f"{key}.trials", given["trials"])
    return Channel(name.strip(), trials)


def _check_labels(channel: Channel) -> None:
    """Raises BadInput for labels that are no labels, and a probability that does not parse."""
    where, labels = f"{_KEY}.labels = {shorten(list(channel.labels))}", channel.labels
    if not 2 <= len(labels) <= MOST_LABELS or len(set(labels)) < len(labels):
        raise BadInput(f"{where} is not allowed", f"give 2 to {MOST_LABELS} different labels")
    try:
        parse_probability(channel.probability)
    except ExpressionError as error:
        raise BadInput(f"{_KEY}.probability: {error.message}", error.hint) from None


def check_mean(channel: Channel, link: str, probit: float) -> None:
    """Raises BadInput where the mean label, or the mean square of counts, has no average over the inputs."""
    shown = f"target.link = {shorten(link)} with {_KEY} = {channel}"
    points = probes(link_of(link).indices)
    most = float(np.max(link_values(link)(points[:, np.linalg.norm(points, axis=0) > _FAR])))
    limit = math.log(TOO_LARGE) / (1.0 + probit)
    if channel.counts and not channel.values and most > limit:
        raise BadInput(
            f"{shown} grows too fast: counts have the mean exp(link), whose square has no average over the inputs, or "
            "none that can be computed",
            f"use a link that stays below {limit:.0f} up to |z| = {REACH:g}, {_slow_links(link, limit, probit)}",
        )
    for text in (mean_link(link, channel), second_link(link, channel)):
        problem = problem_of(text) if isinstance(text, str) else ""
        if problem:
            raise BadInput(f"{shown} is not allowed: of the moments of the label, {problem}", "change the link")


def _slow_links(link: str, limit: float, probit: float) -> str:
    """Examples with as many indices: what stays below a limit, and from where on there is no average."""
    slope, square, infinite = limit / REACH, limit / REACH**2, 0.25 / (1.0 + probit)
    if link_of(link).indices == 1:
        return f"as {slope:.3g}*z and {square:.3g}*z**2 do; from {infinite:.3g}*z**2 on there is no average"
    # z1*z2 is at most |z|^2/2
    return f"as {slope:.3g}*z1 and {2 * square:.3g}*z1*z2 do; from {2 * infinite:.3g}*z1*z2 on there is no average"


def check_probabilities(channel: Channel, link: str) -> None:
    """Raises BadInput for probabilities that are none at a value s of the link."""
    labels, s = channel.values, np.unique(link_values(link)(probes(link_of(link).indices)))
    if not labels:
        return
    with np.errstate(all="ignore"):
        found = channel.weights(s)
        total = found.sum(axis=0)
    for bad, words in (
        (~np.isfinite(found).all(axis=0), "are not all finite"),
        ((found < -_ONE).any(axis=0), "are not all positive"),
        (np.abs(total - 1.0) > _ONE, "do not sum to 1"),
    ):
        if bad.any():
            at = int(np.argmin(np.where(bad, np.abs(s), np.inf)))
            shown, place = ", ".join(f"{p:.4g}" for p in found[:, at][:4]), float(s[at]) + 0.0
            hint = "give the probability of each label y as a function of s, as sigmoid(y*s) for labels -1 and 1"
            if np.isnan(found[:, at]).any():
                hint = "write it without 0/0 far out, as sigmoid(a-b) for exp(a)/(exp(a)+exp(b))"
            raise BadInput(
                f"{_KEY}.probability = {shorten(channel.probability)}: at s = {place:.4g} the probabilities of the "
                f"labels are {shown}{', ...' * (len(labels) > 4)}, which {words}",
                hint,
            )
