"""Positions of Shukh set up by hand, for the tests of its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

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


class Party:
    """One game of Shukh under way, lawful or at the table, moved and asked by names.

    Attributes:
        batch: the game as a batch of one.
        state: its state, a record of the batch.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch, self.state = batch, batch.states[0]

    def lay_out(self, hands: Sequence[str], kon: Sequence[tuple[int, str]], out: Mapping[int, int]) -> None:
        """Puts cards where they are wanted, those named nowhere into the discard.

        Args:
            hands: of the seats, names of cards.
            kon: seat and card, from the bottom up.
            out: finishing places of the seats that have left.
        """
        s = self.state
        s["place"] = np.where(s["place"] == ABSENT, ABSENT, DISCARD)
        s["held"], s["lying"], s["kon"], s["finish"], s["idle"] = 0, 0, -1, 0, 0
        for seat, hand in enumerate(hands):
            s["place"][cards(hand)] = seat
            s["held"][seat] = len(cards(hand))
        for i, (seat, name) in enumerate(kon):
            s["kon"][i] = PACK_52.card(name)
            s["place"][PACK_52.card(name)] = LAID + seat
            s["lying"][seat] += 1
        for seat, place in out.items():
            s["finish"][seat] = place
        s["height"], s["live"] = len(kon), len(hands) - len(out)

    def play(self, *actions: str) -> Self:
        """Takes actions one after the other, whoever is to act."""
        for action in actions:
            self.batch.step(np.array([self.batch.game.action_ids[action]]))
        return self

    def legal(self) -> set[str]:
        """Names of the legal actions."""
        return set(self.batch.game.legal_names(self.batch.mask[0]))

    def hand(self, seat: int) -> set[str]:
        return self.lying(seat)

    @property
    def discard(self) -> set[str]:
        return self.lying(DISCARD)

    @property
    def kon(self) -> list[str]:
        """Names of its cards from the bottom up."""
        return [PACK_52.names[c] for c in self.state["kon"][: self.state["height"]]]

    @property
    def turn(self) -> int:
        """Who decides."""
        return int(self.batch.players[0])

    @property
    def places(self) -> list[int]:
        """In which the seats finished, 0 for those that play on."""
        return [int(p) for p in self.state["finish"][: self.batch.seats]]

    def lying(self, place: int) -> set[str]:
        return {PACK_52.names[c] for c in np.flatnonzero(self.state["place"] == place)}


class Table(Party):
    """A lawful party, in the middle."""

    def __init__(
        self,
        *hands: str,
        kon: Sequence[tuple[int, str]] = (),
        turn: int = 0,
        out: Mapping[int, int] | None = None,
        idle: int = 0,
        **options: Any,
    ) -> None:
        """Sets up the position; cards named nowhere are in the discard.

        Args:
            *hands: of the seats, names of cards.
            kon: seat and card, from the bottom up.
            turn: whose turn it is.
            out: finishing places of the seats that have left.
            idle: turns since the last discard.
            **options: rule options but the number of players.
        """
        super().__init__(Batch(GAME, GAME.options.of(players=len(hands), **options)))
        self.batch.reset([0])
        self.lay_out(hands, kon, out or {})
        self.state["player"], self.state["idle"] = turn, idle
        self.batch.refresh(0)

    def laid(self, seat: int) -> set[str]:
        """Cards of a seat in the kon."""
        return self.lying(LAID + seat)

    @property
    def over(self) -> bool:
        return bool(self.batch.over[0])

    @property
    def rewards(self) -> list[float]:
        """Of the last decision, by seat."""
        return [float(r) for r in self.batch.rewards[0, : self.batch.seats]]


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
    return [stack_of(state, seat) for seat in range(int(state["seats"]))]


def stack_of(state: np.ndarray, seat: int) -> list[str]:
    """A seat's stack in the deal, from the bottom up."""
    stack, card = [], int(state["top"][seat])
    while card >= 0:
        stack.append(PACK_52.names[card])
        card = int(state["below"][card])
    return stack[::-1]


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
