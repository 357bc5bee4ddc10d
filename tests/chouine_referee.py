"""A second, slow Chouine in plain Python, written from the rules page, to hold the engine against.

Cards are names ("10H"), hands are sets, and what a seat sees is put together from public events alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cardgym.game import Layout

RANKS = ("7", "8", "9", "J", "Q", "K", "10", "A")
SUITS = ("C", "D", "H", "S")
PACK = [rank + suit for suit in SUITS for rank in RANKS]
CARD_POINTS = dict(zip(RANKS, (0, 0, 0, 2, 3, 4, 10, 11)))
COMBINATIONS = {"marriage": "K Q", "tierce": "K Q J", "quarteron": "A K Q J", "chouine": "A 10 K Q J"}
PLAIN_VALUE = {"marriage": 20, "tierce": 30, "quarteron": 40, "chouine": 0}
BRISQUES = {rank + suit for suit in SUITS for rank in ("10", "A")}


def rank_of(card: str) -> str:
    return card[:-1]


def suit_of(card: str) -> str:
    return card[-1]


def beats(card: str, other: str, trump: str) -> bool:
    """Does ``card``, played to the lead ``other``, take the trick?"""
    if suit_of(card) == suit_of(other):
        return RANKS.index(rank_of(card)) > RANKS.index(rank_of(other))
    return suit_of(card) == trump


def members(word: str) -> set[str]:
    """Cards that belong to an announcement, such as "tierce H"."""
    if word == "quinte":
        return BRISQUES
    kind, suit = word.split()
    return {rank + suit for rank in COMBINATIONS[kind].split()}


def totals_from_log(log: Iterable[tuple[int, str]], trump: str, quinte: int = 50) -> list[int]:
    """Totals of a deal that was played out without a chouine, from nothing but who did what."""
    totals, lead, last = [0, 0], None, 0
    for seat, action in log:
        if action in ("swap", "decline"):
            continue
        if action == "quinte":
            totals[seat] += quinte
        elif " " in action:
            kind, suit = action.split()
            totals[seat] += PLAIN_VALUE[kind] * (2 if suit == trump else 1)
        elif lead is None:
            lead = (seat, action)
        else:
            last = seat if beats(action, lead[1], trump) else lead[0]
            totals[last] += CARD_POINTS[rank_of(action)] + CARD_POINTS[rank_of(lead[1])]
            lead = None
    totals[last] += 10
    return totals


class Referee:
    """One deal, moved by action names; knows what is legal, who acts, who won, and what each seat sees."""

    def __init__(self, deck: Sequence[str], dealer: int, quinte: int = 50) -> None:
        self.dealer, self.quinte = dealer, quinte
        self.received: list[list[str]] = [[], []]
        self.received[1 - dealer] = list(deck[0:10:2])
        self.received[dealer] = list(deck[1:10:2])
        self.hands = [set(cards) for cards in self.received]
        self.turn_up = self.under = deck[10]
        self.stock = list(deck[11:])  # face down; the card under it comes last
        self.trump = suit_of(self.turn_up)
        self.seven = "7" + self.trump
        self.trick = 1
        self.leader = self.player = 1 - dealer
        self.lead = ""
        self.word = ""  # announced, its card not played yet
        self.question = self.asked = self.over = False
        self.log: list[tuple[int, str]] = []
        self.taken: list[tuple[int, set[str]]] = []  # (winner, cards) of each trick
        self.played: dict[str, tuple[int, int]] = {}  # card: (seat, trick)
        self.known: list[set[str]] = [set(), set()]  # cards shown to be in a seat's hand, also when played since
        self.said: list[dict[str, tuple[str, int]]] = [{}, {}]  # by suit or "quinte": (kind, trick)
        self.quinte_shown: list[set[str]] = [set(), set()]
        self.swap_made: tuple[int, int] | None = None  # (seat, trick)
        self.card_points = [0, 0]
        self.announced_points = [0, 0]
        self.winner = -1
        self.by_chouine = False

    # --- What is legal ------------------------------------------------------------------

    def legal(self) -> set[str]:
        if self.over:
            return set()
        hand = self.hands[self.player]
        holds_seven = self.seven in hand
        if self.question:
            return {"decline", "swap"} if holds_seven else {"decline"}
        cards = self.playable(hand)
        if self.word:
            return cards & members(self.word)
        actions = set(cards)
        if holds_seven and (self.trick <= 10 or (self.trick == 11 and not self.lead)):
            actions.add("swap")
        for suit in SUITS:
            for kind in COMBINATIONS:
                combination = members(f"{kind} {suit}")
                if suit not in self.said[self.player] and combination <= hand and combination & cards:
                    actions.add(f"{kind} {suit}")
        if len(hand & BRISQUES) == 5 and "quinte" not in self.said[self.player] and cards & BRISQUES:
            actions.add("quinte")
        return actions

    def playable(self, hand: set[str]) -> set[str]:
        if self.trick <= 11 or not self.lead:
            return set(hand)
        same = {c for c in hand if suit_of(c) == suit_of(self.lead)}
        trumps = {c for c in hand if suit_of(c) == self.trump}
        if suit_of(self.lead) == self.trump:
            higher = {c for c in trumps if beats(c, self.lead, self.trump)}
            return higher or trumps or set(hand)
        return same or trumps or set(hand)

    # --- What happens -------------------------------------------------------------------

    def apply(self, action: str) -> None:
        assert action in self.legal(), f"{action} is not legal"
        seat = self.player
        self.log.append((seat, action))
        if action in PACK:
            self._play(seat, action)
            return
        if action == "swap":
            self.hands[seat] ^= {self.seven, self.under}
            self.known[seat].add(self.under)
            self.under = self.seven
            self.swap_made = (seat, self.trick)
        elif action != "decline":
            self._announce(seat, action)
        if self.question:
            self.question, self.player = False, self.leader

    def _announce(self, seat: int, word: str) -> None:
        self.word = word
        if word == "quinte":
            self.said[seat]["quinte"] = ("quinte", self.trick)
        else:
            kind, suit = word.split()
            self.said[seat][suit] = (kind, self.trick)
            self.known[seat] |= members(word)
        self.announced_points[seat] += self.value(word)

    def value(self, word: str) -> int:
        if word == "quinte":
            return self.quinte
        kind, suit = word.split()
        return PLAIN_VALUE[kind] * (2 if suit == self.trump else 1)

    def _play(self, seat: int, card: str) -> None:
        self.word = ""
        self.hands[seat].remove(card)
        self.played[card] = (seat, self.trick)
        if not self.lead:
            self.lead, self.player = card, 1 - seat
            return
        winner = seat if beats(card, self.lead, self.trump) else 1 - seat
        both = {self.lead, card}
        self.taken.append((winner, both))
        self.card_points[winner] += sum(CARD_POINTS[rank_of(c)] for c in both)
        self.lead = ""
        for who in range(2):
            if self.said[who].get("quinte", ("", 0))[1] == self.trick:
                own = {c for c in both if self.played[c][0] == who}
                self.quinte_shown[who] = own | self.hands[who]
                self.known[who] |= self.hands[who]
        self._after_trick(winner)

    def _after_trick(self, winner: int) -> None:
        now = [{k for k, (_, trick) in said.items() if trick == self.trick} for said in self.said]
        chouines = [
            (who, k) for who in (self.leader, 1 - self.leader) for k in now[who] if self.kind(who, k) == "chouine"
        ]
        if chouines:
            trumps = [who for who, suit in chouines if suit == self.trump]
            for who in range(2):
                for k in now[who]:
                    self.announced_points[who] -= self.value(k if k == "quinte" else f"{self.kind(who, k)} {k}")
            self.over, self.by_chouine, self.winner = True, True, (trumps or [chouines[0][0]])[0]
            return
        if self.trick == 16:
            self.card_points[winner] += 10
            totals = self.totals()
            self.over = True
            self.winner = -1 if totals[0] == totals[1] else totals.index(max(totals))
            return
        if self.trick <= 11:
            self._draw(winner)
            self._draw(1 - winner)
        self.trick += 1
        self.leader = self.player = winner
        if self.trick == 11 and self.under != self.seven and self.seven not in self.played:
            self.question = self.asked = True
            self.player = 1 - winner

    def kind(self, seat: int, slot: str) -> str:
        return self.said[seat][slot][0]

    def _draw(self, seat: int) -> None:
        if self.stock:
            card = self.stock.pop(0)
        else:
            card, self.under = self.under, ""
            self.known[seat].add(card)
        self.received[seat].append(card)
        self.hands[seat].add(card)

    def totals(self) -> list[int]:
        return [c + a for c, a in zip(self.card_points, self.announced_points)]

    # --- What a seat sees ---------------------------------------------------------------

    def observation(
        self, seat: int, table_memory: bool = False, wins: Sequence[int] = (0, 0), manches: Sequence[int] = (0, 0)
    ) -> dict[str, Any]:
        """Every part of the observation, from public events and the seat's own hand."""
        other = 1 - seat
        hand = self.hands[seat]
        known = self.known[other] - set(self.played)
        piles = [set().union(*[cards for winner, cards in self.taken if winner == who]) for who in range(2)]
        open_pile = piles[other]
        if table_memory:
            open_pile = ([set()] + [cards for winner, cards in self.taken if winner == other])[-1]
        seen = {card: by for card, by in self.played.items() if card not in piles[other] - open_pile}
        phase = 1 if self.question else (2 if self.word else 0)
        both = (seat, other)
        unseen = set(PACK) - hand - known - set(seen) - {self.under}
        kinds = list(COMBINATIONS)
        return {
            "phase": [phase == i for i in range(3)],
            "to_act": [self.player == seat and not self.over],
            "leader": [self.leader == seat],
            "dealer": [self.dealer == seat],
            "trick": [self.trick == i + 1 for i in range(16)],
            "trump": [self.trump == suit for suit in SUITS],
            "hand": flags(hand),
            "known": flags(known),
            "unseen": flags(unseen),
            "table": flags({self.lead}),
            "own_tricks": flags(piles[seat]),
            "opponent_tricks": flags(open_pile),
            "played_by_me": flags({c for c, (who, _) in seen.items() if who == seat}),
            "played_in": [seen.get(c, (0, 0))[1] for c in PACK],
            "turn_up": flags({self.turn_up}),
            "under_stock": flags({self.under}),
            "announced": [self.said[w].get(s, ("",))[0] == k for w in both for s in SUITS for k in kinds],
            "quinte": ["quinte" in self.said[w] for w in both],
            "announced_in": [self.said[w].get(s, ("", 0))[1] for w in both for s in SUITS],
            "quinte_in": [self.said[w].get("quinte", ("", 0))[1] for w in both],
            "quinte_cards": self._quinte_cards(both),
            "swapped_in": [self.swap_made[1] if self.swap_made and self.swap_made[0] == w else 0 for w in both],
            "au_sept": [self.asked],
            "points": [0 if table_memory and w == other else self.card_points[w] // 2 for w in both],
            "announced_points": [self.announced_points[w] // 10 for w in both],
            "wins": [wins[w] for w in both],
            "manches": [manches[w] for w in both],
        }

    def _quinte_cards(self, seats: Sequence[int]) -> list[bool]:
        return [r + s in self.quinte_shown[w] for w in seats for s in SUITS for r in ("10", "A")]

    def history(self, seat: int, length: int, action_ids: dict[str, int]) -> dict[str, Any]:
        """Every part of the history; ``length`` decisions have room."""
        received = [PACK.index(c) + 1 for c in self.received[seat]]
        blank = [0] * (length - len(self.log))
        return {
            "dealer": [self.dealer == seat],
            "turn_up": [PACK.index(self.turn_up) + 1],
            "received": received + [0] * (16 - len(received)),
            "actor": [1 if who == seat else 2 for who, _ in self.log] + blank,
            "action": [action_ids[action] + 1 for _, action in self.log] + blank,
            "quinte_cards": self._quinte_cards((seat, 1 - seat)),
        }

    def everything(self, wins: Sequence[int] = (0, 0), manches: Sequence[int] = (0, 0)) -> dict[str, Any]:
        """Every part of the privileged state."""
        coming = [*self.stock, *([self.under] if self.under else [])]
        return {
            **self.observation(self.player, wins=wins, manches=manches),
            "opponent_hand": flags(self.hands[1 - self.player]),
            "stock": [coming.index(c) + 1 if c in coming else 0 for c in PACK],
        }


def flags(cards: Iterable[str]) -> list[bool]:
    """One flag per card of the pack."""
    held = set(cards)
    return [c in held for c in PACK]


def assert_encodes(encoding: np.ndarray, layout: Layout, expected: dict[str, Any]) -> None:
    """Is the encoding, part by part in the layout's order, what the referee says?"""
    assert [s.name for s in layout.segments] == list(expected)
    if np.array_equal(encoding, np.concatenate([np.asarray(part) for part in expected.values()])):
        return
    for name, part in expected.items():
        np.testing.assert_array_equal(encoding[layout.slices[name]], part, err_msg=name)
