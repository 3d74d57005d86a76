"""The characters behind the commands of LaTeX that derivations are written with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GREEK: Mapping[str, str] = MappingProxyType(
    {
        "alpha": "α",
        "beta": "β",
        "gamma": "γ",
        "delta": "δ",
        "epsilon": "ϵ",
        "varepsilon": "ε",
        "zeta": "ζ",
        "eta": "η",
        "theta": "θ",
        "vartheta": "ϑ",
        "iota": "ι",
        "kappa": "κ",
        "varkappa": "ϰ",
        "lambda": "λ",
        "mu": "μ",
        "nu": "ν",
        "xi": "ξ",
        "pi": "π",
        "varpi": "ϖ",
        "rho": "ρ",
        "varrho": "ϱ",
        "sigma": "σ",
        "varsigma": "ς",
        "tau": "τ",
        "upsilon": "υ",
        "phi": "ϕ",
        "varphi": "φ",
        "chi": "χ",
        "psi": "ψ",
        "omega": "ω",
        "ell": "ℓ",
        "infty": "∞",
        "partial": "∂",
        "nabla": "∇",
    }
)

#: Upright, as in LaTeX.
CAPITALS: Mapping[str, str] = MappingProxyType(
    {
        "Gamma": "Γ",
        "Delta": "Δ",
        "Theta": "Θ",
        "Lambda": "Λ",
        "Xi": "Ξ",
        "Pi": "Π",
        "Sigma": "Σ",
        "Upsilon": "Υ",
        "Phi": "Φ",
        "Psi": "Ψ",
        "Omega": "Ω",
    }
)

OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "cdot": "⋅",
        "times": "×",
        "otimes": "⊗",
        "pm": "±",
        "mp": "∓",
        "to": "→",
        "ge": "≥",
        "geq": "≥",
        "le": "≤",
        "leq": "≤",
        "ne": "≠",
        "neq": "≠",
        "approx": "≈",
        "sim": "∼",
        "mid": "∣",
        "in": "∈",
        "wedge": "∧",
        "vee": "∨",
        "ldots": "…",
        "dots": "…",
        "perp": "⊥",
        "top": "⊤",
        "star": "⋆",
        "prime": "′",
        "uparrow": "↑",
        "downarrow": "↓",
    }
)

DELIMITERS: Mapping[str, str] = MappingProxyType(
    {
        "langle": "⟨",
        "rangle": "⟩",
        "lfloor": "⌊",
        "rfloor": "⌋",
        "lceil": "⌈",
        "rceil": "⌉",
        "{": "{",
        "}": "}",
        "|": "‖",
    }
)

#: Signs with limits, beneath and above in a display.
LARGE: Mapping[str, str] = MappingProxyType({"sum": "∑", "prod": "∏", "int": "∫", "iint": "∬"})

FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "ln", "det", "arctan", "atan", "asinh", "operatorname"}
)
#: Functions whose subscript stands beneath them in a display.
LIMITS = frozenset({"lim", "min", "max", "sup", "inf"})

ACCENTS: Mapping[str, str] = MappingProxyType({"hat": "^", "bar": "¯", "overline": "¯", "tilde": "~", "dot": "˙"})

SPACES: Mapping[str, str] = MappingProxyType(
    {
        ",": "0.167em",
        ":": "0.222em",
        ";": "0.278em",
        " ": "0.333em",
        "!": "-0.167em",
        "quad": "1em",
        "qquad": "2em",
    }
)

_SCRIPT_EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}
)
_DOUBLE_EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ", "1": "𝟙"}
)


def calligraphic(letter: str) -> str:
    """The letter that ``mathcal`` draws."""
    return _SCRIPT_EXCEPTIONS.get(letter) or _shifted(letter, 0x1D49C, None)


def double_struck(letter: str) -> str:
    """The letter that ``mathbb`` draws."""
    return _DOUBLE_EXCEPTIONS.get(letter) or _shifted(letter, 0x1D538, 0x1D552)


def sans_serif(letter: str) -> str:
    """The letter that ``mathsf`` draws."""
    return _shifted(letter, 0x1D5A0, 0x1D5BA)


def bold(letter: str) -> str:
    """The letter that ``mathbf`` draws."""
    return _shifted(letter, 0x1D400, 0x1D41A)


def _shifted(letter: str, capital: int, small: int | None) -> str:
    if "A" <= letter <= "Z":
        return chr(capital + ord(letter) - ord("A"))
    if small is not None and "a" <= letter <= "z":
        return chr(small + ord(letter) - ord("a"))
    return letter
