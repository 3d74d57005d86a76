"""How expressions are printed as LaTeX: one place for the settings."""

from __future__ import annotations

import re

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from derive.language.names import VARIANCES, is_bare, latex_name, subscripted
from derive.line_breaking import lines

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
    (r"\\(bar|tilde|hat)\{\\?(\w+)\}", r"\2\1"),
    (r"\^\{?\((\d)\)\}?", r"\1"),
    (r"\\langle\s*", "<"),
    (r"\\rangle", ">"),
    (r"_\{(\w+)\}", r"_\1"),
    (r"_\{\\star\}", "_star"),
    (r"\\cdot\s*", "."),
    (r"\\to\b\s*", " -> "),
    (r"\\infty", "infinity"),
    (r"\\perp", "perp"),
    (r"\\int\\prod_rd(\w)\^r", r"integral over all \1^r"),
    (r"\\int\s*d(\w)", r" integral over \1 of"),
    (r"\\sim\b\s*", " ~ "),
    (r"\\neq\b\s*", " != "),
    (r"\\nabla\b\s*", "grad "),
    (r"\\(log|lim|sum)\b\s*", r"\1 "),
    (r"\\mathcal\{(\w)\}", r"\1"),
    (r"\\textstyle", ""),
    (r"\\ge\b", ">="),
    (r"\\,", " "),
    (r"[\\$]", ""),
)


class _Printer(LatexPrinter):
    """LaTeX with the names of the theory, block indices as subscripts and kappa as the argument."""

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:  # noqa: N802
        return latex_name(expr.name) or str(super()._print_Symbol(expr, style))

    def _print_Indexed(self, expr: sympy.Indexed) -> str:  # noqa: N802
        return subscripted(self._print(expr.base.label), [self._print(i) for i in expr.indices])

    def _print_Function(self, expr: sympy.Function, exp: str | None = None) -> str:  # noqa: N802
        name = expr.func.__name__
        shown = latex_name(name) if isinstance(expr, AppliedUndef) else None
        if shown is None:
            return str(super()._print_Function(expr, exp))
        blocks = [arg for arg in expr.args if arg.is_integer and (arg.is_Symbol or arg.is_Integer)]
        indices = [self._print(arg) for arg in blocks]
        arguments = ", ".join(self._print(arg) for arg in expr.args if arg not in blocks)
        text = subscripted(shown, indices) if is_bare(name) else f"{subscripted(shown, indices)}({arguments})"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _print_Derivative(self, expr: sympy.Derivative) -> str:  # noqa: N802
        inner = expr.expr
        if isinstance(inner, AppliedUndef) and len(inner.args) == 1 and set(expr.variables) == set(inner.args):
            return self._primed(inner, len(expr.variables))
        if isinstance(inner, sympy.Symbol):  # stands for a function of several variables
            return rf"\partial_{{{' '.join(map(self._print, expr.variables))}}} {self._print(inner)}"
        return str(super()._print_Derivative(expr))

    def _primed(self, function: AppliedUndef, order: int) -> str:
        """A function of one variable, differentiated at its argument."""
        (argument,) = function.args
        name = latex_name(function.func.__name__) or self._print(sympy.Symbol(function.func.__name__))
        primes = r"\prime" * order if order < 4 else f"({order})"
        return f"{name}^{{{primes}}}({self._print(argument)})"

    def _print_Pow(self, expr: sympy.Pow) -> str:  # noqa: N802
        if expr.exp == sympy.S.Half and expr.base.is_Symbol and expr.base.name in VARIANCES:
            return latex_of(expr.base).removesuffix("^{2}")
        return str(super()._print_Pow(expr))

    def _needs_mul_brackets(self, expr: sympy.Basic, first: bool = False, last: bool = False) -> bool:
        # a sum over blocks swallows what follows it
        own = getattr(expr, "precedence", None) == PRECEDENCE["Add"] and not last
        return own or bool(super()._needs_mul_brackets(expr, first, last))


def latex_of(expression: sympy.Basic) -> str:
    """LaTeX of one expression in the settings used everywhere."""
    # SymPy writes sums of matrices as A + - B
    return str(_Printer().doprint(expression)).replace("+ - ", "- ")


def plain_text(words: str) -> str:
    """Words with mathematics between dollar signs, for a terminal."""
    for pattern, replacement in _PLAIN:
        words = re.sub(pattern, replacement, words)
    return words


def escape_text(words: str) -> str:
    """Plain words as LaTeX text; stretches between dollar signs are mathematics and stay as they are."""
    parts = re.split(r"(\$[^$]*\$)", words)
    return "".join(
        part if part.startswith("$") and part.endswith("$") and len(part) > 1 else _escape(part) for part in parts
    )


def latex_lines(lhs: sympy.Basic, rhs: sympy.Basic) -> list[str]:
    """The lines `lhs &= rhs` of an align environment; what is too long for one continues on others."""
    return lines(latex_of(lhs), latex_of(rhs))


def _escape(words: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in words)
