"""Many games as a Stable-Baselines3 ``VecEnv``, stepped by the compiled vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from cardgym.errors import require

_vec_env = require("stable_baselines3.common.vec_env.base_vec_env", "train")


class SB3VecEnv(_vec_env.VecEnv):  # type: ignore[name-defined]
    """Wraps :class:`cardgym.wrappers.VectorSelfPlay`, or :class:`cardgym.wrappers.VectorCanonicalSuits` over it.

    Works with ``MaskablePPO`` of sb3-contrib: ``env_method("action_masks")`` gives all masks in one array.  SB3's
    ``VecMonitor`` and ``VecNormalize`` work on top.

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.wrappers import SB3VecEnv, VectorCanonicalSuits, VectorSelfPlay
        >>> envs = VectorSelfPlay(cardgym.make_vec("cardgym/Chouine-v0", num_envs=8), opponents=[RandomAgent()])
        >>> env = SB3VecEnv(VectorCanonicalSuits(envs), seed=0)
        >>> env.reset().shape
        (8, 417)

    Where a game ended, its info holds ``terminal_observation``, ``TimeLimit.truncated`` (always False), ``rewards`` and
    ``scores`` per seat and ``learner``, its seat.  All other games share one empty dict.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any], seed: int | None = None) -> None:
        """Wraps a vector environment.

        Args:
            env: a single-agent vector environment with ``action_masks()``.
            seed: of the first reset; as :meth:`seed` would set it.
        """
        if not hasattr(env, "action_masks") or not isinstance(env.single_observation_space, gymnasium.spaces.Box):
            raise TypeError(f"SB3VecEnv wraps VectorSelfPlay or VectorCanonicalSuits over it, not {env}")
        self.env = env
        self._seed: int | None = seed
        self._actions = np.zeros(env.num_envs, np.int64)
        self._nothing: dict[str, Any] = {}
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seeds the next reset: game ``i`` gets ``seed + i``."""
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def reset(self) -> np.ndarray:
        """Starts all games; int8, shape (n, observation size)."""
        observations, _ = self.env.reset(seed=self._seed)
        self._seed = None
        self.reset_infos = [self._nothing] * self.num_envs
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions, integers, shape (n,)."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards (float32), dones and infos."""
        observations, rewards, over, _, infos = self.env.step(self._actions)
        out = [self._nothing] * self.num_envs
        for row in np.flatnonzero(over):
            final = infos["final_info"]
            out[row] = {
                "terminal_observation": infos["final_obs"][row],
                "TimeLimit.truncated": False,
                "rewards": final["rewards"][row],
                "scores": final["scores"][row],
                "learner": int(final["learner"][row]),
            }
        return observations, rewards.astype(np.float32), over, out

    def action_masks(self) -> np.ndarray:
        """Legal actions as bool, shape (n, actions)."""
        masks: np.ndarray = self.env.action_masks()
        return masks

    def close(self) -> None:
        """Closes the games."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the vector environment, once per game; AttributeError if it has none."""
        value = getattr(self.env, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of the vector environment; only for all games at once."""
        if indices is not None and len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError("the games share their attributes: indices must be None")
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> Any:
        """Calls a method of the vector environment; ``action_masks`` gives one row per game."""
        if method_name == "action_masks":
            masks = self.action_masks()
            return masks if indices is None else masks[list(self._get_indices(indices))]
        result = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """Whether the games are wrapped in a Gymnasium wrapper: they are one array, so never."""
        return [False for _ in self._get_indices(indices)]
