"""The worked examples of Tarot's rules page, by their numbers, and what they leave open in scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tarot_positions import Table, games
from tarot_referee import PACK, TRICKS

from cardgym.games import tarot
from cardgym.games.tarot_tables import BIDS, PLAYED
from cardgym.kernel import kernel

PETIT, TWENTY_ONE, EXCUSE = (PACK.index(c) for c in ("T1", "T21", "Excuse"))


@kernel("tests.tarot_finish")
def finish(states):  # type: ignore[no-untyped-def]
    tarot._finish_deal(states[0])


def scored(
    contract: str,
    points: float,
    oudlers: int,
    players: int = 4,
    poignees: tuple[int, ...] = (),
    petit: str = "",
    slam: int = 2,
    tricks: int = 9,
    partner: int | None = None,
    **options: Any,
) -> list[int]:
    """Scores of a deal that ended so: seat 0 took, with so many points and oudlers.

    ``poignees``: kinds, announced by seats 0, 1, ...; ``petit``: who has the petit au bout; ``tricks``: won by seat 0.
    """
    s = games(1, 3, players=players, dealer=players - 1, **options).states
    last = TRICKS[players]
    s["taker"], s["contract_bid"], s["slam"], s["place"] = 0, BIDS.index(contract), slam, PLAYED
    s["half_points"][0, :2] = int(2 * points), 182 - int(2 * points)
    s["tricks"][0, :2] = tricks, last - tricks
    s["winner_of"][0, 1:3] = 0, 1  # trick 1 went to the taker, trick 2 to the others
    s["winner_of"][0, last] = 1 if petit == "defence" else 0
    order = [PETIT, TWENTY_ONE, EXCUSE] if petit == "taker" else [TWENTY_ONE, EXCUSE, PETIT]
    s["played_in"], s["played_by"] = 1, 1
    for card in order[oudlers:]:
        s["played_in"][0, card] = s["played_by"][0, card] = 2
    if petit:
        s["played_in"][0, PETIT] = last
    for seat, kind in enumerate(poignees):
        s["poignee"][0, seat] = kind
    if players == 5:
        s["called"] = PACK.index("KH")
        s["dealt"][0, PACK.index("KH")] = 0 if partner is None else partner
    finish(s)
    assert s["last_oudlers"] == oudlers
    assert s["scores"][0].sum() == 0
    return s["scores"][0, :players].tolist()


def against_three(each: int) -> list[int]:
    return [3 * each, -each, -each, -each]


def test_example_1_garde_with_poignee_and_petit_au_bout() -> None:
    """TA-20: (25 + 8) x 2 + 20 + 10 x 2 = 106."""
    assert scored("garde", 49, 2, poignees=(1,), petit="taker", rules="fft") == [318, -106, -106, -106]


def test_example_2_garde_sans_and_petit_of_the_defence() -> None:
    """TA-17, TA-20, rules="fft": (25 + 4) x 4 - 10 x 4 = 76."""
    assert scored("garde sans", 45, 2, petit="defence", rules="fft") == [228, -76, -76, -76]


def test_example_2b_the_same_in_the_seed_preset() -> None:
    """TA-17, rules="seed": the petit au bout is not multiplied: (25 + 4) x 4 - 10 = 106."""
    assert scored("garde sans", 45, 2, petit="defence", rules="seed") == [318, -106, -106, -106]


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_example_3_lost_prise(rules: str) -> None:
    """TA-10, TA-20: the taker's own poignee goes to the winners: -(25 + 7) - 20 + 10 = -42."""
    lost = scored("prise", 34, 2, poignees=(1,), petit="taker", rules=rules)
    assert lost == [-126, 42, 42, 42]


def test_example_4_poignee_of_a_defender() -> None:
    """TA-10: it goes to the taker, who wins: (25 + 11) x 2 + 20 = 92."""
    assert scored("garde", 52, 2, poignees=(0, 1), rules="fft") == [276, -92, -92, -92]


def test_example_5_declared_slam() -> None:
    """TA-9: (25 + 46) x 2 + 20 + 20 + 400 = 582."""
    made = scored("garde", 87, 2, poignees=(1,), petit="taker", slam=1, tricks=18, rules="fft")
    assert made == [1746, -582, -582, -582]


SLAM_HAND = " ".join(f"T{n}" for n in range(4, 22))
SMALL_CHIEN = "1C 2C 3C 4C 5C 6C"


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_example_6_the_defence_keeps_its_excuse(rules: str) -> None:
    """TA-18: all 18 tricks are the taker's, the defence holds the Excuse: he has 87 points."""
    table = Table([SLAM_HAND, "Excuse T1 T2 T3", "", ""], SMALL_CHIEN, rules=rules)
    table.do("garde", "pass", "pass", "pass").lay().do("no slam")
    table.play_out(first=["Excuse"])
    assert table.s.tricks.tolist() == [18, 0, 0, 0, 0]
    assert table.s.played_in[EXCUSE] == 1
    assert (table.s.last_points, table.s.last_oudlers) == (174, 2)
    assert table.s.scores[0] == 3 * ((25 + 46) * 2 + 200)


def test_example_7_leads_before_trumps_are_broken() -> None:
    """TA-12, rules="seed": with a plain card no trump is led; with trumps and the Excuse alone any of them is."""
    hands = ["KH 5H 1C 2C 3C 4C T1 T2 T3", "6H 7H", "8H", "9H JH"]
    table = Table(hands, contract="garde").lay().do("no slam")
    assert {"KH", "5H"} & table.legal
    assert not any(c[0] == "T" for c in table.legal)
    trumps_only = " ".join(f"T{n}" for n in range(5, 22)) + " Excuse"
    table = Table([trumps_only, "", "", ""], SMALL_CHIEN, contract="garde").lay().do("no slam")
    assert {c for c in table.legal if c in PACK} == set(trumps_only.split())


def test_example_7_after_somebody_trumped_trumps_may_be_led() -> None:
    """TA-12, rules="seed": the first trump played to any trick breaks trumps."""
    heart = "KH T7 T8 1S 2S 3S 4S 5S 6S 7S 8S 9S 10S JS CS QS KS 1D"
    void = "T21 T20 T1 KD " + " ".join(PACK[:14])
    hands = [heart, void, "2H", "3H"]
    table = Table(hands, "1H 4H 5H 6H 7H 8H").do("pass", "pass", "pass", "garde contre", "no slam")
    assert not {"T7", "T8"} & table.legal
    table.do("KH")
    assert {c for c in table.legal if c in PACK} == {"T21", "T20", "T1"}
    table.do("T1", "2H", "3H")
    assert table.s.player == 1
    assert {"T21", "T20"} <= table.legal


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_example_8_after_a_led_excuse_the_next_card_rules(rules: str) -> None:
    """TA-14: the Excuse led, a club played: the rest follow clubs."""
    table = Table(["Excuse KD", "5C 6H T9", "7C 7H 7S", "8C 8D T10"], rules=rules)
    table.do("pass", "pass", "pass", "garde contre", "no slam", "Excuse")
    assert {c for c in table.legal if c in PACK} == table.hand(1)
    table.do("5C")
    for seat in (2, 3):
        clubs = {c for c in table.hand(seat) if c[-1] == "C"}
        assert {c for c in table.legal if c in PACK} == clubs
        table.do(sorted(clubs)[0])
    assert table.s.player != 0, "the Excuse does not take the trick"


ELEVEN = "T20 T19 T18 T17 T16 T15 T14 T13 T12 T11 T2"
HEARTS = "1H 2H 3H 4H 5H 6H 7H"


def test_example_9_a_simple_poignee_of_eleven_trumps() -> None:
    """TA-10: exactly ten are shown, which ones he chooses: all but the 20."""
    table = Table([f"{ELEVEN} {HEARTS}", "", "", ""], "8H 9H 10H JH CH QH")
    table.do("pass", "pass", "pass", "garde contre", "no slam")
    assert "simple poignee" in table.legal
    table.do("simple poignee")
    assert table.legal == {"T20", "T19"}, "after the 18 fewer than ten would be left"
    shown = ELEVEN.split()[1:]
    for card in shown:
        assert card in table.legal
        table.do(card)
    for seat in range(4):
        assert table.seen(seat)["shown"] == [c for c in PACK if c in shown]
        assert "T20" not in table.seen(seat)["shown"]
    assert "double poignee" not in table.legal
    assert {"1H", "7H"} <= table.legal


def test_example_10_the_excuse_makes_up_the_number() -> None:
    """TA-10: with nine trumps and the Excuse all ten are shown, the Excuse last."""
    nine = "T20 T19 T18 T17 T16 T15 T14 T13 T12"
    table = Table([f"{nine} Excuse {HEARTS} 1C", "", "", ""], "8H 9H 10H JH CH QH")
    table.do("pass", "pass", "pass", "garde contre", "no slam")
    assert [w for w in table.legal if "poignee" in w] == ["simple poignee"]
    table.do("simple poignee")
    for card in [*nine.split(), "Excuse"]:
        assert table.legal == {card}
        table.do(card)
    assert table.seen(2)["shown"] == [c for c in PACK if c in [*nine.split(), "Excuse"]]


def test_example_10_the_excuse_stays_hidden_when_trumps_suffice() -> None:
    """TA-10: with ten trumps and the Excuse, the Excuse cannot be shown."""
    ten = "T20 T19 T18 T17 T16 T15 T14 T13 T12 T11"
    table = Table([f"{ten} Excuse {HEARTS}", "", "", ""], "8H 9H 10H JH CH QH")
    table.do("pass", "pass", "pass", "garde contre", "no slam", "simple poignee")
    for card in ten.split():
        assert table.legal == {card}
        table.do(card)
    assert "Excuse" not in table.seen(1)["shown"]
    assert "1H" in table.legal


def test_example_10_twelve_trumps_and_the_excuse() -> None:
    """TA-10: a double shows all thirteen; a simple shows ten trumps."""
    twelve = " ".join(f"T{n}" for n in range(20, 8, -1))
    hands = [f"{twelve} Excuse 1H 2H 3H 4H 5H", "", "", ""]
    double = Table(hands).do("pass", "pass", "pass", "garde contre", "no slam", "double poignee")
    for card in [*twelve.split(), "Excuse"]:
        assert double.legal == {card}
        double.do(card)
    simple = Table(hands).do("pass", "pass", "pass", "garde contre", "no slam", "simple poignee")
    for _ in range(10):
        assert "Excuse" not in simple.legal
        simple.do(min(simple.legal, key=PACK.index))
    assert len(simple.seen(3)["shown"]) == 10


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_example_11_a_trump_after_a_led_excuse(rules: str) -> None:
    """TA-12, TA-14: the Excuse led before trumps are broken, the next seat may play a trump."""
    table = Table(["Excuse KD", "5C T9", "T10 7C", "T3 8C"], rules=rules)
    table.do("pass", "pass", "pass", "garde contre", "no slam", "Excuse", "T9")
    assert "T10" in table.legal
    assert "7C" not in table.legal


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_example_11_a_defenders_excuse_in_the_last_trick_of_a_slam(rules: str) -> None:
    """TA-16: it stays with the taker, who has all 91 points."""
    table = Table([SLAM_HAND, "Excuse T1 T2 T3", "", ""], SMALL_CHIEN, rules=rules)
    table.do("garde", "pass", "pass", "pass").lay().do("no slam").play_out(last=["Excuse"])
    assert table.s.played_in[EXCUSE] == 18
    assert (table.s.last_points, table.s.last_oudlers) == (182, 3)


def test_example_12_four_plain_cards_of_twenty_four() -> None:
    """TA-7: they go, and two trumps with them, both seen by all."""
    trumps = " ".join(f"T{n}" for n in range(7, 20))
    table = Table([f"{trumps} T21 T1 KC KD KH", "", "", ""], "KS Excuse 2C 3C 4C 5C")
    table.do("garde", "pass", "pass", "pass")
    assert table.legal == {"2C", "3C", "4C", "5C", *trumps.split()}
    table.do("T7", "2C", "T9")
    assert table.legal == {"3C", "4C", "5C"}, "two trumps, no more"
    for seat in (1, 2, 3):
        assert table.seen(seat)["ecart"] == ["T7", "T9"]
    table.do("3C", "4C", "5C")
    assert table.seen(0)["ecart"] == ["2C", "3C", "4C", "5C", "T7", "T9"]
    assert table.seen(1)["ecart"] == ["T7", "T9"]
    assert table.legal == {"slam", "no slam"}


# --- Scores beyond the examples --------------------------------------------------------------


@pytest.mark.parametrize(("oudlers", "target"), [(0, 56), (1, 51), (2, 41), (3, 36)])
def test_ta_19_targets(oudlers: int, target: int) -> None:
    """TA-19: reaching the target is enough."""
    assert scored("prise", target, oudlers) == against_three(25)
    assert scored("prise", target - 1, oudlers) == against_three(-26)


@pytest.mark.parametrize(("contract", "factor"), [("prise", 1), ("garde", 2), ("garde sans", 4), ("garde contre", 6)])
def test_ta_20_factors(contract: str, factor: int) -> None:
    """TA-20, TA-21: the factor multiplies base and difference; each defender pays the same, the taker gets it all."""
    assert scored(contract, 61, 0) == against_three(30 * factor)
    assert scored(contract, 51, 0) == against_three(-30 * factor)


@pytest.mark.parametrize(("rules", "bonus"), [("seed", 10), ("fft", 60)])
def test_ta_17_petit_au_bout_of_the_loser(rules: str, bonus: int) -> None:
    """TA-17: whoever wins the trick gets it, also when he loses the deal; times the factor in `fft`."""
    assert scored("garde contre", 40, 2, petit="taker", rules=rules) == against_three(-26 * 6 + bonus)


@pytest.mark.parametrize(("kind", "points"), [(1, 20), (2, 30), (3, 40)])
def test_ta_10_poignees_are_not_multiplied_and_go_to_the_winner(kind: int, points: int) -> None:
    """TA-10: 20, 30, 40, whoever announced; two of them add up."""
    for poignees in ((kind,), (0, kind)):
        assert scored("garde sans", 56, 0, poignees=poignees) == against_three(100 + points)
        assert scored("garde sans", 55, 0, poignees=poignees) == against_three(-104 - points)
    assert scored("prise", 56, 0, poignees=(kind, 1)) == against_three(25 + points + 20)


@pytest.mark.parametrize("rules", ["seed", "fft"])
def test_ta_9_slams(rules: str) -> None:
    """TA-9, TA-25: made and declared, failed, made undeclared, by the defence, and both at once."""
    assert scored("prise", 87, 2, slam=1, tricks=18, rules=rules) == against_three(71 + 400)
    assert scored("prise", 87, 2, slam=2, tricks=18, rules=rules) == against_three(71 + 200)
    assert scored("prise", 41, 2, slam=1, tricks=17, rules=rules) == against_three(25 - 200)
    assert scored("prise", 4, 0, slam=2, tricks=0, rules=rules) == against_three(-77 - 200)
    assert scored("prise", 4, 0, slam=1, tricks=0, rules=rules) == against_three(-77 - 400)


def test_ta_30_three_players_and_half_points() -> None:
    """TA-30: 40.5 with two oudlers is down by one, 41.5 up by one; the taker gets twice what each pays."""
    assert scored("prise", 40.5, 2, players=3) == [-52, 26, 26]
    assert scored("prise", 41.5, 2, players=3) == [52, -26, -26]
    assert scored("garde", 41, 2, players=3) == [100, -50, -50]


def test_ta_31_five_players_share_two_to_one_or_the_taker_is_alone() -> None:
    """TA-31: taker 2, partner 1, each defender -1; alone the taker has all four against him."""
    assert scored("garde", 46, 2, players=5, partner=3) == [120, -60, -60, 60, -60]
    assert scored("garde", 46, 2, players=5) == [240, -60, -60, -60, -60]
    assert scored("prise", 40.5, 2, players=5, partner=3) == [-52, 26, 26, -26, 26]


def test_reward_is_the_scaled_score() -> None:
    """TA-29: the score change of the deal times `reward_scale`."""
    table = Table([SLAM_HAND, "Excuse T1 T2 T3", "", ""], SMALL_CHIEN, reward_scale=0.01)
    table.do("garde", "pass", "pass", "pass").lay().do("no slam").play_out(first=["Excuse"])
    np.testing.assert_allclose(table.batch.rewards[0, :4], table.s.scores[:4] * 0.01)
