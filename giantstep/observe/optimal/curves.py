"""Averages over what is known, kappa, of two indices, of functions that vary beside curves and are smooth elsewhere.

What labels tell varies along bent kinks in strips as wide as what is not known. One direction of kappa is averaged on
panels about the curves that it meets. What is left is a function of the other one that turns where the first one
touches a curve, and where curves cross: panels of it are halved until sums of bells and steps across the curves settle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from derive.language.grammar import Node
from giantstep.observe.optimal.kink_curve import KinkCurve
from giantstep.observe.optimal.strips import REACH, ends_about
from giantstep.quadrature.gauss import legendre_coefficients, normal_between
from giantstep.spec.expressions import prepare, special

Array = np.ndarray
_CLOSE, _RARE = 1e-3, 1e-9  # part of a sum that the last coefficients of a panel may be; weight that does not count
_PROBES = np.linspace(-2.9, 3.1, 25)  # lines that show how steeply curves are met
_NARROW, _HALVINGS = 0.3, 40  # last panels over the width of what is not known


@dataclass(frozen=True, eq=False)
class Curves:
    """Nodes of two kappa about curves where kinks of a link vanish, with z = root kappa + lower t.

    order: nodes of a panel. longest: panel. even: of which kappa one sign is enough. mixed: whether t1 t2 has a mean.
    """

    kinks: tuple[KinkCurve, ...]
    width: float
    order: int
    longest: float
    even: tuple[bool, bool]
    mixed: bool

    @classmethod
    def of(
        cls, kinks: tuple[Node, ...], names: tuple[str, ...], root: Array, lower: Array, rule: tuple[int, float]
    ) -> Curves:
        """Those of kinks of two names; rule: nodes and length of a panel."""
        curves = tuple(KinkCurve(prepare(kink), names, root, lower) for kink in kinks)
        return cls(curves, float(np.min(np.linalg.norm(lower, axis=0))), *rule, (False, False), True)

    def average(self, values: Callable[[Array, Array, Array], Array]) -> Array:
        """E over kappa of values(kappa, low, high) [N, 1, 1, 4] at kappa [2, N, 1, 1]: of t1^2, t1 t2, t2^2 and one
        more.
        """
        kappa, weight = self.nodes
        kappa = kappa[:, :, None, None]
        found: Array = weight @ values(kappa, kappa, kappa)[:, 0, 0]
        return found if self.mixed else found * np.array([1.0, 0.0, 1.0, 1.0])

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """kappa [2, N] and weights [N]: first along the axis across which curves are met more steeply."""
        return self._nodes(min((0, 1), key=lambda first: sum(kink.slant(first, _PROBES) for kink in self.kinks)))

    def _nodes(self, first: int) -> tuple[Array, Array]:
        half = self.even[first] or (self.mixed and any(self.even))
        least = 0.0 if half else -REACH
        edges = np.linspace(least, REACH, math.ceil((REACH - least) / self.longest) + 1)
        low, high, total = edges[:-1], edges[1:], np.zeros(self._kinds)
        kept: list[tuple[Array, Array]] = []
        for _ in range(_HALVINGS):
            a, weight = normal_between(low, high, self.order)
            owner, b, share = self._along(first, a.ravel())
            at = np.stack([np.repeat(a.ravel()[owner], self.order), b.ravel()])
            kappa = at[::-1] if first else at
            parts = np.einsum("pn,pnk->pk", share, self._told(kappa).reshape(*b.shape, -1))
            sums = np.zeros((a.size, self._kinds))
            np.add.at(sums, owner, parts)
            sums = sums.reshape(*a.shape, -1)
            every = np.einsum("pn,pnk->pk", weight, sums)
            rough = self._rough(sums * np.exp(-0.5 * a * a)[..., None], high - low, total + every.sum(axis=0))
            done = ~np.repeat(rough, self.order)[owner]
            total += every[~rough].sum(axis=0)
            shares = (2.0 if half else 1.0) * weight.ravel()[owner][:, None] * share
            kept.append((kappa.reshape(2, *b.shape)[:, done].reshape(2, -1), shares[done].ravel()))
            if not rough.any():
                break
            middle = 0.5 * (low + high)[rough]
            low, high = np.concatenate([low[rough], middle]), np.concatenate([middle, high[rough]])
        kappa, weights = (np.concatenate(each, axis=-1) for each in zip(*kept, strict=True))
        likely = weights > _RARE * weights.max()
        return kappa[:, likely], weights[likely]

    @property
    def _kinds(self) -> int:
        """A bell and a step of each curve, how bent it is, and of each pair how near they are."""
        return len(self.kinks) * (len(self.kinks) + 5) // 2

    def _told(self, kappa: Array) -> Array:
        """These [N, kinds] at kappa [2, N]."""
        away, bent = zip(*(kink.away(kappa) for kink in self.kinks), strict=True)
        squares = [each * each for each in away]
        bells = [np.exp(-0.5 * each) for each in squares]
        pairs = [1.0 / (1.0 + squares[i] + squares[j]) for i in range(len(away)) for j in range(i)]
        turns = [bell * part * part for bell, part in zip(bells, bent, strict=True)]
        return np.stack([*bells, *(special.ndtr(each) for each in away), *turns, *pairs], axis=-1)

    def _rough(self, values: Array, width: Array, total: Array) -> Array:
        """Which panels [P] are to be halved, by the last coefficients of values [P, n, kinds]."""
        count = len(self.kinks)
        series = np.abs(np.einsum("ai,pic->pac", legendre_coefficients(self.order), values))
        tails = series[:, -2:].sum(axis=1) * width[:, None] / math.sqrt(2.0 * math.pi)
        allowed = np.maximum(total, 1e-300)
        allowed[count : 2 * count] = total[:count]  # of steps
        return np.asarray((tails > _CLOSE * allowed).any(axis=1) & (width > _NARROW * self.width))

    def _along(self, first: int, a: Array) -> tuple[Array, Array, Array]:
        """Panels of the other kappa at places [A] of the first one: whose they are [P], nodes and weights [P, n]."""
        breaks: list[list[tuple[float, float]]] = [[] for _ in a]
        for kink in self.kinks:
            for line, place, length in zip(*(each.tolist() for each in kink.met(first, a)), strict=True):
                breaks[line].append((place, length))
        ends = [ends_about(some, self.longest, -REACH) for some in breaks]
        owner = np.repeat(np.arange(len(a)), [len(each) - 1 for each in ends])
        low, high = (np.concatenate(x) for x in ([each[:-1] for each in ends], [each[1:] for each in ends]))
        return owner, *normal_between(low, high, self.order)
