"""Text that does not depend on the seed of Python's hashes, which decides the order of sets."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import giantstep

ROOT = Path(giantstep.__file__).parents[1]


def printed_under_any_seed(code: str) -> str:
    """What the code prints in this process, and no less in a fresh one with another seed."""
    with redirect_stdout(StringIO()) as here:
        exec(code, {})
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    there = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert here.getvalue() == there.stdout
    return there.stdout
