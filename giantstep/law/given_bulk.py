"""A bulk given as a file: its singular values, and the projections of spike and target on its singular vectors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

Array = np.ndarray
_ROUNDING = 1e-6


@dataclass(frozen=True)
class GivenBulk:
    """The law of a bulk W [p, d] with rows of unit mean square norm, over the squared singular values [J].

    law_rows: neurons per input dimension; law_vv, law_vo, law_oo: products of the projections of the spike and of the
    rest of the target on the right singular vectors. variance: mean square norm of the rows as given; alignment: of
    the given directions, None where none are given. Source: [CUI24] eq. (108)-(116).
    """

    shape: tuple[int, int]
    variance: float
    alignment: float | None
    spectrum: Array
    law_rows: Array
    law_vv: Array
    law_vo: Array
    law_oo: Array


def given_bulk(model: Model) -> GivenBulk:
    """The bulk of a model with step.bulk = "matrix". Raises BadInput where the file is none, or is of another model."""
    step, network = model.step, model.network
    assert step is not None and step.matrix is not None
    if len(set(network.readout.values)) > 1:
        raise BadInput(
            'step.bulk = "matrix" needs one readout value: the blocks of a vocabulary have no common singular vectors',
            'use step.bulk = "trained" or "isotropic"',
        )
    if model.target.indices > 1:
        raise BadInput('step.bulk = "matrix" needs a target of one index', 'use step.bulk = "isotropic"')
    found = _read(step.matrix, _changed(step.matrix))
    rows, dimension = found.shape
    if abs(rows / dimension - network.width) > _ROUNDING * network.width:
        raise BadInput(
            f"step.matrix has {rows} rows of length {dimension}, and network.width = {network.width:g}",
            f"set network.width = {rows / dimension!r}, the number of neurons over the input dimension",
        )
    return found


def given_rows(model: Model) -> tuple[Array, Array | None, Array | None]:
    """(rows [p, d] of mean square norm one, spike, target): what is in the file itself. Raises BadInput."""
    bulk, path = given_bulk(model), str(model.step and model.step.matrix)
    arrays = _arrays(path)
    rows = _checked(path, "bulk", arrays.get("bulk"), 2) / np.sqrt(bulk.variance)
    if bulk.alignment is None:
        return rows, None, None
    return rows, _checked(path, "spike", arrays["spike"], 1), _checked(path, "target", arrays["target"], 1)


def _changed(path: str) -> int:
    """When a file was written last. Raises BadInput where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError as error:
        raise BadInput(f"step.matrix = {shorten(path)} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=8)
def _read(path: str, changed: int) -> GivenBulk:
    """``changed``: when the file was written last, which tells its versions apart."""
    arrays = _arrays(path)
    w = _checked(path, "bulk", arrays.get("bulk"), 2)
    rows, d = w.shape
    variance = float(np.einsum("ij,ij->", w, w) / rows)
    if not 1e-12 < variance < 1e12:
        raise BadInput(f"the rows of step.matrix have a mean square norm of {variance:.3g}", "it must be of order one")
    squares, vectors = _singular(w / np.sqrt(variance))
    law_rows = np.zeros(d)
    law_rows[: min(rows, d)] = 1.0 / d
    vv, vo, oo, alignment = _projections(path, arrays, vectors)
    if rows > d:  # neurons that no singular vector reaches
        squares, law_rows = np.append(squares, 0.0), np.append(law_rows, (rows - d) / d)
        vv, vo, oo = (np.append(each, 0.0) for each in (vv, vo, oo))
    return GivenBulk((rows, d), variance, alignment, squares, law_rows, vv, vo, oo)


def _arrays(path: str) -> dict[str, Array]:
    """The arrays of a .npz file by name; that of a .npy file is the bulk."""
    try:
        with open(path, "rb") as stream:
            found = np.load(stream, allow_pickle=False)
            return {"bulk": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BadInput(
            f"step.matrix = {shorten(path)} is no array: {reason}",
            "save it with numpy.save, or numpy.savez(bulk=...)",
        ) from None


def _checked(path: str, name: str, value: Array | None, axes: int) -> Array:
    if value is None:
        raise BadInput(f"{shorten(path)} holds no array {name!r}", "save it with numpy.savez(file, bulk=W)")
    if value.ndim != axes or value.dtype.kind not in "fiu" or value.size == 0 or not np.all(np.isfinite(value)):
        shape = "[neurons, input dimension]" if axes == 2 else "[input dimension]"
        raise BadInput(
            f"the array {name!r} of {shorten(path)} has shape {value.shape} and type {value.dtype}",
            f"it must hold finite real numbers of shape {shape}",
        )
    return np.asarray(value, dtype=float)


def _singular(w: Array) -> tuple[Array, Array]:
    """Squared singular values [d], largest first, and right singular vectors [d, d] as columns."""
    values, vectors = np.linalg.eigh(w.T @ w)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _projections(path: str, arrays: dict[str, Array], vectors: Array) -> tuple[Array, Array, Array, float | None]:
    """(law_vv, law_vo, law_oo, alignment): generic directions where none are given."""
    d = len(vectors)
    if not {"spike", "target"} <= arrays.keys():
        generic = np.full(d, 1.0 / d)
        return generic, np.zeros(d), generic, None
    v, theta = (_checked(path, name, arrays[name], 1) for name in ("spike", "target"))
    for name, vector in (("spike", v), ("target", theta)):
        if len(vector) != d or abs(float(vector @ vector) - 1.0) > _ROUNDING:
            raise BadInput(
                f"the array {name!r} of {shorten(path)} has length {len(vector)} and norm {np.linalg.norm(vector):.6g}",
                f"it must be a unit vector of the {d} input dimensions",
            )
    gamma = float(v @ theta)
    across = theta - gamma * v
    norm = float(np.linalg.norm(across))
    across = across / norm if norm > 1e-7 else np.zeros(d)
    along, beside = vectors.T @ v, vectors.T @ across
    oo = beside**2 if norm > 1e-7 else np.full(d, 1.0 / d)
    return along**2, along * beside, oo, gamma
