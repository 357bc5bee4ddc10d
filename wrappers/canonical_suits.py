"""Suits in a canonical order, for one game."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from cardgym.envs.env import CardEnv
from cardgym.errors import InvalidOption
from cardgym.suits import SuitRelabelling


class CanonicalSuits(gymnasium.Wrapper[Any, np.int64, Any, np.int64]):
    """Positions alike but for the names of interchangeable suits look the same (see :mod:`cardgym.suits`).

    Works on :class:`cardgym.envs.env.CardEnv` (dict observations) and on :class:`cardgym.wrappers.SelfPlay` (vectors).
    Observations and masks come with their suits relabelled; actions are taken in the same labels.

    Example:
        >>> import cardgym
        >>> from cardgym.wrappers import CanonicalSuits
        >>> env = CanonicalSuits(cardgym.make("cardgym/Chouine-v0"))
        >>> observation, info = env.reset(seed=0)
        >>> env.unwrapped.layouts["observation"].describe(observation["observation"])["trump"].tolist()
        [1, 0, 0, 0]
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wraps an environment.

        Raises:
            InvalidOption: not a CardEnv.
            ValueError: the suits of this game are not interchangeable.
        """
        super().__init__(env)
        if not isinstance(env.unwrapped, CardEnv):
            raise InvalidOption(f"CanonicalSuits wraps a CardEnv, not {env.unwrapped}")
        self.card_env: CardEnv = env.unwrapped
        self.suits = SuitRelabelling(self.card_env.game, dict(self.card_env.layouts))
        self._orders = np.zeros(1, np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the wrapped environment's, relabelled."""
        return self._relabelled(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """As the wrapped environment's; ``action`` is a canonical action id."""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            action = int(self.suits.actions(np.array([action]), self._orders)[0])
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._relabelled(observation, info)
        return observation, reward, terminated, truncated, info

    def action_masks(self) -> np.ndarray:
        """Legal canonical actions as bool, shape (actions,)."""
        masks: np.ndarray = self.env.get_wrapper_attr("action_masks")()
        return self.suits.mask(masks.astype(np.int8)[None], self._orders)[0].astype(bool)

    def _relabelled(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen = observation["observation"] if isinstance(observation, dict) else observation
        self._orders = self.suits.orders(seen[None])
        mask = self.suits.mask(info["action_mask"][None], self._orders)[0]
        info = {**info, "action_mask": mask}
        if not isinstance(observation, dict):
            return self.suits.encoding("observation", seen[None], self._orders)[0], info
        parts = {
            n: self.suits.encoding(n, p[None], self._orders)[0] for n, p in observation.items() if n != "action_mask"
        }
        return {**parts, "action_mask": mask}, info
