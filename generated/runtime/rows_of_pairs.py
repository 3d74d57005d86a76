"""What the rows of the first layers make of the overlaps of two fits, and the linear systems for these.

The equations of the rows are affine in the overlaps T_12, Q1_12 and in their conjugates. They are evaluated from their
text, for all unit vectors at once: what is left are small matrices, which serve all pairs of one fit whose layers have
the same in common. Averages over the outputs enter by moments of what the covariance of the outputs moves by with an
overlap: stationarity makes of these the conjugate of that overlap.

Written by hand, in codegen/runtime/rows_of_pairs.py.
Generated; do not edit. Signature fb1a8203bddcae77, runtime 72db279826dd7aa8.
Regenerate with: giantstep generate
"""

# fmt: off

from functools import cached_property, lru_cache

import numpy as np

from generated.runtime.compiling import kept
from generated.runtime.contraction_layout import layout_of
from generated.runtime.contractions import ALONG, MAKING
from generated.runtime.equation_text import PARAMETERS, Contractions
from generated.runtime.evaluation import run
from generated.runtime.unknowns import solve_linear

UNKNOWN = ("T_12", "Q1_12", "Q2_hat_12", "Q1_hat_12", "random_field_12")  # in this order, of Q1 one of each pair
GIVEN = (*UNKNOWN, "overlap")


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

    def maps(self, fraction, parameters, state, overlaps):
        """[L, n, 1 + 2 n + K]: what vanishes for the n unknowns where all overlaps and conjugates are zero, and what
        each of them adds, in the order of ``UNKNOWN``; overlaps [L, K]: of the rows of a block in the two layers.
        """
        arrays = [np.asarray(state[name]) for name in self.names]
        plan = planned(self, len(fraction), len(overlaps), tuple([values.shape for values in arrays]))
        value = plan.start.copy()
        value[: len(parameters)] = parameters
        value[plan.fraction] = fraction
        value[plan.given] = np.concatenate([values.ravel() for values in arrays])
        value[plan.overlap] = np.repeat(overlaps, plan.columns, axis=0).ravel()
        run(plan.rows, value)
        found = 0.5 * (value[plan.results[0]] + value[plan.results[1]])  # both halves of Q1
        found[..., 1:] -= found[..., :1]
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
        self.rows, self.start = layout.part(contractions), layout.numbers()
        self.fraction = slice(len(PARAMETERS), len(PARAMETERS) + blocks)
        self.given = np.concatenate([np.arange(p.start, p.stop) for p in map(layout.families.get, rows.names)])
        self.overlap = layout.families["overlap"]
        self._set_units(layout, upper, blocks, layers)
        self.results = self._results(layout, upper, blocks, layers)

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


@kept(**{**ALONG, "no_cpython_wrapper": False})
def moments(products, weight, value, gain, first, second):
    """first[s, a] = E value P_a, second[s, a, b] = E gain P_a P_b over N nodes; value, gain [S, N], P [n, N]."""
    n, N = products.shape
    for s in range(value.shape[0]):
        for a in range(n):
            total = 0.0
            for i in range(N):
                total += weight[i] * value[s, i] * products[a, i]
            first[s, a] = total
            for b in range(a + 1):
                total = 0.0
                for i in range(N):
                    total += weight[i] * gain[s, i] * products[a, i] * products[b, i]
                second[s, a, b] = second[s, b, a] = total


@kept(**{**ALONG, **MAKING, "no_cpython_wrapper": False})
def steps(maps, layer, factor, first, second, readouts, overlaps, beta, found):
    """How far the overlaps of S pairs are from what solves their linearised equations, found [S, n]; nan where these
    are singular.

    maps: see ``RowsOfPairs``; layer[s]: which of them a pair has; factor[s, a]: of an average of P_a in a conjugate;
    first, second: of E g_1 g_2 and of its slope at the overlaps [S, n - K]; readouts[s]: T_12, its slope in the unknown
    of the readouts, and both of the fields of stand-ins, [K] each.
    """
    S, n = first.shape
    K = readouts.shape[2]
    system = np.empty((2 * n + 4, n))
    for s in range(S):
        rows, place = maps[layer[s]], 1 + n
        for i in range(n):
            total = rows[i, 0]
            for b in range(K):
                total += rows[i, 1 + b] * readouts[s, 0, b] + rows[i, place + n + b] * readouts[s, 2, b]
            for a in range(K, n):
                total += rows[i, 1 + a] * overlaps[s, a - K]
            for a in range(n):
                total += rows[i, place + a] * factor[s, a] * first[s, a]
            system[n, i] = total
        for j in range(n):
            slope = readouts[s, 1, j] if j < K else 1.0
            moved = slope / beta if j < K else slope
            for i in range(n):
                total = rows[i, 1 + j] * slope
                if j < K:
                    total += rows[i, place + n + j] * readouts[s, 3, j]
                for a in range(n):
                    total += rows[i, place + a] * factor[s, a] * second[s, a, j] * moved
                system[j, i] = total
        if not solve_linear(system, n, 0.0):
            for i in range(n):
                system[n, i] = np.nan
        for i in range(n):
            found[s, i] = system[n, i]

SIGNATURE = "fb1a8203bddcae77af6e18d20ecee65002c847594552f641ed097098f4d81436"
