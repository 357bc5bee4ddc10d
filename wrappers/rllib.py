"""The environments in the form of Ray RLlib's current API: one dict entry for the agent to act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

import cardgym
from cardgym.envs.env import CardEnv
from cardgym.errors import InvalidAction, require
from cardgym.game import Game

require("ray.rllib", "rllib")
from ray.rllib.env.multi_agent_env import MultiAgentEnv  # noqa: E402

Observation = dict[str, np.ndarray]


class RLlibEnv(MultiAgentEnv):
    """A card game as an RLlib ``MultiAgentEnv``; agents are ``"player_0"``, ``"player_1"`` ... by seat.

    Example:
        >>> from cardgym.wrappers import RLlibEnv
        >>> env = RLlibEnv({"env": "cardgym/Chouine-v0"})
        >>> observations, infos = env.reset(seed=1)
        >>> ended = {"__all__": False}
        >>> while not ended["__all__"]:
        ...     (agent, seen), = observations.items()
        ...     observations, rewards, ended, _, infos = env.step({agent: int(seen["action_mask"].argmax())})
        >>> rewards
        {'player_0': -1.0, 'player_1': 1.0}

    Observations: ``observations`` and ``action_mask``, the names that RLlib's action-masking module
    (``ActionMaskingTorchRLModule`` among its examples) looks for; float32, each number divided by its upper bound.
    Only the agent to act gets one, and all agents when the game is over, with empty masks.

    Rewards: to every agent at every step; RLlib adds up what an agent gets between its decisions.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Makes the environment.

        Args:
            config: ``env``, an id or a game of your own (default ``"cardgym/Chouine-v0"``), and rule options.

        Raises:
            UnknownGame, InvalidOption: what was given does not exist; the message says what does.
        """
        super().__init__()
        given = dict(config or {})
        env = given.pop("env", "cardgym/Chouine-v0")
        self.card_env: CardEnv
        if isinstance(env, Game):
            self.card_env = CardEnv(env, **given)
        else:
            self.card_env = cardgym.make(env, **given).unwrapped  # type: ignore[assignment]
        self.agents = self.possible_agents = [f"player_{seat}" for seat in range(self.card_env.num_seats)]
        layout, actions = self.card_env.layouts["observation"], len(self.card_env.game.actions)
        self._scale = 1.0 / np.maximum(1, layout.high).astype(np.float32)
        box = spaces.Box(layout.low * self._scale, layout.high * self._scale, (layout.size,), np.float32)
        space = spaces.Dict({"observations": box, "action_mask": spaces.Box(0.0, 1.0, (actions,), np.float32)})
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, spaces.Discrete(actions))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Starts an episode; arguments as :meth:`cardgym.envs.env.CardEnv.reset`."""
        _, info = self.card_env.reset(seed=seed, options=options)
        agent = self.possible_agents[info["player"]]
        return {agent: self._seen(info["player"])}, {agent: {}}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One decision of the agent to act.

        Args:
            action_dict: its action id, by its name.

        Raises:
            InvalidAction: it is not the action of the agent to act, alone.
            IllegalAction: the rules forbid it.
        """
        actor = self.possible_agents[self.card_env.player]
        if set(action_dict) != {actor}:
            raise InvalidAction(f"{self.card_env.game.name}: expected an action of {actor}, got {dict(action_dict)}")
        _, _, over, _, info = self.card_env.step(int(action_dict[actor]))
        rewards = dict(zip(self.possible_agents, info["rewards"].tolist(), strict=True))
        seats = range(len(self.possible_agents)) if over else [info["player"]]
        observations = {self.possible_agents[seat]: self._seen(seat) for seat in seats}
        infos: dict[str, dict[str, Any]] = {agent: {"scores": info["scores"]} if over else {} for agent in observations}
        return observations, rewards, {"__all__": over}, {"__all__": False}, infos

    def _seen(self, seat: int) -> Observation:
        view = self.card_env.batch.views(np.array([seat]))
        return {"observations": view.observation[0] * self._scale, "action_mask": view.mask[0].astype(np.float32)}

    def render(self) -> Any:
        """As :meth:`cardgym.envs.env.CardEnv.render`."""
        return self.card_env.render()

    def close(self) -> None:
        """Ends the environment."""
        self.card_env.close()
