"""Functions of an emitted module: statements that evaluate nodes of a plan in order, and what they unpack first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codegen.lower.affine import ONE
from codegen.lower.chains import in_pairs, products_of
from codegen.lower.loops import Loops
from codegen.lower.nests import nests
from codegen.lower.nodes import Passes
from codegen.lower.stages import schedule
from codegen.lower.text import Text, indented, words
from codegen.places import BLOCK_COLUMNS, PARAMETERS, Places, scalar_columns
from codegen.plan import Node
from derive.saddle import RANK, SaddleSystem

NUMBERS = (*PARAMETERS, str(ONE))
ARGUMENTS = "node, fraction, numbers, vector, matrix, field"
OBSERVABLES = ("test_error", "train_error", "free_energy")
RESULTS = {name: f"out[{place}]" for place, name in enumerate(OBSERVABLES)}


@dataclass
class Program:
    """A module under construction: a system, the places of its families, and labels of its equations.

    quick: loops over the nodes are worth the time of the compiler that short code would save.
    """

    system: SaddleSystem
    places: Places = field(default_factory=Places)
    labels: dict[str, str] = field(default_factory=dict)
    quick: bool = False

    def __post_init__(self) -> None:
        self.places.scalars = scalar_columns(self.system.directions, self.system.spikes, self.system.drawn)
        self.labels |= {e.unknown: e.label for e in self.system.equations if e.label != e.unknown}

    def reserve(self, names: Sequence[str]) -> None:
        """Rows for families, by the rank of each."""
        for name in names:
            self.places.reserve([name], rank_of(name))

    def statements(self, nodes: Sequence[Node], results: Mapping[str, str] | None = None) -> list[str]:
        """The statements that evaluate nodes in order; ``results``: where those go that are no families."""
        stages, stored = schedule(nodes)
        for average in stored:
            if average.indices:
                self.places.reserve([average.name], len(average.indices))
        self.places.reserve([n.name for n in nodes if n.kind == "field"], None)
        text = Text()
        loops = Loops(text, self.places.with_results(results or {}), self.labels)
        passes = Passes(loops)
        for stage in stages:
            if stage.fields or stage.averages:
                passes.write(stage.fields, stage.averages)
            assignments = in_pairs(stage.assignments)
            self.places.reserve(products_of(assignments), 2)
            for nest in nests(assignments):
                loops.nest(nest)
        return text.lines

    def function(self, name: str, doc: str, lines: Sequence[str], more: str = "", entry: bool = False) -> str:
        """A jitted function around statements; an ``entry`` is called from Python."""
        decorator = "@entry" if entry else "@kept(**INNER)"
        size = [] if self.quick and "N" in words(lines) else ["short()"]
        body = indented([f'"""{doc}"""', *size, *self.unpacked(lines), *lines])
        return "\n".join([decorator, f"def {name}({ARGUMENTS}{more}):", *body])

    def observables(self, doc: str = f"out = ({', '.join(OBSERVABLES)}).", entry: bool = False) -> str:
        """The function of the observables."""
        nodes = [Node(name, "family", (), getattr(self.system, name)) for name in OBSERVABLES]
        name = "observables" if entry else "_observables"
        return self.function(name, doc, self.statements(nodes, RESULTS), ", out", entry)

    def unpacked(self, lines: Sequence[str]) -> list[str]:
        """Local variables that statements use: numbers, sizes, where the features of the blocks begin."""
        used = words(lines)
        numbers = [(name, place) for place, name in enumerate(NUMBERS) if name in used]
        header = []
        if numbers:
            values = ", ".join(f"numbers[{place}]" for _, place in numbers)
            header.append(f"{', '.join(name for name, _ in numbers)} = {values}")
        features = [(name, place) for place, name in enumerate(BLOCK_COLUMNS) if name in used]
        sizes = [("K", "fraction.shape[0]")] * ("K" in used or bool(features))
        sizes += [("N", "node.shape[1]")] * ("N" in used)
        if sizes:
            header.append(f"{', '.join(s for s, _ in sizes)} = {', '.join(s for _, s in sizes)}")
        first = len(self.places.scalars)
        header += [f"{name} = {first}{('', ' + K', ' + 2*K', ' + 3*K')[place]}" for name, place in features]
        return header


def rank_of(name: str) -> int:
    """Number of block indices of a family, of its residual, tangent or weight."""
    for prefix in ("d_residual_", "residual_", "d_", "weight_", "slope_"):
        name = name.removeprefix(prefix)
    return RANK.get(name, 1)
