"""One readout under a penalty: its energy by the proximal map, its response, norm and mean [THEORY section 16]."""

from __future__ import annotations

from typing import Any

import sympy as sp

from derive.gaussian.expectation import Expectation
from derive.operations import close_all, computed
from derive.output import average
from derive.symbols import BETA, DELTA, RIDGE
from derive.symbols import MEAN as FIELD_MEAN
from derive.symbols import V as FIELD_V
from derive.trace import Claim, Recorder

READOUT, Z = sp.symbols("a z", real=True)
PENALTY = sp.Function("penalty", real=True)(READOUT)
CURVATURE, FORCE = sp.symbols("k chi", positive=True)
PUSH, ENERGY = sp.symbols("eta e", real=True)  # the common field, the energy of a readout
WIDTH, VARIANCE = sp.symbols("V Delta", positive=True)
MEAN = sp.Symbol("mean", real=True)  # of the argument of the proximal map
READOUT_MEAN, OVERLAP = sp.symbols("readout m", real=True)
SHARE = sp.Symbol("fraction", positive=True)
RESPONSE, NORM = sp.symbols("T Q2", positive=True)  # beta V2 and Q2 of the block
EXCESS, RANDOM_FIELD, PULL = sp.symbols("excess random_field pull", real=True)
_NAMES = ("avg_M", "avg_g", "avg_h", "avg_gg", "avg_gh", "avg_hx", "avg_ggh", "avg_ghx", "avg_hxx")
AVERAGES = {name: sp.Symbol(name, real=True) for name in _NAMES}
FIELDS = {"V": WIDTH, "Delta": VARIANCE, "mean": MEAN}
_ARGUMENT = ("width of the proximal map", "variance of its argument", "mean of its argument")
SOURCE = "THEORY section 16"
# c of a penalty c a^2/2, of which all averages are explicit, to put the steps to the test
_WEIGHT = sp.Symbol("c", positive=True)


def record_energy(trace: Recorder) -> None:
    """The energy of one readout by the Moreau envelope of the penalty."""
    trace.assume(
        "objective of a readout",
        sp.Symbol("E_a"),
        PENALTY + (RIDGE + CURVATURE) * READOUT**2 / 2 - (sp.sqrt(FORCE) * Z + PUSH) * READOUT,
        "the others act on a readout by a curvature $k$, by a Gaussian field of variance $\\chi$ and by one that all "
        "readouts of the block have in common, $\\eta$: $k_b=\\hat{V}^{(2)}_b+S_{bb}$, of $\\hat{q}^{(2)}$, "
        "$\\hat{q}^{(1)}$ and the sources the field, of the mean features the common one",
        source=SOURCE,
        assumption="rows Gaussian given the law, and no feature with an even part where readouts have a mean",
    )
    trace.define(
        "width of the proximal map", WIDTH, 1 / (RIDGE + CURVATURE), "one over the whole curvature beside the penalty"
    )
    trace.define(
        "variance of its argument",
        VARIANCE,
        FORCE / (RIDGE + CURVATURE) ** 2,
        "$\\omega=V(\\sqrt{\\chi}\\,z+\\eta)$",
    )
    trace.define("mean of its argument", MEAN, PUSH / (RIDGE + CURVATURE), "of order $1/\\sqrt{d}$ for an even penalty")
    trace.derive(
        "proximal problem",
        sp.Symbol("E_a"),
        computed(
            "complete the square",
            "in $V$ and $\\omega=\\bar{\\omega}+\\sqrt{\\Delta}\\,z$: the exponent of the proximal map of the penalty",
            "objective of a readout",
            *_ARGUMENT,
            by=lambda body, *_: _completed(body),
            test=Claim(lambda found, body, *of: (body - PENALTY, _at(found, of) - PENALTY)),
        ),
        SOURCE,
    )
    trace.derive(
        "energy of a readout",
        sp.Symbol("e"),
        computed(
            "average",
            "its minimum over $a$ is the Moreau envelope of the penalty without $\\omega^2/(2V)$; average over $z$",
            "proximal problem",
            by=_averaged_energy,
            test=Claim(lambda found, body: (of_quadratic(found), Expectation(_minimum_of_quadratic(body), Z))),
        ),
        SOURCE,
    )


def record_response(trace: Recorder) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """T, Q2 and the mean: how the energy changes with the field, the curvature and the common field."""
    found = [
        trace.derive(
            label,
            unknown,
            computed(
                "differentiate",
                f"the derivative of the energy in ${sp.latex(moved)}$, {words}",
                "energy of a readout",
                *_ARGUMENT,
                *(f"davg_M/d{field}" for field in FIELDS),
                by=lambda energy, *steps, m=moved, f=factor: f * _slope(energy, steps[:3], steps[3:], m),
                test=Claim(
                    lambda found, energy, *steps, m=moved, f=factor: (
                        f * sp.Derivative(_at(of_quadratic(energy), steps[:3]), m),
                        _at(of_quadratic(found), steps[:3]),
                    )
                ),
            ),
            SOURCE,
        )
        for label, unknown, factor, moved, words in (
            ("T of the readouts", RESPONSE, -2 * BETA * SHARE, FORCE, "$-2\\beta\\pi_b$ times it: the response"),
            ("Q2 of the readouts", NORM, 2 * SHARE, CURVATURE, "$2\\pi_b$ times it: the mean square"),
            ("mean of the readouts", READOUT_MEAN, sp.S.NegativeOne, PUSH, "times $-1$"),
        )
    ]
    return found[0], found[1], found[2]


def plain(body: Any) -> Any:
    """Averages and fields of kappa as symbols: a readout has no kappa."""
    return sp.sympify(body).xreplace(
        {average(name): symbol for name, symbol in AVERAGES.items()}
        | {FIELD_V: WIDTH, DELTA: VARIANCE, FIELD_MEAN: MEAN}
    )


def _completed(body: Any) -> Any:
    """penalty + (a - omega)^2/(2V) - omega^2/(2V) by V, Delta and mean, from an objective in k, chi and eta."""
    smooth = _by_width(body - PENALTY)
    (centre,) = sp.solve(sp.diff(smooth, READOUT), READOUT)
    return PENALTY + (READOUT - centre) ** 2 / (2 * WIDTH) + sp.simplify(smooth.subs(READOUT, centre))


def _by_width(body: Any) -> Any:
    """k, chi and eta by V, Delta and mean."""
    return body.subs({CURVATURE: 1 / WIDTH - RIDGE, FORCE: VARIANCE / WIDTH**2, PUSH: MEAN / WIDTH}, simultaneous=True)


def _averaged_energy(body: Any) -> Any:
    """The envelope under its name, and the rest at its average."""
    rest = sp.Add(*(term for term in sp.Add.make_args(body) if not term.has(READOUT)))
    closed, _ = close_all(Expectation(sp.expand(rest), Z))
    return AVERAGES["avg_M"] + sp.factor(closed)


def _slope(energy: Any, of: tuple[Any, ...], slopes: tuple[Any, ...], moved: sp.Symbol) -> Any:
    """The derivative of the energy in k, chi or eta, through V, Delta and mean, by those of the averaged envelope."""
    of_envelope = [plain(slope) for slope in slopes]
    total = sp.S.Zero
    for name, found, envelope in zip((WIDTH, VARIANCE, MEAN), of, of_envelope, strict=True):
        inner = _by_width(sp.diff(found, moved))
        total += (sp.diff(energy, name) + sp.diff(energy, AVERAGES["avg_M"]) * envelope) * inner
    return sp.factor(sp.simplify(total))


def _at(body: Any, of: tuple[Any, ...]) -> Any:
    """V, Delta and mean at their definitions by k, chi and eta."""
    return body.subs(dict(zip((WIDTH, VARIANCE, MEAN), of, strict=True)), simultaneous=True)


def averages_of_quadratic() -> dict[str, Any]:
    """Those of a penalty c a^2/2, by name."""
    gain = _WEIGHT / (1 + _WEIGHT * WIDTH)
    square = VARIANCE + MEAN**2
    values = {"avg_M": gain * square / 2, "avg_g": -gain * MEAN, "avg_h": gain, "avg_gg": gain**2 * square}
    values |= {"avg_gh": -(gain**2) * MEAN, "avg_ggh": gain**3 * square, "avg_ghx": -(gain**2)}
    return values | dict.fromkeys(("avg_hx", "avg_hxx"), sp.S.Zero)


def of_quadratic(body: Any) -> Any:
    """The averages of an expression at those of a quadratic penalty."""
    values = averages_of_quadratic()
    return body.xreplace({AVERAGES[name]: value for name, value in values.items()})


def _minimum_of_quadratic(body: Any) -> Any:
    """The minimum over a of an objective with a quadratic penalty."""
    whole = body.replace(lambda e: e == PENALTY, lambda _: _WEIGHT * READOUT**2 / 2)
    (place,) = sp.solve(sp.diff(whole, READOUT), READOUT)
    return whole.subs(READOUT, place)
