"""The hand-written numerics as they stand in `generated/runtime/`."""

from __future__ import annotations

from codegen.manifest import runtime_sources, signature
from codegen.text import closing

FOLDER = "runtime"


def emit_runtime() -> dict[str, str]:
    """Path below `generated/` -> text: the modules of `codegen/runtime/`, importing each other there."""
    signed = signature([FOLDER])
    return {f"{FOLDER}/{name}": _module(name, text, signed) for name, text in runtime_sources().items()}


def _module(name: str, text: str, signed: str) -> str:
    _, words, code = text.replace("codegen.runtime", "generated.runtime").split('"""', 2)
    head = f'"""{words.rstrip()}\n\nWritten by hand, in codegen/runtime/{name}.\n{closing(signed)}\n"""\n\n# fmt: off'
    return f'{head}{code.rstrip()}\n\nSIGNATURE = "{signed}"\n'
