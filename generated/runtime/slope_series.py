"""The slope of a loss at an output, by Hermite polynomials: all that two outputs of any covariance have in common.

Written by hand, in codegen/runtime/slope_series.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import math

import numpy as np

from generated.runtime.compiling import inner, making_entry, making_inner, sum_of_products
from generated.runtime.gaussian import NORM
from generated.runtime.nodes import OMEGA, WEIGHT, G, Output, fill_nodes, span_of
from generated.runtime.prox import NOWHERE, find_cell
from generated.runtime.quadratic import at_center, find_knots, room_for_knots
from generated.runtime.vector import exp

_NARROW = 1e-3  # spreads times max(1, the distance): parts whose ends cancel to 2e-13; beside it, ends are as good
_GAUSS = math.sqrt(0.6)  # of the rule of three nodes, whose error there is 1e-17 for two hundred terms


@making_entry
def slope_series(law, rule, label, outputs, scratch, out):
    """out[m, n] = E[g(omega) He_n(x)]/sqrt(n!) for omega = center + spread x of variable m, x standard normal.

    Of a loss of the residual, omega is counted from the label; of the margin, the sign of a label is all that counts.
    """
    knots, root = room_for_knots(law), _roots(out.shape[1])
    weighted, known = np.empty((3, scratch.shape[1])), (math.nan, math.nan)
    for m in range(out.shape[0]):
        sign = -1.0 if law.margin and label[m] < 0.0 else 1.0
        y = 1.0 if law.margin or law.residual else label[m]
        center = sign * outputs.center[m] - (label[m] if law.residual else 0.0)
        output = Output(center, outputs.spread[m], outputs.V[m])
        if law.quadratic:
            if known != (y, output.V):
                find_knots(law, rule, y, output.V, knots)
                known = y, output.V
            _of_knots(law, rule, y, output, knots, root, out[m])
        else:
            nodes = fill_nodes(law, rule, y, span_of(output), NOWHERE, scratch)
            _of_nodes(output, nodes, scratch, root, weighted, out[m])
        if sign < 0.0:
            for n in range(0, out.shape[1], 2):
                out[m, n] = -out[m, n]


@making_inner
def _roots(orders):
    """Of whole numbers up to the orders, and their inverses, [2, orders + 1]."""
    found = np.ones((2, orders + 1))
    for n in range(orders + 1):
        found[0, n] = math.sqrt(n)
        if n > 0:
            found[1, n] = 1.0 / found[0, n]
    return found


@inner
def _of_nodes(output, nodes, scratch, root, weighted, out):
    """By nodes of the output; weighted: room for x, and for two polynomials times the density and the weights."""
    spread, center = output.spread, output.center - span_of(output).low
    for i in range(nodes):
        x = (scratch[OMEGA, i] - center) / spread
        weighted[0, i] = NORM / spread * scratch[WEIGHT, i] * exp(-0.5 * x * x)
        weighted[1, i], weighted[2, i] = 0.0, x
    for n in range(out.shape[0]):
        here, other = n % 2, 1 - n % 2
        out[n] = sum_of_products(weighted, here, scratch, G, 0, nodes) if nodes > 0 else math.nan
        up, down = root[1, n + 1], root[0, n] * root[1, n + 1]
        for i in range(nodes):
            weighted[other, i] = up * weighted[2, i] * weighted[here, i] - down * weighted[other, i]


@inner
def _of_knots(law, rule, y, output, knots, root, out):
    """In closed form where the slope is linear between knots: E[g He_n] is -spread E[h He_(n-1)] (Stein), and
    He_(n-1) times the density is a derivative, so that the ends of a part are left; of narrow parts, nodes.
    """
    count, spread = 2 * find_cell(law, y)[1] - 2, output.spread
    out[:] = 0.0
    phi, beyond, b = 0.0, 0.0, -math.inf  # at the end of a part: density, probability of the tail away from zero
    for number in range(count + 1):
        a, h, width = b, knots.h[number], knots.width[number] / spread
        if not width > 0.0:
            continue
        before, tail = phi, beyond
        b = (knots.omega[number] - output.center) / spread if number < count else math.inf
        phi, beyond = NORM * math.exp(-0.5 * b * b), 0.5 * math.erfc(abs(b) / math.sqrt(2.0))
        if width * max(1.0, abs(a)) < _NARROW:
            _add_narrow(spread, knots, number, (a, width), root, out)
            continue
        if a > 0.0:
            weight, place, slope = tail - beyond, a, knots.slope[number - 1]
        elif b < 0.0:
            weight, place, slope = beyond - tail, b, knots.slope[number]
        else:
            weight, place, slope = 1.0 - tail - beyond, 0.0, at_center(law, rule, y, output, knots, number)[0]
        out[0] -= weight * slope + spread * h * (before - phi - weight * place)
        if out.shape[0] > 1:
            out[1] -= spread * h * weight
        if before > 0.0:
            _add_polynomials(a, -spread * h * before, 2, root, out)
        if phi > 0.0:
            _add_polynomials(b, spread * h * phi, 2, root, out)


@inner
def _add_narrow(spread, knots, number, part, root, out):
    """A part whose ends would cancel, by Gauss's rule of three nodes; part: its start and width, in spreads."""
    first, last, (start, width) = knots.slope[number - 1], knots.slope[number], part
    for i in range(-1, 2):
        share = 0.5 + i * 0.5 * _GAUSS
        x = start + width * share
        weight = width * (4.0 / 9.0 if i == 0 else 2.5 / 9.0) * NORM * math.exp(-0.5 * x * x)
        out[0] -= weight * (first + share * (last - first))
        _add_polynomials(x, -weight * spread * knots.h[number], 1, root, out)


@inner
def _add_polynomials(x, factor, behind, root, out):
    """Add the factor times He_(n - behind), over the root of n, or of n (n - 1)."""
    here, before = factor, 0.0
    if factor == 0.0:
        return
    for n in range(behind, out.shape[0]):
        m = n - behind
        out[n] += here * root[1, n] * (root[1, n - 1] if behind == 2 else 1.0)
        here, before = (x * here - root[0, m] * before) * root[1, m + 1], here

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
