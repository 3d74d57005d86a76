"""The error of the best prediction of a clean target whose directions are known to an overlap Q."""

from __future__ import annotations

import numpy as np

from giantstep.law.directions import rows_of
from giantstep.law.labels import label_law
from giantstep.observe.optimal.told import Fineness, kappas, parts_of, square_root
from giantstep.spec.model import Target

Array = np.ndarray


def least_error(target: Target, known: Array, fineness: Fineness, by_sign: bool) -> float:
    """E Var(f_* | kappa), or where predictions are signs P(f_* f < 0), for the overlap Q [m, m]."""
    if np.all(np.diag(known) == 1.0):
        return 0.0
    root = square_root(known)
    clean = target.clean(by_sign)
    kappa, weight = kappas(clean, known, fineness)
    law = label_law(clean, rows_of(root), kappa, finer=fineness.labels)
    parts = parts_of(law, kappa)
    label, share = parts.label, parts.weight
    if by_sign:
        below, above = (share * (label < 0.0)).sum(axis=1), (share * (label > 0.0)).sum(axis=1)
        return float(weight @ np.minimum(below, above))
    mean = (share * label).sum(axis=1, keepdims=True)
    return float(weight @ (share * (label - mean) ** 2).sum(axis=1))
