"""The check that a seat sees no less than the rules let it know."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardgym.game import Game
from cardgym.testing.policies import POLICIES, nth_legal, stubborn
from cardgym.testing.states import Record, continued, other_world, parts, seen
from cardgym.testing.subjects import Subject, subject
from cardgym.testing.walks import Trail, walk


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
        batch = continued(s, trail.states[rows])
        batch.step(nth_legal(batch.mask, np.full(len(rows), which)))
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
    worlds = other_world(s, trail.states, seat, 1)
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
