"""Tarot's rule bot: legal at every decision, the published bidding scale, ecart, call, and better than chance."""

from __future__ import annotations

import numpy as np
import pytest
from tarot_positions import Table, games, play, rich_deals
from tarot_referee import PACK

from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.baselines.evaluate import evaluate
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import BIDS, HALF_POINTS

EVERY_NUMBER = pytest.mark.parametrize("players", [3, 4, 5])


def advice(table: Table) -> str:
    """What the bot does in a position, by name."""
    action = np.zeros(1, np.int64)
    RuleAgent(GAME)._decide(table.batch.observation, table.batch.mask, action)
    name = GAME.actions[int(action[0])].name
    assert name in table.legal
    return name


@EVERY_NUMBER
@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_always_legal(players: int, rules: str) -> None:
    """In positions of bold play, where hands are odd and announcements many."""
    bot = RuleAgent(GAME)
    generator = np.random.default_rng(players)
    batch = games(150, 3, rich_deals(150, players, generator), players=players, rules=rules)
    phases = set()
    for rows, _ in play(batch, generator, talk=0.7, quiet_bids=True):
        actions = np.zeros(len(rows), np.int64)
        bot._decide(batch.observation[rows], batch.mask[rows], actions)
        assert batch.mask[rows, actions].all()
        phases |= set(batch.states["phase"][rows].tolist())
    assert phases == set(range(6 if players == 5 else 5))


# The examples that are published with the scale, and one hand each for the higher contracts
SCALE = [
    ("T21 T19 T12 T6 T1 Excuse KH CH 10H 8H 1H JD 8D QC CC 7C 6S 4S", "garde"),  # 60
    ("T20 T18 T14 T13 T9 T8 T6 KH 10H 5H 4H KD QD 10D 7C 8C 8S 7S", "pass"),  # 34
    (
        "T21 T20 T19 T16 T14 T12 T8 Excuse KH QH 8H 5H 2H 4H KD 8C 9C 3C",
        "garde sans",
    ),
    ("T21 T20 T19 T18 T17 T16 T14 T12 T8 Excuse KH QH KD QD KC QC 3C 4C", "garde contre"),
    ("T21 T19 T12 T6 Excuse KH CH 10H 8H JD 8D 2D QC CC 7C 6S 4S 2S", "prise"),
]


@pytest.mark.parametrize(("hand", "bid"), SCALE, ids=[bid for _, bid in SCALE])
def test_bids_by_the_scale(hand: str, bid: str) -> None:
    assert advice(Table([hand, "", "", ""])) == bid


def test_never_bids_below_what_was_bid() -> None:
    """A hand worth a garde passes after a garde."""
    table = Table(["", SCALE[0][0], "", ""]).do("garde")
    assert advice(table) == "pass"


def test_lays_away_bare_courts_and_short_suits() -> None:
    hand = "T21 T19 T17 T16 T12 T6 T1 Excuse KH CH 10H 8H 1H JD 8D QC 7C KS"
    table = Table([hand, "", "", ""], "T2 T3 2S 3S 4S 5S", contract="garde")
    laid = []
    while table.s.phase == 1:
        laid.append(advice(table))
        table.do(laid[-1])
    assert {"QC", "JD", "8D", "7C"} <= set(laid)
    assert not {"KH", "KS"} & set(laid)


def test_calls_a_king_that_it_lacks() -> None:
    table = Table(["KC KD 2H 3H 4H QH 2S", "KH", "KS", "", ""]).do("garde", *["pass"] * 4)
    assert advice(table) == "KH"


def test_does_not_throw_the_petit_under_a_higher_trump() -> None:
    """With another trump to lose to the taker, the petit stays in hand; under a partner's it is given."""
    hand = "T1 T4 " + " ".join(PACK[14:30])
    table = Table(["KC 2C", "T20 " + " ".join(PACK[30:47]), hand, "3C"])
    table.do("pass", "garde contre", "no slam", "2C", "T20")
    assert advice(table) == "T4"
    friendly = Table(["KC 2C", "T20 " + " ".join(PACK[30:47]), hand, "3C"])
    friendly.do("pass", "pass", "pass", "garde contre", "no slam", "2C", "T20")
    assert advice(friendly) == "T1"


def test_knows_which_suit_was_led() -> None:
    """The taker has ruffed a diamond; a partner behind will follow suit, so the jack would be lost."""
    taker = " ".join(f"T{rank}" for rank in range(2, 20))
    defender = " ".join(["JD", "10D", *PACK[:13], *PACK[42:45]])  # clubs and spades
    table = Table(["2D", taker, defender, ""]).do("pass", "garde contre", "no slam", "2D", "T6")
    assert table.legal == {"JD", "10D"}
    assert advice(table) == "10D"


def test_takes_with_the_lowest_trump_that_does() -> None:
    """The last to play has no use for the 21 where the 13 wins."""
    defender = " ".join(["T21", "T17", "T13", *PACK[:14], "KS"])
    table = Table(["CH", "3H", "4H", defender]).do("garde contre", "no slam", "CH", "3H", "4H")
    assert table.legal == {"T21", "T17", "T13"}
    assert advice(table) == "T13"


def test_saves_the_excuse_from_the_last_trick() -> None:
    """It goes before the last trick, in which it would be lost."""
    bot = RuleAgent(GAME)
    batch = games(300, 9)
    while (~batch.over).any():
        rows = np.flatnonzero(~batch.over)
        actions = np.zeros(len(rows), np.int64)
        bot._decide(batch.observation[rows], batch.mask[rows], actions)
        batch.step(actions, rows)
    played = batch.states[batch.states["void"] == 0]
    assert (played["played_in"][:, PACK.index("Excuse")] == 18).sum() == 0
    made = np.take_along_axis(played["scores"], played["taker"][:, None].astype(int), 1)[:, 0] > 0
    assert 0.4 < made.mean() < 0.85, "bids fit the play"
    assert {BIDS[k] for k in played["contract_bid"]} >= {"prise", "garde"}
    assert HALF_POINTS.sum() == 182


@EVERY_NUMBER
@pytest.mark.parametrize("contract", ["auction", "garde"])
def test_beats_chance(players: int, contract: str) -> None:
    """Over duplicate deals, with the auction and without."""
    options = GAME.options.of(players=players, contract=contract)
    result = evaluate(GAME, options, RuleAgent(GAME), RandomAgent(), 150)
    assert result.score - result.score_half > 40
