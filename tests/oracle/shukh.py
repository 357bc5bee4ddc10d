"""Shukh with lawful play only, from the rules (sections 2 to 5, 9, 10 and 12, readings S1 to S21)."""

from __future__ import annotations

from typing import Any

from oracle import rank, suit

RANKS = {
    36: ("6", "7", "8", "9", "10", "J", "Q", "K", "A"),
    52: ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"),
}  # low to high
TRUMP = "D"
QUEEN = "QH"
OPENING = "9D"


class Shukh:
    """One party, or a match of several."""

    def __init__(
        self,
        episode: str,
        deck: int,
        players: int,
        reward: str,
        tuck: str,
        max_idle_turns: int | str | None,
        parties_per_match: int,
        reward_scale: float,
    ) -> None:
        self.ranks = RANKS[deck]
        self.pack = {r + s for r in self.ranks for s in "CDHS"}
        self.lowest, self.second = self.ranks[0] + "H", self.ranks[1] + "H"
        self.n = players
        self.match = episode == "match"
        self.shared_loss = reward == "loser"
        self.general_tuck = tuck == "general"
        self.limit = None if max_idle_turns is None else self.idle_limit(max_idle_turns)
        self.parties_left = parties_per_match if self.match else 1
        self.parties, self.stalled_parties = 0, 0
        self.lost = [0] * players
        self.reward_scale = reward_scale
        self.next_shuffler: int | None = None
        self.over, self.waiting, self.stalled = False, True, False
        self.rewards, self.scores = [0.0] * players, [0] * players

    def idle_limit(self, given: int | str) -> int:
        """S17."""
        return len(self.pack) * self.n * self.n if given == "auto" else int(given)

    # --- Dealing -----------------------------------------------------------------------------

    def deal(self, stock: list[str], shuffler: int) -> None:
        """Deals a shuffled stock, its first card on top (section 4)."""
        assert set(stock) == self.pack
        assert len(stock) == len(self.pack)
        assert self.next_shuffler in (None, shuffler)
        self.shuffler = shuffler
        self.hands: list[list[str]] = [[] for _ in range(self.n)]  # during the deal: stacks, the top card last
        self.stock = list(stock)
        dealing = shuffler
        while self.stock:
            self.deal_turn(dealing)
            dealing = (dealing + 1) % self.n
        assert all(self.hands), "a deal that leaves a hand empty is dealt again (S5)"
        self.kon: list[tuple[str, int]] = []  # cards and who laid them, the bottom card first
        self.alive = [True] * self.n
        self.order: list[int] = []  # of leaving
        self.idle = 0
        self.waiting = False
        self.player = next(seat for seat in range(self.n) if OPENING in self.hands[seat])
        self.skip_leaders()

    def deal_turn(self, seat: int) -> None:
        """One player's turn of the deal (R-4.4)."""
        own = self.hands[seat]
        while self.stock:
            while own and (receiver := self.receiver(seat, own[-1])) is not None:  # S3
                self.hands[receiver].append(own.pop())
            card = self.stock.pop(0)
            receiver = self.receiver(seat, card)
            if not self.stock or receiver is None:
                own.append(card)
                return
            self.hands[receiver].append(card)

    def receiver(self, giver: int, card: str) -> int | None:
        """The first player clockwise whose top card is one rank below, the lowest above the ace (R-4.3, R-4.6)."""
        below = self.ranks[self.ranks.index(rank(card)) - 1]
        for seat in self.clockwise(giver):
            if self.hands[seat] and rank(self.hands[seat][-1]) == below:
                return seat
        return None

    def clockwise(self, seat: int) -> list[int]:
        """The other seats, from the left of one."""
        return [(seat + i) % self.n for i in range(1, self.n)]

    # --- What may be done --------------------------------------------------------------------

    @property
    def live(self) -> int:
        return sum(self.alive)

    def legal(self) -> set[str]:
        hand = self.hands[self.player]
        if self.live == 2 and self.lowest in hand:  # S16
            return {"discard"}
        if not self.kon:
            return set(hand) - {QUEEN}
        names = {card for card in hand if self.beats(card, self.kon[-1][0])} | {"take"}
        if self.tuckable() in hand:
            names.add("tuck")
        return names

    def beats(self, card: str, top: str) -> bool:
        """R-3.1 to R-3.7."""
        if card == QUEEN:
            return True
        if suit(card) == suit(top):
            return self.ranks.index(rank(card)) > self.ranks.index(rank(top))
        return suit(card) == TRUMP and suit(top) in "HC"

    def tuckable(self) -> str | None:
        """The card that fits under the bottom of the kon (R-3.6.2, V-1)."""
        bottom = self.kon[0][0]
        if bottom == self.second:
            return self.lowest
        if self.general_tuck:
            return self.ranks[self.ranks.index(rank(bottom)) - 1] + suit(bottom)
        return None

    # --- Doing it ----------------------------------------------------------------------------

    def play(self, name: str) -> None:
        if name == "discard":
            self.discard_lowest()
            return
        seat = self.player
        self.idle += 1
        if name == "take":
            self.hands[seat].append(self.kon.pop(0)[0])
            self.let_leave(seat)
            self.pass_turn(seat)
        elif name == "tuck":
            self.tuck(seat)
        else:
            self.hands[seat].remove(name)
            self.kon.append((name, seat))
            self.close_or_pass(seat, at_once=name == QUEEN)
        if not self.over and not self.waiting and self.limit is not None and self.idle >= self.limit:
            self.stall()

    def tuck(self, seat: int) -> None:
        card = self.tuckable()
        assert card is not None
        self.hands[seat].remove(card)
        if card != self.lowest or self.kon[0][0] != self.second:  # V-2
            self.kon.insert(0, (card, seat))
            self.close_or_pass(seat, at_once=False)
            return
        eater = self.next_alive(seat)  # S14: before anybody leaves
        self.hands[eater] += [card, *(c for c, _ in self.kon)]
        self.kon = []
        self.let_leave(seat)
        self.lead(eater)

    def close_or_pass(self, seat: int, at_once: bool) -> None:
        """R-5.5, R-3.7.1, S11."""
        if at_once or len(self.kon) == self.live:
            self.kon = []
            self.idle = 0
            self.let_leave(seat)
            self.lead(seat)
        else:
            self.pass_turn(seat)

    def discard_lowest(self) -> None:
        """R-9.3: the turn goes on."""
        self.hands[self.player].remove(self.lowest)
        self.idle = 0
        self.let_leave(self.player)
        if not self.finished():
            self.skip_leaders()

    def let_leave(self, first: int) -> None:
        """Everybody without a card in hand or on the table leaves, clockwise from a seat (R-9.1, S12)."""
        for seat in [first, *self.clockwise(first)]:
            if self.alive[seat] and not self.hands[seat] and all(owner != seat for _, owner in self.kon):
                self.alive[seat] = False
                self.order.append(seat)

    def next_alive(self, seat: int) -> int:
        return next(s for s in self.clockwise(seat) if self.alive[s])

    def pass_turn(self, seat: int) -> None:
        if not self.finished():
            assert len(self.kon) < self.live  # S9
            self.player = self.next_alive(seat)
            self.skip_leaders()

    def lead(self, seat: int) -> None:
        """R-5.7: who has left cannot lead."""
        if not self.finished():
            self.player = seat if self.alive[seat] else self.next_alive(seat)
            self.skip_leaders()

    def skip_leaders(self) -> None:
        """S13: who holds nothing but the queen of hearts cannot lead."""
        while not self.kon and self.hands[self.player] == [QUEEN]:
            self.player = self.next_alive(self.player)

    # --- Results -----------------------------------------------------------------------------

    def finished(self) -> bool:
        """Ends the party if at most one player is left (R-10.1)."""
        if self.live > 1:
            return False
        ranking = self.order + [seat for seat in range(self.n) if self.alive[seat]]
        self.places = [ranking.index(seat) + 1 for seat in range(self.n)]
        self.next_shuffler = ranking[-1]
        self.lost[ranking[-1]] += 1
        self.end_party([float(place) for place in self.places], stalled=False)
        return True

    def stall(self) -> None:
        """S17: the players left take the remaining places by the size of their hands."""
        sizes = {seat: len(self.hands[seat]) for seat in range(self.n) if self.alive[seat]}
        self.places = [0] * self.n
        for i, seat in enumerate(self.order):
            self.places[seat] = i + 1
        for seat, size in sizes.items():
            self.places[seat] = len(self.order) + 1 + sum(other < size for other in sizes.values())
        self.next_shuffler = self.shuffler
        self.stalled_parties += 1
        self.end_party(self.shared(self.places), stalled=True)

    @staticmethod
    def shared(places: list[int]) -> list[Any]:
        """For each seat all the places that it shares with its equals."""
        return [tuple(range(p, p + places.count(p))) for p in places]

    def pay(self, places: list[Any]) -> list[float]:
        """The reward of each seat; equals share what their places would have got."""

        def value(place: float) -> float:
            if self.shared_loss:
                return -1.0 if place == self.n else 1 / (self.n - 1)
            return 1 - 2 * (place - 1) / (self.n - 1)

        shares = [place if isinstance(place, tuple) else (place,) for place in places]
        return [self.reward_scale * sum(value(p) for p in share) / len(share) for share in shares]

    def end_party(self, places: list[Any], stalled: bool) -> None:
        self.parties += 1
        self.parties_left -= 1
        if self.parties_left:
            self.waiting = True
            return
        self.over = True
        if self.match:
            ranking = [1 + sum(other < own for other in self.lost) for own in self.lost]
            self.rewards, self.scores = self.pay(self.shared(ranking)), self.lost
        else:
            self.rewards, self.scores, self.stalled = self.pay(places), self.places, stalled

    def info(self) -> dict[str, Any]:
        told: dict[str, Any] = {"places": self.places, "cards_left": [len(hand) for hand in self.hands]}
        if self.match:
            told |= {"parties": self.parties, "stalled_parties": self.stalled_parties}
        return told
