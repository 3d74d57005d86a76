"""Fixtures of the tests of the command line: a model file, and the program called in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import TEXT, Run

from giantstep.cli.main import main


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.toml"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("GIANTSTEP_DEBUG", raising=False)

    def called(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        found = capsys.readouterr()
        return code, found.out, found.err

    return called
