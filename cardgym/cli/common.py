"""What subcommands share: finding a game, reading options, printing."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.resources
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from tyro.conf import Positional, arg

import cardgym
from cardgym.errors import CardGymError, InvalidOption, UnknownGame, suggest
from cardgym.game import Game, Options

GameName = Positional[Annotated[str, arg(metavar="GAME")]]


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A game as a user has named it.

    Attributes:
        name: what to call it in records: the id of an environment, or the name of the game.
        game: the game.
        presets: the rule options that come with an id.
    """

    name: str
    game: Game
    presets: dict[str, Any]

    def options(self, words: Sequence[str] = ()) -> Options:
        """Rule options from words such as ``players=3``.

        Raises:
            InvalidOption: a word of another form, an unknown option or an unsuitable value.
        """
        return self.game.options.of(**{**self.presets, **self.given(words)})

    def given(self, words: Sequence[str]) -> dict[str, Any]:
        """The words as names and values."""
        pairs = [word.partition("=") for word in words]
        for name, equals, _ in pairs:
            if not equals:
                raise InvalidOption(f"{name!r} is no rule option: write name=value, such as reward_scale=2.0")
        return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None if text == "None" else text


def chosen(name: str) -> Chosen:
    """A game by name, by the id of an environment, or as ``module:attribute`` for a game of one's own.

    Raises:
        UnknownGame: there is none of this name; the message lists those that there are.
        CardGymError: the module cannot be imported, or the attribute is no game.
    """
    if ":" in name:
        return Chosen(name, _imported(*name.split(":", 1)), {})
    if name in cardgym.game_names():
        return Chosen(name, cardgym.load_game(name), {})
    try:
        full = cardgym.checked_id(name)
    except UnknownGame:
        known = cardgym.game_names()
        raise UnknownGame(
            f"unknown game {name!r}.{suggest(name, [*known, *cardgym.IDS])} Games: {', '.join(known)}; ids as shown by "
            "`cardgym list`, or module:attribute for a game of your own"
        ) from None
    presets = dict(cardgym.IDS[full])
    return Chosen(full, cardgym.load_game(presets.pop("game")), presets)


def _imported(module: str, attribute: str) -> Game:
    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise CardGymError(f"'{module}:{attribute}' does not name a module and an attribute, such as my_module:GAME")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever goes wrong in another's module
        told = str(error)
        if not isinstance(error, (ImportError, AttributeError, SyntaxError)):
            at = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__}: {error} ({Path(at.filename).name}, line {at.lineno})"
        raise CardGymError(f"cannot load {module}:{attribute}: {told}") from error
    if not isinstance(found, Game):
        raise CardGymError(f"{module}:{attribute} is a {type(found).__name__}, not a cardgym.game.Game")
    return found


def rules_page(game: Game) -> str | None:
    """The rules of a game in the box, Markdown; None for another."""
    page = importlib.resources.files("cardgym.rules") / f"{game.name}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else None


def rules(game: Game) -> dict[str, str]:
    """The rules of a game by id, each as a paragraph of plain text."""
    found: dict[str, str] = {}
    for match in re.finditer(
        r"^- \*\*([A-Z]+-[\d.]+)\*\*(.*?)(?=^- |^#|^\s*$|\Z)", rules_page(game) or "", re.M | re.S
    ):
        found[match[1]] = re.sub(r"[*`]", "", " ".join(match[2].split()))
    return found


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Warnings are told as errors are, without the place in our code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"cardgym: warning: {message}", file=sys.stderr)
        yield


def print_json(value: Any) -> None:
    """Prints a value for a program to read."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def console() -> Console:
    """Where tables are printed."""
    return Console(highlight=False)
