"""Conformance tests as plain functions, for the games in the box and for your own.

Every check takes an environment id or a :class:`cardgym.game.Game`, and rule options::

    from cardgym.testing import check_game

    check_game("cardgym/Chouine-v0", memory="table")
    check_game(my_game)

:func:`check_game` runs them all.  A failure is an ``AssertionError`` that says how to see it again: play policy,
seed, move number and seat, for :func:`state_at`, and the part of the layout that differs.

Play comes from a few policies (:data:`POLICIES`) whose choices depend on nothing but the game's seed, the move
number and the legal actions, so a game found at fault in a batch of thousands can be replayed alone.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import hashlib
import io
import itertools
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import RecordConstructorArgs
from gymnasium.utils import env_checker as gymnasium_checker

import cardgym
from cardgym.batch import ENCODINGS, Batch, Views, resample
from cardgym.envs import CardEnv, CardVectorEnv
from cardgym.errors import CardGymError, EpisodeOver, IllegalAction, InvalidAction, InvalidOption, require
from cardgym.game import Game, Layout, Options
from cardgym.kernel import records

LIMIT = 100_000
"""Most decisions of a game under test; more is taken for a game without end."""


# --- What is tested --------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A game under given rule options, in every form that the library offers."""

    game: Game
    options: Options
    given: str | Game
    rules: Mapping[str, Any]

    def __str__(self) -> str:
        name = self.given if isinstance(self.given, str) else self.game.name
        return f"{name} {dict(self.rules)}" if self.rules else name

    @functools.cached_property
    def seats(self) -> int:
        return self.game.seats(self.options)

    @functools.cached_property
    def layouts(self) -> Mapping[str, Layout]:
        return self.game.layouts(self.options)

    @property
    def encodings(self) -> tuple[str, ...]:
        return tuple(e for e in ENCODINGS if e in self.layouts)

    def batch(self, num_games: int, threads: int = 1) -> Batch:
        return Batch(self.game, self.options, num_games, self.encodings, threads)

    def made(self, **kwargs: Any) -> gymnasium.Env[Any, Any]:
        """The single environment as ``gymnasium.make`` gives it."""
        spec: str | EnvSpec
        if isinstance(self.given, str):
            spec = cardgym.checked_id(self.given)
        else:
            # A function, since Gymnasium copies what it is given and a game must stay the same object.
            def entry_point(**arguments: Any) -> CardEnv:
                return CardEnv(self.game, **arguments)

            spec = EnvSpec(f"cardgym/{self.game.name}-v0", entry_point=entry_point)
        return gymnasium.make(spec, **{**self.rules, **kwargs})

    def single(self, **kwargs: Any) -> CardEnv:
        env = self.made(**kwargs).unwrapped
        assert isinstance(env, CardEnv)
        return env

    def vector(self, num_envs: int, **kwargs: Any) -> CardVectorEnv:
        return CardVectorEnv(self.game, num_envs=num_envs, **self._all_rules(), **kwargs)

    def _all_rules(self) -> dict[str, Any]:
        return {f.name: getattr(self.options, f.name) for f in dataclasses.fields(self.options)}


def subject(game: str | Game, **options: Any) -> Subject:
    """What the checks work on: a game with its options, from an environment id or the game itself.

    Raises:
        UnknownGame, InvalidOption: as :func:`cardgym.make`.
    """
    if isinstance(game, Game):
        return Subject(game, game.options.of(**options), game, options)
    preset = dict(cardgym.IDS[cardgym.checked_id(game)])
    found = cardgym.load_game(preset.pop("game"))
    return Subject(found, found.options.of(**{**preset, **options}), game, options)


def option_variants(game: str | Game) -> list[dict[str, Any]]:
    """Rule options worth testing: the defaults, each other value of each option alone, all of them changed at once.

    An option that the environment id fixes keeps its value; a number is doubled (within its bounds), a
    word for one replaced by the smallest; what the game refuses (:class:`cardgym.errors.InvalidOption`) is left out.
    """
    base = subject(game)
    fixed = set() if isinstance(game, Game) else set(cardgym.IDS[cardgym.checked_id(game)])
    variants: list[dict[str, Any]] = [{}]
    changed: dict[str, Any] = {}
    for f in dataclasses.fields(base.options):
        default, choices, high = getattr(base.options, f.name), f.metadata["choices"], f.metadata["high"]
        if f.name in fixed:
            continue
        if choices is not None:
            others = [c for c in choices if c != default]
        elif default in f.metadata["words"]:
            others = [f.metadata["low"]]
        else:
            others = [default * 2 if high is None else min(default * 2, high)]
        for value in others:
            if _allowed(game, {f.name: value}):
                variants.append({f.name: value})
        if others and _allowed(game, {**changed, f.name: others[-1]}):
            changed[f.name] = others[-1]
    return [*variants, changed] if changed not in variants else variants


def covering_variants(game: str | Game) -> list[dict[str, Any]]:
    """Few sets of rule options in which each value of :func:`option_variants` occurs at least once.

    The defaults, then mixtures, then all changed at once.  From one mixture to the next every option takes its next
    value in turn, neighbours in turns apart, so that one option does not hide the work of another in all of them.  What
    a mixture's earlier options do not allow keeps its default; values left over by that stand alone at the end.
    """
    alone = option_variants(game)
    values: dict[str, list[Any]] = {}
    for variant in alone[1:]:
        if len(variant) == 1:
            ((name, value),) = variant.items()
            values.setdefault(name, []).append(value)
    variants: list[dict[str, Any]] = [{}]
    for k in range(1 + max(map(len, values.values()), default=0)):
        mixture: dict[str, Any] = {}
        for i, (name, others) in enumerate(values.items()):
            turn = (k + i) % (len(others) + 1)
            if turn < len(others) and _allowed(game, {**mixture, name: others[turn]}):
                mixture[name] = others[turn]
        variants.append(mixture)
    variants.append(alone[-1])
    met = {item for variant in variants for item in variant.items()}
    variants += [variant for variant in alone if not met.issuperset(variant.items())]
    return [variant for k, variant in enumerate(variants) if variant not in variants[:k]]


def _allowed(game: str | Game, options: Mapping[str, Any]) -> bool:
    try:
        subject(game, **options)
    except InvalidOption:
        return False
    return True


# --- Play ------------------------------------------------------------------------------------


def words(seeds: np.ndarray, counter: int | np.ndarray) -> np.ndarray:
    """A 32-bit random word for each seed, from the finaliser of the SplitMix64 generator.

    Args:
        seeds: integers, any shape.
        counter: number of the word in the seed's own sequence; arrays broadcast against ``seeds``.

    Returns:
        int64, 0 <= word < 2**32.
    """
    with np.errstate(over="ignore"):
        x = np.asarray(seeds).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = x + np.asarray(counter).astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + np.uint64(1)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x >> np.uint64(32)).astype(np.int64)


Policy = Callable[[Game, np.ndarray, np.ndarray, int], np.ndarray]


def _nth_legal(mask: np.ndarray, word: np.ndarray) -> np.ndarray:
    """The legal action that 32 random bits choose, all of a row equally likely."""
    legal = mask != 0
    nth = (word * legal.sum(axis=1)) >> 32
    return (legal.cumsum(axis=1) > nth[:, None]).argmax(axis=1)


def uniform(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """Any legal action, all equally likely."""
    return _nth_legal(mask, words(seeds, 2 * move))


def talkative(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """Words before cards, nine times in ten: announcements, bids and exchanges happen as often as they can."""
    spoken = mask * _are_words(game)
    speaks = spoken.any(axis=1) & (words(seeds, 2 * move + 1) % 10 != 0)
    return _nth_legal(np.where(speaks[:, None], spoken, mask), words(seeds, 2 * move))


@functools.cache
def _are_words(game: Game) -> np.ndarray:
    """Which actions are no cards, bool, shape (actions,)."""
    return np.array([a.card is None for a in game.actions])


_LIKES = 1 << 40  # where in a seed's sequence its preferences stand, beyond the words of its moves


def stubborn(game: Game, mask: np.ndarray, seeds: np.ndarray, move: int) -> np.ndarray:
    """One random order of preference over all actions per game, kept to its end."""
    likes = words(seeds[:, None], _LIKES + np.arange(len(game.actions)))
    return np.where(mask != 0, likes, -1).argmax(axis=1)


POLICIES: dict[str, Policy] = {"uniform": uniform, "talkative": talkative, "stubborn": stubborn}
"""The play policies by name, as failure messages give them."""


class Record:
    """The fields of one state, as attributes or by name; each is taken out of the array but once."""

    def __init__(self, state: np.void) -> None:
        self._state = state

    def __getattr__(self, name: str) -> Any:
        try:
            value = self._state[name]
        except ValueError:
            raise AttributeError(name) from None
        self.__dict__[name] = value
        return value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class Trail(NamedTuple):
    """States met in play, in the order of the moves.

    Attributes:
        states: structured, shape (n,).
        seeds, moves: int64, shape (n,): seed of the game, decisions made before.
        policy: name of the policy.
    """

    states: np.ndarray
    seeds: np.ndarray
    moves: np.ndarray
    policy: str

    def where(self, index: int) -> str:
        """How to get to a state again."""
        return f"policy={self.policy!r}, seed={self.seeds[index]}, move={self.moves[index]}"

    def thinned(self, most: int) -> Trail:
        """At most ``most`` of the states, spread evenly."""
        keep = np.unique(np.linspace(0, len(self.states) - 1, min(most, len(self.states))).astype(np.int64))
        return Trail(self.states[keep], self.seeds[keep], self.moves[keep], self.policy)


def walk(s: Subject, policy: str, games: int, seed: int) -> Trail:
    """All states of ``games`` games, the finished ones too; game ``i`` has the seed ``seed + i``."""
    parts = [
        (_picked(b.states, rows), seed + rows, np.full(len(rows), m)) for b, rows, m in _moves(s, policy, games, seed)
    ]
    states, seeds, moves = (_joined([p[i] for p in parts]) for i in range(3))
    return Trail(states, seeds, moves, policy)


def _picked(states: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``states[rows]``, without NumPy's detour over every field."""
    return _as_bytes(states)[rows].view(states.dtype).reshape(-1)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """``np.concatenate``, for states without a comparison of all their fields."""
    dtype = parts[0].dtype
    return (
        np.concatenate([_as_bytes(p) for p in parts]).view(dtype).reshape(-1) if dtype.names else np.concatenate(parts)
    )


def _as_bytes(states: np.ndarray) -> np.ndarray:
    """States as rows of bytes; they have no padding."""
    return np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1)


STRETCH = 2000
"""So many states met in play, or a few more, are looked at together."""


class Stretch(NamedTuple):
    """States met in play, and what the batch that played them had in its buffers.

    Attributes:
        trail: the states.
        shown: by name of the batch's attribute, one row per state: encodings, ``mask``, ``players``, ``rewards``,
            ``over``.
    """

    trail: Trail
    shown: dict[str, np.ndarray]


def _stretches(s: Subject, policy: str, games: int, seed: int) -> Iterator[Stretch]:
    """The states of :func:`walk`, :data:`STRETCH` at a time.

    Where play breaks off, the states before it come first: they may show why.
    """
    names = (*s.encodings, "mask", "players", "rewards", "over")
    parts: list[Stretch] = []
    count = 0
    try:
        for batch, rows, move in _moves(s, policy, games, seed):
            trail = Trail(_picked(batch.states, rows), seed + rows, np.full(len(rows), move), policy)
            parts.append(Stretch(trail, {name: getattr(batch, name)[rows] for name in names}))
            count += len(rows)
            if count >= STRETCH:
                yield _one_stretch(parts)
                parts, count = [], 0
    except CardGymError:
        yield _one_stretch(parts)
        raise
    if parts:
        yield _one_stretch(parts)


def _one_stretch(parts: Sequence[Stretch]) -> Stretch:
    states, seeds, moves = (_joined([getattr(p.trail, name) for p in parts]) for name in ("states", "seeds", "moves"))
    shown = {name: np.concatenate([p.shown[name] for p in parts]) for name in parts[0].shown}
    return Stretch(Trail(states, seeds, moves, parts[0].trail.policy), shown)


def _moves(s: Subject, policy: str, games: int, seed: int) -> Iterator[tuple[Batch, np.ndarray, int]]:
    """Plays; before every move yields the batch, the rows that the last move changed and the move's number."""
    batch = s.batch(games)
    seeds = seed + np.arange(games)
    batch.reset(seeds)
    rows = np.arange(games)
    for move in range(LIMIT):
        yield batch, rows, move
        rows = rows[batch.states["over"][rows] == 0]
        if not len(rows):
            return
        batch.step(POLICIES[policy](s.game, batch.mask[rows], seeds[rows], move), rows)
    raise AssertionError(f"{s}: not over after {LIMIT} decisions: policy={policy!r}, seed={seed + int(rows[0])}")


def state_at(game: str | Game, policy: str, seed: int, move: int, **options: Any) -> np.ndarray:
    """The state that a failure message names, shape (1,), for ``env.unwrapped.set_state``."""
    for batch, _, number in _moves(subject(game, **options), policy, 1, seed):
        if number == move:
            return batch.states.copy()
    raise ValueError(f"the game of seed {seed} has fewer than {move} decisions")


def seen(
    s: Subject,
    states: np.ndarray,
    seats: np.ndarray | int,
    encodings: Sequence[str] = ("observation", "history", "state"),
) -> Views:
    """What seats see of states: the mask and, of the given encodings, those that the game has; fresh arrays."""
    batch = Batch(s.game, s.options, len(states))
    batch.states[:] = states
    asked = np.empty(len(states), np.int64)
    asked[:] = seats
    return batch.views(asked, None, [name for name in s.encodings if name in encodings])


def differing(layout: Layout, a: np.ndarray, b: np.ndarray) -> str:
    """The parts of a layout in which two encodings differ, with both values at the first place."""
    said = []
    for name, place in layout.slices.items():
        where = np.flatnonzero(a[place] != b[place])
        if len(where):
            said.append(f"{name}[{where[0]}]: {a[place][where[0]]} and {b[place][where[0]]}")
    return "; ".join(said)


def parts(layout: Layout, encoding: np.ndarray) -> dict[str, np.ndarray]:
    """The named parts of an encoding, each in its own shape."""
    return {name: encoding[place].reshape(layout.shapes[name]) for name, place in layout.slices.items()}


def fields_equal(a: np.ndarray, b: np.ndarray, without: Iterable[str] = ()) -> np.ndarray:
    """Which rows of two arrays of states are equal, field by field; bool, shape (n,)."""
    equal = (_as_bytes(a) == _as_bytes(b)).all(axis=1)
    if equal.all():
        return equal  # equal bytes are equal fields, and soon compared
    equal = np.ones(len(a), bool)
    for name in a.dtype.names or ():
        if name not in without:
            equal &= (a[name] == b[name]).reshape(len(a), -1).all(axis=1)
    return equal


# --- Random play -----------------------------------------------------------------------------


def check_play(game: str | Game, *, games: int = 1000, seed: int = 0, zero_sum: bool = True, **options: Any) -> None:
    """Random games of every policy end, and at every decision of them:

    the seat to act is a seat and has a legal action; every other seat, and every seat of a finished game, has an
    all-zero mask; a mask holds only 0 and 1; every encoding of every seat lies within the bounds of its layout;
    buffers and views agree and observing changes no state; rewards are finite and, if ``zero_sum``, sum to zero.
    """
    s = subject(game, **options)
    for policy in POLICIES:
        for trail, shown in _stretches(s, policy, games, seed):
            _check_rewards(s, trail, shown["rewards"], zero_sum)
            for seat in range(s.seats):
                _check_views(s, trail, seat, shown)


def _check_rewards(s: Subject, trail: Trail, rewards: np.ndarray, zero_sum: bool) -> None:
    total = rewards.sum(axis=1)
    for k in np.flatnonzero(~np.isfinite(total))[:1]:
        raise AssertionError(f"{s}: rewards {rewards[k]}: {trail.where(k)}")
    for k in np.flatnonzero((np.abs(total) > 1e-9) & zero_sum)[:1]:
        raise AssertionError(f"{s}: rewards {rewards[k]} do not sum to zero: {trail.where(k)}")


def _check_views(s: Subject, trail: Trail, seat: int, shown: Mapping[str, np.ndarray]) -> None:
    """Masks and bounds of one seat in given states, of which a batch has ``shown`` what it did."""
    batch = Batch(s.game, s.options, len(trail.states))
    batch.states[:] = trail.states
    view = batch.views(np.full(len(trail.states), seat), None, s.encodings)
    players, over = trail.states["player"], trail.states["over"] != 0
    acts = (players == seat) & ~over

    def holds(condition: np.ndarray, what: str) -> None:
        wrong = np.flatnonzero(~condition)
        assert not len(wrong), f"{s}: {what}: {trail.where(wrong[0])}, seat={seat}"

    holds(fields_equal(trail.states, batch.states), "observing changes the state")
    holds((players >= 0) & (players < s.seats), "the player to act is no seat")
    holds(view.mask.any(axis=1) == acts, "a mask is all zero if and only if the seat is not to act")
    holds(((view.mask == 0) | (view.mask == 1)).all(axis=1), "a mask holds something else than 0 and 1")
    holds((view.mask == shown["mask"]).all(axis=1) | ~acts, "views and the batch's mask differ")
    holds(~shown["mask"].any(axis=1) | ~over, "the mask of a finished game is not all zero")
    holds((shown["players"] == players) & (shown["over"] == over), "players or over differ from the states")
    for name in s.encodings:
        layout, values = s.layouts[name], getattr(view, name)
        inside = (values >= layout.low) & (values <= layout.high)
        for k in np.flatnonzero(~inside.all(axis=1))[:1]:
            part = differing(layout, values[k], np.clip(values[k], layout.low, layout.high))
            raise AssertionError(f"{s}: {name} out of bounds in {part}: {trail.where(k)}, seat={seat}")
        holds((values == shown[name]).all(axis=1) | (players != seat), f"views and the batch's {name} differ")


def check_layouts(
    game: str | Game, *, games: int = 300, seed: int = 0, variants: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Every part of every layout takes more than one value in play, and ``describe`` speaks of all of them.

    Args:
        game, games, seed: as everywhere.
        variants: rule options to play under; together they must move every part.  Default: :func:`covering_variants`.
    """
    stuck: dict[str, set[str]] = {}
    for options in covering_variants(game) if variants is None else variants:
        s = subject(game, **options)
        for name in s.encodings:
            layout = s.layouts[name]
            sizes = [int(np.prod(shape)) for shape in layout.shapes.values()]
            assert layout.size == len(layout.low) == len(layout.high) == sum(sizes)
            stuck.setdefault(name, set(layout.slices))
        if any(stuck.values()):
            _drop_moving_parts(s, games, seed, stuck)
    for name, left in stuck.items():
        assert not left, f"{subject(game)}: parts of {name!r} that never change: {', '.join(sorted(left))}"


def _drop_moving_parts(s: Subject, games: int, seed: int, stuck: dict[str, set[str]]) -> None:
    """Takes from the named parts of each encoding those that change in play; plays until none is left."""
    low = {name: s.layouts[name].high.copy() for name in s.encodings}
    high = {name: s.layouts[name].low.copy() for name in s.encodings}
    for policy in POLICIES:
        for trail, _ in _stretches(s, policy, games, seed):
            for seat in range(s.seats):
                view = seen(s, trail.states, seat)
                for name in s.encodings:
                    values = getattr(view, name)
                    low[name] = np.minimum(low[name], values.min(axis=0))
                    high[name] = np.maximum(high[name], values.max(axis=0))
            for name in s.encodings:
                layout = s.layouts[name]
                moving = {p for p, place in layout.slices.items() if (low[name][place] != high[name][place]).any()}
                stuck[name] -= moving
            if not any(stuck.values()):
                break
        for name in s.encodings:
            said = s.layouts[name].describe(getattr(view, name)[0])
            expected = [x.name for x in s.layouts[name].segments]
            assert list(said) == expected, f"{s}: describe leaves out parts of {name!r}"
        if not any(stuck.values()):
            break


# --- What a seat knows -----------------------------------------------------------------------


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
            worlds = [_other_world(s, trail.states, seat, seed + k) for k in (1, 2, 1)]
            sight = seen(s, trail.states, seat, _KNOWN)
            scenes = {k: s.game.scene(records(trail.states)[k], seat) for k in drawn}
            for world in worlds[:2]:
                _check_same_view(s, trail, sight, world, seat)
                for k, true in scenes.items():
                    other = s.game.scene(records(world)[k], seat)
                    assert true == other, f"{s}: the drawing leaks: {trail.where(k)}, seat={seat}\n{true}\n{other}"
            _check_renewed(s, trail, worlds, seat)
            _check_same_turn(s, trail, seat, seed)


def _other_world(s: Subject, states: np.ndarray, seat: int, seed: int) -> np.ndarray:
    world = states.copy()
    resample(s.game, world, np.full(len(world), seat), seed)
    return world


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
    hidden = [seen(s, x[start], seat).state for x in (trail.states, first, second)]
    moved = (hidden[0] != hidden[1]).any(axis=1) | (hidden[0] != hidden[2]).any(axis=1)
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
    world = _other_world(s, remembered, seat, seed + 1)
    acting = trail.states["player"]
    both = seen(s, trail.states, acting, ()).mask * seen(s, world, acting, ()).mask
    rows = np.flatnonzero(both.any(axis=1))
    actions = _nth_legal(both[rows], words(trail.seeds[rows], int(seat)))
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
    batch = _continued(s, states)
    batch.step(actions)
    return batch.states


def _continued(s: Subject, states: np.ndarray) -> Batch:
    """A batch that goes on from given states."""
    batch = Batch(s.game, s.options, len(states))
    batch.restore(states)
    return batch


@dataclass(frozen=True)
class Fact:
    """Something that the rules let a seat know.

    Attributes:
        truth: from a whole state (a :class:`Record`) and the seat.
        read: the same from the named parts (:func:`parts`) of what that seat observes.
    """

    truth: Callable[[Any, int], Hashable]
    read: Callable[[Mapping[str, np.ndarray]], Hashable]


def check_facts(
    game: str | Game,
    facts: Mapping[str, Fact],
    *,
    games: int = 20,
    seed: int = 0,
    most: int = 1000,
    encoding: str = "observation",
    **options: Any,
) -> None:
    """The observation leaves out nothing: every fact can be read from it.

    In states of random games of every policy, and in pairs of states that differ by one action a few moves before,
    each fact read from the encoding is the fact of the state; equal encodings go with equal facts; and a fact does
    not change by ``resample``, so it is one that the seat may know.

    Args:
        game: as everywhere.
        facts: the facts by name.
        games, seed: games per policy.
        most: most states per policy.
        encoding: which one must hold the facts.
        **options: rule options.
    """
    s = subject(game, **options)
    told: dict[tuple[int, bytes], tuple[Hashable, ...]] = {}
    for policy in POLICIES:
        trail = walk(s, policy, games, seed).thinned(most)
        for branch in (trail, *_forked(s, trail)):
            for seat in range(s.seats):
                _check_facts_of(s, facts, branch, seat, encoding, told)


def _forked(s: Subject, trail: Trail, moves: int = 6) -> list[Trail]:
    """Two branches that part by one action and then follow the same preferences for some moves."""
    rows = np.flatnonzero(seen(s, trail.states, trail.states["player"]).mask.sum(axis=1) > 1)
    branches = []
    for which in (0, (1 << 32) - 1):  # the first and the last legal action
        batch = _continued(s, trail.states[rows])
        batch.step(_nth_legal(batch.mask, np.full(len(rows), which)))
        for move in range(moves):
            going = np.flatnonzero(batch.states["over"] == 0)
            if len(going):
                batch.step(stubborn(s.game, batch.mask[going], trail.seeds[rows][going], move), going)
        name = f"{trail.policy}, then legal action {'first' if which == 0 else 'last'} and {moves} moves of stubborn"
        branches.append(Trail(batch.states, trail.seeds[rows], trail.moves[rows], name))
    return branches


def _check_facts_of(
    s: Subject,
    facts: Mapping[str, Fact],
    trail: Trail,
    seat: int,
    encoding: str,
    told: dict[tuple[int, bytes], tuple[Hashable, ...]],
) -> None:
    values = getattr(seen(s, trail.states, seat), encoding)
    worlds = _other_world(s, trail.states, seat, 1)
    for k, (record, other) in enumerate(zip(map(Record, trail.states), map(Record, worlds), strict=True)):
        named = parts(s.layouts[encoding], values[k])
        where = f"{trail.where(k)}, seat={seat}"
        for name, fact in facts.items():
            true, read = fact.truth(record, seat), fact.read(named)
            assert true == read, f"{s}: {encoding} says {name} is {read!r}, not {true!r}: {where}"
            resampled = fact.truth(other, seat)
            assert true == resampled, f"{s}: {name} is hidden, {true!r} or {resampled!r}: {where}"
        all_facts = tuple(fact.truth(record, seat) for fact in facts.values())
        earlier = told.setdefault((seat, values[k].tobytes()), all_facts)
        assert earlier == all_facts, f"{s}: one {encoding} for two sets of facts, {earlier} and {all_facts}: {where}"


# --- Copies and illegal actions --------------------------------------------------------------


def check_copies(game: str | Game, *, games: int = 6, seed: int = 0, most: int = LIMIT, **options: Any) -> None:
    """``clone``, ``copy.deepcopy``, ``pickle`` and ``set_state`` give the same future, and are independent.

    Args:
        game, games, seed: as everywhere.
        most: most decisions of an episode to compare; the next one begins after them.
        **options: rule options.
    """
    s = subject(game, **options)
    makers: dict[str, Callable[[CardEnv], CardEnv]] = {
        "clone": lambda env: env.clone(),
        "deepcopy": copy.deepcopy,
        "pickle": lambda env: pickle.loads(pickle.dumps(env)),
        "set_state": lambda env: _set_state(s, env),
    }
    for how, make in makers.items():
        if how == "pickle" and isinstance(s.given, Game):
            continue  # a game of one's own travels by name only if it is in the box
        for game_seed in range(seed, seed + games):
            env = s.single(encodings=s.encodings)
            env.reset(seed=game_seed)
            for move in range(int(words(np.array([game_seed]), 9)[0]) % 40):
                if env.batch.over[0]:
                    break
                env.step(int(uniform(s.game, env.batch.mask, np.array([game_seed]), move)[0]))
            twin = make(env)
            before = twin.state
            reference = _future(s, env, game_seed, most)
            where = f"{s}: {how}, seed={game_seed}"
            assert fields_equal(before, twin.state).all(), f"{where}: the original moved its copy"
            assert _future(s, twin, game_seed, most) == reference, f"{where}: the copy plays on differently"


def _set_state(s: Subject, env: CardEnv) -> CardEnv:
    twin = s.single(encodings=s.encodings)
    twin.set_state(env.state)
    return twin


def _future(s: Subject, env: CardEnv, seed: int, most: int) -> list[Any]:
    """All that is seen in this episode and the next, at most ``most`` decisions of each."""
    story: list[Any] = [_plain(env._observation()), _plain_state(env.state)]
    for _ in range(2):
        for move in range(1000, 1000 + most):
            if env.batch.over[0]:
                break
            action = int(uniform(s.game, env.batch.mask, np.array([seed]), move)[0])
            observation, reward, over, _, info = env.step(action)
            story.append((_plain(observation), reward, over, _plain(info), _plain_state(env.state)))
        observation, info = env.reset()
        story.append((_plain(observation), _plain(info)))
    return story


def _plain(value: Any) -> Any:
    """Arrays as bytes with dtype and shape, so that ``==`` compares byte for byte."""
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return (str(value.dtype), value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _plain_state(state: np.ndarray) -> dict[str, bytes]:
    return {name: state[name].tobytes() for name in state.dtype.names or ()}


def check_illegal_actions(
    game: str | Game, *, games: int = 3, seed: int = 0, dense: int = LIMIT, **options: Any
) -> None:
    """Every illegal id, id out of range and value of a wrong type is refused and changes nothing.

    Holds for the single and the vector environment, where one illegal action among legal ones stops all games.

    Args:
        game, games, seed: as everywhere.
        dense: so many decisions of a game are tried one by one, after them some ever further apart, and the end.
        **options: rule options.
    """
    s = subject(game, **options)
    strange: list[Any] = [-1, len(s.game.actions), 1 << 40, 1 << 80, 0.0, 1.5, True, "0", None, [0], (0,)]
    strange += [np.float32(0), np.bool_(False), np.zeros(2, np.int64), np.zeros(1), np.array(["0"])]
    for policy in POLICIES:
        for game_seed in range(seed, seed + games):
            env, envs = s.single(encodings=s.encodings), s.vector(2, encodings=s.encodings)
            env.reset(seed=game_seed)
            envs.reset(seed=[game_seed, game_seed])
            tried = 0
            for move in range(LIMIT):
                if move == tried or env.batch.over[0]:
                    _check_refused(env, envs, strange, f"{s}: policy={policy!r}, seed={game_seed}, move={move}")
                    tried = move + 1 + max(0, move - dense) // 10
                if env.batch.over[0]:
                    break
                action = int(POLICIES[policy](s.game, env.batch.mask, np.array([game_seed]), move)[0])
                env.step(action)
                if not env.batch.over[0]:
                    envs.step(np.array([action, action]))


def _check_refused(env: CardEnv, envs: CardVectorEnv, strange: Sequence[Any], where: str) -> None:
    over, mask = bool(env.batch.over[0]), env.batch.mask[0].copy()
    before = [_buffers(env.batch), _buffers(envs.batch)]
    legal, seat, first = env.game.legal_names(mask), env.player, int(mask.argmax())
    for action in np.flatnonzero(mask == 0).tolist():
        error = _refusal(env.step, action, EpisodeOver if over else IllegalAction, where)
        if over:
            continue
        assert isinstance(error, IllegalAction)
        assert (error.seat, error.legal, error.action) == (seat, legal, action), f"{where}: {error!r}"
        assert env.game.actions[action].name in str(error), f"{where}: {error}"
        _refusal(envs.step, np.array([first, action]), IllegalAction, where)
    for value in strange:
        kinds = (InvalidAction, EpisodeOver) if over else (InvalidAction,)
        _refusal(env.step, value, kinds, where)
    if not over:
        for value in ([first, -1], [first, len(mask)], [first], [0.0, 0.0], [True, False], first, None):
            _refusal(envs.step, value, InvalidAction, where)
    assert before == [_buffers(env.batch), _buffers(envs.batch)], f"{where}: an illegal action changed something"


def _refusal(step: Callable[[Any], Any], action: Any, kind: Any, where: str) -> Exception:
    try:
        step(action)
    except CardGymError as error:
        if isinstance(error, kind):
            return error
        raise
    raise AssertionError(f"{where}: {action!r} was not refused")


def _buffers(batch: Batch) -> Any:
    names = ("mask", "players", "rewards", "over", *batch.encodings)
    return [_plain_state(batch.states), *(getattr(batch, name).tobytes() for name in names)]


# --- One game in all forms -------------------------------------------------------------------


def check_forms(
    game: str | Game, *, num_envs: Sequence[int] = (1, 5), seed: int = 0, steps: int = 200, **options: Any
) -> None:
    """The same seeds and actions give the same games in every form, byte for byte, beyond the first episode too.

    Compared are the single environment, the vector environment with each of ``num_envs``, one and two threads, copied
    and shared buffers, PettingZoo's AEC form and the single-agent view of every seat.  Sub-environment ``i`` of a
    vector environment of seed ``s`` is the single one of seed ``s + i``.
    """
    s = subject(game, **options)
    reference = [_single_story(s, seed + i, steps) for i in range(max(num_envs))]
    for number in num_envs:
        for threads, shared in ((1, True), (1, False), (2, True), (2, False)):
            envs = s.vector(number, encodings=s.encodings, threads=threads, copy=not shared)
            for i, story in enumerate(_vector_stories(s, envs, seed, steps)):
                _check_equal_stories(f"{s}: game {i} of {number}, {threads} threads, seed {seed}", reference[i], story)
            envs.close()
    for i in range(min(2, len(reference))):
        if _has_module("pettingzoo"):
            story = _pettingzoo_story(s, seed + i, steps)
            _check_equal_stories(f"{s}: PettingZoo, seed {seed + i}", reference[i][: len(story)], story)
        for seat in range(s.seats):
            _check_single_agent(s, reference[i], seed + i, seat)


def _has_module(name: str) -> bool:
    try:
        require(name, name)
    except ImportError:
        return False
    return True


class Moment(NamedTuple):
    """What one step showed: plain values, comparable with ``==``."""

    observation: Any
    rewards: bytes
    reward: float
    player: int
    over: bool
    ending: Any


def _check_equal_stories(where: str, expected: Sequence[Moment], found: Sequence[Moment]) -> None:
    assert len(expected) == len(found), f"{where}: {len(found)} steps, not {len(expected)}"
    for move, (a, b) in enumerate(zip(expected, found, strict=True)):
        for name, x, y in zip(Moment._fields, a, b, strict=True):
            assert x == y, f"{where}: step {move} differs in {name}:\n{x}\n{y}"


def _choice(s: Subject, mask: np.ndarray, seed: int, step: int) -> int:
    policy = tuple(POLICIES.values())[seed % len(POLICIES)]
    return int(policy(s.game, mask[None], np.array([seed]), step)[0])


def _single_story(s: Subject, seed: int, steps: int) -> list[Moment]:
    env = s.single(encodings=s.encodings)
    observation, info = env.reset(seed=seed)
    story = [Moment(_plain(observation), info["rewards"].tobytes(), 0.0, info["player"], False, None)]
    for step in range(steps):
        mask = observation["action_mask"]
        assert (mask == info["action_mask"]).all(), f"{s}: masks of observation and info differ, seed={seed}, {step}"
        assert (mask == env.action_masks()).all(), f"{s}: action_masks() differs, seed={seed}, step={step}"
        observation, reward, over, truncated, info = env.step(_choice(s, mask, seed, step))
        assert not truncated, f"{s}: truncated, seed={seed}, step={step}"
        rewards, ending = info["rewards"].tobytes(), None
        if over:
            ending = (_plain(observation), info["scores"].tolist())
            observation, info = env.reset()
        story.append(Moment(_plain(observation), rewards, reward, info["player"], over, ending))
    return story


def _vector_stories(s: Subject, envs: CardVectorEnv, seed: int, steps: int) -> list[list[Moment]]:
    observations, infos = envs.reset(seed=seed)
    rows = range(envs.num_envs)
    zero = np.zeros(s.seats).tobytes()
    stories = [[Moment(_row(observations, i), zero, 0.0, int(infos["player"][i]), False, None)] for i in rows]
    for step in range(steps):
        masks = observations["action_mask"]
        assert (masks == envs.action_masks()).all(), f"{s}: action_masks() differs at step {step}"
        actions = np.array([_choice(s, masks[i], seed + i, step) for i in rows])
        observations, rewards, over, truncated, infos = envs.step(actions)
        assert not truncated.any(), f"{s}: truncated at step {step}"
        for i in rows:
            ending = None
            if over[i]:
                ending = (_plain(infos["final_obs"][i]), infos["final_info"]["scores"][i].tolist())
            per_seat = infos["rewards"][i].tobytes()
            player = int(infos["player"][i])
            stories[i].append(Moment(_row(observations, i), per_seat, float(rewards[i]), player, bool(over[i]), ending))
    return stories


def _row(observations: Mapping[str, np.ndarray], i: int) -> Any:
    return _plain({name: part[i] for name, part in observations.items()})


def _pettingzoo_story(s: Subject, seed: int, steps: int) -> list[Moment]:
    """The first episode; the end is not followed by a new one here, so it stands as a moment of its own."""
    env = _pettingzoo(s, encodings=[e for e in s.encodings if e != "state"])
    env.reset(seed=seed)
    story = [_pettingzoo_moment(s, env, np.zeros(s.seats), 0.0, False)]
    for step in range(steps):
        seat = env.possible_agents.index(env.agent_selection)
        mask = env.observe(env.agent_selection)["action_mask"]
        assert (mask == env.infos[env.agent_selection]["action_mask"]).all(), f"{s}: masks differ, seed={seed}, {step}"
        for agent in env.agents:
            others = env.observe(agent)["action_mask"]
            assert agent == env.agent_selection or not others.any(), f"{s}: {agent} does not act, seed={seed}, {step}"
        env.step(_choice(s, mask, seed, step))
        rewards = np.array([env.rewards[agent] for agent in env.possible_agents], np.float64)
        if all(env.terminations.values()):
            break
        story.append(_pettingzoo_moment(s, env, rewards, float(rewards[seat]), False))
    return story


def _pettingzoo_moment(s: Subject, env: Any, rewards: np.ndarray, reward: float, over: bool) -> Moment:
    agent = env.agent_selection
    observation = dict(env.observe(agent))
    if "state" in s.encodings:
        observation["state"] = env.state()
    ordered = {name: observation[name] for name in (*s.encodings, "action_mask")}
    return Moment(_plain(ordered), rewards.tobytes(), reward, env.possible_agents.index(agent), over, None)


class _Scripted:
    """An opponent that chooses as the other forms do, for :class:`cardgym.wrappers.SelfPlay`."""

    name = "scripted"

    def __init__(self, s: Subject, seed: int) -> None:
        self._subject, self._seed = s, seed

    def act(self, decisions: Any, generator: np.random.Generator) -> np.ndarray:
        moves = decisions.determinized(1, 0)["moves"][:, 0]  # the number of decisions is no secret
        chosen = [_choice(self._subject, m, self._seed, int(n)) for m, n in zip(decisions.mask, moves, strict=True)]
        return np.array(chosen, np.int64)


def _check_single_agent(s: Subject, reference: Sequence[Moment], seed: int, seat: int) -> None:
    """What a seat and its partners see in the single-agent view is what they see in the reference's first episode."""
    from cardgym.wrappers import SelfPlay

    env = SelfPlay(s.made(), [_Scripted(s, seed)], seat=seat)
    observation, info = env.reset(seed=seed)
    earned, team_of = np.zeros(s.seats), s.game.team_of(s.options)
    reward, over = 0.0, False
    for step, moment in enumerate(reference):
        where = f"{s}: single-agent view of seat {seat}, seed {seed}, step {step}"
        earned += np.frombuffer(moment.rewards)
        if moment.over:
            assert over, f"{where}: not over"
            assert reward == earned[seat], f"{where}: reward {reward}, not {earned[seat]}"
            return
        if team_of[moment.player] != team_of[seat]:
            continue
        assert not over, f"{where}: over too early"
        mask = env.action_masks()
        found = _plain({"observation": observation, "action_mask": mask.astype(np.int8)})
        assert found == {name: moment.observation[name] for name in found}, f"{where}: another observation or mask"
        assert (mask == info["action_mask"]).all(), f"{where}: masks differ"
        assert reward == earned[seat], f"{where}: reward {reward}, not {earned[seat]}"
        earned[:] = 0.0
        observation, reward, over, _, info = env.step(_choice(s, mask.astype(np.int8), seed, step))


def digest(game: str | Game, *, games: int = 3, seed: int = 0, moves: int = LIMIT, **options: Any) -> str:
    """A SHA-256 over all that a few random games show, the same on all machines, with JIT on and off.

    It covers every field of every state, all encodings and masks of all seats, rewards, and at every move a resample
    for every seat.

    Args:
        game: as everywhere.
        games, seed: games per policy.
        moves: most decisions of a game.
        **options: rule options.
    """
    s = subject(game, **options)
    sha = hashlib.sha256()
    for policy in POLICIES:
        for batch, rows, _ in itertools.islice(_moves(s, policy, games, seed), moves + 1):
            states = batch.states[rows]
            _hash_states(sha, states)
            sha.update(batch.rewards[rows].tobytes())
            for seat in range(s.seats):
                for part in batch.views(np.full(len(rows), seat), rows, s.encodings):
                    sha.update(part.tobytes())
                _hash_states(sha, _other_world(s, states, seat, seed))
    return sha.hexdigest()


def _hash_states(sha: Any, states: np.ndarray) -> None:
    for name in states.dtype.names or ():
        sha.update(states[name].tobytes())


def check_jit(env_id: str, *, games: int = 2, seed: int = 0, moves: int = LIMIT, **options: Any) -> None:
    """Compiled code and plain Python (``NUMBA_DISABLE_JIT=1``, in a process of its own) have one :func:`digest`."""
    arguments = {"games": games, "seed": seed, "moves": moves, **options}
    call = f"from cardgym.testing import digest; print(digest({env_id!r}, **{arguments!r}))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", call]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{env_id} {options}: fails as plain Python:\n{done.stderr[-3000:]}"
    compiled = digest(env_id, **arguments)
    assert done.stdout.strip() == compiled, f"{env_id} {options}: plain Python plays otherwise than compiled code"


# --- Other libraries' checks -----------------------------------------------------------------


class NthLegalAction(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Takes any action number as the legal action of that number, counted round: for checkers that know no masks."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.ActionWrapper.__init__(self, env)

    def action(self, action: Any) -> int:
        """The id of the legal action number ``action`` modulo the number of legal actions."""
        legal = np.flatnonzero(self.env.get_wrapper_attr("action_masks")())
        return int(legal[int(action) % len(legal)])


def check_gymnasium(game: str | Game, **options: Any) -> None:
    """Gymnasium's ``check_env`` passes without warnings, with illegal actions that end the game and with legal ones.

    Pictures are looked at where pygame-ce is installed; windows are opened on no screen.
    """
    from cardgym.wrappers import TerminateIllegal

    s = subject(game, **options)
    for kwargs in ({}, {"encodings": s.encodings, "render_mode": "ansi"}):
        for wrap in (NthLegalAction, functools.partial(TerminateIllegal, penalty=-1.0)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                env = wrap(s.made(**kwargs))
                with _no_screen():
                    gymnasium_checker.check_env(env, skip_render_check=not _has_module("pygame"))
                env.close()
            told = [str(w.message) for w in caught if "is different from the unwrapped version" not in str(w.message)]
            assert not told, f"{s}: check_env warns: {told}"


@contextlib.contextmanager
def _no_screen() -> Iterator[None]:
    """Windows opened meanwhile are seen by nobody, so that a machine without a screen will do."""
    driver = os.environ.get("SDL_VIDEODRIVER")
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    try:
        yield
    finally:
        os.environ.pop("SDL_VIDEODRIVER")
        if driver is not None:
            os.environ["SDL_VIDEODRIVER"] = driver


def _pettingzoo(s: Subject, **kwargs: Any) -> Any:
    from cardgym.wrappers import PettingZooAEC

    return PettingZooAEC(s.given, **s.rules, **kwargs)


def check_pettingzoo(game: str | Game, *, cycles: int = 300, **options: Any) -> None:
    """PettingZoo's ``api_test``, ``seed_test`` and ``render_test`` pass.

    Raises:
        MissingExtra: PettingZoo is not installed.
    """
    s = subject(game, **options)
    api, seeds, render = (require(f"pettingzoo.test.{n}_test", "pettingzoo") for n in ("api", "seed", "render"))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        # These tests warn of every observation that is a dict with a mask, PettingZoo's own convention; they print.
        warnings.simplefilter("ignore", UserWarning)
        api.api_test(_pettingzoo(s), num_cycles=cycles)
        seeds.seed_test(lambda: _pettingzoo(s), num_cycles=cycles)
        if _has_module("pygame"):
            with _no_screen():
                render.render_test(lambda render_mode: _pettingzoo(s, render_mode=render_mode))


def check_sb3(game: str | Game, **options: Any) -> None:
    """Stable-Baselines3's ``check_env`` passes without warnings on the single-agent view.

    Raises:
        MissingExtra: Stable-Baselines3 is not installed.
    """
    from cardgym.baselines.agents import RandomAgent
    from cardgym.wrappers import SelfPlay, TerminateIllegal

    s = subject(game, **options)
    checker = require("stable_baselines3.common.env_checker", "train")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for env in (
            NthLegalAction(SelfPlay(s.made(), [RandomAgent()])),
            SelfPlay(TerminateIllegal(s.made()), [RandomAgent()]),
        ):
            checker.check_env(env)
    assert not caught, f"{s}: check_env warns: {[str(w.message) for w in caught]}"


# --- Golden games ----------------------------------------------------------------------------


def golden_games(env_id: str, *, games: int, seed: int = 0, **options: Any) -> dict[str, Any]:
    """A record of random games to be kept: seeds, action names, scores and a hash of all that the seats saw.

    Game ``i`` is played by the policy number ``i`` modulo the number of policies.
    """
    s = subject(env_id, **options)
    names = tuple(POLICIES)
    entries = []
    for game_seed in range(seed, seed + games):
        policy = names[game_seed % len(names)]
        actions: list[str] = []
        batch = s.batch(1)
        batch.reset([game_seed])
        while not batch.over[0]:
            action = POLICIES[policy](s.game, batch.mask, np.array([game_seed]), len(actions))
            actions.append(s.game.actions[int(action[0])].name)
            batch.step(action)
        entries.append({"seed": game_seed, "actions": ", ".join(actions), **_replayed(s, game_seed, actions)})
    return {"env": env_id, "options": dict(options), "games": entries}


def check_golden(path: str | Path) -> None:
    """The games of a JSON file made from :func:`golden_games` still replay: same scores, same sights."""
    kept = json.loads(Path(path).read_text())
    s = subject(kept["env"], **kept["options"])
    for entry in kept["games"]:
        again = _replayed(s, entry["seed"], entry["actions"].split(", "))
        for name, value in again.items():
            where = f"{Path(path).name}, seed {entry['seed']}"
            assert entry[name] == value, f"{where}: {name} is now {value}, was {entry[name]}"


def _replayed(s: Subject, seed: int, actions: Sequence[str]) -> dict[str, Any]:
    env = s.single(encodings=s.encodings)
    env.reset(seed=seed)
    sha = hashlib.sha256()
    for name in [None, *actions]:
        if name is not None:
            env.step(s.game.action_ids[name])
        for seat in range(s.seats):
            for part in env.batch.views(np.array([seat]), None, s.encodings):
                sha.update(part.tobytes())
    assert env.batch.over[0], f"{s}: seed {seed} is not over after {len(actions)} actions"
    state = env.state[0]
    rewards = env.batch.rewards[0, : s.seats].tolist()
    return {"scores": state["scores"][: s.seats].tolist(), "rewards": rewards, "seen": sha.hexdigest()}


# --- All of it -------------------------------------------------------------------------------


def check_game(game: str | Game, *, games: int = 50, seed: int = 0, zero_sum: bool = True, **options: Any) -> None:
    """Runs every check on a game under the given rule options.

    Args:
        game: an environment id, or a game of your own.
        games: number of random games per policy; the costlier checks play fewer.
        seed: of the first game.
        zero_sum: do the rewards of all seats sum to zero at every decision?
        **options: rule options.

    Raises:
        AssertionError: a check failed; the message tells how to see it again.
    """
    few = max(1, games // 20)
    check_play(game, games=games, seed=seed, zero_sum=zero_sum, **options)
    check_leaks(game, games=games, seed=seed, **options)
    check_copies(game, games=few, seed=seed, **options)
    check_illegal_actions(game, games=few, seed=seed, **options)
    check_forms(game, seed=seed, **options)
    check_gymnasium(game, **options)
    if _has_module("pettingzoo"):
        check_pettingzoo(game, **options)
    if _has_module("stable_baselines3"):
        check_sb3(game, **options)
