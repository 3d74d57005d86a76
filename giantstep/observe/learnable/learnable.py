"""What a network can learn of a target: information exponent, leap, staircase, sample complexities, bounds.

[BGJ19] Ben Arous, Gheissari, Jagannath 2021; [ABB23] Abbe, Boix-Adsera, Misiakiewicz 2023; [DAN23] Dandi et al. 2023,
arXiv:2305.18270; [MMM22] Mei, Misiakiewicz, Montanari 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from derive.gaussian.hermite_table import HermiteTable
from derive.language.links import Link, link_of
from derive.language.substitution import linear_form, substituted
from derive.ridges import completed
from giantstep.observe.learnable.conditional_mean import explained
from giantstep.observe.learnable.given_digits import without_rounding
from giantstep.observe.learnable.hermite_cubature import hermite_by_cubature
from giantstep.observe.learnable.leap import Stage, by_degree, lowest_degree, remaining, staircase
from giantstep.observe.learnable.result import Learnability, LearnedStage, Overlap
from giantstep.observe.learnable.simulated_steps import checked_orders, simulate_steps
from giantstep.observe.learnable.visible import sight
from giantstep.observe.optimal.prior import Sought
from giantstep.observe.optimal.thresholds import first_threshold
from giantstep.observe.optimal.told import fine
from giantstep.quadrature.cubature import Unsettled
from giantstep.spec.counts import checked_count, checked_positive
from giantstep.spec.errors import BadInput, NotConverged
from giantstep.spec.expressions import Array
from giantstep.spec.given import ModelLike, model_of
from giantstep.spec.link import LinkKind
from giantstep.spec.model import Network, Target

__all__ = ["Learnability", "learnable"]

_DEGREE = {1: 12, 2: 10, 3: 8, 4: 8}  # up to which tensors are looked at, where the target is no polynomial
_ENTRIES = 8  # closed forms shown


def learnable(
    model: ModelLike,
    *,
    dimension: int | None = None,
    seeds: int = 4,
    steps: int | Sequence[int] | None = None,
    samples: float = 32.0,
    rate: float = 3.0,
    seed: int = 0,
) -> Learnability:
    """Which directions of a target giant steps find, and at what price. A text that does not end in .toml is a link.

    With ``dimension`` the steps are simulated, ``seeds`` times: ``samples`` d^l samples and eta = ``rate``
    p d^((l-1)/2) at a stage of order l, in as many ``steps`` as the theory has stages and one more, or as given: a
    number, or the order of each. Raises BadInput where the link is none, has no settled averages, or where labels do
    not depend on it.
    """
    for name, value, least in (("seeds", seeds, 1), ("seed", seed, 0)):
        checked_count(name, value, least)
    for name, number in (("samples", samples), ("rate", rate)):
        checked_positive(name, number)
    orders = None if steps is None else checked_orders(steps)
    if dimension is not None:
        checked_count("dimension", dimension, 2)
    if not isinstance(model, str) or model.endswith(".toml"):
        model = model_of(model)
    if isinstance(model, str):
        sought, network = Sought(Target(LinkKind().check("link", model))), None
    else:
        sought, network = Sought.of(model), model.network
    found = _analysed(sought.target, network)
    found = replace(found, possible=_possible(sought, found.information_exponent))
    if dimension is None:
        return found
    if isinstance(model, str):
        raise BadInput("a link alone has no network to simulate", "give a model")

    simulated = simulate_steps(
        model, found, dimension=dimension, seeds=seeds, steps=orders, samples=samples, rate=rate, seed=seed
    )
    return replace(found, simulation=simulated)


@lru_cache(maxsize=64)
def _possible(sought: Sought, information_exponent: int | None) -> float | None:
    """Samples over d from which message passing finds anything; None for a constant target, or where not known."""
    if information_exponent in (None, 1):  # a direction along which labels have a mean is found at once
        return None if information_exponent is None else 0.0
    try:
        return first_threshold(sought, fine(sought.target)).samples
    except NotConverged:
        return None


@lru_cache(maxsize=64)
def _analysed(target: Target, network: Network | None) -> Learnability:
    if target.flips == 0.5:
        raise BadInput("target.flips = 0.5 leaves labels that do not depend on the input", "give less than 0.5")
    link = link_of(target.mean_link)
    try:
        return _analysis(link, target, network)
    except Unsettled as error:
        raise BadInput(
            f"the Hermite coefficients of target.link = {target.link!r} do not settle: {error}",
            "use a smoother or slower growing link, or one of fewer indices",
        ) from None


def _analysis(link: Link, target: Target, network: Network | None) -> Learnability:
    table, rule, rounded = _table(link, target)
    ideal = staircase(table)
    errors = _Errors(link, table if rule == "polynomial" and target.probit == 0.0 else None)
    degrees = table.degree
    seen, overlaps = None, tuple[Overlap, ...]()
    if network is not None:
        eyes = sight(network, degrees)
        visible = staircase(table.seen(lambda k: k in eyes.first), table.seen(lambda k: k in eyes.later))
        seen = _stages(visible, table, errors)
        overlaps = _overlaps(table, eyes.coefficients, eyes.first)
    return Learnability(
        link=target.link,
        latex=link.latex,
        indices=link.indices,
        rule=rule,
        zero=10.0 * table.zero,
        rounded=rounded,
        degree=degrees,
        complete=table.complete,
        norm_beyond=max(0.0, 1.0 - (float(table.square_of(lambda _: True)) / table.norm**2)),
        variance=errors.after(()),
        stages=_stages(ideal, table, errors),
        missing=tuple(remaining(ideal, table)),
        kernel=tuple((stage.order, stage.names) for stage in by_degree(table)),
        tensor=_leading(link, table, ideal, rule) if target.probit == 0.0 else {},
        activation=None if network is None else network.activation,
        seen=seen,
        missing_seen=() if seen is None else tuple(remaining(visible, table)),
        overlap=overlaps,
    )


def _table(given: Link, target: Target) -> tuple[HermiteTable, str, float]:
    """The tensors of what the labels say about the input, E[y | z] up to a factor, the rule that gave them, and the
    largest coefficient that is rounding of the link's numbers.
    """
    from derive.hermite_tensors import Tensors, hermite_tensors  # loads SymPy

    link, degree = _widened(given, target.probit), _DEGREE[given.indices]
    square = explained(link, np.eye(link.indices), link.indices)
    if square == 0.0:
        raise BadInput(
            f"the mean label {link.text!r} is zero: nothing in it can be learned",
            "give a link that varies, or a channel whose mean depends on it",
        )

    def by_rules(link: Link) -> Tensors | None:
        return hermite_tensors(_widened(link, target.probit), degree, square)

    found, rounded = by_rules(given), 0.0
    if found is None:
        table, rule = hermite_by_cubature(link.node, link.variables, degree, square**0.5), "cubature"
    else:
        (table, rounded), rule = without_rounding(given, found.table, by_rules), found.rule
    return (table if target.probit == 0.0 else table.shrunk((1.0 + target.probit) ** -0.5)), rule, rounded


def _widened(link: Link, probit: float) -> Link:
    """The link of indices with the noise inside: E[link(z + noise) He_m(z)] = s^-|m| E[link(s g) He_m(g)],
    s^2 = 1 + probit.
    """
    if probit == 0.0:
        return link
    scale = float((1.0 + probit) ** 0.5)
    places = {name: linear_form((scale,), (name,)) for name in link.variables}
    return replace(link, node=substituted(link.node, places))


class _Errors:
    """E Var(f | P_U z) of the clean link, remembered for each subspace."""

    def __init__(self, link: Link, exact: HermiteTable | None) -> None:
        self.link, self.exact = link, exact
        self.known: dict[bytes, float] = {}

    def after(self, stages: tuple[Stage, ...]) -> float:
        """With U the span of what the stages found."""
        basis = whole_basis(stages, self.link.indices)
        found = sum(len(stage.directions) for stage in stages)
        key = np.round(basis[:found], 9).tobytes()
        if key not in self.known:
            self.known[key] = self._fresh(basis, found)
        return self.known[key]

    def _fresh(self, basis: Array, found: int) -> float:
        size = self.link.indices
        if self.exact is not None:
            return float(self.exact.rotated(basis.tolist()).square_of(lambda m: any(m[found:])))
        if found == size:
            return 0.0
        square = explained(self.link, np.eye(size), size)
        rest = square - explained(self.link, basis, found, square)
        return rest if rest > 1e-9 * square else 0.0


def whole_basis(stages: tuple[Stage, ...], indices: int) -> Array:
    """Orthonormal rows that begin with the directions of the stages."""
    rows = [row for stage in stages for row in stage.directions.tolist()]
    return np.array([[float(x) for x in row] for row in completed(rows, indices, 16)])


def _stages(stages: tuple[Stage, ...], table: HermiteTable, errors: _Errors) -> tuple[LearnedStage, ...]:
    return tuple(
        LearnedStage(
            number=i + 1,
            order=stage.order,
            names=stage.names,
            directions=stage.directions,
            strengths=stage.strengths,
            kernel=tuple(lowest_degree(table, row) for row in stage.rows),
            error=errors.after(stages[: i + 1]),
        )
        for i, stage in enumerate(stages)
    )


def _overlaps(table: HermiteTable, sigma: tuple[float, ...], first: frozenset[int]) -> tuple[Overlap, ...]:
    """Terms of E[sigma(w.x) f(x)] = sum_k sigma_k <g_k, (W w)^(x k)>, of which the step takes the gradient."""
    rows = []
    for k in range(1, len(sigma)):
        square = float(table.square_of(lambda m, k=k: sum(m) == k))  # type: ignore[misc]
        if square > 0.0:
            size = square**0.5
            if table.indices == 1:
                size = float(np.copysign(size, float(table.coefficients[(k,)])))
            rows.append(Overlap(k, sigma[k] if k in first else 0.0, size))
    return tuple(rows)


def _leading(link: Link, table: HermiteTable, stages: tuple[Stage, ...], rule: str) -> dict[str, str]:
    """The entries of the first tensor that is not zero, in closed form where there is one."""
    from derive.hermite_tensors import closed_entry  # loads SymPy

    if not stages:
        return {}
    entries = table.of_degree(stages[0].order)
    if len(entries) > _ENTRIES:
        return {}
    shown = {}
    for m in sorted(entries, reverse=True):
        closed = closed_entry(link, m) if rule in ("polynomial", "closed form") else None
        names = " ".join(name for name, n in zip(link.variables, m, strict=True) for _ in range(n))
        shown[names] = f"{float(entries[m]):.12g}" if closed is None else str(closed)
    return shown
