"""Memory stays flat in long use (``benchmarks/soak.py``), and a leak would be seen.

``CARDGYM_SOAK_MINUTES`` sets how long the mixed use of each game takes: 2 minutes if not given; 120 before a release.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cardgym

SOAK = Path(__file__).parent.parent / "benchmarks" / "soak.py"
MINUTES = os.environ.get("CARDGYM_SOAK_MINUTES", "2")
LEAK = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import soak
kept = []
soak.one_round = lambda *_: kept.append(bytearray(b"x" * 100_000))
soak.mixed_use = lambda game, minutes: lambda share: [soak.one_round() for _ in range(int(2000 * share))]
soak.tyro.cli(soak.main)
"""


def soak(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("game", cardgym.game_names())
def test_memory_stays_flat(game: str) -> None:
    done = soak(str(SOAK), game, "--minutes", MINUTES)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


@pytest.mark.parametrize("game", cardgym.game_names())
def test_a_short_soak_runs(game: str) -> None:
    """What a short one says of memory means nothing; it runs through, and reports both parts."""
    done = soak(str(SOAK), game, "--decisions", "20_000", "--minutes", "0.01")
    assert done.stderr == ""
    assert done.stdout.count(" MiB at the end") == 2


def test_a_leak_is_found() -> None:
    done = soak("-c", LEAK, str(SOAK.parent), "chouine", "--decisions", "20_000")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "minutes of mixed use" in done.stdout
