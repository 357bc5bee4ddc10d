"""The rules of the games a second time: plain Python, slow, one file a game, to be read from top to bottom.

Nothing here comes from ``cardgym.games``: each file was written from the rules alone, so that a misreading there is
not repeated here.  ``tests/test_oracle.py`` plays the same cards through both and compares them after every decision.
Cards and actions are named as in the action tables of the games (``"10H"``, ``"bid 4"``).
"""

from __future__ import annotations

from typing import Any, Protocol


class Oracle(Protocol):
    """One game under way.

    Attributes:
        player: the seat to act.
        over: whether the game has ended.
        waiting: whether cards must be dealt before the next decision; shuffling and drawing are the caller's.
        rewards: per seat, all zero before the end.
        scores: per seat, of a game that is over.
        stalled: whether a limit, not the play, ended the game.
    """

    player: int
    over: bool
    waiting: bool
    rewards: list[float]
    scores: list[int]
    stalled: bool

    def legal(self) -> set[str]:
        """Names of the actions that the player to act may choose."""

    def play(self, name: str) -> None:
        """Carries out one action."""

    def info(self) -> dict[str, Any]:
        """What everybody may read at the end."""


def suit(card: str) -> str:
    """The suit of a card, its last letter."""
    return card[-1]


def rank(card: str) -> str:
    """The rank of a card, all but its last letter."""
    return card[:-1]
