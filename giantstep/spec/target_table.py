"""The table [target] of a model: what the labels are.

Sources: [CUI24] Cui et al. 2024, arXiv:2402.04980; [GER20] Gerace et al. 2020, arXiv:2002.09339.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from derive.language.grammar import shorten
from derive.language.links import link_of
from giantstep.spec.errors import BadInput
from giantstep.spec.link import LinkKind, label_range, takes_only_signs
from giantstep.spec.tables import Table, shown_plainly
from giantstep.spec.target_channel import (
    Channel,
    ChannelKind,
    check_mean,
    check_probabilities,
    mean_link,
    second_link,
    sign_link,
)
from giantstep.spec.validate import Number

SIGNS = 'choose a link such as "sign", "sign(z - 0.3)", "2*step(z) - 1" or "sign(z1*z2)"'


@shown_plainly
@dataclass(frozen=True)
class Target(Table):
    """Labels y = flip link(z + sqrt(probit) n) + Gaussian noise of variance ``noise``, in both batches.

    z = theta.x, |theta| = 1, or (z1, z2, ...) for orthonormal directions; n is standard normal, one for each index;
    flip is -1 with probability ``flips``, otherwise 1. Errors are measured against the clean target link(z).
    channel: the law P(y | s) of the label given s = link(z), in place of flips and noise: "logit", "probit", "poisson",
    a table with the name "binomial" and trials (1 to 64, 1 where left out), or one with labels and their probability in
    y and s. The clean target is then the mean label E[y | z], or the likelier of two labels +-1.
    """

    path: ClassVar[str] = "target"
    link: Annotated[str, LinkKind()]
    noise: Annotated[float, Number("the variance of the label noise", low=0.0)] = 0.0
    flips: Annotated[float, Number("the probability that a label is flipped", low=0.0, high=0.5)] = 0.0
    probit: Annotated[float, Number("the variance of the noise inside the link", low=0.0)] = 0.0
    channel: Annotated[Channel | None, ChannelKind()] = None

    @property
    def indices(self) -> int:
        """The number of directions theta_i that the link depends on."""
        return link_of(self.link).indices

    @property
    def mean_link(self) -> str:
        """E[y | z] without flips as a function of the indices with their noise: the link itself without a channel."""
        return mean_link(self.link, self.channel)

    def clean(self, signs: bool) -> Target:
        """The target without noise that errors are measured against: of a channel the mean label, or, where ``signs``,
        the likelier of two labels +-1.
        """
        if self.channel is None:
            return Target(self.link)
        return Target(sign_link(self.link, self.channel) if signs else self.mean_link)

    @property
    def mean(self) -> Target:
        """The target whose labels are the mean ones, E[y | z], without flips and noise."""
        return Target(self.mean_link)

    @property
    def second_link(self) -> str | float:
        """Of a channel a function of the indices with their noise, or a number where it is one: Var[y | z] of counts,
        of other labels E[y^2 | z]. The squares of counts may have averages where fourth powers of the mean have none.
        """
        return 0.0 if self.channel is None else second_link(self.link, self.channel)

    @property
    def deterministic(self) -> bool:
        """Whether the label is a function of the indices."""
        return not self.drawn and self.noise == 0.0

    @property
    def drawn(self) -> bool:
        """Whether labels are drawn given the indices, beside Gaussian noise."""
        return self.channel is not None or self.flips > 0.0 or self.probit > 0.0

    @property
    def takes_only_signs(self) -> bool:
        """Whether all labels are -1 or 1."""
        return takes_only_signs(self.link) if self.channel is None else self.channel.signs

    @property
    def label_range(self) -> tuple[float, float]:
        """The least and the largest label; infinite where Gaussian noise is added or counts have no bound."""
        if self.channel is None:
            low, high = label_range(self.link, 1.0 + self.probit)
            low, high = (min(low, -high), max(high, -low)) if self.flips else (low, high)
            return (-math.inf, math.inf) if self.noise else (low, high)
        values = self.channel.values
        return (min(values), max(values)) if values else (0.0, math.inf)

    def check(self) -> None:
        """Raises BadInput for flips of labels that are not +-1, and a channel beside other noise of the label."""
        if self.channel is not None:
            self._check_channel(self.channel)
        elif self.flips and not takes_only_signs(self.link):
            raise BadInput(
                f"target.flips = {self.flips!r} flips labels +-1, and target.link = {shorten(self.link)} takes "
                "other values",
                f"{SIGNS}, or use target.noise",
            )

    def _check_channel(self, channel: Channel) -> None:
        for name in ("noise", "flips"):
            if getattr(self, name):
                raise BadInput(
                    f"target.channel = {channel} is the whole law of the label, and target.{name} = "
                    f"{getattr(self, name)!r} is given beside it",
                    f"set target.{name} = 0, or leave the channel out; noise inside the link (target.probit) may stay",
                )
        check_probabilities(channel, self.link)
        check_mean(channel, self.link, self.probit)
        known = link_of(self.mean_link).indices
        if known != self.indices:
            raise BadInput(
                f"target.channel = {channel}: its mean label is that of {known} of the {self.indices} indices of "
                f"target.link = {shorten(self.link)}",
                "write a link of one index, or a channel whose mean label depends on every index",
            )
