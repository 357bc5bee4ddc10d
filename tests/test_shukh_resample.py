"""Shukh's ``resample`` and what seats see: S-4, S-6, and what is consistent with an unremembered deal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from shukh_facts import FACTS, TABLE_FACTS
from shukh_positions import PAIRS, Table, games, play

from cardgym import testing
from cardgym.batch import Batch, resample
from cardgym.cards import PACK_52
from cardgym.games.shukh import GAME, NINE_D, QUEEN_H
from cardgym.kernel import records

UNLIKELY = 1e-4  # the seeds are fixed, so a test that passes once passes always


def redealt(states: np.ndarray, seat: int, seed: int) -> np.ndarray:
    world = states.copy()
    resample(GAME, world, np.full(len(world), seat), seed)
    return world


def positions(n: int, seed: int, **options: Any) -> np.ndarray:
    """States from all parts of random games, the ends too."""
    batch = games(n, seed, **options)
    found = [batch.states.copy()]
    for move, (rows, _, _) in enumerate(play(batch, seed)):
        found.append(batch.states[rows[(rows + move) % 17 == 0]].copy())
    return np.concatenate([*found, batch.states])


@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_s_6_a_perfect_memory_knows_all(deck: int, players: int) -> None:
    """S-6: ``state`` equals ``observation``, and resampling renews the random stream and nothing else."""
    states = positions(20, 0, deck=deck, players=players)
    batch = Batch(GAME, GAME.options.of(deck=deck, players=players), len(states), ("observation", "state"))
    batch.states[:] = states
    views = batch.views(states["player"], None, ("observation", "state"))
    np.testing.assert_array_equal(views.observation, views.state)
    for seat in range(players):
        world = redealt(states, seat, 7)
        assert testing.fields_equal(world, states, ("rng",)).all()
        assert (world["rng"] != states["rng"]).any(axis=1).all()


def test_s_4_the_last_card_is_known_by_elimination() -> None:
    """S-4, S-6, R-2.7: everybody's observation shows every hand as soon as the deal is done."""
    batch = games(50, 3)
    for seat in range(4):
        views = batch.views(np.full(50, seat)).observation
        for row in range(50):
            said = testing.parts(batch.layouts["observation"], views[row])
            for i in range(3):
                np.testing.assert_array_equal(said["hands"][i], batch.states["place"][row] == (seat + 1 + i) % 4)


@pytest.mark.parametrize(("deck", "players"), PAIRS)
def test_s_6_memory_of_what_lies_open(deck: int, players: int) -> None:
    """S-6, ``memory="table"``: other hands are dealt anew, sizes kept; own hand, kon and discard stay."""
    states = positions(30, 1, deck=deck, players=players, memory="table")
    batch = Batch(GAME, GAME.options.of(deck=deck, players=players, memory="table"), len(states))
    for seat in range(players):
        world = redealt(states, seat, 9)
        views = []
        for s in (states, world):
            batch.states[:] = s
            views.append(batch.views(np.full(len(states), seat)))
        np.testing.assert_array_equal(views[0].observation, views[1].observation)
        np.testing.assert_array_equal(views[0].mask, views[1].mask)
        others = (states["place"] < 8) & (states["place"] != seat)
        np.testing.assert_array_equal(np.where(others, 0, states["place"]), np.where(others, 0, world["place"]))
        for other in range(players):
            np.testing.assert_array_equal((world["place"] == other).sum(1), states["held"][:, other])
        assert testing.fields_equal(states, world, ("rng", "place", "order", "top", "below")).all()
        assert (world["order"] == -1).all(), "how it was dealt is forgotten"
        holding = sum((states["held"][:, o] > 0).astype(int) for o in range(players) if o != seat)
        moved = (states["place"] != world["place"]).any(axis=1)
        assert not moved[holding < 2].any(), "one other hand follows by elimination"
        if players > 2:
            assert moved[holding >= 2].mean() > 0.9


def test_s_6_all_deals_are_equally_likely() -> None:
    """S-6: three unseen cards in two hands, one and two."""
    table = Table("9S 6C", "8C", "KC QC", kon=[(0, "7S")], memory="table")
    worlds = redealt(np.repeat(table.batch.states, 6000), 0, 1)
    held = np.bincount((worlds["place"] == 1).argmax(axis=1), minlength=52)
    counts = held[[PACK_52.card(c) for c in ("8C", "KC", "QC")]]
    assert counts.sum() == 6000
    assert chisquare(counts).pvalue > UNLIKELY


def test_s_6_the_unseen_cards_come_into_every_other_hand() -> None:
    """S-6: and into no other place; hands keep their sizes, whoever is on turn and whoever has left."""
    for turn in range(4):
        hands = ("9S 6C QH", "8C 9C", "KC QC 7C", "", "")
        table = Table(*hands, kon=[(3, "7S")], turn=turn, out={4: 1}, memory="table")
        true = table.batch.states[0]
        for seat in range(4):
            worlds = redealt(np.repeat(table.batch.states, 100), seat, turn)
            unseen = (true["place"] < 8) & (true["place"] != seat)
            assert (worlds["top"] == -1).all(), "how they were dealt is forgotten"
            assert (worlds["below"] == -1).all()
            assert (worlds["place"][:, ~unseen] == true["place"][~unseen]).all()
            for other in range(4):
                here = worlds["place"] == other
                assert (here.sum(axis=1) == true["held"][other]).all()
                if other != seat and true["held"][other] > 0:
                    assert here[:, unseen].any(axis=0).all()


def test_r_5_1_the_opener_holds_the_nine_of_diamonds() -> None:
    """R-5.1: known at his first decision, forgotten afterwards."""
    batch = games(300, 4, memory="table")
    for seat in range(4):
        world = redealt(batch.states, seat, 3)
        assert (world["place"][:, NINE_D] == world["opener"]).all()
    kept = batch.mask.copy()
    kept[:, NINE_D] = 0
    batch.step(kept.argmax(axis=1))
    world = redealt(batch.states, 0, 3)
    others = batch.states["opener"] != 0
    assert 0.2 < (world["place"][:, NINE_D] != world["opener"])[others].mean() < 0.9


def test_s_13_who_leads_does_not_hold_the_queen_of_hearts_alone() -> None:
    """S-13: he would have been passed over; all other deals are equally likely."""
    table = Table("9S 6C", "8C", "QH QC", turn=1, memory="table")
    worlds = redealt(np.repeat(table.batch.states, 4000), 0, 1)
    assert (worlds["place"][:, QUEEN_H] == 2).all()
    led = np.bincount((worlds["place"] == 1).argmax(axis=1), minlength=52)
    counts = led[[PACK_52.card(c) for c in ("8C", "QC")]]
    assert counts.sum() == 4000
    assert chisquare(counts).pvalue > UNLIKELY
    beating = Table("9S 6C", "8C", "QH QC", kon=[(0, "7C")], turn=1, memory="table")
    worlds = redealt(np.repeat(beating.batch.states, 500), 0, 1)
    assert 0.2 < (worlds["place"][:, QUEEN_H] == 1).mean() < 0.5, "on an open kon he may hold it"


@pytest.mark.parametrize("players", [2, 3, 6])
def test_every_world_can_be_played(players: int) -> None:
    """Whoever is to act has a legal action in every world."""
    states = positions(60, 2, players=players, memory="table")
    states = states[states["over"] == 0]
    batch = Batch(GAME, GAME.options.of(players=players, memory="table"), len(states))
    for seat in range(players):
        batch.states[:] = redealt(states, seat, 5)
        assert batch.views(states["player"]).mask.any(axis=1).all()


def test_s_6_drawing() -> None:
    """The text shows what the seat knows: all hands, or its own and covered cards."""
    for memory, covered in (("perfect", 0), ("table", 6)):
        table = Table("9S 6C", "8C 9C", "KC QC", "JC 10C", kon=[(0, "7S")], memory=memory)
        assert GAME.render(table.batch.states, 1).count("▒▒") == covered
        assert "▒▒" not in GAME.render(table.batch.states)
        assert "7♠ (seat 0)" in GAME.render(table.batch.states, 1)
    finished = games(1, 0, players=2)
    for _ in play(finished, 0):
        pass
    drawn = GAME.text(records(finished.states)[0], None)
    assert "place 1" in drawn
    assert "over" in drawn


@pytest.mark.parametrize("memory", ["perfect", "table"])
@pytest.mark.parametrize(("deck", "players"), [(36, 2), (36, 6), (52, 8)])
def test_conformance_of_all_sizes(deck: int, players: int, memory: str) -> None:
    """The checks of leaks and omissions with the fewest and the most players."""
    options = {"deck": deck, "players": players, "memory": memory, "max_idle_turns": 200}
    testing.check_leaks(GAME, games=3, drawings=20, **options)
    testing.check_facts(GAME, TABLE_FACTS if memory == "table" else FACTS, games=4, most=60, **options)
