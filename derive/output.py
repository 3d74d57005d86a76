"""Averages of the envelope over the conditional output, and all their derivatives, for any convex loss.

Given kappa the output is ``omega = mean + slope.t + sqrt(Delta) xi``. With g = -dM/domega and h = -dg/domega, the
equations and their Newton steps need averages of monomials in g, h, t, ``x = xi/sqrt(Delta)`` and ``x^2 - 1/Delta``
only: dM/dV follows from the stationarity of the envelope (derive.replica.averages), and Stein's lemma,
``<d phi/d omega> = <phi x>``, removes every derivative of h, which a loss with kinks does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import sympy as sp

from derive.blocks import KAPPA, block_field
from derive.directions import directions_of
from derive.gaussian.expectation import Expectation
from derive.operations import computed
from derive.replica.averages import AT_PROX, ENVELOPE, RESPONSE, XI, G, sample_derivation
from derive.symbols import DELTA, V
from derive.trace import Claim, Derivation, Recorder

H = sp.Symbol("h", real=True)
X = sp.Symbol("x", real=True)
X2 = sp.Symbol("xx", real=True)  # x^2 - 1/Delta, the second Hermite polynomial: Stein's lemma applied twice
_SLOPE_OF_H = sp.Symbol("h_omega", real=True)
_FIELDS = {name: sp.Symbol(name, positive=True) for name in ("V", "mean", "Delta")}
_V0, _W = sp.Symbol("V_0", positive=True), sp.Symbol("omega_test", real=True)
_SOURCE = "THEORY section 4; [CUI24] App. C"


@dataclass(frozen=True)
class OutputAverages:
    """``monomials``: name -> monomial in M, g, h, t, x averaged given kappa, and last the loss at the prox, which is M
    without its distance; ``partials``: name -> field -> derivative.

    Fields are V, mean, Delta and the slopes; derivatives are written in the averages and Delta, functions of kappa.
    """

    directions: int
    monomials: Mapping[str, sp.Expr]
    partials: Mapping[str, Mapping[str, sp.Expr]]
    derivation: Derivation


def average(name: str) -> sp.Expr:
    """The average of that name as a function of kappa."""
    return block_field(name)(KAPPA)


def output_averages(directions: int = 1) -> OutputAverages:
    """Derive the averages that the saddle-point equations and their Jacobian need.

    directions: how many directions of the target lie beside the spike. Source: [CUI24] App. C; Stein (1981).
    """
    trace = Recorder("Averages over the conditional output", (sample_derivation(),))
    slope_in_v = trace.right_side("envelope in V")
    algebra = _Algebra(tuple(sp.Symbol(name, real=True) for name in directions_of("t", directions)), slope_in_v)
    at_prox = trace.right_side("loss at the prox").xreplace({RESPONSE: V(KAPPA)})
    first = {_name(AT_PROX): at_prox, _name(ENVELOPE): ENVELOPE}
    first |= {_name(p): p for p in (G, G**2, H, *(t * G for t in algebra.t))}
    monomials, partials = dict(first), {}
    for name, monomial in first.items():
        found = {field: algebra.derivative(monomial, field) for field in algebra.fields}
        for polynomial in found.values():
            monomials |= {_name(m): m for m in _monomials(polynomial)}
        partials[name] = MappingProxyType(
            {
                field: trace.derive(
                    f"d{name}/d{field}",
                    sp.Derivative(sp.Symbol(name), sp.Symbol(field)),
                    computed(
                        "differentiate",
                        "differentiation under the average and Stein's lemma",
                        "envelope in V",
                        by=lambda _, p=polynomial: _averaged(p),
                        test=Claim(lambda found, _, p=monomial, q=polynomial, f=field: algebra.sides(p, q, f, found)),
                    ),
                    _SOURCE,
                )
                for field, polynomial in found.items()
            }
        )
    del monomials[_name(AT_PROX)]
    ordered = dict(sorted(monomials.items(), key=lambda item: _place(item[1]))) | {_name(AT_PROX): at_prox}
    return OutputAverages(directions, MappingProxyType(ordered), MappingProxyType(partials), trace.finish())


@dataclass(frozen=True)
class _Algebra:
    """Derivatives of averages of polynomials in g, h, x and the t; ``slope_in_v``: dM/dV at fixed omega."""

    t: tuple[sp.Symbol, ...]
    slope_in_v: sp.Expr

    @property
    def fields(self) -> tuple[str, ...]:
        return ("V", "mean", *directions_of("slope", len(self.t)), "Delta")

    def derivative(self, p: sp.Expr, field: str) -> sp.Expr:
        """d<p>/d field as a polynomial whose average it is."""
        if field == "V":
            return self._stein(self._along_v(p))
        if field == "mean":
            return self._stein(self._along_omega(p))
        if field == "Delta":
            return self._heat(p)
        direction = self.t[directions_of("slope", len(self.t)).index(field)]
        return self._stein(direction * self._along_omega(p))

    def sides(self, p: sp.Expr, polynomial: sp.Expr, field: str, found: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """The average of p differentiated, and the result with averages of its monomials, for one smooth envelope."""
        place = {DELTA(KAPPA): _FIELDS["Delta"], V(KAPPA): _FIELDS["V"]}
        averages = {average(_name(m)): self._average(m) for m in _monomials(polynomial)}
        left = sp.Derivative(self._average(p), _FIELDS.get(field, sp.Symbol(field, positive=True)))
        right = found.xreplace(averages).xreplace(place)
        return tuple(sp.Subs(side, _V0, _FIELDS["V"]) for side in (left, right))

    def _average(self, monomial: sp.Expr) -> sp.Expr:
        """Over t and xi, of an envelope that is a polynomial in omega and moves with V as -g^2/2."""
        slopes = (sp.Symbol(name, positive=True) for name in directions_of("slope", len(self.t)))
        along = sp.Add(*(slope * t for slope, t in zip(slopes, self.t, strict=True)))
        centre = {_W: _FIELDS["mean"] + along + sp.sqrt(_FIELDS["Delta"]) * XI}
        at_v0 = sp.Add(*(sp.Rational(k + 2, 7 - k) * _W**k for k in range(1, 5)))
        envelope = at_v0 - (_FIELDS["V"] - _V0) * sp.diff(at_v0, _W) ** 2 / 2
        values = {ENVELOPE: envelope, G: -sp.diff(envelope, _W), H: sp.diff(envelope, _W, 2)}
        scaled = XI / sp.sqrt(_FIELDS["Delta"])
        moved = monomial.xreplace(values).xreplace(centre).xreplace({V(KAPPA): _FIELDS["V"]})
        return Expectation(moved.xreplace({X: scaled, X2: scaled**2 - 1 / _FIELDS["Delta"]}), *self.t, XI)

    def _along_omega(self, p: sp.Expr) -> sp.Expr:
        return (
            sp.diff(p, ENVELOPE) * -G + sp.diff(p, G) * -H + sp.diff(p, H) * _SLOPE_OF_H + sp.diff(p, X) / DELTA(KAPPA)
        )

    def _along_v(self, p: sp.Expr) -> sp.Expr:
        """dM/dV, and what follows from it by differentiating along omega."""
        of_envelope = self.slope_in_v
        of_g = -self._along_omega(of_envelope)
        of_h = -self._along_omega(of_g)
        return sp.diff(p, ENVELOPE) * of_envelope + sp.diff(p, G) * of_g + sp.diff(p, H) * of_h + sp.diff(p, V(KAPPA))

    def _heat(self, p: sp.Expr) -> sp.Expr:
        """d<p>/dDelta = <d^2 p/d omega^2>/2, one derivative moved by Stein's lemma where h would be differentiated."""
        once = self._along_omega(p)
        if once.has(_SLOPE_OF_H):
            return self._stein(once * X / 2)
        return self._stein(self._along_omega(once) / 2)

    def _stein(self, p: sp.Expr) -> sp.Expr:
        """<q dh/domega> = <q h x> - <h dq/domega>."""
        p = sp.expand(p)
        q = p.coeff(_SLOPE_OF_H)
        if q == 0:
            return p
        rest = sp.expand(p - q * _SLOPE_OF_H)
        moved = sp.expand(rest + q * H * X - H * self._along_omega(q))
        return sp.expand(moved.subs(X**2, X2 + 1 / DELTA(KAPPA)))


def _monomials(polynomial: sp.Expr) -> tuple[sp.Expr, ...]:
    """Products of g, h, t, x in a polynomial, without coefficients."""
    return tuple(_split(term)[1] for term in sp.Add.make_args(sp.expand(polynomial)) if term != 0)


def _split(term: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(coefficient in numbers and Delta, monomial)."""
    coefficient, monomial = term.as_independent(*(s for s in term.free_symbols if s.is_real and s != KAPPA))
    return coefficient, monomial


def _averaged(polynomial: sp.Expr) -> sp.Expr:
    return sp.Add(*(c * average(_name(m)) for c, m in map(_split, sp.Add.make_args(sp.expand(polynomial))) if m != 1))


def _letters(monomial: sp.Expr) -> list[str]:
    """The factors of a monomial, repeated by their powers, in the order t, M, l, g, h, x."""
    powers = monomial.as_powers_dict()
    letters = [str(symbol) for symbol, power in powers.items() for _ in range(int(power))]
    return sorted(letters, key=lambda letter: ("tMlghx".index(letter[0]), letter))


def _name(monomial: sp.Expr) -> str:
    """avg_M, avg_g, avg_gg, avg_tgh, ..."""
    return "avg_" + "".join(_letters(monomial))


def _place(monomial: sp.Expr) -> tuple[int, int, str, str]:
    """Monomials without t first, short ones first; those that differ in the direction of t only stand together."""
    letters = _letters(monomial)
    along = [letter for letter in letters if letter.startswith("t")]
    rest = "".join(letters[len(along) :])
    return len(along), len(rest), rest, "".join(along)
