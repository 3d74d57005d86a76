"""Files that are and are not models, and junk of every kind in every field."""

import math
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from model_cases import STEP, put

from giantstep.spec.errors import BadInput, GiantstepError, NotConverged
from giantstep.spec.model import Model, allowed_keys

BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "[network] is missing"),
    "no table": (b"width = 1", "unknown key 'width'"),
    "not toml": (b"[network]\nactivation = tanh\n", "line 2"),
    "duplicate": (b"[fit]\n[fit]\n", "not valid TOML"),
    "latin": (b"[network]\n# \xe9\n", "not UTF-8"),
    "null": (b"\x00", "not valid TOML"),
    "deep": (b"a = " + b"[" * 20000, "not valid TOML"),
    "dotted": (b"a." * 100_000 + b"a = 1", "a dotted key has more than 30 parts"),
    "dotted in a table": (b"a = {" + b"'=' . " * 40_000 + b"a = 1}", "a dotted key has more than 30 parts"),
    "a long word": (b"a" * 999_990, "not valid TOML"),
    "digits": (b"a = " + b"9" * 20000, "not valid TOML"),
    "huge": (b"#" * 1_000_001, "larger than"),
    "date": (
        b"[fit]\nsamples = 2024-02-07\nridge=1\n[network]\nactivation='tanh'\nwidth=1\n",
        "[target] is missing",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_are_not_models(name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    path = tmp_path / "model.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        Model.from_toml(path)
    assert words in str(caught.value) and "model.toml" in str(caught.value)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        (tmp_path / "absent.toml", "does not exist"),
        (tmp_path, "is a folder"),
        ("", "does not exist"),
        ("a\x00b", "cannot be read"),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (Model.from_dict(STEP).to_toml(), "the path of a model file is expected, not its text"),
        (100 * "# text\n", "gs.Model.from_dict(tomllib.loads(text))"),
        (0, "text or a Path"),
        (None, "text or a Path"),
    ]
    for path, words in cases:
        with pytest.raises(BadInput) as caught:
            Model.from_toml(path)
        assert words in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.touch(mode=0)
    with pytest.raises(BadInput, match="cannot be read"):
        Model.from_toml(path)


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(Model.from_dict(STEP).to_toml(), encoding="utf-8-sig")
    assert Model.from_toml(path) == Model.from_dict(STEP)


def test_reading_a_model_needs_no_computer_algebra() -> None:
    code = "import sys, giantstep.spec.model; sys.exit('sympy' in sys.modules or 'mpmath' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def junk(source: random.Random, depth: int = 0) -> object:
    leaves: list[object] = [
        None,
        True,
        0,
        -1,
        1.5,
        math.nan,
        math.inf,
        1e200,
        "",
        "tanh",
        "x",
        b"",
        (),
        {},
        [],
        1j,
    ]
    if depth > 2 or source.random() < 0.6:
        return source.choice(leaves)
    if source.random() < 0.5:
        return [junk(source, depth + 1) for _ in range(source.randint(0, 3))]
    words = ["values", "fractions", "samples", "ridge", "width", "name", "delta", "x", "", 3]
    return {source.choice(words): junk(source, depth + 1) for _ in range(source.randint(0, 3))}


def test_any_junk_gives_a_model_or_bad_input() -> None:
    source = random.Random(11)
    outcomes = {True: 0, False: 0}
    for _ in range(4000):
        data = put(source.choice(list(allowed_keys())), junk(source))
        try:
            model = Model.from_dict(data)
        except BadInput as error:
            assert error.message
            outcomes[False] += 1
        else:
            assert Model.from_dict(model.to_dict()) == model
            outcomes[True] += 1
    assert min(outcomes.values()) > 100


def test_errors() -> None:
    assert (BadInput.exit_code, NotConverged.exit_code) == (2, 3)
    for kind in (GiantstepError, BadInput, NotConverged):
        error = pickle.loads(pickle.dumps(kind("what", "how")))
        assert type(error) is kind and (error.message, error.hint) == ("what", "how")
        assert str(error) == "what; how" and str(kind("what")) == "what"
