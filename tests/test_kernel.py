"""The disk cache of compiled kernels: when it hits, when it must miss, and that its faults cost time, never a crash."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core import caching
from numba.core.dispatcher import Dispatcher

import cardgym
from cardgym import kernel
from cardgym.batch import kernels, worlds
from cardgym.game import Game
from cardgym.kernel import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="there is nothing to cache")

PROGRAM = """
import sys
import numpy as np
from cardgym import kernel
sys.path.insert(0, {folder!r})
import told
value = int(told.total(np.arange(4)))
stats = told.total.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
TOLD = '''
from cardgym.kernel import helper, kernel
from added import plus

@kernel("test.total")
def total(numbers):
    """Sum."""
    s = 0
    for n in numbers:
        s = plus(s, n)
    return s
'''
ADDED = """
from cardgym.kernel import helper
from constants import STEP

@helper
def plus(a, b):
    return a + b + STEP
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A kernel that calls a function of another file, which takes a constant from a third one."""
    (tmp_path / "told.py").write_text(TOLD)
    (tmp_path / "added.py").write_text(ADDED)
    (tmp_path / "constants.py").write_text("STEP = 0\n")
    return tmp_path


def run(folder: Path, cache: Path | str, **environment: str) -> tuple[int, int, int]:
    """In a process of its own: what the kernel returns, cache hits, cache misses."""
    env = {**os.environ, "CARDGYM_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-c", PROGRAM.format(folder=str(folder))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    value, hits, misses = map(int, done.stdout.split())
    return value, hits, misses


def files(cache: Path, suffix: str = "") -> dict[Path, int]:
    """The cache's files and when they were written."""
    return {f: f.stat().st_mtime_ns for f in cache.rglob(f"*{suffix}") if f.is_file()}


# --- Hits and misses -------------------------------------------------------------------------


def test_the_second_process_compiles_nothing(folder: Path) -> None:
    cache = folder / "cache"
    assert run(folder, cache) == (6, 0, 1)
    written = files(cache)
    assert sorted(f.suffix for f in written) == [".nbc", ".nbi"]
    assert run(folder, cache) == (6, 1, 0)
    assert files(cache) == written


@pytest.mark.parametrize(
    ("file", "old", "new", "value"),
    [
        ("told.py", "s = 0", "s = 100", 106),
        ("added.py", "a + b", "a - b", -6),
        ("constants.py", "STEP = 0", "STEP = 10", 46),
    ],
)
def test_a_change_anywhere_is_noticed(folder: Path, file: str, old: str, new: str, value: int) -> None:
    """In the kernel's file, in the file of a function it calls, in a constant that comes from elsewhere."""
    cache = folder / "cache"
    run(folder, cache)
    original = (folder / file).read_text()
    (folder / file).write_text(original.replace(old, new))
    assert run(folder, cache) == (value, 0, 1)
    assert run(folder, cache) == (value, 1, 0)
    (folder / file).write_text(original)
    assert run(folder, cache) == (6, 1, 0), "versions that take turns keep their own files"


def test_old_versions_are_removed(folder: Path) -> None:
    cache = folder / "cache"
    for step in range(kernel._KEPT + 1):
        (folder / "constants.py").write_text(f"STEP = {step}\n")
        assert run(folder, cache) == (6 + 4 * step, 0, 1)
    assert len(list((cache / "test.total").iterdir())) == kernel._KEPT
    assert run(folder, cache) == (6 + 4 * step, 1, 0)


def loaded(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CLOSURES = """
from cardgym.kernel import helper, kernel

def made(rule, bonus):
    @kernel("test.made")
    def total(n):
        return rule(n) + bonus
    return total

@helper
def double(n):
    return 2 * n

@helper
def triple(n):
    return 3 * n
"""


def test_kernels_of_one_name_made_of_other_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two games of one name whose kernels close over other functions or constants never get each other's code."""
    monkeypatch.setenv("CARDGYM_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        module = loaded(tmp_path, "closures", CLOSURES)
        made = [module.made(f, b) for f in (module.double, module.triple) for b in (0, 1)]
        assert [m(10) for m in made] == [20, 21, 30, 31]
        assert len({kernel.stamp(m) for m in made}) == 4
    assert [sum(m.stats.cache_hits.values()) for m in made] == [1, 1, 1, 1]


def every_kernel(game: Game) -> list[Any]:
    return [*kernels(game, False), *kernels(game, True), *worlds(game)]


def test_stamps_do_not_depend_on_the_process() -> None:
    code = (
        "import cardgym; from cardgym import kernel, batch; "
        "game = cardgym.load_game('chouine'); "
        "every = *batch.kernels(game, False), *batch.kernels(game, True), *batch.worlds(game); "
        "print(*map(kernel.stamp, every))"
    )
    here = [kernel.stamp(k) for k in every_kernel(cardgym.load_game("chouine"))]
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split() == here
    assert len(set(here)) == len(here)


def test_every_game_is_loaded_from_the_cache() -> None:
    """After one run of anything, a new process compiles no kernel of any game."""
    code = (
        "import numpy as np, cardgym\n"
        "from cardgym import batch\n"
        "for name in cardgym.game_names():\n"
        "    game = cardgym.load_game(name)\n"
        "    for encodings in (('observation',), ('observation', 'state')):\n"
        "        b = batch.Batch(game, None, 2, encodings)\n"
        "        b.reset([1, 2])\n"
        "        b.step(batch.sample(b.mask, np.random.default_rng(0)))\n"
        "        b.views(np.zeros(2, np.int64))\n"
        "    states = b.states.copy()\n"
        "    batch.resample(game, states, np.zeros(2, np.int64), 0)\n"
        "    batch.playout(game, states, 0)\n"
        "    for k in (*batch.kernels(game, False), *batch.kernels(game, True), *batch.worlds(game)):\n"
        "        print(sum(k.stats.cache_misses.values()), sum(k.stats.cache_hits.values()))\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 8 * len(cardgym.game_names())
    assert set(lines) == {"0 1"}


# --- Faults ----------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    """A path below a file: no user, not even the administrator, can write there."""
    (folder / "file").write_text("")
    for _ in range(2):
        value, hits, _ = run(folder, folder / "file" / "cache")
        assert (value, hits) == (6, 0)
    assert (folder / "file").read_text() == ""


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_read_only_folder(folder: Path) -> None:
    cache = folder / "cache"
    cache.mkdir()
    cache.chmod(0o500)
    assert run(folder, cache)[:2] == (6, 0)


def test_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing fails in the midst: the result is right and no half file stays."""
    cache = folder / "cache"
    monkeypatch.setenv("CARDGYM_CACHE_DIR", str(cache))

    def full(self: object, data: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_dump", full)

    @kernel.kernel("test.full")
    def twice(n: int) -> int:
        return 2 * n

    assert twice(4) == 8
    assert not files(cache)


@pytest.mark.parametrize(
    ("suffix", "damage"), [(".nbi", b""), (".nbi", b"\x80\x04junk"), (".nbi", None), (".nbc", b""), (".nbc", None)]
)
def test_damaged_files_are_written_anew(folder: Path, suffix: str, damage: bytes | None) -> None:
    cache = folder / "cache"
    run(folder, cache)
    for file in files(cache, suffix):
        file.write_bytes(file.read_bytes()[:-20] if damage is None else damage)
    assert run(folder, cache) == (6, 0, 1)
    assert run(folder, cache) == (6, 1, 0)


def test_an_index_of_another_numba(folder: Path) -> None:
    cache = folder / "cache"
    run(folder, cache)
    for file in files(cache, ".nbi"):
        file.write_bytes(pickle.dumps("0.1.0") + file.read_bytes())
    assert run(folder, cache) == (6, 0, 1)


def test_many_processes_at_once(folder: Path) -> None:
    """All begin with an empty cache; each computes the right value and the last word is a good cache."""
    cache = folder / "cache"
    env = {**os.environ, "CARDGYM_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM.format(folder=str(folder))]
    started = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [p.communicate()[0].split()[0] for p in started] == ["6"] * 3
    assert run(folder, cache) == (6, 1, 0)


# --- Without JIT, and Numba itself -----------------------------------------------------------


def test_without_jit(folder: Path) -> None:
    code = "from cardgym import kernel; import told, numpy as np; print(kernel.JIT, told.total(np.arange(4)))"
    env = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(folder),
        "CARDGYM_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "6"]
    assert not (folder / "cache").exists()


def test_what_we_use_of_numba() -> None:
    """Private names of Numba: when one of these goes, ``kernel.py`` is the file to mend."""
    compiled = kernel.helper(lambda n: n + 1)
    assert isinstance(compiled, Dispatcher)
    assert isinstance(compiled._cache, caching.NullCache)
    for name in ("load_overload", "save_overload", "cache_path", "enable", "disable", "flush", "_index_key"):
        assert hasattr(caching.FunctionCache, name)
    assert caching.FunctionCache._impl_class is caching.CompileResultCacheImpl
    assert isinstance(caching.CompileResultCacheImpl._locator_classes, list)


def test_kernels_release_the_interpreter_lock() -> None:
    for k in every_kernel(cardgym.load_game("chouine")):
        assert k.targetoptions["nogil"] is True
        assert k.targetoptions["error_model"] == "numpy"


def test_records() -> None:
    states = np.zeros(3, np.dtype([("hand", np.int8, (2,))], align=True))
    kernel.records(states)[1].hand[0] = 7
    assert states["hand"].tolist() == [[0, 0], [7, 0], [0, 0]]
