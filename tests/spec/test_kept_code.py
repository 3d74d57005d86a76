"""Kept machine code serves a process that compiles nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
CALL = "import numpy as np; from generated.losses import {0}; print({0}.piece(0, 0.3, 1.0, np.zeros(0))[1])"


def test_code_that_may_raise_is_loaded_before_anything_is_compiled() -> None:
    """It names functions of numba's runtime; without their addresses none of its calls had one, and it crashed."""
    for _ in range(2):  # the first process may find nothing kept
        done = subprocess.run([sys.executable, "-c", CALL.format("probit")], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        density, share = np.exp(-0.045) / np.sqrt(2.0 * np.pi), 0.6179114221889526
        assert float(done.stdout) == pytest.approx(-density / share, rel=1e-14)
