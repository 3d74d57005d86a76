"""The LaTeX document: brackets and environments close, every reference has what it refers to; it compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import giantstep as gs
from giantstep.law.derivation import ModelDerivation
from giantstep.report.contents import Contents, Refused, Settings
from giantstep.report.figures import pictures
from giantstep.report.function_names import functions_of, with_functions_named
from giantstep.report.tex_document import document
from giantstep.report.tex_words import code, plain, words
from giantstep.verify.check import Check

MODEL = gs.Model.from_dict(
    {
        "network": {"activation": "z*tanh(z) + 0.1", "width": 0.5, "bias": 0.2},
        "step": {"samples": 2.0, "learning_rate": 1.0},
        "target": {"link": "sign(z1*z2)", "flips": 0.1},
        "fit": {"samples": 2.0, "ridge": 0.1, "loss": "logistic"},
    }
)
VERBATIM = re.compile(r"\\[\\{}%&$#_]")


def derivation_only(model: gs.Model) -> Contents:
    """What needs no solver."""
    derived, none = gs.derive(model), Refused("it costs 5 $ & {more}", 3)
    return Contents(
        model,
        Settings(),
        functions_of(derived.parts),
        ModelDerivation(model, with_functions_named(derived.parts)),
        *(none,) * 4,
        (Check("slope of f_1 at 50 %", 1.2e-17, 1e-9, note="#1"), Check("b", 2.0, 1.0)),
        "unfinished",
        {"giantstep": "0.1"},
    )


@pytest.fixture(scope="module")
def found() -> Contents:
    return derivation_only(MODEL)


@pytest.fixture(scope="module")
def text(found: Contents) -> str:
    return document(found, tuple(pictures(found)), "report")


def test_brackets_and_environments_close(text: str) -> None:
    without = VERBATIM.sub("", re.sub(r"(?<!\\)%.*", "", text))
    depth = 0
    for each in without:
        depth += {"{": 1, "}": -1}.get(each, 0)
        assert depth >= 0
    assert depth == 0
    open_ones: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if kind == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    assert text.count(r"\left") - text.count(r"\leftarrow") == text.count(r"\right")
    assert without.count("$") % 2 == 0


def test_every_step_has_a_number_and_every_reference_what_it_refers_to(found: Contents, text: str) -> None:
    assert isinstance(found.derivation, ModelDerivation)
    parts = found.derivation.parts
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    assert labels == [
        f"eq:{number}:{at}" for number, part in enumerate(parts, 1) for at in range(1, len(part.steps) + 1)
    ]
    references = re.findall(r"\\eqref\{([^}]*)\}", text)
    assert len(references) > len(labels) / 2
    assert set(references) <= set(labels)
    assert set(re.findall(r"\\cite(?:\[\{[^]]*\}\])?\{([^}]*)\}", text)) == set(found.works)
    assert "[CUI24" not in text
    assert "THEORY" not in text


def test_functions_are_symbols_with_one_definition(found: Contents, text: str) -> None:
    assert r"\sigma{\left(z \right)} &= z \tanh{\left(z \right)} + \frac{1}{10}" in text
    both = r"\operatorname{sign}{\left(z_{1} \right)} \operatorname{sign}{\left(z_{2} \right)}"
    assert rf"\sigma_{{\star}}(z_{{1}}, z_{{2}}) &= {both}" in text
    assert r"\mathbb{E}_{g}\left[f{\left(\sqrt{c} g + s \right)}\right]" in text
    assert "user\\_" not in text


def test_texts_of_others_stand_for_themselves(text: str) -> None:
    assert plain("50% of {a_b} & $ ^ ~ #\\ é β") == (
        r"50\% of \{a\_b\} \& \$ \^{} \textasciitilde{} \#\textbackslash{} é U+03B2"
    )
    assert words("a_b $a_b$") == r"a\_b $a_b$"
    assert code('x = "a--b"') == r"\texttt{x~=~\char34{}a{-}{-}b\char34{}}"
    assert text.count(r"it costs 5 \$ \& \{more\}") == 4
    assert r"slope of f\_1 at 50 \%\newline{\footnotesize \#1} & $1.2\times 10^{-17}$ & $10^{-9}$ & ok \\" in text
    assert "b & $2$ & $1$ & FAILED" in text


def test_files_are_beside_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from giantstep.report import contents as module

    monkeypatch.setattr(module, "exact_checks", lambda model: ())
    model = MODEL.replace({"target.link": "sign", "target.flips": 0.0, "fit.loss": "square"})
    path = tmp_path / "my report_1.tex"
    found = gs.report(model, path, points=3)
    names = [
        "my report_1.tex",
        *(f"my-report_1{end}" for end in (".bib", "-curve.pdf", "-spectrum.pdf", "-learned.pdf")),
    ]
    assert [file.name for file in found.files] == names
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    text = path.read_text()
    assert re.findall(r"\\includegraphics\[[^]]*\]\{([^}]*)\}", text) == names[2:]
    assert r"\bibliography{my-report_1}" in text
    entries = re.findall(r"^@\w+\{(\w+),", found.files[1].read_text(), re.MULTILINE)
    assert set(entries) == set(re.findall(r"\\cite(?:\[\{[^]]*\}\])?\{([^}]*)\}", text))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_it_compiles_without_complaints(tmp_path: Path) -> None:
    found = gs.report(MODEL.replace({"target.link": "sign"}), tmp_path / "report.tex", points=5)
    assert not found.refused
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = ["-interaction=nonstopmode", "-halt-on-error"] if command == "pdflatex" else []
        subprocess.run([command, *options, "report"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    log = (tmp_path / "report.log").read_text(encoding="latin-1")
    assert not re.findall(r"Warning: .*(?:undefined|multiply|rerun).*", log)
    assert [width for width in re.findall(r"Overfull \\hbox \((\d+)", log) if int(width) > 2] == []
    assert (tmp_path / "report.pdf").stat().st_size > 100_000
