"""What the rows of the first layers make of the overlaps of two fits, and the linear systems for these.

The equations of the rows are affine in the overlaps T_12, Q1_12 and in their conjugates. They are evaluated from their
text, for all unit vectors at once: what is left are small matrices, which serve all pairs of one fit whose layers have
the same in common. Averages over the outputs enter by moments of what the covariance of the outputs moves by with an
overlap: stationarity makes of these the conjugate of that overlap.

Written by hand, in codegen/runtime/rows_of_pairs.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contraction_layout import layout_of
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.equation_text import Contractions
from generated.runtime.evaluation import run
from generated.runtime.unknowns import solve_linear

UNKNOWN = ("T_12", "Q1_12", "Q2_hat_12", "Q1_hat_12", "random_field_12")  # in this order, of Q1 one of each pair
GIVEN = (*UNKNOWN, "overlap")
# numbers of a pair: of its rows, and at nodes of kappa; letters of their axes
EACH = {"T_12": "b", "Q1_12": "bc", "Q1_hat_12": "bc", "Q2_hat_12": "b", "overlap": "b"}
EACH_AT_NODES = {**EACH, "random_field_12": "b", "Q2_12": "b"}
EACH_AT_NODES |= {"Delta_12": "n", "avg_gg_12": "n", "apart": "n", "mu2sq_12": "bn"}
OPEN = {**ALONG, **MAKING, "no_cpython_wrapper": False}


class _Wide(Contractions):
    """Contractions with one loop for the pairs, carried out as one stage."""

    loops = Contractions.loops + 2

    @cached_property
    def numbers(self):
        """Of all contractions, in order."""
        return np.arange(len(self.rows))


class RowsOfPairs:
    """``maps`` of a module of pairs: its equations of the rows as text."""

    def __init__(self, equations):
        self.equations = equations

    @cached_property
    def contractions(self):
        """The contractions that evaluate the equations."""
        return _Wide(self.equations, ("weight",), ())

    @cached_property
    def names(self):
        """Names of what is asked of a single fit."""
        return tuple(name for name in self.contractions.families if name not in GIVEN)

    def maps(self, fraction, parameters, given, overlaps):
        """[L, n, 1 + 2 n + K]: what vanishes for the n unknowns where all overlaps and conjugates are zero, and what
        each of them adds, in the order of ``UNKNOWN``; given: all numbers of ``names`` in order, and their shapes;
        overlaps [L, K]: of the rows of a block in the two layers.
        """
        numbers, shapes = given
        plan = planned(self, len(fraction), len(overlaps), shapes)
        found = np.empty(plan.results.shape[1:])
        fill_maps(plan.told, parameters, fraction, numbers, overlaps, found)
        return found


class _Plan:
    """Where everything lies for numbers of blocks and of overlaps, and the unit vectors in place."""

    def __init__(self, rows, blocks, layers, shapes):
        upper = [(b, c) for b in range(blocks) for c in range(b, blocks)]
        unknowns = blocks + len(upper)
        self.columns = 1 + 2 * unknowns + blocks
        pairs, contractions = layers * self.columns, rows.contractions
        known = dict(zip(rows.names, shapes, strict=True)) | {
            name: (pairs, blocks, blocks) if name.startswith("Q1") else (pairs, blocks) for name in GIVEN
        }
        layout = layout_of(contractions, blocks, 1, tuple([known[name] for name in contractions.families]))
        self.start = layout.numbers()
        given = np.concatenate([np.arange(p.start, p.stop) for p in map(layout.families.get, rows.names)])
        self._set_units(layout, upper, blocks, layers)
        self.results = np.array(self._results(layout, upper, blocks, layers))
        self.told = layout.part(contractions), self.start, given, layout.families["overlap"].start, self.results

    def _set_units(self, layout, upper, blocks, layers):
        column = 1
        for name in UNKNOWN:
            members = upper if name.startswith("Q1") else [(b,) for b in range(blocks)]
            for member in members:
                if name in layout.families:
                    shape = (layers, self.columns, *(blocks,) * len(member))
                    values = self.start[layout.families[name]].reshape(shape)
                    values[(slice(None), column, *member)] = values[(slice(None), column, *member[::-1])] = 1.0
                column += 1

    def _results(self, layout, upper, blocks, layers):
        """Places [L, n, columns] of what vanishes, and of the same the other way round."""
        found = []
        for turned in (1, -1):
            parts = []
            for name, members in (("missed_T_12", [(b,) for b in range(blocks)]), ("missed_Q1_12", upper)):
                place, shape, order = layout.defined[name]
                places = np.arange(place.start, place.stop).reshape(shape).transpose(order)
                places = places.reshape(layers, self.columns, *places.shape[1:])
                parts += [places[(slice(None), slice(None), *member[::turned])] for member in members]
            found.append(np.stack(parts, axis=1))
        return found


@lru_cache(maxsize=64)
def planned(rows, blocks, layers, shapes):
    """The plan of the equations of rows; layers: how many different overlaps there are."""
    return _Plan(rows, blocks, layers, shapes)


@kept(**OPEN)
def fill_maps(plan, parameters, fraction, numbers, overlaps, found):
    """See ``RowsOfPairs.maps``; plan: the equations as rows, the numbers that they begin with, the places of what is
    given, the first place of the overlaps, and where the results are, each in two places [2, L, n, columns].
    """
    rows, start, given, place, results = plan
    value = start.copy()
    for i in range(parameters.shape[0]):
        value[i] = parameters[i]
    for i in range(fraction.shape[0]):
        value[parameters.shape[0] + i] = fraction[i]
    for i in range(given.shape[0]):
        value[given[i]] = numbers[i]
    L, n, columns = found.shape
    for layer in range(L):
        for _ in range(columns):
            for b in range(overlaps.shape[1]):
                value[place] = overlaps[layer, b]
                place += 1
    run(rows, value)
    for layer in range(L):
        for i in range(n):
            for column in range(columns):
                first, second = results[0, layer, i, column], results[1, layer, i, column]  # both halves of Q1
                found[layer, i, column] = 0.5 * (value[first] + value[second])
                if column > 0:
                    found[layer, i, column] -= found[layer, i, 0]


@kept(**ALONG)
def _moments(products, weight, value, gain, first, second):
    """first[a] = E value P_a, second[a, b] = E gain P_a P_b over N nodes; value, gain [N], P [n, N]."""
    n, N = products.shape
    for a in range(n):
        total = 0.0
        for i in range(N):
            total += weight[i] * value[i] * products[a, i]
        first[a] = total
        for b in range(a + 1):
            total = 0.0
            for i in range(N):
                total += weight[i] * gain[i] * products[a, i] * products[b, i]
            second[a, b] = second[b, a] = total


@kept(**ALONG)
def _step(rows, factor, moments, readouts, overlaps, beta, system):
    """Row n of the system: how far the overlaps of a pair are from what solves its linearised equations; nan where
    these are singular. factor[a]: of an average of P_a in a conjugate.
    """
    first, second = moments
    n, K = first.shape[0], readouts.shape[1]
    place = 1 + n
    for i in range(n):
        total = rows[i, 0]
        for b in range(K):
            total += rows[i, 1 + b] * readouts[0, b] + rows[i, place + n + b] * readouts[2, b]
        for a in range(K, n):
            total += rows[i, 1 + a] * overlaps[a - K]
        for a in range(n):
            total += rows[i, place + a] * factor[a] * first[a]
        system[n, i] = total
    for j in range(n):
        slope = readouts[1, j] if j < K else 1.0
        moved = slope / beta if j < K else slope
        for i in range(n):
            total = rows[i, 1 + j] * slope
            if j < K:
                total += rows[i, place + n + j] * readouts[3, j]
            for a in range(n):
                total += rows[i, place + a] * factor[a] * second[a, j] * moved
            system[j, i] = total
    if not solve_linear(system, n, 0.0):
        for i in range(n):
            system[n, i] = np.nan


@kept(**OPEN)
def steps(maps, sharing, moments, x, beta, found):
    """How far the overlaps x [S, n] of S pairs under a ridge are from what solves their linearised equations.

    maps: see ``RowsOfPairs``; sharing: which of them a pair has [S], and a factor of averages of P_a in conjugates
    [S, n]; moments: of E g_1 g_2 and of its slope at the overlaps [S, n] and [S, n, n].
    """
    (layer, factor), (first, second) = sharing, moments
    S, n = x.shape
    K = (maps.shape[2] - 1) - 2 * n
    system, readouts = np.empty((2 * n + 4, n)), np.zeros((4, K))
    for s in range(S):
        for b in range(K):
            readouts[0, b], readouts[1, b] = x[s, b], 1.0
        _step(maps[layer[s]], factor[s], (first[s], second[s]), readouts, x[s, K:], beta, system)
        for i in range(n):
            found[s, i] = system[n, i]


@kept(**OPEN)
def covariances(nodes, sharing, readout, x, beta, found):
    """The covariance of the outputs, found [S, N], of T_12 [S, K] and the overlaps x [S, n] from Q1_12 on.

    nodes: P [n, N], how many members of Q1_12 each is of [n], weights [N], squares of the slopes [N].
    """
    products, _, _, squares = nodes
    layer, K = sharing[0], readout.shape[1]
    for s in range(readout.shape[0]):
        for i in range(squares.shape[0]):
            found[s, i] = -squares[i]
        for a in range(products.shape[0]):
            overlap = layer[s] * readout[s, a] / beta if a < K else x[s, a]
            for i in range(squares.shape[0]):
                found[s, i] += overlap * products[a, i]


@kept(**OPEN)
def newton_steps(maps, nodes, sharing, at, parameters, found):
    """The same where E g_1 g_2 is given at nodes of kappa: see ``covariances`` and ``follow``."""
    products, times, weight, _ = nodes
    layer, share = sharing
    x, value, slope, _, readouts, _ = at
    n, K = x.shape[1], readouts.shape[2]
    system, factor, first, second = np.empty((2 * n + 4, n)), np.empty(n), np.empty(n), np.empty((n, n))
    for s in range(x.shape[0]):
        _moments(products, weight, value[s], slope[s], first, second)
        for a in range(n):
            factor[a] = share[s] * parameters[0] / parameters[1] / times[a]
            for b in range(K):
                second[a, b] *= layer[s]
        for b in range(K):
            factor[b] *= layer[s]
        _step(maps[layer[s]], factor, (first, second), readouts[s], x[s, K:], parameters[1], system)
        for i in range(n):
            found[s, i] = system[n, i]


@kept(**OPEN)
def follow(nodes, sharing, at, step, parameters, found):
    """Newton's method from overlaps x: the next ones, and what the covariance and E g_1 g_2 are there by their slopes.

    sharing: which maps a pair has [S], the share of the data [S]; at: x [S, n], E g_1 g_2, its slope and the covariance
    [S, N], readouts [S, 4, K]: T_12, its slope in the unknown of the readouts, and both of the fields of stand-ins,
    lowest and highest unknown of the readouts [2, K]; step [S, n]; found: x [S, n], T_12 and field [S, K], covariance
    and E g_1 g_2 [S, N].
    """
    start, value, slope, covariance, readouts, limits = at
    x, readout, field, there, average = found
    K = readout.shape[1]
    for s in range(x.shape[0]):
        for i in range(x.shape[1]):
            x[s, i] = start[s, i] - step[s, i]
            if i < K:
                x[s, i] = min(max(x[s, i], limits[0, i]), limits[1, i])
                moved = x[s, i] - start[s, i]
                readout[s, i] = readouts[s, 0, i] + readouts[s, 1, i] * moved
                field[s, i] = readouts[s, 2, i] + readouts[s, 3, i] * moved
    covariances(nodes, sharing, readout, x, parameters[1], there)
    for s in range(x.shape[0]):
        for i in range(there.shape[1]):
            average[s, i] = value[s, i] + slope[s, i] * (there[s, i] - covariance[s, i])


@kept(**ALONG)
def _fill(readout, overlaps, hats, overlap, each):
    """The first numbers of a pair in the order of ``EACH``. Returns the next place."""
    K = readout.shape[0]
    square, place = K * K, K
    for b in range(K):
        each[b] = readout[b]
        each[K + 2 * square + b] = hats[b]
        each[2 * K + 2 * square + b] = overlap[b]
        for c in range(b, K):
            each[K + b * K + c] = each[K + c * K + b] = overlaps[place - K]
            each[K + square + b * K + c] = each[K + square + c * K + b] = hats[place]
            place += 1
    return 3 * K + 2 * square


@kept(**OPEN)
def fill_rows(x, hats, overlap, each):
    """each [S, numbers]: T_12, Q1_12, both conjugates and overlaps of rows of S pairs, in the order of ``EACH``; hats
    [S, n]: the conjugates in the order of x [S, n].
    """
    K = overlap.shape[1]
    for s in range(x.shape[0]):
        _fill(x[s, :K], x[s, K:], hats[s], overlap[s], each[s])


@kept(**OPEN)
def fill_pairs(nodes, sharing, rest, parameters, found, each):
    """The same of pairs at nodes of kappa, and what follows in ``EACH``; rest: of the features [K, N], and the noise of
    the labels that is not shared [S, N]; found: see ``follow``.
    """
    products, times, weight, _ = nodes
    layer, share = sharing
    x, readout, field, covariance, average = found
    features, apart = rest
    n, N = products.shape
    K = readout.shape[1]
    hats, overlap = np.empty(n), np.empty(K)
    for s in range(x.shape[0]):
        for a in range(n):
            total = 0.0
            for i in range(N):
                total += weight[i] * average[s, i] * products[a, i]
            hats[a] = share[s] * parameters[0] / parameters[1] / times[a] * total * (layer[s] if a < K else 1.0)
        for b in range(K):
            overlap[b] = layer[s]
        place = _fill(readout[s], x[s, K:], hats, overlap, each[s])
        for b in range(K):
            each[s, place + b], each[s, place + K + b] = field[s, b], readout[s, b] / parameters[1]
        place += 2 * K
        for i in range(N):
            each[s, place + i], each[s, place + N + i] = covariance[s, i], average[s, i]
            each[s, place + 2 * N + i] = apart[s, i]
        for b in range(K):
            for i in range(N):
                each[s, place + (3 + b) * N + i] = layer[s] * features[b, i]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
