"""Random games, with every state on their way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cardgym.batch import Batch
from cardgym.errors import CardGymError
from cardgym.game import Game
from cardgym.testing.policies import POLICIES
from cardgym.testing.states import as_bytes
from cardgym.testing.subjects import Subject, subject

LIMIT = 100_000
"""Most decisions of a game under test; more is taken for a game without end."""


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
        (_picked(b.states, rows), seed + rows, np.full(len(rows), m))
        for b, rows, m in move_by_move(s, policy, games, seed)
    ]
    states, seeds, moves = (_joined([p[i] for p in parts]) for i in range(3))
    return Trail(states, seeds, moves, policy)


def _picked(states: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``states[rows]``, without NumPy's detour over every field."""
    return as_bytes(states)[rows].view(states.dtype).reshape(-1)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """``np.concatenate``, for states without a comparison of all their fields."""
    dtype = parts[0].dtype
    if not dtype.names:
        return np.concatenate(parts)
    return np.concatenate([as_bytes(p) for p in parts]).view(dtype).reshape(-1)


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


def stretches(s: Subject, policy: str, games: int, seed: int) -> Iterator[Stretch]:
    """The states of :func:`walk`, :data:`STRETCH` at a time.

    Where play breaks off, the states before it come first: they may show why.
    """
    names = (*s.encodings, "mask", "players", "rewards", "over")
    parts: list[Stretch] = []
    count = 0
    try:
        for batch, rows, move in move_by_move(s, policy, games, seed):
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


def move_by_move(s: Subject, policy: str, games: int, seed: int) -> Iterator[tuple[Batch, np.ndarray, int]]:
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
    for batch, _, number in move_by_move(subject(game, **options), policy, 1, seed):
        if number == move:
            return batch.states.copy()
    raise ValueError(f"the game of seed {seed} has fewer than {move} decisions")
