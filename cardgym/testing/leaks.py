"""The check that a seat sees no more than it may."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardgym.batch import Views
from cardgym.game import Game
from cardgym.kernel import records
from cardgym.testing.policies import POLICIES, nth_legal, words
from cardgym.testing.states import continued, differing, fields_equal, other_world, seen
from cardgym.testing.subjects import Subject, subject
from cardgym.testing.walks import Trail, walk

FEW_DEALS_DRAWN = 100
"""How often hidden cards are dealt anew, before it is said that they do not move, in a game whose deals are listed."""


def check_leaks(game: str | Game, *, games: int = 100, seed: int = 0, drawings: int = 100, **options: Any) -> None:
    """No seat sees more than it may: ``resample`` changes nothing that the seat sees.

    For every state of random games of every policy and every seat, two resamples leave the observation, mask, history
    and (for ``drawings`` of the states) the scene that is drawn for that seat the same, as well as who acts, the
    number of moves, the rewards and the rule options.  They renew the random stream, differ from each other in it,
    and are the same for the same seed.  In every state in which all of a fresh deal is hidden, the first decision,
    hidden cards do move.  Whose turn it is after an action follows from what the others see: it is the same in both
    worlds, unless chance came in or a showdown ended the game in just one of them
    (:attr:`cardgym.game.Game.showdown`).
    """
    s = subject(game, **options)
    for policy in POLICIES:
        trail = walk(s, policy, games, seed)
        drawn = np.unique(np.linspace(0, len(trail.states) - 1, drawings).astype(np.int64))
        for seat in range(s.seats):
            worlds = [other_world(s, trail.states, seat, seed + k) for k in (1, 2, 1)]
            sight = seen(s, trail.states, seat, _KNOWN)
            scenes = {k: s.game.scene(records(trail.states)[k], seat) for k in drawn}
            for world in worlds[:2]:
                _check_same_view(s, trail, sight, world, seat)
                for k, true in scenes.items():
                    other = s.game.scene(records(world)[k], seat)
                    assert true == other, f"{s}: the drawing leaks: {trail.where(k)}, seat={seat}\n{true}\n{other}"
            _check_renewed(s, trail, worlds, seat)
            _check_same_turn(s, trail, seat, seed)


_KNOWN = ("observation", "history")  # the encodings of what a seat knows


def _check_same_view(s: Subject, trail: Trail, true: Views, world: np.ndarray, seat: int) -> None:
    other = seen(s, world, seat, _KNOWN)
    for name in _KNOWN:
        a, b = getattr(true, name), getattr(other, name)
        for k in np.flatnonzero((a != b).any(axis=1))[:1]:
            part = differing(s.layouts[name], a[k], b[k])
            raise AssertionError(f"{s}: {name} leaks {part}: {trail.where(k)}, seat={seat}")
    for k in np.flatnonzero((true.mask != other.mask).any(axis=1))[:1]:
        a, b = s.game.legal_names(true.mask[k]), s.game.legal_names(other.mask[k])
        raise AssertionError(f"{s}: the mask leaks, {a} and {b}: {trail.where(k)}, seat={seat}")
    header = ("rewards", "scores", "moves", "seats", "player", "over", "stalled")
    for name in (*header, *(f.name for f in dataclasses.fields(s.options))):
        same = (trail.states[name] == world[name]).reshape(len(world), -1).all(axis=1)
        for k in np.flatnonzero(~same)[:1]:
            raise AssertionError(f"{s}: resample changes {name!r}: {trail.where(k)}, seat={seat}")


def _check_renewed(s: Subject, trail: Trail, worlds: Sequence[np.ndarray], seat: int) -> None:
    first, second, again = worlds
    for k in np.flatnonzero(~fields_equal(first, again))[:1]:
        raise AssertionError(f"{s}: resample differs for the same seed: {trail.where(k)}, seat={seat}")
    for a, b in ((trail.states, first), (trail.states, second), (first, second)):
        for k in np.flatnonzero((a["rng"] == b["rng"]).all(axis=1))[:1]:
            raise AssertionError(f"{s}: resample keeps the random stream: {trail.where(k)}, seat={seat}")
    start = np.flatnonzero((trail.moves == 0) & _hides(s, trail.states, seat))
    if not len(start):
        return
    true = seen(s, trail.states[start], seat).state
    # In a game with few deals a fresh one is often the same: there more worlds are drawn.
    few = FEW_DEALS_DRAWN if s.game.deals is not None else 0
    more = (other_world(s, trail.states[start], seat, 1000 + k) for k in range(few))
    moved = np.zeros(len(start), bool)
    for world in itertools.chain((first[start], second[start]), more):
        moved |= (true != seen(s, world, seat).state).any(axis=1)
        if moved.all():
            break
    for k in np.flatnonzero(~moved)[:1]:
        raise AssertionError(f"{s}: resample moves no hidden card: {trail.where(start[k])}, seat={seat}")


def _hides(s: Subject, states: np.ndarray, seat: int) -> np.ndarray:
    """Which states hold something that the seat does not see: were it to act, ``state`` would say more than
    ``observation``.  Bool, shape (n,)."""
    acting = states.copy()
    acting["player"] = seat
    view = seen(s, acting, seat)
    if view.state.shape != view.observation.shape:
        return np.ones(len(states), bool)
    return (view.state != view.observation).any(axis=1)


def _check_same_turn(s: Subject, trail: Trail, seat: int, seed: int) -> None:
    """After an action that another seat may take in two worlds, the same seat is next.

    The turn may follow from any public fact, also from one that an option ``memory`` leaves out of the observation;
    so the worlds are those of an observer who remembers all.
    """
    remembered = trail.states.copy()
    if "memory" in (s.game.dtype.names or ()):
        remembered["memory"] = 0
    world = other_world(s, remembered, seat, seed + 1)
    acting = trail.states["player"]
    both = seen(s, trail.states, acting, ()).mask * seen(s, world, acting, ()).mask
    rows = np.flatnonzero(both.any(axis=1))
    actions = nth_legal(both[rows], words(trail.seeds[rows], int(seat)))
    after = [_stepped(s, states[rows], actions) for states in (trail.states, world)]
    before = (trail.states[rows], world[rows])
    chance = np.zeros(len(rows), bool)
    for old, new in zip(before, after, strict=True):
        chance |= (old["rng"] != new["rng"]).any(axis=1)
    same = (after[0]["player"] == after[1]["player"]) & (after[0]["over"] == after[1]["over"])
    for k in np.flatnonzero(~same & ~chance):
        if _parted_by_showdown(s, *(states[k] for states in after)):
            continue
        action = s.game.actions[actions[k]].name
        raise AssertionError(
            f"{s}: who acts after {action} depends on hidden cards: {trail.where(rows[k])}, seat={seat}"
        )


def _parted_by_showdown(s: Subject, one: np.void, other: np.void) -> bool:
    """Has a showdown ended the game in one of two worlds, while in the other it goes on?"""
    if s.game.showdown is None or bool(one["over"]) == bool(other["over"]):
        return False
    ended = one if one["over"] else other
    return s.game.showdown(records(ended.reshape(1))[0])


def _stepped(s: Subject, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Other states after one legal action each."""
    batch = continued(s, states)
    batch.step(actions)
    return batch.states
