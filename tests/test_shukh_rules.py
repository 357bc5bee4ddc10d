"""Shukh in play, rule by rule: sections 1-3, 5, 6.1, 9, 10 and 12.1 of the rules, in positions set up by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from shukh_positions import NAMES, PACKS, PAIRS, Table, games, play
from shukh_referee import ORDER, rank_of, suit_of

from cardgym.cards import PACK_52, SUITS
from cardgym.errors import IllegalAction, InvalidOption
from cardgym.games.shukh import ABSENT, CARDS, DISCARD, GAME, LAID, SEATS


def seen(table: Table, seat: int) -> dict[str, Any]:
    """What a seat observes, part by part."""
    return table.batch.layouts["observation"].describe(table.batch.views(np.array([seat])).observation[0])


# --- 1: aim ----------------------------------------------------------------------------------


def test_r_1_1_r_1_2_first_without_cards_wins() -> None:
    """R-1.1, R-1.2: a player is done when neither his hand nor the kon holds a card of his, and the first is best."""
    table = Table("AS 9C", "8S", "10C", kon=[(2, "KS")])
    table.play("AS", "take")
    assert table.places == [0, 0, 0], "seat 0 has the nine, seat 1 what he took"
    table.play("take", "9C", "take", "10C")
    assert table.hand(0) == set()
    assert table.places[0] == 1, "his last card was taken by another"


def test_r_1_3_the_loser_is_who_keeps_cards() -> None:
    table = Table("KS", "7S 8C", kon=[(1, "QS")]).play("KS")
    assert table.over
    assert table.places == [1, 2]
    assert table.rewards == [1.0, -1.0]


def test_r_1_4_r_1_4_1_only_lawful_moves_exist() -> None:
    """R-1.4, R-1.4.1: nothing unlawful can be done, so there is nothing to notice and nothing that lapses."""
    table = Table("9S 10C", "QC JS", "KC 6D", kon=[(2, "8C")])
    before = table.batch.states.copy()
    for action in set(NAMES) - table.legal():
        with pytest.raises(IllegalAction):
            table.play(action)
    assert table.batch.states.tobytes() == before.tobytes()


# --- 2: pack, zones, words -------------------------------------------------------------------


def test_r_2_1_r_2_4_packs() -> None:
    """R-2.1, R-2.4: 36 or 52 cards of four suits."""
    for deck in (36, 52):
        s = games(1, 0, deck=deck).states[0]
        present = {PACK_52.names[c] for c in np.flatnonzero(s["place"] != ABSENT)}
        assert present == set(PACKS[deck])
        assert len(present) == deck
        assert {suit_of(c) for c in present} == set(SUITS)
    with pytest.raises(InvalidOption, match="deck=32 is not one of 36, 52"):
        GAME.options.of(deck=32)


def test_r_2_2_order_of_ranks() -> None:
    """R-2.2: from the two or the six up to the ace."""
    assert [n[:-1] for n in PACK_52.names[:13]] == list(ORDER)
    assert [n[:-1] for n in PACKS[36][:9]] == list(ORDER[4:])


@pytest.mark.parametrize(("deck", "lowest", "second"), [(36, "6H", "7H"), (52, "2H", "3H")])
def test_r_2_3_cards_that_depend_on_the_pack(deck: int, lowest: str, second: str) -> None:
    """R-2.3: the lowest heart goes under the next one; the nine of diamonds opens with both packs."""
    table = Table(f"{lowest} 9C", "8C JC", "JS", kon=[(2, second)], deck=deck)
    assert "tuck" in table.legal()
    assert table.play("tuck").hand(1) == {"8C", "JC", lowest, second}
    s = games(1, 3, deck=deck).states[0]
    assert s["place"][PACK_52.card("9D")] == s["player"] == s["opener"]
    other = Table("2H 6H 9C", "8C JC", "JS", kon=[(2, "7H" if deck == 52 else "8H")], deck=52)
    assert "tuck" not in other.legal()


def test_r_2_5_diamonds_are_trumps_of_every_party() -> None:
    for top, trump in (("AH", "6D"), ("AC", "6D")):
        assert trump in Table(f"{trump} 9S", "8C", "JS", kon=[(2, top)]).legal()


def test_r_2_6_r_2_9_r_2_10_zones() -> None:
    """R-2.6, R-2.9, R-2.10: in play there is no stock, what is discarded stays so, and no pile of penalties exists."""
    batch = games(50, 5)
    for rows, before, _ in play(batch, 1):
        place = batch.states["place"][rows]
        known = (place < SEATS) | ((place >= LAID) & (place < LAID + SEATS)) | (place == DISCARD) | (place == ABSENT)
        assert known.all()
        assert (place[before["place"] == DISCARD] == DISCARD).all()


def test_r_2_7_hands_are_what_a_player_leads_and_beats_with() -> None:
    """R-2.7: from his own cards alone, which lay open in the deal, so that all know them."""
    table = Table("9S 10C", "QC JS", "KC 6D")
    assert table.legal() == {"9S", "10C"}
    hands = seen(table, 1)["hands"]
    assert {PACK_52.names[c] for c in np.flatnonzero(hands[0])} == {"KC", "6D"}
    assert {PACK_52.names[c] for c in np.flatnonzero(hands[1])} == {"9S", "10C"}


def test_r_2_8_kon_is_a_pile() -> None:
    """R-2.8: only its last card is to be beaten, and only its first one can be taken."""
    table = Table("9S 10C", "QC 8S", "KC 6S", "JS AS", kon=[(2, "7C")]).play("10C")
    assert table.kon == ["7C", "10C"]
    assert table.legal() == {"QC", "take"}
    assert table.play("take").hand(1) == {"QC", "8S", "7C"}
    assert table.kon == ["10C"]


def test_r_2_11_r_2_12_r_2_13_turns_go_round() -> None:
    """R-2.11, R-2.12, R-2.13: one lead, beat or take each, clockwise, until the kon is done."""
    table = Table("6S 7C", "8S 7D", "9S 6C", "JC 6D", turn=2)
    order = []
    for action in ("9S", "take", "6S", "8S", "take"):
        order.append(table.turn)
        table.play(action)
    assert order == [2, 3, 0, 1, 2]
    assert table.hand(3) == {"JC", "6D", "9S"}
    assert table.turn == 3


# --- 3: what beats what ----------------------------------------------------------------------


@pytest.mark.parametrize("deck", [36, 52])
@pytest.mark.parametrize("suit", SUITS)
def test_r_3_1_r_3_2_r_3_3_r_3_5_what_beats_what(deck: int, suit: str) -> None:
    """R-3.1, R-3.2, R-3.3, R-3.5: the table of the rules for every pair of cards."""
    pack = PACKS[deck]
    for top in (c for c in pack if suit_of(c) == suit and c != "QH"):
        beaten_by = set()
        spare = [c for c in pack if c != top]
        for others in (spare[:2], spare[2:4]):  # whom seat 0 leaves a card each
            mine = set(spare) - set(others)
            table = Table(" ".join(mine), *others, "", kon=[(3, top)], deck=deck)
            beaten_by |= table.legal() & set(pack)
        higher = {rank + suit for rank in ORDER[ORDER.index(rank_of(top)) + 1 :]}
        diamonds = {rank + "D" for rank in ORDER[-deck // 4 :]}
        expected = higher | {"QH"} | (diamonds if suit in "HC" else set())
        assert beaten_by == expected, top


def test_r_3_4_no_duty_to_follow_suit() -> None:
    """R-3.4: a trump may be laid by who has a higher card of the suit; a card of another plain suit may not."""
    table = Table("10H 6D 10C 9S", "QC", "KC", kon=[(2, "9H")])
    assert table.legal() == {"10H", "6D", "take"}


def test_r_3_6_r_3_6_1_the_lowest_heart_beats_nothing_but_may_be_led() -> None:
    """R-3.6, R-3.6.1: led, it is beaten like any heart."""
    for top in (c for c in PACKS[36] if c not in ("6H", "QH", "JS", "JC")):
        assert "6H" not in Table("6H JS", "JC", "", kon=[(2, top)]).legal()
    table = Table("6H JS", "7H 6D 8C 6S", "JC")
    assert "6H" in table.legal()
    assert table.play("6H").legal() == {"7H", "6D", "take"}


def test_r_3_6_2_r_5_7_1_the_tuck_feeds_the_next_player() -> None:
    """R-3.6.2, R-5.7.1: he takes the whole kon with the tucked card and leads."""
    table = Table("KC 8S", "9C", "JC", "6H KS 10D", kon=[(1, "7H"), (2, "9D")], turn=3)
    assert table.legal() == {"10D", "take", "tuck"}
    table.play("tuck")
    assert table.hand(0) == {"KC", "8S", "6H", "7H", "9D"}
    assert table.kon == []
    assert table.turn == 0
    assert "take" not in table.legal()


@pytest.mark.parametrize("top", ["8H", "AS", "AD", "9C"])
def test_r_3_6_2_1_the_top_card_does_not_matter(top: str) -> None:
    """R-3.6.2.1: whatever lies on top, the tuck is the turn of who tucks."""
    table = Table("KC 8S", "10C", "JC", "6H KS", kon=[(1, "7H"), (2, top)], turn=3)
    assert table.play("tuck").hand(0) == {"KC", "8S", "6H", "7H", top}
    assert table.turn == 0


def test_r_3_6_2_2_eating_is_no_discard() -> None:
    table = Table("KC 8S", "9C", "JC", "6H KS", kon=[(1, "7H"), (2, "8H")], turn=3, idle=5)
    before = table.discard
    assert table.play("tuck").discard == before
    assert table.state["idle"] == 6


@pytest.mark.parametrize("kon", [["8H"], ["7C"], ["8H", "7D"], ["7D", "7S"]])
def test_r_3_6_3_only_the_lowest_heart_under_the_next_by_default(kon: list[str]) -> None:
    """R-3.6.3: other tucks belong to the variant."""
    hand = "6H 6C 7H 6D 6S KS" if "7H" not in kon else "6H 6C KS"
    table = Table(hand, "JC", "JH", "", kon=[(3, c) for c in kon])
    assert "tuck" not in table.legal()


@pytest.mark.parametrize("top", ["AS", "AH", "AD", "6C"])
@pytest.mark.parametrize("under", [[], ["7C"]])
def test_r_3_7_r_3_7_1_queen_of_hearts_beats_all_and_closes(top: str, under: list[str]) -> None:
    """R-3.7, R-3.7.1: on any card, whatever the number of cards."""
    table = Table("QH 9S", "JC", "JH", "KC", "KD", kon=[(4, c) for c in (*under, top)])
    assert "QH" in table.legal()
    table.play("QH")
    assert {*under, top, "QH"} <= table.discard
    assert table.kon == []
    assert table.turn == 0, "R-5.7: who closed leads"


def test_r_3_7_2_queen_of_hearts_is_never_led() -> None:
    """R-3.7.2: not even as the last card; who has nothing else is passed over (S-13)."""
    assert Table("QH 9S", "JC", "JH").legal() == {"9S"}
    table = Table("QH", "JC 9S", "JH 8H", kon=[(1, "7S")], turn=2).play("take")
    assert table.turn == 1, "seat 0 would lead"
    assert table.hand(0) == {"QH"}


# --- 5: the kon ------------------------------------------------------------------------------


def test_r_5_1_nine_of_diamonds_opens() -> None:
    """R-5.1: the first kon only; the card itself need not be led."""
    for deck, players in PAIRS:
        s = games(100, 9, deck=deck, players=players).states
        assert (s["place"][:, PACK_52.card("9D")] == s["player"]).all()
    table = Table("9D 8S", "JC JS", "JH KH", kon=[(2, "7S")], turn=0).play("8S", "JS")
    assert table.turn == 1, "the next kon is led by who closed"


def test_r_5_2_any_card_is_led_but_the_queen_of_hearts() -> None:
    for deck in (36, 52):
        pack = PACKS[deck]
        table = Table(" ".join(pack[2:]), *pack[:2], deck=deck)
        assert table.legal() == set(pack[2:]) - {"QH"}


def test_r_5_3_beating_is_a_right_not_a_duty() -> None:
    """R-5.3: beat, take, or tuck; taking is always possible."""
    table = Table("9S 6H", "JC JS", "JH KH", kon=[(2, "7H"), (0, "8S")])
    assert table.legal() == {"9S", "take", "tuck"}
    assert Table("6C", "JC JS", "JH KH", kon=[(2, "7S")]).legal() == {"take"}


def test_r_5_4_only_the_player_on_turn_has_actions() -> None:
    table = Table("9S 6H", "JC JS", "JH KH", kon=[(2, "7H")], turn=1)
    masks = [table.batch.views(np.array([seat])).mask[0].any() for seat in range(3)]
    assert masks == [False, True, False]


def test_r_5_5_as_many_cards_as_players() -> None:
    """R-5.5: neither before nor after."""
    table = Table("8S 6C", "9S 6D", "10S 7D", "7S 8D", turn=3).play("7S", "8S", "9S")
    assert table.kon == ["7S", "8S", "9S"]
    table.play("10S")
    assert table.kon == []
    assert {"7S", "8S", "9S", "10S"} <= table.discard
    assert table.turn == 2


def test_r_5_5_1_players_who_left_do_not_count() -> None:
    """R-5.5.1: who has gone counts no more, who has a card in the kon still does."""
    table = Table("8S 6C", "", "10S 7D", "7S", out={1: 1}, turn=3).play("7S", "8S")
    assert len(table.kon) == 2
    assert table.state["live"] == 3, "seat 3 has no hand, but a card in the kon"
    table.play("10S")
    assert table.kon == []
    assert table.places == [0, 1, 0, 2]


def test_r_5_6_r_5_6_1_r_5_6_2_swept_at_once() -> None:
    """R-5.6, R-5.6.1, R-5.6.2: the closer cannot forget it: the next decision finds the table empty."""
    batch = games(100, 1)
    for rows, before, actions in play(batch, 2):
        last = (actions < CARDS) & (before["height"] + 1 == before["live"])
        assert (batch.states["height"][rows][last] == 0).all()
    table = Table("9S JD", "6C", "7C", kon=[(1, "7S"), (2, "8S")]).play("9S")
    assert table.kon == []
    assert table.legal() == {"JD"}


def test_r_5_6_3_an_open_kon_cannot_be_swept() -> None:
    """R-5.6.3: there is no action for it."""
    table = Table("9S 6H QH", "JC JS", "JH KH", kon=[(2, "7H")])
    assert table.legal() == {"QH", "take", "tuck"}
    before = table.discard
    assert table.play("take").discard == before


def test_r_5_7_the_closer_leads() -> None:
    table = Table("9S 6C", "JC 7C", "JH 8C", kon=[(1, "7S"), (2, "8S")]).play("9S")
    assert table.turn == 0
    assert table.legal() == {"6C"}


@pytest.mark.parametrize("last", ["9S", "QH"])
def test_r_5_7_2_the_closer_left(last: str) -> None:
    """R-5.7.2: with his last card, the queen of hearts too; the next player clockwise leads."""
    table = Table(last, "", "JC 7C", "JH 8C", out={1: 1}, kon=[(2, "7S"), (3, "8S")]).play(last)
    assert table.places == [2, 1, 0, 0]
    assert table.turn == 2


def test_r_5_8_taking_uncovers_the_next_card_and_passes_the_turn() -> None:
    """R-5.8: one card, the bottom one; the count for closing goes down with it."""
    table = Table("6C 7C", "10S 7D", "JS 8D", kon=[(1, "7S"), (2, "9S")]).play("take")
    assert table.hand(0) == {"6C", "7C", "7S"}
    assert table.turn == 1
    table.play("10S")
    assert table.kon == ["9S", "10S"], "two of three"


def test_r_5_9_a_handless_player_has_to_take() -> None:
    """R-5.9: his card is in the open kon, so he is in the game."""
    table = Table("", "10S 7D", "JS 8D", "6S 6C", kon=[(0, "7S"), (2, "9S")])
    assert table.legal() == {"take"}
    assert table.play("take").hand(0) == {"7S"}
    assert table.places == [0, 0, 0, 0]


# --- 6: one card -----------------------------------------------------------------------------


def test_r_6_1_one_card_is_known_to_all_at_once() -> None:
    """R-6.1: (a) by laying one of two, (b) by taking with none in hand; the engine says it."""
    table = Table("9S 6C", "JC 7C", "JH 8C", "KD 10D", kon=[(3, "8S")]).play("9S")
    for seat in range(4):
        assert seen(table, seat)["held"][(0 - seat) % 4] == 1
    table = Table("", "10S 7D", "JS 8D", "6S 6C", kon=[(0, "7S"), (2, "9S")]).play("take")
    for seat in range(4):
        assert seen(table, seat)["held"][(0 - seat) % 4] == 1


# --- 9 and 10: leaving, two left, the end ----------------------------------------------------


def test_r_9_1_r_9_1_1_out_when_hand_and_kon_hold_nothing_of_his() -> None:
    """R-9.1, R-9.1.1: not before, and at that moment, since nothing is owed; then fewer cards close a kon."""
    table = Table("9S", "6C", "JC 7C", "JH 8C", kon=[(3, "8S")]).play("9S")
    assert table.places == [0, 0, 0, 0]
    table.play("take", "take")
    assert table.places == [1, 0, 0, 0]
    assert table.state["live"] == 3


def test_r_9_2_places_in_order_of_leaving() -> None:
    table = Table("9S", "7S", "8S 6C", turn=1).play("7S", "8S", "9S")
    assert table.places == [1, 2, 3], "the closer first, then clockwise"
    assert table.batch.states["scores"][0, :3].tolist() == [1, 2, 3]


def test_r_9_3_s_16_two_left_the_lowest_heart_goes() -> None:
    """R-9.3, S-16: it must be discarded before anything else, on lead and in an open kon."""
    lead, beat, nothing = {"9S", "KS"}, {"9S", "KS", "take"}, {"take"}
    for kon, then in (([], lead), ([(1, "7S")], beat), ([(1, "7H")], nothing)):
        table = Table("6H 9S KS", "JC 10S", "", out={2: 1}, kon=kon, idle=7)
        assert table.legal() == {"discard"}
        table.play("discard")
        assert "6H" in table.discard
        assert table.turn == 0, "the turn goes on"
        assert table.state["idle"] == 0, "S-21"
        assert table.legal() == then


def test_r_9_4_r_9_4_1_on_his_own_turn_only() -> None:
    """R-9.4, R-9.4.1: the other seat is not stopped by it, and a third player in the game makes it an ordinary card."""
    table = Table("6H 9S", "JC 10S", "", out={2: 1}, turn=1)
    assert table.legal() == {"JC", "10S"}
    table.play("10S")
    assert table.legal() == {"discard"}
    assert "discard" not in Table("6H 9S", "JC 10S", "KC").legal()


def test_r_9_4_2_r_9_4_2_1_nobody_need_ask() -> None:
    """R-9.4.2, R-9.4.2.1: with two left both know where it is, and holding it back is impossible."""
    batch = games(300, 8, players=3)
    found = 0
    for _, before, actions in play(batch, 8):
        seats = before["player"]
        holds = before["place"][:, PACK_52.card("6H")] == seats
        due = holds & (before["live"] == 2)
        assert (actions[due] == GAME.action_ids["discard"]).all()
        found += due.sum()
    assert found > 20


def test_r_9_4_3_no_lead_and_no_tuck_with_two_left() -> None:
    for tuck in ("eating", "general"):
        assert "6H" not in Table("6H 9S", "JC 10S", "", out={2: 1}, tuck=tuck).legal()
        assert "tuck" not in Table("6H 9S", "JC 10S", "", out={2: 1}, kon=[(1, "7H")], tuck=tuck).legal()


def test_r_10_1_the_party_ends_when_one_is_left() -> None:
    table = Table("9S", "7C 8S", "", out={2: 1}, kon=[(1, "7S")])
    assert not table.over
    table.play("9S")
    assert table.over
    assert table.places == [2, 3, 1]
    assert table.rewards == [0.0, -1.0, 1.0]
    assert not table.batch.mask.any()


def test_r_10_1_1_last_ones_leave_together() -> None:
    """R-10.1.1: clockwise from the closer; the last in this order has lost."""
    table = Table("8S", "", "9S", "10S", out={1: 1}, turn=0).play("8S", "9S", "10S")
    assert table.over
    assert table.places == [3, 1, 4, 2]


# --- 12.1: the variant -----------------------------------------------------------------------

VARIANT: dict[str, Any] = {"tuck": "general"}


def test_v_1_any_card_under_the_next_of_its_suit() -> None:
    """V-1: same suit, one rank lower, the ace under the lowest card; instead of beating or taking."""
    for suit, deck in itertools.product(SUITS, (36, 52)):
        ranks = ORDER[-deck // 4 :]
        for rank, lower in zip(ranks, (ranks[-1], *ranks[:-1])):
            bottom, fits = rank + suit, lower + suit
            hand = [c for c in PACKS[deck] if c not in (bottom, fits, "JC", "JS")]
            others = [c for c in ("JC", "JS") if c not in (bottom, fits)]
            if len(others) < 2:
                others, hand = ["9S", "9H"], [c for c in hand if c not in ("9S", "9H")]
            with_it = Table(" ".join([*hand, fits]), *others, kon=[(2, bottom)], deck=deck, **VARIANT)
            without = Table(" ".join(hand), *others, kon=[(2, bottom)], deck=deck, **VARIANT)
            assert "tuck" in with_it.legal(), bottom
            assert "tuck" not in without.legal(), bottom


def test_v_2_a_tuck_sheds_a_card() -> None:
    """V-2: it lies at the bottom, the top stays, the turn passes, and it goes to the discard with the kon."""
    table = Table("8C 6H", "KC QS", "JD 9H", "AS AD", kon=[(3, "9C"), (2, "10C")], **VARIANT).play("tuck")
    assert table.kon == ["8C", "9C", "10C"]
    assert table.laid(0) == {"8C"}
    assert table.turn == 1
    assert table.legal() == {"KC", "take"}
    assert {"8C", "9C", "10C", "KC"} <= table.play("KC").discard


def test_v_3_the_lowest_heart_under_the_next_eats_still() -> None:
    table = Table("6H 8C", "KC QS", "JD 9H", kon=[(2, "7H")], **VARIANT).play("tuck")
    assert table.hand(1) == {"KC", "QS", "6H", "7H"}
    assert table.turn == 1


def test_v_4_it_is_off_by_default_and_changes_play() -> None:
    """V-4: a stronger way to shed: parties become shorter."""
    lengths = {}
    for tuck in ("eating", "general"):
        batch = games(300, 0, tuck=tuck)
        for _ in play(batch, 0):
            pass
        lengths[tuck] = np.median(batch.states["moves"])
    assert GAME.options().tuck == "eating"
    assert lengths["general"] < 0.95 * lengths["eating"]
