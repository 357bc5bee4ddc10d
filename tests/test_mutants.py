"""The mutation check (``mutants.py``) makes the changes that it says, and its list of equivalent ones is up to date."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import mutants
import pytest

SOURCE = b"""
SIZE, NAMES = 4, ("a", "b")

@helper
def play(s, card):
    if s.lead < 0 and not s.over:
        s.lead = card + 1
        s.moves += 2
        show(s)
    return -1 if card == 3 else card & 7

def scene(s):
    return s.lead + 1
"""
CHANGES = {
    "SIZE, NAMES = 5, (\"a\", \"b\")",
    "if (s.lead <= 0) and not s.over:", "if s.lead < 1 and not s.over:", "if (s.lead < 0 or not s.over):",
    "if s.lead < 0 and (s.over):", "if False:", "s.lead = (card - 1)", "s.lead = card + 2", "s.lead = pass",
    "s.moves -= 2", "s.moves += 3", "pass", "return -2 if card == 3 else card & 7", "return -1 if False else card & 7",
    "return -1 if (card != 3) else card & 7", "return -1 if card == 4 else card & 7",
    "return -1 if card == 3 else (card | 7)", "return -1 if card == 3 else card & 8",
} - {"s.lead = pass"}  # fmt: skip


def test_all_changes_of_a_small_module() -> None:
    found = mutants.mutants("chouine", SOURCE)
    assert {m.after for m in found} == CHANGES
    assert sum(m.after == "pass" for m in found) == 3
    assert {m.function for m in found} == {"", "play"}
    for mutant in found:
        ast.parse(mutant.applied(SOURCE))
        assert mutant.applied(SOURCE) != SOURCE


@pytest.mark.parametrize("game", mutants.MODULES)
def test_mutants_of_a_game_are_python(game: str) -> None:
    found = mutants.all_mutants(game)
    assert len(found) > 300
    for mutant in found[::50]:
        ast.parse(mutant.applied(mutants.path_of(mutant.module).read_bytes()))


def test_the_list_of_equivalent_ones_is_up_to_date() -> None:
    """Each of them is still a mutant, and has a reason."""
    known = {m.key for game in mutants.MODULES for m in mutants.all_mutants(game)}
    for key, reason in mutants.explained().items():
        assert key in known, f"no longer a mutant: {key}"
        assert len(reason) > 20, key


def test_a_game_that_does_not_exist_is_refused() -> None:
    done = subprocess.run([sys.executable, mutants.__file__, "whist"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "shukh_table" in done.stdout + done.stderr


@pytest.mark.long
def test_a_mistake_in_a_rule_is_noticed_and_a_harmless_change_is_not(tmp_path: Path) -> None:
    """By the tests of a game as they run in the check."""
    source = mutants.path_of("chouine").read_bytes()
    tests = ["tests/test_chouine_play.py::test_ch_7_who_takes_the_trick[9H-KH-True]"]
    for old, new, noticed in ((b"reply > lead", b"reply < lead", True), (b"reply > lead", b"reply >= lead", False)):
        assert source.count(old) == 1
        start = source.index(old)
        mutant = mutants.Mutant("chouine", "", "", "", 0, start, start + len(old), new.decode())
        file = tmp_path / "chouine.py"
        file.write_bytes(mutant.applied(source))
        assert bool(mutants.noticed_compiled("chouine", mutant, file, tests)) == noticed
