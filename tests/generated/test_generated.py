"""The committed kernels are, byte for byte, what the sources give, and writing them never leaves half a file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hash_seeds import printed_under_any_seed

import generated
import giantstep
from codegen.emit import expected_texts
from codegen.manifest import MANIFEST, check, read_by, write_all, write_atomic
from giantstep.spec.generate import generate

ROOT = Path(giantstep.__file__).parents[1]
GENERATED = Path(generated.__file__).parent
DIGEST = """
import hashlib
from codegen.functions import emit_registered
from codegen.losses import emit_registered_losses
from codegen.shared import emit_runtime
from codegen.emit import emit_system
from codegen.step import emit_step
texts = {**emit_registered(["gelu", "relu", "sin", "tanh"]), "step.py": emit_step()}
texts |= {"square": emit_system("square"), "inputs": emit_system("inputs")}
texts |= {**emit_registered_losses(["huber", "log_cosh", "probit"]), **emit_runtime()}
print(hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Everything that `generated/` should hold."""
    return expected_texts()


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter that runs the code, with nothing of the current folder on its path."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen([sys.executable, "-P", "-c", code], env=variables, stdout=subprocess.PIPE, text=True)


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
    changed.write_text(changed.read_text(encoding="utf-8").replace("coefficients", "coefficient", 1))
    (tmp_path / "functions" / "sign.py").unlink()
    (tmp_path / "systems" / "old.py").write_text("x = 1\n")
    found = check(texts, tmp_path)
    assert len(found) == 3
    for name in ("functions/tanh.py", "functions/sign.py", "systems/old.py"):
        assert sum(name in difference for difference in found) == 1


def test_the_command_says_what_differs_and_what_to_do(
    texts: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    monkeypatch.setattr("codegen.emit.expected_texts", lambda: texts)
    monkeypatch.setattr("giantstep.spec.generate.generated_root", lambda: tmp_path)
    assert not generate([], check=True, echo=said.append)
    assert "giantstep generate" in said[-1]
    assert generate([], check=False, echo=said.append)
    assert generate([], check=True, echo=said.append)


def test_two_hash_seeds_give_the_same_bytes() -> None:
    assert len(printed_under_any_seed(DIGEST).strip()) == 64


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


SIGNATURES = """
from codegen.functions import emit
from codegen.losses import emit_loss
from codegen.shared import emit_runtime
from codegen.step import emit_step
from giantstep.spec.user_cache import _generator_version
texts = [emit("erf").text, emit_loss("huber").text, emit_step(), *emit_runtime().values()]
print([line for text in texts for line in text.splitlines() if line.startswith("SIGNATURE")], _generator_version())
"""


@pytest.fixture(scope="module")
def signatures() -> str:
    """Signatures of modules of each kind, and the name of the folder of the user's kernels."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(SIGNATURES, {})
    return told.getvalue()


@pytest.mark.parametrize(
    ("changed", "headers"), [("runtime/nodes.py", True), ("templates/solve.txt", False), ("hints.py", None)]
)
def test_a_changed_source_changes_headers_and_the_cache(
    changed: str, headers: bool | None, signatures: str, tmp_path: Path
) -> None:
    """numba does not see what a kernel calls in other files: a line of the runtime changes every header."""
    shutil.copytree(ROOT / "codegen", tmp_path / "codegen", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "codegen" / changed).open("a") as stream:
        stream.write("# a comment\n")
    found = python(SIGNATURES, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}").communicate()[0]
    (before, cache), (after, other) = (text.rsplit(maxsplit=1) for text in (signatures, found))
    assert cache != other
    same = [a == b for a, b in zip(before.split(","), after.split(","), strict=True)]
    # hints are read for functions and losses
    assert same == (
        [False] * len(same)
        if headers
        else [False, False] + [True] * (len(same) - 2)
        if headers is None
        else [True] * len(same)
    )


def test_what_a_module_is_made_of_is_found_from_its_imports() -> None:
    found = set(read_by("codegen.functions"))
    own = {
        f"codegen/{name}.py" for name in ("functions", "closed", "hints", "print/scalar", "stable", "text", "manifest")
    }
    assert own | {"derive/coefficients.py", "derive/language/catalogue.py"} <= found
    assert "codegen/losses.py" not in found
    assert "codegen/templates/solve.txt" in read_by("codegen.blockwise")


def test_lines_of_functions_losses_and_the_runtime_fit(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if name.startswith(("functions/", "losses/", "runtime/", "step")):
            assert max(map(len, text.splitlines())) <= 120, name
