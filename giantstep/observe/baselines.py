"""What a learning curve is held against: the same network without its step, and the best linear predictor."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from derive.language.links import link_of
from giantstep.spec.kernels import coefficients
from giantstep.spec.model import Model

_CANCELS = 1e-13  # relative to E f^2: what rounding leaves of a difference of squares


def random_features(model: Model) -> Model:
    """The model with neither step nor spike: plain random features. [GER20], [MM22]"""
    return replace(model, step=None, earlier_steps=(), spike=None)


def has_spike(model: Model) -> bool:
    """Whether the features of the model differ from plain random features."""
    return model.step is not None or model.spike is not None


@lru_cache(maxsize=256)
def best_linear_error(link: str) -> float:
    """Test error of the best affine predictor, E f_*^2 - (E f_*)^2 - |E z f_*|^2, against the clean target.

    No kernel and no random features do better while n and p are proportional to d. Source: [MMM22];
    [CUI24] section 4. Raises NotConverged or BadInput where the averages of the link are not accurate.
    """
    if link_of(link).indices == 1:
        return float(coefficients(link, np.zeros(1), 1.0)[2, 0])
    from giantstep.law.multi_index_moments import index_moments  # targets of one index start sooner without

    moments = index_moments(link)
    left = moments.square - moments.mean**2 - float(np.sum(np.square(moments.linear)))
    return left if left > _CANCELS * moments.square else 0.0
