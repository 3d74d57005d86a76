"""The file of a covariance of the inputs: its eigenvalues, or the matrix."""

from __future__ import annotations

import os
import stat
from functools import lru_cache

import numpy as np

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput

Array = np.ndarray
_SYMMETRIC = 1e-9  # of the largest entry


def eigenvalues_of(path: str, most: int) -> Array:
    """The eigenvalues [J] as a .npy file lists them, or of the matrix [J, J] in it, the largest first.

    Raises BadInput for a file that is none, for more than ``most``, and for eigenvalues that are not positive.
    """
    return _read(path, _written(path), most)


def _written(path: str) -> int:
    """When a file was written last, which tells its versions apart."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInput(f"inputs.file = {shorten(path)} cannot be read: {reason}", "check the path") from None
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"inputs.file = {shorten(path)} is no regular file", "give one that numpy.save wrote")
    return found.st_mtime_ns


@lru_cache(maxsize=8)
def _read(path: str, written: int, most: int) -> Array:
    found = _array(path, most)
    if found.ndim == 2:
        if np.abs(found - found.T).max() > _SYMMETRIC * np.abs(found).max():
            raise BadInput(f"the matrix of inputs.file = {shorten(path)} is not symmetric", "a covariance is")
        found = np.linalg.eigvalsh(found)[::-1].copy()
    if not found.min() > 0.0:
        raise BadInput(
            f"the covariance of inputs.file = {shorten(path)} has the eigenvalue {found.min():.6g}",
            "eigenvalues have to be positive; add a small multiple of the unit matrix",
        )
    found.setflags(write=False)
    return found


def _array(path: str, most: int) -> Array:
    """Real numbers [J] or [J, J]; how many is looked at before they are read."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        shape, kind = mapped.shape, mapped.dtype.kind
    except (OSError, ValueError, EOFError, AttributeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(f"inputs.file = {shorten(path)} is no array: {reason}", "save it with numpy.save") from None
    square = len(shape) == 1 or len(shape) == 2 and shape[0] == shape[1]
    if not square or kind not in "fiu" or not 1 <= shape[0] <= most:
        raise BadInput(
            f"inputs.file = {shorten(path)} holds an array of shape {shape} and type {mapped.dtype}",
            f"give real numbers: a list of up to {most} eigenvalues, or a square matrix of that size",
        )
    found = np.array(mapped, dtype=np.float64)
    if not np.isfinite(found).all():
        raise BadInput(f"inputs.file = {shorten(path)} holds numbers that are not finite", "every one has to be")
    return found
