"""How far the output is from the kinks of a loss, about which its averages turn."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from generated.runtime.label_search import NOWHERE
from giantstep.system.coupled_system import CoupledSystem

Array = np.ndarray
Kink = tuple[int, int]  # its number, and 0 or 1 for the piece before or after it


def kinks_of(system: CoupledSystem) -> list[Kink | None]:
    """The kinks of a loss, from both sides; None for a smooth one, which turns at zero."""
    kinks = range(system.loss.COUNT - 1)
    return [(k, side) for k in kinks for side in (0, 1)] or [None]


def images_of(system: CoupledSystem) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Of all kinks of a loss of the residual or the margin their places and the slopes of the loss beside them, which
    times the response is what their images are further; and which of them are the second side of one.
    """
    loss, constants, found = system.loss, system.constants, []
    for kink in kinks_of(system):
        if kink is None:
            found.append((0.0, 0.0, False))
            continue
        found.append((*_known_image(loss, constants, kink), kink[1] == 1))
    place, steep, second = (np.array(each) for each in zip(*found, strict=True))
    return place, steep, second


def distances_to(system: CoupledSystem, label: Array, centre: Array, response: Array, spread: Array) -> Array:
    """How far u of an output is from the images of all kinks [K, ...]; nowhere for the second side of a kink that the
    spread of the output blurs with its first.
    """
    found: list[Array] = []
    for kink in kinks_of(system):
        away = distance_to(system, kink, label, centre, response)
        blurred = kink is not None and kink[1] == 1
        found.append(np.where(np.abs(away - found[-1]) < spread, NOWHERE, away) if blurred else away)
    return np.stack(found)


def distance_to(system: CoupledSystem, kink: Kink | None, label: Array, centre: Array, response: Array) -> Array:
    """How far u of an output is from the image of a kink under the proximal map; arrays of one shape."""
    loss, constants = system.loss, system.constants
    u = label * centre if loss.FORM == "margin" else centre - label if loss.FORM == "residual" else centre
    if kink is None:
        return np.asarray(u)
    number, side = kink
    if loss.FORM == "general":
        image = np.vectorize(lambda y, v: _image(loss, constants, number, side, y, v), [float])
        return np.asarray(u - image(label, response))
    place, steep = _known_image(loss, constants, kink)
    return np.asarray(u - place - response * steep)


def _known_image(loss: ModuleType, constants: Array, kink: Kink) -> tuple[float, float]:
    """Of a kink that every label has, its place and the slope of the loss beside it."""
    number, side = kink
    place = float(loss.edge(number, 0.0, constants))
    return place, float(loss.piece(number + side, place, 0.0, constants)[1])


def _image(loss: ModuleType, constants: Array, kink: int, side: int, label: float, response: float) -> float:
    """Where the prox passes one side of a kink of the loss at a label; far out where it has fewer kinks."""
    start, count = loss.cell(label)
    if kink >= count - 1:
        return -float(NOWHERE)
    place = float(loss.edge(start + kink, label, constants))
    return place + response * float(loss.piece(start + kink + side, place, label, constants)[1])
