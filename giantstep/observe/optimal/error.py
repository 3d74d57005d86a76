"""The error of the best prediction of a clean target whose directions are known to an overlap Q."""

from __future__ import annotations

import numpy as np

from giantstep.law.directions import rows_of
from giantstep.law.labels import is_constant, label_law
from giantstep.observe.optimal.axes import square_root
from giantstep.observe.optimal.fineness import Fineness
from giantstep.observe.optimal.one import error_by_nodes
from giantstep.observe.optimal.parity import error_by_parity, size_of
from giantstep.observe.optimal.smooth import on_grid, smooth_error
from giantstep.observe.optimal.told import kappas, parts_of
from giantstep.observe.optimal.two import by_pieces, error_by_pieces
from giantstep.spec.errors import NotConverged
from giantstep.spec.model import Target

Array = np.ndarray
_TOGETHER = 2000  # nodes of kappa


def least_error(target: Target, known: Array, fineness: Fineness, by_sign: bool) -> float:
    """E Var(f_* | kappa), or where predictions are signs P(f_* f < 0), for the overlap Q [m, m]."""
    if np.all(np.diag(known) == 1.0):
        return 0.0
    rows, clean = rows_of(square_root(known)), target.clean(by_sign)
    if target.indices == 1 and not by_sign and not is_constant(target.link):
        return error_by_nodes(target, float(known[0, 0]), fineness)
    if size_of(target) is not None and np.array_equal(known, known[0, 0] * np.eye(len(known))):
        return error_by_parity(target, float(known[0, 0]), by_sign)
    if by_pieces(target) and not by_sign:
        return error_by_pieces(target, known, fineness)
    if on_grid(target) and not by_sign:
        return smooth_error(target, known, fineness)
    kappa, weight = kappas(clean, known, fineness)
    total = 0.0
    for start in range(0, len(kappa), _TOGETHER):
        here = slice(start, start + _TOGETHER)
        try:
            law = label_law(clean, rows, kappa[here], finer=fineness.labels)
        except NotConverged as error:
            raise _of_likelier(target, error) if by_sign and target.channel is not None else error from None
        parts = parts_of(law, kappa[here])
        total += float(weight[here] @ (_wrong if by_sign else _square)(parts.label, parts.weight))
    return total


def _wrong(label: Array, share: Array) -> Array:
    """The least probability of a wrong sign; where both labels are equally likely, label 0, any is wrong by half."""
    below, above, either = ((share * (np.sign(label) == sign)).sum(axis=1) for sign in (-1.0, 1.0, 0.0))
    return np.asarray(np.minimum(below, above) + 0.5 * either)


def _square(label: Array, share: Array) -> Array:
    """The variance of the label."""
    mean = (share * label).sum(axis=1, keepdims=True)
    return np.asarray((share * (label - mean) ** 2).sum(axis=1))


def _of_likelier(target: Target, error: NotConverged) -> NotConverged:
    """In the words of the model: which of two labels is likelier jumps where the link and the channel do not."""
    return NotConverged(
        f"the least misclassification of target.link = {target.link!r} with target.channel = {target.channel} needs "
        f"averages over the likelier label, which jumps: {error.message}",
        "set fit.loss=square for the least squared error, which is that of the mean label",
    )
