"""Whether rows of the first layer have unequal norms, so that the readout can align with them."""

from __future__ import annotations

import numpy as np

from giantstep.law.given_bulk import with_law
from giantstep.law.input_law import input_law
from giantstep.law.kind import norms_vary
from giantstep.spec.model import Model

_ROUNDING = 1e-10  # of squared norms


def norms_differ(model: Model) -> bool:
    """Whether they do in this model. Raises BadInput where its law is not defined."""
    if model.bulk == "matrix":
        return bool(np.abs(with_law(model).norms).max() > _ROUNDING)
    if model.bulk == "inputs":
        return bool(input_law(model).chi.max() > _ROUNDING**2)
    return norms_vary(model)
