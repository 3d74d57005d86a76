"""What two fits share: sources of randomness as a caller names them, the sets they make, and how samples are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from giantstep.simulate.pairs import SOURCES, Resampling
from giantstep.spec.arguments import checked_names
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model

Array = np.ndarray
Sources = tuple[str, ...]


def sources_of(model: Model) -> Sources:
    """The sources of randomness that a model has."""
    return SOURCES if model.step is not None else SOURCES[1:]


@lru_cache(maxsize=256)
def key_of(names: tuple[str, ...]) -> str:
    """Sources joined by "+", in order."""
    return "+".join(name for name in SOURCES if name in names)


@lru_cache(maxsize=64)
def closed_sets(present: Sources, held: Sources) -> tuple[Sources, ...]:
    """All sets of sources that two fits may share, with those that are held; noise of the labels only with the data."""
    every = (names for size in range(len(present) + 1) for names in combinations(present, size))
    closed = (names for names in every if "noise" not in names or "data" in names)
    return tuple(names for names in closed if {*held} & {*present} <= {*names})


@lru_cache(maxsize=64)
def inversion(sets: tuple[Sources, ...]) -> Array:
    """[S, S]: by what is shared in each set, what its sources do together, without what parts of them do."""
    below = np.array([[float({*other} <= {*names}) for other in sets] for names in sets])
    return np.asarray(np.round(np.linalg.inv(below)))


def closed(names: Sources) -> Sources:
    """The sources, which noise is not without the data. Raises BadInput."""
    if "noise" in names and "data" not in names:
        raise BadInput("fits cannot share the noise of labels of different data", "share data too")
    return names


def usual(present: Sources, held: Sources, resampling: Resampling) -> Sources:
    """What the fits of an ensemble share: all but the initialisation; where that is held, only what is held."""
    held = (*held, "data") if "noise" in held else held
    own = held if "initialisation" in held else tuple(name for name in present if name != "initialisation")
    return own if resampling.kind == "all" else present


def names_of(option: str, given: Sequence[str] | str) -> Sources:
    """The sources that a caller names, in order. Raises BadInput."""
    whole = checked_names(option, given, '["batch", "data"]')
    names = tuple(whole[0].replace("+", ",").split(",")) if isinstance(given, str) else whole
    names = tuple(name.strip() for name in names if name.strip())
    for name in names:
        if name not in SOURCES:
            raise BadInput(f"{option}: there is no source {name!r}", f"sources are {', '.join(SOURCES)}")
    return tuple(name for name in SOURCES if name in names)


def resampling_of(bootstrap: bool, subsample: float | None) -> Resampling:
    """How each fit takes its samples from those there are. Raises BadInput."""
    if bootstrap and subsample is not None:
        raise BadInput("bootstrap and subsample exclude each other", "give one of them")
    number = isinstance(subsample, int | float) and not isinstance(subsample, bool)
    if subsample is not None and not (number and 0.0 < subsample <= 1.0):
        raise BadInput(f"subsample = {subsample!r} is not allowed", "give a fraction of the samples, at most 1")
    if subsample is not None:
        return Resampling("subsample", float(subsample))
    return Resampling("bootstrap") if bootstrap else Resampling()
