"""The solution of a model as rows of a table: every number with what makes it trustworthy."""

from __future__ import annotations

from dataclasses import dataclass

from giantstep.report.numbers import number, rows, size
from giantstep.system.result import Result


@dataclass(frozen=True)
class Row:
    """latex: the symbol, empty where there is none; name, value and remark: words, formulas between dollar signs."""

    latex: str
    name: str
    value: str
    remark: str = ""


_ORDER = {
    "m": ("m_{b}", "magnetisation"),
    "zeta": (r"\zeta_{b}", "overlap with the spike"),
    "psi": (r"\psi_{b}", "overlap with the rest of the target"),
    "norm": ("o_{b}", "overlap with the norms of the rows"),
    "Q1": ("Q^{(1)}_{b c}", "self-overlap through the bulk"),
    "Q2": ("Q^{(2)}_{b}", "self-overlap of the readout"),
    "V1": ("V^{(1)}_{b c}", "response through the bulk"),
    "V2": ("V^{(2)}_{b}", "response of the readout"),
}
_BASIS = r"along $t$ in $z = \gamma\kappa + L t$, $L$ the Cholesky factor of $1 - \gamma\gamma^{\top}$"


def errors(result: Result) -> tuple[Row, ...]:
    """The errors and the free energy, with their certificates."""
    loss = result.model.fit.loss
    where = "in the limit of infinite dimension" if result.dimension is None else f"at dimension {result.dimension}"
    risk = f"${loss.test_error_latex}$"
    mean = "mean $(y-f)^{2}$" if loss.key == "square" else "mean loss"
    apart = abs(result.free_energy - result.training_loss) / (abs(result.training_loss) or 1.0)
    crossover = result.crossover_dimension
    found = [
        Row(
            r"\varepsilon_{\mathrm{test}}",
            "test error",
            number(result.test_error),
            f"{risk}, {where}; quadrature changes it by {size(result.quadrature_error)}, relative",
        ),
        Row(r"\varepsilon_{\mathrm{train}}", "training error", number(result.train_error), mean),
        Row(
            r"\Phi",
            "free energy",
            number(result.free_energy),
            f"least training objective over $d$; from the errors: {number(result.training_loss)}, "
            f"relative difference {size(apart)}",
        ),
        Row(
            "",
            "residual",
            size(result.residual),
            "worst of all equations, relative, evaluated apart from the solver",
        ),
        Row("", "iterations, nodes", f"${result.iterations}$, ${result.nodes}$", "of the solver; of the quadrature"),
    ]
    if crossover is not None:
        found.append(
            Row(
                "",
                "crossover dimension",
                number(crossover, 3),
                "over d, the part that terms of finite size change the objective by",
            )
        )
    return tuple(found)


def parameters(result: Result) -> tuple[Row, ...]:
    """The spike after the step and the order parameters; of several blocks, all of them."""
    spike = result.spike.to_dict()
    found = [
        Row("r", "strength of the spike", rows(spike["strength"])),
        Row(r"\gamma", "alignment of spike and target", rows(spike["alignment"])),
        Row("c_{b}", "bulk variance", rows(spike["bulk_variance"])),
    ]
    if "loadings" in spike:
        found.append(Row(r"\ell_{b j}", "loadings, strength included", rows(spike["loadings"])))
    if result.nodes_of_readout is not None:
        found.append(Row("u_{b}", "nodes of the density of readout values", rows(list(result.nodes_of_readout.values))))
    for name, (latex, words) in _ORDER.items():
        if name in result.order_parameters:
            basis = _BASIS if name == "psi" and result.model.target.indices > 1 else ""
            found.append(Row(latex, words, rows(result.order_parameters[name]), basis))
    if result.model.network.trains_bias:
        found.append(Row(r"\mathsf{b}", "trained bias", number(result.bias)))
    return tuple(found)
