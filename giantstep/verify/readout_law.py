"""The law of readouts under a penalty at a solution, by a quadrature of its own. Source: ``derive/penalty.py``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import sympy as sp

from derive.penalised_readout import AVERAGES, MEAN, SHARE, VARIANCE, WIDTH
from derive.penalty import PenaltyLaw, penalty_law
from derive.symbols import BETA, INVERSE_DIMENSION
from giantstep.system.result import Result
from giantstep.verify.lambdified import Function, numpy_of
from giantstep.verify.loss_curve import curve_of_entry
from giantstep.verify.quadrature import normal_nodes

Array = np.ndarray
_BODIES = ("response", "norm", "readout", "excess", "random_field", "pull", "energy")
_ANY = 100  # a dimension
_PANEL = 0.25  # in spreads of the argument of the proximal map
_AVERAGES = ("avg_M", "avg_g", "avg_h", "avg_gg")
_GIVEN = (BETA, INVERSE_DIMENSION, SHARE, WIDTH, VARIANCE, MEAN, *(AVERAGES[name] for name in _AVERAGES))


@dataclass(frozen=True)
class ReadoutLaw:
    """What the law of the readouts of all blocks is [K]: response T, norm Q2, mean, what stands for the penalty, and
    the free energy beside that of the stand-in. count: of the neurons; None in the limit.
    """

    response: Array
    norm: Array
    readout: Array
    excess: Array
    random_field: Array
    pull: Array
    energy: Array
    share: Array
    count: float | None

    def differs(self, response: Array, norm: Array, m: Array) -> dict[str, float]:
        """By how much T, Q2 and m of a solution differ from those of the law, relative; m to the size of a readout."""
        pairs = {"T of the readouts": (response, self.response), "Q2 of the readouts": (norm, self.norm)}
        found = {name: float(np.max(np.abs(one / other - 1.0))) for name, (one, other) in pairs.items()}
        if self.count is not None:
            off = m / (np.sqrt(self.count) * self.share) - self.readout
            found["m of the readouts"] = float(np.max(np.abs(off) / np.sqrt(norm / self.share)))
        return found


def readout_law(result: Result, share: Array) -> ReadoutLaw:
    """The law at the width, variance and mean of a result; share: of the blocks [K]."""
    model, order = result.vocabulary, result.order_parameters
    penalty = model.fit.penalty
    assert penalty is not None
    width, variance, mean = (order[f"prox_{name}"] for name in ("width", "variance", "mean"))
    curve = curve_of_entry(penalty.entry.loss, penalty.parameters, 0.0)
    spread = np.sqrt(variance)[:, None]
    x, weight = normal_nodes((curve.marks(width) - mean[:, None]) / spread, _PANEL)
    _, envelope, g, h = curve.moreau(mean[:, None] + spread * x, width)
    averages = [(weight * values).sum(axis=1) for values in (envelope, g, h, g * g)]
    beta, dimension = model.network.width, result.dimension
    numbers = (np.full(len(share), value) for value in (beta, 0.0 if dimension is None else 1.0 / dimension))
    given = (*numbers, share, width, variance, mean, *averages)
    count = None if dimension is None else beta * dimension
    found = dict(zip(_BODIES, (function(*given) for function in _functions()), strict=True))
    return ReadoutLaw(**found, share=share, count=count)


def at_a_dimension(result: Result) -> Result:
    """The result with the m that readouts with a mean have at some dimension, where nothing feels it in the limit."""
    penalty, share = result.vocabulary.fit.penalty, np.array(result.vocabulary.network.readout.fractions)
    if penalty is None or penalty.even or result.dimension is not None:
        return result
    there = replace(result, dimension=_ANY)
    law = readout_law(there, share)
    m = np.sqrt(law.count or 0.0) * share * law.readout
    return replace(there, order_parameters={**result.order_parameters, "m": m})


@lru_cache(maxsize=1)
def _functions() -> tuple[Function, ...]:
    law: PenaltyLaw = penalty_law()
    return tuple(numpy_of(sp.sympify(getattr(law, name)), _GIVEN) for name in _BODIES)
