"""The features of every readout block as functions of kappa, and how the free energy changes with their bias."""

from __future__ import annotations

from typing import Literal

import sympy as sp

from derive.blocks import KAPPA, Definition, MatrixInverse, block_field, coordinates_of_kappa, family, index
from derive.coefficients import ConditionalCoefficients
from derive.directions import directions_of
from derive.operations import computed, equal, put_in
from derive.random_loss import random_loss
from derive.saddle import SaddleSystem
from derive.symbols import MU0, MU1, MU2SQ, SYMMETRIC
from derive.tangent import Tangent, tangent_name
from derive.trace import Derivation, Recorder

B = index("b")
SHIFT, VARIANCE, READOUT = family("s"), family("c"), family("u")
STRENGTH, BULK = sp.Symbol("r", nonnegative=True), sp.Symbol("c", positive=True)
BIAS = sp.Symbol("bias", real=True)
COEFFICIENTS = ("mu0", "mu1", "mu2sq")
_EQUIVALENCE = "[CUI24] Result 3.2, App. B"

Origin = Literal["spike", "step", "plain"]


def features_given_kappa(of: ConditionalCoefficients, title: str, origin: Origin, spikes: int = 1) -> Derivation:
    """The coefficients of the features of every block as functions of kappa, in R^spikes.

    origin: of the spike: given ("spike"), left by a gradient "step", whose map gives the variance, or none ("plain").
    """
    trace = Recorder(title, (of.derivation,))
    spiked = origin != "plain"
    trace.define(
        "shift",
        SHIFT[B],
        _along_spike(spikes) * int(spiked) + BIAS,
        source="[CUI24] Result 3.1",
        rule="the mean pre-activation of block $b$ given $\\kappa=v\\cdot x$, with the bias of all neurons"
        if spiked and spikes == 1
        else "the mean pre-activation of block $b$ given $\\kappa_j=v_j\\cdot x$ by its loadings along the "
        "directions of the spike, with the bias of all neurons; $v_1$ carries the alignment of a single index"
        if spiked
        else "the mean pre-activation without a spike",
    )
    if origin != "step":
        bulk = 1 + READOUT[B] ** 2 * (BULK - 1) if spiked else sp.S.One
        trace.define(
            "variance",
            VARIANCE[B],
            bulk,
            "the squared norm of the bulk rows of block $b$",
            "[CUI24] Result 3.1",
        )
    place = {of.s: SHIFT[B], of.c: VARIANCE[B]}
    for name, function, rule in (
        ("mu0", MU0, "the mean of the features of block $b$"),
        ("mu1", MU1, "their linear coefficient for rows of unit norm"),
        ("mu2sq", MU2SQ, "the rest of their variance"),
    ):
        trace.derive(
            f"{name} of a block",
            function(B, KAPPA),
            computed(
                "substitute",
                f"{rule}, given $\\kappa$",
                of.labels[name],
                by=lambda body: body.subs(place),
                test=put_in(lambda: place),
            ),
            _EQUIVALENCE,
        )
    return trace.finish()


def _along_spike(spikes: int) -> sp.Expr:
    """What the spike adds to the pre-activation of block b."""
    if spikes == 1:
        return READOUT[B] * STRENGTH * KAPPA
    loadings = (family(name)[B] for name in directions_of("loading", spikes))
    return sp.Add(*(loading * kappa for loading, kappa in zip(loadings, coordinates_of_kappa(spikes), strict=True)))


def bias_condition(system: SaddleSystem) -> tuple[sp.Expr, Derivation]:
    """dPhi/dbias of a bias of all neurons, in the slopes d_mu0, d_mu1, d_mu2sq of the coefficients in their shift.

    At a solution the order parameters are stationary, so that only the coefficients vary. Source: [CUI24] App. C.8.
    """
    trace = Recorder("Trained bias", (system.derivation,))
    calculus = Tangent(
        {definition.name: definition for definition in system.fields},
        symmetric=SYMMETRIC,
        partials=system.partials,
        functions=frozenset(COEFFICIENTS),
    )
    slope = trace.derive(
        "d/dbias",
        sp.S.Zero,
        computed(
            "differentiate",
            "stationarity of the free energy in the bias, which shifts every pre-activation: "
            "$\\partial_s$ is a derivative of a coefficient in its shift",
            "free energy",
            by=calculus.of,
            test=equal(lambda phi: sp.Derivative(phi, BIAS), *_shifted(system)),
        ),
        "[CUI24] App. C.8",
    )
    return slope, trace.finish()


def _shifted(system: SaddleSystem) -> tuple[Definition | MatrixInverse, ...]:
    """Coefficients that are linear in the bias, with the slopes that the derivative names; and what knows them."""

    def coefficient(name: str) -> Definition:
        at_zero, slope = (block_field(each)(B, KAPPA) for each in (f"{name}_0", tangent_name(name)))
        return Definition(name, (B,), at_zero + BIAS * slope)

    matrices = tuple(Definition(e.unknown, e.indices, e.body) for e in system.equations if e.unknown in ("S", "M"))
    loss = random_loss(system.directions).averages if system.partials else ()
    return (*map(coefficient, COEFFICIENTS), *system.fields, *matrices, *system.inverses, *loss)
