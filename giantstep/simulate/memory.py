"""How much memory a simulation needs and whether it is there, checked before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable

from giantstep.simulate.available_memory import available_bytes
from giantstep.simulate.errors import SimulationError
from giantstep.simulate.system import FiniteSizes, FiniteSystem, SystemKind

DOUBLE = 8
# the kernel is kept where n <= DENSE p: a Cholesky factorisation of size n then costs less than X^T D X
DENSE = 1.5
# below this ridge an SVD of the features may be needed (readout.py): its work space is counted in advance
SMALL_RIDGE = 1e-6
CHUNK_BYTES = 1 << 25
# numbers in the temporaries of activation and link, which work on small pieces
TEMPORARIES = 1 << 18


def chunk_rows(width: int) -> int:
    """Rows of a chunk of pre-activations: about 32 MB, enough for matrix products at full speed."""
    return max(128, CHUNK_BYTES // (DOUBLE * width))


def estimate_bytes(
    system: FiniteSystem, sizes: FiniteSizes, what: SystemKind, ridges: tuple[float, ...], test_samples: int
) -> int:
    """Peak bytes of one seed: the largest of gradient step, features, fit and test, with the first layer."""
    d, p, n = sizes.dimension, sizes.width_count, max(sizes.samples)
    points, rows = len(sizes.samples) * len(ridges), chunk_rows(p)
    step = p * d + min(rows, max(sizes.step_samples, default=0)) * (d + p) if what == "network" else 0
    direct = system.loss is None and system.penalty is None
    work = _square_work(sizes, ridges) if direct else _convex_work(system, sizes)
    # pre-activations beside the features where the bias is trained
    fit = n * p * (2 if system.trained_bias else 1) + work + p * points
    fit = max(fit, n * p + min(rows, n) * d)
    overlaps = 4 * points * len(sizes.blocks) * d
    test = test_samples * (8 + 6 * len(sizes.blocks)) if what == "gaussian" else 0
    test = test or min(rows, test_samples) * (d + p * (2 if system.trained_bias else 1) + 2 * points)
    return DOUBLE * (p * d + max(step, fit, p * points + overlaps + test) + TEMPORARIES)


def _square_work(sizes: FiniteSizes, ridges: tuple[float, ...]) -> int:
    """Numbers held by a direct fit beside features and readouts."""
    p, n = sizes.width_count, max(sizes.samples)
    dual = max([count for count in sizes.samples if count <= p], default=0)
    gram = max(dual, p if n > p else 0) ** 2
    # the Gram matrix and the copy of it that is factorised; columns of the refinement
    work = 2 * gram + 8 * max(n, p) * len(ridges)
    return max(work, gram + svd_values(n, p)) if min(ridges) < SMALL_RIDGE else work


def _convex_work(system: FiniteSystem, sizes: FiniteSizes) -> int:
    """Numbers held by Newton's method beside features and readouts."""
    p, n = sizes.width_count, max(sizes.samples)
    if system.penalty is not None:  # readouts are samples too, and features are copied
        n += p
        return n * p + max(n * n, p * p + 2 * min(chunk_rows(p), n) * p) + 5 * p * p + 60 * (n + p)
    smooth = system.loss is None or system.loss.smooth
    dense = max([count for count in sizes.samples if count <= DENSE * p], default=0)
    vectors = 60 * (n + p)
    # the kernel and the copy of it that is factorised
    work = 2 * dense**2
    if n > dense:
        # X^T D X by chunks; for a loss with kinks the kernel of the samples at one: kept, updated, factorised
        wide = p * p + 2 * min(chunk_rows(p), n) * p
        work = max(work, dense**2 + max(wide, 0 if smooth else 5 * p * p))
    return work + vectors


def svd_values(rows: int, columns: int) -> int:
    """Numbers held by a thin SVD beside its input: a copy, the singular vectors, and LAPACK's work space."""
    small = min(rows, columns)
    return 2 * rows * columns + 6 * small * small


def require_memory(needed_at: Callable[[int], int], dimension: int, limit: int | None) -> int:
    """Return the bytes needed at `dimension`, or raise SimulationError naming the largest dimension that
    fits.

    needed_at: bytes needed as a function of the dimension, increasing. limit: bytes allowed; None asks the
    machine.
    """
    needed = needed_at(dimension)
    available = available_bytes() if limit is None else limit
    if available is None or needed <= available:
        return needed
    largest = _largest_below(needed_at, dimension, available)
    advice = f"the largest dimension that fits is about {largest}" if largest else "no dimension fits"
    raise SimulationError(
        f"dimension {dimension} needs {needed} bytes ({needed / 2**30:.2f} GiB) and {available} bytes "
        f"({available / 2**30:.2f} GiB) are available; {advice}"
    )


def _largest_below(needed_at: Callable[[int], int], dimension: int, available: int) -> int:
    """Bisection; a dimension too small for the system (an empty block) counts as fitting until the end."""
    low, high = 0, dimension
    while high - low > 1:
        middle = (low + high) // 2
        if (_needed_or_none(needed_at, middle) or 0) <= available:
            low = middle
        else:
            high = middle
    return low if _needed_or_none(needed_at, low) is not None else 0


def _needed_or_none(needed_at: Callable[[int], int], dimension: int) -> int | None:
    try:
        return needed_at(dimension)
    except SimulationError:
        return None
