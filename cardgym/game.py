"""The contract between a game and everything else.

A game is a structured dtype for its state and a handful of compiled functions; the
environments, wrappers, search and arena are written once against :class:`Game`.

=========================== ==================================================================
function                    does
=========================== ==================================================================
``deal(s)``                 starts the next deal from ``s.rng``
``legal(s, mask)``          writes the legal actions of ``s.player`` (int8, 0 or 1, every entry)
``apply(s, action)``        one decision: updates the state, ``s.player``, ``s.over``; adds to
                            ``s.rewards[seat]``
``observe(s, seat, out)``   what ``seat`` knows, seat-relative: seat 0 of the encoding is the
                            observer
``history(s, seat, out)``   the seat's own record of the current deal (may be absent)
``reveal(s, out)``          everything, relative to the player to act; for a privileged critic
                            only
``resample(s, seat, salt)`` re-deals all that ``seat`` cannot know, consistently with all that it
                            can; ``salt`` is a random stream that also renews ``s.rng``
=========================== ==================================================================

All take a state ``s`` as a record (fields as attributes), are compiled with
:func:`cardgym.kernel.helper`, allocate nothing, raise nothing and end after a bounded
number of steps.  At the end of a game ``s.player`` stays the seat that moved last.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardgym import rng
from cardgym.cards import Pack
from cardgym.errors import InvalidOption, InvalidState, suggest
from cardgym.kernel import records
from cardgym.render import text as text_drawing
from cardgym.render.scene import Scene

# --- Options ---------------------------------------------------------------------------------


def option(
    default: Any,
    doc: str,
    choices: Sequence[Any] | None = None,
    low: float | None = None,
    high: float | None = None,
    words: Mapping[str | None, int] | None = None,
) -> Any:
    """A rule option: a dataclass field with its documentation and its allowed values.

    Args:
        default: value used when the option is not given.
        doc: one sentence for the documentation.
        choices: the allowed values; words are kept in the state as their index here.
        low, high: bounds of a number, which is whole unless the default is a float.
        words: what may stand in place of a number, with the numbers that mean it in the state.
    """
    metadata = {"doc": doc, "choices": choices, "low": low, "high": high, "words": words or {}}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Rule options of a game; subclasses add fields made with :func:`option`."""

    reward_scale: float = option(1.0, "factor on every reward", low=0.0)

    @classmethod
    def of(cls, /, **values: Any) -> Options:
        """Options with the given values, the rest at their defaults.

        Raises:
            InvalidOption: an unknown name or unsuitable value; the message lists what would be right.
        """
        names = [f.name for f in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise InvalidOption(f"unknown option {name!r}.{suggest(name, names)} Options: {', '.join(names)}")
        made = cls(**values)
        for f in dataclasses.fields(cls):
            _check_option(f, getattr(made, f.name))
        made.check()
        return made

    def check(self) -> None:
        """Hook for rules about combinations of options; raises :class:`InvalidOption`."""

    def encoded(self) -> dict[str, float]:
        """The options as plain numbers, as they stand in the state."""
        numbers = {}
        for f in dataclasses.fields(self):
            value, choices, words = getattr(self, f.name), f.metadata["choices"], f.metadata["words"]
            numbers[f.name] = (
                words[value] if value in words else choices.index(value) if isinstance(value, str) else value
            )
        return numbers


def _is_finite(number: Any) -> bool:
    """Also of whole numbers of any length, which ``math.isfinite`` does not take."""
    if isinstance(number, np.floating):  # of few bits, which the largest float does not fit into
        return bool(np.isfinite(number))
    return bool(abs(number) <= sys.float_info.max)


def _check_option(f: dataclasses.Field[Any], value: Any) -> None:
    choices, low, high, words = (f.metadata[k] for k in ("choices", "low", "high", "words"))
    if choices is not None:
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value not in choices:
            allowed = ", ".join(map(repr, choices))
            raise InvalidOption(f"option {f.name}={value!r} is not one of {allowed}")
        return
    if isinstance(value, (str, type(None))) and value in words:
        return
    beside = "".join(f" or {word!r}" for word in words)
    whole = not isinstance(f.default, float)
    numbers = (int, np.integer) if whole else (int, float, np.number)
    if isinstance(value, bool) or not isinstance(value, numbers) or not _is_finite(value):
        raise InvalidOption(f"option {f.name}={value!r} is not a {'whole ' if whole else ''}number{beside}")
    if whole and high is None:
        high = np.iinfo(np.int32).max  # what its field in the state holds
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"between {low} and {'any' if high is None else high}"
        raise InvalidOption(f"option {f.name}={value!r} is not {bounds}{beside}")


# --- Actions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """One action: a card or a word.

    Attributes:
        name: unique name, used in records: ``"10H"``, ``"marriage H"``.
        meaning: what it does, for people.
        card: the card it plays, if it is a card.
        suit: the suit it names, if it is a word about a suit.
        word: the word itself; actions of one word differ only in their suit.
    """

    name: str
    meaning: str
    card: int | None = None
    suit: int | None = None
    word: str = ""


# --- Layouts ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Segment:
    """A named part of an encoding.

    Attributes:
        name: unique within its layout.
        axes: its shape; each axis is a length, or ``"card"``, ``"suit"`` or ``"action"`` for an axis
            indexed by those.
        meaning: what the numbers say.
        known_to: who knows it.
        since: since when.
        low, high: smallest and largest value.
        values: ``"card"`` or ``"action"`` if the values are ids plus one (0: none), else None.
    """

    name: str
    axes: tuple[int | str, ...]
    meaning: str
    known_to: str = "all"
    since: str = "deal"
    low: int = 0
    high: int = 1
    values: str | None = None


class Layout:
    """The named table of a flat int8 encoding.

    Attributes:
        segments: its parts in order.
        size: length of the vector.
        shapes: shape of every part by name.
        slices: place of every part by name.
        low, high: bounds of every number, int8, shape (size,).
    """

    def __init__(self, segments: Sequence[Segment], pack: Pack, actions: Sequence[Action]) -> None:
        self.segments = tuple(segments)
        self.pack, self.actions = pack, tuple(actions)
        lengths = {"card": pack.size, "suit": 4, "action": len(actions)}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.slices: dict[str, slice] = {}
        low: list[int] = []
        high: list[int] = []
        for s in self.segments:
            shape = tuple(lengths[a] if isinstance(a, str) else a for a in s.axes)
            size = int(np.prod(shape))
            if s.name in self.slices:
                raise ValueError(f"segment {s.name!r} occurs twice")
            self.shapes[s.name] = shape
            self.slices[s.name] = slice(len(low), len(low) + size)
            low += [s.low] * size
            high += [lengths[s.values] if s.values else s.high] * size
        self.size = len(low)
        self.low = np.array(low, np.int8)
        self.high = np.array(high, np.int8)

    def start(self, name: str) -> int:
        """Where a part begins."""
        return int(self.slices[name].start)

    def describe(self, encoding: np.ndarray) -> dict[str, Any]:
        """What an encoding says, part by part.

        Args:
            encoding: int8, shape (size,).

        Returns:
            For a part of ones and zeros over cards: the names of its cards.  For other parts: a number
            or an array of the part's shape.

        Raises:
            ValueError: the array has another shape.
        """
        encoding = np.asarray(encoding)
        if encoding.shape != (self.size,):
            raise ValueError(f"this layout has {self.size} numbers, not shape {encoding.shape}")
        said: dict[str, Any] = {}
        for s in self.segments:
            part = encoding[self.slices[s.name]].reshape(self.shapes[s.name])
            if s.axes == ("card",) and s.high == 1:
                said[s.name] = [self.pack.names[c] for c in np.flatnonzero(part)]
            elif part.size == 1:
                said[s.name] = int(part.reshape(())[()]) if part.ndim else int(part)
            else:
                said[s.name] = part.copy()
        return said


# --- The game --------------------------------------------------------------------------------


def state_dtype(seats: int, options: type[Options], fields: Sequence[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game's state: a common header, the game's own fields, its options.

    Args:
        seats: most seats the game can have.
        options: the game's options; each becomes a field of its name.
        fields: the game's own fields, as for ``np.dtype``.
    """
    header: list[tuple[Any, ...]] = [
        ("rng", np.int64, (rng.WORDS,)),
        ("rewards", np.float64, (seats,)),
        ("scores", np.int32, (seats,)),
        ("moves", np.int32),
        ("seats", np.int8),
        ("player", np.int8),
        ("over", np.int8),
        ("stalled", np.int8),
    ]
    numbers = [(f.name, np.float64 if isinstance(f.default, float) else np.int32) for f in dataclasses.fields(options)]
    return _without_gaps(np.dtype([*header, *fields, *numbers], align=True))


def _without_gaps(aligned: np.dtype) -> np.dtype:
    """The same layout with its padding as fields, so that copies and ``tobytes`` of equal states are equal."""
    assert aligned.fields is not None
    assert aligned.names is not None
    fields: list[tuple[Any, ...]] = []
    end = 0
    for name in (*aligned.names, None):
        start = aligned.itemsize if name is None else aligned.fields[name][1]
        if start > end:
            fields.append((f"_pad{end}", np.uint8, (start - end,)))
        if name is not None:
            fields.append((name, aligned.fields[name][0]))
            end = start + aligned.fields[name][0].itemsize
    return np.dtype(fields, align=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """A game: its tables and its compiled functions (see the top of this module).

    Attributes:
        name: short name, ``"chouine"``.
        title: name for people.
        pack: its cards.
        actions: the table of actions; an action id is an index into it.
        options: the type of its rule options.
        dtype: of a state, made by :func:`state_dtype`.
        layouts: for given options, the layout of each encoding: ``"observation"``, ``"state"`` and,
            where the game has one, ``"history"``.
        seats: for given options, the number of seats.
        reset_options: fields of the state that hold a seat which chance chooses (the first dealer, say) unless
            ``reset(options=...)`` names one.
        scene: describes the table as seen by a seat (None: everything open), for text and pictures.
        info: natural scores and other facts for people and records: numbers, words, lists; a seat that does not
            exist is -1, never None, since Gymnasium's vector environments stack infos into arrays.
        suit_order: names of observation parts by which interchangeable suits are put in order, most
            important first; empty when suits are not interchangeable.
        moved_card: for a card and a suit permutation (``new = permutation[old]``), the card it becomes.
        teams: for given options, the seats of each team; None when every seat plays for itself.
        role: the part that a seat had in a game that is over (``"taker"``, ``"defender"``), by which evaluations
            split results; None when all seats have the same part.
        showdown: of a game that is over, whether a rule put hidden cards to the test and they ended it (a bid found
            to be beyond the holding): the one kind of ending that may depend on them; None where no rule does.
        deals: of a game so small that they can be listed, for given options, the states after every possible deal,
            all equally likely; None for others.
    """

    name: str
    title: str
    pack: Pack
    actions: tuple[Action, ...]
    options: type[Options]
    dtype: np.dtype
    layouts: Callable[[Options], Mapping[str, Layout]]
    seats: Callable[[Options], int]
    reset_options: tuple[str, ...]
    deal: Callable[..., Any]
    legal: Callable[..., Any]
    apply: Callable[..., Any]
    observe: Callable[..., Any]
    reveal: Callable[..., Any]
    resample: Callable[..., Any]
    history: Callable[..., Any] | None
    scene: Callable[[Any, int | None], Scene]
    info: Callable[[Any], dict[str, Any]]
    suit_order: tuple[str, ...] = ()
    moved_card: Callable[[int, Sequence[int]], int] | None = None
    teams: Callable[[Options], tuple[tuple[int, ...], ...]] | None = None
    role: Callable[[Any, int], str] | None = None
    showdown: Callable[[Any], bool] | None = None
    deals: Callable[[Options], np.ndarray] | None = None

    @functools.cached_property
    def action_ids(self) -> dict[str, int]:
        """Action id by name."""
        return {a.name: i for i, a in enumerate(self.actions)}

    @functools.cached_property
    def sources(self) -> tuple[str, ...]:
        """Source files whose code flows into the game's kernels."""
        functions = (self.deal, self.legal, self.apply, self.observe, self.history, self.reveal, self.resample)
        files = {inspect.getsourcefile(getattr(f, "py_func", f)) for f in functions if f is not None}
        return tuple(sorted(f for f in files if f))

    def team_of(self, options: Options) -> np.ndarray:
        """The team of each seat, int64, shape (seats,); teams are numbered from 0."""
        seats = self.seats(options)
        teams = [(seat,) for seat in range(seats)] if self.teams is None else self.teams(options)
        found = np.full(seats, -1)
        for team, members in enumerate(teams):
            found[list(members)] = team
        return found

    def teams_of(self, options: Options) -> int:
        """The number of teams; a seat that plays for itself is one."""
        return int(self.team_of(options).max()) + 1

    def template(self, options: Options, reset: Mapping[str, Any] | None = None) -> np.ndarray:
        """A state before its first deal, shape (1,): options and seats filled in, all else zero.

        Args:
            options: the rule options.
            reset: values for fields named in ``reset_options``; the others stand at -1 (chance decides).

        Raises:
            InvalidOption: an unknown reset option or an unsuitable value.
        """
        state = np.zeros(1, self.dtype)
        for name, number in options.encoded().items():
            state[name] = number
        state["seats"] = self.seats(options)
        for name in self.reset_options:
            state[name] = -1
        for name, value in (reset or {}).items():
            if name not in self.reset_options:
                known = ", ".join(self.reset_options)
                raise InvalidOption(f"{self.name}: unknown reset option {name!r}; reset options: {known}")
            seats = range(self.seats(options))
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value not in seats:
                raise InvalidOption(f"{self.name}: reset option {name}={value!r} is not one of {list(seats)}")
            state[name] = value
        return state

    def checked_state(self, state: Any, options: Options | None = None) -> np.ndarray:
        """A copy of a state, shape (1,), after checking that it is one of this game, under these options if given.

        Raises:
            InvalidState: it has another dtype or shape, or was made under other options.
        """
        array = np.asarray(state)
        if array.dtype.names is None or array.dtype.fields != self.dtype.fields or array.size != 1:
            raise InvalidState(
                f"{self.name}: not a state of this game: expected one record of {self.dtype.itemsize} bytes, "
                f"as given by env.unwrapped.state, got {type(state).__name__} of shape {array.shape}"
            )
        for name, number in ({} if options is None else options.encoded()).items():
            if array.reshape(1)[name][0] != number:
                raise InvalidState(f"{self.name}: the state was made with another option {name} than this environment")
        return array.reshape(1).view(np.ndarray).astype(self.dtype)

    def legal_names(self, mask: np.ndarray) -> list[str]:
        """Names of the actions that a mask, shape (actions,), allows."""
        return [self.actions[a].name for a in np.asarray(mask).nonzero()[0].tolist()]

    def text(self, s: Any, seat: int | None, colour: bool = False) -> str:
        """Draws a state, given as a record, as text; see :meth:`render`."""
        return text_drawing.draw(self.pack, self.scene(s, seat), colour)

    def render(self, state: Any, seat: int | None = None, colour: bool = False) -> str:
        """Draws a state as text.

        Args:
            state: as given by ``env.unwrapped.state``.
            seat: whose view; None shows everything.
            colour: in colours for a terminal.
        """
        return self.text(records(self.checked_state(state))[0], seat, colour)

    def option_fields(self) -> Iterator[tuple[str, Any, str, str]]:
        """Name, default, allowed values and documentation of every option."""
        for f in dataclasses.fields(self.options):
            choices, low, high, words = (f.metadata[k] for k in ("choices", "low", "high", "words"))
            if choices is not None:
                allowed = ", ".join(map(repr, choices))
            else:
                allowed = f"{low} or more" if high is None else f"{low} to {high}"
                allowed += "".join(f" or {word!r}" for word in words)
            yield f.name, f.default, allowed, f.metadata["doc"]
