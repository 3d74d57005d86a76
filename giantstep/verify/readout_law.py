"""The law of readouts under a penalty at a solution, by a quadrature of its own. Source: ``derive/penalty.py``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from derive.penalty import AVERAGES, SHARE, VARIANCE, WIDTH, PenaltyLaw, penalty_law
from derive.symbols import BETA
from giantstep.system.result import Result
from giantstep.verify.lambdified import Function, numpy_of
from giantstep.verify.loss_curve import curve_of_entry
from giantstep.verify.quadrature import normal_nodes

Array = np.ndarray
_PANEL = 0.25  # in spreads of the argument of the proximal map
_GIVEN = (BETA, SHARE, WIDTH, VARIANCE, *(AVERAGES[name] for name in ("avg_M", "avg_h", "avg_gg")))


@dataclass(frozen=True)
class ReadoutLaw:
    """What the law of the readouts of all blocks is [K]: response T, norm Q2, what stands for the penalty, and the
    free energy beside that of the stand-in.
    """

    response: Array
    norm: Array
    excess: Array
    random_field: Array
    energy: Array

    def differs(self, response: Array, norm: Array) -> dict[str, float]:
        """By how much T and Q2 of a solution differ from those of the law, relative."""
        pairs = {"T of the readouts": (response, self.response), "Q2 of the readouts": (norm, self.norm)}
        return {name: float(np.max(np.abs(one / other - 1.0))) for name, (one, other) in pairs.items()}


def readout_law(result: Result, share: Array) -> ReadoutLaw:
    """The law at the width and variance of a result; share: of the blocks [K]."""
    model, order = result.vocabulary, result.order_parameters
    penalty = model.fit.penalty
    assert penalty is not None
    width, variance = order["prox_width"], order["prox_variance"]
    curve = curve_of_entry(penalty.entry.loss, penalty.parameters, 0.0)
    spread = np.sqrt(variance)[:, None]
    x, weight = normal_nodes(curve.marks(width) / spread, _PANEL)
    _, envelope, g, h = curve.moreau(spread * x, width)
    averages = [(weight * values).sum(axis=1) for values in (envelope, h, g * g)]
    given = (np.full(len(share), model.network.width), share, width, variance, *averages)
    return ReadoutLaw(*(function(*given) for function in _functions()))


@lru_cache(maxsize=1)
def _functions() -> tuple[Function, ...]:
    law: PenaltyLaw = penalty_law()
    bodies = (law.response, law.norm, law.excess, law.random_field, law.energy)
    return tuple(numpy_of(sp.sympify(body), _GIVEN) for body in bodies)
