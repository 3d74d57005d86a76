"""Registered activations and links, one entry each in the grammar of ``derive.language.grammar``.

Adding one is adding one entry: breakpoints, parity, coefficients and kernels are derived from its expression.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from derive.language.grammar import (
    CONSTANTS,
    DEFINED,
    FUNCTIONS,
    ExpressionError,
    Node,
    canonical,
    did_you_mean,
    parse,
    shorten,
)
from derive.language.other_languages import meant_by


@dataclass(frozen=True)
class Entry:
    """A scalar function: ``name`` (safe as a file name), ``expression`` in z, its source and its LaTeX."""

    name: str
    expression: str
    citation: str
    latex: str


_CUI24 = "Cui et al. 2024, arXiv:2402.04980"
_BGJ19 = "Ben Arous, Gheissari & Jagannath 2021, JMLR 22(106)"

_ENTRIES = (
    Entry("tanh", "tanh(z)", f"{_CUI24}; LeCun et al. 1998, Efficient BackProp", r"\tanh z"),
    Entry("erf", "erf(z)", "Saad & Solla 1995, PRE 52, 4225, as erf(z/sqrt(2))", r"\operatorname{erf} z"),
    Entry("sign", "sign(z)", f"{_CUI24}; Gardner & Derrida 1989, J. Phys. A 22, 1983", r"\operatorname{sign} z"),
    Entry("step", "step(z)", "McCulloch & Pitts 1943; Rosenblatt 1958", r"\Theta(z)"),
    Entry("relu", "relu(z)", "Nair & Hinton 2010, ICML", r"\max(z, 0)"),
    Entry("leaky_relu", "max(z,0.01*z)", "Maas, Hannun & Ng 2013, ICML workshop (slope 0.01)", r"\max(z, z/100)"),
    Entry("abs", "abs(z)", "Jarrett et al. 2009, ICCV (absolute value rectification)", r"\lvert z \rvert"),
    Entry("hard_tanh", "clip(z,-1,1)", "Collobert 2004, PhD thesis, Paris 6", r"\max(-1, \min(z, 1))"),
    Entry("gelu", "z*Phi(z)", "Hendrycks & Gimpel 2016, arXiv:1606.08415", r"z\,\Phi(z)"),
    Entry("silu", "z*sigmoid(z)", "Elfwing, Uchibe & Doya 2018, Neural Networks 107, 3", r"\frac{z}{1+e^{-z}}"),
    Entry("softplus", "softplus(z)", "Dugas et al. 2001, NIPS 13", r"\log(1+e^{z})"),
    Entry("sin", "sin(z)", "Sitzmann et al. 2020, arXiv:2006.09661", r"\sin z"),
    Entry("cos", "cos(z)", "Rahimi & Recht 2007, NIPS 20 (random Fourier features)", r"\cos z"),
    Entry("linear", "z", "Hermite polynomial He_1", "z"),
    Entry("quadratic", "He(2,z)", f"{_BGJ19}: information exponent 2, He_2", "z^2-1"),
    Entry("cubic", "He(3,z)", f"{_BGJ19}: information exponent 3, He_3", "z^3-3z"),
)

#: What is an activation or a link by its name alone, beside the registered ones.
NAMED = (*DEFINED, "arctan", "sigmoid")
#: Registered name -> entry, for activations and links alike.
REGISTERED: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
_NAMES = tuple(sorted({*REGISTERED, *NAMED}))


def lookup(text: str) -> Entry:
    """The entry of a registered name or of an expression in z.

    An expression equal to a registered one, spaces and parentheses aside, gives the registered entry; any
    other is named ``user_`` and 16 hexadecimal digits of the sha256 of its canonical text.
    Raises ExpressionError for a name that is not registered and a text that does not parse.
    """
    name = text.strip() if isinstance(text, str) else ""
    if name in REGISTERED:
        return REGISTERED[name]
    text = f"{name}(z)" if name in NAMED else text
    if name.isascii() and name.isidentifier() and name not in ("z", *CONSTANTS, *FUNCTIONS, *NAMED):
        raise ExpressionError(
            f"{shorten(name)} is no known function",
            f"{meant_by(name, True, ('z',)) or did_you_mean(name, _NAMES)}known are {', '.join(_NAMES)}; "
            'or write an expression in z, for example "erf(z/sqrt(2))"',
        )
    find = _of_expression if isinstance(text, str) else _of_expression.__wrapped__  # which says what it must be
    return find(text)


@lru_cache(maxsize=1)
def _by_text() -> Mapping[str, Entry]:
    """Registered functions by their expressions, which a name need not read."""
    return MappingProxyType({canonical(parse(entry.expression)): entry for entry in _ENTRIES})


@lru_cache(maxsize=256)
def _of_expression(text: str) -> Entry:
    node = parse(text)
    written = canonical(node)
    if (known := _by_text().get(written)) is not None:
        return known
    digest = hashlib.sha256(written.encode("ascii")).hexdigest()[:16]
    return Entry(f"user_{digest}", written, "expression given by the user", latex(node))


_LATEX_CALLS: Mapping[str, str] = MappingProxyType(
    {
        "sqrt": r"\sqrt{%s}",
        "abs": r"\left\lvert %s \right\rvert",
        "max": r"\max\left(%s, %s\right)",
        "min": r"\min\left(%s, %s\right)",
        "clip": r"\operatorname{clip}\left(%s, %s, %s\right)",
        "He": r"\operatorname{He}_{%s}\left(%s\right)",
        "Phi": r"\Phi\left(%s\right)",
        "step": r"\Theta\left(%s\right)",
    }
)
_LATEX_SYMBOLS: Mapping[str, str] = MappingProxyType({"mul": r" \cdot ", "add": " + ", "sub": " - ", "neg": "-"})
_UNBRACKETED = frozenset({("add", "add"), ("add", "sub")})  # an operation, and one to its right
_LATEX_NAMES = frozenset({"exp", "log", "sin", "cos", "sinh", "cosh", "tanh", "arctan"})


def latex(node: Node) -> str:
    """LaTeX of a tree, bracketed as the canonical text is."""
    parts = tuple(latex(argument) for argument in node.args)
    if node.op == "call":
        name = str(node.value)
        command = rf"\{name}" if name in _LATEX_NAMES else rf"\operatorname{{{name}}}"
        return _LATEX_CALLS.get(name, command + r"\left(%s\right)") % parts
    if node.op == "number":
        return _number_latex(node.value)
    if node.op == "div":
        return rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    if node.op == "pow":
        return f"{_bracketed(node.args[0], parts[0], atoms_only=True)}^{{{parts[1]}}}"
    if node.op in _LATEX_SYMBOLS:
        left, right = parts if node.op != "neg" else ("", parts[0])
        sums = node.op == "mul" and node.args[0].op in ("add", "sub")
        left = rf"\left({left}\right)" if sums else left
        free = (node.op, node.args[-1].op) in _UNBRACKETED and not right.startswith("-")
        right = right if free else _bracketed(node.args[-1], right)
        return left + _LATEX_SYMBOLS[node.op] + right
    return r"\pi" if node.value == "pi" else str(node.value)


def _number_latex(value: object) -> str:
    number = Fraction(str(value))
    whole = number.denominator == 1
    return str(number) if whole else rf"\frac{{{number.numerator}}}{{{number.denominator}}}"


def _bracketed(node: Node, text: str, atoms_only: bool = False) -> str:
    compound = {"add", "sub", "neg"} | ({"mul", "div", "pow", "call"} if atoms_only else set())
    fraction = atoms_only and isinstance(node.value, Fraction) and node.value.denominator != 1
    return rf"\left({text}\right)" if node.op in compound or fraction or text.startswith("-") else text
