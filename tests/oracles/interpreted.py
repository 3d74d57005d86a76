"""Emitted kernels as plain Python."""

from __future__ import annotations

from types import ModuleType


def interpreted(text: str) -> ModuleType:
    """A kernel module without its compiler: plain Python, the same arithmetic."""
    found = ModuleType("mutant")
    plain = text.replace("from numba import njit", "njit = lambda **_: lambda function: function")
    exec(compile(plain, "<mutant>", "exec"), found.__dict__)
    return found
