"""Model files whose values are changed before they are checked, as ``--set`` does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import TEXT, Run, one_sentence_and_a_hint

import giantstep as gs

BAD = TEXT.replace("noise = 0.1", "") + 'loss = "logistic"\n'


def test_a_change_mends_a_file(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(BAD)
    assert run("derive", str(path))[0] == 2
    assert run("derive", str(path), "--set", "target.link=sign")[0] == 0
    assert gs.Model.from_toml(path, {"target.link": "sign"}).target.link == "sign"


@pytest.mark.parametrize(
    ("text", "change", "word"),
    [
        (BAD, "fit.ridge=0.2", "target.link = 'tanh'"),
        (BAD, "fit.rigde=1", "did you mean 'fit.ridge'"),
        (BAD, "fit.ridge=[1]", "fit.ridge = [1]"),
        (TEXT, "fit.loss.delta=1", "fit.loss.delta = 1 is not a parameter of the loss 'square'"),
        (TEXT, "spike.strength=1", "the model has no [spike]"),
        ("fit = 'a'", "fit.ridge=1", "fit = 'a'"),
        ("step = 3", "step.1.samples=1", "step = 3"),
        ("step = [3]", "step.samples=1", "step = 3"),
        ("fit.loss = 3", "fit.loss.delta=1", "loss = 3"),
    ],
)
def test_what_stays_wrong_is_named(tmp_path: Path, run: Run, text: str, change: str, word: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    code, out, err = run("solve", str(path), "--set", change)
    assert code == 2 and not out
    one_sentence_and_a_hint(err, word)
    assert "with another" not in err and "allowed keys" not in err
    assert ("bad.toml" in err) == (change != "fit.rigde=1")  # which no file has to do with


def test_files_beside_the_model_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(TEXT.replace("[target]", 'bulk = "matrix"\nmatrix = "b.npy"\n[target]'))
    for change, expected in (({"fit.ridge": "0.2"}, str(tmp_path / "b.npy")), ({"step.matrix": "c.npy"}, "c.npy")):
        step = gs.Model.from_toml(path, change).step
        assert step is not None and step.matrix == expected
