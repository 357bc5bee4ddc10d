"""Shukh: what the rules page settles beyond the rules' text (S-1 ... S-21), options, rewards and matches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from shukh_positions import NAMES, PAIRS, Table, dealt, games, play
from shukh_referee import shared_rewards

from cardgym.batch import Batch
from cardgym.cards import PACK_52
from cardgym.errors import InvalidOption
from cardgym.games import shukh
from cardgym.games.shukh import GAME
from cardgym.kernel import kernel, records

# --- Options ---------------------------------------------------------------------------------


def test_s_1_players_and_packs() -> None:
    """S-1: 2 to 6 with 36 cards, 2 to 8 with 52; four with 36 if nothing is said."""
    assert (GAME.options().players, GAME.options().deck) == (4, 36)
    for deck, players in PAIRS:
        options = GAME.options.of(deck=deck, players=players)
        assert GAME.seats(options) == players
        assert games(1, 0, deck=deck, players=players).states["live"][0] == players
    for wrong in ({"players": 7}, {"players": 1}, {"players": 9, "deck": 52}):
        with pytest.raises(InvalidOption, match="players"):
            GAME.options.of(**wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_idle_turns": 49}, "max_idle_turns=49 is not between 50 and 100000 or 'auto' or None"),
        ({"max_idle_turns": 60.0}, "max_idle_turns=60.0 is not a whole number or 'auto' or None"),
        ({"max_idle_turns": "never"}, "max_idle_turns='never' is not a whole number"),
        ({"max_idle_turns": True}, "max_idle_turns=True"),
        ({"parties_per_match": 0}, "parties_per_match=0"),
        ({"parties_per_match": None}, "parties_per_match=None is not a whole number"),
        ({"tuck": "all"}, "tuck='all'"),
        ({"jokers": 2}, "unknown option 'jokers'"),
    ],
)
def test_options_that_do_not_exist_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        GAME.options.of(**options)


def test_s_20_no_history() -> None:
    """S-20: two encodings alone, and no list of moves in the state."""
    assert GAME.history is None
    assert set(GAME.layouts(GAME.options())) == {"observation", "state"}
    with pytest.raises(ValueError, match="history"):
        games(1, 0, ("history",))


def test_actions() -> None:
    assert len(NAMES) == 55
    assert NAMES[52:] == ["take", "tuck", "discard"]
    assert [a.card for a in GAME.actions[:52]] == list(range(52))


# --- Leading, taking, closing ----------------------------------------------------------------


def test_s_8_taking_the_only_card_makes_the_next_player_lead() -> None:
    """S-8, S-15: the table is empty, the kon is over, and the player after the taker leads."""
    table = Table("9S 6C", "JC 7C", "JH 8C", kon=[(2, "8S")]).play("take")
    assert table.turn == 1
    assert table.legal() == {"JC", "7C"}


def test_s_9_a_take_never_closes() -> None:
    """S-9: even if it makes somebody leave."""
    for players in (3, 6):
        batch = games(200, 4, players=players)
        left = 0
        for rows, before, actions in play(batch, 4):
            after = batch.states[rows]
            takes = actions == GAME.action_ids["take"]
            assert (before["height"] < before["live"])[before["height"] > 0].all()
            going = ~batch.over[rows]
            assert (after["height"] < after["live"])[going].all()
            gone = takes & (after["live"] < before["live"]) & going
            assert (after["height"] == before["height"] - 1)[gone].all()
            left += gone.sum()
        assert left > 10


def test_s_10_a_handless_owner_leaves_in_mid_kon() -> None:
    """S-10: four players, his last card is taken: 3 cards become 2, 4 players become 3, nothing closes."""
    table = Table("9C 6C", "", "JC 7C", "JH 8C", kon=[(1, "8S"), (2, "9S"), (3, "10S")]).play("take")
    assert table.places == [0, 1, 0, 0]
    assert table.state["live"] == 3
    assert table.kon == ["9S", "10S"]
    assert table.turn == 2, "passing over who has left"
    assert "8S" in table.hand(0)


def test_s_10_leader_without_cards_whose_lead_is_taken() -> None:
    """S-10, S-8: A leads his last card, B takes it: A is out and C leads."""
    table = Table("6S", "9C 6C", "JC 7C", "8C 9H").play("6S", "take")
    assert table.places == [1, 0, 0, 0]
    assert table.turn == 2
    assert table.legal() == {"JC", "7C"}


def test_s_11_queen_of_hearts_needs_a_card_under_it() -> None:
    """S-11: not a lead; as the second card of four it closes, as the last one it closes too."""
    assert "QH" not in Table("QH 6S", "9C 6C", "JC 7C", "8C 9H").legal()
    for kon in ([(3, "7S")], [(1, "7S"), (2, "8S"), (3, "9S")]):
        table = Table("QH 6S", "9C 6C", "JC 7C", "8C 9H", kon=kon).play("QH")
        assert table.kon == []
        assert table.turn == 0


def test_s_12_leaving_together_clockwise_from_the_closer() -> None:
    """S-12: the closer first."""
    table = Table("", "9S", "", "6C 8C", "7D 8D", kon=[(4, "5S"), (0, "6S"), (3, "7S"), (2, "8S")], turn=1, deck=52)
    assert table.play("9S").places == [3, 1, 2, 0, 0]
    assert table.turn == 3


def test_s_12_two_players_a_queen_on_the_last_card() -> None:
    """S-12, R-10.1.1: A beats B's last card with the queen of hearts as his own last card: A is first, B has lost."""
    table = Table("QH", "", kon=[(1, "AS")]).play("QH")
    assert table.over
    assert table.places == [1, 2]
    assert table.rewards == [1.0, -1.0]


def test_s_13_lone_queen_of_hearts_on_lead() -> None:
    """S-13: the lead passes to the next player, the queen stays; no decision is asked and no turn counted."""
    table = Table("9S QH", "6C 8C", "7D 8D", kon=[(1, "7S"), (2, "8S")]).play("9S")
    assert table.turn == 1, "seat 0 has closed with the queen left"
    assert table.hand(0) == {"QH"}
    assert table.legal() == {"6C", "8C"}
    assert table.state["idle"] == 0
    skipped = Table("QH", "6C 8C", "7D 8D", "9D", kon=[(1, "7S")], turn=3).play("take")
    assert skipped.turn == 1
    assert skipped.state["idle"] == 1, "S-21: the take alone"


def test_s_14_tuck_with_the_last_card() -> None:
    """S-14, S-12: who tucks his last card leaves first, then who had a last card in the kon; the eater leads."""
    table = Table("KC 8S", "", "JC", "6H", kon=[(1, "7H"), (2, "9C")], turn=3).play("tuck")
    assert table.places == [0, 2, 0, 1]
    assert table.turn == 0
    assert table.hand(0) == {"KC", "8S", "6H", "7H", "9C"}


def test_s_14_a_handless_player_may_be_the_eater() -> None:
    """S-14, S-21: one card on the table is enough; who eats is fixed before anybody leaves."""
    table = Table("", "KC 8S", "JC", "6H 9S", kon=[(0, "7H")], turn=3).play("tuck")
    assert table.hand(0) == {"6H", "7H"}
    assert table.turn == 0
    assert table.places == [0, 0, 0, 0]


def test_s_15_empty_table_in_all_three_ways() -> None:
    """S-15: closed, taken empty or eaten, the next decision is a lead."""
    ways = [
        Table("9S 6C", "6S", "7D 8D", kon=[(1, "7S"), (2, "8S")]).play("9S"),
        Table("9S 6C", "6S", "7D 8D", kon=[(1, "7S")]).play("take"),
        Table("6H 6C", "6S", "7D 8D", kon=[(1, "7H")]).play("tuck"),
    ]
    for table in ways:
        assert table.kon == []
        assert "take" not in table.legal()
        assert table.legal() == table.hand(table.turn)


# --- Two left --------------------------------------------------------------------------------


def test_s_16_from_the_start_of_a_game_of_two() -> None:
    """S-16: whoever has the lowest heart gets rid of it on his first turn."""
    batch = games(200, 3, players=2)
    first = {}
    for rows, before, actions in play(batch, 3):
        for row, state, action in zip(rows, before, actions, strict=True):
            seat = int(state["player"])
            if (row, seat) not in first:
                first[row, seat] = bool(state["place"][GAME.pack.card("6H")] == seat), NAMES[action]
    assert all((action == "discard") == holds for holds, action in first.values())
    assert sum(holds for holds, _ in first.values()) > 150


def test_s_16_discarding_the_last_card() -> None:
    """S-16: he leaves; with a card in the kon he has to take instead."""
    table = Table("6H", "JC 10S", kon=[(1, "8S")]).play("discard")
    assert table.over
    assert table.places == [1, 2]
    table = Table("6H", "JC 10S", "", "", out={2: 1, 3: 2}).play("discard")
    assert table.over
    assert table.places == [3, 4, 1, 2]
    table = Table("6H", "JC 10S", kon=[(0, "8S")]).play("discard")
    assert not table.over
    assert table.legal() == {"take"}


def test_s_21_lowest_heart_in_the_kon_when_two_are_left() -> None:
    """S-21: only in hand it falls under the duty: whoever takes it discards it on his next turn."""
    table = Table("9S KS", "JC 10S", "", out={2: 1}, kon=[(1, "6H")])
    assert table.legal() == {"take"}
    table.play("take", "JC")
    assert table.turn == 0
    assert table.legal() == {"discard"}


def test_s_21_lone_queen_after_the_discard() -> None:
    """S-21, S-13: the discard leaves nothing to lead, so the lead passes at once; on an open kon he may lay it."""
    table = Table("6H QH", "JC 10S").play("discard")
    assert table.turn == 1
    assert Table("6H QH", "JC 10S", kon=[(1, "AS")]).play("discard").legal() == {"QH", "take"}


# --- The variant -----------------------------------------------------------------------------


def test_s_18_a_tuck_that_completes_the_kon_closes_it() -> None:
    """S-18: the tucking player is the closer."""
    table = Table("6S KD", "JC 10S", "QC 10C", kon=[(1, "7S"), (2, "8S")], tuck="general", idle=4).play("tuck")
    assert {"6S", "7S", "8S"} <= table.discard
    assert table.turn == 0
    assert table.state["idle"] == 0


def test_s_18_queen_of_hearts_under_the_king() -> None:
    """S-18, S-21: it closes nothing by itself, lies at the bottom and can be taken; it was not led."""
    table = Table("QH KD", "JC 10S", "QC 10C", "6C 7C", kon=[(3, "KH")], tuck="general")
    assert {"tuck", "QH"} <= table.legal()
    table.play("tuck")
    assert table.kon == ["QH", "KH"]
    assert table.turn == 1
    assert "QH" in table.play("take").hand(1)


def test_s_18_a_tucked_card_is_its_players_card() -> None:
    """S-18, R-9.1, R-5.9: with nothing else left he is in until it goes, and has to take on his turn."""
    table = Table("8C", "KC QS", "JD 9H", "AS AD", kon=[(3, "9C")], tuck="general").play("tuck")
    assert table.places == [0, 0, 0, 0]
    table = Table("8C", "KC QS", "JD 9H", "AS AD", kon=[(3, "9C")], tuck="general").play("tuck", "take")
    assert table.places == [1, 0, 0, 0]


# --- The end by house rule -------------------------------------------------------------------


def test_s_17_default_limit() -> None:
    """S-17: cards in the pack times players squared; None is no limit."""
    for deck, players in PAIRS:
        limit = deck * players * players
        others = [f"{rank}S {rank}C" for rank in ("8", "10", "J", "Q", "K", "A", "6")]
        hands = ["9S 7C", *others[: players - 1]]
        lead = [(1, "7D")]
        table = Table(*hands, kon=lead, deck=deck, idle=limit - 2).play("take")
        assert not table.over
        table.play("8S")
        assert table.over
        assert table.state["stalled"] == 1
        endless = Table(*hands, kon=lead, deck=deck, idle=limit - 2, max_idle_turns=None).play("take", "8S")
        assert not endless.over


def test_s_17_places_and_rewards_of_a_stall() -> None:
    """S-17: fewest cards in hand first, equal hands share; cards in the kon do not count (S-21)."""
    options: dict[str, Any] = {"max_idle_turns": 50, "idle": 49}
    table = Table("9S 6C", "8C", "", "KC QC", kon=[(1, "7S"), (1, "6S")], out={2: 1}, **options).play("take")
    assert table.over
    assert table.state["stalled"] == 1
    assert table.places == [4, 2, 1, 3]
    assert table.rewards == pytest.approx([-1, 1 / 3, 1, -1 / 3])
    table = Table("9S 6C", "8C JD", "KC QC 10D", "KD AD", kon=[(1, "7S")], **options).play("take")
    assert table.places == [3, 1, 3, 1]
    assert table.rewards == pytest.approx([-2 / 3, 2 / 3, -2 / 3, 2 / 3])
    table = Table("9S 6C", "8C", "KC QC 10D", "KD AD", kon=[(1, "7S")], reward="loser", **options).play("take")
    assert table.places == [3, 1, 3, 2]
    assert table.rewards == pytest.approx([-1 / 3, 1 / 3, -1 / 3, 1 / 3])


def test_s_17_a_regular_end_on_the_limit_turn_is_no_stall() -> None:
    """S-17, S-21."""
    table = Table("6C 7C", "", kon=[(1, "7S")], max_idle_turns=50, idle=49).play("take")
    assert table.over
    assert table.state["stalled"] == 0
    assert table.places == [2, 1]


def test_s_17_what_resets_the_counter() -> None:
    """S-17, S-21: a discard does; leaving, taking, tucking and leading do not."""
    leaving = Table("6C 7C", "", "8C 9C", kon=[(1, "7S")], idle=9).play("take")
    assert leaving.places == [0, 1, 0]
    assert leaving.state["idle"] == 10
    tucking = Table("8C 6H", "KC QS", "JD 9H", "AS AD", kon=[(3, "9C")], tuck="general", idle=9).play("tuck")
    assert tucking.state["idle"] == 10
    closing = Table("9S 6C", "6S", "7D 8D", kon=[(1, "7S"), (2, "8S")], idle=9).play("9S")
    assert closing.state["idle"] == 0


def test_s_17_the_counter_is_observed_in_hundredths_of_the_limit() -> None:
    table = Table("9S 6C", "8C", "KC QC", kon=[(1, "7S")], max_idle_turns=200, idle=150)
    assert table.batch.layouts["observation"].describe(table.batch.observation[0])["idle"] == 75
    table = Table("9S 6C", "8C", "KC QC", kon=[(1, "7S")], max_idle_turns=None, idle=150)
    assert table.batch.layouts["observation"].describe(table.batch.observation[0])["idle"] == 0


# --- Rewards and matches ---------------------------------------------------------------------


@pytest.mark.parametrize(("reward", "expected"), [("place", [1, 1 / 3, -1 / 3, -1]), ("loser", [1 / 3] * 3 + [-1])])
def test_rewards_of_places(reward: str, expected: list[float]) -> None:
    batch = games(100, 5, reward=reward, reward_scale=3.0)
    for rows, _, _ in play(batch, 5):
        assert (batch.rewards[rows][~batch.over[rows]] == 0).all()
    for row in range(100):
        by_place = [3 * expected[p - 1] for p in batch.states["finish"][row, :4]]
        assert batch.rewards[row, :4].tolist() == pytest.approx(by_place)


class Matches:
    """Random matches.

    Attributes:
        batch: the finished matches.
        shufflers: of each match, who shuffled for each party.
        losers: of each match, who lost each party; None for a stalled one.
        places: of each match, the places of each party.
    """

    def __init__(self, n: int, seed: int, **options: Any) -> None:
        self.batch = games(n, seed, episode="match", **options)
        states = self.batch.states
        self.shufflers = [[int(s)] for s in states["shuffler"]]
        self.losers: list[list[int | None]] = [[] for _ in range(n)]
        for rows, before, _ in play(self.batch, seed):
            assert (self.batch.rewards[rows][~self.batch.over[rows]] == 0).all()
            for row, old in zip(rows, before, strict=True):
                new = states[row]
                if new["parties"] == old["parties"]:
                    continue
                stalled = new["stalled_parties"] > old["stalled_parties"]
                lost = np.flatnonzero(new["scores"] > old["scores"])
                assert len(lost) == (0 if stalled else 1)
                self.losers[row].append(None if stalled else int(lost[0]))
                if not new["over"]:
                    self.shufflers[row].append(int(new["shuffler"]))
                    assert new["player"] == new["opener"]
                    assert new["height"] == new["idle"] == 0


@pytest.mark.parametrize(
    "options", [{}, {"players": 2, "parties_per_match": 3}, {"max_idle_turns": 50, "reward": "loser", "players": 5}]
)
def test_r_4_15_r_10_2_s_2_match(options: dict[str, Any]) -> None:
    """R-4.15, R-10.2, S-2: the loser of a party shuffles the next and has one point more; the fewest points win.

    A stalled party costs no point, counts as played, and the same player shuffles again.
    """
    matches = Matches(60, 11, **options)
    parties = options.get("parties_per_match", 5)
    stalls = 0
    for row in range(60):
        losers, shufflers = matches.losers[row], matches.shufflers[row]
        assert len(losers) == len(shufflers) == parties
        for i in range(1, parties):
            assert shufflers[i] == (shufflers[i - 1] if losers[i - 1] is None else losers[i - 1])
        seats = matches.batch.seats
        points = [losers.count(seat) for seat in range(seats)]
        assert matches.batch.states["scores"][row, :seats].tolist() == points
        ranks = [1 + sum(p < own for p in points) for own in points]
        expected = shared_rewards(ranks, options.get("reward", "place"))
        assert matches.batch.rewards[row, :seats].tolist() == pytest.approx(expected)
        assert matches.batch.states["stalled"][row] == 0, "the match ends by its number of parties"
        stalls += losers.count(None)
    assert (stalls > 0) == ("max_idle_turns" in options)


def test_match_in_the_observation() -> None:
    """Points of all seats, clockwise from the observer, and the number of parties finished."""
    batch = games(20, 2, episode="match", players=3)
    layout = batch.layouts["observation"]
    for rows, _, _ in play(batch, 2):
        row = int(rows[-1])
        for seat in range(3):
            said = layout.describe(batch.views(np.array([seat]), np.array([row])).observation[0])
            scores = batch.states["scores"][row]
            assert said["points"].tolist() == [scores[(seat + i) % 3] for i in range(3)]
            assert said["parties"] == batch.states["parties"][row]
    assert "points" not in GAME.layouts(GAME.options())["observation"].slices


def test_r_10_2_the_next_party_keeps_nothing_of_the_last() -> None:
    """R-10.2: beside the score its state is that of a first party dealt from this stock by this shuffler."""
    s = Table("6C 7C", "", "", kon=[(1, "7S")], out={2: 1}, idle=9, episode="match").play("take").state
    assert (s["parties"], s["shuffler"]) == (1, 0)
    first = dealt(" ".join(PACK_52.names[c] for c in s["order"][:36]), 0, 3)
    score = ("rng", "moves", "scores", "episode", "parties")
    for name in set(GAME.dtype.names or ()) - set(score):
        np.testing.assert_array_equal(s[name], first[name], err_msg=name)


@pytest.mark.parametrize("episode", ["party", "match"])
@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_the_observation_is_as_long_as_its_layout_says(deck: int, players: int, episode: str) -> None:
    """S-6: for the rules of the table, which write their own parts behind it, too."""
    batch = games(1, 0, deck=deck, players=players, episode=episode)
    sizes = np.zeros(1, np.int64)
    _sizes(batch.states, sizes)
    assert sizes[0] == batch.layouts["observation"].size == batch.observation.shape[1]


@kernel("tests.shukh.sizes", (shukh.__file__,))
def _sizes(states, sizes):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        sizes[i] = shukh.observed_size(states[i])


def test_info() -> None:
    batch = Batch(GAME, GAME.options.of(episode="match", parties_per_match=2), 1)
    batch.reset([0])
    assert GAME.info(records(batch.states)[0])["parties"] == 0
    for _ in play(batch, 0):
        pass
    facts = GAME.info(records(batch.states)[0])
    assert facts["parties"] == 2
    assert sorted(facts["places"]) == [1, 2, 3, 4]
    assert facts["cards_left"].count(0) >= 3
