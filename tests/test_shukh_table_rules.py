"""Shukh at the table, rule by rule: debts of the deal, one card, penalties, leaving and coming back, two left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shukh_positions import PACKS
from shukh_referee import deal_stacks
from shukh_table_facts import facts
from shukh_table_positions import Deal, Game, Table

import cardgym
from cardgym.batch import Batch, resample, sample
from cardgym.cards import PACK_52
from cardgym.errors import InvalidOption
from cardgym.games.shukh_table import GAME
from cardgym.games.shukh_table_state import CHATTING, NUM_ACTIONS, PILE
from cardgym.kernel import records
from cardgym.testing import check_leaks, check_play, parts

HANDS = ("9S 8C QH", "10C JC 7C", "KC QC 6C", "AS KS 7D")


# --- Debts of the deal -----------------------------------------------------------------------


def test_r_4_11_r_8_4_debts_are_paid_face_down_after_the_deal() -> None:
    """R-4.11, R-8.4: every other player pays as many cards as there were Shukhs, and the table does not see which."""
    table = Table("9D 8C QH 7S", "10C JC 7C", "KC QC 6C", debts=(0, 2, 0))
    assert (table.stage, table.turn) == ("repay", 0), "clockwise from the shuffler"
    table.play("8C", "QH")
    assert table.turn == 2
    assert sum(table.seen(0)["piles"][1]) == 2, "who gave knows what he gave"
    assert sum(table.seen(2)["piles"][1]) == 0, "the others do not"
    assert table.seen(2)["piled"].tolist() == [0, 0, 2], "but how many"
    table.play("KC", "6C")
    assert table.hand(1) == {"10C", "JC", "7C", "8C", "QH", "KC", "6C"}
    assert (table.stage, table.turn) == ("turn", 0), "R-5.1: the nine of diamonds"


def test_tm_15_who_knows_what_after_debts() -> None:
    """TM-15: the receiver sees what he got; a third seat knows from whom, and how many are where."""
    table = Table("9D 8C QH 7S", "10C JC 7C", "KC QC 6C", debts=(0, 1, 0)).play("8C", "QC")
    assert table.stage == "turn"
    third = table.seen(2)
    names = {PACK_52.names[c] for c in np.flatnonzero(third["dealt_to"])}
    assert names == {"8C", "QH", "7S"}
    assert third["unknown"].tolist() == [[0, 0, 0], [0, 2, 1], [0, 0, 0]], "two with seat 0, one with seat 1"
    assert table.seen(1)["unknown"].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0]], "what he got tells him the rest"
    assert table.seen(0)["unknown"].sum() == 3, "and seat 0 does not know the gift of seat 2"
    worlds = np.repeat(table.batch.states, 3000)
    resample(GAME, worlds, np.full(3000, 2), 0)
    held = [np.mean(worlds["place"][:, PACK_52.card(c)] == 1) for c in ("8C", "QH", "7S", "9D")]
    assert held == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=0.03)
    table.play("QH")
    assert table.seen(2)["card"] == ["QH"]
    assert table.seen(2)["unknown"].sum() == 2, "what is shown is known to all from then on"


def worlds_of(table: Table | Deal, seat: int, n: int = 150) -> np.ndarray:
    """``n`` states that the seat cannot tell from the true one."""
    worlds = np.repeat(table.batch.states, n)
    resample(GAME, worlds, np.full(n, seat), 1)
    return worlds


def moved(table: Table, seat: int) -> dict[str, set[int]]:
    """Cards that do not lie in one place in all the worlds of the seat, with their places."""
    places = worlds_of(table, seat)["place"].T
    return {PACK_52.names[c]: set(there.tolist()) for c, there in enumerate(places) if len(set(there.tolist())) > 1}


def test_tm_15_any_card_of_the_stock_may_come_next_or_last() -> None:
    """TM-15: while the players deal; what has been drawn is known."""
    deal = Deal("8C QD 6S 10H").draw(4)
    order = deal.state["order"].copy()
    worlds = worlds_of(deal, 0, 400)["order"]
    assert (worlds[:, :4] == order[:4]).all()
    assert (worlds[:, 36:] == -1).all()
    for place in (4, 35):
        assert set(worlds[:, place].tolist()) == set(order[4:36].tolist())
    assert (np.sort(worlds[:, 4:36], axis=1) == np.sort(order[4:36])).all()


def test_tm_15_a_short_memory_sees_what_lies_open() -> None:
    """TM-15, S-6: with ``memory="table"`` cards of other hands may be in any of them, and all else stays."""
    table = Table("9S 8C", "10C JC", "KC QC", kon=[(2, "7S")], piles={1: "6D KD"}, memory="table")
    assert moved(table, 0) == {card: {1, 2} for card in ("10C", "JC", "KC", "QC")}
    assert moved(table, 1) == {card: {0, 2} for card in ("9S", "8C", "KC", "QC")}
    worlds = worlds_of(table, 2)
    assert ((worlds["place"] == 0).sum(axis=1) == 2).all()
    assert (worlds["below"] == -1).all()


@pytest.mark.parametrize(
    ("changes", "known"),
    [({}, True), ({"idle": 1}, False), ({"opener": 0}, False), ({"unswept": 1}, False), ({"height": 1}, False)],
)
def test_r_5_1_the_nine_of_diamonds_is_known_until_the_first_lead(changes: dict[str, int], known: bool) -> None:
    """R-5.1: with ``memory="table"`` too, it lies with the opener."""
    table = Table("9S 8C", "9D JC", "KC QC", turn=1, kon=[(0, "7S")] if "height" in changes else (), memory="table")
    for name, value in {"opener": 1, **changes}.items():
        table.state[name] = value
    assert ("9D" not in moved(table, 0)) == known


def test_tm_15_a_short_memory_and_cards_paid_face_down() -> None:
    """TM-15, R-4.14.1: until the piles are picked up, other hands and all piles are covered, but for the nine of
    diamonds."""
    table = Table("9D 8C QH 7S", "10C JC", "KC QC 6C", debts=(0, 1, 0), memory="table").play("8C")
    assert table.stage == "repay"
    pile = PILE + 1
    assert moved(table, 2) == {card: {0, 1, pile} for card in ("8C", "QH", "7S", "10C", "JC")}
    assert moved(table, 1) == {card: {0, 2, pile} for card in ("8C", "QH", "7S", "KC", "QC", "6C")}


def test_tm_15_cards_of_one_giver_change_places_among_themselves() -> None:
    """TM-15: with a perfect memory, and who knows them goes with the place."""
    table = Table("9D 8C QH 7S", "10C JC 7C", "KC QC 6C", debts=(0, 1, 0)).play("8C", "QC")
    assert moved(table, 2) == {card: {0, 1} for card in ("8C", "QH", "7S")}
    assert moved(table, 0) == {card: {1, 2} for card in ("KC", "QC", "6C")}
    assert moved(table, 1) == {}
    worlds = worlds_of(table, 2)
    true = table.batch.states
    for card in ("8C", "QH", "7S"):
        c = PACK_52.card(card)
        knows = {seat: set(worlds["known"][worlds["place"][:, c] == seat, c].tolist()) for seat in (0, 1)}
        paid, kept = PACK_52.card("8C"), PACK_52.card("QH")
        assert knows == {0: {int(true["known"][0, kept])}, 1: {int(true["known"][0, paid])}}


def test_sh_2_a_lost_turn_is_one_turn() -> None:
    """Sh-2, TM-13: who led the queen of hearts and was caught is passed over once."""
    table = Table(*HANDS).act("QH", react={1: "accuse"})
    assert (table.stage, table.turn) == ("turn", 1)
    assert table.state["skips"].tolist() == [0] * 8


@pytest.mark.parametrize("memory", ["perfect", "table"])
def test_tm_15_the_whole_state_shows_the_order_of_the_stock(memory: str) -> None:
    """TM-15: from the next card on."""
    deal = Deal("8C QD 6S 10H", memory=memory).draw(4)
    state = deal.batch.views(np.array([deal.turn]), encodings=("state",)).state[0]
    order = parts(deal.batch.layouts["state"], state)["stock_order"]
    assert [PACK_52.names[c] for c in np.argsort(order)[-32:]] == [PACK_52.names[c] for c in deal.state["order"][4:36]]
    assert sorted(order[order > 0]) == list(range(1, 33))


def test_tm_15_the_whole_state_shows_what_was_paid_face_down() -> None:
    """TM-15: hands and piles as they are, whoever knows them."""
    table = Table("9D 8C QH 7S", "10C JC 7C", "KC QC 6C", debts=(0, 1, 0)).play("8C")
    assert table.turn == 2
    state = table.batch.views(np.array([2]), encodings=("state",)).state[0]
    seen = parts(table.batch.layouts["state"], state)
    names = [{PACK_52.names[c] for c in np.flatnonzero(row)} for row in (*seen["hands"], *seen["piles"])]
    assert names == [{"9D", "QH", "7S"}, {"10C", "JC", "7C"}, set(), set(), {"8C"}]


@pytest.mark.parametrize(
    "options", [{}, {"memory": "table"}, {"deal": "engine", "judge": "vote"}, {"players": 2}], ids=lambda o: str(o)
)
def test_every_fact_is_seen_in_one_game(options: dict[str, Any]) -> None:
    """TM-15, S-6: from the observations of a random game, now and then, all that a seat may know is read."""
    batch = Batch(GAME, GAME.options.of(**{"players": 3, **options}), 1)
    batch.reset([3])
    generator = np.random.default_rng(1)
    for move in range(300):
        if batch.over[0]:
            break
        known = batch.states["known"][0]
        assert batch.states["secrets"][0] == (known != (1 << batch.seats) - 1).sum()
        for seat in range(batch.seats if move % 8 == 0 else 0):
            seen = parts(batch.layouts["observation"], batch.views(np.array([seat])).observation[0])
            for name, fact in facts(options).items():
                assert fact.truth(records(batch.states)[0], seat) == fact.read(seen), name
        batch.step(sample(batch.mask, generator))
    assert batch.states["opener"][0] >= 0, "the deal is done"


def test_tm_9_any_other_seat_may_be_asked_at_the_start_of_a_turn() -> None:
    """TM-9: but not who is on turn."""
    batch = Batch(GAME, GAME.options.of(players=4, deal="engine", chatter=1.0), 60)
    batch.reset(range(60))
    s = batch.states
    assert (s["stage"] == CHATTING).all()
    assert set(((s["player"] - s["turn"]) % 4).tolist()) == {1, 2, 3}


@pytest.mark.parametrize("seat", [0, 3])
def test_tm_9_who_jumps_chooses_his_card_next(seat: int) -> None:
    """TM-9, R-5.4: whichever seat it is."""
    table = Table("9S 8C", "10C JC 7C", "KC QC 6C", "AS KS 7D", kon=[(2, "7S")], turn=1, chat=seat).play("jump")
    assert (table.stage, table.turn) == ("jump", seat)
    assert table.legal() == ({"9S"} if seat == 0 else {"AS", "KS"})


@pytest.mark.parametrize("players", [2, 3])
def test_tm_11_a_party_of_two_begins_with_two_left(players: int) -> None:
    """TM-11: then the lowest heart cannot be asked for before somebody has moved."""
    game = Game(players, deal="engine")
    assert game.state["safe"] == (players == 2)
    assert game.state["live"] == players


@pytest.mark.parametrize(("low", "second"), [("2C", "3C"), ("2H", "3H"), ("2D", "3D")])
def test_v_1_the_lowest_card_of_any_suit_may_be_tucked(low: str, second: str) -> None:
    """V-1: of 52 cards too."""
    table = Table(f"{low} 9S", "10C JC 7C", "KC QC", kon=[(1, second)], deck=52, tuck="general")
    assert "tuck" in table.legal()
    assert table.act("tuck").hand(0) == {"9S"}


def test_s_2_the_next_party_keeps_nothing_of_the_last() -> None:
    """S-2: beside the score its state is that of a first party with this shuffler and this stock."""
    table = Table("6C 7C", "", "", kon=[(1, "7S")], out={2: 1}, episode="match", deal="played")
    for name in ("skips", "silent", "debt", "due", "repaid", "deals", "safe", "known", "origin", "hesitated", "warned"):
        table.state[name] = 1
    table.play("take")
    while table.state["parties"] == 0:
        table.play("pass")
    s = table.state
    assert (s["parties"], s["shuffler"], s["drawn"]) == (1, 0, 0)
    first = Deal(" ".join(PACK_52.names[c] for c in s["order"][:36]), episode="match").state
    score = ("rng", "moves", "scores", "parties", "origin")
    for name in set(GAME.dtype.names or ()) - set(score):
        np.testing.assert_array_equal(s[name], first[name], err_msg=name)


def test_r_4_12_r_4_13_first_pay_then_take() -> None:
    """R-4.12, R-4.13: two who owe each other pay from what they were dealt; piles are taken when all have paid."""
    table = Table("9D 8C QH", "10C JC 7C", "KC QC 6C", debts=(1, 1, 0))
    table.play("8C")
    assert table.turn == 1
    assert table.legal() == {"10C", "JC", "7C"}, "the card just received lies in the pile"
    table.play("10C")
    assert table.hand(0) == {"9D", "QH"}
    assert table.turn == 2
    table.play("KC", "QC")
    assert table.hand(0) == {"9D", "QH", "10C", "KC"}
    assert table.hand(1) == {"JC", "7C", "8C", "QC"}


def test_r_4_14_too_few_cards() -> None:
    """R-4.14: all but the last one, to whom the payer likes."""
    table = Table("9D 8C QH KD 7D", "10C JC", "KC QC 6C 6S 6D", debts=(2, 0, 2))
    table.play("8C", "QH")
    assert (table.stage, table.turn) == ("owe", 1), "he owes four and has one to spare"
    assert table.legal() == {"seat 1", "seat 2"}
    table.play("seat 2", "JC")
    assert table.turn == 2
    assert table.pile(0) == {"JC"}
    assert table.hand(1) == {"10C"}
    assert table.state["calls"] == 0, "TM-10: one card is not called at the end of the deal"


def test_r_4_14_1_the_nine_of_diamonds_is_not_paid() -> None:
    """R-4.14.1: not even by who has nothing else to spare."""
    table = Table("9D 8C", "10C JC 7C", "KC QC 6C", debts=(0, 1, 1))
    assert (table.stage, table.legal()) == ("owe", {"seat 1", "seat 2"})
    table.play("seat 1")
    assert table.legal() == {"8C"}
    table.play("8C")
    assert table.hand(0) == {"9D"}


def test_s_5_an_empty_hand_voids_the_deal() -> None:
    """S-5: the players deal anew, and what was earned in that deal is forgotten."""
    stairs = (
        "8C 9C 10C JC QC KC AC 6C 7C 8D 9D 10D JD QD KD AD 6D 7D 8H 9H 10H JH QH KH AH 6H 7H 8S 9S 10S JS QS KS AS 6S"
    )
    deal = Deal(stairs, players=4)
    while deal.state["deals"] == 0:
        deal.act("unload" if "unload" in deal.legal() else "draw", react={1: "accuse"})
    assert deal.state["drawn"] == 0
    assert deal.state["debt"].sum() == 0
    assert deal.seen(0)["stock"].tolist() == [36, 1]


# --- One card --------------------------------------------------------------------------------


def test_r_6_1_one_card_is_called() -> None:
    """R-6.1: by who lays the last but one, and by who gets one card having none."""
    table = Table("9S 8C", *HANDS[1:], kon=[(3, "7S")]).play("9S")
    assert (table.stage, table.turn, table.legal()) == ("call", 0, {"call", "pass"})
    table = Table("", *HANDS[1:], kon=[(0, "9S")]).play("take").settle(call={9: ""}, react={})
    taker = Table("", *HANDS[1:], kon=[(0, "9S")]).play("take", "pass", "pass", "pass")
    assert (taker.stage, taker.turn) == ("call", 0)
    paying = Table("9S 8C", *HANDS[1:], turn=1, kon=[(0, "9C")]).play("hesitate", "accuse")
    while paying.stage == "pay" and paying.turn != 0:
        paying.play(sorted(paying.legal())[0])
    assert paying.play("8C").stage == "call"
    assert paying.turn == 0


def test_r_6_2_r_6_2_1_one_question_one_penalty() -> None:
    """R-6.2, R-6.2.1: a question uses up the duty; another comes with the next single card."""
    table = Table("9S 8C", *HANDS[1:], kon=[(3, "7S")]).play("9S", "pass")
    table.play("seat 3")
    table.settle()
    assert table.penalties == {0: 3}
    assert table.state["silent"] == 0
    table.play("take")
    assert "seat 2" not in table.legal(), "asked already"


def test_r_6_3_too_late_to_ask() -> None:
    """R-6.3: who has moved since cannot be asked."""
    table = Table("9S 8C", "10C JC 7C", kon=[]).play("9S", "pass")
    table.settle().act("take")
    assert (table.turn, table.state["silent"]) == (0, 1)
    table.play("8C")
    assert "seat 1" not in table.legal()


def test_r_6_4_i_3_a_pile_is_no_hand() -> None:
    """R-6.4, I-3: one card in hand and a pile count as one card."""
    table = Table("9S 8C", *HANDS[1:], kon=[(3, "7S")], piles={0: "6D 6S"}).play("9S")
    assert table.stage == "call"
    assert table.seen(1)["held"][3] == 1


# --- Penalties -------------------------------------------------------------------------------


def test_r_8_1_r_8_2_r_2_10_each_player_pays_one_card_at_once() -> None:
    """R-8.1, R-8.2, R-2.10: face up, of the payer's choice, on a pile of its own; play goes on after it."""
    table = Table(*HANDS, kon=[(3, "7S")]).play("hesitate", "accuse")
    for seat, card in ((1, "JC"), (2, "6C"), (3, "KS")):
        assert (table.stage, table.turn) == ("pay", seat)
        assert table.legal() == table.hand(seat)
        table.play(card)
    assert table.pile(0) == {"JC", "6C", "KS"}
    assert {PACK_52.names[c] for c in np.flatnonzero(table.seen(2)["piles"][2])} == {"JC", "6C", "KS"}
    assert table.hand(0) == {"9S", "8C", "QH"}


def test_r_8_1_1_i_2_nobody_pays_his_last_card() -> None:
    table = Table("9S 8C QH", "10C", "KC QC 6C", "AS", kon=[(3, "7S")]).act("hesitate", react={1: "accuse"})
    assert table.penalties == {0: 1}
    assert table.hand(1) == {"10C"}


def test_r_8_3_the_pile_waits_for_the_end_of_the_kon() -> None:
    """R-8.3, TM-7: picked up when the table is empty; before that it is Sh-3."""
    table = Table(*HANDS, kon=[(1, "6S"), (2, "7S"), (3, "8S")], piles={0: "6D KD"})
    assert "pick up" in table.legal()
    table.act("9S")
    assert table.hand(0) == {"8C", "QH", "6D", "KD"}
    assert table.pile(0) == set()
    assert table.unswept == {"6S", "7S", "8S", "9S"}


def test_r_8_9_who_is_out_watches_judges_and_votes() -> None:
    """R-8.9: asked in windows, and among the voters."""
    table = Table("9S 8C QH", "10C JC 7C", "KC QC 6C", "", out={3: 1}, judge="vote").play("QH")
    asked = []
    while table.stage == "react":
        asked.append(table.turn)
        table.play("accuse" if table.turn == 2 else "pass")
    assert asked == [1, 2]
    table.play("dispute")
    voters = []
    while table.stage == "vote":
        voters.append(table.turn)
        table.play("support")
    assert voters == [1, 3]
    table = Table("9S 8C QH", "10C JC 7C", "KC QC 6C", "", out={3: 1}).play("QH", "pass", "pass")
    assert table.turn == 3


def test_r_5_4_windows_come_before_the_next_turn() -> None:
    """R-5.4, TM-4: the next seat always, every other one as often as it is attentive."""
    table = Table(*HANDS, attention=0.25)
    start, counts, generator = table.batch.states.copy(), np.zeros(4), np.random.default_rng(0)
    for _ in range(400):
        table.batch.states[:] = start
        table.state["rng"] = generator.integers(1 << 32, size=4)
        table.batch.refresh(0)
        table.play("9S")
        counts[[s for s in range(4) if int(table.state["window"]) >> s & 1]] += 1
    assert counts[:2].tolist() == [0, 400]
    assert 0.15 < counts[2] / 400 < 0.35
    assert 0.15 < counts[3] / 400 < 0.35


# --- Leaving and coming back -----------------------------------------------------------------


def test_r_9_1_1_nobody_leaves_with_a_pile() -> None:
    """R-9.1.1: in mid-kon the pile comes into the hand instead."""
    table = Table("9S 8C QH", "", "KC QC 6C", "AS KS 7D", kon=[(1, "7S"), (3, "8S")], piles={1: "6D KD"})
    table.act("take")
    assert table.hand(1) == {"6D", "KD"}
    assert table.places == [0, 0, 0, 0]
    without = Table("9S 8C QH", "", "KC QC 6C", "AS KS 7D", kon=[(1, "7S"), (3, "8S")]).act("take")
    assert without.places == [0, 1, 0, 0]


def test_r_9_5_r_9_5_1_who_is_out_comes_back_with_his_penalty() -> None:
    """R-9.5, R-9.5.1: with these cards alone, from the next kon on; the others move up in the order of leaving."""
    table = Table("9S 8C QH", "10C JC 7C", "", "", out={2: 1, 3: 2}, kon=[(1, "7S")])
    table.act("hesitate", react={1: "pass", 2: "pass"})
    table.act("9S", react={2: "accuse"})
    assert table.penalties == {2: 2}
    assert table.hand(2) != set(), "the kon was closed by two cards"
    assert len(table.hand(2)) == 2
    assert table.places == [0, 0, 0, 1]
    assert table.state["live"] == 3


def test_tm_7_nothing_to_pay_nothing_happens() -> None:
    table = Table("9S", "10C", "", out={2: 1}).play("9S", "pass", "accuse")
    assert table.places[2] == 1
    assert not table.penalties


def test_r_5_6_a_closer_who_has_left_is_asked_to_sweep() -> None:
    """R-5.6, TM-8: before the next leader moves; if he does not, and that one plays, both pay; he is back (R-9.5)."""
    table = Table("9S", *HANDS[1:], kon=[(1, "6S"), (2, "7S"), (3, "8S")]).act("9S")
    assert (table.stage, table.turn, table.legal()) == ("gone", 0, {"sweep", "pass"})
    assert table.places == [1, 0, 0, 0]
    table.play("pass")
    assert table.turn == 1
    table.act("10C", react={2: "accuse"})
    assert set(table.penalties) == {0, 1}
    assert table.discard >= {"6S", "9S"}
    assert table.places == [0, 0, 0, 0], "the table was empty, so piles were picked up at once"


# --- Two left --------------------------------------------------------------------------------


def pair(first: str = "6H 9S 8C", second: str = "10S JC 7C", **options: object) -> Table:
    return Table(first, second, "", "", out={2: 1, 3: 2}, **options)


def test_r_9_3_r_9_4_r_9_4_1_the_lowest_heart_is_discarded_freely() -> None:
    """R-9.3, R-9.4, R-9.4.1: on one's own turn, which goes on; nobody is asked about it."""
    table = pair()
    assert "discard" in table.legal()
    table.play("discard")
    assert (table.stage, table.turn) == ("turn", 0)
    assert "6H" in table.discard
    assert table.legal() == {"9S", "8C", "hesitate"}


def test_r_9_4_2_1_only_its_holder_can_be_asked() -> None:
    """R-9.4.2.1: the question exists for the other player alone, not for those who are out, and not about nothing."""
    table = pair("6H 9S 8C KD").act("9S").act("take").play("8C")
    assert (table.turn, "ask six" in table.legal()) == (1, True)
    table.play("pass")
    assert (table.turn, "ask six" in table.legal()) == (2, False)
    table = pair("KH 9S 8C KD").act("9S").act("take").play("8C")
    assert "ask six" not in table.legal()


def test_r_9_4_3_used_instead_of_discarded() -> None:
    """R-9.4.3: leading it is Sh-12; it can be neither tucked nor paid."""
    table = pair("6H 9S", kon=[(1, "7H")])
    assert table.legal() == {"take", "discard", "sweep", "hesitate"}
    caught = pair().act("6H", react={1: "accuse"})
    assert "6H" in caught.discard
    assert caught.turn == 1
    paying = pair(turn=1).play("hesitate", "accuse")
    assert (paying.stage, paying.turn, paying.legal()) == ("pay", 0, {"9S", "8C"})


def test_s_13_nothing_to_lead_with() -> None:
    """S-13, TM-8: a pass on lead shows that there was no card to lead."""
    table = Table("QH", *HANDS[1:])
    assert table.legal() == {"pass", "QH", "hesitate"}
    table.play("pass")
    assert table.turn == 1


def test_sh_12_as_the_last_card() -> None:
    """TM-11, R-9.1.1, R-9.1: if the discard empties the hand a pile is taken; without one he is out, and it is over."""
    for others, over in (("10S", True), ("10S JC 7C", False)):
        table = Table("6H", others, "", out={2: 1})
        table.state["safe"] = 0
        table.play("hesitate")
        table.settle(react={1: "ask six"})
        assert (table.stage == "over") == over
        assert table.penalties == ({} if over else {0: 1})


# --- Options and actions ---------------------------------------------------------------------


def test_options() -> None:
    """TM-5: with two nobody could vote; every option can be given to ``make``."""
    with pytest.raises(InvalidOption, match="judge='vote' needs players=3 or more"):
        GAME.options.of(players=2, judge="vote")
    env = cardgym.make("ShukhTable-v0", judge="vote", deal="engine", players=3, attention=0.5, chatter=0.0)
    env.reset(seed=1)
    assert env.unwrapped.action_space.n == len(GAME.actions) == NUM_ACTIONS == 75


def test_what_is_seen_can_be_drawn() -> None:
    """The drawing shows a seat its own gifts and covers those of others."""
    table = Table("9D 8C QH 7S", "10C JC 7C", "KC QC 6C", debts=(0, 1, 0)).play("8C")
    giver, third, referee = (GAME.render(table.batch.states, seat) for seat in (0, 2, None))
    for drawn in (giver, referee):
        assert "▒▒" not in drawn
        assert "pile of 1: 8♣" in drawn
    assert third.count("▒▒") == 2, "of three cards left the nine of diamonds is known"
    assert re.search(r"pile of 1$", third, re.M)


# --- The sequence of the documentation -------------------------------------------------------


def test_tm_1_tm_3_the_worked_sequence() -> None:
    """TM-1, TM-3: seat, stage and action of every line of the worked example on the page."""
    page = (Path(__file__).parent.parent / "docs/envs/rules/shukh_table.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (\d) \| (\w+) \| `([^`]+)` \|", page.partition("## Worked examples")[2], re.M)
    assert len(lines) == 16
    table = Table(*HANDS, kon=[(3, "7S")])
    for seat, stage, action in lines:
        assert (table.turn, table.stage) == (int(seat), stage), action
        table.play(action)
    assert table.stage == "pay"
    table.settle()
    assert len(table.pile(0)) == 4


def test_tm_12_a_deal_by_the_players() -> None:
    """TM-12: without offences it ends as the engine's deal of the same stock does."""
    for players in (2, 3, 6):
        deal = Deal("", players=players)
        while deal.stage == "draw":
            deal.act("unload" if "unload" in deal.legal() else "draw")
        piles = deal_stacks(PACKS[36], 0, players, 36)
        if deal.state["deals"] == 0:
            assert [deal.hand(seat) for seat in range(players)] == [set(pile) for pile in piles]


def test_a_match() -> None:
    """R-4.15, R-10.2: parties follow each other, the loser shuffles, and the fewest lost parties win."""
    check_play(GAME, games=2, episode="match", parties_per_match=2, players=3, max_idle_turns=60)
    check_leaks(GAME, games=1, drawings=10, episode="match", parties_per_match=2, players=2)
