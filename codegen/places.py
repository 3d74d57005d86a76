"""Where every number of a system lives: rows of a few arrays, by name.

``vector[T, b]`` holds a family with one block index, ``matrix[V1, b, c]`` one with two, ``field[V, n]`` a function of
kappa at its nodes, ``node[mu1 + b, n]`` what is given there. The names are constants of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from derive.directions import directions_of

NODE = "n"
BLOCK_COLUMNS = ("mu0", "mu1", "mu2sq", "mu_c")  # the last one where the norms of the rows vary
PARAMETERS = ("alpha", "beta", "ridge", "noise", "inverse_dimension")


def scalar_columns(directions: int = 1, spikes: int = 1, drawn: bool = False) -> tuple[str, ...]:
    """What is given at a node before the features of the blocks: the moments of the clean label, and of one that is
    drawn; coordinates of kappa after the first come last.
    """
    first, *others = directions_of("kappa", spikes)
    label = ("label_nu0", *directions_of("label_nu1", directions), "label_nu2sq") if drawn else ()
    return (first, "weight", "nu0", *directions_of("nu1", directions), "nu2sq", *label, *others)


def block_columns(norms: bool) -> tuple[str, ...]:
    """What is given at a node for each block; norms: whether those of the rows vary."""
    return BLOCK_COLUMNS if norms else BLOCK_COLUMNS[:-1]


@dataclass
class Places:
    """Rows of ``vector``, ``matrix`` and ``field`` in order, and what is given at the nodes (``scalars``).

    ``results``: text of the place of a result that is no family. A name without a place is a local variable.
    """

    scalars: tuple[str, ...] = scalar_columns()
    vectors: list[str] = field(default_factory=list)
    matrices: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    results: Mapping[str, str] = field(default_factory=dict)

    def reserve(self, names: Iterable[str], rank: int | None) -> None:
        """Rows for families of rank 1 or 2, or for functions of kappa (None), where they have none yet."""
        rows = self.fields if rank is None else {1: self.vectors, 2: self.matrices}[rank]
        rows += [name for name in names if name not in rows]

    def with_results(self, results: Mapping[str, str]) -> Places:
        """The same rows (not copies of them) with places for results."""
        return replace(self, results=results)

    def member(self, name: str, indices: Sequence[str]) -> str:
        """Text that reads or writes one member of a family."""
        if name in self.results:
            return self.results[name]
        if name == "fraction":
            return f"fraction[{indices[0]}]"
        if name in self.vectors or name in self.matrices:
            return f"{'vector' if name in self.vectors else 'matrix'}[{', '.join([name, *indices])}]"
        return name

    def at_node(self, name: str) -> str:
        """Text that reads or writes a function of kappa without block index at the current node."""
        return f"{'node' if name in self.scalars else 'field'}[{name}, {NODE}]"

    def row(self, name: str, block: str) -> str:
        """The row of a coefficient of the features of a block."""
        if name not in BLOCK_COLUMNS:
            raise ValueError(f"{name} is not given for each block")
        return f"{name} + {block}"

    def constants(self) -> list[str]:
        """The names of all rows as numbers; of Python's own, numba would compile every function that takes one anew."""
        rows = f"{', '.join(self.scalars)} = np.arange({len(self.scalars)})"
        lines = [f"{rows}  # rows of node, then those of the blocks", f"ROWS = {len(self.scalars)}"]
        for array, names in (("VECTORS", self.vectors), ("MATRICES", self.matrices), ("FIELDS", self.fields)):
            lines += [f"{array} = {tuple(names)!r}", f"{_targets(names)} = np.arange({len(names)})"]
        return lines


def _targets(names: Sequence[str]) -> str:
    return f"({', '.join(names)})" if len(names) != 1 else f"({names[0]},)"
