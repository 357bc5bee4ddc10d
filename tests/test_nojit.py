"""``NUMBA_DISABLE_JIT=1``: plain Python plays the same games as compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cardgym
from cardgym import testing
from cardgym.kernel import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="compares with compiled code")

CASES: list[tuple[str, dict[str, Any]]] = [(env_id, {}) for env_id in cardgym.IDS] + [
    (main, testing.option_variants(main)[-1]) for main, *_ in map(cardgym.ids_of, cardgym.game_names())
]
"""Every id, and every game with all options changed; the long run takes all options of all ids."""


@pytest.mark.parametrize(("env_id", "options"), CASES, ids=[f"{i}-{o}" for i, o in CASES])
def test_plain_python_plays_the_same_games(env_id: str, options: dict[str, Any]) -> None:
    testing.check_jit(env_id, games=1, moves=40, **options)


@pytest.mark.long
@pytest.mark.parametrize("env_id", list(cardgym.IDS))
def test_plain_python_plays_the_same_many_games(env_id: str) -> None:
    for options in testing.option_variants(env_id):
        testing.check_jit(env_id, games=10, seed=50, **options)


def test_another_game_has_another_digest() -> None:
    """So the comparison above can fail."""
    assert testing.digest("Chouine-v0", games=1) != testing.digest("Chouine-v0", games=1, seed=1)


def test_the_fast_tests_pass_as_plain_python() -> None:
    """A lane of tests that need little play, rules among them, in a process without compiler."""
    here = Path(__file__).parent
    files = [here / name for name in ("test_rng.py", "test_env.py", "test_errors.py", "test_vector_env.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, files)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout
