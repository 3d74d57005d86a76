"""|y - f|^(3/2), whose curvature is infinite at the label: averages against the proximal map in closed form."""

from __future__ import annotations

import mpmath
import numpy as np

from derive.output import output_averages
from generated.runtime.label_points import LabelNodes
from generated.runtime.nodes import Fields, Rule
from giantstep.spec.fit_loss import FitLoss
from giantstep.system.coupled_system import gauss_rule
from giantstep.system.kernels import loss_kernel

_V, _DELTA = 0.7, 0.5
_STEPS = 64
# panels end where the slope is known to 1e-9, which bounds the average of its derivative h; the others are smoother
_TOLERANCES = {"M": 1e-11, "g": 1e-11, "gg": 1e-11, "h": 1e-9, "l": 1e-11}


def test_averages_by_the_closed_proximal_map() -> None:
    # the prox at the label 0 solves x + (3/2) V sqrt(x) = omega for omega > 0: x = s^2
    found = _averages()
    with mpmath.workdps(20):
        for name, closed in {"M": _envelope, "g": lambda w: 0, "gg": lambda w: _g(w) ** 2, "h": _h, "l": _loss}.items():
            # both sides of zero are the same; omega = q^2 takes out the root
            whole = mpmath.quad(lambda q, f=closed: 2 * q * f(q * q) * _density(q * q), [0, 0.1, 1, 2, 3])
            wanted = 0.0 if name == "g" else float(2 * whole)
            assert abs(found[name] - wanted) <= _TOLERANCES[name] * max(1.0, abs(wanted)), name


def _averages() -> dict[str, float]:
    kernel, one, none = loss_kernel(FitLoss("abs(y-f)**1.5")), np.ones((1, 1)), np.zeros((1, 1))
    names = tuple(output_averages(1).monomials)
    out = np.empty((len(names), 1))
    fields = Fields(np.array([_V]), np.zeros(1), np.zeros((1, 1)), np.array([_DELTA]))
    rule = Rule(gauss_rule(_STEPS), _STEPS, np.empty(0), 0.0)
    nodes = LabelNodes(one, np.zeros((1, 1, 1)), none, none)
    kernel.points(rule, nodes, fields, np.empty(kernel.SCRATCH_SHAPE), out)
    return {name: float(out[names.index(f"avg_{name}"), 0]) for name in ("M", "g", "gg", "h", "l")}


def _root(omega: mpmath.mpf) -> mpmath.mpf:
    b = 1.5 * mpmath.mpf(_V)
    return (-b + mpmath.sqrt(b * b + 4 * omega)) / 2


def _g(omega: mpmath.mpf) -> mpmath.mpf:
    return -1.5 * _root(omega)


def _h(omega: mpmath.mpf) -> mpmath.mpf:
    return 1.5 / mpmath.sqrt((1.5 * mpmath.mpf(_V)) ** 2 + 4 * omega)


def _loss(omega: mpmath.mpf) -> mpmath.mpf:
    return _root(omega) ** 3


def _envelope(omega: mpmath.mpf) -> mpmath.mpf:
    return _loss(omega) + _V * _g(omega) ** 2 / 2


def _density(omega: mpmath.mpf) -> mpmath.mpf:
    return mpmath.npdf(omega, 0, mpmath.sqrt(_DELTA))
