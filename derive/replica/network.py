"""The outputs of the replicas given the directions that the features know: mean, covariance, replica symmetry.

With the features replaced by their conditional Gaussian equivalent the outputs of n readouts on one input are jointly
Gaussian, and everything about the readouts that they depend on are the overlaps [THEORY section 11, step 1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp

from derive.blocks import (
    KAPPA,
    BlockSum,
    Definition,
    block_field,
    coordinates_of_kappa,
    family,
    family_name,
    index,
    rename,
)
from derive.calculus import contract
from derive.directions import directions_of
from derive.gaussian.expectation import Expectation
from derive.operations import COMPOSED, computed, equal
from derive.symbols import M_, MU0, MU1, MU2SQ, MU_C, NORM, Q1, Q2, RIDGE
from derive.trace import Claim, Recorder

B, C, NEURON = index("b"), index("c"), index("k")
R, S = index("r"), index("s")  # replicas
TEMPERATURE = sp.Symbol("beta_T", positive=True)  # the inverse temperature
WIDTH, DIMENSION = sp.symbols("p d", positive=True)
READOUT, FEATURE = family("a"), family("phi")
PRE, NOISE, ACROSS = family("h"), family("xi_b"), family("h_perp")
OF_NORM = family("delta_c")  # of a neuron: sqrt(d) times the relative change of its squared norm
ACROSS_T = sp.Symbol("t", real=True)
EQUIVALENCE = "[CUI24] Result 3.2, App. C"
CENTRED = tuple(Definition(name, (B, R), sp.S.Zero) for name in ("h_perp", "xi_b"))


def outputs_of_replicas(trace: Recorder, directions: int, spikes: int, norms: bool = False) -> tuple[sp.Expr, ...]:
    """Derive mean and covariance of the outputs of all replicas given kappa in R^spikes and t in R^directions.

    norms: whether the norms of the rows fluctuate. Returns the slopes along the rest of the target, functions of kappa.
    """
    kappas, zeta = coordinates_of_kappa(spikes), [family(name) for name in directions_of("zeta", spikes)]
    psi = [family(name) for name in directions_of("psi", directions)]
    slopes = tuple(block_field(name)(KAPPA) for name in directions_of("slope", directions))
    _record_partition_function(trace)
    _record_output(trace, norms)
    _record_components(trace, kappas, zeta)
    _record_slopes(trace, psi, slopes)
    _record_covariance(trace, slopes)
    return slopes


def _record_partition_function(trace: Recorder) -> None:
    """The objective of the fit, its partition function, and what the replica method makes of it."""
    i, k = sp.symbols("i k", integer=True)
    samples, neurons = (
        sp.Symbol("N", integer=True, positive=True),
        sp.Symbol("p", integer=True, positive=True),
    )
    losses = sp.Sum(sp.Function("ell")(sp.IndexedBase("y")[i], sp.IndexedBase("f")[i]), (i, 1, samples))
    trace.given(
        "training objective",
        sp.Symbol("H"),
        losses + RIDGE / 2 * sp.Sum(sp.IndexedBase("a")[k] ** 2, (k, 1, neurons)),
        "the loss of the fit on $N=\\alpha d$ samples and the ridge on the readout",
    )
    trace.define(
        "partition function",
        sp.Symbol("Z"),
        sp.Integral(sp.exp(-TEMPERATURE * sp.Symbol("H")), sp.Symbol("a")),
        "the objective as an energy, at the inverse temperature $\\beta_T$",
    )
    mean = sp.Function("Z_n")(sp.Symbol("n"))
    trace.assume(
        "replica method",
        sp.Symbol("free_energy"),
        -sp.Limit(sp.Derivative(mean, sp.Symbol("n")) / (TEMPERATURE * sp.Symbol("d")), TEMPERATURE, sp.oo),
        "the minimum of the objective over $d$ to be its average over the data, by $\\langle\\log Z\\rangle=\\partial_n"
        "\\langle Z^n\\rangle$ at $n=0$: $Z_n=\\langle Z^n\\rangle$ is computed for $n$ readouts, the replicas",
        source="[CUI24] App. C",
        assumption="the objective concentrates, and the limits of large $d$ and of $n=0$ may be exchanged",
    )


def _record_output(trace: Recorder, norms: bool) -> None:
    """f^r = (1/sqrt p) sum_k a_k^r phi_k with Gaussian features, summed over the neurons of each block."""
    trace.given(
        "readout",
        family("f")[R],
        BlockSum(BlockSum(READOUT[B, NEURON, R] * FEATURE[B, NEURON], NEURON), B) / sp.sqrt(WIDTH),
        "the output of readout $a^r$, a sum over blocks and their neurons",
    )
    features = MU0(B, KAPPA) + MU1(B, KAPPA) * PRE[B, NEURON] + sp.sqrt(MU2SQ(B, KAPPA)) * NOISE[B, NEURON]
    words = "the features of block $b$ to be, for learning, their mean, a linear part in $h_k=w_k\\cdot x$ and "
    words += "independent noise $\\xi_k$"
    if norms:
        features += MU_C(B, KAPPA) * OF_NORM[B, NEURON] / sp.sqrt(DIMENSION)
        words += "; the squared norm of a row is $c_b(1+\\delta_k/\\sqrt{d})$ and moves the mean by "
        words += "$\\mu_c=c\\,\\partial_c\\mu_0$ to first order"
    trace.assume(
        "features",
        FEATURE[B, NEURON],
        features,
        words,
        source=EQUIVALENCE,
        assumption="conditional Gaussian equivalence, given $\\kappa$",
    )
    of_norm = OF_NORM[B, NEURON] / sp.sqrt(DIMENSION)
    summed = (sp.S.One, PRE[B, NEURON], NOISE[B, NEURON], *([of_norm] if norms else []))
    names = _overlaps(norms)
    trace.define(
        "overlaps",
        sp.Tuple(*names),
        sp.Tuple(*(BlockSum(READOUT[B, NEURON, R] * each, NEURON) / sp.sqrt(WIDTH) for each in summed)),
        "sums of the readout over the neurons of a block: alone, with $h_k$ and with $\\xi_k$"
        + ", and with $\\delta_k/\\sqrt{d}$" * norms,
    )
    trace.derive(
        "output of a replica",
        family("f")[R],
        computed(
            "substitute",
            "the features put in, the sums over neurons named",
            "readout",
            "features",
            "overlaps",
            by=_by_blocks,
            test=Claim(_neuron_by_neuron),
        ),
        EQUIVALENCE,
    )


def _overlaps(norms: bool) -> tuple[sp.Expr, ...]:
    """Names of the sums over the neurons of a block, for one replica."""
    return (M_[B, R], PRE[B, R], NOISE[B, R], *([NORM[B, R]] if norms else []))


def _by_blocks(output: sp.Expr, features: sp.Expr, overlaps: sp.Tuple) -> sp.Expr:
    """The output with the features put in and every sum over neurons replaced by its name."""
    inserted = put(output, {"phi": lambda *_: features})
    sums = dict(zip(overlaps, _overlaps(len(overlaps) > 3), strict=True))
    (over_blocks,) = [node for node in inserted.atoms(BlockSum) if node.bound == B]
    inner, rest = over_blocks.body, inserted / over_blocks
    found = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(inner.body)):
        constant, inside = term.as_independent(READOUT, PRE, NOISE, OF_NORM, DIMENSION, as_Add=False)
        found += constant * sums[BlockSum(inside, inner.bound) * rest]
    return BlockSum(found, over_blocks.bound)


def _neuron_by_neuron(
    found: sp.Expr, output: sp.Expr, features: sp.Expr, overlaps: sp.Tuple
) -> tuple[sp.Expr, sp.Expr]:
    """The output with the features in it, and the result with the sums in the place of their names."""
    names = dict(zip(_overlaps(len(overlaps) > 3), overlaps, strict=True))
    return put(output, {"phi": lambda *_: features}), found.xreplace(names)


def put(expr: sp.Expr, places: dict[str, Callable[..., sp.Expr]]) -> sp.Expr:
    """Members of families replaced by functions of their indices."""
    return expr.replace(lambda e: family_name(e) in places, lambda e: places[str(family_name(e))](*e.indices))


def _linear_coefficient(output: sp.Expr, overlap: sp.Expr) -> sp.Expr:
    """<t f>: of the terms of the output only the rest of the input knows t."""
    terms = sp.Add.make_args(sp.expand(output.body))
    return BlockSum(sp.Add(*(put(e, {"h_perp": lambda *_: overlap}) for e in terms if e.has(ACROSS))), output.bound)


def _along_t(output: sp.Expr, overlap: sp.Expr) -> sp.Expr:
    """The output where the rest of the input is t times its overlap and a part without t."""
    return output.xreplace({ACROSS[B, R]: overlap * ACROSS_T + family("h_rest")[B, R]})


def _record_components(trace: Recorder, kappas: Sequence[sp.Expr], zeta: Sequence[sp.IndexedBase]) -> None:
    """The input split along the spike."""
    along = sp.Add(*(kappa * each[B, R] for kappa, each in zip(kappas, zeta, strict=True)))
    trace.define(
        "components",
        PRE[B, R],
        along + ACROSS[B, R],
        "the input split into its components $\\kappa$ along the spike and the rest, "
        "$\\zeta_b=v\\cdot W_b^Ta_b/\\sqrt{p}$",
    )
    trace.derive(
        "output given kappa",
        family("f")[R],
        computed(
            "substitute",
            "the split put in",
            "output of a replica",
            "components",
            by=lambda output, split: put(output, {"h": lambda *_: split}),
            test=equal(lambda output, _: output, Definition("h", (B, R), trace.right_side("components"))),
        ),
        EQUIVALENCE,
    )


def _record_slopes(trace: Recorder, psi: Sequence[sp.IndexedBase], slopes: Sequence[sp.Expr]) -> None:
    """The linear coefficients of the output in the components t along the rest of the target."""
    for each, slope, number in zip(psi, slopes, numbers(len(slopes)), strict=True):
        trace.define(
            f"overlap along the target{number}",
            sp.Symbol("<t h_perp>"),
            each[B, R],
            "the rest of the input has the component $t$ along the target: $\\langle t\\,h_{\\perp,b}\\rangle="
            "\\psi_b=\\theta_{\\perp}\\cdot W_b^Ta_b/\\sqrt{p}$",
        )
        trace.derive(
            f"slope of a replica{number}",
            slope.func(KAPPA, R),
            computed(
                "average",
                "the linear coefficient of the output in $t$",
                "output given kappa",
                f"overlap along the target{number}",
                by=_linear_coefficient,
                test=equal(lambda f, overlap: Expectation(ACROSS_T * _along_t(f, overlap), ACROSS_T)),
            ),
            EQUIVALENCE,
        )


def _record_covariance(trace: Recorder, slopes: Sequence[sp.Expr]) -> None:
    """Of the outputs of two replicas, given kappa and t."""
    trace.define(
        "second moments",
        sp.Tuple(sp.Symbol("<h h>"), sp.Symbol("<xi xi>")),
        sp.Tuple(Q1[B, C, R, S], sp.KroneckerDelta(B, C) * Q2[B, R, S]),
        "$Q^{(1)}_{bc}=a_b^TW_bPW_c^Ta_c/p$ with $P$ the projector across the spike, $Q^{(2)}_b=a_b\\cdot a_b/p$, "
        "between the readouts of two replicas",
    )
    trace.derive(
        "covariance given kappa",
        sp.Symbol("<f^r f^s>"),
        computed(
            "average",
            "the second moment over the rest of the input and the noise",
            "output given kappa",
            "second moments",
            by=_second_moment,
            test=equal(_by_slopes),
        ),
        EQUIVALENCE,
    )
    names = [f"slope of a replica{number}" for number in numbers(len(slopes))]
    trace.derive(
        "covariance given kappa and t",
        sp.Symbol("C^rs"),
        computed(
            "subtract",
            "what the components $t$ explain is taken out: they are standard normal and independent",
            "covariance given kappa",
            *names,
            by=lambda whole, *_: whole - sp.Add(*(f.func(KAPPA, R) * f.func(KAPPA, S) for f in slopes)),
            test=COMPOSED,
        ),
        EQUIVALENCE,
    )


def _second_moment(output: sp.Expr, moments: sp.Tuple) -> sp.Expr:
    """<f^r f^s> of the centred Gaussian parts: products of equal families by their second moments."""
    other = rename(output.body, {B: C, R: S})
    total = sp.S.Zero
    for moment, name in zip(moments, (ACROSS, NOISE), strict=True):
        mine, its = (sp.Add(*(t for t in sp.Add.make_args(sp.expand(e)) if t.has(name))) for e in (output.body, other))
        pair = (mine / name[B, R]) * (its / name[C, S]) * moment
        total += contract(BlockSum(pair, C)) if moment.has(sp.KroneckerDelta) else sp.S.Zero
        total = total if moment.has(sp.KroneckerDelta) else total + BlockSum(BlockSum(pair, B), C)
    return _tidied(total)


def _by_slopes(output: sp.Expr, moments: sp.Tuple) -> sp.Expr:
    """<f^r f^s> of outputs linear in Gaussians: slopes in them, by their covariances."""
    total = sp.S.Zero
    for moment, name in zip(moments, (ACROSS, NOISE), strict=True):
        mine = sp.Derivative(output, name[B, R], evaluate=False)
        its = sp.Derivative(rename(output, {R: S}), name[C, S], evaluate=False)
        total += BlockSum(BlockSum(mine * its * moment, B), C)
    return total


def _tidied(total: sp.Expr) -> sp.Expr:
    """What is left of a contracted sum as a sum over b."""
    parts = []
    for term in sp.Add.make_args(total):
        if term.free_symbols & {B, C}:
            (free,) = term.free_symbols & {B, C}
            term = BlockSum(rename(term, {free: B}), B)
        parts.append(term)
    return sp.Add(*parts)


def numbers(count: int) -> tuple[str, ...]:
    return ("",) if count == 1 else tuple(f", direction {i + 1}" for i in range(count))
