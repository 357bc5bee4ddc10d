"""Errors that say what was wrong, where, and what would have been right.

Every error of the library derives from :class:`CardGymError`.  An error never
leaves anything half done: the state, the batch or the file is as it was before.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import gymnasium


class CardGymError(Exception):
    """Base class of all errors raised by cardgym."""


class IllegalAction(CardGymError, ValueError):
    """An action that the player to act may not take; the state is untouched.

    Attributes:
        action: what was passed.
        seat: the seat that was to act.
        legal: names of the legal actions, in order of their ids.
        index: row of a batch, or None for a single game.
    """

    # Made from the message alone too: Gymnasium's asynchronous environments do so with errors of their workers.
    def __init__(
        self, message: str, action: int = -1, seat: int = -1, legal: Sequence[str] = (), index: int | None = None
    ) -> None:
        super().__init__(message)
        self.action, self.seat, self.legal, self.index = action, seat, list(legal), index

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.action, self.seat, self.legal, self.index)

    @classmethod
    def of(cls, game: str, action: int, name: str, seat: int, legal: Sequence[str], index: int | None) -> IllegalAction:
        """The error with its message, for an action of the given name."""
        where = "" if index is None else f" in game {index} of the batch"
        message = f"{game}: seat {seat} may not take action {action} ({name}){where}; legal now: {', '.join(legal)}"
        return cls(message, action, seat, legal, index)


class InvalidAction(CardGymError, TypeError):
    """Something that is not an action id at all: wrong type, shape or range."""


class InvalidOption(CardGymError, ValueError):
    """An unknown rule option or an unsuitable value of one."""


class InvalidState(CardGymError, ValueError):
    """A state that does not belong to the game it was given to."""


class InvalidRecord(CardGymError, ValueError):
    """A game record or checkpoint that cannot be read, or does not replay."""


class UnknownGame(CardGymError, KeyError):
    """A game or environment id that is not registered."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0])


class EpisodeOver(CardGymError, RuntimeError):
    """A step after the end of the episode."""


class ResetNeeded(CardGymError, gymnasium.error.ResetNeeded):
    """A call that needs a started episode, before the first ``reset``."""


class MissingExtra(CardGymError, ImportError):
    """An optional dependency is not installed."""


def suggest(word: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` when one of ``known`` is close to ``word``, else an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def require(module: str, extra: str) -> ModuleType:
    """Imports an optional module.

    Args:
        module: name of the module, as in ``import``.
        extra: the extra of cardgym that installs it.

    Raises:
        MissingExtra: the module is not installed; the message gives the pip line.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtra(f"this needs {module!r}, which is not installed: pip install 'cardgym[{extra}]'") from error


def require_for_script(name: str, modules: Iterable[str], extra: str) -> None:
    """Imports what a script needs; run as a script it ends with one line where something is missing.

    Args:
        name: ``__name__`` of the module that asks.
        modules, extra: see :func:`require`.

    Raises:
        MissingExtra: the module that asks is imported rather than run.
    """
    try:
        for module in modules:
            require(module, extra)
    except MissingExtra as error:
        if name == "__main__":
            sys.exit(f"error: {error}")
        raise
