"""The check that illegal actions are refused and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardgym.envs import CardEnv, CardVectorEnv
from cardgym.errors import CardGymError, EpisodeOver, IllegalAction, InvalidAction
from cardgym.game import Game
from cardgym.testing.policies import POLICIES
from cardgym.testing.states import buffers
from cardgym.testing.subjects import subject
from cardgym.testing.walks import LIMIT


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
    before = [buffers(env.batch), buffers(envs.batch)]
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
    assert before == [buffers(env.batch), buffers(envs.batch)], f"{where}: an illegal action changed something"


def _refusal(step: Callable[[Any], Any], action: Any, kind: Any, where: str) -> Exception:
    try:
        step(action)
    except CardGymError as error:
        if isinstance(error, kind):
            return error
        raise
    raise AssertionError(f"{where}: {action!r} was not refused")
