"""The trace of a derivation: every step with its rule and source, printable as LaTeX, Markdown or text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import sympy

from derive.printing import escape_text, latex_lines, latex_of, plain_text

StepKind = Literal["identity", "definition", "assumption", "result"]

_KINDS = ("identity", "definition", "assumption", "result")
_VERB = {
    "identity": "By",
    "definition": "Definition:",
    "assumption": "We assume",
    "result": "Result, by",
}


@dataclass(frozen=True)
class DerivationStep:
    """One equation `lhs = rhs` of a derivation.

    `rule` is the operation in words (text between dollar signs is mathematics), `source` the paper and
    equation, `assumption` what has to hold. An "identity" or "result" is true wherever both sides can be
    evaluated; a "definition" introduces its left side; an "assumption" holds only to leading order or under
    `assumption`.
    """

    label: str
    lhs: sympy.Basic
    rhs: sympy.Basic
    rule: str
    source: str
    assumption: str = ""
    kind: StepKind = "identity"

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"kind of step '{self.label}' is {self.kind!r}; allowed: {', '.join(_KINDS)}")

    def sentence(self) -> str:
        """What this step does, in words, with its source."""
        words = f"{_VERB[self.kind]} {self.rule}"
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
        prefix = _slug(self.title)
        for step in self.steps:
            lines = latex_lines(step.lhs, step.rhs)
            body = (r" \notag \\" + "\n").join(lines)
            label = rf"\label{{eq:{prefix}:{_slug(step.label)}}}"
            parts.append(f"{escape_text(step.sentence())}\n\\begin{{align}}\n{body} {label}\n\\end{{align}}")
        return "\n\n".join(parts) + "\n"

    def markdown(self) -> str:
        """The same for a notebook, with `$$` displays."""
        parts = [f"### {self.title}"]
        for number, step in enumerate(self.steps, start=1):
            body = " \\\\\n".join(latex_lines(step.lhs, step.rhs))
            parts.append(
                f"**({number}) {step.label}.** {step.sentence()}\n\n"
                f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"
            )
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """The same for a terminal."""
        title = plain_text(self.title)
        parts = [title, "=" * len(title)]
        for number, step in enumerate(self.steps, start=1):
            parts.append(
                f"({number}) {step.label}: {plain_text(step.sentence())}\n      {step.lhs}\n    = {step.rhs}"
            )
        return "\n".join(parts) + "\n"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_latex_(self) -> str:
        bodies = [f"{latex_of(s.lhs)} &= {latex_of(s.rhs)}" for s in self.steps]
        return "$\\displaystyle \\begin{aligned}\n" + " \\\\\n".join(bodies) + "\n\\end{aligned}$"


@dataclass
class Recorder:
    """Collects the steps of one derivation while it is being made."""

    title: str
    _steps: list[DerivationStep] = field(default_factory=list)

    def record(
        self,
        label: str,
        lhs: sympy.Basic,
        rhs: sympy.Basic,
        *,
        rule: str,
        source: str,
        assumption: str = "",
        kind: StepKind = "identity",
    ) -> sympy.Basic:
        """Append the step `lhs = rhs` and return `rhs`. Raises ValueError for a label used twice."""
        if any(step.label == label for step in self._steps):
            raise ValueError(f"a step labelled {label!r} is already in '{self.title}'; labels are unique")
        self._steps.append(DerivationStep(label, lhs, rhs, rule, source, assumption, kind))
        return rhs

    def extend(self, derivation: Derivation, prefix: str = "") -> None:
        """Append all steps of another derivation, their labels prefixed."""
        for s in derivation.steps:
            self.record(
                prefix + s.label,
                s.lhs,
                s.rhs,
                rule=s.rule,
                source=s.source,
                assumption=s.assumption,
                kind=s.kind,
            )

    def finish(self) -> Derivation:
        return Derivation(self.title, tuple(self._steps))


def _slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
