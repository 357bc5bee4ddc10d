"""Chouine's hidden cards dealt anew: nothing that a seat knows changes, everything stays possible, chances are even."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from chouine_positions import Table, at_trick, games, place_decks, play, rich_decks
from chouine_referee import BRISQUES, PACK
from positions import log_of
from scipy.stats import chisquare

from cardgym.batch import ENCODINGS, Batch, resample
from cardgym.games.chouine import GAME, LOG

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always


class Redealt(NamedTuple):
    """Positions of random play and what they became; one row per position and observing seat."""

    before: Batch
    after: Batch
    seats: np.ndarray
    dealt: np.ndarray  # the states just after their deal


def redealt(n: int, seed: int, talk: float) -> Redealt:
    """All positions of ``n`` games, over ones included, redealt for both seats."""
    generator = np.random.default_rng(seed)
    batch = games(n, seed, rich_decks(n, generator))
    start = batch.states.copy()
    positions, origins = [], []
    for rows, _ in play(batch, generator, talk=talk):
        positions.append(batch.states[rows])
        origins.append(rows)
    positions.append(batch.states.copy())
    origins.append(np.arange(n))
    states, dealt = np.concatenate(positions), start[np.concatenate(origins)]
    states, dealt = np.repeat(states, 2), np.repeat(dealt, 2)
    seats = np.arange(len(states)) % 2
    before, after = (Batch(GAME, num_games=len(states), encodings=ENCODINGS) for _ in range(2))
    before.states[:], after.states[:] = states, states
    resample(GAME, after.states, seats, seed)
    return Redealt(before, after, seats, dealt)


@pytest.fixture(scope="module", params=[0.9, 0.3], ids=["talkative", "silent"])
def positions(request: pytest.FixtureRequest) -> Redealt:
    return redealt(600, 17, request.param)


def test_ch_15_no_leak_observer_sees_the_same(positions: Redealt) -> None:
    """CH-15, CH-22: observation, history, mask, drawing and who acts are byte for byte what they were."""
    before, after, seats, _ = positions
    for one, other in zip(
        before.views(seats, encodings=("observation", "history")),
        after.views(seats, encodings=("observation", "history")),
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(before.states["player"], after.states["player"])
    for row in range(0, before.num_games, 7):
        seat = int(seats[row])
        assert GAME.render(before.states[row], seat) == GAME.render(after.states[row], seat)


def test_hidden_cards_and_the_future_do_change(positions: Redealt) -> None:
    before, after, seats, _ = positions
    early = (before.states["trick"] < 10) & (before.states["over"] == 0)
    opponents = 1 - seats[:, None]
    moved = ((before.states["place"] == opponents) != (after.states["place"] == opponents)).any(1)
    assert moved[early].mean() > 0.8
    assert (before.states["rng"] != after.states["rng"]).any(1).all()
    assert (before.states["deck"] != after.states["deck"]).any(1)[early].mean() > 0.99


def test_ch_8_recorded_deal_replays_from_the_new_deck(positions: Redealt) -> None:
    """Played anew from the redealt deck, every recorded action is legal and leads to that very state.

    So every card that the opponent played had reached him, every announced combination was whole in his hand
    (CH-15), the seven was there to be swapped (CH-11), and the same facts follow.
    """
    _, after, _, dealt = positions
    replay = Batch(GAME, num_games=len(dealt), encodings=ENCODINGS)
    replay.states[:] = dealt
    place_decks(replay.states, after.states["deck"])
    views = replay.views(replay.states["player"])
    replay.mask[:], replay.players[:], replay.started[:] = views.mask, replay.states["player"], True
    for i in range(LOG):
        rows = np.flatnonzero(after.states["log_length"] > i)
        if not len(rows):
            break
        np.testing.assert_array_equal(replay.states["player"][rows], after.states["log_seat"][rows, i])
        replay.step(after.states["log_action"][rows, i], rows)
    for name in GAME.dtype.names or ():
        if name not in ("rng", "rewards"):
            np.testing.assert_array_equal(replay.states[name], after.states[name], err_msg=name)
    s = after.states
    assert len(s) > 40_000
    assert (s["swapped_by"] >= 0).sum() > 1000
    assert (s["announced"][:, :, 4] > 0).sum() > 500
    assert (s["pending"] >= 0).sum() > 500


@pytest.mark.parametrize("to_trick_12", [False, True])
def test_ch_8_ch_11_ch_15_every_new_deck_tells_the_same_past(to_trick_12: bool) -> None:
    """CH-8, CH-11, CH-15: cards seen early were there early, the seven was swapped, the combinations were whole; who
    lost trick 11 got the seven from under the stock."""
    table = at_trick(6, "7S KH QH JH 9C", "8D 9D JD 7C 8C", "AS").do("swap", "tierce H", "JH", "8D", "9C")
    while to_trick_12 and table.s.trick < 12:  # seat 0 plays high, seat 1 low
        cards = np.flatnonzero(table.batch.mask[0, :32])
        cards = sorted(cards, key=lambda c: (c // 8 == table.s.trump, c % 8))
        table.batch.step(np.array([cards[-1] if table.s.player == 0 else cards[0]]))
    assert table.s.place[PACK.index("7S")] == (1 if to_trick_12 else 3)
    names = [name for _, name in log_of(GAME, table.batch.states[0])]
    for seat in range(2):
        for world in worlds(table, seat, 12):
            again = Table([PACK[c] for c in world["deck"]], int(world["dealer"])).do(*names)
            for name in set(GAME.dtype.names or ()) - {"rng"}:
                np.testing.assert_array_equal(world[name], again.batch.states[0][name], err_msg=name)


def test_redealing_a_match_leaves_its_score() -> None:
    """CH-21: between deals and at the end of a match too, only hidden cards change."""
    batch = games(20, 19, episode="match")
    keep = [n for n in GAME.dtype.names or () if n not in ("rng", "deck", "place")]
    for rows, _ in play(batch, np.random.default_rng(19)):
        states = batch.states[rows]
        resample(GAME, states, np.zeros(len(rows), int), 1)
        assert all((states[name] == batch.states[rows][name]).all() for name in keep)
    final = batch.states.copy()
    before = batch.views(np.ones(20, int), encodings=ENCODINGS)
    resample(GAME, batch.states, np.ones(20, int), 1)
    after = batch.views(np.ones(20, int), encodings=ENCODINGS)
    np.testing.assert_array_equal(before.history, after.history)
    np.testing.assert_array_equal(before.observation, after.observation)
    assert (final["deck"] != batch.states["deck"]).any()


# --- Chances ---------------------------------------------------------------------------------


def worlds(table: Table, seat: int, n: int = 20_000) -> np.ndarray:
    """``n`` redeals of one position."""
    states = np.repeat(table.batch.states, n)
    resample(GAME, states, np.full(n, seat), 23)
    return states


def assert_even(found: Counter[object], possible: int) -> None:
    """Did each of ``possible`` equally likely worlds come as often as chance has it?"""
    assert len(found) == possible
    assert chisquare(list(found.values())).pvalue > UNLIKELY


def hands(states: np.ndarray, seat: int) -> Counter[object]:
    """How often the seat holds which cards."""
    return Counter(frozenset(PACK[c] for c in np.flatnonzero(s == seat)) for s in states["place"])


def test_opponents_cards_are_uniform_over_what_is_possible() -> None:
    """After a tierce and a swap two of his cards are unknown: every pair of unseen cards is as likely as any other."""
    table = at_trick(6, "7S KH QH JH 9C", "8D 9D JD 7C 8C", "AS").do("swap", "tierce H", "JH", "8D")
    states = worlds(table, 1)
    known = {"AS", "KH", "QH"}
    unseen = set(table.seen(1)["unseen"])
    assert table.s.place.tolist().count(2) == len(unseen) - 2
    found = hands(states, 0)
    assert all(known < hand and hand - known <= unseen for hand in found)
    assert_even(found, len(list(itertools.combinations(unseen, 2))))


def test_stock_is_uniform_over_what_is_unseen() -> None:
    """Each place of the stock holds each unseen card equally often."""
    table = at_trick(6, "7S KH QH JH 9C", "8D 9D JD 7C 8C", "AS").do("9C")
    states = worlds(table, 1)
    unseen = set(table.seen(1)["unseen"])
    for place in range(int(table.s.next_draw), 32):
        assert_even(Counter(PACK[c] for c in states["deck"][:, place]), len(unseen))


def test_every_unseen_card_comes_next_in_some_world() -> None:
    """As above, in few worlds: from the stock, and into the hand."""
    table = at_trick(6, "7S KH QH JH 9C", "8D 9D JD 7C 8C", "AS").do("9C")
    states = worlds(table, 1, 250)
    unseen = set(table.seen(1)["unseen"])
    for place in (int(table.s.next_draw), 31):
        assert {PACK[c] for c in states["deck"][:, place]} == unseen
    assert set.union(*(set(hand) for hand in hands(states, 0))) == unseen


def test_waiting_quinte_leaves_brisques_only() -> None:
    """CH-15: while the quinte waits to be shown, his hand is any four or five unseen brisques, evenly."""
    table = at_trick(3, "AC 10C AD 10D AH", "10H 8D 9D 7C 8C", "JS", stock="AS 10S").do("quinte")
    unseen = BRISQUES - {"10H"}
    assert_even(hands(worlds(table, 1), 0), len(list(itertools.combinations(unseen, 5))))
    table.do("AC")
    assert_even(hands(worlds(table, 1), 0), len(list(itertools.combinations(unseen - {"AC"}, 4))))
    table.do("7C")
    assert all({"10C", "AD", "10D", "AH"} <= hand for hand in hands(worlds(table, 1, 50), 0))


def test_order_in_which_he_received_his_cards_is_uniform() -> None:
    """Cards played early came early: each order of the past that fits is as likely as any other."""
    found, fits = orders_of_the_past(20_000)
    assert_even(found, len(fits))
    assert set(found) == set(fits)


def test_every_order_in_which_he_received_his_cards_comes() -> None:
    """As above, in few worlds: each card seen comes at each place in time."""
    found, fits = orders_of_the_past(150)
    assert set(found) <= set(fits)
    assert [{order[k] for order in found} for k in range(4)] == [set(range(n)) for n in (5, 6, 7, 7)]


def orders_of_the_past(n: int) -> tuple[Counter[object], list[tuple[int, ...]]]:
    """When, in ``n`` worlds, four cards seen in trick 1, 2 and 3 came into the hand, and all orders that fit."""
    table = at_trick(3, "KH QH JH 9C 8S", "8D 9D JD 7C 8C", "AS").do("marriage H", "KH")
    past = [PACK[c] for c in np.flatnonzero((table.s.played_by == 1) & (table.s.trick_of < 3))]
    first, second = sorted(past, key=lambda c: table.s.trick_of[PACK.index(c)])
    found: Counter[object] = Counter()
    opponent_places = [i for i in range(10) if i % 2 == (1 if table.s.dealer == 0 else 0)]
    for trick in (1, 2):
        opponent_places.append(9 + 2 * trick + int(table.s.winner_of[trick] != 0))
    for deck in worlds(table, 1, n)["deck"]:
        at = {PACK[deck[i]]: k for k, i in enumerate(opponent_places)}
        found[at[first], at[second], at["KH"], at["QH"]] += 1
    fits = [places for places in itertools.permutations(range(7), 4) if places[0] < 5 and places[1] < 6]
    return found, fits


def test_all_is_known_once_the_stock_is_gone() -> None:
    """CH-9: from trick 12 on each player can tell the other's hand: redeals only shuffle the past."""
    table = at_trick(12, "AS KD 9H 8C JD", "10H 9S QH 8D 7C", "9S").do("AS")
    for seat in range(2):
        assert len(hands(worlds(table, seat, 200), 1 - seat)) == 1
