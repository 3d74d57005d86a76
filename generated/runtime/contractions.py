"""Contractions along the nodes of kappa: rows of ``field`` (functions of kappa) with rows of ``node`` (features).

Their loops are the long ones of a solver. Sums may be taken in any order, so that they fill the registers of the
machine; everything else runs over a few blocks and asks for short code instead (``short``).

Written by hand, in codegen/runtime/contractions.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from numba import types
from numba.extending import intrinsic

from generated.runtime.compiling import kept

INNER = {
    "error_model": "numpy",
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # arrays are borrowed, see ``compiling``
}
MAKING = {"_nrt": True}  # of a function that makes arrays
ALONG = {**INNER, "fastmath": {"reassoc", "contract", "nsz"}}


@intrinsic
def short(typingctx):
    """Ask LLVM for short code: loops over a few blocks, unrolled, take long to compile and to run."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("optsize")
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def apart(typingctx):
    """Ask LLVM to compile a function once, not into each of its callers."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


@kept(**ALONG)
def sum_of(field, row):
    """Sum of a row."""
    apart()
    result = 0.0 * field[row, 0]
    for n in range(field.shape[1]):
        result += field[row, n]
    return result


@kept(**ALONG)
def average(field, row, node, feature):
    """Sum of a row that holds weights times a feature."""
    apart()
    result = 0.0 * field[row, 0]
    for n in range(node.shape[1]):
        result += field[row, n] * node[feature, n]
    return result


@kept(**ALONG)
def average_of_product(field, row, node, first, second):
    """Sum of a row that holds weights times two features."""
    apart()
    result = 0.0 * field[row, 0]
    for n in range(node.shape[1]):
        result += field[row, n] * node[first, n] * node[second, n]
    return result


@kept(**ALONG)
def clear(field, row):
    """Set a row to zero."""
    apart()
    for n in range(field.shape[1]):
        field[row, n] = 0.0


@kept(**ALONG)
def add(field, row, factor, node, feature):
    """Add a multiple of a feature to a row."""
    apart()
    for n in range(node.shape[1]):
        field[row, n] += factor * node[feature, n]


@kept(**ALONG)
def add_product(field, row, factor, node, first, second):
    """Add a multiple of a product of two features to a row; along a unit vector most multiples are zero."""
    apart()
    if factor == 0.0:
        return
    for n in range(node.shape[1]):
        field[row, n] += factor * node[first, n] * node[second, n]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
