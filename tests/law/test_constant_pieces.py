"""Labels of several indices that are constant between jumps, in pieces along lines: against nodes along these."""

from __future__ import annotations

import numpy as np
import pytest

from giantstep.law.label_lines import constant_pieces
from giantstep.law.labels import label_law
from giantstep.spec.model import Target
from giantstep.system.misclassification import wrong_sign, wrong_sign_slopes
from giantstep.system.sign_panels import Output

Array = np.ndarray
LINKS = {
    "sign(abs(z1) - abs(z2))": (0.95, 0.3),  # kinks that cross
    "sign(z1**2 + z2**2 - 1)": (0.3, 0.2),  # a curve that ends
    "sign(z1*z2*z3)": (0.6, 0.4, 0.3),
    "sign(z1*z2)": (1.0, 0.0),  # one index is decided
    "sign(z1*z2 - 0.3)": (0.6, 0.5),  # a curve that leaves to infinity
}
LEFT_OUT = 1e-10  # nodes of weights below 1e-16, less at kappa far out, tens of thousands of them
KAPPA = np.linspace(-2.5, 2.5, 4)
MEAN, VARIANCE = np.array([0.3, -0.8, 0.1, 1.0]), np.array([0.5, 0.4, 1.0, 0.4])


def told(output: Output) -> Array:
    of_mean, of_slopes, of_variance = wrong_sign_slopes(output)
    return np.array([wrong_sign(output), of_mean, *of_slopes, of_variance])


@pytest.mark.parametrize("link", LINKS)
def test_pieces_have_the_signs_of_nodes(link: str) -> None:
    """Beside what fewer nodes of either change."""
    target, overlaps = Target(link), (LINKS[link],)
    slopes = np.linspace(0.3, -0.4, len(overlaps[0]))[:, None] * np.array([1.0, 0.3, -1.0, 0.7])

    def by_pieces(finer: int) -> Array:
        law = constant_pieces(target, overlaps, KAPPA[:, None], finer, False)
        return told(Output(KAPPA, MEAN, slopes, VARIANCE, law))

    def by_nodes(finer: int) -> Array:
        return told(Output(KAPPA, MEAN, slopes, VARIANCE, label_law(target, overlaps, KAPPA, finer)))

    pieces, nodes = by_pieces(1), by_nodes(2)
    error = np.abs(pieces - by_pieces(0)) + np.abs(nodes - by_nodes(1)) + LEFT_OUT
    assert error.max() < 1e-7
    assert np.all(np.abs(pieces - nodes) < error)


def test_there_are_fewer_of_them() -> None:
    target, overlaps = Target("sign(z1*z2*z3)"), ((0.6, 0.4, 0.3),)
    pieces = constant_pieces(target, overlaps, KAPPA[:, None], 0, False)
    assert pieces.weight.size < label_law(target, overlaps, KAPPA).weight.size / 8
