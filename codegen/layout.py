"""Where every number of a solve lives: one table of node values and one flat workspace, so compilation stays short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from derive.directions import directions_of

NODE = "node"


def scalar_columns(directions: int = 1, spikes: int = 1) -> tuple[str, ...]:
    """Columns of the table before those of the blocks: coordinates of kappa after the first one come last."""
    first, *others = directions_of("kappa", spikes)
    return (first, "weight", "nu0", *directions_of("nu1", directions), "nu2sq", *others)


# columns of the table, one row per node of kappa: scalars first, then K columns for each function with a block index
SCALAR_COLUMNS = scalar_columns()
BLOCK_COLUMNS = ("mu0", "mu1", "mu2sq")
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")
FIELD_RANK = -1


@dataclass
class Layout:
    """Places of families (rank 0, 1, 2, ...) and of functions of kappa (rank -1) in the flat workspace.

    A name that has no place is a local variable. ``single``: one block, where each family is one number.
    ``compact``: matrices are inverted in place, and starts of columns are local variables as those of families are.
    """

    ranks: dict[str, int] = field(default_factory=dict)
    stores: Mapping[str, Callable[[Sequence[str]], str]] = field(default_factory=dict)
    scalars: tuple[str, ...] = SCALAR_COLUMNS
    single: bool = False
    compact: bool = False

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
        if name in self.scalars:
            return f"table[{NODE}, {self.scalars.index(name)}]"
        if name in BLOCK_COLUMNS:
            position, before = BLOCK_COLUMNS.index(name), len(self.scalars)
            if indices[0] == "0":
                return f"table[{NODE}, {before + position}]"
            if self.compact:
                return f"table[{NODE}, o_{name} + {indices[0]}]"
            start = (
                f"{before}"
                if position == 0
                else f"{before} + K"
                if position == 1
                else f"{before} + {position}*K"
            )
            return f"table[{NODE}, {start} + {indices[0]}]"
        return f"work[o_{name} + {NODE}]"

    def matrix(self, name: str, indices: Sequence[str]) -> str:
        """Text of an entry of the matrix whose inverse is a family: where the family will be, or its own array."""
        return self.place(name, indices) if self.compact else f"matrix[{', '.join(indices)}]"

    def inversion(self, name: str) -> str:
        """Statement that makes a family the inverse of that matrix."""
        return f"_invert(work, K, o_{name})" if self.compact else f"_invert(matrix, work, o_{name})"

    def adjacent(self, names: Sequence[str]) -> bool:
        """Whether the families follow each other in the workspace."""
        ranks = list(self.ranks)
        start = ranks.index(names[0])
        return ranks[start : start + len(names)] == list(names)

    def length(self, names: Sequence[str]) -> str:
        """Number of members of some families together, as a polynomial in K and N."""
        return polynomial(self._rank(name) for name in names)

    def _rank(self, name: str) -> int:
        rank = self.ranks[name]
        return 0 if self.single and rank != FIELD_RANK else rank

    def offset(self, name: str, after: str | None = None) -> str:
        """Start of a family as a polynomial in the number of blocks K and of nodes N; how far after that of another."""
        names = list(self.ranks)
        return self.length(names[names.index(after) if after else 0 : names.index(name)])

    def total(self) -> str:
        """Length of the workspace."""
        return self.length(list(self.ranks))


def polynomial(ranks: Iterable[int]) -> str:
    """Sum of the sizes of families of these ranks as text."""
    powers = {0: "", 1: "K", 2: "K*K", 3: "K*K*K", 4: "K*K*K*K", FIELD_RANK: "N"}
    counts = Counter(ranks)
    terms = []
    for rank, power in powers.items():
        if counts[rank]:
            terms.append(
                str(counts[rank]) if not power else power if counts[rank] == 1 else f"{counts[rank]}*{power}"
            )
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
