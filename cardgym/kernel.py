"""The one place where Python functions become compiled code.

:func:`helper` compiles a function that other compiled functions call.
:func:`kernel` compiles an outermost function, one that Python calls, and keeps the
machine code in a folder on disk, so that only the first process on a machine
pays for compilation.

Numba's own ``cache=True`` does not serve here: it never hits for closures over
other compiled functions, and does not notice a change in another file.  This
cache is stamped with a hash of all that flows into a kernel, found by walking from function
to function (:func:`stamp`), and keyed by a name that we give.  The classes below use private
names of Numba, hence this file and ``tests/test_kernel.py`` are the only ones that know of them.

With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching
from numba.misc.appdirs import user_cache_dir

JIT = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
"""False when the process runs with ``NUMBA_DISABLE_JIT=1``."""

Function = TypeVar("Function", bound=Callable[..., Any])


def helper(function: Function) -> Function:
    """Compiles a function for use inside kernels: no bounds checks, no GIL, C-like division.

    It becomes part of every function that calls it.  Left to itself LLVM calls most of them, and a call that passes an
    array costs more than many of these functions do, since arrays are passed as seven words in memory.
    """
    return _compiled(function, forceinline=True)


def routine(function: Function) -> Function:
    """As :func:`helper`, for a long function with several callers: compiled once for them all, and called."""
    return _compiled(function, forceinline=False)


def _compiled(function: Any, **options: Any) -> Any:
    njit: Any = numba.njit  # its type does not know all options
    return njit(error_model="numpy", nogil=True, no_cfunc_wrapper=True, **options)(function)


def kernel(name: str, sources: Iterable[str | Path] = ()) -> Callable[[Function], Function]:
    """Compiles an outermost function and caches its machine code on disk.

    Args:
        name: unique name of the kernel, such as ``"chouine.step"``; names the folder of its cache.
        sources: files that flow into the kernel beside those of the functions that it calls.

    Returns:
        A decorator.  The decorated function takes structured arrays as they are, with or without JIT.
    """

    def decorate(function: Function) -> Function:
        if not JIT:
            return _with_attribute_access(function)
        compiled: Any = routine(function)
        compiled._cache = _Cache(compiled, name, tuple(sources))
        return compiled

    return decorate


def cache_folder() -> Path:
    """Where compiled kernels are kept: ``CARDGYM_CACHE_DIR`` if set, else the user's cache folder."""
    return Path(os.environ.get("CARDGYM_CACHE_DIR") or user_cache_dir("cardgym", False))


def stamp(function: Callable[..., Any], sources: Iterable[str | Path] = ()) -> str:
    """Hash of all that flows into a kernel; a change in any of it makes the cache miss.

    That is the source files of all compiled functions that ``function`` reaches, the constants that they take from
    globals and closures (Numba freezes them into machine code, wherever they were computed) and ``sources``.
    """
    digest = hashlib.sha256()
    files = {__file__, *(str(s) for s in sources)}  # this file too: it says how to compile
    _walk(function, files, digest, set())
    for file in sorted(files, key=lambda f: (Path(f).name, f)):
        digest.update(Path(file).name.encode() + b"\0" + _content(file) + b"\0")
    return digest.hexdigest()


@functools.cache
def _content(file: str) -> bytes:
    return Path(file).read_bytes() if Path(file).exists() else b""


def _walk(function: Any, files: set[str], digest: Any, seen: set[Any]) -> None:
    """Collects the files of ``function`` and of what it calls; feeds names and constants to ``digest``."""
    plain = getattr(function, "py_func", function)
    if plain in seen:
        return
    seen.add(plain)
    files.add(plain.__code__.co_filename)
    digest.update(f"{plain.__qualname__}:{plain.__code__.co_firstlineno}\0".encode())
    names = _names(plain.__code__)
    scope = {**plain.__globals__, **inspect.getclosurevars(plain).nonlocals}
    for name in sorted(names & scope.keys()):
        value = scope[name]
        inside = [getattr(value, n, None) for n in sorted(names)] if isinstance(value, ModuleType) else [value]
        for item in inside:
            if hasattr(item, "py_func"):
                _walk(item, files, digest, seen)
            elif isinstance(item, np.ndarray):
                digest.update(f"{name}:{item.dtype}:{item.shape}\0".encode() + item.tobytes())
            elif isinstance(item, (bool, int, float, str, bytes, tuple, np.generic)):
                digest.update(f"{name}:{item!r}\0".encode())


def _names(code: CodeType) -> set[str]:
    """Names that a function and those inside it use."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


class _Locator(caching._CacheLocator):
    """Puts the cache of one kernel into one folder and stamps it with our hash."""

    def __init__(self, folder: str, source_stamp: str) -> None:
        self._folder, self._stamp = folder, source_stamp

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return ""


class _Files(caching.FunctionCache):
    """Numba's function cache with our folder, our stamp and a name as key."""

    def __init__(self, function: Callable[..., Any], name: str, locator: _Locator) -> None:
        here = type("Here", (), {"from_function": staticmethod(lambda *_: locator)})
        impl: Any = type("Impl", (caching.CompileResultCacheImpl,), {"_locator_classes": [here]})
        self._impl_class = impl
        self._kernel_name = name
        super().__init__(function)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (sig, codegen.magic_tuple(), self._kernel_name)


class _Cache(caching._Cache):
    """The cache of one kernel, opened when the kernel is first called; its faults cost time, never a crash."""

    def __init__(self, compiled: Any, name: str, sources: tuple[str | Path, ...]) -> None:
        self._compiled, self._name, self._sources = compiled, name, sources

    @functools.cached_property
    def _files(self) -> Any:
        """The files, or Numba's empty cache where the folder cannot be written."""
        try:
            source_stamp = stamp(self._compiled, self._sources)
            # A folder for each stamp: versions of the library that take turns do not overwrite each other's files.
            locator = _Locator(str(cache_folder() / self._name / source_stamp[:_STAMP_LENGTH]), source_stamp)
            locator.ensure_cache_path()
            return _Files(self._compiled.py_func, self._name, locator)
        except (OSError, RuntimeError):
            return caching.NullCache()

    @property
    def cache_path(self) -> Any:
        return self._files.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._files.load_overload(sig, target_context)
        except Exception:  # a damaged or foreign file: compile anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # disk full or folder gone: go on without
            self._save(sig, data)

    def _save(self, sig: Any, data: Any) -> None:
        try:
            self._files.save_overload(sig, data)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, ImportError):
            self._files.flush()  # a damaged index: begin it anew
            self._files.save_overload(sig, data)
        if self.cache_path is not None:
            _prune(Path(self.cache_path))

    def enable(self) -> None:
        self._files.enable()

    def disable(self) -> None:
        self._files.disable()

    def flush(self) -> None:
        self._files.flush()


_STAMP_LENGTH = 16
_KEPT = 4


def _prune(folder: Path) -> None:
    """Removes the cache of old versions of a kernel, all but the last few written."""
    versions = [f for f in folder.parent.iterdir() if len(f.name) == _STAMP_LENGTH and f != folder]
    for old in sorted(versions, key=lambda f: f.stat().st_mtime)[: -_KEPT + 1]:
        shutil.rmtree(old, ignore_errors=True)


def _with_attribute_access(function: Function) -> Function:
    """Plain-Python stand-in for a compiled kernel: ``states[i].field`` needs record arrays there."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*(records(a) if isinstance(a, np.ndarray) and a.dtype.names else a for a in args))

    return call  # type: ignore[return-value]


def records(states: np.ndarray) -> Any:
    """A view of structured ``states`` whose rows give their fields as attributes (``row.hand``)."""
    return states.view(np.recarray)
