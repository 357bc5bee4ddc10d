"""Relabelling suits so that positions alike but for the names of suits look the same.

Where a game's suits are interchangeable, a learner that sees them by name must learn everything
once for each of the 24 orders.  :class:`SuitRelabelling` puts the suits of every observation in
one canonical order (for Chouine: trumps first, then by length in hand, then by everything else that
the observation says of them), carries mask and further encodings along and translates actions back.

It is generic: the layout says which numbers belong to a card or a suit, the game says by what its suits
are put in order (:attr:`cardgym.game.Game.suit_order`) and which card a card becomes
(:attr:`cardgym.game.Game.moved_card`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from cardgym.game import Game, Layout, Segment
from cardgym.kernel import kernel

ORDERS = tuple(permutations(range(4)))
"""All orders of the four suits; in ``ORDERS[i]`` the suit at place ``k`` becomes suit ``k``."""


@kernel("core.order_suits")
def _order_suits(observations, cells, weighed, lookup, orders):
    """Index of the canonical order of each row's suits.

    ``cells`` (4, k): the numbers of each suit; ``weighed`` (parts, 2): ranges of columns of ``cells`` whose sums
    decide first; then the columns one by one.
    """
    best = np.zeros(4, np.int64)
    sums = np.zeros((4, len(weighed)), np.int64)
    for n in range(len(orders)):
        row = observations[n]
        for suit in range(4):
            for part in range(len(weighed)):
                total = 0
                for k in range(weighed[part, 0], weighed[part, 1]):
                    total += int(row[cells[suit, k]])
                sums[suit, part] = total
        for suit in range(4):  # insertion sort, stable: equal suits stay in their order
            place = suit
            while place > 0:
                other = best[place - 1]
                ahead = 0
                for part in range(len(weighed)):
                    if ahead == 0:
                        ahead = sums[suit, part] - sums[other, part]
                if ahead == 0:
                    for k in range(cells.shape[1]):
                        ahead = int(row[cells[suit, k]]) - int(row[cells[other, k]])
                        if ahead != 0:
                            break
                if ahead <= 0:
                    break
                best[place] = other
                place -= 1
            best[place] = suit
        orders[n] = lookup[best[0], best[1], best[2]]


@kernel("core.relabel")
def _relabel(encodings, orders, sources, values, kinds, out):
    """``out[n, j] = encodings[n, sources[order, j]]``, ids among the numbers translated by ``values``."""
    for n in range(len(orders)):
        order = orders[n]
        for j in range(out.shape[1]):
            out[n, j] = encodings[n, sources[order, j]]
        if len(kinds) > 0:
            for j in range(out.shape[1]):
                if kinds[j] > 0:
                    out[n, j] = values[kinds[j] - 1, order, int(out[n, j])]


class _Table(NamedTuple):
    """How to relabel one encoding: see :func:`_relabel`."""

    sources: np.ndarray
    values: np.ndarray
    kinds: np.ndarray


class SuitRelabelling:
    """Canonical order of suits for the encodings and actions of a game.

    Example:
        >>> import cardgym, numpy as np
        >>> from cardgym.suits import SuitRelabelling
        >>> env = cardgym.make("cardgym/Chouine-v0").unwrapped
        >>> seen, info = env.reset(seed=3)
        >>> suits = SuitRelabelling(env.game, env.layouts)
        >>> orders = suits.orders(seen["observation"][None])
        >>> canonical = suits.encoding("observation", seen["observation"][None], orders)[0]
        >>> env.layouts["observation"].describe(canonical)["trump"].tolist()
        [1, 0, 0, 0]
    """

    def __init__(self, game: Game, layouts: dict[str, Layout] | None = None) -> None:
        """Builds the tables.

        Args:
            game: a game with interchangeable suits.
            layouts: layouts of its encodings for the options in use; those of the default options if None.

        Raises:
            ValueError: the suits of this game are not interchangeable.
        """
        if not game.suit_order or game.moved_card is None:
            raise ValueError(f"{game.name}: the suits of this game are not interchangeable")
        self.game = game
        self.layouts = layouts if layouts is not None else game.layouts(game.options())
        # becomes[i][s]: what suit s is called in ORDERS[i]
        becomes = [[order.index(s) for s in range(4)] for order in ORDERS]
        cards = np.array([[game.moved_card(c, b) for c in range(game.pack.size)] for b in becomes])
        actions = np.array(
            [[_moved_action(game, a, b, c) for a in range(len(game.actions))] for b, c in zip(becomes, cards)]
        )
        moves = {"card": cards, "suit": np.array(becomes), "action": actions}
        self._tables = {name: _table(layout, moves) for name, layout in self.layouts.items()}
        self._actions = np.argsort(actions, axis=1)  # action by canonical action
        self._mask = _Table(self._actions, np.zeros((0, 24, 1), np.int64), np.zeros(0, np.int64))
        self._cells, self._weighed = _suit_cells(game, self.layouts["observation"], moves)
        self._lookup = np.zeros((4, 4, 4), np.int64)
        for i, order in enumerate(ORDERS):
            self._lookup[order[:3]] = i

    def orders(self, observations: np.ndarray) -> np.ndarray:
        """Canonical order for each observation.

        Args:
            observations: int8, shape (n, observation size), suits by name.

        Returns:
            int64, shape (n,): indices into :data:`ORDERS`.
        """
        orders = np.empty(len(observations), np.int64)
        _order_suits(np.ascontiguousarray(observations), self._cells, self._weighed, self._lookup, orders)
        return orders

    def encoding(self, name: str, encodings: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """An encoding under other suit names.

        Args:
            name: which encoding, ``"observation"``, ``"history"`` or ``"state"``.
            encodings: int8, shape (n, size).
            orders: from :meth:`orders`, shape (n,).
        """
        return self._apply(self._tables[name], encodings, orders)

    def mask(self, masks: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Masks, int8 (n, actions), over canonical actions."""
        return self._apply(self._mask, masks, orders)

    def actions(self, canonical: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """The game's own actions for canonical ones; ids out of range stay as they are.

        Args:
            canonical: integers, shape (n,).
            orders: from :meth:`orders`, shape (n,).
        """
        canonical = np.asarray(canonical)
        known = (canonical >= 0) & (canonical < len(self.game.actions))
        return np.where(known, self._actions[orders, np.where(known, canonical, 0)], canonical)

    def canonical_actions(self, actions: np.ndarray, orders: np.ndarray) -> np.ndarray:
        """Canonical actions for the game's own: the inverse of :meth:`actions`, for ids in range."""
        return np.argsort(self._actions, axis=1)[orders, actions]

    @staticmethod
    def _apply(table: _Table, rows: np.ndarray, orders: np.ndarray) -> np.ndarray:
        out = np.empty_like(rows)
        _relabel(np.ascontiguousarray(rows), orders, table.sources, table.values, table.kinds, out)
        return out


def _moved_action(game: Game, action: int, becomes: Sequence[int], cards: np.ndarray) -> int:
    """The action that an action becomes: its card or its suit moves, its word stays."""
    a = game.actions[action]
    wanted: tuple[str, int | None, int | None]
    if a.card is not None:
        wanted = (a.word, int(cards[a.card]), None)
    elif a.suit is not None:
        wanted = (a.word, None, becomes[a.suit])
    else:
        return action
    return next(i for i, b in enumerate(game.actions) if (b.word, b.card, b.suit) == wanted)


def _table(layout: Layout, moves: dict[str, np.ndarray]) -> _Table:
    """Sources and value translations of a layout for all orders."""
    sources = np.zeros((len(ORDERS), layout.size), np.int64)
    kinds = np.zeros(layout.size, np.int64)
    named = ("card", "action")
    for s in layout.segments:
        where = np.arange(layout.slices[s.name].start, layout.slices[s.name].stop).reshape(layout.shapes[s.name])
        for i in range(len(ORDERS)):
            sources[i, where] = _moved_axes(s, where, moves, i)
        if s.values is not None:
            kinds[where] = named.index(s.values) + 1
    if not kinds.any():
        return _Table(sources, np.zeros((0, len(ORDERS), 1), np.int64), np.zeros(0, np.int64))
    longest = 1 + max(moves[n].shape[1] for n in named)
    values = np.zeros((len(named), len(ORDERS), longest), np.int64)
    for k, n in enumerate(named):
        values[k, :, 1 : 1 + moves[n].shape[1]] = moves[n] + 1  # ids are kept plus one, 0 is none
    return _Table(sources, values, kinds)


def _moved_axes(segment: Segment, where: np.ndarray, moves: dict[str, np.ndarray], order: int) -> np.ndarray:
    """For every place of a segment, the place whose number comes there."""
    for axis, kind in enumerate(segment.axes):
        if isinstance(kind, str):
            where = np.take(where, np.argsort(moves[kind][order]), axis)
    return where


def _suit_cells(game: Game, layout: Layout, moves: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of an observation that belong to each suit, those that decide first in front."""
    swaps = [ORDERS.index(tuple(_swapped(s))) for s in range(4)]
    columns: list[np.ndarray] = []
    ranges = []
    rest = [s.name for s in layout.segments if s.name not in game.suit_order]
    for name in (*game.suit_order, *rest):
        segment = next(s for s in layout.segments if s.name == name)
        where = np.arange(layout.slices[name].start, layout.slices[name].stop).reshape(layout.shapes[name])
        moved = [_moved_axes(segment, where, moves, i).ravel() for i in swaps]
        # The numbers of suit 0 are those that leave their place whichever suit it changes places with.
        own = [k for k in range(where.size) if all(moved[s][k] != where.ravel()[k] for s in range(1, 4))]
        before = len(columns)
        columns += [np.array([moved[s][k] for s in range(4)]) for k in own]
        if name in game.suit_order:
            ranges.append((before, len(columns)))
    return np.array(columns).T.copy(), np.array(ranges, np.int64)


def _swapped(suit: int) -> list[int]:
    """The order in which suit 0 and another change places."""
    order = [0, 1, 2, 3]
    order[0], order[suit] = order[suit], order[0]
    return order
