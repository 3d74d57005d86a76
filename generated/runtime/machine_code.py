"""Machine code as bytes: made by numba, loaded into memory that goes with the object that holds it.

numba itself never lets go of what it compiles or loads, which a process of ever new functions would feel.

Written by hand, in codegen/runtime/machine_code.py.
Generated; do not edit. Signature 8b72ae16033ff35d, runtime dd8b03cd1d339403.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core import config
from numba.core.ccallback import CFunc
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature


class Code(NamedTuple):
    """Machine code of one function, an object file."""

    entry: str  # its name there
    content: bytes


def made(function: Callable[..., Any], signature: Any, options: Any) -> Code:
    """Compile a function of numbers and pointers to numbers; numba keeps what it compiles for good."""
    found = CFunc(function, normalize_signature(signature), {}, options)
    found.compile()
    return Code(found.native_name, found._library._get_compiled_object())


class Loaded:
    """Machine code in memory: ``address`` is where it begins, as long as this object lives."""

    def __init__(self, code: Code) -> None:
        rtsys.initialize(cpu_target.target_context)  # makes known what the code calls
        triple = llvm.get_process_triple()
        machine = llvm.Target.from_triple(triple).create_target_machine(codemodel="jitdefault", jit=True)
        room: Any = config.USE_LLVMLITE_MEMORY_MANAGER
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=room)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(code.entry))

SIGNATURE = "8b72ae16033ff35dbf057fbabeedc9fa82f9e43dae7e4371e49aa8f3c8facff2"
