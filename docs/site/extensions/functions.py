"""The page of named functions and losses, from their catalogues."""

from __future__ import annotations

import math

from plain_text import as_markdown, cell, table

from derive.language.catalogue import REGISTERED as NAMED
from derive.language.grammar import CONSTANTS, FUNCTIONS
from derive.language.loss_catalogue import REGISTERED as LOSSES
from derive.language.loss_catalogue import ParameterEntry
from derive.language.penalties import REGISTERED as PENALTIES
from giantstep.spec.schema import activations


def page() -> str:
    """The page, in Markdown."""
    further = [[cell(name), cell(text)] for name, text in activations().items() if name not in NAMED]
    losses = [
        [cell(one.name), f"${_in_cell(one.latex)}$", one.form, _parameters(one.parameters), as_markdown(one.citation)]
        for one in LOSSES.values()
    ]
    penalties = [
        [cell(one.name), cell(one.expression), _parameters(one.parameters), as_markdown(one.citation)]
        for one in PENALTIES.values()
    ]
    return f"""# Functions and losses

## Activations and links

Compiled kernels of these come with the package:

{table(["name", "function", "source"], [[cell(e.name), f"${_in_cell(e.latex)}$", e.citation] for e in NAMED.values()])}
These names stand for expressions:

{table(["name", "expression"], further)}
## Expressions

An activation is any expression in `z`, a link one in `z` or in `z1`, `z2`, ..., a loss one in `y` (label) and `f`
(output) that is convex in `f`.
Allowed are numbers, `+ - * / **`, parentheses, the constants {" and ".join(map(cell, CONSTANTS))}, the names above, and

{table(["arguments", "functions"], [[str(count), _of(count)] for count in sorted(set(FUNCTIONS.values()))])}
`He(n, z)` is the Hermite polynomial of degree n, `Phi` the normal distribution function, `step` is 1
above zero and 0 below. The text is parsed, never evaluated as code.

## Losses

{table(["name", "loss", "form", "parameters", "source"], losses)}
The form says what the loss depends on: `residual` on `f - y`, `margin` on `y f` with labels ±1. The test error of a
loss of the margin is the probability of misclassification, of all others the squared error against the clean target.

## Penalties

On every readout `a`, beside the ridge; or any convex expression in `a`:

{table(["name", "penalty", "parameters", "source"], penalties)}
`non_negative` and `box` are bounds: beyond them the penalty rises so steeply that readouts stay within.
"""


def _of(count: int) -> str:
    return ", ".join(cell(name) for name, arguments in FUNCTIONS.items() if arguments == count)


def _in_cell(latex: str) -> str:
    return latex.replace("|", r"\vert ")


def _parameters(found: tuple[ParameterEntry, ...]) -> str:
    return ", ".join(f"`{one.name} = {one.default:g}`, {_range(one)}" for one in found)


def _range(one: ParameterEntry) -> str:
    return f"above {one.low:g}" if math.isinf(one.high) else f"between {one.low:g} and {one.high:g}"
