"""Avinas' pack, deal and turning up: rules AV-1 ... AV-5, and the knowledge that they give (AV-18)."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from avinas_positions import Table, dealt_around, deck_of, games, split
from avinas_referee import CARD_POINTS, PACK, RANKS, Referee, plain, rank_of, trumps
from scipy.stats import chisquare

from cardgym.cards import PACK_32
from cardgym.errors import InvalidOption
from cardgym.games import avinas
from cardgym.games.avinas import CLASS, GAME, POINTS, STRENGTH, TRUMPS

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always


@functools.cache
def many_deals() -> np.ndarray:
    """States of 100 000 deals, nothing said yet."""
    return games(100_000, 7).states


def assert_uniform(counts: np.ndarray) -> None:
    assert counts.min() > 0
    assert chisquare(counts).pvalue > UNLIKELY


# --- Seats, pack, deal -----------------------------------------------------------------------


def test_av_1_pairs_and_first_dealer() -> None:
    """AV-1: four seats, 0 with 2 and 1 with 3; chance names the first dealer, who then does not speak first."""
    assert GAME.seats(GAME.options()) == 4
    assert GAME.team_of(GAME.options()).tolist() == [0, 1, 0, 1]
    s = many_deals()
    assert_uniform(np.bincount(s["dealer"], minlength=4))
    bidding = s[s["sevens"] == 0]
    np.testing.assert_array_equal(bidding["player"], (bidding["dealer"] + 1) % 4)


@pytest.mark.parametrize("dealer", range(4))
def test_av_1_reset_option_fixes_the_dealer(dealer: int) -> None:
    batch = games(50, 1)
    batch.reset(range(50), options={"dealer": dealer})
    assert (batch.states["dealer"] == dealer).all()
    with pytest.raises(InvalidOption, match="dealer=4"):
        batch.reset(range(50), options={"dealer": 4})


def test_av_1_the_deal_passes_to_the_left() -> None:
    """AV-1: after a deal that was played, and after one that was passed out."""
    dealt = dealt_around({}, dealer=2)
    table = Table(dealt, dealer=2, episode="match")
    table.do("pass", "pass", "pass", "pass")
    assert (table.s.deals, table.s.dealer) == (1, 3)
    table.stack(dealt_around({}, dealer=3)).do("bid 1", "pass", "pass", "pass")
    for _ in range(60):
        if table.s.deals == 2:
            break
        table.batch.step(table.batch.mask.argmax(axis=1))
    assert (table.s.deals, table.s.dealer) == (2, 0)


def test_av_2_trumps_and_plain_suits() -> None:
    """AV-2: 14 trumps, all queens and jacks among them; the seven of trumps stands above the queen of spades."""
    assert list(PACK_32.names) == PACK
    assert trumps("H") == split("QC 7H QS QH QD JC JS JH JD AH 10H KH 9H 8H")
    for number, suit in enumerate("CDHS"):
        order = sorted(range(32), key=lambda c: -int(STRENGTH[number, c]))
        assert [PACK[c] for c in order if CLASS[number, c] == TRUMPS] == trumps(suit)
        for k, other in enumerate("CDHS"):
            if other != suit:
                assert [PACK[c] for c in order if CLASS[number, c] == k] == plain(other)


def test_av_3_card_points() -> None:
    assert {rank: int(POINTS[i]) for i, rank in enumerate(RANKS)} == CARD_POINTS
    assert sum(CARD_POINTS[rank_of(c)] for c in PACK) == 120


def test_av_4_packets_of_four() -> None:
    """AV-4: four cards to each from the dealer's left, and again; every card is equally likely everywhere."""
    s = many_deals()
    rows = np.arange(len(s))
    for i in range(32):
        owner = s["owner"][rows, s["deck"][:, i]]
        np.testing.assert_array_equal(owner, (s["dealer"] + 1 + i // 4) % 4)
        assert_uniform(np.bincount(s["deck"][:, i], minlength=32))


def test_av_4_who_turns_up_what() -> None:
    """AV-4: the dealer's opponents both cards, the dealer and his partner sevens only; 4th cards before 8th ones."""
    dealt = [
        split("AC 10C KC 7C AD 10D KD QD"),  # the dealer: a seven and a queen
        split("AH 10H KH 9H 8H JH QH 9S"),
        split("AS 10S KS 8S QC QS JC 7S"),  # his partner: an eight and a seven
        split("9C 8C 9D 7D 8D JD JS 7H"),
    ]
    table = Table(dealt, dealer=0)
    order = split("9H 7D 7C 9S 7S 7H")
    turned = table.seen(1)["turned_up"]
    assert sorted(turned, key=turned.get) == order
    assert [turned[c] for c in order] == [1, 3, 4, 5, 6, 7]
    assert table.s.sevens == 4
    for seat in range(4):
        assert table.seen(seat)["turned_up"] == turned
    assert table.seen(0)["looked_at"] == set(split("7C QD 8S 7S"))
    assert table.seen(2)["looked_at"] == set(split("8S 7S"))
    assert table.seen(1)["looked_at"] == table.seen(3)["looked_at"] == set()
    assert table.seen(0)["known"] == [{"9H", "9S"}, {"8S", "7S"}, {"7D", "7H"}]
    assert table.seen(2)["known"] == [{"7D", "7H"}, {"7C"}, {"9H", "9S"}]
    assert table.seen(1)["known"] == [{"7S"}, {"7D", "7H"}, {"7C"}]


def test_av_4_turned_up_cards_stay_in_hand_and_known() -> None:
    table = Table(dealt_around({0: "QC QS QH QD JC JS JH JD"}, dealer=0), dealer=0).do("pass", "pass", "pass", "bid 8")
    shown = set(table.seen(2)["turned_up"]) & set(table.seen(2)["known"][0] | table.seen(2)["known"][2])
    assert len(shown) == 4
    table.do("QC", "trumps C").play_any(until=3)
    played = set().union(*table.seen(2)["played_by"])
    known = table.seen(2)["known"]
    assert known[0] | known[2] == shown - played
    assert shown & played


def test_av_5_the_last_seven_names_trumps_and_declarer() -> None:
    """AV-5, and n counts the sevens turned up."""
    s = many_deals()
    seven = s["deck"][:, 3::4] % 8 == 0  # all places that may be turned up
    np.testing.assert_array_equal(s["sevens"], seven.sum(axis=1))
    assert set(s["sevens"].tolist()) == {0, 1, 2, 3, 4}
    with_sevens = s[s["sevens"] > 0]
    last = 7 - seven[s["sevens"] > 0][:, ::-1].argmax(axis=1)
    np.testing.assert_array_equal(with_sevens["declarer"], (with_sevens["dealer"] + 1 + last) % 4)
    np.testing.assert_array_equal(with_sevens["trump"], with_sevens["deck"][np.arange(len(last)), last * 4 + 3] // 8)
    assert (with_sevens["phase"] == avinas.KNOCK).all()
    assert (with_sevens["player"] == with_sevens["declarer"]).all()
    without = s[s["sevens"] == 0]
    assert (without["trump"] == -1).all()
    assert (without["declarer"] == -1).all()
    assert (without["phase"] == avinas.BIDDING).all()


def test_av_5_example_7_how_often_no_seven_is_turned_up() -> None:
    """Worked example 7, AV-4, AV-5: in 29.55 % of the deals."""
    assert abs((many_deals()["sevens"] == 0).mean() - 0.2955) < 0.006


def test_av_18_places_that_hold_no_seven() -> None:
    """AV-18: cards of dealer and partner that he looked at and did not turn up are no sevens; all can tell which
    seats they lie in, since the dealer is seen."""
    s = many_deals()[:2000]
    quiet = (s["looked"] != 0) & (s["turned"] == 0)
    assert quiet.any(axis=1).mean() > 0.9
    assert not quiet[:, ::8].any()


def test_av_18_the_dealers_look_is_his_own() -> None:
    """AV-18: two deals that differ in what the dealer saw of his partner look alike to the opponents."""
    one = dealt_around({1: "QC QS QH QD JC JS AC 10C", 2: "JH JD AH 10H KH 9H AS 10S"}, dealer=1)
    r = Referee(deck_of(one, 1), 1)
    other = [list(cards) for cards in one]
    quiet = next(k for k in range(8) if k not in (3, 7) and rank_of(one[3][k]) != "7")
    other[3][3], other[3][quiet] = other[3][quiet], other[3][3]
    a, b = Table(one, dealer=1), Table(other, dealer=1)
    assert r.sevens == []
    for seat in (0, 2):
        for x, y in zip(a.views(seat)[:3], b.views(seat)[:3], strict=True):
            np.testing.assert_array_equal(x, y)
        assert a.text(seat) == b.text(seat)
    assert a.seen(1)["known"][1] == {one[3][3], one[3][7]}
    assert b.seen(1)["known"][1] == {other[3][3], other[3][7]}
    assert (a.views(3).observation != b.views(3).observation).any()  # the partner knows which two it was
