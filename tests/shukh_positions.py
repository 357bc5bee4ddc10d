"""Positions of Shukh set up by hand, for the tests of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cardgym.batch import Batch, sample
from cardgym.cards import PACK_52
from cardgym.games import shukh
from cardgym.games.shukh import ABSENT, DISCARD, GAME, LAID
from cardgym.kernel import kernel

PAIRS = [(36, n) for n in range(2, 7)] + [(52, n) for n in range(2, 9)]
"""Every pack with every number of players (S-1)."""

NAMES = [a.name for a in GAME.actions]
PACKS = {36: [n for n in PACK_52.names if n[:-1] not in "2345"], 52: list(PACK_52.names)}


def cards(words: str) -> list[int]:
    """Ids of cards given by their names: ``"7H 10D"``."""
    return [PACK_52.card(name) for name in words.split()]


class Table:
    """One game under way.

    Attributes:
        batch: the game as a batch of one.
        state: its state, a record of the batch.
    """

    def __init__(
        self,
        *hands: str,
        kon: Sequence[tuple[int, str]] = (),
        turn: int = 0,
        out: Mapping[int, int] | None = None,
        idle: int = 0,
        **options: Any,
    ) -> None:
        """Sets up a position in the middle of a party; cards named nowhere are in the discard.

        Args:
            *hands: of the seats, names of cards.
            kon: seat and card, from the bottom up.
            turn: whose turn it is.
            out: finishing places of the seats that have left.
            idle: turns since the last discard.
            **options: rule options but the number of players.
        """
        self.batch = Batch(GAME, GAME.options.of(players=len(hands), **options))
        self.batch.reset([0])
        self.state = self.batch.states[0]
        s = self.state
        s["place"] = np.where(s["place"] == ABSENT, ABSENT, DISCARD)
        s["held"], s["lying"], s["kon"] = 0, 0, -1
        for seat, hand in enumerate(hands):
            s["place"][cards(hand)] = seat
            s["held"][seat] = len(cards(hand))
        for i, (seat, name) in enumerate(kon):
            s["kon"][i] = PACK_52.card(name)
            s["place"][PACK_52.card(name)] = LAID + seat
            s["lying"][seat] += 1
        for seat, place in (out or {}).items():
            s["finish"][seat] = place
        s["height"], s["player"], s["idle"] = len(kon), turn, idle
        s["live"] = len(hands) - len(out or {})
        self.batch.refresh(0)

    def legal(self) -> set[str]:
        """Names of the legal actions."""
        return set(GAME.legal_names(self.batch.mask[0]))

    def play(self, *actions: str) -> Table:
        """Takes actions one after the other, whoever is to act."""
        for action in actions:
            self.batch.step(np.array([GAME.action_ids[action]]))
        return self

    def hand(self, seat: int) -> set[str]:
        return self._lying(seat)

    def laid(self, seat: int) -> set[str]:
        """Cards of a seat in the kon."""
        return self._lying(LAID + seat)

    @property
    def discard(self) -> set[str]:
        return self._lying(DISCARD)

    @property
    def kon(self) -> list[str]:
        """Names of its cards from the bottom up."""
        return [PACK_52.names[c] for c in self.state["kon"][: self.state["height"]]]

    @property
    def turn(self) -> int:
        return int(self.batch.players[0])

    @property
    def over(self) -> bool:
        return bool(self.batch.over[0])

    @property
    def places(self) -> list[int]:
        return [int(p) for p in self.state["finish"][: self.batch.seats]]

    @property
    def rewards(self) -> list[float]:
        """Of the last decision, by seat."""
        return [float(r) for r in self.batch.rewards[0, : self.batch.seats]]

    def _lying(self, place: int) -> set[str]:
        return {PACK_52.names[c] for c in np.flatnonzero(self.state["place"] == place)}


@kernel("tests.shukh.deal_out", (shukh.__file__,))
def _deal_out(states):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        shukh.deal_out(states[i])
        shukh.begin(states[i])


@kernel("tests.shukh.draw", (shukh.__file__,))
def _draw(states, cards_drawn):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        shukh.clear_hands(states[i])
        seat = int(states[i].shuffler)
        for drawn in range(cards_drawn):
            seat = shukh.draw(states[i], seat, drawn)


def dealt(stock: str, shuffler: int, players: int, deck: int = 36, whole: bool = True) -> np.ndarray:
    """The state after the deal of a stock given from its first card on.

    Args:
        stock: names of cards; what is missing of the pack lies below them.
        shuffler, players, deck: as everywhere.
        whole: deal to the end; otherwise only the cards named.
    """
    batch = Batch(GAME, GAME.options.of(players=players, deck=deck))
    batch.reset([0], options={"shuffler": shuffler})
    named = stock.split()
    rest = [n for n in PACKS[deck] if n not in named]
    batch.states["order"][0, :deck] = [PACK_52.card(n) for n in (*named, *rest)]
    if whole:
        _deal_out(batch.states)
    else:
        _draw(batch.states, len(named))
    return batch.states[0]


def stacks(state: np.ndarray) -> list[list[str]]:
    """Each seat's stack at the end of the deal, from the bottom up."""
    found = []
    for seat in range(int(state["seats"])):
        stack, card = [], int(state["top"][seat])
        while card >= 0:
            stack.append(PACK_52.names[card])
            card = int(state["below"][card])
        found.append(stack[::-1])
    return found


def games(n: int, seed: int, encodings: Sequence[str] = ("observation",), **options: Any) -> Batch:
    """Games at their first decision; game ``i`` has the seed ``seed + i``."""
    batch = Batch(GAME, GAME.options.of(**options), n, encodings)
    batch.reset(range(seed, seed + n))
    return batch


def play(batch: Batch, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Random play to the end of all games; after every move: the rows that moved, their states before, the actions."""
    generator = np.random.default_rng(seed)
    rows = np.arange(batch.num_games)
    while len(rows):
        before = batch.states[rows].copy()
        actions = sample(batch.mask[rows], generator)
        batch.step(actions, rows)
        yield rows, before, actions
        rows = rows[~batch.over[rows]]
