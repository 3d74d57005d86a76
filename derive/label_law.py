"""The law of label and output given kappa, for any channel: what the averages over the output are taken over."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement

import sympy as sp

from derive.blocks import KAPPA, block_field
from derive.coefficients import ConditionalCoefficients
from derive.energetic import XI
from derive.expectation import Expectation
from derive.labels import FLIPS, PROBIT, IndexFunction, numbered
from derive.output import X, coordinates_of_kappa, directions_of
from derive.symbols import DELTA, MEAN, NOISE, NU0, NU2SQ
from derive.trace import Derivation, Recorder

LABEL, OUTPUT = sp.Symbol("y", real=True), sp.Symbol("omega", real=True)
FLIP = sp.Symbol("varphi", real=True)
LABEL_NOISE = sp.Symbol("varepsilon", real=True)
_CHANNEL = "[CUI24] App. C"


@lru_cache(maxsize=8)
def mixing(count: int) -> tuple[sp.Matrix, tuple[tuple[sp.Symbol, sp.Expr], ...]]:
    """Lower triangular L with ``L L^T = 1 - gamma gamma^T``, and the chi_i = 1 - gamma_1^2 - ... - gamma_i^2 in it.

    Raises ValueError where the identity fails.
    """
    gamma = numbered("gamma", count)
    rest = tuple(sp.Symbol(f"chi_{i + 1}", positive=True) for i in range(count))
    chi = (sp.S.One, *rest)

    def entry(i: int, j: int) -> sp.Expr:
        if i == j:
            return sp.sqrt(chi[i + 1] / chi[i])
        return -gamma[i] * gamma[j] / sp.sqrt(chi[j] * chi[j + 1]) if i > j else sp.S.Zero

    lower = sp.Matrix(count, count, entry)
    difference = lower * lower.T - sp.eye(count) + sp.Matrix(gamma) * sp.Matrix(gamma).T
    roots = {g: sp.sqrt(before - after) for g, before, after in zip(gamma, chi, rest, strict=False)}
    if difference.subs(roots).applyfunc(sp.simplify) != sp.zeros(count, count):
        raise ValueError(f"the mixing of {count} indices is not a root of 1 - gamma gamma^T")
    if count == 1:
        return lower.subs(rest[0], 1 - gamma[0] ** 2), ()
    bodies = (1 - sp.Add(*(g**2 for g in gamma[: i + 1])) for i in range(count))
    return lower, tuple(zip(rest, bodies, strict=True))


def indices_given_kappa(link: IndexFunction, spikes: int = 1) -> tuple[sp.Expr, ...]:
    """z_i = gamma_i kappa + (L t)_i with t standard normal, one per index of the link.

    Of a spike of several directions, the first one carries the alignment of a single index.
    """
    count, kappa = len(link.variables), coordinates_of_kappa(spikes)
    t = sp.Matrix(numbered("t", count))
    if count > 1 and spikes > 1:
        gamma, lower = _overlaps(spikes, count), _lower(count)
        return tuple((sp.Matrix([kappa]) * gamma[:, i] + lower[i, :] * t)[0] for i in range(count))
    lower = mixing(count)[0]
    return tuple(g * kappa[0] + (lower[i, :] * t)[0] for i, g in enumerate(numbered("gamma", count)))


def _overlaps(spikes: int, count: int) -> sp.Matrix:
    return sp.Matrix(spikes, count, lambda j, i: sp.Symbol(f"gamma_{j + 1}{i + 1}", real=True))


def _lower(count: int) -> sp.Matrix:
    return sp.Matrix(count, count, lambda i, j: sp.Symbol(f"L_{i + 1}{j + 1}", real=True) if j <= i else sp.S.Zero)


def _record_mixing(trace: Recorder, spikes: int, count: int) -> None:
    """What fixes L: chi in closed form for one direction of the spike, its square for several."""
    if count > 1 and spikes > 1:
        gamma, lower = _overlaps(spikes, count), _lower(count)
        rest = sp.eye(count) - gamma.T * gamma
        for i, j in combinations_with_replacement(range(count), 2):
            trace.record(f"mixing {j + 1}{i + 1}", (lower * lower.T)[j, i], rest[j, i], kind="definition",
                         source=_CHANNEL,
                         rule="$LL^T=1-\\gamma^T\\gamma$ with $\\gamma_{ji}=v_j\\cdot\\theta_i$: what the directions "
                         "of the spike leave of those of the target")  # fmt: skip
        return
    for number, (chi, body) in enumerate(mixing(count)[1], start=1):
        trace.record(f"chi {number}", chi, body, kind="definition", source=_CHANNEL,
                     rule="what the first indices leave of the squared length of the spike's direction")  # fmt: skip


def target_given_kappa(
    link: IndexFunction, coefficients: ConditionalCoefficients | None, spikes: int = 1
) -> Derivation:
    """The target's indices given kappa in R^spikes, and the Hermite coefficients of the clean label in t.

    coefficients: of a link of one index, in closed form where there is one.
    """
    count = len(link.variables)
    trace = Recorder("Target given $\\kappa$")
    _record_mixing(trace, spikes, count)
    for z, body in zip(link.variables, indices_given_kappa(link, spikes), strict=True):
        trace.record(f"{z} given kappa", z, body, kind="definition", source=_CHANNEL,
                     rule="overlap with a direction of the target, $\\gamma$ its alignment with the spike; $t$ are "
                     "independent standard normals")  # fmt: skip
    trace.record("clean label", _clean(count), link.expr, kind="definition", source=_CHANNEL, rule="the link")
    for label, function, body, rule in _hermite(coefficients, count, spikes):
        trace.record(label, function, body, kind="definition", source=_CHANNEL, rule=rule)
    return trace.finish()


def _clean(count: int) -> sp.Expr:
    """The clean label as a function of kappa and t."""
    return sp.Function("y_clean", real=True)(KAPPA, *numbered("t", count))


def _hermite(
    coefficients: ConditionalCoefficients | None, count: int, spikes: int
) -> list[tuple[str, sp.Expr, sp.Expr, str]]:
    """nu0, nu1 along every direction and nu2sq, each with its label and its rule."""
    rules = ("the mean of the clean label given $\\kappa$", "its linear coefficient in $t$", "the rest of its variance")
    names = directions_of("nu1", count)
    linear = [block_field(name)(KAPPA) for name in names]
    if coefficients is not None:
        (gamma,) = numbered("gamma", 1)
        place = {coefficients.s: gamma * coordinates_of_kappa(spikes)[0], coefficients.c: 1 - gamma**2}
        bodies = [e.subs(place) for e in (coefficients.mu0, coefficients.mu1, coefficients.mu2sq)]
    else:
        t, clean = numbered("t", count), _clean(count)
        rest = Expectation(clean**2, *t) - NU0(KAPPA) ** 2 - sp.Add(*(nu**2 for nu in linear))
        bodies = [Expectation(clean, *t), *(Expectation(x * clean, *t) for x in t), rest]
    functions = (NU0(KAPPA), *linear, NU2SQ(KAPPA))
    labels = ("nu0", *names, "nu2sq")
    return list(zip(labels, functions, bodies, (rules[0], *([rules[1]] * count), rules[2]), strict=True))


def averages_over_output(link: IndexFunction, form: str, *, flips: bool, probit: bool, noise: bool) -> Derivation:
    """What stands between the brackets: the law of label and output given kappa, and the scaled noise x.

    form: of the loss; the label noise of a "residual" loss is one Gaussian with the noise of the output.
    """
    trace = Recorder("Averages over label and output given $\\kappa$")
    count = len(link.variables)
    t, inner = numbered("t", count), numbered("n", count) if probit else ()
    label = _clean(count)
    if probit:
        noisy = link.at(*(z + sp.sqrt(PROBIT) * n for z, n in zip(link.variables, inner, strict=True)))
        label = sp.Function("y_probit", real=True)(KAPPA, *t, *inner)
        trace.record("label with noise inside the link", label, noisy, kind="definition", source=_CHANNEL,
                     rule="$n$ are standard normals, one for each index")  # fmt: skip
    channel = (FLIP * label if flips else label) + (sp.sqrt(NOISE) * LABEL_NOISE if noise else 0)
    trace.record("label of the channel", LABEL, channel, kind="definition", source=_CHANNEL,
                 rule=_channel_rule(flips, noise))  # fmt: skip
    centre, spread = _centre(count), DELTA(KAPPA)
    if noise and form == "residual":
        spread = DELTA(KAPPA) + NOISE
        clean = channel - sp.sqrt(NOISE) * LABEL_NOISE
        trace.record("residual of the output", OUTPUT - LABEL, centre + sp.sqrt(spread) * XI - clean, source=_CHANNEL,
                     rule="label noise and noise of the output are one Gaussian in law: "
                     "$\\Delta+\\sigma_{\\varepsilon}^2$ stands for $\\Delta$ in all averages of such a loss",
                     kind="definition")  # fmt: skip
    trace.record("x", X, XI / sp.sqrt(spread), kind="definition", source="Stein 1981, Ann. Stat. 9, 1135",
                 rule="the noise of the output over its variance: "
                 "$\\langle\\partial_\\omega F\\rangle=\\langle xF\\rangle$")  # fmt: skip
    variables = (*t, *inner, XI, *((LABEL_NOISE,) if noise else ()))
    average = _expectation(channel, centre + sp.sqrt(DELTA(KAPPA)) * XI, variables)
    trace.record("average over the output", sp.Symbol("avg_F"), average, kind="definition", source=_CHANNEL,
                 rule="any function of label and output averaged at fixed $\\kappa$")  # fmt: skip
    return trace.finish()


def _channel_rule(flips: bool, noise: bool) -> str:
    words = ["the label of a sample"]
    words += ["$\\varphi=-1$ with the probability of a flip, otherwise 1"] if flips else []
    words += ["$\\varepsilon$ standard normal"] if noise else []
    return ", ".join(words)


def _centre(count: int) -> sp.Expr:
    """The mean of the output given kappa and t."""
    slopes = zip(directions_of("slope", count), numbered("t", count), strict=True)
    return MEAN(KAPPA) + sp.Add(*(block_field(name)(KAPPA) * t for name, t in slopes))


def _expectation(label: sp.Expr, output: sp.Expr, variables: tuple[sp.Symbol, ...]) -> sp.Expr:
    """Of a function of label and output over the variables and the flip."""
    function = sp.Function("F")
    if FLIP not in label.free_symbols:
        return Expectation(function(label, output), *variables)
    kept, turned = (Expectation(function(label.subs(FLIP, sign), output), *variables) for sign in (1, -1))
    return (1 - FLIPS) * kept + FLIPS * turned


def misclassification(count: int) -> tuple[sp.Expr, Derivation]:
    """P(y f < 0) of clean labels +-1 of a target of ``count`` indices: the test error of a loss of the margin.

    Source: [CUI24] App. C; THEORY section 1.
    """
    trace = Recorder("Test error")
    missed = sp.erfc(_clean(count) * _centre(count) / sp.sqrt(2 * DELTA(KAPPA))) / 2
    error = Expectation(missed, KAPPA, *numbered("t", count))
    trace.record("test error", sp.Symbol("test_error"), error, kind="definition", source=_CHANNEL,
                 rule="$P(yf<0)$ for the clean label: given $\\kappa$ and $t$ the output is Gaussian with variance "
                 "$\\Delta$")  # fmt: skip
    return error, trace.finish()
