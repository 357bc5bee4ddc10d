"""Shukh's engine against an independent referee: the deal, legal actions, who acts, encodings, places, rewards."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from shukh_positions import NAMES, PAIRS, games, play
from shukh_referee import Referee, assert_encodes, deal_stacks, referee_of, shared_rewards

from cardgym.batch import ENCODINGS, Batch
from cardgym.cards import PACK_52
from cardgym.games.shukh import DISCARD, GAME, LAID

VARIANTS = list(itertools.product(PAIRS, ("eating", "general")))


def limit_of(state: np.ndarray) -> int | None:
    """S-17, from the rule options."""
    given = int(state["max_idle_turns"])
    return {-1: int(state["deck"]) * int(state["seats"]) ** 2, 0: None}.get(given, given)


def agrees(batch: Batch, row: int, referee: Referee) -> None:
    """Do engine and referee see the same table?"""
    state = batch.states[row]
    assert set(GAME.legal_names(batch.mask[row])) == referee.legal()
    assert bool(state["over"]) == referee.over
    assert bool(state["stalled"]) == referee.stalled
    if not referee.over:
        assert batch.players[row] == referee.turn
    for seat, hand in enumerate(referee.hands):
        assert {PACK_52.names[c] for c in np.flatnonzero(state["place"] == seat)} == hand
    assert {PACK_52.names[c] for c in np.flatnonzero(state["place"] == DISCARD)} == referee.discard
    pile = [(int(state["place"][c]) - LAID, PACK_52.names[c]) for c in state["kon"][: state["height"]]]
    assert pile == referee.kon
    assert state["finish"][: referee.players].tolist() == referee.places
    assert state["idle"] == referee.idle


def encodes(batch: Batch, row: int, referee: Referee, remembers: bool) -> None:
    state, player = batch.states[row], int(batch.players[row])
    shuffler = int(state["shuffler"])
    for seat in range(referee.players):
        view = batch.views(np.array([seat]), np.array([row])).observation[0]
        assert_encodes(view, batch.layouts["observation"], referee.observation(seat, shuffler, remembers))
    everything = batch.views(np.array([player]), np.array([row]), ENCODINGS[:1] + ENCODINGS[2:]).state[0]
    assert_encodes(everything, batch.layouts["state"], referee.observation(player, shuffler, True))


def follow(n: int, seed: int, memory: str = "perfect", **options: Any) -> Batch:
    """Plays random games beside referees; encodings are compared now and then."""
    batch = games(n, seed, ("observation", "state"), memory=memory, **options)
    referees = [referee_of(state, limit_of(state)) for state in batch.states]
    for row in range(n):
        agrees(batch, row, referees[row])
        encodes(batch, row, referees[row], memory == "perfect")
    for move, (rows, _, actions) in enumerate(play(batch, seed)):
        for row, action in zip(rows, actions, strict=True):
            referees[row].apply(NAMES[action])
            agrees(batch, row, referees[row])
            if (move + row) % 13 == 0 or referees[row].over:
                encodes(batch, row, referees[row], memory == "perfect")
            if referees[row].over:
                expected = shared_rewards(referees[row].places, batch.options.reward)
                assert batch.rewards[row, : referees[row].players] == pytest.approx(expected)
                assert batch.states["scores"][row, : referees[row].players].tolist() == referees[row].places
    return batch


@pytest.mark.parametrize(("pair", "tuck"), VARIANTS)
def test_whole_games(pair: tuple[int, int], tuck: str) -> None:
    deck, players = pair
    follow(3, 100, deck=deck, players=players, tuck=tuck)


@pytest.mark.parametrize("options", [{"max_idle_turns": 50, "reward": "loser"}, {"memory": "table"}])
@pytest.mark.parametrize("pair", [(36, 2), (36, 5), (52, 4)])
def test_whole_games_under_other_options(pair: tuple[int, int], options: dict[str, Any]) -> None:
    deck, players = pair
    batch = follow(6, 200, deck=deck, players=players, **options)
    if "max_idle_turns" in options and players > 2:
        assert batch.states["stalled"].any()


@pytest.mark.long
@pytest.mark.parametrize(("pair", "tuck"), VARIANTS)
def test_many_whole_games(pair: tuple[int, int], tuck: str) -> None:
    deck, players = pair
    follow(100, 10_000, deck=deck, players=players, tuck=tuck)
    follow(30, 20_000, "table", deck=deck, players=players, tuck=tuck, reward="loser", max_idle_turns=60)


@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_deals(deck: int, players: int) -> None:
    """R-4.1 ... R-4.10: the stock that was dealt gives the referee the same hands."""
    for state in games(100, 300, deck=deck, players=players).states:
        stock = [PACK_52.names[c] for c in state["order"][:deck]]
        piles = deal_stacks(stock, int(state["shuffler"]), players, deck)
        hands = [{PACK_52.names[c] for c in np.flatnonzero(state["place"] == seat)} for seat in range(players)]
        assert [set(pile) for pile in piles] == hands
