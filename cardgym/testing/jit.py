"""The check that compiled code and plain Python play the same games."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np

from cardgym.game import Game
from cardgym.testing.policies import POLICIES
from cardgym.testing.states import other_world
from cardgym.testing.subjects import subject
from cardgym.testing.walks import LIMIT, move_by_move


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
        for batch, rows, _ in itertools.islice(move_by_move(s, policy, games, seed), moves + 1):
            states = batch.states[rows]
            _hash_states(sha, states)
            sha.update(batch.rewards[rows].tobytes())
            for seat in range(s.seats):
                for part in batch.views(np.full(len(rows), seat), rows, s.encodings):
                    sha.update(part.tobytes())
                _hash_states(sha, other_world(s, states, seat, seed))
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
