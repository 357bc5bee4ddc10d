"""A second, slow Tarot in plain Python, written from the rules page, to hold the engine against.

Cards are names ("10H", "T21", "Excuse"), hands are sets, and what a seat sees is put together from public events.
:func:`settle` counts a finished deal from nothing but who did what, by moving cards from pile to pile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

RANKS = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "C", "Q", "K")
SUITS = ("C", "D", "H", "S")
TRUMPS = [f"T{rank}" for rank in range(1, 22)]
PACK = [rank + suit for suit in SUITS for rank in RANKS] + TRUMPS + ["Excuse"]
BIDS = ("pass", "prise", "garde", "garde sans", "garde contre")
KINDS = ("simple poignee", "double poignee", "triple poignee")
SIZES = {3: (13, 15, 18), 4: (10, 13, 15), 5: (8, 10, 13)}
TRICKS = {3: 24, 4: 18, 5: 15}
CHIEN = {3: 6, 4: 6, 5: 3}
HALF = Fraction(1, 2)


def is_trump(card: str) -> bool:
    return card in TRUMPS


def suit_of(card: str) -> str:
    """ "C", "D", "H", "S", "T" for trumps, "E" for the Excuse."""
    return "T" if card in TRUMPS else "E" if card == "Excuse" else card[-1]


def height(card: str) -> int:
    """Rank within trumps or within a suit."""
    return int(card[1:]) if is_trump(card) else RANKS.index(card[:-1])


def value(card: str) -> Fraction:
    """Card points (TA-1)."""
    if card in ("T21", "T1", "Excuse"):
        return 4 + HALF
    if is_trump(card):
        return HALF
    return {"K": 4, "Q": 3, "C": 2, "J": 1}.get(card[:-1], 0) + HALF


def winner_of(trick: Sequence[tuple[int, str]]) -> int:
    """Who takes a trick, the Excuse aside (TA-13)."""
    cards = [(seat, card) for seat, card in trick if card != "Excuse"]
    trumps = [(height(card), seat) for seat, card in cards if is_trump(card)]
    if trumps:
        return max(trumps)[1]
    led = suit_of(cards[0][1])
    return max((height(card), seat) for seat, card in cards if suit_of(card) == led)[1]


# --- Counting a deal -------------------------------------------------------------------------


def settle(players: int, rules: str, taker: int, contract: str, chien: set[str], holder: int | None,
           log: Iterable[tuple[int, str]]) -> tuple[list[int], Fraction]:  # fmt: skip
    """Scores of a deal that was played out, and the taker's card points.

    Args:
        players, rules, taker, contract: of the deal.
        chien: cards dealt to it.
        holder: five players: who was dealt the called card; None for the chien.
        log: who did what from the ecart on.
    """
    side = {seat: seat == taker or (players == 5 and seat == holder) for seat in range(players)}
    piles: dict[bool, list[str]] = {True: [], False: []}
    owed = {True: Fraction(0), False: Fraction(0)}
    laid, poignees, slam, tricks = [], 0, False, []
    to_lay = CHIEN[players] if contract in ("prise", "garde") else 0
    showing = 0
    table: list[tuple[int, str]] = []
    for seat, action in log:
        if to_lay > len(laid):
            laid.append(action)
        elif action in ("slam", "no slam"):
            slam = action == "slam"
        elif action in KINDS:
            poignees += (20, 30, 40)[KINDS.index(action)]
            showing = SIZES[players][KINDS.index(action)]
        elif showing:
            showing -= 1
        else:
            table.append((seat, action))
            if len(table) == players:
                tricks.append(table)
                table = []
    assert len(tricks) == TRICKS[players]
    piles[True] += laid
    if contract == "garde sans":
        piles[True] += chien
    if contract == "garde contre":
        piles[False] += chien

    takers: list[bool] = []
    by_excuse = False
    for number, trick in enumerate(tricks, 1):
        winner = side[winner_of(trick)]
        last = number == TRICKS[players]
        leader, led = trick[0]
        if last and led == "Excuse" and set(takers) == {side[leader]}:
            winner, by_excuse = side[leader], True
        for seat, card in trick:
            keeps = card == "Excuse" and not last
            piles[side[seat] if keeps else winner].append(card)
            if keeps and side[seat] != winner:
                owed[side[seat]] += HALF
        takers.append(winner)
    points = sum((value(c) for c in piles[True]), Fraction(0)) - owed[True] + owed[False]
    rest = sum((value(c) for c in piles[False]), Fraction(0)) - owed[False] + owed[True]
    assert points + rest == 91

    oudlers = len({"T1", "T21", "Excuse"} & set(piles[True]))
    over = points - (56, 51, 41, 36)[oudlers]
    made = over >= 0
    away = -(-abs(over) // 1)  # rounded away from the target
    factor = {"prise": 1, "garde": 2, "garde sans": 4, "garde contre": 6}[contract]
    each = (25 + int(away)) * factor + poignees
    each = each if made else -each
    petit_in = next((n for n, t in enumerate(tricks, 1) if any(c == "T1" for _, c in t)), 0)
    if petit_in == TRICKS[players] or (by_excuse and petit_in == TRICKS[players] - 1):
        bonus = 10 * (factor if rules == "fft" else 1)
        each += bonus if takers[-1] else -bonus
    if all(takers):
        each += 400 if slam else 200
    elif slam:
        each -= 200
    if not any(takers):
        each -= 200
    partners = [seat for seat in range(players) if side[seat] and seat != taker]
    scores = [each if seat in partners else -each for seat in range(players)]
    scores[taker] = 0
    scores[taker] = -sum(scores)
    return scores, points


# --- Playing a deal --------------------------------------------------------------------------


class Referee:
    """One deal, moved by action names; knows what is legal, who acts, and what each seat sees."""

    def __init__(self, hands: Sequence[set[str]], chien: set[str], dealer: int, rules: str = "seed",
                 contract: str = "auction", redeals: int = 0) -> None:  # fmt: skip
        n = self.players = len(hands)
        self.dealt, self.chien, self.dealer, self.rules = [set(h) for h in hands], set(chien), dealer, rules
        self.redeals = redeals
        self.hands = [set(h) for h in hands]
        self.bids: list[str] = [""] * n
        self.contract, self.taker = "", -1
        self.called = ""
        self.chien_open = self.over = self.void = False
        self.ecart: list[str] = []
        self.slam = ""
        self.poignee = [""] * n
        self.shown: list[list[str]] = [[] for _ in range(n)]
        self.to_show = 0
        self.tricks: list[tuple[int, list[tuple[int, str]]]] = []  # (winner, cards with their players)
        self.table: list[tuple[int, str]] = []
        self.played: dict[str, tuple[int, int]] = {}  # card: (seat, trick)
        self.void_of: list[set[str]] = [set() for _ in range(n)]
        self.cap = [21] * n
        self.lacks_called = [False] * n
        self.log: list[tuple[int, str]] = []
        self.log_from_ecart = 0
        self.leader = self.player = (dealer + 1) % n
        self.phase = "bidding"
        if contract == "garde":
            self.contract, self.taker = "garde", self.player
            self._after_auction()

    # --- What is legal ------------------------------------------------------------------

    def legal(self) -> set[str]:
        if self.over:
            return set()
        return getattr(self, "_legal_" + self.phase)(self.hands[self.player])

    def _legal_bidding(self, hand: set[str]) -> set[str]:
        return {"pass", *BIDS[BIDS.index(self.contract or "pass") + 1 :]}

    def _legal_call(self, hand: set[str]) -> set[str]:
        callable_: set[str] = set()
        for rank in ("K", "Q", "C", "J"):
            callable_ |= {rank + s for s in SUITS}
            if not {rank + s for s in SUITS} <= hand:
                break
        return callable_

    def _legal_ecart(self, hand: set[str]) -> set[str]:
        plain = {c for c in hand if self.may_go(c)}
        gone = [c for c in self.ecart if not is_trump(c)]
        short = CHIEN[self.players] - len(plain) - len(gone)  # trumps that have to go
        if short > len(self.ecart) - len(gone):
            plain |= {c for c in hand if is_trump(c) and c not in ("T1", "T21")}
        return plain

    def may_go(self, card: str) -> bool:
        return suit_of(card) in SUITS and card[:-1] != "K" and card != self.called

    def _legal_slam(self, hand: set[str]) -> set[str]:
        return {"slam", "no slam"}

    def showable(self, seat: int) -> list[str]:
        """Trumps for a poignee, highest first."""
        pool = {c for c in self.hands[seat] if is_trump(c)}
        if seat == self.taker and self.poignee[seat] == "triple poignee":
            pool |= {c for c in self.ecart if is_trump(c)}
        return sorted(pool, key=height, reverse=True)

    def _legal_showing(self, hand: set[str]) -> set[str]:
        seat = self.player
        pool = self.showable(seat)
        size = SIZES[self.players][KINDS.index(self.poignee[seat])]
        if len(pool) < size:
            pool.append("Excuse")
        shown = self.shown[seat]
        rest = pool[pool.index(shown[-1]) + 1 :] if shown else pool
        return set(rest[: len(rest) - self.to_show + 1]) if len(pool) > size - 1 else set()

    def _legal_play(self, hand: set[str]) -> set[str]:
        cards = self.playable(hand)
        if not self.tricks and not self.poignee[self.player]:
            for kind, size in zip(KINDS, SIZES[self.players], strict=True):
                trumps = sum(map(is_trump, hand))
                if kind == "triple poignee" and self.player == self.taker:
                    trumps += sum(map(is_trump, self.ecart))
                if trumps >= size or (trumps == size - 1 and "Excuse" in hand):
                    cards = cards | {kind}
        return cards

    @property
    def led(self) -> str:
        """The card that fixes the suit of the trick."""
        return next((c for _, c in self.table if c != "Excuse"), "")

    def best_trump(self) -> int:
        return max((height(c) for _, c in self.table if is_trump(c)), default=0)

    def broken(self) -> bool:
        return any(is_trump(c) for c in self.played)

    def playable(self, hand: set[str]) -> set[str]:
        excuse = hand & {"Excuse"}
        if not self.table:
            return self._leads(hand)
        if not self.led:
            return set(hand)
        suit = suit_of(self.led)
        same = {c for c in hand if suit_of(c) == suit}
        if suit != "T" and same:
            return same | excuse
        trumps = {c for c in hand if is_trump(c)}
        higher = {c for c in trumps if height(c) > self.best_trump()}
        return (higher or trumps or set(hand)) | excuse

    def _leads(self, hand: set[str]) -> set[str]:
        allowed = set(hand)
        if not self.tricks and self.called:
            allowed -= {c for c in hand if suit_of(c) == suit_of(self.called) and c != self.called}
        if self.rules == "seed" and not self.broken():
            without = {c for c in allowed if not is_trump(c)}
            if without - {"Excuse"}:
                return without
        return allowed

    # --- What happens -------------------------------------------------------------------

    def apply(self, action: str) -> None:
        assert action in self.legal(), f"{action} is not legal"
        seat = self.player
        self.log.append((seat, action))
        getattr(self, "_do_" + self.phase)(seat, action)

    def _do_bidding(self, seat: int, bid: str) -> None:
        self.bids[seat] = bid
        if bid != "pass":
            self.contract, self.taker = bid, seat
        if bid != "garde contre" and not all(self.bids):
            self.player = (seat + 1) % self.players
        elif self.contract:
            self._after_auction()
        else:
            self.over = self.void = True

    def _after_auction(self) -> None:
        self.player = self.taker
        self.phase = "call"
        if self.players < 5:
            self._after_call()

    def _do_call(self, seat: int, card: str) -> None:
        self.called = card
        self._after_call()

    def _after_call(self) -> None:
        self.log_from_ecart = len(self.log)
        self.phase = "slam"
        if self.contract in ("prise", "garde"):
            self.phase, self.chien_open = "ecart", True
            self.hands[self.taker] |= self.chien

    def _do_ecart(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.ecart.append(card)
        if len(self.ecart) == CHIEN[self.players]:
            self.phase = "slam"

    def _do_slam(self, seat: int, answer: str) -> None:
        self.slam, self.phase = answer, "play"
        if answer == "slam" and self.rules == "fft":
            self.leader = seat
        self.player = self.leader

    def _do_showing(self, seat: int, card: str) -> None:
        self.shown[seat].append(card)
        self.to_show -= 1
        if not self.to_show:
            self.phase = "play"

    def _do_play(self, seat: int, action: str) -> None:
        if action in KINDS:
            self.poignee[seat], self.phase = action, "showing"
            self.to_show = SIZES[self.players][KINDS.index(action)]
            return
        self._learn(seat, action)
        self.hands[seat].remove(action)
        self.played[action] = (seat, len(self.tricks) + 1)
        self.table.append((seat, action))
        self.player = (seat + 1) % self.players
        if len(self.table) == self.players:
            self._take()

    def _learn(self, seat: int, card: str) -> None:
        """What the others conclude from a card (TA-23)."""
        if card == "Excuse":
            return
        suit = suit_of(card)
        if not self.table:
            if suit == "T" and self.rules == "seed" and not self.broken():
                spared = {suit_of(self.called)} if self.called and not self.tricks else set()
                self.void_of[seat] |= set(SUITS) - spared
                self.lacks_called[seat] |= bool(spared)
            return
        if not self.led or suit == suit_of(self.led) != "T":
            return
        if suit_of(self.led) != "T":
            self.void_of[seat].add(suit_of(self.led))
        if suit != "T":
            self.cap[seat] = 0
        elif height(card) < self.best_trump():
            self.cap[seat] = min(self.cap[seat], self.best_trump())

    def with_taker(self, seat: int) -> bool:
        return seat == self.taker or bool(self.called and self.called in self.dealt[seat])

    def _take(self) -> None:
        winner = winner_of(self.table)
        leader, led = self.table[0]
        before = {self.with_taker(w) for w, _ in self.tricks}
        if len(self.tricks) + 1 == TRICKS[self.players] and led == "Excuse" and before == {self.with_taker(leader)}:
            winner = leader
        self.tricks.append((winner, self.table))
        self.table = []
        self.leader = self.player = winner
        self.over = len(self.tricks) == TRICKS[self.players]

    def result(self) -> tuple[list[int], Fraction]:
        if self.void:
            return [0] * self.players, Fraction(0)
        holder = next((s for s in range(self.players) if self.called in self.dealt[s]), None)
        return settle(
            self.players, self.rules, self.taker, self.contract, self.chien, holder, self.log[self.log_from_ecart :]
        )

    # --- What a seat sees ---------------------------------------------------------------

    @property
    def revealed(self) -> bool:
        return self.over and not self.void

    def seen_ecart(self, seat: int) -> set[str]:
        return set(self.ecart) if seat == self.taker or self.revealed else set(filter(is_trump, self.ecart))

    def may_hold(self, seat: int, other: int) -> set[str]:
        """Cards that ``other`` may hold for all that ``seat`` knows."""
        if not self.hands[other]:
            return set()
        cards = set(PACK) - self.hands[seat] - set(self.played) - self.seen_ecart(seat)
        for who in range(self.players):
            if who != other:
                cards -= set(self.shown[who])
        if self.chien_open and other != self.taker:
            cards -= self.chien
        cards = {c for c in cards if suit_of(c) not in self.void_of[other]}
        cards = {c for c in cards if not is_trump(c) or height(c) <= self.cap[other]}
        if "Excuse" in self.shown[other]:
            cards = {c for c in cards if not is_trump(c) or c in self.shown[other]}
        if self.called:
            above = {r + s for r in RANKS[RANKS.index(self.called[:-1]) + 1 :] for s in SUITS}
            cards -= above if other != self.taker else set()
            cards -= {self.called} if self.lacks_called[other] else set()
        if other == self.taker and any(map(is_trump, self.ecart)) and self.phase != "ecart":
            cards = {c for c in cards if not self.may_go(c)}
        return cards

    def points(self, seat: int) -> Fraction:
        """Card points in a seat's tricks as shown, the half point owed for the Excuse left out (TA-25)."""
        total = Fraction(0)
        for number, (winner, trick) in enumerate(self.tricks, 1):
            for who, card in trick:
                keeper = who if card == "Excuse" and number < TRICKS[self.players] else winner
                total += value(card) if keeper == seat else 0
        return total

    def observation(self, seat: int, deals: int = 0, scores: Sequence[int] = ()) -> dict[str, Any]:
        """Every part of the observation, from public events and the seat's own hand."""
        n = self.players
        seats = [(seat + i) % n for i in range(n)]
        number = min(len(self.tricks) + 1, TRICKS[n])
        phases = ["bidding", "ecart", "slam", "play", "showing"] + (["call"] if n == 5 else [])
        last = self.tricks[-1] if self.over and self.tricks else None
        table = last[1] if last else self.table
        led = next((c for _, c in table if c != "Excuse"), "")
        winning = winner_of(table) if led and not last else -1
        split = [(-1 if x < 0 else 1, abs(x)) for x in (scores or [0] * n)]
        parts: dict[str, Any] = {
            "phase": [self.phase == p for p in phases],
            "to_act": [w == self.player and not self.over for w in seats],
            "dealer": [w == self.dealer for w in seats],
            "leader": [w == (table[0][0] if last else self.leader) for w in seats],
            "trick": [number == i + 1 for i in range(TRICKS[n])],
            "hand": flags(self.hands[seat]),
            "chien": flags(self.chien if self.chien_open or self.revealed else ()),
            "ecart": flags(self.seen_ecart(seat)),
            "table": flags(c for _, c in self.table),
            "shown": flags(c for cards in self.shown for c in cards),
            "may_hold": [f for w in seats[1:] for f in flags(self.may_hold(seat, w))],
            "played": [self.played[c][1] if self.played.get(c, (-1, 0))[0] == w else 0 for w in seats for c in PACK],
            "suit_led": [suit_of(led) == x if led else False for x in SUITS],
            "trump_led": [is_trump(led)],
            "winning": [w == winning for w in seats],
            "bids": [self.bids[w] == b for w in seats for b in BIDS],
            "taker": [w == self.taker for w in seats],
            "contract": [self.contract == b for b in BIDS[1:]],
            "laid": [len(self.ecart)],
            "slam": [self.slam == "slam", self.slam == "no slam"],
            "poignee": [self.poignee[w] == k for w in seats for k in KINDS],
            "no_suit": [x in self.void_of[w] for w in seats for x in SUITS],
            "cap": [self.cap[w] for w in seats],
            "broken": [self.broken()],
            "winner": [k < len(self.tricks) and self.tricks[k][0] == w for k in range(TRICKS[n]) for w in seats],
            "tricks": [sum(winner == w for winner, _ in self.tricks) for w in seats],
            "points": [int(self.points(w)) for w in seats],
            "deals": [deals, self.redeals],
            "scores": [sign * x for sign, a in map(split.__getitem__, seats) for x in thirds(a)],
        }  # fmt: skip
        return parts | (self._call_parts(seats) if n == 5 else {})

    def _call_parts(self, seats: Sequence[int]) -> dict[str, Any]:
        open_ = self.called in self.played or (self.chien_open and self.called in self.chien) or self.revealed
        partners = [bool(self.called) and open_ and w != self.taker and self.called in self.dealt[w] for w in seats]
        return {
            "called": flags({self.called}),
            "partner": partners,
            "alone": [bool(self.called) and open_ and not any(partners)],
        }

    def history(self, seat: int, length: int, action_ids: dict[str, int], deals: int = 0) -> dict[str, Any]:
        """Every part of the history; ``length`` decisions have room."""
        n = self.players
        secret: set[int] = set()
        if seat != self.taker:
            for i in range(self.log_from_ecart, self.log_from_ecart + len(self.ecart)):
                secret |= {i} if not is_trump(self.log[i][1]) else set()
        log = [entry for i, entry in enumerate(self.log) if i not in secret]
        blank = [0] * (length - len(log))
        return {
            "dealer": [(seat + i) % n == self.dealer for i in range(n)],
            "deals": [deals, self.redeals],
            "dealt": flags(self.dealt[seat]),
            "chien": flags(self.chien if self.chien_open or self.revealed else ()),
            "ecart": flags(self.seen_ecart(seat)),
            "actor": [(who - seat) % n + 1 for who, _ in log] + blank,
            "action": [action_ids[action] + 1 for _, action in log] + blank,
        }

    def everything(self, seat: int, deals: int = 0, scores: Sequence[int] = ()) -> dict[str, Any]:
        """Every part of the privileged state, for the seat to act."""
        others = [(seat + i) % self.players for i in range(1, self.players)]
        return {
            **self.observation(seat, deals, scores),
            "hands": [f for w in others for f in flags(self.hands[w])],
            "true_chien": flags(self.chien),
            "true_ecart": flags(self.ecart),
        }


def thirds(score: int) -> tuple[int, int, int]:
    """A score in ten thousands, hundreds and the rest."""
    return score // 10_000, score // 100 % 100, score % 100


def flags(cards: Iterable[str]) -> list[bool]:
    """One flag per card of the pack."""
    held = set(cards)
    return [c in held for c in PACK]
