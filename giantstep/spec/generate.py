"""Regenerating the kernels: `generated/` for everything registered, the user's cache for other expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import generated
from derive.language.catalogue import REGISTERED, lookup
from giantstep.spec.arguments import checked_call, checked_flag
from giantstep.spec.errors import BadInput
from giantstep.spec.model import Model
from giantstep.spec.user_cache import cache_folder, cached_path, sealed
from giantstep.spec.validate import wrong

Written = TypeVar("Written")


def generated_root() -> Path:
    """The folder of the `generated` package."""
    return Path(generated.__file__).parent


def generate(models: Sequence[Model], check: bool, echo: Callable[[str], None] = print) -> bool:
    """Write the kernels, or with ``check`` compare them with what the sources give; False where they differ.

    Without models: all of ``generated/``. With models: just the functions that they name. Raises BadInput where the
    folder cannot be written.
    """
    checked_flag("check", check)
    checked_call("echo", echo, "print")
    if not isinstance(models, Sequence) or not all(isinstance(one, Model) for one in models):
        raise wrong("models", models, "a list of models, or [] for all that is registered")
    # loads SymPy
    from codegen.emit import expected_texts
    from codegen.functions import emit
    from codegen.manifest import check as compare
    from codegen.manifest import write_all, write_atomic

    if not models:
        root, texts = generated_root(), expected_texts()
        if check:
            return _report(compare(texts, root), root, echo)
        modules = {name: text for name, text in texts.items() if name.endswith(".py")}
        changed = _writing(root, partial(write_all, modules, root))
        echo(f"{len(texts)} files, {len(changed)} changed in {root}")
        return True
    same = True
    for text in dict.fromkeys(text for model in models for text in (model.network.activation, model.target.link)):
        entry = lookup(text)
        module = emit(entry)
        registered = entry.name in REGISTERED
        path = generated_root() / module.path if registered else cached_path(entry.name)
        text = module.text if registered else sealed(module.text)
        if path is None:
            raise BadInput(
                f"there is no cache folder for the kernel of {entry.expression}",
                "set GIANTSTEP_CACHE to a folder of your own",
            )
        if check:
            present = path.read_text(encoding="utf-8") if path.is_file() else ""
            if present != text:
                same = False
                echo(f"{path} is not what the sources give; run: giantstep generate")
            continue
        written = _writing(path.parent, partial(write_atomic, path, text))
        echo(f"{entry.expression}: {path} {'written' if written else 'unchanged'}")
    return same


def _report(diffs: Sequence[str], root: Path, echo: Callable[[str], None]) -> bool:
    for diff in diffs:
        echo(diff)
    echo(
        f"{len(diffs)} files of {root} are not what the sources give; run: giantstep generate"
        if diffs
        else f"{root} is what the sources give"
    )
    return not diffs


def _writing(folder: Path, write: Callable[[], Written]) -> Written:
    try:
        return write()
    except OSError as error:
        raise BadInput(
            f"cannot write kernels to {folder}: {error.strerror or error}",
            f"make the folder writable, or set GIANTSTEP_CACHE (now {cache_folder()}) for expressions of your own",
        ) from None
