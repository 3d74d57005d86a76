"""Functions of a model in titles: the name of a registered one, else its expression as mathematics."""

from __future__ import annotations

import re
from fractions import Fraction

from derive.language.catalogue import lookup
from derive.language.links import link_of
from giantstep.spec.fit_loss import FitLoss

_LONGEST = 40  # characters of an expression that has a place in a title
_INDEX = re.compile(r"\bz([1-9])\b")
_FRACTION = re.compile(r"\\frac\{(\d+)\}\{(\d+)\}")
_OWN = "user_"  # begins the name of what is an expression of the user


def activation_words(text: str) -> str:
    """An activation behind its symbol."""
    entry = lookup(text)
    return _equals(r"\sigma", text, entry.latex if entry.name.startswith(_OWN) else "")


def link_words(text: str) -> str:
    """A link behind its symbol."""
    link = link_of(text)
    return _equals(r"\sigma_\star", text, link.latex if link.name.startswith(_OWN) else "")


def loss_words(loss: FitLoss) -> str:
    """The name of a loss with its parameters, or its expression behind a symbol."""
    own = loss.key.startswith(_OWN)
    return _equals(r"\ell", loss.name, loss.entry.latex) if own else plain(str(loss))


def mathtext(latex: str) -> str:
    """What Matplotlib reads of the LaTeX of an expression."""
    bars = latex.replace(r"\lvert", r"\vert").replace(r"\rvert", r"\vert")
    return _FRACTION.sub(_decimal, _INDEX.sub(r"z_{\1}", bars)).replace(r" \cdot ", r"\,")


def _decimal(found: re.Match[str]) -> str:
    """A fraction of numbers as a short decimal where it is one: 0.3 was typed, and is read more easily when small."""
    exact = Fraction(int(found[1]), int(found[2]))
    short = f"{float(exact):.3f}".rstrip("0")
    return short if Fraction(short) == exact else found[0]


def plain(text: str) -> str:
    """Words that are no mathematics, shortened."""
    return text.replace("$", r"\$") if len(text) <= 30 else text[:27].replace("$", r"\$") + "..."


def _equals(symbol: str, text: str, latex: str) -> str:
    if latex and len(text) <= _LONGEST:
        return rf"${symbol} = {mathtext(latex)}$"
    return rf"${symbol} =$ {plain(text)}"
