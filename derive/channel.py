"""The law of a label that a channel draws, and its first two moments given the value s of the link.

Averages over the label are sums over the labels of the channel, each with its probability. Counts have probabilities
h(y) w^y/Z(w) with w = exp(s), and moments from the derivatives of Z in w. McCullagh & Nelder 1989, section 2.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from derive.language.channels import (
    LABEL,
    PARAMETER,
    ChannelEntry,
    parse_moment,
    parse_probability,
)
from derive.language.grammar import Node
from derive.language.substitution import number, substituted
from derive.operations import COMPOSED, computed, equal
from derive.to_sympy import to_sympy
from derive.trace import Derivation, Recorder

S = sp.Symbol(PARAMETER, real=True)
COUNT = sp.Symbol("k", integer=True, nonnegative=True)
W = sp.Symbol("w", positive=True)
MEAN, SQUARE = sp.Function("y_mean", real=True), sp.Function("y_square", real=True)
PROBABILITY = sp.Function("P", nonnegative=True)


@dataclass(frozen=True)
class ChannelLaw:
    """P(y | s) of a channel as SymPy expressions: labels with their probabilities; of counts without bound none.

    trials: of counts up to a number of them.
    """

    name: str
    source: str
    values: tuple[Any, ...]
    probabilities: tuple[Any, ...]
    trials: int = 0

    def average(self, function: Any, label: sp.Symbol, s: Any) -> Any:
        """E[function(y) | s]: the sum over the labels."""
        if not self.values:
            return sp.Sum(poisson(COUNT).subs(S, s) * function.subs(label, COUNT), (COUNT, 0, sp.oo))
        pairs = zip(self.values, self.probabilities, strict=True)
        return sp.Add(*(p.subs(S, s) * function.subs(label, y) for y, p in pairs))


def poisson(count: Any) -> Any:
    """P(y = count | s) of a Poisson law of mean exp(s)."""
    return sp.exp(count * S - sp.exp(S)) / sp.factorial(count)


def channel_law(entry: ChannelEntry, trials: int) -> ChannelLaw:
    """The law of a registered channel."""
    if entry.trials:
        values = tuple(map(sp.Integer, range(trials + 1)))
        one, none = (_of_s(parse_moment(text)) for text in ("sigmoid(s)", "sigmoid(-s)"))
        chances = tuple(sp.binomial(trials, y) * one**y * none ** (trials - y) for y in values)
        return ChannelLaw(entry.name, entry.citation, values, chances, trials)
    if not entry.labels:
        return ChannelLaw(entry.name, entry.citation, (), ())
    return given_law(entry.labels, entry.probability, entry.name, entry.citation)


def given_law(labels: tuple[float, ...], probability: str, name: str = "", source: str = "") -> ChannelLaw:
    """The law of labels whose probability is an expression in y and s."""
    tree = parse_probability(probability)
    chances = tuple(_of_s(substituted(tree, {LABEL: number(y)})) for y in labels)
    return ChannelLaw(name, source, tuple(sp.nsimplify(y) for y in labels), chances)


def derive_moments(law: ChannelLaw) -> Derivation:
    """The first two moments of the label given s."""
    trace = Recorder("Label of the channel")
    if law.trials or not law.values:
        _moments_of_counts(trace, law)
        return trace.finish()
    for label, chance in zip(law.values, law.probabilities, strict=True):
        trace.given(_name(label), PROBABILITY(label, S), chance, "the law of the label", law.source)
    for power, function, words in _MOMENTS:
        trace.derive(
            f"moment {power} of the label",
            function(S),
            computed(
                "sum",
                f"the {words} of the label: the sum over the labels",
                *map(_name, law.values),
                by=lambda *found, power=power: sp.Add(*(p * y**power for p, y in zip(found, law.values, strict=True))),
                test=COMPOSED,
            ),
            law.source,
        )
    return trace.finish()


_MOMENTS = ((1, MEAN, "mean"), (2, SQUARE, "mean square"))


def _name(label: Any) -> str:
    return f"probability of {label}"


def _moments_of_counts(trace: Recorder, law: ChannelLaw) -> None:
    """Those of counts, from the sum of all h(y) w^y."""
    terms = sp.binomial(law.trials, COUNT) if law.trials else 1 / sp.factorial(COUNT)
    last = sp.Integer(law.trials) if law.trials else sp.oo
    chance = terms * W**COUNT / sp.Sum(terms * W**COUNT, (COUNT, 0, last))
    trace.given("probability of a count", PROBABILITY(COUNT, S), chance, "the law of the label, $w=e^{s}$", law.source)
    trace.derive(
        "sum over counts",
        sp.Symbol("Z", positive=True),
        computed(
            "sum",
            "what the probabilities of all counts are divided by",
            "probability of a count",
            by=lambda _: sp.factor(sp.summation(terms * W**COUNT, (COUNT, 0, last))),
            test=equal(lambda _: sp.Sum(terms * W**COUNT, (COUNT, 0, last))),
        ),
        law.source,
    )
    for power, function, words in _MOMENTS:
        trace.derive(
            f"moment {power} of the label",
            function(S),
            computed(
                "differentiate",
                f"the {words} of the label: $w\\,d/dw$ brings down the count, {('once', 'twice')[power - 1]}",
                "sum over counts",
                by=lambda total, power=power: sp.simplify(_counted(total, power) / total).subs(W, sp.exp(S)),
                test=COMPOSED,
            ),
            law.source,
        )


def _counted(total: Any, power: int) -> Any:
    """(w d/dw)^power of a function of w."""
    for _ in range(power):
        total = W * sp.diff(total, W)
    return total


def _of_s(node: Node) -> Any:
    return to_sympy(node, {PARAMETER: S})
