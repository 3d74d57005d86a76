"""Averages over the output, by sums over its nodes: a loss there, and the law of the label with the density.

The law has a row for the density, for t and for the products of its components times it; then the same for the
derivative of the density in the centre, but for the products; then its second derivative.

Written by hand, in codegen/runtime/output_sums.py.
Generated; do not edit. Signature f88bbec66edfb99b, runtime d36daf5d64a98866.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import inner
from generated.runtime.nodes import ENVELOPE, G_G, G_G_H, G_H, LOSS, VECTOR, G, H


@inner
def rows_of_law(directions):
    """How many rows the law of the label has."""
    return 3 + 2 * directions + directions * (directions + 1) // 2


@inner
def _sum(law, row, scratch, function, count):
    """The sum of a row of the law times a function, in an order that is written: eight sums side by side."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for i in range(0, count, VECTOR):
        s0 += law[row, i] * scratch[function, i]
        s1 += law[row, i + 1] * scratch[function, i + 1]
        s2 += law[row, i + 2] * scratch[function, i + 2]
        s3 += law[row, i + 3] * scratch[function, i + 3]
        s4 += law[row, i + 4] * scratch[function, i + 4]
        s5 += law[row, i + 5] * scratch[function, i + 5]
        s6 += law[row, i + 6] * scratch[function, i + 6]
        s7 += law[row, i + 7] * scratch[function, i + 7]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@inner
def add_sums(law, sign, scratch, count, directions, out, node):
    """Add the averages at a node, in the order of AVERAGES; sign: of u in the output, that of the label of a margin.

    count: of nodes, whole vectors of them. The derivatives are those in the centre of u.
    """
    slope = 1 + directions + directions * (directions + 1) // 2  # where the rows of derivatives begin
    out[0, node] += _sum(law, 0, scratch, ENVELOPE, count)
    out[1, node] += sign * _sum(law, 0, scratch, G, count)
    out[2, node] += _sum(law, 0, scratch, H, count)
    out[3, node] += _sum(law, 0, scratch, G_G, count)
    out[4, node] += sign * _sum(law, 0, scratch, G_H, count)
    out[5, node] += sign * _sum(law, slope, scratch, H, count)
    out[6, node] += _sum(law, 0, scratch, G_G_H, count)
    out[7, node] += _sum(law, slope, scratch, G_H, count)
    out[8, node] += _sum(law, slope + 1 + directions, scratch, H, count)
    pair, place = 1 + directions, 9 + 4 * directions
    for d in range(directions):
        out[9 + d, node] += sign * _sum(law, 1 + d, scratch, G, count)
        out[9 + directions + d, node] += _sum(law, 1 + d, scratch, H, count)
        out[9 + 2 * directions + d, node] += sign * _sum(law, 1 + d, scratch, G_H, count)
        out[9 + 3 * directions + d, node] += sign * _sum(law, slope + 1 + d, scratch, H, count)
        for _ in range(d, directions):
            out[place, node] += _sum(law, pair, scratch, H, count)
            place, pair = place + 1, pair + 1
    out[place, node] += _sum(law, 0, scratch, LOSS, count)

SIGNATURE = "f88bbec66edfb99bb1e8647bd599e687bfc652dfbc4b3bfb2e27d9fc2cae6f57"
