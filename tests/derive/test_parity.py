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
    ],
)
def test_parity(text: str, expected: int | None) -> None:
    assert parity(link_of(text).node) == expected
