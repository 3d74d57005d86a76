"""Machine code as bytes: made by numba, loaded into memory that goes with the object that holds it.

numba itself never lets go of what it compiles or loads, which a process of ever new functions would feel.

Written by hand, in codegen/runtime/machine_code.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core import config
from numba.core.ccallback import CFunc
from numba.core.runtime import _nrt_python
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


@lru_cache(maxsize=1)
def runtime_known() -> None:
    """Tell LLVM where the functions of numba's runtime are that machine code calls.

    numba also compiles some that it links into what it compiles; what is loaded holds them.
    """
    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class Loaded:
    """Machine code in memory: ``address`` is where it begins, as long as this object lives."""

    def __init__(self, code: Code) -> None:
        runtime_known()
        triple = llvm.get_process_triple()
        machine = llvm.Target.from_triple(triple).create_target_machine(codemodel="jitdefault", jit=True)
        room: Any = config.USE_LLVMLITE_MEMORY_MANAGER
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=room)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
        self._engine.finalize_object()
        self.address = int(self._engine.get_function_address(code.entry))

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
