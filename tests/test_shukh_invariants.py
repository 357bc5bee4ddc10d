"""Shukh's invariants I-1, I-4 ... I-7 and S-9 after every step of random games, for all packs and players."""

from __future__ import annotations

import numpy as np
import pytest
from shukh_positions import PAIRS, cards, games, play

from cardgym.games.shukh import ABSENT, CARDS, DISCARD, GAME, LAID, NINE_D, QUEEN_H, RANKS, SPADES, TAKE, TUCK

I_1 = "I-1: every card is in exactly one zone"
I_4 = "I-4: a kon closes by count or by the queen of hearts"
I_5 = "I-5: a closed kon is in the discard at once, and nothing comes back from there"
I_6 = "I-6: the queen of hearts is never led"
I_7 = "I-7, as S-19 reads it: a spade is beaten by a spade or by the queen of hearts alone"
S_9 = "S-9: an open kon has fewer cards than there are players in the game"
LAST = 10_000


def check_zones(states: np.ndarray, deck: int, players: int) -> None:
    """I-1: places, counts and the kon tell the same."""
    place = states["place"]
    for seat in range(8):
        assert (states["held"][:, seat] == (place == seat).sum(1)).all(), I_1
        assert (states["lying"][:, seat] == (place == LAID + seat).sum(1)).all(), I_1
    assert ((place == ABSENT).sum(1) == CARDS - deck).all(), I_1
    assert ((place >= 0) & (place <= ABSENT)).all(), I_1
    in_kon = (place >= LAID) & (place < DISCARD)
    assert (in_kon.sum(1) == states["height"]).all(), I_1
    for i in range(players):
        here = states["kon"][:, i]
        full = i < states["height"]
        assert (full == (here >= 0)).all(), I_1
        assert in_kon[full, here[full]].all(), I_1
    playing = states["over"] == 0
    assert (states["height"] < states["live"])[playing].all(), S_9
    out = (states["held"] == 0) & (states["lying"] == 0)
    seated = np.arange(8) < players
    assert (((states["finish"] > 0) == out) | ~seated)[playing].all(), "R-9.1"


def check_step(before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
    """I-4 ... I-7 on one decision in each of many games."""
    rows = np.arange(len(before))
    height = before["height"]
    laying = actions < CARDS
    top = before["kon"][rows, np.maximum(height - 1, 0)]
    old, new = before["place"] == DISCARD, after["place"] == DISCARD
    swept = (new & ~old).sum(1)
    closes = laying & ((height + 1 == before["live"]) | (actions == QUEEN_H))
    closes |= (actions == TUCK) & (height + 1 == before["live"]) & (swept > 0)
    assert (np.where(closes, height + 1, actions > TUCK) == swept).all(), I_4
    assert (after["height"][closes] == 0).all(), I_5
    assert not (old & ~new).any(), I_5
    leads = laying & (height == 0)
    assert (actions[leads] != QUEEN_H).all(), I_6
    on_spade = laying & (height > 0) & (top // RANKS == SPADES)
    assert ((actions[on_spade] // RANKS == SPADES) | (actions[on_spade] == QUEEN_H)).all(), I_7


def check_games(n: int, seed: int, deck: int, players: int, tuck: str) -> None:
    batch = games(n, seed, deck=deck, players=players, tuck=tuck)
    check_zones(batch.states, deck, players)
    assert (batch.players == batch.states["opener"]).all()
    assert (batch.states["place"][:, NINE_D] == batch.states["opener"]).all(), "R-5.1"
    for move, (rows, before, actions) in enumerate(play(batch, seed)):
        check_zones(batch.states[rows], deck, players)
        check_step(before, actions, batch.states[rows])
        assert move < LAST
    places = np.sort(batch.states["finish"][:, :players], axis=1)
    regular = batch.states["stalled"] == 0
    assert (places[regular] == np.arange(1, players + 1)).all(), "R-9.2"
    assert batch.rewards[:, :players].sum(1) == pytest.approx(0), "zero-sum"


@pytest.mark.parametrize("tuck", ["eating", "general"])
@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_i_1_i_4_i_5_i_6_i_7(deck: int, players: int, tuck: str) -> None:
    """I-1, I-4, I-5, I-6, I-7, S-9 in 200 games of each kind."""
    check_games(200, 0, deck, players, tuck)


@pytest.mark.parametrize("tuck", ["eating", "general"])
def test_i_1_i_4_i_5_i_6_i_7_in_one_game(tuck: str) -> None:
    """As above, short enough to run as plain Python."""
    check_games(1, 3, 36, 3, tuck)


@pytest.mark.long
@pytest.mark.parametrize("tuck", ["eating", "general"])
@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_invariants_in_ten_thousand_games(deck: int, players: int, tuck: str) -> None:
    """I-1, I-4, I-5, I-6, I-7, S-9 in 10 000 games of each kind."""
    check_games(10_000, 1000, deck, players, tuck)


def test_the_checks_can_fail() -> None:
    """Each invariant is missed when it is broken on purpose."""
    batch = games(1, 0)
    state = batch.states.copy()
    state["place"][0, NINE_D] = DISCARD
    with pytest.raises(AssertionError, match="I-1"):
        check_zones(state, 36, 4)
    after = batch.states.copy()
    take = np.array([TAKE])
    after["place"][0, NINE_D] = DISCARD
    with pytest.raises(AssertionError, match="I-4"):
        check_step(batch.states, take, after)
    with pytest.raises(AssertionError, match="I-5"):
        check_step(after, take, batch.states)
    with pytest.raises(AssertionError, match="I-6"):
        check_step(batch.states, np.array([QUEEN_H]), swept_by(batch.states, QUEEN_H))
    spade = batch.states.copy()
    spade["kon"][0, 0], spade["height"] = cards("6S")[0], 1
    with pytest.raises(AssertionError, match="I-7"):
        check_step(spade, np.array([NINE_D]), spade)
    assert GAME.actions[TAKE].name == "take"


def swept_by(states: np.ndarray, card: int) -> np.ndarray:
    """The state after a card led has closed its own kon, which no rule allows."""
    after = states.copy()
    after["place"][0, card] = DISCARD
    return after
