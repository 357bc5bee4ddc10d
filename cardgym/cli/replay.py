"""``cardgym replay``: recorded games, step by step, forward and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from tyro.conf import Positional, arg

from cardgym.cli.common import chosen, console, print_json, warnings_in_one_line
from cardgym.cli.show import Json
from cardgym.errors import CardGymError, InvalidOption, InvalidRecord
from cardgym.game import Game
from cardgym.kernel import records as as_records
from cardgym.records import GameRecord, read
from cardgym.records import replay as replayed
from cardgym.records import verify as verified

HELP = """\
Enter or n   one decision forward
b            one back
a number     to that decision
e            to the end
s NUMBER     as that seat sees it; s alone: everything
q            leave
"""


def replay(
    file: Positional[Annotated[Path, arg(metavar="FILE")]],
    number: int = 1,
    seat: int | None = None,
    verify: bool = False,
    game: str | None = None,
    as_json: Json = False,
) -> None:
    """Step through a recorded game, forward and back; without a terminal, print all of it.

    Args:
        file: game records, one JSON line per game.
        number: which game of the file, from 1.
        seat: whose view; by default everything is open.
        verify: play every game of the file over instead and compare the results.
        game: module:attribute of a game of your own that the records are of.
    """
    own = None if game is None else chosen(game).game
    with warnings_in_one_line():  # of a last line that was cut off
        if verify:
            _verify(file, own, as_json)
            return
        record = _record(file, number)
    viewer = Viewer(record, seat, own)
    if as_json:
        print_json(viewer.story())
    elif sys.stdin.isatty() and sys.stdout.isatty():
        viewer.step_through()
    else:
        viewer.print_all()


def _record(file: Path, number: int) -> GameRecord:
    if number < 1:
        raise InvalidOption(f"number={number}: games are counted from 1")
    count = 0
    for count, record in enumerate(read(file), 1):
        if count == number:
            return record
    raise InvalidRecord(f"{file}: there is no game {number}; it has {count}")


def _verify(file: Path, own: Game | None, as_json: bool) -> None:
    count = 0
    for record in read(file):
        count += 1
        try:
            verified(record, own)
        except CardGymError as error:
            raise InvalidRecord(f"{file}, game {count}: {error}") from error
    if as_json:
        print_json({"file": str(file), "games": count, "verified": True})
    else:
        games = "1 game" if count == 1 else f"{count} games"
        console().print(f"{file}: {games} replayed, all results as recorded", markup=False, soft_wrap=True)


class Viewer:
    """A recorded game that can be looked at, at any decision."""

    def __init__(self, record: GameRecord, seat: int | None, own: Game | None) -> None:
        """Plays the record over.

        Raises:
            InvalidRecord: it does not fit the rules.
            InvalidOption: there is no such seat.
        """
        self.record, self.seat = record, seat
        self.game = own if own is not None else chosen(record.env).game
        self.steps: list[tuple[np.ndarray, str | None]] = list(replayed(record, own))
        self.seats = int(self.steps[0][0]["seats"][0])
        self._check(seat)
        self.out: Console = console()
        self.at = 0

    def _check(self, seat: int | None) -> None:
        if seat is not None and not 0 <= seat < self.seats:
            raise InvalidOption(f"seat={seat} is not a seat from 0 to {self.seats - 1}")

    def story(self) -> dict[str, Any]:
        """The whole game as plain values."""
        moves = [
            {"decision": i, "seat": int(state["player"][0]), "action": name}
            for i, (state, name) in enumerate(self.steps[:-1], 1)
        ]
        return {"env": self.record.env, "seed": self.record.seed, "moves": moves, "result": self.record.result}

    def print_all(self) -> None:
        """Every position, then the result."""
        for at in range(len(self.steps)):
            self.at = at
            self._print()

    def step_through(self) -> None:
        """Asks where to go until the user has seen enough."""
        self.out.print(f"{len(self.steps) - 1} decisions. Enter: forward, b: back, ?: help, q: leave.", markup=False)
        self._print()
        while True:
            try:
                said = input(f"{self.at} of {len(self.steps) - 1}> ").strip().lower()
            except EOFError:
                self.out.print()
                return
            if said == "q":
                return
            self._obey(said)

    def _obey(self, said: str) -> None:
        last = len(self.steps) - 1
        if said in ("", "n", "b", "e") or said.isdecimal():
            moved = {"": self.at + 1, "n": self.at + 1, "b": self.at - 1, "e": last}
            wanted = moved[said] if said in moved else int(said)
            if 0 <= wanted <= last:
                self.at = wanted
                self._print()
            else:
                self.out.print("This is the beginning." if wanted < 0 else "This is the end.")
        elif said[0] == "s" and (said[1:].strip() == "" or said[1:].strip().isdecimal()):
            seat = int(said[1:]) if said[1:].strip() else None
            try:
                self._check(seat)
            except InvalidOption as error:
                self.out.print(str(error), markup=False)
                return
            self.seat = seat
            self._print()
        else:
            self.out.print(HELP, markup=False, end="")

    def _print(self) -> None:
        state, name = self.steps[self.at]
        colour = self.out.is_terminal and not self.out.no_color
        print(self.game.text(as_records(state)[0], self.seat, colour), end="")
        if name is not None:
            self.out.print(f"  -> seat {int(state['player'][0])}: {name}", markup=False)
        elif self.record.result is not None:
            self.out.print(f"  result: {self.record.result}", markup=False)
