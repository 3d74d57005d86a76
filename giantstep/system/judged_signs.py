"""The test error of a coupled system: of losses of the margin on nodes of kappa that resolve the output's sign."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from types import ModuleType
from typing import Any, Self

import numpy as np

from giantstep.law.kinds_of_labels import Intervals, Points
from giantstep.law.label_cells import LabelLaw
from giantstep.law.labels import nodes_of_link
from giantstep.quadrature.mesh import ORDERS
from giantstep.spec.errors import NotConverged
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.discretisation import laws_between, resolved
from giantstep.system.level import Level
from giantstep.system.linear_readouts import LinearReadouts
from giantstep.system.mean_predicted import mean_error, share_at_ends
from giantstep.system.misclassification import resolved_signs, wrong_sign
from giantstep.system.problem import Problem
from giantstep.system.resolved import Resolved
from giantstep.system.settled_axes import on_settled_axes
from giantstep.system.sign_lines import sign_plane
from giantstep.system.sign_panels import PLAIN, Output, Signs, turns_fast
from giantstep.system.vanishing_outputs import Ends

Array = np.ndarray
_TOGETHER, _LABELS = 500, 5_000_000  # nodes of kappa at a time, and of the label at all of them
_AT_ENDS = 1e-13  # of the error of a mean label, by the last nodes of kappa: others come after them
_AS_LINES, _MOST = 50_000, 1_000_000  # nodes on axes: what takes as long as lines in a plane; the most elsewhere


class JudgedSigns(LinearReadouts):
    """How a system judges its output at the last unknowns that it has taken."""

    problem: Problem
    level: Level
    loss: ModuleType
    predicts: Any
    table: Array
    x: Array
    ends: Ends
    whole: bool
    signs: Signs | None
    signs_near: Signs | None

    def __init__(self, problem: Problem, level: Level, laws: Resolved | None = None) -> None:
        raise NotImplementedError

    @property
    def clean(self) -> LabelLaw:
        """The law of the clean label."""
        raise NotImplementedError

    def fields(self, x: Array) -> bool:
        """Take unknowns; whether they are feasible."""
        raise NotImplementedError

    def points(self) -> Array:
        """kappa at the nodes."""
        raise NotImplementedError

    def output(self) -> Output:
        """The law of the output and of the clean label given kappa."""
        raise NotImplementedError

    def plain_output(self) -> Output:
        """The same, as the equations have it."""
        raise NotImplementedError

    def averaged(self) -> Array:
        """(test error, training error, free energy), the squared error for the first of every loss."""
        raise NotImplementedError

    def squared_error(self) -> float:
        """The squared error alone."""
        raise NotImplementedError

    @property
    def on_panels(self) -> bool:
        """Whether signs of the last answer were judged on panels."""
        return self.signs is not None and not self.signs.plain

    def answer(self, on_panels: bool = False) -> Array:
        """The observables at the last x; a probability of the output's sign on panels that resolve it, where its own
        nodes do not; on_panels: even where these seem to.
        """
        out = self.averaged()
        self.signs = signs = self._found_signs(on_panels)
        out[0] = self._judged(out[0], signs) if signs is None or signs.plain else signs.average
        return out

    def _judged(self, squared: float, signs: Signs | None) -> float:
        """The test error of the loss at the last x; squared: that of the output; signs: where those are judged."""
        if self.loss.FORM == "margin":
            parts = self._of_signs(signs, half=True)
            return float(sum(part.table[:, 1] @ wrong_sign(part.output()) for part in parts))
        if self.predicts is None:
            return float(squared)
        weight = self.table[:, 1]
        terms = weight * mean_error(self.predicts, self.plain_output(), self.clean_nodes, weight)
        if not share_at_ends(self.points(), terms) <= _AT_ENDS:
            raise self._has_no_mean()
        return float(terms.sum())

    def _has_no_mean(self) -> NotConverged:
        """What is said where the squared error of the mean label is decided by kappa beyond all nodes."""
        network, loss, furthest = self.problem.model.network, self.problem.model.fit.loss, np.max(np.abs(self.points()))
        return NotConverged(
            f"the test error of the loss {loss}, {loss.test_error}, is decided by kappa beyond {furthest:.0f} standard "
            f"deviations, and may be infinite: outputs of the activation {network.activation!r} grow too fast for it",
            "take an activation that grows at most as z does (tanh, relu, gelu), lower spike.strength or the learning "
            "rate of the step, or raise fit.ridge",
        )

    @cached_property
    def clean_nodes(self) -> Points:
        """The clean label at nodes, also where it is constant on intervals."""
        if isinstance(self.clean, Points):
            return self.clean
        problem, level = self.problem, self.level
        clean = problem.model.target.clean(signs=False)
        return nodes_of_link(clean, problem.overlaps, self.points(), level.labels, level.rough)

    def where_signs_turn(self) -> Iterator[Self]:
        """The fields of the last x on panels in kappa that resolve the sign of the output: this, where its own do."""
        return self._of_signs(self._found_signs(), half=False)

    def _of_signs(self, signs: Signs | None, half: bool) -> Iterator[Self]:
        """The fields of the last x where signs are judged; half: of what is even."""
        if signs is None:
            yield from self._along_several() if isinstance(self.clean, Intervals) else (self,)
        else:
            yield from (self,) if signs.plain else self._in_parts(*signs.nodes(ORDERS[not self.level.rough], half))

    def _along_several(self) -> Iterator[Self]:
        """The same where kappa has several directions: on axes that settle them or, in a plane, on lines."""
        plane = self.problem.rank == 2
        found = on_settled_axes(self, self.problem.rank, _AS_LINES if plane else _MOST)
        if found.settled or not plane:
            yield found.output
        else:
            rough, fine = sign_plane(AveragedTerms.of(self.problem).shape, self._output_at).nodes()
            yield from self._in_parts(*(rough if self.level.rough else fine))

    def _found_signs(self, on_panels: bool = False) -> Signs | None:
        """Where the sign of the output at the last x is to be judged; None where kappa has several directions."""
        if self.loss.FORM != "margin" or self.problem.rank > 1:
            return None
        unseen = on_panels and isinstance(self.clean, Intervals)  # nodes of other labels may miss something as well
        return self._sign_panels() if unseen or turns_fast(self.output()) else PLAIN

    def _sign_panels(self) -> Signs:
        """Panels in kappa that resolve the sign of the output at the last x."""
        ends = AveragedTerms.of(self.problem).panel_ends(replace(self.level, halvings=0, cuts=()))

        def parts(kappa: Array) -> Iterator[Output]:
            return (part.output() for part in self._in_parts(kappa, np.ones_like(kappa)))

        return resolved_signs(self.output(), ends, self._output_at, parts, self.signs_near)

    def _output_at(self, kappa: Array) -> Output:
        """The output at any kappa [N], or [N, q]."""
        return self.between(kappa, np.ones(len(kappa)), self.clean).output()

    def on_finer(self, axes: tuple[int, ...]) -> Self:
        """See ``OnAxes``: with the fields of the last x."""
        level = replace(self.level, axes=axes)
        found = type(self)(self.problem, level, resolved(self.problem, level))
        found.fields(self.x)
        return found

    def wrong(self) -> float:
        """See ``OnAxes``."""
        return float(self.table[:, 1] @ wrong_sign(self.output()))

    def _in_parts(self, kappa: Array, weight: Array) -> Iterator[Self]:
        """The fields of the last x at many nodes of kappa, each of which may have many nodes of the label."""
        labels = self.clean.weight.shape[-1] if isinstance(self.clean, Points) else 1  # at each of them
        count = math.ceil(len(kappa) / min(_TOGETHER, max(1, _LABELS // labels)))
        parts = ((each,) if count == 1 else np.array_split(each, count) for each in (kappa, weight))
        yield from (self.between(*part) for part in zip(*parts, strict=True))

    def between(self, kappa: Array, weight: Array, clean: LabelLaw | None = None) -> Self:
        """The fields of the last x at other nodes of kappa, with the law of the clean label there."""
        law = clean or (self.clean if isinstance(self.clean, Intervals) else None)  # which are one at every kappa
        found = type(self)(self.problem, self.level, laws_between(self.problem, kappa, weight, law, self.level))
        found.whole, found.ends = False, self.ends
        found.fields(self.x)
        return found

    def test_error(self, x: Array, signs: Signs | None = None) -> float:
        """The test error at x, without averages over the output; nan where x is not feasible.

        signs: where a finer system judges them: what the coarser nodes miss there is a larger error of theirs.
        """
        if not self.fields(x):
            return math.nan
        otherwise = self.loss.FORM == "margin" or self.predicts is not None  # than by the squared error
        return self._judged(math.nan if otherwise else self.squared_error(), signs or self._found_signs())
