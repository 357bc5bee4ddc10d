"""Loops over many games at once: reset, step, encode, sample, play out.

:class:`Batch` holds an array of states and the buffers that the compiled loops write to.
Everything that plays many games (vector environment, wrappers, arena, search) and the single
environment too (a batch of one) goes through it, so there is one way to step a game.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from cardgym import rng
from cardgym.errors import EpisodeOver, IllegalAction, InvalidAction, InvalidOption, InvalidState
from cardgym.game import Game, Options
from cardgym.kernel import helper, kernel, routine

ENCODINGS = ("observation", "history", "state")


class Kernels(NamedTuple):
    """The compiled loops that play a game and write what is seen of it."""

    reset: Callable[..., None]
    step: Callable[..., None]
    encode: Callable[..., None]


class Worlds(NamedTuple):
    """The compiled loops of a game that search goes by; they write nothing that is seen."""

    resample: Callable[..., None]
    playout: Callable[..., int]


@helper
def _no_history(s, seat, out):
    """Stands in for a history that is not asked for."""


@helper
def _no_state(s, out):
    """Stands in for a state encoding that is not asked for."""


@functools.cache
def kernels(game: Game, full: bool) -> Kernels:
    """The compiled loops of a game; compiled at first use, kept on disk afterwards.

    Args:
        game: the game.
        full: with history and state, for the encodings that are asked for; False leaves both out, which halves the time
            to compile.
    """
    deal, legal, apply, observe = game.deal, game.legal, game.apply, game.observe
    history = game.history if full and game.history else _no_history
    reveal = game.reveal if full else _no_state
    seat_count = game.dtype["rewards"].shape[0]
    num_actions = len(game.actions)

    def compiled(function: Any) -> Any:
        name = f"{game.name}.{function.__name__}" + (".full" if full else "")
        return kernel(name, game.sources)(function)

    @routine
    def encode_row(s, seat, row, observation, past, everything):
        observe(s, seat, observation[row])
        if past.shape[1] > 0:
            history(s, seat, past[row])
        if everything.shape[1] > 0:
            reveal(s, everything[row])

    @routine
    def mask_row(s, seat, row, mask):
        if seat == s.player and not s.over:
            legal(s, mask[row])
        else:
            for a in range(num_actions):
                mask[row, a] = 0

    @routine
    def restart(states, row, template):
        """A fresh episode that continues the random stream of the one before."""
        s = states[row]
        a, b, c, d = s.rng[0], s.rng[1], s.rng[2], s.rng[3]
        states[row] = template[0]
        s = states[row]
        s.rng[0], s.rng[1], s.rng[2], s.rng[3] = a, b, c, d
        deal(s)

    @compiled
    def reset(start, stop, rows, states, template, seeded, seeds, players, mask, observation, past, everything):
        """Starts episodes in ``rows``; ``seeds`` (n, 2) restart the streams where ``seeded``."""
        for k in range(start, stop):
            row = rows[k]
            if seeded:
                rng.seed(states[row].rng, seeds[k, 0], seeds[k, 1])
            restart(states, row, template)
            s = states[row]
            players[row] = s.player
            encode_row(s, s.player, row, observation, past, everything)
            mask_row(s, s.player, row, mask)

    @compiled
    def step(
        start, stop, rows, actions, states, template, autoreset,
        players, rewards, over, mask, observation, past, everything,
        last_scores, last_observation, last_past, last_everything,
    ):  # fmt: skip
        """One decision in each of ``rows``; the actions must be legal."""
        for k in range(start, stop):
            row = rows[k]
            s = states[row]
            for seat in range(seat_count):
                s.rewards[seat] = 0.0
            apply(s, actions[k])
            for seat in range(seat_count):
                rewards[row, seat] = s.rewards[seat]
            over[row] = s.over
            if s.over:
                for seat in range(seat_count):
                    last_scores[row, seat] = s.scores[seat]
                if autoreset:
                    encode_row(s, s.player, row, last_observation, last_past, last_everything)
                    restart(states, row, template)
                    s = states[row]
            players[row] = s.player
            encode_row(s, s.player, row, observation, past, everything)
            mask_row(s, s.player, row, mask)

    @compiled
    def encode(start, stop, rows, seats, states, mask, observation, past, everything):
        """What ``seats[k]`` sees of the game in ``rows[k]``, written to row ``k`` of the buffers."""
        for k in range(start, stop):
            s = states[rows[k]]
            encode_row(s, seats[k], k, observation, past, everything)
            mask_row(s, seats[k], k, mask)

    return Kernels(reset, step, encode)


@functools.cache
def worlds(game: Game) -> Worlds:
    """The compiled loops of a game that search goes by; compiled at first use, kept on disk afterwards."""
    legal, apply, redeal = game.legal, game.apply, game.resample
    num_actions = len(game.actions)

    def compiled(function: Any) -> Any:
        return kernel(f"{game.name}.{function.__name__}", game.sources)(function)

    @compiled
    def resample(start, stop, seats, states, low, high):
        """Re-deals in every state what ``seats[k]`` cannot know; random stream of row k: seed + k."""
        salt = np.zeros(4, np.int64)
        for k in range(start, stop):
            rng.seed(salt, (low + k) & 0xFFFFFFFF, high)
            redeal(states[k], seats[k], salt)

    @compiled
    def playout(start, stop, states, low, high, limit):
        """Random legal play until the end or ``limit`` decisions; returns the number of decisions."""
        salt = np.zeros(4, np.int64)
        mask = np.zeros(num_actions, np.int8)
        decisions = 0
        for k in range(start, stop):
            rng.seed(salt, (low + k) & 0xFFFFFFFF, high)
            s = states[k]
            for _ in range(limit):
                if s.over:
                    break
                legal(s, mask)
                apply(s, pick(mask, rng.next_word(salt)))
                decisions += 1
        return decisions

    return Worlds(resample, playout)


@helper
def pick(mask, word):
    """The legal action that 32 random bits choose, all equally likely; -1 if there is none."""
    legal = 0
    for a in range(len(mask)):
        legal += mask[a] != 0
    left = (word * legal) >> 32
    action = -1
    while left >= 0 and action + 1 < len(mask):  # a single, well predicted exit
        action += 1
        left -= mask[action] != 0
    return action if left < 0 else -1


@kernel("core.sample")
def _sample(mask, words, actions):
    for k in range(len(actions)):
        actions[k] = pick(mask[k], words[k])


@kernel("core.first_illegal")
def _first_illegal(rows, actions, mask):
    """Index of the first action that its mask forbids, -1 if there is none."""
    for k in range(len(rows)):
        a = actions[k]
        if a < 0 or a >= mask.shape[1] or mask[rows[k], a] == 0:
            return k
    return -1


def sample(mask: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Uniform random legal actions.

    Args:
        mask: int8, shape (n, actions).
        generator: source of randomness; one 32-bit word is used per row.

    Returns:
        int64, shape (n,); -1 where nothing is legal.
    """
    actions = np.empty(len(mask), np.int64)
    words = generator.integers(1 << 32, size=len(mask), dtype=np.int64)
    _sample(np.ascontiguousarray(mask), words, actions)
    return actions


class Views(NamedTuple):
    """What given seats see: one row per question.

    Attributes:
        observation: int8, shape (n, observation size).
        mask: int8, shape (n, actions); all zero for a seat that is not to act.
        history: int8, shape (n, history size), or (n, 0) if not asked for.
        state: int8, shape (n, state size), or (n, 0) if not asked for.
    """

    observation: np.ndarray
    mask: np.ndarray
    history: np.ndarray
    state: np.ndarray


class Batch:
    """Many games of one kind, advanced together.

    Row buffers are overwritten by the next call; copy what you keep.

    Attributes:
        game, options, num_games, encodings: as given.
        layouts: layout of each encoding for these options.
        states: structured array of game states, shape (num_games,).
        observation, mask: what the player to act sees and may do, int8, (num_games, ...).
        history, state: further encodings, (num_games, 0) if not asked for.
        players: seat to act, int8, (num_games,).
        rewards: of the last decision, per seat, float64, (num_games, seats).
        over: did the last decision end the game, bool, (num_games,).
        last_scores: natural scores of the game that ended last in each row, int32, (num_games, seats).
        last_observation, last_history, last_state: of the seat that made the last move of that game.
    """

    def __init__(
        self,
        game: Game,
        options: Options | None = None,
        num_games: int = 1,
        encodings: Sequence[str] = ("observation",),
        threads: int = 1,
    ) -> None:
        """Allocates the states and buffers; :meth:`reset` must follow.

        Args:
            game: the game.
            options: rule options; defaults if None.
            num_games: number of games, at least 1.
            encodings: which of ``"observation"``, ``"history"``, ``"state"`` to write; the first always is.
            threads: number of threads among which the games are divided.
        """
        self.game = game
        self.options = options if options is not None else game.options()
        self.layouts = game.layouts(self.options)
        try:
            wanted = () if isinstance(encodings, str) else tuple(encodings)
        except TypeError:  # no iterable, or an array of no dimension, which only seems to be one
            wanted = ()
        if not wanted and not isinstance(encodings, (tuple, list)):
            raise InvalidOption(f"encodings={encodings!r} is no sequence of names, such as ('observation', 'history')")
        for name in wanted:
            if not isinstance(name, str) or name not in self.layouts:
                raise InvalidOption(f"{game.name} has no encoding {name!r}; it has {', '.join(self.layouts)}")
        self.num_games, self.threads = checked_count("num_games", num_games), checked_count("threads", threads)
        self.encodings = tuple(n for n in ENCODINGS if n == "observation" or n in wanted)
        self.seats = game.seats(self.options)
        self.states = np.zeros(num_games, game.dtype)
        self._kernels = kernels(game, len(self.encodings) > 1)
        self._template = game.template(self.options)
        self._all = np.arange(num_games)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.started = np.zeros(num_games, bool)

        n, seats = num_games, game.dtype["rewards"].shape[0]
        self.mask = np.zeros((n, len(game.actions)), np.int8)
        self.observation, self.history, self.state = (self._buffer(n, e) for e in ENCODINGS)
        self.last_observation, self.last_history, self.last_state = (self._buffer(n, e) for e in ENCODINGS)
        self.players = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, seats))
        self.over = np.zeros(n, bool)
        self.last_scores = np.zeros((n, seats), np.int32)

    def _buffer(self, rows: int, encoding: str) -> np.ndarray:
        width = self.layouts[encoding].size if encoding in self.encodings else 0
        return np.zeros((rows, width), np.int8)

    def reset(
        self,
        seeds: Sequence[int] | np.ndarray | None = None,
        rows: np.ndarray | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Starts new episodes.

        Args:
            seeds: one seed per row, 0 ... 2**64 - 1; None continues the rows' random streams (which must
                have been started before).
            rows: which games, int64; None for all.
            options: reset options of the game, such as ``{"dealer": 0}``, for these episodes only.
        """
        rows = self._all if rows is None else rows
        template = self.game.template(self.options, options) if options else self._template
        if seeds is None:
            if not self.started[rows].all():
                raise ValueError("the first reset of a game needs a seed")
            words = np.zeros((0, 2), np.int64)
        else:
            if len(seeds) != len(rows):
                raise ValueError(f"{len(rows)} games need as many seeds, not {len(seeds)}")
            words = np.array([rng.split_seed(s) for s in seeds], np.int64).reshape(-1, 2)
        self._spread(
            len(rows), self._kernels.reset, rows, self.states, template, seeds is not None, words,
            self.players, self.mask, self.observation, self.history, self.state,
        )  # fmt: skip
        self.started[rows] = True
        self.over[rows] = False
        self.rewards[rows] = 0.0

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None, autoreset: bool = False) -> None:
        """One decision in each of the given games.

        Args:
            actions: one action id per row, integers.
            rows: which games, int64, each at most once; None for all.
            autoreset: start the next episode of a game as soon as it is over.

        Raises:
            IllegalAction: one of them is illegal; no game has changed.
            EpisodeOver: one of the games is over; no game has changed.
            InvalidAction: wrong type or shape.
        """
        rows = self._all if rows is None else rows
        actions = self._checked(actions, rows)
        self._spread(
            len(rows), self._kernels.step, rows, actions, self.states, self._template, autoreset,
            self.players, self.rewards, self.over, self.mask, self.observation, self.history, self.state,
            self.last_scores, self.last_observation, self.last_history, self.last_state,
        )  # fmt: skip

    def _checked(self, actions: Any, rows: np.ndarray) -> np.ndarray:
        try:
            actions = np.asarray(actions)
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidAction(f"{self.game.name}: expected {len(rows)} integer actions: {error}") from error
        if actions.dtype.kind not in "iu" or actions.shape != rows.shape:
            raise InvalidAction(
                f"{self.game.name}: expected {len(rows)} integer actions, got {actions.dtype} of shape {actions.shape}"
            )
        actions = actions.astype(np.int64, copy=False)
        wrong = _first_illegal(rows, actions, self.mask)
        if wrong >= 0:
            self._refuse(int(actions[wrong]), int(rows[wrong]))
        return actions

    def _refuse(self, action: int, row: int) -> None:
        index = row if self.num_games > 1 else None
        where = "" if index is None else f" {index}"
        if not self.started[row]:
            raise EpisodeOver(f"{self.game.name}: game{where} has not been started: call reset first")
        if self.states["over"][row]:
            raise EpisodeOver(f"{self.game.name}: game{where} is over: call reset before the next step")
        size = len(self.game.actions)
        if not 0 <= action < size:
            raise InvalidAction(f"{self.game.name}: action {action} is out of range: actions are 0 ... {size - 1}")
        legal = self.game.legal_names(self.mask[row])
        name = self.game.actions[action].name
        raise IllegalAction.of(self.game.name, action, name, int(self.players[row]), legal, index)

    def views(
        self, seats: np.ndarray, rows: np.ndarray | None = None, encodings: Sequence[str] = ("observation",)
    ) -> Views:
        """What given seats see of given games, in fresh arrays.

        Args:
            seats: one seat per row, integers.
            rows: which games, int64, repeats allowed; None for all.
            encodings: which encodings to write.
        """
        rows = self._all if rows is None else rows
        n = len(rows)
        out = {
            e: np.zeros((n, self.layouts[e].size if e in encodings else 0), np.int8)
            for e in ENCODINGS
            if e in self.layouts
        }
        past = out.get("history", np.zeros((n, 0), np.int8))
        observation = (
            out["observation"]
            if "observation" in encodings
            else np.zeros((n, self.layouts["observation"].size), np.int8)
        )
        mask = np.zeros((n, len(self.game.actions)), np.int8)
        seats = np.asarray(seats, np.int64)
        compiled = kernels(self.game, True) if {"history", "state"} & {*encodings} else self._kernels
        self._spread(n, compiled.encode, rows, seats, self.states, mask, observation, past, out["state"])
        return Views(observation, mask, past, out["state"])

    def refresh(self, rows: np.ndarray | int) -> None:
        """Writes the buffers of some games anew, after their states were replaced from outside."""
        rows = np.atleast_1d(rows)
        players = self.states["player"][rows]
        view = self.views(players, rows, self.encodings)
        self.mask[rows] = view.mask
        self.observation[rows] = view.observation
        for buffer, fresh in ((self.history, view.history), (self.state, view.state)):
            if buffer.shape[1]:
                buffer[rows] = fresh
        self.players[rows], self.over[rows], self.started[rows] = players, self.states["over"][rows] != 0, True
        self.rewards[rows] = 0.0

    def restore(self, states: np.ndarray) -> None:
        """Takes over saved states of games under way, and writes all buffers of what is seen anew.

        Args:
            states: structured array, shape (num_games,), of this game and these options; none of them over.
        """
        if states.dtype != self.states.dtype or states.shape != self.states.shape or states["over"].any():
            raise InvalidState(f"{self.game.name}: these are not the states of {self.num_games} games under way")
        self.states[:] = states
        self.players[:] = states["player"]
        view = self.views(self.players, None, self.encodings)
        self.mask[:], self.observation[:] = view.mask, view.observation
        for buffer, fresh in ((self.history, view.history), (self.state, view.state)):
            if buffer.shape[1]:
                buffer[:] = fresh
        self.started[:], self.over[:], self.rewards[:] = True, False, 0.0

    def _spread(self, n: int, function: Callable[..., Any], *args: Any) -> None:
        """Runs a kernel over 0 ... n - 1, divided among the threads."""
        if self._pool is None or n < 2 * self.threads:
            function(0, n, *args)
            return
        cuts = [n * i // self.threads for i in range(self.threads + 1)]
        futures: list[Future[None]] = [
            self._pool.submit(function, cuts[i], cuts[i + 1], *args) for i in range(1, self.threads)
        ]
        function(cuts[0], cuts[1], *args)
        for future in futures:
            future.result()

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def checked_count(name: str, value: Any) -> int:
    """A number of games or threads.

    Raises:
        InvalidOption: it is no integer of at least 1.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidOption(f"{name}={value!r} is not a whole number of at least 1")
    return int(value)


def resample(game: Game, states: np.ndarray, seats: np.ndarray, seed: int) -> None:
    """Re-deals in every state, in place, all that a seat cannot know.

    Args:
        game: the game.
        states: structured array, shape (n,).
        seats: the seat whose knowledge is kept, one per state.
        seed: of the random streams used.
    """
    worlds(game).resample(0, len(states), np.asarray(seats, np.int64), states, *rng.split_seed(seed))


def playout(game: Game, states: np.ndarray, seed: int, limit: int = 1 << 30) -> int:
    """Plays every state, in place, by uniform random legal actions.

    Args:
        game: the game.
        states: structured array, shape (n,).
        seed: of the random streams used.
        limit: most decisions per state.

    Returns:
        The number of decisions made.
    """
    return int(worlds(game).playout(0, len(states), states, *rng.split_seed(seed), limit))
