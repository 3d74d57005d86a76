"""The works that derivations cite, as BibTeX and in words, and how the sources of a step become citations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from giantstep import __version__

SOFTWARE = "giantstep"  # key of this package's own entry
PAPER = "CUI24"  # whose equations it derives

_WHERE = r"(?:(?:App\.|Result|section) [A-Z0-9]+(?:\.\d+)*|eq\. \(\d+\)(?:-\(\d+\))?)"
_SOURCE = re.compile(rf"\[([A-Z]+\d\d)(?:, ([^\]]*))?\]((?:,? {_WHERE})*)|THEORY section (\d+)")
_ACCENTS: Mapping[str, str] = MappingProxyType({"á": r"{\'a}", "é": r"{\'e}"})


@dataclass(frozen=True)
class Work:
    """kind: of the BibTeX entry; authors: full names; place: where it appeared, by the name of its BibTeX field."""

    kind: str
    authors: tuple[str, ...]
    title: str
    year: int | None = None
    place: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> str:
        """One line: authors, title, place, year."""
        names = ", ".join(self.authors[:-1]) + (" and " if len(self.authors) > 1 else "") + self.authors[-1]
        where = [f"arXiv:{text}" if name == "eprint" else text for name, text in self.place.items()]
        return f"{names}: {self.title}. {', '.join([*where, *([str(self.year)] if self.year else [])])}."

    def bibtex(self, key: str) -> str:
        """The entry of a .bib file; braces keep names of institutions and capitals as they are."""
        whole = [name if name[0].isupper() else f"{{{name}}}" for name in self.authors]
        fields = {"author": " and ".join(whole), "title": f"{{{self.title}}}", **self.place}
        if "eprint" in self.place:
            fields["archiveprefix"] = "arXiv"
        if self.year:
            fields["year"] = str(self.year)
        lines = ",\n".join(f"  {name} = {{{_ascii(text)}}}" for name, text in fields.items())
        return f"@{self.kind}{{{key},\n{lines}\n}}\n"


WORKS: Mapping[str, Work] = MappingProxyType(
    {
        SOFTWARE: Work(
            "misc",
            ("the giantstep authors",),
            "giantstep: learning curves of two-layer networks after one giant gradient step",
            place={"howpublished": f"software, version {__version__}"},
        ),
        PAPER: Work(
            "inproceedings",
            (
                "Hugo Cui",
                "Luca Pesce",
                "Yatin Dandi",
                "Florent Krzakala",
                "Yue M. Lu",
                "Lenka Zdeborová",
                "Bruno Loureiro",
            ),
            "Asymptotics of feature learning in two-layer networks after one gradient-step",
            2024,
            {
                "booktitle": "Proceedings of the 41st International Conference on Machine Learning",
                "eprint": "2402.04980",
            },
        ),
        "BA22": Work(
            "inproceedings",
            ("Jimmy Ba", "Murat A. Erdogdu", "Taiji Suzuki", "Zhichao Wang", "Denny Wu", "Greg Yang"),
            "High-dimensional asymptotics of feature learning: how one gradient step improves the representation",
            2022,
            {"booktitle": "Advances in Neural Information Processing Systems 35", "eprint": "2205.01445"},
        ),
        "GER20": Work(
            "inproceedings",
            ("Federica Gerace", "Bruno Loureiro", "Florent Krzakala", "Marc Mézard", "Lenka Zdeborová"),
            "Generalisation error in learning with random features and the hidden manifold model",
            2020,
            {
                "booktitle": "Proceedings of the 37th International Conference on Machine Learning",
                "eprint": "2002.09339",
            },
        ),
        "LOU24": Work(
            "misc",
            ("Bruno Loureiro",),
            "Slides on two-layer networks after one gradient step",
            2024,
            {"howpublished": "DIMACS"},
        ),
        "MON23": Work(
            "misc",
            ("Behrad Moniri", "Donghwan Lee", "Hamed Hassani", "Edgar Dobriban"),
            "A theory of non-linear feature learning with one gradient step in two-layer neural networks",
            2023,
            {"eprint": "2310.07891"},
        ),
    }
)


def cited(text: str, cite: Callable[[str, str], str]) -> str:
    """The text with ``cite(key, where in the work)`` in place of every source that is one of the works."""

    def citation(found: re.Match[str]) -> str:
        key, inside, behind, section = found.groups()
        if section:
            return cite(SOFTWARE, f"theory page, section {section}")
        places = [inside or "", (behind or "").strip(" ,")]
        return cite(key, ", ".join(filter(None, places))) if key in WORKS else found[0]

    return _SOURCE.sub(citation, text)


def keys_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Keys of the works that some texts cite, in the order of the table; the package and its paper always."""
    found = {SOFTWARE, PAPER}

    def note(key: str, _: str) -> str:
        found.add(key)
        return ""

    for text in texts:
        cited(text, note)
    return tuple(key for key in WORKS if key in found)


def bibtex(keys: Iterable[str]) -> str:
    """A .bib file."""
    return "\n".join(WORKS[key].bibtex(key) for key in keys)


def _ascii(text: str) -> str:
    return "".join(_ACCENTS.get(character, character) for character in text)
