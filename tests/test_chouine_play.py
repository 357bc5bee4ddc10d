"""Chouine's play: tricks, the seven of trumps, announcements, the end of a deal (CH-5 ... CH-20)."""

from __future__ import annotations

import numpy as np
import pytest
from chouine_positions import Table, at_trick, bold_games, deck_of, games, play, rich_decks, split
from chouine_referee import PACK, suit_of

from cardgym.batch import ENCODINGS, resample
from cardgym.errors import IllegalAction
from cardgym.games.chouine import GAME, HAND

WORDS = {a.name for a in GAME.actions if a.word}
SMALL = "7D 8D 9D 7C 8C"  # a hand that can announce nothing and takes few tricks


def legal_cards(table: Table) -> set[str]:
    return table.legal - WORDS


# --- Tricks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", [0, 1])
def test_ch_5_the_non_dealer_leads_any_card(dealer: int) -> None:
    for deck in rich_decks(20, np.random.default_rng(dealer)):
        table = Table([PACK[c] for c in deck], dealer)
        assert table.s.player == 1 - dealer
        assert legal_cards(table) == table.hand(1 - dealer)


@pytest.mark.parametrize("trick", [*range(1, 12)])
def test_ch_6_any_reply_while_the_stock_lasts(trick: int) -> None:
    table = at_trick(trick, "AH KD 9H 8C JD", "10H 9S QH 8D 7C", "KS")
    if "decline" in table.legal:
        table.do("decline")
    assert legal_cards(table) == table.hand(0)
    table.do("9H")
    assert legal_cards(table) == set(split("10H 9S QH 8D 7C"))


@pytest.mark.parametrize(
    ("lead", "reply", "follower_wins"),
    [
        ("9H", "KH", True),
        ("KH", "9H", False),
        ("KH", "10H", True),
        ("10H", "KH", False),
        ("10H", "AH", True),
        ("8H", "7H", False),
        ("AH", "7S", True),
        ("7S", "8S", True),
        ("8S", "7S", False),
        ("7S", "AH", False),
        ("9H", "AD", False),
        ("7D", "AC", False),
    ],
)
def test_ch_7_who_takes_the_trick(lead: str, reply: str, follower_wins: bool) -> None:
    """CH-7: higher card of the suit led or a trump (here spades); another plain suit never."""
    spare = [c for c in split("7C 8C 9C 8D 9D JD QD QC") if c not in (lead, reply)]
    table = at_trick(3, " ".join([lead, *spare[:4]]), " ".join([reply, *spare[4:6], "QS", "JH"]), "JS")
    piles = [table.s.place.tolist().count(5 + seat) for seat in range(2)]
    table.do(lead, reply)
    winner = int(follower_wins)
    assert table.s.winner_of[3] == winner
    assert [table.s.place.tolist().count(5 + seat) - piles[seat] for seat in range(2)] == [2 - 2 * winner, 2 * winner]


def test_ch_8_winner_draws_first_and_leads() -> None:
    """CH-8: winner draws first, then the loser; the winner leads; trick 11 brings the last two cards; 16 tricks."""
    deck = rich_decks(1, np.random.default_rng(8))[0]
    table = Table([PACK[c] for c in deck])
    coming = [PACK[c] for c in [*deck[11:], deck[10]]]
    for trick in range(1, 17):
        assert table.s.trick == trick
        before = [table.hand(0), table.hand(1)]
        while table.s.trick == trick and not table.batch.over[0]:
            name = min(legal_cards(table) or {"decline"})
            before[table.s.player].discard(name)
            table.do(name)
        winner = int(table.s.winner_of[trick])
        if trick <= 11:
            before[winner].add(coming.pop(0))
            before[1 - winner].add(coming.pop(0))
        assert [table.hand(0), table.hand(1)] == before
        assert len(before[0]) == len(before[1]) == min(HAND, 16 - trick)
        assert table.s.leader == winner or trick == 16
    assert coming == []
    assert table.batch.over[0]
    assert table.s.winner_of[1:].min() >= 0


def test_ch_8_the_loser_of_trick_11_gets_the_turn_up() -> None:
    table = at_trick(11, "AH KD 9H 8C JD", "10H 9S QH 8D 7C", "KS", stock="10D").do("AH", "8D")
    assert table.hand(0) == set(split("KD 9H 8C JD 10D"))
    assert table.hand(1) == set(split("10H 9S QH 7C KS"))
    assert table.s.under == -1


def test_ch_9_follow_suit_but_need_not_head_a_plain_suit() -> None:
    table = at_trick(12, "QH 9C 8C KD JD", "AH 7H 10C 9S 8D", "9S")
    assert legal_cards(table) == table.hand(0)  # the lead is free
    table.do("QH")
    assert legal_cards(table) == {"AH", "7H"}
    table.do("7H")
    assert table.s.winner_of[12] == 0


def test_ch_9_void_must_trump_else_any_card() -> None:
    """CH-9: void of the plain suit led: a trump, any trump; without trumps any card."""
    table = at_trick(12, "QH 9H 8H KD JD", "10C 7C 9S JS 8D", "9S").do("QH")
    assert legal_cards(table) == {"9S", "JS"}
    table.do("JS").do("8D", "KD")  # the follower won, led a diamond and still has a trump
    assert table.s.leader == 0
    table.do("9H")
    assert legal_cards(table) == {"9S"}
    table.do("9S", "7C", "JD")
    assert table.s.leader == 1
    last = at_trick(12, "QH 9H 8H KD JD", "10C 7C 9S 9C 8D", "9S").do("QH", "9S", "8D", "KD", "9H")
    assert legal_cards(last) == {"10C", "7C", "9C"}


def test_ch_9_heads_a_trump_lead() -> None:
    """CH-9: on a trump lead a higher trump if there is one, else a lower one, else any card."""
    higher = at_trick(12, "QS 9H 8H KD JD", "KS AS 9S 7C AD", "9S").do("QS")
    assert legal_cards(higher) == {"KS", "AS"}
    lower = at_trick(12, "AS 9H 8H KD JD", "KS JS 9S 7C AD", "9S").do("AS")
    assert legal_cards(lower) == {"KS", "JS", "9S"}
    lower.do("9S").do("9H")  # void of hearts: trumps again
    assert legal_cards(lower) == {"KS", "JS"}
    none = at_trick(12, "AS QS 8H KD JD", "10C 7C 9S 9C AD", "9S").do("AS", "9S", "QS")
    assert legal_cards(none) == {"10C", "7C", "9C", "AD"}


# --- Memory ----------------------------------------------------------------------------------


def test_ch_10_table_memory_changes_the_observation_only() -> None:
    """CH-10: only ``observation`` forgets; ``history``, ``state``, masks, the game and its redeals stay the same."""
    decks = rich_decks(60, np.random.default_rng(10))
    both = [games(60, 10, decks, memory=memory) for memory in ("perfect", "table")]
    twin = play(both[1], np.random.default_rng(1))
    fields = [name for name in GAME.dtype.names or () if name != "memory"]
    differ = 0
    for rows, _ in play(both[0], np.random.default_rng(1)):
        next(twin)
        for seat in range(2):
            one, other = (b.views(np.full(len(rows), seat), rows, ENCODINGS) for b in both)
            np.testing.assert_array_equal(one.history, other.history)
            np.testing.assert_array_equal(one.state, other.state)
            np.testing.assert_array_equal(one.mask, other.mask)
            differ += (one.observation != other.observation).any(1).sum()
            redealt = [b.states[rows] for b in both]
            for states in redealt:
                resample(GAME, states, np.full(len(rows), seat), 3)
            assert all((redealt[0][name] == redealt[1][name]).all() for name in fields)
    assert differ > 1000


def test_ch_10_only_the_opponents_last_trick_lies_open() -> None:
    table = at_trick(1, "AH 10D AC 9H 8C", "7H 8D 9C 8S 7C", "JS", memory="table")
    table.do("AH", "7H").do("10D", "8D").do("9H", "8S")  # two tricks to seat 0, then one to seat 1
    seen = table.seen(1)
    assert seen["opponent_tricks"] == ["8D", "10D"]
    assert seen["own_tricks"] == ["9H", "8S"]
    assert {"7H", "AH"} <= set(seen["unseen"])
    assert seen["points"].tolist() == [0, 0]
    perfect = at_trick(1, "AH 10D AC 9H 8C", "7H 8D 9C 8S 7C", "JS").do("AH", "7H", "10D", "8D", "9H", "8S").seen(1)
    assert set(perfect["opponent_tricks"]) == {"AH", "7H", "10D", "8D"}
    assert perfect["points"].tolist() == [0, 10]


# --- The seven of trumps ---------------------------------------------------------------------


@pytest.mark.parametrize("trick", [*range(1, 11)])
def test_ch_12_leader_before_the_lead_follower_after_it(trick: int) -> None:
    """CH-12: at any own decision before playing a card, tricks 1-10."""
    leader = at_trick(trick, "7S KD 9H 8C JD", "10H 9S QH 8D 7C", "KS")
    assert "swap" in leader.legal
    leader.do("9H")
    assert "swap" not in leader.legal  # the follower holds no seven
    follower = at_trick(trick, "9S KD 9H 8C JD", "10H 7S QH 8D 7C", "KS")
    assert "swap" not in follower.legal
    follower.do("9H")
    assert "swap" in follower.legal
    follower.do("swap")
    assert follower.s.player == 1
    assert legal_cards(follower) == set(split("10H KS QH 8D 7C"))
    assert "swap" not in follower.legal


def test_ch_11_the_swap() -> None:
    """CH-11: no trick won before, no bonus; the seven lies under the stock and goes to the loser of trick 11."""
    table = at_trick(1, "7S KD 9H 8C JD", "10H 9S QH 8D 7C", "KS")
    table.do("swap")
    assert table.hand(0) == set(split("KS KD 9H 8C JD"))
    assert PACK[table.s.under] == "7S"
    assert table.s.announced_points.tolist() == [0, 0]
    assert table.s.card_points.tolist() == [0, 0]
    assert table.s.player == 0
    assert "KS" in table.seen(1)["known"]
    late = at_trick(10, "7S KD 9H 8C JD", "10H 9S QH 8D 7C", "KS", stock="9C 9D 10D").do("swap", "9H", "10H")
    assert late.s.leader == 1
    late.do("QH", "8C")  # seat 1 wins trick 11
    assert late.hand(0) == set(split("KS KD JD 9D 7S"))
    assert "7S" in late.seen(1)["known"]


def test_ch_11_impossible_once_trick_11_is_led() -> None:
    leader = at_trick(11, "7S KD 9H 8C JD", "10H 9S QH 8D 7C", "KS").do("decline")
    assert "swap" in leader.legal
    leader.do("9H", "8D")
    assert "swap" not in leader.legal
    follower = at_trick(11, "9S KD 9H 8C JD", "10H 7S QH 8D 7C", "KS").do("decline", "9H")
    assert "swap" not in follower.legal
    with pytest.raises(IllegalAction, match="swap"):
        follower.do("swap")


def test_ch_12_nothing_to_swap_when_the_seven_is_turned_up() -> None:
    for trick in (1, 5, 10, 11):
        table = at_trick(trick, "8S KD 9H 8C JD", "10H 9S QH 8D 7C", "7S")
        assert table.s.player == 0  # in trick 11 too: nobody is asked
        assert "swap" not in table.legal
        table.do("9H")
        assert "swap" not in table.legal


def test_ch_12_no_swap_between_an_announcement_and_its_card() -> None:
    table = at_trick(2, "7S KD QD 8C JD", "10H 9S QH 8D 7C", "KS")
    assert {"swap", "marriage D"} <= table.legal
    table.do("marriage D")
    assert table.legal == {"KD", "QD"}


@pytest.mark.parametrize(
    ("leader", "follower", "stock", "answers"),
    [
        ("AH KD 9H 8C JD", "10H 7S QH 8D 7C", "", {"swap", "decline"}),  # he holds it
        ("7S KD 9H 8C JD", "10H 9S QH 8D 7C", "", {"decline"}),  # the leader holds it
        ("AH KD 9H 8C JD", "10H 9S QH 8D 7C", "7S", {"decline"}),  # it is the last card of the stock
    ],
)
def test_ch_13_au_sept_asks_the_non_leader(leader: str, follower: str, stock: str, answers: set[str]) -> None:
    """CH-13: asked before the leader's first decision, whoever holds the seven; then the leader decides as usual."""
    table = at_trick(11, leader, follower, "KS", stock=stock)
    assert (table.s.player, table.s.called, table.s.lead) == (1, 1, -1)
    assert table.legal == answers
    assert table.seen(0)["phase"].tolist() == table.seen(1)["phase"].tolist() == [0, 1, 0]
    assert not table.batch.views(np.array([0])).mask.any()
    table.do("decline")
    assert table.s.player == 0
    assert legal_cards(table) == set(split(leader))
    assert ("swap" in table.legal) == ("7S" in leader)
    table.do("9H")
    assert table.s.player == 1
    assert "decline" not in table.legal


def test_ch_13_no_question_when_the_seven_was_played_swapped_or_turned() -> None:
    """CH-13: not asked when a swap is impossible for all to see."""
    hands = ("AH KD 9H 8C JD", "10H 9S QH 8D 7C")
    tables = [
        at_trick(11, *hands, "KS", played="7S"),
        at_trick(11, *hands, "7S"),
        at_trick(10, "7S KD 9H 8C JD", hands[1], "KS").do("swap", "9H", "8D"),
        at_trick(10, "AH KD 9H 8C JD", "7S 9S QH 8D 7C", "KS").do("9H", "7S"),
        at_trick(10, "7S KD 9H 8C JD", hands[1], "KS").do("7S", "8D"),
    ]
    for table in tables:
        assert (table.s.trick, table.s.called, table.s.lead) == (11, 0, -1)
        assert table.s.player == table.s.leader
        assert not table.legal & {"swap", "decline"}
        assert table.seen(0)["au_sept"] == 0


def test_ch_13_asked_once_in_trick_11_only() -> None:
    """CH-13: one question, after the draw of trick 10 and before the lead, in just the deals that call for it."""
    generator = np.random.default_rng(13)
    batch = games(400, 13)
    questions, due = np.zeros(400, int), np.zeros(400, int)
    for rows, _ in play(batch, generator, talk=0.5):
        s = batch.states[rows]
        asked = s["phase"] == 1
        assert (s["trick"][asked] == 11).all()
        assert (s["lead"][asked] == -1).all()
        assert (s["player"] != s["leader"])[asked].all()
        questions[rows] += asked
        seven = s["trump"] * 8
        hidden = (s["trick_of"][np.arange(len(s)), seven] == 0) & (s["under"] != seven)
        due[rows[(s["trick"] == 11) & hidden]] = 1
    np.testing.assert_array_equal(questions, due)
    assert 30 < due.sum() < 370


def test_ch_13_the_honour_received_may_be_announced_at_once() -> None:
    leader = at_trick(4, "7S QS 9H 8C JD", "10H 9S QH 8D 7C", "KS")
    assert "marriage S" not in leader.legal
    leader.do("swap", "marriage S", "KS")
    assert leader.s.announced_points[0] == 40
    follower = at_trick(11, "9S KD 9H 8C JD", "10H 7S QS 8D 7C", "KS").do("swap", "9H")
    assert "marriage S" in follower.legal
    follower.do("marriage S", "QS")
    assert follower.s.announced_points[1] == 40


# --- Announcements ---------------------------------------------------------------------------


@pytest.mark.parametrize("suit", ["C", "D", "H", "S"])
@pytest.mark.parametrize(
    ("kind", "ranks", "value"), [("marriage", "KQ", 20), ("tierce", "KQJ", 30), ("quarteron", "AKQJ", 40)]
)
def test_ch_14_values(kind: str, ranks: str, value: int, suit: str) -> None:
    """CH-14: 20, 30, 40, doubled in trumps (here spades)."""
    fill = [c for c in split("7C 8C 7D 8D 9D") if suit_of(c) != suit]
    hand = [r + suit for r in ranks]
    table = at_trick(3, " ".join([*hand, *fill][:5]), "7H 8H 9H 8S 9S", "10S")
    assert f"{kind} {suit}" in table.legal
    table.do(f"{kind} {suit}")
    assert table.s.announced_points.tolist() == [value * (2 if suit == "S" else 1), 0]
    assert table.legal == set(hand)


@pytest.mark.parametrize("missing", ["K", "Q", "J", "A", "10"])
def test_ch_14_combinations_must_be_whole(missing: str) -> None:
    needs = {"marriage": "K Q", "tierce": "K Q J", "quarteron": "A K Q J", "chouine": "A 10 K Q J"}
    held = [r for r in ("A", "10", "K", "Q", "J") if r != missing]
    table = at_trick(2, " ".join([*(r + "H" for r in held), "8C"]), "7C 9C 7D 8D 9D", "8S")
    expected = {f"{kind} H" for kind, ranks in needs.items() if set(split(ranks)) <= set(held)}
    assert table.legal & WORDS - {"swap"} == expected


@pytest.mark.parametrize("quinte", [50, 100])
def test_ch_14_quinte(quinte: int) -> None:
    """CH-14: five brisques, never doubled, with trumps or all five of them without."""
    for hand in ("AS 10S AC 10C AD", "AH 10H AC 10C AD"):
        table = at_trick(2, hand, "7C 8C 7D 8D 9D", "JS", quinte=quinte)
        table.do("quinte")
        assert table.s.announced_points.tolist() == [quinte, 0]
        assert table.legal == set(split(hand))
    assert "quinte" not in at_trick(2, "AH 10H AC 10C KD", "7C 8C 7D 8D 9D", "JS").legal


def test_ch_14_chouine_wins_the_deal() -> None:
    table = at_trick(3, "AH 10H KH QH JH", SMALL, "JS").do("chouine H", "JH", "8D")
    assert table.batch.over[0]
    assert table.rewards == [1.0, -1.0]
    assert (table.info["winner"], table.info["chouine"]) == (0, True)


def test_ch_15_leader_or_follower_and_a_lost_trick_counts() -> None:
    """CH-15: both players may announce in one trick, and the loser's announcement stands."""
    table = at_trick(5, "KH QH 9C 8C 7C", "KD QD 9D 8D AH", "JS").do("marriage H", "KH")
    assert "marriage D" in table.legal
    table.do("marriage D", "QD")
    assert table.s.winner_of[5] == 0
    assert table.s.announced_points.tolist() == [20, 20]
    assert "QH" in table.hand(0)  # unplayed cards stay in the hand
    assert "KD" in table.hand(1)


def test_ch_15_captured_and_played_cards_never_count() -> None:
    captured = at_trick(2, "AH QH 9C 8C 7C", "KH 7D 8D 9D JD", "JS").do("AH", "KH")
    assert "QH" in captured.hand(0)
    assert "marriage H" not in captured.legal
    played = at_trick(2, "KH QH 9C 8C 7C", "7H 7D 8D 9D JD", "JS").do("KH", "7D")
    assert "marriage H" not in played.legal


def test_ch_15_a_suit_announcement_shows_its_cards_at_once() -> None:
    table = at_trick(2, "KH QH JH 8C 7C", SMALL.replace("8C", "9C").replace("7C", "9H"), "JS")
    assert table.seen(1)["known"] == []
    table.do("tierce H")
    assert set(table.seen(1)["known"]) == {"KH", "QH", "JH"}
    table.do("QH")
    assert set(table.seen(1)["known"]) == {"KH", "JH"}
    table.do("7D", "JH")
    assert table.seen(1)["known"] == ["KH"]


@pytest.mark.parametrize("by_follower", [False, True])
def test_ch_15_a_quinte_is_shown_when_the_trick_lies(by_follower: bool) -> None:
    """CH-15: nothing but the word until both cards lie; then all five cards, before the draw."""
    brisques, other = "AH 10H AC 10C AD", "7C 8C 9D 8D JD"
    table = at_trick(2, *((other, brisques) if by_follower else (brisques, other)), "JS", stock="10D 10S")
    if by_follower:
        table.do("7C")
    told = int(by_follower)
    table.do("quinte")
    watcher = 1 - told
    assert table.seen(watcher)["quinte"].tolist() == [0, 1]
    assert table.seen(watcher)["known"] == []
    assert not table.seen(watcher)["quinte_cards"].any()
    table.do("AC")
    if not by_follower:
        assert table.seen(1)["known"] == []
        assert not table.seen(1)["quinte_cards"].any()
        table.do("7C")
    # the winner of the trick has drawn the ten of diamonds: a brisque, and yet not shown
    assert "10D" in table.hand(told)
    assert set(table.seen(watcher)["known"]) == set(split("AH 10H 10C AD"))
    shown = table.seen(watcher)["quinte_cards"][1]
    assert shown.tolist() == [[1, 1], [0, 1], [1, 1], [0, 0]]


def test_ch_15_the_turn_up_is_known_other_draws_are_not() -> None:
    table = at_trick(11, "AH KD 9H 8C JD", "10H 9S QH 8D 7C", "KS", stock="10D").do("AH", "8D")
    assert table.seen(0)["known"] == ["KS"]
    assert table.seen(1)["known"] == []
    early = at_trick(3, "AH KD 9H 8C JD", "10H 9S QH 8D 7C", "KS").do("AH", "8D")
    assert early.seen(0)["known"] == early.seen(1)["known"] == []


def test_ch_16_one_combination_in_each_suit_and_player() -> None:
    """CH-16: after a quarteron no tierce or marriage of that suit; other suits and the other player are free."""
    table = at_trick(2, "AH KH QH JH 8C", "KD QD 7D 8D 9D", "JS", stock="7C 9C 7H 8H").do("quarteron H", "AH")
    assert "marriage D" in table.legal
    table.do("7D")
    assert set(split("KH QH JH")) <= table.hand(0)
    assert not table.legal & {"tierce H", "marriage H"}
    with pytest.raises(IllegalAction, match="tierce H"):
        table.do("tierce H")
    two = at_trick(2, "KH QH KC QC 8C", SMALL.replace("8C", "9C"), "JS").do("marriage H", "QH", "7D")
    assert "marriage C" in two.legal
    two.do("marriage C", "KC")
    assert two.s.announced_points[0] == 40


def test_ch_16_no_second_quinte() -> None:
    table = at_trick(2, "AH 10H AC 10C AD", SMALL, "JS", stock="10D 9C").do("quinte", "AC", "7C")
    assert table.hand(0) == set(split("AH 10H 10C AD 10D"))
    assert "quinte" not in table.legal
    assert table.s.announced_points[0] == 50


@pytest.mark.parametrize("trick", [12, 13, 14, 15])
def test_ch_16_announcing_in_the_last_five_tricks(trick: int) -> None:
    """CH-16, CH-17: a combination may be announced as long as a hand can hold it."""
    table = at_trick(12, "AS KS QS JS AD", "7D 8D 9S 7C 8C", "9S")
    silent = split("AD 7D AS 9S JS 7C")[: 2 * (trick - 12)]
    table.do(*silent)
    assert (table.s.trick, table.s.player) == (trick, 0)
    whole = {12: {"quarteron", "tierce", "marriage"}, 13: {"quarteron", "tierce", "marriage"}}
    kinds = whole.get(trick, {"tierce", "marriage"} if trick == 14 else {"marriage"})
    assert table.legal & WORDS == {f"{kind} S" for kind in kinds}
    table.do("marriage S")
    assert table.s.announced_points[0] == 40


def test_ch_17_last_trick_for_each_combination() -> None:
    """CH-17: quinte and chouine to trick 12, quarteron to 13, tierce to 14, marriage to 15."""
    assert "quinte" in at_trick(12, "AH 10H AC 10C AD", "7D 8D 9S 7C 8C", "9S").legal
    assert "chouine H" in at_trick(12, "AH 10H KH QH JH", "7D 8D 9S 7C 8C", "9S").legal
    s = bold_games().states
    kinds, tricks = s["announced"], s["announced_in"]
    for kind, last in ((1, 15), (2, 14), (3, 13), (4, 12)):
        assert tricks[:, :, :4][kinds[:, :, :4] == kind].max() <= last
    assert tricks[:, :, 4].max() <= 12


def test_ch_17_one_announcement_a_card_and_never_compulsory() -> None:
    table = at_trick(2, "KH QH KC QC 8C", SMALL.replace("8C", "9C"), "JS")
    assert legal_cards(table) == table.hand(0)
    table.do("marriage H")
    assert table.legal == {"KH", "QH"}
    s = bold_games().states
    for seat in range(2):
        tricks = np.sort(s["announced_in"][:, seat], axis=1)
        assert not ((tricks[:, 1:] == tricks[:, :-1]) & (tricks[:, 1:] > 0)).any()


def test_ch_17_a_smaller_combination_shows_less() -> None:
    table = at_trick(2, "AH KH QH JH 8C", SMALL.replace("8C", "9C"), "JS")
    assert table.legal & WORDS == {"quarteron H", "tierce H", "marriage H"}
    table.do("marriage H")
    assert table.legal == {"KH", "QH"}
    assert set(table.seen(1)["known"]) == {"KH", "QH"}
    assert table.s.announced_points[0] == 20


def test_ch_17_brisques_of_a_quinte_serve_again() -> None:
    """CH-17: an ace shown in a quinte serves in a quarteron, two brisques of it in a chouine."""
    table = at_trick(1, "AH 10H AC AD 10D", "7C 8C 9C 7D 8D", "JS", stock="KH 9D QH 8H JH 9H")
    table.do("quinte", "AC", "7C", "AD", "7D", "10D", "8D")
    assert table.hand(0) == set(split("AH 10H KH QH JH"))
    assert {"quarteron H", "chouine H"} <= table.legal
    table.do("chouine H", "KH", "9C")
    assert table.info == {"totals": [50 + 11 + 11 + 10 + 4, 0], "chouine": True, "winner": 0}


def test_ch_18_actions() -> None:
    """CH-18: 51 ids: 32 cards, 16 suit announcements, quinte, swap, decline."""
    names = [a.name for a in GAME.actions]
    kinds = ("marriage", "tierce", "quarteron", "chouine")
    assert names == [*PACK, *(f"{kind} {suit}" for suit in "CDHS" for kind in kinds), "quinte", "swap", "decline"]
    assert len(names) == 51


def test_ch_18_an_announcement_needs_a_card_that_may_be_played() -> None:
    """CH-18: in the last five tricks a combination of which no card is legal cannot be announced."""
    void = at_trick(12, "AH 9H 8H AD 7D", "KD QD 9S 9C 7C", "9S").do("AH")
    assert void.legal == {"9S"}
    head = at_trick(12, "10S 9H 8H AD 7D", "AS KS QS JS 7C", "JS").do("10S")
    assert head.legal == {"AS", "quarteron S"}  # neither K, Q nor J would head the trick
    head.do("quarteron S")
    assert head.legal == {"AS"}
    follow = at_trick(12, "JD 9H 8H AD 10S", "KD QD 9S 9C 7C", "9S").do("JD")
    assert follow.legal == {"KD", "QD", "marriage D"}


def test_ch_18_most_decisions() -> None:
    """CH-18: four marriages, a quinte, a question and a swap beside 32 cards make 39 decisions."""
    plays = [split("AC AD 10C 10D AH"), split("KH KD KC 9C KS")]
    received = [split("AC AD 10C 10D AH 8C 8D 9D JD"), split("KH QH KD QD 9C KC QC KS QS")]
    words = {"KH": "marriage H", "KD": "marriage D", "KC": "marriage C", "KS": "marriage S", "AC": "quinte"}
    rest = [c for c in PACK if c not in received[0] + received[1] + ["JH"]]
    decisions = []
    for seed in range(30):
        stock = np.random.default_rng(seed).permutation(rest).tolist()
        table = Table(deck_of(received, plays, "JH", 0, stock), 0)
        left = [list(cards) for cards in plays]
        while not table.batch.over[0]:
            seat = int(table.s.player)
            if left[seat]:
                card = left[seat].pop(0)
                table.do(*([words[card]] if card in words else []), card)
            elif "decline" in table.legal:
                table.do("decline")
            elif table.s.trick == 11 and "swap" in table.legal:
                table.do("swap")
            else:
                cards = legal_cards(table)
                table.do(min(cards - {"7H"} or cards))
        assert table.info["totals"] == (table.s.card_points + [50, 100]).tolist()
        decisions.append(int(table.s.log_length))
    assert max(decisions) == 39


# --- Chouine ---------------------------------------------------------------------------------


def test_ch_19_the_follower_still_plays_and_may_announce() -> None:
    table = at_trick(4, "AH 10H KH QH JH", "KD QD 7D 8D 9D", "JS").do("chouine H")
    assert not table.batch.over[0]
    assert table.legal == set(split("AH 10H KH QH JH"))
    table.do("10H")
    assert not table.batch.over[0]
    assert table.s.player == 1
    assert table.legal == {*split("KD QD 7D 8D 9D"), "marriage D"}


@pytest.mark.parametrize("chouine_leads", [True, False])
@pytest.mark.parametrize(
    ("word", "hand", "value"), [("marriage D", "KD QD 7D 8D 9D", 20), ("quinte", "AC 10C AD 10D AS", 50)]
)
def test_ch_19_other_announcements_of_the_trick_are_void(chouine_leads: bool, word: str, hand: str, value: int) -> None:
    """CH-19: an announcement in the trick of a chouine does not count, before it or after it; the deal ends there."""
    hands = ("AH 10H KH QH JH", hand) if chouine_leads else (hand, "AH 10H KH QH JH")
    table = at_trick(4, *hands, "JS")
    next_draw, card, other = int(table.s.next_draw), split(hand)[0], int(chouine_leads)
    if chouine_leads:
        table.do("chouine H", "JH")
    table.do(word)
    assert table.s.announced_points[other] == value
    table.do(card)
    if not chouine_leads:
        table.do("chouine H", "JH")
    assert table.batch.over[0]
    assert table.info["winner"] == 1 - other
    assert table.s.announced_points.tolist() == [0, 0]
    assert table.info["totals"] == table.s.card_points.tolist()
    assert table.s.next_draw == next_draw  # no draw
    assert len(table.hand(0)) == len(table.hand(1)) == HAND - 1
    assert not table.batch.mask.any()


def test_ch_19_earlier_announcements_stand() -> None:
    """CH-19: they stay in the totals, which do not decide: the poorer player wins by his chouine."""
    table = at_trick(3, "AH 10H KH QH 8H", "KS QS 7D 8D 9D", "10S", stock="7C JH").do("8H", "marriage S", "KS")
    assert table.s.leader == 1
    table.do("9D")
    assert "chouine H" in table.legal
    table.do("chouine H", "JH")
    assert table.s.announced_points.tolist() == [0, 40]
    assert table.info["winner"] == 0
    assert table.info["totals"][1] > table.info["totals"][0]
    assert table.rewards == [1.0, -1.0]


def test_ch_19_no_question_after_a_chouine_in_trick_10() -> None:
    table = at_trick(10, "AH 10H KH QH JH", SMALL, "JS", stock="7S").do("chouine H", "JH", "7D")
    assert table.batch.over[0]
    assert (table.s.trick, table.s.called) == (10, 0)


def test_ch_19_a_chouine_wins_a_deal_of_a_match() -> None:
    table = at_trick(3, "AH 10H KH QH JH", SMALL, "JS", episode="match").do("chouine H", "JH", "8D")
    assert table.info["wins"] == [1, 0]
    assert table.s.log_length == 0
    assert not table.batch.over[0]


def test_ch_20_ten_for_the_last_trick() -> None:
    """CH-20: all 16 tricks are played; the last one is worth ten more."""
    table = at_trick(12, "AS 10S KS QS AD", "7D 8D 9S 7C 8C", "9S")
    before = table.s.card_points.tolist()
    table.do("AD", "7D", "AS", "9S", "10S", "7C", "KS", "8C")
    assert table.s.card_points.tolist() == [before[0] + 11 + 11 + 10 + 4, before[1]]
    table.do("QS", "8D")
    assert table.s.card_points.tolist() == [before[0] + 36 + 3 + 10, before[1]]
    assert table.s.card_points.sum() == 130
    assert table.info["totals"] == table.s.card_points.tolist()


def test_ch_22_being_asked_tells_nothing() -> None:
    """CH-22, CH-13: be the seven in the hand or the stock, the same seat decides and the leader sees the same."""
    holder, other = (
        at_trick(11, "AH KD 9H 8C JD", f"10H {card} QH 8D 7C", "KS", stock=last, played="8S")
        for card, last in (("7S", "9S"), ("9S", "7S"))
    )
    assert ("7S" in holder.hand(1), "7S" in other.hand(1)) == (True, False)
    for action in ("", "decline", "9H"):
        if action:
            holder.do(action)
            other.do(action)
        assert holder.s.player == other.s.player
        for mine, same in zip(holder.views(0)[:3], other.views(0)[:3]):
            np.testing.assert_array_equal(mine, same)
