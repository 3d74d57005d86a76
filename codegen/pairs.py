"""Emission of what fixes the covariance of the outputs of two fits, the solution of a single one being known."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import sympy as sp

from codegen.lower.text import wrapped
from codegen.manifest import signature, sources_of
from codegen.places import scalar_columns
from codegen.print.equations import EquationPrinter
from codegen.print.numpy_arrays import ArrayPrinter
from codegen.print.printer import Function
from codegen.text import closing
from derive.blocks import family, family_name, index, walk
from derive.gaussian.expectation import Expectation
from derive.spectrum import LawName
from derive.symbols import ALPHA, BETA, INVERSE_DIMENSION
from derive.two_batches import two_batches
from derive.two_readouts import COVARIANCE, SLOPES, PairSystem, pair_system

FEATURES = ("mu0", "mu1", "mu2sq", "mu2sq_12")
PARAMETERS = {ALPHA, BETA, INVERSE_DIMENSION}
OF_PAIRS = ("T_12", "Q1_12", "Q1_hat_12", "Q2_hat_12", "random_field_12", "overlap")  # which every pair has its own of
PAIR = index("p")
BATCHES_PATH = "two_batches.py"
_ARGUMENTS = 96  # characters of a line


def emit_pair(bulk: LawName = "isotropic", directions: int = 1, spikes: int = 1) -> str:
    """Text of the module of two fits; directions: of the target beside the spike, spikes: of the spike."""
    system = pair_system(directions, spikes, bulk)
    functions = _functions(system)
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    signed = signature([bulk, *canonical, *sources_of(__name__)])
    title = system.single.law.title
    return _TEXT.format(
        closing=closing(signed),
        law=f", {title}" if title else "",
        signature=signed,
        functions="\n\n\n".join(function.text(ArrayPrinter(shared=True)) for function in functions),
        kind=_kind(system),
        module={"Certificate": "certificate", "ArrayCertificate": "array_certificate"}[_kind(system)],
        rows="\n".join(wrapped(_rows(system.equation("T_12").body, system.equation("Q1_12").body))),
        equations="\n".join(wrapped(_certificate(system).splitlines())),
    )


def _rows(fixes: sp.Expr, overlaps: sp.Expr) -> list[str]:
    """What the rows make of overlaps and conjugates of many pairs p, as text: what vanishes for T_12 and for Q1_12."""
    printer, (b, c) = EquationPrinter(), (index("b"), index("c"))
    missed = {"T_12": ("b", fixes), "Q1_12": ("b, c", family("Q1_12")[b, c] - overlaps)}
    return [
        f"missed_{name}[p, {letters}] := {printer.expression(_of_many(e))}" for name, (letters, e) in missed.items()
    ]


def _of_many(body: sp.Expr) -> sp.Expr:
    """The same of pair p."""
    return body.replace(
        lambda e: isinstance(e, sp.Indexed) and str(e.base.label) in OF_PAIRS,
        lambda e: family(str(e.base.label))[(PAIR, *e.indices)],
    )


def _functions(system: PairSystem) -> tuple[Function, ...]:
    return (
        _function("covariance", "Delta_12 [N] of the outputs, by the overlaps.", [("Delta_12", system.covariance)]),
        _function("of_square_loss", "E[g_1 g_2 | kappa] [N] of the square loss.", [("avg_gg_12", system.square)]),
        _function("half_mean_square", "E (f_1 - f_2)^2/2.", [("half", system.half)]),
    )


def _function(name: str, doc: str, results: list[tuple[str, sp.Expr]]) -> Function:
    """A function of all names that its results are made of; more arguments than it needs do no harm."""
    found: set[str] = set()
    for _, body in results:
        found |= {family for node in walk(body) if (family := family_name(node)) is not None}
        found |= {symbol.name for symbol in body.free_symbols & PARAMETERS}
        found |= {"weight"} if body.has(Expectation) else set()
    arguments = "\n    ".join(textwrap.wrap(f"*, {', '.join(sorted(found))}, **_", _ARGUMENTS))
    return Function(name, doc, arguments, results)


def _certificate(system: PairSystem) -> str:
    """All equations as text, evaluated apart from the functions above; of the square loss one more."""
    printer = EquationPrinter()
    kind = _kind(system)

    def line(left: sp.Expr, body: sp.Expr, label: str) -> str:
        return f"{printer.expression(left) if left != 0 else '0'} = {printer.expression(body)}  # {label}"

    equations = [line(COVARIANCE, system.covariance, "Delta_12")]
    equations += [line(equation.left, equation.body, equation.label) for equation in system.equations]
    features = f"features={FEATURES!r}"
    return "\n".join(
        [
            'EQUATIONS = """',
            *equations,
            '"""',
            'SQUARE = """',
            line(SLOPES, system.square, "avg_gg_12"),
            '"""',
            f"COLUMNS = {scalar_columns(system.single.directions, system.single.spikes)!r}",
            f"certificate = {kind}(EQUATIONS, COLUMNS, {features})",
            f"certificate_of_square = {kind}(SQUARE + EQUATIONS, COLUMNS, {features})",
        ]
    )


def _kind(system: PairSystem) -> str:
    """Which certificate evaluates the equations: sums over a spectrum have more loops than the quicker one."""
    return "ArrayCertificate" if system.single.law.over else "Certificate"


def emit_batches() -> str:
    """Text of ``generated/two_batches.py``: two fits with batches of their own."""
    system = two_batches()
    matrix, vector = system.conjugates
    products, slopes, both = ("vv", "vo", "oo"), ("g_0", "g_1"), ("mean", "variance")
    functions = (
        _function("directions", "Products v_1.v_2, v_1.o_2, o_1.o_2.", _named(products, system.products)),
        _function("covariance", "Of the outputs, [Z, k, k].", [("Delta_12", system.covariance)]),
        _function("rest_in_common", "Of the features of a block, [K, Z, k, k].", [("common", system.common)]),
        _function("gain_of_square_loss", "h of a sample [Z, k].", [("gain", system.gain)]),
        _function("series_of_square_loss", "E g and E g' of a sample [Z, k].", _named(slopes, system.square)),
        _function("half_mean_square", "E (f_1 - f_2)^2/2.", [("half", system.half)]),
        _function("mean_of_both", "Mean and variance of (f_1 + f_2)/2, [Z, k, k].", _named(both, system.mean_output)),
    )
    canonical = [sp.srepr(expr) for function in functions for _, expr in function.results]
    canonical += [sp.srepr(expr) for expr in (system.fixes, system.across, matrix, vector)]
    signed = signature([*canonical, *sources_of(__name__)])
    printer = EquationPrinter()
    samples = ["Q1_hat_12[b, c] = " + printer.expression(matrix), "Q2_hat_12[b] = " + printer.expression(vector)]
    rows = ["0 = " + printer.expression(system.fixes), "Q1_12[b, c] = " + printer.expression(system.across)]
    return _BATCHES.format(
        closing=closing(signed),
        signature=signed,
        functions="\n\n\n".join(function.text(ArrayPrinter(shared=True)) for function in functions),
        samples="\n".join(wrapped(samples)),
        pairs="\n".join(wrapped(_rows(system.fixes, system.across))),
        rows="\n".join(wrapped(rows)),
    )


def _named(names: Iterable[str], bodies: Iterable[sp.Expr]) -> list[tuple[str, sp.Expr]]:
    return list(zip(names, bodies, strict=True))


_BATCHES = '''"""Two fits after steps on batches of their own  [THEORY section 14].

gamma [q, m]: overlaps of the directions of the spike with those of the target; L_rest [m, m] with
L L^T = 1 - gamma^T gamma; zeta_hat [K, q], psi_hat [K, m]. Nodes z [Z] of the indices with weights law_z, and for each
of them nodes of kappa [Z, k] with weights given [k]; there mu1 [K, Z, k], output and Delta [Z, k]: mean and variance of
the output of a single fit, and rest [X, K, Z, k]: E[sigma | x] beside mean and linear part, times the root of the
weight of x, what the rows of a neuron in the two layers have in common. common [K, Z, k, k]: the sums over x;
avg_gg_12 [Z, k, k]: E g_1 g_2.

{closing}
"""

# fmt: off
import numpy as np

from generated.runtime.certificate import Certificate
from generated.runtime.rows_of_pairs import RowsOfPairs

SIGNATURE = "{signature}"


{functions}


SAMPLES = """
{samples}
"""
PAIRS = """
{pairs}
"""
ROWS = """
{rows}
"""
rows = RowsOfPairs(PAIRS)
certificate = Certificate(ROWS, ("weight",), features=())
'''
_TEXT = '''"""Two fits that have something in common{law}  [THEORY section 14].

N nodes of kappa, K blocks. T_12, Q2_12 [K], Q1_12 [K, K]: between the two readouts; overlap [K]: of the rows of a block
in the two first layers, of unit norm; mu2sq_12 [K, N]: what the rest of the features has in common there; apart [N]:
variance of the labels' noise that is not shared; all other names are those of a single fit at its solution.

{closing}
"""

# fmt: off
import numpy as np

from generated.runtime.{module} import {kind}
from generated.runtime.rows_of_pairs import RowsOfPairs

SIGNATURE = "{signature}"


{functions}


PAIRS = """
{rows}
"""
rows = RowsOfPairs(PAIRS)
{equations}
'''
