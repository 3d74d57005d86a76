"""The joint law of the residual of the gradient step and of the target's overlap, at nodes of a quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander

from giantstep.law import few_nodes
from giantstep.law.channel import labels_given
from giantstep.law.few_nodes import Laws
from giantstep.quadrature.gauss import evenly_cut, legendre, legendre_coefficients, normal_nodes
from giantstep.quadrature.steep_places import turns
from giantstep.spec.expressions import numpy_values
from giantstep.spec.kernels import function_kernel
from giantstep.spec.model import Target

Array = np.ndarray
ORDER = 20  # nodes of a panel
_REACH = 9.0
_DEVIATION = 2.0  # beside which a link turns sharply: up to a quarter of it away panels are graded
_NEGLIGIBLE = 1e-18
_CHUNK = 100_000  # nodes at a time
_EXHAUSTED = 1e-13  # of the unit: the square of a residual that does not vary
_PANELS = 16  # in e, of residuals with Gaussian noise


@dataclass(frozen=True)
class ResidualLaw:
    """Nodes e [N] of the residual, and weights of averages of F(e) [N], F(e) t [m, N] and F(e) t t^T [m, m, N].

    t = (theta_1.x, ..., theta_m.x), the indices of the target.
    """

    e: Array
    weight: Array
    weight_t: Array
    weight_tt: Array

    @property
    def square(self) -> float:
        """E e^2."""
        return float(self.weight @ self.e**2)

    @property
    def overlaps(self) -> Array:
        """E e t, [m]."""
        return np.asarray(self.weight_t @ self.e)

    @property
    def rows(self) -> Array:
        """All weights, [1 + m + m^2, N]."""
        return np.concatenate([self.weight[None], self.weight_t, self.weight_tt.reshape(-1, len(self.e))])

    def at(self, e: Array, rows: Array) -> ResidualLaw:
        """Other nodes with other weights, those of ``rows``."""
        m = len(self.weight_t)
        return ResidualLaw(e, rows[0], rows[1 : m + 1], rows[m + 1 :].reshape(m, m, -1))

    def drawn(self, target: Target) -> ResidualLaw:
        """The same of labels that a channel draws given these, or that may be flipped, before the mean is taken off."""
        if target.channel is not None:
            label, share = labels_given(target.channel, self.e)
            rows = (self.rows[:, None] * share).reshape(len(self.rows), -1)
            return self.at(label.ravel(), rows)
        if target.flips == 0.0:
            return self
        rows = np.concatenate([(1.0 - target.flips) * self.rows, target.flips * self.rows], axis=1)
        return self.at(np.concatenate([self.e, -self.e]), rows)


def residual_law(target: Target, mean: float, level: int) -> ResidualLaw:
    """Nodes for a target of one index; ``mean``: the network's output at initialisation; ``level``: of refinement.

    With noise inside the link, ``u = t + sqrt(probit) n`` decides the label, and t is Gaussian given u. [GER20]
    """
    spread = math.sqrt(1.0 + target.probit)
    breaks = [b / spread for b in turns_of_target(target)]
    g, weight = normal_on_panels(breaks, 2.0**-level)
    clean = numpy_values(target.link)(spread * g)
    t = g / spread
    square = weight * (t * t + target.probit / (1.0 + target.probit))
    law = ResidualLaw(clean, weight, (weight * t)[None], square[None, None]).drawn(target)
    if target.noise > 0.0:
        law = _with_noise(law, math.sqrt(target.noise), level)
    kept = np.abs(law.weight) * (1.0 + law.e**2) > _NEGLIGIBLE
    return law.at(law.e[kept] - mean, law.rows[:, kept])


def turns_of(link: str) -> list[float]:
    """Where panels end: at kinks and jumps, and about the places where a smooth link turns within a small width."""
    found = [*function_kernel(link).BREAKPOINTS, *turns(link, _DEVIATION)]
    return sorted(place for place in found if abs(place) < _REACH)


def turns_of_target(target: Target) -> list[float]:
    """Those of a link of one index, and of the moments of labels that a channel draws: their probabilities may jump."""
    moments = () if target.channel is None else (target.mean_link, target.second_link)
    links = [link for link in (target.link, *moments) if isinstance(link, str)]
    return sorted({place for link in links for place in turns_of(link)})


def on_few_nodes(law: ResidualLaw, count: int) -> ResidualLaw:
    """The law at ``count`` nodes, fewer where it has fewer points; about its mean, in units of its deviation."""
    few = few_nodes.on_few_nodes(Laws(law.e[None], law.rows[None]), count, _mean_and_deviation(law))
    kept = few.rows[0].any(axis=0)
    return law.at(few.e[0, kept], few.rows[0][:, kept])


def _mean_and_deviation(law: ResidualLaw) -> tuple[float, float]:
    center = float(law.weight @ law.e)
    return center, math.sqrt(max(law.square - center**2, _EXHAUSTED))


def _with_noise(law: ResidualLaw, spread: float, level: int) -> ResidualLaw:
    """With Gaussian noise: the nodes of the sum, brought to few by polynomial interpolation on panels in e.

    What is averaged are functions of e that panels of that width resolve, so that interpolating them loses nothing.
    """
    noise, probability = normal_on_panels([], 2.0**-level)
    low, high = law.e.min() - _REACH * spread, law.e.max() + _REACH * spread
    panels, rows = Panels(float(low), float(high), _PANELS * 2**level), law.rows
    found = np.zeros((len(rows), panels.count * ORDER))
    many = max(1, _CHUNK // len(law.e))
    for start in range(0, len(noise), many):
        part = slice(start, start + many)
        found += panels.gathered(np.add.outer(spread * noise[part], law.e).ravel(), np.kron(probability[part], rows))
    return law.at(panels.nodes, found)


@dataclass(frozen=True)
class Panels:
    """Equal panels of an interval with Gauss-Legendre nodes: weights at any points become weights at these.

    Averages of what the panels resolve stay the same.
    """

    low: float
    high: float
    count: int

    @property
    def width(self) -> float:
        """Of one panel."""
        return max((self.high - self.low) / self.count, 1e-300)

    @property
    def nodes(self) -> Array:
        """All nodes, panel by panel."""
        points, _ = legendre(ORDER)
        return (self.low + self.width * (np.arange(self.count)[:, None] + 0.5 * (points + 1.0))).ravel()

    def gathered(self, places: Array, rows: Array) -> Array:
        """The weights at the nodes [R, count ORDER] that stand for ``rows`` [R, N] at places [N]."""
        place = (places - self.low) / self.width
        panel = np.clip(place.astype(np.int16), 0, self.count - 1)
        order, ends = np.argsort(panel, kind="stable"), np.cumsum(np.bincount(panel, minlength=self.count))[:-1]
        basis = legvander(2.0 * (place - panel)[order] - 1.0, ORDER - 1)
        parts = zip(np.split(rows[:, order], ends, axis=1), np.split(basis, ends), strict=True)
        moments = np.stack([row @ column for row, column in parts], axis=1)  # [R, count, ORDER]
        project = legendre_coefficients(ORDER)  # of a panel from its nodes
        return np.asarray((moments @ project).reshape(len(rows), -1))


def normal_on_panels(breaks: list[float], width: float) -> tuple[Array, Array]:
    """Gauss-Legendre nodes of the standard normal law, on panels between the breakpoints."""
    g, weight = normal_nodes(evenly_cut(_REACH, width, breaks), ORDER)
    return g, weight / weight.sum()
