"""Avinas' bids, leads, tricks, knocking and stopping: rules AV-6 ... AV-16, AV-19 and their worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from avinas_positions import IDS, NAMES, Table, dealt_around, games, said, split
from avinas_referee import PACK, SIGNS, longest, marks_for, trumps
from avinas_referee import length as length_of

from cardgym.batch import playout
from cardgym.errors import IllegalAction
from cardgym.games import avinas
from cardgym.games.avinas import GAME, LOG

EXAMPLE_6 = "QC QS JD 7H AH 9H 8C KD"

# Seat 0 may bid five hearts; seat 1 has one trump, the highest, and leads to trick 2 without any.
LONE_QUEEN = {
    0: "JD AH 10H KH 9H 8C 9C 10C",
    1: "QC AS 10S KS 9S AD 10D KD",
    2: "7H QS QH 7S 8S 7D 8D 9D",
    3: "QD JC JS JH 8H 7C AC KC",
}
BIDS = ("bid 5", "pass", "pass", "pass")


def lone_queen(dealer: int = 3, **options: str) -> Table:
    """Trick 1 is played, seat 1 took it with its only trump; trumps are hearts, seat 0 declares."""
    table = Table(dealt_around(LONE_QUEEN, dealer), dealer, **options)
    first = (dealer + 1) % 4
    for k in range(4):
        table.do("bid 5" if (first + k) % 4 == 0 else "pass")
    return table.say("AH QC QH 8H")


def everyone_but(seat: int) -> list[int]:
    return [s for s in range(4) if s != seat]


# --- Bids ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suit", "count"), [("H", 6), ("C", 4), ("D", 4), ("S", 3)])
def test_av_6_example_6_length(suit: str, count: int) -> None:
    """Worked example 6, AV-6: queens, jacks and cards of the suit, each once; the queen of clubs is no fifth club."""
    assert length_of(split(EXAMPLE_6), suit) == count
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3))
    table.do("bid 1" if count < 4 else f"bid {count}", "pass", "pass", "pass", "QC")
    assert (f"trumps {suit}" in table.legal) == (count >= table.s.bid)


def test_av_6_bids_up_to_the_longest_holding() -> None:
    """AV-6: a longer length outbids; less than one has may be bid; nobody is left out, and each speaks once."""
    hands = {0: EXAMPLE_6, 1: "QH QD JC JS JH AC 10C KC"}
    table = Table(dealt_around(hands, dealer=3))
    assert table.legal == {"pass", *(f"bid {n}" for n in range(1, 7))}
    table.do("bid 3")
    assert table.player == 1
    assert table.legal == {"pass", *(f"bid {n}" for n in range(4, 9))}
    table.do("bid 8")
    for seat in (2, 3):  # asked although no bid is left
        assert table.player == seat
        assert table.legal == {"pass"}
        table.do("pass")
    assert (table.s.declarer, table.player, table.s.phase) == (1, 1, avinas.PLAY)
    assert table.seen(0)["bids"] == [4, 9, 1, 1]


def test_av_6_masks_follow_the_longest_holding() -> None:
    batch = games(400, 60)
    s = batch.states
    for row in np.flatnonzero(s["sevens"] == 0):
        hand = [PACK[c] for c in np.flatnonzero(s["owner"][row] == s["player"][row])]
        assert batch.mask[row, IDS["bid 1"] : IDS["bid 8"] + 1].sum() == longest(hand)


def test_av_6_all_pass() -> None:
    """AV-6: nothing is written; a deal episode ends with 0, a match goes on with the next dealer."""
    single = Table(dealt_around({}, dealer=3)).do(*["pass"] * 4)
    assert single.over
    assert single.rewards == [0, 0, 0, 0]
    assert single.info["ending"] == "passed out"
    match = Table(dealt_around({}, dealer=3), episode="match").do(*["pass"] * 4)
    assert not match.over
    assert (match.s.deals, match.s.dealer, match.s.rams.sum(), match.s.marks.sum()) == (1, 0, 0, 0)


def test_av_6_any_length_with_loses_match() -> None:
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3), overbid="loses_match")
    assert table.legal == {"pass", *(f"bid {n}" for n in range(1, 9))}
    table.do("bid 6")
    assert table.legal == {"pass", "bid 7", "bid 8"}


# --- The first lead --------------------------------------------------------------------------


def test_av_7_a_plain_card_names_its_suit() -> None:
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3)).do("bid 4", "pass", "pass", "pass")
    assert table.s.trump == -1
    for seat in range(4):
        assert table.seen(seat)["trump"] == [0, 0, 0, 0]
    table.do("KD")
    assert table.player == 1
    assert table.seen(2)["trump"] == [0, 1, 0, 0]


def test_av_7a_after_a_queen_or_jack_the_suit_is_named_before_any_answer() -> None:
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3)).do("bid 4", "pass", "pass", "pass")
    assert table.legal == set(split(EXAMPLE_6))
    table.do("QC")
    assert (table.player, table.s.phase, table.s.trump) == (0, avinas.NAMING, -1)
    assert table.seen(1)["phase"] == [0, 0, 0, 0, 1, 0, 0]
    assert table.legal == {"trumps H", "trumps C", "trumps D"}
    table.do("trumps H")
    assert table.player == 1
    assert table.seen(1)["trump"] == [0, 0, 1, 0]


def test_av_7a_masked_leads_reach_the_bid() -> None:
    """AV-7a: a plain card only of a suit that reaches the bid; queens and jacks always."""
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3)).do("bid 6", "pass", "pass", "pass")
    assert table.legal == set(split("QC QS JD 7H AH 9H"))
    table.do("JD")
    assert table.legal == {"trumps H"}


def test_av_7a_a_suit_without_plain_cards_may_be_named_if_the_court_cards_reach_the_bid() -> None:
    table = Table(dealt_around({0: "QC QS QH QD AH 10H KH 9D"}, dealer=3)).do("bid 4", "pass", "pass", "pass", "QC")
    assert table.legal == {"trumps C", "trumps D", "trumps H", "trumps S"}
    higher = Table(dealt_around({0: "QC QS QH QD AH 10H KH 9D"}, dealer=3)).do("bid 5", "pass", "pass", "pass", "QC")
    assert higher.legal == {"trumps D", "trumps H"}


@pytest.mark.parametrize(("lead", "short"), [(["AH"], False), (["KD"], True), (["QC", "trumps S"], True)])
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_av_7b_a_bid_above_the_holding(lead: list[str], short: bool, episode: str) -> None:
    """AV-7b: tested once, when the suit becomes public; then the deal ends and the pair loses the match."""
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3), overbid="loses_match", episode=episode)
    table.do("bid 6", "pass", "pass", "pass")
    assert table.legal == set(split(EXAMPLE_6))
    table.do(*lead)
    assert table.over == short
    if short:
        x = 6 if episode == "deal" else 1
        assert table.rewards == [-x, x, -x, x]
        assert (table.info["ending"], table.info["loser"], table.info["penalty"]) == ("overbid", 0, 6)
        assert (table.info["rams"], table.info["marks"], table.info["points"]) == ([0, 0], [0, 0], [0, 0])
        assert table.seen(1)["table"] == [set(), set(), set(), {lead[0]}]
    else:
        assert table.player == 1


def test_av_7b_losing_bids_are_not_tested() -> None:
    table = Table(dealt_around({0: EXAMPLE_6, 1: "QH QD JC JS JH AC 10C KC"}, dealer=3), overbid="loses_match")
    table.do("bid 7", "bid 8", "pass", "pass", "AC")
    assert not table.over
    assert table.player == 2


# --- The first two tricks --------------------------------------------------------------------


def test_av_8_the_declarer_leads_a_trump() -> None:
    """AV-8: with sevens turned up the suit is known and he leads one of his trumps."""
    table = Table(dealt_around({0: EXAMPLE_6}, dealer=3, turned="7H")).do("pass", "pass")
    assert table.player == 0
    assert table.legal == set(split("QC QS JD 7H AH 9H"))


def test_av_8_a_leader_with_a_trump_must_lead_one() -> None:
    table = Table(dealt_around(LONE_QUEEN, 3)).do(*BIDS).say("AH QC QH 8H")
    assert table.player == 1
    other = Table(dealt_around({**LONE_QUEEN, 1: "QC JS 10S KS 9S AD 10D KD", 3: "QD JC AS JH 8H 7C AC KC"}, 3))
    other.do(*BIDS).say("AH QC QH 8H")
    assert other.player == 1
    assert other.legal == {"JS"}


def test_av_8_the_choice_of_a_face_is_secret_until_made() -> None:
    """AV-8: nobody else sees that the leader is asked; from the choice on all know that he has no trump."""
    asked = lone_queen()
    assert asked.legal == {"face up", "face down"}
    forced = Table(dealt_around({**LONE_QUEEN, 1: "QC JS 10S KS 9S AD 10D KD", 3: "QD JC AS JH 8H 7C AC KC"}, 3))
    forced.do(*BIDS).say("AH QC QH 8H")
    for seat in (0, 2):  # seats 1 and 3 hold other cards in the two deals
        assert asked.seen(seat) == forced.seen(seat)
        assert not asked.views(seat).mask.any()
    assert asked.seen(0)["void_of_trumps"] == [0, 0, 0, 0]
    for word in ("face up", "face down"):
        table = lone_queen().do(word)
        for seat in range(4):
            assert table.seen(seat)["void_of_trumps"][(1 - seat) % 4] == 1
            assert table.seen(seat)["face"] == [word == "face up", word == "face down"]
        assert table.player == 1
        assert table.legal == set(split(LONE_QUEEN[1])) - {"QC"}


def test_av_8_face_up() -> None:
    table = lone_queen().do("face up", "AD")
    assert table.player == 2
    assert table.s.signed == 0
    assert table.seen(0)["table"] == [set(), {"AD"}, set(), set()]
    assert table.legal == {"7H", "QS"}


@pytest.mark.parametrize("sign", SIGNS)
def test_av_8_face_down_and_sign(sign: str) -> None:
    """AV-8: the card is seen by its leader only until the trick is gathered; the sign by his partner too, and no
    longer then by the opponents."""
    table = lone_queen().do("face down", "AS")
    assert table.player == 1
    assert table.legal == set(SIGNS)
    assert [table.seen(seat)["phase"].index(1) for seat in range(4)] == [avinas.SIGNING] * 4
    table.do(sign)
    assert table.player == 2
    assert table.s.points.tolist() == [0, 14 + 3]  # the first trick's: AH, QC, QH
    for seat in range(4):
        seen = table.seen(seat)
        mine = seat == 1
        assert seen["table"] == [set(), set(), set(), set()]
        assert seen["down"] == ({"AS"} if mine else set())
        assert ("AS" in seen["unseen"]) == (not mine)
        assert "AS" not in seen["played_in"]
        assert "AS" not in seen["hand"]
        assert seen["sign"] == [int(seat in (1, 3) and s == sign) for s in SIGNS]
        assert (table.text(seat).count("A♠"), table.text(seat).count("▒▒ face down")) == ((1, 0) if mine else (0, 1))
        assert (sign in table.text(seat)) == (seat in (1, 3))
        history = table.views(seat).history[0]
        actions = history[table.batch.layouts["history"].slices["action"]]
        at = int(table.s.down_at)
        assert actions[at] == (IDS["AS"] + 1 if mine else 0)
        assert actions[at + 1] == (IDS[sign] + 1 if seat in (1, 3) else 0)
    table.say("7H JC 9H")
    for seat in range(4):
        seen = table.seen(seat)
        assert seen["played_in"]["AS"] == 2
        assert "AS" in seen["played_by"][(1 - seat) % 4]
        assert seen["sign"] == [int(seat in (1, 3) and s == sign) for s in SIGNS]
        assert (sign in table.text(seat)) == (seat in (1, 3))


def test_av_8_the_whole_state_shows_the_card_that_lies_face_down() -> None:
    """AV-8: whoever is to act, and what was signed; before and after there is none."""
    table = lone_queen().do("face down")
    layout = table.batch.layouts["state"]
    for word, face_down, signed in (("AS", {"AS"}, 0), ("sign none", {"AS"}, 1), ("7H", {"AS"}, 1)):
        table.do(word)
        seen = said(layout, table.views(table.player).state[0])
        assert seen["face_down"] == face_down
        assert sum(seen["sign_given"]) == signed
    assert said(layout, lone_queen().views(1).state[0])["face_down"] == set()


def test_av_8_the_sign_may_be_public() -> None:
    table = lone_queen(sign="public").do("face down", "AS", "sign worthless")  # and may be a lie
    for seat in range(4):
        assert table.seen(seat)["sign"] == [0, 0, 1]
        assert "sign worthless" in table.text(seat)


def test_av_8_signs_and_covered_cards_change_nothing_for_those_who_may_not_see_them() -> None:
    tables = [lone_queen().do("face down", card, sign) for card, sign in (("AS", "sign none"), ("9S", "sign valuable"))]
    for seat in everyone_but(1):
        views = [t.views(seat) for t in tables]
        same = [(x == y).all() for x, y in zip(views[0][:3], views[1][:3], strict=True)]
        assert same == ([True, True, True] if seat != 3 else [False, True, False])  # the partner saw the sign
        assert (tables[0].text(seat) == tables[1].text(seat)) == (seat != 3)


def test_av_8_a_turned_up_card_led_face_down_counts_as_in_hand() -> None:
    """AV-8: the others know a turned-up or looked-at card as "in hand or face down"."""
    for seed in range(100):
        dealt = dealt_around(LONE_QUEEN, 2, seed=seed)  # seat 1 is an opponent of the dealer
        if dealt[1][3] == "AS":
            break
    table = Table(dealt, 2).do("pass", "bid 5", "pass", "pass").say("AH QC QH 8H").do("face down")
    other = Table(dealt, 2).do("pass", "bid 5", "pass", "pass").say("AH QC QH 8H").do("face down")
    table.do("AS", "sign none")
    other.do("9S" if dealt[1][7] != "9S" else "KS", "sign none")
    for seat in everyone_but(1):
        assert "AS" in table.seen(seat)["known"][(0 - seat) % 4]
        assert "A♠" in table.text(seat)
        assert table.text(seat) == other.text(seat)
        assert table.seen(seat) == other.seen(seat)


def test_av_8_example_8_the_hidden_ace_goes_to_the_highest_trump() -> None:
    """Worked example 8, AV-8, AV-9: others must answer with trumps if they have any."""
    table = lone_queen().do("face down", "AS", "sign none")
    assert table.legal == {"7H", "QS"}  # seat 2 has spades too
    table.do("QS")
    assert table.legal == {"QD", "JC", "JS", "JH"}
    table.do("JC")
    assert table.legal == {"JD", "10H", "KH", "9H"}
    before = table.s.points.tolist()
    table.do("9H")
    assert table.s.points.tolist() == [before[0] + 11 + 3 + 2, before[1]]  # QS took AS, JC, 9H
    assert (table.s.leader, table.s.trick) == (2, 3)
    assert "AS" in table.seen(3)["taken"][1]


def test_av_8_the_lead_never_wins() -> None:
    """AV-8: 14 trumps, at most four gone: somebody answers with a trump."""
    batch = games(2000, 80, lone_queens=True)
    faces = 0
    generator = np.random.default_rng(3)
    while not batch.over.all():
        rows = np.flatnonzero(~batch.over)
        s = batch.states[rows]
        ahead = (s["trick"] == 2) & (s["on_table"] == 3) & (s["face"] > 0)
        leaders = s["leader"].copy()
        words = generator.integers(1 << 32, size=len(rows), dtype=np.int64)
        legal = batch.mask[rows] != 0
        actions = (legal.cumsum(axis=1) > (words * legal.sum(axis=1) >> 32)[:, None]).argmax(axis=1)
        batch.step(actions, rows)
        after = batch.states[rows]
        done = ahead & (after["trick"] == 3)
        faces += done.sum()
        assert (after["leader"][done] != leaders[done]).all()
    assert faces > 100


# --- Tricks ----------------------------------------------------------------------------------


def test_av_9_follow_suit_queens_and_jacks_are_trumps() -> None:
    """AV-9: trumps follow trumps; who is void may trump or discard; no duty to beat."""
    table = lone_queen().do("face up", "AD").say("QS JC 9H")
    assert table.player == 2
    table.do("7D")  # from trick 3 on any card; diamonds are led
    assert table.legal == set(split("7C AC KC QD JS JH"))  # void of diamonds: QD is none
    table.do("AC")
    assert table.legal == set(split("JD 10H KH 8C 9C 10C"))  # JD is no diamond either
    table.do("8C")
    assert table.legal == {"10D", "KD"}
    table.do("KD")
    assert table.s.leader == 1  # the highest diamond, over discards
    assert table.seen(0)["void"] == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_av_9_a_trump_takes_a_plain_trick() -> None:
    table = lone_queen().do("face up", "AD").say("QS JC 9H 7D JH 8C 10D")
    assert table.s.leader == 3


def test_av_9_trumps_are_answered_with_trumps() -> None:
    table = lone_queen().do("face up", "AD").say("QS JC 9H 7H")
    assert table.legal == {"QD", "JS", "JH"}
    table.do("JS")
    assert table.legal == {"JD", "10H", "KH"}
    table.do("KH")
    assert table.legal == set(split("AS 10S KS 9S 10D KD"))
    assert table.seen(0)["void_of_trumps"] == [0, 1, 0, 0]  # since the choice of a face


def test_av_9_no_duty_to_beat() -> None:
    table = Table(dealt_around(LONE_QUEEN, 3)).do(*BIDS).do("JD", "trumps H", "QC")
    assert table.legal == {"7H", "QS", "QH"}
    table.do("QH")
    assert table.legal == {"QD", "JC", "JS", "JH", "8H"}


def test_av_9_every_trick_goes_to_the_best_card() -> None:
    """AV-9: along random deals, by the order of AV-2."""
    batch = games(300, 90)
    playout(GAME, batch.states, 1)
    tricks = 0
    for s in batch.states:
        for trick in range(1, 9):
            played = np.flatnonzero((s["trick_of"] == trick) & (s["taken_by"] != 0))
            cards = [PACK[c] for c in played]
            best = next((c for c in trumps("CDHS"[s["trump"]]) if c in cards), None)
            if best:
                pair = s["owner"][PACK.index(best)] % 2
                assert s["taken_by"][played].tolist() == [pair + 1] * 4
                tricks += 1
    assert tricks > 900


# --- Sevens turned up ------------------------------------------------------------------------


TOP_EIGHT = "QC 7H QS QH QD JC JS JH"  # with hearts trumps these take all tricks


@pytest.mark.parametrize(("points", "loser"), [(61, 1), (60, 0), (120, 1), (0, 0)])
def test_av_10_the_declarers_need_61(points: int, loser: int) -> None:
    """AV-10: all eight tricks are played, however many points somebody has."""
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H")).do("pass", "pass").play_any(until=8)
    assert not table.over
    for _ in range(3):
        table.batch.step(table.batch.mask.argmax(axis=1))
    table.batch.states["points"] = [0, 0]
    last = table.batch.states.copy()
    table.batch.step(table.batch.mask.argmax(axis=1))
    gained = int(table.s.points[0])  # by the last trick, which seat 0 takes
    table.batch.states[:] = last
    table.batch.states["points"] = [points - gained, 120 - points]
    table.batch.refresh(0)
    table.batch.step(table.batch.mask.argmax(axis=1))
    assert table.over
    assert table.info["points"] == [points, 120 - points]
    assert (table.info["loser"], table.info["penalty"], table.info["ending"]) == (loser, 1, "rams")


def test_av_11_who_is_asked() -> None:
    """AV-11: declarer, partner; after a knock the defender to the left, the other; every answer is public."""
    dealt = dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H")
    table = Table(dealt)
    for seat in (0, 2):
        assert table.player == seat
        assert table.legal == {"pass", "knock"}
        table.do("pass")
    assert (table.player, table.s.phase) == (0, avinas.PLAY)  # no knock, no question to the defenders
    assert table.seen(1)["knocks"] == [0, 1, 0, 1]
    partner = Table(dealt).do("pass", "knock")
    for seat in (1, 3):
        assert (partner.player, partner.s.phase) == (seat, avinas.KNOCK_BACK)
        partner.do("pass")
    assert partner.seen(0)["knocks"] == [1, 1, 2, 1]
    assert partner.player == 0
    first = Table(dealt).do("knock")
    assert first.player == 1
    first.do("knock")
    assert (first.player, first.s.phase) == (0, avinas.PLAY)  # neither partner nor the other defender
    assert first.seen(0)["knocks"] == [2, 2, 0, 0]
    second = Table(dealt).do("knock", "pass", "knock")
    assert second.seen(0)["knocks"] == [2, 1, 0, 2]


@pytest.mark.parametrize("words", [("knock", "pass", "pass"), ("knock", "knock"), ("pass", "knock", "pass", "knock")])
def test_av_11_example_5_the_first_trick_lost_ends_the_deal(words: tuple[str, ...]) -> None:
    """Worked example 5, AV-11, AV-12: 2n rams to the knocking side, 4n after a knock back."""
    dealt = dealt_around({0: "7H QS QH QD JC JS JH 9H", 1: "QC AS 10S KS 9S AD 10D KD"}, dealer=3, turned="7H")
    table = Table(dealt).do(*words, "9H", "QC")
    table.batch.step(table.batch.mask.argmax(axis=1))
    assert not table.over
    table.batch.step(table.batch.mask.argmax(axis=1))
    assert table.over
    x = 4 if words.count("knock") == 2 else 2
    assert (table.info["loser"], table.info["penalty"], table.info["rams"]) == (0, x, [x, 0])
    assert table.rewards == [-x, x, -x, x]


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("turned", ["7H", "7D 7H", "7D 7C 7H", "7D 7C 7S 7H"])
@pytest.mark.parametrize(
    ("words", "factor"),
    [(("pass", "pass"), 1), (("pass", "knock", "pass", "pass"), 2), (("knock", "pass", "knock"), 4)],
)
def test_av_12_rams(words: tuple[str, ...], factor: int, turned: str, made: bool) -> None:
    """AV-12: n, 2n, 4n rams to the losing pair, whether made or failed."""
    n = len(turned.split())
    if made:
        hands = {0: TOP_EIGHT, 1: "7D", 2: "7S", 3: "7C"}
    else:  # seat 1 takes seven tricks
        hands = {0: "7H 8H 9H 9D 9C 8D 8C 9S", 1: "QC QS QH QD JC JS JH 7S", 2: "7D", 3: "7C"}
    table = Table(dealt_around(hands, dealer=3, turned=turned)).do(*words).play_any()
    assert table.over
    assert table.s.sevens == n
    assert (table.info["loser"], table.info["penalty"]) == (int(made), n * factor)
    assert table.info["rams"] == ([0, n * factor] if made else [n * factor, 0])
    assert (table.s.tricks.tolist() == [8, 0]) == made


@pytest.mark.parametrize(
    ("before", "loser", "x", "after"),
    [
        ([0, 0], 0, 3, [3, 0]),
        ([2, 0], 0, 2, [4, 0]),
        ([4, 0], 1, 3, [1, 0]),
        ([3, 0], 1, 3, [0, 0]),
        ([1, 0], 1, 16, [0, 15]),
        ([0, 5], 0, 2, [0, 3]),
        ([0, 5], 1, 2, [0, 7]),
    ],
)
def test_av_13_rams_strike_out_rams(before: list[int], loser: int, x: int, after: list[int]) -> None:
    """AV-13: of the other pair first; so only one pair ever has any; rams never end a match."""
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3, turned="7H"), episode="match").do("pass", "pass").play_any(8)
    for _ in range(3):
        table.batch.step(table.batch.mask.argmax(axis=1))
    table.batch.states["rams"] = before
    table.batch.states["sevens"] = x
    table.batch.states["points"] = [110, 0] if loser else [0, 110]
    table.batch.step(table.batch.mask.argmax(axis=1))
    assert table.s.penalty == x
    assert table.s.rams.tolist() == after
    assert not table.over


def test_av_13_examples_1_and_2() -> None:
    """Worked examples 1 and 2: rams add up, then others strike them out."""
    table = Table(dealt_around({1: "QC 7H QS QH QD JC JS JH", 0: "7D"}, dealer=0, turned="7D 7H"), 0, episode="match")
    table.batch.states["rams"] = [2, 0]
    table.do("pass", "pass").play_any()
    assert table.s.rams.tolist() == [4, 0]
    hands = {0: TOP_EIGHT, 1: "7D", 2: "7C"}
    table.stack(dealt_around(hands, dealer=1, turned="7D 7C 7H")).do("pass", "pass").play_any()
    assert table.s.rams.tolist() == [1, 0]
    assert table.s.marks.tolist() == [0, 0]


# --- No seven turned up ----------------------------------------------------------------------


def test_av_14_claim_asks_from_61_points_on() -> None:
    """AV-14: declarer, then partner, after each trick, once they have 61 points."""
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3)).do("bid 8", "pass", "pass", "pass")
    table.do("QC", "trumps H")
    asked = []
    while not table.over:
        if table.s.phase == avinas.STOPPING:
            asked.append((int(table.s.trick) - 1, table.player))
            assert table.s.points[0] >= 61
            assert table.legal == {"pass", "stop"}
            table.do("pass")
        else:
            assert table.s.phase == avinas.PLAY
            table.batch.step(table.batch.mask.argmax(axis=1))
    first = asked[0][0]
    assert asked == [(trick, seat) for trick in range(first, 8) for seat in (0, 2)]
    assert table.info["points"] == [120, 0]
    assert (table.info["loser"], table.info["penalty"]) == (1, 3)


def test_av_14_any_asks_after_each_trick_but_not_before_the_first() -> None:
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3), stop="any").do("bid 8", "pass", "pass", "pass")
    assert table.s.phase == avinas.PLAY
    table.do("QC", "trumps H")
    asked = []
    while not table.over:
        if table.s.phase == avinas.STOPPING:
            asked.append((int(table.s.trick) - 1, table.player))
            assert not table.seen(1)["table"][0]  # between tricks only
            table.do("pass")
        else:
            table.batch.step(table.batch.mask.argmax(axis=1))
    assert asked == [(trick, seat) for trick in range(1, 8) for seat in (0, 2)]


def test_av_14_either_may_stop_and_only_cards_taken_count() -> None:
    for words, who in ((["stop"], 0), (["pass", "stop"], 2)):
        table = Table(dealt_around({0: TOP_EIGHT}, dealer=3), stop="any").do("bid 8", "pass", "pass", "pass")
        table.do("QC", "trumps H").play_any(until=2)
        while table.s.phase != avinas.STOPPING:
            table.batch.step(table.batch.mask.argmax(axis=1))
        taken = table.s.points.tolist()
        table.do(*words)
        assert table.over
        assert table.seen(0)["stopped"] == [int(k == who) for k in range(4)]
        assert table.info["points"] == taken
        assert taken[0] < 61
        assert (table.info["loser"], table.info["penalty"]) == (0, 2 * (1 if taken[0] >= 31 else 2))


def stopped_at(points: tuple[int, int], **options: object) -> Table:
    """Seats 0 and 2 declare and stop after the first trick with the given points."""
    table = Table(dealt_around({0: TOP_EIGHT}, dealer=3), stop="any", **options).do("bid 8", "pass", "pass", "pass")
    table.do("QC", "trumps H")
    while table.s.phase != avinas.STOPPING:
        table.batch.step(table.batch.mask.argmax(axis=1))
    table.batch.states["points"] = points
    return table


@pytest.mark.parametrize(
    ("points", "loser", "marks"),
    [
        ((61, 59), 1, 1),
        ((61, 31), 1, 1),
        ((90, 30), 1, 2),
        ((61, 2), 1, 2),
        ((61, 0), 1, 3),
        ((120, 0), 1, 3),
        ((60, 60), 0, 2),
        ((40, 10), 0, 2),
        ((31, 0), 0, 2),
        ((30, 0), 0, 4),
        ((2, 118), 0, 4),
        ((0, 50), 0, 6),
    ],
)
def test_av_15_marks(points: tuple[int, int], loser: int, marks: int) -> None:
    """AV-15: by the losing pair's own card points at the stop."""
    table = stopped_at(points).do("stop")
    assert (table.info["ending"], table.info["loser"], table.info["penalty"]) == ("marks", loser, marks)
    assert table.info["marks"] == [marks if pair == loser else 0 for pair in range(2)]
    assert marks == marks_for(points[loser], loser == 0)
    assert table.rewards == [-marks if seat % 2 == loser else marks for seat in range(4)]


def test_av_16_marks_add_up_and_leave_rams_alone() -> None:
    table = stopped_at((40, 20), episode="match")
    table.batch.states["rams"], table.batch.states["marks"] = [0, 7], [3, 5]
    table.do("stop")
    assert table.s.marks.tolist() == [5, 5]
    assert table.s.rams.tolist() == [0, 7]


# --- Actions ---------------------------------------------------------------------------------


def test_av_19_action_ids() -> None:
    words = ["pass", *(f"bid {n}" for n in range(1, 9)), *(f"trumps {s}" for s in "CDHS"), "knock", "stop"]
    assert [*PACK, *words, "face up", "face down", *SIGNS] == NAMES
    assert len(NAMES) == 52


def test_av_19_at_most_53_decisions() -> None:
    """AV-19: four bids, 32 cards, the suit, the face, the sign, 14 answers about stopping."""
    table = Table(dealt_around(LONE_QUEEN, 3), stop="any").do(*BIDS, "JD", "trumps H", "QC", "QH", "8H", "pass", "pass")
    table.do("face down", "AS", "sign none")
    table.play_any()
    assert table.over
    assert table.s.moves == table.s.log_length == LOG == 53


def test_av_19_decisions_with_sevens() -> None:
    """AV-19: 34 to 38 when all eight tricks are played."""
    batch = games(3000, 20, lone_queens=True)
    playout(GAME, batch.states, 5)
    s = batch.states
    whole = (s["sevens"] > 0) & (s["tricks"].sum(axis=1) == 8)
    assert (s["moves"].max() <= 53) & (s["moves"][whole].min() == 34) & (s["moves"][whole].max() <= 38)
    failed = (s["sevens"] > 0) & ~whole
    assert failed.any()
    assert s["moves"][failed].min() < 34


def test_av_9_illegal_cards_are_refused() -> None:
    table = lone_queen().do("face up", "AD")
    with pytest.raises(IllegalAction, match="7D"):
        table.do("7D")
