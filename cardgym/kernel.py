"""The one place where Python functions become compiled code.

:func:`helper` compiles a function that other compiled functions call.
:func:`kernel` compiles an outermost function, one that Python calls, and keeps the
machine code in a folder on disk, so that only the first process on a machine
pays for compilation.

Numba's own ``cache=True`` does not serve here: it never hits for closures over
other compiled functions, and does not notice a change in another file.  This
cache is stamped with a hash of all sources that can flow into a kernel, and keyed
by a name that we give.  The classes below use private names of Numba, hence this
file and ``tests/test_kernel.py`` are the only ones that know of them.

With ``NUMBA_DISABLE_JIT=1`` everything runs as plain Python.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching
from numba.misc.appdirs import user_cache_dir

JIT = not numba.config.DISABLE_JIT
"""False when the process runs with ``NUMBA_DISABLE_JIT=1``."""

Function = TypeVar("Function", bound=Callable[..., Any])


def helper(function: Function) -> Function:
    """Compiles a function for use inside kernels: no bounds checks, no GIL, C-like division."""
    return numba.njit(error_model="numpy", nogil=True)(function)


def kernel(name: str, sources: Iterable[str | Path] = ()) -> Callable[[Function], Function]:
    """Compiles an outermost function and caches its machine code on disk.

    Args:
        name: unique name of the kernel, such as ``"chouine.step"``; names the folder of its cache.
        sources: files whose code flows into the kernel, beside the library's own core.

    Returns:
        A decorator.  The decorated function takes structured arrays as they are, with or without JIT.
    """

    def decorate(function: Function) -> Function:
        if not JIT:
            return _with_attribute_access(function)
        compiled = helper(function)
        folder = cache_folder() / name
        try:
            compiled._cache = _Cache(compiled.py_func, name, str(folder), stamp(sources))  # type: ignore[attr-defined]
        except (OSError, RuntimeError):
            pass  # a read-only or missing folder: compile in every process, as without a cache
        return compiled

    return decorate


def cache_folder() -> Path:
    """Where compiled kernels are kept: ``CARDGYM_CACHE_DIR`` if set, else the user's cache folder."""
    return Path(os.environ.get("CARDGYM_CACHE_DIR") or user_cache_dir("cardgym", False))


@functools.cache
def _core_files() -> tuple[Path, ...]:
    """The library's own files that flow into every kernel."""
    here = Path(__file__).parent
    return (*sorted(here.glob("*.py")), *sorted((here / "games").glob("*.py")))


def stamp(sources: Iterable[str | Path] = ()) -> str:
    """Hash of the library's core and of ``sources``; a change in any of them makes the cache miss."""
    files = sorted({*(str(f) for f in _core_files()), *(str(Path(s)) for s in sources)})
    return _hash_files(tuple(files))


@functools.cache
def _hash_files(files: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(Path(file).name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
    return digest.hexdigest()


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Puts the cache of one kernel into one folder and stamps it with our hash."""

    def __init__(self, folder: str, source_stamp: str) -> None:
        self._folder, self._stamp = folder, source_stamp

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return ""


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's function cache with our folder, our stamp and a name as key; its faults cost time, never a crash."""

    def __init__(self, function: Callable[..., Any], name: str, folder: str, source_stamp: str) -> None:
        locator = _Locator(folder, source_stamp)
        locator.ensure_cache_path()

        class Impl(caching.CompileResultCacheImpl):  # type: ignore[misc]
            _locator_classes = [type("Here", (), {"from_function": staticmethod(lambda *_: locator)})]

        self._impl_class = Impl
        self._kernel_name = name
        super().__init__(function)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (sig, codegen.magic_tuple(), self._kernel_name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged or foreign file: compile anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # disk full or folder gone: go on without
            pass


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
