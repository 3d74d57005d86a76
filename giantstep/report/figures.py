"""The pictures of a report: the learning curve, the spectrum, the learned functions; those that the model has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from giantstep.draw.curves import figure
from giantstep.draw.learned import learned_figure
from giantstep.draw.look import Picture, saved
from giantstep.draw.spectrum import rendered_spectrum
from giantstep.observe.learned import Learned
from giantstep.observe.spectrum.spectrum import Spectrum
from giantstep.report.contents import Contents, Refused
from giantstep.report.dataset import report
from giantstep.spec.model import Model
from giantstep.sweep.dataset import Dataset

_PROLOG = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)
_REFERENCE = re.compile(r'(\bid="|url\(#|href="#)')
_SIZE = re.compile(r'(<svg [^>]*?)width="([\d.]+)pt" height="[\d.]+pt"', re.DOTALL)


@dataclass(frozen=True)
class Drawing:
    """name: short, for files and anchors; title, caption: in words, mathematics between dollar signs; notes: lines
    below it; render: suffix -> bytes, None where the part is refused, for the reason in ``notes``.
    """

    name: str
    title: str
    caption: str
    notes: tuple[str, ...]
    render: Callable[[str], bytes] | None

    def svg(self) -> str:
        """The drawing as an element of an HTML page: its identifiers are its own, its size bends to the page."""
        assert self.render is not None
        text = _PROLOG.sub("", self.render(".svg").decode())
        text = _REFERENCE.sub(rf"\g<1>{self.name}-", text)
        return _SIZE.sub(rf'\g<1>role="img" aria-label="{self.title}" style="width:\g<2>pt"', text, count=1).strip()


def pictures(found: Contents) -> Iterator[Drawing]:
    """All pictures, in the order of the report."""
    yield _curve(found.model, found.curve)
    yield _spectrum(found.spectrum)
    if isinstance(found.learned, Refused):
        yield Drawing("learned", "Learned function", "", (found.learned.reason,), None)
    else:
        for one in found.learned:
            yield _learned(one)


def _curve(model: Model, dataset: Dataset | Refused) -> Drawing:
    title = "Learning curve"
    if isinstance(dataset, Refused):
        return Drawing("curve", title, "", (dataset.reason,), None)
    samples = model.fit.samples

    def draw() -> Picture:
        drawn = figure(dataset)
        at = [row for row in range(len(dataset)) if dict(dataset.grid.changes(row))["fit.samples"] == samples]
        drawn.axes[0].plot([samples], dataset.numbers("test_error")[at], "o", color="black", markersize=5, zorder=5)
        return drawn

    return Drawing(
        "curve",
        title,
        rf"Test error against the samples of the fit. The dot is the model of this report, $\alpha={samples:.6g}$.",
        tuple(report(dataset).splitlines()),
        lambda suffix: saved(draw, suffix),
    )


def _spectrum(found: Spectrum | Refused) -> Drawing:
    title = "Spectrum of the features"
    if isinstance(found, Refused):
        return Drawing("spectrum", title, "", (found.reason,), None)
    return Drawing(
        "spectrum",
        title,
        r"Density of the eigenvalues of $\Phi^{T}\Phi/p$, where the rows of $\Phi$ are the features of the samples of "
        "the fit. Equal areas are equal fractions of eigenvalues.",
        (),
        lambda suffix: rendered_spectrum(found, suffix),
    )


def _learned(found: Learned) -> Drawing:
    several = found.result.model.target.indices > 1
    which = f"direction {found.index}" if several else "the direction"
    spike = " and along the spike" if found.along_spikes else ""
    told = "Mean output of the network" if found.mean_is == "f" else "Mean label that the network's output stands for,"
    return Drawing(
        f"learned{found.index}" if several else "learned",
        f"Learned function, {which} of the target" if several else "Learned function",
        f"{told} along {which} of the target{spike}, with its scatter.",
        (),
        lambda suffix: saved(lambda: learned_figure(found), suffix),
    )
