"""Links of a target: a function of z = theta.x, or of several indices z1, z2, ... (a multi-index target).

Standard library only: solving needs the tree, not the mathematics.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

from derive.language.catalogue import latex, lookup
from derive.language.grammar import ExpressionError, Node, canonical, parse, shorten

MAX_INDICES = 4
VARIABLES = tuple(f"z{i + 1}" for i in range(MAX_INDICES))
_INDEXED = re.compile(r"\bz\d", re.ASCII)
_ANY_INDEX = re.compile(r"\bz\d+\b", re.ASCII)


@dataclass(frozen=True)
class Link:
    """A link: ``name`` (safe as a file name), the text as a model stores it, its tree, its variables (z, or z1 to zk)
    and its LaTeX.
    """

    name: str
    text: str
    node: Node
    variables: tuple[str, ...]
    latex: str

    @property
    def indices(self) -> int:
        """The number k of directions theta_i that the target depends on."""
        return len(self.variables)


@lru_cache(maxsize=256)
def link_of(text: str) -> Link:
    """The link of a registered name, or of an expression in z or in z1, z2, ...; z1 alone is z.

    Raises ExpressionError where it is none, where an index is left out, and where z stands beside z1.
    """
    if not _INDEXED.search(text):
        return _of_one(text.strip())
    beyond = sorted(set(_ANY_INDEX.findall(text)) - set(VARIABLES))
    if beyond:
        raise ExpressionError(
            f"the link {shorten(text)} has the index {beyond[0]}",
            f"a target has at most {MAX_INDICES}, z1 to {VARIABLES[-1]}",
        )
    node = parse(text, (*VARIABLES, "z"))
    used = variables_of(node)
    if "z" in used:
        raise ExpressionError(
            f"the link {shorten(text)} holds z beside {max(used)}",
            "write z for one index, or z1, z2, ... for several",
        )
    missing = [name for name in VARIABLES[: VARIABLES.index(max(used)) + 1] if name not in used]
    if missing:
        raise ExpressionError(
            f"the link {shorten(text)} has {max(used)} without {', '.join(missing)}",
            "number the indices from z1 on",
        )
    if used == {"z1"}:
        return _of_one(canonical(_renamed(node)))
    digest = hashlib.sha256(canonical(node).encode("ascii")).hexdigest()[:16]
    return Link(f"user_{digest}", text.strip(), node, VARIABLES[: len(used)], latex(node))


def _of_one(text: str) -> Link:
    entry = lookup(text)
    return Link(entry.name, text, parse(entry.expression), ("z",), entry.latex)


def variables_of(node: Node) -> frozenset[str]:
    """The names of the variables in a tree."""
    own = {str(node.value)} if node.op == "variable" else set()
    return frozenset(own.union(*(variables_of(argument) for argument in node.args)))


def _renamed(node: Node) -> Node:
    if node.op == "variable":
        return Node("variable", value="z")
    return Node(node.op, tuple(_renamed(argument) for argument in node.args), node.value)
