"""Golden games: games that are kept and must replay the same for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardgym.testing.policies import POLICIES
from cardgym.testing.subjects import Subject, subject


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
