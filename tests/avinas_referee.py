"""A second, slow Avinas in plain Python, written from the rules page, to hold the engine against.

Cards and actions are names ("10H", "bid 5").  A deal is a generator: it asks somebody, is told the answer, goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

SUITS = "CDHS"
RANKS = ("7", "8", "9", "J", "Q", "K", "10", "A")
PACK = [rank + suit for suit in SUITS for rank in RANKS]
CARD_POINTS = {"A": 11, "10": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
SIGNS = ("sign none", "sign valuable", "sign worthless")


def rank_of(card: str) -> str:
    return card[:-1]


def suit_of(card: str) -> str:
    return card[-1]


def trumps(suit: str) -> list[str]:
    """AV-2: all trumps, high to low."""
    court = ["QS", "QH", "QD", "JC", "JS", "JH", "JD"]
    return ["QC", "7" + suit, *court, *(rank + suit for rank in ("A", "10", "K", "9", "8"))]


def plain(suit: str) -> list[str]:
    """AV-2: the cards of a suit that is not trumps, high to low."""
    return [rank + suit for rank in ("A", "10", "K", "9", "8", "7")]


def class_of(card: str, trump: str) -> str:
    """What a card counts as when suits are followed."""
    return "trumps" if card in trumps(trump) else suit_of(card)


def taker(cards: Sequence[tuple[int, str]], trump: str, led: str) -> int:
    """AV-9: the seat that takes a trick."""
    order = trumps(trump) + (plain(led) if led != "trumps" else [])
    return min((c for c in cards if c[1] in order), key=lambda c: order.index(c[1]))[0]


def length(hand: Sequence[str], suit: str) -> int:
    """AV-6."""
    return sum(rank_of(c) in "QJ" or suit_of(c) == suit for c in hand)


def longest(hand: Sequence[str]) -> int:
    return max(length(hand, suit) for suit in SUITS)


def value(cards: Sequence[str]) -> int:
    return sum(CARD_POINTS[rank_of(c)] for c in cards)


def marks_for(points: int, declarers_lost: bool) -> int:
    """AV-15."""
    return (2 if declarers_lost else 1) * (1 if points > 30 else 2 if points > 0 else 3)


class Question(NamedTuple):
    """Somebody has to decide."""

    seat: int
    phase: str
    legal: frozenset[str]


class Result(NamedTuple):
    """How a deal ended: seats 0 and 2 are pair 0."""

    ending: str
    loser: int  # a pair, -1 none
    penalty: int


class Referee:
    """One deal; ``question`` is what waits for an answer, ``result`` is there at its end."""

    def __init__(
        self, deck: Sequence[str], dealer: int, stop: str = "claim", overbid: str = "masked", sign: str = "partner"
    ) -> None:
        self.dealer, self.stop, self.overbid, self.sign_option = dealer, stop, overbid, sign
        order = [(dealer + k) % 4 for k in (1, 2, 3, 4)]
        self.dealt: list[list[str]] = [[] for _ in range(4)]
        packets = [deck[i : i + 4] for i in range(0, 32, 4)]
        for seat, packet in zip(order * 2, packets, strict=True):
            self.dealt[seat] += packet
        ends = [(seat, packet[3]) for seat, packet in zip(order * 2, packets, strict=True)]
        mine = (dealer, (dealer + 2) % 4)
        self.inspected = [card for _, card in ends]
        self.looked_at = [card for seat, card in ends if seat in mine]
        self.turned = {card: n for n, (seat, card) in enumerate(ends, 1) if seat not in mine or rank_of(card) == "7"}
        self.sevens = [card for card in self.turned if rank_of(card) == "7"]
        self.hands = [set(cards) for cards in self.dealt]
        self.log: list[tuple[int, str]] = []
        self.bids: dict[int, int] = {}  # 0: passed
        self.knocks: dict[int, bool] = {}
        self.declarer: int | None = None
        self.trump: str | None = None
        self.trick = 1
        self.leader: int | None = None
        self.winner = -1  # of the last trick
        self.seen: list[tuple[int, int, str]] = []  # (trick, seat, card) of cards played openly or gathered
        self.covered: str | None = None  # the card that lies face down
        self.face: str | None = None
        self.sign: tuple[int, str] | None = None
        self.taken: list[list[str]] = [[], []]
        self.tricks = [0, 0]
        self.voids: set[tuple[int, str]] = set()
        self.stopped_by: int | None = None
        self.result: Result | None = None
        self._script = self._deal()
        self.question: Question | None = next(self._script)

    def apply(self, action: str) -> None:
        assert self.question is not None
        assert action in self.question.legal, f"{action}: {self.question}"
        self.log.append((self.question.seat, action))
        try:
            self.question = self._script.send(action)
        except StopIteration as end:
            self.question, self.result = None, end.value

    # --- The course of a deal -----------------------------------------------------------

    def _deal(self) -> Iterator[Any]:
        if self.sevens:
            self.trump = suit_of(self.sevens[-1])
            self.declarer = next(seat for seat in range(4) if self.sevens[-1] in self.hands[seat])
            self.leader = self.declarer
            yield from self._knocking()
        else:
            high = yield from self._bidding()
            if not high:
                return Result("passed out", -1, 0)
            self.leader = self.declarer
        for self.trick in range(1, 9):
            honest = yield from self._one_trick()
            if not honest:
                return Result("overbid", self.declarer % 2, 6)
            if self.trick == 8 or (True in self.knocks.values() and self.tricks[1 - self.declarer % 2]):
                break
            self.leader = self.winner
            if not self.sevens and (yield from self._stopping()):
                break
        return self._rams() if self.sevens else self._marks()

    def _bidding(self) -> Iterator[Any]:
        high = 0
        for k in (1, 2, 3, 4):
            seat = (self.dealer + k) % 4
            most = 8 if self.overbid == "loses_match" else longest(self.dealt[seat])
            bids = {f"bid {n}" for n in range(high + 1, most + 1)}
            answer = yield Question(seat, "bidding", frozenset({"pass", *bids}))
            self.bids[seat] = 0 if answer == "pass" else int(answer.split()[1])
            if self.bids[seat]:
                high, self.declarer = self.bids[seat], seat
        return high

    def _knocking(self) -> Iterator[Any]:
        declarers = (self.declarer, (self.declarer + 2) % 4)
        defenders = ((self.declarer + 1) % 4, (self.declarer + 3) % 4)
        for phase, side in (("knock", declarers), ("knock back", defenders)):
            for seat in side:
                answer = yield Question(seat, phase, frozenset({"pass", "knock"}))
                self.knocks[seat] = answer == "knock"
                if answer == "knock":
                    break
            else:
                return

    def _one_trick(self) -> Iterator[Any]:
        table: list[tuple[int, str]] = []
        seat, led = self.leader, None
        for _ in range(4):
            hand = self.hands[seat]
            if led is None:
                card = yield from self._lead(seat)
                if self.trump is None:
                    self._put(seat, card)
                    self.trump = yield from self._named(seat, card)
                    bid = self.bids[self.declarer]
                    if length(self.dealt[self.declarer], self.trump) < bid:
                        return False
                elif self.face != "face down" or self.trick != 2:
                    self._put(seat, card)
                else:
                    self.covered = card
                    hand.remove(card)
                    sign = yield Question(seat, "sign", frozenset(SIGNS))
                    self.sign = (seat, sign)
                led = "trumps" if self.trick < 3 else class_of(card, self.trump)
            else:
                follows = {c for c in hand if class_of(c, self.trump) == led}
                card = yield Question(seat, "play", frozenset(follows or hand))
                if not follows:
                    self.voids.add((seat, led))
                self._put(seat, card)
            table.append((seat, card))
            seat = (seat + 1) % 4
        if self.covered:
            self.seen.append((2, self.leader, self.covered))
            self.covered = None
        self.winner = taker(table, self.trump, led)
        self.taken[self.winner % 2] += [card for _, card in table]
        self.tricks[self.winner % 2] += 1
        return True

    def _lead(self, seat: int) -> Iterator[Any]:
        hand = self.hands[seat]
        if self.trick == 1 and self.trump is None:
            return (yield Question(seat, "play", frozenset(self._first_leads(seat))))
        own = {c for c in hand if class_of(c, self.trump) == "trumps"}
        if self.trick == 1:
            return (yield Question(seat, "play", frozenset(own)))
        if self.trick == 2 and own:
            return (yield Question(seat, "play", frozenset(own)))
        if self.trick == 2:
            self.face = yield Question(seat, "play", frozenset({"face up", "face down"}))
            self.voids.add((seat, "trumps"))
        return (yield Question(seat, "play", frozenset(hand)))

    def _first_leads(self, seat: int) -> set[str]:
        """AV-7a."""
        hand, bid = self.dealt[seat], self.bids[seat]
        if self.overbid == "loses_match":
            return set(hand)
        return {c for c in hand if rank_of(c) in "QJ" or length(hand, suit_of(c)) >= bid}

    def _named(self, seat: int, card: str) -> Iterator[Any]:
        if rank_of(card) not in "QJ":
            return suit_of(card)
        free = self.overbid == "loses_match"
        suits = [s for s in SUITS if free or length(self.dealt[seat], s) >= self.bids[seat]]
        return (yield Question(seat, "name", frozenset(f"trumps {s}" for s in suits)))[-1]

    def _put(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.seen.append((self.trick, seat, card))

    def _stopping(self) -> Iterator[Any]:
        """AV-14."""
        if self.stop == "claim" and value(self.taken[self.declarer % 2]) < 61:
            return False
        self.trick += 1
        for seat in (self.declarer, (self.declarer + 2) % 4):
            if (yield Question(seat, "stop", frozenset({"pass", "stop"}))) == "stop":
                self.stopped_by = seat
                return True
        return False

    def _rams(self) -> Result:
        """AV-10 ... AV-12."""
        own = self.declarer % 2
        made, factor = value(self.taken[own]) >= 61, 1
        if any(self.knocks.get(seat) for seat in (own, own + 2)):
            made, factor = self.tricks[own] == 8, 2
        if any(self.knocks.get(seat) for seat in (1 - own, 3 - own)):
            factor = 4
        return Result("rams", 1 - own if made else own, factor * len(self.sevens))

    def _marks(self) -> Result:
        own = self.declarer % 2
        made = value(self.taken[own]) >= 61
        loser = 1 - own if made else own
        return Result("marks", loser, marks_for(value(self.taken[loser]), not made))


class Match:
    """AV-13, AV-16, AV-17: rams and marks of both pairs."""

    def __init__(self, marks_to_end: int = 12, max_deals: int = 200) -> None:
        self.marks_to_end, self.max_deals = marks_to_end, max_deals
        self.rams, self.marks, self.deals = [0, 0], [0, 0], 0
        self.over, self.stalled = False, False
        self.winner: int | None = None

    def add(self, result: Result) -> None:
        self.deals += 1
        if result.ending == "rams":
            for _ in range(result.penalty):
                if self.rams[1 - result.loser]:
                    self.rams[1 - result.loser] -= 1
                else:
                    self.rams[result.loser] += 1
        elif result.ending == "marks":
            self.marks[result.loser] += result.penalty
        if result.ending == "overbid":
            self.over, self.winner = True, 1 - result.loser
        elif result.ending == "marks" and max(self.marks) >= self.marks_to_end:
            self.over, self.winner = True, self._winner()
        elif self.deals == self.max_deals:
            self.over = self.stalled = True

    def _winner(self) -> int | None:
        if 0 in self.marks:
            return self.marks.index(0)
        for kind in (self.rams, self.marks):
            if kind[0] != kind[1]:
                return int(kind[0] > kind[1])
        return None


# --- What a seat sees ------------------------------------------------------------------------


def observation(r: Referee, seat: int, match: Match | None = None) -> dict[str, Any]:
    """Every part of the observation, cards as sets of names, from what the seat may know."""
    seats = [(seat + k) % 4 for k in range(4)]
    pairs = (seat % 2, 1 - seat % 2)
    played = {card for _, _, card in r.seen}
    in_hand = [cards | ({r.covered} if r.covered and who == r.leader else set()) for who, cards in enumerate(r.hands)]
    sure = set(r.turned) | (set(r.looked_at) if seat == r.dealer else set())
    mine_down = r.covered if r.covered and r.leader == seat else None
    looked_at = set(r.looked_at) if (seat - r.dealer) % 2 == 0 else set()
    if seat != r.dealer:
        looked_at &= set(r.dealt[seat])
    taken = set(r.taken[0]) | set(r.taken[1])
    knows_sign = r.sign and (r.sign_option == "public" or (r.sign[0] - seat) % 2 == 0)
    phases = ("bidding", "knock", "knock back", "play", "name", "sign", "stop")
    m = match or Match()
    return {
        "phase": r.question and [p == r.question.phase for p in phases],
        "to_act": [r.question is not None and r.question.seat == who for who in seats],
        "dealer": [r.dealer == who for who in seats],
        "declarer": [r.declarer == who for who in seats],
        "leader": [r.leader == who for who in seats],
        "trick": [r.trick == n for n in range(1, 9)],
        "trump": [r.trump == s for s in SUITS],
        "hand": r.hands[seat],
        "known": [in_hand[who] & sure for who in seats[1:]],
        "unseen": set().union(*(in_hand[who] for who in seats[1:])) - sure,
        "table": [{c for t, w, c in r.seen if w == who and t == r.trick and c not in taken} for who in seats],
        "played_by": [{c for _, w, c in r.seen if w == who} for who in seats],
        "played_in": {c: t for t, _, c in r.seen if c in played},
        "taken": [set(r.taken[p]) for p in pairs],
        "turned_up": r.turned,
        "looked_at": looked_at,
        "down": {mine_down} if mine_down else set(),
        "void": [[(who, s) in r.voids for s in SUITS] for who in seats],
        "void_of_trumps": [(who, "trumps") in r.voids for who in seats],
        "sevens": [len(r.sevens)],
        "bids": [r.bids[who] + 1 if who in r.bids else 0 for who in seats],
        "knocks": [1 + r.knocks[who] if who in r.knocks else 0 for who in seats],
        "face": [r.face == "face up", r.face == "face down"],
        "sign": [bool(knows_sign) and r.sign[1] == s for s in SIGNS],
        "stopped": [r.stopped_by == who for who in seats],
        "tricks": [r.tricks[p] for p in pairs],
        "points": [value(r.taken[p]) for p in pairs],
        "rams": [[*divmod(m.rams[p], 100)] for p in pairs],
        "marks": [m.marks[p] for p in pairs],
        "deals": [*divmod(m.deals, 100)],
    }


def history(r: Referee, seat: int, action_ids: Mapping[str, int], room: int) -> dict[str, Any]:
    """Every part of the history."""
    visible = [_visible(r, n, seat) for n in range(len(r.log))]
    rest = [0] * (room - len(r.log))
    partner = r.dealt[(seat + 2) % 4]
    return {
        "dealer": [r.dealer == (seat + k) % 4 for k in range(4)],
        "received": [PACK.index(c) + 1 for c in r.dealt[seat]],
        "turned_up": [PACK.index(c) + 1 if c in r.turned else 0 for c in r.inspected],
        "looked_at": [PACK.index(partner[k]) + 1 if seat == r.dealer else 0 for k in (3, 7)],
        "actor": [(who - seat) % 4 + 1 for who, _ in r.log] + rest,
        "action": [action_ids[a] + 1 if a else 0 for a in visible] + rest,
    }


def _visible(r: Referee, n: int, seat: int) -> str | None:
    """The decision number ``n`` as far as the seat sees it (AV-8)."""
    who, action = r.log[n]
    covered = n > 0 and r.log[n - 1][1] == "face down" and r.covered is not None
    if covered and who != seat:
        return None
    if action in SIGNS and r.sign_option != "public" and (who - seat) % 2:
        return None
    return action


def everything(r: Referee, seat: int, match: Match | None = None) -> dict[str, Any]:
    """Every part of the state, for the player to act."""
    return {
        **observation(r, seat, match),
        "hands": [r.hands[(seat + k) % 4] for k in (1, 2, 3)],
        "inspected": set(r.inspected),
        "face_down": {r.covered} if r.covered else set(),
        "sign_given": [r.sign is not None and r.sign[1] == s for s in SIGNS],
    }
