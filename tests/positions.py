"""A game on chosen cards, moved and asked by names: what the tests of Chouine, Avinas and Tarot share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cardgym.batch import ENCODINGS, Batch, Views
from cardgym.game import Game
from cardgym.kernel import records


def split(cards: str) -> list[str]:
    """ "KH 10H" -> ["KH", "10H"]."""
    return cards.split()


def log_of(game: Game, state: np.void) -> list[tuple[int, str]]:
    """The decisions of a deal so far: seat and action name."""
    n = int(state["log_length"])
    seats, actions = state["log_seat"][:n], state["log_action"][:n]
    return [(int(seat), game.actions[action].name) for seat, action in zip(seats, actions, strict=True)]


class Position:
    """One game under way.

    Attributes:
        game: which.
        batch: the game as a batch of one, with all encodings.
    """

    def __init__(self, game: Game, batch: Batch) -> None:
        self.game, self.batch = game, batch

    def do(self, *names: str) -> Self:
        """Takes actions in turn; each must be legal (the batch refuses others)."""
        for name in names:
            self.batch.step(np.array([self.game.action_ids[name]]))
        return self

    @property
    def s(self) -> Any:
        """The state as a record."""
        return records(self.batch.states)[0]

    @property
    def legal(self) -> set[str]:
        """Names of the legal actions of the player to act."""
        return set(self.game.legal_names(self.batch.mask[0]))

    @property
    def rewards(self) -> list[float]:
        """Of the last decision, by seat."""
        rewards: list[float] = self.batch.rewards[0].tolist()
        return rewards

    @property
    def info(self) -> dict[str, Any]:
        return self.game.info(self.s)

    def views(self, seat: int) -> Views:
        """All that the seat sees, as arrays of one row."""
        return self.batch.views(np.array([seat]), encodings=ENCODINGS)

    def seen(self, seat: int) -> dict[str, Any]:
        """The seat's observation by parts; parts of cards as lists of names."""
        return self.batch.layouts["observation"].describe(self.views(seat).observation[0])
