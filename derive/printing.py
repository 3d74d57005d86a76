"""How expressions are printed as LaTeX: one place for the settings and for the breaking of long sums."""

from __future__ import annotations

import re

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from derive.names import LATEX

_LONG = 180  # characters of LaTeX that fit on a line of a one-column paper, roughly

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "^": r"\^{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}

_PLAIN = (
    (r"\\mathbb\{E\}", "E"),
    (r"\\mathrm\{(\w+)\}", r"\1"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\partial_(\w)", r"d/d\1 "),
    (r"\\(bar|tilde|hat)\s*\\?(\w+)", r"\2\1"),
    (r"\\cdot\s*", "."),
    (r"\\to\b", " -> "),
    (r"\\ge\b", ">="),
    (r"\\,", " "),
    (r"[\\$]", ""),
)


class _Printer(LatexPrinter):
    """LaTeX with the names of the theory, block indices as subscripts and kappa as the argument."""

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:  # noqa: N802
        return LATEX[expr.name] if expr.name in LATEX else str(super()._print_Symbol(expr, style))

    def _print_Indexed(self, expr: sympy.Indexed) -> str:  # noqa: N802
        return _subscripted(self._print(expr.base.label), [self._print(i) for i in expr.indices])

    def _print_Function(self, expr: sympy.Function, exp: str | None = None) -> str:  # noqa: N802
        name = expr.func.__name__
        if not isinstance(expr, AppliedUndef) or name not in LATEX:
            return str(super()._print_Function(expr, exp))
        indices = [self._print(arg) for arg in expr.args if arg.is_integer]
        arguments = ", ".join(self._print(arg) for arg in expr.args if not arg.is_integer)
        text = f"{_subscripted(LATEX[name], indices)}({arguments})"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _needs_mul_brackets(self, expr: sympy.Basic, first: bool = False, last: bool = False) -> bool:
        # a sum over blocks swallows what follows it
        own = getattr(expr, "precedence", None) == PRECEDENCE["Add"] and not last
        return own or bool(super()._needs_mul_brackets(expr, first, last))


def _subscripted(name: str, indices: list[str]) -> str:
    r"""`Q^{(1)}` becomes `Q^{(1)}_{b c}`, and `\mu_{0}` becomes `\mu_{0,b}`."""
    if not indices:
        return name
    before, found, after = name.partition("_{")
    if found:
        return before + "_{" + after.replace("}", "," + " ".join(indices) + "}", 1)
    return f"{name}_{{{' '.join(indices)}}}"


def latex_of(expression: sympy.Basic) -> str:
    """LaTeX of one expression in the settings used everywhere."""
    return str(_Printer().doprint(expression))


def plain_text(words: str) -> str:
    """Words with mathematics between dollar signs, for a terminal."""
    for pattern, replacement in _PLAIN:
        words = re.sub(pattern, replacement, words)
    return words


def escape_text(words: str) -> str:
    """Plain words as LaTeX text; stretches between dollar signs are mathematics and stay as they are."""
    parts = re.split(r"(\$[^$]*\$)", words)
    return "".join(
        part if part.startswith("$") and part.endswith("$") and len(part) > 1 else _escape(part)
        for part in parts
    )


def latex_lines(lhs: sympy.Basic, rhs: sympy.Basic) -> list[str]:
    """The lines `lhs &= rhs` of an align environment; a long sum continues with one term a line."""
    left, right = latex_of(lhs), latex_of(rhs)
    if len(left) + len(right) <= _LONG or not isinstance(rhs, sympy.Add):
        return [f"{left} &= {right}"]
    lines: list[str] = []
    current = ""
    for term in rhs.as_ordered_terms():
        piece = latex_of(term)
        signed = piece if not current and not lines else (piece if piece.startswith("-") else "+ " + piece)
        if current and len(current) + len(signed) > _LONG:
            lines.append(current)
            current = signed
        else:
            current = f"{current} {signed}".strip()
    lines.append(current)
    return [f"{left} &= {lines[0]}"] + [rf"&\quad {line}" for line in lines[1:]]


def _escape(words: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in words)
