"""A second, slow Shukh in plain Python, written from the rules page, to hold the engine against.

Cards are names ("10H"), hands are sets, the kon is a list of (seat, card).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from shukh_positions import PACKS

from cardgym.cards import PACK_52
from cardgym.game import Layout

ORDER = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")


def rank_of(card: str) -> str:
    return card[:-1]


def suit_of(card: str) -> str:
    return card[-1]


def beats(card: str, top: str) -> bool:
    """May ``card`` be laid on ``top``?"""
    if card == "QH":
        return True
    higher = suit_of(card) == suit_of(top) and ORDER.index(rank_of(card)) > ORDER.index(rank_of(top))
    return higher or (suit_of(card) == "D" and suit_of(top) in ("H", "C"))


def after(rank: str, deck: int) -> str:
    """The next rank up; the lowest follows the ace."""
    ranks = ORDER[-deck // 4 :]
    return ranks[(ranks.index(rank) + 1) % len(ranks)]


def deal_stacks(stock: Sequence[str], shuffler: int, players: int, deck: int) -> list[list[str]]:
    """The players' stacks, from the bottom up, by the procedure of section 4."""
    piles: list[list[str]] = [[] for _ in range(players)]
    left = list(stock)

    def taker(giver: int, card: str) -> int | None:
        for other in [*range(giver + 1, players), *range(giver)]:
            if piles[other] and after(rank_of(piles[other][-1]), deck) == rank_of(card):
                return other
        return None

    player = shuffler
    while left:
        kept = False
        while left and not kept:
            while piles[player] and (other := taker(player, piles[player][-1])) is not None:
                piles[other].append(piles[player].pop())
            card = left.pop(0)
            other = taker(player, card)
            kept = other is None or not left
            piles[player if kept or other is None else other].append(card)
        player = (player + 1) % players
    return piles


class Referee:
    """One party, moved by action names."""

    def __init__(self, hands: Iterable[Iterable[str]], deck: int, general_tuck: bool, limit: int | None) -> None:
        self.hands = [set(hand) for hand in hands]
        self.players, self.deck, self.general_tuck, self.limit = len(self.hands), deck, general_tuck, limit
        lowest, second = ORDER[-deck // 4], ORDER[-deck // 4 + 1]
        self.low, self.above = lowest + "H", second + "H"
        self.opener = self.turn = next(i for i, hand in enumerate(self.hands) if "9D" in hand)
        self.kon: list[tuple[int, str]] = []
        self.discard: set[str] = set()
        self.left: list[int] = []  # seats in the order in which they went out
        self.idle = 0
        self.over = self.stalled = False
        self.places = [0] * self.players
        self._go_out(self.turn)

    # --- What is legal ------------------------------------------------------------------

    def live(self) -> list[int]:
        return [seat for seat in range(self.players) if seat not in self.left]

    def legal(self) -> set[str]:
        if self.over:
            return set()
        hand = self.hands[self.turn]
        if len(self.live()) == 2 and self.low in hand:
            return {"discard"}
        if not self.kon:
            return hand - {"QH"}
        actions = {card for card in hand if beats(card, self.kon[-1][1])} | {"take"}
        return actions | ({"tuck"} if self.tuckable() in hand else set())

    def tuckable(self) -> str:
        bottom = self.kon[0][1]
        if not self.general_tuck:
            return self.low if bottom == self.above else ""
        return next(
            rank + suit_of(bottom) for rank in ORDER[-self.deck // 4 :] if after(rank, self.deck) == rank_of(bottom)
        )

    # --- What happens -------------------------------------------------------------------

    def apply(self, action: str) -> None:
        assert action in self.legal(), f"{action} is not legal"
        seat, hand = self.turn, self.hands[self.turn]
        if action == "discard":
            hand.remove(self.low)
            self.discard.add(self.low)
            self.idle = 0
            self._go_out(seat)
        else:
            self.idle += 1
            self.turn = self.following(seat)
            if action == "take":
                hand.add(self.kon.pop(0)[1])
                self._go_out(seat)
                self.turn = self.following(seat)  # whoever went out just now is passed over
            elif action == "tuck":
                self._tuck(seat)
            else:
                hand.remove(action)
                self.kon.append((seat, action))
                self._maybe_close(seat, action == "QH")
        self._settle()

    def following(self, seat: int) -> int:
        return next(s for s in [*range(seat + 1, self.players), *range(seat + 1)] if s not in self.left)

    def _tuck(self, seat: int) -> None:
        card = self.tuckable()
        self.hands[seat].remove(card)
        if card == self.low and self.kon[0][1] == self.above:
            self.hands[self.turn] |= {card, *(c for _, c in self.kon)}
            self.kon = []
            self._go_out(seat)
        else:
            self.kon.insert(0, (seat, card))
            self._maybe_close(seat, False)

    def _maybe_close(self, seat: int, at_once: bool) -> None:
        if not at_once and len(self.kon) < len(self.live()):
            return
        self.discard |= {card for _, card in self.kon}
        self.kon = []
        self.idle = 0
        self._go_out(seat)
        if self.live():
            self.turn = self.following((seat - 1) % self.players)  # himself if he is in

    def _go_out(self, first: int) -> None:
        for i in range(self.players):
            seat = (first + i) % self.players
            if seat not in self.left and not self.hands[seat] and all(owner != seat for owner, _ in self.kon):
                self.left.append(seat)
                self.places[seat] = len(self.left)

    def _settle(self) -> None:
        if len(self.live()) <= 1:
            for seat in self.live():
                self.places[seat] = self.players
            self.over = True
        elif self.limit is not None and self.idle >= self.limit:
            self.over = self.stalled = True
            sizes = sorted(len(self.hands[seat]) for seat in self.live())
            for seat in self.live():
                self.places[seat] = len(self.left) + 1 + sizes.index(len(self.hands[seat]))
        elif not self.kon and self.hands[self.turn] == {"QH"}:
            self.turn = self.following(self.turn)

    def rewards(self, kind: str) -> list[float]:
        return shared_rewards(self.places, kind)

    # --- What a seat sees ---------------------------------------------------------------

    def observation(self, seat: int, shuffler: int, remembers: bool) -> dict[str, Any]:
        """Every part of the observation in a party episode."""
        around = [(seat + i) % self.players for i in range(self.players)]
        others = around[1:]
        if sum(bool(self.hands[s]) for s in others) == 1:
            remembers = True
        pile = [card for _, card in self.kon]
        heights = {card: i + 1 for i, card in enumerate(pile)}
        return {
            "hand": flags(self.hands[seat]),
            "discard": flags(self.discard),
            "order": [heights.get(c, 0) for c in PACKS[52]],
            "top": flags(pile[-1:]),
            "bottom": flags(pile[:1]),
            "idle": [0 if self.limit is None else 100 * self.idle // self.limit],
            "turn": [s == self.turn and not self.over for s in around],
            "shuffler": [s == shuffler for s in around],
            "opener": [s == self.opener for s in around],
            "finish": [self.places[s] for s in around],
            "held": [len(self.hands[s]) for s in around],
            "hands": [flag for s in others for flag in flags(self.hands[s] if remembers else ())],
            "laid": [flag for s in around for flag in flags(c for owner, c in self.kon if owner == s)],
        }


def shared_rewards(ranks: Sequence[int], kind: str) -> list[float]:
    """What ranks bring; equal ranks share what the places that they take up would bring."""
    n = len(ranks)
    worth = [1 - 2 * i / (n - 1) if kind == "place" else (-1.0 if i == n - 1 else 1 / (n - 1)) for i in range(n)]
    together = [worth[r - 1 : r - 1 + ranks.count(r)] for r in ranks]
    return [sum(part) / len(part) for part in together]


def flags(names: Iterable[str]) -> list[bool]:
    """One flag per card of the 52."""
    held = set(names)
    return [c in held for c in PACKS[52]]


def assert_encodes(encoding: np.ndarray, layout: Layout, expected: dict[str, Any]) -> None:
    """Is the encoding, part by part in the layout's order, what the referee says?"""
    assert [s.name for s in layout.segments] == list(expected)
    if np.array_equal(encoding, np.concatenate([np.asarray(part) for part in expected.values()])):
        return
    for name, part in expected.items():
        np.testing.assert_array_equal(encoding[layout.slices[name]], part, err_msg=name)


def referee_of(state: np.ndarray, limit: int | None) -> Referee:
    """A referee for a party that has just been dealt."""
    hands = [{PACK_52.names[c] for c in np.flatnonzero(state["place"] == seat)} for seat in range(int(state["seats"]))]
    return Referee(hands, int(state["deck"]), bool(state["tuck"]), limit)
