"""The symbols of a derivation with their names in physics and statistics, and the numbers that a model gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy
from sympy.core.function import AppliedUndef

from derive.language.catalogue import lookup
from derive.language.links import link_of
from derive.trace import Derivation
from giantstep.draw.formulas import OWN
from giantstep.law.derivation import ModelDerivation
from giantstep.spec.model import Model

_NUMBERED = re.compile(r"(\w+?)(?:_\d+)+")


@dataclass(frozen=True)
class Symbol:
    """latex: as it is written; meaning: in words, mathematics between dollar signs; names: of the symbols of the
    derivation that stand for it; key: of the model, where the number is given there.
    """

    latex: str
    meaning: str
    names: tuple[str, ...]
    key: str = ""


@dataclass(frozen=True)
class Entry:
    """A row of the table of one model: value is empty where the model gives none."""

    latex: str
    meaning: str
    value: str


SYMBOLS = (
    Symbol(r"d,\ p,\ n", "input dimension, number of neurons, samples of the fit", ("d", "p", "n", "N")),
    Symbol(r"n_{0}", r"samples of the gradient step, $\alpha_{0} d$", ("n_0",)),
    Symbol(r"\alpha", "sample complexity of the fit: samples over input dimension, $n/d$", ("alpha",), "fit.samples"),
    Symbol(r"\alpha_{0}", "sample complexity of the gradient step, $n_{0}/d$", ("alpha_0",), "step.samples"),
    Symbol(r"\beta", "width: neurons over input dimension, $p/d$", ("beta",), "network.width"),
    Symbol(r"\lambda", "ridge: the penalty on the readout, of Tikhonov or weight decay", ("ridge",), "fit.ridge"),
    Symbol(r"\tilde{\eta}", r"learning rate of the giant step, $\eta/d$", ("eta_tilde", "eta"), "step.learning_rate"),
    Symbol("A", r"size of the step, $\tilde{\eta}/\beta$", ("A",)),
    Symbol(r"\sigma", "activation of the neurons", ("sigma",), "network.activation"),
    Symbol(r"\mathsf{b}", "bias of the neurons", ("bias",), "network.bias"),
    Symbol("u_{b}", "readout at initialisation of block $b$, the neurons that share a value", ("u", "ubar")),
    Symbol(r"\pi_{b}", "fraction of the neurons in block $b$", ("fraction",)),
    Symbol(
        r"\sigma_{\star}",
        "link: the target is a function of overlaps with few directions",
        ("sigma_star",),
        "target.link",
    ),
    Symbol(r"\sigma_{\varepsilon}^{2}", "variance of the label noise", ("noise",), "target.noise"),
    Symbol(r"p_{\mathrm{flip}}", "probability that a label is flipped", ("flips",), "target.flips"),
    Symbol(r"\tau^{2}", "variance of the noise inside the link", ("probit",), "target.probit"),
    Symbol("r", "strength of the spike: how far the step moves the first layer along one direction $v$", ("r",)),
    Symbol(r"\gamma", r"alignment: overlap of the spike's direction with that of the target", ("gamma",)),
    Symbol(r"\ell_{b j}", "loadings: strength of block $b$ along direction $j$ of the spike", ("loading",)),
    Symbol("c_{b}", "bulk variance: mean squared norm of the rows of block $b$ beside the spike", ("c",)),
    Symbol(r"\kappa", r"projection of an input on the spike, $v\cdot x$: standard normal", ("kappa",)),
    Symbol("t", "projection on what the spike leaves of the target: standard normal", ("t",)),
    Symbol("s_{b}", r"mean pre-activation of block $b$ given $\kappa$", ("s",)),
    Symbol(r"\mu_{0,b}", r"mean of the features given $\kappa$", ("mu0", "mu_0")),
    Symbol(r"\mu_{1,b}", r"linear coefficient of the features given $\kappa$ (Gaussian equivalence)", ("mu1", "mu_1")),
    Symbol(r"\mu_{\star,b}^{2}", r"variance of the features that acts as noise, given $\kappa$", ("mu2sq", "mu_2")),
    Symbol(
        r"\nu_{0},\ \nu_{1},\ \nu_{\star}^{2}",
        r"the same three of the clean label given $\kappa$",
        ("nu0", "nu1", "nu2sq"),
    ),
    Symbol(
        r"\nu_{0}^{y},\ \nu_{1}^{y},\ (\nu_{\star}^{y})^{2}",
        r"the same three of the label that is drawn, given $\kappa$",
        ("label_nu0", "label_nu1", "label_nu2sq"),
    ),
    Symbol("m_{b}", "magnetisation: overlap of the readout with the constant vector", ("m",)),
    Symbol(r"\zeta_{b}", "overlap of the student with the spike's direction", ("zeta",)),
    Symbol(r"\psi_{b}", "overlap of the student with the rest of the teacher", ("psi",)),
    Symbol("o_{b}", "overlap of the readout with the norms of the rows", ("norm",)),
    Symbol("Q^{(1)}_{b c}", "self-overlap (Edwards-Anderson order parameter) of the student through the bulk", ("Q1",)),
    Symbol("Q^{(2)}_{b}", "self-overlap of the readout: its squared norm over $p$", ("Q2",)),
    Symbol(
        "V^{(1)}_{b c},\\ V^{(2)}_{b}",
        "responses (susceptibilities) of these overlaps to small changes of the data",
        ("V1", "V2"),
    ),
    Symbol(
        r"\hat{\zeta},\ \hat{\psi},\ \hat{q},\ \hat{V}",
        "conjugate order parameters (Lagrange multipliers)",
        ("zeta_hat", "psi_hat", "Q1_hat", "Q2_hat", "V1_hat", "V2_hat", "m_hat"),
    ),
    Symbol(
        "T_{b}",
        "trace of the resolvent over the neurons of block $b$; of one block, the Marchenko-Pastur equation fixes it",
        ("T",),
    ),
    Symbol("M_{b c}", "the same trace through the rows of the bulk", ("M",)),
    Symbol(r"\bar{f}(\kappa)", r"mean output of the network given $\kappa$", ("mean",)),
    Symbol(r"f_{\perp}(\kappa)", r"slope of the mean output in $t$ given $\kappa$", ("slope",)),
    Symbol(r"\Delta(\kappa)", r"variance of the output that neither $\kappa$ nor $t$ explains", ("Delta",)),
    Symbol(r"V(\kappa)", r"response of the output to its own label, the width of the proximal map", ("V",)),
    Symbol(r"\omega", "output of the network on a sample that its readout has not seen (cavity field)", ("omega",)),
    Symbol(r"\ell(y, w)", "loss of one sample", ("ell",), "fit.loss"),
    Symbol(
        r"\langle\cdot\rangle_{\kappa}",
        r"average over label and output given $\kappa$; of $\ell$, of the loss at the prox",
        ("avg_M", "avg_g", "avg_l"),
    ),
    Symbol(r"\mathcal{M}_{V}", "Moreau envelope of the loss", ("M_V",)),
    Symbol(
        r"\operatorname{prox}", "proximal map of the loss: the output once the readout has seen the sample", ("prox",)
    ),
    Symbol(
        "g,\\ h",
        r"$g=(\operatorname{prox}-\omega)/V$, the force on a sample, and $h=-\partial_{\omega} g$",
        ("avg_h", "h_omega"),
    ),
    Symbol(r"\mathcal{R}(\kappa)", r"mean squared residual given $\kappa$", ("risk",)),
    Symbol(r"\mathcal{R}_{\star}(\kappa)", r"that of the clean label", ("clean_risk",)),
    Symbol(r"\beta_{T}", "inverse temperature of the Gibbs measure on readouts; goes to infinity", ("beta_T",)),
    Symbol("Z,\\ H", "partition function and energy (the training objective)", ("Z", "H")),
    Symbol(r"\Phi", "free energy: the least training objective over $d$", ("free_energy", "dPhi", "Phi_m")),
    Symbol(
        r"\varepsilon_{\mathrm{test}}", "test error (generalisation error), against the clean target", ("test_error",)
    ),
    Symbol(r"\varepsilon_{\mathrm{train}}", "training error", ("train_error",)),
    Symbol(r"\ell_{\mathrm{train}}", "mean loss on the training set", ("train_loss",)),
    Symbol(r"\varrho", "spectral law of the bulk: averages over its resolvent", ("law_tr", "law_vv", "law_rows")),
    Symbol(r"\Sigma_{b}", "covariance of the rows of block $b$ given the batch of the step", ("Sigma", "Sigma_cov")),
    Symbol("d^{-1}", "inverse dimension: zero in the limit", ("inverse_dimension",)),
)


def notation(derived: ModelDerivation) -> tuple[Entry, ...]:
    """The symbols that occur in a derivation, in the order from the model to its errors."""
    present = set(_names(derived.parts))
    given = _values(derived.model)
    return tuple(
        Entry(symbol.latex, symbol.meaning, given.get(symbol.key, ""))
        for symbol in SYMBOLS
        if not present.isdisjoint(symbol.names)
    )


def _values(model: Model) -> dict[str, str]:
    """Dotted key -> value, as a model file writes it; of several steps each value that occurs."""
    found = {}
    for table, given in model.to_dict().items():
        for key in (entries := given if isinstance(given, list) else [given])[0]:
            found[f"{table}.{key}"] = ", ".join(dict.fromkeys(_written(one.get(key)) for one in entries))
    found["fit.loss"] = str(model.fit.loss)
    own = {
        "network.activation": lookup(model.network.activation).name,
        "target.link": link_of(model.target.link).name,
        "fit.loss": model.fit.loss.key,
    }
    return found | {key: "see the model" for key, name in own.items() if name.startswith(OWN)}


def _written(value: object) -> str:
    """A number or a word; nothing of a list, a table or a truth value."""
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return f"{value:.6g}" if isinstance(value, float) else str(value) if plain else ""


def _names(parts: Iterable[Derivation]) -> Iterator[str]:
    """Names of all symbols, families and functions, those of one family without their numbers."""
    for part in parts:
        for step in part.steps:
            for side in (step.lhs, step.rhs):
                for node in sympy.preorder_traversal(side):
                    if isinstance(node, sympy.Symbol | AppliedUndef):
                        name = node.name if isinstance(node, sympy.Symbol) else node.func.__name__
                        yield name
                        numbered = _NUMBERED.fullmatch(name)
                        if numbered:
                            yield numbered[1]
