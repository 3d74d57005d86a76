"""What is simulated: the finite-size system, its validation and its rounding to whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from giantstep.simulate.convex import ConvexLoss
from giantstep.simulate.errors import Array, SimulationError
from giantstep.simulate.surroundings import GivenRows, InputSpectrum

Activation: TypeAlias = Callable[[Array], tuple[Array, Array]]
Link: TypeAlias = Callable[[Array], Array]
Coefficients: TypeAlias = Callable[[Array], tuple[Array, Array, Array, Array]]
SystemKind: TypeAlias = Literal["network", "srf", "gaussian"]
SYSTEM_KINDS: tuple[SystemKind, ...] = ("network", "srf", "gaussian")


@dataclass(frozen=True)
class FiniteSystem:
    """A two-layer network and its target, in the ratios of the proportional limit.

    activation: z -> (sigma(z), sigma'(z)), elementwise; the network applies it to w.x + bias, at
    initialisation too.
    link: s[n] -> sigma_star(s)[n] of s = theta.x with |theta| = 1; with several indices z[indices, n] -> [n] of
    z_i = theta_i.x for orthonormal theta_i.
    width: beta = p/d. values, fractions: vocabulary u_b of the readout at initialisation (a0_k = u_b/sqrt p)
    and the fraction pi_b of neurons in each block; the blocks are kept apart in the order parameters.
    noise: VARIANCE of the Gaussian noise added to the labels; flips: probability that a label +-1 changes its sign;
    probit: VARIANCE of the Gaussian noise added to every index inside the link. All of them in the batch of the step
    and of the readout; errors are measured against the clean link.
    channel: s[n], u[n] -> y[n], the label drawn given s = link(z) by a uniform random number u; clean: what errors are
    measured against then, a link. predicts: outputs of any shape -> the mean labels that they stand for.
    steps: (alpha0, eta_tilde) = (n0/d, eta/d) of each giant gradient step in order, taken by the system "network".
    same_batch: of each step whether it takes the samples of the step before; none does where left out.
    drawn: levels [p] of a distribution function -> values u_k, drawn for every neuron by itself; values is (1.0,) then:
    one block, whose strength, mean and bulk variance are those of u = 1, and neurons of u have u r and by_value.
    biases: of each block, added to `bias`; in the gradient step too.
    by_value: coefficients (c_0, c_1, c_2) of the bulk variance c_0 + c_1 u + c_2 u^2 of drawn values.
    spike: (r, gamma, (c_1, ..., c_K)): strength, alignment <v, theta> (with several indices a tuple of
    <v, theta_i>) and squared norm of the bulk rows per block, used by "srf", and by "gaussian" for gamma. None:
    v = theta_1, r = 0, c = 1, plain random features.
    loadings, overlaps: of a spike of rank q, beside `spike`: the strengths of each block along v_1, ..., v_q [K][q],
    and <v_j, theta_i> [q][indices], in place of the strength and the alignment of `spike`.
    coefficients: kappa[n] (kappa[q, n] with loadings) -> (mu0, mu1, mu2, mu_c), each [K, n], with the bias already in
    them, used by "gaussian"; mu1 multiplies w.x with w of UNIT norm ([CUI24] keeps rows of norm sqrt c), and
    mu_c = c dmu0/dc multiplies |w|^2 - 1 where norms vary.
    loss: of the readout; None is the square loss. The gradient step always has the square loss.
    penalty: of every readout, beside the ridge: the loss of it that it is at the label 0.
    trained_bias: the common bias is trained with the readout, from `bias` on ([CUI24] App. C.8). jumps: the activation
    has jumps, which its slope says nothing of.
    given: rows of the first layer, and its directions, for "srf" and "gaussian"; they have a dimension of their own.
    inputs: their covariance and what follows from it; None: isotropic.
    metrics: functions of noisy labels y [n] and outputs f [R, n] that are averaged over the test points too.
    features: z -> sigma(z), the same numbers as those of `activation`, where they alone take less time.
    gaussian_rows: initial rows of a "network", and those around the spike of the others, have entries N(0, 1/d); rows
    are uniform on the unit sphere otherwise.

    Raises SimulationError for impossible values. Source: [CUI24] section 2 and Results 3.1, 3.2.
    """

    activation: Activation
    link: Link
    width: float
    values: tuple[float, ...] = (1.0,)
    fractions: tuple[float, ...] = (1.0,)
    bias: float = 0.0
    noise: float = 0.0
    steps: tuple[tuple[float, float], ...] = ()
    spike: tuple[float, float | tuple[float, ...], tuple[float, ...]] | None = None
    coefficients: Coefficients | None = None
    flips: float = 0.0
    probit: float = 0.0
    indices: int = 1
    loss: ConvexLoss | None = None
    trained_bias: bool = False
    jumps: bool = False
    loadings: tuple[tuple[float, ...], ...] | None = None
    overlaps: tuple[tuple[float, ...], ...] | None = None
    given: GivenRows | None = None
    inputs: InputSpectrum | None = None
    gaussian_rows: bool = False
    same_batch: tuple[bool, ...] = ()
    drawn: Callable[[Array], Array] | None = None
    by_value: tuple[float, float, float] = (1.0, 0.0, 0.0)
    metrics: tuple[Callable[[Array, Array], Array], ...] = ()
    biases: tuple[float, ...] | None = None
    channel: Callable[[Array, Array], Array] | None = None
    clean: Link | None = None
    predicts: Callable[[Array], Array] | None = None
    penalty: ConvexLoss | None = None
    features: Callable[[Array], Array] | None = None

    def neuron_biases(self, width: int, bias: float) -> Array | float:
        """The bias of every neuron [p], where the common one is given; a number where it is the same for all."""
        if self.biases is None:
            return bias
        return bias + np.repeat(np.array(self.biases), largest_remainder(self.fractions, width))

    def activated(self, z: Array) -> Array:
        """sigma(z)."""
        return self.activation(z)[0] if self.features is None else self.features(z)

    def batch_of(self, step: int) -> int:
        """The number of the batch that a step takes, both counted from zero."""
        while self.same_batch and self.same_batch[step]:
            step -= 1
        return step

    @property
    def rank(self) -> int:
        """The number of directions of the spike."""
        return 1 if self.overlaps is None else len(self.overlaps)

    @property
    def classifies(self) -> bool:
        """Whether the test error is P(y f < 0) + P(f = 0)/2: for losses of the margin."""
        return self.loss is not None and self.loss.form == "margin"

    @property
    def alignments(self) -> tuple[float, ...]:
        """<v, theta_i> of every index."""
        if self.spike is None:
            return (1.0,) + (0.0,) * (self.indices - 1)
        gamma = self.spike[1]
        return gamma if isinstance(gamma, tuple) else (gamma,)

    def __post_init__(self) -> None:
        for name, function in (("activation", self.activation), ("link", self.link)):
            _require(callable(function), f"{name} must be a function of an array, got {function!r}")
        _require(
            self.coefficients is None or callable(self.coefficients),
            f"coefficients must be a function of kappa or None, got {self.coefficients!r}",
        )
        _finite("width", self.width, above=0.0)
        _finite("bias", self.bias)
        _finite("noise", self.noise, least=0.0)
        _finite("flips", self.flips, least=0.0, most=0.5)
        _finite("probit", self.probit, least=0.0)
        _whole("indices", self.indices, 1)
        _require(not self.classifies or self.noise == 0.0, "a loss of the margin needs labels +-1: noise must be 0")
        self._check_blocks()
        for step in self.steps:
            _require(len(step) == 2, f"each of steps must be (samples alpha0, learning_rate), got {step!r}")
            _finite("step samples alpha0", step[0], above=0.0)
            _finite("step learning_rate", step[1])
        fresh = (False,) * len(self.steps)
        _require(
            len(self.same_batch) in (0, len(self.steps)) and self.same_batch[:1] in ((), fresh[:1]),
            f"same_batch needs one entry for each step, the first one False, got {self.same_batch!r}",
        )
        _require(
            self.biases is None or len(self.biases) == len(self.values) and not self.trained_bias,
            "biases are one for each block, and none is trained beside them",
        )
        _require(self.penalty is None or not self.trained_bias, "with a penalty no bias is trained")
        _require(self.drawn is None or self.values == (1.0,), "values that are drawn take the place of a vocabulary")
        if self.spike is not None:
            _require(len(self.spike) == 3, f"spike must be (strength, alignment, bulk variances), got {self.spike!r}")
            self._check_spike(*self.spike)
        self._check_directions()

    def _check_directions(self) -> None:
        if self.loadings is None or self.overlaps is None:
            _require(self.loadings is self.overlaps, "loadings and overlaps of a spike go together")
            return
        _require(self.spike is not None, "loadings and overlaps need spike as well, for the bulk variances")
        rows = (len(self.loadings), *map(len, self.loadings))
        wanted = (len(self.values), *(self.rank,) * len(self.values))
        _require(rows == wanted, f"loadings need {self.rank} numbers for each of {len(self.values)} blocks")
        _require(
            all(len(row) == self.indices for row in self.overlaps),
            f"overlaps need {self.indices} numbers for each direction, got {self.overlaps!r}",
        )
        for row in (*self.loadings, *self.overlaps):
            for entry in row:
                _finite("each of loadings and overlaps", entry)
        largest = float(np.linalg.norm(np.array(self.overlaps), 2))
        _require(largest <= 1.0 + 1e-12, f"overlaps must have singular values of at most 1, got {largest:.6g}")

    def _check_blocks(self) -> None:
        _require(len(self.values) >= 1, "values must name at least one readout block, got none")
        _require(
            len(self.values) == len(self.fractions),
            f"values and fractions must be equally long, got {len(self.values)} and {len(self.fractions)}",
        )
        for value, fraction in zip(self.values, self.fractions, strict=True):
            _finite("each of values", value)
            _finite("each of fractions", fraction, above=0.0)
        total = math.fsum(self.fractions)
        _require(abs(total - 1.0) <= 1e-9, f"fractions must sum to 1, got {self.fractions!r} with sum {total:.12g}")

    def _check_spike(self, strength: float, alignment: object, variances: tuple[float, ...]) -> None:
        _finite("spike strength", strength)
        _require(
            len(self.alignments) == self.indices,
            f"spike needs one alignment per index, got {alignment!r} for {self.indices} indices",
        )
        for gamma in self.alignments:
            _finite("spike alignment", gamma, least=-1.0, most=1.0)
        length = math.hypot(*self.alignments)
        _require(length <= 1.0 + 1e-12, f"the alignments of spike must have length at most 1, got {length:.6g}")
        _require(
            len(variances) == len(self.values),
            f"spike needs one bulk variance per block, got {len(variances)} for {len(self.values)} blocks",
        )
        for variance in variances:
            _finite("each bulk variance of spike", variance, above=0.0)


@dataclass(frozen=True)
class FiniteSizes:
    """Whole numbers of one finite system, and the ratios that the theory should be evaluated at.

    dimension d; width_count p; blocks (p_1, ..., p_K) with sum p; samples: n of each requested alpha, in the
    order given; step_samples: n0 of each step.
    """

    dimension: int
    width_count: int
    blocks: tuple[int, ...]
    samples: tuple[int, ...]
    step_samples: tuple[int, ...]

    @property
    def alpha(self) -> tuple[float, ...]:
        """n/d of each requested number of samples."""
        return tuple(count / self.dimension for count in self.samples)

    @property
    def beta(self) -> float:
        """p/d."""
        return self.width_count / self.dimension

    @property
    def fractions(self) -> tuple[float, ...]:
        """p_b/p."""
        return tuple(count / self.width_count for count in self.blocks)

    @property
    def alpha0(self) -> tuple[float, ...]:
        """n0/d of each step."""
        return tuple(count / self.dimension for count in self.step_samples)

    def block_slices(self) -> tuple[slice, ...]:
        """Neurons of each block: they are stored block after block."""
        ends = np.cumsum((0, *self.blocks))
        return tuple(slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True))


def finite_sizes(system: FiniteSystem, dimension: int, samples: Sequence[float]) -> FiniteSizes:
    """Round the ratios of `system` to whole numbers at this dimension.

    n = round(alpha d), p = round(beta d), n0 = round(alpha0 d); block sizes by largest remainder, so that
    they sum to p.
    Raises SimulationError where a count or a block comes out empty.
    """
    _whole("dimension", dimension, max(2, system.indices + 1))
    _require(len(samples) >= 1, "samples must hold at least one alpha = n/d, got none")
    for alpha in samples:
        _finite("each of samples (alpha = n/d)", alpha, above=0.0)
    width = _count("width", system.width, dimension)
    counts = tuple(_count("samples", alpha, dimension) for alpha in samples)
    if system.given is not None:
        shape = system.given.rows.shape
        _require(
            shape == (width, dimension),
            f"the first layer is given: {shape[0]} rows of length {shape[1]}, and the simulation has {width} rows of "
            f"length {dimension}; simulate dimension {shape[1]}",
        )
    of_steps = tuple(_count("step samples", alpha0, dimension) for alpha0, _ in system.steps)
    blocks = largest_remainder(system.fractions, width)
    if 0 in blocks:
        index, neurons = blocks.index(0), math.ceil(math.fsum(system.fractions) / min(system.fractions))
        raise SimulationError(
            f"block {index + 1} (fraction {system.fractions[index]:g}) gets no neuron of {width}",
            f"every block has one at dimension {math.ceil(neurons / system.width)} or more; or raise the fraction",
        )
    return FiniteSizes(dimension, width, blocks, counts, of_steps)


def check_kind(system: FiniteSystem, what: SystemKind) -> None:
    """Raise SimulationError where `system` lacks what this system needs."""
    _require(what in SYSTEM_KINDS, f"what must be one of {', '.join(SYSTEM_KINDS)}, got {what!r}")
    if what == "gaussian":
        _require(not system.metrics, "metrics are measured on features: simulate 'srf' or 'network'")
        _require(
            system.drawn is None,
            "the system 'gaussian' has a law for every block, and values that are drawn have none; simulate 'srf'",
        )
        _require(
            system.coefficients is not None,
            "the system 'gaussian' needs coefficients, a function of kappa: FiniteSystem(coefficients=...)",
        )
        _require(not system.trained_bias, "the system 'gaussian' has a fixed bias; simulate 'srf' or 'network'")
    if what == "srf":
        _require(
            system.spike is not None or not system.steps,
            "the system 'srf' needs spike=(strength, alignment, bulk variances); a step alone does not say it",
        )
    if what == "network":
        _require(
            bool(system.steps) or system.spike is None,
            "the system 'network' needs steps=((alpha0, learning_rate),); a spike given directly is the system 'srf'",
        )


def positive_whole(name: str, value: object, least: int = 1) -> None:
    """Raise SimulationError unless `value` is a whole number of at least `least`."""
    _whole(name, value, least)


def finite_number(name: str, value: object, *, least: float | None = None) -> None:
    """Raise SimulationError unless `value` is a finite number of at least `least`."""
    _finite(name, value, least=least)


def largest_remainder(fractions: Sequence[float], total: int) -> tuple[int, ...]:
    """Whole numbers that sum to a total, nearest to fractions of it."""
    exact = np.asarray(fractions, dtype=np.float64) * (total / math.fsum(fractions))
    sizes = np.floor(exact).astype(int)
    # a stable sort, so that equal remainders go to the earlier block
    order = np.argsort(-(exact - sizes), kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return tuple(int(size) for size in sizes)


def _count(name: str, ratio: float, dimension: int) -> int:
    count = round(ratio * dimension)
    _require(count >= 1, f"{name} = {ratio:g} is less than half a unit at dimension {dimension}; raise one of them")
    return count


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise SimulationError(message)


def _whole(name: str, value: object, least: int) -> None:
    good = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
    _require(bool(good), f"{name} must be a whole number of at least {least}, got {value!r}")


def _finite(
    name: str,
    value: object,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise SimulationError(f"{name} must be a number, got {value!r}")
    number = float(value)
    good = math.isfinite(number) and (above is None or number > above)
    good = good and (least is None or number >= least) and (most is None or number <= most)
    bounds = [
        f"above {above:g}" if above is not None else "",
        f"at least {least:g}" if least is not None else "",
        f"at most {most:g}" if most is not None else "",
    ]
    allowed = " and ".join(bound for bound in bounds if bound) or "finite"
    _require(good, f"{name} must be {allowed}, got {value!r}")
