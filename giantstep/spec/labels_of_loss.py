"""Which labels a loss is for, and what a model may do where its target gives others."""

from __future__ import annotations

import math

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.fit_loss import FitLoss
from giantstep.spec.target_channel import Channel
from giantstep.spec.target_table import SIGNS, Target

_ROUNDING = 1e-9  # of the labels of a link, at the bounds of a loss
_OTHER_LOSSES = "a loss for regression, such as square, huber or absolute"


def check_labels(loss: FitLoss, target: Target) -> None:
    """Raises BadInput where a loss of the margin, or a likelihood of counts, meets labels that it is not for."""
    if loss.form == "margin":
        _check_margin(loss.name, target)
    elif loss.label_range == (-math.inf, math.inf):
        return
    elif target.channel is not None and target.channel.counts:
        _check_counts(loss, target.channel)
    else:
        _check_range(loss, target)


def _check_margin(loss: str, target: Target) -> None:
    """A loss of y f is for labels +-1."""
    if target.noise:
        raise BadInput(
            f"fit.loss = {shorten(loss)} needs labels +-1, and target.noise = {target.noise!r} adds Gaussian "
            "noise to them",
            "set target.noise = 0; noise of such labels is target.flips (a probability) or target.probit (a variance "
            "inside the link)",
        )
    if not target.takes_only_signs:
        raise BadInput(
            f"fit.loss = {shorten(loss)} needs labels +-1, and {_source(target)} takes other values",
            f"{_signs_instead(target.channel)}, or {_OTHER_LOSSES}",
        )


def _check_counts(loss: FitLoss, channel: Channel) -> None:
    """A likelihood of counts belongs to the channel that has its mean: of as many trials, or without a bound."""
    most, drawn = loss.label_range[1], max(channel.values, default=math.inf)
    if most == drawn:
        return
    own = '"poisson"' if drawn == math.inf else f'{{ name = "binomial", trials = {channel.trials} }}'
    raise BadInput(
        f"fit.loss = {loss} is a likelihood of {_counts(most)}, and target.channel = {channel} draws {_counts(drawn)}",
        f"write fit.loss = {own}, or {_OTHER_LOSSES}",
    )


def _counts(most: float) -> str:
    return "counts without a bound" if most == math.inf else f"counts from 0 to {most:g}"


def _check_range(loss: FitLoss, target: Target) -> None:
    """Labels of a likelihood of counts are within the range of its mean."""
    (least, most), (low, high) = loss.label_range, target.label_range
    if low >= least - _ROUNDING and high <= most * (1.0 + _ROUNDING):
        return
    allowed = f">= {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
    found = f"{_source(target)} gives labels between {low:.4g} and {high:.4g}"
    if target.noise:
        found = f"target.noise = {target.noise!r} adds Gaussian noise to them, which has no such bound"
    signs = "logistic for labels +-1, " if target.takes_only_signs else ""
    raise BadInput(
        f"fit.loss = {loss} needs labels {allowed}, and {found}",
        f'write target.channel = "{"poisson" if most == math.inf else "binomial"}", which draws counts, or a link '
        f"within these bounds, without noise; or another loss: {signs}square, huber or absolute",
    )


def _source(target: Target) -> str:
    return f"target.link = {shorten(target.link)}" if target.channel is None else f"target.channel = {target.channel}"


def _signs_instead(channel: Channel | None) -> str:
    """What has labels +-1 in the place of a link, or of a channel with other labels."""
    if channel is None:
        return f'{SIGNS}, or target.channel = "logit"'
    if len(channel.values) != 2:
        return 'choose a channel of labels +-1, such as "logit"'
    if channel.counts:
        return 'write channel = "logit", the same law of labels -1 and 1 in the place of 0 and 1'
    return "write the two labels as -1 and 1, also in their probability"
