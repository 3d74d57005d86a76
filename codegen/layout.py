"""Where every number of a solve lives: one table of node values and one flat workspace, so compilation stays short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

NODE = "node"
# columns of the table, one row per node of kappa: scalars first, then K columns for each function with a block index
SCALAR_COLUMNS = ("kappa", "weight", "nu0", "nu1", "nu2sq")
BLOCK_COLUMNS = ("mu0", "mu1", "mu2sq")
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")
FIELD_RANK = -1


@dataclass
class Layout:
    """Places of families (rank 0, 1, 2, ...) and of functions of kappa (rank -1) in the flat workspace.

    A name that has no place is a local variable.
    """

    ranks: dict[str, int] = field(default_factory=dict)
    stores: Mapping[str, Callable[[Sequence[str]], str]] = field(default_factory=dict)

    def place(self, name: str, indices: Sequence[str]) -> str:
        """Text that reads or writes one member of a family."""
        if name in self.stores:
            return self.stores[name](indices)
        if name == "fraction":
            return f"fraction[{indices[0]}]"
        if name not in self.ranks:
            return name
        position = flat(indices)
        return f"work[o_{name}]" if position == "0" else f"work[o_{name} + {position}]"

    def field(self, name: str, indices: Sequence[str]) -> str:
        """Text that reads a function of kappa at the current node."""
        if name in SCALAR_COLUMNS:
            return f"table[{NODE}, {SCALAR_COLUMNS.index(name)}]"
        if name in BLOCK_COLUMNS:
            position, before = BLOCK_COLUMNS.index(name), len(SCALAR_COLUMNS)
            if indices[0] == "0":
                return f"table[{NODE}, {before + position}]"
            start = (
                f"{before}"
                if position == 0
                else f"{before} + K"
                if position == 1
                else f"{before} + {position}*K"
            )
            return f"table[{NODE}, {start} + {indices[0]}]"
        return f"work[o_{name} + {NODE}]"

    def offset(self, name: str) -> str:
        """Start of a family as a polynomial in the number of blocks K and of nodes N."""
        names = list(self.ranks)
        return self._polynomial(names[: names.index(name)])

    def total(self) -> str:
        """Length of the workspace."""
        return self._polynomial(list(self.ranks))

    def _polynomial(self, names: Sequence[str]) -> str:
        powers = {FIELD_RANK: "N", 0: "", 1: "K", 2: "K*K", 3: "K*K*K", 4: "K*K*K*K"}
        terms = []
        for rank, power in powers.items():
            count = sum(self.ranks[name] == rank for name in names)
            if count:
                terms.append(str(count) if not power else power if count == 1 else f"{count}*{power}")
        return " + ".join(terms) or "0"


def flat(indices: Sequence[str]) -> str:
    """Row-major position: ``(b*K + c)*K + d``; "0" for the single member of a family of one block."""
    if all(letter == "0" for letter in indices):
        return "0"
    text = indices[0]
    for number, following in enumerate(indices[1:]):
        text = f"{text}*K + {following}" if number == 0 else f"({text})*K + {following}"
    return text


def size(rank: int) -> str:
    """Number of members of a family as text."""
    return "*".join(["K"] * rank) or "1"
