"""Gaussian inputs of a given covariance: the spectral law of the features, without a step and after one.

In whitened inputs g, ``x = Sigma_in^(1/2) g``, everything is diagonal in the eigenbasis of ``Sigma_in``: rows have a
covariance at each eigenvalue x, and directions have a matrix of products there. Any number of directions of the target
and of the spike. Source: THEORY section 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from derive.blocks import BlockSum, Definition, family, index, protect, rename, used_indices
from derive.calculus import contract
from derive.canonical import canonical
from derive.gaussian.expectation import Expectation
from derive.gradient_step import E2, MU1, S0, SECOND, VARIANCE
from derive.network_step import RADIAL, A
from derive.operations import COMPOSED, computed, equal
from derive.sample_averages import ALPHA0
from derive.trace import Derivation, Recorder

B, X = index("b"), index("x")
SPIKES, OTHER, PART = index("e"), index("f"), index("k")  # directions of the spike
INDEX, NEXT, AXIS = index("i"), index("j"), index("a")  # indices of the target; axes in an eigenspace
EIGENVALUE, TRACE, TARGET = family("eigenvalue"), family("law_tr"), family("law_theta")
VALUE, OVERLAP, GAMMA, ACROSS, ROOT = (family(name) for name in ("u", "s_1", "gamma", "across", "root"))
LENGTH = sp.Symbol("N", positive=True)
SIGMA = family("Sigma")
THETA, RANDOM, SPIKE = family("theta"), family("epsilon"), family("v")
_NORMALS = sp.symbols("n_theta n_epsilon", real=True)
_SOURCE = "THEORY section 10"
INDEPENDENT = "$\\mathrm{tr}\\,\\Sigma_{in}^2/d$ stays finite, or the activation is linear"

Parts = tuple[sp.Expr, sp.Expr]


@dataclass(frozen=True)
class StructuredInputs:
    """Expressions at the eigenvalue x: covariances of the rows of block b without a step and, not yet over its mean
    c_b, after one; d times the variance chi of the squared norm of a row of mean one; squared length N^2 of the spike
    before its factor A mu1; strength; alignment with theta_i.

    Directions are ``sum_i along_ei theta_i + sum_f random_ef epsilon_f``: the spike after a step by its parts along
    theta_i and without direction, the rest of the target by the parts of the spike, and the product of two of them.
    """

    plain: sp.Expr
    moved: sp.Expr
    bulk_variance: sp.Expr
    chi: BlockSum
    squared_length: sp.Expr
    strength: sp.Expr
    alignment: sp.Expr
    spike: Parts
    rest: Parts
    product: sp.Expr
    derivation: Derivation


def structured_inputs() -> StructuredInputs:
    """Derive the law of the features for inputs with eigenvalues of mean one."""
    trace = Recorder("Spectral law of structured inputs")
    plain, moved, mean = _record_rows(trace)
    chi = _record_norms(trace)
    squared, strength, alignment = _record_spike(trace)
    after = _record_parts(trace)
    trace.assume(
        "given spike",
        SPIKE[SPIKES],
        _direction(lambda e, i: GAMMA[e, i], lambda e, f: ROOT[e, f], SPIKES),
        "a spike of which only the alignments are given, not to have a direction beside the target's; "
        "the square of $root$ is $1-\\gamma\\gamma^\\top$",
        source=_SOURCE,
        assumption="none: this is what such a model means",
    )
    rest = _record_rest(trace)
    return StructuredInputs(
        plain, moved, mean, chi, squared, strength, alignment, after, rest, _record_product(trace), trace.finish()
    )


# --- rows -----------------------------------------------------------------------------------------------------------


def _record_rows(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The covariance without a step, that which one step leaves, and its mean."""
    row = trace.define(
        "row of a neuron",
        sp.Symbol("w_x"),
        sp.sqrt(EIGENVALUE[X]),
        "per component of a unit row, in whitened inputs",
        _SOURCE,
    )
    plain = trace.derive(
        "covariance without a step",
        SIGMA[B, X],
        computed(
            "square",
            "rows of a uniform direction, the mean eigenvalue being one",
            "row of a neuron",
            by=lambda root: root**2,
            test=COMPOSED,
        ),
        _SOURCE,
    )
    trace.assume(
        "moved row",
        sp.Symbol("w_x'"),
        sp.Tuple(
            row * (1 + A * VALUE[B] * S0 * SECOND * EIGENVALUE[X]),
            A * VALUE[B] * sp.sqrt(E2 * VARIANCE / ALPHA0) * EIGENVALUE[X],
        ),
        "the gradient without the spike to move a row along itself, by $\\Sigma_{in}w$, and across it by an average of "
        "samples with independent weights",
        source=_SOURCE,
        assumption=INDEPENDENT,
    )
    names = Moved("covariance after a step", SIGMA[B, X], family("c")[B])
    moved, mean = record_moved(trace, names, ", by which rows of unit norm are divided", _SOURCE)
    return plain, moved, mean


@dataclass(frozen=True)
class Moved:
    """What the square of a moved row is called: its label, the covariance and its mean."""

    label: str
    covariance: sp.Expr
    mean: sp.Expr


def record_moved(trace: Recorder, names: Moved, of_mean: str, source: str) -> tuple[sp.Expr, sp.Expr]:
    """The covariance of the step "moved row", which has two parts, and its mean; of_mean: what is said of that."""
    moved = trace.derive(
        names.label,
        names.covariance,
        computed(
            "square",
            "the two parts are independent",
            "moved row",
            by=lambda parts: sp.Add(*(e**2 for e in parts)),
            test=equal(lambda parts: Expectation(sp.Add(*map(sp.Mul, parts, _NORMALS)) ** 2, *_NORMALS)),
        ),
        source,
    )
    mean = trace.derive(
        "bulk variance",
        names.mean,
        computed(
            "average",
            f"the mean over the spectrum{of_mean}",
            names.label,
            by=lambda body: BlockSum(TRACE[X] * body, X),
            test=COMPOSED,
        ),
        source,
    )
    return moved, mean


def _record_norms(trace: Recorder) -> BlockSum:
    """d times the variance of the squared norm of a row whose mean square is one."""
    normal = _NORMALS[0]
    trace.assume(
        "squared norm of a row",
        sp.Symbol("delta_x"),
        (SIGMA[B, X] - 1 + RADIAL) * (normal**2 - 1),
        "what a component of $\\Sigma^{1/2}w$ adds to $\\sqrt{d}(|\\Sigma^{1/2}w|^2-1)$, $w$ Gaussian; on the unit "
        "sphere $w$ is divided by its length, which takes the part along $|w|^2$ away",
        source="THEORY section 5",
        assumption="central limit theorem over the components",
    )
    found: BlockSum = trace.derive(
        "norms of rows",
        family("chi")[B],
        computed(
            "take the variance",
            "the components are independent; $E(n^2-1)^2=2$",
            "squared norm of a row",
            by=lambda body: BlockSum(TRACE[X] * 2 * body.subs(normal, 0) ** 2, X),
            test=equal(lambda body: BlockSum(TRACE[X] * Expectation(body**2, normal), X)),
        ),
        "THEORY section 5",
    )
    return found


# --- the spike of a step --------------------------------------------------------------------------------------------


def _record_spike(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Squared length, strength and alignments of the direction that all rows gain."""
    spike = "direction of the spike"
    trace.assume(
        spike,
        sp.Symbol("N v"),
        EIGENVALUE[X] * (BlockSum(OVERLAP[INDEX] * THETA[INDEX], INDEX) + sp.sqrt(E2 / ALPHA0) * RANDOM[SPIKES]),
        "$\\Sigma_{in}^{1/2}\\frac{1}{n_0}\\sum_ie_ix_i$ to be its mean along the $\\theta_i$ and a part "
        "$\\epsilon_e$ without direction",
        source=_SOURCE,
        assumption="law of large numbers",
    )
    squared = trace.derive(
        "squared length",
        LENGTH**2,
        computed(
            "sum over the spectrum",
            "$\\theta_i$ and $\\theta_j$ have the product $\\varrho^\\theta_{ij}$ at $x$, $\\epsilon$ has the weight "
            "of the trace",
            spike,
            by=lambda v: canonical(BlockSum(inner(v, v), X)),
            test=equal(lambda v: BlockSum(_by_components(v, v), X), *_COMPONENTS),
        ),
        _SOURCE,
    )
    strength = trace.derive(
        "strength",
        sp.Symbol("r"),
        computed(
            "take the length",
            "$A\\mu_1$ times the length",
            "squared length",
            by=lambda _: A * MU1 * LENGTH,
            test=COMPOSED,
        ),
        _SOURCE,
    )
    alignment = trace.derive(
        "alignment",
        GAMMA[SPIKES, INDEX],
        computed(
            "sum over the spectrum",
            "$v\\cdot\\theta_i$",
            spike,
            by=lambda v: canonical(BlockSum(inner(v, THETA[INDEX]), X) / LENGTH),
            test=equal(lambda v: BlockSum(_by_components(v, THETA[INDEX]), X) / LENGTH, *_COMPONENTS),
        ),
        _SOURCE,
    )
    return squared, strength, alignment


def _record_parts(trace: Recorder) -> Parts:
    """The parts of the unit spike of a step along theta_i and without direction."""
    spike = trace.derive(
        "unit spike",
        SPIKE[SPIKES],
        computed(
            "divide", "the direction over its length", "direction of the spike", by=lambda v: v / LENGTH, test=COMPOSED
        ),
    )
    return part(spike, THETA, INDEX), part(spike, RANDOM, SPIKES)


# --- directions -----------------------------------------------------------------------------------------------------


def _direction(
    along: Callable[[sp.Symbol, sp.Symbol], sp.Expr],
    random: Callable[[sp.Symbol, sp.Symbol], sp.Expr],
    which: sp.Symbol,
) -> sp.Expr:
    """A direction by its parts along theta_j and without direction."""
    return BlockSum(along(which, NEXT) * THETA[NEXT], NEXT) + BlockSum(random(which, PART) * RANDOM[PART], PART)


def named(prefix: str, which: sp.Symbol) -> sp.Expr:
    """A direction whose parts are families over the spectrum."""
    along, random = family(f"{prefix}along"), family(f"{prefix}random")
    return _direction(lambda e, j: along[e, j, X], lambda e, f: random[e, f, X], which)


def _record_rest(trace: Recorder) -> Parts:
    """The parts of what the spike leaves of the target."""
    trace.define("spike by its parts", SPIKE[SPIKES, X], named("", SPIKES), "in an eigenspace")
    trace.define(
        "rest of the target",
        family("theta_perp")[INDEX, X],
        BlockSum(ACROSS[INDEX, NEXT] * (THETA[NEXT] - BlockSum(GAMMA[SPIKES, NEXT] * SPIKE[SPIKES, X], SPIKES)), NEXT),
        "unit vectors along what the spike leaves of the target: $across$ is the inverse of the triangular $L$ with "
        "$LL^\\top=1-\\gamma^\\top\\gamma$",
        _SOURCE,
    )
    whole = trace.derive(
        "rest by its parts",
        family("theta_perp")[INDEX, X],
        computed(
            "substitute",
            "the spike by its parts",
            "rest of the target",
            "spike by its parts",
            by=lambda rest, v: canonical(_with_spike(rest, v)),
            test=equal(lambda rest, v: rest, Definition("v", (SPIKES, X), named("", SPIKES))),
        ),
        _SOURCE,
    )
    return part(whole, THETA, NEXT), part(whole, RANDOM, PART)


def _with_spike(expr: sp.Expr, v: sp.Expr) -> sp.Expr:
    return expr.xreplace({e: rename(v, {SPIKES: e.indices[0]}) for e in members(expr, SPIKE)})


def _record_product(trace: Recorder) -> sp.Expr:
    """The product of two directions: of spikes, of rests of the target, of one with the other."""
    for prefix, which, words in (("", SPIKES, "one"), ("other_", OTHER, "the other")):
        trace.define(f"{words} direction", sp.Symbol(f"{prefix}direction"), named(prefix, which), "in an eigenspace")
    return trace.derive(
        "product of directions",
        family("law")[SPIKES, OTHER, X],
        computed(
            "project",
            "in an eigenspace: $\\varrho^{vv}$ of two spikes, $\\varrho^{v\\perp}$ and $\\varrho^\\perp$ where one or "
            "both are rests of the target",
            "one direction",
            "the other direction",
            by=lambda one, other: canonical(inner(one, other)),
            test=equal(_by_components, *_COMPONENTS),
        ),
        _SOURCE,
    )


def members(expr: sp.Expr, unit: sp.IndexedBase) -> list[sp.Indexed]:
    return [e for e in expr.atoms(sp.Indexed) if e.base == unit]


def _put(
    expr: sp.Expr,
    unit: sp.IndexedBase,
    value: Callable[[sp.Expr], sp.Expr],
    units: tuple[sp.IndexedBase, ...] = (THETA, RANDOM),
) -> sp.Expr:
    """An expression linear in the members of units, with values for those of one of them, and without the others."""
    places = {e: sp.S.Zero for base in units for e in members(expr, base)}
    return expr.xreplace(places | {e: value(e.indices[0]) for e in members(expr, unit)})


def part(
    direction: sp.Expr,
    unit: sp.IndexedBase,
    which: sp.Symbol,
    units: tuple[sp.IndexedBase, ...] = (THETA, RANDOM),
) -> sp.Expr:
    """The coefficient of a member."""
    free = index("p")
    found = canonical(contract(_put(direction, unit, lambda i: sp.KroneckerDelta(i, free), units)))
    return rename(found, {free: which})


def inner(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The product at x of two directions linear in theta and epsilon, which have no product with each other."""
    free = index("p")
    first = protect(first, used_indices(second))
    along_theta = contract(_put(second, THETA, lambda i: TARGET[free, i, X]))
    along_random = contract(_put(second, RANDOM, lambda i: sp.KroneckerDelta(free, i) * TRACE[X]))
    target = _put(first, THETA, lambda i: rename(along_theta, {free: i}))
    return target + _put(first, RANDOM, lambda i: rename(along_random, {free: i}))


_COMPONENT = family("axis")
_COMPONENTS = (
    Definition("law_theta", (INDEX, NEXT, X), BlockSum(_COMPONENT[INDEX, AXIS, X] * _COMPONENT[NEXT, AXIS, X], AXIS)),
)


def _by_components(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """The same by components along orthonormal axes, of which epsilon has its own."""
    root = sp.sqrt(TRACE[X])
    target, random = (
        [_put(u, unit, component) for u in (first, second)]
        for unit, component in (
            (THETA, lambda i: _COMPONENT[i, AXIS, X]),
            (RANDOM, lambda i: sp.KroneckerDelta(i, AXIS) * root),
        )
    )
    return BlockSum(sp.Mul(*target), AXIS) + BlockSum(sp.Mul(*random), AXIS)
