"""One sample in the replicated partition function: n -> 0, then zero temperature [THEORY section 11, step 4].

The outputs of the replicas are Gaussian with covariance Delta + delta_rs V/beta_T, so they are independent given one
standard normal xi. The average over a replica becomes, at zero temperature, the Moreau envelope of the loss.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.minimum import Minimum
from derive.operations import AVERAGE_WRITTEN, COMPOSED, computed, equal
from derive.replica.matrices import REPLICAS, per_replica
from derive.replica.network import TEMPERATURE, R, S
from derive.symbols import ALPHA
from derive.trace import Claim, Derivation, Recorder

XI = sp.Symbol("xi", real=True)
CENTRE, SPREAD, RESPONSE = (
    sp.Symbol("omega", real=True),
    sp.Symbol("Delta", positive=True),
    sp.Symbol("V", positive=True),
)
MEAN, PRIVATE = sp.Symbol("mean", real=True), sp.IndexedBase("eta", real=True)
LABEL, OUTPUT = sp.Symbol("y", real=True), sp.Symbol("w", real=True)
LOSS, WEIGHT = sp.Function("ell", real=True), sp.Function("I", positive=True)
ENVELOPE, G = sp.Symbol("M", real=True), sp.Symbol("g", real=True)
AT_PROX = sp.Symbol("l", real=True)  # the loss of the minimiser
_SOURCE = "[CUI24] App. C"


@lru_cache(maxsize=1)
def sample_derivation() -> Derivation:
    """From the average over one sample to the Moreau envelope and its slopes."""
    trace = Recorder("One sample in the replicated partition function")
    _record_weight(trace)
    _record_no_replicas(trace)
    _record_zero_temperature(trace)
    _record_slopes(trace)
    return trace.finish()


def _record_weight(trace: Recorder) -> None:
    """The Boltzmann weight of one replica, independent of the others given xi."""
    trace.define(
        "independent given xi",
        sp.Symbol("omega^r"),
        MEAN + sp.sqrt(SPREAD) * XI + sp.sqrt(RESPONSE / TEMPERATURE) * PRIVATE[R],
        "outputs with one standard normal $\\xi$ in common and one of its own, $\\eta^r$, for each replica, $\\bar f$ "
        "with its part along $t$",
    )
    trace.derive(
        "their covariance",
        sp.Symbol("C^rs"),
        computed(
            "average",
            "second moment over $\\xi$ and $\\eta$: that of the replica-symmetric outputs",
            "independent given xi",
            by=_checked_covariance,
            test=equal(_averaged_pair),
        ),
        _SOURCE,
        shown=False,
    )
    trace.given("energy of an output", sp.Function("E")(OUTPUT), LOSS(LABEL, OUTPUT), "the loss of the fit")
    trace.derive(
        "weight of a replica",
        WEIGHT(XI),
        computed(
            "average",
            "the Boltzmann weight of a sample, averaged over $\\eta^r$: $\\omega=\\bar f+\\sqrt{\\Delta}\\,\\xi$",
            "energy of an output",
            "independent given xi",
            by=_boltzmann,
            test=Claim(_over_private_noise),
        ),
        _SOURCE,
    )


def _record_no_replicas(trace: Recorder) -> None:
    """n replicas, and n -> 0."""
    trace.derive(
        "all replicas",
        sp.Symbol("E^n"),
        computed(
            "average",
            "the replicas are independent given $\\xi$ and have equal weights",
            "weight of a replica",
            by=lambda _: Expectation(WEIGHT(XI) ** REPLICAS, XI),
            test=AVERAGE_WRITTEN,
        ),
        _SOURCE,
        shown=False,
    )
    trace.derive(
        "number of replicas to zero",
        sp.Symbol("log E"),
        computed(
            "take the limit n -> 0",
            "the derivative in $n$ at $n=0$",
            "all replicas",
            by=per_replica,
            before=lambda e: sp.Subs(sp.Derivative(e, REPLICAS), REPLICAS, 0),
        ),
        _SOURCE,
    )


def _record_zero_temperature(trace: Recorder) -> None:
    """The weight becomes the Moreau envelope."""
    trace.derive(
        "zero temperature",
        sp.log(WEIGHT(XI)),
        computed(
            "apply Laplace's method",
            "Laplace's method as $\\beta_T\\to\\infty$: the exponent at its minimum, to leading order",
            "weight of a replica",
            by=laplace,
            test=Claim(_cold_logarithm),
        ),
        _SOURCE,
    )
    trace.derive(
        "Moreau envelope",
        sp.Function("M_V")(LABEL, CENTRE),
        computed(
            "divide", "what is left over $-\\beta_T$", "zero temperature", by=lambda e: -e / TEMPERATURE, test=COMPOSED
        ),
        _SOURCE,
    )
    trace.derive(
        "energetic part of a sample",
        sp.Symbol("Phi_energetic") / ALPHA,
        computed(
            "substitute",
            "the envelope in place of the weight, averaged over $\\xi$",
            "number of replicas to zero",
            "Moreau envelope",
            by=lambda logarithm, envelope: Expectation(envelope.subs(CENTRE, MEAN + sp.sqrt(SPREAD) * XI), XI),
            test=Claim(_cold_weights),
        ),
        _SOURCE,
        shown=False,
    )


def _record_slopes(trace: Recorder) -> None:
    """g = -dM/domega and dM/dV: at the minimum only the explicit dependence counts."""
    _record_minimiser(trace)
    trace.derive(
        "loss at the prox",
        AT_PROX,
        computed(
            "subtract",
            "the envelope $M$ without $(w-\\omega)^2/(2V)$, with $w$ at the minimiser",
            "exponent",
            "minimiser",
            by=lambda phi, place: ENVELOPE - sp.cancel(_distance(phi).subs(OUTPUT, place)),
            test=Claim(lambda found, phi, place: (-_distance(phi).subs(OUTPUT, place), found.subs(ENVELOPE, 0))),
        ),
        _SOURCE,
    )
    trace.derive(
        "envelope in V",
        sp.Derivative(sp.Symbol("M_V"), RESPONSE),
        computed(
            "differentiate",
            "$\\partial_V M_V$, the explicit dependence at the minimiser",
            "exponent",
            "minimiser",
            by=lambda phi, place: sp.cancel(sp.diff(phi, RESPONSE).subs(OUTPUT, place)),
            test=Claim(
                lambda found, phi, _: _at_minimum(
                    sp.Derivative(_minimum(phi), RESPONSE), found.xreplace({G: (OUTPUT - CENTRE) / RESPONSE}), phi
                )
            ),
        ),
        _SOURCE,
    )


def _record_minimiser(trace: Recorder) -> None:
    """By g, the slope of the envelope."""
    trace.derive(
        "exponent",
        sp.Function("phi")(OUTPUT),
        computed(
            "read off",
            "what the envelope minimises",
            "Moreau envelope",
            by=lambda envelope: envelope.args[0],
            test=COMPOSED,
        ),
        shown=False,
    )
    trace.derive(
        "g of the envelope",
        G,
        computed(
            "differentiate",
            "$g=-\\partial_\\omega M_V$: $w$ is stationary, so that only the explicit dependence counts",
            "exponent",
            by=lambda phi: sp.cancel(-sp.diff(phi, CENTRE)),
            test=Claim(lambda g, phi: _at_minimum(-sp.Derivative(_minimum(phi), CENTRE), g, phi)),
        ),
        _SOURCE,
    )
    trace.derive(
        "minimiser",
        sp.Symbol("prox"),
        computed(
            "solve",
            "solved for the minimiser $w$, the proximal map",
            "g of the envelope",
            by=lambda g: sp.expand(sp.solve(g - G, OUTPUT)[0]),
            test=Claim(lambda place, g: (g.xreplace({OUTPUT: place}), G)),
        ),
        _SOURCE,
    )


def _distance(phi: sp.Expr) -> sp.Expr:
    """What the envelope minimises without the loss."""
    return phi.replace(LOSS, lambda *_: sp.S.Zero)


def _averaged_pair(output: sp.Expr) -> sp.Expr:
    """<omega^r omega^s> - mean^2 of two replicas, r and s being 0 or 1."""
    own = sp.symbols("eta_0 eta_1", real=True)

    def noise(replica: sp.Symbol) -> sp.Expr:
        return sp.Add(*(sp.KroneckerDelta(replica, k) * eta for k, eta in enumerate(own)))

    pair = (output - MEAN).xreplace({PRIVATE[R]: noise(R)}) * (output - MEAN).xreplace({PRIVATE[R]: noise(S)})
    return Expectation(pair, XI, *own)


def _over_private_noise(weight: sp.Expr, loss: sp.Expr, output: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The average of the Boltzmann weight over eta, and the integral over the output."""
    eta = sp.Symbol("eta_own", real=True)
    left = Expectation(sp.exp(-TEMPERATURE * loss.xreplace({OUTPUT: output})).xreplace({PRIVATE[R]: eta}), eta)
    return left, sp.Subs(weight, CENTRE, MEAN + sp.sqrt(SPREAD) * XI)


def _cold_logarithm(found: sp.Expr, integral: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The logarithm of the integral over beta_T as that grows, and what was found over it."""
    return sp.Limit(sp.log(integral) / TEMPERATURE, TEMPERATURE, sp.oo), found / TEMPERATURE


def _cold_weights(found: sp.Expr, logarithm: sp.Expr, envelope: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """-1/beta_T times the averaged logarithm of weights exp(-beta_T M)."""
    there = sp.Subs(envelope, CENTRE, MEAN + sp.sqrt(SPREAD) * XI)
    return -logarithm.replace(WEIGHT, lambda _: sp.exp(-TEMPERATURE * there)) / TEMPERATURE, found


def _minimum(phi: sp.Expr) -> sp.Expr:
    return Minimum(phi, OUTPUT)


def _at_minimum(left: sp.Expr, right: sp.Expr, phi: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Both sides at the omega for which any given w is the minimum of phi."""
    place = OUTPUT + RESPONSE * sp.Derivative(LOSS(LABEL, OUTPUT), OUTPUT)
    return sp.Subs(left, CENTRE, place), sp.Subs(right, CENTRE, place)


def _covariance(output: sp.Expr) -> sp.Expr:
    """<omega^r omega^s> - mean^2 over independent standard normals xi, eta^1, ..., eta^n."""
    pair = sp.expand((output - MEAN) * (output.subs(R, S) - MEAN))
    own = pair.coeff(PRIVATE[R] * PRIVATE[S])
    return pair.coeff(XI, 2) + own * sp.KroneckerDelta(R, S)


def _checked_covariance(output: sp.Expr) -> sp.Expr:
    """The same; raises ValueError where it is not the replica-symmetric one."""
    found = _covariance(output)
    if sp.expand(found - SPREAD - RESPONSE * sp.KroneckerDelta(R, S) / TEMPERATURE) != 0:
        raise ValueError(f"outputs {output} have the covariance {found}")
    return found


def _boltzmann(loss: sp.Expr, output: sp.Expr) -> sp.Expr:
    """int dw N(w; omega, V/beta_T) exp(-beta_T loss), the Gaussian law being that of the private noise."""
    variance = output.coeff(PRIVATE[R]) ** 2
    density = sp.exp(-((OUTPUT - CENTRE) ** 2) / (2 * variance)) / sp.sqrt(2 * sp.pi * variance)
    return sp.Integral(density * sp.exp(-TEMPERATURE * loss), (OUTPUT, -sp.oo, sp.oo))


def laplace(integral: sp.Expr) -> sp.Expr:
    """log int dw c exp(-beta_T phi(w)) -> -beta_T min phi as beta_T -> infinity, to leading order.

    Raises ValueError where the exponent is not proportional to beta_T.
    """
    integrand, (variable, *_) = integral.function, integral.limits[0]
    exponent = sp.Add(
        *(f.exp for f in sp.Mul.make_args(sp.powsimp(integrand, deep=False, combine="exp")) if isinstance(f, sp.exp))
    )
    function = sp.expand(-exponent / TEMPERATURE)
    if function.has(TEMPERATURE):
        raise ValueError(f"the exponent {exponent} is not proportional to {TEMPERATURE}")
    return -TEMPERATURE * Minimum(_squares(function), variable)


def _squares(function: sp.Expr) -> sp.Expr:
    """The Gaussian part as one square again."""
    loss = sp.Add(*function.atoms(LOSS(LABEL, OUTPUT).func))
    return sp.factor(function - loss) + loss
