"""Many games as one ``gymnasium.vector.VectorEnv``, stepped by compiled loops."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

import cardgym
from cardgym import rng
from cardgym.batch import Batch, checked_count
from cardgym.envs.spaces import observation_space
from cardgym.errors import EpisodeOver, InvalidAction, InvalidOption, ResetNeeded
from cardgym.game import Game
from cardgym.kernel import records


class CardVectorEnv(gymnasium.vector.VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """``num_envs`` games side by side; each step is one decision in every game.

    Example:
        >>> import cardgym
        >>> from cardgym.batch import sample
        >>> import numpy as np
        >>> envs = cardgym.make_vec("cardgym/Chouine-v0", num_envs=256)
        >>> observations, infos = envs.reset(seed=0)
        >>> generator = np.random.default_rng(0)
        >>> for _ in range(100):
        ...     actions = sample(observations["action_mask"], generator)
        ...     observations, rewards, terminations, truncations, infos = envs.step(actions)
        >>> observations["observation"].shape
        (256, 417)

    Observations, rewards and infos are those of :class:`cardgym.envs.env.CardEnv`, stacked.  Sub-environment ``i``
    of ``reset(seed=s)`` plays the same games as a single environment reset with ``s + i``.

    Infos: ``player`` (int8), ``rewards`` (float64, (num_envs, seats)).  In the mode ``SAME_STEP`` (default) a
    finished game starts anew at once; ``infos["final_obs"]`` and ``infos["final_info"]`` then hold what was
    last seen, with the masks ``_final_obs`` and ``_final_info``, as in Gymnasium's own vector environments.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        num_envs: int = 1,
        encodings: Sequence[str] = ("observation",),
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        threads: int = 1,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 480),
        **options: Any,
    ) -> None:
        """Makes the environments.

        Args:
            game: name of a game in the box, or a game of your own.
            num_envs: number of games.
            encodings: which of ``"observation"``, ``"history"``, ``"state"`` observations hold; the first always.
            autoreset_mode: ``SAME_STEP``, ``NEXT_STEP`` or ``DISABLED`` (then reset finished games with
                ``reset(options={"reset_mask": ...})``).
            copy: False hands out the internal buffers, which the next call overwrites.
            threads: number of threads among which the games are divided.
            render_mode: None, ``"ansi"`` (text in colours) or ``"rgb_array"`` (pictures).
            render_size: width and height of pictures, pixels; at least 640 and 480.
            **options: rule options of the game.

        Raises:
            UnknownGame, InvalidOption: what was given does not exist; the message says what does.
        """
        self.game = cardgym.load_game(game) if isinstance(game, str) else game
        self.options = self.game.options.of(**options)
        modes = self.metadata["render_modes"]
        if render_mode is not None and not (isinstance(render_mode, str) and render_mode in modes):
            raise InvalidOption(f"render_mode={render_mode!r} is not one of None, 'ansi', 'rgb_array'")
        if render_mode == "rgb_array":
            from cardgym.render import picture

            picture.checked_size(render_size)
        self.render_mode, self.render_size = render_mode, render_size
        modes = [mode.value for mode in AutoresetMode]
        if not isinstance(autoreset_mode, str | AutoresetMode) or autoreset_mode not in (*AutoresetMode, *modes):
            raise InvalidOption(f"autoreset_mode={autoreset_mode!r} is not one of {', '.join(map(repr, modes))}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}  # type: ignore[misc]
        self.batch = Batch(self.game, self.options, checked_count("num_envs", num_envs), encodings, threads)
        self.num_envs, self.copy = self.batch.num_games, copy
        self.num_seats = self.batch.seats
        self.layouts = self.batch.layouts
        self.single_observation_space = observation_space(self.game, self.layouts, self.batch.encodings)
        self.single_action_space = spaces.Discrete(len(self.game.actions))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, bool)  # games that the next step or reset must start anew
        self._mask_out = np.zeros_like(self.batch.mask)  # handed out instead of the mask that actions are checked with
        self._rewards = np.zeros(num_envs)
        self._over = np.zeros(num_envs, bool)
        self._truncations = np.zeros(num_envs, bool)
        self._rows = np.arange(num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Starts episodes in all games, or in those of ``options["reset_mask"]``.

        Args:
            seed: game ``i`` gets ``seed + i``; or one seed per game; None continues the random streams.
            options: the game's reset options; ``"reset_mask"`` (bool, (num_envs,)) selects games.

        Raises:
            InvalidOption: an unknown reset option, an unsuitable value or mask.
            ValueError: a seed that is none, or too few or many of them.
        """
        options = dict(options or {})
        rows = self._selected(options.pop("reset_mask", None))
        seeds = self._seeds(seed)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        fresh = np.array([s is None for s in seeds])[rows] & ~self.batch.started[rows]
        for row in rows[fresh]:
            seeds[row] = int(self.np_random.integers(1 << 63))
        seeded = np.array([seeds[row] is not None for row in rows], bool)
        if (~seeded).any():
            self.batch.reset(None, rows[~seeded], options)
        if seeded.any():
            self.batch.reset([seeds[row] for row in rows[seeded]], rows[seeded], options)
        self._ended[rows] = False
        return self._observations(), self._infos()

    def _selected(self, mask: Any) -> np.ndarray:
        if mask is None:
            return self._rows
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise InvalidOption(
                f"reset_mask must be a bool array of shape ({self.num_envs},) with some True, got {mask!r}"
            )
        return np.flatnonzero(mask)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, Sized):
            if len(seed) != self.num_envs:
                raise ValueError(f"{self.num_envs} games need as many seeds, not {len(seed)}")
            seeds: list[int | None] = list(seed)
        else:
            rng.split_seed(seed)  # refuses what is no integer
            seeds = [int(seed) + i for i in range(self.num_envs)]
        for one in seeds:
            if one is not None:
                rng.split_seed(one)  # before any game is touched
        return seeds

    def step(self, actions: Any) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One decision in every game.

        Args:
            actions: integers, shape (num_envs,).  In the mode ``NEXT_STEP`` those of finished games are ignored.

        Raises:
            IllegalAction, InvalidAction: no game has changed; the message names the game.
            EpisodeOver: in the mode ``DISABLED``, a game is over and was not reset.
            ResetNeeded: before the first reset.
        """
        b = self.batch
        if not b.started.all():
            raise ResetNeeded(f"{self.game.name}: call reset first")
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            actors = b.players.copy()
            b.step(actions, autoreset=True)
            ended = b.over
        else:
            actors = self._step_unended(actions)
            ended = np.zeros(0, bool)
        rewards = b.rewards[self._rows, actors]
        if self.copy:
            over, truncations = b.over.copy(), np.zeros(self.num_envs, bool)
        else:
            np.copyto(self._over, b.over)
            np.copyto(self._rewards, rewards)
            over, truncations, rewards = self._over, self._truncations, self._rewards
        infos = self._infos()
        if ended.any():
            self._add_final(infos, np.flatnonzero(ended))
        return self._observations(), rewards, over, truncations, infos

    def _step_unended(self, actions: Any) -> np.ndarray:
        """Steps the games under way; in the mode ``NEXT_STEP`` starts the others anew."""
        b = self.batch
        actors = b.players.copy()
        ended = np.flatnonzero(self._ended)
        if not len(ended):
            b.step(actions)
        elif self.autoreset_mode == AutoresetMode.DISABLED:
            raise EpisodeOver(f"{self.game.name}: game {ended[0]} is over: reset it with options={{'reset_mask': ...}}")
        else:
            actions = np.asarray(actions)
            if actions.shape != (self.num_envs,):
                raise InvalidAction(f"{self.game.name}: expected {self.num_envs} actions, got shape {actions.shape}")
            going = np.flatnonzero(~self._ended)
            if len(going):
                b.step(actions[going], going)
            b.reset(None, ended)
            actors[ended] = b.players[ended]  # nobody acted there; the rewards are zero
        self._ended = b.over.copy()
        return actors

    def _add_final(self, infos: dict[str, Any], rows: np.ndarray) -> None:
        b = self.batch
        final = np.full(self.num_envs, None, object)
        parts = {name: getattr(b, f"last_{name}")[rows] for name in b.encodings}
        parts["action_mask"] = np.zeros((len(rows), len(self.game.actions)), np.int8)
        for i, row in enumerate(rows.tolist()):
            final[row] = {name: part[i] for name, part in parts.items()}
        mask = b.over.copy()
        infos["final_obs"], infos["_final_obs"] = final, mask
        scores, rewards = np.zeros((self.num_envs, self.num_seats), np.int32), np.zeros((self.num_envs, self.num_seats))
        scores[rows] = b.last_scores[rows, : self.num_seats]
        rewards[rows] = b.rewards[rows, : self.num_seats]
        infos["final_info"] = {"scores": scores, "_scores": mask, "rewards": rewards, "_rewards": mask}
        infos["_final_info"] = mask

    def _observations(self) -> dict[str, np.ndarray]:
        b = self.batch
        seen = {name: getattr(b, name) for name in b.encodings}
        if self.copy:
            return {name: part.copy() for name, part in seen.items()} | {"action_mask": b.mask.copy()}
        np.copyto(self._mask_out, b.mask)
        return seen | {"action_mask": self._mask_out}

    def _infos(self) -> dict[str, Any]:
        b = self.batch
        players, rewards = b.players, b.rewards[:, : self.num_seats]
        return (
            {"player": players.copy(), "rewards": rewards.copy()}
            if self.copy
            else {"player": players, "rewards": rewards}
        )

    def render(self) -> tuple[Any, ...] | None:
        """Every table as seen by its player to act: text in colours or a picture, as ``render_mode`` says."""
        if self.render_mode is None:
            return None
        tables = [(s, int(seat)) for s, seat in zip(records(self.batch.states), self.batch.players, strict=True)]
        if self.render_mode == "ansi":
            return tuple(self.game.text(s, seat, colour=True) for s, seat in tables)
        from cardgym.render import picture

        return tuple(picture.draw(self.game.pack, self.game.scene(s, seat), self.render_size) for s, seat in tables)

    def action_masks(self) -> np.ndarray:
        """The masks of legal actions as bool, shape (num_envs, actions)."""
        return self.batch.mask.astype(bool)

    @property
    def states(self) -> np.ndarray:
        """A copy of the states, structured, shape (num_envs,)."""
        return self.batch.states.copy()

    def set_state(self, index: int, state: Any) -> None:
        """Continues game ``index`` from a state of the same game; the next step starts from there.

        Raises:
            InvalidState: not a state of this game, or one under other rule options.
            InvalidOption: there is no such game in the batch.
        """
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < self.num_envs:
            raise InvalidOption(f"{self.game.name}: there is no game {index!r}: games are 0 ... {self.num_envs - 1}")
        self.batch.states[index] = self.game.checked_state(state, self.options)[0]
        self.batch.refresh(index)
        self._ended[index] = bool(self.batch.over[index])

    def close_extras(self, **kwargs: Any) -> None:
        self.batch.close()
