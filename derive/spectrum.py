"""Spectral laws: where the bulk's covariances lie, and how trace, spike and target are spread over them [THEORY 10].

One index x runs over the points of a spectrum. ``Sigma[b, x]`` is the covariance of the rows of block b at x, the
weight ``law_tr[x]`` makes the trace, and ``law_vv``, ``law_vo``, ``law_oo`` (matrices for several directions) say where
the spike v and the rest theta_perp of the target lie. Nothing else tells a quadrature node from an eigenvalue
of a given matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import sympy as sp

from derive.blocks import family, index
from derive.directions import norm_weight_names, weight_name

B, X = index("b"), index("x")
#: What stands for a penalty on the readout: a ridge beside that of the model, the variance of a random field, and a
#: field that all readouts of a block have in common.
STAND_IN = ("excess", "random_field", "pull")
LawName = Literal["isotropic", "penalised", "norms", "stretched", "matrix", "neurons", "inputs"]


@dataclass(frozen=True)
class SpectralLaw:
    """The law of a bulk: its points, covariances and weights.

    title: words for the title of a derivation; over: the index of the points, () where there is one; covariance: of
    block b at x; trace: weight of the trace at x; aligned: whether spike and target have weights of their own,
    otherwise every direction sees the trace's; rows: "gaussian" given the law (T is extremised over), "given", a
    matrix of which the points are the squared singular values (the potential is then exact), "neurons", the same for
    several blocks, whose points are pairs of rows, or "stretched", whose points are samples of the step that made
    them; assumption, source: of the rows; norms: whether their norms vary from neuron to neuron, which the readout
    can align with; stand_in: whether each block has a ridge and fields of its own, which stand for a penalty.
    """

    name: LawName
    title: str
    over: tuple[sp.Symbol, ...]
    covariance: sp.Expr
    trace: sp.Expr
    aligned: bool
    rows: Literal["gaussian", "given", "neurons", "stretched"]
    assumption: str
    source: str
    norms: bool = False
    stand_in: bool = False

    def between(self, first: int, second: int, spikes: int, directions: int) -> sp.Expr:
        """The weight between two directions; those of the spike come first, then those of the target beside it."""
        if self.aligned:
            return family(weight_name(first, second, spikes, directions))[self.over]
        return self.trace if first == second else sp.S.Zero

    def with_norm(self, place: int, block: sp.Symbol, spikes: int, directions: int) -> sp.Expr:
        """The weight between a direction and the norms of a block's rows, where these are given."""
        names = norm_weight_names(directions, spikes)
        return family(names[place])[(block, *self.over)]


def plain_law(law: SpectralLaw) -> SpectralLaw:
    """The isotropic law with the same averages over kappa as another one."""
    return NORMS if law.norms else ISOTROPIC


def given_names(law: SpectralLaw, directions: int = 1) -> tuple[str, ...]:
    """The families that a law takes as given, beside its weights: of the stand-in for a penalty, and of norms."""
    return (*stand_in_names(law), *norm_names(law, directions))


def stand_in_names(law: SpectralLaw) -> tuple[str, ...]:
    """What stands for a penalty, where something does: it moves with the unknowns."""
    return STAND_IN if law.stand_in else ()


def norm_names(law: SpectralLaw, directions: int = 1) -> tuple[str, ...]:
    """What a law says of the norms of the rows: how much they vary; of given rows their weights with each other and
    with directions; of rows that a step has moved also the sums over samples that the norms go with.
    """
    if not law.norms:
        return ()
    if law.rows == "stretched":
        return ("chi", "along", "earlier", "tie", "tie_last", "swap", "of_block")
    if law.rows in ("given", "neurons"):
        return (*norm_weight_names(directions), "law_nn")
    return ("chi",)


def is_along_spectrum(name: str) -> bool:
    """Whether the last index of what a law is given is one over its points, or over the samples of steps."""
    return name.startswith("law_") or name in ("Sigma", "spectrum", "sample", "along", "earlier", "of_step")


def weight_names(law: SpectralLaw, directions: int = 1, spikes: int = 1) -> tuple[str, ...]:
    """Names of all weights of a law: of the trace, and between all pairs of directions. None for one point."""
    if not law.over:
        return ()
    count = spikes + directions
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    kinds = ("law_vv", "law_vo", "law_oo")
    named = sorted((weight_name(i, j, spikes, directions) for i, j in pairs), key=lambda n: (kinds.index(n[:6]), n))
    return (str(law.trace.base.label), *named)


ISOTROPIC = SpectralLaw(
    "isotropic",
    "",
    (),
    sp.S.One,
    sp.S.One,
    False,
    "gaussian",
    "isotropic Gaussian bulk rows, all dimensions proportional",
    "[CUI24] App. D; [LOU24]",
)
PENALISED = SpectralLaw(
    "penalised",
    "a penalty on the readout",
    (),
    sp.S.One,
    sp.S.One,
    False,
    "gaussian",
    "isotropic Gaussian bulk rows, all dimensions proportional",
    "[CUI24] App. D; THEORY section 16",
    stand_in=True,
)
NORMS = SpectralLaw(
    "norms",
    "rows of unequal norms",
    (),
    sp.S.One,
    sp.S.One,
    False,
    "gaussian",
    "isotropic Gaussian bulk rows whose norms vary independently of their directions, all dimensions proportional",
    "THEORY section 5",
    norms=True,
)
STRETCHED = SpectralLaw(
    "stretched",
    "stretched bulk",
    (X,),
    family("sample")[index("p"), index("q"), X],
    family("law_tr")[X],
    True,
    "stretched",
    "Gaussian bulk rows, all dimensions proportional; the mean resolvent of the samples' matrix by leaving one out",
    "THEORY section 5",
    norms=True,
)
GIVEN = SpectralLaw(
    "matrix",
    "given bulk",
    (X,),
    family("spectrum")[X],
    family("law_rows")[X],
    True,
    "given",
    "none: the singular values of the bulk are given",
    "[CUI24] eq. (108)-(116); THEORY section 4",
    norms=True,
)
NEURONS = SpectralLaw(
    "neurons",
    "given bulk of several blocks",
    (index("i"), index("j")),
    family("gram")[index("i"), index("j")],
    family("gram")[index("i"), index("j")],
    True,
    "neurons",
    "none: the rows of the bulk are given",
    "[CUI24] eq. (108)-(116); THEORY section 10",
    norms=True,
)
INPUTS = SpectralLaw(
    "inputs",
    "structured inputs",
    (X,),
    family("Sigma")[B, X],
    family("law_tr")[X],
    True,
    "gaussian",
    "Gaussian inputs of given covariance, rows without further structure, all dimensions proportional",
    "THEORY section 10",
    norms=True,
)

LAWS: Mapping[str, SpectralLaw] = MappingProxyType(
    {law.name: law for law in (ISOTROPIC, PENALISED, NORMS, STRETCHED, GIVEN, NEURONS, INPUTS)}
)
