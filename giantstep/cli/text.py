"""What commands print on the terminal: numbers, and lines in columns."""

from __future__ import annotations

from collections.abc import Sequence

from giantstep.spec.rounding import meant

Line = tuple[str, str, str]
_MOST = 12  # numbers of a row


def echo(line: str) -> None:
    """Print a line at once, also into a pipe."""
    print(line, flush=True)


def aligned(lines: Sequence[Line]) -> str:
    """Lines of name, value and remark in columns."""
    first = max(len(name) for name, _, _ in lines)
    second = max((len(value) for _, value, remark in lines if remark), default=0)
    return "\n".join(
        f"{name:<{first}}  {value:<{second if remark else 0}}  {remark}".rstrip() for name, value, remark in lines
    )


def number(value: float) -> str:
    """As many digits as are trusted."""
    return f"{value:.12g}"


def numbers(values: Sequence[float]) -> str:
    """A row of numbers, or the range of many; what is rounding beside the largest is zero."""
    size = max(map(abs, values), default=0.0)
    if len(values) > _MOST:
        return f"{len(values)} values, from {meant(min(values), size):.9g} to {meant(max(values), size):.9g}"
    return "  ".join(f"{meant(value, size):.9g}" for value in values)
