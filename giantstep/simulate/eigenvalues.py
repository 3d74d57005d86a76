"""Eigenvalues of the features' Gram matrix at finite size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from giantstep.simulate.errors import Array
from giantstep.simulate.features import training_set
from giantstep.simulate.first_layer import draw_layer
from giantstep.simulate.layer import Streams
from giantstep.simulate.memory import DOUBLE, TEMPORARIES, chunk_rows, require_memory
from giantstep.simulate.system import (
    FiniteSizes,
    FiniteSystem,
    SystemKind,
    check_kind,
    finite_sizes,
    positive_whole,
)

Progress = Callable[[int, int, str], object]


def gram_eigenvalues(
    system: FiniteSystem,
    what: SystemKind,
    dimension: int,
    seeds: int,
    samples: float,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Array:
    """Eigenvalues of Phi^T Phi / p, the rows of Phi the features of n fresh samples: [seeds, p], ascending.

    Those that the rank forces to vanish are exact zeros. Everything is drawn afresh for each seed. Raises
    SimulationError for impossible input and, before any work, where memory does not suffice.
    """
    check_kind(system, what)
    positive_whole("seeds", seeds)
    positive_whole("seed", seed, 0)
    sizes = finite_sizes(system, dimension, (samples,))
    require_memory(lambda size: _bytes(finite_sizes(system, size, (samples,))), dimension, None)
    found = np.zeros((seeds, sizes.width_count))
    for index, sequence in enumerate(np.random.SeedSequence(seed).spawn(seeds)):
        if progress is not None:
            progress(index, seeds, f"seed {index + 1} of {seeds}: eigenvalues")
        values = _one_seed(system, what, sizes, Streams.spawn(sequence, len(system.steps)))
        found[index, sizes.width_count - len(values) :] = values
    if progress is not None:
        progress(seeds, seeds, "done")
    return found


def _one_seed(system: FiniteSystem, what: SystemKind, sizes: FiniteSizes, streams: Streams) -> Array:
    """The min(n, p) eigenvalues that need not vanish."""
    layer = draw_layer(system, sizes, what, streams)
    features, _ = training_set(system, sizes, what, layer, streams)
    del layer
    wide = features.shape[0] < features.shape[1]
    # features.T is in Fortran order: BLAS reads it as it lies
    gram = blas.dsyrk(1.0 / sizes.width_count, features.T, trans=1 if wide else 0, lower=1)
    del features
    return np.asarray(np.maximum(linalg.eigvalsh(gram, lower=True, overwrite_a=True, check_finite=False), 0.0))


def _bytes(sizes: FiniteSizes) -> int:
    d, p, n = sizes.dimension, sizes.width_count, max(sizes.samples)
    return DOUBLE * (p * d + n * p + 3 * min(n, p) ** 2 + chunk_rows(p) * d + TEMPORARIES)
