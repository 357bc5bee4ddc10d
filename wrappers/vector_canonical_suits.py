"""Suits in a canonical order, for many games."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from cardgym.envs.vector_env import CardVectorEnv
from cardgym.errors import InvalidOption
from cardgym.suits import SuitRelabelling


class VectorCanonicalSuits(gymnasium.vector.VectorWrapper[Any, np.ndarray, Any, np.ndarray, np.ndarray]):
    """As :class:`cardgym.wrappers.CanonicalSuits`, over :class:`cardgym.envs.vector_env.CardVectorEnv` or
    :class:`cardgym.wrappers.VectorSelfPlay`.

    Example:
        >>> import cardgym
        >>> from cardgym.wrappers import VectorCanonicalSuits
        >>> envs = VectorCanonicalSuits(cardgym.make_vec("cardgym/Chouine-v0", num_envs=8))
        >>> observations, infos = envs.reset(seed=0)
    """

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        """Wraps a vector environment.

        Raises:
            InvalidOption: not one of this package.
            ValueError: the suits of this game are not interchangeable.
        """
        super().__init__(env)
        if not isinstance(env.unwrapped, CardVectorEnv):
            raise InvalidOption(f"VectorCanonicalSuits wraps a CardVectorEnv, not {env.unwrapped}")
        self.card_envs: CardVectorEnv = env.unwrapped
        self.suits = SuitRelabelling(self.card_envs.game, dict(self.card_envs.layouts))
        self._orders = np.zeros(env.num_envs, np.int64)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """As the wrapped environment's, relabelled."""
        return self._relabelled(*self.env.reset(seed=seed, options=options))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """As the wrapped environment's; ``actions`` are canonical action ids, integers, shape (n,)."""
        actions = np.asarray(actions)
        if actions.dtype.kind in "iu" and actions.shape == self._orders.shape:
            actions = self.suits.actions(actions, self._orders)
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        observations, infos = self._relabelled(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def action_masks(self) -> np.ndarray:
        """Legal canonical actions as bool, shape (n, actions)."""
        return self.suits.mask(self.card_envs.batch.mask, self._orders).astype(bool)

    def _relabelled(self, observations: Any, infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        seen = observations["observation"] if isinstance(observations, dict) else observations
        self._orders = self.suits.orders(seen)
        infos = dict(infos)
        if "action_mask" in infos:
            infos["action_mask"] = self.suits.mask(infos["action_mask"], self._orders)
        if "final_obs" in infos:
            infos["final_obs"] = self._final(infos["final_obs"])
        return self._canonical(observations, self._orders), infos

    def _canonical(self, observations: Any, orders: np.ndarray) -> Any:
        if not isinstance(observations, dict):
            return self.suits.encoding("observation", observations, orders)
        masks = self.suits.mask(observations["action_mask"], orders)
        parts = {n: self.suits.encoding(n, p, orders) for n, p in observations.items() if n != "action_mask"}
        return {**parts, "action_mask": masks}

    def _final(self, final: np.ndarray) -> np.ndarray:
        relabelled = np.full(len(final), None, object)
        for row, observation in enumerate(final):
            if observation is not None:
                one = (
                    {n: p[None] for n, p in observation.items()} if isinstance(observation, dict) else observation[None]
                )
                order = self.suits.orders(one["observation"] if isinstance(one, dict) else one)
                made = self._canonical(one, order)
                relabelled[row] = {n: p[0] for n, p in made.items()} if isinstance(made, dict) else made[0]
        return relabelled
