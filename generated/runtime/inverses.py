"""Inverses of matrices by compiled loops.

Linear algebra libraries hand matrices of a hundred rows to several threads, which wait for each other where other
programs run: that may take a thousand times as long as the inverse.

Written by hand, in codegen/runtime/inverses.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

from generated.runtime.compiling import inner, making_entry

PANEL = 8  # columns that are eliminated together: all further ones are read and written once for these


@inner
def _exchange(matrix, k, other):
    """Exchange two rows."""
    for j in range(matrix.shape[1]):
        entry = matrix[k, j]
        matrix[k, j] = matrix[other, j]
        matrix[other, j] = entry


@inner
def _pivot(panel, over, first, k):
    """The row from k on whose entry in column k is largest beside that row; over: one over its largest entry."""
    best, most = k, abs(panel[k, k - first] * over[k])
    for i in range(k + 1, panel.shape[0]):
        size = abs(panel[i, k - first] * over[i])
        if size > most:
            best, most = i, size
    return best


@inner
def _eliminate(matrix, order, over_rows, panel, first):
    """Gauss-Jordan steps on the columns of a panel alone: what then stands there multiplies the old rows of it."""
    n, width = panel.shape
    for k in range(first, min(first + width, n)):
        best, c = _pivot(panel, over_rows, first, k), k - first
        if best != k:
            order[k], order[best] = order[best], order[k]
            over_rows[k], over_rows[best] = over_rows[best], over_rows[k]
            _exchange(matrix, k, best)
            _exchange(panel, k, best)
        over = 1.0 / panel[k, c]
        panel[k, c] = 1.0
        for j in range(width):
            panel[k, j] *= over
        for i in range(n):
            if i != k:
                factor = panel[i, c]
                panel[i, c] = 0.0
                for j in range(width):
                    panel[i, j] -= factor * panel[k, j]


@inner
def _apply(matrix, panel, rows, first):
    """The old rows of a panel, by what stands in it, into all rows of the matrix."""
    n, last = matrix.shape[0], min(first + PANEL, matrix.shape[0])
    for i in range(n):
        row, p = matrix[i], panel[i]
        kept = 0.0 if first <= i < last else 1.0
        a, b, c, d, e, f, g, h = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
        for j in range(n):
            near = a * rows[0, j] + b * rows[1, j] + c * rows[2, j] + d * rows[3, j]
            far = e * rows[4, j] + f * rows[5, j] + g * rows[6, j] + h * rows[7, j]
            row[j] = kept * row[j] + (near + far)
        for j in range(first, last):
            row[j] = p[j - first]


@making_entry
def invert_large(matrix):
    """Invert a matrix [n, n] in place, rows exchanged for the pivot largest beside its row; not finite if singular.

    Source: Gauss and Jordan's elimination, a panel of columns at a time.
    """
    n = matrix.shape[0]
    order, over_rows = np.arange(n), np.zeros(n, matrix.dtype)
    for i in range(n):
        for j in range(n):
            if abs(matrix[i, j]) > abs(over_rows[i]):
                over_rows[i] = matrix[i, j]
        over_rows[i] = 1.0 / over_rows[i]
    panel, rows = np.empty((n, PANEL), matrix.dtype), np.empty((PANEL, n), matrix.dtype)
    for first in range(0, n, PANEL):
        width = min(PANEL, n - first)
        for i in range(n):
            for j in range(PANEL):
                panel[i, j] = matrix[i, first + j] if j < width else 0.0
        _eliminate(matrix, order, over_rows, panel, first)
        for j in range(PANEL):
            for i in range(n):
                rows[j, i] = matrix[first + j, i] if j < width else 0.0
        _apply(matrix, panel, rows, first)
    for k in range(n):  # the columns back into their order
        while order[k] != k:
            other = order[k]
            for i in range(n):
                entry = matrix[i, k]
                matrix[i, k] = matrix[i, other]
                matrix[i, other] = entry
            order[k], order[other] = order[other], order[k]

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
