"""What the coupled system needs of a model at one resolution: the table, and the law of the labels at its nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.law.directions import rows_of
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.label_cells import Cells, LabelLaw, straight_law
from giantstep.law.label_growth import label_reach, spacing_of
from giantstep.law.label_lines import Lines, are_lines
from giantstep.law.label_moments import clean_moments, moments_at_nodes
from giantstep.law.labels import label_law, parts_of, with_noise
from giantstep.law.moments_given_kappa import LabelMoments, square_nodes
from giantstep.law.multi_index_labels import has_kinks, meetings_along, turns_along
from giantstep.law.terms import label_widths, noisy_terms
from giantstep.quadrature.mesh import NARROW, Term
from giantstep.quadrature.panels import edges_of, rows_at, table, terms_of
from giantstep.quadrature.remembered import Remembered
from giantstep.quadrature.tensor import Shape, coordinates, rows_along, tensor_table
from giantstep.quadrature.trapezoid import even_nodes, graded_nodes
from giantstep.spec.errors import NotConverged
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target
from giantstep.system.kernels import bend_of, loss_kernel
from giantstep.system.problem import Features, Problem
from giantstep.system.resolved import Resolved, with_target

Array = np.ndarray
#: Ends of panels about a turn of the label, in widths of it.
_AROUND = *np.arange(0.0, 4.0, 0.5).tolist(), *(2.0**k for k in range(2, 40))
_SHARP = 1e-8  # the least width of a turn that counts: averages of a square root there are right to 1e-12
_GENTLE = 0.7  # a distance in kappa that panels of the coefficients resolve
PANELS = (7, 8)  # orders of the panels in kappa: what they differ by is the error
NOTHING = 1e-26  # averages over the output grow no faster than their squares: double precision with room to spare
_MEMORY = 1 << 30  # bytes of tables and laws that are remembered: labels of two indices may have 1e7 nodes
_UNSEEN = 1e-30  # of labels, beside NOTHING: many nodes far out add up to what a loss feels that is flat for most


@dataclass(frozen=True)
class Level:
    """A resolution: order of the panels in kappa and their halvings, points of the output rule, halvings in t.

    rough: the law of the label on fewer nodes than its halvings give, for an estimate of the error of those.
    cuts: ends of panels in kappa beside those that the coefficients need (of one direction). samples: nodes of the law
    of a sample of a step, where the bulk follows from it. axes: halvings of each axis beside those of all, where kappa
    has several directions. closer: halvings, also parts of one, of the step of nodes that have no panels, beside those
    of panels.
    """

    order: int
    output: int
    halvings: int = 0
    labels: int = 0
    rough: bool = False
    cuts: tuple[float, ...] = ()
    samples: int = 44
    axes: tuple[int, ...] = ()
    closer: float = 0.0

    @cached_property
    def of_table(self) -> Level:
        """What tables and labels know of it: they have no samples of a step."""
        return replace(self, samples=0)

    def fineness(self, rank: int) -> tuple[float, ...]:
        """Of every axis where kappa has several, as ``tensor_table`` takes it."""
        return tuple(self.order / 8.0 * 1.3 ** (self.halvings + more) for more in self.axes or (0,) * rank)


def resolved(problem: Problem | Features, level: Level) -> Resolved:
    """The table and the laws of a problem, remembered: they depend on neither samples nor width nor ridge."""
    loss = loss_kernel(problem.model.fit.loss)
    return _resolved(
        problem.blocks,
        problem.link,
        problem.mirrored,
        problem.model.target,
        problem.overlaps,
        problem.loadings,
        _turns_outputs(problem),
        loss.FORM,
        loss.NAME == "square",
        level.of_table,
        bend_of(loss),
    )


def _turns_outputs(problem: Problem | Features) -> bool:
    """Whether a loss is symmetric, and outputs are odd in kappa where the features are that a table has: what norms of
    the rows add is so of odd activations. An even one may have no mean, as He(2,z) without a spike, and one of these.
    """
    symmetric: bool = loss_kernel(problem.model.fit.loss).SYMMETRIC
    return symmetric and (not problem.norms_vary or all(term.parity == "odd" for term in problem.blocks))


def _resolved_of(
    blocks: tuple[Term, ...],
    along: Term | None,
    mirrored: tuple[Term, ...],
    target: Target,
    overlaps: Rows,
    loadings: Rows | None,
    symmetric: bool,
    form: str,
    square: bool,
    level: Level,
    bend: float = 0.0,
) -> Resolved:
    if loadings is None:
        rows = panel_rows(blocks, along, mirrored, target, overlaps, level)
    else:
        far = label_reach(target, overlaps)
        shape = Shape(blocks, loadings, along, label_widths(target, overlaps), far)
        rows = rows_that_count(tensor_table(shape, level.fineness(len(overlaps))), far)
    return resolved_on(rows, target, overlaps, symmetric=symmetric, form=form, level=level, square=square, bend=bend)


_resolved = Remembered(_resolved_of, lambda found: found.bytes, _MEMORY)


def panel_rows(
    blocks: tuple[Term, ...],
    along: Term | None,
    mirrored: tuple[Term, ...],
    target: Target,
    overlaps: Rows,
    level: Level,
) -> Array:
    """The rows of one direction of kappa that count; of a target of several indices without its columns. mirrored: see
    ``Features``.

    Labels of several indices have many nodes beside each of kappa, which are as few as can be.
    """
    spacing, found = spacing_of(target, overlaps), _without_panels(blocks, along, mirrored, target, overlaps, level)
    if found is not None:
        return rows_that_count(rows_at(blocks, along, *found), spacing.reach)
    cuts, further = _cuts(along, target, overlaps, level), (*noisy_terms(along, target), *mirrored)
    return rows_that_count(table(blocks, along, level.order, level.halvings, cuts, further, spacing), spacing.reach)


def _without_panels(
    blocks: tuple[Term, ...],
    along: Term | None,
    mirrored: tuple[Term, ...],
    target: Target,
    overlaps: Rows,
    level: Level,
) -> tuple[Array, Array] | None:
    """Places and weights of kappa, of one direction, where all that is known beforehand is smooth."""
    if level.cuts:
        return None
    halvings = level.halvings + level.closer
    if along is None:
        width, reach = _width_of_label(target, overlaps[0]), spacing_of(target, overlaps).reach
        return even_nodes(blocks, width, level.order, halvings, reach)
    return graded_nodes(terms_of(blocks, along, *noisy_terms(along, target), *mirrored), level.order, halvings)


def resolved_in_plane(problem: Problem, level: Level, kappa: Array, weight: Array) -> Resolved:
    """The table and the laws of a problem at nodes [N, 2] of kappa that are chosen."""
    assert problem.loadings is not None
    loss, target = loss_kernel(problem.model.fit.loss), problem.model.target
    rows = rows_along(problem.blocks, problem.loadings, kappa, weight, problem.link)
    given = {"symmetric": _turns_outputs(problem), "form": loss.FORM, "level": level, "bend": bend_of(loss)}
    return resolved_on(rows, target, problem.overlaps, **given)


def has_panels(problem: Problem, level: Level) -> bool:
    """Whether the nodes of one direction of kappa lie on panels."""
    terms = problem.blocks, problem.link, problem.mirrored
    return _without_panels(*terms, problem.model.target, problem.overlaps, level) is None


def panel_ends(problem: Problem, level: Level) -> Array:
    """The ends of the panels of one direction of kappa."""
    along, target = problem.link, problem.model.target
    cuts = _cuts(along, target, problem.overlaps, level)
    spacing = spacing_of(target, problem.overlaps)
    further = (*noisy_terms(along, target), *problem.mirrored)
    return edges_of(problem.blocks, along, level.halvings, cuts, further, spacing)


def _cuts(along: Term | None, target: Target, overlaps: Rows, level: Level) -> tuple[float, ...]:
    return (*level.cuts, *(() if along is not None else _about_turns(target, overlaps[0])))


def _width_of_label(target: Target, overlaps: tuple[float, ...]) -> float:
    """The scale in kappa of averages of any label: indices vary about their means given kappa."""
    known = float(np.dot(overlaps, overlaps))
    left = max(0.0, 1.0 + target.probit - known)
    return math.sqrt(left / known) if known > 0.0 else math.inf


@lru_cache(maxsize=64)
def _about_turns(target: Target, overlaps: tuple[float, ...]) -> tuple[float, ...]:
    """Ends of panels about the places where the mean label of several indices turns fast, at growing distances."""
    if not has_kinks(target.link):
        return ()
    given = (target.link, np.array(overlaps), target.probit)
    turns = [(place, max(width, _SHARP)) for find in (turns_along, meetings_along) for place, width in find(*given)]
    around = [(place, step * width) for place, width in turns for step in _AROUND if step * width < _GENTLE]
    return tuple(sorted({place + side * away for place, away in around for side in (-1.0, 1.0)}))


def resolved_on(
    rows: Array,
    target: Target,
    alignments: tuple[float, ...] | Rows,
    *,
    symmetric: bool,
    form: str,
    level: Level,
    square: bool = False,
    bend: float = 0.0,
) -> Resolved:
    """The laws at the nodes of a table; of a symmetric loss on half of them, where labels and outputs are odd.

    alignments: of one direction with every index, or a row for each direction. Of a target of several indices, the
    table's columns of the target are found here.
    """
    if square:  # which knows the clean label by the table
        rows, moments = with_moments(rows, target, alignments, level.labels, level.rough, halved=symmetric)
        points = Points(*square_nodes(moments, target.flips), np.zeros((target.indices, target.indices)))
        rows.flags.writeable = False
        return Resolved.of(rows, points, points)
    whole: LabelLaw | None = None
    if target.indices > 1 or are_lines(target, _rows_of(alignments), form, bend):
        halved = symmetric and _is_odd(target)
        rows = _with_clean(rows, target, alignments, level.labels, level.rough, halved=halved)
    elif symmetric:
        whole = _law(rows, target, alignments, level)
        if whole.odd and len(half := _half(rows, _rank(alignments))) < len(rows):
            rows, whole = half, None
    rows.flags.writeable = False
    labels = partial(_labels, rows, target, alignments, level, (form, bend), whole)
    if target.deterministic:
        return Resolved(rows, labels)
    return Resolved(rows, labels, partial(clean_law, rows, target.clean(form == "margin"), alignments, level))


def _labels(
    rows: Array,
    target: Target,
    alignments: tuple[float, ...] | Rows,
    level: Level,
    loss: tuple[str, float],
    law: LabelLaw | None,
) -> LabelLaw:
    """The law of the label at the nodes of a table as a loss of a form and bend takes it; law: but for noise, where it
    is known.
    """
    if law is None:
        kappa = coordinates(rows, target.indices, _rank(alignments)).reshape(len(rows), -1)
        law = straight_law(target, _rows_of(alignments), loss, kappa, level.labels, level.rough)
    law = law or _law(rows, target, alignments, level)
    if loss[0] != "residual" and target.noise > 0.0:
        assert not isinstance(law, (Lines, Cells))  # which are of losses of the residual
        law = with_noise(law, target.noise, level.labels, level.rough)
    if not isinstance(law, (Points, Lines)):
        return law
    return replace(law, weight=_felt(rows[:, 1], law.weight, law.label))


def _felt(share: Array, weight: Array, label: Array) -> Array:
    """Weights of labels [N, J] at nodes of kappa with shares [N], without those that next to nothing depends on."""
    found, most = weight.copy(), _UNSEEN * np.sum(share)
    most_of_squares = _UNSEEN * np.einsum("n,nj,nj,nj->", share, weight, label, label)
    for part in parts_of(weight.shape):
        felt = share[part, None] * weight[part]
        found[part][(felt <= most) & (felt * label[part] ** 2 <= most_of_squares)] = 0.0
    return found


def with_moments(
    rows: Array,
    target: Target,
    alignments: tuple[float, ...] | Rows,
    finer: int,
    rough: bool,
    *,
    halved: bool = True,
) -> tuple[Array, LabelMoments]:
    """The rows that the square loss needs with those of a clean label, and the moments of the label but for flips and
    noise, which are all that it knows; halved: half of them, where labels are odd.
    """
    rows = _with_clean(rows, target, alignments, finer, rough, halved=halved and _is_odd(target))
    return rows, moments_at_nodes(rows, target, alignments, finer, rough)


def _is_odd(target: Target) -> bool:
    """Whether the moments of the label that are odd in (kappa, t) are those of odd order."""
    second = target.second_link
    even = not isinstance(second, str) or parity(link_of(second).node) == 1
    return even and parity(link_of(target.mean_link).node) == -1


def _with_clean(
    rows: Array, target: Target, alignments: tuple[float, ...] | Rows, finer: int, rough: bool, *, halved: bool
) -> Array:
    """The rows with the moments of a clean label of several indices; halved: half of them, of labels that are odd."""
    if halved:
        rows = _half(rows, _rank(alignments))
    if target.indices == 1:
        return rows
    return with_target(rows, clean_moments(rows, target, alignments, finer, rough))


def rows_between(problem: Problem | Features, kappa: Array, weight: Array) -> Array:
    """Rows of a table at any kappa [N], or [N, q] of several directions; what they say of the target is not a number:
    it tells nothing of the output, and its averages may cost more than all others.
    """
    if problem.loadings is None:
        rows = rows_at(problem.blocks, None, kappa, weight)
    else:
        rows = rows_along(problem.blocks, problem.loadings, kappa, weight)
    unknown = np.full(len(kappa), np.nan)
    linear = np.repeat(unknown[:, None], problem.model.target.indices, axis=1)
    return with_target(rows, LabelMoments(unknown, linear, unknown))


def laws_between(problem: Problem, kappa: Array, weight: Array, law: LabelLaw | None, level: Level) -> Resolved:
    """The rows at any kappa with the law of a clean label, found here where it is not given.

    With a law that is one at every kappa they are remembered: neighbours on a curve judge signs at equal places.
    """
    if isinstance(law, Intervals) and problem.rank == 1:
        return _kept_between(problem.features, kappa.tobytes(), weight.tobytes(), law)
    rows, margin = rows_between(problem, kappa, weight), loss_kernel(problem.model.fit.loss).FORM == "margin"
    law = law or clean_law(rows, problem.model.target.clean(margin), problem.overlaps, level)
    return Resolved.of(rows, law, law)


@lru_cache(maxsize=32)
def _kept_between(features: Features, kappa: bytes, weight: bytes, law: Intervals) -> Resolved:
    rows = rows_between(features, np.frombuffer(kappa), np.frombuffer(weight))
    return Resolved.of(rows, law, law, kept=True)


def clean_law(rows: Array, clean: Target, alignments: tuple[float, ...] | Rows, level: Level) -> Labels:
    """The law of a clean label at the nodes of a table."""
    return _law(rows, clean, alignments, level)


def rows_that_count(rows: Array, far: float) -> Array:
    """Rows without those, far out, that hold next to nothing of the square of any column; all of them where a label
    that is no column yet grows, and counts as far as that.
    """
    if far > NARROW.reach:
        return rows
    with np.errstate(over="ignore"):
        squares = rows[:, 1, None] * np.column_stack([np.ones(len(rows)), rows[:, 2:] ** 2])
    if np.isinf(squares).any():
        raise NotConverged(
            f"the squares of features or labels overflow: they are up to {np.nanmax(np.abs(rows[:, 2:])):.0e}",
            "lower the learning rates of the steps, or take an activation or link that grows more slowly",
        )
    return np.asarray(rows[(squares > NOTHING * squares.sum(axis=0)).any(axis=1)])


def _rows_of(alignments: tuple[float, ...] | Rows) -> Rows:
    return rows_of(np.atleast_2d(np.array(alignments)))


def _rank(alignments: tuple[float, ...] | Rows) -> int:
    return len(np.atleast_2d(np.array(alignments)))


def _law(rows: Array, target: Target, alignments: tuple[float, ...] | Rows, level: Level) -> Labels:
    kappa = coordinates(rows, target.indices, _rank(alignments))
    return label_law(target, alignments, kappa, finer=level.labels, rough=level.rough)


def _half(rows: Array, rank: int) -> Array:
    """Rows at kappa > 0 with twice the weight, of an odd label of a symmetric loss, where the outputs are odd too.

    The columns are those of a target of one index.
    """
    others = [-1.0] * (rank - 1)  # the other coordinates of kappa
    signs = np.array([-1.0, 1.0, -1.0, 1.0, 1.0, *others, *_parities((rows.shape[1] - 4 - rank) // 3)])
    if np.any(np.abs(rows - rows[::-1] * signs) > 1e-12 * np.max(np.abs(rows), axis=0)):
        return rows
    half = rows[rows[:, 0] > 0.0].copy()
    half[:, 1] *= 2.0
    return half


def _parities(blocks: int) -> list[float]:
    """Of mu0, mu1 and mu2^2 per block."""
    return [-1.0] * blocks + [1.0] * (2 * blocks)
