"""Registered channels: laws P(y | s) of the label y given the value s of the link. Standard library only.

A channel of few labels is an expression of their probability in y and s; of counts, the moments of the law.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from derive.language.grammar import ExpressionError, Node, did_you_mean, parse, shorten
from derive.language.substitution import number, substituted

LABEL, PARAMETER, TRIALS = "y", "s", "trials"


@dataclass(frozen=True)
class ChannelEntry:
    """A channel: ``name``, its words, its source, and the law of y given s as LaTeX.

    labels, probability: those of few labels, and that of each as an expression in y and s; none where any count is a
    label. mean: E[y|s]; second: of few labels E[y^2|s], of counts Var[y|s], which is finite wherever E[y|s]^2 is;
    ``derive.channel`` computes them. trials: whether labels are counts up to a number of trials, a name in the
    expressions.
    """

    name: str
    meaning: str
    citation: str
    latex: str
    mean: str
    second: str
    labels: tuple[float, ...] = ()
    probability: str = ""
    trials: bool = False

    @property
    def counts(self) -> bool:
        """Whether labels are counts."""
        return not self.labels


_ENTRIES = (
    ChannelEntry(
        "logit",
        "y = +-1, of log odds s",
        "Cox 1958, J. R. Stat. Soc. B 20, 215",
        r"P(y=\pm1\mid s)=\frac{1}{1+e^{-ys}}",
        "tanh(s/2)",
        "1",
        (-1.0, 1.0),
        "sigmoid(y*s)",
    ),
    ChannelEntry(
        "probit",
        "y = +-1, the sign of s plus standard normal noise",
        "Bliss 1934, Science 79, 38",
        r"P(y=\pm1\mid s)=\Phi(ys)",
        "erf(s/sqrt(2))",
        "1",
        (-1.0, 1.0),
        "Phi(y*s)",
    ),
    ChannelEntry(
        "binomial",
        "y = 0, 1, ..., trials successes, of log odds s each",
        "McCullagh & Nelder 1989, Generalized Linear Models, ch. 4",
        r"P(y\mid s)=\binom{T}{y}\frac{e^{ys}}{(1+e^{s})^{T}}",
        "trials*sigmoid(s)",
        "trials*sigmoid(s)*sigmoid(-s)",
        trials=True,
    ),
    ChannelEntry(
        "poisson",
        "y = 0, 1, 2, ..., of mean exp(s)",
        "McCullagh & Nelder 1989, Generalized Linear Models, ch. 6",
        r"P(y\mid s)=\frac{e^{ys-e^{s}}}{y!}",
        "exp(s)",
        "exp(s)",
    ),
)

#: Registered name -> entry.
CHANNELS: Mapping[str, ChannelEntry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("logistic", "sigmoid", "bernoulli"), "logit"),
        **dict.fromkeys(("normal", "gaussian_noise"), "probit"),
        **dict.fromkeys(("count", "counts", "rate"), "poisson"),
    }
)


def channel_entry(name: str) -> ChannelEntry:
    """The entry of a registered channel. Raises ExpressionError."""
    if name in CHANNELS:
        return CHANNELS[name]
    nearest = _OTHER_NAMES.get(name.lower(), "")
    meant = f"did you mean '{nearest}'? " if nearest else did_you_mean(name, tuple(CHANNELS))
    raise ExpressionError(
        f"{shorten(name)} is not a registered channel",
        f"{meant}registered are {', '.join(CHANNELS)}; or write a table of labels and their probability, as "
        '{ labels = [-1, 1], probability = "sigmoid(y*s)" }',
    )


def parse_probability(text: str) -> Node:
    """The tree of a probability in y and s. Raises ExpressionError."""
    return parse(text, (LABEL, PARAMETER))


def parse_moment(text: str) -> Node:
    """The tree of a conditional moment of a registered channel, in s and the number of trials."""
    return parse(text, (PARAMETER, TRIALS))


def moment(labels: tuple[float, ...], probability: Node, power: int) -> Node:
    """E[y^power | s] of labels with a probability: the sum over them, a tree in s."""
    terms = [
        _scaled(label**power, substituted(probability, {LABEL: number(label)})) for label in labels if label != 0.0
    ]
    total = terms[0]
    for term in terms[1:]:
        total = Node("add", (total, term))
    return total


def _scaled(size: float, weight: Node) -> Node:
    if size == 1.0:
        return weight
    return Node("neg", (weight,)) if size == -1.0 else Node("mul", (number(size), weight))
