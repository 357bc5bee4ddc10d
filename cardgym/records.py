"""Game records as JSON lines: write, read, replay, verify, export.

A file of records is plain text, one game a line.  A game is its seed, its options and the names of its actions;
chance follows from the seed, so a record replays state by state, and :func:`verify` checks that its result still holds.

Example:
    >>> import tempfile, pathlib
    >>> from cardgym import records
    >>> record = records.GameRecord.played("cardgym/Chouine-v0", seed=1, actions=["JC", "9C"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "games.jsonl"
    >>> records.write(path, [record])
    1
    >>> for record in records.read(path):
    ...     records.verify(record)
    ...     for state, action in records.replay(record):
    ...         print(int(state["player"][0]), action)
    0 JC
    1 9C
    0 None
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import json
import os
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import cardgym
from cardgym.batch import Batch, Views
from cardgym.errors import CardGymError, IllegalAction, InvalidOption, InvalidRecord, require, suggest
from cardgym.game import Game
from cardgym.kernel import records as as_records

FORMAT = 1
"""Version of the format of a line."""

LONGEST_LINE = 1 << 24
"""Most bytes of a line, line break included: a file without line breaks is not read into memory to be refused."""


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game.

    Attributes:
        env: id of the environment, such as ``"cardgym/Chouine-v0"``, or name of the game.
        seed: of the reset, 0 ... 2**64 - 1.
        actions: names of the actions in order.
        options: the rule options, by name; those left out have their defaults.
        reset: the reset options given.
        result: at the end: ``rewards`` (of the whole episode, per seat), ``scores``, ``stalled`` and what the
            game's info adds; None for a game that was not played to its end.
        agents: who played, by seat, if known.
        cardgym: version of the library that wrote the record.
        format: version of the format.
    """

    env: str
    seed: int
    actions: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    reset: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] | None = None
    agents: tuple[str, ...] | None = None
    cardgym: str = cardgym.__version__
    format: int = FORMAT

    @classmethod
    def played(
        cls,
        env: str,
        seed: int,
        actions: Iterable[str | int],
        *,
        options: Mapping[str, Any] | None = None,
        reset: Mapping[str, Any] | None = None,
        agents: Sequence[str] | None = None,
        game: Game | None = None,
    ) -> GameRecord:
        """Plays a game over and makes its record: all rule options, action names and the result.

        Args:
            env: id of an environment or name of a game.
            seed: of the reset.
            actions: names or ids, in order.
            options: rule options that differ from those of ``env``.
            reset: reset options.
            agents: who played, by seat.
            game: a game of your own; ``env`` is only a name then.

        Raises:
            InvalidRecord: this game cannot be played; the message says at which action.
        """
        chosen = game or _game(env)
        names = tuple(a if isinstance(a, str) else _name(chosen, a) for a in actions)
        who = None if agents is None else tuple(agents)
        draft = cls(env=env, seed=seed, actions=names, options=dict(options or {}), reset=dict(reset or {}), agents=who)
        table = _Replay(draft, game)
        for _ in table:
            pass
        return dataclasses.replace(draft, options=table.options(), result=table.result())

    @classmethod
    def from_json(cls, line: str | bytes) -> GameRecord:
        """The record that a line holds.

        Raises:
            InvalidRecord: the line is no JSON, or no record in a known format; the message names the field.
        """
        try:
            values = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise InvalidRecord(f"no JSON: {error}") from error
        if not isinstance(values, dict):
            raise InvalidRecord(f"a record is a JSON object, not {type(values).__name__}")
        if values.get("format") != FORMAT or isinstance(values["format"], bool):
            raise InvalidRecord(
                f"field 'format' is {values.get('format')!r}; cardgym {cardgym.__version__} reads format {FORMAT}"
            )
        for name in values:
            if name not in _CHECKS:
                raise InvalidRecord(f"unknown field {name!r}.{suggest(name, _CHECKS)}")
        for name, (fits, wanted) in _CHECKS.items():
            if name not in values:
                raise InvalidRecord(f"field {name!r} is missing")
            if not fits(values[name]):
                raise InvalidRecord(f"field {name!r} is not {wanted}: {values[name]!r:.80}")
        values["actions"] = tuple(values["actions"])
        values["agents"] = None if values["agents"] is None else tuple(values["agents"])
        return cls(**values)

    def to_json(self) -> str:
        """The record as one line of JSON, without the line break.

        Raises:
            InvalidRecord: a field holds what JSON cannot say, or not what belongs there.
        """
        order = ("format", "cardgym", "env", "options", "seed", "reset", "agents", "actions", "result")
        try:
            line = json.dumps({name: getattr(self, name) for name in order}, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidRecord(f"this record cannot be written: {error}") from error
        self.from_json(line)
        return line


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


_CHECKS: dict[str, tuple[Any, str]] = {
    "format": (lambda v: True, ""),
    "cardgym": (lambda v: isinstance(v, str), "a version"),
    "env": (lambda v: isinstance(v, str), "the id of an environment"),
    "options": (lambda v: isinstance(v, dict), "an object"),
    "seed": (_is_seed, "an integer from 0 to 2**64 - 1"),
    "reset": (lambda v: isinstance(v, dict), "an object"),
    "agents": (lambda v: v is None or _is_names(v), "a list of names or null"),
    "actions": (_is_names, "a list of names"),
    "result": (lambda v: v is None or isinstance(v, dict), "an object or null"),
}


# --- Files -----------------------------------------------------------------------------------


class RecordWriter:
    """Writes records one by one; the file appears under its name when all are written.

    Until then they go to a file beside it whose name ends in ``.partial``.  When the block is left by an error, an
    older file at ``path`` is untouched.

    Example:
        >>> import tempfile, pathlib
        >>> from cardgym.records import GameRecord, RecordWriter
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "games.jsonl"
        >>> with RecordWriter(path) as writer:
        ...     writer.add(GameRecord.played("chouine", seed=1, actions=["JC", "9C"]))
        >>> path.read_text().count("\\n")
        1

    Attributes:
        path: the file to write.
        partial: the file written meanwhile.
        count: number of records so far.
    """

    def __init__(self, path: str | Path, keep_partial: bool = True) -> None:
        """Prepares; the file is opened by ``with``.

        Args:
            path: the file; one that exists is replaced at the end.
            keep_partial: after an error keep the games so far in ``partial``, for :func:`read` to read.
        """
        self.path, self.keep_partial = Path(path), keep_partial
        self.partial = self.path.parent / f".{self.path.name}.{uuid.uuid4().hex[:12]}.partial"
        self.count = 0

    def __enter__(self) -> RecordWriter:
        try:
            if self.path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            self._file = self.partial.open("x", encoding="utf-8", newline="\n")
        except OSError as error:  # of the file that was asked for, not of the one beside it
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        return self

    def add(self, record: GameRecord) -> None:
        """Writes one record.

        Raises:
            InvalidRecord: it cannot be written; nothing of it is.
        """
        self.add_line(record.to_json())

    def add_line(self, line: str) -> None:
        """Writes a line of JSON as it is: that of a record, or of an exported trace."""
        self._file.write(line + "\n")
        self.count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())
        if error is None:
            os.replace(self.partial, self.path)
        elif not self.keep_partial:
            self.partial.unlink(missing_ok=True)
        else:
            error.add_note(f"the {self.count} game records so far are in {self.partial}")


def write(path: str | Path, records: Iterable[GameRecord]) -> int:
    """Writes a file of records, all or none.

    Args:
        path: the file; one that exists is replaced at the end.
        records: may be a generator.

    Returns:
        The number of records.

    Raises:
        InvalidRecord: one of them cannot be written.
    """
    with RecordWriter(path, keep_partial=False) as writer:
        for record in records:
            writer.add(record)
    return writer.count


def read(path: str | Path) -> Iterator[GameRecord]:
    """The records of a file, one after the other; empty lines are skipped.

    The file is never in memory as a whole, so it may be larger than that.  A last line that was cut off, as an
    interrupted program leaves it, is reported by a warning and left out.

    Args:
        path: the file.

    Raises:
        InvalidRecord: a line is no record; the message names file, line and field.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise InvalidRecord(f"{path}, line {number}: longer than {LONGEST_LINE} bytes, so this is no record")
            if not line.strip():
                continue
            try:
                record = GameRecord.from_json(line)
            except InvalidRecord as error:
                if not line.endswith(b"\n") and isinstance(error.__cause__, ValueError):
                    warnings.warn(f"{path}, line {number}: cut off at the end of the file, left out", stacklevel=2)
                    return
                raise InvalidRecord(f"{path}, line {number}: {error}") from error
            yield record


# --- Replay ----------------------------------------------------------------------------------


def replay(record: GameRecord, game: Game | None = None) -> Iterator[tuple[np.ndarray, str | None]]:
    """Plays a record over.

    Args:
        record: the game.
        game: a game of your own, whose name the record bears.

    Yields:
        A copy of the state, structured, shape (1,), and the name of the action taken in it; with the last
        state, after all actions, None.

    Raises:
        InvalidRecord: the record does not fit the rules; the message says at which action.
    """
    yield from _Replay(record, game)


def verify(record: GameRecord, game: Game | None = None) -> None:
    """Plays a record over and compares its result.

    Args:
        record: the game.
        game: a game of your own, whose name the record bears.

    Raises:
        InvalidRecord: the message says at which action, or in which field of the result, it differs.
    """
    table = _Replay(record, game)
    for _ in table:
        pass
    found = table.result()
    if record.result is None:
        if found is not None:
            raise InvalidRecord(f"{table.label}: the game is over after {len(record.actions)} actions, but no result")
        return
    if found is None:
        raise InvalidRecord(f"{table.label}: a result, but the game is not over after {len(record.actions)} actions")
    nothing = "nothing"
    for name in [*record.result, *(n for n in found if n not in record.result)]:
        recorded, replayed = record.result.get(name, nothing), found.get(name, nothing)
        if recorded != replayed:
            raise InvalidRecord(f"{table.label}: result {name!r}: the record says {recorded}, replayed: {replayed}")


class _Replay:
    """A record on its way; iterating plays it, as :func:`replay` says."""

    def __init__(self, record: GameRecord, game: Game | None) -> None:
        self.record = record
        self.label = f"{record.env}, seed {record.seed}"
        if record.cardgym != cardgym.__version__:
            self.label += f" (written by cardgym {record.cardgym}, read by {cardgym.__version__})"
        try:
            self.game = game or _game(record.env)
            presets = {k: v for k, v in cardgym.IDS.get(record.env, {}).items() if k != "game"}
            options = self.game.options.of(**{**presets, **record.options})
            self.batch = Batch(self.game, options)
            self.batch.reset([record.seed], options=record.reset)
        except (CardGymError, ValueError) as error:
            raise InvalidRecord(f"{self.label}: {error}") from error
        self.returns = np.zeros(self.batch.seats)

    def __iter__(self) -> Iterator[tuple[np.ndarray, str | None]]:
        count = len(self.record.actions)
        for number, name in enumerate(self.record.actions, 1):
            where = f"{self.label}: action {number} of {count}, {name!r}"
            if name not in self.game.action_ids:
                raise InvalidRecord(f"{where}, does not exist.{suggest(name, self.game.action_ids)}")
            if self.batch.over[0]:
                raise InvalidRecord(f"{where}: the game is over before it")
            before = self.batch.states.copy()
            try:
                self.batch.step(np.array([self.game.action_ids[name]]))
            except IllegalAction as error:
                raise InvalidRecord(
                    f"{where}, is illegal for seat {error.seat}; legal: {', '.join(error.legal)}"
                ) from error
            self.returns += self.batch.rewards[0, : self.batch.seats]
            yield before, name
        yield self.batch.states.copy(), None

    def options(self) -> dict[str, Any]:
        """All rule options by name."""
        return {f.name: getattr(self.batch.options, f.name) for f in dataclasses.fields(self.batch.options)}

    def view(self, state: np.ndarray, seat: int) -> Views:
        """What a seat sees in a state of this game, shape (1,)."""
        self._looked_at.states[:] = state
        return self._looked_at.views(np.array([seat]), encodings=("observation", "history"))

    @functools.cached_property
    def _looked_at(self) -> Batch:
        return Batch(self.game, self.batch.options)

    def result(self) -> dict[str, Any] | None:
        """Result of the game so far, None when it is not over."""
        if not self.batch.over[0]:
            return None
        s = as_records(self.batch.states)[0]
        natural = {"scores": s.scores[: self.batch.seats].tolist(), "stalled": bool(s.stalled)}
        return {"rewards": self.returns.tolist(), **natural, **self.game.info(s)}


# --- Traces for other libraries --------------------------------------------------------------


def pettingzoo_trace(record: GameRecord, game: Game | None = None) -> dict[str, Any]:
    """A game as PettingZoo's ``agent_iter`` shows it.

    Args:
        record: the game.
        game: a game of your own, whose name the record bears.

    Returns:
        Plain values: ``env``, ``seed`` and ``turns``, one per turn with ``agent``, what ``env.last()`` returns
        (``observation`` with its ``action_mask``, ``reward``, ``termination``, ``truncation``) and ``action``, which is
        None for an agent whose game is over.

    Raises:
        InvalidRecord: the record does not fit the rules.
        MissingExtra: PettingZoo is not installed.
    """
    require("pettingzoo", "pettingzoo")
    from cardgym.wrappers import PettingZooAEC

    table = _Replay(record, game)
    for _ in table:
        pass  # so that what does not fit the rules is told as in a replay
    env = PettingZooAEC(table.game, **table.options())
    env.reset(seed=record.seed, options=dict(record.reset))
    left = iter(record.actions)
    turns = []
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        name = None if termination else next(left, None)
        action = None if name is None else table.game.action_ids[name]
        turns.append(
            {
                "agent": agent,
                "observation": {part: values.tolist() for part, values in observation.items()},
                "reward": float(reward),
                "termination": bool(termination),
                "truncation": bool(truncation),
                "action": action,
            }
        )
        if action is None and not termination:
            break  # the game was not played to its end
        env.step(action)
    return {"env": record.env, "seed": record.seed, "turns": turns}


def openspiel_trace(record: GameRecord, game: Game | None = None) -> dict[str, Any]:
    """A game in the words of OpenSpiel's ``State`` and trajectories.

    Chance stands in ``seed`` alone: to play the game over in :class:`cardgym.wrappers.openspiel.OpenSpielGame`, give
    the seed, the number of the deal, before the actions of ``history``.

    Args:
        record: the game.
        game: a game of your own, whose name the record bears.

    Returns:
        Plain values: ``game``, ``params`` (rule options), ``seed``, ``num_players``, ``num_distinct_actions``; one
        entry per decision in ``history`` (action ids), ``player_ids``, ``action_strings``, ``legal_actions``,
        ``observations`` (the player's observation tensor), ``information_states`` (its history tensor, where the game
        has one) and ``rewards`` (of every player); at the end ``returns`` and ``is_terminal``.

    Raises:
        InvalidRecord: the record does not fit the rules.
    """
    table = _Replay(record, game)
    names = (
        "history",
        "player_ids",
        "action_strings",
        "legal_actions",
        "observations",
        "information_states",
        "rewards",
    )
    rows: dict[str, list[Any]] = {name: [] for name in names}
    before = table.returns.copy()
    for state, action in table:
        if action is None:
            break
        player = int(state["player"][0])
        seen = table.view(state, player)
        rows["history"].append(table.game.action_ids[action])
        rows["player_ids"].append(player)
        rows["action_strings"].append(action)
        rows["legal_actions"].append(np.flatnonzero(seen.mask[0]).tolist())
        rows["observations"].append(seen.observation[0].tolist())
        rows["information_states"].append(seen.history[0].tolist())
        rows["rewards"].append((table.returns - before).tolist())
        before = table.returns.copy()
    return {
        "game": f"cardgym_{table.game.name}",
        "params": table.options(),
        "seed": record.seed,
        "num_players": table.batch.seats,
        "num_distinct_actions": len(table.game.actions),
        **rows,
        "returns": table.returns.tolist(),
        "is_terminal": bool(table.batch.over[0]),
    }


TRACES: dict[str, Callable[[GameRecord, Game | None], dict[str, Any]]] = {
    "pettingzoo": pettingzoo_trace,
    "openspiel": openspiel_trace,
}
"""The forms of :func:`export`."""


def export(path: str | Path, records: Iterable[GameRecord], form: str, game: Game | None = None) -> int:
    """Writes games as traces for another library, one JSON line a game; the file appears when all are written.

    Args:
        path: the file; one that exists is replaced at the end.
        records: the games, may be a generator such as :func:`read`.
        form: ``"pettingzoo"`` (:func:`pettingzoo_trace`) or ``"openspiel"`` (:func:`openspiel_trace`).
        game: a game of your own, whose name the records bear.

    Returns:
        The number of games.

    Raises:
        InvalidOption: there is no such form.
        InvalidRecord: a record does not fit the rules.
        MissingExtra: what the form needs is not installed.
    """
    if form not in TRACES:
        raise InvalidOption(f"form={form!r} is not one of {', '.join(map(repr, TRACES))}")
    with RecordWriter(path, keep_partial=False) as writer:
        for record in records:
            writer.add_line(json.dumps(TRACES[form](record, game), allow_nan=False))
    return writer.count


def _game(env: str) -> Game:
    """The game of an environment's id, or of a name.

    Raises:
        InvalidRecord: there is no such id or name.
    """
    names = [*cardgym.IDS, *cardgym.game_names()]
    if env not in names:
        raise InvalidRecord(f"unknown environment {env!r}.{suggest(env, names)} Known: {', '.join(names)}")
    return cardgym.load_game(cardgym.IDS[env]["game"] if env in cardgym.IDS else env)


def _name(game: Game, action: Any) -> str:
    if isinstance(action, bool) or not isinstance(action, (int, np.integer)) or not 0 <= action < len(game.actions):
        raise InvalidRecord(f"{game.name}: action {action!r} is neither a name nor an id below {len(game.actions)}")
    return game.actions[action].name
