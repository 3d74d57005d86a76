"""The notebooks run from the first cell to the last, and are committed with the outputs of such a run."""

from __future__ import annotations

import ast
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"[-+]?\d+\.\d+")


def printed(notebook: Any) -> list[str]:
    """What each code cell printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = ([one for one in cell.outputs if one.output_type == "stream" and one.name == "stdout"] for cell in cells)
    return ["".join(one.text for one in found) for found in outputs]


def test_there_is_a_notebook() -> None:
    assert "quickstart" in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_as_it_ran(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert not any(cell.metadata for cell in notebook.cells)
    # no folder of the machine that ran it
    text = json.dumps(notebook)
    assert not re.search(r"/(?:home|Users|root|opt|tmp)/|site-packages", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_needs_nothing_private_and_draws_in_the_style_of_the_package(path: Path) -> None:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    code = "\n".join(cells)
    assert re.findall(r"^[ \t]*(?:from|import) giantstep\b.*", code, re.MULTILINE) == ["import giantstep as gs"]
    assert ('plt.style.use("giantstep.paper")' in code) == ("import matplotlib.pyplot as plt" in code)
    assert "gs.plot(" in code or "plt." in code


def test_displayed_formulas_are_paragraphs_of_their_own() -> None:
    """The site shows one inside a paragraph, and what follows it, as it is typed."""
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                assert not re.search(r"[^\n]\n\$\$[^\n]+\$\$|\$\$[^\n]+\$\$\n[^\n]", cell.source), path.stem


def run(cells: list[str]) -> list[str]:
    """What cells print, one after the other in one namespace; what their last lines give is shown as in a notebook."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for number, source in enumerate(cells, 1):
        lines = ast.parse(source, f"cell {number}")
        last = lines.body.pop() if isinstance(lines.body[-1], ast.Expr) else None
        with redirect_stdout(StringIO()) as out:
            exec(compile(lines, f"cell {number}", "exec"), names)
            if isinstance(last, ast.Expr):
                shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
                for form in ("_repr_html_", "_repr_latex_", "__repr__"):
                    getattr(shown, form, str)()
        plt.close("all")
        found.append(out.getvalue())
    return found


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] * (p.stem != "quickstart")) for p in NOTEBOOKS],
)
def test_it_runs_and_prints_the_same_numbers(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which has loaded and compiled what notebooks use."""
    notebook = nbformat.read(path, as_version=4)
    monkeypatch.chdir(tmp_path)
    with plt.rc_context():
        found = run([cell.source for cell in notebook.cells if cell.cell_type == "code"])
    for old, new in zip(printed(notebook), found, strict=True):
        assert NUMBER.sub("#", new) == NUMBER.sub("#", old)
        # one unit of the last digit that is printed, for another numba or BLAS
        for before, after in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
            digits = len(before.partition(".")[2])
            assert float(after) == pytest.approx(float(before), rel=0.0, abs=1.5 * 10.0**-digits)
