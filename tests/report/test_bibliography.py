"""Citations and the works they name; the citation of the package is that of CITATION.cff."""

from __future__ import annotations

import re
from pathlib import Path

from giantstep.report.bibliography import PAPER, SOFTWARE, WORKS, bibtex, cited, keys_in

CITATION = Path(__file__).parents[2] / "CITATION.cff"


def test_sources_become_citations() -> None:
    def cite(key: str, where: str) -> str:
        return f"<{key}|{where}>"

    assert cited("[CUI24, eq. (4)], [BA22]", cite) == "<CUI24|eq. (4)>, <BA22|>"
    assert cited("[CUI24] Result 3.2, App. B", cite) == "<CUI24|Result 3.2, App. B>"
    assert cited("(THEORY section 4; [CUI24] App. C)", cite) == "(<giantstep|theory page, section 4>; <CUI24|App. C>)"
    assert cited("[CUI24] eq. (3); Gauss 1809", cite) == "<CUI24|eq. (3)>; Gauss 1809"
    assert cited("[XYZ99], s[b], [0, 1]", cite) == "[XYZ99], s[b], [0, 1]"


def test_cited_works_are_listed_with_the_package_and_its_paper() -> None:
    assert keys_in(["[MON23]; THEORY section 5"]) == (SOFTWARE, PAPER, "MON23")


def test_bibtex_is_ascii_and_its_braces_close() -> None:
    text = bibtex(WORKS)
    assert text.isascii()
    assert text.count("{") == text.count("}")
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == list(WORKS)
    assert r"Zdeborov{\'a}" in text


def test_the_package_is_cited_as_in_its_citation_file() -> None:
    text = CITATION.read_text()
    software, paper = WORKS[SOFTWARE], WORKS[PAPER]
    assert f'title: "{software.title}"' in text
    assert [name.lower() for name in re.findall(r"^  - name: (.*)$", text, re.MULTILINE)] == list(software.authors)
    assert f"title: {paper.title}" in text
    people = re.findall(r"family-names: ([^,]+), given-names: ([^}]+)\}", text)
    assert [f"{given} {family}" for family, given in people] == list(paper.authors)
    assert f"https://arxiv.org/abs/{paper.place['eprint']}" in text
