"""The check that copies of an environment have the same future and are independent."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from cardgym.envs import CardEnv
from cardgym.game import Game
from cardgym.testing.policies import uniform, words
from cardgym.testing.states import fields_equal, plain, plain_state
from cardgym.testing.subjects import Subject, subject
from cardgym.testing.walks import LIMIT


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
    story: list[Any] = [plain(env._observation()), plain_state(env.state)]
    for _ in range(2):
        for move in range(1000, 1000 + most):
            if env.batch.over[0]:
                break
            action = int(uniform(s.game, env.batch.mask, np.array([seed]), move)[0])
            observation, reward, over, _, info = env.step(action)
            story.append((plain(observation), reward, over, plain(info), plain_state(env.state)))
        observation, info = env.reset()
        story.append((plain(observation), plain(info)))
    return story
