"""How well a solution solves its equations: residuals beside the size of their terms.

The equations are evaluated from their text, contraction by contraction; nothing of the solver is used. Every array has
its values and bounds: sums of the absolute values of all terms, which the rounding errors of the values are relative
to. An unknown whose equation has been evaluated is known to the bound of that.

Written by hand, in codegen/runtime/certificate.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contraction_layout import layout_of
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.equation_text import EQUAL, FEATURES, MINUS, PARAMETERS, RECIPROCAL, Contractions


@kept(**ALONG)
def accumulate(array, sign, places, steps, count):
    """Add a product, place by place; to one place the sum of all. Loops along memory have steps that are written."""
    x, y, z = places
    if steps[0] == 0:
        total = 0.0 * array[x]
        if steps[1] == 1 and steps[2] == 1:
            for n in range(count):
                total += array[y + n] * array[z + n]
        else:
            for n in range(count):
                total += array[y + n * steps[1]] * array[z + n * steps[2]]
        array[x] += sign * total
    elif steps[0] == 1 and steps[1] == 1 and steps[2] == 0:
        factor = sign * array[z]
        for n in range(count):
            array[x + n] += array[y + n] * factor
    elif steps[0] == 1 and steps[1] == 1 and steps[2] == 1:
        for n in range(count):
            array[x + n] += sign * array[y + n] * array[z + n]
    else:
        for n in range(count):
            array[x + n * steps[0]] += sign * array[y + n * steps[1]] * array[z + n * steps[2]]


@kept(**{**ALONG, "no_cpython_wrapper": False})
def evaluate(rows, value, bound):
    """Evaluate contractions in order; the worst residual relative to the largest bound of its equation.

    rows[i] = (kind, lengths of the loops, places of three operands, their strides loop by loop); the values may be
    complex, as those of a quadrature along a contour.
    """
    worst = 0.0
    for r in rows:
        kind, largest, scale = r[0], 0.0, 0.0
        for i in range(r[1]):
            for j in range(r[2]):
                for k in range(r[3]):
                    x = r[5] + i * r[8] + j * r[11] + k * r[14]
                    y = r[6] + i * r[9] + j * r[12] + k * r[15]
                    z = r[7] + i * r[10] + j * r[13] + k * r[16]
                    if kind <= MINUS:
                        steps = r[17], r[18], r[19]
                        accumulate(value, 1.0 if kind < MINUS else -1.0, (x, y, z), steps, r[4])
                        accumulate(bound, 1.0, (x, y, z), steps, r[4])
                        continue
                    for n in range(r[4]):
                        a, b, c = x + n * r[17], y + n * r[18], z + n * r[19]
                        if kind == RECIPROCAL:
                            value[a] = 1.0 / value[b]
                            bound[a] = abs(value[a])
                        else:
                            difference = abs(value[a] - value[c]) if kind == EQUAL else abs(value[a])
                            if not difference < np.inf:
                                return np.inf
                            largest, scale = max(largest, difference), max(scale, bound[c])
                            bound[a] = bound[c]
        if largest > 0.0:
            worst = max(worst, largest / scale)
    return worst


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def evaluate_points(rows, start, fraction, parameters, work, source, target, rooted, worst):
    """The same at many points on one table: worst[p], with families from work[p].

    start: what does not depend on point and fractions; parameters[p] and fractions come first in it, and the number
    work[p, source[i]] goes to the place target[i]. The bound at rooted[0, i] is the root of the number at rooted[1, i].
    """
    value, bound, given = np.empty_like(start), np.empty_like(start), parameters.shape[1]
    for p in range(parameters.shape[0]):
        for i in range(start.shape[0]):
            value[i] = start[i]
        for i in range(given):
            value[i] = parameters[p, i]
        for i in range(fraction.shape[0]):
            value[given + i] = fraction[i]
        for i in range(source.shape[0]):
            value[target[i]] = work[p, source[i]]
        for i in range(start.shape[0]):
            bound[i] = abs(value[i])
        for i in range(rooted.shape[1]):
            bound[rooted[0, i]] = np.sqrt(abs(value[rooted[1, i]]))
        worst[p] = evaluate(rows, value, bound)


@dataclass(frozen=True, eq=False)
class OnTable:
    """The certificate of a system on one table of nodes."""

    rows: np.ndarray
    start: np.ndarray
    source: np.ndarray
    target: np.ndarray
    rooted: np.ndarray

    def check(self, fraction, parameters, work):
        """Worst residuals [P] of solutions work [P, ...] at parameters [P, 5]."""
        worst, moved = np.empty(len(parameters)), (self.source, self.target, self.rooted)
        evaluate_points(self.rows, self.start, fraction, parameters, work, *moved, worst)
        return worst


class Certificate:
    """``check`` of a module: its equations as text, and what is given at a node before the features of the blocks.

    odd: averages over the output of odd functions of it, which may cancel; the root of that of the square bounds them;
    features: what is given at a node for each block.
    """

    def __init__(self, equations, columns, odd=(), features=FEATURES):
        self.equations, self.columns, self.odd, self.features = equations, columns, odd, features

    @cached_property
    def contractions(self):
        """The contractions that evaluate the equations."""
        return Contractions(self.equations, self.columns, self.features)

    def on(self, node, places):
        """What ``check_points`` needs of a table; places: family -> (slice of the numbers of a point, shape)."""
        blocks = places[next(iter(self.contractions.families))][1][0]
        shapes = tuple([places[name][1] for name in self.contractions.families])
        layout = layout_of(self.contractions, blocks, node.shape[1], shapes)
        start = layout.numbers()
        start[len(PARAMETERS) + blocks : layout.given.stop] = node.ravel()
        moved = _moved(layout, tuple([places[name][0].start for name in layout.families]))
        return OnTable(layout.rows, start, *moved, self._rooted(layout))

    def _rooted(self, layout):
        """Places of the odd averages, and of those of squares whose roots bound them."""
        found = np.empty((2, 0), np.intp)
        for name in self.odd:
            own, square = layout.families[name], layout.families["avg_gg"]
            found = np.append(found, [np.arange(own.start, own.stop), np.arange(square.start, square.stop)], axis=1)
        return found

    def check(self, node, fraction, parameters, state):
        """Worst residual over all equations, each relative to the sum of its terms in absolute value."""
        layout, value = filled(self.contractions, node, fraction, parameters, state)
        bound = np.abs(value)
        for name in self.odd:  # where no output feels the loss, rounding may be all that E g^2 is
            bound[layout.families[name]] = np.sqrt(np.abs(state["avg_gg"]))
        return float(evaluate(layout.rows, value, bound))

    def in_common(self, each):
        """Names of the families that several solutions have in common; each: of what they do not."""
        return tuple(name for name in self.contractions.families if name not in each)

    def many(self, table, each, shapes):
        """What checks several solutions on one table. table: what is given before the features [C, N], and by name the
        features that all have in common [K, N]; each: name -> shape of the numbers of one solution, in order; shapes:
        of the families in common.
        """
        columns, features = table
        contractions, (count, nodes), blocks = self.contractions, columns.shape, each["T_12"][0]
        shape_of = {**each, **dict(zip(self.in_common(each), shapes, strict=True))}
        layout = layout_of(contractions, blocks, nodes, tuple([shape_of[name] for name in contractions.families]))
        first, size = len(PARAMETERS) + blocks + count * nodes, blocks * nodes
        places = {name: np.arange(first + i * size, first + (i + 1) * size) for i, name in enumerate(self.features)}
        places |= {name: np.arange(place.start, place.stop) for name, place in layout.families.items()}
        start = layout.numbers()
        start[len(PARAMETERS) + blocks : first] = columns.ravel()
        for name, values in features.items():
            start[places[name]] = values.ravel()
        source, target = slots(each), [name for name in each if name in places]
        joined = [np.concatenate([some[name] for name in target]) for some in (source, places)]
        place = np.concatenate([places[name] for name in self.in_common(each)])
        return Many(layout.rows, start, place, *joined, sum(map(len, source.values())))


@dataclass(frozen=True, eq=False)
class Many:
    """The certificate of several solutions on one table; place: of the numbers in common; source, target: of each, and
    how many there are.
    """

    rows: np.ndarray
    start: np.ndarray
    place: np.ndarray
    source: np.ndarray
    target: np.ndarray
    size: int

    def check(self, fraction, parameters, common, each):
        """Worst residuals [S] at parameters [S, 5]; common: the families in common, in order; each [S, numbers]."""
        value, worst = self.start.copy(), np.empty(len(parameters))
        value[self.place] = common
        none = np.empty((2, 0), np.intp)
        evaluate_points(self.rows, value, fraction, parameters, each, self.source, self.target, none, worst)
        return worst


def slots(shapes):
    """Name -> places of arrays of these shapes, one behind the other."""
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    ends = np.cumsum(sizes)
    return {n: np.arange(end - size, end) for n, size, end in zip(shapes, sizes, ends.tolist(), strict=True)}


@lru_cache(maxsize=256)
def _moved(layout, starts):
    """Where the numbers of the families lie at a point, from their starts on, and in a layout."""
    target = [np.arange(place.start, place.stop) for place in layout.families.values()]
    source = [own - own[0] + start for own, start in zip(target, starts, strict=True)]
    return np.concatenate(source), np.concatenate(target)


def filled(contractions, node, fraction, parameters, state):
    """(where everything lies, all numbers with those in place that are given)."""
    families = {name: np.asarray(state[name]) for name in contractions.families}
    shapes = tuple([family.shape for family in families.values()])
    layout = layout_of(contractions, len(fraction), node.shape[1], shapes)
    complexes = any(family.dtype.kind == "c" for family in families.values())
    value = layout.numbers(complex if complexes else float)
    value[layout.given] = np.concatenate((parameters, fraction, node.ravel()))
    for name, family in families.items():
        value[layout.families[name]] = family.ravel()
    return layout, value

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
