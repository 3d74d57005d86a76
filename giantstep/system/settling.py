"""Newton's method on panels in kappa, and nodes of the label, that follow the unknowns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from giantstep.system.kappa_lines import may_follow, on_lines
from giantstep.system.kink_crossings import cuts_at
from giantstep.system.label_refinement import FOLLOWING, settles, system_at
from giantstep.system.level import Level
from giantstep.system.newton import Outcome, newton
from giantstep.system.problem import Problem
from giantstep.system.resolution import FINE
from giantstep.system.system_of_problem import coupled_at

Array = np.ndarray
CLOSE = 2e-3  # a relative Newton step that ends the way to a solution: the next one is some tenth of its square
_CUTS, _RECUT = 5, 0.1  # how often panels are cut anew, relative change that asks for it
_HELD = 1e-4  # relative moves below this that do not shrink are rounding
_ROUNDS, _FEW, _ROUGHLY = 12, 4, 1e-7  # how often nodes of the label are chosen, Newton steps on them, their tolerance


def cutting(problem: Problem, x: Array) -> Outcome:
    """Newton's method on panels cut about the kinks of the loss, cut anew until the unknowns stay; where the label
    varies, on nodes of it that follow them.
    """
    if settles(problem):
        return settling(problem, x, FINE[0], CLOSE)
    evaluations, of_plane = 0, may_follow(problem)
    for _ in range(_CUTS):
        if of_plane:
            (system,) = on_lines(problem, FINE[1:], x, tolerance=_ROUGHLY)
        else:
            system = coupled_at(problem, replace(FINE[1], cuts=cuts_at(problem, x)))
        outcome = newton(system, x, most=12, settled=CLOSE)
        moved, x = float(np.max(np.abs(outcome.x - x) / system.scale(outcome.x))), outcome.x
        evaluations += outcome.evaluations
        if outcome.converged and moved < _RECUT or moved == 0.0 or not np.all(np.isfinite(x)):
            break
    return replace(outcome, evaluations=evaluations)


def settling(problem: Problem, x: Array, level: Level, moving: float) -> Outcome:
    """Newton's method on nodes of the label and panels in kappa chosen anew every few steps, beside the cuts of the
    level, until the unknowns move less than ``moving``: fixed ones miss the turns of an output that varies little about
    its moving mean.
    """
    evaluations, before = 0, math.inf
    for _ in range(_ROUNDS):
        cuts = tuple(sorted({*level.cuts, *cuts_at(problem, x)}))
        system = system_at(problem, replace(level, cuts=cuts), x, _ROUGHLY, FOLLOWING)
        outcome = newton(system, x, most=_FEW, settled=moving)
        evaluations += outcome.evaluations
        moved = float(np.max(np.abs(outcome.x - x) / system.scale(x)))
        x = outcome.x
        if moved < moving or not outcome.converged and moved == 0.0 or 0.5 * before < moved < _HELD:
            break
        before = moved
    return replace(outcome, evaluations=evaluations)
