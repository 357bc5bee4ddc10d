"""Shukh's rule bot: what it does in clear positions, and how it fares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from shukh_positions import NAMES, PAIRS, Table, games

from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent
from cardgym.baselines.evaluate import evaluate
from cardgym.games.shukh import GAME

BOT = RuleAgent(GAME)


def chosen(table: Table) -> str:
    decisions = Decisions(table.batch, np.array([0]))
    return NAMES[int(BOT.act(decisions, np.random.default_rng(0))[0])]


def test_leads_low() -> None:
    assert chosen(Table("6C KC AS 9D", "7C 8S 6D", "JC QD")) == "6C"
    assert chosen(Table("8H 6D AH", "9H 8S 7D", "JC QD")) == "8H", "a diamond is kept"


def test_leads_what_the_next_player_cannot_beat() -> None:
    assert chosen(Table("7C 7S AS", "8C 9D", "JC 10S")) == "7S"


def test_relents_after_a_tenth_of_the_limit() -> None:
    """S-17: otherwise cards that nobody beats go round for ever."""
    hands = ("QC KC KD 9H 8S", "6D AD 6S", "9D", "")
    assert chosen(Table(*hands, out={3: 1}, turn=1, idle=10)) == "6S"
    assert chosen(Table(*hands, out={3: 1}, turn=1, idle=60)) == "6D"


def test_beats_with_the_cheapest_card() -> None:
    assert chosen(Table("10C AC 6D 9D", "KC", "JS", kon=[(2, "9C")])) == "10C"
    assert chosen(Table("AS 6D KD", "KC", "JS", kon=[(2, "9H")])) == "6D"


def test_the_queen_of_hearts_takes_the_lead() -> None:
    assert chosen(Table("QH 7C 8H", "KC", "JS", "6S", kon=[(2, "AS")])) == "QH"


def test_feeds_the_next_player() -> None:
    assert chosen(Table("6H 8H", "KC", "JS", kon=[(2, "7H")])) == "tuck"
    assert chosen(Table("8C 6H", "KC QS", "JD 9H", "AS AD", kon=[(3, "9C")], tuck="general")) == "tuck"


def test_does_what_has_to_be_done() -> None:
    assert chosen(Table("6H 9S", "KC JS")) == "discard"
    assert chosen(Table("6C", "KC JS", kon=[(1, "7S")])) == "take"


@pytest.mark.parametrize("options", [{}, {"memory": "table"}, {"episode": "match"}, {"tuck": "general"}])
@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_plays_to_the_end_with_every_pack_and_number_of_players(
    deck: int, players: int, options: dict[str, Any]
) -> None:
    batch = games(5, 0, deck=deck, players=players, **options)
    rows = np.arange(5)
    while len(rows):
        batch.step(BOT.act(Decisions(batch, rows), np.random.default_rng(0)), rows)
        rows = rows[~batch.over[rows]]


@pytest.mark.parametrize(("deck", "players", "best"), [(36, 2, 1.1), (36, 4, 1.5), (52, 8, 2.2)])
@pytest.mark.parametrize("memory", ["perfect", "table"])
def test_beats_random_play(deck: int, players: int, best: float, memory: str) -> None:
    """Its mean place, 1 being the first, against random players in all other seats."""
    options = GAME.options.of(deck=deck, players=players, memory=memory)
    result = evaluate(GAME, options, BOT, RandomAgent(), deals=100, first_deal=5)
    assert result.score + result.score_half < best
    # ahead of so many of the other players
    assert result.win_rate - result.win_rate_half > 1 - (best - 1) / (players - 1)


def test_seldom_stalls() -> None:
    """S-17: in one party of fifty at most when all seats play like it."""
    batch = games(1000, 0)
    rows = np.arange(1000)
    while len(rows):
        batch.step(BOT.act(Decisions(batch, rows), np.random.default_rng(0)), rows)
        rows = rows[~batch.over[rows]]
    assert batch.states["stalled"].mean() < 0.02
