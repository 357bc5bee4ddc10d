"""Avinas' rule bot: always legal, sensible words, stops in time, plays to its partner, better than chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from avinas_positions import Table, dealt_around, games

from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.baselines.evaluate import evaluate
from cardgym.games import avinas
from cardgym.games.avinas import GAME
from cardgym.testing import option_variants

STRONG = "QC 7H QS QH JC AH 10H AS"
WEAK = "8C 9C KC 8D 9D KD 8S JD"
# Seat 1 has one trump, the highest, and leads to trick 2 without any; trumps are hearts, seat 0 declares.
LONE_QUEEN = {
    0: "JD AH 10H KH 9H 8C 9C 10C",
    1: "QC AS 10S KS 9S AD 10D KD",
    2: "7H QS QH 7S 8S 7D 8D 9D",
    3: "QD JC JS JH 8H 7C AC KC",
}


def advice(table: Table) -> str:
    """What the bot does in a position, by name."""
    action = np.zeros(1, np.int64)
    RuleAgent(GAME)._decide(table.batch.observation, table.batch.mask, action)
    name = GAME.actions[int(action[0])].name
    assert name in table.legal
    return name


@pytest.mark.parametrize("options", option_variants("Avinas-v0"), ids=str)
def test_always_legal(options: dict[str, Any]) -> None:
    """In positions of random play, under all options; in the end it has been asked for everything."""
    bot = RuleAgent(GAME)
    generator = np.random.default_rng(1)
    batch = games(300, 3, lone_queens=True, **options)
    asked = np.zeros(len(GAME.actions), bool)
    for _ in range(400):
        rows = np.flatnonzero(~batch.over)
        if not len(rows):
            break
        asked |= batch.mask[rows].any(axis=0)
        actions = np.zeros(len(rows), np.int64)
        bot._decide(batch.observation[rows], batch.mask[rows], actions)
        assert batch.mask[rows, actions].all()
        batch.step((batch.mask[rows] * generator.random(batch.mask[rows].shape)).argmax(axis=1), rows)
    assert asked.all()


# --- Words -----------------------------------------------------------------------------------


def test_bids_the_length_of_its_best_suit_or_passes() -> None:
    assert advice(Table(dealt_around({0: STRONG}, dealer=3))) == "bid 7"
    assert advice(Table(dealt_around({0: WEAK}, dealer=3))) == "pass"


def test_bids_no_more_than_it_has_whatever_is_allowed() -> None:
    """With free bids too, it names a suit that reaches its bid, and leads a trump of it."""
    for overbid in ("masked", "loses_match"):
        table = Table(dealt_around({0: STRONG}, dealer=3), overbid=overbid)
        while not table.over:
            table.do(advice(table))
            if table.s.trump >= 0:
                break
        assert (table.s.declarer, table.s.bid, "CDHS"[table.s.trump]) == (0, 7, "H")
        assert not table.over


def test_is_never_caught_overbidding() -> None:
    batch = games(1000, 5, overbid="loses_match")
    play_out(batch)
    assert "overbid" not in {GAME.info(s)["ending"] for s in batch.states.view(np.recarray)}


def play_out(batch: Any) -> None:
    bot = RuleAgent(GAME)
    while not batch.over.all():
        rows = np.flatnonzero(~batch.over)
        actions = np.zeros(len(rows), np.int64)
        bot._decide(batch.observation[rows], batch.mask[rows], actions)
        batch.step(actions, rows)


def test_bids_fit_the_play() -> None:
    """Deals that it bids for are made far more often than not, as a lost one costs twice as much."""
    batch = games(2000, 5)
    play_out(batch)
    s = batch.states
    bid = s["ending"] == avinas.MARKED
    assert 0.2 < bid.mean() < 0.3  # most deals without sevens
    assert 0.62 < (s["loser"][bid] != s["declarer"][bid] % 2).mean() < 0.9


def test_knocks_on_a_sure_hand_only() -> None:
    sure = {0: "QC 7H QS QH QD JC JS JH"}
    assert advice(Table(dealt_around(sure, dealer=3, turned="7H"))) == "knock"
    assert advice(Table(dealt_around({0: "7H 8H JD KC 9C 8D KD 9S"}, dealer=3, turned="7H"))) == "pass"


def test_knocks_back_with_the_highest_trumps() -> None:
    hands = {0: "7H 8H 9H JD KC 9C 8D KD", 1: "QC QS QH QD JC AS AC AD"}
    assert advice(Table(dealt_around(hands, dealer=3, turned="7H")).do("knock")) == "knock"
    hands[1] = "8C 7C 9D 10D 8S 9S 10S KS"
    assert advice(Table(dealt_around(hands, dealer=3, turned="7H")).do("knock")) == "pass"


# --- Stopping --------------------------------------------------------------------------------


def asked_to_stop(points: int, rams: list[int], marks: list[int]) -> Table:
    """Seat 0 declares, its pair has so many card points, and it is asked whether to stop."""
    table = Table(dealt_around({0: "QC 7H QS QH QD JC JS JH"}, dealer=3), episode="match", stop="any")
    table.do("bid 8", "pass", "pass", "pass", "QC", "trumps H")
    while table.s.phase != avinas.STOPPING:
        table.batch.step(table.batch.mask.argmax(axis=1))
    s = table.batch.states
    s["points"], s["rams"], s["marks"] = [points, 5], rams, marks
    table.batch.refresh(0)
    return table


@pytest.mark.parametrize(
    ("points", "rams", "marks", "word"),
    [
        (61, [0, 0], [0, 0], "stop"),  # each further trick may only lower what the others pay
        (60, [0, 0], [0, 0], "pass"),
        (40, [0, 1], [11, 1], "stop"),  # worked example 9: the lost deal wins the match
        (40, [0, 1], [9, 1], "pass"),  # not enough marks to end it
        (20, [0, 1], [9, 1], "stop"),  # four marks for so few points
        (40, [0, 1], [11, 0], "pass"),  # the others have no marks: rams do not decide
        (40, [1, 0], [11, 1], "pass"),  # the rams are one's own
    ],
)
def test_knows_when_to_stop(points: int, rams: list[int], marks: list[int], word: str) -> None:
    assert advice(asked_to_stop(points, rams, marks)) == word


# --- Cards -----------------------------------------------------------------------------------


def second_trick() -> Table:
    table = Table(dealt_around(LONE_QUEEN, dealer=3)).do("bid 5", "pass", "pass", "pass")
    return table.say("AH QC QH 8H")


def test_leads_face_down_without_trumps_and_signs_truly() -> None:
    for card, sign in (("AS", "sign valuable"), ("9S", "sign worthless")):
        table = second_trick()
        assert advice(table) == "face down"
        table.do("face down", card)
        assert advice(table) == sign


def test_gives_points_to_its_partner_and_not_to_the_others() -> None:
    """On the queen of clubs, which nothing beats, the partner puts a ten and the others their lowest trump."""
    hands = {0: "QC 7H QS QH JC 8C 9C 8D", 1: "AH 8H AS KS 9S 8S 7S AD", 2: "10H 9H AC KC 10C 7C KD 9D"}
    table = Table(dealt_around(hands, dealer=3)).do("bid 5", "pass", "pass", "pass", "QC", "trumps H")
    assert table.legal == {"AH", "8H"}
    assert advice(table) == "8H"
    table.do("8H")
    assert table.legal == {"10H", "9H"}
    assert advice(table) == "10H"


def test_takes_a_valuable_trick_as_cheaply_as_it_can() -> None:
    hands = {0: "AH 10H KH JC JS 8C 9C 8D", 1: "9H AS KS 9S 8S 7S AD KD", 2: "8H AC KC 10C 7C 9D 10D 7D"}
    table = Table(dealt_around(hands, dealer=3)).do("bid 5", "pass", "pass", "pass").say("AH 9H 8H")
    assert {"QC", "QS", "QH", "JD"} < table.legal
    assert advice(table) == "JD"


# --- Strength --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"stop": "any"}, {"overbid": "loses_match"}], ids=str)
def test_beats_chance(options: dict[str, Any]) -> None:
    """Over duplicate deals, pairs swapped."""
    result = evaluate(GAME, GAME.options.of(**options), RuleAgent(GAME), RandomAgent(), 400)
    assert result.win_rate - result.win_rate_half > 0.8


def test_wins_matches() -> None:
    options = GAME.options.of(episode="match", stop="any")
    result = evaluate(GAME, options, RuleAgent(GAME), RandomAgent(), 40)
    assert result.win_rate - result.win_rate_half > 0.8
