"""Illegal actions end the episode, instead of raising an error."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from cardgym.envs.env import CardEnv
from cardgym.errors import EpisodeOver, IllegalAction, InvalidOption

Observation = dict[str, np.ndarray]


class TerminateIllegal(gymnasium.Wrapper[Observation, np.int64, Observation, np.int64], RecordConstructorArgs):
    """An illegal action costs the seat that made it a penalty and ends the episode.

    For agents that learn without masks.  The observation of the last step is the one on which the seat acted, with
    an all-zero mask.  Its info holds ``illegal_action`` (the action's name) beside ``player``, ``action_mask`` and
    ``rewards`` (the penalty for the seat that acted, 0 for the others).  What is no action id at all still
    raises :class:`cardgym.errors.InvalidAction`, and the episode goes on.

    Example:
        >>> import cardgym
        >>> from cardgym.wrappers import TerminateIllegal
        >>> env = TerminateIllegal(cardgym.make("cardgym/Chouine-v0"))
        >>> observation, info = env.reset(seed=1)
        >>> illegal = int(info["action_mask"].argmin())
        >>> observation, reward, terminated, truncated, info = env.step(illegal)
        >>> float(reward), terminated, info["illegal_action"]
        (-1.0, True, '7C')
    """

    def __init__(self, env: gymnasium.Env[Observation, np.int64], penalty: float = -1.0) -> None:
        """Wraps an environment.

        Args:
            env: a :class:`cardgym.envs.env.CardEnv`, wrapped or not.
            penalty: reward of the seat that takes an illegal action.

        Raises:
            InvalidOption: the penalty is no finite number.
            TypeError: another kind of environment.
        """
        RecordConstructorArgs.__init__(self, penalty=penalty)
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, CardEnv):
            raise TypeError(f"TerminateIllegal wraps a CardEnv, not {type(env.unwrapped).__name__}")
        if isinstance(penalty, bool) or not isinstance(penalty, (int, float, np.number)) or not math.isfinite(penalty):
            raise InvalidOption(f"penalty={penalty!r} is not a finite number")
        self.penalty = float(penalty)
        self._card_env: CardEnv = env.unwrapped
        self._observation: Observation = {}  # the one on which the next action is taken
        self._ended = False  # by an illegal action

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """As :meth:`cardgym.envs.env.CardEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._observation, self._ended = observation, False
        return observation, info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One decision of the player to act.

        Args:
            action: its id, an integer, legal or not.

        Raises:
            InvalidAction: it is no action id.
            EpisodeOver, ResetNeeded: there is nothing to decide.
        """
        if self._ended:
            raise EpisodeOver(f"{self._card_env.game.name}: an illegal action ended the game: call reset first")
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except IllegalAction as error:
            return self._end(error)
        self._observation = observation
        return observation, float(reward), terminated, truncated, info

    def _end(self, error: IllegalAction) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        assert isinstance(error.action, int)
        self._ended = True
        rewards = np.zeros(self._card_env.num_seats)
        rewards[error.seat] = self.penalty
        mask = np.zeros(len(self._card_env.game.actions), np.int8)
        info = {"player": error.seat, "action_mask": mask, "rewards": rewards}
        info["illegal_action"] = self._card_env.game.actions[error.action].name
        observation = {name: part.copy() for name, part in self._observation.items()} | {"action_mask": mask}
        return observation, self.penalty, True, False, info
