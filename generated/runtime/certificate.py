"""Residuals of a system beside the size of their terms, in NumPy: what says how well a solution solves its equations.

Every array has a first axis of two: values, and sums of the absolute values of all terms. Sums and products act on both
alike where ``SIGN`` stands for a minus, so that one line gives a residual and what its rounding errors are relative to.

Written by hand, in codegen/runtime/certificate.py.
Generated; do not edit. Signature 21add5fe3ff84c26, runtime 7e066d04f8852e4b.
Regenerate with: giantstep generate
"""

# fmt: off

import numpy as np

SIGN = np.array([-1.0, 1.0])


def both(values):
    """Values and their absolute values."""
    return np.array((values, np.abs(values)))


def bounded(values, squares):
    """Averages of an odd function of the output, which may cancel, beside the root of that of its square."""
    return np.array((values, np.sqrt(squares)))


def over(pair):
    """Reciprocals of values and their absolute values."""
    return both(1.0 / pair[0])


def worse(worst, difference, scale):
    """The larger of worst and this residual relative to its scale, numbers all; infinite for nan."""
    difference = abs(difference)
    if not difference < np.inf:
        return np.inf
    return worst if difference == 0.0 else max(worst, difference / scale)


class Certificate:
    """Collects the equations of a system at the values of its unknowns ``state``."""

    def __init__(self, state):
        self.state = state
        self.differences = []
        self.scales = []

    def explicit(self, name, body):
        """The equation ``name = body``; the unknown beside the size of the terms of its equation."""
        value = self.state[name]
        pair = np.empty((2, *np.shape(value)), np.result_type(value, body))
        pair[0], pair[1] = value, body[1]
        self.differences.append((value - body[0]).ravel())
        self.scales.append(pair[1].ravel())
        return pair

    def implicit(self, body):
        """The equation ``body = 0``."""
        self.differences.append(body[0].ravel())
        self.scales.append(body[1].ravel())

    def worst(self):
        """The largest residual of an equation relative to the largest of its terms; infinite for nan."""
        starts = np.cumsum([0, *(part.size for part in self.differences[:-1])])
        difference = np.maximum.reduceat(np.abs(np.concatenate(self.differences)), starts)
        scale = np.maximum.reduceat(np.abs(np.concatenate(self.scales)), starts)
        if not np.all(np.isfinite(difference)):
            return np.inf
        with np.errstate(divide="ignore"):
            return float(np.max(difference[difference > 0.0] / scale[difference > 0.0], initial=0.0))

SIGNATURE = "21add5fe3ff84c269f14f1094f1998d4254baefc973e1a00dce54e8b3d356994"
