"""Averages over the output, by sums over its nodes: a loss there, and the law of the label with the density.

Written by hand, in codegen/runtime/output_sums.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from generated.runtime.compiling import inner, sum_of_products
from generated.runtime.nodes import ENVELOPE, G_G, G_G_H, G_H, LOSS, G, H

LAW = 6  # rows of the law of a label: the density, t and t^2 times it, its derivative in the centre, t times that, and
# its second derivative


@inner
def add_sums(law, sign, scratch, count, out, node):
    """Add the averages at a node, in the order of AVERAGES; sign: of u in the output, that of the label of a margin.

    count: of nodes, whole vectors of them. The derivatives are those in the centre of u.
    """
    out[0, node] += sum_of_products(law, 0, scratch, ENVELOPE, 0, count)
    out[1, node] += sign * sum_of_products(law, 0, scratch, G, 0, count)
    out[2, node] += sum_of_products(law, 0, scratch, H, 0, count)
    out[3, node] += sum_of_products(law, 0, scratch, G_G, 0, count)
    out[4, node] += sign * sum_of_products(law, 0, scratch, G_H, 0, count)
    out[5, node] += sign * sum_of_products(law, 3, scratch, H, 0, count)
    out[6, node] += sum_of_products(law, 0, scratch, G_G_H, 0, count)
    out[7, node] += sum_of_products(law, 3, scratch, G_H, 0, count)
    out[8, node] += sum_of_products(law, 5, scratch, H, 0, count)
    out[9, node] += sign * sum_of_products(law, 1, scratch, G, 0, count)
    out[10, node] += sum_of_products(law, 1, scratch, H, 0, count)
    out[11, node] += sign * sum_of_products(law, 1, scratch, G_H, 0, count)
    out[12, node] += sign * sum_of_products(law, 4, scratch, H, 0, count)
    out[13, node] += sum_of_products(law, 2, scratch, H, 0, count)
    out[14, node] += sum_of_products(law, 0, scratch, LOSS, 0, count)

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
