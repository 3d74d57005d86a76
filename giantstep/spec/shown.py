"""How results show themselves: a few lines in a terminal, a table in a notebook, JSON, a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from giantstep.spec.equality import same

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row: TypeAlias = tuple[str, str]
LINES = 6  # of a repr
WIDTH = 118


class Shown:
    """Base of results: ``summary`` says what is shown of them."""

    def summary(self) -> Sequence[Row]:
        """At most five rows of a name and what it is, the most important first."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """The first line."""
        return type(self).__name__

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists."""
        raise NotImplementedError

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def __eq__(self, other: object) -> bool:
        """Whether all that they hold is the same, arrays entry by entry, but the time it took."""
        return same(self, other) if isinstance(other, Shown) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # they hold arrays and mappings

    def __repr__(self) -> str:
        return text_table(self.heading, self.summary())

    def _repr_html_(self) -> str:
        return html_table(self.heading, [[name, value] for name, value in self.summary()])


class Pictured(Shown):
    """Base of results of which there is a picture."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it on a pair of axes, or on new ones, which are returned: ``.figure.savefig(...)`` writes them.

        ``giantstep.plot(result, "file.png")`` draws everything that there is of it.
        """
        # by name, as the front door loads it: who draws knows results, and results do not know who draws them
        found: Axes = import_module("giantstep.draw.plot").axes_of(self, ax)
        return found


def text_table(heading: str, rows: Sequence[Row]) -> str:
    """A heading and a few rows below it, one line each."""
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([heading, *(cut(f"  {name:<{width}}  {value}") for name, value in rows[: LINES - 1])])


def html_table(heading: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A small HTML table; the first cell of a row names it where the columns have no names."""
    from html import escape  # of which a shell shows none

    left = ' style="text-align:left"'
    lines = [f"<table><caption{left}><b>{escape(heading)}</b></caption>"]
    if head:
        lines.append("<thead><tr>" + "".join(f"<th>{escape(name)}</th>" for name in head) + "</tr></thead>")
    for row in rows:
        cells = [f"<td{'' if head else left}>{escape(cell)}</td>" for cell in row]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def cut(line: str, width: int = WIDTH) -> str:
    """A line that is no longer than a width."""
    line = " ".join(line.splitlines())
    return line if len(line) <= width else f"{line[: width - 4]} ..."


def number(value: float | None) -> str:
    """Nine digits; a dash for what is not known."""
    return "-" if value is None or math.isnan(value) else f"{value:.9g}"


def numbers(values: Mapping[str, float]) -> str:
    """Numbers with their names on one line."""
    return ", ".join(f"{name} = {value:.6g}" for name, value in values.items())
