"""Parities read from trees are those of the values."""

from __future__ import annotations

import pytest

from derive.language.links import link_of
from derive.language.parity import parity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sign(z1*z2*z3)", -1),
        ("z1*z2 + 3", 1),
        ("tanh(z1*abs(z2)) - sin(z2)/4", -1),
        ("exp(z1*z2) + relu(z1**2 - 1)", 1),
        ("He(3,z1)*He(2,z2)", -1),
        ("z1/z2**3 + cos(z1)", 1),
        ("z1**2*z2 + z1*z2", None),
        ("sign(z1*z2) + step(z1 - 6)", None),
        ("relu(z1)*z2", None),
        ("clip(z1*z2*z2, -0.5, 0.5)", -1),
        ("clip(z1, -1, 2)", None),
        ("hard_tanh(z1)", -1),
        ("relu(z1*z2*z2) - relu(-z2*z1*z2)", -1),
        ("max(z1, -1) - max(-z1, -1)", -1),
        ("min(z1, z2) + max(z1, z2)", -1),
        ("abs(z1 - 1) - abs(z1 + 1)", -1),
        ("sigmoid(z1) - 1/2", -1),
        ("2*step(z1 + z2) - 1", -1),
        ("Phi(z1) - 1/2", -1),
        ("1 - erfc(z1)", -1),
        ("gelu(z1) - z1/2", 1),
        ("softplus(z1) - softplus(-z1)", -1),
        ("exp(z1) + exp(-z1)", 1),
        ("elu(z1) - elu(-z1)", -1),
        ("(1 + z1)**2 - (1 - z1)**2", -1),
        ("sigmoid(z1) - 1/3", None),
        ("relu(z1) - relu(-z1)/2", None),
    ],
)
def test_parity(text: str, expected: int | None) -> None:
    assert parity(link_of(text).node) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("sign(z1*z2)", -1), ("sign(z1*z2 + z2)", None), ("z1**2*z2", 1), ("sign(z1*z1*z2) + z1", None)],
)
def test_parity_in_one_variable(text: str, expected: int | None) -> None:
    assert parity(link_of(text).node, "z1") == expected


def test_long_sums_keep_their_parity() -> None:
    """A power of more terms than are written out is a factor whose parity is known."""
    odd = "z1 + z2 + z1**3 + sin(z2) + tanh(z1) + sinh(z2)"
    assert parity(link_of(f"({odd})**12").node) == 1
    assert parity(link_of(f"({odd})**11").node) == -1
