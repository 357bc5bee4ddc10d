"""Shukh's deal, rule by rule: section 4, with stocks set up by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare
from shukh_positions import PACKS, PAIRS, dealt, games, stacks
from shukh_referee import after, rank_of

from cardgym.cards import PACK_52
from cardgym.errors import InvalidOption
from cardgym.games.shukh import DEALS, GAME

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always


def after_drawing(stock: str, players: int = 3, shuffler: int = 0, deck: int = 36) -> list[list[str]]:
    """The stacks, from the bottom up, right after the last of these cards was drawn and laid down."""
    return stacks(dealt(stock, shuffler, players, deck, whole=False))


def test_r_4_1_the_shuffler_is_drawn_by_lot() -> None:
    """R-4.1, S-2: every seat as likely as any other, unless the reset fixes it."""
    counts = np.bincount(games(8000, 1).states["shuffler"], minlength=4)
    assert chisquare(counts).pvalue > UNLIKELY
    batch = games(1, 0)
    for seat in range(4):
        batch.reset([5], options={"shuffler": seat})
        assert batch.states["shuffler"][0] == seat
    with pytest.raises(InvalidOption, match="shuffler=4"):
        batch.reset([5], options={"shuffler": 4})


def test_r_4_1_every_stock_is_as_likely() -> None:
    s = games(20_000, 2).states
    for place in (0, 17, 35):
        counts = np.bincount(s["order"][:, place], minlength=52)
        assert chisquare(counts[[PACK_52.card(c) for c in PACKS[36]]]).pvalue > UNLIKELY


def test_micro_example_of_the_seed() -> None:
    """4.2: the second player draws the nine, gives it to the eight, draws a queen and keeps it."""
    assert after_drawing("8C 9H QD") == [["8C", "9H"], ["QD"], []]


def test_r_4_2_only_the_top_card_counts_and_suits_do_not() -> None:
    """R-4.2: seat 0 has the eight under a king: nine stays with who draws it."""
    # 0: 8C; 1: QD; 2: 10S; 0 draws the king and keeps it; 1 draws the nine.
    assert after_drawing("8C QD 10S 6H 9H") == [["8C", "6H"], ["QD", "9H"], ["10S"]]
    assert after_drawing("8C 9H") == [["8C", "9H"], [], []]


@pytest.mark.parametrize(("deck", "lowest"), [(36, "6"), (52, "2")])
def test_r_4_3_r_4_5_one_rank_higher_and_the_lowest_on_the_ace(deck: int, lowest: str) -> None:
    """R-4.3, R-4.5: exactly one rank, in a circle."""
    ranks = [rank_of(c) for c in PACKS[deck][: deck // 4]]
    for low in ranks:
        for high in ranks:
            if low != high:
                given = after_drawing(f"{low}C {high}D", deck=deck)[0] == [f"{low}C", f"{high}D"]
                assert given == (after(low, deck) == high)
    assert after_drawing(f"AC {lowest}D", deck=deck)[0] == ["AC", f"{lowest}D"]


def test_r_4_4_r_4_4_2_r_4_4_3_r_4_4_4_a_draw() -> None:
    """R-4.4, R-4.4.2, R-4.4.3, R-4.4.4: cards that fit are given away and another is drawn, until one stays."""
    assert after_drawing("8C 9H 10S JD 6C") == [["8C", "9H", "10S", "JD"], ["6C"], []]


def test_r_4_4_1_unloading_comes_before_the_draw() -> None:
    """R-4.4.1: seat 2 must put his king on the queen; his seven stays with him."""
    tops = after_drawing("9S 7C KD QH 9D 7H")
    assert tops == [["9S", "QH", "KD"], ["7C", "9D"], ["7H"]]
    assert after_drawing("9S 7C KD QH 9D 7H 10C")[1] == ["7C", "9D", "10C"]


def test_r_4_4_1_as_long_as_a_top_card_fits() -> None:
    """R-4.4.1: the nine goes to the eight, then the ten below it to the nine, then he draws."""
    assert after_drawing("10D 6C 9S 8H", players=2) == [["10D", "9S"], ["6C", "8H"]]
    assert after_drawing("10D 6C 9S 8H KD", players=2) == [["KD"], ["6C", "8H", "9S", "10D"]]


def test_s_3_unload_again_after_giving_a_card_away() -> None:
    """S-3: seat 1 draws a nine for the other's eight; his own ten has to follow it before he draws again."""
    assert after_drawing("KS 10D 8C 9H", players=2) == [["KS", "8C", "9H"], ["10D"]]
    assert after_drawing("KS 10D 8C 9H 6S", players=2) == [["KS", "8C", "9H", "10D"], ["6S"]]


def test_r_4_6_the_first_clockwise_gets_the_card() -> None:
    # 0: 8C; 1: 8D; 2: 8H; then a nine drawn by seat 0 goes to seat 1, one drawn by seat 1 to seat 2.
    assert after_drawing("8C 8D 8H 9S")[1] == ["8D", "9S"]
    assert after_drawing("8C 8D 8H 6C 9S")[2] == ["8H", "9S"]
    assert after_drawing("8C 8D 8H 9S", shuffler=2)[0] == ["8D", "9S"], "counted from who gives"


def test_r_4_7_the_shuffler_has_the_first_card() -> None:
    """R-4.7: then clockwise."""
    for shuffler in range(3):
        found = after_drawing("8C QD 6S", shuffler=shuffler)
        assert [found[(shuffler + i) % 3] for i in range(3)] == [["8C"], ["QD"], ["6S"]]


def test_r_4_8_no_order_on_the_own_stack() -> None:
    assert after_drawing("8C QD 6S 6C")[0] == ["8C", "6C"]


def test_r_4_9_s_4_the_last_card_stays_with_the_drawer() -> None:
    """R-4.9, S-4, S-21: even if it fits elsewhere, after unloading; afterwards nobody unloads."""
    for seed in range(300):
        s = games(1, seed, players=3).states[0]
        last = int(s["order"][35])
        drawer = int(s["place"][last])
        assert s["top"][drawer] == last
        others = [int(s["top"][(drawer + i) % 3]) for i in (1, 2)]
        fits = [after(rank_of(PACK_52.names[t]), 36) == rank_of(PACK_52.names[last]) for t in others]
        if any(fits):
            break
    else:
        pytest.fail("no deal in which the last card fitted elsewhere")


@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_r_4_10_starting_hands(deck: int, players: int) -> None:
    """R-4.10: when the stock is gone the stacks are the hands; all cards are dealt."""
    s = games(200, 4, deck=deck, players=players).states
    assert (s["held"].sum(1) == deck).all()
    assert (s["held"][:, :players] > 0).all(), "S-5"
    for state in s[:20]:
        for seat, stack in enumerate(stacks(state)):
            assert {PACK_52.card(c) for c in stack} == set(np.flatnonzero(state["place"] == seat))


STAIRS = (
    "8C 9C 10C JC QC KC AC 6C 7C 8D 9D 10D JD QD KD AD 6D 7D 8H 9H 10H JH QH KH AH 6H 7H 8S 9S 10S JS QS KS AS 6S 7S"
)


def test_r_4_10_1_s_5_a_player_without_cards_is_out_at_once() -> None:
    """R-4.10.1, S-5, S-21: everything went onto one stack; those without are placed clockwise from the opener."""
    assert DEALS == 9
    s = dealt(STAIRS, 1, 4)
    assert s["held"][:4].tolist() == [0, 35, 1, 0]
    assert s["finish"][:4].tolist() == [2, 0, 0, 1]
    assert s["opener"] == s["player"] == 1
    assert s["live"] == 2


def test_s_5_such_a_deal_is_made_anew() -> None:
    """S-5: a fresh deal never starts with somebody out."""
    for deck, players in PAIRS:
        assert (games(500, 6, deck=deck, players=players).states["finish"] == 0).all()


def test_s_7_the_opener_is_known_from_the_deal() -> None:
    """S-7, R-5.1: the nine of diamonds, however it came to him; he may lead anything but the queen of hearts."""
    s = games(500, 7).states
    assert (s["opener"] == s["place"][np.arange(500), PACK_52.card("9D")]).all()
    batch = games(100, 7)
    for row in range(100):
        hand = np.flatnonzero(batch.states["place"][row] == batch.players[row])
        names = {PACK_52.names[c] for c in hand} - {"QH"}
        assert set(GAME.legal_names(batch.mask[row])) == names
