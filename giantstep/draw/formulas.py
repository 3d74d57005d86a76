"""Functions of a model in titles: the name of a registered one, else its expression as mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from derive.language.catalogue import lookup
from derive.language.links import link_of
from derive.latex_words import width
from giantstep.spec.fit_loss import FitLoss

LINE = 36.0  # em of a line of a title: the width of the axes
_LONGEST = 0.8 * LINE  # of an expression that has a place there
_INDEX = re.compile(r"\bz([1-9])\b")
_FRACTION = re.compile(r"\\frac\{(\d+)\}\{(\d+)\}")
OWN = "user_"  # begins the name of what is an expression of the user


def activation_words(text: str) -> str:
    """An activation behind its symbol."""
    entry = lookup(text)
    return _equals(r"\sigma", entry.name, entry.latex, "own activation")


def link_words(text: str) -> str:
    """A link behind its symbol."""
    link = link_of(text)
    return _equals(r"\sigma_\star", link.name, link.latex, "own link")


def loss_words(loss: FitLoss) -> str:
    """The name of a loss with its parameters, or its expression behind a symbol."""
    own = loss.key.startswith(OWN)
    return _equals(r"\ell", loss.key, loss.entry.latex, "own loss") if own else plain(str(loss))


def mathtext(latex: str) -> str:
    """What Matplotlib reads of the LaTeX of an expression."""
    bars = latex.replace(r"\lvert", r"\vert").replace(r"\rvert", r"\vert")
    return _FRACTION.sub(_decimal, _INDEX.sub(r"z_{\1}", bars)).replace(r" \cdot ", r"\,")


def _decimal(found: re.Match[str]) -> str:
    """A fraction of numbers as a short decimal where it is one: 0.3 was typed, and is read more easily when small."""
    exact = Fraction(int(found[1]), int(found[2]))
    short = f"{float(exact):.3f}".rstrip("0")
    return short if Fraction(short) == exact else found[0]


def decimal(value: float, digits: int) -> str:
    """At most that many digits, none that say nothing; powers of ten as such, as an e would be a letter."""
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    if not e:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa}\times {power}"


def plain(text: str) -> str:
    """Words that are no mathematics, shortened."""
    return text.replace("$", r"\$") if len(text) <= 30 else text[:27].replace("$", r"\$") + "..."


def on_lines(parts: Iterable[str]) -> str:
    """Parts with commas between them, on as many lines of a title as they need."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}, {part}" if lines else part
        lines[max(len(lines) - 1, 0) :] = [longer] if width(longer.replace("$", "")) <= LINE else [*lines[-1:], part]
    return ",\n".join(lines)


def _equals(symbol: str, name: str, latex: str, words: str) -> str:
    """A registered name, an expression that has a place, or else words."""
    if not name.startswith(OWN):
        escaped = name.replace("_", r"\_")
        return rf"${symbol} = \mathrm{{{escaped}}}$"
    return rf"${symbol} = {mathtext(latex)}$" if width(mathtext(latex)) <= _LONGEST else words
