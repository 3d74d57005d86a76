"""The trace of a derivation: what is given, what is assumed, what is computed from it; prints as LaTeX, Markdown, text.

A `Recorder` has three verbs. ``given`` states what the user chose (``define`` a name for it), ``assume`` a named
assumption with its source, and ``derive`` runs an operation on right sides that were recorded before: the result of a
derivation cannot be typed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import sympy

from derive.printing import escape_text, latex_lines, plain_text

StepKind = Literal["given", "notation", "assumption", "derived"]

_KINDS = ("given", "notation", "assumption", "derived")
_VERB = {"given": "Given: ", "notation": "Notation: ", "assumption": "We assume ", "derived": ""}


@dataclass(frozen=True)
class Operation:
    """A computation on recorded steps.

    name: of the kind of operation; rule: it in words (text between dollar signs is mathematics); of: labels of the
    steps it reads; run: the right sides of these -> the result, or a pair of the result and more words for the rule;
    before: the right sides -> the same thing not carried out, where SymPy can write it down; claim: what can be tested
    about the result, before = result without one; untested: in words, why there is nothing to test.
    """

    name: str
    rule: str
    of: tuple[str, ...]
    run: Callable[..., Any]
    before: Callable[..., Any] | None = None
    claim: Claim | None = None
    untested: str = ""

    def claimed(self, result: Any, inputs: Sequence[Any]) -> tuple[Any, Any] | None:
        """Two expressions that are equal if the operation was carried out rightly."""
        if self.claim is not None:
            left, right = self.claim.sides(result, *inputs)
            return sympy.sympify(left), sympy.sympify(right)
        return None if self.before is None else (self.before(*inputs), result)


@dataclass(frozen=True)
class Claim:
    """sides: (result, right sides read) -> two expressions that are equal at every point; definitions: of the families
    and functions in them that are no unknowns of their own.
    """

    sides: Callable[..., tuple[Any, Any]]
    definitions: tuple[Any, ...] = ()


@dataclass(frozen=True)
class DerivationStep:
    """One equation `lhs = rhs` of a derivation.

    rule: the operation in words; source: paper and equation; assumption: what has to hold. A "derived" step was
    computed by ``operation`` from the steps ``of``; ``sides`` are equal at every point if it was carried out rightly
    (``claimed`` writes them down when they are asked for), ``definitions`` say what they need, and ``untested`` why
    there are none. shown: one of the equations of the theory;
    the others lead from one to the next.
    """

    label: str
    lhs: sympy.Basic
    rhs: sympy.Basic
    rule: str
    source: str
    assumption: str = ""
    kind: StepKind = "derived"
    operation: str = ""
    of: tuple[str, ...] = ()
    claimed: Callable[[], tuple[sympy.Basic, sympy.Basic] | None] | None = field(
        default=None, repr=False, compare=False
    )
    definitions: tuple[Any, ...] = ()
    untested: str = ""
    shown: bool = True

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"kind of step '{self.label}' is {self.kind!r}; allowed: {', '.join(_KINDS)}")

    @cached_property
    def sides(self) -> tuple[sympy.Basic, sympy.Basic] | None:
        """Two expressions that are equal at every point if the step is right; None where nothing can be tested."""
        return None if self.claimed is None else self.claimed()

    def sentence(self) -> str:
        """What this step does, in words, with what it starts from and its source."""
        words = _VERB[self.kind] + self.rule
        words = words[:1].upper() + words[1:]
        if self.of:
            words += f", from {', '.join(f'*{label}*' for label in self.of)}"
        if self.source:
            words += f" {self.source}" if self.source.startswith("[") else f" ({self.source})"
        if self.assumption:
            words += f"; {self.assumption}"
        return words


@dataclass(frozen=True)
class Derivation:
    """A titled sequence of steps; shows itself in a notebook."""

    title: str
    steps: tuple[DerivationStep, ...]

    def __add__(self, other: Derivation) -> Derivation:
        """This derivation followed by another, under this title."""
        return Derivation(self.title, self.steps + other.steps)

    def step(self, label: str) -> DerivationStep:
        """The step of that label. Raises KeyError naming the labels there are."""
        for candidate in self.steps:
            if candidate.label == label:
                return candidate
        raise KeyError(f"no step {label!r}; there are: {', '.join(s.label for s in self.steps)}")

    def latex(self) -> str:
        """An appendix to paste into a paper (amsmath, amssymb): a section, one numbered equation a step."""
        parts = [rf"\section{{{escape_text(self.title)}}}"]
        prefix = _slug(self.title.lower())
        for step in self.steps:
            lines = latex_lines(step.lhs, step.rhs)
            body = (r" \notag \\" + "\n").join(lines)
            label = rf"\label{{eq:{prefix}:{_slug(step.label)}}}"
            sentence = re.sub(r"\*([^*]+)\*", r"\\emph{\1}", escape_text(step.sentence()))
            parts.append(f"{sentence}\n\\begin{{align}}\n{body} {label}\n\\end{{align}}")
        return "\n\n".join(parts) + "\n"

    def markdown(self) -> str:
        """The same for a notebook, with `$$` displays."""
        parts = [f"### {self.title}"]
        for number, step in enumerate(self.steps, start=1):
            body = " \\\\\n".join(latex_lines(step.lhs, step.rhs))
            parts.append(
                f"**({number}) {step.label}.** {step.sentence()}\n\n$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"
            )
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """The same for a terminal."""
        title = plain_text(self.title)
        parts = [title, "=" * len(title)]
        for number, step in enumerate(self.steps, start=1):
            sentence = re.sub(r"\*([^*]+)\*", r"'\1'", step.sentence())
            parts.append(f"({number}) {step.label}: {plain_text(sentence)}\n      {step.lhs}\n    = {step.rhs}")
        return "\n".join(parts) + "\n"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_latex_(self) -> str:
        bodies = [line for step in self.steps for line in latex_lines(step.lhs, step.rhs)]
        return "$\\displaystyle \\begin{aligned}\n" + " \\\\\n".join(bodies) + "\n\\end{aligned}$"


@dataclass
class Recorder:
    """Collects the steps of one derivation while it is being made.

    known: derivations whose steps may be read, and are not recorded again.
    """

    title: str
    known: Sequence[Derivation] = ()
    _steps: list[DerivationStep] = field(default_factory=list)
    _between: bool = False

    @contextmanager
    def between(self) -> Iterator[None]:
        """Within: steps that lead to the equations of the theory and are none of them."""
        self._between = True
        try:
            yield
        finally:
            self._between = False

    def given(self, label: str, lhs: Any, rhs: Any, rule: str, source: str = "") -> Any:
        """Record what the user chose: an activation, a link, a loss, a readout. Returns the right side."""
        return self._append(DerivationStep(label, lhs, rhs, rule, source, kind="given"))

    def define(self, label: str, lhs: Any, rhs: Any, rule: str, source: str = "") -> Any:
        """Record a notation: the left side is a new name for the right one. Returns the right side."""
        return self._append(DerivationStep(label, lhs, rhs, rule, source, kind="notation"))

    def assume(self, label: str, lhs: Any, rhs: Any, rule: str, *, source: str, assumption: str) -> Any:
        """Record an assumption with its source and the condition it holds under. Returns the right side."""
        return self._append(DerivationStep(label, lhs, rhs, rule, source, assumption, kind="assumption"))

    def derive(self, label: str, lhs: Any, operation: Operation, source: str = "", *, shown: bool = True) -> Any:
        """Run an operation on recorded right sides and record `lhs = result`; returns the result.

        lhs None: the operation not carried out. Raises KeyError where the operation reads a step that is not recorded,
        ValueError where it reads none.
        """
        if not operation.of:
            raise ValueError(f"the operation {operation.name!r} of step {label!r} reads no recorded step")
        inputs = [self.right_side(name) for name in operation.of]
        found = operation.run(*inputs)
        rhs, more = found if isinstance(found, tuple) else (found, "")
        before = operation.before(*inputs) if operation.before is not None else None
        if lhs is None and before is None:
            raise ValueError(f"step {label!r} has no left side: name one, or let {operation.name!r} write it down")
        return self._append(
            DerivationStep(
                label,
                before if lhs is None else lhs,
                rhs,
                operation.rule + more,
                source,
                kind="derived",
                operation=operation.name,
                of=operation.of,
                claimed=partial(operation.claimed, rhs, inputs),
                definitions=operation.claim.definitions if operation.claim is not None else (),
                untested=operation.untested,
                shown=shown,
            )
        )

    def right_side(self, label: str) -> Any:
        """The right side of a step recorded here or known. Raises KeyError."""
        for steps in (self._steps, *(derivation.steps for derivation in self.known)):
            for step in steps:
                if step.label == label:
                    return step.rhs
        raise KeyError(f"no step {label!r} is recorded in '{self.title}'")

    def has(self, label: str) -> bool:
        """Whether a step of that label is recorded here."""
        return any(step.label == label for step in self._steps)

    def extend(self, derivation: Derivation, prefix: str = "") -> None:
        """Append all steps of another derivation, their labels prefixed."""
        inside = {step.label for step in derivation.steps}
        for step in derivation.steps:
            of = tuple(prefix + label if label in inside else label for label in step.of)
            self._append(replace(step, label=prefix + step.label, of=of))

    def finish(self) -> Derivation:
        return Derivation(self.title, tuple(self._steps))

    def _append(self, step: DerivationStep) -> Any:
        if self.has(step.label):
            raise ValueError(f"a step labelled {step.label!r} is already in '{self.title}'; labels are unique")
        self._steps.append(replace(step, shown=step.shown and not self._between))
        return step.rhs


def _slug(words: str) -> str:
    """Part of a label, capitals kept: they are all that tells some names apart."""
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")
