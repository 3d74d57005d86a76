"""TOML that people write: what would take the parser minutes is refused before."""

from __future__ import annotations

import re
import tomllib
from typing import Any

#: Of a dotted key, as in the pattern below: the time and memory of the parser grow with their square.
_PARTS = 30
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){30}""")


def parsed(text: str) -> dict[str, Any]:
    """The tables of a text. Raises ValueError for one that is no TOML, RecursionError for one nested too deeply."""
    if _LONG_KEY.search(text):
        raise ValueError(f"a dotted key has more than {_PARTS} parts")
    return tomllib.loads(text)
