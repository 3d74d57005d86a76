"""The law of label and output given kappa, for any channel: what the averages over the output are taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement

import sympy as sp

from derive.blocks import KAPPA, block_field, coordinates_of_kappa
from derive.channel import ChannelLaw, S
from derive.coefficients import ConditionalCoefficients
from derive.directions import directions_of
from derive.gaussian.expectation import Expectation
from derive.labels import FLIPS, PROBIT, IndexFunction, numbered
from derive.operations import AVERAGE_WRITTEN, computed, put_in
from derive.output import X
from derive.replica.averages import XI
from derive.symbols import DELTA, LABEL_NU0, LABEL_NU2SQ, MEAN, NOISE, NU0, NU2SQ
from derive.trace import Claim, Derivation, Operation, Recorder

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
            trace.define(
                f"mixing {j + 1}{i + 1}",
                (lower * lower.T)[j, i],
                rest[j, i],
                source=_CHANNEL,
                rule="$LL^T=1-\\gamma^T\\gamma$ with $\\gamma_{ji}=v_j\\cdot\\theta_i$: what the directions "
                "of the spike leave of those of the target",
            )
        return
    for number, (chi, body) in enumerate(mixing(count)[1], start=1):
        trace.define(
            f"chi {number}",
            chi,
            body,
            source=_CHANNEL,
            rule="what the first indices leave of the squared length of the spike's direction",
        )


def target_given_kappa(
    link: IndexFunction, coefficients: ConditionalCoefficients | None, spikes: int = 1
) -> Derivation:
    """The target's indices given kappa in R^spikes, and the Hermite coefficients of the clean label in t.

    coefficients: of a link of one index, in closed form where there is one.
    """
    count = len(link.variables)
    trace = Recorder("Target given $\\kappa$", () if coefficients is None else (coefficients.derivation,))
    _record_mixing(trace, spikes, count)
    for z, body in zip(link.variables, indices_given_kappa(link, spikes), strict=True):
        trace.define(
            f"{z} given kappa",
            z,
            body,
            source=_CHANNEL,
            rule="overlap with a direction of the target, $\\gamma$ its alignment with the spike; $t$ are "
            "independent standard normals",
        )
    trace.given("clean label", clean_label(count), link.expr, "the link")
    for label, function, operation in _hermite(coefficients, count, spikes):
        trace.derive(label, function, operation, _CHANNEL)
    return trace.finish()


def clean_label(count: int) -> sp.Expr:
    """The clean label as a function of kappa and t."""
    return sp.Function("y_clean", real=True)(KAPPA, *numbered("t", count))


_RULES = (
    "the mean of the clean label given $\\kappa$",
    "its linear coefficient in $t$",
    "the rest of its variance",
)
_Step = tuple[str, sp.Expr, Operation]


def _hermite(coefficients: ConditionalCoefficients | None, count: int, spikes: int) -> Iterator[_Step]:
    """nu0, nu1 along every direction and nu2sq, each with its label and how it is computed."""
    names = directions_of("nu1", count)
    linear = [block_field(name)(KAPPA) for name in names]
    return _written(count, names, linear) if coefficients is None else _closed(coefficients, spikes, names, linear)


def _closed(
    coefficients: ConditionalCoefficients, spikes: int, names: Sequence[str], linear: Sequence[sp.Expr]
) -> Iterator[_Step]:
    """Those of a link whose conditional coefficients are known."""
    (gamma,) = numbered("gamma", 1)
    place = {coefficients.s: gamma * coordinates_of_kappa(spikes)[0], coefficients.c: 1 - gamma**2}
    labels, functions = ("nu0", *names, "nu2sq"), (NU0(KAPPA), *linear, NU2SQ(KAPPA))
    for name, label, function, rule in zip(("mu0", "mu1", "mu2sq"), labels, functions, _RULES, strict=True):
        known = coefficients.labels[name]
        put = computed("substitute", rule, known, by=lambda body: body.subs(place), test=put_in(lambda: place))
        yield label, function, put


def _written(count: int, names: Sequence[str], linear: Sequence[sp.Expr]) -> Iterator[_Step]:
    """Those of any link, as averages over t."""
    t, clean = numbered("t", count), clean_label(count)
    squares = NU0(KAPPA) ** 2 + sp.Add(*(nu**2 for nu in linear))
    rules = (_RULES[0], *([_RULES[1]] * count))
    for label, function, weight, rule in zip(
        ("nu0", *names), (NU0(KAPPA), *linear), (sp.S.One, *t), rules, strict=True
    ):

        def weighted(_: sp.Expr, weight: sp.Expr = weight) -> sp.Expr:
            return Expectation(weight * clean, *t)

        yield label, function, computed("average", rule, "clean label", by=weighted, test=AVERAGE_WRITTEN)

    def rest(*_: sp.Expr) -> sp.Expr:
        return Expectation(clean**2, *t) - squares

    needed = ("clean label", "nu0", *names)
    yield "nu2sq", NU2SQ(KAPPA), computed("average", _RULES[2], *needed, by=rest, test=AVERAGE_WRITTEN)


def averages_over_output(
    link: IndexFunction, form: str, *, flips: bool, probit: bool, noise: bool, channel: ChannelLaw | None = None
) -> Derivation:
    """What stands between the brackets: the law of label and output given kappa, and the scaled noise x.

    form: of the loss; the label noise of a "residual" loss is one Gaussian with the noise of the output. channel: the
    law of a label that is drawn given the link.
    """
    trace = Recorder("Averages over label and output given $\\kappa$")
    label, inside = _record_label(trace, link, flips=flips, probit=probit, noise=noise, drawn=channel is not None)
    variables = (*inside, XI)
    _record_scaled_noise(trace, len(link.variables), DELTA(KAPPA) + NOISE * int(noise and form == "residual"))
    trace.derive(
        "average over the output",
        sp.Symbol("avg_F"),
        computed(
            "average",
            "any function of label and output averaged at fixed $\\kappa$",
            label,
            "output given kappa",
            by=lambda y, omega: _expectation(
                lambda label: sp.Function("F")(label, omega),
                y,
                (*variables, *((LABEL_NOISE,) if noise else ())),
                channel,
            ),
            test=AVERAGE_WRITTEN,
        ),
        _CHANNEL,
    )
    return trace.finish()


def label_given_kappa(
    link: IndexFunction, *, flips: bool, probit: bool, channel: ChannelLaw | None = None
) -> Derivation:
    """The Hermite coefficients in t of a label that is drawn: all that the square loss knows of it.

    channel: the law of a label that is drawn given the link. Gaussian noise that is added is left out.
    """
    trace = Recorder("Label given $\\kappa$")
    count, drawn = len(link.variables), channel is not None
    sample, inside = _record_label(trace, link, flips=flips, probit=probit, noise=False, drawn=drawn)
    names, t = directions_of("label_nu1", count), numbered("t", count)
    linear = [block_field(name)(KAPPA) for name in names]

    def averaged(label: sp.Expr, weight: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
        return _expectation(weight, label, inside, channel)

    functions = zip(("label_nu0", *names), (LABEL_NU0(KAPPA), *linear), (sp.S.One, *t), strict=True)
    for name, function, by in functions:

        def moment(label: sp.Expr, by: sp.Expr = by) -> sp.Expr:
            return averaged(label, lambda y: by * y)

        rule = "the mean of the label given $\\kappa$" if by == 1 else "its linear coefficient in $t$"
        trace.derive(name, function, computed("average", rule, sample, by=moment, test=AVERAGE_WRITTEN), _CHANNEL)
    squares = LABEL_NU0(KAPPA) ** 2 + sp.Add(*(nu**2 for nu in linear))
    rest = computed(
        "average",
        "the rest of its variance",
        sample,
        by=lambda label: averaged(label, lambda y: y**2) - squares,
        test=AVERAGE_WRITTEN,
    )
    trace.derive("label_nu2sq", LABEL_NU2SQ(KAPPA), rest, _CHANNEL)
    return trace.finish()


def _record_label(
    trace: Recorder, link: IndexFunction, *, flips: bool, probit: bool, noise: bool, drawn: bool
) -> tuple[str, tuple[sp.Symbol, ...]]:
    """The label of a sample, or what a channel draws it from: the name of that step, the normals inside the link."""
    count = len(link.variables)
    t, inner = numbered("t", count), numbered("n", count) if probit else ()
    label = sp.Function("s_star", real=True)(KAPPA, *t) if drawn else clean_label(count)
    trace.given("value of the link" if drawn else "clean label", label, link.expr, "the link")
    if probit:
        noisy = link.at(*(z + sp.sqrt(PROBIT) * n for z, n in zip(link.variables, inner, strict=True)))
        label = sp.Function("y_probit", real=True)(KAPPA, *t, *inner)
        trace.given("label with noise inside the link", label, noisy, "$n$ are standard normals, one for each index")
    if drawn:
        name, rule = "parameter of the channel", "the channel draws the label with the probability $P(y|s)$"
        trace.given(name, S, label, rule, _CHANNEL)
    else:
        name, factor = "label of a sample", FLIP if flips else 1
        noisy = factor * label + (sp.sqrt(NOISE) * LABEL_NOISE if noise else 0)
        trace.given(name, LABEL, noisy, _label_rule(flips, noise), _CHANNEL)
    return name, (*t, *inner)


def _record_scaled_noise(trace: Recorder, count: int, spread: sp.Expr) -> None:
    """The output, and its noise x over the variance ``spread`` that it has together with the label's."""
    trace.define(
        "output given kappa",
        OUTPUT,
        centre_of_output(count) + sp.sqrt(DELTA(KAPPA)) * XI,
        "mean, slope along $t$ and standard deviation of the output",
        _CHANNEL,
    )
    if spread.has(NOISE):
        trace.derive(
            "residual of the output",
            OUTPUT - LABEL,
            computed(
                "add variances",
                "label noise and noise of the output are one Gaussian in law: "
                "$\\Delta+\\sigma_{\\varepsilon}^2$ stands for $\\Delta$ in all averages of such a loss",
                "output given kappa",
                "label of a sample",
                by=_one_gaussian,
                test=Claim(_second_moments),
            ),
            _CHANNEL,
        )
    trace.define(
        "x",
        X,
        XI / sp.sqrt(spread),
        source="Stein 1981, Ann. Stat. 9, 1135",
        rule="the noise of the output over its variance: $\\langle\\partial_\\omega F\\rangle=\\langle xF\\rangle$",
    )


def _one_gaussian(output: sp.Expr, label: sp.Expr) -> sp.Expr:
    """Output minus label, the independent Gaussian terms of both as one."""
    difference = sp.expand(output - label)
    noises = (XI, LABEL_NOISE)
    variance = sp.Add(*(difference.coeff(noise) ** 2 for noise in noises))
    return difference.subs(dict.fromkeys(noises, 0)) + sp.sqrt(variance) * XI


def _second_moments(result: sp.Expr, output: sp.Expr, label: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """E[(omega - y)^2] over both noises, and over the one that stands for them: Gaussians of the same mean."""
    return Expectation((output - label) ** 2, XI, LABEL_NOISE), Expectation(result**2, XI)


def _label_rule(flips: bool, noise: bool) -> str:
    words = ["what is observed"]
    words += ["$\\varphi=-1$ with the probability of a flip, otherwise 1"] if flips else []
    words += ["$\\varepsilon$ standard normal"] if noise else []
    return ", ".join(words)


def centre_of_output(count: int) -> sp.Expr:
    """The mean of the output given kappa and t."""
    slopes = zip(directions_of("slope", count), numbered("t", count), strict=True)
    return MEAN(KAPPA) + sp.Add(*(block_field(name)(KAPPA) * t for name, t in slopes))


def _expectation(
    function: Callable[[sp.Expr], sp.Expr],
    label: sp.Expr,
    variables: tuple[sp.Symbol, ...],
    channel: ChannelLaw | None,
) -> sp.Expr:
    """Of a function of the label over the variables, the flip, and what a channel draws."""
    if channel is not None:
        return Expectation(channel.average(function(LABEL), LABEL, label), *variables)
    if FLIP not in label.free_symbols:
        return Expectation(function(label), *variables)
    kept, turned = (function(label.subs(FLIP, sign)) for sign in (1, -1))
    if kept == turned:
        return Expectation(kept, *variables)
    if kept == -turned:
        return (1 - 2 * FLIPS) * Expectation(kept, *variables)
    return (1 - FLIPS) * Expectation(kept, *variables) + FLIPS * Expectation(turned, *variables)
