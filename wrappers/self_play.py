"""Single-agent view of one game: a learner's seat, the others played by agents inside ``step``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from cardgym.baselines.agents import Agent, Decisions
from cardgym.envs.env import CardEnv
from cardgym.envs.spaces import encoding_space
from cardgym.errors import InvalidOption


class SelfPlay(gymnasium.Wrapper[np.ndarray, np.int64, dict[str, np.ndarray], np.int64]):
    """One learner; every other seat is played by an agent, drawn anew for each episode.

    Where seats form teams the learner decides for its whole team, always seeing what the seat to act sees.

    ``step`` returns when the learner has to decide again or the game is over.  The reward is the sum of
    the learner's own rewards in between, so no reward of one seat is ever paired with what another seat saw.

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.wrappers import SelfPlay
        >>> env = SelfPlay(cardgym.make("cardgym/Chouine-v0"), opponents=[RandomAgent()])
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step(env.action_masks().argmax())

    Observation: the int8 vector ``observation`` of the learner's seat; after the end what that seat then knows.
    Info: ``action_mask`` of the learner, ``learner`` (its seat), ``rewards`` (per seat, summed), at the end what
    :class:`cardgym.envs.env.CardEnv` adds.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        opponents: Sequence[Agent],
        seat: int | str = "random",
        weights: Sequence[float] | None = None,
    ) -> None:
        """Wraps an environment.

        Args:
            env: a :class:`cardgym.envs.env.CardEnv`, possibly inside other wrappers.
            opponents: agents; each other seat draws one of them for an episode.
            seat: the learner's seat, or ``"random"``: drawn for each episode.
            weights: with which weights opponents are drawn; equal if None.

        Raises:
            InvalidOption: no opponents, unsuitable weights or no such seat.
        """
        super().__init__(env)
        if not isinstance(env.unwrapped, CardEnv):
            raise InvalidOption(f"SelfPlay wraps a CardEnv, not {env.unwrapped}")
        self.card_env: CardEnv = env.unwrapped
        self.opponents, self.probabilities = tuple(opponents), opponent_probabilities(opponents, weights)
        self.seat = checked_seat(seat, self.card_env.num_seats)
        self.observation_space = encoding_space(self.card_env.layouts["observation"])
        self.learner = 0
        self._team_of = self.card_env.game.team_of(self.card_env.options)
        self._playing = np.zeros(self.card_env.num_seats, np.int64)  # index of the opponent in each seat
        self._generator = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode and plays on until the learner has to decide.

        Args:
            seed: of the game, and of the draw of seat and opponents and of the opponents' play.
            options: reset options of the game.
        """
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        while True:
            _, info = self.env.reset(seed=seed, options=options)
            seats = self.card_env.num_seats
            self.learner = int(self._generator.integers(seats)) if self.seat == "random" else int(self.seat)
            self._playing = self._generator.choice(len(self.opponents), seats, p=self.probabilities)
            over, _, info = self._play_on(False, np.zeros(seats), info)
            if not over:  # else the game ended before the learner's first decision: deal again
                return self._seen(False), info
            seed = None

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One decision of the learner, then the others' until it has to decide again.

        Args:
            action: an action id of the learner.
        """
        _, _, over, truncated, info = self.env.step(action)
        over, rewards, info = self._play_on(over, info["rewards"].copy(), info)
        return self._seen(over), float(rewards[self.learner]), over, truncated, info

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions as bool, shape (actions,), in the form that sb3-contrib asks for."""
        return self.card_env.action_masks()

    def _play_on(
        self, over: bool, rewards: np.ndarray, info: dict[str, Any]
    ) -> tuple[bool, np.ndarray, dict[str, Any]]:
        while not over and self._team_of[self.card_env.player] != self._team_of[self.learner]:
            agent = self.opponents[self._playing[self.card_env.player]]
            action: np.int64 = agent.act(Decisions(self.card_env.batch, np.zeros(1, np.int64)), self._generator)[0]
            _, _, over, _, info = self.env.step(action)
            rewards += info["rewards"]
        return over, rewards, {**info, "rewards": rewards, "learner": self.learner}

    def _seen(self, over: bool) -> np.ndarray:
        batch = self.card_env.batch
        seat = self.learner if over else self.card_env.player
        observation: np.ndarray = batch.views(np.array([seat])).observation[0]
        return observation


def opponent_probabilities(opponents: Sequence[Agent], weights: Sequence[float] | None) -> np.ndarray:
    """Probabilities of drawing each opponent.

    Raises:
        InvalidOption: no opponents, or weights that are not as many non-negative numbers.
    """
    if not opponents:
        raise InvalidOption("opponents is empty: give at least one agent")
    w = np.ones(len(opponents)) if weights is None else np.asarray(weights, float)
    if w.shape != (len(opponents),) or not np.isfinite(w).all() or (w < 0).any() or w.sum() == 0:
        raise InvalidOption(f"weights={weights!r} are not {len(opponents)} non-negative numbers, one per opponent")
    return w / w.sum()


def checked_seat(seat: int | str, seats: int) -> int | str:
    """``seat`` itself.

    Raises:
        InvalidOption: it is neither ``"random"`` nor a seat.
    """
    if seat != "random" and (isinstance(seat, (str, bool)) or seat not in range(seats)):
        raise InvalidOption(f"seat={seat!r} is neither 'random' nor a seat from 0 to {seats - 1}")
    return seat
