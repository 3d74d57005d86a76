"""A derivation that unfolds: every part, and every step of a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from derive.printing import latex_lines
from derive.trace import Derivation, DerivationStep
from giantstep.report.html_words import equation, sentence, words


def derivation(parts: Sequence[Derivation]) -> Iterator[str]:
    """The parts in order: folded; within a part the equations of the theory are open, what lies between is not."""
    places: dict[str, str] = {}
    for number, part in enumerate(parts, 1):
        places |= {step.label: _anchor(number, at) for at, step in enumerate(part.steps, 1)}
        steps = "\n".join(_step(step, number, at, places) for at, step in enumerate(part.steps, 1))
        yield (
            f'<details class="part" id="part-{number}"><summary><h3>{number}. {words(part.title)}</h3>'
            f'<span class="count">{len(part.steps)} steps</span></summary>\n{steps}\n</details>'
        )


def _step(step: DerivationStep, part: int, number: int, places: dict[str, str]) -> str:
    said = sentence(step.sentence(), lambda label: places.get(label, ""))
    opened = " open" if step.shown else ""
    kind = "" if step.kind == "derived" else f'<span class="kind">{step.kind}</span>'
    place = f'<span class="number">{part}.{number}</span>'
    return (
        f'<details class="step" id="{_anchor(part, number)}"{opened}><summary>{place} '
        f"{escape(step.label)} {kind}</summary>\n<p>{said}.</p>\n"
        f'<div class="equation">{equation(latex_lines(step.lhs, step.rhs))}</div></details>'
    )


def _anchor(part: int, number: int) -> str:
    return f"step-{part}-{number}"
