"""What `generated/` must hold: signatures of the sources, atomic writing, MANIFEST.json and the check
against the files.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import sympy

MANIFEST = "MANIFEST.json"
#: Files of the folder that no generator writes.
KEPT = ("__init__.py", MANIFEST)
_PACKAGES = ("codegen", "derive")
_SIGNATURE = re.compile(r'^SIGNATURE = "([0-9a-f]{64})"$', re.MULTILINE)


def signature(parts: Iterable[str]) -> str:
    """sha256, in hexadecimal, of the parts in order and of the runtime; no two lists of parts share their bytes.

    numba does not see a change of what a kernel calls in another file: with the runtime each file changes.
    """
    return _digest([*parts, runtime_digest()])


def runtime_digest() -> str:
    """sha256 of the hand-written numerics that generated modules import."""
    return _digest(part for name, text in runtime_sources().items() for part in (name, text))


def runtime_sources() -> dict[str, str]:
    """File name -> text of the hand-written numerics."""
    folder = resources.files("codegen").joinpath("runtime")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".py"))
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in names}


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8")
        digest.update(f"{len(data)}:".encode("ascii"))
        digest.update(data)
    return digest.hexdigest()


def text_digest(text: str) -> str:
    """sha256 of the bytes that `write_atomic` writes for a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sources_of(module: str) -> tuple[str, ...]:
    """The SymPy version and the files that the texts of a module of ``codegen`` are made of: name and sha256 of each.

    These are the modules that it imports, and those that they import in turn, as far as they belong to ``codegen`` or
    ``derive``; a folder that is imported counts with everything in it that is not Python.
    """
    found = [f"sympy {sympy.__version__}"]
    return (*found, *(f"{name} {text_digest(text)}" for name, text in sorted(read_by(module).items())))


def read_by(module: str) -> dict[str, str]:
    """File, as "codegen/plan.py", -> text, for a module and all of both packages that it imports."""
    texts: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        for path, text in _files(name).items():
            if path not in texts:
                texts[path] = text
                waiting += _imports(text) if path.endswith(".py") else []
    return texts


@cache
def _files(module: str) -> dict[str, str]:
    package, _, below = module.partition(".")
    place = resources.files(package)
    for part in below.split(".") if below else ():
        place = place.joinpath(part)
    path = module.replace(".", "/")
    if not place.is_dir():
        alone = resources.files(package).joinpath(f"{below.replace('.', '/')}.py")
        return {f"{path}.py": alone.read_text(encoding="utf-8")} if alone.is_file() else {}
    inside = (item for item in place.iterdir() if item.is_file() and not item.name.endswith((".py", ".pyc")))
    folder = {f"{path}/{item.name}": item.read_text(encoding="utf-8") for item in inside} if below else {}
    return folder | {f"{path}/__init__.py": place.joinpath("__init__.py").read_text(encoding="utf-8")}


@cache
def _imports(text: str) -> tuple[str, ...]:
    """Modules of both packages that a text imports, anywhere in it."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.partition(".")[0] in _PACKAGES)


def write_atomic(path: Path, text: str) -> bool:
    """Write a text so that a reader sees the old or the new file, never half of one; True where it changed."""
    path = Path(path)
    with contextlib.suppress(FileNotFoundError):
        if path.is_file() and path.read_bytes() == text.encode("utf-8"):  # a pipe would be waited for
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return True


def manifest_text(texts: Mapping[str, str]) -> str:
    """MANIFEST.json: for each file (path below the root, slashes) the signature it carries and the sha256
    of its text.
    """
    entries = {}
    for name in sorted(texts):
        found = _SIGNATURE.search(texts[name])
        entries[name] = {"signature": found.group(1) if found else "", "sha256": text_digest(texts[name])}
    return json.dumps({"files": entries}, indent=1, sort_keys=True) + "\n"


def with_manifest(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts and the manifest of them."""
    return {**{name: texts[name] for name in sorted(texts)}, MANIFEST: manifest_text(texts)}


def write_all(texts: Mapping[str, str], root: Path) -> list[str]:
    """Write the texts and their manifest below root and remove what no source gives any more; names that
    changed.
    """
    root = Path(root)
    complete = with_manifest(texts)
    changed = [name for name, text in complete.items() if write_atomic(root / name, text)]
    for name in _stale(complete, root):
        (root / name).unlink()
        changed.append(name)
    return sorted(changed)


def check(expected: Mapping[str, str], root: Path) -> list[str]:
    """Unified diffs from the files below root to the expected texts: missing, changed and stale ones; []
    where none.

    `expected` maps paths below root to texts; pass `with_manifest(texts)` to check the manifest as well.
    """
    root = Path(root)
    diffs = []
    for name in sorted({*expected, *_stale(expected, root)}):
        path = root / name
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        wanted = expected.get(name, "")
        if present == wanted and path.is_file() == (name in expected):
            continue
        before = name if path.is_file() else "/dev/null"
        after = f"{name} (from the sources)" if name in expected else "/dev/null"
        lines = difflib.unified_diff(present.splitlines(True), wanted.splitlines(True), before, after)
        diffs.append("".join(lines) or f"--- {before}\n+++ {after}\n")
    return diffs


def _stale(expected: Mapping[str, str], root: Path) -> list[str]:
    found = (path.relative_to(root).as_posix() for path in sorted(root.rglob("*.py")))
    return [name for name in found if name not in expected and name.rsplit("/", 1)[-1] not in KEPT]
