"""Machine code on disk: every file carries a digest; what is damaged is compiled again, a full disk is no error.

Written by hand, in codegen/runtime/kept_code.py.
Generated; do not edit. Signature debf2518a6f9075f, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off

import contextlib
import hashlib
import io
import os
import pickle
import stat
import sys
from collections.abc import Callable
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature

from generated.runtime.linked import KeptCode
from generated.runtime.machine_code import Code, runtime_known

_DIGEST = hashlib.sha256().digest_size
# no link is followed, and nothing waited for: a pipe has no end, a device may have none
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class _SealedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """numba's index and data files, each behind a seal: the sha256 of numba's version and of what follows.

    Another version may lack what a file names, so that it must not even be read.
    """

    def _load_index(self) -> Any:
        found = _opened(self._index_path, self._version)
        return found[2] if found is not None and found[:2] == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        found = _opened(self._data_path(name), self._version)
        if found is None:
            raise FileNotFoundError(name)  # numba compiles what it does not find
        return found

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(_seal(self._version, data) + data)


class _SealedCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function; without room on the disk the function is compiled in each process."""

    _impl_class = KeptCode

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        plain = self._cache_file
        self._cache_file = _SealedFiles(self._cache_path, self._impl.filename_base, plain._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As numba's, but for what only compiling needs: that takes longer to import than all the rest of a program."""
        runtime_known()
        return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


class CodeFile:
    """Where machine code of one function of a signature is kept, if a folder can be written."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self._signature = normalize_signature(signature)
        try:
            self._cache: _SealedCache | None = _SealedCache(function)
        except RuntimeError as error:
            _only_without_folder(error)
            self._cache = None

    def read(self) -> Code | None:
        """What is kept for this processor and version of numba."""
        if self._cache is None:
            return None
        found = self._cache._cache_file.load(self._key)
        return None if found is None else Code(*found)

    def write(self, code: Code) -> None:
        """Keep code; without room on the disk nothing is kept."""
        if self._cache is not None:
            with contextlib.suppress(OSError):
                self._cache._impl.locator.ensure_cache_path()
                self._cache._cache_file.save(self._key, tuple(code))

    @property
    def _key(self) -> Any:
        assert self._cache is not None
        return self._cache._index_key(self._signature, cpu_target.target_context.codegen())


def keep(compiled: Any, function: Callable[..., Any]) -> None:
    """Let numba keep the machine code of a function on disk, where a folder can be written; of one that is only linked,
    which has none of its own, what LLVM reads.
    """
    try:
        compiled._cache = _SealedCache(function)
    except RuntimeError as error:
        _only_without_folder(error)


def can_keep() -> bool:
    """Whether a folder for machine code of these modules can be written."""
    try:
        _SealedCache(can_keep)
    except RuntimeError as error:
        _only_without_folder(error)
        return False
    return True


def _only_without_folder(error: RuntimeError) -> None:
    """Raise an error again, but for that of numba where no folder can be written."""
    if "no locator available" not in str(error):
        raise error


class _Reader(pickle.Unpickler):
    """Reads what numba keeps, but for modules that only compiling needs."""

    def find_class(self, module: str, name: str) -> Any:
        """What stands for a name."""
        return _environment if name == _rebuild_env.__name__ else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """What machine code of a function finds its constants in. For the globals beside them, which it does not read,
    numba loads the module of the function: its own on arrays takes longer than all machine code.
    """
    if module in sys.modules or not module.startswith("numba.") or lookup_environment(name) is not None:
        return _rebuild_env(module, constants, name)
    found = Environment({"__name__": module})
    found.consts[:], found.env_name = constants, name
    Environment._memo[name] = found
    return found


def _seal(version: str, data: bytes) -> bytes:
    return hashlib.sha256(version.encode() + data).digest()


def _opened(path: str, version: str) -> Any:
    """What this version of numba sealed in a file; None where there is none or it is not what was written."""
    try:
        with open(os.open(path, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read()
    except OSError:
        return None
    seal, data = content[:_DIGEST], content[_DIGEST:]
    try:
        return _Reader(io.BytesIO(data)).load() if _seal(version, data) == seal else None
    except ImportError:  # it names a module that is no longer there by this name
        return None

SIGNATURE = "debf2518a6f9075f2c479eab68cdab5329634319787d04d26a4bee2186ce001b"
