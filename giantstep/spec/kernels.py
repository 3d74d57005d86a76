"""Kernels at run time: from `generated/` for what is registered, from the user's cache for other expressions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

import numpy as np

from derive.language.catalogue import REGISTERED, Entry, lookup
from derive.language.grammar import shorten
from giantstep.spec.emission import Refused, emitted, machine_code
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.user_cache import cached_path, keep_text, kept_text, sealed
from giantstep.spec.workshop import executed

_NEGLIGIBLE = 1e-14  # in the tail of a function, relative errors of next to nothing do not count
_LEAST = 1e-300
_WORST = 1e-9  # a coefficient with a larger estimated error is not used


def function_kernel(text: str) -> ModuleType:
    """The kernel module of a registered name or an expression in z, generated at first use where needed.

    Raises BadInput for an expression that is none or has no kernel.
    """
    try:
        return _function_kernel(lookup(text))
    except BadInput:
        raise
    except ValueError as error:  # not in the grammar, not to be split into pieces, or without numba text
        raise BadInput(f"the function {text!r} cannot be used: {error}", getattr(error, "hint", "")) from None


@lru_cache(maxsize=256)
def _function_kernel(entry: Entry) -> ModuleType:
    if entry.name in REGISTERED:
        return generated_module(f"generated.functions.{entry.name}")

    return user_module(
        entry.name, lambda: emitted("function", entry.expression), f"function {shorten(entry.expression)}"
    )


def emitted_loss(expression: str) -> str:
    """The module of a loss that is not registered. Raises BadInput for one that is not convex or has no kernel."""
    try:
        return emitted("loss", expression)
    except Refused as error:  # not in the grammar, not convex, or without numba text
        raise BadInput(f"the loss {expression!r} cannot be used: {error}", error.hint) from None


def user_module(stem: str, emit: Callable[[], str], title: str, listed: bool = False) -> ModuleType:
    """A module that is not part of `generated/`: from the user's cache, else emitted and put there if possible.

    title: what it is, in messages; listed: whether it stays in ``sys.modules``, which code that numba keeps by itself
    needs; for modules of which there are few. Raises BadInput where it takes too long to compile.
    """
    from generated.runtime.compiling import Compiled  # loads numba
    from generated.runtime.machine_code import Code

    name, path = f"_giantstep_{stem}", cached_path(stem)
    text = kept_text(path) if path is not None else None
    if text is None:
        text = emit()
        if path is not None and keep_text(path, text):
            text = sealed(text)
        else:
            path = None
    module = executed(name, text, f"<{stem}>" if path is None else str(path), listed=listed)
    waiting = {name: value for name, value in vars(module).items() if isinstance(value, Compiled) and not value.known()}
    made = machine_code(title, text) if waiting else {}
    for name in waiting.keys() & made.keys():
        waiting[name].take(Code(*made[name]))
    return module


@lru_cache(maxsize=256)
def generated_module(name: str) -> ModuleType:
    """A module of `generated/`."""
    return importlib.import_module(name)


def coefficients(text: str, s: np.ndarray, c: float, middle: float | None = None) -> np.ndarray:
    """mu0, mu1, mu2^2 of f(s + sqrt(c) g), g ~ N(0, 1): shape (3, len(s)).  [CUI24, Result 3.2]

    middle: a shift at which f has its usual size, where all of s may be far out. Raises NotConverged where the
    estimated error exceeds 1e-9 of sqrt(E f^2), or of its median or that in the middle where it is smaller.
    """
    kernel = function_kernel(text)
    out = np.empty((3, len(s)))
    error = kernel.coefficients(np.ascontiguousarray(s, dtype=float), float(c), out, np.empty(kernel.SCRATCH_SHAPE))
    if not error < _WORST:
        error = _worst_that_counts(kernel, s, c, out, middle)
    if not error < _WORST:
        raise NotConverged(
            f"the Gaussian averages of {text!r} at variance {c:.6g} have an estimated error of {error:.2g}",
            "it grows too fast or varies too sharply there: use a smoother function or one that grows more slowly; of "
            "an activation, a smaller learning rate or spike strength does the same",
        )
    return out


def _worst_that_counts(kernel: ModuleType, s: np.ndarray, c: float, out: np.ndarray, middle: float | None) -> float:
    """The worst estimated error of the points whose sqrt(E f^2) is not negligible beside the largest.

    Where f tends to zero on one side it is small by cancellation: errors count beside the median of sqrt(E f^2) there,
    and beside what it is in the middle.
    """
    size = _sizes(out)
    counts = ~(size < _NEGLIGIBLE * np.max(size))
    one, scratch, usual = np.empty((3, 1)), np.empty(kernel.SCRATCH_SHAPE), float(np.median(size))
    if middle is not None and kernel.coefficients(np.array([middle]), float(c), one, scratch) < _WORST:
        usual = max(usual, float(_sizes(one)[0]))
    with np.errstate(invalid="ignore"):
        share = np.fmin(1.0, size / max(usual, _LEAST))  # one where the size is not a number
    errors = (
        kernel.coefficients(np.array([x]), float(c), one, scratch) * part
        for x, part in zip(s[counts], share[counts], strict=True)
    )
    return max(errors, default=0.0)


def _sizes(out: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(np.hypot(out[0], out[1]), np.sqrt(out[2])))
