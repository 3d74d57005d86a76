"""Whole numbers and tolerances that a caller gives."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from derive.language.grammar import shorten
from giantstep.spec.errors import BadInput

MOST_SEEDS = 1_000_000  # standard errors of a thousandth of the spread; all errors are kept


def checked_count(name: str, value: object, least: int, most: int | None = None) -> int:
    """The value, or BadInput where it is not a whole number of at least ``least`` and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise BadInput(f"{name} = {shorten(value)} is not allowed", f"it must be a whole number of at least {least}")
    if most is not None and value > most:
        raise BadInput(f"{name} = {shorten(value)} is too many", f"at most {most} are allowed")
    return int(value)


def checked_positive(name: str, value: object) -> float:
    """A finite number above zero as a float. Raises BadInput."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and value > 0.0):  # type: ignore[arg-type, operator]
        raise BadInput(f"{name} = {shorten(value)} is not allowed", "it must be a number > 0")
    return float(value)  # type: ignore[arg-type]


def checked_seeds(seeds: object, least: int = 1) -> int:
    """The number of simulated systems. Raises BadInput."""
    return checked_count("seeds", seeds, least, MOST_SEEDS)


def checked_dimension(dimension: object) -> int | None:
    """The input dimension as a whole number; None is the limit of large dimension. Raises BadInput."""
    if dimension is None:
        return None
    number = isinstance(dimension, int | float | np.number) and not isinstance(dimension, bool)
    if not (number and 1 <= dimension < math.inf and dimension == int(dimension)):  # type: ignore[operator, call-overload]
        raise BadInput(f"dimension = {dimension!r} is not a positive integer", "give the input dimension d, e.g. 1000")
    return int(dimension)  # type: ignore[call-overload, no-any-return]


def checked_tolerance(value: object) -> float:
    """A relative tolerance as a float. Raises BadInput."""
    if isinstance(value, bool) or not isinstance(value, float | Real) or not 1e-14 <= float(value) < 1.0:
        raise BadInput(f"tolerance = {value!r} is out of range", "give a relative tolerance from 1e-14 on, below 1")
    return float(value)
