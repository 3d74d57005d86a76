"""Quadrature over kappa in R^q, q = 2 or 3: the product of a rule for each axis, cut to a ball.

Every coefficient is a Gaussian average and hence an entire function of kappa, for which the trapezoid converges faster
than any power of its step. The first axis carries the alignment: where the label jumps within little, it has panels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from derive.language.catalogue import lookup
from derive.language.grammar import parse
from giantstep.quadrature.gauss import hermite
from giantstep.quadrature.interpolation import interpolated
from giantstep.quadrature.kinks import degree
from giantstep.quadrature.mesh import Term, initial_mesh, nodes, reach_of, steep_places
from giantstep.quadrature.remembered import Remembered
from giantstep.quadrature.trapezoid import on_sinh, trapezoid, trapezoid_step
from giantstep.simulate.available_memory import available_bytes
from giantstep.spec.errors import NotConverged
from giantstep.spec.kernels import coefficients, function_kernel
from giantstep.spec.matrix import Rows

Array = np.ndarray
_STEEP = 0.25  # a label that varies within less is integrated on panels
_ORDER, _PANEL = 16, 8.0  # of the panels, at fineness 1; their length in steps of the trapezoid: as right as that
_DIGITS, _MORE = 6.35, 7.6  # a quarter of -log(1e-11); of log(fineness), pairs of nodes beside what is in proportion
#: steps of a label's width, of as many digits, that a step is no longer than: two rules that miss a turn by more differ
#: by less than is left
_WITHIN = 2.0
_SAVES = 1.5  # nodes of the trapezoid over those of the Gauss rule
_LARGEST = 300  # Gauss rule: weights of one that is much larger overflow
_MOST = 4_000_000  # nodes
_MEMORY = 1 << 28  # bytes of tables that are remembered
_GRADED = 0.135  # step in u of nodes at width sinh(u): squares of cubic features are right to 1e-11
_LITTLE = 1e7  # bytes that are taken without asking whether they are there


@dataclass(frozen=True)
class LabelAxes:
    """How the label of several indices varies in kappa: the width along each axis.

    turn: of a label that jumps or has kinks within little, orthonormal rows, the axes along which it does; kinks: terms
    that turn where the label does, of each of these.
    """

    widths: tuple[float, ...] = ()
    turn: Rows | None = None
    kinks: tuple[tuple[Term, ...], ...] = ()


@dataclass(frozen=True)
class Shape:
    """What the rules depend on: blocks with their loadings [K][q], and the target along the first axis.

    target: the clean link as a function of the first coordinate; None for several indices, whose columns are zero.
    label: of these how they vary; far: the radius where the label ends.
    """

    blocks: tuple[Term, ...]
    loadings: Rows
    target: Term | None
    label: LabelAxes = LabelAxes()
    far: float = 0.0

    @property
    def rank(self) -> int:
        return len(self.loadings[0])

    def reach(self) -> float:
        """Radius beyond which the Gaussian weight makes everything negligible."""
        norms = [math.hypot(*row) for row in self.loadings]
        along = [replace(term, scale=norm) for term, norm in zip(self.blocks, norms, strict=True)]
        return max(self.far, reach_of((*along, self.target) if self.target is not None else tuple(along)))

    def width(self, axis: int) -> float:
        """The smallest scale on which the blocks vary along an axis."""
        widths = (
            math.sqrt(term.variance) / abs(row[axis])
            for term, row in zip(self.blocks, self.loadings, strict=True)
            if row[axis] != 0.0
        )
        return min(widths, default=math.inf)

    @property
    def why_many(self) -> str:
        """The cause of too many nodes, and what helps."""
        fewer = "use fewer directions, which further steps and biases of blocks add to"
        if any(self.label.kinks):
            return f"lower spike.alignment, or {fewer}: the spike decides where the label jumps or has a kink"
        return (
            f"lower step.learning_rate or spike.strength, raise spike.bulk_variance, or {fewer}: the features vary too "
            "sharply along the spike"
        )

    def turned(self) -> Shape:
        """The same in coordinates along the axes of the label's kinks, which is then known by these alone."""
        if self.label.turn is None:
            return self
        loadings = np.array(self.loadings) @ np.array(self.label.turn).T
        return replace(self, loadings=tuple(map(tuple, loadings.tolist())), label=replace(self.label, turn=None))

    def steep(self, axis: int) -> tuple[Term, ...]:
        """Terms of the label that vary along an axis within less than the trapezoid should resolve."""
        terms: tuple[Term, ...] = (self.target,) if axis == 0 and self.target is not None else ()
        if self.label.kinks and self.label.turn is None:
            terms = self.label.kinks[axis]
        return tuple(
            term
            for term in terms
            if function_kernel(term.function).BREAKPOINTS and any(width < _STEEP for _, width in steep_places(term))
        )

    def turns_at_zero(self, axis: int, width: float) -> bool:
        """Whether outputs vary within a width next to zero, and no faster than in proportion further out: those of
        polynomials, whose variance is a polynomial, as long as no label turns elsewhere.
        """
        if (
            not all(_is_polynomial(term.function) for term in self.blocks)
            or min(self.label.widths[axis : axis + 1], default=1.0) < 1.0
        ):
            return False
        if axis or self.target is None:
            return True
        steep = steep_places(self.target)
        slow = function_kernel(self.target.function).FUNCTION.wave == 0.0
        return slow and all(_GRADED * math.hypot(width, centre) < trapezoid_step(own) for centre, own in steep)


@lru_cache(maxsize=64)
def _is_polynomial(function: str) -> bool:
    return degree(parse(lookup(function).expression), "z") is not None


def _table_of(shape: Shape, fineness: tuple[float, ...]) -> Array:
    """Rows (kappa_1, weight, nu0, nu1, nu2sq, kappa_2, ..., mu0, mu1, mu2sq per block), [N, 4 + q + 3K], read-only.

    fineness: of each axis, 1 for an answer right to about 1e-12 where the output is as smooth as the features.
    Raises NotConverged where there are too many nodes.
    """
    reach, turned = shape.reach(), shape.turned()
    rules = [_rule(turned, axis, reach, fineness[axis]) for axis in range(shape.rank)]
    kappa, weight, first = _ball(rules, reach, shape.why_many)
    if shape.label.turn is not None:
        kappa = kappa @ np.array(shape.label.turn)
    rows = _rows(shape.blocks, shape.loadings, kappa, weight, _of_target(shape, rules[0][0], first))
    rows.flags.writeable = False
    return rows


tensor_table = Remembered(_table_of, lambda rows: rows.nbytes, _MEMORY)


def rows_along(
    blocks: tuple[Term, ...], loadings: Rows, kappa: Array, weight: Array, target: Term | None = None
) -> Array:
    """The rows of a table at any kappa [N, q], whose columns of the target are no numbers where it is not given."""
    if target is None:
        of_target = np.full((3, len(kappa)), np.nan)
    else:
        of_target = coefficients(target.function, target.scale * kappa[:, 0] + target.offset, target.variance)
    return _rows(blocks, loadings, kappa, weight, of_target)


def _rows(blocks: tuple[Term, ...], loadings: Rows, kappa: Array, weight: Array, target: Array) -> Array:
    known: dict[tuple[Term, tuple[float, ...]], Array] = {}
    for kind in zip(blocks, loadings, strict=True):
        if kind not in known:
            term, row = kind
            known[kind] = _averages(term, kappa @ np.array(row) + term.offset)
    of_blocks = np.stack([known[kind] for kind in zip(blocks, loadings, strict=True)], axis=1)
    columns = [kappa[:, :1].T, weight[None], target, kappa[:, 1:].T, of_blocks.reshape(-1, len(kappa))]
    return np.ascontiguousarray(np.concatenate(columns).T)


def _averages(term: Term, shift: Array) -> Array:
    """mu0, mu1, mu2sq at shifts [N], between Chebyshev points where they are integrals that are not closed."""
    function = function_kernel(term.function).FUNCTION
    closed = function.segments or function.closed is not None and function.closed.residual
    if closed:
        return coefficients(term.function, shift, term.variance)
    return interpolated(term.function, term.variance, shift)


def coordinates(rows: Array, indices: int, rank: int) -> Array:
    """kappa [N, rank] at the nodes of a table with the columns of a target of so many indices."""
    return np.ascontiguousarray(rows[:, [0, *range(4 + indices, 3 + indices + rank)]])


def panel_edges(shape: Shape, axis: int) -> Array:
    """Ends of equal panels along an axis on which ``_ORDER`` nodes resolve the features as well as the trapezoid."""
    reach, longest = shape.reach(), _PANEL * trapezoid_step(shape.width(axis))
    return np.linspace(-reach, reach, 1 + max(1, math.ceil(2.0 * reach / longest)))


def _of_target(shape: Shape, points: Array, first: Array) -> Array:
    """nu0, nu1 and nu2sq at all nodes, from the points of the first axis."""
    if shape.target is None:
        return np.zeros((3, len(first)))
    term = shape.target
    return coefficients(term.function, term.scale * points + term.offset, term.variance)[:, first]


def hermite_count(width: float, fineness: float) -> float:
    """Nodes of a Gauss-Hermite rule as good as the trapezoid: even, for none at zero, and others at every fineness.

    The Fourier transform of a product of two averages falls like exp(-width^2 k^2/4), of which n nodes leave
    width^(-2 n): 1e-11 of it where the rule is a little coarser.
    """
    if width <= 1.0:
        return math.inf
    half = 1.0 + _DIGITS / math.log(width)
    return 2 * max(1, math.ceil(half * max(fineness, 1.0)) + round(_MORE * math.log(fineness)))


def _rule(shape: Shape, axis: int, reach: float, fineness: float) -> tuple[Array, Array]:
    """Nodes and weights of an axis, the normal density included; symmetric, without a node at zero."""
    if terms := shape.steep(axis):
        edges = initial_mesh(terms, reach)
        longest = _PANEL * trapezoid_step(shape.width(axis))
        parts = np.maximum(1, np.ceil(np.diff(edges) / longest)).astype(int)
        fine = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(edges[:-1], edges[1:], parts, strict=True)]
        return nodes(np.array([*np.concatenate(fine), edges[-1]]), 2 * max(1, round(_ORDER * fineness / 2.0)))
    widths = [shape.width(axis)]
    if axis == 0 and shape.target is not None:
        widths += [width for _, width in steep_places(shape.target)]
    smooth = min([*widths, *shape.label.widths[axis : axis + 1]])
    coarsest = _WITHIN * trapezoid_step(min(shape.label.widths[axis : axis + 1], default=math.inf))
    step, count = min(trapezoid_step(min(widths)), coarsest) / fineness, hermite_count(smooth, fineness)
    if count <= min(_SAVES * reach / step, _LARGEST):
        return hermite(int(count))
    if shape.turns_at_zero(axis, min(widths)):
        return on_sinh(min(widths), _GRADED / fineness, reach)
    return trapezoid(step, reach)


def _ball(rules: list[tuple[Array, Array]], reach: float, why_many: str) -> tuple[Array, Array, Array]:
    """Nodes [N, q] within the reach, their weights, and the number of each on the first axis.

    why_many: what is said where there are too many. Raises NotConverged where there are too many.
    """
    sizes = [len(points) for points, _ in rules]
    needed = 16.0 * math.prod(sizes) * (len(sizes) + 2)
    if math.prod(sizes) > 2 * _MOST or needed > _LITTLE and needed > _available():
        raise NotConverged(
            f"kappa in R^{len(sizes)} needs {' x '.join(map(str, sizes))} nodes",
            why_many,
        )
    grids = np.meshgrid(*(points for points, _ in rules), indexing="ij", sparse=True)
    inside = np.nonzero(sum(grid * grid for grid in grids) <= reach * reach)
    kappa = np.stack([points[place] for (points, _), place in zip(rules, inside, strict=True)], axis=1)
    weight = np.prod([weights[place] for (_, weights), place in zip(rules, inside, strict=True)], axis=0)
    return kappa, weight, inside[0]


def _available() -> float:
    found = available_bytes()
    return math.inf if found is None else float(found)
