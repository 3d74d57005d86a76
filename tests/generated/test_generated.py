"""The committed kernels are, byte for byte, what the sources give, and writing them never leaves half a file."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import generated
import giantstep
from codegen.manifest import MANIFEST, check, write_all, write_atomic
from codegen.system import expected_texts
from giantstep.spec.generate import generate

ROOT = Path(giantstep.__file__).parents[1]
GENERATED = Path(generated.__file__).parent
DIGEST = """
import hashlib
from codegen.functions import emit_registered
from codegen.system import emit_systems
from codegen.step import emit_step
texts = {**emit_registered(["gelu", "relu", "sin", "tanh"]), **emit_systems(), "step.py": emit_step()}
print(hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Everything that `generated/` should hold."""
    return expected_texts()


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter that runs the code."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=variables, stdout=subprocess.PIPE, text=True)


def test_generated_is_what_the_sources_give(texts: dict[str, str]) -> None:
    differences = check(texts, GENERATED)
    assert not differences, "run: giantstep generate\n" + "\n".join(differences)[:2000]


def test_the_manifest_names_every_file(texts: dict[str, str]) -> None:
    files = json.loads((GENERATED / MANIFEST).read_text(encoding="utf-8"))["files"]
    assert set(files) == set(texts) - {MANIFEST}
    for name, entry in files.items():
        data = (GENERATED / name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert f'SIGNATURE = "{entry["signature"]}"' in data.decode("utf-8")


def test_the_check_sees_a_changed_a_missing_and_a_stale_file(texts: dict[str, str], tmp_path: Path) -> None:
    write_all({name: text for name, text in texts.items() if name != MANIFEST}, tmp_path)
    assert check(texts, tmp_path) == []
    changed = tmp_path / "functions" / "tanh.py"
    changed.write_text(
        changed.read_text(encoding="utf-8").replace("0.3989422804014327", "0.3989422804014328")
    )
    (tmp_path / "functions" / "sign.py").unlink()
    (tmp_path / "solvers" / "old.py").write_text("x = 1\n")
    found = check(texts, tmp_path)
    assert len(found) == 3
    for name in ("functions/tanh.py", "functions/sign.py", "solvers/old.py"):
        assert sum(name in difference for difference in found) == 1


def test_the_command_says_what_differs_and_what_to_do(
    texts: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    monkeypatch.setattr("codegen.system.expected_texts", lambda: texts)
    monkeypatch.setattr("giantstep.spec.generate.generated_root", lambda: tmp_path)
    assert not generate([], check=True, echo=said.append)
    assert "giantstep generate" in said[-1]
    assert generate([], check=False, echo=said.append)
    assert generate([], check=True, echo=said.append)


def test_two_hash_seeds_give_the_same_bytes() -> None:
    runs = [python(DIGEST, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    first, second = (run.communicate()[0].strip() for run in runs)
    assert len(first) == 64
    assert first == second


def test_a_failure_while_writing_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernel.py"
    write_atomic(path, "old = 1\n")

    def fail(source: object, target: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("codegen.manifest.os.replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_atomic(path, "new = 2\n")
    assert path.read_text() == "old = 1\n"
    assert [item.name for item in tmp_path.iterdir()] == ["kernel.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kill_while_writing_leaves_no_half_written_file(tmp_path: Path) -> None:
    """The process is stopped by SIGKILL at the moment when all bytes but the last are on disk."""
    path = tmp_path / "kernel.py"
    old, new = "old = 1\n" * 1000, "new = 2\n" * 1000
    write_atomic(path, old)
    code = f"""
import os, signal
from pathlib import Path
from codegen import manifest
manifest.os.fsync = lambda handle: (os.ftruncate(handle, 4001), os.kill(os.getpid(), signal.SIGKILL))
manifest.write_atomic(Path({str(path)!r}), {new!r})
"""
    killed = python(code)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert path.read_text() == old
    leftovers = [item for item in tmp_path.iterdir() if item != path]
    assert len(leftovers) == 1
    assert leftovers[0].stat().st_size == 4001
    # what is left is no module: a hidden file that the next write does not trip over
    assert leftovers[0].name.startswith(".")
    assert leftovers[0].suffix != ".py"
    assert write_atomic(path, new)
    assert path.read_text() == new
