"""Functions that only compiled functions call: LLVM makes machine code of them with each of their callers, never alone.

numba also optimises each by itself and makes machine code of it, which nobody runs: a caller holds its own. That takes
a quarter of all compilation. Of machine code that was kept numba also reads what others would link, which nobody does
in a process that compiles nothing: that takes longer than all else of loading it.

Written by hand, in codegen/runtime/linked.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """What LLVM reads of a function and of those that it calls, each simplified by itself; there is nothing to run."""

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """numba's word for no such machine code."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk: what LLVM reads."""
        return self.serialize_using_bitcode()

    @property
    def codegen(self) -> Any:
        """numba sets places in the machine code of a library; here are none."""
        return _NoPlaces()


class _KeptLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code that was kept. What LLVM reads of it is for others to link, and is read once one does."""

    def __init__(self, codegen: Any, name: str, content: tuple[bytes, bytes]) -> None:
        super().__init__(codegen, name)
        machine_code, self._for_linking = content
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        """Where a function begins; 0 of one that is not there. numba asks what LLVM reads for the names."""
        return int(self._codegen._engine.get_function_address(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self._for_linking)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


class _NoPlaces:
    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to set."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _Linked(AnalysisPass):  # type: ignore[misc]
    """Let the following passes write into a library that is only linked."""

    _name = "linked_only"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Nothing of the function changes."""
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class LinkedCompiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler of functions that no Python calls."""

    def define_pipelines(self) -> list[Any]:
        """numba's passes, and where the library begins another one."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_Linked, AnnotateTypes)  # the last before LLVM's text is written
        passes.finalize()
        return [passes]


class KeptCode(CompileResultCacheImpl):  # type: ignore[misc]
    """How numba reads what is kept of a function."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The result of a compilation, from what was kept."""
        found = super().rebuild(_Reading(target_context), payload)
        return found._replace(target_context=target_context)


class _Reading:
    """A target of numba's with libraries as they are kept here."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> Any:
        """Where numba asks for the library."""
        return self

    def unserialize_library(self, kept: Any) -> _LinkedLibrary | _KeptLibrary:
        """The library."""
        name, kind, content = kept
        if kind == "object":
            return _KeptLibrary(self._context.codegen(), name, content)
        library = _LinkedLibrary(self._context.codegen(), name)
        library._final_module = llvm.parse_bitcode(content)
        library._finalize_final_module()
        return library

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
