"""numba in less time: what it would find anew, again and again, is found once. What it makes stays the same.

All of it holds for a while only, as other programs of the process compile with numba too.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from numba.core import event, ir, ssa, transforms
from numba.core.base import BaseContext
from numba.core.codegen import CPUCodeLibrary
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.types import BaseFunction


@contextmanager
def compiled_sooner() -> Iterator[None]:
    """Let numba do once what it does many times: a first compilation takes about a quarter less for it."""
    with ExitStack() as stack:
        stack.enter_context(_other(BaseFunction, "get_call_type", _types_found_once))
        stack.enter_context(_other(PostProcessor, "run", _lifetimes_when_asked))
        stack.enter_context(_other(ir.Inst, "_rec_list_vars", lambda _: _variables))
        stack.enter_context(_other(BaseContext, "get_abi_sizeof", _sizes_found_once))
        stack.enter_context(_other(ssa, "_logger", lambda _: _Silent()))
        for moment in ("start_event", "end_event"):
            stack.enter_context(_other(event, moment, lambda _: _not_told))
        stack.enter_context(_other(CPUCodeLibrary, "_optimize_functions", lambda _: _simplified))
        yield


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Compilers make many objects that stay: to look for garbage among them as usual takes an eighth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@contextmanager
def _other(owner: Any, name: str, other: Callable[[Any], Any]) -> Iterator[None]:
    """For a while a method of numba's is another one, which is made of it."""
    usual = getattr(owner, name)
    setattr(owner, name, other(usual))
    try:
        yield
    finally:
        setattr(owner, name, usual)


def _types_found_once(find: Any) -> Any:
    """numba finds the type of every product and every entry of an array anew, several times, a fifth of all its work;
    what it found for arguments of the same types serves again.
    """
    known: dict[Any, Any] = {}

    def found(function: Any, context: Any, types: Any, named: Any) -> Any:
        if named:
            return find(function, context, types, named)
        if (function, types) not in known:
            known[function, types] = find(function, context, types, named)
        return known[function, types]

    return found


def _lifetimes_when_asked(run: Any) -> Any:
    """After each of nine passes numba finds where every variable is needed. Few of them ask for that; the rest is for
    generators.
    """

    def rerun(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        text = processor.func_ir
        if text.is_generator:
            run(processor, emit_dels, extend_lifetimes)
            return
        text.blocks = transforms.canonicalize_cfg(text.blocks)
        text.variable_lifetime = VariableLifetime(text.blocks)  # which finds what it is asked for
        text.generator_info = None
        if emit_dels:
            processor._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return rerun


def _sizes_found_once(find: Any) -> Any:
    """For the size of a type numba writes a module with a variable of it, which LLVM reads. There are few types."""
    known: dict[tuple[type, str], int] = {}

    def found(context: Any, kind: Any) -> int:
        key = type(context), str(kind)
        if key not in known:
            known[key] = find(context, kind)
        return known[key]

    return found


def _not_told(kind: str, data: object = None, exc_details: object = None) -> None:
    """numba tells everybody of each call of LLVM and each pass, to take their times, which nobody asks for."""


def _simplified(library: Any, module: Any) -> None:
    """numba simplifies all functions of a module by themselves, and makes the passes for each. Most are declared only:
    there is nothing to simplify.
    """
    codegen = library._codegen
    module.data_layout = codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = codegen._function_pass_manager()
            passes.run(function, builder)


def _variables(statement: Any, given: Any) -> list[Any]:
    """The variables in a statement, by the types of its parts."""
    found: list[Any] = []
    _gather(given.values() if isinstance(given, Mapping) else (given,), found)
    return found


def _gather(parts: Iterable[Any], found: list[Any]) -> None:
    for part in parts:
        kind = _KINDS[type(part)]
        if kind == _OTHER:
            continue
        if kind == _VARIABLE:
            found.append(part)
        elif kind == _STATEMENT:
            found += part.list_vars()
        else:
            _gather(part.values() if kind == _TABLE else part, found)


_OTHER, _VARIABLE, _STATEMENT, _ROW, _TABLE = range(5)


class _Kinds(dict[type, int]):
    """What parts of statements are, by their types, of which there are few."""

    def __missing__(self, key: type) -> int:
        known = {ir.Var: _VARIABLE, ir.Inst: _STATEMENT, list: _ROW, tuple: _ROW, Mapping: _TABLE}
        self[key] = next((kind for base, kind in known.items() if issubclass(key, base)), _OTHER)
        return self[key]


_KINDS = _Kinds()


class _Silent:
    """In the place of a logger."""

    def debug(self, *_: object) -> None:
        """Nothing is written."""
