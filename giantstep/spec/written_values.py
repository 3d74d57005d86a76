"""Values as they are typed on a command line."""

from __future__ import annotations

import re
from typing import Any

from giantstep.spec.tables import plain
from giantstep.spec.toml_text import parsed

# numbers between the brackets, commas and signs of equality of a TOML value without texts
_NUMBER = re.compile(r"(?<![^\s\[,=])[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![^\s\],}])")


def value_of_text(value: Any, text: bool) -> Any:
    """The TOML value that a text from the command line stands for, numbers as Python reads them; a bare word stands for
    itself.

    Where the key holds text, only quotes and brackets make it TOML.
    """
    if not isinstance(value, str) or text and value.strip()[:1] not in ('"', "'", "{", "["):
        return plain(value)
    written = value.strip()
    if not {'"', "'"} & set(written):
        written = _NUMBER.sub(_as_toml, written)
    try:
        read = parsed(f"value = {written}")
    except (ValueError, RecursionError):
        return value
    return read["value"] if len(read) == 1 else value


def _as_toml(number: re.Match[str]) -> str:
    """A number as TOML writes it: it knows no .5, 5. or 01."""
    text = number.group()
    return text if re.fullmatch(r"[+-]?[0-9]+", text) and not re.match(r"[+-]?0[0-9]", text) else repr(float(text))
