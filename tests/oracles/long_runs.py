"""Families of cases of which some stay in the ordinary run, and all are in the two runs together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Cases of a parametrised test: each ``step``-th in the ordinary run, from the first on, the others in the long."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.slow] * bool(number % step))
        for number, case in enumerate(cases)
    ]
