"""Tarot's announcements and play: rules TA-9 ... TA-18, TA-23, TA-25, TA-27, TA-31 on chosen cards."""

from __future__ import annotations

import numpy as np
import pytest
from tarot_positions import Table
from tarot_referee import PACK, TRUMPS, value

from cardgym.games.tarot import GAME

EXCUSE = PACK.index("Excuse")
BOTH = pytest.mark.parametrize("rules", ["seed", "fft"])
PASSES_TO_SEAT_3 = ("pass", "pass", "pass", "garde contre", "no slam")


def cards(table: Table) -> set[str]:
    """Legal cards, words aside."""
    return table.legal & set(PACK)


# --- Announcements ---------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "leader"), [("seed", 0), ("fft", 2)])
def test_ta_9_who_leads_after_a_declared_slam(rules: str, leader: int) -> None:
    """TA-9: in `fft` the declarer leads the first trick, in `seed` the first leader does not change."""
    table = Table(["", "", "", ""], rules=rules).do("pass", "pass", "garde", "pass")
    while table.s.phase == 1:
        table.do(min(table.legal))
    assert table.legal == {"slam", "no slam"}
    assert table.s.player == 2
    table.do("slam")
    assert (table.s.player, table.s.leader) == (leader, leader)
    for seat in range(4):
        assert table.seen(seat)["slam"].tolist() == [1, 0]


@BOTH
def test_ta_9_without_a_declaration_the_first_leader_stays(rules: str) -> None:
    table = Table(["", "", "", ""], rules=rules).do("pass", "garde contre", "no slam")
    assert table.s.player == 0


def test_ta_10_the_chance_is_lost_after_the_first_trick() -> None:
    """TA-10, TA-27: a poignee is among the legal actions of the first turn of trick 1, and never again."""
    trumps = " ".join(TRUMPS[:11])
    table = Table([f"{trumps} 1H 2H 3H 4H 5H 6H 7H", "8H", "9H", "10H"], rules="fft").do(*PASSES_TO_SEAT_3)
    assert "simple poignee" in table.legal
    table.do("1H")
    while table.s.trick == 1:
        table.do(min(cards(table)))
    while table.s.player != 0:
        table.do(min(cards(table)))
    assert not {w for w in table.legal if "poignee" in w}


def test_ta_10_one_poignee_a_player_and_nothing_is_asked_of_others() -> None:
    """TA-10, TA-27: fifteen trumps allow all three kinds, one of them; nine without the Excuse allow none."""
    trumps = " ".join(TRUMPS[:15])
    table = Table([f"{trumps} 1H 2H 3H", "", "", ""]).do(*PASSES_TO_SEAT_3)
    assert {w for w in table.legal if "poignee" in w} == {"simple poignee", "double poignee", "triple poignee"}
    table.do("simple poignee")
    while table.s.phase == 4:
        table.do(max(table.legal, key=PACK.index))
    assert not {w for w in table.legal if "poignee" in w}
    nine = Table([" ".join(TRUMPS[:9]) + " 1H 2H 3H 4H 5H 6H 7H 8H 9H", "", "", ""]).do(*PASSES_TO_SEAT_3)
    assert not {w for w in nine.legal if "poignee" in w}


def test_ta_10_ta_25_a_trump_laid_away_counts_for_the_triple() -> None:
    """TA-10, TA-25: fourteen trumps in hand and one laid away make fifteen, all shown; a double shows none of it."""
    trumps = " ".join(TRUMPS[6:21])  # T7 ... T21
    hands = [f"{trumps} KC KD KH", "", "", ""]
    table = Table(hands, "KS 2C 3C 4C 5C 6C", contract="garde").do("2C", "3C", "T8", "4C", "5C", "6C", "no slam")
    assert {"double poignee", "triple poignee"} <= table.legal
    double = Table(hands, "KS 2C 3C 4C 5C 6C", contract="garde").do("2C", "3C", "T8", "4C", "5C", "6C", "no slam")
    double.do("double poignee")
    while double.s.phase == 4:
        assert "T8" not in double.legal
        double.do(max(double.legal, key=PACK.index))
    table.do("triple poignee")
    for rank in range(21, 6, -1):
        assert table.legal == {f"T{rank}"}
        table.do(f"T{rank}")
    assert len(table.seen(3)["shown"]) == 15


@pytest.mark.parametrize(("players", "sizes"), [(3, (13, 15, 18)), (4, (10, 13, 15)), (5, (8, 10, 13))])
def test_ta_10_ta_30_ta_31_sizes(players: int, sizes: tuple[int, int, int]) -> None:
    """TA-10, TA-30, TA-31: how many trumps each kind takes."""
    kinds = ("simple poignee", "double poignee", "triple poignee")
    for held in range(7, 19):
        if held > {3: 24, 4: 18, 5: 15}[players] - 2:
            continue
        fill = " ".join(PACK[: {3: 24, 4: 18, 5: 15}[players] - held])
        table = Table([" ".join(TRUMPS[1 : held + 1]) + " " + fill, *[""] * (players - 1)], seed=held)
        table.do(*["pass"] * (players - 1), "garde contre", *(["KS"] if players == 5 else []), "no slam")
        assert {k for k in kinds if k in table.legal} == {k for k, size in zip(kinds, sizes) if held >= size}


# --- Leads and answers -----------------------------------------------------------------------


def test_ta_12_fft_any_card_may_be_led() -> None:
    """TA-12, rules="fft": trumps too, from the first trick on."""
    table = Table(["T5 T6 KH 1C", "", "", ""], rules="fft").do(*PASSES_TO_SEAT_3)
    assert cards(table) == table.hand(0)
    seed = Table(["T5 T6 KH 1C", "", "", ""], rules="seed").do(*PASSES_TO_SEAT_3)
    assert cards(seed) == {c for c in table.hand(0) if c not in TRUMPS}


@BOTH
def test_ta_13_who_takes_the_trick(rules: str) -> None:
    """TA-13: the highest trump, else the highest card of the suit led; discards and the Excuse never."""
    table = Table(["1C 2C T1", "KC T9", "5C", "9C"], rules=rules)
    table.do(*PASSES_TO_SEAT_3, "1C", "KC", "5C", "9C")
    assert table.s.winner_of[1] == 1
    hands = ["KC 2C", "T3 " + " ".join(PACK[14:31]), "T8 T10 T12 T14 " + " ".join(PACK[42:56]), "3C 4C"]
    table = Table(hands, rules=rules).do(*PASSES_TO_SEAT_3, "KC", "T3", "T8", "3C")
    assert table.s.winner_of[1] == 2
    discarding = ["2C 3C", " ".join(PACK[14:32]), "4C 5C", "6C 7C"]
    table = Table(discarding, rules=rules).do(*PASSES_TO_SEAT_3, "2C", "KD", "4C", "6C")
    assert table.s.winner_of[1] == 3


@BOTH
def test_ta_13a_follow_then_trump_then_anything(rules: str) -> None:
    """TA-13a: no duty to beat in a plain suit; void: trump, above the best one if possible; no trump: any card."""
    void_with_trumps = "T5 T9 T15 " + " ".join(PACK[14:29])
    void_with_low_trumps = "T2 T3 " + " ".join(PACK[29:45])
    nothing = " ".join(PACK[45:56]) + " " + "6C 7C 8C 9C 10C JC QC"
    table = Table(["KC 1C 2C 3C 4C 5C", void_with_trumps, void_with_low_trumps, nothing], rules=rules)
    table.do(*PASSES_TO_SEAT_3, "2C")
    assert cards(table) == {"T5", "T9", "T15"}
    table.do("T9")
    assert cards(table) == {"T2", "T3"}, "none is higher: any trump"
    table.do("T3")
    assert cards(table) == {"6C", "7C", "8C", "9C", "10C", "JC", "QC"}
    table.do("QC")
    assert table.s.winner_of[1] == 1
    table.do("T5")
    assert cards(table) == {"T2"}
    table.do("T2")
    assert cards(table) == table.hand(3), "neither the suit nor trumps"


@BOTH
def test_ta_13a_a_trump_lead_must_be_beaten(rules: str) -> None:
    """TA-13a: any trump, led or not, must beat the highest one in the trick if it can."""
    # The leader holds nothing but trumps, so that both presets let him lead one.
    leader = " ".join([*TRUMPS[:3], *TRUMPS[4:9], *TRUMPS[12:21], "Excuse"])
    table = Table([leader, "T4 T11 T12", "T10", ""], rules=rules).do(*PASSES_TO_SEAT_3, "T9")
    assert cards(table) == {"T11", "T12"}
    table.do("T11")
    assert cards(table) == {"T10"}, "none is higher: any trump"
    table.do("T10")
    assert cards(table) == table.hand(3), "no trump at all: any card"


# --- The Excuse ------------------------------------------------------------------------------


@BOTH
def test_ta_14_the_excuse_may_be_played_at_any_time(rules: str) -> None:
    """TA-14: also by a player who could follow, and it never takes the trick."""
    table = Table(["KC", "Excuse 2C 3C", "4C", "5C"], rules=rules).do(*PASSES_TO_SEAT_3, "KC")
    assert "Excuse" in table.legal
    table.do("Excuse", "4C", "5C")
    assert table.s.winner_of[1] == 0


SEVENTEEN = "T8 T9 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T1 KH KD"
LOW_ANSWERS = ["2H 2D", "3H 3D", "4H 4D"]
IN_ORDER = ["KH", "KD", *TRUMPS[20:6:-1], "T1", "Excuse"]


def run_down(table: Table, seat: int, leads: list[str]) -> None:
    """``seat`` leads these cards, one trick each; the others play the lowest card that they may."""
    while not table.batch.over[0]:
        mine = table.s.player == seat and table.s.on_table == 0
        table.do(leads[table.s.trick - 1] if mine else min(cards(table), key=PACK.index))


@BOTH
def test_ta_14_the_excuse_wins_the_last_trick_of_a_slam(rules: str) -> None:
    """TA-14, TA-17: led by a side that has won every trick; the Petit in the trick before is then au bout."""
    table = Table([f"{SEVENTEEN} Excuse", *LOW_ANSWERS], "1C 2C 3C 4C 5C 6C", rules=rules, contract="garde")
    table.do("1C", "2C", "3C", "4C", "5C", "6C", "no slam")
    run_down(table, 0, IN_ORDER)
    s = table.s
    assert (s.winner_of[18], s.tricks[0], s.excuse_wins) == (0, 18, 1)
    assert s.played_in[PACK.index("T1")] == 17
    assert (s.last_points, s.last_oudlers) == (182, 3)
    assert s.scores[0] == 3 * ((25 + 55) * 2 + 200 + (10 if rules == "seed" else 20))


@BOTH
def test_ta_14_the_defence_wins_with_the_excuse_too(rules: str) -> None:
    """TA-14, TA-9: either side; a slam by the defence, with the petit au bout."""
    table = Table([f"{SEVENTEEN} Excuse", *LOW_ANSWERS], "1C 2C 3C 4C 5C 6C", rules=rules).do(*PASSES_TO_SEAT_3)
    run_down(table, 0, IN_ORDER)
    s = table.s
    assert (s.winner_of[18], s.tricks[0], s.excuse_wins) == (0, 18, 1)
    assert (s.last_points, s.last_oudlers) == (0, 0)
    each = (25 + 56) * 6 + 200 + (10 if rules == "seed" else 60)
    assert s.scores[:4].tolist() == [each, each, each, -3 * each]


@BOTH
def test_ta_14_ta_16_no_win_for_the_excuse_after_a_lost_trick(rules: str) -> None:
    """TA-14, TA-16: led to the last trick by a side that has lost one, it goes to the winner, and no card for it."""
    hand = " ".join(TRUMPS[5:21]) + " Excuse 1H"
    table = Table([hand, "KH T1", "2H", "3H"], "1C 2C 3C 4C 5C 6C", rules=rules, contract="garde")
    table.do("1C", "2C", "3C", "4C", "5C", "6C", "no slam", "1H", "KH", "2H", "3H")
    assert table.s.winner_of[1] == 1
    table.play_out(last=["Excuse"])
    s = table.s
    assert s.played_in[EXCUSE] == 18
    assert s.excuse_wins == 0
    winner = int(s.winner_of[18])
    assert winner != 0
    assert s.last_oudlers == 1 + int(s.winner_of[s.played_in[PACK.index("T1")]] == 0)
    assert s.last_points == s.half_points[0] + 6


def test_ta_15_ta_25_the_excuse_goes_back_for_half_a_point() -> None:
    """TA-15: its owner's side keeps 4.5 and gives a half point; TA-25: the half point owed is not shown."""
    table = Table(["KC", "Excuse", "4C", "5C"]).do(
        "pass", "pass", "garde contre", "no slam", "KC", "Excuse", "4C", "5C"
    )
    assert table.s.half_points.tolist()[:4] == [9 + 1 + 1, 9, 0, 0]
    assert table.seen(3)["points"].tolist() == [0, 5, 4, 0]
    table.play_out()
    mine = int(table.s.half_points[2])
    assert table.s.last_points == mine, "between defenders nothing is owed"


def test_ta_15_owed_between_the_sides() -> None:
    """TA-15: a defender's Excuse in a trick of the taker costs his side a half point."""
    table = Table(["KC", "Excuse", "4C", "5C"], contract="garde").lay()
    table.do("no slam", "KC", "Excuse", "4C", "5C")
    assert table.s.winner_of[1] == 0
    table.play_out()
    ecart = sum(value(c) for c in table.seen(0)["ecart"])
    assert table.s.last_points == table.s.half_points[0] + 2 * ecart + 1


# --- Five players ----------------------------------------------------------------------------

KINGS = "KC KD KH KS"
QUEENS = "QC QD QH QS"
CAVALIERS = "CC CD CH CS"


def test_ta_31_which_cards_may_be_called() -> None:
    """TA-31: kings; with all four kings also queens; with all queens too, cavaliers; then jacks; own cards too."""
    bid = ("garde", "pass", "pass", "pass", "pass")
    jacks = {"JC", "JD", "JH", "JS"}
    kings, queens, cavaliers = (set(x.split()) for x in (KINGS, QUEENS, CAVALIERS))
    assert Table(["KC KD KH", "KS", "", "", ""]).do(*bid).legal == kings
    assert Table([KINGS, "QC", "", "", ""]).do(*bid).legal == kings | queens
    assert Table([f"{KINGS} {QUEENS}", "CC", "", "", ""]).do(*bid).legal == kings | queens | cavaliers
    hand = f"{KINGS} {QUEENS} {CAVALIERS}"
    assert Table([hand, "JC", "", "", ""]).do(*bid).legal == kings | queens | cavaliers | jacks


@pytest.mark.parametrize("bid", ["garde sans", "garde contre"])
def test_ta_31_a_card_is_always_called(bid: str) -> None:
    """TA-31: for sans and contre too; then the slam question, the chien unseen."""
    table = Table([""] * 5).do(bid, *["pass"] * (4 if bid == "garde sans" else 0))
    assert table.legal & {"KC", "KD", "KH", "KS"}
    table.do("KH")
    assert table.legal == {"slam", "no slam"}
    for seat in range(5):
        assert table.seen(seat)["called"] == ["KH"]
        assert table.seen(seat)["chien"] == []


def test_ta_31_the_called_card_may_not_be_laid_away() -> None:
    """TA-31, TA-7: a called queen of one's own stays."""
    table = Table([f"{KINGS} QH 1H 2H", "", "", "", ""], "3H 4H 5H").do("garde", *["pass"] * 4, "QH")
    assert "QH" not in table.legal
    assert {"1H", "3H"} <= table.legal


def test_ta_31_the_opening_lead() -> None:
    """TA-31: not in the called suit, except the called card; later, and by others, yes."""
    table = Table(["KH 2H 3H 4C", "5H", "6H", "7H", "8H"]).do(
        "pass", "garde sans", "pass", "pass", "pass", "KH", "no slam"
    )
    hand = table.hand(0)
    assert {"2H", "3H"} & cards(table) == set()
    assert {"KH", "4C"} <= cards(table)
    assert cards(table) == {c for c in hand if c == "KH" or (c[-1] != "H" and c not in TRUMPS)}


def test_ta_31_after_a_led_excuse_any_card_may_follow() -> None:
    """TA-25, TA-31: in trick 1, the called suit too."""
    table = Table(["Excuse 4C", "5H 9C", "6H", "7H", "KH"])
    table.do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam", "Excuse")
    assert cards(table) == table.hand(1)
    table.do("5H")
    assert all(c[-1] == "H" for c in cards(table)), "and it fixes the suit"


def test_ta_31_ta_12_gives_way() -> None:
    """TA-25, TA-31: where both limits leave nothing but the Excuse, every trump may be led, the suit not."""
    hearts = "1H 2H 3H 4H 5H 6H 7H 8H 9H"
    hand = f"{hearts} T3 T5 T9 T12 T20 Excuse"
    table = Table([hand, "KH", "", "", ""]).do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam")
    assert cards(table) == {"T3", "T5", "T9", "T12", "T20", "Excuse"}
    table.do("T9")
    for seat in range(1, 5):
        held = table.seen(seat)["may_hold"].reshape(4, 78)[(0 - seat) % 5 - 1]
        names = {c for i, c in enumerate(PACK) if held[i]}
        assert "KH" not in names, "he would have had to lead it"
        assert all(c in TRUMPS or c == "Excuse" or c[-1] == "H" for c in names)


def test_ta_31_the_partner_is_secret_until_the_card_falls() -> None:
    """TA-31: nothing tells him before; then all know; tricks and points are shown by seat all along."""
    hands = ["3C 3D", "KH 4C 4D", "5C 5D", "6C 6D", "7C 7D"]
    table = Table(hands).do("pass", "pass", "garde sans", "pass", "pass", "KH", "no slam", "3C")
    for seat in range(5):
        seen = table.seen(seat)
        assert not seen["partner"].any()
        assert seen["alone"] == 0
    while not table.s.played_in[PACK.index("KH")]:
        assert not table.seen(0)["partner"].any()
        legal = cards(table)
        table.do("KH" if "KH" in legal and table.s.trick > 3 else min(legal - {"KH"} or legal, key=PACK.index))
    for seat in range(5):
        assert table.seen(seat)["partner"].tolist() == [int((seat + i) % 5 == 1) for i in range(5)]


def test_ta_31_alone_when_the_card_lies_in_the_shown_chien() -> None:
    """TA-31: then all know at once; in an unseen chien nobody does before the end."""
    shown = Table([""] * 5, "KH 1C 2C").do("garde", *["pass"] * 4, "KH")
    assert all(shown.seen(seat)["alone"] == 1 for seat in range(5))
    unseen = Table([""] * 5, "KH 1C 2C").do("garde sans", *["pass"] * 4, "KH", "no slam")
    while not unseen.batch.over[0]:
        assert all(unseen.seen(seat)["alone"] == 0 for seat in range(5))
        unseen.do(min(cards(unseen)))
    assert all(unseen.seen(seat)["alone"] == 1 for seat in range(5))
    assert unseen.s.scores[0] == -4 * unseen.s.scores[1]


# --- What play proves, and what is drawn -----------------------------------------------------


def holders(table: Table, seat: int, card: str) -> set[int]:
    """The others that may hold a card, as the seat sees it."""
    n = int(table.s.seats)
    planes = table.seen(seat)["may_hold"].reshape(n - 1, 78)
    return {(seat + 1 + i) % n for i in range(n - 1) if planes[i][PACK.index(card)]}


@BOTH
def test_ta_23_voids_and_caps(rules: str) -> None:
    """TA-23: who could not beat trump 15 holds none above it; who trumps is void; the Excuse proves nothing."""
    hands = ["KC 2C T21", "T15 " + " ".join(PACK[14:31]), "T3 T7 " + " ".join(PACK[31:47]), "Excuse 3C 4C"]
    table = Table(hands, rules=rules).do(*PASSES_TO_SEAT_3, "KC", "T15", "T3", "Excuse")
    assert holders(table, 0, "T20") == {1, 3}
    assert 2 not in holders(table, 0, "T16")
    assert 2 in holders(table, 0, "T7")
    assert holders(table, 0, "5C") == {3}
    assert table.seen(0)["cap"].tolist() == [21, 21, 15, 21]
    assert table.seen(3)["no_suit"].reshape(4, 4)[:, 0].tolist() == [0, 0, 1, 1]


def test_ta_23_shown_chien_and_call() -> None:
    """TA-23: its kings and oudlers stay with the taker; a called queen means all four kings."""
    table = Table(["", "", "", ""], "KH T21 Excuse 1C 2C 3C").do("pass", "garde", "pass", "pass")
    for seat in (0, 2, 3):
        for card in ("KH", "T21", "Excuse", "1C"):
            assert holders(table, seat, card) == {1}
    five = Table([KINGS, "", "", "", ""]).do("garde sans", *["pass"] * 4, "QH", "no slam")
    for seat in range(1, 5):
        assert all(holders(five, seat, king) == {0} for king in KINGS.split())


def test_ta_23_ta_12_a_trump_led_before_trumps_are_broken() -> None:
    """TA-23, TA-12: in `seed` it means a hand of trumps, and perhaps the Excuse."""
    hand = " ".join(TRUMPS[3:21])
    for rules in ("seed", "fft"):
        table = Table([hand, "", "", ""], rules=rules).do("pass", "pass", "pass", "garde contre", "no slam", "T21")
        plain = {c for c in PACK[:56] if 0 in holders(table, 2, c)}
        assert bool(plain) == (rules == "fft")
        assert 0 in holders(table, 2, "T4")


def test_the_drawing_shows_what_a_seat_sees() -> None:
    """TA-7, TA-10: own cards, the shown chien, shown trumps; nothing else of the others."""
    trumps = " ".join(TRUMPS[6:17])
    table = Table([f"{trumps} KH", "", "", ""], "T21 1C 2C 3C 4C 5C").do("garde", "pass", "pass", "pass").lay()
    table.do("no slam", "simple poignee")
    for _ in range(10):
        table.do(max(table.legal, key=PACK.index))
    drawn = GAME.render(table.batch.states, 2)
    line = next(x for x in drawn.splitlines() if x.startswith("  seat 0"))
    shown = np.flatnonzero(table.s.shown_by)
    assert all(PACK[c] in line for c in shown)
    assert line.count("▒▒") == 18 - len(set(shown) | {PACK.index("T21")} & set(np.flatnonzero(table.s.place == 0)))
    assert "simple poignee" in line
    everything = GAME.render(table.batch.states)
    assert "▒▒" not in everything
    table.play_out()
    assert "oudlers" in GAME.render(table.batch.states, 1)
