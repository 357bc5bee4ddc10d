"""One game as a ``gymnasium.Env``: the player to act observes, acts and is rewarded."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import gymnasium
import numpy as np
from gymnasium import spaces

import cardgym
from cardgym.batch import Batch
from cardgym.envs.spaces import observation_space
from cardgym.errors import InvalidAction, InvalidOption, ResetNeeded
from cardgym.game import Game
from cardgym.kernel import records

if TYPE_CHECKING:
    from cardgym.render.picture import Window


class CardEnv(gymnasium.Env[dict[str, np.ndarray], np.int64]):
    """A card game, one decision a step, whoever is to act.

    Example:
        >>> import cardgym
        >>> env = cardgym.make("cardgym/Chouine-v0")
        >>> _ = env.action_space.seed(1)
        >>> observation, info = env.reset(seed=1)
        >>> over = False
        >>> while not over:
        ...     action = env.action_space.sample(info["action_mask"])
        ...     observation, reward, over, _, info = env.step(action)
        >>> [float(r) for r in info["rewards"]], info["totals"]
        ([1.0, -1.0], [105, 65])

    Observation: a dict of ``observation`` (int8, what the player to act knows, laid out as in
    ``layouts["observation"]``), ``action_mask`` (int8, one number per action) and, if asked for,
    ``history`` and ``state``.  After the end it is that of the seat that moved last, with an all-zero mask.

    Reward: that of the seat that acted; ``info["rewards"]`` has every seat's.

    Info: ``player`` (the seat to act), ``action_mask`` (the array of the observation), ``rewards`` (float64,
    one per seat, of the last decision); at the end also ``scores`` (natural points), ``stalled`` and what the game
    adds.

    Attributes:
        game: the game.
        options: its rule options.
        layouts: the layout of each encoding.
        batch: the game as a :class:`cardgym.batch.Batch` of one.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        encodings: Sequence[str] = ("observation",),
        render_mode: str | None = None,
        view: int | Literal["player", "all"] = "player",
        render_size: tuple[int, int] = (640, 480),
        **options: Any,
    ) -> None:
        """Makes the environment.

        Args:
            game: name of a game in the box, or a game of your own.
            encodings: which of ``"observation"``, ``"history"``, ``"state"`` the observation holds; the first always.
            render_mode: None, ``"ansi"`` (text in colours), ``"rgb_array"`` (a picture) or ``"human"`` (a window).
            view: whose cards :meth:`render` shows: those of the player to act, of one seat, or all.
            render_size: width and height of pictures, pixels; at least 640 and 480.
            **options: rule options of the game.

        Raises:
            UnknownGame, InvalidOption: what was given does not exist; the message says what does.
            MissingExtra: pictures without pygame-ce.
        """
        self.game = cardgym.load_game(game) if isinstance(game, str) else game
        self.options = self.game.options.of(**options)
        modes = self.metadata["render_modes"]
        if render_mode is not None and not (isinstance(render_mode, str) and render_mode in modes):
            raise InvalidOption(f"render_mode={render_mode!r} is not one of None, 'ansi', 'human', 'rgb_array'")
        if render_mode in ("human", "rgb_array"):
            from cardgym.render import picture

            picture.checked_size(render_size)
        self.batch = Batch(self.game, self.options, 1, encodings)
        self.num_seats = self.batch.seats
        seat = isinstance(view, (int, np.integer)) and not isinstance(view, bool) and view in range(self.num_seats)
        if not seat and not (isinstance(view, str) and view in ("player", "all")):
            raise InvalidOption(f"view={view!r} is not 'player', 'all' or a seat from 0 to {self.num_seats - 1}")
        self.view = view
        self.render_mode = render_mode
        self.render_size = render_size
        self._window: Window | None = None
        self.layouts = self.batch.layouts
        self.observation_space: spaces.Space[Any] = observation_space(self.game, self.layouts, self.batch.encodings)
        self.action_space = spaces.Discrete(len(self.game.actions))
        self._action = np.zeros(1, np.int64)
        # Views of the buffers that every step writes to, made once: making one takes as long as copying it.
        self._seen = [(name, getattr(self.batch, name)[0]) for name in self.batch.encodings]
        self._mask, self._rewards = self.batch.mask[0], self.batch.rewards[0, : self.num_seats]
        self._state = records(self.batch.states)[0]

    # --- Gymnasium -----------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: 0 ... 2**64 - 1, restarts the random stream; None continues it (the first time: from the
                operating system's randomness).
            options: the game's reset options, such as ``{"dealer": 0}``.

        Raises:
            InvalidOption: an unknown reset option or an unsuitable value.
        """
        super().reset(seed=seed)
        if seed is None and not self.batch.started[0]:
            seed = int(self.np_random.integers(1 << 63))
        self.batch.reset(None if seed is None else [seed], options=options)
        self._show()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """One decision of the player to act.

        Args:
            action: its id, an integer.

        Raises:
            IllegalAction: the rules forbid it; the message lists what is legal.
            InvalidAction: it is no action id.
            EpisodeOver, ResetNeeded: there is nothing to decide.
        """
        self._need_reset()
        if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
            if not (isinstance(action, np.ndarray) and action.dtype.kind in "iu" and action.size == 1):
                raise InvalidAction(
                    f"{self.game.name}: an action is an integer from 0 to {len(self.game.actions) - 1}, "
                    f"not {action!r} of type {type(action).__name__}"
                )
            action = action.item()
        actor = self.batch.players.item(0)
        try:
            self._action[0] = action
        except OverflowError:
            allowed = f"actions are 0 ... {len(self.game.actions) - 1}"
            raise InvalidAction(f"{self.game.name}: action {action} is out of range: {allowed}") from None
        self.batch.step(self._action)
        self._show()
        info = self._info()
        return (
            self._observation(info["action_mask"]),
            self._rewards.item(actor),
            self.batch.over.item(0),
            False,
            info,
        )

    def render(self) -> Any:
        """The table, seen as ``view`` says.

        Returns:
            Text in colours (``render_mode="ansi"``), a picture as uint8 of shape (height, width, 3)
            (``"rgb_array"``), or None (``"human"``: a window shows it, at every step by itself).
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render_mode; give render_mode='ansi' when making it")
            return None
        self._need_reset()
        if self.render_mode == "human":
            self._show()
            return None
        s = self._state
        if self.render_mode == "ansi":
            return self.game.text(s, self._viewer(), colour=True)
        from cardgym.render import picture

        return picture.draw(self.game.pack, self.game.scene(s, self._viewer()), self.render_size)

    def _viewer(self) -> int | None:
        seats: dict[Any, int | None] = {"player": self.player, "all": None}
        return seats.get(self.view, self.view)  # type: ignore[arg-type]

    def _show(self) -> None:
        """Shows the table in the window, when ``render_mode="human"``."""
        if self.render_mode != "human":
            return
        from cardgym.render import picture

        if self._window is None:
            self._window = picture.Window(f"cardgym: {self.game.title}", self.render_size, self.metadata["render_fps"])
        self._window.show(self.game.pack, self.game.scene(self._state, self._viewer()))

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def action_masks(self) -> np.ndarray:
        """The mask of legal actions as bool, shape (actions,), in the form that sb3-contrib asks for."""
        self._need_reset()
        return self.batch.mask[0].astype(bool)

    # --- The state -----------------------------------------------------------------------

    @property
    def player(self) -> int:
        """The seat to act; after the end the seat that moved last."""
        return int(self.batch.players[0])

    @property
    def state(self) -> np.ndarray:
        """A copy of the state: a structured array of shape (1,), as :meth:`set_state` takes it."""
        self._need_reset()
        return self.batch.states.copy()

    def set_state(self, state: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Continues from a state, given by :attr:`state` of an environment of the same game.

        Returns:
            Observation and info, as :meth:`reset` gives them.

        Raises:
            InvalidState: not a state of this game, or one under other rule options.
        """
        checked = self.game.checked_state(state, self.options)
        self.batch.states[:] = checked
        self.batch.refresh(0)
        self._show()
        return self._observation(), self._info()

    def clone(self) -> CardEnv:
        """An independent copy in the same state, with the same chance events ahead."""
        saved = self.__getstate__() | {"game": self.game}
        for name in ("np_random", "action_space"):  # they change with use; the rest is copied or constant
            saved[name] = copy.deepcopy(saved[name])
        twin = type(self).__new__(type(self))
        twin.__setstate__(saved)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> CardEnv:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        # Games in the box travel by name; a game of your own must be picklable itself.
        boxed = self.game.name in cardgym.game_names() and self.game is cardgym.load_game(self.game.name)
        return {
            "game": self.game.name if boxed else self.game,
            "options": {f: getattr(self.options, f) for f in self.options.encoded()},
            "encodings": self.batch.encodings,
            "render_mode": self.render_mode,
            "view": self.view,
            "render_size": self.render_size,
            "spec": self.spec,
            "np_random": self._np_random,
            "np_random_seed": self._np_random_seed,
            "action_space": self.action_space,
            "state": self.batch.states.copy() if self.batch.started[0] else None,
            "rewards": self.batch.rewards.copy(),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            saved["game"], encodings=saved["encodings"], render_mode=saved["render_mode"], view=saved["view"],
            render_size=saved["render_size"], **saved["options"],
        )  # fmt: skip
        self.spec, self._np_random, self._np_random_seed = (saved[k] for k in ("spec", "np_random", "np_random_seed"))
        self.action_space = saved["action_space"]
        if saved["state"] is not None:
            self.set_state(saved["state"])
            self.batch.rewards[:] = saved["rewards"]

    # --- Inside --------------------------------------------------------------------------

    def _need_reset(self) -> None:
        if not self.batch.started[0]:
            raise ResetNeeded(f"{self.game.name}: call reset first")

    def _observation(self, mask: np.ndarray | None = None) -> dict[str, np.ndarray]:
        seen = {name: buffer.copy() for name, buffer in self._seen}
        seen["action_mask"] = self._mask.copy() if mask is None else mask
        return seen

    def _info(self) -> dict[str, Any]:
        b = self.batch
        info: dict[str, Any] = {
            "player": b.players.item(0),
            "action_mask": self._mask.copy(),
            "rewards": self._rewards.copy(),
        }
        if b.over[0]:
            s = self._state
            info["scores"] = s.scores[: self.num_seats].copy()
            info["stalled"] = bool(s.stalled)
            info |= self.game.info(s)
        return info
