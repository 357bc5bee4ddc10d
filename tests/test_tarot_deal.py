"""Tarot's pack, deal, auction, chien and match."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from tarot_positions import CHIEN_SIZE, Table, finished, games, play, rich_deals
from tarot_referee import PACK, TRICKS, is_trump, value

from cardgym.batch import ENCODINGS
from cardgym.cards import PACK_78
from cardgym.errors import InvalidOption
from cardgym.games.tarot import GAME
from cardgym.games.tarot_tables import CHIEN, HALF_POINTS, LAYING, LOG, REDEALS
from cardgym.kernel import records

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always
EVERY_NUMBER = pytest.mark.parametrize("players", [3, 4, 5])
PETIT, EXCUSE = PACK.index("T1"), PACK.index("Excuse")


@functools.cache
def many_deals(players: int) -> np.ndarray:
    """States of 20 000 deals, nothing decided."""
    return games(20_000, 7, players=players).states


# --- Pack and deal ---------------------------------------------------------------------------


def test_ta_1_pack() -> None:
    """TA-1: 78 cards with their points in halves, 182 in all; three oudlers."""
    assert list(PACK_78.names) == PACK
    assert [GAME.actions[c].card for c in range(78)] == list(range(78))
    assert [p / 2 for p in HALF_POINTS] == [value(c) for c in PACK]
    assert HALF_POINTS.sum() == 182
    assert [c for c in PACK if value(c) == 4.5] == ["KC", "KD", "KH", "KS", "T1", "T21", "Excuse"]
    assert PACK_78.names[PACK.index("CC")] == "CC"
    assert PACK_78.symbols[PACK.index("CC")] == "C♣"
    assert [PACK_78.suit(c) for c in (0, 55, 56, 77)] == [0, 3, None, None]


@EVERY_NUMBER
def test_ta_2_right_of_the_dealer_bids_first(players: int) -> None:
    """TA-2, TA-11: the seat after the dealer's acts first; seats follow in order."""
    for dealer in range(players):
        batch = games(1, 1, dealer=dealer, players=players)
        for i in range(1, players + 1):
            assert batch.players[0] == (dealer + i) % players
            batch.step(np.array([78]))
        assert batch.over[0]


@EVERY_NUMBER
def test_ta_26_the_dealer_is_drawn_unless_given(players: int) -> None:
    """TA-26: uniform in every deal episode; the reset option fixes it."""
    counts = np.bincount(many_deals(players)["dealer"], minlength=players)
    assert chisquare(counts).pvalue > UNLIKELY
    assert (games(30, 1, dealer=2, players=players).states["dealer"] == 2).all()
    with pytest.raises(InvalidOption, match=f"dealer={players}"):
        games(1, 1, dealer=players, players=players)


@EVERY_NUMBER
def test_ta_3_packets_and_chien(players: int) -> None:
    """TA-3, TA-30, TA-31: packets in turn from the dealer's right, single cards between them, all at equal chances."""
    packet = 4 if players == 3 else 3
    s = many_deals(players)
    slots = s["slot"]
    assert ((slots == CHIEN).sum(1) == CHIEN_SIZE[players]).all()
    for seat in range(players):
        assert ((slots == seat).sum(1) == TRICKS[players]).all()
    assert (slots[:, 0] != CHIEN).all()
    assert (slots[:, -1] != CHIEN).all()
    for state in s[:300]:
        order = [seat for seat in state["slot"].tolist() if seat != CHIEN]
        packets = [order[i : i + packet] for i in range(0, len(order), packet)]
        assert [set(p) for p in packets] == [{(int(state["dealer"]) + 1 + i) % players} for i in range(len(packets))]
        np.testing.assert_array_equal(state["dealt"][state["deck"]], state["slot"])
    gaps = np.zeros(78 // packet + 1, int)  # before which packet the chien's cards fall
    for state in s[:4000]:
        given = np.cumsum(state["slot"] != CHIEN)
        np.add.at(gaps, given[state["slot"] == CHIEN] // packet, 1)
    inner = gaps[1 : (78 - CHIEN_SIZE[players]) // packet]
    assert gaps.sum() == inner.sum()
    assert inner.min() > 0.7 * inner.mean()


@EVERY_NUMBER
def test_ta_3_every_card_everywhere(players: int) -> None:
    """TA-3: the pack is whole and every card is equally likely in every hand and in the chien."""
    s = many_deals(players)
    assert (np.sort(s["deck"], axis=1) == np.arange(78)).all()
    for card in (0, 27, PETIT, EXCUSE):
        counts = np.array([(s["dealt"][:, card] == owner).sum() for owner in [*range(players), CHIEN]])
        expected = np.array([TRICKS[players]] * players + [CHIEN_SIZE[players]]) / 78 * len(s)
        assert chisquare(counts, expected).pvalue > UNLIKELY


def petit_sec(dealt: np.ndarray) -> np.ndarray:
    """Which deals, shape (n, 78), give somebody the Petit without trump or Excuse."""
    owner = dealt[:, PETIT : PETIT + 1]
    return (owner[:, 0] != CHIEN) & ((dealt[:, PETIT + 1 :] == owner).sum(1) == 0)


@EVERY_NUMBER
def test_ta_4_petit_sec_is_dealt_again(players: int) -> None:
    """TA-4, TA-25: no such deal stands; the re-deals are counted; the dealer stays."""
    s = many_deals(players)
    assert not petit_sec(s["dealt"]).any()
    redealt = s["redeals"] > 0
    assert 0 < redealt.sum() < 400
    assert s["redeals"].max() <= REDEALS
    given = games(20_000, 7, dealer=1, players=players).states
    assert (given["redeals"] > 0).any()
    assert (given["dealer"] == 1).all()


def test_ta_4_the_deal_passes_on_in_a_match() -> None:
    """TA-4, TA-25: in a match the next player deals after a petit sec, and it counts for no deal."""
    s = games(20_000, 7, dealer=1, players=5, episode="match").states
    assert (s["redeals"] > 0).any()
    np.testing.assert_array_equal(s["dealer"], (1 + s["redeals"]) % 5)
    assert (s["deals"] == 0).all()


# --- The auction -----------------------------------------------------------------------------


def test_ta_6_bids_rise_and_everybody_speaks_once() -> None:
    """TA-6: each bid is above the last; one turn each; the highest bidder takes."""
    table = Table(["", "", "", ""])
    assert table.legal == {"pass", "prise", "garde", "garde sans", "garde contre"}
    table.do("prise")
    assert table.legal == {"pass", "garde", "garde sans", "garde contre"}
    table.do("pass").do("garde sans")
    assert table.legal == {"pass", "garde contre"}
    table.do("pass")
    assert (table.s.player, table.s.taker, table.legal) == (2, 2, {"slam", "no slam"})


def test_ta_6_garde_contre_ends_the_auction() -> None:
    table = Table(["", "", "", ""]).do("pass", "garde contre")
    assert (table.s.player, table.s.taker) == (1, 1)
    assert table.s.bids.tolist()[:4] == [0, 4, -1, -1]


@EVERY_NUMBER
def test_ta_6_all_pass(players: int) -> None:
    """TA-6: nobody takes: the deal is void, all rewards are 0."""
    table = Table([""] * players).do(*["pass"] * players)
    assert table.batch.over[0]
    assert not table.batch.rewards.any()
    info = GAME.info(table.s)
    assert info["void"] is True
    assert (info["taker"], info["partner"], info["contract"]) == (-1, -1, "none")
    assert [GAME.role(table.s, seat) for seat in range(players)] == ["passed"] * players


def test_ta_28_no_auction() -> None:
    """TA-28: contract="garde": the player right of the dealer has taken; nobody bids."""
    table = Table(["", "", "", ""], contract="garde")
    assert (table.s.phase, table.s.player, table.s.taker) == (LAYING, 0, 0)
    assert table.seen(2)["contract"].tolist() == [0, 1, 0, 0]
    assert not table.seen(2)["bids"].any()
    assert len(table.hand(0)) == 24
    five = Table([""] * 5, contract="garde")
    assert five.legal <= set(PACK)
    five.do("KC")
    assert len(five.hand(0)) == 18


# --- Chien and ecart -------------------------------------------------------------------------


@EVERY_NUMBER
@pytest.mark.parametrize("bid", ["prise", "garde"])
def test_ta_7_the_chien_is_shown_and_taken_in_hand(players: int, bid: str) -> None:
    """TA-7: all see its cards; the taker lays as many away, which only he sees."""
    chien = "1C 2C KH" if players == 5 else "1C 2C KH T9 T10 Excuse"
    table = Table([""] * players, chien).do(bid, *["pass"] * (players - 1))
    if players == 5:
        assert not any(table.seen(seat)["chien"] for seat in range(5)), "not before the call"
        table.do("KD")
    for seat in range(players):
        assert set(table.seen(seat)["chien"]) == set(chien.split())
    assert set(chien.split()) <= table.hand(0)
    plain = {c for c in table.hand(0) if not is_trump(c) and c != "Excuse" and c[:-1] != "K"}
    assert table.legal == plain, "no king, no oudler, no trump while there are others"
    table.do("1C", "2C").lay()
    assert {"1C", "2C"} <= set(table.seen(0)["ecart"])
    for seat in range(1, players):
        assert table.seen(seat)["ecart"] == []
        assert table.seen(seat)["laid"] == CHIEN_SIZE[players]
    assert len(table.hand(0)) == TRICKS[players]


@pytest.mark.parametrize("bid", ["garde sans", "garde contre"])
def test_ta_8_the_chien_stays_closed(bid: str) -> None:
    """TA-8: nobody sees it before the end of the deal; then all do."""
    table = Table(["", "", "", ""], "1C 2C KH T9 T10 Excuse").do(bid, *["pass"] * (3 if bid == "garde sans" else 0))
    table.do("no slam")
    while not table.batch.over[0]:
        for seat in range(4):
            assert table.seen(seat)["chien"] == []
        table.do(min(c for c in table.legal if c in PACK))
    for seat in range(4):
        assert set(table.seen(seat)["chien"]) == {"1C", "2C", "KH", "T9", "T10", "Excuse"}
    assert table.s.last_oudlers == len({"T1", "T21"} & won_by_taker(table)) + (bid == "garde sans")


def won_by_taker(table: Table) -> set[str]:
    s = table.s
    return {c for i, c in enumerate(PACK) if s.played_in[i] and s.winner_of[s.played_in[i]] == s.taker}


def test_ta_8_whose_points_the_chien_is() -> None:
    """TA-8: the taker's in a garde sans, the defence's in a garde contre."""
    for bid, passes in (("garde sans", 3), ("garde contre", 0)):
        table = Table(["", "", "", ""], "KC KD KH KS T21 T1").do(bid, *["pass"] * passes, "no slam").play_out()
        tricks = int(table.s.half_points[0])
        owed = 1 if table.s.played_in[EXCUSE] < 18 else 0
        mine = tricks + (54 if bid == "garde sans" else 0)
        assert abs(int(table.s.last_points) - mine) <= owed


@EVERY_NUMBER
def test_ta_25_ecart_and_chien_become_public_when_a_played_deal_ends(players: int) -> None:
    """TA-25: then and not before; after a void deal nothing does."""
    batch = finished(200, 3, False, players)
    s = batch.states
    for seat in range(players):
        seen = batch.views(np.full(200, seat)).observation
        at = batch.layouts["observation"].slices
        played = s["void"] == 0
        np.testing.assert_array_equal(seen[:, at["chien"]] != 0, (s["dealt"] == CHIEN) & played[:, None])
        np.testing.assert_array_equal(seen[:, at["ecart"]] != 0, (s["place"] == 6) & played[:, None])
    assert (s["void"] == 1).any()


def test_ta_22_ta_24_decisions() -> None:
    """TA-24: 88 ids; TA-22: no encoding tells the number of moves; a deal fits into the log."""
    assert len(GAME.actions) == 88
    for players in (3, 4, 5):
        generator = np.random.default_rng(players)
        batch = games(400, 5, rich_deals(400, players, generator), players=players)
        for _ in play(batch, generator, talk=1.0):
            pass
        longest = int(batch.states["log_length"].max())
        assert longest <= LOG - 3
        views = [batch.views(np.full(400, 0), encodings=ENCODINGS)]
        batch.states["moves"] += 7
        views.append(batch.views(np.full(400, 0), encodings=ENCODINGS))
        for one, other in zip(*views):
            np.testing.assert_array_equal(one, other)
    plain = Table(["", "", "", ""], contract="garde").lay().do("no slam").play_out()
    assert plain.s.moves == 6 + 1 + 72


def test_ta_31_roles_at_the_end_of_a_deal() -> None:
    """TA-31: the taker, who holds the called king, and the others."""
    table = Table(["3C", "KH", "5C", "6C", "7C"]).do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam")
    table.play_out()
    assert [GAME.role(table.s, seat) for seat in range(5)] == [
        f"{side} garde sans" for side in ("defender", "partner", "taker", "defender", "defender")
    ]


# --- The match -------------------------------------------------------------------------------


@EVERY_NUMBER
def test_ta_5_match(players: int) -> None:
    """TA-5, TA-6: so many deals, void ones counted, the deal passing to the right; scores are added."""
    batch = games(20, 40, players=players, episode="match", dealer=0)
    sums = np.zeros((20, players))
    ended, dealers = np.zeros(20, int), batch.states["dealer"].copy()
    void = 0
    for _ in play(batch, np.random.default_rng(players), pass_often=True):
        for row in np.flatnonzero((batch.states["deals"] > ended) & ~batch.over):
            s = batch.states[row]
            assert s["deals"] == ended[row] + 1
            assert s["dealer"] == (dealers[row] + 1 + s["redeals"]) % players
            ended[row], dealers[row] = s["deals"], s["dealer"]
            sums[row] += s["last_scores"][:players]
            void += s["last_contract"] == 0
            np.testing.assert_array_equal(batch.rewards[row, :players], s["last_scores"][:players])
    s = batch.states
    sums += s["last_scores"][:, :players]
    assert (s["deals"] == 4 * players).all()
    np.testing.assert_array_equal(sums, s["scores"][:, :players])
    assert (s["scores"].sum(1) == 0).all()
    assert void > 5
    assert {GAME.role(record, 0) for record in records(s)} == {"match"}


@EVERY_NUMBER
def test_ta_5_the_next_deal_of_a_match_keeps_nothing_of_the_last(players: int) -> None:
    """TA-5: beside the score the state is that of a match that begins with this dealer and these cards."""
    table = Table([""] * players, episode="match").do(*["pass"] * (players - 1))
    s = table.batch.states
    for name in (
        "place", "held", "trick", "lead_suit", "on_table", "best_trump", "best_card", "best_seat", "trick_points",
        "broken", "played_in", "played_by", "winner_of", "tricks", "half_points", "excuse_wins", "poignee", "shown_by",
        "show_left", "show_below", "no_suit", "cap", "no_called", "called", "chien_open", "laid", "laid_trumps", "slam",
        "log_seat", "log_action", "log_laid",
    ):  # fmt: skip
        s[name] = 2
    table.do("pass")
    first = games(1, 0, s["dealt"], int(s["dealer"][0]), players=players, episode="match").states
    assert (s["deals"][0], s["last_contract"][0]) == (1, 0)
    other = {n for n in s.dtype.names or () if n.startswith("last_")} | {"rng", "deck", "slot", "redeals"}
    for name in set(s.dtype.names or ()) - other - {"moves", "deals", "rewards", "scores"}:
        np.testing.assert_array_equal(s[name], first[name], err_msg=name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 6}, "players=6 is not one of 3, 4, 5"),
        ({"rules": "club"}, "rules='club'"),
        ({"contract": "prise"}, "contract='prise'"),
        ({"deals_per_match": 101}, "deals_per_match=101"),
        ({"deals_per_match": 0}, "deals_per_match=0 is not between 1 and 100 or 'auto'"),
        ({"poignee": 1}, "unknown option 'poignee'"),
    ],
)
def test_options_that_do_not_exist_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        GAME.options.of(**options)


def test_deals_per_match() -> None:
    """TA-5: an option; `auto` stands for four deals by each player."""
    for given, deals in (("auto", 16), (1, 1), (3, 3)):
        batch = games(5, 1, episode="match", deals_per_match=given)
        for _ in play(batch, np.random.default_rng(1)):
            pass
        assert (batch.states["deals"] == deals).all()
