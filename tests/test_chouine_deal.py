"""Chouine's pack, deal, rewards and match: rules CH-1 ... CH-4, CH-21, CH-22 and the options."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from chouine_positions import at_trick, bold_games, games, play, rich_decks
from chouine_referee import CARD_POINTS, PACK, RANKS, rank_of
from scipy.stats import chisquare

from cardgym import rng
from cardgym.batch import ENCODINGS, Batch, playout
from cardgym.cards import PACK_32
from cardgym.errors import InvalidOption
from cardgym.games import chouine
from cardgym.games.chouine import GAME, POINTS, TRICKS

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always


def assert_uniform(counts: np.ndarray) -> None:
    """Are counts of equally likely things as even as they should be?"""
    assert counts.min() > 0
    assert chisquare(counts).pvalue > UNLIKELY


@functools.cache
def many_deals() -> np.ndarray:
    """States of 30 000 deals, nothing played."""
    return games(30_000, 7).states


# --- The deal --------------------------------------------------------------------------------


def test_ch_1_pack() -> None:
    """CH-1: 32 cards in ace-ten order with their points, 120 in all."""
    assert list(PACK_32.names) == PACK
    assert [GAME.actions[c].card for c in range(32)] == list(range(32))
    assert {rank: int(POINTS[i]) for i, rank in enumerate(RANKS)} == CARD_POINTS
    assert sum(CARD_POINTS[rank_of(c)] for c in PACK) == 120


def test_ch_2_lower_card_deals() -> None:
    """CH-2: the lower of the two cards drawn deals, suits ignored; equal ranks were drawn again."""
    s = many_deals()
    first, second = s["drawn"].T
    assert (first % 8 != second % 8).all()
    np.testing.assert_array_equal(s["dealer"], np.where(first % 8 < second % 8, 0, 1))
    assert_uniform(np.bincount(s["dealer"], minlength=2))
    assert (first // 8 == second // 8).any()
    assert (first // 8 != second // 8).any()


def test_ch_2_drawn_cards_are_equally_likely() -> None:
    """CH-2: every ordered pair of cards of different rank is as likely as any other."""
    first, second = many_deals()["drawn"].astype(int).T
    pairs = np.bincount(first * 32 + second, minlength=1024).reshape(32, 32)
    different = np.arange(32)[:, None] % 8 != np.arange(32)[None, :] % 8
    assert pairs[~different].sum() == 0
    assert_uniform(pairs[different])


@pytest.mark.parametrize("dealer", [0, 1])
def test_ch_2_reset_option_fixes_the_dealer(dealer: int) -> None:
    """CH-2: with the dealer given nobody draws for it."""
    s = games(50, 1, dealer=dealer).states
    assert (s["dealer"] == dealer).all()
    assert (s["drawn"] == -1).all()
    with pytest.raises(InvalidOption, match="dealer=2"):
        games(1, 1, dealer=2)


def test_ch_2_every_deal_episode_draws_anew() -> None:
    batch = games(400, 3)
    before = batch.states["dealer"].copy()
    batch.reset()
    assert (batch.states["drawn"] >= 0).all()
    assert 100 < (batch.states["dealer"] != before).sum() < 300


def test_ch_3_every_card_everywhere() -> None:
    """CH-3: the pack is whole, and every card is equally likely in each of its 32 places."""
    deck = many_deals()["deck"].astype(int)
    assert (np.sort(deck, axis=1) == np.arange(32)).all()
    for i in range(32):
        assert_uniform(np.bincount(deck[:, i], minlength=32))
    # no trace of the sorted pack: a card lies just above its successor as often as chance has it
    successions = (deck[:, 1:] - deck[:, :-1] == 1).sum(1)
    assert abs(successions.mean() - 31 / 32) < 0.03


def test_ch_3_cut() -> None:
    """CH-3: at least four cards in each part, all 25 places equally likely; the cut moves the top part below."""
    s = many_deals()
    assert (s["cut"].min(), s["cut"].max()) == (4, 28)
    assert_uniform(np.bincount(s["cut"], minlength=29)[4:])
    for seed in range(20):
        stream, shuffled = np.zeros(rng.WORDS, np.int64), np.arange(32, dtype=np.int8)
        rng.seed(stream, seed, 0)
        rng.shuffle(stream, shuffled, 32)
        state = games(1, seed, dealer=0).states[0]
        np.testing.assert_array_equal(state["deck"], np.roll(shuffled, -int(state["cut"])))


def test_ch_3_five_each_then_the_turn_up() -> None:
    """CH-3: one at a time from the dealer's opponent on; the 11th card is turned up; 21 lie face down across it."""
    s = many_deals()[:500]
    rows = np.arange(len(s))
    for i in range(32):
        place = s["place"][rows, s["deck"][:, i]]
        owner = (1 - s["dealer"]) if i % 2 == 0 else s["dealer"]
        np.testing.assert_array_equal(place, owner if i < 10 else (chouine.TURNED if i == 10 else chouine.STOCK))
    np.testing.assert_array_equal(s["trump"], s["deck"][:, 10] // 8)
    np.testing.assert_array_equal(s["under"], s["deck"][:, 10])
    assert ((s["place"] == chouine.STOCK).sum(1) == 21).all()


# --- Rewards ---------------------------------------------------------------------------------


def finished(**options: Any) -> Batch:
    generator = np.random.default_rng(12)
    batch = games(600, 50, rich_decks(600, generator), **options)
    for _ in play(batch, generator):
        assert (batch.rewards[~batch.over] == 0).all()
    return batch


def test_ch_20_win_reward() -> None:
    """CH-20: +1 to the higher total, -1 to the lower, 0 for equal totals; ``scores`` are the totals."""
    batch = finished()
    s = batch.states
    sign = np.where(s["deal_winner"] < 0, 0, np.where(s["deal_winner"] == 0, 1, -1))
    np.testing.assert_array_equal(batch.rewards, np.stack([sign, -sign], 1))
    np.testing.assert_array_equal(s["scores"], s["totals"])
    assert {-1, 0, 1} == set(sign.tolist())


def test_ch_20_margin_reward_and_scale() -> None:
    """CH-20, CH-19: half win or loss, half the margin in hundreds cut to one; a chouine counts in full."""
    batch = finished(reward="margin", reward_scale=2.5)
    s = batch.states
    cut = chouines = 0
    for row in range(batch.num_games):
        winner = int(s["deal_winner"][row])
        expected = [0.0, 0.0]
        if winner >= 0:
            difference = int(s["totals"][row, winner]) - int(s["totals"][row, 1 - winner])
            share = 1.0 if s["by_chouine"][row] else min(difference / 100, 1.0)
            cut += difference > 100
            chouines += bool(s["by_chouine"][row])
            expected[winner] = 2.5 * (0.5 + 0.5 * share)
            expected[1 - winner] = -expected[winner]
        assert batch.rewards[row].tolist() == pytest.approx(expected)
    assert cut > 5
    assert chouines > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quinte": 60}, "quinte=60 is not one of 50, 100"),
        ({"wins_per_manche": 4}, "wins_per_manche=4"),
        ({"manches": 2}, "manches=2"),
        ({"memory": "none"}, "memory='none'"),
        ({"episode": "match", "reward": "margin"}, "reward='margin' is for episode='deal'"),
        ({"jokers": 1}, "unknown option 'jokers'"),
    ],
)
def test_options_that_do_not_exist_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        GAME.options.of(**options)


# --- The match -------------------------------------------------------------------------------


class Deal(NamedTuple):
    """A finished deal of a match."""

    dealer: int
    drawn: list[int]  # the cards drawn for the deal, -1 where nobody drew
    winner: int  # -1: tied


class Matches:
    """Random matches and the deals they were made of.

    Attributes:
        batch: the finished matches.
        deals: the deals of each match, in order.
    """

    def __init__(self, n: int, seed: int, dealer: int | None = None, **options: Any) -> None:
        self.batch = games(n, seed, dealer=dealer, episode="match", **options)
        self.deals: list[list[Deal]] = [[] for _ in range(n)]
        begun: dict[int, tuple[int, list[int]]] = {}

        def finish(row: int) -> None:
            self.deals[row].append(Deal(*begun[row], int(self.batch.states["deal_winner"][row])))

        for rows, _ in play(self.batch, np.random.default_rng(seed), talk=0.3):
            assert (self.batch.rewards[rows] == 0).all()
            for row in rows[self.batch.states["log_length"][rows] == 0]:
                if row in begun:
                    finish(row)
                s = self.batch.states[row]
                begun[row] = (int(s["dealer"]), s["drawn"].tolist())
        for row in range(n):
            finish(row)

    def manches(self, row: int) -> list[list[Deal]]:
        """The deals of a match, manche by manche."""
        found: list[list[Deal]] = [[]]
        wins = [0, 0]
        for deal in self.deals[row]:
            if max(wins) == self.batch.options.wins_per_manche:
                found.append([])
                wins = [0, 0]
            found[-1].append(deal)
            if deal.winner >= 0:
                wins[deal.winner] += 1
        return found


@functools.cache
def three_manches() -> Matches:
    return Matches(150, 21, manches=3)


def test_ch_4_the_deal_alternates_unless_tied() -> None:
    """CH-4: after a decided deal the other player deals, after a tied one the same; only the first is drawn for."""
    ties = 0
    for row in range(150):
        for manche in three_manches().manches(row):
            for deal, following in itertools.pairwise(manche):
                assert following.dealer == (deal.dealer if deal.winner < 0 else 1 - deal.dealer)
                assert following.drawn == [-1, -1]
                ties += deal.winner < 0
    assert ties > 3


def test_ch_21_dealers_of_three_manches() -> None:
    """CH-21: who drew the higher card deals first in the second manche; for the third cards are drawn again."""
    thirds = []
    for row in range(150):
        manches = three_manches().manches(row)
        assert min(manches[0][0].drawn) >= 0
        assert manches[1][0].dealer == 1 - manches[0][0].dealer
        assert manches[1][0].drawn == [-1, -1]
        if len(manches) == 3:
            first, second = manches[2][0].drawn
            assert manches[2][0].dealer == (0 if first % 8 < second % 8 else 1)
            thirds.append((manches[0][0].dealer, manches[2][0].dealer))
    assert len(thirds) > 40
    assert len(set(thirds)) == 4  # the third manche's dealer does not follow from the first's


def test_ch_21_second_manche_when_the_first_dealer_was_given() -> None:
    """CH-21, CH-2: a dealer fixed by the reset option counts as the drawer of the lower card."""
    fixed = Matches(20, 24, dealer=1, manches=3)
    for row in range(20):
        manches = fixed.manches(row)
        assert manches[0][0][:2] == (1, [-1, -1])
        assert manches[1][0][:2] == (0, [-1, -1])


@pytest.mark.parametrize(("wins_per_manche", "manches"), [(3, 1), (5, 1), (3, 3), (5, 3)])
def test_ch_21_first_to_so_many_wins(wins_per_manche: int, manches: int) -> None:
    """CH-21: a match ends with the deal that decides it, neither before nor after, and pays then."""
    matches = Matches(25, 22, wins_per_manche=wins_per_manche, manches=manches, reward_scale=3.0)
    for row in range(25):
        won = [0, 0]
        for manche in matches.manches(row):
            assert max(won) <= manches // 2, "the match was decided before"
            winners = [deal.winner for deal in manche]
            assert winners.count(winners[-1]) == wins_per_manche
            assert winners.count(1 - winners[-1]) < wins_per_manche
            won[winners[-1]] += 1
        winner = int(won[1] > won[0])
        assert won[winner] == manches // 2 + 1
        s = matches.batch.states[row]
        assert s["manches_won"].tolist() == won
        assert s["deals"] == len(matches.deals[row])
        assert s["scores"].tolist() == [sum(d.winner == seat for d in matches.deals[row]) for seat in range(2)]
        assert matches.batch.rewards[row, winner] == 3.0
        assert matches.batch.rewards[row, 1 - winner] == -3.0


def test_ch_21_points_are_counted_anew_each_deal() -> None:
    """CH-21: points never carry over: a deal begins at nothing, and without announcements 130 points end it."""
    batch = games(20, 23, episode="match")
    checked = 0
    for rows, _ in play(batch, np.random.default_rng(1), talk=0.0):
        s = batch.states[rows]
        new = s["log_length"] == 0
        assert (s["card_points"][new] == 0).all()
        assert (s["announced_points"] == 0).all()
        assert (s["totals"][new & (s["deals"] > 0)].sum(1) == 130).all()
        checked += (new & (s["deals"] > 0)).sum()
    assert checked > 40


def test_ch_21_the_next_deal_keeps_nothing_of_the_last() -> None:
    """CH-21: beside the score the state is that of a match that begins with this dealer and this deck."""
    table = at_trick(3, "AH 10H KH QH JH", "8D 9D JD 7C 8C", "JS", episode="match").do("chouine H", "JH")
    s = table.batch.states
    for name in ("quinte_cards", "swapped_in", "swapped_by", "called", "log_seat", "log_action", "proven", "trick_of"):
        s[name] = 1
    table.do("8D")
    assert (s["deals"][0], s["log_length"][0]) == (1, 0)
    first = games(1, 0, s["deck"], int(s["dealer"][0]), episode="match").states
    score = ("rng", "moves", "scores", "cut", "deals", "first_dealer", "wins", "totals", "deal_winner", "by_chouine")
    for name in set(GAME.dtype.names or ()) - set(score):
        np.testing.assert_array_equal(s[name], first[name], err_msg=name)


# --- Decisions -------------------------------------------------------------------------------


def test_ch_18_number_of_decisions() -> None:
    """CH-18: 32 to 39 decisions unless a chouine ends the deal before."""
    decisions = bold_games().states["log_length"]
    to_the_end = decisions[bold_games().states["by_chouine"] == 0]
    assert to_the_end.min() >= 32
    assert to_the_end.max() <= 39
    states = games(20_000, 31).states
    assert playout(GAME, states, 5) == states["moves"].sum()
    plain = states["log_length"][states["by_chouine"] == 0]
    assert (plain.min(), plain.max() <= 39) == (32, True)
    assert (states["moves"] == states["log_length"]).all()
    assert (states["trick"][states["by_chouine"] == 0] == TRICKS).all()


def test_ch_22_the_move_count_is_in_no_encoding() -> None:
    """CH-22: states that differ in nothing but the number of moves look alike to everybody."""
    batch = games(50, 41)
    for _, (rows, _) in zip(range(20), play(batch, np.random.default_rng(2))):
        for seat in range(2):
            before = batch.views(np.full(len(rows), seat), rows, ENCODINGS)
            batch.states["moves"] += 7
            after = batch.views(np.full(len(rows), seat), rows, ENCODINGS)
            batch.states["moves"] -= 7
            for one, other in zip(before, after):
                np.testing.assert_array_equal(one, other)
    for layout in batch.layouts.values():
        assert not any("moves" in segment.name for segment in layout.segments)
