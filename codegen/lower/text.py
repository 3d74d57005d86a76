"""Lines of Python: indentation, loops over blocks, and lines that are not too long."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sympy as sp

WIDTH = 120
_STEP = "    "
_MANY = 0.8  # of a line


class Text:
    """Lines of Python with indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open: list[sp.Symbol] = []  # indices of the loops around the next line
        self._depth = 0

    def line(self, text: str) -> None:
        self.lines.append(_STEP * self._depth + text)

    @contextmanager
    def indent(self, header: str) -> Iterator[None]:
        self.line(header)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def loops(self, indices: Sequence[sp.Symbol], opened: int = 0) -> Iterator[None]:
        """``for b in range(K): for c in range(K): ...``; the first ``opened`` of them continue the loops just above."""
        for number, symbol in enumerate(indices):
            if number >= opened:
                self.line(f"for {symbol} in range(K):")
            self._depth += 1
            self.open.append(symbol)
        yield
        self._depth -= len(indices)
        del self.open[len(self.open) - len(indices) :]


def indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    """The lines further in."""
    return [_STEP * depth + line if line else line for line in lines]


def words(lines: Sequence[str]) -> set[str]:
    """All names that occur in lines, apart from comments."""
    return {word for line in lines for word in re.findall(r"[A-Za-z_]\w*", line.partition("  # ")[0])}


def wrapped(lines: Sequence[str], width: int = WIDTH) -> list[str]:
    """The same statements on lines of at most ``width`` characters; a comment behind a long line goes above it, a
    docstring that is too long ends on a line of its own.
    """
    return [part for line in lines for part in _wrap(line, width)]


def _wrap(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    code, mark, comment = line.partition("  # ")
    margin = code[: len(code) - len(code.lstrip())]
    if code.startswith(f'{margin}"""'):
        return [*textwrap.wrap(code[:-3], width, subsequent_indent=margin), f'{margin}"""']
    if mark:
        return [f"{margin}# {comment}", *_wrap(code, width)]
    sides = re.split(" (:?=) ", code, maxsplit=1)
    if len(sides) > 1 and len(sides[0]) > _MANY * width and not _enclosed(sides[0].strip()):
        code = f"{margin}({sides[0].strip()}) {sides[1]} {sides[2]}"  # names that leave no room for what they are
    elif len(sides) > 1 and not _enclosed(sides[2]):
        code = f"{sides[0]} {sides[1]} ({sides[2]})"
    return _broken(code, margin + _STEP, width)


def _broken(code: str, margin: str, width: int, depth: int = 0) -> list[str]:
    """Lines broken inside brackets, at the outermost place that fits; ``depth``: brackets open before the code."""
    if len(code) <= width:
        return [code]
    best, rank, last, quoted = (0, 0), 99, (0, 0), ""
    for place, letter in enumerate(code[:width]):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        else:
            depth += (letter in "([{") - (letter in ")]}")
        if quoted or not depth:
            continue
        if letter == " " and place > width // 2 and depth <= rank and _separates(code, place):
            best, rank = (place, depth), depth
        if letter in " *(,":
            last = (place + 1, depth)
    place, depth = best if best[0] else last
    if place <= len(margin):
        raise ValueError(f"no place to break {code.strip()}")
    return [code[:place].rstrip(), *_broken(margin + code[place:].lstrip(), margin, width, depth)]


def _separates(code: str, place: int) -> bool:
    return code[place - 1] == "," or code[place + 1 : place + 3] in ("+ ", "- ")


def _enclosed(value: str) -> bool:
    """Whether one pair of brackets holds the whole value, or a call does."""
    match = re.match(r"[\w.]*[(\[{]", value)
    if not match:
        return False
    depth = 0
    for place, letter in enumerate(value):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and place >= match.end() - 1:
            return place == len(value) - 1
    return False
