"""A model file, programs and their messages, for the tests of the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

TEXT = """
[network]
activation = "tanh"
width = 1.0
[step]
samples = 2.0
learning_rate = 1.5
[target]
link = "tanh"
noise = 0.1
[fit]
samples = 2.0
ridge = 0.05
"""
COMMANDS = (
    "derive",
    "generate",
    "solve",
    "curve",
    "simulate",
    "verify",
    "init",
    "list",
    "schema",
    "plot",
    "completion",
)

Run = Callable[..., tuple[int, str, str]]


def program(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "giantstep.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def one_sentence_and_a_hint(err: str, *words: str) -> None:
    """The hint is missing where the sentence says itself what is allowed."""
    lines = err.splitlines()
    assert lines[0].startswith("giantstep: "), err
    assert len(lines) == 2 and lines[1].startswith("hint: ") or len(lines) == 1 and ": give " in err, err
    for word in words:
        assert word in err
