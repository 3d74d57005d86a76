"""A model as one document: derivation, solution and evidence, for a browser or for a paper."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from giantstep.report.bibliography import bibtex
from giantstep.report.contents import POINTS, SEEDS, Contents, Settings, contents
from giantstep.report.figures import pictures
from giantstep.report.html_page import page
from giantstep.report.tex_document import document, picture_name
from giantstep.spec.arguments import checked_flag
from giantstep.spec.bars import GivenProgress, progress_of
from giantstep.spec.counts import checked_count, checked_seeds
from giantstep.spec.files import DOCUMENTS, check_writable, write_atomic
from giantstep.spec.given import takes_model
from giantstep.spec.model import Model


@dataclass(frozen=True)
class Report:
    """What was written. files: all of them, the document first; refused: part -> why the model has none; failed:
    names of the checks that do not hold; exit_code: 0, 1 where a check does not hold, 2 or 3 without a solution.
    """

    files: tuple[Path, ...]
    refused: Mapping[str, str]
    failed: tuple[str, ...]
    exit_code: int


@takes_model
def report(
    model: Model,
    path: str | os.PathLike[str],
    *,
    dimension: int | None = None,
    simulate: bool = False,
    seeds: int = SEEDS,
    points: int = POINTS,
    progress: GivenProgress = None,
) -> Report:
    """Write a report of a model: one .html file that needs no network, or a .tex file with .bib and
    pictures beside it.

    Model, solution, learning curve over fit.samples (``points`` of them), spectrum, learned function, the checks of
    ``verify``, notation, all steps of the derivation. ``dimension``: the theory of that finite size; ``simulate``: also
    finite systems, ``seeds`` of them, at that dimension or 200. A part that the model does not have is there with its
    reason. ``progress(stage, done, total)`` follows; total 0: not known. Raises BadInput.
    """
    target = check_writable(path, DOCUMENTS)
    if dimension is not None:
        checked_count("dimension", dimension, 2)
    wanted, number = checked_flag("simulate", simulate), checked_seeds(seeds)
    settings = Settings(dimension, number if wanted else 0, checked_count("points", points, 2))
    with progress_of(progress) as told:
        tell = told or _silent
        found = contents(model, settings, tell)
        tell("writing", 0, 1)
    files = _html(found, target) if target.suffix.lower() == ".html" else _tex(found, target)
    return Report(files, found.refused, found.failed, found.exit_code)


def _html(found: Contents, target: Path) -> tuple[Path, ...]:
    write_atomic(target, page(found).encode())
    return (target,)


def _tex(found: Contents, target: Path) -> tuple[Path, ...]:
    """The document last: what it needs is there when it is."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", target.stem)  # TeX and BibTeX take no other names
    drawings = tuple(pictures(found))
    beside = {target.with_name(f"{stem}.bib"): bibtex(found.works).encode()}
    for drawing in drawings:
        if drawing.render is not None:
            beside[target.with_name(picture_name(stem, drawing))] = drawing.render(".pdf")
    for path, content in beside.items():
        write_atomic(path, content)
    write_atomic(target, document(found, drawings, stem).encode())
    return (target, *beside)


def _silent(stage: str, done: int, total: int) -> None:
    pass
