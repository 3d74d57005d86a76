"""The file of a given first layer: its rows, the readout value of each, and the directions beside them."""

from __future__ import annotations

import math
import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, BinaryIO

import numpy as np

from derive.language.grammar import shorten
from giantstep.simulate.system import largest_remainder
from giantstep.spec.errors import BadInput

Array = np.ndarray
LARGEST = 36_000_000  # numbers of a file: a minute or two of linear algebra
_NAMES = ("bulk", "block", "spike", "target")
#: What reading a damaged file raises: a bad or encrypted archive, a head that is none, data that end too soon.
_DAMAGED = (ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)
_ROUNDING = 1e-6  # of vectors that are to be orthonormal


def changed(path: str) -> int:
    """When a file was written last, which tells its versions apart. Raises BadInput where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise BadInput(f"step.matrix = {shorten(path)} cannot be read: {error.strerror}") from None


def arrays_of(path: str) -> dict[str, Array]:
    """The arrays of a .npz file by name; that of a .npy file is the bulk. Raises BadInput.

    Their sizes are read and checked first: a small file may hold the zeros of a matrix that no memory holds.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("it is no regular file")
        with open(path, "rb") as stream:
            sizes = _sizes(stream)
            if sum(sizes.values()) <= LARGEST:
                stream.seek(0)
                found = np.load(stream, allow_pickle=False)
                return {"bulk": found} if isinstance(found, np.ndarray) else {name: found[name] for name in sizes}
    except (*_DAMAGED, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"step.matrix = {shorten(path)} is no array: {reason}",
            "save it with numpy.save, or numpy.savez(bulk=...)",
        ) from None
    raise BadInput(
        f"step.matrix = {shorten(path)} holds {sum(sizes.values())} numbers",
        f"at most {LARGEST} fit, as of 6000 neurons in 6000 dimensions; use a smaller first layer of the same kind",
    )


def _sizes(stream: BinaryIO) -> dict[str, int]:
    """How many numbers the arrays of a file hold, by name, as their heads say."""
    if not zipfile.is_zipfile(stream):
        stream.seek(0)
        return {"bulk": _size(stream)}
    with zipfile.ZipFile(stream) as archive:
        names = [name for name in _NAMES if f"{name}.npy" in archive.namelist()]
        found = {}
        for name in names:
            with archive.open(f"{name}.npy") as member:
                found[name] = _size(member)
        return found


def _size(stream: IO[bytes]) -> int:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(stream)
    if version not in readers:
        raise ValueError(f"it has the unknown version {version}")
    shape, _, kind = readers[version](stream)
    if kind.hasobject:
        raise ValueError("it holds objects of Python, which are not loaded")
    if any(length < 0 for length in shape):
        raise ValueError("it has a negative length")
    return math.prod(shape)


def rows_of(path: str, arrays: Mapping[str, Array]) -> Array:
    """The rows [p, d]. Raises BadInput."""
    return _checked(path, "bulk", arrays.get("bulk"), 2)


def blocks_of(path: str, arrays: Mapping[str, Array], rows: int, fractions: tuple[float, ...]) -> Array:
    """The number of the readout value of every row [p]: the array "block", else consecutive rows in their order.

    Raises BadInput where these are not numbers of readout values, in the shares that the fractions are.
    """
    sizes = largest_remainder(fractions, rows)
    if "block" not in arrays:
        if min(sizes) == 0:
            raise BadInput(
                f"a readout value has no row: network.readout.fractions = {[*fractions]}, and {shorten(path)} has "
                f"{rows} rows",
                "raise the fraction, or give more rows",
            )
        return np.repeat(np.arange(len(sizes)), sizes)
    block = arrays["block"]
    if block.shape != (rows,) or block.dtype.kind not in "iu" or block.min() < 0 or block.max() >= len(sizes):
        raise BadInput(
            f"the array 'block' of {shorten(path)} has shape {block.shape} and type {block.dtype}",
            f"it must hold the number of a readout value, 0 to {len(sizes) - 1}, for each of the {rows} rows",
        )
    counts = np.bincount(block.astype(int), minlength=len(sizes))
    if counts.tolist() != list(sizes):
        raise BadInput(
            f"the array 'block' of {shorten(path)} gives {counts.tolist()} rows to the readout values, and "
            f"network.readout.fractions = {[*fractions]} are {list(sizes)} of them",
            f"set network.readout.fractions = {(counts / rows).tolist()}",
        )
    return block.astype(int)


def directions_in(
    path: str, arrays: Mapping[str, Array], dimension: int, indices: int
) -> tuple[Array, Array] | tuple[None, None]:
    """The unit vector of the spike [d] and the orthonormal ones of the target [m, d], without their rounding; None
    where the file does not hold both. Raises BadInput for other vectors.
    """
    if not {"spike", "target"} <= arrays.keys():
        return None, None
    v = _checked(path, "spike", arrays["spike"], 1)
    theta = _checked(path, "target", arrays["target"], 1 if indices == 1 else 2)
    unit, rows = (_orthonormal(path, name, x, dimension) for name, x in (("spike", v), ("target", theta)))
    if len(rows) != indices:
        raise BadInput(
            f"the array 'target' of {shorten(path)} has {len(rows)} directions, and the link has {indices} indices",
            "give one direction for each index",
        )
    return unit[0], rows


def _checked(path: str, name: str, value: Array | None, axes: int) -> Array:
    if value is None:
        raise BadInput(f"{shorten(path)} holds no array {name!r}", "save it with numpy.savez(file, bulk=W)")
    if value.ndim != axes or value.dtype.kind not in "fiu" or value.size == 0 or not np.all(np.isfinite(value)):
        shape = {1: "[input dimension]", 2: f"[{'neurons' if name == 'bulk' else 'indices'}, input dimension]"}[axes]
        raise BadInput(
            f"the array {name!r} of {shorten(path)} has shape {value.shape} and type {value.dtype}",
            f"it must hold finite real numbers of shape {shape}",
        )
    return np.asarray(value, dtype=float)


def _orthonormal(path: str, name: str, given: Array, dimension: int) -> Array:
    """The orthonormal rows nearest to those given. Raises BadInput where these are not orthonormal themselves."""
    rows = np.atleast_2d(given)
    overlaps = rows @ rows.T
    if rows.shape[1] != dimension or np.max(np.abs(overlaps - np.eye(len(rows)))) > 2.0 * _ROUNDING:
        norms = ", ".join(f"{norm:.6g}" for norm in np.sqrt(overlaps.diagonal()))
        needed = "a unit vector" if len(rows) == 1 else "orthonormal vectors"
        raise BadInput(
            f"the array {name!r} of {shorten(path)} has length {rows.shape[1]} and norm {norms}"
            + f", with overlaps up to {np.max(np.abs(np.triu(overlaps, 1))):.2g}" * (len(rows) > 1),
            f"it must be {needed} of the {dimension} input dimensions",
        )
    left, _, right = np.linalg.svd(rows, full_matrices=False)
    found: Array = left @ right
    return found
