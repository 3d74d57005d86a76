"""Links of a target in numpy, and what a model may hold as one: any number of indices z, or z1, z2, ..."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from derive.language.grammar import ExpressionError, Node, shorten
from derive.language.links import link_of
from giantstep.spec.errors import BadInput
from giantstep.spec.expressions import Array, jet, prepare
from giantstep.spec.symbolic import as_text
from giantstep.spec.validate import GROWS_TOO_FAST, REACH, TOO_LARGE, Kind, hint_for, unusable, wrong

_LIKELY = 9.0  # standard deviations of the indices, beyond which labels do not count


def link_values(text: str) -> Callable[[Array], Array]:
    """Function of points [k, ...], one row per index, that returns the values of the link, [...].

    nan where it is not a real number. Raises ExpressionError where the text is no link.
    """
    link = link_of(text)
    prepared = prepare(link.node)

    def evaluate(points: Array) -> Array:
        rows = dict(zip(link.variables, points, strict=True))
        return jet(prepared, link.variables[0], rows, 0)[0]

    return evaluate


def link_gradient(text: str) -> Callable[[Array], Array]:
    """Function of points [k, ...] that returns the derivatives of the link in its indices, [k, ...]."""
    link = link_of(text)
    prepared = prepare(link.node)

    def evaluate(points: Array) -> Array:
        rows = dict(zip(link.variables, points, strict=True))
        return np.stack([jet(prepared, name, rows, 1)[1] for name in link.variables])

    return evaluate


class LinkKind(Kind):
    """The kind of the field ``target.link``."""

    text = True

    def check(self, key: str, value: object) -> str:
        """The text, stripped. Raises BadInput where it does not parse or has no finite Gaussian moments."""
        value = as_text(key, value, ())
        if not isinstance(value, str):
            allowed = "the name of a function, or an expression in z (or in z1, z2, ... for several indices)"
            raise wrong(key, value, allowed, 'for example "sign" or "sign(z1*z2)"')
        try:
            link = link_of(value)
            problem = problem_of(link.text)
        except ExpressionError as error:
            raise BadInput(f"{key}: {error.message}", error.hint) from None
        if problem:
            raise BadInput(f"{key} = {shorten(value)} is not allowed: {problem}", hint_for(problem))
        return link.text

    def purpose(self) -> str:
        """What function it is."""
        return "the label of z = theta.x: a registered name or an expression in z, or in z1, z2, ... of several indices"


@lru_cache(maxsize=256)
def problem_of(text: str) -> str:
    """Why a link has no finite Gaussian moments, judged by its values up to |z| = 30, or ''."""
    link = link_of(text)
    if link.indices == 1:
        return unusable(text, varying=False)
    points = probes(link.indices)
    values = link_values(text)(points)
    bad = points[:, ~np.isfinite(values)]
    if bad.size:
        nearest = bad[:, np.argmin(np.sum(bad**2, axis=0))] + 0.0
        place = ", ".join(f"{name} = {x:g}" for name, x in zip(link.variables, nearest, strict=True))
        return f"it is not a finite real number at {place}"
    return GROWS_TOO_FAST if np.max(np.abs(values)) > TOO_LARGE else ""


def probes(indices: int) -> Array:
    """Points [k, n] along the axes, the diagonals and other directions, out to |z| = 30."""
    grid = np.stack(np.meshgrid(*[(-1.0, 0.0, 1.0)] * indices), axis=-1).reshape(-1, indices)
    other = np.random.default_rng(1).standard_normal((200, indices))
    directions = np.concatenate([grid[np.any(grid != 0.0, axis=1)], other])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.concatenate((np.linspace(0.0, REACH, 61), np.geomspace(1e-9, 1e-3, 7)))
    points: Array = (directions.T[:, :, None] * radii).reshape(indices, -1)
    return points


@lru_cache(maxsize=256)
def takes_only_signs(text: str) -> bool:
    """Whether a link takes the values +-1 only, but for a set of measure zero.

    A link without sign and step is continuous, so it must be constant; of the others the values decide, on a fine
    grid off the origin, or at random points for several indices.
    """
    link = link_of(text)
    values = link_values(text)(generic_points(link.indices))
    signs = bool(np.all(np.abs(np.abs(values) - 1.0) < 1e-12))
    return signs and (may_jump(link.node) or bool(np.all(values * values[0] > 0.0)))


@lru_cache(maxsize=256)
def label_range(text: str, variance: float) -> tuple[float, float]:
    """The least and the largest value of a link at indices of a variance, out to nine standard deviations."""
    indices, reach = link_of(text).indices, _LIKELY * variance**0.5
    points = np.concatenate([probes(indices), generic_points(indices)], axis=1)
    values = link_values(text)(points[:, np.linalg.norm(points, axis=0) <= reach])
    return float(values.min()), float(values.max())


def generic_points(indices: int) -> Array:
    """Points [k, n] in general position, near and far: a fine grid for one index, random ones for several."""
    if indices == 1:
        fine = np.linspace(-REACH, REACH, 100_000) + 1e-5 * np.sqrt(2.0)
        near = np.geomspace(1e-12, 1.0, 200) * np.sqrt(3.0)
        return np.concatenate([fine, near, -near])[None]
    source = np.random.default_rng(2)
    normal = source.standard_normal((indices, 100_000))
    sizes = np.where(source.random(normal.shape) < 0.5, 1.0, 10.0 ** source.uniform(-12.0, 1.0, normal.shape))
    points: Array = normal * sizes
    return points


def may_jump(node: Node) -> bool:
    """Whether a function has a sign or a step in it."""
    jumps = node.op == "call" and node.value in ("sign", "step")
    return jumps or any(may_jump(argument) for argument in node.args)
