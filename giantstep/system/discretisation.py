"""What the coupled system needs of a model at one resolution: the table, and the law of the labels at its nodes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from derive.language.links import link_of
from derive.language.parity import parity
from giantstep.law.directions import rows_of
from giantstep.law.kinds_of_labels import Intervals, Labels, Points
from giantstep.law.label_cells import Cells, LabelLaw, straight_law
from giantstep.law.label_lines import Lines, are_lines, constant_pieces
from giantstep.law.label_moments import clean_moments, moments_at_nodes
from giantstep.law.labels import label_law, parts_of, with_noise
from giantstep.law.moments_given_kappa import LabelMoments, square_nodes
from giantstep.law.multi_index_labels import is_constant_between_jumps
from giantstep.quadrature.panels import rows_at
from giantstep.quadrature.remembered import Remembered
from giantstep.quadrature.tensor import coordinates, rows_along
from giantstep.spec.matrix import Rows
from giantstep.spec.model import Target
from giantstep.system.averaged_terms import AveragedTerms
from giantstep.system.kernels import bend_of, loss_kernel
from giantstep.system.level import Level
from giantstep.system.problem import Features, Problem
from giantstep.system.resolved import Resolved, with_target

Array = np.ndarray
_MEMORY = 1 << 30  # bytes of tables and laws that are remembered: labels of two indices may have 1e7 nodes
_UNSEEN = 1e-30  # of labels, beside NOTHING: many nodes far out add up to what a loss feels that is flat for most


def resolved(problem: Problem | Features, level: Level) -> Resolved:
    """The table and the laws of a problem, remembered: they depend on neither samples nor width nor ridge."""
    loss = loss_kernel(problem.model.fit.loss)
    square, terms = loss.NAME == "square", AveragedTerms.of(problem)
    return _resolved(terms, _turns_outputs(problem), loss.FORM, square, level.of_table, bend_of(loss))


def _turns_outputs(problem: Problem | Features) -> bool:
    """Whether a loss is symmetric, and outputs are odd in kappa where the features are that a table has: what norms of
    the rows add is so of odd activations. An even one may have no mean, as He(2,z) without a spike, and one of these.
    """
    symmetric: bool = loss_kernel(problem.model.fit.loss).SYMMETRIC
    return symmetric and (not problem.norms_vary or all(term.parity == "odd" for term in problem.blocks))


def _resolved_of(
    terms: AveragedTerms, symmetric: bool, form: str, square: bool, level: Level, bend: float = 0.0
) -> Resolved:
    rows, target = terms.rows(level), terms.target
    return resolved_on(
        rows, target, terms.overlaps, symmetric=symmetric, form=form, level=level, square=square, bend=bend
    )


_resolved = Remembered(_resolved_of, lambda found: found.bytes, _MEMORY)


def resolved_in_plane(problem: Problem, level: Level, kappa: Array, weight: Array) -> Resolved:
    """The table and the laws of a problem at nodes [N, 2] of kappa that are chosen."""
    assert problem.loadings is not None
    loss, target = loss_kernel(problem.model.fit.loss), problem.model.target
    rows = rows_along(problem.blocks, problem.loadings, kappa, weight, problem.link)
    given = {"symmetric": _turns_outputs(problem), "form": loss.FORM, "level": level, "bend": bend_of(loss)}
    return resolved_on(rows, target, problem.overlaps, **given)


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
    clean = problem.model.target.clean(margin)
    if law is None and margin and clean.indices > 1 and is_constant_between_jumps(clean.link):
        law = constant_pieces(
            clean, _rows_of(problem.overlaps), kappa.reshape(len(kappa), -1), level.labels, level.rough
        )
    law = law or clean_law(rows, clean, problem.overlaps, level)
    return Resolved.of(rows, law, law)


@lru_cache(maxsize=32)
def _kept_between(features: Features, kappa: bytes, weight: bytes, law: Intervals) -> Resolved:
    rows = rows_between(features, np.frombuffer(kappa), np.frombuffer(weight))
    return Resolved.of(rows, law, law, kept=True)


def clean_law(rows: Array, clean: Target, alignments: tuple[float, ...] | Rows, level: Level) -> Labels:
    """The law of a clean label at the nodes of a table."""
    return _law(rows, clean, alignments, level)


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
    if not rows[:, 0].all() or np.any(np.abs(rows - rows[::-1] * signs) > 1e-12 * np.max(np.abs(rows), axis=0)):
        return rows
    half = rows[rows[:, 0] > 0.0].copy()
    half[:, 1] *= 2.0
    return half


def _parities(blocks: int) -> list[float]:
    """Of mu0, mu1 and mu2^2 per block."""
    return [-1.0] * blocks + [1.0] * (2 * blocks)
