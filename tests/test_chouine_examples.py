"""The worked examples of Chouine's rules page, one test each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chouine_positions import IDS, Table, at_trick, games, play, split
from chouine_referee import BRISQUES, PACK

from cardgym.errors import IllegalAction
from cardgym.games.chouine import GAME
from cardgym.kernel import records


def decks_with(leader: str, follower: str, turn_up: str, n: int, seed: int) -> np.ndarray:
    """Random decks that deal the leader (the non-dealer) and the follower given hands."""
    generator = np.random.default_rng(seed)
    dealt = [c for pair in zip(split(leader), split(follower)) for c in pair] + [turn_up]
    rest = [PACK.index(c) for c in PACK if c not in dealt]
    front = [PACK.index(c) for c in dealt]
    return np.array([[*front, *generator.permutation(rest)] for _ in range(n)], np.int8)


def test_example_1() -> None:
    """70 card points with the last trick and a plain marriage lose to 60 and a trump marriage: 90 to 100."""
    decks = decks_with("KH QH 8D 9C JC", "KS QS 7C 8H 9D", "8S", 4000, 1)
    batch = games(4000, 1, decks, dealer=1)
    for name in ("marriage H", "KH", "marriage S", "QS"):
        batch.step(np.full(4000, IDS[name]))
    for _ in play(batch, np.random.default_rng(1), talk=0.0):
        pass
    s = batch.states
    found = (s["card_points"] == [70, 60]).all(1) & (s["winner_of"][:, 16] == 0) & (s["announced"] > 0).any(2).all(1)
    found &= (s["announced_points"] == [20, 40]).all(1)
    assert found.sum() > 3
    for row in np.flatnonzero(found):
        assert GAME.info(records(s)[row]) == {"totals": [90, 100], "chouine": False, "winner": 1}
        assert batch.rewards[row].tolist() == [-1, 1]


def test_example_2() -> None:
    """A trump tierce is worth 60, never 40 more for its marriage."""
    table = at_trick(2, "KS QS JS 8C 9C", "7D 8D 9D 7H 8H", "10S").do("tierce S", "JS", "7D")
    assert {"KS", "QS"} <= table.hand(0)
    assert table.s.announced_points.tolist() == [60, 0]
    assert "marriage S" not in table.legal
    table.do("KS", "8D")
    assert table.s.announced_points.tolist() == [60, 0]


@pytest.mark.parametrize(("trump", "winner"), [("C", 1), ("H", 0), ("S", 0), ("D", 0)])
def test_examples_3_and_4_two_chouines(trump: str, winner: int) -> None:
    """The trump chouine wins, whoever announced it; if neither is trump, the leader's."""
    follower = "AC 10C KC QC JC"
    turn_up = "9" + trump
    table = at_trick(2, "AH 10H KH QH JH", follower, turn_up).do("chouine H", "KH")
    assert not table.batch.over[0]
    table.do("chouine C")
    assert not table.batch.over[0]
    table.do("JC")
    assert table.batch.over[0]
    assert table.info["winner"] == winner
    assert table.info["chouine"]
    assert table.rewards == [1 - 2 * winner, 2 * winner - 1]


def test_example_3() -> None:
    """The leader plays the K of hearts with a plain chouine, the follower announces a trump chouine and wins."""
    table = at_trick(2, "AH 10H KH QH JH", "AS 10S KS QS JS", "9S").do("chouine H", "KH", "chouine S", "AS")
    assert table.info["winner"] == 1


def test_example_4() -> None:
    """Both chouines are plain: the leader wins, even if the follower takes the trick's cards."""
    table = at_trick(2, "AH 10H KH QH JH", "AC 10C KC QC JC", "9S").do("chouine H", "KH", "chouine C", "AC")
    assert table.info["winner"] == 0


def test_example_5() -> None:
    """65 to 65: nobody wins, the same player deals again, the match score stays."""
    n = 1500
    batch = games(n, 5)
    decks, dealers = batch.states["deck"].copy(), batch.states["dealer"].copy()
    for _ in play(batch, np.random.default_rng(5), talk=0.0):
        pass
    even = np.flatnonzero((batch.states["totals"] == 65).all(1))
    assert len(even) > 3
    for row in even:
        s = records(batch.states)[row]
        assert GAME.info(s) == {"totals": [65, 65], "chouine": False, "winner": -1}
        assert batch.rewards[row].tolist() == [0, 0]
        dealer = int(dealers[row])
        match = Table([PACK[c] for c in decks[row]], dealer, episode="match")
        match.do(*(GAME.actions[a].name for a in s.log_action[: s.log_length]))
        assert match.info == {
            "totals": [65, 65],
            "chouine": False,
            "winner": -1,
            "deals": 1,
            "wins": [0, 0],
            "manches": [0, 0],
        }
        assert (match.s.dealer, match.s.over, match.s.log_length) == (dealer, 0, 0)
        assert match.rewards == [0, 0]


def test_example_6() -> None:
    """Trick 11, the seven with the non-leader: he is asked and swaps; after the lead nobody is offered a swap."""
    table = at_trick(11, "AH KD 9H 8C JD", "10H 7S QH 8D 7C", "KS")
    assert (table.s.player, table.legal) == (1, {"swap", "decline"})
    table.do("swap")
    assert table.hand(1) == set(split("10H KS QH 8D 7C"))
    assert table.s.swapped_in == 11
    assert table.s.player == 0
    while not table.batch.over[0]:
        assert not table.legal & {"swap", "decline"}
        table.do(min(table.legal))


def test_example_7() -> None:
    """Trick 12, plain hearts led: a heart, also a lower one; void with trumps: a trump."""
    table = at_trick(12, "KH 9C 8C KD JD", "AH 7H 10C 9S 8D", "9S").do("KH")
    assert table.legal == {"AH", "7H"}
    void = at_trick(12, "KH 9C 8C KD JD", "AC 7C 10C 9S 8D", "9S").do("KH")
    assert void.legal == {"9S"}


def test_example_8() -> None:
    """Trick 12, trumps led: a higher trump if held; with only lower ones, any of them."""
    assert at_trick(12, "QS 9C 8C KD JD", "AS 7S 9S 10S 8D", "9S").do("QS").legal == {"AS", "10S"}
    assert at_trick(12, "AS 9C 8C KD JD", "QS 7S 9S 10H 8D", "9S").do("AS").legal == {"QS", "7S", "9S"}


def test_example_9() -> None:
    """A tierce by the J bars the marriage of that suit; the ace kept from a quarteron serves in a quinte."""
    tierce = at_trick(2, "KH QH JH 8C 9C", "7D 8D 9D 7H 8H", "10S").do("tierce H", "JH", "7D")
    assert {"KH", "QH"} <= tierce.hand(0)
    with pytest.raises(IllegalAction, match="marriage H"):
        tierce.do("marriage H")
    table = at_trick(1, "AH KH QH JH 10C", "7D 8D 9D 7C 8C", "JS", stock="AC 9C AD 7H 10D 8H")
    table.do("quarteron H", "KH", "7D", "QH", "8D", "JH", "9D")
    assert table.hand(0) == set(split("AH 10C AC AD 10D"))
    table.do("quinte", "AH", "7C")
    assert table.s.announced_points.tolist() == [40 + 50, 0]


def test_example_10() -> None:
    """The follower swaps in trick 10 after the lead; where the seven was led before, trick 11 asks nothing."""
    table = at_trick(10, "AH KD 9H 8C JD", "10H 7S QH 8D 7C", "KS").do("9H")
    assert (table.s.player, "swap" in table.legal) == (1, True)
    table.do("swap", "KS")
    assert table.s.swapped_in == 10
    assert (table.s.trick, table.s.player) == (11, 1)
    assert not table.legal & {"swap", "decline"}
    led = at_trick(9, "7S KD 9H 8C JD", "10H 9S QH 8D 7C", "KS").do("7S", "8D")
    led.do("9H", "7C")
    assert (led.s.trick, led.s.called) == (11, 0)
    assert not led.legal & {"swap", "decline"}


def test_example_11() -> None:
    """After a leader's quinte the follower sees the same for any four unseen brisques, until the trick is complete."""
    follower = split("10H KD QS 8D 7C")
    unseen = sorted(BRISQUES - {"AC", "10H"})
    after: dict[str, set[bytes]] = {"quinte": set(), "AC": set(), "7C": set()}
    hands = list(itertools.combinations(unseen, 4))
    for four in hands:
        leader = ["AC", *four]
        dealt = [c for pair in zip(leader, follower) for c in pair] + ["9S"]
        table = Table([*dealt, *(c for c in PACK if c not in dealt)])
        for name, views in after.items():
            table.do(name)
            views.add(b"".join(part.tobytes() for part in table.views(1)[:3]))
    assert [len(views) for views in after.values()] == [1, 1, len(hands)]
