"""Single-agent view of many games: the learner decides in all of them, agents play the other seats in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from cardgym.baselines.agents import Agent, act_by_assignment
from cardgym.envs.spaces import encoding_space
from cardgym.envs.vector_env import CardVectorEnv
from cardgym.errors import InvalidOption, ResetNeeded
from cardgym.wrappers.self_play import checked_seat, opponent_probabilities


class VectorSelfPlay(gymnasium.vector.VectorWrapper[np.ndarray, np.ndarray, Any, np.ndarray, np.ndarray]):
    """As :class:`cardgym.wrappers.SelfPlay`, over a vector environment; each opponent is asked once for all its games.

    A finished game starts anew at once (``SAME_STEP``).

    Example:
        >>> import cardgym
        >>> from cardgym.baselines.agents import RandomAgent
        >>> from cardgym.wrappers import VectorSelfPlay
        >>> envs = VectorSelfPlay(cardgym.make_vec("cardgym/Chouine-v0", num_envs=8), opponents=[RandomAgent()])
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_masks().argmax(axis=1))

    Infos: ``action_mask`` (int8, (n, actions)), ``learner`` (its seat in each game); where games ended, ``final_obs``
    and ``final_info`` with masks; ``final_info`` holds ``rewards`` (per seat, summed since the learner's decision),
    ``scores`` and ``learner``.
    """

    env: CardVectorEnv

    def __init__(
        self,
        env: CardVectorEnv,
        opponents: Sequence[Agent],
        seat: int | str = "random",
        weights: Sequence[float] | None = None,
    ) -> None:
        """Wraps a vector environment.

        Args:
            env: the games, in the auto-reset mode ``SAME_STEP``.
            opponents: agents; each other seat draws one of them for an episode.
            seat: the learner's seat, or ``"random"``: drawn for each episode.
            weights: with which weights opponents are drawn; equal if None.

        Raises:
            InvalidOption: no opponents, unsuitable weights, no such seat or another auto-reset mode.
        """
        super().__init__(env)
        if not isinstance(env, CardVectorEnv) or env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise InvalidOption(f"VectorSelfPlay wraps a CardVectorEnv in the mode SAME_STEP, not {env}")
        self.batch = env.batch
        self.opponents, self.probabilities = tuple(opponents), opponent_probabilities(opponents, weights)
        self.seat = checked_seat(seat, env.num_seats)
        self.single_observation_space = encoding_space(env.layouts["observation"])
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        n = env.num_envs
        self._team_of = env.game.team_of(env.options)
        self.learner = np.zeros(n, np.int64)
        self._playing = np.zeros((n, env.num_seats), np.int64)
        self._rows = np.arange(n)
        self._shares = np.cumsum(self.probabilities) / np.sum(self.probabilities)
        self._generator = np.random.default_rng()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode in every game and plays on until the learner has to decide everywhere.

        Args:
            seed: game ``i`` gets ``seed + i``; the draw of seats and opponents and their play follow from it too.
            options: reset options of the game.
        """
        if options is not None and "reset_mask" in options:
            raise InvalidOption("reset_mask: VectorSelfPlay starts finished games itself and resets all games at once")
        if seed is not None:
            entropy = int(seed) if isinstance(seed, (int, np.integer)) else [s or 0 for s in seed]
            self._generator = np.random.default_rng(entropy)
        self.env.reset(seed=seed, options=options)
        self._seat(self._rows)
        self._play_on()
        return self._seen(), self._infos()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One decision of the learner in every game, then the others' until it has to decide again.

        Args:
            actions: integers, shape (n,).
        """
        b = self.batch
        if not b.started.all():
            raise ResetNeeded(f"{b.game.name}: call reset first")
        b.step(actions)
        rewards, over, final = self._play_on(b.rewards[:, : b.seats].copy())
        infos = self._infos()
        if over.any():
            infos |= final | {"_final_obs": over, "_final_info": over}
        return self._seen(), rewards, over, np.zeros(len(over), bool), infos

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions as bool, shape (n, actions)."""
        return self.batch.mask.astype(bool)

    def _seat(self, rows: np.ndarray) -> None:
        """Draws the learner's seat and the opponents for new episodes."""
        seats = self._playing.shape[1]
        drawn = self._generator.integers(seats, size=len(rows)) if self.seat == "random" else int(self.seat)
        self.learner[rows] = drawn
        # What Generator.choice does, without its checks.
        self._playing[rows] = self._shares.searchsorted(self._generator.random((len(rows), seats)), side="right")

    def _play_on(self, sums: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Lets the others act until the learner has to decide in every game.

        Args:
            sums: rewards per seat of the learner's own decision, to be added to; None in a reset, where games that
                end before the learner's first decision count for nothing.

        Returns:
            The learner's rewards, which games ended, and their final observations and infos.
        """
        b = self.batch
        counting = sums is not None
        sums = np.zeros((b.num_games, b.seats)) if sums is None else sums
        ended = np.zeros(b.num_games, bool)
        rewards = np.zeros(b.num_games)
        final: dict[str, Any] = {}
        waiting = self._rows
        while True:
            over = waiting[b.over[waiting]]
            if len(over):
                first = over[~ended[over]] if counting else over[:0]
                if len(first):
                    self._close(first, sums, final)
                    rewards[first] = sums[first, self.learner[first]]
                    ended[first] = True
                b.reset(None, over)
                self._seat(over)
            waiting = waiting[self._team_of[b.players[waiting]] != self._team_of[self.learner[waiting]]]
            if not len(waiting):
                break
            assigned = self._playing[waiting, b.players[waiting]]
            b.step(act_by_assignment(b, waiting, self.opponents, assigned, self._generator), waiting)
            sums[waiting] += b.rewards[waiting, : b.seats]
        going = ~ended
        rewards[going] = sums[self._rows, self.learner][going]
        return rewards, ended, final

    def _close(self, rows: np.ndarray, sums: np.ndarray, final: dict[str, Any]) -> None:
        """Notes what the learner last saw of games that have ended, before they start anew."""
        b = self.batch
        if not final:
            shape = (b.num_games, b.seats)
            final["final_obs"] = np.full(b.num_games, None, object)
            final["final_info"] = {
                "rewards": np.zeros(shape),
                "scores": np.zeros(shape, np.int32),
                "learner": np.zeros(b.num_games, np.int64),
            }
        seen = b.views(self.learner[rows], rows).observation
        for row, observation in zip(rows, seen, strict=True):
            final["final_obs"][row] = observation
        final["final_info"]["rewards"][rows] = sums[rows]
        final["final_info"]["scores"][rows] = b.last_scores[rows, : b.seats]
        final["final_info"]["learner"][rows] = self.learner[rows]

    def _seen(self) -> np.ndarray:
        return self.batch.observation.copy()

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self.batch.mask.copy(), "learner": self.learner.copy()}
