"""Formulas as MathML, which browsers show by themselves: the site needs neither a script nor the network for them.

A formula that cannot be read is a warning, and so an error of the build.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """The renderer "mathml" of the HTML builders."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_converted(node, display=False))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_converted(node, display=True)}</div>\n')
    raise nodes.SkipNode


def _converted(node: nodes.Element, *, display: bool) -> str:
    try:
        return _converter().convert_with_local_state(node.astext(), displaystyle=display)
    except LatexError as error:
        _LOGGER.warning("a formula cannot be read: %s\n%s", error, node.astext(), location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


@lru_cache(maxsize=1)
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
