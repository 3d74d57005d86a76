"""Bias and variance of a fit, by the sources of its randomness, and ensembles of several fits.

Two fits that share the sources S have outputs f_1, f_2 with the same mean. For a squared error
    shared[S] = E (y - f_1)(y - f_2),   bias^2 = shared[nothing],   shared[S] = bias^2 + sum of variance[U], U in S,
and k fits that share S have the error shared[S] + (shared[all] - shared[S])/k. Margin losses have pairs only.
Source: docs/theory.md, section 14; Adlam and Pennington (2020), d'Ascoli et al. (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np

from derive.language.grammar import shorten
from giantstep.observe.calibration import Calibration, calibration
from giantstep.observe.deviation.deviation import Deviation, deviation_of
from giantstep.observe.finite_system import at_dimension, checked_simulation
from giantstep.observe.measured_pairs import MeasuredPairs, measured_pairs
from giantstep.observe.shared_sources import (
    Sources,
    closed,
    closed_sets,
    inversion,
    key_of,
    names_of,
    resampling_of,
    sources_of,
    usual,
)
from giantstep.simulate.pairs import Resampling
from giantstep.simulate.system import SystemKind
from giantstep.spec.arguments import checked_flag
from giantstep.spec.counts import checked_count
from giantstep.spec.errors import BadInput
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model
from giantstep.spec.outline import outline
from giantstep.spec.shown import Pictured, Row, number
from giantstep.system.coupled_system import CoupledSystem
from giantstep.system.exact_output import is_exact, nothing_left
from giantstep.system.misclassification import wrong_sign
from giantstep.system.pair_equations import Sharing, require_held
from giantstep.system.resampled_fit import settled_system
from giantstep.system.result import Result
from giantstep.system.sample_weights import poisson
from giantstep.system.solve import solve_and_keep
from giantstep.system.two_batches import BatchPair, batch_pairs
from giantstep.system.two_fits import Fit, Pair, require_pairs

Array = np.ndarray
MOST_MEMBERS = 10_000  # of an ensemble, each of which is told


class PairOfFits(NamedTuple):
    """Two fits that share some sources: E (f_1 - f_2)^2/2 and the test error of their mean output.

    residual: worst relative one of the equations of a pair; error: change of the covariance of the outputs between
    rules of quadrature, relative to the variance.
    """

    half_mean_square: float
    ensemble_of_2: float
    residual: float
    error: float


@dataclass(frozen=True, repr=False, eq=False)
class Decomposition(Pictured):
    """Bias, variances and ensembles; keys are sources joined by "+", "" for none.

    test_error: of a single fit, E (y - f)^2 or P(y f < 0) for margin losses, of which there are pairs only; shared:
    E (y - f_1)(y - f_2) of fits that share these sources; variance: of each source, and of what several do together;
    "resampling" is that of samples drawn from a pool; ensemble: members -> error of fits that share ``members_share``;
    given: sources that are never drawn again, whose variance counts as bias; not_derived: of margin losses the pairs
    that there are no equations of, and why; calibration: of a margin loss by members, where scores were asked for;
    deviation: how much the test error of one fit varies between draws, where it was asked for.
    """

    result: Result
    test_error: float
    bias_squared: float | None
    shared: Mapping[str, float]
    variance: Mapping[str, float]
    pairs: Mapping[str, PairOfFits]
    ensemble: Mapping[int, float]
    members_share: str
    given: Sources = ()
    resampling: Resampling = field(default_factory=Resampling)
    simulation: MeasuredPairs | None = None
    not_derived: Mapping[str, str] = field(default_factory=dict)
    calibration: Mapping[int, Calibration] = field(default_factory=dict)
    deviation: Deviation | None = None

    def summary(self) -> list[Row]:
        """Error, bias and the largest variances, ensembles, the model."""
        rows = [("test error", number(self.test_error))]
        if self.bias_squared is not None:
            largest = sorted(self.variance.items(), key=lambda item: -item[1])[:3]
            told = ", ".join(f"{name} {value:.4g}" for name, value in largest)
            rows.append(("bias squared", f"{number(self.bias_squared)}; largest variances: {told}"))
        told = ", ".join(f"{k}: {value:.6g}" for k, value in self.ensemble.items())
        rows.append(("ensembles", f"{told}, sharing {self.members_share or 'nothing'}"))
        return [*rows, ("model", outline(self.result.model))]

    def to_dict(self) -> dict[str, Any]:
        """The object of ``decompose --json``."""
        found: dict[str, Any] = {
            "test_error": self.test_error,
            "bias_squared": self.bias_squared,
            "shared": dict(self.shared),
            "variance": dict(self.variance),
            "pairs": {
                name: {
                    "half_mean_square": pair.half_mean_square,
                    "ensemble_of_2": pair.ensemble_of_2,
                    "residual": pair.residual,
                    "quadrature_error": pair.error,
                }
                for name, pair in self.pairs.items()
            },
            "ensemble": {str(k): value for k, value in self.ensemble.items()},
            "ensemble_shares": self.members_share,
            "given": list(self.given),
            "not_derived": dict(self.not_derived),
            "calibration": [one.to_dict() for one in self.calibration.values()],
            "resampling": {"kind": self.resampling.kind, "fraction": self.resampling.fraction},
            "deviation": None if self.deviation is None else self.deviation.to_dict(),
            "dimension": self.result.dimension,
            "model": self.result.model.to_dict(),
        }
        if self.simulation is not None:
            found["simulation"] = self.simulation.to_dict()
        return found


@takes_model
def decompose(
    model: Model,
    *,
    members: int = 2,
    share: Sequence[str] | str | None = None,
    given: Sequence[str] | str = (),
    bootstrap: bool = False,
    subsample: float | None = None,
    dimension: int | None = None,
    tolerance: float = 1e-10,
    simulate: bool = False,
    seeds: int = 10,
    what: SystemKind | None = None,
    seed: int = 0,
    scores: Sequence[float] = (),
    deviation: bool = False,
) -> Decomposition:
    """Bias and variance of the test error by batch of the step, data, label noise and initialisation; ensembles.

    members: ensembles of 1, ..., members fits, which share ``share``: by default all but the initialisation, all
    where samples are drawn again. given: sources that are held, as ("batch",). bootstrap: each fit takes n of the n
    samples with replacement; subsample: a fraction of them; model.fit.samples counts the pool. simulate: pairs of
    finite systems too, at ``dimension``. tolerance: of the single fit; a pair tells its own error,
    1e-6 where fits have batches of their own and rules reach that. scores: outputs of a margin loss at which to
    give the probability of the label 1, for one fit and for the mean of ``members``. deviation: also how much the
    test error of one fit varies between draws (``gs.deviation``). Raises BadInput for what has not
    been derived, NotConverged where a pair is not found to its accuracy. Source: docs/theory.md, section 14.
    """
    checked_count("members", members, 1, MOST_MEMBERS)
    deviation, bootstrap = checked_flag("deviation", deviation), checked_flag("bootstrap", bootstrap)
    simulate = checked_simulation(simulate, dimension, (seeds, what, seed))
    _require_label(model)
    resampling = resampling_of(bootstrap, subsample)
    if deviation and resampling.kind != "all":
        raise BadInput("the deviation between draws of resampled fits has not been derived", "leave deviation out")
    held, present = names_of("given", given), sources_of(model)
    if simulate:
        model = at_dimension(model, cast(int, dimension))
    require_pairs(model)
    require_held(model, held)
    shared_by = names_of("share", share) if share is not None else usual(present, held, resampling)
    chosen = closed(tuple(name for name in present if name in {*shared_by, *held}))
    result, fit = _solved(model, resampling, dimension, tolerance)
    sets = closed_sets(present, held)
    at = (decomposed := _Decomposed(result, fit, resampling)).scores(scores)
    pairs, missing = decomposed.pairs_of(sets)
    found = decomposed.collected(pairs, sets, held)
    ensemble = {k: decomposed.ensemble(chosen, k) for k in range(1, members + 1)}
    simulation = None
    if simulate and dimension is not None:
        derived = [names for names in sets if key_of(names) in pairs]
        simulation = measured_pairs(model, dimension, seeds, derived, what, seed, resampling)
    return Decomposition(
        result,
        decomposed.test_error,
        *found,
        pairs,
        ensemble,
        key_of(chosen),
        held,
        resampling,
        simulation,
        missing,
        {k: decomposed.calibration(chosen, k, at) for k in sorted({1, members}) if at.size},
        deviation_of(result) if deviation else None,
    )


def _require_label(model: Model) -> None:
    """Raise BadInput for outputs that stand for something else."""
    loss = model.fit.loss
    if loss.predicts is not None:
        raise BadInput(
            f"fit.loss = {loss} has an output that stands for the mean label {loss.predicts.text}: the error of that "
            "is no average over pairs of fits, into which bias and variance are split",
            "take a loss whose output is the label itself, as square, or one of the margin",
        )


def _solved(model: Model, resampling: Resampling, dimension: int | None, tolerance: float) -> tuple[Result, Fit]:
    """A single fit, on the samples that it takes."""
    if resampling.kind == "subsample":
        model = model.replace({"fit.samples": model.fit.samples * resampling.fraction})
    result, found = solve_and_keep(model, dimension, tolerance)
    if found is None and is_exact(result):
        raise nothing_left("to take apart")
    return result, Fit(result, settled_system(result, poisson()) if resampling.kind == "bootstrap" else found)


class _Decomposed:
    """Pairs of one fit, each solved once."""

    def __init__(self, result: Result, fit: Fit, resampling: Resampling) -> None:
        self.fit, self.resampling = fit, resampling
        self.margin = result.model.fit.loss.form == "margin"
        self.present = sources_of(result.model)
        weighted = resampling.kind == "bootstrap"
        self.test_error = float(fit.system.answer()[0]) if weighted else result.test_error
        self.known: dict[Sources, Pair | BatchPair] = {}
        self.errors: dict[tuple[Sharing, int], float] = {}  # of the mean of several fits of one batch

    def pair(self, names: Sources) -> PairOfFits:
        """Two fits that share these sources."""
        found = self._pair(names)
        one = names == self.present and self.resampling.kind == "all"  # of which rounding leaves something
        square = 0.0 if one else max(found.half_mean_square, 0.0)
        return PairOfFits(square, self.ensemble(names, 2), found.residual, found.error)

    def pairs_of(self, sets: Sequence[Sources]) -> tuple[dict[str, PairOfFits], dict[str, str]]:
        """(pairs by their keys, of a margin loss the reasons of those that have not been derived)."""
        missing: dict[str, str] = {}
        self._solve([names for names in sets if not self._apart(names)])
        own = [names for names in sets if self._apart(names)]
        try:
            self._solve(own)
        except BadInput as error:
            if not self.margin:
                raise
            missing = {key_of(names): error.message for names in own}
        return {key_of(names): self.pair(names) for names in sets if names in self.known}, missing

    def ensemble(self, names: Sources, members: int) -> float:
        """The test error of the mean of so many fits that share these sources."""
        if not self.margin:
            return self.test_error - (1.0 - 1.0 / members) * self._pair(names).half_mean_square
        if members == 1:
            return self.test_error
        if self._apart(names):
            return self._of_batches(names, members)
        key = self.fit.distinct(self._sharing(names)), members
        if key not in self.errors:
            parts = [(part, self._variance(part, names, members)) for part in self.fit.system.where_signs_turn()]
            wrong = [wrong_sign(replace(part.output(), variance=variance)) for part, variance in parts]
            self.errors[key] = sum(float(part.table[:, 1] @ one) for (part, _), one in zip(parts, wrong, strict=True))
        return self.errors[key]

    def _of_batches(self, names: Sources, members: int) -> float:
        """The same of a margin loss where each fit has its own batch. Raises BadInput for more than two."""
        if members > 2:
            raise BadInput(
                f"the error of the mean of {members} fits with batches of their own has not been derived for a loss of "
                "the margin",
                "take two members, or let them share the batch",
            )
        found = self._pair(names)
        assert isinstance(found, BatchPair)
        return found.ensemble_of_2

    def scores(self, scores: Sequence[float]) -> Array:
        """Checked ones [S]."""
        try:
            found = np.array(scores, dtype=float)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        if found.ndim != 1 or not np.isfinite(found).all():
            raise BadInput(
                f"scores = {shorten(scores)} are not allowed", "give a list of finite numbers, as [-1.0, 0.0, 1.0]"
            )
        if found.size and not self.margin:
            raise BadInput("scores belong to a loss of the margin", 'set fit.loss, for example to "logistic"')
        return found

    def calibration(self, names: Sources, members: int, scores: Array) -> Calibration:
        """Of the mean of so many fits that share these sources. Raises BadInput where each has its own batch."""
        if self._apart(names):
            raise BadInput(
                "calibration of fits with batches of their own has not been derived", "let members share the batch"
            )
        return calibration(self.fit, members, scores, lambda system: self._variance(system, names, members))

    def _variance(self, system: CoupledSystem, names: Sources, members: int) -> Array:
        """Of the mean output of so many fits, given kappa and t, at the nodes of a system."""
        own, found = system.output().variance, self._pair(names)
        assert isinstance(found, Pair)  # others go elsewhere
        common = self.fit.covariance_at(found.overlaps, system, "initialisation" in names)
        return np.asarray(np.maximum(common + (own - common) / members, 1e-300))

    def collected(
        self, pairs: Mapping[str, PairOfFits], sets: tuple[Sources, ...], held: Sources
    ) -> tuple[float | None, dict[str, float], dict[str, float]]:
        """(bias^2, shared, variances) of a squared error, by inversion over the sources that are drawn again."""
        if self.margin:
            return None, {}, {}
        shared = {name: self.test_error - pair.half_mean_square for name, pair in pairs.items()}
        below, errors = inversion(sets), np.array([*shared.values()])
        together, size = below @ errors, np.abs(below) @ np.abs(errors)
        together[np.abs(together) <= 4.0 * np.finfo(float).eps * size] = 0.0  # a difference that is rounding
        variance = dict(zip(shared, together.tolist(), strict=True))
        bias = variance.pop(key_of(tuple(name for name in self.present if name in held)))
        if self.resampling.kind != "all":
            variance["resampling"] = self.test_error - shared[key_of(self.present)]
        return bias, shared, variance

    def _pair(self, names: Sources) -> Pair | BatchPair:
        if names not in self.known:
            self._solve([names])
        return self.known[names]

    def _solve(self, every: Sequence[Sources]) -> None:
        """Pairs of fits that all have a batch in common, or of fits that all have none."""
        if not every:
            return
        sharings = {names: self._sharing(names) for names in every}
        solve: Callable[..., Mapping[Sharing, Pair | BatchPair]] = (
            batch_pairs if self._apart(every[0]) else Fit.pairs_of
        )
        found = solve(self.fit, [*sharings.values()])
        self.known |= {names: found[sharing] for names, sharing in sharings.items()}

    def _sharing(self, names: Sources) -> Sharing:
        return Sharing(
            self.resampling.fraction if "data" in names else 0.0, "noise" in names, "initialisation" in names
        )

    def _apart(self, names: Sources) -> bool:
        """Whether each fit has a batch of its own."""
        return "batch" in self.present and "batch" not in names
