"""The environments in PettingZoo's agent-environment-cycle form."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces

import cardgym
from cardgym.envs.env import CardEnv
from cardgym.envs.spaces import encoding_space, observation_space
from cardgym.errors import EpisodeOver, InvalidOption, ResetNeeded, require
from cardgym.game import Game

require("pettingzoo", "pettingzoo")
from pettingzoo import AECEnv  # noqa: E402

_AFTER_RESET = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards")


class PettingZooAEC(AECEnv[str, dict[str, np.ndarray], np.int64 | None]):
    """A card game as a ``pettingzoo.AECEnv``; agents are ``"player_0"``, ``"player_1"`` ... by seat.

    Example:
        >>> from cardgym.wrappers import PettingZooAEC
        >>> env = PettingZooAEC("cardgym/Chouine-v0")
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     observation, reward, terminated, truncated, info = env.last()
        ...     if terminated:
        ...         print(agent, reward, info["totals"])
        ...     env.step(None if terminated else int(observation["action_mask"].argmax()))
        player_0 -1.0 [54, 76]
        player_1 1.0 [54, 76]

    Observations: a dict of ``observation`` (int8, what that agent knows, itself as seat 0), ``action_mask`` (int8, all
    zero unless the agent is to act) and, if asked for, ``history``.  An observation is written when it is asked for.

    Infos: ``action_mask`` again, for those who look for it there; at the end also ``scores`` (natural points),
    ``stalled`` and what the game adds.

    An illegal action raises :class:`cardgym.errors.IllegalAction` and changes nothing; PettingZoo's
    ``TerminateIllegalWrapper`` gives the other habit.  Reset options that the game does not have are ignored with a
    warning, as PettingZoo's own tests demand.

    Attributes:
        card_env: the game itself.  Look through it; change the game through this class only.
        state_space: of :meth:`state`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cardgym",
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        env: str | Game,
        *,
        render_mode: str | None = None,
        encodings: Sequence[str] = ("observation",),
        view: int | Literal["player", "all"] = "player",
        **options: Any,
    ) -> None:
        """Makes the environment.

        Args:
            env: an id such as ``"cardgym/Chouine-v0"``, or a game of your own.
            render_mode: None, ``"ansi"`` (:meth:`render` returns text in colours), ``"rgb_array"`` (it returns a
                picture) or ``"human"`` (a window shows every step).
            encodings: which of ``"observation"`` and ``"history"`` observations hold; the first always.
            view: whose cards :meth:`render` shows: those of the player to act, of one seat, or all.
            **options: rule options of the game.

        Raises:
            UnknownGame, InvalidOption: what was given does not exist; the message says what does.
        """
        super().__init__()
        if "state" in encodings:
            raise InvalidOption("the encoding 'state' belongs to no agent: env.state() gives it")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidOption(f"render_mode={render_mode!r} is not one of None, 'ansi', 'human', 'rgb_array'")
        self.render_mode = render_mode
        arguments = {"render_mode": render_mode, "encodings": encodings, "view": view, **options}
        self.card_env: CardEnv
        if isinstance(env, Game):
            self.card_env, name = CardEnv(env, **arguments), f"cardgym/{env.name}"
        else:
            self.card_env, name = cardgym.make(env, **arguments).unwrapped, cardgym.checked_id(env)  # type: ignore[assignment]
        self.metadata = {**self.metadata, "name": _snake_case(name)}  # type: ignore[misc]
        self.possible_agents = [f"player_{seat}" for seat in range(self.card_env.num_seats)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # Each agent has spaces of its own, so that each can be seeded apart.
        game, layouts, shown = self.card_env.game, self.card_env.layouts, self.card_env.batch.encodings
        self.observation_spaces = {a: observation_space(game, layouts, shown) for a in self.possible_agents}
        self.action_spaces = {a: spaces.Discrete(len(game.actions)) for a in self.possible_agents}
        self.state_space = encoding_space(layouts["state"])
        self._seen: dict[str, np.ndarray] = {}  # what the agent to act sees

    def __getattr__(self, name: str) -> Any:
        hint = ": call reset first" if name in _AFTER_RESET else ""
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The ``Dict`` space of the agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The ``Discrete`` space of the agent's actions."""
        return self.action_spaces[agent]

    # --- The cycle -----------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts an episode.

        Args:
            seed: 0 ... 2**64 - 1, restarts the random stream; None continues it.
            options: the game's reset options, such as ``{"dealer": 0}``; others are ignored with a warning.

        Raises:
            InvalidOption: an unsuitable value.
        """
        known = self.card_env.game.reset_options
        unknown = [name for name in options or {} if name not in known]
        if unknown:
            warnings.warn(
                f"{self}: ignored reset options {', '.join(map(repr, unknown))}; known are {', '.join(known)}",
                stacklevel=2,
            )
        chosen = {name: value for name, value in (options or {}).items() if name in known}
        self._begin(*self.card_env.reset(seed=seed, options=chosen))

    def set_state(self, state: Any) -> None:
        """Continues from a state, given by ``env.card_env.state`` of an environment of the same game.

        Raises:
            InvalidState: not a state of this game, or one under other rule options.
        """
        self._begin(*self.card_env.set_state(state))

    def _begin(self, seen: dict[str, np.ndarray], info: dict[str, Any]) -> None:
        over = "scores" in info
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: self._nothing_to_do() for agent in self.agents}
        self._skip_agent_selection = None
        self._look(seen, info)
        if over:
            self._finish(info)

    def _nothing_to_do(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(len(self.card_env.game.actions), np.int8)}

    def _look(self, seen: dict[str, np.ndarray], info: dict[str, Any]) -> None:
        """Turns to the agent to act; the mask in its info is the array of its observation."""
        self._seen = seen
        self.agent_selection = self.possible_agents[info["player"]]
        self.infos[self.agent_selection] = {"action_mask": seen["action_mask"]}

    def step(self, action: Any) -> None:
        """One decision of ``agent_selection``, or the farewell of an agent whose game is over.

        Args:
            action: an action id; None after the end.

        Raises:
            IllegalAction: the rules forbid it; the message lists what is legal.
            InvalidAction: it is no action id.
            EpisodeOver, ResetNeeded: there is nothing to decide.
            ValueError: an action after the end.
        """
        self._need_reset()
        if not self.agents:
            raise EpisodeOver(f"{self.card_env.game.name}: the game is over: call reset before the next step")
        actor = self.agent_selection
        if self.terminations[actor]:
            self._was_dead_step(action)
            return
        seen, _, over, _, info = self.card_env.step(action)
        self.infos[actor] = self._nothing_to_do()
        self._look(seen, info)
        self._cumulative_rewards[actor] = 0.0
        self.rewards = dict(zip(self.possible_agents, info["rewards"].tolist(), strict=True))
        if any(self.rewards.values()):
            self._accumulate_rewards()
        if over:
            self._finish(info)

    def _finish(self, info: dict[str, Any]) -> None:
        facts = {name: fact for name, fact in info.items() if name not in ("player", "action_mask", "rewards")}
        self.infos = {agent: {**self._nothing_to_do(), **facts} for agent in self.agents}
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    def _deads_step_first(self) -> str:
        # PettingZoo's TerminateIllegalWrapper ends a game from outside through this hook: the masks go then too.
        for info in self.infos.values():
            info["action_mask"] = np.zeros_like(info["action_mask"])
        self._seen = {**self._seen, "action_mask": np.zeros_like(self._seen["action_mask"])}
        first: str = super()._deads_step_first()
        return first

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What the agent knows now; shapes and dtypes are those of :meth:`observation_space`.

        The arrays are never written again; for the agent to act they are the same until the next step.

        Raises:
            ResetNeeded: before the first reset.
            KeyError: no such agent.
        """
        self._need_reset()
        seat = self._seats[agent]
        if seat == self.card_env.player:
            return dict(self._seen)
        batch = self.card_env.batch
        views = batch.views(np.array([seat]), encodings=batch.encodings)
        return {name: getattr(views, name)[0] for name in batch.encodings} | {"action_mask": views.mask[0]}

    def state(self) -> np.ndarray:
        """Everything, hidden cards too, relative to the player to act: int8, laid out as ``layouts["state"]``.

        Raises:
            ResetNeeded: before the first reset.
        """
        self._need_reset()
        return self.card_env.batch.views(np.array([self.card_env.player]), encodings=("state",)).state[0]

    # --- For people ----------------------------------------------------------------------

    def render(self) -> Any:
        """The table: text (``"ansi"``), a picture (``"rgb_array"``) or None (``"human"``: a window shows it)."""
        return self.card_env.render()

    def close(self) -> None:
        """Ends the environment."""
        self.card_env.close()

    def _need_reset(self) -> None:
        if not self._seen:
            raise ResetNeeded(f"{self.card_env.game.name}: call reset first")


def _snake_case(env_id: str) -> str:
    """PettingZoo's style of names: ``"cardgym/ChouineMatch-v0"`` becomes ``"cardgym_chouine_match_v0"``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", env_id).replace("/", "_").replace("-", "_").lower()
