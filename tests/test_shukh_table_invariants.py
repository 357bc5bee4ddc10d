"""Shukh at the table: I-1 ... I-7 after every step of random and of wilful play, which always ends (TM-14)."""

from __future__ import annotations

import numpy as np
import pytest
from shukh_positions import PAIRS
from shukh_table_play import CARELESS, HOSTILE, UNIFORM, VIOLATIONS, play

from cardgym.batch import Batch
from cardgym.games.shukh_table import GAME
from cardgym.testing import state_at

FEW = [(36, 2), (36, 4), (36, 6), (52, 3), (52, 8)]


def judges(players: int) -> list[str]:
    return ["referee"] if players == 2 else ["referee", "vote"]


def games(n: int, seed: int, **options: object) -> np.ndarray:
    """Games at their first decision."""
    batch = Batch(GAME, GAME.options.of(**options), n)
    batch.reset(range(seed, seed + n))
    return batch.states


@pytest.mark.parametrize("tuck", ["eating", "general"])
@pytest.mark.parametrize(("deck", "players"), FEW)
def test_invariants(deck: int, players: int, tuck: str) -> None:
    """I-1, I-2, I-3, I-4, I-5, I-6, I-7, S-9, R-9.1 in games of each kind."""
    for judge in judges(players):
        played = play(games(60, 0, deck=deck, players=players, judge=judge, tuck=tuck), np.full(players, UNIFORM), 5)
        places = np.sort(played.states["finish"][:, :players], axis=1)
        regular = played.states["stalled"] == 0
        assert (places[regular] == np.arange(1, players + 1)).all(), "R-9.2"


@pytest.mark.parametrize("judge", ["referee", "vote"])
def test_invariants_in_a_short_game(judge: str) -> None:
    """As above, short enough to run as plain Python."""
    states = games(1, 2, players=3, judge=judge, max_idle_turns=50)
    assert play(states, np.full(3, CARELESS), 5).states["over"].all()


@pytest.mark.long
@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_invariants_in_ten_thousand_games(deck: int, players: int) -> None:
    """I-1, I-2, I-3, I-4, I-5, I-6, I-7, S-9, R-9.1; a quarter of the games for each judge and each kind of tucking."""
    kinds = [(judge, tuck) for judge in judges(players) for tuck in ("eating", "general")]
    for k, (judge, tuck) in enumerate(kinds):
        for policy in (UNIFORM, CARELESS):
            states = games(5_000 // len(kinds), 1000 * k, deck=deck, players=players, judge=judge, tuck=tuck)
            play(states, np.full(players, policy), 50 + k)


@pytest.mark.parametrize("name", list(HOSTILE))
@pytest.mark.parametrize("players", [2, 4])
def test_wilful_seats_cannot_keep_a_party_going(name: str, players: int) -> None:
    """S-17, TM-14: two to four seats that do the same thing whenever they may, under both judges."""
    for judge in judges(players):
        for wilful in range(2, players + 1):
            states = games(8, 20, players=players, judge=judge, max_idle_turns=200)
            policies = np.where(np.arange(players) < wilful, HOSTILE[name], UNIFORM)
            assert play(states, policies, 3).states["over"].all()


def test_the_checks_can_fail() -> None:
    """Each zone's count, and what a step may not do, is missed when broken on purpose."""
    for field, message in (("held", 1), ("piled", 1), ("lying", 1), ("unswept", 1), ("silent", 3)):
        states = state_at(GAME, "uniform", 0, 300)
        if field in ("unswept", "silent"):
            states[field] = 4 if field == "unswept" else 15
        else:
            states[field][0, 0] += 1
        with pytest.raises(AssertionError, match=VIOLATIONS[message][:4]):
            play(states, np.full(4, UNIFORM), 0)
    with pytest.raises(AssertionError, match="a game without end"):
        play(games(1, 0), np.full(4, UNIFORM), 0, limit=50)
